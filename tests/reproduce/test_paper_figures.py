"""Every figure of the papers is drawn, and what is drawn is what its table says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh

from earmark.cli import reproduce as command
from earmark.reproduce import (
    buckers2021_figures,
    buckers2021_models,
    buckers2021_scores,
    figures,
    serra2007_figures,
    trees,
    urbano2013_figures,
)
from earmark.reproduce import stupar2013 as srbench
from earmark.reproduce import typke2006 as adr
from earmark.reproduce.figures import NUMBERS, Figure, Panel

# Where a table has what is drawn upwards, or to the side.
HEIGHTS = ("y", "count", "estimated", "density", "mean_confidence", "accuracy", "dynamic_recall", "answers", "label")


def without_data() -> dict[str, list[Figure]]:
    return {
        "cover": list(serra2007_figures.figures()),
        "adr": list(adr.figures()),
        "srbench": list(srbench.figures()),
    }


def drawn(axes: Axes) -> Iterator[float]:
    """Return all heights that are drawn under a name, and those of bars and cells."""
    lying = [bars for bars in axes.containers if bars.orientation == "horizontal"]
    if lying:
        yield from (bar.get_width() for bars in lying for bar in bars)
        return
    for line in axes.get_lines():
        if not str(line.get_label()).startswith("_"):
            yield from np.asarray(line.get_ydata(), dtype=float)
    for bars in axes.containers:
        yield from (bar.get_height() for bar in bars)
    for mesh in axes.collections:
        if isinstance(mesh, QuadMesh):
            yield from np.ma.compressed(np.ma.masked_invalid(mesh.get_array()))


def check(panel: Panel, axes: Axes) -> None:
    """Compare what is drawn with the table."""
    heights = [name for name in HEIGHTS if name in panel.data.columns]
    assert heights, panel.data.columns
    named = np.array(list(drawn(axes)))
    told = panel.data[heights[0]].cast(pl.Float64).drop_nulls().to_numpy()
    np.testing.assert_allclose(np.sort(named), np.sort(told), rtol=1e-9)


def check_all(paper: str, found: list[Figure]) -> None:
    assert sorted(figure.number for figure in found) == sorted(NUMBERS[paper])
    for figure in found:
        panels = figures.draw(figure, "Somebody 2000")
        assert len(panels) == len(figure.panels)
        if figure.number == "1.1":
            continue
        for panel, axes in zip(figure.panels, panels, strict=True):
            check(panel, axes)


def test_figures_that_need_no_data() -> None:
    for paper, found in without_data().items():
        check_all(paper, found)


def test_figures_of_urbano_and_schedl(mirex: Path) -> None:
    check_all("mtc", list(urbano2013_figures.figures(mirex, seeds=1, samples=5000)))


@pytest.fixture(scope="module")
def thesis(mirex: Path) -> dict[str, Figure]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "TREES", 2)
        patch.setattr(buckers2021_models, "SAMPLES", 50)
        patch.setattr(buckers2021_scores, "SAMPLES", 20)
        return {figure.number: figure for figure in buckers2021_figures.figures(mirex, repeats=1)}


def test_figures_of_buckers(thesis: dict[str, Figure]) -> None:
    check_all("bias", list(thesis.values()))


def test_the_overview_tells_its_numbers(thesis: dict[str, Figure]) -> None:
    figure = thesis["1.1"]
    (axes,) = figures.draw(figure)
    words = " ".join(text.get_text() for text in axes.texts)
    for name in ("judged", "predicted"):
        for value in figure.data[name]:
            assert f"{value:.2f}" in words
        assert f"{figure.data[name].mean():.3f}" in words


def test_worked_examples_of_buckers(thesis: dict[str, Figure]) -> None:
    assert thesis["2.1"].data["score"].to_list() == pytest.approx([0.4] * 5)
    own = {(series, x): y for series, x, y in thesis["3.4"].data.iter_rows()}
    assert own["aART, original", "Clocks"] == pytest.approx(2.5 / 3)
    assert own["aART, excluding self", "Clocks"] == pytest.approx(1.0)
    assert own["aART, excluding self", "third song"] == pytest.approx(0.75)


def test_normalised_scores_are_too_high_and_sampling_mends_it(thesis: dict[str, Figure]) -> None:
    data = thesis["4.7"].data.with_columns(error=pl.col("estimated") - pl.col("actual"))
    means = data.group_by("panel", "group").agg(pl.col("error").mean())
    error = {(panel, group): value for panel, group, value in means.iter_rows()}
    for panel in ("Broad, derived", "Fine"):
        for measure in ("NDCG@5", "RBP@5"):
            assert error[panel, f"{measure}, expected value"] > 0.1
            assert abs(error[panel, f"{measure}, sampling"]) < 0.06


def test_files_are_written_together_with_their_tables(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "figures"
    for paper, found in without_data().items():
        done: list[int] = []
        written = figures.write(found, folder / paper, "Somebody 2000", done.append)
        assert [path.name for path in written] == figures.file_names(paper)
        assert done == [1] * len(found)
        for figure in found:
            ElementTree.parse(folder / paper / f"{figure.name}.svg")
            table = pl.read_csv(folder / paper / f"{figure.name}.csv")
            assert table.columns == figure.data.columns
            for name, kind in figure.data.schema.items():
                if kind.is_numeric():
                    np.testing.assert_allclose(table[name].cast(pl.Float64), figure.data[name].cast(pl.Float64))


def test_a_figure_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def failing() -> Iterator[Figure]:
        yield next(iter(adr.figures()))
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        figures.write(failing(), tmp_path / "out", "Somebody 2000")
    assert not (tmp_path / "out").exists()


def test_the_command_knows_all_papers() -> None:
    assert set(NUMBERS) == set(command.Paper.__args__)  # type: ignore[attr-defined]
