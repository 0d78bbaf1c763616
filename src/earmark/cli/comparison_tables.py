"""Comparisons for people: a ranking with letters, a matrix of all pairs, and the pairs themselves.

In the matrix every system has a row and a column, best first, and columns go by the number of their row::

     #  system    AG@5  groups  1 2 3
     1  first   0.5864  a         · >
     2  second  0.5512  ab      ·   ·
     3  third   0.4701   b      < ·

A row's ``>`` says that its system is significantly better than the column's, ``<`` that it is worse, ``·`` neither.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from rich.text import Text

from earmark.cli.evaluate import header
from earmark.cli.output import Column, Output, number, p_value

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from earmark.inference.pairwise import PairwiseTests
    from earmark.inference.systems import Comparison
    from earmark.measures import Measure

# Up to six systems.
_FEW_PAIRS = 15
_STYLES = {">": "bold green", "<": "red", "·": "dim", " ": ""}
_EFFECTS = {"dominance": "domi-\nnance", "cohens-dz": "Cohen's\nd", "rank-biserial": "rank-\nbiserial"}


def show_comparison(comparison: Comparison, out: Output, *, list_pairs: bool) -> None:
    """Show the ranking and the matrix, and the pairs where they are few or asked for."""
    tests, measure, scores, systems = comparison.tests, comparison.measure, comparison.scores, comparison.systems
    order = tests.order.tolist()
    means = scores.mean(axis=1)
    keys = [
        Column("#", [str(place) for place in range(1, len(order) + 1)]),
        Column("system", [systems[index] for index in order], numeric=False),
        Column(header(str(measure), higher_is_better=measure.higher_is_better), [number(means[i]) for i in order]),
    ]
    if tests.test == "friedman-tukey":
        keys.append(Column("mean\nrank", [number(tests.ranked_by[i], digits=2) for i in order]))
    keys.append(Column("groups", _letters(tests), numeric=False))
    cells = _symbols(tests)
    room = out.width - sum(column.width + 2 for column in keys)
    matrix = _matrix(cells, room)
    out.show_columns(keys, [] if matrix is None else [matrix], title=_title(tests, measure, scores))
    out.show(_caption(matrix is not None, tests), "")
    if list_pairs or tests.a.size <= _FEW_PAIRS:
        _show_pairs(comparison, out)


def _title(tests: PairwiseTests, measure: Measure, scores: NDArray[np.float64]) -> str:
    n_systems, n_queries = scores.shape
    corrected = {
        "holm": ", Holm's correction",
        "bh": ", Benjamini and Hochberg's correction",
        "none": ", no correction",
    }
    test = f"{tests.test}{corrected.get(tests.correction, '')}, alpha {tests.alpha:g}"
    title = f"{measure}: {n_systems} systems, {n_queries} queries; {test}"
    if tests.omnibus is not None:
        found = tests.omnibus
        title += (
            f"\nFriedman: chi-square {found.statistic:.2f}, {found.df} degrees of freedom, p {_equals(found.p_value)}"
        )
    return title


def _equals(p: float) -> str:
    text = p_value(p)
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def _caption(with_matrix: bool, tests: PairwiseTests) -> Text:
    lines = ["Systems that share a letter do not differ significantly."]
    if tests.test == "friedman-tukey":
        lines.append(f"Best is the highest mean rank over queries; {tests.order.size} would be first for every query.")
    if with_matrix:
        lines.append("> better, < worse than the system of that column; · no significant difference.")
    else:
        lines.append(f"The matrix of {tests.order.size:,} systems is too wide for this terminal: see --format csv.")
    return Text("\n".join(lines), style="dim")


def _letters(tests: PairwiseTests) -> list[str]:
    """Return the letters of every system, best first, each letter in a column of its own while there are few."""
    from earmark.inference.multiple import letter_display

    if len(tests.groups) > len(string.ascii_letters):
        letters = letter_display(tests.groups, n_systems=tests.order.size)
        return [letters[index] for index in tests.order.tolist()]
    return [
        "".join(
            letter if system in group else " "
            for letter, group in zip(string.ascii_letters, tests.groups, strict=False)
        )
        for system in tests.order.tolist()
    ]


def _symbols(tests: PairwiseTests) -> list[list[str]]:
    """Return the matrix of symbols, best first in both directions."""
    n = tests.order.size
    place = {system: position for position, system in enumerate(tests.order.tolist())}
    cells = [["·"] * n for _ in range(n)]
    for i in range(n):
        cells[i][i] = " "
    for a, b, sure in zip(tests.a.tolist(), tests.b.tolist(), tests.significant.tolist(), strict=True):
        if sure:
            above, below = sorted((place[a], place[b]))
            cells[above][below], cells[below][above] = ">", "<"
    return cells


def _matrix(cells: list[list[str]], room: int) -> Column | None:
    """Set the matrix in one column, without gaps where it would be too wide, and not at all if it still is."""
    n = len(cells)
    gap = " " if 2 * n - 1 <= room else ""
    if n * (1 + len(gap)) - len(gap) > room:
        return None
    ones = gap.join(str(place % 10) for place in range(1, n + 1))
    tens = gap.join(str(place // 10) if place >= 10 and place % 10 == 0 else " " for place in range(1, n + 1))
    rows = []
    for row in cells:
        line = Text()
        for position, symbol in enumerate(row):
            line.append(symbol, style=_STYLES[symbol])
            line.append(gap if position < n - 1 else "")
        rows.append(line)
    return Column(f"{tens}\n{ones}" if n >= 10 else ones, rows, numeric=False)


def _show_pairs(comparison: Comparison, out: Output) -> None:
    tests, systems = comparison.tests, comparison.systems
    # Best first: the pair's better half on the left, pairs in the order of the ranking.
    place = {systems[index]: position for position, index in enumerate(tests.order.tolist())}
    rows = []
    for row in comparison.pairs().iter_rows(named=True):
        if place[row["a"]] > place[row["b"]]:
            low, high = row["low"], row["high"]
            row |= {"a": row["b"], "b": row["a"], "wins": row["losses"], "losses": row["wins"]}
            row |= {
                "difference": -row["difference"] + 0.0,
                "effect_size": -row["effect_size"] + 0.0,
                "low": -high,
                "high": -low,
            }
        rows.append(row)
    rows.sort(key=lambda row: (place[row["a"]], place[row["b"]]))
    values = [Column("a − b", [number(row["difference"]) for row in rows])]
    if any(row["low"] == row["low"] for row in rows):
        values.append(Column(f"{1 - tests.alpha:.0%}\nfrom", [number(row["low"]) for row in rows]))
        values.append(Column("to", [number(row["high"]) for row in rows]))
    adjusted = tests.correction not in ("tukey", "none")
    if adjusted:
        values.append(Column("p", [p_value(row["p_value"]) for row in rows]))
    # The p-value that decides carries a star, and the others a blank in its place.
    verdicts = [p_value(row["p_adjusted"]) + ("*" if row["significant"] else " ") for row in rows]
    values.append(Column("adjusted\np" if adjusted else "p", verdicts))
    values.append(Column(_EFFECTS[tests.effect], [number(row["effect_size"], digits=2) for row in rows]))
    values.append(Column("wins/ties/\nlosses", [f"{row['wins']}/{row['ties']}/{row['losses']}" for row in rows]))
    out.show_columns([Column(name, [row[name] for row in rows], numeric=False) for name in ("a", "b")], values)
    out.show(Text("* a significant difference", style="dim"), "")


def show_correlations(rows: pl.DataFrame, out: Output) -> None:
    """Show how alike the rankings by several measures are."""
    keys = [
        Column(title, rows[name].to_list(), numeric=False)
        for title, name in (("measure", "measure_a"), ("and", "measure_b"))
    ]
    titles = {"tau": "Kendall's tau", "tau_ap": "tau AP", "rbo": "RBO", "spearman": "Spearman's rho"}
    values = [Column(title, [number(value) for value in rows[name]]) for name, title in titles.items()]
    out.show_columns(keys, values, title="How alike the rankings are: 1 is the same order, −1 the reverse (RBO: 0)")
