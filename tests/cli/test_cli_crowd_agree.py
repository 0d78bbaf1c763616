"""``crowd agree``: rows of every kind, tables, themes, graded judgments, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from called import Cli

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write answers: lines of query, a, b, the letters of the choices, strength, and more cells."""

    def written(*lines: str, more: str = "", name: str = "answers.csv") -> Path:
        rows = ["query,a,b,assessor,choice,strength" + more]
        for line in lines:
            query, a, b, choices, strength, *rest = line.split()
            for number, letter in enumerate(choices):
                if letter != "-":
                    choice = {"s": "same", ".": ""}.get(letter, letter)
                    rows.append(",".join([query, a, b, f"w{number}", choice, strength, *rest]))
        path = tmp_path / name
        path.write_text("\n".join(rows) + "\n")
        return path

    return written


@pytest.fixture
def answers(write: Write) -> Path:
    return write(
        "q1 a b aaaaaa 3 10", "q1 c a bbbbba 2 20", "q2 e f aabbbb 4 30", "q2 f e ------bb 4 30", "q2 d e aaabbb 1 40",
        more=",seconds",
    )  # fmt: skip


def of_kind(rows: list[dict[str, object]], kind: str) -> list[dict[str, object]]:
    return [row for row in rows if row["kind"] == kind]


def test_rows_of_every_kind(cli: Cli, answers: Path) -> None:
    said = cli("crowd", "agree", answers)
    assert said.code == 0
    kinds = list(dict.fromkeys(row["kind"] for row in said.rows))
    assert kinds == ["level", "chance", "test", "alpha", "volume", "position", "time", "worker"]
    levels = of_kind(said.rows, "level")
    assert [(row["agreement"], row["questions"], row["cumulative_questions"]) for row in levels] == [
        ("6/6", 1, 1), ("5/6", 1, 2), ("4/6", 0, 2), ("below 4/6", 2, 4),
    ]  # fmt: skip
    assert levels[1]["cumulative_strength"] == pytest.approx(2.5)
    # Four of eight agree on e and f, which were shown both ways round.
    chance = of_kind(said.rows, "chance")
    assert [(row["answers"], row["agreeing"]) for row in chance if row["questions"]] == [
        (6, 3), (6, 5), (6, 6), (8, 4),
    ]  # fmt: skip
    (test,) = of_kind(said.rows, "test")
    assert test["df"] == 3 + 4
    assert set(test) == {"kind", "statistic", "df", "p_value", "simulated_p_value"}
    alphas = of_kind(said.rows, "alpha")
    assert [row["metric"] for row in alphas] == ["nominal", "interval"]
    assert [(row["among"], row["answers"]) for row in of_kind(said.rows, "position")] == [("all", 26), ("both ways", 8)]
    (time,) = of_kind(said.rows, "time")
    assert (time["answers"], time["median"]) == (26, 30)
    assert len(of_kind(said.rows, "worker")) == 8
    assert "note: pairs have 6 to 8 answers: levels of agreement are shares of them\n" in said.err


def test_the_seed_decides(cli: Cli, answers: Path) -> None:
    first = cli("crowd", "agree", answers, "--seed", 1).out
    assert cli("crowd", "agree", answers, "--seed", 1).out == first
    assert cli("crowd", "agree", answers, "--seed", 2).out != first


def test_tables(cli: Cli, answers: Path, write: Write) -> None:
    said = cli("crowd", "agree", answers, "--format", "table", "--workers", "-q")
    lines = said.out.splitlines()
    assert lines[0] == "Levels of agreement on 4 questions"
    assert lines[3].split() == ["6/6", "1", "25.00", "3.00", "1", "25.00", "3.00"]
    assert "Krippendorff's alpha, with 95% intervals" in said.out
    assert "Answering at random: χ² = " in said.out
    assert "by simulation, as few questions are expected at some levels" in said.out
    # Four of six chose the right-hand one of e and f, and two of two that of f and e.
    assert "Among 1 pair shown both ways round, so that documents cancel out: 83.33%" in said.out
    assert "Seconds per answer: median 30.0" in said.out
    assert "Workers" in said.out
    assert said.err == ""
    short = cli("crowd", "agree", write("q x y a 1", "q y z s 1"), "--format", "table")
    assert "no question was answered twice" in short.out
    assert "no correlation to tell with 0 workers" in short.out
    assert "No pair was shown both ways round" in short.out
    assert "Seconds" not in short.out
    undecided = cli("crowd", "agree", write("q x y ss 1"), "--format", "table")
    assert "no answer chose a document" in undecided.out


