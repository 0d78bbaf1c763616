"""Parts of recordings: what is read, where it starts, and what is said where nothing can be."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earmark.audio.excerpts import clip_bounds, parse_time
from earmark.audio.recordings import read_part, resample
from earmark.errors import InputError, MissingLibraryError, ParameterError

RATE = 8_000


def ramp(seconds: float) -> np.ndarray:
    """A sound whose samples tell their time."""
    frames = round(seconds * RATE)
    return np.column_stack((np.arange(frames) / frames, -np.arange(frames) / frames)) * 0.9


@pytest.mark.parametrize("ending", ["wav", "flac", "aiff", "au"])
def test_a_part_with_channels_and_rate_kept(tmp_path: Path, ending: str) -> None:
    sound = ramp(100.0)
    soundfile.write(tmp_path / f"a.{ending}", sound, RATE)
    part = read_part(tmp_path / f"a.{ending}", clip_bounds)
    assert (part.rate, part.start, part.end, part.n_frames) == (RATE, 60.0, 90.0, 100 * RATE)
    np.testing.assert_allclose(part.samples, sound[60 * RATE : 90 * RATE], atol=2**-15)


@pytest.mark.parametrize("ending", ["mp3", "ogg"])
def test_a_part_of_what_was_compressed_is_at_its_place(tmp_path: Path, ending: str) -> None:
    rate = 44_100
    sound = np.zeros(10 * rate)
    sound[5 * rate : 6 * rate] = 0.5 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)
    soundfile.write(tmp_path / f"a.{ending}", sound, rate)
    part = read_part(tmp_path / f"a.{ending}", lambda n, r: clip_bounds(n, r, start=4.5, seconds=1.0))
    half = rate // 2
    assert np.abs(part.samples[: half - 1000]).max() < 0.02
    assert np.abs(part.samples[half + 1000 :]).max() == pytest.approx(0.5, abs=0.05)


def test_a_recording_without_sound_gives_an_empty_part(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros((0, 2)), RATE)
    assert read_part(tmp_path / "a.wav", clip_bounds).samples.shape[0] == 0


def test_what_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(b"no sound" * 100)
    with pytest.raises(InputError, match=r"a\.wav: expected a recording, got Format not recognised$"):
        read_part(tmp_path / "a.wav", clip_bounds)
    with pytest.raises(InputError, match=r"none\.wav: expected a file, got nothing there"):
        read_part(tmp_path / "none.wav", clip_bounds)


def test_a_format_for_which_no_decoder_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    monkeypatch.setitem(sys.modules, "audioread", None)
    (tmp_path / "a.m4a").write_bytes(b"\0\0\0\x20ftypM4A " + bytes(100))
    with pytest.raises(InputError, match=r"pip install av reads it, or convert it to wav, flac, mp3 or ogg"):
        read_part(tmp_path / "a.m4a", clip_bounds)


def test_another_decoder_is_used_where_there_is_one(tmp_path: Path) -> None:
    av = pytest.importorskip("av", reason="PyAV decodes m4a, and is not installed")
    rate = 44_100
    wave = (0.5 * np.sin(2 * np.pi * 440 * np.arange(5 * rate) / rate)).astype(np.float32)
    with av.open(str(tmp_path / "a.m4a"), "w") as container:
        stream = container.add_stream("aac", rate=rate, layout="stereo")
        frame = av.AudioFrame.from_ndarray(np.stack((wave, wave)), format="fltp", layout="stereo")
        frame.sample_rate = rate
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    part = read_part(tmp_path / "a.m4a", lambda n, r: clip_bounds(n, r, start=2.0, seconds=1.0))
    assert (part.rate, part.samples.shape, part.start) == (rate, (rate, 2), 2.0)
    assert np.abs(part.samples).max() == pytest.approx(0.5, abs=0.05)


def test_another_rate_keeps_pitch_channels_and_level() -> None:
    sound = ramp(0.0).reshape(0, 2)
    assert resample(sound, RATE, RATE) is sound
    wave = np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)
    changed = resample(np.column_stack((wave, 0 * wave)), RATE, 44_100)
    assert changed.shape == (44_100, 2)
    assert np.abs(np.fft.rfft(changed[:, 0])).argmax() == 440
    assert changed[2000:-2000, 0].std() == pytest.approx(wave.std(), rel=0.01)
    assert np.abs(changed[:, 1]).max() < 1e-9


def test_the_library_that_changes_rates_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soxr", None)
    with pytest.raises(MissingLibraryError, match=r"needs soxr, .*pip install 'earmark\[audio\]'"):
        resample(np.zeros((10, 1)), 8_000, 44_100)


@pytest.mark.parametrize(
    ("text", "seconds"), [("0", 0), ("75", 75), (" 75.5 ", 75.5), ("1:15", 75), ("0:00.5", 0.5), ("1:00:01", 3601)]
)
def test_times(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "-1", "1:60", "1:60:00", "one", "1:2:3:4", "inf", "nan", "1e3", "٣"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ParameterError, match="got"):
        parse_time(text)
