"""A campaign of pair questions: a problem and the answers so far, what they say and what to ask next.

A campaign is a function of its problem and of its answers alone. It draws from a generator that is made of the seed and
of the number of answers, so a campaign made afresh from the same answers looks and proposes the same to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from earmark.campaign.pairs.candidates import PairAnswers, PairDesign
from earmark.campaign.pairs.estimates import PreferenceEstimates, estimate_precision
from earmark.campaign.pairs.marginal_likelihood import fit_preferences
from earmark.campaign.pairs.policies import PairPolicy, propose_pairs
from earmark.campaign.policies import Proposal
from earmark.campaign.stopping import LOOKS_APART, Never, StopDecision, StopRule, StopState, confirmed
from earmark.crowd.questions import question_ids
from earmark.data.arrays import Ints
from earmark.data.display import Display, Summary


@dataclass(frozen=True, eq=False)
class PairProblem:
    """What a campaign of pair questions is about, and how it goes on.

    Parameters
    ----------
    design : PairDesign
        The candidate pairs and the systems.
    needed : int
        How many answers a question gets.
    policy : {"adaptive", "told-apart", "random"}
        What to ask.
    stop : StopRule
        When to stop; what it calls judged are questions with all their answers.
    one_at_a_time : bool
        Get one answer to a question and decide anew, in place of all that it still needs.
    level : float, in (0, 1)
        The probability that each interval holds.
    seed : int
        Where all draws come from.
    """

    design: PairDesign
    needed: int = 6
    policy: PairPolicy = "adaptive"
    stop: StopRule = field(default_factory=Never)
    one_at_a_time: bool = False
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class PairLook(Display):
    """What a campaign of pair questions says at one moment.

    Attributes
    ----------
    estimates : PreferenceEstimates
        The preference precision of the systems.
    decision : StopDecision
        Whether to stop here, and why.
    """

    estimates: PreferenceEstimates
    decision: StopDecision

    @property
    def judged(self) -> int:
        """How many questions have all their answers; begun ones add up to whole ones."""
        return self.estimates.ranking.estimates.judged

    def _summary(self) -> Summary:
        """Show the estimates, and whether to stop."""
        seen = self.estimates._summary()
        return Summary(seen.sentence, seen.sheets, [str(self.decision), *seen.notes])


@dataclass(frozen=True, eq=False, repr=False)
class PairCampaign(Display):
    """A campaign of pair questions at one moment.

    Parameters
    ----------
    problem : PairProblem
        What it is about.
    answers : PairAnswers
        The answers so far.
    past : tuple of PairAnswers
        The answers as they were before; the first of them at the look before this one, none where it is not known.
    """

    problem: PairProblem
    answers: PairAnswers
    past: tuple[PairAnswers, ...] = ()

    @classmethod
    def begin(cls, problem: PairProblem) -> PairCampaign:
        """Return the campaign before anybody was asked."""
        return cls(problem, PairAnswers.none(len(problem.design.pairs)))

    @cached_property
    def look(self) -> PairLook:
        """What the answers say, and whether to stop."""
        problem = self.problem
        posterior = fit_preferences(problem.design, self.answers)
        estimates = estimate_precision(posterior, self.answers, needed=problem.needed, level=problem.level)
        decision = problem.stop.check(StopState.from_ranking(estimates.ranking))
        if not np.any(problem.design.matters & (estimates.verdicts.left > 0)):
            every = "every pair that counts for a system is answered"
            decision = StopDecision(True, every, exhausted=True, final=True)
        return PairLook(estimates, confirmed(decision, self._before))

    def _before(self) -> StopDecision | None:
        """Return what the stop rule said at the look before; None where it is not known what was answered then."""
        if not self.past:
            return None
        posterior = fit_preferences(self.problem.design, self.past[0])
        estimates = estimate_precision(posterior, self.past[0], needed=self.problem.needed, level=self.problem.level)
        return self.problem.stop.check(StopState.from_ranking(estimates.ranking))

    def propose(self, n: int) -> Proposal:
        """Propose `n` pairs to ask about, or as many as are left or as the budget allows."""
        problem = self.problem
        budget = problem.stop.budget
        if budget is not None:
            left = budget * problem.needed - int(np.minimum(self.answers.total, problem.needed).sum())
            # Questions that were begun before may leave less than a whole one, which is then the last.
            n = min(n, left if problem.one_at_a_time else max(left // problem.needed, int(left > 0)))
        return propose_pairs(
            self.look.estimates,
            max(n, 0),
            np.random.default_rng([problem.seed, len(self.answers)]),
            policy=problem.policy,
            target=problem.stop.pair_confidence,
        )

    def answers_wanted(self, proposal: Proposal) -> Ints:
        """Return how many answers to get about each proposed pair."""
        left = self.look.estimates.verdicts.left[proposal.items]
        return np.minimum(left, 1) if self.problem.one_at_a_time else left

    def questions(self, proposal: Proposal) -> pl.DataFrame:
        """Return ``question``, ``query``, ``a``, ``b``, ``assessors`` and ``priority``; a, shown first, is drawn."""
        table, chosen = self.problem.design.pairs, proposal.items
        swapped = np.random.default_rng([self.problem.seed, len(self.answers), 1]).random(chosen.size) < 0.5
        documents = pl.Series(table.documents, dtype=pl.String)
        first, second = table.first_index[chosen], table.second_index[chosen]
        frame = pl.DataFrame(
            {
                "query": pl.Series(table.queries, dtype=pl.String).gather(table.query_index[chosen]),
                "a": documents.gather(np.where(swapped, second, first)),
                "b": documents.gather(np.where(swapped, first, second)),
                "assessors": self.answers_wanted(proposal),
                "priority": proposal.priority,
            }
        )
        return frame.select(question_ids(frame), pl.all())

    def with_answers(self, answers: PairAnswers) -> PairCampaign:
        """Return the campaign with more answers."""
        after = self.answers + answers
        past = (*self.past, self.answers)
        looks = sum(len(one) <= len(after) - LOOKS_APART for one in past)
        return replace(self, answers=after, past=past[max(looks - 1, 0) :])

    def _summary(self) -> Summary:
        """Show what it says at this moment."""
        return self.look._summary()
