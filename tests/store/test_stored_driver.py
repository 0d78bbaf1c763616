"""The stored campaign is one more driver: it says what a campaign in memory says, to the bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from campaigns_recorded import made_up, write_files
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign, oracle, step
from earmark.campaign.evidence import Answers
from earmark.campaign.loop import play
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import parse_stop
from earmark.campaign.verdict import Inference
from earmark.cli.main import main
from earmark.data.scales import FINE
from earmark.store.exports import export
from earmark.store.folder import CampaignFolder
from earmark.store.inputs import add_inputs
from earmark.store.settings import Estimates, Judging, Settings, Traps
from earmark.store.stored import StoredCampaign, open_campaign

CASES = {
    "hierarchical-variance": {},
    "hierarchical-audited": {"audit": 0.2},
    "hierarchical-design": {"policy": "proportional", "inference": "design"},
    "hierarchical-nDCG-population": {"measure": "nDCG@5", "target": "population", "samples": 200},
    "ordinal-mtc": {"predictor": "ordinal", "policy": "mtc"},
    "uniform-random": {"predictor": "uniform", "policy": "random"},
    "mtc-judge-balanced": {"predictor": "mtc-judge", "policy": "balanced"},
}
SEED = 4


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("collection")
    write_files(made)
    return made


def make(files: Path, path: Path, how: dict, *, store: str | None = None, **judging: object) -> CampaignFolder:
    def settings(folder: Path) -> Settings:
        inputs = add_inputs(folder, runs=[files / "runs.tsv"], files={"metadata": files / "metadata.csv"})
        estimates = Estimates(**{"measure": "AG@5", "stop": "budget:75", "seed": SEED, **how})
        asked = Judging(scale="fine", **judging)
        return Settings(name="study", inputs=inputs, judging=asked, estimates=estimates, traps=Traps(rate=0))

    return CampaignFolder.create(path, settings, store=store)


def in_memory(how: dict) -> Problem:
    made = made_up()
    # Settings that say nothing of an audit have none.
    given = {"measure": "AG@5", "stop": "budget:75", "audit": 0.0, **how}
    inference = Inference(given.pop("inference", "model"), given.pop("target", "sample"))
    return Problem.build(made.runs, metadata=made.metadata, scale=FINE, seed=SEED, inference=inference, **given)


def same(one: Campaign, other: Campaign) -> None:
    """Two campaigns agree to the bit: beliefs, verdict, stop and proposal, also as they would go on."""
    np.testing.assert_array_equal(one.gains, other.gains)
    np.testing.assert_array_equal(one.beliefs.mean, other.beliefs.mean)
    np.testing.assert_array_equal(one.beliefs.variance, other.beliefs.variance)
    for field in ("low", "high", "confidence", "rank"):
        np.testing.assert_array_equal(getattr(one.ranking, field), getattr(other.ranking, field))
    assert one.decision == other.decision
    assert one.position == other.position
    for a, b in ((one, other), (going_on(one), going_on(other))):
        ours, theirs = a.propose(7), b.propose(7)
        np.testing.assert_array_equal(ours.items, theirs.items)
        np.testing.assert_array_equal(ours.priority, theirs.priority)
        np.testing.assert_array_equal(ours.sampled, theirs.sampled)


def going_on(campaign: Campaign) -> Campaign:
    return replace(campaign, problem=replace(campaign.problem, stop=parse_stop("none")))


def check_agreement(files: Path, path: Path, how: dict, store: str | None = None) -> None:
    problem = in_memory(how)
    truth = item_gains(problem.collection, made_up().judgments)
    *_, end = play(Campaign(problem), oracle(truth), batch=11)
    assert end.judged == 75
    make(files, path, how, store=store).close()
    begun = open_campaign(path)
    assert isinstance(begun, StoredCampaign)
    assert begun.problem.digest == problem.digest
    with begun.folder:
        *_, played = play(begun, oracle(truth), batch=11)
        same(played, end)
    again = open_campaign(path, read_only=True)
    assert isinstance(again, StoredCampaign)
    with again.folder:
        assert again.judged == 75
        same(again, end)
        replayed = step(problem, again.log, n=7)
        assert replayed.look is not None
        assert (replayed.look.decision, len(replayed.proposal)) == (end.decision, 0)
        same(Campaign(problem, again.log), end)


@pytest.mark.parametrize("how", CASES.values(), ids=CASES)
def test_a_stored_campaign_goes_as_one_in_memory(how, files, tmp_path):
    check_agreement(files, tmp_path / "study", how)


def test_a_campaign_in_postgresql_goes_as_one_in_memory(
    files: Path, tmp_path: Path, new_postgresql_database: Callable[[], str]
):
    check_agreement(files, tmp_path / "study", CASES["hierarchical-audited"], store=new_postgresql_database())


@pytest.mark.parametrize("how", [CASES["hierarchical-variance"], CASES["ordinal-mtc"]], ids=["hierarchical", "ordinal"])
@pytest.mark.parametrize("aggregation", ["mean", "median"])
def test_answers_of_several_assessors_count_as_in_memory(how, aggregation, files, tmp_path, capsys):
    problem = in_memory({**how, "aggregation": aggregation})
    truth = item_gains(problem.collection, made_up().judgments)
    rng = np.random.default_rng(0)
    place = {pair: item for item, pair in enumerate(problem.items.rows())}
    memory = Campaign(problem)
    folder = make(files, tmp_path / "study", {**how, "aggregation": aggregation}, judgments_per_item=2)
    with folder:
        for turn in range(60):
            who = ("ann", "bob", "cy")[turn % 3]
            question = folder.desk.take(who, ahead=0).questions[0]
            item = place[question.query, question.document]
            gain = float(np.clip(truth[item] + rng.integers(-5, 6), 0, 100))
            assert folder.desk.answer(who, question.id, key=f"{turn}", gain=gain).status == "saved"
            memory = memory.with_answers(Answers(np.array([item]), np.array([gain]), None, who))
        stored = StoredCampaign.read(folder)
        assert stored.evidence.answers is not None
        same(stored, memory)
        export(folder, tmp_path / "answers.csv")
    arguments = ["--judgments", "answers.csv", "--metadata", "metadata.csv", "--scale", "fine", "-m", "AG@5"]
    arguments += ["--seed", "4", "--aggregate", aggregation, "--predictor", how.get("predictor", "hierarchical")]
    named = {"answers.csv": tmp_path / "answers.csv", "metadata.csv": files / "metadata.csv"}
    code = main(["rank", str(files / "runs.tsv"), *(str(named.get(word, word)) for word in arguments), "-q"])
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert code == 0
    assert summary["mean_confidence"] == memory.ranking.mean_confidence
