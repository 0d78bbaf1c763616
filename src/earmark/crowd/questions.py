"""Pair questions: which of two documents suits a query better.

The questions of a benchmark are all its queries crossed with all pairs of documents that may be compared: two of one
category, or one of each of two (Stupar2013: two songs for genres, two for positive feelings, two for negative ones, or
one for a positive and one for a negative feeling). There are far more than anybody will answer, so they are drawn at
random from those that have not been asked yet.

Chance alone leaves documents out for a long time. A draw therefore *covers* first: for every query, documents that it
has not been asked about are matched with each other at random, so that a question covers two of them; what is left
over is compared with any other document. With 470 documents and 25 queries that takes 470 · 25 / 2 = 5,875 questions if
nothing is left over. The matching is greedy: it cannot be enlarged by adding a pair, but a larger one may exist. So
covering takes at most half as many questions again as it has to, and where all documents of a category may be compared
with each other at most one per category more.
Whatever more is wanted is drawn with equal probabilities from all that remain.

Which of the two documents is shown first is drawn too. A question's id depends on its query and its two documents
alone: asked again in another round, or the other way round, it is the same question.

References
----------
A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.crowd.benchmark import Benchmark
from earmark.crowd.traps import EVERY, with_traps
from earmark.data.arrays import Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.preferences import Preferences
from earmark.errors import ParameterError
from earmark.wording import counted

QUESTION_COLUMNS = ("question", "query", "a", "b", "kind", "assessors")
_ID_BYTES = 6


@dataclass(frozen=True, eq=False, repr=False)
class PossiblePairs(Display):
    """The pairs of documents of a benchmark that may be compared, for any query.

    Attributes
    ----------
    benchmark : Benchmark
        The queries and documents.
    kinds : tuple of str
        The kinds of pairs.
    first, second : ndarray of int, shape (pairs,)
        The two documents as indices into the benchmark's, ``first < second``; pairs are sorted by both.
    kind : ndarray of int, shape (pairs,)
        The first kind that allows the pair, as an index into ``kinds``.
    """

    benchmark: Benchmark
    kinds: tuple[str, ...]
    first: Ints
    second: Ints
    kind: Ints

    def __len__(self) -> int:
        return self.first.size

    @property
    def n_questions(self) -> int:
        """How many questions there are: every pair for every query."""
        return len(self) * len(self.benchmark.queries)

    @cached_property
    def _key(self) -> Ints:
        return self.first * len(self.benchmark.documents) + self.second

    def find(self, rows: pl.DataFrame) -> Ints:
        """Return the number of the question that every row asks, query · pairs + pair, or −1 where it is none of ours.

        Parameters
        ----------
        rows : polars.DataFrame
            ``query``, ``a`` and ``b``, in either order.
        """
        query = _places(rows["query"], self.benchmark.queries)
        a, b = (_places(rows[name], self.benchmark.documents) for name in ("a", "b"))
        key = np.minimum(a, b) * len(self.benchmark.documents) + np.maximum(a, b)
        known = (query >= 0) & (a >= 0) & (b >= 0)
        if not len(self):
            return np.full(rows.height, -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._key, key), len(self) - 1)
        return np.where(known & (self._key[at] == key), query * len(self) + at, -1)

    def _summary(self) -> Summary:
        """Show how many pairs there are of every kind."""
        frame = pl.DataFrame({"kind": self.kinds, "pairs": np.bincount(self.kind, minlength=len(self.kinds))})
        pairs, questions = counted(len(self), "pair"), counted(self.n_questions, "question")
        return Summary(f"{pairs} of documents, {questions} with all queries", [DisplayTable(frame)])


def possible_pairs(benchmark: Benchmark, kinds: Mapping[str, tuple[str, str]]) -> PossiblePairs:
    """Find all pairs that may be compared.

    Parameters
    ----------
    benchmark : Benchmark
        The documents and their categories.
    kinds : mapping of str to two str
        The two categories of every kind of pair; twice the same for pairs within a category.

    Examples
    --------
    >>> from earmark.crowd.configuration import build_benchmark, example_config
    >>> config = example_config()
    >>> pairs = possible_pairs(build_benchmark(config), config.pairs)
    >>> dict(zip(pairs.kinds, np.bincount(pairs.kind).tolist()))
    {'genre': 28680, 'positive': 9405, 'negative': 9454, 'positive-negative': 18976}
    >>> pairs.n_questions
    1662875
    """
    if not kinds:
        raise ParameterError("questions need at least one kind of pairs")
    place = {name: index for index, name in enumerate(benchmark.categories)}
    size = len(benchmark.documents)
    kind_of = np.full((size, size), -1, dtype=np.int64)
    # The last kind first, so that the first one that allows a pair is the one that stays.
    for number, (name, parts) in reversed(list(enumerate(kinds.items()))):
        unknown = next((part for part in parts if part not in place), None)
        if unknown is not None:
            raise ParameterError(f"kind '{name}' compares '{unknown}', which is none of {', '.join(place)}")
        one, other = (benchmark.member[place[part]] for part in parts)
        kind_of[np.outer(one, other) | np.outer(other, one)] = number
    first, second = np.nonzero(np.triu(kind_of >= 0, k=1))
    return PossiblePairs(benchmark, tuple(kinds), first, second, kind_of[first, second])


def draw_questions(
    pairs: PossiblePairs,
    n: int | None = None,
    *,
    rng: np.random.Generator,
    asked: pl.DataFrame | None = None,
    avoid: pl.DataFrame | None = None,
    assessors: int = 6,
    cover: bool = True,
) -> pl.DataFrame:
    """Draw questions that have not been asked, first those that every document needs to be asked about once per query.

    Parameters
    ----------
    pairs : PossiblePairs
        What may be asked.
    n : int, optional
        How many questions; by default as many as it takes to cover every document for every query. Fewer come back
        where fewer are left.
    rng : numpy.random.Generator
        Where chance comes from.
    asked : polars.DataFrame, optional
        Questions or answers so far: ``query``, ``a`` and ``b``. They are not asked again, and what they are about is
        covered.
    avoid : polars.DataFrame, optional
        Other questions that shall not be asked, such as traps; they cover nothing.
    assessors : int
        How many people shall answer each question.
    cover : bool
        Whether to cover first; else all questions are drawn with equal probabilities.

    Returns
    -------
    polars.DataFrame
        ``question`` (its id), ``query``, ``a`` (shown first), ``b``, ``kind`` and ``assessors``; what covers comes
        first, both parts in random order.
    """
    if not len(pairs):
        raise ParameterError("there is nothing to ask: no two documents of the benchmark may be compared")
    if assessors < 1:
        raise ParameterError(f"a question needs at least one assessor, got {assessors}")
    if n is None and not cover:
        raise ParameterError("say how many questions to draw, or cover every document")
    if n is not None and n < 0:
        raise ParameterError(f"the number of questions is 0 or more, got {n}")
    found = [pairs.find(rows) for rows in (asked, avoid) if rows is not None]
    done = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *found]))
    done = done[done >= 0]
    covering = rng.permutation(_covering(pairs, done, asked, rng)) if cover else np.zeros(0, dtype=np.int64)
    chosen = covering[: covering.size if n is None else n]
    if n is not None and n > chosen.size:
        chosen = np.concatenate([chosen, _others(pairs.n_questions, n - chosen.size, done, chosen, rng)])
    return question_frame(pairs, chosen, np.full(chosen.size, assessors), rng=rng)


def _others(size: int, n: int, done: Ints, chosen: Ints, rng: np.random.Generator) -> Ints:
    """Draw n of the numbers below size that are neither done nor chosen, or all if there are fewer, in random order.

    With as many more as there are numbers to avoid, enough are left when those are taken out, and what is left of a
    random order is a random order. So nothing has to be laid out that is as large as all of the questions.
    """
    avoid = np.union1d(done, chosen)
    drawn = rng.choice(size, min(size, n + avoid.size), replace=False)
    return drawn[~np.isin(drawn, avoid)][:n]


def _covering(
    pairs: PossiblePairs, done: Ints, asked: pl.DataFrame | None, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the numbers of questions that cover every document that can be covered and is not yet."""
    uncovered = np.ones((len(pairs.benchmark.queries), len(pairs.benchmark.documents)), dtype=bool)
    if asked is not None:
        uncovered = times_asked(pairs.benchmark, asked) == 0
    chosen = []
    for query, open_ in enumerate(uncovered):
        free = np.ones(len(pairs), dtype=bool)
        free[done[done // len(pairs) == query] - query * len(pairs)] = False
        both = np.flatnonzero(free & open_[pairs.first] & open_[pairs.second])
        matched = both[random_matching(pairs.first[both], pairs.second[both], open_.size, rng=rng)]
        left = open_.copy()
        left[pairs.first[matched]] = left[pairs.second[matched]] = False
        single = rng.permutation(np.flatnonzero(free & (left[pairs.first] | left[pairs.second])))
        lone = np.where(left[pairs.first[single]], pairs.first[single], pairs.second[single])
        _, first_of = np.unique(lone, return_index=True)
        chosen.append(query * len(pairs) + np.concatenate([matched, single[first_of]]))
    return np.concatenate(chosen)


def random_matching(first: Ints, second: Ints, size: int, *, rng: np.random.Generator) -> Ints:
    """Take pairs in random order, each unless one of its two documents is taken already.

    Parameters
    ----------
    first, second : ndarray of int, shape (pairs,), below size
        The documents of every pair.
    size : int
        How many documents there are.
    rng : numpy.random.Generator
        Where the order comes from.

    Returns
    -------
    ndarray of int
        Indices of pairs, no two of which share a document, and to which no other pair could be added.

    Notes
    -----
    All pairs that come first at both of their documents are taken at once, then everything they touch is dropped, until
    nothing is left. That gives the same pairs as taking them one by one, in a few rounds.
    """
    order = rng.permutation(first.size)
    first, second = first[order], second[order]
    taken = np.zeros(size, dtype=bool)
    matched = []
    while order.size:
        place = np.arange(order.size)
        earliest = np.full(size, order.size)
        np.minimum.at(earliest, first, place)
        np.minimum.at(earliest, second, place)
        wins = (earliest[first] == place) & (earliest[second] == place)
        matched.append(order[wins])
        taken[first[wins]] = taken[second[wins]] = True
        left = ~(taken[first] | taken[second])
        first, second, order = first[left], second[left], order[left]
    return np.concatenate(matched) if matched else np.zeros(0, dtype=np.int64)


def unfinished_questions(
    pairs: PossiblePairs, answers: Preferences, *, rng: np.random.Generator, assessors: int = 6
) -> pl.DataFrame:
    """Return the questions that have been answered, but by fewer people than shall answer them.

    That happens when work is rejected: those who take it over are asked as many times as answers are missing, which is
    what ``assessors`` says here. Traps and questions that are none of the benchmark's are passed over.
    """
    table = answers.without_traps().pairs()
    rows = table.to_polars().select("query", pl.col("first").alias("a"), pl.col("second").alias("b"), "answers")
    number = pairs.find(rows)
    missing = assessors - rows["answers"].to_numpy()
    wanted = rng.permutation(np.flatnonzero((number >= 0) & (missing > 0)))
    return question_frame(pairs, number[wanted], missing[wanted], rng=rng)


def mix_traps(
    questions: pl.DataFrame, traps: pl.DataFrame, *, every: int = EVERY, assessors: int = 6, rng: np.random.Generator
) -> pl.DataFrame:
    """Put one trap among every so many questions, as questions like any other.

    Parameters
    ----------
    questions : polars.DataFrame
        What :func:`draw_questions` returns.
    traps : polars.DataFrame
        ``query``, ``a``, ``b`` and ``trap``, what is expected.
    every : int
        How many questions come with one trap.
    assessors : int
        How many people answer each trap.
    rng : numpy.random.Generator
        Decides which traps come, and where.

    Returns
    -------
    polars.DataFrame
        The columns of ``questions``, and ``trap``, null for questions; ``kind`` is null for traps.
    """
    marked = traps.select(
        "query", "a", "b", "trap", question_ids(traps), pl.lit(assessors, dtype=pl.Int64).alias("assessors")
    )
    return with_traps(questions, marked, every=every, rng=rng)


def question_frame(pairs: PossiblePairs, number: Ints, assessors: Ints, *, rng: np.random.Generator) -> pl.DataFrame:
    """Write questions out by their numbers, in this order, with either document first at random."""
    query, pair = np.divmod(number, max(len(pairs), 1))
    swapped = rng.random(number.size) < 0.5
    first, second = pairs.first[pair], pairs.second[pair]
    documents = pl.Series(pairs.benchmark.documents, dtype=pl.String)
    frame = pl.DataFrame(
        {
            "query": pl.Series(pairs.benchmark.queries, dtype=pl.String).gather(query),
            "a": documents.gather(np.where(swapped, second, first)),
            "b": documents.gather(np.where(swapped, first, second)),
            "kind": pl.Series(pairs.kinds, dtype=pl.String).gather(pairs.kind[pair]),
            "assessors": pl.Series(assessors, dtype=pl.Int64),
        }
    )
    return frame.select(question_ids(frame), pl.all())


def question_ids(rows: pl.DataFrame) -> pl.Series:
    """Return the id of the question that every row asks: a hash of its query and its two documents, in either order.

    Examples
    --------
    >>> question_ids(pl.DataFrame({"query": ["q", "q"], "a": ["x", "y"], "b": ["y", "x"]})).n_unique()
    1
    """

    def one(query: str, a: str, b: str) -> str:
        # Each text after its length: no two questions run together to the same bytes.
        texts = [text.encode("utf-8", "surrogatepass") for text in (query, *sorted((a, b)))]
        framed = b"".join(len(text).to_bytes(8, "little") + text for text in texts)
        return hashlib.blake2b(framed, digest_size=_ID_BYTES).hexdigest()

    return pl.Series("question", [one(*row) for row in rows.select("query", "a", "b").iter_rows()], dtype=pl.String)


def times_asked(benchmark: Benchmark, questions: pl.DataFrame) -> Ints:
    """Count how many different questions ask about each document for each query, shape (queries, documents)."""
    query = _places(questions["query"], benchmark.queries)
    a, b = (_places(questions[name], benchmark.documents) for name in ("a", "b"))
    known = (query >= 0) & (a >= 0) & (b >= 0)
    rows = np.unique(np.stack([query, np.minimum(a, b), np.maximum(a, b)])[:, known], axis=1)
    size = len(benchmark.documents)
    cells = np.concatenate([rows[0] * size + rows[1], rows[0] * size + rows[2]])
    return np.bincount(cells, minlength=len(benchmark.queries) * size).reshape(-1, size)


def _places(column: pl.Series, names: tuple[str, ...]) -> Ints:
    """Look ids up in a tuple of different names, −1 where an id is none of them."""
    codes = column.cast(pl.String).cast(pl.Enum(names), strict=False).to_physical().cast(pl.Int64).fill_null(-1)
    places: Ints = codes.to_numpy()
    return places
