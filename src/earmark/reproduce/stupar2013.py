"""SRBENCH (Stupar2013): soundtrack recommendation judged by preferences, its tables beside a simulated benchmark.

The benchmark's own answers are not at hand, nor are the cells of its tables of agreement, so there are three kinds of
tables here. What follows from what the paper prints is computed again: how likely it is that all six agree by chance,
how many questions cover all songs, the one plausible table of agreement that gives its chi-square statistic, counts of
pairs that give its precisions and what Fisher's test says of them. What is measured on answers is measured on simulated
ones, of the same number and from the same number of people, and stands beside the paper's. And what only a simulation
knows has a table of its own: who cheated and was found out, and how often the better system came out as better.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from earmark.crowd.agreement import agreement_table, random_agreement, random_answering_test
from earmark.crowd.configuration import build_benchmark, example_config
from earmark.crowd.questions import possible_pairs, times_asked
from earmark.crowd.workers import volume_correlation, worker_table
from earmark.data.arrays import Floats, Ints
from earmark.data.preferences import PairTable
from earmark.errors import ParameterError
from earmark.inference.preference_tests import compare_preferences, fisher_p_values
from earmark.measures.preference_precision import AgreementLevel, preference_outcomes
from earmark.reproduce.comparison import Comparison, Row, beside, check_seeds, compare, compare_words
from earmark.simulation.srbench import SimulatedSrbench, simulated_srbench

PAPER = "Stupar and Michel 2013"
SEEDS = 20
ASSESSORS, DEPTH = 6, 20
STUDENT_QUESTIONS, UNANIMOUS, QUESTIONS = 665, 195, 5990
LEVELS = ("6/6", "5/6", "4/6", "3/6")
STUDENT_CHI_SQUARE, WORKER_CHI_SQUARE = "1586.86", "6605.18"
EMOTION, PICASSO = "Emotion-based", "Picasso"
CUMULATIVE = ("6/6", "+5/6", "+4/6")
PRECISION = {EMOTION: ("0.658", "0.595", "0.559"), PICASSO: ("0.782", "0.690", "0.614")}
FISHER = ("0.0530", "0.0249", "0.0938")
WEIGHTED = {EMOTION: ("0.667", "0.607", "0.570"), PICASSO: ("0.818", "0.728", "0.645")}
T_TEST = ("0.0148", "0.0042", "0.0197")
# Pairs ordered correctly, of how many, by both systems. Found by search: they round to the printed precisions and come
# nearest to the printed p-values, with about as many pairs for one system as for the other.
COUNTS = (((75, 114), (86, 110)), ((166, 279), (180, 261)), ((256, 458), (282, 459)))
SIGNIFICANT = 0.05
_MAJORITIES = tuple(AgreementLevel(agreeing, ASSESSORS) for agreeing in (6, 5, 4))

_BESIDE = (
    "Ours is simulated: as many questions, answers, people and songs as in the paper, the median of {} benchmarks."
)


def tables(*, seeds: int = SEEDS) -> list[Comparison]:
    """Return the paper's tables with ours beside them.

    Parameters
    ----------
    seeds : int
        How many benchmarks to simulate.
    """
    check_seeds(seeds)
    study = simulate(seeds)
    return [
        the_benchmark(),
        by_chance(),
        recovered_table_4(),
        agreement(study, students=True),
        agreement(study, students=False),
        more_than_chance(study),
        precision(study, weighted=False),
        precision(study, weighted=True),
        fisher_by_counts(),
        known_truth(study),
    ]


def the_benchmark() -> Comparison:
    """Count queries, songs and questions of the example that comes with earmark."""
    config = example_config()
    benchmark = build_benchmark(config)
    pairs = possible_pairs(benchmark, config.pairs)
    n_queries, n_songs = len(benchmark.queries), len(benchmark.documents)
    rows = (
        compare("queries (image themes)", "25", n_queries),
        compare("positive feelings", "7", len(config.categories["positive"])),
        compare("negative feelings", "7", len(config.categories["negative"])),
        compare("songs", "470", n_songs),
        compare("questions that cover every song for every query", "5875", n_songs * n_queries / 2),
        compare("questions there are", None, pairs.n_questions),
    )
    note = (
        "Ours is the example of 'earmark crowd questions --example': the paper's themes and genres, feelings of our "
        "own as the paper's are not at hand, and made-up songs, two by each of ten artists per genre or feeling, 25 "
        "artists standing in two."
    )
    return Comparison(f"{PAPER}, sections 2 to 4: the benchmark", rows, (note,))


def by_chance() -> Comparison:
    """Compute how likely each level of agreement is if six people choose at random."""
    agreeing, probability = random_agreement(ASSESSORS)
    rows = [
        compare(f"{number}/{ASSESSORS}", "0.03125" if number == ASSESSORS else None, chance)
        for number, chance in zip(agreeing.tolist(), probability.tolist(), strict=True)
    ]
    rows.append(compare("degrees of freedom of the chi-square test", "3", agreeing.size - 1))
    return Comparison(f"{PAPER}, section 4: agreement of six people by chance", tuple(rows))


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


def recovered_table_4() -> Comparison:
    """Recover the students' levels of agreement from the chi-square statistic and the number of traps."""
    solutions = counts_with_statistic(STUDENT_QUESTIONS, UNANIMOUS, STUDENT_CHI_SQUARE)
    counts = plausible(solutions, STUDENT_QUESTIONS)
    _, probability = random_agreement(ASSESSORS)
    expected = STUDENT_QUESTIONS * probability[::-1]
    statistic = float(((counts - expected) ** 2 / expected).sum())
    printed = (f"{100 * UNANIMOUS / STUDENT_QUESTIONS:.2f}", None, None, None)
    rows = [
        compare(f"questions at {level}, %", paper, 100 * count / STUDENT_QUESTIONS, note=f"{count} of the questions")
        for level, paper, count in zip(LEVELS, printed, counts.tolist(), strict=True)
    ]
    p_value = float(special.chdtrc(len(LEVELS) - 1, statistic))
    rows += [
        compare("chi-square of these counts", STUDENT_CHI_SQUARE, statistic),
        compare_words("its p-value", "<0.0001", "<0.0001" if p_value < 0.0001 else f"{p_value:.4f}"),
    ]
    others = "; ".join(", ".join(map(str, row)) for row in solutions.tolist() if row != counts.tolist())
    notes = (
        f"The cells of Table 4 are not at hand. Of all ways to divide {STUDENT_QUESTIONS} questions, {UNANIMOUS} of "
        f"them at 6/6, {len(solutions)} give the printed statistic; in one of them 5/6 is more frequent than by chance "
        f"and 4/6 and 3/6 are less, as it is where people agree on some questions more than on others.",
        f"The others, from 6/6 to 3/6: {others}.",
    )
    return Comparison(f"{PAPER}, Table 4 as its chi-square statistic determines it", tuple(rows), notes)


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far people agreed: arrays of shape (levels,), from 6/6 to 3/6.

    Attributes
    ----------
    share, strength : ndarray of float, shape (4,)
        What share of the questions is at each level, and how strong preferences are there.
    chi_square : float
        The statistic against random answers.
    """

    share: Floats
    strength: Floats
    chi_square: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is measured on one simulated benchmark.

    Attributes
    ----------
    students, workers : Agreement
        The first phase, and the second.
    systems : dict of str to ndarray
        ``plain`` and ``weighted`` precision of both systems, shape (levels, 2), and p-values of the difference, shape
        (levels,): ``fisher``, ``t`` and, where pairs may be correlated, ``plain clustered`` and ``weighted clustered``.
    counts : dict of str to float
        Numbers of people, answers and traps.
    """

    students: Agreement
    workers: Agreement
    systems: dict[str, Floats]
    counts: dict[str, float]


