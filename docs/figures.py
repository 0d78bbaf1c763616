"""The pictures of the pages, each drawn from a small table in data/ or from a worked example of a paper.

Whatever :mod:`earmark.plots` draws is drawn by it; the rest is particular to these pages and uses its style. One thing
looks the same in all pictures. :mod:`generate_figures` writes the files and says where the tables come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MultipleLocator, NullLocator, PercentFormatter, ScalarFormatter

from earmark.crowd.agreement import random_agreement
from earmark.data.ground_truth import OrderedGroups, truth_from_groups
from earmark.measures.curves import dynamic_recall, normalised_lift
from earmark.measures.prototype_answers import prototype_lists
from earmark.plots import plot_actual, plot_campaign, plot_curves, plot_dynamic_recall
from earmark.plots.progress import draw_progress
from earmark.plots.style import AMBER, BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, SKY, drawing, figure_of
from earmark.reproduce import serra2007 as cover
from earmark.reproduce import stupar2013_counts as srbench
from earmark.reproduce import typke2006 as adr
from earmark.reproduce.comparison import judge_lists

DATA = Path(__file__).with_name("data")
NOMINAL = 0.95


@dataclass(frozen=True)
class Look:
    """How one thing is drawn wherever it is drawn."""

    label: str
    colour: str
    line: Any
    marker: str


METHODS = {
    "hierarchical, variance": Look("hierarchical, variance (default)", BLUE, "-", "o"),
    "hierarchical, random": Look("hierarchical, random", SKY, "--", "s"),
    "ordinal, mtc": Look("ordinal, mtc", GREEN, "-.", "^"),
    "ordinal, random": Look("ordinal, random", AMBER, ":", "v"),
    "published MTC": Look("Urbano and Schedl 2013", ORANGE, (0, (5, 1, 1, 1)), "D"),
}
MEASURES = {
    "AG@5": Look("AG@5", BLUE, "-", "o"),
    "DCG@5": Look("DCG@5", SKY, "--", "s"),
    "nDCG@5": Look("nDCG@5", ORANGE, "-.", "^"),
    "nRBP@5": Look("nRBP@5", PURPLE, ":", "D"),
}
PREDICTIONS = {
    "hierarchical": Look("hierarchical", BLUE, "-", "o"),
    "mean of others": Look("no model", GREEN, "--", "s"),
    "upside down": Look("upside down", ORANGE, "-.", "D"),
}


def read(name: str) -> pl.DataFrame:
    """Read a table that pictures are drawn from."""
    return pl.read_csv(DATA / f"{name}.csv")


@contextmanager
def panels(count: int, *, width: float = 7.6, height: float = 3.7, sharey: bool = False) -> Iterator[list[Axes]]:
    """Draw in earmark's style on several axes side by side."""
    with drawing(None, width=width, height=height) as first:
        figure = figure_of(first)
        figure.clear()
        yield list(np.atleast_1d(figure.subplots(1, count, sharey=sharey)))


def legend_below(axes: list[Axes], *, columns: int) -> None:
    """Put one legend under all panels."""
    handles, labels = axes[0].get_legend_handles_labels()
    figure_of(axes[0]).legend(handles, labels, loc="outside lower center", ncols=columns, handlelength=3.2)


def nominal_line(axes: Axes) -> None:
    """Draw what intervals, or a stop rule, promise, and name it where no line is in the way: beyond the axes."""
    axes.axhline(NOMINAL, color=INK, linewidth=1, linestyle=(0, (1, 1)))
    axes.text(1.01, NOMINAL, "95%", transform=axes.get_yaxis_transform(), va="center", fontsize=9, color=INK)


def line(axes: Axes, x: Any, y: Any, look: Look, **more: Any) -> None:
    """Draw a line as its look says."""
    axes.plot(x, y, color=look.colour, linestyle=look.line, marker=look.marker, **{"label": look.label, **more})


# ---- honesty ---------------------------------------------------------------------------------------------------------


def demo() -> Axes:
    """Draw how the estimates of the demonstration close in on the truth."""
    data = read("demo")
    truth = dict(data.select("system", "truth").unique().iter_rows())
    return draw_progress(data.drop("truth"), "AG@5 with 95% interval", truth=truth)


