"""Every result that a notebook may show: a sentence and small tables, whatever ids look like."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from functools import cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
import polars as pl
import pytest
from IPython.lib.pretty import pretty

import earmark
from earmark.campaign.campaign import oracle
from earmark.campaign.list_campaign import ListCampaign, ListProblem
from earmark.campaign.list_files import ListAnswers
from earmark.campaign.loop import play
from earmark.campaign.order_campaign import RANKINGS, OrderCampaign, OrderProblem
from earmark.campaign.pairs.campaign import PairCampaign, PairProblem
from earmark.campaign.pairs.plan import plan_pairs
from earmark.campaign.stopping import parse_stop
from earmark.crowd.aggregation import aggregate_preferences
from earmark.crowd.agreement import random_answering_test
from earmark.crowd.assessor_effects import fit_assessor_effects
from earmark.crowd.bradley_terry import fit_bradley_terry
from earmark.crowd.grade_answers import GradeAnswers
from earmark.crowd.grade_confusion import fit_grade_confusion
from earmark.crowd.grade_models import aggregate_grades
from earmark.crowd.graded import assessor_errors, graded_alpha
from earmark.crowd.group_agreement import compare_groups
from earmark.crowd.payment import Terms, Work, pay
from earmark.crowd.position import position_bias
from earmark.crowd.results import ImportedResults, ImportReport
from earmark.crowd.worker_check import RejectionRule
from earmark.crowd.worker_model import fit_worker_model
from earmark.crowd.workers import answer_times, volume_correlation, worker_table
from earmark.data.content import Content
from earmark.data.display import Display
from earmark.data.ground_truth import truth_from_judgments
from earmark.diagnose.calibration import accuracy_by_confidence, reliability_curve, sign_agreement
from earmark.diagnose.coverage import interval_coverage
from earmark.diagnose.decomposition import decompose_score
from earmark.diagnose.proper_scores import summarise_errors
from earmark.inference.preference_tests import compare_preferences
from earmark.measures.preference_precision import parse_level, preference_outcomes, preference_precision
from earmark.simulation.pair_campaigns import made_up_world
from earmark.simulation.srbench import SrbenchSize, simulated_srbench

# What is neither a result nor holds one: how something is done, or steps on the way.
INNER = {
    "Answers", "AnyTime", "Bootstrap", "Bounds", "ClusteredShares", "CodedUnits", "ComparedAnswers", "Comparisons",
    "Confusion", "ConfusionIteration", "Confusions", "DisplayTable", "Doubts", "DrawnElsewhere", "DrawnItems",
    "Evidence", "Expected", "FilledLists", "FittedScores", "ForecastGroups", "FriedmanRanks", "GradeAnswers",
    "GroupPlaces", "Ideal", "JudgedLists", "ListProblem", "MarginalLikelihood", "MarginalPosterior", "OpenPair",
    "OwnSample", "PairAnswers", "PairDesign", "PairPosterior", "PairedDifferences", "Parameters", "Part", "Point",
    "Points", "PolicyState", "QueryOrder", "QuerySampling", "RunColumns", "Sample", "SampleOrder", "Segments",
    "SharedErrors", "SharesWon", "SignedRanks", "Stack", "StopState", "Stretches", "Table", "Units", "Unjudged",
    "UnjudgedPairs", "UnjudgedResults", "Verdicts", "Votes", "WeightedSum", "Wins",
}  # fmt: skip
PACKAGES = ("data", "measures", "inference", "diagnose", "crowd", "campaign", "simulation")


class Balanced(HTMLParser):
    """Notices a tag that is not closed, or one that no result has."""

    known = frozenset({"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.known
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def hostile(frame: pl.DataFrame, *columns: str) -> pl.DataFrame:
    return frame.with_columns(pl.format("<i>{}</i>&", name).alias(name) for name in columns)


@cache
def results() -> dict[str, Any]:
    """Return one result of every kind, with ids that are markup."""
    made = earmark.synthetic_collection(np.random.default_rng(3), systems=4, queries=12, documents=90)
    runs = earmark.runs_from_frame(hostile(made.runs.to_polars(), "system", "query", "document"))
    judgments = earmark.judgments_from_frame(hostile(made.judgments.frame, "query", "document"), scale=earmark.FINE)
    metadata = earmark.Metadata(hostile(made.metadata.frame, "document"))
    judged = earmark.Campaign.build(runs, judgments, metadata=metadata)
    unjudged = earmark.Campaign.build(runs, metadata=metadata)
    scores = earmark.evaluate(runs, judgments, ["AG@5", "nDCG@5"])
    compared = earmark.compare(scores, "AG@5")
    beside = earmark.compare_with_baseline(scores, scores.systems[0], "AG@5")
    documents = metadata.frame["document"]
    cliques = earmark.Cliques(
        pl.DataFrame({"document": documents[:20], "group": [f"<i>{n // 4}</i>" for n in range(20)]})
    )
    group = pl.DataFrame({"query": ["<i>q</i>"] * 6, "document": documents[:6], "group": [1, 1, 2, 2, 3, 3]})
    groups = earmark.OrderedGroups(group)
    apart = np.abs(np.subtract.outer(np.arange(8.0), np.arange(8.0)))
    audited = earmark.Campaign.build(
        runs, scale=earmark.FINE, predictor="uniform", policy="random", stop="budget:40", audit=1.0
    )
    looks = [reached.look for reached in play(audited, oracle(judged.gains))]
    forecast = unjudged.forecast()
    people = pl.concat([judgments.frame.with_columns(pl.lit(f"<i>{who}</i>").alias("assessor")) for who in "ab"])
    several = earmark.judgments_from_frame(people, scale=earmark.FINE)
    found: dict[str, Any] = {}
    for one in (
        made, runs, judgments, metadata, judged, judged.problem, judged.log, judged.problem.collection,
        scores, compared, compared.tests, beside, beside.check,
        cliques, groups, earmark.describe(judged.problem.collection), truth_from_judgments(judgments),
        unjudged.ranking, unjudged.verdict, unjudged.propose(5), unjudged.decision,
        earmark.plan(runs, metadata=metadata, stop="budget:40", repeats=9), *looks,
        judged.audit, earmark.Matrix(apart, documents[:8], documents[:8]),
        earmark.simulate_campaigns(runs, judgments, stop="budget:40", predictor="uniform", repeats=2),
        earmark.diagnose_predictor(runs, judgments, share=0.5), *earmark.curves(runs, judgments, "pr").values(),
        assessor_errors(several), *grades(), graded_alpha(several, rng=np.random.default_rng(0)),
        compare_groups(groups, groups),
        sign_agreement([0.1, 0.2], [0.1, -0.1]), interval_coverage([0.4, 0.5], [0.1, 0.1], [0.3, 0.6]),
        accuracy_by_confidence([1.0, 2.0], [0.6, 0.99], [1.0, -1.0]), summarise_errors([0.5], [0.1], [0.7]),
        reliability_curve([[0.9, 0.1], [0.2, 0.8]], [0, 1]), decompose_score([[0.9, 0.1], [0.2, 0.8]], [0, 1]),
        *earmark.read_prototypes(earmark.example_path("cover-prototypes.csv")), *auditions(), *crowds(), *pairs(),
        *kinds(),
        Content(tuple(documents[:8]), apart), forecast, *forecast.pairs,
    ):  # fmt: skip
        found[type(one).__name__] = one
    return found


def grades() -> list[Any]:
    """What models make of graded answers of several people."""
    rows = [("q", f"<i>{d}</i>", (d + who) % 3, f"<i>{who}</i>") for d in range(12) for who in (0, 0.5, 1)]
    levels = [(query, document, int(gain), who) for query, document, gain, who in rows]
    frame = pl.DataFrame(levels, schema=["query", "document", "gain", "assessor"], orient="row")
    judgments = earmark.judgments_from_frame(frame, scale=earmark.BROAD)
    answers = GradeAnswers.of(judgments)
    return [aggregate_grades(judgments), fit_assessor_effects(answers), fit_grade_confusion(answers)]


def auditions() -> list[Any]:
    found = earmark.audition(earmark.read_prototypes(earmark.example_path("cover-prototypes.csv")))
    return [found, *found.sets]


def crowds() -> list[Any]:
    size = SrbenchSize(students=12, student_questions=60, workers=20, cheats=3, questions=120)
    played = simulated_srbench(np.random.default_rng(1), size=size, rule=RejectionRule(min_answers=20))
    frame = hostile(played.check.preferences.frame, "query", "a", "b", "assessor")
    frame = frame.with_columns(seconds=pl.Series(np.linspace(2.0, 40.0, frame.height)))
    answers = earmark.Preferences.from_frame(frame)
    check = earmark.crowd.check_workers(answers, rule=RejectionRule(min_answers=20))
    plain = check.kept_answers().without_traps()
    runs = earmark.runs_from_frame(hostile(played.runs.to_polars(), "system", "query", "document"))
    level, outcomes = parse_level("4/6"), preference_outcomes(runs, plain.pairs(), k=20)
    report = ImportReport(3, 6, 5, 2, pl.DataFrame({"reason": ["blank"], "assessor": ["<i>x</i>"]}))
    return [
        played, played.pairs, played.pairs.benchmark, played.fit, played.workers, plain, plain.pairs(), check,
        check.expected_errors(), outcomes, preference_precision(outcomes, level), compare_preferences(outcomes, level),
        random_answering_test(plain.pairs(), rng=np.random.default_rng(0)), fit_bradley_terry(plain),
        position_bias(plain), position_bias(plain).every, fit_worker_model(plain, model="one-coin"),
        answer_times(plain), volume_correlation(worker_table(plain)), report,
        aggregate_preferences(plain, method="bradley-terry"),
        ImportedResults(plain, report), pay([Work("<i>w</i>", "<i>a</i>", answers=20, minutes=9.0)], Terms(reward=2.0)),
    ]  # fmt: skip


def pairs() -> list[Any]:
    world = made_up_world(np.random.default_rng(0), queries=6, documents=12, depth=6, pairs=10, needed=3)
    campaign = PairCampaign.begin(PairProblem(world.design, world.needed, stop=parse_stop("budget:20")))
    planned = plan_pairs(campaign, repeats=2)
    return [world, campaign, campaign.look, campaign.look.estimates, campaign.propose(5), planned]


def kinds() -> list[Any]:
    asked = pl.DataFrame({"query": ["<i>q</i>", "<i>r</i>"], "a": ["<i>A</i>"] * 2, "b": ["<i>B</i>"] * 2})
    said = asked[:1].with_columns(assessor=pl.lit("<i>x</i>"), choice=pl.lit("a"))
    lists = ListCampaign(ListProblem(("<i>A</i>", "<i>B</i>", "<i>C</i>"), asked), said)
    documents = ("<i>d</i>", "<i>e</i>", "<i>f</i>")
    rows = [("<i>q</i>", who, list(documents), 2) for who in ("<i>x</i>", "<i>y</i>")]
    orders = OrderCampaign(OrderProblem({"<i>q</i>": documents}), pl.DataFrame(rows, schema=RANKINGS, orient="row"))
    looks = [one for campaign in (lists, orders) for one in (campaign, campaign.look, campaign.look.estimates)]
    return [*looks, ListAnswers(said)]


def classes() -> dict[str, type]:
    """Return every public dataclass of the packages that results come from."""
    roots = [importlib.import_module(f"earmark.{package}") for package in PACKAGES]
    names = [info.name for root in roots for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")]
    return {
        name: one
        for module in map(importlib.import_module, ["earmark.evaluation", *names])
        for name, one in vars(module).items()
        if isinstance(one, type)
        and dataclasses.is_dataclass(one)
        and one.__module__ == module.__name__
        and name[0] != "_"
    }


def holds_more_than_values(one: type) -> bool:
    return any(
        re.search(r"Array|Floats|Ints|Bools|DataFrame|Series|Runs|Preferences", str(field.type))
        for field in dataclasses.fields(one)
    )


SHOWN = sorted(name for name, one in classes().items() if issubclass(one, Display))


def test_whatever_holds_arrays_or_tables_shows_itself() -> None:
    plain = {name for name, one in classes().items() if not issubclass(one, Display) and holds_more_than_values(one)}
    assert plain - INNER == set()


@pytest.mark.parametrize("name", SHOWN)
def test_a_result_is_shown(name: str) -> None:
    one = results()[name]
    line, text, page = repr(one), pretty(one), one._repr_html_()
    assert line.startswith(f"<{name}: ")
    assert len(line) <= 162
    assert "\n" not in line
    assert text.startswith(f"{name}: ")
    assert len(text.splitlines()) < 60
    assert "array(" not in text
    assert len(page) < 20_000
    assert "nan" not in re.findall(r"[a-z]+", text.lower())
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []


def test_ids_that_are_markup_are_shown_as_they_are() -> None:
    for name in ("Runs", "Judgments", "Ranking", "Scores", "Comparison", "Preferences", "WorkerCheck", "Cliques"):
        assert "&lt;i&gt;" in results()[name]._repr_html_()
