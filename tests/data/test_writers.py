from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collections_drawn import qrels, runs
from earmark.data.conversion import judgments_from_dict, runs_from_dict, runs_from_frame
from earmark.data.judgments import Judgments
from earmark.data.readers import read_judgments, read_runs
from earmark.data.runs import Runs
from earmark.data.scales import parse_scale
from earmark.data.writers import scores_give_order, write_judgments, write_questions, write_runs
from earmark.errors import InputError, ParameterError

NAMES = ("run.tsv", "run.trec", "run.run", "run", "run.csv", "run.parquet", "run.tsv.gz", "run.txt.gz", "run.csv.gz")


def lists(runs: Runs) -> dict[tuple[str, str], list[str]]:
    """The documents of every list, in rank order."""
    found: dict[tuple[str, str], list[str]] = {}
    for system, query, document in runs.to_polars().select("system", "query", "document").iter_rows():
        found.setdefault((system, query), []).append(document)
    return found


def as_rows(judgments: Judgments) -> list[tuple[object, ...]]:
    return judgments.frame.sort(pl.all()).rows()


@pytest.fixture
def two() -> Runs:
    return runs_from_dict(
        {
            "A": {"q1": {"d1": 0.1, "d2": 1e-9, "d3": -2.5}, "q2": {"d9": 3.0}},
            "B": {"q1": {"d2": 7.0, "d1": 7.0}},
        }
    )


# Runs are drawn once for all kinds of files: drawing them takes as long as writing some.
@given(first=runs(), second=runs())
def test_runs_come_back_as_they_were(first: dict, second: dict, tmp_path_factory: pytest.TempPathFactory) -> None:
    written = runs_from_dict({"A": first, "B": second})
    folder = tmp_path_factory.mktemp("round")
    for name in NAMES:
        write_runs(written, folder / name)
        read = read_runs(folder / name)
        assert read.systems == written.systems, name
        assert lists(read) == lists(written), name
        if read.scores is not None and "tsv" not in name:
            assert np.array_equal(read.scores, written.scores), name


@pytest.mark.parametrize("name", ["run.trec", "run.csv", "run.parquet"])
@given(
    scores=st.lists(
        st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20, unique_by=np.float32
    )
)
def test_scores_keep_every_bit(name: str, scores: list[float], tmp_path_factory: pytest.TempPathFactory) -> None:
    written = runs_from_dict({"A": {"q": {f"d{i}": score for i, score in enumerate(scores)}}})
    path = tmp_path_factory.mktemp("bits") / name
    write_runs(written, path)
    assert np.array_equal(read_runs(path).scores, written.scores)


@pytest.mark.parametrize("name", ["run.trec", "run.csv", "run.parquet", "run.tsv"])
def test_the_order_counts_where_scores_contradict_it(name: str, tmp_path: Path) -> None:
    frame = pl.DataFrame({"system": "A", "query": "q", "document": ["x", "y"], "score": [1.0, 2.0], "rank": [1, 2]})
    by_rank = runs_from_frame(frame, order="rank")
    assert not scores_give_order(by_rank)
    write_runs(by_rank, tmp_path / name)
    assert lists(read_runs(tmp_path / name)) == {("A", "q"): ["x", "y"]}


@given(run=runs())
def test_runs_sorted_by_score_are_in_order_of_score(run: dict) -> None:
    assert scores_give_order(runs_from_dict({"A": run, "B": run}))


def test_ties_in_another_order_are_noticed() -> None:
    frame = pl.DataFrame({"system": "A", "query": "q", "document": ["x", "y"], "score": [1.0, 1.0], "rank": [1, 2]})
    assert not scores_give_order(runs_from_frame(frame, order="rank"))
    assert scores_give_order(runs_from_frame(frame, order="score"))


def test_what_stands_in_the_files(two: Runs, tmp_path: Path) -> None:
    write_runs(two, tmp_path / "run.trec")
    write_runs(two, tmp_path / "run.tsv")
    write_runs(two, tmp_path / "run.csv")
    assert (tmp_path / "run.trec").read_text() == (
        "q1 Q0 d1 1 0.1 A\nq1 Q0 d2 2 1e-9 A\nq1 Q0 d3 3 -2.5 A\nq2 Q0 d9 1 3.0 A\nq1 Q0 d2 1 7.0 B\nq1 Q0 d1 2 7.0 B\n"
    )
    assert (tmp_path / "run.tsv").read_text() == "A\tq1\td1\nA\tq1\td2\nA\tq1\td3\nA\tq2\td9\nB\tq1\td2\nB\tq1\td1\n"
    assert (tmp_path / "run.csv").read_text().startswith("system,query,document,rank,score\nA,q1,d1,1,0.1\n")


def test_without_scores_a_trec_run_counts_down(two: Runs, tmp_path: Path) -> None:
    plain = Runs(two.systems, two.queries, two.list_system, two.list_query, two.offsets, two.documents)
    write_runs(plain, tmp_path / "run")
    scores = [line.split()[4] for line in (tmp_path / "run").read_text().splitlines()]
    assert scores == ["3", "2", "1", "1", "2", "1"]


