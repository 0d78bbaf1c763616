"""The training before the first question: questions whose usual answer is told afterwards.

An organiser may write it: a table of judgments for grades and orders, of choices for pairs and lists. Without one, a
sound stands beside itself, which is as similar as can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from earmark.media.manifest import Manifest, ServedMedium
from earmark.store.sounds import is_own_document
from earmark.web.context import WebCampaign
from earmark.web.shown import SIDES, Shown, digest, question_json

_OTHERS = {"grade": 0, "prefer": 1, "order": 2, "lists": 2}
"""How many documents besides the query an exercise has that nobody wrote, by kind."""


@dataclass(frozen=True)
class Exercise:
    """A question of the training.

    Attributes
    ----------
    shown : Shown
    expected : dict
        The usual answer, as a page sends one; of an order ``gains``, which no candidate before another may exceed, and
        ``cut``, None where any will do.
    feedback : str or None
        What somebody reads after their answer.
    """

    shown: Shown
    expected: dict[str, Any]
    feedback: str | None = None


def has_training(campaign: WebCampaign) -> bool:
    """Tell whether there is a training."""
    written = campaign.training()
    return bool(written.height) if written is not None else _example(campaign) is not None


def training_json(campaign: WebCampaign, assessor: str) -> list[dict[str, Any]]:
    """Return the questions of the training, each with its usual answer and an explanation."""
    written = campaign.training()
    exercises = _own(campaign, assessor) if written is None else _written(campaign, assessor, written)
    return [
        {
            **question_json(campaign, assessor, one.shown, expires=None),
            "expected": one.expected,
            "feedback": one.feedback,
            # Nobody else answered it: a page must not speak of others.
            "own": written is None,
        }
        for one in exercises
    ]


# ---- what the organiser wrote ----------------------------------------------------------------------------------------


def _written(campaign: WebCampaign, assessor: str, frame: pl.DataFrame) -> Iterator[Exercise]:
    kind = campaign.settings.kind
    if kind == "order":
        for number, (_, rows) in enumerate(frame.group_by("query", maintain_order=True)):
            yield _order(campaign, assessor, number, rows)
        return
    for number, row in enumerate(frame.iter_rows(named=True)):
        if kind == "grade":
            shown = Shown("grade", f"training {number}", row["query"], (row["document"],))
            yield Exercise(shown, {"gain": row["gain"]}, row["feedback"])
            continue
        pair = (row["document"], row["other"])
        lists = tuple(campaign.list_of(system, row["query"]) for system in pair) if kind == "lists" else ()
        yield _pair(campaign, assessor, number, row["query"], pair, row["choice"], row["feedback"], lists)


def _order(campaign: WebCampaign, assessor: str, number: int, rows: pl.DataFrame) -> Exercise:
    """Make an exercise of the judgments of a query: what has a gain above 0 is similar."""
    gains = dict(rows.select("document", "gain").iter_rows())
    feedback = next((text for text in rows["feedback"] if text), None)
    return _ordering(campaign, assessor, number, rows["query"][0], gains, feedback, cut=sum(map(bool, gains.values())))


def _ordering(
    campaign: WebCampaign,
    assessor: str,
    number: int,
    query: str,
    gains: dict[str, float],
    feedback: str | None = None,
    *,
    cut: int | None = None,
) -> Exercise:
    drawn = sorted(gains, key=lambda document: digest(campaign.secret, "training", assessor, str(number), document))
    shown = Shown("order", f"training {number}", query, tuple(drawn))
    return Exercise(shown, {"gains": [gains[document] for document in drawn], "cut": cut}, feedback)


def _pair(
    campaign: WebCampaign,
    assessor: str,
    number: int,
    query: str,
    pair: tuple[str, str],
    choice: str,
    feedback: str | None = None,
    lists: tuple[tuple[str, ...], ...] = (),
) -> Exercise:
    """Make an exercise of two documents or two lists, on sides that are drawn."""
    swapped = bool(digest(campaign.secret, "training", assessor, str(number))[0] % 2)
    way = -1 if swapped else 1
    kind = campaign.settings.kind
    shown = Shown(kind, f"training {number}", query, pair[::way], swapped, lists[::way])
    sides = dict(zip(("a", "b"), SIDES[::way], strict=True))
    return Exercise(shown, {"choice": sides.get(choice, choice)}, feedback)


# ---- a sound beside itself -------------------------------------------------------------------------------------------


def _own(campaign: WebCampaign, assessor: str) -> Iterator[Exercise]:
    found = _example(campaign)
    if found is None:
        return
    query, others = found
    kind = campaign.settings.kind
    if kind == "grade":
        yield Exercise(Shown("grade", "training 0", query, (query,)), {"gain": campaign.opened.rules.scale.top})
    elif kind == "order":
        yield _ordering(campaign, assessor, 0, query, {query: 1.0} | dict.fromkeys(others, 0.0))
    elif kind == "prefer":
        yield _pair(campaign, assessor, 0, query, (query, others[0]), "a")
    else:
        lists = ((query, others[0]), (others[1], others[0]))
        yield _pair(campaign, assessor, 0, query, ("a", "b"), "a", lists=lists)


def _example(campaign: WebCampaign) -> tuple[str, list[str]] | None:
    """Return a query that is heard beside itself and documents that were retrieved for another; None without them."""
    manifest = campaign.manifest
    if manifest is None:
        return None
    queries = [one for one in manifest.media if one.role == "query" and _is_sound(one)]
    query = next((one.id for one in queries if is_own_document(manifest, one)), None)
    if query is None:
        return None
    needed = _OTHERS[campaign.settings.kind]
    if not needed:
        return query, []
    near = [one for one in campaign.candidates_of(query) if one != query]
    mine = {query, *near}
    others = [one.id for one in manifest.media if one.role == "document" and one.id not in mine and _is_sound(one)]
    # In a small collection nearly everything was retrieved for every query.
    others += [one for one in near if _plays(manifest, one)]
    return (query, others[:needed]) if len(others) >= needed else None


def _plays(manifest: Manifest, document: str) -> bool:
    medium = manifest.find("document", document)
    return medium is not None and _is_sound(medium)


def _is_sound(medium: ServedMedium) -> bool:
    return bool(medium.parts) and all(part.kind == "audio" for part in medium.parts)
