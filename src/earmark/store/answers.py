"""Taking answers in: each carries a key that the client made, so that sending it again changes nothing.

============  ==========================================================================================================
``saved``     the answer is in the log and counts
``known``     an answer with this key was in the log already
``corrected`` the assessor had answered the question before; the new answer replaces the old one, which stays in the log
``late``      the lease had ended and others have answered the question meanwhile, or the campaign is closed: kept in
              the log, but not counted
``elsewhere`` the question was answered already, and only one answer was wanted: nothing is kept
============  ==========================================================================================================
"""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from earmark.data.log import SAME_SOUND, Kind
from earmark.errors import ParameterError
from earmark.store import questions as queues
from earmark.store.assessor_rows import UNCOUNTED
from earmark.store.hidden_traps import others_took
from earmark.store.leases import Question, lease_again, own_assignment
from earmark.store.organising import reject
from earmark.store.rules import Rules
from earmark.store.schema import assessors, assignments, questions
from earmark.store.store import Change, check_text

Status = Literal["saved", "known", "corrected", "late", "elsewhere"]

_COUNTS = ("answers", "traps", "traps_right")


@dataclass(frozen=True)
class Receipt:
    """What became of an answer.

    Attributes
    ----------
    status : {"saved", "known", "corrected", "late", "elsewhere"}
    sequence : int or None
        The number of its event; None where none was added.
    """

    status: Status
    sequence: int | None


def answer(
    change: Change,
    rules: Rules,
    assessor: str,
    id: str,
    *,
    key: str,
    gain: float | None = None,
    choice: str | None = None,
    strength: float | None = None,
    text: str | None = None,
    source: str | None = None,
    once: bool = False,
) -> Receipt:
    """Take in the answer to a question that was given out.

    Parameters
    ----------
    change : Change
    rules : Rules
    assessor : str
        Who answers; it has to be who was asked.
    id : str
        Of the :class:`~earmark.store.leases.Question`.
    key : str
        Made by the client, once for every answer.
    gain : float, optional
        A grade, on the scale of the campaign.
    choice : {"a", "b", "same"}, optional
        A preference; a is the question's ``document``, whichever was shown first.
    strength : float, optional
        Of the preference.
    text : str, optional
        What else is known about the answer, such as how long was listened.
    source : str, optional
        The file that it came from.
    once : bool
        Refuse a second answer, which is not meant as a correction where a page is open in two windows.

    Raises
    ------
    ParameterError
        If there is no such question for this assessor, the answer is none, or the key is that of something else.
    """
    value = rules.value_of(gain, choice)
    check_strength(strength)
    row = find_assignment(change, assessor, id)
    if is_known(change, key, ("answered", "late"), row):
        return Receipt("known", None)
    if once and row.state == "answered":
        return Receipt("elsewhere", None)
    given = {"gain": gain, "choice": choice, "strength": strength, "text": text, "source": source, "key": key}
    if row.expected is not None:
        return _answer_trap(change, rules, row, value, given)
    status = _status(change, row)
    sequence = log_about(change, "late" if status == "late" else "answered", row, sampled=row.sampled, **given)
    if status == "late" and row.state == "answered":
        return Receipt(status, sequence)
    state = "late" if status == "late" else "answered"
    _set_answer(change, row.id, state=state, value=value, counts=row.assessor_state not in UNCOUNTED)
    if status == "saved":
        count_for(change, assessor, answers=1)
    if status != "late" and row.has_twins:
        log_same_sound(change, row, given)
    queues.settle(change, rules, [row.question])
    _check_assessor(change, rules, row, answers=int(status == "saved"))
    return Receipt(status, sequence)


def _set_answer(change: Change, id: str, **values: Any) -> None:
    change.connection.execute(_SET_ANSWER, {"of_id": id, **values})


# Statements of every call are built once, as building them takes longer than running them.
_SET_ANSWER = (
    sa.update(assignments)
    .where(assignments.c.id == sa.bindparam("of_id"))
    .values({name: sa.bindparam(name) for name in ("state", "value", "counts")})
)


def check_strength(strength: float | None) -> None:
    """Refuse the strength of a preference that is no positive number."""
    if strength is not None and not 0 < strength < math.inf:
        raise ParameterError(f"expected a strength above 0, got {strength:g}")


