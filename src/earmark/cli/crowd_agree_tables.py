"""Agreement for people: the tables and sentences of ``earmark crowd agree``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from earmark.cli.output import NOTHING, Column, Output, number, p_value
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.crowd.agreement import RandomAnswering
    from earmark.crowd.graded import AssessorErrors
    from earmark.crowd.krippendorff import Alpha
    from earmark.crowd.position import PositionBias
    from earmark.crowd.workers import AnswerTimes, VolumeCorrelation
    from earmark.inference.proportions import ClusteredShare

_MANY = 30
# A share that takes fewer expected questions than this for a test is better tested by simulation.
_ENOUGH_EXPECTED = 5


def show_levels(table: pl.DataFrame, out: Output) -> None:
    """Show the levels of agreement: all questions in one table, themes one per line in another."""
    import polars as pl

    every = table.filter(pl.col("theme") == table["theme"][0]).head(table["agreement"].n_unique())
    values = [
        Column("questions", [f"{value:,}" for value in every["questions"]]),
        Column("%", [_percent(value) for value in every["share"]]),
        Column("strength", [number(value, digits=2) for value in every["strength"]]),
        Column("or more", [f"{value:,}" for value in every["cumulative_questions"]]),
        Column("%", [_percent(value) for value in every["cumulative_share"]]),
        Column("strength", [number(value, digits=2) for value in every["cumulative_strength"]]),
    ]
    total = int(every["cumulative_questions"][-1])
    out.show_columns(
        [Column("agreement", every["agreement"].to_list(), numeric=False)],
        values,
        title=f"Levels of agreement on {counted(total, 'question')}",
    )
    out.show("")
    themes = table[every.height :]
    if themes.height:
        _show_themes(themes, every["agreement"].to_list(), out)


def _show_themes(table: pl.DataFrame, levels: Sequence[str], out: Output) -> None:
    """Show what share of the questions of every theme reaches each level, or a higher one."""
    import polars as pl

    size = len(levels)
    names = table["theme"][::size].to_list()
    values = [Column("questions", [f"{value:,}" for value in table["cumulative_questions"][size - 1 :: size]])]
    for level in levels[:-1]:
        rows = table.filter(pl.col("agreement") == level)
        values += [
            Column(f"{level}\n%", [_percent(value) for value in rows["cumulative_share"]]),
            Column("\nstrength", [number(value, digits=2) for value in rows["cumulative_strength"]]),
        ]
    out.show_columns(
        [Column("theme", names, numeric=False)],
        values,
        title="Levels of agreement by theme",
        caption="Each level includes the questions of higher ones.",
    )
    out.show("")


def show_alphas(alphas: Sequence[Alpha], out: Output) -> None:
    """Show Krippendorff's alpha by metric."""
    out.show_columns(
        [Column("metric", [one.metric for one in alphas], numeric=False)],
        [
            Column("alpha", [number(one.alpha) for one in alphas]),
            Column("from", [number(one.low) for one in alphas]),
            Column("to", [number(one.high) for one in alphas]),
            Column("answers", [f"{one.answers:,}" for one in alphas]),
            Column("assessors", [f"{one.assessors:,}" for one in alphas]),
        ],
        title=f"Krippendorff's alpha, with {100 * alphas[0].level:g}% intervals",
        caption="1: all agree. 0: as by chance. The interval allows for other queries and other assessors.",
    )
    out.show("")


def show_words(
    chance: RandomAnswering, volume: VolumeCorrelation, position: PositionBias, times: AnswerTimes, out: Output
) -> None:
    """Say what a number or two can say."""
    lines = [_chance(chance), _volume(volume), *_position(position)]
    if times.answers:
        lines.append(
            f"Seconds per answer: median {times.median:.1f}, mean {times.mean:.1f}, a tenth below {times.tenth:.1f}, "
            f"a tenth above {times.ninetieth:.1f}; {times.hours:,.1f} hours in all."
        )
    out.show(*lines)


