"""``crowd questions``, ``import`` and ``clips``: files as they go out and come back, notes, and what is refused."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import soundfile
from called import Cli

CONFIG = """
queries = ["war", "food"]
assessors = 3
[categories]
genre = ["Rock", "Ska"]
mood = ["Sad"]
[pairs]
genre = ["genre"]
both = ["genre", "mood"]
[documents]
file = "songs.csv"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    songs = [f"r{n},Rock" for n in range(4)] + [f"k{n},Ska" for n in range(3)] + [f"s{n},Sad" for n in range(3)]
    (tmp_path / "songs.csv").write_text("document,group\n" + "\n".join(songs) + "\n")
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    return path


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# Questions


def test_questions_cover_everything_unless_told_how_many(cli: Cli, config: Path) -> None:
    said = cli("crowd", "questions", "--config", config)
    assert said.code == 0
    assert list(said.rows[0]) == ["question", "query", "a", "b", "kind", "assessors"]
    seen = {(row["query"], row[side]) for row in said.rows for side in "ab"}
    assert len(seen) == 2 * 10
    assert {row["assessors"] for row in said.rows} == {3}
    assert said.err == "note: all of 20 documents for a query asked about at least once\n"
    again = cli("crowd", "questions", "--config", config, "--seed", 0)
    assert again.out == said.out
    assert cli("crowd", "questions", "--config", config, "--seed", 1).out != said.out
    few = cli("crowd", "questions", "--config", config, "-n", 3, "--assessors", 5)
    assert len(few.rows) == 3
    assert few.rows[0]["assessors"] == 5
    assert few.err == "note: 14 of 20 documents for a query not asked about yet\n"


