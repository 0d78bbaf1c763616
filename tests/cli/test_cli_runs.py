"""``runs from-matrix`` and ``runs convert``: lists as the matrix orders them, files complete or untouched."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from called import Cli, Files

from earmark.cli import options
from earmark.data.readers import read_runs
from earmark.data.writers import FileFormat

IDS = ("s0", "s1", "s2", "s3", "s4", "s5")
# Points on a line, so that the neighbours of each are plain to see.
PLACES = np.array([0.0, 1.0, 2.5, 4.5, 7.0, 10.0])


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    np.save(tmp_path / "distances.npy", np.abs(PLACES[:, None] - PLACES))
    np.save(tmp_path / "similarities.npy", -np.abs(PLACES[:, None] - PLACES))
    (tmp_path / "ids.txt").write_text("\n".join(IDS) + "\n")
    (tmp_path / "queries.txt").write_text("s3\ns0\n")
    (tmp_path / "metadata.tsv").write_text("document\tartist\ns0\tx\ns1\tx\ns2\ty\ns3\ty\ns4\tz\ns5\tz\n")
    return tmp_path / "distances.npy"


def neighbours(said_rows: list[dict[str, object]]) -> dict[object, list[object]]:
    found: dict[object, list[object]] = {}
    for row in said_rows:
        found.setdefault(row["query"], []).append(row["document"])
    return found


def test_the_nearest_come_first_without_the_query(cli: Cli, matrix: Path) -> None:
    said = cli("runs", "from-matrix", matrix, "--ids", matrix.with_name("ids.txt"), "-k", 2)
    assert said.code == 0
    assert list(said.rows[0]) == ["system", "query", "document", "rank", "score"]
    assert neighbours(said.rows) == {
        "s0": ["s1", "s2"],
        "s1": ["s0", "s2"],
        "s2": ["s1", "s3"],
        "s3": ["s2", "s4"],
        "s4": ["s3", "s5"],
        "s5": ["s4", "s3"],
    }
    assert {row["system"] for row in said.rows} == {"distances"}
    assert said.rows[0]["score"] == -1.0
    assert said.err == "note: kind guessed from the diagonal: distances, small is near; name it with --kind\n"


def test_some_queries_an_artist_filter_and_a_file(cli: Cli, matrix: Path) -> None:
    here = matrix.parent
    said = cli(
        *("runs", "from-matrix", matrix, "--ids", here / "ids.txt", "--queries", here / "queries.txt", "-k", 2),
        *("--exclude-same", "artist", "--metadata", here / "metadata.tsv", "--system", "mine", "-o", here / "run.tsv"),
    )
    assert (said.code, said.out) == (0, "")
    assert f"note: wrote {here / 'run.tsv'}: " in said.err
    assert (here / "run.tsv").read_text() == "mine\ts3\ts4\nmine\ts3\ts1\nmine\ts0\ts2\nmine\ts0\ts3\n"


def test_similarities_are_recognised(cli: Cli, matrix: Path) -> None:
    ids = matrix.with_name("ids.txt")
    near = cli("runs", "from-matrix", matrix, "--ids", ids, "-k", 5).rows
    said = cli("runs", "from-matrix", matrix.with_name("similarities.npy"), "--ids", ids, "-k", 5)
    assert neighbours(said.rows) == neighbours(near)
    assert "similarities, large is near" in said.err
    wrong = cli("runs", "from-matrix", matrix, "--ids", ids, "-k", 5, "--kind", "similarity")
    assert wrong.code == 2
    assert "these look like distances" in wrong.err
    forced = cli("runs", "from-matrix", matrix, "--ids", ids, "-k", 1, "--kind", "similarity", "--no-check-kind")
    assert neighbours(forced.rows)["s0"] == ["s5"]


def test_rows_named_apart(cli: Cli, matrix: Path) -> None:
    here = matrix.parent
    np.save(here / "tall.npy", np.abs(np.array([4.0, 0.4])[:, None] - PLACES))
    (here / "queries.txt").write_text("first\nsecond\n")
    common = ("runs", "from-matrix", here / "tall.npy", "--ids", here / "ids.txt", "-k", 2)
    said = cli(*common, "--queries", here / "queries.txt")
    assert neighbours(said.rows) == {"first": ["s3", "s2"], "second": ["s0", "s1"]}
    assert "taken as distances, small is near" in said.err
    assert "expected a square matrix" in cli(*common).err


def test_a_square_matrix_with_other_rows(cli: Cli, matrix: Path) -> None:
    here = matrix.parent
    (here / "queries.txt").write_text("\n".join(f"q{number}" for number in range(6)))
    said = cli(
        *("runs", "from-matrix", matrix, "--ids", here / "ids.txt", "--queries", here / "queries.txt"),
        *("-k", 1, "--kind", "distance"),
    )
    assert neighbours(said.rows)["q2"] == ["s2"]


def test_the_query_may_stay(cli: Cli, matrix: Path) -> None:
    said = cli("runs", "from-matrix", matrix, "--ids", matrix.with_name("ids.txt"), "-k", 1, "--include-query")
    assert neighbours(said.rows) == {name: [name] for name in IDS}


def test_a_labelled_text_matrix_needs_no_ids(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n")
    said = cli("runs", "from-matrix", tmp_path / "m.csv", "-k", 1, "--kind", "distance", "--format", "csv")
    assert [(row["query"], row["document"]) for row in said.csv] == [("a", "b"), ("b", "a"), ("c", "a")]


def test_infinitely_near_documents_can_be_written(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(",a,b,c\na,1,inf,2\nb,1,1,3\nc,2,3,1\n")
    said = cli("runs", "from-matrix", tmp_path / "m.csv", "-k", 2, "--kind", "similarity", "-o", tmp_path / "run")
    assert said.code == 0
    assert (tmp_path / "run").read_text().splitlines()[0] == "a Q0 b 1 2 m"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-k", 0), "Invalid value for '--depth' / '-k'"),
        (("-k", 2, "--exclude-same", "artist"), "--exclude-same needs to know the documents: give their --metadata"),
        (("-k", 2, "--kind", "close"), "'close' is not one of"),
        (("-k", 2, "--to", "csv"), "--to names the format of a file: name the file with --output"),
    ],
)
def test_wrong_usage(cli: Cli, matrix: Path, options: tuple[object, ...], message: str) -> None:
    said = cli("runs", "from-matrix", matrix, "--ids", matrix.with_name("ids.txt"), *options)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("earmark: ")
    assert message.lower() in said.err.lower()


def test_an_unknown_attribute_and_a_filter_that_leaves_nothing(cli: Cli, matrix: Path) -> None:
    here = matrix.parent
    (here / "old.tsv").write_text("old\n")
    common = ("runs", "from-matrix", matrix, "--ids", here / "ids.txt", "-k", 2, "--metadata", here / "metadata.tsv")
    said = cli(*common, "--exclude-same", "artits", "-o", here / "old.tsv")
    assert (said.code, said.err) == (2, "earmark: the metadata has no column 'artits': did you mean 'artist'?\n")
    (here / "metadata.tsv").write_text("document\tartist\n" + "".join(f"{name}\tone\n" for name in IDS))
    said = cli(*common, "--exclude-same", "artist", "-o", here / "old.tsv")
    assert said.code == 2
    assert "expected documents to rank, got none that is not left out" in said.err
    assert (here / "old.tsv").read_text() == "old\n"


def test_lists_that_a_filter_empties_are_counted(cli: Cli, matrix: Path) -> None:
    here = matrix.parent
    attributes = "s0\tx\ts\ns1\ty\ts\ns2\ty\tt\ns3\ty\tt\ns4\ty\tt\ns5\ty\tt\n"
    (here / "metadata.tsv").write_text(f"document\tartist\tgenre\n{attributes}")
    filters = ("--exclude-same", "artist", "--exclude-same", "genre", "--metadata", here / "metadata.tsv")
    said = cli("runs", "from-matrix", matrix, "--ids", here / "ids.txt", "-k", 9, *filters)
    assert neighbours(said.rows)["s0"] == ["s2", "s3", "s4", "s5"]
    assert "note: 1 of 6 queries have no documents left and are not in the run\n" in said.err


def test_the_file_formats_are_the_writers() -> None:
    assert get_args(options.FileFormat) == get_args(FileFormat)


@pytest.mark.parametrize("name", ["out.trec", "out.csv", "out.parquet", "out.tsv.gz"])
def test_converting_there_and_back(cli: Cli, files: Files, name: str) -> None:
    there, back = files.folder / name, files.folder / "back.tsv"
    assert cli("runs", "convert", files.runs, "-o", there).code == 0
    said = cli("runs", "convert", there, "-o", back, "--quiet")
    assert (said.code, said.out, said.err) == (0, "", "")
    assert back.read_text() == files.runs.read_text()


def test_converting_several_files_into_one(cli: Cli, files: Files) -> None:
    for name in ("a", "b"):
        (files.folder / f"{name}.run").write_text(f"q Q0 d 1 1.5 {name}\n")
    target = files.folder / "both"
    cli("runs", "convert", files.folder / "a.run", files.folder / "b.run", "-o", target, "--to", "csv")
    assert target.read_text() == "system,query,document,rank,score\na,q,d,1,1.5\nb,q,d,1,1.5\n"


def test_converting_by_rank_says_that_scores_are_lost(cli: Cli, files: Files) -> None:
    files.runs.write_text("q Q0 x 1 0.1 S\nq Q0 a 2 0.9 S\n")
    target = files.folder / "out.run"
    said = cli("runs", "convert", files.runs, "--order", "rank", "-o", target)
    assert "scores are left out: they do not give the order of the lists" in said.err
    assert read_runs(target).documents.to_list() == ["x", "a"]


def test_without_a_file_runs_are_printed(cli: Cli, files: Files) -> None:
    said = cli("runs", "convert", files.runs)
    assert said.rows[0] == {"system": "good", "query": "q1", "document": "a", "rank": 1}
    table = cli("runs", "convert", files.runs, "--format", "table").out.splitlines()
    assert table[2].split() == ["good", "q1", "a", "1"]


def test_a_bad_run_leaves_the_old_file_alone(cli: Cli, files: Files) -> None:
    target = files.folder / "out.tsv"
    target.write_text("old\n")
    files.runs.write_text("q1 Q0 a 1 0.5 S\nq1 Q0 b 2 high S\n")
    said = cli("runs", "convert", files.runs, "-o", target)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"earmark: {files.runs}:2: expected a number as score, got 'high'\n"
    assert target.read_text() == "old\n"
    assert sorted(path.name for path in files.folder.iterdir() if path.name.startswith(".")) == []
