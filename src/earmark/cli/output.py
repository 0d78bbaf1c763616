"""How commands speak: data to standard output, messages and progress to standard error.

Data has three shapes. ``jsonl`` is one JSON object per line and ``csv`` one line per row, both with all digits and
under the names that scripts rely on; ``table`` is for people: four digits, best first, best in bold. A table is the
default on a terminal and jsonl anywhere else: what a pipe or a file receives never depends on how wide a window was.
Scores have two more: ``latex`` for papers, and ``trec_eval`` for scripts that read what it prints.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from earmark.cli.command import option
from earmark.progress import watched
from earmark.wording import DIGITS, decimal

if TYPE_CHECKING:
    import polars as pl

Format = Literal["table", "jsonl", "csv", "latex", "trec_eval"]

Columns = Sequence[str] | Mapping[str, str]
Cell = str | Callable[[Any], str | Text]

NOTHING = "–"
# What rich puts between columns: one blank of padding and one for the line that is not drawn.
_PADDING = 2
# A table that goes to a file is as wide as it needs to be.
_UNBOUNDED = 100_000
# Tables with more rows than this are set without rich, which takes a millisecond per row.
_LONG = 1_000


@dataclass(frozen=True)
class Column:
    """A column of a table for people.

    Parameters
    ----------
    header : str
        May have several lines.
    cells : sequence of str or Text
        One per row.
    numeric : bool
        Set to the right and never broken.
    """

    header: str
    cells: Sequence[str | Text]
    numeric: bool = True

    @cached_property
    def width(self) -> int:
        """How many characters the column needs."""
        return max(cell_len(str(line)) for line in (*self.header.split("\n"), *self.cells))

    def align(self, cell: str | Text) -> str:
        """Set a cell to its side of the column."""
        blanks = " " * (self.width - cell_len(str(cell)))
        return f"{blanks}{cell}" if self.numeric else f"{cell}{blanks}"


@dataclass(frozen=True)
class Output:
    """Where a command's words go; a group of options like any other.

    Parameters
    ----------
    format
        The shape of the output: table, jsonl or csv. When omitted, a table on a terminal, and jsonl into a pipe or a
        file.
    quiet
        No messages and no progress bar on standard error, only errors.
    """

    panel: ClassVar[str] = "Output"
    format: Annotated[Literal["table", "jsonl", "csv"] | None, option("FORMAT")] = None
    quiet: Annotated[bool, option("", "-q")] = False
    _notes: list[str] = field(default_factory=list, init=False, repr=False)

    @cached_property
    def shape(self) -> Format:
        """The format asked for, else a table on a terminal and jsonl anywhere else."""
        return self.format or ("table" if sys.stdout.isatty() else "jsonl")

    @property
    def for_people(self) -> bool:
        """Whether tables are wanted."""
        return self.shape == "table"

    def note(self, message: str) -> None:
        """Keep something that a reader of the data should know; it is said when the data is there.

        A command that fails has one thing to say, which should not have to be looked for among notes. What was said
        is not said again.
        """
        if message not in self._notes:
            self._notes.append(message)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was kept so far and not said yet."""
        return tuple(self._notes)

    def say_notes(self) -> None:
        """Say on standard error what was kept for now."""
        if not self.quiet:
            sys.stderr.writelines(f"note: {message}\n" for message in self._notes)
            sys.stderr.flush()
        self._notes.clear()

    def rows(self, frame: pl.DataFrame) -> None:
        """Print rows as jsonl or csv; what is not a finite number is null in the one and empty in the other."""
        import polars as pl

        self.say_notes()
        floats = [name for name, kind in frame.schema.items() if kind.is_float()]
        frame = frame.with_columns(pl.when(pl.col(name).is_finite()).then(pl.col(name)) for name in floats)
        if self.shape == "jsonl":
            write_data(frame.write_ndjson())
            return
        lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
        write_data(frame.with_columns(pl.col(lists).cast(pl.List(pl.String)).list.join(" ")).write_csv())

    def text(self, *parts: str) -> None:
        """Print data that is text already."""
        self.say_notes()
        write_data("\n".join(parts))

    def print_frame(self, frame: pl.DataFrame, columns: Columns = (), **look: Any) -> None:
        """Print a frame: its rows as jsonl or csv, or the table that :meth:`show_frame` makes of it."""
        if self.for_people:
            self.show_frame(frame, columns, **look)
        else:
            self.rows(frame)

    def kinds(self, *frames: pl.DataFrame) -> None:
        """Print rows of several kinds: as jsonl each with its own fields, as csv under the fields of all of them."""
        import polars as pl

        for frame in frames if self.shape == "jsonl" else [pl.concat(frames, how="diagonal_relaxed")]:
            self.rows(frame)

    def named_kinds(self, kinds: Mapping[str, Any]) -> None:
        """Print rows of several kinds, frames or lists of dicts, each under its name in the field ``kind``."""
        import polars as pl

        frames = {kind: rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows) for kind, rows in kinds.items()}
        self.kinds(*(frame.select(pl.lit(kind).alias("kind"), pl.all()) for kind, frame in frames.items()))

    def show(self, *things: RenderableType) -> None:
        """Print something for people."""
        with self._printing() as console:
            for thing in things:
                console.print(thing)

    def show_whole(self, *lines: str) -> None:
        """Print lines for people as they are, however long: commands to be copied, addresses."""
        with self._printing() as console:
            for line in lines:
                console.print(line, soft_wrap=True)

    @property
    def width(self) -> int:
        """How many characters fit on a line."""
        return self._console().width

    def show_columns(
        self, keys: Sequence[Column], values: Sequence[Column], *, title: str = "", caption: str = ""
    ) -> None:
        """Print a table; where it is too wide, in several parts, each beginning with the key columns."""
        with self._printing() as console:
            if title:
                console.print(Text(title, style="bold"))
            for part in fit_columns(values, console.width - _width(keys) + _PADDING):
                columns = [*keys, *part]
                long = len(keys[0].cells) > _LONG and _width(columns) - _PADDING <= console.width
                if long:
                    console.out(_long_table(columns), highlight=False)
                else:
                    console.print(_table(columns))
            if caption:
                console.print(Text(caption, style="dim"))

    def show_frame(
        self,
        frame: pl.DataFrame,
        columns: Columns = (),
        *,
        keys: int = 1,
        formats: Mapping[str, Cell] | None = None,
        title: str = "",
        caption: str = "",
        most: int | None = None,
    ) -> None:
        """Print columns of a frame as a table.

        Parameters
        ----------
        frame : DataFrame
        columns : sequence of str, or dict of str to str
            The columns to show, or their headers by name. All columns when omitted, under their names.
        keys : int
            How many of the first columns are repeated where the table has to be cut.
        formats : dict of str to str or callable, optional
            How cells are printed: a format such as ``+.2f``, or a function. Otherwise numbers have four digits, and
            counts separators of thousands. A dash stands for what is missing.
        title, caption : str
        most : int, optional
            Show the first rows only, and say how many more there are.
        """
        headers = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns or frame.columns}
        shown = frame.head(most) if most is not None else frame
        cut = [
            Column(
                header,
                [_cell(value, (formats or {}).get(name)) for value in shown[name]],
                frame[name].dtype.is_numeric(),
            )
            for name, header in headers.items()
        ]
        if more := frame.height - shown.height:
            caption = f"{caption} {more:,} more: --format csv prints all of them.".strip()
        self.show_columns(cut[:keys], cut[keys:], title=title, caption=caption)

    @contextlib.contextmanager
    def progress(self, total: int, task: str) -> Iterator[Callable[[float], None]]:
        """Show a bar on standard error while something is done; yields what to call with every bit of it."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        hidden = self.quiet or not console.is_terminal
        with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
            number = bar.add_task(task, total=total)
            yield lambda done: bar.advance(number, done)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Show a bar on standard error for every long computation, while it lasts."""
        from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        if self.quiet or not console.is_terminal:
            yield
            return
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            shown: dict[str, TaskID] = {}

            def show(task: str, done: int, total: int) -> None:
                if task not in shown:
                    shown[task] = bar.add_task(task, total=total)
                bar.update(shown[task], completed=done, total=total)
                if done == total:
                    bar.remove_task(shown.pop(task))

            with watched(show):
                yield

    @contextlib.contextmanager
    def _printing(self) -> Iterator[Console]:
        console = self._console()
        with console.capture() as captured:
            yield console
        self.say_notes()
        write_data(captured.get())

    def _console(self) -> Console:
        width = None if sys.stdout.isatty() else _UNBOUNDED
        return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, width=width)


