r"""Were items judged because they are good? A test of their grades against what is expected of such items.

Clicks, lists of relevant documents and old judgments of positives are not chosen independently of the gain: scores
estimated from them are too high, whatever else is judged. Two things give such judgments away. Their grades are better
than was expected of these very items before anything was judged, and they differ too little: the bad ones are missing.
With gains :math:`y_i` as shares of the top gain, expected gains :math:`m_i` and the variance :math:`v` of the mean of
the expected gains, which contains that of the general level of a collection,

.. math:: T = \frac{\bar y - \bar m}{\sqrt v} + c\,(1 - R), \qquad
   R = \frac{n r + n_0}{n + n_0}, \qquad
   r = \frac{s_y^2}{\bar y (1 - \bar y)} \bigg/ \min\Bigl(1, \frac{s_m^2}{\bar m (1 - \bar m)}\Bigr),

where :math:`s_y^2` is the variance of the gains, :math:`s_m^2` the one expected, and :math:`n_0` observations without a
surprise pull :math:`R` towards 1 where few are judged. Grades that are all alike have :math:`r = 0`, so a list of
positives shows. Choices that do not look at gains (at random, by the top of lists, by a policy) leave both as they are.

:math:`c`, :math:`n_0` and the threshold were set by simulation (``python -m benchmarks.honesty.premises``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earmark.data.arrays import Floats

FEWEST = 20
"""With fewer judgments, nothing is said."""
SUSPICIOUS = 1.75
"""From this statistic on, judgments count as chosen because they are good."""
_SHAPE, _UNSURPRISING = 3.0, 20
_LEAST = 1e-9


@dataclass(frozen=True)
class ChoiceTest:
    """Grades beside what was expected of the items.

    Attributes
    ----------
    judgments : int
    mean, expected : float, 0..1
        The mean gain, as a share of the top gain, and the one expected.
    statistic : float
    """

    judgments: int
    mean: float
    expected: float
    statistic: float

    @property
    def suspicious(self) -> bool:
        """Whether items were probably judged because they are good."""
        return self.judgments >= FEWEST and self.mean > self.expected and self.statistic >= SUSPICIOUS


def choice_test(gains: Floats, expected: Floats, variance: Floats, variance_of_mean: float) -> ChoiceTest:
    """Test whether items were judged because they are good.

    Parameters
    ----------
    gains : ndarray of float, shape (judgments,), 0..1
        As shares of the top gain.
    expected, variance : ndarray of float, shape (judgments,)
        Mean and variance of the gains as expected before anything was judged.
    variance_of_mean : float
        Of the mean of these gains, with everything that items have in common.

    Examples
    --------
    >>> positives = choice_test(np.ones(50), np.full(50, 0.4), np.full(50, 0.2), 0.06)
    >>> honest = choice_test(np.tile([0.0, 1.0], 25), np.full(50, 0.4), np.full(50, 0.2), 0.06)
    >>> positives.suspicious, honest.suspicious
    (True, False)
    """
    n, mean, center = gains.size, float(gains.mean()), float(expected.mean())
    own = max(float(variance.mean()) - variance_of_mean, 0.0) + float(expected.var())
    shape = float(gains.var()) / max(mean * (1.0 - mean), _LEAST)
    usual = min(own / max(center * (1.0 - center), _LEAST), 1.0)
    ratio = (n * shape / max(usual, _LEAST) + _UNSURPRISING) / (n + _UNSURPRISING)
    level = (mean - center) / np.sqrt(max(variance_of_mean, _LEAST))
    return ChoiceTest(n, mean, center, float(level + _SHAPE * (1.0 - ratio)))
