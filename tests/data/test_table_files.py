import gzip
import os
import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from earmark.data import table_files, text_blocks
from earmark.data.files import data_lines, replacing, require_file
from earmark.data.table_files import Layout, read_layout, read_named
from earmark.data.tables import parse_number
from earmark.errors import InputError

QRELS = Layout(
    {"query": False, "iteration": False, "document": False, "gain": True}, comments=True, unused=("iteration",)
)
RUN = Layout(
    {"query": False, "Q0": False, "document": False, "rank": False, "score": True, "tag": False},
    open_ended=True,
    comments=True,
    unused=("Q0", "rank"),
)
TABBED = Layout({"query": False, "document": False, "gain": True}, separator="\t", comments=True)

# What separates nothing may stand in an id: quotes, commas, a '#', other scripts, spaces and line ends of Unicode's.
LETTERS = 'ab1#",;_-\\é\u00a0\u3000\u2028\x85\x1f\U0001d11e'
words = st.text(LETTERS, min_size=1, max_size=5)
first_words = words.filter(lambda word: not word.startswith("#"))
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-3, 100).map(str),
    st.sampled_from(["+1.5", ".5", "1.", "-0", "1e3", "1E-3", "007", "1e-400"]),
)
blanks = st.text(" \t\r\v\f", min_size=1, max_size=3)
some_blanks = st.text(" \t\r\v\f", max_size=2)
around_a_tab = st.text(" \v\f", max_size=1)
noise = st.one_of(st.just(""), st.text(" \t\v\f", max_size=3), st.sampled_from(["#", "# q 0 d 1", " \t#a b c 1 2 3"]))
line_ends = st.sampled_from(["\n", "\r\n", " \n"])


@st.composite
def odd_files(draw, layout):
    """Rows of cells, and a text that holds them amid white space, comments and blank lines of all sorts."""
    cells = [st.just("") if name == "tag" else numbers if number else words for name, number in layout.columns.items()]
    cells[0] = first_words
    rows = [list(row) for row in draw(st.lists(st.tuples(*cells), min_size=1, max_size=6))]
    text = draw(st.sampled_from(["", "\ufeff"]))
    for row in rows:
        for line in draw(st.lists(noise, max_size=2)):
            text += line + draw(line_ends)
        if "tag" in layout.columns:
            tag = [draw(words), *(draw(blanks) + draw(words) for _ in range(draw(st.integers(0, 2))))]
            row[-1] = "".join(tag)
        if layout.separator == "\t":
            text += "\t".join(draw(around_a_tab) + cell + draw(around_a_tab) for cell in row)
        else:
            text += draw(some_blanks)
            text += "".join(cell + (draw(blanks) if place < len(row) - 1 else "") for place, cell in enumerate(row))
        text += draw(line_ends)
    return rows, text.rstrip("\r\n") if draw(st.booleans()) else text


def frame_of(rows, layout):
    columns = dict(zip(layout.columns, zip(*rows, strict=True), strict=True))
    values = {
        name: [float(c) for c in cells] if layout.columns[name] else list(cells) for name, cells in columns.items()
    }
    return pl.DataFrame(values, schema=layout.schema).select(layout.used)


def returns_alone(text):
    """Whether carriage returns seem to end the lines; in files that have other lines they are white space."""
    return "\n" not in text and b"\r" in text.encode().strip()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("tables") / "table.txt"


@pytest.mark.parametrize("layout", [QRELS, RUN], ids=["qrels", "run"])
@given(st.data())
def test_white_space_and_comments_change_nothing(file, layout, data):
    rows, text = data.draw(odd_files(layout))
    assume(not returns_alone(text))
    file.write_bytes(text.encode())
    assert_frame_equal(read_layout(file, layout).frame, frame_of(rows, layout))


@given(odd_files(TABBED))
def test_blanks_around_tabs_change_nothing(file, drawn):
    rows, text = drawn
    file.write_bytes(text.encode())
    assert_frame_equal(read_layout(file, TABBED).frame, frame_of(rows, TABBED))


