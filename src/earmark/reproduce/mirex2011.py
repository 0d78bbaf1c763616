"""The MIREX 2011 collection, which two papers are recomputed on, and how estimates on it compare with the truth.

The papers work on MIREX 2007, 2009, 2010 and 2011; only the last is published with its judgments, anonymised and on the
Fine scale. Everything in it is judged, so whatever is estimated has a truth to be compared with. A Broad version can be
*derived* by cutting gains at 33 and at 67, and is called derived wherever it is used: on pairs that the same assessors
judged on both scales, the cut gives the assessor's own Broad judgment nine times in ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from earmark.beliefs.beliefs import Beliefs, item_gains, uniform_beliefs
from earmark.beliefs.estimates import Estimates
from earmark.beliefs.exact_estimates import LinearEstimator
from earmark.data.arrays import Bools, Floats
from earmark.data.collection import Collection
from earmark.data.readers import read_judgments, read_metadata, read_runs
from earmark.data.scales import BROAD, FINE
from earmark.diagnose.calibration import MTC_EDGES, ConfidenceBins, accuracy_by_confidence, sign_agreement
from earmark.diagnose.coverage import LEVELS, interval_coverage
from earmark.errors import InputError
from earmark.inference.confidence import Ranking, rank_systems
from earmark.inference.significance import compare_scores
from earmark.measures.base import parse
from earmark.predictors.base import Setting

FILES = ("runs.txt", "judgments.txt", "metadata.txt")
AG5 = parse("AG@5")
BROAD_CUTS = (33.0, 67.0)
_LEVEL_95 = LEVELS.index(0.95)


@dataclass(frozen=True, eq=False)
class Mirex:
    """A collection of which everything is judged.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    gain : ndarray of float, shape (items,)
        What every item was judged to gain.
    """

    setting: Setting
    gain: Floats

    @property
    def collection(self) -> Collection:
        """The systems and the items."""
        return self.setting.collection

    @cached_property
    def estimator(self) -> LinearEstimator:
        """Estimates of AG@5 under any beliefs."""
        return LinearEstimator(self.collection, AG5, scale=self.setting.scale)

    @cached_property
    def truth(self) -> Estimates:
        """AG@5 of all systems when everything is judged."""
        everything = uniform_beliefs(self.collection, scale=self.setting.scale, judged_gain=self.gain)
        return self.estimator.estimate(everything)

    @cached_property
    def query_scores(self) -> Floats:
        """AG@5 of every system on every query, of shape (systems, queries)."""
        collection = self.collection
        cell = collection.result_system * len(collection.queries) + collection.item_query[collection.result_item]
        total = np.bincount(cell, self.gain[collection.result_item], len(collection.systems) * len(collection.queries))
        depth = AG5.cutoff or 1
        return np.asarray(total.reshape(len(collection.systems), -1) / (depth * self.setting.scale.top))

    @cached_property
    def significant(self) -> Bools:
        """The pairs whose difference is significant by MIREX's own test: Friedman, then Tukey's HSD, at .05."""
        return compare_scores(self.query_scores, test="friedman-tukey").significant

    @cached_property
    def everything(self) -> Bools:
        """Every item, as a mask."""
        return np.ones(self.collection.n_items, dtype=bool)

    @cached_property
    def first_half(self) -> Bools:
        """The items of queries whose id starts with 0 to 7: the half to develop on, the rest being to report on."""
        first = np.array([query[0].lower() < "8" for query in self.collection.queries])
        return first[self.collection.item_query]

    @cached_property
    def systems_of_item(self) -> Floats:
        """How many systems retrieved each item: the results it stands for."""
        return np.bincount(self.collection.result_item, minlength=self.collection.n_items).astype(np.float64)

    def rank(self, beliefs: Beliefs) -> Ranking:
        """Rank the systems by AG@5 under some beliefs."""
        return rank_systems(self.estimator.estimate(beliefs))


def load(folder: Path) -> Mirex:
    """Read the collection, on the Fine scale.

    Raises
    ------
    InputError
        If the folder does not hold its three files, or they are not about the same items.
    """
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise InputError(
            expected=f"the MIREX 2011 collection in {', '.join(FILES)}",
            got=f"no {missing[0]}",
            path=folder,
            hint="give its folder with --data",
        )
    metadata = read_metadata(folder / "metadata.txt")
    collection = Collection.from_runs(read_runs(folder / "runs.txt"), depth=AG5.cutoff, metadata=metadata)
    gain = item_gains(collection, read_judgments(folder / "judgments.txt", scale=FINE))
    unjudged = int(np.count_nonzero(gain < 0))
    if unjudged:
        raise InputError(
            expected="a judgment of every item", got=f"none of {unjudged:,} of them", path=folder / "judgments.txt"
        )
    return Mirex(Setting(collection, FINE), gain)


def derived_broad(fine: Mirex) -> Mirex:
    """Return the collection with gains of 0, 1 and 2: below 33, below 67, and from there on."""
    gain = np.searchsorted(BROAD_CUTS, fine.gain, side="right").astype(np.float64)
    return Mirex(Setting(fine.collection, BROAD), gain)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was claimed about systems beside what is true of them.

    Attributes
    ----------
    confidence : float
        The mean over pairs of systems, as claimed.
    accuracy, tau : float
        Pairs in the right order; right minus wrong, over all.
    coverage_systems, coverage_pairs : ndarray of float, shape (levels,)
        The shares of scores and of differences within their intervals, at the levels of BIAS.
    """

    confidence: float
    accuracy: float
    tau: float
    coverage_systems: Floats
    coverage_pairs: Floats

    @property
    def coverage_systems_95(self) -> float:
        """The share of systems within their 95% intervals."""
        return float(self.coverage_systems[_LEVEL_95])

    @property
    def coverage_pairs_95(self) -> float:
        """The share of pairs within their 95% intervals."""
        return float(self.coverage_pairs[_LEVEL_95])


def judge(estimates: Estimates, truth: Estimates, *, df: float | None = None) -> Verdict:
    """Compare estimates with the truth.

    Parameters
    ----------
    estimates, truth : Estimates
        Of the same measure and systems.
    df : float, optional
        Degrees of freedom of Student's t; without it, the normal distribution.
    """
    signs = sign_agreement(estimates.differences.mean, truth.differences.mean)
    confidence = rank_systems(estimates, df=df).mean_confidence
    assert confidence is not None
    assert signs.accuracy is not None
    assert signs.tau is not None
    of_systems, of_pairs = (
        interval_coverage(claimed.mean, claimed.variance, true.mean, levels=LEVELS, df=df).share
        for claimed, true in ((estimates.scores, truth.scores), (estimates.differences, truth.differences))
    )
    return Verdict(confidence, signs.accuracy, signs.tau, of_systems, of_pairs)


def confidence_bins(
    rankings: list[Ranking], truth: Estimates, *, edges: tuple[float, ...] = MTC_EDGES
) -> ConfidenceBins:
    """Sort the pairs of some rankings, taken together, into bins by confidence."""
    return accuracy_by_confidence(
        np.concatenate([ranking.estimates.differences.mean for ranking in rankings]),
        np.concatenate([ranking.confidence for ranking in rankings]),
        np.tile(truth.differences.mean, len(rankings)),
        edges=edges,
    )
