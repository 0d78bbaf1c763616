"""How people work: how fast answers come, how long one takes, and how far people agree with each other.

All of it follows from the log, and none of it from what systems the answers favour: an organiser may watch it at any
time and act on it.
"""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scipy import special

from earmark.data.arrays import Floats
from earmark.data.log import AnswerLog
from earmark.data.scales import Scale
from earmark.report.assessors import assessor_table

WINDOW = timedelta(hours=1)
"""How far back one looks to say how fast answers come."""

_SHORTEST = timedelta(minutes=5)
# Whoever takes longer between two answers was away.
_PAUSE = 600.0
_HOURS_SHOWN = 24
_ITEM = ["query", "document", "other"]


def given_answers(log: AnswerLog) -> pl.DataFrame:
    """Return all answers that people gave, traps and late ones among them, without those that follow from others."""
    derived = pl.col("source").is_not_null()
    return log.of_kind("answered", "late").filter(~derived)


def pace(given: pl.DataFrame, now: datetime) -> dict[str, Any]:
    """Return how fast answers come.

    Parameters
    ----------
    given : polars.DataFrame
        As from :func:`given_answers`.
    now : datetime

    Returns
    -------
    dict
        ``per_hour`` (over the last hour, or since the first answer; None before it), ``last_hour``, ``first``,
        ``last`` (times), and ``hours``: the answers of each of the last 24 hours, the oldest first.
    """
    times = given["time"].drop_nulls()
    if not times.len():
        return {"per_hour": None, "last_hour": 0, "first": None, "last": None, "hours": []}
    # A clock that was set back must not make a negative time.
    first, last = (_time(times.min()), _time(times.max()))
    now = max(now, last)
    recent = int((times > now - WINDOW).sum())
    window = min(max(now - first, _SHORTEST), WINDOW)
    ago = ((now - times).dt.total_seconds() // 3600).cast(pl.Int64)
    counts = dict(ago.filter(ago < _HOURS_SHOWN).value_counts().iter_rows())
    oldest = max(counts, default=0)
    return {
        "per_hour": recent / (window / timedelta(hours=1)),
        "last_hour": recent,
        "first": first.isoformat(),
        "last": last.isoformat(),
        "hours": [counts.get(hour, 0) for hour in range(oldest, -1, -1)],
    }


def _time(value: Any) -> datetime:
    assert isinstance(value, datetime)
    return value


def rough(hours: float) -> float:
    """Round a time so that it claims no more than is known: 2.3 hours are 2, 37 are 40."""
    if hours <= 0:
        return 0.0
    if hours < 1:
        return math.ceil(hours * 4) / 4
    step = 10 ** math.floor(math.log10(hours))
    return float(math.ceil(hours / step - 0.05) * step)


def expected_end(more: int | None, per_hour: float | None, *, answers_each: float = 1.0) -> dict[str, Any] | None:
    """Return how long so many more judgments take at this pace, roughly; None where nothing can be said.

    Parameters
    ----------
    more : int or None
        Judgments that are still needed.
    per_hour : float or None
        Answers in an hour.
    answers_each : float
        How many answers a judgment takes, traps among them.
    """
    if more is None or not per_hour:
        return None
    hours = more * answers_each / per_hour
    return {"judgments": more, "hours": rough(hours)}


_FEWEST_LOOKS = 4


def more_judgments(history: pl.DataFrame, rule: str) -> int | None:
    """Return how many more judgments it takes until the stop rule is reached if things go on as they did so far.

    The number that the rule watches is put on a scale on which it grows about linearly with judgments: confidence as
    a quantile of the normal distribution, a width as the inverse of its square. A line through the later half of the
    looks is followed to the target. None where there are too few looks, or there is no approach to the target.

    Parameters
    ----------
    history : polars.DataFrame
        As from :func:`earmark.store.overview.history`.
    rule : str
        The name of the stop rule now; looks at another one are left out.
    """
    known = history.filter(pl.col("rule") == rule).drop_nulls(["value", "target"]).sort("judged")
    known = known.filter(pl.col("target") == pl.col("target").last())
    known = known.filter(pl.col("judged") >= pl.col("judged").max() / 2)
    if known.height < _FEWEST_LOOKS:
        return None
    judged = known["judged"].to_numpy().astype(np.float64)
    value, goal = _straight(rule, known["value"].to_numpy()), _straight(rule, known["target"].to_numpy()[-1:])[0]
    if not np.isfinite(value).all() or np.ptp(judged) == 0:
        return None
    slope, start = np.polyfit(judged, value, 1)
    if slope <= 0:
        return None
    return max(math.ceil(float((goal - (start + slope * judged[-1])) / slope)), 1)


def _straight(rule: str, value: Floats) -> Floats:
    """Put what a rule watches on a scale on which it grows about linearly with judgments."""
    if rule in ("mean", "min", "top"):
        return special.ndtri(np.clip(value, 1e-6, 1 - 1e-6))
    return 1.0 / np.maximum(value, 1e-9) ** 2 if rule == "width" else value


# ---- people ----------------------------------------------------------------------------------------------------------


def median_seconds(given: pl.DataFrame) -> dict[str, float]:
    """Return how long an answer of every assessor takes, in the middle.

    What the page measured counts; where an answer came from elsewhere, the time since the assessor's answer before it,
    unless that is a pause.
    """
    if not given.height:
        return {}
    measured = pl.col("text").str.json_path_match("$.seconds").cast(pl.Float64, strict=False)
    between = pl.col("time").diff().over("assessor").dt.total_milliseconds() / 1000
    between = pl.when((between > 0) & (between <= _PAUSE)).then(between)
    seconds = (
        given.filter(pl.col("assessor").is_not_null())
        .sort("time", maintain_order=True)
        .with_columns(seconds=pl.coalesce(measured, between))
        .group_by("assessor")
        .agg(pl.col("seconds").median())
        .drop_nulls()
    )
    return dict(seconds.iter_rows())


def agreement(log: AnswerLog, kind: str, scale: Scale) -> dict[str, dict[str, Any]]:
    """Return how far every assessor agrees with the others: ``agreement`` (0..1), ``shared`` and, for grades, ``bias``.

    For grades, the share of the others' judgments of the same items at the same level; for choices, of the others'
    choices that are the same; for rankings, of pairs of documents that are in the same order.
    """
    if kind == "grade":
        judgments = log.judgments(scale)
        table = None if judgments is None else assessor_table(judgments)
        rows = [] if table is None else table.to_dicts()
        return {
            row["assessor"]: {name: row[name] for name in ("agreement", "shared", "bias")}
            for row in rows
            if row["shared"]
        }
    chosen = log.answers.filter(pl.col("choice").is_not_null(), pl.col("assessor").is_not_null())
    return _of_orders(chosen) if kind == "order" else _of_choices(chosen)


def _of_choices(chosen: pl.DataFrame) -> dict[str, dict[str, Any]]:
    others, alike = pl.len().over(_ITEM) - 1, pl.len().over(*_ITEM, "choice") - 1
    table = (
        chosen.with_columns(others=others, alike=alike)
        .filter(pl.col("others") > 0)
        .group_by("assessor")
        .agg((pl.col("alike") / pl.col("others")).mean().alias("agreement"), pl.len().alias("shared"))
    )
    return {row["assessor"]: {"agreement": row["agreement"], "shared": row["shared"]} for row in table.to_dicts()}


def _of_orders(chosen: pl.DataFrame) -> dict[str, dict[str, Any]]:
    by_query: dict[str, list[tuple[str, list[str]]]] = {}
    for query, assessor, choice in chosen.select("query", "assessor", "choice").iter_rows():
        by_query.setdefault(query, []).append((assessor, json.loads(choice)["order"]))
    same: dict[str, list[float]] = {}
    for rankings in by_query.values():
        for (one, first), (other, second) in combinations(rankings, 2):
            share = _same_order(first, second)
            if share is not None:
                for assessor in (one, other):
                    same.setdefault(assessor, []).append(share)
    return {
        assessor: {"agreement": sum(shares) / len(shares), "shared": len(shares)} for assessor, shares in same.items()
    }


def _same_order(first: list[str], second: list[str]) -> float | None:
    """Return the share of pairs of documents that two rankings order alike; None where they share no pair."""
    place = {document: index for index, document in enumerate(second)}
    shared = [place[document] for document in first if document in place]
    pairs = list(combinations(shared, 2))
    return sum(one < other for one, other in pairs) / len(pairs) if pairs else None
