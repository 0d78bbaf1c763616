"""Where a campaign stands: counts from the store, and what follows from the answers."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import sqlalchemy as sa

from earmark._version import __version__
from earmark.store.schema import assessors, assignments, estimates, invitations, people, questions
from earmark.store.store import Store, from_moment
from earmark.store.stored import AnyStored
from earmark.store.summaries import conclusion_of, summary_of
from earmark.store.tally import tally

__all__ = [
    "assessors_of",
    "change_notes",
    "clock_notes",
    "count_questions",
    "history_of",
    "shown_time",
    "status_of",
    "summary_of",
]


def status_of(campaign: AnyStored) -> dict[str, Any]:
    """Return where a campaign stands, by the names of ``earmark status``.

    Returns
    -------
    dict
        ``judged``, ``items``, ``answers``, ``assessors``, ``pending``, ``mean_confidence``, ``stop``, ``reason``,
        ``version``; and ``name``, ``kind``, ``state``, ``state_reason``, ``min_confidence``, ``said`` (the conclusion
        in a sentence, None before there is one), ``late``, ``rejected``, ``removed``, ``store``, ``notes``.
    """
    folder, log = campaign.folder, campaign.log
    store = folder.store
    row = store.row
    settings = folder.settings
    counts = tally(store, settings.kind, per_item=settings.judging.judgments_per_item)
    counts |= store.read(lambda connection: _links(connection, store.campaign))
    concluded = conclusion_of(campaign)
    return {
        "name": folder.settings.name,
        "kind": folder.settings.kind,
        "state": row["state"],
        "judged": counts["judged"],
        "items": counts["items"],
        "answers": log.position,
        **{name: counts[name] for name in ("removed", "pending", "assessors", "invited", "rejected", "open_links")},
        "late": log.of_kind("late").height,
        "mean_confidence": concluded.get("mean_confidence"),
        "min_confidence": concluded.get("min_confidence"),
        "stop": bool(concluded.get("stop", row["state"] in ("stopped", "closed"))),
        "reason": concluded.get("reason") or row["reason"] or "",
        "state_reason": row["reason"] or "",
        "said": concluded.get("said"),
        "version": __version__,
        "store": store.database.shown,
        "notes": [*clock_notes(log.frame), *change_notes(log.frame)],
    }


def count_questions(store: Store) -> int:
    """Return how many questions a campaign has, without those that left the collection."""
    table = questions.c
    count = sa.select(sa.func.count()).where(table.campaign == store.campaign, ~table.removed)
    return int(store.read(lambda connection: connection.execute(count).scalar()) or 0)


def assessors_of(store: Store) -> pl.DataFrame:
    """Return who answered or was invited: assessor, name, answers, traps, traps_right, pending and state."""
    who, names, given = assessors.c, people.c, assignments.c
    now = store.clock()
    out = (
        sa.select(sa.func.count())
        .where(
            given.campaign == who.campaign, given.assessor == who.assessor, given.state == "out", given.expires > now
        )
        .scalar_subquery()
    )
    known = sa.and_(names.campaign == who.campaign, names.assessor == who.assessor)
    query = (
        sa.select(who.assessor, names.name, who.answers, who.traps, who.traps_right, out.label("pending"), who.state)
        .select_from(assessors.outerjoin(people, known))
        .where(who.campaign == store.campaign)
        .order_by(who.answers.desc(), who.assessor)
    )
    rows = store.read(lambda connection: connection.execute(query).fetchall())
    numbers = dict.fromkeys(("answers", "traps", "traps_right", "pending"), pl.Int64)
    schema = {"assessor": pl.String, "name": pl.String, **numbers, "state": pl.String}
    return pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")


def _links(connection: sa.Connection, campaign: int) -> dict[str, int]:
    invited = sa.select(sa.func.count(people.c.assessor)).where(people.c.campaign == campaign)
    links = invitations.c
    working = sa.select(sa.func.count(links.token)).where(links.campaign == campaign, links.revoked.is_(None))
    return {
        "invited": int(connection.execute(invited).scalar() or 0),
        "open_links": int(connection.execute(working).scalar() or 0),
    }


def clock_notes(events: pl.DataFrame) -> list[str]:
    """Say where the clock was set back: the order of events is that of their numbers, whatever their times."""
    times = events["time"].drop_nulls()
    back = times.diff().dt.total_seconds()
    jumps = back.filter(back < -1)
    if not jumps.len():
        return []
    at = times.filter(back < -1)[0]
    return [
        f"the clock was set back {'once' if jumps.len() == 1 else f'{jumps.len()} times'}, first at {shown_time(at)} "
        "by that clock; the order of answers is not affected"
    ]


def change_notes(events: pl.DataFrame) -> list[str]:
    """Say what became of guarantees through runs that came late and systems, queries or documents that left."""
    added = events.filter(pl.col("kind") == "added").height
    left = events.filter(pl.col("kind").is_in(["removed", "restored"]))
    said = []
    if added:
        said.append(
            "runs were added after the start: guaranteed statements hold for looks since then, provided that the late "
            "systems were made without knowledge of the answers; looks before and after are separate statements"
        )
    if left.height:
        said.append(
            "the collection changed after the start: statements are about what is left, and a list that is now shorter "
            "than the measure looks counts as if nothing good followed (deeper runs avoid that); guarantees hold as "
            "long as nothing was removed because of its answers"
        )
    return said


def shown_time(time: Any) -> str:
    """Return a time in the time zone of this computer."""
    return str(time.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z"))


def history_of(campaign: AnyStored) -> pl.DataFrame:
    """Return how estimates became surer.

    Returns
    -------
    polars.DataFrame
        One row per estimate: ``time``, ``judged``, ``mean_confidence``, ``min_confidence``; and ``rule``, ``progress``,
        ``target``, the number that the stop rule watched and where it would have stopped. Null where there was none.
    """
    table, store = estimates.c, campaign.folder.store
    query = sa.select(table.time, table.judged, table.mean_confidence, table.min_confidence, table.body).where(
        table.campaign == store.campaign
    )
    rows = store.read(lambda connection: connection.execute(query.order_by(table.sequence)).fetchall())
    watched = [json.loads(row[4] or "{}").get("progress") or {} for row in rows]
    return pl.DataFrame(
        [
            (from_moment(row[0]), *row[1:4], seen.get("name"), seen.get("value"), seen.get("target"))
            for row, seen in zip(rows, watched, strict=True)
        ],
        schema={
            "time": pl.Datetime("us", "UTC"),
            "judged": pl.Int64,
            "mean_confidence": pl.Float64,
            "min_confidence": pl.Float64,
            "rule": pl.String,
            "progress": pl.Float64,
            "target": pl.Float64,
        },
        orient="row",
        strict=False,
    )
