"""Scores of documents: other programs, a general optimiser, brute-force Hessians, and how often intervals hold."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from answers_made import answers, drawn_answers, peers
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize

from earmark.crowd.block_batches import make_stacks
from earmark.crowd.bradley_terry import fit_bradley_terry, fit_davidson
from earmark.crowd.davidson import outcome_probabilities
from earmark.crowd.paired_comparison import Comparisons, fit_comparisons
from earmark.data.arrays import Floats
from earmark.data.preferences import Preferences
from earmark.errors import NotConverged, ParameterError


def golden() -> tuple[Preferences, dict[str, list[float]], list[float]]:
    found = peers("paired_comparisons")
    rows = [("q", f"d{i}", f"d{j}", f"w{n}", choice) for n, (i, j, choice) in enumerate(found["rows"])]
    frame = pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row")
    return Preferences.from_frame(frame), found["choix"], found["evalica"]


def test_choix() -> None:
    preferences, penalties, _ = golden()
    for penalty, scores in penalties.items():
        # A penalty of alpha times the squares of the scores is a prior with a variance of 1 / (2 alpha).
        found = fit_bradley_terry(preferences, ties="ignore", prior_sd=(2 * float(penalty)) ** -0.5)
        assert found.fit.score == pytest.approx(scores, abs=1e-7)


def test_evalica() -> None:
    preferences, _, scores = golden()
    found = fit_bradley_terry(preferences, ties="half", prior_sd=1e4)
    assert found.fit.score == pytest.approx(scores, abs=1e-6)


def objective(comparisons: Comparisons, point: Floats, prior_sd: float) -> float:
    score, log_same = point[:-1], point[-1]
    weight = float(np.exp(log_same)) if comparisons.same.any() else 0.0
    told = comparisons.log_likelihood(score[comparisons.i] - score[comparisons.j], weight)
    return told - float(score @ score) / (2 * prior_sd**2) - log_same**2 / 50


def drawn_comparisons(rng: np.random.Generator, *, same: bool, weighted: bool = False) -> Comparisons:
    sizes = rng.integers(2, 7, size=4)
    block = np.repeat(np.arange(4), sizes)
    start = np.cumsum(sizes) - sizes
    pairs = [(s + i, s + j) for s, n in zip(start, sizes, strict=True) for i in range(n) for j in range(i + 1, n)]
    chosen = [pair for pair in pairs if rng.random() < 0.8 or pair[0] == pair[1] - 1]
    i, j = np.array(chosen).T
    first, second, ties = (rng.integers(0, 4, size=i.size).astype(np.float64) for _ in range(3))
    ties *= same
    answers_ = first + second + ties
    return Comparisons(block, i, j, first, second, ties, 1.5 * answers_ if weighted else answers_)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_general_optimiser_finds_the_same_maximum(seed: int, same: bool) -> None:
    comparisons = drawn_comparisons(np.random.default_rng(seed), same=same)
    found = fit_comparisons(comparisons, prior_sd=1.5)
    start = np.zeros(comparisons.block.size + 1)
    best = minimize(lambda point: -objective(comparisons, point, 1.5), start, method="BFGS", options={"gtol": 1e-6})
    assert found.score == pytest.approx(best.x[:-1], abs=1e-4)
    if same:
        assert np.log(found.same_weight) == pytest.approx(best.x[-1], abs=1e-4)
    # At the maximum the scores of a block have mean 0 by themselves.
    assert np.bincount(comparisons.block, found.score) == pytest.approx(np.zeros(4), abs=1e-8)


@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_standard_errors_by_brute_force(seed: int, same: bool) -> None:
    comparisons = drawn_comparisons(np.random.default_rng(seed), same=same)
    found = fit_comparisons(comparisons, prior_sd=1.5)
    size = comparisons.block.size + 1
    centre = np.append(found.score, np.log(found.same_weight) if same else 0.0)
    step = 1e-3 * np.eye(size)

    def value(offset: Floats) -> float:
        return objective(comparisons, centre + offset, 1.5)

    hessian = np.array([[value(a + b) - value(a - b) - value(b - a) + value(-a - b) for b in step] for a in step]) / (
        4e-6
    )
    covariance = -np.linalg.inv(hessian)[:-1, :-1]
    i, j = comparisons.i, comparisons.j
    apart = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
    assert found.difference_error == pytest.approx(np.sqrt(apart), rel=1e-3)
    # Relative to the mean of the block.
    own = comparisons.block[:, None] == comparisons.block
    centring = np.eye(size - 1) - own / own.sum(axis=1, keepdims=True)
    centred = centring @ covariance @ centring.T
    assert found.standard_error == pytest.approx(np.sqrt(np.diag(centred)), rel=1e-3)


def test_weights_widen_standard_errors() -> None:
    rng = np.random.default_rng(0)
    plain = fit_comparisons(drawn_comparisons(np.random.default_rng(1), same=False))
    weighted = fit_comparisons(drawn_comparisons(np.random.default_rng(1), same=False, weighted=True))
    assert np.all(weighted.standard_error > plain.standard_error)
    assert weighted.score == pytest.approx(plain.score)
    # Equal strengths are no strengths.
    given_ = drawn_answers(rng)
    equal = Preferences.from_frame(given_.frame.with_columns(pl.lit(3.0).alias("strength")))
    one, other = fit_bradley_terry(equal, strengths=True), fit_bradley_terry(equal)
    assert one.fit.score == pytest.approx(other.fit.score)
    assert one.fit.standard_error == pytest.approx(other.fit.standard_error)
    assert not np.allclose(fit_bradley_terry(given_, strengths=True).fit.score, fit_bradley_terry(given_).fit.score)


def test_strong_answers_count_more() -> None:
    found = fit_bradley_terry(answers("q x y abb", strength="511"), strengths=True)
    assert found.fit.difference[0] > 0
    assert fit_bradley_terry(answers("q x y abb", strength="511")).fit.difference[0] < 0


def test_one_pair_has_the_share_of_answers() -> None:
    found = fit_bradley_terry(answers("q x y aaab"), prior_sd=1000)
    assert found.probability == pytest.approx([0.75], abs=1e-4)
    # Davidson: as many of each outcome as there were.
    shares = fit_davidson(answers("q x y aaabss"), prior_sd=1000)
    first, second, same = outcome_probabilities(shares.fit.difference, shares.fit.same_weight)
    assert (first[0], second[0], same[0]) == pytest.approx((1 / 2, 1 / 6, 1 / 3), abs=0.01)


def test_scores_exist_whatever_was_answered() -> None:
    # x always wins, u and v were never compared with the others, and y and z are only ever the same.
    found = fit_davidson(answers("q x y aaa", "q x z aaa", "q y z sss", "q u v aab"))
    assert np.isfinite(found.fit.score).all()
    frame = found.to_polars()
    assert frame["document"][0] == "x"
    tied = frame.filter(pl.col("document").is_in(["y", "z"]))
    assert tied["rank"].n_unique() == 1
    assert fit_bradley_terry(answers("q x y sss"), ties="ignore").fit.score == pytest.approx([0, 0])
    assert fit_davidson(answers("q x y sss")).fit.same_weight > 2
    # Nobody said same: Davidson's model is Bradley and Terry's.
    given_ = drawn_answers(np.random.default_rng(1))
    assert fit_davidson(given_).fit.score == pytest.approx(fit_bradley_terry(given_).fit.score)
    # Parts that nothing connects are told apart by the prior alone.
    apart = fit_bradley_terry(answers("q x y aab", "q u v aab"))
    assert apart.fit.standard_error.max() > apart.fit.difference_error.max() / 2


@given(st.integers(0, 10_000))
def test_queries_do_not_touch_each_other(seed: int) -> None:
    given_ = drawn_answers(np.random.default_rng(seed), pairs=20, queries=3)
    together = fit_bradley_terry(given_).to_polars()
    for query in given_.queries:
        alone = fit_bradley_terry(given_.select(queries=[query])).to_polars()
        here = together.filter(pl.col("query") == query)
        assert here["document"].to_list() == alone["document"].to_list()
        assert here["score"].to_list() == pytest.approx(alone["score"].to_list(), abs=1e-6)
        assert here["standard_error"].to_list() == pytest.approx(alone["standard_error"].to_list(), abs=1e-6)


@given(st.integers(0, 10_000))
def test_turning_all_choices_round_turns_the_scores_round(seed: int) -> None:
    given_ = drawn_answers(np.random.default_rng(seed), pairs=15, same=0.3)
    turned = Preferences.from_frame(given_.frame.with_columns(pl.col("choice").replace({"a": "b", "b": "a"})))
    one, other = fit_davidson(given_).fit, fit_davidson(turned).fit
    assert one.score == pytest.approx(-other.score, abs=1e-6)
    assert one.same_weight == pytest.approx(other.same_weight, abs=1e-6)


def test_how_often_intervals_hold() -> None:
    rng = np.random.default_rng(6)
    n, blocks = 10, 60
    score = rng.normal(size=(blocks, n))
    places = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    i, j = [], []
    for number in range(blocks):
        chosen = places[rng.choice(len(places), size=25, replace=False)]
        i.append(number * n + chosen[:, 0])
        j.append(number * n + chosen[:, 1])
    at_i, at_j = np.concatenate(i), np.concatenate(j)
    flat = score.ravel()
    chances = np.stack(outcome_probabilities(flat[at_i] - flat[at_j], 0.7), axis=1)
    first, second, same = rng.multinomial(6, chances / chances.sum(axis=1, keepdims=True)).astype(np.float64).T
    block = np.repeat(np.arange(blocks), n)
    found = fit_comparisons(Comparisons(block, at_i, at_j, first, second, same, np.full(at_i.size, 6.0)))
    truth = (score - score.mean(axis=1, keepdims=True)).ravel()
    assert 0.92 < np.mean(np.abs(found.score - truth) < 1.96 * found.standard_error) < 0.98
    assert 0.92 < np.mean(np.abs(found.difference - (flat[at_i] - flat[at_j])) < 1.96 * found.difference_error) < 0.98
    assert found.same_weight == pytest.approx(0.7, rel=0.1)


def test_people_with_tastes_widen_intervals() -> None:
    """Answers of a person are alike: intervals of scores allow for it, and hold for people in general."""
    rng = np.random.default_rng(3)
    score, taste = 0.7 * rng.normal(size=(20, 6)), rng.normal(0, 1.5, size=(20, 4, 6))
    rows = []
    for q, i, j, w in product(range(20), range(6), range(6), range(4)):
        if i < j:
            odds = np.exp(score[q, i] + taste[q, w, i] - score[q, j] - taste[q, w, j])
            rows.append((f"q{q}", f"d{i}", f"d{j}", f"w{w}", "a" if rng.random() < odds / (1 + odds) else "b"))
    schema = ["query", "a", "b", "assessor", "choice"]
    people = pl.DataFrame(rows, schema=schema, orient="row")
    # The same answers, each of somebody else: nothing is shared.
    strangers = people.with_columns(pl.format("w{}", pl.int_range(pl.len())).alias("assessor"))
    ours, independent = (fit_bradley_terry(Preferences.from_frame(frame)).fit for frame in (people, strangers))
    assert ours.score == pytest.approx(independent.score)
    assert np.mean(ours.standard_error) > 1.1 * np.mean(independent.standard_error)
    # What people in general choose is less clear than what each of them does.
    truth = (score - score.mean(axis=1, keepdims=True)).ravel() / np.sqrt(1 + 0.346 * 2 * 1.5**2)
    reach = stats.t.ppf(0.975, ours.degrees_of_freedom) * ours.standard_error
    assert set(ours.degrees_of_freedom.round(6).tolist()) <= {3.0, np.inf}
    assert np.mean(np.abs(ours.score - truth) < reach) > 0.92
    assert np.mean(np.abs(ours.score - truth) < 1.96 * independent.standard_error) < 0.85


def test_stacks_hold_every_block_and_edge_once() -> None:
    rng = np.random.default_rng(3)
    sizes = rng.integers(2, 40, size=50)
    block = np.repeat(np.arange(50), sizes)
    start = np.cumsum(sizes) - sizes
    i = np.concatenate([s + rng.integers(0, n, size=12) for s, n in zip(start, sizes, strict=True)])
    j = np.concatenate([s + rng.integers(0, n, size=12) for s, n in zip(start, sizes, strict=True)])
    weight = rng.random(i.size)
    stacks = make_stacks(block, i, j)
    assert 1 < len(stacks) < 20
    assert sorted(np.concatenate([stack.items for stack in stacks]).tolist()) == list(range(block.size))
    assert sorted(np.concatenate([stack.edges for stack in stacks]).tolist()) == list(range(i.size))
    whole = np.zeros((block.size, block.size))
    for one, other, w in zip(i, j, weight, strict=True):
        whole[one, one] += w
        whole[other, other] += w
        whole[one, other] -= w
        whole[other, one] -= w
    values = rng.random(block.size)
    for stack in stacks:
        product = (stack.laplacian(weight) @ stack.spread(values)[..., None]).reshape(-1)[stack.row]
        assert product == pytest.approx((whole @ values)[stack.items])


def test_what_is_refused() -> None:
    given_ = answers("q x y aab")
    with pytest.raises(NotConverged, match="did not settle in 1 steps: the largest slope is"):
        fit_bradley_terry(given_, max_iterations=1)
    with pytest.raises(ParameterError, match="standard deviation of scores is above 0, got 0"):
        fit_davidson(given_, prior_sd=0)
    with pytest.raises(ParameterError, match="unknown way with ties 'split': use half or ignore"):
        fit_bradley_terry(given_, ties="split")  # type: ignore[arg-type]
