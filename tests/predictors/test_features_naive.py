"""Features against dictionaries that follow the definitions word by word, on random collections, and relations."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import earmark
from earmark.data.collection import Collection
from earmark.data.metadata import Metadata
from earmark.predictors.features import FeatureBuilder

Lists = dict[str, dict[str, list[str]]]
Values = dict[str, str | None]
Gains = dict[tuple[str, str], int]

NAN = math.nan
# A query may be a document that is retrieved, one that is not, or none that the metadata know.
DOCUMENTS = [f"d{i}" for i in range(7)]
QUERIES = ["q0", "q1", "d0"]
SYSTEMS = ["A", "B", "C", "D"]

lists = st.dictionaries(
    st.sampled_from(SYSTEMS),
    st.dictionaries(
        st.sampled_from(QUERIES), st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=4, unique=True), min_size=1
    ),
    min_size=1,
)
attribute = st.dictionaries(st.sampled_from([*DOCUMENTS, *QUERIES]), st.sampled_from(["x", "y", "z", None]))
all_gains = st.fixed_dictionaries({(q, d): st.sampled_from([None, 0, 1, 2]) for q in QUERIES for d in DOCUMENTS})
teams = st.fixed_dictionaries({system: st.sampled_from(["one", "two", "three"]) for system in SYSTEMS})


def make_collection(runs: Lists, artist: Values, genre: Values) -> Collection:
    scored = {s: {q: {d: -float(i) for i, d in enumerate(ds)} for q, ds in qs.items()} for s, qs in runs.items()}
    names = sorted({*artist, *genre})
    frame = pl.DataFrame(
        {"document": names, "artist": [artist.get(n) for n in names], "genre": [genre.get(n) for n in names]},
        schema=dict.fromkeys(("document", "artist", "genre"), pl.String),
    )
    return Collection.from_runs(earmark.runs_from_dict(scored), metadata=Metadata(frame))


def items_of(collection: Collection) -> list[tuple[str, str]]:
    pairs = zip(collection.item_query, collection.item_document, strict=True)
    return [(collection.queries[q], collection.documents[d]) for q, d in pairs]


def mean(values: list[float]) -> float:
    return fmean(values) if values else NAN


def naive_output(runs: Lists, q: str, d: str, team: dict[str, str]) -> dict[str, float]:
    found_by = [s for s in runs if d in runs[s].get(q, [])]
    results = [(s, query) for s in runs for query in runs[s] for _ in runs[s][query]]
    items = {(query, document) for s in runs for query in runs[s] for document in runs[s][query]}
    return {
        "pSYS": len(found_by) / len(runs),
        "fSYS": len(found_by) / len(runs),
        "pTEAM": len({team[s] for s in found_by}) / len({team[s] for s in runs}),
        "OV": len(items) / len(results),
        "aRANK": mean([runs[s][q].index(d) + 1 for s in found_by]),
        "nRES": sum(query == q for _, query in results),
    }


def naive_attribute_output(runs: Lists, q: str, d: str, values: Values, n_named: int) -> dict[str, float]:
    own = values.get(d)
    if own is None:
        return dict.fromkeys(("s", "p", "f", "f_systems", "f_others", "r"), NAN)
    results = [e for s in runs for e in runs[s].get(q, [])]
    found_by = [s for s in runs if d in runs[s].get(q, [])]

    def distinct_share(systems: list[str]) -> float:
        documents = {e for s in systems for e in runs[s].get(q, [])}
        return sum(values.get(e) == own for e in documents) / len(documents) if documents else 0.0

    return {
        "s": NAN if values.get(q) is None else float(values[q] == own),
        "p": sum(values.get(e) == own for e in results) / len(results),
        "f": distinct_share(list(runs)),
        "f_systems": sum(any(values.get(e) == own for e in runs[s].get(q, [])) for s in runs) / len(runs),
        "f_others": mean([distinct_share([t for t in runs if t != s]) for s in found_by]),
        "r": sum(value == own for value in values.values()) / n_named,
    }


def naive_judged(runs: Lists, q: str, d: str, gains: Gains, exclude_own: bool) -> dict[str, float]:
    usable = {item: gain for item, gain in gains.items() if not (exclude_own and item == (q, d))}
    found_by = [s for s in runs if d in runs[s].get(q, [])]
    of_system = [[usable[p, e] for p in runs[s] for e in runs[s][p] if (p, e) in usable] for s in found_by]
    others = [
        gain for (p, e), gain in gains.items() if p == q and e != d and any(e in runs[s].get(q, []) for s in runs)
    ]
    return {
        "aSYS": mean([mean(values) for values in of_system if values]),
        "nSYS": sum(len(values) for values in of_system),
        "aDOC": mean(others),
        "nDOC": len(others),
    }


def naive_attribute_judged(
    runs: Lists, q: str, d: str, values: Values, gains: Gains, exclude_own: bool
) -> dict[str, float]:
    if values.get(d) is None:
        return {"a": NAN, "n": NAN}
    same = {e for s in runs for e in runs[s].get(q, []) if values.get(e) == values[d]}
    found = [gains[q, e] for e in same if (q, e) in gains and not (exclude_own and e == d)]
    return {"a": mean(found), "n": len(found)}


def coded(values: dict[str, float], code: str) -> dict[str, float]:
    return {name[0] + code + name[1:]: value for name, value in values.items()}


@given(lists, attribute, attribute, teams)
def test_output_features_follow_their_definitions(runs: Lists, artist: Values, genre: Values, team: dict) -> None:
    collection = make_collection(runs, artist, genre)
    builder = FeatureBuilder(collection, teams=team)
    output, n_named = builder.output(), len({*artist, *genre})
    for row, (q, d) in enumerate(items_of(collection)):
        expected = naive_output(runs, q, d, team)
        expected |= coded(naive_attribute_output(runs, q, d, artist, n_named), "ART")
        expected |= coded(naive_attribute_output(runs, q, d, genre, n_named), "GEN")
        expected["sGEN:pGEN"] = expected["sGEN"] * expected["pGEN"]
        assert set(builder.output_names) <= set(expected) <= {*builder.output_names, *builder.dropped}
        for name, value in expected.items():
            if name in builder.dropped:
                assert math.isnan(value)
            else:
                np.testing.assert_allclose(output[name][row], value, rtol=1e-12, err_msg=f"{name} of {q}, {d}")


@given(lists, attribute, attribute, all_gains, st.booleans())
def test_judgment_features_follow_their_definitions(
    runs: Lists, artist: Values, genre: Values, drawn: dict, exclude_own: bool
) -> None:
    collection = make_collection(runs, artist, genre)
    builder, items = FeatureBuilder(collection), items_of(collection)
    gains = {item: gain for item, gain in drawn.items() if gain is not None}
    gain = np.array([gains.get(item, NAN) for item in items])
    features = builder.judged(gain, np.isfinite(gain), exclude_own=exclude_own)
    for row, (q, d) in enumerate(items):
        expected = naive_judged(runs, q, d, gains, exclude_own)
        expected |= coded(naive_attribute_judged(runs, q, d, artist, gains, exclude_own), "ART")
        expected |= coded(naive_attribute_judged(runs, q, d, genre, gains, exclude_own), "GEN")
        for name, value in expected.items():
            if name in builder.dropped:
                assert math.isnan(value)
            else:
                np.testing.assert_allclose(
                    features[name][row], value, rtol=1e-12, atol=1e-12, err_msg=f"{name} of {q}, {d}"
                )


@given(lists, attribute, attribute, all_gains, st.integers(0, 2), st.data())
def test_the_own_gain_never_shows_in_features_that_exclude_it(
    runs: Lists, artist: Values, genre: Values, drawn: dict, other: int, data: st.DataObject
) -> None:
    collection = make_collection(runs, artist, genre)
    builder, items = FeatureBuilder(collection), items_of(collection)
    row = data.draw(st.integers(0, len(items) - 1))
    gain = np.array([NAN if drawn[item] is None else drawn[item] for item in items])
    judged = np.isfinite(gain)
    before = builder.judged(gain, judged).values[row]
    for present in (True, False):
        gain[row], judged[row] = other, present
        np.testing.assert_allclose(builder.judged(gain, judged).values[row], before, rtol=1e-12, atol=1e-12)
    # An item without a judgment has nothing to exclude.
    np.testing.assert_allclose(
        builder.judged(gain, judged, exclude_own=False).values[row], before, rtol=1e-12, atol=1e-12
    )


@given(lists, attribute, attribute, all_gains)
def test_other_names_change_nothing(runs: Lists, artist: Values, genre: Values, drawn: dict) -> None:
    ids = dict(zip(sorted({*DOCUMENTS, *QUERIES}), sorted({*DOCUMENTS, *QUERIES}, reverse=True), strict=True))
    renamed = {s.lower(): {ids[q]: [ids[d] for d in ds] for q, ds in qs.items()} for s, qs in runs.items()}

    def rows(runs: Lists, artist: Values, genre: Values, gain_of: dict) -> dict:
        collection = make_collection(runs, artist, genre)
        builder, items = FeatureBuilder(collection), items_of(collection)
        gain = np.array([NAN if gain_of[item] is None else gain_of[item] for item in items])
        judged = builder.judged(gain, np.isfinite(gain))
        values = np.hstack([builder.output().values, judged.values])
        return {item: (builder.output_names, row) for item, row in zip(items, values, strict=True)}

    plain = rows(runs, artist, genre, drawn)
    other = rows(
        renamed,
        {ids[name]: value for name, value in artist.items()},
        {ids[name]: value for name, value in genre.items()},
        {(ids[q], ids[d]): gain for (q, d), gain in drawn.items()},
    )
    for (q, d), (names, row) in plain.items():
        assert other[ids[q], ids[d]][0] == names
        np.testing.assert_allclose(other[ids[q], ids[d]][1], row, rtol=1e-12, atol=1e-12)


@given(lists, attribute, attribute)
def test_a_second_copy_of_all_systems_halves_the_overlap_and_keeps_the_shares(
    runs: Lists, artist: Values, genre: Values
) -> None:
    twice = runs | {f"{s}'": qs for s, qs in runs.items()}
    one = FeatureBuilder(make_collection(runs, artist, genre)).output()
    two = FeatureBuilder(make_collection(twice, artist, genre)).output()
    np.testing.assert_allclose(two["OV"], one["OV"] / 2)
    kept = [name for name in one.names if name not in ("OV", "nRES") and not name.endswith("_others")]
    for name in kept:
        np.testing.assert_allclose(two[name], one[name], rtol=1e-12, err_msg=name)
    # Leaving one of two twins out leaves everything that they found.
    for name in one.names:
        if name.endswith("_others"):
            np.testing.assert_allclose(two[name], one[name.removesuffix("_others")], rtol=1e-12)
