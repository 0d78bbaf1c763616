"""Who the assessors are, apart from what they answered.

The log knows assessors by pseudonyms. Names, addresses and the ids of recruiting platforms stand in a table of their
own and can be erased on request; the answers stay. Links carry a random token, of which only a hash is stored.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from earmark.errors import ParameterError
from earmark.store.leases import find_assessor
from earmark.store.rules import DAY
from earmark.store.schema import invitations, people, texts
from earmark.store.store import Change, Store

# Letters and digits that cannot be mistaken for each other.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


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


def hash_token(token: str) -> str:
    """Return what is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def pseudonym(change: Change, *, name: str | None = None, mail: str | None = None, **platform: str | None) -> str:
    """Return the pseudonym of a person, who joins where they are new.

    Parameters
    ----------
    change : Change
    name, mail : str, optional
    **platform
        ``platform`` and ``platform_id``; an id that comes back is the same person.
    """
    table = people.c
    mine = [table.campaign == change.campaign]
    if platform.get("platform_id") is not None:
        mine += [table.platform == platform.get("platform"), table.platform_id == platform["platform_id"]]
    elif name is not None:
        mine.append(table.name == name)
    if len(mine) > 1:
        found = change.connection.execute(sa.select(table.assessor).where(*mine)).scalar()
        if found is not None:
            return str(found)
    assessor = _new_pseudonym(change)
    change.connection.execute(
        sa.insert(people).values(
            campaign=change.campaign, assessor=assessor, name=name, mail=mail, created=change.now, **platform
        )
    )
    find_assessor(change, assessor)
    return assessor


def _new_pseudonym(change: Change) -> str:
    table = people.c
    while True:
        made = "a-" + "".join(secrets.choice(_LETTERS) for _ in range(8))
        taken = sa.select(table.assessor).where(table.campaign == change.campaign, table.assessor == made)
        if change.connection.execute(taken).first() is None:
            return made


def invite(store: Store, names: Sequence[str]) -> list[Invitation]:
    """Invite people by name; somebody who was invited before gets a new link, and the old one ends."""
    if any(not name.strip() for name in names):
        raise ParameterError("an assessor needs a name")

    def act(change: Change) -> list[Invitation]:
        made = []
        for name in names:
            assessor = pseudonym(change, name=name.strip())
            table = invitations.c
            earlier = sa.and_(table.campaign == change.campaign, table.assessor == assessor, table.revoked.is_(None))
            change.connection.execute(sa.update(invitations).where(earlier).values(revoked=change.now))
            made.append(Invitation(name.strip(), assessor, _add_invitation(change, assessor, 1)))
        return made

    return store.write(act)


def invite_openly(store: Store, seats: int) -> Invitation:
    """Make one link that so many people may use."""
    if seats < 1:
        raise ParameterError(f"an open link is for 1 person or more, got {seats}")
    return Invitation("", None, store.write(lambda change: _add_invitation(change, None, seats)))


def _add_invitation(change: Change, assessor: str | None, seats: int) -> str:
    token = secrets.token_urlsafe(24)
    change.connection.execute(
        sa.insert(invitations).values(
            token=hash_token(token),
            campaign=change.campaign,
            assessor=assessor,
            seats=seats,
            used=0,
            created=change.now,
        )
    )
    return token


def admit(change: Change, token: str) -> str:
    """Return the pseudonym of whoever follows a link; an open link makes a new assessor while seats are left.

    Raises
    ------
    ParameterError
        If the link is unknown, revoked or used up.
    """
    table = invitations.c
    mine = sa.and_(table.campaign == change.campaign, table.token == hash_token(token))
    row = change.connection.execute(sa.select(invitations).where(mine)).first()
    if row is None or row.revoked is not None:
        raise ParameterError("this link is not valid any more: ask the organiser for a new one")
    if row.assessor is not None:
        return str(row.assessor)
    if row.used >= row.seats:
        raise ParameterError("all places of this link are taken: ask the organiser for another one")
    change.connection.execute(sa.update(invitations).where(mine).values(used=row.used + 1))
    return pseudonym(change)


