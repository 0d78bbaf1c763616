"""Benchmarks: how documents are chosen, what a configuration may say, and where it is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.crowd.benchmark import choose_documents, made_up_documents, make_benchmark, shortfalls, widely_used
from earmark.crowd.configuration import (
    ChosenDocuments,
    GivenDocuments,
    build_benchmark,
    example_config,
    read_config,
    write_example,
)
from earmark.errors import InputError, ParameterError

CATEGORIES = {"genre": ["Rock", "Ska"], "mood": ["Sad"]}
HEAD = """
queries = ["q1", "q2"]
[categories]
genre = ["Rock", "Ska"]
mood = ["Sad"]
[pairs]
genre = ["genre"]
both = ["genre", "mood"]
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def written(text: str, name: str = "config.toml") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


# Choosing


def test_documents_of_several_groups_are_one_document_in_all_categories() -> None:
    rows = pl.DataFrame({"document": ["x", "x", "y", "x"], "group": ["Rock", "Sad", "Ska", "Rock"]})
    benchmark = make_benchmark(["q"], rows, CATEGORIES)
    assert benchmark.documents == ("x", "y")
    assert benchmark.member.tolist() == [[True, True], [True, False]]
    assert benchmark.table.height == 3
    assert str(benchmark) == "1 query, 2 documents in 3 groups of 2 categories"


@pytest.mark.parametrize(
    ("queries", "categories", "message"),
    [
        ([], CATEGORIES, "a benchmark needs at least one query"),
        (["q", "p", "q"], CATEGORIES, "queries have to differ: 'q' is there twice"),
        (["q"], {}, "a benchmark needs at least one category"),
        (["q"], {"genre": ["Rock"], "mood": ["Rock"]}, "group 'Rock' is in genre and in mood"),
    ],
)
def test_benchmarks_that_are_none(queries: list[str], categories: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_benchmark(queries, pl.DataFrame({"document": ["x"], "group": ["Rock"]}), categories)


def test_groups_without_a_category_and_no_documents() -> None:
    with pytest.raises(InputError, match="expected groups of the categories genre, mood, got 'Jazz', the group of"):
        make_benchmark(["q"], pl.DataFrame({"document": ["x"], "group": ["Jazz"]}), CATEGORIES)
    empty = pl.DataFrame(schema={"document": pl.String, "group": pl.String})
    with pytest.raises(InputError, match="expected documents for the benchmark, got none"):
        make_benchmark(["q"], empty, CATEGORIES)


@pytest.mark.parametrize(("minimum", "kept"), [(500, ("Sad",)), (499, ("Sad", "calm")), (10_000, ()), (0, None)])
def test_tags_that_enough_people_use(minimum: int, kept: tuple[str, ...] | None) -> None:
    # Counts of one tag add up, whatever its case; a tag that is not there has no users.
    tags = pl.DataFrame({"tag": ["sad", "Calm", "SAD"], "users": [300, 499, 200]})
    names = ("Sad", "calm", "Admiring")
    assert widely_used(tags, names, minimum=minimum) == (names if kept is None else kept)


def test_the_most_played_artists_and_songs_are_chosen_and_ids_decide_among_equals() -> None:
    artists = pl.DataFrame(
        {
            "group": ["Ska", "Ska", "Ska", "Sad", "Sad", "Other"],
            "artist": ["zoe", "ann", "bob", "ann", "cat", "dan"],
            "plays": [5, 5, 9, 1, 2, 99],
        }
    )
    songs = pl.DataFrame(
        {
            "artist": ["ann", "ann", "ann", "bob", "zoe", "cat", "cat"],
            "document": ["a1", "a2", "a3", "b1", "z1", "c1", "c2"],
            "plays": [3, 8, 3, 1, 7, 1, 2],
        }
    )
    chosen = choose_documents(artists, songs, ["Sad", "Ska"], artists_per_group=2, songs_per_artist=2)
    assert chosen.rows() == [
        ("c2", "Sad", "cat"),
        ("c1", "Sad", "cat"),
        ("a2", "Sad", "ann"),
        ("a1", "Sad", "ann"),
        ("b1", "Ska", "bob"),
        ("a2", "Ska", "ann"),
        ("a1", "Ska", "ann"),
    ]
    assert shortfalls(chosen, ["Sad", "Ska"], artists_per_group=2, songs_per_artist=2) == (
        "1 artist with fewer than 2 songs",
    )
    assert shortfalls(chosen, ["Sad", "Ska", "Rock"], artists_per_group=3, songs_per_artist=1) == (
        "groups with fewer than 3 artists: Sad (2), Ska (2), Rock (0)",
    )
    with pytest.raises(ParameterError, match="a group needs at least one artist and an artist at least one song"):
        choose_documents(artists, songs, ["Sad"], artists_per_group=0)


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.data())
def test_made_up_documents_have_the_numbers_asked_for(
    groups: int, artists: int, songs: int, data: st.DataObject
) -> None:
    categories = {"one": [f"g{n}" for n in range(groups)], "two": ["h1", "h2"]}
    shared = data.draw(st.integers(0, min(groups, 2) * artists))
    rows = made_up_documents(categories, artists_per_group=artists, songs_per_artist=songs, shared_artists=shared)
    assert rows["artist"].n_unique() == (groups + 2) * artists - shared
    assert rows["document"].n_unique() == songs * rows["artist"].n_unique()
    per_group = rows.group_by("group").agg(pl.col("artist").n_unique(), pl.len())
    assert set(per_group["artist"]) == {artists}
    assert set(per_group["len"]) == {artists * songs}
    assert rows.is_unique().all()


