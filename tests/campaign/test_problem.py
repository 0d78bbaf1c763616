"""A problem: only valid ones can be made, and what may change during a campaign."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Inference
from earmark.errors import InputError, ParameterError


@pytest.fixture(scope="module")
def made() -> earmark.SyntheticCollection:
    return earmark.synthetic_collection(np.random.default_rng(0), systems=4, queries=8, documents=60)


def test_what_is_not_said_has_sensible_defaults(made):
    problem = Problem.build(made.runs)
    assert str(problem.measure) == "AG@5"
    assert problem.scale == earmark.FINE
    assert (str(problem.policy), str(problem.stop)) == ("variance", "best:0.95:0.02")
    assert any("scale" in note for note in problem.notes)
    assert any("--measure" in note for note in problem.notes)


def test_a_verdict_by_design_draws_a_sample_unless_told_otherwise(made):
    assert str(Problem.build(made.runs, inference=Inference("design")).policy) == "proportional"
    assert str(Problem.build(made.runs, inference=Inference("design"), audit=0.3).policy) == "variance"
    with pytest.raises(ParameterError, match="needs a sample with known probabilities"):
        Problem.build(made.runs, inference=Inference("design"), policy="variance")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measure": "AP", "scale": earmark.parse_scale("fine"), "predictor": "nobody"}, "unknown predictor"),
        ({"policy": "nobody"}, "unknown policy"),
        ({"stop": "never"}, "stop rule"),
        ({"audit": 1.5}, "share of sampled judgments"),
        ({"samples": 1}, "2 draws"),
        ({"update_every": 0}, "1 or more"),
        ({"predictor": "mtc-output", "scale": earmark.parse_scale("0..3")}, "broad and fine"),
        ({"stop": "budget:10", "margin": 0.1}, "margin"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(made, settings, message):
    with pytest.raises(ParameterError, match=message):
        Problem.build(made.runs, **settings)


@pytest.mark.parametrize("how", [{"level": 1.0}, {"mode": "guess"}, {"target": "moon"}, {"distribution": "cauchy"}])
def test_no_inference_that_makes_no_sense_can_be_made(how):
    with pytest.raises(ParameterError):
        Inference(**how)


def test_files_about_other_documents_are_refused(made):
    other = earmark.Metadata(pl.DataFrame({"document": ["nobody"], "artist": ["x"]}))
    with pytest.raises(InputError, match="metadata of none of them"):
        Problem.build(made.runs, metadata=other)
    with pytest.raises(ParameterError, match="read it first"):
        Problem.build("runs.tsv")


def test_a_digest_tells_problems_apart(made):
    first = Problem.build(made.runs, metadata=made.metadata)
    assert first.digest == Problem.build(made.runs, metadata=made.metadata).digest
    others = [
        Problem.build(made.runs),
        Problem.build(made.runs, metadata=made.metadata, seed=1),
        Problem.build(made.runs, metadata=made.metadata, stop="min:0.95"),
        Problem.build(made.runs, metadata=made.metadata, predictor="uniform"),
        Problem.build(made.runs, metadata=made.metadata, inference=Inference(level=0.9)),
        first.select(queries=made.runs.queries[:5]),
    ]
    assert len({first.digest, *(one.digest for one in others)}) == len(others) + 1


def test_stop_rule_and_texts_may_change_and_what_answers_mean_may_not(made):
    problem = Problem.build(made.runs, metadata=made.metadata)
    stop = earmark.Problem.build(made.runs, stop="top:1").stop
    changed = problem.changed(stop=stop, texts={"question": "How similar?"})
    assert (changed.stop, changed.seed, changed.scale) == (stop, problem.seed, problem.scale)
    assert changed.predictor_version == problem.predictor_version
    for frozen in ({"seed": 2}, {"scale": earmark.BROAD}, {"predictor": "uniform"}, {"measure": "nDCG@5"}):
        with pytest.raises(ParameterError, match="cannot change during a campaign"):
            problem.changed(**frozen)
    with pytest.raises(ParameterError, match="decides what is sampled"):
        problem.changed(inference=Inference(whole_queries=True))


def test_the_version_of_a_predictor_names_what_it_was_fitted_to(made):
    with_metadata = Problem.build(made.runs, metadata=made.metadata).predictor_version
    assert with_metadata.startswith("hierarchical 3, prior ")
    assert Problem.build(made.runs).predictor_version != with_metadata


def test_a_quarter_of_the_judgments_is_sampled_beside_the_policy_variance_alone(made):
    assert Problem.build(made.runs).audit == 0.25
    assert Problem.build(made.runs, audit=0.0).audit == 0.0
    for policy in ("mtc", "random", "proportional", "balanced", "variance:absolute", "variance:top"):
        assert Problem.build(made.runs, policy=policy).audit == 0.0
    # Neither a verdict by design nor whole queries get a sample that nobody asked for.
    assert Problem.build(made.runs, inference=Inference("design")).audit == 0.0
    assert Problem.build(made.runs, inference=Inference(whole_queries=True)).audit == 0.0
