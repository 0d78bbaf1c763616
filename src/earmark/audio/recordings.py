"""Recordings as they are: a part of one, with its channels and its sampling rate.

`soundfile <https://python-soundfile.readthedocs.io>`_ reads most formats and seeks, so only the part is decoded. What
it does not read (m4a, aac, wma ...) is decoded by a package, if one is installed: `PyAV <https://pyav.org>`_, which
brings its decoders with it, or `audioread <https://github.com/beetbox/audioread>`_, which uses those of the system.
Both decode from the start, block by block, so memory does not grow with the recording.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from earmark.audio.sound import ENDINGS, load_soundfile
from earmark.data.arrays import Floats
from earmark.data.files import require_file
from earmark.errors import InputError, MissingLibraryError

Bounds = Callable[[int, int], tuple[int, int]]
"""Given the frames of a recording and its rate, the first frame of a part and the one after its last."""

_Sound = TypeVar("_Sound", Floats, NDArray[np.float32])
_Blocks = Iterator[tuple[Floats, int]]
_BLOCK = 1 << 16
# No recording is that long: a header that says so does not know.
_MOST_FRAMES = 1 << 36
_NO_DECODER = "pip install av reads it, or convert it to wav, flac, mp3 or ogg"


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a recording.

    Attributes
    ----------
    samples : ndarray of float, shape (frames, channels)
        The part.
    rate : int
        Frames in a second.
    begin : int
        The frame of the recording at which the part starts.
    n_frames : int
        How many frames the whole recording has.
    """

    samples: Floats
    rate: int
    begin: int
    n_frames: int

    @property
    def start(self) -> float:
        """Where the part starts, in seconds."""
        return self.begin / self.rate

    @property
    def end(self) -> float:
        """Where the part ends, in seconds."""
        return (self.begin + len(self.samples)) / self.rate


def read_part(path: str | os.PathLike[str], bounds: Bounds) -> Part:
    """Read a part of a recording.

    Parameters
    ----------
    path : path-like
        The recording.
    bounds : callable
        Told the frames of the recording and its rate, returns the first frame of the part and the one after its last.

    Raises
    ------
    InputError
        If it cannot be read, with what to install where that would help. One without any sound gives an empty part.
    """
    file = require_file(path)
    soundfile = load_soundfile("reading recordings")
    try:
        with soundfile.SoundFile(file) as recording:
            part = _seek(recording, bounds)
        return part if part is not None else _walk(lambda: _soundfile_blocks(file), bounds)
    except soundfile.SoundFileError as error:
        # The library's sentence names the file, which the error does too.
        got = str(getattr(error, "error_string", error)).rstrip(".")
    return _decode_elsewhere(file, bounds, got)


def resample(samples: _Sound, rate: int, to: int) -> _Sound:
    """Bring a sound to another sampling rate, shape (frames, channels)."""
    if rate == to:
        return samples
    try:
        soxr = import_module("soxr")
    except ImportError:
        raise MissingLibraryError(
            "changing the sampling rate needs soxr, which is not installed: pip install 'earmark[audio]'"
        ) from None
    changed: _Sound = soxr.resample(samples, rate, to)
    return changed


def _seek(recording: Any, bounds: Bounds) -> Part | None:
    """Read a part; None if the header told a wrong length, as those of some mp3 files do."""
    n_frames, rate = recording.frames, recording.samplerate
    if not 0 <= n_frames < _MOST_FRAMES:
        return None
    begin, end = bounds(n_frames, rate)
    recording.seek(begin)
    samples = recording.read(end - begin, always_2d=True)
    return Part(samples, rate, begin, n_frames) if samples.shape[0] == end - begin else None


def _walk(blocks: Callable[[], _Blocks], bounds: Bounds) -> Part:
    """Read a part from blocks: once to count the frames, once more to keep those of the part."""
    n_frames, rate = 0, 0
    for block, rate in blocks():  # noqa: B007 - the last rate is that of all
        n_frames += block.shape[0]
    if not n_frames:
        return Part(np.zeros((0, 1)), max(rate, 1), 0, 0)
    begin, end = bounds(n_frames, rate)
    kept, place = [], 0
    for block, _ in blocks():
        kept.append(block[max(begin - place, 0) : max(end - place, 0)])
        place += block.shape[0]
        if place >= end:
            break
    return Part(np.concatenate(kept), rate, begin, n_frames)


def _decode_elsewhere(path: Path, bounds: Bounds, got: str) -> Part:
    """Try the packages that decode what soundfile does not."""
    tried = False
    for decoder in (_av_blocks, _audioread_blocks):
        try:
            return _walk(partial(decoder, path), bounds)
        except _NotInstalledError:
            continue
        except Exception:  # Either package raises errors of its own and of whatever decodes.
            tried = True
    hint = None if tried or path.suffix.lower() in ENDINGS else _NO_DECODER
    raise InputError(expected="a recording", got=got, path=path, hint=hint)


class _NotInstalledError(Exception):
    """A package that decodes is not installed, or finds nothing on this system that does."""


def _soundfile_blocks(path: Path) -> _Blocks:
    soundfile = load_soundfile("reading recordings")
    with soundfile.SoundFile(path) as recording:
        while (block := recording.read(_BLOCK, always_2d=True)).shape[0]:
            yield block, recording.samplerate


def _decoder(name: str) -> Any:
    try:
        return import_module(name)
    except Exception:  # Where warnings are errors, a package that uses what Python gives up raises one.
        raise _NotInstalledError from None


def _av_blocks(path: Path) -> _Blocks:
    av = _decoder("av")
    with av.open(str(path)) as container:
        stream = container.streams.audio[0]
        # Sixteen bits or planes, decoders give what they like; the resampler makes it one thing and keeps the rate.
        resampler = av.AudioResampler(format="fltp")
        for frame in container.decode(stream):
            for even in resampler.resample(frame):
                yield even.to_ndarray().T.astype(np.float64), even.sample_rate


def _audioread_blocks(path: Path) -> _Blocks:
    audioread = _decoder("audioread")
    try:
        opened = audioread.audio_open(str(path))
    except audioread.NoBackendError:
        raise _NotInstalledError from None
    with opened as recording:
        for buffer in recording:
            block = np.frombuffer(buffer, dtype="<i2").reshape(-1, recording.channels)
            yield block / 32_768, recording.samplerate
