"""Covariates of items by counting one item at a time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.data.collection import Collection
from earmark.data.metadata import Metadata
from earmark.data.scales import FINE
from earmark.predictors.base import Setting
from earmark.predictors.covariates import OUTPUT, Covariates, covariates
from effects_drawn import small_collection


def known_of(collection: Collection, **setting) -> Covariates:
    return covariates(collection, Setting(collection, FINE, **setting).features)


def column(known: Covariates, name: str) -> np.ndarray:
    return known.values[:, known.names.index(name)]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_lists_say(seed):
    collection = small_collection(seed)
    known = known_of(collection)
    ranks = collection.ranks.toarray()
    n_systems, n_items = ranks.shape
    retrieved = ranks > 0
    query, deepest = collection.item_query, ranks.max()

    def shared(system: int, items: np.ndarray) -> float:
        """How much of a list other systems share: over its items, the share of others that retrieved it."""
        return np.mean([(retrieved[:, item].sum() - 1) / (n_systems - 1) for item in items if retrieved[system, item]])

    def alike(one: int, other: int) -> float:
        """Cosine of two systems' results."""
        both = np.count_nonzero(retrieved[one] & retrieved[other])
        return both / np.sqrt(retrieved[one].sum() * retrieved[other].sum())

    for item in range(n_items):
        who = np.flatnonzero(retrieved[:, item])
        effective = who.size**2 / sum(alike(one, other) for one in who for other in who)
        here = np.flatnonzero(query == query[item])
        expected = {
            "common": np.log(who.size) / np.log(n_systems),
            "breadth": np.log(effective) / np.log(n_systems),
            "middle": 4 * who.size / n_systems * (1 - who.size / n_systems),
            "rank": np.mean([(deepest + 1 - ranks[system, item]) / deepest for system in who]),
            "overlap": np.mean([shared(system, here) for system in who]),
            "agreement": np.mean([shared(system, np.arange(n_items)) for system in who]),
        }
        for name in OUTPUT:
            assert column(known, name)[item] == pytest.approx(expected[name])
            assert 0 <= column(known, name)[item] <= 1


@pytest.mark.parametrize("seed", [0, 1])
def test_what_metadata_say(seed):
    collection = small_collection(seed)
    known = known_of(collection)
    assert known.names[: len(OUTPUT)] == OUTPUT
    frame = collection.metadata.frame
    retrieved = collection.ranks.toarray().astype(bool)
    results = retrieved.sum(axis=0)
    unknown_somewhere = False
    for code, attribute in (("ART", "artist"), ("GEN", "genre")):
        value = dict(zip(frame["document"], frame[attribute], strict=True))
        of_item = [value.get(collection.documents[number]) for number in collection.item_document]
        of_query = [value.get(collection.queries[number]) for number in collection.item_query]
        for item, own in enumerate(of_item):
            here = collection.item_query == collection.item_query[item]
            alike = np.array([other == own for other in of_item]) & here
            same = float(own is not None and own == of_query[item])
            share = 0.0 if own is None else results[alike].sum() / results[here].sum()
            matching = [own is not None and own == of_query[other] for other, own in enumerate(of_item)]
            by_system = np.array([np.mean(np.array(matching)[lists]) for lists in retrieved])
            unknown_somewhere |= own is None
            expected = {
                f"s{code}": same,
                f"p{code}": share,
                f"s{code}:p{code}": same * share,
                f"match{code}": by_system[retrieved[:, item]].mean() - by_system.mean(),
                f"size{code}": 0.0 if own is None else np.log(alike.sum()),
                f"no{code}": float(own is None),
            }
            for name, number in expected.items():
                assert column(known, name)[item] == pytest.approx(number), name
            group = known.groups[code]
            if own is None:
                assert group[item] == -1
            else:
                np.testing.assert_array_equal(group == group[item], alike)
    assert unknown_somewhere


def test_without_metadata_there_is_what_lists_say():
    known = known_of(small_collection(0, metadata=False))
    assert known.names == OUTPUT
    assert known.groups == {}


def test_further_attributes_have_codes_of_their_own():
    collection = small_collection(0)
    frame = collection.metadata.frame.with_columns(mood=pl.col("genre"))
    more = Collection(
        **{name: getattr(collection, name) for name in collection.__dataclass_fields__ if name != "metadata"},
        metadata=Metadata(frame),
    )
    known = known_of(more, attributes=("mood",))
    (code,) = set(known.groups) - {"ART", "GEN"}
    for prefix in ("s", "p", "match", "size", "no"):
        np.testing.assert_array_equal(column(known, f"{prefix}{code}"), column(known, f"{prefix}GEN"))
    np.testing.assert_array_equal(known.groups[code], known.groups["GEN"])


def test_nothing_is_ever_unknown_or_infinite():
    one = {"A": {"q": {"d": 1.0}}}
    two = {"A": {"q": {"d": 1.0}}, "B": {"r": {"e": 1.0}}}
    nobody = Metadata(pl.DataFrame({"document": ["d"], "artist": [None]}, schema_overrides={"artist": pl.String}))
    for lists in (one, two):
        for metadata in (None, nobody):
            collection = Collection.from_runs(earmark.runs_from_dict(lists), metadata=metadata)
            known = known_of(collection)
            assert known.values.shape == (collection.n_items, len(known.names))
            assert np.all(np.isfinite(known.values))
