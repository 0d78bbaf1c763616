"""Do statements of ``compare`` about means hold: intervals of all pairs and by unit, and the check of a baseline.

``python -m benchmarks.honesty.comparisons [intervals|population|units|covers|gates]... [--repeats N]``

*intervals* and *population* draw queries again, with replacement, from a judged collection, and ten of its systems; the
truth is the mean over all queries of the collection. *units* and *covers* are made up: two equally good systems, whose
differences share a part within a unit. *gates* draws a baseline and other systems of a judged collection, and queries
with such probabilities (the closest to equal ones) that all have the same mean; whichever fails, fails wrongly.

Text is TREC Deep Learning 2019, cut at 10 documents; music is the reporting queries of MIREX 2011, cut at 5, relevant
from 60 of 100 on. The weight of the guard (:func:`earmark.inference.units.guarded_spread`) was chosen on development
queries of MIREX 2011 and on made-up collections; one other rule had been looked at on text and music before.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
from scipy import optimize
from scipy.special import stdtr, stdtrit

import earmark
from benchmarks.honesty.mirex import load_mirex
from earmark.data.arrays import Floats
from earmark.inference.multiple_comparisons import holm
from earmark.inference.one_sided_tests import below_zero
from earmark.inference.resampling import bootstrap_differences, sign_flip_p_values
from earmark.inference.significance import TestName, compare_scores
from earmark.inference.units import Units, guard, pseudo_values, spread, unit_deviations

SYSTEMS = 10
TEXT_MEASURES = ("AP", "P@10", "nDCG@10", "RR@10")
MUSIC_MEASURES = ("AP(rel=60)@5", "P(rel=60)@5", "nDCG@5", "RR(rel=60)@5", "AG@5")


def score_matrices() -> Iterator[tuple[str, Floats]]:
    """Yield the name of a collection and measure, and the scores of its systems, shape (systems, queries)."""
    root = Path(os.environ.get("EARMARK_DATA", Path(__file__).parents[3] / "shared" / "data"))
    folder = root / "trec-dl-2019"
    runs, judgments = earmark.read_runs([folder / "runs.tsv"]), earmark.read_judgments(folder / "judgments.tsv")
    text = earmark.evaluate(runs, judgments, TEXT_MEASURES)
    for name, measure in zip(TEXT_MEASURES, text.measures, strict=True):
        yield f"text, {name}", text.of(measure)
    mirex = load_mirex(root)
    music = earmark.evaluate(mirex.runs, mirex.judgments, MUSIC_MEASURES)
    reporting = [place for place, query in enumerate(music.queries) if query in set(mirex.reporting)]
    for name, measure in zip(MUSIC_MEASURES, music.measures, strict=True):
        yield f"music, {name}", music.of(measure)[:, reporting]


def intervals(repeats: int) -> None:
    """Print how often the intervals of all pairs of ten systems held together."""
    for name, scores in score_matrices():
        cells = []
        for queries in (8, 15, 30, 50):
            rng = np.random.default_rng([1, queries])
            together = unguarded = 0
            for _ in range(repeats):
                sample, truth = _resampled(scores, queries, rng)
                result = compare_scores(sample)
                true = truth[result.a] - truth[result.b]
                together += bool(((result.low <= true + 1e-12) & (true <= result.high + 1e-12)).all())
                values = sample[result.a] - sample[result.b]
                half = -stdtrit(queries - 1, 0.025 / len(values)) * values.std(axis=1, ddof=1) / np.sqrt(queries)
                unguarded += bool((np.abs(values.mean(axis=1) - true) <= half + 1e-12).all())
            cells.append(f"{queries}: {together / repeats:.3f} (without guard {unguarded / repeats:.3f})")
        print(f"{name:22s} {'  '.join(cells)}", flush=True)


def population(repeats: int) -> None:
    """Print how often 95% intervals about queries like these held, of systems and of pairs, with everything judged."""
    for name, scores in score_matrices():
        cells = []
        for queries in (8, 15, 30):
            rng = np.random.default_rng([2, queries])
            held = np.zeros(4)
            units = Units.of(None, n_queries=queries)
            for _ in range(repeats):
                sample, truth = _resampled(scores, queries, rng)
                a, b = np.triu_indices(SYSTEMS, k=1)
                for place, (values, true) in enumerate(((sample, truth), (sample[a] - sample[b], truth[a] - truth[b]))):
                    off = np.abs(values.mean(axis=1) - true)
                    largest = np.abs(unit_deviations(values, units)).max()
                    plain = spread(values, units)
                    for with_guard, deviation in enumerate((plain, np.sqrt(plain**2 + guard(largest, queries)))):
                        half = stdtrit(queries - 1, 0.975) * deviation / np.sqrt(queries)
                        held[2 * place + with_guard] += np.mean(off <= half + 1e-12)
            share = held / repeats
            cells.append(f"{queries}: {share[1]:.3f}/{share[3]:.3f} (without guard {share[0]:.3f}/{share[2]:.3f})")
        print(f"{name:22s} systems/pairs {'  '.join(cells)}", flush=True)


def _resampled(scores: Floats, queries: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw systems and queries: their scores, and the systems' means over all queries."""
    systems = scores[rng.choice(len(scores), SYSTEMS, replace=False)]
    return systems[:, rng.integers(0, systems.shape[1], queries)], systems.mean(axis=1)


