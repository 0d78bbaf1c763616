"""Which version the tables of a store have, and whether this program may use them.

While a server runs, a newer earmark may change the tables under it. A program that does not know the tables must not
write to them: every transaction that writes reads the version with the row that it locks, and is refused where the two
differ. A migration locks the campaigns first, so it waits for whoever writes, and whoever comes later sees the new
version.
"""

from __future__ import annotations

import sqlalchemy as sa

from earmark.errors import StoreError
from earmark.store.schema import VERSION, VERSION_TABLE

_table = sa.table(VERSION_TABLE, sa.column("version_num"))
VERSION_OF_TABLES = sa.select(sa.func.max(_table.c.version_num))
"""The version of a store's tables, as a query of one row."""


class OtherTablesError(StoreError):
    """The tables of a store are not those that this program knows."""


def check_tables(found: str | None, shown: str) -> None:
    """Refuse tables of another version than that of this program.

    Parameters
    ----------
    found : str or None
        The version of the tables.
    shown : str
        The database, as messages name it.

    Raises
    ------
    OtherTablesError
        If the versions differ.
    """
    if found == VERSION:
        return
    told = f"{shown}: the store has version {found}, this earmark knows {VERSION}: "
    if found is not None and found > VERSION:
        raise OtherTablesError(
            told + "a newer earmark has changed the tables; end this process and start the newer one"
        )
    raise OtherTablesError(told + "the tables are older; end this process and start it again, which changes them")


def lock_campaigns(connection: sa.Connection) -> None:
    """Wait for whoever writes to a store, and keep everybody else waiting; SQLite does so by itself."""
    if connection.dialect.name == "postgresql" and sa.inspect(connection).has_table("earmark_campaigns"):
        connection.execute(sa.text("LOCK TABLE earmark_campaigns IN ACCESS EXCLUSIVE MODE"))
