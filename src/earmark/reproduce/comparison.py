"""A paper's numbers and ours, side by side.

A paper's value is kept as it was printed, so that it says how many digits count. Ours agrees if it gives the printed
digits when it is rounded to as many, or else when it is cut off there: some papers truncate, and which of the two it
was is part of the row. Everything else disagrees, even by one in the last digit; where the paper is known to be wrong,
the row says why (its *erratum*), and the paper's value stays what it is. Where ours is computed from other data or by
other models than the paper's, as its own are not to be had, the two only stand beside each other. And where ours was
chosen so that it comes out as the paper's, it is *given*: it agrees by construction, which says nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from importlib.resources import files
from typing import Any, Literal

import numpy as np
import polars as pl

from earmark.data.conversion import runs_from_frame
from earmark.data.ground_truth import GroundTruth
from earmark.data.judged_lists import JudgedLists, match
from earmark.errors import ParameterError

How = Literal["rounded", "truncated", "same", "different", "not printed", "not comparable", "given"]
# Binary fractions that stand for a decimal tie (.0625 printed with three digits) must not fall on its wrong side.
_ENOUGH_DIGITS = 12


@dataclass(frozen=True)
class Row:
    """One value of a paper and ours.

    Parameters
    ----------
    name : str
        What was computed.
    column : str
        For which case, where the paper's table has several columns.
    paper : str or None
        The paper's value as printed, or its claim in words; None where it gives none.
    ours : float or str
        What earmark computes.
    how : {"rounded", "truncated", "same", "different", "not printed", "not comparable", "given"}
        In what way ours agrees with the printed digits (or, in words, is the same), if it does.
    erratum : str
        Why the paper's value is not what it should be, where that is known.
    note : str
        Whatever else a reader should know.
    """

    name: str
    column: str
    paper: str | None
    ours: float | str
    how: How
    erratum: str = ""
    note: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether ours agrees with the paper; None where it has nothing to agree with, or could not differ."""
        return None if self.how in ("not printed", "not comparable", "given") else self.how != "different"


@dataclass(frozen=True)
class Comparison:
    """A table of a paper and ours.

    Parameters
    ----------
    title : str
        Which table or example it is.
    rows : tuple of Row
        Its values.
    notes : tuple of str
        What the table shows, and under which conventions.
    """

    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def to_polars(self) -> pl.DataFrame:
        """One row per value: ``table`` (the title), then what :class:`Row` holds, and ``agrees``.

        Ours is text here, with two digits more than the paper prints.
        """
        return pl.DataFrame(
            [(self.title, r.name, r.column, r.paper, shown(r), r.agrees, r.how, r.erratum, r.note) for r in self.rows],
            schema={
                **dict.fromkeys(("table", "name", "column", "paper", "ours"), pl.String),
                "agrees": pl.Boolean,
                **dict.fromkeys(("how", "erratum", "note"), pl.String),
            },
            orient="row",
        )

    def disagreements(self) -> list[Row]:
        """Return the rows in which ours is not what the paper prints."""
        return [row for row in self.rows if row.agrees is False]


def shown(row: Row) -> str:
    """Print our value with two digits more than the paper's, whole numbers (from 10 on, if none is printed) as such."""
    if isinstance(row.ours, str):
        return row.ours
    counted = abs(row.ours) >= 10 if row.paper is None else "." not in row.paper
    if counted and float(row.ours).is_integer():
        return f"{row.ours:.0f}"
    digits = 4 if row.paper is None else decimals(row.paper) + 2
    return f"{row.ours:.{digits}f}"


def decimals(printed: str) -> int:
    """Count the digits after the point."""
    return len(printed.partition(".")[2])


