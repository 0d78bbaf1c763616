r"""Auditioning measures: which of them order prototype answers as a person wants them ordered.

Before choosing a measure, write down a few answers that a system could give, put them in the order you would want
(Serrà 2007, section 3), and see which measures agree. A pair of answers is *violated* if the person wants one before
the other and the measure puts them the other way around or cannot tell them apart. Answers that are equally good to the
person make no pair: whatever a measure does with them is fine. Agreement is also given as Kendall's

.. math:: \tau_b = \frac{C - D}{\sqrt{(P - T_w)(P - T_s)}}

with :math:`C` pairs ordered alike, :math:`D` ordered oppositely, :math:`P` pairs in all, and :math:`T_w`, :math:`T_s`
of them tied in the wanted order and in the scores. A measure that gives all answers one score has :math:`\tau_b = 0`.

References: Serra2007, Kendall1945.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.scales import BINARY
from earmark.errors import ParameterError, UnknownCollectionSize
from earmark.measures.base import Measure, parse_all, registered
from earmark.measures.prototype_answers import Prototype, PrototypeSet, order_in_words, prototype_lists, read_prototypes
from earmark.wording import counted

__all__ = [
    "Agreement",
    "Audition",
    "Prototype",
    "PrototypeSet",
    "audition",
    "default_measures",
    "prototype_lists",
    "read_prototypes",
]

# What the registry cannot offer by itself: variants with parameters, and Serrà's combinations of rank and recall.
_VARIANTS = (
    "AP(over=retrieved)",
    "SumRR(over=length)",
    "DCG(base=e,discount=first)",
    "bpref(cap=none)",
    "mean(AP,R)",
    "hmean(AP,R)",
    "mean(AP(over=retrieved),R)",
    "hmean(AP(over=retrieved),R)",
    "mean(RR,R)",
    "hmean(RR,R)",
    "mean(SumRR(over=length),R)",
    "hmean(SumRR(over=length),R)",
    "mean(DCG(base=e,discount=first),R)",
    "hmean(DCG(base=e,discount=first),R)",
)
# These say how much of a list is judged, or only break the ties of another measure.
_NOT_ABOUT_QUALITY = ("Judged", "RBPres", "ADRinv")
_CUTOFF_WHERE_REQUIRED = 10
_SIZE = "counts documents that were not retrieved: say how many there are in the column 'collection' of the answers"
# Scores closer than this, relative to the greatest, are the same number computed in two ways.
_SAME = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Display):
    """How measures agree with one set of answers, one row per measure.

    Parameters
    ----------
    prototypes : PrototypeSet
        The answers.
    scores : ndarray of float, shape (measures, answers)
        What every measure gives every answer.
    tau : ndarray of float, shape (measures,)
        Kendall's tau-b with the wanted order.
    tied, reversed_ : ndarray of bool, shape (measures, answers, answers)
        Violated pairs: ``[m, i, j]`` if answer ``i`` should come before ``j`` and measure ``m`` cannot tell them
        apart, or puts ``j`` first.
    order : tuple of str
        The order that every measure produces, for example ``A1 > A3 = A2``.
    """

    prototypes: PrototypeSet
    scores: Floats
    tau: Floats
    tied: NDArray[np.bool_]
    reversed_: NDArray[np.bool_]
    order: tuple[str, ...]

    @cached_property
    def violations(self) -> Ints:
        """How many pairs every measure violates, shape (measures,)."""
        count: Ints = np.count_nonzero(self.tied | self.reversed_, axis=(1, 2)).astype(np.int64)
        return count

    def _summary(self) -> Summary:
        """Show how many pairs every measure violates, and the order it produces."""
        frame = pl.DataFrame({"violations": self.violations, "tau": self.tau, "order": list(self.order)})
        wanted = f"wanted in {self.prototypes.name}: {self.prototypes.wanted}"
        return Summary(f"{counted(len(self.order), 'measure')}, {wanted}", [DisplayTable(frame)])


@dataclass(frozen=True, eq=False, repr=False)
class Audition(Display):
    """What an audition found, best measure first.

    Parameters
    ----------
    measures : tuple of Measure
        Those that violate the fewest pairs first; among equals the higher mean tau, then the order they were named in.
    sets : tuple of Agreement
        The details for each set of answers, measures in the same order.
    left_out : dict of str to str
        Measures of the default set that could not be computed, and why.
    """

    measures: tuple[Measure, ...]
    sets: tuple[Agreement, ...]
    left_out: dict[str, str]

    @cached_property
    def tau(self) -> Floats:
        """Mean tau-b over sets, shape (measures,)."""
        mean: Floats = np.stack([agreement.tau for agreement in self.sets]).mean(axis=0)
        return mean

    @cached_property
    def violations(self) -> Ints:
        """Violated pairs in all sets together, shape (measures,)."""
        total: Ints = np.stack([agreement.violations for agreement in self.sets]).sum(axis=0)
        return total

    @cached_property
    def agreed(self) -> Ints:
        """In how many sets no pair is violated, shape (measures,)."""
        count: Ints = np.stack([agreement.violations == 0 for agreement in self.sets]).sum(axis=0)
        return count

    def to_polars(self) -> pl.DataFrame:
        """One row per measure: ``measure``, ``tau``, ``violations``, ``order``.

        With several sets the order names each: ``first: A1 > A2; second: A2 > A1``.
        """
        orders = [
            "; ".join(
                one.order[index] if len(self.sets) == 1 else f"{one.prototypes.name}: {one.order[index]}"
                for one in self.sets
            )
            for index in range(len(self.measures))
        ]
        return pl.DataFrame(
            {
                "measure": [str(measure) for measure in self.measures],
                "tau": self.tau,
                "violations": self.violations,
                "order": orders,
            }
        )

    def _summary(self) -> Summary:
        """Show the measures that agree best."""
        right, wanted = int((self.violations == 0).sum()), "; ".join(one.prototypes.wanted for one in self.sets)
        sentence = f"{right:,} of {counted(len(self.measures), 'measure')} order the answers as wanted ({wanted})"
        notes = [f"{name} is left out: {why}" for name, why in self.left_out.items()]
        columns = ("measure", "violations", "tau", "order")
        return Summary(sentence, [DisplayTable(self.to_polars().select(columns), "The best first", most=15)], notes)

    def per_set(self) -> pl.DataFrame:
        """One row per measure and set: ``measure``, ``set``, ``tau``, ``violations``, ``order``."""
        return pl.DataFrame(
            [
                (str(measure), one.prototypes.name, one.tau[index], int(one.violations[index]), one.order[index])
                for index, measure in enumerate(self.measures)
                for one in self.sets
            ],
            schema={
                "measure": pl.String,
                "set": pl.String,
                "tau": pl.Float64,
                "violations": pl.Int64,
                "order": pl.String,
            },
            orient="row",
        )

    def violated_pairs(self) -> pl.DataFrame:
        """One row per violated pair: the measure, the set, the answers as wanted, their scores, whether they tie."""
        rows = []
        for agreement in self.sets:
            names, scores = agreement.prototypes.names, agreement.scores
            for m, better, worse in zip(*np.nonzero(agreement.tied | agreement.reversed_), strict=True):
                pair = (names[better], names[worse], scores[m, better], scores[m, worse])
                tied = bool(agreement.tied[m, better, worse])
                rows.append((int(m), str(self.measures[m]), agreement.prototypes.name, *pair, tied))
        schema = {
            "place": pl.Int64,
            "measure": pl.String,
            "set": pl.String,
            "better": pl.String,
            "worse": pl.String,
            "better_score": pl.Float64,
            "worse_score": pl.Float64,
            "tied": pl.Boolean,
        }
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        return frame.sort("place", maintain_order=True).drop("place")


def default_measures() -> list[Measure]:
    """Return all registered measures, those that need a cutoff at 10, and Serrà's (2007) variants and combinations."""
    plain = [
        measure(cutoff=_CUTOFF_WHERE_REQUIRED if measure.cutoff_required else None)
        for name, measure in registered().items()
        # Sums and geometric means over queries say nothing new about one answer.
        if measure.is_mean and name not in _NOT_ABOUT_QUALITY
    ]
    return parse_all([*plain, *_VARIANTS])


