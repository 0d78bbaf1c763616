"""Prototype answers and auditions: the reader's errors, its lists, and agreement by brute force and by scipy."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from earmark.data.examples import example_names, example_path
from earmark.data.scales import BINARY
from earmark.errors import InputError, ParameterError
from earmark.measures import Measure, parse, registered
from earmark.measures.audition import (
    Prototype,
    PrototypeSet,
    audition,
    default_measures,
    prototype_lists,
    read_prototypes,
)

COVER = "cover-prototypes.csv"
HEADER = "set,order,ranks,relevant,length,collection\n"


def write(path: Path, text: str) -> Path:
    file = path / "answers.csv"
    file.write_text(text, encoding="utf-8")
    return file


@st.composite
def prototypes(draw: st.DrawFn, *, collection: int | None = None) -> Prototype:
    length = draw(st.integers(0, 8))
    ranks = draw(st.sets(st.integers(1, length))) if length else set()
    relevant = draw(st.integers(max(len(ranks), 1), 10))
    return Prototype(draw(st.integers(1, 4)), tuple(sorted(ranks)), relevant, length, collection)


def ordered_set(answers: list[Prototype]) -> bool:
    return len({answer.order for answer in answers}) > 1


sets_of_prototypes = (
    st.lists(prototypes(collection=40), min_size=2, max_size=7)
    .filter(ordered_set)
    .map(lambda answers: PrototypeSet("s", tuple(answers)))
)


# Reading


def test_the_example_is_the_papers_with_its_erratum_corrected() -> None:
    (cover,) = read_prototypes(example_path(COVER))
    assert cover.name == "cover"
    assert [answer.ranks for answer in cover.answers] == [
        (4,),
        (1, 2, 3, 5),
        (6, 7, 8, 10),
        (2, 4, 6, 8),
        (1, 8, 9, 10),
        (),
    ]
    assert [answer.relevant for answer in cover.answers] == [1, 7, 7, 14, 14, 4]
    assert {answer.length for answer in cover.answers} == {14}
    assert {answer.collection for answer in cover.answers} == {2054}
    assert cover.wanted == "A1 > A2 > A3 > A4 > A5 > A6"


def test_an_unknown_example_names_those_there_are() -> None:
    assert COVER in example_names()
    with pytest.raises(ParameterError, match=r"no example called 'mozart.csv': there are cover-prototypes.csv"):
        example_path("mozart.csv")


def test_sets_keep_the_order_of_the_file_and_answers_the_wanted_one(tmp_path: Path) -> None:
    text = "set,order,ranks,relevant,length\nz,2,,3,5\na,1,1 2,2,4\nz,1, 2  5 ,3,5\na,2.5,3,1,4\na,2.5,1,2,4\n"
    z, a = read_prototypes(write(tmp_path, text))
    assert (z.name, a.name) == ("z", "a")
    assert [answer.ranks for answer in z.answers] == [(2, 5), ()]
    assert a.wanted == "A1 > A2 = A3"
    assert a.answers[0].collection is None


def test_parquet_and_other_encodings_are_read_too(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"set": ["s", "s"], "order": [1, 2], "ranks": ["1", None], "relevant": [2, 2], "length": [3, 3]}
    )
    frame.write_parquet(tmp_path / "answers.parquet")
    assert read_prototypes(tmp_path / "answers.parquet")[0].answers[0].ranks == (1,)
    latin = tmp_path / "latin.csv"
    latin.write_bytes(f"{HEADER}Lied für,1,1,1,2,\nLied für,2,,1,2,\n".encode("latin-1"))
    assert read_prototypes(latin, encoding="latin-1")[0].name == "Lied für"
    with pytest.raises(InputError, match=r"latin.csv:2: expected text in utf-8"):
        read_prototypes(latin)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("s,1,3 2,4,9,", r":3: expected ranks that ascend, each of them once, got '3 2'"),
        ("s,1,2 2,4,9,", r":3: expected ranks that ascend, each of them once, got '2 2'"),
        ("s,1,0 2,4,9,", r":3: expected ranks from 1 on, got '0 2'"),
        ("s,1,2 10,4,9,", r":3: expected ranks up to the length 9, got 10"),
        ("s,1,1 2 3,2,9,", r":3: expected at most 2 ranks, one per relevant document, got 3 \('1 2 3'\)"),
        ("s,1,1 x,2,9,", r":3: expected a number as rank, got 'x'"),
        ("s,1,1.5,2,9,", r":3: expected a whole number as rank, got '1.5'"),
        ("s,best,1,2,9,", r":3: expected a number as order, got 'best'"),
        ("s,nan,1,2,9,", r":3: expected a finite order, got 'nan'"),
        ("s,,1,2,9,", r":3: expected a number as order, got nothing"),
        (",1,1,2,9,", r":3: expected a set, got nothing"),
        ("s,1,1,,9,", r":3: expected a number as relevant, got nothing"),
        ("s,1,,0,9,", r":3: expected one relevant document or more in the collection, got 0"),
        ("s,1,1,2,two,", r":3: expected a number as length, got 'two'"),
        ("s,1,,2,-1,", r":3: expected a length of 0 or more, got -1"),
        ("s,1,1,3,9,10", r":3: expected a collection of 11 documents or more .*, got 10"),
        ("t,1,1,3,9,", r":3: expected two answers or more in set 't', got 1"),
        ("s,2,1,3,9,", r":2: expected a better and a worse answer in set 's', got order 2 for all of them"),
        ("s,1,1,3,9,99", r":2: expected one collection size for set 's', got several, or gaps"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, row: str, message: str) -> None:
    # The first answer stands in line 2; where the fault is in another set, it has company below.
    file = write(tmp_path, f"{HEADER}s,2,1,3,9,\n{row}\n" + ("s,1,1,3,9,\n" if row.startswith("t") else ""))
    with pytest.raises(InputError, match=r"answers\.csv" + message):
        read_prototypes(file)


@pytest.mark.parametrize(
    ("header", "trouble"),
    [
        ("set,order,ranks,relevant", r"set, order, ranks, relevant \(no length\)"),
        ("set,order,ranks,relevant,length,mood", r"relevant, length, mood \(also mood\)"),
        ("query,document", r"query, document \(no set, order, ranks, relevant, length\)"),
    ],
)
def test_missing_and_unknown_columns(tmp_path: Path, header: str, trouble: str) -> None:
    file = write(tmp_path, f"{header}\n{','.join('1' for _ in header.split(','))}\n")
    with pytest.raises(
        InputError, match=r":1: expected columns set, order, .* optionally collection, got .*" + trouble
    ):
        read_prototypes(file)


def test_a_header_alone_is_not_enough(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"answers.csv: expected rows.*, got none"):
        read_prototypes(write(tmp_path, HEADER))


# Lists


@given(st.lists(prototypes(), max_size=6))
def test_lists_hold_the_prototypes_and_everything_retrieved_is_judged(answers: list[Prototype]) -> None:
    lists = prototype_lists(answers)
    assert lists.length.tolist() == [answer.length for answer in answers]
    assert lists.collection_size is None
    assert lists.judged.all()
    # No document of the truth stands twice in a list.
    assert np.unique(lists.row).size == lists.row.size
    for index, answer in enumerate(answers):
        at = slice(*lists.hits.offsets[index : index + 2])
        assert lists.rank[at].tolist() == list(range(1, answer.length + 1))
        assert tuple(lists.rank[at][lists.gain[at] > 0]) == answer.ranks
        rows = slice(*lists.truth.offsets[index : index + 2])
        assert lists.truth.gain[rows].sum() == answer.relevant


@given(st.lists(prototypes(collection=40), min_size=1, max_size=6))
def test_measures_of_prototypes_are_their_definitions(answers: list[Prototype]) -> None:
    lists = prototype_lists(answers)
    scores = {name: parse(name).score(lists) for name in ("R", "fallout", "AP", "bpref", "bpref-10", "bpref*")}
    for index, a in enumerate(answers):
        before = [rank - place for place, rank in enumerate(a.ranks, 1)]
        others = 40 - a.relevant
        wanted = {
            "R": len(a.ranks) / a.relevant,
            "fallout": (a.length - len(a.ranks)) / others,
            "AP": sum(place / rank for place, rank in enumerate(a.ranks, 1)) / a.relevant,
            "bpref": sum(1 - min(n, a.relevant) / min(a.relevant, others) for n in before) / a.relevant,
            "bpref-10": sum(1 - min(n, a.relevant + 10) / (a.relevant + 10) for n in before) / a.relevant,
            "bpref*": sum(1 - n / (a.length + a.relevant) for n in before) / a.relevant,
        }
        for name, value in wanted.items():
            assert scores[name][index] == pytest.approx(value), name


def test_lists_of_one_collection_only() -> None:
    with pytest.raises(ParameterError, match="collections of different sizes"):
        prototype_lists([Prototype(1, (1,), 2, 5, 10), Prototype(2, (), 2, 5, 11)])


# Agreement

SOME = ("AP", "R", "MR1", "fallout", "bpref*", "Success", "FN")


@given(sets_of_prototypes)
@settings(max_examples=60)
def test_agreement_is_its_definition(answers: PrototypeSet) -> None:
    result = audition([answers], measures=SOME)
    (agreement,) = result.sets
    lists = prototype_lists(answers.answers)
    order = [answer.order for answer in answers.answers]
    for index, measure in enumerate(result.measures):
        raw = measure.score(lists)
        assert agreement.scores[index] == pytest.approx(raw)
        # Twelve digits: sums of the same terms in another order are the same score.
        score = [round(float(value), 12) * (1 if measure.higher_is_better else -1) for value in raw]
        pairs = [(i, j) for i in range(len(order)) for j in range(len(order)) if order[i] < order[j]]
        violated = {(i, j) for i, j in pairs if score[i] <= score[j]}
        assert set(zip(*np.nonzero(agreement.tied[index] | agreement.reversed_[index]), strict=True)) == violated
        assert {pair for pair in violated if agreement.tied[index][pair]} == {
            (i, j) for i, j in violated if score[i] == score[j]
        }
        assert result.violations[index] == len(violated)
        tau = kendalltau([-place for place in order], score, variant="b").statistic
        assert result.tau[index] == pytest.approx(0.0 if math.isnan(tau) else tau)


@given(sets_of_prototypes)
@settings(max_examples=30)
def test_the_order_in_words_says_what_the_scores_say(answers: PrototypeSet) -> None:
    result = audition([answers], measures=["AP", "MR1"])
    for measure, scores, words in zip(result.measures, result.sets[0].scores, result.sets[0].order, strict=True):
        score = dict(zip(answers.names, scores * (1 if measure.higher_is_better else -1), strict=True))
        parts = words.split(" ")
        assert sorted(parts[::2]) == sorted(answers.names)
        for before, sign, after in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            assert (sign == "=") == math.isclose(score[before], score[after])
            assert sign == "=" or score[before] > score[after]


def test_indifference_is_no_violation_but_a_wanted_difference_is() -> None:
    first, second, third = (1, 2), (2, 3), (1, 2)
    indifferent = PrototypeSet("s", tuple(Prototype(o, r, 2, 5) for o, r in ((1, first), (1, second), (2, ()))))
    result = audition([indifferent], measures=["AP"])
    assert result.violations.tolist() == [0]
    assert result.agreed.tolist() == [1]
    assert result.tau[0] == pytest.approx(2 / math.sqrt(2 * 3))
    picky = PrototypeSet("s", (Prototype(1, first, 2, 5), Prototype(2, third, 2, 5), Prototype(3, (), 2, 5)))
    result = audition([picky], measures=["AP"])
    assert result.violations.tolist() == [1]
    assert result.violated_pairs().rows() == [("AP", "s", "A1", "A2", 1.0, 1.0, True)]
    assert result.to_polars()["order"].to_list() == ["A1 = A2 > A3"]


def test_rounding_makes_no_difference() -> None:
    # .1 + .2 and .3 in a measure: the same score computed in two ways is one score.
    class Wobbly(Measure):
        name = "wobbly"

        def score(self, lists):  # type: ignore[no-untyped-def]
            return np.array([0.1 + 0.2, 0.3, 0.1])

    answers = PrototypeSet("s", tuple(Prototype(order, (), 1, 1) for order in (1, 2, 3)))
    assert audition([answers], measures=[Wobbly()]).to_polars()["order"].to_list() == ["A1 = A2 > A3"]


def test_a_measure_without_an_opinion_has_tau_zero() -> None:
    answers = PrototypeSet("s", (Prototype(1, (1,), 1, 3), Prototype(2, (2,), 1, 3)))
    result = audition([answers], measures=["R"])
    assert result.tau.tolist() == [0.0]
    assert result.violations.tolist() == [1]


def test_several_sets_and_the_best_measure_first(tmp_path: Path) -> None:
    # Set "early" wants early ranks, "all" wants recall.
    text = "set,order,ranks,relevant,length\nearly,1,1,2,6\nearly,2,5,2,6\nall,1,4 5 6,3,6\nall,2,1,3,6\nall,3,,3,6\n"
    result = audition(read_prototypes(write(tmp_path, text)), measures=["RR", "FN", "mean(RR,R)", "R"])
    frame = result.to_polars()
    assert frame.columns == ["measure", "tau", "violations", "order"]
    by_name = {row[0]: row[1:] for row in frame.rows()}
    assert by_name["RR"] == (pytest.approx((1 + 1 / 3) / 2), 1, "early: A1 > A2; all: A2 > A1 > A3")
    assert by_name["R"] == (pytest.approx(0.5), 1, "early: A1 = A2; all: A1 > A2 > A3")
    assert by_name["FN"] == by_name["R"]
    assert by_name["mean(RR,R)"][1:] == (1, "early: A1 > A2; all: A2 > A1 > A3")
    assert frame["violations"].to_list() == sorted(frame["violations"])
    # Equal violations: the higher mean tau first, then as named.
    assert frame["measure"].to_list() == ["RR", "mean(RR,R)", "FN", "R"]
    assert dict(zip(frame["measure"], result.agreed.tolist(), strict=True)) == dict.fromkeys(frame["measure"], 1)
    assert result.per_set().filter(pl.col("measure") == "R").rows() == [
        ("R", "early", 0.0, 1, "A1 = A2"),
        ("R", "all", 1.0, 0, "A1 > A2 > A3"),
    ]


def test_fewer_violations_come_before_a_higher_tau() -> None:
    result = audition(read_prototypes(example_path(COVER)), measures=["R", "AP", "bpref*"])
    assert [str(measure) for measure in result.measures] == ["bpref*", "AP", "R"]
    assert result.violations.tolist() == [0, 1, 2]
    assert result.tau == pytest.approx([1, 13 / 15, 13 / math.sqrt(15 * 13)])


@given(sets_of_prototypes)
@settings(max_examples=20)
def test_the_order_of_the_answers_in_the_file_does_not_matter(answers: PrototypeSet) -> None:
    turned = PrototypeSet("s", tuple(reversed(answers.answers)))
    one, other = audition([answers], measures=SOME), audition([turned], measures=SOME)
    assert one.measures == other.measures
    assert one.tau == pytest.approx(other.tau)
    assert one.violations.tolist() == other.violations.tolist()


def test_the_default_is_every_measure_and_covers_combinations() -> None:
    names = {str(measure) for measure in default_measures()}
    assert {"mean(AP,R)", "hmean(AP,R)", "hmean(SumRR(over=length),R)", "mean(RR,R)"} <= names
    assert {"DCG(base=e,discount=first)", "mean(DCG(base=e,discount=first),R)", "AG@10", "liftarea"} <= names
    plain = {type(measure).name for measure in default_measures()}
    # Sums and geometric means over queries say nothing new about one answer.
    counts = {name for name, measure in registered().items() if not measure.is_mean}
    assert set(registered()) - plain == {"Judged", "RBPres", "ADRinv"} | counts
    for measure in default_measures():
        measure.check(BINARY)


def test_what_the_answers_do_not_suffice_for_is_left_out_by_default_and_refused_when_named(tmp_path: Path) -> None:
    sets = read_prototypes(write(tmp_path, "set,order,ranks,relevant,length\ns,1,1,1,3\ns,2,3,1,3\n"))
    result = audition(sets)
    assert set(result.left_out) == {"TN", "accuracy", "specificity", "NPV", "fallout", "ROCarea"}
    assert all("in the column 'collection' of the answers" in reason for reason in result.left_out.values())
    assert "fallout" not in result.to_polars()["measure"]
    with pytest.raises(ParameterError, match=r"^fallout counts .* in the column 'collection' of the answers$"):
        audition(sets, measures=["AP", "fallout"])
    with pytest.raises(ParameterError, match="unknown measure 'APP'"):
        audition(sets, measures=["APP"])


def test_nothing_to_audition() -> None:
    answers = PrototypeSet("s", (Prototype(1, (1,), 1, 3), Prototype(2, (2,), 1, 3)))
    with pytest.raises(ParameterError, match="no set of prototype answers"):
        audition([])
    with pytest.raises(ParameterError, match="at least one measure"):
        audition([answers], measures=[])
    with pytest.raises(InputError, match=r"^expected two answers or more in set 't', got 0"):
        PrototypeSet("t", ())


# What the audition relies on in the measures themselves


def test_a_combination_points_where_its_parts_point() -> None:
    assert parse("mean(AP,R)").higher_is_better
    assert not parse("mean(MR1,FN)").higher_is_better
    late_first = PrototypeSet("s", (Prototype(1, (1,), 1, 5), Prototype(2, (4,), 1, 5)))
    assert audition([late_first], measures=["mean(MR1,FN)"]).violations.tolist() == [0]


@pytest.mark.parametrize(
    "name", ["RBP(p=0.123456789)", "mean(AP,R,w=0.3333333333333333)", "DCG(base=e,discount=first)"]
)
def test_names_keep_all_digits(name: str) -> None:
    assert str(parse(name)) == name
    assert parse(str(parse(name))) == parse(name)