def test_a_stated_format_wins_over_the_name(two: Runs, tmp_path: Path) -> None:
    write_runs(two, tmp_path / "run.tsv", format="trec")
    assert (tmp_path / "run.tsv").read_text().startswith("q1 Q0 d1 1 ")
    with pytest.raises(ParameterError, match="unknown file format 'xml': use tsv, trec, csv, parquet"):
        write_runs(two, tmp_path / "run", format="xml")  # type: ignore[arg-type]


def test_compressed_files_hold_no_time(two: Runs, tmp_path: Path) -> None:
    write_runs(two, tmp_path / "a.tsv.gz")
    write_runs(two, tmp_path / "b.tsv.gz")
    first = (tmp_path / "a.tsv.gz").read_bytes()
    assert first == (tmp_path / "b.tsv.gz").read_bytes()
    assert first[4:8] == bytes(4)
    assert gzip.decompress(first).startswith(b"A\tq1\td1\n")


@pytest.mark.parametrize("system", ["my system", "a\u00a0b", "Ünïcødé", '"quoted"', "a,b;c"])
@pytest.mark.parametrize("name", ["run.tsv", "run.csv", "run.parquet"])
def test_odd_ids_survive_where_the_format_can_hold_them(system: str, name: str, tmp_path: Path) -> None:
    written = runs_from_dict({system: {"the query": {"a document": 1.0, "b'": 0.5}}})
    write_runs(written, tmp_path / name)
    assert lists(read_runs(tmp_path / name)) == lists(written)


@pytest.mark.parametrize("name", ["run.csv", "run.parquet"])
def test_named_columns_hold_any_text(name: str, tmp_path: Path) -> None:
    written = runs_from_dict({"#1": {" q\t": {"line\nbreak": 1.0, "x": 0.5}}})
    write_runs(written, tmp_path / name)
    assert lists(read_runs(tmp_path / name)) == lists(written)


