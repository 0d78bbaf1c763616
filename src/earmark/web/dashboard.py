"""What the dashboard shows: from a store and its newest estimate to plain values.

Nothing is estimated here and nothing is written. Where the settings hide the ranking until the end, ranking, pairs,
confidence and everything drawn from them are not part of what is returned: a page cannot leak what it never got.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from earmark.plots.watching import guarantee_data
from earmark.store.store import from_moment
from earmark.web.headway import counts_of, pace_of
from earmark.web.verdict import early_ranking, measure_of, read_basis, shown_pairs, shown_ranking, shown_verdict
from earmark.web.watched import Watched

# A matrix of more systems is drawn and not sent.
_MOST_IN_MATRIX = 40
_MOST_QUERIES = 200


def state(watched: Watched) -> dict[str, Any]:
    """Return everything that the dashboard shows.

    Returns
    -------
    dict
        ``version``, ``time``, ``campaign``, ``counts``, ``pace``, ``assessors``, ``hidden``, ``unjudged``,
        ``estimated``, ``included`` and ``failure``; and unless it is hidden ``verdict``, ``ranking``, ``pairs``,
        ``progress``, ``guarantee``, ``orders``, ``figures``, ``notes`` and ``ahead``, each None or empty where there is
        none.
    """
    shown: dict[str, Any] = {
        "version": str(watched.version),
        "time": watched.now.isoformat(),
        "campaign": _campaign(watched),
        "counts": counts_of(watched),
        "pace": pace_of(watched),
        "assessors": _assessors(watched),
        "hidden": watched.hidden,
        "unjudged": watched.unjudged,
        "estimated": None if watched.estimate is None else watched.estimate.time.isoformat(),
        "included": _included(watched),
        "failure": watched.row["failure"],
    }
    return shown if watched.hidden else shown | _results(watched)


def _included(watched: Watched) -> dict[str, Any] | None:
    """Return how many ``answers`` the newest estimate contains, and how many events that matter it is ``behind``."""
    if watched.estimate is None:
        return None
    return {"answers": watched.body.get("answers", 0), "behind": watched.behind}


def _campaign(watched: Watched) -> dict[str, Any]:
    settings, row = watched.folder.settings, watched.row
    reached = bool(watched.body.get("stop")) and not watched.unjudged
    # What the newest estimate says, not what it was when the campaign stopped.
    about_rule = row["state"] == "stopped" or (row["state"] == "open" and reached)
    reason = (watched.body.get("reason") if about_rule else None) or row["reason"] or ""
    # The reason of the stop rule states a confidence.
    if watched.hidden and about_rule:
        reason = ""
    return {
        "title": settings.pages.title or settings.name,
        "kind": settings.kind,
        "state": row["state"],
        "reason": reason,
        "since": from_moment(row["since"]).isoformat(),
        "stop": settings.estimates.stop,
        "reached": reached,
        # Rankings by people compare no systems.
        "measure": None if settings.kind == "order" else str(measure_of(settings.kind, settings.estimates.measure)),
        "per_item": settings.judging.judgments_per_item,
    }


def _assessors(watched: Watched) -> list[dict[str, Any]]:
    agreeing, seconds = watched.agreement, watched.seconds
    last = dict(watched.given.group_by("assessor").agg(pl.col("time").max()).iter_rows())
    rows = []
    for person in watched.people:
        who = person["assessor"]
        about = agreeing.get(who, {})
        when = last.get(who)
        rows.append(
            person
            | {
                "seconds": seconds.get(who),
                "agreement": about.get("agreement"),
                "shared": about.get("shared", 0),
                "bias": about.get("bias"),
                "last": None if when is None else when.isoformat(),
            }
        )
    return rows


# ---- results, which may be hidden ------------------------------------------------------------------------------------


def _results(watched: Watched) -> dict[str, Any]:
    ranking, body = watched.ranking, watched.body
    shown: dict[str, Any] = {
        "verdict": _verdict(watched),
        "ranking": None,
        "pairs": None,
        "precision": None if watched.too_early or watched.unjudged else body.get("precision") or None,
        "progress": _progress(watched),
        "guarantee": _guarantee(watched),
        "orders": _orders(body),
        "figures": figure_names(watched),
        # Before the first judgment, notes are about intervals that are not shown.
        "notes": [] if watched.unjudged else [str(note) for note in body.get("notes") or ()],
        "ahead": None if watched.ahead is None else {name: watched.ahead[name] for name in ("judged", "said")},
    }
    if ranking is None:
        if watched.too_early and not watched.unjudged:
            shown["ranking"] = {"rows": early_ranking(body["systems"]), "level": None}
        return shown
    rows = shown_ranking(ranking)
    shown["ranking"] = {"rows": rows, "level": ranking.level}
    if 2 < len(rows) <= _MOST_IN_MATRIX:
        shown["pairs"] = shown_pairs(ranking)
    return shown


def _verdict(watched: Watched) -> dict[str, Any] | None:
    """Return the verdict in words, and whether it holds however often one looks."""
    body, ranking = watched.body, watched.ranking
    if watched.unjudged:
        return None
    said: dict[str, Any] = {"headline": None, "premises": [], "summary": "", "neighbours": []}
    if ranking is not None:
        said |= shown_verdict(ranking)
    # What the estimate says itself is about one look, but for kinds whose statements always hold at any time.
    if body.get("said") and not watched.too_early and (ranking is None or watched.kind == "lists"):
        said["headline"] = body["said"]
    if said["headline"] is None and not watched.too_early:
        return None
    live = body.get("live") or {}
    begins = live.get("anytime_from")
    return said | {
        "early": watched.too_early,
        "anytime": watched.anytime,
        # From how many judgments on statements hold at any time, where that is still to come.
        "anytime_from": begins if not watched.anytime and begins else None,
        "basis": read_basis(watched.told.get("basis")),
    }


def _progress(watched: Watched) -> dict[str, Any]:
    """Return what the stop rule watches: ``rule``, ``name``, ``value``, ``target`` and its last decision in words.

    ``anytime`` tells whether the value holds however often one looks, as what stands beside it may.
    """
    body = watched.body
    seen = body.get("progress") or {}
    counting = watched.counts_only
    return {
        "rule": str(watched.stop),
        "name": seen.get("name", watched.watched_rule),
        # What the prior is sure of is no progress.
        "value": None if watched.unjudged and not counting else seen.get("value"),
        "target": seen.get("target"),
        "anytime": watched.watched_at_any_time,
        "reason": "" if watched.unjudged and not counting else body.get("reason") or "",
        "stop": bool(body.get("stop")),
    }


def _guarantee(watched: Watched) -> dict[str, Any] | None:
    if watched.both is None:
        return None
    rows = guarantee_data(*(one.systems_frame() for one in watched.both)).to_dicts()
    told = watched.body.get("design") or {}
    return {"rows": rows, "said": watched.body.get("audit"), "sampled": told.get("sampled"), "basis": told.get("basis")}


def _orders(body: dict[str, Any]) -> dict[str, Any] | None:
    """Return what rankings of people say: the groups of every query and how far they agree."""
    groups = body.get("groups")
    return (
        None
        if not groups
        else {"groups": groups[:_MOST_QUERIES], "all": len(groups), "agreement": body.get("agreement")}
    )


def figure_names(watched: Watched) -> list[str]:
    """Return which pictures there are."""
    names = []
    if watched.ranking is not None:
        names.append("ranking")
        if len(watched.ranking.estimates.systems) > 2:
            names.append("pairs")
    if not watched.hidden and watched.looks.height:
        names.append("confidence")
    if watched.both is not None:
        names.append("guarantee")
    if watched.ahead is not None:
        names.append("forecast")
    visible = not watched.hidden
    precise = any(row.get("precision") is not None for row in watched.body.get("precision") or ())
    if visible and not (watched.too_early or watched.unjudged) and precise:
        names.append("precision")
    if visible and any(row.get("tau") is not None for row in watched.body.get("groups") or ()):
        names.append("orders")
    if watched.kind == "grade" and watched.agreement:
        names.append("assessors")
    return names
