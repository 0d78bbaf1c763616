"""What the printed numbers of SRBENCH (Stupar2013) leave open: all counts that would give them.

The paper prints chi-square statistics, precisions and p-values, but neither how many questions reached a level of
agreement nor how many pairs a precision is of. Counts that give what is printed are found by trying all. They agree
with the paper because they were chosen so; what is worth knowing is how many there are, and what follows from each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from earmark.crowd.agreement import random_agreement
from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError
from earmark.inference.preference_tests import fisher_p_values
from earmark.reproduce.comparison import Comparison, Row, beside, compare, compare_words, decimals, given

PAPER = "Stupar and Michel 2013"
ASSESSORS = 6
STUDENT_QUESTIONS, UNANIMOUS = 665, 195
LEVELS = ("6/6", "5/6", "4/6", "3/6")
STUDENT_CHI_SQUARE, WORKER_CHI_SQUARE = "1586.86", "6605.18"
EMOTION, PICASSO = "Emotion-based", "Picasso"
CUMULATIVE = ("6/6", "+5/6", "+4/6")
PRECISION = {EMOTION: ("0.658", "0.595", "0.559"), PICASSO: ("0.782", "0.690", "0.614")}
FISHER = ("0.0530", "0.0249", "0.0938")
MOST_PAIRS = 500
"""Up to how many pairs of a system are tried; more pairs give more solutions, without an end."""
NEAREST = 5
"""How many counts to list where none give all printed digits."""
# Fisher's p-value is not far from that of the normal approximation: only such counts are worth the exact test.
_NEAR = (0.55, 1.05)


def consistency() -> Comparison:
    """Compare printed numbers with what other printed numbers give."""
    rows = [compare("questions at 6/6, %", "29.32", 100 * UNANIMOUS / STUDENT_QUESTIONS, note="195 of 665")]
    for who, statistic in (("students", STUDENT_CHI_SQUARE), ("workers", WORKER_CHI_SQUARE)):
        p_value = float(special.chdtrc(len(LEVELS) - 1, float(statistic)))
        found = "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"
        rows.append(compare_words(f"p-value of chi-square {statistic}", "<0.0001", found, column=who))
    return Comparison(f"{PAPER}, section 5: what printed numbers give", tuple(rows))


def counts_with_statistic(questions: int, unanimous: int, statistic: str) -> Ints:
    """Find all counts of questions at each level of agreement that give a chi-square statistic as printed.

    Parameters
    ----------
    questions, unanimous : int
        How many questions there are, and at how many of them all six agree.
    statistic : str
        The statistic against random answers, as printed.

    Returns
    -------
    ndarray of int, shape (solutions, 4)
        Questions at 6/6, 5/6, 4/6 and 3/6.
    """
    _, probability = random_agreement(ASSESSORS)
    expected = questions * probability[::-1]
    left = questions - unanimous
    five, four = (grid.reshape(-1) for grid in np.indices((left + 1, left + 1)))
    five, four = five[five + four <= left], four[five + four <= left]
    counts = np.stack([np.full(five.size, unanimous), five, four, left - five - four], axis=1)
    value = ((counts - expected) ** 2 / expected).sum(axis=1)
    digits = len(statistic.partition(".")[2])
    solutions: Ints = counts[np.round(value, digits) == float(statistic)]
    return solutions


def plausible(counts: Ints, questions: int) -> Ints:
    """Choose the one solution with more questions at 5/6, and fewer at 4/6 and 3/6, than by chance."""
    _, probability = random_agreement(ASSESSORS)
    more = counts > questions * probability[::-1]
    chosen = counts[(more == np.array([True, True, False, False])).all(axis=1)]
    if chosen.shape[0] != 1:
        raise ParameterError(f"expected one plausible table of agreement, got {chosen.shape[0]}")
    one: Ints = chosen[0]
    return one


def counts_of_table_4() -> Comparison:
    """List all levels of agreement of the students that give the chi-square statistic, and what follows from each."""
    solutions = counts_with_statistic(STUDENT_QUESTIONS, UNANIMOUS, STUDENT_CHI_SQUARE)
    likely = plausible(solutions, STUDENT_QUESTIONS).tolist()
    _, probability = random_agreement(ASSESSORS)
    expected = STUDENT_QUESTIONS * probability[::-1]
    rows: list[Row] = []
    for number, counts in enumerate(solutions, start=1):
        name = f"solution {number}: {', '.join(map(str, counts.tolist()))}"
        note = "the plausible one" if counts.tolist() == likely else ""
        statistic = float(((counts - expected) ** 2 / expected).sum())
        rows.append(given(name, STUDENT_CHI_SQUARE, statistic, column="chi-square", note=note))
        for level, count in zip(LEVELS, counts.tolist(), strict=True):
            rows.append(beside(name, None, 100 * count / STUDENT_QUESTIONS, column=f"{level}, %"))
        high = 100 * (counts[0] + counts[1]) / STUDENT_QUESTIONS
        rows.append(beside(name, None, float(high), column="5/6 or 6/6, %"))
    notes = (
        f"The cells of Table 4 are not at hand. Of all ways to divide {STUDENT_QUESTIONS} questions, {UNANIMOUS} of "
        f"them at 6/6, {len(solutions)} give the printed statistic: questions at 6/6, 5/6, 4/6 and 3/6.",
        "In one of them 5/6 is more frequent than by chance and 4/6 and 3/6 are less, as it is where people agree on "
        "some questions more than on others; in the others 5/6 is rarer than by chance, though 6/6 is nine times as "
        "frequent.",
    )
    return Comparison(f"{PAPER}, Table 4: all counts that give its chi-square statistic", tuple(rows), notes)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Pairs ordered as people order them, and all pairs, of two systems.

    Attributes
    ----------
    counts : ndarray of int, shape (solutions, 4)
        Right and all of the first system, right and all of the second.
    p_value : ndarray of float, shape (solutions,)
        Of Fisher's exact test.
    exact : bool
        Whether they give all printed digits, or are merely the nearest.
    """

    counts: Ints
    p_value: Floats
    exact: bool


