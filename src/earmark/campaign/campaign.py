"""A campaign: a problem and the log of its answers, and everything that follows from them.

A campaign is immutable. Its beliefs, verdict, stop decision, proposals, audit and forecast are functions of the problem
and the log, computed when first asked for; :meth:`Campaign.with_answers` gives the next campaign. Random draws
start from the seed and from how many answers count, so a fresh start from the same log gives the same results to the
bit as the campaign that collected the answers one by one.

:func:`step` is what every driver calls: files, a page in the browser, a simulation and a plan differ only in who
answers. :func:`earmark.campaign.loop.play` repeats it with a function that answers, such as an :func:`oracle`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import UNJUDGED, Beliefs, IndependentBeliefs
from earmark.campaign.evidence import Answers, Evidence
from earmark.campaign.forecast import FARTHEST, Forecast, PairForecast, can_look_ahead, forecast_pairs
from earmark.campaign.policies import PolicyState, Proposal
from earmark.campaign.policies.variance import Variance
from earmark.campaign.premises import Grounds, failed_premises
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import LOOKS_APART, StopDecision, StopState, confirmed
from earmark.campaign.verdict import Verdict
from earmark.data.arrays import Floats, Ints
from earmark.data.conversion import refuse_paths
from earmark.data.display import Display, Summary
from earmark.data.judgments import Judgments
from earmark.data.log import AnswerLog
from earmark.data.runs import Runs
from earmark.errors import ParameterError
from earmark.inference.audit import Audit
from earmark.inference.confidence import Ranking
from earmark.wording import counted


@dataclass(frozen=True, eq=False, repr=False)
class Look(Display):
    """What a campaign comes to at one moment.

    Attributes
    ----------
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    beliefs : Beliefs
        About all items.
    verdict : Verdict
        What follows for the systems, and what that rests on.
    decision : StopDecision
        Whether to stop here, and why.
    campaign : Campaign
        What is looked at.
    """

    judged_gain: Floats
    beliefs: Beliefs
    verdict: Verdict
    decision: StopDecision
    campaign: Campaign

    @cached_property
    def audit(self) -> Audit | None:
        """Whether the model agrees with the guaranteed estimate; None where nothing or too little is sampled."""
        return self.campaign.audit if self.campaign.problem.audit and self.campaign.can_audit else None

    @property
    def ranking(self) -> Ranking:
        """The systems in order, with intervals and confidence."""
        return self.verdict.ranking

    @property
    def judged(self) -> int:
        """How many items are judged."""
        return self.ranking.estimates.judged

    def _summary(self) -> Summary:
        """Show the verdict, whether to stop, and what an audit says."""
        seen = self.verdict._summary()
        said = [f"{'stop' if self.decision.stop else 'go on'}: {self.decision.reason}"]
        audited = [] if self.audit is None else [str(self.audit)]
        return Summary(seen.sentence, seen.sheets, [*said, *audited, *seen.notes])


@dataclass(frozen=True, eq=False, repr=False)
class Campaign(Display):
    """A problem and the log of its answers.

    Parameters
    ----------
    problem : Problem
    log : AnswerLog
        By default, nobody has answered yet.
    notes : tuple of str
        What a reader of results has to know about the first judgments.

    Examples
    --------
    >>> import earmark
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    >>> campaign = Campaign(Problem.build(made.runs, metadata=made.metadata, measure="AG@5"))
    >>> first = campaign.propose(2).items
    >>> campaign.with_answers(Answers(first, np.array([30.0, 60.0]))).judged
    2
    """

    problem: Problem
    log: AnswerLog = field(default_factory=AnswerLog)
    notes: tuple[str, ...] = ()

    @classmethod
    def build(cls, runs: Runs, judgments: Judgments | None = None, **how: Any) -> Campaign:
        """Put a campaign together from runs and what is judged so far.

        Parameters
        ----------
        runs : Runs
        judgments : Judgments, optional
        **how
            As for :meth:`Problem.build`.
        """
        refuse_paths(runs=runs, judgments=judgments)
        return cls.from_judgments(Problem.build(runs, judgments=judgments, **how), judgments)

    @classmethod
    def from_judgments(cls, problem: Problem, judgments: Judgments | None) -> Campaign:
        """Start from a table of judgments, whose scale has to be that of the problem.

        Raises
        ------
        InputError
            If a gain is off the scale.
        ParameterError
            If the judgments were made on another scale.
        """
        return cls(problem) if judgments is None else cls(problem).with_judgments(judgments)

    # ---- the next campaign -------------------------------------------------------------------------------------------

    def with_answers(self, answers: Answers) -> Campaign:
        """Return the campaign with more answers, which follow all answers so far."""
        if not answers.items.size:
            return self
        top = self.problem.scale.top
        if not np.all((answers.gains >= 0) & (answers.gains <= top)):
            raise ParameterError(f"expected gains of 0 to {top:g}, the scale of the campaign")
        first, n = self.log.next_sequence, answers.items.size
        columns = [
            pl.Series("gain", answers.gains, dtype=pl.Float64),
            pl.Series("sequence", range(first, first + n), dtype=pl.Int64),
            pl.Series("kind", ["answered"] * n, dtype=pl.String),
            pl.Series("sampled", [False] * n if answers.sampled is None else answers.sampled, dtype=pl.Boolean),
            pl.Series("assessor", [answers.assessor] * n, dtype=pl.String),
        ]
        table = self.problem.items[answers.items].hstack(columns)
        after = Campaign(self.problem, self.log.with_table(table), self.notes)
        # What follows from new items is known without going through the log again.
        evidence = self.evidence.with_new(answers)
        if evidence is not None and not self.log.rejected:
            after.__dict__["evidence"] = evidence
            after.__dict__["position"] = self.position + answers.items.size
        return after

    def with_judgments(self, judgments: Judgments, *, source: str | None = None) -> Campaign:
        """Return the campaign with a table of judgments, which follow all answers so far."""
        scale = self.problem.scale
        if not judgments.scale_guessed and judgments.scale != scale:
            raise ParameterError(f"the campaign judges on the scale {scale}, these judgments are on {judgments.scale}")
        on_scale = Judgments.from_frame(judgments.frame, scale=scale)
        added = AnswerLog.from_judgments(on_scale, source=source).frame
        if self.log.chunks:
            first = self.log.next_sequence
            added = added.with_columns(sequence=pl.int_range(first, first + added.height, dtype=pl.Int64))
        return Campaign(self.problem, self.log.with_table(added), self.notes)

    def with_settings(self, **changes: Any) -> Campaign:
        """Return the campaign with settings changed, which the log keeps.

        Parameters
        ----------
        **changes
            As for :meth:`Problem.changed`.
        """
        problem = self.problem.changed(**changes)
        told = "; ".join(f"{name}: {value}" for name, value in changes.items())
        return Campaign(problem, self.log.with_events({"kind": "changed", "text": told}), self.notes)

    # ---- what follows from the answers -------------------------------------------------------------------------------

    @cached_property
    def evidence(self) -> Evidence:
        """What the answers say about the items."""
        return Evidence.from_log(self.problem, self.log)

    @cached_property
    def position(self) -> int:
        """How many answers count."""
        return self.log.position

    @cached_property
    def judgments(self) -> Judgments | None:
        """The current judgments; None where there are none."""
        return self.log.judgments(self.problem.scale)

    @property
    def judged(self) -> int:
        """How many items are judged."""
        return self.evidence.judged

    @property
    def gains(self) -> Floats:
        """The gain of every judged item, negative for the others, shape (items,)."""
        return self.evidence.gains

    @cached_property
    def beliefs(self) -> Beliefs:
        """What is believed about all items."""
        known, model, every = self.evidence, self.problem.model, self.problem.update_every
        waiting = 0 if model.learns_always or known.answers is not None else known.judged % every
        learnt, late = np.split(known.order, [max(known.order.size - waiting, 0)])
        if not late.size:
            return model.beliefs(known.gains, known.answers, order=known.order)
        gains = known.gains.copy()
        gains[late] = UNJUDGED
        beliefs = model.beliefs(gains, order=learnt)
        assert isinstance(beliefs, IndependentBeliefs)
        return beliefs.with_judgments(late, known.gains[late])

    @property
    def ready(self) -> bool:
        """Whether there is enough to conclude from: a sample, where the verdict is by design."""
        return self.problem.verdicts.ready(self.gains)

    @cached_property
    def verdict(self) -> Verdict:
        """What follows for the systems, and what that rests on.

        Raises
        ------
        ParameterError
            If too little is judged: by design, too few sampled judgments; at any time, fewer than at the first look.
        """
        verdict = self.problem.verdicts.conclude(self.beliefs)
        grounds = Grounds(self.problem, self.evidence, self.beliefs, verdict.ranking)
        return replace(verdict, ranking=replace(verdict.ranking, failed=failed_premises(grounds)))

    @property
    def ranking(self) -> Ranking:
        """The systems in order, with intervals and the confidence in every comparison."""
        return self.verdict.ranking

    @cached_property
    def decision(self) -> StopDecision:
        """Whether to stop here, and why: the stop rule holds at two looks in a row."""
        return confirmed(self.at_this_look, self._before)

    @cached_property
    def at_this_look(self) -> StopDecision:
        """What the stop rule says of this look alone."""
        if not self.ready:
            return StopDecision(False, "too little is judged to conclude from")
        return self.problem.stop.check(StopState.from_ranking(self.ranking))

    def _before(self) -> StopDecision | None:
        """Return what the stop rule said at the look before; None where nothing tells the order of the answers."""
        answers = self.log.answers
        if answers.height < LOOKS_APART and answers["known"].all():
            return StopDecision(False, "there was no look before")
        log = self.log.without_last(LOOKS_APART)
        return None if log is None else Campaign(self.problem, log).at_this_look

    @property
    def can_audit(self) -> bool:
        """Whether enough of the sample is judged to check the model against it."""
        return self.problem.verdicts.can_audit(self.gains)

    @cached_property
    def audit(self) -> Audit:
        """The model's estimates against those of the sample.

        Raises
        ------
        ParameterError
            If too few sampled items are judged.
        """
        return self.problem.verdicts.audit(self.beliefs)

    @cached_property
    def has_marked_sample(self) -> bool:
        """Whether any answer is marked as part of a sample."""
        return bool(self.log.answers["sampled"].any())

    @property
    def has_sample(self) -> bool:
        """Whether some judgments are said to be a sample: marked ones, or all where that is how they were drawn."""
        return self.problem.sample is not None or self.has_marked_sample

    @cached_property
    def look(self) -> Look | None:
        """Verdict, stop decision and audit together; None while there is too little to conclude from."""
        return Look(self.gains, self.beliefs, self.verdict, self.decision, self) if self.ready else None

    def forecast(self, pairs: Iterable[tuple[str, str]] | None = None) -> Forecast:
        """Forecast how many more judgments open pairs take: see :func:`~earmark.campaign.forecast.forecast_pairs`.

        Parameters
        ----------
        pairs : iterable of (str, str), optional
            Which pairs of systems; by default neighbours in the ranking, and the first with those that follow.

        Returns
        -------
        Forecast
            Along what the policy asks for; without any pair for very large collections, on which it would take longer
            than all the rest.

        Raises
        ------
        ParameterError
            If pairs of such a collection are asked for, or there is no such system.
        """
        if not can_look_ahead(self.problem):
            if pairs is None:
                return Forecast((), self.problem.inference)
            raise ParameterError(f"no forecast is made of so many systems × items: {self.problem.n_cells:,}")
        return self._forecast(self._policy_path, None if pairs is None else list(pairs))

    def forecast_alone(self, a: str, b: str) -> PairForecast | None:
        """Forecast how many judgments *for this pair alone* decide it; None where it is decided or cannot differ."""
        if not can_look_ahead(self.problem):
            return None
        path = self._choose(FARTHEST, pair=(a, b)).items
        return self._forecast(path, [(a, b)]).of(a, b)

    def _forecast(self, path: Ints, pairs: list[tuple[str, str]] | None) -> Forecast:
        return forecast_pairs(self.problem, self.beliefs, self.verdict, path, pairs=pairs)

    @cached_property
    def _policy_path(self) -> Ints:
        """What the policy asks for next, whatever the budget."""
        return self._choose(FARTHEST).items if self.problem.inference.mode == "model" else np.zeros(0, dtype=np.int64)

    # ---- what to judge next ------------------------------------------------------------------------------------------

    def propose(self, n: int = 20, *, pending: Iterable[int] = (), pair: tuple[str, str] | None = None) -> Proposal:
        """Propose what to judge next.

        Parameters
        ----------
        n : int
            How many items; fewer where a budget is nearly used up, or few are left.
        pending : iterable of int
            Items that somebody is judging at this moment, which are not proposed.
        pair : (str, str), optional
            Two systems: what tells most about their difference comes first, whatever the policy.

        Raises
        ------
        ParameterError
            If there is no such system, or the two cannot differ.
        """
        budget, out = self.problem.stop.budget, np.fromiter(pending, dtype=np.int64)
        room = n if budget is None else max(min(n, budget - self.judged - out.size), 0)
        return self._choose(room, out, pair=pair)

    def _choose(self, room: int, waiting: Ints | None = None, *, pair: tuple[str, str] | None = None) -> Proposal:
        problem, beliefs = self.problem, self.beliefs
        ranking = self.ranking if self.ready else problem.verdicts.by_model(beliefs)
        taken = beliefs.judged
        if waiting is not None and waiting.size:
            taken = taken.copy()
            taken[waiting] = True
        state = PolicyState(
            collection=problem.collection,
            weights=problem.weights,
            judged=taken,
            confidence=ranking.confidence,
            identical=ranking.estimates.identical,
            target=problem.stop.pair_confidence,
            beliefs=beliefs,
            scores=ranking.merit,
            sample_order=problem.verdicts.order if problem.draws_sample else None,
            focus=problem.stop.concerned(StopState.from_ranking(ranking)) if pair is None else ranking.between(*pair),
        )
        policy = problem.asking if pair is None else Variance("pairs")
        return policy.propose(state, room, np.random.default_rng([problem.seed, self.position]))

    def proposal_frame(self, proposal: Proposal) -> pl.DataFrame:
        """Return ``query``, ``document``, ``priority`` and ``sampled`` of a proposal, the most wanted item first."""
        chosen = self.problem.items[proposal.items]
        return chosen.with_columns(priority=pl.Series(proposal.priority), sampled=pl.Series(proposal.sampled))

    def _summary(self) -> Summary:
        """Show the ranking where it is cheap, and what it rests on."""
        problem = self.problem
        sentence = (
            f"{problem.collection}, {counted(self.judged, 'item')} judged; {problem.measure} by {problem.model.name}"
        )
        if not problem.measure.is_linear or not self.ready:
            return Summary(sentence, notes=list(self.beliefs.notes))
        seen = self.ranking._summary()
        return Summary(sentence, seen.sheets[:1], [seen.sentence, *seen.notes, *self.beliefs.notes])


@dataclass(frozen=True, eq=False)
class Step:
    """What a campaign comes to, and what to ask next.

    Attributes
    ----------
    look : Look or None
        None while there is too little to conclude from.
    proposal : Proposal
        Empty where the campaign stops.
    """

    look: Look | None
    proposal: Proposal


def step(problem: Problem, log: AnswerLog, pending: Iterable[int] = (), n: int = 20) -> Step:
    """Conclude from the answers so far and propose what to ask next: a function of its arguments alone.

    Parameters
    ----------
    problem : Problem
    log : AnswerLog
        The answers so far.
    pending : iterable of int
        Items that somebody is judging at this moment.
    n : int
        How many items to propose.
    """
    campaign = Campaign(problem, log)
    look = campaign.look
    stopped = look is not None and look.decision.stop
    return Step(look, campaign.propose(0 if stopped else n, pending=pending))


def oracle(truth: Floats, *, assessor: str | None = None) -> Callable[[Campaign, Proposal], Answers]:
    """Return a function for :func:`~earmark.campaign.loop.play` that answers with known gains, shape (items,)."""

    def answer(_: Campaign, proposal: Proposal) -> Answers:
        return Answers(proposal.items, truth[proposal.items], proposal.sampled, assessor)

    return answer
