"""The sound itself: what comes out of the Web Audio graph is recorded and measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from judging import Judge, Server
from playwright.sync_api import expect
from recording import (
    assert_smooth,
    assert_unclipped,
    largest_step,
    play_until,
    rate_of,
    record,
    record_clip,
    recorded,
    sounding,
)

from earmark.audio.loudness import integrated_loudness
from earmark.media import read_manifest

Serve = Callable[..., Server]
Follow = Callable[..., Judge]


@pytest.fixture
def listener(served: Serve, judge: Follow) -> Judge:
    """Somebody at a question about tones of very different levels, whose sound is recorded from now on."""
    # The policy of the page allows no script of a test.
    ann = judge(served("uneven").link(), bypass_csp=True).begin()
    record(ann)
    return ann


def test_switching_has_no_gap_no_click_and_no_clipping(listener: Judge) -> None:
    press = listener.page.keyboard.press
    press("q")
    for number, key in enumerate("aqaqa"):
        play_until(listener, 0.3 + 0.17 * number)
        press(key)
    play_until(listener, 1.2)
    # Faster than any fade.
    for key in "qaq":
        press(key)
    play_until(listener, 1.4)
    press("k")
    samples = recorded(listener)
    assert len(sounding(samples)) > 1.2 * rate_of(listener)
    assert_smooth(listener, samples)
    assert listener.page.evaluate("__earmark.player.switches") >= 5


def test_switching_goes_on_at_the_same_position(listener: Judge) -> None:
    page = listener.page
    page.keyboard.press("q")
    play_until(listener, 0.6)
    before, after, heard = page.evaluate(
        """async () => {
          const { player } = __earmark;
          const [before, from] = [player.position, player.context.currentTime];
          await player.play("candidate 0");
          const heard = () => player.secondsHeard("candidate 0");
          while (player.playing && heard() < 0.1) await new Promise((resolve) => setTimeout(resolve, 10));
          return [before - from, player.position - player.context.currentTime, heard()];
        }"""
    )
    assert before > -10
    assert heard >= 0.1
    assert abs(after - before) < 0.03


def test_a_loop_repeats_without_a_click(listener: Judge) -> None:
    page = listener.page
    page.evaluate("__earmark.player.setLoop({start: 0.4, end: 0.95})")
    page.keyboard.press("q")
    page.wait_for_function("__earmark.player.secondsHeard('query') > 1.8")
    place = page.evaluate("__earmark.player.position")
    page.keyboard.press("k")
    assert 0.4 <= place <= 0.95
    samples = recorded(listener)
    assert len(sounding(samples)) > 1.7 * rate_of(listener)
    assert_smooth(listener, samples)


def test_pausing_and_seeking_do_not_click(listener: Judge) -> None:
    press = listener.page.keyboard.press
    press("a")
    play_until(listener, 0.3)
    listener.page.evaluate("__earmark.player.seek(1.5)")
    play_until(listener, 1.7)
    press("k")
    samples = sounding(recorded(listener))
    steps = np.abs(np.diff(samples[:, 0]))
    assert steps.max() <= 1.1 * largest_step(listener) + 0.01 * np.abs(samples).max()
    # It ends in a fade, not at once.
    assert np.abs(samples[-20:]).max() < 0.1 * np.abs(samples).max()


def test_clips_are_equally_loud_and_unclipped_whatever_the_sources_are(served: Serve, judge: Follow) -> None:
    """Tones and clicks, from near full scale to some 40 LU below, on one page."""
    server = served("levels")
    ann = judge(server.link(), bypass_csp=True).begin()
    manifest = read_manifest(server.folder)
    sources = [part for medium in manifest.media for part in medium.parts]
    before = [part.original_loudness for part in sources if part.original_loudness is not None]
    assert max(before) - min(before) > 20
    assert max(part.original_peak for part in sources if part.original_peak is not None) > -0.2
    record(ann)
    parts: list[str] = ann.page.evaluate("[...__earmark.player.tracks.keys()]")
    assert len(parts) == 7
    measured, peaks = {}, {}
    for part in parts:
        play = ann.page.locator(f"[data-part='{part}'] .play")
        heard = record_clip(ann, play.click, seconds=1.2)
        assert_unclipped(heard)
        measured[part] = integrated_loudness(heard.astype(float), rate_of(ann))
        peaks[part] = float(np.abs(heard).max())
    levels = list(measured.values())
    assert max(levels) - min(levels) < 1, measured
    assert abs(np.mean(levels) - manifest.loudness) < 0.5, measured
    # Clicks at the level of tones have far higher peaks: for their sake all clips are quieter than they might be.
    assert max(peaks.values()) > 5 * min(peaks.values()), peaks
    assert manifest.loudness < manifest.settings.loudness - 2


def test_nothing_plays_before_a_gesture(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).open()
    ann.page.get_by_role("heading", name="What to do").wait_for()
    assert ann.page.evaluate("__earmark.player.context") is None
    ann.page.get_by_role("button", name="Begin").click()
    ann.question.wait_for()
    ann.page.wait_for_timeout(200)
    state: Any = ann.page.evaluate("({context: __earmark.player.context, playing: __earmark.player.playing})")
    assert state == {"context": None, "playing": False}


def test_the_next_clips_are_fetched_ahead(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link())
    fetched: list[str] = []
    ann.page.on("requestfinished", lambda request: fetched.append(request.url))
    with ann.page.expect_response("**/api/judge/questions") as asked:
        ann.begin()
    waiting = asked.value.json()["questions"]
    assert len(waiting) == 2
    # Of the question on the page and of the one after it.
    clips = {
        part["media"] for one in waiting for shown in (one["query"], *one["candidates"]) for part in shown["parts"]
    }
    ann.page.wait_for_function("urls => urls.every(url => __earmark.player.clips.encoded.has(url))", arg=sorted(clips))
    assert len([url for url in fetched if any(url.endswith(one) for one in clips)]) == len(clips)
    fetched.clear()
    ann.hear_all()
    ann.choose("Not similar")
    ann.next()
    assert ann.id == waiting[1]["id"]
    here = ann.page.evaluate("[...__earmark.player.tracks.values()].map(one => one.url)")
    ann.hear_all()
    assert not [url for url in fetched if any(url.endswith(one) for one in here)]


def test_memory_is_bounded(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    ann.page.locator("[data-part=query] .play").click()
    kept = ann.page.evaluate(
        """async () => {
          const { Cache } = await import("/static/judge/clips.js");
          const cache = new Cache(100, (value) => value);
          for (const [key, size] of [["a", 40], ["b", 40], ["c", 40]]) cache.set(key, size, new Set(["a"]));
          const first = ["a", "b", "c"].filter((key) => cache.has(key));
          cache.set("d", 90);
          return [first, ["a", "b", "c", "d"].filter((key) => cache.has(key)), cache.bytes];
        }"""
    )
    assert kept == [["a", "c"], ["d"], 90]
    assert ann.page.evaluate("__earmark.player.clips.decoded.limit") <= 64 * 2**20


def test_a_stretch_beyond_the_end_of_a_shorter_clip_repeats_that_clip(listener: Judge) -> None:
    page = listener.page
    place = page.evaluate(
        """async () => {
          const { player } = __earmark;
          const { url } = player.tracks.get("candidate 0");
          const short = player.context.createBuffer(1, player.context.sampleRate * 0.8, player.context.sampleRate);
          short.getChannelData(0).set(player.clips.ready(url).getChannelData(0).subarray(0, short.length));
          player.clips.decoded.set(url, short);
          player.setLoop({ start: 2, end: 2.6 });
          await player.play("candidate 0");
          const heard = () => player.secondsHeard("candidate 0");
          while (player.playing && heard() < 1.8) await new Promise((resolve) => setTimeout(resolve, 20));
          return player.playing ? player.position : null;
        }"""
    )
    assert place is not None
    assert 0 <= place <= 0.8
    page.keyboard.press("k")
    samples = recorded(listener)
    assert len(sounding(samples)) > 1.7 * rate_of(listener)


def test_screen_readers_are_told_the_place_once_a_second(served: Serve, judge: Follow) -> None:
    ann = judge(served("grade").link()).begin()
    page = ann.page
    page.locator("[data-part=query] .play").click()
    expect(page.locator("[data-part=query] .listened[data-state=done]")).to_be_visible()
    told = page.evaluate(
        """async () => {
          const { player } = __earmark;
          const slider = document.querySelector("[data-part=query] .waveform");
          let [told, drawn] = [0, 0];
          const note = () => (told += 1);
          new MutationObserver(note).observe(slider, { attributeFilter: ["aria-valuetext"] });
          const clear = CanvasRenderingContext2D.prototype.clearRect;
          CanvasRenderingContext2D.prototype.clearRect = function (...box) {
            drawn += 1;
            clear.apply(this, box);
          };
          player.seek(0);
          await new Promise((resolve) => setTimeout(resolve, 2_200));
          player.pause();
          await new Promise((resolve) => setTimeout(resolve, 100));
          const playing = told;
          drawn = 0;
          // What does not change is not drawn, whatever is said.
          for (let time = 0; time < 20; time += 1) player.dispatchEvent(new Event("change"));
          const same = drawn;
          player.seek(0.2);
          await new Promise((resolve) => setTimeout(resolve, 100));
          return { playing, same, jumped: told - playing };
        }"""
    )
    assert 1 <= told["playing"] <= 4
    assert told["same"] == 0
    assert told["jumped"] == 1


# As on a computer that is so busy that the page hears of the end of a sound only after it has asked the next question.
ENDED_NEVER = """
Object.defineProperty(AudioScheduledSourceNode.prototype, "onended", { set() {}, get: () => null });
"""


def test_what_was_heard_counts_before_the_browser_says_that_it_has_ended(served: Serve, judge: Follow) -> None:
    server = served("uneven")
    ann = judge(server.link())
    ann.page.add_init_script(ENDED_NEVER)
    ann.begin()
    page = ann.page
    for key, part in (("q", "query"), ("a", "candidate 0"), ("q", "query")):
        before = page.evaluate("part => __earmark.player.secondsHeard(part)", part)
        page.keyboard.press(key)
        page.wait_for_function(
            "([part, until]) => __earmark.player.secondsHeard(part) > until", arg=[part, before + 0.25]
        )
    page.evaluate("__earmark.player.seek(0.1)")
    page.keyboard.press("k")
    page.keyboard.press("2")
    ann.next(lambda: page.keyboard.press("Enter"))
    ann.expect_saved()
    heard = {row["part"]: row for row in json.loads(server.events("answered")[-1]["text"])["heard"]}
    assert heard["query"]["seconds"] >= 0.5
    assert heard["candidate 0"]["seconds"] >= 0.25
    assert [heard[part]["plays"] for part in ("query", "candidate 0")] == [2, 1]
