"""Files of questions: a table for ourselves, and packages of several questions for a crowd platform.

Our own table has one question a row, with the columns of :data:`~earmark.crowd.questions.QUESTION_COLUMNS` and, where
traps are mixed in, ``trap``, the choice that is expected. It stays at home.

A *package* is what Mechanical Turk takes as the input of a batch: one task (HIT) a row, whose template finds the
question at place k in ``query_k``, ``left_k`` and ``right_k``, its id in ``question_k``, and where there are any the
addresses of what is played or shown in ``query_url_k``, ``left_url_k`` and ``right_url_k``. Document a stands left. The
last task may have empty places. A batch has one number of assignments per task, so questions that need
different numbers of assessors never share a task, and each task says its number in ``assessors``. What a trap expects
is not in the package: when results come back it is looked up in our own table.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from urllib.parse import quote

import numpy as np
import polars as pl

from earmark.data.files import BLANKS, replacing, require_file
from earmark.data.preference_checks import CHOICES
from earmark.data.spreadsheets import escape_formulas
from earmark.data.table_files import read_named
from earmark.errors import InputError, ParameterError

AnyPath = str | os.PathLike[str]


def write_table(frame: pl.DataFrame, path: AnyPath) -> None:
    """Write a table of questions or a package as CSV, whole or not at all."""
    if Path(path).suffix.lower() != ".csv":
        raise ParameterError(f"{os.fspath(path)}: questions are written as .csv")
    buffer = io.BytesIO()
    escape_formulas(frame).write_csv(buffer)
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(buffer.getvalue())
    except OSError as error:
        raise InputError(expected="a file that can be written", got=str(error.strerror), path=path) from None


def read_questions(path: AnyPath, *, encoding: str = "utf-8") -> pl.DataFrame:
    """Read what has been asked: questions or answers, any table with the columns ``query``, ``a`` and ``b``.

    Returns
    -------
    polars.DataFrame
        Those three and, where there are such columns, ``phase`` and ``trap`` (null where a cell is empty).

    Raises
    ------
    InputError
        If a column is missing, or naming the first line without an id or with a trap that expects nothing known.
    """
    table = read_named(require_file(path), encoding=encoding)
    missing = [name for name in ("query", "a", "b") if name not in table.frame.columns]
    if missing:
        got = f"{', '.join(table.frame.columns)} (no {' or '.join(missing)})"
        raise InputError(expected="columns query, a and b", got=got, path=path, line=1)
    kept = [name for name in ("query", "a", "b", "phase", "trap") if name in table.frame.columns]
    frame = table.frame.select(pl.col(kept).cast(pl.String).str.strip_chars(BLANKS).replace("", None))
    for name in ("query", "a", "b"):
        empty = frame[name].is_null().arg_true()
        if empty.len():
            raise table.error(int(empty[0]), expected=f"{name} in every row", got="nothing")
    if "trap" in kept:
        unknown = (~frame["trap"].is_in(CHOICES)).fill_null(False).arg_true()
        if unknown.len():
            row = int(unknown[0])
            raise table.error(row, expected="a, b or same as trap", got=f"'{frame['trap'][row]}'")
    return frame


def package_questions(
    questions: pl.DataFrame, *, per_task: int = 1, media_url: str | None = None, query_url: str | None = None
) -> pl.DataFrame:
    """Put questions, in their order, into tasks of several.

    Parameters
    ----------
    questions : polars.DataFrame
        ``question``, ``query``, ``a``, ``b`` and ``assessors``.
    per_task : int
        How many questions a task has; Stupar2013 had one.
    media_url : str, optional
        Where documents can be heard or seen, with ``{document}`` in place of the id.
    query_url : str, optional
        The same for queries, with ``{query}``.

    Returns
    -------
    polars.DataFrame
        One row per task, see the module.

    Examples
    --------
    >>> row = {"question": ["1f"], "query": ["War"], "a": ["song 1"], "b": ["song 2"], "assessors": [6]}
    >>> package = package_questions(pl.DataFrame(row), media_url="https://example.org/{document}.mp3")
    >>> package["left_url_1"][0]
    'https://example.org/song%201.mp3'
    """
    if per_task < 1:
        raise ParameterError(f"a task has at least one question, got {per_task}")
    columns = {"question": "question", "query": "query", "left": "a", "right": "b"}
    frame = questions.select(pl.col(old).alias(new) for new, old in columns.items())
    if query_url is not None:
        frame = frame.with_columns(_addresses(frame["query"], query_url, "query").alias("query_url"))
    if media_url is not None:
        for side in ("left", "right"):
            frame = frame.with_columns(_addresses(frame[side], media_url, "document").alias(f"{side}_url"))
    assessors = questions["assessors"].to_numpy()
    tasks = []
    for number in sorted(set(assessors.tolist()), reverse=True):
        part = frame.filter(pl.Series(assessors == number))
        task, place = np.divmod(np.arange(part.height), per_task)
        together = pl.DataFrame({"assessors": np.full(int(task[-1]) + 1, number)}).with_row_index("task")
        for at in range(per_task):
            here = part.filter(pl.Series(place == at)).rename({name: f"{name}_{at + 1}" for name in part.columns})
            together = together.join(here.with_row_index("task"), on="task", how="left", maintain_order="left")
        tasks.append(together.drop("task"))
    return pl.concat(tasks) if tasks else pl.DataFrame(schema={"assessors": pl.Int64})


def _addresses(ids: pl.Series, template: str, name: str) -> pl.Series:
    mark = f"{{{name}}}"
    if mark not in template:
        raise ParameterError(f"an address says where the id goes, as in https://example.org/{mark}, got '{template}'")
    return pl.Series([template.replace(mark, quote(one, safe="")) for one in ids], dtype=pl.String)
