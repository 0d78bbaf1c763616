"""What people who are paid are owed: who is approved, who is not and why, and what an hour of their work amounts to.

People of a recruiting platform work in *assignments*, each of so many answers and with a fixed reward. Whether an
assignment is approved depends on two things: whether it was finished, and whether its worker was rejected (by the rule
about traps, or by the organiser, who has to say why). No function here is told a gain, a choice or a system, so payment
cannot depend on them.

**Settled** is what a file for the platform held before. The next file lists what is new, so that nothing is paid twice.
An assignment that was once listed as approved stays approved: its worker may have been paid by now.

**Minutes worked** follow from the log. The moments at which something happened in an assignment (it began, a question
was given out, an answer came, something was skipped or reported) divide it into stretches; a stretch counts as long as
it was, but at most :data:`LONGEST_STRETCH`, because whoever does nothing for longer was away. Reading the instructions
and the training before the first answer count as work.

**The hourly rate** of an assignment is its reward over these minutes. Where it falls below the least rate that was
promised, the *bonus* is what is missing, rounded up to a hundredth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import polars as pl

from earmark.data.display import Display, DisplayTable, Summary
from earmark.errors import ParameterError
from earmark.wording import counted

Platform = Literal["prolific", "mturk"]
Decision = Literal["approve", "reject", "unfinished"]
Final = Literal["approve", "reject"]

LONGEST_STRETCH = 300.0
"""In seconds; who does nothing for longer was away for the rest."""

_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("worker", "assignment", "study", "assessor"), pl.String),
    **dict.fromkeys(("answers", "traps", "traps_right"), pl.Int64),
    "minutes": pl.Float64,
    **dict.fromkeys(("decision", "reason"), pl.String),
    **dict.fromkeys(("owed", "hourly", "bonus"), pl.Float64),
    "settled": pl.String,
    "bonus_settled": pl.Float64,
}
_WORKER_SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("worker", "assessor"), pl.String),
    **dict.fromkeys(("assignments", "approve", "reject", "unfinished", "answers"), pl.Int64),
    **dict.fromkeys(("minutes", "owed", "hourly", "bonus"), pl.Float64),
}
# A hundredth more or less must not come from the last bits of a product.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Terms:
    """What was promised.

    Parameters
    ----------
    answers : int
        How many answers an assignment consists of.
    reward : float, 0 or more
        What is paid for it.
    currency : str
    hourly_rate : float, optional
        The least that an hour of work is to be paid.
    """

    answers: int = 20
    reward: float = 0.0
    currency: str = "USD"
    hourly_rate: float | None = None

    def __post_init__(self) -> None:
        if self.answers < 1:
            raise ParameterError(f"an assignment consists of 1 answer or more, got {self.answers}")
        for name, value in (("reward", self.reward), ("hourly rate", self.hourly_rate or 0.0)):
            if not 0 <= value < math.inf:
                raise ParameterError(f"expected a {name} of 0 or more, got {value:g}")


@dataclass(frozen=True)
class Settled:
    """What files for the platform held about an assignment.

    Parameters
    ----------
    decision : {"approve", "reject"}, optional
        None where only a bonus was listed.
    owed : float
        With that decision.
    bonus : float
        In all files together.
    """

    decision: Final | None = None
    owed: float = 0.0
    bonus: float = 0.0


@dataclass(frozen=True)
class Work:
    """What somebody did in one assignment.

    Parameters
    ----------
    worker, assignment, study : str
        As the platform calls them; study is the task or study that the assignment belongs to, or empty.
    assessor : str
        The pseudonym in the log.
    answers : int
        Given and not taken back, traps among them.
    traps, traps_right : int
        How many of them were traps, and how many of these were answered as expected.
    minutes : float
        As :func:`minutes_worked` counts them.
    finished : bool
        All answers were given, or there was nothing left to ask.
    rejected : str, optional
        Why the worker is rejected; None for everybody else.
    sitting : int
        Which one it is of this worker.
    settled : Settled
        What files held about it.
    """

    worker: str
    assignment: str
    study: str = ""
    assessor: str = ""
    answers: int = 0
    traps: int = 0
    traps_right: int = 0
    minutes: float = 0.0
    finished: bool = True
    rejected: str | None = None
    sitting: int = 0
    settled: Settled = Settled()


def minutes_worked(moments: Iterable[float], *, longest: float = LONGEST_STRETCH) -> float:
    """Return how long somebody worked, given the moments at which something happened.

    Parameters
    ----------
    moments : iterable of float
        In seconds, in any order, the beginning among them.
    longest : float
        The most that may count between two of them.

    Examples
    --------
    >>> minutes_worked([0, 60, 90, 4000])
    6.5
    """
    times = sorted(moments)
    return sum(min(later - earlier, longest) for earlier, later in pairwise(times)) / 60


@dataclass(frozen=True)
class Owed:
    """What follows for one assignment.

    Attributes
    ----------
    decision : {"approve", "reject", "unfinished"}
    reason : str
        Why it is rejected, or not finished; empty otherwise.
    owed : float
        The reward, or 0.
    hourly : float or None
        What an hour amounted to; None where no time was measured, or nothing is owed.
    bonus : float
        What is missing to the least hourly rate, or what was listed before where that is more.
    """

    decision: Decision
    reason: str
    owed: float
    hourly: float | None
    bonus: float


def settle(work: Work, terms: Terms) -> Owed:
    """Return what is owed for an assignment.

    Examples
    --------
    >>> settle(Work("w", "a", answers=20, minutes=15.0), Terms(reward=2.0, hourly_rate=10.0))
    Owed(decision='approve', reason='', owed=2.0, hourly=8.0, bonus=0.5)
    >>> settle(Work("w", "a", rejected="why", settled=Settled("approve", 2.0)), Terms(reward=3.0)).owed
    2.0
    """
    before = work.settled
    approved = before.decision == "approve"
    if not work.finished and not approved:
        reason = f"{work.answers} of {counted(terms.answers, 'answer')}"
        return Owed("unfinished", reason, 0.0, None, before.bonus)
    if work.rejected is not None and not approved:
        return Owed("reject", work.rejected, 0.0, None, before.bonus)
    reward, hours = before.owed if approved else terms.reward, work.minutes / 60
    missing = 0.0 if terms.hourly_rate is None else round_up(terms.hourly_rate * hours - reward)
    return Owed("approve", "", reward, reward / hours if hours > 0 else None, max(missing, before.bonus, 0.0))


def round_up(amount: float) -> float:
    """Round an amount up to a hundredth."""
    return math.ceil(amount * 100 - _ROUNDING) / 100


@dataclass(frozen=True, eq=False, repr=False)
class Payments(Display):
    """What is owed to everybody.

    Attributes
    ----------
    work : tuple of Work
        All assignments, in the order in which they began.
    terms : Terms
        What was promised.
    """

    work: tuple[Work, ...]
    terms: Terms

    @cached_property
    def owed(self) -> tuple[Owed, ...]:
        """What follows for each assignment."""
        return tuple(settle(one, self.terms) for one in self.work)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per assignment.

        ``worker``, ``assignment``, ``study``, ``assessor``, ``answers``, ``traps``, ``traps_right``, ``minutes``,
        ``decision``, ``reason``, ``owed``, ``hourly`` (null where it is not known), ``bonus``, and what files for the
        platform held before: ``settled`` (a decision, or null) and ``bonus_settled``.
        """
        told = (
            vars(work) | vars(owed) | {"settled": work.settled.decision, "bonus_settled": work.settled.bonus}
            for work, owed in zip(self.work, self.owed, strict=True)
        )
        return pl.DataFrame([{name: one[name] for name in _SCHEMA} for one in told], schema=_SCHEMA)

    @cached_property
    def workers(self) -> pl.DataFrame:
        """One row per worker, in the order in which they came.

        ``worker``, ``assessor``, ``assignments``, how many of them to ``approve``, to ``reject`` and ``unfinished``,
        ``answers``, ``minutes``, ``owed``, ``hourly`` (what an hour of the approved work amounts to; null where there
        is none) and ``bonus``.
        """
        approved = pl.col("decision") == "approve"
        paid_hours = pl.col("minutes").filter(approved).sum() / 60
        found = self.frame.group_by("worker", "assessor", maintain_order=True).agg(
            pl.len().alias("assignments"),
            *((pl.col("decision") == name).sum().alias(name) for name in ("approve", "reject", "unfinished")),
            *(pl.col(name).sum() for name in ("answers", "minutes")),
            *(pl.col(name).sum().round(2) for name in ("owed", "bonus")),
            pl.when(paid_hours > 0).then(pl.col("owed").sum() / paid_hours).alias("hourly"),
        )
        return found.select(pl.col(name).cast(dtype) for name, dtype in _WORKER_SCHEMA.items())

    def summary(self) -> dict[str, Any]:
        """Count assignments by decision, and add up what is owed.

        Returns
        -------
        dict
            ``workers``, ``assignments``, ``approve``, ``reject``, ``unfinished``, ``new`` (decisions that no file holds
            yet), ``owed``, ``bonus``, ``currency``, ``median_minutes`` and ``hourly`` (of all approved work together),
            None where there is none.
        """
        approved = self._with("approve")
        hours = float(approved["minutes"].sum()) / 60
        middle = approved["minutes"].median()
        return {
            "workers": self.frame["worker"].n_unique(),
            "assignments": self.frame.height,
            **{name: int((self.frame["decision"] == name).sum()) for name in ("approve", "reject", "unfinished")},
            "new": self.decided().height,
            "owed": round(float(approved["owed"].sum()), 2),
            "bonus": round(float(approved["bonus"].sum()), 2),
            "currency": self.terms.currency,
            "median_minutes": middle,
            "hourly": float(approved["owed"].sum()) / hours if hours > 0 else None,
        }

    def sentence(self) -> str:
        """Say it in words."""
        told = self.summary()
        if not told["assignments"]:
            return "Nobody has come from a recruiting platform yet."
        parts = [f"{told[name]:,} to {name}" for name in ("approve", "reject") if told[name]]
        parts += [f"{told['unfinished']:,} not finished"] if told["unfinished"] else []
        who = f"{counted(told['assignments'], 'assignment')} of {counted(told['workers'], 'worker')}"
        said = f"{who}: {', '.join(parts)}; {told['owed']:,.2f} {told['currency']} owed"
        if told["hourly"] is not None:
            said += f", {told['hourly']:,.2f} an hour"
        if told["bonus"]:
            rate = self.terms.hourly_rate or 0.0
            said += f"; {told['bonus']:,.2f} more in bonuses would make it {rate:,.2f} an hour for everybody"
        if self.frame["settled"].is_not_null().any():
            said += f"; {counted(told['new'], 'decision')} not in a file yet"
        return f"{said}."

    def _with(self, decision: Decision) -> pl.DataFrame:
        return self.frame.filter(pl.col("decision") == decision)

    def _summary(self) -> Summary:
        """Show what is owed to each worker and for each assignment."""
        return Summary(self.sentence(), [DisplayTable(self.workers), DisplayTable(self.frame)])

    # ---- files for the platforms -------------------------------------------------------------------------------------

    def decided(self, *, every: bool = False) -> pl.DataFrame:
        """Return the assignments that are to be approved or rejected and that no file holds like that; or all of them.

        A rejection that was taken back is a new decision. An approval stays what it is.
        """
        decided = pl.col("decision") != "unfinished"
        return self.frame.filter(decided if every else decided & pl.col("decision").ne_missing(pl.col("settled")))

    def bonuses_due(self, *, every: bool = False) -> pl.DataFrame:
        """Return the assignments with a bonus, ``due`` being what no file holds yet; or the whole of it."""
        before = 0.0 if every else pl.col("bonus_settled")
        return self.frame.with_columns(due=(pl.col("bonus") - before).round(2)).filter(pl.col("due") > 0)

    def review(self, platform: Platform, *, every: bool = False) -> pl.DataFrame:
        """Return what to approve and what to reject, as a platform wants it; unfinished assignments are left out.

        For Mechanical Turk, the columns of a file of results that count when it is uploaded after a review:
        ``AssignmentId``, ``WorkerId``, ``HITId``, ``Approve`` (an x) and ``Reject`` (the reason). For Prolific,
        ``participant_id``, ``submission_id``, ``decision`` and ``reason``.

        Parameters
        ----------
        platform : {"prolific", "mturk"}
        every : bool
            List what earlier files held too.
        """
        decided = self.decided(every=every)
        approved = pl.col("decision") == "approve"
        if platform == "mturk":
            return decided.select(
                pl.col("assignment").alias("AssignmentId"),
                pl.col("worker").alias("WorkerId"),
                pl.col("study").alias("HITId"),
                pl.when(approved).then(pl.lit("x")).alias("Approve"),
                pl.when(~approved).then("reason").alias("Reject"),
            )
        names = {"worker": "participant_id", "assignment": "submission_id"}
        return decided.select(
            *(pl.col(old).alias(new) for old, new in names.items()),
            "decision",
            pl.when(~approved).then("reason").alias("reason"),
        )

    def bonuses(self, platform: Platform, *, every: bool = False) -> pl.DataFrame:
        """Return who is to get how much more, so that every hour is paid as promised.

        For Prolific one row per person, the id and the amount, to be pasted as it is without the header; for
        Mechanical Turk, where a bonus belongs to an assignment, ``WorkerId``, ``AssignmentId`` and ``BonusAmount``.

        Parameters
        ----------
        platform : {"prolific", "mturk"}
        every : bool
            Count what earlier files held too.
        """
        due = self.bonuses_due(every=every)
        if platform == "mturk":
            names = {"worker": "WorkerId", "assignment": "AssignmentId", "due": "BonusAmount"}
            return due.select(pl.col(old).alias(new) for old, new in names.items())
        by_person = due.group_by("worker", maintain_order=True).agg(pl.col("due").sum().round(2))
        return by_person.rename({"worker": "participant_id", "due": "amount"})


def bonus_text(bonuses: pl.DataFrame, platform: Platform) -> str:
    """Return a table of bonuses as the text of a file; Prolific wants no header, and two digits."""
    return bonuses.write_csv(include_header=platform == "mturk", float_precision=2)


def pay(work: Sequence[Work], terms: Terms) -> Payments:
    """Put together what is owed for some assignments."""
    return Payments(tuple(work), terms)
