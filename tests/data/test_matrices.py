import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import pytrec_eval

from earmark.data.matrices import Matrix, lists_from_matrix, read_ids, read_matrix, runs_from_matrices
from earmark.errors import InputError, ParameterError

# Lists


def small_matrix():
    ids = ("a", "b", "c", "d")
    values = np.array([[0.0, 0.1, 0.2, 0.2], [0.1, 0.0, 0.3, 0.3], [0.2, 0.3, 0.0, 0.1], [0.2, 0.3, 0.1, 0.0]])
    return Matrix(values, ids, ids)


def rows_of(frame):
    lists: dict[str, list[str]] = {}
    for query, document in frame.select("query", "document").iter_rows():
        lists.setdefault(query, []).append(document)
    return lists


def test_lists_leave_out_the_query_and_break_ties_by_id_descending():
    frame = lists_from_matrix(small_matrix(), k=2)
    assert frame.schema == {"query": pl.String, "document": pl.String, "score": pl.Float32}
    assert rows_of(frame) == {"a": ["b", "d"], "b": ["a", "d"], "c": ["d", "a"], "d": ["c", "a"]}
    assert frame["score"].to_list()[:2] == pytest.approx([-0.1, -0.2])


def test_lists_with_the_query():
    assert rows_of(lists_from_matrix(small_matrix(), k=1, exclude_query=False)) == {x: [x] for x in "abcd"}


def test_lists_under_filters():
    artist = {"a": "X", "b": "X", "c": "Y", "d": None}
    genre = {"a": "pop", "d": "pop", "c": "folk"}
    matrix = small_matrix()
    assert rows_of(lists_from_matrix(matrix, k=3, exclude=[artist])) == {
        "a": ["d", "c"],
        "b": ["d", "c"],
        "c": ["d", "a", "b"],
        "d": ["c", "a", "b"],
    }
    assert rows_of(lists_from_matrix(matrix, k=3, exclude=[artist, genre]))["a"] == ["c"]
    # Unknown to unknown is not equal: b and d have no genre in common.
    assert "b" in rows_of(lists_from_matrix(matrix, k=3, exclude=[genre]))["d"]


def test_a_query_with_nothing_left_has_no_rows():
    everyone = dict.fromkeys("abcd", "X") | {"d": "Y"}
    frame = lists_from_matrix(small_matrix(), k=3, exclude=[everyone, dict.fromkeys("ad", "Z")])
    assert set(frame["query"]) == {"b", "c", "d"}
    nothing = lists_from_matrix(small_matrix(), k=3, exclude=[dict.fromkeys("abcd", "X")])
    assert nothing.height == 0
    assert nothing.columns == ["query", "document", "score"]


def test_lists_of_some_queries_in_their_order():
    frame = lists_from_matrix(small_matrix(), k=1, queries=["d", "a"])
    assert frame.select("query", "document").rows() == [("d", "c"), ("a", "b")]
    assert lists_from_matrix(small_matrix(), k=1, queries=[]).height == 0


def test_lists_of_a_rectangular_matrix():
    values = np.array([[0.5, 0.0, 0.5], [0.1, 0.2, 0.3]])
    matrix = Matrix(values, ("b", "hummed"), ("a", "b", "c"))
    assert rows_of(lists_from_matrix(matrix, k=3)) == {"b": ["c", "a"], "hummed": ["a", "b", "c"]}


def test_the_tie_rule_is_the_byte_order_of_ids():
    ids = ("z", "Z", "é", "10", "9", "\U0001d11e", "\uff5e")
    matrix = Matrix(np.zeros((1, 7)), ("q",), ids)
    expected = sorted(ids, key=lambda name: name.encode(), reverse=True)
    assert lists_from_matrix(matrix, k=7)["document"].to_list() == expected


