"""Signing in: the organiser's link opens a session, which a cookie of the browser keeps.

The cookie holds a random token and not the secret of the link; the store has a hash of it. A session ends after a week,
when the organiser signs out, and with the link that it was opened with.
"""

from __future__ import annotations

import secrets

import sqlalchemy as sa

from earmark.store.links import hash_token, is_organiser
from earmark.store.schema import invitations, sessions
from earmark.store.store import Change, Store

SECONDS = 7 * 24 * 3600
"""How long a session lasts."""


def open_session(store: Store, secret: str) -> str | None:
    """Return the token of a new session; None where the secret is not that of the organiser's link.

    Parameters
    ----------
    store : Store
    secret : str
        Of the organiser's link.
    """
    if not store.read(lambda connection: is_organiser(connection, store.campaign, secret)):
        return None
    token = secrets.token_urlsafe(24)

    def act(change: Change) -> None:
        mine = sessions.c.campaign == change.campaign
        change.connection.execute(sa.delete(sessions).where(mine, sessions.c.expires <= change.now))
        made = {"token": hash_token(token), "campaign": change.campaign, "link": hash_token(secret)}
        change.connection.execute(sa.insert(sessions).values(**made, expires=change.now + SECONDS * 1_000_000))

    store.write(act)
    return token


def has_session(store: Store, token: str) -> bool:
    """Tell whether a token is that of a session which has not ended. Nothing is changed."""
    query = _FIND.where(sessions.c.campaign == store.campaign, sessions.c.token == hash_token(token))
    query = query.where(sessions.c.expires > store.clock())
    return store.read(lambda connection: connection.execute(query).first() is not None)


_FIND = (
    sa.select(sessions.c.token)
    .select_from(
        sessions.join(
            invitations,
            sa.and_(invitations.c.campaign == sessions.c.campaign, invitations.c.token == sessions.c.link),
        )
    )
    .where(invitations.c.role == "organiser", invitations.c.revoked.is_(None))
)


def close_session(store: Store, token: str) -> None:
    """End a session; nothing happens where there is none."""
    mine = sa.and_(sessions.c.campaign == store.campaign, sessions.c.token == hash_token(token))
    store.write(lambda change: change.connection.execute(sa.delete(sessions).where(mine)))
