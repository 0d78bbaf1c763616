"""``crowd check``: who is rejected, what is asked again, how often that goes wrong, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli
from scipy import stats

from earmark.data.preference_files import read_preferences


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """A good worker, one who tosses coins, one who answered little; each question answered by the first two."""
    rows = ["query,a,b,assessor,choice,trap"]
    for worker, right, questions in (("good", 19, 100), ("coin", 10, 100), ("late", 0, 3)):
        rows += [f"q,x{number},y,{worker},a," for number in range(questions)]
        rows += [f"q,t{number},u,{worker},{'a' if number < right else 'b'},a" for number in range(20)]
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_rows(cli: Cli, answers: Path) -> None:
    said = cli("crowd", "check", answers)
    assert (said.code, said.err) == (0, "")
    workers = [row for row in said.rows if row["kind"] == "worker"]
    assert [(row["assessor"], row["answers"], row["traps"], row["right"], row["decision"]) for row in workers] == [
        ("coin", 120, 20, 10, "rejected"), ("good", 120, 20, 19, "kept"), ("late", 23, 20, 0, "unchecked"),
    ]  # fmt: skip
    assert workers[0]["reason"] == "10 of 20 traps right, below 65%"
    assert workers[2]["reason"] == "fewer than 100 answers"
    expected, summary = said.rows[-2:]
    assert expected["kind"] == "expected"
    assert expected["honest_rejected"] == pytest.approx(0.9 * 2 * stats.binom.cdf(12, 20, 0.9))
    assert expected["cheaters_missed"] == pytest.approx(0.1 * (3 - 2 * stats.binom.cdf(12, 20, 0.5)))
    assert summary == {
        "kind": "summary", "workers": 3, "rejected": 1, "unchecked": 1, "questions_again": 100, "answers_again": 100,
    }  # fmt: skip


def test_tables(cli: Cli, answers: Path) -> None:
    said = cli("crowd", "check", answers, "--format", "table", "--honest", 0.8)
    assert said.out.startswith("Rejected workers\n")
    assert "good" not in said.out
    assert "0.8000" in said.out
    assert said.out.endswith("1 of 3 workers rejected, 1 unchecked; 100 answers to 100 questions to ask again.\n")
    everybody = cli("crowd", "check", answers, "--format", "table", "--all").out
    assert everybody.startswith("Workers and traps\n")
    assert "good" in everybody
    nobody = cli("crowd", "check", answers, "--format", "table", "--min-right", 0.1).out
    assert nobody.startswith("What the rule is expected to get wrong\n")


def test_files(cli: Cli, answers: Path, tmp_path: Path) -> None:
    again, kept = tmp_path / "again.csv", tmp_path / "kept.csv"
    said = cli("crowd", "check", answers, "-o", again, "--kept", kept)
    assert f"note: wrote {again}: 100 questions to ask again\n" in said.err
    lines = again.read_text().splitlines()
    assert lines[0] == "query,a,b,assessors,left"
    # The late worker answered the first three as well.
    assert lines[1] == "q,x0,y,1,2"
    assert lines[-1] == "q,x99,y,1,1"
    left = read_preferences(kept)
    assert left.assessors == ("good", "late")
    assert left.is_trap.sum() == 40
    checked_again = cli("crowd", "check", kept)
    assert checked_again.rows[-1]["rejected"] == 0


def test_traps_from_a_file_of_their_own(cli: Cli, answers: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_text("\n".join(line.rsplit(",", 1)[0] for line in answers.read_text().splitlines()) + "\n")
    said = cli("crowd", "check", plain)
    assert said.code == 2
    assert said.err.startswith("earmark: expected answers to traps, got none (a column 'trap' says")
    traps = tmp_path / "traps.csv"
    # Shown the other way round; questions that are no traps may stand among them.
    traps.write_text("query,a,b,trap\n" + "".join(f"q,u,t{number},b\n" for number in range(20)) + "q,x0,y,\n")
    found = cli("crowd", "check", plain, "--traps", traps)
    assert found.rows == cli("crowd", "check", answers).rows
    traps.write_text("query,a,b,trap\nq,u,t0,b\nq,t0,u,b\n")
    contradictory = cli("crowd", "check", plain, "--traps", traps)
    assert "expected traps that agree, got one about 't0' and 'u' for query 'q'" in contradictory.err
    assert "that expects once 't0' and once 'u'" in contradictory.err
    traps.write_text("query,a,b\nq,u,t0\n")
    assert cli("crowd", "check", plain, "--traps", traps).err == (
        f"earmark: {traps}: expected traps in a column 'trap', got none\n"
    )


def test_what_is_refused(cli: Cli, answers: Path, tmp_path: Path) -> None:
    def error(*arguments: object) -> str:
        said = cli("crowd", "check", answers, *arguments)
        assert (said.code, said.out) == (2, "")
        return said.err

    assert "the least share of traps right lies between 0 and 1, got 65" in error("--min-right", 65)
    assert "share of cheaters lies between 0 and 1" in error("--cheaters", 3)
    assert "getting a trap right lies between 0 and 1" in error("--honest", 90)
    assert "--level is a probability" in error("--level", 0)


def test_the_table_is_printed_where_everybody_is_rejected(cli: Cli, answers: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    strict = ("--min-answers", 0, "--min-right", 1)
    said = cli("crowd", "check", answers, *strict, "--kept", kept)
    assert said.code == 1
    assert not kept.exists()
    assert f"note: nothing written to {kept}: all 3 workers are rejected\n" in said.err
    assert said.rows == cli("crowd", "check", answers, *strict).rows
    table = cli("crowd", "check", answers, *strict, "--kept", kept, "--format", "table").out
    assert "Rejected workers" in table
    assert "3 of 3 workers rejected" in table
