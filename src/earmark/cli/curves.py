"""``earmark curves``: what systems achieve as one reads on."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated, Literal

from rich.text import Text

from earmark.cli.command import option
from earmark.cli.options import SCORING, Inputs, Missing, Truth
from earmark.cli.output import Column, Output, number

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from earmark.data.judged_lists import JudgedLists
    from earmark.measures.curves import Curves

CurveName = Literal["pr", "roc", "lift", "normalised-lift", "dynamic-recall"]

# More rows than this are thinned out in a table.
_MOST_ROWS = 21


def curves(
    inputs: Inputs,
    truth: Truth,
    out: Output,
    curve: Annotated[CurveName, option("CURVE", "-c")] = "pr",
    rel: Annotated[float | None, option("GAIN")] = None,
    cutoff: Annotated[int | None, option("K", "-k", min=1)] = None,
    per_query: Annotated[bool, option()] = False,
    missing: Annotated[Missing, option("RULE", panel=SCORING, rare=True)] = "zero",
) -> None:
    """Draw the curves of systems as points: precision and recall, ROC, lift, dynamic recall.

    All systems and queries share the same values of x. The mean over queries is the curve whose query is called "all".

    Parameters
    ----------
    curve
        pr: precision at levels of recall. roc: recall at levels of fallout. lift: relevant documents found against
        documents seen. normalised-lift: the same as shares. dynamic-recall: for ordered groups.
    rel
        The least gain that counts as relevant. When omitted, any above 0.
    cutoff
        Look at the first K documents of every list only.
    per_query
        Give the curve of every query, then the means.
    missing
        How a query counts that a system did not answer: zero, as an empty list, or drop, not at all.

    Examples
    --------
    earmark curves a.run b.run --judgments qrels.txt --curve pr
    earmark curves covers.csv --cliques works.tsv --curve roc --format csv > roc.csv
    earmark curves melodies.tsv --groups groups.tsv --curve dynamic-recall --per-query
    """
    import numpy as np

    from earmark.cli.loading import load_truth
    from earmark.errors import ParameterError
    from earmark.evaluation import curves_by_system, ground_truth, judged_lists
    from earmark.measures.curves import draw_curves

    if curve == "dynamic-recall" and rel is not None:
        raise ParameterError("--rel does not apply to dynamic recall: every group counts")
    given = load_truth(out, truth, inputs.encoding)
    lists = inputs.load()
    known = ground_truth(given, aggregation=truth.aggregate, asked=lists.queries)
    if len(known.queries) < len(ground_truth(given, aggregation=truth.aggregate).queries):
        out.note("documents of cliques that are a query in no run do not count as queries")
    judged, system, absent = judged_lists(lists, known, collection_size=truth.collection_size)
    drawn = draw_curves(judged, curve, rel=rel, cutoff=cutoff)
    if absent.any() and missing == "zero":
        out.note("queries that a system did not answer count as empty lists; leave them out with --missing drop")
    kept = ~absent[system, judged.query] if missing == "drop" else np.ones(system.size, dtype=bool)
    means = curves_by_system(drawn, system, kept, systems=lists.systems)
    if out.for_people:
        if per_query:
            out.note("a table shows mean curves only: --per-query needs --format jsonl or csv")
        _show(means, out, queries=len(known.queries))
        return
    rows = _rows(means, lists.systems)
    if per_query:
        import polars as pl

        rows = pl.concat([_query_rows(drawn, judged, system, kept, lists.systems), rows])
    out.rows(rows)


def _rows(means: dict[str, Curves], systems: tuple[str, ...]) -> pl.DataFrame:
    import polars as pl

    frames = [
        pl.DataFrame({"x": means[name].x, "y": means[name].mean}).select(
            pl.lit(name).alias("system"), pl.lit("all").alias("query"), "x", "y"
        )
        for name in systems
    ]
    return pl.concat(frames).filter(pl.col("y").is_not_nan())


def _query_rows(
    drawn: Curves, lists: JudgedLists, system: NDArray[np.int64], kept: NDArray[np.bool_], systems: tuple[str, ...]
) -> pl.DataFrame:
    import numpy as np
    import polars as pl

    rows = np.flatnonzero(kept)
    rows = rows[np.lexsort((lists.query[rows], system[rows]))]
    points = drawn.x.size
    return pl.DataFrame(
        {
            "system": pl.Series(systems, dtype=pl.String).gather(np.repeat(system[rows], points)),
            "query": pl.Series(lists.truth.queries, dtype=pl.String).gather(np.repeat(lists.query[rows], points)),
            "x": np.tile(drawn.x, rows.size),
            "y": drawn.y[rows].reshape(-1),
        }
    ).filter(pl.col("y").is_not_nan())


def _show(means: dict[str, Curves], out: Output, *, queries: int) -> None:
    any_curve = next(iter(means.values()))
    points = any_curve.x.size
    step = -(-(points - 1) // (_MOST_ROWS - 1)) if points > _MOST_ROWS else 1
    shown = sorted({*range(0, points, step), points - 1})
    digits = 0 if all(any_curve.x == any_curve.x.round()) else 2
    columns = []
    for name, curve in sorted(means.items(), key=lambda item: (-item[1].mean_area, item[0])):
        mean = curve.mean
        columns.append(Column(name, [*(number(mean[at]) for at in shown), Text(number(curve.mean_area), style="bold")]))
    thinned = f", {len(shown)} of {points:,} points (all of them with --format csv)" if len(shown) < points else ""
    out.show_columns(
        [
            Column(
                "\n".join(textwrap.wrap(any_curve.x_name, 10)),
                [*(number(any_curve.x[at], digits=digits) for at in shown), "area"],
            )
        ],
        columns,
        title=f"{any_curve.y_name} against {any_curve.x_name}",
        caption=f"means over {queries:,} queries{thinned}; largest area first",
    )