def test_rounds(cli: Cli, config: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    assert cli("crowd", "questions", "--config", config, "-o", first).out == ""
    said = cli("crowd", "questions", "--config", config, "--asked", first, "-n", 1000, "-o", second, "--no-cover")
    ids = [row["question"] for path in (first, second) for row in table(path)]
    # 21 pairs of genres and 7 · 3 across, for two queries.
    assert len(ids) == len(set(ids)) == 2 * (21 + 21)
    assert f"only {len(table(second))} questions left to ask" in said.err
    nothing = cli("crowd", "questions", "--config", config, "--asked", first, "--asked", second, "-n", 5)
    assert (nothing.code, nothing.out) == (0, "")
    assert "only 0 questions left to ask" in nothing.err


def test_top_up_asks_for_what_is_missing(cli: Cli, config: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    rows = ["query,a,b,assessor,choice"]
    rows += [f"war,r0,r1,w{n},a" for n in range(3)] + ["food,k0,s1,w0,b"]
    answers.write_text("\n".join(rows) + "\n")
    said = cli("crowd", "questions", "--config", config, "--asked", answers, "--top-up")
    assert [(row["query"], {row["a"], row["b"]}, row["assessors"]) for row in said.rows] == [("food", {"k0", "s1"}, 2)]
    assert said.err == "note: 1 question with fewer than 3 answers\n"
    more = cli("crowd", "questions", "--config", config, "--asked", answers, "--top-up", "-n", 2)
    assert [row["assessors"] for row in more.rows] == [2, 3, 3]
    answers.write_text("\n".join(rows[:4]) + "\n")
    done = cli("crowd", "questions", "--config", config, "--asked", answers, "--top-up")
    assert done.out == ""
    assert "every question of --asked has 3 answers: nothing to top up" in done.err


def unanimous(path: Path, *lines: str) -> Path:
    """Answers of three people who agree: lines of query, a, b and the choice."""
    rows = [",".join([*line.split()[:3], f"w{person}", line.split()[3]]) for line in lines for person in range(3)]
    path.write_text("query,a,b,assessor,choice\n" + "\n".join(rows) + "\n")
    return path


def test_traps_and_packages_go_out_and_come_back(cli: Cli, config: Path, tmp_path: Path) -> None:
    traps = unanimous(tmp_path / "students.csv", "war r0 r1 a", "food k0 k1 b", "war x y a")
    questions, results, answers = (tmp_path / name for name in ("questions.csv", "results.csv", "answers.csv"))
    said = cli(
        "crowd", "questions", "--config", config, "--traps", traps, "-n", 20, "-o", questions, "--phase", "two",
        "--package", 4, "--media-url", "https://example.org/{document}.mp3", "--query-url", "https://example.org/{query}",
    )  # fmt: skip
    assert said.code == 0
    assert said.err.splitlines()[-4:] == [
        "note: 1 of 3 traps are not of this benchmark",
        "note: 4 traps among 20 questions, from 2 different ones",
        f"note: wrote {questions}: 24 questions",
        f"note: wrote {tmp_path / 'questions-tasks.csv'}: 6 tasks of 4 questions",
    ]
    kept = table(questions)
    assert Counter(row["trap"] != "" for row in kept) == {False: 20, True: 4}
    expected = {("war", "r0"), ("food", "k1")}
    assert {(row["query"], row[row["trap"]]) for row in kept if row["trap"]} == expected
    # No trap is asked as a question as well.
    assert all({row["a"], row["b"]} != {"r0", "r1"} or row["query"] != "war" for row in kept if not row["trap"])
    tasks = pl.read_csv(tmp_path / "questions-tasks.csv")
    assert not any("trap" in name for name in tasks.columns)
    assert tasks["left_url_1"][0] == f"https://example.org/{tasks['left_1'][0]}.mp3"
    done = pl.concat(
        tasks.rename({name: f"Input.{name}" for name in tasks.columns}).with_columns(
            pl.lit(worker).alias("WorkerId"),
            pl.lit("Approved").alias("AssignmentStatus"),
            pl.int_range(pl.len()).cast(pl.String).alias("AssignmentId") + worker,
            *(pl.lit(word).alias(f"Answer.choice_{place}") for place in range(1, 5)),
            *(pl.lit("4").alias(f"Answer.strength_{place}") for place in range(1, 5)),
        )
        for worker, word in (("ann", "left"), ("bob", "right"))
    )
    done.write_csv(results)
    back = cli("crowd", "import", results, "--questions", questions, "-o", answers)
    assert back.rows[0] == {"outcome": "kept", "answers": 48, "assessors": 2}
    assert [row["answers"] for row in back.rows[1:]] == [0, 0, 0, 0]
    assert f"note: wrote {answers}: 48 answers by 2 assessors" in back.err
    assert "note: 8 answers to traps\n" in back.err
    rows = table(answers)
    assert Counter((row["assessor"], row["choice"], row["strength"]) for row in rows) == {
        ("ann", "a", "4"): 24,
        ("bob", "b", "4"): 24,
    }
    assert {row["phase"] for row in rows} == {"two"}
    right = sum(row["trap"] == row["choice"] for row in rows if row["trap"])
    assert right == 4


def test_the_example_and_its_configuration(cli: Cli, tmp_path: Path) -> None:
    said = cli("crowd", "questions", "--example", "-n", 30, "--format", "csv")
    assert len(said.csv) == 30
    assert all(row["a"].startswith("song") for row in said.csv)
    path = tmp_path / "mine.toml"
    written = cli("crowd", "questions", "--write-config", path)
    assert (written.code, written.out) == (0, "")
    assert written.err == f"note: wrote {path}; fill in your documents and pass it as --config\n"
    assert cli("crowd", "questions", "--config", path, "-n", 30, "--format", "csv").out == said.out
    again = cli("crowd", "questions", "--write-config", path)
    assert (again.code, again.err) == (2, f"earmark: {path}: there is such a file already; name another\n")


def test_a_table_for_people(cli: Cli, config: Path, tmp_path: Path) -> None:
    traps = unanimous(tmp_path / "students.csv", "war r0 r1 a")
    said = cli("crowd", "questions", "--config", config, "-n", 3, "--traps", traps, "--format", "table", "-q")
    lines = said.out.splitlines()
    assert lines[0].split() == ["query", "a", "b", "kind", "trap", "assessors"]
    assert lines[-1] == "4 questions"
    assert said.err == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "say which benchmark to ask about: either --config FILE or --example"),
        (["--config", "CONFIG", "--example"], "either --config FILE or --example"),
        (["--config", "none.toml"], "none.toml: expected a file, got nothing there (is the path spelt right?)"),
        (["--config", "CONFIG", "--no-cover"], "--no-cover draws as many questions as -n says: give it"),
        (["--config", "CONFIG", "--top-up"], "--top-up needs answers to top up: give them with --asked"),
        (["--config", "CONFIG", "--media-url", "x"], "are for tasks: say how large with --package"),
        (["--config", "CONFIG", "--package", "2"], "say where to write tasks with --package-output, or questions with"),
        (
            ["--config", "CONFIG", "--package", "2", "--package-output", "FOLDER/t.csv", "--media-url", "x"],
            "an address says where the id goes, as in https://example.org/{document}, got 'x'",
        ),
        (
            ["--config", "CONFIG", "--asked", "OTHERS"],
            "expected questions of this benchmark, got 3 rows, none of them one",
        ),
        (["--config", "CONFIG", "--traps", "OTHERS"], "expected traps of this benchmark, got 1 trap, none of them one"),
        (
            ["--config", "CONFIG", "--traps", "OTHERS", "--assessors", "4"],
            "expected questions on which 4 or more people all agreed, to make traps of, got none of 1 question",
        ),
        (["--config", "CONFIG", "-o", "FOLDER/q.tsv"], "q.tsv: questions are written as .csv"),
    ],
)
def test_questions_that_are_refused(cli: Cli, config: Path, tmp_path: Path, options: list[str], message: str) -> None:
    others = unanimous(tmp_path / "others.csv", "peace x y a")
    names = {"CONFIG": str(config), "OTHERS": str(others)}
    before = sorted(tmp_path.iterdir())
    said = cli("crowd", "questions", *(names.get(one, one).replace("FOLDER", str(tmp_path)) for one in options))
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("earmark: ")
    assert message in said.err
    assert len(said.err.splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == before


# Importing


@pytest.fixture
def results(tmp_path: Path) -> Callable[..., Path]:
    def written(*rows: str) -> Path:
        path = tmp_path / "results.csv"
        path.write_text("\n".join(["who,topic,one,two,best,AssignmentStatus", *rows]) + "\n")
        return path

    return written


MAPPED = [
    *("--column", "assessor=who", "--column", "query=topic", "--column", "a=one", "--column", "b=two"),
    *("--column", "choice=best", "--choice", "1=a", "--choice", "2=b"),
]


def test_columns_and_words_can_be_named(cli: Cli, results: Callable[..., Path], tmp_path: Path) -> None:
    path = results("ann,q,x,y,1,Approved", "bob,q,x,y,2,Rejected", "cat,q,x,y,,Submitted", "ann,q,y,x,2,Approved")
    answers, out = tmp_path / "answers.csv", tmp_path / "left.csv"
    said = cli("crowd", "import", path, *MAPPED, "-o", answers, "--left-out", out, "--format", "table")
    assert table(answers) == [{"query": "q", "a": "x", "b": "y", "assessor": "ann", "choice": "a", "strength": "1"}]
    assert [line.split()[-2:] for line in said.out.splitlines()[2:6]] == [["1", "1"]] * 4
    assert said.out.splitlines()[-1] == "4 answers in 4 rows"
    assert said.err.splitlines()[-1] == f"note: wrote {out}: 3 answers left out"
    assert [(row["row"], row["assessor"], row["reason"]) for row in table(out)] == [
        ("2", "bob", "rejected"),
        ("3", "cat", "no choice"),
        ("4", "ann", "answered before"),
    ]
    kept = cli("crowd", "import", path, *MAPPED, "-o", answers, "--keep-rejected", "-q")
    assert {row["outcome"]: row["answers"] for row in kept.rows} == {
        "kept": 2,
        "rejected": 0,
        "no choice": 1,
        "no strength": 0,
        "answered before": 1,
    }
    assert kept.err == ""


def test_the_melody_preferences_are_imported(cli: Cli, melody: Path, tmp_path: Path) -> None:
    answers = tmp_path / "answers.csv"
    named = cli("crowd", "import", melody / "judgments.csv", "--mapping", "melody-2010", "-o", answers)
    assert named.rows[0] == {"outcome": "kept", "answers": 2805, "assessors": 79}
    text = answers.read_text()
    by_hand = cli(
        "crowd", "import", melody / "judgments.csv", "-o", answers, "--encoding", "latin-1",
        "--column", "a=Input.docA", "--column", "b=Input.docB", "--column", "choice=Answer.radio", "--choice", "s=same",
    )  # fmt: skip
    assert by_hand.out == named.out
    assert answers.read_text() == text
    wrong = cli("crowd", "import", melody / "judgments.csv", "-o", tmp_path / "none.csv")
    assert wrong.code == 2
    assert "judgments.csv:2809: expected text in utf-8, got byte 0xb4 (name the file's encoding" in wrong.err
    assert not (tmp_path / "none.csv").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "FOLDER/a.csv", "--mapping", "turk"], "no mapping called 'turk': there are mturk, melody-2010"),
        (["-o", "FOLDER/a.csv", "--column", "choice"], "--column takes FIELD=NAME, got 'choice'"),
        (["-o", "FOLDER/a.csv", "--choice", "=a"], "--choice takes WORD=CHOICE, got '=a'"),
        (["-o", "FOLDER/a.csv"], "results.csv:1: expected a column Input.query, got who, topic, one, two, best"),
        (["-o", "FOLDER/a.txt", *MAPPED], "a.txt: preferences are written as .csv, .tsv"),
        (
            ["-o", "FOLDER/a.csv", *MAPPED[:-2]],
            "results.csv:3: expected a, b, same, left, right, 1 as choice (best), got",
        ),
        (["-o", "FOLDER/a.csv", *MAPPED, "--encoding", "klingon"], "expected a known encoding, got 'klingon'"),
        ([], "Missing option '--output' / '-o'"),
    ],
)
def test_imports_that_are_refused(
    cli: Cli, results: Callable[..., Path], tmp_path: Path, options: list[str], message: str
) -> None:
    path = results("ann,q,x,y,1,Approved", "bob,q,x,y,2,Approved")
    said = cli("crowd", "import", path, *(one.replace("FOLDER", str(tmp_path)) for one in options))
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert [one.name for one in tmp_path.iterdir()] == ["results.csv"]