def test_more_shared_artists_than_there_are() -> None:
    with pytest.raises(ParameterError, match=r"shared_artists is from 0 to 10: .* got 11"):
        made_up_documents(CATEGORIES, shared_artists=11)


# Configurations


def test_the_example_has_the_numbers_of_the_paper() -> None:
    config = example_config()
    assert (config.assessors, config.trap_every) == (6, 5)
    assert {"Miksang", "Digiscoping", "Old-time", "Panorama"} < set(config.queries)
    assert config.pairs["positive-negative"] == ("positive", "negative")
    benchmark = build_benchmark(config)
    assert (len(benchmark.queries), len(benchmark.documents)) == (25, 470)
    assert [len(groups) for groups in config.categories.values()] == [12, 7, 7]
    assert benchmark.table.group_by("group").len()["len"].unique().to_list() == [20]


def test_the_example_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    write_example(path)
    assert read_config(path) == example_config()
    with pytest.raises(ParameterError, match=r"mine.toml: there is such a file already; name another"):
        write_example(path)
    with pytest.raises(InputError, match="expected an existing folder to write to, got "):
        write_example(tmp_path / "none" / "mine.toml")


def test_a_table_of_documents(write: Callable[..., Path]) -> None:
    config = read_config(write(HEAD + '[documents]\nfile = "songs.csv"\n'))
    assert isinstance(config.source, GivenDocuments)
    write("document,group,artist,year\nx,Rock,ann,1999\ny,Sad,ann,\n", "songs.csv")
    assert build_benchmark(config).table.rows() == [("x", "Rock", "ann", "genre"), ("y", "Sad", "ann", "mood")]
    write("document,group\nx,Rock\n\ny,Rokc\n", "songs.csv")
    with pytest.raises(InputError, match=r"songs.csv:4: expected a group of .*, got 'Rokc' \(did you mean 'Rock'\?\)"):
        build_benchmark(config)
    write("document,genre\nx,Rock\n", "songs.csv")
    with pytest.raises(InputError, match=r"songs.csv:1: expected columns document, group, got .* \(no group\)"):
        build_benchmark(config)
    write("document,group\nx,Rock\n ,Ska\n", "songs.csv")
    with pytest.raises(InputError, match=r"songs.csv:3: expected document in every row, got nothing"):
        build_benchmark(config)


CHOOSE = """[choose]
artists = "artists.csv"
songs = "songs.csv"
tags = "tags.csv"
minimum_users_for = ["mood"]
artists_per_group = 1
"""