@dataclass(frozen=True)
class PaperOutput(Output):
    """Where the words of a command go whose tables are printed in papers.

    Parameters
    ----------
    format
        The shape of the output: table, jsonl, csv or latex (needs the package booktabs). When omitted, a table on a
        terminal, and jsonl into a pipe or a file.
    """

    format: Annotated[Literal["table", "jsonl", "csv", "latex"] | None, option("FORMAT")] = None  # type: ignore[assignment]


@dataclass(frozen=True)
class ScoresOutput(Output):
    """Where the words of a command go that prints scores.

    Parameters
    ----------
    format
        The shape of the output: table, jsonl, csv, latex (needs the package booktabs) or trec_eval, its three columns
        measure, query and value. When omitted, a table on a terminal, and jsonl into a pipe or a file.
    """

    format: Annotated[Format | None, option("FORMAT")] = None  # type: ignore[assignment]


def write_data(text: str) -> None:
    """Write to standard output as UTF-8, whatever the locale says."""
    sys.stdout.flush()
    left = memoryview(text.encode("utf-8"))
    # Where Python is told not to buffer (PYTHONUNBUFFERED), a pipe takes what it has room for and drops the rest.
    while left:
        left = left[sys.stdout.buffer.write(left) :]
    sys.stdout.buffer.flush()


