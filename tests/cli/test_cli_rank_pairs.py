"""Which pairs ``earmark rank --pairs`` lists, and bars for long computations."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from earmark.cli.output import Output
from earmark.errors import ParameterError
from earmark.inference.pair_choice import MANY_SYSTEMS, USUAL_TOP, PairChoice
from earmark.progress import track, watched


def write_lists(path: Path, systems: int, queries: int = 3, depth: int = 3) -> Path:
    rng = np.random.default_rng(0)
    lines = [
        f"s{system:02d}\tq{query}\td{document}\n"
        for system in range(systems)
        for query in range(queries)
        for document in rng.permutation(12)[:depth]
    ]
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lists(tmp_path_factory.mktemp("six") / "runs.tsv", 6)


def listed(rows: list[dict]) -> set[frozenset[str]]:
    return {frozenset((row["a"], row["b"])) for row in rows if row["kind"] == "pair"}


def best(rows: list[dict]) -> list[str]:
    return [row["system"] for row in rows if row["kind"] == "system"]


def test_pairs_among_the_best_systems(cli, six):
    call = ("rank", six, "-m", "AG@3", "--scale", "broad")
    everything = cli(*call).rows
    assert len(listed(everything)) == 15
    some = cli(*call, "--pairs", "top:3").rows
    top = best(some)[:3]
    assert listed(some) == {frozenset(pair) for pair in ((top[0], top[1]), (top[0], top[2]), (top[1], top[2]))}
    assert [row for row in some if row["kind"] != "pair"] == [row for row in everything if row["kind"] != "pair"]
    assert [row for row in everything if row["kind"] == "pair" and {row["a"], row["b"]} <= set(top)] == [
        row for row in some if row["kind"] == "pair"
    ]
    assert listed(cli(*call, "--pairs", "top:99").rows) == listed(everything)


@pytest.mark.parametrize("how", [("--pairs", "all"), ("--pairs",), ()])
def test_all_pairs_of_few_systems(cli, six, how):
    assert len(listed(cli("rank", six, "-m", "AG@3", "--scale", "broad", *how).rows)) == 15


def test_pairs_without_a_value_before_another_option(cli, six):
    assert len(listed(cli("rank", six, "--pairs", "-m", "AG@3", "--scale", "broad").rows)) == 15


def test_no_pairs(cli, six):
    rows = cli("rank", six, "-m", "AG@3", "--scale", "broad", "--pairs", "none").rows
    assert listed(rows) == set()
    assert rows[-1]["mean_confidence"] > 0.5


def test_pairs_with_the_baseline(cli, six):
    call = ("rank", six, "-m", "AG@3", "--scale", "broad", "--baseline", "s02")
    with_baseline = {frozenset((f"s{other:02d}", "s02")) for other in range(6) if other != 2}
    assert listed(cli(*call).rows) == with_baseline
    assert listed(cli(*call, "--pairs", "baseline").rows) == with_baseline
    assert listed(cli(*call, "--pairs", "none").rows) == set()
    some = cli(*call, "--pairs", "top:2").rows
    assert listed(some) == with_baseline | {frozenset(best(some)[:2])}


def test_a_table_says_which_pairs_it_lists(cli, six):
    call = ("rank", six, "-m", "AG@3", "--scale", "broad", "--format", "table")
    # Nothing is judged, so no pair is called decided.
    assert "3 pairs among the 3 best systems, none of them called decided" in cli(*call, "--pairs", "top:3").out
    assert "pairs among" not in cli(*call, "--pairs", "none").out


def test_very_many_systems(cli, tmp_path):
    many = write_lists(tmp_path / "many.tsv", MANY_SYSTEMS + 1)
    call = ("rank", many, "-m", "AG@3", "--scale", "broad")
    said = cli(*call)
    assert len(listed(said.rows)) <= USUAL_TOP * (USUAL_TOP - 1) // 2
    assert {name for pair in listed(said.rows) for name in pair} <= set(best(said.rows)[:USUAL_TOP])
    assert f"61 systems make 1,830 pairs: listing those among the {USUAL_TOP} best systems" in said.err
    whole = cli(*call, "--pairs", "all")
    assert len(listed(whole.rows)) > 1500
    assert "listing those" not in whole.err
    assert whole.rows[-1]["mean_confidence"] == said.rows[-1]["mean_confidence"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("some", "--pairs is all, top:20, baseline or none, got 'some'"),
        ("all:3", "--pairs is all, top:20, baseline or none, got 'all:3'"),
        ("top", "--pairs top is followed by how many systems, two or more: top:20, got 'top'"),
        ("top:1", "two or more: top:20, got 'top:1'"),
        ("top:x", "two or more: top:20, got 'top:x'"),
        ("baseline", "--pairs baseline lists the pairs with the baseline: name it with --baseline"),
    ],
)
def test_pairs_that_cannot_be_listed(cli, six, value, expected):
    said = cli("rank", six, "-m", "AG@3", "--scale", "broad", "--pairs", value)
    assert said.code == 2
    assert expected in said.err


def test_a_choice_round_trips():
    assert PairChoice.parse(" TOP:7 ") == PairChoice("top", 7)
    assert PairChoice.usual(MANY_SYSTEMS) == PairChoice("all")
    with pytest.raises(ParameterError, match="--baseline"):
        PairChoice("baseline").keep(None, None)  # type: ignore[arg-type]


# ---- progress --------------------------------------------------------------------------------------------------------


def test_whoever_watches_is_told_every_step():
    told: list[tuple[str, int, int]] = []
    with watched(lambda *step: told.append(step)):
        assert list(track(range(12), "counting")) == list(range(12))
        assert list(track(range(3), "a moment")) == [0, 1, 2]
    assert told == [("counting", done, 12) for done in range(13)]
    assert list(track(range(12), "counting")) == list(range(12))
    assert len(told) == 13


@pytest.mark.parametrize(
    ("quiet", "terminal", "shown"), [(False, True, True), (True, True, False), (False, False, False)]
)
def test_a_bar_is_for_terminals_only(monkeypatch, quiet, terminal, shown):
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with Output(quiet=quiet).watching():
        assert sum(track(range(20), "adding numbers")) == 190
    assert ("adding numbers" in screen.getvalue()) is shown
