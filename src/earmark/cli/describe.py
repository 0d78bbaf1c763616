"""``earmark describe``: how much there is of everything."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from earmark.cli import options
from earmark.cli.output import NOTHING, Column, Output

EXAMPLES = options.examples(
    "earmark describe runs.tsv --judgments judgments.tsv --metadata metadata.tsv",
    "earmark describe a.run b.run c.run --teams teams.tsv --depth 10",
)

_IN_WORDS = {
    "systems": "systems",
    "teams": "teams that sent them",
    "queries": "queries",
    "results": "results that systems returned",
    "items": "items: different query and document pairs among them",
    "judged": "items that are judged",
    "overlap": "overlap: the share of judging that systems save each other",
    "depth_min": "shortest list",
    "depth_max": "longest list",
    "missing_metadata": "items without complete metadata",
}


def describe(
    runs: options.RunPaths,
    judgments: options.JudgmentsFile = None,
    scale: options.ScaleName = None,
    metadata: options.MetadataFile = None,
    teams: options.TeamsFile = None,
    depth: Annotated[
        int | None,
        typer.Option("--depth", "-k", metavar="K", min=1, help="Look at the first K documents of every list only."),
    ] = None,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Count systems, queries, results and items, and what is known about them.

    An item is a query with a document that at least one system retrieved for it: the thing that is judged.
    """
    import polars as pl

    from earmark.cli.loading import load_judgments, load_runs
    from earmark.cli.setting import say_metadata
    from earmark.data.collection import Collection
    from earmark.data.collection import describe as count
    from earmark.data.readers import read_metadata
    from earmark.data.teams import read_teams

    out = Output.choose(format, quiet=quiet)
    known = None if metadata is None else read_metadata(metadata, encoding=encoding)
    lists = load_runs(runs, order=order, encoding=encoding)
    collection = Collection.from_runs(lists, depth=depth, metadata=known)
    say_metadata(collection, lists, metadata, out)
    row = asdict(
        count(
            collection,
            judgments=None if judgments is None else load_judgments(judgments, out, scale=scale, encoding=encoding),
            teams=None if teams is None else read_teams(teams, encoding=encoding),
        )
    )
    if not out.for_people:
        out.rows(pl.DataFrame([row]))
        return
    cells = {name: NOTHING if value is None else _in_figures(value) for name, value in row.items()}
    out.show_columns(
        [Column("", list(cells.values()))], [Column("", [_IN_WORDS[name] for name in cells], numeric=False)]
    )


def _in_figures(value: float) -> str:
    return f"{value:.1%}" if isinstance(value, float) else f"{value:,}"