def test_lists_have_the_order_of_trec_eval():
    """trec_eval tells its order one document at a time: the reciprocal rank of the only relevant one."""
    rng = np.random.default_rng(3)
    ids = tuple(f"d{number}" for number in range(25))
    values = rng.choice([0.25, 0.5, 0.5 + 1e-9, 0.5 - 1e-9, 0.75, 0.1], (6, 25))
    matrix = Matrix(values, tuple("uvwxyz"), ids)
    frame = lists_from_matrix(matrix, k=25, kind="similarity")
    run = {query: dict(zip(ids, row.tolist(), strict=True)) for query, row in zip("uvwxyz", values, strict=True)}
    for document in ids:
        judged = pytrec_eval.RelevanceEvaluator({query: {document: 1} for query in run}, {"recip_rank"})
        for query, scores in judged.evaluate(run).items():
            ours = frame.filter(pl.col("query") == query)["document"].to_list().index(document) + 1
            assert 1 / scores["recip_rank"] == pytest.approx(ours)


def test_unknown_queries_get_a_suggestion():
    matrix = Matrix(np.zeros((2, 2)), ("track1", "song2"), ("track1", "song2"), Path("D.npy"))
    with pytest.raises(InputError, match=r"D\.npy: expected a query .* got 'trak1' \(did you mean 'track1'\?\)"):
        lists_from_matrix(matrix, k=1, queries=["trak1"])
    with pytest.raises(InputError, match=r"got 'qqq'$"):
        lists_from_matrix(matrix, k=1, queries=["qqq"])
    with pytest.raises(InputError, match="expected each query once, got 'song2' twice"):
        lists_from_matrix(matrix, k=1, queries=["song2", "song2"])


def test_a_filter_with_other_ids_is_refused():
    with pytest.raises(InputError, match=r"knows some of the matrix's rows, got one that knows none .*'a'"):
        lists_from_matrix(small_matrix(), k=1, exclude=[{"a.mp3": "X"}])
    matrix = Matrix(np.zeros((1, 2)), ("q",), ("a", "b"))
    with pytest.raises(InputError, match="knows some of the matrix's columns"):
        lists_from_matrix(matrix, k=1, exclude=[{"q": "X"}])


def test_the_wrong_kind_is_refused():
    ids = tuple(map(str, range(8)))
    matrix = Matrix(1 - np.eye(8), ids, ids, Path("D.txt"))
    with pytest.raises(InputError, match=r"expected similarities, got .* smallest .* say kind='distance'"):
        lists_from_matrix(matrix, k=1, kind="similarity")
    similarities = Matrix(np.eye(8), ids, ids)
    with pytest.raises(InputError, match=r"expected distances, got .* largest .* say kind='similarity'"):
        lists_from_matrix(similarities, k=1)
    assert lists_from_matrix(similarities, k=1, check_kind=False).height == 8
    with pytest.raises(ParameterError, match="not 'auto'"):
        lists_from_matrix(similarities, k=1, kind="auto")


# Reading


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def ids(tmp_path):
    return write(tmp_path / "ids.txt", "# three tracks\na b\n\n  c#\nd\n")


VALUES = [[0.0, 1.5, np.inf], [1.5, 0.0, -2e-3], [3.0, 4.0, 0.0]]


def test_ids_files(ids):
    assert read_ids(ids) == ("a b", "c#", "d")


