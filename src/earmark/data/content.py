"""Content: what documents are like, as numbers; an embedding of their sound, say, or a table of features.

One row of numbers for every document. Nothing is assumed about the numbers but that documents with like rows are alike:
they may come from any model and in any unit. In music similarity queries are documents themselves, so the same table
speaks of both.

Three kinds of files are understood:

- ``.npy``, an array of shape (documents, dims), with the ids of its rows in a text file beside it, one per line:
  ``content.ids.txt`` or ``content.ids`` for ``content.npy``, or any other that is named;
- CSV and TSV with a header: the ids in the column ``document``, or in the first where none is called so, and numbers
  in all others;
- Parquet with the same columns.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from earmark.data.arrays import Floats
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.files import BLANKS, reading_array, replacing, require_file, saying_why_not
from earmark.data.matrices import read_ids
from earmark.data.outputs import together
from earmark.data.readers import AnyPath
from earmark.data.spreadsheets import escape_formulas
from earmark.data.table_files import read_named
from earmark.data.tables import id_cells, number_cells
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

_IDS = (".ids.txt", ".ids")
_CORNER = 5
_FEW_DOCUMENTS = 5
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True, eq=False, repr=False)
class Content(Display):
    """What documents are like.

    Parameters
    ----------
    documents : tuple of str
        Their ids, each once.
    values : ndarray of float, shape (documents, dims)
        Finite numbers in any unit; at least one column has to vary.

    Examples
    --------
    >>> content = Content(("a", "b"), np.array([[0.5, 1.0], [0.25, 1.0]]))
    >>> print(content)
    content of 2 documents, 2 numbers each
    """

    documents: tuple[str, ...]
    values: Floats

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if values.dtype.kind not in "biuf":
            raise InputError(expected="content of real numbers", got=f"values of type {values.dtype}")
        if values.ndim != 2 or not values.size:
            got = f"an array of shape {values.shape}"
            raise InputError(expected="content of shape (documents, dims), both 1 or more", got=got)
        if len(self.documents) != len(values):
            got = f"{len(self.documents):,} ids and {len(values):,} rows"
            raise InputError(expected="one id for every row of content", got=got)
        row_of: dict[str, int] = {}
        for row, document in enumerate(self.documents):
            if not document:
                raise InputError(expected="an id for every row of content", got=f"an empty one in row {row + 1}")
            if row_of.setdefault(document, row) != row:
                got = f"'{document}' in rows {row_of[document] + 1} and {row + 1}"
                raise InputError(expected="every document once", got=got)
        finite = np.isfinite(values)
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            got = f"{values[row, column]} in row {row + 1} ('{self.documents[row]}'), column {column + 1}"
            raise InputError(expected="a finite number in every cell of content", got=got)
        if not np.any(values != values[0]):
            raise InputError(
                expected="content in which documents differ",
                got=f"{counted(values.shape[1], 'column')} that {'is' if values.shape[1] == 1 else 'are'} the same for "
                f"{'the only document' if len(values) == 1 else f'all {len(values):,} documents'}",
            )
        object.__setattr__(self, "values", values.astype(np.float64))

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of every document."""
        return {document: row for row, document in enumerate(self.documents)}

    def __str__(self) -> str:
        return f"content of {self._summary().sentence}"

    def _summary(self) -> Summary:
        """Show the first numbers of the first documents."""
        corner = {f"x{number}": column for number, column in enumerate(self.values[:_CORNER, :_CORNER].T, start=1)}
        frame = pl.DataFrame({"document": pl.Series(self.documents[:_CORNER], dtype=pl.String), **corner})
        sentence = f"{counted(len(self.documents), 'document')}, {counted(self.values.shape[1], 'number')} each"
        return Summary(sentence, [DisplayTable(frame, total=len(self.documents))])


def content_files(path: AnyPath, *, ids: AnyPath | None = None) -> tuple[Path, ...]:
    """Return the files that content is read from: the numbers and, for ``.npy``, the ids of the rows.

    Raises
    ------
    InputError
        If there is no ids file.
    ParameterError
        If an ids file is named for a table, which carries its ids.
    """
    file = Path(path)
    if file.suffix.lower() != ".npy":
        if ids is not None:
            raise ParameterError(f"an ids file is for the rows of an .npy file, and {file} carries its own ids")
        return (file,)
    if ids is not None:
        return file, Path(ids)
    beside = [file.with_suffix(ending) for ending in _IDS]
    found = next((one for one in beside if one.is_file()), None)
    if found is None:
        raise InputError(
            expected=f"the ids of the rows in {' or '.join(one.name for one in beside)} beside it",
            got="neither",
            path=file,
            hint="one id per line; a file elsewhere is named with --content-ids",
        )
    return file, found


