"""Bringing answers in from files: work packages that were filled in, and judgments made elsewhere.

Importing a file again changes nothing: its rows are known. In another file, another answer of the same person about the
same question corrects the earlier one. Rows about items that no system retrieved are refused and
named. A gain off the scale is an error with its line, and nothing of any file is imported.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa

from earmark.data.judgments import UNNAMED, Judgments
from earmark.data.preference_files import read_preferences
from earmark.data.readers import read_judgments
from earmark.errors import InputError, ParameterError
from earmark.store.answers import Receipt
from earmark.store.folder import CampaignFolder
from earmark.store.leases import give_back
from earmark.store.people import pseudonym
from earmark.store.recording import Recorded, record
from earmark.store.schema import assignments, people
from earmark.store.store import Change
from earmark.wording import counted

_FLIPPED = {"a": "b", "b": "a", "same": "same", "neither": "neither"}
_NAMED = 3


@dataclass(frozen=True)
class Imported:
    """What became of the answers of a file.

    Attributes
    ----------
    new, known, corrected, refused : int
    notes : tuple of str
        What was refused, and why.
    """

    new: int = 0
    known: int = 0
    corrected: int = 0
    refused: int = 0
    notes: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return the numbers, as ``earmark import`` prints them."""
        return {"new": self.new, "known": self.known, "corrected": self.corrected, "refused": self.refused}

    def __add__(self, more: Imported) -> Imported:
        return Imported(
            self.new + more.new,
            self.known + more.known,
            self.corrected + more.corrected,
            self.refused + more.refused,
            (*self.notes, *more.notes),
        )


def import_files(folder: CampaignFolder, paths: Sequence[Path], *, assessor: str | None = None) -> Imported:
    """Import answers from files; all are read and checked before anything is written.

    Parameters
    ----------
    folder : CampaignFolder
    paths : sequence of path
    assessor : str, optional
        The name of who answered, where the files do not say.

    Raises
    ------
    InputError
        If a file cannot be read, or none of its rows is about the campaign.
    """
    encoding = folder.settings.inputs.encoding
    tables, notes = [], []
    for path in paths:
        if folder.settings.kind == "grade":
            read = read_judgments(path, scale=folder.rules.scale, encoding=encoding)
            notes += [f"{path.name}: {note}" for note in read.notes()]
            tables.append((path, _graded(read.frame)))
        elif folder.settings.kind == "order":
            raise ParameterError("rankings are not read from files yet: they are given in the browser")
        else:
            answers = read_preferences(path, encoding=encoding)
            tables.append((path, _chosen(answers.without_traps().frame)))

    def act(change: Change) -> Imported:
        total = Imported(notes=tuple(notes))
        for path, frame in tables:
            total += _import(change, folder, frame, source=path.name, assessor=assessor, path=path)
        return total

    return folder.store.write(act)


def import_judgments(folder: CampaignFolder, judgments: Judgments, *, source: str | None = None) -> Imported:
    """Import a table of judgments on the campaign's scale."""
    return import_table(folder, _graded(judgments.frame), source=source or "judgments")


def import_table(
    folder: CampaignFolder, frame: pl.DataFrame, *, source: str, assessor: str | None = None, path: Path | None = None
) -> Imported:
    """Import answers of one table, in one transaction.

    Parameters
    ----------
    folder : CampaignFolder
    frame : polars.DataFrame
        ``query``, ``document``, ``other``, ``gain``, ``choice``, ``strength``, ``assessor``, ``sampled``, ``key``.
    source : str
        What the log calls the file.
    assessor : str, optional
        The name of who answered, where a row does not say.
    path : path, optional
        For messages.
    """
    return folder.store.write(
        lambda change: _import(change, folder, frame, source=source, assessor=assessor, path=path)
    )


