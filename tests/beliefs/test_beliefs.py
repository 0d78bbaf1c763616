"""Beliefs: moments by hand, quadratic forms by writing out the matrix, samples by counting."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from enumerated import FIVE, collection_of, random_beliefs
from scipy.sparse import csr_array

from earmark.beliefs import beliefs as module
from earmark.beliefs.beliefs import UNJUDGED, from_probabilities, item_gains, uniform_beliefs
from earmark.data.judgments import Judgments
from earmark.data.scales import BINARY, BROAD, FINE, ORDERED, parse_scale
from earmark.errors import ParameterError

COLLECTION = collection_of(FIVE)
TEN = [11.0 * level for level in range(10)]


def test_moments_of_the_example_in_the_appendix_of_mtc():
    beliefs = from_probabilities([[0.0491, 0.2441, 0.7068]], scale=BROAD)
    assert beliefs.mean == pytest.approx([1.6577], abs=5e-5)
    assert beliefs.variance == pytest.approx([0.3233], abs=5e-5)


@pytest.mark.parametrize(
    ("scale", "mean", "variance"),
    [(BINARY, 0.5, 0.25), (BROAD, 1.0, 2 / 3), (FINE, 50.0, 850.0), (parse_scale("0.0..1.0"), 0.5, 0.085)],
)
def test_moments_of_uniform_beliefs(scale, mean, variance):
    beliefs = uniform_beliefs(COLLECTION, scale=scale)
    assert beliefs.mean == pytest.approx(np.full(5, mean))
    assert beliefs.variance == pytest.approx(np.full(5, variance))
    assert beliefs.n_judged == 0


def test_a_judged_item_keeps_its_raw_gain_though_models_have_ten_levels():
    prior = from_probabilities(np.full((2, 10), 0.1), scale=FINE, levels=TEN)
    assert prior.mean == pytest.approx([49.5, 49.5])
    beliefs = prior.with_judgments([1], [37.0])
    assert beliefs.mean.tolist()[1] == 37.0
    assert beliefs.variance.tolist()[1] == 0.0
    assert beliefs.judged.tolist() == [False, True]
    assert prior.n_judged == 0


def test_a_certain_level_has_no_variance_at_all():
    beliefs = from_probabilities(np.eye(10), scale=FINE, levels=TEN)
    assert beliefs.mean.tolist() == TEN
    assert not beliefs.variance.any()


def test_the_most_probable_label_and_the_nearest():
    even = [1 / 3, 1 / 3, 1 / 3]
    beliefs = from_probabilities([[0.1, 0.3, 0.6], [0.5, 0.5, 0.0], even, [0.0, 0.5, 0.5]], scale=BROAD)
    assert beliefs.expected.most_probable.tolist() == [2.0, 0.0, 0.0, 1.0]
    # From halfway on, the higher level: the paper rounds .95 to 1.0 on a scale of tenths.
    assert beliefs.expected.nearest.tolist() == [2.0, 1.0, 1.0, 2.0]


def test_the_quadratic_form_is_that_of_the_diagonal_matrix():
    rng = np.random.default_rng(5)
    beliefs = random_beliefs(COLLECTION, rng, scale=BROAD, judged={2: 1.0})
    weights = rng.normal(size=(4, 5)) * rng.integers(0, 2, (4, 5))
    written_out = weights @ np.diag(beliefs.variance) @ weights.T
    for form in (weights, csr_array(weights)):
        assert beliefs.quadratic(form) == pytest.approx(written_out)


def test_samples_have_the_probabilities_of_the_levels():
    rng = np.random.default_rng(8)
    beliefs = random_beliefs(COLLECTION, rng, scale=BROAD, judged={3: 2.0})
    n = 40_000
    drawn = beliefs.sample(rng, n)
    assert drawn.shape == (n, 5)
    assert np.all(drawn[:, 3] == 2.0)
    for level in range(3):
        expected = beliefs.expected.probabilities[:, level]
        error = np.sqrt(expected * (1 - expected) / n)
        others = [0, 1, 2, 4]
        assert np.all(np.abs((drawn == level).mean(axis=0) - expected)[others] < 4.5 * error[others])
    # Independent of each other.
    assert np.abs(np.corrcoef(drawn[:, others].T) - np.eye(4)).max() < 4.5 / np.sqrt(n)


def test_levels_that_cannot_occur_are_never_drawn():
    # 0.7 + 0.2 + 0.1 falls short of 1 in binary fractions.
    beliefs = from_probabilities([[0.0, 0.7, 0.2, 0.1, 0.0]] * 3, scale=parse_scale("0..4"))

    class Ends:
        def random(self, shape):
            return np.broadcast_to([[0.0], [np.nextafter(1.0, 0.0)]], shape)

    assert beliefs.draw(Ends(), 2).tolist() == [[1.0] * 3, [3.0] * 3]


def test_chunks_do_not_change_what_is_drawn(monkeypatch):
    beliefs = random_beliefs(COLLECTION, np.random.default_rng(1), scale=BROAD)
    at_once = beliefs.sample(np.random.default_rng(2), 25)
    monkeypatch.setattr(module, "_CHUNK", 35)
    chunks = list(beliefs.sample_chunks(np.random.default_rng(2), 25))
    assert [len(chunk) for chunk in chunks] == [7, 7, 7, 4]
    assert np.array_equal(np.concatenate(chunks), at_once)
    assert beliefs.sample(np.random.default_rng(2), 0).shape == (0, 5)


def test_judging_an_item_changes_the_draws_of_that_item_alone():
    beliefs = random_beliefs(COLLECTION, np.random.default_rng(1), scale=BROAD)
    before = beliefs.sample(np.random.default_rng(2), 50)
    after = beliefs.with_judgments([1], [2.0]).sample(np.random.default_rng(2), 50)
    assert np.array_equal(np.delete(before, 1, axis=1), np.delete(after, 1, axis=1))
    assert np.all(after[:, 1] == 2.0)


def test_gains_of_items_from_judgments():
    rows = [
        ("q", "d1", 2.0, "x"),
        ("q", "d1", 1.0, "y"),
        ("q", "d2", 0.0, "x"),
        ("q", "d3", -2.0, "x"),
        ("q", "nobody retrieved it", 2.0, "x"),
        ("r", "d1", 2.0, "x"),
    ]
    frame = pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row")
    gains = item_gains(COLLECTION, Judgments.from_frame(frame, scale=BROAD))
    assert gains.tolist() == [1.5, 0.0, UNJUDGED, UNJUDGED, UNJUDGED]


@pytest.mark.parametrize(
    ("probabilities", "options", "message"),
    [
        ([[0.5, 0.5]], {}, r"expected probabilities of shape \(items, 3\), got \(1, 2\)"),
        ([0.2, 0.3, 0.5], {}, r"expected probabilities of shape \(items, 3\), got \(3,\)"),
        ([[1, 0, 0], [0.5, 0.2, 0.2]], {}, r"that sum to 1, got \[0.5, 0.2, 0.2\] for item 1"),
        ([[1.5, -0.5, 0]], {}, r"probabilities of 0 or more that sum to 1, got \[1.5, -0.5, 0.0\] for item 0"),
        ([[np.nan, 0.5, 0.5]], {}, "for item 0"),
        ([[1, 0, 0]], {"levels": [0, 2, 1]}, "levels are two or more ascending gains"),
        ([[1, 0, 0]], {"levels": [0, 1, 3]}, "are worth 0 to 2, got levels from 0 to 3"),
        ([[1, 0, 0]], {"judged_gain": [1.0, 2.0]}, r"one judged gain for each of 1 items, got shape \(2,\)"),
        ([[1, 0, 0]], {"judged_gain": [3.0]}, "expected judged gains of 0 to 2, .* got 3"),
        ([[1, 0, 0]], {"judged_gain": [np.nan]}, "got nan"),
        ([[1, 0, 0]], {"judged_gain": [-np.inf]}, "got -inf"),
        ([[1, 0]], {"scale": ORDERED}, "the scale 'ordered' only orders documents"),
    ],
)
def test_what_is_no_belief_is_refused(probabilities, options, message):
    with pytest.raises(ParameterError, match=message):
        from_probabilities(probabilities, **{"scale": BROAD, **options})


def test_judging_off_the_scale_is_refused():
    with pytest.raises(ParameterError, match="expected judged gains of 0 to 2"):
        uniform_beliefs(COLLECTION, scale=BROAD).with_judgments([0], [5.0])
