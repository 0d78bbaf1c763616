"""Sounds and pictures by tickets: with a live link only, private, and gone when the campaign is closed.

No path of a client is ever opened: a ticket names a file that the list of media has, or nothing. Headers are the same
for all files of a kind; the usual ones, of size and time of a file, would tell that two tickets are for the same file.
"""

from __future__ import annotations

from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Depends
from starlette.responses import FileResponse, JSONResponse, Response

from earmark.media.manifest import Manifest, Served
from earmark.store.schema import assessors, campaigns
from earmark.store.store import Store
from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError
from earmark.web.security import Visitor, campaign_of, visitor
from earmark.web.shown import read_ticket

router = APIRouter(tags=["media"])

_LONG_AGO = "Thu, 01 Jan 2026 00:00:00 GMT"

Campaign = Annotated[WebCampaign, Depends(campaign_of)]
Who = Annotated[Visitor, Depends(visitor)]


class _Sound(FileResponse):
    """A file in a few large pieces: every piece is read by a thread, which many small ones would keep busy."""

    chunk_size = 1 << 20


@router.get("/media/{ticket}", response_class=Response)
def medium(ticket: str, who: Who, campaign: Campaign) -> Response:
    """Return a sound or a picture; a part of it where the request names a range."""
    manifest, part = _find(ticket, who, campaign)
    assert part.file is not None
    path = manifest.path(part.file)
    if not path.is_file():
        raise ApiError(404, "this clip is not there: report that it does not play")
    return _Sound(path, media_type=part.media_type, headers=_headers(ticket))


@router.get("/media/{ticket}/peaks", response_class=JSONResponse)
def peaks(ticket: str, who: Who, campaign: Campaign) -> Response:
    """Return the outline of a waveform: ``min`` and ``max`` of equal stretches, -100 to 100."""
    manifest, part = _find(ticket, who, campaign)
    if part.peaks is None or not (path := manifest.path(part.peaks)).is_file():
        raise ApiError(404, "there is no waveform of this clip")
    return Response(path.read_bytes(), media_type="application/json", headers=_headers(ticket))


def _find(ticket: str, who: Visitor, campaign: WebCampaign) -> tuple[Manifest, Served]:
    manifest = campaign.manifest
    name = read_ticket(campaign.secret, who.assessor, ticket)
    part = None if manifest is None or name is None else manifest.by_file.get(name)
    if manifest is None or part is None:
        raise ApiError(404, "there is no such clip")
    state, standing = _states(campaign.store, who.assessor)
    if state == "closed":
        raise ApiError(410, "the campaign is closed: its clips are not served any more")
    if standing == "rejected":
        raise ApiError(403, "you are not asked any more, so clips are not served to you any more")
    return manifest, part


def _states(store: Store, assessor: str) -> tuple[str, str | None]:
    """Return the state of the campaign and that of an assessor, None before the first question."""
    mine = sa.and_(assessors.c.campaign == campaigns.c.id, assessors.c.assessor == assessor)
    query = sa.select(campaigns.c.state, assessors.c.state.label("standing")).where(campaigns.c.id == store.campaign)
    query = query.select_from(campaigns.outerjoin(assessors, mine))
    state, standing = store.read(lambda connection: connection.execute(query).one())
    return str(state), None if standing is None else str(standing)


def _headers(ticket: str) -> dict[str, Any]:
    return {
        "Cache-Control": "private, no-store",
        "ETag": f'"{ticket[-12:]}"',
        "Last-Modified": _LONG_AGO,
        "Content-Disposition": "inline",
    }
