"""Diagnosis: an honest predictor looks honest, an overconfident one does not."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

import earmark
from earmark.beliefs.beliefs import AssessorGains, Beliefs, from_probabilities, item_gains
from earmark.campaign.problem import Problem
from earmark.data.collection import Collection
from earmark.data.scales import BROAD
from earmark.errors import ParameterError
from earmark.predictors import Predictor, Setting
from earmark.predictors.choose import PredictorChoice
from earmark.simulation import synthetic_collection
from earmark.simulation.diagnosis import diagnose

LEVELS = np.array([0.0, 1.0, 2.0])


class Given(Predictor):
    """Believes what it is told to."""

    name: ClassVar[str] = "given"

    def __init__(self, setting: Setting, chances: np.ndarray) -> None:
        super().__init__(setting)
        self.chances = chances

    def predict(
        self, judged_gain: np.ndarray, answers: AssessorGains | None = None, *, order: np.ndarray | None = None
    ) -> Beliefs:
        return from_probabilities(self.chances, scale=BROAD, judged_gain=judged_gain)


@pytest.fixture(scope="module")
def setting() -> Setting:
    made = synthetic_collection(np.random.default_rng(3), systems=6, queries=40, documents=400, scale=BROAD)
    return Setting(Collection.from_runs(made.runs, metadata=made.metadata), BROAD)


def problem(setting: Setting, predictor: str | np.ndarray) -> Problem:
    """By a predictor's name, or by the probabilities to believe in."""
    if isinstance(predictor, str):
        return Problem(setting, earmark.parse("AG@5"), PredictorChoice(predictor))
    return Problem(setting, earmark.parse("AG@5"), lambda where: Given(where, predictor))


def drawn(setting: Setting, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and gains that were really drawn from them, independently."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet([1.0, 1.0, 1.0], setting.collection.n_items)
    return chances, LEVELS[(rng.random((len(chances), 1)) > chances.cumsum(axis=1)[:, :2]).sum(axis=1)]


def test_honest_and_overconfident_predictors_are_told_apart(setting: Setting) -> None:
    held, sure = [], []
    for seed in range(60):
        chances, truth = drawn(setting, seed)
        sharper = chances**4 / (chances**4).sum(axis=1, keepdims=True)
        for believed, found in ((chances, held), (sharper, sure)):
            found.append(diagnose(problem(setting, believed), truth, share=0.0, rng=np.random.default_rng(seed)))
    coverage = np.mean([found.coverage["pairs"].to_list() for found in held], axis=0)
    assert np.all(np.abs(coverage - [0.60, 0.90, 0.95, 0.99]) < [0.05, 0.035, 0.025, 0.012])
    ratio = np.mean([found.scores["variance"] / found.scores["error"] for found in held])
    assert ratio == pytest.approx(1.0, abs=0.05)
    assert np.mean([found.coverage["pairs"][2] for found in sure]) < 0.85
    assert np.mean([found.scores["reliability"] for found in sure]) > 2 * np.mean(
        [found.scores["reliability"] for found in held]
    )
    assert np.mean([f.scores["rps"] for f in sure]) > np.mean([f.scores["rps"] for f in held])


def test_only_what_is_left_is_held_against_it(setting: Setting) -> None:
    _, truth = drawn(setting, 0)
    found = diagnose(problem(setting, "ordinal"), truth, share=0.5, rng=np.random.default_rng(0), repeats=3)
    assert found.share == 0.5
    assert found.bins["pairs"].sum() == 3 * 15
    assert found.scores["rps"] == pytest.approx(
        found.scores["reliability"] - found.scores["resolution"] + found.scores["uncertainty"], abs=0.02
    )


def test_says_what_it_needs(setting: Setting) -> None:
    _, truth = drawn(setting, 0)
    uniform = problem(setting, "uniform")
    with pytest.raises(ParameterError, match="at least 0 and below 1, got 1"):
        diagnose(uniform, truth, share=1.0, rng=np.random.default_rng(0))
    partly = np.where(np.arange(truth.size) == 3, -1.0, truth)
    with pytest.raises(ParameterError, match="1 items are not judged: a diagnosis needs the whole truth"):
        diagnose(uniform, partly, share=0.0, rng=np.random.default_rng(0))


def test_item_gains_are_what_was_judged() -> None:
    made = synthetic_collection(np.random.default_rng(3), systems=2, queries=3, documents=40)
    collection = Collection.from_runs(made.runs)
    assert (item_gains(collection, made.judgments) >= 0).all()
