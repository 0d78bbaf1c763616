"""How media are prepared: the excerpt, the loudness and the format that is served."""

from __future__ import annotations

import math
from dataclasses import dataclass

from earmark.audio.excerpts import FADE, SECONDS, START
from earmark.errors import ParameterError

RATE = 44_100
"""Frames in a second of every clip that is served."""
CHANNELS = 2
"""Channels of every clip that is served; one channel is played from both sides."""
SILENT = -60.0
"""A clip whose largest sample is below this, in dB relative to full scale, is silent."""
SHORTEST = 0.1
"""A clip of fewer seconds cannot be judged."""
MOST_LOWERED = 10.0
"""How far the loudness of all clips may be lowered for the sake of a few, in LU."""

MEDIA_TYPES = {"mp3": "audio/mpeg", "flac": "audio/flac", "wav": "audio/wav"}


@dataclass(frozen=True)
class MediaSettings:
    """How media are prepared.

    Parameters
    ----------
    start, seconds : float
        Where excerpts start and how long they last. A recording that ends earlier is cut so that the excerpt ends where
        it ends; one that is shorter than the excerpt is taken whole.
    fade : float
        Seconds of fade at both ends.
    loudness : float
        The loudness of all clips, in LUFS.
    peak : float
        The true peak that no clip exceeds, in dB relative to full scale.
    format : {"mp3", "flac", "wav"}
        What is served.
    """

    start: float = START
    seconds: float = SECONDS
    fade: float = FADE
    loudness: float = -23.0
    peak: float = -1.0
    format: str = "mp3"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and self.start >= 0):
            raise ParameterError(f"an excerpt starts at 0 seconds or later, got {self.start:g}")
        if not (math.isfinite(self.seconds) and self.seconds >= SHORTEST):
            raise ParameterError(f"an excerpt lasts {SHORTEST:g} seconds or longer, got {self.seconds:g}")
        if not 0 <= self.fade <= self.seconds / 2:
            raise ParameterError(f"a fade lasts from 0 seconds to half of the excerpt, got {self.fade:g}")
        if not -60 <= self.loudness <= -5:
            raise ParameterError(f"a loudness is from -60 to -5 LUFS, got {self.loudness:g}")
        if not -20 <= self.peak <= 0:
            raise ParameterError(f"a limit of peaks is from -20 to 0 dB, got {self.peak:g}")
        if self.format not in MEDIA_TYPES:
            raise ParameterError(f"a format that is served is mp3, flac or wav, got '{self.format}'")
