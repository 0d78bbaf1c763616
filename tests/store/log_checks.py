"""What must hold of a store after any load, any crash and any fault: checked from its log, event by event."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from earmark.store.rules import Rules
from earmark.store.schema import assessors, assignments, campaigns, events, questions
from earmark.store.store import Store

Item = tuple[str, str, str]
TABLES = (campaigns, events, assignments, questions, assessors)


@dataclass
class Replay:
    """The state that the events lead to."""

    out: dict[Item, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    answered: dict[Item, set[str]] = field(default_factory=lambda: defaultdict(set))
    given: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    traps: set[tuple[str, Item]] = field(default_factory=set)
    keys: Counter[str] = field(default_factory=Counter)
    most: int = 0

    def count(self, item: Item, now: int) -> None:
        live = {who for who, expires in self.out[item].items() if expires > now}
        self.most = max(self.most, len(live | self.answered[item]))


def replay(log: list[dict[str, Any]]) -> Replay:
    """Go through the log: nobody is asked about an item they have answered, and the sequence has no gaps."""
    state = Replay()
    for place, event in enumerate(log, start=1):
        assert event["sequence"] == place, "the sequence has a gap"
        item = (event["query"], event["document"], event["other"] or "")
        who, kind = event["assessor"], event["kind"]
        if kind == "answered":
            state.keys[event["key"]] += 1
        if kind == "asked":
            state.given[who] += 1
        if event["expected"] is not None:
            if kind == "answered" and (who, item) not in state.traps:
                state.traps.add((who, item))
                state.answers[who] += 1
            continue
        if kind == "asked":
            assert who not in state.answered[item], f"{who} was asked about {item} again"
            state.out[item][who] = event["expires"]
        elif kind == "answered":
            state.out[item].pop(who, None)
            state.answers[who] += who not in state.answered[item]
            state.answered[item].add(who)
        elif kind in ("returned", "skipped", "unplayable", "late"):
            state.out[item].pop(who, None)
        state.count(item, event["time"])
    return state


def check_store(store: Store, rules: Rules) -> Replay:
    """Check that the log is sound and that every table says what the log says; returns the replayed log.

    All tables are read in one transaction, so that assessors may go on meanwhile.
    """
    table = store.read(lambda connection: {one.name: rows_of(connection, store, one) for one in TABLES})
    state = replay(table[events.name])
    assert state.most <= rules.judgments_per_item, "more leases and answers than the item may have"
    assert all(times == 1 for times in state.keys.values()), "an answer is there twice"
    assert table[campaigns.name][0]["next_sequence"] == 1 + len(table[events.name])
    answered, out = defaultdict(set), defaultdict(set)
    for row in table[assignments.name]:
        if row["expected"] is None and row["state"] in ("answered", "out"):
            where = answered if row["state"] == "answered" else out
            assert row["assessor"] not in where[row["question"]], "an assessor holds a question twice"
            where[row["question"]].add(row["assessor"])
    for row in table[questions.name]:
        item, number = (row["query"], row["document"], row["other"]), row["number"]
        assert answered[number] == state.answered[item]
        assert out[number] <= set(state.out[item]), "a lease that the log does not know"
        assert (row["answers"], row["out"]) == (len(answered[number]), len(out[number]))
        room = row["answers"] + row["out"] < rules.judgments_per_item
        assert (row["tier"] is not None) == (room and not row["removed"])
    for row in table[assessors.name]:
        who = row["assessor"]
        assert (row["given"], row["answers"]) == (state.given[who], state.answers[who])
    if store.database.is_sqlite:
        said = store.read(lambda connection: connection.exec_driver_sql("PRAGMA integrity_check").scalars().all())
        assert said == ["ok"]
    return state


def rows_of(connection: sa.Connection, store: Store, table: sa.Table) -> list[dict[str, Any]]:
    """Return the rows of a campaign in the order of their keys."""
    campaign = table.c.id if table is campaigns else table.c.campaign
    mine = sa.select(table).where(campaign == store.campaign).order_by(*table.primary_key)
    return [dict(row) for row in connection.execute(mine).mappings().fetchall()]
