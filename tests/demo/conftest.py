"""A small collection of the demonstration, made once."""

from __future__ import annotations

import pytest

from earmark.demo.collection import DemoCollection, make_collection


@pytest.fixture(scope="session")
def made() -> DemoCollection:
    return make_collection(3, artists=2, songs=3, queries=15)
