"""The rows of a campaign in all tables of a store: read, inserted under a new number, counted and hashed.

Tables are taken as they are in the database, whatever their version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from earmark.data.log import AnswerLog
from earmark.errors import StoreError
from earmark.store.schema import VERSION_TABLE
from earmark.store.store import read_events

CAMPAIGNS = "earmark_campaigns"
_PORTION = 1000
_PREFIX = "earmark_"


@dataclass(frozen=True)
class Copied:
    """What a copy holds.

    Attributes
    ----------
    events : int
        How many events the log has.
    digest : str
        A hash of the log.
    rows : dict of str to int
        The number of rows of each table.
    """

    events: int
    digest: str
    rows: Mapping[str, int]


def tables_of(connection: sa.Connection) -> list[sa.Table]:
    """Return the tables of a store as they are there, whatever their version, in the order of their dependencies."""
    found = sa.MetaData()
    found.reflect(connection, only=lambda name, _: name.startswith(_PREFIX) and name != VERSION_TABLE)
    return list(found.sorted_tables)


def rows_of(connection: sa.Connection, table: sa.Table, campaign: int | None) -> Iterator[dict[str, Any]]:
    """Return the rows of a campaign in a table, in the order of their keys; None for those of all campaigns."""
    query = sa.select(table)
    if campaign is not None:
        query = query.where((table.c.id if table.name == CAMPAIGNS else table.c.campaign) == campaign)
    for row in connection.execute(query.order_by(*table.primary_key.columns)).mappings():
        yield dict(row)


def insert_rows(
    connection: sa.Connection,
    tables: list[sa.Table],
    read: Callable[[str], Iterable[dict[str, Any]]],
    uid_taken: str,
) -> dict[int, int]:
    """Insert the rows of all tables; campaigns get new numbers, which are returned by their old ones."""
    numbers: dict[int, int] = {}
    for table in tables:
        rows = read(table.name)
        if table.name == CAMPAIGNS:
            for row in rows:
                old = row.pop("id")
                if connection.execute(sa.select(table.c.id).where(table.c.uid == row["uid"])).first() is not None:
                    raise StoreError(uid_taken)
                made = connection.execute(sa.insert(table).values(row)).inserted_primary_key
                assert made is not None
                numbers[old] = int(made[0])
            continue
        portion: list[dict[str, Any]] = []
        for row in rows:
            portion.append({**row, "campaign": numbers[row["campaign"]]})
            if len(portion) == _PORTION:
                connection.execute(sa.insert(table), portion)
                portion = []
        if portion:
            connection.execute(sa.insert(table), portion)
    return numbers


def count_copied(connection: sa.Connection, campaign: int) -> Copied:
    """Count and hash what a database holds of a campaign."""
    log = AnswerLog().with_table(read_events(connection, campaign))
    rows = {}
    for table in tables_of(connection):
        column = table.c.id if table.name == CAMPAIGNS else table.c.campaign
        count = connection.execute(sa.select(sa.func.count()).select_from(table).where(column == campaign)).scalar()
        rows[table.name] = int(count or 0)
    return Copied(len(log), log.digest, rows)
