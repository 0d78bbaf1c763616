"""The predictor ``hierarchical``: beliefs with correlated errors, learnt from the judgments.

The prior mean of an item comes from covariates. Its error has components that items share: effects of queries, systems,
artists, genres and whatever else is known (:mod:`earmark.predictors.hierarchical_effects`), including numbers that
describe documents (:mod:`earmark.predictors.content_kernels`). A judgment of one item therefore changes the posterior
of the items that share effects with it. The variances of the effects are estimated from the judgments, and estimates
are averaged over the posterior of these variances.

The prior mean of a collection like past ones is refined by the judgments as their number grows, so that it soon
determines its own mean; that of any other collection says little, and the effects alone correct it. How much items vary
follows the typical gain of items like them, which the judgments tell as well. Mean, spreads and variances are fitted at
fixed numbers of judgments (:func:`~earmark.predictors.base.refit_count`), to the judgments made up to then; judgments
since then condition the posterior but not the fit. Every fit starts from the prior, so beliefs depend on the judgments
and their order alone; what was computed for earlier judgments is reused only where it gives the same result to the bit.

Where several assessors judged the same items, each answer is an observation of its own: assessors differ in severity,
and they disagree. The truth is then the mean answer of such assessors, and a judged item keeps some uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from earmark.beliefs.beliefs import AssessorGains
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.effects import EffectModel, Observations
from earmark.beliefs.variance_components import FittedVariances, fit_variances
from earmark.data.arrays import Floats, Ints
from earmark.predictors.base import PREDICTORS, Errors, Predictor, Setting, digest_of, fitted_part
from earmark.predictors.covariates import covariates
from earmark.predictors.hierarchical_effects import ASSESSORS, NOISE, CollectionEffects, typical_gain
from earmark.predictors.hierarchical_prior import HierarchicalPrior, shipped_prior

DRAWS = 32
"""How many draws of the variances beliefs are averaged over."""

_FEW_JUDGMENTS = 20
# The smallest step of a scale that assessors can be expected to tell apart, as a share of the top gain.
_FINEST = 0.01


@dataclass(frozen=True, eq=False)
class _Fit:
    """An effect model with fitted variances, and the judgments it was fitted to."""

    model: EffectModel
    variances: FittedVariances
    judged_gain: Floats

    @cached_property
    def drawn(self) -> Floats:
        """Draws from the posterior of the variances; the same for the same fit, so that looks differ by judgments."""
        return self.variances.draws(DRAWS, np.random.default_rng(0))


@PREDICTORS.register
class Hierarchical(Predictor):
    """Correlated beliefs from a hierarchical model of effects.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    prior : HierarchicalPrior, optional
        Fitted on past collections; by default the one shipped for such a scale and such metadata.
    refine : bool
        Refine the prior mean and the spreads by the judgments. Guaranteed estimates do without: there, the prediction
        of an item must not depend on its own judgment.
    """

    name: ClassVar[str] = "hierarchical"
    errors: ClassVar[Errors] = "correlated"
    learns_always: ClassVar[bool] = True

    def __init__(self, setting: Setting, prior: HierarchicalPrior | None = None, *, refine: bool = True) -> None:
        super().__init__(setting)
        self.known = covariates(setting.collection, setting.features, setting.content)
        self._given = prior or shipped_prior(setting.scale, tuple(self.known.groups))
        self.prior = self._given.for_collection(self.known, len(setting.collection.systems))
        # A standardised prior is made for any collection: its mean says little, and effects alone correct it.
        self.refine_mean = refine and not self._given.standardised
        self.refine_spread = refine
        # Caches: they change how fast predict answers, never what it answers.
        self._last_effects: tuple[int, CollectionEffects] | None = None
        self._last_fit: _Fit | None = None
        self._last: CorrelatedBeliefs | None = None

    def predict(
        self, judged_gain: Floats, answers: AssessorGains | None = None, *, order: Ints | None = None
    ) -> CorrelatedBeliefs:
        """Fit the model to the judgments and return the posterior of all items.

        Raises
        ------
        NotConverged
            If the variances of the effects cannot be found.
        """
        said = answers if answers is not None and answers.overlap else None
        fit = self._fit(fitted_part(judged_gain, order) if said is None else judged_gain, said)
        use = np.array(self.prior.level_use)
        before = self._last if self._last is not None and self._last.model is fit.model else None
        self._last = CorrelatedBeliefs(
            self.setting.scale,
            judged_gain,
            fit.model,
            self._observations(fit.model, judged_gain, said),
            fit.variances.variances,
            fit.drawn,
            (np.linspace(0.0, 1.0, use.size), use) if use.size else None,
            None if before is None else (before.posterior, before.central),
            notes=self._notes(int(np.count_nonzero(judged_gain >= 0))),
        )
        return self._last

    def out_of_sample(self, judged_gain: Floats, fold: Ints) -> Floats:
        """Leave out every single judgment in turn, exactly, with a prior mean and spreads that learn from none of them.

        The variances of the effects are fitted to all judgments together, of which one is a small part.
        """
        return self._unrefined.predict(judged_gain).leave_one_out()

    @cached_property
    def _unrefined(self) -> Hierarchical:
        return Hierarchical(self.setting, self._given, refine=False)

    @property
    def version(self) -> str:
        """The version of the model, and the prior it starts from, which is the same for all collections."""
        return f"3, prior {self._given.name} {digest_of(self._given.to_dict())}"

    def _notes(self, judged: int) -> tuple[str, ...]:
        if judged == 0:
            return (
                f"nothing is judged: predictions are those of the prior '{self.prior.name}', and the intervals are as "
                "wide as it is vague",
            )
        if judged < _FEW_JUDGMENTS:
            return (f"only {judged} judged: predictions depend mostly on the prior '{self.prior.name}'",)
        return ()

    @property
    def fitted_(self) -> FittedVariances | None:
        """The variances of the last fit; None before the first prediction."""
        return None if self._last_fit is None else self._last_fit.variances

    def _fit(self, judged_gain: Floats, answers: AssessorGains | None) -> _Fit:
        """Refine the prior mean and fit the variances of the effects, or return the last fit if it is the same."""
        last = self._last_fit
        if answers is None and last is not None and np.array_equal(last.judged_gain, judged_gain):
            return last
        judged = np.flatnonzero(judged_gain >= 0)
        prior = self.prior
        if self.refine_mean:
            prior = prior.refined(self.known, judged, judged_gain[judged] / float(self.setting.scale.top))
        mean, effects = prior.mean(self.known), self._effects_with(0 if answers is None else answers.n_assessors)
        model = effects.model(mean)
        observed = self._observations(model, judged_gain, answers)
        expected = prior.of_components(model.components)
        if self.refine_spread and judged.size:
            model = effects.model(mean, typical=typical_gain(model, observed, np.exp(expected.centre)))
            observed = self._observations(model, judged_gain, answers)
        fit = _Fit(model, fit_variances(model, observed, expected), judged_gain)
        self._last_fit = fit if answers is None else None
        return fit

    def _effects_with(self, n_assessors: int) -> CollectionEffects:
        """Return the effects of the collection and of so many assessors, which fits have in common."""
        known = self._last_effects
        if known is None or known[0] != n_assessors:
            names = tuple(self.prior.variances)
            made = CollectionEffects(self.setting.collection, self.known, effects=names, n_assessors=n_assessors)
            known = self._last_effects = n_assessors, made
        return known[1]

    def _observations(self, model: EffectModel, judged_gain: Floats, answers: AssessorGains | None) -> Observations:
        top = float(self.setting.scale.top)
        if answers is None:
            items = np.flatnonzero(judged_gain >= 0)
            return Observations.exact(model, items, judged_gain[items] / top)
        # Sorted by item and assessor: the order in which answers came in changes nothing.
        order = np.lexsort((answers.gain, answers.assessor, answers.item))
        item = answers.item[order]
        spread = np.sqrt(model.own[item][:, _index(model, NOISE)])
        shared, extra = model.shared[item].copy(), np.zeros((item.size, len(model.components)))
        first, disagreement = model.shared.shape[1] - answers.n_assessors, _index(model, ASSESSORS[1])
        shared[np.arange(item.size), first + answers.assessor[order]] = spread
        extra[:, disagreement] = spread**2
        observed = Observations.of_answers(item, answers.gain[order] / top, shared, extra)
        # However well they agree, the next two answers may be a step of the scale apart: without this, the variance of
        # assessors who agree on everything would go to 0, and their answers would be the truth.
        step = max(float(np.diff(self.setting.levels).min()) / top, _FINEST)
        return observed.with_difference(step, component=disagreement)


def _index(model: EffectModel, component: str) -> int:
    return model.components.index(component) if component in model.components else -1
