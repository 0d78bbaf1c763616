"""``earmark evaluate``: the scores of systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from earmark.cli.command import option
from earmark.cli.options import Inputs, Scoring, Truth
from earmark.cli.output import Column, Output, number
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.evaluation import Scores


def evaluate(
    inputs: Inputs, truth: Truth, scoring: Scoring, out: Output, per_query: Annotated[bool, option()] = False
) -> None:
    """Score every system with every measure.

    Give the runs and one file that says which documents are good: judgments, cliques or ordered groups. The mean
    over queries is the row whose query is called "all".

    Parameters
    ----------
    per_query
        Show the score of every query, then the means.

    Examples
    --------
    earmark evaluate runs.tsv --judgments judgments.tsv -m AG@5 -m nDCG@5
    earmark evaluate a.run b.run.gz -j qrels.txt -m map -m ndcg_cut_10 --per-query --format csv
    earmark evaluate covers.csv --cliques works.tsv -m AP -m MR1
    earmark evaluate melodies.tsv --groups groups.tsv -m ADR
    """
    from earmark.cli.loading import load_scores

    scores = load_scores(out, inputs, truth, scoring)
    if per_query and "all" in scores.queries:
        out.note('a query is called "all", as the mean is: the last rows are the means')
    if not out.for_people:
        out.rows(score_rows(scores, per_query=per_query))
        return
    if per_query:
        frame = scores.per_query().pivot(on="measure", index=["system", "query"], values="value", maintain_order=True)
        out.show_frame(frame, keys=2)
        out.show("")
    show_means(scores, out)


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
    systems, queries = counted(len(scores.systems), "system"), counted(len(scores.queries), "query", "queries")
    out.show_columns(
        [Column("system", table["system"].to_list(), numeric=False)],
        values,
        caption=f"{systems}, means over {queries}; best by {scores.measures[0]} first",
    )
