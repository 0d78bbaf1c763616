r"""Assessors who grade severely or mildly, who use more or less of the scale, and who are more or less reliable.

Of two assessors one gives 40 where the other gives 60, because they use the scale differently; of two others one gives
now 30 and now 70 to what deserves 50, because they do not listen. Averaging answers takes both for the same. Here item
i has a quality :math:`\eta_i`, and assessor j gives it the gain

.. math:: y_{ij} = \mu + b_j + s_j \eta_i + \varepsilon_{ij}, \qquad
   \eta_i \sim N(0, \tau^2), \quad \varepsilon_{ij} \sim N(0, \sigma_j^2)

with a *bias* :math:`b_j`, a *scale use* :math:`s_j` (1 as usual, below 1 for somebody who stays in the middle) and a
*noise* :math:`\sigma_j`. This is a factor model with one factor [1]_, with priors that are weak: with :math:`d` for the
standard deviation of all answers, :math:`b_j \sim N(0, (d/2)^2)`, :math:`s_j \sim N(1, 1/4)`,
:math:`\log \sigma_j^2 \sim N(\ell, 1)` around a common :math:`\ell` that is estimated, as :math:`\tau` and :math:`\mu`
are. Nobody is taken to be more precise than a twentieth of a step of the scale.

**Fit.** The qualities are integrated out in closed form, and the rest maximises the marginal posterior density. Its
gradient is the expectation of the gradient that there would be if qualities were known (Fisher's identity), so an
evaluation costs a few sums over answers. A bias and a scale use that are fitted make residuals too small; their
degrees of freedom are given back to the noise, as restricted maximum likelihood does.

**The gain of an item** is what these assessors would give it on average, each counted by how much they answered,

.. math:: g_i = \mu + \bar b + \bar s \, \eta_i, \qquad \bar b = \sum_j n_j b_j / n, \quad \bar s = \sum_j n_j s_j / n

which does not depend on where the model puts its zero and its unit. Biases are printed as :math:`b_j - \bar b`, scale
use as :math:`s_j / \bar s`. The *reliability* of an assessor is the share of the variance of the answers that is due
to items, :math:`\rho_j = s_j^2 \tau^2 / (s_j^2 \tau^2 + \sigma_j^2)`.

**Intervals** allow for everything that was estimated: the covariance :math:`\Sigma` of all parameters is the inverse of
the observed information, by Louis' formula [2]_, and with :math:`m_i` and :math:`v_i` for mean and variance of
:math:`\eta_i` given the parameters :math:`\phi`,

.. math:: V[g_i] = \bar s^2 v_i + \nabla_\phi g_i^T \, \Sigma \, \nabla_\phi g_i

with Student's t instead of the normal quantile, for :math:`v_i` is an estimate too (Satterthwaite's degrees of
freedom). They are cut off at the ends of the scale. The noise is that of the assessor, whatever the item: in a
simulated study in which it differs between items, .91 of 95% intervals of gains held.

**What cannot be told.** Where every item has one answer, noise and differences between items cannot be told apart, and
nothing here is identified: :func:`fit_assessor_effects` refuses, see :mod:`~earmark.crowd.grade_models` for what is
done then. Of an assessor who shares no item with anybody, nothing is said.

References
----------
.. [1] D. N. Lawley, A. E. Maxwell (1971). Factor analysis as a statistical method. Butterworths.
.. [2] T. A. Louis (1982). Finding the observed information matrix when using the EM algorithm. Journal of the Royal
   Statistical Society B 44(2), 226–233.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from scipy import linalg, optimize, special

from earmark.crowd.assessor_posterior import MarginalPosterior, Parameters
from earmark.crowd.grade_answers import GradeAnswers
from earmark.data.arrays import Floats
from earmark.data.display import Display, DisplayTable, Summary
from earmark.errors import InputError, NotConverged
from earmark.inference.proportions import require_level
from earmark.wording import counted

# Nobody is more precise than this share of a step of the scale; the step of a scale without any is a hundredth of it.
_PRECISE, _STEPS = 0.05, 100
# How often degrees of freedom are counted anew; they hardly change after the first time.
_PASSES = 3
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False, repr=False)
class AssessorEffects(Display):
    """A fitted model of graded answers.

    Attributes
    ----------
    answers : GradeAnswers
        What was fitted.
    gain, variance, degrees_of_freedom : ndarray of float, shape (items,)
        The posterior mean of every item's gain, its variance, and how well that is known.
    bias, scale_use, noise, signal : ndarray of float, shape (assessors,)
        How assessors grade: bias and noise in units of gains, and the signal-to-noise ratio :math:`s_j τ / σ_j`.
    bias_error, scale_use_error, log_noise_error, signal_error : ndarray of float, shape (assessors,)
        Standard errors; that of noise on the scale of logarithms.
    spread : float
        The standard deviation of the gains of items.
    log_posterior : float
        What was maximised.
    iterations : int
        How many it took.
    """

    answers: GradeAnswers
    gain: Floats
    variance: Floats
    degrees_of_freedom: Floats
    bias: Floats
    scale_use: Floats
    noise: Floats
    signal: Floats
    bias_error: Floats
    scale_use_error: Floats
    log_noise_error: Floats
    signal_error: Floats
    spread: float
    log_posterior: float
    iterations: int

    @cached_property
    def reliability(self) -> Floats:
        """The share of the variance of an assessor's answers that is due to items, shape (assessors,)."""
        share: Floats = self.signal**2 / (1 + self.signal**2)
        return share

    def items(self, *, level: float = 0.95) -> pl.DataFrame:
        """One row per item: ``query``, ``document``, ``gain``, ``low``, ``high``, ``answers``."""
        require_level(level)
        reach = special.stdtrit(self.degrees_of_freedom, (1 + level) / 2) * np.sqrt(self.variance)
        ends = 0.0, self.answers.scale.top
        gain, low, high = (np.clip(value, *ends) for value in (self.gain, self.gain - reach, self.gain + reach))
        return self.answers.items.with_columns(
            pl.Series("gain", gain),
            pl.Series("low", low),
            pl.Series("high", high),
            pl.Series("answers", self.answers.answers_of_item),
        )

    def assessors(self, *, level: float = 0.95) -> pl.DataFrame:
        """One row per assessor, the most reliable first.

        Returns
        -------
        polars.DataFrame
            ``assessor``, ``answers``, and ``bias``, ``scale_use``, ``noise`` (a standard deviation) and
            ``reliability``, each followed by the ends of its interval: ``bias_low``, ``bias_high`` and so on. All of
            these are null for an assessor who shares no item with anybody.
        """
        require_level(level)
        # A noise that is badly known widens what is divided by it.
        quantile = special.stdtrit(np.maximum(2 / (2 * self.log_noise_error) ** 2, 1.0), (1 + level) / 2)
        wide = special.ndtri((1 + level) / 2)
        # The root of the reliability is a correlation, and the inverse hyperbolic sine of the signal Fisher's z of it.
        centre, reach = np.arcsinh(self.signal), quantile * self.signal_error / np.sqrt(1 + self.signal**2)
        signal_low, signal_high = np.sinh(centre - reach), np.sinh(centre + reach)
        nearest = np.where(signal_low * signal_high < 0, 0.0, np.minimum(np.abs(signal_low), np.abs(signal_high)))
        farthest = np.maximum(np.abs(signal_low), np.abs(signal_high))
        factor = np.exp(wide * self.log_noise_error)
        columns = {
            "bias": (self.bias, self.bias - quantile * self.bias_error, self.bias + quantile * self.bias_error),
            "scale_use": (
                self.scale_use,
                self.scale_use - quantile * self.scale_use_error,
                self.scale_use + quantile * self.scale_use_error,
            ),
            "noise": (self.noise, self.noise / factor, self.noise * factor),
            "reliability": (self.reliability, nearest**2 / (1 + nearest**2), farthest**2 / (1 + farthest**2)),
        }
        return self.answers.assessor_table(columns)

    def _summary(self) -> Summary:
        """Show how assessors grade."""
        people, items = counted(self.answers.n_assessors, "assessor"), counted(self.answers.n_items, "item")
        shown = self.assessors().select("assessor", "answers", "bias", "scale_use", "noise", "reliability")
        return Summary(
            f"{people} on {items}, {counted(self.answers.gain.size, 'answer')}", [DisplayTable(shown, "Assessors")]
        )


