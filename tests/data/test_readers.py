"""Files as people have them: each gives the right result, or an error that names the file and the line."""

import gzip
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.readers import read_cliques, read_groups, read_judgments, read_metadata, read_runs
from earmark.data.scales import BINARY, BROAD, FINE, parse_scale
from earmark.errors import InputError, ParameterError

READERS = {
    "runs": read_runs,
    "judgments": read_judgments,
    "cliques": read_cliques,
    "groups": read_groups,
    "metadata": read_metadata,
}
GOOD = {
    "runs": "q Q0 a 1 2.5 tag\nq Q0 b 2 1.5 tag\n",
    "judgments": "q 0 a 1\nq 0 b 0\n",
    "cliques": "a g\nb g\n",
    "groups": "q a 1\nq b 2\n",
    "metadata": "a x y\nb x z\n",
}
kinds = pytest.mark.parametrize("kind", READERS)


@pytest.fixture
def write(tmp_path):
    def write(text, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def lists_of(runs):
    lists = {}
    for system, query, document in runs.to_polars().select("system", "query", "document").iter_rows():
        lists.setdefault(system, {}).setdefault(query, []).append(document)
    return lists


def refused(read, *, expected, got, line=None, hint=None, path=None):
    """The error of a reader, checked in all its parts."""
    with pytest.raises(InputError) as caught:
        read()
    error = caught.value
    assert (error.expected, error.got, error.line, error.hint) == (expected, got, line, hint)
    assert path is None or error.path == str(path)
    where = f"{error.path}:{line}: " if line else f"{error.path}: " if error.path else ""
    assert str(error).startswith(f"{where}expected {expected}, got {got}")


# What all readers share


@kinds
def test_files_that_are_not_there(tmp_path, kind):
    path = tmp_path / "nowhere.txt"
    refused(
        lambda: READERS[kind](path), expected="a file", got="nothing there", path=path, hint="is the path spelt right?"
    )
    expected, got = "a file", "a directory"
    if kind == "judgments":
        expected, got = "a folder with files of judgments", "a folder without files"
    refused(lambda: READERS[kind](tmp_path), expected=expected, got=got, path=tmp_path)


@kinds
@pytest.mark.parametrize("text", ["", "\n \t\r\n", "\ufeff"])
def test_empty_files(write, kind, text):
    path = write(text)
    refused(lambda: READERS[kind](path), expected="lines of data", got="an empty file", path=path)


@pytest.mark.parametrize("kind", ["runs", "judgments", "cliques", "groups"])
def test_files_of_comments_alone(write, kind):
    path = write("# a\n  # b c d e f\n")
    refused(lambda: READERS[kind](path), expected="lines of data", got="an empty file", path=path)


@kinds
def test_broken_gzip(write, kind):
    for packed in (gzip.compress(GOOD[kind].encode() * 50)[:-10], b"\x1f\x8b\x08" + bytes(30)):
        path = write(packed, "file.txt.gz")
        with pytest.raises(InputError, match=r"file\.txt\.gz: expected a readable file, got .+") as caught:
            READERS[kind](path)
        assert caught.value.line is None


@kinds
def test_files_that_are_not_utf8(write, kind):
    path = write(GOOD[kind].replace("b", "é").encode("latin-1"))
    refused(
        lambda: READERS[kind](path),
        expected="text in utf-8",
        got="byte 0xe9",
        line=2,
        path=path,
        hint="name the file's encoding, for example --encoding latin-1",
    )
    refused(lambda: READERS[kind](path, encoding="klingon"), expected="a known encoding", got="'klingon'", path=path)


@kinds
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "UTF8"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_encodings_marks_and_gzip(write, kind, encoding, pack):
    text = GOOD[kind].replace("b", "é")
    plain = READERS[kind](write(text))
    packed = READERS[kind](write(pack(text.encode(encoding)), "packed.x.gz"), encoding=encoding)
    frames = [read.to_polars() if kind == "runs" else read.frame for read in (plain, packed)]
    assert frames[0].equals(frames[1])
    assert "é" in frames[0]["document"].to_list()


@kinds
def test_line_ends_and_blank_lines(write, kind):
    plain, odd = READERS[kind](write(GOOD[kind])), READERS[kind](write("\r\n" + GOOD[kind].replace("\n", "\r\n\r\n")))
    unended = READERS[kind](write(GOOD[kind].rstrip("\n")))
    frames = [read.to_polars() if kind == "runs" else read.frame for read in (plain, odd, unended)]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


NAMED = {
    "runs": pl.DataFrame({"docno": ["a", "b"], "SIM": [2.5, 1.5], "qid": ["q", "q"], "run": ["tag", "tag"]}),
    "judgments": pl.DataFrame({"rel": [1, 0], "doc_id": ["a", "b"], "topic": ["q", "q"]}),
    "cliques": pl.DataFrame({"work": ["g", "g"], "Document": ["a", "b"]}),
    "groups": pl.DataFrame({"group": [1, 2], "query_id": ["q", "q"], "doc": ["a", "b"]}),
    "metadata": pl.DataFrame({"artist": ["x", "x"], "docid": ["a", "b"], "genre": ["y", "z"]}),
}


@kinds
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("quote_style", ["necessary", "always"])
def test_named_columns_in_any_order(write, kind, separator, pack, quote_style):
    text = NAMED[kind].write_csv(separator=separator, quote_style=quote_style)
    plain, named = READERS[kind](write(GOOD[kind])), READERS[kind](write(pack(text.encode()), "named.csv.gz"))
    frames = [read.to_polars() if kind == "runs" else read.frame for read in (plain, named)]
    assert frames[0].equals(frames[1].select(frames[0].columns))


@kinds
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_parquet(write, tmp_path, kind, pack):
    NAMED[kind].write_parquet(tmp_path / "x.parquet")
    named = READERS[kind](write(pack((tmp_path / "x.parquet").read_bytes()), "named"))
    plain = READERS[kind](write(GOOD[kind]))
    frames = [read.to_polars() if kind == "runs" else read.frame for read in (plain, named)]
    assert frames[0].equals(frames[1].select(frames[0].columns))


@kinds
def test_a_csv_file_needs_a_header(write, kind):
    path = write("x,y,1\n", "x.csv")
    with pytest.raises(InputError, match=r"x\.csv:1: expected a header with the columns .*, got 'x,y,1'"):
        READERS[kind](path)


@kinds
def test_named_columns_that_lack_one(write, tmp_path, kind):
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"x\.parquet: expected a column '(query|document)', got columns x"):
        READERS[kind](tmp_path / "x.parquet")


