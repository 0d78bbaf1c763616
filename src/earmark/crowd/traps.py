r"""Traps: questions whose answer is known, put among others to find out who answers without looking.

Questions of a first phase, asked of people one can trust, become traps if all of them chose the same document [1]_.
With n people that happens by chance with probability :math:`2^{1-n}`: .031 for six, which is why fewer do not make a
trap by default. Only the choice counts, not its strength.

In the second phase one trap comes with every five questions, at a random place among them and with its documents on
random sides, so that it looks like any other question. What a trap expects is written as for any answer: ``a``, ``b``
or ``same``, in a column ``trap``, for the order in which its documents are shown. Two traps that ask the same and
expect different answers are refused, for one of them is wrong.

References
----------
.. [1] A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.data.arrays import Ints
from earmark.data.preference_checks import CHOICES
from earmark.data.preferences import Preferences
from earmark.data.tables import id_column
from earmark.errors import InputError, ParameterError

TRAP_COLUMNS = ("query", "a", "b", "trap")
EVERY = 5
MIN_ANSWERS = 6
_TURNED = {"a": "b", "b": "a", "same": "same"}


def choose_traps(
    preferences: Preferences, *, min_answers: int = MIN_ANSWERS, min_strength: float = 0.0
) -> pl.DataFrame:
    """Make traps of the questions on which everybody agreed.

    Parameters
    ----------
    preferences : Preferences
        The answers of a first phase; those to traps do not count.
    min_answers : int
        How many people have to have answered a question, and to agree.
    min_strength : float
        How strong the preference has to be on average.

    Returns
    -------
    polars.DataFrame
        ``query``, ``a``, ``b``, ``trap`` (the choice that is expected), ``answers``, ``strength``, sorted by the first
        three; ``a`` comes before ``b``. Empty if everybody agreed on nothing.

    Examples
    --------
    >>> rows = [("q", "x", "y", f"w{n}", "b", "z", "y", "same" if n else "a") for n in range(6)]
    >>> frame = pl.DataFrame([row[:5] for row in rows], schema=("query", "a", "b", "assessor", "choice"), orient="row")
    >>> choose_traps(Preferences.from_frame(frame)).rows()
    [('q', 'x', 'y', 'b', 6, 1.0)]
    """
    if min_answers < 1:
        raise ParameterError(f"a trap needs at least 1 answer, got {min_answers}")
    regular = preferences.without_traps()
    if not len(regular):
        raise InputError(expected="answers to make traps of", got="answers to traps alone")
    pairs = regular.pairs().to_polars()
    unanimous = pairs.filter(
        (pl.col("agreement") == pl.col("answers"))
        & (pl.col("answers") >= min_answers)
        & (pl.col("strength") >= min_strength)
    )
    return unanimous.select(
        "query",
        pl.col("first").alias("a"),
        pl.col("second").alias("b"),
        pl.when(pl.col("winner") == pl.col("first")).then(pl.lit("a")).otherwise(pl.lit("b")).alias("trap"),
        "answers",
        "strength",
    )


def check_traps(traps: pl.DataFrame) -> pl.DataFrame:
    """Check a table of traps and return each once, its documents in the order of their ids.

    Parameters
    ----------
    traps : polars.DataFrame
        ``query``, ``a``, ``b`` and ``trap``; whatever else it has stays.

    Raises
    ------
    InputError
        If a column is missing, a trap expects nothing that can be answered, or two that ask the same expect different
        answers.
    """
    missing = [name for name in TRAP_COLUMNS if name not in traps.columns]
    if missing:
        raise InputError(
            expected="traps with the columns query, a, b and trap",
            got=f"{', '.join(traps.columns) or 'none'} (no {' or '.join(missing)})",
        )
    traps = traps.with_columns(id_column(traps[name]) for name in ("query", "a", "b"))
    wrong = (~traps["trap"].is_in(CHOICES)).fill_null(True).arg_true()
    if wrong.len():
        cell = traps["trap"][int(wrong[0])]
        got = "nothing" if cell is None else f"'{cell}'"
        raise InputError(expected="a, b or same as trap", got=f"{got} in row {wrong[0]}, counted from 0")
    ordered = turn(traps, (traps["a"] > traps["b"]).to_numpy())
    distinct = ordered.unique(["query", "a", "b", "trap"], keep="first", maintain_order=True)
    refuse_contradictions(distinct)
    return distinct


def refuse_contradictions(traps: pl.DataFrame) -> None:
    """Complain about the first two traps that ask the same and expect different answers.

    Parameters
    ----------
    traps : polars.DataFrame
        ``query``, ``a``, ``b`` and ``trap``, the documents in the order of their ids.
    """
    distinct = traps.select(TRAP_COLUMNS).unique(maintain_order=True)
    again = distinct.filter(~distinct.select(pl.struct("query", "a", "b").is_first_distinct()).to_series())
    if again.height:
        query, a, b = again.row(0)[:3]
        both = distinct.filter((pl.col("query") == query) & (pl.col("a") == a) & (pl.col("b") == b))["trap"]
        said = " and once ".join(f"'{a if one == 'a' else b}'" if one != "same" else "same" for one in both)
        raise InputError(
            expected="traps that agree",
            got=f"one about '{a}' and '{b}' for query '{query}' that expects once {said}",
            hint="one of them is wrong: leave the question out of the traps",
        )


def turn(rows: pl.DataFrame, turned: NDArray[np.bool_]) -> pl.DataFrame:
    """Show the documents of some rows the other way round; what a trap expects follows."""
    swap = pl.Series(turned)
    a, b, trap = pl.col("a"), pl.col("b"), pl.col("trap")
    return rows.with_columns(
        pl.when(swap).then(b).otherwise(a).alias("a"),
        pl.when(swap).then(a).otherwise(b).alias("b"),
        pl.when(swap).then(trap.replace(_TURNED)).otherwise(trap).alias("trap"),
    )


def with_traps(
    questions: pl.DataFrame,
    traps: pl.DataFrame,
    *,
    every: int = EVERY,
    by: str | None = None,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Put one trap among every so many questions.

    Parameters
    ----------
    questions : polars.DataFrame
        ``query``, ``a``, ``b`` and whatever else, in the order in which they are asked.
    traps : polars.DataFrame
        ``query``, ``a``, ``b`` and ``trap``, see :func:`choose_traps`.
    every : int
        How many questions come with one trap.
    by : str, optional
        A column of ``questions`` whose values are kept apart, such as assessors or packages: each has traps of its own.
        Rows with the same value stand together.
    rng : numpy.random.Generator
        Decides which traps come, where, and which of their documents is shown first.

    Returns
    -------
    polars.DataFrame
        The columns of ``questions`` and ``trap``, which is null for questions. Where a trap comes from has no value in
        the other columns, unless ``traps`` has it too. Questions stay in their order; the last ones, fewer than
        ``every``, have a trap as well. All traps come once before any comes again.

    Examples
    --------
    >>> questions = pl.DataFrame({"query": ["q"] * 10, "a": list("abcdefghij"), "b": ["z"] * 10})
    >>> traps = pl.DataFrame({"query": ["q"], "a": ["x"], "b": ["y"], "trap": ["a"]})
    >>> with_traps(questions, traps, rng=np.random.default_rng(1))["trap"].is_not_null().sum()
    2
    """
    if every < 1:
        raise ParameterError(f"a trap comes with at least 1 question, got {every}")
    if by is not None and by not in questions.columns:
        raise ParameterError(f"the questions have no column '{by}'")
    known = check_traps(traps)
    if not known.height:
        raise InputError(
            expected="at least one trap",
            got="none",
            hint="traps are questions on which everybody agreed in a first phase",
        )
    block, starts, lengths = _blocks(questions, every, by)
    # In a block of n questions there are n + 1 places for a trap.
    before = starts + rng.integers(0, lengths + 1)
    chosen = known[_shuffled_rounds(known.height, starts.size, rng)]
    shown = turn(chosen, rng.random(starts.size) < 0.5)
    if by is not None:
        shown = shown.with_columns(questions[by].gather(starts).alias(by))
    columns = [name for name in shown.columns if name in {*questions.columns, "trap"}]
    place = np.concatenate([np.arange(questions.height, dtype=np.float64), before - 0.5])
    # Between two blocks there are two places for a trap, which differ by the block alone.
    order = np.lexsort((place, np.concatenate([block, np.arange(starts.size)])))
    together = pl.concat([questions.drop("trap", strict=False), shown.select(columns)], how="diagonal_relaxed")
    return together[order]


