"""``earmark reproduce``: papers' tables and ours, side by side, and papers' figures drawn again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from rich.text import Text

from earmark.cli.command import argument, option
from earmark.cli.output import NOTHING, Column, Output
from earmark.errors import InputError, ParameterError

if TYPE_CHECKING:
    import polars as pl

    from earmark.reproduce.comparison import Comparison, Row
    from earmark.reproduce.figures import Figure

Paper = Literal["mtc", "bias", "cover", "adr", "srbench"]

_MIREX, _MELODIES = "mirex-ams-2011", "melody-preferences-2010"
_VERDICT = {True: "yes", False: "no", None: NOTHING}


def reproduce(
    paper: Annotated[Paper, argument("PAPER")],
    out: Output,
    data: Annotated[Path | None, option("DIR")] = None,
    seeds: Annotated[int | None, option("N", min=1)] = None,
    figures: Annotated[Path | None, option("DIR")] = None,
) -> None:
    """Compute a paper's tables again and show its numbers beside ours.

    Where the paper contains an error, the row says why. Where our numbers come from other data than the paper's, both
    are shown and not compared. Where ours was chosen to equal the paper's, it is marked as given: an input, no finding.

    Parameters
    ----------
    paper
        mtc: minimal test collections for audio music similarity (Urbano and Schedl 2013). bias: overconfidence and bias
        in low-cost evaluation (Buckers 2021). cover: measures for cover song identification (Serrà 2007). adr:
        average dynamic recall on partially ordered ground truth (Typke and others 2006). srbench: soundtrack
        recommendation judged by preferences (Stupar and Michel 2013), beside a simulated benchmark of its size.
    data
        The folder that holds the collections mirex-ams-2011 and melody-preferences-2010, or one of them itself. When
        omitted, the folder that the environment variable EARMARK_DATA names. mtc and bias are computed on the MIREX
        2011 collection (runs.txt, judgments.txt and metadata.txt) and need it; adr makes groups of the melody
        preferences (judgments.csv and MTurk.qrel) where they are there; cover and srbench read nothing.
    seeds
        How often mtc, bias and srbench repeat what is drawn at random; ours is then the median. When omitted, 20.
    figures
        Draw the paper's figures into this folder instead of showing tables: an SVG file of each, and beside it a CSV
        file of what is drawn. Figures of several years are drawn for 2011. Of figures, seeds repeats draws too, but no
        more than 5 times, which is also the default.

    Examples
    --------
    earmark reproduce cover
    earmark reproduce adr --format csv
    earmark reproduce mtc --data mirex-ams-2011 --seeds 100
    earmark reproduce srbench --seeds 5
    earmark reproduce bias --data mirex-ams-2011 --figures bias
    """
    import polars as pl

    if figures is not None:
        _draw(paper, data, seeds, figures, out)
        return
    tables = _tables(paper, data, seeds, out)
    if not out.for_people:
        out.rows(pl.concat([_rows(table) for table in tables]))
        return
    for table in tables:
        _show(table, out)


def _tables(paper: Paper, data: Path | None, seeds: int | None, out: Output | None = None) -> list[Comparison]:
    _check(paper, data, seeds)
    if paper == "cover":
        from earmark.reproduce import serra2007 as cover

        return cover.tables()
    if paper == "adr":
        from earmark.reproduce import typke2006 as adr

        melodies = _folder(data, _MELODIES, "MTurk.qrel")
        if melodies is None and out is not None:
            out.note(f"no melody preferences of 2010 ({_MELODIES}) are there: the examples of the paper alone")
        return adr.tables(melodies)
    if paper == "srbench":
        from earmark.reproduce import stupar2013 as srbench

        return srbench.tables(seeds=seeds or srbench.SEEDS)
    from earmark.reproduce import buckers2021 as bias
    from earmark.reproduce import urbano2013 as mtc

    folder = _mirex(data)
    if paper == "mtc":
        return mtc.tables(folder, seeds=seeds or mtc.SEEDS)
    return bias.tables(folder, seeds=seeds or bias.SEEDS)


def _check(paper: Paper, data: Path | None, seeds: int | None) -> None:
    """Refuse what makes no sense for a paper."""
    if data is not None and not data.is_dir():
        raise InputError(expected="a folder of collections", got="none", path=data, hint="see --data")
    if seeds is not None and paper in ("cover", "adr"):
        raise ParameterError(f"{paper} draws nothing at random: --seeds is for mtc, bias and srbench")


def _draw(paper: Paper, data: Path | None, seeds: int | None, folder: Path, out: Output) -> None:
    """Draw the figures of a paper, and say where they are."""
    import polars as pl

    from earmark.plots.style import need_matplotlib
    from earmark.reproduce.figures import NUMBERS, write

    need_matplotlib()
    _check(paper, data, seeds)
    name, drawn = _figures(paper, data, seeds)
    with out.progress(len(NUMBERS[paper]), "drawing") as advance:
        written = write(drawn, folder, name, advance)
    frame = pl.DataFrame({"file": [str(path) for path in written]})
    out.print_frame(frame, title=f"{name}: {len(NUMBERS[paper])} figures")


def _figures(paper: Paper, data: Path | None, seeds: int | None) -> tuple[str, Iterator[Figure]]:
    """Return authors and year, and the figures, which are made one by one."""
    if paper == "cover":
        from earmark.reproduce import serra2007 as cover
        from earmark.reproduce import serra2007_figures

        return cover.PAPER, serra2007_figures.figures()
    if paper == "adr":
        from earmark.reproduce import typke2006 as adr

        return adr.PAPER, adr.figures()
    if paper == "srbench":
        from earmark.reproduce import stupar2013 as srbench
        from earmark.reproduce import stupar2013_counts

        return stupar2013_counts.PAPER, srbench.figures()
    folder = _mirex(data)
    if paper == "mtc":
        from earmark.reproduce import urbano2013_errors, urbano2013_figures

        return urbano2013_errors.PAPER, urbano2013_figures.figures(folder, seeds=seeds or urbano2013_figures.CAMPAIGNS)
    from earmark.reproduce import buckers2021_bias, buckers2021_figures

    return buckers2021_bias.PAPER, buckers2021_figures.figures(folder, repeats=seeds or buckers2021_figures.REPEATS)


def _folder(data: Path | None, name: str, file: str) -> Path | None:
    """Return the folder of a collection: the one that is named like it, or the one given if it has its file."""
    root = data or (Path(os.environ["EARMARK_DATA"]) if os.environ.get("EARMARK_DATA") else None)
    if root is None:
        return None
    if (root / name).is_dir():
        return root / name
    return root if (root / file).is_file() else None


def _mirex(data: Path | None) -> Path:
    found = _folder(data, _MIREX, "runs.txt")
    if found is None:
        root = data or os.environ.get("EARMARK_DATA")
        raise InputError(
            expected=f"the MIREX 2011 collection (runs.txt, judgments.txt and metadata.txt), or a folder with {_MIREX}",
            got="neither" if root else "none",
            path=root or None,
            hint="give it with --data, or set EARMARK_DATA",
        )
    return found


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
    if any(row.agrees is not None or row.how == "given" for row in rows):
        said = ["given" if row.how == "given" else _VERDICT[row.agrees] for row in rows]
        columns.append(Column("agrees", said, numeric=False))
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
        chosen = sum(row.how == "given" for row in table.rows)
        return f"{chosen} values are given: chosen so that they come out as the paper's." if chosen else ""
    agreed = sum(row.agrees is True for row in printed)
    known = sum(row.agrees is False and bool(row.erratum) for row in printed)
    text = f"{agreed} of {len(printed)} values agree"
    if known:
        text += f"; {known} do not because the paper is wrong or cannot be recomputed (*)"
    if len(printed) - agreed - known:
        text += f"; {len(printed) - agreed - known} differ (!)"
    return f"{text}."
