"""Dawid–Skene on ordered levels: monotone iterations, brute force, coverage, relations and cost."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest
from grades_made import LevelCrowd, grading_crowd, level_crowd
from hypothesis import given
from hypothesis import strategies as st

from earmark.crowd.grade_answers import GradeAnswers
from earmark.crowd.grade_confusion import ConfusionIteration, Confusions, fit_grade_confusion
from earmark.errors import InputError, NotConverged, ParameterError


def iteration_of(crowd: LevelCrowd) -> ConfusionIteration:
    levels = np.arange(crowd.confusion.shape[1])
    pseudo = 2.0 ** (1 - np.abs(levels[:, None] - levels))
    return ConfusionIteration(crowd.answers, crowd.answers.gain.astype(np.int64), pseudo)


def brute_force(em: ConfusionIteration, state: Confusions) -> float:
    """Sum over all true levels of every item what its answers would have been worth, and add the prior."""
    total = float((em.pseudo_counts * np.log(state.confusion)).sum() + np.log(state.prevalence).sum())
    for item in range(em.answers.n_items):
        here = np.flatnonzero(em.answers.item == item)
        chance = 0.0
        for truth in range(em.n_levels):
            worth = state.prevalence[truth]
            for answer in here:
                worth *= state.confusion[em.answers.assessor[answer], truth, em.said[answer]]
            chance += worth
        total += np.log(chance)
    return float(total)


@given(st.integers(0, 1000), st.integers(2, 5))
def test_every_iteration_raises_the_density(seed: int, levels: int) -> None:
    crowd = level_crowd(np.random.default_rng(seed), items=15, assessors=4, per_item=3, levels=levels)
    em = iteration_of(crowd)
    state, reached = em.maximise(em.vote_shares()), -np.inf
    for _ in range(15):
        truth, objective = em.expect(state)
        assert objective >= reached - 1e-9
        assert truth.sum(axis=1) == pytest.approx(1)
        state, reached = em.maximise(truth), objective
    assert em.expect(state)[1] == pytest.approx(brute_force(em, state))
    assert state.confusion.sum(axis=2) == pytest.approx(1)


def test_no_neighbour_is_more_probable() -> None:
    crowd = level_crowd(np.random.default_rng(5), items=30, assessors=5)
    found = fit_grade_confusion(crowd.answers, tolerance=1e-9)
    em = ConfusionIteration(crowd.answers, np.searchsorted(found.gains, crowd.answers.gain), found.typical)
    assert em.expect(found.state)[1] == pytest.approx(found.log_posterior)
    for assessor in range(5):
        for truth in range(3):
            for said in range(3):
                for step in (0.98, 1.02):
                    moved = found.state.confusion.copy()
                    moved[assessor, truth, said] *= step
                    moved /= moved.sum(axis=2, keepdims=True)
                    assert em.expect(Confusions(moved, found.state.prevalence))[1] < found.log_posterior + 1e-9


def test_reliable_assessors_outvote_others() -> None:
    """Two who are always right, among themselves, against three who guess."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 300)
    said = np.stack([truth, truth, *rng.integers(0, 3, (3, 300))], axis=1).astype(np.float64)
    answers = GradeAnswers(
        pl.DataFrame({"query": ["q"] * 300, "document": [f"d{one}" for one in range(300)]}),
        tuple("abcde"),
        level_crowd(rng).answers.scale,
        np.repeat(np.arange(300), 5),
        np.tile(np.arange(5), 300),
        said.ravel(),
    )
    found = fit_grade_confusion(answers)
    assert (found.items()["gain"] == truth.astype(np.float64)).mean() > 0.98  # type: ignore[operator]
    votes = np.array([np.bincount(row.astype(int), minlength=3).argmax() for row in said])
    assert (votes == truth).mean() < 0.95
    assert set(found.assessors()["assessor"][:2]) == {"a", "b"}
    people = found.assessors().sort("assessor")
    assert people["scale_use"].to_list() == pytest.approx([1, 1, 0, 0, 0], abs=0.2)
    assert (people["reliability_low"] < people["reliability"]).all()
    assert (people["reliability"] < people["reliability_high"]).all()


