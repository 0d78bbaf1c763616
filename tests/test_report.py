"""Reports: the verdict is in words, nothing is fetched, and every number is one of the results."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.beliefs import uniform_beliefs
from earmark.beliefs.exact import estimate_linear
from earmark.campaign.appraisal import Inference, Verdict
from earmark.data.collection import Collection
from earmark.data.judgments import Judgments
from earmark.errors import InputError
from earmark.inference.audit import Audit
from earmark.inference.confidence import Ranking, rank_systems
from earmark.measures import registered
from earmark.report import Findings, Reproduction, find, report_html, say_verdict, write_assets, write_report
from earmark.report.assets import latex
from earmark.report.references import REFERENCES
from earmark.report.words import Tally, tallies

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """What a page says and asks for, with a complaint where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.asked: list[str] = []
        self.tags: set[str] = set()
        self.said = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href", "srcset", "data", "action"):
                self.asked.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.said += data


def ranking_of(lists: dict[str, str], judged: dict[str, int]) -> Ranking:
    runs = {name: {"q": {document: -rank for rank, document in enumerate(text)}} for name, text in lists.items()}
    collection = Collection.from_runs(earmark.runs_from_dict(runs))
    documents = collection.item_frame()["document"].to_list()
    beliefs = uniform_beliefs(collection, scale=earmark.BINARY)
    if judged:
        beliefs = beliefs.judge([documents.index(name) for name in judged], [float(gain) for gain in judged.values()])
    return rank_systems(estimate_linear(collection, beliefs, earmark.parse("AG@2")))


