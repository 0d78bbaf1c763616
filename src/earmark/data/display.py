"""How results show themselves: in one line among others, as text in print, as a table in a notebook.

A result describes itself as a :class:`Summary`: a sentence, small tables and notes. ``repr`` is the sentence alone, so
that a list of results stays readable; IPython shows the text, a notebook the HTML. Long tables are cut: the first rows
are shown, and the number of the others.

Numbers are shortened to be read, never to claim more than there is: what is below 1 is not rounded up to it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

NOTHING = "–"
MOST_ROWS = 10
_MOST_NOTES = 5
_LONGEST_CELL = 60
_LONGEST_LINE = 160
_DIGITS = 4
# What is smaller is 0, but for the last bits of a sum.
_ROUNDING = 1e-14
_NUMBER = re.compile(r"[-−+]?[\d,]*\.?\d+%?")


@dataclass(frozen=True, eq=False)
class DisplayTable:
    """A small table.

    Parameters
    ----------
    frame : polars.DataFrame
        All rows, or the first of them.
    caption : str
        What the rows are, in words.
    most : int
        How many rows to show.
    total : int, optional
        How many rows there are in all, where the frame has only the first.
    """

    frame: pl.DataFrame
    caption: str = ""
    most: int = MOST_ROWS
    total: int | None = None

    @property
    def left_out(self) -> int:
        """How many rows are not shown."""
        total = self.frame.height if self.total is None else self.total
        return total - min(self.frame.height, self.most)

    @property
    def columns(self) -> list[tuple[str, bool, list[str]]]:
        """Name, whether it is set to the right, and cells of every column that is shown."""
        written = [(column, written_cells(column.to_list())) for column in self.frame.head(self.most)]
        return [(column.name, column.dtype.is_numeric() or _are_numbers(cells), cells) for column, cells in written]

    def text(self) -> str:
        """Set the table in columns."""
        columns = []
        for name, numeric, cells in self.columns:
            width = max(len(line) for line in (name, *cells))
            columns.append([line.rjust(width) if numeric else line.ljust(width) for line in (name, *cells)])
        lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
        above = [f"{self.caption}:"] if self.caption else []
        below = [_more(self.left_out)] if self.left_out else []
        return "\n".join([*above, *lines, *below])

    def html(self) -> str:
        """Set the table for a notebook."""
        columns = self.columns
        head = "".join(f"<th{_side(numeric)}>{escape(name)}</th>" for name, numeric, _ in columns)
        cells = [[f"<td{_side(numeric)}>{escape(one)}</td>" for one in column] for _, numeric, column in columns]
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
        caption = f"<div>{escape(self.caption)}:</div>" if self.caption else ""
        more = f"<div>{_more(self.left_out)}</div>" if self.left_out else ""
        return f"{caption}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


@dataclass(frozen=True, eq=False)
class Summary:
    """What there is to see of a result.

    Parameters
    ----------
    sentence : str
        What it is, in one line.
    sheets : sequence of DisplayTable
        Those without rows are left out.
    notes : sequence of str
        What a reader has to know besides.
    """

    sentence: str
    sheets: Sequence[DisplayTable] = ()
    notes: Sequence[str] = ()

    def text(self, name: str) -> str:
        """Return all of it as plain text, under a name."""
        sheets = [sheet.text() for sheet in self.sheets if sheet.frame.height]
        return "\n".join([f"{name}: {self.sentence}", *sheets, *(f"- {note}" for note in self._notes)])

    def html(self, name: str) -> str:
        """Return all of it as HTML, under a name."""
        sheets = "".join(sheet.html() for sheet in self.sheets if sheet.frame.height)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self._notes)
        listed = f"<ul>{notes}</ul>" if notes else ""
        return f"<div><p><b>{escape(name)}</b>: {escape(self.sentence)}</p>{sheets}{listed}</div>"

    @property
    def _notes(self) -> list[str]:
        rest = len(self.notes) - _MOST_NOTES
        return [*self.notes[:_MOST_NOTES], *([f"and {rest:,} more"] if rest > 0 else [])]


class Display:
    """A result that shows itself; its class says how in ``_summary``.

    A dataclass has to be told ``repr=False``, or it writes a ``repr`` of its own, arrays and all.
    """

    __slots__ = ()

    def _summary(self) -> Summary:
        """Say what there is to see."""
        raise NotImplementedError

    def __repr__(self) -> str:
        line = f"{type(self).__name__}: {self._summary().sentence}"
        return f"<{_shortened(line, _LONGEST_LINE)}>"

    def __str__(self) -> str:
        return self._summary().text(type(self).__name__)

    def _repr_html_(self) -> str:
        return self._summary().html(type(self).__name__)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Tell IPython what to print where there is no HTML: all of it, or the line alone in a list of others."""
        alone = not cycle and len(printer.stack) <= 1
        printer.text(self._summary().text(type(self).__name__) if alone else repr(self))


def facts(**values: Any) -> DisplayTable:
    """Put single values one below the other, each under its name; a blank stands for an underscore."""
    import polars as pl

    names = [name.replace("_", " ") for name in values]
    written = [written_cells([value])[0] for value in values.values()]
    return DisplayTable(pl.DataFrame({"what": names, "value": written}), most=len(names))


def written_cells(values: Sequence[Any]) -> list[str]:
    """Write the values of a column so that they are easy to read, numbers with the same digits.

    Examples
    --------
    >>> written_cells([0.12345, 0.99999, 1.0, 0.00002, None])
    ['0.1235', '0.9999', '1.0000', '2e-05', '–']
    >>> written_cells([12.5, 1234.5]), written_cells([1.0, 3.0]), written_cells([1200, True, "a"])
    (['12', '1,234'], ['1', '3'], ['1,200', 'yes', 'a'])
    """
    digits = _digits([value for value in values if isinstance(value, float) and math.isfinite(value)])
    return [_written(value, digits) for value in values]


def _digits(numbers: list[float]) -> int:
    """Return how many digits tell numbers of this size apart."""
    largest = max(map(abs, numbers), default=0.0)
    if all(number == int(number) for number in numbers):
        return 0
    return next((digits for below, digits in ((10.0, _DIGITS), (100.0, 2), (1000.0, 1)) if largest < below), 0)


def _written(value: Any, digits: int) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return _shortened(str(value).replace("\n", " "), _LONGEST_CELL)
    if digits == _DIGITS and _ROUNDING < abs(value) < 0.5 * 10.0**-_DIGITS:
        return f"{value:.0e}"
    text = f"{value if abs(value) > _ROUNDING else 0.0:,.{digits}f}"
    # Rounded to a whole number, .99999 would look certain.
    if digits == _DIGITS and abs(value) < 1 <= abs(float(text)):
        return f"{math.copysign(1 - 10.0**-_DIGITS, value):.{_DIGITS}f}"
    return text


def _are_numbers(cells: list[str]) -> bool:
    """Tell whether texts are numbers that somebody has written already, percentages among them."""
    return bool(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _more(rows: int) -> str:
    return f"… and {rows:,} more"


def _side(numeric: bool) -> str:
    return f' style="text-align: {"right" if numeric else "left"}"'
