"""The questions of a campaign and the queues they wait in.

A question waits while it has room: fewer answers that count and live leases than it should have answers. It waits in
one of four queues, which are served in this order:

=========  =============================================================================================================
``AGAIN``  was given out and came back without an answer: returned, skipped, expired, or its assessor was rejected
``BEGUN``  has an answer and needs more
``FRESH``  proposed by the policy, the most wanted first (:func:`propose_next`)
``REST``   everything else, in the order of the guaranteed sample: asked only while no proposals are there; the place
           of a question is its number
=========  =============================================================================================================

A question gets a new place, behind all others, whenever it comes into the first two queues or somebody may ask for it
again. Therefore an assessor who has seen everything up to some place never has to look at these questions again, and
taking a question costs the same however many were answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import polars as pl
import sqlalchemy as sa

from earmark.store.removals import removed_now
from earmark.store.rules import Rules
from earmark.store.schema import assignments, questions, traps
from earmark.store.store import Change

AGAIN, BEGUN, FRESH, REST = range(4)

SEEN = ("out", "answered", "skipped", "unplayable", "late", "withdrawn")
"""The states of an assignment after which its assessor does not get the question again."""

_PORTION = 500


def add_questions(change: Change, frame: pl.DataFrame) -> int:
    """Add questions that are not there yet, behind those that are; returns how many were new.

    Parameters
    ----------
    change : Change
    frame : polars.DataFrame
        ``query``, ``document``, and where known ``other``, ``sampled`` and ``same_as`` (the document that sounds the
        same, a question about which comes before), in the order in which they are asked where nothing is proposed.
    """
    known = known_questions(change.connection, change.campaign)
    rows = frame.with_columns(
        pl.lit("").alias("other") if "other" not in frame.columns else pl.col("other").fill_null(""),
        pl.lit(False).alias("sampled") if "sampled" not in frame.columns else pl.col("sampled"),
        pl.lit(None, dtype=pl.String).alias("same_as") if "same_as" not in frame.columns else pl.col("same_as"),
    ).unique(["query", "document", "other"], keep="first", maintain_order=True)
    new = rows.join(known, on=["query", "document", "other"], how="anti", maintain_order="left")
    if not new.height:
        return 0
    first = 1 + int(known["number"].to_numpy().max(initial=0))
    new = new.with_row_index("number", offset=first)
    numbers = {
        (query, document): number for number, query, document in known.select("number", "query", "document").rows()
    }
    first_of = _twins(change)
    numbers |= {
        (query, document): number for number, query, document in new.select("number", "query", "document").rows()
    }
    gone = removed_now(change)
    values = []
    for row in new.select("number", "query", "document", "other", "sampled", "same_as").iter_rows(named=True):
        twin = None if row["same_as"] is None else numbers.get((row["query"], row["same_as"]))
        twin = first_of.get(twin, twin)
        removed = gone.has(row["query"], row["document"], row["other"])
        waits = twin is None and not removed
        values.append(
            {**row, "campaign": change.campaign, "same_as": twin, "removed": removed, "answers": 0, "out": 0}
            | {"tier": REST if waits else None, "place": row["number"] if waits else None}
        )
    for start in range(0, len(values), _PORTION):
        change.connection.execute(sa.insert(questions), values[start : start + _PORTION])
    # Without statistics, PostgreSQL would search such a table from end to end.
    change.connection.execute(sa.text(f"ANALYZE {questions.name}"))
    return len(values)


def _twins(change: Change) -> dict[int | None, int]:
    """Return the question that is asked instead, by the number of a question about the same sound."""
    table = questions.c
    twins = sa.select(table.number, table.same_as).where(table.campaign == change.campaign, table.same_as.is_not(None))
    return {row.number: row.same_as for row in change.connection.execute(twins)}


def known_questions(connection: sa.Connection, campaign: int) -> pl.DataFrame:
    """Return ``number``, ``query``, ``document`` and ``other`` of all questions."""
    names = ("number", "query", "document", "other")
    query = sa.select(*(questions.c[name] for name in names)).where(questions.c.campaign == campaign)
    rows = connection.execute(query.order_by(questions.c.number)).fetchall()
    types = {"number": pl.Int64, "query": pl.String, "document": pl.String, "other": pl.String}
    return pl.DataFrame([tuple(row) for row in rows], schema=types, orient="row")


def find_question(change: Change, query: str, document: str, other: str = "") -> Any:
    """Return the row of a question by what it asks; None where there is none."""
    item = {"of_campaign": change.campaign, "of_query": query, "of_document": document, "of_other": other}
    return change.connection.execute(_FIND_QUESTION, item).first()


# Statements of every call are built once, as building them takes longer than running them.
_FIND_QUESTION = sa.select(questions).where(
    *(questions.c[name] == sa.bindparam(f"of_{name}") for name in ("campaign", "query", "document", "other"))
)


# ---- the queues ------------------------------------------------------------------------------------------------------


def settle(change: Change, rules: Rules, numbers: Iterable[int], *, came_back: bool = False) -> None:
    """Count the answers and leases of questions anew, and put them into the queue where they belong.

    Parameters
    ----------
    change : Change
    rules : Rules
    numbers : iterable of int
        The questions.
    came_back : bool
        They were out and came back, so that everybody may get them again.
    """
    wanted = sorted(set(numbers))
    for start in range(0, len(wanted), _PORTION):
        _settle_some(change, rules, wanted[start : start + _PORTION], came_back)


def _settle_some(change: Change, rules: Rules, numbers: Sequence[int], came_back: bool) -> None:
    rows = change.connection.execute(_COUNTED, {"of_campaign": change.campaign, "numbers": numbers}).fetchall()
    changed = []
    for row in rows:
        answers, out = int(row.counted), int(row.leased)
        room = rules.wanted(answers, row.low, row.high) - answers - out
        tier, place = row.tier, row.place
        if room <= 0 or row.removed or row.same_as is not None:
            tier = place = None
        elif tier is None and not row.given:
            # Nobody was asked yet: it was removed and came back.
            tier, place = REST, row.number
        elif came_back or tier is None or (answers and tier != BEGUN):
            tier, place = BEGUN if answers else AGAIN, change.next_place()
        changed.append({"n": row.number, "answers": answers, "out": out, "tier": tier, "place": place})
        _settle_trap(change, rules, row)
    _update(change, changed, "answers", "out", "tier", "place")


def _counted() -> sa.Select[Any]:
    """Return the statement that finds questions with their answers that count, their live leases and their traps."""
    table, given, trap = questions.c, assignments.c, traps.c
    counting = sa.and_(given.state == "answered", given.counts)
    theirs = sa.and_(given.campaign == table.campaign, given.question == table.number, given.expected.is_(None))
    same_item = sa.and_(*(trap[name] == table[name] for name in ("campaign", "query", "document", "other")))
    return (
        sa.select(
            questions,
            sa.func.count(given.id).label("given"),
            sa.func.sum(sa.case((counting, 1), else_=0)).label("counted"),
            sa.func.sum(sa.case((sa.and_(given.state == "out", given.counts), 1), else_=0)).label("leased"),
            sa.func.min(sa.case((counting, given.value))).label("low"),
            sa.func.max(sa.case((counting, given.value))).label("high"),
            sa.func.avg(sa.case((counting, given.value))).label("mean"),
            trap.number.label("trap"),
            trap.source.label("trap_source"),
            trap.expected.label("trap_expected"),
        )
        .select_from(questions.outerjoin(assignments, theirs).outerjoin(traps, same_item))
        .where(
            table.campaign == sa.bindparam("of_campaign"),
            table.number.in_(sa.bindparam("numbers", expanding=True)),
        )
        .group_by(table.campaign, table.number, trap.campaign, trap.number)
        .order_by(table.number)
    )


_COUNTED = _counted()


def _update(change: Change, values: list[dict[str, Any]], *names: str) -> None:
    """Update rows of questions, whose number is ``n``."""
    if values:
        change.connection.execute(_update_of(names), [{"of_campaign": change.campaign, **one} for one in values])


@cache
def _update_of(names: tuple[str, ...]) -> sa.Update:
    here = sa.and_(questions.c.campaign == sa.bindparam("of_campaign"), questions.c.number == sa.bindparam("n"))
    return sa.update(questions).where(here).values({name: sa.bindparam(name) for name in names})


def count_lease(change: Change, rules: Rules, row: Any) -> None:
    """Count one more lease of a question that waits, as :func:`settle` would, without looking at its answers again.

    A question that has all its answers and waits lacks a single one, as its answers disagree; it has no more room.
    """
    room = rules.judgments_per_item - row.answers - row.out - 1
    tier, place = (row.tier, row.place) if room > 0 else (None, None)
    _update(change, [{"n": row.number, "out": row.out + 1, "tier": tier, "place": place}], "out", "tier", "place")


# ---- traps -----------------------------------------------------------------------------------------------------------


def _settle_trap(change: Change, rules: Rules, row: Any) -> None:
    """Make a trap of a question whose answers agree, and none of one whose answers do not agree any more."""
    agreed = rules.agreed(int(row.counted), row.low, row.high) and not row.removed and row.mean is not None
    expected = rules.expected_text(row.mean) if agreed else ""
    if row.trap is None:
        if agreed:
            add_trap(change, row.query, row.document, row.other, expected, "agreed")
        return
    this = sa.and_(traps.c.campaign == change.campaign, traps.c.number == row.trap)
    if row.trap_source != "agreed" or row.trap_expected == expected:
        return
    change.connection.execute(
        sa.update(traps).where(this).values(expected=expected) if agreed else sa.delete(traps).where(this)
    )


def add_trap(change: Change, query: str, document: str, other: str, expected: str, source: str) -> None:
    """Add a question whose answer is known."""
    item = {"campaign": change.campaign, "query": query, "document": document, "other": other}
    change.connection.execute(
        _ADD_TRAP, item | {"expected": expected, "source": source, "of_campaign": change.campaign}
    )


_ADD_TRAP = sa.insert(traps).values(
    number=sa.select(sa.func.coalesce(sa.func.max(traps.c.number), 0) + 1)
    .where(traps.c.campaign == sa.bindparam("of_campaign"))
    .scalar_subquery(),
    **{name: sa.bindparam(name) for name in ("campaign", "query", "document", "other", "expected", "source")},
)


# ---- what is asked next ----------------------------------------------------------------------------------------------


def mark_removed(change: Change, rules: Rules, gone: set[int], here: set[int]) -> None:
    """Take questions out of the collection, and bring others back, where they are not so already."""
    table = questions.c
    for numbers, removed in ((gone, True), (here, False)):
        stale = sa.select(table.number).where(table.campaign == change.campaign, table.removed != removed)
        wrong = sorted(numbers.intersection(change.connection.execute(stale).scalars()))
        for start in range(0, len(wrong), _PORTION):
            some = sa.and_(table.campaign == change.campaign, table.number.in_(wrong[start : start + _PORTION]))
            change.connection.execute(sa.update(questions).where(some).values(removed=removed))
        settle(change, rules, wrong)
    _ask_twins(change, rules)


def _ask_twins(change: Change, rules: Rules) -> None:
    """Ask about the next document of the same sound where the one that was asked about left.

    It takes over who was asked, so that nobody hears the same sound twice, but not who reported that the one that
    left does not play. The question stays with it when the other comes back.
    """
    table, given, first = questions.c, assignments.c, questions.alias()
    orphans = (
        sa.select(table.same_as, sa.func.min(table.number))
        .join(first, sa.and_(first.c.campaign == table.campaign, first.c.number == table.same_as))
        .where(table.campaign == change.campaign, first.c.removed, sa.not_(table.removed))
        .group_by(table.same_as)
        .order_by(table.same_as)
    )
    for old, new in change.connection.execute(orphans).fetchall():
        mine = table.campaign == change.campaign
        group = sa.and_(mine, sa.or_(table.same_as == old, table.number == old))
        members = change.connection.execute(sa.select(table.number, table.document).where(group)).fetchall()
        document = next(row.document for row in members if row.number == new)
        change.connection.execute(sa.update(questions).where(group).values(same_as=new))
        change.connection.execute(sa.update(questions).where(mine, table.number == new).values(same_as=None))
        moved = sa.or_(
            sa.and_(given.question == old, given.state != "unplayable"),
            sa.and_(given.question.in_([row.number for row in members]), given.document == document),
        )
        asked = sa.and_(given.campaign == change.campaign, given.expected.is_(None), moved)
        change.connection.execute(sa.update(assignments).where(asked).values(question=new))
        settle(change, rules, [old, new])


def propose_next(change: Change, proposals: Sequence[tuple[str, str, str, bool]]) -> int:
    """Replace the proposals of the policy by newer ones, the most wanted first; returns how many wait.

    Parameters
    ----------
    change : Change
    proposals : sequence of (query, document, other, sampled)
    """
    table = questions.c
    waiting = sa.and_(table.campaign == change.campaign, table.tier == FRESH)
    change.connection.execute(sa.update(questions).where(waiting).values(tier=REST, place=table.number))
    changed = []
    for query, document, other, sampled in proposals:
        row = find_question(change, query, document, other)
        if row is None or row.removed:
            continue
        if row.same_as is not None:
            row = change.connection.execute(
                sa.select(questions).where(table.campaign == change.campaign, table.number == row.same_as)
            ).one()
        if row.tier in (FRESH, REST):
            changed.append({"n": row.number, "tier": FRESH, "place": change.next_place(), "sampled": sampled})
    _update(change, changed, "tier", "place", "sampled")
    return len(changed)


def any_waiting(change: Change) -> bool:
    """Tell whether a question waits for somebody, or is out with somebody whose answers count."""
    table = questions.c
    open_now = sa.and_(table.campaign == change.campaign, sa.or_(table.tier.is_not(None), table.out > 0))
    return change.connection.execute(sa.select(table.number).where(open_now).limit(1)).first() is not None


def next_waiting(change: Change, person: Any, *, query: str | None = None) -> Any:
    """Return the first waiting question that an assessor has not seen; None where there is none.

    Parameters
    ----------
    change : Change
    person : row of the table of assessors
        Its marks of what was seen are moved forward.
    query : str, optional
        Prefer questions about this query.
    """
    sought = {"of_campaign": change.campaign, "of_assessor": person["assessor"]}
    sought |= {mark: person[mark] for mark in _MARKS.values()}
    if query is None:
        row = change.connection.execute(_NEXT, sought).first()
    else:
        row = change.connection.execute(_NEXT_OF_QUERY, sought | {"of_query": query}).first()
        if row is not None and row.step < 0:
            # Other queries were not looked at.
            return row
    for tier, mark in _MARKS.items():
        if row is None or row.tier >= tier:
            # The assessor has seen all that comes before the question that was found.
            before = row.place if row is not None and row.tier == tier else int(change.row["next_place"])
            person[mark] = max(person[mark], before - 1)
    return row


_MARKS = {AGAIN: "seen_again", BEGUN: "seen_begun"}


def _first(tier: int, step: int, *, of_query: bool = False) -> sa.Select[Any]:
    """Return the statement that finds the first question in a queue that an assessor has not seen."""
    table, given = questions.c, assignments.c
    # A count instead of EXISTS keeps PostgreSQL from reading all assignments of the assessor first.
    seen = (
        sa.select(sa.func.count())
        .where(
            given.campaign == sa.bindparam("of_campaign"),
            given.question == table.number,
            given.assessor == sa.bindparam("of_assessor"),
            sa.or_(given.state.in_(SEEN), given.expected.is_not(None)),
        )
        .scalar_subquery()
    )
    after: sa.ColumnElement[int] = sa.bindparam(_MARKS[tier]) if tier in _MARKS else sa.literal_column("0")
    # The number of the queue is part of the statement, as its statistics decide how PostgreSQL goes about it.
    here = [table.campaign == sa.bindparam("of_campaign"), table.tier == sa.literal_column(str(tier))]
    if of_query:
        here.append(table.query == sa.bindparam("of_query"))
    found = sa.select(questions, sa.literal_column(str(step)).label("step"))
    return found.where(*here, table.place > after, seen == 0).order_by(table.place).limit(1)


def _first_of(*found: sa.Select[Any]) -> sa.Select[Any]:
    """Return the statement that finds a question by that of some statements whose step is the first."""
    together = sa.union_all(*(sa.select(one.subquery()) for one in found)).subquery()
    return sa.select(together).order_by(together.c.step).limit(1)


_QUEUES = (AGAIN, BEGUN, FRESH, REST)
_NEXT = _first_of(*(_first(tier, tier) for tier in _QUEUES))
# What nobody proposed comes after all other queues, whatever it is about.
_NEXT_OF_QUERY = _first_of(
    *(_first(tier, tier - len(_QUEUES), of_query=True) for tier in (AGAIN, BEGUN, FRESH)),
    *(_first(tier, tier) for tier in (AGAIN, BEGUN, FRESH)),
    _first(REST, REST, of_query=True),
    _first(REST, REST + 1),
)
