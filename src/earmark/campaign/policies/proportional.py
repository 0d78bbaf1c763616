r"""Policies that judge a sample with known probabilities, alone or beside an adaptive policy.

==================  ====================================================================================================
``proportional``    the first items of the sample order that are not judged, all marked as sampled
(``--audit 0.2``)   any other policy, with every fifth item taken from the sample order instead
==================  ====================================================================================================

The order is fixed by permanent random numbers and by how much depends on every item
(:mod:`earmark.inference.sampling_design`), never by what was judged: nobody can steer the sample. Judging in this order
is what makes estimates guaranteed (:mod:`earmark.inference.design_based`).

An *audit* keeps an adaptive campaign honest: while most judgments go where the model learns most, a share of them
follows the sample order, and at any time the guaranteed estimate from those can be put beside the model's. An item
that the adaptive policy judged before the order reached it is skipped when its turn comes, so the sample grows at least
as fast as it is paid for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from earmark.campaign.policies.base import POLICIES, Policy, PolicyState, Proposal, check_count, in_runs
from earmark.campaign.policies.variance import Variance
from earmark.data.arrays import Bools, Ints
from earmark.errors import ParameterError
from earmark.inference.sampling_design import JudgingOrder

# Shares such as .1 are no binary fractions: ten tenths have to make a whole.
_ROUNDING = 1e-9


@POLICIES.register
@dataclass(frozen=True)
class Proportional(Policy):
    """Judge the first items of the sample order that are not judged, in this order.

    Priorities are those of the order: for a :class:`~earmark.inference.sampling_design.SampleOrder`, the size of an
    item over its random number.
    """

    name: ClassVar[str] = "proportional"

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose the first unjudged items; nothing is drawn, as everything was drawn beforehand."""
        check_count(n)
        order = _order_of(state)
        first = _first_unjudged(order, state.judged, n)
        return Proposal(first, order.priority[first], np.ones(first.size, dtype=bool))


@dataclass(frozen=True)
class Audited(Policy):
    """Judge by another policy, and a share of the items from the sample order.

    Items are counted over the whole campaign: with a share of .2 every fifth judgment is sampled, whatever the sizes
    of batches. A batch that is left half-done has about the share too, as sampled items stand where they fall due.

    Priorities only say the order: the number of proposed items that come after, plus one.

    Parameters
    ----------
    policy : Policy
        What proposes the other items.
    share : float, above 0 and up to 1
        The share of sampled items.
    """

    name: ClassVar[str] = "audited"

    policy: Policy
    share: float = 0.2

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ParameterError(
                f"the share of sampled judgments in an audit is above 0 and up to 1, got {self.share:g}"
            )

    def propose(self, state: PolicyState, n: int, rng: np.random.Generator) -> Proposal:
        """Propose sampled items where they fall due, and between them what the other policy wants."""
        check_count(n)
        n = min(n, int(np.count_nonzero(~state.judged)))
        due = self._due(int(np.count_nonzero(state.judged)), n)
        sampled = _first_unjudged(_order_of(state), state.judged, int(np.count_nonzero(due)))
        taken = state.judged.copy()
        taken[sampled] = True
        items = np.empty(n, dtype=np.int64)
        items[due] = sampled
        items[~due] = self.policy.propose(replace(state, judged=taken), n - sampled.size, rng).items
        if isinstance(self.policy, Variance) and self.policy.group_by_query:
            order = in_runs(state.collection.item_query[items])
            items, due = items[order], due[order]
        return Proposal(items, np.arange(n, 0.0, -1.0), due)

    def _due(self, judged: int, n: int) -> Bools:
        """Tell which of the next `n` judgments are sampled ones: those at which the share makes another whole item."""
        owed = [math.floor(self.share * (judged + more) + _ROUNDING) for more in range(n + 1)]
        return np.diff(np.array(owed, dtype=np.int64)) > 0

    def __str__(self) -> str:
        return f"{self.policy} with an audit of {self.share:g}"


def _order_of(state: PolicyState) -> JudgingOrder:
    if state.sample_order is None:
        raise ParameterError("a sample with known probabilities needs the order in which it is judged, there is none")
    return state.sample_order


def _first_unjudged(order: JudgingOrder, judged: Bools, n: int) -> Ints:
    left = order.order[~judged[order.order]]
    return left[:n]
