"""From beliefs and judgments to a verdict: by the model or by a sample, about these queries or others like them.

==============  ========================================================================================================
inference       what a verdict rests on
==============  ========================================================================================================
``model``       the posterior of the model: valid as far as the model is
``design``      a sample with known probabilities: valid whatever the model, which only makes intervals narrower
==============  ========================================================================================================

Normalised measures can be estimated by design in two ways. A sample of items gives nearly unbiased differences of
systems and no guarantee for single systems; a sample of whole queries (``whole_queries``) gives a guarantee for both.
The result says which of them it is.

Statements that hold *at any time*, for people who look after every answer and stop when they like, start at a first
look and are wider.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from earmark.beliefs.beliefs import UNJUDGED, Beliefs, IndependentBeliefs
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.exact_estimates import LinearEstimator, Sparse, system_weights
from earmark.beliefs.linearised_ratios import estimate_linearised, is_linearised
from earmark.beliefs.montecarlo import SAMPLES, estimate_montecarlo, over_pool
from earmark.beliefs.normalised_estimates import estimate_normalised, numerator_of
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, Summary
from earmark.data.permanent_random_numbers import item_folds
from earmark.data.units import QueryUnits
from earmark.errors import ParameterError
from earmark.inference.audit import Audit, audit
from earmark.inference.confidence import Ranking, rank_systems
from earmark.inference.confidence_sequences import FIRST_LOOK, AnyTime
from earmark.inference.design_based import (
    GUARANTEED,
    GUARANTEED_FROM,
    MINIMUM_SAMPLE,
    DesignEstimator,
    DesignResult,
    enough_drawn,
)
from earmark.inference.design_based_normalised import (
    MINIMUM_QUERIES,
    estimate_by_complete_queries,
    estimate_ratio_by_design,
)
from earmark.inference.query_population import TARGETS, Target, query_sampling, to_population
from earmark.inference.sampling_design import ItemSampling, JudgingOrder, QueryOrder, SampleOrder
from earmark.inference.units import Units
from earmark.measures import Measure
from earmark.measures.graded import AG
from earmark.predictors.base import Predictor, Setting
from earmark.wording import counted

Mode = Literal["model", "design"]
Distribution = Literal["normal", "t"]
Normalised = Literal["delta", "mode", "truncated", "montecarlo"]
BY_MODEL = "by the model"
# Intervals about other queries are as wide as queries differ, and unjudged ones differ by as much as is believed.
BETWEEN_BY_MODEL = "except for how much queries differ, which is by the model"


def judging_measure(measure: Measure) -> Measure:
    """Return the linear measure by whose weights items are chosen.

    It is the measure itself; for a normalised one its numerator (DCG for nDCG, RBP for nRBP); for others, average gain.
    """
    if measure.is_linear:
        return measure
    return numerator_of(over_pool(measure)) if is_linearised(measure) else AG(cutoff=measure.cutoff or 10)


@dataclass(frozen=True)
class Inference:
    """How verdicts are reached.

    Parameters
    ----------
    mode : {"model", "design"}
    target : {"sample", "population"}
        About these queries, or about queries like these.
    anytime : bool
        Statements that hold at all looks together.
    whole_queries : bool
        The sample consists of queries judged completely, not of single items.
    level : float, 0..1
        The probability that every interval holds.
    distribution : {"normal", "t"}
        Of differences whose estimates bring no degrees of freedom of their own: normal, or Student's t with one degree
        of freedom less than queries.
    units : QueryUnits, optional
        Which queries belong together, for verdicts about the population: by default every query is independent of all
        others.
    normalised : {"delta", "mode", "truncated", "montecarlo"}, optional
        How the ratios of normalised measures are estimated from independent beliefs
        (:mod:`earmark.beliefs.normalised_estimates`); by default by Monte Carlo.
    """

    mode: Mode = "model"
    target: Target = "sample"
    anytime: bool = False
    whole_queries: bool = False
    level: float = 0.95
    distribution: Distribution = "normal"
    units: QueryUnits | None = None
    normalised: Normalised | None = None

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ParameterError(f"--level is a probability above 0 and below 1, got {self.level:g}")
        for name, value, known in (
            ("inference", self.mode, get_args(Mode)),
            ("target", self.target, tuple(TARGETS)),
            ("distribution", self.distribution, get_args(Distribution)),
            ("normalised", self.normalised, (None, *get_args(Normalised))),
        ):
            if value not in known:
                raise ParameterError(f"unknown {name} '{value}': use {' or '.join(one for one in known if one)}")
        if self.units is not None and self.target == "sample":
            raise ParameterError("units of queries are for verdicts about queries like these: --target population")

    @property
    def about(self) -> str:
        """What verdicts are about, in words."""
        about = TARGETS[self.target]
        return about if self.units is None else f"{about}, independent by {self.units.name}"


class Estimator:
    """Estimates of one measure on one collection: exact where it is linear, else by Monte Carlo.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    measure : Measure
        What to estimate.
    seed : int
        Every Monte Carlo estimate starts from it, so that two estimates differ by their beliefs and not by chance.
    samples : int
        How many draws a Monte Carlo estimate makes.
    normalised : str, optional
        How a normalised measure is estimated from independent beliefs; by default by Monte Carlo.
    """

    def __init__(
        self,
        setting: Setting,
        measure: Measure,
        *,
        seed: int = 0,
        samples: int = SAMPLES,
        normalised: Normalised | None = None,
    ) -> None:
        measure.check(setting.scale)
        if normalised is not None and not is_linearised(measure):
            raise ParameterError(f"--normalised is for nDCG with linear gains and for nRBP, not for {measure}")
        self._form = normalised
        self.setting = setting
        self.measure = measure
        self._seed, self._samples = seed, samples
        self._linear = LinearEstimator(setting.collection, measure, scale=setting.scale) if measure.is_linear else None

    @cached_property
    def judging_weights(self) -> Sparse:
        """What the gain of every item adds to the score of every system, by the measure that items are chosen by."""
        if self._linear is not None:
            return self._linear.sparse_weights
        return system_weights(self.setting.collection, judging_measure(self.measure), scale=self.setting.scale)

    def estimate(self, beliefs: Beliefs) -> Estimates:
        """Estimate the scores of all systems and their differences."""
        if self._linear is not None:
            return self._linear.estimate(beliefs)
        rng = np.random.default_rng(self._seed)
        if self._form is not None:
            assert isinstance(beliefs, IndependentBeliefs)
            return estimate_normalised(
                self.setting.collection, beliefs, self.measure, form=self._form, rng=rng, samples=self._samples
            )
        if isinstance(beliefs, CorrelatedBeliefs) and is_linearised(self.measure):
            return estimate_linearised(self.setting.collection, beliefs, self.measure, rng=rng, samples=self._samples)
        return estimate_montecarlo(self.setting.collection, beliefs, self.measure, rng=rng, samples=self._samples)


@dataclass(frozen=True, eq=False, repr=False)
class Verdict(Display):
    """What follows for the systems.

    Attributes
    ----------
    ranking : Ranking
    basis : str
        What it rests on, in words: the model, or what the sample guarantees.
    sampled : int or None
        How many sampled judgments it rests on, where it is by design.
    """

    ranking: Ranking
    basis: str
    sampled: int | None = None

    def _summary(self) -> Summary:
        """Show the ranking, and what it rests on."""
        seen = self.ranking._summary()
        sample = "" if self.sampled is None else f", from {counted(self.sampled, 'sampled judgment')}"
        return Summary(seen.sentence, seen.sheets, [f"{self.basis}{sample}", *seen.notes])


class Verdicts:
    """Verdicts on one collection, again and again as items are judged.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    measure : Measure
        What systems are compared by.
    predictor : Predictor
        What makes beliefs; by design, one of the same kind makes intervals narrower.
    inference : Inference
    seed : int
        Of the sample order, and where Monte Carlo estimates start.
    samples : int
        How many draws a Monte Carlo estimate makes.
    sampling : ItemSampling, optional
        How items were sampled, where they do not follow the order of this measure and seed.
    basis : str
        What verdicts from that sample rest on, in words.
    """

    def __init__(
        self,
        setting: Setting,
        measure: Measure,
        predictor: Predictor,
        *,
        inference: Inference | None = None,
        seed: int = 0,
        samples: int = SAMPLES,
        sampling: ItemSampling | None = None,
        basis: str = GUARANTEED,
    ) -> None:
        self._sampling, self._basis = sampling, basis
        self.inference = inference or Inference()
        self._setting, self._measure, self._seed = setting, measure, seed
        form = self.inference.normalised
        if form is not None and (predictor.errors == "correlated" or self.inference.mode == "design"):
            raise ParameterError(
                f"--normalised {form} is for predictors that take errors as independent, and --inference model: "
                f"{predictor.name} by {self.inference.mode} has one way to estimate {measure}"
            )
        self._estimator = Estimator(setting, measure, seed=seed, samples=samples, normalised=form)
        self._predictor = predictor
        if self.inference.mode == "design" and not measure.is_linear and not self.inference.whole_queries:
            self._check_normalised()
        _ = self._units  # refuses what does not fit
        if self.inference.distribution == "t" and len(setting.collection.queries) < 2:
            raise ParameterError("--distribution t needs two queries or more, got one")

    @property
    def judging_weights(self) -> Sparse:
        """What the gain of every item adds to the score of every system, by the measure that items are chosen by."""
        return self._estimator.judging_weights

    @cached_property
    def order(self) -> JudgingOrder:
        """In which a sample is judged."""
        return self.query_order if self.inference.whole_queries else self.item_order

    @property
    def sampling(self) -> ItemSampling:
        """How items are sampled."""
        return self.item_order if self._sampling is None else self._sampling

    @cached_property
    def item_order(self) -> SampleOrder:
        """In which a sample of items is judged."""
        collection, scale = self._setting.collection, self._setting.scale
        return SampleOrder.of(collection, judging_measure(self._measure), scale=scale, seed=self._seed)

    @cached_property
    def query_order(self) -> QueryOrder:
        """In which a sample of whole queries is judged."""
        return QueryOrder.of(self._setting.collection, seed=self._seed)

    @cached_property
    def folds(self) -> Ints:
        """Into which folds items are dealt where predictions are cross-fitted, shape (items,)."""
        return item_folds(self._setting.collection, seed=self._seed)

    def ready(self, judged_gain: Floats) -> bool:
        """Tell whether there is enough to be honest about."""
        judged, chosen = judged_gain >= 0, self.inference
        if chosen.mode == "design" and not chosen.whole_queries:
            return self._enough_items(judged, FIRST_LOOK if chosen.anytime else GUARANTEED_FROM)
        if chosen.anytime and np.count_nonzero(judged) < min(FIRST_LOOK, judged.size):
            return False
        return chosen.mode == "model" or self._enough_queries(judged)

    def _enough_queries(self, judged: Bools) -> bool:
        enough = min(MINIMUM_QUERIES, len(self._setting.collection.queries))
        return self.query_order.complete(judged).size >= enough

    def _enough_items(self, judged: Bools, needed: int) -> bool:
        return self.sampling.count(judged) >= min(needed, self.sampling.n_needed)

    def by_model(self, beliefs: Beliefs) -> Ranking:
        """Rank systems by the model, whatever verdicts rest on."""
        return rank_systems(self._estimator.estimate(beliefs), level=self.inference.level)

    def conclude(self, beliefs: Beliefs, *, mode: Mode | None = None) -> Verdict:
        """Say what follows for the systems.

        Parameters
        ----------
        beliefs : Beliefs
            About all items, from all judgments.
        mode : {"model", "design"}, optional
            What the verdict rests on; by default what verdicts of this problem do.

        Raises
        ------
        ParameterError
            If there is too little to be honest about: by design, too few sampled judgments; at any time, too few.
        """
        chosen = self.inference if mode is None else replace(self.inference, mode=mode)
        if chosen.mode == "design":
            found = self.by_design(beliefs)
            estimates, sampled = found.estimates, self._sampled_judgments(found)
            basis = self._basis if found.guarantee == GUARANTEED else found.guarantee
        else:
            estimates, basis, sampled = self._estimator.estimate(beliefs), BY_MODEL, None
        anytime = None
        if chosen.anytime:
            judged, items = self._counted(estimates, sampled, chosen)
            anytime = AnyTime.by_count(judged, items=items, first=min(FIRST_LOOK, items))
        if chosen.target == "population":
            rng = np.random.default_rng(self._seed)
            sampling = query_sampling(self._setting.collection, beliefs, self._measure, rng=rng, units=self._units)
            estimates = to_population(estimates, sampling)
            basis = basis if basis == BY_MODEL else f"{basis}; {BETWEEN_BY_MODEL}"
        df = len(self._setting.collection.queries) - 1 if chosen.distribution == "t" else None
        ranking = rank_systems(estimates, level=chosen.level, df=df, anytime=anytime)
        return Verdict(ranking, basis, sampled)

    def at_any_time(self, verdict: Verdict, *, mode: Mode | None = None) -> Ranking | None:
        """Return the ranking of a verdict with statements that hold at all looks together.

        Parameters
        ----------
        verdict : Verdict
            From :meth:`conclude`.
        mode : {"model", "design"}, optional
            What the verdict rests on, as for :meth:`conclude`.

        Returns
        -------
        Ranking or None
            None before the first look, for which there is no guarantee (:data:`FIRST_LOOK`).
        """
        chosen = self.inference if mode is None else replace(self.inference, mode=mode)
        return verdict.ranking.at_any_time(*self._counted(verdict.ranking.estimates, verdict.sampled, chosen))

    def _counted(self, estimates: Estimates, sampled: int | None, chosen: Inference) -> tuple[int, int]:
        """Return how many judgments the information grows with, of how many."""
        if chosen.mode == "design" and not chosen.whole_queries and sampled is not None:
            # Items that matter to no system are in no sample.
            return sampled, self.sampling.n_needed
        return estimates.judged, estimates.items

    def by_design(self, beliefs: Beliefs, *, least: int = GUARANTEED_FROM) -> DesignResult:
        """Estimate from the sample alone, of so many items at least; a test does with fewer than a guarantee."""
        collection, scale, gains = self._setting.collection, self._setting.scale, beliefs.judged_gain
        level = self.inference.level
        if self.inference.whole_queries:
            return estimate_by_complete_queries(
                collection, self._measure, scale=scale, order=self.query_order, judged_gain=gains, level=level
            )
        sample = np.where(enough_drawn(self.sampling, gains >= 0, least).sampled, gains, UNJUDGED)
        prediction = self._predictor.out_of_sample(sample, self.folds)
        if self._measure.is_linear:
            return self._by_items.estimate(gains, prediction, level=level)
        return estimate_ratio_by_design(
            collection,
            self._measure,
            scale=scale,
            order=self.sampling,
            judged_gain=gains,
            prediction=prediction,
            rng=np.random.default_rng(self._seed),
            level=level,
        )

    @cached_property
    def _units(self) -> Units | None:
        """Which queries belong together."""
        units, queries = self.inference.units, self._setting.collection.queries
        return None if units is None else Units.of(units.numbers(queries), n_queries=len(queries))

    @cached_property
    def _by_items(self) -> DesignEstimator:
        return DesignEstimator(self._setting.collection, self._measure, scale=self._setting.scale, order=self.sampling)

    def can_guarantee(self, judged_gain: Floats) -> bool:
        """Tell whether enough of the sample is judged for a verdict by design."""
        judged = judged_gain >= 0
        if self.inference.whole_queries:
            return self._enough_queries(judged)
        return self._measure.is_linear and self._enough_items(judged, GUARANTEED_FROM)

    def can_audit(self, judged_gain: Floats) -> bool:
        """Tell whether enough of the sample is judged to check the model against it."""
        judged = judged_gain >= 0
        if self.inference.whole_queries:
            return self._enough_queries(judged)
        return self._measure.is_linear and self._enough_items(judged, MINIMUM_SAMPLE)

    def audit(self, beliefs: Beliefs) -> Audit:
        """Hold the model's estimates against those of the sample."""
        found = self.by_design(beliefs, least=MINIMUM_SAMPLE)
        return audit(self._estimator.estimate(beliefs), found.estimates, sampled=self._sampled_judgments(found))

    def _sampled_judgments(self, found: DesignResult) -> int:
        """Return how many judgments a sample of items, or of whole queries, is made of."""
        if not self.inference.whole_queries:
            return found.sampled
        return int(np.isin(self._setting.collection.item_query, self.query_order.queries[: found.sampled]).sum())

    def _check_normalised(self) -> None:
        name = type(self._measure).__name__
        if name not in ("nDCG", "nRBP"):
            raise ParameterError(
                f"{self._measure} has no estimate by a sample of items: sample whole queries (--whole-queries), or use "
                "--inference model"
            )
