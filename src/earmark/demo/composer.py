"""A song from its style: chords, bass, melody and drums, ten seconds of them.

A bar has four beats of four steps each. Drums and bass play patterns of sixteen steps; the melody walks over the notes
of the chord, by chance from the song's own seed.
"""

from __future__ import annotations

import numpy as np

from earmark.data.arrays import Floats
from earmark.demo.instruments import RATE, Instrument, cymbal, kick, note, room, snare
from earmark.demo.styles import Song, Style

SECONDS = 10.0
_FADE = 0.4
_STEPS = 16
_LOUDNESS = 0.12
_SLOWEST, _FASTEST = 60.0, 160.0
_MAJOR_ROOTS, _MINOR_ROOTS = (0, 5, 7, 9, 2), (0, 8, 3, 10, 5)

# The steps on which bass drum, snare drum and cymbal are hit.
_BEATS: dict[int, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    0: ((0,), (), (4, 12)),
    1: ((0, 4, 8, 12), (4, 12), (2, 6, 10, 14)),
    2: ((0, 8, 10), (4, 12), (0, 2, 4, 6, 8, 10, 12, 14)),
    3: ((0,), (14,), (0, 4, 6, 8, 12, 14)),
    4: ((0, 6, 8, 14), (3, 6, 12), (0, 2, 4, 6, 8, 10, 12, 14)),
    5: ((0, 10), (8,), (4, 12)),
}
_BASS: dict[int, tuple[int, ...]] = {
    0: (0,),
    1: (2, 6, 10, 14),
    2: (0, 2, 4, 6, 8, 10, 12, 14),
    3: (0, 4, 8, 12),
    4: (0, 6, 8, 14),
    5: (0, 3, 6, 11),
}


def render(song: Song) -> Floats:
    """Play a song, shape (samples,), -1..1, :data:`SECONDS` long at :data:`~earmark.demo.instruments.RATE`."""
    style, rng = song.style, np.random.default_rng(song.seed)
    clock = _Clock(style)
    mix = np.zeros(round(SECONDS * RATE))
    chords = _chords(style, rng, clock.bars)
    _play_chords(mix, style, clock, chords)
    _play_bass(mix, style, clock, chords)
    _play_melody(mix, style, clock, chords, rng)
    if style.drums >= 0.1:
        _play_drums(mix, style, clock, rng)
    mix = room(mix, rng, wet=0.12 + 0.25 * style.sustain * style.chorus)
    return _mastered(mix)


class _Clock:
    """When every step of every bar begins."""

    def __init__(self, style: Style) -> None:
        beats_a_minute = _SLOWEST + (_FASTEST - _SLOWEST) * style.tempo
        self.beat = 60.0 / beats_a_minute
        self.swing = 0.33 * style.swing
        self.bars = int(np.ceil(SECONDS / (4 * self.beat)))

    def at(self, bar: int, step: float) -> float:
        """Return the second at which a step begins; the off-beat eighths of a swinging bar come late."""
        late = self.swing * self.beat / 2 if step % 4 == 2 else 0.0
        return (4 * bar + step / 4) * self.beat + late


def _chords(style: Style, rng: np.random.Generator, bars: int) -> list[list[tuple[int, ...]]]:
    """Make up the chords of every bar, as keys above the song's own; a bar has one or two."""
    roots = _MAJOR_ROOTS if style.major >= 0.5 else _MINOR_ROOTS
    cycle = [0, *rng.choice(roots, size=3)]
    chords: list[list[tuple[int, ...]]] = []
    place = 0
    for bar in range(bars):
        if style.movement > 0.7:
            chords.append([_chord(style, cycle[place % 4], rng), _chord(style, cycle[(place + 1) % 4], rng)])
            place += 2
        else:
            chords.append([_chord(style, cycle[place % 4], rng)])
            place += 1 if style.movement > 0.3 or bar % 2 else 0
    return chords


