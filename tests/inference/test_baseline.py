"""Checks against a baseline: who fails, by which margin, and how often a check fails that should not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import earmark
from earmark.beliefs.estimates import Estimates, Moments, all_pairs
from earmark.data.units import QueryUnits
from earmark.errors import ParameterError
from earmark.evaluation import Scores
from earmark.inference.baseline import check_ranking, compare_with_baseline, ranking_rows
from earmark.inference.confidence import Ranking, rank_systems

TESTS = ("friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap")


def scores_of(values: np.ndarray, measure: str = "AG@5") -> Scores:
    """Scores of the systems base, v1, v2 and so on."""
    systems = ("base", *(f"v{number}" for number in range(1, len(values))))
    queries = tuple(f"q{number}" for number in range(values.shape[1]))
    return Scores(systems, queries, (earmark.parse(measure),), values[None], {}, (), ())


def drawn(seed: int, *, lead: float = 0.0, systems: int = 4, queries: int = 40) -> np.ndarray:
    """Graded scores of which the baseline's are better by a lead."""
    rng = np.random.default_rng(seed)
    ease = rng.beta(2, 3, size=queries)
    values = rng.normal(ease, 0.15, size=(systems, queries))
    values[0] += lead
    return values


@pytest.mark.parametrize("test", TESTS)
def test_a_margin_is_a_difference_that_does_not_matter(test: str) -> None:
    scores = scores_of(drawn(1, lead=0.2))
    for margin, worse in ((0.0, True), (0.05, True), (0.2, False), (0.5, False)):
        check = compare_with_baseline(scores, "base", test=test, margin=margin).check
        assert check.worse.tolist() == [worse] * 3, (margin, check.doubt)
        assert check.passed == (not worse)


@pytest.mark.parametrize("test", TESTS)
def test_without_a_margin_the_rows_say_who_fails(test: str) -> None:
    values = drawn(2)
    values[1] -= 0.3
    values[2] += 0.3
    found = compare_with_baseline(scores_of(values), "base", test=test)
    rows = {row["a"]: row for row in found.pairs().iter_rows(named=True)}
    assert {name: row["worse"] for name, row in rows.items()} == {"v1": True, "v2": False, "v3": False}
    assert list(rows) == ["v2", "v3", "v1"]
    for row in rows.values():
        assert (row["b"], row["baseline"], row["margin"]) == ("base", "base", 0.0)
        assert row["worse"] == (row["p_worse"] <= 0.05)
        assert row["difference"] == pytest.approx(values[int(row["a"][1])].mean() - values[0].mean())
        assert not row["low"] > row["difference"]
        assert (row["unit"], row["units"]) == ("query", 40)
    assert rows["v2"]["better"] == "v2"
    everything = found.pairs(others=True)
    assert everything.height == 6
    assert everything["worse"].null_count() == 3


def test_lower_is_better_turns_the_check() -> None:
    values = drawn(3, lead=-0.3)
    assert not compare_with_baseline(scores_of(values, "MR1"), "base", test="t", margin=0.1).check.passed
    assert compare_with_baseline(scores_of(-values, "MR1"), "base", test="t", margin=0.1).check.passed


def test_a_system_with_the_higher_mean_never_fails() -> None:
    """Ranks speak for the baseline, which wins most queries by a little; the mean does not, and decides."""
    values = np.zeros((2, 40))
    values[0] = np.linspace(0.2, 0.4, 40)
    values[1] = values[0] - 0.01
    values[1, :5] += 0.5
    found = compare_with_baseline(scores_of(values), "base", test="friedman-tukey")
    assert found.check.test == "t"
    assert found.check.doubt[0] > 0.5
    assert found.pairs()["better"].to_list() == ["base"]
    assert found.check.passed


@pytest.mark.parametrize("test", ["friedman-tukey", "t", "wilcoxon", "permutation"])
@pytest.mark.parametrize("margin", [0.0, 0.1])
def test_false_alarms_are_no_more_frequent_than_stated(test: str, margin: float) -> None:
    """All systems are worse by exactly the margin: whichever fails, fails wrongly."""
    repeats, alarms = 400, 0
    for seed in range(repeats):
        scores = scores_of(drawn(10 + seed, lead=margin, systems=5, queries=25))
        check = compare_with_baseline(scores, "base", test=test, margin=margin, n_resamples=399).check
        alarms += not check.passed
    assert alarms <= stats.binom.ppf(0.999, repeats, 0.05)
    assert alarms >= 2


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(("systems", "needed"), [(1, 5), (3, 6)])
def test_few_queries_that_are_all_lost_do_not_fail_a_system(test: str, systems: int, needed: int) -> None:
    """The chance that a system as good loses all queries is one half to their number, for each system."""
    values = np.zeros((systems + 1, needed))
    values[0] = 0.5 + np.linspace(0, 0.01, needed)
    few = compare_with_baseline(scores_of(values[:, : needed - 1]), "base", test=test).check
    assert few.passed
    assert few.needed == needed
    assert few.caution() == (
        f"no system can fail this check: with {needed - 1} queries no adjusted p-value is below "
        f"{systems / 2 ** (needed - 1):.3g}; it takes {needed} queries or more"
    )
    enough = compare_with_baseline(scores_of(values), "base", test="t").check
    assert enough.caution() is None
    assert not enough.passed
    # Copies of queries are no more of them.
    thrice = scores_of(np.repeat(values[:, : needed - 1], 3, axis=1))
    work = {query: f"work {place // 3}" for place, query in enumerate(thrice.queries)}
    check = compare_with_baseline(thrice, "base", test=test, unit_of=QueryUnits("work", work)).check
    assert check.passed
    assert f"with {needed - 1} works" in str(check.caution())


