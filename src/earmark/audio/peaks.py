"""Peaks: the outline of a waveform, small enough to send with a page.

The sound is cut into equal stretches, and the least and the largest sample of each are kept as whole numbers from -100
to 100, relative to the largest sample of all. A page draws one line for every stretch and needs not decode the sound.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earmark.data.arrays import Floats

BINS = 800
LARGEST = 100


def waveform_peaks(samples: Floats, *, bins: int = BINS) -> NDArray[np.int8]:
    """Return the least and the largest sample of every stretch, shape (2, bins), -100..100.

    Parameters
    ----------
    samples : ndarray of float, shape (frames, channels)
        At least one frame; the extremes of all channels count. A sound of fewer frames than stretches repeats some.
    bins : int
        How many stretches.

    Examples
    --------
    >>> import numpy as np
    >>> waveform_peaks(np.array([[0.0], [0.5], [-0.25], [0.0]]), bins=2).tolist()
    [[0, -50], [100, 0]]
    """
    # Every stretch holds a frame at least, even where there are fewer frames than stretches.
    starts = np.arange(bins) * samples.shape[0] // bins
    # The extremes of all channels, not of their average: opposite channels would cancel out and look silent.
    low, high = samples.min(axis=1), samples.max(axis=1)
    outline = np.array([np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)])
    loudest = float(np.abs(outline).max()) or 1.0
    return np.rint(outline / loudest * LARGEST).astype(np.int8)
