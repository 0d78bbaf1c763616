r"""Simulated campaigns of pair questions, with simulated crowds and with recorded answers.

All answers that a crowd would give are known from the start, and with them the truth: the preference precision of every
system when every candidate pair has all its answers. A campaign only sees the answers that it asks for. It is right
about two systems if it puts them in their true order, and its intervals hold if they contain the true values.

**A simulated crowd** (:func:`made_up_world`) finds documents fitting to a query: :math:`f_{qi}` is a standard normal
variable, part of which is how much the document is liked for any query. It answers by Davidson's model with the
difference :math:`sharpness \cdot (f_{qi} - f_{qj}) + peculiarity \cdot u_p`. A system of skill :math:`\rho` ranks
documents by a variable that is correlated with their fit by :math:`\rho`.

**Recorded answers** (:func:`recorded_world`) are given one after the other in the order of the file. Where a crowd was
recorded without systems, these can be simulated: the recorded order of documents with errors
(:func:`runs_with_errors`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from earmark.campaign.loop import play
from earmark.campaign.pairs.campaign import PairCampaign, PairLook, PairProblem
from earmark.campaign.pairs.candidates import PairAnswers, PairDesign, make_candidates, make_design
from earmark.campaign.pairs.policies import PairPolicy
from earmark.campaign.policies import Proposal
from earmark.campaign.stopping import parse_stop
from earmark.crowd.davidson import outcome_probabilities
from earmark.data.arrays import Floats, Ints
from earmark.data.conversion import runs_from_frame
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.preferences import PairTable, Preferences
from earmark.data.runs import Runs
from earmark.errors import ParameterError
from earmark.simulation.campaigns import intervals_hold, mean_or_none
from earmark.wording import counted
from earmark.workers import work_through


@dataclass(frozen=True, eq=False, repr=False)
class PairWorld(Display):
    """Candidate pairs, systems, and everything that a crowd would answer.

    Attributes
    ----------
    design : PairDesign
        The pairs and the systems.
    signs : ndarray of int, shape (pairs, answers)
        +1 where an answer chooses the first document of the pair, −1 where the second, 0 for same, in the order given.
    """

    design: PairDesign
    signs: Ints

    def _summary(self) -> Summary:
        """Show the true precision of every system."""
        frame = pl.DataFrame({"system": pl.Series(self.design.systems, dtype=pl.String), "precision": self.truth})
        pairs = counted(self.signs.shape[0], "pair")
        return Summary(f"{pairs} of documents, {counted(self.needed, 'answer')} each", [DisplayTable(frame)])

    @property
    def needed(self) -> int:
        """How many answers a question gets."""
        return int(self.signs.shape[1])

    @cached_property
    def winner(self) -> Ints:
        """+1 where the first document of a pair is preferred when all have answered, −1 the second, 0 neither."""
        winner: Ints = np.sign(self.signs.sum(axis=1))
        return winner

    @cached_property
    def truth(self) -> Floats:
        """The preference precision of every system when everything is answered, shape (systems,)."""
        counted = (self.design.order != 0) & (self.winner != 0)
        right = (self.design.order == self.winner) & counted
        truth: Floats = right.sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
        return truth

    def answer(self, campaign: PairCampaign, proposal: Proposal) -> PairAnswers:
        """Give the next answers about each proposed pair, in their order."""
        start = campaign.answers.total[:, None]
        end = start.copy()
        end[proposal.items, 0] += campaign.answers_wanted(proposal)
        place = np.arange(self.needed)
        asked = (start <= place) & (place < end)
        return PairAnswers(*(np.sum(asked & (self.signs == sign), axis=1) for sign in (1, -1, 0)))


def made_up_world(
    rng: np.random.Generator,
    *,
    skills: Sequence[float] = (0.6, 0.4),
    queries: int = 25,
    documents: int = 40,
    depth: int = 20,
    pairs: int | None = 60,
    needed: int = 6,
    sharpness: float = 1.5,
    peculiarity: float = 0.7,
    popularity: float = 0.2,
    same_weight: float = 0.0,
    shared_error: float = 0.3,
) -> PairWorld:
    """Simulate a crowd and systems.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where all draws come from.
    skills : sequence of float, in [-1, 1]
        The correlation of what each system ranks by with the fit.
    queries, documents : int
        How many of each; every query is asked about all documents.
    depth : int
        How many documents a list holds.
    pairs : int, optional
        How many candidate pairs there are per query, drawn at random; all pairs of documents when omitted.
    needed : int
        How many answers a question gets.
    sharpness : float
        How strongly people prefer what fits better.
    peculiarity : float
        The standard deviation of what is peculiar to a pair, beyond the fit of its documents.
    popularity : float, 0..1
        The share of the variance of fit that does not depend on the query.
    same_weight : float, 0 or more
        How readily people answer *same*.
    shared_error : float, 0..1
        The share of the variance of systems' errors that they have in common, as real systems do.
    """
    if documents < 2 or depth < 1:
        raise ParameterError(f"a world has 2 documents and lists of 1 or more, got {documents} and {depth}")
    liked, own = rng.normal(size=documents), rng.normal(size=(queries, documents))
    fit = np.sqrt(popularity) * liked + np.sqrt(1 - popularity) * own
    common = rng.normal(size=(queries, documents))
    ranked = []
    for skill in skills:
        error = np.sqrt(shared_error) * common + np.sqrt(1 - shared_error) * rng.normal(size=(queries, documents))
        ranked.append(np.argsort(-(skill * fit + np.sqrt(1 - skill**2) * error), axis=1)[:, :depth])
    names = [f"d{number:03d}" for number in range(documents)]
    runs = _runs(
        (f"system-{number}", f"q{query:03d}", names[document])
        for number, lists in enumerate(ranked, start=1)
        for query, documents_in_order in enumerate(lists)
        for document in documents_in_order
    )
    first, second = np.triu_indices(documents, k=1)
    questions = []
    for number in range(queries):
        chosen = range(first.size) if pairs is None else rng.choice(first.size, pairs, replace=False)
        questions += [(f"q{number:03d}", names[first[pair]], names[second[pair]]) for pair in chosen]
    candidates = make_candidates(questions)
    query, a, b = candidates.query_index, candidates.first_index, candidates.second_index
    at = np.array([names.index(name) for name in candidates.documents])
    difference = sharpness * (fit[query, at[a]] - fit[query, at[b]]) + peculiarity * rng.normal(size=query.size)
    p_first, p_second, _ = outcome_probabilities(difference[:, None], same_weight)
    draw = rng.random((difference.size, needed))
    signs = np.where(draw < p_first, 1, np.where(draw < p_first + p_second, -1, 0))
    return PairWorld(make_design(runs, candidates, k=depth), signs)


def _runs(rows: Iterable[tuple[str, str, str]]) -> Runs:
    return runs_from_frame(pl.DataFrame(list(rows), schema=["system", "query", "document"], orient="row"))


def recorded_world(preferences: Preferences, runs: Runs, *, k: int, needed: int | None = None) -> PairWorld:
    """Take recorded answers for the crowd; the pairs they are about are the candidates.

    Parameters
    ----------
    preferences : Preferences
        The answers.
    runs : Runs
        The systems.
    k : int
        How many ranks of a list count.
    needed : int, optional
        How many answers of every pair to take, the first in the file; by default as many as the pair with fewest has.
    """
    pairs = preferences.pairs()
    fewest = int(pairs.answers.min())
    taken = fewest if needed is None else needed
    if not 1 <= taken <= fewest:
        raise ParameterError(f"every pair has {fewest} answers or more: {taken} cannot be taken of each")
    sign = preferences.sign * pairs.answer_orientation
    order = np.argsort(pairs.answer_pair, kind="stable")
    start = np.concatenate(([0], np.cumsum(pairs.answers)[:-1]))
    signs = sign[order][start[:, None] + np.arange(taken)]
    return PairWorld(make_design(runs, pairs, k=k), signs)


def runs_with_errors(pairs: PairTable, rng: np.random.Generator, errors: Sequence[float]) -> Runs:
    """Simulate systems that rank the documents of every query by the share of answers they won, with errors.

    Parameters
    ----------
    pairs : PairTable
        What was answered.
    rng : numpy.random.Generator
        Draws the errors.
    errors : sequence of float, 0 or more
        The standard deviation of each system's errors, that of the shares being 1.
    """
    size = len(pairs.documents)
    keys = np.concatenate([pairs.query_index * size + index for index in (pairs.first_index, pairs.second_index)])
    items, place = np.unique(keys, return_inverse=True)
    lead = (pairs.first - pairs.second) / pairs.answers
    score = np.bincount(place, np.concatenate((lead, -lead))) / np.bincount(place)
    score = score / score.std()
    rows = []
    for number, sd in enumerate(errors, start=1):
        noisy = score + sd * rng.normal(size=score.size)
        for at in np.lexsort((-noisy, items // size)):
            query, document = divmod(int(items[at]), size)
            rows.append((f"system-{number}", pairs.queries[query], pairs.documents[document]))
    return _runs(rows)


@dataclass(frozen=True)
class PairOutcome:
    """One look at a campaign of pair questions, with the truth beside it.

    Attributes
    ----------
    kind : str
        ``step``, or ``stop`` for the look at which the campaign stopped.
    repeat : int
        Which campaign.
    answers : int
        How many answers were given.
    questions : float
        How many questions that is, each with its full number of answers.
    mean_confidence, min_confidence : float or None
        Over pairs of systems, as claimed.
    accuracy : float or None
        The share of pairs of systems in the right order; an estimated tie is half right, and truly equal systems are.
    coverage_pairs_95, coverage_systems_95 : float or None
        The share of intervals that hold the true value.
    half_width_pairs : float or None
        Half the mean width of the intervals of differences.
    error : float
        The root mean square error of the systems' precisions.
    reason : str
        Why the campaign stopped; empty for a step.
    """

    kind: str
    repeat: int
    answers: int
    questions: float
    mean_confidence: float | None
    min_confidence: float | None
    accuracy: float | None
    coverage_pairs_95: float | None
    coverage_systems_95: float | None
    half_width_pairs: float | None
    error: float
    reason: str


def judge_look(look: PairLook, world: PairWorld, repeat: int) -> PairOutcome:
    """Compare a look at a campaign with the truth."""
    ranking, truth, answered = look.estimates.ranking, world.truth, look.estimates.answered
    estimates, compared = ranking.estimates, ranking.compared
    fact = (truth[estimates.a] - truth[estimates.b])[compared]
    said = np.sign(estimates.differences.mean[compared])
    credit = np.where((said == np.sign(fact)) | (fact == 0), 1.0, np.where(said == 0, 0.5, 0.0))
    low, high = ranking.difference_low[compared], ranking.difference_high[compared]
    return PairOutcome(
        kind="stop" if look.decision.stop else "step",
        repeat=repeat,
        answers=answered,
        questions=answered / world.needed,
        mean_confidence=ranking.mean_confidence,
        min_confidence=ranking.min_confidence,
        accuracy=mean_or_none(credit),
        coverage_pairs_95=mean_or_none(intervals_hold(low, fact, high)),
        coverage_systems_95=mean_or_none(intervals_hold(ranking.low, truth, ranking.high)),
        half_width_pairs=mean_or_none((high - low) / 2),
        error=float(np.sqrt(np.mean((estimates.scores.mean - truth) ** 2))),
        reason=look.decision.reason if look.decision.stop else "",
    )


def simulate_pairs(
    world: PairWorld,
    *,
    policy: PairPolicy = "adaptive",
    stop: str = "mean:0.95",
    margin: float = 0.0,
    one_at_a_time: bool = False,
    batch: int = 20,
    seed: int = 0,
    repeat: int = 0,
) -> Iterator[PairOutcome]:
    """Simulate one campaign.

    Parameters
    ----------
    world : PairWorld
        Who answers, and about what.
    policy, one_at_a_time
        As for :class:`~earmark.campaign.pairs.campaign.PairProblem`.
    stop : str
        When to stop, as on the command line.
    margin : float
        Differences up to this do not matter to the stop rule.
    batch : int
        How many questions are asked between two looks.
    seed, repeat : int
        The seed of a study and the number of the campaign in it; campaigns with another number draw anew.
    """
    problem = PairProblem(
        world.design,
        world.needed,
        policy=policy,
        stop=parse_stop(stop, margin=margin),
        one_at_a_time=one_at_a_time,
        seed=int(np.random.SeedSequence([seed, repeat]).generate_state(1)[0]),
    )
    for campaign in play(PairCampaign.begin(problem), world.answer, batch=batch):
        yield judge_look(campaign.look, world, repeat)


def simulate_pair_campaigns(
    world: PairWorld, *, repeats: int = 1, jobs: int | None = 1, cluster: str | None = None, **how: Any
) -> Iterator[PairOutcome]:
    """Simulate several campaigns, in order of their numbers.

    Parameters
    ----------
    world, how
        As for :func:`simulate_pairs`.
    repeats : int
        How many campaigns.
    jobs, cluster
        How many processes to use, or which Dask cluster: see :func:`earmark.workers.work_through`. The results do not
        depend on it.
    """
    yield from work_through(
        _play_one, (world, how), ((number,) for number in range(repeats)), jobs=jobs, cluster=cluster
    )


def _play_one(shared: tuple[PairWorld, dict[str, Any]], number: int) -> Iterator[PairOutcome]:
    world, how = shared
    return simulate_pairs(world, repeat=number, **how)
