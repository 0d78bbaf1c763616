"""Links: who may judge, try the campaign out, or organise it.

A link carries a random token, of which only a hash is stored. So a link is shown once, and whoever reads the database
cannot use it. There are three roles:

=============  =========================================================================================================
``assessor``   judges; a link is for one person, or for as many as it has seats
``pilot``      tries the campaign out: the same pages, and none of the answers counts
``organiser``  sees the results and runs the campaign
=============  =========================================================================================================

Following a link changes nothing. Whoever comes by a link with several seats joins (:func:`join`) and gets a link of
their own, by which they come back, on any device.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa

from earmark.errors import ParameterError
from earmark.store.assessor_rows import find_assessor
from earmark.store.organising import join_pilot
from earmark.store.people import pseudonym
from earmark.store.schema import invitations, people
from earmark.store.store import Change, Store

Role = Literal["assessor", "pilot", "organiser"]

NOT_VALID = "this link is not valid any more: ask the organiser for a new one"
FULL = "all places of this link are taken: ask the organiser for another one"


@dataclass(frozen=True)
class Invitation:
    """A link for an assessor, or for several.

    Attributes
    ----------
    name : str
        Of the assessor; empty for a link that several people may use.
    assessor : str or None
        The pseudonym; None for a link that several people may use.
    token : str
        The secret part of the link, which cannot be read from the store.
    """

    name: str
    assessor: str | None
    token: str

    def link(self, address: str) -> str:
        """Return the link, given what links start with."""
        return f"{address.rstrip('/')}/judge/{self.token}"


@dataclass(frozen=True)
class Link:
    """What a token is good for.

    Attributes
    ----------
    role : {"assessor", "pilot", "organiser"}
    assessor : str or None
        The pseudonym; None for a link that several people may use.
    name : str
        Of the person, where it is known.
    seats_left : int
        How many more people may use it.
    sitting : int or None
        The number of the paid work that it is for (:mod:`earmark.store.sittings`); None for all other links.
    """

    role: Role
    assessor: str | None
    name: str
    seats_left: int
    sitting: int | None = None


def hash_token(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def find_link(connection: sa.Connection, campaign: int, token: str) -> Link | None:
    """Return what a token is good for; None where it is unknown or revoked. Nothing is changed."""
    row = connection.execute(_FIND, {"of_campaign": campaign, "of_token": hash_token(token)}).first()
    if row is None:
        return None
    return Link(row.role, row.assessor, row.name or "", max(row.seats - row.used, 0), row.sitting)


# Asked with every request, so it is built once.
_FIND = (
    sa.select(
        *(invitations.c[name] for name in ("role", "assessor", "seats", "used", "sitting")),
        people.c.name.label("name"),
    )
    .select_from(
        invitations.outerjoin(
            people,
            sa.and_(people.c.campaign == invitations.c.campaign, people.c.assessor == invitations.c.assessor),
        )
    )
    .where(
        invitations.c.campaign == sa.bindparam("of_campaign"),
        invitations.c.token == sa.bindparam("of_token"),
        invitations.c.revoked.is_(None),
    )
)


# ---- invitations -----------------------------------------------------------------------------------------------------


def invite(store: Store, names: Sequence[str], *, pilot: bool = False) -> list[Invitation]:
    """Invite people by name; somebody who was invited before gets a new link, and the old one ends.

    Parameters
    ----------
    store : Store
    names : sequence of str
    pilot : bool
        They try the campaign out, and their answers do not count.
    """
    if any(not name.strip() for name in names):
        raise ParameterError("an assessor needs a name")

    def act(change: Change) -> list[Invitation]:
        made = []
        for name in names:
            # The same person may try it out first and judge later.
            assessor = pseudonym(change, name=f"{name.strip()} (pilot)" if pilot else name.strip())
            if pilot:
                join_pilot(change, assessor)
            revoke_links(change, assessor)
            made.append(Invitation(name.strip(), assessor, _add(change, assessor, 1, "pilot" if pilot else "assessor")))
        return made

    return store.write(act)


def invite_openly(store: Store, seats: int, *, pilot: bool = False) -> Invitation:
    """Make one link that so many people may use."""
    if seats < 1:
        raise ParameterError(f"an open link is for 1 person or more, got {seats}")
    role: Role = "pilot" if pilot else "assessor"
    return Invitation("", None, store.write(lambda change: _add(change, None, seats, role)))


def join(store: Store, token: str, *, key: str | None = None) -> Invitation:
    """Let somebody join by a link that several people may use; they get a link of their own.

    Parameters
    ----------
    store : Store
    token : str
        Of the open link.
    key : str, optional
        Made by the client; who asks again with the same key gets the same link and takes no second seat.

    Raises
    ------
    ParameterError
        If the link is unknown, revoked, used up or somebody's own.
    """

    def act(change: Change) -> Invitation:
        own = None if key is None else _own_token(change, token, key)
        if own is not None:
            known = sa.select(invitations.c.token).where(invitations.c.token == hash_token(own))
            if change.connection.execute(known).first() is not None:
                found = find_link(change.connection, change.campaign, own)
                if found is None:
                    raise ParameterError(NOT_VALID)
                return Invitation("", found.assessor, own)
        assessor, role = _take_seat(change, token)
        return Invitation("", assessor, _add(change, assessor, 1, role, token=own))

    return store.write(act)


def _own_token(change: Change, token: str, key: str) -> str:
    """Return the token of whoever comes by an open link, or to paid work, with a key: the same each time.

    Nobody can guess it, nor compute it from the database, which does not hold the key.
    """
    told = f"join\0{token}\0{key}".encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(hmac.digest(change.row["secret"].encode(), told, hashlib.sha256)[:24]).decode()


def admit(change: Change, token: str) -> str:
    """Return the pseudonym of whoever follows a link; an open link makes a new assessor while seats are left.

    Raises
    ------
    ParameterError
        If the link is unknown, revoked or used up.
    """
    found = find_link(change.connection, change.campaign, token)
    if found is not None and found.assessor is not None:
        return found.assessor
    return _take_seat(change, token)[0]


def _take_seat(change: Change, token: str) -> tuple[str, Role]:
    found = find_link(change.connection, change.campaign, token)
    if found is None or found.role == "organiser" or found.assessor is not None:
        raise ParameterError(NOT_VALID)
    if not found.seats_left:
        raise ParameterError(FULL)
    mine = sa.and_(invitations.c.campaign == change.campaign, invitations.c.token == hash_token(token))
    change.connection.execute(sa.update(invitations).where(mine).values(used=invitations.c.used + 1))
    assessor = pseudonym(change)
    if found.role == "pilot":
        join_pilot(change, assessor)
    return assessor, found.role


def link_for(change: Change, assessor: str) -> Invitation:
    """Make one more link for an assessor, or for somebody of the pilot; earlier ones stay valid."""
    state = find_assessor(change, assessor)["state"]
    return Invitation("", assessor, _add(change, assessor, 1, "pilot" if state == "pilot" else "assessor"))


def sitting_link(change: Change, assessor: str, sitting: int, *, key: str | None = None) -> Invitation:
    """Return the link of a piece of paid work, of which there is one at a time.

    Parameters
    ----------
    change : Change
    assessor : str
    sitting : int
        The number of the work.
    key : str, optional
        Made by the client and kept by it alone; who asks again with the same key gets the same link. With another key,
        on another device, there is a new link, and the earlier one ends.
    """
    kept = key or secrets.token_hex(16)
    token = _sitting_token(change, assessor, sitting, kept)
    if find_link(change.connection, change.campaign, token) is None:
        _revoke(change, invitations.c.assessor == assessor, invitations.c.sitting == sitting)
        token = _sitting_token(change, assessor, sitting, kept)
        _add(change, assessor, 1, "assessor", token=token, sitting=sitting)
    return Invitation("", assessor, token)


def _sitting_token(change: Change, assessor: str, sitting: int, key: str) -> str:
    """Return the token of paid work for whoever has a key: the same as long as no link of it ends."""
    table = invitations.c
    ended = sa.select(sa.func.count()).where(
        *(table.campaign == change.campaign, table.assessor == assessor, table.sitting == sitting),
        table.revoked.is_not(None),
    )
    turn = change.connection.execute(ended).scalar()
    return _own_token(change, f"sitting {assessor} {sitting} {turn}", key)


def has_only_ended_links(change: Change, assessor: str) -> bool:
    """Tell whether all links of somebody were revoked, and no new one was made."""
    mine = sa.select(invitations.c.revoked).where(
        invitations.c.campaign == change.campaign, invitations.c.assessor == assessor
    )
    found = change.connection.execute(mine).scalars().all()
    return bool(found) and None not in found


def revoke(store: Store, assessor: str) -> None:
    """End all links of an assessor."""
    store.write(lambda change: revoke_links(change, assessor))


def revoke_links(change: Change, assessor: str) -> None:
    """End all links of an assessor, within a transaction."""
    _revoke(change, invitations.c.assessor == assessor)


def revoke_open_links(store: Store) -> int:
    """End all links that several people may use; who has joined goes on with the own link. Returns how many ended."""
    return store.write(
        lambda change: _revoke(change, invitations.c.assessor.is_(None), invitations.c.role != "organiser")
    )


def _revoke(change: Change, *where: sa.ColumnElement[bool]) -> int:
    mine = sa.and_(invitations.c.campaign == change.campaign, invitations.c.revoked.is_(None), *where)
    return int(change.connection.execute(sa.update(invitations).where(mine).values(revoked=change.now)).rowcount)


def _add(
    change: Change,
    assessor: str | None,
    seats: int,
    role: Role,
    *,
    token: str | None = None,
    sitting: int | None = None,
) -> str:
    token = token or secrets.token_urlsafe(24)
    made: dict[str, Any] = {"token": hash_token(token), "campaign": change.campaign, "assessor": assessor, "role": role}
    made |= {"seats": seats, "used": 0, "created": change.now, "sitting": sitting}
    change.connection.execute(sa.insert(invitations).values(made))
    return token


# ---- the organiser ---------------------------------------------------------------------------------------------------


def new_organiser_link(store: Store) -> str:
    """Make the secret of the organiser's link; the one before ends."""

    def act(change: Change) -> str:
        _revoke(change, invitations.c.role == "organiser")
        return _add(change, None, 1, "organiser")

    return store.write(act)


def has_organiser_link(store: Store) -> bool:
    """Tell whether there is an organiser's link."""
    table = invitations.c
    mine = sa.select(table.token).where(
        table.campaign == store.campaign, table.role == "organiser", table.revoked.is_(None)
    )
    return store.read(lambda connection: connection.execute(mine.limit(1)).first() is not None)


def is_organiser(connection: sa.Connection, campaign: int, secret: str) -> bool:
    """Tell whether a secret is that of the organiser's link."""
    found = find_link(connection, campaign, secret)
    return found is not None and found.role == "organiser"
