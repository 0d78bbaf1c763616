"""How often somebody may ask.

There are three limits. They hold for all processes of a campaign together: each counts for itself and settles with the
others through the store, every second where there is something to settle (:mod:`earmark.store.usage`). A person with a
link, and a session of the organiser, may ask so often. An address may fail so often: a classroom shares one, so what
succeeds is not counted, and whoever has a valid link does not notice what others at the same address try. People who
come from a recruiting platform have no link yet, so their first page is limited by address.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network, ip_address

from fastapi import Request
from starlette.responses import Response
from starlette.types import Scope

from earmark.store.usage import Spent
from earmark.web.errors import ApiError, error_response

_LONGEST_PATH = 300
_MOST_LIMITED = 10_000
SETTLE_EVERY = 1.0
"""How many seconds pass between two settlements with the other processes."""
# Who has spent less than this share of what is allowed at once is nobody that others have to know about.
_WORTH_SETTLING = 0.1


@dataclass
class _Bucket:
    """What somebody may still ask, and has asked since the last settlement."""

    left: float
    since: float
    per_second: float
    burst: float
    spent: float = 0.0

    def refill(self, now: float) -> None:
        self.left = min(self.burst, self.left + self.per_second * (now - self.since))
        self.since = now
        if self.left == self.burst:
            # All of it is long ago.
            self.spent = 0.0


@dataclass
class RateLimiter:
    """How often somebody may ask: so many times at once, and so many per second from then on.

    Parameters
    ----------
    per_second, burst : float
        For a person with a link, or for whoever has none yet.
    failures_per_second, failures : float
        For requests that fail, by address.
    """

    per_second: float = 20.0
    burst: float = 600.0
    failures_per_second: float = 2.0
    failures: float = 200.0
    _left: OrderedDict[str, _Bucket] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def seconds_to_wait(self, who: str, *, per_second: float | None = None, burst: float | None = None) -> float:
        """Count one request; returns 0, or after how many seconds the next one is welcome."""
        rate, most = per_second or self.per_second, burst or self.burst
        now = time.monotonic()
        with self._lock:
            bucket = self._left.setdefault(who, _Bucket(most, now, rate, most))
            bucket.refill(now)
            self._left.move_to_end(who)
            if len(self._left) > _MOST_LIMITED:
                # Whoever was not here for the longest time has the whole burst again.
                self._left.popitem(last=False)
            if bucket.left < 1:
                return (1 - bucket.left) / rate
            bucket.left -= 1
            bucket.spent += 1
            return 0.0

    def unsettled(self) -> dict[str, Spent]:
        """Return what was spent here and others should know about."""
        with self._lock:
            return {
                who: Spent(one.spent, one.per_second, one.burst)
                for who, one in self._left.items()
                if one.spent > _WORTH_SETTLING * one.burst
            }

    def settle(self, spent: Mapping[str, Spent], left: Mapping[str, float]) -> None:
        """Go on with what is left after a settlement.

        Parameters
        ----------
        spent : mapping
            What was settled, as from :meth:`unsettled`.
        left : mapping
            What all processes together may still spend, as from :func:`earmark.store.usage.settle`.
        """
        now = time.monotonic()
        with self._lock:
            for who, one in spent.items():
                bucket = self._left.get(who)
                if bucket is not None:
                    bucket.refill(now)
                    # What was spent meanwhile is for the next time.
                    bucket.spent = max(bucket.spent - one.requests, 0.0)
                    bucket.left = min(bucket.left, left[who] - bucket.spent)

    def seconds_after_failure(self, address: str) -> float:
        """Count one failed request of an address; returns as :meth:`seconds_to_wait`."""
        limits = {"per_second": self.failures_per_second, "burst": self.failures}
        return self.seconds_to_wait(f"failures {address}", **limits)


def limiter_of(scope: Scope) -> RateLimiter:
    """Return what counts the requests of the app that answers one."""
    limiter: RateLimiter = scope["app"].state.limiter
    return limiter


def limit_rate(request: Request, who: str, **limits: float) -> None:
    """Refuse a request of somebody who asks too often."""
    wait = limiter_of(request.scope).seconds_to_wait(who, **limits)
    if wait:
        error = ApiError(429, _wait(wait))
        error.headers = {"Retry-After": str(math.ceil(wait))}
        raise error


def _wait(seconds: float) -> str:
    return f"too many requests: wait {math.ceil(seconds)} s"


def too_many(seconds: float) -> Response:
    """Return what is said to somebody who asks too often."""
    return error_response(429, _wait(seconds), **{"Retry-After": str(math.ceil(seconds))})


def address_of(scope: Scope) -> str:
    """Return where a request comes from; of IPv6 the network, as whoever has one address there has 2**64."""
    host = str((scope.get("client") or ("",))[0])
    try:
        found = ip_address(host)
    except ValueError:
        return host
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or IPv6Network((int(found), 64), strict=False))
    return host


def limited_page(scope: Scope) -> str | None:
    """Return whose limit the page of a link, or the first page of somebody from a platform, counts for."""
    path = scope["path"]
    if path.startswith("/judge/"):
        return f"page {path[:_LONGEST_PATH]}"
    return f"arriving {address_of(scope)}" if path.startswith("/recruit/") else None