def fit_assessor_effects(answers: GradeAnswers, *, max_iterations: int = 2000) -> AssessorEffects:
    """Find out how assessors grade and what items are worth.

    Parameters
    ----------
    answers : GradeAnswers
        With some item that several assessors judged.
    max_iterations : int
        How many iterations to make at most.

    Raises
    ------
    InputError
        If every item has one answer, or all answers are the same.
    NotConverged
        If the maximum is not found in time.

    Examples
    --------
    Two assessors agree on everything but that one of them is 20 milder. Gains are drawn to the middle a little, as long
    as there are few answers:

    >>> from earmark.data.judgments import Judgments
    >>> rows = [("q", f"d{i}", 10.0 * i + 20 * mild, "mild" if mild else "severe") for i in range(8) for mild in (0, 1)]
    >>> frame = pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row")
    >>> found = fit_assessor_effects(GradeAnswers.of(Judgments.from_frame(frame)))
    >>> found.items()["gain"].round(0).to_list()
    [11.0, 21.0, 31.0, 40.0, 50.0, 59.0, 69.0, 79.0]
    >>> found.bias.round(0).tolist()
    [10.0, -10.0]
    """
    if not answers.shared.any():
        raise InputError(expected="items that several assessors judged", got="every item judged by one")
    unit, middle = float(answers.gain.std()), float(answers.gain.mean())
    if not unit > 0:
        raise InputError(expected="answers that differ", got=f"all {answers.gain.size:,} of them {middle:g}")
    posterior = MarginalPosterior(
        answers.item,
        answers.assessor,
        (answers.gain - middle) / unit,
        answers.n_items,
        answers.n_assessors,
        _PRECISE * _step(answers) / unit,
        np.zeros(answers.n_assessors),
    )
    at, value, iterations = posterior.start(), 0.0, 0
    for _ in range(_PASSES):
        at, value, steps = _maximise(posterior, at, max_iterations=max_iterations)
        iterations += steps
        posterior = MarginalPosterior(**{**vars(posterior), "given_back": posterior.degrees_of_freedom(at)})
    return _conclude(answers, posterior, at, middle, unit, value, iterations)


