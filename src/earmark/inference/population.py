r"""From these queries to queries like these.

An estimate about the queries at hand knows them; one about the population they were drawn from does not. The mean over
:math:`Q` queries differs from that of the population by the sampling of queries, with variance :math:`B / Q` for a
variance :math:`B` between queries. So the variance of an estimate becomes :math:`V + B/Q`, with Satterthwaite's degrees
of freedom of the sum: :math:`Q - 1` where everything is judged and only the queries are few.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from earmark.beliefs.estimates import Estimates, Moments
from earmark.data.arrays import Floats

Target = Literal["sample", "population"]
TARGETS = {"sample": "these queries", "population": "queries like these"}
_MANY = 1e6


def to_population(estimates: Estimates, between: Floats) -> Estimates:
    """Widen estimates about the queries at hand to queries like them.

    Parameters
    ----------
    estimates : Estimates
        About the queries at hand.
    between : ndarray of float, shape (systems, systems)
        Covariance of scores between queries, as from
        :func:`~earmark.beliefs.between_queries.between_query_covariance`.
    """
    own = np.diagonal(between)
    a, b = estimates.a, estimates.b
    apart = np.where(estimates.identical, 0.0, np.maximum(own[a] + own[b] - 2.0 * between[a, b], 0.0))
    return replace(
        estimates,
        scores=_widened(estimates.scores, own, estimates.queries),
        differences=_widened(estimates.differences, apart, estimates.queries),
    )


def _widened(moments: Moments, between: Floats, queries: int) -> Moments:
    sampling = between / queries
    total = moments.variance + sampling
    own_df = np.full(total.shape, _MANY) if moments.df is None else moments.df
    parts = moments.variance**2 / own_df + sampling**2 / (queries - 1)
    df = np.divide(total**2, parts, out=np.full(total.shape, _MANY), where=parts > 0)
    return replace(moments, variance=total, df=df)
