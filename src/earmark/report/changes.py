"""What changed while a campaign ran: settings, late runs, what left the collection, and whose answers do not count."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from earmark.campaign.campaign import Campaign
from earmark.data.log import AnswerLog, Kind

_KINDS: tuple[Kind, ...] = (
    "changed",
    "added",
    "removed",
    "restored",
    "rejected",
    "reinstated",
    "paused",
    "resumed",
    "stopped",
    "closed",
    "opened",
)
# What decides when one stops and what is stated, so that a choice made after a look may favour a result.
_CONCLUDING = ("estimates.stop", "estimates.margin", "estimates.inference", "estimates.target", "estimates.level")


@dataclass(frozen=True)
class Changes:
    """What changed while a campaign ran.

    Attributes
    ----------
    rows : tuple of (time, what happened)
        The time as a clock on the wall shows it; empty where it is not known.
    notes : tuple of str
        What that means for the verdict.
    """

    rows: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def changes_of(campaign: Campaign) -> Changes | None:
    """Return what changed while a campaign ran; None where nothing did."""
    return changes_in(campaign.log, stored=hasattr(campaign, "folder"))


def changes_in(log: AnswerLog, *, stored: bool = False) -> Changes | None:
    """Return what changed by the events of a log; None where nothing did.

    Parameters
    ----------
    log : AnswerLog
    stored : bool
        Of a stored campaign, about which more can be said.
    """
    events = log.of_kind(*_KINDS)
    if not events.height:
        return None
    rows = tuple((_shown(event["time"]), describe_event(event)) for event in events.iter_rows(named=True))
    notes = []
    if stored:
        # A stored campaign has the libraries of the store.
        from earmark.store.status import change_notes

        notes += change_notes(events)
    return Changes(rows, (*notes, *_more_notes(log, events)))


def _more_notes(log: AnswerLog, events: pl.DataFrame) -> list[str]:
    said = []
    settings = {_told(text).get("setting", text) for text in events.filter(pl.col("kind") == "changed")["text"]}
    if settings & set(_CONCLUDING):
        said.append(
            "the stop rule or another setting of the conclusions was changed during the campaign: unless statements "
            "hold at any time, their confidence is right only if the change did not depend on the results so far"
        )
    if log.rejected:
        said.append(
            "answers of rejected assessors do not count: that is harmless as long as they were rejected for how they "
            "answer, and not for which systems their answers favour"
        )
    return said


def describe_event(event: dict[str, Any]) -> str:
    """Say in words what an event changed."""
    kind, text = event["kind"], event["text"]
    why = f" ({text})" if text else ""
    if kind == "changed":
        told = _told(text)
        if "setting" not in told:
            return str(text)
        return f"{told['setting']} changed from {_value(told.get('from'))} to {_value(told.get('to'))}"
    if kind == "added":
        systems = _told(text).get("systems") or []
        return f"runs added: {', '.join(map(str, systems)) or 'no systems'} ({event['source']})"
    if kind in ("removed", "restored"):
        return f"{_what(event)} {'left the collection' if kind == 'removed' else 'came back'}{why}"
    if kind in ("rejected", "reinstated"):
        counts = "do not count" if kind == "rejected" else "count again"
        return f"the answers of {event['assessor']} {counts}{why}"
    return {
        "paused": "paused",
        "resumed": "resumed",
        "stopped": "stopped",
        "closed": "closed",
        "opened": "opened again",
    }[kind] + why


def _what(event: dict[str, Any]) -> str:
    system, query, document = event["system"], event["query"], event["document"]
    if system is not None:
        return f"the system {system}"
    if document is None:
        return f"the query {query}"
    return f"the document {document}" if query is None else f"the document {document} for the query {query}"


def _told(text: str | None) -> dict[str, Any]:
    try:
        told = json.loads(text or "")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _value(value: Any) -> str:
    if isinstance(value, dict) and "file" in value:
        return f"{value['file']} ({str(value.get('sha256', ''))[:12]})"
    return "nothing" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shown(time: datetime | None) -> str:
    return "" if time is None else time.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
