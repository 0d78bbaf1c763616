"""The store of one campaign: its row, its log, and transactions that add events.

:meth:`Store.write` runs a function with a :class:`Change`: the locked row of the campaign and the events to add.
Because the lock is taken first, sequence numbers have no gaps and whoever reads the log up to a number has all of it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeVar

import polars as pl
import sqlalchemy as sa

from earmark.data.log import SCHEMA, AnswerLog, Kind
from earmark.errors import ParameterError, StoreError
from earmark.store import schema
from earmark.store.database import Database
from earmark.store.versions import VERSION_OF_TABLES, check_tables

T = TypeVar("T")

COLUMNS = tuple(SCHEMA)
_MOMENTS = ("time", "expires")
# Rows go to the database in portions, as the number of parameters of one statement is limited.
_PORTION = 1000
_SURROGATES = re.compile("[\ud800-\udfff]")

# Statements of every call are built once: building them takes SQLAlchemy longer than SQLite takes to run them.
_COUNTERS = ("next_sequence", "next_place", "last_time")
_ROW = sa.select(schema.campaigns).where(schema.campaigns.c.id == sa.bindparam("of_campaign"))
_TABLES = "version_of_tables"
_LOCKED_ROW = _ROW.add_columns(VERSION_OF_TABLES.scalar_subquery().label(_TABLES)).with_for_update(of=schema.campaigns)
_COUNT_ON = (
    sa.update(schema.campaigns)
    .where(schema.campaigns.c.id == sa.bindparam("of_campaign"))
    .values({name: sa.bindparam(name) for name in _COUNTERS})
)
_ADD_EVENTS = sa.insert(schema.events)
_BY_KEY = sa.select(schema.events).where(
    schema.events.c.campaign == sa.bindparam("of_campaign"), schema.events.c.key == sa.bindparam("of_key")
)


def utc_now() -> int:
    """Return the time in microseconds since 1970, UTC."""
    return int(datetime.now(UTC).timestamp() * 1_000_000)


def to_moment(time: datetime) -> int:
    """Return a time as a number; a time without a zone is taken as UTC."""
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1_000_000)


def from_moment(moment: int) -> datetime:
    """Return a number of microseconds as a time in UTC."""
    return datetime.fromtimestamp(moment / 1_000_000, UTC)


def check_text(*values: Any) -> None:
    """Refuse text that not every database can keep.

    Raises
    ------
    ParameterError
        If there is a NUL character, or half of a surrogate pair.
    """
    for value in values:
        if isinstance(value, str) and ("\0" in value or (not value.isascii() and _SURROGATES.search(value))):
            raise ParameterError(f"expected text without NUL characters and halves of characters, got {value!a:.80}")


@dataclass
class Change:
    """A transaction that adds to a campaign: its row as it was when it was locked, and the events so far.

    Attributes
    ----------
    connection : sqlalchemy.Connection
    row : dict
        The campaign's row; :meth:`update` changes it.
    now : int
        The time of all events of this transaction.
    """

    connection: sa.Connection
    row: dict[str, Any]
    now: int
    added: list[dict[str, Any]] = field(default_factory=list)
    _changed: set[str] = field(default_factory=set)

    @property
    def campaign(self) -> int:
        """The number of the campaign in its database."""
        return int(self.row["id"])

    def update(self, **values: Any) -> None:
        """Change columns of the campaign's row."""
        self.row |= values
        self._changed |= set(values)

    def next_place(self) -> int:
        """Return a place behind all places given so far."""
        place = int(self.row["next_place"])
        self.update(next_place=place + 1)
        return place

    def append(self, kind: Kind, **event: Any) -> int:
        """Add an event, and return its sequence number."""
        check_text(*event.values())
        sequence = int(self.row["next_sequence"])
        self.update(next_sequence=sequence + 1)
        row = dict.fromkeys(COLUMNS)
        row |= {"time": self.now, "sampled": False} | event
        if row["gain"] is not None:
            # SQLite does not keep the sign of a zero.
            row["gain"] += 0.0
        row |= {"campaign": self.campaign, "sequence": sequence, "kind": kind}
        self.added.append(row)
        return sequence

    def known_keys(self, keys: Iterable[str]) -> set[str]:
        """Return those of some keys that an event has, one that this transaction adds included."""
        wanted = list(dict.fromkeys(keys))
        known = {event["key"] for event in self.added if event["key"] is not None}.intersection(wanted)
        events = schema.events.c
        for start in range(0, len(wanted), _PORTION):
            some = wanted[start : start + _PORTION]
            query = sa.select(events.key).where(events.campaign == self.campaign, events.key.in_(some))
            known |= set(self.connection.execute(query).scalars())
        return known

    def keyed(self, key: str) -> dict[str, Any] | None:
        """Return the event that has a key, one that this transaction adds included; None where there is none."""
        for event in self.added:
            if event["key"] == key:
                return event
        found = self.connection.execute(_BY_KEY, {"of_campaign": self.campaign, "of_key": key}).mappings().first()
        return None if found is None else dict(found)

    def finish(self) -> None:
        """Write the events and the row of the campaign."""
        if self.added:
            self.update(last_time=max(event["time"] for event in self.added))
            for start in range(0, len(self.added), _PORTION):
                self.connection.execute(_ADD_EVENTS, self.added[start : start + _PORTION])
        if self._changed and self._changed <= set(_COUNTERS):
            counters = {name: self.row[name] for name in _COUNTERS}
            self.connection.execute(_COUNT_ON, {"of_campaign": self.campaign, **counters})
        elif self._changed:
            values = {name: self.row[name] for name in self._changed}
            table = schema.campaigns
            self.connection.execute(sa.update(table).where(table.c.id == self.campaign).values(values))