@pytest.mark.parametrize("dtype", ["<f4", "<f8", ">f8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_is_mapped_not_loaded(tmp_path, ids, dtype, order):
    np.save(tmp_path / "D.npy", np.array(VALUES, dtype=dtype, order=order))
    matrix = read_matrix(tmp_path / "D.npy", ids=ids)
    assert isinstance(matrix.values, np.memmap)
    assert matrix.row_ids == matrix.column_ids == ("a b", "c#", "d")
    np.testing.assert_array_equal(matrix.values, np.array(VALUES, dtype=dtype))
    assert rows_of(lists_from_matrix(matrix, k=3)) == {"a b": ["c#"], "c#": ["d", "a b"], "d": ["a b", "c#"]}


@pytest.mark.parametrize(
    "text",
    [
        "0 1.5 inf\n1.5 0 -2e-3\n3 4 0\n",
        "0,1.5,inf\r\n1.5,0,-2e-3\r\n3,4,0",
        "# saved by someone\n 0.0\t1.5\tInfinity \n\n1.5\t0\t-.002\t\n3\t4\t0\n",
        "0, 1.5, +inf,\n1.5, 0, -2e-3,\n3, 4, 0,\n",
    ],
)
def test_plain_text(tmp_path, ids, text):
    matrix = read_matrix(write(tmp_path / "D.txt", text), ids=ids)
    assert matrix.row_ids == ("a b", "c#", "d")
    np.testing.assert_array_equal(matrix.values, VALUES)


def test_rectangular_text_and_npy(tmp_path, ids):
    queries = write(tmp_path / "queries.txt", "q1\nd\n")
    np.save(tmp_path / "D.npy", VALUES[:2])
    text = write(tmp_path / "D.txt", "0 1.5 inf\n1.5 0 -2e-3")
    for path in (tmp_path / "D.npy", text):
        matrix = read_matrix(path, ids=ids, query_ids=queries)
        assert (matrix.row_ids, matrix.column_ids) == (("q1", "d"), ("a b", "c#", "d"))
        np.testing.assert_array_equal(matrix.values, VALUES[:2])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Q/R\ta b\tc\td\na b\t0\t1.5\tinf\nc\t1.5\t0\t-2e-3\nd\t3\t4\t0\n", ("a b", "c", "d")),
        ("\ta b\tc\td\t\na b\t0\t1.5\tinf\t\nc\t1.5\t0\t-2e-3\t\nd\t3\t4\t0\t\n", ("a b", "c", "d")),
        ("a b\tc\td\na b\t0\t1.5\tinf\nc\t1.5\t0\t-2e-3\nd\t3\t4\t0\n", ("a b", "c", "d")),
        (',"a, b",c,d\n"a, b",0,1.5,inf\nc,1.5,0,-2e-3\nd,3,4,0\n', ("a, b", "c", "d")),
        ("x y z\nx   0 1.5 inf\ny 1.5   0 -2e-3\nz   3   4   0\n", ("x", "y", "z")),
        ("# x y z\nx   0 1.5 inf\ny 1.5   0 -2e-3\nz   3   4   0\n", ("x", "y", "z")),
        # ids that are numbers, with and without a top-left cell
        ("1 2 3\n1 0 1.5 inf\n2 1.5 0 -2e-3\n3 3 4 0\n", ("1", "2", "3")),
        (",1,2,3\n1,0,1.5,inf\n2,1.5,0,-2e-3\n3,3,4,0\n", ("1", "2", "3")),
        (
            "My system\n1\t/a/01 x.wav\n2\t/a/y.wav\n3\tz.wav\n"
            "Q/R\t1\t2\t3\n1\t0\t1.5\tinf\n2\t1.5\t0\t-2e-3\n3\t3\t4\t0\n",
            ("/a/01 x.wav", "/a/y.wav", "z.wav"),
        ),
    ],
)
def test_text_that_carries_ids(tmp_path, text, names):
    matrix = read_matrix(write(tmp_path / "D.txt", text))
    assert matrix.row_ids == matrix.column_ids == names
    np.testing.assert_array_equal(matrix.values, VALUES)


def test_rectangular_text_that_carries_ids(tmp_path):
    matrix = read_matrix(write(tmp_path / "D.csv", "id,a\nq1,0.5\nq2,1\n"))
    assert (matrix.row_ids, matrix.column_ids) == (("q1", "q2"), ("a",))
    legend = "Covers\n1\ta.wav\n2\tb.wav\n3\tq.wav\nQ/R\t1\t2\n3\t0.5\t1\n"
    matrix = read_matrix(write(tmp_path / "D.txt", legend))
    assert (matrix.row_ids, matrix.column_ids) == (("q.wav",), ("a.wav", "b.wav"))


def test_gzip_encodings_and_byte_order_marks(tmp_path):
    text = "é\tö\né\t0\t1\nö\t1\t0\n"
    path = tmp_path / "D.txt"
    for data, encoding in [
        (gzip.compress(text.encode()), "utf-8"),
        (text.encode("utf-8-sig"), "UTF8"),
        (text.encode("latin-1"), "latin-1"),
        (text.encode("utf-16"), "utf-16"),
    ]:
        path.write_bytes(data)
        assert read_matrix(path, encoding=encoding).row_ids == ("é", "ö")


