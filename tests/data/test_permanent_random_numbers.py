"""Permanent random numbers: pinned for ever, computed by another program too, and as random as they should be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import earmark
from earmark.data.collection import Collection
from earmark.data.permanent_random_numbers import item_numbers, permanent_numbers, query_numbers
from earmark.errors import ParameterError

# By OpenSSL 3.0, a message being every id after its length in eight little-endian bytes:
#   KEY=$(printf 1 | b2sum -l 256 | cut -d' ' -f1)
#   printf '\2\0\0\0\0\0\0\0q1\2\0\0\0\0\0\0\0d1' |
#     openssl mac -macopt hexkey:$KEY -macopt size:8 -in - BLAKE2BMAC
DIGESTS = {
    ("q1", "d1", 1): "723EDAD29C2CCA42",
    ("q1", "d2", 1): "8002E6E8363C403E",
    ("q2", "d1", 1): "DE8E7FC4C4AB92EB",
    ("q1", None, 1): "2545A06DCDD6D8BA",
    ("héllo/wörld", "曲-12", 7): "AE7619899AFC2D97",
}
# What the numbers are, to the last bit: campaigns that have begun rely on them.
NUMBERS = [0.2608974345083447, 0.2431676515633613, 0.9202067714109018, 0.7298712016614682, 0.5905454518589063]

ids = st.text(max_size=6)


def number_of(query: str, document: str | None, seed: int) -> float:
    return float(permanent_numbers([query], None if document is None else [document], seed=seed)[0])


@pytest.mark.parametrize(("item", "number"), list(zip(DIGESTS, NUMBERS, strict=True)))
def test_numbers_never_change(item, number):
    assert number_of(*item) == number


@pytest.mark.parametrize(("item", "digest"), list(DIGESTS.items()))
def test_openssl_computes_the_same(item, digest):
    bits = int.from_bytes(bytes.fromhex(digest), "little") >> 12
    assert number_of(*item) == (bits + 0.5) / 2**52


@given(ids, ids, ids, ids, st.integers(), st.integers())
def test_a_number_belongs_to_one_item_and_one_seed(query, document, other_query, other_document, seed, other_seed):
    assert 0 < number_of(query, document, seed) < 1
    one, other = (query, document, seed), (other_query, other_document, other_seed)
    assert (number_of(*one) == number_of(*other)) == (one == other)


def test_ids_do_not_run_together():
    pairs = [("ab", "c"), ("a", "bc"), ("", "abc"), ("abc", ""), ("a\0b", "c"), ("a", "b\0c")]
    assert len({number_of(query, document, 0) for query, document in pairs}) == len(pairs)
    # A query by itself is none of its items.
    assert number_of("abc", None, 0) != number_of("abc", "", 0)


def test_ids_that_are_no_proper_text_have_numbers_too():
    assert 0 < number_of("\udcff", "x", 0) < 1


def test_an_item_keeps_its_number_in_any_collection():
    few = {"A": {"q1": {"x": 2, "y": 1}}}
    more = {"A": {"q1": {"x": 2, "y": 1}, "q0": {"x": 1}}, "B": {"q1": {"a": 3, "y": 2}, "q2": {"b": 1}}}
    found = []
    for lists in (few, more):
        collection = Collection.from_runs(earmark.runs_from_dict(lists))
        items = collection.item_frame().rows()
        found.append(dict(zip(items, item_numbers(collection, seed=5), strict=True)))
        assert query_numbers(collection, seed=5).tolist() == [number_of(q, None, 5) for q in collection.queries]
    assert found[0].items() <= found[1].items()
    assert found[1]["q2", "b"] == number_of("q2", "b", 5)


@pytest.mark.parametrize("seed", [0, 1, -3, 10**40])
def test_numbers_are_uniform_and_neighbours_independent(seed):
    queries, documents = [f"q{i // 100}" for i in range(20_000)], [f"d{i}" for i in range(20_000)]
    numbers = permanent_numbers(queries, documents, seed=seed)
    assert stats.kstest(numbers, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 4 / np.sqrt(20_000)
    assert abs(np.corrcoef(numbers, permanent_numbers(queries, documents, seed=seed + 1))[0, 1]) < 4 / np.sqrt(20_000)
    assert np.unique(numbers).size == numbers.size


def test_no_items():
    assert permanent_numbers([], [], seed=0).shape == (0,)


def test_every_item_needs_a_document():
    with pytest.raises(ParameterError, match="expected a document for each of 2 queries, got 1"):
        permanent_numbers(["q", "r"], ["d"], seed=0)
