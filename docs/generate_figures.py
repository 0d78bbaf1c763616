"""Draw the pictures of the pages: images/*.svg, from the small tables in data/ and from worked examples of papers.

Run it with ``python docs/generate_figures.py`` after changing a table or a picture; ``--check`` fails if one is stale.

What an SVG looks like to the byte depends on fonts and on the version of matplotlib. So every file carries a digest of
what is drawn: points, colours, labels and limits, numbers to five digits. A picture is stale where its digest is not
that of the picture as it would be drawn now.

Where the tables come from:

==================  ====================================================================================================
``coverage.csv``    ``python -m benchmarks.honesty.coverage --summary docs/data``
``accuracy.csv``    the same
``guaranteed.csv``  ``python -m benchmarks.honesty.guaranteed --output docs/data/guaranteed.csv``
``mtc.csv``         ``python docs/generate_figures.py --collect DIR``, DIR being the folder of the MIREX 2011 collection
``bias.csv``        the same
``demo.csv``        ``progress.csv`` as ``earmark demo`` writes it
==================  ====================================================================================================
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from figures import DATA, PICTURES, Picture
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from earmark.measures.base import parse
from earmark.plots import svg_text
from earmark.plots.style import figure_of

IMAGES = Path(__file__).with_name("images")
_DIGEST = re.compile(r"<metadata>drawn ([0-9a-f]{64})</metadata>")


def digest(figure: Figure) -> str:
    """Return a digest of what a figure shows, whatever fonts and layout do to its bytes."""
    told: list[str] = [f"{figure.get_figwidth():g} x {figure.get_figheight():g}"]
    for axes in figure.axes:
        told += [axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale(), axes.get_yscale()]
        told += [axes.get_title(), axes.get_title(loc="left")]
        told.append(_numbers([*axes.get_xlim(), *axes.get_ylim()]))
        for one in axes.lines:
            told += [str(one.get_label()), to_hex(one.get_color()), str(one.get_linestyle()), str(one.get_marker())]
            told.append(_numbers(one.get_xydata()))
        for area in axes.collections:
            told += [to_hex(colour, keep_alpha=True) for colour in (*area.get_facecolor(), *area.get_edgecolor())]
            told += [_numbers(path.vertices) for path in area.get_paths()]
        for bar in (patch for patch in axes.patches if isinstance(patch, Rectangle)):
            told += [to_hex(bar.get_facecolor()), str(bar.get_hatch()), _numbers(bar.get_bbox().extents)]
        told += [f"{text.get_text()} {_numbers(text.get_position())}" for text in axes.texts]
    for legend in (*figure.legends, *(axes.get_legend() for axes in figure.axes)):
        told += [] if legend is None else [text.get_text() for text in legend.get_texts()]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.5g}" for value in np.ravel(np.asarray(values, dtype=np.float64)))


def svg(name: str, picture: Picture) -> str:
    """Return a picture as a file holds it, its digest included."""
    axes = picture.draw()
    text = svg_text(axes, prefix=name, label=picture.label)
    start = text.index(">", text.index("<svg")) + 1
    return f"{text[:start]}\n <metadata>drawn {digest(figure_of(axes))}</metadata>{text[start:]}"


def digests(folder: Path) -> dict[str, str]:
    """Return the digests of the pictures in a folder by their names; images from elsewhere have none."""
    found = {path.stem: _DIGEST.search(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.svg"))}
    return {name: match[1] for name, match in found.items() if match}


def stale(folder: Path) -> list[str]:
    """Name the pictures that do not show what would be drawn now, or that nothing draws any more."""
    wanted = {name: digest(figure_of(picture.draw())) for name, picture in PICTURES.items()}
    found = digests(folder)
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def collect(folder: Path) -> None:
    """Compute mtc.csv and bias.csv again from the MIREX 2011 collection."""
    from earmark.campaign.problem import Problem
    from earmark.data.readers import read_judgments, read_metadata, read_runs
    from earmark.data.scales import FINE
    from earmark.reproduce.buckers2021_models import MEASURES as PRINTED
    from earmark.reproduce.buckers2021_models import SYSTEM_BASED, Binned
    from earmark.reproduce.mirex2011 import AG5, load
    from earmark.simulation.campaigns import Study, outcomes_frame, simulate

    runs, metadata = read_runs(folder / "runs.txt"), read_metadata(folder / "metadata.txt")
    judgments = read_judgments(folder / "judgments.txt", scale=FINE)
    campaigns = []
    for predictor in ("uniform", "mtc-judge"):
        problem = Problem.build(
            runs, judgments=judgments, measure=AG5, predictor=predictor, policy="mtc", stop="none", metadata=metadata
        )
        frame = outcomes_frame(list(simulate(Study(problem, judgments, batch=200), repeats=10)))
        columns = ("repeat", "judged", "mean_confidence", "accuracy")
        campaigns.append(frame.select(pl.lit(predictor).alias("predictor"), *columns))
    pl.concat(campaigns).write_csv(DATA / "mtc.csv", float_precision=4)

    binned = Binned(load(folder))
    beliefs = binned.beliefs(binned.forecasts[SYSTEM_BASED])
    estimates = {(name, "exact"): binned.estimate(beliefs, parse(PRINTED[name])) for name in ("CG@5", "DCG@5")}
    scores = [
        pl.DataFrame({"actual": binned.truths[measure].scores.mean, "estimated": found.scores.mean})
        .sort("actual")
        .select(pl.lit(measure).alias("measure"), pl.lit(form).alias("form"), "actual", "estimated")
        for (measure, form), found in (estimates | binned.forms).items()
    ]
    pl.concat(scores).write_csv(DATA / "bias.csv", float_precision=4)


def main() -> None:
    """Draw all pictures, or with ``--check`` exit with 1 if one is stale."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the pages.")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a picture is stale")
    parser.add_argument(
        "--collect", type=Path, metavar="DIR", help="first compute mtc.csv and bias.csv from MIREX 2011"
    )
    told = parser.parse_args()
    if told.check:
        if names := stale(IMAGES):
            verb = "is" if len(names) == 1 else "are"
            sys.exit(f"{', '.join(names)} {verb} stale: run python docs/{Path(sys.argv[0]).name}")
        return
    if told.collect:
        collect(told.collect)
    IMAGES.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        (IMAGES / f"{name}.svg").write_text(svg(name, picture), encoding="utf-8")
    for name in digests(IMAGES).keys() - PICTURES.keys():
        (IMAGES / f"{name}.svg").unlink()


if __name__ == "__main__":
    main()