@pytest.mark.parametrize("layout", [QRELS, RUN, TABBED], ids=["qrels", "run", "tabbed"])
@given(st.data())
def test_the_three_readers_agree_on_regular_files(file, layout, data):
    cells = [numbers if number else words for number in layout.columns.values()]
    cells[0] = first_words
    rows = data.draw(st.lists(st.tuples(*cells), min_size=1, max_size=6))
    text = "".join(layout.separator.join(row) + "\n" for row in rows).encode()
    file.write_bytes(text)
    expected = frame_of(rows, layout)
    carefully = table_files._parse_carefully(data_lines(file, encoding="utf-8", comments=True), layout, file)
    fast, evened = table_files._parse(text, layout), table_files._parse(table_files._even_out(text, layout), layout)
    for frame in (fast, evened, carefully, read_layout(file, layout).frame):
        # A control character may be part of an id, but the fast readers take it for white space and hand over.
        assert frame is not None or b"\x1f" in text
        if frame is not None:
            assert_frame_equal(frame, expected)


@given(st.text('q0d1# \t\n\r."é', max_size=60), st.integers(3, 60))
def test_any_text_is_read_alike_or_refused_by_all(file, text, block):
    """What the fast readers accept, the careful one reads the same, wherever the file is cut into blocks."""
    assume(not returns_alone(text))
    data = text.encode()
    file.write_bytes(data)

    def outcome(read):
        try:
            return read().rows()
        except InputError as error:
            return str(error)

    expected = outcome(
        lambda: table_files._parse_carefully(data_lines(file, encoding="utf-8", comments=True), QRELS, file)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "BLOCK_BYTES", block)
        read = outcome(lambda: read_layout(file, QRELS).frame)
    assert read == expected or (expected == [] and "got an empty file" in read)
    evened = table_files._parse(table_files._even_out(data, QRELS), QRELS)
    assert evened is None or evened.rows() == expected


@given(st.binary(max_size=40), st.integers(1, 9))
def test_the_count_of_white_space_is_its_definition(data, block):
    single = all(max(pair) > 32 for pair in pairwise(data))
    count = sum(byte <= 32 for byte in data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_files, "_SCAN_BYTES", block)
        assert table_files._count_marks(data, QRELS) == (count if single else None)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_encodings_and_gzip(file, pack, encoding):
    file.write_bytes(pack("é 0 ö 1\n# ü\nÿ  0 ß 2\n".encode(encoding)))
    assert read_layout(file, QRELS, encoding=encoding).frame.rows() == [("é", "ö", 1.0), ("ÿ", "ß", 2.0)]


def test_comments_in_a_large_file(file):
    """Large enough for polars to cut it into pieces, with comments and blank lines all over."""
    rng = np.random.default_rng(0)
    lines, expected = [], []
    for number in range(100_000):
        if rng.random() < 0.05:
            lines.append(["# q 0 d 1", "", "#", "   "][number % 4])
        lines.append(f"q{number % 50} 0 d{number} {number % 3}")
        expected.append((f"q{number % 50}", f"d{number}", float(number % 3)))
    file.write_text("\n".join(lines))
    table = read_layout(file, QRELS)
    assert table.frame.rows() == expected
    row = 77_777
    assert lines[table.line_of(row) - 1].split() == ["q27", "0", "d77777", "2"]


@pytest.mark.parametrize("odd", ["", "#c\n", " "])
@pytest.mark.parametrize(
    ("line", "got"),
    [
        ("q 0 d", r"3 \('q 0 d'\)"),
        ("q  d 1", r"3 \('q  d 1'\)"),
        ("q 0 d 1 2", r"5 \('q 0 d 1 2'\)"),
        ("q", r"1 \('q'\)"),
    ],
)
def test_a_wrong_number_of_columns_far_down(file, odd, line, got):
    file.write_text(odd + "q 0 d 1\n" * 20_000 + line + "\n" + "q 0 d 1\n" * 10)
    message = rf"expected 4 columns \(query iteration document gain\), got {got}$"
    with pytest.raises(InputError, match=message) as caught:
        read_layout(file, QRELS)
    assert (caught.value.path, caught.value.line) == (str(file), 20_001 + odd.count("\n"))


@pytest.mark.parametrize("comment", ["#", "#q 0 d 1", "# q 0 1", "#a\tb\tc 1"])
def test_comments_that_look_like_data(file, comment):
    file.write_text(f"q 0 a 1\n{comment}\nq 0 b 1\n")
    assert read_layout(file, QRELS).frame["document"].to_list() == ["a", "b"]
    assert read_layout(file, QRELS).line_of(1) == 3


