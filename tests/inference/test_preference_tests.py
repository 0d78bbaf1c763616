"""Tests and intervals for preference precision: against scipy, against double loops, and by how often they hold."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
import polars as pl
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from earmark.data.arrays import Floats
from earmark.data.conversion import runs_from_frame
from earmark.data.preference_checks import REQUIRED
from earmark.data.preferences import PairTable, Preferences
from earmark.errors import ParameterError
from earmark.inference.preference_intervals import SharedErrors, clustered_shares
from earmark.inference.preference_tests import compare_preferences, fisher_p_values, strength_t_p_values
from earmark.measures.preference_precision import PreferenceOutcomes, order_outcomes, parse_level, preference_outcomes

LEVEL = parse_level("4/6")
NONE = np.zeros(0, dtype=np.int64)


def pairs_of(query: list[int], first: list[int], second: list[int], strength: list[float] | None = None) -> PairTable:
    """Pairs with one answer each, for the first document."""
    size = len(query)
    weight = np.array(strength or [1.0] * size)
    names = tuple(map(str, range(1 + max([*query, *second]))))
    one, zero = np.ones(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    index = (np.array(part, dtype=np.int64) for part in (query, first, second))
    return PairTable(names, names, *index, one, zero, zero, weight, weight, NONE, NONE)


def outcomes_of(pairs: PairTable, *systems: str) -> PreferenceOutcomes:
    """What systems made of the pairs: + correct, - wrong, a blank where the system is not asked."""
    marks = np.array([list(system) for system in systems])
    names = tuple("ABCDEF"[: len(systems)])
    return PreferenceOutcomes(names, pairs, 10, marks != " ", marks == "+")


# Tests of SRBENCH


@given(st.lists(st.tuples(*[st.integers(0, 12)] * 4), max_size=5))
def test_fisher_adds_up_the_tables_that_are_no_likelier(tables: list[tuple[int, int, int, int]]) -> None:
    x, wrong_x, y, wrong_y = (np.array(column, dtype=np.int64) for column in zip(*tables, strict=True)) if tables else (
        (NONE,) * 4
    )  # fmt: skip
    found = fisher_p_values(x, x + wrong_x, y, y + wrong_y)
    for index, (a, b, c, d) in enumerate(tables):
        if not (a + b and c + d):
            assert np.isnan(found[index])
            continue
        total, right = a + b + c + d, a + c
        ways = {
            k: comb(right, k) * comb(total - right, a + b - k)
            for k in range(max(0, a + b - (total - right)), min(right, a + b) + 1)
        }
        expected = sum(way for way in ways.values() if way <= ways[a]) / comb(total, a + b)
        assert found[index] == pytest.approx(expected)


def test_the_lady_tasting_tea() -> None:
    """Three of four cups right either way: 34/70 in Fisher's Design of Experiments, two-sided."""
    assert fisher_p_values(*(np.array([n]) for n in (3, 4, 1, 4))) == pytest.approx(34 / 70)


@given(st.lists(st.tuples(st.sampled_from("+- "), st.sampled_from("+- "), st.integers(1, 10)), min_size=1, max_size=20))
def test_the_t_test_is_scipys(rows: list[tuple[str, str, int]]) -> None:
    pairs = pairs_of([0] * len(rows), [0] * len(rows), list(range(1, len(rows) + 1)), [row[2] / 2 for row in rows])
    outcomes = outcomes_of(pairs, "".join(row[0] for row in rows), "".join(row[1] for row in rows))
    p_value = strength_t_p_values(outcomes.signed_strength, outcomes.counted, np.array([0]), np.array([1]))[0]
    a, b = (outcomes.signed_strength[i][outcomes.counted[i]] for i in (0, 1))
    if not (a.size and b.size and a.size + b.size > 2):
        assert np.isnan(p_value)
    elif np.ptp(a) == 0 and np.ptp(b) == 0:
        assert p_value == (1.0 if a[0] == b[0] else 0.0)
    else:
        spread = [part.var(ddof=1) if part.size > 1 else 0.0 for part in (a, b)]
        expected = scipy.stats.ttest_ind_from_stats(
            a.mean(), np.sqrt(spread[0]), a.size, b.mean(), np.sqrt(spread[1]), b.size, equal_var=True
        ).pvalue
        assert p_value == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_strengths_that_differ_by_rounding_do_not_differ() -> None:
    pairs = pairs_of([0] * 6, [0] * 6, [1, 2, 3, 4, 5, 6], [0.1] * 6)
    outcomes = outcomes_of(pairs, "++++++", "+++   ")
    assert strength_t_p_values(outcomes.signed_strength, outcomes.counted, np.array([0]), np.array([1])) == 1.0