def coverage() -> Axes:
    """Draw how many 95% intervals hold the truth, by the share judged, for every method."""
    table = read("coverage").filter(pl.col("measure") == "AG@5")
    pairs, _ = _coverage_panels({look: table.filter(pl.col("method") == name) for name, look in METHODS.items()}, 3)
    pairs.set_ylim(0.0, 1.03)
    return pairs


def measures() -> Axes:
    """Draw the same for the default method scored by four measures."""
    table = read("coverage").filter(pl.col("method") == next(iter(METHODS)))
    looks = {look: table.filter(pl.col("measure") == name) for name, look in MEASURES.items()}
    pairs, systems = _coverage_panels(looks, 4)
    pairs.set_ylim(0.83, 1.005)
    systems.text(9.0, 0.855, "a miss: too narrow", fontsize=9, color=ORANGE, ha="center", va="center")
    return pairs


def _coverage_panels(parts: dict[Look, pl.DataFrame], columns: int) -> list[Axes]:
    with panels(2, sharey=True) as both:
        names = {"coverage_pairs": "differences of pairs", "coverage_systems": "scores of systems"}
        for axes, (column, name) in zip(both, names.items(), strict=True):
            for look, part in parts.items():
                line(axes, 100 * part["share"].to_numpy(), part[column].to_numpy(), look)
            _share_axes(axes, f"95% intervals of {name}")
            nominal_line(axes)
        both[0].set_ylabel("share that holds the truth")
        legend_below(both, columns=columns)
    return both


def confidence() -> Axes:
    """Draw accuracy against mean confidence, from nothing judged to a fifth; the right panel is the left one's top."""
    table = read("coverage").filter(pl.col("measure") == "AG@5")
    with panels(2, height=4.5) as both:
        for axes, ends in zip(both, ((0.48, 0.98), (0.75, 0.96)), strict=True):
            axes.fill_between(ends, ends, [ends[0]] * 2, color=MUTED, alpha=0.12, linewidth=0)
            axes.plot(ends, ends, "--", color=MUTED, linewidth=1)
            for method, look in METHODS.items():
                part = table.filter(pl.col("method") == method)
                line(axes, part["confidence"].to_numpy(), part["accuracy"].to_numpy(), look, linewidth=1.2)
            axes.set_xlim(*ends)
            axes.set_ylim(*ends)
            axes.set_aspect("equal")
            axes.xaxis.set_major_locator(MultipleLocator(0.1 if axes is both[0] else 0.05))
            axes.yaxis.set_major_locator(MultipleLocator(0.1 if axes is both[0] else 0.05))
            axes.set_xlabel("mean confidence in the order of a pair")
            axes.grid()
        left, right = both
        left.set_ylabel("share of pairs in the right order")
        left.text(0.97, 0.50, "surer than right", ha="right", fontsize=9, color=MUTED)
        left.text(0.50, 0.95, "righter than sure", ha="left", fontsize=9, color=MUTED)
        left.set_title("all of it", fontsize=10)
        right.set_title("its upper corner", fontsize=10)
        for method, share, name, shift in (
            ("hierarchical, variance", 0.0, "0%", (-6, 8)),
            ("hierarchical, variance", 0.2, "20%", (-6, 6)),
            ("published MTC", 0.0, "0%", (-23, -2)),
            ("published MTC", 0.2, "20%", (4, -12)),
        ):
            at = table.filter(pl.col("method") == method, pl.col("share") == share)
            place = (at["confidence"][0], at["accuracy"][0])
            right.annotate(name, place, shift, textcoords="offset points", fontsize=9, color=METHODS[method].colour)
        legend_below(both, columns=3)
    return left


