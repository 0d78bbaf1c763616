"""Answers in one call: the ranking so far, what to judge next, how much judging that takes, and how good a method is.

Every function builds a :class:`~earmark.campaign.campaign.Campaign` from runs, judgments and settings, and asks it one
thing. Who needs more than one answer builds the campaign: ``earmark.Campaign.build(runs, judgments, ...)``.

>>> import earmark, numpy
>>> made = earmark.synthetic_collection(numpy.random.default_rng(0), systems=3, queries=10, documents=80)
>>> ranking = earmark.rank(made.runs, made.judgments, measure="AG@5")
>>> ranking.systems_frame()["system"].to_list(), ranking.mean_confidence
(['system-1', 'system-3', 'system-2'], 1.0)
>>> earmark.propose(made.runs, n=2, metadata=made.metadata).columns
['query', 'document', 'priority', 'sampled']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import polars as pl

from earmark.campaign.campaign import Campaign
from earmark.campaign.plan import Plan
from earmark.campaign.plan import plan as simulate_plan
from earmark.campaign.policies import Policy
from earmark.campaign.problem import Missing, Problem
from earmark.campaign.stopping import StopRule
from earmark.campaign.verdict import Inference, Mode
from earmark.data.content import Content
from earmark.data.judgments import Aggregation, Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs
from earmark.data.scales import Scale
from earmark.inference.confidence import Ranking
from earmark.inference.query_population import Target
from earmark.measures import Measure
from earmark.predictors.base import Maker
from earmark.simulation.campaigns import Simulation, Study, simulate
from earmark.simulation.diagnosis import Diagnosis, diagnose


class Settings(TypedDict, total=False):
    """The settings that all functions here share: arguments of :meth:`earmark.campaign.problem.Problem.build`."""

    measure: str | Measure
    scale: Scale | None
    predictor: str | Maker
    policy: str | Policy
    stop: str | StopRule
    margin: float
    metadata: Metadata | None
    content: Content | None
    teams: Mapping[str, str] | None
    artist: str
    genre: str
    attributes: Sequence[str]
    missing: Missing
    aggregation: Aggregation
    audit: float | None
    sample: str | Path | None
    seed: int


def rank(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    level: float = 0.95,
    inference: Mode = "model",
    target: Target = "sample",
    anytime: bool = False,
    **settings: Unpack[Settings],
) -> Ranking:
    """Rank systems from few judgments or none, with intervals and the confidence in every comparison.

    Parameters
    ----------
    runs : Runs
        The ranked lists; what they hold within the measure's cutoff is what there is to judge.
    judgments : Judgments, optional
        What is judged so far.
    level : float, 0..1
        The probability that each interval is meant to hold.
    inference : {"model", "design"}
        By the model, or guaranteed by the sample that the policy ``proportional`` draws, or by judgments that were
        drawn elsewhere: ``sample`` says how.
    target : {"sample", "population"}
        About these queries, or about queries like these.
    anytime : bool
        Statements that hold however often one looks.
    **settings
        As for :meth:`Problem.build`: ``measure``, ``predictor``, ``metadata``, ``content``, ``teams``, ``scale``,
        ``seed`` ...
    """
    how = Inference(inference, target, anytime, level=level)
    return Campaign.build(runs, judgments, inference=how, **settings).ranking


def propose(
    runs: Runs, judgments: Judgments | None = None, *, n: int = 20, **settings: Unpack[Settings]
) -> pl.DataFrame:
    """Propose what to judge next.

    Parameters
    ----------
    runs, judgments, settings
        As for :func:`rank`; among them ``policy``: ``variance`` (also ``variance:pairs``, ``variance:top`` or
        ``variance:absolute``), ``proportional``, ``mtc``, ``mtc-undecided``, ``absolute``, ``balanced`` or ``random``.
    n : int
        How many items.

    Returns
    -------
    polars.DataFrame
        ``query``, ``document``, ``priority``, ``sampled``, the most wanted item first;
        :func:`earmark.write_questions` makes a file of it for people to fill in.
    """
    campaign = Campaign.build(runs, judgments, **settings)
    return campaign.proposal_frame(campaign.propose(n))


def plan(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    repeats: int = 20,
    batch: int | None = None,
    jobs: int | None = 1,
    cluster: str | None = None,
    **settings: Unpack[Settings],
) -> Plan:
    """Say how many judgments a campaign will take, before anybody judges.

    Parameters
    ----------
    runs, judgments, settings
        As for :func:`rank`; ``stop`` and ``margin`` say when the campaign is to stop.
    repeats, batch, jobs, cluster
        How many campaigns to simulate, how many judgments between two looks, and who computes: see
        :func:`earmark.campaign.plan.plan`.

    Examples
    --------
    >>> import earmark
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    >>> earmark.plan(made.runs, stop="budget:40", repeats=9).median
    40
    """
    campaign = Campaign.build(runs, judgments, **settings)
    return simulate_plan(campaign, repeats=repeats, batch=batch, jobs=jobs, cluster=cluster)


def simulate_campaigns(
    runs: Runs,
    judgments: Judgments,
    *,
    inference: Mode = "model",
    target: Target = "sample",
    anytime: bool = False,
    batch: int = 20,
    sample_systems: int | None = None,
    sample_queries: int | None = None,
    repeats: int = 1,
    jobs: int | None = 1,
    cluster: str | None = None,
    **settings: Unpack[Settings],
) -> Simulation:
    """Play campaigns through on a judged collection: how sure they would have been, and how right.

    Parameters
    ----------
    runs, judgments : Runs, Judgments
        The judged collection.
    inference, target, anytime, settings
        As for :func:`rank`, with ``policy``, ``stop`` and ``margin``.
    batch, sample_systems, sample_queries
        As for :class:`~earmark.simulation.campaigns.Study`.
    repeats : int
        How many campaigns.
    jobs, cluster
        How many processes to use (None: all cores), or the address of a Dask cluster; the results do not depend on it.

    Examples
    --------
    >>> import earmark
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    >>> played = earmark.simulate_campaigns(made.runs, made.judgments, stop="budget:40", repeats=2)
    >>> played.stops()["judged"].to_list()
    [40, 40]
    """
    how = Inference(inference, target, anytime)
    problem = Problem.build(runs, judgments=judgments, inference=how, **settings)
    study = Study(problem, judgments, batch, sample_systems, sample_queries)
    return Simulation(tuple(simulate(study, repeats=repeats, jobs=jobs, cluster=cluster)))


def diagnose_predictor(
    runs: Runs,
    judgments: Judgments,
    *,
    share: float = 0.0,
    repeats: int = 1,
    jobs: int | None = 1,
    cluster: str | None = None,
    **settings: Unpack[Settings],
) -> Diagnosis:
    """Show some of the judgments to a predictor and compare the rest with its predictions.

    Parameters
    ----------
    runs, judgments : Runs, Judgments
        A collection of which everything is judged.
    share : float, 0..1
        How much of the judgments is shown; less than all.
    repeats : int
        Over how many draws of what is shown the diagnosis is pooled.
    jobs, cluster
        How many processes to use (None: all cores), or the address of a Dask cluster; the diagnosis does not depend on
        it.
    **settings
        As for :func:`rank`; the seed says which judgments are shown.
    """
    campaign = Campaign.build(runs, judgments, **settings)
    rng = np.random.default_rng(campaign.problem.seed)
    return diagnose(campaign.problem, campaign.gains, share=share, rng=rng, repeats=repeats, jobs=jobs, cluster=cluster)
