r"""Which level an item truly has, and how each assessor confuses levels: Dawid–Skene on ordered levels.

On a scale of a few levels every item i has a true level :math:`T_i`, and assessor j answers level y to it with
probability :math:`C_j[T_i, y]`, any matrix whose rows sum to 1 [1]_. Levels and matrices are estimated by
expectation-maximisation (EM),

.. math::
   P(T_i = t) \propto \pi_t \prod_{j \in i} C_j[t, y_{ij}], \qquad
   C_j[t, y] \propto \sum_{i \in j,\; y_{ij} = y} P(T_i = t) + a_{ty}, \qquad
   \pi_t \propto \sum_i P(T_i = t) + 1

twice. First, all assessors share one matrix, and the pseudo-counts (a Dirichlet prior) know that levels are ordered:
:math:`a_{ty} = 2^{1 - |t - y|}`, so 2 for the true level, 1 for its neighbours, then half as much with every step.
Then every assessor has a matrix, and the pseudo-counts are those of a typical one: 3 in every row, divided as the row
of the shared matrix. They keep an assessor with few answers from being certain of anything, and keep levels from
changing their names, which would fit the answers as well. Every iteration raises the posterior density. After two of
them an extrapolation tries to save many more (SQUAREM [2]_), and is discarded if it lowers the density.

The **gain of an item** is its most probable level, between the levels below and above which less than
:math:`(1 - \text{level}) / 2` of the probability lies. An interval of levels holds at least as often as it says,
because it cannot be cut finer, as far as the matrices are known well: with a handful of answers per assessor it holds
less often.

Of an **assessor** the matrix is summed up by the *reliability* :math:`\sum_t \pi_t C_j[t, t]`, the probability of the
true level; the *bias* :math:`\sum_{t, y} \pi_t C_j[t, y] (g_y - g_t)`, how much too high answers are, less its mean
over all answers; and the *scale use*, the slope of the mean answer by the true gain. All three are linear in the
matrix. Their errors come from the observed information about it, in which an item of doubtful level counts little,

.. math:: I_j[ty, t'y] = \sum_{i \in j,\; y_{ij} = y} \frac{P(T_i = t) P(T_i = t')}{C_j[t, y] C_j[t', y]}

plus that of the prior, with rows that sum to 1; the matrices of others are taken as known. In simulated crowds with 3
to 5 levels, 90 to 95 of 100 such intervals of 95% held for reliability, 96 and more for bias, 90 to 98 for scale use;
with 11 levels and 75 answers of everybody, 84 for reliability.

References
----------
.. [1] A. P. Dawid, A. M. Skene (1979). Maximum likelihood estimation of observer error-rates using the EM algorithm.
   Applied Statistics 28(1), 20–28.
.. [2] R. Varadhan, C. Roland (2008). Simple and globally convergent methods for accelerating the convergence of any EM
   algorithm. Scandinavian Journal of Statistics 35(2), 335–353.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from scipy import special

from earmark.crowd.grade_answers import GradeAnswers
from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.errors import InputError, NotConverged, ParameterError
from earmark.inference.proportions import normal_quantile, require_level
from earmark.wording import counted

MOST_LEVELS = 11
"""How many levels of a scale there may be; with more of them every matrix would need thousands of answers."""

_LEAST = 1e-12
# How many answers at every true level an assessor is supposed to have given like a typical one.
_LIKE_OTHERS = 3.0
# An extrapolation that goes hardly farther than the two iterations it starts from is not worth trying.
_SHORTEST_EXTRAPOLATION = 1.1


@dataclass(frozen=True, eq=False)
class Confusions:
    """How assessors confuse levels.

    Attributes
    ----------
    confusion : ndarray of float, shape (assessors, levels, levels)
        How probable each answer (last axis) is for each true level.
    prevalence : ndarray of float, shape (levels,)
        The shares of the true levels among items.
    """

    confusion: Floats
    prevalence: Floats

    @cached_property
    def reliability(self) -> Floats:
        """How probable it is that an assessor gives the true level, shape (assessors,)."""
        chance: Floats = np.einsum("jtt,t->j", self.confusion, self.prevalence)
        return chance

    def logs(self) -> Floats:
        """Return all numbers as one vector of logarithms."""
        numbers = np.concatenate([self.confusion.ravel(), self.prevalence])
        logs: Floats = np.log(np.maximum(numbers, _LEAST))
        return logs

    def from_logs(self, logs: Floats) -> Confusions:
        """Return the matrices of such a vector, with rows that sum to 1."""
        numbers = np.exp(np.clip(logs, np.log(_LEAST), 0.0))
        size = self.prevalence.size
        confusion, prevalence = numbers[:-size].reshape(self.confusion.shape), numbers[-size:]
        return Confusions(confusion / confusion.sum(axis=2, keepdims=True), prevalence / prevalence.sum())


@dataclass(frozen=True, eq=False)
class ConfusionIteration:
    """The two steps of an iteration.

    Parameters
    ----------
    answers : GradeAnswers
    said : ndarray of int, shape (answers,)
        The level that each answer names.
    pseudo_counts : ndarray of float, shape (levels, levels)
        What is added to the counts of answers (columns) by true level (rows).
    """

    answers: GradeAnswers
    said: Ints
    pseudo_counts: Floats

    @property
    def n_levels(self) -> int:
        """How many levels there are."""
        return len(self.pseudo_counts)

    @cached_property
    def _starts(self) -> Ints:
        return np.searchsorted(self.answers.item, np.arange(self.answers.n_items))

    def vote_shares(self) -> Floats:
        """Return what share of the answers about each item names each level: where the iterations begin."""
        counts = np.bincount(self.answers.item * self.n_levels + self.said, minlength=self._size(self.answers.n_items))
        shares: Floats = counts.reshape(-1, self.n_levels) / self.answers.answers_of_item[:, None]
        return shares

    def maximise(self, truth: Floats) -> Confusions:
        """Return the most probable matrices if true levels are so probable, ``truth`` of shape (items, levels)."""
        cell = self.answers.assessor * self.n_levels + self.said
        size = self._size(self.answers.n_assessors)
        counts = [np.bincount(cell, weights=truth[self.answers.item, one], minlength=size) for one in self._levels]
        # Of every true level a table of assessors by answers.
        tables = [one.reshape(-1, self.n_levels) for one in counts]
        confusion = np.stack(tables, axis=1) + self.pseudo_counts
        shares = truth.sum(axis=0) + 1
        return Confusions(confusion / confusion.sum(axis=2, keepdims=True), shares / shares.sum())

    def expect(self, state: Confusions) -> tuple[Floats, float]:
        """Return how probable each true level is, shape (items, levels), and what iterations increase."""
        told = np.log(np.maximum(state.confusion, _LEAST))
        logs = np.stack(
            [
                np.add.reduceat(told[self.answers.assessor, truth, self.said], self._starts)
                + np.log(state.prevalence[truth])
                for truth in self._levels
            ],
            axis=1,
        )
        whole = special.logsumexp(logs, axis=1, keepdims=True)
        prior = float((self.pseudo_counts * told).sum() + np.log(state.prevalence).sum())
        return np.exp(logs - whole), float(whole.sum()) + prior

    @property
    def _levels(self) -> range:
        return range(self.n_levels)

    def _size(self, rows: int) -> int:
        return rows * self.n_levels


@dataclass(frozen=True, eq=False, repr=False)
class GradeConfusion(Display):
    """A fitted model of levels.

    Attributes
    ----------
    answers : GradeAnswers
        What was fitted.
    gains : ndarray of float, shape (levels,)
        The gains of the levels that anybody used, ascending; others have no probability.
    truth : ndarray of float, shape (items, levels)
        How probable each level is to be the true one.
    state : Confusions
        How assessors confuse levels.
    typical : ndarray of float, shape (levels, levels)
        The pseudo-counts: how a typical assessor does.
    log_posterior : float
        What was maximised.
    iterations : int
        How many it took.
    """

    answers: GradeAnswers
    gains: Floats
    truth: Floats
    state: Confusions
    typical: Floats
    log_posterior: float
    iterations: int

    def items(self, *, level: float = 0.95) -> pl.DataFrame:
        """One row per item.

        Returns
        -------
        polars.DataFrame
            ``query``, ``document``, ``gain`` (the most probable level), ``low``, ``high``, ``answers``,
            ``probability`` (of that level) and ``mean`` (of the gain, over levels).
        """
        require_level(level)
        best = self.truth.argmax(axis=1)
        below = np.cumsum(self.truth, axis=1)
        tail = (1 - level) / 2
        low = np.minimum((below < tail).sum(axis=1), best)
        high = np.maximum((below < 1 - tail).sum(axis=1), best)
        return self.answers.items.with_columns(
            pl.Series("gain", self.gains[best]),
            pl.Series("low", self.gains[low]),
            pl.Series("high", self.gains[np.minimum(high, self.gains.size - 1)]),
            pl.Series("answers", self.answers.answers_of_item),
            pl.Series("probability", self.truth.max(axis=1)),
            pl.Series("mean", self.truth @ self.gains),
        )

    def assessors(self, *, level: float = 0.95) -> pl.DataFrame:
        """One row per assessor, the most reliable first.

        Returns
        -------
        polars.DataFrame
            ``assessor``, ``answers``, and ``bias``, ``scale_use`` and ``reliability``, each followed by the ends of its
            interval: ``bias_low``, ``bias_high`` and so on. All of these are null for an assessor who shares no item
            with anybody.
        """
        share, gains = self.state.prevalence, self.gains
        off = gains - share @ gains
        by_bias = share[:, None] * (gains[None, :] - gains[:, None])
        by_use = share[:, None] * off[:, None] * gains[None, :] / (share @ off**2)
        reach = normal_quantile(level) * self._errors(np.stack([by_bias, by_use, np.diag(share)]))
        bias, use = (np.einsum("ty,jty->j", one, self.state.confusion) for one in (by_bias, by_use))
        weight = self.answers.answers_of_assessor / self.answers.gain.size
        bias = bias - weight @ bias
        right = self.state.reliability
        # On the scale of log-odds, so that the interval of a probability stays one.
        odds, step = special.logit(right), reach[2] / (right * (1 - right))
        columns = {
            "bias": (bias, bias - reach[0], bias + reach[0]),
            "scale_use": (use, use - reach[1], use + reach[1]),
            "reliability": (right, special.expit(odds - step), special.expit(odds + step)),
        }
        return self.answers.assessor_table(columns)

    def _errors(self, weights: Floats) -> Floats:
        """Return the standard errors of weighted sums over matrices, shape (sums, assessors)."""
        size, people = self.gains.size, self.answers.n_assessors
        said = np.searchsorted(self.gains, self.answers.gain)
        cell = self.answers.assessor * size + said
        truth = self.truth[self.answers.item]
        confusion = self.state.confusion
        # By assessor and answer, a matrix over true levels.
        known = np.empty((people, size, size, size))
        for one in range(size):
            for other in range(one, size):
                seen = np.bincount(cell, weights=truth[:, one] * truth[:, other], minlength=people * size)
                told = seen.reshape(people, size) / (confusion[:, one] * confusion[:, other])
                known[:, :, one, other] = known[:, :, other, one] = told
        levels = np.arange(size)
        known[:, :, levels, levels] += (self.typical / confusion**2).swapaxes(1, 2)
        free = np.linalg.inv(known)
        tied = np.linalg.inv(free.sum(axis=1))
        found = []
        for weight in weights:
            moved = np.einsum("jyst,ty->jys", free, weight)
            together = moved.sum(axis=1)
            spread = np.einsum("jys,sy->j", moved, weight) - np.einsum("js,jst,jt->j", together, tied, together)
            found.append(np.sqrt(np.maximum(spread, 0.0)))
        return np.array(found)

    def _summary(self) -> Summary:
        """Show how assessors grade."""
        people, items = counted(self.answers.n_assessors, "assessor"), counted(self.answers.n_items, "item")
        shown = self.assessors().select("assessor", "answers", "bias", "scale_use", "reliability")
        return Summary(f"{people} on {items}, {counted(self.gains.size, 'level')}", [DisplayTable(shown, "Assessors")])


def fit_grade_confusion(
    answers: GradeAnswers, *, max_iterations: int = 2000, tolerance: float = 1e-5
) -> GradeConfusion:
    """Find out how assessors confuse levels, and which levels are true.

    Parameters
    ----------
    answers : GradeAnswers
        With some item that several assessors judged, on a scale of few levels.
    max_iterations : int
        How many iterations to make at most.
    tolerance : float
        How little reliabilities change in the last iteration.

    Raises
    ------
    ParameterError
        If the scale has more than `MOST_LEVELS` levels.
    InputError
        If every item has one answer, or all answers are the same.
    NotConverged
        If reliabilities still change after that.

    Examples
    --------
    >>> from earmark.data.judgments import Judgments
    >>> said = {"x": "0011220", "y": "0011221", "z": "0012220"}
    >>> rows = [("q", f"d{i}", int(gain), name) for name, gains in said.items() for i, gain in enumerate(gains)]
    >>> frame = pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row")
    >>> found = fit_grade_confusion(GradeAnswers.of(Judgments.from_frame(frame)))
    >>> found.items()["gain"].to_list()
    [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 0.0]
    >>> found.assessors()["assessor"][0]
    'x'
    """
    if answers.scale.continuous or len(answers.scale.gains) > MOST_LEVELS:
        raise ParameterError(
            f"dawid-skene is for scales of at most {MOST_LEVELS} levels, not for {answers.scale}: use linear, or name "
            "the scale with --scale"
        )
    if not answers.shared.any():
        raise InputError(expected="items that several assessors judged", got="every item judged by one")
    gains, said = np.unique(answers.gain, return_inverse=True)
    if gains.size == 1:
        raise InputError(expected="answers that differ", got=f"all {answers.gain.size:,} of them {gains[0]:g}")
    levels = np.arange(gains.size)
    ordered = 2.0 ** (1 - np.abs(levels[:, None] - levels))
    alike = replace(answers, assessors=("everybody",), assessor=np.zeros_like(answers.assessor))
    crowd = ConfusionIteration(alike, said, ordered)
    shared, truth, _, before = _settle(crowd, crowd.vote_shares(), max_iterations, tolerance)
    typical = _LIKE_OTHERS * shared.confusion[0]
    em = ConfusionIteration(answers, said, typical)
    state, truth, reached, iterations = _settle(em, truth, max_iterations, tolerance)
    return GradeConfusion(answers, gains, truth, state, typical, reached, before + iterations)


def _settle(
    em: ConfusionIteration, truth: Floats, max_iterations: int, tolerance: float
) -> tuple[Confusions, Floats, float, int]:
    """Iterate until reliabilities change no more; return matrices, true levels, the objective and the iterations."""
    state, iterations, change = em.maximise(truth), 0, np.inf
    while iterations < max_iterations:
        truth, objective = em.expect(state)
        once = em.maximise(truth)
        change = float(np.abs(once.reliability - state.reliability).max())
        if change <= tolerance:
            return state, truth, objective, iterations
        twice = em.maximise(em.expect(once)[0])
        iterations += 2
        state, tried = _extrapolated(em, state, once, twice, objective)
        iterations += tried
    raise NotConverged(
        f"the reliabilities of assessors did not settle in {max_iterations} iterations: they still change by "
        f"{change:.2g}"
    )


def _extrapolated(
    em: ConfusionIteration, state: Confusions, once: Confusions, twice: Confusions, objective: float
) -> tuple[Confusions, int]:
    r"""Go on where two iterations lead, by SQUAREM: on the scale of logarithms to :math:`x + 2 s r + s^2 v`.

    r is the change of the first iteration, v the difference of the second from it and :math:`s = |r| / |v|`; s = 1 is
    where two iterations lead. A step that lowers the objective is made shorter.
    """
    start, first, second = (one.logs() for one in (state, once, twice))
    change, bend = first - start, second - 2 * first + start
    size = float(np.linalg.norm(bend))
    stretch, tried = float(np.linalg.norm(change)) / size if size > 0 else 1.0, 0
    while stretch > _SHORTEST_EXTRAPOLATION:
        truth, reached = em.expect(state.from_logs(start + 2 * stretch * change + stretch**2 * bend))
        tried += 1
        if reached >= objective:
            return em.maximise(truth), tried
        stretch = (stretch + 1) / 2
    return twice, tried
