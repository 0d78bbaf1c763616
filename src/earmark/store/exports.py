"""Taking results out of a store: judgments, answers, rankings or the whole log, with pseudonyms, names or nobody.

In a CSV file, text that a spreadsheet would compute is marked, and the readers take the mark off again
(:mod:`earmark.data.spreadsheets`). JSONL and Parquet hold ids as they are.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Literal

import polars as pl

from earmark.data.files import replacing
from earmark.data.judgments import Judgments, aggregate
from earmark.data.log import AnswerLog
from earmark.data.runs import Runs
from earmark.data.spreadsheets import escape_formulas
from earmark.data.writers import write_judgments, write_runs
from earmark.errors import InputError, ParameterError
from earmark.store.folder import CampaignFolder
from earmark.store.people import known_people
from earmark.store.removals import removed_by
from earmark.store.stored import StoredOrderCampaign

What = Literal["judgments", "answers", "rankings", "log"]
Naming = Literal["pseudonyms", "names", "none"]

# What could tell who somebody is, where nobody is to be recognised.
_TELLING = ("assessor", "time", "expires", "key", "source", "text")
_JUDGMENT = ("query", "document", "gain", "assessor", "time", "sampled", "sequence")
_ANSWER = (
    "sequence",
    "time",
    "assessor",
    "query",
    "document",
    "other",
    "gain",
    "choice",
    "strength",
    "sampled",
    "expected",
    "counts",
    "source",
    "text",
)


def export(folder: CampaignFolder, path: Path, *, what: What = "judgments", people: Naming = "pseudonyms") -> int:
    """Write results to a file, whose ending names the format; returns the number of rows.

    Parameters
    ----------
    folder : CampaignFolder
    path : path
        ``.csv``, ``.parquet`` or ``.jsonl``; for judgments any other ending is TREC qrels, one gain per item.
    what : {"judgments", "answers", "rankings", "log"}
        The current judgments; all answers, with whether they count; what experts put into order, as runs (see
        :func:`export_rankings`); or every event.
    people : {"pseudonyms", "names", "none"}
        How assessors are called; with none, also times, comments and sources are left out.
    """
    if what == "rankings":
        runs = export_rankings(folder, people=people)
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            raise ParameterError(f"{path}: rankings are runs; write .tsv, .csv, .parquet or a TREC run")
        write_runs(runs, path)
        return len(runs.documents)
    ending = path.suffix.lower()
    # Qrels name nobody, and need to know whose answers are the same person's.
    plain = ending not in (".csv", ".parquet", ".jsonl", ".ndjson")
    frame = table_of(folder, what, people="pseudonyms" if plain else people)
    if plain:
        if what != "judgments" or folder.settings.kind != "grade":
            raise ParameterError(f"{path}: TREC qrels hold grades only; write .csv, .parquet or .jsonl")
        gains = aggregate(frame, by=folder.settings.estimates.aggregation)
        write_judgments(Judgments(gains, folder.rules.scale), path, format="trec")
        return gains.height
    if ending == ".csv":
        data = escape_formulas(frame).write_csv().encode("utf-8", "surrogatepass")
    elif ending == ".parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        data = buffer.getvalue()
    else:
        data = frame.write_ndjson().encode("utf-8", "surrogatepass")
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    except OSError as error:
        raise InputError(expected="a file that can be written", got=str(error.strerror), path=path) from None
    return frame.height


def export_rankings(folder: CampaignFolder, *, people: Naming = "pseudonyms") -> Runs:
    """Return the rankings of experts as runs, each expert a system, without documents after the cut.

    Queries with fewer than two rankings are left out: ``earmark crowd groups --rankings`` makes groups of these runs,
    and one ranking leaves nothing to test.

    Raises
    ------
    ParameterError
        If the campaign asks something else, or no query has two rankings.
    """
    if folder.settings.kind != "order":
        raise ParameterError(
            f"{folder.path}: rankings are what campaigns of kind order collect, not {folder.settings.kind}"
        )
    runs = StoredOrderCampaign.read(folder).rankings_as_runs
    if runs is None:
        raise ParameterError(f"{folder.path}: no query has two rankings yet; --what answers has the answers so far")
    if people == "none":
        return runs.renamed([f"expert-{place}" for place in range(1, len(runs.systems) + 1)])
    if people == "names":
        names = {one["assessor"]: one["name"] for one in known_people(folder.store) if one["name"]}
        return runs.renamed([names.get(assessor, assessor) for assessor in runs.systems])
    return runs


def table_of(folder: CampaignFolder, what: What, *, people: Naming = "pseudonyms") -> pl.DataFrame:
    """Return judgments, answers or events as a table."""
    log = folder.store.log()
    if what == "log":
        frame = log.frame
    elif what == "answers":
        given = log.of_kind("answered", "late").with_columns(counts=pl.lit(False))
        counting = log.answers.select("query", "document", "other", "assessor", "time", "gain", "choice")
        on = counting.columns
        keys = counting.unique().with_columns(counts=pl.lit(True))
        frame = given.drop("counts").join(keys, on=on, how="left", nulls_equal=True, maintain_order="left")
        counts = pl.col("counts").fill_null(False) & pl.col("expected").is_null() & ~_left(log)
        frame = frame.with_columns(counts).select(_ANSWER)
    else:
        wanted = pl.col("gain").is_not_null() if folder.settings.kind == "grade" else pl.col("choice").is_not_null()
        columns = _JUDGMENT if folder.settings.kind == "grade" else _ANSWER[:9]
        # What counts has the place in the log as its sequence, counted from 0.
        current = log.answers.with_columns(pl.col("sequence") + 1)
        frame = current.filter(wanted, ~_left(log)).select(columns)
    return _with_people(folder, frame, people)


def _left(log: AnswerLog) -> pl.Expr:
    """Return the condition that an item left the collection."""
    gone = removed_by(log)
    documents = list(gone.documents)
    item = pl.concat_str("query", pl.lit("\0"), "document")
    items = ["\0".join(one) for one in gone.items]
    about = pl.col("document").is_in(documents) | pl.col("other").is_in(documents).fill_null(False)
    return about | pl.col("query").is_in(list(gone.queries)) | item.is_in(items)


def _with_people(folder: CampaignFolder, frame: pl.DataFrame, people: Naming) -> pl.DataFrame:
    if people == "none":
        return frame.drop(*(name for name in _TELLING if name in frame.columns))
    if people == "pseudonyms":
        return frame
    names = {one["assessor"]: one["name"] for one in known_people(folder.store) if one["name"]}
    return frame.with_columns(pl.col("assessor").replace(names))
