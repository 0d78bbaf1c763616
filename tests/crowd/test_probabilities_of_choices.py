"""The probability of a choice is as often right as it says, where pairs differ in difficulty and some mislead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from answers_made import answers_of_differing_difficulty
from numpy.typing import NDArray

from earmark.crowd.aggregation import Method, aggregate_preferences
from earmark.crowd.majority import majority_probability
from earmark.crowd.worker_model import WorkerModel, fit_worker_model
from earmark.data.arrays import Floats

METHODS: tuple[Method, ...] = ("majority", "one-coin", "dawid-skene")
SURE = 0.95


def probabilities(method: Method, *, seed: int, studies: int, **crowd: Any) -> tuple[Floats, Floats, Floats]:
    """Return how probable choices are, whether people lean to them, and whether they are the better document."""
    rng = np.random.default_rng(seed)
    probability, lean, better = [], [], []
    for _ in range(studies):
        preferences, misled = answers_of_differing_difficulty(rng, **crowd)
        made = aggregate_preferences(preferences, method=method).preferences
        for row in made.filter(made["choice"] != "same").iter_rows(named=True):
            chosen = row[row["choice"]]
            probability.append(row["probability"])
            better.append(chosen.startswith("better"))
            lean.append(better[-1] != misled[int(chosen.removeprefix("better").removeprefix("worse"))])
    return np.array(probability), np.array(lean, dtype=float), np.array(better, dtype=float)


@pytest.mark.parametrize("method", METHODS)
def test_choices_are_as_often_right_as_they_say(method: Method) -> None:
    probability, lean, _ = probabilities(method, seed=11, studies=6)
    assert -0.06 < probability.mean() - lean.mean() < 0.02
    sure = probability > SURE
    assert sure.mean() > 0.2
    assert lean[sure].mean() > probability[sure].mean() - 0.015


def test_pairs_of_equal_difficulty_say_more_than_is_right() -> None:
    """What the item effect is for: without one, five answers of a hard pair are believed like those of an easy one."""
    rng = np.random.default_rng(11)
    studies = [answers_of_differing_difficulty(rng, misleading=0.0)[0] for _ in range(6)]
    excess = {}
    for name, more in (("equal", {"difficulties": [0]}), ("differing", {})):
        models = [fit_worker_model(study, model="one-coin", **more) for study in studies]  # type: ignore[arg-type]
        said = np.mean([model.truth.max(axis=1) for model in models])
        excess[name] = said - np.mean([(model.answer > 0) == leans_to_first(model) for model in models])
    assert excess["equal"] > 0.03
    assert -0.06 < excess["differing"] < 0.01


def leans_to_first(model: WorkerModel) -> NDArray[np.bool_]:
    """Return for every pair whether its first document is the better one."""
    return np.array([model.pairs.documents[at].startswith("better") for at in model.pairs.first_index])


def test_difficulties_are_found() -> None:
    """Pairs on which twenty people are divided are harder than those on which they agree."""
    preferences, _ = answers_of_differing_difficulty(np.random.default_rng(2), pairs=100, per_pair=15)
    model = fit_worker_model(preferences)
    divided = np.minimum(model.pairs.first, model.pairs.second)
    assert model.difficulty[divided >= 6].min() > model.difficulty[divided == 0].max()


def test_a_majority_of_one_is_no_certainty() -> None:
    ahead = majority_probability(np.array([1, 0, 0]), np.array([0, 1, 0]))
    assert ahead == pytest.approx([0.75, 0.25, 0.5], abs=0.02)
    # Where people agree elsewhere, one answer says more; where they are divided, less.
    agreed = majority_probability(np.array([8] * 30 + [1]), np.array([0] * 30 + [0]))[-1]
    divided = majority_probability(np.array([4] * 30 + [1]), np.array([4] * 30 + [0]))[-1]
    assert agreed > 0.9
    assert divided < 0.6
    assert majority_probability(np.zeros(0, dtype=int), np.zeros(0, dtype=int)).size == 0


@pytest.mark.slow
@pytest.mark.parametrize("crowd", [{}, {"per_pair": 3}, {"per_pair": 10}, {"pairs": 60, "workers": 10, "per_pair": 3}])
@pytest.mark.parametrize("spread", [0.0, 0.8, 1.2])
@pytest.mark.parametrize("method", METHODS)
def test_study_of_probabilities(method: Method, spread: float, crowd: dict[str, int]) -> None:
    """Prints the table; said and right for all choices and for those that are called all but certain."""
    studies = 30
    probability, lean, better = probabilities(method, seed=29, studies=studies, spread=spread, **crowd)
    sure = probability > SURE
    error = lean.std() / np.sqrt(lean.size)
    line = (
        f"{method} spread {spread} {crowd}: said {probability.mean():.3f}, right {lean.mean():.3f} (se {error:.3f}), "
    )
    line += f"the better document {better.mean():.3f}"
    if sure.any():
        error = np.sqrt(0.01 / sure.sum())
        line += f"; {sure.mean():.2f} above {SURE}: said {probability[sure].mean():.3f}, right {lean[sure].mean():.3f}"
        line += f", the better document {better[sure].mean():.3f}"
        assert lean[sure].mean() > probability[sure].mean() - 0.02 - 3 * error
    print(line)
    assert lean.mean() > probability.mean() - 0.025
