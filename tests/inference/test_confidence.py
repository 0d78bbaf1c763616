"""From estimates to statements: values of other programs, the sign, and everything that must not become NaN."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import earmark
from earmark.beliefs.beliefs import IndependentBeliefs, item_gains, uniform_beliefs
from earmark.beliefs.estimates import Estimates, Moments, all_pairs
from earmark.beliefs.exact_estimates import LinearEstimator, estimate_linear
from earmark.beliefs.montecarlo import estimate
from earmark.data.collection import Collection
from earmark.data.scales import BINARY, BROAD, FINE
from earmark.errors import ParameterError
from earmark.inference.confidence import rank_systems
from earmark.inference.confidence_sequences import AnyTime
from earmark.inference.intervals import interval, probability_better, sign_confidence
from earmark.measures import parse

numbers = st.floats(-1, 1, allow_nan=False).map(lambda x: x if abs(x) > 1e-9 else 0.0)
variances = st.floats(1e-8, 1)


def collection_of(lists: dict[str, dict[str, list[str]]]) -> Collection:
    return Collection.from_runs(
        earmark.runs_from_dict(
            {
                system: {query: {doc: -float(at) for at, doc in enumerate(docs)} for query, docs in answers.items()}
                for system, answers in lists.items()
            }
        )
    )


def estimates_of(
    mean: list[float], variance: list[float], differences: list[float], measure: str = "AG@5"
) -> Estimates:
    """Make independent systems' estimates up, with the variances of differences given."""
    a, b = all_pairs(len(mean))
    scores = np.array(mean, dtype=float)
    return Estimates(
        systems=tuple("ABCDEF"[: len(mean)]),
        measure=parse(measure),
        scores=Moments.exact(scores, np.array(variance, dtype=float)),
        a=a,
        b=b,
        differences=Moments.exact(scores[a] - scores[b], np.array(differences, dtype=float)),
        identical=np.zeros(a.size, dtype=bool),
        queries=10,
        items=100,
        judged=7,
    )


def test_the_better_system_is_the_one_with_the_higher_score():
    # The equation is printed without its minus; P(Δ ≤ 0) of a positive difference is below a half.
    assert probability_better(0.1, 0.01) == pytest.approx(stats.norm.cdf(1.0))
    assert probability_better(-0.1, 0.01) == pytest.approx(stats.norm.cdf(-1.0))
    assert sign_confidence([0.1, -0.1], [0.01, 0.01]) == pytest.approx([0.841345, 0.841345], abs=1e-6)


def test_students_t():
    # With one degree of freedom, Cauchy: 1/2 + arctan(1)/π.
    assert probability_better(0.1, 0.01, df=1) == pytest.approx(0.75)
    assert probability_better([0.3, 0.3], [0.01, 0.01], df=[9, 99]) == pytest.approx(stats.t.cdf(3, [9, 99]))
    assert sign_confidence(-0.2, 0.01, df=17) == pytest.approx(stats.t.cdf(2, 17))


def test_a_margin():
    # P(Δ ≤ -0.3), the example of MTC: B beats A by .3 or more.
    difference, variance = -0.35, 0.0016
    asked = stats.norm.cdf((-0.3 - difference) / math.sqrt(variance))
    assert probability_better(-difference, variance, margin=0.3) == pytest.approx(asked)
    assert probability_better([0.3, 0.3, 0.3], [0.0] * 3, margin=0.1).tolist() == [1.0] * 3
    assert probability_better([0.1, 0.25], [0.0, 0.0], margin=0.25).tolist() == [0.0, 0.5]


def test_without_variance_a_difference_is_certain_and_a_tie_is_a_tie():
    assert sign_confidence([0.2, -1e-6, 0.0], [0.0, 0.0, 0.0]).tolist() == [1.0, 1.0, 0.5]
    assert probability_better([0.2, -1e-6, 0.0], [0.0, 0.0, 0.0], df=3).tolist() == [1.0, 0.0, 0.5]
    assert sign_confidence(0.0, 0.5).tolist() == 0.5


