"""What each worker did: how much, how far others agree, on which side, and how long it took.

A worker's *agreement* is the share of other people's answers to the same pairs that were the same as theirs, averaged
over their answers to pairs that someone else answered too. ``same`` agrees with ``same``. Whether those who answer much
answer as well as others is asked by the correlation of volume with agreement, over workers [1]_.

References
----------
.. [1] A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import polars as pl
from scipy import special

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, Summary, facts, written_cells
from earmark.data.preferences import Preferences
from earmark.inference.proportions import normal_quantile
from earmark.inference.rank_correlation import spearman_rho
from earmark.wording import counted


@dataclass(frozen=True, repr=False)
class VolumeCorrelation(Display):
    """How the number of answers goes together with agreement, over workers.

    Attributes
    ----------
    workers : int
        How many workers there are whose answers can be compared with others'.
    pearson, low, high : float, in [-1, 1]
        Pearson's correlation and its interval by Fisher's transformation; NaN where all workers answered as much or
        agree as much, the interval with fewer than 4 workers as well.
    p_value : float
        Two-sided, of no correlation, by Student's t.
    spearman : float
        Spearman's correlation, which a few very busy workers cannot decide alone.
    """

    workers: int
    pearson: float
    low: float
    high: float
    p_value: float
    spearman: float

    def _summary(self) -> Summary:
        """Say it with its interval."""
        pearson, low, high = written_cells([self.pearson, self.low, self.high])
        sentence = f"{pearson} ({low} to {high}) over {counted(self.workers, 'worker')}"
        return Summary(sentence, [facts(**asdict(self))])


@dataclass(frozen=True, repr=False)
class AnswerTimes(Display):
    """How long answers took, in seconds.

    Attributes
    ----------
    answers : int
        How many answers say how long they took.
    median, mean, tenth, ninetieth : float
        Of these answers; a tenth of them took less than ``tenth``, and a tenth more than ``ninetieth``.
    hours : float
        All of them together.
    """

    answers: int
    median: float
    mean: float
    tenth: float
    ninetieth: float
    hours: float

    def _summary(self) -> Summary:
        """Show the numbers."""
        median, hours = (written_cells([value])[0] for value in (self.median, self.hours))
        sentence = f"{counted(self.answers, 'answer')}, median {median} s, {hours} hours in all"
        return Summary(sentence, [facts(**asdict(self))])


def pairwise_agreement(preferences: Preferences) -> tuple[Floats, Ints]:
    """Return for every answer what share of the other answers to its pair were the same, and how many there are.

    Returns
    -------
    share : ndarray of float, shape (answers,), in [0, 1]
        NaN where nobody else answered.
    others : ndarray of int, shape (answers,)
    """
    pairs = preferences.pairs()
    chosen = preferences.sign * pairs.answer_orientation
    alike = np.stack([pairs.second, pairs.same, pairs.first])[chosen + 1, pairs.answer_pair]
    others = pairs.answers[pairs.answer_pair] - 1
    share: Floats = np.divide(alike - 1, others, out=np.full(others.shape, np.nan), where=others > 0)
    return share, others


def worker_table(preferences: Preferences) -> pl.DataFrame:
    """Return one row per worker.

    Returns
    -------
    polars.DataFrame
        ``assessor``, ``answers``, ``compared`` (answers to pairs that someone else answered), ``agreement`` (null where
        there are none), ``same`` and ``right`` (shares of the answers that are ``same``, and of the others that chose
        the document shown second) and, where known, ``seconds`` (the median).
    """
    share, others = pairwise_agreement(preferences)
    rows = pl.DataFrame(
        {
            "assessor": preferences.frame["assessor"],
            "share": pl.Series(share, nan_to_null=True),
            "compared": others > 0,
            "sign": preferences.sign,
        }
    )
    found = [
        pl.len().cast(pl.Int64).alias("answers"),
        pl.col("compared").sum().cast(pl.Int64),
        pl.col("share").mean().alias("agreement"),
        (pl.col("sign") == 0).mean().alias("same"),
        (pl.col("sign") < 0).filter(pl.col("sign") != 0).mean().alias("right"),
    ]
    if "seconds" in preferences.frame.columns:
        rows = rows.with_columns(preferences.frame["seconds"])
        found.append(pl.col("seconds").median())
    return rows.group_by("assessor").agg(found).sort("assessor")


def volume_correlation(workers: pl.DataFrame, *, level: float = 0.95) -> VolumeCorrelation:
    """Correlate how much workers answered with how far others agree with them.

    Parameters
    ----------
    workers : polars.DataFrame
        Columns ``answers`` and ``agreement``, as :func:`worker_table` makes them.
    level : float, in (0, 1)
        The probability with which the interval holds.
    """
    quantile = normal_quantile(level)
    compared = workers.filter(pl.col("agreement").is_not_null())
    volume, agreement = (compared[name].cast(pl.Float64).to_numpy() for name in ("answers", "agreement"))
    n = volume.size
    x, y = (values - values.mean() if n else values for values in (volume, agreement))
    spread = float(x @ x) * float(y @ y)
    if n < 3 or spread <= 0:
        return VolumeCorrelation(n, np.nan, np.nan, np.nan, np.nan, np.nan)
    pearson = float(np.clip(x @ y / spread**0.5, -1, 1))
    inside = 1 - pearson**2
    p_value = 2 * float(special.stdtr(n - 2, -abs(pearson) * ((n - 2) / inside) ** 0.5)) if inside > 0 else 0.0
    low = high = np.nan
    if n > 3 and inside > 0:
        low, high = np.tanh(np.arctanh(pearson) + np.array([-1, 1]) * quantile / (n - 3) ** 0.5).tolist()
    return VolumeCorrelation(n, pearson, low, high, p_value, spearman_rho(volume, agreement))


def answer_times(preferences: Preferences) -> AnswerTimes:
    """Sum up how long answers took; all NaN where none says."""
    seconds = np.zeros(0)
    if "seconds" in preferences.frame.columns:
        seconds = preferences.frame["seconds"].drop_nulls().to_numpy()
    if not seconds.size:
        return AnswerTimes(0, np.nan, np.nan, np.nan, np.nan, 0.0)
    tenth, median, ninetieth = np.quantile(seconds, [0.1, 0.5, 0.9]).tolist()
    return AnswerTimes(seconds.size, median, float(seconds.mean()), tenth, ninetieth, float(seconds.sum()) / 3600)
