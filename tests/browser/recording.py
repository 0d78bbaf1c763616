"""What comes out of the Web Audio graph, recorded and measured."""

from __future__ import annotations

import base64
from collections.abc import Callable

import numpy as np
from judging import Judge
from numpy.typing import NDArray

Samples = NDArray[np.float32]

# Records what the player's last node gives out, in the thread of the sound, so that no sample is missed.
RECORDER = """
registerProcessor("recorder", class extends AudioWorkletProcessor {
  process([input]) {
    // Where nothing is connected there is no channel, which sounds like silence.
    const left = input[0] ?? new Float32Array(128);
    this.port.postMessage([left, input[1] ?? left].map((side) => side.slice()));
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
  // Seconds of sound that came since the last sound that was none.
  let silent = 0;
  recorder.port.onmessage = ({ data }) => {
    blocks.push(data);
    silent = data[0].every((value) => value === 0) ? silent + 128 / context.sampleRate : 0;
  };
  player.output.connect(recorder).connect(context.destination);
  window.recording = {
    get blocks() {
      return blocks.length;
    },
    get silent() {
      return silent;
    },
    forget() {
      blocks.length = 0;
    },
    /** All samples from a block on, left and right in turn. */
    read(from) {
      const kept = blocks.slice(from);
      const all = new Float32Array(2 * kept.length * 128);
      kept.forEach(([left, right], index) => {
        for (let at = 0; at < 128; at += 1) {
          all[2 * (index * 128 + at)] = left[at];
          all[2 * (index * 128 + at) + 1] = right[at];
        }
      });
      let text = "";
      for (const byte of new Uint8Array(all.buffer)) text += String.fromCharCode(byte);
      return btoa(text);
    },
  };
}"""
PREPARE = """async () => {
  const { player } = window.__earmark;
  for (const { url } of player.tracks.values()) await player.clips.decode(player.context, url);
  player.level = 1;
  // The level changes smoothly, and the first sound must not be quieter than the rest.
  player.output.gain.cancelScheduledValues(0);
  player.output.gain.setValueAtTime(1, 0);
  player.seek(0);
}"""


def record(ann: Judge) -> None:
    """Record, at full level, all that is played from now on; somebody is at a question."""
    page = ann.page
    # A gesture first, as everywhere.
    for _ in range(2):
        page.locator("[data-part=query] .play").click()
    page.evaluate(PREPARE)
    page.evaluate(LISTEN, RECORDER)
    # The gesture's own sound may still be fading, and what follows it would look like a gap.
    page.wait_for_function("!__earmark.player.playing && recording.silent > 0.1")
    page.evaluate("recording.forget()")


def play_until(ann: Judge, seconds: float) -> None:
    """Wait until what plays is at a place of its clip: on a busy computer that may be later than the clock says."""
    ann.page.wait_for_function("at => __earmark.player.position >= at", arg=seconds)


def recorded(ann: Judge, start: int = 0) -> Samples:
    """Return what was heard from a block of the recording on, with both channels, when all of it has come."""
    ann.page.wait_for_function("!__earmark.player.playing && recording.silent > 0.1")
    return np.frombuffer(base64.b64decode(ann.page.evaluate("at => recording.read(at)", start)), np.float32).reshape(
        -1, 2
    )


def record_clip(ann: Judge, start: Callable[[], None], seconds: float) -> Samples:
    """Play a clip from its beginning for some seconds, and return what was heard."""
    page = ann.page
    first: int = page.evaluate("recording.blocks")
    page.evaluate("__earmark.player.seek(0)")
    start()
    play_until(ann, seconds)
    page.keyboard.press("k")
    return sounding(recorded(ann, first))


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


def longest_run(samples: Samples, level: float) -> int:
    """Return how many samples in a row, at most, are as far from 0 as a level or further."""
    longest = 0
    for channel in samples.T:
        edges = np.flatnonzero(np.diff(np.concatenate(([False], np.abs(channel) >= level, [False])).astype(np.int8)))
        longest = max(longest, int((edges[1::2] - edges[::2]).max(initial=0)))
    return longest


def assert_unclipped(samples: Samples) -> None:
    """No sample is beyond full scale, and none stays there: a sound that was cut off has its tops flat."""
    assert np.abs(samples).max() <= 1
    assert longest_run(samples, 0.999) < 2


def assert_smooth(ann: Judge, samples: Samples) -> None:
    """No gap, no click and no clipping between the first and the last sound."""
    rate = rate_of(ann)
    heard = sounding(samples)
    assert_unclipped(heard)
    # A click is a step that neither clip makes; a fade of 10 ms adds next to nothing to the slope.
    inner = heard[int(0.02 * rate) : -int(0.02 * rate), 0]
    assert np.abs(np.diff(inner)).max() <= 1.1 * largest_step(ann) + 0.01 * np.abs(inner).max()
    # A gap is a stretch of 4 ms with hardly any sound. The lowest tone has several periods in 10 ms.
    window = int(0.01 * rate)
    level = np.sqrt(np.convolve(inner**2, np.ones(window) / window, mode="valid"))
    assert level.min() > 0.2 * np.median(level)
