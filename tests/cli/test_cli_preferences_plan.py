"""``earmark preferences plan``, and ``earmark plan`` on the folder of a campaign of pair questions."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli, Files

from earmark.store.folder import CampaignFolder
from earmark.store.payments import budget_of

FIELDS = ["judgments_low", "judgments_median", "judgments_high", "hours", "cost"]


@pytest.fixture
def study(cli: Cli, files: Files) -> Path:
    folder = files.folder / "pairs"
    made = cli("init", folder, files.runs, "--kind", "prefer", "--depth", 3, "--judgments-per-item", 2, "--quiet")
    assert made.code == 0, made.err
    return folder


def test_the_row_has_the_promised_fields(cli: Cli, files: Files) -> None:
    said = cli("preferences", "plan", files.runs, "-k", 3, "--answers", 2, "--stop", "budget:4", "--repeats", 3)
    assert said.code == 0, said.err
    (row,) = said.rows
    assert list(row)[:5] == FIELDS
    assert (row["judgments_low"], row["judgments_median"], row["judgments_high"]) == (8, 8, 8)
    assert row["hours"] == pytest.approx(8 * 30 / 3600)
    assert row["cost"] == pytest.approx(0.16)
    assert "nobody has answered yet" in said.err


def test_answers_so_far_count(cli: Cli, files: Files, tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    answers.write_text("query,a,b,assessor,choice\nq1,a,b,ann,a\nq1,a,b,bob,a\n")
    said = cli(
        *("preferences", "plan", files.runs, "--preferences", answers, "-k", 3, "--answers", 2),
        *("--stop", "budget:4", "--repeats", 2),
    )
    (row,) = said.rows
    assert (row["judged"], row["judgments_median"]) == (2, 6)


def test_a_campaign_is_planned_by_its_settings(cli: Cli, study: Path) -> None:
    settings = ("estimates.stop=budget:5", "recruiting.seconds_per_answer=60", "recruiting.reward=2", "traps.rate=0")
    assert cli("set", study, *settings, "recruiting.answers_per_assignment=10").code == 0
    before = (study / "campaign.db").stat().st_size
    (row,) = cli("plan", study, "--repeats", 2).rows
    assert (row["judgments_median"], row["questions"], row["stop"]) == (10, 5, "budget:5")
    assert row["hours"] == pytest.approx(10 / 60)
    assert row["cost"] == pytest.approx(2.0)
    assert cli("preferences", "plan", study, "--repeats", 2).rows == [row]
    (other,) = cli("plan", study, "--repeats", 2, "--stop", "budget:3", "--cost", 1).rows
    assert (other["judgments_median"], other["cost"]) == (6, 6.0)
    assert (study / "campaign.db").stat().st_size == before
    shown = cli("plan", study, "--repeats", 2, "--format", "table").out
    assert "2 answers a question" in shown
    assert "About 10 answers of" in shown


def test_grades_are_planned_as_before(cli: Cli, files: Files) -> None:
    folder = files.folder / "graded"
    assert cli("init", folder, files.runs, "-m", "AG@3", "--scale", "broad", "--quiet").code == 0
    settings = ("recruiting.reward=1", "recruiting.answers_per_assignment=5", "traps.rate=0")
    assert cli("set", folder, *settings).code == 0
    (row,) = cli("plan", folder, "--repeats", 2, "--stop", "budget:5").rows
    assert (row["judgments_median"], row["cost"]) == (5, pytest.approx(1.0))
    # An option that is given wins.
    (row,) = cli("plan", folder, "--repeats", 2, "--stop", "budget:5", "--cost", 0.5).rows
    assert row["cost"] == pytest.approx(2.5)


def test_traps_and_several_people_come_on_top(cli: Cli, files: Files, study: Path) -> None:
    folder = files.folder / "graded"
    made = cli("init", folder, files.runs, "-m", "AG@3", "--scale", "broad", "--judgments-per-item", 3, "--quiet")
    assert made.code == 0
    assert cli("set", folder, "traps.rate=1/5").code == 0
    said = cli("plan", folder, "--repeats", 9, "--stop", "budget:4")
    told = (
        "3 people judge an item, up to 2 more answer where people disagree and one question in 5 is a trap: people are "
        "asked for 15 answers (15 to 25)"
    )
    assert told in said.err
    assert cli("set", study, "traps.rate=1/2", "judging.more_on_disagreement=0").code == 0
    said = cli("plan", study, "--repeats", 2, "--stop", "budget:4")
    assert "note: one question in 2 is a trap: people are asked for 16 answers (16 to 16)" in said.err
    shown = cli("plan", study, "--repeats", 2, "--stop", "budget:4", "--format", "table").out
    assert "answers, with traps" in shown
    assert "for which people give 16 answers, 0.1 hours of answering at 30 s each" in " ".join(shown.split())


@pytest.mark.parametrize("kind", ["grade", "prefer"])
def test_plan_and_the_page_of_the_organiser_agree(cli: Cli, files: Files, study: Path, kind: str) -> None:
    folder = study
    if kind == "grade":
        folder = files.folder / "graded"
        made = cli("init", folder, files.runs, "-m", "AG@3", "--scale", "broad", "--judgments-per-item", 3, "--quiet")
        assert made.code == 0
    settings = ("traps.rate=1/5", "recruiting.reward=2", "recruiting.answers_per_assignment=4")
    assert cli("set", folder, *settings, "recruiting.seconds_per_answer=60").code == 0
    (row,) = cli("plan", folder, "--repeats", 2, "--stop", "budget:4").rows
    # Four items judged by three people, or four pairs by two, are four fifths of all questions.
    answers, assignments = {"grade": (15, 4), "prefer": (10, 3)}[kind]
    assert row["answers_median"] == answers
    assert (row["hours"], row["cost"]) == (pytest.approx(answers / 60), assignments * 2.0)
    with CampaignFolder.open(folder) as opened:
        budget = budget_of(opened, row["answers_median"])
    assert (budget.hours, budget.cost) == (pytest.approx(row["hours"]), row["cost"])
    # A price that is given is that of an answer.
    (row,) = cli("plan", folder, "--repeats", 2, "--stop", "budget:4", "--cost", 1, "--assessors", 3).rows
    assert (row["cost"], row["hours_each"]) == (float(answers), pytest.approx(answers / 180))


@pytest.mark.parametrize("kind", ["order", "lists"])
def test_answers_of_other_kinds_are_counted(cli: Cli, files: Files, kind: str) -> None:
    folder = files.folder / kind
    made = cli("init", folder, files.runs, "--kind", kind, "--stop", "none", "--judgments-per-item", 2, "--quiet")
    assert made.code == 0
    settings = ("traps.rate=0", "recruiting.seconds_per_answer=60", "recruiting.reward=2")
    assert cli("set", folder, *settings, "recruiting.answers_per_assignment=4").code == 0
    with CampaignFolder.open(folder) as opened:
        questions = opened._questions(opened.removed()).height
    said = cli("plan", folder)
    (row,) = said.rows
    assert questions > 2
    assert list(row)[:5] == FIELDS
    assert (row["judgments_low"], row["judgments_median"], row["judged"]) == (2 * questions, 2 * questions, 0)
    assert row["answers_high"] == row["judgments_high"] >= row["judgments_low"]
    assert row["hours"] == pytest.approx(2 * questions / 60)
    assert row["cost"] == 2.0 * -(-2 * questions // 4)
    # A budget counts answers, and a width cannot be predicted.
    (less,) = cli("plan", folder, "--stop", "budget:3", "--cost", 1).rows
    assert (less["judgments_low"], less["judgments_high"], less["cost"]) == (3, 3, 3.0)
    wide = cli("plan", folder, "--stop", "width:0.2")
    assert [wide.rows[0][name] for name in FIELDS] == [row[name] for name in FIELDS]
    assert "width:0.2" in wide.err
    assert f"{2 * questions}" in cli("plan", folder, "--format", "table").out
    for wrong, message in ((("--stop", "mean:0.9"), f"kind {kind} stops by"), (("--policy", "random"), "--policy")):
        refused = cli("plan", folder, *wrong)
        assert refused.code == 2
        assert message in refused.err


@pytest.mark.parametrize("kind", ["order", "lists"])
def test_commands_that_take_grades_name_those_that_take_other_kinds(cli: Cli, files: Files, kind: str) -> None:
    folder = files.folder / kind
    assert cli("init", folder, files.runs, "--kind", kind, "--stop", "none", "--quiet").code == 0
    for command in (["next", folder], ["preferences", "plan", folder], ["simulate", folder]):
        said = cli(*command)
        assert said.code == 2, command
        assert f"is a campaign of kind {kind}" in said.err
        assert "'earmark rank'" in said.err
        assert "'plan'" in said.err
