"""What left the collection, by all events that tell so.

A system, a query, a document and an item leave each by an event of their own, and each stays away until the same comes
back: a query that is restored does not bring back a document that was removed by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import sqlalchemy as sa

from earmark.data.log import AnswerLog
from earmark.data.runs import Runs
from earmark.store.schema import events
from earmark.store.store import Change

KINDS = ("removed", "restored")
"""The kinds of events by which something leaves and comes back."""


@dataclass(frozen=True)
class Removed:
    """What left the collection.

    Parameters
    ----------
    systems, queries, documents : frozenset of str
        What is left out everywhere.
    items : frozenset of (query, document)
        What is left out for one query.
    """

    systems: frozenset[str] = frozenset()
    queries: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    items: frozenset[tuple[str, str]] = frozenset()

    def after(self, kind: str, system: str | None, query: str | None, document: str | None) -> Removed:
        """Return what is gone after one more event of a kind in :data:`KINDS`."""
        about: dict[str, Any] = {}
        if system is not None:
            about = {"systems": system}
        elif query is not None and document is not None:
            about = {"items": (query, document)}
        elif query is not None:
            about = {"queries": query}
        elif document is not None:
            about = {"documents": document}
        changed = {
            name: getattr(self, name) | {what} if kind == "removed" else getattr(self, name) - {what}
            for name, what in about.items()
        }
        return replace(self, **changed)

    def from_runs(self, runs: Runs) -> Runs:
        """Leave it out of ranked lists."""
        return runs.without(systems=self.systems, queries=self.queries, documents=self.documents, items=self.items)

    def has(self, query: str, *documents: str) -> bool:
        """Tell whether a question about documents (an empty id names none) is gone, for whatever reason."""
        return query in self.queries or any(
            one in self.documents or (query, one) in self.items for one in documents if one
        )


NOTHING = Removed()


def removed_by(told: pl.DataFrame | AnswerLog) -> Removed:
    """Return what left the collection by the events of a log, in their order."""
    frame = told.frame if isinstance(told, AnswerLog) else told
    rows = frame.filter(pl.col("kind").is_in(KINDS)).select("kind", "system", "query", "document").rows()
    return _after_all(NOTHING, rows)


def read_removed(connection: sa.Connection, campaign: int) -> Removed:
    """Return what is gone by the log in the store."""
    table = events.c
    told = connection.execute(
        sa.select(table.kind, table.system, table.query, table.document)
        .where(table.campaign == campaign, table.kind.in_(KINDS))
        .order_by(table.sequence)
    )
    return _after_all(NOTHING, (tuple(row) for row in told))


def removed_now(change: Change) -> Removed:
    """Return what is gone by the log and by the events of a transaction that are not written yet."""
    added = [one for one in change.added if one["kind"] in KINDS]
    rows = ((one["kind"], one["system"], one["query"], one["document"]) for one in added)
    return _after_all(read_removed(change.connection, change.campaign), rows)


def _after_all(removed: Removed, rows: Iterable[tuple[Any, ...]]) -> Removed:
    for row in rows:
        removed = removed.after(*row)
    return removed
