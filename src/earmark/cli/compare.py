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
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from earmark.cli.command import option
from earmark.cli.evaluate import header
from earmark.cli.keeping import Keeping
from earmark.cli.options import CHECKING, KNOWN, MOST_DRAWS, Checking, Inputs, Scoring, Seed, Truth
from earmark.cli.output import Column, Output, PaperOutput, equals_p, number, p_value
from earmark.cli.unjudged_words import advise, say_bounds, say_unjudged
from earmark.wording import counted, percent

if TYPE_CHECKING:
    import polars as pl

    from earmark.inference.baseline import BaselineComparison
    from earmark.inference.comparison import Comparison
    from earmark.inference.significance import PairwiseTests

TestName = Literal["friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap"]
CorrectionName = Literal["holm", "bh", "none"]
UnjudgedRule = Literal["any", "alike", "zero"]
_TESTING = "How systems are tested"
# Up to six systems.
_FEW_PAIRS = 15
_STYLES = {">": "bold green", "<": "red", "·": "dim", "?": "yellow", " ": ""}
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
    context: typer.Context,
    inputs: Inputs,
    truth: Truth,
    scoring: Scoring,
    checking: Checking,
    keeping: Keeping,
    out: PaperOutput,
    test: Annotated[TestName | None, option("TEST", panel=_TESTING)] = None,
    correction: Annotated[CorrectionName | None, option("RULE", panel=_TESTING)] = None,
    alpha: Annotated[float, option("P", panel=_TESTING)] = 0.05,
    resamples: Annotated[int | None, option("N", panel=_TESTING, min=1, max=MOST_DRAWS, rare=True)] = None,
    unit: Annotated[str | None, option("COLUMN|FILE", panel=_TESTING)] = None,
    metadata: Annotated[Path | None, option("FILE", panel=KNOWN, rare=True)] = None,
    seed: Seed = 0,
    margin: Annotated[float, option("D", panel=CHECKING, min=0.0)] = 0.0,
    unjudged: Annotated[UnjudgedRule | None, option("RULE", panel=_TESTING)] = None,
    pairs: Annotated[bool, option()] = False,
    correlations: Annotated[bool, option()] = False,
) -> None:
    """Find out which systems differ significantly.

    A table shows the ranking, letters for groups of systems that do not differ, and a matrix of all pairs. As jsonl or
    csv every pair is a row, the better system as a, with the difference a minus b.

    A difference that documents without a judgment could turn is no verdict: rows say so, and --fail-if-worse ends with
    exit code 2 and names the documents to judge.

    Exit codes: 0 fine, 1 the check --fail-if-worse failed, 2 bad input, 130 interrupted.

    Parameters
    ----------
    test
        friedman-tukey: Friedman's test with Tukey's comparisons, as MIREX reports it. t: the paired t-test. wilcoxon:
        the signed-rank test. permutation or bootstrap: tests that draw at random. When omitted, friedman-tukey, or t
        with --baseline: a check is about means, by a one-sided t-test beside friedman-tukey and wilcoxon too.
    correction
        How to adjust for the number of pairs: holm, bh (Benjamini and Hochberg) or none. When omitted, holm. The test
        friedman-tukey adjusts by itself.
    alpha
        The level of significance.
    resamples
        How often permutation and bootstrap draw. When omitted, 10,000 times, or more where there are so many pairs
        that they need it.
    unit
        Which queries are not independent of each other: a file with two columns, query and unit (such as its user), a
        column of the metadata, or query where all are independent. Tests and intervals are by unit, means over queries.
        When omitted, works with --cliques and queries otherwise.
    metadata
        Metadata, for units of queries that are documents: a table whose header names the columns document and so on.
    margin
        By how much a system may be worse than the baseline: a difference of scores that does not matter.
    unjudged
        With which values of the documents that nobody judged, among the first 100 ranks and within the cutoff, a
        significant difference has to remain one. any: whatever they are. alike: if they are as good as the judged ones
        of their system. zero: they are not relevant, as trec_eval takes them. When omitted, any with --baseline and
        alike otherwise; zero where no judgment says that a document is not relevant.
    pairs
        List the pairs in a table too, however many there are.
    correlations
        Show instead how similar the rankings by several measures are (Kendall's tau).

    Examples
    --------
    earmark compare runs.tsv --judgments judgments.tsv -m AG@5
    earmark compare a.run b.run -j qrels.txt -m nDCG@10 --test permutation --seed 7
    earmark compare runs.tsv -j judgments.tsv -m AG@5,nDCG@5,RBP@5 --correlations
    earmark compare *.run -j qrels.txt -m nDCG@10 --baseline released --fail-if-worse --margin 0.01
    earmark compare a.run b.run -j qrels.txt -m nDCG@10 --unit users.tsv --test t
    """
    import polars as pl

    from earmark.cli.loading import load_scores
    from earmark.data.units import EACH_QUERY, units_named
    from earmark.errors import ParameterError
    from earmark.evaluation import name_some
    from earmark.inference import comparison as between
    from earmark.inference.baseline import compare_with_baseline
    from earmark.inference.monte_carlo_error import say_p_value_error

    _check_options(context, checking, correction, correlations=correlations)
    scores = load_scores(out, inputs, truth, scoring, most=None if correlations else 1)
    if len(scores.systems) < 2:
        raise ParameterError(f"there is only the system '{scores.systems[0]}': a comparison needs two or more")
    if correlations:
        if len(scores.measures) < 2:
            raise ParameterError("--correlations compares measures: name two or more with --measure")
        _print_correlations(between.correlate(scores), out)
        return
    test = test or ("friedman-tukey" if checking.baseline is None else "t")
    if test == "friedman-tukey" and correction is not None:
        out.note("--correction has no effect: friedman-tukey adjusts for the number of pairs by itself")
    if test not in ("permutation", "bootstrap") and resamples is not None:
        out.note(f"--resamples has no effect: the {test} test does not draw at random")
    how: dict[str, Any] = {"test": test, "alpha": alpha, "n_resamples": resamples, "seed": seed}
    how |= {"unjudged": unjudged}
    if unit is not None:
        how["unit_of"] = units_named(unit, metadata=metadata, encoding=inputs.encoding) or EACH_QUERY
    beside: list[BaselineComparison] = []
    if checking.baseline is not None:
        how |= {"margin": margin, "among": len(scores.measures)}
        beside = [compare_with_baseline(scores, checking.baseline, one, **how) for one in scores.measures]
        _say_check(out, checking, beside)
    comparisons = [one.comparison for one in beside] or [
        between.compare(scores, one, correction=correction or "holm", **how) for one in scores.measures
    ]
    if comparisons[0].unit != EACH_QUERY:
        out.note(comparisons[0].about_units())
    if comparisons[0].dropped:
        dropped = name_some(comparisons[0].dropped, "query", "queries")
        out.note(f"systems are compared on the queries that all of them answered, without {dropped}")
    for note in (*say_p_value_error([one.tests for one in comparisons]), *say_unjudged(scores, comparisons, unjudged)):
        out.note(note)
    frames = [one.pairs(others=pairs) for one in beside] or [one.pairs() for one in comparisons]
    keeping.keep(context, out, *frames, scores=scores.means(), checks=tuple(one.check for one in beside))
    if not out.for_people:
        if out.shape == "latex":
            out.text(*(_latex(one, frame) for one, frame in zip(comparisons, frames, strict=True)))
        else:
            out.rows(pl.concat(frames))
    else:
        for number, comparison in enumerate(comparisons):
            _show_comparison(comparison, out, beside[number] if beside else None, list_pairs=pairs)
        if len(scores.measures) > 1:
            _print_correlations(between.correlate(scores), out)
    checks = [one.check for one in beside]
    checking.conclude(*checks, advice=advise(context, scores, checks))


