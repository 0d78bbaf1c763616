"""Six systems that listen: three hear one thing each, two hear several, and one does not listen at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from earmark.audio.descriptors import Descriptors
from earmark.audio.distances import combined_distances, harmony_distances, rhythm_distances, timbre_distances
from earmark.data.arrays import Floats
from earmark.data.matrices import Matrix, lists_from_matrix
from earmark.data.runs import Runs, build_runs

WHAT_THEY_HEAR = {
    "timbre": "Gaussians of cepstral coefficients, symmetrised divergence",
    "rhythm": "tempo profiles of three bands",
    "harmony": "intervals of the chroma",
    "timbre+rhythm": "both, added up",
    "all-three": "timbre, rhythm and harmony, added up",
    "random": "nothing: it returns random songs",
}


def system_distances(sounds: Sequence[Descriptors], rng: np.random.Generator) -> dict[str, Floats]:
    """Return how far apart every system finds every two sounds, shape (sounds, sounds) each."""
    timbre, rhythm, harmony = timbre_distances(sounds), rhythm_distances(sounds), harmony_distances(sounds)
    by_chance = rng.uniform(size=timbre.shape)
    np.fill_diagonal(by_chance, 0.0)
    return {
        "timbre": timbre,
        "rhythm": rhythm,
        "harmony": harmony,
        "timbre+rhythm": combined_distances(timbre, rhythm),
        "all-three": combined_distances(timbre, rhythm, harmony),
        "random": by_chance,
    }


def system_runs(
    distances: Mapping[str, Floats],
    documents: Sequence[str],
    *,
    queries: Sequence[str],
    artist: Mapping[str, str | None],
    depth: int,
) -> Runs:
    """Let every system answer every query with the nearest documents, none of them by the query's artist."""
    lists = []
    for system, values in distances.items():
        matrix = Matrix(values, tuple(documents), tuple(documents))
        found = lists_from_matrix(matrix, k=depth, queries=queries, exclude=[artist], check_kind=False)
        lists.append(found.with_columns(system=pl.lit(system)))
    results = pl.concat(lists)
    return build_runs(system=results["system"], query=results["query"], document=results["document"])
