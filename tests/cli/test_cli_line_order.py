"""The order of lines, of files and of systems says nothing: it changes no digit of any result."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from called import Cli, Files

import earmark

SEED = 5


@pytest.fixture(scope="module")
def lines() -> dict[str, list[str]]:
    """The lines of runs, judgments and answers to pair questions about one made-up collection."""
    made = earmark.synthetic_collection(np.random.default_rng(SEED), systems=4, queries=14, documents=90)
    runs = made.runs
    results = [
        f"{runs.queries[query]} Q0 {document} {rank} {20 - rank} {runs.systems[system]}"
        for system, query, start, end in zip(
            runs.list_system, runs.list_query, runs.offsets[:-1], runs.offsets[1:], strict=True
        )
        for rank, document in enumerate(runs.documents[int(start) : int(end)].to_list(), start=1)
    ]
    rows = made.judgments.frame.select("query", "document", "gain").rows()[::2]
    rng = np.random.default_rng(SEED)
    answers = [
        f"{query},{a},{b},w{number % 3},{'ab'[int(rng.random() < 0.3)]},{1 + number % 3}"
        for number, ((query, a, gain), (other, b, less)) in enumerate(pairwise(rows))
        if query == other and gain >= less
    ]
    return {
        "runs": results,
        "judgments": [f"{query} 0 {name} {gain:g}" for query, name, gain in rows],
        "answers": answers,
    }


def write(folder: Path, lines: dict[str, list[str]], rng: np.random.Generator | None) -> dict[str, Path]:
    """Write the files, in an order of lines that is drawn."""
    heads = {"answers": ["query,a,b,assessor,choice,strength"]}
    files = {name: folder / f"{name}.{'csv' if name in heads else 'txt'}" for name in lines}
    for name, path in files.items():
        order = np.arange(len(lines[name])) if rng is None else rng.permutation(len(lines[name]))
        path.write_text("\n".join([*heads.get(name, []), *(lines[name][index] for index in order)]) + "\n")
    return files


@pytest.mark.parametrize(
    "command",
    [
        "evaluate -m AG@5,nDCG@5,AP --per-query",
        *(f"compare -m AG@5 --test {test}" for test in ("friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap")),
        "compare -m nDCG@5 --baseline system-2 --test bootstrap --margin 0.01",
        "rank -m AG@5",
        "rank -m nDCG@5",
        "rank -m RR --predictor uniform",
        "next -m AG@5 -n 10",
        "next -m RR -n 10 --policy random",
        "preferences rank -k 5",
        "preferences next -k 5 -n 5",
    ],
)
def test_the_order_of_lines_changes_no_digit(cli: Cli, files: Files, lines: dict[str, list[str]], command: str) -> None:
    said = []
    for seed in (None, 1):
        paths = write(files.folder, lines, None if seed is None else np.random.default_rng(seed))
        known = ("--preferences", paths["answers"]) if "preferences" in command else ("-j", paths["judgments"])
        words = command.split()
        verbs = 2 if words[0] == "preferences" else 1
        result = cli(*words[:verbs], paths["runs"], *known, *words[verbs:], "--format", "jsonl", "--quiet")
        assert result.code == 0, result.err
        said.append(sorted(result.out.splitlines()))
    assert said[0] == said[1]


def test_the_order_of_files_changes_no_digit(cli: Cli, files: Files, lines: dict[str, list[str]]) -> None:
    paths = write(files.folder, lines, None)
    of_system: dict[str, list[str]] = {}
    for line in lines["runs"]:
        of_system.setdefault(line.split()[-1], []).append(line)
    runs = []
    for name, own in of_system.items():
        runs.append(files.folder / f"{name}.run")
        runs[-1].write_text("\n".join(own) + "\n")
    for command in (["compare", "--test", "bootstrap"], ["rank"]):
        both = [
            cli(command[0], *order, "-j", paths["judgments"], "-m", "nDCG@5", *command[1:], "--quiet").out
            for order in (runs, runs[::-1])
        ]
        assert sorted(both[0].splitlines()) == sorted(both[1].splitlines())
        assert both[0]
