"""Where a campaign stands: the ranking so far, and what to judge next, in one call each.

>>> import earmark, numpy
>>> made = earmark.synthetic_collection(numpy.random.default_rng(0), systems=3, queries=10, documents=80)
>>> ranking = earmark.rank(made.runs, made.judgments, measure="AG@5")
>>> ranking.systems_frame()["system"].to_list(), ranking.mean_confidence
(['system-1', 'system-3', 'system-2'], 1.0)
>>> earmark.propose(made.runs, n=2, metadata=made.metadata).columns
['query', 'document', 'priority', 'sampled']
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import Beliefs, item_gains
from earmark.beliefs.exact import system_weights
from earmark.campaign.loop import Estimator, judging_measure
from earmark.campaign.policies import PolicyState, Proposal, make_policy
from earmark.data.collection import Collection
from earmark.data.ground_truth import Floats
from earmark.data.judgments import Aggregation, Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs
from earmark.data.scales import Scale
from earmark.inference.confidence import Ranking, rank_systems
from earmark.measures import Measure, parse
from earmark.predictors.base import Predictor, Setting
from earmark.predictors.choose import PredictorChoice


@dataclass(frozen=True, eq=False)
class Standing:
    """A collection, what is judged of it, and what is believed about the rest.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    measure : Measure
        What systems are compared by.
    predictor : Predictor
        What turned the judgments into beliefs.
    gains : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    beliefs : Beliefs
        About all items.
    """

    setting: Setting
    measure: Measure
    predictor: Predictor
    gains: Floats
    beliefs: Beliefs

    def ranking(self, *, level: float = 0.95, df: float | None = None, seed: int = 0, samples: int = 1000) -> Ranking:
        """Estimate the scores of all systems and say how sure their order is."""
        estimator = Estimator(self.setting, self.measure, seed=seed, samples=samples)
        return rank_systems(estimator.estimate(self.beliefs), level=level, df=df)

    def proposal(self, policy: str, n: int, rng: np.random.Generator, *, seed: int = 0) -> Proposal:
        """Choose what to judge next."""
        ranking = self.ranking(seed=seed)
        collection, scale = self.setting.collection, self.setting.scale
        state = PolicyState(
            collection=collection,
            weights=system_weights(collection, judging_measure(self.measure), scale=scale),
            judged=self.gains >= 0,
            variance=self.beliefs.variance,
            confidence=ranking.confidence,
            identical=ranking.estimates.identical,
        )
        return make_policy(policy).propose(state, n, rng)


def stand(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "ordinal",
    metadata: Metadata | None = None,
    teams: Mapping[str, str] | None = None,
    scale: Scale | None = None,
    aggregation: Aggregation = "mean",
) -> Standing:
    """Put together what a ranking rests on.

    Parameters
    ----------
    runs : Runs
        The ranked lists; what they hold within the measure's cutoff is what there is to judge.
    judgments : Judgments, optional
        What is judged so far.
    measure : str or Measure
        What systems are compared by.
    predictor : str or PredictorChoice
        ``uniform``, ``mtc-output``, ``mtc-judge``, ``ordinal`` or ``external:FILE``.
    metadata : Metadata, optional
        What is known about the documents, for predictors that use it.
    teams : mapping of str to str, optional
        Who sent which system.
    scale : Scale, optional
        The judging scale, where judgments do not tell it; else the one the predictor is made for.
    aggregation : {"mean", "median", "majority"}
        How to make one gain of several assessors' judgments.
    """
    chosen = parse(measure) if isinstance(measure, str) else measure
    choice = PredictorChoice(predictor) if isinstance(predictor, str) else predictor
    known = scale or (choice.usual_scale() if judgments is None else judgments.scale)
    collection = Collection.from_runs(runs, depth=chosen.cutoff, metadata=metadata)
    setting = Setting(collection, known, teams)
    made = choice(setting)
    gains = setting.unjudged if judgments is None else item_gains(collection, judgments, aggregation=aggregation)
    return Standing(setting, chosen, made, gains, made.predict(gains))


def rank(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "ordinal",
    metadata: Metadata | None = None,
    teams: Mapping[str, str] | None = None,
    scale: Scale | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Ranking:
    """Rank systems from few judgments or none, with intervals and the confidence in every comparison.

    Parameters
    ----------
    runs, judgments, measure, predictor, metadata, teams, scale
        As for :func:`stand`.
    level : float, 0..1
        The probability that each interval is meant to hold.
    seed : int
        Where Monte Carlo estimates of measures such as nDCG start.
    """
    standing = stand(runs, judgments, measure=measure, predictor=predictor, metadata=metadata, teams=teams, scale=scale)
    return standing.ranking(level=level, seed=seed)


def propose(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    n: int = 20,
    policy: str = "mtc",
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "ordinal",
    metadata: Metadata | None = None,
    teams: Mapping[str, str] | None = None,
    scale: Scale | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Say what to judge next.

    Parameters
    ----------
    runs, judgments, measure, predictor, metadata, teams, scale
        As for :func:`stand`.
    n : int
        How many items.
    policy : str
        How to choose them: ``mtc``, ``mtc-undecided``, ``absolute``, ``balanced`` or ``random``.
    seed : int
        Among equally wanted items chance decides.

    Returns
    -------
    polars.DataFrame
        ``query``, ``document``, ``priority``, ``sampled``, the most wanted item first.
    """
    standing = stand(runs, judgments, measure=measure, predictor=predictor, metadata=metadata, teams=teams, scale=scale)
    proposal = standing.proposal(policy, n, np.random.default_rng(seed), seed=seed)
    return proposal_frame(standing.setting.collection, proposal)


def proposal_frame(collection: Collection, proposal: Proposal) -> pl.DataFrame:
    """Return ``query``, ``document``, ``priority``, ``sampled``, the most wanted item first."""
    chosen = collection.item_frame()[proposal.items]
    return chosen.with_columns(priority=pl.Series(proposal.priority), sampled=pl.Series(proposal.sampled))
