"""The grammar of measures: names that round-trip, other programs' names, and errors that help."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.errors import ParameterError
from earmark.measures import Measure, parse, registered
from earmark.measures.base import parameters, parse_all


@given(cutoff=st.none() | st.integers(1, 1000))
def test_every_measure_reads_back_its_own_name(cutoff: int | None) -> None:
    for kind in registered().values():
        measure = kind(cutoff=cutoff or 10) if kind.cutoff_required else kind(cutoff=cutoff)
        assert parse(str(measure)) == measure
        assert parse(str(measure).upper()) == measure


@pytest.mark.parametrize("name", sorted(registered()))
def test_every_measure_is_documented(name: str) -> None:
    kind = registered()[name]
    assert kind.__doc__
    assert kind.reference
    assert kind.range[0] < kind.range[1]
    assert kind.needs in ("relevance", "gain", "order")
    for parameter in parameters(kind):
        lines = [line.strip() for parent in kind.__mro__ for line in (parent.__doc__ or "").splitlines()]
        named = [word.strip() for line in lines if " : " in line for word in line.split(" : ")[0].split(",")]
        assert parameter.name in named, f"{name} does not explain {parameter.name}"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ndcg(gain=exp)@5", "nDCG(gain=exp)@5"),
        ("nDCG( gain = 'exp' , ideal=pool ) @ 5", "nDCG(gain=exp,ideal=pool)@5"),
        ("RBP(.8)@10", "RBP(p=0.8)@10"),
        ("RBP", "RBP(p=0.8)"),
        ("F(2)@5", "F(beta=2)@5"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("DCG(base=e,discount=first)@14", "DCG(base=e,discount=first)@14"),
        ("BPREF*@14", "bpref*@14"),
        ("bpref-10", "bpref-10"),
        ("mean(ap(over=retrieved), r@14, w=.7)", "mean(AP(over=retrieved),R@14,w=0.7)"),
        ("hmean(RR,R)@10", "hmean(RR,R)@10"),
        ("map", "AP"),
        ("P_5", "P@5"),
        ("recall_100", "R@100"),
        ("ndcg_cut_10", "nDCG@10"),
        ("recip_rank", "RR"),
        ("success_1", "Success@1"),
        ("set_F", "F"),
        ("Rprec", "Rprec"),
        ("infap", "infAP"),
        ("compatibility", "Compat(p=0.95)"),
    ],
)
def test_reads_what_people_write(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@5", r"unknown measure 'ndgc': did you mean nDCG\?"),
        ("zzzzzzzz", "unknown measure 'zzzzzzzz': there are "),
        ("5", "is not the name of a measure"),
        ("P@0", "a cutoff is 1 or more"),
        ("P@x", "expected a cutoff such as @10"),
        ("P@5x", "expected a cutoff such as @10"),
        ("AG", "AG needs a cutoff, for example AG@10"),
        ("nDCG(gain=quadratic)@5", "gain is one of linear, exp, got 'quadratic'"),
        ("nDCG(depth=5)", r"nDCG has no parameter 'depth' \(it has gain, base, discount, ideal\)"),
        ("RBP(p=x)", "p is a number, got 'x'"),
        ("RBP(p=1)", "the persistence p is between 0 and 1"),
        ("RBP(p=nan)", "p is a finite number"),
        ("RBP(p=.8,p=.9)", "'p' is given twice"),
        ("RBP(p=.8", "a parenthesis is not closed"),
        ("P(1,2)", "which parameter is '1' for"),
        ("DCG(base=1)", "the base of the logarithm is above 1"),
        ("nDCG(ideal=scale)", "needs a cutoff"),
        ("mean(AP,R,w=2)", "the weight w is between 0 and 1"),
    ],
)
def test_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse(text)


def test_measures_are_values() -> None:
    assert parse("nDCG@10") == parse("ndcg_cut_10") == parse("nDCG") @ 10
    assert len({parse("P@5"), parse("p_5"), parse("P@10")}) == 2
    assert [str(m) for m in parse_all(["P@5", parse("AP"), "map"])] == ["P@5", "AP"]
    assert isinstance(parse("P@5"), Measure)
