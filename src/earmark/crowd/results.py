"""Results of a crowd platform become preferences, and everything that does not is counted.

One row of a file of results is one task that one person did; it holds one answer, or several in numbered columns. Of
the answers, these are left out, each for the first reason that holds:

=================== =================================================================================================
``rejected``        the task's status is Rejected, or it was given a reason to be rejected for; where there is no
                    column of statuses, it has a time of rejection
``no choice``       nothing was chosen
``no strength``     a document was chosen, but where the file has strengths nobody said how strongly
``answered before`` the same person answered the same question, in the same phase, in an earlier row or place (or in a
                    later one, if the last answer is to count); for traps, which may be asked again, it is the same
                    assignment that stands in the file twice
=================== =================================================================================================

Every answer is kept or left out for one of these reasons, so the numbers of the :class:`ImportReport` add up. A word
that means no choice, a strength that is no number, a task without a worker: those are errors, for they say that the
file was read wrongly.

Forms made with Mechanical Turk's own elements write answers as JSON into ``Answer.taskAnswers``, or one column per
option, ``Answer.choice_1.left``, that says true or false; both are read as if the chosen option stood in
``Answer.choice_1``. The time that a task took is divided evenly among its questions.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import polars as pl

from earmark.crowd.platforms import MAPPINGS, ResultMapping
from earmark.crowd.result_columns import NumberedColumns, find_columns, gather_options
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.files import BLANKS, require_file
from earmark.data.json_text import parse_json
from earmark.data.preference_checks import COLUMNS, BadAnswer, Repeated, check_answers
from earmark.data.preferences import Preferences
from earmark.data.table_files import read_named
from earmark.data.tables import Table, parse_number
from earmark.errors import InputError
from earmark.wording import counted

REJECTED, NO_CHOICE, NO_STRENGTH, REPEATED = REASONS = ("rejected", "no choice", "no strength", "answered before")
_JSON_COLUMN = "Answer.taskAnswers"


@dataclass(frozen=True, eq=False, repr=False)
class ImportReport(Display):
    """What became of a file of results.

    Attributes
    ----------
    rows : int
        How many tasks it holds.
    answers : int
        How many answers could have been given: tasks times questions, less the places that were left empty.
    kept, assessors : int
        How many of them are preferences now, and of how many people.
    left_out : polars.DataFrame
        The others: ``row`` (of the file below its header, from 1), ``assessor``, ``query``, ``a``, ``b``, ``reason``.
    unknown : int
        How many of the kept answers are to questions that the table of questions does not have; 0 without one.
    """

    rows: int
    answers: int
    kept: int
    assessors: int
    left_out: pl.DataFrame
    unknown: int = 0

    def to_polars(self) -> pl.DataFrame:
        """One row per outcome: ``outcome`` (kept, or the reason), ``answers`` and ``assessors`` they are of."""
        counts = self.left_out.group_by("reason").agg(pl.len(), pl.col("assessor").n_unique())
        found = {reason: (answers, people) for reason, answers, people in counts.iter_rows()}
        rows = [("kept", self.kept, self.assessors), *((reason, *found.get(reason, (0, 0))) for reason in REASONS)]
        schema = {"outcome": pl.String, "answers": pl.Int64, "assessors": pl.Int64}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def __str__(self) -> str:
        parts = [f"{counted(self.kept, 'answer')} of {self.answers:,} kept, from {counted(self.rows, 'row')}"]
        left = self.to_polars().slice(1).iter_rows()
        parts += [f"{count:,} left out: {reason}" for reason, count, _ in left if count]
        return "; ".join(parts)

    def _summary(self) -> Summary:
        """Show what became of the answers."""
        return Summary(str(self), [DisplayTable(self.to_polars())])


@dataclass(frozen=True, eq=False, repr=False)
class ImportedResults(Display):
    """Preferences from a platform, and what became of the rest."""

    preferences: Preferences
    report: ImportReport

    def _summary(self) -> Summary:
        """Show what was kept and what became of the rest."""
        seen, rest = self.preferences._summary(), self.report._summary()
        return Summary(seen.sentence, [*seen.sheets, *rest.sheets], [rest.sentence])


def read_results(
    path: str | os.PathLike[str],
    mapping: ResultMapping = MAPPINGS["mturk"],
    *,
    encoding: str | None = None,
    keep_rejected: bool = False,
    questions: pl.DataFrame | None = None,
    repeated: Repeated = "first",
) -> ImportedResults:
    """Read a file of results.

    Parameters
    ----------
    path : path
        CSV, TSV or Parquet, gzipped or not.
    mapping : ResultMapping
        Which columns hold what.
    encoding : str, optional
        The encoding of the file; by default that of the mapping.
    keep_rejected : bool
        Take rejected work as well.
    questions : polars.DataFrame, optional
        Our own table of what was asked (``query``, ``a``, ``b``): its ``trap`` and ``phase`` are added to the answers.
    repeated : {"first", "last", "refuse"}
        Which answer counts where a person answered a question again, in the order of rows; or none, and it is an error.

    Raises
    ------
    InputError
        If a column is missing, no question is one of the table's, nothing is left, or naming the first line with a word
        that means nothing.
    """
    file = require_file(path)
    table = read_named(file, encoding=encoding or mapping.encoding)
    frame = gather_options(_with_json(table), mapping.columns["choice"])
    long = _one_answer_a_row(frame, find_columns(frame.columns, mapping, path=str(path)))
    facts = _Facts(Table(long, table.path, lambda row: table.line_of(int(long["row"][row]))), mapping)
    answers = facts.answers()
    unknown = pl.Series(np.zeros(answers.height, dtype=bool))
    if questions is not None:
        answers, unknown = _looked_up(answers, questions, path=str(path))
    reason = _reasons(answers, facts, keep_rejected=keep_rejected, last=repeated == "last")
    if repeated == "refuse" and (reason == REPEATED).any():
        row = int((reason == REPEATED).fill_null(False).arg_true()[0])
        raise facts.table.error(
            row,
            expected="one answer per question and person",
            got=f"another of '{answers['assessor'][row]}' on '{answers['a'][row]}' and '{answers['b'][row]}'",
            hint="--repeated first or last takes one of them",
        )
    kept = reason.is_null()
    if not kept.any():
        raise InputError(expected="at least one answer to keep", got=f"none of {answers.height:,}", path=path)
    where = kept.arg_true()
    columns = [name for name in COLUMNS if name in answers.columns]
    try:
        preferences = Preferences(check_answers(answers.select(columns).filter(kept)))
    except BadAnswer as bad:
        raise facts.table.error(int(where[bad.row]), expected=bad.expected, got=bad.got, hint=bad.hint) from None
    left_out = answers.with_columns(reason.alias("reason"), long["row"] + 1).filter(~kept)
    left_out = left_out.select("row", "assessor", "query", "a", "b", "reason")
    people = len(preferences.assessors)
    report = ImportReport(frame.height, answers.height, len(preferences), people, left_out, int((unknown & kept).sum()))
    return ImportedResults(preferences, report)


def _with_json(table: Table) -> pl.DataFrame:
    """Spread answers that are written as JSON over columns; a file without any comes back as it is."""
    if _JSON_COLUMN not in table.frame.columns:
        return table.frame
    rows: list[dict[str, str]] = []
    for row, cell in enumerate(table.frame[_JSON_COLUMN].cast(pl.String)):
        try:
            parsed: Any = parse_json(cell) if cell and cell.strip(BLANKS) else []
            parts = parsed if isinstance(parsed, list) else [parsed]
            rows.append({f"Answer.{key}": text for part in parts for key, text in _flat(part)})
        except (ValueError, AttributeError, RecursionError):
            raise table.error(row, expected=f"answers as JSON in {_JSON_COLUMN}", got=f"{cell[:60]!r}") from None
    names = dict.fromkeys(name for row in rows for name in row if name not in table.frame.columns)
    return table.frame.with_columns(pl.Series(name, [row.get(name) for row in rows], pl.String) for name in names)


def _flat(part: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for key, value in part.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value if isinstance(value, str) else json.dumps(value)


def _one_answer_a_row(frame: pl.DataFrame, columns: NumberedColumns) -> pl.DataFrame:
    """Put the questions of a task below each other, under our names and with the row of the file they came from."""
    text = frame.select(pl.col(sorted(set(columns.names()))).cast(pl.String).str.strip_chars(BLANKS).replace("", None))
    text = text.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    parts = [
        text.select("row", pl.lit(place).alias("place"), *(pl.col(old).alias(new) for new, old in at.items()))
        for place, at in enumerate(columns.places)
    ]
    long = pl.concat(parts).sort("row", "place")
    if len(columns.places) > 1:
        # The last task of a package may have fewer questions than the others.
        long = long.filter(~pl.all_horizontal(pl.col("a", "b").is_null()))
        share = pl.len().over("row")
    else:
        share = pl.lit(1)
    return long.with_columns(share.alias("questions of the task"))


@dataclass(frozen=True, eq=False)
class _Facts:
    """The cells of every answer, turned into what they mean."""

    table: Table
    mapping: ResultMapping

    def answers(self) -> pl.DataFrame:
        frame = self.table.frame
        for name in ("assessor", "query", "a", "b"):
            empty = frame[name].is_null().arg_true()
            if empty.len():
                column = self.mapping.columns[name]
                raise self.table.error(int(empty[0]), expected=f"{name} in every row ({column})", got="nothing")
        kept = [name for name in ("question", "phase", "time") if name in frame.columns]
        choice = self._words("choice")
        columns = [*(frame[name] for name in ("query", "a", "b", "assessor", *kept)), choice]
        if "trap" in frame.columns:
            columns.append(self._words("trap"))
        if "strength" in frame.columns and frame["strength"].is_not_null().any():
            # Where there is no preference its strength does not count, so it may be a dash as well.
            columns.append(self._numbers("strength", where=(choice != "same").fill_null(False)))
        if "seconds" in frame.columns:
            seconds = self._numbers("seconds", where=frame["seconds"].is_not_null())
            columns.append((seconds / frame["questions of the task"]).alias("seconds"))
        return pl.DataFrame(columns)

    def _words(self, name: str) -> pl.Series:
        cells = self.table.frame[name]
        meant = cells.str.to_lowercase().replace_strict(
            {word.lower(): choice for word, choice in self.mapping.choices.items()},
            default=None,
            return_dtype=pl.String,
        )
        unknown = (meant.is_null() & cells.is_not_null()).arg_true()
        if unknown.len():
            row = int(unknown[0])
            raise self.table.error(
                row,
                expected=f"{', '.join(self.mapping.choices)} as {name} ({self.mapping.columns[name]})",
                got=f"'{cells[row]}'",
                # As a shell wants it: words with spaces in quotes.
                hint=f"say what it means, for example --choice {shlex.quote(f'{cells[row]}=a')}",
            )
        return meant.alias(name)

    def _numbers(self, name: str, *, where: pl.Series) -> pl.Series:
        """Read numbers where they count, null where a cell is blank."""
        cells = self.table.frame[name]
        values = cells.cast(pl.Float64, strict=False)
        wrong = cells.is_not_null() & ~values.is_finite().fill_null(False) & where
        if wrong.any():
            row = int(wrong.arg_true()[0])
            parse_number(cells[row], name, self.table.path, self.table.line_of(row))
            raise self.table.error(row, expected=f"a number as {name}", got=f"'{cells[row]}'")
        return values

    def rejected(self) -> pl.Series:
        frame = self.table.frame
        marks = [frame["reject"].is_not_null()] if "reject" in frame.columns else []
        if "status" in frame.columns:
            # A rejection can be taken back; then the status says so and the time of it stays.
            marks.append((frame["status"].str.to_lowercase() == "rejected").fill_null(False))
        elif "rejected" in frame.columns:
            marks.append(frame["rejected"].is_not_null())
        return reduce(lambda one, other: one | other, marks, pl.Series(np.zeros(frame.height, dtype=bool)))

    def assignment(self) -> pl.Series:
        """Return what tells apart the places of assignments; rows of a file without such ids are all different."""
        frame = self.table.frame
        own = pl.format("row {}", pl.col("row"))
        if "assignment" in frame.columns:
            own = pl.coalesce(pl.format("id {}", pl.col("assignment")), own)
        return frame.select(pl.format("{} {}", own, pl.col("place"))).to_series()


def _looked_up(answers: pl.DataFrame, questions: pl.DataFrame, *, path: str) -> tuple[pl.DataFrame, pl.Series]:
    """Add what our own table knows of every question, and tell which answers it does not know."""
    known = [name for name in ("trap", "phase") if name in questions.columns]
    asked = questions.select("query", "a", "b", *known).unique(maintain_order=True)
    twice = asked.filter(asked.select("query", "a", "b").is_duplicated())
    if twice.height:
        query, a, b = twice.select("query", "a", "b").row(0)
        raise InputError(
            expected="one meaning of every question in the table of questions",
            got=f"'{a}' and '{b}' for query '{query}' with different traps or phases",
        )
    found = answers.drop(name for name in known if name in answers.columns).join(
        asked.with_columns(pl.lit(True).alias("is known")), on=["query", "a", "b"], how="left", maintain_order="left"
    )
    unknown = found["is known"].is_null()
    if unknown.all():
        raise InputError(
            expected="answers to the questions of the table",
            got=f"'{answers['a'][0]}' and '{answers['b'][0]}' for query '{answers['query'][0]}', and none that is",
            path=path,
            hint="is it the table that this package was made from?",
        )
    return found.drop("is known"), unknown


def _reasons(answers: pl.DataFrame, facts: _Facts, *, keep_rejected: bool, last: bool) -> pl.Series:
    """Say why each answer is left out, null where it is not."""
    none = pl.Series(np.zeros(answers.height, dtype=bool))
    holds = {
        REJECTED: none if keep_rejected else facts.rejected(),
        NO_CHOICE: answers["choice"].is_null(),
        NO_STRENGTH: none,
    }
    if "strength" in answers.columns:
        holds[NO_STRENGTH] = answers["strength"].is_null() & (answers["choice"] != "same")
    reason = pl.coalesce(pl.when(mark).then(pl.lit(name)) for name, mark in holds.items())
    found = pl.select(reason.alias("reason")).to_series()
    a, b = pl.col("a"), pl.col("b")
    who = answers.select(
        "query",
        "assessor",
        pl.when(a < b).then(a).otherwise(b).alias("low"),
        pl.when(a < b).then(b).otherwise(a).alias("high"),
        *(name for name in ("phase",) if name in answers.columns),
        found.is_null().alias("counts"),
    )
    if "trap" in answers.columns:
        # A trap may come again in another assignment: it only repeats itself together with its assignment and place.
        apart = pl.when(answers["trap"].is_not_null()).then(facts.assignment())
        who = who.with_columns(apart.alias("apart"))
    question = pl.struct(pl.all())
    one = question.is_last_distinct() if last else question.is_first_distinct()
    again = who.select(~one).to_series() & found.is_null()
    return pl.select(pl.when(again).then(pl.lit(REPEATED)).otherwise(found).alias("reason")).to_series()