def audition(prototypes: Iterable[PrototypeSet], *, measures: Iterable[str | Measure] | None = None) -> Audition:
    """Find out which measures order prototype answers as wanted.

    Parameters
    ----------
    prototypes : iterable of PrototypeSet
        Sets of answers in the order a person wants.
    measures : iterable of str or Measure, optional
        The candidates; by default :func:`default_measures`, less those that the answers do not suffice for (where no
        collection size is given, those that need one).

    Raises
    ------
    ParameterError
        If a measure was asked for and cannot be computed.

    Examples
    --------
    >>> from earmark.data.examples import example_path
    >>> answers = read_prototypes(example_path("cover-prototypes.csv"))
    >>> audition(answers, measures=["AP", "bpref*"]).to_polars().select("measure", "violations").rows()
    [('bpref*', 0), ('AP', 1)]
    """
    sets = list(prototypes)
    if not sets:
        raise ParameterError("there is no set of prototype answers")
    candidates = default_measures() if measures is None else parse_all(measures)
    if not candidates:
        raise ParameterError("name at least one measure, for example bpref*")
    lists = [prototype_lists(one.answers) for one in sets]
    scored: dict[Measure, list[Floats]] = {}
    left_out = {}
    for measure in candidates:
        try:
            measure.check(BINARY)
            scored[measure] = [measure.score(answers) for answers in lists]
        except ParameterError as error:
            # Here the size of the collection belongs to the answers; there is no option for it.
            why = _SIZE if isinstance(error, UnknownCollectionSize) else str(error)
            if measures is not None:
                raise ParameterError(f"{measure} {why}" if why is _SIZE else why) from None
            left_out[str(measure)] = why
    names = list(scored)
    agreements = [
        _agreement(one, np.stack([scores[index] for scores in scored.values()]), names)
        for index, one in enumerate(sets)
    ]
    unsorted = Audition(tuple(names), tuple(agreements), left_out)
    best_first = np.lexsort((-unsorted.tau.round(12), unsorted.violations))
    return Audition(
        tuple(names[index] for index in best_first),
        tuple(_reordered(agreement, best_first) for agreement in agreements),
        left_out,
    )


