"""Aggregate and evaluate the answers of a crowd, up to a million from 10,000 workers: time, memory, and how they grow.

``python -m benchmarks.crowd`` draws 100,000, 300,000 and 1,000,000 answers, six to a pair and a hundred by each worker,
a tenth of whom answer at random; a sixth of them are to traps. Every size runs in a fresh process: answers are written
to a file, and reading it, checking workers, all methods of aggregation, everything that is said about agreement and the
precision of two systems are timed apart. The exponent of a step is the slope of log time on log answers: 1 is linear.
The peak is that of the whole process, with the answers that were drawn.
"""

import argparse
import json
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

SIZES = (100_000, 300_000, 1_000_000)
TARGET_SECONDS, TARGET_EXPONENT = 10.0, 1.2
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
PER_WORKER, PER_PAIR, DOCUMENTS, PAIRS_PER_QUERY = 100, 6, 60, 170
# Steps shorter than this at the largest size are mostly overhead, and their exponent says nothing.
LONG_ENOUGH = 0.2


def main() -> int:
    """Return 0 if every step is quick and grows linearly, 1 otherwise."""
    options = parse_arguments()
    console = Console()
    console.print(
        f"{PER_PAIR} answers a pair, {PER_WORKER} a worker · Python {platform.python_version()} · {os.cpu_count()} CPUs"
        f" · numpy {version('numpy')} · scipy {version('scipy')} · polars {version('polars')}",
        highlight=False,
    )
    found = [measure(size, options.seed, options.repeats) for size in options.answers]
    table = Table("step", *(f"{size:,}" for size in options.answers), "exponent")
    missed = []
    for step in found[0]["seconds"]:
        seconds = [one["seconds"][step] for one in found]
        exponent = slope(options.answers, seconds) if len(found) > 1 and seconds[-1] >= LONG_ENOUGH else math.nan
        if seconds[-1] > TARGET_SECONDS or exponent > TARGET_EXPONENT:
            missed.append(step)
        table.add_row(step, *(f"{one:.2f} s" for one in seconds), "" if math.isnan(exponent) else f"{exponent:.2f}")
    total = [sum(one["seconds"].values()) for one in found]
    table.add_row("all", *(f"{one:.2f} s" for one in total), f"{slope(options.answers, total):.2f}", style="bold")
    peaks = [one["peak"] / 1e6 for one in found]
    table.add_row("peak memory", *(f"{one:,.0f} MB" for one in peaks), f"{slope(options.answers, peaks):.2f}")
    table.add_row("workers", *(f"{one['workers']:,}" for one in found))
    table.add_row("cheaters rejected", *(f"{one['cheaters_rejected']:.3f}" for one in found))
    table.add_row("honest rejected", *(f"{one['honest_rejected']:.3f}" for one in found))
    for method in found[0]["right"]:
        table.add_row(f"right, {method}", *(f"{one['right'][method]:.4f}" for one in found))
    console.print(table)
    console.print(
        f"targets: no step above {TARGET_SECONDS:g} s, no exponent above {TARGET_EXPONENT:g}: "
        + (f"missed by {', '.join(missed)}" if missed else "reached"),
        highlight=False,
    )
    return int(bool(missed))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowd", description=__doc__)
    parser.add_argument("--answers", type=int, nargs="+", default=list(SIZES), help="how many answers to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2, help="runs per size; the fastest counts for each step")
    return parser.parse_args()


def slope(sizes: list[int], values: list[float]) -> float:
    """Return the slope of log values on log sizes by least squares."""
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in values]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((one - mean_x) ** 2 for one in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread if spread else math.nan


def measure(size: int, seed: int, repeats: int) -> dict[str, Any]:
    """Run one size in processes of its own, so that none pays for what another has loaded."""
    best: dict[str, Any] = {}
    for _ in range(repeats):
        command = [sys.executable, "-c", f"from benchmarks.crowd import run; run({size}, {seed})"]
        done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
        one = json.loads(done.stdout)
        if best:
            one["seconds"] = {step: min(value, best["seconds"][step]) for step, value in one["seconds"].items()}
        best = one
    return best


def run(size: int, seed: int) -> None:
    """Take every step in this process and print what it cost as JSON."""
    import numpy as np
    import scipy.stats  # noqa: F401 - takes a second to import, which is nobody's cost here

    from earmark.crowd.aggregation import Method, aggregate_preferences
    from earmark.crowd.agreement import agreement_table, random_answering_test
    from earmark.crowd.position import position_bias
    from earmark.crowd.preference_alpha import preference_alpha
    from earmark.crowd.worker_check import RejectionRule, check_workers
    from earmark.crowd.workers import answer_times, volume_correlation, worker_table
    from earmark.data.preference_files import read_preferences
    from earmark.inference.preference_tests import compare_preferences
    from earmark.measures.preference_precision import parse_level, preference_outcomes

    rng = np.random.default_rng(seed)
    drawn = draw(size, rng)
    seconds: dict[str, float] = {}

    def timed(step: str, work: Callable[[], Any]) -> Any:
        begin = time.perf_counter()
        done = work()
        seconds[step] = time.perf_counter() - begin
        return done

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        drawn["frame"].write_csv(path)
        every = timed("read", lambda: read_preferences(path))
    checked = timed("check workers", lambda: check_workers(every, rule=RejectionRule(min_answers=PER_WORKER // 2)))
    kept = checked.kept_answers().without_traps()
    pairs = timed("count pairs", kept.pairs)
    right = {}
    methods: tuple[Method, ...] = ("majority", "bradley-terry", "davidson", "one-coin", "dawid-skene")
    better = drawn["better"]
    for method in methods:
        made = timed(method, partial(aggregate_preferences, kept, method=method))
        chosen = made.preferences
        truth = better[chosen["query"].cast(int).to_numpy(), chosen["a"].cast(int), chosen["b"].cast(int)]
        right[method] = float(((chosen["choice"].to_numpy() == "a") == truth).mean())
    timed("levels", lambda: (agreement_table(pairs), random_answering_test(pairs, rng=rng)))
    timed("alpha", lambda: preference_alpha(kept, rng=rng))
    timed("workers", lambda: (volume_correlation(worker_table(kept)), answer_times(kept)))
    timed("position", lambda: position_bias(kept))
    outcomes = timed("precision", lambda: preference_outcomes(drawn["runs"], pairs, k=20))
    timed("compare systems", lambda: compare_preferences(outcomes, parse_level("4/6")))
    cheats = checked.workers["assessor"].cast(int).to_numpy() < drawn["cheaters"]
    rejected = (checked.workers["decision"] == "rejected").to_numpy()
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT,
                "workers": cheats.size,
                "cheaters_rejected": float(rejected[cheats].mean()),
                "honest_rejected": float(rejected[~cheats].mean()),
                "right": right,
            }
        )
    )


def draw(size: int, rng: Any) -> dict[str, Any]:
    """Draw answers, who cheats, which documents are better, and the lists of two systems."""
    import numpy as np
    import polars as pl

    from earmark.data.conversion import runs_from_frame

    workers = max(size // PER_WORKER, 20)
    n_pairs = max(size // PER_PAIR, 20)
    queries = -(-n_pairs // PAIRS_PER_QUERY)
    possible = np.array([(i, j) for i in range(DOCUMENTS) for j in range(i + 1, DOCUMENTS)])
    pair = np.concatenate([rng.choice(len(possible), PAIRS_PER_QUERY, replace=False) for _ in range(queries)])[:n_pairs]
    query = np.repeat(np.arange(queries), PAIRS_PER_QUERY)[:n_pairs]
    first, second = possible[pair].T
    score = 1.5 * rng.normal(size=(queries, DOCUMENTS))
    trap = rng.random(n_pairs) < 1 / 6
    # Six different workers for every pair: a random start and a random step that does not come round.
    steps = rng.integers(1, workers // PER_PAIR, size=n_pairs)
    worker = (rng.integers(0, workers, size=n_pairs)[:, None] + steps[:, None] * np.arange(PER_PAIR)) % workers
    cheaters = workers // 10
    skill = np.where(np.arange(workers) < cheaters, 0.0, rng.gamma(6, 0.2, size=workers))
    gap = score[query, first] - score[query, second]
    # Traps are pairs that are easy to tell apart.
    gap = np.where(trap, np.sign(gap) * np.maximum(np.abs(gap), 3.0), gap)[:, None] * skill[worker]
    same = (rng.random(gap.shape) < 0.3 * np.exp(-np.abs(gap))) & ~trap[:, None]
    chose_first = rng.random(gap.shape) < 1 / (1 + np.exp(-gap))
    turned = rng.random(gap.shape) < 0.5
    shown_a = np.where(turned, second[:, None], first[:, None])
    shown_b = np.where(turned, first[:, None], second[:, None])
    truth = np.where((score[query, first] > score[query, second])[:, None] != turned, "a", "b")
    frame = pl.DataFrame(
        {
            "query": np.repeat(query, PER_PAIR),
            "a": shown_a.ravel(),
            "b": shown_b.ravel(),
            "assessor": worker.ravel(),
            "choice": np.where(same, "same", np.where(chose_first != turned, "a", "b")).ravel(),
            "strength": rng.integers(1, 6, size=gap.size),
            "seconds": rng.gamma(3, 8, size=gap.size).round(1),
            "trap": pl.Series(truth.ravel()).set(pl.Series(np.repeat(~trap, PER_PAIR)), None),
        }
    )
    lists = []
    for name, noise in (("good", 0.5), ("poor", 2.0)):
        order = np.argsort(-(score + noise * rng.normal(size=score.shape)), axis=1)[:, :20]
        lists.append(
            pl.DataFrame(
                {
                    "system": [name] * order.size,
                    "query": np.repeat(np.arange(queries), 20).astype(str),
                    "document": order.ravel().astype(str),
                    "rank": np.tile(np.arange(1, 21), queries),
                }
            )
        )
    better = score[:, :, None] > score[:, None, :]
    return {"frame": frame, "cheaters": cheaters, "better": better, "runs": runs_from_frame(pl.concat(lists))}


if __name__ == "__main__":
    raise SystemExit(main())
