"""Pictures show what their tables say, and so do the tables on the page that they stand on."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import polars as pl
import pytest
from benchmarks.honesty import coverage

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [DOCS / "index.md", DOCS / "honesty.md", *sorted(DOCS.glob("papers/*.md"))]
IMAGES = sorted(DOCS.glob("images/*.svg"))
SHOWN = re.compile(r"^!\[([^\]]*)\]\((\S+\.svg)\)\n\n\*([^\n]*)", flags=re.MULTILINE)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module("generate_figures")
    finally:
        sys.path.remove(str(DOCS))


@pytest.fixture
def copy(script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the tables and the pictures, which the script takes for its own."""
    for name in ("data", "images"):
        shutil.copytree(DOCS / name, tmp_path / name)
    monkeypatch.setattr(script, "IMAGES", tmp_path / "images")
    monkeypatch.setattr(sys.modules["figures"], "DATA", tmp_path / "data")
    return tmp_path


@pytest.fixture
def run(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str | None]:
    """Return what calls the script and tells what it ends with: nothing, or a message and with it status 1."""

    def call(*arguments: str) -> str | None:
        monkeypatch.setattr(sys, "argv", ["docs/generate_figures.py", *arguments])
        try:
            script.main()
        except SystemExit as ending:
            return str(ending.code)
        return None

    return call


# Staleness


def test_no_picture_is_stale() -> None:
    command = [sys.executable, str(DOCS / "generate_figures.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_changed_table_is_noticed_in_the_picture_drawn_from_it(copy: Path, run: Callable[..., str | None]) -> None:
    table = copy / "data" / "guaranteed.csv"
    frame = pl.read_csv(table)
    frame.with_columns(pl.col("systems") - 0.0001).write_csv(table)
    assert run("--check") == "honesty-guaranteed is stale: run python docs/generate_figures.py"
    assert run() is None
    assert run("--check") is None
    drawn_again = {path.name for path in IMAGES if (copy / "images" / path.name).read_bytes() != path.read_bytes()}
    assert "honesty-guaranteed.svg" in drawn_again


def test_missing_and_left_over_pictures_are_noticed_and_others_left_alone(
    copy: Path, run: Callable[..., str | None]
) -> None:
    images = copy / "images"
    (images / "logo.svg").write_text("<svg/>")
    (images / "adr-recall.svg").rename(images / "old-name.svg")
    assert run("--check") == "adr-recall, old-name are stale: run python docs/generate_figures.py"
    assert run() is None
    assert {path.name for path in images.glob("*.svg")} == {"logo.svg", *(path.name for path in IMAGES)}


def test_a_digest_depends_on_what_is_drawn_and_on_nothing_else(script: ModuleType) -> None:
    def digest(**changes: object) -> str:
        axes = script.PICTURES["srbench-agreement"].draw()
        axes.set(**changes)
        return str(script.digest(axes.figure))

    plain = digest()
    assert digest() == plain
    assert digest(position=[0.2, 0.2, 0.5, 0.5]) == plain
    for change in ({"xlabel": "other"}, {"ylim": (0, 0.6)}, {"title": "new"}):
        assert digest(**change) != plain
    axes = script.PICTURES["srbench-agreement"].draw()
    axes.patches[0].set_height(0.3)
    assert script.digest(axes.figure) != plain
    axes = script.PICTURES["honesty-accuracy"].draw()
    other = script.digest(axes.figure)
    axes.lines[0].set_color("#123456")
    assert script.digest(axes.figure) != other


def test_the_same_picture_has_the_same_bytes(script: ModuleType) -> None:
    picture = script.PICTURES["cover-lift"]
    assert script.svg("cover-lift", picture) == script.svg("cover-lift", picture)


# Pages


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image.stem)
def test_a_picture_says_what_it_is_and_shares_no_id(image: Path) -> None:
    root = ElementTree.parse(image).getroot()
    assert root.get("role") == "img"
    assert len(root.get("aria-label", "")) > 30
    ids = [element.get("id", "") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) > 0
    assert all(one.startswith(f"{image.stem}-") for one in ids)


def test_every_picture_is_shown_once_with_words_for_those_who_cannot_see_it_and_a_caption() -> None:
    shown = [
        (page.parent / target, alt, caption)
        for page in PAGES
        for alt, target, caption in SHOWN.findall(page.read_text())
    ]
    assert sorted(target.resolve() for target, _, _ in shown) == [image.resolve() for image in IMAGES]
    assert all(len(alt) > 100 for _, alt, _ in shown)
    assert all(len(caption) > 40 for _, _, caption in shown)
    assert sum(page.read_text().count("![") for page in PAGES) == len(shown)


def rows_after(heading: str) -> dict[str, list[str]]:
    """Return the cells of the first table on the honesty page whose header starts so, by the first cell of a row."""
    text = (DOCS / "honesty.md").read_text()
    found = re.search(rf"^\| {re.escape(heading)}[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)", text, flags=re.MULTILINE)
    assert found, heading
    rows = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in found[1].splitlines()]
    return {row[0].replace("`", ""): [cell.replace("*", "") for cell in row[1:]] for row in rows}


