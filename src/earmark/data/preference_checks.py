"""Answers checked: every row of a table of preferences is one answer, or the first that is none is named.

The rules stand in :mod:`earmark.data.preferences`. A fault is a :class:`BadAnswer`, which knows its row; whoever gave
the table knows what to call that row: a line of a file, or a row of a frame.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import polars as pl

from earmark.data.hashing import first_repeated_row
from earmark.data.runs import BadRow
from earmark.data.tables import is_id_type, is_number_type
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

Repeated = Literal["refuse", "first", "last"]
CHOICES = ("a", "b", "same")
REQUIRED = ("query", "a", "b", "assessor", "choice")
OPTIONAL = ("time", "seconds", "phase", "question", "trap")
COLUMNS = (*REQUIRED, "strength", *OPTIONAL)


class BadAnswer(BadRow):
    """A row that is no answer."""

    def __init__(self, row: int, *, expected: str, got: str, hint: str | None = None) -> None:
        super().__init__(row, expected=expected, got=got)
        self.hint = hint


def check_answers(frame: pl.DataFrame, *, repeated: Repeated = "refuse") -> pl.DataFrame:
    """Return the answers of a table, with our columns in order; rows without a choice are left out.

    Parameters
    ----------
    frame : polars.DataFrame
        Perhaps answers.
    repeated : {"refuse", "first", "last"}
        What to do where an assessor answered a question again: it is an error, or the first or the last answer counts,
        in the order of rows.

    Raises
    ------
    InputError
        If a column is missing or of the wrong type, or nobody answered.
    BadAnswer
        Naming the first row with a fault, as a row of the given table.
    """
    if repeated not in get_args(Repeated):
        raise ParameterError(f"repeated answers: refuse, first or last, not '{repeated}'")
    missing = [name for name in REQUIRED if name not in frame.columns]
    if missing:
        raise InputError(
            expected="columns query, a, b, assessor and choice",
            got=f"{', '.join(frame.columns) or 'none'} (no {' or '.join(missing)})",
        )
    choice = _choices(frame["choice"])
    answered = choice.is_not_null()
    if not answered.any():
        blank = f" ({counted(frame.height, 'row')} without a choice)" if frame.height else ""
        raise InputError(expected="at least one answer", got=f"none{blank}")
    rows = answered.arg_true()
    frame = frame.filter(answered).select([name for name in COLUMNS if name in frame.columns])
    try:
        return _checked(frame.with_columns(choice.filter(answered)), repeated)
    except BadAnswer as bad:
        raise BadAnswer(int(rows[bad.row]), expected=bad.expected, got=bad.got, hint=bad.hint) from None


def _checked(frame: pl.DataFrame, repeated: Repeated) -> pl.DataFrame:
    ids = [_ids(frame[name]) for name in ("query", "a", "b", "assessor")]
    frame = frame.with_columns(*ids, _strengths(frame))
    for name in ("phase", "question"):
        if name in frame.columns:
            frame = frame.with_columns(_ids(frame[name], optional=True))
    if "seconds" in frame.columns:
        frame = frame.with_columns(_seconds(frame["seconds"]))
    if "trap" in frame.columns:
        frame = frame.with_columns(_choices(frame["trap"]))
    itself = (frame["a"] == frame["b"]).arg_true()
    if itself.len():
        row = int(itself[0])
        raise BadAnswer(row, expected="two different documents as a and b", got=f"'{frame['a'][row]}' twice")
    if repeated == "refuse":
        _refuse_repeated(frame)
    else:
        frame = _one_of_repeated(frame, repeated)
    return frame.select([name for name in COLUMNS if name in frame.columns])


def _choices(column: pl.Series) -> pl.Series:
    """Return a column of choices in lower case, null where a cell is blank."""
    if column.dtype == pl.Null:
        return column.cast(pl.String)
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise InputError(expected=f"a, b or same as {column.name}", got=f"a column of {column.dtype}")
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase().replace("", None)
    wrong = (~text.is_in(CHOICES)).arg_true()
    if wrong.len():
        row = int(wrong[0])
        raise BadAnswer(row, expected=f"a, b or same as {column.name}", got=f"'{column[row]}'")
    return text


def _ids(column: pl.Series, *, optional: bool = False) -> pl.Series:
    if optional and column.dtype == pl.Null:
        return column.cast(pl.String)
    if not is_id_type(column.dtype):
        raise InputError(expected=f"text or whole numbers as {column.name}", got=f"a column of {column.dtype}")
    text = column.cast(pl.String)
    if optional:
        return text.replace("", None)
    missing = (text.is_null() | (text == "")).arg_true()
    if missing.len():
        raise BadAnswer(int(missing[0]), expected=f"{column.name} in every row", got="nothing")
    return text


def _strengths(frame: pl.DataFrame) -> pl.Series:
    same = frame["choice"] == "same"
    if "strength" not in frame.columns:
        return (~same).cast(pl.Float64).alias("strength")
    column = frame["strength"]
    if column.dtype != pl.Null and not is_number_type(column.dtype):
        raise InputError(expected="numbers as strength", got=f"a column of {column.dtype}")
    numbers = column.cast(pl.Float64)
    bad = (~(numbers.is_finite() & (numbers > 0)).fill_null(False) & ~same).arg_true()
    if bad.len():
        row = int(bad[0])
        raise BadAnswer(
            row,
            expected="a strength above 0 for a choice of a or b",
            got="nothing" if numbers[row] is None else f"{numbers[row]:g}",
            hint="a preference of no strength is the choice same",
        )
    return pl.select(pl.when(same).then(0.0).otherwise(numbers).alias("strength")).to_series()


def _seconds(column: pl.Series) -> pl.Series:
    if column.dtype != pl.Null and not is_number_type(column.dtype):
        raise InputError(expected="numbers as seconds", got=f"a column of {column.dtype}")
    numbers = column.cast(pl.Float64)
    bad = (~(numbers.is_finite() & (numbers >= 0))).arg_true()
    if bad.len():
        row = int(bad[0])
        raise BadAnswer(row, expected="seconds that are 0 or more", got=f"{numbers[row]:g}")
    return numbers


def _who_answers_what(frame: pl.DataFrame) -> pl.DataFrame:
    """Return what makes answers the same: query, assessor, the two documents in either order, and phase."""
    a, b = pl.col("a"), pl.col("b")
    low, high = pl.when(a < b).then(a).otherwise(b), pl.when(a < b).then(b).otherwise(a)
    who = frame.select("query", "assessor", low.alias("low"), high.alias("high"))
    return who.with_columns(frame["phase"].fill_null("")) if "phase" in frame.columns else who


def _one_of_repeated(frame: pl.DataFrame, repeated: Repeated) -> pl.DataFrame:
    """Keep the first or the last answer of an assessor to a question; traps may be answered again."""
    question = pl.struct(pl.all())
    one = question.is_first_distinct() if repeated == "first" else question.is_last_distinct()
    if "trap" not in frame.columns:
        return frame.filter(_who_answers_what(frame).select(one).to_series())
    # Every trap is a question of its own.
    trap = frame["trap"].is_not_null()
    apart = pl.select(pl.when(trap).then(pl.int_range(frame.height))).to_series()
    return frame.filter(_who_answers_what(frame).with_columns(apart.alias("apart")).select(one).to_series())


def _refuse_repeated(frame: pl.DataFrame) -> None:
    who = _who_answers_what(frame)
    rows = None
    if "trap" in frame.columns:
        regular = frame["trap"].is_null()
        who, rows = who.filter(regular), regular.arg_true()
    twice = first_repeated_row(np.zeros(who.height, dtype=np.int64), *who)
    if twice is None:
        return
    row = twice if rows is None else int(rows[twice])
    answer = frame.row(row, named=True)
    raise BadAnswer(
        row,
        expected="one answer per question and assessor",
        got=f"'{answer['assessor']}' again on '{answer['a']}' and '{answer['b']}' for query '{answer['query']}'",
        hint="tell rounds of asking apart in a column 'phase', and say in a column 'trap' which choice a trap expects; "
        "or --repeated first or last takes one of the answers",
    )
