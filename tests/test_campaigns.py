"""Simulated campaigns: what they report is what is true, and repeats do not depend on how they are run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import earmark
from earmark.campaign.problem import Problem
from earmark.errors import ParameterError
from earmark.simulation import synthetic_collection
from earmark.simulation.campaigns import Study, outcomes_frame, simulate, summary
from earmark.simulation.diagnosis import diagnose


def study(
    *,
    batch: int = 20,
    sample_systems: int | None = None,
    sample_queries: int | None = None,
    **how: object,
) -> Study:
    made = synthetic_collection(np.random.default_rng(8), systems=5, queries=20, documents=200)
    told = {"measure": "AG@5", "stop": "budget:60", "metadata": made.metadata, "predictor": "mtc-judge"} | how
    problem = Problem.build(made.runs, judgments=made.judgments, **told)  # type: ignore[arg-type]
    return Study(problem, made.judgments, batch, sample_systems, sample_queries)


def test_every_campaign_ends_in_a_stop() -> None:
    outcomes = list(simulate(study(), repeats=3))
    assert [outcome.judged for outcome in outcomes] == [0, 20, 40, 60] * 3
    assert [outcome.kind for outcome in outcomes] == ["step", "step", "step", "stop"] * 3
    assert all(outcome.reason for outcome in outcomes if outcome.kind == "stop")
    frame = outcomes_frame(outcomes)
    assert frame["coverage_pairs_95"].is_between(0, 1).all()
    averaged = summary([outcome for outcome in outcomes if outcome.kind == "stop"])
    assert averaged["repeats"] == 3
    assert averaged["judged"] == 60


def test_with_everything_judged_all_is_right() -> None:
    last = list(simulate(study(stop="none", batch=100)))[-1]
    assert (last.accuracy, last.tau, last.coverage_pairs_95, last.coverage_systems_95) == (1, 1, 1, 1)
    assert (last.rmse, last.half_width_systems, last.mean_confidence) == (0, 0, 1)


def test_processes_do_not_change_the_results() -> None:
    options = {"sample_systems": 3, "sample_queries": 10, "stop": "budget:20"}
    assert list(simulate(study(**options), repeats=3, jobs=2)) == list(simulate(study(**options), repeats=3))


def test_repeats_are_played_with_other_systems_and_queries() -> None:
    firsts = [next(study(sample_systems=3, sample_queries=10).repeat(number)) for number in range(4)]
    assert len({outcome.rmse for outcome in firsts}) == 4
    with pytest.raises(ParameterError, match="9 systems cannot be drawn from 5"):
        next(study(sample_systems=9).repeat(0))


def test_measures_that_are_not_linear_are_scored_too() -> None:
    last = list(simulate(study(measure="nDCG@5", predictor="uniform", stop="budget:40", batch=40)))[-1]
    assert last.accuracy is not None
    assert 0 <= last.accuracy <= 1


def test_real_numbers_without_judgments(mirex: Path) -> None:
    """Without judgments L_output claims .95 and is right for 90% of the pairs; 58% and 61% of its intervals hold."""
    judgments = earmark.read_judgments(mirex / "judgments.txt")
    problem = Problem.build(
        earmark.read_runs(mirex / "runs.txt"),
        judgments=judgments,
        measure="AG@5",
        predictor="mtc-output",
        metadata=earmark.read_metadata(mirex / "metadata.txt"),
        stop="budget:20",
    )
    first = next(Study(problem, judgments).repeat(0))
    assert first.mean_confidence == pytest.approx(0.9505, abs=0.0005)
    assert first.accuracy == pytest.approx(0.902, abs=0.0005)
    assert first.accuracy_significant == 1.0
    assert first.coverage_pairs_95 == pytest.approx(0.58, abs=0.005)
    assert first.coverage_systems_95 == pytest.approx(0.61, abs=0.005)


def test_campaigns_in_one_call() -> None:
    made = earmark.synthetic_collection(np.random.default_rng(5), systems=4, queries=12, documents=120)
    played = earmark.simulate_campaigns(
        made.runs, made.judgments, metadata=made.metadata, stop="budget:60", repeats=2, seed=7, measure="AG@5"
    )
    problem = Problem.build(
        made.runs,
        judgments=made.judgments,
        measure="AG@5",
        predictor="hierarchical",
        stop="budget:60",
        metadata=made.metadata,
        seed=7,
    )
    study = Study(problem, made.judgments)
    assert played.outcomes == tuple(simulate(study, repeats=2))
    assert played.stops()["judged"].to_list() == [60, 60]
    assert played.summary() == summary([one for one in played.outcomes if one.kind == "stop"])
    assert played.to_polars().height == len(played.outcomes)


def test_a_diagnosis_in_one_call() -> None:
    made = earmark.synthetic_collection(np.random.default_rng(5), systems=4, queries=12, documents=120)
    found = earmark.diagnose_predictor(made.runs, made.judgments, share=0.25, predictor="uniform", seed=3)
    campaign = earmark.Campaign.build(made.runs, made.judgments, predictor="uniform")
    direct = diagnose(campaign.problem, campaign.gains, share=0.25, rng=np.random.default_rng(3))
    assert found.scores == direct.scores
    assert found.coverage.equals(direct.coverage)
    assert found.bins.equals(direct.bins)
