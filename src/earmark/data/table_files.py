"""Tables of text: fast where the file is regular, tolerant where it is odd, exact where it is wrong.

Three readers of the same layout, tried in turn on every block of lines. The first hands the bytes to polars as they
are. If anything in them is irregular (several blanks between columns, blank lines, comments) the second evens them out
and hands them over again. If that fails too the third walks the lines in plain Python, slowly: it accepts everything
the format allows and names the first line that it does not. Tables whose columns have names are read the same way, in
two steps, and at once.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import polars as pl

from earmark.data.files import (
    BLANKS,
    block_lines,
    data_lines,
    decode,
    first_data_line,
    opened,
    read_bytes,
    to_utf8,
    words,
)
from earmark.data.limits import max_bytes
from earmark.data.spreadsheets import restore_formulas
from earmark.data.tables import Table, parse_number
from earmark.data.text_blocks import in_threads, line_blocks
from earmark.errors import InputError

_SCAN_BYTES = 1 << 18
# The byte-order mark of a file that was put after another one.
_MARK = "\ufeff"
_COMMENT = re.compile(rb"\n#[^\n]*")
# Marks what is to be deleted; there is no such byte in UTF-8.
_DELETED = b"\xff"
_ALL_TO_BLANKS = bytes.maketrans(BLANKS.encode(), b" " * len(BLANKS))


@dataclass(frozen=True)
class Layout:
    r"""The columns of a headerless text table.

    Parameters
    ----------
    columns : dict of str to bool
        Column names in order; true where the column holds numbers.
    separator : {" ", "\t"}
        A blank stands for any run of white space, a tab for exactly one tab.
    open_ended : bool
        The last column takes the rest of the line, blanks included; only where a blank separates.
    comments : bool
        Lines that start with ``#`` are comments.
    unused : tuple of str
        Columns that have to be there but that nobody asks for; they are not read. The last column is none of them.
    optional : tuple of str
        Columns whose cells may be empty, which is read as null; only where a tab separates.
    """

    columns: dict[str, bool]
    separator: str = " "
    open_ended: bool = False
    comments: bool = False
    unused: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """The type of every column."""
        return {name: pl.Float64() if number else pl.String() for name, number in self.columns.items()}

    @property
    def used(self) -> list[str]:
        """The columns to read."""
        return [name for name in self.columns if name not in self.unused]

    @property
    def description(self) -> str:
        """The layout in words, for error messages."""
        return f"{len(self.columns)} columns ({' '.join(self.columns)})"

    def split(self, line: str) -> list[str]:
        """Cut one line into its cells."""
        if self.separator == "\t":
            return [cell.strip(BLANKS) for cell in line.split("\t")]
        return words(line, cuts=len(self.columns) - 1 if self.open_ended else 0)


def read_layout(path: Path, layout: Layout, *, encoding: str = "utf-8") -> Table:
    """Read a headerless text table, whatever its white space.

    Raises
    ------
    InputError
        Naming the first line that does not fit the layout.
    """
    blocks = line_blocks(path, encoding, limit=max_bytes())
    frames = list(in_threads(lambda block: read_block(block, layout, path, encoding), blocks))
    if not sum(frame.height for frame in frames):
        raise InputError(expected=f"lines of {layout.description}", got="an empty file", path=path)
    return Table(pl.concat(frames, rechunk=False), str(path), line_finder(path, layout, encoding))


def read_block(block: bytes, layout: Layout, path: Path, encoding: str) -> pl.DataFrame:
    """Read lines of a headerless text table, which may be none.

    Parameters
    ----------
    block : bytes
        The lines, in UTF-8.
    layout : Layout
        Their columns.
    path, encoding
        The file that they are from, to tell the line of what is wrong.

    Raises
    ------
    InputError
        Naming the first line of the file that does not fit the layout.
    """
    newline = block.find(b"\n")
    if block[newline - 1 : newline] == b"\r":
        block = block.replace(b"\r\n", b"\n")
    frame = _parse(block, layout)
    if frame is None:
        frame = _parse(_even_out(block, layout), layout)
    if frame is not None:
        return frame
    try:
        return _parse_carefully(block_lines(block, comments=layout.comments), layout, path)
    except (InputError, UnicodeDecodeError):
        # Only the whole file tells the line of what is wrong.
        _parse_carefully(data_lines(path, encoding=encoding, comments=layout.comments), layout, path)
        raise


def line_finder(path: Path, layout: Layout, encoding: str) -> Callable[[int], int]:
    """Return what tells the line of a row, by reading the file once more."""

    def line_of(row: int) -> int:
        return next(islice(data_lines(path, encoding=encoding, comments=layout.comments), row, None))[0]

    return line_of


def _parse(data: bytes, layout: Layout) -> pl.DataFrame | None:
    """Let polars read it; None if any line is irregular or a comment."""
    marks = _count_marks(data, layout)
    if marks is None:
        return None
    try:
        frame = pl.read_csv(
            data,
            has_header=False,
            separator=layout.separator,
            schema=layout.schema,
            columns=[list(layout.columns).index(name) for name in layout.used],
            quote_char=None,
        )
    except pl.exceptions.PolarsError:
        return None
    # Asked for certain columns, polars does not mind that a line has more of them.
    ends = 0 if layout.separator == "\t" else frame.height if data.endswith(b"\n") else frame.height - 1
    if marks != frame.height * (len(layout.columns) - 1) + ends:
        return None
    if layout.separator == "\t" and any(blank.encode() in data for blank in BLANKS if blank != "\t"):
        frame = frame.with_columns(pl.col(pl.String).str.strip_chars(BLANKS).replace("", None))
    if frame.height == 0 or any(column.null_count() for column in frame if column.name not in layout.optional):
        return None
    if layout.comments and frame.to_series(0).str.starts_with("#").any():
        return None
    if any(column.dtype.is_float() and not column.is_finite().all() for column in frame):
        return None
    return frame


def _count_marks(data: bytes, layout: Layout) -> int | None:
    """Count the tabs where they separate, else all white space, newlines included; None if that is not single.

    Polars would notice neither two blanks around a column that nobody asks it to read nor a tab amid a cell. The one
    is found here; the other, being white space too, makes the count too large.
    """
    text = np.frombuffer(data, dtype=np.uint8)
    if layout.separator == "\t":
        return int(np.count_nonzero(text == ord("\t")))
    count = 0
    for start in range(0, text.size, _SCAN_BYTES):
        # One byte more, for the neighbours that two blocks share.
        block = text[start : start + _SCAN_BYTES + 1]
        if np.maximum(block[1:], block[:-1]).min(initial=255) <= ord(" "):
            return None
        count += int(np.count_nonzero(block[:_SCAN_BYTES] <= ord(" ")))
    return count


def _even_out(data: bytes, layout: Layout) -> bytes:
    """Collapse runs of white space, drop blank lines and comments, all of the block at once."""
    data = data if data.endswith(b"\n") else data + b"\n"
    data = data.replace(b"\r\n", b"\n") if layout.separator == "\t" else _collapse_blanks(data)
    if not _has_odd_line(data):
        return data
    data = b"\n" + data
    if layout.separator != "\t":
        data = data.replace(b"\n ", b"\n")
    if layout.comments:
        data = _COMMENT.sub(b"", data)
    return _replace_all(data, b"\n\n", b"\n")[1:]


def _collapse_blanks(data: bytes) -> bytes:
    """Leave one blank between the cells of lines, none at their ends and at most one at their starts."""
    text = np.frombuffer(data, dtype=np.uint8)
    # A comment may be in another encoding; deleting by a mask is right for any bytes, and slower.
    is_markable = _DELETED not in data
    newline, blank = np.uint8(ord("\n")), np.uint8(ord(" "))
    collapsed = []
    for start in range(0, text.size - 1, _SCAN_BYTES):
        block = text[start : start + _SCAN_BYTES + 1]
        is_newline = block == newline
        if np.count_nonzero(block < blank) > np.count_nonzero(is_newline):
            block = np.frombuffer(block.tobytes().translate(_ALL_TO_BLANKS), dtype=np.uint8)
        is_blank = block == blank
        # Of every run of blanks the last stays, unless a newline follows.
        goes = is_blank[:-1] & (is_blank | is_newline)[1:]
        if is_markable:
            marked = block[:-1] | goes.view(np.uint8) * np.uint8(_DELETED[0])
            collapsed.append(marked.tobytes().translate(None, _DELETED))
        else:
            collapsed.append(block[:-1][~goes].tobytes())
    return b"".join((*collapsed, data[-1:]))


def _has_odd_line(data: bytes) -> bool:
    """Tell whether a line may be empty, a comment or start with a blank."""
    text, newline, comment = np.frombuffer(data, dtype=np.uint8), np.uint8(ord("\n")), np.uint8(ord("#"))
    blocks = (text[start : start + _SCAN_BYTES + 1] for start in range(0, text.size, _SCAN_BYTES))
    return data[0] <= ord("#") or any(np.any((block[:-1] == newline) & (block[1:] <= comment)) for block in blocks)


def _replace_all(data: bytes, old: bytes, new: bytes) -> bytes:
    while old in data:
        data = data.replace(old, new)
    return data


def _parse_carefully(lines: Iterator[tuple[int, str]], layout: Layout, path: Path) -> pl.DataFrame:
    columns: dict[str, list[str | float | None]] = {name: [] for name in layout.columns}
    for number, line in lines:
        cells = layout.split(line)
        if len(cells) != len(layout.columns):
            got = f"{len(cells)} ({line.strip(BLANKS)[:60]!r})"
            raise InputError(expected=layout.description, got=got, path=path, line=number)
        for (name, is_number), cell in zip(layout.columns.items(), cells, strict=True):
            if not cell and name not in layout.optional:
                raise InputError(expected=layout.description, got=f"an empty {name}", path=path, line=number)
            columns[name].append(parse_number(cell, name, path, number) if is_number else cell or None)
    return pl.DataFrame(columns, schema=layout.schema).select(layout.used)


def read_named(path: Path, *, encoding: str = "utf-8") -> Table:
    """Read a CSV, TSV or Parquet file whose columns have names; every cell as text or as it was stored.

    Raises
    ------
    InputError
        If it has no rows, or naming the first row with more cells than the header.
    """
    if is_parquet(path):
        with of_parquet(path):
            table = Table(pl.read_parquet(io.BytesIO(read_bytes(path))), str(path), lambda row: row + 1)
    else:
        table = _read_csv(path, encoding)
    if table.frame.height == 0:
        raise InputError(expected="rows under the names of the columns", got="none", path=path)
    return table


def is_parquet(path: Path) -> bool:
    """Tell a Parquet file by its first bytes."""
    with opened(path) as file:
        return file.read(4) == b"PAR1"


def parquet_columns(path: Path) -> list[str]:
    """Return the names of the columns of a Parquet file, without reading its rows.

    Raises
    ------
    InputError
        If it is damaged.
    """
    with of_parquet(path):
        return list(pl.read_parquet_schema(io.BytesIO(read_bytes(path))))


@contextmanager
def of_parquet(path: Path) -> Iterator[None]:
    """Turn what polars says about a damaged file into our error."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(expected="a Parquet file", got=str(error).split("\n")[0], path=path) from None
    except pl.exceptions.PanicException:
        # Where a file lies about its own sizes; what polars says then is about its own code.
        raise InputError(expected="a Parquet file", got="a damaged one", path=path) from None


