"""Does taking a question slow down as the log grows? Logs of up to a million answers, and the calls that follow.

A log is grown by inserting rows into the tables in bulk, as the calls would have left them: every item has three
answers that agree and serves as a trap, every answer has its two events (asked, answered) and its assignment. One
assessor, the veteran, gave one of the three answers to every item, and so has seen all traps; two of a thousand
regulars gave the others. Answers to traps are not inserted.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from benchmarks.campaigns.load import percentiles
from benchmarks.campaigns.stores import gain_of, waiting
from earmark.store.desk import Desk
from earmark.store.schema import assessors, assignments, campaigns, events, questions, traps
from earmark.store.store import Store

VETERAN, REGULARS = "veteran", 1000
_TIME = 1_700_000_000_000_000
_LEASE = 600_000_000
_PORTION = 20_000


def grow(desk: Desk, start: int, stop: int) -> None:
    """Insert the items from `start` to `stop`, each with three answers."""
    store = desk.store
    for first in range(start, stop, _PORTION):
        last = min(first + _PORTION, stop)
        asked = _asked(first, last)
        _insert(store, questions, _QUESTION, _questions(store.campaign, first, last))
        _insert(store, assignments, _ASSIGNMENT, _assignments(store.campaign, asked))
        _insert(store, events, _EVENT, _events(store.campaign, asked))
        _insert(store, traps, _TRAP, _traps(store.campaign, first, last))
    _finish(store, stop)


def _asked(first: int, last: int) -> list[tuple[int, str, str, int]]:
    """Return item, assessor, id and sequence of every question that was given out."""
    found = []
    for item in range(first, last):
        people = (VETERAN, f"regular{2 * item % REGULARS}", f"regular{(2 * item + 1) % REGULARS}")
        found += [(item, who, secrets.token_urlsafe(16), 6 * item + 2 * place) for place, who in enumerate(people)]
    return found


_QUESTION = ("campaign", "number", "query", "document", "other", "sampled", "removed", "answers", "out")
_ASSIGNMENT = (
    *("id", "campaign", "question", "assessor", "query", "document", "other", "swapped", "sampled", "state"),
    *("taken", "expires", "value", "counts"),
)
_EVENT = ("campaign", "sequence", "kind", "time", "assessor", "query", "document", "gain", "sampled", "key", "expires")
_TRAP = ("campaign", "number", "query", "document", "other", "expected", "source")


def _questions(campaign: int, first: int, last: int) -> Iterator[tuple[Any, ...]]:
    for item in range(first, last):
        yield (campaign, item + 1, f"q{item // 10}", f"d{item}", "", False, False, 3, 0)


def _assignments(campaign: int, asked: Sequence[tuple[int, str, str, int]]) -> Iterator[tuple[Any, ...]]:
    for item, who, id, sequence in asked:
        query, document, taken = f"q{item // 10}", f"d{item}", _TIME + sequence
        yield (
            *(id, campaign, item + 1, who, query, document, "", False, False, "answered"),
            *(taken, taken + _LEASE, gain_of(document), True),
        )


def _events(campaign: int, asked: Sequence[tuple[int, str, str, int]]) -> Iterator[tuple[Any, ...]]:
    for item, who, id, sequence in asked:
        query, document, now = f"q{item // 10}", f"d{item}", _TIME + sequence
        yield (campaign, sequence + 1, "asked", now, who, query, document, None, False, id, now + _LEASE)
        gain, key = gain_of(document), f"bulk/{sequence}"
        yield (campaign, sequence + 2, "answered", now + 1, who, query, document, gain, False, key, None)


def _traps(campaign: int, first: int, last: int) -> Iterator[tuple[Any, ...]]:
    for item in range(first, last):
        yield (campaign, item + 1, f"q{item // 10}", f"d{item}", "", f"{gain_of(f'd{item}'):g}", "agreed")


def _insert(store: Store, table: sa.Table, names: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> None:
    """Insert rows by the fastest way that the driver has."""

    def write(connection: sa.Connection) -> None:
        driver: Any = connection.connection.driver_connection
        if store.database.is_sqlite:
            marks = ", ".join("?" * len(names))
            driver.executemany(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})", rows)
            return
        with driver.cursor() as cursor, cursor.copy(f"COPY {table.name} ({', '.join(names)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    store.database.write(write)


def _finish(store: Store, items: int) -> None:
    """Write the rows of the campaign and of the assessors, and let the database look at its tables."""
    counts = {VETERAN: items} | {f"regular{n}": 2 * items // REGULARS for n in range(REGULARS)}
    zero = {"reinstated": False, "traps": 0, "traps_right": 0, "last_query": None, "seen_again": 0, "seen_begun": 0}
    rows = [
        {"campaign": store.campaign, "assessor": who, "state": "active", "given": count, "answers": count, **zero}
        for who, count in counts.items()
    ]

    def write(connection: sa.Connection) -> None:
        connection.execute(sa.delete(assessors).where(assessors.c.campaign == store.campaign))
        connection.execute(sa.insert(assessors), rows)
        here = sa.update(campaigns).where(campaigns.c.id == store.campaign)
        connection.execute(here.values(next_sequence=6 * items + 1, next_place=items + 1, last_time=_TIME + 6 * items))
        connection.execute(sa.text("ANALYZE"))

    store.database.write(write)


@dataclass(frozen=True)
class Point:
    """What was measured with a log of some size, in milliseconds: medians and 99th percentiles, by assessor.

    `busy` is the processor time of taking a question in this process, whatever else the machine does. With SQLite that
    is all of the work but waiting for the disk.
    """

    answers: int
    events: int
    takes: dict[str, tuple[float, float]]
    replies: dict[str, tuple[float, float]]
    busy: tuple[float, float]
    log_seconds: float


def measure(desk: Desk, answers: int, calls: int) -> Point:
    """Time calls of three assessors, and reading the whole log."""
    size = desk.store.last_sequence
    begun = time.perf_counter()
    log = desk.store.log()
    assert len(log) == size
    log_seconds = time.perf_counter() - begun
    items = -(-answers // 3)
    desk.add_questions(waiting(6 * calls, first=10_000_000))
    takes: dict[str, tuple[float, float]] = {}
    replies: dict[str, tuple[float, float]] = {}
    busy: list[float] = []
    for who in ("newcomer", "regular1", VETERAN):
        taken: list[float] = []
        answered: list[float] = []
        for number in range(calls):
            begun, worked = time.perf_counter(), time.thread_time()
            question = desk.take(who).questions[0]
            between = time.perf_counter()
            busy.append(time.thread_time() - worked)
            key = f"{who}/{items}/{number}"
            desk.answer(who, question.id, key=key, gain=gain_of(question.document))
            taken.append(between - begun)
            answered.append(time.perf_counter() - between)
        takes[who], replies[who] = percentiles(taken), percentiles(answered)
    return Point(answers, size, takes, replies, percentiles(busy), log_seconds)
