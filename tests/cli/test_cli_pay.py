"""``earmark pay``: what is owed, and the files for the platforms."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli, Files

from earmark.store.folder import CampaignFolder
from earmark.store.sittings import begin_sitting


@pytest.fixture
def study(cli: Cli, files: Files) -> Path:
    folder = files.folder / "study"
    made = cli("init", folder, files.runs, "-m", "AG@3", "--scale", "broad", "--quiet")
    assert made.code == 0, made.err
    said = cli("set", folder, "traps.rate=0", "recruiting.answers_per_assignment=2", "recruiting.reward=1.5")
    assert said.code == 0, said.err
    return folder


def work(folder: Path, platform: str, worker: str, assignment: str, answers: int) -> str:
    with CampaignFolder.open(folder) as campaign:
        sitting = campaign.store.write(
            lambda change: begin_sitting(change, platform, worker=worker, assignment=assignment, study="H1")
        )
        for number in range(answers):
            question = campaign.desk.take(sitting.assessor, ahead=0).questions[0]
            campaign.desk.answer(sitting.assessor, question.id, key=f"{worker} {assignment} {number}", gain=1)
        return sitting.assessor


def test_nobody_has_come(cli: Cli, study: Path) -> None:
    assert "Nobody has come from a recruiting platform yet." in cli("pay", study, "--format", "table").out
    (row,) = cli("pay", study).rows
    assert (row["kind"], row["assignments"], row["owed"]) == ("summary", 0, 0.0)


def test_the_file_for_mechanical_turk(cli: Cli, study: Path, tmp_path: Path) -> None:
    assert cli("set", study, "recruiting.platform=mturk").code == 0
    work(study, "mturk", "W1", "A1", 2)
    work(study, "mturk", "W2", "A2", 1)
    bad = work(study, "mturk", "W3", "A3", 2)
    with CampaignFolder.open(study) as campaign:
        campaign.desk.reject(bad, "answered without listening")
    review = tmp_path / "review.csv"
    said = cli("pay", study, "-o", review)
    assert said.code == 0, said.err
    assert f"wrote {review}: 2 decisions\n" in said.err
    assert review.read_text().splitlines() == [
        "AssignmentId,WorkerId,HITId,Approve,Reject",
        "A1,W1,H1,x,",
        "A3,W3,H1,,answered without listening",
    ]
    rows = [row for row in said.rows if row["kind"] == "assignment"]
    assert [(row["worker"], row["decision"], row["owed"]) for row in rows] == [
        ("W1", "approve", 1.5),
        ("W2", "unfinished", 0.0),
        ("W3", "reject", 0.0),
    ]
    shown = cli("pay", study, "--format", "table").out
    assert "Paid work, amounts in USD" in shown
    assert "answered without listening" in shown
    assert "1 to approve, 1 to reject, 1 not finished; 1.50 USD owed" in shown


def test_the_files_for_prolific(cli: Cli, study: Path, tmp_path: Path) -> None:
    # So high a rate that the moments which this test takes are paid too little.
    for setting in ("recruiting.platform=prolific", "recruiting.reward=0", "recruiting.hourly_rate=1000000"):
        assert cli("set", study, setting).code == 0
    work(study, "prolific", "p1", "s1", 2)
    review, bonuses = tmp_path / "review.csv", tmp_path / "bonuses.csv"
    said = cli("pay", study, "-o", review, "--bonuses", bonuses)
    assert said.code == 0, said.err
    assert review.read_text() == "participant_id,submission_id,decision,reason\np1,s1,approve,\n"
    who, amount = bonuses.read_text().strip().split(",")
    assert who == "p1"
    assert float(amount) > 0


def test_a_second_file_lists_what_is_new(cli: Cli, study: Path, tmp_path: Path) -> None:
    for setting in ("recruiting.platform=mturk", "recruiting.hourly_rate=1000000"):
        assert cli("set", study, setting).code == 0
    one = work(study, "mturk", "W1", "A1", 2)
    review, bonuses = tmp_path / "review.csv", tmp_path / "bonuses.csv"

    def write(*how: str) -> tuple[list[str], list[str], str]:
        said = cli("pay", study, "-o", review, "--bonuses", bonuses, *how)
        assert said.code == 0, said.err
        return review.read_text().splitlines()[1:], bonuses.read_text().splitlines()[1:], said.err

    first, paid, _ = write()
    assert first == ["A1,W1,H1,x,"]
    assert len(paid) == 1
    work(study, "mturk", "W2", "A2", 2)
    with CampaignFolder.open(study) as campaign:
        campaign.desk.reject(one, "answered without listening")
    second, paid, told = write()
    # The worker who was approved is not rejected afterwards, and nobody gets a bonus twice.
    assert second == ["A2,W2,H1,x,"]
    assert [line.split(",")[0] for line in paid] == ["W2"]
    assert "1 decision, without 1 of earlier files (--all writes them too)" in told
    assert write()[:2] == ([], [])
    every, paid, told = write("--all")
    assert every == ["A1,W1,H1,x,", "A2,W2,H1,x,"]
    assert [line.split(",")[0] for line in paid] == ["W1", "W2"]
    assert "of earlier files" not in told
    shown = cli("pay", study, "--format", "table").out
    assert "0 decisions not in a file yet" in shown


def test_what_is_owed_to_each_worker(cli: Cli, study: Path, tmp_path: Path) -> None:
    for assignment, answers in (("A1", 2), ("A2", 2), ("A3", 1)):
        work(study, "mturk", "W1", assignment, answers)
    work(study, "mturk", "=W2", "A4", 1)
    file = tmp_path / "workers.csv"
    said = cli("pay", study, "--workers", file)
    assert said.code == 0, said.err
    assert f"wrote {file}: 2 workers" in said.err
    header, first, second = file.read_text().splitlines()
    names = "worker,assessor,assignments,approve,reject,unfinished,answers,minutes,owed,hourly,bonus"
    assert header == names
    told = dict(zip(names.split(","), first.split(","), strict=True))
    assert [told[name] for name in ("worker", "assignments", "approve", "unfinished", "answers", "owed")] == [
        *("W1", "3", "2", "1", "5", "3.0")
    ]
    assert float(told["hourly"]) > 0
    # Nothing in the file is a formula.
    assert second.startswith("'=W2,")
    rows = [row for row in said.rows if row["kind"] == "worker"]
    assert [(row["worker"], row["owed"], row["hourly"]) for row in rows[1:]] == [("=W2", 0.0, None)]
    assert "By worker, amounts in USD" in cli("pay", study, "--format", "table").out


def test_a_file_needs_a_platform(cli: Cli, study: Path, tmp_path: Path) -> None:
    said = cli("pay", study, "-o", tmp_path / "review.csv")
    assert said.code == 2
    assert "the settings name no platform" in said.err
    assert not (tmp_path / "review.csv").exists()


def test_a_file_that_cannot_be_written(cli: Cli, study: Path, tmp_path: Path) -> None:
    assert cli("set", study, "recruiting.platform=mturk").code == 0
    said = cli("pay", study, "-o", tmp_path / "nowhere" / "review.csv")
    assert said.code == 2
    assert "expected an existing folder to write to" in said.err
