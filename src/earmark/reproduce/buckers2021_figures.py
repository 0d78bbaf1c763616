"""All figures of BIAS (Buckers2021), drawn for the collection of 2011, and its examples worked through.

Figures 1.1, 2.1 and 3.4 explain how a score, or a feature, comes about. Ours do so with numbers: those of a list of
2011, and of the songs that the thesis names.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earmark.data.collection import Collection
from earmark.data.conversion import runs_from_frame
from earmark.data.metadata import Metadata
from earmark.plots.style import BLUE, GREEN, INK, MUTED, ORANGE
from earmark.predictors.features import FeatureBuilder
from earmark.reproduce import panels
from earmark.reproduce.buckers2021_learners import learners
from earmark.reproduce.buckers2021_models import Binned
from earmark.reproduce.buckers2021_predictions import chapter_3, figure_3_22, figure_3_23
from earmark.reproduce.buckers2021_scores import accuracy_by_confidence, chapter_4, overestimated, two_systems
from earmark.reproduce.figures import Figure, Panel
from earmark.reproduce.mirex2011 import derived_broad, load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REPEATS = 5
# The example of Figure 2.1: what a system returned for "Hello" by Adele, and how it was judged.
SONGS = {
    "Yellow - Coldplay": 0.5,
    "Skyfall - Adele": 1.0,
    "DARE - Gorillaz": 0.0,
    "Remedy - Adele": 0.5,
    "Hong Kong - Gorillaz": 0.0,
}
# That of Figure 3.4: three songs by one artist. Only Clocks is named there, and not which of the labels is its own.
COLDPLAY = {"Clocks": 0.5, "second song": 1.0, "third song": 1.0}
_CUTOFF = 5


def figures(folder: Path, *, repeats: int = REPEATS) -> Iterator[Figure]:
    """Draw all figures of the thesis.

    Parameters
    ----------
    folder : Path
        Of the MIREX 2011 collection.
    repeats : int
        How often to draw what is drawn at random, but no more than 5 times.
    """
    mirex, repeats = load(folder), min(repeats, REPEATS)
    fine, broad = Binned(mirex), Binned(derived_broad(mirex))
    yield overview(fine)
    yield overestimated(fine)
    yield example_query()
    yield from two_systems(fine)
    yield own_label()
    yield from chapter_3(fine, broad, repeats)
    yield from learners(fine, broad, repeats)
    yield figure_3_22(fine, broad, repeats)
    yield figure_3_23(fine, broad, repeats)
    yield from accuracy_by_confidence(fine, repeats)
    yield from chapter_4(fine, broad)


# ---- examples --------------------------------------------------------------------------------------------------------


def overview(binned: Binned) -> Figure:
    """Draw Figure 1.1: how one list of 2011 gets its score from people, and its estimate from a model."""
    collection = binned.mirex.collection
    system = int(np.argmax(binned.truths["CG@5"].scores.mean))
    beliefs = binned.beliefs(binned.published)
    by_system = np.flatnonzero(collection.result_system == system)
    query = collection.item_query[collection.result_item[by_system]]
    # The first query of whose documents the model knows all.
    whole = np.bincount(query, binned.published.known[collection.result_item[by_system]]) == _CUTOFF
    chosen = by_system[query == int(np.flatnonzero(whole)[0])]
    chosen = chosen[np.argsort(collection.result_rank[chosen])]
    items = collection.result_item[chosen]
    top = binned.scale.top
    data = pl.DataFrame(
        {
            "rank": collection.result_rank[chosen],
            "document": [collection.documents[one][:6] for one in collection.item_document[items]],
            "judged": binned.gain[items] / top,
            "predicted": beliefs.mean[items] / top,
            "deviation": np.sqrt(beliefs.variance[items]) / top,
            "systems": binned.mirex.systems_of_item[items].astype(np.int64),
        }
    )
    name = collection.systems[system][:6], collection.queries[int(collection.item_query[items[0]])][:6]
    panel = Panel("", data, lambda axes: _draw_overview(axes, data, *name))
    return Figure("1.1", "how one list of 2011 gets its score, and its estimate without judgments", (panel,), 9.4, 4.4)


def _draw_overview(axes: Axes, data: pl.DataFrame, system: str, query: str) -> None:
    deviation = float(np.linalg.norm(data["deviation"].to_numpy()) / data.height)
    listed = "\n".join(f"{row['rank']}  {row['document']}" for row in data.iter_rows(named=True))
    judged = "\n".join(f"{value:.2f}" for value in data["judged"])
    predicted = "\n".join(f"{row['predicted']:.2f} ± {row['deviation']:.2f}" for row in data.iter_rows(named=True))
    known = "\n".join(f"{row['document']}: {row['systems']} of 18" for row in data.iter_rows(named=True))
    boxes = {
        "query": (0.08, 0.5, f"query\n{query}", INK),
        "list": (0.27, 0.5, f"system {system}\nretrieves\n\n{listed}", INK),
        "people": (0.5, 0.8, f"people judge\n\n{judged}", ORANGE),
        "known": (0.5, 0.2, f"metadata, and systems\nthat retrieved it\n\n{known}", GREEN),
        "model": (0.73, 0.2, f"model predicts\n\n{predicted}", GREEN),
        "score": (0.92, 0.8, f"CG@5\n{float(data['judged'].to_numpy().mean()):.3f}", INK),
        "estimate": (0.92, 0.2, f"estimate\n{float(data['predicted'].to_numpy().mean()):.3f} ± {deviation:.3f}", GREEN),
    }
    drawn = {}
    for name, (x, y, text, colour) in boxes.items():
        look = {"boxstyle": "round,pad=0.5", "facecolor": "white", "edgecolor": colour, "linewidth": 1.4}
        drawn[name] = axes.text(
            x, y, text, ha="center", va="center", fontsize=9, color=INK, bbox=look, linespacing=1.25, zorder=3
        )
    arrows = {
        "query": ["list"],
        "list": ["people", "known"],
        "people": ["score"],
        "known": ["model"],
        "model": ["estimate"],
    }
    for start, ends in arrows.items():
        for end in ends:
            axes.annotate(
                "",
                xy=boxes[end][:2],
                xytext=boxes[start][:2],
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": boxes[end][3],
                    "linewidth": 1.4,
                    "patchA": drawn[start].get_bbox_patch(),
                    "patchB": drawn[end].get_bbox_patch(),
                },
                zorder=1,
            )
    axes.annotate(
        "a share of the judgments,\nif there are any",
        xy=boxes["model"][:2],
        xytext=(0.655, 0.58),
        ha="center",
        fontsize=8.5,
        color=MUTED,
        arrowprops={
            "arrowstyle": "-|>",
            "color": MUTED,
            "linewidth": 1,
            "linestyle": "--",
            "patchB": drawn["model"].get_bbox_patch(),
        },
        zorder=1,
    )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.axis("off")


def example_query() -> Figure:
    """Draw Figure 2.1: five songs, their labels and the score that they give."""
    frame = pl.DataFrame({"rank": np.arange(1, 6), "document": list(SONGS), "label": list(SONGS.values())})
    data = frame.with_columns(score=pl.col("label").mean())
    panel = Panel("", data, lambda axes: _draw_example(axes, data))
    title = "the query “Hello” by Adele: what a system returns, labels of 0, 0.5 or 1, and CG@5"
    return Figure("2.1", title, (panel,), 7.2, 2.9)


def _draw_example(axes: Axes, data: pl.DataFrame) -> None:
    axes.barh(data["rank"].to_numpy(), data["label"].to_numpy(), color=BLUE, alpha=0.85, height=0.6, label="label")
    axes.plot(
        [data["score"][0]] * 2, [0.5, 5.5], "--", color=ORANGE, label=f"CG@5: mean of the labels, {data['score'][0]:g}"
    )
    names = [textwrap.shorten(name, 28) for name in data["document"]]
    axes.set_yticks(
        data["rank"].to_numpy(), [f"{rank}  {name}" for rank, name in zip(data["rank"], names, strict=True)]
    )
    axes.set_ylim(5.6, 0.4)
    axes.set_xlabel("label")
    axes.grid(axis="x")
    axes.legend(loc="lower right")


def own_label() -> Figure:
    """Draw Figure 3.4: the mean label of an artist's songs, as a feature of each of them, with and without its own."""
    songs, labels = list(COLDPLAY), np.array(list(COLDPLAY.values()))
    rows = {"system": ["s"] * 3, "query": ["q"] * 3, "document": songs}
    known = Metadata(pl.DataFrame({"document": songs, "artist": ["Coldplay"] * 3}))
    collection = Collection.from_runs(runs_from_frame(pl.DataFrame(rows)), metadata=known)
    order = [songs.index(collection.documents[one]) for one in collection.item_document]
    series = {"its label": labels}
    for name, excluded in (("aART, original", False), ("aART, excluding self", True)):
        found = FeatureBuilder(collection).judged(labels[order], np.ones(3, dtype=bool), exclude_own=excluded)["aART"]
        series[name] = np.empty(3)
        series[name][order] = found
    frames = [pl.DataFrame({"series": [name] * 3, "x": songs, "y": values}) for name, values in series.items()]
    panel = panels.bars("", pl.concat(frames), y_name="label, or mean of labels")
    return Figure("3.4", "three songs by Coldplay, labelled 0.5, 1 and 1: the feature aART of each", (panel,), legend=3)
