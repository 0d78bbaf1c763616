"""Preferences: which of two documents assessors chose for a query, and how sure they were.

An *answer* is one row: for ``query``, ``assessor`` was shown document ``a`` (first, or left) and document ``b``
(second, or right) and made a ``choice``: ``a``, ``b`` or ``same``. The order in which the documents were shown is kept,
because people favour places as well as documents. What the answers say about a pair, whichever way round it was shown,
is a :class:`PairTable`.

The rules of the table:

- A row without a choice is a question that nobody answered. It is left out, and counted in ``unanswered``.
- ``strength`` says how much better the chosen document is, above 0; it is 1 for all answers where there is no such
  column. ``same`` has strength 0, whatever stands in the column.
- An assessor answers a question, a query and two documents in either order, once per ``phase``. Traps (rows that
  say in ``trap`` which choice was expected) may be put to the same assessor again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.preference_checks import BadAnswer, Repeated, check_answers
from earmark.data.runs import sort_ids
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

_SIGNS = {"a": 1, "b": -1, "same": 0}


@dataclass(frozen=True, eq=False, repr=False)
class Preferences(Display):
    """Answers to the question which of two documents suits a query better.

    Parameters
    ----------
    frame : polars.DataFrame
        One row per answer: ``query``, ``a``, ``b``, ``assessor``, ``choice`` (a, b or same), ``strength`` (0 for same)
        and, where known, ``time``, ``seconds`` (how long the answer took), ``phase``, ``question`` (its id) and
        ``trap`` (the choice that was expected, null where there is none). Make it with :meth:`from_frame`, which
        checks it.
    unanswered : int
        How many rows had no choice and were left out.
    replaced : int
        How many answers were left out because their assessor answered the same question in another row.

    Examples
    --------
    >>> import polars as pl
    >>> columns = ["query", "a", "b", "assessor", "choice"]
    >>> rows = [("q", "x", "y", "ann", "a"), ("q", "y", "x", "bob", "b"), ("q", "x", "y", "cat", "same")]
    >>> preferences = Preferences.from_frame(pl.DataFrame(rows, schema=columns, orient="row"))
    >>> print(preferences)
    3 answers by 3 assessors to 1 pair of documents, 1 query
    >>> preferences.pairs().agreement.tolist(), preferences.pairs().answers.tolist()
    ([2], [3])
    """

    frame: pl.DataFrame
    unanswered: int = 0
    replaced: int = 0

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, *, repeated: Repeated = "refuse") -> Preferences:
        """Check a table of answers.

        Parameters
        ----------
        frame : polars.DataFrame
            One row per answer.
        repeated : {"refuse", "first", "last"}
            What to do where an assessor answered a question again: it is an error, or the first or the last answer
            counts, in the order of rows.

        Raises
        ------
        InputError
            If a column is missing or holds something else, or naming the first row that is no answer: a choice that
            there is not, a strength that is not above 0, twice the same document, the same question again.
        """
        try:
            answers = check_answers(frame, repeated=repeated)
        except BadAnswer as bad:
            got = f"{bad.got} in row {bad.row}, counted from 0"
            raise InputError(expected=bad.expected, got=got, hint=bad.hint) from None
        return cls(answers, *left_out_rows(frame, answers))

    @classmethod
    def concat(cls, parts: Sequence[Preferences], *, repeated: Repeated = "refuse") -> Preferences:
        """Put answers one after the other; what only some of the parts have is null in the others."""
        if not parts:
            raise ParameterError("there are no preferences to put together")
        whole = pl.concat([part.frame for part in parts], how="diagonal_relaxed")
        together = cls.from_frame(whole, repeated=repeated)
        before = sum(part.replaced for part in parts)
        return cls(together.frame, sum(part.unanswered for part in parts), before + together.replaced)

    def keep(self, rows: NDArray[np.bool_]) -> Preferences:
        """Keep the answers whose row is marked true."""
        return Preferences(self.frame.filter(pl.Series(rows)))

    def select(
        self,
        *,
        queries: Iterable[str] | None = None,
        assessors: Iterable[str] | None = None,
        phases: Iterable[str] | None = None,
    ) -> Preferences:
        """Keep the answers of these queries, assessors and phases; all where none are named.

        Raises
        ------
        ParameterError
            If there is none of that name.
        """
        frame = self.frame
        for name, wanted in (("query", queries), ("assessor", assessors), ("phase", phases)):
            if wanted is None:
                continue
            names = list(wanted)
            known = set(self.frame[name].drop_nulls().unique()) if name in self.frame.columns else set()
            unknown = next((one for one in names if one not in known), None)
            if unknown is not None:
                there = ", ".join(sort_ids(known)[:20]) or "none"
                raise ParameterError(f"no {name} called '{unknown}' among the preferences: there are {there}")
            frame = frame.filter(pl.col(name).is_in(names))
        return Preferences(frame)

    def without_traps(self) -> Preferences:
        """Leave out the answers to traps, which say something about the assessor and not about the pair."""
        return self.keep(~self.is_trap)

    @property
    def is_trap(self) -> NDArray[np.bool_]:
        """Which answers were given to a trap, shape (answers,)."""
        if "trap" not in self.frame.columns:
            return np.zeros(len(self), dtype=bool)
        return self.frame["trap"].is_not_null().to_numpy()

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The queries that were asked about, sorted."""
        return sort_ids(self.frame["query"].unique())

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The documents that were shown, for any query, sorted."""
        return sort_ids(pl.concat([self.frame["a"].unique(), self.frame["b"].unique()]).unique())

    @cached_property
    def assessors(self) -> tuple[str, ...]:
        """Who answered, sorted."""
        return sort_ids(self.frame["assessor"].unique())

    @cached_property
    def query_index(self) -> Ints:
        """The query of every answer, as an index into ``queries``."""
        return _indices(self.frame["query"], self.queries)

    @cached_property
    def a_index(self) -> Ints:
        """The document shown first, as an index into ``documents``."""
        return _indices(self.frame["a"], self.documents)

    @cached_property
    def b_index(self) -> Ints:
        """The document shown second, as an index into ``documents``."""
        return _indices(self.frame["b"], self.documents)

    @cached_property
    def assessor_index(self) -> Ints:
        """Who gave every answer, as an index into ``assessors``."""
        return _indices(self.frame["assessor"], self.assessors)

    @cached_property
    def sign(self) -> Ints:
        """+1 where a was chosen, −1 where b was, 0 for same; shape (answers,)."""
        return self.frame["choice"].replace_strict(_SIGNS, return_dtype=pl.Int64).to_numpy()

    @cached_property
    def strength(self) -> Floats:
        """How much better the chosen document is, 0 for same; shape (answers,)."""
        return self.frame["strength"].to_numpy()

    def pairs(self) -> PairTable:
        """Return what the answers say about every pair; the work is done once."""
        return self._pairs

    @cached_property
    def _pairs(self) -> PairTable:
        return _count_pairs(self)

    def __len__(self) -> int:
        return self.frame.height

    def to_polars(self) -> pl.DataFrame:
        """Return the table itself."""
        return self.frame

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame (needs the ``pandas`` extra)."""
        return self.frame.to_pandas()

    def __str__(self) -> str:
        people, pairs = counted(len(self.assessors), "assessor"), counted(len(self.pairs()), "pair")
        queries = counted(len(self.queries), "query", "queries")
        return f"{counted(len(self), 'answer')} by {people} to {pairs} of documents, {queries}"

    def _summary(self) -> Summary:
        """Show the first answers."""
        return Summary(str(self), [DisplayTable(self.frame, most=5)])


