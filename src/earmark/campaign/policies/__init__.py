r"""What to judge next: policies give every unjudged item a priority and propose the highest.

==================  ====================================================================================================
``mtc``             :math:`w_i = \sum_{A<B} (W_{Ai} - W_{Bi})^2`: for average gain, the number of pairs told apart
``mtc-undecided``   the same over pairs whose confidence is below the target only, in proportion to their confidence
                    :math:`C_{AB}` (Urbano and Schedl 2013, 3.4) or, as ``mtc-undecided:doubt``, to :math:`1 - C_{AB}`
``absolute``        :math:`\sum_A W_{Ai}^2\, Var[G_i]`: how much variance of the systems' own scores it takes away
``random``          all the same
``balanced``        at random, and of every system ten judgments or none, one after the other (Buckers 2021);
                    ``balanced:20`` asks for twenty, ``balanced:mtc`` picks as ``mtc`` instead of at random
``proportional``    a sample with known probabilities (:mod:`earmark.campaign.policies.proportional`)
==================  ====================================================================================================

Where the formulas come from is told in :mod:`earmark.campaign.policies.separation`.

**Ties are the rule.** On the MIREX 2011 collection three quarters of the items were retrieved by one system only and
have the same weight, so what breaks ties chooses most of what is judged. It is a draw, never the order of a file;
priorities that differ by rounding errors alone tie too. An item that tells no pair apart has priority 0 and comes last.

All but the last are adaptive: what they pick depends on what is known, or on draws that nobody keeps, so no item is
marked as part of a sample with known probabilities.

References
----------
J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity and
retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 3.4.
Buckers (2021), on overconfidence and bias in low-cost evaluation; sections 2.2.3 and 3.3.
"""

from __future__ import annotations

from earmark.campaign.policies.balanced import Balanced
from earmark.campaign.policies.base import POLICIES, Policy, PolicyState, Proposal, propose_highest
from earmark.campaign.policies.proportional import Audited, Proportional
from earmark.campaign.policies.published import MTC, Absolute, MTCUndecided, Random
from earmark.campaign.policies.variance import Variance
from earmark.registry import split_arguments

__all__ = [
    "MTC",
    "POLICIES",
    "Absolute",
    "Audited",
    "Balanced",
    "MTCUndecided",
    "Policy",
    "PolicyState",
    "Proportional",
    "Proposal",
    "Random",
    "Variance",
    "make_policy",
    "propose_highest",
]


def make_policy(text: str) -> Policy:
    """Make a policy from its name and what follows it: ``mtc``, ``mtc-undecided:doubt``, ``balanced:20:mtc``.

    Examples
    --------
    >>> str(make_policy("mtc-undecided:doubt")), make_policy("balanced:20")
    ('mtc-undecided:doubt', Balanced(minimum=20, then='random'))

    Raises
    ------
    ParameterError
        For an unknown name, with the closest known one, or an argument that the policy does not take.
    """
    name, arguments = split_arguments(text)
    policy = POLICIES.get(name)
    if policy is None:
        raise POLICIES.unknown(text)
    return policy.from_arguments(*arguments)
