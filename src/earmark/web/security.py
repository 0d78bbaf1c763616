"""Who may do what: the links of assessors and the cookie of the organiser.

Assessors send the token of their link in the header ``Authorization``, so no other site can act in their name and pages
work inside the frame of a recruiting platform, where cookies do not. The organiser signs in with the secret of the link
and has a cookie for a week (:mod:`earmark.store.signing_in`); whatever changes something needs a header too that only
pages of this app can send.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

from earmark.store.links import Link, find_link, is_organiser
from earmark.store.signing_in import has_session
from earmark.store.store import Store
from earmark.web.context import WebCampaign
from earmark.web.errors import ApiError
from earmark.web.limits import limit_rate

SAME_SITE_HEADER = "X-Earmark"
_LONGEST_TOKEN = 256


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
