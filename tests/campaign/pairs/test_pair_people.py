"""Preference campaigns in which few people answered: what other people would have answered is part of the interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from pair_worlds import SDS, dense

from earmark.campaign.pairs.candidates import PairAnswers, PairDesign, answers_about
from earmark.campaign.pairs.estimates import PreferenceEstimates, estimate_precision
from earmark.campaign.pairs.marginal_likelihood import fit_preferences
from earmark.campaign.pairs.model import fit_pairs
from earmark.campaign.pairs.people import people_variance, total_df
from earmark.crowd.davidson import outcome_probabilities
from earmark.data.arrays import Floats, Ints
from earmark.data.preferences import Preferences
from earmark.simulation.pair_campaigns import PairWorld, made_up_world

NEEDED = 3


@dataclass(frozen=True, eq=False)
class Tastes:
    """People who agree with systems to different degrees, and what they would answer.

    Parameters
    ----------
    design : PairDesign
    difference : ndarray of float, shape (pairs,)
        Of the documents of each pair for people at large.
    sd : float
        The standard deviation of how much more one person agrees with a system than with another, in logits.
    """

    design: PairDesign
    difference: Floats
    sd: float

    @classmethod
    def draw(cls, rng: np.random.Generator, sd: float, systems: int = 2) -> Tastes:
        """Draw the preferences of people at large from the model."""
        skills = np.linspace(0.6, 0.4, systems).tolist()
        design = made_up_world(rng, skills=skills, queries=20, documents=20, depth=10, pairs=30).design
        effects = dense(design, SDS)
        difference = effects @ rng.normal(size=effects.shape[1]) + SDS.pair * rng.normal(size=len(design.pairs))
        return cls(design, difference, sd)

    def signs(self, rng: np.random.Generator, person: Ints) -> Ints:
        """Draw the answers of people, in the shape of `person` (pairs × answers), whose tastes are drawn anew."""
        taste = self.sd / np.sqrt(2) * rng.normal(size=(int(person.max()) + 1, len(self.design.systems)))
        difference = self.difference[:, None] + np.einsum("sp,pas->pa", self.design.order, taste[person])
        return np.where(rng.random(person.shape) < outcome_probabilities(difference, 0.0)[0], 1, -1)


def answer_some(rng: np.random.Generator, tastes: Tastes, people: int, share: float) -> tuple[PairAnswers, Floats]:
    """Let some people answer a share of the pairs, and for every answer of the rest somebody else; with the truth."""
    n = len(tastes.design.pairs)
    asked = rng.random(n) < share
    few = np.array([rng.choice(people, NEEDED, replace=False) for _ in range(n)])
    others = np.arange(n * NEEDED).reshape(n, NEEDED)
    signs = np.where(asked[:, None], tastes.signs(rng, few), tastes.signs(rng, others))
    truth = PairWorld(tastes.design, signs).truth
    first, second = (np.where(asked, np.sum(signs == sign, axis=1), 0) for sign in (1, -1))
    pair = np.repeat(np.flatnonzero(asked), NEEDED)
    given = PairAnswers(first, second, np.zeros(n, dtype=np.int64), pair, few[asked].ravel(), signs[asked].ravel())
    return given, truth


def without_people(answers: PairAnswers) -> PairAnswers:
    return PairAnswers(answers.first, answers.second, answers.same)


def coverage(seed: int, repeats: int, people: int, sd: float, share: float, systems: int = 2) -> Floats:
    """Return how often intervals of systems and of differences hold, and their width over that without people."""
    rows = []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        tastes = Tastes.draw(rng, sd, systems)
        answers, truth = answer_some(rng, tastes, people, share)
        row = []
        posterior = fit_preferences(tastes.design, answers)
        for some in (answers, without_people(answers)):
            ranking = estimate_precision(posterior, some, needed=NEEDED).ranking
            estimates = ranking.estimates
            apart = truth[estimates.a] - truth[estimates.b]
            row += [
                np.mean((ranking.low <= truth) & (truth <= ranking.high)),
                np.mean((ranking.difference_low <= apart) & (apart <= ranking.difference_high)),
                np.mean(ranking.high - ranking.low),
                np.mean(ranking.difference_high - ranking.difference_low),
            ]
        rows.append(row)
    return np.array(rows)


# With a share of the pairs answered by these people, the rest by others: people, taste, share.
STUDIED = [(3, 0.0, 0.25), (3, 0.5, 0.25), (3, 1.0, 0.25), (3, 1.0, 0.5), (6, 1.0, 0.5), (10, 0.0, 0.5), (10, 0.5, 0.5),
           (10, 1.0, 0.25), (30, 0.5, 0.5), (30, 1.0, 0.25)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("people", "sd", "share"), STUDIED)
def test_intervals_hold_for_other_people(people: int, sd: float, share: float) -> None:
    rows = coverage(7, 150, people, sd, share)
    mean, error = rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
    print(
        f"{people:3} people, taste {sd:.1f}, {share:.0%} answered: systems {mean[0]:.3f} (se {error[0]:.3f}), "
        f"differences {mean[1]:.3f} (se {error[1]:.3f}); without people {mean[4]:.3f}, {mean[5]:.3f}; "
        f"width {mean[2] / mean[6]:.2f}, {mean[3] / mean[7]:.2f}"
    )
    assert np.all(mean[:2] + 2 * error[:2] >= 0.93)
    if sd == 0:
        assert mean[2] < 1.1 * mean[6]


@pytest.fixture(scope="module")
def answered() -> tuple[Tastes, PairAnswers]:
    rng = np.random.default_rng(1)
    tastes = Tastes.draw(rng, 1.5)
    return tastes, answer_some(rng, tastes, 3, 0.3)[0]


def look(tastes: Tastes, answers: PairAnswers) -> PreferenceEstimates:
    return estimate_precision(fit_pairs(tastes.design, answers, sds=SDS), answers, needed=NEEDED)


def by(answers: PairAnswers, person: Ints) -> PairAnswers:
    return PairAnswers(answers.first, answers.second, answers.same, answers.pair, person, answers.sign)


def test_few_people_with_tastes_widen_intervals(answered: tuple[Tastes, PairAnswers]) -> None:
    tastes, answers = answered
    plain, people = (look(tastes, some).ranking for some in (without_people(answers), answers))
    assert np.all(people.high - people.low > 1.5 * (plain.high - plain.low))
    assert people.difference_high - people.difference_low > 1.5 * (plain.difference_high - plain.difference_low)
    np.testing.assert_array_equal(people.estimates.scores.mean, plain.estimates.scores.mean)


def test_answers_each_by_somebody_else_widen_nothing(answered: tuple[Tastes, PairAnswers]) -> None:
    tastes, answers = answered
    plain, each = (
        look(tastes, some).ranking for some in (without_people(answers), by(answers, np.arange(answers.pair.size)))
    )
    np.testing.assert_allclose(each.high - each.low, plain.high - plain.low)


def test_one_person_says_nothing_about_others(answered: tuple[Tastes, PairAnswers]) -> None:
    tastes, answers = answered
    alone = look(tastes, by(answers, np.zeros_like(answers.person)))
    assert alone.notes() == [
        "about answers of the 1 person who answered: what others prefer is open, that takes more people"
    ]
    np.testing.assert_allclose(alone.ranking.high, look(tastes, without_people(answers)).ranking.high)
    assert look(tastes, answers).notes()[0] == "about answers of people like the 3 who answered"
    assert not look(tastes, without_people(answers)).notes()


def test_numbers_of_people_and_the_order_of_answers_change_nothing(answered: tuple[Tastes, PairAnswers]) -> None:
    tastes, answers = answered
    shuffled = np.random.default_rng(0).permutation(answers.pair.size)
    renamed = (7 - 2 * answers.person)[shuffled]
    other = PairAnswers(
        answers.first, answers.second, answers.same, answers.pair[shuffled], renamed, answers.sign[shuffled]
    )
    np.testing.assert_allclose(look(tastes, other).ranking.low, look(tastes, answers).ranking.low)


def test_the_variance_of_people_by_loops(answered: tuple[Tastes, PairAnswers]) -> None:
    tastes, answers = answered
    posterior = fit_pairs(tastes.design, answers, sds=SDS)
    contrast = tastes.design.order[:1].astype(float)
    ones = np.ones_like(contrast)
    variance, df = people_variance(posterior, answers, contrast, ones)
    spread = np.sqrt(posterior.variance + SDS.pair**2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    chance = outcome_probabilities(posterior.mean[:, None] + spread[:, None] * nodes, 0.0)[0]
    information = (chance * (1 - chance)) @ weights / weights.sum()
    v, query = contrast[0][answers.pair], tastes.design.pairs.query_index[answers.pair]
    weight = v**2 * information[answers.pair]
    agreement = np.sum(v * answers.sign / 2) / weight.sum()
    error = (v * answers.sign / 2 - weight * agreement) / weight.sum()
    people, queries = range(3), np.unique(query)
    e = np.array([[error[(answers.person == w) & (query == q)].sum() for q in queries] for w in people])
    h = np.array([[weight[(answers.person == w) & (query == q)].sum() for q in queries] for w in people])
    h /= weight.sum()
    across = np.array([
        [sum(e[w, q] * e[u, r] for q in range(e.shape[1]) for r in range(e.shape[1]) if q != r) for u in people]
        for w in people
    ])  # fmt: skip
    concentration = np.sum(h.sum(axis=1) ** 2)
    k = 1 - np.sum(h**2) / concentration
    expected = (np.trace(across) - concentration * across.sum()) / (k * (1 - concentration))
    response = np.sum(posterior.information * contrast)
    assert variance[0] == pytest.approx(expected * response**2)
    assert df[0] == pytest.approx(1 / concentration - 1)
    assert total_df(np.ones(1), 19.0, variance * 0, df)[0] == pytest.approx(19.0)


def test_several_systems_are_each_by_itself() -> None:
    rng = np.random.default_rng(2)
    tastes = Tastes.draw(rng, 0.0, systems=3)
    notes = look(tastes, answer_some(rng, tastes, 6, 0.1)[0]).notes()
    assert notes[-1] == "each pair of systems by itself: confidence is not adjusted for the number of pairs"


def test_who_answered_is_read_and_added() -> None:
    rows = [("q", "x", "y", "ann", "a"), ("q", "y", "x", "bob", "a"), ("q", "z", "y", "ann", "same")]
    frame = pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row")
    preferences = Preferences.from_frame(frame)
    answers, elsewhere = answers_about(preferences.pairs(), preferences)
    found = sorted(zip(answers.pair.tolist(), answers.person.tolist(), answers.sign.tolist(), strict=True))
    assert (found, elsewhere) == ([(0, 0, 1), (0, 1, -1), (1, 0, 0)], 0)
    assert (answers + answers).pair.size == 6
    assert answers.n_people == 2