def read_content(path: AnyPath, *, ids: AnyPath | None = None, encoding: str = "utf-8") -> Content:
    """Read what documents are like.

    Parameters
    ----------
    path : path
        An array in ``.npy``, or a table in CSV, TSV or Parquet; see the module.
    ids : path, optional
        The ids of an array's rows, one per line; by default the file beside it.
    encoding : str
        The text encoding of the files.

    Raises
    ------
    InputError
        If a file is not what it should be, naming the line or the row.
    ParameterError
        If an ids file is named for a table, which carries its ids.
    """
    file = require_file(path)
    files = content_files(file, ids=ids)
    if len(files) == 1:
        documents, values = _read_table(file, encoding)
    else:
        documents, values = read_ids(files[1], encoding=encoding), _read_array(file)
    try:
        return Content(documents, values)
    except InputError as error:
        raise InputError(expected=error.expected, got=error.got, path=file, hint=error.hint) from None


def _read_array(path: Path) -> Floats:
    with saying_why_not(path), reading_array(path):
        values: Floats = np.load(path, allow_pickle=False)
    square = values.ndim == 2 and values.shape[0] == values.shape[1] >= _FEW_DOCUMENTS
    if square and values.dtype.kind in "iuf" and np.array_equal(values, values.T):
        raise _is_matrix(path, "a symmetric matrix")
    return values


def _is_matrix(path: Path, got: str) -> InputError:
    hint = "'earmark runs from-matrix' makes runs of them"
    return InputError(
        expected="features of every document", got=f"{got}: distances or similarities", path=path, hint=hint
    )


def _read_table(path: Path, encoding: str) -> tuple[tuple[str, ...], Floats]:
    table = read_named(path, encoding=encoding)
    names = table.frame.columns
    key = next((name for name in names if name.strip().lower() == "document"), names[0])
    rest = [name for name in names if name != key]
    if not rest:
        raise InputError(expected="columns of numbers beside the ids", got=f"only '{key}'", path=path)
    if _is_row_of_numbers(rest):
        raise InputError(
            expected="a header that names the columns",
            got=f"numbers ({', '.join(names[:3])}, …)",
            path=path,
            line=1,
            hint="write a first line such as document,x1,x2",
        )
    documents = id_cells(table, key)
    again = (~documents.is_first_distinct()).arg_true()
    if again.len():
        row = int(again[0])
        raise table.error(row, expected="every document once", got=f"'{documents[row]}' again")
    if set(rest) == set(documents):
        raise _is_matrix(path, "a column for every document")
    return tuple(documents), np.column_stack([number_cells(table, name) for name in rest])


def _is_row_of_numbers(names: list[str]) -> bool:
    """Tell numbers in place of names; columns that a program counted from 0 or 1 have names."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    counts = np.arange(len(numbers))
    return not (np.array_equal(numbers, counts) or np.array_equal(numbers, counts + 1))


def write_content(content: Content, path: AnyPath, *, names: Sequence[str] | None = None) -> tuple[Path, ...]:
    """Write content to a file, or to two: both are there in the end, or neither.

    Parameters
    ----------
    content : Content
    path : path
        Where to. ``.npy`` writes the numbers, and the ids beside them: ``content.npy`` and ``content.ids.txt``;
        ``.csv``, ``.tsv`` and ``.parquet`` write one table with the columns ``document``, ``x1``, ``x2``, ….
    names : sequence of str, optional
        What the columns of numbers are called in a table, if not ``x1``, ``x2``, ….

    Returns
    -------
    tuple of Path
        The files that were written.

    Raises
    ------
    InputError
        If the folder is not there, or an id cannot stand on a line of its own.
    ParameterError
        If the ending names no format.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in (".npy", ".parquet", *_SEPARATORS):
        raise ParameterError(f"{file}: content is written to .npy, .csv, .tsv or .parquet")
    try:
        if ending == ".npy":
            return _write_array(content, file)
        called = [f"x{number + 1}" for number in range(content.values.shape[1])] if names is None else names
        frame = pl.DataFrame({"document": content.documents, **dict(zip(called, content.values.T, strict=True))})
        # Libraries that write files themselves say in many ways that a disk is full.
        held = io.BytesIO()
        if ending == ".parquet":
            frame.write_parquet(held)
        else:
            escape_formulas(frame, ["document"]).write_csv(held, separator=_SEPARATORS[ending])
        with replacing(file) as temporary:
            temporary.write_bytes(held.getbuffer())
    except OSError as error:
        raise InputError(expected="a file that can be written", got=str(error.strerror), path=path) from None
    return (file,)


def _write_array(content: Content, path: Path) -> tuple[Path, ...]:
    for document in content.documents:
        # What a reader of the ids would take for a comment, for nothing or for another id.
        if document.startswith(("#", "\ufeff")) or "\n" in document or document != document.strip(BLANKS):
            raise InputError(
                expected="ids that can stand on a line of their own",
                got=repr(document),
                path=path,
                hint="write .csv or .parquet, which hold any text",
            )
    _, ids = written = content_outputs(path)
    with together(), replacing(ids) as of_ids, replacing(path) as of_values:
        of_ids.write_text("".join(f"{document}\n" for document in content.documents), encoding="utf-8", newline="\n")
        held = io.BytesIO()
        np.save(held, content.values, allow_pickle=False)
        of_values.write_bytes(held.getbuffer())
    return written


def content_outputs(path: AnyPath) -> tuple[Path, ...]:
    """Return the files that :func:`write_content` writes."""
    file = Path(path)
    return (file, file.with_suffix(_IDS[0])) if file.suffix.lower() == ".npy" else (file,)
