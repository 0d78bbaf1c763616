r"""Agreement on preferences: how many of those who answered a question chose the same document.

Tables by level of agreement, as in Stupar2013, say what share of the questions reach each level, and how strong
preferences are on average at that level. A level is x/y with y the usual number of answers; questions with more or
fewer answers count by their share, and levels come *exact* (5/6 and no more) and *cumulative* (5/6 or more), see
:mod:`earmark.measures.preference_precision`. What reaches no majority is ``below`` the lowest level.

**Is it more than chance?** If all n who choose a document do so at random, k of them agree with probability

.. math:: P(k) = 2 \binom{n}{k} 2^{-n} \quad (n/2 < k \le n), \qquad P(n/2) = \binom{n}{n/2} 2^{-n}

which for six are 20/64, 30/64, 12/64 and 2/64 from 3/6 to 6/6. The chi-square statistic compares how many questions
there are at each level with how many that would be, :math:`X^2 = \sum (O - E)^2 / E`, with one degree of freedom less
than there are levels: 3 for six answers. Answers of ``same`` choose no document; a question with six answers, two of
them ``same``, is one about four. Questions with different n each have their own levels, and statistics and degrees of
freedom add up. Where few questions are expected at a level the chi-square distribution is no good approximation; the
p-value by simulated random answers holds whatever their number. Both take questions to be independent.

References
----------
A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import special

from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary, written_cells
from earmark.data.preferences import PairTable
from earmark.errors import InputError, ParameterError
from earmark.measures.preference_precision import AgreementLevel, usual_levels

EVERYTHING = "all"
# Statistics that differ by less, relatively, count as equal.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class RandomAnswering(Display):
    """Agreement compared with that of people who answer at random.

    Attributes
    ----------
    statistic : float
        Chi-square, over all numbers of answers.
    df : int
        Its degrees of freedom.
    p_value : float, in [0, 1]
        By the chi-square distribution; 1 where no question was answered twice.
    simulated_p_value : float, in (0, 1]
        By simulated random answers, valid however few questions there are.
    levels : polars.DataFrame
        ``answers`` (that choose a document), ``agreeing``, ``questions``, ``expected``, ``probability``.
    """

    statistic: float
    df: int
    p_value: float
    simulated_p_value: float
    levels: pl.DataFrame

    def _summary(self) -> Summary:
        """Show how many questions reach every level of agreement, beside what chance would give."""
        chance = written_cells([self.simulated_p_value])[0]
        sentence = f"agreement as by answers at random? χ² = {self.statistic:.1f}, df {self.df}, p = {chance}"
        return Summary(sentence, [DisplayTable(self.levels)])


def random_agreement(n: int) -> tuple[Ints, Floats]:
    """Return how many of n people who choose at random agree, and how likely that is.

    Examples
    --------
    >>> agreeing, probability = random_agreement(6)
    >>> agreeing.tolist(), (64 * probability).round(6).tolist()
    ([3, 4, 5, 6], [20.0, 30.0, 12.0, 2.0])
    """
    if n < 1:
        raise ParameterError(f"agreement is among 1 answer or more, got {n}")
    agreeing = np.arange((n + 1) // 2, n + 1)
    ways = special.gammaln(n + 1) - special.gammaln(agreeing + 1) - special.gammaln(n - agreeing + 1)
    sides = np.where(2 * agreeing == n, 1.0, 2.0)
    return agreeing, sides * np.exp(ways - n * np.log(2))


def random_answering_test(pairs: PairTable, *, n_simulated: int = 10_000, rng: np.random.Generator) -> RandomAnswering:
    """Test whether people who answer at random would agree as much and as little as these.

    Parameters
    ----------
    pairs : PairTable
        What was answered.
    n_simulated : int
        How many sets of random answers to draw.
    rng : numpy.random.Generator
        Where random numbers come from.
    """
    if n_simulated < 1:
        raise ParameterError(f"simulate at least 1 set of answers, got {n_simulated}")
    chosen = pairs.first + pairs.second
    statistic, df = 0.0, 0
    simulated = np.zeros(n_simulated)
    rows = []
    for n in np.unique(chosen[chosen > 0]).tolist():
        agreeing, probability = random_agreement(n)
        here = chosen == n
        questions = np.bincount(pairs.agreement[here], minlength=n + 1)[agreeing]
        expected = questions.sum() * probability
        rows.append(
            pl.DataFrame(
                {
                    "answers": np.full(agreeing.size, n),
                    "agreeing": agreeing,
                    "questions": questions,
                    "expected": expected,
                    "probability": probability,
                }
            )
        )
        if agreeing.size == 1:
            continue
        statistic += float((((questions - expected) ** 2) / expected).sum())
        df += agreeing.size - 1
        drawn = rng.multinomial(int(questions.sum()), probability / probability.sum(), size=n_simulated)
        simulated += ((drawn - expected) ** 2 / expected).sum(axis=1)
    at_least = int(np.count_nonzero(simulated >= statistic * (1 - _ROUNDING)))
    p_value = float(special.chdtrc(df, statistic)) if df else 1.0
    schema = {"answers": pl.Int64, "agreeing": pl.Int64, "questions": pl.Int64} | dict.fromkeys(
        ("expected", "probability"), pl.Float64
    )
    levels = pl.concat(rows) if rows else pl.DataFrame(schema=schema)
    return RandomAnswering(statistic, df, p_value, (1 + at_least) / (1 + n_simulated), levels)


def agreement_table(
    pairs: PairTable,
    *,
    levels: Sequence[AgreementLevel] | None = None,
    themes: Mapping[str, str] | None = None,
    min_answers: int = 1,
) -> pl.DataFrame:
    """Return how many questions reach each level of agreement, and how strong preferences are there.

    Parameters
    ----------
    pairs : PairTable
        What was answered.
    levels : sequence of AgreementLevel, optional
        By default every majority of the usual number of answers.
    themes : mapping of str to str, optional
        The theme of every query: one more table for each. Map queries to themselves for one table per query.
    min_answers : int
        Leave out questions with fewer answers.

    Returns
    -------
    polars.DataFrame
        ``theme`` (``all`` comes first), ``agreement``, ``questions``, ``share`` and ``strength`` of the questions at
        the level and no higher, and the same with ``cumulative_`` before them of those at the level or higher. The last
        row of a table, ``below x/y``, has the rest. Strengths are null where there are no questions.
    """
    chosen = usual_levels(pairs) if levels is None else tuple(levels)
    if not chosen:
        raise ParameterError("there is no level of agreement to make a table of")
    chosen = tuple(sorted(chosen, key=lambda level: level.agreeing / level.of, reverse=True))
    counted = pairs.answers >= min_answers
    if not counted.any():
        raise InputError(
            expected=f"questions with at least {min_answers} answers", got=f"at most {pairs.answers.max(initial=0)}"
        )
    # The place of a pair is the highest level it reaches, and the number of levels if it reaches none.
    place = len(chosen) - np.sum([level.reached_by(pairs, min_answers=min_answers) for level in chosen], axis=0)
    names = [str(level) for level in chosen] + [f"below {chosen[-1]}"]
    tables = [_one_table(EVERYTHING, place[counted], pairs.mean_strength[counted], names)]
    if themes is not None:
        theme = _themes_of_pairs(pairs, themes)
        tables += [
            _one_table(name, place[here], pairs.mean_strength[here], names)
            for name in sorted(set(theme[counted].tolist()))
            for here in [counted & (theme == name)]
        ]
    return pl.concat(tables)


def _one_table(theme: str, place: Ints, strength: Floats, names: Sequence[str]) -> pl.DataFrame:
    size = len(names)
    questions = np.bincount(place, minlength=size)
    sums = np.bincount(place, weights=strength, minlength=size).astype(np.float64)
    up_to = np.cumsum(questions)
    sums_up_to: Floats = np.cumsum(sums)

    def mean(sums: Floats, counts: Ints) -> pl.Series:
        return pl.Series(np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0), nan_to_null=True)

    return pl.DataFrame(
        {
            "theme": pl.Series([theme] * size, dtype=pl.String),
            "agreement": pl.Series(list(names), dtype=pl.String),
            "questions": questions,
            "share": questions / place.size,
            "strength": mean(sums, questions),
            "cumulative_questions": up_to,
            "cumulative_share": up_to / place.size,
            "cumulative_strength": mean(sums_up_to, up_to),
        }
    )


def _themes_of_pairs(pairs: PairTable, themes: Mapping[str, str]) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    missing = [query for query in pairs.queries if query not in themes]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(expected="a theme for every query", got=f"none for query '{missing[0]}'{more}")
    return np.array([themes[query] for query in pairs.queries], dtype=np.str_)[pairs.query_index]
