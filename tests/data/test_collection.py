import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.collection import Collection, describe
from earmark.data.conversion import judgments_from_dict, runs_from_dict
from earmark.data.judgments import Judgments
from earmark.data.metadata import Metadata
from earmark.data.readers import read_judgments, read_metadata, read_runs
from earmark.errors import ParameterError

QUERIES, DOCUMENTS = ["q2", "q10", "r"], [f"d{number}" for number in range(8)]
systems = st.dictionaries(
    st.sampled_from("ABCD"),
    st.dictionaries(
        st.sampled_from(QUERIES), st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1), min_size=1
    ),
    min_size=1,
)
qrels = st.dictionaries(
    st.sampled_from([*QUERIES, "s"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-1, 1), min_size=1),
    min_size=1,
)
attributes = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.tuples(st.sampled_from([None, "x"]), st.sampled_from([None, "y"])), min_size=1
)


def runs_of(systems, *, rename=lambda name: name):
    return runs_from_dict(
        {
            name: {
                rename(query): {rename(d): -float(rank) for rank, d in enumerate(documents)}
                for query, documents in answers.items()
            }
            for name, answers in systems.items()
        }
    )


def metadata_of(attributes):
    rows = [(document, *values) for document, values in attributes.items()]
    schema = {"document": pl.String, "artist": pl.String, "genre": pl.String}
    return Metadata(pl.DataFrame(rows, schema=schema, orient="row"))


def retrieved(systems, depth=None):
    return [
        (name, query, document, rank)
        for name, answers in systems.items()
        for query, documents in answers.items()
        for rank, document in enumerate(documents[:depth], start=1)
    ]


@given(systems, st.none() | st.integers(1, 5))
def test_a_collection_holds_what_was_retrieved(systems, depth):
    collection = Collection.from_runs(runs_of(systems), depth=depth)
    results = retrieved(systems, depth)
    items = {(query, document) for _, query, document, _ in results}
    assert (collection.n_results, collection.n_items) == (len(results), len(items))
    named = list(zip(collection.item_query.tolist(), collection.item_document.tolist(), strict=True))
    assert named == sorted(set(named))
    assert {(collection.queries[query], collection.documents[document]) for query, document in named} == items
    assert list(collection.documents) == sorted({document for _, document in items})
    found = {
        (
            collection.systems[system],
            collection.queries[collection.item_query[item]],
            collection.documents[collection.item_document[item]],
            rank,
        )
        for system, item, rank in zip(
            collection.result_system.tolist(),
            collection.result_item.tolist(),
            collection.result_rank.tolist(),
            strict=True,
        )
    }
    assert found == set(results)
    keys = list(zip(collection.result_system.tolist(), collection.result_item.tolist(), strict=True))
    assert keys == sorted(set(keys))
    dense = collection.ranks.toarray()
    assert dense.shape == (len(collection.systems), collection.n_items)
    assert [dense[key] for key in keys] == collection.result_rank.tolist()
    assert (dense > 0).sum() == len(results)


@given(systems, qrels, attributes)
def test_what_a_collection_is_described_by(systems, qrels, attributes):
    collection = Collection.from_runs(runs_of(systems), metadata=metadata_of(attributes))
    teams = {name: name.lower() if name in "AB" else "others" for name in systems}
    row = describe(collection, judgments=judgments_from_dict(qrels), teams=teams)
    results = retrieved(systems)
    items = {(query, document) for _, query, document, _ in results}
    lengths = [len(documents) for answers in systems.values() for documents in answers.values()]
    assert (row.systems, row.queries) == (len(systems), len({query for query, _ in items}))
    assert row.teams == len(set(teams.values()))
    assert (row.results, row.items) == (len(results), len(items))
    assert row.judged == sum(qrels.get(query, {}).get(document, -1) >= 0 for query, document in items)
    assert row.overlap == pytest.approx(1 - len(items) / len(results))
    assert (row.depth_min, row.depth_max) == (min(lengths), max(lengths))
    assert row.missing_metadata == sum(None in attributes.get(document, (None,)) for _, document in items)


@given(systems)
def test_other_ids_change_nothing(systems):
    def rename(name):
        return f"é{sum(name.encode()) % 7}-{name[::-1]}"

    plain, other = (Collection.from_runs(runs_of(systems, rename=each)) for each in (str, rename))
    assert describe(plain) == describe(other)
    assert sorted(plain.result_rank.tolist()) == sorted(other.result_rank.tolist())

    def ranks(collection):
        return {
            (
                collection.systems[s],
                collection.queries[collection.item_query[i]],
                collection.documents[collection.item_document[i]],
            ): r
            for s, i, r in zip(
                collection.result_system.tolist(),
                collection.result_item.tolist(),
                collection.result_rank.tolist(),
                strict=True,
            )
        }

    assert {(s, rename(q), rename(d)): r for (s, q, d), r in ranks(plain).items()} == ranks(other)


def test_several_assessors_count_an_item_once():
    frame = pl.DataFrame({"query": ["q"] * 3, "document": ["a", "a", "b"], "gain": [1, 0, -1], "assessor": [*"xyx"]})
    collection = Collection.from_runs(runs_from_dict({"A": {"q": {"a": 2.0, "b": 1.0}}}))
    assert describe(collection, judgments=Judgments.from_frame(frame)).judged == 1


def test_what_is_not_known_is_not_counted():
    collection = Collection.from_runs(runs_from_dict({"A": {"q": {"a": 1.0}}}))
    row = describe(collection)
    assert (row.teams, row.judged, row.missing_metadata) == (None, None, None)
    assert str(collection) == "1 system, 1 query, 1 result, 1 item"


def test_errors():
    runs = runs_from_dict({"A": {"q": {"a": 1.0}}, "B": {"q": {"a": 1.0}}})
    for depth in (0, -1):
        with pytest.raises(ParameterError, match=f"a depth is 1 or more, got {depth}"):
            Collection.from_runs(runs, depth=depth)
    with pytest.raises(ParameterError, match="no team is given for system 'B'"):
        describe(Collection.from_runs(runs), teams={"A": "x"})


def test_the_row_of_table_1(mirex):
    """MTC's Table 1 prints, for 2011: 18 systems, 100 queries, 9,000 results, 6,322 judgments, an overlap of 30%."""
    metadata = read_metadata(mirex / "metadata.txt")
    collection = Collection.from_runs(read_runs(mirex / "runs.txt"), metadata=metadata)
    row = describe(collection, judgments=read_judgments(mirex / "judgments.txt"))
    assert (row.systems, row.queries, row.results, row.items) == (18, 100, 9000, 6322)
    assert row.judged == 6322
    assert row.overlap == pytest.approx(0.2976, abs=5e-5)
    assert (row.depth_min, row.depth_max) == (5, 5)
    assert row.missing_metadata == 43
    lines = [line.split("\t") for line in (mirex / "runs.txt").read_text().splitlines()]
    known = {line.split("\t")[0] for line in (mirex / "metadata.txt").read_text().splitlines()}
    items = {(query, document) for _, query, document in lines}
    assert (len(lines), len(items)) == (9000, 6322)
    assert sum(document not in known for _, document in items) == 43
