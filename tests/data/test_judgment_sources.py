"""Judgments of several files: files, folders and patterns, and what counts where they say different things."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import polars as pl
import pytest

from earmark.data.judgment_sources import judgment_files
from earmark.data.judgments import UNNAMED
from earmark.data.readers import read_judgments
from earmark.errors import InputError


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Two rounds, one of them in another format, and what else lies in a folder."""
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "round-1.csv").write_text("query,document,gain,assessor,sequence\nq,a,2,ann,1\nq,b,0,ann,2\n")
    (folder / "round-2.tsv").write_text("q\tc\t1\n")
    (folder / ".hidden.csv").write_text("no judgments\n")
    (folder / "round-1.csv~").write_text("no judgments\n")
    (folder / "more").mkdir()
    return folder


def rows(paths: object) -> list[tuple[str, str, float]]:
    frame = read_judgments(paths).frame  # type: ignore[arg-type]
    return sorted(frame.select("query", "document", "gain").rows())


ALL = [("q", "a", 2.0), ("q", "b", 0.0), ("q", "c", 1.0)]


def test_files_a_folder_and_a_pattern_are_the_same(answers: Path) -> None:
    first, second = answers / "round-1.csv", answers / "round-2.tsv"
    for paths in ([first, second], [second, first], (str(first), second), answers, str(answers), [answers]):
        assert rows(paths) == ALL
    assert rows(answers / "round-?.*") == rows(str(answers / "*")) == ALL
    assert rows([answers, answers / "*.csv"]) == ALL
    assert rows(answers / "*.csv") == ALL[:2]
    assert judgment_files(answers) == [first, second]
    assert judgment_files([second, answers]) == [second, first]
    assert rows(path for path in (first, second)) == ALL


def test_a_name_that_looks_like_a_pattern_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a[1].tsv"
    path.write_text("q\ta\t1\n")
    assert judgment_files(path) == [path]


def test_a_file_given_twice_changes_nothing(answers: Path, tmp_path: Path) -> None:
    first = answers / "round-1.csv"
    once = read_judgments(first)
    link = tmp_path / "link.csv"
    link.symlink_to(first)
    again = read_judgments([first, str(first), answers / "more" / ".." / "round-1.csv", link])
    assert again.frame.equals(once.frame)
    assert again.notes() == once.notes()


def test_a_row_in_two_files_counts_once(answers: Path) -> None:
    first = answers / "round-1.csv"
    copy = answers / "copy.csv"
    copy.write_text(first.read_text() + "q,d,1,ann,3\n")
    read = read_judgments([first, copy])
    assert read.frame.select("document").to_series().sort().to_list() == ["a", "b", "d"]
    assert read.replaced == 0


def test_conflicts_follow_one_rule_whatever_the_order_of_files(tmp_path: Path) -> None:
    header = "query,document,gain,assessor,time,sequence\n"
    texts = [
        "q,a,2,ann,,1\nq,b,1,ann,2024-01-02T00:00:00,\nq,c,1,ann,,\n",
        "q,a,0,ann,,2\nq,b,2,ann,2024-01-01T00:00:00,\nq,c,2,ann,,\n",
        "q,a,1,bob,,1\n",
    ]
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"{number}.csv")
        files[-1].write_text(header + text)
    for order in permutations(files):
        read = read_judgments(order)
        found = {(document, who): gain for document, who, gain in read.frame["document", "assessor", "gain"].rows()}
        # Later by sequence, then by time, then the larger gain; another assessor's answer is kept.
        assert found == {("a", "ann"): 0.0, ("b", "ann"): 1.0, ("c", "ann"): 2.0, ("a", "bob"): 1.0}
        assert read.replaced == 3


def test_rows_without_an_assessor_beside_rows_with_one(tmp_path: Path) -> None:
    named, plain = tmp_path / "named.csv", tmp_path / "plain.tsv"
    named.write_text("query,document,gain,assessor\nq,a,1,ann\n")
    plain.write_text("q\ta\t0\nq\tb\t1\n")
    read = read_judgments([named, plain]).frame.sort("assessor", "document")
    assert read.select("document", "assessor", "gain").rows() == [
        ("a", "ann", 1.0),
        ("a", UNNAMED, 0.0),
        ("b", UNNAMED, 1.0),
    ]


def test_the_scale_is_that_of_all_files(tmp_path: Path) -> None:
    low, high = tmp_path / "low.tsv", tmp_path / "high.tsv"
    low.write_text("q\ta\t1\n")
    high.write_text("q\tb\t80\n")
    assert str(read_judgments([low, high]).scale) == "fine"
    high.write_text("q\tb\t800\n")
    with pytest.raises(InputError, match=r"high.tsv:1: expected gains on a customary scale"):
        read_judgments([low, high])


