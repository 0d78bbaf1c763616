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
    assert "p-values are adjusted by Tukey's method for all pairs: the chance of any false alarm" in said
    assert "the check of each of 2 measures is at 0.05 / 2" in said


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
