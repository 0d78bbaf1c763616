"""Sound files: what is found, what is read, and what is said where it cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from earmark.audio.sound import RATE, find_sounds, load_librosa, read_sound, write_sound
from earmark.errors import InputError, MissingLibraryError


def tone(hertz: float, *, rate: int = RATE, seconds: float = 0.5) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate)


def test_a_sound_comes_back_as_it_was_written(tmp_path: Path) -> None:
    samples = tone(440)
    write_sound(samples, tmp_path / "a.flac")
    np.testing.assert_allclose(read_sound(tmp_path / "a.flac"), samples, atol=2**-15)


def test_another_rate_and_two_channels_become_one_at_the_usual_rate(tmp_path: Path) -> None:
    left, right = tone(440, rate=44_100), tone(440, rate=44_100)
    write_sound(np.column_stack((left, -right)), tmp_path / "opposite.wav", rate=44_100)
    write_sound(np.column_stack((left, right)), tmp_path / "same.wav", rate=44_100)
    assert np.abs(read_sound(tmp_path / "opposite.wav")).max() < 1e-4
    same = read_sound(tmp_path / "same.wav")
    assert same.size == RATE // 2
    spectrum = np.abs(np.fft.rfft(same))
    assert spectrum.argmax() * RATE / same.size == pytest.approx(440, abs=2)


def test_files_are_found_by_name_in_all_folders(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    write_sound(tone(440), tmp_path / "b.wav")
    write_sound(tone(440), tmp_path / "deep" / "a.FLAC")
    (tmp_path / "cover.jpg").write_bytes(b"no sound")
    assert find_sounds(tmp_path) == {"b": tmp_path / "b.wav", "a": tmp_path / "deep" / "a.FLAC"}


def test_what_cannot_be_used_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no: expected a folder of sound files, got nothing there"):
        find_sounds(tmp_path / "no")
    with pytest.raises(InputError, match=r"expected a folder of sound files, got none that ends in \.wav, \.flac"):
        find_sounds(tmp_path)
    for folder in "xy":
        (tmp_path / folder).mkdir()
        write_sound(tone(440), tmp_path / folder / "same.wav")
    with pytest.raises(InputError, match=r"same\.wav: expected files of different names, got x/same\.wav too"):
        find_sounds(tmp_path)
    (tmp_path / "text.wav").write_text("no sound at all")
    with pytest.raises(InputError, match=r"text\.wav: expected a sound file, got "):
        read_sound(tmp_path / "text.wav")
    write_sound(np.zeros(0), tmp_path / "empty.wav")
    with pytest.raises(InputError, match=r"empty\.wav: expected a sound file, got one without any sound"):
        read_sound(tmp_path / "empty.wav")
    with pytest.raises(InputError, match=r"a\.xyz: expected a file that can be written, as \.wav, \.flac or \.ogg"):
        write_sound(tone(440), tmp_path / "a.xyz")
    assert not (tmp_path / "a.xyz").exists()
    monkeypatch.setitem(sys.modules, "librosa", None)
    with pytest.raises(MissingLibraryError, match=r"this needs librosa, .*: pip install 'earmark\[audio\]'"):
        load_librosa("this")