def pair_counts(first: str, second: str, p_value: str, *, most: int = MOST_PAIRS) -> PairCounts:
    """Find all counts of pairs that give two printed precisions and the printed p-value of Fisher's test.

    Parameters
    ----------
    first, second : str
        The precisions of two systems, as printed.
    p_value : str
        As printed.
    most : int
        Up to how many pairs of a system to try.
    """
    one, other = _fractions(first, most), _fractions(second, most)
    i, j = (place.reshape(-1) for place in np.indices((len(one), len(other))))
    (x, n), (y, m) = one[i].T, other[j].T
    wanted, pooled = float(p_value), (x + y) / (n + m)
    z = np.abs(x / n - y / m) / np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    rough = 2 * special.ndtr(-z)
    near = (rough > _NEAR[0] * wanted) & (rough < _NEAR[1] * wanted)
    counts = np.stack([x, n, y, m], axis=1)[near]
    found = fisher_p_values(*counts.T)
    exact = np.round(found, decimals(p_value)) == wanted
    kept = np.flatnonzero(exact) if exact.any() else np.argsort(np.abs(found - wanted), kind="stable")[:NEAREST]
    return PairCounts(counts[kept], found[kept], bool(exact.any()))


def _fractions(printed: str, most: int) -> Ints:
    """Return all right and all pairs, up to some number, whose quotient rounds to what is printed."""
    right, pairs = (grid.reshape(-1) for grid in np.indices((most + 1, most + 1)))
    possible = (pairs > 0) & (right <= pairs)
    right, pairs = right[possible], pairs[possible]
    fits = np.round(right / pairs, decimals(printed)) == float(printed)
    return np.stack([right[fits], pairs[fits]], axis=1)


def counts_of_table_6() -> Comparison:
    """List all counts of pairs that give Table 6, and how many pairs there would have been."""
    rows: list[Row] = []
    ranges = []
    for level, first, second, printed in zip(CUMULATIVE, PRECISION[EMOTION], PRECISION[PICASSO], FISHER, strict=True):
        found = pair_counts(first, second, printed)
        for (x, n, y, m), p_value in zip(found.counts.tolist(), found.p_value.tolist(), strict=True):
            name = f"{level}: {x}/{n} and {y}/{m}"
            put = given if found.exact else beside
            rows.append(given(name, first, x / n, column=EMOTION))
            rows.append(given(name, second, y / m, column=PICASSO))
            rows.append(put(name, printed, p_value, column="Fisher's exact test"))
            rows.append(beside(name, None, float(n + m), column="pairs"))
        both = found.counts[:, [1, 3]].sum(axis=1)
        ranges.append(
            f"{level}: {len(found.counts)} give all digits, with at least {both.min()} pairs of both systems together"
            if found.exact
            else f"{level}: none gives all digits, the {NEAREST} nearest have {both.min()} to {both.max()} pairs"
        )
    notes = (
        f"The paper does not print how many pairs there were. Listed is what, up to {MOST_PAIRS} pairs of a system, "
        "rounds to its precisions and its p-value: right and all of the emotion-based system, then of Picasso. "
        + "; ".join(ranges)
        + ".",
        "Where some give all digits, more pairs of a system give more of them: neither how many they are nor the "
        "greatest number of pairs says anything about the paper, only the least does.",
        "They are chosen so that they give what is printed; that they do is no finding.",
    )
    return Comparison(f"{PAPER}, Table 6: all counts of pairs that would give it", tuple(rows), notes)
