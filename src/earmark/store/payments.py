"""What the people of a recruiting platform did, read from the log, and what they are owed.

An event belongs to the sitting of the last event ``started`` of its assessor (:mod:`earmark.store.sittings`). An answer
that is taken back, or given again, belongs to the sitting in which it was given first. How minutes are counted, and
what is owed, say the functions of :mod:`earmark.crowd.payment`, which know nothing about what anybody answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from earmark.campaign.stopping import StopRule, parse_stop
from earmark.crowd.budget import Budget, answers_needed, plan_budget
from earmark.crowd.payment import (
    LONGEST_STRETCH,
    Payments,
    Settled,
    Terms,
    Work,
    minutes_worked,
    pay,
)
from earmark.data.log import Kind
from earmark.store.folder import CampaignFolder
from earmark.store.rules import CHOICES, MINUTE, Rules
from earmark.store.schema import assessors, events, people, questions, sittings
from earmark.store.sections import Recruiting
from earmark.store.sittings import Sitting, list_sittings, number_started, settle_bonus, settle_decision
from earmark.store.store import Change

# What shows that somebody is there; leases that end are the server's doing.
_SIGNS: tuple[Kind, ...] = ("asked", "answered", "late", "skipped", "unplayable", "withdrawn", "commented", "consented")
_SECOND = 1_000_000
# Who was at work within this time before a campaign ended was interrupted by its end.
_AT_WORK = 60 * MINUTE
_BY_TRAPS = re.compile(r"(\d+) of (\d+) traps right, fewer than (\d+%)")


def terms_of(recruiting: Recruiting) -> Terms:
    """Return what the settings of a campaign promise."""
    return Terms(recruiting.answers_per_assignment, recruiting.reward, recruiting.currency, recruiting.hourly_rate)


def payments_of(folder: CampaignFolder) -> Payments:
    """Return what is owed to everybody who came from the platform of a campaign."""
    recruiting, store = folder.settings.recruiting, folder.store
    longest = max(LONGEST_STRETCH, 10 * recruiting.seconds_per_answer)

    def look(connection: sa.Connection) -> list[Work]:
        workers, why = _workers(connection, store.campaign), _rejections(connection, store.campaign)
        log, ends = _events(connection, store.campaign), _ends(connection, store.campaign)
        done = {assessor: _divide(mine, folder.rules, longest) for assessor, mine in log.items()}
        found = []
        for sitting in list_sittings(connection, store.campaign):
            part = done.get(sitting.assessor, {}).get(sitting.number, _Done())
            enough = part.answers >= recruiting.answers_per_assignment
            found.append(
                Work(
                    worker=workers.get(sitting.assessor, ""),
                    assignment=sitting.assignment,
                    study=sitting.study,
                    assessor=sitting.assessor,
                    answers=part.answers,
                    traps=len(part.traps),
                    traps_right=sum(part.traps),
                    minutes=part.minutes,
                    finished=sitting.ended is not None or enough or (part.answers > 0 and _interrupted(part, ends)),
                    rejected=why.get(sitting.assessor),
                    sitting=sitting.number,
                    settled=_settled(sitting),
                )
            )
        return found

    return pay(store.read(look), terms_of(recruiting))


def _settled(sitting: Sitting) -> Settled:
    return Settled(sitting.decision, sitting.owed or 0.0, sitting.bonus or 0.0)  # type: ignore[arg-type]


def _workers(connection: sa.Connection, campaign: int) -> dict[str, str]:
    table = people.c
    known = sa.select(table.assessor, table.platform_id).where(
        table.campaign == campaign, table.platform_id.is_not(None)
    )
    return {row.assessor: row.platform_id for row in connection.execute(known)}


def _rejections(connection: sa.Connection, campaign: int) -> dict[str, str]:
    """Return why assessors are rejected, in words that may be sent to them."""
    who, told = assessors.c, events.c
    rejected = sa.select(who.assessor).where(who.campaign == campaign, who.state == "rejected")
    said = sa.select(told.assessor, told.text).where(
        told.campaign == campaign, told.kind == "rejected", told.assessor.in_(rejected)
    )
    # The last one counts.
    return {row.assessor: _reason(row.text) for row in connection.execute(said.order_by(told.sequence))}


def _reason(text: str | None) -> str:
    found = _BY_TRAPS.fullmatch(text or "")
    if found is None:
        return text or "rejected by the organiser"
    right, seen, least = found.groups()
    return f"{right} of {seen} control questions, whose answers are known, were right: fewer than {least}"


def _events(connection: sa.Connection, campaign: int) -> dict[str, list[Any]]:
    """Return what people of a platform did, by person and in order, without answers that follow from others."""
    table = events.c
    paid = sa.select(sittings.c.assessor).where(sittings.c.campaign == campaign)
    query = sa.select(
        *(table.sequence, table.assessor, table.kind, table.time, table.text),
        *(table.query, table.document, table.other, table.gain, table.choice, table.expected),
    ).where(
        *(table.campaign == campaign, table.assessor.in_(paid), table.kind.in_((*_SIGNS, "started"))),
        table.source.is_(None),
    )
    found: dict[str, list[Any]] = {}
    for row in connection.execute(query.order_by(table.sequence)):
        found.setdefault(row.assessor, []).append(row)
    return found


# ---- what was done in a sitting --------------------------------------------------------------------------------------


@dataclass
class _Done:
    """What somebody did in a sitting: the traps (right or not), and every sign of life (sequence and time)."""

    answers: int = 0
    traps: list[bool] = field(default_factory=list)
    minutes: float = 0.0
    signs: list[tuple[int, int]] = field(default_factory=list)


def _divide(done: Sequence[Any], rules: Rules, longest: float) -> dict[int, _Done]:
    """Return what one person did in each of their sittings, by its number."""
    parts: dict[int, _Done] = {}
    answered: dict[tuple[Any, ...], int] = {}
    traps: set[tuple[Any, ...]] = set()
    number, last = 0, None
    for row in done:
        if row.kind == "started":
            number, arrived = number_started(row.text)
            # The time before somebody came does not count. Who goes on in another window was at work all the time.
            last = row.time if arrived else last
            continue
        part, item = parts.setdefault(number, _Done()), (row.query, row.document, row.other, row.expected)
        if last is not None:
            part.minutes += minutes_worked((last / _SECOND, row.time / _SECOND), longest=longest)
        last = row.time
        part.signs.append((row.sequence, row.time))
        if row.kind in ("answered", "late"):
            answered.setdefault(item, number)
        elif row.kind == "withdrawn":
            answered.pop(item, None)
        if row.kind == "answered" and row.expected is not None and item not in traps:
            # As for the rule about traps, the first answer counts.
            traps.add(item)
            value = row.gain if rules.kind == "grade" else CHOICES.get(row.choice or "", 0.0)
            part.traps.append(value is not None and rules.is_right(value, row.expected))
    for number in answered.values():
        parts[number].answers += 1
    return parts


def _ends(connection: sa.Connection, campaign: int) -> list[tuple[int, int]]:
    """Return when the campaign ended, as sequence and time; a pause that it never came back from is its end."""
    table = events.c
    kinds = ("paused", "resumed", "opened", "stopped", "closed")
    states = sa.select(table.sequence, table.time, table.kind).where(
        table.campaign == campaign, table.assessor.is_(None), table.kind.in_(kinds)
    )
    found: list[tuple[int, int]] = []
    since: tuple[int, int] | None = None
    for row in connection.execute(states.order_by(table.sequence)):
        if row.kind in ("resumed", "opened"):
            since = None
            continue
        since = since or (row.sequence, row.time)
        if row.kind != "paused":
            found.append(since)
    return found


def _interrupted(part: _Done, ends: Iterable[tuple[int, int]]) -> bool:
    """Tell whether the campaign ended while somebody was at work; what happened later changes nothing."""
    return any(
        sequence < end and until - time < _AT_WORK for end, until in ends for sequence, time in reversed(part.signs)
    )


# ---- files for the platform ------------------------------------------------------------------------------------------


def settle_decisions(folder: CampaignFolder, found: Payments, *, every: bool = False) -> None:
    """Remember that a file for the platform holds what is decided.

    Parameters
    ----------
    folder : CampaignFolder
    found : Payments
        What the file was made of.
    every : bool
        The file lists what earlier ones held too.
    """
    numbers = _numbers(found)

    def act(change: Change) -> None:
        for row in found.decided(every=every).iter_rows(named=True):
            number = numbers[row["assessor"], row["assignment"]]
            settle_decision(change, row["assessor"], number, decision=row["decision"], owed=row["owed"])

    folder.store.write(act)


def settle_bonuses(folder: CampaignFolder, found: Payments, *, every: bool = False) -> None:
    """Remember that a file for the platform holds the bonuses; as :func:`settle_decisions`."""
    numbers = _numbers(found)

    def act(change: Change) -> None:
        for row in found.bonuses_due(every=every).iter_rows(named=True):
            settle_bonus(change, row["assessor"], numbers[row["assessor"], row["assignment"]], row["bonus"])

    folder.store.write(act)


def _numbers(found: Payments) -> dict[tuple[str, str], int]:
    return {(one.assessor, one.assignment): one.sitting for one in found.work}


# ---- before anybody starts -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AnswersLeft:
    """How many answers it may take until the campaign is over, traps among them.

    Attributes
    ----------
    least : int
        If people agree.
    most : int
        If they disagree about everything, so that every question is asked as often as it may be.
    budget : int or None
        The number in the stop rule that both are limited by; None where it is no budget.
    """

    least: int
    most: int
    budget: int | None = None


def answers_left(folder: CampaignFolder) -> AnswersLeft:
    """Return how many answers it takes until every question has all of its answers, or the budget is used up."""
    stop = parse_stop(folder.settings.estimates.stop)
    counted = count_answers(folder, stop)
    share = trap_share(folder.rules)
    budget = stop.budget
    return AnswersLeft(
        answers_needed(counted.least, trap_share=share), answers_needed(counted.most, trap_share=share), budget
    )


@dataclass(frozen=True)
class AnswersCounted:
    """How many answers a campaign has, and how many it may take, traps not counted.

    Attributes
    ----------
    given : int
        The answers so far.
    least, most : int
        The answers still to be given, if people agree and if they disagree about everything.
    """

    given: int
    least: int
    most: int


def count_answers(folder: CampaignFolder, stop: StopRule) -> AnswersCounted:
    """Count the answers until every question has all of its answers, or until the budget of a stop rule is used up.

    No other stop rule changes the numbers: when it is reached depends on the answers.
    """
    rules, found = folder.rules, folder.store.read(lambda connection: _open_questions(connection, folder))
    first, more = rules.judgments_per_item, more_answers(rules)
    budget = stop.budget
    # A budget counts answers, or questions: those with an answer, of pairs those with all answers.
    in_answers, judged = rules.kind in ("order", "lists"), first if rules.kind == "prefer" else 1
    spent = sum(answers * count if in_answers else count * (answers >= judged) for answers, _, count in found)
    left = None if budget is None else max(budget - spent, 0)
    least = most = 0
    # Questions that have answers are asked before others.
    for answers, waits, count in sorted(found, reverse=True):
        taken = count if waits and left != 0 else 0
        if left is not None and not in_answers and answers < judged:
            taken = min(taken, left)
            left -= taken
        # Whoever disagrees brings one more answer at a time.
        least += taken * max(first - answers, 1)
        most += taken * max(first + more - answers, 1)
    if left is not None and in_answers:
        least, most = min(least, left), min(most, left)
    return AnswersCounted(sum(answers * count for answers, _, count in found), least, most)


def _open_questions(connection: sa.Connection, folder: CampaignFolder) -> list[tuple[int, bool, int]]:
    """Return how many questions have so many answers, and whether they need more."""
    table = questions.c
    mine = sa.and_(table.campaign == folder.store.campaign, ~table.removed, table.same_as.is_(None))
    waits = sa.or_(table.tier.is_not(None), table.out > 0, table.answers < folder.rules.judgments_per_item)
    waiting = sa.case((waits, 1), else_=0)
    query = sa.select(table.answers, waiting, sa.func.count()).where(mine).group_by(table.answers, waiting)
    return [(int(answers), bool(waits), int(count)) for answers, waits, count in connection.execute(query)]


def more_answers(rules: Rules) -> int:
    """Return how many more answers than usual a question may need, where people disagree."""
    # One answer cannot disagree, and nothing tells whether rankings do.
    return 0 if rules.judgments_per_item == 1 or rules.kind == "order" else rules.more_on_disagreement


def trap_share(rules: Rules) -> float:
    """Return the share of traps among all questions."""
    return 1 / rules.trap_every if rules.trap_every > 1 else 0.0


def budget_of(folder: CampaignFolder, answers: int | None = None) -> Budget:
    """Return what a number of answers costs under the settings of a campaign; by default the most it may need."""
    recruiting = folder.settings.recruiting
    count = answers_left(folder).most if answers is None else answers
    return plan_budget(terms_of(recruiting), count, seconds_per_answer=recruiting.seconds_per_answer)
