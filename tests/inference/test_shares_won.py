"""Shares won: right about people like those who answered, however few they are, at one look and at all looks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from earmark.inference.bounded_means import betting_interval
from earmark.inference.shares_won import ComparedAnswers, shares_won

QUERIES = 200
LOOKS = (6, 10, 15, 20, 27, 34, 42, 50, 60, 72, 85, 100, 120, 140, 160, 180, 200)


@dataclass(frozen=True)
class People:
    """People who compare two equally good systems, and how questions are dealt to them."""

    count: int
    taste: float
    """Standard deviation of what a person prefers, in logits."""
    dealt: str = "in turn"

    def answers(self, rng: np.random.Generator) -> ComparedAnswers:
        """Return one answer about every query."""
        places = np.arange(QUERIES)
        if self.dealt == "in turn":
            assessor = rng.permutation(places % self.count)
        elif self.dealt == "one after another":
            assessor = places * self.count // QUERIES
        else:
            share = 1 / np.arange(1, self.count + 1)
            assessor = rng.choice(self.count, QUERIES, p=share / share.sum())
        chance = expit(rng.normal(0, self.taste, self.count)[assessor] + rng.normal(0, 0.5, QUERIES))
        return ComparedAnswers((rng.random(QUERIES) < chance).astype(float), assessor, places)


def first(answers: ComparedAnswers, count: int) -> ComparedAnswers:
    return ComparedAnswers(answers.won[:count], answers.assessor[:count], answers.query[:count])


def wrong_verdicts(people: People, campaigns: int, *, anytime: bool, seed: int) -> tuple[float, float]:
    """Return how often one of two equal systems was said to be better: of people like these, and by queries alone."""
    rng = np.random.default_rng(seed)
    others = here = 0
    for _ in range(campaigns):
        answers = people.answers(rng)
        looks = [first(answers, count) for count in LOOKS] if anytime else [answers]
        shares = shares_won(looks, anytime=anytime)
        others += bool(shares.decided.any())
        here += bool(shares.preferred_here.any())
    return others / campaigns, here / campaigns


CASES = [People(count, taste) for count in (3, 6, 30) for taste in (0.0, 1.0)]
CASES += [People(30, 1.0, "unevenly"), People(6, 1.0, "one after another"), People(30, 1.0, "one after another")]


@pytest.mark.parametrize("people", CASES, ids=str)
def test_equal_systems_are_rarely_called_different(people: People) -> None:
    campaigns = 300
    wrong, _ = wrong_verdicts(people, campaigns, anytime=False, seed=4)
    assert wrong <= binom.ppf(0.999, campaigns, 0.05) / campaigns


@pytest.mark.parametrize("people", [People(3, 1.0), People(6, 1.0, "one after another")], ids=str)
def test_nor_at_any_look(people: People) -> None:
    campaigns = 40
    wrong, by_queries_alone = wrong_verdicts(people, campaigns, anytime=True, seed=5)
    assert wrong <= binom.ppf(0.999, campaigns, 0.05) / campaigns
    # What people differ by is what is needed here: without it these campaigns are wrong far more often.
    assert by_queries_alone > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("anytime", [False, True], ids=["one look", "all looks"])
def test_study_of_people(anytime: bool, capsys: pytest.CaptureFixture[str]) -> None:
    campaigns = 300 if anytime else 2000
    dealt = ["in turn", "unevenly", "one after another"]
    for people in (People(count, taste, how) for how in dealt for count in (3, 6, 30) for taste in (0.0, 0.5, 1.0)):
        wrong, here = wrong_verdicts(people, campaigns, anytime=anytime, seed=8)
        error = (max(wrong, 1 / campaigns) * (1 - wrong) / campaigns) ** 0.5
        with capsys.disabled():
            print(
                f"\n{people.count} people, taste {people.taste}, {people.dealt}, "
                f"{'all looks' if anytime else 'one look'}: "
                f"wrongly decided {wrong:.3f} ± {error:.3f}, by queries alone {here:.3f}",
                end="",
            )
        assert wrong <= binom.ppf(0.9999, campaigns, 0.05) / campaigns


def test_the_order_of_answers_matters_only_where_looks_are_repeated() -> None:
    answers = People(12, 0.5).answers(np.random.default_rng(0))
    order = np.argsort(answers.won, kind="stable")
    turned = ComparedAnswers(answers.won[order], answers.assessor[order], answers.query[order])
    once = [shares_won([part], anytime=False) for part in (answers, turned)]
    assert once[0].low == pytest.approx(once[1].low)
    assert once[0].confidence == pytest.approx(once[1].confidence)
    again = [shares_won([part]) for part in (answers, turned)]
    assert again[0].these_low != again[1].these_low


def test_swapping_the_systems_turns_the_interval_round() -> None:
    answers = People(8, 1.0).answers(np.random.default_rng(1))
    turned = ComparedAnswers(1 - answers.won, answers.assessor, answers.query)
    for anytime in (False, True):
        ours, theirs = shares_won([answers], anytime=anytime), shares_won([turned], anytime=anytime)
        assert ours.low == pytest.approx(1 - theirs.high)
        assert ours.high == pytest.approx(1 - theirs.low)
        assert ours.confidence == pytest.approx(theirs.confidence)


def test_the_interval_excludes_even_where_the_confidence_reaches_the_level() -> None:
    rng = np.random.default_rng(2)
    parts = [
        ComparedAnswers((rng.random(60) < share).astype(float), np.arange(60) % 20, np.arange(60))
        for share in np.linspace(0.05, 0.95, 40)
    ]
    for anytime in (False, True):
        shares = shares_won(parts, anytime=anytime)
        assert shares.decided.any()
        assert ((shares.confidence >= 0.95) == shares.decided).all()


def test_more_people_who_agree_narrow_the_interval() -> None:
    rng = np.random.default_rng(3)
    won = (rng.random(120) < 0.8).astype(float)
    widths = []
    for people in (2, 4, 12, 60):
        shares = shares_won([ComparedAnswers(won, np.arange(120) % people, np.arange(120))], anytime=False)
        widths.append(float(shares.high[0] - shares.low[0]))
    assert all(narrower < wider for wider, narrower in pairwise(widths))


def test_nobody_and_one_person_say_nothing_of_others() -> None:
    nothing = ComparedAnswers(np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    alone = ComparedAnswers(np.ones(50), np.zeros(50, dtype=np.int64), np.arange(50))
    shares = shares_won([nothing, alone])
    assert np.isnan(shares.share[0])
    assert shares.low.tolist() == [0.0, 0.0]
    assert shares.high.tolist() == [1.0, 1.0]
    assert shares.confidence.tolist() == [0.5, 0.5]
    assert shares.these_low[1] == pytest.approx(betting_interval(np.ones(50))[0])
    assert shares_won([]).share.size == 0
