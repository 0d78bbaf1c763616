r"""How many answers a campaign of pair questions will take, before anybody answers.

As for grades (:mod:`earmark.campaign.plan`), campaigns are played on truths that might be: the differences of all pairs
are drawn from what the model believes, then every answer from Davidson's model, and what counts is after how many
answers the stop rule is reached.

- *Before the first answer* nothing is known about how much people agree with systems, how much they like documents and
  how peculiar pairs are. The standard deviations of these effects are therefore drawn too, from their prior
  (:mod:`earmark.campaign.pairs.marginal_likelihood`), anew for every campaign. Ranges are wide; that is what is known.
- *With answers so far* the standard deviations are those estimated from them, truths agree with the answers, and what
  is counted are the answers still to be given.
- Until somebody has answered *same*, nobody is expected to. Where people do, more answers are needed.

What is counted are answers, each of which somebody is asked for and perhaps paid for. Stop rules that count judgments,
such as ``budget:100``, count questions with all their answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from earmark.campaign.loop import play
from earmark.campaign.pairs.campaign import PairCampaign, PairProblem
from earmark.campaign.pairs.candidates import PairAnswers
from earmark.campaign.pairs.marginal_likelihood import draw_standard_deviations, fit_preferences
from earmark.campaign.pairs.model import NODE_WEIGHTS, NODES, PairPosterior, fit_pairs
from earmark.campaign.plan import COST_PER_JUDGMENT, SECONDS_PER_JUDGMENT, Asked, Plan, count_questions
from earmark.campaign.policies import Proposal
from earmark.crowd.davidson import log_likelihood, outcome_probabilities
from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError
from earmark.wording import counted

_SMALL_BATCH, _LOOKS = 20, 30


@dataclass(frozen=True, eq=False, repr=False)
class PairPlan(Plan):
    """How many answers simulated campaigns of pair questions took.

    Attributes
    ----------
    judgments : ndarray of int, shape (repeats,)
        The answers that every campaign asked for until it stopped, those so far not counted.
    judged, items : int
        How many answers there are so far, and how many all pairs take that count for a system.
    needed : int
        How many answers a question gets.
    batch : int
        How many questions were asked between two looks.
    """

    one: ClassVar[str] = "answer"
    doing: ClassVar[str] = "answering"
    unit: ClassVar[str] = "questions"

    needed: int = 1

    def _scope(self) -> str:
        so_far = f", {self.judged:,} of them given," if self.judged else ""
        return f"{self.items:,} to {counted(self.items // self.needed, 'question')}{so_far}"

    def to_polars(
        self,
        *,
        seconds_per_judgment: float = SECONDS_PER_JUDGMENT,
        cost_per_judgment: float = COST_PER_JUDGMENT,
        assessors: int = 1,
    ) -> pl.DataFrame:
        """Return the plan as one row, with ``questions``: those of the median, each with all its answers."""
        made = super().to_polars(
            seconds_per_judgment=seconds_per_judgment, cost_per_judgment=cost_per_judgment, assessors=assessors
        )
        return made.with_columns(questions=pl.Series([math.ceil(self.median / self.needed)]))

    def notes(self) -> list[str]:
        """Say what a reader of the numbers has to know."""
        said = [one.replace("everything had to be judged", "every question was asked") for one in super().notes()]
        if not self.judged:
            said.append(
                "nobody has answered yet: how much people agree with systems is drawn from the prior of the model, so "
                "the range is wide; a plan after some answers is narrower"
            )
        return said


def usual_pair_batch(questions: int) -> int:
    """Return how many questions to simulate between two looks: 20, or a thirtieth of them where that is more."""
    return max(_SMALL_BATCH, math.ceil(questions / _LOOKS))


def plan_pairs(
    campaign: PairCampaign,
    *,
    repeats: int = 20,
    batch: int | None = None,
    progress: Callable[[int], None] | None = None,
    jobs: int | None = 1,
    cluster: str | None = None,
) -> PairPlan:
    """Simulate campaigns whose truths are drawn from the model, and count their answers.

    Parameters
    ----------
    campaign : PairCampaign
        Where to start from. All chance comes from the problem's seed.
    repeats : int
        How many campaigns to play.
    batch : int, optional
        How many questions are asked between two looks; by default as :func:`usual_pair_batch` says.
    progress : callable, optional
        Called with the number of answers that are settled since the last call; in the end, with `repeats` times the
        number of answers that are left in all.
    jobs, cluster
        How many processes to use, or which Dask cluster: see :func:`earmark.workers.work_through`. The plan does not
        depend on it.
    """
    if repeats < 1:
        raise ParameterError(f"expected 1 simulated campaign or more, got {repeats}")
    problem, answers = campaign.problem, campaign.answers
    matters, needed = problem.design.matters, problem.needed
    open_answers = np.maximum(needed - answers.total, 0)[matters]
    left, given = int(open_answers.sum()), int(np.minimum(answers.total, needed)[matters].sum())
    size = usual_pair_batch(int(np.count_nonzero(open_answers))) if batch is None else batch
    known = fit_preferences(problem.design, answers) if given else None
    tasks = list(enumerate(np.random.default_rng(problem.seed).spawn(repeats)))
    asked = count_questions(_play_one, (problem, answers, known, size), tasks, progress, jobs=jobs, cluster=cluster)
    everything = (asked == left) & (left > 0)
    return PairPlan(asked, everything, judged=given, items=given + left, stop=problem.stop, batch=size, needed=needed)


def _play_one(
    shared: tuple[PairProblem, PairAnswers, PairPosterior | None, int], number: int, rng: np.random.Generator
) -> Iterator[Asked]:
    problem, answers, known, batch = shared
    matters, needed = problem.design.matters, problem.needed

    def count(given: PairAnswers) -> int:
        return int(np.minimum(given.total, needed)[matters].sum())

    posterior = known or fit_pairs(problem.design, answers, sds=draw_standard_deviations(rng))
    truth = draw_differences(posterior, answers, rng)
    signs = _draw_signs(truth, posterior.same_weight, needed, rng)
    # A plain campaign: one in a store would write to it.
    start = PairCampaign(replace(problem, seed=int(rng.integers(2**32))), answers)
    so_far, now = count(answers), 0
    for reached in play(start, answer_with(signs), batch=batch):
        now = count(reached.answers) - so_far
        yield number, now, now
    # A campaign that stops is over, however much was left to ask.
    yield number, now, int(np.count_nonzero(matters)) * needed - so_far


def draw_differences(posterior: PairPosterior, answers: PairAnswers, rng: np.random.Generator) -> Floats:
    r"""Draw the difference :math:`d_p` of every pair, what is peculiar to it included, given the answers; (pairs,)."""
    eta = posterior.draw(rng, 1)[0]
    peculiar = rng.standard_normal(eta.size)
    asked = np.flatnonzero(answers.total)
    if asked.size:
        # The answers about a pair say something about what is peculiar to it.
        at = eta[asked, None] + posterior.sds.pair * NODES
        first, second, same = (count[asked, None] for count in (answers.first, answers.second, answers.same))
        height = log_likelihood(at, first, second, same, posterior.same_weight) + np.log(NODE_WEIGHTS)
        share = np.exp(height - height.max(axis=1, keepdims=True)).cumsum(axis=1)
        place = (share < rng.random((asked.size, 1)) * share[:, -1:]).sum(axis=1)
        peculiar[asked] = NODES[place]
    drawn: Floats = eta + posterior.sds.pair * peculiar
    return drawn


def _draw_signs(truth: Floats, same_weight: float, needed: int, rng: np.random.Generator) -> Ints:
    """Draw what everybody would answer: +1 first, −1 second, 0 same, shape (pairs, needed)."""
    p_first, p_second, _ = outcome_probabilities(truth[:, None], same_weight)
    draw = rng.random((truth.size, needed))
    return np.where(draw < p_first, 1, np.where(draw < p_first + p_second, -1, 0))


def answer_with(signs: Ints) -> Callable[[PairCampaign, Proposal], PairAnswers]:
    """Return who gives these answers to each pair, one after the other, after those that it has."""

    def answer(campaign: PairCampaign, proposal: Proposal) -> PairAnswers:
        start = campaign.answers.total[:, None]
        end = start.copy()
        end[proposal.items, 0] += campaign.answers_wanted(proposal)
        place = np.arange(signs.shape[1])
        asked = (start <= place) & (place < end)
        return PairAnswers(*(np.sum(asked & (signs == sign), axis=1) for sign in (1, -1, 0)))

    return answer
