"""The app of one campaign: its routes, what they share, and what runs beside them."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib.resources import files
from types import FrameType
from typing import Annotated

import anyio
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles

from earmark._version import __version__
from earmark.errors import StoreError
from earmark.store.folder import CampaignFolder
from earmark.store.signing_in import SECONDS, close_session, open_session
from earmark.store.usage import settle
from earmark.store.worker import LAST_ESTIMATE, Worker
from earmark.web import assessor, media_files, metrics, organiser, recruiting
from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError, add_error_handlers, store_response
from earmark.web.languages import page_language, varying
from earmark.web.limits import SETTLE_EVERY, RateLimiter
from earmark.web.responses import ProtectedResponses
from earmark.web.security import campaign_of, cookie_name, refuse_other_sites, session_token

_THREADS = 64

router = APIRouter()


def create_app(folder: CampaignFolder, *, worker: bool = True, secure: bool | None = None) -> FastAPI:
    """Make the app of a campaign.

    Parameters
    ----------
    folder : CampaignFolder
        Of the campaign, open.
    worker : bool
        Keep the estimates fresh in this process; of several processes, one does at a time.
    secure : bool, optional
        The app is reached by https, whatever a request looks like; when omitted, as the campaign's address says.

    Examples
    --------
    ``uvicorn.run(create_app(CampaignFolder.open("study")))``
    """
    campaign = WebCampaign(folder, Worker(folder) if worker else None, secure)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Every request waits for the store in a thread of its own.
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
        running = None if campaign.worker is None else campaign.worker.start()
        settling = asyncio.create_task(_settle_limits(app))
        try:
            with _ending_streams(app):
                yield
        finally:
            settling.cancel()
            if running is not None:
                thread, stopped = running
                stopped.set()
                await anyio.to_thread.run_sync(thread.join, LAST_ESTIMATE)

    app = FastAPI(
        title="earmark",
        version=__version__,
        description="Listening tests that say which retrieval system is better, and how sure that is.",
        lifespan=lifespan,
        openapi_url="/api/openapi.json",
        # Their pages would load scripts from another server.
        docs_url=None,
        redoc_url=None,
        # A redirect would go to the host that the client names.
        redirect_slashes=False,
    )
    app.state.campaign = campaign
    app.state.limiter = RateLimiter()
    add_error_handlers(app)
    app.add_exception_handler(StoreError, _on_store)
    for part in (router, assessor.router, media_files.router, organiser.router, recruiting.router, metrics.router):
        app.include_router(part)
    app.mount("/static", StaticFiles(directory=str(files("earmark.web") / "static")), name="static")
    app.add_middleware(ProtectedResponses)
    app.add_middleware(metrics.Observed)
    return app


def _on_store(request: Request, error: Exception) -> Response:
    """Say that the store is away: in words on a page that tries again by itself, as JSON to everybody else."""
    said = store_response(error)
    if request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
        return said
    # The settings as they were read last: the store that would have newer ones is away.
    language = page_language(request, campaign_of(request).opened.settings.pages.language)
    page = assessor.message_page(language, "away", status=said.status_code)
    page.headers["Refresh"] = page.headers["Retry-After"] = said.headers["Retry-After"]
    return varying(page)


async def _settle_limits(app: FastAPI) -> None:
    """Settle with the other processes, every second, how often somebody may still ask."""
    campaign: WebCampaign = app.state.campaign
    while True:
        await asyncio.sleep(SETTLE_EVERY)
        limiter: RateLimiter = app.state.limiter
        spent = limiter.unsettled()
        if spent:
            # The store may be away: then every process counts for itself until it is back.
            with suppress(StoreError):
                limiter.settle(spent, await anyio.to_thread.run_sync(settle, campaign.store, spent))


@contextmanager
def _ending_streams(app: FastAPI) -> Iterator[None]:
    """End the streams of open dashboards as soon as a signal comes: the server waits for all that is under way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}

    def end(number: int, frame: FrameType | None) -> None:
        live = getattr(app.state, "live", None)
        if live is not None:
            loop.call_soon_threadsafe(live.close)
        earlier = before[signal.Signals(number)]
        if callable(earlier):
            earlier(number, frame)

    for one in before:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


@router.get("/", response_class=HTMLResponse, include_in_schema=False)
def front(
    request: Request, campaign: Annotated[WebCampaign, Depends(campaign_of)], language: str | None = None
) -> Response:
    """Return a page for those who come without a link."""
    chosen = page_language(request, campaign.settings.pages.language, language)
    return varying(assessor.message_page(chosen, "front"))


@router.get("/robots.txt", include_in_schema=False)
def robots() -> Response:
    """Keep search engines out."""
    return Response("User-agent: *\nDisallow: /\n", media_type="text/plain")


class SignIn(BaseModel):
    """The secret of the organiser's link."""

    model_config = ConfigDict(extra="forbid")

    secret: Annotated[str, Field(min_length=1, max_length=200)]


@router.post("/api/organise/session", tags=["organiser"])
def sign_in(
    said: SignIn, request: Request, response: Response, campaign: Annotated[WebCampaign, Depends(campaign_of)]
) -> dict[str, str]:
    """Sign in with the secret of the organiser's link; a cookie keeps the session for a week."""
    refuse_other_sites(request)
    token = open_session(campaign.store, said.secret) if said.secret.isascii() else None
    if token is None:
        raise ApiError(401, "this is not the organiser's link, or a newer one was made")
    response.set_cookie(
        cookie_name(campaign),
        token,
        max_age=SECONDS,
        httponly=True,
        samesite="strict",
        secure=campaign.is_https(request.url.scheme),
        path="/",
    )
    return {"status": "signed in"}


@router.post("/api/organise/leave", tags=["organiser"])
def sign_out(
    request: Request, response: Response, campaign: Annotated[WebCampaign, Depends(campaign_of)]
) -> dict[str, str]:
    """End the session and forget the cookie."""
    refuse_other_sites(request)
    token = session_token(request, campaign)
    if token is not None:
        close_session(campaign.store, token)
    secure = campaign.is_https(request.url.scheme)
    response.delete_cookie(cookie_name(campaign), path="/", httponly=True, samesite="strict", secure=secure)
    return {"status": "signed out"}
