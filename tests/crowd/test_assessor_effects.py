"""Bias, scale use and noise of assessors: gradient, information, brute force, relations, coverage and cost."""

from __future__ import annotations

import time

import numpy as np
import polars as pl
import pytest
from grades_made import GradingCrowd, grading_crowd, judgments_of
from scipy import stats

from earmark.crowd.assessor_effects import AssessorEffects, fit_assessor_effects
from earmark.crowd.assessor_posterior import MarginalPosterior
from earmark.crowd.grade_answers import GradeAnswers
from earmark.data.arrays import Floats
from earmark.errors import InputError, NotConverged


def posterior_of(crowd: GradingCrowd) -> MarginalPosterior:
    answers = crowd.answers
    scaled = (answers.gain - answers.gain.mean()) / answers.gain.std()
    back = np.full(answers.n_assessors, 1.5)
    return MarginalPosterior(answers.item, answers.assessor, scaled, answers.n_items, answers.n_assessors, 0.01, back)


@pytest.fixture
def somewhere() -> tuple[MarginalPosterior, Floats]:
    rng = np.random.default_rng(4)
    posterior = posterior_of(grading_crowd(rng, items=20, assessors=5))
    start = posterior.start()
    return posterior, start + rng.normal(0, 0.1, start.size)


def test_the_gradient(somewhere: tuple[MarginalPosterior, Floats]) -> None:
    posterior, at = somewhere
    steps = 1e-6 * np.eye(at.size)
    differences = [posterior.value_and_gradient(at + h)[0] - posterior.value_and_gradient(at - h)[0] for h in steps]
    assert posterior.value_and_gradient(at)[1] == pytest.approx(np.array(differences) / 2e-6, abs=1e-5)


def test_the_information_is_the_curvature(somewhere: tuple[MarginalPosterior, Floats]) -> None:
    posterior, at = somewhere
    steps = 1e-5 * np.eye(at.size)
    differences = [posterior.value_and_gradient(at - h)[1] - posterior.value_and_gradient(at + h)[1] for h in steps]
    assert posterior.information(at)[0] == pytest.approx(np.array(differences) / 2e-5, abs=1e-5)


def test_the_likelihood_is_that_of_correlated_answers(somewhere: tuple[MarginalPosterior, Floats]) -> None:
    posterior, at = somewhere
    size = posterior.n_assessors
    bias, use, noise = at[:size], at[size : 2 * size], np.exp(at[2 * size : 3 * size])
    total = 0.0
    for item in range(posterior.n_items):
        here = posterior.item == item
        who = posterior.assessor[here]
        covariance = np.diag(noise[who]) + np.exp(at[-2]) * np.outer(use[who], use[who])
        total += stats.multivariate_normal(at[-3] + bias[who], covariance).logpdf(posterior.answer[here])
    precision = -0.5 * posterior.precise**2 * (1 / noise[posterior.assessor]).sum()
    assert posterior.expect(at).log_likelihood == pytest.approx(total + precision)


def test_no_neighbour_is_more_probable() -> None:
    crowd = grading_crowd(np.random.default_rng(1))
    found = fit_assessor_effects(crowd.answers)
    again = fit_assessor_effects(crowd.answers)
    assert (found.gain == again.gain).all()
    assert found.log_posterior == again.log_posterior


def test_other_units_and_names_change_nothing() -> None:
    crowd = grading_crowd(np.random.default_rng(2), items=40)
    found = fit_assessor_effects(crowd.answers)
    answers = crowd.answers
    rng = np.random.default_rng(0)
    names = rng.permutation(answers.n_assessors)
    moved = GradeAnswers(
        answers.items, answers.assessors, answers.scale, answers.item, names[answers.assessor], answers.gain / 2 + 100
    )
    other = fit_assessor_effects(moved)
    # All but exactly: the least error is a share of a step of the scale, which stays as it is.
    assert other.gain == pytest.approx(found.gain / 2 + 100, abs=0.2)
    assert other.bias[names] == pytest.approx(found.bias / 2, abs=0.2)
    assert other.reliability[names] == pytest.approx(found.reliability, abs=0.01)


def test_who_is_reliable_counts_more() -> None:
    rng = np.random.default_rng(7)
    quality = rng.normal(50, 20, 200)
    rows = []
    for name, error in (("careful", 3.0), ("usual", 10.0), ("careless", 30.0)):
        rows += [("q", f"d{one}", q + rng.normal(0, error), name) for one, q in enumerate(quality)]
    frame = pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row")
    answers = GradeAnswers(
        frame.select("query", "document").unique(maintain_order=True),
        ("careful", "usual", "careless"),
        grading_crowd(rng).answers.scale,
        np.tile(np.arange(200), 3),
        np.repeat(np.arange(3), 200),
        frame["gain"].to_numpy(),
    )
    order = np.argsort(answers.item, kind="stable")
    answers = GradeAnswers(
        answers.items,
        answers.assessors,
        answers.scale,
        answers.item[order],
        answers.assessor[order],
        answers.gain[order],
    )
    found = fit_assessor_effects(answers)
    assert found.noise[2] == pytest.approx(30, rel=0.1)
    assert found.assessors()["assessor"].to_list() == ["careful", "usual", "careless"]
    mean = np.bincount(answers.item, answers.gain) / 3
    # A third of the error of the mean, for the careless one hardly counts.
    assert np.mean((found.gain - quality) ** 2) < np.mean((mean - quality) ** 2) / 5