@given(difference=numbers, variance=variances, margin=st.floats(0, 1), df=st.none() | st.integers(1, 200))
def test_exchanging_two_systems_turns_the_probability_around_and_keeps_the_confidence(difference, variance, margin, df):
    there = probability_better(difference, variance, df=df)
    back = probability_better(-difference, variance, df=df)
    assert there + back == pytest.approx(1.0)
    confidence = sign_confidence(difference, variance, df=df)
    assert confidence == sign_confidence(-difference, variance, df=df)
    assert confidence == pytest.approx(max(there, back))
    assert 0.5 <= confidence <= 1.0
    assert probability_better(difference, variance, margin=margin, df=df) <= there


def test_intervals():
    low, high = interval([0.5, 0.2], [0.01, 0.0])
    assert low == pytest.approx([0.5 - 0.1959964, 0.2])
    assert high == pytest.approx([0.5 + 0.1959964, 0.2])
    low, high = interval(0.0, 1.0, level=0.9, df=9)
    # The 95% point of Student's t with nine degrees of freedom, from any table.
    assert (low, high) == (pytest.approx(-1.833, abs=5e-4), pytest.approx(1.833, abs=5e-4))


@given(mean=numbers, variance=variances, level=st.floats(0.5, 0.99))
def test_an_interval_holds_what_it_says(mean, variance, level):
    low, high = interval(mean, variance, level=level)
    assert stats.norm.cdf(high, mean, math.sqrt(variance)) - stats.norm.cdf(
        low, mean, math.sqrt(variance)
    ) == pytest.approx(level)


def test_a_ranking_has_the_fields_that_scripts_rely_on():
    ranking = rank_systems(estimates_of([0.4, 0.6, 0.5], [0.01, 0.02, 0.03], [0.04, 0.01, 0.01]))
    systems, pairs = ranking.systems_frame(), ranking.pairs_frame()
    assert systems.columns == ["kind", "system", "estimate", "low", "high", "rank"]
    assert systems["system"].to_list() == ["B", "C", "A"]
    assert systems["rank"].to_list() == [1, 2, 3]
    assert systems["low"][0] == pytest.approx(0.6 - 1.959964 * math.sqrt(0.02))
    assert pairs.columns == ["kind", "a", "b", "difference", "low", "high", "confidence"]
    assert pairs.select("a", "b").rows() == [("A", "B"), ("A", "C"), ("B", "C")]
    assert pairs["confidence"].to_list() == pytest.approx(stats.norm.cdf([1.0, 1.0, 1.0]))
    assert pairs["difference"].to_list() == pytest.approx([-0.2, -0.1, 0.1])
    assert pairs["high"][0] == pytest.approx(-0.2 + 1.959964 * 0.2)
    assert ranking.better == pytest.approx(stats.norm.cdf([-1.0, -1.0, 1.0]))
    assert ranking.summary() == {
        "kind": "summary",
        "judged": 7,
        "items": 100,
        "mean_confidence": pytest.approx(0.841345, abs=1e-6),
        "min_confidence": pytest.approx(0.841345, abs=1e-6),
    }
    assert ranking.beats_by(-0.2) == pytest.approx(stats.norm.cdf([0.0, 1.0, 3.0]))


@pytest.mark.parametrize("measure", ["AG@5", "MR1"])
@pytest.mark.parametrize("df", [None, 4.0])
@pytest.mark.parametrize("anytime", [None, AnyTime.by_count(300, items=1000, first=100)])
@pytest.mark.parametrize("level", [0.4, 0.8, 0.95, 0.99])
def test_one_rule_decides_a_pair(measure: str, df: float | None, anytime: AnyTime | None, level: float) -> None:
    """A pair is decided exactly where the bound beside it excludes 0, and the better system comes first."""
    means = [0.5, 0.1, 0.9, 0.3, 0.75, 0.6]
    spread = list(np.geomspace(0.0005, 0.2, 15))
    ranking = rank_systems(estimates_of(means, [0.1] * 6, spread, measure=measure), level=level, df=df, anytime=anytime)
    frame, pairs = ranking.comparisons_frame(), ranking.pairs_frame()
    assert (frame["difference"] > 0).all()
    assert frame["decided"].to_list() == (frame["confidence"] >= level).to_list()
    assert frame["decided"].to_list() == (frame["at_least"] > 0).to_list()
    assert frame["decided"].to_list() == ranking.decided(level).tolist()
    place = dict(ranking.systems_frame().select("system", "rank").iter_rows())
    assert all(place[a] < place[b] for a, b in frame.select("a", "b").iter_rows())
    # The same comparisons as before, turned round where b is better; the bound lies within the interval.
    assert [{a, b} for a, b in frame.select("a", "b").iter_rows()] == [
        {a, b} for a, b in pairs.select("a", "b").iter_rows()
    ]
    assert frame["difference"].to_numpy() == pytest.approx(np.abs(pairs["difference"].to_numpy()))
    assert (frame["high"] - frame["low"]).to_numpy() == pytest.approx((pairs["high"] - pairs["low"]).to_numpy())
    assert (frame["at_least"] >= frame["low"] - 1e-12).all()


