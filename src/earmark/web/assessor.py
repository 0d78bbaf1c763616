"""Assessors: the page on which they judge, and what it asks the server.

Reading changes nothing: a link that is previewed, reloaded or opened twice does no harm. Everything that changes
something is a POST with the token of the link, and can be sent again: answers carry a key that the page made.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import HTMLResponse, Response

from earmark.errors import ParameterError
from earmark.pages import render
from earmark.store.desk import Desk
from earmark.store.leases import Question
from earmark.store.links import join
from earmark.store.people import consent, keep_questionnaire, keep_text, note_prepared, text_version
from earmark.store.store import from_moment
from earmark.web import recruiting, sessions
from earmark.web.catalogue import LANGUAGES, words
from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError
from earmark.web.languages import page_language, varying
from earmark.web.listening import check_listening
from earmark.web.security import Visitor, campaign_of, link_of, visitor
from earmark.web.shown import ChangedError, Shown, arrange, question_json
from earmark.web.training import training_json

router = APIRouter(tags=["assessor"])

Campaign = Annotated[WebCampaign, Depends(campaign_of)]
Who = Annotated[Visitor, Depends(visitor)]

_MOST_AHEAD = 2
_DETAILS = 20_000
Key = Annotated[str, Field(min_length=8, max_length=200)]
Id = Annotated[str, Field(min_length=1, max_length=200)]
Text = Annotated[str, Field(max_length=5000)]


class Body(BaseModel):
    """What a page sends; names that are not known are refused, and so are values of another type than they have."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Joining(Body):
    """A key that the page makes once: whoever joins again with it gets the same link."""

    key: Key


class Agreement(Body):
    """Which version of the consent text somebody agrees to."""

    version: Annotated[str, Field(max_length=64)]


class Questionnaire(Body):
    """What somebody says about themselves, by the ids of the questions."""

    answers: dict[str, str | float | bool | None] = Field(max_length=200)


class Prepared(Body):
    """A step before the first question that is done."""

    step: Literal["sound", "training"]
    details: dict[str, Any] = Field(default_factory=dict, max_length=50)


class Asking(Body):
    """How many questions to reserve beyond the one to answer, so that their sounds can be fetched."""

    ahead: int = Field(default=1, ge=0, le=_MOST_AHEAD)


class Given(Body):
    """An answer."""

    id: Id
    key: Key
    gain: float | None = Field(default=None, allow_inf_nan=False)
    choice: Literal["first", "second", "same", "neither"] | None = None
    order: list[int] | None = Field(default=None, max_length=2000)
    cut: int | None = None
    strength: float | None = Field(default=None, gt=0, le=100)
    also: float | None = Field(default=None, allow_inf_nan=False)
    details: dict[str, Any] = Field(default_factory=dict, max_length=50)
    comment: Text | None = None


class About(Body):
    """Something about a question that is no answer."""

    id: Id
    key: Key
    text: Text | None = None


class Held(Body):
    """A question that somebody is at work on."""

    id: Id


class Unplayable(About):
    """What does not play: ``query``, ``candidate 0``, …; of two lists ``first 0``, …, ``second 0``, …."""

    part: Annotated[str, Field(max_length=40)] = "candidate 0"


class Comment(Body):
    """A remark, about a question or about everything."""

    id: Id | None = None
    key: Key
    text: Annotated[str, Field(min_length=1, max_length=5000)]


# ---- pages -----------------------------------------------------------------------------------------------------------


@router.get("/judge/{token}", response_class=HTMLResponse, include_in_schema=False)
def judging_page(token: str, request: Request, campaign: Campaign, language: str | None = None) -> Response:
    """Return the page on which people judge; everything else it asks for by itself."""
    chosen = page_language(request, campaign.settings.pages.language, language)
    link = link_of(campaign.store, token)
    if link is None or link.role == "organiser":
        return varying(message_page(chosen, "not_valid", status=404))
    page = judge_page(campaign, chosen)
    policy = recruiting.judging_policy(campaign, link)
    if policy is not None:
        page.headers["Content-Security-Policy"] = policy
    return varying(page)


def judge_page(campaign: WebCampaign, language: str) -> HTMLResponse:
    """Render the page on which people judge; it holds words and no data."""
    return HTMLResponse(
        render(
            "web/judge.html",
            title=campaign.title,
            language=language,
            languages=LANGUAGES,
            words=words(language, "judge"),
        )
    )


