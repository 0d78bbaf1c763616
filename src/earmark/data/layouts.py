"""The layouts of headerless runs and judgments, told by the words of their first lines.

White space separates the columns of TREC files, whatever it is, so words are counted first. A table of three columns
with tabs between them may have ids with blanks, and then as many words as a TREC file. Such lines are TREC only if all
of them look like it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

from earmark.data.files import data_lines, first_data_line, words
from earmark.data.lookalikes import refuse_header, refuse_quotes, refuse_reversed_lines
from earmark.data.named_columns import is_number
from earmark.data.runs import Order
from earmark.data.table_files import Layout
from earmark.errors import InputError

TREC_RUN = Layout(
    {"query": False, "Q0": False, "document": False, "rank": False, "score": True, "tag": False},
    open_ended=True,
    comments=True,
    unused=("Q0", "rank"),
)
TREC_RUN_BY_RANK = replace(TREC_RUN, unused=("Q0",))
TREC_QRELS = Layout(
    {"query": False, "iteration": False, "document": False, "gain": True},
    comments=True,
    unused=("iteration",),
)
THREE_OF_RUN = Layout({"system": False, "query": False, "document": False}, comments=True)
THREE_OF_JUDGMENTS = Layout({"query": False, "document": False, "gain": True}, comments=True)

# How many lines have to look like TREC's before two tabs do not mean three columns.
_LOOKED_AT = 100
_UNUSED_COLUMN = ("q0", "0")


def run_layout(path: Path, encoding: str, order: Order) -> Layout:
    """Tell a TREC run from a table of three columns.

    Raises
    ------
    InputError
        If the first line has too few columns for either.
    """
    number, line = first_data_line(path, encoding=encoding, comments=True)
    refuse_quotes(line, path, number)
    count, trec = len(words(line)), TREC_RUN_BY_RANK if order == "rank" else TREC_RUN
    tabs = line.count("\t") == 2
    if count == 3 or (tabs and not (count >= 6 and _all_trec_runs(path, encoding))):
        refuse_header(_first_lines(path, encoding), path, number)
        return replace(THREE_OF_RUN, separator="\t" if tabs else " ")
    if count < 6:
        raise InputError(
            expected="6 columns (query Q0 document rank score tag) or 3 (system query document)",
            got=f"{count} ({line[:60]!r})",
            path=path,
            line=number,
        )
    if order == "score":
        refuse_reversed_lines(_first_lines(path, encoding), path)
    return trec


def judgments_layout(path: Path, encoding: str) -> Layout:
    """Tell TREC qrels from a table of three columns."""
    number, line = first_data_line(path, encoding=encoding, comments=True)
    refuse_quotes(line, path, number)
    cells = words(line)
    count = len(cells)
    if count == 6 and is_number(cells[3]) and is_number(cells[4]):
        got, hint = (
            f"what looks like a run ({line[:60]!r})",
            "judgments follow --judgments, runs stand without an option",
        )
        raise InputError(expected=TREC_QRELS.description, got=got, path=path, line=number, hint=hint)
    if line.count("\t") == 2:
        return TREC_QRELS if count == 4 and _all_qrels(path, encoding) else replace(THREE_OF_JUDGMENTS, separator="\t")
    return THREE_OF_JUDGMENTS if count == 3 else TREC_QRELS


def _all_trec_runs(path: Path, encoding: str) -> bool:
    lines = _first_lines(path, encoding)
    cells = [words(line) for line in lines]
    if not all(len(row) >= 6 and row[3].isdecimal() and is_number(row[4]) for row in cells):
        return False
    return _have_unused_column(cells) or any(line.count("\t") != 2 for line in lines)


def _all_qrels(path: Path, encoding: str) -> bool:
    lines = _first_lines(path, encoding)
    cells = [words(line) for line in lines]
    if not all(len(row) == 4 and is_number(row[3]) for row in cells):
        return False
    return _have_unused_column(cells) or not all(_ends_in_gain(line) for line in lines)


def _first_lines(path: Path, encoding: str) -> list[str]:
    return [line for _, line in islice(data_lines(path, encoding=encoding, comments=True), _LOOKED_AT)]


def _have_unused_column(cells: list[list[str]]) -> bool:
    return all(row[1].lower() in _UNUSED_COLUMN for row in cells)


def _ends_in_gain(line: str) -> bool:
    """Tell whether a line has three columns between tabs, the last of them a number."""
    columns = line.split("\t")
    return len(columns) == 3 and is_number(columns[2])
