r"""What was judged: whether it is like the rest, in number per system, in gain, and in any attribute of the items.

Buckers [1]_ (section 3.3) gives reasons why chosen judgments mislead, and a figure for each. The functions here return
what such figures would show, as frames, one row per point:

- :func:`judged_by_system` and :func:`judged_mix` (its Figure 3.7): whether the items judged are like all items, in
  number per system, in gain, and in any attribute of theirs such as the genre.
- :func:`difference_quantiles` (beside Figures 3.8 and 3.9): how far systems are apart, which is what an error of their
  means has to be compared with.

How many judgments it takes is the subject of :mod:`earmark.diagnose.sample_size`. Everything here is about a
collection whose truth is known.

References
----------
.. [1] T. Buckers (2021). Dealing with overconfidence and bias in low-cost evaluation of audio music similarity. MSc
   thesis, Delft University of Technology; sections 3.2.4 and 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from earmark.data.arrays import Bools, Floats
from earmark.errors import ParameterError

Incidence = sparse.csr_array[Any, tuple[int, int]]
Retrieved = npt.ArrayLike | sparse.sparray


def judged_by_system(gains: npt.ArrayLike, retrieved: Retrieved, judged: npt.ArrayLike) -> pl.DataFrame:
    """How many items of every system are judged, and how far their mean gain is from that of all its items.

    Errors of one sign show that what is judged is better (or worse) than the rest, as the first ranks are.

    Parameters
    ----------
    gains : array-like of float, shape (items,)
        The gains of all items.
    retrieved : array-like or sparse array, shape (systems, items)
        Which system retrieved what: anything but 0.
    judged : array-like of bool, shape (items,)

    Returns
    -------
    DataFrame
        One row per system: ``system`` (its index), ``items``, ``judged``, ``mean_judged``, ``mean_all`` and ``error``,
        the former minus the latter; null where there is nothing to average.
    """
    values, rows = check_gains(gains, retrieved)
    chosen = check_mask(judged, n_items=values.size).astype(np.float64)
    items, n_judged = rows @ np.ones(values.size), rows @ chosen
    all_gains, judged_gains = rows @ values, rows @ (values * chosen)
    return pl.DataFrame(
        {
            "system": np.arange(rows.shape[0]),
            "items": items.astype(np.int64),
            "judged": n_judged.astype(np.int64),
            "mean_judged": _ratio(judged_gains, n_judged),
            "mean_all": _ratio(all_gains, items),
        }
    ).with_columns(error=pl.col("mean_judged") - pl.col("mean_all"))


def judged_mix(attribute: Sequence[Any] | pl.Series, judged: npt.ArrayLike, *, level: float = 0.95) -> pl.DataFrame:
    """Compare the mix of an attribute, such as the genre, among judged items with that among all.

    If the judged items were drawn at random, the number of them with a value would be hypergeometric. What lies outside
    its central range was over- or under-represented by more than chance explains, one value at a time.

    Parameters
    ----------
    attribute : sequence or Series, length items
        The value of every item; None where it is unknown.
    judged : array-like of bool, shape (items,)
    level : float, in (0, 1)
        Probability of the range, at least.

    Returns
    -------
    DataFrame
        One row per value, the most frequent first: ``value``, ``items``, ``judged``, the ``share_all`` and
        ``share_judged`` of the value among all and among judged items (null if nothing is judged), the latter over the
        former as ``representation``, the number of judged items ``expected`` at random, its range ``low`` to ``high``.

    Examples
    --------
    >>> mix = judged_mix(["jazz", "jazz", "rock", "rock"], [True, True, True, False])
    >>> mix.select("value", "judged", "representation").rows()
    [('jazz', 2, 1.3333333333333333), ('rock', 1, 0.6666666666666666)]
    """
    from scipy.stats import hypergeom  # slow to import, and needed for nothing else here

    values = pl.Series("value", attribute)
    chosen = check_mask(judged, n_items=len(values))
    if not 0 < level < 1:
        raise ParameterError(f"the level of a range lies between 0 and 1, got {level}")
    n_items, n_judged = len(values), int(chosen.sum())
    mix = (
        pl.DataFrame({"value": values, "judged": chosen})
        .group_by("value")
        .agg(items=pl.len().cast(pl.Int64), judged=pl.col("judged").sum().cast(pl.Int64))
        .sort("items", "value", descending=[True, False], nulls_last=True)
        .select("value", "items", "judged")
    )
    low, high = hypergeom.interval(level, n_items, mix["items"].to_numpy(), n_judged)
    share_judged = pl.col("judged") / n_judged if n_judged else pl.lit(None, dtype=pl.Float64)
    return mix.with_columns(share_all=pl.col("items") / n_items, share_judged=share_judged).with_columns(
        representation=pl.col("share_judged") / pl.col("share_all"),
        expected=pl.col("items") * n_judged / n_items,
        low=pl.Series(np.asarray(low, dtype=np.int64)),
        high=pl.Series(np.asarray(high, dtype=np.int64)),
    )


def difference_quantiles(
    scores: npt.ArrayLike, *, quantiles: Sequence[float] = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
) -> pl.DataFrame:
    """Quantiles of the absolute differences between the scores of all pairs of systems.

    Parameters
    ----------
    scores : array-like of float, shape (systems,)
        At least two.
    quantiles : sequence of float, 0..1

    Returns
    -------
    DataFrame
        ``quantile``, ``difference``.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size < 2 or not np.isfinite(values).all():
        raise ParameterError("differences between systems need a vector of at least two finite scores")
    wanted = np.asarray(quantiles, dtype=np.float64)
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise ParameterError(f"quantiles lie between 0 and 1, got {list(quantiles)}")
    a, b = np.triu_indices(values.size, k=1)
    return pl.DataFrame({"quantile": wanted, "difference": np.quantile(np.abs(values[a] - values[b]), wanted)})


def check_retrieved(retrieved: Retrieved) -> Incidence:
    """Incidence of systems × items, 1 where a system retrieved an item."""
    dense_or_sparse: Any = retrieved if sparse.issparse(retrieved) else np.asarray(retrieved)
    if dense_or_sparse.ndim != 2:
        raise ParameterError(
            f"what systems retrieved must be a matrix (systems, items), got {dense_or_sparse.ndim} dimension(s)"
        )
    rows: Incidence = sparse.csr_array(dense_or_sparse, copy=True)
    rows.eliminate_zeros()
    rows.data = np.ones(rows.nnz)
    return rows


def check_gains(gains: npt.ArrayLike, retrieved: Retrieved) -> tuple[Floats, Incidence]:
    """Gains of all items, known and finite, and the incidence of systems × items."""
    values, rows = np.asarray(gains, dtype=np.float64), check_retrieved(retrieved)
    if values.shape != (rows.shape[1],):
        raise ParameterError(f"expected a gain for each of {rows.shape[1]} items, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ParameterError("gains of all items must be known, finite numbers")
    return values, rows


def check_mask(judged: npt.ArrayLike, *, n_items: int) -> Bools:
    """Which items are judged, shape (items,)."""
    mask = np.asarray(judged)
    if mask.dtype != np.bool_ or mask.shape != (n_items,):
        raise ParameterError(
            f"expected for each of {n_items} items whether it is judged, got {mask.dtype} of shape {mask.shape}"
        )
    return mask


def _ratio(total: Floats, count: Floats) -> pl.Series:
    """Mean from sum and count, null where nothing was counted."""
    return pl.Series(np.where(count > 0, total / np.maximum(count, 1), np.nan)).fill_nan(None)
