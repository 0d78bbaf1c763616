"""Loudness, true peaks and outlines of sounds whose values are known."""

from __future__ import annotations

import math
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from earmark.audio.loudness import amplitude, decibels, integrated_loudness, true_peak
from earmark.audio.peaks import waveform_peaks

RATE = 48_000


def tone(
    hertz: float, *, seconds: float = 2.0, level: float = 1.0, phase: float = 0.0, channels: int = 1
) -> np.ndarray:
    wave = level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE + phase)
    return np.repeat(wave[:, None], channels, axis=1)


def test_the_reference_tone_of_the_recommendation():
    """BS.1770: a full-scale sine of 997 Hz in one channel has -3.01 LUFS, in two channels 0."""
    assert integrated_loudness(tone(997), RATE) == pytest.approx(-3.01, abs=0.05)
    assert integrated_loudness(tone(997, channels=2), RATE) == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize("seconds", [0.01, 0.1, 0.3999, 0.4, 0.4001, 1.0])
def test_a_sound_shorter_than_a_block_is_measured_whole(seconds):
    long, short = (integrated_loudness(tone(997, seconds=s, level=0.1), RATE) for s in (3.0, seconds))
    assert short == pytest.approx(long, abs=0.6 if seconds < 0.1 else 0.1)


def test_silence_has_none_and_pauses_do_not_count():
    assert integrated_loudness(np.zeros((RATE, 2)), RATE) == -math.inf
    assert integrated_loudness(np.full((RATE, 2), 1e-6), RATE) == -math.inf
    loud = tone(997, seconds=4.0, level=0.1)
    with_pause = np.concatenate((loud, np.zeros((4 * RATE, 1))))
    assert integrated_loudness(with_pause, RATE) == pytest.approx(integrated_loudness(loud, RATE), abs=0.5)


def test_threads_do_not_disturb_each_other():
    """The meter silences warnings for a moment; afterwards they are what they were."""
    before, interval = list(warnings.filters), sys.getswitchinterval()
    sound = np.concatenate((tone(997, seconds=0.5), np.zeros((RATE // 2, 1))))
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            measured = list(pool.map(lambda _: integrated_loudness(sound, RATE), range(200)))
    finally:
        sys.setswitchinterval(interval)
    assert len(set(measured)) == 1
    assert list(warnings.filters) == before


def test_the_true_peak_is_that_of_the_wave_not_of_its_samples():
    between = tone(RATE / 4, phase=np.pi / 4)
    assert np.abs(between).max() == pytest.approx(math.sqrt(0.5))
    assert true_peak(between[1000:-1000], RATE) == pytest.approx(0.0, abs=0.6)
    assert true_peak(np.zeros((10, 2)), RATE) == -math.inf
    assert true_peak(np.array([[0.5]]), RATE) == pytest.approx(-6.02, abs=0.01)


@pytest.mark.parametrize("level", [-60.0, -6.0, 0.0, 12.0])
def test_decibels_and_back(level):
    assert decibels(amplitude(level)) == pytest.approx(level)


def test_the_outline_of_a_waveform():
    sound = np.concatenate(
        (tone(100, level=0.5, channels=2), tone(100, level=0.25, channels=2), np.zeros((2 * RATE, 2)))
    )
    low, high = waveform_peaks(sound, bins=3)
    assert (low.tolist(), high.tolist()) == ([-100, -50, 0], [100, 50, 0])
    assert waveform_peaks(sound).shape == (2, 800)


@pytest.mark.parametrize("frames", [1, 5, 799, 800, 801, 100_000])
def test_an_outline_has_its_shape_and_range_whatever_the_length(frames):
    outline = waveform_peaks(np.random.default_rng(frames).standard_normal((frames, 2)))
    assert outline.shape == (2, 800)
    assert np.abs(outline).max() == 100
    assert (outline[0] <= outline[1]).all()


def test_the_outline_of_silence_is_flat():
    assert not waveform_peaks(np.zeros((1000, 1))).any()


def test_opposite_channels_do_not_look_silent():
    wave = tone(100)
    assert np.abs(waveform_peaks(np.column_stack((wave, -wave)))).min() > 0
