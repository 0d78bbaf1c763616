r"""What the number of judgments, and of forecasts, does to predictions and estimates.

Buckers [1]_ (section 3.3) gives reasons why few judgments mislead, and a figure for each. The functions here return
what such figures would show, as frames, one row per point:

- :func:`group_sizes` and :func:`reliability_by_sample_size` (its Figures 3.1 to 3.3): the reliability of forecasts
  looks worse the fewer they are and the finer they are grouped; compare it on equal numbers only.
- :func:`scores_by_amount_judged` (Figures 3.6, 3.10 and 3.21): how much better predictions get with more judgments.
  *What* is judged at each amount is a function to pass: a random share of all items (:func:`random_share`), or so many
  items of every system (:func:`per_system`).
- :func:`error_of_system_means` (Figures 3.8 and 3.9): how far the mean gain of a few items of a system is from that of
  all; :func:`earmark.diagnose.representativeness.difference_quantiles` says how far systems are apart.

Everything here is about a collection whose truth is known. Draws at random are seeded by `rng`, and the same samples
serve all settings that are compared.

References
----------
.. [1] T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music similarity. MSc
   thesis, Delft University of Technology; sections 3.1.2, 3.2.4 and 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.diagnose.decomposition import ForecastGroups, Representative, decompose_grouped, group_forecasts
from earmark.diagnose.proper_scores import check_forecasts, ranked_probability_score
from earmark.diagnose.representativeness import Retrieved, check_gains, check_mask, check_retrieved
from earmark.errors import ParameterError

Predict = Callable[[Bools], Floats]
"""From which items are judged (items,) to probabilities (items, levels), NaN in the rows it cannot predict."""

Draw = Callable[[float, np.random.Generator], Bools]
"""From an amount and a source of random numbers to which items are judged (items,)."""

Evaluated = Literal["unjudged", "all"]


def group_sizes(probabilities: npt.ArrayLike, *, n_values: Sequence[int] = (2, 5, 10, 20)) -> pl.DataFrame:
    """Sizes of the groups of equal forecasts, by the number of values that probabilities are rounded to.

    Parameters
    ----------
    probabilities : array-like, shape (items, levels)
    n_values : sequence of int, at least 1

    Returns
    -------
    DataFrame
        ``n_values``, ``size``, and the number of ``groups`` of that size, both rising.
    """
    frames = []
    for values in n_values:
        size, groups = np.unique(group_forecasts(probabilities, n_values=values).sizes, return_counts=True)
        frames.append(pl.DataFrame({"n_values": np.full(size.size, values), "size": size, "groups": groups}))
    return pl.concat(frames) if frames else pl.DataFrame(schema={"n_values": int, "size": int, "groups": int})


def reliability_by_sample_size(
    probabilities: npt.ArrayLike,
    observed: npt.ArrayLike,
    *,
    sizes: Sequence[int],
    rng: np.random.Generator,
    repeats: int = 20,
    n_values: Sequence[int] = (10,),
    min_group_sizes: Sequence[int] = (1,),
    representative: Representative = "mean",
) -> pl.DataFrame:
    """Reliability of samples of the forecasts, by the size of the sample and the way of grouping.

    Forecasts are grouped once, all of them; samples are drawn without replacement, and are the same for all ways of
    grouping.

    Parameters
    ----------
    probabilities : array-like, shape (items, levels)
    observed : array-like of int, shape (items,), 0..levels-1
    sizes : sequence of int, 1..items
        How many forecasts to sample.
    rng : numpy.random.Generator
    repeats : int, at least 1
        Samples of each size.
    n_values, min_group_sizes : sequence of int
        Ways of grouping, each number of values with each minimum size; see
        :func:`earmark.diagnose.decomposition.decompose_score`.
    representative : {'mean', 'rounded'}

    Returns
    -------
    DataFrame
        ``n_values``, ``min_group_size``, ``size``; ``repeats`` that had any group of the minimum size; mean
        ``reliability`` of these and its standard deviation ``reliability_sd``; ``corrected_reliability``, the mean with
        the expectation of chance taken out, where the minimum size is 2 or more; ``kept``, the mean share of a sample
        that is in groups large enough. Null where there is nothing to average.
    """
    matrix, levels = check_forecasts(probabilities, observed)
    _check_repeats(repeats)
    for size in sizes:
        if not 1 <= size <= len(levels):
            raise ParameterError(f"a sample of the forecasts has 1 to {len(levels)} of them, got {size}")
    samples = {size: [rng.choice(len(levels), size, replace=False) for _ in range(repeats)] for size in sizes}
    rows = []
    for values in n_values:
        groups = group_forecasts(matrix, n_values=values)
        for least in min_group_sizes:
            for size in sizes:
                scored = [
                    _reliability(matrix[sample], levels[sample], groups.take(sample), least, representative)
                    for sample in samples[size]
                ]
                reliability = [result.plain for result in scored if result.plain is not None]
                corrected = [result.corrected for result in scored if result.corrected is not None]
                rows.append(
                    {
                        "n_values": values,
                        "min_group_size": least,
                        "size": size,
                        "repeats": len(reliability),
                        "reliability": _mean(reliability),
                        "reliability_sd": _sd(reliability),
                        "corrected_reliability": _mean(corrected),
                        "kept": _mean([result.kept for result in scored]),
                    }
                )
    return pl.DataFrame(
        rows,
        schema={
            "n_values": pl.Int64,
            "min_group_size": pl.Int64,
            "size": pl.Int64,
            "repeats": pl.Int64,
            "reliability": pl.Float64,
            "reliability_sd": pl.Float64,
            "corrected_reliability": pl.Float64,
            "kept": pl.Float64,
        },
    )


def scores_by_amount_judged(
    predict: Predict,
    observed: npt.ArrayLike,
    *,
    draw: Draw,
    amounts: Sequence[float],
    rng: np.random.Generator,
    repeats: int = 10,
    evaluated: Evaluated = "unjudged",
    n_evaluated: int | None = None,
    n_values: int | None = 10,
    min_group_size: int = 1,
    representative: Representative = "mean",
) -> pl.DataFrame:
    """Ranked probability score and reliability of predictions, by how much is judged when they are made.

    Parameters
    ----------
    predict : callable
        Takes which items are judged, returns probabilities of shape (items, levels); a row of NaN is an item it cannot
        predict.
    observed : array-like of int, shape (items,), 0..levels-1
    draw : callable
        Takes an amount and `rng`, returns which items are judged: :func:`random_share` or :func:`per_system` make one.
    amounts : sequence of float
    rng : numpy.random.Generator
    repeats : int, at least 1
    evaluated : {'unjudged', 'all'}
        Which predictions to score. ``all`` allows to compare with everything judged; it is honest only if `predict`
        leaves the judgment of an item out of that item's prediction.
    n_evaluated : int, optional
        Score a random sample of so many predictions, as reliability is comparable on equal numbers only; repeats with
        fewer predictions are left out. By default, score all there are.
    n_values, min_group_size, representative
        As in :func:`earmark.diagnose.decomposition.decompose_score`.

    Returns
    -------
    DataFrame
        ``amount``, mean number ``judged``, ``repeats`` that could be scored, of these the mean number ``evaluated``,
        the mean ``rps`` and ``reliability``, and their standard deviations ``rps_sd`` and ``reliability_sd``. ``rps``
        is that of all predictions evaluated, ``reliability`` that of groups large enough. Null where there are none.
    """
    levels = np.asarray(observed)
    _check_repeats(repeats)
    if evaluated not in get_args(Evaluated):
        raise ParameterError(
            f"unknown predictions {evaluated!r} to score, choose from {', '.join(get_args(Evaluated))}"
        )
    if n_evaluated is not None and n_evaluated < 1:
        raise ParameterError(f"at least one prediction is scored, got n_evaluated={n_evaluated}")
    rows = []
    for amount in amounts:
        n_judged, n_scored, scores, reliability = [], [], [], []
        for _ in range(repeats):
            judged = check_mask(draw(amount, rng), n_items=levels.size)
            n_judged.append(int(judged.sum()))
            probabilities = _check_predictions(predict(judged), n_items=levels.size)
            predicted = ~np.isnan(probabilities).any(axis=1)
            items = np.flatnonzero(predicted if evaluated == "all" else predicted & ~judged)
            if items.size < (n_evaluated or 1):
                continue
            if n_evaluated is not None:
                items = rng.choice(items, n_evaluated, replace=False)
            forecast, outcome = check_forecasts(probabilities[items], levels[items])
            n_scored.append(items.size)
            scores.append(ranked_probability_score(forecast, outcome))
            groups = group_forecasts(forecast, n_values=n_values)
            reliability.append(_reliability(forecast, outcome, groups, min_group_size, representative).plain)
        reliable = [value for value in reliability if value is not None]
        rows.append(
            {
                "amount": float(amount),
                "judged": _mean(n_judged),
                "evaluated": _mean(n_scored),
                "repeats": len(scores),
                "rps": _mean(scores),
                "rps_sd": _sd(scores),
                "reliability": _mean(reliable),
                "reliability_sd": _sd(reliable),
            }
        )
    numbers = ("rps", "rps_sd", "reliability", "reliability_sd")
    schema = {"amount": pl.Float64, "judged": pl.Float64, "evaluated": pl.Float64, "repeats": pl.Int64}
    return pl.DataFrame(rows, schema=schema | dict.fromkeys(numbers, pl.Float64))


def random_share(n_items: int) -> Draw:
    """Make a draw that judges a share (0..1) of all items, each set of that many items being equally likely."""

    def draw(amount: float, rng: np.random.Generator) -> Bools:
        if not 0 <= amount <= 1:
            raise ParameterError(f"a share of the items lies between 0 and 1, got {amount:g}")
        judged = np.zeros(n_items, dtype=np.bool_)
        judged[rng.choice(n_items, round(amount * n_items), replace=False)] = True
        return judged

    return draw


def per_system(retrieved: Retrieved) -> Draw:
    """Make a draw that judges so many items of every system, or all it has.

    Items are put into one random order, and the first of each system's are judged: what several systems retrieved
    counts for all of them.

    Parameters
    ----------
    retrieved : array-like or sparse array, shape (systems, items)
        Which system retrieved what: anything but 0.
    """
    rows = check_retrieved(retrieved)

    def draw(amount: float, rng: np.random.Generator) -> Bools:
        if amount < 0 or amount != int(amount):
            raise ParameterError(f"judgments per system are a whole number, 0 or more, got {amount:g}")
        place = rng.permutation(rows.shape[1])
        judged = np.zeros(rows.shape[1], dtype=np.bool_)
        for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            items = rows.indices[start:end]
            judged[items[np.argsort(place[items])[: int(amount)]]] = True
        return judged

    return draw


def error_of_system_means(
    gains: npt.ArrayLike,
    retrieved: Retrieved,
    *,
    counts: Sequence[int],
    rng: np.random.Generator,
    repeats: int = 200,
) -> pl.DataFrame:
    """Error of a system's mean gain when only so many of its items are judged, drawn at random.

    Parameters
    ----------
    gains : array-like of float, shape (items,)
        The gains of all items.
    retrieved : array-like or sparse array, shape (systems, items)
        Which system retrieved what: anything but 0.
    counts : sequence of int, at least 1
        Numbers of judgments.
    rng : numpy.random.Generator
    repeats : int, at least 1
        Draws for each system; those of one draw are nested, more judgments containing fewer.

    Returns
    -------
    DataFrame
        ``judgments``; the number of ``systems`` that have so many items; over these and all draws, the
        ``mean_absolute_error``, the ``rmse`` and the error that 95% of the draws stay below, ``error_95``. Null where
        no system has so many.
    """
    values, rows = check_gains(gains, retrieved)
    _check_repeats(repeats)
    for count in counts:
        if count < 1:
            raise ParameterError(f"a mean needs at least one judgment, got {count}")
    errors: dict[int, list[Floats]] = {count: [] for count in counts}
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        of_system = values[rows.indices[start:end]]
        possible = [count for count in errors if count <= of_system.size]
        if not possible:
            continue
        drawn = rng.permuted(np.tile(of_system, (repeats, 1)), axis=1)
        sums = np.cumsum(drawn, axis=1)
        for count in possible:
            errors[count].append(sums[:, count - 1] / count - of_system.mean())
    table = []
    for count, by_system in errors.items():
        size = np.abs(np.concatenate(by_system)) if by_system else np.empty(0)
        table.append(
            {
                "judgments": count,
                "systems": len(by_system),
                "mean_absolute_error": float(size.mean()) if size.size else None,
                "rmse": float(np.square(size).mean() ** 0.5) if size.size else None,
                "error_95": float(np.quantile(size, 0.95)) if size.size else None,
            }
        )
    numbers = ("mean_absolute_error", "rmse", "error_95")
    return pl.DataFrame(table, schema={"judgments": pl.Int64, "systems": pl.Int64} | dict.fromkeys(numbers, pl.Float64))


class _Reliability(NamedTuple):
    plain: float | None
    corrected: float | None
    kept: float


def _reliability(
    probabilities: Floats,
    observed: Ints,
    groups: ForecastGroups,
    min_group_size: int,
    representative: Representative,
) -> _Reliability:
    """Reliability, its corrected value and the share kept; the first two None where they cannot be computed."""
    if groups.sizes.max() < min_group_size:
        return _Reliability(plain=None, corrected=None, kept=0.0)
    parts = decompose_grouped(
        probabilities, observed, groups, min_group_size=min_group_size, representative=representative
    )
    corrected = parts.corrected_reliability if min_group_size >= 2 else None
    return _Reliability(plain=parts.reliability, corrected=corrected, kept=parts.n_kept / parts.n_items)


def _check_predictions(probabilities: npt.ArrayLike, *, n_items: int) -> Floats:
    matrix = np.asarray(probabilities, dtype=np.float64)
    if matrix.ndim != 2 or len(matrix) != n_items:
        raise ParameterError(f"expected predictions of shape ({n_items}, levels), got {matrix.shape}")
    return matrix


def _check_repeats(repeats: int) -> None:
    if repeats < 1:
        raise ParameterError(f"at least one repeat is needed, got {repeats}")


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _sd(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None
