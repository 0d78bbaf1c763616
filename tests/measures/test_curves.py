"""Curves and their areas against their definitions written out in plain Python, and against trec_eval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from earmark import evaluate, judgments_from_dict, parse, runs_from_dict
from earmark.data.arrays import Segments
from earmark.data.conversion import runs_from_frame
from earmark.data.ground_truth import truth_from_judgments
from earmark.data.judged_lists import JudgedLists, match
from earmark.data.scales import parse_scale
from earmark.errors import ParameterError
from earmark.measures.curves import (
    dynamic_recall,
    lift,
    normalised_lift,
    precision_recall,
    precision_recall_points,
    roc,
    suffix_maximum,
)
from earmark.measures.prototype_answers import Prototype, prototype_lists

RETRIEVABLE = [f"d{number}" for number in range(10)]
COLLECTION = 14


@dataclass(frozen=True)
class Case:
    """Two queries, a few systems, and the same as arrays."""

    gains: dict[str, dict[str, float]]
    results: dict[tuple[str, str], list[str]]
    lists: JudgedLists

    def each(self) -> list[tuple[list[str], dict[str, float]]]:
        return [(documents, self.gains[query]) for (_, query), documents in self.results.items()]


def build(gains: dict[str, dict[str, float]], results: dict[tuple[str, str], list[str]]) -> Case:
    rows = [(system, query, document) for (system, query), found in results.items() for document in found]
    frame = pl.DataFrame(rows, schema=["system", "query", "document"], orient="row")
    truth = truth_from_judgments(judgments_from_dict(gains, scale=parse_scale("0..3")))
    return Case(gains, results, match(runs_from_frame(frame), truth, collection_size=COLLECTION))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    gain = st.sampled_from([-1.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0])
    gains = {
        query: draw(st.dictionaries(st.sampled_from([*RETRIEVABLE, "missed", "lost"]), gain, min_size=1))
        for query in ("q1", "q2")
    }
    results = {}
    for system in ("a", "b")[: draw(st.integers(1, 2))]:
        for query in gains:
            found = draw(st.permutations(RETRIEVABLE))[: draw(st.integers(1, len(RETRIEVABLE)))]
            results[system, query] = list(found)
    return build(gains, results)


def hit_ranks(found: list[str], gains: dict[str, float], cutoff: int | None = None) -> list[int]:
    return [rank for rank, document in enumerate(found[:cutoff], 1) if gains.get(document, 0) > 0]


def total(gains: dict[str, float]) -> int:
    return sum(gain > 0 for gain in gains.values())


# Precision–recall


def naive_interpolated(found: list[str], gains: dict[str, float], level: Fraction) -> float:
    reached = [
        count / rank for count, rank in enumerate(hit_ranks(found, gains), 1) if Fraction(count, total(gains)) >= level
    ]
    return max(reached, default=0.0)


@given(cases())
def test_precision_recall_is_its_definition(case: Case) -> None:
    curves, points = precision_recall(case.lists), precision_recall_points(case.lists)
    assert curves.x.tolist() == pytest.approx([level / 10 for level in range(11)])
    for index, (found, gains) in enumerate(case.each()):
        wanted = [naive_interpolated(found, gains, Fraction(level, 10)) for level in range(11)]
        assert curves.y[index] == pytest.approx(wanted)
        recall, precision = points.of(index)
        ranks = hit_ranks(found, gains)
        assert recall == pytest.approx([count / total(gains) for count, _ in enumerate(ranks, 1)])
        assert precision == pytest.approx([count / rank for count, rank in enumerate(ranks, 1)])
    assert curves.mean == pytest.approx(curves.y.mean(axis=0))


@given(cases())
def test_precision_recall_area_is_that_of_the_staircase(case: Case) -> None:
    area = parse("PRarea").score(case.lists)
    for value, (found, gains) in zip(area, case.each(), strict=True):
        relevant = total(gains)
        # Between two multiples of 1/R the interpolated curve is flat.
        steps = [naive_interpolated(found, gains, Fraction(count, relevant)) for count in range(1, relevant + 1)]
        assert value == pytest.approx(sum(steps) / relevant if relevant else 0.0)


@given(cases())
def test_precision_recall_area_is_at_least_average_precision(case: Case) -> None:
    area, average = parse("PRarea").score(case.lists), parse("AP").score(case.lists)
    assert np.all(area >= average - 1e-12)
    for index, (found, gains) in enumerate(case.each()):
        precision = [count / rank for count, rank in enumerate(hit_ranks(found, gains), 1)]
        if precision == sorted(precision, reverse=True):
            assert area[index] == pytest.approx(average[index])
        else:
            assert area[index] > average[index]


# trec_eval reaches a recall level at int(level · R + .9) documents, which is the ceiling for these R.
@pytest.mark.parametrize("relevant", [2, 4, 5, 6, 8, 10])
def test_eleven_points_are_trec_evals(relevant: int) -> None:
    rng = np.random.default_rng(relevant)
    for _ in range(5):
        documents = [f"d{number:02d}" for number in range(40)]
        gains = {name: int(number < relevant) for number, name in enumerate(documents)}
        order = rng.permutation(documents)[:25].tolist()
        run = {name: float(100 - rank) for rank, name in enumerate(order)}
        theirs = pytrec_eval.RelevanceEvaluator({"q": gains}, {"iprec_at_recall"}).evaluate({"q": run})["q"]
        truth = truth_from_judgments(judgments_from_dict({"q": gains}))
        ours = precision_recall(match(runs_from_dict({"a": {"q": run}}), truth)).y[0]
        assert ours == pytest.approx([theirs[f"iprec_at_recall_{level / 10:.2f}"] for level in range(11)])


# ROC


def naive_roc_area(ranks: list[int], length: int, relevant: int, collection: int) -> float:
    """Count pairs of a relevant document and another; what was not retrieved comes last, in random order."""
    others = [rank for rank in range(1, length + 1) if rank not in ranks]
    places_relevant = [*ranks, *([math.inf] * (relevant - len(ranks)))]
    places_others = [*others, *([math.inf] * (collection - relevant - len(others)))]
    pairs = [(a < b) + 0.5 * (a == b) for a in places_relevant for b in places_others]
    return sum(pairs) / len(pairs) if pairs else 0.0


def naive_roc_at(x: float, ranks: list[int], length: int, relevant: int, collection: int) -> float:
    """Walk the steps from (0, 0), then the straight line to (1, 1), and take the highest recall at this fallout."""
    others = collection - relevant
    corners = [(0.0, 0.0)]
    for rank in range(1, length + 1):
        fallout, recall = corners[-1]
        corners.append((fallout, recall + 1 / relevant) if rank in ranks else (fallout + 1 / others, recall))
    corners.append((1.0, 1.0))
    heights = []
    for (x0, y0), (x1, y1) in pairwise(corners):
        if x0 - 1e-9 <= x <= x1 + 1e-9:
            heights.append(max(y0, y1) if x1 - x0 < 1e-9 else y0 + (y1 - y0) * min(max((x - x0) / (x1 - x0), 0), 1))
    return max(heights)


@given(cases(), st.sampled_from([None, 1, 3, 20]))
@settings(max_examples=50)
def test_roc_is_its_definition(case: Case, cutoff: int | None) -> None:
    curves = roc(case.lists, cutoff=cutoff)
    for index, (found, gains) in enumerate(case.each()):
        ranks, length, relevant = hit_ranks(found, gains, cutoff), len(found[:cutoff]), total(gains)
        assert curves.area[index] == pytest.approx(naive_roc_area(ranks, length, relevant, COLLECTION))
        wanted = [naive_roc_at(x, ranks, length, relevant, COLLECTION) if relevant else 0.0 for x in curves.x]
        assert curves.y[index] == pytest.approx(wanted, abs=1e-7)
        if relevant:
            assert curves.y[index, -1] == 1.0


def test_roc_of_random_order_has_half_the_area() -> None:
    nothing = prototype_lists([Prototype(1, (), 3, 0, 50)])
    curves = roc(nothing, fallout=[0, 0.25, 1])
    assert curves.area.tolist() == [0.5]
    assert curves.y[0] == pytest.approx([0, 0.25, 1])


def test_roc_sees_a_document_right_at_a_level_of_fallout() -> None:
    # 29 of 100 irrelevant documents before it, and .29 · 100 is a little less than 29 in floating point.
    lists = prototype_lists([Prototype(1, (30,), 2, 30, 102)])
    assert roc(lists, fallout=[0.28, 0.29]).y.tolist() == [[0.0, 0.5]]


def test_roc_ends_at_one_even_if_no_irrelevant_document_is_left() -> None:
    lists = prototype_lists([Prototype(1, (), 2, 3, 5)])
    assert roc(lists, fallout=[0, 0.5, 1]).y.tolist() == [[0.0, 0.0, 1.0]]
    assert roc(lists).area.tolist() == [0.0]


def test_roc_without_other_documents_is_zero() -> None:
    everything = prototype_lists([Prototype(1, (1, 2), 3, 2, 3)])
    assert roc(everything).area.tolist() == [0.0]
    assert not roc(everything).y.any()


def test_roc_needs_a_fitting_collection_size() -> None:
    lists = prototype_lists([Prototype(1, (1,), 2, 5)])
    with pytest.raises(ParameterError, match=r"needs the number of documents in the collection.*--collection-size"):
        parse("ROCarea").score(lists)
    with pytest.raises(ParameterError, match=r"a collection of 4 documents cannot hold"):
        roc(replace(lists, collection_size=4))


# Lift


@given(cases(), st.sampled_from([None, 2, 7, 15]))
def test_lift_counts(case: Case, cutoff: int | None) -> None:
    curves = lift(case.lists, cutoff=cutoff)
    for index, (found, gains) in enumerate(case.each()):
        ranks = hit_ranks(found, gains, cutoff)
        wanted = [sum(rank <= seen for rank in ranks) for seen in curves.x]
        assert curves.y[index].tolist() == wanted
        ends_at = len(found) if cutoff is None else cutoff
        heights = [sum(rank <= seen for rank in ranks) for seen in range(ends_at + 1)]
        assert curves.area[index] == pytest.approx(np.trapezoid(heights))


@given(cases(), st.sampled_from([None, 2, 7, 15]))
def test_normalised_lift_is_a_polyline(case: Case, cutoff: int | None) -> None:
    curves = normalised_lift(case.lists, cutoff=cutoff)
    assert curves.y[:, 0].tolist() == [0.0] * case.lists.size
    for index, (found, gains) in enumerate(case.each()):
        width, relevant = len(found) if cutoff is None else cutoff, total(gains)
        ranks = hit_ranks(found, gains, cutoff)
        corners = [sum(rank <= seen for rank in ranks) / max(relevant, 1) for seen in range(width + 1)]
        assert curves.y[index] == pytest.approx(np.interp(curves.x, np.arange(width + 1) / width, corners))
        assert curves.area[index] == pytest.approx(np.trapezoid(corners, dx=1 / width))


def test_lift_on_chosen_points() -> None:
    lists = prototype_lists([Prototype(1, (2, 5), 4, 6)])
    assert lift(lists, seen=[0, 2, 4, 6, 90]).y.tolist() == [[0, 1, 1, 2, 2]]
    assert normalised_lift(lists, share=[0, 0.25, 1 / 3, 1]).y[0] == pytest.approx([0, 0.125, 0.25, 0.5])


def test_the_best_list_reaches_the_greatest_lift_area() -> None:
    best = prototype_lists([Prototype(1, (1, 2, 3), 3, 10)])
    assert parse("liftarea").score(best).tolist() == [1 - 3 / 20]


def test_an_empty_list_has_no_lift() -> None:
    empty = prototype_lists([Prototype(1, (), 3, 0), Prototype(2, (1,), 1, 2)])
    assert normalised_lift(empty, share=[0, 0.5, 1]).y.tolist() == [[0, 0, 0], [0, 1, 1]]
    assert parse("liftarea").score(empty).tolist() == [0.0, 0.75]


# Dynamic recall and its relatives


def naive_dynamic_recall(found: list[str], gains: dict[str, float], position: int) -> float:
    """Count, as the paper does, documents of all groups up to the one that holds the i-th document of the truth."""
    best_first = sorted((gain for gain in gains.values() if gain > 0), reverse=True)
    at_least = best_first[min(position, len(best_first)) - 1]
    return sum(gains.get(document, 0) >= at_least for document in found[:position]) / position


@given(cases())
def test_dynamic_recall_is_its_definition(case: Case) -> None:
    curves = dynamic_recall(case.lists)
    average = parse("ADR").score(case.lists)
    sizes = [total(gains) for _, gains in case.each()]
    assert curves.x.tolist() == list(range(1, max(sizes) + 1))
    for index, (found, gains) in enumerate(case.each()):
        wanted = [naive_dynamic_recall(found, gains, position) for position in range(1, sizes[index] + 1)]
        assert curves.y[index, : sizes[index]] == pytest.approx(wanted)
        assert np.isnan(curves.y[index, sizes[index] :]).all()
        assert average[index] == pytest.approx(sum(wanted) / sizes[index] if wanted else 0.0)
    assert curves.area == pytest.approx(average)
    for position, mean in enumerate(curves.mean):
        defined = [curves.y[index, position] for index, size in enumerate(sizes) if size > position]
        assert mean == pytest.approx(sum(defined) / len(defined))


@given(cases(), st.integers(1, 15))
def test_dynamic_recall_to_a_cutoff(case: Case, cutoff: int) -> None:
    curves = dynamic_recall(case.lists, cutoff=cutoff)
    at_end = parse(f"DR@{cutoff}").score(case.lists)
    for index, (found, gains) in enumerate(case.each()):
        wanted = [naive_dynamic_recall(found, gains, i) if total(gains) else 0.0 for i in range(1, cutoff + 1)]
        assert curves.y[index] == pytest.approx(wanted)
        assert curves.area[index] == pytest.approx(sum(wanted) / cutoff)
        assert at_end[index] == pytest.approx(wanted[-1])


def naive_tie_break(found: list[str], gains: dict[str, float]) -> float:
    """Build the list of misplaced documents and score it under the inverted truth, all by definition."""
    levels = sorted({gain for gain in gains.values() if gain > 0}, reverse=True)
    groups = [[document for document, gain in gains.items() if gain == level] for level in levels]
    places, end = {}, 0
    for group in groups:
        start, end = end + 1, end + len(group)
        places.update(dict.fromkeys(group, (start, end)))
    kept = {
        document: rank
        for rank, document in enumerate(found, 1)
        if document in places and not places[document][0] <= rank <= places[document][1]
    }
    free = [document for document in groups[0] if document not in kept]
    # Where the whole best group is misplaced, its first document in the list stands for the others.
    filler = free[0] if free else min(groups[0], key=lambda document: kept[document])
    constructed = [document if document in kept else filler for document in found]
    inverted = {document: levels.index(gain) + 1.0 for document, gain in gains.items() if gain > 0}
    recalls = []
    for position in range(1, end + 1):
        at_least = sorted(inverted.values(), reverse=True)[position - 1]
        distinct = set(constructed[:position])
        recalls.append(sum(inverted[document] >= at_least for document in distinct) / position)
    return sum(recalls) / end


@given(cases())
@settings(max_examples=300)
def test_tie_break_is_its_definition(case: Case) -> None:
    scores = parse("ADRinv").score(case.lists)
    for score, (found, gains) in zip(scores, case.each(), strict=True):
        assert score == pytest.approx(naive_tie_break(found, gains) if total(gains) else 0.0)


# What all share


@given(cases())
@settings(max_examples=30)
def test_areas_of_several_samples_are_the_areas_of_each(case: Case) -> None:
    rng = np.random.default_rng(0)
    samples = rng.integers(0, 3, size=(4, case.lists.truth.gain.size)).astype(np.float64)
    for name in ("PRarea", "PRarea(rel=2)@4", "ROCarea", "liftarea", "liftarea@3"):
        measure = parse(name)
        together = measure.score(case.lists.with_gains(samples))
        apart = [measure.score(case.lists.with_gains(sample)) for sample in samples]
        assert together == pytest.approx(np.stack(apart))


@given(st.lists(st.lists(st.floats(0, 1), max_size=5), max_size=6))
def test_suffix_maximum(values: list[list[float]]) -> None:
    segments = Segments.from_counts(np.array([len(part) for part in values], dtype=np.int64))
    flat = np.array([value for part in values for value in part])
    wanted = [max(part[index:]) for part in values for index in range(len(part))]
    assert suffix_maximum(segments, flat).tolist() == wanted


def test_areas_are_measures_of_an_evaluation() -> None:
    runs = runs_from_dict({"a": {"q": {"x": 3.0, "y": 2.0, "z": 1.0}}, "b": {"q": {"z": 2.0, "x": 1.0}}})
    judgments = judgments_from_dict({"q": {"x": 1, "z": 1}})
    scores = evaluate(runs, judgments, ["PRarea", "AUC", "liftarea@3"], collection_size=10)
    assert [str(measure) for measure in scores.measures] == ["PRarea", "ROCarea", "liftarea@3"]
    # a: relevant at 1 and 3 of 3; b: at 1 and 2 of 2; |D| = 10, R = 2.
    assert scores.mean_values[0] == pytest.approx([(1 + 2 / 3) / 2, 1.0])
    assert scores.mean_values[1] == pytest.approx([1 - 1 / 16, 1.0])
    assert scores.mean_values[2] == pytest.approx([(2.5 + 0.5) / 6, (2.5 + 1.5) / 6])


def test_curves_refuse_several_sets_of_gains() -> None:
    lists = prototype_lists([Prototype(1, (1,), 2, 5)])
    sampled = lists.with_gains(np.stack([lists.truth.gain, lists.truth.gain]))
    with pytest.raises(ParameterError, match="one set of gains at a time"):
        precision_recall(sampled)
    with pytest.raises(ParameterError, match="one set of gains at a time"):
        dynamic_recall(sampled)


@pytest.mark.parametrize("grid", [[], [0.5, 0.5], [0.2, 0.1], [-0.1, 1], [[0, 1]]])
def test_curves_refuse_grids_that_do_not_ascend(grid: list[float]) -> None:
    lists = prototype_lists([Prototype(1, (1,), 2, 5, 9)])
    for curve in (
        lambda: precision_recall(lists, levels=grid),
        lambda: roc(lists, fallout=grid),
        lambda: normalised_lift(lists, share=grid),
    ):
        with pytest.raises(ParameterError, match="ascending numbers from 0 on"):
            curve()


def test_curves_of_shares_end_at_one() -> None:
    lists = prototype_lists([Prototype(1, (1,), 2, 5, 9)])
    with pytest.raises(ParameterError, match="between 0 and 1, got 0 to 100"):
        precision_recall(lists, levels=[0, 50, 100])


def test_no_lists_no_curves() -> None:
    lists = prototype_lists([])
    for curves in (precision_recall(lists), lift(lists), normalised_lift(lists), dynamic_recall(lists)):
        assert curves.y.shape[0] == 0
        assert np.isnan(curves.mean).all()
        assert math.isnan(curves.mean_area)