def number(value: float | None, *, digits: int = DIGITS) -> str:
    """Print a number for people; a dash stands for none."""
    if value is None or math.isnan(value):
        return NOTHING
    return decimal(value, digits) if math.isfinite(value) else f"{value:+}".replace("inf", "∞")


def p_value(value: float | None) -> str:
    """Print a p-value for people."""
    return "<0.0001" if value is not None and value < 0.0001 else number(value)


def equals_p(value: float) -> str:
    """Print a p-value with its sign, for a sentence: ``= 0.0312`` or ``< 0.0001``."""
    said = p_value(value)
    return said.replace("<", "< ") if said.startswith("<") else f"= {said}"


def _cell(value: Any, how: Cell | None) -> str | Text:
    """Print one value for people."""
    if callable(how):
        return how(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if how is not None:
        return f"{value:{how}}"
    if isinstance(value, float):
        return number(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def fit_columns(columns: Sequence[Column], width: int) -> list[list[Column]]:
    """Cut a row of columns into parts no wider than this; text gives way to numbers, for it can be broken."""
    parts: list[list[Column]] = [[]]
    for column in columns:
        numbers = [one for one in (*parts[-1], column) if one.numeric]
        if parts[-1] and column.numeric and _width(numbers) > width:
            parts.append([])
        parts[-1].append(column)
    return parts


def _width(columns: Sequence[Column]) -> int:
    return sum(column.width + _PADDING for column in columns)


def _long_table(columns: Sequence[Column]) -> str:
    """Set a table as :func:`_table` does, but without styles and many times as fast."""
    aligned = [[column.align(cell) for cell in (column.header, *column.cells)] for column in columns]
    header, *rows = zip(*aligned, strict=True)
    rule = "─" * (_width(columns) - _PADDING)
    blanks = " " * _PADDING
    return "\n".join([blanks.join(header), rule, *(blanks.join(row) for row in rows)])


def _table(columns: Sequence[Column]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        show_header=any(column.header for column in columns),
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="",
    )
    for column in columns:
        justify: Literal["right", "left"] = "right" if column.numeric else "left"
        table.add_column(Text(column.header), justify=justify, no_wrap=column.numeric, overflow="fold")
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))
    return table
