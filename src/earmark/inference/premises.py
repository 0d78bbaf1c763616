"""What a verdict presupposes and does not have: how a failed premise limits what may be said.

Who ranks systems knows nothing of where judgments come from. Whoever does (:mod:`earmark.campaign.premises`) attaches
the premises that failed to the :class:`~earmark.inference.confidence.Ranking`, and every sentence, table, picture and
stop rule that is made of the ranking follows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Severity = Literal["withhold", "claim", "note"]
"""What a failed premise does to a verdict.

==============  ========================================================================================================
``withhold``    nothing is called sure or decided, and stop rules on estimates do not stop
``claim``       nothing is called sure or decided; stop rules take the numbers as a published method states them
``note``        it is said beside the verdict, which stands
==============  ========================================================================================================
"""


@dataclass(frozen=True)
class FailedPremise:
    """A premise of a verdict that does not hold.

    Attributes
    ----------
    name : str
        Of the premise.
    severity : {"withhold", "claim", "note"}
    clause : str
        What completes a sentence about the system with the highest estimate: ``but it is too early: …``.
    note : str
        What a reader has to know, in a sentence of its own.
    """

    name: str
    severity: Severity
    clause: str
    note: str


def withholding(failed: Sequence[FailedPremise]) -> FailedPremise | None:
    """Return the first failed premise with which nothing may be called sure or decided; None where there is none."""
    return next((premise for premise in failed if premise.severity != "note"), None)