def revoke(store: Store, assessor: str) -> None:
    """End all links of an assessor."""
    table = invitations.c

    def act(change: Change) -> None:
        mine = sa.and_(table.campaign == change.campaign, table.assessor == assessor, table.revoked.is_(None))
        change.connection.execute(sa.update(invitations).where(mine).values(revoked=change.now))

    store.write(act)


# ---- consent and erasure ---------------------------------------------------------------------------------------------


def text_version(text: str) -> str:
    """Return the version of a text: a hash of it."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


def keep_text(change: Change, text: str, *, role: str = "consent") -> str:
    """Keep a version of a text that people agree to, and return the version."""
    version = text_version(text)
    table = texts.c
    known = sa.select(table.version).where(table.campaign == change.campaign, table.version == version)
    if change.connection.execute(known).first() is None:
        made = {"campaign": change.campaign, "version": version, "role": role, "text": text, "created": change.now}
        change.connection.execute(sa.insert(texts).values(made))
    return version


def consent(change: Change, assessor: str, version: str) -> None:
    """Note that an assessor agreed to a version of the consent text."""
    table = texts.c
    known = sa.select(table.version).where(table.campaign == change.campaign, table.version == version)
    if change.connection.execute(known).first() is None:
        raise ParameterError(f"there is no consent text of version '{version}'")
    change.append("consented", assessor=assessor, text=version)


def known_people(store: Store) -> list[dict[str, Any]]:
    """Return everybody whose identity is known: assessor, name, mail, platform and platform_id."""
    table = people.c
    mine = sa.select(people).where(table.campaign == store.campaign, table.erased.is_(None)).order_by(table.created)
    return store.read(lambda connection: [dict(row) for row in connection.execute(mine).mappings()])


def find_person(store: Store, who: str) -> str:
    """Return the pseudonym of a person by name, mail, platform id or pseudonym.

    Raises
    ------
    ParameterError
        If there is nobody, or more than one.
    """
    # A pseudonym names its assessor also after the identity was erased.
    mine = sa.select(people.c.assessor).where(people.c.campaign == store.campaign, people.c.assessor == who)
    found = store.read(lambda connection: list(connection.execute(mine).scalars()))
    if not found:
        known = known_people(store)
        found = [one["assessor"] for one in known if who in (one["name"], one["mail"], one["platform_id"])]
    if len(found) != 1:
        how = "nobody" if not found else f"{len(found)} people"
        raise ParameterError(
            f"'{who}' is the name of {how} in this campaign" + ("" if not found else ": use a pseudonym")
        )
    return str(found[0])


def erase(store: Store, assessor: str) -> None:
    """Erase the identity of an assessor; the answers stay under the pseudonym, and all links end."""
    store.write(lambda change: _erase(change, assessor))
    _shrink(store)


def erase_expired(store: Store, retention_days: int | None) -> int:
    """Erase all identities of a campaign that was closed longer ago than they are kept; returns how many."""
    if retention_days is None:
        return 0

    def act(change: Change) -> int:
        if change.row["state"] != "closed" or change.row["since"] + retention_days * DAY > change.now:
            return 0
        table = people.c
        known = sa.select(table.assessor).where(table.campaign == change.campaign, table.erased.is_(None))
        found = change.connection.execute(known).scalars().all()
        for assessor in found:
            _erase(change, assessor)
        return len(found)

    if store.row["state"] != "closed":
        return 0
    erased = store.write(act)
    if erased:
        _shrink(store)
    return erased


def _erase(change: Change, assessor: str) -> None:
    table = people.c
    mine = sa.and_(table.campaign == change.campaign, table.assessor == assessor)
    gone = dict.fromkeys(("name", "mail", "platform", "platform_id"))
    change.connection.execute(sa.update(people).where(mine).values(**gone, erased=change.now))
    table = invitations.c
    links = sa.and_(table.campaign == change.campaign, table.assessor == assessor, table.revoked.is_(None))
    change.connection.execute(sa.update(invitations).where(links).values(revoked=change.now))
    change.append("erased", assessor=assessor)


def _shrink(store: Store) -> None:
    """Make the database give up what was erased, which would stay in free space of its files otherwise."""
    database = store.database
    with database.engine.connect() as connection:
        raw = connection.connection.dbapi_connection
        assert raw is not None
        if database.is_sqlite:
            for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                raw.execute(statement)
            return
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text(f"VACUUM {people.name}"))