def _blocks(questions: pl.DataFrame, every: int, by: str | None) -> tuple[Ints, Ints, Ints]:
    """Cut questions into blocks: the block of every question, and where each block starts and how long it is."""
    place = np.arange(questions.height)
    group_start = np.zeros(questions.height, dtype=np.int64)
    if by is not None:
        column = questions[by]
        changes = (column != column.shift(1)).fill_null(True).to_numpy()
        if int(np.count_nonzero(changes)) > column.n_unique():
            raise ParameterError(f"rows of the same '{by}' have to stand together: sort the questions by it")
        group_start = np.maximum.accumulate(np.where(changes, place, 0))
    starts = np.flatnonzero((place - group_start) % every == 0)
    lengths = np.diff(np.append(starts, questions.height))
    return np.repeat(np.arange(starts.size), lengths), starts, lengths


def _shuffled_rounds(size: int, n: int, rng: np.random.Generator) -> Ints:
    """Draw n of size things: all of them in random order, then all again in another order, and so on."""
    rounds = -(-n // size)
    orders = np.tile(np.arange(size), (rounds, 1))
    return rng.permuted(orders, axis=1).ravel()[:n]


def mark_traps(preferences: Preferences, traps: pl.DataFrame) -> Preferences:
    """Mark the answers to questions that are traps, whichever way round they were shown.

    Parameters
    ----------
    preferences : Preferences
        The answers; what stands in their column ``trap`` already stays.
    traps : polars.DataFrame
        ``query``, ``a``, ``b`` and ``trap``.
    """
    known = check_traps(traps).select(pl.col("query"), pl.col("a").alias("low"), pl.col("b").alias("high"), "trap")
    frame = preferences.frame
    if "trap" not in frame.columns:
        frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias("trap"))
    a, b = pl.col("a"), pl.col("b")
    keyed = frame.with_columns(pl.min_horizontal(a, b).alias("low"), pl.max_horizontal(a, b).alias("high"))
    found = keyed.join(known, on=["query", "low", "high"], how="left", maintain_order="left", suffix="_known")
    expected = pl.col("trap_known")
    shown = pl.when(a > b).then(expected.replace(_TURNED)).otherwise(expected)
    return Preferences(
        found.with_columns(pl.coalesce(pl.col("trap"), shown).alias("trap")).select(frame.columns),
        preferences.unanswered,
    )