def _read_csv(path: Path, encoding: str) -> Table:
    header_line = first_data_line(path, encoding=encoding, comments=False)[1]
    separator = max(",\t;", key=header_line.count)
    data = to_utf8(read_bytes(path), encoding, path)

    def line_of(row: int) -> int:
        again = to_utf8(read_bytes(path), encoding, path)
        return next(islice(_data_records(again, separator, path), row, None))[0]

    number, cells = next(_csv_records(data, separator, path))
    names = [cell.strip(BLANKS) for cell in cells]
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise InputError(expected="columns with different names", got=f"'{twice}' twice", path=path, line=number)
    # A column without a name is often a row number that a program added; nothing asks for it.
    names = [name or f"column {place}" for place, name in enumerate(names, start=1)]
    frame = None
    # Polars would take a lone CR for part of a cell, and so would run two lines together.
    if b"\r" not in data or data.count(b"\r") == data.count(b"\r\n"):
        with suppress(pl.exceptions.PolarsError):
            frame = pl.read_csv(data, separator=separator, infer_schema=False, skip_lines=number - 1)
    if frame is None or frame.width != len(names):
        frame = _parse_csv_carefully(_data_records(data, separator, path), names, path, separator)
    frame.columns = names
    return Table(restore_formulas(_without_headers(_without_empty_rows(frame), cells)), str(path), line_of)


