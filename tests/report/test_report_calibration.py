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
from earmark.report.calibration import ENOUGH, Calibration, Held, calibrate, left_out
from earmark.report.quality import say_calibration
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
    found, predicted, variance, actual = left_out(beliefs)
    assert found.tolist() == items.tolist()
    whole = Dense(model, observed, theta[0])
    for at, item in enumerate(items):
        own = observed.item == item
        rest = without(observed, own)
        others, joint = np.flatnonzero(~own), whole.of_observations
        gain = np.linalg.solve(joint[np.ix_(others, others)], joint[np.ix_(others, np.flatnonzero(own))])
        residual = rest.value - model.prior_mean[rest.item]
        expected = model.prior_mean[item] + (gain.T @ residual).mean()
        spread = joint[np.ix_(own, own)] - joint[np.ix_(own, ~own)] @ gain
        assert predicted[at] == pytest.approx(100 * expected)
        assert variance[at] == pytest.approx(100**2 * spread.mean())
        assert actual[at] == pytest.approx(100 * observed.value[own].mean())


def test_predictions_are_those_of_the_beliefs_where_judgments_are_the_truth(made: earmark.SyntheticCollection) -> None:
    for predictor in ("hierarchical", "uniform"):
        beliefs = earmark.stand(made.runs, some(made, 60), metadata=made.metadata, predictor=predictor).beliefs
        items, predicted, variance, actual = left_out(beliefs)
        np.testing.assert_array_equal(items, np.flatnonzero(beliefs.judged))
        np.testing.assert_allclose(predicted, beliefs.leave_one_out()[items], atol=1e-9)
        np.testing.assert_allclose(actual, beliefs.judged_gain[items], atol=1e-9)
        assert np.all(variance > 0)


def test_few_judgments_are_not_worth_a_look(made: earmark.SyntheticCollection) -> None:
    assert calibrate(earmark.stand(made.runs)) is None
    assert calibrate(earmark.stand(made.runs, some(made, ENOUGH - 1))) is None
    found = calibrate(earmark.stand(made.runs, some(made, ENOUGH)))
    assert found is not None
    assert found.frame.columns == ["query", "document", "predicted", "low", "high", "actual"]
    assert found.frame.height == found.held.items == found.errors.n == ENOUGH
    assert not found.complete


def test_intervals_of_an_honest_model_hold_what_is_judged(made: earmark.SyntheticCollection) -> None:
    standing = earmark.stand(made.runs, metadata=made.metadata)
    held = items = 0
    for number in range(6):
        truth = standing.beliefs.draw(np.random.default_rng([8, number]), 1)[0]
        frame = standing.setting.collection.item_frame().select("query", "document")
        drawn = Judgments.from_frame(frame.with_columns(gain=pl.Series(truth.round())), scale=earmark.FINE)
        again = calibrate(earmark.stand(made.runs, drawn, metadata=made.metadata))
        assert again is not None
        assert again.complete
        held, items = held + again.held.held, items + again.held.items
    # A scale that ends cuts off the tails that the intervals make room for.
    assert 0.93 <= held / items <= 0.99


def test_sampled_items_are_counted_apart(made: earmark.SyntheticCollection) -> None:
    marked = some(made, 100, sampled=pl.int_range(pl.len()) < 40)
    found = calibrate(earmark.stand(made.runs, marked), marked)
    assert found is not None
    assert found.held_in_sample is not None
    assert found.held_in_sample.items == 40
    assert not found.all_sampled
    assert "Of the 40 among them that were drawn at random" in say_calibration(found)[1]
    every = some(made, 100, sampled=pl.lit(True))
    all_of_them = calibrate(earmark.stand(made.runs, every), every)
    assert all_of_them is not None
    assert all_of_them.all_sampled
    assert all_of_them.held_in_sample is None
    assert "All of them were drawn at random" in say_calibration(all_of_them)[1]


def calibration(
    errors: list[float], *, expected: float = 1.0, fine: bool = True, complete: bool = False
) -> Calibration:
    """Predictions of 0 that were off by so much, with intervals of two units to both sides."""
    off = np.array(errors)
    frame = pl.DataFrame({"predicted": np.zeros(off.size), "low": -2.0, "high": 2.0, "actual": off})
    spread = np.full(off.size, expected**2)
    return Calibration(frame, summarise_errors(np.zeros(off.size), spread, off), complete, fine)


@pytest.mark.parametrize(
    ("outside", "words"),
    [
        (0, "All 200 judged items lie within the model's 95% intervals, more than need be: about single items"),
        (1, "99% of 200 judged items"),
        (8, "96% of 200 judged items lie within the model's 95% intervals, as many as should."),
        (14, "93% of 200 judged items lie within the model's 95% intervals, as many as should."),
        (40, "80% of 200 judged items lie within the model's 95% intervals, fewer than should: about single items"),
    ],
)
def test_shares_of_intervals_are_judged(outside: int, words: str) -> None:
    said, caution = say_calibration(calibration([3.0] * outside + [0.5] * (200 - outside)))
    assert said.startswith(words)
    assert caution.startswith("Unless they were drawn at random, judged items are not like the others")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (1.5, "are larger than it expects: about single items it is surer than it may be. It misses by 1.5 (root"),
        (1.0, "are about as large as it expects. It misses by 1.0 (root mean square) and expects to miss by 1.0."),
        (0.5, "are smaller than it expects: about single items it is less sure than it could be. It misses by 0.50"),
    ],
)
def test_on_a_coarse_scale_errors_are_compared(error: float, words: str) -> None:
    said, _ = say_calibration(calibration([error] * 50, fine=False))
    assert said.startswith(f"Over 50 judged items, the errors of the model {words}")


def test_where_everything_is_judged_nothing_is_left_to_be_different() -> None:
    found = calibration([0.0, 0.5] * 30, complete=True)
    assert found.held_in_sample is None
    assert say_calibration(found)[1].startswith("Everything is judged")
    # Nothing was expected to be off, and nothing was.
    exact = say_calibration(replace(calibration([0.0] * 40, expected=0.0), fine=False))[0]
    assert "about as large as it expects" in exact


def test_a_share_has_bounds() -> None:
    held = calibration([3.0] * 10 + [0.0] * 90).held
    assert held == Held(90, 100, held.low, held.high)
    assert held.low < held.share == 0.9 < held.high
