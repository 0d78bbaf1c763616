"""The models of BIAS, fitted within the collection of 2011, and how good their predictions are.

BIAS fits every year's models on the other years and prints no coefficients. Here a model is fitted on the queries whose
id starts with 0 to 7 and predicts the others, and the other way round: what it predicts has no query, and no judgment,
in common with what it learnt from. Features that rest on judgments see those of their own half only, as those of a year
see that year's. Results count, not items: an item that three systems retrieved is three predictions. Scores are those
of the thesis: the gain of a level over that of the top level, so that they reach 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from earmark.beliefs.beliefs import UNJUDGED, IndependentBeliefs, LevelProbabilities, from_probabilities
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.exact_estimates import estimate_linear
from earmark.beliefs.normalised_estimates import FORMS, estimate_normalised, estimate_ratio
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.scales import Scale, parse_scale
from earmark.diagnose.decomposition import decompose_score
from earmark.diagnose.proper_scores import ranked_probability_score, summarise_errors
from earmark.measures.base import Measure, parse
from earmark.predictors.features import Features
from earmark.predictors.ordinal_levels import model_levels, to_levels
from earmark.predictors.ordinal_models import published_model
from earmark.predictors.ordinal_regression import fit_ordinal, predict_levels
from earmark.reproduce.mirex2011 import Mirex
from earmark.reproduce.trees import Learner, Rule

MEASURES = {"CG@5": "AG@5", "DCG@5": "nDCG(ideal=scale)@5", "NDCG@5": "nDCG(ideal=pool)@5", "RBP@5": "nRBP(p=0.8)@5"}
"""The paper's measures, scaled to 0..1, and ours. Its persistence p is not given; .8 is that of its literature."""

OUTPUT, SYSTEM_BASED = "output-based, original", "output-based, system-based"
JUDGMENT, IMPROVED = "judgment-based, original", "judgment-based, improved"
EXCLUDING = "judgment-based, excluding self"
SAMPLES = 500
"""How many samples estimates by Monte Carlo take."""
VALUES = 10
"""How many values probabilities are rounded to before equal predictions are grouped."""


def ordinal(values: Floats, level: Ints, weights: Floats, n_levels: int) -> Rule:
    """Learn by ordinal logistic regression, as the thesis and Urbano and Schedl 2013 do."""
    model = fit_ordinal(values, level, n_levels=n_levels, weights=weights)
    return lambda asked: predict_levels(model, asked)


@dataclass(frozen=True)
class Recipe:
    """What a model is made of.

    Parameters
    ----------
    features : tuple of str
    own_label : bool
        Whether an item's own judgment is in its features when the model is fitted; in use it never is.
    """

    features: tuple[str, ...]
    own_label: bool = False


# OV is the same for all items of a year, so a model fitted within one has no use for it.
RECIPES = {
    OUTPUT: Recipe(("fSYS", "fART", "sGEN", "fGEN", "sGEN:fGEN")),
    SYSTEM_BASED: Recipe(("fSYS", "fART_systems", "sGEN", "fGEN_systems", "sGEN:fGEN_systems")),
    JUDGMENT: Recipe(("fSYS", "aSYS", "aART"), own_label=True),
    EXCLUDING: Recipe(("fSYS", "aSYS", "aART")),
    IMPROVED: Recipe(("fSYS", "aSYS", "aART", "nART")),
}


@dataclass(frozen=True, eq=False)
class Forecasts:
    """A model's predictions.

    Attributes
    ----------
    known : ndarray of bool, shape (items,)
        The items it can be applied to.
    probabilities : ndarray of float, shape (items, levels)
        Of the level of every item; uniform where it cannot.
    """

    known: Bools
    probabilities: Floats

    def otherwise(self, other: Forecasts) -> Forecasts:
        """Predict as another model does where this one cannot be applied."""
        probabilities = np.where(self.known[:, None], self.probabilities, other.probabilities)
        return Forecasts(self.known | other.known, probabilities)


