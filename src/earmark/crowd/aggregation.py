"""Many answers to a question made into one.

``majority``
    The document that more people chose; their *agreement* says how many, and :mod:`~earmark.crowd.majority` how
    probable it is that more of all people like these would choose it. A level of agreement leaves out pairs that
    fewer agreed on; without one, pairs with as many answers for either document are ``same``. The strength of a
    preference is that of all answers averaged, whichever document they chose [1]_.
``bradley-terry``, ``davidson``
    Scores of documents decide, which all answers about a query contribute to: see :mod:`~earmark.crowd.bradley_terry`.
    The strength of a preference is the difference of the scores.
``one-coin``, ``dawid-skene``
    The answer that reliable workers lean to, with more weight for them, and less certainty about pairs that are hard:
    see :mod:`~earmark.crowd.worker_model`. Strengths are averaged as for the majority. Where nearly all answers are
    *same*, ``one-coin`` calls nearly every pair the same, and a note says so.

Whatever the method, the cycles among the preferences of majorities are counted: where there are many of them no single
order does people justice, and methods that find one hide that.

References
----------
.. [1] A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import polars as pl

from earmark.crowd.bradley_terry import fit_bradley_terry, fit_davidson
from earmark.crowd.cycles import count_cycles
from earmark.crowd.majority import majority_probability
from earmark.crowd.worker_model import FIRST, SAME, SECOND, fit_worker_model
from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.preference_checks import COLUMNS
from earmark.data.preferences import PairTable, Preferences
from earmark.errors import InputError, ParameterError
from earmark.measures.preference_precision import AgreementLevel
from earmark.wording import counted

Method = Literal["majority", "bradley-terry", "davidson", "one-coin", "dawid-skene"]
# Scores that differ by less are the same.
_EQUAL = 1e-9
# From this share of "same" on, a model of workers that calls a pair the same rarely says what people said.
_SWALLOWED = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Aggregated(Display):
    """One answer per pair.

    Attributes
    ----------
    method : str
        How answers were made into one.
    preferences : polars.DataFrame
        One row per pair: ``query``, ``a``, ``b`` (in the order of their ids), ``assessor`` (the method), ``choice``,
        ``strength``, ``probability``, ``agreement`` (how many people chose the document that the row names, or, for
        *same*, neither) and ``answers``. The probability is, for majorities, that more people like these would choose
        this document than the other, one half for *same* (:mod:`~earmark.crowd.majority`); for scores, that of choosing
        this document rather than the other; for models of workers, that of the choice being the answer that reliable
        workers lean to. No number here tells whether most people are misled.
    cycles : polars.DataFrame
        Cycles among majorities by query, see :func:`~earmark.crowd.cycles.count_cycles`.
    documents : polars.DataFrame
        Scores of documents, where the method has any; else without rows.
    workers : polars.DataFrame
        Reliabilities of workers, where the method has any; else without rows.
    notes : tuple of str
        What a reader has to know: where ``one-coin`` calls most pairs the same.
    """

    method: Method
    preferences: pl.DataFrame
    cycles: pl.DataFrame
    documents: pl.DataFrame = field(default_factory=pl.DataFrame)
    workers: pl.DataFrame = field(default_factory=pl.DataFrame)
    notes: tuple[str, ...] = ()

    def _summary(self) -> Summary:
        """Show the first pairs, and the documents and workers where the method says something about them."""
        same = int((self.preferences["choice"] == "same").sum())
        sentence = f"{counted(self.preferences.height, 'pair')} by {self.method}, {same:,} of them the same"
        pairs = self.preferences.drop("assessor")
        return Summary(
            sentence,
            [
                DisplayTable(pairs, "One answer per pair", most=5),
                DisplayTable(self.documents, "Documents", most=5),
                DisplayTable(self.workers, "Workers", most=5),
            ],
            list(self.notes),
        )

    def to_preferences(self) -> Preferences:
        """Return the preferences as answers of one assessor, who is called as the method."""
        return Preferences.from_frame(self.preferences.select([name for name in COLUMNS if name in self.preferences]))


def aggregate_preferences(
    preferences: Preferences,
    *,
    method: Method = "majority",
    agreement: AgreementLevel | None = None,
    min_answers: int = 1,
    strengths: bool = False,
    prior_sd: float = 2.0,
    level: float = 0.95,
) -> Aggregated:
    """Make one answer per pair of those that many people gave.

    Parameters
    ----------
    preferences : Preferences
        The answers, without those to traps.
    method : {"majority", "bradley-terry", "davidson", "one-coin", "dawid-skene"}
        How, see the module.
    agreement : AgreementLevel, optional
        For majorities: leave out pairs that a smaller share agreed on.
    min_answers : int
        Leave out pairs with fewer answers; models learn from them all the same.
    strengths : bool
        For scores: count answers by their strength.
    prior_sd : float, above 0
        For scores: the standard deviation of their prior.
    level : float, in (0, 1)
        The probability with which the interval of a score holds.

    Raises
    ------
    InputError
        If no pair is left.
    NotConverged
        If a model does not settle.
    """
    if method not in get_args(Method):
        raise ParameterError(f"unknown method '{method}': use {', '.join(get_args(Method))}")
    if agreement is not None and method != "majority":
        raise ParameterError(f"levels of agreement are for the method majority, not {method}")
    pairs = preferences.pairs()
    cycles = count_cycles(pairs, pairs.winner)
    keep = pairs.answers >= min_answers
    documents = workers = pl.DataFrame()
    if method == "majority":
        chosen = pairs.winner
        if agreement is not None:
            keep &= agreement.reached_by(pairs, min_answers=min_answers)
        ahead = majority_probability(pairs.first, pairs.second)
        probability, strength = np.select([chosen > 0, chosen < 0], [ahead, 1 - ahead], 0.5), pairs.mean_strength
    elif method == "bradley-terry" or method == "davidson":
        fit = fit_bradley_terry if method == "bradley-terry" else fit_davidson
        scored = fit(preferences, strengths=strengths, prior_sd=prior_sd)
        strength = np.abs(scored.fit.difference)
        chosen = np.where(strength > _EQUAL, np.sign(scored.fit.difference), 0).astype(np.int64)
        probability = np.maximum(scored.probability, 1 - scored.probability)
        documents = scored.to_polars(level=level)
    else:
        model = fit_worker_model(preferences, model=method)
        chosen = model.answer
        column = np.array([SECOND, SAME, FIRST])[chosen + 1]
        probability = model.truth[np.arange(len(pairs)), column]
        # A document may be the likely answer though all who answered said same; then nobody said how much better it is.
        strength = np.where(pairs.mean_strength > 0, pairs.mean_strength, 1.0)
        workers = model.workers()
    if not keep.any():
        asked = f"with at least {min_answers} answers" if agreement is None else f"on which {agreement} agree"
        raise InputError(expected=f"pairs {asked}", got=f"none of {len(pairs):,}")
    rows = _rows(pairs, method, chosen, strength, probability).filter(pl.Series(keep))
    notes = () if method != "one-coin" else _swallowed(pairs, rows)
    return Aggregated(method, rows, cycles, documents, workers, notes)


def _swallowed(pairs: PairTable, rows: pl.DataFrame) -> tuple[str, ...]:
    """Warn where *same* is the answer to most pairs, though by majorities it is not.

    A worker with one coin errs to every other answer equally often. People do not: who is unsure says *same*. So that
    answer explains disagreement best, and takes pairs over on which most of those who chose prefer one document.
    """
    same = int((rows["choice"] == "same").sum())
    if same <= _SWALLOWED * rows.height:
        return ()
    preferred = int(np.count_nonzero(pairs.winner))
    return (
        f"one-coin calls {same:,} of {counted(rows.height, 'pair')} the same, though in {preferred:,} more people "
        "chose one document than the other: it assumes that errors are equally likely for every answer, "
        "but people who are unsure answer 'same'. Use davidson, dawid-skene or majority instead",
    )


def _agreement(pairs: PairTable, chosen: Ints) -> Ints:
    """Return how many people chose what the row says."""
    return np.where(chosen > 0, pairs.first, np.where(chosen < 0, pairs.second, pairs.same))


def _rows(pairs: PairTable, method: str, chosen: Ints, strength: Floats, probability: Floats) -> pl.DataFrame:
    documents = pl.Series(pairs.documents, dtype=pl.String)
    return pl.DataFrame(
        {
            "query": pl.Series(pairs.queries, dtype=pl.String).gather(pairs.query_index),
            "a": documents.gather(pairs.first_index),
            "b": documents.gather(pairs.second_index),
            "assessor": pl.Series([method], dtype=pl.String).new_from_index(0, len(pairs)),
            "choice": pl.Series(np.array(["b", "same", "a"])[chosen + 1].tolist(), dtype=pl.String),
            "strength": np.where(chosen == 0, 0.0, strength),
            "probability": probability,
            "agreement": _agreement(pairs, chosen),
            "answers": pairs.answers,
        }
    )