# Intervals


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=15, unique=True),
    st.integers(0, 100),
)
def test_shared_errors_are_what_a_double_loop_adds_up(keys: list[tuple[int, int, int]], seed: int) -> None:
    keys = [(query, first, first + more) for query, first, more in keys]
    errors = np.random.default_rng(seed).normal(size=(2, len(keys)))
    errors[0, 0] = 0
    found = SharedErrors.sum_up(errors, pairs_of(*(list(part) for part in zip(*keys, strict=True))))
    expected = {name: np.zeros((2, 2)) for name in ("query", "document", "both", "alone")}
    for i, (q, *documents) in enumerate(keys):
        for j, (r, *others) in enumerate(keys):
            product = np.outer(errors[:, i], errors[:, j])
            shares = bool(set(documents) & set(others))
            expected["query"] += product * (q == r)
            expected["document"] += product * shares
            expected["both"] += product * (shares and q == r)
            expected["alone"] += product * (i == j)
    for name, matrix in expected.items():
        assert getattr(found, name) == pytest.approx((matrix + matrix.T) / 2, abs=1e-9)
    # The variance of a difference is that of the difference.
    together = SharedErrors.sum_up(errors[:1] - errors[1:], pairs_of(*(list(part) for part in zip(*keys, strict=True))))
    n, a, b = np.array([4]), np.array([0]), np.array([1])
    assert found.variance(a, b, n) == pytest.approx(together.variance(a, a, n), abs=1e-9)


def test_an_interval_by_hand() -> None:
    """Four queries with disjoint documents, one pair each, three right: Wilson's interval with t of 3 degrees."""
    pairs = pairs_of([0, 1, 2, 3], [0, 2, 4, 6], [1, 3, 5, 7])
    found = clustered_shares(*_arrays(outcomes_of(pairs, "+++-")), np.ones(4), pairs)
    t = 3.182446305284263
    # e is 1/16 for the right ones and −3/16: the squares add up to 12/256, times 4/3.
    n = (3 / 16) / (12 / 256 * 4 / 3)
    centre, reach = 3 / 4 + t**2 / (2 * n), t * np.sqrt(3 / 16 / n + t**2 / (4 * n**2))
    assert (found.low[0], found.high[0]) == pytest.approx(
        ((centre - reach) / (1 + t**2 / n), (centre + reach) / (1 + t**2 / n))
    )


