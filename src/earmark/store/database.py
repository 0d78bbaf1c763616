"""One database, SQLite or PostgreSQL: transactions that are retried where that helps, and errors that say what to do.

A transaction that writes takes its lock at the start: ``BEGIN IMMEDIATE`` in SQLite, and in PostgreSQL the row of the
campaign (:meth:`earmark.store.store.Store.write`). A transaction is retried when the connection was lost, the database
was busy or two transactions were in each other's way. That is safe because everything that writes can be repeated:
answers carry a key, and taking a question again returns the one that is out.

SQLite runs in WAL mode with ``synchronous=FULL``: a commit returns when the data have reached the disk, so what was
acknowledged survives a power cut.
"""

from __future__ import annotations

import hashlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import event, exc

from earmark.errors import InputError, MissingLibraryError, ParameterError, StoreError
from earmark.store.database_files import cannot_change, lock_file, refuse_remote, removed_if_empty
from earmark.store.silence import CLIENT_OPTIONS, SERVER_SETTINGS, watched_connector
from earmark.store.versions import VERSION_OF_TABLES, OtherTablesError, check_tables

T = TypeVar("T")

BUSY_SECONDS = 60
"""How long a transaction waits for others before it says that the store is busy."""

PATIENCE = 20.0
"""For how many seconds a lost connection is tried again."""

# PostgreSQL gives a hundred connections by default, to all programs together. A process of a server takes at most
# fifteen; whoever comes later waits for one. Writers wait for the lock of the campaign, so a few of them are enough:
# the others leave their connections to readers.
_KEPT, _MORE, _WRITERS = 10, 5, 4

# States of SQL: no such table, no such column, and a prepared statement that gives other columns than before.
_OTHER_TABLES = ("42P01", "42703", "0A000")


