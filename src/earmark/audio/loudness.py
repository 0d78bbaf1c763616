r"""Loudness and true peak, as ITU-R BS.1770 measures them.

Loudness is the energy of a sound after a filter that follows the ear (K-weighting), in loudness units relative to full
scale (LUFS); 1 LU is 1 dB. It is the average over blocks of 400 ms, without those that are silent (below -70 LUFS) and
those 10 LU quieter than the average. A sound shorter than a block is measured as one block of its own length.

The true peak is the largest value of the waveform between samples too, found at four times the sampling rate: a player
that restores the waveform clips there although no sample does. A gain moves both by the same number of decibels. So the
highest loudness of a sound whose true peak stays below :math:`p` is its loudness plus :math:`p` minus its true peak.

References
----------
ITU-R (2023). Algorithms to measure audio programme loudness and true-peak audio level. Recommendation BS.1770-5.
C. J. Steinmetz, J. D. Reiss (2021). pyloudnorm: a simple yet flexible loudness meter in Python. AES Convention 150.
"""

from __future__ import annotations

import math
from threading import Lock
from types import ModuleType

import numpy as np

from earmark.audio.recordings import resample
from earmark.data.arrays import Floats
from earmark.errors import MissingLibraryError

BLOCK = 0.4
"""Seconds of a block, over which loudness is averaged."""

_OVERSAMPLED = 4
# The meter silences warnings while it measures, which is a setting of the whole process: two threads would undo it for
# each other.
_METER = Lock()


def load_pyloudnorm() -> ModuleType:
    """Load pyloudnorm, or say what to install."""
    try:
        import pyloudnorm
    except ImportError:
        raise MissingLibraryError(
            "measuring loudness needs pyloudnorm, which is not installed: pip install 'earmark[audio]'"
        ) from None
    module: ModuleType = pyloudnorm
    return module


def integrated_loudness(samples: Floats, rate: int) -> float:
    """Measure the integrated loudness of a sound in LUFS; silence has -inf.

    Parameters
    ----------
    samples : ndarray of float, shape (frames, channels)
        One or two channels. One channel counts once: played from two loudspeakers it is 3 LU louder.
    rate : int
        Frames in a second.
    """
    frames = samples.shape[0]
    if not np.any(samples):
        return -math.inf
    # Half a frame less than there is: the meter must not find that rounding left the sound shorter than a block.
    block = min(BLOCK, (frames - 0.5) / rate)
    with _METER, np.errstate(divide="ignore", invalid="ignore"):
        measured = float(load_pyloudnorm().Meter(rate, block_size=block).integrated_loudness(samples))
    return measured if math.isfinite(measured) else -math.inf


def true_peak(samples: Floats, rate: int) -> float:
    """Measure the true peak of a sound in dB relative to full scale; silence has -inf.

    Parameters
    ----------
    samples : ndarray of float, shape (frames, channels)
        Any number of channels; the largest peak of them counts.
    rate : int
        Frames in a second.
    """
    peak = float(np.abs(samples).max(initial=0.0))
    if samples.shape[0] > 1:
        # Half the bits, a fifth of the time; the error is far below a thousandth of a decibel.
        oversampled = resample(samples.astype(np.float32), rate, _OVERSAMPLED * rate)
        peak = max(peak, float(oversampled.max()), -float(oversampled.min()))
    return decibels(peak)


def decibels(amplitude: float) -> float:
    """Return an amplitude in decibels.

    Examples
    --------
    >>> decibels(1.0), round(decibels(0.5), 2), decibels(0.0)
    (0.0, -6.02, -inf)
    """
    return 20 * math.log10(amplitude) if amplitude > 0 else -math.inf


def amplitude(level: float) -> float:
    """Return the factor that a number of decibels stands for."""
    return float(10 ** (level / 20))
