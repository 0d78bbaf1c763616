"""What left the collection, by all events that tell so.

A query, a document and an item leave each by an event of their own, and each stays away until the same comes back: a
query that is restored does not bring back a document that was removed by itself.
"""

from __future__ import annotations

import sqlalchemy as sa

from earmark.store.schema import events
from earmark.store.store import Change


class Removals:
    """The queries, documents and items that are gone after some events."""

    def __init__(self) -> None:
        self._gone: set[tuple[str | None, str | None]] = set()

    def add(self, kind: str, query: str | None, document: str | None) -> None:
        """Add an event of the kind ``removed`` or ``restored``; both columns name an item."""
        if kind == "removed":
            self._gone.add((query, document))
        else:
            self._gone.discard((query, document))

    def has(self, query: str, document: str, other: str) -> bool:
        """Tell whether a question is gone, for whatever reason."""
        if not self._gone:
            return False
        parts = [part for part in (document, other) if part]
        return any(what in self._gone for part in parts for what in ((None, part), (query, part))) or (
            (query, None) in self._gone
        )


def read_removals(change: Change) -> Removals:
    """Return what is gone now, by the log and by the events of this transaction."""
    table = events.c
    told = change.connection.execute(
        sa.select(table.kind, table.query, table.document)
        .where(table.campaign == change.campaign, table.kind.in_(("removed", "restored")), table.system.is_(None))
        .order_by(table.sequence)
    )
    removals = Removals()
    for kind, query, document in told:
        removals.add(kind, query, document)
    for event in change.added:
        if event["kind"] in ("removed", "restored") and event["system"] is None:
            removals.add(event["kind"], event["query"], event["document"])
    return removals