def accuracy() -> Axes:
    """Draw accuracy against the share judged, with two standard errors for the default and the published models."""
    table = read("accuracy")
    with drawing(None, width=6.6, height=4.4) as axes:
        for method, look in METHODS.items():
            part = table.filter(pl.col("method") == method)
            share, right, error = (part[name].to_numpy() for name in ("share", "accuracy", "accuracy_se"))
            if method in ("hierarchical, variance", "published MTC"):
                band = (right - 2 * error, right + 2 * error)
                axes.fill_between(100 * share, *band, color=look.colour, alpha=0.15, linewidth=0)
            line(axes, 100 * share, right, look, markevery=4)
        _share_axes(axes, "")
        axes.xaxis.set_major_locator(FixedLocator([0, 5, 10, 15, 20]))
        axes.set_ylabel("share of pairs in the right order")
        axes.set_ylim(0.48, 0.98)
        axes.legend(loc="lower right", handlelength=3.2)
    return axes


def guaranteed() -> Axes:
    """Draw coverage and width of guaranteed intervals by the number of judgments."""
    table = read("guaranteed")
    with panels(2) as (left, right):
        for place, (prediction, look) in enumerate(PREDICTIONS.items()):
            part = table.filter(pl.col("prediction") == prediction)
            judged, shift = part["judged"].to_numpy(), 1.05 ** (place - 1)
            held, error = part["systems"].to_numpy(), part["systems se"].to_numpy()
            left.vlines(judged * shift, held - 2 * error, held + 2 * error, color=look.colour, linewidth=1)
            line(left, judged * shift, held, look)
            line(right, judged, part["± systems"].to_numpy(), look)
        for axes in (left, right):
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(FixedLocator(table["judged"].unique().to_list()))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(ScalarFormatter())
            axes.set_xlabel("judgments")
            axes.grid()
        nominal_line(left)
        left.set_ylim(0.90, 1.0)
        left.set_ylabel("share that holds the truth")
        left.set_title("95% intervals of systems", fontsize=10)
        right.set_yscale("log")
        right.yaxis.set_major_locator(FixedLocator([0.02, 0.05, 0.1, 0.2, 0.5]))
        right.yaxis.set_minor_locator(NullLocator())
        right.yaxis.set_major_formatter(ScalarFormatter())
        right.set_ylabel("half-width")
        right.set_title("how wide they are", fontsize=10)
        legend_below([left, right], columns=3)
    return left


def _share_axes(axes: Axes, title: str) -> None:
    axes.set_xlabel("items judged")
    axes.xaxis.set_major_locator(FixedLocator([0, 2, 5, 10, 20]))
    axes.xaxis.set_major_formatter(PercentFormatter(decimals=0))
    axes.set_xlim(-0.7, 20.7)
    axes.set_title(title, fontsize=10)
    axes.grid()


# ---- papers ----------------------------------------------------------------------------------------------------------


def mtc() -> Axes:
    """Draw confidence and accuracy while everything is judged, as MTC's Figures 2 and 3 do."""
    table = read("mtc")
    with panels(2, sharey=True) as both:
        titles = {"uniform": "every level equally likely", "mtc-judge": "the published models"}
        for axes, (predictor, title) in zip(both, titles.items(), strict=True):
            plot_campaign(table.filter(pl.col("predictor") == predictor), ax=axes)
            nominal_line(axes)
            axes.set_title(title, fontsize=10)
        both[0].set_ylim(0.74, 1.01)
        both[1].set_ylabel("")
        both[0].legend().remove()
    return both[0]


def bias() -> Axes:
    """Draw estimated against actual scores, as BIAS's Figures 1.2 and 4.7 do."""
    table = read("bias")
    with panels(3, width=8.4, height=3.3, sharey=True) as three:
        titles = {
            ("CG@5", "exact"): "CG@5",
            ("NDCG@5", "delta"): "NDCG@5, expected gains",
            ("NDCG@5", "truncated"): "NDCG@5, sampled gains",
        }
        for axes, ((measure, form), title) in zip(three, titles.items(), strict=True):
            part = table.filter(pl.col("measure") == measure, pl.col("form") == form)
            plot_actual(part["estimated"], part["actual"], ax=axes)
            axes.set_xlim(0.25, 0.95)
            axes.set_ylim(0.25, 0.95)
            axes.lines[0].set_data([0.25, 0.95], [0.25, 0.95])
            axes.set_aspect("equal")
            axes.set_title(title, fontsize=10)
            axes.set_ylabel("estimated score" if axes is three[0] else "")
    return three[0]