@dataclass(frozen=True, eq=False, repr=False)
class PairTable(Display):
    """What the answers say about every pair of documents of a query, whichever way round it was shown.

    The two documents of a pair stand in the order of their ids: ``first_index < second_index``. Pairs are sorted by
    query, first and second document.

    Attributes
    ----------
    queries, documents : tuple of str
        Ids; everything else refers to them by index.
    query_index, first_index, second_index : ndarray of int, shape (pairs,)
        The query and the two documents.
    first, second, same : ndarray of int, shape (pairs,)
        How many answers chose the first document, the second, or neither.
    mean_strength : ndarray of float, shape (pairs,), 0 or more
        The strength averaged over all answers, whichever document they chose; ``same`` counts 0.
    mean_signed_strength : ndarray of float, shape (pairs,)
        The same average with the strengths of those who chose the second document taken as negative.
    answer_pair : ndarray of int, shape (answers,)
        The pair that every answer is about.
    answer_orientation : ndarray of int, shape (answers,)
        +1 where the pair's first document was shown as a, −1 where it was shown as b. An answer's sign times its
        orientation is +1 where the first document of the pair was chosen.
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    query_index: Ints
    first_index: Ints
    second_index: Ints
    first: Ints
    second: Ints
    same: Ints
    mean_strength: Floats
    mean_signed_strength: Floats
    answer_pair: Ints
    answer_orientation: Ints

    def __len__(self) -> int:
        return self.query_index.size

    @cached_property
    def answers(self) -> Ints:
        """How many answers every pair got, ``same`` among them."""
        return self.first + self.second + self.same

    @cached_property
    def winner(self) -> Ints:
        """+1 where more answers chose the first document than the second, −1 where fewer did, 0 for a tie."""
        winner: Ints = np.sign(self.first - self.second)
        return winner

    @cached_property
    def agreement(self) -> Ints:
        """How many answers chose the winner; in a tie, how many chose either document."""
        return np.maximum(self.first, self.second)

    @cached_property
    def has_majority(self) -> NDArray[np.bool_]:
        """Where more than half of all answers, ``same`` among them, chose one document."""
        majority: NDArray[np.bool_] = 2 * self.agreement > self.answers
        return majority

    def to_polars(self) -> pl.DataFrame:
        """One row per pair: ids, counts, ``winner`` (null for a tie), ``agreement``, ``answers`` and strengths."""
        documents = pl.Series(self.documents, dtype=pl.String)
        first, second = documents.gather(self.first_index), documents.gather(self.second_index)
        winner = pl.Series(self.winner)
        return pl.DataFrame(
            {
                "query": pl.Series(self.queries, dtype=pl.String).gather(self.query_index),
                "first": first,
                "second": second,
                "chose_first": self.first,
                "chose_second": self.second,
                "chose_same": self.same,
                "winner": pl.select(pl.when(winner > 0).then(first).when(winner < 0).then(second)).to_series(),
                "agreement": self.agreement,
                "answers": self.answers,
                "strength": self.mean_strength,
                "signed_strength": self.mean_signed_strength,
            }
        )

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame (needs the ``pandas`` extra)."""
        return self.to_polars().to_pandas()

    def __str__(self) -> str:
        ties = int(np.count_nonzero(self.winner == 0))
        return f"{counted(len(self), 'pair')}, {counted(int(self.answers.sum()), 'answer')}, {counted(ties, 'tie')}"

    def _summary(self) -> Summary:
        """Show the first pairs."""
        return Summary(str(self), [DisplayTable(self.to_polars(), most=5)])


