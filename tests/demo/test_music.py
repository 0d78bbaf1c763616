"""Made-up music: it is as long and loud as it should be, the same for the same seed, and sounds as its style says."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from earmark.audio.descriptors import describe_sound
from earmark.audio.distances import rhythm_distances
from earmark.demo.composer import SECONDS, render
from earmark.demo.instruments import RATE, Instrument, frequency, note, room
from earmark.demo.listener import similarities
from earmark.demo.styles import GENRES, GROUPS, Song, Style, make_songs


def song(style: Style, seed: int = 0) -> Song:
    return Song("song", "artist", "genre", style, seed)


def test_every_number_of_a_style_is_in_a_group() -> None:
    assert {name for group in GROUPS.values() for name in group} | {"beat", "key"} == {
        one.name for one in fields(Style)
    }


@pytest.mark.parametrize("genre", GENRES)
def test_a_song_is_ten_seconds_of_sound(genre: str) -> None:
    samples = render(song(GENRES[genre]))
    assert samples.size == SECONDS * RATE
    assert np.abs(samples).max() < 1
    assert 0.05 < np.sqrt(np.mean(samples**2)) < 0.2
    # Nothing clicks at the end.
    assert np.abs(samples[-5:]).max() < 0.01


def test_a_note_has_its_pitch_and_its_harmonics() -> None:
    played = note(Instrument(0.5, 0.01, 2.0), 69, 1.0)[:RATE]
    spectrum = np.abs(np.fft.rfft(played * np.hanning(played.size)))
    peaks = [spectrum[hertz - 3 : hertz + 4].max() for hertz in (440, 880, 1320)]
    assert spectrum.argmax() == pytest.approx(440, abs=1)
    assert peaks[1] / peaks[0] == pytest.approx(0.5, rel=0.05)
    assert peaks[2] / peaks[1] == pytest.approx(0.5, rel=0.05)
    assert frequency(81) == pytest.approx(2 * frequency(69))


def test_a_dry_room_changes_nothing_and_a_wet_one_keeps_the_length() -> None:
    played = note(Instrument(0.5, 0.01, 0.3), 60, 0.5)
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(room(played, rng, wet=0.0), played)
    assert room(played, rng, wet=0.5).shape == played.shape


def test_what_a_style_says_can_be_heard() -> None:
    rock = GENRES["rock"]
    timed = [(0.1, 0), (0.1, 1), (0.6, 2), (0.6, 3)]
    sounds = [describe_sound(render(song(replace(rock, tempo=tempo), seed))) for tempo, seed in timed]
    apart = rhythm_distances(sounds)
    assert max(apart[0, 1], apart[2, 3]) < min(apart[:2, 2:].ravel())
    dark, bright = (describe_sound(render(song(replace(rock, brightness=value)))) for value in (0.1, 0.9))
    # The second coefficient is high where low frequencies are loud.
    assert dark.timbre_mean[1] > bright.timbre_mean[1]


def test_songs_are_the_same_for_the_same_seed_and_have_names_that_tell_nothing() -> None:
    songs, again, others = (make_songs(np.random.default_rng(seed), artists=2, songs=3) for seed in (1, 1, 2))
    assert songs == again
    assert songs != others
    np.testing.assert_array_equal(render(songs[5]), render(again[5]))
    assert [one.name for one in songs] == [f"song-{place:02d}" for place in range(1, len(songs) + 1)]
    assert len(songs) == len(GENRES) * 6
    assert {sum(other.artist == one.artist for other in songs) for one in songs} == {3}
    genres = [one.genre for one in songs]
    assert genres != sorted(genres)


def test_the_listener_finds_like_styles_alike() -> None:
    songs = make_songs(np.random.default_rng(0), artists=3, songs=3)
    heard = similarities(songs, np.random.default_rng(1))
    assert heard.min() >= 0
    assert heard.max() <= 100
    artists, genres = (np.array([getattr(one, name) for one in songs]) for name in ("artist", "genre"))
    same_artist = (artists[:, None] == artists) & ~np.eye(len(songs), dtype=bool)
    same_genre = (genres[:, None] == genres) & (artists[:, None] != artists)
    other = genres[:, None] != genres
    assert heard[same_artist].mean() > heard[same_genre].mean() + 5 > heard[other].mean() + 20