Study = list[Outcome]


def simulate(seeds: int) -> Study:
    """Simulate benchmarks from the seeds 0, 1 and so on, and measure them."""
    return [measure(simulated_srbench(rng), rng) for rng in map(np.random.default_rng, range(seeds))]


def measure(srbench: SimulatedSrbench, rng: np.random.Generator) -> Outcome:
    """Measure what the paper's tables hold, and what only a simulation knows."""
    outcomes = preference_outcomes(srbench.runs, srbench.answers.pairs(), k=DEPTH)
    found = [compare_preferences(outcomes, level) for level in _MAJORITIES]
    per_worker = np.bincount(srbench.check.preferences.assessor_index)
    return Outcome(
        _agreement(srbench.student_answers.pairs(), rng),
        _agreement(srbench.answers.pairs(), rng),
        {
            "plain": np.array([one.scores.precision for one in found]),
            "weighted": np.array([one.scores.weighted_precision for one in found]),
            "fisher": np.array([one.fisher_p_value[0] for one in found]),
            "t": np.array([one.t_p_value[0] for one in found]),
            "plain clustered": np.array([one.plain.p_value[0] for one in found]),
            "weighted clustered": np.array([one.weighted.p_value[0] for one in found]),
        },
        {
            "workers": len(srbench.workers.names),
            "cheats": len(srbench.cheats),
            "traps": srbench.traps.height,
            "caught": srbench.caught,
            "wronged": srbench.wronged,
            "rejected": len(srbench.check.rejected),
            "most": int(per_worker.max()),
            "least": int(per_worker.min()),
            "mean": float(per_worker.mean()),
            "correlation": volume_correlation(worker_table(srbench.student_answers)).pearson,
            "uncovered": int(np.count_nonzero(times_asked(srbench.pairs.benchmark, srbench.questions) == 0)),
        },
    )


