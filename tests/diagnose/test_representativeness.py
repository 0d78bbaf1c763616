"""What was judged: by hand, and by what a choice at random would be."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from earmark.diagnose.representativeness import difference_quantiles, judged_by_system, judged_mix
from earmark.diagnose.sample_size import random_share
from earmark.errors import ParameterError

# --- means of systems ---


def test_differences_between_all_pairs():
    frame = difference_quantiles([0.1, 0.4, 0.2], quantiles=[0, 0.5, 1])
    np.testing.assert_allclose(frame["difference"], [0.1, 0.2, 0.3])
    assert difference_quantiles([0.1, 0.4])["quantile"].to_list() == [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0]


def test_judged_by_system_by_hand():
    gains = [1.0, 0.5, 0.0, 0.2]
    retrieved = [[1, 1, 0, 0], [0, 2, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    judged = [True, True, False, False]
    frame = judged_by_system(gains, retrieved, judged)
    assert frame.columns == ["system", "items", "judged", "mean_judged", "mean_all", "error"]
    assert frame["items"].to_list() == [2, 3, 1, 0]
    assert frame["judged"].to_list() == [2, 1, 0, 0]
    assert frame["mean_judged"].to_list() == [0.75, 0.5, None, None]
    assert frame["mean_all"][1] == pytest.approx(0.7 / 3)
    assert frame["mean_all"].to_list()[3] is None
    assert frame["error"][0] == 0
    assert frame["error"][1] == pytest.approx(0.5 - 0.7 / 3)
    assert frame["error"].to_list()[2:] == [None, None]
    again = judged_by_system(gains, sparse.csr_array(np.array(retrieved)), judged)
    assert again.equals(frame)


@given(st.integers(0, 2**32))
def test_judging_everything_leaves_no_error(seed):
    rng = np.random.default_rng(seed)
    retrieved = rng.random((3, 10)) < 0.5
    frame = judged_by_system(rng.random(10), retrieved, np.ones(10, dtype=bool))
    assert frame["error"].drop_nulls().to_list() == [0.0] * frame.filter(pl.col("items") > 0).height


# --- the mix of what is judged ---


def test_a_mix_by_hand():
    genre = ["rock"] * 5 + ["jazz"] * 3 + [None] * 2
    judged = np.array([True] + [False] * 4 + [True] * 3 + [False] * 2)
    frame = judged_mix(genre, judged)
    assert frame["value"].to_list() == ["rock", "jazz", None]
    assert frame["items"].to_list() == [5, 3, 2]
    assert frame["judged"].to_list() == [1, 3, 0]
    np.testing.assert_allclose(frame["share_all"], [0.5, 0.3, 0.2])
    np.testing.assert_allclose(frame["share_judged"], [0.25, 0.75, 0])
    np.testing.assert_allclose(frame["representation"], [0.5, 2.5, 0])
    np.testing.assert_allclose(frame["expected"], [2, 1.2, 0.8])
    # Three jazz songs of four judged have probability C(3,3) C(7,1) / C(10,4) = 7/210: outside the central 90%.
    assert judged_mix(genre, judged, level=0.9)["high"][1] == 2
    assert frame["high"][1] == 3


def test_a_random_choice_stays_within_the_range_and_a_biased_one_does_not():
    rng = np.random.default_rng(5)
    genre = np.repeat(["classical", "jazz", "rock"], [200, 100, 700])
    outside = 0
    for _ in range(300):
        judged = random_share(1_000)(0.1, rng)
        frame = judged_mix(genre.tolist(), judged)
        outside += frame.filter((pl.col("judged") < pl.col("low")) | (pl.col("judged") > pl.col("high"))).height
    # The range is central and discrete, so at most 5% of the counts lie outside, and not far fewer.
    low, _ = stats.binom.interval(0.999, 900, 0.025)
    _, high = stats.binom.interval(0.999, 900, 0.05)
    assert low <= outside <= high
    biased = rng.choice(1_000, 100, replace=False, p=np.where(genre == "jazz", 3.0, 1.0) / 1_200)
    judged = np.isin(np.arange(1_000), biased)
    jazz = judged_mix(genre.tolist(), judged).filter(pl.col("value") == "jazz").row(0, named=True)
    assert jazz["judged"] > jazz["high"]
    assert jazz["representation"] > 1.5


def test_a_mix_with_nothing_judged():
    frame = judged_mix(pl.Series(["a", "b"]), [False, False])
    assert frame["share_judged"].to_list() == frame["representation"].to_list() == [None, None]
    assert frame["expected"].to_list() == frame["low"].to_list() == frame["high"].to_list() == [0, 0]


# --- what cannot be used ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: difference_quantiles([1.0]), "at least two finite scores"),
        (lambda: difference_quantiles([1.0, 2.0], quantiles=[2]), r"quantiles lie between 0 and 1, got \[2\]"),
        (lambda: judged_by_system([1.0, 0.0], np.eye(2), [1, 0]), "each of 2 items whether it is judged, got int64"),
        (lambda: judged_mix(["a"], [True, False]), r"each of 1 items whether it is judged, got bool of shape \(2,\)"),
        (lambda: judged_mix(["a"], [True], level=1), "between 0 and 1, got 1"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
