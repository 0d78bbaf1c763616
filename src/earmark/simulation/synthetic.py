"""Synthetic collections: systems, music and listeners made up from a seed, with everything known.

Documents belong to artists and artists to genres. How similar a listener finds a document to a query rests on both:
the same artist counts most, then the same genre, then how close the two are in a space of sound; queries differ in how
much is like them. A system sees the same sound through noise of its own and noise it shares with the others, which
is what makes systems agree on wrong answers as real ones do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.judgments import Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs, build_runs
from earmark.data.scales import BROAD, FINE, Scale
from earmark.errors import ParameterError

_SOUND_DIMENSIONS = 6


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticCollection(Display):
    """A made-up collection: what systems retrieved, how all of it would be judged, and what the documents are.

    Attributes
    ----------
    runs : Runs
        The ranked lists of every system.
    judgments : Judgments
        A judgment for every item that some system retrieved.
    metadata : Metadata
        Artist and genre of every document.
    skill : ndarray of float, shape (systems,)
        How well each system hears, from 0 (noise) to 1 (as the listener does).
    """

    runs: Runs
    judgments: Judgments
    metadata: Metadata
    skill: NDArray[np.float64]

    def _summary(self) -> Summary:
        """Show the systems."""
        frame = pl.DataFrame({"system": pl.Series(self.runs.systems, dtype=pl.String), "skill": self.skill})
        return Summary(f"{self.runs}; {self.judgments}", [DisplayTable(frame)])


def synthetic_collection(
    rng: np.random.Generator,
    *,
    systems: int = 8,
    queries: int = 50,
    documents: int = 1000,
    depth: int = 5,
    genres: int = 8,
    artists: int = 120,
    scale: Scale = FINE,
) -> SyntheticCollection:
    """Make a collection up.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where all of the chance comes from.
    systems, queries, documents : int
        How many of each; queries are documents themselves and never retrieved for themselves.
    depth : int
        How many documents a list holds.
    genres, artists : int
        How many of each.
    scale : Scale
        What listeners judge on: Fine, or Broad as cut from it at 33 and 67.
    """
    if queries > documents or depth >= documents:
        raise ParameterError(f"{queries} queries and lists of {depth} need more than {documents} documents")
    if scale not in (FINE, BROAD):
        raise ParameterError(f"listeners judge on the scale fine or broad here, not {scale}")
    artist_of = rng.integers(0, artists, documents)
    genre_of_artist = rng.integers(0, genres, artists)
    genre_of = genre_of_artist[artist_of]
    sound = (
        rng.normal(0, 1.2, (genres, _SOUND_DIMENSIONS))[genre_of]
        + rng.normal(0, 0.8, (artists, _SOUND_DIMENSIONS))[artist_of]
        + rng.normal(0, 0.6, (documents, _SOUND_DIMENSIONS))
    )
    asked = rng.choice(documents, queries, replace=False)
    distance = np.sqrt(((sound[asked, None, :] - sound[None, :, :]) ** 2).mean(axis=-1))
    liking = (
        0.1
        + 1.1 * (artist_of[asked, None] == artist_of)
        + 0.7 * (genre_of[asked, None] == genre_of)
        - 1.2 * distance
        + rng.normal(0, 0.4, (queries, 1))
    )
    gain = np.round(100 / (1 + np.exp(-(liking + rng.normal(0, 0.5, liking.shape)))))
    skill = np.sort(rng.uniform(0.3, 0.65, systems))[::-1]
    shared_noise = rng.normal(0, 1, liking.shape)
    standard = (liking - liking.mean(axis=1, keepdims=True)) / liking.std(axis=1, keepdims=True)
    ranked = np.empty((systems, queries, depth), dtype=np.int64)
    for number, heard in enumerate(skill):
        own_noise = rng.normal(0, 1, liking.shape)
        score = heard * standard + (1 - heard) * (0.8 * shared_noise + own_noise)
        score[np.arange(queries), asked] = -np.inf
        ranked[number] = np.argsort(-score, axis=1)[:, :depth]
    return _assemble(ranked, gain, asked, artist_of, genre_of, skill, scale)


def _assemble(
    ranked: NDArray[np.int64],
    gain: NDArray[np.float64],
    asked: NDArray[np.int64],
    artist_of: NDArray[np.int64],
    genre_of: NDArray[np.int64],
    skill: NDArray[np.float64],
    scale: Scale,
) -> SyntheticCollection:
    document_names = _names("track", artist_of.size)
    system_names = _names("system-", ranked.shape[0], start=1)
    system, query, _ = (index.reshape(-1) for index in np.indices(ranked.shape))
    runs = build_runs(
        system=pl.Series(system_names).gather(system),
        query=pl.Series(document_names).gather(asked[query]),
        document=pl.Series(document_names).gather(ranked.reshape(-1)),
    )
    items = np.unique(query * artist_of.size + ranked.reshape(-1))
    item_query, item_document = items // artist_of.size, items % artist_of.size
    gains = gain[item_query, item_document]
    if scale == BROAD:
        gains = np.digitize(gains, [33, 67]).astype(np.float64)
    judgments = Judgments.from_frame(
        pl.DataFrame(
            {
                "query": pl.Series(document_names).gather(asked[item_query]),
                "document": pl.Series(document_names).gather(item_document),
                "gain": gains,
            }
        ),
        scale=scale,
    )
    metadata = pl.DataFrame(
        {
            "document": document_names,
            "artist": pl.Series(_names("artist", int(artist_of.max()) + 1)).gather(artist_of),
            "genre": pl.Series(_names("genre", int(genre_of.max()) + 1)).gather(genre_of),
        }
    )
    return SyntheticCollection(runs, judgments, Metadata(metadata), skill)


def _names(prefix: str, count: int, *, start: int = 0) -> list[str]:
    """Make names with as many digits as the last one needs, so that they sort like numbers."""
    digits = len(str(count - 1 + start))
    return [f"{prefix}{number:0{digits}d}" for number in range(start, count + start)]
