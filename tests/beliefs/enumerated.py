"""Small collections, and the distribution of their scores by going through every assignment of levels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

import earmark
from earmark.beliefs.beliefs import IndependentBeliefs, from_probabilities
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.scales import Scale

Lists = Mapping[str, Mapping[str, Sequence[str]]]
# Of the gains of a list in rank order, of the gains of all items of its query: the score.
Score = Callable[[list[float], list[float]], float]

# Five items; A and B share d1 at the same rank and d2 at another, and B does not answer r.
FIVE: Lists = {
    "A": {"q": ["d1", "d2", "d3"], "r": ["e1"]},
    "B": {"q": ["d1", "d4", "d2"]},
    "C": {"q": ["d4", "d1"], "r": ["e1"]},
}


def runs_of(lists: Lists) -> earmark.Runs:
    """Rank documents in the order given."""
    return earmark.runs_from_dict(
        {
            system: {query: {doc: -float(at) for at, doc in enumerate(docs)} for query, docs in answers.items()}
            for system, answers in lists.items()
        }
    )


def collection_of(lists: Lists) -> Collection:
    return Collection.from_runs(runs_of(lists))


def random_beliefs(
    collection: Collection, rng: np.random.Generator, *, scale: Scale, judged: Mapping[int, float] | None = None
) -> IndependentBeliefs:
    """Believe something else about every item."""
    probabilities = rng.dirichlet(np.ones(len(scale.gains)), collection.n_items)
    beliefs = from_probabilities(probabilities, scale=scale)
    return beliefs.with_judgments(list(judged), list(judged.values())) if judged else beliefs


def assignments(beliefs: IndependentBeliefs) -> Iterator[tuple[float, Floats]]:
    """Go through everything the gains could be, with its probability."""
    levels, chances = beliefs.expected.levels, beliefs.expected.probabilities
    choices = [
        [(1.0, beliefs.judged_gain[item])] if beliefs.judged[item] else list(zip(chances[item], levels, strict=True))
        for item in range(beliefs.n_items)
    ]
    for assignment in itertools.product(*choices):
        yield math.prod(chance for chance, _ in assignment), np.array([gain for _, gain in assignment])


def query_scores(collection: Collection, gains: Floats, score: Score) -> Floats:
    """Score every list on its own, shape (queries, systems); an unanswered query scores 0."""
    ranks = collection.ranks.toarray()
    scores = np.zeros((len(collection.queries), len(collection.systems)))
    for query in range(len(collection.queries)):
        pool = np.flatnonzero(collection.item_query == query)
        for system in range(len(collection.systems)):
            found = sorted((ranks[system, item], gains[item]) for item in pool if ranks[system, item])
            scores[query, system] = score([gain for _, gain in found], gains[pool].tolist()) if found else 0.0
    return scores


def enumerated_moments(collection: Collection, beliefs: IndependentBeliefs, score: Score) -> tuple[Floats, Floats]:
    """Mean, shape (queries, systems), and covariance of all of them, shape (queries · systems, queries · systems)."""
    chances, scores = zip(
        *((chance, query_scores(collection, gains, score)) for chance, gains in assignments(beliefs)), strict=True
    )
    weight = np.array(chances)
    values = np.array(scores).reshape(len(weight), -1)
    mean = weight @ values
    covariance = (values - mean).T @ (weight[:, None] * (values - mean))
    return mean.reshape(len(collection.queries), -1), covariance


def mean_moments(collection: Collection, beliefs: IndependentBeliefs, score: Score) -> tuple[Floats, Floats]:
    """Mean, shape (systems,), and covariance, shape (systems, systems), of mean scores over queries."""
    mean, covariance = enumerated_moments(collection, beliefs, score)
    n_queries, n_systems = mean.shape
    average = np.tile(np.eye(n_systems), n_queries) / n_queries
    return mean.mean(axis=0), average @ covariance @ average.T


def dcg(gains: Sequence[float], cutoff: int) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:cutoff], start=1))


def ndcg(cutoff: int) -> Score:
    def score(gains: list[float], pool: list[float]) -> float:
        best = dcg(sorted(pool, reverse=True), cutoff)
        return dcg(gains, cutoff) / best if best else 0.0

    return score


def average_precision(gains: list[float], pool: list[float]) -> float:
    relevant = sum(gain > 0 for gain in pool)
    found = [sum(g > 0 for g in gains[:rank]) / rank for rank, gain in enumerate(gains, start=1) if gain > 0]
    return sum(found) / relevant if relevant else 0.0
