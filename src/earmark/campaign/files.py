"""From files to a campaign: the command line and everybody else who has paths goes through here.

What a reader of results has to know about the files (a scale that was guessed, queries that a system did not answer,
judgments of documents that nobody retrieved) is among the campaign's notes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from earmark.campaign.campaign import Campaign
from earmark.campaign.problem import Problem
from earmark.data.collection import Collection
from earmark.data.content import read_content
from earmark.data.judgments import Judgments, require_retrieved
from earmark.data.readers import AnyPath, read_judgments, read_metadata, read_runs
from earmark.data.runs import Order, Runs
from earmark.data.scales import Scale, parse_scale
from earmark.data.teams import read_teams
from earmark.errors import InputError, ParameterError
from earmark.measures.foreign_names import split_names
from earmark.predictors.base import Setting


@dataclass(frozen=True)
class KnownFiles:
    """Files with what is known about documents and systems, and the columns of the metadata to use.

    Parameters
    ----------
    metadata, teams, content, content_ids : path, optional
    artist, genre : str, optional
        The columns that play artist and genre.
    attributes : sequence of str, optional
        Further columns of the metadata.
    encoding : str
        Of all text files.
    """

    metadata: Path | None = None
    teams: Path | None = None
    artist: str | None = None
    genre: str | None = None
    attributes: Sequence[str] | None = None
    encoding: str = "utf-8"
    content: Path | None = None
    content_ids: Path | None = None

    def read(self) -> dict[str, Any]:
        """Read the files, as arguments of :meth:`Problem.build`; every column that was named has to be there."""
        metadata = None if self.metadata is None else read_metadata(self.metadata, encoding=self.encoding)
        named = {"--artist-column": [self.artist], "--genre-column": [self.genre], "--attribute": self.attributes or []}
        for option, columns in named.items():
            for column in columns:
                if column is None:
                    continue
                if metadata is None:
                    raise ParameterError(f"{option} {column} names a column of the metadata: give --metadata too")
                metadata.attribute(column)
        content = None
        if self.content is not None:
            content = read_content(self.content, ids=self.content_ids, encoding=self.encoding)
        elif self.content_ids is not None:
            raise ParameterError("--content-ids names the rows of --content: give that too")
        return {
            "metadata": metadata,
            "teams": None if self.teams is None else read_teams(self.teams, encoding=self.encoding),
            "artist": self.artist or "artist",
            "genre": self.genre or "genre",
            "attributes": tuple(self.attributes or ()),
            "content": content,
        }

    def setting(self, runs: Runs, scale: Scale, *, depth: int | None) -> Setting:
        """Pool runs into a collection that knows its documents."""
        known = self.read()
        collection = Collection.from_runs(runs, depth=depth, metadata=known.pop("metadata"))
        return Setting(collection, scale, **known)


def read_campaign(
    runs: Sequence[Path],
    *,
    judgments: AnyPath | Sequence[AnyPath] | None = None,
    scale: str | None = None,
    known: KnownFiles | None = None,
    order: Order = "score",
    measure: str | Sequence[str] | None = None,
    **how: Any,
) -> Campaign:
    """Read a campaign from files.

    Parameters
    ----------
    runs : sequence of path
    judgments : path or sequence of path, optional
        The answers so far: files, folders of files or patterns; their order changes nothing.
    scale : str, optional
        The judging scale; guessed from the judgments where it is not given.
    known : KnownFiles, optional
    order : {"score", "rank"}
        By which column of a TREC run documents are ordered.
    measure : str, optional
        One measure.
    **how
        Further arguments of :meth:`Problem.build`.

    Raises
    ------
    InputError
        If a file cannot be read, or files are about other documents than the runs.
    ParameterError
        If settings do not fit each other.
    """
    files = known or KnownFiles()
    measures = list(split_names([measure] if isinstance(measure, str) else list(measure or ())))
    if len(measures) > 1:
        raise ParameterError(f"systems are compared by one measure at a time, got {', '.join(map(str, measures))}")
    paths = [judgments] if isinstance(judgments, str | os.PathLike) else list(judgments or ())
    stated = None if scale is None else parse_scale(scale)
    given = read_judgments(paths, scale=stated, encoding=files.encoding) if paths else None
    read, lists = files.read(), read_runs(list(runs), order=order, encoding=files.encoding)
    try:
        problem = Problem.build(
            lists, judgments=given, measure=measures[0] if measures else None, scale=stated, **read, **how
        )
    except InputError as error:
        about = files.content if "content" in error.expected else files.metadata
        if error.path is not None or about is None:
            raise
        raise InputError(expected=error.expected, got=error.got, path=about, hint=error.hint) from None
    campaign = Campaign.from_judgments(problem, given)
    if given is None:
        return campaign
    if not campaign.judged:
        require_retrieved(given, lists, Path(paths[0]) if len(paths) == 1 else None)
    return replace(campaign, notes=tuple(_judgment_notes(given, campaign)))


def _judgment_notes(judgments: Judgments, campaign: Campaign) -> list[str]:
    """Say what a reader has to know about the judgments: their scale, what was judged again, what nobody retrieved."""
    said = judgments.notes()
    judged = judgments.frame.filter(pl.col("gain") >= 0).select("query", "document").n_unique()
    unused, measure = judged - campaign.judged, campaign.problem.measure
    if unused:
        where = "" if measure.cutoff is None else f" among the first {measure.cutoff}"
        documents = f"{unused:,} judged {'document was' if unused == 1 else 'documents were'}"
        said.append(f"{documents} retrieved by no system{where}: {measure} does not depend on them")
    return said