@dataclass(frozen=True, eq=False)
class Store:
    """One campaign in a database.

    Parameters
    ----------
    database : Database
    campaign : int
        Its number there.
    clock : callable
        Tells the time in microseconds since 1970, UTC.
    """

    database: Database
    campaign: int
    clock: Callable[[], int] = utc_now

    @classmethod
    def create(
        cls, database: Database, *, uid: str, name: str, settings: str, clock: Callable[[], int] = utc_now
    ) -> Store:
        """Make a campaign in a database; its tables have to be there."""
        now = clock()

        def insert(connection: sa.Connection) -> int:
            table = schema.campaigns
            found = connection.execute(sa.select(table).where(table.c.uid == uid)).first()
            if found is not None:
                if (found.created, found.settings) == (now, settings):
                    # An earlier attempt whose end was not heard of.
                    return int(found.id)
                raise StoreError(f"{database.shown}: there is a campaign of this id already ({uid})")
            made = connection.execute(
                sa.insert(table).values(
                    uid=uid,
                    name=name,
                    created=now,
                    state="open",
                    since=now,
                    secret=secrets.token_hex(32),
                    settings=settings,
                    next_sequence=1,
                    next_place=1,
                    last_time=now,
                )
            ).inserted_primary_key
            assert made is not None
            return int(made[0])

        return cls(database, database.write(insert), clock)

    @classmethod
    def find(cls, database: Database, uid: str, *, clock: Callable[[], int] = utc_now) -> Store:
        """Return a campaign by the id in its settings.

        Raises
        ------
        StoreError
            If it is not in the database.
        """
        table = schema.campaigns
        found = database.read(
            lambda connection: connection.execute(sa.select(table.c.id).where(table.c.uid == uid)).scalar()
        )
        if found is None:
            raise StoreError(f"{database.shown}: the campaign {uid} is not in this store")
        return cls(database, int(found), clock)

    def forget(self) -> None:
        """Take a campaign without events out of its database, as if it had never been made."""

        def delete(connection: sa.Connection) -> None:
            for table in schema.DERIVED:
                connection.execute(sa.delete(table).where(table.c.campaign == self.campaign))
            connection.execute(sa.delete(schema.campaigns).where(schema.campaigns.c.id == self.campaign))

        self.database.write(delete)

    # ---- transactions ------------------------------------------------------------------------------------------------

    def write(self, function: Callable[[Change], T]) -> T:
        """Run a function in a transaction that holds the lock of the campaign.

        Raises
        ------
        StoreError
            If the campaign has moved, or the tables are not those that this program knows.
        """

        def transaction(connection: sa.Connection) -> T:
            row = self._row(connection, lock=True)
            check_tables(row.pop(_TABLES), self.database.shown)
            change = Change(connection, row, self.clock())
            if change.row["state"] == "moved":
                raise StoreError(f"{self.database.shown}: the campaign has moved to {change.row['reason']}")
            result = function(change)
            change.finish()
            return result

        return self.database.write(transaction)

    def read(self, function: Callable[[sa.Connection], T]) -> T:
        """Run a function that reads."""
        return self.database.read(function)

    def _row(self, connection: sa.Connection, *, lock: bool = False) -> dict[str, Any]:
        found = connection.execute(_LOCKED_ROW if lock else _ROW, {"of_campaign": self.campaign}).mappings().one()
        return dict(found)

    @property
    def row(self) -> dict[str, Any]:
        """The row of the campaign: state, settings as last recorded, and so on."""
        return self.read(self._row)

    @cached_property
    def secret(self) -> str:
        """The key of all hashes that nobody may predict."""
        return str(self.row["secret"])

    # ---- the log -----------------------------------------------------------------------------------------------------

    @property
    def last_sequence(self) -> int:
        """The number of the last event, 0 before the first."""
        return int(self.row["next_sequence"]) - 1

    def events(self, after: int = 0, *, without: Sequence[Kind] = ()) -> pl.DataFrame:
        """Return the events after a sequence number, in order, with the columns of a log.

        Parameters
        ----------
        after : int
        without : sequence of str
            Kinds of events to leave out.
        """
        return self.read(lambda connection: read_events(connection, self.campaign, after=after, without=without))

    def log(self, *, without: Sequence[Kind] = ()) -> AnswerLog:
        """Return the whole log, or all of it but some kinds of events."""
        return AnswerLog().with_table(self.events(without=without))


def read_events(
    connection: sa.Connection, campaign: int, *, after: int = 0, without: Sequence[Kind] = ()
) -> pl.DataFrame:
    """Return events of a campaign as :meth:`Store.events` does, within a transaction."""
    table = schema.events.c
    query = sa.select(*(table[name] for name in COLUMNS)).where(table.campaign == campaign, table.sequence > after)
    if without:
        query = query.where(table.kind.not_in(without))
    rows = connection.execute(query.order_by(table.sequence)).fetchall()
    types = {name: pl.Int64 if name in _MOMENTS else SCHEMA[name] for name in COLUMNS}
    columns = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    frame = pl.DataFrame(
        [pl.Series(name, values, dtype=types[name]) for name, values in zip(COLUMNS, columns, strict=True)]
    )
    return frame.with_columns(pl.col(name).cast(SCHEMA[name]) for name in _MOMENTS)
