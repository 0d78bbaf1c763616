"""In which language a page is: what somebody chose, the campaign's, the browser's, English."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served import invited
from starlette.testclient import TestClient

from earmark.web.catalogue import LANGUAGES
from earmark.web.languages import accepted_language

Make = Callable[..., TestClient]


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", None),
        ("es", "es"),
        ("ES", "es"),
        ("es-MX", "es"),
        ("zh-Hant-TW, es-419;q=0.3", "es"),
        ("en, es", "en"),
        ("es, en", "es"),
        ("en;q=0.8, es;q=0.9", "es"),
        ("en;q=0.8,es ; q=0.9", "es"),
        ("en-GB;q=0.2, es;q=0.5, en;q=0.7", "en"),
        ("fr, de;q=0.9", None),
        ("fr, *;q=0.5", "en"),
        ("en;q=0, *;q=0.5", "es"),
        ("es;q=0", None),
        ("es;q=0.000, en;q=0.001", "en"),
        # What is not well formed is passed over.
        ("es;q=2, en", "en"),
        ("es;q=-1", None),
        ("es;q=0.1234, en;q=0.1", "en"),
        ("es;q=, en", "en"),
        ("es;q=high", None),
        ("e\u015b, ;;, ,es", "es"),
        ("espanol-de-mexico", None),
        ("esperanto", None),
    ],
)
def test_what_a_browser_asks_for(header: str, language: str | None) -> None:
    assert accepted_language(header) == language


@given(st.text(max_size=300))
def test_any_header_is_read(header: str) -> None:
    assert accepted_language(header) in {None, *LANGUAGES}


def language_of(page: str) -> str:
    return page.split('<html lang="')[1][:2]


def addresses(client: TestClient) -> list[str]:
    recruited = "/recruit/prolific?PROLIFIC_PID=p&STUDY_ID=s&SESSION_ID=t"
    return [f"/judge/{invited(client).token}", "/judge/nothing", "/", recruited, "/recruit/mturk?assignmentId=A"]


@pytest.mark.parametrize(
    ("campaign", "browser", "chosen", "language"),
    [
        ("en", None, None, "en"),
        ("en", "es-ES,es;q=0.9,en;q=0.5", None, "es"),
        ("en", "fr", None, "en"),
        ("en", "es", "en", "en"),
        ("en", "en", "es", "es"),
        ("en", "es", "xx", "es"),
        ("es", "en", None, "es"),
        ("es", "en", "en", "en"),
    ],
)
def test_the_language_of_a_page(
    make_client: Make, campaign: str, browser: str | None, chosen: str | None, language: str
) -> None:
    client = make_client(pages__language=campaign, recruiting__platform="prolific")
    headers = {} if browser is None else {"Accept-Language": browser}
    for address in addresses(client):
        asked = address if chosen is None else f"{address}{'&' if '?' in address else '?'}language={chosen}"
        page = client.get(asked, headers=headers)
        assert language_of(page.text) == language, address
        assert page.headers["Vary"] == "Accept-Language", address


@pytest.mark.parametrize(
    ("campaign", "browser", "page", "kept"),
    [
        ("en", "es", "es", ""),
        ("en", "es", "en", "?language=en"),
        ("en", "en", "es", "?language=es"),
        ("es", "en", "es", ""),
        ("es", "en", "en", "?language=en"),
    ],
)
def test_paid_work_goes_on_in_the_language_in_which_it_began(
    make_client: Make, campaign: str, browser: str, page: str, kept: str
) -> None:
    client = make_client(pages__language=campaign, recruiting__platform="prolific")
    said = {"platform": "prolific", "worker": "a", "assignment": "b", "language": page}
    headers = {"X-Earmark": "recruit", "Accept-Language": browser}
    link = client.post("/api/recruit/start", json=said, headers=headers).json()["link"]
    assert link.partition("?")[1:] == (kept[:1], kept[1:])
    assert language_of(client.get(link, headers={"Accept-Language": browser}).text) == page