def near(cell: str, wanted: list[float]) -> bool:
    """Compare the numbers of a cell with values to four digits, whose own last digit is rounded."""
    numbers = [float(number) for number in re.findall(r"\d*\.\d+", cell)]
    decimals = [len(number.partition(".")[2]) for number in re.findall(r"\d*\.\d+", cell)]
    slack = 0.00006
    return len(numbers) == len(wanted) and all(
        abs(number - value) <= 0.5 * 10**-places + slack
        for number, places, value in zip(numbers, decimals, wanted, strict=True)
    )


def test_cells_are_compared_to_their_own_digits() -> None:
    assert near(".96/**.97**, .86", [0.9625, 0.9738, 0.8639])
    assert not near(".96/.97, .86", [0.9625, 0.9651, 0.8701])
    assert not near(".96", [0.96, 0.97])


# What the tables call a method of the data; other methods have the same name in both.
SHOWN_AS = {"published MTC": "Urbano and Schedl (2013)"}


def test_the_tables_of_methods_and_measures_are_those_of_the_data() -> None:
    table = pl.read_csv(DOCS / "data" / "coverage.csv")
    assert table["resamples"].unique().to_list() == [100]
    by_method = table.filter(pl.col("measure") == "AG@5").with_columns(pl.col("method").replace(SHOWN_AS))
    shown = rows_after("method | 0% judged")
    assert list(shown) == by_method["method"].unique(maintain_order=True).to_list()
    columns = ("coverage_pairs", "coverage_systems", "confidence", "accuracy")
    for method, cells in shown.items():
        wanted = by_method.filter(pl.col("method") == method).select(columns).rows()
        assert all(near(cell, list(row)) for cell, row in zip(cells, wanted, strict=True)), method
    for measure, cells in rows_after("measure | 0%").items():
        part = table.filter(pl.col("method") == "hierarchical, variance", pl.col("measure") == measure)
        wanted = part.select(columns[:2]).rows()
        assert all(near(cell, list(row)) for cell, row in zip(cells, wanted, strict=True)), measure


@pytest.mark.parametrize(("collection", "header"), [("text", "text"), ("text", "text, parts"), ("music", "music")])
def test_the_tables_of_text_and_music_are_those_of_the_data(collection: str, header: str) -> None:
    table = pl.read_csv(DOCS / "data" / "everywhere.csv").filter(pl.col("collection") == collection)
    assert table["campaigns"].min() == 60
    for name, cells in rows_after(f"{header} | 0%").items():
        measure, _, method = name.partition(", ")
        part = table.filter(pl.col("measure") == measure, pl.col("method") == (method or "default"))
        *coverage_cells, slopes, bias = cells
        wanted = part.select("pairs", "systems").rows()
        assert all(near(cell, list(row)) for cell, row in zip(coverage_cells, wanted, strict=True)), name
        assert near(slopes, [part["slope"][1], part["slope"][-1]]), name
        assert near(bias.replace("−", ""), [abs(value) for value in part["bias"][-2:]]), name


def test_the_table_of_half_widths_is_that_of_the_data() -> None:
    table = pl.read_csv(DOCS / "data" / "everywhere.csv").filter(pl.col("share") > 0)
    for name, cells in rows_after("| 2% | 5%").items():
        collection, measure, whose = name.split(", ")
        method, column = ("default", "half_width") if whose == "model" else ("proportional", "design_half_width")
        part = table.filter(
            pl.col("collection") == collection, pl.col("measure") == measure, pl.col("method") == method
        )
        for cell, wanted in zip(cells, part[column], strict=True):
            assert cell == "–" if wanted is None else near(cell, [wanted]), name


