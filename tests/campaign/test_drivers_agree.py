"""Every driver of a campaign says the same: commands on files, Python, simulation and a fresh start, to the bit.

What the commands said before campaigns were built from one problem and one log is recorded in ``goldens``.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from campaigns_recorded import made_up, recorded, write_files
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign, oracle, step
from earmark.campaign.loop import play
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Inference
from earmark.cli.main import main
from earmark.data.judgments import Judgments
from earmark.data.scales import BINARY, FINE
from earmark.data.writers import write_judgments
from earmark.simulation.campaigns import Study

PREDICTORS = ("uniform", "mtc-output", "mtc-judge", "ordinal", "hierarchical")
POLICIES = ("mtc", "mtc-undecided", "mtc-undecided:doubt", "absolute", "variance", "random", "balanced", "proportional")
MEASURES = ("AG@5", "DCG@5", "nDCG@5", "RBP(p=0.8)@5", "P@5")
INFERENCES = (
    Inference(),
    Inference(target="population"),
    Inference(level=0.9, distribution="t"),
    Inference("design"),
    Inference("design", target="population"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("collection")
    write_files(made)
    return made


def call(capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str]) -> list[dict[str, Any]]:
    runs = [str(folder / "runs.tsv"), "--metadata", str(folder / "metadata.csv"), "--quiet", "--format", "jsonl"]
    code = main([arguments[0], *runs, *arguments[1:]])
    said = capsys.readouterr()
    assert code == 0, said.err
    return [json.loads(line) for line in said.out.splitlines()]


# ---- as before -------------------------------------------------------------------------------------------------------


def numbers(command: str, rows: list[dict[str, Any]]) -> list[list[Any]]:
    if command == "next":
        return [[row["priority"], row["sampled"]] for row in rows]
    if command == "rank":
        return [[value for value in row.values() if isinstance(value, float)] for row in rows]
    return [[value for value in row.values() if isinstance(value, int | float)] for row in rows]


@pytest.mark.parametrize("case", recorded(), ids=lambda case: case["args"].replace(" --scale fine -m AG@5", ""))
def test_commands_print_what_they_printed(case, folder, capsys):
    arguments = [str(folder / word) if word.endswith(".csv") else word for word in case["args"].split()]
    found = numbers(arguments[0], call(capsys, folder, arguments))
    assert len(found) == len(case["rows"])
    for ours, theirs in zip(found, case["rows"], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-9)


# ---- all drivers -----------------------------------------------------------------------------------------------------


def cases() -> list[tuple[str, str, str, Inference]]:
    """Every predictor with every policy, every measure with every inference; the ordinal model with each of both."""
    by_policy = itertools.product(PREDICTORS, POLICIES, ("AG@5",), (Inference(),))
    by_measure = itertools.product(("hierarchical",), ("proportional",), MEASURES, INFERENCES)
    graded = itertools.cycle(measure for measure in MEASURES if measure != "P@5")
    by_pair = [("ordinal", "proportional", measure, how) for measure, how in zip(graded, INFERENCES, strict=False)]

    def possible(case: tuple[str, str, str, Inference]) -> bool:
        # The ordinal model needs more levels, and precision has no estimate by a sample of items.
        return case[2] != "P@5" or (case[0] == "hierarchical" and case[3].mode == "model")

    return [case for case in (*by_policy, *by_measure, *by_pair) if possible(case)]


def options(case: tuple[str, str, str, Inference]) -> list[str]:
    predictor, _, measure, how = case
    said = ["-m", measure, "--predictor", predictor, "--scale", "binary" if measure == "P@5" else "fine"]
    return [*said, "--inference", how.mode, "--target", how.target]


def name(case: tuple[str, str, str, Inference]) -> str:
    return "-".join([*case[:3], case[3].mode, case[3].target, case[3].distribution])


def built(case: tuple[str, str, str, Inference], *, stop: str, seed: int) -> Problem:
    predictor, policy, measure, how = case
    made = made_up()
    scale = BINARY if measure == "P@5" else FINE
    return Problem.build(
        made.runs,
        metadata=made.metadata,
        measure=measure,
        scale=scale,
        predictor=predictor,
        policy=policy,
        inference=how,
        stop=stop,
        seed=seed,
        update_every=1,
    )


def truth_of(problem: Problem) -> np.ndarray:
    gains = item_gains(problem.collection, made_up().judgments)
    return (gains >= 50).astype(float) if problem.scale == BINARY else gains


def same(one: Campaign, other: Campaign) -> None:
    """Two campaigns agree to the bit: beliefs, verdict, stop and proposal."""
    np.testing.assert_array_equal(one.beliefs.mean, other.beliefs.mean)
    np.testing.assert_array_equal(one.beliefs.variance, other.beliefs.variance)
    for field in ("low", "high", "confidence", "rank"):
        np.testing.assert_array_equal(getattr(one.ranking, field), getattr(other.ranking, field))
    assert one.decision == other.decision
    ours, theirs = one.propose(7), other.propose(7)
    np.testing.assert_array_equal(ours.items, theirs.items)
    np.testing.assert_array_equal(ours.priority, theirs.priority)
    np.testing.assert_array_equal(ours.sampled, theirs.sampled)


@pytest.mark.parametrize("case", cases(), ids=name)
def test_files_python_simulation_and_a_fresh_start_agree(case, folder, tmp_path, capsys):
    # One that the simulation derives for its first repeat, so that all drivers use it.
    seed = int(np.random.SeedSequence([4, 0]).generate_state(1)[0])
    problem = built(case, stop="budget:67", seed=seed)
    truth = truth_of(problem)
    end = list(play(Campaign(problem), oracle(truth), batch=11))[-1]
    assert end.judged == 67

    fresh = Campaign(built(case, stop="budget:67", seed=seed), end.log)
    same(fresh, end)
    assert fresh.problem.digest == problem.digest
    again = step(problem, end.log, n=7)
    assert again.look is not None
    assert again.look.decision.stop
    assert len(again.proposal) == 0
    # As it would go on with another stop rule.
    open_end = replace(problem, stop=built(case, stop="none", seed=seed).stop)
    proposal = Campaign(open_end, end.log).propose(7)

    study = Study(replace(built(case, stop="budget:67", seed=4)), recorded_judgments(problem), batch=11)
    last = list(study.repeat(0))[-1]
    assert (last.judged, last.mean_confidence) == (67, end.ranking.mean_confidence)
    assert last.reason == end.decision.reason

    if case[3].distribution == "t":
        return
    answers = tmp_path / "answers.csv"
    assert end.judgments is not None
    write_judgments(end.judgments, answers)
    shuffled = pl.read_csv(answers).sample(fraction=1.0, shuffle=True, seed=1)
    shuffled.write_csv(answers)
    given = ["--judgments", str(answers), "--seed", str(seed), *options(case)]
    rows = call(capsys, folder, ["rank", *given, "--no-audit", "--stop", "budget:67"])
    systems = [row for row in rows if row["kind"] == "system"]
    at = [end.ranking.estimates.systems.index(row["system"]) for row in systems]
    np.testing.assert_array_equal([row["estimate"] for row in systems], end.ranking.estimates.scores.mean[at])
    summary = rows[-1]
    assert summary["mean_confidence"] == end.ranking.mean_confidence
    assert (summary["stop"], summary["reason"]) == (True, end.decision.reason)
    asked = call(capsys, folder, ["next", *given, "--policy", case[1], "--stop", "none", "-n", "7"])
    frame = end.proposal_frame(proposal)
    assert [(row["query"], row["document"]) for row in asked] == frame.select("query", "document").rows()
    assert [row["priority"] for row in asked] == frame["priority"].to_list()
    assert [row["sampled"] for row in asked] == frame["sampled"].to_list()


def recorded_judgments(problem: Problem) -> Judgments:
    frame = problem.items.with_columns(gain=pl.Series(truth_of(problem)))
    return Judgments.from_frame(frame, scale=problem.scale)


def test_commands_are_the_same_in_processes_of_their_own(folder, capsys):
    arguments = ["--judgments", str(folder / "judged40.csv"), "-m", "AG@5", "--scale", "fine"]
    for command in ("rank", "next"):
        here = call(capsys, folder, [command, *arguments])
        shared = [str(folder / "runs.tsv"), "--metadata", str(folder / "metadata.csv"), "--quiet", "--format", "jsonl"]
        called = [sys.executable, "-m", "earmark.cli", command, *shared, *arguments]
        there = subprocess.run(called, capture_output=True, text=True, check=True).stdout
        assert [json.loads(line) for line in there.splitlines()] == here


def test_answers_of_several_assessors_go_through_the_loop_as_through_rank(folder, capsys):
    made = made_up()
    several = Campaign.build(made.runs, metadata=made.metadata, measure="AG@5", scale=FINE)
    for who in ("x", "y"):
        frame = pl.read_csv(folder / "several.csv").filter(pl.col("assessor") == who)
        several = several.with_judgments(Judgments.from_frame(frame, scale=FINE))
    assert several.evidence.answers is not None
    arguments = ["--judgments", str(folder / "several.csv"), "-m", "AG@5", "--scale", "fine"]
    assert call(capsys, folder, ["rank", *arguments])[-1]["mean_confidence"] == several.ranking.mean_confidence
