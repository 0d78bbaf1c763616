r"""Audit of a model: a test of whether its estimates agree with design-based estimates from a sample.

A campaign that judges some items adaptively and some by a sampling design has two estimates of every score. The
design-based one is unbiased whatever the model. Two hypotheses are tested.

The mean score over systems is right: an error of the general level contradicts this first. Where the model is right,
its own estimate is the best one, and the two differ by what the design-based one is worse (Hausman 1978):

.. math:: t = \frac{\hat\theta^{model} - \hat\theta^{design}}{\sqrt{\hat V^{design} - \hat V^{model}}}

Both variances are estimates, so their difference is taken as at least half of the design's.

Every system is right: differences of the variances of single systems are too uncertain, so the design's variance stands
alone, and the smallest p-value is multiplied by the number of systems.

Both tests have the design's degrees of freedom. The result is twice the smaller of the two p-values (Bonferroni), which
is valid however systems are correlated.

References
----------
J. A. Hausman (1978). Specification tests in econometrics. Econometrica 46 (6), 1251-1271.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from scipy import special

from earmark.beliefs.estimates import Estimates
from earmark.data.arrays import Floats
from earmark.data.display import Display, Summary, facts

SUSPICIOUS = 0.01
"""Below this p-value the two estimates disagree; .05 would give too many false alarms over repeated looks."""


TELLING = 220
"""With this many sampled judgments or more, an audit notices most models whose scores are off by .05."""

_LEAST_SHARE = 0.5
"""The difference of two estimated variances may come out too small, or negative; it is at least this share of one."""


@dataclass(frozen=True, repr=False)
class Audit(Display):
    """Whether a model agrees with a guaranteed sample.

    Attributes
    ----------
    sampled : int
        How many judgments the design-based estimates use.
    p_value : float, 0..1
        Of the largest deviation of a system, under the hypothesis that the model is right.
    agrees : bool
    worst : str
        The system that deviates most.
    deviation : float
        Model minus guarantee for that system.
    bias : float
        The mean of model minus guarantee over systems.
    """

    sampled: int
    p_value: float
    agrees: bool
    worst: str
    deviation: float
    bias: float

    def __str__(self) -> str:
        on = f"audit on {self.sampled:,} sampled judgments"
        if self.agrees:
            little = "" if self.sampled >= TELLING else "; a sample this small reveals only large errors of the model"
            return f"{on}: the model agrees with the guaranteed estimates (p = {self.p_value:.2f}){little}"
        return (
            f"{on}: the model does NOT agree with the guaranteed estimates (p = {self.p_value:.2g}; {self.worst} is "
            f"{abs(self.deviation):.3f} {'higher' if self.deviation > 0 else 'lower'} by the model): trust --inference "
            "design"
        )

    def _summary(self) -> Summary:
        """Show what it rests on."""
        return Summary(str(self), [facts(**asdict(self))])


def audit(model: Estimates, design: Estimates, *, sampled: int) -> Audit:
    """Compare a model's estimates with guaranteed ones of the same systems."""
    apart, df = model.scores.mean - design.scores.mean, design.scores.df
    of_system = _p_values(apart, design.scores.variance, df)
    of_design = max(float(design.covariance.mean()), 0.0)
    variance = max(of_design - float(model.covariance.mean()), _LEAST_SHARE * of_design)
    of_mean = _p_values(apart.mean(keepdims=True), np.array([variance]), None if df is None else df.min(keepdims=True))
    worst = int(np.argmin(of_system))
    p_value = float(min(1.0, 2.0 * min(of_mean[0], of_system[worst] * of_system.size)))
    return Audit(
        sampled, p_value, p_value >= SUSPICIOUS, model.systems[worst], float(apart[worst]), float(apart.mean())
    )


def _p_values(apart: Floats, variance: Floats, df: Floats | None) -> Floats:
    # Deviations within rounding errors are none.
    t = np.divide(np.abs(apart), np.sqrt(variance), out=np.where(np.abs(apart) > 1e-9, np.inf, 0.0), where=variance > 0)
    p: Floats = 2.0 * special.stdtr(np.full(t.shape, 1e6) if df is None else df, -t)
    return p