def _agreement(pairs: PairTable, rng: np.random.Generator) -> Agreement:
    table = agreement_table(pairs, levels=_MAJORITIES)
    # The p-value by simulation is not asked for.
    test = random_answering_test(pairs, n_simulated=1, rng=rng)
    return Agreement(table["share"].to_numpy(), table["strength"].to_numpy(), test.statistic)


def agreement(study: Study, *, students: bool) -> Comparison:
    """Return Table 4 or 5: how many questions reach each level, and how different songs are found there."""
    found = [one.students if students else one.workers for one in study]
    share = 100 * np.median([one.share for one in found], axis=0)
    strength = np.median([one.strength for one in found], axis=0)
    shares = {"6/6": "29.32"} if students else {}
    strengths = {"6/6": "3.65", "3/6": "2.75"} if students else {}
    rows: list[Row] = []
    for place, level in reversed(list(enumerate(LEVELS))):
        rows.append(beside(level, shares.get(level), share[place], column="questions, %"))
        rows.append(beside(level, strengths.get(level), strength[place], column="average difference"))
    title = "Table 4: agreement of students" if students else "Table 5: agreement of workers"
    notes = [_beside(study)]
    if not students:
        close = float(share[0] + share[1])
        notes.append(f"The paper says that 5/6 and 6/6 together are close to 50%; ours are {close:.1f}%.")
    return Comparison(f"{PAPER}, {title}", tuple(rows), tuple(notes))


def more_than_chance(study: Study) -> Comparison:
    """Compare agreement with that of people who choose at random, and volume with agreement."""
    students = float(np.median([one.students.chi_square for one in study]))
    workers = float(np.median([one.workers.chi_square for one in study]))
    correlation = float(np.median([one.counts["correlation"] for one in study]))
    rows = (
        beside("chi-square", STUDENT_CHI_SQUARE, students, column="students"),
        beside("chi-square", WORKER_CHI_SQUARE, workers, column="workers"),
        beside("correlation of answers given with agreement", "0.04141", correlation, column="students"),
    )
    return Comparison(f"{PAPER}, section 5: agreement and chance", rows, (_beside(study),))


