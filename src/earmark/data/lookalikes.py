"""Files that would be read as something they are not: what shows it, and what to do about it.

A layout without a header says by its place alone what a column means, so a file of another program may fit it and mean
something else: qrels with subtopics, ``query document rank`` in the place of ``system query document``, distances as
scores. Each check here asks for evidence that no file of the right kind shows, or nearly none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from earmark.data.files import words
from earmark.data.named_columns import is_number
from earmark.data.run_columns import RunColumns
from earmark.data.tables import Table
from earmark.errors import InputError

# How many steps from one rank to the next have to go the wrong way.
_FEW_STEPS = 10
# How many rows an unknown header stands above, and a column of gains has, at least.
_FEW_ROWS = 5
_MOST_GAINS = 11
_NOT_PARTS = ("0", "q0")


def refuse_quotes(line: str, path: Path, number: int) -> None:
    """Refuse a line without a header whose texts are all in quotes, which would be part of the ids."""
    cells = words(line) if "\t" not in line else line.split("\t")
    texts = [cell for cell in cells if not is_number(cell)]
    if texts and all(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in texts):
        hint = "write ids without quotes (in R: quote = FALSE), or name the columns in a first line"
        raise InputError(expected="ids without quotes", got=repr(line[:60]), path=path, line=number, hint=hint)


def refuse_header(lines: Sequence[str], path: Path, number: int) -> None:
    """Refuse a first line of three columns whose cells stand nowhere else, above rows that share theirs."""
    rows = [line.split("\t") if "\t" in line else words(line) for line in lines]
    if len(rows) <= _FEW_ROWS or any(len(row) != len(rows[0]) for row in rows):
        return
    first, *others = (list(column) for column in rows)
    if any(any(character.isdigit() for character in cell) for cell in first):
        return
    columns = list(zip(*others, strict=True))
    if any(cell in column for cell, column in zip(first, columns, strict=True)):
        return
    systems, queries = columns[0], columns[1]
    if all(systems.count(name) > 1 for name in systems) and all(queries.count(name) > 1 for name in queries):
        hint = "call the columns system, query and document, or leave the first line out"
        got = f"what looks like a header ({' '.join(first)[:60]!r})"
        raise InputError(expected="system query document", got=got, path=path, line=number, hint=hint)


def refuse_reversed_lines(lines: Sequence[str], path: Path) -> None:
    """Refuse the first lines of a TREC run whose scores fall where the ranks say that documents get better.

    They are distances, or ranks and scores have changed places.
    """
    rows = [words(line, cuts=5) for line in lines]
    if not all(len(row) == 6 and is_number(row[3]) and is_number(row[4]) for row in rows):
        return
    _refuse_reversed(
        [(row[0], row[5]) for row in rows], [float(row[3]) for row in rows], [float(row[4]) for row in rows], path
    )


def refuse_columns(columns: RunColumns, path: Path, *, by_score: bool) -> None:
    """Refuse rows of a run that are judgments, or ranks without systems, or whose scores are distances."""
    if columns.score is None and columns.rank is None:
        _refuse_numbers_as_documents(columns, path)
    elif columns.score is not None and columns.rank is not None and by_score:
        head = slice(0, 1000)
        of_list = list(
            zip(columns.query.spelt_out()[head].to_list(), columns.system.spelt_out()[head].to_list(), strict=True)
        )
        _refuse_reversed(of_list, columns.rank[head].tolist(), columns.score[head].tolist(), path)


def _refuse_reversed(of_list: Sequence[object], ranks: Sequence[float], scores: Sequence[float], path: Path) -> None:
    rows = zip(of_list, ranks, scores, strict=True)
    steps = [
        (next_rank - rank, next_score - score)
        for (one, rank, score), (other, next_rank, next_score) in pairwise(rows)
        if one == other
    ]
    error = partial(InputError, expected="larger scores for better documents", path=path)
    if len(steps) < _FEW_STEPS:
        return
    if any(rank % 1 for rank in ranks) and all(score == 1 for _, score in steps):
        raise error(
            got="scores where ranks are and ranks where scores are",
            hint="the columns are query Q0 document rank score tag",
        )
    if min(rank * score for rank, score in steps) >= 0 and sum(rank * score > 0 for rank, score in steps) >= _FEW_STEPS:
        raise error(
            got="ranks and scores that contradict each other in every list: the best ranks have the smallest scores",
            hint="--order rank trusts the ranks; for distances, write them with a minus sign as scores",
        )


def _refuse_numbers_as_documents(columns: RunColumns, path: Path) -> None:
    """Refuse three columns that are ``query document gain`` or ``query document rank``: lists of a single number."""
    rows = columns.rows
    if rows < _FEW_ROWS or columns.query.starts.size < rows:
        return
    numbers = columns.document.cast(pl.Float64, strict=False)
    if numbers.null_count():
        return
    queries, systems = columns.query.ids.n_unique(), columns.system.ids.n_unique()
    values = np.sort(numbers.to_numpy())
    are_ranks = systems == 1 and np.array_equal(values, np.arange(1, rows + 1))
    are_gains = rows > 2 * _MOST_GAINS and np.unique(values).size <= _MOST_GAINS and values[-1] < _MOST_GAINS
    # Systems answer the same queries; the documents of one query are mostly not those of another.
    are_apart = systems > 1 and rows > 2 * _FEW_ROWS and queries > 0.9 * rows
    if are_ranks or are_gains or are_apart:
        raise InputError(
            expected="system query document, in the order of ranks",
            got=f"lists of a single number, such as '{columns.document[0]}': query document and a gain or a rank?",
            path=path,
            hint="judgments belong to --judgments; for a run, write a first line that names the columns: "
            "query,document,rank",
        )


def refuse_parts(table: Table, part: pl.Series) -> None:
    """Refuse qrels that judge a document several times for a query, for parts of it: subtopics, rounds.

    Parameters
    ----------
    table : Table
        Columns ``query`` and ``document``.
    part : polars.Series
        The column that an ordinary judgment leaves unused.
    """
    text = part.cast(pl.String).fill_null("").rename("part")
    frame = table.frame.select("query", "document").with_columns(text)
    documents = frame["document"].unique()
    if documents.len() == 1 and text.n_unique() > 1 and documents[0].lower() in _NOT_PARTS:
        raise InputError(
            expected="query iteration document gain",
            got=f"the same document '{documents[0]}' in every row: documents and iterations in each other's place?",
            path=table.path,
            hint="the columns are query iteration document gain, where the iteration is mostly 0",
        )
    parts = frame.select((pl.col("part").n_unique().over("query", "document") > 1).alias("several"))["several"]
    if not parts.any() or text.str.to_lowercase().is_in(_NOT_PARTS).all():
        return
    row = int(parts.arg_true()[0])
    query, document = frame["query"][row], frame["document"][row]
    several = frame.filter((pl.col("query") == query) & (pl.col("document") == document))["part"].unique().sort()
    raise table.error(
        row,
        expected="one judgment of every document for a query",
        got=f"several of '{document}' for '{query}', for subtopics (or rounds) {', '.join(several.head(4))}",
        hint="measures of diversity are not computed: keep one row for each query and document, for example its "
        "highest gain, or join query and subtopic to a query of its own",
    )


def refuse_mostly_repeated(table: Table, replaced: int) -> None:
    """Refuse judgments of which two thirds repeat an item, where nothing says who gave them or when.

    Parameters
    ----------
    table : Table
        All rows.
    replaced : int
        How many of them judge an item that another row judges.
    """
    frame = table.frame
    if {"assessor", "time", "sequence"} & set(frame.columns) or 3 * replaced < 2 * frame.height:
        return
    row = int((~frame.select(pl.struct("query", "document").is_first_distinct()).to_series()).arg_true()[0])
    if frame.select(pl.struct("query", "document", "gain").n_unique()).item() == frame.height - replaced:
        # The same rows again say nothing new.
        return
    raise table.error(
        row,
        expected="one judgment of every document for a query",
        got=f"'{frame['document'][row]}' again for '{frame['query'][row]}', as {replaced:,} of {frame.height:,} rows",
        hint="several assessors? name them in a column 'assessor'; else see whether columns have changed places",
    )


def refuse_ranks_as_gains(table: Table) -> None:
    """Refuse gains that number the documents of every query from 1: they are ranks, of which the lowest is the best."""
    keys = [name for name in ("query", "assessor") if name in table.frame.columns]
    lists = table.frame.group_by(keys).agg(
        pl.len().alias("rows"),
        pl.col("gain").n_unique().alias("values"),
        pl.col("gain").min().alias("least"),
        pl.col("gain").max().alias("most"),
    )
    counts_up = (pl.col("least") == 1) & (pl.col("most") == pl.col("rows")) & (pl.col("values") == pl.col("rows"))
    if lists.height < _FEW_ROWS or lists["rows"].min() == lists["rows"].max() == 1:
        return
    if lists.select(counts_up.all()).item():
        raise InputError(
            expected="gains",
            got="what looks like ranks: for every query 1, 2, … up to the number of its documents, each once",
            path=table.path,
            hint="where 1 is the best, give the file as --groups; if they are gains, name the scale, for example "
            f"--scale 0..{int(table.frame['gain'].to_numpy().max())}",
        )