def test_a_large_text_matrix_survives_the_round_trip(tmp_path):
    values = np.random.default_rng(4).normal(size=(200, 300))
    np.savetxt(tmp_path / "D.txt.gz", values, header="a comment", fmt="%.17g")
    columns = write(tmp_path / "columns.txt", "\n".join(f"d{column}" for column in range(300)))
    rows = write(tmp_path / "rows.txt", "\n".join(f"q{row}" for row in range(200)))
    np.testing.assert_array_equal(read_matrix(tmp_path / "D.txt.gz", ids=columns, query_ids=rows).values, values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"D\.txt: expected rows of numbers, got an empty file"),
        ("# nothing\n\n", r"D\.txt: expected rows of numbers, got an empty file"),
        ("0 1 2\n# c\n1 0\n", r"D\.txt:3: expected 3 columns, got 2"),
        ("0 1 2\n1 0 x\n", r"D\.txt:2: expected a number, got 'x' in column 3 \(.* without an ids file"),
        ("0 1 2\n1 nan 1\n", r"D\.txt:2: expected a number, got NaN in column 2 \(.*'never retrieve'"),
        ("inf -inf nan\n", r"D\.txt:1: expected a number, got NaN in column 3"),
        ("0 1 2\n1 0 2\n", r"D\.txt: expected a square matrix, got 2 rows and 3 columns \(.*query ids"),
        ("0 1\n1 0\n", r"D\.txt: expected 2 ids, got 3"),
    ],
)
def test_errors_in_plain_text(tmp_path, ids, text, message):
    with pytest.raises(InputError, match=message):
        read_matrix(write(tmp_path / "D.txt", text), ids=ids)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"D\.txt: expected a header row of ids, got the end of the file"),
        ("a b\n", r"D\.txt: expected a row of numbers, got the end of the file"),
        ("a b\na 0 1\nb 1\n", r"D\.txt:3: expected an id and 2 columns, got 1"),
        ("a b c\na 0\n", r"D\.txt:2: expected an id and 3 columns, got 1"),
        ("a b\na 0 1\na 1 0\n", r"D\.txt:3: expected an id that is new, got 'a' again, first on line 2"),
        ("a a\na 0 1\nb 1 0\n", r"D\.txt:1: expected an id that is new, got 'a' again, first on line 1"),
        ("x,a,b\n,0,1\n", r"D\.txt:2: expected an id, got an empty cell"),
        ("x,a,b\na,0,1\nb,1,\n", r"D\.txt:3: expected an id and 2 columns, got 1"),
        ("x,a,b\na,,0\n", r"D\.txt:2: expected a number, got '' in column 2"),
        ("x,a,b\na,0,nan\n", r"D\.txt:2: expected a number, got NaN in column 3"),
        ("a b\na 0 1\nb one 0\n", r"D\.txt:3: expected a number, got 'one' in column 2$"),
        (
            "0 1 2\n1 0 2\n2 2 0\n",
            r"D\.txt:1: expected a header row of ids, got a row of numbers \(.*ids file",
        ),
        ('x,a\n"a,' + "0," * 100_000, r"D\.txt:2: expected cells between commas, got field larger"),
        ("My\n1\tx.wav\n2\ty.wav\n", r"D\.txt: expected a row 'Q/R' after the list of files"),
        ("My\n1\tx.wav\n2\n", r"D\.txt:3: expected a number and a file, got '2'"),
        ("My\n1\tx.wav\n1\ty.wav\n", r"D\.txt:3: expected an id that is new, got '1' again"),
        ("My\n1\tx.wav\nQ/R\t1\n", r"D\.txt: expected a row of numbers, got the end"),
        ("My\n1\tx.wav\nQ/R\t1\n2\t0\n", r"D\.txt:4: expected a number from the list of files, got '2'"),
    ],
)
def test_errors_in_text_that_carries_ids(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_matrix(write(tmp_path / "D.txt", text))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros((100, 100)), r"D\.npy: expected 100 ids, got 3 \(one for each column\)"),
        (np.zeros((3, 2)), r"D\.npy: expected a square matrix, got 3 rows and 2 columns"),
        (np.zeros(9), r"D\.npy: expected a matrix \(2 dimensions\), got an array of shape \(9,\)"),
        (np.zeros((3, 3, 1)), r"got an array of shape \(3, 3, 1\)"),
        (np.zeros((0, 3)), r"D\.npy: expected at least one row and one column, got shape \(0, 3\)"),
        (
            np.zeros((3, 3), dtype=complex),
            r"D\.npy: expected a matrix of real numbers, got values of type comp",
        ),
        (np.full((3, 3), "1"), r"got values of type <U1"),
        (np.full((3, 3), None), r"D\.npy: expected a NumPy array of numbers, got .*[Oo]bject"),
    ],
)
def test_errors_in_npy(tmp_path, ids, array, message):
    np.save(tmp_path / "D.npy", array, allow_pickle=True)
    with pytest.raises(InputError, match=message):
        read_matrix(tmp_path / "D.npy", ids=ids)


