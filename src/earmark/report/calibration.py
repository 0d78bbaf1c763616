r"""Whether the model was right where it can be checked: judged items, each predicted from all other judgments.

Where gains are independent, what is expected of a judged item is what the predictor expects of it. Where they share
effects, with the inverse :math:`Q` of the covariance of all answers, the answers :math:`o` about one item have, given
all others,

.. math:: E[y_o] = y_o - Q_{oo}^{-1} (Q (y - m))_o, \qquad Cov[y_o] = Q_{oo}^{-1},

and the mean of these answers is held against the mean that was given. Neither the prior mean nor the variances of
effects are fitted anew without the item, which makes predictions a little better than they would have been.

A policy that judges what tells most chooses unusual items, and what holds for them need not hold for the others. Where
some of the judged items are a sample, these are counted apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.posterior import Posterior
from earmark.campaign.campaign import Campaign
from earmark.data.arrays import Floats, Ints
from earmark.data.scales import Scale
from earmark.diagnose.coverage import wilson_interval
from earmark.diagnose.proper_scores import ErrorSummary, summarise_errors

ENOUGH = 30
"""So many judged items are worth a look; of fewer, chance says more than the model."""

LEVEL = 0.95
_REACH = 1.959963984540054
# Coarser scales have too few levels for an interval of gains to mean much.
_FINE_ENOUGH = 6
_ROUNDING = 1e-9
# How far a share of intervals that held may be off before it counts, and a root mean square error as a share of it.
_SLACK, _NEAR = 0.02, 0.1


@dataclass(frozen=True)
class Held:
    """How many intervals held what was judged.

    Attributes
    ----------
    held, items : int
    low, high : float, 0..1
        Wilson's bounds of the share, as if items were independent.
    """

    held: int
    items: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The share of intervals that held."""
        return self.held / self.items

    @property
    def verdict(self) -> Literal["fewer", "right", "more"]:
        """How many held, beside how many should; small deviations do not count, however many items show them."""
        if self.high < LEVEL and self.share < LEVEL - _SLACK:
            return "fewer"
        return "more" if self.low > LEVEL and self.share > LEVEL + _SLACK else "right"


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predictions of judged items beside what was judged.

    Attributes
    ----------
    frame : polars.DataFrame
        One row per judged item: ``query``, ``document``, ``predicted``, ``low``, ``high`` (an interval of 95%),
        ``actual``, and ``sampled`` where that is known.
    errors : ErrorSummary
        Errors made beside those announced.
    complete : bool
        All items are judged: there are no others that could be different.
    fine : bool
        The scale has levels enough for intervals of gains.
    """

    frame: pl.DataFrame
    errors: ErrorSummary
    complete: bool
    fine: bool

    @cached_property
    def held(self) -> Held:
        """How many intervals held, over all judged items."""
        return _held(self.frame)

    @cached_property
    def held_in_sample(self) -> Held | None:
        """How many intervals held among sampled items; None where too few are known to be."""
        if self.complete or "sampled" not in self.frame.columns:
            return None
        sampled = self.frame.filter(pl.col("sampled"))
        return _held(sampled) if ENOUGH <= sampled.height < self.frame.height else None

    @property
    def expected_error(self) -> float:
        """The root mean square error that the model expects."""
        return math.sqrt(self.errors.mean_variance)

    @property
    def errors_made(self) -> Literal["larger", "right", "smaller"]:
        """How large errors are, beside what the model expects."""
        ratio = self.errors.rmse / self.expected_error if self.expected_error else 1.0
        return "larger" if ratio >= 1 + _NEAR else "smaller" if ratio < 1 - _NEAR else "right"

    @property
    def all_sampled(self) -> bool:
        """Whether every judged item belongs to a sample."""
        return "sampled" in self.frame.columns and bool(self.frame["sampled"].all())


def calibrate(campaign: Campaign) -> Calibration | None:
    """Compare judged items with their leave-one-out predictions; None where too few are judged."""
    beliefs, scale = campaign.beliefs, campaign.problem.scale
    if beliefs.n_judged < ENOUGH:
        return None
    items, predicted, variance, actual = left_out(campaign)
    reach = _REACH * np.sqrt(variance)
    frame = campaign.problem.items[items].select("query", "document")
    frame = frame.with_columns(
        pl.Series("predicted", predicted),
        pl.Series("low", predicted - reach),
        pl.Series("high", predicted + reach),
        pl.Series("actual", actual),
    )
    if campaign.has_marked_sample:
        marked = campaign.log.answers.group_by("query", "document").agg(pl.col("sampled").any())
        frame = frame.join(marked, on=["query", "document"], how="left", maintain_order="left").with_columns(
            pl.col("sampled").fill_null(False)
        )
    errors = summarise_errors(predicted, variance, actual)
    return Calibration(frame, errors, beliefs.n_judged == beliefs.n_items, _is_fine(scale))


def left_out(campaign: Campaign) -> tuple[Ints, Floats, Floats, Floats]:
    """Predict every judged item from all other judgments; where predictions are independent, from four fifths of them.

    Returns
    -------
    items : ndarray of int, shape (judged,)
    predicted, variance, actual : ndarray of float, shape (judged,)
        What would be expected of the gain, how far off that may be, and what was given.
    """
    beliefs, problem = campaign.beliefs, campaign.problem
    if isinstance(beliefs, CorrelatedBeliefs):
        return left_out_exactly(beliefs)
    mean, variance = np.empty(beliefs.n_items), np.empty(beliefs.n_items)
    for items, others in problem.model.held_out(beliefs.judged_gain, problem.verdicts.folds):
        mean[items], variance[items] = others.mean[items], others.variance[items]
    judged = np.flatnonzero(beliefs.judged)
    return judged, mean[judged], variance[judged], beliefs.judged_gain[judged]


def left_out_exactly(beliefs: CorrelatedBeliefs) -> tuple[Ints, Floats, Floats, Floats]:
    """Predict every judged item from all other judgments by the equations of the model; returns as `left_out`."""
    top = float(beliefs.scale.top)
    items, predicted, variance, actual = _left_out_effects(beliefs.central)
    return items, predicted * top, variance * top**2, actual * top


def _left_out_effects(posterior: Posterior) -> tuple[Ints, Floats, Floats, Floats]:
    """Leave out one item after the other, for the first set of variances; gains as shares of the top."""
    observed = posterior.observed
    parts = []
    for block in posterior.blocks:
        rows = posterior.rows[block.query]
        value, of = observed.value[rows], observed.item[rows]
        shared = block.solved[0, :, 1:]
        precision = block.inverse[0] - shared @ posterior.shared_covariance[0] @ shared.T
        explained = posterior.explained(block)[0]
        spread: Floats = 1.0 / np.diagonal(precision)
        parts.append((of, value - spread * explained, spread, value))
    found = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return found[0], found[1], found[2], found[3]


def _held(frame: pl.DataFrame) -> Held:
    inside = (pl.col("low") - _ROUNDING <= pl.col("actual")) & (pl.col("actual") <= pl.col("high") + _ROUNDING)
    held = int(frame.select(inside.sum()).item())
    low, high = wilson_interval(np.array([held]), np.array([frame.height]), level=LEVEL)
    return Held(held, frame.height, float(low[0]), float(high[0]))


def _is_fine(scale: Scale) -> bool:
    return scale.continuous or len(scale.gains) >= _FINE_ENOUGH
