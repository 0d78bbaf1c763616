"""Krippendorff's alpha of preferences: of choices, and of choices with their strengths.

Units are pairs of documents for a query, and values the document that was chosen, whichever way round the pair was
shown: the metric ``nominal`` takes the two documents and *same* as three different answers, ``ordinal`` puts *same*
between them, and ``interval`` takes the strength, negative for the second document and 0 for *same*, as a distance.
Which document of a pair comes first means nothing for other pairs, so values are mirrored: alpha is the same whatever
the names of documents are.
Pairs of one query belong together, unless there is only one query. Where somebody answered a pair in several phases,
phases are kept apart.
"""

from __future__ import annotations

import numpy as np

from earmark.crowd.krippendorff import Alpha, Metric, krippendorff_alpha
from earmark.data.arrays import Floats, Ints
from earmark.data.preferences import Preferences


def preference_alpha(
    preferences: Preferences,
    *,
    metric: Metric = "nominal",
    n_resamples: int = 1000,
    level: float = 0.95,
    rng: np.random.Generator,
) -> Alpha:
    """Return Krippendorff's alpha of preferences.

    Parameters
    ----------
    preferences : Preferences
        The answers.
    metric : {"nominal", "ordinal", "interval"}
        How much two answers disagree, see the module.
    n_resamples, level, rng
        As for :func:`~earmark.crowd.krippendorff.krippendorff_alpha`.
    """
    pairs = preferences.pairs()
    chosen = (preferences.sign * pairs.answer_orientation).astype(np.float64)
    value: Floats = chosen * preferences.strength if metric == "interval" else chosen
    query = preferences.query_index
    return krippendorff_alpha(
        _units(preferences),
        value,
        metric=metric,
        mirrored=True,
        assessor=preferences.assessor_index,
        cluster=query if len(preferences.queries) > 1 else None,
        n_resamples=n_resamples,
        level=level,
        rng=rng,
    )


def _units(preferences: Preferences) -> Ints:
    pair = preferences.pairs().answer_pair
    who = pair * len(preferences.assessors) + preferences.assessor_index
    if "phase" not in preferences.frame.columns or np.unique(who).size == who.size:
        return pair
    phase = preferences.frame["phase"].fill_null("").rank("dense").to_numpy().astype(np.int64)
    apart: Ints = pair * (int(phase.max()) + 1) + phase
    return apart
