"""Distance and similarity matrices to ranked lists, with filters.

A music similarity system often delivers one number for every pair of tracks rather than ranked lists. A
campaign turns that matrix into lists: for each query the ``k`` best documents of its row, without the query
itself and, under an *artist filter*, without any document by the query's artist. The same filter works for
any attribute (album, genre, work, ...).

Conventions
-----------
- Rows are queries and columns are documents. A square matrix with one list of ids is the common case; a
  rectangular one names its rows apart.
- ``kind`` says which way the numbers run: in ``"distance"`` small is near, in ``"similarity"`` large is near.
  Scores in the lists always run upwards: a distance is negated.
- An infinitely bad value (a distance of ``inf``, a similarity of ``-inf``) means *never retrieve*; an
  infinitely good one (the inverse of a distance of 0, say) ranks first. NaN is an error.
- Lists are ordered as trec_eval orders a run: scores are compared as 32-bit floats, and among equal scores
  the document whose id is *larger* in byte order comes first. Reading a list back from a TREC file therefore
  gives the same list.
- An unknown attribute (of the query or of the document) excludes nothing.

A matrix of 15,000 × 15,000 need not fit in memory: ``.npy`` files are memory-mapped and ranked in blocks of rows (see
:mod:`earmark.data.nearest_neighbours`).

References
----------
MIREX, "Audio Music Similarity and Retrieval", music-ir.org/mirex/wiki: the task, its artist filter and its
distance matrix files. E. Voorhees and C. Buckley, trec_eval: the order of a run.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.files import BLANKS, data_lines, reading_array, saying_why_not
from earmark.data.matrix_files import PLAIN_HINT, add_id, read_labelled, read_numbers
from earmark.data.nearest_neighbours import (
    NEVER_HINT,
    Kind,
    Values,
    check_kind_name,
    first_nan,
    guess_kind,
    nearest,
    relates_documents,
    row_blocks,
)
from earmark.data.runs import Runs, build_runs
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

_CORNER = 5
EMBEDDINGS_HINT = (
    "make distances of embeddings X: scipy.spatial.distance.cdist(X, X, 'cosine'), or similarities: X @ X.T of rows of "
    "length 1"
)
_PathLike: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Display):
    """Numbers between queries (rows) and documents (columns), and the ids of both.

    Parameters
    ----------
    values : array, shape (queries, documents)
        Distances or similarities, in memory or memory-mapped.
    row_ids, column_ids : tuple of str
        The ids of the queries and of the documents, each without duplicates.
    path : Path, optional
        The file the values came from, for messages.
    """

    values: Values
    row_ids: tuple[str, ...]
    column_ids: tuple[str, ...]
    path: Path | None = None

    def __post_init__(self) -> None:
        error = partial(InputError, path=self.path)
        shape = self.values.shape
        if self.values.dtype.kind not in "biuf":
            raise error(expected="a matrix of real numbers", got=f"values of type {self.values.dtype}")
        if len(shape) != 2:
            raise error(expected="a matrix (2 dimensions)", got=f"an array of shape {shape}")
        if not self.values.size:
            raise error(expected="at least one row and one column", got=f"shape {shape}")
        if shape[0] != shape[1] and self.row_ids == self.column_ids:
            got = f"{shape[0]} rows and {shape[1]} columns"
            hint = f"give the ids of the rows apart, as query ids; {EMBEDDINGS_HINT}"
            raise error(expected="a square matrix", got=got, hint=hint)
        for count, ids, name in ((shape[1], self.column_ids, "column"), (shape[0], self.row_ids, "row")):
            if len(ids) != count:
                raise error(expected=f"{count} ids", got=str(len(ids)), hint=f"one for each {name}")
            if len(set(ids)) != count:
                raise error(expected=f"a different id for each {name}", got="duplicates")

    def _summary(self) -> Summary:
        """Show its upper left corner."""
        rows, columns = (ids[:_CORNER] for ids in (self.row_ids, self.column_ids))
        corner = np.asarray(self.values[: len(rows), : len(columns)], dtype=np.float64)
        frame = pl.DataFrame({"": pl.Series(rows, dtype=pl.String), **dict(zip(columns, corner.T, strict=True))})
        queries = counted(len(self.row_ids), "query", "queries")
        sentence = f"{queries} by {counted(len(self.column_ids), 'document')}"
        return Summary(sentence, [DisplayTable(frame, total=len(self.row_ids))])


def read_matrix(
    path: _PathLike,
    *,
    ids: _PathLike | None = None,
    query_ids: _PathLike | None = None,
    encoding: str = "utf-8",
) -> Matrix:
    """Read a matrix of distances or similarities with the ids of its rows and columns.

    Three layouts are understood, the last two also gzipped:

    - ``.npy``, with an ids file; it is mapped into memory, not loaded;
    - text of plain numbers separated by white space or commas, with an ids file; blank lines and lines that
      start with ``#`` are skipped;
    - text that carries its ids (no ids file): a header row of column ids, then rows of an id and numbers,
      separated by tabs, commas or spaces. The top-left cell may be anything or absent. MIREX's distance
      matrix files are of this layout; their numbered list of files before the ``Q/R`` row is understood, and
      the ids are then the files.

    Parameters
    ----------
    path : path-like
        The matrix.
    ids : path-like, optional
        The ids of the columns, one per line (see :func:`read_ids`); of the rows too, without `query_ids`.
    query_ids : path-like, optional
        The ids of the rows, where they differ from those of the columns.
    encoding : str
        The encoding of the text files.

    Raises
    ------
    InputError
        If a file cannot be read, is not a matrix of numbers, holds NaN, or its size and ids disagree.
    """
    path = Path(path)
    is_npy = path.name.endswith((".npy", ".npy.gz"))
    if query_ids is not None and ids is None:
        raise ParameterError("query ids name the rows of a matrix whose columns are named by an ids file")
    if ids is None:
        if is_npy:
            raise InputError(expected="an ids file beside the matrix", got="none", path=path, hint=PLAIN_HINT)
        return Matrix(*read_labelled(path, encoding=encoding), path)
    column_ids = read_ids(ids, encoding=encoding)
    row_ids = column_ids if query_ids is None else read_ids(query_ids, encoding=encoding)
    if not is_npy:
        return Matrix(read_numbers(path, encoding=encoding), row_ids, column_ids, path)
    matrix = Matrix(_map_npy(path), row_ids, column_ids, path)
    _refuse_nan(matrix)
    return matrix


def read_ids(path: _PathLike, *, encoding: str = "utf-8") -> tuple[str, ...]:
    """Read ids, one per line; blank lines and lines that start with ``#`` are skipped.

    Raises
    ------
    InputError
        If the file cannot be read, holds no ids, or holds an id twice.
    """
    path = Path(path)
    line_of_id: dict[str, int] = {}
    for number, line in data_lines(path, encoding=encoding, comments=True):
        add_id(line_of_id, line.strip(BLANKS), path, number)
    if not line_of_id:
        raise InputError(expected="ids, one per line", got="none", path=path)
    return tuple(line_of_id)


def _map_npy(path: Path) -> Values:
    with saying_why_not(path):
        if not path.stat().st_size:
            raise InputError(expected="a NumPy array", got="an empty file", path=path)
        hint = "it is mapped into memory, so it cannot be gzipped" if path.suffix == ".gz" else None
        with reading_array(path, hint=hint):
            return np.lib.format.open_memmap(path, mode="r")


def _refuse_nan(matrix: Matrix) -> None:
    for rows, block in row_blocks(matrix.values, np.arange(len(matrix.row_ids))):
        if (cell := first_nan(block)) is not None:
            row, column = rows.start + cell[0], cell[1]
            got = f"NaN in row {row + 1} ({matrix.row_ids[row]!r}), column {column + 1} ({matrix.column_ids[column]!r})"
            raise InputError(expected="a number in every cell", got=got, path=matrix.path, hint=NEVER_HINT)


def lists_from_matrix(
    matrix: Matrix,
    *,
    k: int,
    kind: Kind = "distance",
    queries: Sequence[str] | None = None,
    exclude: Sequence[Mapping[str, str | None]] = (),
    exclude_query: bool = True,
    check_kind: bool = True,
    block_rows: int | None = None,
    on_rows: Callable[[int], None] | None = None,
) -> pl.DataFrame:
    """Make ranked lists of a matrix.

    Parameters
    ----------
    matrix : Matrix
        Distances or similarities between queries and documents.
    k : int, at least 1
        The length of the lists.
    kind : {"distance", "similarity"}
        Whether small or large values are near.
    queries : sequence of str, optional
        The queries to make lists for, in this order; all rows by default.
    exclude : sequence of mappings from id to attribute value
        One mapping per filter, for instance the artist of each document. A document is left out of a query's
        list if both have the same value in any of them. None, or no entry, means unknown.
    exclude_query : bool
        Leave the query itself out of its list.
    check_kind : bool
        Refuse a `kind` that the diagonal contradicts (see :func:`guess_kind`). Switch it off where the
        diagonal holds a placeholder, for instance similarities with zeros on the diagonal.
    block_rows, on_rows
        As in :func:`nearest`.

    Returns
    -------
    polars.DataFrame
        Columns ``query``, ``document`` (strings) and ``score`` (float32; a distance is negated), list by list
        and best first. A query with no documents left has no rows.

    Raises
    ------
    InputError
        If a query is not a row of the matrix or comes twice, if a filter knows none of the documents, if the
        diagonal contradicts `kind`, or if a chosen row holds NaN.
    """
    check_kind_name(kind)
    column_index = {name: column for column, name in enumerate(matrix.column_ids)}
    own = np.array([column_index.get(name, -1) for name in matrix.row_ids], dtype=np.int64)
    rows = _rows_of_queries(matrix, matrix.row_ids if queries is None else queries)
    labels = [_labels(matrix, attribute) for attribute in exclude]
    if check_kind:
        _refuse_other_kind(matrix, kind, own)
    # Code point order, in which Python compares strings, is the byte order of UTF-8.
    tie_order = np.empty(len(matrix.column_ids), dtype=np.int64)
    tie_order[sorted(range(tie_order.size), key=matrix.column_ids.__getitem__)] = np.arange(tie_order.size)
    found = nearest(
        matrix.values,
        k=k,
        kind=kind,
        rows=rows,
        column_of_row=own if exclude_query else None,
        labels=labels,
        tie_order=tie_order,
        block_rows=block_rows,
        on_rows=on_rows,
    )
    retrieved = found.indices >= 0
    row_ids, column_ids = (pl.Series(ids, dtype=pl.String) for ids in (matrix.row_ids, matrix.column_ids))
    return pl.DataFrame(
        {
            "query": row_ids.gather(np.repeat(rows, found.lengths)),
            "document": column_ids.gather(found.indices[retrieved]),
            "score": found.scores[retrieved],
        }
    )


def runs_from_matrices(
    matrices: Mapping[str, Matrix],
    *,
    k: int,
    kind: Kind = "distance",
    queries: Sequence[str] | None = None,
    exclude: Sequence[Mapping[str, str | None]] = (),
    exclude_query: bool = True,
    check_kind: bool = True,
) -> Runs:
    """Make the runs of several systems, each from its matrix.

    Parameters
    ----------
    matrices : mapping of str to Matrix
        The systems and their matrices.
    k, kind, queries, exclude, exclude_query, check_kind
        As for :func:`lists_from_matrix`, the same for all systems.

    Examples
    --------
    >>> apart = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    >>> print(runs_from_matrices({"mine": Matrix(apart, ("a", "b", "c"), ("a", "b", "c"))}, k=2))
    1 system, 3 queries, 6 results, lists of 2 documents

    Raises
    ------
    InputError
        As :func:`lists_from_matrix` does, or if nothing is left of a system's lists.
    """
    frames = []
    for system, matrix in matrices.items():
        lists = lists_from_matrix(
            matrix,
            k=k,
            kind=kind,
            queries=queries,
            exclude=exclude,
            exclude_query=exclude_query,
            check_kind=check_kind,
        )
        if lists.is_empty():
            got = f"none that is not left out for system '{system}'"
            raise InputError(expected="documents to rank", got=got, path=matrix.path)
        frames.append(lists.select(pl.lit(system).alias("system"), pl.all()))
    if not frames:
        raise ParameterError("there is no matrix to make runs from")
    frame = pl.concat(frames)
    # An infinite score, of a document that is infinitely near, cannot be kept; the order says it all.
    finite = bool(frame["score"].is_finite().all())
    return build_runs(
        system=frame["system"],
        query=frame["query"],
        document=frame["document"],
        score=frame["score"].cast(pl.Float64).to_numpy() if finite else None,
    )


def _rows_of_queries(matrix: Matrix, queries: Sequence[str]) -> NDArray[np.int64]:
    row_index = {name: row for row, name in enumerate(matrix.row_ids)}
    seen: set[str] = set()
    for query in queries:
        if query not in row_index:
            close = difflib.get_close_matches(query, matrix.row_ids, n=1)
            raise InputError(
                expected="a query that is a row of the matrix",
                got=repr(query),
                path=matrix.path,
                hint=f"did you mean {close[0]!r}?" if close else None,
            )
        if query in seen:
            raise InputError(expected="each query once", got=f"{query!r} twice")
        seen.add(query)
    return np.array([row_index[query] for query in queries], dtype=np.int64)


def _labels(matrix: Matrix, attribute: Mapping[str, str | None]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give each value of an attribute a number; -1 where it is unknown."""
    number_of: dict[str, int] = {}

    def numbers(ids: tuple[str, ...]) -> NDArray[np.int64]:
        known = (attribute.get(name) for name in ids)
        return np.array(
            [-1 if value is None else number_of.setdefault(value, len(number_of)) for value in known],
            dtype=np.int64,
        )

    of_rows, of_columns = numbers(matrix.row_ids), numbers(matrix.column_ids)
    # A filter that matches nothing is nearly always a file with other ids, and would pass unnoticed.
    for labels, name, ids in ((of_rows, "rows", matrix.row_ids), (of_columns, "columns", matrix.column_ids)):
        if (labels < 0).all():
            raise InputError(
                expected=f"a filter that knows some of the matrix's {name}",
                got=f"one that knows none ({name} are named like {ids[0]!r})",
                path=matrix.path,
            )
    return of_rows, of_columns


def _refuse_other_kind(matrix: Matrix, kind: Kind, own: NDArray[np.int64]) -> None:
    if set(matrix.row_ids) == set(matrix.column_ids) and not relates_documents(matrix.values, column_of_row=own):
        raise InputError(
            expected="distances or similarities",
            got="what looks like a row of features for every document: a square matrix that is not symmetric, and "
            "whose diagonal is neither constant nor an extreme",
            path=matrix.path,
            hint=f"{EMBEDDINGS_HINT}; if it does hold distances, switch this check off (check_kind)",
        )
    guess = guess_kind(matrix.values, column_of_row=own)
    if guess is None or guess == kind:
        return
    extreme, plural = ("largest", "similarities") if guess == "similarity" else ("smallest", "distances")
    raise InputError(
        expected="distances" if kind == "distance" else "similarities",
        got=f"a matrix in which nearly every document's own value is the {extreme} of its row",
        path=matrix.path,
        hint=f"these look like {plural}: say kind={guess!r}, or switch this check off (check_kind)",
    )
