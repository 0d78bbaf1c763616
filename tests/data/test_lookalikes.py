"""Files of other programs in the place of ours: each is read as what it is, or refused with what to do.

A row of a table here is a file and a reader. `READ` are files whose right reading exists, `REFUSED` those without, or
in which two readings are equally good; none of them may be read as something else.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from earmark.data.content import read_content
from earmark.data.matrices import read_matrix, runs_from_matrices
from earmark.data.preference_files import read_preferences
from earmark.data.readers import read_cliques, read_groups, read_judgments, read_metadata, read_runs
from earmark.data.scales import parse_scale
from earmark.errors import InputError
from earmark.file_evaluation import evaluate_files
from earmark.remarks import FileWarning, listening

READERS = {
    "runs": read_runs,
    "judgments": read_judgments,
    "cliques": read_cliques,
    "groups": read_groups,
    "metadata": read_metadata,
    "preferences": read_preferences,
}


def lines(*rows: str) -> str:
    return "".join(f"{row}\n" for row in rows)


# What is read, by whom, and as which rows of (query, document, number) or (system, query, document).
READ = {
    "BEIR's judgments": (
        "judgments",
        "test.tsv",
        lines("query-id\tcorpus-id\tscore", "q1\ta\t1", "q1\tb\t0"),
        [("q1", "a", 1.0), ("q1", "b", 0.0)],
    ),
    "judgments of ir_datasets": (
        "judgments",
        "qrels.csv",
        lines("query_id,doc_id,relevance,iteration", "q1,a,1,0", "q1,b,-1,0"),
        [("q1", "a", 1.0), ("q1", "b", -1.0)],
    ),
    "judgments of PyTerrier": (
        "judgments",
        "qrels.csv",
        lines("qid,docno,label", "q1,a,1", "q1,b,0"),
        [("q1", "a", 1.0), ("q1", "b", 0.0)],
    ),
    "qrels with any constant iteration": (
        "judgments",
        "qrels",
        lines("q1 Q0 a 1", "q1 Q0 b 0", "q2 Q0 a 0"),
        [("q1", "a", 1.0), ("q1", "b", 0.0), ("q2", "a", 0.0)],
    ),
    "qrels whose iteration is the round in which a document was judged": (
        "judgments",
        "qrels",
        lines("q1 0.5 a 1", "q1 1 b 0", "q1 2 c 2"),
        [("q1", "a", 1.0), ("q1", "b", 0.0), ("q1", "c", 2.0)],
    ),
    "a spreadsheet saved in German": (
        "judgments",
        "blatt.csv",
        "\ufeffquery;document;gain\r\nq1;a;0,5\r\nq1;b;1\r\n",
        [("q1", "a", 0.5), ("q1", "b", 1.0)],
    ),
    "grades from 1 to 5": (
        "judgments",
        "grades.tsv",
        lines(*(f"q{q}\td{d}\t{1 + (q * d) % 5}" for q in range(1, 7) for d in range(1, 4))),
        [(f"q{q}", f"d{d}", 1.0 + (q * d) % 5) for q in range(1, 7) for d in range(1, 4)],
    ),
    "runs of PyTerrier": (
        "runs",
        "frame.csv",
        lines("qid,docno,rank,score,name", "q1,a,0,2.5,BM25", "q1,b,1,1.5,BM25"),
        [("BM25", "q1", "a"), ("BM25", "q1", "b")],
    ),
    "runs of ranx": (
        "runs",
        "bm25.csv",
        lines("q_id,doc_id,score", "q1,a,2.5", "q1,b,1.5"),
        [("bm25", "q1", "a"), ("bm25", "q1", "b")],
    ),
    "lists of one document whose ids are numbers": (
        "runs",
        "first.tsv",
        lines(*(f"{system}\tq{query}\t{100 + 7 * query}" for system in "AB" for query in range(1, 30))),
        [(system, f"q{query}", f"{100 + 7 * query}") for system in "AB" for query in range(1, 30)],
    ),
    "equal scores and falling ones": (
        "runs",
        "run.txt",
        lines(*(f"q Q0 d{rank:02} {rank} {30 - rank // 2} A" for rank in range(1, 30))),
        None,
    ),
}
REVERSED = [f"q{query} Q0 d{rank} {rank} {rank / 10} A" for query in range(3) for rank in range(1, 8)]
SWAPPED = [f"q{query} Q0 d{rank} {1 / rank} {rank} A" for query in range(3) for rank in range(1, 8)]
REFUSED = {
    "qrels with subtopics": (
        "judgments",
        "qrels",
        lines("201 1 a 1", "201 1 b 0", "201 2 a 0", "201 2 b 1"),
        "one judgment of every document .*'a' for '201', for subtopics .* 1, 2 .*highest gain",
    ),
    "qrels with subtopics and names": (
        "judgments",
        "qrels.csv",
        lines("query_id,doc_id,relevance,subtopic_id", "201,a,1,1").replace("_id\n", "\n")
        + lines("201,b,0,1", "201,a,0,2"),
        "for subtopics",
    ),
    "iterations and documents in each other's place": (
        "judgments",
        "qrels",
        lines("q1 a 0 1", "q1 b 0 0", "q2 a 0 2"),
        "the same document '0' in every row",
    ),
    "answers of assessors without their names": (
        "judgments",
        "answers.tsv",
        lines(*(f"q1\t{document}\t{gain}" for document in "abc" for gain in (0, 1, 2))),
        "6 of 9 rows .*column 'assessor'",
    ),
    "ranks as gains": (
        "judgments",
        "ranks.tsv",
        lines(*(f"q{query}\td{rank}\t{rank}" for query in range(6) for rank in range(1, 5))),
        "what looks like ranks.*--groups.*--scale 0..4",
    ),
    "two columns of gains": (
        "judgments",
        "labels.csv",
        lines("query,document,relevance,label", "q,a,1,2"),
        "one column of gains.*call the one that counts 'gain'",
    ),
    "a run as judgments": ("judgments", "run", lines("q Q0 a 1 2.5 A"), "what looks like a run .*--judgments"),
    "BEIR's judgments as a run": (
        "runs",
        "test.tsv",
        lines("query-id\tcorpus-id\tscore", "q1\ta\t1", "q1\tb\t0"),
        "BEIR's judgments.*--judgments",
    ),
    "three columns of judgments as a run": (
        "runs",
        "qrels.tsv",
        lines(*(f"q{query}\td{query}{document}\t{document % 3}" for query in range(4) for document in range(9))),
        "lists of a single number.*judgments belong to --judgments",
    ),
    "judgments of one query as a run": (
        "runs",
        "qrels.tsv",
        lines(*(f"q1\td{document}\t{document % 3}" for document in range(30))),
        "lists of a single number",
    ),
    "MS MARCO's query document rank": (
        "runs",
        "run.tsv",
        lines(*(f"q{query}\t{7 * query + 5000 * rank}\t{rank}" for query in range(4) for rank in range(1, 9))),
        "lists of a single number.*query,document,rank",
    ),
    "MS MARCO's query document rank for one query": (
        "runs",
        "run.tsv",
        lines(*(f"q\t{5000 * rank}\t{rank}" for rank in range(1, 9))),
        "lists of a single number",
    ),
    "distances as scores": ("runs", "run", lines(*REVERSED), "larger scores for better documents.*--order rank"),
    "scores and ranks in each other's place": ("runs", "run", lines(*SWAPPED), "scores where ranks are"),
    "distances as scores, with names": (
        "runs",
        "run.csv",
        lines("query,document,rank,score", *(f"q,d{rank},{rank},{rank / 10}" for rank in range(1, 15))),
        "larger scores for better documents",
    ),
    "a score by another name": (
        "runs",
        "run.csv",
        lines("query,document,cosine_distance", "q,a,0.9", "q,b,0.1"),
        "a column 'cosine_distance'.*call it score",
    ),
    "an unknown header of a run": (
        "runs",
        "run.tsv",
        lines("Modell\tFrage\tLied", *(f"{system}\tq{q}\td{d}" for system in "AB" for q in range(2) for d in range(3))),
        "what looks like a header",
    ),
    "a header of a run of which one name is known": (
        "runs",
        "run.tsv",
        lines("model\tquery\tsong", "A\tq\ta", "A\tq\tb"),
        "a header with the columns query, document",
    ),
    "a header of cliques of which one name is known": (
        "cliques",
        "cliques.tsv",
        lines("song\twork", "a\tw", "b\tw"),
        "a header with the columns document, group",
    ),
    "a header of metadata of which some names are known": (
        "metadata",
        "songs.tsv",
        lines("id\tartist\tgenre", "a\tX\tpop"),
        "a header with a column document",
    ),
    "qrels as groups": ("groups", "qrels", lines("q 0 a 1", "q 0 b 2"), "looks like qrels.*--judgments"),
    "a table that R wrote": (
        "runs",
        "run.txt",
        lines('"A" "q" "a"', '"A" "q" "b"'),
        "ids without quotes.*quote = FALSE",
    ),
    "judgments that R wrote": ("judgments", "j.txt", lines('"q" "a" 1', '"q" "b" 0'), "ids without quotes"),
}


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("case", READ)
def test_files_of_other_programs_are_read_as_what_they_are(tmp_path: Path, case: str) -> None:
    kind, name, text, rows = READ[case]
    table = READERS[kind](write(tmp_path, name, text)).to_polars()
    columns = ("system", "query", "document") if kind == "runs" else ("query", "document", "gain")
    if rows is not None:
        assert table.select(columns).rows() == rows


@pytest.mark.parametrize("case", REFUSED)
def test_files_of_other_programs_are_not_read_as_something_else(tmp_path: Path, case: str) -> None:
    kind, name, text, message = REFUSED[case]
    with pytest.raises(InputError, match=message) as caught:
        READERS[kind](write(tmp_path, name, text))
    assert caught.value.path == str(tmp_path / name)


@pytest.mark.parametrize("case", [case for case, row in REFUSED.items() if row[0] == "runs"])
def test_runs_that_are_read_in_pieces_are_checked_as_well(tmp_path: Path, case: str, monkeypatch) -> None:
    _, name, text, message = REFUSED[case]
    monkeypatch.setattr("earmark.file_evaluation._SMALL_FILE", 0)
    judgments = read_judgments(write(tmp_path, "judgments", "q 0 a 1\nq 0 b 0\n"))
    with pytest.raises(InputError, match=message):
        evaluate_files(write(tmp_path, name, text), judgments, ["P@1"])


PROGRAMS = {
    "JSON on one line": json.dumps({"q1": {"a": 1, "b": 0}}).encode(),
    "JSON on several lines": json.dumps({"q1": {"a": 1, "b": 0}}, indent=2).encode(),
    "JSON, a list": json.dumps([{"query": "q1", "document": "a", "gain": 1}]).encode(),
    "JSON lines": b'{"query":"q1","document":"a","gain":1}\n{"query":"q1","document":"b","gain":0}\n',
    "UTF-16 without a mark": "A\tq\ta\nA\tq\tb\n".encode("utf-16-le"),
    "UTF-16 the other way round": "A\tq\ta\nA\tq\tb\n".encode("utf-16-be"),
    "UTF-16 with a mark": "A\tq\ta\nA\tq\tb\n".encode("utf-16"),
    "an Excel workbook": b"PK\x03\x04\x14\x00\x06\x00\x08\x00xl/workbook.xml",
}


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("case", PROGRAMS)
def test_other_kinds_of_files_say_what_to_do(tmp_path: Path, kind: str, case: str) -> None:
    hint = "judgments_from_dict" if "JSON" in case else "--encoding utf-16" if "UTF" in case else "save the sheet"
    with pytest.raises(InputError, match=hint):
        READERS[kind](write(tmp_path, "file.txt", PROGRAMS[case]))


@pytest.mark.parametrize(("codec", "order"), [("utf-16-le", "le"), ("utf-16-be", "be")])
def test_the_encoding_that_is_named_is_the_right_one(tmp_path: Path, codec: str, order: str) -> None:
    path = write(tmp_path, "run.tsv", "A\tq\ta\nA\tq\tb\n".encode(codec))
    with pytest.raises(InputError, match=f"utf-16-{order}"):
        read_runs(path)
    assert read_runs(path, encoding=codec).documents.to_list() == ["a", "b"]


def test_the_ids_of_a_pyterrier_frame_are_not_its_texts(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "qid": ["1", "1", "2"],
            "docid": [15, 3, 7],
            "docno": ["d15", "d3", "d7"],
            "rank": [0, 1, 0],
            "score": [9.5, 3.25, 4.5],
            "query": ["slow piano", "slow piano", "fast drums"],
            "name": ["BM25", "BM25", "BM25"],
        }
    )
    frame.write_csv(tmp_path / "run.csv")
    frame.write_parquet(tmp_path / "run.parquet")
    for path in (tmp_path / "run.csv", tmp_path / "run.parquet"):
        remarks: list[str] = []
        with listening(remarks.append):
            runs = read_runs([path])
        assert (runs.queries, runs.documents.to_list()) == (("1", "2"), ["d15", "d3", "d7"])
        assert remarks == [
            f"{path}: column 'qid' is taken as the query, 'query' not read",
            f"{path}: column 'docno' is taken as the document, 'docid' not read",
        ]


def test_what_threads_remark_is_heard(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, f"{name}.csv", f"qid,query,docno\n1,slow piano,{name}\n") for name in ("one", "two", "three")
    ]
    remarks: list[str] = []
    with listening(remarks.append):
        read_runs(paths)
    assert len(remarks) == len(paths)


def test_in_a_program_a_remark_is_a_warning(tmp_path: Path) -> None:
    path = write(tmp_path, "run.csv", "qid,query,docno\n1,slow piano,a\n")
    with pytest.warns(FileWarning, match="column 'qid' is taken as the query"):
        read_runs(path)


def test_ranks_are_gains_where_the_scale_says_so(tmp_path: Path) -> None:
    path = write(tmp_path, "ranks.tsv", REFUSED["ranks as gains"][2])
    assert read_judgments(path, scale=parse_scale("0..4")).frame["gain"].max() == 4


def test_the_rank_column_can_be_trusted(tmp_path: Path) -> None:
    path = write(tmp_path, "run", lines(*REVERSED))
    assert read_runs(path, order="rank").documents.to_list()[:3] == ["d1", "d2", "d3"]


def ids(folder: Path, n: int) -> Path:
    return write(folder, "ids.txt", lines(*(f"d{number}" for number in range(n))))


def test_a_square_matrix_of_embeddings_is_no_matrix_of_distances(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    path = tmp_path / "embeddings.npy"
    for n in (5, 12, 300):
        np.save(path, rng.normal(size=(n, n)))
        matrix = read_matrix(path, ids=ids(tmp_path, n))
        with pytest.raises(InputError, match=r"a row of features for every document.*cdist\(X, X, 'cosine'\)"):
            runs_from_matrices({"A": matrix}, k=3)
        assert len(runs_from_matrices({"A": matrix}, k=3, check_kind=False)) == 3 * n


@pytest.mark.parametrize("asymmetric", [False, True])
@pytest.mark.parametrize("diagonal", ["zero", "missing", "best", "any"])
def test_distances_of_every_kind_are_read(tmp_path: Path, asymmetric: bool, diagonal: str) -> None:
    values = np.random.default_rng(2).uniform(1, 2, (12, 12))
    if not asymmetric:
        values = values + values.T
    elif diagonal == "any":
        return
    fill = {"zero": 0.0, "missing": np.inf, "best": 0.5 * values.min(axis=1), "any": np.diag(values)}
    np.fill_diagonal(values, fill[diagonal])
    np.save(tmp_path / "d.npy", values)
    matrix = read_matrix(tmp_path / "d.npy", ids=ids(tmp_path, 12))
    assert len(runs_from_matrices({"A": matrix}, k=3)) == 36


def test_embeddings_that_are_not_square_say_how_distances_are_made(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((20, 4)))
    with pytest.raises(InputError, match=r"expected a square matrix, got 20 rows and 4 columns .*cdist"):
        read_matrix(tmp_path / "x.npy", ids=ids(tmp_path, 20))


def test_distances_are_no_content(tmp_path: Path) -> None:
    table = write(tmp_path, "d.csv", lines("document,a,b", "a,0,1", "b,1,0"))
    with pytest.raises(InputError, match=r"a column for every document.*from-matrix"):
        read_content(table)
    values = np.random.default_rng(3).uniform(size=(6, 6))
    np.save(tmp_path / "c.npy", values + values.T)
    with pytest.raises(InputError, match=r"a symmetric matrix.*from-matrix"):
        read_content(tmp_path / "c.npy", ids=ids(tmp_path, 6))
    np.save(tmp_path / "c.npy", values)
    assert len(read_content(tmp_path / "c.npy", ids=ids(tmp_path, 6)).documents) == 6


def test_plain_files_are_read_without_remarks(tmp_path: Path) -> None:
    path = write(tmp_path, "j.csv", "query,document,gain,assessor\nq,a,1,x\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_judgments(path)) == 1
