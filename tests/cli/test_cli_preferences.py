"""``preferences precision``: fields as they are fixed, numbers by hand, notes, tables, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from called import Cli, Files

FIXED = ["system", "agreement", "precision", "weighted_precision", "pairs"]
HEADER = "query,a,b,assessor,choice,strength"


@pytest.fixture
def write(files: Files) -> Callable[..., Path]:
    """Write a file of answers: lines of query, a, b, the letters of the choices, strength, more."""

    def written(*lines: str, more: str = "", name: str = "answers.csv") -> Path:
        rows = [HEADER + more]
        for line in lines:
            query, a, b, choices, strength, *rest = line.split()
            for number, letter in enumerate(choices):
                choice = {"s": "same", "-": ""}.get(letter, letter)
                rows.append(",".join([query, a, b, f"w{number}", choice, strength, *rest]))
        path = files.folder / name
        path.write_text("\n".join(rows) + "\n")
        return path

    return written


@pytest.fixture
def answers(write: Callable[..., Path]) -> Path:
    # The lists: good q1 a b c, q2 d e f; fair q1 c a b, q2 e f d; poor q1 x y c, q2 x f y.
    return write("q1 a b aaaaaa 3", "q1 c a bbbbba 2", "q2 e f aabbbb 4", "q2 d e aaaaaa 1", "q3 z w aaabbb 5")


def test_rows_by_hand(cli: Cli, files: Files, answers: Path) -> None:
    said = cli(
        "preferences", "precision", files.runs, "--preferences", answers, "-k", 3, "--agreement", "6/6,5/6,4/6"
    )  # fmt: skip
    assert said.code == 0
    systems = [row for row in said.rows if row["kind"] == "system"]
    assert all([name for name in row if name in FIXED] == FIXED for row in systems)
    found = {
        (row["system"], row["agreement"]): (row["pairs"], row["precision"], row["weighted_precision"])
        for row in systems
    }
    assert found == {
        ("good", "6/6"): (2, 1.0, 1.0),
        ("good", "5/6"): (3, 1.0, 1.0),
        ("good", "4/6"): (4, pytest.approx(3 / 4), pytest.approx(6 / 10)),
        # fair has a before b, but d behind e, c before a and e before f.
        ("fair", "6/6"): (2, pytest.approx(1 / 2), pytest.approx(3 / 4)),
        ("fair", "5/6"): (3, pytest.approx(1 / 3), pytest.approx(3 / 6)),
        ("fair", "4/6"): (4, pytest.approx(1 / 4), pytest.approx(3 / 10)),
        # poor has c, and f.
        ("poor", "6/6"): (0, None, None),
        ("poor", "5/6"): (1, 0.0, 0.0),
        ("poor", "4/6"): (2, pytest.approx(1 / 2), pytest.approx(4 / 6)),
    }
    tests = [row for row in said.rows if row["kind"] == "test"]
    assert [(row["a"], row["b"], row["agreement"], row["test"]) for row in tests[:4]] == [
        ("good", "fair", "6/6", "fisher"),
        ("good", "poor", "6/6", "fisher"),
        ("fair", "poor", "6/6", "fisher"),
        ("good", "fair", "6/6", "t"),
    ]
    # Three of four against one of four: 34/70, as for the lady tasting tea.
    last = next(row for row in tests if (row["agreement"], row["b"], row["measure"]) == ("4/6", "fair", "precision"))
    assert last["p_value"] == pytest.approx(34 / 70)
    assert last["low"] < last["difference"] == pytest.approx(1 / 2)
    assert said.err == "note: 1 of 5 pairs without a preferred document: as many chose either\n"


def test_levels_are_guessed_and_said(cli: Cli, files: Files, answers: Path) -> None:
    said = cli("preferences", "precision", files.runs, "--preferences", answers)
    assert "note: no --agreement given: taking 6/6, 5/6, 4/6\n" in said.err
    assert {row["agreement"] for row in said.rows} == {"6/6", "5/6", "4/6"}


def test_csv_holds_both_kinds(cli: Cli, files: Files, answers: Path) -> None:
    said = cli("preferences", "precision", files.runs, "--preferences", answers, "--format", "csv", "-q")
    assert [row["kind"] for row in said.csv] == ["system"] * 9 + ["test"] * 18
    assert said.csv[0]["a"] == ""
    assert said.err == ""


def test_tables(cli: Cli, files: Files, answers: Path) -> None:
    call = ("preferences", "precision", files.runs, "--preferences", answers, "-k", 3, "--format", "table")
    said = cli(*call, "--agreement", "4/6,6/6")
    lines = said.out.splitlines()
    assert lines[0] == "Preference precision in the first 3 ranks, by level of agreement; 95% intervals"
    # Best first by the level with the most pairs, wherever it stands.
    assert [line.split()[0] for line in lines[3:6]] == ["good", "poor", "fair"]
    assert lines[4].split()[-1] == "0"
    assert "Fisher" in said.out
    assert ["good", "fair", "4/6", "+0.5000"] in [line.split()[:4] for line in said.out.splitlines()]
    weighted = cli(*call, "--agreement", "4/6", "--weighted", "--level", 0.9).out
    assert weighted.startswith(
        "Weighted preference precision in the first 3 ranks, by level of agreement; 90% intervals"
    )
    assert "t-test" in weighted
    assert ["good", "fair", "4/6", "+0.3000"] in [line.split()[:4] for line in weighted.splitlines()]


def test_many_systems_are_not_listed_in_pairs_unless_asked(cli: Cli, files: Files, answers: Path) -> None:
    names = [f"s{number}" for number in range(7)]
    files.runs.write_text("".join(f"{name}\tq1\t{document}\n" for name in names for document in "ab"))
    call = ("preferences", "precision", files.runs, "--preferences", answers, "--format", "table", "-q")
    assert cli(*call).out.splitlines()[-1] == "21 pairs of systems: --pairs lists them."
    assert cli(*call, "--pairs").out.count("\ns0") == 1 + 6 * 3
    one = files.folder / "one.tsv"
    one.write_text("alone\tq1\ta\n")
    alone = cli("preferences", "precision", one, "--preferences", answers, "--format", "table")
    assert "Fisher" not in alone.out


def test_phases_traps_and_blanks(cli: Cli, files: Files, write: Callable[..., Path]) -> None:
    path = write("q1 a b aab 1 1 ", "q1 a b bbb- 1 2 ", "q1 a c a 1 2 a", more=",phase,trap")
    path.write_text("\n".join(line + "," * (7 - line.count(",")) for line in path.read_text().splitlines()))
    call = ("preferences", "precision", files.runs, "--preferences", path)
    said = cli(*call)
    assert said.err.splitlines() == [
        "note: 1 row without a choice left out",
        "note: the answers of all phases are taken together; choose with --phase",
        "note: 1 answer to traps left out",
        "note: system 'poor' ranks no document of any pair and has no precision",
        "note: no --agreement given: taking 6/6, 5/6, 4/6",
        "note: good and fair order all of their pairs alike: the interval of the difference says how far they may "
        "differ on other pairs",
    ]
    second = cli(*call, "--phase", 2)
    assert second.rows[0] | {"system": "good", "agreement": "3/3", "precision": 0.0, "pairs": 1} == second.rows[0]
    assert cli(*call, "--phase", 1, "--phase", 2, "-q").rows == said.rows
    missing = cli(*call, "--phase", 3)
    assert (missing.code, missing.out) == (2, "")
    assert missing.err == "earmark: no phase called '3' among the preferences: there are 1, 2\n"


def test_different_numbers_of_answers(cli: Cli, files: Files, write: Callable[..., Path]) -> None:
    path = write("q1 a b aa 1", "q1 b c aaaaaa 1")
    call = ("preferences", "precision", files.runs, "--preferences", path, "--agreement", "6/6")
    said = cli(*call)
    assert "note: pairs have 2 to 6 answers: levels of agreement are shares of them\n" in said.err
    assert said.rows[0]["pairs"] == 2
    assert cli(*call, "--min-answers", 3).rows[0]["pairs"] == 1


def test_nobody_prefers_anything(cli: Cli, files: Files, write: Callable[..., Path]) -> None:
    said = cli("preferences", "precision", files.runs, "--preferences", write("q1 a b ss 0", "q2 d e ss 0"))
    assert said.code == 0
    assert {row["precision"] for row in said.rows if row["kind"] == "system"} == {None}
    assert said.err.startswith("note: 2 of 2 pairs without a preferred document: as many chose either\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--agreement", "7/6"), "a level of agreement is x/y with x from 1 to y, not 7/6"),
        (("--agreement", "most"), "a level of agreement is x/y, such as 5/6, not 'most'"),
        (("--level", "95"), "--level is a probability above 0 and below 1, got 95"),
        (("-k", "0"), "Invalid value for '--depth' / '-k'"),
    ],
)
def test_wrong_options(arguments: tuple[str, ...], message: str, cli: Cli, files: Files, answers: Path) -> None:
    said = cli("preferences", "precision", files.runs, "--preferences", answers, *arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"earmark: {message}")
    assert said.err.count("\n") == 1


def test_wrong_files(cli: Cli, files: Files, write: Callable[..., Path]) -> None:
    call = ("preferences", "precision", files.runs, "--preferences")
    elsewhere = cli(*call, write("q9 a b aa 1"))
    assert (elsewhere.code, elsewhere.out) == (2, "")
    assert elsewhere.err == (
        "earmark: expected preferences about documents in the first 20 ranks of the lists, got 1 pair, none with such "
        "a document (do runs and preferences use the same ids?)\n"
    )
    path = write("q1 a a a 1")
    assert cli(*call, path).err == f"earmark: {path}:2: expected two different documents as a and b, got 'a' twice\n"
    traps = write("q1 a b a 1 a", more=",trap")
    assert cli(*call, traps).err == "earmark: expected answers to other questions than traps, got 1 trap alone\n"
    assert cli("preferences", "precision", files.runs).err.startswith("earmark: Missing option '--preferences'")


def test_the_group_shows_its_commands(cli: Cli) -> None:
    said = cli("preferences")
    assert said.code == 0
    assert "precision" in said.out
