"""Collections of any size whose systems retrieve much of the same, as Parquet: one file per system, and judgments.

Every query has candidates of different quality. A system sees quality through the eyes of its family and through its
own, and returns the ten that look best to it; so systems share documents, those of a family most, and some hundred to
three hundred documents are pooled per query.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl

DEPTH = 10
CANDIDATES = 320
FAMILIES = 12
JUDGED_PER_QUERY = 20
# Queries are made so many at a time.
_AT_A_TIME = 100


def make(folder: Path, *, queries: int, systems: int, seed: int = 0) -> None:
    """Write a collection into a folder, whole or not at all.

    Parameters
    ----------
    folder : Path
        Gets ``runs/*.parquet`` (query, document, score) and ``judgments.parquet`` (query, document, gain).
    queries, systems : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    documents = max(20 * CANDIDATES, 10 * queries)
    skill = rng.uniform(0.7, 1.5, systems).astype(np.float32)
    family = rng.integers(0, FAMILIES, systems)
    found = np.empty((systems, queries, DEPTH), dtype=np.int32)
    judged_document = np.empty((queries, JUDGED_PER_QUERY), dtype=np.int32)
    judged_gain = np.empty((queries, JUDGED_PER_QUERY), dtype=np.int8)
    for first in range(0, queries, _AT_A_TIME):
        here = slice(first, min(first + _AT_A_TIME, queries))
        size = here.stop - here.start
        # Candidates are spaced over the documents, so that none is there twice; the first of a query differs.
        start, step = rng.integers(0, documents, (size, 1)), documents // CANDIDATES
        candidate = ((start + step * np.arange(CANDIDATES)) % documents).astype(np.int32)
        quality = rng.standard_normal((size, 1, CANDIDATES), dtype=np.float32)
        shared = rng.standard_normal((size, FAMILIES, CANDIDATES), dtype=np.float32)
        own = rng.standard_normal((size, systems, CANDIDATES), dtype=np.float32)
        looks = skill[:, None] * quality + 0.9 * shared[:, family] + 0.8 * own
        best = np.argpartition(-looks, DEPTH, axis=2)[:, :, :DEPTH]
        order = np.argsort(-np.take_along_axis(looks, best, axis=2), axis=2)
        best = np.take_along_axis(best, order, axis=2)
        chosen = np.take_along_axis(np.broadcast_to(candidate[:, None], looks.shape), best, axis=2)
        found[:, here] = chosen.transpose(1, 0, 2)
        asked = np.argsort(-(quality[:, 0] + 0.5 * shared[:, 0]), axis=1)[:, :JUDGED_PER_QUERY]
        judged_document[here] = np.take_along_axis(candidate, asked, axis=1)
        judged_gain[here] = np.clip(np.round(1.0 + 0.8 * np.take_along_axis(quality[:, 0], asked, axis=1)), 0, 2)
    temporary = folder.with_name(folder.name + ".making")
    shutil.rmtree(temporary, ignore_errors=True)
    (temporary / "runs").mkdir(parents=True)
    names = _names("q", queries)
    of_documents = _names("d", documents)
    for system in range(systems):
        pl.DataFrame(
            {
                "query": names.gather(np.repeat(np.arange(queries), DEPTH)),
                "document": of_documents.gather(found[system].reshape(-1)),
                "score": np.tile(np.arange(DEPTH, 0, -1, dtype=np.float32), queries),
            }
        ).write_parquet(temporary / "runs" / f"system{system:03d}.parquet")
    pl.DataFrame(
        {
            "query": names.gather(np.repeat(np.arange(queries), JUDGED_PER_QUERY)),
            "document": of_documents.gather(judged_document.reshape(-1)),
            "gain": judged_gain.reshape(-1),
        }
    ).write_parquet(temporary / "judgments.parquet")
    shutil.rmtree(folder, ignore_errors=True)
    temporary.replace(folder)


def _names(letter: str, count: int) -> pl.Series:
    width = len(str(count - 1))
    return pl.select(pl.concat_str(pl.lit(letter), pl.int_range(count).cast(pl.String).str.zfill(width))).to_series()


if __name__ == "__main__":
    make(Path(sys.argv[1]), queries=int(sys.argv[2]), systems=int(sys.argv[3]))
