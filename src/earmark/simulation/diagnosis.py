"""Diagnosis: how honest a predictor is on a judged collection.

Some of the judgments are shown to the predictor, and its predictions are compared with the rest: how good its
probabilities are (ranked probability score and its parts), whether its errors are as large as its variances say,
whether its intervals have their nominal coverage, and whether its accuracy equals its confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import UNJUDGED
from earmark.beliefs.estimates import Estimates, Moments
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Estimator
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary, written_cells
from earmark.diagnose.calibration import MTC_EDGES, accuracy_by_confidence
from earmark.diagnose.coverage import LEVELS, Coverage, interval_coverage
from earmark.diagnose.decomposition import decompose_grouped, group_forecasts
from earmark.diagnose.proper_scores import ranked_probability_score, summarise_errors
from earmark.errors import ParameterError
from earmark.inference.confidence import rank_systems
from earmark.predictors.mtc import Uniform
from earmark.predictors.ordinal_levels import model_levels, to_levels
from earmark.workers import work_through

# Groups of forecasts smaller than this say more about chance than about the forecasts (BIAS, section 3.1).
_SMALLEST_GROUP = 10


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Display):
    """How a predictor did, for one share of judgments shown to it.

    Attributes
    ----------
    share : float
        The share of items that was shown.
    scores : dict of str to float
        ``rps``, ``reliability``, ``resolution``, ``uncertainty`` of the probabilities of unjudged items, ``rmse``, the
        mean ``variance`` claimed and the mean squared ``error`` made, in units of gain.
    coverage : polars.DataFrame
        ``level``, and the shares of ``pairs`` and ``systems`` whose interval at that level holds the true value.
    bins : polars.DataFrame
        ``lower``, ``upper``: the range of confidence; how many ``pairs`` fell in it, their mean ``confidence`` and
        their ``accuracy`` with bounds.
    """

    share: float
    scores: dict[str, float]
    coverage: pl.DataFrame
    bins: pl.DataFrame

    def _summary(self) -> Summary:
        """Show scores, coverage, and accuracy by confidence."""
        filled = self.bins.filter(pl.col("pairs") > 0)
        claimed, right = written_cells(
            [
                float(np.average(filled[name], weights=filled["pairs"])) if filled.height else None
                for name in ("confidence", "accuracy")
            ]
        )
        return Summary(
            f"{self.share:.0%} of the judgments shown; over pairs of systems, confidence {claimed}, accuracy {right}",
            [
                DisplayTable(pl.DataFrame([self.scores]), "Probabilities of the items left"),
                DisplayTable(self.coverage, "The share of intervals that hold the truth, which should be their level"),
                DisplayTable(filled.select("lower", "upper", "pairs", "confidence", "accuracy"), "Pairs by confidence"),
            ],
        )


def diagnose(
    problem: Problem,
    truth: Floats,
    *,
    share: float,
    rng: np.random.Generator,
    repeats: int = 1,
    jobs: int | None = 1,
    cluster: str | None = None,
) -> Diagnosis:
    """Show a random share of the judgments to a predictor and compare the rest with its predictions.

    Parameters
    ----------
    problem : Problem
        The collection, the measure and the predictor.
    truth : ndarray of float, shape (items,)
        The gain of every item.
    share : float, 0..1
        How much of the judgments is shown; less than all, so that something is left to compare predictions with.
    rng : numpy.random.Generator
        Which judgments are shown.
    repeats : int
        Over how many draws the diagnosis is pooled.
    jobs, cluster
        How many processes to use, or which Dask cluster: see :func:`earmark.workers.work_through`. The diagnosis does
        not depend on it.
    """
    return diagnose_shares(problem, truth, shares={share: rng}, repeats=repeats, jobs=jobs, cluster=cluster)[0]


def diagnose_shares(
    problem: Problem,
    truth: Floats,
    *,
    shares: Mapping[float, np.random.Generator],
    repeats: int = 1,
    jobs: int | None = 1,
    cluster: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[Diagnosis]:
    """Diagnose a predictor for several shares of judgments.

    Parameters
    ----------
    problem, truth, repeats, jobs, cluster
        As for :func:`diagnose`.
    shares : mapping of float to numpy.random.Generator
        The shares of judgments that are shown, and where the draws of each come from.
    progress : callable, optional
        Called with 1 after every draw: there are `repeats` of each share, one where nothing is shown.
    """
    for share in shares:
        if not 0 <= share < 1:
            raise ParameterError(f"the share of judgments shown is at least 0 and below 1, got {share:g}")
    if np.any(truth < 0):
        raise ParameterError(f"{np.count_nonzero(truth < 0):,} items are not judged: a diagnosis needs the whole truth")
    examination = _Examination(problem, truth)
    drawn = [share for share in shares for _ in range(repeats if share else 1)]
    tasks = [(shares[share].choice(truth.size, round(share * truth.size), replace=False),) for share in drawn]
    looks: dict[float, list[_Look]] = {share: [] for share in shares}
    every_look = work_through(_Examination.look, examination, tasks, jobs=jobs, cluster=cluster)
    for look, share in zip(every_look, drawn, strict=True):
        looks[share].append(look)
        if progress is not None:
            progress(1)
    true = examination.estimator.estimate(Uniform(problem.setting).predict(truth))
    return [_pooled(share, found, true) for share, found in looks.items()]


def _pooled(share: float, looks: list[_Look], true: Estimates) -> Diagnosis:
    estimates = [look.estimates for look in looks]
    return Diagnosis(share, _scores(looks), _coverage(estimates, true), _bins(estimates, true))


@dataclass(frozen=True, eq=False)
class _Look:
    """What was believed about the items that were not shown, and what is true of them; arrays of shape (items, ...)."""

    chances: Floats
    levels: Ints
    mean: Floats
    variance: Floats
    gains: Floats
    estimates: Estimates


@dataclass(frozen=True, eq=False)
class _Examination:
    problem: Problem
    truth: Floats

    @cached_property
    def estimator(self) -> Estimator:
        return Estimator(self.problem.setting, self.problem.measure)

    def look(self, shown: Ints) -> Iterator[_Look]:
        """Show some of the judgments to the predictor."""
        scale, left = self.problem.setting.scale, np.ones(self.truth.size, dtype=bool)
        left[shown] = False
        beliefs = self.problem.model.beliefs(np.where(left, UNJUDGED, self.truth))
        yield _Look(
            beliefs.level_probabilities(np.array(model_levels(scale)))[left],
            to_levels(scale, self.truth[left]),
            beliefs.mean[left],
            beliefs.variance[left],
            self.truth[left],
            self.estimator.estimate(beliefs),
        )


def _scores(looks: list[_Look]) -> dict[str, float]:
    """Pool what was believed about unjudged items over all draws."""
    forecast = np.concatenate([look.chances for look in looks])
    outcome = np.concatenate([look.levels for look in looks])
    errors = summarise_errors(
        np.concatenate([look.mean for look in looks]),
        np.concatenate([look.variance for look in looks]),
        np.concatenate([look.gains for look in looks]),
    )
    groups = group_forecasts(forecast)
    # Where forecasts differ so much that no group is large, all groups count.
    smallest = _SMALLEST_GROUP if groups.sizes.max() >= _SMALLEST_GROUP else 1
    parts = decompose_grouped(forecast, outcome, groups, min_group_size=smallest, representative="mean")
    return {
        "rps": ranked_probability_score(forecast, outcome),
        "reliability": parts.reliability,
        "resolution": parts.resolution,
        "uncertainty": parts.uncertainty,
        "rmse": errors.rmse,
        "variance": errors.mean_variance,
        "error": errors.mean_squared_error,
    }


def _coverage(looks: list[Estimates], true: Estimates) -> pl.DataFrame:
    compared = ~true.identical
    pairs = _covered([look.differences for look in looks], true.differences, compared)
    systems = _covered([look.scores for look in looks], true.scores, np.ones(true.scores.mean.size, dtype=bool))
    return pl.DataFrame({"level": pairs.level, "pairs": pairs.share, "systems": systems.share})


def _covered(looks: list[Moments], true: Moments, which: Bools) -> Coverage:
    own_df = [look.df[which] for look in looks if look.df is not None]
    return interval_coverage(
        np.concatenate([look.mean[which] for look in looks]),
        np.concatenate([look.variance[which] for look in looks]),
        np.tile(true.mean[which], len(looks)),
        levels=LEVELS,
        df=np.concatenate(own_df) if own_df else None,
    )


def _bins(looks: list[Estimates], true: Estimates) -> pl.DataFrame:
    compared = ~true.identical
    bins = accuracy_by_confidence(
        np.concatenate([look.differences.mean[compared] for look in looks]),
        np.concatenate([rank_systems(look).confidence[compared] for look in looks]),
        np.tile(true.differences.mean[compared], len(looks)),
        edges=MTC_EDGES,
    )
    return bins.frame()
