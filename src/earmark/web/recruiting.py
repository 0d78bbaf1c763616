"""People who come from a recruiting platform and are paid: Prolific and Mechanical Turk.

Both send people to an address of this app with ids in it. Opening it changes nothing and shows what the work is and
what it pays; a button begins it. Then there is a *sitting* (:mod:`earmark.store.sittings`) of so many answers, and a
link that belongs to it: somebody who accepted two assignments has two. At the end the page leads back: to Prolific by
an address or a code, to Mechanical Turk by a form that is sent to the address which it gave.

Pages for Mechanical Turk are shown inside a frame of its pages. So they may be framed by the addresses in
``recruiting.submit_hosts`` alone, forms may be sent to the one that was given alone, and nothing needs a cookie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlencode, urlsplit

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse, Response

from earmark.pages import render
from earmark.store.assessor_rows import find_assessor
from earmark.store.links import Link, has_only_ended_links, sitting_link
from earmark.store.payments import budget_of
from earmark.store.sections import Recruiting
from earmark.store.sittings import begin_sitting, find_platform_person, find_sitting
from earmark.store.store import Change
from earmark.web import paying, sessions
from earmark.web.catalogue import LANGUAGES, words
from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError
from earmark.web.languages import page_language, varying
from earmark.web.limits import limit_rate
from earmark.web.responses import content_policy
from earmark.web.security import campaign_of, refuse_other_sites

router = APIRouter(tags=["recruiting"])
router.include_router(paying.router)

Campaign = Annotated[WebCampaign, Depends(campaign_of)]

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
"""What Mechanical Turk gives as the assignment to somebody who has not accepted it."""

SUBMIT = "/mturk/externalSubmit"
# The pages of Mechanical Turk are at other addresses than the one that work is submitted to.
_SIBLINGS = {
    "https://www.mturk.com": ("https://worker.mturk.com", "https://requester.mturk.com"),
    "https://workersandbox.mturk.com": ("https://requestersandbox.mturk.com",),
}
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PATTERN = r"^[A-Za-z0-9_.:\-]{1,100}$"
_ID = re.compile(_PATTERN)


# ---- addresses of platforms ------------------------------------------------------------------------------------------


def origin_of(address: str) -> str | None:
    """Return scheme, host and port of an address that has nothing else; None for anything else.

    Only https will do, and http on this computer, to try things out.

    Examples
    --------
    >>> origin_of("https://www.mturk.com/")
    'https://www.mturk.com'
    >>> origin_of("https://www.mturk.com.example.org/mturk") is None
    True
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    secure = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    more = parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None or "\\" in address
    if not secure or not host or more or not address.isascii() or any(one.isspace() for one in address):
        return None
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, 443) else "")


def allowed_origin(recruiting: Recruiting, address: str) -> str | None:
    """Return where finished work may be sent, if an address is on the list; None where it is not."""
    found = origin_of(address)
    return found if found is not None and found in map(origin_of, recruiting.submit_hosts) else None


def framing_policy(recruiting: Recruiting, submit_to: str | None = None) -> str:
    """Return the content security policy of a page that Mechanical Turk shows in a frame.

    Parameters
    ----------
    recruiting : Recruiting
    submit_to : str, optional
        The only other address that forms of the page may be sent to.
    """
    origins = [one for one in map(origin_of, recruiting.submit_hosts) if one is not None]
    ancestors = [one for origin in origins for one in (origin, *_SIBLINGS.get(origin, ()))]
    changes = {"frame_ancestors": " ".join(dict.fromkeys(ancestors)) or "'none'"}
    if submit_to is not None:
        # A browser checks where a form is redirected to as well.
        changes["form_action"] = " ".join(("'self'", submit_to, *_SIBLINGS.get(submit_to, ())))
    return content_policy(**changes)


def judging_policy(campaign: WebCampaign, link: Link) -> str | None:
    """Return the content security policy of the page on which somebody judges; None for the usual one."""
    recruiting, sitting = campaign.settings.recruiting, sessions.standing_of(campaign, link).sitting
    if sitting is None or sitting.platform != "mturk":
        return None
    wanted = sitting.submit_to
    return framing_policy(recruiting, None if wanted is None else allowed_origin(recruiting, wanted))


# ---- the end ---------------------------------------------------------------------------------------------------------


