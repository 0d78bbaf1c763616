"""What keeps a server observable: a health check, numbers for Prometheus, and a line of JSON for every request.

Neither numbers nor lines hold a link, an address with a link in it, a name, or anything that was answered.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import anyio
import sqlalchemy as sa
from fastapi import APIRouter, Depends, Request
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from earmark.errors import StoreError
from earmark.store.schema import assignments, campaigns, estimates, questions
from earmark.store.status import count_questions
from earmark.store.store import Store
from earmark.store.versions import VERSION_OF_TABLES, check_tables
from earmark.web.context import WebCampaign
from earmark.web.errors import error_response, route_of
from earmark.web.security import campaign_of, organiser

router = APIRouter(tags=["operation"])
_log = logging.getLogger("earmark.access")

# One registry per process: Prometheus' own would refuse a second app in the same process.
_REQUESTS = Counter("earmark_requests", "Requests by route and status.", ["route", "status"], registry=None)
_SECONDS = Histogram(
    "earmark_request_seconds",
    "How long requests took.",
    ["route"],
    registry=None,
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


HEALTHY_WITHIN = 3.0
"""After how many seconds a store that does not answer counts as away: whoever asks does not wait for long."""

# Threads of its own, as all others may be waiting for the store.
_MOST_LOOKING = 4


@router.get("/health")
async def health(request: Request) -> Response:
    """Tell whether the app and its store work."""
    store, found = campaign_of(request).store, None
    tables = VERSION_OF_TABLES.scalar_subquery()
    query = sa.select(campaigns.c.state, tables).where(campaigns.c.id == store.campaign)

    def look() -> str | None:
        try:
            row = store.database.read(lambda connection: connection.execute(query).one(), patience=0)
            # A process that knows other tables cannot take in answers: a proxy has to ask another one.
            check_tables(row[1], store.database.shown)
            return str(row[0])
        except StoreError:
            return None

    state = request.app.state
    if not hasattr(state, "looking"):
        state.looking = anyio.CapacityLimiter(_MOST_LOOKING)
    with anyio.move_on_after(HEALTHY_WITHIN):
        found = await anyio.to_thread.run_sync(look, abandon_on_cancel=True, limiter=state.looking)
    if found is None:
        return error_response(503, "the store cannot be reached, or a newer earmark has changed its tables")
    return Response(json.dumps({"status": "ok", "state": found}), media_type="application/json")


@router.get("/metrics")
def metrics(campaign: Annotated[WebCampaign, Depends(organiser)]) -> Response:
    """Return numbers for Prometheus, which sends the organiser's secret as a bearer token."""
    registry = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(_REQUESTS)
        registry.register(_SECONDS)
    registry.register(_CampaignNumbers(campaign.store))
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class _CampaignNumbers(Collector):
    """The numbers of a campaign, read from the store when they are asked for: the same in all processes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterator[GaugeMetricFamily]:
        for name, (about, value) in _campaign_numbers(self._store).items():
            yield GaugeMetricFamily(name, about, value=value)

    def describe(self) -> list[GaugeMetricFamily]:
        # Asked when it is registered, where reading the store is not necessary.
        return []


def _campaign_numbers(store: Store) -> dict[str, tuple[str, float]]:
    def look(connection: sa.Connection) -> tuple[int, int, int]:
        table, given, known = questions.c, assignments.c, estimates.c
        answered = sa.select(sa.func.count()).where(table.campaign == store.campaign, table.answers > 0)
        out = sa.select(sa.func.count()).where(given.campaign == store.campaign, given.state == "out")
        newest = sa.select(sa.func.max(known.time)).where(known.campaign == store.campaign)
        return tuple(int(connection.execute(one).scalar() or 0) for one in (answered, out, newest))  # type: ignore[return-value]

    answered, out, newest = store.read(look)
    age = (store.clock() - newest) / 1_000_000 if newest else -1.0
    return {
        "earmark_events": ("Events in the log.", store.last_sequence),
        "earmark_questions": ("Questions of the campaign.", count_questions(store)),
        "earmark_questions_answered": ("Questions with an answer that counts.", answered),
        "earmark_questions_out": ("Questions that are with assessors.", out),
        "earmark_estimate_age_seconds": ("Since the last estimate; -1 before the first.", age),
    }


class Observed:
    """Middleware: counts requests and writes a line about each."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sending)
        finally:
            route = route_of(scope)
            seconds = time.perf_counter() - began
            _REQUESTS.labels(route, str(status)).inc()
            _SECONDS.labels(route).observe(seconds)
            told = {"method": scope["method"], "route": route, "status": status, "ms": round(1000 * seconds, 1)}
            _log.info("request", extra={"told": told | {"who": scope.get("earmark_who")}})


class JsonLines(logging.Formatter):
    """Logs as one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Write one record."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": time, "level": record.levelname.lower(), "logger": record.name}
        line |= {"message": record.getMessage(), **getattr(record, "told", {})}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
