"""Small simulated crowds and answers of theirs, for the tests of pair questions."""

from __future__ import annotations

import numpy as np

from earmark.campaign.pairs.candidates import PairAnswers, PairDesign
from earmark.campaign.pairs.model import StandardDeviations
from earmark.data.arrays import Floats
from earmark.simulation.pair_campaigns import PairWorld, made_up_world

SDS = StandardDeviations(0.5, 0.4, 0.6, 0.8, 0.7, 1.2)


def small_world(seed: int, **more: object) -> PairWorld:
    size = {"queries": 6, "documents": 10, "depth": 5, "pairs": 14, "needed": 5}
    return made_up_world(np.random.default_rng(seed), **{**size, **more})  # type: ignore[arg-type]


def some_answers(world: PairWorld, share: float = 0.4, seed: int = 0, count: int | None = None) -> PairAnswers:
    """Take all answers, or the first few, about some of the pairs."""
    rng = np.random.default_rng(seed)
    asked = rng.random(world.signs.shape[0]) < share
    signs = world.signs[:, : world.needed if count is None else count]
    first, second, same = (np.where(asked, np.sum(signs == sign, axis=1), 0) for sign in (1, -1, 0))
    return PairAnswers(first, second, same)


def dense(design: PairDesign, sds: StandardDeviations) -> Floats:
    """Every pair's effects in one matrix, divided by nothing: consensus, systems, documents; then the same by query."""
    pairs, order = design.pairs, design.order
    n_queries, n_documents = len(pairs.queries), len(pairs.documents)
    used = {(int(d), int(q)) for q, *both in zip(
        pairs.query_index[design.matters], pairs.first_index[design.matters], pairs.second_index[design.matters],
        strict=True,
    ) for d in both}  # fmt: skip
    occurs = np.bincount([d for d, _ in used], minlength=n_documents)
    documents = np.zeros((len(pairs), n_documents))
    documents[np.arange(len(pairs)), pairs.first_index] = 1
    documents[np.arange(len(pairs)), pairs.second_index] = -1
    systems = np.vstack((order.mean(axis=0), order)).T
    by_query = [
        np.hstack((sds.system_query * systems, sds.document_query * documents)) * (pairs.query_index == query)[:, None]
        for query in range(n_queries)
    ]
    scale = np.array([sds.consensus, *[sds.system] * order.shape[0]])
    return np.hstack((systems * scale, sds.document * documents * (occurs > 1), *by_query))
