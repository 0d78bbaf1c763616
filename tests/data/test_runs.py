import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.runs import BadRow, Runs, build_runs, join_runs, sort_ids
from earmark.errors import InputError, ParameterError

SYSTEMS, QUERIES = ["A", "B"], ["q1", "q2", "10"]
# Byte order differs from a dictionary's and from that of UTF-16.
DOCUMENTS = ["a", "B", "b", "é", "z", "10", "9", "\uff5e", "\U0001d11e", "ab"]
# Equal as 32-bit floats are: the zeros, the two around 1, those below the smallest and above the largest float.
SCORES = [0.0, -0.0, 1.0, 1.0 + 1e-9, 0.5, -2.0, 1e-60, 1e300, 1e301, -1e300, 2.0**24, 2.0**24 + 1]

results = st.dictionaries(
    st.tuples(st.sampled_from(SYSTEMS), st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS)),
    st.sampled_from(SCORES),
    min_size=1,
    max_size=25,
)


def build(rows, *, order="score", score=True, rank=False):
    """Rows of (system, query, document, number)."""
    system, query, document, number = zip(*rows, strict=True)
    columns = {
        "system": pl.Series(system, dtype=pl.String),
        "query": pl.Series(query, dtype=pl.String),
        "document": pl.Series(document, dtype=pl.String),
    }
    numbers = np.array(number, dtype=np.float64)
    return build_runs(**columns, score=numbers if score else None, rank=numbers if rank else None, order=order)


def lists_of(runs: Runs):
    lists: dict[tuple[str, str], list[str]] = {}
    for system, query, document, rank in runs.to_polars().select("system", "query", "document", "rank").iter_rows():
        lists.setdefault((system, query), []).append(document)
        assert rank == len(lists[system, query])
    return lists


def ranked(scores):
    """trec_eval's order, by its definition: {document: score} to documents."""
    with np.errstate(over="ignore"):
        return sorted(scores, key=lambda name: (np.float32(scores[name]), name.encode()), reverse=True)


@given(results, st.randoms(use_true_random=False))
def test_lists_do_not_depend_on_the_order_of_lines(results, shuffler):
    rows = [(*key, score) for key, score in results.items()]
    shuffler.shuffle(rows)
    expected: dict[tuple[str, str], dict[str, float]] = {}
    for system, query, document, score in rows:
        expected.setdefault((system, query), {})[document] = score
    runs = build(rows)
    assert lists_of(runs) == {key: ranked(scores) for key, scores in expected.items()}
    assert set(runs.systems) == {row[0] for row in rows}
    assert set(runs.queries) == {row[1] for row in rows}
    assert (len(runs), runs.lengths.sum(), runs.offsets[-1]) == (len(rows),) * 3
    kept = runs.to_polars()
    with np.errstate(over="ignore"):
        for system, query, document, score in kept.select("system", "query", "document", "score").iter_rows():
            assert np.float32(results[system, query, document]) == np.float32(score)


@given(results)
def test_one_system_for_all_rows(results):
    rows = [("A", query, document, score) for (_, query, document), score in results.items()]
    rows = list({row[1:3]: row for row in rows}.values())
    _, query, document, score = zip(*rows, strict=True)
    runs = build_runs(system="A", query=pl.Series(query), document=pl.Series(document), score=np.array(score))
    assert lists_of(runs) == lists_of(build(rows))
    assert runs.systems == ("A",)


def test_a_large_run_in_any_order_of_lines():
    rng = random.Random(1)
    rows = [("A", f"q{i % 7}", f"d{i}", float(rng.randrange(40))) for i in range(20_000)]
    in_order = lists_of(build(rows))
    rng.shuffle(rows)
    assert lists_of(build(rows)) == in_order
    for query in range(7):
        scores = {document: score for _, name, document, score in rows if name == f"q{query}"}
        assert in_order["A", f"q{query}"] == ranked(scores)


@given(results)
def test_without_scores_the_order_of_rows_counts(results):
    rows = [(*key, 0.0) for key in results]
    expected: dict[tuple[str, str], list[str]] = {}
    for system, query, document, _ in rows:
        expected.setdefault((system, query), []).append(document)
    runs = build(rows, score=False)
    assert lists_of(runs) == expected
    assert runs.scores is None
    assert "score" not in runs.to_polars().columns