def precision(study: Study, *, weighted: bool) -> Comparison:
    """Return Table 6 or 7: preference precision of both systems, and the test between them."""
    name = "weighted" if weighted else "plain"
    values = np.median([one.systems[name] for one in study], axis=0)
    p_values = np.median([one.systems["t" if weighted else "fisher"] for one in study], axis=0)
    rows = [
        beside(system, printed, values[place, number], column=level)
        for number, (system, row) in enumerate((WEIGHTED if weighted else PRECISION).items())
        for place, (level, printed) in enumerate(zip(CUMULATIVE, row, strict=True))
    ]
    test = "Student's t-test (two-tailed)" if weighted else "Fisher's exact test (two-tailed)"
    for place, (level, printed) in enumerate(zip(CUMULATIVE, T_TEST if weighted else FISHER, strict=True)):
        rows.append(beside(test, printed, p_values[place], column=level))
    title = "Table 7: weighted preference precision" if weighted else "Table 6: preference precision"
    notes = (
        _beside(study),
        "The weaker of two simulated systems stands beside the emotion-based approach, the stronger beside Picasso.",
    )
    return Comparison(f"{PAPER}, {title}, first {DEPTH} songs", tuple(rows), notes)


def fisher_by_counts() -> Comparison:
    """Compute precision and Fisher's test from counts of pairs that come nearest to what is printed."""
    rows: list[Row] = []
    for number, system in enumerate(PRECISION):
        for level, printed, counts in zip(CUMULATIVE, PRECISION[system], COUNTS, strict=True):
            correct, pairs = counts[number]
            rows.append(compare(system, printed, correct / pairs, column=f"{level}: {_of(counts)}"))
    for level, printed, counts in zip(CUMULATIVE, FISHER, COUNTS, strict=True):
        (x, n), (y, m) = counts
        p_value = fisher_p_values(*(np.array([value]) for value in (x, n, y, m)))[0]
        rows.append(compare("Fisher's exact test", printed, float(p_value), column=f"{level}: {_of(counts)}"))
    note = (
        "The paper does not print how many pairs there were. These counts round to its precisions and come nearest to "
        "its p-values, with about as many pairs for either system; for 6/6 none up to 400 give the last digit."
    )
    return Comparison(f"{PAPER}, Table 6: counts of pairs that would give it", tuple(rows), (note,))


def _of(counts: tuple[tuple[int, int], tuple[int, int]]) -> str:
    return " and ".join(f"{correct}/{pairs}" for correct, pairs in counts)


def known_truth(study: Study) -> Comparison:
    """Show what the simulation knows: who cheats, which system is better, and how often that comes out."""

    def median(name: str) -> float:
        return float(np.median([one.counts[name] for one in study]))

    cheats = f"{study[0].counts['cheats']:g}"
    rows = [
        beside("questions with 6/6 of the students: traps", str(UNANIMOUS), median("traps")),
        beside("workers", "269", median("workers")),
        beside("answers of a worker on average", "138.69", median("mean"), note="traps among ours"),
        beside("answers of a worker, least", "1", median("least")),
        beside("answers of a worker, most", "3845", median("most")),
        beside("songs a query is not asked about", None, median("uncovered")),
        beside("workers rejected", "15", median("rejected"), note=f"{cheats} cheat"),
        beside("cheats who are rejected", None, median("caught"), note=f"of {cheats}"),
        beside("honest workers who are rejected", None, median("wronged")),
    ]
    for place, level in enumerate(CUMULATIVE):
        for name, test, words in (("plain", "fisher", ""), ("weighted", "t", "weighted ")):
            better = np.mean([one.systems[name][place, 1] > one.systems[name][place, 0] for one in study])
            usual, clustered = (
                float(np.mean([one.systems[which][place] < SIGNIFICANT for one in study]))
                for which in (test, f"{name} clustered")
            )
            note = (
                f"p < {SIGNIFICANT:g} in {usual:.0%} by the paper's test, {clustered:.0%} where pairs may be correlated"
            )
            label = f"share of benchmarks with the higher {words}preference precision for the better system"
            rows.append(beside(label, None, float(better), column=level, note=note))
    notes = (
        _beside(study),
        "Of the paper's workers only those are known to have cheated who were found out. Its average times its workers "
        f"is 37,308 answers, {37_308 - QUESTIONS * ASSESSORS:,} more than {QUESTIONS:,} questions have with six each; "
        "what they are is not said.",
    )
    return Comparison(f"{PAPER}, what only a simulation knows", tuple(rows), notes)


def _beside(study: Study) -> str:
    return _BESIDE.format(len(study))