def test_the_table_of_few_systems_is_that_of_the_data() -> None:
    table = pl.read_csv(DOCS / "data" / "few_systems.csv").filter(pl.col("share") > 0)
    shown = rows_after("few systems | 2%")
    assert list(shown) == table["collection"].unique(maintain_order=True).to_list()
    for name, cells in shown.items():
        part = table.filter(pl.col("collection") == name)
        assert part["campaigns"].min() == (60 if name == "music of 8" else 160)
        wanted = part.select("pairs", "systems").rows()
        assert all(near(cell, list(row)) for cell, row in zip(cells[:-1], wanted, strict=True)), name
        assert near(cells[-1], [part["slope"][0], part["slope"][-1]]), name


def test_the_table_of_unusual_collections_is_that_of_the_data() -> None:
    table = pl.read_csv(DOCS / "data" / "shapes.csv").filter(pl.col("share") > 0)
    assert table["campaigns"].min() == 20
    for name, cells in rows_after("made-up | 2%").items():
        collection, measure, *method = name.split(", ")
        part = table.filter(
            pl.col("collection") == collection,
            pl.col("measure") == measure,
            pl.col("method") == (method[0] if method else "default"),
        )
        wanted = part.select("pairs", "systems").rows()
        assert all(near(cell, list(row)) for cell, row in zip(cells[:-1], wanted, strict=True)), name
        assert near(cells[-1], [part["slope"][0], part["slope"][-1]]), name


def test_the_table_of_shares_is_that_of_the_data() -> None:
    curves = pl.read_csv(DOCS / "data" / "accuracy.csv")
    reached = coverage.shares_to_reach(curves, (0.88, 0.89, 0.90, 0.92, 0.94)).rows()
    wanted = {
        SHOWN_AS.get(method, method): ["–" if share is None else f"{share:.0%}" for share in shares]
        for method, *shares in reached
    }
    assert rows_after("method | .88 | .89 | .90 | .92 | .94 |") == wanted


def test_the_table_of_guaranteed_intervals_is_that_of_the_data() -> None:
    table = pl.read_csv(DOCS / "data" / "guaranteed.csv")
    shown = rows_after("judged | 60").values()
    wanted = table.partition_by("prediction", maintain_order=True)
    for cells, part in zip(shown, wanted, strict=True):
        rows = part.select("pairs", "systems", "± systems").rows()
        assert all(near(cell, list(row)) for cell, row in zip(cells, rows, strict=True)), part["prediction"][0]


# The study behind them


def looks(resample: int, judged: list[int], accuracy: list[float]) -> pl.DataFrame:
    rows = {"resample": resample, "method": "ordinal, mtc", "measure": "AG@5", "confidence": 0.5}
    return pl.DataFrame({"judged": judged, "accuracy": accuracy}).with_columns(
        **{name: pl.lit(value) for name, value in rows.items()}
    )


def test_every_collection_counts_at_every_share() -> None:
    # The larger collection is easier: by numbers of judgments, the last of them would be its own.
    small, large = looks(0, [0, 50, 100], [0.5, 0.6, 0.7]), looks(1, [0, 100, 200], [0.7, 0.8, 0.9])
    curves = coverage.accuracy_curves(pl.concat([small, large]))
    assert curves["share"].to_list() == pytest.approx([place / 100 for place in range(21)])
    assert curves["accuracy"].to_numpy()[[0, 5, 10, 20]] == pytest.approx([0.6, 0.65, 0.7, 0.8])
    assert curves["accuracy_se"].to_numpy() == pytest.approx([0.1] * 21)


def test_an_accuracy_is_reached_where_it_stays() -> None:
    curves = pl.DataFrame({"method": "m", "share": [0.0, 0.01, 0.02, 0.03], "accuracy": [0.8, 0.91, 0.89, 0.92]})
    reached = coverage.shares_to_reach(curves, (0.7, 0.9, 0.95))
    assert reached.row(0) == ("m", 0.0, 0.03, None)
