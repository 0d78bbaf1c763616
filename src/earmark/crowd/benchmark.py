"""Benchmarks of preferences: documents in categories, and the queries they are compared for.

Where few systems exist, a pool of what they retrieve would favour them, so Stupar and Michel (2013) choose queries and
documents without asking any system. Documents come in *groups*, such as a genre or a feeling, and groups in
*categories*: genres, positive feelings, negative feelings. The categories say which documents are compared with each
other (:mod:`earmark.crowd.questions`). How the paper chose its songs is a rule of three steps:

1. a feeling is a group if at least 500 people used it as a tag (:func:`widely_used`);
2. a group is represented by the ten artists of it who are played most;
3. an artist is represented by two songs, here those played most (:func:`choose_documents`).

An artist who represents several groups brings the same songs into all of them: a document is listed once for every
group and asked about once. Everything is decided by counts and, among equals, by the order of ids, so the same tables
always give the same benchmark.

References
----------
A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.runs import sort_ids
from earmark.data.tables import id_column, number_column
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

MINIMUM_USERS, ARTISTS_PER_GROUP, SONGS_PER_ARTIST = 500, 10, 2


@dataclass(frozen=True, eq=False, repr=False)
class Benchmark(Display):
    """What is compared with what: queries, and documents in categories.

    Attributes
    ----------
    queries : tuple of str
        The queries, in the order they were given.
    documents : tuple of str
        Every document of any group, sorted.
    categories : tuple of str
        The categories, in the order they were given.
    member : ndarray of bool, shape (categories, documents)
        Which documents belong to which category; a document may belong to several.
    table : polars.DataFrame
        One row per document and group: ``document``, ``group``, ``category`` and, where known, ``artist``.
    notes : tuple of str
        What was left out or fell short when the documents were chosen.
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    categories: tuple[str, ...]
    member: NDArray[np.bool_]
    table: pl.DataFrame
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        groups = counted(self.table["group"].n_unique(), "group")
        parts = counted(len(self.queries), "query", "queries"), counted(len(self.documents), "document")
        return f"{', '.join(parts)} in {groups} of {counted(len(self.categories), 'category', 'categories')}"

    def _summary(self) -> Summary:
        """Show how many documents every group has."""
        groups = self.table.group_by("category", "group", maintain_order=True)
        return Summary(
            str(self), [DisplayTable(groups.agg(pl.col("document").n_unique().alias("documents")))], self.notes
        )


def make_benchmark(
    queries: Sequence[str],
    documents: pl.DataFrame,
    categories: Mapping[str, Sequence[str]],
    *,
    notes: Sequence[str] = (),
) -> Benchmark:
    """Put documents into categories by their groups.

    Parameters
    ----------
    queries : sequence of str
        The queries, all different.
    documents : polars.DataFrame
        ``document`` and ``group``, and perhaps ``artist``; a document of several groups has a row for each.
    categories : mapping of str to sequence of str
        The groups of every category; a group belongs to one category.
    notes : sequence of str
        What the reader of the benchmark should know.

    Raises
    ------
    ParameterError
        If a query or a group is named twice, or there is none.
    InputError
        If a document's group is in no category, or there are no documents.
    """
    category_of = _category_of_group(categories)
    for name, values in (("query", queries), ("category", categories)):
        if not values:
            raise ParameterError(f"a benchmark needs at least one {name}")
    twice = next((query for query in queries if list(queries).count(query) > 1), None)
    if twice is not None:
        raise ParameterError(f"queries have to differ: '{twice}' is there twice")
    table = documents.with_columns(id_column(documents["document"]), id_column(documents["group"]))
    if not table.height:
        raise InputError(expected="documents for the benchmark", got="none")
    unknown = table.filter(~pl.col("group").is_in(list(category_of)))
    if unknown.height:
        raise InputError(
            expected=f"groups of the categories {', '.join(categories)}",
            got=f"'{unknown['group'][0]}', the group of document '{unknown['document'][0]}'",
        )
    kept = [name for name in ("document", "group", "artist") if name in table.columns]
    table = table.select(kept).unique(maintain_order=True)
    table = table.with_columns(pl.col("group").replace_strict(category_of).alias("category"))
    ids = sort_ids(table["document"].unique())
    member = np.zeros((len(categories), len(ids)), dtype=bool)
    row = table["category"].cast(pl.Enum(list(categories))).to_physical().cast(pl.Int64).to_numpy()
    member[row, table["document"].cast(pl.Enum(ids)).to_physical().cast(pl.Int64).to_numpy()] = True
    return Benchmark(tuple(queries), ids, tuple(categories), member, table, tuple(notes))


def _category_of_group(categories: Mapping[str, Sequence[str]]) -> dict[str, str]:
    category_of: dict[str, str] = {}
    for category, groups in categories.items():
        for group in groups:
            if group in category_of:
                raise ParameterError(f"group '{group}' is in {category_of[group]} and in {category}, or twice in one")
            category_of[group] = category
    return category_of


def widely_used(tags: pl.DataFrame, names: Sequence[str], *, minimum: int = MINIMUM_USERS) -> tuple[str, ...]:
    """Keep the names that enough people use as a tag; a name without a count is used by nobody.

    Parameters
    ----------
    tags : polars.DataFrame
        ``tag`` and ``users``, how many people used it. Upper and lower case do not matter; counts of one tag add up.
    names : sequence of str
        The candidates, such as feelings.
    minimum : int
        How many are enough.

    Examples
    --------
    >>> tags = pl.DataFrame({"tag": ["sad", "Calm", "admiring"], "users": [9000, 800, 12]})
    >>> widely_used(tags, ["Sad", "Admiring", "Calm", "Satisfied"])
    ('Sad', 'Calm')
    """
    users = tags.select(id_column(tags["tag"]).str.to_lowercase(), pl.Series("users", number_column(tags["users"])))
    total = dict(users.group_by("tag").agg(pl.col("users").sum()).iter_rows())
    return tuple(name for name in names if total.get(name.lower(), 0) >= minimum)


