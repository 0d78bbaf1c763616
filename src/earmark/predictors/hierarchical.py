"""The predictor ``hierarchical``: beliefs with correlated errors, learnt while judging.

What is expected of an item before anything is judged comes from a prior over covariates; how far the truth may be from
it, and with whom an item shares its error, from effects of queries, systems, artists, genres and whatever else is known
(:mod:`earmark.predictors.effect_structure`), numbers that describe documents among it
(:mod:`earmark.predictors.content`). Judging one item teaches about its neighbours; the variances of the
effects are learnt while judging, and what they could be besides is averaged over.

The prior mean is moved towards the judgments as these outweigh what was expected, so that a collection of another kind
soon is its own measure. Mean and variances are fitted again when the judgments have grown by a tenth since the last
time; between, a judgment changes beliefs but not how far effects reach.

Where items have answers of several assessors, each answer is used as such: assessors may be more or less generous, and
they disagree. The truth is then what assessors would say on average, and even a judged item keeps some uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from earmark.beliefs.beliefs import Answers, Beliefs
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.effects import EffectModel, Observations
from earmark.beliefs.variance_components import FittedVariances, fit_variances
from earmark.data.arrays import Floats
from earmark.predictors.base import Predictor, Setting, register
from earmark.predictors.covariates import covariates
from earmark.predictors.effect_structure import ASSESSORS, effect_model, item_spread
from earmark.predictors.hierarchical_prior import HierarchicalPrior, shipped_prior

DRAWS = 32
"""How many sets of variances beliefs are averaged over."""

_GROWTH = 1.1
_FEW_JUDGMENTS = 20


@dataclass(frozen=True, eq=False)
class _Learnt:
    """What was learnt at the last fit, and from what."""

    model: EffectModel
    fitted: FittedVariances
    judged_gain: Floats
    n_assessors: int

    @cached_property
    def drawn(self) -> Floats:
        """What else they may be; the same draws from the same fit, so that looks differ by judgments alone."""
        return self.fitted.draws(DRAWS, np.random.default_rng(0))

    def precedes(self, judged_gain: Floats) -> bool:
        """Tell whether judgments are those of the last fit and perhaps some more."""
        known = self.judged_gain >= 0
        return bool(np.array_equal(judged_gain[known], self.judged_gain[known]))

    def serves(self, judged_gain: Floats, answers: Answers | None) -> bool:
        """Tell whether judgments have grown by so little that what was learnt still holds."""
        before, now = np.count_nonzero(self.judged_gain >= 0), np.count_nonzero(judged_gain >= 0)
        if answers is not None or self.n_assessors:
            return False
        return bool(now < max(_GROWTH * before, before + 2)) and self.precedes(judged_gain)


@register("hierarchical")
class Hierarchical(Predictor):
    """Correlated beliefs from a hierarchical model of effects.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    prior : HierarchicalPrior, optional
        Fitted on past collections; by default the one shipped for such a scale and such metadata.
    refine : bool
        Move the prior mean towards the judgments. Guaranteed estimates do without: there, what is predicted of an item
        must not know its own judgment.
    """

    name: ClassVar[str] = "hierarchical"

    def __init__(self, setting: Setting, prior: HierarchicalPrior | None = None, *, refine: bool = True) -> None:
        super().__init__(setting)
        self.known = covariates(setting.collection, setting.features, setting.content)
        self.prior = prior or shipped_prior(setting.scale, tuple(self.known.groups))
        self.refine = refine
        self._learnt: _Learnt | None = None
        self._judged = 0
        self._last: CorrelatedBeliefs | None = None

    def predict(self, judged_gain: Floats, answers: Answers | None = None) -> Beliefs:
        """Learn from the judgments and return what follows for all items.

        Raises
        ------
        NotConverged
            If the variances of the effects cannot be found; what was learnt before is kept.
        """
        said = answers if answers is not None and answers.overlap else None
        learnt = self._learnt
        if learnt is None or not learnt.serves(judged_gain, said):
            learnt = self._learn(judged_gain, said, learnt)
        # Everything below cannot fail: only now is the state that of these judgments.
        self._learnt, self._judged = learnt, int(np.count_nonzero(judged_gain >= 0))
        use = np.array(self.prior.level_use)
        before = self._last if self._last is not None and self._last.model is learnt.model else None
        self._last = CorrelatedBeliefs(
            self.setting.scale,
            judged_gain,
            learnt.model,
            self._observations(learnt.model, judged_gain, said),
            learnt.fitted.variances,
            learnt.drawn,
            (np.linspace(0.0, 1.0, use.size), use) if use.size else None,
            None if before is None else (before.posterior, before.central),
        )
        return self._last

    def for_design(self) -> Predictor:
        """Return one that leaves the prior mean alone: what it predicts of an item does not know its own judgment."""
        return Hierarchical(self.setting, self.prior, refine=False)

    @property
    def fitted_(self) -> FittedVariances | None:
        """The variances of the last fit; None before the first prediction."""
        return None if self._learnt is None else self._learnt.fitted

    def _learn(self, judged_gain: Floats, answers: Answers | None, before: _Learnt | None) -> _Learnt:
        """Refine the prior mean by the judgments and fit the variances of the effects."""
        judged = np.flatnonzero(judged_gain >= 0)
        prior = self.prior
        if self.refine:
            prior = prior.refined(self.known, judged, judged_gain[judged] / float(self.setting.scale.top))
        n_assessors = 0 if answers is None else answers.n_assessors
        model = effect_model(self.setting.collection, self.known, prior.mean(self.known), n_assessors=n_assessors)
        observed = self._observations(model, judged_gain, answers)
        start = None
        if before is not None and before.model.components == model.components and before.precedes(judged_gain):
            start = before.fitted.peak
        fitted = fit_variances(model, observed, prior.of_components(model.components), start=start)
        return _Learnt(model, fitted, judged_gain, n_assessors)

    def _observations(self, model: EffectModel, judged_gain: Floats, answers: Answers | None) -> Observations:
        top = float(self.setting.scale.top)
        if answers is None:
            items = np.flatnonzero(judged_gain >= 0)
            return Observations.exact(model, items, judged_gain[items] / top)
        order = np.argsort(answers.item, kind="stable")
        item = answers.item[order]
        spread = item_spread(model.prior_mean[item])
        shared, extra = model.shared[item].copy(), np.zeros((item.size, len(model.components)))
        first = model.shared.shape[1] - answers.n_assessors
        shared[np.arange(item.size), first + answers.assessor[order]] = spread
        extra[:, _index(model, ASSESSORS[1])] = spread**2
        return Observations(item, answers.gain[order] / top, shared, extra)

    def notes(self) -> list[str]:
        """Say what the beliefs rest on."""
        if self._judged == 0:
            return [
                f"nothing is judged: what is believed is the prior '{self.prior.name}' and nothing else, and the "
                "intervals are as wide as that is vague"
            ]
        if self._judged < _FEW_JUDGMENTS:
            return [f"only {self._judged} judged: most of what is believed is still the prior '{self.prior.name}'"]
        return []


def _index(model: EffectModel, component: str) -> int:
    return model.components.index(component) if component in model.components else -1