def test_documents_chosen_by_the_rule(write: Callable[..., Path]) -> None:
    text = HEAD.replace('["Sad"]', '["Sad", "Grateful"]') + CHOOSE
    config = read_config(write(text))
    assert isinstance(config.source, ChosenDocuments)
    assert (config.source.minimum_users, config.source.songs_per_artist) == (500, 2)
    write("tag,users\nsad,900\ngrateful,3\n", "tags.csv")
    write("group,artist,plays\nRock,ann,5\nSka,bob,3\nSad,ann,2\nGrateful,cat,1\n", "artists.csv")
    write("artist,document,plays\nann,x,5\nann,y,6\nbob,z,1\ncat,w,2\n", "songs.csv")
    benchmark = build_benchmark(config)
    assert benchmark.documents == ("x", "y", "z")
    assert benchmark.notes == ("used as a tag by fewer than 500: Grateful", "1 artist with fewer than 2 songs")
    write("artist,document,plays\nann,x,5\nann,y,many\n", "songs.csv")
    with pytest.raises(InputError, match=r"songs.csv:3: expected a number as plays, got 'many'"):
        build_benchmark(config)
    write("artist,document,plays\nann,x,-5\n", "songs.csv")
    with pytest.raises(InputError, match=r"songs.csv:2: expected 0 or more as plays, got '-5'"):
        build_benchmark(config)
    write("artist,document,plays\nAnn,x,5\n", "songs.csv")
    with pytest.raises(
        InputError, match=r"songs.csv: expected songs by the artists of the groups, got none \(do songs"
    ):
        build_benchmark(config)
    write("tag,users\nsad,9\n", "tags.csv")
    with pytest.raises(InputError, match=r"tags.csv: expected tags of category mood with 500 users or more, got none"):
        build_benchmark(config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nqueries = = 3\n", r"config.toml:2: expected a TOML file, got this: Invalid value$"),
        ("queries = [\n", r"config.toml: expected a TOML file, got this: Invalid value .at end of document.$"),
        ("", r"config.toml: expected an entry 'queries', got none \(look at the example's\)"),
        (HEAD, r"config.toml: expected one of \[documents\], \[choose\], \[made_up\], where .*, got none"),
        (HEAD + "[made_up]\n[documents]\nfile='a'\n", r"got documents and made_up"),
        ("quieries = []\n" + HEAD, r"config.toml:1: .* got 'quieries' \(did you mean 'queries'\?\)"),
        ("assessors = 0\n" + HEAD, r"config.toml:1: expected a whole number, 1 or more, as assessors, got 0"),
        ("assessors = true\n" + HEAD, r"as assessors, got True"),
        (HEAD.replace('["q1", "q2"]', '["q1", "q1"]'), r"toml:2: expected different names as queries, got 'q1' t"),
        (HEAD.replace('["q1", "q2"]', '"q1"'), r"config.toml:2: expected a list of names as queries, got 'q1'"),
        (HEAD.replace('["genre", "mood"]', '["genre", "moo"]'), r"toml:8: expected one or two of the .*, got 'moo'"),
        (HEAD.replace('["genre", "mood"]', '["genre", "mood", "mod"]'), r"toml:8: .* genre, mood, got 'mod'"),
        ("pairs = 3\nqueries = ['q']\n[categories]\na=['b']\n", r"config.toml:1: expected a table \[pairs\], got 3"),
        (HEAD + "[made_up]\nsongs = 'a'\n", r"config.toml:10: expected entries artists_per_group, .*, got 'songs'"),
        (HEAD + "[documents]\n", r"config.toml:9: expected an entry 'file' in \[documents\], got none"),
        (HEAD + "[documents]\nfile = 3\n", r"config.toml:10: expected the name of a file as file, got 3"),
        (HEAD + CHOOSE.replace('["mood"]', '["mod"]'), r"expected some of the categories genre, mood, got 'mod'"),
        (HEAD + CHOOSE.replace('tags = "tags.csv"\n', ""), r"expected a file of tags to count users in, got none"),
    ],
)  # fmt: skip
def test_configurations_that_are_refused(write: Callable[..., Path], text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_config(write(text))
