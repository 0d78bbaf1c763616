"""WebKit, the engine of Safari: a question is heard and answered there too, and the dashboard follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx2 as httpx
import pytest
from judging import Server
from webkit import HOW, WebKit, is_there, running

from earmark.store.links import new_organiser_link

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def webkit() -> Iterator[WebKit]:
    if not is_there():
        pytest.fail(HOW)
    with running() as browser:
        yield browser


def test_a_question_is_heard_and_answered(served: Callable[..., Server], webkit: WebKit) -> None:
    server = served("grade")
    before = len(server.events("answered"))
    webkit.open(server.link())
    webkit.wait("document.querySelector('main button.primary')")
    assert "AppleWebKit" in webkit.run("return navigator.userAgent")
    webkit.click("main button.primary")
    webkit.wait("document.querySelector('.asking')")
    if webkit.run("return document.querySelector('.asking .badge') !== null"):
        # The training: a song beside itself.
        hear_all(webkit)
        choose(webkit, "Very similar")
        webkit.click(".next")
        webkit.click(".feedback button")
    webkit.wait("document.querySelector('.asking[data-question]') && !document.querySelector('.asking .badge')")
    hear_all(webkit)
    choose(webkit, "Somewhat similar")
    webkit.click(".next")
    webkit.wait("document.querySelector('#saved').dataset.state === 'saved'")
    assert len(server.events("answered")) == before + 1


def test_the_dashboard_follows(served: Callable[..., Server], webkit: WebKit) -> None:
    server = served("grade", pages__minimum_seconds=0.0, pages__look_early=True)
    webkit.open(f"{server.address}/organise#{new_organiser_link(server.opened.store)}")
    webkit.wait("document.querySelector('#connection[data-state=live]')")
    webkit.wait("document.querySelector('#facts')?.innerText.includes('Answers that count')")
    webkit.run("window.sameDocument = true")
    headers = {"Authorization": f"Bearer {server.link('Ann').rpartition('/')[2]}"}
    with httpx.Client(base_url=server.address, headers=headers, timeout=60) as client:
        for number in range(3):
            (question,) = client.post("/api/judge/questions", json={"ahead": 0}).json()["questions"]
            body = {"id": question["id"], "key": f"a longer key {number}", "gain": number}
            client.post("/api/judge/answers", json=body).raise_for_status()
    webkit.wait("document.querySelector('#assessors-rows').innerText.includes('Ann')")
    webkit.wait("document.querySelector('[data-figure=ranking] img').naturalWidth > 100")
    assert webkit.run("return window.sameDocument"), "the page was not loaded again"
    for page in ("people", "answers", "settings", "files", "recruiting"):
        webkit.open(f"{server.address}/organise/{page}")
        webkit.wait("document.querySelector('#connection[data-state=live]')")


def hear_all(webkit: WebKit) -> None:
    """Play every clip until it was heard for long enough."""
    parts = webkit.wait("document.querySelectorAll('.showing .shown .play').length")
    for place in range(parts):
        webkit.run(
            "const all = document.querySelectorAll('.showing .shown .play');"
            "all.forEach((one, place) => one.id = `play-${place}`);"
        )
        webkit.click(f"#play-{place}")
        webkit.wait(f"document.querySelectorAll('.listened[data-state=done]').length > {place}")


def choose(webkit: WebKit, answer: str) -> None:
    webkit.run(
        "const labels = [...document.querySelectorAll('.asking label')];"
        "const label = labels.find((one) => one.innerText.trim().startsWith(arguments[0]));"
        "(document.getElementById(label.htmlFor) ?? label.querySelector('input')).click();",
        answer,
    )
