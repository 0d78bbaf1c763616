r"""The listener of the demonstration: how similar two songs are to somebody who hears rhythm, timbre and harmony.

With the mean squared difference :math:`d_g^2` of two styles in each group g, in units of what one still hears as alike,
songs are similar by

.. math:: 100 \, \exp\Bigl(-\sum_g w_g d_g^2\Bigr), \qquad w = (.35, .40, .25)

for rhythm, timbre and harmony; another beat counts like a rhythm that is far away. On top of it, every query finds the
listener more or less generous and every pair of songs a little undecided. The listener knows what was meant when a song
was written. A system hears only the sound. The weights of the groups were set beforehand; how soon songs stop being
alike was set afterwards, in three steps, until good systems scored what good systems score in MIREX 2011, about .57.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from earmark.data.arrays import Ints
from earmark.demo.styles import Song

WEIGHTS = {"rhythm": 0.35, "timbre": 0.40, "harmony": 0.25}
_ALIKE = 0.32
_OTHER_BEAT = 1.0
_GENEROSITY, _INDECISION = 0.15, 7.0


def similarities(songs: Sequence[Song], rng: np.random.Generator) -> Ints:
    """Return how similar every song of a column is to the query of a row, shape (songs, songs), 0..100."""
    unlike = np.zeros((len(songs), len(songs)))
    for group, weight in WEIGHTS.items():
        styles = np.array([song.style.group(group) for song in songs])
        distance = cdist(styles, styles, "sqeuclidean") / (styles.shape[1] * _ALIKE**2)
        if group == "rhythm":
            beats = np.array([song.style.beat for song in songs])
            distance += _OTHER_BEAT * (beats[:, None] != beats)
        unlike += weight * distance
    generosity = rng.normal(0.0, _GENEROSITY, (len(songs), 1))
    heard = 100.0 * np.exp(-unlike * np.exp(generosity)) + rng.normal(0.0, _INDECISION, unlike.shape)
    similar: Ints = np.clip(np.round(heard), 0, 100).astype(np.int64)
    return similar
