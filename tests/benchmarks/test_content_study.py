"""The study of content in small: it helps where it tells something, and does little harm where it is noise.

Few campaigns say little about coverage: what is asserted here is that nothing is far off.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl
import pytest
from benchmarks.content import LOOKS, made_up, study, table

SMALL = {"systems": 6, "queries": 20, "documents": 300}
SEEDS = range(4)


@pytest.fixture(scope="module")
def noise() -> pl.DataFrame:
    return study(partial(made_up, noise=None, **SMALL), SEEDS)


@pytest.fixture(scope="module")
def informative() -> pl.DataFrame:
    return study(partial(made_up, noise=0.3, **SMALL), SEEDS)


def means(frame: pl.DataFrame, *, content: bool) -> dict[str, float]:
    return frame.filter(pl.col("content") == content).select(pl.all().mean()).row(0, named=True)


def test_noise_does_little_harm(noise: pl.DataFrame) -> None:
    told, plain = means(noise, content=True), means(noise, content=False)
    assert told["coverage_pairs"] >= 0.88
    assert told["coverage_systems"] >= 0.88
    assert told["judgments"] <= 1.3 * plain["judgments"]
    assert told["rmse_100"] <= 1.1 * plain["rmse_100"]


def test_what_tells_something_helps(informative: pl.DataFrame) -> None:
    told, plain = means(informative, content=True), means(informative, content=False)
    assert told["rmse_100"] < plain["rmse_100"]
    assert np.mean([told[f"accuracy_{judged}"] - plain[f"accuracy_{judged}"] for judged in LOOKS]) > -0.02
    assert told["coverage_pairs"] >= 0.88
    assert told["coverage_systems"] >= 0.88


def test_embeddings_are_all_that_differs() -> None:
    one, other = made_up(0, **SMALL), made_up(0, noise=None, **SMALL)
    assert one[0].to_polars().equals(other[0].to_polars())
    assert one[1].frame.equals(other[1].frame)
    assert one[3].documents == other[3].documents
    assert abs(np.corrcoef(one[3].values[:, 0], other[3].values[:, 0])[0, 1]) < 0.6


def test_the_table_has_what_changed(noise: pl.DataFrame) -> None:
    said = table(noise)
    assert said["campaigns"].to_list() == ["without", "with content", "change", "± standard error"]
    judgments = said["judgments"].to_list()
    assert judgments[2] == pytest.approx(judgments[1] - judgments[0])