def _import(
    change: Change, folder: CampaignFolder, frame: pl.DataFrame, *, source: str, assessor: str | None, path: Path | None
) -> Imported:
    rows = frame.to_dicts()
    if change.row["state"] == "closed":
        raise ParameterError(f"the campaign is closed: 'earmark reopen {folder.path}' lets answers in again")
    asked = set(_asked(change.connection, change.campaign))
    holders = _holders(change, [row["key"] for row in rows if row["key"]])
    for row in rows:
        row |= dict(zip(("query", "document", "other"), _plain_ids(row, asked), strict=True))
    keys = _event_keys(change, frame, rows, assessor)
    known = change.known_keys(keys)
    # Nobody joins, or joins again after an erasure, by a file that was imported before.
    new = [place for place, key in enumerate(keys) if key not in known]
    names: dict[str, str] = {}
    recorded = [_recorded(change, rows[place], keys[place], source, holders, assessor, names) for place in new]
    receipts: list[Receipt | None] = [Receipt("known", None)] * len(rows)
    for place, receipt in zip(new, record(change, folder.rules, recorded), strict=True):
        receipts[place] = receipt
    _end_package_leases(change, folder, [rows[place] for place in new], recorded, holders)
    status = [None if receipt is None else receipt.status for receipt in receipts]
    refused = [row for row, one in zip(rows, status, strict=True) if one is None]
    if rows and len(refused) == len(rows):
        first = rows[0]
        raise InputError(
            expected="answers about items of this campaign",
            got=f"none; the first is about '{first['document']}' for the query '{first['query']}'",
            path=path or source,
            hint="is it the file of another campaign?",
        )
    result = Imported(
        status.count("saved"),
        status.count("known"),
        status.count("corrected"),
        len(refused),
        (*_refusals(refused), *_nameless(rows, recorded, holders)),
    )
    if result.new or result.corrected:
        change.append("imported", source=source, text=json.dumps(result.counts()))
    return result


def _event_keys(change: Change, frame: pl.DataFrame, rows: Sequence[dict[str, Any]], assessor: str | None) -> list[str]:
    """Return a key for every row that is the same when the same file comes again, and another in another file.

    So a file that was imported before changes nothing, and in another file the last word counts. The name of who
    answered is part of it, and not the pseudonym, which would be a new one after an erasure.
    """
    table = hashlib.sha256(frame.write_csv().encode("utf-8", "surrogatepass")).hexdigest()
    secret = change.row["secret"].encode()
    keys = []
    for row in rows:
        told = [row[name] for name in ("key", "query", "document", "other", "gain", "choice", "strength")]
        about = json.dumps([table, row["assessor"] or assessor or "", *told]).encode()
        keys.append(f"import:{hmac.new(secret, about, hashlib.sha256).hexdigest()[:40]}")
    return keys


def _recorded(
    change: Change,
    row: dict[str, Any],
    key: str,
    source: str,
    holders: dict[str, str],
    assessor: str | None,
    names: dict[str, str],
) -> Recorded:
    name = row["assessor"] or assessor
    if name is not None and name not in names:
        names[name] = _known_pseudonym(change, name) or pseudonym(change, name=name)
    who = names[name] if name is not None else holders.get(row["key"] or "", UNNAMED)
    said = (row["gain"], row["choice"], row["strength"])
    return Recorded(who, row["query"], row["document"], row["other"], key, *said, bool(row["sampled"]), source)


def _nameless(rows: Sequence[dict[str, Any]], recorded: Sequence[Recorded], holders: dict[str, str]) -> tuple[str, ...]:
    """Say whose answers could not be told, and which rows belong to a package that this campaign did not make."""
    said = []
    strange = sum(bool(row["key"]) and row["key"] not in holders for row in rows)
    if strange:
        said.append(f"{counted(strange, 'row')} with a key that this campaign did not give: is the file damaged?")
    unnamed = sum(one.assessor == UNNAMED for one in recorded)
    if unnamed:
        said.append(f"{counted(unnamed, 'answer')} without a name: say who answered with --assessor")
    return tuple(said)


def _known_pseudonym(change: Change, name: str) -> str | None:
    """Return a name that is a pseudonym already, as in a file that was exported."""
    table = people.c
    mine = sa.select(table.assessor).where(table.campaign == change.campaign, table.assessor == name)
    found = change.connection.execute(mine).scalar()
    return UNNAMED if name == UNNAMED else found


