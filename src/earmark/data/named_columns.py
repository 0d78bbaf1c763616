"""Tables whose columns have names: which of them are ours, whatever they are called, and what their cells hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from earmark.data.files import BLANKS, first_data_line, words
from earmark.data.table_files import is_parquet
from earmark.data.tables import Table
from earmark.errors import InputError
from earmark.remarks import remark

# The names that other programs give our columns, the best first: where a table has the text of a query or a running
# number beside its id (as PyTerrier's have), the id counts. Hyphens and blanks are as good as underscores.
ALIASES = {
    "query": ("qid", "query_id", "queryid", "q_id", "topic_id", "query", "topic"),
    "document": ("docno", "document_id", "doc_id", "docid", "corpus_id", "document", "doc"),
    "system": ("system", "system_id", "run", "run_id", "tag", "name"),
    "gain": ("gain", "relevance", "rel", "label", "judgment"),
    "score": ("score", "sim", "similarity"),
    "rank": ("rank", "position"),
    "group": ("group", "clique", "work", "label"),
    "assessor": ("assessor", "worker", "annotator", "worker_id", "workerid"),
    "time": ("time", "timestamp"),
    "sampled": ("sampled",),
    "sequence": ("sequence",),
    "key": ("key",),
    "artist": ("artist",),
    "genre": ("genre",),
    # Columns of qrels that no judgment has: which part of a query, and when it was judged.
    "part": ("subtopic", "iteration", "intent", "aspect"),
}
# What BEIR calls the columns of its judgments, whose gains are called scores.
_BEIR = ("query_id", "corpus_id", "score")
# Ids and numbers are checked by whoever turns them into such.
_READ_AS_THEY_ARE = ("time", "sampled", "sequence", "key")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def has_names(path: Path, encoding: str, required: tuple[str, ...] = ("query", "document")) -> bool:
    """Tell whether the columns of a file have names: a Parquet file, or a header that names the required ones."""
    if is_parquet(path):
        return True
    number, header = first_data_line(path, encoding=encoding, comments=False)
    cells = [cell.strip().strip('"') for cell in header.replace(";", ",").replace("\t", ",").split(",")]
    named = all(find_column(cells, name) is not None for name in required)
    if len(cells) == 1 and len(required) > 1 and all(find_column(words(header), name) for name in required):
        raise InputError(
            expected="tabs or commas between columns that have names",
            got=f"blanks ({header[:60]!r})",
            path=path,
            line=number,
        )
    csv = path.name.lower().removesuffix(".gz").endswith(".csv")
    if not named and (csv or _is_header_in_part(cells, required)):
        raise InputError(
            expected=f"a header with the columns {', '.join(required)}",
            got=repr(header[:60]),
            path=path,
            line=number,
        )
    return named


def _is_header_in_part(cells: Sequence[str], required: Sequence[str]) -> bool:
    """Tell whether one of the names is there and no cell is a number: then the others are names, too."""
    if len(cells) == 1:
        cells = words(cells[0])
    if cells[0].startswith("#") or any(is_number(cell) for cell in cells):
        return False
    return any(find_column(cells, name) is not None for name in required)


def is_number(cell: str) -> bool:
    """Tell whether a cell holds a number."""
    return _NUMBER.fullmatch(cell.strip(BLANKS)) is not None


def find_columns(columns: Sequence[str], wanted: str) -> list[str]:
    """Return the columns that may hold what is wanted, the one that counts first."""
    plain = {_plain(name): name for name in reversed(columns)}
    return [plain[alias] for alias in ALIASES.get(wanted, (wanted,)) if alias in plain]


def find_column(columns: Sequence[str], wanted: str) -> str | None:
    """Return the column that holds what is wanted, by any of its names; None where there is none."""
    return next(iter(find_columns(columns, wanted)), None)


def is_of_beir(columns: Sequence[str]) -> bool:
    """Tell whether columns are those of BEIR's judgments."""
    return tuple(_plain(name) for name in columns) == _BEIR


def _plain(name: str) -> str:
    return name.strip(BLANKS).lower().replace("-", "_").replace(" ", "_")