def _status(change: Change, row: Any) -> Status:
    """Tell what becomes of an answer."""
    if change.row["state"] == "closed":
        return "late"
    if row.state == "answered":
        return "corrected"
    if row.state == "out":
        return "saved"
    question = change.connection.execute(
        sa.select(questions).where(questions.c.campaign == change.campaign, questions.c.number == row.question)
    ).one()
    return "saved" if question.tier is not None else "late"


def is_known(change: Change, key: str, kinds: tuple[Kind, ...], about: Any) -> bool:
    """Tell whether what is sent was in the log already.

    Raises
    ------
    ParameterError
        If the key is empty, or belongs to something else: dropping what came second would lose it.
    """
    if not key.strip():
        raise ParameterError("expected a key that the client makes once for every answer, got an empty one")
    check_text(key)
    known = change.keyed(key)
    if known is None:
        return False
    item = (known["assessor"], known["query"], known["document"], known["other"] or "")
    if known["kind"] not in kinds or item != (about.assessor, about.query, about.document, about.other):
        raise ParameterError(f"the key '{key}' was used for something else: make a new one for every answer")
    return True


def recorded_id(change: Change, sequence: int) -> str:
    """Return the id of an answer that came without a lease; nobody can guess it, and the log gives it again."""
    told = hmac.digest(
        change.row["secret"].encode(), f"recorded {change.row['uid']} {sequence}".encode(), hashlib.sha256
    )
    return told[:16].hex()


def find_assignment(change: Change, assessor: str, id: str) -> Any:
    """Return an assignment, what is known about its assessor, and whether other questions are about the same sound."""
    check_text(assessor, id)
    mine = {"of_campaign": change.campaign, "of_id": id, "of_assessor": assessor}
    row = change.connection.execute(_ASSIGNMENT, mine).first()
    if row is None:
        raise ParameterError(f"assessor '{assessor}' was not asked a question '{id}'")
    return row


# The query is that of the question; naming it spares the database a search through all questions.
_IS_TWIN = sa.and_(
    questions.c.campaign == sa.bindparam("of_campaign"),
    questions.c.query == assignments.c.query,
    sa.or_(questions.c.same_as == assignments.c.question, questions.c.number == assignments.c.question),
    questions.c.document != assignments.c.document,
)
_ASSIGNMENT = (
    sa.select(
        assignments,
        *(assessors.c[name].label(f"assessor_{name}") for name in ("state", "reinstated", *_COUNTS)),
        sa.exists().where(_IS_TWIN).label("has_twins"),
    )
    .join(
        assessors,
        sa.and_(assessors.c.campaign == assignments.c.campaign, assessors.c.assessor == assignments.c.assessor),
    )
    .where(
        assignments.c.campaign == sa.bindparam("of_campaign"),
        assignments.c.id == sa.bindparam("of_id"),
        assignments.c.assessor == sa.bindparam("of_assessor"),
    )
)


def log_about(change: Change, kind: Any, row: Any, **event: Any) -> int:
    """Add an event about the question and the assessor of an assignment; returns its sequence number."""
    return change.append(
        kind,
        **{
            "assessor": row.assessor,
            "query": row.query,
            "document": row.document,
            "other": row.other or None,
            "expected": row.expected,
        }
        | event,
    )


def log_same_sound(change: Change, row: Any, given: dict[str, Any]) -> None:
    """Give the answer to the questions about the same sound too, which nobody is asked."""
    for twin in _same_sound(change, row):
        said = given | {"source": f"{SAME_SOUND}{row.document}", "key": f"{given['key']}/{twin.number}"}
        log_about(change, "answered", row, document=twin.document, sampled=row.sampled, **said)


def _same_sound(change: Change, row: Any) -> list[Any]:
    """Return the questions about the same sound, without those that the assessor answered in a file."""
    about = {"of_campaign": change.campaign, "of_query": row.query, "of_question": row.question}
    about |= {"of_document": row.document}
    found = change.connection.execute(_SAME_SOUND, about).fetchall()
    own = [own_assignment(change, row.assessor, twin) for twin in found]
    return [twin for twin, mine in zip(found, own, strict=True) if mine is None or mine.state != "answered"]


_SAME_SOUND = (
    sa.select(questions)
    .where(
        questions.c.campaign == sa.bindparam("of_campaign"),
        questions.c.query == sa.bindparam("of_query"),
        # The question may be about another document than the assessor heard, which left since.
        sa.or_(questions.c.same_as == sa.bindparam("of_question"), questions.c.number == sa.bindparam("of_question")),
        questions.c.document != sa.bindparam("of_document"),
    )
    .order_by(questions.c.number)
)


