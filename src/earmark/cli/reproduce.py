"""``earmark reproduce``: papers' tables and ours, side by side."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from rich.text import Text

from earmark.cli.command import argument, option
from earmark.cli.output import NOTHING, Column, Output
from earmark.errors import InputError, ParameterError

if TYPE_CHECKING:
    import polars as pl

    from earmark.reproduce.comparison import Comparison, Row

Paper = Literal["mtc", "bias", "cover", "adr", "srbench"]

_MIREX, _MELODIES = "mirex-ams-2011", "melody-preferences-2010"
_VERDICT = {True: "yes", False: "no", None: NOTHING}


def reproduce(
    paper: Annotated[Paper, argument("PAPER")],
    out: Output,
    data: Annotated[Path | None, option("DIR")] = None,
    seeds: Annotated[int | None, option("N", min=1)] = None,
) -> None:
    """Compute a paper's tables again and show its numbers beside ours.

    Where the paper contains an error, the row says why. Where our numbers come from other data than the paper's, both
    are shown and not compared.

    Parameters
    ----------
    paper
        mtc: minimal test collections for audio music similarity (Urbano and Schedl 2013). bias: overconfidence and bias
        in low-cost evaluation (Buckers 2021). cover: measures for cover song identification (Serrà 2007). adr:
        average dynamic recall on partially ordered ground truth (Typke and others 2006). srbench: soundtrack
        recommendation judged by preferences (Stupar and Michel 2013), beside a simulated benchmark of its size.
    data
        The folder of the MIREX 2011 collection, which mtc and bias are computed on: runs.txt, judgments.txt and
        metadata.txt. When omitted, mirex-ams-2011 in the folder that the environment variable EARMARK_DATA names. For
        adr, the folder of the melody preferences of 2010 (judgments.csv and MTurk.qrel), or melody-preferences-2010
        there; without it adr shows the examples of the paper alone.
    seeds
        How often mtc, bias and srbench repeat what is drawn at random; ours is then the median. When omitted, 20.

    Examples
    --------
    earmark reproduce cover
    earmark reproduce adr --format csv
    earmark reproduce mtc --data mirex-ams-2011 --seeds 100
    earmark reproduce srbench --seeds 5
    """
    import polars as pl

    tables = _tables(paper, data, seeds)
    if not out.for_people:
        out.rows(pl.concat([_rows(table) for table in tables]))
        return
    for table in tables:
        _show(table, out)


def _tables(paper: Paper, data: Path | None, seeds: int | None) -> list[Comparison]:
    if paper == "cover":
        if data is not None or seeds is not None:
            raise ParameterError(
                "cover is computed from what the paper prints: --data is for mtc, bias and adr, --seeds for mtc, bias "
                "and srbench"
            )
        from earmark.reproduce import serra2007 as cover

        return cover.tables()
    if paper == "adr":
        if seeds is not None:
            raise ParameterError("adr draws nothing at random: --seeds is for mtc, bias and srbench")
        from earmark.reproduce import typke2006 as adr

        return adr.tables(data or _melodies())
    if paper == "srbench":
        if data is not None:
            raise ParameterError("srbench is simulated, its data are not available: --data is for mtc, bias and adr")
        from earmark.reproduce import stupar2013 as srbench

        return srbench.tables(seeds=seeds or srbench.SEEDS)
    from earmark.reproduce import buckers2021 as bias
    from earmark.reproduce import urbano2013 as mtc

    folder = data or _data_folder()
    if paper == "mtc":
        return mtc.tables(folder, seeds=seeds or mtc.SEEDS)
    return bias.tables(folder, seeds=seeds or bias.SEEDS)


def _melodies() -> Path | None:
    """Return the folder of the melody preferences, where there is one: the examples of the paper need none."""
    folder = Path(os.environ.get("EARMARK_DATA", "")) / _MELODIES
    return folder if os.environ.get("EARMARK_DATA") and folder.is_dir() else None


def _data_folder() -> Path:
    folder = os.environ.get("EARMARK_DATA")
    if not folder:
        raise InputError(
            expected="the folder of the MIREX 2011 collection (runs.txt, judgments.txt and metadata.txt)",
            got="none",
            hint=f"give it with --data, or set EARMARK_DATA to the folder that holds {_MIREX}",
        )
    return Path(folder) / _MIREX


def _rows(table: Comparison) -> pl.DataFrame:
    """Return the table's rows with our numbers in full."""
    import polars as pl

    values = [row.ours if isinstance(row.ours, float) else None for row in table.rows]
    return table.to_polars().with_columns(value=pl.Series(values, dtype=pl.Float64))


def _show(table: Comparison, out: Output) -> None:
    out.show(Text(table.title, style="bold"))
    names = list(dict.fromkeys(row.name for row in table.rows))
    cases = list(dict.fromkeys(row.column for row in table.rows))
    cells = {(row.name, row.column): row for row in table.rows}
    if len(names) > 1 and len(cases) > 1 and len(cells) == len(table.rows) == len(names) * len(cases):
        _show_grid(names, cases, cells, out)
    else:
        _show_list(table, out)
    notes = [*table.notes, *_errata(table), _summary(table)]
    out.show(Text("\n".join(note for note in notes if note), style="dim"), "")


def _show_grid(names: list[str], cases: list[str], cells: dict[tuple[str, str], Row], out: Output) -> None:
    """Show a table as the paper does, every line of it followed by ours."""
    from earmark.reproduce.comparison import shown

    labels = [label for name in names for label in (Text(name), Text("  ours", style="dim"))]
    columns = []
    for case in cases:
        column: list[str | Text] = []
        for name in names:
            row = cells[name, case]
            style = "dim" if row.agrees is None else "green" if row.agrees else "yellow" if row.erratum else "bold red"
            mark = "" if row.agrees is not False else "*" if row.erratum else "!"
            column += [row.paper or NOTHING, Text(mark + shown(row), style=style)]
        columns.append(Column(case, column))
    out.show_columns([Column("paper", labels, numeric=False)], columns)


def _show_list(table: Comparison, out: Output) -> None:
    from earmark.reproduce.comparison import shown

    rows = table.rows
    columns = [Column("what", [row.name for row in rows], numeric=False)]
    if any(row.column for row in rows):
        columns.append(Column("of", [row.column for row in rows], numeric=False))
    if any(row.paper is not None for row in rows):
        columns.append(Column("paper", [row.paper or NOTHING for row in rows]))
    columns.append(Column("ours", [shown(row) for row in rows]))
    if any(row.agrees is not None for row in rows):
        columns.append(Column("agrees", [_VERDICT[row.agrees] for row in rows], numeric=False))
    if any(row.note for row in rows):
        columns.append(Column("note", [row.note for row in rows], numeric=False))
    out.show_columns(columns[:1], columns[1:])


def _errata(table: Comparison) -> list[str]:
    """Say once for every reason why values of the paper are not what they should be."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        if row.erratum:
            reasons.setdefault((row.name, row.erratum), []).append(row.column)
    return [f"* {name} {', '.join(filter(None, cases))}: {why}." for (name, why), cases in reasons.items()]


def _summary(table: Comparison) -> str:
    printed = [row for row in table.rows if row.agrees is not None]
    if not printed:
        return ""
    agreed = sum(row.agrees is True for row in printed)
    known = sum(row.agrees is False and bool(row.erratum) for row in printed)
    text = f"{agreed} of {len(printed)} values agree"
    if known:
        text += f"; {known} do not because the paper is wrong or cannot be recomputed (*)"
    if len(printed) - agreed - known:
        text += f"; {len(printed) - agreed - known} differ (!)"
    return f"{text}."
