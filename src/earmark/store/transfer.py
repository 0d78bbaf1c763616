"""A campaign goes from one database to another, and the copy is proved to be the same."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from earmark.data.log import AnswerLog
from earmark.errors import ParameterError, StoreError
from earmark.store.address import DATABASE, keep_password, with_store
from earmark.store.database import Database, database_to_fill
from earmark.store.folder import CampaignFolder
from earmark.store.migrate import migrate
from earmark.store.schema import DERIVED, campaigns, invitations, people, sessions, sittings, texts
from earmark.store.settings import NAME
from earmark.store.store import Store, read_events
from earmark.store.table_rows import Copied, count_copied, insert_rows, rows_of, tables_of


def log_of(database: Database, campaign: int) -> dict[str, Any]:
    """Read the log of a campaign from a database, and return its number of events, of answers, and its hash."""
    log = AnswerLog().with_table(database.read(lambda connection: read_events(connection, campaign)))
    return {"events": len(log), "answers": log.of_kind("answered").height, "digest": log.digest}


def move(folder: CampaignFolder, store: str | None) -> Copied:
    """Copy a campaign to another database, prove that the copy is the same, and go on there.

    Nobody can answer while it is copied, and nobody can answer in the old database afterwards, which keeps a
    copy of the log alone.

    Parameters
    ----------
    folder : CampaignFolder
        Is closed afterwards.
    store : str or None
        The address of the other database; None for the SQLite file in the folder.

    Returns
    -------
    Copied
        The number of rows and the hash of the log, equal in both databases.
    """
    source, settings = folder.store, with_store(folder.settings, store)
    with database_to_fill(store or sa.URL.create("sqlite", database=str(folder.path / DATABASE))) as target:
        if _place(target) == _place(source.database):
            raise ParameterError(f"the campaign is in {target.shown} already")
        migrate(target)
        if source.row["state"] == "moved" and source.row["reason"] == target.shown:
            # It was moved before, and the settings could not be written any more.
            campaign = Store.find(target, folder.settings.id).campaign
            copied = target.read(lambda connection: count_copied(connection, campaign))
        else:
            copied = source.database.write(lambda connection: _move(connection, source.campaign, target))
    # The campaign is there now, so the settings have to say so before anything else.
    keep_password(folder.path, store)
    settings.write(folder.path / NAME)
    folder.close()
    return copied


def _place(database: Database) -> sa.URL:
    """Return where a database is, whoever asks for it."""
    url = database.url._replace(username=None, password=None)
    return url if database.path is None else url.set(database=str(database.path.resolve()))


def _move(source: sa.Connection, campaign: int, target: Database) -> Copied:
    """Copy a campaign while nobody can change it, compare, and mark the original."""
    if source.dialect.name == "postgresql":
        # While the other database works, this one waits.
        source.execute(sa.text("SET LOCAL idle_in_transaction_session_timeout = 0"))
    mine = campaigns.c.id == campaign
    row = source.execute(sa.select(campaigns).where(mine).with_for_update()).one()
    if row.state == "moved":
        raise StoreError(f"the campaign has moved to {row.reason} already")
    before = count_copied(source, campaign)
    after = target.write(lambda connection: _copy(source, connection, row, target.shown))
    if before != after:
        raise StoreError(f"{target.shown}: the copy differs from the original; the campaign stays where it was")
    source.execute(sa.update(campaigns).where(mine).values(state="moved", reason=target.shown))
    _leave_log_alone(source, campaign)
    return after


def _copy(source: sa.Connection, target: sa.Connection, row: Any, shown: str) -> Copied:
    """Copy a campaign; an older copy of it, from an earlier move, is set aside and kept."""
    older = target.execute(sa.select(campaigns).where(campaigns.c.uid == row.uid)).first()
    if older is not None:
        if older.next_sequence > row.next_sequence:
            raise StoreError(f"{shown}: the campaign is there already, and with more events")
        aside = f"{row.uid[:32]}-{older.next_sequence}-{older.id}"
        target.execute(sa.update(campaigns).where(campaigns.c.id == older.id).values(uid=aside, state="moved"))
        _leave_log_alone(target, older.id)
    tables = {table.name: table for table in tables_of(source)}
    numbers = insert_rows(target, tables_of(target), lambda name: rows_of(source, tables[name], row.id), shown)
    return count_copied(target, numbers[row.id])


def _leave_log_alone(connection: sa.Connection, campaign: int) -> None:
    """Delete everything of a copy that nobody uses any more but its log; identities must not stay behind."""
    for table in (*DERIVED, people, invitations, sessions, sittings, texts):
        connection.execute(sa.delete(table).where(table.c.campaign == campaign))
