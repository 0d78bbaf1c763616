"""Workers: agreement by hand, volume and agreement against scipy, sides with their bias and without, time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from answers_made import answers, drawn_answers
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from earmark.crowd.position import position_bias
from earmark.crowd.workers import answer_times, pairwise_agreement, volume_correlation, worker_table
from earmark.errors import ParameterError
from earmark.inference.proportions import clustered_share, wilson_interval


def test_agreement_by_hand() -> None:
    given_ = answers("q x y aab", "q y x ---as", "q x z sa", "q y z b")
    share, others = pairwise_agreement(given_)
    # x, x, y, y (shown first) and same about x and y; same and x about x and z; nobody else about y and z.
    assert share[:7].tolist() == [0.25, 0.25, 0.25, 0.25, 0, 0, 0]
    assert np.isnan(share[7])
    assert others.tolist() == [4, 4, 4, 4, 4, 1, 1, 0]
    table = worker_table(given_)
    assert table["assessor"].to_list() == ["w0", "w1", "w2", "w3", "w4"]
    first = table.row(0, named=True)
    assert first == {
        "assessor": "w0",
        "answers": 3,
        "compared": 2,
        "agreement": 0.125,
        "same": pytest.approx(1 / 3),
        "right": 0.5,
    }
    assert table["right"].to_list() == [0.5, 0, 1, 0, None]


@given(st.integers(0, 10_000))
def test_turning_the_documents_round_changes_sides_alone(seed: int) -> None:
    given_ = drawn_answers(np.random.default_rng(seed), pairs=12, same=0.2)
    turned = type(given_).from_frame(
        given_.frame.rename({"a": "b", "b": "a"}).with_columns(pl.col("choice").replace({"a": "b", "b": "a"}))
    )
    before, after = worker_table(given_), worker_table(turned)
    assert after["agreement"].to_list() == pytest.approx(before["agreement"].to_list())
    chosen = before["right"].is_not_null()
    assert (1 - after["right"].filter(chosen)).to_list() == pytest.approx(before["right"].filter(chosen).to_list())
    one, other = position_bias(given_), position_bias(turned)
    assert one.every.share == pytest.approx(1 - other.every.share)
    assert one.both_ways.low == pytest.approx(1 - other.both_ways.high)


def test_volume_and_agreement() -> None:
    rng = np.random.default_rng(1)
    workers = pl.DataFrame({"answers": rng.integers(1, 500, size=30), "agreement": rng.random(30)})
    found = volume_correlation(workers)
    expected = stats.pearsonr(workers["answers"], workers["agreement"])
    assert found.pearson == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.spearman == pytest.approx(stats.spearmanr(workers["answers"], workers["agreement"]).statistic)
    assert found.workers == 30


def test_no_correlation_to_tell() -> None:
    few = volume_correlation(pl.DataFrame({"answers": [1, 2], "agreement": [0.5, 0.7]}))
    assert few.workers == 2
    assert np.isnan([few.pearson, few.low, few.p_value, few.spearman]).all()
    flat = volume_correlation(pl.DataFrame({"answers": [3, 3, 3, 3], "agreement": [0.1, 0.2, 0.3, None]}))
    assert (flat.workers, np.isnan(flat.pearson)) == (3, True)
    line = volume_correlation(pl.DataFrame({"answers": [1, 2, 3, 4], "agreement": [0.1, 0.2, 0.3, 0.4]}))
    assert (line.pearson, line.p_value) == (pytest.approx(1), pytest.approx(0, abs=1e-6))
    with pytest.raises(ParameterError, match="lies between 0 and 1, got 2"):
        volume_correlation(pl.DataFrame({"answers": [1], "agreement": [0.1]}), level=2)


def test_wilson_against_scipy() -> None:
    for right, n in [(0, 5), (3, 7), (20, 20), (65, 100)]:
        low, high = wilson_interval(right / n, n, special.ndtri(0.975))
        interval = stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
        assert (float(low), float(high)) == pytest.approx((interval.low, interval.high))
    assert np.isnan(wilson_interval(np.nan, 0, 1.96)).all()


def test_answers_that_stand_alone_count_as_independent() -> None:
    rng = np.random.default_rng(0)
    outcome = rng.random(400) < 0.6
    own = np.arange(400)
    found = clustered_share(outcome, np.ones(400), own, own)
    low, high = wilson_interval(outcome.mean(), 399, special.stdtrit(399, 0.975))
    assert (found.low, found.high) == pytest.approx((float(low), float(high)), abs=1e-3)
    # Ten copies of every answer, by the same worker, say no more than one.
    copied = clustered_share(np.repeat(outcome, 10), np.ones(4000), np.repeat(own, 10), np.arange(4000))
    assert (copied.low, copied.high) == pytest.approx((found.low, found.high), abs=1e-4)


def test_shares_without_spread_and_without_answers() -> None:
    rng = np.arange(12)
    every = clustered_share(np.ones(12, dtype=bool), np.ones(12), rng % 4, rng)
    assert (every.share, every.high) == (1, 1)
    assert every.low == pytest.approx(float(wilson_interval(1.0, 4, special.stdtrit(3, 0.975))[0]))
    nobody = clustered_share(np.zeros(0, dtype=bool), np.zeros(0), rng[:0], rng[:0])
    assert np.isnan([nobody.share, nobody.low, nobody.p_value]).all()
    one = clustered_share(rng > 3, np.ones(12), np.zeros(12, dtype=np.int64), rng)
    assert one.share == pytest.approx(8 / 12)
    assert np.isnan([one.low, one.p_value]).all()


@given(st.integers(0, 10_000), st.floats(0.5, 0.99))
def test_an_interval_excludes_one_half_exactly_when_the_test_rejects_it(seed: int, level: float) -> None:
    rng = np.random.default_rng(seed)
    outcome = rng.random(60) < rng.random()
    found = clustered_share(outcome, np.ones(60), rng.integers(0, 8, 60), rng.integers(0, 20, 60), level=level)
    if abs(found.p_value - (1 - level)) > 1e-9:
        assert (found.p_value < 1 - level) == (not found.low <= 0.5 <= found.high)


def test_better_documents_on_one_side_are_no_bias_where_pairs_were_turned() -> None:
    # The better document stands on the right three times as often; nobody favours a side.
    given_ = answers("q x y bbb", "q y x ---a", "q u v bbb", "q v u ---a")
    found = position_bias(given_)
    assert found.every.share == pytest.approx(6 / 8)
    assert found.both_ways.share == pytest.approx(0.5)
    assert found.pairs_both_ways == 2
    assert found.to_polars()["among"].to_list() == ["all", "both ways"]
    one_way = position_bias(answers("q x y bab", "q y z bbs"))
    assert (one_way.pairs_both_ways, one_way.every.answers, one_way.both_ways.answers) == (0, 5, 0)
    assert one_way.to_polars()["right"].to_list() == [pytest.approx(0.8), None]


def test_a_bias_is_found_and_none_is_not() -> None:
    rng = np.random.default_rng(8)
    biased = position_bias(drawn_answers(rng, pairs=80, right=1.0))
    assert biased.both_ways.p_value < 0.01
    assert biased.every.low > 0.5
    values = [position_bias(drawn_answers(rng, pairs=40)) for _ in range(150)]
    for p_values in ([one.every.p_value for one in values], [one.both_ways.p_value for one in values]):
        rejected = int(np.sum(np.array(p_values) < 0.05))
        assert rejected <= stats.binom.ppf(0.9995, 150, 0.05)


def test_times() -> None:
    given_ = answers("q x y abab", seconds=[10.0, None, 20.0, 60.0])
    found = answer_times(given_)
    assert (found.answers, found.median, found.mean, found.hours) == (3, 20, 30, 90 / 3600)
    assert found.tenth == pytest.approx(12)
    assert worker_table(given_)["seconds"].to_list() == [10, None, 20, 60]
    assert answer_times(answers("q x y ab")).answers == 0


def test_real_workers(melody_answers: pl.DataFrame) -> None:
    from earmark.data.preferences import Preferences

    given_ = Preferences.from_frame(melody_answers)
    table = worker_table(given_)
    assert (table.height, table["answers"].sum(), given_.unanswered) == (79, 2805, 5)
    assert answer_times(given_).median == 21
    # 823 of the 1,400 answers that choose a melody chose the second; each pair was shown one way round only.
    found = position_bias(given_)
    assert found.every.share == pytest.approx(823 / 1400)
    assert found.pairs_both_ways == 0