def test_equal_systems_share_the_better_rank():
    assert rank_systems(estimates_of([0.4, 0.6, 0.4, 0.1], [0] * 4, [0] * 6)).rank.tolist() == [2, 1, 2, 4]


def test_where_lower_is_better_the_order_is_turned_around():
    ranking = rank_systems(estimates_of([2.0, 5.0], [0.1, 0.1], [0.2], measure="MR1"))
    assert ranking.rank.tolist() == [1, 2]
    assert ranking.better[0] > 0.99
    assert ranking.confidence[0] == ranking.better[0]
    assert ranking.beats_by(3.0) == pytest.approx([0.5])
    assert ranking.estimates.differences.mean.tolist() == [-3.0]


def test_mean_and_least_confidence_and_what_is_decided():
    estimates = estimates_of([0.0, 0.1, 0.3], [0.1] * 3, [0.01] * 3)
    ranking = rank_systems(estimates)
    confidence = stats.norm.cdf([1.0, 3.0, 2.0])
    assert ranking.mean_confidence == pytest.approx(confidence.mean())
    assert ranking.min_confidence == pytest.approx(confidence.min())
    assert ranking.decided(0.95).tolist() == [False, True, True]
    assert ranking.decided_share(0.95) == pytest.approx(2 / 3)
    assert ranking.reaches(0.9)
    assert not ranking.reaches(0.9, least=True)
    assert not ranking.reaches(0.99)
    with_t = rank_systems(estimates, df=9, level=0.8)
    assert with_t.confidence == pytest.approx(stats.t.cdf([1.0, 3.0, 2.0], 9))
    assert with_t.high[0] == pytest.approx(stats.t.ppf(0.9, 9) * math.sqrt(0.1))


def test_identical_pairs_are_listed_apart_and_do_not_count():
    lists = {"A": {"q": ["x", "y"]}, "B": {"q": ["x", "z"]}, "C": {"q": ["x", "y"]}}
    collection = collection_of(lists)
    beliefs = uniform_beliefs(collection, scale=BROAD).with_judgments([1], [2.0])
    ranking = rank_systems(estimate_linear(collection, beliefs, parse("AG@2")))
    assert ranking.identical_pairs == (("A", "C"),)
    assert ranking.pairs_frame().select("a", "b").rows() == [("A", "B"), ("B", "C")]
    assert ranking.confidence[1] == 0.5
    assert not ranking.decided(0.5)[1]
    assert ranking.decided_share(0.51) == 1.0
    # 1 over √(2/3), as the gain of y is 1 above what is expected of z.
    assert ranking.mean_confidence == ranking.min_confidence == pytest.approx(stats.norm.cdf(math.sqrt(1.5)))
    assert ranking.rank.tolist() == [1, 3, 1]
    assert "identical for AG@2 and not compared: A and C" in str(ranking)


@pytest.mark.parametrize("lists", [{"A": {"q": ["x"]}}, {"A": {"q": ["x"]}, "B": {"q": ["x"]}}])
def test_with_nothing_to_compare_there_is_no_confidence_and_nothing_left_to_decide(lists):
    collection = collection_of(lists)
    for measure in ("AG@1", "nDCG@1"):
        beliefs = uniform_beliefs(collection, scale=BROAD)
        ranking = rank_systems(estimate(collection, beliefs, parse(measure), rng=np.random.default_rng(0), samples=9))
        assert ranking.mean_confidence is None
        assert ranking.min_confidence is None
        assert ranking.summary()["mean_confidence"] is None
        assert ranking.pairs_frame().is_empty()
        assert ranking.pairs_frame().schema["confidence"] == pl.Float64
        assert ranking.reaches(1.0)
        assert ranking.reaches(1.0, least=True)
        assert ranking.decided_share(1.0) == 1.0
        assert not ranking.decided(0.0).any()
        assert "no two systems to compare" in str(ranking)


