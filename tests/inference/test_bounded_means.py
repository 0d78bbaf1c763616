"""Confidence sequences by betting: as the definition has them, right at all looks, and not too wide."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from earmark.errors import ParameterError
from earmark.inference.bounded_means import betting_confidence, betting_interval, betting_intervals
from earmark.inference.proportions import wilson_interval


def capital(observations: list[float], mean: float, alpha: float, truncation: float) -> tuple[float, float]:
    """Return both capitals by the definition in the paper, one observation after the other."""
    above = below = 1.0
    total = squares = 0.0
    spread = 0.25
    for place, value in enumerate(observations, start=1):
        stake = math.sqrt(2 * math.log(2 / alpha) / (spread * place * math.log(place + 1)))
        above *= 1 + min(stake, truncation / mean) * (value - mean)
        below *= 1 - min(stake, truncation / (1 - mean)) * (value - mean)
        total += value
        squares += (value - (0.5 + total) / (place + 1)) ** 2
        spread = (0.25 + squares) / (place + 1)
    return above, below


@pytest.mark.parametrize("truncation", [0.5, 0.75])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_holds_what_the_definition_does_not_refute(truncation: float, level: float) -> None:
    rng = np.random.default_rng(5)
    for length, share in ((3, 0.5), (12, 0.8), (40, 0.3), (90, 0.95)):
        observations = rng.choice([1.0, 0.5, 0.0], p=[0.8 * share, 0.2, 0.8 * (1 - share)], size=length)
        low, high = betting_interval(observations, level=level, truncation=truncation)
        for mean in np.linspace(0.005, 0.995, 199):
            held = max(capital(observations.tolist(), mean, 1 - level, truncation)) < 2 / (1 - level)
            if abs(mean - low) > 1e-9 and abs(mean - high) > 1e-9:
                assert held == (low < mean < high), (length, mean)


def test_no_observation_and_one_exclude_nothing() -> None:
    assert betting_interval([]) == (0.0, 1.0)
    for value in (0.0, 0.5, 1.0):
        assert betting_interval([value]) == (0.0, 1.0)


def test_observations_that_are_all_alike_have_an_interval_that_shrinks() -> None:
    widths = [np.subtract(*betting_interval([0.5] * count)[::-1]) for count in (5, 20, 80, 320)]
    assert all(narrower < wider for wider, narrower in pairwise(widths))
    low, high = betting_interval([1.0] * 100)
    assert 0.9 < low < 1
    assert high == 1


def test_many_sequences_are_as_each_alone() -> None:
    rng = np.random.default_rng(0)
    sequences = [rng.random(size) for size in (0, 7, 1, 30)]
    together = np.stack(betting_intervals(sequences), axis=1)
    np.testing.assert_allclose(together, [betting_interval(one) for one in sequences])
    assert [ends.size for ends in betting_intervals([])] == [0, 0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=60))
def test_turning_observations_round_turns_the_interval_round(observations: list[float]) -> None:
    low, high = betting_interval(observations)
    turned = betting_interval([1 - one for one in observations])
    assert (1 - high, 1 - low) == pytest.approx(turned, abs=1e-9)
    assert 0 <= low <= np.mean(observations) <= high <= 1


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=80), st.sampled_from([0.9, 0.95, 0.99]))
def test_confidence_reaches_the_level_where_the_interval_excludes_the_mean(observations, level) -> None:
    sequence = [np.array(observations)]
    (low,), (high,) = betting_intervals(sequence, level=level)
    (confidence,) = betting_confidence(sequence, 0.5, level=level)
    assert 0.5 <= confidence <= 1
    assert (confidence >= level) == (low > 0.5 or high < 0.5)


def test_a_trend_does_not_push_the_mean_out_of_the_interval() -> None:
    # Early observations count more, so that without care the interval would lie above the mean.
    observations = [1.0] * 40 + [0.0] * 400
    low, high = betting_interval(observations)
    assert low <= np.mean(observations) <= high
    assert betting_confidence([np.array(observations)], 0.5)[0] >= 0.95
    assert high < 0.5


@pytest.mark.parametrize("wrong", [[1.2], [-0.1], [float("nan")]])
def test_what_is_no_share_is_refused(wrong: list[float]) -> None:
    with pytest.raises(ParameterError, match="observations from 0 to 1"):
        betting_interval(wrong)


def test_levels_and_stakes_that_are_none_are_refused() -> None:
    with pytest.raises(ParameterError, match="level"):
        betting_interval([1.0], level=1.0)
    with pytest.raises(ParameterError, match="share that is staked"):
        betting_interval([1.0], truncation=1.0)


def held_at_all_looks(observations: np.ndarray, mean: float, looks: range) -> float:
    """Return in what share of campaigns no look was wrong."""
    held = np.ones(observations.shape[0], dtype=bool)
    for look in looks:
        low, high = betting_intervals(list(observations[:, :look]))
        held &= (low <= mean) & (mean <= high)
    return float(held.mean())


@pytest.mark.parametrize("share", [0.5, 0.7, 0.9])
def test_intervals_hold_at_all_looks_together(share: float) -> None:
    rng = np.random.default_rng(11)
    campaigns = 300
    observations = rng.choice([1.0, 0.5, 0.0], p=[share - 0.05, 0.1, 0.95 - share], size=(campaigns, 120))
    held = held_at_all_looks(observations, share, range(1, 121))
    assert held >= binom.ppf(0.001, campaigns, 0.95) / campaigns
    low, high = betting_intervals(list(observations))
    wilson = np.subtract(*wilson_interval(share, 120, 1.96)[::-1])
    # The price of looking at any time.
    assert 1.0 < (high - low).mean() / wilson < 1.7


def test_a_wilson_interval_does_not_hold_at_all_looks() -> None:
    # What the confidence sequence is for: this is the test above with an ordinary interval.
    rng = np.random.default_rng(11)
    observations = (rng.random((300, 120)) < 0.7).astype(float)
    place = np.arange(1, 121)
    low, high = wilson_interval(np.cumsum(observations, axis=1) / place, place, 1.96)
    assert np.all((low <= 0.7) & (high >= 0.7), axis=1).mean() < 0.85


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.7, 0.95])
@pytest.mark.parametrize("ties", [0.0, 0.5])
def test_coverage_study(share: float, ties: float, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(round(100 * share + 10 * ties))
    ties = min(ties, 2 * (1 - share))
    campaigns, queries = 1000, 200
    chances = [share - ties / 2, ties, 1 - share - ties / 2]
    observations = rng.choice([1.0, 0.5, 0.0], p=chances, size=(campaigns, queries))
    held = held_at_all_looks(observations, share, range(1, queries + 1))
    with capsys.disabled():
        print(f"\nshare {share:.2f}, ties {ties:.2f}: {held:.4f} of campaigns never wrong; width beside Wilson's")
        for count in (10, 20, 50, 100, 200):
            low, high = betting_intervals(list(observations[:500, :count]))
            wilson = np.subtract(*wilson_interval(share, count, 1.96)[::-1])
            print(f"  {count:4d} queries: {(high - low).mean():.3f} beside {wilson:.3f}")
    assert held >= binom.ppf(0.001, campaigns, 0.95) / campaigns
