"""One answer of many, by every method, and cycles by brute force."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest
from answers_made import answers, drawn_answers
from hypothesis import given
from hypothesis import strategies as st

from earmark.crowd.aggregation import Method, aggregate_preferences
from earmark.crowd.cycles import count_cycles
from earmark.data.preference_files import read_preferences, write_preferences
from earmark.data.preferences import PairTable, Preferences
from earmark.errors import InputError, ParameterError
from earmark.measures.preference_precision import parse_level

METHODS: tuple[Method, ...] = get_args(Method)


def test_majorities_by_hand() -> None:
    given_ = answers("q x y aaab", "q z x aabb", "q y z bbbs", "r x y sssa", strength="1234111122203331")
    found = aggregate_preferences(given_)
    assert found.preferences.columns == [
        "query", "a", "b", "assessor", "choice", "strength", "probability", "agreement", "answers",
    ]  # fmt: skip
    assert found.preferences.drop("assessor").rows() == [
        ("q", "x", "y", "a", 2.5, pytest.approx(0.788, abs=1e-3), 3, 4),
        # As many for either: nobody said same, and no document is preferred.
        ("q", "x", "z", "same", 0.0, 0.5, 0, 4),
        ("q", "y", "z", "b", 1.5, pytest.approx(0.906, abs=1e-3), 3, 4),
        ("r", "x", "y", "a", 0.25, pytest.approx(0.726, abs=1e-3), 1, 4),
    ]
    assert found.preferences["assessor"].unique().to_list() == ["majority"]
    assert (found.documents.height, found.workers.height) == (0, 0)


def test_levels_of_agreement() -> None:
    given_ = answers("q x y aaaaaa", "q x z aaaaab", "q y z aaaabb", "q u v aaabbb", "q w x aa")
    heights = [
        aggregate_preferences(given_, agreement=parse_level(level), min_answers=6).preferences.height
        for level in ("6/6", "5/6", "4/6")
    ]
    assert heights == [1, 2, 3]
    assert aggregate_preferences(given_, min_answers=3).preferences.height == 4
    with pytest.raises(InputError, match="pairs on which 6/6 agree, got none of 1"):
        aggregate_preferences(answers("q x y ab"), agreement=parse_level("6/6"))
    with pytest.raises(InputError, match="pairs with at least 7 answers, got none of 5"):
        aggregate_preferences(given_, min_answers=7)
    with pytest.raises(ParameterError, match="levels of agreement are for the method majority, not davidson"):
        aggregate_preferences(given_, method="davidson", agreement=parse_level("6/6"))
    with pytest.raises(ParameterError, match="unknown method 'borda': use majority, bradley-terry"):
        aggregate_preferences(given_, method="borda")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_what_comes_out_can_be_written_and_read(method: Method, tmp_path: Path) -> None:
    given_ = drawn_answers(np.random.default_rng(1), pairs=30, same=0.2)
    found = aggregate_preferences(given_, method=method)
    assert found.preferences.height == len(given_.pairs())
    assert found.preferences["probability"].is_between(0, 1).all()
    assert found.documents.height > 0 if method in ("bradley-terry", "davidson") else found.documents.is_empty()
    assert found.workers.height == 12 if method in ("one-coin", "dawid-skene") else found.workers.is_empty()
    write_preferences(found.to_preferences(), tmp_path / "made.csv")
    again = read_preferences(tmp_path / "made.csv")
    assert again.frame["choice"].to_list() == found.preferences["choice"].to_list()
    assert again.assessors == (method,)


@pytest.mark.parametrize("method", METHODS)
def test_a_unanimous_crowd_is_believed(method: Method) -> None:
    found = aggregate_preferences(answers("q x y aaaaa", "q y z aaaaa", "q z x bbbbb"), method=method)
    assert found.preferences["choice"].to_list() == ["a", "a", "a"]
    assert (found.preferences["strength"] > 0).all()


def test_reliable_workers_outvote_others() -> None:
    # Two careful workers agree with each other on everything; three others toss coins.
    rng = np.random.default_rng(3)
    lines = [f"q x{n:02d} y{n:02d} {'ab'[n % 2] * 2}{''.join(rng.choice(['a', 'b'], 3))}" for n in range(60)]
    found = aggregate_preferences(answers(*lines, "q x99 y99 aabbb"), method="dawid-skene")
    assert aggregate_preferences(answers(*lines, "q x99 y99 aabbb")).preferences["choice"][-1] == "b"
    assert found.preferences["choice"][-1] == "a"
    assert set(found.workers["assessor"][:2]) == {"w0", "w1"}


def brute_force_cycles(pairs: PairTable, query: int) -> tuple[int, int, list[int]]:
    """Count triads with three preferences, those that go round, and the sizes of knots."""
    better: dict[tuple[int, int], bool] = {}
    for pair in np.flatnonzero((pairs.query_index == query) & (pairs.winner != 0)):
        one, other = int(pairs.first_index[pair]), int(pairs.second_index[pair])
        better[(one, other) if pairs.winner[pair] > 0 else (other, one)] = True
    documents = sorted({document for pair in better for document in pair})
    triads = cyclic = 0
    for x, y, z in combinations(documents, 3):
        if all((i, j) in better or (j, i) in better for i, j in ((x, y), (y, z), (x, z))):
            triads += 1
            cyclic += ((x, y) in better) == ((y, z) in better) == ((z, x) in better)
    reach = {document: {document} for document in documents}
    for _ in documents:
        for one, other in better:
            for seen in reach.values():
                if one in seen:
                    seen.add(other)
    knots = {frozenset(b for b in documents if b in reach[a] and a in reach[b]) for a in documents}
    return triads, cyclic, sorted(len(knot) for knot in knots if len(knot) > 1)


@given(st.integers(0, 10_000))
def test_cycles_by_brute_force(seed: int) -> None:
    pairs = drawn_answers(np.random.default_rng(seed), pairs=40, queries=2, per_pair=3, documents=7).pairs()
    found = count_cycles(pairs, pairs.winner)
    for query, row in enumerate(found.iter_rows(named=True)):
        triads, cyclic, knots = brute_force_cycles(pairs, query)
        assert (row["triads"], row["cyclic_triads"]) == (triads, cyclic)
        assert (row["knots"], row["documents_in_knots"]) == (len(knots), sum(knots))
        assert row["largest_knot"] == max(knots, default=0)


def test_a_cycle_is_never_hidden() -> None:
    given_ = answers("q x y aaa", "q y z aaa", "q z x aaa", "r x y aaa", "r y z aaa", "r x z aaa")
    for method in METHODS:
        cycles = aggregate_preferences(given_, method=method).cycles
        assert cycles.rows() == [("q", 3, 1, 1, 1, 3, 3), ("r", 3, 1, 0, 0, 0, 0)]
    # Four in a ring have no triad that goes round, but are a knot.
    ring = answers("q a b aa", "q b c aa", "q c d aa", "q d a aa")
    assert aggregate_preferences(ring).cycles.rows() == [("q", 4, 0, 0, 1, 4, 4)]
    tied = answers("q x y ab", "q y z ss")
    assert aggregate_preferences(tied).cycles.rows() == [("q", 0, 0, 0, 0, 0, 0)]


def test_real_answers(melody_answers: pl.DataFrame) -> None:
    given_ = Preferences.from_frame(melody_answers)
    majority = aggregate_preferences(given_)
    assert majority.preferences.height == 281
    assert (majority.cycles["cyclic_triads"].sum(), majority.cycles["triads"].sum()) == (7, 228)
    scored = aggregate_preferences(given_, method="davidson")
    # A melody is at least as similar to itself as any other is to it, and was shown for 8 of the 11 queries.
    itself = scored.documents.filter(pl.col("query") == pl.col("document"))
    assert itself.height > 0
    assert itself["rank"].median() <= 2


def test_one_coin_warns_where_same_takes_everything_over() -> None:
    said = answers(*(f"q x{n:02d} y{n:02d} {'aaaab' if n < 5 else 'sssab'[: 4 + n % 2]}" for n in range(25)))
    (note,) = aggregate_preferences(said, method="one-coin").notes
    assert note.startswith("one-coin calls 20 of 25 pairs the same")
    assert "Use davidson, dawid-skene or majority instead" in note
    for method in ("majority", "davidson", "dawid-skene"):
        assert aggregate_preferences(said, method=method).notes == ()


def test_pairs_that_people_guess_about_are_not_the_same(melody_answers: pl.DataFrame) -> None:
    """Half of the answers are same: about half of the pairs are, not nine of ten as where all are equally easy."""
    said = Preferences.from_frame(melody_answers.filter(pl.col("choice").is_not_null()))
    for method in ("one-coin", "dawid-skene"):
        same = (aggregate_preferences(said, method=method).preferences["choice"] == "same").mean()
        assert 0.4 < same < 0.6


def test_one_coin_says_nothing_where_people_choose() -> None:
    rows = [("q", f"x{pair}", f"y{pair}", f"w{who}", "a") for pair in range(6) for who in range(3)]
    frame = pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row")
    assert aggregate_preferences(Preferences.from_frame(frame), method="one-coin").notes == ()