def test_somebody_who_shares_nothing_is_left_open() -> None:
    crowd = grading_crowd(np.random.default_rng(3), items=30, assessors=5)
    frame = judgments_of(crowd.answers).frame
    alone = pl.DataFrame({"query": ["q"] * 2, "document": ["x", "y"], "gain": [480.0, 520.0], "assessor": ["lone"] * 2})
    found = fit_assessor_effects(
        GradeAnswers.of(
            type(judgments_of(crowd.answers)).from_frame(pl.concat([frame, alone]), scale=crowd.answers.scale)
        )
    )
    row = found.assessors().filter(pl.col("assessor") == "lone").row(0, named=True)
    assert row["answers"] == 2
    assert row["reliability"] is row["bias"] is row["noise_low"] is None
    items = found.items().filter(pl.col("document").is_in(["x", "y"]))
    widths = (found.items()["high"] - found.items()["low"]).median()
    assert (items["high"] - items["low"]).min() > widths  # type: ignore[operator]


def test_what_cannot_be_fitted() -> None:
    crowd = grading_crowd(np.random.default_rng(3), per_item=1)
    with pytest.raises(InputError, match="expected items that several assessors judged, got every item judged by one"):
        fit_assessor_effects(crowd.answers)
    several = grading_crowd(np.random.default_rng(3)).answers
    same = GradeAnswers(
        several.items, several.assessors, several.scale, several.item, several.assessor, np.full(several.gain.size, 3.0)
    )
    with pytest.raises(InputError, match="expected answers that differ, got all 180 of them 3"):
        fit_assessor_effects(same)
    with pytest.raises(NotConverged, match="did not settle in 2 iterations"):
        fit_assessor_effects(several, max_iterations=2)


def test_complete_agreement_ends() -> None:
    rows = [("q", f"d{one}", one % 3, name) for one in range(9) for name in "xyz"]
    frame = pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row")
    found = fit_assessor_effects(
        GradeAnswers.of(type(judgments_of(grading_crowd(np.random.default_rng(0)).answers)).from_frame(frame))
    )
    assert found.gain == pytest.approx([0, 1, 2] * 3, abs=0.05)
    assert (found.reliability > 0.95).all()


def held(found: AssessorEffects, crowd: GradingCrowd) -> dict[str, float]:
    """Return what share of the intervals of items and of assessors hold."""
    items, people = found.items(), found.assessors().sort("assessor")
    low, high = items["low"].to_numpy(), items["high"].to_numpy()
    shares = {"gain": float(np.mean((low <= crowd.gain) & (crowd.gain <= high)))}
    for name in ("bias", "scale_use", "noise", "reliability"):
        truth = getattr(crowd, name)
        low, high = people[f"{name}_low"].to_numpy(), people[f"{name}_high"].to_numpy()
        shares[name] = float(np.mean((low <= truth) & (truth <= high)))
    return shares


def coverage(repeats: int, **size: int | bool) -> dict[str, float]:
    found = []
    for repeat in range(repeats):
        crowd = grading_crowd(np.random.default_rng([11, repeat]), **size)  # type: ignore[arg-type]
        found.append(held(fit_assessor_effects(crowd.answers), crowd))
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def test_intervals_hold() -> None:
    shares = coverage(40)
    assert all(0.92 <= share <= 0.995 for share in shares.values()), shares


@pytest.mark.slow
@pytest.mark.parametrize(
    "size",
    [
        {"items": 60, "assessors": 8, "per_item": 3},
        {"items": 20, "assessors": 3, "per_item": 3},
        {"items": 20, "assessors": 10, "per_item": 2},
        {"items": 200, "assessors": 20, "per_item": 5},
        {"items": 100, "assessors": 60, "per_item": 3},
        {"items": 100, "assessors": 12, "per_item": 4, "skewed": True},
        {"items": 100, "assessors": 12, "per_item": 4, "fine": True},
    ],
)
def test_intervals_hold_in_crowds_of_all_sizes(size: dict[str, int]) -> None:
    shares = coverage(200, **size)
    assert all(share >= 0.90 for share in shares.values()), shares
    assert shares["gain"] >= 0.94


def test_intervals_are_no_wider_than_they_have_to_be() -> None:
    """Narrower than those of the mean, where assessors differ."""
    crowd = grading_crowd(np.random.default_rng(5), items=400, assessors=20, per_item=5)
    found = fit_assessor_effects(crowd.answers)
    items = found.items()
    mean = np.bincount(crowd.answers.item, crowd.answers.gain) / 5
    pooled = np.sqrt(((crowd.answers.gain - mean[crowd.answers.item]) ** 2).sum() / (crowd.answers.gain.size - 400))
    assert (items["high"] - items["low"]).mean() < 2 * 1.96 * pooled / np.sqrt(5)  # type: ignore[operator]


def test_many_answers_in_seconds() -> None:
    crowd = grading_crowd(np.random.default_rng(0), items=20_000, assessors=200, per_item=5)
    started = time.process_time()
    found = fit_assessor_effects(crowd.answers)
    assert time.process_time() - started < 30
    assert np.corrcoef(found.bias, crowd.bias)[0, 1] > 0.99
