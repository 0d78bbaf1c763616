"""Fit the same ordinal regression with earmark and with statsmodels: times, their ratio, and how far they agree.

``python -m benchmarks.ordinal`` draws 20,000 rows with 6 features and 10 levels from a known model, fits them with
`earmark.predictors.ordinal_regression.fit_ordinal` and with statsmodels' ``OrderedModel`` by several of its optimisers,
in one process, taking turns. The fastest of them sets the ratio; all of them have to agree.
"""

import argparse
import os
import platform
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from statsmodels.miscmodels.ordinal_model import OrderedModel

from earmark.predictors.ordinal_regression import fit_ordinal

TARGET_RATIO = 20.0
TARGET_DIFFERENCE = 1e-4
OPTIMISERS: dict[str, dict[str, object]] = {
    "bfgs": {"method": "bfgs"},
    "bfgs, tight": {"method": "bfgs", "gtol": 1e-7},
    "newton": {"method": "newton"},
}

Array = NDArray[np.float64]


def main() -> int:
    """Return 0 if both targets are reached, 1 otherwise."""
    options = parse_arguments()
    console = Console()
    features, levels = draw_rows(options.rows, options.features, options.levels, seed=options.seed)
    console.print(
        f"{options.rows:,} rows × {options.features} features × {options.levels} levels · "
        f"Python {platform.python_version()} · {os.cpu_count()} CPUs · numpy {version('numpy')} · "
        f"statsmodels {version('statsmodels')}",
        highlight=False,
    )
    contestants: dict[str, Callable[[], Array]] = {"earmark": partial(by_earmark, features, levels, options.levels)}
    for name in options.optimiser or OPTIMISERS:
        contestants[f"statsmodels, {name}"] = partial(by_statsmodels, features, levels, OPTIMISERS[name])

    seconds = dict.fromkeys(contestants, np.inf)
    parameters: dict[str, Array] = {}
    for _ in range(options.repeats):
        for name, fit in contestants.items():
            begin = time.perf_counter()
            parameters[name] = fit()
            seconds[name] = min(seconds[name], time.perf_counter() - begin)

    ours = parameters["earmark"]
    table = Table("program", "seconds", "ratio", "largest difference of a coefficient", "of an intercept")
    for name, theirs in parameters.items():
        apart = np.abs(theirs - ours)
        table.add_row(
            name,
            f"{seconds[name]:.4f}",
            f"{seconds[name] / seconds['earmark']:.0f}",
            f"{apart[options.levels - 1 :].max():.1e}",
            f"{apart[: options.levels - 1].max():.1e}",
        )
    console.print(table)
    peers = [name for name in contestants if name != "earmark"]
    fastest = min(peers, key=lambda name: seconds[name])
    ratio = seconds[fastest] / seconds["earmark"]
    difference = max(float(np.abs(parameters[name] - ours)[options.levels - 1 :].max()) for name in peers)
    console.print(
        f"{ratio:.0f} times as fast as {fastest} (target {TARGET_RATIO:g}); largest difference of a coefficient from "
        f"any of them {difference:.1e} (target {TARGET_DIFFERENCE:g})",
        highlight=False,
    )
    return int(ratio < TARGET_RATIO or difference > TARGET_DIFFERENCE)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ordinal", description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=6)
    parser.add_argument("--levels", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=2, help="fits per program; the fastest counts")
    parser.add_argument("--optimiser", choices=OPTIMISERS, action="append", help="only this one; repeatable")
    return parser.parse_args()


def draw_rows(n: int, n_features: int, n_levels: int, *, seed: int) -> tuple[Array, NDArray[np.int64]]:
    """Draw rows from a proportional-odds model with coefficients between -1 and 1.5."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, n_features))
    latent = features @ np.linspace(-1, 1.5, n_features) + rng.logistic(size=n)
    return features, np.digitize(latent, np.linspace(-4, 4, n_levels - 1)).astype(np.int64)


def by_earmark(features: Array, levels: NDArray[np.int64], n_levels: int) -> Array:
    model = fit_ordinal(features, levels, n_levels=n_levels)
    return np.concatenate((model.intercepts, model.coefficients))


def by_statsmodels(features: Array, levels: NDArray[np.int64], options: dict[str, object]) -> Array:
    """Fit; thresholds of P(level <= j) become intercepts of P(level >= j) by a change of sign."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = OrderedModel(levels, features, distr="logit")
        result = model.fit(maxiter=1000, disp=0, **options)
        thresholds = model.transform_threshold_params(result.params)[1:-1]
    return np.concatenate((-thresholds, result.params[: features.shape[1]]))


if __name__ == "__main__":
    raise SystemExit(main())
