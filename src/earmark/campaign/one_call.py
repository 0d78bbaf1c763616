"""The ranking so far, what to judge next, and how much that will be, in one call each.

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

import numpy as np
import polars as pl

from earmark.campaign.appraisal import Inference, Mode
from earmark.campaign.plan import Plan
from earmark.campaign.plan import plan as simulate_plan
from earmark.campaign.policies import Policy, make_policy
from earmark.campaign.standing import stand
from earmark.campaign.stopping import StopRule, parse_stop
from earmark.data.content import Content
from earmark.data.judgments import Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs
from earmark.data.scales import Scale
from earmark.inference.confidence import Ranking
from earmark.inference.population import Target
from earmark.measures import Measure
from earmark.predictors.choose import PredictorChoice


def rank(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "hierarchical",
    metadata: Metadata | None = None,
    content: Content | None = None,
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
    runs, judgments, measure, predictor, metadata, content, teams, scale
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
    standing = stand(
        runs,
        judgments,
        measure=measure,
        predictor=predictor,
        metadata=metadata,
        content=content,
        teams=teams,
        scale=scale,
    )
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
    content: Content | None = None,
    teams: Mapping[str, str] | None = None,
    scale: Scale | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Say what to judge next.

    Parameters
    ----------
    runs, judgments, measure, predictor, metadata, content, teams, scale
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
    standing = stand(
        runs,
        judgments,
        measure=measure,
        predictor=predictor,
        metadata=metadata,
        content=content,
        teams=teams,
        scale=scale,
    )
    return standing.propose(n, policy=policy, seed=seed)


def plan(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    stop: str | StopRule = "mean:0.95",
    margin: float = 0.0,
    policy: str | Policy = "variance",
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "hierarchical",
    metadata: Metadata | None = None,
    content: Content | None = None,
    teams: Mapping[str, str] | None = None,
    scale: Scale | None = None,
    repeats: int = 20,
    batch: int | None = None,
    seed: int = 0,
) -> Plan:
    """Say how many judgments a campaign will take, before anybody judges.

    Parameters
    ----------
    runs, judgments, measure, predictor, metadata, content, teams, scale
        As for :func:`stand`.
    stop, margin
        When the campaign is to stop, as for :meth:`Standing.check_stop`.
    policy : str or Policy
        How it chooses what to judge.
    repeats, batch
        How many campaigns to simulate, and how many judgments between two looks: see
        :func:`earmark.campaign.plan.plan`.
    seed : int
        Where all of the chance comes from.

    Examples
    --------
    >>> import earmark
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    >>> earmark.plan(made.runs, stop="budget:40", repeats=9).median
    40
    """
    choice = PredictorChoice(predictor) if isinstance(predictor, str) else predictor
    standing = stand(
        runs,
        judgments,
        measure=measure,
        predictor=choice,
        metadata=metadata,
        content=content,
        teams=teams,
        scale=scale,
    )
    return simulate_plan(
        standing.setting,
        predictor=choice,
        policy=make_policy(policy) if isinstance(policy, str) else policy,
        stop=parse_stop(stop, margin=margin) if isinstance(stop, str) else stop,
        measure=standing.measure,
        rng=np.random.default_rng(seed),
        repeats=repeats,
        batch=batch,
        judged_gain=standing.gains,
    )