def test_what_evening_out_leaves():
    text = b" a\t0  b 1 \r\n\n  \n# c\n\v#\n\tc 0 #d 2\f\r\n\r\n e\r0 f 3"
    assert table_files._even_out(text, QRELS) == b"a 0 b 1\nc 0 #d 2\ne 0 f 3\n"
    assert table_files._even_out(b"\n\r\na \tb\t1\r\n#\n\n\nc\t\t2", TABBED) == b"a \tb\t1\nc\t\t2\n"


def test_a_column_that_is_not_read_has_to_be_there(file):
    file.write_text("q Q0 d 1 0.5 tag\nq  d 1 0.5 tag\n")
    with pytest.raises(InputError, match=r"table\.txt:2: expected 6 columns .*, got 5 "):
        read_layout(file, RUN)


def test_a_lone_tab_separates(file):
    file.write_text("q Q0 a 1 0.5 tag\nq Q0 b\t2 0.25 my tag\n")
    assert read_layout(file, RUN).frame.rows() == [("q", "a", 0.5, "tag"), ("q", "b", 0.25, "my tag")]


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e999"])
def test_numbers_are_finite(file, cell):
    file.write_text(f"q 0 a 1\nq 0 b {cell}\n")
    with pytest.raises(InputError, match=rf"table\.txt:2: expected a finite gain, got '{cell}'"):
        read_layout(file, QRELS)


@pytest.mark.parametrize("cell", ["x", "1,5", "1_0", "0x1", "--1", "1e", "١", "."])
def test_numbers_are_numbers(file, cell):
    file.write_text(f"q 0 a 1\n\nq 0 b {cell}\n")
    with pytest.raises(InputError, match=r"table\.txt:3: expected a number as gain, got '"):
        read_layout(file, QRELS)
    with pytest.raises(InputError, match="x:7: expected a number as gain"):
        parse_number(cell, "gain", "x", 7)


def test_an_empty_cell_between_tabs(file):
    file.write_text("a\tb\t1\na\t \t1\n")
    with pytest.raises(InputError, match=r"table\.txt:2: expected 3 columns \(.*\), got an empty document"):
        read_layout(file, TABBED)
    optional = Layout(
        {"document": False, "artist": False, "genre": False}, separator="\t", optional=("artist", "genre")
    )
    file.write_text("a\tb\t1\r\n\r\na\t\v\t1\r\nc\td\t\r\n")
    assert read_layout(file, optional).frame.rows() == [("a", "b", "1"), ("a", None, "1"), ("c", "d", None)]
    file.write_text("a\tb\t1\na\t \t1\na\tb\n")
    with pytest.raises(InputError, match=r"table\.txt:3: expected 3 columns \(.*\), got 2"):
        read_layout(file, optional)


@pytest.mark.parametrize("text", ["", "\n", "#\n# q 0 d 1\n", "\ufeff", " \r\n\t\n"])
def test_nothing_in_a_file(file, text):
    file.write_text(text)
    with pytest.raises(InputError, match=r"table\.txt: expected lines of 4 columns \(.*\), got an empty file"):
        read_layout(file, QRELS)


def test_a_file_whose_name_looks_like_a_pattern(tmp_path):
    path = tmp_path / "run[1]*.txt"
    path.write_text("q 0 a 1\n")
    assert read_layout(path, QRELS).frame.height == 1
    path.write_text("query,document\nq,a\n")
    assert read_named(path).frame.height == 1
    read_named(path).frame.write_parquet(tmp_path / "run1.txt")
    (tmp_path / "run1.txt").rename(path)
    assert read_named(path).frame.rows() == [("q", "a")]


# Named columns


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_named_columns(file, end, mark, pack):
    text = f'{mark}{end}query; document ;"note"{end}q1;d1;"a; ""b"""{end};;{end}{end}q2;d#2;{end}'
    file.write_bytes(pack(text.encode()))
    table = read_named(file)
    assert table.frame.columns == ["query", "document", "note"]
    assert table.frame.rows() == [("q1", "d1", 'a; "b"'), ("q2", "d#2", None)]
    assert [table.line_of(row) for row in range(2)] == [3, 6]


def test_blanks_before_the_header(file):
    file.write_text(" \t\n\nquery,document\nq,a\n")
    table = read_named(file)
    assert (table.frame.columns, table.frame.rows(), table.line_of(0)) == (["query", "document"], [("q", "a")], 4)
    file.write_text(" \ndocument\na\n")
    assert (read_named(file).frame.columns, read_named(file).frame.rows()) == (["document"], [("a",)])


