"""Preference campaigns in which few people answered: what other people would have answered is part of the interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from pair_worlds import SDS, dense

from earmark.campaign.pairs.candidates import PairAnswers, PairDesign
from earmark.campaign.pairs.estimates import estimate_precision
from earmark.campaign.pairs.marginal_likelihood import fit_preferences
from earmark.crowd.davidson import outcome_probabilities
from earmark.data.arrays import Floats, Ints
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
        skills = np.linspace(0.6, 0.4, systems)
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
