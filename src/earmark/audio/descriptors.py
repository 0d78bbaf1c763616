r"""What a sound is like, in numbers: timbre, rhythm and harmony.

- *Timbre*: 20 mel-frequency cepstral coefficients of every frame, kept as a Gaussian, mean and covariance.
- *Rhythm*: the onset strength of low, middle and high bands, each correlated with itself; the autocorrelation is read
  at 40 tempi from 30 to 300 beats a minute, in equal ratios, so that tempi that are near give numbers that are near.
- *Harmony*: which intervals sound together and which follow each other. With the chroma :math:`c_k(t)` of twelve pitch
  classes, interval i counts :math:`\sum_k c_k c_{k+i}`, averaged over frames (together) and of the average over frames
  (in the whole), for the seven intervals from unison to tritone. A song in another key has the same.

References
----------
J.-J. Aucouturier, F. Pachet (2004). Improving timbre similarity: how high is the sky? Journal of Negative Results in
Speech and Audio Sciences 1(1). P. Grosche, M. Müller, F. Kurth (2010). Cyclic tempogram: a mid-level tempo
representation for music signals. ICASSP. B. McFee and others. librosa, https://librosa.org.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from earmark.audio.sound import RATE, load_librosa
from earmark.data.arrays import Floats

COEFFICIENTS = 20
TEMPI = 40
INTERVALS = 7
_WINDOW, _HOP, _MELS = 2_048, 512, 64
_BANDS = (0, 12, 36, _MELS)
_SLOWEST, _FASTEST = 30.0, 300.0
_POOLED = 4
_QUIET = 1e-10
# Synthetic and very quiet sounds hardly vary: a covariance must be inverted all the same.
_FLOOR = 1.0


@dataclass(frozen=True, eq=False)
class Descriptors:
    """What a sound is like.

    Attributes
    ----------
    timbre_mean : ndarray of float, shape (20,)
    timbre_covariance : ndarray of float, shape (20, 20)
    rhythm : ndarray of float, shape (120,)
        Autocorrelation of three bands at 40 tempi each.
    harmony : ndarray of float, shape (14,)
        Seven intervals together and seven in the whole.
    """

    timbre_mean: Floats
    timbre_covariance: Floats
    rhythm: Floats
    harmony: Floats

    def vector(self) -> Floats:
        """Return it all as one row of numbers, shape (84,): what predictions are made from.

        Of the timbre, means and standard deviations. Of the rhythm, every four neighbouring tempi together: a table in
        which most columns are about one thing speaks of little else.
        """
        spread = np.sqrt(np.diagonal(self.timbre_covariance))
        rhythm = self.rhythm.reshape(-1, _POOLED).mean(axis=1)
        return np.concatenate((self.timbre_mean, spread, rhythm, self.harmony))


def column_names() -> tuple[str, ...]:
    """Name the numbers of :meth:`Descriptors.vector`."""
    tempi = np.round(np.exp(np.log(_tempi()).reshape(-1, _POOLED).mean(axis=1)), 1)
    return (
        *(f"mfcc{k}_mean" for k in range(COEFFICIENTS)),
        *(f"mfcc{k}_sd" for k in range(COEFFICIENTS)),
        *(f"rhythm_{band}_{tempo:g}" for band in ("low", "middle", "high") for tempo in tempi),
        *(f"interval{i}_{when}" for when in ("together", "whole") for i in range(INTERVALS)),
    )


def describe_sound(samples: Floats) -> Descriptors:
    """Describe a sound.

    Parameters
    ----------
    samples : ndarray of float, shape (samples,), -1..1
        One channel at :data:`~earmark.audio.sound.RATE`; half a second or more.
    """
    librosa = load_librosa("describing sound")
    # A sound shorter than a window would have no frame; silence after it changes little.
    padded = np.pad(samples, (0, max(RATE // 2 - samples.size, 0)))
    power = np.abs(librosa.stft(padded, n_fft=_WINDOW, hop_length=_HOP)) ** 2
    mel = librosa.power_to_db(librosa.feature.melspectrogram(S=power, sr=RATE, n_mels=_MELS), amin=_QUIET)
    cepstrum = librosa.feature.mfcc(S=mel, sr=RATE, n_mfcc=COEFFICIENTS)
    covariance = np.cov(cepstrum) + _FLOOR * np.eye(COEFFICIENTS)
    chroma = librosa.feature.chroma_stft(S=power, sr=RATE, n_fft=_WINDOW, tuning=0.0, norm=1)
    harmony = np.concatenate((_intervals(chroma), _intervals(chroma.mean(axis=1, keepdims=True))))
    return Descriptors(cepstrum.mean(axis=1), covariance, _rhythm(mel), harmony)


def _rhythm(mel: Floats) -> Floats:
    """Correlate the onsets of every band with themselves, at lags that belong to tempi."""
    rise = np.maximum(np.diff(mel, axis=1, prepend=mel[:, :1]), 0.0)
    lags = 60.0 * RATE / (_HOP * _tempi())
    profiles = []
    for first, last in pairwise(_BANDS):
        onset = rise[first:last].mean(axis=0)
        onset = onset - onset.mean()
        spectrum = np.abs(np.fft.rfft(onset, 2 * onset.size)) ** 2
        correlation = np.fft.irfft(spectrum)[: onset.size]
        correlation = correlation / max(correlation[0], _QUIET)
        profiles.append(np.interp(lags, np.arange(correlation.size), correlation, right=0.0))
    return np.concatenate(profiles)


def _intervals(chroma: Floats) -> Floats:
    """Count how much of every interval there is, shape (7,); chroma has shape (12, frames)."""
    total = max(float((chroma.sum(axis=0) ** 2).mean()), _QUIET)
    counted: Floats = np.array([(chroma * np.roll(chroma, i, axis=0)).sum(axis=0).mean() for i in range(INTERVALS)])
    return counted / total


def _tempi() -> Floats:
    tempi: Floats = np.geomspace(_SLOWEST, _FASTEST, TEMPI)
    return tempi
