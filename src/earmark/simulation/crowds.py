r"""Simulated crowds: people who say which of two documents suits a query better, with everything known about them.

Every document *fits* every query to some degree: what it is like for all queries, what its group (a genre, a feeling)
is like for this query, and what it is like for this query alone, each drawn from a normal distribution,

.. math:: f_{qd} = \sigma_1 x_d + \sigma_2 y_{q g(d)} + \sigma_3 z_{qd}

with variances that add up to 1/2, so that differences of independent documents have variance 1. Person w, shown
document a first and b second, compares them with noise :math:`\epsilon` of a standard logistic distribution,

.. math:: u = s_w (f_{qa} - f_{qb}) + c_w + \epsilon

chooses a where u > 0, and says how strongly on a scale from 1 to 5, the more the larger :math:`|u|`. :math:`s_w` is how
reliable a person is and :math:`c_w` how much they favour what is shown first. Those who *cheat* choose at random.
People differ in how much they answer, as a few do most of the work of a crowd; nobody answers a question twice.

Systems rank documents by scores that correlate with the truth, each to its own degree: its *skill*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earmark.crowd.benchmark import Benchmark
from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.preferences import Preferences
from earmark.data.runs import Runs, build_runs
from earmark.errors import ParameterError
from earmark.wording import counted

STRONGEST = 5
# Shares of a document itself, its group for the query and the rest in the variance of how well it fits.
_SHARES = (0.2, 0.3, 0.5)
# Strengths of preference: at no difference, what a unit of it adds, and how much people differ in saying so.
_STRENGTH, _STRENGTH_SLOPE, _STRENGTH_NOISE = 1.5, 0.85, 1.0
# People are assigned to so many questions at once.
_CHUNK = 2048


@dataclass(frozen=True, eq=False, repr=False)
class LatentFit(Display):
    """How well documents fit queries.

    Attributes
    ----------
    queries, documents : tuple of str
        Ids.
    value : ndarray of float, shape (queries, documents)
        The better the higher; differences have a standard deviation of about 1.
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    value: Floats

    def _summary(self) -> Summary:
        """Show the first queries and documents."""
        queries, documents = self.queries[:5], self.documents[:5]
        corner = dict(zip(documents, self.value[:5, :5].T, strict=True))
        frame = pl.DataFrame({"": pl.Series(queries, dtype=pl.String), **corner})
        sentence = f"of {counted(len(self.documents), 'document')} to {counted(len(self.queries), 'query', 'queries')}"
        return Summary(sentence, [DisplayTable(frame, total=len(self.queries))])

    def difference(self, questions: pl.DataFrame) -> Floats:
        """Return how much better a fits than b, for every question (``query``, ``a``, ``b``)."""
        query = _places(questions["query"], self.queries)
        a, b = (_places(questions[name], self.documents) for name in ("a", "b"))
        difference: Floats = self.value[query, a] - self.value[query, b]
        return difference


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedCrowd(Display):
    """People who answer questions; arrays of shape (people,).

    Attributes
    ----------
    names : tuple of str
        What they are called.
    activity : ndarray of float, above 0
        How much they answer, compared with each other.
    reliability : ndarray of float, 0 or more
        By how much a difference counts against the noise.
    bias : ndarray of float
        How much they favour the document shown first.
    cheats : ndarray of bool
        Who answers at random.
    """

    names: tuple[str, ...]
    activity: Floats
    reliability: Floats
    bias: Floats
    cheats: NDArray[np.bool_]

    def _summary(self) -> Summary:
        """Show the first people."""
        columns = ("activity", "reliability", "bias", "cheats")
        people = pl.DataFrame({"name": pl.Series(self.names, dtype=pl.String)})
        frame = people.with_columns(pl.Series(name, getattr(self, name)) for name in columns)
        cheats = int(self.cheats.sum())
        return Summary(
            f"{counted(len(self.names), 'person', 'people')}, {cheats:,} of them cheat", [DisplayTable(frame, most=5)]
        )

    def without(self, names: set[str]) -> SimulatedCrowd:
        """Return the crowd without some of its people."""
        kept = np.array([name not in names for name in self.names], dtype=bool)
        return SimulatedCrowd(
            tuple(name for name in self.names if name not in names),
            self.activity[kept],
            self.reliability[kept],
            self.bias[kept],
            self.cheats[kept],
        )

    def answer(
        self,
        questions: pl.DataFrame,
        fit: LatentFit,
        *,
        rng: np.random.Generator,
        phase: str | None = None,
        before: Preferences | None = None,
    ) -> Preferences:
        """Answer questions, each by as many people as it asks for.

        Parameters
        ----------
        questions : polars.DataFrame
            ``query``, ``a``, ``b`` and ``assessors``, and perhaps ``question`` and ``trap``.
        fit : LatentFit
            What there is to find out.
        rng : numpy.random.Generator
            Where chance comes from.
        phase : str, optional
            What to call this round of asking.
        before : Preferences, optional
            Answers of the same round; nobody in it is asked the same question again.
        """
        wanted = questions["assessors"].to_numpy()
        busy = self._answered_before(questions, before)
        if wanted.size and int((wanted + busy.sum(axis=1)).max()) > len(self.names):
            raise ParameterError(f"a question asks for more people than the {len(self.names)} who can still answer it")
        person = _assign(self.activity, wanted, busy, rng)
        row = np.repeat(np.arange(questions.height), wanted)
        noise = rng.logistic(size=row.size)
        perceived = self.reliability[person] * fit.difference(questions)[row] + self.bias[person] + noise
        perceived = np.where(self.cheats[person], rng.logistic(size=row.size), perceived)
        honest = _STRENGTH + _STRENGTH_SLOPE * np.abs(perceived) + _STRENGTH_NOISE * rng.normal(size=row.size)
        any_strength = rng.integers(1, STRONGEST + 1, row.size)
        strength = np.where(self.cheats[person], any_strength, np.clip(np.round(honest), 1, STRONGEST))
        kept = [name for name in ("query", "a", "b", "question", "trap") if name in questions.columns]
        answers = questions.select(kept)[row].with_columns(
            pl.Series(self.names, dtype=pl.String).gather(person).alias("assessor"),
            pl.Series("choice", np.where(perceived > 0, "a", "b")),
            pl.Series("strength", strength),
        )
        if phase is not None:
            answers = answers.with_columns(pl.lit(phase).alias("phase"))
        return Preferences.from_frame(answers)

    def _answered_before(self, questions: pl.DataFrame, before: Preferences | None) -> NDArray[np.bool_]:
        busy = np.zeros((questions.height, len(self.names)), dtype=bool)
        if before is None or not questions.height:
            return busy
        asked = _either_way(questions).with_row_index("row")
        done = _either_way(before.frame).with_columns(before.frame["assessor"])
        both = asked.join(done, on=["query", "low", "high"])
        who = _places(both["assessor"], self.names)
        busy[both["row"].to_numpy()[who >= 0], who[who >= 0]] = True
        return busy


