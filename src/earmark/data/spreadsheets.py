r"""Tables that people open in a spreadsheet: text that would be computed gets a mark, which the readers take off again.

A spreadsheet takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break for a formula, wherever
the text came from. Such a text is written with an apostrophe before it, and so is a text that already begins with
apostrophes and one of these; what is read loses one apostrophe in front of them. So every text comes back as it was.
Numbers are left alone, and a text such as ``'tis`` has no mark and loses nothing.

All tables of text whose columns have names are written and read this way: CSV and TSV. Runs and judgments without a
header (TREC, three columns), Parquet and JSON hold text as it is.

>>> import polars
>>> polars.DataFrame({"document": ["=1+1", "song"], "gain": [-1, 2]}).pipe(escape_formulas).write_csv()
"document,gain\n'=1+1,-1\nsong,2\n"
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

_MARK = "'"
_FORMULA = r"^'*[=+\-@\t\r\n]"
_MARKED = r"^'+[=+\-@\t\r\n]"


def escape_formulas(frame: pl.DataFrame, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return a table whose texts no spreadsheet takes for formulas.

    Parameters
    ----------
    frame : polars.DataFrame
    columns : sequence of str, optional
        Where to look; by default in all columns of text.
    """
    return frame.with_columns(
        pl.when(pl.col(name).str.contains(_FORMULA)).then(pl.lit(_MARK) + pl.col(name)).otherwise(name).alias(name)
        for name in columns or frame.columns
        if frame[name].dtype == pl.String
    )


def restore_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table as it was before :func:`escape_formulas`."""
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    # Nearly no file has a mark, and to find that out costs little.
    marked = frame.select(pl.col(texts).str.starts_with(_MARK).any()).row(0) if texts else ()
    return frame.with_columns(
        pl.when(pl.col(name).str.contains(_MARKED)).then(pl.col(name).str.slice(1)).otherwise(name).alias(name)
        for name, some in zip(texts, marked, strict=True)
        if some
    )