def _check_options(
    context: typer.Context, checking: Checking, correction: CorrectionName | None, *, correlations: bool
) -> None:
    """Refuse options of a check that do not go together."""
    from earmark.cli.command_lines import was_given
    from earmark.errors import ParameterError

    checking.require_baseline()
    if checking.baseline is None:
        # The settings of a campaign may have a margin for its stop rule, which is no mistake here.
        if was_given(context, "margin"):
            raise ParameterError(
                "--margin says by how much a system may be worse than a baseline: name it with --baseline"
            )
        return
    if correlations:
        raise ParameterError("--baseline compares systems and --correlations measures: give one of them")
    if correction not in (None, "holm"):
        raise ParameterError(f"--baseline adjusts by Holm's rule, so that its error rate holds: leave out {correction}")


def _say_check(out: Output, checking: Checking, beside: Sequence[BaselineComparison]) -> None:
    """Say what the check concludes and how it accounts for the number of comparisons."""
    tests, check = beside[0].comparison.tests, beside[0].check
    rule = ", adjusted by Holm's rule" if len(check.systems) > 1 else ""
    out.note(
        f"the check is a one-sided test of mean differences by {check.unit} ({check.test}{rule}): "
        f"the chance of any false alarm is at most about {tests.alpha:g}"
    )
    caution = check.caution()
    if caution is not None:
        out.note(caution)
    if len(beside) > 1:
        out.note(f"the check of each of {len(beside)} measures is at {tests.alpha:g} / {len(beside)}")
    for one in beside:
        checking.say(one.check, out)