# Ranks that 32-bit floats cannot tell apart.
ranks = st.permutations([1.0, 2.0, 3.0, 2.0**24, 2.0**24 + 1, 2.0**24 + 2, -1.0, 0.0, 1.5, 2.0**53])


@given(st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1), ranks, st.booleans())
def test_ranks_give_the_order_where_they_are_trusted(documents, numbers, with_scores):
    rows = [("A", "q1", name, number) for name, number in zip(documents, numbers, strict=False)]
    expected = {("A", "q1"): [row[2] for row in sorted(rows, key=lambda row: row[3])]}
    # The same numbers as scores would give the opposite order.
    assert lists_of(build(rows, order="rank", score=with_scores, rank=True)) == expected
    assert lists_of(build(rows, score=False, rank=True)) == expected
    descending = {key: names[::-1] for key, names in expected.items()}
    with np.errstate(over="ignore"):
        if len({np.float32(row[3]) for row in rows}) == len(rows):
            assert lists_of(build(rows, order="score", rank=True)) == descending


def test_scores_stay_with_their_documents_when_ranks_give_the_order():
    frame = build([("A", "q", "x", 2.0), ("A", "q", "y", 1.0)], order="rank", rank=True).to_polars()
    assert frame.select("document", "rank", "score").rows() == [("y", 1, 1.0), ("x", 2, 2.0)]


def test_a_rank_twice_in_a_list():
    numbers = {"x": 1.0, "y": 2.0, "z": 2.0, "w": 1.0}
    rows = [("A", "q", name, rank) for name, rank in numbers.items()]
    rows.insert(1, ("A", "r", "x", 1.0))
    message = "every rank at most once in a list, got rank 2 twice in the list of system 'A' for query 'q'"
    with pytest.raises(BadRow, match=message) as bad:
        build(rows, order="rank", rank=True)
    assert bad.value.row == 3
    # Ranks that nobody trusts may be anything.
    assert len(build(rows, order="score", rank=True)) == 5


@given(st.lists(st.tuples(*map(st.sampled_from, (SYSTEMS, QUERIES, DOCUMENTS[:4])), st.just(1.0)), min_size=1))
def test_a_document_twice_in_a_list(rows):
    repeated = next((place for place, row in enumerate(rows) if row in rows[:place]), None)
    if repeated is None:
        assert len(build(rows)) == len(rows)
        return
    with pytest.raises(BadRow) as bad:
        build(rows)
    system, query, document, _ = rows[repeated]
    assert bad.value.row == repeated
    assert bad.value.expected == "every document at most once in a list"
    assert bad.value.got == f"'{document}' twice in the list of system '{system}' for query '{query}'"


def test_orders_that_cannot_be():
    rows = [("A", "q", "x", 1.0)]
    with pytest.raises(ParameterError, match="ordered by score or by rank, not by 'random'"):
        build(rows, order="random")
    with pytest.raises(InputError, match="expected ranks to order the lists by, got scores alone"):
        build(rows, order="rank")


# Selecting and joining


def some_runs():
    return build(
        [
            ("A", "q1", "x", 2.0),
            ("A", "q1", "y", 1.0),
            ("B", "q2", "x", 1.0),
            ("C", "q1", "y", 3.0),
            ("C", "q2", "z", 1.0),
        ]
    )


def test_selected_systems_come_in_the_order_asked_for():
    runs = some_runs()
    assert runs.systems == ("A", "B", "C")
    chosen = runs.select(["C", "A"])
    assert chosen.systems == ("C", "A")
    assert lists_of(chosen) == {key: names for key, names in lists_of(runs).items() if key[0] != "B"}
    assert chosen.scores is not None
    # Nobody who is left answers q2.
    assert runs.select(["A"]).queries == ("q1",)
    with pytest.raises(ParameterError, match="no system called 'D': there are A, B, C"):
        runs.select(["A", "D"])
    with pytest.raises(ParameterError, match="name at least one system"):
        runs.select([])
    assert runs.select(["A", "A"]).systems == ("A",)


def test_selected_queries():
    runs = some_runs()
    chosen = runs.select(["C", "A"], queries=["q1"])
    assert lists_of(chosen) == {key: names for key, names in lists_of(runs).items() if key[0] != "B" and key[1] == "q1"}
    with pytest.raises(ParameterError, match="no query called 'q7': there are q1, q2"):
        runs.select(queries=["q7"])


