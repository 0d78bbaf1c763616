"""How far a campaign is: what is judged and what is left, how fast answers come, and when it may end."""

from __future__ import annotations

from statistics import median
from typing import Any

import polars as pl

from earmark.campaign.statements import rounded
from earmark.campaign.stopping import Budget, Never
from earmark.web import working
from earmark.web.watched import Watched


def judged_of(watched: Watched) -> int:
    """Return how many questions are judged, by the same rule as the campaign's stop rule counts.

    A grade is a judgment. Of the other kinds, a question is judged when as many people have answered it as are asked;
    of pairs, answers that are spread over more pairs count as so many whole ones.
    """
    counts, each = watched.counts, watched.folder.settings.judging.judgments_per_item
    if watched.kind == "grade":
        return counts["answered"]
    if watched.kind == "prefer":
        return (counts["questions"] * each - counts["missing"]) // each
    return counts["complete"]


def counts_of(watched: Watched) -> dict[str, Any]:
    """Return how much is judged, left and answered, and what was skipped, reported and said besides."""
    log, counts = watched.log, watched.counts
    asked, judged = counts["questions"], judged_of(watched)
    answers = log.position
    # A budget of rankings or of comparisons of lists counts answers, any other counts questions.
    budget = watched.stop.judgments if isinstance(watched.stop, Budget) else None
    in_answers = budget is not None and watched.kind in ("order", "lists")
    until = asked if budget is None or in_answers else min(budget, asked)
    remaining = max(until - judged, 0)
    if budget is not None and in_answers:
        remaining = max(budget - answers, 0) if judged < asked else 0
    return {
        **counts,
        "judged": judged,
        "budget": budget,
        "budget_of_answers": in_answers,
        "remaining": remaining,
        "answers": answers,
        "skipped": log.of_kind("skipped").height,
        "unplayable": log.of_kind("unplayable").height,
        "late": log.of_kind("late").height,
        "comments": log.of_kind("commented").height,
    }


def pace_of(watched: Watched) -> dict[str, Any]:
    """Return how fast answers come, how long one takes, and when the campaign may end."""
    rejected = watched.log.rejected
    counting = watched.given.filter(~pl.col("assessor").is_in(list(rejected)).fill_null(False))
    shown = working.pace(counting, watched.now)
    medians = [seconds for assessor, seconds in watched.seconds.items() if assessor not in rejected]
    middle = median(medians) if medians else None
    return shown | {"median_seconds": middle, "end": _end(watched, shown["per_hour"])}


def _end(watched: Watched, per_hour: float | None) -> dict[str, Any]:
    """Return when the campaign may end: ``known`` tells whether the stop rule says so, or only that all is judged."""
    counts = counts_of(watched)
    left = counts["questions"] - counts["judged"]
    settings = watched.folder.settings
    each = 1 if counts["budget_of_answers"] else settings.judging.judgments_per_item
    with_traps = 1.0 / (1.0 - settings.traps.rate)
    each_with_traps = each * with_traps
    if watched.row["state"] in ("stopped", "closed"):
        return {"how": "over", "likely": None, "all": None}
    more: int | None
    if isinstance(watched.stop, Never):
        # Questions that some have answered already need fewer answers than the others.
        more, how, each_with_traps = counts["missing"], "exact", with_traps
    elif isinstance(watched.stop, Budget):
        more, how = counts["remaining"], "exact"
        more = more if counts["budget_of_answers"] else min(more, left)
    else:
        # How far the stop rule is away tells how sure the ranking is.
        found = None if watched.hidden else working.more_judgments(watched.history, watched.stop.name)
        more, how = None if found is None else min(rounded(found), left), "forecast"
    likely = working.expected_end(more, per_hour, answers_each=each_with_traps)
    return {
        "how": how if more is not None else "unknown",
        "more": more,
        "likely": likely,
        "all": working.expected_end(counts["missing"], per_hour, answers_each=with_traps),
    }
