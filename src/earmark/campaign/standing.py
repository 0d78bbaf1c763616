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

from earmark.beliefs.beliefs import Beliefs, item_answers, item_gains
from earmark.beliefs.exact import system_weights
from earmark.campaign.appraisal import Appraiser, Inference, Mode, Verdict, judging_measure
from earmark.campaign.loop import policy_state
from earmark.campaign.policies import Policy, Proposal, make_policy
from earmark.campaign.proportional import Audited, Proportional
from earmark.data.collection import Collection
from earmark.data.ground_truth import Floats
from earmark.data.judgments import Aggregation, Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs
from earmark.data.scales import Scale
from earmark.inference.confidence import Ranking
from earmark.inference.population import Target
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

    def appraiser(self, inference: Inference | None = None, *, seed: int = 0, samples: int = 1000) -> Appraiser:
        """Return what reaches verdicts on this collection."""
        return Appraiser(self.setting, self.measure, self.predictor, inference=inference, seed=seed, samples=samples)

    def verdict(self, inference: Inference | None = None, *, seed: int = 0, samples: int = 1000) -> Verdict:
        """Say what follows for the systems, and what that rests on."""
        return self.appraiser(inference, seed=seed, samples=samples).appraise(self.beliefs)

    def ranking(self, *, level: float = 0.95, df: float | None = None, seed: int = 0, samples: int = 1000) -> Ranking:
        """Estimate the scores of all systems by the model and say how sure their order is."""
        return self.appraiser(Inference(level=level), seed=seed, samples=samples).appraise(self.beliefs, df=df).ranking

    def proposal(
        self,
        policy: str | Policy,
        n: int,
        rng: np.random.Generator,
        *,
        seed: int = 0,
        audit: float = 0.0,
        whole_queries: bool = False,
    ) -> Proposal:
        """Choose what to judge next.

        Parameters
        ----------
        policy : str or Policy
            How to choose.
        n : int
            How many items.
        rng : numpy.random.Generator
            Among equally wanted items chance decides.
        seed : int
            Of the sample order: the same for all of a campaign.
        audit : float, 0..1
            The share of items that follow the sample order.
        whole_queries : bool
            The sample order goes query by query.
        """
        chosen = make_policy(policy) if isinstance(policy, str) else policy
        chosen = Audited(chosen, audit) if audit else chosen
        appraiser = self.appraiser(Inference(whole_queries=whole_queries), seed=seed)
        samples = isinstance(chosen, Audited | Proportional)
        weights = system_weights(self.setting.collection, judging_measure(self.measure), scale=self.setting.scale)
        ranking = appraiser.by_model(self.beliefs)
        state = policy_state(self.setting, weights, self.beliefs, ranking, order=appraiser.order if samples else None)
        return chosen.propose(state, n, rng)


def stand(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "hierarchical",
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
        ``hierarchical``, ``uniform``, ``mtc-output``, ``mtc-judge``, ``ordinal`` or ``external:FILE``.
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
    if judgments is None:
        return Standing(setting, chosen, made, setting.unjudged, made.predict(setting.unjudged))
    gains = item_gains(collection, judgments, aggregation=aggregation)
    return Standing(setting, chosen, made, gains, made.predict(gains, item_answers(collection, judgments)))


def rank(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "hierarchical",
    metadata: Metadata | None = None,
    teams: Mapping[str, str] | None = None,
    scale: Scale | None = None,
    level: float = 0.95,
    inference: Mode = "model",
    target: Target = "sample",
    anytime: bool = False,
    seed: int = 0,
) -> Ranking:
    """Rank systems from few judgments or none, with intervals and the confidence in every comparison.

    Parameters
    ----------
    runs, judgments, measure, predictor, metadata, teams, scale
        As for :func:`stand`.
    level : float, 0..1
        The probability that each interval is meant to hold.
    inference : {"model", "design"}
        By the model, or guaranteed by the sample that the policy ``proportional`` draws.
    target : {"sample", "population"}
        About these queries, or about queries like these.
    anytime : bool
        Statements that hold however often one looks.
    seed : int
        Of the sample, and where Monte Carlo estimates of measures such as nDCG start.
    """
    standing = stand(runs, judgments, measure=measure, predictor=predictor, metadata=metadata, teams=teams, scale=scale)
    return standing.verdict(Inference(inference, target, anytime, level=level), seed=seed).ranking


def propose(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    n: int = 20,
    policy: str = "variance",
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "hierarchical",
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
        How to choose them: ``variance``, ``proportional``, ``mtc``, ``mtc-undecided``, ``absolute``, ``balanced`` or
        ``random``.
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