def test_names_between_blanks(write):
    for kind, header in (("runs", "system query document"), ("judgments", "query document gain")):
        path = write(f"{header}\na b c\n")
        refused(
            lambda kind=kind, path=path: READERS[kind](path),
            expected="tabs or commas between columns that have names",
            got=f"blanks ('{header}')",
            line=1,
            path=path,
        )


@pytest.mark.parametrize("kind", ["runs", "judgments", "groups"])
def test_ids_may_be_whole_numbers_but_not_fractions_or_gaps(tmp_path, kind):
    path = tmp_path / "x.parquet"
    frame = NAMED[kind].rename({old: "query" for old in NAMED[kind].columns if old in ("qid", "topic", "query_id")})
    frame.with_columns(query=pl.Series([1, 1])).write_parquet(path)
    read = READERS[kind](path)
    assert (read.to_polars() if kind == "runs" else read.frame)["query"].to_list() == ["1", "1"]
    for bad, got in (([1.0, 2.0], "Float64"), ([True, True], "Boolean"), ([["a"], ["b"]], "List(String)")):
        frame.with_columns(query=pl.Series(bad)).write_parquet(path)
        refused(
            lambda: READERS[kind](path),
            expected="text or whole numbers as query",
            got=f"a column of {got}",
            path=path,
        )
    for bad in ([1, None], ["x", ""]):
        frame.with_columns(query=pl.Series(bad)).write_parquet(path)
        refused(lambda: READERS[kind](path), expected="query in every row", got="nothing", line=2, path=path)


