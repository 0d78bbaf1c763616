"""Comparisons of lists: shares, intervals, rankings, and what is said where there is little to say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from earmark.campaign.list_campaign import ANSWERS, ListCampaign, ListProblem
from earmark.campaign.stopping import parse_stop
from earmark.errors import ParameterError
from earmark.inference.bounded_means import betting_interval

SYSTEMS = ("A", "B", "C")
Row = tuple[str, str, str, str, str]


def problem(systems: tuple[str, ...] = SYSTEMS, queries: int = 4, **how: object) -> ListProblem:
    rows = [(f"q{query}", a, b) for query in range(queries) for a, b in combinations(sorted(systems), 2)]
    questions = pl.DataFrame(rows, schema={"query": pl.String, "a": pl.String, "b": pl.String}, orient="row")
    return ListProblem(systems, questions, **how)


def campaign(rows: list[Row], of: ListProblem | None = None) -> ListCampaign:
    return ListCampaign(of or problem(), pl.DataFrame(rows, schema=ANSWERS, orient="row"))


def drawn(rng: np.random.Generator, of: ListProblem, count: int, chances: tuple[float, ...] = (0.6, 0.1, 0.1, 0.2)):
    asked = of.questions[rng.permutation(of.questions.height)[:count]]
    choices = rng.choice(["a", "same", "neither", "b"], p=chances, size=count)
    # Twelve people, in turn.
    return [
        (*row, f"person {place % 12}", choice)
        for place, (row, choice) in enumerate(zip(asked.iter_rows(), choices, strict=True))
    ]


def test_shares_by_hand() -> None:
    rows = [
        ("q0", "A", "B", "ann", "a"),
        ("q0", "A", "B", "bob", "neither"),
        ("q1", "A", "B", "ann", "b"),
        ("q1", "A", "C", "ann", "a"),
        ("q2", "A", "C", "ann", "same"),
        ("q2", "A", "C", "bob", "same"),
    ]
    found = campaign(rows).look.estimates
    pairs = {(row["a"], row["b"]): row for row in found.pairs_frame().to_dicts()}
    assert pairs["A", "B"]["share"] == (0.75 + 0) / 2
    assert pairs["A", "B"]["difference"] == pytest.approx(-0.25)
    assert pairs["A", "C"]["share"] == (1 + 0.5) / 2
    assert (pairs["A", "C"]["queries"], pairs["A", "C"]["answers"], pairs["A", "C"]["asked"]) == (2, 3, 4)
    expected = {"A": (0.375 + 0.75) / 2, "B": (0.625 + 0.5) / 2, "C": (0.25 + 0.5) / 2}
    rows_of = {row["system"]: row for row in found.systems_frame().to_dicts()}
    assert {name: row["estimate"] for name, row in rows_of.items()} == pytest.approx(expected)
    assert (rows_of["A"]["rank"], rows_of["B"]["rank"], rows_of["C"]["rank"]) == (1, 1, 3)


def test_a_pair_without_an_answer_is_unknown_and_not_a_number_that_is_none() -> None:
    found = campaign([("q0", "A", "B", "ann", "a")]).look
    unanswered = found.estimates.pairs_frame().filter(pl.col("answers") == 0)
    assert unanswered["share"].to_list() == [None, None]
    assert unanswered.select("low", "high", "share_low", "share_high").row(0) == (-1.0, 1.0, 0.0, 1.0)
    assert found.estimates.widest == 1.0
    assert np.isfinite(found.estimates.estimate).all()


def test_no_answers_at_all() -> None:
    found = campaign([]).look
    assert found.estimates.estimate.tolist() == [0.5, 0.5, 0.5]
    assert found.estimates.rank.tolist() == [1, 1, 1]
    assert (found.judged, found.answered, found.items) == (0, 0, 12)
    assert found.estimates.sentence() == "Nobody has compared the lists of the 3 systems yet."
    assert not found.decision.stop
    assert found.estimates.mean_confidence == 0.5


def test_one_query_excludes_nothing() -> None:
    found = campaign([("q0", "A", "B", f"person {n}", "a") for n in range(30)], problem(("A", "B"), queries=1)).look
    assert found.estimates.pairs_frame().select("share", "share_low", "share_high").row(0) == (1.0, 0.0, 1.0)
    assert found.decision.stop, "everything is answered"


def test_one_system_and_systems_with_the_same_lists() -> None:
    alone = campaign([], problem(("A",))).look
    assert alone.estimates.sentence() == "There is one system, A, and nothing to compare it with."
    assert alone.estimates.widest == 0.0
    assert alone.decision.stop
    assert alone.estimates.mean_confidence is None
    alike = ListProblem(("A", "B", "C"), problem(("A", "C")).questions)
    found = ListCampaign(alike, pl.DataFrame([("q0", "A", "C", "ann", "a")], schema=ANSWERS, orient="row")).look
    assert found.estimates.identical == (("A", "B"), ("B", "C"))
    assert found.estimates.pairs_frame().height == 1
    assert "lists never differ, not compared: A and B" in found._summary().notes


def test_answers_of_several_people_count_as_one_query() -> None:
    once = campaign([(f"q{n}", "A", "B", "ann", "a") for n in range(4)]).look.estimates
    often = campaign([(f"q{n}", "A", "B", who, "a") for n in range(4) for who in ("ann", "bob", "cid")]).look.estimates
    assert often.these_low[0] == once.these_low[0]
    assert often.answers[0] == 12
    assert often.assessors.tolist() == [3, 0, 0]


def test_two_systems_that_many_people_compare_are_decided() -> None:
    of = problem(("A", "B"), queries=90)
    rows = drawn(np.random.default_rng(3), of, 90, (0.8, 0.1, 0.0, 0.1))
    found = campaign(rows, of).look.estimates
    won = [{"a": 1.0, "b": 0.0}.get(row[4], 0.5) for row in rows]
    assert (found.these_low[0], found.these_high[0]) == pytest.approx(betting_interval(won))
    assert found.pair_low[0] <= found.these_low[0]
    assert found.decided[0]
    assert found.sentence() == "A is better than B."
    assert found.confidence[0] >= 0.95


def test_one_person_speaks_for_nobody_else() -> None:
    of = problem(("A", "B"), queries=90)
    rows = [(*row[:3], "ann", row[4]) for row in drawn(np.random.default_rng(3), of, 90, (0.8, 0.1, 0.0, 0.1))]
    found = campaign(rows, of).look.estimates
    assert not found.decided.any()
    assert found.preferred_here.all()
    assert (found.pair_low[0], found.pair_high[0]) == (0.0, 1.0)
    assert found.sentence() == "A is preferred to B by 1 person: too few or too different to speak for others."
    assert found.notes() == ["1 person prefers A to B; whether others do is open: that takes more people"]


def test_what_each_person_prefers() -> None:
    rows = [("q0", "A", "B", "ann", "a"), ("q1", "A", "B", "ann", "same"), ("q0", "A", "B", "bob", "b")]
    people = campaign(rows).look.estimates.people
    assert people.select("assessor", "share", "answers").rows() == [("ann", 0.75, 2), ("bob", 0.0, 1)]


def test_the_interval_of_a_system_is_the_mean_of_those_of_its_pairs_which_hold_together() -> None:
    of = problem(queries=40)
    rows = drawn(np.random.default_rng(0), of, 100)
    found = campaign(rows, of).look.estimates
    alone = campaign(rows, problem(queries=40, level=1 - 0.05 / 3)).look.estimates
    assert np.all(alone.pair_high - alone.pair_low > found.pair_high - found.pair_low)
    assert (found.low[0], found.high[0]) == pytest.approx((found.pair_low[:2].mean(), found.pair_high[:2].mean()))
    two = [row for row in rows if row[1:3] == ("A", "B")]
    by_itself = campaign(two, problem(("A", "B"), queries=40, level=1 - 0.05 / 3)).look.estimates
    assert (by_itself.pair_low[0], by_itself.pair_high[0]) == pytest.approx((found.pair_low[0], found.pair_high[0]))
    assert np.all((found.low <= found.estimate) & (found.estimate <= found.high))


@pytest.mark.parametrize("sort", [lambda row: row[4], lambda row: row[3], lambda row: row[0]])
def test_at_one_look_the_order_of_answers_changes_nothing(sort) -> None:
    of = problem(queries=40, anytime=False)
    rows = drawn(np.random.default_rng(5), of, 110)
    found, other = (campaign(answers, of).look.estimates for answers in (rows, sorted(rows, key=sort)))
    for name in ("estimate", "low", "high", "pair_low", "pair_high", "these_low", "these_high", "confidence"):
        np.testing.assert_allclose(getattr(found, name), getattr(other, name), rtol=1e-12)


def test_names_and_their_order_change_nothing() -> None:
    of = problem(queries=40)
    rows = drawn(np.random.default_rng(1), of, 90)
    found = campaign(rows, of).look.estimates
    # A becomes Z: it is then the second system of its pairs, and what it won is what the first one lost.
    renamed, turned = {"A": "Z", "B": "B", "C": "C"}, {"a": "b", "b": "a", "same": "same", "neither": "neither"}

    def other(row: Row) -> Row:
        query, a, b, who, choice = row
        a, b = renamed[a], renamed[b]
        return (query, a, b, who, choice) if a < b else (query, b, a, who, turned[choice])

    again = campaign([other(row) for row in rows], problem(("Z", "B", "C"), queries=40)).look.estimates
    np.testing.assert_allclose(again.estimate, found.estimate)
    np.testing.assert_allclose(again.low, found.low)
    assert again.rank.tolist() == found.rank.tolist()


def test_answers_to_other_questions_are_left_out() -> None:
    found = campaign([("q0", "A", "B", "ann", "a"), ("gone", "A", "B", "ann", "b"), ("q0", "A", "X", "ann", "b")]).look
    assert (found.answered, found.judged) == (1, 1)


def test_a_choice_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="a, b, same or neither as choice, got 'left'"):
        campaign([("q0", "A", "B", "ann", "left")]).look  # noqa: B018 - computed on access


def test_questions_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ParameterError, match="'C', which is not one of the systems"):
        ListProblem(("A", "B"), problem().questions)
    with pytest.raises(ParameterError, match="in the order of their names"):
        ListProblem(("A", "B"), pl.DataFrame({"query": ["q"], "a": ["B"], "b": ["A"]}))


@pytest.mark.parametrize(
    ("stop", "wanted"), [("budget:5", True), ("budget:6", False), ("width:1", True), ("none", False)]
)
def test_stop_rules(stop: str, wanted: bool) -> None:
    rows = [(f"q{n % 4}", "A", "B", f"person {n}", "a") for n in range(5)]
    found = campaign(rows, problem(stop=parse_stop(stop)))
    assert found.look.decision.stop is wanted
    assert found.look.summary()["reason"] == found.look.decision.reason


def test_a_question_counts_as_done_with_all_its_answers() -> None:
    two = problem(("A", "B"), queries=1, needed=2)
    assert not campaign([("q0", "A", "B", "ann", "a")], two).look.decision.stop
    assert campaign([("q0", "A", "B", "ann", "a"), ("q0", "A", "B", "bob", "b")], two).look.decision.stop


def test_who_leads_is_said_in_words() -> None:
    of = problem(queries=80)

    # A beats C clearly, and B nearly as often as B beats A.
    def compared(a: str, b: str, lost: int) -> list[Row]:
        # Fifteen people; every so many queries are lost.
        return [(f"q{n}", a, b, f"person {n % 15}", "a" if n % lost else "b") for n in range(80)]

    sure, even, close = compared("A", "C", 8), compared("A", "B", 2), compared("B", "C", 2)
    said = campaign(sure + even + close, of).look.estimates.sentence()
    assert said == "A is first of 3 systems: it is better than C; it cannot be told apart yet from B."
    assert campaign(even + close, of).look.estimates.sentence().endswith("no difference is decided yet.")
    clear = compared("A", "B", 8)
    assert campaign(sure + clear, of).look.estimates.sentence() == (
        "A is the best of 3 systems: it is better than every other one."
    )