def message_page(language: str, message: str, *, status: int = 200) -> HTMLResponse:
    """Render a page that says one thing: words ``{message}_title`` and ``{message}_text`` of the part ``messages``."""
    known = words(language, "messages")
    page = render(
        "web/message.html",
        title=known[f"{message}_title"],
        text=known[f"{message}_text"],
        language=language,
        languages=LANGUAGES,
        words=known,
    )
    return HTMLResponse(page, status)


# ---- before the first question ---------------------------------------------------------------------------------------


@router.get("/api/judge/session")
def session(who: Who, campaign: Campaign) -> dict[str, Any]:
    """Tell how far somebody is, and what the page needs to know."""
    return sessions.session_json(campaign, who)


@router.post("/api/judge/join")
def join_openly(said: Joining, who: Who, campaign: Campaign) -> dict[str, str]:
    """Join by a link that several people may use; the link that comes back is for this person alone."""
    if who.link.assessor is not None:
        return {"token": who.token, "link": f"/judge/{who.token}"}
    try:
        made = join(campaign.store, who.token, key=said.key)
    except ParameterError as error:
        raise ApiError(409, str(error), code="full") from None
    return {"token": made.token, "link": f"/judge/{made.token}"}


@router.post("/api/judge/consent")
def agree(said: Agreement, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Note that somebody agrees to the consent text; its version and the time are kept."""
    text, assessor = campaign.consent_text(), who.assessor
    if text is None or text_version(text) != said.version:
        raise ApiError(409, "the text has changed meanwhile: read it again", code="changed")
    known = sessions.standing_of(campaign, who.link)
    if known.consent != said.version:

        def act(change: Any) -> None:
            keep_text(change, text)
            consent(change, assessor, said.version)

        campaign.store.write(act)
    return sessions.session_json(campaign, who)


@router.post("/api/judge/questionnaire")
def describe_oneself(said: Questionnaire, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Keep what somebody says about themselves."""
    kept, assessor = sessions.checked_questionnaire(campaign.questionnaire(), said.answers), who.assessor
    campaign.store.write(lambda change: keep_questionnaire(change, assessor, kept))
    return sessions.session_json(campaign, who)


@router.post("/api/judge/prepared")
def prepared(said: Prepared, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Note that a step before the first question is done, so that it does not come again on another device."""
    details, assessor = _limited(said.details), who.assessor
    campaign.store.write(lambda change: note_prepared(change, assessor, said.step, details))
    return sessions.session_json(campaign, who)


@router.get("/api/judge/training")
def training(who: Who, campaign: Campaign) -> dict[str, Any]:
    """Return the questions of the training, each with its right answer and an explanation."""
    return {"questions": training_json(campaign, who.assessor)}


# ---- questions and answers -------------------------------------------------------------------------------------------


@router.post("/api/judge/questions")
def take(said: Asking, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Give out a question, and some ahead; asked again, the same ones."""
    assessor, known = who.assessor, _standing(who, campaign)
    taken = sessions.desk_for(campaign, known).take(assessor, ahead=said.ahead)
    known = sessions.standing_of(campaign, who.link)
    taken = sessions.part_of_work(campaign.settings, known, taken)
    found = [_shown(campaign, assessor, one) for one in taken.questions]
    reason = sessions.follow_sitting(campaign, known, taken.reason)
    return {"questions": found, "reason": reason, "progress": sessions.progress_json(campaign.settings, known)}


@router.post("/api/judge/answers")
def answer(said: Given, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Take in an answer; when this returns, it is on the disk."""
    assessor, desk = who.assessor, _desk(who, campaign)
    question, settings = desk.question(assessor, said.id), campaign.settings
    shown = arrange(campaign, question)
    try:
        given = shown.answer(said)
    except ChangedError as error:
        raise ApiError(409, str(error), code="changed") from None
    if said.strength is not None and said.strength > max(settings.pages.strengths, 1):
        raise ParameterError(f"a strength is at most {settings.pages.strengths}")
    details = _limited(said.details)
    check_listening(campaign, shown, details, taken=question.taken, now=from_moment(campaign.store.clock()))
    if said.also is not None:
        details["also"] = said.also
    text = json.dumps(details, ensure_ascii=False, sort_keys=True) if details else None
    receipt = desk.answer(assessor, said.id, key=said.key, text=text, once=True, **given)
    if said.comment and said.comment.strip() and receipt.status != "elsewhere":
        desk.comment(assessor, said.comment.strip(), id=said.id, key=f"{said.key}/comment")
    return {"status": receipt.status, "progress": _progress(campaign, who)}


@router.post("/api/judge/renew")
def renew(said: Held, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Keep a question for somebody who is still at work on it; ``expires`` is null where it went to somebody else."""
    question = _desk(who, campaign).renew(who.assessor, said.id)
    return {"expires": None if question is None else _moment(question.expires)}


@router.post("/api/judge/undo")
def undo(said: About, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Take an answer back; the same question comes once more."""
    assessor = who.assessor
    question = _desk(who, campaign).undo(assessor, said.id, key=said.key)
    if question is None:
        # It was undone before, and the page did not hear of it: the question is out.
        question = next((one for one in campaign.desk.take(assessor).questions if one.id == said.id), None)
    body = None if question is None else _shown(campaign, assessor, question)
    return {"question": body, "progress": _progress(campaign, who, "undone")}


@router.post("/api/judge/skip")
def skip(said: About, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Go on without an answer; the question goes to somebody else."""
    _desk(who, campaign).skip(who.assessor, said.id, key=said.key, text=said.text)
    return {"progress": _progress(campaign, who)}


@router.post("/api/judge/unplayable")
def unplayable(said: Unplayable, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Report that something does not play, which is no answer."""
    assessor, desk = who.assessor, _desk(who, campaign)
    what, name = _asked(campaign, assessor, said.id).part(said.part)
    desk.report_unplayable(assessor, said.id, key=said.key, what=what, name=name, text=said.text)
    return {"progress": _progress(campaign, who)}


@router.post("/api/judge/comments")
def comment(said: Comment, who: Who, campaign: Campaign) -> dict[str, Any]:
    """Keep a remark."""
    desk = sessions.desk_for(campaign, sessions.standing_of(campaign, who.link))
    desk.comment(who.assessor, said.text, id=said.id, key=said.key)
    return {"progress": _progress(campaign, who)}


@router.post("/api/judge/leave")
def leave(who: Who, campaign: Campaign) -> dict[str, Any]:
    """Give back what is not answered, so that others need not wait for it."""
    assessor = who.assessor
    return {"returned": campaign.desk.give_back(assessor), "progress": _progress(campaign, who)}


@router.get("/api/judge/thanks")
def thanks(who: Who, campaign: Campaign) -> dict[str, Any]:
    """Say what somebody's answers did, and how they tell a platform that they are done."""
    done = sessions.work_done(campaign, who.assessor)
    completion = recruiting.completion(campaign, who.link)
    return {**done, "completion": completion, "text": campaign.settings.pages.thanks}


# ---- shared ----------------------------------------------------------------------------------------------------------


def _desk(who: Visitor, campaign: WebCampaign) -> Desk:
    """Return the desk at which somebody judges; nobody does before they have agreed to what they have to agree to."""
    return sessions.desk_for(campaign, _standing(who, campaign))


def _standing(who: Visitor, campaign: WebCampaign) -> sessions.Standing:
    known = sessions.standing_of(campaign, who.link)
    stage = sessions.stage_of(campaign, who, known)
    if stage in ("consent", "questionnaire"):
        raise ApiError(409, "another step comes first: load the page again", code=stage)
    return known


def _asked(campaign: WebCampaign, assessor: str, id: str) -> Shown:
    """Return a question as it was shown to somebody."""
    return arrange(campaign, campaign.desk.question(assessor, id))


def _shown(campaign: WebCampaign, assessor: str, question: Question) -> dict[str, Any]:
    return question_json(campaign, assessor, arrange(campaign, question), expires=_moment(question.expires))


def _moment(time: datetime) -> str:
    return time.isoformat(timespec="seconds")


def _progress(campaign: WebCampaign, who: Visitor, happened: str = "") -> dict[str, Any]:
    known = sessions.standing_of(campaign, who.link)
    sessions.follow_sitting(campaign, known, happened)
    return sessions.progress_json(campaign.settings, known)


def _limited(details: dict[str, Any]) -> dict[str, Any]:
    """Refuse details that are too long, or that no database keeps."""
    try:
        length = len(json.dumps(details, ensure_ascii=False, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        raise ParameterError("details are plain JSON: texts, numbers, lists and objects") from None
    if length > _DETAILS:
        raise ParameterError(f"details have at most {_DETAILS:,} characters")
    return dict(details)
