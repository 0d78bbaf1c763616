"""Plain HTTP in a local network is no secure context: everything works there too, and sounds decode as they were made.

The browser takes a made-up name for this machine, so that the page has an origin that is neither localhost nor secure.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from browsers import HOW, find_browser
from judging import Judge, Server, new_context
from playwright.sync_api import Browser, expect

from earmark.media.clips import _BITS, _OPTIONS
from earmark.media.padding import with_padding
from earmark.store.links import new_organiser_link

NAME = "listen.test"
RATE = 44_100

DECODE = """
async (text) => {
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer;
  const sound = await new OfflineAudioContext(2, 44100, 44100).decodeAudioData(bytes);
  let sum = 0;
  for (const sample of sound.getChannelData(1)) sum = (sum * 31 + Math.round(sample * 1e6)) % 1000000007;
  return [sound.length, sound.numberOfChannels, sum];
}
"""


@pytest.fixture(scope="module")
def elsewhere(browser: Browser) -> Iterator[Browser]:
    """A browser that finds the made-up name on this machine, and no other machine at all."""
    path = find_browser()
    if path is None:
        pytest.fail(HOW)
    rules = f"--host-resolver-rules=MAP {NAME} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    # The second browser shares the driver of the first.
    running = browser.browser_type.launch(executable_path=path, args=["--no-sandbox", rules])
    yield running
    running.close()


@pytest.fixture
def server(served: Callable[..., Server]) -> Server:
    return served("grade", host="0.0.0.0", people__hosts=(NAME,))


def there(server: Server, link: str) -> str:
    """Return a link with the made-up name."""
    port = server.address.rsplit(":", 1)[1]
    return f"http://{NAME}:{port}/{link.split('/', 3)[3]}"


def test_a_question_is_answered_with_sound_from_an_insecure_origin(elsewhere: Browser, server: Server) -> None:
    person = Judge(new_context(elsewhere), there(server, server.link()))
    person.open()
    assert person.page.evaluate("[isSecureContext, location.hostname]") == [False, NAME]
    assert person.page.evaluate("typeof crypto.randomUUID") == "undefined", "what is missing there is missing here"
    before = len(server.events("answered"))
    person.begin()
    person.hear_all()
    person.choose("Somewhat similar")
    person.next()
    person.expect_saved()
    assert len(server.events("answered")) == before + 1
    person.close()


def test_the_organisers_page_works_from_an_insecure_origin(elsewhere: Browser, server: Server) -> None:
    context = new_context(elsewhere)
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    secret = new_organiser_link(server.opened.store)
    page.goto(there(server, f"{server.address}/organise#{secret}"))
    expect(page.locator("#connection[data-state=live]")).to_be_visible()
    assert page.evaluate("isSecureContext") is False
    assert not said, said
    context.close()


@pytest.mark.parametrize("form", ["mp3", "flac", "wav"])
def test_chromium_decodes_sounds_with_padding_as_without(browser: Browser, tmp_path: Path, form: str) -> None:
    path = tmp_path / f"a.{form}"
    sound = 0.1 * np.random.default_rng(0).standard_normal((RATE, 2))
    soundfile.write(path, sound, RATE, subtype=_BITS.get(form), **_OPTIONS.get(form, {}))
    plain = path.read_bytes()
    filled = with_padding(plain, f".{form}", 1_500_000)
    context = new_context(browser)
    page = context.new_page()
    first, second = (page.evaluate(DECODE, base64.b64encode(one).decode()) for one in (plain, filled))
    assert first == second
    assert first[:2] == [RATE, 2]
    context.close()
