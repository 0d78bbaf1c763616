"""Scores from files are those of runs in memory, to the bit, however files are cut, sorted, packed or partitioned."""

from __future__ import annotations

import gzip

import numpy as np
import polars as pl
import pytest

from earmark import file_evaluation
from earmark.data import parquet_folders, run_parts, text_blocks
from earmark.data.readers import read_cliques, read_judgments, read_runs
from earmark.errors import InputError
from earmark.evaluation import evaluate
from earmark.file_evaluation import Limits, evaluate_files

MEASURES = ["nDCG@10", "P@5", "AP", "bpref", "RBP(p=0.8)", "RR", "ERR@10", "Q@20", "AG@5", "infAP", "Judged@10"]


@pytest.fixture(autouse=True)
def in_pieces(monkeypatch):
    """Read small files in pieces too, as if they were large."""
    monkeypatch.setattr(file_evaluation, "_SMALL_FILE", 0)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two systems, some queries unanswered or unknown, ties, in files of all sorts."""
    folder = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(3)
    rows = [
        (system, f"q{query}", f"d{document}", float(np.round(rng.normal(), 1)))
        for system in ("b", "a")
        for query in range(40)
        if (query + len(system)) % 9
        for document in rng.permutation(60)[: rng.integers(5, 40)]
    ]
    judged = [
        (f"q{query}", f"d{document}", int(rng.integers(0, 3)))
        for query in range(35)
        for document in rng.permutation(60)[:30]
    ]
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in judged))
    frame = pl.DataFrame(rows, schema=["system", "query", "document", "score"], orient="row")
    return folder, frame


def write_trec(frame: pl.DataFrame, path, gap: str = " ") -> None:
    lines = [gap.join((q, "Q0", d, "1", f"{s:g}", t)) + "\n" for t, q, d, s in frame.rows()]
    path.write_text("".join(lines))


def assert_same(scores, expected) -> None:
    assert scores.systems == expected.systems
    assert scores.queries == expected.queries
    assert np.array_equal(scores.values, expected.values, equal_nan=True)
    assert scores.unanswered == expected.unanswered
    assert scores.unjudged == expected.unjudged
    assert scores.judged_results == expected.judged_results
    assert scores.short_lists == expected.short_lists
    assert scores.notes() == expected.notes()


@pytest.fixture(params=[200, 1 << 23], ids=["small blocks", "large blocks"])
def block(request, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", request.param)
    monkeypatch.setattr(run_parts, "PART_BYTES", 4 * request.param)
    monkeypatch.setattr(parquet_folders, "ROWS_AT_ONCE", max(request.param // 4, 20))


@pytest.mark.parametrize("missing", ["zero", "drop"])
@pytest.mark.parametrize("layout", ["sorted", "shuffled", "spaces", "packed", "parquet", "by system", "by query"])
@pytest.mark.parametrize("memory", [None, 2000], ids=["in memory", "on disk"])
def test_scores_from_files_are_those_of_runs_in_memory(made, tmp_path, block, layout, memory, missing):
    folder, frame = made
    if layout == "shuffled":
        frame = frame.sample(fraction=1.0, shuffle=True, seed=1)
    path = tmp_path / "run"
    if layout == "parquet":
        frame.write_parquet(path)
    elif layout.startswith("by"):
        key = layout.removeprefix("by ")
        for (value,), rows in frame.partition_by(key, include_key=False, as_dict=True, maintain_order=True).items():
            (path / f"{key}={value}").mkdir(parents=True)
            rows.write_parquet(path / f"{key}={value}" / "part-0.parquet")
    else:
        write_trec(frame, path, gap="   " if layout == "spaces" else " ")
        if layout == "packed":
            path.write_bytes(gzip.compress(path.read_bytes()))
    judgments = read_judgments(folder / "qrels")
    said: list[str] = []
    limits = Limits(memory, say=said.append)
    scores = evaluate_files(path, judgments, MEASURES, missing=missing, limits=limits)
    assert_same(scores, evaluate(read_runs(path), judgments, MEASURES, missing=missing))
    plain = tmp_path / "plain"
    write_trec(frame.sort("system", "query", descending=[True, False], maintain_order=True), plain)
    reference = evaluate(read_runs(plain), judgments, MEASURES, missing=missing)
    for name in reference.systems:
        place, other = scores.systems.index(name), reference.systems.index(name)
        assert np.array_equal(scores.values[:, place], reference.values[:, other], equal_nan=True)
    if layout == "shuffled" and memory and text_blocks.BLOCK_BYTES < 1000:
        assert "not sorted by query" in said[0]


@pytest.mark.parametrize("shuffled", [False, True], ids=["sorted", "shuffled"])
@pytest.mark.parametrize("memory", [None, 2000], ids=["in memory", "on disk"])
def test_blocks_of_comments_and_blank_lines_change_nothing(made, tmp_path, block, memory, shuffled):
    folder, frame = made
    plain, remarked = tmp_path / "plain", tmp_path / "remarked"
    write_trec(frame.sample(fraction=1.0, shuffle=True, seed=1) if shuffled else frame, plain)
    lines = plain.read_text().splitlines(keepends=True)
    remarks, half = ("# a remark\n" + "\n" * 5) * 300, len(lines) // 2
    remarked.write_text("".join((remarks, *lines[:half], remarks, *lines[half:], remarks)))
    judgments = read_judgments(folder / "qrels")
    scores = evaluate_files(remarked, judgments, MEASURES, limits=Limits(memory))
    assert_same(scores, evaluate(read_runs(plain), judgments, MEASURES))


def test_a_run_of_nothing_but_comments_is_refused(made, tmp_path, block):
    path = tmp_path / "run"
    path.write_text("# a remark\n" * 300)
    with pytest.raises(InputError, match="empty"):
        evaluate_files(path, read_judgments(made[0] / "qrels"), ["nDCG@5"])


def test_measures_that_look_at_all_systems_see_all_systems(made, tmp_path, block):
    folder, frame = made
    paths = []
    for name, rows in frame.partition_by("system", as_dict=True).items():
        paths.append(tmp_path / name[0])
        write_trec(rows, paths[-1])
    judgments, measures = read_judgments(folder / "qrels"), ["nRBP", "nDCG(ideal=pool)@10", "AP"]
    assert_same(evaluate_files(paths, judgments, measures), evaluate(read_runs(paths), judgments, measures))


def test_several_files_get_distinct_names(made, tmp_path):
    folder, frame = made
    one, two = frame.partition_by("system")
    for name, rows in (("one", one), ("two", two)):
        write_trec(rows.with_columns(system=pl.lit("same")), tmp_path / name)
    paths, judgments = [tmp_path / "one", tmp_path / "two"], read_judgments(folder / "qrels")
    assert_same(evaluate_files(paths, judgments, MEASURES), evaluate(read_runs(paths), judgments, MEASURES))


@pytest.mark.parametrize("memory", [None, 2000])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_document_twice_is_an_error_with_its_place(made, tmp_path, monkeypatch, memory, shuffled):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 300)
    monkeypatch.setattr(run_parts, "PART_BYTES", 3000)
    folder, frame = made
    frame = frame.sample(fraction=1.0, shuffle=True, seed=1) if shuffled else frame
    path = tmp_path / "run"
    write_trec(frame, path)
    lines = path.read_text().splitlines(keepends=True)
    for place in (700, 900):
        lines.insert(place, lines[place - 1 if not shuffled else place // 2])
    path.write_text("".join(lines))
    with pytest.raises(InputError, match=r"run:701: expected every document at most once in a list") as caught:
        evaluate_files(path, read_judgments(folder / "qrels"), ["AP"], limits=Limits(memory))
    with pytest.raises(InputError) as expected:
        read_runs(path)
    assert str(caught.value) == str(expected.value)


def test_bad_cells_of_partitions_are_named_with_file_and_row(tmp_path, made):
    folder, _ = made
    (tmp_path / "run" / "system=a").mkdir(parents=True)
    rows = {"query": ["q1", "q1", "q2"], "document": ["a", "b", "c"], "score": [1.0, 2.0, float("nan")]}
    pl.DataFrame(rows).write_parquet(tmp_path / "run" / "system=a" / "x.parquet")
    with pytest.raises(InputError, match=r"x.parquet:3: expected a finite score, got 'nan'"):
        evaluate_files(tmp_path / "run", read_judgments(folder / "qrels"), ["AP"])


def test_cliques_ask_what_runs_answer(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 60)
    run, cliques = tmp_path / "run", tmp_path / "cliques"
    run.write_text("".join(f"d{q} Q0 d{d} 1 {d} x\n" for q in range(4) for d in range(6)))
    cliques.write_text("".join(f"d{d} {d % 3}\n" for d in range(6)))
    known = read_cliques(cliques)
    assert_same(evaluate_files(run, known, ["AP", "MR1"]), evaluate(read_runs(run), known, ["AP", "MR1"]))


def test_judgments_of_another_collection_are_refused(made, tmp_path):
    folder, frame = made
    write_trec(frame.with_columns(document="x" + pl.col("document")), tmp_path / "run")
    with pytest.raises(InputError, match="judgments of none of them; in the runs, documents are named like 'xd"):
        evaluate_files(tmp_path / "run", read_judgments(folder / "qrels"), ["AP"])


def test_an_empty_run_is_refused(made, tmp_path):
    (tmp_path / "run").write_text("# nothing\n")
    with pytest.raises(InputError, match="empty file"):
        evaluate_files(tmp_path / "run", read_judgments(made[0] / "qrels"), ["AP"])
    assert file_evaluation.Limits().bytes > 0


@pytest.mark.parametrize("small", [0, 1 << 26], ids=["in pieces", "whole"])
def test_small_files_are_scored_at_once_and_alike(made, tmp_path, monkeypatch, small):
    monkeypatch.setattr(file_evaluation, "_SMALL_FILE", small)
    folder, frame = made
    write_trec(frame, tmp_path / "run")
    read = []
    monkeypatch.setattr(file_evaluation, "read_runs", lambda *a, **k: read.append(a) or read_runs(*a, **k))
    known = read_judgments(folder / "qrels")
    scores = evaluate_files(tmp_path / "run", known, MEASURES)
    assert bool(read) == bool(small)
    assert_same(scores, evaluate(read_runs(tmp_path / "run"), known, MEASURES))
    # Where memory is short they are read in pieces after all.
    read.clear()
    evaluate_files(tmp_path / "run", known, MEASURES, limits=Limits(memory=1000, folder=tmp_path))
    assert not read
    write_trec(frame.with_columns(document="x" + pl.col("document")), tmp_path / "other")
    with pytest.raises(InputError, match="judgments of none of them; in the runs, documents are named like 'xd"):
        evaluate_files(tmp_path / "other", known, ["AP"])


def test_a_measure_that_looks_at_all_lists_is_given_them_all(made, tmp_path):
    """A list without a relevant document scores one more than the longest list of all, wherever that is."""
    folder, frame = made
    for name in ("a", "b"):
        write_trec(frame.filter(pl.col("system") == name), tmp_path / name)
    known, files = read_judgments(folder / "qrels"), [tmp_path / "a", tmp_path / "b"]
    scores = evaluate_files(files, known, ["MR1", "AP"])
    assert_same(scores, evaluate(read_runs(files), known, ["MR1", "AP"]))
    longest = frame.group_by("system", "query").len()["len"].max()
    assert scores.unanswered
    for name, queries in scores.unanswered.items():
        at = [scores.queries.index(query) for query in queries]
        assert set(scores.values[0, scores.systems.index(name), at]) == {longest + 1.0}
