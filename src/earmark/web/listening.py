"""Whether somebody has listened before they answer.

The page counts for how many seconds each clip was heard, and asks for more before it takes an answer. The server looks
again: at what the page says, and at the time since the question was given out, which no page can shorten.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError
from earmark.web.shown import Shown, find_document, find_query

_SHORTER = 0.1
"""A clip may be so many seconds shorter than it says."""
_ROUNDING = 0.05
_UNKNOWN = 30.0
"""Seconds of a clip that does not say how long it is, as the page assumes."""


def check_listening(
    campaign: WebCampaign, shown: Shown, details: Mapping[str, Any], *, taken: datetime, now: datetime
) -> None:
    """Refuse an answer of somebody who has not listened for as long as the organiser wants.

    Parameters
    ----------
    campaign : WebCampaign
    shown : Shown
    details : mapping
        What the page tells; ``heard`` is a list of ``{"part": …, "seconds": …}``.
    taken, now : datetime
        When the question was given out, and when the answer comes.

    Raises
    ------
    ApiError
        With the code ``listen``.
    """
    wanted = wanted_seconds(campaign, shown)
    heard = _heard(details.get("heard"))
    missing = [part for part, seconds in wanted.items() if heard.get(part, 0.0) < seconds - _ROUNDING]
    if missing or (now - taken).total_seconds() < sum(wanted.values()) - _ROUNDING:
        seconds = campaign.settings.pages.minimum_seconds
        raise ApiError(400, f"listen to every clip for {seconds:g} s before you answer", code="listen")


def wanted_seconds(campaign: WebCampaign, shown: Shown) -> dict[str, float]:
    """Return for how long each sound of a question has to be heard, by its place on the page."""
    minimum, manifest = campaign.settings.pages.minimum_seconds, campaign.manifest
    if not minimum or manifest is None:
        return {}
    media = {"query": find_query(manifest, shown.query)}
    media |= {place: find_document(manifest, name, shown.query) for place, name in shown.places().items()}
    wanted = {}
    for place, medium in media.items():
        sound = next((part for part in medium.parts if part.kind == "audio"), None) if medium is not None else None
        if sound is not None:
            length = _UNKNOWN if sound.seconds is None else round(sound.seconds, 1)
            wanted[place] = min(minimum, max(0.0, length - _SHORTER))
    return wanted


def _heard(told: Any) -> dict[str, float]:
    """Return the seconds by part; what is no such list tells nothing."""
    if not isinstance(told, list):
        return {}
    rows = (one for one in told if isinstance(one, dict))
    return {
        str(one.get("part")): float(one["seconds"])
        for one in rows
        if isinstance(one.get("seconds"), int | float) and not isinstance(one["seconds"], bool)
    }
