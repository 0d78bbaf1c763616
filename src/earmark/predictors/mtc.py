"""The predictors of MTC: the uniform belief and the published models L_output and L_judge.

They are here to be compared with. The published L_judge was fitted with features that contain the item's own judgment,
which no unjudged item has, and both take errors to be independent: their confidence is too high
(``earmark diagnose`` shows by how much on a judged collection).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from earmark.beliefs.beliefs import AssessorGains, Beliefs
from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError
from earmark.predictors.base import PREDICTORS, MeasuredCoverage, Part, Predictor, Setting, believe
from earmark.predictors.ordinal_levels import model_levels
from earmark.predictors.ordinal_models import NamedModel, published_model


@PREDICTORS.register
class Uniform(Predictor):
    """Every level of the scale is equally likely for every item (MTC, section 4.1)."""

    name: ClassVar[str] = "uniform"
    measured: ClassVar[MeasuredCoverage | None] = MeasuredCoverage((0.35, 0.42), (0.37, 0.49), 100)

    def predict(
        self, judged_gain: Floats, answers: AssessorGains | None = None, *, order: Ints | None = None
    ) -> Beliefs:
        """Return the uniform belief about everything that is not judged."""
        return believe(self.setting, judged_gain)


def _published(kind: str, setting: Setting) -> NamedModel:
    if setting.scale.name not in ("broad", "fine"):
        raise ParameterError(
            f"the published model mtc-{kind} is for the scales broad and fine, not '{setting.scale}': use another "
            "predictor, for example ordinal"
        )
    model = published_model(f"mtc-{kind}-{setting.scale.name}")
    assert model.levels == model_levels(setting.scale)
    return model


@PREDICTORS.register
class MtcOutput(Predictor):
    """The published model L_output: features of what systems retrieved, no judgments needed (MTC, section 4.2.3)."""

    name: ClassVar[str] = "mtc-output"
    published: ClassVar[bool] = True
    measured: ClassVar[MeasuredCoverage | None] = MeasuredCoverage((0.80, 0.84), (0.16, 0.39), 100)

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.model = _published("output", setting)
        self._missing = tuple(name for name in self.model.features if name in setting.features.dropped)
        nothing = np.zeros(setting.collection.n_items, dtype=bool)
        self.part = Part(nothing, np.array(self.model.levels), np.zeros((0, len(self.model.levels))))
        if not self._missing:
            table = setting.features.features(self.model.features)
            known = table.complete
            self.part = Part(known, self.part.levels, self.model.probabilities(table.values[known]))

    def predict(
        self, judged_gain: Floats, answers: AssessorGains | None = None, *, order: Ints | None = None
    ) -> Beliefs:
        """Return the model's probabilities, uniform where an item lacks metadata."""
        return believe(self.setting, judged_gain, self.part, notes=self._notes())

    def _notes(self) -> list[str]:
        """Say how many items the model cannot be applied to."""
        if self._missing:
            needed = ", ".join(self._missing)
            return [f"{self.name} needs metadata for {needed}: without, every item has the uniform belief"]
        left = int(np.count_nonzero(~self.part.items))
        return [f"{left:,} items lack metadata and have the uniform belief"] if left else []


@PREDICTORS.register
class MtcJudge(MtcOutput):
    """The published model L_judge where its features exist, L_output elsewhere (MTC, section 5)."""

    name: ClassVar[str] = "mtc-judge"
    measured: ClassVar[MeasuredCoverage | None] = MeasuredCoverage((0.80, 0.84), (0.16, 0.39), 100)

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.judge = _published("judge", setting)
        self._without = [name for name in self.judge.features if name in setting.features.dropped]

    def predict(
        self, judged_gain: Floats, answers: AssessorGains | None = None, *, order: Ints | None = None
    ) -> Beliefs:
        """Return L_judge's probabilities for unjudged items whose artist has been judged for the query."""
        judged = judged_gain >= 0
        if self._without or not judged.any():
            return super().predict(judged_gain)
        table = self.setting.features.features(self.judge.features, gain=judged_gain, judged=judged, exclude_own=True)
        known = table.complete & ~judged
        part = Part(known, np.array(self.judge.levels), self.judge.probabilities(table.values[known]))
        return believe(self.setting, judged_gain, self.part, part, notes=self._notes())
