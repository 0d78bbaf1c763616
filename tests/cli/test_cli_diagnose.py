"""``earmark diagnose``: rows of three kinds for every share, the same for the same seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from called import Cli

from made_up import write_made_up


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> list[Path | str]:
    made = write_made_up(tmp_path_factory.mktemp("demo"))
    return [made.runs, "-j", made.judgments, "--metadata", made.metadata, "-m", "AG@5", "--repeats", "2"]


def test_every_share_has_scores_coverage_and_bins(cli: Cli, arguments: list[Path | str]) -> None:
    said = cli(
        "diagnose", *arguments, "--share", "0", "--share", "0.3", "--predictor", "mtc-judge", "--format", "jsonl"
    )
    assert said.code == 0
    rows = [json.loads(line) for line in said.out.splitlines()]
    for share in (0.0, 0.3):
        mine = [row for row in rows if row["share_judged"] == share]
        assert [row["kind"] for row in mine] == ["scores", *["coverage"] * 4, *["bin"] * 7]
        assert {"rps", "reliability", "resolution", "rmse", "variance"} <= set(mine[0])
        assert [row["level"] for row in mine[1:5]] == [0.6, 0.9, 0.95, 0.99]
        assert all(0 <= row["pairs"] <= 1 and 0 <= row["systems"] <= 1 for row in mine[1:5])
        assert sum(row["pairs"] for row in mine[5:]) == 28 * (2 if share else 1)


def test_a_table_and_the_same_seed(cli: Cli, arguments: list[Path | str]) -> None:
    first = cli("diagnose", *arguments, "--format", "table", "--seed", "3")
    assert first.code == 0
    assert "which should be their level" in first.out
    assert cli("diagnose", *arguments, "--format", "table", "--seed", "3").out == first.out
    assert cli("diagnose", *arguments, "--format", "table", "--seed", "4").out != first.out


def test_a_share_of_everything_leaves_nothing_to_compare(cli: Cli, arguments: list[Path | str]) -> None:
    said = cli("diagnose", *arguments, "--share", "1")
    assert said.code == 2
    assert "at least 0 and below 1, got 1" in said.err