def test_severe_and_mild_assessors() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 4, 200)
    rows = np.stack([truth, np.maximum(truth - (rng.random(200) < 0.6), 0), np.minimum(truth + 1, 3), truth], axis=1)
    answers = GradeAnswers(
        pl.DataFrame({"query": ["q"] * 200, "document": [f"d{one}" for one in range(200)]}),
        ("exact", "severe", "mild", "too"),
        level_crowd(rng, levels=4).answers.scale,
        np.repeat(np.arange(200), 4),
        np.tile(np.arange(4), 200),
        rows.ravel().astype(np.float64),
    )
    bias = dict(fit_grade_confusion(answers).assessors().select("assessor", "bias").rows())
    assert bias["severe"] < bias["exact"] < bias["mild"]


def held(crowd: LevelCrowd) -> dict[str, float]:
    found = fit_grade_confusion(crowd.answers)
    items, people = found.items(), found.assessors().sort("assessor")
    gains = np.arange(crowd.confusion.shape[1])
    share = np.bincount(crowd.level, minlength=gains.size) / crowd.level.size
    off = gains - share @ gains
    bias = np.einsum("jty,t,ty->j", crowd.confusion, share, gains[None, :] - gains[:, None])
    weight = crowd.answers.answers_of_assessor / crowd.answers.gain.size
    truth = {
        "reliability": np.einsum("jtt,t->j", crowd.confusion, share),
        "bias": bias - weight @ bias,
        "scale_use": np.einsum("jty,t,y->j", crowd.confusion, share * off, gains) / (share @ off**2),
    }
    inside = (items["low"].to_numpy() <= crowd.level) & (crowd.level <= items["high"].to_numpy())
    shares = {"gain": float(np.mean(inside))}
    for name, value in truth.items():
        low, high = people[f"{name}_low"].to_numpy(), people[f"{name}_high"].to_numpy()
        shares[name] = float(np.mean((low <= value) & (value <= high)))
    return shares


def coverage(repeats: int, **size: int) -> dict[str, float]:
    found = [held(level_crowd(np.random.default_rng([13, repeat]), **size)) for repeat in range(repeats)]
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def test_intervals_hold() -> None:
    shares = coverage(30)
    assert shares["gain"] >= 0.95
    assert all(share >= 0.88 for share in shares.values()), shares


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "least"),
    [
        ({"items": 500}, 0.91),
        ({"items": 30, "assessors": 3, "per_item": 3}, 0.85),
        ({"items": 100, "assessors": 40, "per_item": 3}, 0.92),
        ({"items": 300, "assessors": 20, "per_item": 5, "levels": 5}, 0.89),
        ({"items": 300, "assessors": 20, "per_item": 5, "levels": 11}, 0.8),
    ],
)
def test_intervals_hold_in_crowds_of_all_sizes(size: dict[str, int], least: float) -> None:
    shares = coverage(150, **size)
    assert shares["gain"] >= 0.93
    assert all(share >= least for share in shares.values()), shares


def test_what_cannot_be_fitted() -> None:
    with pytest.raises(ParameterError, match="at most 11 levels, not for fine: use linear"):
        fit_grade_confusion(grading_crowd(np.random.default_rng(0), fine=True).answers)
    rng = np.random.default_rng(3)
    with pytest.raises(InputError, match="got every item judged by one"):
        fit_grade_confusion(level_crowd(rng, per_item=1).answers)
    with pytest.raises(NotConverged, match="did not settle in 1 iterations"):
        fit_grade_confusion(level_crowd(rng).answers, max_iterations=1)


def test_many_answers_in_seconds() -> None:
    crowd = level_crowd(np.random.default_rng(0), items=20_000, assessors=200, per_item=5)
    started = time.process_time()
    found = fit_grade_confusion(crowd.answers)
    assert time.process_time() - started < 30
    assert (found.items()["gain"].to_numpy() == crowd.level).mean() > 0.88