def rename_columns(table: Table, required: Sequence[str], optional: Sequence[str]) -> Table:
    """Give the columns our names, and leave out the others.

    Where several columns may be what is wanted, one of them counts, and a remark says which.

    Raises
    ------
    InputError
        If a required column is not there, two columns may be the gains, or a column that is read as it is holds lists,
        structures or bytes.
    """
    renames: dict[str, str] = {}
    for wanted in (*required, *optional):
        remaining = [name for name in table.frame.columns if name not in renames]
        columns = find_columns(remaining, wanted)
        if columns:
            renames[columns[0]] = wanted
            _say_which(table, wanted, *columns)
        elif wanted in required:
            raise no_column(wanted, table)
    refuse_nested(table, [old for old, new in renames.items() if new in _READ_AS_THEY_ARE])
    return Table(table.frame.select(pl.col(old).alias(new) for old, new in renames.items()), table.path, table.line_of)


def _say_which(table: Table, wanted: str, actual: str, *others: str) -> None:
    """Remark which of several columns counts; gains are nobody's to choose, unless one is called just so."""
    if not others:
        return
    if wanted == "gain" and _plain(actual) != wanted:
        raise InputError(
            expected="one column of gains",
            got=f"columns {', '.join((actual, *others))}",
            path=table.path,
            hint=f"call the one that counts 'gain', or leave {' and '.join(others)} out",
        )
    remark(f"{table.path}: column '{actual}' is taken as the {wanted}, {' and '.join(map(repr, others))} not read")


def refuse_nested(table: Table, columns: Sequence[str]) -> None:
    """Refuse columns, as Parquet files may have, whose cells are no single values that could be written as text.

    Raises
    ------
    InputError
        Naming the first of them.
    """
    for name in columns:
        dtype = table.frame.schema[name]
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object, pl.Duration):
            raise InputError(expected=f"one value in each cell of '{name}'", got=str(dtype), path=table.path)


def no_column(wanted: str, table: Table) -> InputError:
    """Build the error for a column that is not there."""
    got = f"columns {', '.join(table.frame.columns)}"
    return InputError(expected=f"a column '{wanted}'", got=got, path=table.path)


def whole_numbers(table: Table, name: str) -> pl.Series:
    """Return a column of whole numbers, null where a cell is empty."""
    column = table.frame[name]
    cells = column.str.strip_chars(BLANKS).replace("", None) if column.dtype == pl.String else column
    values = cells.cast(pl.Int64, strict=False)
    bad = (values.is_null() & cells.is_not_null()).arg_true()
    if bad.len():
        raise table.error(int(bad[0]), expected=f"a whole number as {name}", got=f"'{cells[int(bad[0])]}'")
    return values


def yes_or_no(table: Table, name: str) -> pl.Series:
    """Return a column of truth values, null where a cell is empty."""
    column = table.frame[name]
    if column.dtype == pl.Boolean:
        return column
    text = column.cast(pl.String).str.strip_chars(BLANKS).str.to_lowercase().replace("", None)
    truth = text.replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)
    wrong = (truth.is_null() & text.is_not_null()).arg_true()
    if wrong.len():
        row = int(wrong[0])
        raise table.error(row, expected=f"true or false as {name}", got=f"'{column[row]}'")
    return truth


def times(table: Table, name: str) -> pl.Series:
    """Return a column of times: text as it is, else moments, which whole numbers count in seconds or less from 1970.

    Raises
    ------
    InputError
        If the column holds something else.
    """
    column = table.frame[name]
    if column.dtype == pl.Date:
        return column.cast(pl.Datetime("us"))
    if column.dtype.is_integer():
        return epoch_moments(column)
    if column.dtype not in (pl.String, pl.Null) and not isinstance(column.dtype, pl.Datetime):
        raise InputError(expected=f"dates or text as {name}", got=f"a column of {column.dtype}", path=table.path)
    return column.cast(pl.String) if column.dtype == pl.Null else column


def epoch_moments(numbers: pl.Series) -> pl.Series:
    """Return moments in UTC for whole numbers from 1970: seconds, or milli-, micro- or nanoseconds by their size."""
    count = pl.col(numbers.name).cast(pl.Int64, strict=False)
    most = count.abs()
    micro = (
        pl.when(most < 10**11)
        .then(count * 1_000_000)
        .when(most < 10**14)
        .then(count * 1_000)
        .when(most < 10**17)
        .then(count)
        .otherwise(count // 1_000)
    )
    return numbers.to_frame().select(micro.cast(pl.Datetime("us", "UTC"))).to_series().alias(numbers.name)
