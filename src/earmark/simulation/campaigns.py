"""Campaigns played through on a judged collection: how sure the method was, and how right.

The recorded judgments answer, so the truth is known at every look: the share of pairs in the right order, whether
intervals hold the true values, how far beliefs are off. Repeats differ in their draws and, where asked, in the systems
and queries they are played with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import item_gains
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.montecarlo import over_pool, pooled_lists
from earmark.campaign.campaign import Campaign, Look, oracle
from earmark.campaign.loop import play
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Estimator
from earmark.data.arrays import Bools, Floats
from earmark.data.display import Display, DisplayTable, Summary, written_cells
from earmark.data.judgments import Judgments
from earmark.errors import ParameterError
from earmark.inference.significance import compare_scores
from earmark.predictors.mtc import Uniform
from earmark.wording import counted
from earmark.workers import work_through

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Where everything is judged an interval has no width, and the same gains may have been added up in another order.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Outcome:
    """One look at a simulated campaign, with the truth beside it.

    Attributes
    ----------
    kind : str
        ``step``, or ``stop`` for the look at which the campaign stopped.
    repeat : int
        Which campaign.
    judged : int
        How many items were judged.
    mean_confidence, min_confidence : float or None
        Over pairs, as claimed.
    accuracy : float or None
        The share of pairs whose order is right; a pair that is truly equal is right whatever was said.
    tau : float or None
        Kendall's correlation of the two rankings, right minus wrong over all (MTC, section 5).
    accuracy_significant : float or None
        The accuracy among pairs whose true difference is significant by Friedman's test with Tukey's comparisons.
    coverage_pairs_95, coverage_systems_95 : float or None
        The share of 95% intervals that hold the true value.
    half_width_systems : float
        Half the mean width of systems' 95% intervals.
    rmse : float
        Of the believed gains of unjudged items; 0 where all are judged.
    slope : float or None
        Of true differences of pairs regressed on estimated ones through 0: above 1 where differences are estimated too
        small, below 1 where they are estimated too large; None where all estimates are 0.
    bias_systems : float
        The mean over systems of estimated minus true score.
    reason : str
        Why the campaign stopped; empty for a step.
    """

    kind: str
    repeat: int
    judged: int
    mean_confidence: float | None
    min_confidence: float | None
    accuracy: float | None
    tau: float | None
    accuracy_significant: float | None
    coverage_pairs_95: float | None
    coverage_systems_95: float | None
    half_width_systems: float
    rmse: float
    slope: float | None
    bias_systems: float
    reason: str


@dataclass(frozen=True, eq=False)
class Study:
    """What to simulate.

    Parameters
    ----------
    problem : Problem
        What is compared, and how campaigns conclude. Whatever their target, the truth they are compared with is that
        of these queries.
    judgments : Judgments
        The recorded judgments, which answer whatever a campaign asks.
    batch : int
        How many judgments there are between two looks.
    sample_systems, sample_queries : int, optional
        Play every repeat with this many systems and queries, drawn anew.
    """

    problem: Problem
    judgments: Judgments
    batch: int = 20
    sample_systems: int | None = None
    sample_queries: int | None = None

    def repeat(self, number: int) -> Iterator[Outcome]:
        """Play one campaign through."""
        problem = self._drawn(number)
        recorded = item_gains(problem.collection, self.judgments, aggregation=problem.aggregation)
        # What nobody judged counts as worth nothing, as it does in an evaluation.
        truth = Truth(problem, np.maximum(recorded, 0.0))
        for campaign in play(Campaign(problem), oracle(truth.gains), batch=self.batch):
            assert campaign.look is not None
            yield truth.outcome(campaign.look, number)

    def _drawn(self, number: int) -> Problem:
        """Return the problem of one repeat: systems and queries drawn anew, and a sample order of its own."""
        problem = self.problem
        rng = np.random.default_rng([problem.seed, number])
        return problem.select(
            systems=_draw(rng, problem.collection.systems, self.sample_systems, "systems"),
            queries=_draw(rng, problem.collection.queries, self.sample_queries, "queries"),
            seed=int(np.random.SeedSequence([problem.seed, number]).generate_state(1)[0]),
        )


def _draw(rng: np.random.Generator, names: tuple[str, ...], count: int | None, what: str) -> list[str] | None:
    if count is None:
        return None
    if not 1 <= count <= len(names):
        raise ParameterError(f"{count} {what} cannot be drawn from {len(names)}")
    return [names[index] for index in np.sort(rng.choice(len(names), count, replace=False))]


class Truth:
    """What is true of a collection, and how a look compares with it.

    Parameters
    ----------
    problem : Problem
    gains : ndarray of float, shape (items,)
        The true gain of every item.
    """

    def __init__(self, problem: Problem, gains: Floats) -> None:
        self.gains = gains
        estimator = Estimator(problem.setting, problem.measure, samples=2)
        self.estimates: Estimates = estimator.estimate(Uniform(problem.setting).predict(gains))
        self.significant = _significant_pairs(problem, gains)

    def outcome(self, look: Look, repeat: int = 0) -> Outcome:
        """Say how right a look at a campaign is."""
        ranking, true = look.ranking, self.estimates
        compared = ranking.compared
        said = np.sign(ranking.estimates.differences.mean)[compared]
        fact = np.sign(true.differences.mean)[compared]
        right = (said == fact) | (fact == 0)
        # An undecided pair (estimated difference exactly 0) is half right, as guessing would be.
        credit = np.where(right, 1.0, np.where(said == 0, 0.5, 0.0))
        holds = intervals_hold(ranking.difference_low, true.differences.mean, ranking.difference_high)
        within = intervals_hold(ranking.low, true.scores.mean, ranking.high)
        open_items = look.judged_gain < 0
        error = (look.beliefs.mean - self.gains)[open_items]
        return Outcome(
            kind="stop" if look.decision.stop else "step",
            repeat=repeat,
            judged=look.judged,
            mean_confidence=ranking.mean_confidence,
            min_confidence=ranking.min_confidence,
            accuracy=mean_or_none(credit),
            tau=None if not credit.size else 2 * float(credit.mean()) - 1,
            accuracy_significant=mean_or_none(credit[self.significant[compared]]),
            coverage_pairs_95=mean_or_none(holds[compared]),
            coverage_systems_95=mean_or_none(within),
            half_width_systems=float(np.mean(ranking.high - ranking.low) / 2),
            rmse=float(np.sqrt(np.mean(error**2))) if error.size else 0.0,
            slope=slope_through_origin(ranking.estimates.differences.mean[compared], true.differences.mean[compared]),
            bias_systems=float(np.mean(ranking.estimates.scores.mean - true.scores.mean)),
            reason=look.decision.reason if look.decision.stop else "",
        )


def intervals_hold(low: Floats, true: Floats, high: Floats) -> Bools:
    """Tell which intervals hold the true value, whatever the last bits of a sum in another order are."""
    return (low - _ROUNDING <= true) & (true <= high + _ROUNDING)


def slope_through_origin(estimated: Floats, true: Floats) -> float | None:
    r"""Return the slope :math:`\sum e_i t_i / \sum e_i^2` of truth on estimates; None where all estimates are 0.

    Examples
    --------
    >>> slope_through_origin(np.array([0.1, -0.2]), np.array([0.2, -0.4]))
    2.0
    """
    squared = float(estimated @ estimated)
    return float(estimated @ true) / squared if squared > 0 else None


def mean_or_none(values: Floats | Bools) -> float | None:
    """Return the mean, or None where there are no values."""
    return float(values.mean()) if values.size else None


def _significant_pairs(problem: Problem, gains: Floats) -> Bools:
    """Tell which pairs differ significantly when everything is judged."""
    collection, measure = problem.collection, problem.measure
    n_systems, n_queries = len(collection.systems), len(collection.queries)
    pairs = n_systems * (n_systems - 1) // 2
    if n_systems < 2 or n_queries < 2:
        return np.zeros(pairs, dtype=bool)
    lists = pooled_lists(collection, problem.scale).with_gains(gains)
    scores = over_pool(measure).score(lists).reshape(n_systems, n_queries)
    return compare_scores(scores if measure.higher_is_better else -scores).significant


def simulate(study: Study, *, repeats: int = 1, jobs: int | None = 1, cluster: str | None = None) -> Iterator[Outcome]:
    """Play a study's campaigns through, in order of their numbers.

    Parameters
    ----------
    study : Study
        What to simulate.
    repeats : int
        How many campaigns.
    jobs, cluster
        How many processes to use, or which Dask cluster: see :func:`earmark.workers.work_through`. The results do not
        depend on it.
    """
    if repeats < 1:
        raise ParameterError(f"expected 1 repeat or more, got {repeats}")
    yield from work_through(Study.repeat, study, ((number,) for number in range(repeats)), jobs=jobs, cluster=cluster)


def outcomes_frame(outcomes: Sequence[DataclassInstance]) -> pl.DataFrame:
    """Return outcomes as a frame, one row each."""
    return pl.DataFrame([asdict(outcome) for outcome in outcomes], infer_schema_length=None)


def summary(stops: list[Outcome]) -> dict[str, Any]:
    """Average what the campaigns came to at their stops."""
    means: dict[str, Any] = {"kind": "summary", "repeats": len(stops)}
    for told in fields(Outcome):
        if told.name in ("kind", "repeat", "reason"):
            continue
        values = [getattr(stop, told.name) for stop in stops if getattr(stop, told.name) is not None]
        means[told.name] = float(np.mean(values)) if values else None
    return means


_AT_STOPS = ("repeat", "judged", "mean_confidence", "accuracy", "coverage_pairs_95", "coverage_systems_95")


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Display):
    """Campaigns that were played through on a judged collection.

    Attributes
    ----------
    outcomes : tuple of Outcome
        Every look at every campaign, one campaign after the other.
    """

    outcomes: tuple[Outcome, ...]

    def to_polars(self) -> pl.DataFrame:
        """One row per look."""
        return outcomes_frame(list(self.outcomes))

    def stops(self) -> pl.DataFrame:
        """One row per campaign: the look at which it stopped."""
        return self.to_polars().filter(pl.col("kind") == "stop")

    def summary(self) -> dict[str, Any]:
        """Return the means over campaigns at their stops."""
        return summary([outcome for outcome in self.outcomes if outcome.kind == "stop"])

    def _summary(self) -> Summary:
        """Show where every campaign stopped, how sure it was then and how right."""
        means = self.summary()
        claimed, right, held = written_cells(
            [means[name] for name in ("mean_confidence", "accuracy", "coverage_pairs_95")]
        )
        sentence = (
            f"{counted(means['repeats'], 'campaign')}, {means['judged']:,.0f} judgments in the mean: confidence "
            f"{claimed}, accuracy {right}, 95% intervals of pairs hold {held}"
        )
        return Summary(sentence, [DisplayTable(self.stops().select(*_AT_STOPS, "reason"), "At their stops")])