def _answer_trap(change: Change, rules: Rules, row: Any, value: float, given: dict[str, Any]) -> Receipt:
    """Take in the answer to a trap, which counts for the assessor only; a second answer changes nothing.

    It is late whenever the answer to a question would be: when the campaign is closed, and when somebody else would
    have got the question meanwhile.
    """
    over = row.state in ("returned", "expired") and others_took(change, row.assessor, row.expires)
    if over or change.row["state"] == "closed":
        if row.state != "answered":
            _set_answer(change, row.id, state="late", value=value, counts=False)
        return Receipt("late", log_about(change, "late", row, **given))
    sequence = log_about(change, "answered", row, **given)
    _set_answer(change, row.id, state="answered", counts=False, value=value if row.value is None else row.value)
    more = {"answers": int(row.state != "answered")}
    if row.value is None:
        more |= {"traps": 1, "traps_right": int(rules.is_right(value, row.expected))}
    count_for(change, row.assessor, **more)
    if row.state == "answered":
        return Receipt("corrected", sequence)
    _check_assessor(change, rules, row, **more)
    return Receipt("saved", sequence)


def count_for(change: Change, assessor: str, **more: int) -> None:
    """Add to the counts of an assessor."""
    values = {f"more_{name}": more.get(name, 0) for name in _COUNTS}
    change.connection.execute(_COUNT, {"of_campaign": change.campaign, "of_assessor": assessor, **values})


_COUNT = (
    sa.update(assessors)
    .where(assessors.c.campaign == sa.bindparam("of_campaign"), assessors.c.assessor == sa.bindparam("of_assessor"))
    .values({name: assessors.c[name] + sa.bindparam(f"more_{name}") for name in _COUNTS})
)


def withdraw(
    change: Change,
    rules: Rules,
    assessor: str,
    id: str,
    *,
    key: str | None = None,
    again: bool = False,
    text: str | None = None,
    source: str | None = None,
) -> Question | None:
    """Take an answer back, which stays in the log; with `again`, the assessor gets the question once more (undo).

    Parameters
    ----------
    change, rules, assessor, id, key
        As for :func:`answer`.
    again : bool
    text, source : str, optional
        Why, and who did it where it was not the assessor.
    """
    row = find_assignment(change, assessor, id)
    if key is not None and is_known(change, key, ("withdrawn",), row):
        return None
    if row.state != "answered":
        raise ParameterError("only an answer can be withdrawn, and this question has none")
    if again and (change.row["state"] == "closed" or row.assessor_state == "rejected"):
        raise ParameterError("no new answer is accepted here: the old one can be withdrawn, not given again")
    log_about(change, "withdrawn", row, key=key, text=text, source=source)
    pilot = row.assessor_state == "pilot"
    count_for(change, assessor, answers=-1)
    table = assignments.c
    change.connection.execute(sa.update(assignments).where(table.id == id).values(state="withdrawn"))
    if row.expected is not None:
        # The first answer to a trap counts whatever follows: nobody can try which answers are accepted.
        return lease_again(change, row, change.now + rules.lease, undo=True, pilot=pilot) if again else None
    change.connection.execute(sa.update(assignments).where(table.id == id).values(value=None))
    for twin in _same_sound(change, row):
        log_about(change, "withdrawn", row, document=twin.document, text=text, source=source)
    queues.settle(change, rules, [row.question], came_back=not pilot)
    if not again:
        return None
    question = lease_again(change, row, change.now + rules.lease, undo=True, pilot=pilot)
    queues.settle(change, rules, [row.question])
    return question


def _check_assessor(change: Change, rules: Rules, row: Any, **more: int) -> None:
    """Reject the assessor of an assignment if they failed too many traps; `more` was counted since it was read."""
    if row.assessor_state != "active" or row.assessor_reinstated:
        # Who was reinstated stays: the organiser knows the traps and decided otherwise.
        return
    answers, seen, right = (getattr(row, f"assessor_{name}") + more.get(name, 0) for name in _COUNTS)
    rule = rules.rejection
    if rule.checks(answers, seen) and right < int(rule.needed(seen)):
        why = f"{right} of {seen} traps right, fewer than {rule.min_right:.0%}"
        reject(change, rules, row.assessor, why)
