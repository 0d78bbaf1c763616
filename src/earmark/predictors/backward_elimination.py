"""Backward elimination: an ordinal model with fewer features, found by taking them out one at a time.

The models of [1]_ were found by starting from the saturated model and keeping features with p < 0.0001; others
"did improve the model", but marginally. Whether a feature goes is decided by its p-value or by Akaike's criterion.

References
----------
.. [1] J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity
   and retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from earmark.errors import ParameterError
from earmark.predictors.ordinal_likelihood import checked_features
from earmark.predictors.ordinal_regression import DEFAULT_RIDGE, Coefficients, OrdinalModel, fit_ordinal

DEFAULT_THRESHOLD = {"aic": 0.0, "p": 1e-4}


@dataclass(frozen=True)
class EliminationStep:
    """One feature taken out of a model.

    Attributes
    ----------
    removed : str
        The feature.
    p_value : float
        Its Wald p-value while it was still in.
    aic_before, aic_after : float
        Akaike's criterion of the models with and without it.
    """

    removed: str
    p_value: float
    aic_before: float
    aic_after: float


@dataclass(frozen=True, eq=False)
class Elimination:
    """What backward elimination left: the features kept, in their first order, the model and the way there."""

    kept: tuple[str, ...]
    model: OrdinalModel
    path: tuple[EliminationStep, ...]


def backward_elimination(
    features: ArrayLike,
    names: Sequence[str],
    levels: ArrayLike,
    *,
    n_levels: int,
    criterion: Literal["aic", "p"] = "p",
    threshold: float | None = None,
    ridge: float = DEFAULT_RIDGE,
    weights: ArrayLike | None = None,
) -> Elimination:
    """Simplify a model one feature at a time, beginning with all of them.

    Two readings of how the models of [1]_ were found:

    * ``"p"``: while the largest Wald p-value is at least `threshold` (0.0001), that feature goes;
    * ``"aic"``: while some feature can go with AIC rising by no more than `threshold` (0), the one goes whose
      going leaves the lowest AIC. A positive threshold asks for a simpler model.

    A feature whose name is part of an interaction still in the model (``sGEN`` of ``sGEN:pGEN``) stays for as long
    as the interaction does: without its parts an interaction has no meaning of its own.

    Parameters
    ----------
    features : float array, shape (n, f)
    names : sequence of str, length f
        All different; an interaction names its parts with colons between.
    levels, n_levels, ridge, weights
        As in `fit_ordinal`.
    criterion : {"p", "aic"}
    threshold : float, optional

    Returns
    -------
    Elimination
        Every fit begins where the one before ended.
    """
    if criterion not in DEFAULT_THRESHOLD:
        raise ParameterError(f"unknown criterion '{criterion}': use aic or p")
    limit = DEFAULT_THRESHOLD[criterion] if threshold is None else threshold
    if not math.isfinite(limit) or (criterion == "p" and not 0 < limit <= 1):
        allowed = "a p-value above 0 and up to 1" if criterion == "p" else "a finite difference of AIC"
        raise ParameterError(f"the threshold is {allowed}, got {limit:g}")
    x = checked_features(features, names)
    if len(set(names)) < len(names):
        repeated = next(name for name in names if list(names).count(name) > 1)
        raise ParameterError(f"the names of features have to differ, got '{repeated}' twice")

    def fit(columns: list[int], start: Coefficients | None) -> OrdinalModel:
        return fit_ordinal(x[:, columns], levels, n_levels=n_levels, ridge=ridge, weights=weights, start=start)

    def fit_without(position: int) -> OrdinalModel:
        rest = columns[:position] + columns[position + 1 :]
        return fit(rest, (model.intercepts, np.delete(model.coefficients, position)))

    columns = list(range(len(names)))
    model = fit(columns, None)
    path: list[EliminationStep] = []
    while columns:
        kept = [names[column] for column in columns]
        removable = [i for i, name in enumerate(kept) if not any(_is_part(name, other) for other in kept)]
        p_values = model.p_values
        if criterion == "p":
            position = max(removable, key=lambda i: p_values[i])
            if p_values[position] < limit:
                break
            simpler = fit_without(position)
        else:
            candidates = {i: fit_without(i) for i in removable}
            position = min(candidates, key=lambda i: candidates[i].aic)
            simpler = candidates[position]
            # A constant feature goes too: its AIC difference is 0, up to rounding.
            if simpler.aic - model.aic > limit + 1e-9 * (1 + abs(model.aic)):
                break
        path.append(EliminationStep(kept[position], float(p_values[position]), model.aic, simpler.aic))
        model = simpler
        del columns[position]
    return Elimination(tuple(names[column] for column in columns), model, tuple(path))


def _is_part(name: str, interaction: str) -> bool:
    return set(name.split(":")) < set(interaction.split(":"))
