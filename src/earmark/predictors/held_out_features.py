"""Features of judged items for learners that could decode an item's own judgment from them.

Leaving an item's own judgment out of its features is enough for a linear model, and not for trees. The mean gain of a
system *without* the item is lower for an item of high gain: among the items of one system, it tells the gain exactly.
Trees find the range of values that belongs to a system, and cross-validation over queries does not notice, because the
same systems answer all queries.

Here judged items are dealt into ten parts at random, and the features of a part are those that the judgments of the
other nine give. Then items of a part share the mean of a system, and it tells next to nothing about a single one.
"""

from __future__ import annotations

from collections.abc import Sequence

from earmark.data.arrays import Floats
from earmark.data.permanent_random_numbers import item_folds
from earmark.predictors.features import FeatureBuilder, Features

PARTS = 10


def held_out_features(
    builder: FeatureBuilder, names: Sequence[str], judged_gain: Floats, *, seed: int, parts: int = PARTS
) -> Features:
    """Return the features of all items, each by the judgments of the other parts.

    Parameters
    ----------
    builder : FeatureBuilder
    names : sequence of str
        Any available features, and products of them.
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    seed : int
        By which items are dealt into parts, with their permanent random numbers.
    parts : int, 2 or more
        How many parts the items are dealt into.
    """
    judged = judged_gain >= 0
    whole = builder.features(names, gain=judged_gain, judged=judged, exclude_own=True)
    if not any(part in builder.judgment_names for name in names for part in (name, *name.split(":"))):
        return whole
    part_of = item_folds(builder.collection, seed=seed, folds=parts, purpose="part")
    values = whole.values.copy()
    for number in range(parts):
        out = part_of == number
        values[out] = builder.features(names, gain=judged_gain, judged=judged & ~out).values[out]
    return Features(tuple(names), values)
