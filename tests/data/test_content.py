"""Content: what comes back from its files, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from earmark.data.content import Content, content_files, read_content, write_content
from earmark.errors import InputError, ParameterError

VALUES = np.array([[0.5, 1.0, -2.0], [0.25, 1.0, 1e-300], [1 / 3, 1.0, 4.0]])
THREE = Content(("a", "b c", "d"), VALUES)

ids = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=8)


# ---- what it is ------------------------------------------------------------------------------------------------------


def test_what_it_holds():
    whole = Content(("a", "b"), np.array([[1, 2], [3, 2]], dtype=np.int8))
    assert whole.values.dtype == np.float64
    assert whole.row_of == {"a": 0, "b": 1}
    assert str(THREE) == "content of 3 documents, 3 numbers each"
    assert repr(THREE) == "<Content: 3 documents, 3 numbers each>"
    assert "b c" in THREE._repr_html_()


def test_what_it_holds_is_its_own():
    values = VALUES.copy()
    content = Content(THREE.documents, values)
    values[0, 0] = 9.0
    np.testing.assert_array_equal(content.values, VALUES)


@pytest.mark.parametrize(
    ("documents", "values", "said"),
    [
        ("ab", np.array([["x"], ["y"]]), "expected content of real numbers, got values of type <U1"),
        ("ab", np.array([1.0, 2.0]), r"shape \(documents, dims\), both 1 or more, got an array of shape \(2,\)"),
        ("ab", np.zeros((2, 0)), r"got an array of shape \(2, 0\)"),
        ("", np.zeros((0, 3)), r"got an array of shape \(0, 3\)"),
        ("abc", np.eye(2), "expected one id for every row of content, got 3 ids and 2 rows"),
        ("aba", np.eye(3), "expected every document once, got 'a' in rows 1 and 3"),
        (("a", ""), np.eye(2), "expected an id for every row of content, got an empty one in row 2"),
        ("ab", np.array([[1.0, 2.0], [3.0, np.nan]]), r"in every cell of content, got nan in row 2 \('b'\), column 2"),
        ("ab", np.array([[1.0, -np.inf], [3.0, 1.0]]), r"got -inf in row 1 \('a'\), column 2"),
        ("ab", np.ones((2, 3)), "in which documents differ, got 3 columns that are the same for all 2 documents"),
        ("ab", np.ones((2, 1)), "got 1 column that is the same for all 2 documents"),
        ("a", np.ones((1, 2)), "got 2 columns that are the same for the only document"),
    ],
)
def test_what_is_no_content(documents, values, said):
    with pytest.raises(InputError, match=said):
        Content(tuple(documents), values)


# ---- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["content.npy", "two.parts.npy", "content.csv", "content.tsv", "content.parquet"])
def test_it_comes_back_to_the_bit(name: str, tmp_path: Path):
    written = write_content(THREE, tmp_path / name)
    assert all(path.is_file() for path in written)
    assert sorted(tmp_path.iterdir()) == sorted(written)
    assert content_files(tmp_path / name) == written
    back = read_content(tmp_path / name)
    assert back.documents == THREE.documents
    np.testing.assert_array_equal(back.values, THREE.values)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@given(
    documents=st.lists(ids, min_size=2, max_size=5, unique=True),
    values=arrays.arrays(np.float64, (5, 2), elements=st.floats(-1e300, 1e300)),
)
def test_any_ids_and_numbers_come_back(ending: str, documents, values, tmp_path_factory):
    values = values[: len(documents)]
    values[0, 0] = values[1, 0] + 1.0 if abs(values[1, 0]) < 1e10 else 0.0
    content = Content(tuple(documents), values)
    path = tmp_path_factory.mktemp("there") / f"content.{ending}"
    write_content(content, path)
    back = read_content(path)
    assert back.documents == content.documents
    np.testing.assert_array_equal(back.values, values)


def test_the_ids_of_an_array_stand_beside_it(tmp_path: Path):
    assert write_content(THREE, tmp_path / "x.npy") == (tmp_path / "x.npy", tmp_path / "x.ids.txt")
    assert (tmp_path / "x.ids.txt").read_bytes() == b"a\nb c\nd\n"
    (tmp_path / "x.ids.txt").rename(tmp_path / "x.ids")
    assert read_content(tmp_path / "x.npy").documents == THREE.documents
    # Of two files the one that is written counts, and one that is named more than either.
    (tmp_path / "x.ids.txt").write_text("p\n# not an id\n\nq\nr\n")
    assert read_content(tmp_path / "x.npy").documents == ("p", "q", "r")
    assert read_content(tmp_path / "x.npy", ids=tmp_path / "x.ids").documents == THREE.documents


def test_a_file_that_is_written_over_is_never_half_there(tmp_path: Path, monkeypatch):
    write_content(THREE, tmp_path / "x.npy")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def fail(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", fail)
    with pytest.raises(InputError, match=r"x\.npy: expected a file that can be written, got No space left on device"):
        write_content(Content(("e", "f"), np.eye(2)), tmp_path / "x.npy")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("document,x,y\na,1,2\nb,3,4\n", [[1, 2], [3, 4]]),
        ("x,document,y\n1,a,2\n3,b,4\n", [[1, 2], [3, 4]]),
        ("track\tx\ty\na\t1\t2\nb\t3\t4\n", [[1, 2], [3, 4]]),
        ("Document;x\na;1e3\nb;-.5\n", [[1000], [-0.5]]),
        (",0,1\na,1,2\nb,3,4\n", [[1, 2], [3, 4]]),  # as pandas writes a frame whose columns have no names
        ("document,1,2\na,1,2\nb,3,4\n", [[1, 2], [3, 4]]),
    ],
)
def test_tables_of_other_programs(tmp_path: Path, text: str, numbers):
    (tmp_path / "content.txt").write_text(text)
    content = read_content(tmp_path / "content.txt")
    assert content.documents == ("a", "b")
    np.testing.assert_array_equal(content.values, numbers)


def test_parquet_of_whole_numbers_and_numbered_documents(tmp_path: Path):
    pl.DataFrame({"document": [7, 8], "x": [1, 2], "y": [True, False]}).write_parquet(tmp_path / "content.parquet")
    content = read_content(tmp_path / "content.parquet")
    assert content.documents == ("7", "8")
    np.testing.assert_array_equal(content.values, [[1, 1], [2, 0]])


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("document,x\na,1\nb,two\n", ":3: expected a number as x, got 'two'"),
        ("document,x\na,1\nb,nan\n", ":3: expected a finite x, got 'nan'"),
        ("document,x\na,1\n\nb,\n", ":4: expected a number as x, got nothing"),
        ("document,x\na,1\n,2\n", ":3: expected document in every row, got nothing"),
        ("document,x\na,1\nb,2\na,3\n", ":4: expected every document once, got 'a' again"),
        ("document\na\n", "expected columns of numbers beside the ids, got only 'document'"),
        ("a,0.5,1.5\nb,2,3\n", r":1: expected a header that names the columns, got numbers \(a, 0.5, 1.5, …\) \(write"),
        ("document,x\n", "expected rows under the names of the columns, got none"),
        ("document,x\na,1\nb,1\n", "expected content in which documents differ, got 1 column"),
    ],
)
def test_tables_that_are_no_content(tmp_path: Path, text: str, said: str):
    path = tmp_path / "content.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(str(path)) + ".*" + said):
        read_content(path)


def test_a_column_of_lists_is_not_taken_apart(tmp_path: Path):
    pl.DataFrame({"document": ["a", "b"], "x": [[1.0, 2.0], [3.0, 4.0]]}).write_parquet(tmp_path / "content.parquet")
    with pytest.raises(InputError, match=r"content.parquet: expected numbers as x, got a column of List\(Float64\)"):
        read_content(tmp_path / "content.parquet")


def test_an_array_without_ids(tmp_path: Path):
    np.save(tmp_path / "x.npy", VALUES)
    said = r"x.npy: expected the ids of the rows in x.ids.txt or x.ids beside it, got neither \(one id per line; .*-ids"
    with pytest.raises(InputError, match=said):
        read_content(tmp_path / "x.npy")
    with pytest.raises(InputError, match=r"elsewhere.txt: expected a file, got nothing there"):
        read_content(tmp_path / "x.npy", ids=tmp_path / "elsewhere.txt")


def test_an_array_with_other_ids(tmp_path: Path):
    write_content(THREE, tmp_path / "x.npy")
    (tmp_path / "x.ids.txt").write_text("a\nb\n")
    with pytest.raises(InputError, match=r"x.npy: expected one id for every row of content, got 2 ids and 3 rows"):
        read_content(tmp_path / "x.npy")
    (tmp_path / "x.ids.txt").write_text("a\nb\na\n")
    with pytest.raises(InputError, match=r"x.ids.txt:3: expected an id that is new, got 'a' again, first on line 1"):
        read_content(tmp_path / "x.npy")
    (tmp_path / "x.ids.txt").write_text("\n")
    with pytest.raises(InputError, match=r"x.ids.txt: expected ids, one per line, got none"):
        read_content(tmp_path / "x.npy")


@pytest.mark.parametrize("kind", ["objects", "text", "nothing", "cut off"])
def test_arrays_that_are_none(tmp_path: Path, kind: str):
    path = tmp_path / "x.npy"
    (tmp_path / "x.ids.txt").write_text("a\nb\nd\n")
    np.save(path, np.array([{}, {}, {}], dtype=object) if kind == "objects" else VALUES)
    if kind == "text":
        path.write_text("1 2 3")
    elif kind in ("nothing", "cut off"):
        path.write_bytes(path.read_bytes()[: -8 if kind == "cut off" else 0])
    with pytest.raises(InputError, match=r"x\.npy: expected a NumPy array of numbers, got "):
        read_content(path)


def test_a_table_carries_its_ids(tmp_path: Path):
    write_content(THREE, tmp_path / "x.csv")
    with pytest.raises(ParameterError, match=r"an ids file is for the rows of an .npy file, and .*x.csv carries its"):
        read_content(tmp_path / "x.csv", ids=tmp_path / "ids.txt")


def test_nothing_there(tmp_path: Path):
    with pytest.raises(InputError, match=r"x.npy: expected a file, got nothing there"):
        read_content(tmp_path / "x.npy")
    with pytest.raises(InputError, match="expected an existing folder to write to"):
        write_content(THREE, tmp_path / "no" / "x.npy")
    with pytest.raises(ParameterError, match=r"x.json: content is written to .npy, .csv, .tsv or .parquet"):
        write_content(THREE, tmp_path / "x.json")


@pytest.mark.parametrize("document", ["# one", " one", "one ", "o\nne", "\ufeffone"])
def test_ids_that_have_no_line_of_their_own(tmp_path: Path, document: str):
    content = Content((document, "b"), np.eye(2))
    with pytest.raises(InputError, match="expected ids that can stand on a line of their own"):
        write_content(content, tmp_path / "x.npy")
    assert not list(tmp_path.iterdir())
    write_content(content, tmp_path / "x.parquet")
    assert read_content(tmp_path / "x.parquet").documents == (document, "b")
