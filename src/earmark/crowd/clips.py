"""Clips: the part of a recording that assessors listen to.

SRBENCH cuts every song from minute 1:00 to 1:30. Recordings that end before that follow one rule: the clip keeps its
length and ends where the recording ends, and a recording that is shorter than the clip is taken whole. So a song of
1:10 is cut from 0:40 to 1:10, and one of 20 seconds from start to end. A few milliseconds of fade at both ends keep the
cut from clicking.

Reading and writing recordings needs `soundfile <https://python-soundfile.readthedocs.io>`_, which comes with the
``audio`` extra.

References
----------
SRBENCH: A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from earmark.audio.sound import load_soundfile
from earmark.data.arrays import Floats
from earmark.data.files import replacing, require_file
from earmark.errors import InputError, ParameterError

START, SECONDS, FADE = 60.0, 30.0, 0.005


@dataclass(frozen=True)
class Clip:
    """Where a clip was cut from a recording, in seconds, and the file that holds it.

    ``moved`` says that the recording was too short to cut the clip where it was wanted.
    """

    path: Path
    start: float
    end: float
    moved: bool


def clip_bounds(n_frames: int, rate: int, *, start: float = START, seconds: float = SECONDS) -> tuple[int, int]:
    """Return the first frame of a clip and the one after its last.

    Parameters
    ----------
    n_frames : int
        How many frames the recording has.
    rate : int
        How many of them make a second.
    start, seconds : float
        Where the clip should start and how long it should last.

    Examples
    --------
    >>> clip_bounds(240 * 100, 100), clip_bounds(70 * 100, 100), clip_bounds(20 * 100, 100)
    ((6000, 9000), (4000, 7000), (0, 2000))
    """
    if start < 0 or seconds <= 0:
        raise ParameterError(f"a clip starts at 0 or later and lasts longer than that, got {start:g} and {seconds:g}")
    length = min(max(round(seconds * rate), 1), n_frames)
    begin = min(round(start * rate), n_frames - length)
    return begin, begin + length


def fade_ends(samples: Floats, rate: int, *, seconds: float = FADE) -> Floats:
    """Fade the first and the last few milliseconds in and out, along a quarter of a sine squared.

    Parameters
    ----------
    samples : ndarray of float, shape (frames, channels)
        The clip; of a very short one, either half is faded.
    rate : int
        Frames in a second.
    seconds : float, 0 or more
        How long either fade lasts.
    """
    if seconds < 0:
        raise ParameterError(f"a fade lasts 0 seconds or longer, got {seconds:g}")
    n = min(round(seconds * rate), samples.shape[0] // 2)
    ramp = np.sin(np.pi / 2 * (np.arange(n) + 0.5) / max(n, 1)) ** 2
    faded = np.array(samples, dtype=np.float64)
    faded[:n] *= ramp[:, None]
    faded[samples.shape[0] - n :] *= ramp[::-1, None]
    return faded


def cut_clip(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    start: float = START,
    seconds: float = SECONDS,
    fade: float = FADE,
) -> Clip:
    """Cut a clip out of a recording and write it to a file, whose ending names the format.

    Raises
    ------
    MissingLibraryError
        If soundfile is not installed.
    InputError
        If the recording cannot be read or is empty, or the clip cannot be written.
    """
    soundfile = load_soundfile("cutting clips")
    path = require_file(source)
    try:
        with soundfile.SoundFile(path) as recording:
            rate, n_frames = recording.samplerate, recording.frames
            begin, end = clip_bounds(n_frames, rate, start=start, seconds=seconds)
            recording.seek(begin)
            samples = recording.read(end - begin, always_2d=True)
    except soundfile.SoundFileError as error:
        raise InputError(expected="a recording", got=str(error).rstrip("."), path=source) from None
    if not samples.size:
        raise InputError(expected="a recording", got="one without any sound", path=source)
    try:
        with replacing(target) as temporary:
            soundfile.write(temporary, fade_ends(samples, rate, seconds=fade), rate)
    except (soundfile.SoundFileError, OSError, TypeError, ValueError) as error:
        got = str(error).rstrip(".")
        raise InputError(expected="a clip that can be written, as .wav, .flac or .ogg", got=got, path=target) from None
    wanted = min(round(start * rate), n_frames), min(round((start + seconds) * rate), n_frames)
    return Clip(Path(target), begin / rate, end / rate, moved=(begin, end) != wanted)


def cut_clips(
    sources: Sequence[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    ending: str = ".wav",
    start: float = START,
    seconds: float = SECONDS,
    fade: float = FADE,
) -> list[Clip]:
    """Cut a clip out of every recording into a folder, each under the recording's name.

    Raises
    ------
    InputError
        If two recordings would get the same name, or the folder is not there; then no clip is written.
    """
    targets = [Path(folder) / f"{Path(source).stem}{ending}" for source in sources]
    twice = next((target for target in targets if targets.count(target) > 1), None)
    if twice is not None:
        raise InputError(expected="recordings with different names", got=f"'{twice.stem}' twice", path=twice)
    if not Path(folder).is_dir():
        raise InputError(expected="an existing folder to write clips to", got="nothing there", path=folder)
    pairs = zip(sources, targets, strict=True)
    return [cut_clip(source, target, start=start, seconds=seconds, fade=fade) for source, target in pairs]
