"""Commands are called as the shell calls them, without a shell, on a small collection."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli, Files, Said

from earmark.cli.main import main

RUNS = {
    "good": {"q1": "a b c", "q2": "d e f", "q3": "a d g"},
    "fair": {"q1": "c a b", "q2": "e f d", "q3": "g d a"},
    "poor": {"q1": "x y c", "q2": "x f y", "q3": "x y z"},
}
GAINS = {
    "q1": {"a": 2, "b": 1, "c": 0, "x": 0, "y": 0},
    "q2": {"d": 2, "e": 1, "f": 0, "x": 0},
    "q3": {"a": 2, "d": 2, "g": 1, "x": 0},
}


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*arguments: object) -> Said:
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return call


@pytest.fixture
def files(tmp_path: Path) -> Files:
    found = Files(
        tmp_path,
        *(tmp_path / name for name in ("runs.tsv", "judgments.tsv", "metadata.tsv", "teams.tsv")),
        *(tmp_path / name for name in ("works.tsv", "covers.tsv", "groups.tsv")),
    )
    found.runs.write_text(
        "".join(
            f"{system}\t{query}\t{document}\n"
            for system, answers in RUNS.items()
            for query, documents in answers.items()
            for document in documents.split()
        )
    )
    found.judgments.write_text(
        "".join(f"{query}\t{document}\t{gain}\n" for query, items in GAINS.items() for document, gain in items.items())
    )
    found.metadata.write_text("document\tartist\n" + "".join(f"{name}\tartist {name}\n" for name in "abcdefg"))
    found.teams.write_text("good\tone\nfair\tone\npoor\ttwo\n")
    found.cliques.write_text("s1\tw1\ns2\tw1\ns3\tw1\nt1\tw2\nt2\tw2\nu1\tw3\n")
    found.covers.write_text("M\ts1\ts2\nM\ts1\tt1\nM\ts1\ts3\nM\tt1\ts1\nM\tt1\tt2\nN\ts1\tt1\nN\ts1\ts2\n")
    found.groups.write_text("q\td1\t1\nq\td2\t1\nq\td3\t2\nq\td4\t2\nq\td5\t2\n")
    return found