# Runs

lines = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2"]),
        st.sampled_from(["a", "B", "b", "é", "#c", "\uff5e", "\U0001d11e"]),
        st.sampled_from(["1", "1.000000001", "0.5", "-0.0", "0", "1e-60", "-3", "1e300", "2e300"]),
    ),
    min_size=1,
    unique_by=lambda line: line[:2],
)


@given(lines, st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter(tmp_path_factory, lines, shuffler):
    path = tmp_path_factory.getbasetemp() / "shuffled.run"
    shuffler.shuffle(lines)
    path.write_text("".join(f"{q} Q0 {d} 7 {s} tag\n" for q, d, s in lines), encoding="utf-8")
    expected = {}
    with np.errstate(over="ignore"):
        for query in sorted({line[0] for line in lines}):
            ranked = [(np.float32(float(s)), d.encode(), d) for q, d, s in lines if q == query]
            expected[query] = [document for _, _, document in sorted(ranked, reverse=True)]
    assert lists_of(read_runs(path)) == {"tag": expected}


def test_comments_and_marks_in_ids(write):
    path = write("#q Q0 x 1 9 t\nq Q0 #a 1 2 t#1\n  # c\nq Q0 b# 2 1 t#1\n#")
    assert lists_of(read_runs(path)) == {"t#1": {"q": ["#a", "b#"]}}


@pytest.mark.parametrize(
    ("line", "tag"),
    [
        ("q Q0 a 1 2 my system", "my system"),
        ("q\tQ0\ta\t1\t2\tmy  system \t", "my  system"),
        ("  q Q0   a 1 2 my\tsystem", "my\tsystem"),
        ("q Q0 a 1 2 tag\r", "tag"),
    ],
)
def test_tags_and_white_space(write, line, tag):
    assert lists_of(read_runs(write(line))) == {tag: {"q": ["a"]}}


def test_a_tag_with_blanks_far_down_the_file(write):
    """Polars reads the first word of such a tag and drops the others."""
    path = write("q Q0 a 1 2 tag\n" + "".join(f"q Q0 d{i} 1 1 tag\n" for i in range(5000)) + "q Q0 z 1 0 tag of mine\n")
    assert lists_of(read_runs(path))["tag of mine"] == {"q": ["z"]}


def test_three_columns_in_rank_order(write):
    for text in (
        "s1\tq\tb\ns1\tq\ta\ns2\tq\ta\n",
        "# c\ns1 q b\n s1  q a\ns2 q a",
        "s1\tq\tb\r\n\r\ns1\tq\ta \r\ns2\tq\ta",
    ):
        for order in ("score", "rank"):
            runs = read_runs(write(text), order=order)
            assert lists_of(runs) == {"s1": {"q": ["b", "a"]}, "s2": {"q": ["a"]}}
            assert runs.scores is None
    assert lists_of(read_runs(write("my system\tq 1\td 1\n"))) == {"my system": {"q 1": ["d 1"]}}


@pytest.mark.parametrize("columns", [1, 2, 4, 5])
def test_a_wrong_number_of_columns_in_the_first_line(write, columns):
    line = " ".join(["x"] * columns)
    path = write(f"# c\n{line}\n")
    expected = "6 columns (query Q0 document rank score tag) or 3 (system query document)"
    refused(lambda: read_runs(path), expected=expected, got=f"{columns} ({line!r})", line=2, path=path)


@pytest.mark.parametrize("at", [2, 9000])
@pytest.mark.parametrize(("line", "got"), [("q Q0 a 1 2", 5), ("q  a 1 2 tag", 5), ("q Q0 a", 3)])
def test_a_wrong_number_of_columns_further_down(write, at, line, got):
    path = write("".join(f"q Q0 d{i} 1 1 tag\n" for i in range(at - 1)) + line + "\nq Q0 z 1 1 tag\n")
    expected = "6 columns (query Q0 document rank score tag)"
    refused(lambda: read_runs(path), expected=expected, got=f"{got} ({line!r})", line=at, path=path)


@pytest.mark.parametrize("score", ["nan", "inf", "-inf", "1e999"])
def test_scores_are_finite(write, tmp_path, score):
    path = write(f"q Q0 a 1 1 t\n#\nq Q0 b 2 {score} t\n")
    refused(lambda: read_runs(path), expected="a finite score", got=f"'{score}'", line=3, path=path)
    path = write(f"query,document,score\nq,a,1\n\nq,b,{score}\n", "x.csv")
    refused(lambda: read_runs(path), expected="a finite score", got=f"'{score}'", line=4, path=path)
    pl.DataFrame({"query": ["q"] * 2, "document": ["a", "b"], "score": [1.0, float(score)]}).write_parquet(path)
    refused(lambda: read_runs(path), expected="a finite score", got=f"'{float(score)}'", line=2, path=path)


def test_scores_that_are_no_numbers(write):
    path = write("q Q0 a 1 high t\n")
    refused(lambda: read_runs(path), expected="a number as score", got="'high'", line=1, path=path)
    path = write("query,document,score\nq,a, 1 \nq,b,\n", "x.csv")
    refused(lambda: read_runs(path), expected="a number as score", got="nothing", line=3, path=path)
    pl.DataFrame({"query": ["q"], "document": ["a"], "score": [[1.0]]}).write_parquet(path)
    refused(lambda: read_runs(path), expected="numbers as score", got="a column of List(Float64)", path=path)


def test_scores_beyond_32_bits_tie(write):
    path = write("q Q0 a 1 1e300 t\nq Q0 b 2 2e300 t\nq Q0 c 3 1e30 t\nq Q0 d 3 -1e300 t\n")
    assert lists_of(read_runs(path)) == {"t": {"q": ["b", "a", "c", "d"]}}


def test_documents_twice_in_a_list(write):
    for text, line in (
        ("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n", 3),
        ("q Q0 a 1 3 t\n# c\nr Q0 a 1 3 t\n\nq Q0 b 2 9 t\nr  Q0 b 2 9 t\nq Q0 a 3 1 t\nr Q0 b 3 1 t\n", 7),
    ):
        path = write(text)
        expected, got = "every document at most once in a list", "'a' twice in the list of system 't' for query 'q'"
        refused(lambda path=path: read_runs(path), expected=expected, got=got, line=line, path=path)
    # In the lists of two systems or two queries a document may stand as often as it likes.
    assert len(read_runs(write("q Q0 a 1 3 s\nq Q0 a 1 3 t\nr Q0 a 1 3 s\n"))) == 3


def test_rank_or_score(write):
    path = write("q Q0 a 2 3 t\nq Q0 b 1 2 t\nq Q0 c 10 9 t\n")
    assert lists_of(read_runs(path)) == {"t": {"q": ["c", "a", "b"]}}
    assert lists_of(read_runs(path, order="rank")) == {"t": {"q": ["b", "a", "c"]}}
    path = write("rank,document,query,score\n2,a,q,3\n1,b,q,2\n", "t.csv")
    assert lists_of(read_runs(path)) == {"t": {"q": ["a", "b"]}}
    assert lists_of(read_runs(path, order="rank")) == {"t": {"q": ["b", "a"]}}
    path = write("position,document,query\n2,a,q\n10,c,q\n1,b,q\n", "t.csv")
    assert lists_of(read_runs(path)) == lists_of(read_runs(path, order="rank")) == {"t": {"q": ["b", "a", "c"]}}
    path = write("document,query\na,q\nc,q\nb,q\n", "t.csv")
    assert lists_of(read_runs(path)) == lists_of(read_runs(path, order="rank")) == {"t": {"q": ["a", "c", "b"]}}
    with pytest.raises(ParameterError, match="by score or by rank, not by 'docno'"):
        read_runs(path, order="docno")


def test_ranks_that_give_no_order(write):
    path = write("q Q0 a 1 3 t\nr Q0 a 1 1 t\nq Q0 b 2 2 t\n#\nq Q0 c 1 1 t\n")
    assert len(read_runs(path)) == 4
    expected, got = "every rank at most once in a list", "rank 1 twice in the list of system 't' for query 'q'"
    refused(lambda: read_runs(path, order="rank"), expected=expected, got=got, line=5, path=path)
    path = write("q Q0 a first 3 t\n")
    assert len(read_runs(path)) == 1
    refused(lambda: read_runs(path, order="rank"), expected="a number as rank", got="'first'", line=1, path=path)
    path = write("query,document,score\nq,a,1\n", "x.csv")
    refused(
        lambda: read_runs(path, order="rank"), expected="a column 'rank' to order the lists by", got="none", path=path
    )


def test_systems_by_tag_column_or_file(write):
    assert set(lists_of(read_runs(write("q Q0 a 1 3 s\nq Q0 a 1 3 t\nq Q0 b 1 3 s\n")))) == {"s", "t"}
    assert set(lists_of(read_runs(write("query,document,Name\nq,a,s\nq,a,t\n", "x.csv")))) == {"s", "t"}
    assert set(lists_of(read_runs(write("query,document\nq,a\n", "my.run.csv.gz")))) == {"my.run"}
    assert set(lists_of(read_runs(write("query\tdocument\nq\ta\n", ".hidden")))) == {".hidden"}


def test_files_that_use_the_same_tag_are_named_after_themselves(write, tmp_path):
    first, second = write("q Q0 a 1 3 t\n", "one.run"), write("q Q0 b 1 3 t\n", "two.run.gz")
    assert lists_of(read_runs([first, second])) == {"one": {"q": ["a"]}, "two": {"q": ["b"]}}
    third = write("q Q0 c 1 3 u\nq Q0 c 1 3 t\n", "three.run")
    assert set(lists_of(read_runs([first, third]))) == {"one", "u", "three:t"}
    # Names that only differ in their endings, or that another run bears already, do not do.
    other = write("q Q0 b 1 3 t\n", "one.txt")
    assert set(lists_of(read_runs([first, other]))) == {str(first), str(other)}
    taken = write("q Q0 b 1 3 one\n", "x.run")
    assert set(lists_of(read_runs([first, second, taken]))) == {str(first), str(second), "one"}


def test_the_same_file_twice(write, tmp_path):
    path = write("q Q0 a 1 3 t\n", "one.run")
    (tmp_path / "link.run").symlink_to(path)
    for again in (path, str(path), tmp_path / "link.run", tmp_path / "." / "one.run"):
        refused(
            lambda again=again: read_runs([path, again]),
            expected="every run once",
            got="the same file twice",
            path=path,
        )
    refused(lambda: read_runs([]), expected="one run or more", got="none")


# Judgments


def test_three_or_four_columns(write):
    for text in (
        "q 0 a 1\nq 0 b 0\n",
        "q\ta\t1\nq\tb\t0",
        "q a 1\n q  b 0 ",
        "q\t0\ta\t1\r\nq\t0\tb\t0",
        "# c\nq Q0 a 1.0\nq 0 b 0.0\n",
    ):
        judgments = read_judgments(write(text))
        assert judgments.frame.rows() == [("q", "a", 1.0), ("q", "b", 0.0)]
        assert (judgments.scale, judgments.scale_guessed) == (BINARY, True)
    assert read_judgments(write("q 1\ta b\t2\n")).frame.rows() == [("q 1", "a b", 2.0)]


@pytest.mark.parametrize(
    ("gains", "scale"),
    [
        ("0 1", BINARY),
        ("-1 2", BROAD),
        ("0.5 1", parse_scale("0.0..1.0")),
        ("-2 3", parse_scale("0..3")),
        ("18 99", FINE),
    ],
)
def test_float_and_negative_labels(write, gains, scale):
    low, high = gains.split()
    judgments = read_judgments(write(f"q 0 a {low}\nq 0 b {high}\n"))
    assert judgments.frame["gain"].to_list() == [float(low), float(high)]
    assert judgments.scale == scale


def test_gains_off_the_scale(write):
    path = write("q 0 a 1\n# c\nq 0 b -1\n\nq 0 c 3\n")
    refused(lambda: read_judgments(path, scale=BROAD), expected="a gain on the scale broad", got="3", line=5, path=path)
    path = write("gain,query,document\n1,q,a\n\n0.5,q,b\n", "x.csv")
    refused(
        lambda: read_judgments(path, scale=BROAD), expected="a gain on the scale broad", got="0.5", line=4, path=path
    )
    path = write("q 0 a 1\nq 0 b 1000\n")
    refused(
        lambda: read_judgments(path),
        expected="gains on a customary scale, up to 100",
        got="1000",
        line=2,
        path=path,
        hint="name the scale, for example --scale 0..1000",
    )
    assert read_judgments(path, scale=parse_scale("0..1000")).frame.height == 2


def test_an_item_judged_twice(write):
    judgments = read_judgments(write("q 0 a 1\nr 0 a 1\nq 0 b 1\n#\nq 0 a 1\n"))
    assert judgments.frame.select("query", "document", "gain").sort("query", "document").rows() == [
        ("q", "a", 1.0),
        ("q", "b", 1.0),
        ("r", "a", 1.0),
    ]
    assert judgments.replaced == 1
    lines = ["q,a,1,x,1", "q,a,0,y,2", "q,a,0,x,3"]
    for order in permutations(lines):
        path = write("\n".join(["query,document,gain,assessor,sequence", *order]), "x.csv")
        judgments = read_judgments(path)
        assert judgments.frame.sort("assessor").select("assessor", "gain").rows() == [("x", 0.0), ("y", 0.0)]
        assert judgments.replaced == 1


def test_who_when_and_whether_sampled(write, tmp_path):
    text = "sampled,worker,gain,timestamp,document,query,remark\nTrue,7,1,noon,a,q,\n0,8,0,,a,q,odd\n,7,2,,b,q,\n"
    judgments = read_judgments(write(text, "x.csv"))
    assert judgments.frame.schema == {
        "query": pl.String,
        "document": pl.String,
        "gain": pl.Float64,
        "assessor": pl.String,
        "time": pl.String,
        "sampled": pl.Boolean,
    }
    assert judgments.frame.rows()[:2] == [("q", "a", 1.0, "7", "noon", True), ("q", "a", 0.0, "8", None, False)]
    assert judgments.frame["sampled"].to_list() == [True, False, None]
    path = tmp_path / "x.parquet"
    judgments.frame.with_columns(pl.col("assessor").cast(pl.Int64)).write_parquet(path)
    assert read_judgments(path).frame.equals(judgments.frame)
    path = write(text.replace("True", "perhaps"), "x.csv")
    refused(lambda: read_judgments(path), expected="true or false as sampled", got="'perhaps'", line=2, path=path)
    path = write(text.replace("8,0", ",0"), "x.csv")
    refused(lambda: read_judgments(path), expected="assessor in every row", got="nothing", line=3, path=path)


@pytest.mark.parametrize(
    ("row", "expected", "got"),
    [
        (",a,1", "query in every row", "nothing"),
        ("q,,1", "document in every row", "nothing"),
        ('q,"",1', "document in every row", "nothing"),
        ("q,a,x", "a number as gain", "'x'"),
        ("q,a,nan", "a finite gain", "'nan'"),
        ("q,a,1_0", "a number as gain", "'1_0'"),
        ("q,a,x,2", "at most 3 cells, as in the header", "4"),
    ],
)
def test_rows_of_named_columns(write, row, expected, got):
    path = write(f"query,document,gain\nq,z,1\n{row}\nq,y,0\n", "x.csv")
    refused(lambda: read_judgments(path), expected=expected, got=got, line=3, path=path)


def test_whole_numbers_as_ids_in_csv(write):
    judgments = read_judgments(write("query,document,gain\n1,007,1\n1,7,0\n", "x.csv"))
    assert judgments.frame.rows() == [("1", "007", 1.0), ("1", "7", 0.0)]


def test_wrong_columns_of_judgments(write):
    path = write("q 0 a 1 5\n")
    expected = "4 columns (query iteration document gain)"
    refused(lambda: read_judgments(path), expected=expected, got="5 ('q 0 a 1 5')", line=1, path=path)
    path = write("q a 1\nq b\n")
    expected = "3 columns (query document gain)"
    refused(lambda: read_judgments(path), expected=expected, got="2 ('q b')", line=2, path=path)
    path = write("query,document\nq,a\n", "x.csv")
    refused(lambda: read_judgments(path), expected="a column 'gain'", got="columns query, document", path=path)


# Cliques


def test_cliques(write):
    for text in ("a g\nb g\nc h\n", "# c\na\tg\nb\tg\nc\th\n", "group;document\ng;a\ng;b\nh;c\n"):
        cliques = read_cliques(write(text))
        assert cliques.frame.rows() == [("a", "g"), ("b", "g"), ("c", "h")]
        assert str(cliques) == "2 cliques of 3 documents"
    assert read_cliques(write("a b\tmy song\nc\tmy song\n")).frame["group"].to_list() == ["my song"] * 2
    assert read_cliques(write("a \t\t g\nb g\n")).frame.rows() == [("a", "g"), ("b", "g")]


def test_a_document_in_two_cliques(write):
    path = write("a g\n#\nb g\na h\n")
    refused(lambda: read_cliques(path), expected="every document in one clique", got="'a' again", line=4, path=path)


def test_cliques_of_one(write):
    path = write("a g\nb h\n")
    expected, got = "a clique of two or more documents", "only single documents"
    refused(lambda: read_cliques(path), expected=expected, got=got, path=path)


# Ordered groups


def test_groups(write):
    for text in (
        "q a 2\nq b 1\n",
        "tag q a 2\ntag q b 1.0\n",
        "tag\tq\ta\t2\ntag\tq\tb\t1\n",
        "query,document,group\nq,a,2\nq,b,1\n",
    ):
        groups = read_groups(write(text))
        assert groups.frame.rows() == [("q", "a", 2), ("q", "b", 1)]
        assert str(groups) == "2 ordered groups of 2 documents"


@pytest.mark.parametrize("number", ["0", "-1", "1.5"])
def test_group_numbers(write, number):
    path = write(f"q a 1\nq b {number}\n")
    refused(lambda: read_groups(path), expected="a group number from 1", got=f"'{number}'", line=2, path=path)


def test_errors_in_groups(write):
    path = write("q a 1\nr a 1\nq a 2\n")
    refused(
        lambda: read_groups(path),
        expected="every document in one group",
        got="'a' again for query 'q'",
        line=3,
        path=path,
    )
    path = write("q a first\n")
    refused(lambda: read_groups(path), expected="a number as group", got="'first'", line=1, path=path)
    path = write("t q a 1\nq a 1\n")
    refused(
        lambda: read_groups(path), expected="4 columns (tag query document group)", got="3 ('q a 1')", line=2, path=path
    )


def test_the_groups_of_mechanical_turk(melody):
    groups = read_groups(melody / "MTurk.qrel")
    lines = (melody / "MTurk.qrel").read_text().split("\n")
    naive = [tuple(line.split("\t")[1:]) for line in lines if line]
    assert [(query, document, str(number)) for query, document, number in groups.frame.rows()] == naive
    assert groups.frame["query"].n_unique() == 11


# Metadata


def test_metadata(write):
    for text in ("a\tx y\tpop\nb\tz\trock\n", "\ufeffdocument,artist,genre\na,x y,pop\nb,z,rock\n"):
        metadata = read_metadata(write(text))
        assert metadata.attributes == ("artist", "genre")
        assert metadata.attribute("artist") == {"a": "x y", "b": "z"}
        assert str(metadata) == "metadata of 2 documents: artist, genre"
    assert read_metadata(write("#a x y\n")).attribute("genre") == {"#a": "y"}


def test_metadata_with_other_columns(write, tmp_path):
    metadata = read_metadata(write("Tempo,docno,Key\n120,a,\n,b,C\n", "x.csv"))
    assert metadata.attributes == ("Tempo", "Key")
    assert (metadata.attribute("Tempo"), metadata.attribute("Key")) == ({"a": "120"}, {"b": "C"})
    pl.DataFrame({"document": [1, 2], "year": [1999, None], "live": [True, False]}).write_parquet(tmp_path / "x.pq")
    metadata = read_metadata(tmp_path / "x.pq")
    assert (metadata.attribute("year"), metadata.attribute("live")) == ({"1": "1999"}, {"1": "true", "2": "false"})
    with pytest.raises(ParameterError, match=r"no column 'yaer': did you mean 'year'\?"):
        metadata.attribute("yaer")
    with pytest.raises(ParameterError, match="no column 'artist': there are year, live"):
        metadata.attribute("artist")
    assert read_metadata(write("document\na\n", "x.csv")).attributes == ()


def test_missing_values_in_metadata(write):
    for text in (
        "a\t\tpop\nb\tz\t \n",
        'document,artist,genre\na,,pop\nb,z,""\n',
        "document,artist,genre\na,,pop\nb,z\n",
    ):
        metadata = read_metadata(write(text))
        assert (metadata.attribute("artist"), metadata.attribute("genre")) == ({"b": "z"}, {"a": "pop"})


def test_errors_in_metadata(write, tmp_path):
    path = write("a x y\nb x y\na x z\n")
    refused(lambda: read_metadata(path), expected="every document once", got="'a' again", line=3, path=path)
    path = write("a x y\nb x\n")
    expected = "3 columns (document artist genre)"
    refused(lambda: read_metadata(path), expected=expected, got="2 ('b x')", line=2, path=path)
    path = write("a\tx\ty\n\tx\ty\n")
    refused(lambda: read_metadata(path), expected=expected, got="an empty document", line=2, path=path)
    path = tmp_path / "x.parquet"
    pl.DataFrame({"document": ["a"], "artists": [["x", "y"]]}).write_parquet(path)
    refused(lambda: read_metadata(path), expected="one value in each cell of 'artists'", got="List(String)", path=path)


def test_questions_that_nobody_has_answered_yet_do_not_count(tmp_path):
    path = tmp_path / "questions.csv"
    path.write_text("query,document,gain\nq,a,2\nq,b,\nq,c,0\n")
    assert read_judgments(path).frame.rows() == [("q", "a", 2.0), ("q", "c", 0.0)]
    path.write_text("query,document,gain\nq,a,\nq,b,x\n")
    with pytest.raises(InputError, match=r"questions.csv:3: expected a number as gain, got 'x'"):
        read_judgments(path)
    path.write_text("query,document,gain\nq,a,\n")
    with pytest.raises(InputError, match="expected judgments, got a file in which no gain is filled in"):
        read_judgments(path)