def completion(campaign: WebCampaign, link: Link) -> dict[str, Any] | None:
    """Return how the platform is told that the work of a link is done; None for those who came by a link of ours.

    It is None too as long as the work is not done.

    Returns
    -------
    dict or None
        ``url``, ``code`` and ``submit`` (``url`` and ``fields`` of a form to post), of which one is not None.
    """
    known = sessions.standing_of(campaign, link)
    sitting, recruiting = known.sitting, campaign.settings.recruiting
    if sitting is None:
        return None
    given = sitting.given(known.answers)
    over = sitting.ended is not None or given >= recruiting.answers_per_assignment
    if not over and not (given and campaign.store.row["state"] in ("stopped", "closed")):
        return None
    if sitting.platform == "mturk":
        origin = allowed_origin(recruiting, sitting.submit_to or "")
        if origin is None:
            return None
        # Mechanical Turk wants one field more than the assignment.
        fields = {"assignmentId": sitting.assignment, "answers": str(given)}
        return {"url": None, "code": None, "submit": {"url": f"{origin}{SUBMIT}", "fields": fields}}
    url = recruiting.completion_url
    if url is not None and urlsplit(url).scheme != "https":
        url = None
    code = recruiting.completion_code if url is None else None
    return None if url is None and code is None else {"url": url, "code": code, "submit": None}


# ---- the beginning ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arrival:
    """What a platform's address says about who comes.

    Attributes
    ----------
    problem : str
        Which words to show in place of the button; empty where work can begin.
    start : dict
        What to post to begin it.
    """

    problem: str = ""
    start: dict[str, str] | None = None


def read_prolific(params: QueryParams) -> Arrival:
    """Read the parameters that Prolific puts into an address, whichever way they are spelt."""
    told = {name.lower(): value.strip() for name, value in params.items()}
    person, study, session = (told.get(name, "") for name in ("prolific_pid", "study_id", "session_id"))
    if not person or "%" in person or "{" in person:
        # A preview leaves what stands for the ids as it is.
        return Arrival("no_ids")
    # Without a session the study tells works of one person apart.
    session = session or f"{study or 'study'}:{person}"
    if not all(_ID.fullmatch(one) for one in (person, session, *([study] if study else []))):
        return Arrival("odd_ids")
    return Arrival(start={"platform": "prolific", "worker": person, "assignment": session, "study": study})


def read_mturk(params: QueryParams, recruiting: Recruiting) -> Arrival:
    """Read the parameters that Mechanical Turk puts into an address."""
    names = ("assignmentId", "hitId", "workerId", "turkSubmitTo")
    assignment, task, worker, submit_to = (params.get(name, "").strip() for name in names)
    if submit_to and allowed_origin(recruiting, submit_to) is None:
        return Arrival("not_allowed")
    if assignment == PREVIEW:
        return Arrival("preview")
    if not assignment or not worker or not submit_to:
        return Arrival("no_ids")
    if not all(_ID.fullmatch(one) for one in (assignment, worker, *([task] if task else []))):
        return Arrival("odd_ids")
    start = {"platform": "mturk", "worker": worker, "assignment": assignment, "study": task, "submit_to": submit_to}
    return Arrival(start=start)


@router.get("/recruit/prolific", response_class=HTMLResponse, include_in_schema=False)
def from_prolific(request: Request, campaign: Campaign) -> Response:
    """Show somebody who comes from Prolific what the work is."""
    return _arrival_page(request, campaign, "prolific", read_prolific(request.query_params))


@router.get("/recruit/mturk", response_class=HTMLResponse, include_in_schema=False)
def from_mturk(request: Request, campaign: Campaign) -> Response:
    """Show somebody who comes from Mechanical Turk what the work is; in its preview, that and nothing else."""
    recruiting = campaign.settings.recruiting
    page = _arrival_page(request, campaign, "mturk", read_mturk(request.query_params, recruiting))
    page.headers["Content-Security-Policy"] = framing_policy(recruiting)
    return page


_SCRIPT_WORDS = re.compile("working$|no_connection$|refused")
_STATUS = {"not_here": 404, "no_ids": 400, "odd_ids": 400, "not_allowed": 400}


def _arrival_page(request: Request, campaign: WebCampaign, platform: str, arrival: Arrival) -> Response:
    settings, params = campaign.settings, request.query_params
    language = page_language(request, settings.pages.language, params.get("language"))
    known = words(language, "recruit")
    if settings.recruiting.platform != platform:
        arrival = Arrival("not_here")
    state = str(campaign.store.row["state"])
    if not arrival.problem and state != "open":
        arrival = Arrival("paused" if state == "paused" else "over", arrival.start)
    about = arrival.problem in ("", "preview")
    kept = {name: value for name, value in params.items() if name != "language"}
    page = render(
        "web/recruit.html",
        title=campaign.title,
        language=language,
        languages=[(code, name, f"?{urlencode(kept | {'language': code})}") for code, name in LANGUAGES.items()],
        words=known,
        # The other words are the organiser's, and speak of how work is checked.
        script_words={name: text for name, text in known.items() if _SCRIPT_WORDS.match(name)},
        question=settings.pages.question,
        paragraphs=sessions.paragraphs(settings.pages.instructions),
        facts=_facts(campaign, known) if about else [],
        title_text=known.get(f"{arrival.problem}_title"),
        text=known.get(arrival.problem),
        # Who has begun may see the end, whatever became of the campaign.
        start=None if arrival.start is None else arrival.start | {"language": language},
    )
    return varying(HTMLResponse(page, _STATUS.get(arrival.problem, 200)))


