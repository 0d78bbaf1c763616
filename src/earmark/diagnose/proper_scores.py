r"""Proper scores of a predictor's probabilities, and its errors compared with its claimed variances.

A forecast is a probability for every level of an item, the outcome is the level that assessors gave it. The *ranked
probability score* (RPS) [1]_ compares the two by their cumulative distributions, so that probability far from the
outcome costs more than probability near it. It is divided by levels − 1 here, hence between 0 (certain and right)
and 1 (certain of the wrong end). With two levels it is the Brier score. Lower is better. The score is proper: its
expectation is lowest if the forecast is the true distribution.

:mod:`earmark.diagnose.decomposition` splits the score into reliability, resolution and uncertainty.

References
----------
.. [1] E. S. Epstein (1969). A scoring system for probability forecasts of ranked categories. J. Appl. Meteorol. 8,
   985-987.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, Summary, facts, written_cells
from earmark.errors import ParameterError
from earmark.wording import counted

# Probabilities come out of exponentials and sums: differences below this are rounding error.
_PROBABILITY_NOISE = 1e-9


def check_probabilities(probabilities: npt.ArrayLike) -> Floats:
    """Return probabilities as a float array of shape (items, levels), or raise an error.

    Raises
    ------
    ParameterError
        If the shape is wrong, there are fewer than two levels or no items, or a row is not a distribution.
    """
    matrix = np.asarray(probabilities, dtype=np.float64)
    if matrix.ndim != 2:
        raise ParameterError(f"probabilities must be a matrix of shape (items, levels), got {matrix.ndim} dimension(s)")
    if matrix.shape[0] < 1 or matrix.shape[1] < 2:
        raise ParameterError(
            f"probabilities need at least one item and two levels, got {matrix.shape[0]} and {matrix.shape[1]}"
        )
    valid = (matrix >= -_PROBABILITY_NOISE).all(axis=1) & (np.abs(matrix.sum(axis=1) - 1) <= _PROBABILITY_NOISE)
    if not valid.all():
        item = int(np.argmin(valid))
        raise ParameterError(
            "the probabilities of an item must be 0 or more and add up to 1,"
            f" got {matrix[item].tolist()} for item {item}"
        )
    return matrix


def check_forecasts(probabilities: npt.ArrayLike, observed: npt.ArrayLike) -> tuple[Floats, Ints]:
    """Return probabilities and observed levels as arrays, or raise an error if they do not fit together.

    Parameters
    ----------
    probabilities : array-like, shape (items, levels)
    observed : array-like of int, shape (items,), 0..levels-1

    Raises
    ------
    ParameterError
    """
    matrix = check_probabilities(probabilities)
    levels = np.asarray(observed)
    if levels.shape != (matrix.shape[0],):
        raise ParameterError(f"expected one observed level for each of {matrix.shape[0]} items, got {levels.shape}")
    if not np.issubdtype(levels.dtype, np.integer):
        raise ParameterError(f"observed levels must be whole numbers (places on the scale), got {levels.dtype}")
    if levels.min() < 0 or levels.max() >= matrix.shape[1]:
        raise ParameterError(
            f"observed levels must be 0 to {matrix.shape[1] - 1}, got {int(levels.min())} to {int(levels.max())}"
        )
    return matrix, levels.astype(np.int64)


def ranked_probability_scores(probabilities: npt.ArrayLike, observed: npt.ArrayLike) -> Floats:
    r"""Ranked probability score of every item.

    .. math:: RPS_i = \frac{1}{L - 1} \sum_{l=1}^{L-1} \Bigl(\sum_{m \le l} p_{im} - 1[o_i \le l]\Bigr)^2

    Parameters
    ----------
    probabilities : array-like, shape (items, levels)
        Rows add up to 1.
    observed : array-like of int, shape (items,), 0..levels-1
        The level of each item.

    Returns
    -------
    ndarray, shape (items,), 0..1

    Examples
    --------
    A forecast that leans to the middle beats one that leans to the wrong end:

    >>> ranked_probability_scores([[0.2, 0.6, 0.2], [0.6, 0.2, 0.2]], [2, 2]).round(3).tolist()
    [0.34, 0.5]
    """
    forecast, outcome = cumulative(*check_forecasts(probabilities, observed))
    return np.asarray(np.square(forecast - outcome).mean(axis=1))


def ranked_probability_score(probabilities: npt.ArrayLike, observed: npt.ArrayLike) -> float:
    """Mean of :func:`ranked_probability_scores` over the items, 0..1."""
    return float(ranked_probability_scores(probabilities, observed).mean())


def cumulative(probabilities: Floats, observed: Ints) -> tuple[Floats, Floats]:
    """Cumulative forecast and outcome, shape (items, levels - 1): the last level adds nothing, both being 1."""
    n_steps = probabilities.shape[1] - 1
    forecast = np.cumsum(probabilities, axis=1)[:, :-1]
    return forecast, (observed[:, None] <= np.arange(n_steps)).astype(np.float64)


@dataclass(frozen=True, repr=False)
class ErrorSummary(Display):
    """Errors of estimates compared with their claimed variances.

    Attributes
    ----------
    n : int
        Number of estimates.
    bias : float
        Mean of estimate minus truth.
    rmse : float
        Root of the mean squared error.
    mean_squared_error, mean_variance : float
        Observed and claimed; equal on average if the variances are calibrated.
    """

    n: int
    bias: float
    rmse: float
    mean_squared_error: float
    mean_variance: float

    @property
    def inflation(self) -> float:
        """Mean squared error over mean claimed variance: 1 if calibrated, above 1 if overconfident.

        Without any claimed variance it is infinite, or 1 if there was no error either.
        """
        if self.mean_variance > 0:
            return self.mean_squared_error / self.mean_variance
        return 1.0 if self.mean_squared_error == 0 else float("inf")

    def _summary(self) -> Summary:
        """Show the errors and the claimed variances."""
        made, claimed = written_cells([self.mean_squared_error, self.mean_variance])
        sentence = f"{counted(self.n, 'estimate')}, mean squared error {made}, claimed variance {claimed}"
        return Summary(sentence, [facts(**asdict(self), inflation=self.inflation)])


def summarise_errors(estimate: npt.ArrayLike, variance: npt.ArrayLike, truth: npt.ArrayLike) -> ErrorSummary:
    r"""Compare errors with the variances claimed: RMSE, bias, and :math:`\overline{(e - t)^2}` beside :math:`\bar v`.

    Parameters
    ----------
    estimate, variance, truth : array-like of float, all of the same shape
        Of items (gains), systems (scores) or pairs (differences). Estimates and truths are finite, variances are not
        negative.

    Examples
    --------
    >>> summary = summarise_errors([0.5, 0.5], [0.01, 0.03], [0.7, 0.3])
    >>> round(summary.rmse, 3), round(summary.mean_variance, 3), round(summary.inflation, 3)
    (0.2, 0.02, 2.0)
    """
    center, claimed, true = check_estimates(estimate, variance, truth)
    if center.size == 0:
        raise ParameterError("expected at least one estimate to compare with the truth, got none")
    error = center - true
    mean_square = float(np.square(error).mean())
    return ErrorSummary(
        n=center.size,
        bias=float(error.mean()),
        rmse=mean_square**0.5,
        mean_squared_error=mean_square,
        mean_variance=float(claimed.mean()),
    )


def check_estimates(
    estimate: npt.ArrayLike, variance: npt.ArrayLike, truth: npt.ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Return estimates, variances and truths as vectors, or raise an error if they do not fit together.

    Raises
    ------
    ParameterError
        If shapes differ, an estimate or a truth is not finite, or a variance is negative or NaN.
    """
    center, claimed, true = (np.asarray(values, dtype=np.float64) for values in (estimate, variance, truth))
    if not center.shape == claimed.shape == true.shape:
        raise ParameterError(
            f"estimates, variances and truths must have one shape, got {center.shape}, {claimed.shape} and {true.shape}"
        )
    if not (np.isfinite(center).all() and np.isfinite(true).all()):
        raise ParameterError("estimates and truths must be finite numbers")
    if not (claimed >= 0).all():
        raise ParameterError("variances must be 0 or more")
    return center.ravel(), claimed.ravel(), true.ravel()
