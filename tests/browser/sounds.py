"""Sounds and pictures for the tests in a browser, made by computation."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

RATE = 44_100
SECONDS = 3.0


def tune(number: int) -> np.ndarray[Any, Any]:
    """Return some seconds of a tone with overtones that swells."""
    when = np.arange(0, SECONDS, 1 / RATE)
    hertz = 220 * 2 ** (number * 2 / 12)
    swell = 0.7 + 0.3 * np.sin(2 * np.pi * (1 + number / 5) * when)
    return 0.1 * swell * sum(np.sin(2 * np.pi * hertz * k * when) / k**1.5 for k in (1, 2, 3))


def steady(hertz: float, peak: float) -> np.ndarray[Any, Any]:
    """Return a tone, with 3 dB from its level to its peak."""
    return peak * np.sin(2 * np.pi * hertz * np.arange(0, SECONDS, 1 / RATE))


def swelling(hertz: float, peak: float) -> np.ndarray[Any, Any]:
    """Return a tone with overtones that swells."""
    when = np.arange(0, SECONDS, 1 / RATE)
    swell = 0.7 + 0.3 * np.sin(2 * np.pi * 2 * when)
    sound = swell * sum(np.sin(2 * np.pi * hertz * k * when) / k**1.5 for k in (1, 2, 3))
    return peak * sound / np.abs(sound).max()


def clicks(hertz: float, peak: float, every: float = 0.4) -> np.ndarray[Any, Any]:
    """Return clicks over a quiet tone, with some 25 dB from its level to its peak."""
    since = np.arange(0, SECONDS, 1 / RATE) % every
    sound = np.exp(-since / 0.001) * np.sin(2 * np.pi * 4 * hertz * since) + steady(hertz, 0.01)
    return peak * sound / np.abs(sound).max()


def picture(query: int, number: int, size: int = 120) -> bytes:
    """Return a PNG of a colour that fades."""
    fade = np.linspace(60, 220, size)
    pixels = np.zeros((size, size, 3), dtype=np.uint8)
    pixels[..., query % 3] = fade[None, :]
    pixels[..., (query + number) % 3] = fade[:, None]
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
