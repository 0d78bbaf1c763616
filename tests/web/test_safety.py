"""Safe by default: who may do what, headers of every response, limits, and requests that change nothing."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from served import Assessor, invited, new_key, open_client, organiser_headers
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from earmark.errors import StoreError
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite_openly, new_organiser_link, revoke
from earmark.store.people import known_people
from earmark.store.store import Store
from earmark.web.limits import RateLimiter, address_of
from earmark.web.responses import LARGEST_BODY
from earmark.web.security import cookie_name
from earmark.web.serving import Serving
from earmark.web.slow_clients import PatientProtocol

Make = Callable[..., TestClient]

ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex, nofollow, noarchive",
}


def store_of(client: TestClient) -> Store:
    return client.app.state.campaign.store  # type: ignore[attr-defined, no-any-return]


def media_of(who: Assessor) -> str:
    return str(who.take()["questions"][0]["query"]["parts"][0]["media"])


def is_error(said: Any, status: int, code: str) -> bool:
    """Tell whether a response is an error in the one shape."""
    body = said.json()
    return (
        said.status_code == status
        and set(body) == {"error"}
        and set(body["error"]) == {"code", "message"}
        and body["error"]["code"] == code
        and bool(body["error"]["message"])
    )


# ---- where it listens ------------------------------------------------------------------------------------------------


def test_the_server_listens_on_this_computer_only_unless_told_otherwise(tmp_path: Path) -> None:
    import inspect

    from earmark.cli.serve import serve

    assert Serving(tmp_path).host == "127.0.0.1"
    assert inspect.signature(serve).parameters["host"].default == "127.0.0.1"


# ---- headers ---------------------------------------------------------------------------------------------------------


def check_headers(said: Any, path: str) -> None:
    for name, value in ALWAYS.items():
        assert said.headers.get(name) == value, (path, name)
    policy = dict(part.strip().split(" ", 1) for part in said.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'", path
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'", path
    assert policy["base-uri"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["form-action"] == "'self'"
    assert "unsafe" not in said.headers["content-security-policy"]
    assert "cache-control" in said.headers, path
    assert "server" not in said.headers
    assert "x-powered-by" not in said.headers


def test_every_response_has_the_headers(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    media = media_of(who)
    for path in (
        *("/", "/robots.txt", "/health", f"/judge/{who.token}", "/judge/nobody", "/organise", "/nothing", "/metrics"),
        *("/static/earmark-web.css", "/static/judge/judge.js", "/static/nothing", "/api/openapi.json"),
        *("/api/judge/session", media, f"{media}/peaks", "/media/x", "/recruit/prolific", "/api/organise/state"),
    ):
        check_headers(who.get(path), path)
        check_headers(client.get(path), path)
    check_headers(client.request("DELETE", "/api/judge/session"), "405")
    check_headers(client.post("/api/judge/answers", content=b"x" * (LARGEST_BODY + 1)), "413")
    check_headers(who.post("answers", {}), "422")
    # What is private is kept by nobody on the way.
    for path in ("/api/judge/session", media, f"/judge/{who.token}"):
        assert "no-store" in who.get(path).headers["cache-control"], path


def test_a_mistake_of_ours_has_headers_and_tells_nothing(
    make_client: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = make_client()
    who = invited(client)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret details of systemzebra")

    monkeypatch.setattr("earmark.web.assessor.sessions.session_json", broken)
    said = who.get("/api/judge/session")
    assert is_error(said, 500, "server")
    assert "secret" not in said.text
    check_headers(said, "500")
    assert "secret details" in caplog.text


@pytest.mark.parametrize("why", ["configured", "the request", "the address of links", "none"])
def test_strict_transport_where_there_is_tls(make_campaign: Callable[..., CampaignFolder], why: str) -> None:
    with open_client(make_campaign(), secure=True if why == "configured" else None) as client:
        if why == "the request":
            # As uvicorn says when a proxy that it trusts sends X-Forwarded-Proto.
            client.base_url = "https://testserver"
        if why == "the address of links":
            client.app.state.campaign.change_settings(  # type: ignore[attr-defined]
                {"people.address": "https://example.org", "people.hosts": ("testserver",)}
            )
        headers = client.get("/").headers
        assert ("strict-transport-security" in headers) == (why != "none")
        assert ("cross-origin-opener-policy" in headers) == (why != "none")
        assert ("Secure" in sign_in(client).headers["set-cookie"]) == (why != "none")


def sign_in(client: TestClient, secret: str | None = None) -> Any:
    secret = secret or new_organiser_link(store_of(client))
    return client.post("/api/organise/session", json={"secret": secret}, headers={"X-Earmark": "organiser"})


# ---- links and cookies -----------------------------------------------------------------------------------------------


def test_assessors_get_no_cookie_and_the_organisers_is_guarded(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    for path in ("/", f"/judge/{who.token}", "/api/judge/session", media_of(who)):
        assert "set-cookie" not in who.get(path).headers
    secret = new_organiser_link(store_of(client))
    said = client.post("/api/organise/session", json={"secret": secret}, headers={"X-Earmark": "organiser"})
    flags = said.headers["set-cookie"].lower()
    assert said.status_code == 200
    for flag in ("httponly", "samesite=strict", "path=/"):
        assert flag in flags
    assert client.get("/api/organise/state").status_code == 200
    # A new link ends the one before, whoever has its cookie.
    new_organiser_link(store_of(client))
    assert client.get("/api/organise/state").status_code == 401


def test_a_cookie_holds_no_secret_and_ends(make_client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    client = make_client()
    secret = new_organiser_link(store_of(client))
    assert sign_in(client, secret).is_success
    name = cookie_name(client.app.state.campaign)  # type: ignore[attr-defined]
    first = client.cookies[name]
    assert secret not in first
    assert sign_in(client, secret).is_success
    second = client.cookies[name]
    assert first != second, "every session has a token of its own"

    def is_in(token: str) -> bool:
        client.cookies.clear()
        return client.get("/api/organise/state", headers={"Cookie": f"{name}={token}"}).is_success

    assert is_in(first)
    assert is_in(second)
    assert not is_in(secret), "the secret of the link is no session"
    own = {"X-Earmark": "organiser", "Cookie": f"{name}={second}"}
    assert client.post("/api/organise/leave", headers=own).is_success
    assert not is_in(second), "signing out ends it on the server"
    assert is_in(first), "and no other"
    # No session is a link.
    assert sign_in(client, first).status_code == 401
    assert client.get("/metrics", headers={"Authorization": f"Bearer {first}"}).status_code == 401
    monkeypatch.setattr("earmark.store.signing_in.SECONDS", 0)
    assert sign_in(client, secret).is_success
    assert not is_in(client.cookies[name]), "its time is over"


def test_two_campaigns_on_one_host_have_cookies_of_their_own(templates: Callable[[str], Path], tmp_path: Path) -> None:
    from served import copy_campaign

    # Browsers send cookies to all ports of a host.
    with (
        copy_campaign(templates("grade"), tmp_path / "one") as one,
        copy_campaign(templates("prefer"), tmp_path / "two") as two,
        open_client(one) as first,
        open_client(two) as second,
    ):
        assert sign_in(first).is_success
        assert sign_in(second).is_success
        first.cookies.update(second.cookies)
        second.cookies.update(first.cookies)
        assert len(first.cookies) == 2
        for client in (first, second):
            assert client.get("/api/organise/state").status_code == 200


def test_only_hashes_of_links_are_stored(make_client: Make) -> None:
    client = make_client()
    who, secret = invited(client), new_organiser_link(store_of(client))
    shared = invite_openly(store_of(client), 3).token
    folder = client.app.state.campaign.opened.path  # type: ignore[attr-defined]
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert len(kept) > 100_000
    for token in (who.token, secret, shared):
        assert token.encode() not in kept


@pytest.mark.parametrize("token", ["", "x", "x" * 4000, "../../etc", "' OR 1=1 --", "\x7f"])
def test_unknown_tokens_are_refused_everywhere(make_client: Make, token: str) -> None:
    client = make_client()
    real = invited(client)
    media = media_of(real)
    nobody = Assessor(client, token)
    for path in ("/api/judge/session", "/api/judge/training", "/api/judge/thanks", media, f"{media}/peaks"):
        assert is_error(nobody.get(path), 401, "unauthorised"), path
    for path in ("questions", "answers", "undo", "skip", "leave", "join", "comments", "prepared"):
        body = {"id": "x", "key": "k" * 16, "text": "x"} if path in ("answers", "undo", "skip", "comments") else {}
        body = {"step": "sound"} if path == "prepared" else body
        body.pop("text", None) if path == "answers" else None
        assert is_error(nobody.post(path, body), 401, "unauthorised"), path


def test_an_organisers_link_is_no_assessors_link_and_the_other_way_round(make_client: Make) -> None:
    client = make_client()
    secret = new_organiser_link(store_of(client))
    assert Assessor(client, secret).get("/api/judge/session").status_code == 401
    assert client.get(f"/judge/{secret}").status_code == 404
    who = invited(client)
    for path in ("/api/organise/state", "/metrics"):
        assert who.get(path).status_code == 401
    said = client.post("/api/organise/session", json={"secret": who.token}, headers={"X-Earmark": "organiser"})
    assert is_error(said, 401, "unauthorised")


def organiser_routes(client: TestClient) -> Iterator[tuple[str, str]]:
    schema = client.get("/api/openapi.json").json()
    for path, methods in schema["paths"].items():
        if "/organise" in path or path == "/metrics":
            for method in methods:
                yield method.upper(), path


def test_every_route_of_the_organiser_needs_the_organiser(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    routes = [one for one in organiser_routes(client) if one[1] not in ("/api/organise/session", "/api/organise/leave")]
    assert len(routes) > 8
    client.app.state.limiter = RateLimiter(burst=10_000)  # type: ignore[attr-defined]
    before = store_of(client).last_sequence
    for method, path in routes:
        for headers in ({}, who.headers, {"Cookie": f"{cookie_name(client.app.state.campaign)}=wrong"}):  # type: ignore[attr-defined]
            client.app.state.limiter = RateLimiter()  # type: ignore[attr-defined]
            address = re.sub(r"{\w+}", "x", path)
            said = client.request(method, address, headers={**headers, "X-Earmark": "organiser"}, json={})
            assert said.status_code == 401, (method, path, said.status_code, said.text[:200])
    assert store_of(client).last_sequence == before


def test_other_sites_cannot_act_for_the_organiser(make_client: Make) -> None:
    client = make_client()
    secret = new_organiser_link(store_of(client))
    sign_in = {"json": {"secret": secret}}
    own = {"X-Earmark": "organiser"}
    for headers in (
        {},
        own | {"Origin": "http://evil.example"},
        own | {"Sec-Fetch-Site": "cross-site"},
        own | {"Sec-Fetch-Site": "same-site"},
        own | {"Origin": "null"},
    ):
        assert is_error(client.post("/api/organise/session", headers=headers, **sign_in), 403, "forbidden"), headers
    assert client.post("/api/organise/session", headers=own | {"Origin": "http://testserver"}, **sign_in).is_success
    posts = [path for method, path in organiser_routes(client) if method == "POST" and "session" not in path]
    assert len(posts) > 4
    before = store_of(client).last_sequence
    for path in posts:
        for headers in ({}, own | {"Origin": "http://evil.example"}, own | {"Sec-Fetch-Site": "cross-site"}):
            said = client.post(re.sub(r"{\w+}", "x", path), headers=headers, json={})
            assert said.status_code in (403, 422), (path, headers)
            if said.status_code == 422:
                # A body that fits is refused as well; it is checked first.
                assert "site" not in said.text
    assert store_of(client).last_sequence == before
    # Nobody else may ask in a browser what this app answers.
    said = client.options("/api/judge/session", headers={"Origin": "http://evil.example"})
    assert not [name for name in said.headers if name.startswith("access-control")]


# ---- media -----------------------------------------------------------------------------------------------------------


def test_a_ticket_is_for_one_person(make_client: Make) -> None:
    client = make_client()
    ann, bob = invited(client, "Ann"), invited(client, "Bob")
    media = media_of(ann)
    assert ann.get(media).status_code == 200
    assert is_error(bob.get(media), 404, "unknown")
    assert is_error(bob.get(f"{media}/peaks"), 404, "unknown")
    assert client.get(media).status_code == 401
    # Every character of a ticket counts.
    ticket = media.rsplit("/", 1)[1]
    for place in range(len(ticket)):
        other = "A" if ticket[place] != "A" else "B"
        assert ann.get(f"/media/{ticket[:place]}{other}{ticket[place + 1 :]}").status_code == 404, place


@pytest.mark.parametrize(
    "path",
    [
        "/media/../campaign.toml",
        "/media/..%2f..%2fcampaign.toml",
        "/media/%2e%2e%2fmanifest.json",
        "/media/manifest.json",
        "/media/.key",
        "/media/" + "0" * 32 + ".mp3",
        "/media//etc/passwd",
        "/media/%00",
        "/media/%F0%9F%98%80",
        "/media/" + "A" * 5000,
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/errors.py",
        "/static//etc/passwd",
        "/static/.",
        "/static/judge",
    ],
)
def test_no_path_of_a_client_is_opened(make_client: Make, path: str) -> None:
    client = make_client()
    said = invited(client).get(path)
    assert is_error(said, 404, "unknown") or is_error(said, 405, "method"), said.text[:200]


def test_names_of_files_are_no_tickets(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    manifest = client.app.state.campaign.manifest  # type: ignore[attr-defined]
    for medium in manifest.media:
        for part in medium.parts:
            for name in (part.file, part.file.partition(".")[0], part.peaks, medium.id):
                assert who.get(f"/media/{name}").status_code == 404


def test_media_end_with_the_campaign(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    media = media_of(who)
    client.app.state.campaign.desk.set_state("closed")  # type: ignore[attr-defined]
    assert is_error(who.get(media), 410, "closed")
    assert is_error(who.get(f"{media}/peaks"), 410, "closed")


def test_ranges_of_a_sound(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    media = media_of(who)
    whole = who.get(media)
    size = len(whole.content)
    assert whole.headers["accept-ranges"] == "bytes"
    for told, begin, end in (
        ("bytes=0-1", 0, 2),
        ("bytes=0-0", 0, 1),
        ("bytes=100-", 100, size),
        ("bytes=-100", size - 100, size),
        (f"bytes=10-{10 * size}", 10, size),
    ):
        said = who.get(media, headers={"Range": told})
        assert (said.status_code, said.content) == (206, whole.content[begin:end]), told
        assert said.headers["content-range"] == f"bytes {begin}-{end - 1}/{size}"
    several = who.get(media, headers={"Range": "bytes=0-9,50-59"})
    assert several.status_code == 206
    assert several.headers["content-type"].startswith("multipart/byteranges")
    assert whole.content[50:60] in several.content
    beyond = who.get(media, headers={"Range": f"bytes={size}-"})
    assert is_error(beyond, 416, "range")
    assert beyond.headers["content-range"] == f"bytes */{size}"
    for told in ("bytes=9-1", "bytes=a-b", "0-1"):
        assert is_error(who.get(media, headers={"Range": told}), 400, "invalid"), told
        assert is_error(client.get("/static/earmark-web.css", headers={"Range": told}), 400, "invalid"), told


def test_who_is_not_asked_any_more_hears_nothing_any_more(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    media = media_of(who)
    assert who.get(media).status_code == 200
    desk, (person,) = client.app.state.campaign.desk, known_people(store_of(client))  # type: ignore[attr-defined]
    desk.reject(person["assessor"], "careless")
    assert is_error(who.get(media), 403, "forbidden")
    assert is_error(who.get(f"{media}/peaks"), 403, "forbidden")
    desk.reinstate(person["assessor"])
    assert who.get(media).status_code == 200
    revoke(store_of(client), person["assessor"])
    assert is_error(who.get(media), 401, "unauthorised")


ABSURD = {
    "many": "bytes=" + ",".join(f"{one}-{one + 1}" for one in range(0, 16_000, 4)),
    "overlapping": "bytes=" + ",".join("0-" for _ in range(8_000)),
    "nested": "bytes=" + ",".join(f"{one}-99999999" for one in range(4_000)),
    "digits": "bytes=" + "9" * 30_000 + "-",
    "dashes": "bytes=" + "-" * 30_000,
    "commas": "bytes=" + "," * 30_000,
    "spaces": "bytes=" + " " * 30_000 + "0-1",
    "no unit": "0-1",
    "reversed": "bytes=9-1",
    "letters": "bytes=a-b",
    "signs": "bytes=--5",
    "other digits": "bytes=٣-٤",
}


@pytest.mark.parametrize("told", ABSURD.values(), ids=ABSURD.keys())
def test_absurd_ranges_cost_neither_time_nor_memory(make_client: Make, told: str) -> None:
    client = make_client()
    who = invited(client)
    media = media_of(who)
    size = len(who.get(media).content)
    tracemalloc.start()
    began = time.process_time()
    said = who.get(media, headers={"Range": told.encode()})
    spent, (_, most) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert said.status_code in (200, 206, 400, 416)
    # A part has a head of its own, so many parts are more than the whole, but not by much.
    assert len(said.content) < 2 * size + 150 * told.count(",") + 10_000
    assert spent < 3.0
    assert most < 30_000_000


# ---- limits ----------------------------------------------------------------------------------------------------------


def test_large_requests_are_refused_whether_they_say_their_size_or_not(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    large = b'{"id": "' + b"x" * LARGEST_BODY + b'"}'
    said = client.post("/api/judge/answers", content=large, headers=who.headers)
    assert is_error(said, 413, "too_large")
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        for start in range(0, len(large), 8192):
            sent += 8192
            yield large[start : start + 8192]

    said = client.post("/api/judge/answers", content=pieces(), headers=who.headers)
    assert is_error(said, 413, "too_large")
    for length in ("-1", "x", "99999999999999999999"):
        headers = {**who.headers, "Content-Length": length}
        assert client.post("/api/judge/answers", content=b"{}", headers=headers).status_code in (400, 413)
    assert who.answer(who.take()["questions"][0]).json()["status"] == "saved"


def test_deep_and_long_details_are_refused(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    question = who.take()["questions"][0]
    deep = b'{"id": "%s", "key": "%s", "gain": 1, "details": {"a": ' % (question["id"].encode(), b"k" * 16)
    deep += b"[" * 50_000 + b"]" * 50_000 + b"}}"
    said = client.post("/api/judge/answers", content=deep, headers={**who.headers, "Content-Type": "application/json"})
    assert said.status_code in (400, 422)
    assert set(said.json()) == {"error"}
    assert who.answer(question, gain=1, details={"a": "x" * 30_000}).status_code == 400
    assert who.answer(question, gain=1).json()["status"] == "saved"


def test_the_rate_is_limited_by_link_and_not_by_address(make_client: Make) -> None:
    client = make_client()
    client.app.state.limiter = RateLimiter(per_second=0.01, burst=5)  # type: ignore[attr-defined]
    ann, bob = invited(client, "Ann"), invited(client, "Bob")
    said = [ann.get("/api/judge/session") for _ in range(7)]
    assert [one.status_code for one in said] == [200] * 5 + [429] * 2
    assert is_error(said[-1], 429, "too_many")
    assert int(said[-1].headers["retry-after"]) >= 1
    # A classroom has one address.
    assert bob.get("/api/judge/session").status_code == 200


def test_a_limit_refills() -> None:
    limiter = RateLimiter(per_second=1000, burst=2)
    assert [limiter.seconds_to_wait("a") for _ in range(2)] == [0, 0]
    assert limiter.seconds_to_wait("a") > 0
    time.sleep(0.01)
    assert limiter.seconds_to_wait("a") == 0


def test_a_limiter_forgets_who_was_not_here_for_long() -> None:
    limiter = RateLimiter(per_second=1e9, burst=1)
    for number in range(12_000):
        limiter.seconds_to_wait(f"link {number}")
    assert len(limiter._left) <= 10_001


FAILING: dict[str, Callable[[TestClient], Any]] = {
    "signing in": lambda client: sign_in(client, "guessed"),
    "the API of the organiser": lambda client: client.get(
        "/api/organise/state", headers={"Authorization": "Bearer guessed"}
    ),
    "the API of assessors": lambda client: Assessor(client, "guessed").get("/api/judge/session"),
    "the page of a link": lambda client: client.get(f"/judge/{new_key()}"),
    "media": lambda client: Assessor(client, "guessed").get("/media/x"),
    "a platform": lambda client: client.get("/recruit/prolific"),
    "nothing": lambda client: client.get(f"/{new_key()}"),
}


@pytest.mark.parametrize("attempt", FAILING.values(), ids=FAILING.keys())
def test_who_fails_too_often_has_to_wait_and_nobody_else_has(
    make_client: Make, attempt: Callable[[TestClient], Any]
) -> None:
    client = make_client()
    client.app.state.limiter = RateLimiter(failures=10, failures_per_second=0.01)  # type: ignore[attr-defined]
    who, secret = invited(client), new_organiser_link(store_of(client))
    said = [attempt(client) for _ in range(12)]
    assert all(400 <= one.status_code < 429 for one in said[:10])
    for late in said[10:]:
        assert is_error(late, 429, "too_many")
        assert int(late.headers["retry-after"]) >= 1
        check_headers(late, "429")
    # All from the same address: those who have a valid link do not notice.
    assert who.get("/api/judge/session").status_code == 200
    assert who.get(media_of(who)).status_code == 200
    assert client.get(f"/judge/{who.token}").status_code == 200
    page = client.get("/organise")
    assert page.status_code == 401
    assert "<form" in page.text, "the page to sign in on is there for everybody"
    assert sign_in(client, secret).is_success
    assert client.get("/api/organise/state").status_code == 200


def test_an_organiser_asks_only_so_often(make_client: Make) -> None:
    client = make_client()
    client.app.state.limiter = RateLimiter(per_second=0.01, burst=5)  # type: ignore[attr-defined]
    headers = organiser_headers(client)
    said = [client.get("/api/organise/people", headers=headers) for _ in range(6)]
    assert [one.status_code for one in said] == [200] * 5 + [429]
    assert is_error(said[-1], 429, "too_many")


@pytest.mark.parametrize("page", ["/judge/{token}", "/recruit/prolific?PROLIFIC_PID=ann&STUDY_ID=s&SESSION_ID=t"])
def test_pages_are_asked_for_only_so_often(make_client: Make, page: str) -> None:
    client = make_client(recruiting__platform="prolific")
    client.app.state.limiter = RateLimiter(per_second=0.01, burst=5)  # type: ignore[attr-defined]
    ann, bob = invited(client, "Ann"), invited(client, "Bob")
    said = [client.get(page.format(token=ann.token)) for _ in range(6)]
    assert [one.status_code for one in said] == [200] * 5 + [429]
    assert is_error(said[-1], 429, "too_many")
    assert client.get(f"/judge/{bob.token}").status_code == 200


def test_the_network_of_an_address_counts() -> None:
    def network(host: str) -> str:
        return address_of({"client": (host, 1)})

    assert network("2001:db8::1") == network("2001:db8::2:3") != network("2001:db8:0:1::1")
    assert network("192.0.2.1") == network("::ffff:192.0.2.1") != network("192.0.2.2")
    assert network("testclient") == "testclient"


def test_limits_hold_when_many_ask_at_once() -> None:
    limiter, passed = RateLimiter(per_second=0.001, burst=100), []

    def ask() -> None:
        passed.extend(limiter.seconds_to_wait("a") == 0 for _ in range(50))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(passed) == 100


# ---- errors ----------------------------------------------------------------------------------------------------------


def test_all_errors_have_one_shape(make_client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    client = make_client()
    who = invited(client)
    question = who.take()["questions"][0]
    assert is_error(who.answer(question, gain=99), 400, "invalid")
    assert is_error(client.get("/api/judge/session"), 401, "unauthorised")
    assert is_error(client.post("/api/organise/leave"), 403, "forbidden")
    assert is_error(client.get("/nothing"), 404, "unknown")
    assert is_error(client.get("/static/nothing.js"), 404, "unknown")
    assert is_error(client.request("PATCH", "/api/judge/session"), 405, "method")
    assert is_error(client.post("/static/earmark-web.css"), 405, "method")
    assert is_error(who.post("answers", {"id": 1}), 422, "invalid")
    no_json = client.post("/api/judge/answers", content=b"{", headers=who.headers)
    assert is_error(no_json, 422, "invalid")

    def away(*_: object, **__: object) -> None:
        raise StoreError("postgresql://user@host/name: cannot be reached")

    monkeypatch.setattr("earmark.store.desk.Desk.take", away)
    said = who.post("questions")
    assert is_error(said, 503, "busy")
    assert "postgresql" not in said.text
    assert "retry-after" in said.headers
    # Whoever opens a page reads it in words, and the page tries again by itself.
    monkeypatch.setattr("earmark.web.assessor.link_of", away)
    page = client.get(f"/judge/{who.token}", headers={"Accept": "text/html,*/*", "Accept-Language": "es"})
    assert page.status_code == 503
    assert "La prueba no está disponible en este momento" in page.text
    assert "postgresql" not in page.text
    assert int(page.headers["refresh"]) > 0


# ---- reading changes nothing -----------------------------------------------------------------------------------------


def get_routes(client: TestClient) -> list[str]:
    def walk(routes: Any) -> Iterator[str]:
        for route in routes:
            if isinstance(route, Mount):
                continue
            if isinstance(route, Route) and "GET" in (route.methods or ()):
                yield route.path

    found = {*walk(client.app.routes)}  # type: ignore[attr-defined]
    found |= {path for path, how in client.get("/api/openapi.json").json()["paths"].items() if "get" in how}
    return sorted(found)


def snapshot(client: TestClient) -> dict[str, Any]:
    """Return all that a store keeps."""
    import sqlalchemy as sa

    from earmark.store import schema

    store = store_of(client)

    def look(connection: sa.Connection) -> dict[str, list[Any]]:
        return {one.name: list(connection.execute(sa.select(one))) for one in schema.metadata.sorted_tables}

    rows = store.read(look)
    return {name: sorted(map(repr, found)) for name, found in rows.items()}


def test_a_get_changes_nothing(make_client: Make) -> None:
    client = make_client()
    who = invited(client)
    headers = organiser_headers(client)
    shared = invite_openly(store_of(client), 3).token
    media = media_of(who)
    assert who.answer(who.take()["questions"][0]).is_success
    routes = [path for path in get_routes(client) if "live" not in path]
    assert len(routes) > 15
    files = {path: path.read_bytes() for path in _files(client)}
    before = snapshot(client)
    for path in routes:
        for token in (who.token, shared, "nobody"):
            address = path.replace("{token}", token).replace("{ticket}", media.rsplit("/", 1)[1])
            address = re.sub(r"{\w+(:\w+)?}", "x", address)
            for sent in (Assessor(client, token).headers, headers, {}):
                client.app.state.limiter = RateLimiter()  # type: ignore[attr-defined]
                said = client.get(address, headers=sent)
                assert said.status_code < 500, (address, said.text[:300])
                client.head(address, headers=sent)
    assert snapshot(client) == before
    assert {path: path.read_bytes() for path in _files(client)} == files


def _files(client: TestClient) -> list[Path]:
    folder = client.app.state.campaign.opened.path  # type: ignore[attr-defined]
    return [one for one in sorted(folder.rglob("*")) if one.is_file() and not re.search(r"\.db|\.lock", one.name)]


def test_a_forwarded_address_cannot_be_made_up(make_client: Make) -> None:
    """Whatever a client says about the host or the way it came, no link or redirect is made of it."""
    client = make_client()
    who = invited(client)
    for name in ("Host", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "X-Original-URL"):
        for path in ("/", f"/judge/{who.token}", "/organise", "/static/judge", "/api/judge/session/"):
            said = who.get(path, headers={name: "evil.example"}, follow_redirects=False)
            assert "evil.example" not in said.text
            assert "evil.example" not in said.headers.get("location", ""), (name, path)


def test_the_key_of_an_answer_is_no_way_into_other_peoples_answers(make_client: Make) -> None:
    client = make_client()
    ann, bob = invited(client, "Ann"), invited(client, "Bob")
    key = new_key()
    mine = ann.take()["questions"][0]
    assert ann.post("answers", {"id": mine["id"], "key": key, "gain": 2}).json()["status"] == "saved"
    other = bob.take()["questions"][0]
    assert bob.post("answers", {"id": other["id"], "key": key, "gain": 0}).status_code == 400
    for path in ("answers", "undo", "skip", "comments"):
        body = {"id": mine["id"], "key": new_key()}
        body |= {"gain": 0} if path == "answers" else {"text": "x"}
        assert bob.post(path, body).status_code == 400, path
    assert store_of(client).log().answers["gain"].to_list() == [2.0]


# ---- by which names, how fast and of which type ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("testserver", True),
        ("TestServer:8000", True),
        ("localhost:8000", True),
        ("127.0.0.1:8000", True),
        ("[::1]:8000", True),
        ("192.168.1.20", True),
        (f"{socket.gethostname()}:8000", True),
        ("judge.example.org", True),
        ("evil.example", False),
        ("testserver.evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("", False),
        ("[", False),
    ],
)
def test_the_app_answers_by_its_own_names_only(make_client: Make, host: str, allowed: bool) -> None:
    """A name that somebody else owns may lead here for a while, which makes the app a part of that site."""
    client = make_client(people__hosts=("judge.example.org",))
    for path in ("/", "/api/judge/session", "/static/icon.svg"):
        answer = client.get(path, headers={"Host": host})
        assert (answer.status_code != 421) == allowed
        if not allowed:
            assert answer.json()["error"]["code"] == "host"
            assert "Content-Security-Policy" in answer.headers
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("gain", [True, "1", [1], {"a": 1}])
def test_a_gain_is_a_number(make_client: Make, gain: object) -> None:
    client = make_client()
    ann = invited(client)
    question = ann.take()["questions"][0]
    assert ann.answer(question, gain=gain).status_code == 422
    assert ann.answer(question, gain=1).status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for(make_client: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earmark.web.responses.SLOWEST_BODY", 0.05)
    client = make_client()
    token = invited(client).token
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        if not pieces:
            await asyncio.Event().wait()
        return pieces.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    pieces = [{"type": "http.request", "body": b'{"id": ', "more_body": True}]
    headers = [(b"host", b"testserver"), (b"authorization", f"Bearer {token}".encode())]
    headers.append((b"content-type", b"application/json"))
    scope = {"type": "http", "method": "POST", "path": "/api/judge/answers", "headers": headers, "scheme": "http"}
    scope |= {"query_string": b"", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "http_version": "1.1"}
    assert client.portal is not None
    client.portal.call(client.app, scope, receive, send)
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert json.loads(sent[1]["body"])["error"]["code"] == "slow"


def test_a_head_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a first request, and half of one after another on the same connection; a slow answer is waited for."""
    monkeypatch.setattr("earmark.web.slow_clients.SLOWEST_HEAD", 0.05)
    whole = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.2)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def talk() -> list[bytes]:
        config = uvicorn.Config(app, port=0, http=PatientProtocol, lifespan="off", log_level="warning")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server._serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        heard = []
        for sent in (b"", whole[:9], whole + whole[:9]):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            heard.append(await asyncio.wait_for(reader.read(), 20))
            writer.close()
            await writer.wait_closed()
        server.should_exit = True
        await serving
        return heard

    nothing, half, after_another = asyncio.run(talk())
    assert (nothing, half) == (b"", b"")
    assert after_another.startswith(b"HTTP/1.1 204")
    assert after_another.count(b"HTTP/1.1") == 1
