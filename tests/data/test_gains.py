"""Gains as people write them: read where they can mean one thing only, else answered with what to do."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from earmark.data.readers import read_judgments
from earmark.errors import InputError

HEADER = "query,document,gain\n"


def write(folder: Path, text: str, name: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def as_files(folder: Path, gains: list[str]) -> list[Path]:
    """The same gains in every text format that can hold them."""
    documents = "abcdefgh"
    pairs = list(zip(documents, gains, strict=False))
    files = [
        write(folder, HEADER + "".join(f'q,{d},"{g}"\n' for d, g in pairs), "quoted.csv"),
        write(folder, HEADER.replace(",", ";") + "".join(f"q;{d};{g}\n" for d, g in pairs), "semicolon.csv"),
        write(folder, HEADER.replace(",", "\t") + "".join(f"q\t{d}\t{g}\n" for d, g in pairs), "named.tsv"),
        write(folder, "".join(f"q\t{d}\t{g}\n" for d, g in pairs), "plain.tsv"),
    ]
    if all(gains):
        files.append(write(folder, "".join(f"q 0 {d} {g}\n" for d, g in pairs), "qrels"))
    return files


@pytest.mark.parametrize(
    ("gains", "read", "unanswered"),
    [
        (["85%", "0%", "12.5%"], [85, 0, 12.5], 0),
        (["85%", "0"], [85, 0], 0),
        (["0,5", "1", "0"], [0.5, 1, 0], 0),
        (["0,125", "12,5"], [0.125, 12.5], 0),
        (["12,5%", "0%"], [12.5, 0], 0),
        (["2", "n/a", "1", "NA", "N/A"], [2, 1], 3),
        (["2", "", "1"], [2, 1], 1),
        (["0,5", "n/a", ""], [0.5], 2),
    ],
)
def test_gains_that_can_mean_one_thing(tmp_path: Path, gains: list[str], read: list[float], unanswered: int) -> None:
    for path in as_files(tmp_path, gains):
        judgments = read_judgments(path)
        assert judgments.frame["gain"].to_list() == read, path.name
        assert judgments.unanswered == unanswered
        rows = "1 row" if unanswered == 1 else f"{unanswered} rows"
        assert (f"{rows} without a gain left out: not judged" in judgments.notes()) == bool(unanswered)


@pytest.mark.parametrize(
    ("gains", "row", "expected", "hint"),
    [
        (["85%", "3"], 1, "a gain with a percent sign, as in line {}", "in one way"),
        (["0.5", "0,5"], 0, "a gain with a decimal comma, as in line {}", "in one way"),
        (["1,000", "2"], 0, "a number as gain", "a decimal comma or thousands"),
        (["1", "good"], 1, "a number as gain", None),
        (["1", "5,%"], 1, "a number as gain", None),
        (["n/a", "1", "none"], 2, "a number as gain", None),
    ],
)
def test_gains_that_could_mean_two_things(
    tmp_path: Path, gains: list[str], row: int, expected: str, hint: str | None
) -> None:
    for path in as_files(tmp_path, gains):
        first = 2 if path.read_text().startswith("query") else 1
        with pytest.raises(InputError) as caught:
            read_judgments(path)
        error = caught.value
        assert (error.path, error.line, error.got) == (str(path), row + first, f"'{gains[row]}'")
        assert error.expected == expected.format(first + (1 if "comma" in expected else 0))
        assert (error.hint is None) == (hint is None)
        assert hint is None or hint in (error.hint or "")


def test_a_decimal_comma_without_quotes(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + "q,a,1\nq,b,0,5\n", "x.csv")
    with pytest.raises(InputError, match=r'x.csv:3: .* got 4 \(a decimal comma\? write 0.5 or "0,5" in quotes\)'):
        read_judgments(path)


@pytest.mark.parametrize("name", ["quoted.csv", "semicolon.csv", "named.tsv", "plain.tsv"])
def test_a_negative_gain_is_a_mistake_among_grades(tmp_path: Path, name: str) -> None:
    path = next(path for path in as_files(tmp_path, ["1", "0", "-1"]) if path.name == name)
    line = 3 if name == "plain.tsv" else 4
    with pytest.raises(
        InputError, match=rf"{name}:{line}: expected a gain of 0 or more, got -1 \(leave the gain empty"
    ):
        read_judgments(path)


def test_a_negative_gain_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    frame = pl.DataFrame({"query": ["q", "q", "q"], "document": ["a", "b", "c"], "gain": [None, 1, -2]})
    frame.write_parquet(path)
    with pytest.raises(InputError, match=r"x.parquet:3: expected a gain of 0 or more, got -2"):
        read_judgments(path)
    frame[:2].write_parquet(path)
    read = read_judgments(path)
    assert (read.frame["gain"].to_list(), read.unanswered) == ([1.0], 1)


def test_a_negative_gain_in_qrels_means_not_judged(tmp_path: Path) -> None:
    text = "q 0 a 1\nq 0 b -1\nq 0 c -2\n"
    for path in (
        write(tmp_path, text, "qrels"),
        write(tmp_path, text.replace(" ", "\t"), "qrels.tsv"),
        write(tmp_path, "query,iteration,document,gain\n" + text.replace(" ", ","), "qrels.csv"),
    ):
        read = read_judgments(path)
        assert read.frame["gain"].to_list() == [1.0, -1.0, -2.0]
        assert "2 documents with a negative gain: not judged, as in trec_eval" in read.notes()