def test_questions_without_answers_beside_answers_are_counted(answers: Path) -> None:
    (answers / "round-3.csv").write_text("query,document,gain\nq,x,\nq,y,\n")
    read = read_judgments(answers)
    assert (len(read), read.unanswered) == (3, 2)
    assert "2 rows without a gain left out: not judged" in read.notes()
    with pytest.raises(InputError, match="no gain is filled in"):
        read_judgments(answers / "round-3.csv")
    (answers / "round-4.csv").write_text("query,document,gain\nq,z,\n")
    with pytest.raises(InputError, match="got 2 files in which no gain is filled in"):
        read_judgments([answers / "round-3.csv", answers / "round-4.csv"])


def test_nothing_found_is_an_error(answers: Path) -> None:
    with pytest.raises(InputError, match=r"none/\*.csv: expected files of judgments, got no file that matches"):
        read_judgments(answers / "none" / "*.csv")
    with pytest.raises(InputError, match="no file that matches"):
        # Only a folder matches.
        read_judgments(answers / "mor?")
    with pytest.raises(InputError, match="got a folder without files"):
        read_judgments(answers / "more")
    with pytest.raises(InputError, match="expected one file of judgments or more, got none"):
        read_judgments([])
    with pytest.raises(InputError, match=r"got nothing there \(is the path spelt right\?\)"):
        read_judgments([answers, answers / "gone.csv"])


def test_the_folder_of_a_campaign_is_no_folder_of_judgments(answers: Path) -> None:
    (answers / "campaign.toml").write_text("")
    with pytest.raises(InputError, match=r"got the folder of a campaign \('earmark export .* -o judgments.csv'"):
        read_judgments(answers)


@pytest.mark.parametrize(("name", "separator"), [("x.csv", ","), ("x.tsv", "\t"), ("x.csv", ";")])
def test_files_put_together_with_their_headers(tmp_path: Path, name: str, separator: str) -> None:
    header = separator.join(("query", "document", "gain"))
    lines = [header, "q,a,1", "", "\ufeff" + header, "q,b,0", header.upper(), "q,c,1", header]
    path = tmp_path / name
    path.write_text("\n".join(line.replace(",", separator) for line in lines) + "\n")
    assert read_judgments(path).frame.rows() == [("q", "a", 1.0), ("q", "b", 0.0), ("q", "c", 1.0)]
    # Lines are counted with the headers.
    path.write_text(path.read_text().replace(separator.join(("q", "c", "1")), separator.join(("q", "c", "x"))))
    with pytest.raises(InputError, match=rf"{name}:7: expected a number as gain, got 'x'"):
        read_judgments(path)


def test_headers_are_skipped_where_lines_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    header = "query,document,gain\n"
    path.write_text(header + 'q,"a\rb",1\n' + header + "q,c,0,9\n")
    with pytest.raises(InputError, match=r"x.csv:4: expected at most 3 cells") as caught:
        read_judgments(path)
    assert caught.value.hint == 'a decimal comma? write 0.9 or "0,9" in quotes'
    path.write_text(header + 'q,"a\rb",1\n' + header + "q,c,0\n")
    assert read_judgments(path).frame["document"].to_list() == ["a\rb", "c"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("query,document,gain\rq,a,1\nq,b,0\n", 1),
        ("query,document,gain\nq,a,1\rq,b,0\n", 2),
        ("query,document,gain\nq,c,1\nq,a\rb,0\n", 3),
    ],
)
def test_a_carriage_return_amid_a_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    with pytest.raises(InputError, match=rf"x.csv:{line}: expected lines that end in LF or CRLF, got a CR amid a line"):
        read_judgments(path)


@pytest.mark.parametrize("column", ["assessor", "time", "sampled", "sequence", "key", "gain", "query"])
@pytest.mark.parametrize("cells", [[[1]], [{"x": 1}], [b"x"]])
def test_cells_that_hold_more_than_one_value(tmp_path: Path, column: str, cells: list[object]) -> None:
    path = tmp_path / "x.parquet"
    frame = pl.DataFrame({"query": ["q"], "document": ["a"], "gain": [1.0]})
    frame.with_columns(pl.Series(column, cells)).write_parquet(path)
    with pytest.raises(InputError, match=rf"x.parquet: expected .*{column}"):
        read_judgments(path)


def test_times_as_files_have_them(tmp_path: Path) -> None:
    path, other = tmp_path / "x.parquet", tmp_path / "y.csv"
    frame = pl.DataFrame({"query": ["q"], "document": ["a"], "gain": [1.0], "time": [1_700_000_000]})
    other.write_text("query,document,gain,time\nq,a,0,2023-11-15T00:00:00\n")
    for time in (
        pl.col("time"),
        pl.col("time") * 1000,
        pl.from_epoch("time"),
        pl.from_epoch("time").dt.date(),
        pl.lit("2023-11-14 01:00"),
    ):
        frame.with_columns(time=time).write_parquet(path)
        assert read_judgments([path, other]).frame["gain"].to_list() == [0.0]
    frame.with_columns(time=pl.lit(True)).write_parquet(path)
    with pytest.raises(InputError, match="expected dates or text as time, got a column of Boolean"):
        read_judgments(path)
