"""``earmark evaluate``: the scores of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from earmark.cli import options
from earmark.cli.output import Column, Output, number

if TYPE_CHECKING:
    import polars as pl

    from earmark.evaluation import Scores

EXAMPLES = options.examples(
    "earmark evaluate runs.tsv --judgments judgments.tsv -m AG@5 -m nDCG@5",
    "earmark evaluate a.run b.run.gz -j qrels.txt -m map -m ndcg_cut_10 --per-query --format csv",
    "earmark evaluate covers.csv --cliques works.tsv -m AP -m MR1",
    "earmark evaluate melodies.tsv --groups groups.tsv -m ADR",
)


def evaluate(
    runs: options.RunPaths,
    judgments: options.JudgmentsFile = None,
    cliques: options.CliquesFile = None,
    groups: options.GroupsFile = None,
    scale: options.ScaleName = None,
    aggregate: options.AggregationName = "mean",
    collection_size: options.CollectionSize = None,
    measure: options.MeasureNames = None,
    missing: options.MissingRule = "zero",
    per_query: Annotated[
        bool, typer.Option("--per-query", metavar="", help="Show the score of every query, then the means.")
    ] = False,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Score every system with every measure.

    Give the runs and one file that says which documents are good: judgments, cliques or ordered groups. The mean
    over queries is the row whose query is called "all".
    """
    from earmark.cli.loading import choose_measures, load_known, load_runs, require_retrieved, say_judged
    from earmark.data.judgments import Judgments
    from earmark.evaluation import evaluate as score

    out = Output.choose(format, quiet=quiet)
    known = load_known(out, judgments=judgments, cliques=cliques, groups=groups, scale=scale, encoding=encoding)
    lists = load_runs(runs, order=order, encoding=encoding)
    scores = score(
        lists,
        known,
        choose_measures(out, measure, known),
        missing=missing,
        aggregation=aggregate,
        collection_size=collection_size,
    )
    if isinstance(known, Judgments) and not scores.judged_results[None][0]:
        require_retrieved(known, lists, judgments)
    for note in scores.notes():
        out.note(note)
    say_judged(scores, known, out)
    if per_query and "all" in scores.queries:
        out.note('a query is called "all", as the mean is: the last rows are the means')
    if out.for_people:
        if per_query:
            _show_queries(scores, out)
        show_means(scores, out)
    else:
        out.rows(score_rows(scores, per_query=per_query))


def score_rows(scores: Scores, *, per_query: bool) -> pl.DataFrame:
    """Return ``system``, ``query``, ``measure``, ``value``: every query if asked for, then the means as query "all"."""
    import polars as pl

    columns = ["system", "query", "measure", "value"]
    means = scores.means().with_columns(query=pl.lit("all")).select(columns)
    return pl.concat([scores.per_query().select(columns), means]) if per_query else means


def header(name: str, *, higher_is_better: bool) -> str:
    """Return the name of a measure with an arrow where less is better."""
    return name if higher_is_better else f"{name} ↓"


def show_means(scores: Scores, out: Output) -> None:
    """Show the mean scores, best system first and best value in bold."""
    table = scores.table()
    values = []
    for measure in scores.measures:
        column = table[str(measure)]
        best = column.max() if measure.higher_is_better else column.min()
        cells = [Text(number(value), style="bold" if value == best else "") for value in column]
        values.append(Column(header(str(measure), higher_is_better=measure.higher_is_better), cells))
    systems = _count(len(scores.systems), "system")
    queries = _count(len(scores.queries), "query", "queries")
    out.show_columns(
        [Column("system", table["system"].to_list(), numeric=False)],
        values,
        caption=f"{systems}, means over {queries}; best by {scores.measures[0]} first",
    )


def _show_queries(scores: Scores, out: Output) -> None:
    frame = scores.per_query().pivot(on="measure", index=["system", "query"], values="value", maintain_order=True)
    keys = [Column(name, frame[name].to_list(), numeric=False) for name in ("system", "query")]
    values = [Column(str(m), [number(value) for value in frame[str(m)]]) for m in scores.measures]
    out.show_columns(keys, values)
    out.show("")


def _count(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
