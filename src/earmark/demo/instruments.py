r"""Sounds of the made-up music: notes from wavetables, and four drums.

A note runs through one period of a waveform, a *wavetable*, at its frequency, under an envelope: it swells for the time
of the attack and dies away exponentially. The waveform has the harmonics

.. math:: \sum_{k=1}^{K} b^{\,k-1} \sin(2 \pi k t), \qquad 0 \le b < 1,

so that a brightness b near 0 is a flute and one near 1 a trumpet, and K is as large as the sampling rate allows.
Everything is plain arithmetic on arrays and chance from a given generator: the same song sounds the same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import signal

from earmark.data.arrays import Floats

RATE = 22_050
"""Samples a second."""

_TABLE = 4_096
_MOST_HARMONICS = 16
_TAIL = 5.0
_CONCERT_PITCH, _CONCERT_KEY = 440.0, 69


@dataclass(frozen=True)
class Instrument:
    """How notes sound.

    Parameters
    ----------
    brightness : float, 0..1
        What every harmonic has of the one before.
    attack : float
        How long a note swells, in seconds.
    decay : float
        How long it takes to die away to a third, in seconds.
    drive : float, 0..1
        How much it is distorted.
    chorus : float
        By how much two voices are out of tune with each other, in semitones; 0 for one voice.
    """

    brightness: float
    attack: float
    decay: float
    drive: float = 0.0
    chorus: float = 0.0


def frequency(key: float) -> float:
    """Return the frequency of a key of the piano, 69 for the A above the middle C."""
    return float(_CONCERT_PITCH * 2 ** ((key - _CONCERT_KEY) / 12))


def note(instrument: Instrument, key: float, seconds: float) -> Floats:
    """Play a note: so long it is held, and then it dies away twice as fast.

    Examples
    --------
    >>> played = note(Instrument(0.5, 0.01, 0.3), key=69, seconds=0.5)
    >>> bool(np.abs(played).max() <= 1), round(played.size / RATE, 1)
    (True, 0.6)
    """
    length = round(min(seconds + 0.1, seconds + instrument.decay) * RATE)
    time = np.arange(length) / RATE
    voices = (key - instrument.chorus / 2, key + instrument.chorus / 2) if instrument.chorus else (key,)
    wave = np.zeros(length)
    for voice in voices:
        pitch = frequency(voice)
        table = _wavetable(instrument.brightness, min(_MOST_HARMONICS, max(int(RATE / 2 / pitch), 1)))
        wave += table[(pitch * _TABLE * time).astype(np.int64) % _TABLE]
    held = np.exp(-time / instrument.decay)
    released = np.exp(-np.maximum(time - seconds, 0.0) * _TAIL / 0.1)
    swell = np.minimum(time / max(instrument.attack, 1e-3), 1.0)
    played: Floats = _driven(wave / len(voices), instrument.drive) * held * released * swell
    return played


def kick() -> Floats:
    """Return a bass drum: a sine that falls in pitch."""
    time = np.arange(round(0.25 * RATE)) / RATE
    drum: Floats = np.sin(2 * np.pi * (48 * time + 5.0 * (1 - np.exp(-time / 0.03)))) * np.exp(-time / 0.09)
    return drum


def snare(rng: np.random.Generator) -> Floats:
    """Return a snare drum: a short tone and a burst of noise."""
    time = np.arange(round(0.2 * RATE)) / RATE
    tone = np.sin(2 * np.pi * 185 * time) * np.exp(-time / 0.04)
    drum: Floats = 0.5 * tone + 0.6 * rng.uniform(-1, 1, time.size) * np.exp(-time / 0.07)
    return drum


def cymbal(rng: np.random.Generator, *, seconds: float) -> Floats:
    """Return a cymbal, or a shaker if it is short: high noise."""
    time = np.arange(round(4 * seconds * RATE)) / RATE
    noise = rng.uniform(-1, 1, time.size)
    high = signal.sosfilt(signal.butter(2, 6_000, "highpass", fs=RATE, output="sos"), noise)
    drum: Floats = high * np.exp(-time / seconds)
    return drum


def room(samples: Floats, rng: np.random.Generator, *, wet: float, seconds: float = 0.9) -> Floats:
    """Play into a room: echoes that are noise dying away."""
    if wet <= 0:
        return samples
    time = np.arange(round(seconds * RATE)) / RATE
    echoes = rng.standard_normal(time.size) * np.exp(-time * _TAIL / seconds)
    reflected = signal.fftconvolve(samples, echoes / np.sqrt(np.sum(echoes**2)))[: samples.size]
    mixed: Floats = (1 - wet) * samples + wet * reflected
    return mixed


@lru_cache(maxsize=256)
def _wavetable(brightness: float, harmonics: int) -> Floats:
    number = np.arange(1, harmonics + 1)
    phase = np.arange(_TABLE) / _TABLE
    amplitude = brightness ** (number - 1.0)
    wave = amplitude @ np.sin(2 * np.pi * number[:, None] * phase)
    table: Floats = wave / np.abs(wave).max()
    return table


def _driven(wave: Floats, drive: float) -> Floats:
    """Distort a wave as an overloaded amplifier does, at about the same loudness."""
    if drive <= 0:
        return wave
    gain = 1.0 + 20.0 * drive
    driven: Floats = np.tanh(gain * wave) / np.tanh(gain)
    return 0.7 * driven
