"""Questions: none twice, every document covered, as many as asked for, drawn as they should be; files and packages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from earmark.crowd.benchmark import Benchmark, make_benchmark
from earmark.crowd.configuration import build_benchmark, example_config
from earmark.crowd.question_files import package_questions, read_questions, write_table
from earmark.crowd.questions import (
    QUESTION_COLUMNS,
    PossiblePairs,
    draw_questions,
    mix_traps,
    possible_pairs,
    question_ids,
    random_matching,
    times_asked,
    unfinished_questions,
)
from earmark.data.preferences import Preferences
from earmark.errors import InputError, ParameterError

KINDS = {"within": ("x", "x"), "across": ("x", "y")}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def benchmark_of(x: int, y: int, both: int = 0, queries: int = 2) -> Benchmark:
    """x documents of one category, y of another, and some of both."""
    rows = [(f"x{n}", "X") for n in range(x)] + [(f"y{n}", "Y") for n in range(y)]
    rows += [(f"z{n}", group) for n in range(both) for group in ("X", "Y")]
    frame = pl.DataFrame(rows, schema=("document", "group"), orient="row")
    return make_benchmark([f"q{n}" for n in range(queries)], frame, {"x": ["X"], "y": ["Y"]})


@st.composite
def pair_sets(draw: st.DrawFn) -> PossiblePairs:
    x, y, both = draw(st.integers(2, 6)), draw(st.integers(1, 5)), draw(st.integers(0, 2))
    return possible_pairs(benchmark_of(x, y, both, draw(st.integers(1, 3))), KINDS)


def keys(questions: pl.DataFrame) -> list[tuple[str, frozenset[str]]]:
    return [(query, frozenset((a, b))) for query, a, b in questions.select("query", "a", "b").iter_rows()]


# Pairs


def test_pairs_by_enumeration() -> None:
    benchmark = benchmark_of(2, 2, both=1)
    pairs = possible_pairs(benchmark, KINDS)
    member = {name: set() for name in benchmark.categories}
    for document, category in benchmark.table.select("document", "category").iter_rows():
        member[category].add(document)
    expected = {}
    for i, one in enumerate(benchmark.documents):
        for other in benchmark.documents[i + 1 :]:
            if {one, other} <= member["x"]:
                expected[one, other] = "within"
            elif (one in member["x"] and other in member["y"]) or (one in member["y"] and other in member["x"]):
                expected[one, other] = "across"
    names = benchmark.documents
    found = {
        (names[first], names[second]): pairs.kinds[kind]
        for first, second, kind in zip(pairs.first, pairs.second, pairs.kind, strict=True)
    }
    assert found == expected
    assert pairs.n_questions == 2 * len(expected)


def test_kinds_that_are_none() -> None:
    with pytest.raises(ParameterError, match="questions need at least one kind of pairs"):
        possible_pairs(benchmark_of(2, 2), {})
    with pytest.raises(ParameterError, match="kind 'odd' compares 'z', which is none of x, y"):
        possible_pairs(benchmark_of(2, 2), {"odd": ("x", "z")})


def test_questions_are_found_in_either_order_and_others_are_not() -> None:
    pairs = possible_pairs(benchmark_of(2, 1), KINDS)
    rows = [
        ("q0", "x0", "x1"),
        ("q0", "x1", "x0"),
        ("q1", "x1", "x0"),
        ("q0", "y0", "y0"),
        ("q", "x0", "x1"),
        ("q0", "x0", "w"),
    ]
    found = pairs.find(pl.DataFrame(rows, schema=("query", "a", "b"), orient="row"))
    assert found.tolist() == [0, 0, len(pairs), -1, -1, -1]


# Matching


@given(st.integers(2, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20), st.integers(0, 99))
def test_a_matching_is_what_taking_pairs_one_by_one_gives(size: int, edges: list[tuple[int, int]], seed: int) -> None:
    edges = [(min(edge), max(edge)) for edge in edges if edge[0] != edge[1] and max(edge) < size]
    first, second = (np.array([edge[side] for edge in edges], dtype=np.int64) for side in (0, 1))
    found = random_matching(first, second, size, rng=rng(seed))
    taken: set[int] = set()
    expected = []
    for place in rng(seed).permutation(len(edges)).tolist():
        if not {*edges[place]} & taken:
            expected.append(place)
            taken |= {*edges[place]}
    assert sorted(found.tolist()) == sorted(expected)


# Drawing


@given(pair_sets(), st.integers(0, 60), st.integers(0, 9), st.booleans())
def test_no_question_twice_and_as_many_as_there_are(pairs: PossiblePairs, n: int, seed: int, cover: bool) -> None:
    drawn = draw_questions(pairs, n, rng=rng(seed), cover=cover)
    assert drawn.columns == list(QUESTION_COLUMNS)
    assert drawn.height == min(n, pairs.n_questions)
    assert len(set(keys(drawn))) == drawn["question"].n_unique() == drawn.height
    assert (pairs.find(drawn) >= 0).all()
    assert (drawn["assessors"] == 6).all()


@given(pair_sets(), st.integers(0, 9))
def test_every_document_is_covered_with_few_questions(pairs: PossiblePairs, seed: int) -> None:
    drawn = draw_questions(pairs, rng=rng(seed))
    asked = times_asked(pairs.benchmark, drawn)
    can_be = np.zeros(len(pairs.benchmark.documents), dtype=bool)
    can_be[pairs.first] = can_be[pairs.second] = True
    assert np.all(asked[:, can_be] > 0)
    # A document that may be compared with nothing is not asked about.
    assert np.all(asked[:, ~can_be] == 0)
    # The fewest questions that cover all documents are as many as there are, less the pairs of the largest matching.
    edges = frozenset(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))
    fewest = np.count_nonzero(can_be) - largest_matching(edges)
    per_query = [part.height for part in drawn.partition_by("query")]
    assert all(fewest <= height <= 1.5 * fewest for height in per_query)


def largest_matching(edges: frozenset[tuple[int, int]]) -> int:
    """Try every edge of the first document, and leaving that document out."""
    if not edges:
        return 0
    document = min(edges)[0]
    without = frozenset(edge for edge in edges if document not in edge)
    best = largest_matching(without)
    for other in [edge[edge[0] == document] for edge in edges if document in edge]:
        if best == len({end for edge in edges for end in edge}) // 2:
            break
        best = max(best, 1 + largest_matching(frozenset(edge for edge in without if other not in edge)))
    return best


@settings(max_examples=50)
@given(pair_sets(), st.integers(0, 30), st.integers(0, 9))
def test_rounds_go_on_where_others_stopped(pairs: PossiblePairs, n: int, seed: int) -> None:
    generator = rng(seed)
    first = draw_questions(pairs, n, rng=generator)
    second = draw_questions(pairs, n, rng=generator, asked=first)
    assert not {*keys(first)} & {*keys(second)}
    last = draw_questions(pairs, rng=generator, asked=pl.concat([first, second]))
    asked = times_asked(pairs.benchmark, pl.concat([first, second, last]))
    assert np.array_equal(asked > 0, times_asked(pairs.benchmark, draw_questions(pairs, rng=generator)) > 0)
    everything = draw_questions(pairs, pairs.n_questions, rng=generator, asked=first, avoid=second)
    assert everything.height == pairs.n_questions - first.height - second.height
    assert not {*keys(everything)} & {*keys(first), *keys(second)}


def test_what_is_avoided_covers_nothing() -> None:
    pairs = possible_pairs(benchmark_of(4, 0, queries=1), {"within": ("x", "x")})
    first = draw_questions(pairs, 1, rng=rng())
    assert draw_questions(pairs, rng=rng(), asked=first).height == 1
    others = draw_questions(pairs, rng=rng(), avoid=first)
    assert times_asked(pairs.benchmark, others).min() == 1
    assert not {*keys(first)} & {*keys(others)}


def test_questions_and_sides_are_drawn_with_equal_chances() -> None:
    pairs = possible_pairs(benchmark_of(3, 2, queries=2), KINDS)
    asked = draw_questions(pairs, 3, rng=rng(5))
    counts = np.zeros(pairs.n_questions)
    swapped = 0
    repeats = 1500
    generator = rng(1)
    for _ in range(repeats):
        drawn = draw_questions(pairs, 4, rng=generator, asked=asked, cover=False)
        counts[pairs.find(drawn)] += 1
        swapped += int((drawn["a"] > drawn["b"]).sum())
    left = np.delete(counts, pairs.find(asked))
    assert counts.sum() == left.sum() == 4 * repeats
    expected = 4 * repeats / left.size
    # Chi-square with 14 degrees of freedom and less variance than that of independent draws: 42.6 has p = .0001.
    assert ((left - expected) ** 2 / expected).sum() < 42.6
    assert abs(swapped - 2 * repeats) < 4 * np.sqrt(4 * repeats / 4)


def test_the_paper_is_covered_by_its_questions() -> None:
    config = example_config()
    pairs = possible_pairs(build_benchmark(config), config.pairs)
    needed = draw_questions(pairs, rng=rng())
    # 470 · 25 / 2 if nothing is left over, and at most one of either clique of documents that may be compared is.
    assert 5875 <= needed.height <= 5875 + 25
    drawn = draw_questions(pairs, 5990, rng=rng())
    assert drawn.height == drawn["question"].n_unique() == 5990
    assert times_asked(pairs.benchmark, drawn).min() == 1
    assert set(drawn["kind"]) == set(config.pairs)
    assert draw_questions(pairs, 5990, rng=rng()).equals(drawn)
    assert not draw_questions(pairs, 5990, rng=rng(1)).equals(drawn)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"assessors": 0}, "a question needs at least one assessor, got 0"),
        ({"cover": False}, "say how many questions to draw, or cover every document"),
        ({"n": -1}, "the number of questions is 0 or more, got -1"),
    ],
)
def test_draws_that_are_refused(arguments: dict[str, int], message: str) -> None:
    pairs = possible_pairs(benchmark_of(2, 1), KINDS)
    with pytest.raises(ParameterError, match=message):
        draw_questions(pairs, rng=rng(), **arguments)


def test_nothing_to_compare() -> None:
    pairs = possible_pairs(benchmark_of(1, 1), {"within": ("x", "x")})
    with pytest.raises(
        ParameterError, match="there is nothing to ask: no two documents of the benchmark may be compar"
    ):
        draw_questions(pairs, 1, rng=rng())


# Asking again, and traps


def answers_to(questions: pl.DataFrame, people: list[int]) -> Preferences:
    rows = [
        (query, a, b, f"w{person}", "a")
        for (query, a, b), n in zip(questions.select("query", "a", "b").iter_rows(), people, strict=True)
        for person in range(n)
    ]
    return Preferences.from_frame(pl.DataFrame(rows, schema=("query", "a", "b", "assessor", "choice"), orient="row"))


def test_unfinished_questions_ask_for_as_many_as_are_missing() -> None:
    pairs = possible_pairs(benchmark_of(4, 2), KINDS)
    drawn = draw_questions(pairs, 5, rng=rng())
    answers = answers_to(drawn, [6, 5, 1, 6, 2])
    again = unfinished_questions(pairs, answers, rng=rng(3))
    found = dict(zip(again["question"], again["assessors"], strict=True))
    ids = drawn["question"].to_list()
    assert found == {ids[1]: 1, ids[2]: 5, ids[4]: 4}
    assert unfinished_questions(pairs, answers, rng=rng(), assessors=1).height == 0


@given(st.integers(0, 40), st.integers(1, 7), st.integers(0, 99))
def test_traps_are_questions_like_any_other(n: int, every: int, seed: int) -> None:
    pairs = possible_pairs(benchmark_of(6, 4), KINDS)
    generator = rng(seed)
    drawn = draw_questions(pairs, n, rng=generator)
    traps = draw_questions(pairs, 3, rng=generator, asked=drawn, cover=False).with_columns(trap=pl.lit("a"))
    mixed = mix_traps(drawn, traps, every=every, assessors=4, rng=generator)
    regular = mixed.filter(pl.col("trap").is_null())
    assert regular.drop("trap").equals(drawn)
    assert mixed.height - drawn.height == -(-drawn.height // every)
    known = dict(zip(traps["question"], traps["a"], strict=True))
    for question, a, b, assessors, trap in (
        mixed.filter(pl.col("trap").is_not_null()).select("question", "a", "b", "assessors", "trap").iter_rows()
    ):
        assert known[question] == (a if trap == "a" else b)
        assert assessors == 4


def test_ids_depend_on_the_question_alone() -> None:
    rows = [("q", "x", "y"), ("q", "y", "x"), ("q", "xy", ""), ("qx", "y", ""), ("q", "x", "z"), ("r", "x", "y")]
    ids = question_ids(pl.DataFrame(rows, schema=("query", "a", "b"), orient="row"))
    assert ids[0] == ids[1]
    assert ids.n_unique() == 5
    # Written down, so that files of questions stay valid.
    assert ids[0] == "34a1d1a974a1"


# Files


def drawn_questions(n: int = 5) -> pl.DataFrame:
    return draw_questions(possible_pairs(benchmark_of(5, 3), KINDS), n, rng=rng())


def test_questions_come_back_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    drawn = drawn_questions().with_columns(trap=pl.Series(["a", None, "b", None, None]), phase=pl.lit("2"))
    write_table(drawn, path)
    assert read_questions(path).equals(drawn.select("query", "a", "b", "phase", "trap"))
    with pytest.raises(ParameterError, match=r"questions.tsv: questions are written as .csv"):
        write_table(drawn, tmp_path / "questions.tsv")
    with pytest.raises(InputError, match="expected an existing folder to write to"):
        write_table(drawn, tmp_path / "none" / "questions.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,a\nq,x\n", r"asked.csv:1: expected columns query, a and b, got query, a \(no b\)"),
        ("query,a,b\nq,x,y\nq,,y\n", "asked.csv:3: expected a in every row, got nothing"),
        ("query,a,b,trap\nq,x,y,\nq,x,z,left\n", "asked.csv:3: expected a, b or same as trap, got 'left'"),
    ],
)
def test_tables_that_are_none_of_questions(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "asked.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_questions(path)


@given(st.integers(1, 30), st.integers(1, 7), st.lists(st.integers(1, 3), min_size=30, max_size=30))
def test_packages_hold_every_question_once(n: int, per_task: int, assessors: list[int]) -> None:
    questions = drawn_questions(n)
    questions = questions.with_columns(pl.Series("assessors", assessors[: questions.height]))
    tasks = package_questions(questions, per_task=per_task, media_url="m/{document}", query_url="q/{query}")
    counts = questions["assessors"].value_counts()["count"].to_list()
    assert tasks.height == sum(-(-count // per_task) for count in counts)
    places = [
        tasks.select(
            "assessors",
            *(
                pl.col(f"{name}_{place}").alias(name)
                for name in ("question", "query", "left", "right", "left_url", "right_url", "query_url")
            ),
        )
        for place in range(1, per_task + 1)
    ]
    filled = pl.concat(places).drop_nulls("question")
    assert sorted(filled.select("question", "query", "left", "right", "assessors").rows()) == sorted(
        questions.select("question", "query", "a", "b", "assessors").rows()
    )
    assert (filled["left_url"] == "m/" + filled["left"]).all()
    assert (filled["query_url"] == "q/" + filled["query"]).all()
    # Only the last task of every number of assessors may have empty places.
    assert tasks["question_1"].is_not_null().all()


def test_packages_say_nothing_of_traps_and_keep_ids_whole_in_addresses() -> None:
    questions = pl.DataFrame(
        {"question": ["1f"], "query": ["War & peace"], "a": ["a/b"], "b": ["ü"], "assessors": [6], "trap": ["a"]}
    )
    tasks = package_questions(questions, media_url="https://x.org/{document}.mp3", query_url="https://x.org/?q={query}")
    assert tasks.row(0, named=True) == {
        "assessors": 6,
        "question_1": "1f",
        "query_1": "War & peace",
        "left_1": "a/b",
        "right_1": "ü",
        "query_url_1": "https://x.org/?q=War%20%26%20peace",
        "left_url_1": "https://x.org/a%2Fb.mp3",
        "right_url_1": "https://x.org/%C3%BC.mp3",
    }
    with pytest.raises(ParameterError, match=r"as in https://example.org/\{document\}, got 'https://x.org'"):
        package_questions(questions, media_url="https://x.org")
    with pytest.raises(ParameterError, match="a task has at least one question, got 0"):
        package_questions(questions, per_task=0)


def test_no_questions_make_no_tasks() -> None:
    empty: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    tasks = package_questions(drawn_questions(3)[empty], per_task=2)
    assert tasks.height == 0