@pytest.mark.parametrize(
    ("name", "ids", "message"),
    [
        (
            "run.trec",
            ("a system", "q", "d"),
            r"run\.trec: expected system ids that this format can hold, got 'a system'",
        ),
        ("run.trec", ("A", "q 1", "d"), r"expected query ids that this format can hold, got 'q 1' .*white space"),
        ("run", ("A", "q", "d\t1"), r"expected document ids .* got 'd\\t1' .*\(write \.csv or \.parquet"),
        ("run.trec", ("A", "#1", "d"), r"expected query ids that do not start as a comment does.*, got '#1'"),
        ("run.tsv", ("#A", "q", "d"), r"expected system ids that do not start as a comment does.*, got '#A'"),
        ("run.tsv", ("\ufeffA", "q", "d"), r"or with a byte-order mark, got"),
        ("run.tsv", ("A", "q", "d "), r"expected document ids .* got 'd ' \(empty, or with white space at an end"),
        ("run.tsv", ("A", "q\n", "d"), r"expected query ids .* got 'q\\n'"),
    ],
)
def test_ids_that_would_come_back_different_are_refused(
    name: str, ids: tuple[str, str, str], message: str, tmp_path: Path
) -> None:
    system, query, document = ids
    with pytest.raises(InputError, match=message):
        write_runs(runs_from_dict({system: {query: {document: 1.0}}}), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_hash_inside_an_id_is_fine(tmp_path: Path) -> None:
    written = runs_from_dict({"A": {"q#1": {"#d": 1.0}}})
    write_runs(written, tmp_path / "run")
    assert lists(read_runs(tmp_path / "run")) == {("A", "q#1"): ["#d"]}


def test_nothing_is_left_behind_where_writing_fails(two: Runs, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected an existing folder to write to, got '.*nowhere'"):
        write_runs(two, tmp_path / "nowhere" / "run.tsv")
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(InputError, match=r"folder\.tsv: expected a file that can be written, got Is a directory"):
        write_runs(two, tmp_path / "folder.tsv")
    with pytest.raises(ParameterError, match=r"a Parquet file is compressed already, leave \.gz off its name"):
        write_runs(two, tmp_path / "run.parquet.gz")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.tsv"]


def test_a_refused_run_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "run.trec"
    target.write_text("old\n")
    with pytest.raises(InputError):
        write_runs(runs_from_dict({"a b": {"q": {"d": 1.0}}}), target)
    assert target.read_text() == "old\n"


@pytest.mark.parametrize("name", ["j.tsv", "j.qrels", "j", "j.txt.gz", "j.csv", "j.parquet", "j.csv.gz"])
@given(gains=qrels(unjudged=True))
def test_judgments_come_back_as_they_were(name: str, gains: dict, tmp_path_factory: pytest.TempPathFactory) -> None:
    scale = parse_scale("0..3")
    written = judgments_from_dict(gains, scale=scale)
    path = tmp_path_factory.mktemp("round") / name
    if name == "j.tsv" and (written.frame["gain"] < 0).any():
        with pytest.raises(ParameterError, match="negative gains, which mean not judged, are for TREC qrels"):
            write_judgments(written, path)
        return
    write_judgments(written, path)
    assert as_rows(read_judgments(path, scale=scale)) == as_rows(written)


@pytest.mark.parametrize("name", ["j.tsv", "j.qrels", "j.csv", "j.parquet"])
@given(gain=st.floats(0, 1))
def test_gains_keep_every_bit(name: str, gain: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    scale = parse_scale("0.0..1.0")
    path = tmp_path_factory.mktemp("bits") / name
    write_judgments(judgments_from_dict({"q": {"d": gain}}, scale=scale), path)
    assert read_judgments(path, scale=scale).frame["gain"].to_list() == [gain]


def test_whole_gains_are_printed_whole(tmp_path: Path) -> None:
    judgments = judgments_from_dict({"q": {"a": 2, "b": 0.5, "c": 0}}, scale=parse_scale("0.0..2.0"))
    unjudged = judgments_from_dict({"q": {"a": 2, "d": -1}}, scale=parse_scale("0.0..2.0"))
    write_judgments(unjudged, tmp_path / "j.qrels")
    assert (tmp_path / "j.qrels").read_text() == "q 0 a 2\nq 0 d -1\n"
    write_judgments(unjudged, tmp_path / "j.csv")
    assert (tmp_path / "j.csv").read_text() == "query,document,gain,iteration\nq,a,2,0\nq,d,-1,0\n"
    write_judgments(judgments, tmp_path / "j.tsv")
    write_judgments(judgments, tmp_path / "j.csv")
    assert (tmp_path / "j.tsv").read_text() == "q\ta\t2\nq\tb\t0.5\nq\tc\t0\n"
    assert (tmp_path / "j.csv").read_text() == "query,document,gain\nq,a,2\nq,b,0.5\nq,c,0\n"


@pytest.fixture
def panel() -> Judgments:
    frame = pl.DataFrame(
        {"query": "q", "document": ["d", "d", "e"], "gain": [1.0, 2.0, 0.0], "assessor": ["x", "y", "x"]}
    )
    return Judgments.from_frame(frame)


@pytest.mark.parametrize("name", ["j.csv", "j.parquet"])
def test_named_columns_keep_the_assessors(name: str, panel: Judgments, tmp_path: Path) -> None:
    write_judgments(panel, tmp_path / name)
    assert as_rows(read_judgments(tmp_path / name)) == as_rows(panel)


@pytest.mark.parametrize("name", ["j.tsv", "j.qrels"])
def test_several_assessors_need_named_columns(name: str, panel: Judgments, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"document 'd' has several judgments for query 'q'.*write \.csv"):
        write_judgments(panel, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_judgments_refuse_white_space_too(tmp_path: Path) -> None:
    judgments = judgments_from_dict({"a query": {"d": 1}})
    with pytest.raises(InputError, match="expected query ids that this format can hold, got 'a query'"):
        write_judgments(judgments, tmp_path / "j.qrels")
    write_judgments(judgments, tmp_path / "j.tsv")
    assert as_rows(read_judgments(tmp_path / "j.tsv")) == [("a query", "d", 1.0)]


def test_the_real_collection_survives(mirex: Path, tmp_path: Path) -> None:
    written = read_runs(mirex / "runs.txt")
    for name in ("run.trec", "run.parquet"):
        write_runs(written, tmp_path / name)
        assert lists(read_runs(tmp_path / name)) == lists(written)
    judgments = read_judgments(mirex / "judgments.txt")
    write_judgments(judgments, tmp_path / "qrels")
    assert as_rows(read_judgments(tmp_path / "qrels")) == as_rows(judgments)


def test_questions_filled_in_are_judgments(tmp_path: Path) -> None:
    path = tmp_path / "round.csv"
    items = pl.DataFrame(
        {"query": ["q,1", "q"], "document": ["a", 'b"'], "priority": [2.0, 1.0], "sampled": [True, False]}
    )
    write_questions(items, path)
    assert path.read_text() == 'query,document,gain,sampled\n"q,1",a,,true\nq,"b""",,false\n'
    with pytest.raises(InputError, match="no gain is filled in"):
        read_judgments(path)
    pl.read_csv(path).with_columns(gain=pl.Series([70, None])).write_csv(path)
    assert read_judgments(path).frame.rows() == [("q,1", "a", 70.0, True)]
    with pytest.raises(InputError, match="expected a file to write questions to, got one that holds answers already"):
        write_questions(items, path)
    write_questions(items.drop("sampled"), tmp_path / "plain.csv")
    assert (tmp_path / "plain.csv").read_text().splitlines()[0] == "query,document,gain"


def test_questions_in_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected an existing folder to write to"):
        write_questions(pl.DataFrame({"query": ["q"], "document": ["a"]}), tmp_path / "no" / "round.csv")
