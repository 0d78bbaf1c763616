"""Models of workers: another program, brute force over all true answers, recovered reliabilities, and linear cost."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from answers_made import answers, drawn_answers, peers
from hypothesis import given
from hypothesis import strategies as st

from earmark.crowd.worker_model import WorkerModel, WorkerModelName, fit_worker_model
from earmark.data.preferences import Preferences
from earmark.errors import NotConverged, ParameterError

MODELS: tuple[WorkerModelName, ...] = ("one-coin", "dawid-skene")


def golden_answers() -> Preferences:
    said = {"first": "a", "second": "b", "same": "same"}
    rows = [
        ("q", f"x{task}", f"y{task}", worker, said[label]) for task, worker, label in peers("worker_models")["rows"]
    ]
    return Preferences.from_frame(pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row"))


def test_crowd_kit() -> None:
    golden = peers("worker_models")
    # Without a prior; each question is there both ways round, so that both documents are true as often.
    free = fit_worker_model(golden_answers(), difficulties=[0], prior_weight=0, tolerance=1e-9, max_iterations=5000)
    assert free.truth == pytest.approx(np.array(golden["dawid_skene"]["truth"]), abs=1e-6)
    confusion = np.array([golden["dawid_skene"]["confusion"][worker] for worker in free.assessors])
    assert free.confusion == pytest.approx(confusion, abs=1e-6)
    coin = fit_worker_model(golden_answers(), model="one-coin", difficulties=[0], prior_weight=0, tolerance=1e-9)
    assert coin.truth == pytest.approx(np.array(golden["one_coin"]["truth"]), abs=1e-6)
    assert coin.reliability == pytest.approx(golden["one_coin"]["reliability"], abs=1e-6)


def brute_force_likelihood(preferences: Preferences, model: WorkerModel) -> float:
    """Sum over all true answers of each pair what the answers would have been worth."""
    pairs = preferences.pairs()
    total = 0.0
    for pair in range(len(pairs)):
        rows = np.flatnonzero(pairs.answer_pair == pair)
        chance = 0.0
        for truth, (difficulty, share) in product(
            range(3), zip(model.difficulties, model.difficulty_shares, strict=True)
        ):
            product_ = model.prevalence[truth] * share
            for row in rows:
                turned = pairs.answer_orientation[row] < 0
                shown = {0: 1, 1: 0, 2: 2}[truth] if turned else truth
                said = {1: 0, -1: 1, 0: 2}[int(preferences.sign[row])]
                worker = preferences.assessor_index[row]
                product_ *= (1 - difficulty) * model.confusion[worker, shown, said] + difficulty * model.guess[
                    worker, said
                ]
            chance += product_
        total += np.log(chance)
    return float(total)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("same", [0.0, 0.3])
def test_the_likelihood_by_brute_force(model: WorkerModelName, same: float) -> None:
    preferences = drawn_answers(np.random.default_rng(2), pairs=10, workers=7, per_pair=4, same=same)
    found = fit_worker_model(preferences, model=model)
    assert found.log_likelihood == pytest.approx(brute_force_likelihood(preferences, found))
    assert found.truth.sum(axis=1) == pytest.approx(np.ones(len(found.pairs)))
    assert found.prevalence.sum() == pytest.approx(1)
    kinds = 3 if same else 2
    assert found.confusion[:, :kinds].sum(axis=2) == pytest.approx(np.ones((len(found.assessors), kinds)))
    assert (found.truth[:, kinds:] == 0).all()


@pytest.mark.parametrize("model", MODELS)
def test_no_neighbour_is_more_probable(model: WorkerModelName) -> None:
    """Where turns end the posterior is at a maximum: a step in any worker's reliability loses."""
    preferences = drawn_answers(np.random.default_rng(5), pairs=20, workers=6, per_pair=4)
    found = fit_worker_model(preferences, model=model, tolerance=1e-8, max_iterations=5000)

    def posterior(confusion: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        moved = replace(found, confusion=confusion)
        counts = 2.0 * np.eye(2) + 0.5 * (1 - np.eye(2)) if model == "one-coin" else np.ones((2, 2)) + np.eye(2)
        return brute_force_likelihood(preferences, moved) + float((counts * np.log(confusion[:, :2, :2])).sum())

    best = posterior(found.confusion)
    for worker, sign in product(range(3), (-1, 1)):
        moved = found.confusion.copy()
        moved[worker, :2, :2] += sign * 1e-3 * np.array([[1, -1], [-1, 1]])
        assert posterior(moved) < best


@pytest.mark.parametrize("model", MODELS)
def test_reliabilities_are_recovered(model: WorkerModelName) -> None:
    rng = np.random.default_rng(7)
    workers, pairs = 30, 600
    accuracy = np.concatenate([rng.uniform(0.7, 0.95, size=25), np.full(5, 0.5)])
    truth = rng.random(pairs) < 0.5
    rows = []
    for pair in range(pairs):
        for worker in rng.choice(workers, size=6, replace=False):
            better = truth[pair] if rng.random() < accuracy[worker] else not truth[pair]
            turned = rng.random() < 0.5
            shown = (f"y{pair}", f"x{pair}") if turned else (f"x{pair}", f"y{pair}")
            rows.append(("q", *shown, f"w{worker:02d}", "a" if better != turned else "b"))
    preferences = Preferences.from_frame(
        pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row")
    )
    found = fit_worker_model(preferences, model=model)
    assert np.sqrt(np.mean((found.reliability - accuracy) ** 2)) < 0.05
    order = [int(name[1:]) for name in (f"x{pair}" for pair in range(pairs))]
    sorted_truth = truth[[order[int(found.pairs.documents[k][1:])] for k in found.pairs.first_index]]
    right = np.mean((found.answer > 0) == sorted_truth)
    majority = np.mean((found.pairs.winner > 0) == sorted_truth)
    assert right >= majority
    assert right > 0.9
    table = found.workers()
    assert table["reliability"].is_sorted(descending=True)
    assert set(table["assessor"][-5:]) == {f"w{worker}" for worker in range(25, 30)}


def test_who_favours_a_side_is_found() -> None:
    rng = np.random.default_rng(9)
    preferences = drawn_answers(rng, pairs=80, queries=3, per_pair=8)
    right = preferences.frame.with_columns(
        pl.when(pl.col("assessor") == "w03").then(pl.lit("b")).otherwise("choice").alias("choice")
    )
    table = fit_worker_model(Preferences.from_frame(right)).workers()
    favours = dict(zip(table["assessor"], table["right"], strict=True))
    assert favours["w03"] > 0.9
    assert max(value for name, value in favours.items() if name != "w03") < 0.75


def test_a_unanimous_crowd_and_an_even_one() -> None:
    found = fit_worker_model(answers("q x y aaa", "q x z bbb", "r x y bbb"), model="one-coin")
    assert found.answer.tolist() == [1, -1, -1]
    # Three pairs say little about how hard pairs are, and of hard ones nobody is sure.
    assert (found.reliability > 0.65).all()
    assert (fit_worker_model(answers("q x y aaa", "q x z bbb", "r x y bbb"), difficulties=[0]).reliability > 0.7).all()
    even = fit_worker_model(answers("q x y ab", "q x z ab", "q y z ba"), model="one-coin")
    assert even.answer.tolist() == [0, 0, 0]
    same = fit_worker_model(answers("q x y sss", "q x z ssa", "q y z bbb"))
    assert same.answer.tolist() == [0, 0, -1]


@given(st.integers(0, 10_000), st.sampled_from(MODELS))
def test_the_order_of_documents_and_answers_means_nothing(seed: int, model: WorkerModelName) -> None:
    preferences = drawn_answers(np.random.default_rng(seed), pairs=15, same=0.2)
    # Documents renamed so that their order is reversed: the first of a pair becomes the second.
    names = {f"d{k}": f"d{9 - k}" for k in range(10)}
    turned = Preferences.from_frame(preferences.frame.with_columns(pl.col("a", "b").replace(names))[::-1])
    one, other = fit_worker_model(preferences, model=model), fit_worker_model(turned, model=model)
    assert one.reliability == pytest.approx(other.reliability, abs=1e-6)
    assert sorted(one.truth[:, 0].tolist()) == pytest.approx(sorted(other.truth[:, 1].tolist()), abs=1e-6)


def test_what_is_refused() -> None:
    preferences = drawn_answers(np.random.default_rng(1))
    with pytest.raises(NotConverged, match="did not settle in 2 iterations: they still change by"):
        fit_worker_model(preferences, max_iterations=2, tolerance=1e-12)
    with pytest.raises(ParameterError, match="unknown model of workers 'glad': use one-coin or dawid-skene"):
        fit_worker_model(preferences, model="glad")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"difficulties are probabilities, one or more, got \[0, 2\]"):
        fit_worker_model(preferences, difficulties=[0, 2])
    with pytest.raises(ParameterError, match="weight of the prior is 0 or more, got -1"):
        fit_worker_model(preferences, prior_weight=-1)


def test_real_workers(melody_answers: pl.DataFrame) -> None:
    found = fit_worker_model(Preferences.from_frame(melody_answers))
    assert found.workers().height == 79
    assert 0.2 < found.reliability.min() < found.reliability.max() < 1
    # About as many pairs are the same as there are answers that say so.
    assert 0.35 < found.prevalence[2] < 0.65
