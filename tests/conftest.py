"""What the tests share: where the real data are, and collections drawn at random."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Many small matrices are slower with several threads than with one, most of all beside other workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Whatever a shell runs in the background ignores interrupts, and so would every program that the tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("earmark", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("earmark")

SLOW_TEST = 4 * 3600


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give slow tests more time, unless they say how much."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_TEST))


DATA = Path(os.environ.get("EARMARK_DATA", Path(__file__).parents[2] / "shared" / "data"))


def _data(name: str) -> Path:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"real data not found: {folder} (set EARMARK_DATA to the folder that holds {name})")
    return folder


@pytest.fixture(scope="session")
def mirex() -> Path:
    """The MIREX 2011 audio music similarity collection."""
    return _data("mirex-ams-2011")


@pytest.fixture(scope="session")
def melody() -> Path:
    """Melody preferences from Mechanical Turk, 2010."""
    return _data("melody-preferences-2010")


_numbers = count()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Start a PostgreSQL server and return its address; the server comes from a package."""
    from servers import PostgreSQL

    server = PostgreSQL()
    yield server.url
    server.close()


@pytest.fixture(scope="session")
def new_postgresql_database(postgresql: str) -> Iterator[Callable[[], str]]:
    """Return a function that makes an empty database on the server and returns its address."""
    import sqlalchemy as sa

    url = sa.make_url(postgresql).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)

    def make() -> str:
        name = f"campaigns_{next(_numbers)}"
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE {name}"))
        return url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)

    yield make
    engine.dispose()