def choose_documents(
    artists: pl.DataFrame,
    songs: pl.DataFrame,
    groups: Sequence[str],
    *,
    artists_per_group: int = ARTISTS_PER_GROUP,
    songs_per_artist: int = SONGS_PER_ARTIST,
) -> pl.DataFrame:
    """Represent every group by its most played artists and every artist by the most played songs.

    Parameters
    ----------
    artists : polars.DataFrame
        ``group``, ``artist`` and ``plays``: who is tagged with the group, and how often they are played.
    songs : polars.DataFrame
        ``artist``, ``document`` and ``plays``.
    groups : sequence of str
        The groups to represent.
    artists_per_group, songs_per_artist : int
        How many of each; a group or an artist that has fewer brings what there is.

    Returns
    -------
    polars.DataFrame
        ``document``, ``group`` and ``artist``, in the order of the groups, then by plays.
    """
    if artists_per_group < 1 or songs_per_artist < 1:
        raise ParameterError("a group needs at least one artist and an artist at least one song")
    order = pl.DataFrame({"group": groups, "place": range(len(groups))}, schema={"group": pl.String, "place": pl.Int64})
    chosen = _most_played(artists, "group", "artist", artists_per_group).join(order, on="group")
    best = _most_played(songs, "artist", "document", songs_per_artist)
    return (
        chosen.join(best, on="artist", suffix="_of_song")
        .sort("place", "rank", "rank_of_song")
        .select("document", "group", "artist")
    )


def _most_played(frame: pl.DataFrame, of: str, what: str, number: int) -> pl.DataFrame:
    """Rank what belongs to each value of a column by plays, then by id, and keep the first few."""
    plays = pl.Series("plays", number_column(frame["plays"]))
    counts = frame.select(id_column(frame[of]), id_column(frame[what]), plays).group_by(of, what).agg(pl.sum("plays"))
    ranked = counts.sort(of, "plays", what, descending=[False, True, False])
    ranked = ranked.with_columns((pl.int_range(pl.len()).over(of) + 1).alias("rank"))
    return ranked.filter(pl.col("rank") <= number).select(of, what, "rank")


def shortfalls(
    documents: pl.DataFrame,
    groups: Sequence[str],
    *,
    artists_per_group: int = ARTISTS_PER_GROUP,
    songs_per_artist: int = SONGS_PER_ARTIST,
) -> tuple[str, ...]:
    """Say which groups have fewer artists than wanted, and how many artists fewer songs."""
    artists = dict(documents.group_by("group").agg(pl.col("artist").n_unique()).iter_rows())
    few = [f"{group} ({artists.get(group, 0)})" for group in groups if artists.get(group, 0) < artists_per_group]
    songs = documents.group_by("artist").agg(pl.col("document").n_unique().alias("songs"))
    short = int((songs["songs"] < songs_per_artist).sum())
    notes = []
    if few:
        notes.append(f"groups with fewer than {counted(artists_per_group, 'artist')}: {', '.join(few)}")
    if short:
        notes.append(f"{counted(short, 'artist')} with fewer than {counted(songs_per_artist, 'song')}")
    return tuple(notes)


def made_up_documents(
    categories: Mapping[str, Sequence[str]],
    *,
    artists_per_group: int = ARTISTS_PER_GROUP,
    songs_per_artist: int = SONGS_PER_ARTIST,
    shared_artists: int = 0,
) -> pl.DataFrame:
    """Make up names where songs would be, to try a benchmark out before there are any.

    Parameters
    ----------
    categories : mapping of str to sequence of str
        The groups of every category.
    artists_per_group, songs_per_artist : int
        How many of each.
    shared_artists : int
        How many artists of the first category represent a group of another one as well. Stupar2013's 12 genres and 14
        feelings have 260 places for artists; as it has 470 songs, 25 of them are taken by artists of other groups.

    Returns
    -------
    polars.DataFrame
        ``document``, ``group`` and ``artist``.
    """
    groups = [group for names in categories.values() for group in names]
    first = len(next(iter(categories.values()))) * artists_per_group
    places = len(groups) * artists_per_group
    if not 0 <= shared_artists <= min(first, places - first):
        raise ParameterError(
            f"shared_artists is from 0 to {min(first, places - first)}: each is an artist of the first category and "
            f"stands in another, got {shared_artists}"
        )
    # Both the artists who are shared and the places they take are spread evenly, so that no group is all borrowed.
    lent = np.arange(shared_artists) * first // max(shared_artists, 1)
    taken = first + np.arange(shared_artists) * (places - first) // max(shared_artists, 1)
    artist = np.empty(places, dtype=np.int64)
    own = np.setdiff1d(np.arange(places), taken)
    artist[own] = np.arange(own.size)
    artist[taken] = artist[lent]
    song = np.repeat(artist * songs_per_artist, songs_per_artist) + np.tile(np.arange(songs_per_artist), places)
    group = np.repeat(np.arange(places) // artists_per_group, songs_per_artist)
    width = len(str(own.size)), len(str(own.size * songs_per_artist))
    return pl.DataFrame(
        {
            "document": [f"song{number + 1:0{width[1]}d}" for number in song.tolist()],
            "group": pl.Series(groups, dtype=pl.String).gather(group),
            "artist": [f"artist{number + 1:0{width[0]}d}" for number in (song // songs_per_artist).tolist()],
        }
    )
