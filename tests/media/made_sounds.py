"""Sounds and pictures that the tests of media are about, made here and written to real files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
from PIL import Image

RATE = 44_100
SECRET = b"a secret of sixteen bytes or more"


def sine(hertz: float = 440.0, *, seconds: float = 2.0, level: float = 0.5, rate: int = RATE) -> np.ndarray:
    return level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def noise(
    *, seconds: float = 2.0, level: float = 0.1, rate: int = RATE, channels: int = 2, seed: int = 0
) -> np.ndarray:
    return level * np.random.default_rng(seed).standard_normal((round(seconds * rate), channels))


def drums(*, seconds: float = 2.0, rate: int = RATE) -> np.ndarray:
    """Short bursts with pauses: peaks far above the average."""
    place = np.arange(round(seconds * rate)) % (rate // 4)
    return np.clip(noise(seconds=seconds, level=0.3) * np.exp(-place / (0.03 * rate))[:, None], -1, 1)


def write(path: Path, samples: np.ndarray, *, rate: int = RATE, **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, samples, rate, **options)
    return path


def picture(path: Path, *, colour: str = "red", size: tuple[int, int] = (40, 30), **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path, **options)
    return path
