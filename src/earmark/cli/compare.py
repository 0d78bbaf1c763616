"""``earmark compare``: which systems differ, and how sure one may be.

In the matrix of a table every system has a row and a column, best first, and columns go by the number of their row::

     #  system    AG@5  groups  1 2 3
     1  first   0.5864  a         · >
     2  second  0.5512  ab      ·   ·
     3  third   0.4701   b      < ·

A row's ``>`` says that its system is significantly better than the column's, ``<`` that it is worse, ``·`` neither.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Annotated, Literal

from rich.text import Text

from earmark.cli.command import option
from earmark.cli.evaluate import header
from earmark.cli.options import MOST_DRAWS, Inputs, Scoring, Seed, Truth
from earmark.cli.output import Column, Output, equals_p, number, p_value

if TYPE_CHECKING:
    import polars as pl

    from earmark.inference.comparison import Comparison
    from earmark.inference.significance import PairwiseTests

TestName = Literal["friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap"]
CorrectionName = Literal["holm", "bh", "none"]
_TESTING = "How systems are tested"
# Up to six systems.
_FEW_PAIRS = 15
_STYLES = {">": "bold green", "<": "red", "·": "dim", " ": ""}
_EFFECTS = {"dominance": "domi-\nnance", "cohens-dz": "Cohen's\nd", "rank-biserial": "rank-\nbiserial"}
_CORRECTIONS = {
    "holm": ", Holm's correction",
    "bh": ", Benjamini and Hochberg's correction",
    "none": ", no correction",
}
_CORRELATIONS = {
    "measure_a": "measure",
    "measure_b": "and",
    "tau": "Kendall's tau",
    "tau_ap": "tau AP",
    "rbo": "RBO",
    "spearman": "Spearman's rho",
}


def compare(
    inputs: Inputs,
    truth: Truth,
    scoring: Scoring,
    out: Output,
    test: Annotated[TestName, option("TEST", panel=_TESTING)] = "friedman-tukey",
    correction: Annotated[CorrectionName | None, option("RULE", panel=_TESTING)] = None,
    alpha: Annotated[float, option("P", panel=_TESTING)] = 0.05,
    resamples: Annotated[int | None, option("N", panel=_TESTING, min=1, max=MOST_DRAWS, rare=True)] = None,
    seed: Seed = 0,
    pairs: Annotated[bool, option()] = False,
    correlations: Annotated[bool, option()] = False,
) -> None:
    """Find out which systems differ significantly.

    A table shows the ranking, letters for groups of systems that do not differ, and a matrix of all pairs. As jsonl or
    csv every pair is a row, with the difference a minus b.

    Parameters
    ----------
    test
        friedman-tukey: Friedman's test with Tukey's comparisons, as MIREX reports it. t: the paired t-test. wilcoxon:
        the signed-rank test. permutation or bootstrap: tests that draw at random.
    correction
        How to adjust for the number of pairs: holm, bh (Benjamini and Hochberg) or none. When omitted, holm. The test
        friedman-tukey adjusts by itself.
    alpha
        The level of significance.
    resamples
        How often permutation and bootstrap draw. When omitted, 10,000 times, or more where there are so many pairs
        that they need it.
    pairs
        List the pairs in a table too, however many there are.
    correlations
        Show instead how alike the rankings by several measures are.

    Examples
    --------
    earmark compare runs.tsv --judgments judgments.tsv -m AG@5
    earmark compare a.run b.run -j qrels.txt -m nDCG@10 --test permutation --seed 7
    earmark compare runs.tsv -j judgments.tsv -m AG@5 -m nDCG@5 -m RBP@5 --correlations
    """
    import polars as pl

    from earmark.cli.loading import load_scores
    from earmark.errors import ParameterError
    from earmark.evaluation import name_some
    from earmark.inference import comparison as between

    scores = load_scores(out, inputs, truth, scoring, most=None if correlations else 1)
    if len(scores.systems) < 2:
        raise ParameterError(f"there is only the system '{scores.systems[0]}': a comparison needs two or more")
    if correlations:
        if len(scores.measures) < 2:
            raise ParameterError("--correlations compares measures: name two or more with --measure")
        _print_correlations(between.correlate(scores), out)
        return
    if test == "friedman-tukey" and correction is not None:
        out.note("--correction has no effect: friedman-tukey adjusts for the number of pairs by itself")
    if test not in ("permutation", "bootstrap") and resamples is not None:
        out.note(f"--resamples has no effect: the {test} test does not draw at random")
    comparisons = [
        between.compare(
            scores, one, test=test, correction=correction or "holm", alpha=alpha, n_resamples=resamples, seed=seed
        )
        for one in scores.measures
    ]
    if comparisons[0].dropped:
        dropped = name_some(comparisons[0].dropped, "query", "queries")
        out.note(f"systems are compared on the queries that all of them answered, without {dropped}")
    if not out.for_people:
        out.rows(pl.concat([comparison.pairs() for comparison in comparisons]))
        return
    for comparison in comparisons:
        _show_comparison(comparison, out, list_pairs=pairs)
    if len(scores.measures) > 1:
        _print_correlations(between.correlate(scores), out)


def _print_correlations(rows: pl.DataFrame, out: Output) -> None:
    title = "How alike the rankings are: 1 is the same order, −1 the reverse (RBO: 0)"
    out.print_frame(rows, _CORRELATIONS, keys=2, title=title)


def _show_comparison(comparison: Comparison, out: Output, *, list_pairs: bool) -> None:
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
    out.show_columns(keys, [] if matrix is None else [matrix], title=_title(comparison))
    out.show(_caption(matrix is not None, tests), "")
    if list_pairs or tests.a.size <= _FEW_PAIRS:
        _show_pairs(comparison, out)


def _title(comparison: Comparison) -> str:
    tests, found = comparison.tests, comparison.tests.omnibus
    systems, queries = comparison.scores.shape
    title = (
        f"{comparison.measure}: {systems} systems, {queries} queries; "
        f"{tests.test}{_CORRECTIONS.get(tests.correction, '')}, alpha {tests.alpha:g}"
    )
    if found is None:
        return title
    return (
        f"{title}\nFriedman: chi-square {found.statistic:.2f}, {found.df} degrees of freedom, "
        f"p {equals_p(found.p_value)}"
    )


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
    from earmark.inference.multiple_comparisons import letter_display

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
