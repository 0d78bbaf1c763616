"""In which language a page is: the one that somebody chose, the campaign's, the browser's, or English."""

from __future__ import annotations

import re

from fastapi import Request
from starlette.responses import Response

from earmark.web.catalogue import ENGLISH, LANGUAGES

# A browser names a handful; nobody has to read what a program makes up.
_MOST_RANGES = 50
_RANGE = re.compile(
    r"\s*([A-Za-z]{1,8}|\*)(?:-[A-Za-z0-9]{1,8})*\s*(?:;\s*[qQ]\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?"
)


def accepted_language(header: str) -> str | None:
    """Return the shipped language that a browser asks for most; None where it asks for others only.

    Parameters
    ----------
    header : str
        The value of ``Accept-Language`` (RFC 9110, section 12.5.4). A region is left out: ``es-MX`` is Spanish. Of
        languages with the same weight, the first one is taken. What is not well formed is passed over.

    Examples
    --------
    >>> accepted_language("fr-CH, fr;q=0.9, es;q=0.7, en;q=0.8")
    'en'
    >>> accepted_language("es-MX")
    'es'
    >>> accepted_language("de, fr;q=0.5") is None
    True
    """
    weights: dict[str, float] = {}
    for part in header.split(",")[:_MOST_RANGES]:
        found = _RANGE.fullmatch(part)
        if found is not None:
            name, weight = found[1].lower(), float(found[2] or 1)
            weights[name] = max(weight, weights.get(name, 0.0))
    # An asterisk stands for all that are not named.
    every = weights.pop("*", 0.0)
    offered = {name: weight for name, weight in weights.items() if name in LANGUAGES}
    offered |= {name: every for name in LANGUAGES if name not in offered}
    best = max(offered, key=lambda name: offered[name])
    return best if offered[best] > 0 else None


def page_language(request: Request, usual: str, chosen: str | None = None) -> str:
    """Return the language of a page for assessors.

    Parameters
    ----------
    request : Request
    usual : str
        The campaign's. English is what a campaign has when nobody chose, so the browser may say otherwise; any other
        language was chosen by the organiser.
    chosen : str, optional
        What the address asks for.
    """
    if chosen in LANGUAGES:
        return chosen
    if usual != ENGLISH:
        return usual
    return accepted_language(request.headers.get("accept-language", "")) or ENGLISH


def varying(response: Response) -> Response:
    """Tell caches that a page depends on the languages of the browser."""
    response.headers.add_vary_header("Accept-Language")
    return response
