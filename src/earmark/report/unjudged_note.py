"""What a report says of the results that nobody judged: how many, and what scores they leave possible."""

from __future__ import annotations

import numpy as np

from earmark.campaign.campaign import Campaign
from earmark.data.arrays import Floats
from earmark.unjudged.results import depth_of
from earmark.wording import decimal, percent


def unjudged_note(campaign: Campaign) -> list[str]:
    """Say how much of the results of systems is unjudged, by rank weight, and bound scores by a weighted sum of gains.

    The bounds need no model: every unjudged document within the cutoff is worth nothing, or of top gain.
    """
    problem = campaign.problem
    collection, measure, scale = problem.collection, problem.measure, problem.scale
    gain, rank = campaign.gains[collection.result_item], collection.result_rank
    within, parts = rank <= depth_of(measure), measure.as_sum(scale)
    weight = np.where(within, 1.0 / rank if parts is None else parts.weights(rank), 0.0)
    size = len(collection.systems)

    def total(values: Floats) -> Floats:
        return np.bincount(collection.result_system, values, minlength=size).astype(np.float64)

    unjudged = total(weight * (gain < 0))
    if not unjudged.any():
        return []
    share = unjudged / np.maximum(total(weight), np.finfo(np.float64).tiny)
    said = f"nobody judged {percent(share.min())} to {percent(share.max())}% of a system's results, by rank weight"
    if not measure.is_linear:
        return [said]
    queries = len(collection.queries)
    low = total(weight * np.maximum(gain, 0.0)) / queries
    widest = int(np.argmax(unjudged))
    high = low + scale.top * unjudged / queries
    return [
        f"{said}; whatever these are worth, '{collection.systems[widest]}', of which most is open, scores "
        f"{decimal(low[widest])} to {decimal(high[widest])}"
    ]