class Database:
    """An engine and how transactions are run on it.

    Parameters
    ----------
    url : str or sqlalchemy.URL
        ``sqlite:///path/to/file`` or ``postgresql://user@host/name``.
    read_only : bool
        Refuse to write.
    patience : float
        For how many seconds a lost connection is tried again.
    busy_seconds : float
        How long a transaction waits for others before it says that the store is busy.
    """

    def __init__(
        self,
        url: str | sa.URL,
        *,
        read_only: bool = False,
        patience: float = PATIENCE,
        busy_seconds: float = BUSY_SECONDS,
    ) -> None:
        self.url = parse_url(url)
        self.read_only = read_only
        self.patience = patience
        self.busy_seconds = busy_seconds
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        # Threads of one process wait in line here; SQLite itself lets waiting writers poll, without an order.
        self._line: Any = threading.Lock() if self.is_sqlite else threading.BoundedSemaphore(_WRITERS)
        self.engine = self._sqlite_engine() if self.is_sqlite else self._postgresql_engine()

    # ---- engines -----------------------------------------------------------------------------------------------------

    def _sqlite_engine(self) -> sa.Engine:
        assert self.path is not None
        if not self.path.exists():
            if self.read_only:
                raise InputError(expected="the store of a campaign", got="nothing there", path=self.path)
            refuse_remote(self.path)
            # It holds the names of assessors.
            with suppress(OSError):
                self.path.touch(mode=0o600)
        url = self.url
        if self.read_only and cannot_change(self.path):
            # SQLite would make files beside the database, which is not possible there and not necessary.
            query = {"immutable": "1", "uri": "true"}
            url = url.set(database=f"file:{quote(os.fspath(self.path.resolve()))}", query=query)
        engine = sa.create_engine(url, connect_args={"timeout": self.busy_seconds}, pool_size=16, max_overflow=48)

        @event.listens_for(engine, "connect")
        def _on_connect(connection: Any, _record: Any) -> None:
            # The driver must not begin transactions by itself.
            connection.isolation_level = None
            pragmas = ["foreign_keys=ON", f"busy_timeout={round(self.busy_seconds * 1000)}"]
            if self.read_only:
                pragmas.append("query_only=ON")
            else:
                pragmas += ["journal_mode=WAL", "synchronous=FULL"]
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")

        @event.listens_for(engine, "begin")
        def _on_begin(connection: sa.Connection) -> None:
            writes = connection.get_execution_options().get("earmark_writes", False)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine

    def _postgresql_engine(self) -> sa.Engine:
        try:
            engine = sa.create_engine(
                self.url,
                pool_size=_KEPT,
                max_overflow=_MORE,
                pool_timeout=self.busy_seconds,
                pool_pre_ping=True,
                connect_args={"application_name": "earmark", **CLIENT_OPTIONS},
            )
            connect = watched_connector()
        except ImportError:
            raise MissingLibraryError(
                "a PostgreSQL store needs psycopg, which is not installed: pip install 'earmark[postgresql]'"
            ) from None

        @event.listens_for(engine, "do_connect")
        def _on_do_connect(_dialect: Any, _record: Any, arguments: Any, options: Any) -> Any:
            return connect(*arguments, **options)

        @event.listens_for(engine, "connect")
        def _on_connect(connection: Any, _record: Any) -> None:
            # A server may be set to acknowledge before data are on disk.
            with connection.cursor() as cursor:
                for statement in SERVER_SETTINGS:
                    cursor.execute(statement)
                cursor.execute("SET synchronous_commit TO on")
                # Wait for others as long as SQLite does. A process that sleeps in the middle of a transaction, as on
                # a laptop that was closed, is cut off, so that it does not keep everybody else waiting.
                cursor.execute(f"SET lock_timeout TO {round(self.busy_seconds * 1000)}")
                cursor.execute(f"SET idle_in_transaction_session_timeout TO {round(self.busy_seconds * 1000)}")
                if self.read_only:
                    cursor.execute("SET default_transaction_read_only TO on")
            connection.commit()

        return engine

    @property
    def path(self) -> Path | None:
        """The file of a SQLite database."""
        return _file_of(self.url)

    @property
    def shown(self) -> str:
        """The database as messages name it, without a password."""
        return str(self.path) if self.is_sqlite else self.url.set(drivername="postgresql").render_as_string()

    # ---- transactions ------------------------------------------------------------------------------------------------

    def write(self, function: Callable[[sa.Connection], T]) -> T:
        """Run a function in a transaction that writes, again where the connection was lost or others were in the way.

        Raises
        ------
        StoreError
            If the database is busy, full, read-only or cannot be reached.
        """
        if self.read_only:
            raise StoreError(f"{self.shown}: opened for reading only")
        return self._with_patience(lambda: self._transaction(function, writes=True))

    def read(self, function: Callable[[sa.Connection], T], *, patience: float | None = None) -> T:
        """Run a function that reads, in a transaction that sees one moment of the database.

        Parameters
        ----------
        function : callable
        patience : float, optional
            For how many seconds a lost connection is tried again; by default as for all transactions.
        """
        return self._with_patience(lambda: self._transaction(function, writes=False), patience)

    def _transaction(self, function: Callable[[sa.Connection], T], *, writes: bool) -> T:
        options: dict[str, Any] = {"earmark_writes": writes}
        if not writes and not self.is_sqlite:
            options["isolation_level"] = "REPEATABLE READ"
        line = self._line if writes else nullcontext()
        with line, self.engine.connect() as raw, raw.execution_options(**options) as connection, connection.begin():
            return function(connection)

    def _with_patience(self, attempt: Callable[[], T], patience: float | None = None) -> T:
        deadline = time.monotonic() + (self.patience if patience is None else patience)
        pause = 0.05
        while True:
            try:
                return attempt()
            except exc.DBAPIError as error:
                if not is_passing(error) or time.monotonic() > deadline:
                    raise self._in_words(error) from error
            except exc.TimeoutError as error:
                raise StoreError(
                    f"{self.shown}: no connection was free for {self.busy_seconds:g} s; try again"
                ) from error
            time.sleep(pause * (0.5 + random.random()))
            pause = min(2 * pause, 2.0)

    def _in_words(self, error: exc.DBAPIError) -> Exception:
        """Say what is wrong with the database, and what to do about it."""
        said = " ".join(str(error.orig).split())
        busy = f"another program has kept it busy for {self.busy_seconds:g} s; end it and try again"
        known = {
            "database is locked": busy,
            "lock timeout": busy,
            "readonly": "it cannot be written; check the permissions of the file and of its folder",
            "permission denied": "permission was denied; check the user's rights",
            "read-only": "it cannot be written; check the permissions",
            "disk is full": "the disk is full; nothing of this change was saved, everything before it was",
            "no space left": "the disk of the server is full; nothing of this change was saved, everything before was",
            "disk i/o error": "the disk reports an error; nothing of this change was saved, everything before it was",
            "unable to open": "the file cannot be opened; check the path and its permissions",
            "not a database": "the file is no SQLite database; name another or restore a backup with 'earmark restore'",
            "malformed": "the file is damaged; restore a backup with 'earmark restore'",
            "no such table": "the store is not complete; restore a backup with 'earmark restore'",
        }
        other = self._other_tables(error)
        if other is not None:
            return other
        missing = getattr(error.orig, "sqlstate", None) == "42P01"
        for words, remedy in known.items():
            if words in said.lower() or (missing and words == "no such table"):
                return StoreError(f"{self.shown}: {remedy}")
        if _is_wrong_address(error):
            return StoreError(f"{self.shown}: the address of the store is wrong ({said}); correct it")
        if _is_in_the_way(error):
            return StoreError(f"{self.shown}: {busy}")
        if is_passing(error) or _is_about_connection(error):
            return StoreError(f"{self.shown}: the database cannot be reached ({said}); start it and try again")
        return error

    def _other_tables(self, error: exc.DBAPIError) -> StoreError | None:
        """Return what to say where a statement failed because a newer earmark has changed the tables; else None."""
        state, said = getattr(error.orig, "sqlstate", None), str(error.orig).lower()
        if state not in _OTHER_TABLES and not any(words in said for words in ("no such table", "no such column")):
            return None
        try:
            with self.engine.connect() as connection:
                check_tables(connection.execute(VERSION_OF_TABLES).scalar(), self.shown)
        except OtherTablesError as other:
            return other
        except exc.DBAPIError:
            return None
        return None

    # ---- one process at a time ---------------------------------------------------------------------------------------

    @contextmanager
    def exclusive(self, task: str) -> Iterator[Callable[[], bool]]:
        """Hold the right to do a task that only one process may do; yields a function that tells whether this one may.

        The right ends with the process, however that ends: it is an advisory lock of PostgreSQL, or a lock on a file
        beside the SQLite database. It ends with its connection to PostgreSQL too, so whoever works for long asks again.
        """
        with self._file_lock(task) if self.is_sqlite else self._advisory_lock(task) as is_mine:
            yield is_mine

    @contextmanager
    def _advisory_lock(self, task: str) -> Iterator[Callable[[], bool]]:
        number = int.from_bytes(hashlib.sha256(task.encode()).digest()[:8], "big", signed=True)
        try:
            connection = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        except exc.DBAPIError as error:
            raise self._in_words(error) from error
        with connection:
            try:
                mine = bool(connection.execute(sa.select(sa.func.pg_try_advisory_lock(number))).scalar())
            except exc.DBAPIError as error:
                raise self._in_words(error) from error

            def is_mine() -> bool:
                nonlocal mine
                if mine:
                    try:
                        connection.execute(sa.select(1))
                    except exc.DBAPIError:
                        # The connection was lost, and the lock with it. A new connection would not have it.
                        mine = False
                return mine

            try:
                yield is_mine
            finally:
                if is_mine():
                    with suppress(exc.DBAPIError):
                        connection.execute(sa.select(sa.func.pg_advisory_unlock(number)))

    @contextmanager
    def _file_lock(self, task: str) -> Iterator[Callable[[], bool]]:
        import fcntl

        assert self.path is not None
        with lock_file(self.path, task).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield lambda: False
                return
            yield lambda: True

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def database_to_fill(url: str | sa.URL) -> Iterator[Database]:
    """Open a database for a campaign that comes into it, made where there is none; if that fails, nothing new stays."""
    with removed_if_empty(_file_of(parse_url(url))):
        database = Database(url)
        try:
            yield database
        finally:
            database.close()


