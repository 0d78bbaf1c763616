"""Pages of the organiser: the dashboard, people, answers, settings, files; and what they are made of.

Looking changes nothing: everything here is a GET, but for the look ahead, which is kept. What an organiser does is in
:mod:`earmark.web.organiser_actions`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from earmark.pages import render
from earmark.store.backups import backup
from earmark.store.exports import Naming, What, export
from earmark.store.overview import open_links
from earmark.store.store import check_text
from earmark.store.stored import StoredCampaign
from earmark.web import organiser_actions, paying
from earmark.web.answers_shown import shown_answers
from earmark.web.catalogue import ENGLISH, chosen_language, words
from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError
from earmark.web.happened import shown_changes, shown_reports
from earmark.web.live import Live
from earmark.web.reports import campaign_report
from earmark.web.security import campaign_of, is_signed_in, organiser
from earmark.web.settings_form import shown_settings
from earmark.web.translation import translated_state
from earmark.web.watch import Watcher

router = APIRouter(tags=["organiser"])
router.include_router(organiser_actions.router)

Organised = Annotated[WebCampaign, Depends(organiser)]

PAGES = ("results", "people", "answers", "settings", "files", "recruiting")
_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "jsonl": "application/x-ndjson",
    "qrels": "text/plain; charset=utf-8",
}
# A picture opened by itself: the shapes that matplotlib draws carry their style with them, and nothing else may load.
_PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"


def watcher_of(request: Request) -> Watcher:
    """Return what looks at the campaign for all pages of this process."""
    state = request.app.state
    if not hasattr(state, "watcher"):
        campaign = campaign_of(request)
        state.watcher = Watcher(lambda: campaign.folder)
    watcher: Watcher = state.watcher
    return watcher


def live_of(request: Request) -> Live:
    """Return what tells all pages of this process that something happened."""
    state = request.app.state
    if not hasattr(state, "live"):
        state.live = Live(watcher_of(request).version)
    live: Live = state.live
    return live


# ---- pages -----------------------------------------------------------------------------------------------------------


def _page(name: str) -> Callable[..., HTMLResponse]:
    """Return the route of a page of the organiser, which shows where to sign in to everybody else."""

    def page(request: Request, campaign: Annotated[WebCampaign, Depends(campaign_of)]) -> HTMLResponse:
        settings = campaign.settings
        language = chosen_language(request.query_params.get("language"), settings.pages.language)
        known = words(language, "organise")
        shown: dict[str, Any] = {"language": language, "words": known, "title": campaign.title, "page": name}
        if not is_signed_in(request, campaign):
            return HTMLResponse(render("web/organise_sign_in.html", **shown), 401)
        shown |= {"pages": PAGES, "kind": settings.kind}
        if name == "recruiting":
            shown["panel"] = paying.organiser_panel(campaign, language)
        return HTMLResponse(render(f"web/organise_{name}.html", **shown))

    return page


for _name in PAGES:
    router.add_api_route(
        "/organise" if _name == "results" else f"/organise/{_name}",
        _page(_name),
        methods=["GET"],
        response_class=HTMLResponse,
        include_in_schema=False,
    )


@router.get("/api/organise/state")
def state(
    request: Request, campaign: Organised, language: Annotated[str, Query(max_length=20)] = ENGLISH
) -> JSONResponse:
    """Return what the dashboard shows, with its sentences in a language."""
    watcher = watcher_of(request)
    shown = translated_state(watcher.state(), chosen_language(language, ENGLISH), watcher.look().systems)
    return JSONResponse(shown | {"settings_problem": campaign.problem_with_settings})


@router.post("/api/organise/forecast")
def forecast(request: Request, campaign: Organised) -> dict[str, Any]:
    """Look ahead: how many more judgments open pairs take. It lasts seconds, so it is done when it is asked for.

    What it says is kept, so that every page shows it.
    """
    watcher = watcher_of(request)
    if watcher.look().hidden:
        raise ApiError(409, "the ranking is hidden until the campaign is closed", code="hidden")
    if campaign.settings.kind != "grade":
        raise ApiError(409, "there are forecasts for campaigns of kind grade only")

    def read() -> StoredCampaign:
        # Where the worker runs in this process, most of the work is done.
        known = None if campaign.worker is None else campaign.worker.campaign
        return known if isinstance(known, StoredCampaign) else StoredCampaign.read(campaign.folder)

    return watcher.look_ahead(read)


@router.get("/api/organise/live", dependencies=[Depends(organiser)])
async def live(request: Request) -> StreamingResponse:
    """Tell by server-sent events when something happened."""
    # A proxy that keeps lines back until it has enough of them would make this useless.
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(live_of(request).stream(), media_type="text/event-stream", headers=headers)


@router.get("/organise/figures/{name}.{ending}", dependencies=[Depends(organiser)])
def figure(request: Request, name: str, ending: Literal["svg", "csv"]) -> Response:
    """Return a picture, or the data it is drawn from."""
    found = watcher_of(request).figure(name, ending)
    if found is None:
        raise ApiError(404, "there is no such picture, or it is hidden until the campaign is closed")
    headers = {"Content-Security-Policy": _PICTURE_POLICY} if ending == "svg" else {}
    if ending == "csv" or "download" in request.query_params:
        headers |= _attached(f"{name}.{ending}")
    media = "image/svg+xml" if ending == "svg" else _TYPES["csv"]
    return Response(found, media_type=media, headers=headers)


# ---- people, answers, settings ---------------------------------------------------------------------------------------


@router.get("/api/organise/people")
def people(request: Request, campaign: Organised) -> dict[str, Any]:
    """Return everybody who was invited or has answered, and the links that several people may use."""
    address = organiser_actions.links_address(request, campaign)
    return {
        "assessors": watcher_of(request).state()["assessors"],
        "open_links": open_links(campaign.store),
        "address": address,
        "local": organiser_actions.is_local(address),
    }


@router.get("/api/organise/answers")
def answers(
    campaign: Organised,
    assessor: Annotated[str | None, Query(max_length=200)] = None,
    query: Annotated[str | None, Query(max_length=500)] = None,
    before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> dict[str, Any]:
    """Return single answers, the newest first."""
    check_text(assessor, query)
    return shown_answers(campaign, assessor=assessor, query=query, before=before, limit=limit)


@router.get("/api/organise/settings")
def settings(campaign: Organised) -> dict[str, Any]:
    """Return the settings that may be changed."""
    return {"settings": shown_settings(campaign.folder), "problem": campaign.problem_with_settings}


@router.get("/api/organise/changes")
def changes(request: Request, campaign: Organised) -> dict[str, Any]:
    """Return what changed during the campaign, the newest first."""
    return {"changes": shown_changes(watcher_of(request).look(), campaign.store)}


@router.get("/api/organise/reports", dependencies=[Depends(organiser)])
def reports(request: Request) -> dict[str, Any]:
    """Return what does not play, what was skipped and what people remarked, the newest first."""
    return shown_reports(watcher_of(request).look())


# ---- files -----------------------------------------------------------------------------------------------------------


@router.get("/organise/export/{what}.{ending}")
def exported(
    campaign: Organised,
    what: What,
    ending: Literal["csv", "parquet", "jsonl", "qrels"],
    people: Naming = "pseudonyms",
) -> Response:
    """Return judgments, answers or the log as a file."""
    name = f"{what}.{ending}"
    with _scratch() as home:
        export(campaign.folder, home / name, what=what, people=people)
        data = (home / name).read_bytes()
    return Response(data, media_type=_TYPES[ending], headers=_attached(name))


@router.get("/organise/backup.zip")
def backed_up(campaign: Organised) -> Response:
    """Return a backup: the log, the settings, the inputs and who people are."""
    with _scratch() as home:
        backup(campaign.folder, home / "backup.zip")
        data = (home / "backup.zip").read_bytes()
    return Response(data, media_type="application/zip", headers=_attached("backup.zip"))


@router.get("/organise/report.html", response_class=HTMLResponse)
def report(request: Request, campaign: Organised) -> HTMLResponse:
    """Return the report, while people judge or after the end."""
    if watcher_of(request).look().hidden:
        raise ApiError(409, "the ranking is hidden until the campaign is closed, and the report with it", code="hidden")
    return HTMLResponse(campaign_report(campaign.folder), headers=_attached("report.html"))


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="earmark-") as home:
        yield Path(home)


def _attached(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