def lift() -> Axes:
    """Draw COVER's normalised lift curves of its six prototype answers."""
    answers = cover.answer_set()
    curves = {
        name: normalised_lift(prototype_lists([answer]), share=np.arange(answer.length + 1) / answer.length)
        for name, answer in zip(answers.names, answers.answers, strict=True)
    }
    axes = plot_curves(curves)
    axes.set_ylim(-0.02, 1.03)
    return axes


def dynamic() -> Axes:
    """Draw the dynamic recall of ADR's worked example, without and with a false positive."""
    groups = [(str(one), place) for place, group in enumerate(adr.EXAMPLE_TRUTH, start=1) for one in group]
    frame = pl.DataFrame(groups, schema=["document", "group"], orient="row").with_columns(query=pl.lit("q"))
    truth = truth_from_groups(OrderedGroups(frame))
    curves = {
        f"⟨{', '.join(map(str, found[:5]))}, …⟩": dynamic_recall(judge_lists([found], truth))
        for found in (adr.EXAMPLE_LIST, adr.EXAMPLE_WITH_FALSE_POSITIVE)
    }
    with drawing(None, width=7.0, height=3.8) as axes:
        plot_dynamic_recall(curves, ax=axes)
    return axes


def agreement() -> Axes:
    """Draw how far SRBENCH's students agreed, as its chi-square statistic has it, beside chance."""
    counts = srbench.counts_with_statistic(srbench.STUDENT_QUESTIONS, srbench.UNANIMOUS, srbench.STUDENT_CHI_SQUARE)
    found = srbench.plausible(counts, srbench.STUDENT_QUESTIONS)[::-1] / srbench.STUDENT_QUESTIONS
    agreeing, chance = random_agreement(srbench.ASSESSORS)
    place = np.arange(agreeing.size)
    with drawing(None, width=5.8, height=3.6) as axes:
        for shift, share, colour, hatch, label in (
            (-0.2, chance, "white", "////", "by chance"),
            (0.2, found, BLUE, "", "students"),
        ):
            bars = axes.bar(
                place + shift, share, 0.38, color=colour, edgecolor=BLUE, linewidth=0.8, hatch=hatch, label=label
            )
            axes.bar_label(bars, [f"{100 * one:.0f}%" for one in share], padding=2, fontsize=9)
        axes.set_xticks(place, [f"{number} of {srbench.ASSESSORS}" for number in agreeing.tolist()])
        axes.set_xlabel("how many chose the same song")
        axes.set_ylabel("share of questions")
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_ylim(0.0, 0.52)
        axes.grid(axis="y")
        axes.legend(loc="upper right")
    return axes


@dataclass(frozen=True)
class Picture:
    """One picture: how to draw it, and what it shows, for those who cannot see it."""

    draw: Callable[[], Axes]
    label: str


PICTURES = {
    "demo": Picture(demo, "Estimates of six systems with their intervals against judgments, and what all judged says"),
    "honesty-coverage": Picture(coverage, "Coverage of 95% intervals against the share judged, by method"),
    "honesty-measures": Picture(measures, "Coverage of 95% intervals against the share judged, by measure"),
    "honesty-confidence": Picture(confidence, "Accuracy against mean confidence, by method"),
    "honesty-accuracy": Picture(accuracy, "Accuracy against the share judged, by method"),
    "honesty-guaranteed": Picture(guaranteed, "Coverage and half-width of guaranteed intervals against judgments"),
    "mtc-campaigns": Picture(mtc, "Mean confidence and accuracy against judgments, uniform beliefs and two models"),
    "bias-actual": Picture(bias, "Estimated against actual scores of systems, CG@5 and NDCG@5"),
    "cover-lift": Picture(lift, "Normalised lift curves of Serrà's six prototype answers"),
    "adr-recall": Picture(dynamic, "Dynamic recall at each position of ADR's worked example"),
    "srbench-agreement": Picture(agreement, "Shares of questions by agreement, students beside chance"),
}
