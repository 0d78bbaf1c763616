"""How far a campaign is: what is judged and what is left, how fast answers come, and when it may end."""

from __future__ import annotations

from statistics import median
from typing import Any

import polars as pl

from earmark.campaign.statements import rounded
from earmark.store.assessor_rows import UNCOUNTED
from earmark.web import working
from earmark.web.watched import Watched


def counts_of(watched: Watched) -> dict[str, Any]:
    """Return how much is judged, left and answered, and what was skipped, reported and said besides."""
    log, counts = watched.log, watched.counts
    judged, answers = counts["judged"], log.position
    # A budget of rankings or of comparisons of lists counts answers, any other counts questions.
    budget = watched.stop.budget
    return {
        **counts,
        "at_work": sum(person["out"] > 0 and person["state"] not in UNCOUNTED for person in watched.people),
        "budget": budget,
        "budget_of_answers": budget is not None and watched.kind in ("order", "lists"),
        "remaining": _remaining(watched, judged, budget),
        "answers": answers,
        "skipped": log.of_kind("skipped").height,
        "unplayable": log.of_kind("unplayable").height,
        "late": log.of_kind("late").height,
        "comments": log.of_kind("commented").height,
    }


def _remaining(watched: Watched, judged: int, budget: int | None) -> int:
    """Return how many answers are still to give until the budget is used up, or everything is answered."""
    counts, each = watched.counts, watched.folder.settings.judging.judgments_per_item
    missing = counts["missing"]
    if budget is None:
        return missing
    if watched.kind in ("order", "lists"):
        return min(max(budget - watched.log.position, 0), missing)
    if watched.kind == "prefer":
        # Answers that are spread over more pairs count as so many whole ones.
        given = counts["questions"] * each - missing
        return min(max(budget * each - given, 0), missing)
    return min(max(budget - judged, 0) * each, missing) if budget < counts["items"] else missing


def pace_of(watched: Watched) -> dict[str, Any]:
    """Return how fast answers come, how long one takes, and when the campaign may end."""
    rejected = watched.log.rejected
    counting = watched.given.filter(~pl.col("assessor").is_in(list(rejected)).fill_null(False))
    shown = working.pace(counting, watched.now)
    medians = [seconds for assessor, seconds in watched.seconds.items() if assessor not in rejected]
    middle = median(medians) if medians else None
    return shown | {"median_seconds": middle, "end": _end(watched, shown["per_hour"])}


def _end(watched: Watched, per_hour: float | None) -> dict[str, Any]:
    """Return when the campaign may end: ``how`` that is known, and how many answers it takes, ``more``.

    All numbers here are answers: one unit for what is left, for the pace and for the time that it takes.
    """
    counts, settings = counts_of(watched), watched.folder.settings
    with_traps = 1.0 / (1.0 - settings.traps.rate)
    if watched.over:
        return {"how": "over", "likely": None, "all": None}
    more: int | None
    if not counts["missing"]:
        # The campaign ends with the next estimate, or people are asked again where they disagree.
        return {"how": "complete", "more": 0, "likely": None, "all": None}
    if watched.counts_only:
        more, how = counts["remaining"], "exact"
    else:
        # How far the stop rule is away tells how sure the ranking is.
        found = None if watched.hidden else working.more_judgments(watched.history, watched.watched_rule)
        each = settings.judging.judgments_per_item
        more, how = None if found is None else min(rounded(found) * each, counts["missing"]), "forecast"
    likely = working.expected_end(more, per_hour, answers_each=with_traps)
    return {
        "how": how if more is not None else "unknown",
        "more": more,
        "likely": likely,
        "all": working.expected_end(counts["missing"], per_hour, answers_each=with_traps),
    }
