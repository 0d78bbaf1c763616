"""Reports of preferences, orders and lists: the verdict first, every number one of the results, nothing fetched."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.campaign.list_campaign import ANSWERS, ListCampaign, ListProblem
from earmark.campaign.order_campaign import RANKINGS, OrderCampaign, OrderProblem
from earmark.campaign.pairs.campaign import PairCampaign, PairProblem
from earmark.campaign.pairs.candidates import PairAnswers, make_candidates, make_design, pool_candidates
from earmark.campaign.pairs.precision import precision_so_far
from earmark.data.log import AnswerLog
from earmark.errors import InputError
from earmark.plots.kinds import orders_data, plot_orders, plot_shares, precision_data, shares_data, won_data
from earmark.report import Reproduction, gather_kind, kind_assets, kind_html, write_kind_report
from earmark.report.kinds import AnyKind, kind_tables

NAMES = ("<b>one</b>", "two & 2", "three")


def lists(queries: int = 30, systems: tuple[str, ...] = NAMES, *, answered: int = 70) -> ListCampaign:
    rng = np.random.default_rng(0)
    asked = [(f"q{query}", a, b) for query in range(queries) for a, b in combinations(sorted(systems), 2)]
    schema = {"query": pl.String, "a": pl.String, "b": pl.String}
    problem = ListProblem(systems, pl.DataFrame(asked, schema=schema, orient="row"), needed=2)
    choices = rng.choice(["a", "b", "same"], p=[0.8, 0.1, 0.1], size=answered)
    rows = [(*asked[place], "ann", choices[n]) for n, place in enumerate(rng.permutation(len(asked))[:answered])]
    return ListCampaign(problem, pl.DataFrame(rows, schema=ANSWERS, orient="row"))


def orders(queries: int = 12, experts: int = 5) -> OrderCampaign:
    rng = np.random.default_rng(1)
    documents = tuple(f"d<{n}>" for n in range(6))
    rows = [
        (f"q{query}", f"e{expert}", [documents[i] for i in np.argsort(np.arange(6) + rng.normal(0, 0.7, 6))], 5)
        for expert in range(experts)
        for query in range(queries)
    ]
    problem = OrderProblem({f"q{query}": documents for query in range(queries + 3)}, needed=5)
    return OrderCampaign(problem, pl.DataFrame(rows, schema=RANKINGS, orient="row"))


def preferences(answered: int = 60) -> PairCampaign:
    rng = np.random.default_rng(2)
    made = earmark.synthetic_collection(rng, systems=3, queries=10, documents=60)
    design = make_design(made.runs, make_candidates(pool_candidates(made.runs, k=3)), k=3)
    first, second, same = np.zeros((3, len(design.pairs)), dtype=np.int64)
    chosen = rng.permutation(len(design.pairs))[:answered]
    first[chosen] = rng.integers(0, 4, answered)
    second[chosen] = 3 - first[chosen]
    return PairCampaign(PairProblem(design, needed=3), PairAnswers(first, second, same))


CAMPAIGNS = {"lists": lists, "order": orders, "prefer": preferences}
EMPTY = {
    "lists": lambda: lists(answered=0),
    "alone": lambda: lists(systems=("one",), answered=0),
    "order": lambda: orders(queries=0),
    "one ranking": lambda: orders(experts=1),
    "prefer": lambda: preferences(answered=0),
}


def said(page: str) -> str:
    """Return the words of a page, without pictures and styles."""
    text = re.sub(r"<(svg|style).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


@pytest.mark.parametrize("kind", CAMPAIGNS)
def test_the_verdict_comes_first_and_nothing_is_fetched(kind: str, tmp_path: Path) -> None:
    campaign: AnyKind = CAMPAIGNS[kind]()
    how = Reproduction("earmark report study -o report.html", [("runs.tsv", "ab" * 32)], [("earmark", "1")])
    findings = gather_kind(campaign, reproduction=how)
    page = kind_html(findings)
    assert page == kind_html(findings)
    first = re.search(r"<h1>(.*?)</h1>", page, flags=re.DOTALL)
    assert first is not None
    headline = re.sub(r"<[^>]+>", "", first[1]).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert headline == findings.headline
    assert not re.search(r'(src|href)="(?!#)(?!data:)', page)
    assert "<b>one</b>" not in page
    words = said(page)
    for heading in ("Method", "References", "How to reproduce this report"):
        assert heading in words
    write_kind_report(findings, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == page


@pytest.mark.parametrize(
    ("kind", "authors"),
    [
        ("lists", ["Waudby-Smith and Ramdas 2024"]),
        ("order", ["Kendall 1945", "Kendall and Babington Smith 1939", "Typke and others (2005)"]),
        ("prefer", ["Stupar and Michel 2013", "Davidson 1970", "Aronow, Samii and Assenova 2015"]),
    ],
)
def test_methods_name_authors_and_years_and_list_them(kind: str, authors: list[str]) -> None:
    page = kind_html(gather_kind(CAMPAIGNS[kind]()))
    words = said(page)
    for author in authors:
        assert author in words
    cited = {int(number) for number in re.findall(r'href="#reference-(\d+)"', page)}
    listed = {int(number) for number in re.findall(r'id="reference-(\d+)"', page)}
    assert cited == listed == set(range(1, len(listed) + 1))


def test_numbers_of_lists_are_those_of_the_campaign() -> None:
    campaign = lists()
    words = said(kind_html(gather_kind(campaign)))
    for row in campaign.look.estimates.pairs_frame().to_dicts():
        assert f"{row['share']:.3f} {row['share_low']:.3f} to {row['share_high']:.3f}" in words
    for row in campaign.look.estimates.systems_frame().to_dicts():
        assert f"{row['estimate']:.3f} {row['low']:.3f} to {row['high']:.3f}" in words
    assert "was found to hold in simulations with up to three" in words


def test_orders_list_every_query_and_its_groups() -> None:
    campaign = orders()
    estimates = campaign.look.estimates
    words = said(kind_html(gather_kind(campaign)))
    for row in estimates.queries.to_dicts():
        assert f"{row['query']} {row['documents']}" in words
    assert f"{estimates.tau.mean:.3f} {estimates.tau.low:.3f} to {estimates.tau.high:.3f}" in words
    assert "d&lt;0&gt;" in words


def test_preferences_show_the_model_and_the_answered_pairs() -> None:
    campaign = preferences()
    words = said(kind_html(gather_kind(campaign)))
    for row in precision_so_far(campaign.problem.design, campaign.answers).to_dicts():
        assert f"{row['precision']:.3f} {row['low']:.3f} to {row['high']:.3f} {row['correct']} {row['pairs']}" in words
    assert "Neighbours in the ranking" in words


@pytest.mark.parametrize("kind", EMPTY)
def test_little_to_say_is_said(kind: str, tmp_path: Path) -> None:
    findings = gather_kind(EMPTY[kind]())
    page = re.sub(r"</?span[^>]*>", "", kind_html(findings))
    assert findings.headline in said(page).replace("&#39;", "'")
    assert kind_assets(findings, tmp_path)


@pytest.mark.parametrize("kind", CAMPAIGNS)
def test_assets_are_the_tables_and_the_figures(kind: str, tmp_path: Path) -> None:
    findings = gather_kind(CAMPAIGNS[kind]())
    written = {path.name: path for path in kind_assets(findings, tmp_path / "paper")}
    for name, frame in kind_tables(findings).items():
        assert pl.read_csv(written[f"{name}.csv"]).height == frame.height
        latex = written[f"{name}.tex"].read_text()
        assert latex.count("\\\\") == frame.height + 1
        assert "None" not in latex
        assert "two & 2" not in latex
    figures = {path for path in written if path.endswith(".svg")}
    assert (
        figures
        == {
            "lists": {"systems.svg", "shares.svg"},
            "order": {"agreement.svg"},
            "prefer": {"ranking.svg", "pairs.svg", "precision.svg"},
        }[kind]
    )
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a folder to write to"):
        kind_assets(findings, tmp_path / "file")


def test_changes_and_people_come_from_the_log() -> None:
    log = AnswerLog().with_events(
        {"kind": "answered", "query": "q0", "document": "A", "other": "B", "choice": "a", "assessor": "ann"},
        {"kind": "paused", "text": "lunch"},
    )
    words = said(kind_html(gather_kind(lists(), log=log)))
    assert "Who answered assessor answers ann 1" in words
    assert "paused (lunch)" in words
    assert "Who answered" not in said(kind_html(gather_kind(lists())))


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def test_pairs_are_drawn_with_the_winner_first() -> None:
    estimates = lists().look.estimates
    data = shares_data(estimates)
    assert (data["estimate"] >= 0.5).all()
    assert data["low"].is_sorted(descending=True)
    by_name = {(row["a"], row["b"]): row for row in estimates.pairs_frame().to_dicts()}
    for name, estimate, low, high, decided in data.iter_rows():
        a, b = name.split(" over ")
        row = by_name.get((a, b))
        if row is None:
            row = by_name[b, a]
            assert (estimate, low, high) == pytest.approx(
                (1 - row["share"], 1 - row["share_high"], 1 - row["share_low"])
            )
        else:
            assert (estimate, low, high) == (row["share"], row["share_low"], row["share_high"])
        assert decided == row["decided"] == (low > 0.5)
    assert won_data(estimates)["rank"].to_list() == [1, 2, 3]


def test_an_unanswered_pair_is_drawn_without_a_disc() -> None:
    estimates = lists(answered=0).look.estimates
    assert shares_data(estimates)["estimate"].null_count() == 3
    assert plot_shares(estimates).get_xlim() == (-0.02, 1.02)


def test_queries_without_agreement_are_not_drawn() -> None:
    estimates = orders().look.estimates
    data = orders_data(estimates)
    assert data["tau"].is_sorted(descending=True)
    assert data.height == estimates.tau.queries
    axes = plot_orders(estimates)
    assert sorted(axes.lines[-1].get_xdata()) == pytest.approx(sorted(data["tau"]))
    assert orders_data(orders(experts=1).look.estimates).height == 0


def test_systems_without_precision_are_not_drawn() -> None:
    frame = pl.DataFrame(
        {"system": ["A", "B", "C"], "precision": [0.5, None, 1.0], "low": [0.2, None, None], "high": [0.8, None, None]},
        schema_overrides={"precision": pl.Float64},
    ).with_columns(correct=pl.lit(1), pairs=pl.lit(2))
    assert precision_data(frame).select("system", "low", "high").rows() == [("A", 0.2, 0.8), ("C", 1.0, 1.0)]


def test_a_closed_campaign_does_not_go_on() -> None:
    campaign = lists()
    log = AnswerLog().with_table(pl.DataFrame({"kind": ["closed"]}))
    reopened = log.with_table(pl.DataFrame({"kind": ["opened"]}))
    for known, says in ((log, "The campaign is closed"), (reopened, "judging goes on")):
        page = kind_html(gather_kind(campaign, log=known))
        assert says in page
