"""Single answers as an organiser sees them: what was asked and said, by whom, how, and whether it counts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from earmark.data.log import SAME_SOUND
from earmark.data.scales import Scale, parse_scale
from earmark.store.overview import Item, answers_page, comments_about, last_about
from earmark.store.store import from_moment
from earmark.web.catalogue import words
from earmark.web.context import WebCampaign
from earmark.web.sessions import scale_json

_ONE_LIST, _OTHER_LIST = "one list", "the other list"


def shown_answers(campaign: WebCampaign, **which: Any) -> dict[str, Any]:
    """Return answers, the newest first, and what it takes to correct one.

    Parameters
    ----------
    campaign : WebCampaign
    **which
        As for :func:`earmark.store.overview.answers_page`.

    Returns
    -------
    dict
        ``answers``, ``total``, ``next`` (what to ask for the next page, None at the end), ``kind``, ``scale`` and
        ``also``, the second scale, each with the labels that assessors see.
    """
    rows, total = answers_page(campaign.store, **which)
    newest, comments = last_about(campaign.store, rows), comments_about(campaign.store, rows)
    folder = campaign.folder
    state, kind = campaign.store.row["state"], folder.settings.kind
    pages, judging = folder.settings.pages, folder.settings.judging
    shown = [_shown(row, newest, comments) for row in rows]
    if kind == "lists" and folder.settings.pages.hide_ranking and state != "closed":
        # Which system won each comparison is the ranking.
        shown = [row | {"document": _ONE_LIST, "other": _OTHER_LIST} for row in shown]
    return {
        "answers": shown,
        "total": total,
        "next": rows[-1]["sequence"] if len(rows) == which.get("limit", 50) else None,
        "kind": kind,
        "allow_same": judging.allow_same,
        "scale": _scale(folder.rules.scale, pages.labels, pages.language),
        "also": None if judging.also is None else _scale(parse_scale(judging.also), pages.also_labels, pages.language),
        "state": state,
    }


def _scale(scale: Scale, labels: tuple[str, ...], language: str) -> dict[str, Any]:
    """Return a scale with the labels that assessors see: the organiser's, else those of the pages."""
    told, known = scale_json(scale, labels), words(language, "judge")
    if told["levels"] is not None and not told["labels"]:
        own = [known.get(f"level_{scale.name}_{place}") for place in range(len(told["levels"]))]
        told["labels"] = own if all(own) else None
    return told


def _shown(row: dict[str, Any], newest: Mapping[Item, tuple[int, str]], comments: Mapping[Item, str]) -> dict[str, Any]:
    item = (row["assessor"], row["query"], row["document"], row["other"] or "")
    derived = (row["source"] or "").startswith(SAME_SOUND)
    status = _status(row, newest.get(item))
    return {
        **{name: row[name] for name in ("sequence", "assessor", "name", "query", "document", "other", "gain")},
        **{name: row[name] for name in ("choice", "strength", "sampled", "expected", "source")},
        "time": from_moment(row["time"]).isoformat(),
        "status": status,
        # What follows from an answer about the same sound is corrected there.
        "id": row["id"] if not derived and status in ("counts", "trap", "rejected") else None,
        "comment": comments.get(item),
        **_details(row["text"]),
    }


def _status(row: dict[str, Any], last: tuple[int, str] | None) -> str:
    if row["kind"] == "late":
        return "late"
    if last is not None and last[0] != row["sequence"]:
        return "withdrawn" if last[1] == "withdrawn" else "replaced"
    if row["expected"] is not None:
        return "trap"
    return "rejected" if row["counts"] is False else "counts"


def _details(text: str | None) -> dict[str, Any]:
    """Return how an answer came about: what the page noted, or a text, such as the reason of a correction."""
    try:
        told = json.loads(text) if text else None
    except ValueError:
        told = None
    return {"details": told, "text": None} if isinstance(told, dict) else {"details": None, "text": text}
