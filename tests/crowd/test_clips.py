"""Clips: where they are cut, that they fade, and what happens to short recordings and without the library."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from earmark.crowd.clips import clip_bounds, cut_clip, cut_clips, fade_ends
from earmark.errors import InputError, MissingLibraryError, ParameterError

RATE = 8000


@given(st.integers(1, 10_000), st.integers(1, 50), st.floats(0, 200), st.floats(0.1, 100))
def test_a_clip_lies_within_the_recording_and_is_as_long_as_it_can_be(
    n_frames: int, rate: int, start: float, seconds: float
) -> None:
    begin, end = clip_bounds(n_frames, rate, start=start, seconds=seconds)
    assert 0 <= begin < end <= n_frames
    assert end - begin == min(n_frames, max(1, round(seconds * rate)))
    if round(start * rate) + (end - begin) <= n_frames:
        assert begin == round(start * rate)
    else:
        assert end == n_frames


@given(st.integers(1, 500), st.integers(1, 2), st.floats(0, 0.1))
def test_fades_touch_the_ends_alone(frames: int, channels: int, seconds: float) -> None:
    sound = np.ones((frames, channels))
    faded = fade_ends(sound, 1000, seconds=seconds)
    n = min(round(seconds * 1000), frames // 2)
    assert np.all(faded[n : frames - n] == 1)
    assert np.all(np.diff(faded[:n], axis=0) > 0)
    np.testing.assert_allclose(faded, faded[::-1])
    assert np.all((faded > 0) & (faded <= 1))
    assert np.all(sound == 1)


@pytest.mark.parametrize(("start", "seconds"), [(-1.0, 30.0), (0.0, 0.0)])
def test_clips_that_are_none(start: float, seconds: float) -> None:
    with pytest.raises(ParameterError, match="a clip starts at 0 or later and lasts longer than that"):
        clip_bounds(100, 10, start=start, seconds=seconds)


def test_fades_that_are_none() -> None:
    with pytest.raises(ParameterError, match="a fade lasts 0 seconds or longer, got -1"):
        fade_ends(np.ones((4, 1)), 10, seconds=-1)


@pytest.fixture
def song(tmp_path: Path) -> Path:
    """Two minutes of stereo whose samples say where they stand."""
    place = np.arange(120 * RATE) / (120 * RATE)
    path = tmp_path / "song.wav"
    soundfile.write(path, np.column_stack([place, -place]), RATE, subtype="FLOAT")
    return path


def test_a_clip_is_cut_from_one_minute_to_one_and_a_half(song: Path, tmp_path: Path) -> None:
    clip = cut_clip(song, tmp_path / "clip.wav")
    assert (clip.start, clip.end, clip.moved) == (60, 90, False)
    samples, rate = soundfile.read(clip.path)
    assert (rate, samples.shape) == (RATE, (30 * RATE, 2))
    middle = samples[RATE : 2 * RATE, 0]
    np.testing.assert_allclose(middle, np.arange(61 * RATE, 62 * RATE) / (120 * RATE), atol=1e-4)
    np.testing.assert_allclose(samples[0], 0, atol=1e-3)
    np.testing.assert_allclose(samples[-1], 0, atol=1e-3)


def test_short_recordings_keep_their_end_or_all_of_them(tmp_path: Path) -> None:
    for seconds, bounds in ((70, (40, 70)), (20, (0, 20)), (90, (60, 90))):
        path = tmp_path / f"{seconds}.wav"
        soundfile.write(path, np.full(seconds * RATE, 0.5), RATE)
        clip = cut_clip(path, tmp_path / "clip.flac")
        assert (clip.start, clip.end) == bounds
        assert clip.moved == (bounds[0] != 60)


def test_many_clips_and_what_is_refused(song: Path, tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    with pytest.raises(InputError, match="expected an existing folder to write clips to, got nothing there"):
        cut_clips([song], clips)
    clips.mkdir()
    (clip,) = cut_clips([song], clips, start=5, seconds=1)
    assert (clip.path, clip.start, clip.end) == (clips / "song.wav", 5, 6)
    with pytest.raises(InputError, match="expected recordings with different names, got 'song' twice"):
        cut_clips([song, tmp_path / "else" / "song.mp3"], clips)
    with pytest.raises(InputError, match=r"song.xyz: expected a clip that can be written, as .wav, .flac or .ogg"):
        cut_clips([song], clips, ending=".xyz")
    assert [path.name for path in clips.iterdir()] == ["song.wav"]
    text = tmp_path / "text.wav"
    text.write_text("no sound")
    with pytest.raises(InputError, match=r"text.wav: expected a recording, got"):
        cut_clip(text, clips / "text.wav")
    empty = tmp_path / "empty.wav"
    soundfile.write(empty, np.zeros(0), RATE)
    with pytest.raises(InputError, match=r"empty.wav: expected a recording, got one without any sound"):
        cut_clip(empty, clips / "empty.wav")
    with pytest.raises(InputError, match=r"none.wav: expected a file, got nothing there"):
        cut_clip(tmp_path / "none.wav", clips / "none.wav")


def test_without_the_library_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(MissingLibraryError, match=r"cutting clips needs soundfile, .* pip install 'earmark\[audio\]'"):
        cut_clip(tmp_path / "a.wav", tmp_path / "b.wav")
