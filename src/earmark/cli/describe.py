"""``earmark describe``: how much there is of everything."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from earmark.cli.command import option
from earmark.cli.options import KNOWN, Depth, Inputs, Judged
from earmark.cli.output import NOTHING, Column, Output

_IN_WORDS = {
    "systems": "systems",
    "teams": "teams that sent them",
    "queries": "queries",
    "results": "results that systems returned",
    "items": "items: different query and document pairs among them",
    "judged": "items that are judged",
    "overlap": "overlap: the share of results that need no judgment of their own",
    "depth_min": "shortest list",
    "depth_max": "longest list",
    "missing_metadata": "items without complete metadata",
}


def describe(
    inputs: Inputs,
    judged: Judged,
    out: Output,
    metadata: Annotated[Path | None, option("FILE", panel=KNOWN)] = None,
    teams: Annotated[Path | None, option("FILE", panel=KNOWN)] = None,
    depth: Depth = None,
) -> None:
    """Count systems, queries, results and items, and what is known about them.

    An item is a query with a document that at least one system retrieved for it: the thing that is judged.

    Parameters
    ----------
    metadata
        Metadata: a table whose header names the columns document, artist, genre and so on, or three columns document,
        artist and genre without a header.
    teams
        Who sent which system: two columns system and team.

    Examples
    --------
    earmark describe runs.tsv --judgments judgments.tsv --metadata metadata.tsv
    earmark describe a.run b.run c.run --teams teams.tsv --depth 10
    """
    import polars as pl

    from earmark.campaign.problem import metadata_notes
    from earmark.data.collection import Collection
    from earmark.data.collection import describe as count
    from earmark.data.readers import read_metadata
    from earmark.data.teams import read_teams

    known = None if metadata is None else read_metadata(metadata, encoding=inputs.encoding)
    lists = inputs.load()
    collection = Collection.from_runs(lists, depth=depth, metadata=known)
    for note in metadata_notes(collection, lists, metadata):
        out.note(note)
    row = asdict(
        count(
            collection,
            judgments=judged.load(out, inputs.encoding),
            teams=None if teams is None else read_teams(teams, encoding=inputs.encoding),
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
