"""Descriptions of sound: they hear what they are for, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from earmark.audio.descriptors import INTERVALS, TEMPI, Descriptors, column_names, describe_sound
from earmark.audio.distances import combined_distances, harmony_distances, rhythm_distances, timbre_distances
from earmark.audio.sound import RATE


def chord(*keys: int, seconds: float = 4.0, brightness: float = 0.3) -> np.ndarray:
    time = np.arange(round(RATE * seconds)) / RATE
    waves = [
        brightness**k * np.sin(2 * np.pi * (k + 1) * 440 * 2 ** (key / 12) * time) for key in keys for k in range(6)
    ]
    return 0.2 * np.sum(waves, axis=0) / len(keys)


def clicks(beats_a_minute: float, *, seconds: float = 10.0) -> np.ndarray:
    samples = np.zeros(round(RATE * seconds))
    noise = np.random.default_rng(0).uniform(-1, 1, 800) * np.exp(-np.arange(800) / 200)
    for second in np.arange(0.1, seconds - 0.1, 60 / beats_a_minute):
        start = round(second * RATE)
        samples[start : start + 800] += noise
    return samples


def test_rhythm_peaks_at_the_tempo() -> None:
    tempi = np.geomspace(30, 300, TEMPI)
    for tempo in (80, 100, 120):
        # The autocorrelation has peaks at every multiple of the beat: of those, the fastest is the beat itself.
        profile = describe_sound(clicks(tempo)).rhythm[-TEMPI:]
        peak = tempi[np.flatnonzero(profile > 0.6 * profile.max())[-1]]
        assert peak == pytest.approx(tempo, rel=0.08)


def test_harmony_is_the_same_in_every_key_and_another_for_another_chord() -> None:
    major, moved, minor, fifth = (describe_sound(chord(*keys)) for keys in ((0, 4, 7), (3, 7, 10), (0, 3, 7), (0, 7)))
    distances = harmony_distances([major, moved, minor, fifth])
    assert distances[0, 1] < 0.3 * distances[0, 3]
    together = major.harmony[:INTERVALS]
    # A major triad has a minor third, a major third and a fourth (the fifth turned over), and no semitone.
    assert together[[3, 4, 5]].min() > 1.2 * together[[1, 6]].max()


def test_timbre_hears_brightness_and_not_loudness_alone() -> None:
    dark, bright, quiet = chord(0, brightness=0.1), chord(0, brightness=0.9), 0.8 * chord(0, brightness=0.1)
    distances = timbre_distances([describe_sound(one) for one in (dark, bright, quiet)])
    assert distances[0, 1] > 10 * distances[0, 2]


def test_timbre_distances_are_the_divergence_of_gaussians() -> None:
    rng = np.random.default_rng(1)
    sounds = []
    for _ in range(4):
        root = rng.normal(size=(20, 25))
        sounds.append(Descriptors(rng.normal(size=20), root @ root.T / 25, np.zeros(1), np.zeros(1)))
    found = timbre_distances(sounds)
    for a, one in enumerate(sounds):
        for b, other in enumerate(sounds):
            apart = one.timbre_mean - other.timbre_mean
            p, q = np.linalg.inv(one.timbre_covariance), np.linalg.inv(other.timbre_covariance)
            traces = np.trace(p @ other.timbre_covariance) + np.trace(q @ one.timbre_covariance)
            assert found[a, b] == pytest.approx((traces + apart @ (p + q) @ apart) / 2 - 20, abs=1e-8)


def test_distances_are_distances() -> None:
    sounds = [describe_sound(chord(key, brightness=0.2 + 0.1 * key)) for key in range(5)]
    parts = [measure(sounds) for measure in (timbre_distances, rhythm_distances, harmony_distances)]
    for found in (*parts, combined_distances(*parts)):
        np.testing.assert_allclose(found, found.T, atol=1e-9)
        assert not np.diagonal(found).any()
        assert found[~np.eye(5, dtype=bool)].min() >= 0
    # A unit does not matter once distances are combined.
    np.testing.assert_allclose(combined_distances(*parts), combined_distances(9 * parts[0], parts[1], parts[2]))


@pytest.mark.parametrize(
    "samples", [np.zeros(RATE), np.zeros(10), chord(0, seconds=0.1)], ids=["silent", "tiny", "short"]
)
def test_silence_and_short_sounds_have_finite_numbers(samples: np.ndarray) -> None:
    row = describe_sound(samples).vector()
    assert np.isfinite(row).all()
    assert row.size == len(column_names()) == len(set(column_names()))
