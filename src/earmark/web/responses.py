"""Every response: its headers, the limits on size and rate, one shape of errors, and steady times."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError, bug_response, error_response, route_of
from earmark.web.hosts import is_allowed
from earmark.web.limits import address_of, limited_page, limiter_of, too_many

_log = logging.getLogger("earmark.web")

LARGEST_BODY = 256 * 1024
SLOWEST_BODY = 30.0
"""For how many seconds the body of a request may be on its way."""
# What counts as a failed attempt of somebody without a valid link.
_FAILED = (400, 401, 403, 404, 405, 422)

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
        received, started, complete = 0, False, False
        until = asyncio.get_running_loop().time() + SLOWEST_BODY

        async def limited() -> Message:
            nonlocal received, complete
            try:
                # Once the body is there, what comes is the end of the connection, whenever that is.
                async with asyncio.timeout_at(None if complete else until):
                    message = await receive()
            except TimeoutError:
                raise ApiError(408, _TOO_SLOW) from None
            complete = not message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > LARGEST_BODY:
                raise ApiError(413, _TOO_LARGE)
            return message

        async def sending(message: Message) -> None:
            nonlocal started
            started = True
            if message["type"] == "http.response.start" and message["status"] == 408:
                # The rest of the body is not waited for.
                MutableHeaders(scope=message)["Connection"] = "close"
            await out(message)

        try:
            await self.app(scope, limited, _in_one_shape(scope, receive, sending))
        except Exception as error:
            # What went wrong inside is for the log alone.
            _log.error("%s %s failed", scope["method"], route_of(scope), exc_info=error)
            if started:
                raise
            await bug_response()(scope, receive, out)


_OTHER_HOST = "this campaign has another address; its organiser can allow this one with the setting people.hosts"
_TOO_SLOW = f"a request has to be here within {SLOWEST_BODY:g} s"
_TOO_LARGE = f"a request has at most {LARGEST_BODY:,} bytes"


def _refused(scope: Scope) -> Response | None:
    """Return what is said to a request that nobody has to look at; None for all others."""
    campaign: WebCampaign = scope["app"].state.campaign
    headers = Headers(scope=scope)
    # Whoever looks whether the server is well may know it by another name, and learns nothing.
    if scope["path"] != "/health" and not is_allowed(headers.get("host"), campaign.opened.settings):
        return error_response(421, _OTHER_HOST, code="host")
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > LARGEST_BODY:
        return error_response(413, _TOO_LARGE)
    who = limited_page(scope)
    wait = 0.0 if who is None else limiter_of(scope).seconds_to_wait(who)
    return too_many(wait) if wait else None


def _in_one_shape(scope: Scope, receive: Receive, send: Send) -> Send:
    """Say errors of libraries in the one shape, and that somebody without a valid link has failed too often."""
    replaced = False

    def instead(message: Message) -> Response | None:
        status, headers = message["status"], Headers(raw=message["headers"])
        kind = headers.get("content-type", "")
        # The page to sign in on is for everybody, whatever others at the same address try.
        is_page = status == 401 and kind.startswith("text/html")
        if status in _FAILED and not is_page and "earmark_who" not in scope:
            wait = limiter_of(scope).seconds_after_failure(address_of(scope))
            if wait:
                return too_many(wait)
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
