"""Sound files: which there are, what they hold, and the libraries that read them.

`soundfile <https://python-soundfile.readthedocs.io>`_ reads and writes them and `librosa <https://librosa.org>`_
describes them. Both come with the ``audio`` extra and are loaded when they are needed.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import numpy as np

from earmark.data.arrays import Floats
from earmark.data.files import replacing, require_file
from earmark.errors import InputError, MissingLibraryError

RATE = 22_050
"""Samples a second, to which sounds are brought before they are described."""

ENDINGS = (".wav", ".flac", ".ogg", ".mp3", ".aiff", ".aif", ".au", ".opus")
UNREAD = (".m4a", ".wma", ".aac", ".mp4", ".ape", ".wv", ".ra")
"""The endings of files that hold sound, but none that soundfile reads."""


def load_soundfile(purpose: str) -> ModuleType:
    """Load soundfile, or say what to install for this purpose."""
    try:
        import soundfile
    except ImportError:
        raise MissingLibraryError(
            f"{purpose} needs soundfile, which is not installed: pip install 'earmark[audio]'"
        ) from None
    except OSError as error:
        raise MissingLibraryError(f"{purpose} needs soundfile, which cannot be loaded: {error}") from None
    module: ModuleType = soundfile
    return module


def load_librosa(purpose: str) -> ModuleType:
    """Load librosa, or say what to install for this purpose."""
    try:
        import librosa
    except ImportError:
        raise MissingLibraryError(
            f"{purpose} needs librosa, which is not installed: pip install 'earmark[audio]'"
        ) from None
    module: ModuleType = librosa
    return module


def find_sounds(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Find the sound files of a folder and of those in it, by document: the file's name without its ending.

    Raises
    ------
    InputError
        If there are none, or two of the same name.
    """
    root = Path(folder)
    if not root.is_dir():
        got = "a file" if root.exists() else "nothing there"
        raise InputError(expected="a folder of sound files", got=got, path=root)
    found: dict[str, Path] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() not in ENDINGS or not path.is_file():
            continue
        if path.stem in found:
            hint = "documents are named by their files: rename one of them"
            got = f"{found[path.stem].relative_to(root)} too"
            raise InputError(expected="files of different names", got=got, path=path, hint=hint)
        found[path.stem] = path
    if not found:
        raise InputError(expected="a folder of sound files", got=f"none that ends in {', '.join(ENDINGS)}", path=root)
    return found


def other_sounds(folder: str | os.PathLike[str]) -> list[Path]:
    """Find the files of a folder that hold sound in a form that is not read."""
    return sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in UNREAD and path.is_file())


def read_sound(path: str | os.PathLike[str]) -> Floats:
    """Read a sound as one channel at :data:`RATE`, shape (samples,), -1..1.

    Raises
    ------
    InputError
        If it cannot be read or is empty.
    """
    soundfile = load_soundfile("reading sound")
    try:
        samples, rate = soundfile.read(require_file(path), always_2d=True)
    except soundfile.SoundFileError as error:
        # The library's sentence names the file, which the error does too.
        got = str(getattr(error, "error_string", error)).rstrip(".")
        raise InputError(expected="a sound file", got=got, path=path) from None
    if not samples.size:
        raise InputError(expected="a sound file", got="one without any sound", path=path)
    mono: Floats = samples.mean(axis=1)
    if rate != RATE:
        mono = load_librosa("changing the sampling rate").resample(mono, orig_sr=rate, target_sr=RATE)
    return np.asarray(mono, dtype=np.float64)


def write_sound(samples: Floats, path: Path, *, rate: int = RATE) -> None:
    """Write a sound to a file, all of it or nothing; the file's ending names the format."""
    soundfile = load_soundfile("writing sound")
    try:
        with replacing(path) as temporary:
            soundfile.write(temporary, samples, rate)
    except (soundfile.SoundFileError, OSError, TypeError, ValueError) as error:
        got = str(error).rstrip(".")
        raise InputError(expected="a file that can be written, as .wav, .flac or .ogg", got=got, path=path) from None
