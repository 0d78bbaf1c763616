"""``earmark evaluate``: the scores of systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from earmark.cli.command import option
from earmark.cli.keeping import Keeping
from earmark.cli.options import Inputs, Scoring, Truth
from earmark.cli.output import Column, Output, ScoresOutput, number
from earmark.cli.unjudged_words import say_bounds
from earmark.wording import counted, percent

# Of more, a table has no room for bounds.
_FEW_MEASURES = 2

if TYPE_CHECKING:
    import polars as pl

    from earmark.evaluation import Scores


def evaluate(
    context: typer.Context,
    inputs: Inputs,
    truth: Truth,
    scoring: Scoring,
    keeping: Keeping,
    out: ScoresOutput,
    per_query: Annotated[bool, option()] = False,
    memory: Annotated[str | None, option("SIZE")] = None,
) -> None:
    """Score every system with every measure.

    Give the runs and one file that says which documents are good: judgments, cliques or ordered groups. The mean
    over queries is the row whose query is called "all". It says too how much of a system's results nobody judged, by
    rank weight among the first 100 ranks and within the cutoff, and between which values the score lies whatever these
    documents are worth.

    Parameters
    ----------
    per_query
        Show the score of every query, then the means.
    memory
        How much memory to use, such as 4GB. A run that is sorted by query is read in pieces; one that is not and needs
        more than this is first sorted into files on disk. When omitted, what is available.

    Examples
    --------
    earmark evaluate runs.tsv --judgments judgments.tsv -m AG@5 -m nDCG@5
    earmark evaluate a.run b.run.gz -j qrels.txt -m map,ndcg_cut.10 --per-query --format csv
    earmark evaluate my.run -j qrels.txt -m num_q,map,P.5,10 --format trec_eval
    earmark evaluate covers.csv --cliques works.tsv -m AP -m MR1
    earmark evaluate melodies.tsv --groups groups.tsv -m ADR
    earmark evaluate results/ -j qrels.parquet -m nDCG@10 --memory 4GB
    """
    from earmark.cli.loading import load_scores
    from earmark.data.limits import parse_bytes

    scores = load_scores(out, inputs, truth, scoring, memory=None if memory is None else parse_bytes(memory))
    if per_query and "all" in scores.queries:
        out.note('a query is called "all", as the mean is: the last rows are the means')
    keeping.keep(context, out, score_rows(scores, per_query=per_query), scores=scores.means())
    if out.shape == "trec_eval":
        out.text("".join(f"{line}\n" for line in trec_eval_lines(scores, per_query=per_query)))
        return
    if out.shape == "latex":
        out.text(_latex(scores, per_query=per_query))
        return
    if not out.for_people:
        out.rows(score_rows(scores, per_query=per_query))
        return
    if per_query:
        frame = scores.per_query().pivot(on="measure", index=["system", "query"], values="value", maintain_order=True)
        out.show_frame(frame, keys=2)
        out.show("")
    show_means(scores, out)


def score_rows(scores: Scores, *, per_query: bool) -> pl.DataFrame:
    """Return ``system``, ``query``, ``measure``, ``value``: every query if asked for, then the means as query "all".

    By judgments, means have ``unjudged``, ``value_low`` and ``value_high`` too, see :meth:`Scores.means_with_bounds`.
    """
    import polars as pl

    columns = ["system", "query", "measure", "value"]
    means = scores.means() if scores.unjudged_results is None else scores.means_with_bounds()
    means = means.with_columns(query=pl.lit("all"))
    means = means.select(*columns, pl.exclude(columns))
    return pl.concat([scores.per_query().select(columns), means], how="diagonal") if per_query else means


def trec_eval_lines(scores: Scores, *, per_query: bool) -> Iterator[str]:
    r"""Print scores as trec_eval does: measure, query and value, four digits, one system after the other.

    ``%-22s\t%s\t%6.4f``, with whole numbers for counts. Geometric means have no value for a query.
    """
    from earmark.measures.foreign_names import trec_eval_name

    def line(number: int, query: str, value: float) -> str:
        measure = scores.measures[number]
        written = f"{value:.0f}" if measure.range[1] > 1 and str(measure).startswith("num_") else f"{value:6.4f}"
        return f"{trec_eval_name(measure):<22}\t{query}\t{written}"

    measures = range(len(scores.measures))
    for place, system in enumerate(scores.systems):
        for at, query in enumerate(scores.queries if per_query else ()):
            values = scores.values[:, place, at]
            alone = [number for number in measures if scores.measures[number].name not in ("num_q", "GMAP")]
            yield from (line(number, query, values[number]) for number in alone if values[number] == values[number])
        yield f"{'runid':<22}\tall\t{system}"
        yield from (line(number, "all", scores.mean_values[number, place]) for number in measures)


def _latex(scores: Scores, *, per_query: bool) -> str:
    """Set the means as a table, best system first and best value in bold; before them, if asked for, all scores."""
    from earmark.cli.latex import latex_table

    table = scores.table()
    names = [str(measure) for measure in scores.measures]
    values = [Column(name, [number(value) for value in table[name]]) for name in names]
    bold = {}
    for place, measure in enumerate(scores.measures, start=1):
        column = table[str(measure)]
        best = column.max() if measure.higher_is_better else column.min()
        bold[place] = {row for row, value in enumerate(column) if value == best}
    counts = counted(len(scores.systems), "system"), counted(len(scores.queries), "query", "queries")
    comment = f"{counts[0]}, means over {counts[1]}"
    means = latex_table(
        [Column("system", table["system"].to_list(), numeric=False), *values], bold=bold, comment=comment
    )
    if not per_query:
        return means
    frame = scores.per_query().pivot(on="measure", index=["system", "query"], values="value", maintain_order=True)
    keys = [Column(name, frame[name].to_list(), numeric=False) for name in ("system", "query")]
    return latex_table([*keys, *(Column(name, [number(one) for one in frame[name]]) for name in names)]) + means


def header(name: str, *, higher_is_better: bool) -> str:
    """Return the name of a measure with an arrow where less is better."""
    return name if higher_is_better else f"{name} ↓"


def show_means(scores: Scores, out: Output) -> None:
    """Show the mean scores, best system first and best value in bold."""
    import polars as pl

    table = scores.table()
    bounds = scores.means_with_bounds()
    values = []
    for measure in scores.measures:
        column = table[str(measure)]
        best = column.max() if measure.higher_is_better else column.min()
        cells = [Text(number(value), style="bold" if value == best else "") for value in column]
        values.append(Column(header(str(measure), higher_is_better=measure.higher_is_better), cells))
        of_measure = bounds.filter(pl.col("measure") == str(measure))
        if measure.needs_all_judged and of_measure["unjudged"].max() and len(scores.measures) <= _FEW_MEASURES:
            rows = {row["system"]: row for row in of_measure.to_dicts()}
            ordered = [rows[name] for name in table["system"]]
            values.append(Column("unjudged\n%", [percent(row["unjudged"]) for row in ordered]))
            values.append(Column("could be", [say_bounds(row["value_low"], row["value_high"]) for row in ordered]))
    systems, queries = counted(len(scores.systems), "system"), counted(len(scores.queries), "query", "queries")
    out.show_columns(
        [Column("system", table["system"].to_list(), numeric=False)],
        values,
        caption=f"{systems}, means over {queries}; best by {scores.measures[0]} first",
    )