def test_a_tie_with_everything_judged_is_no_decision():
    # The sums are equal, though not in every order of adding up.
    collection = collection_of({"A": {"q": ["a", "b", "c"]}, "B": {"q": ["d", "e", "f"]}})
    beliefs = uniform_beliefs(collection, scale=FINE, judged_gain=[1, 2, 97, 97, 2, 1])
    ranking = rank_systems(estimate_linear(collection, beliefs, parse("AG@3")))
    assert ranking.confidence.tolist() == [0.5]
    ahead = rank_systems(estimate_linear(collection, beliefs.with_judgments([0], [2]), parse("AG@3")))
    assert ahead.confidence.tolist() == [1.0]
    assert ahead.min_confidence == 1.0


def test_in_a_notebook():
    estimates = replace(estimates_of([0.4, 0.6], [0.01, 0.02], [0.04]), systems=("<A>", "B"))
    page = rank_systems(estimates)._repr_html_()
    assert "AG@5" in page
    assert "7 of 100 items judged, mean confidence 84%" in page
    assert "&lt;A&gt;" in page
    assert "<A>" not in page


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: probability_better([0.1, math.nan], [0.1, 0.1]), "expected finite means and variances of 0 or more"),
        (lambda: sign_confidence(0.1, -1e-18), "expected finite means and variances of 0 or more"),
        (lambda: interval(0.1, math.inf), "expected finite means and variances of 0 or more"),
        (lambda: interval(0.1, 0.1, level=95), "the level of an interval is between 0 and 1, got 95"),
        (lambda: interval(0.1, 0.1, df=0), "Student's t needs degrees of freedom above 0, got 0"),
        (lambda: probability_better(0.1, 0.1, df=[3, -1]), "Student's t needs degrees of freedom above 0, got -1"),
    ],
)
def test_what_allows_no_conclusion_is_refused(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


@pytest.fixture(scope="module")
def real(mirex) -> tuple[Collection, np.ndarray]:
    judgments = earmark.read_judgments(mirex / "judgments.txt", scale=FINE)
    collection = Collection.from_runs(earmark.read_runs([mirex / "runs.txt"]))
    return collection, item_gains(collection, judgments)


def judged_first(beliefs: IndependentBeliefs, items: np.ndarray, gains: np.ndarray) -> IndependentBeliefs:
    return beliefs.with_judgments(items, gains[items])


def test_uniform_beliefs_know_nothing_of_the_real_systems(real):
    collection, _ = real
    estimates = estimate_linear(collection, uniform_beliefs(collection, scale=FINE), parse("AG@5"))
    ranking = rank_systems(estimates)
    assert ranking.confidence.size == 153
    assert ranking.mean_confidence == pytest.approx(0.5, abs=1e-9)
    assert ranking.rank.tolist() == [1] * 18
    assert estimates.scores.variance == pytest.approx(np.full(18, 850 / (500 * 100**2)))


def test_uniform_beliefs_take_about_half_of_the_judgments_of_the_real_collection(real):
    # By MTC's weight, in how many pairs an item tells the two apart, ties drawn at random: 47% to 61% over 40 seeds.
    collection, gains = real
    retrieved = np.bincount(collection.result_item, minlength=collection.n_items)
    order = np.lexsort((np.random.default_rng(0).random(collection.n_items), -retrieved * (18 - retrieved)))
    estimator = LinearEstimator(collection, parse("AG@5"), scale=FINE)
    nothing = uniform_beliefs(collection, scale=FINE)

    def confidence(share: float) -> float | None:
        items = order[: int(share * collection.n_items)]
        return rank_systems(estimator.estimate(judged_first(nothing, items, gains))).mean_confidence

    shares = np.arange(0.40, 0.70, 0.01)
    reached = next(share for share in shares if confidence(share) >= 0.95)
    assert 0.46 <= reached <= 0.62
    assert confidence(1.0) == 1.0


def test_no_conclusion_from_a_binary_scale_of_one_item():
    collection = collection_of({"A": {"q": ["x"]}, "B": {"r": ["y"]}})
    ranking = rank_systems(estimate_linear(collection, uniform_beliefs(collection, scale=BINARY), parse("AG@1")))
    assert ranking.confidence.tolist() == [0.5]
    assert ranking.estimates.differences.variance == pytest.approx([2 * 0.25 / 4])