def _arrays(outcomes: PreferenceOutcomes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    return outcomes.correct, outcomes.counted


@pytest.fixture
def some_pairs() -> PairTable:
    return pairs_of([0, 0, 1, 1, 2, 2], [0, 1, 0, 2, 1, 3], [1, 2, 3, 4, 4, 5], [1, 2, 3, 4, 5, 5])


def test_swapping_systems_flips_the_difference(some_pairs: PairTable) -> None:
    one = compare_preferences(outcomes_of(some_pairs, "++-+- ", "+--  +"), parse_level("1/1"))
    other = compare_preferences(outcomes_of(some_pairs, "+--  +", "++-+- "), parse_level("1/1"))
    for shares, turned in ((one.plain, other.plain), (one.weighted, other.weighted)):
        assert shares.difference == pytest.approx(-turned.difference)
        assert shares.difference_low == pytest.approx(-turned.difference_high)
        assert shares.difference_high == pytest.approx(-turned.difference_low)
        assert shares.p_value == pytest.approx(turned.p_value)
        assert shares.low == pytest.approx(turned.low[::-1])
    assert one.fisher_p_value == pytest.approx(other.fisher_p_value)
    assert one.t_p_value == pytest.approx(other.t_p_value)


@given(st.permutations(range(6)), st.permutations(range(3)))
def test_names_do_not_matter(documents: list[int], queries: list[int]) -> None:
    keys = list(zip([0, 0, 1, 1, 2, 2], [0, 1, 0, 2, 1, 3], [1, 2, 3, 4, 4, 5], strict=True))
    renamed = [(queries[q], *sorted((documents[i], documents[j]))) for q, i, j in keys]
    one, two = (
        clustered_shares(*_arrays(outcomes_of(pairs, "++-+- ", "+--  +")), np.ones(6), pairs)
        for pairs in (pairs_of(*map(list, zip(*part, strict=True))) for part in (keys, renamed))
    )
    assert one.low == pytest.approx(two.low)
    assert one.difference_high == pytest.approx(two.difference_high)


def test_systems_that_do_the_same_do_not_differ(some_pairs: PairTable) -> None:
    found = compare_preferences(outcomes_of(some_pairs, "++-+- ", "++-+- ", "++++++", "++++++"), parse_level("1/1"))
    for shares in (found.plain, found.weighted):
        same = [(0, 1), (2, 3)]
        for index, pair in enumerate(zip(shares.a.tolist(), shares.b.tolist(), strict=True)):
            if pair in same:
                # Three queries without a difference do not say that there is none on others.
                t = scipy.stats.t.ppf(0.975, 2)
                assert shares.difference[index] == 0.0
                assert shares.difference_high[index] == pytest.approx(t**2 / (3 + t**2))
                assert shares.difference_low[index] == -shares.difference_high[index]
            assert (shares.p_value[index] == 1.0) == (pair in same)


@pytest.mark.parametrize("n_queries", [3, 5, 12, 40])
@pytest.mark.parametrize("differ", [0.02, 0.1, 0.3])
def test_intervals_of_few_pairs_hold(n_queries: int, differ: float) -> None:
    """Two systems order most pairs alike; where they do not, a is right two times out of three."""
    rng = np.random.default_rng([n_queries, int(100 * differ)])
    pairs = pairs_of(list(range(n_queries)), list(range(0, 2 * n_queries, 2)), list(range(1, 2 * n_queries, 2)))
    counted = np.ones((2, n_queries), dtype=bool)
    held, widths = [], []
    for _ in range(400):
        first = rng.random(n_queries) < 0.6
        apart = rng.random(n_queries) < differ
        better = rng.random(n_queries) < 2 / 3
        correct = np.stack([np.where(apart, better, first), np.where(apart, ~better, first)])
        shares = clustered_shares(correct, counted, np.ones(n_queries), pairs)
        low, high = shares.difference_low[0], shares.difference_high[0]
        held.append(low <= differ / 3 <= high)
        widths.append(high - low)
    assert np.mean(held) >= 0.93
    assert min(widths) > 0


def test_all_right_is_not_certain(some_pairs: PairTable) -> None:
    """Three queries count as three observations: Wilson's lower end is n / (n + t²)."""
    found = compare_preferences(outcomes_of(some_pairs, "++++++", "------", "++-+-+"), parse_level("1/1"))
    t = scipy.stats.t.ppf(0.975, 2)
    assert found.plain.low.tolist()[:2] == pytest.approx([3 / (3 + t**2), 0])
    assert found.plain.high.tolist()[:2] == pytest.approx([1, t**2 / (3 + t**2)])
    # All right against all wrong: the ways to the inner ends add up as independent errors.
    way = t**2 / (3 + t**2)
    assert found.plain.difference[0] == 1.0
    assert found.plain.difference_low[0] == pytest.approx(1 - np.hypot(way, way))
    assert found.plain.difference_high[0] == 1.0
    assert np.isnan(found.plain.p_value[:2]).all()
    assert found.tests().filter(pl.col("a") == "A")["clustered_p_value"].null_count() == 4
    assert found.weighted.low.tolist()[:2] == pytest.approx(found.plain.low.tolist()[:2])


def test_one_query_has_no_interval() -> None:
    pairs = pairs_of([0, 0, 0], [0, 1, 2], [1, 2, 3])
    found = compare_preferences(outcomes_of(pairs, "++-", "+-+"), parse_level("1/1"))
    assert found.plain.share == pytest.approx([2 / 3, 2 / 3])
    for ends in (found.plain.low, found.plain.high, found.plain.difference_low, found.plain.p_value):
        assert np.isnan(ends).all()
    assert found.systems()["low"].to_list() == [None, None]


def test_a_system_that_is_not_asked(some_pairs: PairTable) -> None:
    found = compare_preferences(outcomes_of(some_pairs, "++-+-+", "      ", "      "), parse_level("1/1"))
    systems, tests = found.systems(), found.tests()
    assert systems["precision"].to_list() == [pytest.approx(2 / 3), None, None]
    assert systems.filter(pl.col("system") != "A").select("low", "high", "weighted_low").null_count().row(0) == (
        2,
        2,
        2,
    )
    assert tests.select("difference", "low", "high", "p_value", "clustered_p_value").null_count().row(0) == (6,) * 5


def test_frames(some_pairs: PairTable) -> None:
    found = compare_preferences(outcomes_of(some_pairs, "++-+-+", "-+--+ "), parse_level("1/1"), level=0.9)
    assert found.systems().columns == [
        "system", "agreement", "precision", "weighted_precision", "pairs", "correct",
        "low", "high", "weighted_low", "weighted_high",
    ]  # fmt: skip
    assert found.tests().select("a", "b", "agreement", "measure", "test").rows() == [
        ("A", "B", "1/1", "precision", "fisher"),
        ("A", "B", "1/1", "weighted_precision", "t"),
    ]
    wider = compare_preferences(outcomes_of(some_pairs, "++-+-+", "-+--+ "), parse_level("1/1"), level=0.99)
    assert np.all(wider.plain.low < found.plain.low)
    assert np.all(wider.plain.high > found.plain.high)
    assert np.all(wider.plain.difference_low < found.plain.difference_low)


def test_one_system_alone(some_pairs: PairTable) -> None:
    found = compare_preferences(outcomes_of(some_pairs, "++-+-+"), parse_level("1/1"))
    assert found.systems().height == 1
    assert found.tests().height == 0


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0, -1.0])
def test_levels_that_are_no_probability(level: float, some_pairs: PairTable) -> None:
    with pytest.raises(ParameterError, match="the level of an interval lies between 0 and 1, got"):
        compare_preferences(outcomes_of(some_pairs, "++-+-+"), parse_level("1/1"), level=level)


