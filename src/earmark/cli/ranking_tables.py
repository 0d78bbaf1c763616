"""A ranking on a terminal and in a paper: the systems with bars, the pairs, the check against a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from earmark.cli.evaluate import header
from earmark.cli.output import Column, Output, number
from earmark.wording import counted, decimal, in_percent

if TYPE_CHECKING:
    import polars as pl

    from earmark.inference.baseline import BaselineCheck
    from earmark.inference.confidence import Ranking
    from earmark.inference.pair_choice import PairChoice

_BAR = 25
_DIFFERENCE = ("difference", "low", "high")
_FEW_PAIRS = 15


def listed_pairs(ranking: Ranking, choice: PairChoice, baseline: str | None) -> pl.DataFrame:
    """Return the comparisons that are listed."""
    return choice.keep(ranking.comparisons_frame(), ranking, baseline)


def pair_frames(
    ranking: Ranking, check: BaselineCheck | None, by: float | None, choice: PairChoice
) -> list[pl.DataFrame]:
    """Return the rows of the pairs that are listed; those with the baseline, if there is one, and then the others."""
    import polars as pl

    from earmark.inference.baseline import ranking_rows
    from earmark.inference.differences_by import with_difference_probabilities

    if check is None:
        frames = [choice.keep(ranking.pairs_frame(), ranking)]
    else:
        listed = choice.keep(ranking.pairs_frame(), ranking, check.baseline)
        others = listed.filter((pl.col("a") != check.baseline) & (pl.col("b") != check.baseline))
        beside = ranking_rows(ranking, check)
        frames = [beside.head(0) if choice.kind == "none" else beside, *([others] if others.height else [])]
    return frames if by is None else [with_difference_probabilities(frame, ranking, by) for frame in frames]


def interval_bar(low: float, estimate: float, high: float, *, start: float, end: float, width: int = _BAR) -> str:
    """Draw an interval on an axis from ``start`` to ``end``: ``···──●──···``."""
    span = end - start

    def place(value: float) -> int:
        return round((value - start) / span * (width - 1)) if span > 0 else 0

    bar = ["·"] * width
    first, middle, last = place(low), place(estimate), place(high)
    bar[first : last + 1] = "─" * (last + 1 - first)
    bar[middle] = "●"
    return "".join(bar)


def show_ranking(ranking: Ranking, out: Output) -> None:
    """Show the systems, best first, with their intervals in figures and as bars."""
    measure, frame = ranking.estimates.measure, ranking.systems_frame()
    rows = frame.select("low", "estimate", "high").rows()
    start, end = min(row[0] for row in rows), max(row[2] for row in rows)
    out.show_columns(
        [
            Column("#", [str(place) for place in frame["rank"]]),
            Column("system", frame["system"].to_list(), numeric=False),
        ],
        [
            Column(header(str(measure), higher_is_better=measure.higher_is_better), [number(row[1]) for row in rows]),
            Column("low", [number(row[0]) for row in rows]),
            Column("high", [number(row[2]) for row in rows]),
            Column("", [interval_bar(*row, start=start, end=end) for row in rows]),
        ],
        title=f"{measure}: {counted(len(rows), 'system')}, {counted(ranking.estimates.queries, 'query', 'queries')}; "
        f"{100 * ranking.level:g}% intervals",
        caption=f"bars from {number(start)} to {number(end)}" if end > start else "",
    )
    out.show("")


def show_pairs(ranking: Ranking, frame: pl.DataFrame, among: str, out: Output, *, everything: bool) -> None:
    """Show the pairs that are not decided, the least sure first, or all that are listed."""
    import polars as pl

    frame = frame.sort("confidence", maintain_order=True)
    if not frame.height:
        return
    listed = frame if everything else frame.filter(~pl.col("decided"))
    undecided = int((~frame["decided"]).sum())
    are = "is" if undecided == 1 else "are"
    share = f"{undecided:,} of {counted(frame.height, 'pair')}{among} {are} undecided"
    title = f"{share}: confidence below {100 * ranking.level:g}%"
    if ranking.withheld is not None:
        title = f"{counted(frame.height, 'pair')}{among}, none of them called decided"
    elif not undecided:
        title = f"All pairs{among} are decided: confidence of {100 * ranking.level:g}% or more"
    if not listed.height:
        out.show(Text(title, style="bold"), "")
        return
    shown = listed if everything else listed.head(_FEW_PAIRS)
    rest = listed.height - shown.height
    higher, sure = ranking.estimates.measure.higher_is_better, f"{100 * ranking.level:g}%"
    out.show_columns(
        [
            Column("a", shown["a"].to_list(), numeric=False),
            Column("b", shown["b"].to_list(), numeric=False),
        ],
        [
            Column("a − b" if higher else "b − a", [decimal(value, sign="+") for value in shown["difference"]]),
            Column("at least", [decimal(value, sign="+") for value in shown["at_least"]]),
            Column("confidence", [in_percent(value) for value in shown["confidence"]]),
        ],
        title=title,
        caption=f"a has the better estimate; at least: the bound that the difference exceeds with {sure} confidence"
        + (f"\nand {rest:,} more: --pairs all lists them" if rest else ""),
    )
    out.show("")


def _chance(value: float) -> str:
    """Show a probability that may be small: what is not 0 is not shown as 0%."""
    return "<1%" if 0 < value < 0.01 else in_percent(value)


def show_by(ranking: Ranking, listed: pl.DataFrame, by: float, out: Output, *, everything: bool) -> None:
    """Show how probable differences of some size are, the most probable first."""
    from earmark.inference.differences_by import with_difference_probabilities

    frame = with_difference_probabilities(listed, ranking, by)
    if not frame.height:
        return
    frame = frame.sort("a_better_by", descending=True, maintain_order=True)
    shown = frame if everything else frame.head(_FEW_PAIRS)
    rest = frame.height - shown.height
    out.show_columns(
        [Column(name, shown[name].to_list(), numeric=False) for name in ("a", "b")],
        [
            Column("difference", [decimal(value, sign="+") for value in shown["difference"]]),
            Column("a better", [_chance(value) for value in shown["a_better_by"]]),
            Column("b better", [_chance(value) for value in shown["b_better_by"]]),
        ],
        title=f"The probability that one is better than the other by {by:g} or more",
        caption="a has the better estimate; the rest is the probability that they differ by less"
        + (f"\nand {rest:,} more: --pairs all lists them" if rest else ""),
    )
    out.show("")


def show_check(ranking: Ranking, check: BaselineCheck, out: Output) -> None:
    """Show every system beside the baseline, and the check."""
    from earmark.inference.baseline import ranking_rows

    beyond = f" by more than {check.margin:g}" if check.margin else ""
    rows = ranking_rows(ranking, check).to_dicts()
    out.show_columns(
        [Column("system", [row["a"] for row in rows], numeric=False)],
        [
            *(Column(name, [decimal(row[name], sign="+") for row in rows]) for name in _DIFFERENCE),
            Column("confidence\nthat worse", [in_percent(row["confidence_worse"]) for row in rows]),
            Column("", ["worse" if row["worse"] else "" for row in rows], numeric=False),
        ],
        title=f"Systems minus the baseline {check.baseline}",
        caption=f"Worse{beyond}: confidence of {100 * (1 - check.alpha):g}% or more, adjusted by Holm's rule for "
        f"{counted(len(rows), 'system')}",
    )
    out.show("")


def latex_tables(ranking: Ranking, check: BaselineCheck | None, by: float | None, choice: PairChoice) -> str:
    """Set the ranking and the pairs as two tables."""
    from earmark.cli.latex import latex_table
    from earmark.inference.differences_by import with_difference_probabilities

    frame = ranking.systems_frame()
    systems = [
        Column("#", [str(place) for place in frame["rank"]]),
        Column("system", frame["system"].to_list(), numeric=False),
        *(Column(name, [number(value) for value in frame[name]]) for name in ("estimate", "low", "high")),
    ]
    if check is not None:
        frames = pair_frames(ranking, check, by, choice)
    else:
        whole = listed_pairs(ranking, choice, None)
        frames = [whole if by is None else with_difference_probabilities(whole, ranking, by)]
    rows = [row for part in frames for row in part.to_dicts()]
    pairs = [
        *(Column(name, [row[name] for row in rows], numeric=False) for name in ("a", "b")),
        *(Column(name, [number(row[name]) for row in rows]) for name in _DIFFERENCE),
        Column("confidence", [in_percent(row["confidence"]) for row in rows]),
    ]
    if by is not None:
        for one in ("a", "b"):
            cells = [_chance(row[f"{one}_better_by"]) for row in rows]
            pairs.append(Column(f"{one} better by {by:g} or more", cells))
    comment = "; ".join(
        [
            f"{ranking.estimates.measure}, {100 * ranking.level:g}% intervals",
            ranking.notes()[0],
            *([] if ranking.withheld is None else [ranking.sentence().removesuffix(".")]),
            *ranking.premise_notes,
        ]
    )
    return latex_table(systems, comment=comment) + "\n" + latex_table(pairs)