def _without_headers(frame: pl.DataFrame, header: list[str]) -> pl.DataFrame:
    """Leave out rows that repeat the header, as files have that were put together from several."""
    cells = _as_header(header)
    # Comparing all cells as they are is fast, and mostly shows that there is nothing to look for.
    first = {header[0], cells[0], cells[0].upper(), cells[0].capitalize()}
    if not frame.to_series(0).is_in([*first, *(_MARK + one for one in first)]).any():
        return frame

    def is_name(place: int) -> pl.Series:
        column = frame.to_series(place).fill_null("")
        return column.str.strip_chars(BLANKS + _MARK).str.to_lowercase() == cells[place]

    repeats = is_name(0)
    for place in range(1, frame.width):
        repeats &= is_name(place)
    return frame.filter(~repeats)


def _as_header(cells: list[str]) -> list[str]:
    return [cell.strip(BLANKS + _MARK).lower() for cell in cells]


def _without_empty_rows(frame: pl.DataFrame) -> pl.DataFrame:
    def is_empty(cells: pl.Expr) -> pl.Expr:
        return cells.is_null() | (cells.str.strip_chars(BLANKS) == "")

    # Looking at the first column alone is enough to find that there is nothing to look for.
    if not frame.select(is_empty(pl.first()).any()).item():
        return frame
    return frame.filter(~pl.all_horizontal(is_empty(pl.all())))