def _step(answers: GradeAnswers) -> float:
    """Return the distance between the nearest two levels of the scale."""
    if answers.scale.continuous:
        return answers.scale.top / _STEPS
    return float(np.diff(answers.scale.gains).min())


def _maximise(posterior: MarginalPosterior, at: Floats, *, max_iterations: int) -> tuple[Floats, float, int]:
    """Climb to the maximum, in units in which all parameters curve about as much."""
    unit = 1 / np.sqrt(posterior.curvature(at))
    # Relative to the number of answers, so that the tolerance means the same for ten and for a million.
    size = posterior.answer.size

    def downhill(place: Floats) -> tuple[float, Floats]:
        value, gradient = posterior.value_and_gradient(at + unit * place)
        return -value / size, -gradient * unit / size

    found = optimize.minimize(
        downhill,
        np.zeros_like(at),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iterations, "maxfun": 2 * max_iterations, "ftol": 1e-13, "gtol": 1e-4 / size},
    )
    if found.nit >= max_iterations or not np.isfinite(found.fun):
        raise NotConverged(f"bias, scale use and noise of assessors did not settle in {max_iterations} iterations")
    return at + unit * found.x, -size * float(found.fun), int(found.nit)


def _conclude(
    answers: GradeAnswers,
    posterior: MarginalPosterior,
    at: Floats,
    middle: float,
    unit: float,
    value: float,
    iterations: int,
) -> AssessorEffects:
    found, seen = Parameters(at, answers.n_assessors), posterior.expect(at)
    information, first, second = posterior.information(at)
    try:
        covariance = linalg.cho_solve(linalg.cho_factor(information), np.eye(at.size))
    except linalg.LinAlgError:
        raise NotConverged("the model of assessors has no clear maximum: too few items are shared") from None
    size = answers.n_assessors
    share = answers.answers_of_assessor / answers.gain.size
    frame_bias, frame_use = np.zeros(at.size), np.zeros(at.size)
    frame_bias[:size], frame_bias[-3] = share, 1.0
    frame_use[size : 2 * size] = share
    use = float(share @ found.scale_use)
    gain = found.mean + float(share @ found.bias) + use * seen.mean
    more, unknown = np.empty(gain.size), np.empty(gain.size)
    for start in range(0, gain.size, _ROWS_AT_ONCE):
        here = slice(start, start + _ROWS_AT_ONCE)
        variance = seen.variance[here, None]
        slopes = use * variance * first[here].toarray() + frame_bias + seen.mean[here, None] * frame_use
        more[here] = np.einsum("ij,ij->i", slopes @ covariance, slopes)
        logs = 2 * variance * second[here].toarray()
        unknown[here] = np.einsum("ij,ij->i", logs @ covariance, logs)
    own = use**2 * seen.variance
    whole = own + more
    every = np.arange(size)

    def error(slopes: Floats) -> Floats:
        variance: Floats = np.einsum("ij,ij->i", slopes @ covariance, slopes)
        return np.sqrt(variance)

    relative = found.scale_use / use
    by_bias, by_use, by_signal = (np.zeros((size, at.size)) for _ in range(3))
    by_bias[every, every] = 1.0
    by_bias[:, :size] -= share
    by_use[every, size + every] = 1 / use
    by_use -= relative[:, None] * frame_use / use
    ratio = np.exp((found.log_spread - found.log_noise) / 2)
    signal = found.scale_use * ratio
    by_signal[every, size + every] = ratio
    by_signal[every, 2 * size + every] = -signal / 2
    by_signal[:, -2] = signal / 2
    return AssessorEffects(
        answers,
        middle + unit * gain,
        unit**2 * whole,
        np.maximum(2 * (whole / own) ** 2 / unknown, 1.0),
        unit * (found.bias - float(share @ found.bias)),
        relative,
        unit * np.exp(found.log_noise / 2),
        signal,
        unit * error(by_bias),
        error(by_use),
        np.sqrt(covariance[2 * size + every, 2 * size + every]) / 2,
        error(by_signal),
        unit * use * float(np.exp(found.log_spread / 2)),
        value,
        iterations,
    )