def _file_of(url: sa.URL) -> Path | None:
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None


def parse_url(url: str | sa.URL) -> sa.URL:
    """Read the address of a database; the driver of PostgreSQL is psycopg.

    Raises
    ------
    ParameterError
        If it is neither of SQLite nor of PostgreSQL.
    """
    try:
        parsed = sa.make_url(url)
    except exc.ArgumentError:
        raise ParameterError(f"'{url}' is no address of a database: write {_KINDS}") from None
    backend = parsed.get_backend_name()
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise ParameterError(f"campaigns are not stored in {backend}: write {_KINDS}")
    if not parsed.database or parsed.database == ":memory:":
        raise ParameterError("a campaign in memory would be lost: name a file, as in sqlite:///study/campaign.db")
    return parsed


_KINDS = "sqlite:///study/campaign.db or postgresql://user@host/name"


def _is_wrong_address(error: exc.DBAPIError) -> bool:
    """Tell whether there is no such server, database or user, which waiting does not change."""
    said = str(error.orig).lower()
    wrong = ("does not exist", "authentication failed", "no pg_hba.conf entry", "failed to resolve host")
    passes = "temporary failure" in said
    return isinstance(error, exc.OperationalError) and not passes and any(words in said for words in wrong)


def _is_in_the_way(error: exc.DBAPIError) -> bool:
    """Tell whether another transaction was in the way: a serialisation failure, or a deadlock."""
    return getattr(error.orig, "sqlstate", None) in ("40001", "40P01")


def _is_about_connection(error: exc.DBAPIError) -> bool:
    """Tell whether a connection failed; psycopg gives such an error no state of SQL, or one of two classes.

    SQLite has no connections, and calls nearly everything an operational error.
    """
    state = getattr(error.orig, "sqlstate", "none known")
    return isinstance(error, exc.OperationalError) and (state is None or state[:2] in ("08", "57"))


def is_passing(error: exc.DBAPIError) -> bool:
    """Tell whether a transaction that failed may succeed when it is run again."""
    if error.connection_invalidated or _is_in_the_way(error):
        return True
    # The server is shutting down, starting or has no connection to give.
    if getattr(error.orig, "sqlstate", None) in ("57P01", "57P02", "57P03", "53300"):
        return True
    said = str(error.orig).lower()
    if _is_wrong_address(error):
        return False
    lost = (
        "connection refused",
        "connection is bad",
        "temporary failure",
        "connection timeout",
        "server closed",
        "connection is lost",
        "connection failed",
        "starting up",
        "is closed",
    )
    return isinstance(error, exc.OperationalError) and any(words in said for words in lost)