@pytest.mark.parametrize("order", ["C", "F"])
def test_nan_in_npy(tmp_path, ids, order):
    values = np.array(VALUES, dtype=np.float32, order=order)
    values[1, 2] = np.nan
    np.save(tmp_path / "D.npy", values)
    message = r"D\.npy: expected a number in every cell, got NaN in row 2 \('c#'\), column 3 \('d'\)"
    with pytest.raises(InputError, match=message):
        read_matrix(tmp_path / "D.npy", ids=ids)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("D.npy", b"", "expected a NumPy array, got an empty file"),
        ("D.npy", b"0 1 2\n", "expected a NumPy array of numbers, got"),
        ("D.npy", b"\x93NUMPY\x01\x00", "expected a NumPy array of numbers, got"),
        ("D.npy.gz", gzip.compress(b"\x93NUMPY", mtime=0), r"expected a NumPy array of numbers.*cannot be gzipped"),
        ("D.txt", b"0 1 2\n1 0 \xe9\n", r"D\.txt:2: expected text in utf-8, got byte 0xe9 \(.*--encoding"),
        ("D.txt", b"0 1 2\n" * 5000 + b"1 0 \xe9\n", r"D\.txt:5001: expected text in utf-8, got byte 0xe9"),
        ("D.txt.gz", gzip.compress(b"0 1 2\n" * 100, mtime=0)[:-9], r"D\.txt\.gz: expected a readable file, got"),
        ("D.txt.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff", "expected a readable file, got"),
    ],
)
def test_files_that_are_not_matrices(tmp_path, ids, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_matrix(tmp_path / name, ids=ids)


def test_a_truncated_npy(tmp_path, ids):
    np.save(tmp_path / "D.npy", np.zeros((3, 3)))
    (tmp_path / "D.npy").write_bytes((tmp_path / "D.npy").read_bytes()[:-8])
    with pytest.raises(InputError, match=r"D\.npy: expected a NumPy array of numbers, got mmap length"):
        read_matrix(tmp_path / "D.npy", ids=ids)


@pytest.mark.parametrize("name", ["D.npy", "D.txt"])
def test_missing_files_and_directories(tmp_path, ids, name):
    with pytest.raises(InputError, match="expected a file, got nothing there"):
        read_matrix(tmp_path / name, ids=ids)
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="expected a file, got a directory"):
        read_matrix(tmp_path / name, ids=ids)


def test_errors_in_ids(tmp_path):
    np.save(tmp_path / "D.npy", np.zeros((3, 3)))
    text = write(tmp_path / "D.txt", "a b\na 0 1\n")
    with pytest.raises(InputError, match=r"D\.npy: expected an ids file beside the matrix, got none"):
        read_matrix(tmp_path / "D.npy")
    with pytest.raises(ParameterError, match="query ids name the rows of a matrix whose columns"):
        read_matrix(text, query_ids=text)
    with pytest.raises(InputError, match=r"ids\.txt:4: expected an id that is new, got 'b' again.* line 2"):
        read_ids(write(tmp_path / "ids.txt", "a\nb\n\nb \n"))
    with pytest.raises(InputError, match=r"ids\.txt: expected ids, one per line, got none"):
        read_ids(write(tmp_path / "ids.txt", "#a\n\n"))
    with pytest.raises(InputError, match="expected a known encoding, got 'klingon'"):
        read_ids(tmp_path / "ids.txt", encoding="klingon")
    with pytest.raises(InputError, match=r"D\.npy: expected 3 ids, got 2 \(one for each row\)"):
        read_matrix(
            tmp_path / "D.npy",
            ids=write(tmp_path / "ids.txt", "a\nb\nc\n"),
            query_ids=write(tmp_path / "queries.txt", "a\nb\n"),
        )
    with pytest.raises(InputError, match="expected a different id for each column, got duplicates"):
        Matrix(np.zeros((2, 2)), ("a", "a"), ("a", "a"))