def units(repeats: int) -> None:
    """Print false alarms at .05 and coverage of 95% intervals by unit, for how many units, how much alike inside."""
    for n_units, shape, correlation in product(
        (5, 10, 20, 80, 200), ("even", "uneven", "very uneven"), (0.0, 0.2, 0.5)
    ):
        rng = np.random.default_rng([3, n_units])
        alarms, covered = np.zeros(3), np.zeros(2)
        for _ in range(10):
            number = np.repeat(np.arange(n_units), _sizes(n_units, shape, rng))
            by_unit = Units(number)
            values = np.sqrt(correlation) * rng.normal(size=(repeats // 10, n_units))[:, number]
            values += np.sqrt(1 - correlation) * rng.normal(size=(repeats // 10, number.size))
            ratio = np.abs(values.mean(axis=1)) / (spread(values, by_unit) / np.sqrt(n_units))
            drawn = pseudo_values(values, by_unit, alpha=0.05)
            bootstrap = bootstrap_differences(drawn, n_resamples=999, alpha=0.05, rng=rng)
            flips = sign_flip_p_values(by_unit.sums(values), n_resamples=999, rng=rng)
            alarms += [np.count_nonzero(p <= 0.05) for p in (2 * stdtr(by_unit.df, -ratio), flips, bootstrap.p_value)]
            covered[0] += np.count_nonzero(ratio <= stdtrit(by_unit.df, 0.975))
            covered[1] += np.count_nonzero((bootstrap.low <= 0) & (bootstrap.high >= 0))
        print(
            f"{n_units:3d} units, {shape:11s} correlation {correlation:.1f}: false alarms of t, permutation, bootstrap "
            f"{', '.join(f'{rate:.3f}' for rate in alarms / repeats)}; coverage of t, bootstrap "
            f"{', '.join(f'{share:.3f}' for share in covered / repeats)}",
            flush=True,
        )


def _sizes(n_units: int, shape: str, rng: np.random.Generator) -> np.ndarray:
    if shape == "even":
        return np.full(n_units, 6)
    if shape == "uneven":
        return 1 + rng.geometric(0.2, size=n_units)
    return np.maximum(1, np.rint(np.exp(rng.normal(1, 1, size=n_units)))).astype(np.int64)


def covers(repeats: int) -> None:
    """Print false alarms between two equally good cover-song systems, 80 works of 6 versions, by query and by work."""
    tests: tuple[TestName, ...] = ("friedman-tukey", "t", "wilcoxon", "permutation", "bootstrap")
    number = np.repeat(np.arange(80), 6)
    for test in tests:
        rng = np.random.default_rng(4)
        alarms = np.zeros(2)
        for _ in range(repeats):
            # How well a system hears a work, and then each of its versions; scores between 0 and 1.
            heard = rng.normal(size=(2, 80))[:, number] + rng.normal(size=(1, 80))[:, number]
            scores = 1 / (1 + np.exp(-heard - rng.normal(size=(2, number.size))))
            for place, by in enumerate((None, number)):
                result = compare_scores(scores, test=test, units=by, n_resamples=999, rng=rng)
                alarms[place] += bool(result.significant[0])
        print(f"{test:15s} by query {alarms[0] / repeats:.3f}, by work {alarms[1] / repeats:.3f}", flush=True)


def gates(repeats: int) -> None:
    """Print how often a check fails one of one or of five systems that are as good as the baseline."""
    for name, scores in score_matrices():
        cells = []
        for queries in (10, 25, 50, 200):
            rng = np.random.default_rng([5, queries])
            rates = []
            for others in (1, 5):
                alarms = campaigns = 0
                while campaigns < repeats:
                    drawn = scores[rng.choice(len(scores), others + 1, replace=False)]
                    differences = drawn[1:] - drawn[0]
                    chance = _equal_means(differences)
                    if chance is None:
                        continue
                    sample = differences[:, rng.choice(scores.shape[1], queries, p=chance)]
                    by_query = Units.of(None, n_queries=queries)
                    p_value = below_zero(sample, by_query, test="t", n_resamples=0, alpha=0.05, rng=rng, resolution=0.0)
                    alarms += bool((holm(p_value) <= 0.05).any())
                    campaigns += 1
                rates.append(f"{alarms / repeats:.3f}")
            cells.append(f"{queries}: {'/'.join(rates)}")
        print(f"{name:22s} one/five systems {'  '.join(cells)}", flush=True)


def _equal_means(differences: Floats) -> Floats | None:
    """Return probabilities of queries, the closest to equal ones, with mean differences of 0; None without any."""
    largest = np.abs(differences).max(axis=1, keepdims=True)
    if not largest.all():
        return None
    scaled = differences / largest

    def log_sum(slope: Floats) -> tuple[float, Floats]:
        exponent = slope @ scaled
        weight = np.exp(exponent - exponent.max())
        return float(np.log(weight.sum()) + exponent.max()), scaled @ weight / weight.sum()

    bounds = [(-60, 60)] * len(scaled)
    exponent = optimize.minimize(log_sum, np.zeros(len(scaled)), jac=True, method="L-BFGS-B", bounds=bounds).x @ scaled
    weight = np.exp(exponent - exponent.max())
    chance = weight / weight.sum()
    return chance if np.abs(scaled @ chance).max() < 1e-3 and chance.max() < 0.3 else None


STUDIES: dict[str, Callable[[int], None]] = {
    "intervals": intervals,
    "population": population,
    "units": units,
    "covers": covers,
    "gates": gates,
}


def main() -> None:
    """Run the studies that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", nargs="*", choices=[*STUDIES, []], default=[])
    parser.add_argument("--repeats", type=int, default=1000)
    given = parser.parse_args()
    for name in given.study or STUDIES:
        print(f"{name}, {given.repeats:,} repeats")
        STUDIES[name](given.repeats)


if __name__ == "__main__":
    main()