def _agreement(prototypes: PrototypeSet, scores: Floats, measures: Sequence[Measure]) -> Agreement:
    """Compare the scores of all measures with the wanted order of one set."""
    direction = np.array([1.0 if measure.higher_is_better else -1.0 for measure in measures])
    level = _levels(scores * direction[:, None])
    wanted = -np.array([answer.order for answer in prototypes.answers])
    wants = np.sign(wanted[:, None] - wanted)
    gives = np.sign(level[:, :, None] - level[:, None, :])
    # Every pair stands twice in these sums, once each way around; in the ratio that cancels.
    alike = (wants * gives).sum(axis=(1, 2))
    untied = np.abs(wants).sum() * np.abs(gives).sum(axis=(1, 2))
    tau = np.divide(alike, np.sqrt(untied), out=np.zeros(alike.shape), where=untied > 0)
    return Agreement(
        prototypes,
        scores,
        tau,
        (wants > 0) & (gives == 0),
        (wants > 0) & (gives < 0),
        tuple(order_in_words(prototypes.names, row) for row in level),
    )


def _levels(scores: Floats) -> Ints:
    """Give distinct scores of every row numbers from the lowest up; scores that differ by rounding only share one."""
    order = np.argsort(scores, axis=1, kind="stable")
    ascending = np.take_along_axis(scores, order, axis=1)
    same = _SAME * np.abs(scores).max(axis=1, keepdims=True)
    steps = np.diff(ascending, axis=1) > same
    level = np.zeros(scores.shape, dtype=np.int64)
    np.put_along_axis(level, order[:, 1:], np.cumsum(steps, axis=1), axis=1)
    return level


def _reordered(agreement: Agreement, order: Ints) -> Agreement:
    return Agreement(
        agreement.prototypes,
        agreement.scores[order],
        agreement.tau[order],
        agreement.tied[order],
        agreement.reversed_[order],
        tuple(agreement.order[index] for index in order),
    )