def _data_records(data: bytes, separator: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of every record that is neither empty nor the header, wherever that stands."""
    records = _csv_records(data, separator, path)
    header = _as_header(next(records)[1])
    return (record for record in records if _as_header(record[1]) != header)


def _csv_records(data: bytes, separator: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of every record that is not empty, the header first."""
    line = 1
    # Only a newline ends a line, so that a CR amid a line is found and not taken for an end.
    with io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="\n") as text:
        reader = csv.reader(text, delimiter=separator, strict=True)
        try:
            for cells in reader:
                if any(cell.strip(BLANKS) for cell in cells):
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            if "new-line character" in str(error):
                how = "save the file again with other line endings"
                raise InputError(
                    expected="lines that end in LF or CRLF", got="a CR amid a line", path=path, line=line, hint=how
                ) from None
            raise InputError(expected="cells and their quotes", got=str(error), path=path, line=line) from None
        except UnicodeDecodeError:
            decode(data, "utf-8", path)
            raise


def _parse_csv_carefully(
    records: Iterator[tuple[int, list[str]]], names: list[str], path: Path, separator: str
) -> pl.DataFrame:
    rows = []
    for number, cells in records:
        if len(cells) > len(names):
            expected, got = f"at most {len(names)} cells, as in the header", str(len(cells))
            hint = _hint_about_commas(cells) if separator == "," else None
            raise InputError(expected=expected, got=got, path=path, line=number, hint=hint)
        rows.append([cell or None for cell in cells] + [None] * (len(names) - len(cells)))
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _hint_about_commas(cells: list[str]) -> str | None:
    """Say how a number with a decimal comma is written, where two cells in a row could be one."""
    for whole, fraction in pairwise(cells):
        if whole.strip(BLANKS).isdecimal() and fraction.strip(BLANKS).isdecimal():
            number = f"{whole.strip(BLANKS)},{fraction.strip(BLANKS)}"
            return f'a decimal comma? write {number.replace(",", ".")} or "{number}" in quotes'
    return None
