"""Figures of papers, drawn again: panels side by side, and beside every picture a table of what is drawn in it.

A figure is data first: every panel holds the frame that its picture is drawn from, so the picture and the CSV file
cannot differ. Colours and lines are those of :mod:`earmark.plots`, the arrangement of panels is the paper's.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from earmark.data.outputs import make_folder, together
from earmark.data.spreadsheets import escape_formulas
from earmark.pages import write_page
from earmark.plots.style import drawing, figure_of, svg_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUMBERS: dict[str, tuple[str, ...]] = {
    "mtc": ("1", "2", "3"),
    "bias": (
        *("1.1", "1.2", "2.1", "2.2", "2.3"),
        *(f"3.{number}" for number in range(1, 26)),
        *(f"4.{number}" for number in range(1, 10)),
    ),
    "cover": ("1", "2"),
    "adr": ("1",),
    "srbench": ("1",),
}
"""The figures of every paper that are drawn."""

_LETTERS_PER_INCH = 12.3


@dataclass(frozen=True, eq=False)
class Panel:
    """One set of axes.

    Parameters
    ----------
    title : str
        What stands above it, and in the column ``panel`` of the table; empty where a figure has one panel.
    data : polars.DataFrame
        What is drawn.
    draw : callable
        Draws it on axes.
    """

    title: str
    data: pl.DataFrame
    draw: Callable[[Axes], Any]


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of a paper.

    Parameters
    ----------
    number : str
        As the paper counts.
    title : str
        What ours shows, the data that it is drawn from included.
    panels : tuple of Panel
        From left to right, then downwards.
    width, height : float
        In inches.
    legend : int
        In how many columns to put one legend below all panels; 0 leaves their own.
    share_y : bool
        The panels have one scale.
    columns : int, optional
        How many panels stand side by side; all by default.
    """

    number: str
    title: str
    panels: tuple[Panel, ...]
    width: float = 7.2
    height: float = 4.0
    legend: int = 0
    share_y: bool = False
    columns: int | None = None

    @property
    def name(self) -> str:
        """The name of its files without an ending."""
        return stem(self.number)

    @property
    def data(self) -> pl.DataFrame:
        """What is drawn in all panels; ``panel`` says in which."""
        if len(self.panels) == 1:
            return self.panels[0].data
        frames = [panel.data.select(pl.lit(panel.title).alias("panel"), pl.all()) for panel in self.panels]
        return pl.concat(frames, how="diagonal_relaxed")


def stem(number: str) -> str:
    """Return the name of a figure's files without an ending."""
    return f"figure-{number.replace('.', '-')}"


def file_names(paper: str) -> list[str]:
    """Return the files that the figures of a paper are written to."""
    return [f"{stem(number)}.{ending}" for number in NUMBERS[paper] for ending in ("svg", "csv")]


def draw(figure: Figure, paper: str = "") -> list[Axes]:
    """Draw a figure and return its axes, one set for every panel.

    Parameters
    ----------
    figure : Figure
    paper : str
        Authors and year, for the line above the figure.
    """
    with drawing(None, width=figure.width, height=figure.height) as first:
        whole = figure_of(first)
        whole.clear()
        columns = figure.columns or len(figure.panels)
        rows = -(-len(figure.panels) // columns)
        panels = list(np.ravel(whole.subplots(rows, columns, sharey=figure.share_y)))
        for axes, panel in zip(panels, figure.panels, strict=True):
            panel.draw(axes)
            if panel.title:
                axes.set_title(panel.title, fontsize=10, fontweight="normal")
        if figure.share_y:
            for axes in panels[1:]:
                axes.set_ylabel("")
        if figure.legend:
            _one_legend(panels, figure.legend)
        where = f"{paper}, Figure {figure.number}: " if paper else ""
        title = textwrap.fill(f"{where}{figure.title}", int(_LETTERS_PER_INCH * figure.width))
        whole.suptitle(title, x=0.01, ha="left", fontsize=9.5, fontweight="bold")
    return panels


def _one_legend(panels: list[Axes], columns: int) -> None:
    """Put what the legends of all panels say below the figure, once."""
    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
        if (own := axes.get_legend()) is not None:
            own.remove()
    figure_of(panels[0]).legend(
        list(entries.values()), list(entries), loc="outside lower center", ncols=columns, handlelength=2.6
    )


def write(
    figures: Iterable[Figure], folder: Path, paper: str, advance: Callable[[int], None] | None = None
) -> list[Path]:
    """Write figures into a folder, each as SVG and as CSV; all of them or none.

    Parameters
    ----------
    figures : iterable of Figure
        May compute them one by one.
    folder : Path
        Made if it is not there.
    paper : str
        Authors and year.
    advance : callable, optional
        Told after every figure that one more is done.

    Returns
    -------
    list of Path

    Raises
    ------
    InputError
        If the folder cannot be made, or a file cannot be written.
    MissingLibraryError
        Where matplotlib is not installed.
    """
    written = []
    with together():
        make_folder(folder)
        for name, text in _texts(figures, paper, advance):
            write_page(text, folder / name)
            written.append(folder / name)
    return written


def _texts(figures: Iterable[Figure], paper: str, advance: Callable[[int], None] | None) -> Iterator[tuple[str, str]]:
    for figure in figures:
        yield f"{figure.name}.svg", svg_file(draw(figure, paper)[0])
        yield f"{figure.name}.csv", escape_formulas(figure.data).write_csv()
        if advance is not None:
            advance(1)
