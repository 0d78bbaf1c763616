import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.ground_truth import (
    Cliques,
    GroundTruth,
    OrderedGroups,
    truth_from_cliques,
    truth_from_groups,
    truth_from_judgments,
)
from earmark.data.judgments import Judgments
from earmark.data.runs import sort_ids
from earmark.data.scales import BINARY, ORDERED, parse_scale

QUERIES, DOCUMENTS = ["q2", "q10", "é"], ["a", "b", "c", "d", "e"]
items = st.dictionaries(
    st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS)), st.integers(-1, 3), min_size=1, max_size=12
)


def as_dict(truth: GroundTruth):
    """{query: {document: gain}}, read off the arrays one row at a time."""
    found: dict[str, dict[str, float]] = {}
    for index, query in enumerate(truth.queries):
        assert truth.query_index[query] == index
        for row in range(truth.offsets[index], truth.offsets[index + 1]):
            assert truth.query_of_row[row] == index
            assert truth.documents[row] not in found.setdefault(query, {})
            found[query][truth.documents[row]] = truth.gain[row]
    return found


def nested(items):
    found: dict[str, dict[str, float]] = {}
    for (query, document), value in items.items():
        found.setdefault(query, {})[document] = value
    return found


def frame_of(items, value):
    return pl.DataFrame(
        [(*key, number) for key, number in items.items()], schema=["query", "document", value], orient="row"
    )


@given(items)
def test_truth_of_judgments(items):
    truth = truth_from_judgments(Judgments.from_frame(frame_of(items, "gain"), scale=parse_scale("0..3")))
    assert as_dict(truth) == nested(items)
    assert truth.queries == sort_ids({query for query, _ in items})
    assert (truth.scale.name, truth.elsewhere, truth.own_document, truth.collection_size) == ("0..3", None, False, None)
    assert truth.known_elsewhere.tolist() == [0] * len(truth.queries)


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(QUERIES), st.sampled_from("ab"), st.sampled_from("xy")),
        st.integers(-1, 2),
        min_size=1,
    )
)
def test_truth_of_several_assessors(answers):
    rows = [(*key, gain) for key, gain in answers.items()]
    frame = pl.DataFrame(rows, schema=["query", "document", "assessor", "gain"], orient="row")
    expected: dict[str, dict[str, float]] = {}
    for query, document, _ in answers:
        gains = [gain for key, gain in answers.items() if key[:2] == (query, document)]
        judged = [gain for gain in gains if gain >= 0] or gains[:1]
        expected.setdefault(query, {})[document] = sum(judged) / len(judged)
    assert as_dict(truth_from_judgments(Judgments.from_frame(frame))) == expected


@given(st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from("gh"), min_size=1))
def test_truth_of_cliques(group_of):
    frame = pl.DataFrame(list(group_of.items()), schema=["document", "group"], orient="row")
    truth = truth_from_cliques(Cliques(frame))
    expected = {
        query: {name: 1.0 for name in group_of if name != query and group_of[name] == group_of[query]}
        for query in group_of
    }
    # A document alone in its clique is no query, but it is known not to be relevant to others.
    expected = {query: others for query, others in expected.items() if others}
    assert as_dict(truth) == expected
    assert (truth.scale, truth.own_document) == (BINARY, True)
    assert set(truth.elsewhere) == set(group_of)
    assert truth.collection_size == len(group_of) - 1
    assert truth.known_elsewhere.tolist() == [len(group_of) - 1 - len(expected[query]) for query in truth.queries]


@given(st.dictionaries(st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS)), st.integers(1, 9), min_size=1))
def test_truth_of_groups(group_of):
    truth = truth_from_groups(OrderedGroups(frame_of(group_of, "group")))
    found = as_dict(truth)
    assert {query: set(gains) for query, gains in found.items()} == {
        query: set(groups) for query, groups in nested(group_of).items()
    }
    assert truth.scale == ORDERED
    for query, groups in nested(group_of).items():
        for one, first in groups.items():
            for other, second in groups.items():
                assert (first < second) == (found[query][one] > found[query][other])
        assert min(found[query].values()) == 1


def test_the_truth_does_not_depend_on_the_order_of_a_clique_file():
    frame = pl.DataFrame({"document": ["c", "a", "d", "b"], "group": ["g", "h", "h", "g"]})
    first, second = (as_dict(truth_from_cliques(Cliques(table))) for table in (frame, frame.reverse()))
    assert first == second == {"a": {"d": 1}, "b": {"c": 1}, "c": {"b": 1}, "d": {"a": 1}}