def findings_of(ranking: Ranking, **more: object) -> Findings:
    base = Findings(Verdict(ranking, "by the model"), Inference(), "uniform", "binary", True)
    return replace(base, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made() -> earmark.SyntheticCollection:
    return earmark.synthetic_collection(np.random.default_rng(0), systems=4, queries=12, documents=80)


@pytest.fixture(scope="module")
def findings(made: earmark.SyntheticCollection) -> Findings:
    few = made.judgments.frame.sample(40, seed=1)
    several = pl.concat([few.with_columns(assessor=pl.lit("ann")), few.head(15).with_columns(assessor=pl.lit("bob"))])
    judgments = Judgments.from_frame(
        several.select("query", "document", "gain", "assessor"), scale=made.judgments.scale
    )
    standing = earmark.stand(made.runs, judgments, measure="AG@5", metadata=made.metadata)
    how = Reproduction("earmark report runs.tsv -o <report>.html", [("runs.tsv", "0" * 64)], [("earmark", "1")])
    return find(standing, judgments=judgments, notes=["something to know"], reproduction=how)


@pytest.mark.parametrize(
    ("lists", "judged", "headline"),
    [
        ({"A": "ab", "B": "cd"}, {"a": 1, "b": 1, "c": 0, "d": 0}, "A is better than B: certain."),
        ({"A": "ab", "B": "cd"}, {"a": 1}, "A and B cannot be told apart yet."),
        ({"A": "ab", "B": "cd"}, {}, "A and B cannot be told apart yet."),
        ({"A": "ab"}, {}, "There is one system, A, and nothing to compare it with."),
        ({"A": "ab", "B": "ab"}, {"a": 1}, "All systems return the same where it counts: there is nothing to compare."),
        (
            {"A": "ab", "B": "cd", "C": "ef"},
            {"a": 1, "b": 1, "c": 0, "d": 0, "e": 0, "f": 1},
            "A is the best of 3 systems: it is certain to be better than C.",
        ),
        (
            {"A": "ab", "B": "cd", "C": "ef"},
            {"a": 1, "b": 1, "e": 0, "f": 0},
            "The best of 3 systems is A or B: they cannot be told apart yet.",
        ),
        ({"A": "ab", "B": "cd", "C": "ef"}, {"a": 1}, "The best of 3 systems may be any: A leads, but not surely."),
        (
            {"A": "ab", "B": "cd", "C": "ef", "D": "gh"},
            {"a": 1, "b": 1, "c": 1, "e": 1, "g": 0, "h": 0},
            "The best of 4 systems is A, B or C: A leads, but not surely.",
        ),
        ({"A": "ab", "B": "cd", "C": "ef"}, {}, "The best of 3 systems may be any: A, B and C lead together."),
    ],
)
def test_the_verdict_comes_first_and_in_words(lists: dict[str, str], judged: dict[str, int], headline: str) -> None:
    ranking = ranking_of(lists, judged)
    assert say_verdict(ranking).headline == headline
    page = Page(report_html(findings_of(ranking)))
    assert headline in page.said


def test_neighbours_are_told_apart_or_not() -> None:
    ranking = ranking_of({"A": "ab", "B": "ab", "C": "cd", "D": "ef"}, {"a": 1, "b": 1, "c": 0, "e": 0, "f": 0})
    said = say_verdict(ranking)
    assert [one.kind for one in said.neighbours] == ["equal", "decided", "open"]
    assert said.neighbours[0].text == "A and B return the same where it counts: no judgment can part them."
    assert re.fullmatch(r"B is better than C: \d+(\.\d)?% sure\.", said.neighbours[1].text)
    assert re.fullmatch(r"C and D cannot be told apart yet: \d\d% sure that C is better\.", said.neighbours[2].text)
    assert said.summary == "4 of 5 pairs of systems are decided at 95% confidence."
    assert tallies(ranking) == {"A": Tally(2, 0, 0), "B": Tally(2, 0, 0), "C": Tally(0, 1, 2), "D": Tally(0, 1, 2)}
    level = say_verdict(ranking_of({"A": "ab", "B": "cd"}, {})).neighbours[0]
    assert (level.kind, level.text) == ("open", "A and B are level: either may be better.")


def test_the_page_is_whole_and_asks_for_nothing(findings: Findings) -> None:
    text = report_html(findings)
    page = Page(text)
    assert text == report_html(findings)
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object"})
    # Within the page only: to its references, and from shapes of figures to their definitions.
    assert all(target.startswith("#") and target[1:] in page.ids for target in page.asked)
    assert not re.search(r"@import|url\((?!#)", text)
    for word in ("$", "nan", "None"):
        assert word not in page.said.replace(findings.reproduction.command, "")


def test_the_page_says_what_it_rests_on(findings: Findings) -> None:
    said = Page(report_html(findings)).said
    assert "40 of " in said
    assert "About these queries, by the model." in said
    assert "Something to know." in said
    assert "15 items judged by several assessors" in said
    assert "Krippendorff's alpha" in said
    assert "earmark report runs.tsv -o <report>.html" in said
    assert "J. Urbano, M. Schedl (2013). Minimal test collections" in said
    assert f"{findings.ranking.systems_frame()['estimate'][0]:.4f}" in said
    assert all(f">{name}<" in report_html(findings) for name in findings.ranking.estimates.systems)


def test_an_audit_that_fails_is_seen(findings: Findings) -> None:
    bad = Audit(60, 0.001, False, "system-2", 0.1, 0.1)
    page = report_html(replace(findings, audit=bad))
    assert '<p class="alarm">Audit on 60 sampled judgments: the model does NOT agree' in page
    assert 'class="alarm"' not in report_html(replace(findings, audit=replace(bad, agrees=True)))


def test_names_cannot_break_the_page() -> None:
    ranking = ranking_of({"<b>&$x$": "ab", "_b_%\\": "cd"}, {"a": 1})
    page = Page(report_html(findings_of(ranking)))
    assert "b" not in page.tags
    assert "<b>&$x$ and _b_%\\ cannot be told apart yet." in page.said


@pytest.mark.parametrize(
    ("inference", "words"),
    [
        (Inference(target="population"), "queries like these"),
        (Inference("design", whole_queries=True), "judged completely"),
        (Inference("design"), "with known probabilities"),
        (Inference(anytime=True), "at all looks together"),
    ],
)
def test_methods_follow_what_was_chosen(inference: Inference, words: str) -> None:
    ranking = ranking_of({"A": "ab", "B": "cd"}, {"a": 1})
    assert words in Page(report_html(findings_of(ranking, inference=inference, predictor="external"))).said


def test_the_model_is_audited_where_sampled_items_are_marked(made: earmark.SyntheticCollection) -> None:
    frame = made.judgments.frame.select("query", "document", "gain")
    marked = Judgments.from_frame(frame.with_columns(sampled=pl.lit(True)), scale=made.judgments.scale)
    standing = earmark.stand(made.runs, marked, measure="AG@5")
    found = find(standing, judgments=marked)
    assert found.audit is not None
    assert found.audit.agrees
    assert find(standing, Inference("design"), judgments=marked).verdict.sampled is not None
    assert found.agreement is None


def test_references_are_those_of_the_documentation() -> None:
    page = (Path(__file__).parents[1] / "docs" / "references.md").read_text()
    flat = " ".join(page.split())
    assert {measure.reference for measure in registered().values()} <= set(REFERENCES)
    for key, text in REFERENCES.items():
        assert f"### {key} {text}" in flat


def test_assets_are_the_same_numbers(findings: Findings, tmp_path: Path) -> None:
    written = write_assets(findings, tmp_path / "paper" / "figures")
    assert [path.name for path in written] == [
        "systems.csv",
        "pairs.csv",
        "systems.tex",
        "pairs.tex",
        "ranking.svg",
        "pairs.svg",
    ]
    assert sorted(path.name for path in written) == sorted(path.name for path in (tmp_path / "paper/figures").iterdir())
    systems = pl.read_csv(written[0])
    assert systems["estimate"].to_list() == findings.ranking.systems_frame()["estimate"].to_list()
    assert pl.read_csv(written[1])["confidence"].to_list() == findings.ranking.pairs_frame()["confidence"].to_list()
    table = written[2].read_text()
    assert table.startswith("\\begin{tabular}{rlrr}\n\\toprule\n & system & AG@5 & 95\\% interval \\\\\n")
    assert table.count("\\\\\n") == 1 + len(findings.ranking.estimates.systems)
    assert written[3].read_text().count("\\\\\n") == 1 + 6


def test_latex_prints_names_as_they_are() -> None:
    assert latex("a_b&c%{$}#~^\\") == r"a\_b\&c\%\{\$\}\#\textasciitilde{}\textasciicircum{}\textbackslash{}"


def test_files_are_written_whole_or_not_at_all(findings: Findings, tmp_path: Path) -> None:
    write_report(findings, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(InputError, match="expected an existing folder to write to"):
        write_report(findings, tmp_path / "nowhere" / "report.html")
    with pytest.raises(InputError, match="expected a folder to write to, got File exists"):
        write_assets(findings, tmp_path / "report.html")
