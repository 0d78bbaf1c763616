"""What the made-up music is like: genres, artists who differ within them, and songs that differ within artists.

A style says everything that can be heard, in three groups of numbers: rhythm, timbre and harmony. An artist's style is
that of the genre, moved a little in every respect, and a song's is the artist's, moved again. The music is rendered
from the style, and the listener compares styles; systems hear nothing but the sound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from earmark.data.arrays import Floats

GROUPS = {
    "rhythm": ("tempo", "swing", "drums", "density", "syncopation"),
    "timbre": ("brightness", "attack", "sustain", "drive", "chorus"),
    "harmony": ("major", "richness", "movement"),
}


@dataclass(frozen=True)
class Style:
    """What can be heard of a song; all numbers from 0 to 1 but the key.

    Attributes
    ----------
    tempo : float
        From 60 beats a minute to 160.
    swing : float
        How late the second of two eighths comes.
    drums : float
        How loud they are; nothing below .1.
    density : float
        How many notes the melody has.
    syncopation : float
        How many of them fall between beats.
    brightness, attack, sustain, drive, chorus : float
        How the instruments sound.
    major : float
        How many of the chords are major ones.
    richness : float
        From bare fifths over triads to chords of four and five notes.
    movement : float
        How often the chord changes, from every other bar to twice a bar.
    beat : int
        Which pattern the drums play.
    key : int
        Semitones above C.
    """

    tempo: float
    swing: float
    drums: float
    density: float
    syncopation: float
    brightness: float
    attack: float
    sustain: float
    drive: float
    chorus: float
    major: float
    richness: float
    movement: float
    beat: int = 0
    key: int = 0

    def group(self, name: str) -> Floats:
        """Return the numbers of rhythm, timbre or harmony."""
        return np.array([getattr(self, field) for field in GROUPS[name]])


# beat: 0 none, 1 four on the floor, 2 backbeat, 3 ride, 4 bossa, 5 half time
GENRES = {
    "ambient": Style(0.10, 0.0, 0.0, 0.15, 0.1, 0.30, 0.9, 0.95, 0.0, 0.8, 0.6, 0.8, 0.1, beat=0),
    "techno": Style(0.68, 0.0, 0.9, 0.70, 0.5, 0.80, 0.0, 0.25, 0.3, 0.5, 0.1, 0.3, 0.1, beat=1),
    "rock": Style(0.58, 0.0, 0.8, 0.45, 0.2, 0.75, 0.05, 0.6, 0.9, 0.2, 0.7, 0.1, 0.5, beat=2),
    "folk": Style(0.35, 0.1, 0.0, 0.60, 0.1, 0.45, 0.0, 0.3, 0.0, 0.1, 0.8, 0.4, 0.5, beat=0),
    "jazz": Style(0.70, 0.9, 0.45, 0.65, 0.5, 0.40, 0.05, 0.35, 0.05, 0.1, 0.4, 0.95, 0.9, beat=3),
    "bossa": Style(0.50, 0.0, 0.4, 0.40, 0.8, 0.35, 0.02, 0.3, 0.0, 0.1, 0.5, 0.85, 0.6, beat=4),
    "dub": Style(0.20, 0.2, 0.7, 0.25, 0.7, 0.55, 0.02, 0.2, 0.1, 0.3, 0.2, 0.4, 0.2, beat=5),
}
_ARTIST_SPREAD, _SONG_SPREAD = 0.11, 0.06
# Artists sometimes play to a beat that is not their genre's.
_OTHER_BEAT = 0.12
_MOVABLE = tuple(field for group in GROUPS.values() for field in group)


@dataclass(frozen=True)
class Song:
    """A song, who made it, and what it is like."""

    name: str
    artist: str
    genre: str
    style: Style
    seed: int


def make_songs(
    rng: np.random.Generator, *, genres: Sequence[str] = tuple(GENRES), artists: int, songs: int
) -> tuple[Song, ...]:
    """Make up songs.

    Parameters
    ----------
    rng : numpy.random.Generator
    genres : sequence of str
    artists : int
        How many there are in every genre.
    songs : int
        How many every artist has.
    """
    made: list[tuple[str, str, Style, int]] = []
    beats = sorted({style.beat for style in GENRES.values()})
    for genre in genres:
        for number in range(1, artists + 1):
            own = _moved(GENRES[genre], rng, _ARTIST_SPREAD)
            if rng.uniform() < _OTHER_BEAT:
                own = replace(own, beat=int(rng.choice(beats)), drums=max(own.drums, 0.3))
            for _ in range(songs):
                style = replace(_moved(own, rng, _SONG_SPREAD), key=int(rng.integers(12)))
                made.append((f"{genre}-{number}", genre, style, int(rng.integers(2**31))))
    # A name must not tell a listener what to expect.
    order = rng.permutation(len(made))
    digits = len(str(len(made)))
    return tuple(Song(f"song-{place:0{digits}}", *made[index]) for place, index in enumerate(order, start=1))


def _moved(style: Style, rng: np.random.Generator, spread: float) -> Style:
    moved: dict[str, Any] = {
        name: float(np.clip(getattr(style, name) + rng.normal(0, spread), 0, 1)) for name in _MOVABLE
    }
    # What a genre does not have at all, its artists do not have either.
    moved |= {name: 0.0 for name in ("drums", "swing", "drive") if getattr(style, name) == 0}
    return replace(style, **moved)
