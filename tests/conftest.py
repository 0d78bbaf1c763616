"""What the tests share: where the real data are, and collections drawn at random."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Many small matrices are slower with several threads than with one, most of all beside other workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("earmark", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("earmark")

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
