"""``earmark runs``: make runs of matrices, and convert them between formats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from earmark.cli.command import argument, option
from earmark.cli.options import KNOWN, Encoding, Inputs, WritingRuns
from earmark.cli.output import Output

if TYPE_CHECKING:
    from earmark.data.matrices import Matrix
    from earmark.data.runs import Runs

Kind = Literal["distance", "similarity"]

# What Python calls them, and what they are called here.
_OPTIONS = {
    "an ids file beside the matrix": "the ids of its columns (--ids FILE)",
    "an ids file": "--ids FILE",
    "as query ids": "as --queries FILE",
    "kind='distance'": "--kind distance",
    "kind='similarity'": "--kind similarity",
    "(check_kind)": "(--no-check-kind)",
}


def from_matrix(
    matrix: Annotated[Path, argument("MATRIX")],
    writing: WritingRuns,
    out: Output,
    k: Annotated[int | None, option("K", "--depth", "-k", min=1)] = None,
    ids: Annotated[Path | None, option("FILE")] = None,
    queries: Annotated[Path | None, option("FILE")] = None,
    kind: Annotated[Kind | None, option("KIND")] = None,
    exclude_same: Annotated[list[str] | None, option("COLUMN")] = None,
    metadata: Annotated[Path | None, option("FILE", panel=KNOWN)] = None,
    include_query: Annotated[bool, option()] = False,
    check_kind: Annotated[bool, option("", "--check-kind/--no-check-kind", rare=True)] = True,
    system: Annotated[str | None, option("NAME")] = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Make ranked lists of a matrix of distances or similarities.

    A query is left out of its own list. With --exclude-same artist its artist's other songs are left out as well, as
    MIREX does.

    Parameters
    ----------
    matrix
        Distances or similarities, a row per query and a column per document: a NumPy file (.npy), a text file of
        numbers, or a text file that carries its ids, as MIREX's distance matrices do.
    k
        How many documents a list holds at most. When omitted, all of them: measures such as MR1, AP and bpref* need
        lists that are not cut.
    ids
        The ids of the columns, one per line; of the rows too, if it is square.
    queries
        The ids of the queries, one per line: which rows to make lists of or, where rows and columns differ, what the
        rows are called. All rows when omitted.
    kind
        distance: small numbers are near. similarity: large ones are. When omitted, guessed from the diagonal.
    exclude_same
        Leave out documents that share this with the query, for example artist. Give the option again for more.
    metadata
        Metadata: a table whose header names the columns document, artist, genre and so on, or three columns document,
        artist and genre without a header.
    include_query
        Let a query stand in its own list, if it is a document too.
    check_kind
        Refuse a kind that the diagonal of the matrix contradicts.
    system
        What to call the system. The file's name when omitted.

    Examples
    --------
    earmark runs from-matrix distances.npy --ids ids.txt -k 5 -o run.tsv
    earmark runs from-matrix d.npy --ids i.txt -k 5 --exclude-same artist --metadata m.tsv
    earmark runs from-matrix similarities.csv --system mine -o mine.run.gz
    """
    import polars as pl

    from earmark.data.conversion import runs_from_frame
    from earmark.data.matrices import lists_from_matrix, read_ids
    from earmark.data.readers import read_metadata
    from earmark.errors import InputError, ParameterError

    if exclude_same and metadata is None:
        raise ParameterError("--exclude-same needs to know the documents: give their --metadata")
    known = None if metadata is None else read_metadata(metadata, encoding=encoding)
    filters = [known.attribute(name) for name in exclude_same or []] if known is not None else []
    with _naming_options():
        read = _read_matrix(matrix, ids=ids, queries=queries, encoding=encoding)
    wanted = read.row_ids if queries is None else read_ids(queries, encoding=encoding)
    with _naming_options(), out.progress(len(wanted), "ranking") as advance:
        lists = lists_from_matrix(
            read,
            k=k or max(len(read.column_ids), 1),
            kind=kind or _guess_kind(read, out),
            queries=wanted,
            exclude=filters,
            exclude_query=not include_query,
            check_kind=check_kind,
            on_rows=advance,
        )
    if lists.is_empty():
        raise InputError(expected="documents to rank", got="none that is not left out", path=matrix)
    name = system or matrix.name.removesuffix(".gz").rsplit(".", 1)[0]
    frame = lists.select(pl.lit(name).alias("system"), "query", "document", "score")
    # An infinite score, of a document that is infinitely near, cannot be written; the order says it all.
    runs = runs_from_frame(frame if frame["score"].is_finite().all() else frame.drop("score"))
    if (short := len(wanted) - len(runs.queries)) > 0:
        out.note(f"{short:,} of {len(wanted):,} queries have no documents left and are not in the run")
    _deliver(runs, writing, out)


