"""What happened besides answers, as an organiser reads it: changes, ended links, and what people reported and said.

The log knows pseudonyms only. Names are put in their place here, where they are shown, and nowhere else.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from earmark.report.changes import describe_event
from earmark.store.schema import invitations
from earmark.store.store import Store, from_moment
from earmark.web.watched import Watched

_CHANGES: Any = (
    *("changed", "added", "removed", "restored", "rejected", "reinstated", "paused", "resumed", "stopped", "closed"),
    *("opened", "withdrawn", "erased", "imported"),
)
_REPORTS: Any = ("unplayable", "skipped", "commented")
_MOST = 200


def names_of(watched: Watched) -> dict[str, str]:
    """Return what people are called, by pseudonym; who has no name is left out."""
    return {person["assessor"]: person["name"] for person in watched.people if person["name"]}


# ---- changes ---------------------------------------------------------------------------------------------------------


def shown_changes(watched: Watched, store: Store) -> list[dict[str, Any]]:
    """Return what changed during a campaign, the newest first: ``time``, ``kind`` and ``text``."""
    names = names_of(watched)
    rows = _ended_links(store, names)
    for event in watched.log.of_kind(*_CHANGES).reverse().head(_MOST).iter_rows(named=True):
        if watched.hidden and event["kind"] == "stopped":
            # The stop rule's reason states a confidence.
            event["text"] = None
        event["assessor"] = names.get(event["assessor"], event["assessor"])
        # Which two systems were compared is part of a ranking that is hidden.
        about = event["query"] if watched.kind == "lists" else _item(event)
        rows.append({"time": event["time"].isoformat(), "kind": event["kind"], "text": _described(event, about)})
    return sorted(rows, key=lambda row: row["time"], reverse=True)[:_MOST]


def _described(event: dict[str, Any], about: str | None) -> str:
    who, why = event["assessor"], f" ({event['text']})" if event["text"] else ""
    if event["kind"] in ("paused", "resumed") and who is not None:
        return f"{who} was {event['kind']}{why}"
    if event["kind"] == "withdrawn":
        if event["source"] is None and about is not None:
            # Assessors take back their own answers and give no source.
            return f"{who} undid an answer about {about}{why}"
        return f"the organiser withdrew an answer of {who} about {about or 'everything'}{why}"
    if event["kind"] == "erased":
        return f"the identity of {who} was erased"
    if event["kind"] == "imported":
        return f"answers were imported from {event['source']}"
    return describe_event(event)


def _item(event: dict[str, Any]) -> str | None:
    parts = [event["query"], event["document"], event["other"]]
    return ", ".join(part for part in parts if part) or None


def _ended_links(store: Store, names: dict[str, str]) -> list[dict[str, Any]]:
    """Return the links of assessors that were ended; they are no part of the log."""
    link = invitations.c
    mine = sa.and_(link.campaign == store.campaign, link.revoked.is_not(None), link.role != "organiser")
    query = sa.select(link.assessor, link.revoked, link.seats).where(mine).order_by(link.revoked.desc()).limit(_MOST)
    rows = store.read(lambda connection: connection.execute(query).fetchall())
    return [
        {
            "time": from_moment(row.revoked).isoformat(),
            "kind": "ended",
            "text": f"an open link for {row.seats} people was ended"
            if row.assessor is None
            else f"a link of {names.get(row.assessor, row.assessor)} was ended",
        }
        for row in rows
    ]


# ---- reports ---------------------------------------------------------------------------------------------------------


def shown_reports(watched: Watched) -> dict[str, Any]:
    """Return what people reported and said, the newest first, and how many of each kind there are.

    Returns
    -------
    dict
        ``reports``: ``time``, ``kind`` (unplayable, skipped or commented), ``assessor``, ``name``, ``query``,
        ``document`` (what does not play, or what was asked about), ``is_query`` and ``text``; and ``counts``.
    """
    names = names_of(watched)
    found = watched.log.of_kind(*_REPORTS)
    rows = [
        _reported(event, watched.kind) | {"name": names.get(event["assessor"])}
        for event in found.reverse().head(_MOST).iter_rows(named=True)
    ]
    return {"reports": rows, "counts": dict(found["kind"].value_counts().iter_rows())}


def _reported(event: dict[str, Any], kind: str) -> dict[str, Any]:
    text, part = event["text"] or "", None
    if event["kind"] == "unplayable":
        # Noted as "document: it crackles".
        part, _, text = text.partition(":")
    # Of orders and lists, a question is about many documents, and the one that does not play was named.
    of_question = None if kind in ("order", "lists") else event["document"]
    named = {"query": event["query"], "other": event["other"]}.get(part or "", of_question)
    if part in ("document", "other") and event["choice"]:
        named = event["choice"]
    if part is None and kind == "prefer" and event["other"]:
        named = f"{event['document']}, {event['other']}"
    return {
        "time": event["time"].isoformat(),
        "kind": event["kind"],
        "assessor": event["assessor"],
        "query": event["query"],
        "document": named,
        "is_query": part == "query",
        "text": text.strip(),
    }
