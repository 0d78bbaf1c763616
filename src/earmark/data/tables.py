"""Tables of text: fast where the file is regular, tolerant where it is odd, exact where it is wrong.

Three readers of the same layout, tried in turn. The first hands the file to polars as it is. If anything in
it is irregular (several spaces between columns, blank lines, another encoding) the second evens out the
bytes and hands it over again. If that fails too the third walks the lines in plain Python, slowly: it accepts
everything the format allows and names the first line that it does not.
"""

from __future__ import annotations

import gzip
import io
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from earmark.errors import InputError

SNIFF_BYTES = 4_096
_BOM = b"\xef\xbb\xbf"


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
        The last column takes the rest of the line, blanks included.
    comments : bool
        Lines that start with ``#`` are comments.
    unused : tuple of str
        Columns that have to be there but that nobody asks for; they are not read.
    """

    columns: dict[str, bool]
    separator: str = " "
    open_ended: bool = False
    comments: bool = False
    unused: tuple[str, ...] = ()

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
        most = len(self.columns) - 1 if self.open_ended else -1
        if self.separator == "\t":
            return [cell.strip() for cell in line.strip("\r\n").split("\t", most)]
        return [cell.strip() for cell in line.split(None, most)]


@dataclass(frozen=True)
class Table:
    """A frame together with where its rows stand in the file."""

    frame: pl.DataFrame
    path: str
    line_of: Callable[[int], int]

    def error(self, row: int, *, expected: str, got: str, hint: str | None = None) -> InputError:
        """Build the error that points at one row."""
        return InputError(expected=expected, got=got, path=self.path, line=self.line_of(row), hint=hint)


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacking it where it is gzipped."""
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except FileNotFoundError:
        raise InputError(expected="a file", got="nothing there", path=path) from None
    except IsADirectoryError:
        raise InputError(expected="a file", got="a directory", path=path) from None
    except (OSError, EOFError) as error:
        raise InputError(expected="a readable file", got=str(error), path=path) from None
    return data.removeprefix(_BOM)


def first_data_line(path: Path, *, encoding: str, comments: bool) -> tuple[int, str]:
    """Return the first line that holds data and its number, to tell the format by.

    Raises
    ------
    InputError
        If there is none.
    """
    data = _head(path).removeprefix(_BOM) if _is_plain(path) else read_bytes(path)
    start, number = 0, 1
    while start < len(data):
        stop = data.find(b"\n", start)
        stop = len(data) if stop < 0 else stop
        line = data[start:stop].decode(encoding, errors="replace")
        if line.strip() and not (comments and line.lstrip().startswith("#")):
            return number, line.rstrip("\r")
        start, number = stop + 1, number + 1
    raise InputError(expected="lines of data", got="an empty file", path=path)


def _head(path: Path) -> bytes:
    """Read the start of a file, or all of it where a long preamble of comments fills the start."""
    with path.open("rb") as file:
        data = file.read(SNIFF_BYTES)
        if any(line.strip() and not line.startswith(b"#") for line in data.split(b"\n", 1)[:1]):
            return data
        return data + file.read()


def _is_plain(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) != b"\x1f\x8b"
    except OSError:
        return False


def read_layout(path: Path, layout: Layout, *, encoding: str = "utf-8") -> Table:
    """Read a headerless text table, whatever its white space.

    Raises
    ------
    InputError
        Naming the first line that does not fit the layout.
    """

    def lines() -> Iterator[tuple[int, str]]:
        return _data_lines(_decode(read_bytes(path), encoding, path), layout)

    def line_of(row: int) -> int:
        return next(number for index, (number, _) in enumerate(lines()) if index == row)

    frame = None
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8") and _is_plain(path):
        frame = _parse(path, layout)
    if frame is None:
        frame = _parse(_even_out(_to_utf8(read_bytes(path), encoding, path), layout), layout)
    if frame is None:
        frame = _parse_carefully(lines(), layout, path)
    return Table(frame, str(path), line_of)


def _parse(source: Path | bytes, layout: Layout) -> pl.DataFrame | None:
    """Let polars read it; None if any line is irregular."""
    try:
        frame = pl.read_csv(
            source,
            has_header=False,
            separator=layout.separator,
            schema=layout.schema,
            columns=[list(layout.columns).index(name) for name in layout.used],
            quote_char=None,
            # Looking for comments costs a third of the time, so only the second reader does.
            comment_prefix="#" if layout.comments and isinstance(source, bytes) else None,
        )
    except (pl.exceptions.PolarsError, OSError):
        return None
    if frame.height == 0 or any(column.null_count() for column in frame):
        return None
    if layout.comments and frame.to_series(0).str.starts_with("#").any():
        return None
    if any(column.dtype.is_float() and not column.is_finite().all() for column in frame):
        return None
    return frame


def _to_utf8(data: bytes, encoding: str, path: Path) -> bytes:
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return data
    return _decode(data, encoding, path).encode("utf-8")


def _decode(data: bytes, encoding: str, path: Path) -> str:
    try:
        return data.decode(encoding)
    except LookupError:
        raise InputError(expected="a known encoding", got=f"'{encoding}'", path=path) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            expected=f"text in {encoding}",
            got=f"byte 0x{data[error.start]:02x}",
            path=path,
            line=line,
            hint="name the file's encoding, for example --encoding latin-1",
        ) from None