def _holders(change: Change, keys: Sequence[str]) -> dict[str, str]:
    """Return who holds the questions of a package, by the keys of its rows."""
    table = assignments.c
    found: dict[str, str] = {}
    for start in range(0, len(keys), 500):
        some = sa.select(table.id, table.assessor).where(
            table.campaign == change.campaign, table.id.in_(keys[start : start + 500])
        )
        found |= {row.id: row.assessor for row in change.connection.execute(some)}
    return found


def _end_package_leases(
    change: Change,
    folder: CampaignFolder,
    rows: Sequence[dict[str, Any]],
    recorded: Sequence[Recorded],
    holders: dict[str, str],
) -> None:
    """Give back what was reserved for a package and answered by somebody who has a name."""
    ended: dict[str, list[str]] = {}
    for row, one in zip(rows, recorded, strict=True):
        holder = holders.get(row["key"] or "")
        if holder is not None and one.assessor != holder:
            ended.setdefault(holder, []).append(row["key"])
    for holder, keys in ended.items():
        give_back(change, folder.rules, holder, keys)


def _refusals(refused: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    if not refused:
        return ()
    named = ", ".join(f"'{row['document']}' for '{row['query']}'" for row in refused[:_NAMED])
    more = f" and {len(refused) - _NAMED:,} more" if len(refused) > _NAMED else ""
    return (f"{counted(len(refused), 'answer')} refused, as no system retrieved the item: {named}{more}",)


def _plain_ids(row: dict[str, Any], asked: set[tuple[str, str, str]]) -> tuple[str, str, str]:
    """Return the ids of a row; the quotation mark that keeps a spreadsheet from computing a cell is taken off."""
    ids = (row["query"], row["document"], row["other"])
    if ids in asked:
        return ids
    bare = tuple(one[1:] if one[:1] == "'" and one[1:2] in tuple("=+-@\t\r") else one for one in ids)
    query, document, other = bare
    return (query, document, other) if (query, document, other) in asked else ids


def _asked(connection: sa.Connection, campaign: int) -> list[tuple[str, str, str]]:
    from earmark.store.questions import known_questions

    return known_questions(connection, campaign).select("query", "document", "other").rows()


def _graded(frame: pl.DataFrame) -> pl.DataFrame:
    """Return judgments with all columns of an answer, in the order in which they were given."""
    order = [name for name in ("sequence", "time") if name in frame.columns]
    given = frame.filter(pl.col("gain") >= 0)
    given = given.sort(order, nulls_last=False, maintain_order=True) if order else given
    return _complete(given.with_columns(pl.lit("").alias("other")))


def _chosen(frame: pl.DataFrame) -> pl.DataFrame:
    """Return preferences with all columns of an answer, the documents in the order of their ids."""
    turned = pl.col("a") > pl.col("b")
    return _complete(
        frame.with_columns(
            pl.when(turned).then("b").otherwise("a").alias("document"),
            pl.when(turned).then("a").otherwise("b").alias("other"),
            pl.when(turned).then(pl.col("choice").replace(_FLIPPED)).otherwise("choice").alias("choice"),
            *([pl.col("question").alias("key")] if "question" in frame.columns else []),
        )
    )


def _complete(frame: pl.DataFrame) -> pl.DataFrame:
    types: dict[str, Any] = {"gain": pl.Float64, "choice": pl.String, "strength": pl.Float64}
    types |= {"assessor": pl.String, "sampled": pl.Boolean, "key": pl.String}
    missing = [pl.lit(None, dtype=dtype).alias(name) for name, dtype in types.items() if name not in frame.columns]
    whole = frame.with_columns(missing).select("query", "document", "other", *types)
    # A cell that was left empty names nobody.
    names = [
        pl.when(pl.col(name).str.strip_chars() != "").then(pl.col(name).str.strip_chars())
        for name in ("assessor", "key")
    ]
    return whole.with_columns(names)
