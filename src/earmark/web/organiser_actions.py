"""What an organiser does: invites people, looks after them, corrects answers, changes settings, ends the campaign.

Every action is a POST of JSON, and every one leaves its trace in the log; nothing is ever taken out of it.
"""

from __future__ import annotations

import json
import secrets
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from earmark.errors import InputError, ParameterError
from earmark.store import links
from earmark.store.answers import withdraw
from earmark.store.folder import BACKUPS
from earmark.store.links import Invitation
from earmark.store.overview import assessors_seen
from earmark.store.people import erase
from earmark.store.sections import People
from earmark.store.settings import Settings
from earmark.store.store import Change, check_text
from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError
from earmark.web.security import organiser
from earmark.web.settings_form import read_changes

router = APIRouter(prefix="/api/organise", tags=["organiser"])

Organised = Annotated[WebCampaign, Depends(organiser)]
ORGANISER = "organiser"
"""The source of answers that the organiser gave in the name of an assessor."""

_PREVIEW = "preview"
_Text = Annotated[str, Field(max_length=2000)]
_Name = Annotated[str, Field(max_length=200)]


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Reason(_Said):
    """Why something is done."""

    reason: _Text = ""


# ---- invitations -----------------------------------------------------------------------------------------------------


class Invited(_Said):
    """Whom to invite: names, or how many people may use one link."""

    names: Annotated[list[_Name], Field(max_length=500)] = []
    seats: Annotated[int | None, Field(ge=1, le=100_000)] = None
    pilot: bool = False


@router.post("/invitations")
def invite(request: Request, campaign: Organised, said: Invited) -> dict[str, Any]:
    """Make links for people; they are shown once."""
    if bool(said.names) == (said.seats is not None):
        raise ParameterError("say whom to invite: names, or for how many people one link is")
    names = [name.strip() for name in said.names if name.strip()]
    check_text(*names)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"'{twice}' is there twice: two people need two names")
    if said.seats is None and not names:
        raise ParameterError("an assessor needs a name")
    if said.seats is not None:
        made = [links.invite_openly(campaign.store, said.seats, pilot=said.pilot)]
    else:
        made = links.invite(campaign.store, names, pilot=said.pilot)
    return {"invitations": [_shown_link(request, campaign, one) for one in made]}


@router.post("/preview")
def preview(campaign: Organised) -> dict[str, Any]:
    """Make a link by which the organiser sees what assessors see; nothing that is answered there counts."""
    made = links.invite(campaign.store, [_PREVIEW], pilot=True)[0]
    # Opened in the same browser, whatever the address that others reach the server by.
    return {"link": f"/judge/{made.token}"}


@router.post("/links/revoke")
def revoke_open_links(campaign: Organised) -> dict[str, int]:
    """End all links that several people may use."""
    return {"ended": links.revoke_open_links(campaign.store)}


def links_address(request: Request, campaign: WebCampaign) -> str:
    """Return what links start with: as the settings say, else where the organiser has reached the server."""
    named = campaign.settings.people.address
    return named if named != People().address else str(request.base_url).rstrip("/")


def is_local(address: str) -> bool:
    """Tell whether an address works on this computer only."""
    return (urlsplit(address).hostname or "") in ("127.0.0.1", "localhost", "::1")


def _shown_link(request: Request, campaign: WebCampaign, made: Invitation) -> dict[str, Any]:
    return {"name": made.name, "assessor": made.assessor, "link": made.link(links_address(request, campaign))}


# ---- people ----------------------------------------------------------------------------------------------------------


@router.post("/people/{assessor}/new-link")
def new_link(request: Request, campaign: Organised, assessor: _Name) -> dict[str, Any]:
    """Make another link for somebody; the one before ends."""
    who = _known(campaign, assessor)

    def act(change: Change) -> Invitation:
        links.revoke_links(change, who)
        return links.link_for(change, who)

    return {"invitations": [_shown_link(request, campaign, campaign.store.write(act))]}


@router.post("/people/{assessor}/revoke")
def revoke(campaign: Organised, assessor: _Name) -> dict[str, bool]:
    """End the links of somebody; their answers stay."""
    links.revoke(campaign.store, _known(campaign, assessor))
    return {"done": True}


@router.post("/people/{assessor}/{action}")
def change_person(
    campaign: Organised,
    assessor: _Name,
    action: Literal["pause", "resume", "reject", "reinstate"],
    said: Reason,
) -> dict[str, bool]:
    """Pause, resume, reject or reinstate somebody."""
    desk, reason = campaign.desk, said.reason.strip()
    _known(campaign, assessor)
    if action == "reject" and not reason:
        raise ParameterError("give a reason: it goes into the log")
    if action == "pause":
        desk.pause_assessor(assessor, reason)
    elif action == "resume":
        desk.resume_assessor(assessor, reason)
    elif action == "reject":
        desk.reject(assessor, reason)
    else:
        desk.reinstate(assessor, reason)
    return {"done": True}