def _latex(comparison: Comparison, pairs: pl.DataFrame) -> str:
    """Set the ranking and the pairs as two tables."""
    from earmark.cli.latex import latex_table

    tests, measure = comparison.tests, comparison.measure
    ranking = comparison.ranking()
    systems = [
        Column("system", ranking["system"].to_list(), numeric=False),
        Column(str(measure), [number(value) for value in ranking["mean"]]),
        Column("groups", ranking["groups"].to_list(), numeric=False),
    ]
    return latex_table(systems, comment=_title(comparison)) + "\n" + latex_table(_pair_columns(tests, pairs))


def _print_correlations(rows: pl.DataFrame, out: Output) -> None:
    title = "How alike the rankings are: 1 is the same order, −1 the reverse (RBO: 0)"
    out.print_frame(rows, _CORRELATIONS, keys=2, title=title)


def _show_comparison(
    comparison: Comparison, out: Output, beside: BaselineComparison | None, *, list_pairs: bool
) -> None:
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
    cells = _symbols(comparison)
    room = out.width - sum(column.width + 2 for column in keys)
    matrix = _matrix(cells, room)
    out.show_columns(keys, [] if matrix is None else [matrix], title=_title(comparison))
    is_open = comparison.unjudged is not None and bool(comparison.unjudged.undecided.any())
    out.show(_caption(matrix is not None, tests, is_open=is_open), "")
    if beside is not None:
        _show_pairs(tests, beside.pairs(others=list_pairs), out)
    elif list_pairs or tests.a.size <= _FEW_PAIRS:
        _show_pairs(tests, comparison.pairs(), out)


def _title(comparison: Comparison) -> str:
    from earmark.data.units import EACH_QUERY, counted_units

    tests, found = comparison.tests, comparison.tests.omnibus
    systems, queries = comparison.scores.shape
    units = "" if comparison.unit == EACH_QUERY else f" of {counted_units(comparison.units.count, comparison.unit)}"
    title = (
        f"{comparison.measure}: {systems} systems, {queries} queries{units}; "
        f"{tests.test}{_CORRECTIONS.get(tests.correction, '')}, alpha {tests.alpha:g}"
    )
    if found is None:
        return title
    return (
        f"{title}\nFriedman: chi-square {found.statistic:.2f}, {counted(found.df, 'degree')} of freedom, "
        f"p {equals_p(found.p_value)}"
    )


def _caption(with_matrix: bool, tests: PairwiseTests, *, is_open: bool) -> Text:
    lines = ["Systems that share a letter do not differ significantly."]
    if tests.test == "friedman-tukey":
        lines.append("Mean rank over queries: a system that is the best for every query has 1.")
    if with_matrix:
        lines.append("> better, < worse than the system of that column; · no significant difference.")
        if is_open:
            lines.append("? a significant difference that unjudged documents could turn.")
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