def compare(
    name: str,
    printed: str | None,
    ours: float,
    *,
    column: str = "",
    digits: int | None = None,
    erratum: str = "",
    note: str = "",
) -> Row:
    """Compare a printed number with ours.

    Parameters
    ----------
    name : str
        What was computed.
    printed : str or None
        The number as the paper prints it.
    ours : float
        Our value.
    column, erratum, note : str
        See :class:`Row`.
    digits : int, optional
        How many digits after the point count; by default as many as are printed. A paper that prints ``1`` among values
        such as ``0.5`` means ``1.0``.

    Examples
    --------
    >>> compare("bpref*", "0.564", 0.564626).how, compare("bpref*", "0.565", 0.564626).how
    ('truncated', 'rounded')
    >>> compare("bpref", "0.550", 0.551020).agrees
    False
    """
    if printed is None:
        return Row(name, column, None, float(ours), "not printed", erratum, note)
    unit = Decimal(1).scaleb(-(decimals(printed) if digits is None else digits))
    value = round(Decimal(repr(float(ours))), _ENOUGH_DIGITS)
    how: How = "different"
    if value.quantize(unit, ROUND_HALF_UP) == Decimal(printed):
        how = "rounded"
    elif value.quantize(unit, ROUND_DOWN) == Decimal(printed):
        how = "truncated"
    return Row(name, column, printed, float(ours), how, erratum, note)


def compare_words(
    name: str, claim: str | None, ours: str, *, column: str = "", erratum: str = "", note: str = ""
) -> Row:
    """Compare what a paper says in words with what we find."""
    how: How = "not printed" if claim is None else "same" if claim == ours else "different"
    return Row(name, column, claim, ours, how, erratum, note)


def beside(
    name: str, printed: str | None, ours: float | str, *, column: str = "", erratum: str = "", note: str = ""
) -> Row:
    """Put ours beside what a paper prints, which it need not agree with: other data, or another model.

    Examples
    --------
    >>> row = beside("coverage", "0.77", 0.58, column="pairs")
    >>> row.how, row.agrees, shown(row)
    ('not comparable', None, '0.5800')
    """
    how: How = "not printed" if printed is None else "not comparable"
    return Row(name, column, printed, ours if isinstance(ours, str) else float(ours), how, erratum, note)


def given(name: str, printed: str, ours: float, *, column: str = "", note: str = "") -> Row:
    """Show a value that was chosen so that it comes out as the paper's: an input, which cannot agree or disagree.

    Examples
    --------
    >>> row = given("songs", "470", 470)
    >>> row.how, row.agrees
    ('given', None)
    """
    return Row(name, column, printed, float(ours), "given", "", note)


def read_printed(paper: str) -> dict[str, Any]:
    """Read what a paper prints: the tables of the file of its name, every number as the text that is printed."""
    return tomllib.loads((files(__package__) / f"{paper}.toml").read_text(encoding="utf-8"))


def compare_all(printed: Mapping[str, str], ours: Sequence[float]) -> tuple[Row, ...]:
    """Compare all numbers of a printed table with ours, in the same order."""
    return tuple(compare(name, value, own) for (name, value), own in zip(printed.items(), ours, strict=True))


def not_reproduced(paper: str, reasons: Mapping[str, str]) -> Comparison:
    """List what the data at hand do not allow to compute, and why."""
    rows = (beside(what, "in the paper", "not reproduced", note=why) for what, why in reasons.items())
    return Comparison(f"{paper}: what cannot be reproduced, and why", tuple(rows))


def check_seeds(seeds: int) -> None:
    """Refuse to repeat something less than once."""
    if seeds < 1:
        raise ParameterError(f"the number of seeds is 1 or more, got {seeds}")


def judge_lists(results: Sequence[Sequence[int]], truth: GroundTruth) -> JudgedLists:
    """Match several result lists, documents being whole numbers, with the truth of one query."""
    lengths = [len(result) for result in results]
    rows = pl.DataFrame(
        {
            "system": pl.Series(np.repeat(np.arange(len(results)), lengths)).cast(pl.String),
            "query": pl.Series([truth.queries[0]] * sum(lengths), dtype=pl.String),
            "document": pl.Series([document for result in results for document in result]).cast(pl.String),
        }
    )
    return match(runs_from_frame(rows), truth)
