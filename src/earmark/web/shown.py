"""What a browser may see of a question: sides and candidates in the order in which they are shown, and tickets.

A question in the store names a query and documents, or systems. An assessor sees none of these names: media come by
tickets, which only the assessor they were made for can use, and an answer says *first*, *second* or the number of a
candidate. Here one becomes the other, and back. Questions and traps go through the same functions, and what comes out
depends on nothing that tells them apart.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from earmark.errors import ParameterError
from earmark.media.manifest import Manifest, Served, ServedMedium
from earmark.store.leases import Question
from earmark.store.rules import QuestionKind
from earmark.store.unanswered import Part
from earmark.web.context import WebCampaign

_NONCE, _NAME, _TAG = 8, 16, 12
_LONGEST_TEXT = 20_000

SIDES = ("first", "second")


# ---- tickets ---------------------------------------------------------------------------------------------------------


def make_ticket(key: bytes, assessor: str, place: str, file: str) -> str:
    """Return what an assessor fetches a file by: the same for the same question, and of no use to anybody else.

    Parameters
    ----------
    key : bytes
        The campaign's secret.
    assessor : str
        Who may use it.
    place : str
        Where the file is shown: the question and the part. The same file in another place has another ticket.
    file : str
        Its name in the folder of media, 32 hexadecimal digits and an ending.
    """
    nonce = digest(key, "place", assessor, place)[:_NONCE]
    name = bytes.fromhex(file.partition(".")[0])
    mask = digest(key, "mask", assessor, nonce.hex())[:_NAME]
    hidden = bytes(a ^ b for a, b in zip(name, mask, strict=True))
    tag = digest(key, "ticket", assessor, (nonce + hidden).hex())[:_TAG]
    return base64.urlsafe_b64encode(nonce + hidden + tag).decode()


def read_ticket(key: bytes, assessor: str, ticket: str) -> str | None:
    """Return the name of the file without its ending; None where the ticket was not made for this assessor."""
    try:
        told = base64.urlsafe_b64decode(ticket.encode("ascii"))
    except (ValueError, UnicodeEncodeError):
        return None
    if len(told) != _NONCE + _NAME + _TAG or base64.urlsafe_b64encode(told).decode() != ticket:
        return None
    nonce, hidden, tag = told[:_NONCE], told[_NONCE:-_TAG], told[-_TAG:]
    if not hmac.compare_digest(tag, digest(key, "ticket", assessor, (nonce + hidden).hex())[:_TAG]):
        return None
    mask = digest(key, "mask", assessor, nonce.hex())[:_NAME]
    return bytes(a ^ b for a, b in zip(hidden, mask, strict=True)).hex()


def digest(key: bytes, *what: str) -> bytes:
    """Return a digest that nobody without the campaign's secret can make."""
    return hmac.digest(key, "\0".join(what).encode("utf-8", "surrogatepass"), hashlib.sha256)


class ChangedError(ParameterError):
    """The question is not what it was when it was shown: a document has left the collection."""