def test_lines_of_records_that_span_several(file):
    file.write_text('query,note\nq1,"two\nlines"\n\nq2,x\nq3,"three\n\nlines"\nq4,y\n')
    table = read_named(file)
    assert table.frame["note"].to_list() == ["two\nlines", "x", "three\n\nlines", "y"]
    assert [table.line_of(row) for row in range(4)] == [2, 5, 6, 9]


def test_quotes_within_a_cell(file):
    file.write_text('query,note\nq1,x "y" z\nq2,\n')
    assert read_named(file).frame.rows() == [("q1", 'x "y" z'), ("q2", None)]


def test_short_rows_are_filled_up_and_long_ones_refused(file):
    file.write_text("a,b,c\n1,2\n\n1,2,3,4\n")
    with pytest.raises(InputError, match=r"table\.txt:4: expected at most 3 cells, as in the header, got 4"):
        read_named(file)
    file.write_text("a,b,c\n1,2\n3\n")
    assert read_named(file).frame.rows() == [("1", "2", None), ("3", None, None)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n", r"table\.txt: expected rows under the names of the columns, got none"),
        ("a,b\n,\n\n", r"table\.txt: expected rows under the names of the columns, got none"),
        ("a, b,b\n1,2,3\n", r"table\.txt:1: expected columns with different names, got 'b' twice"),
        ('a,b\n1,2\n3,"4\n5,6\n', r"table\.txt:3: expected cells and their quotes, got "),
        ('a,b\n1,2\n3,"4" 5\n', r"table\.txt:3: expected cells and their quotes, got "),
    ],
)
def test_errors_in_named_columns(file, text, message):
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_named(file)


def test_a_column_without_a_name(file):
    file.write_text(",a,\n0,x,1\n1,y,2\n")
    assert read_named(file).frame.to_dict(as_series=False)["a"] == ["x", "y"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_parquet(file, pack):
    frame = pl.DataFrame({"query": [1, 2], "document": ["a", "b"]})
    frame.write_parquet(file)
    file.write_bytes(pack(file.read_bytes()))
    table = read_named(file)
    assert_frame_equal(table.frame, frame)
    assert table.line_of(1) == 2


def test_broken_parquet(file):
    pl.DataFrame({"a": ["x"] * 1000}).write_parquet(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"table\.txt: expected a Parquet file, got "):
        read_named(file)
    pl.DataFrame({"a": []}, schema={"a": pl.String}).write_parquet(file)
    with pytest.raises(InputError, match=r"expected rows under the names of the columns, got none"):
        read_named(file)


def test_encodings_of_named_columns(file):
    file.write_bytes("query,document\né,ö\nü,\xff\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"table\.txt:2: expected text in utf-8, got byte 0xe9 .*--encoding latin-1"):
        read_named(file)
    assert read_named(file, encoding="latin-1").frame.rows() == [("é", "ö"), ("ü", "ÿ")]
    file.write_bytes("query,document\né,ö\n".encode("utf-16"))
    assert read_named(file, encoding="utf-16").frame.rows() == [("é", "ö")]


# Files


def test_paths_that_are_no_files(tmp_path):
    with pytest.raises(InputError, match=r"nowhere: expected a file, got nothing there \(is the path spelt right\?\)"):
        require_file(tmp_path / "nowhere")
    with pytest.raises(InputError, match="expected a file, got a directory"):
        require_file(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match=r"expected a file, got a pipe or a device \(write it to a file first\)"):
            require_file(tmp_path / "pipe")


def test_nothing_is_half_written(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text(f"half {1 / 0}")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with replacing(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="expected an existing folder to write to"), replacing(tmp_path / "no" / "x"):
        pass


@pytest.mark.parametrize("byte", [b"\xff", b"\xe9"])
def test_a_comment_may_be_in_another_encoding(file, byte):
    file.write_bytes(b"# " + byte + b"  x\nq  0 d 1\n")
    assert read_layout(file, QRELS).frame.rows() == [("q", "d", 1.0)]


@given(st.lists(st.sampled_from([b" ", b"\t", b"\n", b"#", b"a", b"\xff", b"\x01"]), min_size=1), st.integers(1, 9))
def test_collapsed_blanks_are_as_by_hand(pieces, block):
    data = b"".join(pieces) + b"\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_files, "_SCAN_BYTES", block)
        collapsed = table_files._collapse_blanks(data)
    assert collapsed == re.sub(rb" (?=\n)", b"", re.sub(rb"[ \t]+", b" ", data))