def left_out_rows(frame: pl.DataFrame, answers: pl.DataFrame) -> tuple[int, int]:
    """Return how many rows of a table had no choice, and how many others are not among its answers."""
    blank = frame["choice"].cast(pl.String).str.strip_chars().replace("", None).is_null()
    unanswered = int(blank.sum())
    return unanswered, frame.height - unanswered - answers.height


def _indices(column: pl.Series, names: tuple[str, ...]) -> Ints:
    """Look ids up in the sorted tuple of them."""
    codes: Ints = column.cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy()
    return codes


def _count_pairs(preferences: Preferences) -> PairTable:
    a, b, query = preferences.a_index, preferences.b_index, preferences.query_index
    low, high = np.minimum(a, b), np.maximum(a, b)
    order = np.lexsort((high, low, query))
    query, low, high = query[order], low[order], high[order]
    fresh = np.ones(order.size, dtype=bool)
    fresh[1:] = (query[1:] != query[:-1]) | (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    of_answer = np.empty(order.size, dtype=np.int64)
    of_answer[order] = np.cumsum(fresh) - 1
    size = int(np.count_nonzero(fresh))
    orientation = np.where(a < b, 1, -1)
    sign = preferences.sign * orientation
    first, second, same = (np.bincount(of_answer[sign == value], minlength=size) for value in (1, -1, 0))
    answers = first + second + same
    return PairTable(
        preferences.queries,
        preferences.documents,
        query[fresh],
        low[fresh],
        high[fresh],
        first,
        second,
        same,
        np.bincount(of_answer, weights=preferences.strength, minlength=size) / answers,
        np.bincount(of_answer, weights=preferences.strength * sign, minlength=size) / answers,
        of_answer,
        orientation,
    )
