"""From options to what estimates rest on: what ``features``, ``fit``, ``rank``, ``next`` and ``simulate`` share.

All of it reads files and says on standard error what a reader of the results has to know about them: what was guessed,
which queries a system did not answer, which judgments count for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from earmark.cli import options
from earmark.cli.loading import load_judgments, load_runs, require_retrieved
from earmark.cli.output import Output
from earmark.data.arrays import Floats

if TYPE_CHECKING:
    from earmark.beliefs.beliefs import Answers
    from earmark.data.collection import Collection
    from earmark.data.content import Content
    from earmark.data.judgments import Aggregation, Judgments
    from earmark.data.metadata import Metadata
    from earmark.data.runs import Runs
    from earmark.data.scales import Scale
    from earmark.measures import Measure
    from earmark.predictors.base import Setting
    from earmark.predictors.choose import PredictorChoice

_USUAL_CUTOFF = 5


@dataclass(frozen=True)
class Files:
    """What was named on the command line besides runs and judgments."""

    metadata: Path | None = None
    teams: Path | None = None
    artist: str | None = None
    genre: str | None = None
    attributes: Sequence[str] | None = None
    encoding: str = "utf-8"
    content: Path | None = None
    content_ids: Path | None = None


@dataclass(frozen=True, eq=False)
class Documents:
    """What is known about documents and systems: metadata, the columns to use, teams, and what documents are like."""

    metadata: Metadata | None
    teams: dict[str, str] | None
    artist: str
    genre: str
    attributes: tuple[str, ...]
    content: Content | None = None

    def setting(self, runs: Runs, scale: Scale, *, depth: int | None) -> Setting:
        """Pool runs into a collection that knows its documents."""
        from earmark.data.collection import Collection
        from earmark.predictors.base import Setting

        collection = Collection.from_runs(runs, depth=depth, metadata=self.metadata)
        return Setting(collection, scale, self.teams, self.artist, self.genre, self.attributes, self.content)


def load_documents(files: Files) -> Documents:
    """Read metadata, content and teams; every column that was named has to be there."""
    from earmark.data.content import read_content
    from earmark.data.readers import read_metadata
    from earmark.data.teams import read_teams
    from earmark.errors import ParameterError

    metadata = None if files.metadata is None else read_metadata(files.metadata, encoding=files.encoding)
    named = {"--artist-column": [files.artist], "--genre-column": [files.genre], "--attribute": files.attributes or []}
    for option, columns in named.items():
        for column in columns:
            if column is None:
                continue
            if metadata is None:
                raise ParameterError(f"{option} {column} names a column of the metadata: give --metadata too")
            metadata.attribute(column)
    if files.content is None and files.content_ids is not None:
        raise ParameterError("--content-ids names the rows of --content: give that too")
    return Documents(
        metadata,
        None if files.teams is None else read_teams(files.teams, encoding=files.encoding),
        files.artist or "artist",
        files.genre or "genre",
        tuple(files.attributes or ()),
        None if files.content is None else read_content(files.content, ids=files.content_ids, encoding=files.encoding),
    )


@dataclass(frozen=True, eq=False)
class Ground:
    """What estimates stand on.

    Attributes
    ----------
    runs : Runs
        The lists, those of dropped queries left out.
    documents : Documents
    measure : Measure
    setting : Setting
        The items within the cutoff of the measure.
    judgments : Judgments or None
    gains : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    answers : Answers or None
        What every assessor said, where judgments name assessors.
    """

    runs: Runs
    documents: Documents
    measure: Measure
    setting: Setting
    judgments: Judgments | None
    gains: Floats
    answers: Answers | None = None


def load_ground(
    out: Output,
    runs: Sequence[Path],
    files: Files,
    *,
    judgments: Path | None,
    scale: str | None,
    measure: Sequence[str] | None,
    choice: PredictorChoice,
    missing: options.Missing = "zero",
    aggregate: Aggregation = "mean",
    order: options.Order = "score",
) -> Ground:
    """Read everything that estimates rest on."""
    from earmark.beliefs.beliefs import assessor_gains, item_gains
    from earmark.data.scales import parse_scale

    known = None if judgments is None else load_judgments(judgments, out, scale=scale, encoding=files.encoding)
    documents = load_documents(files)
    lists = _without_gaps(load_runs(runs, order=order, encoding=files.encoding), missing, out)
    chosen = _one_measure(measure, lists, out)
    if known is not None:
        used = known.scale
    elif scale is not None:
        used = parse_scale(scale)
    else:
        used = choice.usual_scale()
        out.note(f"no judgments tell the scale: taking {used}; name it with --scale")
    setting = documents.setting(lists, used, depth=chosen.cutoff)
    say_metadata(setting.collection, lists, files.metadata, out)
    _say_content(setting, choice, files, out)
    gains, answers = setting.unjudged, None
    if known is not None:
        gains = item_gains(setting.collection, known, aggregation=aggregate)
        if not (gains >= 0).any():
            require_retrieved(known, lists, judgments)
        answers = assessor_gains(setting.collection, known)
        _say_unused(known, gains, chosen, out)
    _say_depths(lists, chosen, out)
    return Ground(lists, documents, chosen, setting, known, gains, answers)


def say_metadata(collection: Collection, runs: Runs, path: Path | None, out: Output) -> None:
    """Say of how many documents there are metadata; refuse those that are of none."""
    import polars as pl

    from earmark.errors import InputError
    from earmark.wording import counted

    if collection.metadata is None or not collection.documents:
        return
    described = collection.metadata.frame["document"]
    documents = pl.Series(collection.documents, dtype=pl.String)
    known = int(documents.is_in(described.implode()).sum())
    if not known and not runs.documents.is_in(described.implode()).any():
        raise InputError(
            expected="metadata of some of the documents that were retrieved",
            got=f"metadata of none of them; in the runs, documents are named like '{documents[0]}'",
            path=path,
            hint=f"in the metadata, documents are named like '{described[0]}'",
        )
    if known < documents.len():
        out.note(f"{known:,} of {counted(documents.len(), 'document')} have metadata")


def _say_content(setting: Setting, choice: PredictorChoice, files: Files, out: Output) -> None:
    """Say how much of the collection has content, and what becomes of it."""
    from earmark.errors import InputError
    from earmark.predictors.content import count_known
    from earmark.wording import counted

    if setting.content is None:
        return
    try:
        documents, queries = count_known(setting.collection, setting.content)
    except InputError as error:
        raise InputError(expected=error.expected, got=error.got, path=files.content, hint=error.hint) from None
    if not choice.uses_content:
        out.note("--content is used by the predictor hierarchical only")
        return
    of_documents = counted(len(setting.collection.documents), "document")
    of_queries = counted(len(setting.collection.queries), "query", "queries")
    out.note(f"{documents:,} of {of_documents} and {queries:,} of {of_queries} have content")
    if not queries:
        out.note(
            "no query is among the documents of --content, so nothing tells how near documents are to their query: "
            "only how alike they are counts"
        )


def _one_measure(given: Sequence[str] | None, runs: Runs, out: Output) -> Measure:
    from earmark.errors import ParameterError
    from earmark.measures import parse

    if given and len(given) > 1:
        raise ParameterError(f"systems are compared by one measure at a time, got {', '.join(given)}")
    if given:
        return parse(given[0])
    longest = int(runs.lengths.max(initial=1))
    chosen = f"AG@{max(1, min(_USUAL_CUTOFF, longest))}"
    why = f", as lists hold no more than {longest}" if longest < _USUAL_CUTOFF else ""
    out.note(f"no --measure given: taking {chosen}{why}")
    return parse(chosen)


def _without_gaps(runs: Runs, missing: options.Missing, out: Output) -> Runs:
    """Name the queries that systems did not answer and drop them if asked to."""
    import numpy as np

    from earmark.errors import ParameterError
    from earmark.evaluation import name_some

    absent = np.ones((len(runs.systems), len(runs.queries)), dtype=bool)
    absent[runs.list_system, runs.list_query] = False
    fate = "count as empty lists" if missing == "zero" else "are left out for all systems"
    for system, gone in zip(runs.systems, absent, strict=True):
        if gone.any():
            names = [runs.queries[query] for query in np.flatnonzero(gone)]
            out.note(f"system '{system}' did not answer {name_some(names, 'query', 'queries')}: they {fate}")
    if missing == "zero" or not absent.any():
        return runs
    answered = [runs.queries[query] for query in np.flatnonzero(~absent.any(axis=0))]
    if not answered:
        raise ParameterError("no query was answered by all systems: nothing is left with --missing drop")
    return runs.select(queries=answered)


def _say_unused(judgments: Judgments, gains: Floats, measure: Measure, out: Output) -> None:
    import polars as pl

    judged = judgments.frame.filter(pl.col("gain") >= 0).select("query", "document").n_unique()
    unused = judged - int((gains >= 0).sum())
    if unused:
        where = "" if measure.cutoff is None else f" among the first {measure.cutoff}"
        documents = f"{unused:,} judged {'document was' if unused == 1 else 'documents were'}"
        out.note(f"{documents} retrieved by no system{where}: {measure} does not depend on them")


def _say_depths(runs: Runs, measure: Measure, out: Output) -> None:
    import numpy as np

    lengths = runs.lengths if measure.cutoff is None else np.minimum(runs.lengths, measure.cutoff)
    if lengths.size and lengths.min() < lengths.max():
        out.note(
            f"lists hold {lengths.min():,} to {lengths.max():,} documents: what is missing at an end is worth nothing"
        )
