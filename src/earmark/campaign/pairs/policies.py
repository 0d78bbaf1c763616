r"""Which pair of documents to ask about next.

==================  ====================================================================================================
``random``          every candidate pair with the same probability, as Stupar and Michel (2013) did
``told-apart``      the same among pairs that some two systems order differently, or that count for one of them alone
``adaptive``        the pair whose answers are expected to reduce the variance of the differences of systems most
==================  ====================================================================================================

**The adaptive policy.** Answers to pair :math:`p` settle its own error :math:`e_p` and tell something about every pair
that shares a system, a query or a document with it. With :math:`\Delta` for the difference of two systems,
:math:`r` for the error of all other pairs and :math:`w_p` for the information in the answers about :math:`\eta_p`,
they are expected to reduce :math:`Var[\Delta]` by

.. math:: G_p = Var[e_p] + 2\, Cov(e_p, r) + \frac{w_p\, Cov(\eta_p, r)^2}{1 + w_p Var[\eta_p]}

The priority of a pair is :math:`\sum G_p / Var[\Delta]` over the undecided differences (over all, where none is
undecided), divided by the number of answers it takes. None of this depends on what people will say, so the questions of
a batch are chosen one by one, each as if those before it had been answered. Pairs that all systems order alike come
last.
"""

from __future__ import annotations

import difflib
from typing import Literal, get_args

import numpy as np

from earmark.campaign.pairs.estimates import PreferenceEstimates
from earmark.campaign.pairs.model import NODE_WEIGHTS, NODES, PairPosterior
from earmark.campaign.policies import Proposal, propose_highest
from earmark.crowd.davidson import slope_and_information
from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError

PairPolicy = Literal["adaptive", "told-apart", "random"]


def parse_pair_policy(text: str) -> PairPolicy:
    """Read the name of a policy."""
    names = get_args(PairPolicy)
    for name in names:
        if text.strip().lower() == name:
            found: PairPolicy = name
            return found
    close = difflib.get_close_matches(text.lower(), names, n=1, cutoff=0.5)
    meant = f"did you mean {close[0]}? " if close else ""
    raise ParameterError(f"unknown policy for pairs '{text}': {meant}(there are {', '.join(names)})")


def propose_pairs(
    estimates: PreferenceEstimates,
    n: int,
    rng: np.random.Generator,
    *,
    policy: PairPolicy = "adaptive",
    target: float = 0.95,
) -> Proposal:
    """Choose which pairs to ask about next.

    Parameters
    ----------
    estimates : PreferenceEstimates
        What is known so far.
    n : int
        How many questions, fewer if fewer are left.
    rng : numpy.random.Generator
        Draws among pairs of the same priority.
    policy : {"adaptive", "told-apart", "random"}
        How to choose.
    target : float, in (0, 1)
        A difference is undecided while its confidence is below.

    Returns
    -------
    Proposal
        Its items are candidate pairs. For the adaptive policy, the priority is the share of the variance of undecided
        differences by which one answer reduces it, summed over them; otherwise 1 for the pairs the policy is for.
    """
    answered = estimates.verdicts.left == 0
    if policy != "adaptive":
        design = estimates.posterior.design
        wanted = design.tells_apart if policy == "told-apart" else np.ones(answered.size)
        return propose_highest(wanted.astype(np.float64), answered, n, rng)
    ahead, picks = _Lookahead(estimates, target), []
    for _ in range(min(n, int(np.count_nonzero(~answered)))):
        picks.append(propose_highest(ahead.priorities(), ahead.answered, 1, rng))
        ahead.answer(int(picks[-1].items[0]))
    items = np.array([pick.items[0] for pick in picks], dtype=np.int64)
    priority = np.array([max(float(pick.priority[0]), 0.0) for pick in picks])
    return Proposal(items, priority, np.zeros(items.size, dtype=bool))


class _Lookahead:
    """Variances and covariances after hypothetical answers, one question after the other."""

    def __init__(self, estimates: PreferenceEstimates, target: float) -> None:
        self.posterior, self.left = estimates.posterior, estimates.verdicts.left
        self.answered = self.left == 0
        ranking, differences = estimates.ranking, estimates.ranking.estimates.differences
        counts = ranking.compared & (differences.variance > 0)
        undecided = counts & (ranking.confidence < target)
        counts = undecided if undecided.any() else counts
        a, b = ranking.estimates.a[counts], ranking.estimates.b[counts]
        self.scale = 1.0 / differences.variance[counts]
        first, second, self.slope, self.with_pairs = (
            of_systems[a] - of_systems[b]
            for of_systems in (
                estimates.first_weight, estimates.second_weight, estimates.slope, estimates.with_pairs
            )
        )  # fmt: skip
        chance, other = estimates.verdicts.first, estimates.verdicts.second
        self.variance = self.posterior.variance.copy()
        own = first**2 * chance + second**2 * other - (first * chance + second * other) ** 2
        # The part of a pair's variance given its expected difference, which answers about other pairs do not change.
        self.conditional = own - self.slope**2 * self.variance
        self.information = expected_information(self.posterior, self.left)
        self.learnt: list[tuple[Floats, float]] = []

    def priorities(self) -> Floats:
        """Return the expected reduction by every pair, per answer; it is meaningless for pairs that are answered."""
        rest = self.with_pairs - self.slope * self.variance
        learnt = self.information / (1.0 + self.information * self.variance)
        own = self.conditional + self.slope**2 * self.variance
        gain: Floats = self.scale @ (own + 2 * self.slope * rest + rest**2 * learnt)
        return gain / np.maximum(self.left, 1)

    def answer(self, pair: int) -> None:
        """Take the answers about a pair as given, whatever they will be."""
        column = self.posterior.covariance_of(pair)
        for earlier, share in self.learnt:
            column = column - share * earlier[pair] * earlier
        self.answered[pair] = True
        self.with_pairs -= self.slope[:, pair, None] * column
        self.slope[:, pair] = self.conditional[:, pair] = 0.0
        share = float(self.information[pair] / (1.0 + self.information[pair] * self.variance[pair]))
        self.with_pairs -= share * self.with_pairs[:, pair, None] * column
        self.variance = np.maximum(self.variance - share * column**2, 0.0)
        self.learnt.append((column, share))


def expected_information(posterior: PairPosterior, answers: Ints) -> Floats:
    r"""Return the expected information of some answers about each pair on :math:`\eta_p`, shape (pairs,).

    The answers estimate :math:`d_p` with a variance of :math:`1 / (n\, E[i(d_p)])`, with :math:`i` the information of
    one answer, and :math:`d_p` differs from :math:`\eta_p` by what is peculiar to the pair:
    :math:`w_p = 1 / (\tau^2 + 1 / (n\, E[i(d_p)]))`.
    """
    pair_variance = posterior.sds.pair**2
    difference = posterior.mean[:, None] + np.sqrt(posterior.variance + pair_variance)[:, None] * NODES
    of_one = slope_and_information(difference, np.zeros(1), np.ones(1), posterior.same_weight)[1] @ NODE_WEIGHTS
    of_all = np.maximum(answers * of_one, np.finfo(float).tiny)
    information: Floats = np.where(answers > 0, 1.0 / (pair_variance + 1.0 / of_all), 0.0)
    return information
