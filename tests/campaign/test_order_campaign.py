"""Rankings of experts: groups, agreement, and what is said where there is little to say."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from earmark.campaign.order_campaign import RANKINGS, OrderCampaign, OrderProblem
from earmark.campaign.stopping import parse_stop
from earmark.crowd.partial_orders import groups_from_ranks
from earmark.crowd.ranking_agreement import kendall_w, mean_tau, ranks_with_cut
from earmark.inference.bounded_means import betting_interval, betting_intervals

DOCUMENTS = ("a", "b", "c", "d", "e")


def campaign(rows: list[tuple], queries: int = 1, **how: object) -> OrderCampaign:
    problem = OrderProblem({f"q{n}": DOCUMENTS for n in range(queries)}, **how)
    return OrderCampaign(problem, pl.DataFrame(rows, schema=RANKINGS, orient="row"))


def drawn(rng: np.random.Generator, query: str, expert: int, *, noise: float = 1.0, cut: int = 4) -> tuple:
    order = [DOCUMENTS[place] for place in np.argsort(np.arange(5) + rng.normal(0, noise, 5))]
    return query, f"expert {expert}", order, cut


def test_agreement_of_one_query_by_hand() -> None:
    rows = [("q0", "ann", list("abcde"), 3), ("q0", "bob", list("bacde"), 5), ("q0", "cid", list("edcba"), 0)]
    found = campaign(rows).look.estimates
    ranks = ranks_with_cut([list("abc"), list("bacde"), []], DOCUMENTS)
    row = found.queries.row(0, named=True)
    assert (row["tau"], row["w"]) == (pytest.approx(mean_tau(ranks)), pytest.approx(kendall_w(ranks)))
    assert (row["rankings"], row["documents"], row["similar"]) == (3, 5, pytest.approx(8 / 3))


def test_groups_are_those_of_the_ranks() -> None:
    rng = np.random.default_rng(0)
    rows = [drawn(rng, "q0", expert, noise=0.3) for expert in range(8)]
    found = campaign(rows).look.estimates
    assert found.groups is not None
    ranked = [row[2][: row[3]] for row in rows]
    documents = sorted(set().union(*ranked))
    expected = groups_from_ranks(ranks_with_cut(ranked, documents))
    got = dict(found.groups.frame.select("document", "group").iter_rows())
    assert got == dict(zip(documents, expected.tolist(), strict=True))
    assert found.queries["groups"][0] == len(set(expected)) > 1


def test_an_expert_who_finds_nothing_similar_has_no_say_in_groups_but_counts_in_agreement() -> None:
    rows = [("q0", "ann", list("abcde"), 2), ("q0", "bob", list("abcde"), 0)]
    found = campaign(rows)
    assert found.rankings_as_runs is None
    assert found.look.estimates.groups is None
    row = found.look.estimates.queries.row(0, named=True)
    assert (row["rankings"], row["groups"], row["tau"]) == (2, None, 0.0)


def test_the_mean_has_the_interval_of_a_confidence_sequence_in_the_order_of_second_rankings() -> None:
    rng = np.random.default_rng(2)
    queries = [f"q{n}" for n in range(30)]
    first = [drawn(rng, query, 0) for query in queries]
    second = [drawn(rng, query, 1) for query in reversed(queries)]
    found = campaign(first + second, 30).look.estimates
    by_query = dict(found.queries.select("query", "tau").iter_rows())
    values = np.array([by_query[query] for query in reversed(queries)])
    low, high = betting_interval((1 + values) / 2, truncation=0.75)
    assert found.tau.mean == pytest.approx(values.mean())
    assert (found.tau.low, found.tau.high) == (pytest.approx(2 * low - 1), pytest.approx(2 * high - 1))
    assert found.tau.queries == 30
    assert 0 <= found.w.low <= found.w.mean <= found.w.high <= 1
    assert found.sentence().startswith("Experts agree more than by chance: mean τ = ")


def test_nobody_and_one_expert_alone() -> None:
    nobody = campaign([], 3).look
    assert nobody.estimates.sentence() == "Nobody has put documents into order yet."
    assert (nobody.estimates.tau.mean, nobody.estimates.tau.low, nobody.estimates.tau.high) == (None, -1.0, 1.0)
    assert (nobody.estimates.w.mean, nobody.estimates.w.low, nobody.estimates.w.high) == (None, 0.0, 1.0)
    assert not nobody.decision.stop
    one = campaign([("q0", "ann", list("abcde"), 3)], 3).look
    assert one.estimates.queries.row(0) == ("q0", 5, 1, 3.0, None, None, None)
    assert one.estimates.tau.width == 2.0
    assert "agreement and groups need two rankings" in one.estimates.sentence()


def test_one_document_orders_nothing() -> None:
    rankings = pl.DataFrame([("q", "ann", ["a"], 1), ("q", "bob", ["a"], 1)], schema=RANKINGS, orient="row")
    found = OrderCampaign(OrderProblem({"q": ("a",)}), rankings).look.estimates
    assert found.queries.row(0) == ("q", 1, 2, 1.0, 1, None, None)
    assert found.tau.mean is None


def test_nobody_orders_anything() -> None:
    rows = [("q0", "ann", list("abcde"), 0), ("q0", "bob", list("edcba"), 0)]
    found = campaign(rows).look.estimates
    assert (found.tau.mean, found.w.mean) == (0.0, None)


def test_documents_that_left_and_unknown_queries_are_left_out() -> None:
    rows = [("q0", "ann", ["x", "a", "b"], 2), ("q0", "bob", ["a", "x", "b"], 3), ("gone", "ann", ["a"], 1)]
    found = campaign(rows)
    assert found.known["similar"].to_list() == [["a"], ["a", "b"]]
    assert found.look.answered == 2


def test_too_few_rankings_for_groups_are_told() -> None:
    rows = [("q0", name, list(order), 5) for name, order in (("ann", "abcde"), ("bob", "abdce"), ("cid", "bacde"))]
    found = campaign(rows).look.estimates
    assert "too few rankings to tell any documents apart" in found.notes()[0]
    enough = campaign([("q0", f"expert {place}", list("abcde"), 5) for place in range(8)]).look.estimates
    assert enough.queries["groups"][0] == 5
    assert not enough.notes()


@pytest.mark.parametrize(
    ("stop", "wanted"), [("budget:4", True), ("budget:5", False), ("width:2", True), ("width:0.1", False)]
)
def test_stop_rules(stop: str, wanted: bool) -> None:
    rng = np.random.default_rng(0)
    rows = [drawn(rng, f"q{n}", expert) for n in range(2) for expert in range(2)]
    found = campaign(rows, 3, stop=parse_stop(stop)).look
    assert found.decision.stop is wanted
    assert found.summary()["stop"] is wanted
    assert found.progress.name == stop.partition(":")[0]


def test_a_query_is_done_with_all_its_rankings() -> None:
    assert not campaign([("q0", "ann", list("abcde"), 3)], needed=2).look.decision.stop
    rows = [("q0", "ann", list("abcde"), 3), ("q0", "bob", list("abcde"), 3)]
    assert campaign(rows, needed=2).look.decision.stop


def test_coverage_of_the_mean_agreement_at_all_looks() -> None:
    rng = np.random.default_rng(4)
    # The truth by many queries, then campaigns in which somebody looks after every query.
    many = campaign([drawn(rng, f"q{n}", expert) for n in range(400) for expert in range(2)], 400).look.estimates
    taus = many.queries["tau"].to_numpy()
    wrong = 0
    for _ in range(100):
        values = (1 + rng.choice(taus, size=40)) / 2
        low, high = betting_intervals([values[:count] for count in range(1, 41)], truncation=0.75)
        wrong += not np.all((low <= (1 + taus.mean()) / 2) & ((1 + taus.mean()) / 2 <= high))
    assert wrong <= 12
