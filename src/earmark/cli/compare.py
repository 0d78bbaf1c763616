"""``earmark compare``: which systems differ, and how sure one may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from earmark.cli import options
from earmark.cli.output import Output

if TYPE_CHECKING:
    from earmark.evaluation import Scores

TestName = Literal["friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap"]
CorrectionName = Literal["holm", "bh", "none"]
_RESAMPLING = ("permutation", "bootstrap")
_TESTING = "How systems are tested"

EXAMPLES = options.examples(
    "earmark compare runs.tsv --judgments judgments.tsv -m AG@5",
    "earmark compare a.run b.run -j qrels.txt -m nDCG@10 --test permutation --seed 7",
    "earmark compare runs.tsv -j judgments.tsv -m AG@5 -m nDCG@5 -m RBP@5 --correlations",
)


def compare(
    runs: options.RunPaths,
    judgments: options.JudgmentsFile = None,
    cliques: options.CliquesFile = None,
    groups: options.GroupsFile = None,
    scale: options.ScaleName = None,
    aggregate: options.AggregationName = "mean",
    collection_size: options.CollectionSize = None,
    measure: options.MeasureNames = None,
    missing: options.MissingRule = "zero",
    test: Annotated[
        TestName,
        typer.Option(
            "--test",
            metavar="TEST",
            help="friedman-tukey: Friedman's test with Tukey's comparisons, as MIREX reports it. t: the paired t-test. "
            "wilcoxon: the signed-rank test. permutation or bootstrap: tests that draw at random.",
            rich_help_panel=_TESTING,
        ),
    ] = "friedman-tukey",
    correction: Annotated[
        CorrectionName | None,
        typer.Option(
            "--correction",
            metavar="RULE",
            help="How to adjust for the number of pairs: holm, bh (Benjamini and Hochberg) or none. When omitted, "
            "holm. The test friedman-tukey adjusts by itself.",
            rich_help_panel=_TESTING,
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option("--alpha", metavar="P", help="The level of significance.", rich_help_panel=_TESTING),
    ] = 0.05,
    resamples: Annotated[
        int | None,
        typer.Option(
            "--resamples",
            metavar="N",
            min=1,
            help="How often permutation and bootstrap draw. When omitted, 10,000 times, or more where there are so "
            "many pairs that they need it.",
            rich_help_panel=_TESTING,
        ),
    ] = None,
    seed: options.Seed = 0,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", metavar="", help="List the pairs in a table too, however many there are."),
    ] = False,
    correlations: Annotated[
        bool,
        typer.Option("--correlations", metavar="", help="Show instead how alike the rankings by several measures are."),
    ] = False,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Find out which systems differ significantly.

    A table shows the ranking, letters for groups of systems that do not differ, and a matrix of all pairs. As jsonl or
    csv every pair is a row, with the difference a minus b.
    """
    import polars as pl

    from earmark.cli import comparison_tables as tables
    from earmark.cli.loading import choose_measures, load_known, load_runs, require_retrieved, say_judged
    from earmark.data.judgments import Judgments
    from earmark.errors import ParameterError
    from earmark.evaluation import evaluate, name_some
    from earmark.inference import systems as between

    out = Output.choose(format, quiet=quiet)
    known = load_known(out, judgments=judgments, cliques=cliques, groups=groups, scale=scale, encoding=encoding)
    lists = load_runs(runs, order=order, encoding=encoding)
    if len(lists.systems) < 2:
        raise ParameterError(f"there is only the system '{lists.systems[0]}': a comparison needs two or more")
    names = choose_measures(out, measure, known, most=None if correlations else 1)
    scores = evaluate(lists, known, names, missing=missing, aggregation=aggregate, collection_size=collection_size)
    if isinstance(known, Judgments) and not scores.judged_results[None][0]:
        require_retrieved(known, lists, judgments)
    for note in scores.notes():
        out.note(note)
    say_judged(scores, known, out)
    if correlations:
        _print_correlations(scores, out)
        return
    if test == "friedman-tukey" and correction is not None:
        out.note("--correction has no effect: friedman-tukey adjusts for the number of pairs by itself")
    if test not in _RESAMPLING and resamples is not None:
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
    if out.for_people:
        for comparison in comparisons:
            tables.show_comparison(comparison, out, list_pairs=pairs)
        if len(scores.measures) > 1:
            tables.show_correlations(between.correlate(scores), out)
    else:
        out.rows(pl.concat([comparison.pairs() for comparison in comparisons]))


def _print_correlations(scores: Scores, out: Output) -> None:
    from earmark.cli import comparison_tables as tables
    from earmark.errors import ParameterError
    from earmark.inference.systems import correlate

    if len(scores.measures) < 2:
        raise ParameterError("--correlations compares measures: name two or more with --measure")
    rows = correlate(scores)
    if out.for_people:
        tables.show_correlations(rows, out)
    else:
        out.rows(rows)
