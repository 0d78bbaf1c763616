"""Who may do what: links and cookies, headers of every response, limits on size and rate.

Assessors send the token of their link in the header ``Authorization``, so no other site can act in their name and pages
work inside the frame of a recruiting platform, where cookies do not. The organiser signs in with the secret of the link
and has a cookie for a week (:mod:`earmark.store.signing_in`); whatever changes something needs a header too that only
pages of this app can send.

There are three limits on how often somebody may ask, each counted by every process for itself. A person with a link,
and a session of the organiser, may ask so often. An address may fail so often: a classroom shares one, so what succeeds
is not counted, and whoever has a valid link does not notice what others at the same address try. People who come from a
recruiting platform have no link yet, so their first page is limited by address.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earmark.store.links import Link, find_link, is_organiser
from earmark.store.signing_in import has_session
from earmark.store.store import Store
from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError, bug_response, error_response, route_of

_log = logging.getLogger("earmark.web")

SAME_SITE_HEADER = "X-Earmark"
LARGEST_BODY = 256 * 1024
_LONGEST_TOKEN = 256
_LONGEST_PATH = 300
# What counts as a failed attempt of somebody without a valid link.
_FAILED = (400, 401, 403, 404, 405, 422)
_MOST_LIMITED = 10_000

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' blob: data:",
    "media-src": "'self' blob:",
    "connect-src": "'self'",
    "font-src": "'self'",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
}


def content_policy(**changes: str) -> str:
    """Return the content security policy; ``frame_ancestors="https://…"`` changes a directive."""
    policy = _POLICY | {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in policy.items())


# ---- assessors -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Visitor:
    """Somebody who came by a link.

    Attributes
    ----------
    token : str
        Of the link.
    link : Link
        What it is good for.
    """

    token: str
    link: Link

    @property
    def assessor(self) -> str:
        """The pseudonym.

        Raises
        ------
        ApiError
            Where the link is for several people and this one has not joined.
        """
        if self.link.assessor is None:
            raise ApiError(409, "join first: this link is for several people", code="join")
        return self.link.assessor


def campaign_of(request: Request) -> WebCampaign:
    """Return the campaign of the app that answers a request."""
    campaign = request.app.state.campaign
    assert isinstance(campaign, WebCampaign)
    return campaign


def bearer(request: Request) -> str | None:
    """Return the token in the header of a request."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and 0 < len(token) <= _LONGEST_TOKEN else None


def link_of(store: Store, token: str) -> Link | None:
    """Return what a token is good for; None where it is good for nothing."""
    if not 0 < len(token) <= _LONGEST_TOKEN or not token.isascii() or "\0" in token:
        return None
    return store.read(lambda connection: find_link(connection, store.campaign, token))


def visitor(request: Request, campaign: Annotated[WebCampaign, Depends(campaign_of)]) -> Visitor:
    """Return who came by a link.

    Raises
    ------
    ApiError
        If the link is unknown or was revoked, or the same person asks too often.
    """
    token = bearer(request)
    link = None if token is None else link_of(campaign.store, token)
    if token is None or link is None or link.role == "organiser":
        raise ApiError(401, "this link is not valid any more: ask the organiser for a new one")
    # Somebody with several links asks no more often for that.
    limit_rate(request, f"link {token}" if link.assessor is None else f"assessor {link.assessor}")
    request.scope["earmark_who"] = link.assessor or "open link"
    return Visitor(token, link)


# ---- the organiser ---------------------------------------------------------------------------------------------------


def cookie_name(campaign: WebCampaign) -> str:
    """Return the name of the organiser's cookie: browsers send cookies to all ports of a host, whatever runs there."""
    return f"earmark_{campaign.opened.settings.id[:16]}"


def session_token(request: Request, campaign: WebCampaign) -> str | None:
    """Return what the organiser's cookie holds; None where there is none, or it cannot be one of ours."""
    token = request.cookies.get(cookie_name(campaign), "")
    return token if token.isascii() and 0 < len(token) <= _LONGEST_TOKEN else None


