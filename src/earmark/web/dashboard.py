"""What the dashboard shows: from a store and its newest estimate to plain values.

Nothing is estimated here and nothing is written. Where the settings hide the ranking until the end, ranking, pairs,
confidence and everything drawn from them are not part of what is returned: a page cannot leak what it never got.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from statistics import median
from typing import Any

import polars as pl

from earmark.campaign.statements import rounded
from earmark.campaign.stopping import Budget, Never, StopRule, parse_stop
from earmark.data.log import AnswerLog
from earmark.inference.confidence import Ranking
from earmark.plots.watching import guarantee_data
from earmark.store import overview
from earmark.store.folder import CampaignFolder
from earmark.store.overview import Estimate, Version
from earmark.store.store import from_moment
from earmark.web import working
from earmark.web.verdict import early_ranking, measure_of, read_ranking, shown_pairs, shown_ranking, shown_verdict

# A matrix of more systems is drawn and not sent.
_MOST_IN_MATRIX = 40
_MOST_QUERIES = 200


@dataclass(frozen=True, eq=False)
class Watched:
    """All that the dashboard is made of, as it was at one moment.

    Parameters
    ----------
    folder : CampaignFolder
        For its settings; nothing is read from its store any more.
    version : Version
    row : dict
        Of the campaign: state, reason and since when.
    log : AnswerLog
        Without the questions that were given out.
    estimate : Estimate or None
        The newest, None before the first.
    history : polars.DataFrame
        As from :func:`earmark.store.overview.history`.
    counts : dict
        As from :func:`earmark.store.overview.counts_of`.
    people : list of dict
        As from :func:`earmark.store.overview.assessors_seen`.
    now : datetime
    """

    folder: CampaignFolder
    version: Version
    row: dict[str, Any]
    log: AnswerLog
    estimate: Estimate | None
    history: pl.DataFrame
    counts: dict[str, int]
    people: list[dict[str, Any]]
    now: datetime

    @classmethod
    def read(cls, folder: CampaignFolder, log: AnswerLog, version: Version) -> Watched:
        """Read the tables of a store; the log was read before, as the longest of all."""
        store = folder.store
        return cls(
            folder,
            version,
            store.row,
            log,
            overview.newest_estimate(store),
            overview.history(store),
            overview.counts_of(store, per_item=folder.settings.judging.judgments_per_item),
            overview.assessors_seen(store),
            from_moment(store.clock()),
        )

    @property
    def kind(self) -> str:
        """What people are asked."""
        return self.folder.settings.kind

    @property
    def body(self) -> dict[str, Any]:
        """The newest estimate; empty before the first."""
        return {} if self.estimate is None else self.estimate.body

    @property
    def told(self) -> dict[str, Any]:
        """What is shown: statements that stay valid at any time, else those of one look where these may be seen."""
        live = self.body.get("live")
        return live if isinstance(live, dict) and live.get("systems") else self.body

    @property
    def anytime(self) -> bool:
        """Whether what is shown holds however often one looks."""
        live = self.body.get("live") or {}
        shown = self.told is not self.body or not self.body.get("systems")
        asked_for = self.kind == "grade" and self.folder.settings.estimates.anytime
        return bool(live.get("anytime") and shown) or asked_for

    @property
    def over(self) -> bool:
        """Whether the campaign has come to its end, so that looking changes nothing."""
        return self.row["state"] in ("stopped", "closed")

    @property
    def too_early(self) -> bool:
        """Whether intervals and confidences are left out: they would be valid for one look only, and nobody asked."""
        asked_for = self.folder.settings.pages.look_early
        return bool(self.body.get("systems")) and not (self.anytime or self.over or asked_for)

    @property
    def hidden(self) -> bool:
        """Whether the ranking is hidden until the campaign is closed."""
        return self.folder.settings.pages.hide_ranking and self.row["state"] != "closed"

    @property
    def level(self) -> float:
        """The probability that each interval holds."""
        return float(self.told.get("level") or self.folder.settings.estimates.level)

    @cached_property
    def ranking(self) -> Ranking | None:
        """The ranking that is shown, with its intervals; None where it is hidden, too early, or there is none."""
        return None if self.hidden or self.too_early else self._ranking(self.told)

    @cached_property
    def both(self) -> tuple[Ranking, Ranking] | None:
        """The estimates of the model and the guaranteed ones, both for one look or both at any time.

        None where they are hidden, too early, or there is only one of them.
        """
        if self.hidden or self.too_early:
            return None
        # Where verdicts are by design, the model stands beside them.
        by_sample = self.body.get("model")
        model, design = (by_sample, self.body) if by_sample else (self.body, self.body.get("design"))
        if not isinstance(model, dict) or not isinstance(design, dict):
            return None
        if self.anytime:
            # Both at any time: intervals of one look beside wider ones would look as if they were surer.
            model, design = ((one.get("live") or {}) for one in (model, design))
        rankings = self._ranking(model), self._ranking(design)
        return None if rankings[0] is None or rankings[1] is None else (rankings[0], rankings[1])

    def _ranking(self, told: dict[str, Any]) -> Ranking | None:
        measure = measure_of(self.kind, self.folder.settings.estimates.measure)
        judged = int(self.body.get("judged") or 0)
        return read_ranking(told, measure, level=self.level, items=self.counts["questions"], judged=judged)

    @cached_property
    def given(self) -> pl.DataFrame:
        """All answers that people gave."""
        return working.given_answers(self.log)

    @cached_property
    def seconds(self) -> dict[str, float]:
        """How long an answer takes in the middle, by assessor."""
        return working.median_seconds(self.given)

    @cached_property
    def looks(self) -> pl.DataFrame:
        """What the stop rule watched at every look: ``judged``, ``value``; mean confidence where it watches no number.

        Looks before the stop rule was changed are left out.
        """
        known = self.history.filter(pl.col("rule") == self.stop.name).drop_nulls("value")
        if known.height and not isinstance(self.stop, (Budget, Never)):
            return known.select("judged", "value")
        return self.history.select("judged", value="mean_confidence").drop_nulls()

    @cached_property
    def agreement(self) -> dict[str, dict[str, Any]]:
        """How far assessors agree with others, by assessor."""
        return working.agreement(self.log, self.kind, self.folder.rules.scale)

    @cached_property
    def stop(self) -> StopRule:
        """The stop rule."""
        return parse_stop(self.folder.settings.estimates.stop)


def state(watched: Watched) -> dict[str, Any]:
    """Return everything that the dashboard shows.

    Returns
    -------
    dict
        ``version``, ``time``, ``campaign``, ``counts``, ``pace``, ``assessors``, ``hidden``, ``estimated`` and
        ``failure``; and unless it is hidden ``verdict``, ``ranking``, ``pairs``, ``progress``, ``guarantee``,
        ``orders``, ``figures`` and ``notes``, each None or empty where there is none.
    """
    shown: dict[str, Any] = {
        "version": str(watched.version),
        "time": watched.now.isoformat(),
        "campaign": _campaign(watched),
        "counts": _counts(watched),
        "pace": _pace(watched),
        "assessors": _assessors(watched),
        "hidden": watched.hidden,
        "estimated": None if watched.estimate is None else watched.estimate.time.isoformat(),
        "failure": watched.row["failure"],
    }
    return shown if watched.hidden else shown | _results(watched)


def _campaign(watched: Watched) -> dict[str, Any]:
    settings, row = watched.folder.settings, watched.row
    # The reason of the stop rule states a confidence.
    reason = "" if watched.hidden and row["state"] == "stopped" else row["reason"] or ""
    return {
        "title": settings.pages.title or settings.name,
        "kind": settings.kind,
        "state": row["state"],
        "reason": reason,
        "since": from_moment(row["since"]).isoformat(),
        "stop": settings.estimates.stop,
        # Rankings by people compare no systems.
        "measure": None if settings.kind == "order" else str(measure_of(settings.kind, settings.estimates.measure)),
        "per_item": settings.judging.judgments_per_item,
    }


def _counts(watched: Watched) -> dict[str, Any]:
    log, counts = watched.log, watched.counts
    asked, judged = counts["questions"], counts["answered"]
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


def _pace(watched: Watched) -> dict[str, Any]:
    rejected = watched.log.rejected
    counting = watched.given.filter(~pl.col("assessor").is_in(list(rejected)).fill_null(False))
    shown = working.pace(counting, watched.now)
    medians = [seconds for assessor, seconds in watched.seconds.items() if assessor not in rejected]
    middle = median(medians) if medians else None
    return shown | {"median_seconds": middle, "end": _end(watched, shown["per_hour"])}


def _end(watched: Watched, per_hour: float | None) -> dict[str, Any]:
    """Return when the campaign may end: ``known`` tells whether the stop rule says so, or only that all is judged."""
    counts = _counts(watched)
    left = counts["questions"] - counts["judged"]
    settings = watched.folder.settings
    each = 1 if counts["budget_of_answers"] else settings.judging.judgments_per_item
    with_traps = 1.0 / (1.0 - settings.traps.rate)
    each_with_traps = each * with_traps
    if watched.row["state"] in ("stopped", "closed"):
        return {"how": "over", "likely": None, "all": None}
    if isinstance(watched.stop, (Budget, Never)):
        more: int | None = counts["remaining"]
        how = "exact"
    else:
        # How far the stop rule is away tells how sure the ranking is.
        found = None if watched.hidden else working.more_judgments(watched.history, watched.stop.name)
        more, how = None if found is None else rounded(found), "forecast"
    if more is not None and not counts["budget_of_answers"]:
        more = min(more, left)
    likely = working.expected_end(more, per_hour, answers_each=each_with_traps)
    return {
        "how": how if more is not None else "unknown",
        "more": more,
        "likely": likely,
        "all": working.expected_end(counts["missing"], per_hour, answers_each=with_traps),
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
        "precision": None if watched.too_early else body.get("precision") or None,
        "progress": _progress(watched),
        "guarantee": _guarantee(watched),
        "orders": _orders(body),
        "figures": figure_names(watched),
        "notes": [str(note) for note in body.get("notes") or ()],
    }
    if ranking is None:
        if watched.too_early:
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
    said: dict[str, Any] = {"headline": None, "summary": "", "neighbours": []}
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
        "basis": watched.told.get("basis"),
    }


def _progress(watched: Watched) -> dict[str, Any]:
    """Return what the stop rule watches: ``rule``, ``name``, ``value``, ``target`` and its last decision in words."""
    body = watched.body
    seen = body.get("progress") or {}
    return {
        "rule": str(watched.stop),
        "name": seen.get("name", watched.stop.name),
        "value": seen.get("value"),
        "target": seen.get("target"),
        "reason": body.get("reason") or "",
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
    visible = not watched.hidden
    precise = any(row.get("precision") is not None for row in watched.body.get("precision") or ())
    if visible and not watched.too_early and precise:
        names.append("precision")
    if visible and any(row.get("tau") is not None for row in watched.body.get("groups") or ()):
        names.append("orders")
    if watched.kind == "grade" and watched.agreement:
        names.append("assessors")
    return names