def _facts(campaign: WebCampaign, known: dict[str, str]) -> list[tuple[str, str]]:
    """Return what somebody has to know before they begin: how much, how long, what it pays."""
    recruiting = campaign.settings.recruiting
    budget = budget_of(campaign.folder, recruiting.answers_per_assignment)
    told = [
        (known["fact_answers"], known["fact_answers_value"].format(count=recruiting.answers_per_assignment)),
        (known["fact_minutes"], known["fact_minutes_value"].format(minutes=max(round(budget.minutes), 1))),
    ]
    if recruiting.reward:
        values = {"reward": f"{recruiting.reward:.2f}", "currency": recruiting.currency}
        rate = known["fact_reward_value"].format(**values, hourly=f"{budget.hourly:.2f}")
        told.append((known["fact_reward"], rate))
    return told


class Start(BaseModel):
    """Who begins which work, as the platform calls them; and a key that the page makes once and keeps."""

    model_config = ConfigDict(extra="forbid")

    platform: Literal["prolific", "mturk"]
    worker: Annotated[str, Field(pattern=_PATTERN)]
    assignment: Annotated[str, Field(pattern=_PATTERN)]
    study: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:\-]{0,100}$")] = ""
    submit_to: Annotated[str, Field(max_length=300)] | None = None
    language: Annotated[str, Field(max_length=10)] | None = None
    key: Annotated[str, Field(min_length=8, max_length=200)] | None = None


@router.post("/api/recruit/start")
def start(said: Start, request: Request, campaign: Campaign) -> dict[str, str]:
    """Begin paid work, or go on with it; an id that comes back is the same person.

    Work has one link: with the key of before it is the same, with another one the link of before ends.
    """
    refuse_other_sites(request)
    address = request.client.host if request.client is not None else ""
    limit_rate(request, f"recruit {address}", per_second=5, burst=300)
    settings = campaign.settings
    recruiting = settings.recruiting
    if said.platform != recruiting.platform:
        raise ApiError(404, "nobody is recruited from there at the moment")
    submit_to = None
    if said.platform == "mturk":
        submit_to = allowed_origin(recruiting, said.submit_to or "")
        if submit_to is None or said.assignment == PREVIEW:
            raise ApiError(400, "this is not an assignment of a platform that work is sent to")

    def act(change: Change) -> str:
        _refuse_new_work(change, said, settings.judging.answers_per_assessor)
        sitting = begin_sitting(
            change,
            said.platform,
            worker=said.worker,
            assignment=said.assignment,
            study=said.study,
            submit_to=submit_to,
        )
        return sitting_link(change, sitting.assessor, sitting.number, key=said.key).token

    token = campaign.store.write(act)
    # The pages that follow are in the language of this one, whether it was chosen or not.
    usual = page_language(request, settings.pages.language)
    other = said.language is not None and said.language != usual
    language = f"?{urlencode({'language': said.language})}" if other else ""
    return {"token": token, "link": f"/judge/{token}{language}"}


def _refuse_new_work(change: Change, said: Start, limit: int | None) -> None:
    """Refuse work that cannot be done, before somebody spends time on it; what was begun may be looked at."""
    connection: sa.Connection = change.connection
    assessor = find_platform_person(connection, change.campaign, said.platform, said.worker)
    if assessor is not None:
        if has_only_ended_links(change, assessor):
            raise ApiError(409, "the organiser has ended your links", code="revoked")
        if find_sitting(connection, change.campaign, said.platform, said.assignment, assessor) is not None:
            return
        person = find_assessor(change, assessor)
        if person["state"] == "rejected":
            raise ApiError(409, "you cannot take part in this again", code="rejected")
        if limit is not None and person["answers"] >= limit:
            raise ApiError(409, "you have given all the answers that one person may give", code="enough")
    if change.row["state"] != "open":
        paused = change.row["state"] == "paused"
        raise ApiError(409, "no new work is given out", code="paused" if paused else "over")
