"""Audits: the p-value by hand, seldom a false alarm, and a wrong model found out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from earmark.beliefs.estimates import Estimates, Moments, all_pairs
from earmark.beliefs.exact_estimates import LinearEstimator
from earmark.data.scales import BINARY
from earmark.inference.audit import SUSPICIOUS, Audit, audit
from earmark.inference.design_based import DesignEstimator, mean_of_others
from earmark.inference.sampling_design import SampleOrder
from queries_drawn import AG4, collection_of, draw_queries, right_beliefs, systems_of


def estimates_of(mean: list[float], variance: list[float], df: float | None = None) -> Estimates:
    n = len(mean)
    a, b = all_pairs(n)
    freedom = None if df is None else np.full(n, df)
    scores = Moments.exact(np.array(mean), np.array(variance), df=freedom)
    apart = Moments.exact(scores.mean[a] - scores.mean[b], scores.variance[a] + scores.variance[b])
    names = tuple("ABCDE"[:n])
    return Estimates(names, AG4, scores, a, b, apart, np.zeros(a.size, dtype=bool), queries=4, items=9, judged=5)


def test_the_p_value_by_hand():
    model = estimates_of([0.5, 0.4, 0.3], [0.0004, 0.0001, 0.0])
    design = estimates_of([0.52, 0.31, 0.3], [0.0005, 0.0008, 0.0001], df=6.0)
    found = audit(model, design, sampled=44)
    of_b = 3 * 2 * stats.t.sf((0.4 - 0.31) / np.sqrt(0.0008), 6)
    assert found.p_value == pytest.approx(2 * of_b)
    assert (found.sampled, found.worst, found.agrees) == (44, "B", True)
    assert found.deviation == pytest.approx(0.09)
    assert found.bias == pytest.approx((-0.02 + 0.09 + 0.0) / 3)
    # Without degrees of freedom, the normal distribution.
    normal = audit(model, estimates_of([0.52, 0.31, 0.3], [0.0005, 0.0008, 0.0001]), sampled=44)
    assert normal.p_value == pytest.approx(2 * 3 * 2 * stats.norm.sf(0.09 / np.sqrt(0.0008)), rel=1e-3)
    assert normal.agrees == (normal.p_value >= SUSPICIOUS)


def test_an_error_of_the_general_level_shows_in_the_mean_over_systems():
    model = estimates_of([0.54, 0.44, 0.34], [0.0001, 0.0001, 0.0001])
    design = estimates_of([0.5, 0.4, 0.3], [0.0009, 0.0009, 0.0009])
    # The systems' errors are independent here, so their mean has a third of the variance.
    by_hand = 2 * 2 * stats.norm.sf(0.04 / np.sqrt(0.0008 / 3))
    assert audit(model, design, sampled=44).p_value == pytest.approx(by_hand, rel=1e-3)


def test_the_variance_of_the_mean_is_at_least_half_of_the_designs():
    alike = estimates_of([0.54, 0.44], [0.0009, 0.0009]), estimates_of([0.5, 0.4], [0.0008, 0.0008])
    by_hand = 2 * 2 * stats.norm.sf(0.04 / np.sqrt(0.0002))
    assert audit(*alike, sampled=44).p_value == pytest.approx(by_hand, rel=1e-3)


def test_what_agrees_exactly_and_what_cannot_agree():
    sure = estimates_of([0.5, 0.4], [0.0, 0.0])
    assert audit(sure, sure, sampled=30).p_value == 1.0
    off = audit(estimates_of([0.5, 0.6], [0.0, 0.0]), sure, sampled=30)
    assert (off.p_value, off.agrees, off.worst) == (0.0, False, "B")


def test_it_says_what_it_found_and_what_to_do():
    assert str(Audit(1200, 0.27, True, "A", 0.01, 0.0)) == (
        "audit on 1,200 sampled judgments: the model agrees with the guaranteed estimates (p = 0.27)"
    )
    assert str(Audit(40, 0.0021, False, "A", -0.125, -0.1)) == (
        "audit on 40 sampled judgments: the model does NOT agree with the guaranteed estimates (p = 0.0021; A is 0.125 "
        "lower by the model): trust --inference design"
    )
    assert "A is 0.125 higher by the model" in str(Audit(40, 0.0021, False, "A", 0.125, 0.1))


# ---- by simulation ---------------------------------------------------------------------------------------------------


def audits(
    model_logit: np.ndarray, *, sampled: int, repeats: int, seed: int, own: bool = True, queries: int = 20
) -> list[Audit]:
    """Audit, again and again, a model whose logits are off by so much for every system.

    The guaranteed estimates take predictions from that model (``own``), or from the sample's mean.
    """
    collection = collection_of(queries)
    estimator = LinearEstimator(collection, AG4, scale=BINARY)
    rng = np.random.default_rng(seed)
    found = []
    for repeat in range(repeats):
        chance, gains = draw_queries(rng, collection)
        believed = special.expit(special.logit(chance) + model_logit[systems_of(collection)])
        order = SampleOrder.of(collection, AG4, scale=BINARY, seed=repeat)
        judged = np.where(order.sampled(sampled), gains, -1.0)
        beliefs = right_beliefs(believed, judged)
        prediction = beliefs.expected.mean if own else mean_of_others(judged)
        design = DesignEstimator(collection, AG4, scale=BINARY, order=order).estimate(judged, prediction)
        found.append(audit(estimator.estimate(beliefs), design.estimates, sampled=design.sampled))
    return found


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("sampled", [40, 120])
def test_a_right_model_is_seldom_accused(sampled, own):
    repeats = 400
    p_values = np.array([one.p_value for one in audits(np.zeros(3), sampled=sampled, repeats=repeats, own=own, seed=1)])
    for level in (SUSPICIOUS, 0.05, 0.2):
        assert np.count_nonzero(p_values < level) <= stats.binom.ppf(0.9998, repeats, level)
    # It does look: not every p-value is 1.
    assert np.mean(p_values < 1.0) > 0.1


def test_a_model_that_is_wrong_about_everybody_is_found_out():
    repeats = 100
    found = audits(np.full(3, 1.5), sampled=240, queries=60, repeats=repeats, seed=2)
    assert np.mean([not one.agrees for one in found]) > 0.8
    assert all(one.bias > 0 for one in found)
    # A small sample finds gross errors only.
    few = audits(np.full(3, 1.5), sampled=40, queries=60, repeats=repeats, seed=2)
    assert np.mean([not one.agrees for one in few]) < 0.5


def test_a_model_that_favours_one_system_is_found_out_and_the_system_named():
    found = audits(np.array([0.0, 0.0, 2.0]), sampled=240, queries=60, repeats=100, seed=3)
    accused = [one for one in found if not one.agrees]
    assert len(accused) > 80
    assert {one.worst for one in accused} == {"s2"}
    assert all(one.deviation > 0 for one in accused)
