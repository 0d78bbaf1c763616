"""The rows of assessors: who takes part under which pseudonym, and how much of what they were asked is done.

The table is derived from the log. Whoever acts under a pseudonym for the first time joins the campaign.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from earmark.store.schema import assessors
from earmark.store.store import Change, check_text

UNCOUNTED = ("rejected", "pilot")
"""The states of assessors whose answers do not count."""

_CAMPAIGN: sa.BindParameter[int] = sa.bindparam("of_campaign")
_ASSESSOR: sa.BindParameter[str] = sa.bindparam("of_assessor")


def find_assessor(change: Change, assessor: str) -> dict[str, Any]:
    """Return the row of an assessor, who joins where they are new."""
    check_text(assessor)
    mine = {"of_campaign": change.campaign, "of_assessor": assessor}
    found = change.connection.execute(_FIND_ASSESSOR, mine).mappings().first()
    if found is not None:
        return dict(found)
    person = new_assessor(change.campaign, assessor)
    change.connection.execute(sa.insert(assessors).values(person))
    change.append("invited", assessor=assessor)
    return person


_FIND_ASSESSOR = sa.select(assessors).where(assessors.c.campaign == _CAMPAIGN, assessors.c.assessor == _ASSESSOR)


def new_assessor(campaign: int, assessor: str) -> dict[str, Any]:
    """Return the row of an assessor who was asked nothing yet."""
    counts = dict.fromkeys(("given", "answers", "traps", "traps_right", "seen_again", "seen_begun"), 0)
    person = {"campaign": campaign, "assessor": assessor, "state": "active", "reinstated": False, "last_query": None}
    return person | counts


def save_assessor(change: Change, person: dict[str, Any]) -> None:
    """Write what taking questions changes in the row of an assessor."""
    mine = {"of_campaign": change.campaign, "of_assessor": person["assessor"]}
    change.connection.execute(_SAVE_ASSESSOR, mine | {name: person[name] for name in _SAVED})


_SAVED = ("given", "last_query", "seen_again", "seen_begun")
_SAVE_ASSESSOR = (
    sa.update(assessors)
    .where(assessors.c.campaign == _CAMPAIGN, assessors.c.assessor == _ASSESSOR)
    .values({name: sa.bindparam(name) for name in _SAVED})
)
