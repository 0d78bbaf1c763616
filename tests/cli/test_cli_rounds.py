"""Judging in rounds: judgments of several files in every command, and how to go on."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from called import Cli, Files

COMMANDS = (
    ("evaluate", "-m", "AG@2"),
    ("compare", "-m", "AG@2"),
    ("curves",),
    ("describe",),
    ("features",),
    ("rank", "-m", "AG@2"),
    ("next", "-m", "AG@2"),
    ("plan", "-m", "AG@2", "--repeats", "2"),
    ("simulate", "-m", "AG@2", "--repeats", "1"),
    ("diagnose", "-m", "AG@2", "--repeats", "1"),
    ("fit", "--predictor", "hierarchical"),
    ("report", "-m", "AG@2"),
)


@pytest.fixture
def rounds(files: Files) -> Path:
    """The judgments of the small collection in three files of three formats."""
    lines = [line.split("\t") for line in files.judgments.read_text().splitlines()]
    folder = files.folder / "answers"
    folder.mkdir()
    (folder / "1.tsv").write_text("".join("\t".join(line) + "\n" for line in lines[:5]))
    (folder / "2.csv").write_text("query,document,gain\n" + "".join(",".join(line) + "\n" for line in lines[4:9]))
    (folder / "3.qrels").write_text("".join(f"{query} 0 {document} {gain}\n" for query, document, gain in lines[9:]))
    return folder


def given(*judgments: object) -> list[object]:
    return [word for one in judgments for word in ("--judgments", one)]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_takes_files_folders_and_patterns(
    cli: Cli, files: Files, rounds: Path, command: tuple[str, ...]
) -> None:
    written = files.folder / "written"
    if command[0] == "diagnose":
        # It needs the whole truth.
        with files.judgments.open("a") as whole_file, (rounds / "3.qrels").open("a") as last_file:
            for query, document in (("q2", "y"), ("q3", "y"), ("q3", "z")):
                whole_file.write(f"{query}\t{document}\t0\n")
                last_file.write(f"{query} 0 {document} 0\n")

    def out(*judgments: object) -> str:
        more = ("-o", written) if command[0] in ("fit", "report") else ()
        said = cli(command[0], files.runs, *command[1:], *given(*judgments), *more)
        assert said.code == 0, said.err
        if command[0] == "fit":
            return written.read_text()
        return said.out

    whole = out(files.judgments)
    apart = [rounds / name for name in ("3.qrels", "1.tsv", "2.csv")]
    assert out(*apart) == whole
    assert out(*apart, apart[0], files.judgments, files.judgments) == whole
    assert out(rounds) == whole
    assert out(rounds / "*") == whole
    assert out(rounds / "[12].*", rounds / "3.qrels") == whole


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_help_says_what_counts(cli: Cli, command: tuple[str, ...]) -> None:
    text = " ".join(cli(command[0], "--help").out.replace("│", " ").split())
    assert "quoted pattern such as 'answers/*.csv'" in text
    assert "the latest counts: by sequence, then by time, then the larger gain" in text


def test_a_pattern_that_matches_nothing(cli: Cli, files: Files) -> None:
    said = cli("rank", files.runs, "-j", files.judgments, "-j", files.folder / "answers" / "*.csv")
    assert (said.code, said.out) == (2, "")
    assert "answers/*.csv: expected files of judgments, got no file that matches the pattern" in said.err


def test_several_files_about_other_documents(cli: Cli, files: Files) -> None:
    for name in ("x.tsv", "y.tsv"):
        (files.folder / name).write_text("q1\tnever\t1\n")
    for command in ("rank", "evaluate"):
        said = cli(command, files.runs, *given(files.folder / "x.tsv", files.folder / "y.tsv"), "-m", "AG@2")
        assert said.code == 2
        assert "earmark: expected judgments of some of the documents that were retrieved" in said.err


def test_a_report_names_every_file(cli: Cli, files: Files, rounds: Path) -> None:
    page = files.folder / "report.html"
    assert cli("report", files.runs, "-j", rounds, "-o", page).code == 0
    assert all(str(rounds / name) in page.read_text() for name in ("1.tsv", "2.csv", "3.qrels"))


@pytest.mark.parametrize("header", ["query,document,gain", "topic,docno,rel", "query,document,gain,assessor,time"])
def test_judgments_among_runs_are_refused(cli: Cli, files: Files, header: str) -> None:
    first, second = files.folder / "a.csv", files.folder / "b.csv"
    row = "q1,a,2,ann,\n" if "assessor" in header else "q1,a,2\n"
    for path in (first, second):
        path.write_text(f"{header}\n{row}")
    said = cli("rank", files.runs, "-j", first, second)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert f"{second}: expected a run, got a file of judgments" in said.err
    assert "name judgments with --judgments, and repeat the option before every file: -j a.csv -j b.csv" in said.err


def test_judgments_without_names_among_runs_are_refused(cli: Cli, files: Files, rounds: Path) -> None:
    said = cli("rank", files.runs, "-j", rounds / "2.csv", rounds / "1.tsv")
    assert (said.code, said.out) == (2, "")
    assert "expected a run, got what looks like judgments: its systems are queries, 'q1'" in said.err


def test_a_run_with_gains_beside_scores_is_a_run(cli: Cli, files: Files) -> None:
    run = files.folder / "mine.csv"
    run.write_text("query,document,score,rel\nq1,a,2,1\nq1,b,1,0\n")
    said = cli("evaluate", run, "-j", files.judgments, "-m", "AG@2")
    assert (said.code, said.rows[0]["system"]) == (0, "mine")


def advised(err: str) -> list[list[str]]:
    """The commands that a note proposes."""
    return [shlex.split(line)[1:] for line in err.splitlines() if line.startswith("  earmark ")]


def fill_in(path: Path, gain: int) -> None:
    path.write_text(path.read_text().replace(",,", f",{gain},"))


def test_following_the_advice_loses_no_round(cli: Cli, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files.folder)
    said = cli("next", "runs.tsv", "--scale", "broad", "-m", "AG@2", "-n", 3, "--seed", 4, "-o", "my round.csv")
    for gain, judged in ((1, 3), (2, 6), (0, 9)):
        rank, again = advised(said.err)
        assert rank[:2] == ["rank", "runs.tsv"]
        assert (rank.count("--judgments"), again[0]) == (judged // 3, "next")
        fill_in(Path(rank[len(rank) - rank[::-1].index("--judgments")]), gain)
        ranked = cli(*rank)
        assert (ranked.code, ranked.rows[-1]["judged"]) == (0, judged)
        said = cli(*again)
        assert said.code == 0
    assert sorted(path.name for path in files.folder.glob("my round*")) == [
        *(f"my round-{number}.csv" for number in (2, 3, 4)),
        "my round.csv",
    ]


def test_the_advice_names_what_was_given(cli: Cli, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files.folder)
    answers = files.folder / "answers"
    answers.mkdir()
    (answers / "round-1.tsv").write_text("q1\ta\t2\n")
    options = ["--metadata", "metadata.tsv", "--stop", "top:1", "--audit", "0.5", "--group-by-query", "-n", 2]
    first = ["next", "runs.tsv", *options, "-j", "answers/*.tsv"]
    rank, again = advised(cli(*first, "-o", "round-2.csv").err)
    assert rank == shlex.split(
        "rank runs.tsv --judgments 'answers/*.tsv' --judgments round-2.csv --metadata metadata.tsv --stop top:1"
    )
    assert again[-2:] == ["--output", "round-3.csv"]
    assert {"--audit", "--group-by-query", "--count"} <= set(again)
    # A file in the folder that was given is among the judgments as it is.
    rank, _ = advised(cli("next", "runs.tsv", "-j", "answers", "-n", 2, "-o", "answers/round-2.csv").err)
    assert rank == ["rank", "runs.tsv", "--judgments", "answers"]
    assert cli(*rank).rows[-1]["judged"] == 1
    said = cli("next", "runs.tsv", "-j", "answers", "-n", 2, "-o", "answers/round-1.tsv", "--quiet")
    assert "earmark rank" not in said.err