def is_signed_in(request: Request, campaign: WebCampaign) -> bool:
    """Tell whether a request comes from the organiser: a program with the secret of the link, or a session."""
    return _organiser_token(request, campaign) is not None


def _organiser_token(request: Request, campaign: WebCampaign) -> str | None:
    secret, token, store = bearer(request), session_token(request, campaign), campaign.store
    if secret is not None:
        known = secret.isascii() and store.read(lambda one: is_organiser(one, store.campaign, secret))
        return secret if known else None
    return token if token is not None and has_session(store, token) else None


def organiser(request: Request, campaign: Annotated[WebCampaign, Depends(campaign_of)]) -> WebCampaign:
    """Return the campaign, if the request comes from its organiser.

    Raises
    ------
    ApiError
        If it does not, another site sent it, or the same organiser asks too often.
    """
    token = _organiser_token(request, campaign)
    if token is None:
        raise ApiError(401, "open the organiser's link first")
    limit_rate(request, f"organiser {token}")
    if request.method not in ("GET", "HEAD"):
        refuse_other_sites(request)
    request.scope["earmark_who"] = "organiser"
    return campaign


def refuse_other_sites(request: Request) -> None:
    """Refuse a request that a page of another site sent.

    A browser adds the header only for pages of this app: others would have to ask first, and are not allowed.
    """
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    if request.headers.get(SAME_SITE_HEADER) is None or foreign or site not in (None, "same-origin", "none"):
        raise ApiError(403, "this can only be done from a page of this app")


# ---- limits ----------------------------------------------------------------------------------------------------------


@dataclass
class RateLimiter:
    """How often somebody may ask: so many times at once, and so many per second from then on.

    Parameters
    ----------
    per_second, burst : float
        For a person with a link, or for whoever has none yet.
    failures_per_second, failures : float
        For requests that fail, by address.
    """

    per_second: float = 20.0
    burst: float = 600.0
    failures_per_second: float = 2.0
    failures: float = 200.0
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def seconds_to_wait(self, who: str, *, per_second: float | None = None, burst: float | None = None) -> float:
        """Count one request; returns 0, or after how many seconds the next one is welcome."""
        rate, most = per_second or self.per_second, burst or self.burst
        now = time.monotonic()
        with self._lock:
            left, since = self._left.get(who, (most, now))
            left = min(most, left + rate * (now - since))
            self._left[who] = (left - 1 if left >= 1 else left), now
            self._left.move_to_end(who)
            if len(self._left) > _MOST_LIMITED:
                # Whoever was not here for the longest time has the whole burst again.
                self._left.popitem(last=False)
            return 0.0 if left >= 1 else (1 - left) / rate

    def seconds_after_failure(self, address: str) -> float:
        """Count one failed request of an address; returns as :meth:`seconds_to_wait`."""
        limits = {"per_second": self.failures_per_second, "burst": self.failures}
        return self.seconds_to_wait(f"failures {address}", **limits)


def limit_rate(request: Request, who: str, **limits: float) -> None:
    """Refuse a request of somebody who asks too often."""
    limiter: RateLimiter = request.app.state.limiter
    wait = limiter.seconds_to_wait(who, **limits)
    if wait:
        error = ApiError(429, _wait(wait))
        error.headers = {"Retry-After": str(math.ceil(wait))}
        raise error


def _wait(seconds: float) -> str:
    return f"too many requests: wait {math.ceil(seconds)} s"


def _too_many(seconds: float) -> Response:
    return error_response(429, _wait(seconds), **{"Retry-After": str(math.ceil(seconds))})


def _address(scope: Scope) -> str:
    """Return where a request comes from; of IPv6 the network, as whoever has one address there has 2**64."""
    host = str((scope.get("client") or ("",))[0])
    try:
        found = ip_address(host)
    except ValueError:
        return host
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or IPv6Network((int(found), 64), strict=False))
    return host