@contextmanager
def _naming_options() -> Iterator[None]:
    """Let errors about a matrix name the options of the command in place of the arguments of functions."""
    from earmark.errors import InputError

    def spoken(text: str) -> str:
        for in_python, here in _OPTIONS.items():
            text = text.replace(in_python, here)
        return text

    try:
        yield
    except InputError as error:
        hint = None if error.hint is None else spoken(error.hint)
        raise InputError(
            expected=spoken(error.expected), got=error.got, path=error.path, line=error.line, hint=hint
        ) from None


def _read_matrix(path: Path, *, ids: Path | None, queries: Path | None, encoding: str) -> Matrix:
    """Read a matrix whose rows are named by ``ids`` or, if it does not fit otherwise, by ``queries``."""
    from earmark.data.matrices import read_ids, read_matrix
    from earmark.errors import InputError

    if ids is None or queries is None:
        return read_matrix(path, ids=ids, encoding=encoding)
    names = read_ids(queries, encoding=encoding)
    try:
        square = read_matrix(path, ids=ids, encoding=encoding)
    except InputError:
        return read_matrix(path, ids=ids, query_ids=queries, encoding=encoding)
    if len(names) == len(square.row_ids) and not set(names) <= set(square.row_ids):
        return read_matrix(path, ids=ids, query_ids=queries, encoding=encoding)
    return square


def _guess_kind(matrix: Matrix, out: Output) -> Kind:
    import numpy as np

    from earmark.data.nearest_neighbours import guess_kind

    column = {name: index for index, name in enumerate(matrix.column_ids)}
    own = np.array([column.get(name, -1) for name in matrix.row_ids], dtype=np.int64)
    guess = guess_kind(matrix.values, column_of_row=own)
    if guess is None:
        out.note("taken as distances, small is near; say --kind similarity if it is the other way round")
        return "distance"
    plural = "distances, small is near" if guess == "distance" else "similarities, large is near"
    out.note(f"kind guessed from the diagonal: {plural}; name it with --kind")
    return guess


def convert(inputs: Inputs, writing: WritingRuns, out: Output) -> None:
    """Read runs in any format and write all of them to one file in another.

    Scores that contradict the order of the lists are replaced, so that the order is kept.

    Examples
    --------
    earmark runs convert a.run b.run -o both.parquet
    earmark runs convert runs.csv -o runs.tsv
    earmark runs convert runs.tsv -o runs.trec.gz
    """
    _deliver(inputs.load(), writing, out)


def _deliver(runs: Runs, writing: WritingRuns, out: Output) -> None:
    """Write runs to a file, or print them where none is named."""
    from earmark.data.writers import scores_give_order, write_runs
    from earmark.errors import ParameterError

    if writing.output is not None:
        if runs.scores is not None and not scores_give_order(runs):
            out.note("scores are left out: they do not give the order of the lists")
        write_runs(runs, writing.output, format=writing.to)
        out.note(f"wrote {writing.output}: {runs}")
        out.say_notes()
        return
    if writing.to is not None:
        raise ParameterError("--to names the format of a file: name the file with --output")
    out.print_frame(runs.to_polars(), keys=3, formats={"rank": "d"})
