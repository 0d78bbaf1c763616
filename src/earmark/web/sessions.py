"""How far an assessor is: what comes next before the first question, and how much they have answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import sqlalchemy as sa

from earmark.campaign.stopping import parse_stop
from earmark.data.scales import Scale, parse_scale
from earmark.errors import ParameterError
from earmark.store.assessor_rows import UNCOUNTED
from earmark.store.desk import Desk
from earmark.store.leases import Taken
from earmark.store.links import Link
from earmark.store.people import person_of, text_version
from earmark.store.schema import assessors, assignments, questions
from earmark.store.settings import Settings
from earmark.store.sittings import Sitting, SittingStore, current_sitting, numbered_sitting, set_ended
from earmark.web.catalogue import LANGUAGES
from earmark.web.context import WebCampaign
from earmark.web.security import Visitor
from earmark.web.training import has_training

Stage = Literal["join", "consent", "questionnaire", "sound", "training", "judge"]

_LONGEST_ANSWER = 2000


@dataclass(frozen=True)
class Standing:
    """What the store knows about an assessor.

    Attributes
    ----------
    state : str
        active, paused, rejected or pilot.
    answers : int
        How many they have given.
    consent : str or None
        The version of the consent text that they agreed to.
    questionnaire : bool
        They have filled it in.
    prepared : dict
        The steps before the first question that they have done.
    sitting : Sitting or None
        The paid work that they are in, where they come from a recruiting platform.
    """

    state: str = "active"
    answers: int = 0
    consent: str | None = None
    questionnaire: bool = False
    prepared: Mapping[str, Any] | None = None
    sitting: Sitting | None = None


def standing_of(campaign: WebCampaign, link: Link) -> Standing:
    """Read what the store knows about whoever came by a link."""
    store, assessor = campaign.store, link.assessor
    if assessor is None:
        return Standing()

    def look(connection: sa.Connection) -> Standing:
        row = connection.execute(_MINE, {"of_campaign": store.campaign, "of_assessor": assessor}).first()
        person = person_of(connection, store.campaign, assessor)
        return Standing(
            "active" if row is None else row.state,
            0 if row is None else row.answers,
            person.get("consent"),
            person.get("questionnaire") is not None,
            json.loads(person.get("prepared") or "{}"),
            _sitting(connection, store.campaign, link) if person.get("platform") else None,
        )

    return store.read(look)


def _sitting(connection: sa.Connection, campaign: int, link: Link) -> Sitting | None:
    """Return the paid work that a link is for; a link that the organiser made is for the one that is current."""
    assert link.assessor is not None
    if link.sitting is None:
        return current_sitting(connection, campaign, link.assessor)
    return numbered_sitting(connection, campaign, link.assessor, link.sitting)


# Asked with every request, so it is built once.
_MINE = sa.select(assessors.c.state, assessors.c.answers).where(
    assessors.c.campaign == sa.bindparam("of_campaign"), assessors.c.assessor == sa.bindparam("of_assessor")
)


def session_json(campaign: WebCampaign, who: Visitor) -> dict[str, Any]:
    """Return all that the page needs to know; nothing is changed."""
    settings = campaign.settings
    known = standing_of(campaign, who.link)
    text = campaign.consent_text()
    return {
        "state": _state(campaign, who, known),
        "stage": stage_of(campaign, who, known),
        "person": {"name": who.link.name.removesuffix(" (pilot)")},
        "pilot": who.link.role == "pilot",
        "campaign": campaign_json(campaign, settings),
        "consent": None if text is None else {"version": text_version(text), "text": text},
        "questionnaire": campaign.questionnaire(),
        "progress": progress_json(settings, known),
    }


def stage_of(campaign: WebCampaign, who: Visitor, known: Standing) -> Stage:
    """Return what comes next for somebody."""
    if who.link.assessor is None:
        return "join"
    text, done = campaign.consent_text(), known.prepared or {}
    if text is not None and known.consent != text_version(text):
        return "consent"
    if campaign.settings.inputs.questionnaire is not None and not known.questionnaire:
        return "questionnaire"
    if campaign.settings.pages.sound_check and has_sound(campaign) and "sound" not in done:
        return "sound"
    if "training" not in done and has_training(campaign):
        return "training"
    return "judge"


def _state(campaign: WebCampaign, who: Visitor, known: Standing) -> str:
    state = str(campaign.store.row["state"])
    if state != "open":
        return state
    if who.link.assessor is None:
        return "open" if who.link.seats_left else "full"
    if known.state in ("rejected", "paused"):
        return known.state
    limit = most_answers(campaign.settings, known)
    return "enough" if limit is not None and known.answers >= limit else "open"


def has_sound(campaign: WebCampaign) -> bool:
    """Tell whether there is anything to hear."""
    manifest = campaign.manifest
    return manifest is not None and manifest.has_sound


def progress_json(settings: Settings, known: Standing) -> dict[str, Any]:
    """Return how far an assessor is: in the whole, or in the paid work that they are in."""
    if known.sitting is not None:
        return {
            "answers": known.sitting.given(known.answers),
            "limit": settings.recruiting.answers_per_assignment,
        }
    return {"answers": known.answers, "limit": settings.judging.answers_per_assessor}


def most_answers(settings: Settings, known: Standing) -> int | None:
    """Return after how many answers in all an assessor gets no more questions: those of the paid work are enough."""
    limit = settings.judging.answers_per_assessor
    if known.sitting is None:
        return limit
    if known.sitting.ended is not None:
        return known.answers
    elsewhere = known.answers - known.sitting.given(known.answers)
    here = elsewhere + settings.recruiting.answers_per_assignment
    return here if limit is None else min(here, limit)


def desk_for(campaign: WebCampaign, known: Standing) -> Desk:
    """Return the desk at which an assessor works.

    In paid work it gives out as many questions as belong to it, and all that happens there is noted as part of it.
    """
    desk, sitting = campaign.desk, known.sitting
    if sitting is None:
        return desk
    rules = replace(desk.rules, answers_per_assessor=most_answers(campaign.settings, known))
    return replace(desk, store=SittingStore.of(desk.store, sitting), rules=rules)


def part_of_work(settings: Settings, known: Standing, taken: Taken) -> Taken:
    """Leave out questions that are more than the paid work of an assessor takes.

    Somebody with several assignments has a window for each, and what is out is out for all of them. A window whose
    work is done must not ask what was given out for another one.
    """
    limit = None if known.sitting is None else most_answers(settings, known)
    if limit is None:
        return taken
    kept = taken.questions[: max(limit - known.answers, 0)]
    return Taken(kept, "enough" if taken.questions and not kept else taken.reason)


_OVER = ("enough", "done", "stopped", "closed")


def follow_sitting(campaign: WebCampaign, known: Standing, reason: str = "") -> str:
    """Note that the paid work of an assessor is over, or that it goes on, after something has happened.

    Parameters
    ----------
    campaign : WebCampaign
    known : Standing
        Of the assessor, as it is now.
    reason : str
        Why there is no question for them, or ``undone`` where they took an answer back; empty where neither is known.

    Returns
    -------
    str
        The reason. Who is paid does not wait for questions to come back from others: then the work is done.
    """
    sitting = known.sitting
    if sitting is None:
        return reason
    given = sitting.given(known.answers)
    if reason == "wait" and given:
        reason = "done"
    was_over = sitting.ended is not None
    enough = given >= campaign.settings.recruiting.answers_per_assignment
    # Work in which nothing was done cannot be handed in.
    over = enough or (given > 0 and (reason in _OVER or (was_over and not reason)))
    if over != was_over:
        campaign.store.write(lambda change: set_ended(change, sitting, over))
    return reason


def campaign_json(campaign: WebCampaign, settings: Settings) -> dict[str, Any]:
    """Return what an assessor may know about the campaign."""
    pages, judging = settings.pages, settings.judging
    grade = settings.kind == "grade"
    return {
        "title": campaign.title,
        "kind": settings.kind,
        "question": pages.question,
        "instructions": paragraphs(pages.instructions),
        "language": pages.language,
        "languages": LANGUAGES,
        "minimum_seconds": pages.minimum_seconds,
        "pause_after": pages.pause_after,
        "allow_same": judging.allow_same,
        "strengths": pages.strengths if settings.kind == "prefer" else 0,
        "sound_check": pages.sound_check,
        "audio": has_sound(campaign),
        "scale": scale_json(parse_scale(judging.scale or "broad"), pages.labels) if grade else None,
        "also": scale_json(parse_scale(judging.also), pages.also_labels)
        if grade and judging.also is not None
        else None,
        "comments": pages.comments,
        "thanks": pages.thanks,
    }


def scale_json(scale: Scale, labels: tuple[str, ...]) -> dict[str, Any]:
    """Return a scale: its levels where they fit on buttons, else its ends and steps."""
    return {
        "name": scale.name,
        "levels": list(scale.gains) if scale.has_few_levels else None,
        "low": scale.gains[0],
        "high": scale.top,
        "step": None if scale.continuous else 1,
        "labels": list(labels) or None,
    }


def paragraphs(text: str | None) -> list[str]:
    """Divide a text at empty lines."""
    return [] if text is None else [one.strip() for one in text.replace("\r", "").split("\n\n") if one.strip()]


def checked_questionnaire(questions: list[dict[str, Any]], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answers of a questionnaire, or say what is missing.

    Raises
    ------
    ParameterError
        If a required answer is missing, or an answer does not fit its question.
    """
    kept: dict[str, Any] = {}
    for one in questions:
        value = said.get(one["id"])
        if value is None or value == "" or (one["kind"] == "yes" and value is False and one["required"]):
            if one["required"]:
                raise ParameterError(f"an answer is needed: {one['label']}")
            continue
        if one["kind"] == "choice" and value not in one["options"]:
            raise ParameterError(f"choose one of the options: {one['label']}")
        if one["kind"] == "number" and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise ParameterError(f"a number is needed: {one['label']}")
        if one["kind"] == "yes" and not isinstance(value, bool):
            raise ParameterError(f"yes or no is needed: {one['label']}")
        if one["kind"] == "text" and (not isinstance(value, str) or len(value) > _LONGEST_ANSWER):
            raise ParameterError(f"a text of at most {_LONGEST_ANSWER:,} characters is needed: {one['label']}")
        kept[one["id"]] = value
    return kept


