"""What a look ahead said, kept beside the newest estimate, so that every process shows the same.

A look ahead takes seconds. It is made when somebody asks for it, outside any transaction, and kept in a short one. It
says how many judgments it is about, and stays until there is another.
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from earmark.campaign.forecast import Forecast
from earmark.store.schema import estimates
from earmark.store.store import Change, Store

AHEAD = "ahead"
"""Its name in the body of an estimate: ``judged``, ``said`` and ``pairs``, the rows of :meth:`Forecast.frame`."""


def keep_forecast(store: Store, judged: int, said: str, forecast: Forecast) -> bool:
    """Keep a look ahead beside the newest estimate; returns whether there is one.

    Parameters
    ----------
    store : Store
    judged : int
        How many items were judged when it was made.
    said : str
        What it comes to, in words.
    forecast : Forecast
    """
    told = {"judged": judged, "said": said, "pairs": forecast.frame().fill_nan(None).to_dicts()}

    def act(change: Change) -> bool:
        table = estimates.c
        newest = (
            sa.select(table.sequence, table.time, table.body)
            .where(table.campaign == change.campaign, table.body.is_not(None))
            .order_by(table.sequence.desc())
            .limit(1)
        )
        row = change.connection.execute(newest).first()
        if row is None:
            return False
        body = json.loads(row.body) | {AHEAD: told}
        # Pages look anew when the time of the newest estimate changes; a microsecond makes it no fresher.
        values = {"body": json.dumps(body, ensure_ascii=False, allow_nan=False), "time": row.time + 1}
        mine = sa.and_(table.campaign == change.campaign, table.sequence == row.sequence)
        change.connection.execute(sa.update(estimates).where(mine).values(values))
        return True

    return store.write(act)


def carried_over(body: dict[str, Any]) -> dict[str, Any]:
    """Return what the next estimate takes over from the body of the one before."""
    return {AHEAD: body[AHEAD]} if AHEAD in body else {}