def test_from_answers_to_tests() -> None:
    """Two systems, the one all right and the other all wrong about four pairs of two queries."""
    rows = [(q, a, b, who, "a") for q in ("q", "r") for a, b in (("w", "x"), ("y", "z")) for who in "12"]
    pairs = Preferences.from_frame(pl.DataFrame(rows, schema=REQUIRED, orient="row")).pairs()
    lists = [(s, q, d) for s, order in (("A", "wyxz"), ("B", "xzwy")) for q in ("q", "r") for d in order]
    runs = runs_from_frame(pl.DataFrame(lists, schema=["system", "query", "document"], orient="row"))
    found = compare_preferences(preference_outcomes(runs, pairs, k=2), parse_level("2/2"))
    assert found.plain.difference.tolist() == [1.0]
    assert found.fisher_p_value == pytest.approx([2 / 70])
    assert found.t_p_value.tolist() == [0.0]


# How often intervals hold


@dataclass(frozen=True)
class Study:
    """A kind of study: its size, and what makes systems err."""

    queries: int
    documents: int
    pairs_per_query: int
    k: int
    # How much of a document's worth is its own for all queries, and how much a system misjudges it for all queries.
    own_worth: float
    misjudged: float
    # How much better a system understands some queries than others.
    uneven: float

    def draw(self, rng: np.random.Generator) -> PreferenceOutcomes:
        n, m = self.queries, self.documents
        worth = self.own_worth * rng.normal(size=m) + 0.5 * rng.normal(size=(n, m))
        one = rng.integers(0, m, n * self.pairs_per_query)
        other = (one + rng.integers(1, m, one.size)) % m
        asked = np.repeat(np.arange(n), self.pairs_per_query)
        keys = np.unique((asked * m + np.minimum(one, other)) * m + np.maximum(one, other))
        query, first, second = keys // m**2, keys // m % m, keys % m
        ahead = worth[query, first] - worth[query, second]
        votes = rng.binomial(6, 1 / (1 + np.exp(-1.5 * ahead)))
        strength = 1 + np.minimum(np.abs(ahead) + rng.random(keys.size), 4)
        names = tuple(map(str, range(m)))
        pairs = PairTable(
            names[:n], names, query, first, second, votes, 6 - votes, 0 * votes, strength, strength, NONE, NONE
        )
        ranks = []
        for skill in (0.3, 0.55):
            understanding = skill + self.uneven * rng.normal(size=(n, 1))
            score = understanding * worth + self.misjudged * rng.normal(size=m) + rng.normal(size=(n, m))
            ranks.append(np.minimum(np.argsort(np.argsort(-score, axis=1), axis=1) + 1, self.k + 1))
        of = np.array(ranks)
        counted, correct = order_outcomes(of[:, query, first], of[:, query, second], pairs.winner, k=self.k)
        return PreferenceOutcomes(("A", "B"), pairs, self.k, counted, correct)


