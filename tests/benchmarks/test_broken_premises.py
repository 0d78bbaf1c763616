"""Headlines where a premise is broken: wrong no more often than they say, and wrong more often without the premise."""

from __future__ import annotations

import polars as pl
import pytest
from benchmarks.honesty import broken_premises
from benchmarks.honesty.broken_premises import CASES, MISSES, Claim, claim_of, print_table, study


def check(table: pl.DataFrame) -> None:
    """Misses are those that are known, all of them: one that is mended leaves the list, and the page."""
    for row in table.iter_rows(named=True):
        assert (row["wrong"] > row["most"]) == ((row["case"], row["says"]) in MISSES), row


def unguarded(table: pl.DataFrame, case: str, says: str) -> dict[str, float]:
    return table.row(by_predicate=(pl.col("case") == case) & (pl.col("says") == says), named=True)


@pytest.mark.parametrize(
    ("headline", "claim"),
    [
        ("a is better than b: 97.5% sure.", (True, False, 0.025)),
        ("b is the best of 3 systems: 97% sure.", (True, True, 0.03)),
        ("a is the best of 3 systems: it is certain to be better than b.", (True, False, 0.0)),
        (
            "b is probably the best of 3 systems: 96% sure that it is better than a, 90% that it is better than all.",
            (True, True, 0.1),
        ),
        ("The best of 3 systems is a or b: they cannot be told apart yet.", (False, False, 0.0)),
        (
            "b has the highest estimate of 3 systems, but it is too early: this is what is expected.",
            (False, False, 0.0),
        ),
    ],
)
def test_headlines_are_read_as_they_are_meant(headline: str, claim: tuple[bool, bool, float]) -> None:
    read = claim_of(headline, {"a": 0.6, "b": 0.5, "c": 0.4})
    assert (read.made, read.wrong) == claim[:2]
    assert read.allowed == pytest.approx(claim[2])


def test_a_headline_in_an_unknown_form_is_no_headline_without_a_claim() -> None:
    with pytest.raises(ValueError, match="unknown here"):
        claim_of("Most people are sure that it is a.", {"a": 0.6})


def test_wrong_claims_are_counted() -> None:
    assert broken_premises._allowed([Claim(True, False, 0.05)] * 100) == (pytest.approx(5.0), 13)
    assert broken_premises._allowed([Claim(False, False, 0.0)] * 100) == (0.0, 0)


def test_tests_are_wrong_no_more_often_than_they_say() -> None:
    table = study(["dependent compare", "dependent gate", "unjudged gate"], scale=0.02)
    check(table)
    assert unguarded(table, "unjudged gate", "test")["unguarded"] > 5


@pytest.mark.slow
def test_headlines_are_wrong_no_more_often_than_they_say() -> None:
    """Some five minutes of CPU; prints the table of ``python -m benchmarks.honesty.broken_premises``."""
    table = study(list(CASES))
    print_table(table)
    check(table)
    # The premises are broken: who does not look at them is wrong more often than is said.
    for case, says in (
        ("dependent compare", "test"),
        ("dependent gate", "test"),
        ("unjudged gate", "test"),
        ("partial model", "pair"),
        ("positives", "interval"),
        ("listed", "interval"),
        ("one judgment", "pair"),
        ("stale estimate", "dashboard"),
    ):
        row = unguarded(table, case, says)
        assert row["unguarded"] > 1.5 * row["unguarded_allowed"], row