def _known(campaign: WebCampaign, assessor: str) -> str:
    """Return the pseudonym of an assessor; somebody whom nobody knows is not made up."""
    if assessor not in {person["assessor"] for person in assessors_seen(campaign.store)}:
        raise ApiError(404, f"there is no assessor '{assessor}'")
    return assessor


class Erased(_Said):
    """That somebody's identity is to be erased, which cannot be undone."""

    confirm: Literal[True]


@router.post("/erase/{assessor}")
def erase_person(campaign: Organised, assessor: _Name, said: Erased) -> dict[str, Any]:
    """Erase who somebody is; the answers stay under the pseudonym."""
    assert said.confirm
    erase(campaign.store, _known(campaign, assessor))
    kept = campaign.opened.path / BACKUPS
    return {"done": True, "backups": sorted(file.name for file in kept.glob("*.zip")) if kept.is_dir() else []}


# ---- single answers --------------------------------------------------------------------------------------------------


class Corrected(_Said):
    """Another answer in the name of an assessor, and why."""

    assessor: _Name
    gain: float | None = None
    choice: Annotated[str | None, Field(max_length=100_000)] = None
    strength: float | None = None
    reason: _Text


@router.post("/answers/{id}/correct")
def correct(campaign: Organised, id: _Name, said: Corrected) -> dict[str, Any]:
    """Record another answer in the name of an assessor; the one before stays in the log."""
    reason = _needed(said.reason)
    _refuse_closed(campaign)
    given = {"gain": said.gain, "choice": said.choice, "strength": said.strength}
    if campaign.settings.kind == "order":
        _check_order(campaign, said.assessor, id, said.choice)
    receipt = campaign.desk.answer(
        said.assessor, id, key=secrets.token_urlsafe(16), text=reason, source=ORGANISER, **given
    )
    return {"status": receipt.status, "sequence": receipt.sequence}


def _check_order(campaign: WebCampaign, assessor: str, id: str, choice: str | None) -> None:
    """Refuse a ranking that is not one of the documents of its question."""
    try:
        order = json.loads(choice or "")["order"]
        ranked = sorted(order)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ParameterError("expected a ranking: every document once, the most similar first") from None
    known = sorted(campaign.candidates_of(campaign.desk.question(assessor, id).query))
    if ranked != known:
        raise ParameterError(f"expected every document of the question once: {', '.join(known)}")


class Withdrawn(_Said):
    """Whose answer is withdrawn, and why."""

    assessor: _Name
    reason: _Text


@router.post("/answers/{id}/withdraw")
def withdraw_answer(campaign: Organised, id: _Name, said: Withdrawn) -> dict[str, bool]:
    """Let an answer count no more; it stays in the log."""
    reason, key = _needed(said.reason), secrets.token_urlsafe(16)
    _refuse_closed(campaign)
    rules = campaign.folder.rules
    campaign.store.write(
        lambda change: withdraw(change, rules, said.assessor, id, key=key, text=reason, source=ORGANISER)
    )
    return {"done": True}


def _needed(reason: str) -> str:
    if not reason.strip():
        raise ParameterError("give a reason: it goes into the log")
    return reason.strip()


def _refuse_closed(campaign: WebCampaign) -> None:
    if campaign.store.row["state"] == "closed":
        raise ApiError(409, "the campaign is closed: open it again first", code="closed")


# ---- the campaign ----------------------------------------------------------------------------------------------------


class State(_Said):
    """What becomes of the campaign, and why."""

    state: Literal["open", "paused", "closed"]
    reason: _Text = ""


@router.post("/campaign")
def change_state(campaign: Organised, said: State) -> dict[str, str]:
    """Pause, resume, close or reopen the campaign."""
    before = campaign.store.row["state"]
    if said.state == "paused" and before == "closed":
        raise ApiError(409, "the campaign is closed: open it again first", code="closed")
    campaign.desk.set_state(said.state, said.reason.strip())
    return {"state": campaign.store.row["state"]}


class Changes(_Said):
    """Settings by their names, and what they are to be."""

    changes: Annotated[dict[str, Any], Field(max_length=50)]


@router.post("/settings")
def change_settings(campaign: Organised, said: Changes) -> dict[str, Any]:
    """Change settings; the log records what changed."""
    folder = campaign.folder
    if campaign.problem_with_settings is not None:
        raise ApiError(409, f"the settings file has an error: {campaign.problem_with_settings}")
    try:
        campaign.change_settings(read_changes(folder, said.changes))
    except InputError as error:
        # Without the path and the line: whoever fills in a form has not seen the file.
        raise ApiError(400, _plain(error)) from None
    # Compared by value: the worker may have found the new file, and recorded it, before this request did.
    changed = Settings.differences(folder.settings, campaign.opened.settings)
    return {"recorded": [str(one) for one in changed if one.setting in said.changes]}


def _plain(error: InputError) -> str:
    """Return an error as sentences: what it says may have parentheses of its own."""
    said = f"expected {error.expected}, got {error.got}"
    return f"{said}. {error.hint[:1].upper()}{error.hint[1:]}" if error.hint else said