def work_done(campaign: WebCampaign, assessor: str) -> dict[str, Any]:
    """Return what an assessor's answers did: how many, about how many songs, and how far the campaign is.

    Songs are the documents that were graded or preferred; of the other kinds, whose questions have many, the queries.
    """
    store, given, table = campaign.store, assignments.c, questions.c
    kind, each = campaign.settings.kind, campaign.settings.judging.judgments_per_item
    budget = parse_stop(campaign.settings.estimates.stop).budget

    def look(connection: sa.Connection) -> dict[str, Any]:
        mine = sa.and_(given.campaign == store.campaign, given.assessor == assessor, given.state == "answered")
        columns = {"grade": [given.document], "prefer": [given.document, given.other]}.get(kind, [given.query])
        songs = sa.union(*(sa.select(column.label("song")).where(mine) for column in columns)).subquery()
        here = sa.and_(table.campaign == store.campaign, ~table.removed)
        count = sa.select(sa.func.count()).where(here)
        judged = int(connection.execute(count.where(table.answers > 0)).scalar() or 0)
        total = int(connection.execute(count).scalar() or 0)
        if budget is not None:
            # The campaign ends with the budget: what is beyond it is never asked.
            if kind != "grade":
                useful = sa.case((table.answers < each, table.answers), else_=each)
                so_far = sa.select(sa.func.sum(useful)).where(here)
                judged, total = int(connection.execute(so_far).scalar() or 0), total * each
            total = min(budget if kind != "prefer" else budget * each, total)
        return {
            "kind": kind,
            "answers": int(connection.execute(sa.select(sa.func.count()).where(mine)).scalar() or 0),
            "songs": int(connection.execute(sa.select(sa.func.count()).select_from(songs)).scalar() or 0),
            "share": coarse_share(min(judged, total), total, campaign.opened.rules.trap_every),
            "until_budget": budget is not None,
        }

    return store.read(look)


def coarse_share(judged: int, total: int, trap_every: int) -> float:
    """Return how much of a campaign is judged, in steps.

    A trap is no part of the campaign. Whoever saw the share move with every answer would know which ones were traps;
    a step therefore takes more answers than there are from one trap to the next.

    Examples
    --------
    >>> coarse_share(49, 100, 6), coarse_share(99, 100, 6), coarse_share(100, 100, 6), coarse_share(49, 100, 0)
    (0.48, 0.96, 1.0, 0.49)
    """
    if judged >= total:
        return 1.0 if total else 0.0
    step = 2 * trap_every if trap_every else 1
    return judged // step * step / total


def counts(known: Standing) -> bool:
    """Tell whether the answers of an assessor count."""
    return known.state not in UNCOUNTED