@given(results)
def test_selecting_all_systems_changes_nothing(results):
    runs = build([(*key, score) for key, score in results.items()])
    again = runs.select(runs.systems)
    assert lists_of(again) == lists_of(runs)
    assert (again.systems, again.queries) == (runs.systems, runs.queries)


def test_joining_runs_of_which_some_have_scores():
    plain = build([("P", "q9", "x", 0.0)], score=False)
    joined = join_runs([some_runs(), plain])
    assert joined.systems == ("A", "B", "C", "P")
    assert joined.queries == ("q1", "q2", "q9")
    assert joined.scores is None
    assert lists_of(joined) == lists_of(some_runs()) | lists_of(plain)
    with pytest.raises(InputError, match=r"'A' twice \(the same run given twice, or two runs with the same tag\?\)"):
        join_runs([some_runs(), some_runs()])


@given(results, st.data())
def test_leaving_out_is_the_same_as_lines_that_were_never_there(results, data):
    systems = data.draw(st.sets(st.sampled_from(SYSTEMS), max_size=1))
    queries = data.draw(st.sets(st.sampled_from(QUERIES), max_size=2))
    documents = data.draw(st.sets(st.sampled_from(DOCUMENTS), max_size=3))
    items = data.draw(st.sets(st.tuples(st.sampled_from(QUERIES), st.sampled_from(DOCUMENTS)), max_size=4))
    left = [
        (system, query, document, score)
        for (system, query, document), score in results.items()
        if not (system in systems or query in queries or document in documents or (query, document) in items)
    ]
    runs = build([(*key, score) for key, score in results.items()])
    removed = {"systems": systems, "queries": queries, "documents": documents, "items": items}
    if not left:
        with pytest.raises(ParameterError, match="nothing is left"):
            runs.without(**removed)
        return
    found, expected = runs.without(**removed), build(left)
    assert lists_of(found) == lists_of(expected)
    assert found.systems == tuple(name for name in runs.systems if name in expected.systems)
    assert found.queries == expected.queries
    of_result = zip(*found.to_polars().select("system", "query", "document"), strict=True)
    of_document = dict(zip(of_result, found.scores, strict=True))
    with np.errstate(over="ignore"):
        assert of_document == {key[:3]: np.float32(key[3]) for key in left}


def test_leaving_out_what_is_not_there_changes_nothing():
    runs = build([("A", "q1", "a", 1.0), ("A", "q1", "b", 0.5)])
    assert runs.without() is runs
    found = runs.without(systems={"X"}, queries={"q9"}, documents={"z"}, items={("q9", "a"), ("q1", "z")})
    assert lists_of(found) == lists_of(runs)


def test_documents_below_move_up():
    rows = [("A", "q1", name, score) for name, score in (("a", 3.0), ("b", 2.0), ("z", 1.0))]
    found = build([*rows, ("A", "q2", "a", 1.0), ("A", "q2", "z", 0.0)]).without(items={("q1", "a")})
    assert found.to_polars().select("query", "document", "rank").rows() == [
        ("q1", "b", 1),
        ("q1", "z", 2),
        ("q2", "a", 1),
        ("q2", "z", 2),
    ]


def test_other_names():
    renamed = some_runs().renamed(["x", "y", "z"])
    assert {system for system, _ in lists_of(renamed)} == {"x", "y", "z"}


def test_runs_in_words():
    assert str(some_runs()) == "3 systems, 2 queries, 5 results, lists of 1 to 2 documents"
    assert str(some_runs().select(["A"])) == "1 system, 1 query, 2 results, lists of 2 documents"
    assert "<b>Runs</b>: 3 systems" in some_runs()._repr_html_()


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["10", "9", "1", "09"], ("1", "09", "9", "10")),
        (["q10", "q9", "1"], ("1", "q10", "q9")),
        (["10", "-1", "9"], ("-1", "10", "9")),
        (["é", "z", "B", "a"], ("B", "a", "z", "é")),
        (["١", "2", "10"], ("10", "2", "١")),
        ([], ()),
    ],
)
def test_ids_are_sorted_as_numbers_if_all_of_them_are(ids, expected):
    assert sort_ids(ids) == expected