# Memory


# VmHWM is the peak of this process alone; getrusage's begins with what the parent process held.
MEMORY_SCRIPT = """
import sys
from earmark.data.matrices import lists_from_matrix, read_matrix

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

before = peak()
matrix = read_matrix(sys.argv[1], ids=sys.argv[2])
artist = {name: name[:-1] for name in matrix.column_ids}
frame = lists_from_matrix(matrix, k=10, exclude=[artist])
assert frame.height == 10 * len(matrix.row_ids)
print(before, peak())
"""


def peak_memory(tmp_path, n, dtype, *, fortran_order):
    """Memory of a process that only imported us, and at its peak after making lists; and the file's size."""
    path = tmp_path / "D.npy"
    stored = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(n, n), fortran_order=fortran_order)
    rng = np.random.default_rng(5)
    rows = rng.random((500, n), dtype=np.float32)
    lines = stored.T if fortran_order else stored
    for start in range(0, n, 500):
        lines[start : start + 500] = rng.permuted(rows, axis=0)[: n - start]
    lines[np.arange(n), np.arange(n)] = 0
    del lines, stored
    ids = write(tmp_path / "ids.txt", "\n".join(f"track{number:06}" for number in range(n)))
    command = [sys.executable, "-c", MEMORY_SCRIPT, str(path), str(ids)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    size = path.stat().st_size
    path.unlink()
    return (*map(int, printed.split()), size)


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory use from /proc")


@needs_proc
@pytest.mark.parametrize("fortran_order", [False, True])
def test_memory_stays_far_below_the_size_of_the_file(tmp_path, fortran_order):
    before, peak, size = peak_memory(tmp_path, 4000, np.float64, fortran_order=fortran_order)
    assert size > 128e6
    assert peak - before < 0.6 * size


@needs_proc
@pytest.mark.slow
@pytest.mark.parametrize("fortran_order", [False, True])
def test_fifteen_thousand_tracks_in_far_less_than_a_gigabyte(tmp_path, fortran_order):
    _, peak, size = peak_memory(tmp_path, 15_000, np.float32, fortran_order=fortran_order)
    assert size > 900e6
    assert peak < 300e6


def test_runs_of_several_systems():
    one = small_matrix()
    other = Matrix(np.asarray(one.values).T.copy(), one.row_ids, one.column_ids)
    runs = runs_from_matrices({"one": one, "other": other}, k=2, check_kind=False)
    assert runs.systems == ("one", "other")
    for name, matrix in (("one", one), ("other", other)):
        own = runs.select([name]).to_polars().select("query", "document").sort("query", maintain_order=True)
        lists = lists_from_matrix(matrix, k=2, check_kind=False).select("query", "document")
        assert own.rows() == lists.sort("query", maintain_order=True).rows()


def test_documents_that_are_infinitely_near_come_first():
    values = np.array([[np.inf, 1.0, np.inf], [1.0, np.inf, 2.0], [np.inf, 2.0, np.inf]])
    runs = runs_from_matrices({"s": Matrix(values, ("a", "b", "c"), ("a", "b", "c"))}, k=2, kind="similarity")
    assert runs.scores is None
    assert runs.to_polars().filter(pl.col("query") == "a")["document"].to_list() == ["c", "b"]


def test_runs_of_nothing():
    with pytest.raises(ParameterError, match="there is no matrix to make runs from"):
        runs_from_matrices({}, k=1)
    alone = Matrix(np.zeros((1, 1)), ("a",), ("a",))
    with pytest.raises(InputError, match="expected documents to rank, got none that is not left out for system 's'"):
        runs_from_matrices({"s": alone}, k=1)
