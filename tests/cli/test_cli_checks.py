"""``compare`` and ``rank`` as the gate of a nightly build: exit codes, rows, and what is refused."""

from __future__ import annotations

import random

import pytest
from called import Cli, Files


@pytest.fixture
def builds(files: Files) -> Files:
    """A released system, one as good, and one that is clearly worse, over forty queries."""
    draw = random.Random(2)
    noise = {"released": 3.0, "same": 3.0, "broken": 30.0}
    rows = []
    for system, spread in noise.items():
        for query in range(40):
            order = sorted(range(15), key=lambda document: document + draw.random() * spread)
            rows += [f"{system}\tq{query}\td{document}\n" for document in order[:5]]
    files.runs.write_text("".join(rows))
    gains = [2, 2, 2, 1, 1, 1] + [0] * 9
    files.judgments.write_text(
        "".join(f"q{query}\td{document}\t{gain}\n" for query in range(40) for document, gain in enumerate(gains))
    )
    return files


def keep(files: Files, *systems: str) -> None:
    lines = files.runs.read_text().splitlines(keepends=True)
    files.runs.write_text("".join(line for line in lines if line.split("\t")[0] in systems))


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_the_exit_code_says_whether_a_system_is_worse(cli: Cli, builds: Files, command: str) -> None:
    common = (command, builds.runs, "-j", builds.judgments, "-m", "AG@5", "--baseline", "released")
    plain, failed = cli(*common), cli(*common, "--fail-if-worse", "-q")
    assert (plain.code, failed.code) == (0, 1)
    assert failed.out == plain.out
    assert failed.err == "earmark: the check failed: 'broken' is worse than 'released' on AG@5\n"
    assert "note: 'broken' is worse than 'released' on AG@5\n" in plain.err
    assert cli(*common, "--fail-if-worse").err.count("'broken' is worse than 'released'") == 1
    assert cli(*common, "--fail-if-worse", "--margin", 0.9).code == 0
    table = cli(*common, "--fail-if-worse", "--format", "table")
    assert table.code == 1
    assert "released" in table.out
    keep(builds, "released", "same")
    passed = cli(*common, "--fail-if-worse", "--margin", 0.05)
    assert passed.code == 0
    assert "no system is shown to be worse than 'released' by more than 0.05 on AG@5" in passed.err


def test_rows_of_compare_have_the_baseline_as_b(cli: Cli, builds: Files) -> None:
    common = ("compare", builds.runs, "-j", builds.judgments, "-m", "AG@5", "--baseline", "released", "--margin", 0.02)
    rows = cli(*common).rows
    assert [(row["a"], row["b"]) for row in rows] == [("same", "released"), ("broken", "released")]
    assert [row["worse"] for row in rows] == [False, True]
    assert {row["margin"] for row in rows} == {0.02}
    assert len(cli(*common, "--pairs").rows) == 3
    said = cli(*common, "-m", "RR").err
    rule = "a one-sided test of mean differences by query (t, adjusted by Holm's rule): the chance of any false alarm"
    assert rule in said
    assert {row["test"] for row in rows} == {"t"}
    beside = cli(*common, "--test", "friedman-tukey")
    assert {row["test"] for row in beside.rows} == {"friedman-tukey"}
    assert [row["p_worse"] for row in beside.rows] == [row["p_worse"] for row in rows]
    assert rule in beside.err
    assert "the check of each of 2 measures is at 0.05 / 2" in said


def test_four_queries_that_are_all_lost_fail_nobody(cli: Cli, builds: Files) -> None:
    """Losses of the same size by every query are no evidence that a t-test could count on with four queries."""
    keep(builds, "released", "broken")
    builds.runs.write_text(
        "".join(
            f"{system}\tq{query}\td{document}\n"
            for system, first in (("released", 0), ("broken", 6))
            for query in range(5)
            for document in range(first, first + 5)
        )
    )
    common = ("compare", builds.runs, "-j", builds.judgments, "-m", "AG@5", "--baseline", "released", "--fail-if-worse")
    assert cli(*common).code == 1
    lines = builds.runs.read_text().splitlines(keepends=True)
    builds.runs.write_text("".join(line for line in lines if "\tq4\t" not in line))
    lines = builds.judgments.read_text().splitlines(keepends=True)
    builds.judgments.write_text("".join(line for line in lines if line.split("\t")[0] in ("q0", "q1", "q2", "q3")))
    few = cli(*common)
    assert few.code == 0
    assert "no system can fail this check: with 4 queries no adjusted p-value is below 0.0625" in few.err
    assert "it takes 5 queries or more" in few.err