# Clips


def test_clips_need_their_library(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    said = cli("crowd", "clips", tmp_path / "song.wav", "-o", tmp_path, "--ending", ".flac")
    assert said.code == 2
    assert said.err == (
        "earmark: cutting clips needs soundfile, which is not installed: pip install 'earmark[audio]'\n"
    )


def test_clips_are_cut(cli: Cli, tmp_path: Path) -> None:
    for name, seconds in (("long", 4), ("short", 1)):
        soundfile.write(tmp_path / f"{name}.wav", [0.1] * 800 * seconds, 800)
    clips = tmp_path / "clips"
    clips.mkdir()
    call = ["crowd", "clips", tmp_path / "long.wav", tmp_path / "short.wav", "-o", clips, "--start", 1, "--seconds", 2]
    said = cli(*call, "--ending", ".flac")
    assert said.rows == [
        {"clip": str(clips / "long.flac"), "start": 1.0, "end": 3.0, "moved": False},
        {"clip": str(clips / "short.flac"), "start": 0.0, "end": 1.0, "moved": True},
    ]
    assert said.err == ("note: 1 recording too short to cut where it was wanted: the end was taken, or all of it\n")
    shown = cli(*call, "--format", "table", "-q").out.splitlines()
    assert [line.split()[-2:] for line in shown[2:4]] == [["1.0", "3.0"], ["0.0", "1.0"]]


# Help, and the paper


@pytest.mark.parametrize("command", ["questions", "import", "clips"])
def test_help_has_examples_with_options_that_exist(cli: Cli, command: str) -> None:
    said = cli("crowd", command, "--help")
    assert said.code == 0
    before, _, after = said.out.partition("Examples")
    assert f"earmark crowd {command}" in after
    assert "[/" not in said.out
    assert all(word in before for word in after.split() if word.startswith("-"))
    assert command in cli("crowd").out


def test_srbench_is_reproduced(cli: Cli) -> None:
    said = cli("reproduce", "srbench", "--seeds", 1)
    assert said.code == 0
    assert sum(row["agrees"] is True for row in said.rows) == 5
    assert all(row["agrees"] is None for row in said.rows if row["how"] == "given")
    shown = cli("reproduce", "srbench", "--seeds", 1, "--format", "table").out.splitlines()
    at = shown.index("Stupar and Michel 2013, Table 6: preference precision, first 20 songs")
    assert shown[at + 1].split() == ["paper", "6/6", "+5/6", "+4/6"]
    assert shown[at + 3].split() == ["Emotion-based", "0.658", "0.595", "0.559"]
    refused = cli("reproduce", "srbench", "--data", "somewhere")
    assert refused.code == 2
    assert "somewhere: expected a folder of collections, got none" in refused.err
