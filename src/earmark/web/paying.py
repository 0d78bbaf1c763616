"""What an organiser sees about paid work: the address for the platform, what it will cost, and what is owed.

All of it is read from settings and log. Money moves on the platform alone: the files here are what is uploaded there. A
file that is made to be uploaded is remembered, so that the next one lists what is new.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from earmark.crowd.budget import Budget
from earmark.crowd.payment import Payments, Platform, bonus_text
from earmark.data.spreadsheets import escape_formulas
from earmark.store.payments import (
    AnswersLeft,
    answers_left,
    budget_of,
    payments_of,
    settle_bonuses,
    settle_decisions,
)
from earmark.store.sections import People
from earmark.store.settings import Settings
from earmark.web.catalogue import words
from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError
from earmark.web.security import organiser

router = APIRouter(tags=["organiser"])

Organised = Annotated[WebCampaign, Depends(organiser)]

_PROLIFIC = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
_MOST_ANSWERS = 10**9
_FILES = {"review": "review.csv", "bonuses": "bonuses.csv", "all": "payments.csv", "workers": "workers.csv"}


@router.get("/api/organise/payments")
def payments(campaign: Organised) -> dict[str, Any]:
    """Return what is owed to everybody who came from a platform."""
    found = payments_of(campaign.folder)
    return {
        "platform": campaign.settings.recruiting.platform,
        "summary": found.summary(),
        "payments": found.frame.to_dicts(),
        "workers": found.workers.to_dicts(),
    }


@router.get("/api/organise/budget")
def budget(campaign: Organised, answers: Annotated[int | None, Query(ge=0, le=_MOST_ANSWERS)] = None) -> dict[str, Any]:
    """Return what a number of answers costs; by default the most that may be needed."""
    left = answers_left(campaign.folder)
    made = budget_of(campaign.folder, left.most if answers is None else answers)
    return _budget_json(made, campaign.settings) | {"left": asdict(left)}


@router.get("/organise/payments.csv")
def payments_file(
    campaign: Organised, what: Literal["review", "bonuses", "all", "workers"] = "review", every: bool = False
) -> Response:
    """Return a table: what to approve and reject, who gets a bonus, all assignments, or all workers.

    The first two are as the platform wants them and list what no file held that was made to be uploaded; `every` lists
    everything.
    """
    found = payments_of(campaign.folder)
    if what in ("all", "workers"):
        return _csv(escape_formulas(found.frame if what == "all" else found.workers).write_csv(), what)
    return _file(found, _platform(campaign.settings), what, every)


class Upload(BaseModel):
    """Which file is made to be uploaded, and whether it lists what earlier ones held too."""

    model_config = ConfigDict(extra="forbid")

    what: Literal["review", "bonuses"]
    every: bool = False


@router.post("/api/organise/payments/file", response_class=Response)
def file_to_upload(said: Upload, campaign: Organised) -> Response:
    """Return a file for the platform, and remember what is in it."""
    found, platform = payments_of(campaign.folder), _platform(campaign.settings)
    made = _file(found, platform, said.what, said.every)
    remember = settle_decisions if said.what == "review" else settle_bonuses
    remember(campaign.folder, found, every=said.every)
    return made


def _file(found: Payments, platform: Platform, what: str, every: bool) -> Response:
    if what == "bonuses":
        return _csv(bonus_text(found.bonuses(platform, every=every), platform), what)
    return _csv(escape_formulas(found.review(platform, every=every)).write_csv(), what)


def _csv(text: str, what: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{_FILES[what]}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


def _platform(settings: Settings) -> Platform:
    platform = settings.recruiting.platform
    if platform == "none":
        raise ApiError(409, "the settings name no platform: set recruiting.platform", code="none")
    return platform


def _budget_json(made: Budget, settings: Settings) -> dict[str, Any]:
    return asdict(made) | {"missing": made.missing, "currency": settings.recruiting.currency}


# ---- the page --------------------------------------------------------------------------------------------------------


def organiser_panel(campaign: WebCampaign, language: str) -> dict[str, Any]:
    """Return what the page of the organiser shows about recruiting."""
    settings = campaign.settings
    known = words(language, "recruit")
    left = answers_left(campaign.folder)
    return {
        "platform": settings.recruiting.platform,
        "platform_name": known[f"platform_{settings.recruiting.platform}"],
        "address": platform_address(settings),
        "frame": _external_question(platform_address(settings)) if settings.recruiting.platform == "mturk" else None,
        "recruiting": settings.recruiting,
        "budget": budget_of(campaign.folder, left.most),
        "left": left,
        "left_words": known[words_of(left)],
        "warnings": [known[name].format(**told) for name, told in doubts(settings)],
        "words": known,
        "folder": campaign.folder.path.name,
    }


def words_of(left: AnswersLeft) -> str:
    """Return the name of the words that say how many answers may be needed."""
    name = "panel_left" if left.budget is None else "panel_left_budget"
    return name if left.least == left.most else f"{name}_range"


def platform_address(settings: Settings) -> str | None:
    """Return the address that people are sent to, as it is entered at the platform; None without a platform."""
    platform, start = settings.recruiting.platform, settings.people.address.rstrip("/")
    if platform == "prolific":
        return f"{start}/recruit/prolific?{_PROLIFIC}"
    return f"{start}/recruit/mturk" if platform == "mturk" else None


def _external_question(address: str | None) -> str:
    """Return the question of a task for Mechanical Turk, which shows an address in a frame."""
    schema = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
    return (
        f'<ExternalQuestion xmlns="{schema}">\n'
        f"  <ExternalURL>{address}</ExternalURL>\n  <FrameHeight>0</FrameHeight>\n</ExternalQuestion>"
    )


def doubts(settings: Settings) -> list[tuple[str, dict[str, Any]]]:
    """Return what should be looked at before anybody is recruited: names of words, and their values."""
    recruiting, address = settings.recruiting, settings.people.address
    if recruiting.platform == "none":
        return []
    found: list[tuple[str, dict[str, Any]]] = []
    if address == People().address or urlsplit(address).scheme != "https":
        found.append(("warn_address", {"address": address}))
    if recruiting.platform == "prolific" and not (recruiting.completion_url or recruiting.completion_code):
        found.append(("warn_completion", {}))
    if recruiting.completion_url is not None and urlsplit(recruiting.completion_url).scheme != "https":
        found.append(("warn_completion_https", {}))
    if not recruiting.reward:
        found.append(("warn_reward", {}))
    if settings.traps.rate and settings.traps.reject_after > recruiting.answers_per_assignment:
        told = {"after": settings.traps.reject_after, "answers": recruiting.answers_per_assignment}
        found.append(("warn_reject_after", told))
    limit = settings.judging.answers_per_assessor
    if limit is not None and limit < recruiting.answers_per_assignment:
        found.append(("warn_limit", {"limit": limit, "answers": recruiting.answers_per_assignment}))
    return found
