"""Trees in place of ``ordinal``: the predictors ``forest``, ``boosted``, ``conditional-tree``, ``conditional-forest``.

Like ``ordinal`` they use a model fitted on past collections where one is given, and learn from the judgments so far as
soon as there are enough. A tree can do without a feature that an item lacks, so one model takes what systems retrieved
and how others were judged together, where ``ordinal`` has a model for every set of features. An item's own judgment
never enters its features, and cannot be decoded from them (:mod:`earmark.predictors.held_out_features`). Probabilities
are recalibrated on queries that were held out.

Chance decides how queries and items are dealt into folds and which rows and features a tree sees: by permanent random
numbers of queries, documents and the seed of the campaign. Another seed, or other names of the same documents, change
predictions, and where systems are close the order of systems. So these predictors are for comparing models of gains, as
Buckers (2021, section 3.4) does, and not for verdicts; as predictions that a sample corrects, they are as good as any.

The model is refitted at fixed counts of judgments (:func:`~earmark.predictors.base.refit_count`), and in between
answers with the features that the newest judgments give.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from earmark.beliefs.beliefs import AssessorGains, Beliefs
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.permanent_random_numbers import item_numbers, query_numbers
from earmark.errors import ParameterError
from earmark.predictors.base import PREDICTORS, Part, Predictor, Setting, believe, fitted_part
from earmark.predictors.held_out_features import held_out_features
from earmark.predictors.ordinal_levels import model_levels, to_levels
from earmark.predictors.ordinal_predictor import JUDGMENT_TIERS, OUTPUT_TIER
from earmark.predictors.tree_learners import LEARNERS, Ensemble, Rows, fit_recalibrated, require_sklearn
from earmark.predictors.tree_models import TreeModel

_FEWEST_ROWS = 100
"""Below, a tree has a handful of leaves at most, and one query weighs too much."""
_FEWEST_QUERIES = 5


class TreePredictor(Predictor):
    """A model of trees fitted on past collections where one is given, then one fitted on the judgments so far.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    past : TreeModel, optional
        Fitted on other collections; it speaks until the judgments so far are enough to learn from.
    """

    needs_sklearn: ClassVar[bool] = False

    def __init__(self, setting: Setting, past: TreeModel | None = None) -> None:
        super().__init__(setting)
        if self.needs_sklearn:
            require_sklearn(self.name)
        levels = model_levels(setting.scale)
        if past is not None and past.levels != levels:
            raise ParameterError(
                f"model '{past.name}' has levels {', '.join(f'{level:g}' for level in past.levels)}, but the scale "
                f"'{setting.scale}' has {', '.join(f'{level:g}' for level in levels)}"
            )
        self.past = past
        self._levels = np.array(levels)
        there = {*setting.features.output_names, *setting.features.judgment_names}
        # Products of features are for linear models; a tree finds them by itself.
        wanted = [name for name in OUTPUT_TIER if ":" not in name] + list(JUDGMENT_TIERS[-1])
        self._names = tuple(name for name in wanted if name in there)
        # A cache: it changes how fast predict answers, never what it answers.
        self._last_fit: tuple[Floats, Ensemble] | None = None

    @property
    def version(self) -> str:
        """The version of the learner, that of the library that grows its trees, and the past model."""
        library = ""
        if self.needs_sklearn:
            import sklearn

            library = ", scikit-learn " + ".".join(sklearn.__version__.split(".")[:2])
        return f"2{library}" + ("" if self.past is None else f", model {self.past.name} {self.past.digest}")

    def predict(
        self, judged_gain: Floats, answers: AssessorGains | None = None, *, order: Ints | None = None
    ) -> Beliefs:
        """Fit what the judgments allow and return what the models say."""
        judged = judged_gain >= 0
        parts = self._past_part(judged_gain, judged)
        taught = fitted_part(judged_gain, order)
        rows = taught >= 0
        queries = np.unique(self.setting.collection.item_query[rows]).size
        enough = int(np.count_nonzero(rows)) >= _FEWEST_ROWS and queries >= _FEWEST_QUERIES
        if enough:
            fitted = self._fit(taught)
            parts.append(Part(~judged, self._levels, fitted.probabilities(self._table(judged_gain)[~judged])))
        return believe(self.setting, judged_gain, *parts, notes=self._notes(enough))

    def _table(self, judged_gain: Floats) -> Floats:
        features = self.setting.features
        return features.features(self._names, gain=judged_gain, judged=judged_gain >= 0, exclude_own=True).values

    def _fit(self, judged_gain: Floats) -> Ensemble:
        """Fit the usual learner to these judgments, or return the last fit if it is the same."""
        if self._last_fit is not None and np.array_equal(self._last_fit[0], judged_gain):
            return self._last_fit[1]
        # Rows come in the order of permanent random numbers: what is drawn from them depends on the seed, not on how
        # ids are sorted.
        judged = self._shuffled[judged_gain[self._shuffled] >= 0]
        gain, seed = judged_gain[judged], self.setting.seed
        rows = Rows(
            held_out_features(self.setting.features, self._names, judged_gain, seed=seed).values[judged],
            to_levels(self.setting.scale, gain),
            gain,
            self._query_place[self.setting.collection.item_query[judged]],
            np.ones(gain.size),
            self._levels,
        )
        fitted = fit_recalibrated(LEARNERS[self.name][0], rows)
        self._last_fit = (judged_gain.copy(), fitted)
        return fitted

    @cached_property
    def _shuffled(self) -> Ints:
        """All items in the order of their permanent random numbers."""
        numbers = item_numbers(self.setting.collection, seed=self.setting.seed, purpose="row")
        return np.argsort(numbers).astype(np.int64)

    @cached_property
    def _query_place(self) -> Ints:
        """The place of every query in the order of permanent random numbers, by which queries are dealt into folds."""
        return np.argsort(np.argsort(query_numbers(self.setting.collection, seed=self.setting.seed))).astype(np.int64)

    def _past_part(self, judged_gain: Floats, judged: Bools) -> list[Part]:
        if self.past is None or self._missing():
            return []
        table = self.setting.features.features(self.past.features, gain=judged_gain, judged=judged, exclude_own=True)
        return [Part(table.complete, self._levels, self.past.probabilities(table.values[table.complete]))]

    def _missing(self) -> list[str]:
        dropped = self.setting.features.dropped
        return [] if self.past is None else [name for name in self.past.features if name in dropped]

    def _notes(self, enough: bool) -> list[str]:
        """Say which models spoke and what they lacked."""
        said = []
        dropped = [name for name in OUTPUT_TIER if ":" not in name and name in self.setting.features.dropped]
        if dropped:
            said.append(f"without metadata the features {', '.join(dropped)} drop out")
        if self.past is not None and self._missing():
            missing = ", ".join(self._missing())
            said.append(f"model '{self.past.name}' needs {missing} and cannot be used without metadata")
        if not enough and self.past is None:
            said.append(
                f"fewer than {_FEWEST_ROWS} judgments, or of fewer than {_FEWEST_QUERIES} queries, to learn from: "
                "every level of the scale counts as equally likely"
            )
        return said


@PREDICTORS.register
class Forest(TreePredictor):
    """A random forest (Breiman 2001), grown by scikit-learn."""

    name: ClassVar[str] = "forest"
    needs_sklearn: ClassVar[bool] = True


@PREDICTORS.register
class Boosted(TreePredictor):
    """A proportional-odds model boosted with trees of scikit-learn (:mod:`earmark.predictors.boosting`)."""

    name: ClassVar[str] = "boosted"
    needs_sklearn: ClassVar[bool] = True


@PREDICTORS.register
class ConditionalInferenceTree(TreePredictor):
    """A conditional inference tree (:mod:`earmark.predictors.conditional_trees`)."""

    name: ClassVar[str] = "conditional-tree"


@PREDICTORS.register
class ConditionalInferenceForest(TreePredictor):
    """A forest of conditional inference trees (:mod:`earmark.predictors.conditional_trees`)."""

    name: ClassVar[str] = "conditional-forest"


TREE_PREDICTORS: dict[str, type[TreePredictor]] = {
    cls.name: cls for cls in (Forest, Boosted, ConditionalInferenceTree, ConditionalInferenceForest)
}
