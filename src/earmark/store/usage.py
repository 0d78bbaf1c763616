"""How often somebody asked, over all processes that serve a campaign.

Every process counts for itself. What somebody has spent there is taken from a number in the store now and then, which
grows with time up to a limit; the process goes on with what is left. So a limit holds for all processes together, up to
what is spent between two settlements, and a request never waits for the store because of it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from earmark.store.schema import usage
from earmark.store.store import Change, Store

_SECOND = 1_000_000


@dataclass(frozen=True)
class Spent:
    """What somebody has spent in one process since the last settlement.

    Parameters
    ----------
    requests : float
    per_second, burst : float
        How many more are welcome with every second, and how many at most.
    """

    requests: float
    per_second: float
    burst: float


def settle(store: Store, spent: Mapping[str, Spent]) -> dict[str, float]:
    """Take what was spent here from what all processes may spend.

    Parameters
    ----------
    store : Store
    spent : mapping
        By whoever asked, as the limits name them; the store has a keyed hash of it.

    Returns
    -------
    dict of float
        How many requests of each are still welcome; negative where several processes let too many through.
    """
    key = store.secret.encode()
    hashes = {who: hmac.new(key, who.encode(), hashlib.sha256).hexdigest() for who in spent}

    def act(change: Change) -> dict[str, float]:
        table, mine = usage.c, usage.c.campaign == change.campaign
        change.connection.execute(sa.delete(usage).where(mine, table.full <= change.now))
        query = sa.select(table.who, table.allowed, table.time).where(mine, table.who.in_(hashes.values()))
        known = {row.who: row for row in change.connection.execute(query)}
        left = {who: _left(known.get(hashes[who]), one, change.now) for who, one in spent.items()}
        change.connection.execute(sa.delete(usage).where(mine, table.who.in_(list(known))))
        rows = [_row(change, hashes[who], left[who], one) for who, one in spent.items()]
        change.connection.execute(sa.insert(usage), rows)
        return left

    return store.write(act) if spent else {}


def _left(known: Any, spent: Spent, now: int) -> float:
    before = spent.burst
    if known is not None:
        # A clock that is behind gives nothing.
        before = min(spent.burst, known.allowed + spent.per_second * max(now - known.time, 0) / _SECOND)
    return max(before - spent.requests, -spent.burst)


def _row(change: Change, who: str, left: float, spent: Spent) -> dict[str, object]:
    seconds = (spent.burst - left) / spent.per_second
    # A limit without a rate is no limit, and one that never fills up is kept for a day.
    full = change.now + round(min(seconds, 24 * 3600) * _SECOND)
    return {"campaign": change.campaign, "who": who, "allowed": left, "time": change.now, "full": full}