def _limited_page(scope: Scope) -> str | None:
    """Return whose limit the page of a link, or the first page of somebody from a platform, counts for."""
    path = scope["path"]
    if path.startswith("/judge/"):
        return f"page {path[:_LONGEST_PATH]}"
    return f"arriving {_address(scope)}" if path.startswith("/recruit/") else None


# ---- every response --------------------------------------------------------------------------------------------------


class ProtectedResponses:
    """Middleware: headers of every response, limits on size and rate, one shape of errors, and steady times.

    Giving out a trap takes another time than giving out a question. Responses to assessors that change something
    therefore leave at the next multiple of a fixed time after the request came.
    """

    STEP = 0.05

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        out = _with_headers(scope, _at_steady_times(scope, send))
        refused = _refused(scope)
        if refused is not None:
            await refused(scope, receive, out)
            return
        received, started = 0, False

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > LARGEST_BODY:
                raise ApiError(413, _TOO_LARGE)
            return message

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            await out(message)

        try:
            await self.app(scope, limited, _in_one_shape(scope, receive, sending))
        except Exception as error:
            # What went wrong inside is for the log alone.
            _log.error("%s %s failed", scope["method"], route_of(scope), exc_info=error)
            if started:
                raise
            await bug_response()(scope, receive, out)


_TOO_LARGE = f"a request has at most {LARGEST_BODY:,} bytes"


def _refused(scope: Scope) -> Response | None:
    """Return what is said to a request that nobody has to look at; None for all others."""
    length = Headers(scope=scope).get("content-length", "0")
    if not length.isdigit() or int(length) > LARGEST_BODY:
        return error_response(413, _TOO_LARGE)
    who = _limited_page(scope)
    wait = 0.0 if who is None else _limiter(scope).seconds_to_wait(who)
    return _too_many(wait) if wait else None


def _limiter(scope: Scope) -> RateLimiter:
    limiter: RateLimiter = scope["app"].state.limiter
    return limiter


def _in_one_shape(scope: Scope, receive: Receive, send: Send) -> Send:
    """Say errors of libraries in the one shape, and that somebody without a valid link has failed too often."""
    replaced = False

    def instead(message: Message) -> Response | None:
        status, headers = message["status"], Headers(raw=message["headers"])
        kind = headers.get("content-type", "")
        # The page to sign in on is for everybody, whatever others at the same address try.
        is_page = status == 401 and kind.startswith("text/html")
        if status in _FAILED and not is_page and "earmark_who" not in scope:
            wait = _limiter(scope).seconds_after_failure(_address(scope))
            if wait:
                return _too_many(wait)
        if status < 400 or kind.startswith(("application/json", "text/html")):
            return None
        kept = {name: headers[name] for name in ("content-range", "allow", "retry-after") if name in headers}
        return error_response(status, **kept)

    async def sending(message: Message) -> None:
        nonlocal replaced
        other = instead(message) if message["type"] == "http.response.start" else None
        if other is not None:
            replaced = True
            await other(scope, receive, send)
        elif not replaced:
            await send(message)

    return sending


def _at_steady_times(scope: Scope, send: Send) -> Send:
    began = time.monotonic()
    if scope["method"] != "POST" or not scope["path"].startswith("/api/judge/"):
        return send

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            spent, step = time.monotonic() - began, ProtectedResponses.STEP
            await asyncio.sleep(math.ceil(spent / step) * step - spent)
        await send(message)

    return sending


def _with_headers(scope: Scope, send: Send) -> Send:
    campaign: WebCampaign = scope["app"].state.campaign
    fixed: dict[str, Any] = _HEADERS | {"Content-Security-Policy": content_policy()}
    if campaign.is_https(scope["scheme"]):
        # Browsers take these from a secure origin only.
        fixed |= {"Strict-Transport-Security": "max-age=31536000", "Cross-Origin-Opener-Policy": "same-origin"}
    # What is the same for everybody is kept by the browser, which asks whether it is still so.
    fixed["Cache-Control"] = "no-cache" if scope["path"].startswith("/static/") else "no-store"

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in fixed.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