@dataclass(frozen=True)
class Errors:
    """How good predictions are; gains from 0 to 1."""

    rps: float
    rmse: float
    variance: float
    reliability: float


@dataclass(frozen=True, eq=False)
class Binned:
    """The collection with gains binned to the levels of models."""

    mirex: Mirex
    _rules: dict[tuple[Recipe, Learner], tuple[Rule, Rule]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def levels(self) -> Floats:
        """The gains of the levels: 0, 11, …, 99 of the Fine scale, 0, 1, 2 of the Broad."""
        return np.array(model_levels(self.mirex.setting.scale))

    @cached_property
    def scale(self) -> Scale:
        """The scale that ends at the top level, so that the best list scores 1."""
        return parse_scale(f"0..{self.levels[-1]:g}")

    @property
    def is_fine(self) -> bool:
        """Whether these are the judgments as they were made, not a scale derived from them."""
        return self.mirex.setting.scale.name == "fine"

    @property
    def name(self) -> str:
        """The year and the scale, in words."""
        return "2011 Fine" if self.is_fine else "2011 Broad, derived"

    @cached_property
    def level(self) -> Ints:
        """The level of every item."""
        return to_levels(self.mirex.setting.scale, self.mirex.gain)

    @cached_property
    def gain(self) -> Floats:
        """The gain of every item's level."""
        return self.levels[self.level]

    def beliefs(self, forecasts: Forecasts, *, judged: Bools | None = None) -> IndependentBeliefs:
        """Believe what a model predicts, and the judgments of some items."""
        known = np.full(self.gain.size, UNJUDGED) if judged is None else np.where(judged, self.gain, UNJUDGED)
        return from_probabilities(forecasts.probabilities, scale=self.scale, levels=self.levels, judged_gain=known)

    def estimate(self, beliefs: IndependentBeliefs, measure: Measure) -> Estimates:
        """Estimate a measure as the paper does: exactly if it is linear, else by the delta method."""
        if measure.is_linear:
            return estimate_linear(self.mirex.collection, beliefs, measure)
        return estimate_ratio(self.mirex.collection, beliefs, measure)

    @cached_property
    def truths(self) -> dict[str, Estimates]:
        """The true scores by every measure."""
        shape = (self.gain.size, self.levels.size)
        judged = from_probabilities(
            np.full(shape, 1 / self.levels.size),
            scale=self.scale,
            levels=self.levels,
            judged_gain=self.gain,
        )
        return {name: self.estimate(judged, parse(ours)) for name, ours in MEASURES.items()}

    @property
    def df(self) -> float:
        """Degrees of freedom of Student's t."""
        return len(self.mirex.collection.queries) - 1.0

    @cached_property
    def forecasts(self) -> dict[str, Forecasts]:
        """The predictions of all models with all judgments in their features."""
        return {name: self.fit(recipe) for name, recipe in RECIPES.items()}

    def fit(self, recipe: Recipe, *, judged: Bools | None = None, learner: Learner = ordinal) -> Forecasts:
        """Fit a model on either half of the queries and predict the other.

        Parameters
        ----------
        recipe : Recipe
        judged : ndarray of bool, shape (items,), optional
            The judgments that features of predictions rest on, by default all; models are fitted with all.
        learner : Learner
        """
        halves = self.halves
        asking = [self._features(recipe, half if judged is None else half & judged, own_label=False) for half in halves]
        return self.predict(self.rules(recipe, learner), (asking[1], asking[0]))

    @property
    def halves(self) -> tuple[Bools, Bools]:
        """The items of both halves of the queries."""
        return self.mirex.first_half, ~self.mirex.first_half

    def rules(self, recipe: Recipe, learner: Learner = ordinal) -> tuple[Rule, Rule]:
        """Return what was learnt from the first half of the queries, and what from the second."""
        if (recipe, learner) not in self._rules:
            first, second = (self.learn(recipe, half, learner) for half in self.halves)
            self._rules[recipe, learner] = first, second
        return self._rules[recipe, learner]

    def learn(self, recipe: Recipe, half: Bools, learner: Learner) -> Rule:
        """Learn from some items."""
        values, taught = self.teaching(recipe, half)
        return learner(values, self.level[taught], self.mirex.systems_of_item[taught], self.levels.size)

    def teaching(self, recipe: Recipe, half: Bools) -> tuple[Floats, Bools]:
        """Return the features that a model of some items is fitted to, and the items that have all of them."""
        features = self._features(recipe, half, own_label=recipe.own_label)
        taught = half & features.complete
        return features.values[taught], taught

    def predict(self, rules: Sequence[Rule], asking: Sequence[Features]) -> Forecasts:
        """Let the rule of each half predict the other, by the features that its rule is given."""
        known = np.zeros(self.level.size, dtype=bool)
        probabilities = np.full((self.level.size, self.levels.size), 1 / self.levels.size)
        for half, rule, features in zip(self.halves, rules, asking, strict=True):
            asked = ~half & features.complete
            known |= asked
            probabilities[asked] = rule(features.values[asked])
        return Forecasts(known, probabilities)

    def _features(self, recipe: Recipe, judged: Bools, *, own_label: bool) -> Features:
        return self.mirex.setting.features.features(
            recipe.features, gain=self.mirex.gain, judged=judged, exclude_own=not own_label
        )

    @cached_property
    def published(self) -> Forecasts:
        """The predictions of MTC's L_output with the coefficients of its Table 7."""
        model = published_model(f"mtc-output-{self.mirex.setting.scale.name}")
        features = self.mirex.setting.features.features(model.features)
        probabilities = np.full((self.level.size, self.levels.size), 1 / self.levels.size)
        probabilities[features.complete] = model.probabilities(features.values[features.complete])
        return Forecasts(features.complete, probabilities)

    @cached_property
    def forms(self) -> dict[tuple[str, str], Estimates]:
        """Estimates of the normalised measures in every way that has been proposed, by measure and form."""
        beliefs = self.beliefs(self.forecasts[SYSTEM_BASED])
        return {
            (measure, form): estimate_normalised(
                self.mirex.collection,
                beliefs,
                parse(MEASURES[measure]),
                form=form,
                rng=np.random.default_rng(0),
                samples=SAMPLES,
            )
            for measure in ("NDCG@5", "RBP@5")
            for form in FORMS
        }

    def results(self, known: Bools) -> Ints:
        """Return some items, each once for every system that retrieved it."""
        items = np.repeat(np.arange(self.level.size), self.mirex.systems_of_item.astype(np.int64))
        chosen: Ints = items[known[items]]
        return chosen

    def errors(self, forecasts: Forecasts, *, min_group_size: int = 1, items: Ints | None = None) -> Errors:
        """Score predictions, each item counted once for every system that retrieved it.

        Parameters
        ----------
        forecasts : Forecasts
        min_group_size : int
            Groups of equal predictions that are smaller are left out of the reliability.
        items : ndarray of int, optional
            Score these; by default all that the model can be applied to, as :meth:`results` returns them.
        """
        items = self.results(forecasts.known) if items is None else items
        probabilities, level = forecasts.probabilities[items], self.level[items]
        believed = LevelProbabilities(self.levels, probabilities)
        summary = summarise_errors(believed.mean, believed.variance, self.gain[items])
        parts = decompose_score(
            probabilities, level, n_values=VALUES, min_group_size=min_group_size, representative="rounded"
        )
        top = self.scale.top
        return Errors(
            rps=ranked_probability_score(probabilities, level),
            rmse=summary.rmse / top,
            variance=summary.mean_variance / top**2,
            reliability=parts.reliability,
        )