@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_false_alarms_by_unit(correlation: float) -> None:
    """Three systems as good as the baseline, on 15 works of one to eight versions."""
    repeats, alarms = 400, np.zeros(2)
    for seed in range(repeats):
        rng = np.random.default_rng([seed, 7])
        number = np.repeat(np.arange(15), rng.integers(1, 9, size=15))
        values = np.sqrt(correlation) * rng.normal(size=(4, 15))[:, number]
        scores = scores_of(values + np.sqrt(1 - correlation) * rng.normal(size=(4, number.size)))
        work = QueryUnits("work", {query: str(unit) for query, unit in zip(scores.queries, number, strict=True)})
        for place, unit_of in enumerate((work, None)):
            alarms[place] += not compare_with_baseline(scores, "base", unit_of=unit_of).check.passed
    assert alarms[0] <= stats.binom.ppf(0.999, repeats, 0.05)
    assert alarms[0] >= 2
    assert correlation == 0 or alarms[1] > 2 * alarms[0]


def test_several_measures_share_the_chance_of_a_false_alarm() -> None:
    scores = scores_of(drawn(4, lead=0.07, systems=2))
    alone = compare_with_baseline(scores, "base", test="t").check
    shared = compare_with_baseline(scores, "base", test="t", among=5).check
    assert shared.alpha == pytest.approx(0.01)
    assert shared.doubt.tolist() == alone.doubt.tolist()
    assert (alone.passed, shared.passed) == (False, alone.doubt[0] > 0.01)


def ranking_of(mean: np.ndarray, variance: float, *, measure: str = "AG@5") -> Ranking:
    a, b = all_pairs(mean.size)
    systems = ("base", *(f"v{number}" for number in range(1, mean.size)))
    differences = Moments.exact(mean[a] - mean[b], np.full(a.size, 2 * variance))
    scores = Moments.exact(mean, np.full(mean.size, variance))
    same = np.zeros(a.size, dtype=bool)
    return rank_systems(Estimates(systems, earmark.parse(measure), scores, a, b, differences, same, 10, 50, 50))


def test_rankings_are_checked_by_their_confidence() -> None:
    ranking = ranking_of(np.array([0.5, 0.4, 0.47, 0.6]), 0.02**2 / 2)
    check = check_ranking(ranking, "base")
    assert check.systems == ("v3", "v2", "v1")
    assert check.worse.tolist() == [False, False, True]
    # Sure by itself, but not among three: 1.5 standard deviations.
    alone = check_ranking(ranking_of(np.array([0.5, 0.465]), 0.02**2 / 2), "base")
    among = check_ranking(ranking_of(np.array([0.5, 0.465, 0.5, 0.5]), 0.02**2 / 2), "base")
    assert (alone.passed, among.passed) == (False, True)
    assert check_ranking(ranking, "base", margin=0.08).passed
    rows = ranking_rows(ranking, check).to_dicts()
    assert [row["b"] for row in rows] == ["base"] * 3
    assert [row["difference"] for row in rows] == pytest.approx([0.1, -0.03, -0.1])
    assert all(row["low"] < row["difference"] < row["high"] for row in rows)
    lower = check_ranking(ranking_of(np.array([5.0, 4.0, 6.0]), 0.01, measure="MR1"), "base")
    assert dict(zip(lower.systems, lower.worse.tolist(), strict=True)) == {"v1": False, "v2": True}


def test_false_alarms_of_rankings() -> None:
    rng = np.random.default_rng(5)
    repeats, margin, alarms = 2_000, 0.03, 0
    for _ in range(repeats):
        mean = 0.5 + rng.normal(0, 0.02, size=5)
        mean[0] += margin
        alarms += not check_ranking(ranking_of(mean, 0.02**2), "base", margin=margin).passed
    assert 0.02 * repeats <= alarms <= stats.binom.ppf(0.999, repeats, 0.05)


def test_what_cannot_be_checked() -> None:
    scores = scores_of(drawn(6))
    with pytest.raises(ParameterError, match=r"unknown baseline 'Bse': did you mean 'base'\? \(there are base, v1"):
        compare_with_baseline(scores, "Bse")
    with pytest.raises(ParameterError, match="unknown baseline 'zzz': there are base"):
        check_ranking(ranking_of(np.array([0.5, 0.4]), 0.1), "zzz")
    for check in (
        lambda: compare_with_baseline(scores, "base", margin=-0.1),
        lambda: check_ranking(ranking_of(np.array([0.5, 0.4]), 0.1), "base", margin=float("nan")),
    ):
        with pytest.raises(ParameterError, match="the margin is a difference of scores of 0 or more"):
            check()
