"""Two looks in a row: a rule about estimates ends a campaign only if it held a few answers ago, too.

Whoever looks often stops at a lucky moment. The look before is that at the answers without the last
:data:`LOOKS_APART`, however often anybody looked, so that the decision follows from the answers alone: a campaign that
is replayed stops where it stopped. What is used up needs no second look, such as a budget or the items. Files of
judgments that tell neither order nor time are one look, and the decision says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from earmark.campaign.stopping.base import StopDecision

LOOKS_APART = 10
"""How many answers lie between the two looks at which a rule has to hold."""

ONE_LOOK = "this is one look, a campaign in a folder stops at the second in a row"
NOT_TWICE = f"it has to hold at two looks in a row, and {LOOKS_APART} answers ago it did not"


def confirmed(now: StopDecision, before: Callable[[], StopDecision | None]) -> StopDecision:
    """Return a decision that takes two looks.

    Parameters
    ----------
    now : StopDecision
        By what is known now.
    before : callable
        Returns the decision of the look before; None where it is not known what was known then.

    Examples
    --------
    >>> now = StopDecision(True, "the mean confidence is 0.960, at least 0.95")
    >>> confirmed(now, lambda: StopDecision(False, "the mean confidence is 0.930, below 0.95")).stop
    False
    """
    if not now.stop or now.final:
        return now
    earlier = before()
    if earlier is None:
        return replace(now, reason=f"{now.reason} ({ONE_LOOK})")
    return now if earlier.stop else replace(now, stop=False, reason=f"{now.reason}, but {NOT_TWICE}")
