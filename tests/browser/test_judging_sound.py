"""The sound itself: what comes out of the Web Audio graph is recorded and measured."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from judging import Judge, Server
from numpy.typing import NDArray
from playwright.sync_api import expect

from earmark.audio.loudness import integrated_loudness

Serve = Callable[..., Server]
Follow = Callable[..., Judge]
Samples = NDArray[np.float32]

# Records what the player's last node gives out, in the thread of the sound, so that no sample is missed.
RECORDER = """
registerProcessor("recorder", class extends AudioWorkletProcessor {
  process([input]) {
    if (input.length) this.port.postMessage([input[0], input[1] ?? input[0]].map((side) => side.slice()));
    return true;
  }
});
"""
LISTEN = """async (source) => {
  const { player } = window.__earmark;
  const context = player.unlock();
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const recorder = new AudioWorkletNode(context, "recorder");
  const blocks = [];
  recorder.port.onmessage = (event) => blocks.push(event.data);
  player.output.connect(recorder).connect(context.destination);
  window.recorded = () => {
    const all = new Float32Array(2 * blocks.length * 128);
    blocks.forEach(([left, right], index) => {
      for (let at = 0; at < 128; at += 1) {
        all[2 * (index * 128 + at)] = left[at];
        all[2 * (index * 128 + at) + 1] = right[at];
      }
    });
    let text = "";
    for (const byte of new Uint8Array(all.buffer)) text += String.fromCharCode(byte);
    return btoa(text);
  };
}"""
PREPARE = """async () => {
  const { player } = window.__earmark;
  for (const { url } of player.tracks.values()) await player.clips.decode(player.context, url);
  player.level = 1;
  player.seek(0);
}"""


@pytest.fixture
def listener(served: Serve, judge: Follow) -> Judge:
    """Somebody at a question, whose sound is recorded from the first press on play."""
    # The policy of the page allows no script of a test.
    ann = judge(served("grade").link(), bypass_csp=True).begin()
    # A gesture first, as everywhere; then at full level.
    ann.page.locator("[data-part=query] .play").click()
    ann.page.locator("[data-part=query] .play").click()
    ann.page.evaluate(PREPARE)
    ann.page.wait_for_timeout(150)
    ann.page.evaluate(LISTEN, RECORDER)
    return ann


def recorded(ann: Judge) -> Samples:
    """Return what was heard so far, with both channels."""
    ann.page.wait_for_timeout(200)
    return np.frombuffer(base64.b64decode(ann.page.evaluate("recorded()")), np.float32).reshape(-1, 2)


def sounding(samples: Samples) -> Samples:
    """Return the part from the first to the last sound."""
    loud = np.flatnonzero(np.abs(samples[:, 0]) > 1e-4)
    assert loud.size
    return samples[loud[0] : loud[-1] + 1]


def rate_of(ann: Judge) -> int:
    return int(ann.page.evaluate("__earmark.player.context.sampleRate"))


def largest_step(ann: Judge) -> float:
    """Return the largest difference between neighbouring samples of the clips themselves."""
    return float(
        ann.page.evaluate(
            """() => {
              const { player } = __earmark;
              let most = 0;
              for (const { url } of player.tracks.values()) {
                const samples = player.clips.ready(url).getChannelData(0);
                samples.forEach((value, at) => (most = Math.max(most, Math.abs(value - (samples[at - 1] ?? value)))));
              }
              return most;
            }"""
        )
    )


def assert_smooth(ann: Judge, samples: Samples) -> None:
    """No gap, no click and no clipping between the first and the last sound."""
    rate = rate_of(ann)
    heard = sounding(samples)
    assert np.abs(heard).max() <= 1
    # A click is a step that neither clip makes; a fade of 10 ms adds next to nothing to the slope.
    inner = heard[int(0.02 * rate) : -int(0.02 * rate), 0]
    assert np.abs(np.diff(inner)).max() <= 1.1 * largest_step(ann) + 0.01 * np.abs(inner).max()
    # A gap is a stretch of 4 ms with hardly any sound. The lowest tone has several periods in 10 ms.
    window = int(0.01 * rate)
    level = np.sqrt(np.convolve(inner**2, np.ones(window) / window, mode="valid"))
    assert level.min() > 0.2 * np.median(level)


def test_switching_has_no_gap_no_click_and_no_clipping(listener: Judge) -> None:
    press, wait = listener.page.keyboard.press, listener.page.wait_for_timeout
    press("q")
    wait(300)
    for key in "aqaqa":
        press(key)
        wait(170)
    # Faster than any fade.
    for key in "qaq":
        press(key)
    wait(200)
    press("k")
    samples = recorded(listener)
    assert len(sounding(samples)) > 1.2 * rate_of(listener)
    assert_smooth(listener, samples)
    assert listener.page.evaluate("__earmark.player.switches") >= 5


def test_switching_goes_on_at_the_same_position(listener: Judge) -> None:
    page = listener.page
    page.keyboard.press("q")
    page.wait_for_timeout(600)
    before, after = page.evaluate(
        """async () => {
          const { player } = __earmark;
          const [before, from] = [player.position, player.context.currentTime];
          player.play("candidate 0");
          await new Promise((resolve) => setTimeout(resolve, 200));
          return [before - from, player.position - player.context.currentTime];
        }"""
    )
    assert before > -10
    assert abs(after - before) < 0.03


def test_a_loop_repeats_without_a_click(listener: Judge) -> None:
    page = listener.page
    page.evaluate("__earmark.player.setLoop({start: 0.4, end: 0.95})")
    page.keyboard.press("q")
    page.wait_for_timeout(1_900)
    place = page.evaluate("__earmark.player.position")
    page.keyboard.press("k")
    assert 0.4 <= place <= 0.95
    samples = recorded(listener)
    assert len(sounding(samples)) > 1.7 * rate_of(listener)
    assert_smooth(listener, samples)
    assert page.evaluate("__earmark.player.secondsHeard('query')") > 1.6


def test_pausing_and_seeking_do_not_click(listener: Judge) -> None:
    press, wait = listener.page.keyboard.press, listener.page.wait_for_timeout
    press("a")
    wait(300)
    listener.page.evaluate("__earmark.player.seek(1.5)")
    wait(200)
    press("k")
    wait(200)
    samples = sounding(recorded(listener))
    steps = np.abs(np.diff(samples[:, 0]))
    assert steps.max() <= 1.1 * largest_step(listener) + 0.01 * np.abs(samples).max()
    # It ends in a fade, not at once.
    assert np.abs(samples[-20:]).max() < 0.1 * np.abs(samples).max()


def test_clips_are_equally_loud(listener: Judge) -> None:
    press, wait = listener.page.keyboard.press, listener.page.wait_for_timeout
    measured = []
    for key in "qa":
        start = len(recorded(listener))
        listener.page.evaluate("__earmark.player.seek(0)")
        press(key)
        wait(2_000)
        press("k")
        measured.append(integrated_loudness(sounding(recorded(listener)[start:]).astype(float), rate_of(listener)))
    assert abs(measured[0] - measured[1]) < 1
    assert abs(np.mean(measured) + 23) < 2


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
    ann = judge(served("grade").link()).begin()
    ann.page.wait_for_timeout(500)
    fetched: list[str] = []
    ann.page.on("request", lambda request: fetched.append(request.url))
    waiting = ann.state["questions"]
    ann.hear_all()
    ann.choose("Not similar")
    ann.next()
    assert ann.id == waiting[1]
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
          await new Promise((resolve) => setTimeout(resolve, 1_900));
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
