"""Judged items beside their predictions: what leaving an item out gives, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.data.judgments import Judgments
from earmark.diagnose.proper_scores import summarise_errors
from earmark.report import gather_findings, report_html
from earmark.report.calibration import ENOUGH, Calibration, Held, calibrate, left_out, left_out_exactly
from effects_drawn import Dense, answers_of, model_of, small_collection, some_variances, without


@pytest.fixture(scope="module")
def made() -> earmark.SyntheticCollection:
    return earmark.synthetic_collection(np.random.default_rng(0), systems=5, queries=25, documents=300)


def some(made: earmark.SyntheticCollection, count: int, **marks: pl.Expr) -> Judgments:
    frame = made.judgments.frame.sample(count, seed=1).select("query", "document", "gain").with_columns(**marks)
    return Judgments.from_frame(frame, scale=made.judgments.scale)


@pytest.mark.parametrize("several", [False, True])
def test_leaving_an_item_out_is_conditioning_without_its_answers(several: bool) -> None:
    model = model_of(small_collection(1), n_assessors=4 if several else 0)
    theta = some_variances(model, sets=1)
    items = np.array([0, 3, 4, 9, 12])
    if several:
        observed = answers_of(model, items)
    else:
        from earmark.beliefs.effects import Observations

        observed = Observations.exact(model, items, np.linspace(0.1, 0.9, items.size))
    gains = np.full(model.n_items, -1.0)
    gains[items] = 50.0
    beliefs = CorrelatedBeliefs(earmark.FINE, gains, model, observed, theta[0], theta)
    found, predicted, variance, actual = left_out_exactly(beliefs)
    assert found.tolist() == items.tolist()
    whole = Dense(model, observed, theta[0])
    for at, item in enumerate(items):
        own = observed.item == item
        rest = without(observed, own)
        joint = whole.of_observations
        # How answers differ from each other, which comes after the items, says nothing about the gain.
        own = np.concatenate((own, np.zeros(len(joint) - own.size, dtype=bool)))
        others = np.flatnonzero(~own)
        gain = np.linalg.solve(joint[np.ix_(others, others)], joint[np.ix_(others, np.flatnonzero(own))])
        residual = Dense(model, rest, theta[0]).residual
        expected = model.prior_mean[item] + (gain.T @ residual).mean()
        spread = joint[np.ix_(own, own)] - joint[np.ix_(own, ~own)] @ gain
        assert predicted[at] == pytest.approx(100 * expected)
        assert variance[at] == pytest.approx(100**2 * spread.mean())
        assert actual[at] == pytest.approx(100 * observed.value[at])


@pytest.mark.parametrize("predictor", ["hierarchical", "uniform", "ordinal"])
def test_predictions_are_those_that_other_judgments_give(made: earmark.SyntheticCollection, predictor: str) -> None:
    campaign = earmark.Campaign.build(made.runs, some(made, 120), metadata=made.metadata, predictor=predictor)
    beliefs = campaign.beliefs
    items, predicted, variance, actual = left_out(campaign)
    np.testing.assert_array_equal(items, np.flatnonzero(beliefs.judged))
    np.testing.assert_allclose(actual, beliefs.judged_gain[items], atol=1e-9)
    assert np.all(variance > 0)
    # What nothing has been learnt of would be predicted alike for all items.
    assert (np.ptp(predicted) == 0) == (predictor == "uniform")
    assert predictor == "uniform" or np.corrcoef(predicted, actual)[0, 1] > 0.2


def test_few_judgments_are_not_worth_a_look(made: earmark.SyntheticCollection) -> None:
    assert calibrate(earmark.Campaign.build(made.runs)) is None
    assert calibrate(earmark.Campaign.build(made.runs, some(made, ENOUGH - 1))) is None
    found = calibrate(earmark.Campaign.build(made.runs, some(made, ENOUGH)))
    assert found is not None
    assert found.frame.columns == ["query", "document", "predicted", "low", "high", "actual"]
    assert found.frame.height == found.held.items == found.errors.n == ENOUGH
    assert not found.complete


def test_intervals_of_an_honest_model_hold_what_is_judged(made: earmark.SyntheticCollection) -> None:
    campaign = earmark.Campaign.build(made.runs, metadata=made.metadata)
    held = items = 0
    for number in range(6):
        truth = campaign.beliefs.draw(np.random.default_rng([8, number]), 1)[0]
        frame = campaign.problem.items
        drawn = Judgments.from_frame(frame.with_columns(gain=pl.Series(truth.round())), scale=earmark.FINE)
        again = calibrate(earmark.Campaign.build(made.runs, drawn, metadata=made.metadata))
        assert again is not None
        assert again.complete
        held, items = held + again.held.held, items + again.held.items
    # A scale that ends cuts off the tails that the intervals make room for.
    assert 0.93 <= held / items <= 0.99


def test_sampled_items_are_counted_apart(made: earmark.SyntheticCollection) -> None:
    marked = some(made, 100, sampled=pl.int_range(pl.len()) < 40)
    found = calibrate(earmark.Campaign.build(made.runs, marked))
    assert found is not None
    assert found.held_in_sample is not None
    assert found.held_in_sample.items == 40
    assert not found.all_sampled
    every = some(made, 100, sampled=pl.lit(True))
    all_of_them = calibrate(earmark.Campaign.build(made.runs, every))
    assert all_of_them is not None
    assert all_of_them.all_sampled
    assert all_of_them.held_in_sample is None


def calibration(
    errors: list[float], *, expected: float = 1.0, fine: bool = True, complete: bool = False
) -> Calibration:
    """Predictions of 0 that were off by so much, with intervals of two units to both sides."""
    off = np.array(errors)
    frame = pl.DataFrame({"predicted": np.zeros(off.size), "low": -2.0, "high": 2.0, "actual": off})
    spread = np.full(off.size, expected**2)
    return Calibration(frame, summarise_errors(np.zeros(off.size), spread, off), complete, fine)


@pytest.mark.parametrize(("outside", "verdict"), [(0, "more"), (1, "more"), (8, "right"), (14, "right"), (40, "fewer")])
def test_shares_of_intervals_are_judged(outside: int, verdict: str) -> None:
    assert calibration([3.0] * outside + [0.5] * (200 - outside)).held.verdict == verdict


@pytest.mark.parametrize(("error", "verdict"), [(1.5, "larger"), (1.0, "right"), (0.5, "smaller")])
def test_errors_are_compared_with_those_expected(error: float, verdict: str) -> None:
    found = calibration([error] * 50)
    assert found.errors_made == verdict
    assert found.expected_error == pytest.approx(1.0)
    # Nothing was expected to be off, and nothing was.
    assert calibration([0.0] * 40, expected=0.0).errors_made == "right"


def sampled(found: Calibration, count: int) -> Calibration:
    """Mark the first items as sampled."""
    return replace(found, frame=found.frame.with_columns(sampled=pl.int_range(pl.len()) < count))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (calibration([0.5] * 200), "All 200 judged items lie within the model's 95% intervals, more than expected"),
        (calibration([3.0] + [0.5] * 399), "99% of 400 judged items lie within"),
        (calibration([3.0] * 40 + [0.5] * 160), "80% of 200 judged items lie within the model's 95% intervals, fewer"),
        (calibration([1.5] * 50, fine=False), "Over 50 judged items, the errors of the model are larger"),
        (calibration([0.25] * 50), "root mean square error is 0.25; it expects 1.0"),
        (calibration([0.5] * 50), "Unless they were drawn at random"),
        (calibration([0.5] * 50, complete=True), "Everything is judged"),
        (sampled(calibration([0.5] * 50), 50), "All of them were drawn at random"),
        (sampled(calibration([0.5] * 50), 40), "Of the 40 among them that were drawn at random, 100% do"),
        (sampled(calibration([0.5] * 50, fine=False), 40), "Unless they were drawn at random"),
    ],
)
def test_the_page_says_how_well_the_model_predicts(
    made: earmark.SyntheticCollection, found: Calibration, said: str
) -> None:
    findings = replace(
        gather_findings(earmark.Campaign.build(made.runs, predictor="uniform"), forecast=False), calibration=found
    )
    assert said in " ".join(report_html(findings).replace("&#39;", "'").split())


def test_a_share_has_bounds() -> None:
    held = calibration([3.0] * 10 + [0.0] * 90).held
    assert held == Held(90, 100, held.low, held.high)
    assert held.low < held.share == 0.9 < held.high
