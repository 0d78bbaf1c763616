"""The loop of a campaign: believe, estimate, decide whether to stop, ask, and again.

A live campaign, a round trip of files and a simulation differ only in who answers, so the loop asks a function. Between
two updates of the predictor an answer only fixes the gain of its own item; a campaign that updates after every
batch learns most, and the papers update every 20 judgments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from earmark.beliefs.beliefs import Beliefs, IndependentBeliefs
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.exact import LinearEstimator, system_weights
from earmark.beliefs.montecarlo import SAMPLES, estimate_montecarlo
from earmark.campaign.policies import Policy, PolicyState
from earmark.campaign.stopping import Budget, StopDecision, StopRule, StopState
from earmark.data.ground_truth import Floats, Ints
from earmark.errors import ParameterError
from earmark.inference.confidence import Ranking, rank_systems
from earmark.measures import Measure
from earmark.measures.graded import AG
from earmark.predictors.base import Predictor, Setting

Ask = Callable[[Ints], Floats]


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
    """

    def __init__(self, setting: Setting, measure: Measure, *, seed: int = 0, samples: int = SAMPLES) -> None:
        measure.check(setting.scale)
        self.setting = setting
        self.measure = measure
        self._seed, self._samples = seed, samples
        self._linear = LinearEstimator(setting.collection, measure, scale=setting.scale) if measure.is_linear else None

    def estimate(self, beliefs: Beliefs) -> Estimates:
        """Estimate the scores of all systems and their differences."""
        if self._linear is not None:
            return self._linear.estimate(beliefs)
        rng = np.random.default_rng(self._seed)
        return estimate_montecarlo(self.setting.collection, beliefs, self.measure, rng=rng, samples=self._samples)


def judging_measure(measure: Measure) -> Measure:
    """Return the linear measure by whose weights items are chosen: the measure itself, or average gain for others."""
    return measure if measure.is_linear else AG(cutoff=measure.cutoff or 10)


@dataclass(frozen=True, eq=False)
class Look:
    """A campaign at one moment.

    Attributes
    ----------
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    beliefs : Beliefs
        What is believed about the items.
    ranking : Ranking
        What follows for the systems.
    decision : StopDecision
        Whether to stop here, and why.
    """

    judged_gain: Floats
    beliefs: Beliefs
    ranking: Ranking
    decision: StopDecision

    @property
    def judged(self) -> int:
        """How many items are judged."""
        return self.ranking.estimates.judged


def play(
    setting: Setting,
    *,
    predictor: Predictor,
    policy: Policy,
    stop: StopRule,
    measure: Measure,
    ask: Ask,
    rng: np.random.Generator,
    batch: int = 20,
    update_every: int = 20,
    seed: int = 0,
) -> Iterator[Look]:
    """Go through a campaign, one look per batch, until the stop rule says so or everything is judged.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    predictor, policy, stop : Predictor, Policy, StopRule
        What to believe, what to ask and when to stop.
    measure : Measure
        What systems are compared by.
    ask : callable
        Given items, returns the gains they are judged to have.
    rng : numpy.random.Generator
        Where policies draw from.
    batch : int
        How many items are judged between two looks.
    update_every : int
        How many judgments the predictor waits for before it learns from them.
    seed : int
        Where Monte Carlo estimates start.
    """
    if batch < 1 or update_every < 1:
        raise ParameterError(f"a batch and the wait between updates are 1 or more, got {batch} and {update_every}")
    collection = setting.collection
    estimator = Estimator(setting, measure, seed=seed)
    weights = system_weights(collection, judging_measure(measure), scale=setting.scale)
    gains, waiting = setting.unjudged, 0
    beliefs = predictor.predict(gains)
    while True:
        ranking = rank_systems(estimator.estimate(beliefs))
        decision = stop.check(StopState.from_ranking(ranking))
        look = Look(gains, beliefs, ranking, decision)
        yield look
        if decision.stop:
            return
        state = PolicyState(
            collection=collection,
            weights=weights,
            judged=gains >= 0,
            variance=beliefs.variance,
            confidence=ranking.confidence,
            identical=ranking.estimates.identical,
            target=stop.pair_confidence,
        )
        items = policy.propose(state, _room(stop, look.judged, batch), rng).items
        answers = ask(items)
        gains = gains.copy()
        gains[items] = answers
        waiting += items.size
        if waiting >= update_every or not isinstance(beliefs, IndependentBeliefs):
            beliefs, waiting = predictor.predict(gains), 0
        else:
            beliefs = beliefs.judge(items, answers)


def _room(stop: StopRule, judged: int, batch: int) -> int:
    """Return how much of a batch a budget still allows."""
    return min(batch, stop.judgments - judged) if isinstance(stop, Budget) else batch
