"""What goes wrong, in one shape: ``{"error": {"code": …, "message": …}}`` with the HTTP status that fits."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from earmark.errors import EarmarkError, ParameterError

_log = logging.getLogger("earmark.web")

CODES = {
    400: "invalid",
    401: "unauthorised",
    403: "forbidden",
    404: "unknown",
    405: "method",
    408: "slow",
    409: "conflict",
    410: "closed",
    413: "too_large",
    415: "invalid",
    416: "range",
    422: "invalid",
    429: "too_many",
    500: "server",
    503: "busy",
}
_WORDS = {
    400: "this request cannot be understood",
    416: "the file has no such part",
}
"""What is said where a library has refused a request in its own words."""
_SHOWN_INPUT = 200


class ApiError(HTTPException):
    """An answer that is not the one wanted.

    Parameters
    ----------
    status : int
        Of HTTP.
    message : str
        In words, for the person at the other end.
    code : str, optional
        For programs; follows from the status where it is left out.
    """

    def __init__(self, status: int, message: str, *, code: str | None = None) -> None:
        super().__init__(status, message)
        self.code = code or CODES.get(status, "server")


def error_body(code: str, message: str) -> dict[str, dict[str, str]]:
    """Return the one shape of errors."""
    return {"error": {"code": code, "message": message}}


def error_response(status: int, message: str = "", *, code: str | None = None, **headers: str) -> JSONResponse:
    """Return an error as a response; without a message, with the usual words for the status."""
    words = message or _WORDS.get(status, "this request is refused")
    return JSONResponse(error_body(code or CODES.get(status, "server"), words), status, headers=headers)


Handler = Callable[[Request, Exception], Response | Awaitable[Response]]


def add_error_handlers(app: FastAPI) -> None:
    """Give every error of an app the one shape."""
    handlers: dict[Any, Handler] = {
        HTTPException: _on_http,
        RequestValidationError: _on_invalid,
        EarmarkError: _on_earmark,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _on_http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = getattr(error, "code", None) or CODES.get(error.status_code, "server")
    words = str(error.detail)
    if error.status_code in (404, 405) and not isinstance(error, ApiError):
        words = "there is nothing at this address" if error.status_code == 404 else "this address does not take that"
    return JSONResponse(error_body(code, words), error.status_code, headers=dict(error.headers or {}))


def _on_invalid(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(one) for one in first["loc"] if one != "body") or "the request"
    return error_response(422, f"{place}: {str(first['msg'])[:_SHOWN_INPUT]}")


def store_response(error: Exception) -> Response:
    """Return what is said while the store is away."""
    _log.error("store: %s", error)
    return error_response(
        503, "the answers cannot be stored at the moment: try again in a minute", **{"Retry-After": "5"}
    )


def _on_earmark(request: Request, error: Exception) -> Response:
    if isinstance(error, ParameterError) or request.scope.get("earmark_who") == "organiser":
        return error_response(400, str(error))
    # A file of the campaign is wrong. What it says, and where it is, is for the organiser.
    _log.error("%s %s: %s", request.method, route_of(request.scope), error)
    said = "the campaign is not ready at the moment: try again in a minute"
    return error_response(503, said, **{"Retry-After": "30"})


def bug_response() -> JSONResponse:
    """Return what somebody sees when the mistake is ours."""
    return error_response(500, "something went wrong on our side: try again, or tell the organiser if it happens again")


def route_of(scope: Scope) -> str:
    """Return the pattern of a request's route, and not its address, which may hold a link."""
    return str(getattr(scope.get("route"), "path", "other"))
