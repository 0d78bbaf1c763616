r"""How reliable each worker is, and what is true then: one-coin and Dawid–Skene models, with the difficulty of pairs.

Nobody knows the true answer to a question, but those who agree with others are more likely to give it, and what they
say should count more. Both models suppose that every pair p has a true answer :math:`T_p`: one of its documents or
(where anybody answered so) *same*, and that worker w, who knows it, answers :math:`y` with a probability that depends
on it:

- **one-coin**: the true answer with probability :math:`r_w`, any of the K − 1 others with :math:`(1 - r_w) / (K - 1)`;
- **Dawid–Skene**: :math:`C_w[t, y]`, any matrix whose rows sum to 1 [1]_. Its rows and columns are the places in which
  documents were *shown*, so that it also tells who favours a side.

**Difficulty.** If all pairs were equally easy, five answers that agree would leave no doubt. They are not [3]_, and
answers to a hard pair err together. So every pair has a difficulty :math:`e_p`, one of 0, 1/4, 1/2, 3/4 and 1: each
worker guesses with this probability, which says nothing about the pair, and :math:`g_w` are the shares of the answers
of worker w, as shown:

.. math:: P(y \mid t, w, e) = (1 - e)\, C_w[t, y] + e\, g_w[y]

The true answers, the difficulties and the reliabilities of workers are estimated by expectation-maximisation (EM):

.. math::
   P(T_p = t, e_p = e) \propto \pi_t \lambda_e \prod_{i \in p} P(y_i \mid t, w_i, e), \qquad
   r_w = \frac{\sum_{i \in w} P(T_{p_i} = y_i, \text{known}) + a}{\sum_{i \in w} P(\text{known}) + a + b}

and likewise for the rows of C. Here :math:`\pi` are the shares of the true answers: the two documents of a pair, whose
order means nothing, share theirs equally. The pseudo-counts a and b (one-coin: 4 and 2 · (K − 1) / K; Dawid–Skene: 2 in
the diagonal and 1 elsewhere) are a weak prior in favour of reliable workers: they keep those with few answers from
being certain of anything, and keep all workers from being declared liars at once, which would fit the answers as well.
The shares :math:`\lambda_e` of the difficulties have 5 pseudo-counts each: a few answers to a pair hardly tell how
difficult pairs are, and without these all would be taken for easy.

**What is true** here is the answer that reliable workers lean to. A pair that misleads most people looks like any
other, and no model of answers alone can find it. In this sense the probability of an answer is as often right as it
says, or more often: in simulated studies of 60 or 200 pairs with 3 to 10 answers each, equally difficult or not, those
above .95 were right in .96 to 1 where .96 to .995 was said, and in .91 to .98 where difficulties differ and pairs are
taken to be equally easy. Where 10% of the pairs misled people, the answers above .95 named the better document in .88
to .93, whatever the model (``pytest -m slow tests/crowd/test_probabilities_of_choices.py``). With few pairs, or few
answers to each, the probability is lower than it might be: .83 to .89 where .96 are right.

The work of an iteration grows with the number of answers, whatever that of workers and pairs. After two iterations an
extrapolation tries to save many more (SQUAREM [2]_), and is discarded if it lowers the objective. Iterations end when
one of them changes no reliability by more than ``tolerance``; if that does not happen in time, it is an error.

References
----------
.. [1] A. P. Dawid, A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm.
   Applied Statistics 28(1), 20–28.
.. [2] R. Varadhan, C. Roland (2008). Simple and globally convergent methods for accelerating the convergence of any EM
   algorithm. Scandinavian Journal of Statistics 35(2), 335–353.
.. [3] J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma, J. Movellan (2009). Whose vote should count more: optimal integration
   of labels from labelers of unknown expertise. Advances in Neural Information Processing Systems 22, 2035–2043.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import polars as pl

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.preferences import PairTable, Preferences
from earmark.errors import NotConverged, ParameterError
from earmark.wording import counted

WorkerModelName = Literal["one-coin", "dawid-skene"]
# The true answers, as they stand in the columns of ``truth``.
FIRST, SECOND, SAME = 0, 1, 2
_SHOWN_FIRST = 1
# What an answer is when the documents are shown the other way round.
_TURNED = np.array([SECOND, FIRST, SAME])
# How probable it is that a worker guesses, of easy pairs to those that nobody can answer.
DIFFICULTIES = (0.0, 0.25, 0.5, 0.75, 1.0)
# How many pairs of each difficulty are supposed to have been seen, and how many answers like everybody's of a worker.
_SEEN_OF_DIFFICULTY, _LIKE_EVERYBODY = 5.0, 3.0
_TINY = np.finfo(float).tiny
_LOWEST = float(np.log(1e-12))
# An extrapolation that goes hardly farther than the two iterations it starts from is not worth trying.
_SHORTEST_EXTRAPOLATION = 1.1


@dataclass(frozen=True, eq=False, repr=False)
class WorkerModel(Display):
    """Workers and true answers, as far as they can be told.

    Attributes
    ----------
    pairs : PairTable
        The pairs that were asked about.
    assessors : tuple of str
        The workers.
    truth : ndarray of float, shape (pairs, 3), in [0, 1]
        How probable it is that the true answer is the first document of the pair, the second, or same.
    prevalence : ndarray of float, shape (3,)
        The shares of the true answers among pairs.
    confusion : ndarray of float, shape (workers, 3, 3)
        How probable each answer (last axis) of somebody who does not guess is for each truth, as shown: a, b, same.
    guess : ndarray of float, shape (workers, 3)
        How probable each answer of somebody who guesses is, as shown.
    difficulty : ndarray of float, shape (pairs,), in [0, 1]
        How probable it is that a worker guesses, by its posterior mean.
    difficulties, difficulty_shares : ndarray of float, shape (difficulties,), in [0, 1]
        The difficulties that a pair may have, and their shares among pairs.
    answers : ndarray of int, shape (workers,)
        How much each worker answered.
    log_likelihood : float
        Of all answers.
    iterations : int
        How many iterations it took.
    """

    pairs: PairTable
    assessors: tuple[str, ...]
    truth: Floats
    prevalence: Floats
    confusion: Floats
    guess: Floats
    difficulty: Floats
    difficulties: Floats
    difficulty_shares: Floats
    answers: Ints
    log_likelihood: float
    iterations: int

    @cached_property
    def answering(self) -> Floats:
        """How probable each answer to a pair of mean difficulty is for each truth, shape (workers, 3, 3)."""
        return _mixed(self.confusion, self.guess, float(self.difficulties @ self.difficulty_shares))

    @cached_property
    def reliability(self) -> Floats:
        """How probable it is that a worker gives the true answer to such a pair, shape (workers,)."""
        return _reliability(self.answering, self.prevalence)

    @cached_property
    def answer(self) -> Ints:
        """The most probable answer to every pair: +1 the first document, −1 the second, 0 same or undecided."""
        best = self.truth.argmax(axis=1)
        sign = np.array([1, -1, 0])[best]
        decided = np.abs(self.truth[:, FIRST] - self.truth[:, SECOND]) > 1e-9
        answer: Ints = np.where((best == SAME) | decided, sign, 0)
        return answer

    def workers(self) -> pl.DataFrame:
        """One row per worker, the most reliable first: ``assessor``, ``answers``, ``reliability``, ``right``.

        ``right`` is how probable the answer b is where both documents are equally likely to be the better one, among
        answers that choose a document: one half for somebody who favours neither side.
        """
        chosen = self.answering[:, :2, :2].sum(axis=1)
        return pl.DataFrame(
            {
                "assessor": pl.Series(self.assessors, dtype=pl.String),
                "answers": self.answers,
                "reliability": self.reliability,
                "right": chosen[:, 1] / chosen.sum(axis=1),
            }
        ).sort("reliability", descending=True, maintain_order=True)

    def _summary(self) -> Summary:
        """Show the most reliable workers."""
        workers, pairs = counted(len(self.assessors), "worker"), counted(len(self.pairs), "pair")
        return Summary(
            f"{workers} on {pairs} of documents, {self.iterations:,} iterations", [DisplayTable(self.workers())]
        )


def fit_worker_model(
    preferences: Preferences,
    *,
    model: WorkerModelName = "dawid-skene",
    difficulties: Sequence[float] = DIFFICULTIES,
    prior_weight: float = 1.0,
    max_iterations: int = 1000,
    tolerance: float = 1e-4,
) -> WorkerModel:
    """Find out how reliable workers are and what the true answers are.

    Parameters
    ----------
    preferences : Preferences
        The answers.
    model : {"one-coin", "dawid-skene"}
        How workers err.
    difficulties : sequence of float, in [0, 1]
        The difficulties that a pair may have; with 0 alone, the models of equally easy pairs.
    prior_weight : float, 0 or more
        What the pseudo-counts are multiplied by; 0 for maximum likelihood.
    max_iterations : int
        How many iterations to make at most.
    tolerance : float
        How little reliabilities change in the last iteration.

    Raises
    ------
    NotConverged
        If reliabilities still change after that.
    """
    if model not in get_args(WorkerModelName):
        raise ParameterError(f"unknown model of workers '{model}': use {' or '.join(get_args(WorkerModelName))}")
    if not prior_weight >= 0:
        raise ParameterError(f"the weight of the prior is 0 or more, got {prior_weight:g}")
    levels = np.asarray(difficulties, dtype=np.float64)
    if not (levels.size and np.all((levels >= 0) & (levels <= 1))):
        raise ParameterError(f"difficulties are probabilities, one or more, got {list(difficulties)}")
    answers = _Answers.of(preferences)
    one_coin = model == "one-coin"
    em = _Iteration(answers, levels, _pseudo_counts(answers.n_kinds, one_coin=one_coin), one_coin, prior_weight)
    state, iterations, change = em.start(), 0, np.inf
    while iterations < max_iterations:
        joint, objective, log_likelihood = em.expect(state)
        once = em.maximise(joint, em.knowing(state))
        change = float(np.abs(em.reliability(once) - em.reliability(state)).max())
        if change <= tolerance:
            return WorkerModel(
                preferences.pairs(),
                preferences.assessors,
                joint.sum(axis=0),
                state.prevalence,
                state.confusion,
                answers.guess,
                levels @ joint.sum(axis=2),
                levels,
                state.shares,
                np.bincount(answers.worker, minlength=answers.n_workers),
                log_likelihood,
                iterations,
            )
        twice = em.maximise(em.expect(once)[0], em.knowing(once))
        iterations += 2
        extrapolation = _Extrapolation.between(state, once, twice)
        state = twice
        while extrapolation.stretch > _SHORTEST_EXTRAPOLATION:
            far = extrapolation.state()
            far_joint, far_objective, _ = em.expect(far)
            iterations += 1
            if far_objective >= objective:
                state = em.maximise(far_joint, em.knowing(far))
                break
            extrapolation = extrapolation.shorter()
    raise NotConverged(
        f"the reliabilities of workers did not settle in {max_iterations} iterations: they still change by {change:.2g}"
    )


def _mixed(confusion: Floats, guess: Floats, difficulty: float) -> Floats:
    """Return how probable each answer is where workers guess so often; impossible truths stay impossible."""
    mixed: Floats = np.where(confusion.sum(axis=2, keepdims=True) > 0, difficulty * guess[:, None, :], 0.0)
    mixed += (1 - difficulty) * confusion
    return mixed


def _reliability(answering: Floats, prevalence: Floats) -> Floats:
    """Return how probable it is that each worker gives the true answer."""
    chance: Floats = np.einsum("wtt,t->w", answering, prevalence)
    return chance


@dataclass(frozen=True, eq=False)
class _State:
    """How workers err, which answers are true how often, and how often pairs have each difficulty."""

    confusion: Floats
    prevalence: Floats
    shares: Floats


@dataclass(frozen=True, eq=False)
class _Iteration:
    """The two steps of an iteration."""

    answers: _Answers
    difficulties: Floats
    pseudo_counts: Floats
    one_coin: bool
    weight: float

    def start(self) -> _State:
        """Return what the shares of votes say, all difficulties being as frequent."""
        size = self.difficulties.size
        joint = np.repeat(self.answers.vote_shares()[None] / size, size, axis=0)
        knowing = np.repeat(1 - self.difficulties, self.answers.n_workers * 9).reshape(size, -1)
        return self.maximise(joint, knowing)

    def reliability(self, state: _State) -> Floats:
        """Return how probable it is that each worker gives the true answer."""
        mean = float(self.difficulties @ state.shares)
        return _reliability(_mixed(state.confusion, self.answers.guess, mean), state.prevalence)

    def knowing(self, state: _State) -> Floats:
        """Return how probable it is that who answered did not guess, by difficulty and cell of the matrices."""
        rows = []
        for difficulty in self.difficulties.tolist():
            known = (1 - difficulty) * state.confusion
            whole = _mixed(state.confusion, self.answers.guess, difficulty)
            rows.append(np.divide(known, whole, out=np.zeros_like(known), where=whole > 0).ravel())
        return np.stack(rows)

    def maximise(self, joint: Floats, knowing: Floats) -> _State:
        """Return what is most probable about workers if difficulties and true answers are so probable."""
        confusion = self.answers.confusion(joint, knowing, self.weight * self.pseudo_counts, one_coin=self.one_coin)
        seen = joint.sum(axis=(1, 2)) + self.weight * _SEEN_OF_DIFFICULTY
        return _State(confusion, self.answers.prevalence(joint.sum(axis=0), self.weight), seen / seen.sum())

    def expect(self, state: _State) -> tuple[Floats, float, float]:
        """Return how probable each difficulty with each true answer is, what iterations increase, and the likelihood.

        The first has the shape (difficulties, pairs, 3); the last is the logarithm for all answers.
        """
        joint, log_likelihood = self.answers.true_answers(state, self.difficulties)
        kinds = slice(0, self.answers.n_kinds)
        logs = np.log(np.maximum(state.confusion[:, kinds, kinds], _TINY))
        truths = np.log(np.maximum(state.prevalence[kinds], _TINY))
        shares = np.log(np.maximum(state.shares, _TINY))
        prior = float((self.pseudo_counts[kinds, kinds] * logs).sum() + truths.sum())
        prior += _SEEN_OF_DIFFICULTY * float(shares.sum())
        return joint, log_likelihood + self.weight * prior, log_likelihood


@dataclass(frozen=True, eq=False)
class _Extrapolation:
    r"""The squared extrapolation SQUAREM.

    On the scale of logarithms, with r for the change of a first iteration and v for the difference of the second change
    from it, it goes from x to :math:`x + 2 s r + s^2 v`. The stretch :math:`s = |r| / |v|` would be right on a straight
    line; :math:`s = 1` is where two iterations lead.
    """

    start: Floats
    change: Floats
    bend: Floats
    stretch: float
    n_kinds: int
    n_workers: int

    @classmethod
    def between(cls, state: _State, once: _State, twice: _State) -> _Extrapolation:
        points = [
            np.log(np.maximum(np.concatenate([at.confusion.ravel(), at.prevalence, at.shares]), _TINY))
            for at in (state, once, twice)
        ]
        change = points[1] - points[0]
        bend = points[2] - points[1] - change
        size = float(np.linalg.norm(bend))
        stretch = float(np.linalg.norm(change)) / size if size > 0 else 1.0
        n_kinds, n_workers = int(np.count_nonzero(state.prevalence)), state.confusion.shape[0]
        return cls(points[0], change, bend, stretch, n_kinds, n_workers)

    def shorter(self) -> _Extrapolation:
        return _Extrapolation(self.start, self.change, self.bend, (self.stretch + 1) / 2, self.n_kinds, self.n_workers)

    def state(self) -> _State:
        moved = self.start + 2 * self.stretch * self.change + self.stretch**2 * self.bend
        moved = np.exp(np.clip(moved, _LOWEST, 0.0))
        confusion, prevalence, shares = np.split(moved, [9 * self.n_workers, 9 * self.n_workers + 3])
        confusion = confusion.reshape(-1, 3, 3)
        confusion[:, self.n_kinds :, :] = confusion[:, :, self.n_kinds :] = 0.0
        prevalence[self.n_kinds :] = 0.0
        rows = confusion.sum(axis=2, keepdims=True)
        np.divide(confusion, rows, out=confusion, where=rows > 0)
        return _State(confusion, prevalence / prevalence.sum(), shares / shares.sum())


def _pseudo_counts(n_kinds: int, *, one_coin: bool) -> Floats:
    """Return the pseudo-counts of answers (columns) by truth (rows); nothing where an answer does not occur."""
    counts = np.ones((3, 3)) + np.eye(3)
    if one_coin:
        counts = 4.0 / n_kinds * np.eye(3) + 2.0 / n_kinds**2 * (1 - np.eye(3))
    counts[n_kinds:] = 0.0
    counts[:, n_kinds:] = 0.0
    return counts


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers sorted by pair, as numbers.

    Attributes
    ----------
    pair, worker, said : ndarray of int, shape (answers,)
        What each answer is about, whose it is, and what it says as shown: 0 for a, 1 for b, 2 for same.
    turned : ndarray of int, shape (answers,)
        1 where the first document of the pair was shown as b.
    """

    pair: Ints
    worker: Ints
    said: Ints
    turned: Ints
    n_pairs: int
    n_workers: int
    n_kinds: int

    @classmethod
    def of(cls, preferences: Preferences) -> _Answers:
        pairs = preferences.pairs()
        order = np.argsort(pairs.answer_pair, kind="stable")
        said = np.array([SECOND, SAME, FIRST])[preferences.sign + 1]
        return cls(
            pairs.answer_pair[order],
            preferences.assessor_index[order],
            said[order],
            (pairs.answer_orientation != _SHOWN_FIRST).astype(np.int64)[order],
            len(pairs),
            len(preferences.assessors),
            3 if pairs.same.any() else 2,
        )

    @cached_property
    def starts(self) -> Ints:
        """Where the answers about each pair begin."""
        return np.searchsorted(self.pair, np.arange(self.n_pairs))

    @cached_property
    def cell(self) -> tuple[Ints, ...]:
        """Where each answer stands in the confusion matrices, one array per true answer of the pair."""
        shown = (np.where(self.turned, _TURNED[truth], truth) for truth in range(3))
        return tuple((self.worker * 3 + place) * 3 + self.said for place in shown)

    @cached_property
    def guess(self) -> Floats:
        """The shares of each worker's answers as shown, drawn to everybody's; shape (workers, 3)."""
        counts = np.bincount(self.worker * 3 + self.said, minlength=self.n_workers * 3).reshape(-1, 3)
        whole = counts.sum(axis=0) + np.where(np.arange(3) < self.n_kinds, 1.0, 0.0)
        counts = counts + _LIKE_EVERYBODY * whole / whole.sum()
        shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def vote_shares(self) -> Floats:
        """Return what share of the answers about each pair gave each answer: where the iterations begin."""
        answer = np.where(self.turned, _TURNED[self.said], self.said)
        counts = np.bincount(self.pair * 3 + answer, minlength=self.n_pairs * 3).reshape(-1, 3)
        shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares

    def prevalence(self, truth: Floats, more: float) -> Floats:
        """Return the shares of the true answers, as if each kind had been seen so many times more."""
        share = (truth.sum(axis=0) + more * (np.arange(3) < self.n_kinds)) / (self.n_pairs + more * self.n_kinds)
        documents = (share[FIRST] + share[SECOND]) / 2
        return np.array([documents, documents, share[SAME]])

    def confusion(self, joint: Floats, knowing: Floats, prior: Floats, *, one_coin: bool) -> Floats:
        """Return every worker's confusion matrix if difficulties and true answers are so probable, and knowing too."""
        size = self.n_workers * 9
        counted = np.zeros(size)
        for truth, known in zip(joint, knowing, strict=True):
            for place, cells in enumerate(self.cell[: self.n_kinds]):
                counted += known * np.bincount(cells, weights=truth[self.pair, place], minlength=size)
        counts = counted.reshape(-1, 3, 3) + prior
        if one_coin:
            right = np.einsum("wtt->w", counts) / counts.sum(axis=(1, 2))
            wrong = (1 - right) / (self.n_kinds - 1)
            counts = np.where(np.eye(3, dtype=bool), right[:, None, None], wrong[:, None, None])
            counts[:, self.n_kinds :, :] = counts[:, :, self.n_kinds :] = 0.0
        whole = counts.sum(axis=2, keepdims=True)
        matrices: Floats = np.divide(counts, whole, out=np.zeros_like(counts), where=whole > 0)
        return matrices

    def true_answers(self, state: _State, difficulties: Floats) -> tuple[Floats, float]:
        """Return how probable each difficulty with each true answer is, and the log-likelihood of all answers."""
        logs = np.full((difficulties.size, self.n_pairs, 3), -np.inf)
        for place, (difficulty, share) in enumerate(zip(difficulties.tolist(), state.shares.tolist(), strict=True)):
            # Impossible answers do not occur, but their logarithm is taken all the same.
            told = np.log(np.maximum(_mixed(state.confusion, self.guess, difficulty), _TINY)).ravel()
            for truth, cells in enumerate(self.cell[: self.n_kinds]):
                prior = np.log(max(state.prevalence[truth], _TINY)) + np.log(max(share, _TINY))
                logs[place, :, truth] = np.add.reduceat(told[cells], self.starts) + prior
        most = logs.max(axis=(0, 2))
        weights = np.exp(logs - most[:, None])
        whole = weights.sum(axis=(0, 2))
        return weights / whole[:, None], float((most + np.log(whole)).sum())
