import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data import ground_truth, hashing
from earmark.data import judged_lists as matching
from earmark.data import runs as runs_module
from earmark.data.conversion import judgments_from_dict, runs_from_dict
from earmark.data.ground_truth import Cliques, GroundTruth, truth_from_cliques, truth_from_judgments
from earmark.data.judged_lists import JudgedLists, match
from earmark.data.runs import Runs, join_runs

# Queries are documents as well, so that cliques find the query in its own list.
NAMES = [f"d{number}" for number in range(9)]
lists = st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=9)
systems = st.dictionaries(
    st.sampled_from("ABC"), st.dictionaries(st.sampled_from(NAMES[:5]), lists, min_size=1, max_size=4), min_size=1
)
qrels = st.dictionaries(
    st.sampled_from(NAMES[:6]), st.dictionaries(st.sampled_from(NAMES), st.integers(-1, 2), min_size=1), min_size=1
)
cliques = st.dictionaries(st.sampled_from(NAMES), st.sampled_from("ghi"), min_size=1)


def runs_of(systems):
    return runs_from_dict(
        {
            name: {query: {d: -float(rank) for rank, d in enumerate(documents)} for query, documents in answers.items()}
            for name, answers in systems.items()
        }
    )


def truth_of_cliques(group_of):
    return truth_from_cliques(Cliques(pl.DataFrame(list(group_of.items()), schema=["document", "group"], orient="row")))


def naive(runs: Runs, truth: GroundTruth):
    """The definition: (query, length, [(rank, row)]) of every list."""
    row_of = {
        (truth.queries[query], document): row
        for row, (query, document) in enumerate(zip(truth.query_of_row, truth.documents, strict=True))
    }
    elsewhere = set() if truth.elsewhere is None else set(truth.elsewhere)
    found = []
    for place, start in enumerate(runs.offsets[:-1]):
        query = runs.queries[runs.list_query[place]]
        documents = runs.documents[int(start) : int(runs.offsets[place + 1])].to_list()
        if query not in truth.queries:
            found.append((-1, len(documents), []))
            continue
        if truth.own_document:
            documents = [document for document in documents if document != query]
        hits = [
            (rank, row_of.get((query, document), -1))
            for rank, document in enumerate(documents, start=1)
            if (query, document) in row_of or document in elsewhere
        ]
        found.append((truth.queries.index(query), len(documents), hits))
    return found


def as_lists(matched: JudgedLists):
    return [
        (
            int(matched.query[place]),
            int(matched.length[place]),
            list(zip(matched.rank[start:stop].tolist(), matched.row[start:stop].tolist(), strict=True)),
        )
        for place, (start, stop) in enumerate(zip(matched.hits.offsets[:-1], matched.hits.offsets[1:], strict=True))
    ]


@given(systems, qrels)
def test_judgments(systems, qrels):
    runs, truth = runs_of(systems), truth_from_judgments(judgments_from_dict(qrels))
    matched = match(runs, truth)
    assert as_lists(matched) == naive(runs, truth)
    assert matched.size == len(matched.query) == runs.lengths.size
    gains = [max(truth.gain[row], 0) for _, _, hits in naive(runs, truth) for _, row in hits]
    assert matched.gain.tolist() == gains
    assert matched.judged.tolist() == [truth.gain[row] >= 0 for _, _, hits in naive(runs, truth) for _, row in hits]


@given(systems, cliques)
def test_cliques(systems, group_of):
    runs, truth = runs_of(systems), truth_of_cliques(group_of)
    matched = match(runs, truth)
    assert as_lists(matched) == naive(runs, truth)
    assert matched.gain.tolist() == [float(row >= 0) for _, _, hits in naive(runs, truth) for _, row in hits]
    assert matched.judged.all()
    assert matched.collection_size == len(group_of) - 1
    assert match(runs, truth, collection_size=99).collection_size == 99


def test_a_query_in_its_own_list_leaves_no_gap():
    runs = runs_of({"A": {"d0": ["d1", "d0", "d2", "x", "d3"]}})
    matched = match(runs, truth_of_cliques({"d0": "g", "d1": "h", "d2": "g", "d3": "h"}))
    # d2 is relevant, d1 and d3 are known not to be, and of x nothing is known.
    assert as_lists(matched) == [(0, 4, [(1, -1), (2, 0), (4, -1)])]
    assert matched.gain.tolist() == [0, 1, 0]


@given(systems, qrels, cliques, st.sampled_from([1, 4]))
def test_colliding_hashes_cost_time_but_never_a_wrong_answer(systems, qrels, group_of, distinct):
    real = hashing.text_keys

    def few_keys(texts):
        return real(texts) % np.uint64(distinct)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "text_keys", few_keys)
        for module in (matching, ground_truth):
            patch.setattr(module, "text_keys", few_keys)
        for truth in (truth_from_judgments(judgments_from_dict(qrels)), truth_of_cliques(group_of)):
            runs = runs_of(systems)
            assert as_lists(match(runs, truth)) == naive(runs, truth)


@given(systems, qrels)
def test_documents_in_pieces(systems, qrels):
    """Large runs are not moved together: every file stays one piece of memory."""
    parts = [runs_of({name: answers}) for name, answers in systems.items()]
    truth = truth_from_judgments(judgments_from_dict(qrels))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs_module, "_SMALL", 0)
        joined = join_runs(parts)
    assert joined.documents.n_chunks() == len(parts)
    assert as_lists(match(joined, truth)) == naive(joined, truth)


def test_no_list_for_any_known_query():
    runs = runs_of({"A": {"d0": ["d1"]}})
    matched = match(runs, truth_from_judgments(judgments_from_dict({"elsewhere": {"d1": 1}})))
    assert as_lists(matched) == [(-1, 1, [])]
    empty = match(runs, truth_of_cliques({"d0": "g", "d1": "h"}))
    assert as_lists(empty) == [(-1, 1, [])]
    assert (empty.gain.size, empty.judged.size) == (0, 0)


def test_cutoffs():
    runs = runs_of({"A": {"d0": ["d1", "d2", "d3"], "d1": ["d3"]}})
    matched = match(runs, truth_from_judgments(judgments_from_dict({"d0": {"d1": 1, "d3": 2}, "d1": {"d3": 1}})))
    assert matched.depth(2).tolist() == [2, 1]
    assert matched.depth(None).tolist() == [3, 1]
    assert matched.within(2).tolist() == [True, False, True]
    assert matched.within(None) is True


def test_many_samples_of_gains():
    runs = runs_of({"A": {"d0": ["d1", "d2", "d3"]}})
    matched = match(runs, truth_from_judgments(judgments_from_dict({"d0": {"d3": 2, "d1": 1, "d4": 0}})))
    rows = {document: row for row, document in enumerate(matched.truth.documents)}
    gains = np.zeros((2, 3))
    gains[:, rows["d1"]], gains[:, rows["d3"]] = [5, -1], [7, 8]
    sampled = matched.with_gains(gains)
    assert sampled.gain.tolist() == [[5, 7], [0, 8]]
    assert sampled.judged.tolist() == [[True, True], [False, True]]
