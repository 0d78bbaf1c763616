"""With other gains all that rests on gains comes out otherwise, and nothing agrees with the papers by accident."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from earmark.reproduce import buckers2021 as bias
from earmark.reproduce import urbano2013 as mtc
from earmark.reproduce.comparison import Row

pytestmark = pytest.mark.slow

Key = tuple[str, str, str]
Rows = dict[Key, Row]

# Tables that no gain enters: examples, counts, sums of printed numbers, what is out of reach.
WITHOUT_GAINS = (
    "the worked example",
    "Table 1 (2011)",
    "Table 2.1",
    "totals of the printed bins",
    "cannot be reproduced",
)
# What is claimed before anything is judged, by coefficients that are printed.
UNJUDGED = ("Table 1.1", "Table 5", "Table 6")
# A function of how far gains lie from the middle of the scale: neither turning them round nor mixing them changes it.
SYMMETRIC = ("uniform", "RMSE")


def rests_on_gains(key: Key) -> bool:
    """Tell whether a row could come out otherwise with other gains."""
    table, name, column = key
    if any(words in table for words in WITHOUT_GAINS) or "maximum" in name or column == "items":
        return False
    if any(words in table for words in UNJUDGED) and (name == "confidence" or "confidence" in column or "%" in column):
        return "accuracy" in column
    published = name.startswith(("L_output", "uniform")) or column.startswith("L_output")
    claimed = name == "variance" or column == "variance"
    return not (published and claimed)


def compute(folder: Path) -> Rows:
    tables = [*mtc.tables(folder, seeds=1), *bias.tables(folder, seeds=1)]
    return {(table.title, row.name, row.column): row for table in tables for row in table.rows}


@pytest.fixture(scope="module")
def real(mirex: Path) -> Rows:
    return compute(mirex)


@pytest.fixture(scope="module")
def perturbed(mirex: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """All rows with gains turned round, shuffled among items, or drawn anew."""
    lines = [line.split() for line in (mirex / "judgments.txt").read_text().splitlines()]
    gain, rng = np.array([float(line[2]) for line in lines]), np.random.default_rng(0)
    others = {
        "flipped": 100 - gain,
        "shuffled": rng.permutation(gain),
        "drawn": rng.integers(0, 101, gain.size).astype(float),
    }
    found = {}
    for name, gains in others.items():
        folder = tmp_path_factory.mktemp(name)
        for file in ("runs.txt", "metadata.txt"):
            shutil.copy(mirex / file, folder / file)
        rows = ["\t".join((*line[:2], f"{value:g}")) for line, value in zip(lines, gains, strict=True)]
        (folder / "judgments.txt").write_text("\n".join(rows) + "\n")
        found[name] = compute(folder)
    return found


def test_rows_that_rest_on_gains_change(real: Rows, perturbed: dict[str, Rows]) -> None:
    checked = 0
    for key, row in real.items():
        # A share of none or of all, or an answer in words, can stay what it is.
        saturated = isinstance(row.ours, str) or row.ours in (0.0, 1.0, 100.0) or np.isnan(row.ours)
        if not rests_on_gains(key) or saturated:
            continue
        assert any(rows.get(key) is None or rows[key].ours != row.ours for rows in perturbed.values()), key
        checked += 1
    assert checked > 700


def test_rows_that_do_not_rest_on_gains_stay(real: Rows, perturbed: dict[str, Rows]) -> None:
    for key, row in real.items():
        if not rests_on_gains(key):
            assert all(rows[key].ours == row.ours for rows in perturbed.values()), key


@pytest.mark.parametrize("how", ["flipped", "shuffled", "drawn"])
def test_nothing_agrees_by_accident(how: str, real: Rows, perturbed: dict[str, Rows]) -> None:
    agreeing = {key for key, row in perturbed[how].items() if row.agrees and rests_on_gains(key)}
    expected = set() if how == "drawn" else {key for key in real if key[1:] == SYMMETRIC and real[key].agrees}
    assert agreeing == expected