# ---- questions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """A question as an assessor sees it, and what its answers mean.

    Parameters
    ----------
    kind : {"grade", "prefer", "order", "lists"}
    id : str
        Of the question.
    query : str
    candidates : tuple of str
        Documents in the order in which they are shown; of kind lists, the two systems.
    swapped : bool
        The question's other document is shown first.
    lists : tuple of tuple of str
        Of kind lists, the documents of the two systems as they are shown.
    """

    kind: QuestionKind
    id: str
    query: str
    candidates: tuple[str, ...]
    swapped: bool = False
    lists: tuple[tuple[str, ...], ...] = ()

    def places(self) -> dict[str, str]:
        """Return all documents by the names of their places on the page: ``candidate 0``, …, or ``first 0``, …."""
        if self.kind == "lists":
            sides = zip(SIDES, self.lists, strict=True)
            return {f"{side} {row}": found for side, rows in sides for row, found in enumerate(rows)}
        return {f"candidate {number}": document for number, document in enumerate(self.candidates)}

    def answer(self, said: Any) -> dict[str, Any]:
        """Return an answer as the store keeps it: gain, choice and strength.

        Parameters
        ----------
        said
            With ``gain``; or ``choice`` and ``strength``; or ``order`` and ``cut``.

        Raises
        ------
        ParameterError
            If it is no answer to a question of this kind.
        """
        if self.kind == "grade":
            return {"gain": said.gain, "choice": None if said.choice is None else str(said.choice)}
        if self.kind == "order":
            return {"choice": self._order(said.order, said.cut)}
        return {"choice": self._choice(said.choice), "strength": said.strength if self.kind == "prefer" else None}

    def _choice(self, said: str | None) -> str | None:
        if said not in SIDES:
            if said in ("a", "b"):
                raise ParameterError(f"a choice is first or second, as shown, not '{said}'")
            return said
        return "a" if (said == "first") != self.swapped else "b"

    def _order(self, order: Sequence[int] | None, cut: int | None) -> str:
        if order is None or sorted(order) != list(range(len(order))):
            raise ParameterError("an order names every candidate once, by its number from 0 on")
        if len(order) != len(self.candidates):
            raise ChangedError(f"there are {len(self.candidates)} candidates now: put these into order")
        if cut is None or not 0 <= cut <= len(order):
            raise ParameterError(f"a cut lies between 0 and {len(order)}")
        return json.dumps({"order": [self.candidates[one] for one in order], "cut": cut}, ensure_ascii=False)

    def part(self, name: str) -> tuple[Part, str | None]:
        """Return what does not play: the part of the question, and the document where the question is about many."""
        if name == "query":
            return "query", None
        places = self.places()
        if name not in places:
            raise ParameterError(f"expected query or {', '.join(places)}, got '{name}'")
        if self.kind in ("order", "lists"):
            return "document", places[name]
        return ("other" if self.kind == "prefer" and (name == "candidate 0") == self.swapped else "document"), None


def arrange(campaign: WebCampaign, question: Question) -> Shown:
    """Put a question into the order in which it is shown."""
    kind = campaign.opened.settings.kind
    if kind == "grade":
        return Shown(kind, question.id, question.query, (question.document,))
    if kind == "order":
        # Everybody sees another order, so that what comes first is no advantage to any document.
        found = campaign.candidates_of(question.query)
        found.sort(key=lambda document: digest(campaign.secret, "order", question.id, document))
        return Shown(kind, question.id, question.query, tuple(found))
    pair = (question.document, question.other)
    shown = pair[::-1] if question.swapped else pair
    lists = tuple(campaign.list_of(system, question.query) for system in shown) if kind == "lists" else ()
    return Shown(kind, question.id, question.query, shown, question.swapped, lists)


def question_json(campaign: WebCampaign, assessor: str, shown: Shown, *, expires: str | None) -> dict[str, Any]:
    """Return a question as a browser gets it."""
    media = _Media(campaign, assessor, shown)
    body: dict[str, Any] = {"id": shown.id, "kind": shown.kind, "expires": expires}
    body |= {"query": media.of_query(shown.query), "candidates": [], "lists": None}
    if shown.kind == "lists":
        body["lists"] = [
            [media.of_document(one, f"{side} {rank}") for rank, one in enumerate(found)]
            for side, found in enumerate(shown.lists)
        ]
    else:
        body["candidates"] = [media.of_document(one, str(place)) for place, one in enumerate(shown.candidates)]
    return body


def find_query(manifest: Manifest, query: str) -> ServedMedium | None:
    """Return what is shown of a query; None where there is nothing."""
    return _find(manifest, ("query",), query)


def find_document(manifest: Manifest, document: str, query: str) -> ServedMedium | None:
    """Return what is shown of a document beside a query; None where there is nothing."""
    # A query beside itself may be a trap; its second recording differs as a document would.
    roles = ("twin", "document", "query") if document == query else ("document", "twin", "query")
    return _find(manifest, roles, document)


def _find(manifest: Manifest, roles: Sequence[str], name: str) -> ServedMedium | None:
    found = (manifest.find(role, name) for role in roles)
    return next((one for one in found if one is not None and one.parts), None)


class _Media:
    """What is shown of queries and documents, with tickets for one assessor and one question."""

    def __init__(self, campaign: WebCampaign, assessor: str, shown: Shown) -> None:
        self._manifest: Manifest | None = campaign.manifest
        self._key, self._assessor, self._question = campaign.secret, assessor, shown.id
        self._query = shown.query
        self._titles = campaign.opened.settings.pages.show_titles

    def of_query(self, query: str) -> dict[str, Any]:
        found = None if self._manifest is None else find_query(self._manifest, query)
        return self._shown(found, query, "query")

    def of_document(self, document: str, place: str) -> dict[str, Any]:
        found = None if self._manifest is None else find_document(self._manifest, document, self._query)
        return self._shown(found, document, f"document {place}")

    def _shown(self, medium: ServedMedium | None, name: str, place: str) -> dict[str, Any]:
        if medium is None:
            # Without media the id is all there is to tell what is meant.
            return {"title": name, "parts": []}
        parts = [self._part(part, f"{self._question} {place} {number}") for number, part in enumerate(medium.parts)]
        return {"title": medium.title or None if self._titles else None, "parts": parts}

    def _part(self, part: Served, place: str) -> dict[str, Any]:
        if part.kind == "link":
            return {"kind": "link", "url": part.url}
        assert part.file is not None, "what is no link is a file"
        assert self._manifest is not None
        if part.kind == "text":
            text = self._manifest.path(part.file).read_text(encoding="utf-8")
            return {"kind": "text", "text": text[:_LONGEST_TEXT]}
        address = f"/media/{make_ticket(self._key, self._assessor, place, part.file)}"
        if part.kind != "audio":
            return {"kind": part.kind, "media": address}
        # To a tenth of a second: the same for all clips that were cut to the same length.
        seconds = None if part.seconds is None else round(part.seconds, 1)
        return {"kind": "audio", "media": address, "peaks": f"{address}/peaks", "seconds": seconds}
