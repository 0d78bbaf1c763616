"""Excerpts: which part of a recording is heard, and how its ends are faded.

Stupar and Michel (2013) cut every song from minute 1:00 to 1:30. Recordings that end before that follow one rule: the
clip keeps its length and ends where the recording ends, and a recording that is shorter than the clip is taken whole.
So a song of 1:10 is cut from 0:40 to 1:10, and one of 20 seconds from start to end. A few milliseconds of fade at both
ends keep the cut from clicking.

References
----------
A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

import re

import numpy as np

from earmark.data.arrays import Floats
from earmark.errors import ParameterError

START, SECONDS, FADE = 60.0, 30.0, 0.005
_TIME = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d*)?|\.\d+)", flags=re.ASCII)


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


def parse_time(text: str) -> float:
    """Read a time in a recording: seconds, m:ss or h:mm:ss.

    Examples
    --------
    >>> parse_time("75.5"), parse_time("1:15.5"), parse_time("1:01:05")
    (75.5, 75.5, 3665.0)
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ParameterError(f"a time is seconds or m:ss, got '{text}'")
    hours, minutes, seconds = found.groups()
    if (minutes is not None and float(seconds) >= 60) or (hours is not None and int(minutes) >= 60):
        raise ParameterError(f"a minute has 60 seconds and an hour 60 minutes, got '{text}'")
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes or 0) + float(seconds)
