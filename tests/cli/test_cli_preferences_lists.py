"""``preferences lists``: comparisons of two lists from files, the same as in a stored campaign."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from called import Cli

from earmark.campaign.list_campaign import ANSWERS, ListCampaign, ListProblem
from earmark.campaign.list_files import read_list_answers
from earmark.errors import InputError

HEADER = "query,a,b,assessor,choice"


def written(path: Path, *rows: str) -> Path:
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


@pytest.fixture
def comparisons(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    rows = []
    for query in range(60):
        choice = rng.choice(["a", "b", "same", "neither"], p=[0.7, 0.1, 0.1, 0.1])
        # Every other time the lists stood the other way round.
        if query % 2:
            rows.append(f"q{query},New,Old,person {query % 12},{choice}")
        else:
            rows.append(f"q{query},Old,New,person {query % 12},{ {'a': 'b', 'b': 'a'}.get(choice, choice) }")
    return written(tmp_path / "lists.csv", *rows)


def test_the_same_as_a_campaign(cli: Cli, comparisons: Path) -> None:
    said = cli("preferences", "lists", comparisons)
    assert said.code == 0, said.err
    rows = [line.split(",") for line in comparisons.read_text().splitlines()[1:]]
    turn = {"a": "b", "b": "a"}
    ordered = [(q, "New", "Old", who, c if a == "New" else turn.get(c, c)) for q, a, _, who, c in rows]
    answers = pl.DataFrame(ordered, schema=ANSWERS, orient="row")
    problem = ListProblem(("New", "Old"), answers.select("query", "a", "b"), anytime=False)
    look = ListCampaign(problem, answers.sort(*ANSWERS)).look
    (pair,) = [row for row in said.rows if row["kind"] == "pair"]
    assert pair == look.estimates.pairs_frame().row(0, named=True)
    assert pair["decided"]
    assert pair["share_low"] > 0.5
    systems = [row for row in said.rows if row["kind"] == "system"]
    assert systems == look.estimates.systems_frame().rows(named=True)
    table = cli("preferences", "lists", comparisons, "--format", "table").out
    assert "95% intervals that hold at one look" in table
    assert "New is better than Old." in table
    assert "Judging" not in table


def test_rows_in_another_order_give_the_same_bytes(cli: Cli, comparisons: Path, tmp_path: Path) -> None:
    rows = comparisons.read_text().splitlines()[1:]
    by_choice = written(tmp_path / "sorted.csv", *sorted(rows, key=lambda row: row.rsplit(",", 1)[1]))
    assert cli("preferences", "lists", comparisons).out == cli("preferences", "lists", by_choice).out


def test_answers_with_times_hold_at_all_looks(cli: Cli, comparisons: Path, tmp_path: Path) -> None:
    rows = comparisons.read_text().splitlines()[1:]
    timed = [f"{row},2026-03-01T10:{place:02d}:00Z" for place, row in enumerate(rows)]
    path, turned = tmp_path / "timed.csv", tmp_path / "turned.csv"
    for target, lines in ((path, timed), (turned, timed[::-1])):
        target.write_text("\n".join([f"{HEADER},time", *lines]) + "\n")
    once, anytime = (cli("preferences", "lists", file) for file in (comparisons, path))
    (narrow,), (wide,) = ([row for row in result.rows if row["kind"] == "pair"] for result in (once, anytime))
    assert wide["share_low"] < narrow["share_low"]
    assert "at all looks together" in anytime.err
    assert "at one look" in once.err
    assert anytime.out == cli("preferences", "lists", turned).out


def test_stopping_is_by_the_rule_alone(cli: Cli, comparisons: Path) -> None:
    def summary(*more: object) -> dict[str, object]:
        return dict(cli("preferences", "lists", comparisons, *more).rows[-1])

    assert summary()["stop"] is False
    assert summary("--stop", "budget:60")["stop"] is True
    assert summary("--stop", "width:0.01")["stop"] is False
    assert "Judging may stop" in cli("preferences", "lists", comparisons, "--stop", "budget:9", "--format", "table").out
    assert cli("preferences", "lists", comparisons, "--stop", "mean:0.9").code == 2


def test_several_assessors_and_pairs_that_nobody_compared(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path / "l.csv", "q1,A,B,x,a", "q1,B,A,y,same", "q2,A,B,x,b", "q2,C,A,x,", "q3,C,A,x,neither")
    said = cli("preferences", "lists", path)
    pairs = {(row["a"], row["b"]): row for row in said.rows if row["kind"] == "pair"}
    assert pairs["A", "B"]["share"] == pytest.approx(0.375)
    assert (pairs["A", "B"]["queries"], pairs["A", "B"]["answers"]) == (2, 3)
    assert pairs["A", "C"]["share"] == 0.5
    assert "note: nobody compared B and C\n" in said.err
    assert "lists never differ" not in said.err
    assert "note: 1 row without a choice left out\n" in said.err


def test_repeated_answers(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path / "l.csv", "q1,A,B,x,a", "q2,A,B,x,a", "q1,B,A,x,a")
    refused = cli("preferences", "lists", path)
    assert refused.code == 2
    assert refused.err.startswith(f"earmark: {path}:4: expected one answer per question and assessor, got 'x' again")
    first, last = (cli("preferences", "lists", path, "--repeated", rule) for rule in ("first", "last"))
    assert [row["share"] for row in (*first.rows, *last.rows) if row["kind"] == "pair"] == [1.0, 0.5]
    assert "note: 1 answer left out: the same worker answered again, the last counts\n" in last.err


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q1,A,B,x,left", ":2: expected a, b, same or neither as choice, got 'left'"),
        ("q1,A,A,x,a", ":2: expected two different systems as a and b, got 'A' twice"),
        ("q1,A,B,,a", ":2: expected assessor in every row, got nothing"),
        ("q1,A,B,x,", ": expected at least one answer, got none"),
    ],
)
def test_what_is_refused(tmp_path: Path, row: str, message: str) -> None:
    path = written(tmp_path / "l.csv", row)
    with pytest.raises(InputError) as raised:
        read_list_answers(path)
    assert str(raised.value) == f"{path}{message}"


def test_a_column_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text("query,a,b,choice\nq,A,B,a\n")
    with pytest.raises(InputError, match=r":1: expected the columns .*\(no assessor\)"):
        read_list_answers(path)