def test_themes(cli: Cli, answers: Path, tmp_path: Path) -> None:
    themes = tmp_path / "themes.csv"
    themes.write_text("query,theme\nq1,sea\nq2,sky\n")
    said = cli("crowd", "agree", answers, "--theme-map", themes)
    assert {row["theme"] for row in of_kind(said.rows, "level")} == {"all", "sea", "sky"}
    table = cli("crowd", "agree", answers, "--theme-map", themes, "--format", "table", "--agreement", "5/6,6/6")
    assert "Levels of agreement by theme" in table.out
    (sea,) = [line.split() for line in table.out.splitlines() if line.startswith("sea")]
    assert sea == ["sea", "2", "50.00", "3.00", "100.00", "2.50"]
    per_query = cli("crowd", "agree", answers, "--per-query")
    assert {row["theme"] for row in of_kind(per_query.rows, "level")} == {"all", "q1", "q2"}
    themes.write_text("query,theme\nq1,sea\n")
    missing = cli("crowd", "agree", answers, "--theme-map", themes)
    assert missing.code == 2
    assert missing.err == "earmark: expected a theme for every query, got none for query 'q2'\n"
    themes.write_text("q1,sea\n")
    assert "a header with the columns query, theme" in cli("crowd", "agree", answers, "--theme-map", themes).err
    both = cli("crowd", "agree", answers, "--theme-map", themes, "--per-query")
    assert both.err == "earmark: --theme-map and --per-query exclude each other: a query has one theme\n"


def test_several_files_phases_and_traps(cli: Cli, write: Write) -> None:
    one = write("q1 a b aaa 1 1 ", "q1 b c aa. 1 1 a", more=",phase,trap")
    two = write("q1 a b bbb 1 2 ", more=",phase,trap", name="more.csv")
    said = cli("crowd", "agree", one, two)
    assert "1 row without a choice left out" in said.err
    assert "the answers of all phases are taken together; choose with --phase" in said.err
    assert "2 answers to traps left out" in said.err
    assert of_kind(said.rows, "level")[0]["agreement"] == "6/6"
    second = cli("crowd", "agree", one, two, "--phase", 2)
    assert of_kind(second.rows, "level")[0]["agreement"] == "3/3"
    only = cli("crowd", "agree", write("q1 b c aa 1 a", more=",trap"))
    assert only.err == "earmark: expected answers to other questions than traps, got 2 traps alone\n"


def test_graded_judgments(cli: Cli, tmp_path: Path) -> None:
    rows = ["query,document,gain,assessor"]
    gains = {"d1": (2, 2, 1), "d2": (0, 1, 0), "d3": (1, 1, 1), "d4": (2, 0, 2)}
    for query in ("q1", "q2"):
        rows += [
            f"{query},{document},{gain},{name}"
            for document, values in gains.items()
            for name, gain in zip(("ann", "bob", "cat"), values, strict=True)
        ]
    path = tmp_path / "judgments.csv"
    path.write_text("\n".join(rows) + "\n")
    said = cli("crowd", "agree", path, "--graded", "--scale", "broad")
    assert said.code == 0
    assert [row["metric"] for row in of_kind(said.rows, "alpha")] == ["ordinal", "interval"]
    errors = of_kind(said.rows, "error")
    assert [(row["a"], row["b"], row["items"]) for row in errors] == [
        ("ann", "bob", 8), ("ann", "cat", 8), ("bob", "cat", 8),
    ]  # fmt: skip
    assert errors[0]["rmse"] == pytest.approx((5 / 4) ** 0.5)
    (summary,) = of_kind(said.rows, "errors")
    assert summary["mean_rmse"] == pytest.approx(((5 / 4) ** 0.5 + (1 / 4) ** 0.5 + (6 / 4) ** 0.5) / 3)
    assert summary["assessors"] == 3
    table = cli("crowd", "agree", path, "--graded", "--format", "table")
    assert "scale guessed" in table.err
    assert "Mean RMSE over 3 pairs of assessors" in table.out
    more = tmp_path / "more.csv"
    more.write_text("query,document,gain,assessor\nq1,d1,0,dan\n")
    together = cli("crowd", "agree", path, more, "--graded", "--scale", "broad")
    assert len(of_kind(together.rows, "error")) == 6
    alone = tmp_path / "alone.csv"
    alone.write_text("query,document,gain\nq1,d1,0\n")
    assert "a column 'assessor' that says who judged" in cli("crowd", "agree", alone, "--graded").err


def test_what_is_refused(cli: Cli, answers: Path, tmp_path: Path) -> None:
    def error(*arguments: object) -> str:
        said = cli("crowd", "agree", answers, *arguments)
        assert (said.code, said.out) == (2, "")
        return said.err

    assert error("--level", 95) == "earmark: --level is a probability above 0 and below 1, got 95\n"
    assert error("--scale", "broad") == "earmark: --scale is for --graded judgments: preferences have none\n"
    assert "--per-query is for preferences" in error("--per-query", "--graded")
    assert "--phase is for preferences" in error("--phase", "1", "--graded")
    assert "a level of agreement is x/y" in error("--agreement", "most")
    assert "questions with at least 9 answers, got at most 8" in error("--min-answers", 9)
    assert "100" in error("--resamples", 5)
    assert cli("crowd", "agree", tmp_path / "none.csv").code == 2