def _chord(style: Style, root: int, rng: np.random.Generator) -> tuple[int, ...]:
    if style.richness < 0.2:
        return (root, root + 7, root + 12)
    major = rng.uniform() < style.major
    notes = [root, root + (4 if major else 3), root + 7]
    if style.richness > 0.55:
        notes.append(root + (11 if major else 10))
    if style.richness > 0.8:
        notes.append(root + 14)
    return tuple(notes)


def _play_chords(mix: Floats, style: Style, clock: _Clock, chords: list[list[tuple[int, ...]]]) -> None:
    held = style.sustain > 0.5
    sound = Instrument(
        0.2 + 0.6 * style.brightness,
        0.01 + 0.5 * style.attack,
        0.2 + 3.0 * style.sustain,
        style.drive,
        style.chorus / 3,
    )
    for bar, inside in enumerate(chords):
        for half, chord in enumerate(inside):
            span = _STEPS // len(inside)
            first = half * span
            hits = [first] if held else range(first + (2 if style.syncopation > 0.4 else 0), first + span, 4)
            seconds = clock.beat * (span / 4 if held else 0.6)
            for hit in hits:
                for key in chord:
                    _add(mix, note(sound, 48 + style.key + key, seconds), clock.at(bar, hit), 0.35)


def _play_bass(mix: Floats, style: Style, clock: _Clock, chords: list[list[tuple[int, ...]]]) -> None:
    sound = Instrument(
        0.3 + 0.4 * style.brightness, 0.01 + 0.1 * style.attack, 0.3 + 0.8 * style.sustain, style.drive / 2
    )
    walking = style.beat == 3
    for bar, inside in enumerate(chords):
        for count, step in enumerate(_BASS[style.beat]):
            chord = inside[step * len(inside) // _STEPS]
            key = chord[count % len(chord)] if walking else chord[0]
            _add(mix, note(sound, 36 + (style.key + key) % 12, clock.beat * 0.9), clock.at(bar, step), 0.6)


def _play_melody(
    mix: Floats, style: Style, clock: _Clock, chords: list[list[tuple[int, ...]]], rng: np.random.Generator
) -> None:
    sound = Instrument(
        0.15 + 0.7 * style.brightness,
        0.005 + 0.2 * style.attack,
        0.15 + 1.2 * style.sustain,
        style.drive,
        style.chorus / 4,
    )
    place = 0
    for bar, inside in enumerate(chords):
        for step in range(0, _STEPS, 1 if style.density > 0.65 else 2):
            weight = style.syncopation if step % 4 else 1.0 - 0.5 * style.syncopation
            if rng.uniform() >= (0.2 + 0.8 * style.density) * weight:
                continue
            chord = inside[step * len(inside) // _STEPS]
            place = int(np.clip(place + rng.integers(-2, 3), 0, 2 * len(chord) - 1))
            key = 60 + style.key % 12 + chord[place % len(chord)] + 12 * (place // len(chord))
            _add(mix, note(sound, key, clock.beat * (0.4 + style.sustain)), clock.at(bar, step), 0.45)


def _play_drums(mix: Floats, style: Style, clock: _Clock, rng: np.random.Generator) -> None:
    low, middle, high = _BEATS[style.beat]
    cymbal_seconds = 0.12 if style.beat == 3 else 0.035
    drums = ((low, kick(), 1.2), (middle, snare(rng), 0.7), (high, cymbal(rng, seconds=cymbal_seconds), 0.45))
    for bar in range(clock.bars):
        for steps, sound, loudness in drums:
            for step in steps:
                _add(mix, sound, clock.at(bar, step), loudness * style.drums)


def _add(mix: Floats, sound: Floats, second: float, loudness: float) -> None:
    start = round(second * RATE)
    end = min(start + sound.size, mix.size)
    if start < end:
        mix[start:end] += loudness * sound[: end - start]


def _mastered(mix: Floats) -> Floats:
    """Bring a song to the loudness of the others, without clipping, and fade it out."""
    level = np.sqrt(np.mean(mix**2))
    loud = np.tanh(mix * (_LOUDNESS / max(level, 1e-9)))
    fade = np.minimum((mix.size - np.arange(mix.size)) / (_FADE * RATE), 1.0)
    mastered: Floats = loud * fade
    return mastered