def _symbols(comparison: Comparison) -> list[list[str]]:
    """Return the matrix of symbols, best first in both directions."""
    tests, pairs = comparison.tests, comparison.unjudged
    undecided = [False] * tests.a.size if pairs is None else pairs.undecided.tolist()
    n = tests.order.size
    place = {system: position for position, system in enumerate(tests.order.tolist())}
    cells = [["·"] * n for _ in range(n)]
    for i in range(n):
        cells[i][i] = " "
    found = zip(tests.a.tolist(), tests.b.tolist(), tests.significant.tolist(), undecided, strict=True)
    for a, b, sure, is_open in found:
        if sure or is_open:
            above, below = sorted((place[a], place[b]))
            cells[above][below], cells[below][above] = "><" if sure else "??"
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


def _show_pairs(tests: PairwiseTests, pairs: pl.DataFrame, out: Output) -> None:
    columns = _pair_columns(tests, pairs)
    out.show_columns(columns[:2], columns[2:])
    said = ["* a significant difference"]
    if pairs["undecided_by_unjudged"].any():
        said.append("? unjudged documents could turn this")
    if _is_touched(pairs.to_dicts()):
        said.append("Unjudged: % of the results, by rank weight. Could be: bounds of a − b, whatever their gains are.")
    if "p_worse" in pairs.columns:
        said.append("! a is worse than the baseline b" + (" by more than the margin" if pairs["margin"][0] else ""))
    if tests.simultaneous:
        said.append(f"Intervals of mean differences; all of them hold together with confidence {1 - tests.alpha:g}.")
    out.show(Text("\n".join(said), style="dim"), "")


def _pair_columns(tests: PairwiseTests, pairs: pl.DataFrame) -> list[Column]:
    """Return the two systems of every pair and what is known of it."""
    rows = pairs.to_dicts()
    keys = [Column(name, [row[name] for row in rows], numeric=False) for name in ("a", "b")]
    values = [Column("a − b", [number(row["difference"]) for row in rows])]
    if any(row["low"] == row["low"] for row in rows):
        values.append(Column(f"{1 - tests.alpha:.0%}\nfrom", [number(row["low"]) for row in rows]))
        values.append(Column("to", [number(row["high"]) for row in rows]))
    adjusted = tests.correction not in ("tukey", "none")
    if adjusted:
        values.append(Column("p", [p_value(row["p_value"]) for row in rows]))
    # The p-value that decides carries a star, and the others a blank in its place.
    verdicts = [p_value(row["p_adjusted"]) + _mark(row) for row in rows]
    values.append(Column("adjusted\np" if adjusted else "p", verdicts))
    if "p_worse" in pairs.columns:
        margin = rows[0]["margin"]
        cells = [p_value(row["p_worse"]) + ("!" if row["worse"] else " ") for row in rows]
        values.append(Column(f"p worse\nby > {margin:g}" if margin else "p\nworse", cells))
    values.append(Column(_EFFECTS[tests.effect], [number(row["effect_size"], digits=2) for row in rows]))
    values.append(Column("wins/ties/\nlosses", [f"{row['wins']}/{row['ties']}/{row['losses']}" for row in rows]))
    if _is_touched(rows):
        shares = [f"{percent(row['unjudged_a'])} / {percent(row['unjudged_b'])}" for row in rows]
        values.append(Column("unjudged\na / b", shares))
        values.append(Column("could be", [say_bounds(row["difference_low"], row["difference_high"]) for row in rows]))
    return [*keys, *values]


def _mark(row: dict[str, Any]) -> str:
    return "*" if row["significant"] else "?" if row["undecided_by_unjudged"] else " "


def _is_touched(rows: list[dict[str, Any]]) -> bool:
    """Tell whether anything of any pair is unjudged."""
    return any(row["unjudged_a"] or row["unjudged_b"] for row in rows)
