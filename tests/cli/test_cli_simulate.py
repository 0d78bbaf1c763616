"""``earmark simulate``: its rows, its tables, what stops it and how it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from called import Cli, Files

from earmark.cli.simulate import steps_table
from made_up import write_made_up

FIELDS = [
    "kind",
    "repeat",
    "judged",
    "mean_confidence",
    "min_confidence",
    "accuracy",
    "tau",
    "accuracy_significant",
    "coverage_pairs_95",
    "coverage_systems_95",
    "half_width_systems",
    "rmse",
    "slope",
    "bias_systems",
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_made_up(folder)
    return folder


def command(folder: Path, *arguments: object) -> tuple[object, ...]:
    files = (folder / "runs.tsv", "--judgments", folder / "judgments.tsv", "--metadata", folder / "metadata.csv")
    return ("simulate", *files, "-m", "AG@5", *arguments)


def test_rows_have_exactly_the_promised_fields(cli: Cli, demo: Path) -> None:
    rows = cli(*command(demo, "--stop", "budget:40", "--repeats", 2)).rows
    assert [(row["kind"], row.get("repeat"), row["judged"]) for row in rows] == [
        ("step", 0, 0),
        ("step", 0, 20),
        ("stop", 0, 40),
        ("step", 1, 0),
        ("step", 1, 20),
        ("stop", 1, 40),
        ("summary", None, 40.0),
    ]
    assert list(rows[0]) == FIELDS
    assert list(rows[2]) == [*FIELDS, "reason"]
    assert rows[2]["reason"] == "the budget is used up: 40 judged of 40"
    assert set(rows[-1]) == {*FIELDS, "repeats"} - {"repeat"}
    assert rows[-1]["accuracy"] == pytest.approx((rows[2]["accuracy"] + rows[5]["accuracy"]) / 2)
    assert {row["mean_confidence"] for row in rows if row["judged"] == 0} != {0.5}
    in_csv = cli(*command(demo, "--stop", "budget:40", "--repeats", 2, "--format", "csv")).csv
    assert [row["kind"] for row in in_csv] == [row["kind"] for row in rows]


def test_everything_judged_is_everything_known(cli: Cli, files: Files) -> None:
    rows = cli("simulate", files.runs, "-j", files.judgments, "--stop", "none", "--batch", 5, "-m", "AG@2").rows
    stop = rows[-2]
    assert (stop["kind"], stop["judged"], stop["reason"]) == ("stop", 14, "everything is judged")
    assert (stop["accuracy"], stop["tau"], stop["coverage_pairs_95"], stop["coverage_systems_95"]) == (1, 1, 1, 1)
    assert (stop["half_width_systems"], stop["rmse"]) == (0, 0)
    assert [row["judged"] for row in rows[:-1]] == [0, 5, 10, 14]


def test_the_seed_decides_everything(cli: Cli, demo: Path) -> None:
    drawn = command(demo, "--stop", "budget:40", "--sample-systems", 4, "--sample-queries", 10, "--seed")
    assert cli(*drawn, 5).out == cli(*drawn, 5).out
    assert cli(*drawn, 5).out != cli(*drawn, 6).out


def test_results_do_not_depend_on_the_number_of_processes(demo: Path) -> None:
    drawn = command(demo, "--stop", "budget:40", "--repeats", 3, "--sample-queries", 10, "--jobs")

    def said(jobs: int) -> bytes:
        call = [sys.executable, "-m", "earmark.cli", *map(str, drawn), str(jobs)]
        return subprocess.run(call, capture_output=True, timeout=240, check=True).stdout

    assert said(1) == said(2)


def test_a_stricter_rule_asks_for_more(cli: Cli, demo: Path) -> None:
    def judged(*arguments: object) -> int:
        return int(cli(*command(demo, "--predictor", "uniform", "--batch", 100, *arguments)).rows[-2]["judged"])

    loose = judged("--stop", "mean:0.8")
    assert loose <= judged("--stop", "mean:0.9")
    assert judged("--stop", "mean:0.9", "--margin", 0.05) <= judged("--stop", "mean:0.9")


def test_a_table_of_one_campaign(cli: Cli, demo: Path) -> None:
    said = cli(*command(demo, "--stop", "budget:40", "--format", "table"))
    assert "AG@5, predictor hierarchical, policy variance, stop budget:40" in said.out
    assert "The campaign stopped after 40 of 1,219 items: the budget is used up" in said.out
    assert "There the confidence claimed was" in said.out
    assert "campaigns" not in said.out


def test_the_published_method_starts_from_nothing(cli: Cli, demo: Path) -> None:
    published = command(demo, "--predictor", "ordinal", "--policy", "mtc", "--stop", "budget:20")
    rows = cli(*published).rows
    assert [(row["judged"], row["mean_confidence"] == 0.5) for row in rows[:2]] == [(0, True), (20, False)]
    assert "AG@5, predictor ordinal, policy mtc, stop budget:20" in cli(*published, "--format", "table").out


def test_a_table_of_several_campaigns_shows_medians_and_ranges(cli: Cli, demo: Path) -> None:
    said = cli(*command(demo, "--stop", "budget:20", "--repeats", 3, "--sample-queries", 10, "--format", "table"))
    assert "medians over the campaigns that reached this point, and ranges where they differ" in said.out
    assert "3 campaigns stopped after 20 judgments." in said.out
    many = cli(*command(demo, "--stop", "budget:60", "--batch", 2, "--sample-queries", 10, "--format", "table"))
    assert "25 of 31 looks; --format csv has them all" in many.out


def test_medians_and_ranges_by_judged() -> None:
    fields = dict.fromkeys(FIELDS[3:], 0.5)
    rows = [{"kind": "step", "repeat": n, "judged": 20, **fields, "accuracy": a} for n, a in enumerate((0.1, 0.2, 0.9))]
    table = steps_table(pl.DataFrame([*rows, {**rows[0], "judged": 0, "min_confidence": None}]))
    assert table["judged"].to_list() == [0, 20]
    assert table["campaigns"].to_list() == [1, 3]
    assert table.row(1, named=True)["accuracy"] == 0.2
    assert (table["accuracy_low"][1], table["accuracy_high"][1]) == (0.1, 0.9)
    assert table["min_confidence"].to_list() == [None, 0.5]


def test_unrecorded_items_are_said(cli: Cli, files: Files) -> None:
    said = cli("simulate", files.runs, "-j", files.judgments, "--stop", "budget:1")
    assert "3 of 16 items have no recorded judgment and count as a gain of 0" in said.err


def test_a_duplicated_system_never_stops_it(cli: Cli, files: Files) -> None:
    runs = files.runs.read_text()
    again = [line.replace("good", "again") for line in runs.splitlines() if line.startswith("good")]
    files.runs.write_text(runs + "\n".join(again) + "\n")
    for rule in ("mean:0.9", "min:0.9", "top:1"):
        found = cli("simulate", files.runs, "-j", files.judgments, "--stop", rule, "--batch", 4).rows
        assert found[0]["judged"] == 0
        assert found[0]["kind"] == "step"
        assert found[-2]["kind"] == "stop"


def test_one_system_alone_has_no_confidence(cli: Cli, files: Files) -> None:
    lines = files.runs.read_text().splitlines()
    files.runs.write_text("".join(f"{line}\n" for line in lines if line.startswith("good")))
    said = cli("simulate", files.runs, "-j", files.judgments)
    assert said.code == 0
    assert {row["mean_confidence"] for row in said.rows} == {None}
    assert cli("simulate", files.runs, "-j", files.judgments, "--format", "table").code == 0


def test_missing_queries_can_be_dropped(cli: Cli, files: Files) -> None:
    files.runs.write_text(files.runs.read_text() + "gap\tq1\ta\ngap\tq3\ta\n")
    said = cli("simulate", files.runs, "-j", files.judgments, "--stop", "none", "--missing", "drop")
    assert said.code == 0
    assert "system 'gap' did not answer 1 query (q2): they are left out for all systems" in said.err
    assert said.rows[-2]["judged"] == 11


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--stop", "mean:1"), "mean:1"),
        (("--stop", "min:1.2"), "min:1.2"),
        (("--stop", "mean:95"), "mean:95"),
        (("--stop", "meen:0.95"), "unknown stop rule 'meen:0.95': did you mean mean:0.95?"),
        (("--stop", "budget:5", "--margin", "0.1"), "a margin means nothing to the stop rule budget:5"),
        (("--policy", "randon"), "unknown policy 'randon': did you mean random?"),
        (("--predictor", "mtc-jugde"), "unknown predictor 'mtc-jugde': did you mean mtc-judge?"),
        (("--sample-systems", "9"), "9 systems cannot be drawn from 3"),
        (("--sample-queries", "9"), "9 queries cannot be drawn from 3"),
        (("--batch", "0"), "--batch"),
        (("--jobs", "0"), "--jobs"),
        (("--metadata", "nowhere.tsv"), "nowhere.tsv: expected a file, got nothing there"),
        (("--predictor", "mtc-output", "--scale", "0..3"), "for the scales broad and fine, not '0..3'"),
        (
            ("--inference", "design", "--policy", "variance"),
            "the policy variance draws none: use --policy proportional",
        ),
        (("--inference", "design", "--policy", "mtc"), "the policy mtc draws none: use --policy proportional, or an"),
        (("--audit", "1.5"), "--audit"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_makes_no_sense_is_refused(cli: Cli, files: Files, arguments: tuple[str, ...], message: str) -> None:
    said = cli("simulate", files.runs, "-j", files.judgments, *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("earmark: ")
    assert message in said.err
    assert said.err.count("\n") == 1


# ---- guarantees, other queries, any time -----------------------------------------------------------------------------


def by_judged(rows: list[dict]) -> dict[int, dict]:
    return {row["judged"]: row for row in rows if row["kind"] != "summary"}


def test_guaranteed_campaigns_start_once_there_is_a_sample(cli: Cli, demo: Path) -> None:
    by_design = ("--inference", "design", "--predictor", "uniform", "--stop", "budget:80")
    rows = cli(*command(demo, *by_design, "--policy", "proportional")).rows
    assert [row["judged"] for row in rows[:-1]] == [60, 80]
    # Every other judgment is one of the sample, so it takes twice as many.
    by_design = (*by_design[:-1], "budget:120")
    rows = cli(*command(demo, *by_design, "--policy", "mtc", "--audit", 0.5)).rows
    assert 80 < rows[0]["judged"] <= 120
    assert rows[0]["coverage_systems_95"] >= 0.5


def test_design_draws_a_sample_where_no_policy_is_named(cli: Cli, demo: Path) -> None:
    by_design = command(demo, "--inference", "design", "--predictor", "uniform", "--stop", "budget:60")
    assert cli(*by_design).out == cli(*by_design, "--policy", "proportional").out


def test_a_budget_that_ends_before_there_is_anything_to_say(cli: Cli, demo: Path) -> None:
    for arguments in (("--anytime",), ("--inference", "design", "--policy", "proportional")):
        said = cli(*command(demo, *arguments, "--predictor", "uniform", "--stop", "budget:20"))
        assert (said.code, said.out) == (2, "")
        assert "the campaign ends before there is anything to say" in said.err


def test_statements_at_any_time_start_later_and_are_wider(cli: Cli, demo: Path) -> None:
    few = ("--predictor", "uniform", "--policy", "mtc", "--batch", 60, "--stop", "budget:180")
    once, always = (by_judged(cli(*command(demo, *few, *more)).rows) for more in ((), ("--anytime",)))
    assert list(once) == [0, 60, 120, 180]
    assert list(always) == [120, 180]
    for judged, row in always.items():
        assert row["half_width_systems"] > 1.3 * once[judged]["half_width_systems"]
        assert row["mean_confidence"] < once[judged]["mean_confidence"]
        assert row["accuracy"] == once[judged]["accuracy"]


def test_other_queries_are_less_certain_and_that_is_said(cli: Cli, demo: Path) -> None:
    few = ("--predictor", "uniform", "--policy", "mtc", "--batch", 100, "--stop", "budget:200", "--format", "jsonl")
    these = cli(*command(demo, *few))
    others = cli(*command(demo, *few, "--target", "population"))
    assert (
        "verdicts are about queries like these; the truth they are compared with is that of these queries" in others.err
    )
    assert "queries like these" not in these.err
    wide, narrow = by_judged(others.rows), by_judged(these.rows)
    assert wide.keys() == narrow.keys()
    assert all(wide[judged]["half_width_systems"] > row["half_width_systems"] for judged, row in narrow.items())


def test_whole_queries_are_the_way_to_a_guarantee_for_normalised_measures(cli: Cli, demo: Path) -> None:
    *same, measure = command(demo)
    assert measure == "AG@5"
    by_design = ("--inference", "design", "--policy", "proportional", "--predictor", "uniform", "--sample-queries", 15)
    rows = cli(*same, "nDCG@5", *by_design, "--whole-queries", "--batch", 50, "--stop", "none").rows
    stop = rows[-2]
    # Nothing is said before ten of the fifteen queries are complete; with all of them, everything is known.
    assert rows[0]["judged"] >= 0.6 * stop["judged"]
    assert (stop["reason"], stop["coverage_systems_95"], stop["half_width_systems"]) == ("everything is judged", 1, 0)


def test_judgments_are_needed(cli: Cli, files: Files) -> None:
    said = cli("simulate", files.runs)
    assert said.code == 2
    assert "Missing option '--judgments'" in said.err