STUDIES = {
    "nothing in common": Study(25, 120, 60, 15, 0.5, 0.0, 0.0),
    "queries": Study(25, 120, 60, 15, 0.5, 0.0, 0.5),
    "documents": Study(25, 120, 60, 15, 1.5, 1.5, 0.0),
    "few queries": Study(8, 60, 30, 10, 0.7, 0.5, 0.3),
}


def resampled(outcomes: PreferenceOutcomes, rng: np.random.Generator, *, documents: bool) -> tuple[float, float]:
    """The interval of the difference that a bootstrap of queries, or of queries and documents, would give."""
    pairs = outcomes.pairs
    weights = rng.exponential(size=(200, len(pairs.queries)))[:, pairs.query_index]
    if documents:
        drawn = rng.exponential(size=(200, len(pairs.documents)))
        weights = weights * drawn[:, pairs.first_index] * drawn[:, pairs.second_index]
    shares = (weights @ outcomes.correct.T) / (weights @ outcomes.counted.T)
    low, high = np.quantile(shares[:, 0] - shares[:, 1], [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize("name", STUDIES)
def test_intervals_hold_as_often_as_they_say(name: str) -> None:
    study, rng = STUDIES[name], np.random.default_rng(20)
    repeats = 500
    found: list[float] = []
    sums: list[list[Floats]] = []
    for repeat in range(3 * repeats):
        outcomes = study.draw(rng)
        taken = outcomes.at(LEVEL.reached_by(outcomes.pairs))
        strength = outcomes.pairs.mean_strength
        sums.append(
            [part for w in (np.ones_like(strength), strength) for part in (taken.correct @ w, taken.counted @ w)]
        )
        if repeat < repeats:
            comparison = compare_preferences(outcomes, LEVEL)
            for shares in (comparison.plain, comparison.weighted):
                found += [*shares.share, *shares.difference, *shares.low, *shares.difference_low]
                found += [*shares.high, *shares.difference_high]
    right, asked, right_weight, asked_weight = np.mean(sums, axis=0)
    truth = np.array([right / asked, right_weight / asked_weight])
    truth = np.column_stack([truth, truth[:, 0] - truth[:, 1]])
    estimate, low, high = np.moveaxis(np.array(found).reshape(repeats, 2, 3, 3), 2, 0)
    held = ((low <= truth) & (truth <= high)).mean(axis=0)
    # If 95 of 100 hold, fewer than 91.5 of 100 do in less than one study of 1,000.
    assert held.min() > 0.915, held
    # How wide they are, as a multiple of what 95 of 100 estimates spread over; few queries cost some of it.
    widths = (high - low).mean(axis=0) / (3.92 * estimate.std(axis=0))
    assert widths.min() > 0.9, widths
    assert widths.max() < (1.5 if name == "few queries" else 1.3), widths


def test_resampling_queries_is_not_enough_and_resampling_all_is_too_much() -> None:
    study, rng = STUDIES["documents"], np.random.default_rng(21)
    ours, queries, everything, differences = [], [], [], []
    for _ in range(120):
        outcomes = study.draw(rng)
        taken = outcomes.at(LEVEL.reached_by(outcomes.pairs))
        shares = clustered_shares(taken.correct, taken.counted, np.ones(len(outcomes.pairs)), outcomes.pairs)
        differences.append(shares.difference[0])
        ours.append((shares.difference_low[0], shares.difference_high[0]))
        queries.append(resampled(taken, rng, documents=False))
        everything.append(resampled(taken, rng, documents=True))
    ideal = 3.92 * np.std(differences)
    assert np.diff(queries).mean() < 0.7 * ideal
    assert 0.8 * ideal < np.diff(ours).mean() < 1.2 * ideal
    assert np.diff(everything).mean() > 1.25 * ideal
