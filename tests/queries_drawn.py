"""Small collections whose queries are drawn from a population with known means, and beliefs that are exactly right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

import earmark
from earmark.beliefs.beliefs import IndependentBeliefs, from_probabilities
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.scales import BINARY
from earmark.inference.confidence import Ranking

AG4 = earmark.parse("AG@4")
SKILL = np.array([0.4, 0.0, -0.5])
"""Of three systems, in logits."""
OF_QUERIES, OF_LISTS = 1.0, 0.5
"""Standard deviations in logits: of queries, some of which are hard for all, and of a system's luck with one."""

_nodes, _weights = np.polynomial.hermite_e.hermegauss(60)
POPULATION_MEANS: Floats = special.expit(SKILL[:, None] + np.hypot(OF_QUERIES, OF_LISTS) * _nodes) @ (
    _weights / _weights.sum()
)
"""What every system scores on average over all queries that could have been drawn."""


def collection_of(queries: int) -> Collection:
    """Every system retrieves four documents of its own."""
    lists = {
        f"s{system}": {f"q{query:02}": {f"d{system}.{at}": -float(at) for at in range(4)} for query in range(queries)}
        for system in range(3)
    }
    return Collection.from_runs(earmark.runs_from_dict(lists))


def systems_of(collection: Collection) -> NDArray[np.int64]:
    """Which system retrieved every item."""
    return np.array([int(collection.documents[document][1]) for document in collection.item_document])


def draw_queries(rng: np.random.Generator, collection: Collection) -> tuple[Floats, Floats]:
    """Draw queries, and return the chance of every item to be relevant and whether it is."""
    n = len(collection.queries)
    logit = rng.normal(0, OF_QUERIES, n)[:, None] + rng.normal(0, OF_LISTS, (n, 3)) + SKILL
    chance = special.expit(logit)[collection.item_query, systems_of(collection)]
    return chance, (rng.random(chance.size) < chance).astype(float)


def right_beliefs(chance: Floats, judged_gain: Floats | None = None) -> IndependentBeliefs:
    """Believe of every item what its chance is."""
    return from_probabilities(np.column_stack((1 - chance, chance)), scale=BINARY, judged_gain=judged_gain)


def holds(ranking: Ranking, true: Floats) -> NDArray[np.bool_]:
    """Which intervals, of systems and then of pairs, hold the truth."""
    apart = true[ranking.estimates.a] - true[ranking.estimates.b]
    return np.concatenate(
        (
            (ranking.low <= true) & (true <= ranking.high),
            (ranking.difference_low <= apart) & (apart <= ranking.difference_high),
        )
    )