def _chance(chance: RandomAnswering) -> str:
    if not chance.df:
        return "Answering at random: no question was answered twice, so there is nothing to test."
    said = f"Answering at random: χ² = {chance.statistic:,.2f}, df = {chance.df}, p {_p(chance.p_value)}"
    if (chance.levels["expected"] < _ENOUGH_EXPECTED).any():
        return f"{said}; by simulation, as few questions are expected at some levels, p {_p(chance.simulated_p_value)}."
    return f"{said}."


def _volume(volume: VolumeCorrelation) -> str:
    if math.isnan(volume.pearson):
        return f"Number of answers and agreement: no correlation to tell with {counted(volume.workers, 'worker')}."
    return (
        f"Number of answers and agreement: r = {volume.pearson:+.3f} ({_ends(volume.low, volume.high, '+.3f')}), "
        f"p {_p(volume.p_value)}, Spearman {volume.spearman:+.3f}, over {counted(volume.workers, 'worker')}."
    )


def _position(position: PositionBias) -> list[str]:
    def told(one: ClusteredShare) -> str:
        return f"{_percent(one.share)}% ({_ends(100 * one.low, 100 * one.high, '.1f')}), p {_p(one.p_value)}"

    if not position.every.answers:
        return ["On the right: no answer chose a document."]
    lines = [f"The document on the right was chosen in {told(position.every)}, of {position.every.answers:,} answers."]
    if position.pairs_both_ways:
        pairs = counted(position.pairs_both_ways, "pair")
        lines.append(f"Among {pairs} shown both ways round, so that documents cancel out: {told(position.both_ways)}.")
    else:
        lines.append("No pair was shown both ways round: the better documents may have stood on one side.")
    return lines


def show_workers(people: pl.DataFrame, out: Output) -> None:
    """Show what each worker did, those who answered most first."""
    rows = people.sort("answers", descending=True, maintain_order=True)
    values = [
        Column("answers", [f"{value:,}" for value in rows["answers"]]),
        Column("agreement", [number(value) for value in rows["agreement"]]),
        Column("same", [number(value) for value in rows["same"]]),
        Column("right", [number(value) for value in rows["right"]]),
    ]
    if "seconds" in rows.columns:
        values.append(Column("seconds", [number(value, digits=1) for value in rows["seconds"]]))
    out.show("")
    out.show_columns([Column("worker", rows["assessor"].to_list(), numeric=False)], values, title="Workers")


def show_errors(errors: AssessorErrors, out: Output) -> None:
    """Show how far assessors are from each other."""
    rows = errors.pairs.sort("rmse", descending=True, maintain_order=True).head(_MANY)
    more = errors.pairs.height - rows.height
    out.show_columns(
        [Column(name, rows[name].to_list(), numeric=False) for name in ("a", "b")],
        [
            Column("items", [f"{value:,}" for value in rows["items"]]),
            Column("RMSE", [number(value) for value in rows["rmse"]]),
            Column("a − b", [f"{value:+.4f}" for value in rows["bias"]]),
        ],
        title="Errors between assessors, the largest first",
        caption=f"and {more:,} more pairs of assessors: --format csv prints all of them" if more else "",
    )
    out.show("")
    pairs = counted(errors.pairs.height, "pair")
    out.show(
        f"Mean RMSE over {pairs} of assessors {errors.mean_rmse:.4f}; over every two judgments of "
        f"{counted(errors.items, 'item')} {errors.pooled_rmse:.4f}."
    )


def _percent(share: float) -> str:
    return NOTHING if math.isnan(share) else f"{100 * share:.2f}"


def _p(value: float) -> str:
    said = NOTHING if math.isnan(value) else p_value(value)
    return said.replace("<", "< ") if said.startswith("<") else f"= {said}"


def _ends(low: float, high: float, form: str) -> str:
    return NOTHING if math.isnan(low) or math.isnan(high) else f"{low:{form}} to {high:{form}}"
