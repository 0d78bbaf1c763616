"""Who the assessors are, apart from what they answered.

The log knows assessors by pseudonyms. Names, addresses, the ids of recruiting platforms and what people say about
themselves stand in a table of their own and can be erased on request; the answers stay. The links to a campaign are in
:mod:`earmark.store.links`.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from earmark.errors import ParameterError
from earmark.store.assessor_rows import find_assessor
from earmark.store.rules import DAY
from earmark.store.schema import invitations, people, sittings, texts
from earmark.store.store import Change, Store, check_text

# Letters and digits that cannot be mistaken for each other.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


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
    mine = sa.and_(people.c.campaign == change.campaign, people.c.assessor == assessor)
    change.connection.execute(sa.update(people).where(mine).values(consent=version))


def person_of(connection: sa.Connection, campaign: int, assessor: str) -> dict[str, Any]:
    """Return what is known about a person: the row of the table; empty for an assessor who came from a file."""
    found = connection.execute(_PERSON, {"of_campaign": campaign, "of_assessor": assessor}).mappings().first()
    return {} if found is None else dict(found)


# Asked with every request, so it is built once.
_PERSON = sa.select(people).where(
    people.c.campaign == sa.bindparam("of_campaign"), people.c.assessor == sa.bindparam("of_assessor")
)


def keep_questionnaire(change: Change, assessor: str, answers: Mapping[str, Any]) -> None:
    """Keep what a person said about themselves, beside the name; it is erased with it."""
    _describe(change, assessor, questionnaire=json.dumps(dict(answers), ensure_ascii=False, sort_keys=True))


def note_prepared(change: Change, assessor: str, step: str, details: Mapping[str, Any] | None = None) -> None:
    """Note that a person has done a step before the first question, such as the sound check, so it comes once."""
    before = json.loads(person_of(change.connection, change.campaign, assessor).get("prepared") or "{}")
    after = before | {step: {"time": change.now, **(details or {})}}
    _describe(change, assessor, prepared=json.dumps(after, ensure_ascii=False, sort_keys=True))


def _describe(change: Change, assessor: str, **values: str) -> None:
    check_text(*values.values())
    mine = sa.and_(people.c.campaign == change.campaign, people.c.assessor == assessor)
    change.connection.execute(sa.update(people).where(mine).values(values))


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
    gone = dict.fromkeys(("name", "mail", "platform", "platform_id", "questionnaire"))
    change.connection.execute(sa.update(people).where(mine).values(**gone, erased=change.now))
    table = invitations.c
    links = sa.and_(table.campaign == change.campaign, table.assessor == assessor, table.revoked.is_(None))
    change.connection.execute(sa.update(invitations).where(links).values(revoked=change.now))
    # The ids of paid work name the person to the platform.
    table = sittings.c
    theirs = sa.and_(table.campaign == change.campaign, table.assessor == assessor)
    change.connection.execute(sa.delete(sittings).where(theirs))
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
