"""The predictor ``ordinal``: proportional-odds models fitted on past collections, on the judgments so far, or both.

What can be learnt from one's own judgments depends on how many there are. Features come in tiers: what systems
retrieved; how the systems that retrieved the item have done so far; how other documents of the query, its genre and
its artist were judged. An item is predicted from the richest tier that it has all features for and that enough
judged items have taught. An item's own judgment never enters its features (BIAS, section 3.2.1: it would leak).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import ClassVar

import numpy as np

from earmark.beliefs.beliefs import AssessorGains, Beliefs
from earmark.data.arrays import Floats, Ints
from earmark.errors import NotConverged, ParameterError
from earmark.predictors.base import PREDICTORS, MeasuredCoverage, Part, Predictor, Setting, believe, digest_of
from earmark.predictors.ordinal_levels import model_levels, to_levels
from earmark.predictors.ordinal_models import NamedModel
from earmark.predictors.ordinal_regression import fit_ordinal, predict_levels

OUTPUT_TIER = ("pTEAM", "aRANK", "pART", "sGEN", "pGEN", "sGEN:pGEN")
JUDGMENT_TIERS = (("aSYS",), ("aSYS", "aDOC"), ("aSYS", "aDOC", "aGEN"), ("aSYS", "aDOC", "aGEN", "aART"))
# Few judgments must not be read as certainty: coefficients are pulled to 0 as if by one contrary observation each.
_RIDGE = 1.0
_ROWS_PER_FEATURE = 10
_FEWEST_ROWS = 30


@PREDICTORS.register
class Ordinal(Predictor):
    """A model fitted on past collections where one is given, refined by one fitted on the judgments so far.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    past : NamedModel, optional
        Fitted on other collections; it speaks wherever the judgments so far have taught nothing yet.
    """

    name: ClassVar[str] = "ordinal"
    measured: ClassVar[MeasuredCoverage | None] = MeasuredCoverage((0.35, 0.63), (0.34, 0.58), 100)

    def __init__(self, setting: Setting, past: NamedModel | None = None) -> None:
        super().__init__(setting)
        self.past = past
        self._levels = np.array(model_levels(setting.scale))
        if past is not None and past.levels != model_levels(setting.scale):
            raise ParameterError(
                f"model '{past.name}' has levels {', '.join(f'{level:g}' for level in past.levels)}, but the scale "
                f"'{setting.scale}' has {', '.join(f'{level:g}' for level in self._levels)}"
            )
        there = {*setting.features.output_names, *setting.features.judgment_names}
        output = tuple(name for name in OUTPUT_TIER if name in there)
        self._tiers = [output] + [(*output, *extra) for extra in JUDGMENT_TIERS if all(name in there for name in extra)]

    @property
    def version(self) -> str:
        """The version of the model, and the past model where there is one."""
        return "1" if self.past is None else f"1, model {self.past.name} {digest_of(asdict(self.past))}"

    def predict(
        self, judged_gain: Floats, answers: AssessorGains | None = None, *, order: Ints | None = None
    ) -> Beliefs:
        """Fit what the judgments allow and return what the models say."""
        judged = judged_gain >= 0
        parts = [*self._past_part(judged_gain, judged)]
        fitted = 0
        for names in self._tiers:
            table = self.setting.features.features(names, gain=judged_gain, judged=judged, exclude_own=True)
            taught = judged & table.complete
            if np.count_nonzero(taught) < max(_FEWEST_ROWS, _ROWS_PER_FEATURE * len(names)):
                continue
            try:
                model = fit_ordinal(
                    table.values[taught],
                    to_levels(self.setting.scale, judged_gain[taught]),
                    n_levels=self._levels.size,
                    ridge=_RIDGE,
                    names=names,
                )
            except NotConverged:
                # A richer tier that cannot be fitted leaves the poorer one in charge.
                continue
            asked = table.complete & ~judged
            parts.append(Part(asked, self._levels, predict_levels(model, table.values[asked])))
            fitted += 1
        return believe(self.setting, judged_gain, *parts, notes=self._notes(fitted))

    def _past_part(self, judged_gain: Floats, judged: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[Part]:
        if self.past is None:
            return []
        missing = [name for name in self.past.features if name in self.setting.features.dropped]
        if missing:
            return []
        table = self.setting.features.features(self.past.features, gain=judged_gain, judged=judged, exclude_own=True)
        return [Part(table.complete, self._levels, self.past.probabilities(table.values[table.complete]))]

    def _notes(self, fitted: int) -> list[str]:
        """Say which models spoke and what they lacked."""
        said = []
        dropped = [name for name in OUTPUT_TIER if name in self.setting.features.dropped]
        if dropped:
            said.append(f"without metadata the features {', '.join(dropped)} drop out")
        if self.past is not None:
            missing = [name for name in self.past.features if name in self.setting.features.dropped]
            if missing:
                said.append(f"model '{self.past.name}' needs {', '.join(missing)} and cannot be used without metadata")
        if not fitted and self.past is None:
            said.append(
                f"fewer than {_FEWEST_ROWS} judgments to learn from: every level of the scale counts as equally likely"
            )
        return said
