"""The collection of the demonstration: songs and their sound, what systems retrieve, and what the listener thinks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from earmark._version import __version__
from earmark.audio.descriptors import Descriptors, describe_sound
from earmark.audio.sound import write_sound
from earmark.data.arrays import Floats
from earmark.data.content import Content, content_outputs, write_content
from earmark.data.files import replacing
from earmark.data.judgments import Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs
from earmark.data.scales import FINE
from earmark.data.writers import write_judgments, write_runs
from earmark.demo.composer import render
from earmark.demo.instruments import RATE
from earmark.demo.listener import similarities
from earmark.demo.styles import GENRES, Song, make_songs
from earmark.demo.systems import system_distances, system_runs

ARTISTS, SONGS, QUERIES, DEPTH = 4, 4, 40, 5
_ENDING = ".flac"
# Songs, systems and the listener draw from generators of their own: one more song leaves the others what they are.
_STREAMS = 3


@dataclass(frozen=True, eq=False)
class DemoCollection:
    """Made-up music and everything that is known about it.

    Attributes
    ----------
    songs : tuple of Song
    sounds : tuple of Descriptors
        What they sound like, in the same order.
    runs : Runs
        What six systems retrieved.
    judgments : Judgments
        How similar the listener finds everything that was retrieved, from 0 to 100.
    metadata : Metadata
        Artist and genre of every song.
    """

    songs: tuple[Song, ...]
    sounds: tuple[Descriptors, ...]
    runs: Runs
    judgments: Judgments
    metadata: Metadata

    @property
    def content(self) -> Content:
        """What songs sound like, one row of numbers each."""
        return Content(tuple(song.name for song in self.songs), np.array([sound.vector() for sound in self.sounds]))


@dataclass(frozen=True)
class DemoFiles:
    """Where everything is."""

    folder: Path

    @property
    def runs(self) -> Path:
        """What systems retrieved."""
        return self.folder / "runs.tsv"

    @property
    def judgments(self) -> Path:
        """What the listener thinks of all of it."""
        return self.folder / "judgments.tsv"

    @property
    def metadata(self) -> Path:
        """Artist and genre."""
        return self.folder / "metadata.csv"

    @property
    def content(self) -> Path:
        """What songs sound like, in numbers."""
        return self.folder / "content.npy"

    @property
    def mark(self) -> Path:
        """The seed that everything was made from, written when all of it was there."""
        return self.folder / ".seed"

    def are_there(self, seed: int) -> bool:
        """Tell whether an earlier run has made everything from a seed."""
        made = self.mark.is_file() and self.mark.read_text(encoding="utf-8") == _mark(seed)
        clips = len(self.found_clips()) == number_of_songs()
        return made and clips and self.runs.is_file() and self.metadata.is_file()

    def remember(self, seed: int) -> None:
        """Note that everything was made from a seed."""
        with replacing(self.mark) as temporary:
            temporary.write_text(_mark(seed), encoding="utf-8")

    @property
    def clips(self) -> Path:
        """The songs themselves."""
        return self.folder / "clips"

    @property
    def report(self) -> Path:
        """Who is better, and how sure that is."""
        return self.folder / "report.html"

    @property
    def listening(self) -> Path:
        """A page to listen to."""
        return self.folder / "listen.html"

    @property
    def asked(self) -> Path:
        """What the made-up listener was asked for in the campaign, and answered."""
        return self.folder / "asked.csv"

    @property
    def progress(self) -> Path:
        """The estimates at every look of the campaign, and the truth."""
        return self.folder / "progress.csv"

    @property
    def own_report(self) -> Path:
        """The report on what a person at the terminal answered."""
        return self.folder / "my-report.html"

    @property
    def questions(self) -> Path:
        """The page on which that person listens."""
        return self.folder / "my-questions.html"

    @property
    def answers(self) -> Path:
        """What a person at the terminal answered."""
        return self.folder / "my-judgments.csv"

    @property
    def campaign(self) -> Path:
        """The campaign in which people judge in the browser."""
        return self.folder / "campaign"

    @property
    def again(self) -> Path:
        """Where a command that the demonstration names would write another report."""
        return self.folder / "again.html"

    @property
    def own(self) -> set[Path]:
        """Everything with a name of its own, clips apart."""
        named = (self.runs, self.judgments, self.metadata, self.mark, self.report, self.listening, self.asked)
        asked = (self.progress, self.own_report, self.questions, self.answers, self.campaign, self.again)
        return {*named, *asked, *content_outputs(self.content)}

    def found_clips(self) -> list[Path]:
        """Return the songs that are there."""
        return sorted(self.clips.glob(f"*{_ENDING}"))

    def clip(self, song: str) -> Path:
        """Return the file of a song."""
        return self.clips / f"{song}{_ENDING}"

    def addresses(self, songs: Iterable[Song]) -> dict[str, str]:
        """Return where the sound of every song is, as seen from a page in the folder."""
        return {song.name: f"{self.clips.name}/{self.clip(song.name).name}" for song in songs}


def _mark(seed: int) -> str:
    # Another version may make other music of the same seed.
    return f"{seed} {__version__}"


def number_of_songs() -> int:
    """Return how many songs a collection has."""
    return len(GENRES) * ARTISTS * SONGS


def make_collection(
    seed: int = 0,
    *,
    artists: int = ARTISTS,
    songs: int = SONGS,
    queries: int = QUERIES,
    on_song: Callable[[Song, Floats], None] | None = None,
    on_sound: Callable[[], None] | None = None,
) -> DemoCollection:
    """Make songs up, let systems listen to them, and ask the listener about everything they retrieved.

    Parameters
    ----------
    seed : int
        The same seed makes the same collection.
    artists, songs, queries : int
        How many artists there are in every genre, how many songs of each, and how many of all songs are queries.
    on_song : callable, optional
        Called with every song and how it sounds, shape (samples,), -1..1.
    on_sound : callable, optional
        Called whenever a song has been described.
    """
    for_songs, for_systems, for_listener = np.random.default_rng(seed).spawn(_STREAMS)
    made = make_songs(for_songs, artists=artists, songs=songs)
    sounds = []
    for song in made:
        samples = render(song)
        if on_song is not None:
            on_song(song, samples)
        sounds.append(describe_sound(samples))
        if on_sound is not None:
            on_sound()
    names = [song.name for song in made]
    asked = [names[index] for index in np.sort(for_systems.choice(len(names), queries, replace=False))]
    artist = {song.name: song.artist for song in made}
    runs = system_runs(system_distances(sounds, for_systems), names, queries=asked, artist=artist, depth=DEPTH)
    metadata = Metadata(
        pl.DataFrame({"document": names, "artist": list(artist.values()), "genre": [song.genre for song in made]})
    )
    return DemoCollection(made, tuple(sounds), runs, _judgments(made, runs, for_listener), metadata)


def write_collection(collection: DemoCollection, files: DemoFiles) -> None:
    """Write runs, judgments, metadata and content; clips are written while they are made."""
    write_runs(collection.runs, files.runs)
    write_judgments(collection.judgments, files.judgments)
    write_content(collection.content, files.content)
    with replacing(files.metadata) as path:
        path.write_text(collection.metadata.frame.write_csv(), encoding="utf-8")


def write_clip(song: Song, samples: Floats, files: DemoFiles) -> None:
    """Write how a song sounds to its file."""
    write_sound(samples, files.clip(song.name), rate=RATE)


def _judgments(songs: tuple[Song, ...], runs: Runs, rng: np.random.Generator) -> Judgments:
    place = {song.name: index for index, song in enumerate(songs)}
    similar = similarities(songs, rng)
    asked = runs.to_polars().select("query", "document").unique().sort("query", "document")
    rows, columns = (asked[name].replace_strict(place, return_dtype=pl.Int64).to_numpy() for name in asked.columns)
    return Judgments.from_frame(
        asked.with_columns(gain=pl.Series(similar[rows, columns].astype(np.float64))), scale=FINE
    )
