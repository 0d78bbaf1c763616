"""``earmark plan``: its row, its table, and how it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli, Files

from made_up import write_made_up


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_made_up(folder)
    return folder


def command(folder: Path, *arguments: object, repeats: int = 3) -> tuple[object, ...]:
    files = (folder / "runs.tsv", "--metadata", folder / "metadata.csv", "--scale", "fine")
    return ("plan", *files, "-m", "AG@5", "--repeats", repeats, *arguments)


def test_the_row_has_the_promised_fields(cli: Cli, demo: Path) -> None:
    said = cli(*command(demo, "--stop", "budget:120"))
    (row,) = said.rows
    assert list(row)[:5] == ["judgments_low", "judgments_median", "judgments_high", "hours", "cost"]
    assert (row["judgments_low"], row["judgments_median"], row["judgments_high"]) == (120, 120, 120)
    assert row["hours"] == pytest.approx(1.0)
    assert row["cost"] == pytest.approx(2.4)
    assert (row["items"], row["judged"], row["repeats"], row["stop"]) == (1219, 0, 3, "budget:120")
    assert row["not_reached"] == 0
    (in_csv,) = cli(*command(demo, "--stop", "budget:120", "--format", "csv")).csv
    assert list(in_csv) == list(row)


def test_work_is_reckoned_as_told(cli: Cli, demo: Path) -> None:
    work = ("--seconds-per-judgment", 90, "--cost", 0.5, "--assessors", 4)
    (row,) = cli(*command(demo, "--stop", "budget:80", *work)).rows
    assert (row["hours"], row["cost"], row["assessors"], row["hours_each"]) == (2.0, 40.0, 4, 0.5)


def test_the_seed_decides_everything(cli: Cli, demo: Path) -> None:
    drawn = command(demo, "--stop", "mean:0.93", "--seed", repeats=4)
    assert cli(*drawn, 5).out == cli(*drawn, 5).out
    assert cli(*drawn, 5).out != cli(*drawn, 6).out


def test_judgments_so_far_count(cli: Cli, demo: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.tsv"
    part.write_text("".join((demo / "judgments.tsv").read_text().splitlines(keepends=True)[:100]))
    said = cli(*command(demo, "-j", part, "--stop", "budget:120"))
    (row,) = said.rows
    assert row["judgments_median"] == 120 - row["judged"] < 120
    shown = cli(*command(demo, "-j", part, "--stop", "budget:120", "--format", "table")).out
    assert "more judgments" in shown
    assert f"About {120 - row['judged']} more judgments of 1,219 items, {row['judged']} of them judged" in shown


def test_a_table_and_a_sentence(cli: Cli, demo: Path) -> None:
    said = cli(*command(demo, "--stop", "budget:120", "--assessors", 2, "--format", "table"))
    assert "AG@5, predictor hierarchical, policy variance, stop budget:120" in said.out
    assert "3 simulated campaigns, looked at every 20 judgments" in said.out
    assert "hours for each of 2" in said.out
    assert "About 120 judgments of 1,219 items until budget:120, 1.0 hour of judging at 30 s each." in said.out
    assert "note: nothing is judged: predictions are those of the prior" in said.err
    assert "a range of 3 campaigns is too narrow" in said.err
    alone = cli(*command(demo, "--stop", "budget:120", "--format", "table", "--quiet"))
    assert "hours for each" not in alone.out
    assert alone.err == ""


def test_everything_may_have_to_be_judged(cli: Cli, files: Files) -> None:
    said = cli("plan", files.runs, "--scale", "0..2", "-m", "AG@2", "--stop", "none", "--repeats", 9)
    (row,) = said.rows
    assert (row["judgments_median"], row["items"], row["not_reached"], row["share"]) == (14, 14, 1.0, 1.0)
    assert "in 100% of the simulated campaigns everything had to be judged" in said.err


def test_independent_beliefs_are_said_to_be_too_sure(cli: Cli, files: Files) -> None:
    call = ("plan", files.runs, "--scale", "0..2", "-m", "AG@2", "--stop", "budget:4", "--repeats", 9)
    assert "such a plan is too optimistic" in cli(*call, "--predictor", "uniform", "--policy", "mtc").err
    assert "such a plan is too optimistic" not in cli(*call).err


def test_nothing_left(cli: Cli, files: Files) -> None:
    files.judgments.write_text(
        files.judgments.read_text() + "".join(f"q3\t{document}\t0\n" for document in "yz") + "q2\ty\t0\n"
    )
    said = cli("plan", files.runs, "-j", files.judgments, "-m", "AG@3", "--format", "table")
    assert said.code == 0
    assert "Everything is judged: there is nothing left to plan." in said.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--stop", "mean:1"), "mean:1"),
        (("--stop", "meen:0.95"), "unknown stop rule 'meen:0.95': did you mean mean:0.95?"),
        (("--stop", "budget:5", "--margin", "0.1"), "a margin means nothing to the stop rule budget:5"),
        (("--policy", "randon"), "unknown policy 'randon': did you mean random?"),
        (("--predictor", "mtc-jugde"), "unknown predictor 'mtc-jugde': did you mean mtc-judge?"),
        (("--repeats", "0"), "--repeats"),
        (("--batch", "0"), "--batch"),
        (("--assessors", "0"), "--assessors"),
        (("--seconds-per-judgment", "-3"), "--seconds-per-judgment"),
        (("--cost", "inf"), "--cost is a finite number, got inf"),
        (("--metadata", "nowhere.tsv"), "nowhere.tsv: expected a file, got nothing there"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_makes_no_sense_is_refused(cli: Cli, files: Files, arguments: tuple[str, ...], message: str) -> None:
    said = cli("plan", files.runs, "--scale", "0..2", "-m", "AG@2", *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("earmark: ")
    assert message in said.err
    assert said.err.count("\n") == 1
