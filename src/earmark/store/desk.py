"""The desk: where assessors get their questions and hand in their answers, each call a transaction of its own.

Nothing here computes an estimate or waits for one; :mod:`earmark.store.worker` does that in the background. A call
that returns has reached the disk.

>>> import tempfile, polars
>>> from earmark.store.database import Database
>>> from earmark.store.migrate import migrate
>>> database = Database(f"sqlite:///{tempfile.mkdtemp()}/campaign.db")
>>> _ = migrate(database)
>>> desk = Desk(Store.create(database, uid="a", name="study", settings="{}"), Rules())
>>> desk.add_questions(polars.DataFrame({"query": ["q"], "document": ["d"]}))
1
>>> question = desk.take("ann").questions[0]
>>> desk.answer("ann", question.id, key="1", gain=2).status
'saved'
>>> desk.answer("ann", question.id, key="1", gain=2).status
'known'
>>> desk.take("ann").reason
'done'
>>> database.close()
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from earmark.store import answers, leases, organising, questions, unanswered
from earmark.store.answers import Receipt
from earmark.store.leases import Question, Taken
from earmark.store.rules import Rules
from earmark.store.store import Store
from earmark.store.unanswered import Part


@dataclass(frozen=True, eq=False)
class Desk:
    """What assessors and the organiser of a campaign do.

    Parameters
    ----------
    store : Store
    rules : Rules
    """

    store: Store
    rules: Rules

    # ---- assessors ---------------------------------------------------------------------------------------------------

    def take(self, assessor: str, *, ahead: int = 1) -> Taken:
        """Give an assessor a question and some ahead of it; see :func:`earmark.store.leases.take`."""
        return self.store.write(lambda change: leases.take(change, self.rules, assessor, ahead=ahead))

    def reserve(self, assessor: str, count: int) -> Taken:
        """Give an assessor a package of questions, on a long lease and without traps."""
        return self.store.write(lambda change: leases.take(change, self.rules, assessor, ahead=count - 1, package=True))

    def answer(self, assessor: str, id: str, *, key: str, **given: Any) -> Receipt:
        """Take in an answer; see :func:`earmark.store.answers.answer`."""
        return self.store.write(lambda change: answers.answer(change, self.rules, assessor, id, key=key, **given))

    def question(self, assessor: str, id: str) -> Question:
        """Return a question that an assessor was given, whatever became of it.

        Raises
        ------
        ParameterError
            If the assessor was not asked this question.
        """
        return self.store.read(lambda connection: leases.question_of(connection, self.store.campaign, assessor, id))

    def renew(self, assessor: str, id: str) -> Question | None:
        """Prolong the lease of a question that an assessor is at work on; None where it is not out any more."""
        return self.store.write(lambda change: leases.renew(change, self.rules, assessor, id))

    def skip(self, assessor: str, id: str, *, key: str | None = None, text: str | None = None) -> None:
        """Note that an assessor does not want to answer a question."""
        self.store.write(lambda change: unanswered.skip(change, self.rules, assessor, id, key=key, text=text))

    def report_unplayable(
        self,
        assessor: str,
        id: str,
        *,
        key: str | None = None,
        what: Part = "document",
        name: str | None = None,
        text: str | None = None,
    ) -> None:
        """Note that something does not play; see :func:`earmark.store.unanswered.report_unplayable`."""
        self.store.write(
            lambda change: unanswered.report_unplayable(
                change, self.rules, assessor, id, key=key, what=what, name=name, text=text
            )
        )

    def give_back(self, assessor: str, ids: Iterable[str] | None = None) -> int:
        """Take questions back, all that an assessor holds by default; returns how many."""
        kept = None if ids is None else list(ids)
        return self.store.write(lambda change: leases.give_back(change, self.rules, assessor, kept))

    def withdraw(self, assessor: str, id: str, *, key: str | None = None) -> None:
        """Take an answer back, which stays in the log."""
        # Made here, so that an attempt whose end was not heard of is not repeated.
        made = key or secrets.token_hex(16)
        self.store.write(lambda change: answers.withdraw(change, self.rules, assessor, id, key=made))

    def undo(self, assessor: str, id: str, *, key: str | None = None) -> Question | None:
        """Take an answer back and give the assessor the same question once more; None where the key was known."""
        return self.store.write(lambda change: answers.withdraw(change, self.rules, assessor, id, key=key, again=True))

    def comment(self, assessor: str, text: str, *, id: str | None = None, key: str | None = None) -> None:
        """Keep a remark about a question, or about the campaign."""
        made = key or secrets.token_hex(16)
        self.store.write(lambda change: unanswered.comment(change, assessor, text, id=id, key=made))

    # ---- the organiser -----------------------------------------------------------------------------------------------

    def add_questions(self, frame: pl.DataFrame) -> int:
        """Add questions that are not there yet; see :func:`earmark.store.questions.add_questions`."""
        return self.store.write(lambda change: questions.add_questions(change, frame))

    def propose_next(self, proposals: Sequence[tuple[str, str, str, bool]]) -> int:
        """Replace the proposals of the policy; see :func:`earmark.store.questions.propose_next`."""
        return self.store.write(lambda change: questions.propose_next(change, proposals))

    def reject(self, assessor: str, reason: str) -> None:
        """Count no answer of an assessor; their questions are asked again."""
        self.store.write(lambda change: organising.reject(change, self.rules, assessor, reason))

    def reinstate(self, assessor: str, reason: str = "") -> None:
        """Count the answers of a rejected assessor again."""
        self.store.write(lambda change: organising.reinstate(change, self.rules, assessor, reason))

    def pause_assessor(self, assessor: str, reason: str = "") -> None:
        """Give an assessor no more questions for now; what is out with them may still be answered."""
        self.store.write(lambda change: organising.pause_assessor(change, assessor, reason))

    def resume_assessor(self, assessor: str, reason: str = "") -> None:
        """Give a paused assessor questions again."""
        self.store.write(lambda change: organising.pause_assessor(change, assessor, reason, resume=True))

    def remove(
        self, reason: str, *, system: str | None = None, query: str | None = None, document: str | None = None
    ) -> None:
        """Let something leave the collection for all systems; see :func:`earmark.store.organising.remove`."""
        self.store.write(
            lambda change: organising.remove(
                change, self.rules, system=system, query=query, document=document, reason=reason
            )
        )

    def restore(
        self, reason: str, *, system: str | None = None, query: str | None = None, document: str | None = None
    ) -> None:
        """Let what was removed come back."""
        self.store.write(
            lambda change: organising.remove(
                change, self.rules, system=system, query=query, document=document, reason=reason, back=True
            )
        )

    def set_state(self, state: Literal["open", "paused", "stopped", "closed"], reason: str = "") -> None:
        """Open, pause, stop or close the campaign, which the log keeps."""
        self.store.write(lambda change: organising.set_state(change, state, reason))