def test_rank_takes_units_for_queries_like_these(cli: Cli, builds: Files) -> None:
    users = builds.folder / "users.tsv"
    users.write_text("".join(f"q{query}\tu{query % 5}\n" for query in range(40)))
    common = ("rank", builds.runs, "-j", builds.judgments, "-m", "AG@5", "--predictor", "uniform")
    plain = cli(*common, "--target", "population")
    by_unit = cli(*common, "--target", "population", "--unit", users)
    assert "about queries like these, independent by unit" in by_unit.err
    assert "independent by" not in plain.err
    systems = [(row["estimate"], row["low"]) for row in plain.rows if row["kind"] == "system"]
    again = [(row["estimate"], row["low"]) for row in by_unit.rows if row["kind"] == "system"]
    assert [mean for mean, _ in systems] == [mean for mean, _ in again]
    assert [low for _, low in systems] != [low for _, low in again]
    refused = cli(*common, "--unit", users)
    assert refused.code == 2
    assert "units of queries are for verdicts about queries like these: --target population" in refused.err
    study = builds.folder / "study"
    assert cli("init", study, builds.runs, "--scale", "broad", "-m", "AG@5", "--predictor", "uniform").code == 0
    assert cli("import", study, builds.judgments).code == 0
    stored = cli("rank", study, "--target", "population", "--unit", users)
    assert [(row["estimate"], row["low"]) for row in stored.rows if row["kind"] == "system"] == again


def test_rows_of_rank_end_with_the_check(cli: Cli, builds: Files) -> None:
    common = ("rank", builds.runs, "-j", builds.judgments, "-m", "AG@5", "--baseline", "released", "--margin", 0.02)
    rows = cli(*common).rows
    assert [row["kind"] for row in rows] == ["system"] * 3 + ["pair"] * 2 + ["summary", "check"]
    assert [(row["b"], row["worse"]) for row in rows[3:5]] == [("released", False), ("released", True)]
    assert (rows[-1]["baseline"], rows[-1]["failed"], rows[-1]["passed"]) == ("released", ["broken"], False)
    assert sum(row["kind"] == "pair" for row in cli(*common, "--pairs").rows) == 3
    in_csv = cli(*common, "--format", "csv").csv
    assert in_csv[-1]["failed"] == "broken"


@pytest.mark.parametrize("command", ["compare", "rank"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--baseline", "relased", "--fail-if-worse"), "unknown baseline 'relased': did you mean 'released'?"),
        (("--fail-if-worse",), "--fail-if-worse compares with a baseline: name it with --baseline"),
    ],
)
def test_bad_input_has_another_code(cli: Cli, builds: Files, command: str, options: tuple[str], message: str) -> None:
    said = cli(command, builds.runs, "-j", builds.judgments, "-m", "AG@5", *options)
    assert (said.code, said.out) == (2, "")
    assert message in said.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--margin", "0.1"), "name it with --baseline"),
        (("--baseline", "same", "-m", "RR", "--correlations"), "give one of them"),
        (("--baseline", "same", "--test", "t", "--correction", "none"), "adjusts by Holm's rule"),
    ],
)
def test_options_that_do_not_go_together(cli: Cli, builds: Files, options: tuple[str, ...], message: str) -> None:
    said = cli("compare", builds.runs, "-j", builds.judgments, "-m", "AG@5", *options)
    assert (said.code, said.out) == (2, "")
    assert message in said.err


def test_the_margin_of_a_campaign_is_that_of_its_check(cli: Cli, builds: Files) -> None:
    study = builds.folder / "study"
    assert cli("init", study, builds.runs, "--scale", "broad", "-m", "AG@5", "--margin", 0.9).code == 0
    assert cli("import", study, builds.judgments).code == 0
    assert cli("compare", study, "-q").code == 0
    assert cli("compare", study, "--baseline", "released", "--fail-if-worse").code == 0
    assert cli("compare", study, "--baseline", "released", "--fail-if-worse", "--margin", 0).code == 1


@pytest.mark.parametrize("command", ["compare", "rank"])
def test_help_names_the_exit_codes(cli: Cli, command: str) -> None:
    said = " ".join(cli(command, "--help").out.split())
    assert "0 fine, 1 the check --fail-if-worse failed, 2 bad input, 130 interrupted" in said
