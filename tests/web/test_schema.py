"""Requests made up from the OpenAPI schema: whatever is sent, the app answers, and never with a 500."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from served import invited, open_client, organiser_headers
from starlette.testclient import TestClient

from earmark.store.folder import CampaignFolder
from earmark.web.limits import RateLimiter

KINDS = ("grade", "prefer", "order", "lists")
# The kind that is tried with the most requests; the others have the same routes and other answers.
MOST = "prefer"
STREAM = "/api/organise/live"
# These end the campaign or the session for the requests that follow, so they come last.
LAST = ("/api/organise/campaign", "/api/organise/leave")


def lazily(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture
def serve(make_campaign: Callable[..., CampaignFolder]) -> Callable[..., Any]:
    @contextmanager
    def start(kind: str) -> Iterator[TestClient]:
        with open_client(make_campaign(kind)) as made:
            unlimited = {"per_second": 1e6, "burst": 1e6, "failures_per_second": 1e6, "failures": 1e6}
            made.app.state.limiter = RateLimiter(**unlimited)  # type: ignore[attr-defined]
            yield made

    return start


def operations(client: TestClient, *, organiser: bool) -> list[Any]:
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", client.app)
    found = [one.ok() for one in schema.get_all_operations()]
    mine = [one for one in found if ("/organise" in one.path or one.path == "/metrics") is organiser]
    return sorted((one for one in mine if one.path != STREAM), key=lambda one: one.path in LAST)


def send(client: TestClient, case: Any, headers: dict[str, str]) -> int | None:
    """Send a made-up request; returns the status, None for what no client can send."""
    made = case.as_transport_kwargs(base_url="http://testserver", headers=headers)
    made.pop("cookies", None)
    if "data" in made:
        made["content"] = made.pop("data")
    # Who asks is known: otherwise everything would end at the door.
    made["headers"] = {**made.get("headers", {}), **headers}
    allowed = ("method", "url", "headers", "params", "json", "content", "files")
    try:
        said = client.request(**{name: value for name, value in made.items() if name in allowed and value is not None})
    except (UnicodeError, TypeError, ValueError):
        return None
    assert said.status_code < 500, (case.method, case.formatted_path, made, said.text)
    if said.status_code >= 400 and case.method != "HEAD":
        assert set(said.json()) == {"error"}, (case.formatted_path, said.text)
    return said.status_code


def send_many(client: TestClient, operations: list[Any], headers: dict[str, str], mode: Any, examples: int) -> Any:
    """Send requests of every operation, as the schema says or as it forbids; returns how often each status came."""
    statuses: Counter[int | None] = Counter()
    for operation in operations:

        @lazily(examples)
        @given(case=operation.as_strategy(generation_mode=mode))
        def run(case: Any) -> None:
            statuses[send(client, case, dict(headers))] += 1

        try:
            run()
        except Unsatisfiable:
            # Nothing that could be sent is forbidden.
            assert mode == GenerationMode.NEGATIVE
    return statuses


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("organiser", [False, True], ids=["assessor", "organiser"])
def test_no_request_of_the_schema_breaks_the_app(serve: Callable[..., Any], kind: str, organiser: bool) -> None:
    examples = 12 if kind == MOST else 3
    with serve(kind) as client:
        headers = organiser_headers(client) if organiser else invited(client).headers
        found = operations(client, organiser=organiser)
        assert len(found) > 10
        if kind == MOST:
            # What is no request at all is refused before it matters what is asked; making it up takes longest.
            wrong = send_many(client, found, headers, GenerationMode.NEGATIVE, 6)
            assert wrong[422] > len(found)
            assert wrong[429] == 0
        right = send_many(client, found, headers, GenerationMode.POSITIVE, examples)
    # Requests arrive, some are understood, and nobody was turned away at the door.
    assert sum(right.values()) > len(found) * examples // 3
    assert right[200] > len(found) // 2
    assert right[429] == 0
    assert right[401] <= (examples if organiser else 0), "only made-up secrets are refused"


def test_nothing_breaks_once_the_campaign_is_closed(serve: Callable[..., Any]) -> None:
    with serve("grade") as client:
        who, organiser = invited(client), organiser_headers(client)
        who.take()
        body = {"state": "closed", "reason": "enough"}
        assert client.post("/api/organise/campaign", json=body, headers=organiser).status_code == 200
        for headers, by_organiser in ((who.headers, False), (organiser, True)):
            found = [one for one in operations(client, organiser=by_organiser) if one.path not in LAST]
            statuses = send_many(client, found, headers, GenerationMode.POSITIVE, 3)
            assert statuses[200]


def test_the_stream_starts_and_refuses_strangers(serve: Callable[..., Any]) -> None:
    with serve("grade") as client:
        assert client.get(STREAM).status_code == 401
        # It has no end of its own; a client that only reads whole responses gets it when the server closes it.
        headers = organiser_headers(client)
        said: list[Any] = []
        live = None
        reader = threading.Thread(target=lambda: said.append(client.get(STREAM, headers=headers)), daemon=True)
        reader.start()
        for _ in range(300):
            live = getattr(client.app.state, "live", None)  # type: ignore[attr-defined]
            if live is not None and live.listeners:
                break
            reader.join(0.1)
        assert live is not None
        client.portal.call(live.close)  # type: ignore[union-attr]
        reader.join(30)
    assert said
    assert said[0].status_code == 200
    assert "retry:" in said[0].text


@pytest.mark.parametrize("kind", KINDS)
def test_no_answer_to_a_real_question_breaks_the_app(serve: Callable[..., Any], kind: str) -> None:
    values = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**20), 10**20),
        st.floats(),
        st.text(max_size=30),
        st.sampled_from(["first", "second", "same", "neither", "a", "\0", "\ud800"]),
        st.lists(st.integers(-2, 5), max_size=4),
        st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
    )
    names = ["gain", "choice", "order", "cut", "strength", "also", "details", "comment", "text", "part", "ahead"]
    bodies = st.dictionaries(st.sampled_from(names), values, max_size=5)
    paths = st.sampled_from(["answers", "skip", "unplayable", "undo", "comments", "questions", "renew"])
    with serve(kind) as client:
        who = invited(client)

        @settings(lazily(150 if kind == MOST else 60))
        @given(path=paths, body=bodies, key=st.text(min_size=8, max_size=20))
        def run(path: str, body: dict[str, Any], key: str) -> None:
            held = who.take(ahead=0)["questions"]
            told = {"id": held[0]["id"] if held else "none", "key": key, **body} if path != "questions" else body
            # JSON as Python and other careless clients write it: NaN, halves of characters.
            content = json.dumps(told).encode("utf-8", "surrogatepass")
            sent = {**who.headers, "Content-Type": "application/json"}
            said = client.post(f"/api/judge/{path}", content=content, headers=sent)
            assert said.status_code < 500, (path, told, said.text)

        run()


def test_the_schema_names_no_secret(serve: Callable[..., Any], templates: Callable[[str], Path]) -> None:
    with serve("grade") as client:
        text = client.get("/api/openapi.json").text
    assert "systemzebra" not in text
    assert str(templates("grade")) not in text
