"""What an organiser looks at: counts, people, links and single answers, read from the tables of a store.

Everything here reads and nothing computes an estimate, so a page may ask as often as it likes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zlib import crc32

import polars as pl
import sqlalchemy as sa

from earmark.store.schema import assessors, assignments, campaigns, estimates, events, invitations, people
from earmark.store.store import Store, from_moment

MOST_ROWS = 200
"""The most answers of one page."""


@dataclass(frozen=True)
class Estimate:
    """The newest estimate that the worker kept.

    Attributes
    ----------
    sequence : int
        The last event that it counts.
    time : datetime
        When it was made, UTC.
    body : dict
        As :func:`earmark.store.status.summary_of` returns it.
    """

    sequence: int
    time: datetime
    body: dict[str, Any]


@dataclass(frozen=True)
class Version:
    """What a page about a campaign depends on; equal where nothing has changed.

    Attributes
    ----------
    sequence : int
        The last event.
    estimate : int
        When the newest estimate was made, in microseconds since 1970; 0 before the first.
    state : str
        Of the campaign.
    invited : int
        How many links were made or revoked.
    failure : str
        Why there are no new estimates, empty where there are.
    """

    sequence: int
    estimate: int
    state: str
    invited: int
    failure: str = ""

    def __str__(self) -> str:
        told = f"{self.sequence}.{self.estimate}.{self.state}.{self.invited}"
        return f"{told}.{crc32(self.failure.encode()):08x}" if self.failure else told


def version_of(store: Store) -> Version:
    """Return what a page depends on, by a few short reads."""
    row, made, link = campaigns.c, estimates.c, invitations.c
    newest = sa.select(sa.func.max(made.time)).where(made.campaign == store.campaign).scalar_subquery()
    # A link that is revoked counts twice, so that either changes the number.
    links = (
        sa.select(sa.func.count(link.token) + sa.func.count(link.revoked) + sa.func.coalesce(sa.func.sum(link.used), 0))
        .where(link.campaign == store.campaign)
        .scalar_subquery()
    )
    query = sa.select(row.next_sequence, row.state, newest, links, row.failure).where(row.id == store.campaign)
    sequence, state, time, invited, failure = store.read(lambda connection: connection.execute(query).one())
    return Version(int(sequence) - 1, int(time or 0), str(state), int(invited or 0), failure or "")


def newest_estimate(store: Store) -> Estimate | None:
    """Return the newest estimate; None before the first."""
    table = estimates.c
    query = sa.select(table.sequence, table.time, table.body).where(
        table.campaign == store.campaign, table.body.is_not(None)
    )
    newest = query.order_by(table.sequence.desc()).limit(1)
    row = store.read(lambda connection: connection.execute(newest).first())
    return None if row is None else Estimate(int(row.sequence), from_moment(row.time), json.loads(row.body))


def history(store: Store) -> pl.DataFrame:
    """Return how estimates became surer, one row per number of judgments.

    Returns
    -------
    polars.DataFrame
        ``judged``, ``mean_confidence``, ``min_confidence``, and ``rule``, ``value``, ``target``: the number that the
        stop rule watched and where it would have stopped; null where there was none.
    """
    table = estimates.c
    columns = (table.judged, table.mean_confidence, table.min_confidence, table.body)
    query = sa.select(*columns).where(table.campaign == store.campaign).order_by(table.sequence)
    rows = store.read(lambda connection: connection.execute(query).fetchall())
    seen = [json.loads(row[3] or "{}").get("progress") or {} for row in rows]
    schema: dict[str, Any] = {"judged": pl.Int64, "mean_confidence": pl.Float64, "min_confidence": pl.Float64}
    schema |= {"rule": pl.String, "value": pl.Float64, "target": pl.Float64}
    told = [
        (*row[:3], one.get("name"), _float(one.get("value")), _float(one.get("target")))
        for row, one in zip(rows, seen, strict=True)
    ]
    return pl.DataFrame(told, schema=schema, orient="row").unique("judged", keep="last", maintain_order=True)


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


# ---- people ----------------------------------------------------------------------------------------------------------


def assessors_seen(store: Store) -> list[dict[str, Any]]:
    """Return everybody who was invited or has answered, the busiest first.

    Returns
    -------
    list of dict
        ``assessor``, ``name``, ``platform``, ``state``, ``answers``, ``traps``, ``traps_right``, ``out``, ``link``
        (whether a link of theirs works), ``erased`` and ``joined``.
    """
    who, names, given, link = assessors.c, people.c, assignments.c, invitations.c
    same = sa.and_(given.campaign == who.campaign, given.assessor == who.assessor)
    out = (
        sa.select(sa.func.count())
        .where(same, given.state == "out", given.expires > store.clock())
        .correlate(assessors)
        .scalar_subquery()
    )
    works = (
        sa.select(sa.func.count())
        .where(link.campaign == who.campaign, link.assessor == who.assessor, link.revoked.is_(None))
        .correlate(assessors)
        .scalar_subquery()
    )
    known = sa.and_(names.campaign == who.campaign, names.assessor == who.assessor)
    query = (
        sa.select(
            *(who.assessor, names.name, names.platform, who.state, who.answers, who.traps, who.traps_right),
            *(out.label("out"), works.label("link"), names.erased, names.created.label("joined")),
        )
        .select_from(assessors.outerjoin(people, known))
        .where(who.campaign == store.campaign)
        .order_by(who.answers.desc(), names.created, who.assessor)
    )
    rows = store.read(lambda connection: connection.execute(query).mappings().fetchall())
    return [
        dict(row) | {"link": bool(row["link"]), "erased": row["erased"] is not None, "joined": _shown(row["joined"])}
        for row in rows
    ]


def open_links(store: Store) -> list[dict[str, Any]]:
    """Return the links that several people may use: ``id`` (the start of the hash), ``role``, ``seats``, ``used``."""
    link = invitations.c
    mine = sa.and_(link.campaign == store.campaign, link.assessor.is_(None), link.role != "organiser")
    query = sa.select(link.token, link.role, link.seats, link.used, link.created, link.revoked).where(mine)
    rows = store.read(lambda connection: connection.execute(query.order_by(link.created.desc())).fetchall())
    return [
        {
            "id": row.token[:16],
            "role": row.role,
            "seats": row.seats,
            "used": row.used,
            "created": _shown(row.created),
            "revoked": row.revoked is not None,
        }
        for row in rows
    ]


def _shown(moment: int | None) -> str | None:
    return None if moment is None else from_moment(moment).isoformat()


# ---- single answers --------------------------------------------------------------------------------------------------


def answers_page(
    store: Store,
    *,
    assessor: str | None = None,
    query: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> tuple[list[dict[str, Any]], int]:
    """Return answers, the newest first, and how many there are in all.

    Parameters
    ----------
    store : Store
    assessor : str, optional
        The pseudonym.
    query : str, optional
        Ids of queries that contain this.
    before : int, optional
        Only answers with a smaller sequence number, for the next page.
    limit : int

    Returns
    -------
    rows : list of dict
        The columns of the log, ``name``, and ``id`` and ``state`` of the assignment, None where there is none.
    total : int
        Without regard to `before` and `limit`.
    """
    table, given, names = events.c, assignments.c, people.c
    mine = [table.campaign == store.campaign, table.kind.in_(("answered", "late"))]
    if assessor:
        mine.append(table.assessor == assessor)
    if query:
        mine.append(table.query.contains(query, autoescape=True))
    count = sa.select(sa.func.count()).select_from(events).where(*mine)
    # The answer to a trap belongs to the assignment that expects the same.
    about = sa.and_(
        *(given.campaign == table.campaign, given.assessor == table.assessor, given.query == table.query),
        *(given.document == table.document, given.other == sa.func.coalesce(table.other, "")),
        sa.func.coalesce(given.expected, "") == sa.func.coalesce(table.expected, ""),
    )
    known = sa.and_(names.campaign == table.campaign, names.assessor == table.assessor)
    columns = (
        *(table.sequence, table.kind, table.time, table.assessor, table.query, table.document, table.other),
        *(table.gain, table.choice, table.strength, table.sampled, table.expected, table.source, table.text),
    )
    rows = (
        sa.select(*columns, names.name, given.id, given.state, given.counts)
        .select_from(events.outerjoin(assignments, about).outerjoin(people, known))
        .where(*mine, *([table.sequence < before] if before is not None else []))
        .order_by(table.sequence.desc())
        .limit(min(max(limit, 1), MOST_ROWS))
    )

    def read(connection: sa.Connection) -> tuple[list[dict[str, Any]], int]:
        found = [dict(row) for row in connection.execute(rows).mappings()]
        return found, int(connection.execute(count).scalar() or 0)

    return store.read(read)


Item = tuple[str, str, str, str]
"""Assessor, query, document and other."""


def last_about(store: Store, rows: Sequence[Mapping[str, Any]]) -> dict[Item, tuple[int, str]]:
    """Return number and kind of what last happened to answers, by item: the newest answer, or its withdrawal.

    Parameters
    ----------
    store : Store
    rows : sequence of mapping
        Answers, as from :func:`answers_page`.
    """
    found = _about(store, rows, ("answered", "withdrawn"), events.c.sequence, events.c.kind)
    return {item: (int(sequence), str(kind)) for item, sequence, kind in found}


def comments_about(store: Store, rows: Sequence[Mapping[str, Any]]) -> dict[Item, str]:
    """Return the newest comment of the assessors of some answers about the same items."""
    return {item: str(text) for item, text in _about(store, rows, ("commented",), events.c.text)}


def _about(
    store: Store, rows: Sequence[Mapping[str, Any]], kinds: tuple[str, ...], *columns: sa.Column[Any]
) -> list[tuple[Any, ...]]:
    """Return events of some kinds by the assessors, and about the queries, of some answers, in order."""
    table = events.c
    mine = sa.and_(
        table.campaign == store.campaign,
        table.kind.in_(kinds),
        table.assessor.in_({row["assessor"] for row in rows}),
        table.query.in_({row["query"] for row in rows}),
    )
    query = sa.select(table.assessor, table.query, table.document, table.other, *columns).where(mine)
    if not rows:
        return []
    found = store.read(lambda connection: connection.execute(query.order_by(table.sequence)).fetchall())
    return [((row[0], row[1], row[2], row[3] or ""), *row[4:]) for row in found]
