"""How far a campaign is, in numbers: each word has one meaning, for ``status`` and the dashboard alike.

=============  =========================================================================================================
``items``      what is asked about and has not left the collection, documents of the same sound each for itself
``judged``     those of them that count as judged: with a grade, their own or of the same sound; of the other kinds,
               with as many answers as are asked for (of pairs, answers spread over several count as so many whole ones)
``questions``  what people are asked: the items, those of the same sound once
``answered``   questions with an answer that counts, ``complete``: with all; ``missing`` is how many answers that leaves
``removed``    items that have left the collection
``pending``    questions that are out, with somebody whose answers count
``assessors``  people who have answered, without pilots; ``rejected`` and ``pilots`` are counted besides
=============  =========================================================================================================

Answers that count are those of :attr:`earmark.data.log.AnswerLog.position`.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from earmark.store.schema import assessors, assignments, questions
from earmark.store.store import Store


def tally(store: Store, kind: str, *, per_item: int = 1) -> dict[str, int]:
    """Return the numbers of a campaign; see the module.

    Parameters
    ----------
    store : Store
    kind : {"grade", "prefer", "order", "lists"}
        What people are asked.
    per_item : int
        How many people answer a question.
    """
    table, given, who = questions.c, assignments.c, assessors.c
    here = sa.and_(table.campaign == store.campaign, ~table.removed)
    asked = sa.and_(here, table.same_as.is_(None))
    # Whoever tries the campaign out is not at work for it.
    out = sa.and_(given.campaign == store.campaign, given.state == "out", given.expires > store.clock(), given.counts)
    people = who.campaign == store.campaign

    def count(column: Any, *where: Any) -> Any:
        return sa.select(sa.func.count(column)).where(*where).scalar_subquery()

    numbers = {
        "items": count(table.number, here),
        "graded": count(table.number, here, _is_graded()),
        "questions": count(table.number, asked),
        "answered": count(table.number, asked, table.answers > 0),
        "complete": count(table.number, asked, table.answers >= per_item),
        "missing": sa.select(sa.func.sum(sa.case((table.answers < per_item, per_item - table.answers), else_=0)))
        .where(asked)
        .scalar_subquery(),
        "removed": count(table.number, table.campaign == store.campaign, table.removed),
        "pending": count(given.id, out),
        "assessors": count(who.assessor, people, who.answers > 0, who.state != "pilot"),
        "rejected": count(who.assessor, people, who.state == "rejected"),
        "pilots": count(who.assessor, people, who.state == "pilot"),
    }
    row = store.read(lambda connection: connection.execute(sa.select(*numbers.values())).one())
    found = {name: int(value or 0) for name, value in zip(numbers, row, strict=True)}
    whole = (found["questions"] * per_item - found["missing"]) // per_item
    judged = {"grade": found.pop("graded"), "prefer": whole, "order": found["complete"], "lists": found["complete"]}
    return found | {"judged": judged[kind]}


def _is_graded() -> Any:
    """Return the condition that a question, or the one about the same sound, has an answer."""
    twin = questions.alias("twin")
    through = (
        sa.select(sa.func.count())
        .where(twin.c.campaign == questions.c.campaign, twin.c.number == questions.c.same_as, twin.c.answers > 0)
        .scalar_subquery()
    )
    return sa.or_(questions.c.answers > 0, sa.and_(questions.c.same_as.is_not(None), through > 0))