def _either_way(rows: pl.DataFrame) -> pl.DataFrame:
    a, b = pl.col("a"), pl.col("b")
    return rows.select(
        "query", pl.when(a < b).then(a).otherwise(b).alias("low"), pl.when(a < b).then(b).otherwise(a).alias("high")
    )


def _assign(activity: Floats, wanted: Ints, busy: NDArray[np.bool_], rng: np.random.Generator) -> Ints:
    """Choose different people for every question, the active more often; all of them one after the other.

    The largest of log activity plus independent Gumbel noise are a sample without replacement with probabilities
    in proportion to activity.
    """
    chosen = []
    most = int(wanted.max(initial=0))
    for start in range(0, wanted.size, _CHUNK):
        here = slice(start, start + _CHUNK)
        key = np.log(activity) + rng.gumbel(size=busy[here].shape)
        key[busy[here]] = -np.inf
        best = np.argsort(-key, axis=1)[:, :most]
        chosen.append(best[np.arange(most) < wanted[here, None]])
    person: Ints = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64)
    return _nobody_idle(person, activity.size, rng) if not busy.any() else person


def _nobody_idle(person: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Give one answer of the busiest to everybody who got none, each of another question."""
    counts = np.bincount(person, minlength=size)
    idle = np.flatnonzero(counts == 0)
    given = np.flatnonzero(person == np.argmax(counts))
    if not 0 < idle.size < given.size:
        return person
    # The busiest answers a question once, so these are all of different questions.
    taken = rng.choice(given, idle.size, replace=False)
    person = person.copy()
    person[taken] = idle
    return person


def draw_crowd(
    rng: np.random.Generator,
    n: int,
    *,
    prefix: str,
    reliability: float,
    reliability_spread: float = 0.3,
    activity_spread: float = 1.6,
    cheats: int = 0,
    cheats_activity: float = 1.2,
    bias: float = 0.0,
    bias_spread: float = 0.0,
) -> SimulatedCrowd:
    """Make people up.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where chance comes from.
    n : int
        How many people.
    prefix : str
        What their names begin with; numbers follow.
    reliability : float, 0 or more
        What it is on average (the median); people vary around it by a log-normal factor.
    reliability_spread, activity_spread : float, 0 or more
        The standard deviations of the logarithms. 1.6 gives the most active of SRBENCH's 269 workers some 28 times
        the average, as in the paper.
    cheats : int, 0 to n
        How many cheat. They are after money: all of them answer much.
    cheats_activity : float
        The least that they answer, as a multiple of the average.
    bias, bias_spread : float
        Mean and standard deviation of how much people favour what is shown first.
    """
    if not 0 <= cheats <= n or n < 1:
        raise ParameterError(f"a crowd has at least 1 person and at most all of them cheat, got {n} and {cheats}")
    if min(reliability, reliability_spread, activity_spread, bias_spread) < 0:
        raise ParameterError("reliability and spreads are 0 or more")
    activity = np.exp(activity_spread * rng.normal(size=n) - activity_spread**2 / 2)
    is_cheat = np.zeros(n, dtype=bool)
    is_cheat[rng.choice(n, cheats, replace=False)] = True
    activity = np.where(is_cheat, np.maximum(activity, cheats_activity), activity)
    digits = len(str(n))
    return SimulatedCrowd(
        tuple(f"{prefix}{number:0{digits}d}" for number in range(1, n + 1)),
        activity,
        reliability * np.exp(reliability_spread * rng.normal(size=n)),
        bias + bias_spread * rng.normal(size=n),
        is_cheat,
    )


def draw_fit(rng: np.random.Generator, benchmark: Benchmark) -> LatentFit:
    """Draw how well the documents of a benchmark fit its queries; a document of several groups is the mean of them."""
    n_queries, n_documents = len(benchmark.queries), len(benchmark.documents)
    groups = tuple(benchmark.table["group"].unique(maintain_order=True))
    belongs = np.zeros((len(groups), n_documents))
    belongs[_places(benchmark.table["group"], groups), _places(benchmark.table["document"], benchmark.documents)] = 1
    own, grouped, alone = (np.sqrt(share / 2) for share in _SHARES)
    value = (
        own * rng.normal(size=n_documents)
        + grouped * (rng.normal(size=(n_queries, len(groups))) @ (belongs / np.sqrt(belongs.sum(axis=0))))
        + alone * rng.normal(size=(n_queries, n_documents))
    )
    return LatentFit(benchmark.queries, benchmark.documents, value)


def draw_runs(rng: np.random.Generator, fit: LatentFit, skills: dict[str, float], *, depth: int = 20) -> Runs:
    """Let systems rank documents by what they make of how well they fit.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where their errors come from.
    fit : LatentFit
        The truth.
    skills : dict of str to float, from 0 to 1
        The correlation of each system's scores with the truth.
    depth : int
        How many documents a list holds.
    """
    if not all(0 <= skill <= 1 for skill in skills.values()):
        raise ParameterError("a system's skill is a correlation from 0 to 1")
    centred = fit.value - fit.value.mean(axis=1, keepdims=True)
    standard = centred / centred.std(axis=1, keepdims=True)
    documents = pl.Series(fit.documents, dtype=pl.String)
    depth = min(depth, len(fit.documents))
    best = [
        np.argsort(-(skill * standard + np.sqrt(1 - skill**2) * rng.normal(size=standard.shape)), axis=1)[:, :depth]
        for skill in skills.values()
    ]
    query = np.tile(np.repeat(np.arange(len(fit.queries)), depth), len(skills))
    return build_runs(
        system=pl.Series([name for name in skills for _ in range(len(fit.queries) * depth)], dtype=pl.String),
        query=pl.Series(fit.queries, dtype=pl.String).gather(query),
        document=documents.gather(np.concatenate([part.reshape(-1) for part in best])),
    )


def _places(column: pl.Series, names: tuple[str, ...]) -> Ints:
    """Look ids up in a tuple of different names, −1 where an id is none of them."""
    codes = column.cast(pl.Enum(names), strict=False).to_physical().cast(pl.Int64).fill_null(-1)
    places: Ints = codes.to_numpy()
    return places
