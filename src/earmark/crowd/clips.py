"""Clips: the part of a recording that assessors listen to.

Where they are cut and how their ends are faded: :mod:`earmark.audio.excerpts`.

Reading and writing recordings needs `soundfile <https://python-soundfile.readthedocs.io>`_, which comes with the
``audio`` extra.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from earmark.audio.excerpts import FADE, SECONDS, START, clip_bounds, fade_ends
from earmark.audio.sound import load_soundfile
from earmark.data.files import replacing, require_file
from earmark.data.outputs import together
from earmark.errors import InputError


@dataclass(frozen=True)
class Clip:
    """Where a clip was cut from a recording, in seconds, and the file that holds it.

    ``moved`` says that the recording was too short to cut the clip where it was wanted.
    """

    path: Path
    start: float
    end: float
    moved: bool


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
    """Cut a clip out of every recording into a folder, each under the recording's name: all of them or none.

    Raises
    ------
    InputError
        If two recordings would get the same name, or the folder is not there; then no clip is written.
    """
    targets = clip_files(sources, folder, ending=ending)
    twice = next((target for target in targets if targets.count(target) > 1), None)
    if twice is not None:
        raise InputError(expected="recordings with different names", got=f"'{twice.stem}' twice", path=twice)
    if not Path(folder).is_dir():
        raise InputError(expected="an existing folder to write clips to", got="nothing there", path=folder)
    pairs = zip(sources, targets, strict=True)
    with together():
        return [cut_clip(source, target, start=start, seconds=seconds, fade=fade) for source, target in pairs]


def clip_files(
    sources: Sequence[str | os.PathLike[str]], folder: str | os.PathLike[str], *, ending: str = ".wav"
) -> list[Path]:
    """Return where the clips of recordings go."""
    return [Path(folder) / f"{Path(source).stem}{ending}" for source in sources]