def _even_out(data: bytes, layout: Layout) -> bytes:
    """Collapse runs of white space, strip the ends of lines and drop blank lines, all on the bytes at once."""
    text = np.frombuffer(data + b"\n", dtype=np.uint8)
    newline = text == ord("\n")
    blank = text == ord("\r")
    if layout.separator == " ":
        blank |= (text == ord(" ")) | (text == ord("\t")) | (text == ord("\v")) | (text == ord("\f"))
    # A separator survives only between two visible characters: not after a break, not before the line's end.
    gap = blank | newline
    after_gap = np.concatenate(([True], gap[:-1]))
    keep = ~(gap & after_gap)
    text = np.where(blank, np.uint8(ord(layout.separator)), text)[keep]
    # What is left of "cell \n" is one separator; where the line ended there it has to be the newline.
    ends_line = np.zeros(len(data) + 1, dtype=bool)
    starts = np.flatnonzero(gap & ~after_gap)
    if starts.size:
        breaks = np.concatenate(([0], np.cumsum(newline)))
        stops = np.append(starts[1:], len(data) + 1)
        ends_line[starts] = breaks[stops] > breaks[starts]
    text = np.where(ends_line[keep], np.uint8(ord("\n")), text)
    return text.tobytes()


def _data_lines(text: str, layout: Layout) -> Iterator[tuple[int, str]]:
    # Only a newline ends a line; str.splitlines would also cut at characters that may stand in an id.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not (layout.comments and line.lstrip().startswith("#")):
            yield number, line


def _parse_carefully(lines: Iterator[tuple[int, str]], layout: Layout, path: Path) -> pl.DataFrame:
    columns: dict[str, list[str | float]] = {name: [] for name in layout.columns}
    for number, line in lines:
        cells = layout.split(line)
        if len(cells) != len(layout.columns) or not all(cells):
            missing = next((name for name, cell in zip(columns, cells, strict=False) if not cell), None)
            got = f"an empty {missing}" if missing else f"{len(cells)} ({line.strip()[:60]!r})"
            raise InputError(expected=layout.description, got=got, path=path, line=number)
        for (name, is_number), cell in zip(layout.columns.items(), cells, strict=True):
            columns[name].append(parse_number(cell, name, path, number) if is_number else cell)
    if not next(iter(columns.values())):
        raise InputError(expected=f"lines of {layout.description}", got="an empty file", path=path)
    return pl.DataFrame(columns, schema=layout.schema).select(layout.used)


def parse_number(cell: str, name: str, path: str | Path, line: int) -> float:
    """Read one finite number or say what stands there instead."""
    try:
        value = float(cell)
    except ValueError:
        raise InputError(expected=f"a number as {name}", got=f"'{cell}'", path=path, line=line) from None
    if not math.isfinite(value):
        raise InputError(expected=f"a finite {name}", got=f"'{cell}'", path=path, line=line)
    return value


def read_named(path: Path, *, encoding: str = "utf-8") -> Table:
    """Read a CSV, TSV or Parquet file whose columns have names; every cell as text or as it was stored."""
    if is_parquet(path):
        try:
            return Table(pl.read_parquet(path), str(path), lambda row: row + 1)
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(expected="a Parquet file", got=str(error).split("\n")[0], path=path) from None
    data = _to_utf8(read_bytes(path), encoding, path)
    _decode(data, "utf-8", path)
    header = data.lstrip().split(b"\n", 1)[0]
    if not header.strip():
        raise InputError(expected="a header and rows", got="an empty file", path=path)
    separator = max((b",", b"\t", b";"), key=header.count).decode()
    try:
        frame = pl.read_csv(io.BytesIO(data), separator=separator, infer_schema=False)
    except pl.exceptions.PolarsError as error:
        got = str(error).split("\n")[0]
        raise InputError(expected="rows with as many cells as the header", got=got, path=path) from None
    frame = frame.rename({name: name.strip() for name in frame.columns})
    empty = pl.all_horizontal(pl.all().is_null())
    numbers = frame.select((pl.int_range(pl.len()) + 2).filter(~empty)).to_series()
    return Table(frame.filter(~empty), str(path), lambda row: int(numbers[row]))


def is_parquet(path: Path) -> bool:
    """Tell a Parquet file by its first bytes, or by its name where there is no file to look into."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return path.suffix.lower() in (".parquet", ".pq")


def require_file(path: str | os.PathLike[str]) -> Path:
    """Return the path if there is a file, else say so."""
    found = Path(path)
    if found.is_dir():
        raise InputError(expected="a file", got="a directory", path=path)
    if not found.exists():
        raise InputError(expected="a file", got="nothing there", path=path, hint="is the path spelt right?")
    return found


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write to a temporary neighbour and move it into place only when all went well."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(expected="an existing folder to write to", got=f"'{target.parent}'", path=path)
    # Compression and format follow the name's endings, so the neighbour keeps them.
    temporary = target.with_name(f".{os.getpid()}-{target.name}")
    try:
        yield temporary
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
