r"""Audit of a model: a test of whether its estimates agree with design-based estimates from a sample.

A campaign that judges some items adaptively and some by a sampling design has two estimates of every score. The
design-based one is noisy but unbiased; so if the model's estimate differs from it by more than chance explains, the
model is wrong. Every system gives a deviation

.. math:: t = \frac{\hat\theta^{model} - \hat\theta^{design}}{\sqrt{\hat V^{design}}}

with the design's degrees of freedom, where the model's own variance is added to that of the design. The result is the
smallest p-value over systems multiplied by their number (Bonferroni), which is valid however systems are correlated.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from scipy import special

from earmark.beliefs.estimates import Estimates, Moments
from earmark.data.arrays import Floats
from earmark.data.display import Display, Summary, facts

SUSPICIOUS = 0.01
"""Below this p-value the two estimates disagree; .05 would give too many false alarms over repeated looks."""


TELLING = 160
"""With this many sampled judgments or more, an audit detects most models that are clearly wrong."""


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
    surprise = _p_values(model.scores, design.scores)
    apart = model.scores.mean - design.scores.mean
    worst = int(np.argmin(surprise))
    p_value = float(min(1.0, surprise[worst] * surprise.size))
    return Audit(
        sampled, p_value, p_value >= SUSPICIOUS, model.systems[worst], float(apart[worst]), float(apart.mean())
    )


def _p_values(model: Moments, design: Moments) -> Floats:
    variance = design.variance + model.variance
    apart = np.abs(model.mean - design.mean)
    df = np.full(apart.shape, 1e6) if design.df is None else design.df
    t = np.divide(apart, np.sqrt(variance), out=np.where(apart > 1e-9, np.inf, 0.0), where=variance > 0)
    p: Floats = 2.0 * special.stdtr(df, -t)
    return p
