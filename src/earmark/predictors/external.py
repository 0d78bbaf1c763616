r"""The predictor ``external``: another model's word about items, recalibrated on the judgments.

A tree ensemble, an audio model, a language model asked to judge: whatever says something about items can be used,
as probabilities of levels or as a single score. Probabilities are raised to a power and normalised, with the power at
which the claimed variance matches the observed squared error on the judged items
(:mod:`earmark.predictors.recalibration`). A score becomes the one feature of an ordinal model fitted on the
judged items.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import AssessorGains, Beliefs
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.collection import Collection
from earmark.data.files import require_file
from earmark.data.table_files import read_named
from earmark.data.tables import Table
from earmark.errors import InputError
from earmark.predictors.base import Part, Predictor, Setting, believe, digest_of
from earmark.predictors.ordinal_levels import model_levels, to_levels
from earmark.predictors.ordinal_regression import fit_ordinal, predict_levels
from earmark.predictors.recalibration import calibrating_power, raise_to

# How few judgments recalibration may rest on.
_FEWEST_ROWS = 20
_SUM_TOLERANCE = 1e-3


class External(Predictor):
    """Level probabilities or scores from a file.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    path : path
        CSV or Parquet with columns ``query``, ``document`` and either ``score`` or one column per level, named by its
        gain: ``0``, ``1``, ``2``.
    """

    name: ClassVar[str] = "external"

    def __init__(self, setting: Setting, path: str | Path, *, encoding: str = "utf-8") -> None:
        super().__init__(setting)
        table = read_named(require_file(path), encoding=encoding)
        missing = [name for name in ("query", "document") if name not in table.frame.columns]
        if missing:
            raise InputError(expected=f"a column '{missing[0]}'", got=", ".join(table.frame.columns), path=path)
        self._values, self._known, levels = _read_columns(table, setting)
        self._is_score = levels is None
        self._levels = np.array(model_levels(setting.scale)) if levels is None else levels

    @property
    def version(self) -> str:
        """The version of the recalibration, and the values of the file."""
        return f"1, values {digest_of([self._levels.tolist(), self._values.tolist(), self._known.tolist()])}"

    def predict(
        self, judged_gain: Floats, answers: AssessorGains | None = None, *, order: Ints | None = None
    ) -> Beliefs:
        """Return the other model's beliefs, recalibrated where there is enough to do it by."""
        judged = judged_gain >= 0
        taught, asked = judged & self._known, self._known & ~judged
        enough = np.count_nonzero(taught) >= _FEWEST_ROWS
        if self._is_score:
            if not enough:
                return believe(self.setting, judged_gain, notes=self._notes(1.0))
            model = fit_ordinal(
                self._values[taught],
                to_levels(self.setting.scale, judged_gain[taught]),
                n_levels=self._levels.size,
                ridge=1.0,
                names=("score",),
            )
            part = Part(asked, self._levels, predict_levels(model, self._values[asked]))
            return believe(self.setting, judged_gain, part, notes=self._notes(1.0))
        power = calibrating_power(self._values[taught], self._levels, judged_gain[taught]) if enough else 1.0
        part = Part(asked, self._levels, raise_to(self._values[asked], power))
        return believe(self.setting, judged_gain, part, notes=self._notes(power))

    def _notes(self, power: float) -> list[str]:
        """Say what the file left open and how it was recalibrated."""
        left = int(np.count_nonzero(~self._known))
        said = [f"{left:,} items are not in the file and have the uniform belief"] if left else []
        if power != 1.0:
            direction = "flattened" if power < 1 else "sharpened"
            said.append(f"probabilities {direction} to the power {power:.2f} to match the judgments")
        return said


def _read_columns(table: Table, setting: Setting) -> tuple[Floats, Bools, Floats | None]:
    """Return one row of numbers per item, which items have one, and the gains of levels (None for scores)."""
    others = [name for name in table.frame.columns if name not in ("query", "document")]
    levels: Floats | None = None
    if "score" in others:
        others = ["score"]
    else:
        wanted = {f"{level:g}" for level in (*setting.scale.gains, *model_levels(setting.scale))}
        others = sorted((name for name in others if name in wanted), key=float)
        if len(others) < 2:
            raise InputError(
                expected="a column 'score' or one column per level, named by its gain",
                got=", ".join(table.frame.columns),
                path=table.path,
            )
        levels = np.array([float(name) for name in others])
    numbers = table.frame.select(pl.col(others).cast(pl.Float64, strict=False)).to_numpy()
    bad = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
    if bad.size:
        raise table.error(int(bad[0]), expected="numbers", got=str(table.frame.select(others).row(int(bad[0]))))
    if levels is not None:
        off = np.flatnonzero((numbers < 0).any(axis=1) | (np.abs(numbers.sum(axis=1) - 1) > _SUM_TOLERANCE))
        if off.size:
            got = " ".join(f"{value:g}" for value in numbers[off[0]])
            raise table.error(int(off[0]), expected="probabilities that sum to 1", got=got)
        numbers = numbers / numbers.sum(axis=1, keepdims=True)
    return (*_by_item(table, numbers, setting.collection), levels)


def _by_item(table: Table, numbers: Floats, collection: Collection) -> tuple[Floats, Bools]:
    items = collection.item_frame()
    given = table.frame.select(pl.col("query", "document").cast(pl.String)).with_row_index("row")
    again = (~given.select(pl.struct("query", "document").is_first_distinct()).to_series()).arg_true()
    if again.len():
        raise table.error(int(again[0]), expected="every item once", got="an item again")
    row = items.join(given, on=["query", "document"], how="left", maintain_order="left")["row"]
    known = row.is_not_null().to_numpy()
    values = np.full((collection.n_items, numbers.shape[1]), np.nan)
    values[known] = numbers[row.drop_nulls().to_numpy()]
    return values, known
