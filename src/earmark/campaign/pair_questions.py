r"""Which pair of documents to ask about next, and the loop of a campaign of such questions.

==================  ====================================================================================================
``random``          every candidate pair is as likely as any other: SRBENCH's way
``told-apart``      the same among pairs that some two systems order differently, or that count for one of them alone
``adaptive``        the pair whose answers are expected to take most off the variance of the differences of systems
==================  ====================================================================================================

**The adaptive policy.** Answers to pair :math:`p` settle its own error :math:`e_p` and teach something about every pair
that shares a system, a query or a document with it. With :math:`\Delta` for the difference of two systems,
:math:`r` for the error of all other pairs and :math:`w_p` for the information in the answers about :math:`\eta_p`,
they are expected to take

.. math:: G_p = Var[e_p] + 2\, Cov(e_p, r) + \frac{w_p\, Cov(\eta_p, r)^2}{1 + w_p Var[\eta_p]}

off :math:`Var[\Delta]`. The priority of a pair is :math:`\sum G_p / Var[\Delta]` over the differences that are not
decided yet (over all, where none is left), divided by how many answers it takes. None of this depends on what people
will say, so a batch is chosen one by one, each question knowing that those before it will have been answered. Pairs of
which both documents stand in the same order in all lists come last.

**The loop** believes, estimates, decides whether to stop, asks, and again, as that of graded judgments does. The
standard deviations of the model are looked for anew each time the answers have grown by half.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from earmark.campaign.pair_design import PairAnswers, PairDesign
from earmark.campaign.pair_estimates import PreferenceEstimates, estimate_precision
from earmark.campaign.pair_likelihood import slope_and_information
from earmark.campaign.pair_model import NODE_WEIGHTS, NODES, PairPosterior, fit_pairs
from earmark.campaign.pair_spreads import choose_spreads
from earmark.campaign.stopping import Budget, StopDecision, StopRule
from earmark.crowd.questions import question_ids
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.errors import ParameterError
from earmark.wording import counted

PairPolicy = Literal["adaptive", "told-apart", "random"]
Ask = Callable[[Ints, Ints], tuple[Ints, Ints, Ints]]
"""Given pairs and how many answers to get about each, returns how many chose the first, the second and neither."""

_GROWTH, _TIED = 1.5, 1e-9


# Policies


@dataclass(frozen=True, eq=False, repr=False)
class PairProposal(Display):
    """What to ask next, the most wanted first.

    Attributes
    ----------
    pairs : ndarray of int, shape (proposed,)
        Candidate pairs.
    priority : ndarray of float, shape (proposed,), 0 or more
        For the adaptive policy, what share of the variance of undecided differences one answer takes off, summed over
        them; 1 for all pairs that a policy draws with equal chances.
    """

    pairs: Ints
    priority: Floats

    def _summary(self) -> Summary:
        """Show the first of them."""
        frame = pl.DataFrame({"pair": self.pairs, "priority": self.priority})
        return Summary(f"{counted(self.pairs.size, 'pair')} of documents to ask about", [DisplayTable(frame)])


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
) -> PairProposal:
    """Choose what to ask next.

    Parameters
    ----------
    estimates : PreferenceEstimates
        Where the campaign stands.
    n : int
        How many questions, fewer if fewer are left.
    rng : numpy.random.Generator
        Draws for random policies and breaks ties for the adaptive one.
    policy : {"adaptive", "told-apart", "random"}
        How to choose.
    target : float, in (0, 1)
        A difference is undecided while its confidence is below.
    """
    left = estimates.verdicts.left > 0
    # A random order in which ties are broken; random policies use nothing else.
    order = rng.permutation(left.size)
    if policy == "adaptive":
        return _propose_adaptive(estimates, n, order, target)
    wanted = left if policy == "random" else left & tells_apart(estimates.posterior.design.order)
    chosen = order[wanted[order]][:n]
    if chosen.size < n:
        rest = order[(left & ~wanted)[order]]
        chosen = np.concatenate((chosen, rest[: n - chosen.size]))
    return PairProposal(chosen, np.where(wanted[chosen], 1.0, 0.0))


def proposal_frame(estimates: PreferenceEstimates, proposal: PairProposal, rng: np.random.Generator) -> pl.DataFrame:
    """Return ``question``, ``query``, ``a``, ``b`` (which is shown first is drawn), ``assessors`` and ``priority``."""
    table, chosen = estimates.posterior.design.pairs, proposal.pairs
    swapped = rng.random(chosen.size) < 0.5
    documents = pl.Series(table.documents, dtype=pl.String)
    first, second = table.first_index[chosen], table.second_index[chosen]
    frame = pl.DataFrame(
        {
            "query": pl.Series(table.queries, dtype=pl.String).gather(table.query_index[chosen]),
            "a": documents.gather(np.where(swapped, second, first)),
            "b": documents.gather(np.where(swapped, first, second)),
            "assessors": estimates.verdicts.left[chosen],
            "priority": proposal.priority,
        }
    )
    return frame.select(question_ids(frame), pl.all())


def tells_apart(order: Ints) -> Bools:
    """Tell which pairs not all systems order alike, shape (pairs,)."""
    apart: Bools = np.any(order != order[:1], axis=0)
    return apart


def _propose_adaptive(estimates: PreferenceEstimates, n: int, order: Ints, target: float) -> PairProposal:
    thought = _Thought(estimates, target)
    chosen: list[int] = []
    priorities: list[float] = []
    for _ in range(min(n, int(np.count_nonzero(estimates.verdicts.left)))):
        priority = thought.priorities()
        # Priorities that differ by rounding alone tie, and the random order decides.
        highest = float(priority.max())
        best = order[np.argmax((priority >= highest - _TIED * abs(highest))[order])]
        chosen.append(int(best))
        priorities.append(max(float(priority[best]), 0.0))
        thought.answer(int(best))
    return PairProposal(np.array(chosen, dtype=np.int64), np.array(priorities))


class _Thought:
    """Covariances while questions are answered in thought, one after the other."""

    def __init__(self, estimates: PreferenceEstimates, target: float) -> None:
        self.posterior = estimates.posterior
        self.left = estimates.verdicts.left
        self.is_open = self.left > 0
        undecided = ~estimates.identical & (estimates.variance > 0)
        if np.any(undecided & (estimates.confidence < target)):
            undecided &= estimates.confidence < target
        a, b = estimates.a[undecided], estimates.b[undecided]
        self.share = 1.0 / estimates.variance[undecided]
        first = estimates.first_weight[a] - estimates.first_weight[b]
        second = estimates.second_weight[a] - estimates.second_weight[b]
        chance, other = estimates.verdicts.first, estimates.verdicts.second
        self.slope = estimates.slope[a] - estimates.slope[b]
        self.with_pairs = estimates.with_pairs[a] - estimates.with_pairs[b]
        self.variance = self.posterior.variance.copy()
        own = first**2 * chance + second**2 * other - (first * chance + second * other) ** 2
        # What is uncertain about a pair beyond its expectation, which answers about others do not change.
        self.beyond = own - self.slope**2 * self.variance
        self.information = expected_information(self.posterior, self.left)
        self.learnt: list[tuple[Floats, float]] = []

    def priorities(self) -> Floats:
        """Return what every open pair would take off, per answer; −1 for pairs that are not open."""
        rest = self.with_pairs - self.slope * self.variance
        learnt = self.information / (1.0 + self.information * self.variance)
        own = self.beyond + self.slope**2 * self.variance
        gain = self.share @ (own + 2 * self.slope * rest + rest**2 * learnt)
        return np.where(self.is_open, gain / np.maximum(self.left, 1), -1.0)

    def answer(self, pair: int) -> None:
        """Take the answers about a pair as given, whatever they are."""
        column = self.posterior.covariance_of(pair)
        for earlier, share in self.learnt:
            column = column - share * earlier[pair] * earlier
        self.is_open[pair] = False
        self.with_pairs -= self.slope[:, pair, None] * column
        self.slope[:, pair] = 0.0
        self.beyond[:, pair] = 0.0
        share = float(self.information[pair] / (1.0 + self.information[pair] * self.variance[pair]))
        self.with_pairs -= share * self.with_pairs[:, pair, None] * column
        self.variance = np.maximum(self.variance - share * column**2, 0.0)
        self.learnt.append((column, share))


def expected_information(posterior: PairPosterior, answers: Ints) -> Floats:
    r"""Return what so many answers about a pair are expected to tell about :math:`\eta_p`, shape (pairs,).

    Answers tell :math:`1/I` of the variance of :math:`d_p`, which differs from :math:`\eta_p` by what is peculiar to
    the pair: :math:`w_p = 1 / (\tau^2 + 1 / (n\, E[i(d_p)]))` with :math:`i` the information of one answer.
    """
    pair = posterior.spreads.pair
    difference = posterior.mean[:, None] + np.sqrt(posterior.variance + pair**2)[:, None] * NODES
    one = np.ones(1, dtype=np.int64)
    of_one = slope_and_information(difference, 0 * one, one, posterior.same_weight)[1] @ NODE_WEIGHTS
    of_all = np.maximum(answers * of_one, np.finfo(float).tiny)
    information: Floats = np.where(answers > 0, 1.0 / (pair**2 + 1.0 / of_all), 0.0)
    return information


# The loop


@dataclass(frozen=True, eq=False, repr=False)
class PairLook(Display):
    """A campaign of pair questions at one moment.

    Attributes
    ----------
    answers : PairAnswers
        What was answered so far.
    estimates : PreferenceEstimates
        What follows for the systems.
    decision : StopDecision
        Whether to stop here, and why.
    """

    answers: PairAnswers
    estimates: PreferenceEstimates
    decision: StopDecision

    def _summary(self) -> Summary:
        """Show the estimates, and whether to stop."""
        seen = self.estimates._summary()
        said = f"{'stop' if self.decision.stop else 'go on'}: {self.decision.reason}"
        return Summary(seen.sentence, seen.sheets, [said, *seen.notes])


class PairBeliever:
    """Fits the model to growing answers, looking for its standard deviations each time they have grown by half.

    Parameters
    ----------
    design : PairDesign
        The pairs and systems.
    """

    def __init__(self, design: PairDesign) -> None:
        self.design = design
        self._last: PairPosterior | None = None
        self._searched = 0

    def believe(self, answers: PairAnswers) -> PairPosterior:
        """Return what answers say about all pairs."""
        total = int(answers.total.sum())
        spreads = None if self._last is None else self._last.spreads
        if total and total >= _GROWTH * self._searched:
            spreads = choose_spreads(self.design, answers, start=self._last)
            self._searched = total
        self._last = fit_pairs(self.design, answers, spreads=spreads, start=self._last)
        return self._last


def play_pairs(
    design: PairDesign,
    *,
    stop: StopRule,
    ask: Ask,
    rng: np.random.Generator,
    policy: PairPolicy = "adaptive",
    needed: int = 6,
    one_at_a_time: bool = False,
    batch: int = 20,
    start: PairAnswers | None = None,
    level: float = 0.95,
) -> Iterator[PairLook]:
    """Go through a campaign, one look per batch, until the stop rule says so or everything is answered.

    Parameters
    ----------
    design : PairDesign
        The candidate pairs and the systems.
    stop : StopRule
        When to stop; what it calls judged are questions with all their answers.
    ask : callable
        Who answers.
    rng : numpy.random.Generator
        Where policies draw from.
    policy : {"adaptive", "told-apart", "random"}
        What to ask.
    needed : int
        How many answers a question gets.
    one_at_a_time : bool
        Get one answer to a question and decide anew, in place of all that it still needs.
    batch : int
        How many questions are put between two looks.
    start : PairAnswers, optional
        What was answered before.
    level : float, in (0, 1)
        The probability that each interval holds.
    """
    if batch < 1:
        raise ParameterError(f"a batch is 1 question or more, got {batch}")
    believer = PairBeliever(design)
    answers = start or PairAnswers.none(len(design.pairs))
    while True:
        estimates = estimate_precision(believer.believe(answers), answers, needed=needed, level=level)
        state = estimates.stop_state()
        decision = stop.check(state)
        if not np.any(design.matters & (estimates.verdicts.left > 0)):
            decision = StopDecision(True, "every pair that counts for a system is answered")
        yield PairLook(answers, estimates, decision)
        if decision.stop:
            return
        room = batch
        if isinstance(stop, Budget):
            left = stop.judgments * needed - int((needed - estimates.verdicts.left).sum())
            # Questions that were begun before may leave less than a whole one, which is then the last.
            room = min(batch, left if one_at_a_time else max(left // needed, 1))
        chosen = propose_pairs(estimates, room, rng, policy=policy, target=stop.pair_confidence).pairs
        count = np.ones(chosen.size, dtype=np.int64) if one_at_a_time else estimates.verdicts.left[chosen]
        answers = answers.add(chosen, *ask(chosen, count))
