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
from earmark.beliefs.exact_estimates import estimate_linear
from earmark.campaign.forecast import Forecast, PairForecast
from earmark.campaign.statements import Tally, how_many, rounded, say_forecast, say_verdict, tallies
from earmark.campaign.verdict import Inference, Verdict
from earmark.data.collection import Collection
from earmark.data.judgments import Judgments
from earmark.errors import InputError
from earmark.inference.audit import Audit
from earmark.inference.confidence import Ranking, rank_systems
from earmark.measures import registered
from earmark.report import (
    Figure,
    Findings,
    Reproduction,
    gather_findings,
    report_html,
    write_assets,
    write_report,
)
from earmark.report.page import references

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """What a page says and asks for, with a complaint where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.asked: list[str] = []
        self.tags: set[str] = set()
        self.classes: set[str] = set()
        self.said = ""
        self.feed(text)
        # Where a line of a template ends is no part of what is said.
        self.said = " ".join(self.said.split())
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "class":
                self.classes.update((value or "").split())
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
        beliefs = beliefs.with_judgments(
            [documents.index(name) for name in judged], [float(gain) for gain in judged.values()]
        )
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
    campaign = earmark.Campaign.build(made.runs, judgments, measure="AG@5", metadata=made.metadata)
    how = Reproduction("earmark report runs.tsv -o <report>.html", [("runs.tsv", "0" * 64)], [("earmark", "1")])
    return gather_findings(campaign, notes=["something to know"], reproduction=how)


@pytest.mark.parametrize(
    ("lists", "judged", "headline"),
    [
        ({"A": "ab", "B": "cd"}, {"a": 1, "b": 1, "c": 0, "d": 0}, "A is better than B: certain."),
        ({"A": "ab", "B": "cd"}, {"a": 1}, "A and B cannot be told apart yet."),
        ({"A": "ab", "B": "cd"}, {}, "A and B cannot be told apart yet."),
        ({"A": "ab"}, {}, "There is one system, A, and nothing to compare it with."),
        (
            {"A": "ab", "B": "ab"},
            {"a": 1},
            "All systems return the same results within the cutoff: there is nothing to compare.",
        ),
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
        (
            {"A": "ab", "B": "cd", "C": "ef"},
            {"a": 1},
            "No system is clearly the best of 3 yet: A has the highest estimate.",
        ),
        (
            {"A": "ab", "B": "cd", "C": "ef", "D": "gh"},
            {"a": 1, "b": 1, "c": 1, "e": 1, "g": 0, "h": 0},
            "The best of 4 systems is A, B or C: A has the highest estimate.",
        ),
        (
            {"A": "ab", "B": "cd", "C": "ef"},
            {},
            "No system is clearly the best of 3 yet: A, B and C share the highest estimate.",
        ),
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
    assert said.neighbours[0].text.startswith("A and B return the same results")
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
    assert "2 assessors gave 55 judgments." in said
    assert "15 items were judged by several of them." in said
    assert "How well the model predicts" in said
    assert "Krippendorff's alpha" in said
    assert "earmark report runs.tsv -o <report>.html" in said
    assert "J. Urbano, M. Schedl (2013). Minimal test collections" in said
    assert f"{findings.ranking.systems_frame()['estimate'][0]:.4f}" in said
    assert all(f">{name}<" in report_html(findings) for name in findings.ranking.estimates.systems)


def test_intervals_for_repeated_looks_stand_beside_those_of_one_look(made: earmark.SyntheticCollection) -> None:
    rows = made.judgments.frame.sample(110, seed=1).select("query", "document", "gain")

    def found_from(judged: int) -> Findings:
        judgments = Judgments.from_frame(rows.head(judged), scale=made.judgments.scale)
        campaign = earmark.Campaign.build(made.runs, judgments, measure="AG@5", metadata=made.metadata)
        return gather_findings(campaign, forecast=False)

    found = found_from(110)
    assert found.lasting is not None
    assert (found.lasting.low < found.ranking.low).all()
    assert (found.lasting.high > found.ranking.high).all()
    once, twice = report_html(replace(found, lasting=None)), report_html(found)
    for row in found.lasting.systems_frame().to_dicts():
        wide = f"{row['low']:.4f} to {row['high']:.4f}"
        assert wide in twice
        assert wide not in once
    # With fewer judgments than that there is no guarantee, and nothing is claimed.
    assert found_from(50).lasting is None


def test_nothing_is_called_decided_beside_a_bound_below_nothing(made: earmark.SyntheticCollection) -> None:
    rows = made.judgments.frame.sample(110, seed=1).select("query", "document", "gain")
    judgments = Judgments.from_frame(rows, scale=made.judgments.scale)
    campaign = earmark.Campaign.build(made.runs, judgments, measure="AG@5", metadata=made.metadata)
    page = report_html(gather_findings(campaign, forecast=False))
    section = page[page.index('<section id="pairs">') :]
    section = section[: section.index("</section>")]
    cells = [re.findall("<td[^>]*>(.*?)</td>", row) for row in section.split("<tr>")[2:]]
    assert {row[-1] for row in cells} >= {"decided", "open"}
    for _, _, difference, bound, lasting, _, word in cells:
        assert difference.startswith("+")
        assert bound.startswith("−") == (word == "open")
        assert not (word == "decided" and lasting.startswith("−"))
        assert word != "decided at this look" or lasting.startswith("−")


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
    campaign = earmark.Campaign.build(made.runs, marked, measure="AG@5")
    found = gather_findings(campaign)
    assert found.audit is not None
    assert found.audit.agrees
    by_design = earmark.Campaign.build(made.runs, marked, measure="AG@5", inference=Inference("design"))
    assert gather_findings(by_design).verdict.sampled is not None
    assert found.agreement is None


def test_references_are_those_of_the_documentation() -> None:
    page = (Path(__file__).parents[1] / "docs" / "references.md").read_text()
    flat = " ".join(page.split())
    assert {measure.reference for measure in registered().values()} <= set(references())
    for key, text in references().items():
        assert f"### {key} {text}" in flat


def test_assets_are_the_same_numbers(findings: Findings, tmp_path: Path) -> None:
    own = Figure("Confidence & accuracy", "while judging", "<svg>1</svg>")
    written = write_assets(
        replace(findings, figures=[own, ("pairs", "", "<svg>2</svg>")]), tmp_path / "paper" / "figures"
    )
    folder = tmp_path / "paper" / "figures"
    assert {path.name for path in written} == {path.name for path in folder.iterdir()}
    assert {path.name for path in written} == {
        *(f"{name}.csv" for name in ("systems", "pairs", "forecast", "calibration", "assessors", "assessor-pairs")),
        *(f"{name}.tex" for name in ("systems", "pairs", "forecast", "calibration", "assessors")),
        *(f"{name}.svg" for name in ("ranking", "pairs", "forecast", "calibration", "assessors")),
        "confidence-accuracy.svg",
        "pairs-2.svg",
    }
    assert (folder / "pairs-2.svg").read_text() == "<svg>2</svg>"
    ranking, forecast, assessors = findings.ranking, findings.forecast, findings.assessors
    assert forecast is not None
    assert assessors is not None
    assert findings.calibration is not None
    read = {path.stem: pl.read_csv(path) for path in written if path.suffix == ".csv"}
    assert read["systems"]["estimate"].to_list() == ranking.systems_frame()["estimate"].to_list()
    assert read["pairs"]["confidence"].to_list() == ranking.pairs_frame()["confidence"].to_list()
    assert read["forecast"]["even"].to_list() == forecast.frame()["even"].to_list()
    assert read["assessors"]["bias"].to_list() == assessors["bias"].to_list()
    assert read["calibration"]["predicted"].to_list() == findings.calibration.frame["predicted"].to_list()
    rows = {"systems": 4, "pairs": 6, "forecast": len(forecast.pairs), "assessors": 2, "calibration": 4}
    for name, count in rows.items():
        check_latex((folder / f"{name}.tex").read_text(), rows=count)
    assert (
        (folder / "systems.tex")
        .read_text()
        .startswith("\\begin{tabular}{rlrr}\n\\toprule\n & system & AG@5 & 95\\% interval \\\\\n")
    )


def check_latex(text: str, *, rows: int) -> None:
    """Every row has as many cells as there are columns, and whatever LaTeX would take for a command is one."""
    lines = text.splitlines()
    begun = re.fullmatch(r"\\begin\{tabular\}\{([lr]+)\}", lines[0])
    assert begun is not None
    assert (lines[1], lines[3], *lines[-2:]) == ("\\toprule", "\\midrule", "\\bottomrule", "\\end{tabular}")
    cells = [line for line in lines if line.endswith(r" \\")]
    assert len(cells) == rows + 1 == len(lines) - 5
    for line in cells:
        bare = re.sub(r"\\(?:[_&%$#{},\\]|[a-z]+\{\})", "", line)
        assert len(re.findall("&", bare)) == len(begun[1]) - 1
        assert not re.search(r"[\\_%#~^<>|]", bare)
        assert not bare.startswith(("[", "*"))
        assert bare.count("{") == bare.count("}")
        assert bare.count("$") % 2 == 0


def test_latex_prints_names_as_they_are(tmp_path: Path) -> None:
    ranking = ranking_of({"[a] & *": "ab", "<b>_x%$": "cd", "~^#\\{}|": "ef"}, {"a": 1, "e": 0})
    written = write_assets(findings_of(ranking), tmp_path)
    assert [path.name for path in written] == [
        "systems.csv",
        "systems.tex",
        "pairs.csv",
        "pairs.tex",
        "ranking.svg",
        "pairs.svg",
    ]
    for name in ("systems", "pairs"):
        check_latex((tmp_path / f"{name}.tex").read_text(), rows=3)


def test_files_are_written_whole_or_not_at_all(findings: Findings, tmp_path: Path) -> None:
    write_report(findings, tmp_path / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(InputError, match="expected an existing folder to write to"):
        write_report(findings, tmp_path / "nowhere" / "report.html")
    with pytest.raises(InputError, match="expected a folder to write to, got File exists"):
        write_assets(findings, tmp_path / "report.html")


def test_sections_are_those_of_a_paper_and_words_are_explained(findings: Findings) -> None:
    text = report_html(findings)
    titles = re.findall("<h2>(.*?)</h2>", text)
    expected = ["Ranking", "Pairwise comparisons", "Method", "Glossary"]
    assert [title for title in titles if title in expected] == expected
    glossary = text[text.index('id="glossary"') :]
    for word in ("confidence", "interval", "decided", "judged item", "predictor", "sampled judgments"):
        assert f"<dt>{word}</dt>" in glossary
    assert "<details><summary>" in glossary
    assert text.index('href="#glossary"') < text.index("<h2>Ranking</h2>")


def test_every_cell_knows_the_title_of_its_column_for_phones(findings: Findings) -> None:
    text = report_html(findings)
    cells = re.findall("<td[^>]*>", text)
    assert cells
    assert all("data-title=" in cell for cell in cells)
    for name in ("system", "confidence", "at least"):
        assert f'data-title="{name}"' in text
    # Figures are not shrunk until nobody can read them: they scroll, and say so.
    assert text.count("<svg") == text.count("Scroll sideways")


# Remaining effort.


def pair(
    a: str, b: str, *, even: int | None, likely: int | None = None, left: int = 100, **more: object
) -> PairForecast:
    """A path that reaches an even chance, and nine in ten, after so many judgments."""
    judgments = np.arange(left + 1)
    chance = np.zeros(left + 1)
    for count, reached in ((even, 0.5), (likely, 0.9)):
        if count is not None:
            chance[count:] = reached
    base = PairForecast(a, b, 0.7, left, judgments, chance, float(chance[-1]))
    return replace(base, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "near"),
    [(0, 0), (1, 5), (5, 5), (6, 10), (46, 50), (51, 60), (57, 60), (200, 200), (201, 250), (999, 1000), (1001, 1100)],
)
def test_numbers_of_judgments_are_rounded_up(count: int, near: int) -> None:
    assert rounded(count) == near


def test_a_number_that_comes_to_all_is_said_so() -> None:
    assert how_many(57, 310) == "about 60"
    assert how_many(308, 310) == "nearly all 310"


@pytest.mark.parametrize(
    ("found", "inference", "words"),
    [
        (pair("C", "D", even=57, likely=83), Inference(), "60 to 90 more judgments"),
        (pair("C", "D", even=57, likely=83), Inference("design"), "60 to 90 more sampled judgments"),
        (pair("C", "D", even=57, likely=98), Inference(), "60 to 100 more judgments"),
        (pair("C", "D", even=57, likely=58), Inference(), "about 60 more judgments"),
        (pair("C", "D", even=57), Inference(), "60 or more further judgments"),
        (pair("C", "D", even=98), Inference(), "nearly all of the 100 judgments that are left"),
        (pair("C", "D", even=None), Inference(), "even all 100 judgments that are left would probably not be enough"),
        (
            pair("C", "D", even=None),
            Inference(target="population"),
            "even all 100 judgments that are left would probably not be enough: it takes more queries",
        ),
        (
            pair("C", "D", even=None, exact=False),
            Inference(),
            "even one more judgment of all 100 items in which they differ would probably not be enough",
        ),
        (pair("C", "D", even=None, chance_of_all=1.0), Inference(), "more than 100 more judgments"),
        (pair("C", "D", even=None, left=0), Inference(), "all items in which they differ are judged"),
    ],
)
def test_what_would_decide_a_pair_is_said(found: PairForecast, inference: Inference, words: str) -> None:
    assert say_forecast(found, inference) == words


def test_open_neighbours_say_how_many_more_judgments_they_take() -> None:
    ranking = ranking_of({"A": "ab", "B": "ab", "C": "cd", "D": "ef"}, {"a": 1, "b": 1, "c": 0, "e": 0, "f": 0})
    said = say_verdict(ranking, Forecast((pair("C", "D", even=57, likely=90),), Inference()))
    assert re.fullmatch(
        r"C and D cannot be told apart yet: 60 to 90 more judgments\. So far it is \d\d% sure that C is better\.",
        said.neighbours[2].text,
    )
    assert said.neighbours[1].kind == "decided"
    assert said.ahead == "1 pair of neighbours is open: 60 to 90 more judgments."
    assert "as likely as not" in said.range_note
    level = ranking_of({"A": "ab", "B": "cd"}, {})
    alone = say_verdict(level, Forecast((pair("A", "B", even=3, likely=8),), Inference()))
    assert alone.headline == "A and B cannot be told apart yet: 5 to 10 more judgments."
    assert alone.neighbours[0].text == "A and B cannot be told apart yet: 5 to 10 more judgments."
    assert alone.ahead == ""
    done = say_verdict(level, Forecast((pair("A", "B", even=None, left=0),), Inference()))
    assert done.range_note == ""
    assert done.headline == "A and B cannot be told apart yet."
    assert done.neighbours[0].text == "A and B score the same: all items in which they differ are judged."


def test_the_headline_says_what_would_part_the_best_two() -> None:
    ranking = ranking_of({"A": "ab", "B": "cd", "C": "ef"}, {"a": 1, "b": 1, "e": 0, "f": 0})
    assert not ranking.decided().all()
    said = say_verdict(ranking, Forecast((pair("A", "B", even=12, likely=20),), Inference()))
    assert said.headline == "The best of 3 systems is A or B: they cannot be told apart yet (15 to 20 more judgments)."
    assert say_verdict(ranking).ahead == ""


def test_a_leader_is_told_from_all_its_rivals() -> None:
    ranking = ranking_of({"A": "ab", "B": "cd", "C": "ef", "D": "gh"}, {"a": 1})
    reach = [pair("A", "B", even=12, likely=30), pair("A", "C", even=70, likely=90)]
    said = say_verdict(ranking, Forecast((*reach, pair("A", "D", even=None)), Inference()))
    assert said.ahead == (
        "To tell A from each system that may be better: 15 to 90 more judgments each; for 1 pair all that are "
        "left would probably not be enough."
    )
    far = say_verdict(ranking, Forecast((reach[0], pair("A", "C", even=70)), Inference()))
    assert far.ahead.endswith(": 15 or more further judgments each.")
    none = say_verdict(ranking, Forecast(tuple(pair("A", name, even=None) for name in "BC"), Inference("design")))
    assert none.range_note == ""
    assert none.ahead.endswith(": even all sampled judgments that are left would probably not be enough.")


def test_the_page_says_what_it_would_take(findings: Findings) -> None:
    assert findings.forecast is not None
    assert findings.forecast.pairs
    said = Page(report_html(findings)).said
    assert "Remaining effort" in said
    one = findings.forecast.pairs[0]
    assert one.even is not None
    assert how_many(one.even, one.left) in said
    assert "Nothing is judged yet" not in said
    silent = Page(report_html(replace(findings, forecast=None))).said
    assert "Remaining effort" not in silent
    assert "more judgments" not in silent.replace("further judgments", "")


def test_before_anything_is_judged_the_page_says_what_the_numbers_rest_on(made: earmark.SyntheticCollection) -> None:
    found = gather_findings(earmark.Campaign.build(made.runs, metadata=made.metadata))
    assert found.calibration is None
    assert found.assessors is None
    page = Page(report_html(found)).said
    assert "Nothing is judged yet" in page
    assert "How well the model predicts" not in page
    quiet = gather_findings(earmark.Campaign.build(made.runs, metadata=made.metadata), forecast=False)
    assert quiet.forecast is None


def test_pairs_that_are_out_of_reach_are_listed_and_not_drawn(findings: Findings) -> None:
    a, b = findings.ranking.systems_frame()["system"].to_list()[:2]
    far = replace(findings, forecast=Forecast((pair(a, b, even=None),), Inference(target="population")))
    page = report_html(far)
    assert Page(page).said.count("out of reach") == 2
    assert 'id="forecast-' not in page
    beyond = Forecast((pair(a, b, even=None, chance_of_all=1.0),), Inference())
    assert Page(report_html(replace(findings, forecast=beyond))).said.count("over 100") == 2


def test_figures_of_ones_own_come_after_the_pairs(findings: Findings) -> None:
    own = [
        Figure("While <judging>", "Mean & spread.", '<svg id="own"></svg>'),
        ("Second", "", '<svg id="second"></svg>'),
    ]
    text = report_html(replace(findings, figures=own))
    page = Page(text)
    assert {"own", "second"} <= set(page.ids)
    assert "Mean & spread." in page.said
    places = [
        text.index(part) for part in ("Pairwise comparisons</h2>", "While &lt;judging&gt;", "Second", "<h2>Method</h2>")
    ]
    assert places == sorted(places)


def test_findings_take_the_judgments_of_the_campaign(made: earmark.SyntheticCollection) -> None:
    frame = made.judgments.frame.select("query", "document", "gain").with_columns(assessor=pl.lit("ann"))
    campaign = earmark.Campaign.build(made.runs, Judgments.from_frame(frame, scale=made.judgments.scale))
    found = gather_findings(campaign, figures=[("a", "b", "<svg></svg>")])
    assert found.assessors is not None
    assert found.assessors["assessor"].to_list() == ["ann"]
    assert found.agreement is None
    assert found.forecast is not None
    assert found.forecast.pairs == ()
    page = Page(report_html(found)).said
    assert "1 assessor gave" in page
    assert "these are the exact scores" in page
    assert "Remaining effort" not in page
    assert repr(found).startswith("<Findings: ")


def test_long_tables_are_folded_and_very_long_ones_are_not_printed() -> None:
    def page(systems: int) -> str:
        # Two documents each, of which the first is judged for all.
        lists = {f"s{number}": f"{chr(200 + 2 * number)}{chr(201 + 2 * number)}" for number in range(systems)}
        return report_html(findings_of(ranking_of(lists, {text[0]: 1 for text in lists.values()})))

    # 6, 28 and 91 pairs.
    few, more, many = page(4), page(8), page(14)
    assert "<summary>All" not in few
    assert more.count("<details><summary>All 28 pairs") == 1
    assert "instead" not in Page(more).classes
    assert many.count('<details class="long"><summary>All 91 pairs') == 1
    assert "instead" in Page(many).classes


def test_a_forecast_by_design_is_about_the_sample(made: earmark.SyntheticCollection) -> None:
    design = Inference("design")
    problem = earmark.Campaign.build(made.runs, inference=design, scale=made.judgments.scale).problem
    items = problem.items[problem.verdicts.order.order[:60]]
    known = items.join(made.judgments.frame.select("query", "document", "gain"), on=["query", "document"])
    campaign = earmark.Campaign.build(
        made.runs, Judgments.from_frame(known, scale=made.judgments.scale), inference=design
    )
    found = gather_findings(campaign)
    assert found.forecast is not None
    assert found.forecast.frame().equals(campaign.forecast().frame())
    page = Page(report_html(found)).said
    assert "if the sample goes on in its order" in page
    assert "more sampled judgments" in page
