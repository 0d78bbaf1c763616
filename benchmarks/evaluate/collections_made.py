"""Synthetic collections, seeded and cached: the files that every program is given.

A query has candidate documents, each with a latent strength z ~ N(0, 1). A document is somewhat relevant
when z passes the query's threshold and highly relevant 0.7 above it (gains 0, 1, 2); the thresholds vary, so
that some queries are hard and a few of many thousands have no relevant document at all. A system sees
skill · z + N(0, 1) and retrieves the candidates with the highest values, so runs overlap with each other and
with the judged documents as real ones do. Scores are rounded, which makes some ties. The judged documents of
a query are all retrieved ones, or those that a noisy look at z puts first, as a pool does.

The same rankings are written in three layouts: ``sorted`` by query and rank, as systems write them;
``unsorted``, all lines of a file shuffled; ``multispace``, columns padded with spaces as printf does.

Run as a program, ``python -m benchmarks.evaluate.collections_made FOLDER SIZE LAYOUT`` makes one collection:
the benchmark makes them in a process of their own, so that its own memory stays small (see ``measure_cost``).
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.evaluate.specs import SEED, SPECS, Spec, folder_of, recipe_of

ROWS_AT_ONCE = 1_000_000


def make(data: Path, size: str, layout: str) -> None:
    """Write ``sysNN.run`` for every system and ``qrels`` into the collection's folder, all or nothing."""
    spec = SPECS[size]
    folder = folder_of(data, size, layout)
    part = folder.with_name(folder.name + ".part")
    for leftover in (folder, part):
        shutil.rmtree(leftover, ignore_errors=True)
    part.mkdir(parents=True)

    # Two generators: the rankings must not depend on whether lines are shuffled.
    rng, shuffling = np.random.default_rng([SEED, 0]), np.random.default_rng([SEED, 1])
    documents = candidate_documents(spec, rng)
    strength = rng.standard_normal(documents.shape, dtype=np.float32)
    retrieved = np.zeros(documents.shape, dtype=bool)
    for number, skill in enumerate(np.linspace(0.4, 1.6, spec.systems), start=1):
        seen = skill * strength + rng.standard_normal(strength.shape, dtype=np.float32)
        ranked = np.argsort(-seen, axis=1)[:, : spec.depth]
        np.put_along_axis(retrieved, ranked, True, axis=1)
        run = pl.DataFrame(
            {
                "query": np.repeat(np.arange(spec.queries, dtype=np.int32), spec.depth),
                "iteration": pl.repeat("Q0", spec.queries * spec.depth, eager=True),
                "document": np.take_along_axis(documents, ranked, axis=1).ravel(),
                "rank": np.tile(np.arange(1, spec.depth + 1, dtype=np.int32), spec.queries),
                "score": np.round(15 + 3 * np.take_along_axis(seen, ranked, axis=1).ravel(), spec.decimals),
                "tag": pl.repeat(f"sys{number:02d}", spec.queries * spec.depth, eager=True),
            }
        )
        write(run, part / f"sys{number:02d}.run", layout, spec, shuffling)

    query, column = np.nonzero(retrieved if spec.judged is None else pooled(strength, spec.judged, rng))
    threshold = rng.normal(spec.threshold, 0.4, size=spec.queries)[query]
    above = strength[query, column] - threshold
    qrels = pl.DataFrame(
        {
            "query": query.astype(np.int32),
            "iteration": pl.repeat("0", len(query), eager=True),
            "document": documents[query, column],
            "gain": (above > 0).astype(np.int8) + (above > 0.7).astype(np.int8),
        }
    )
    write(qrels, part / "qrels", layout, spec, shuffling)
    (part / "recipe.json").write_text(recipe_of(size, layout))
    part.rename(folder)


def candidate_documents(spec: Spec, rng: np.random.Generator) -> NDArray[np.int32]:
    """Distinct documents per query, (queries, candidates): start + step · k modulo a prime never repeats."""
    start = rng.integers(spec.documents, size=(spec.queries, 1))
    step = rng.integers(1, spec.documents, size=(spec.queries, 1))
    return ((start + step * np.arange(spec.candidates)) % spec.documents).astype(np.int32)


def pooled(strength: NDArray[np.float32], judged: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Mark the ``judged`` documents of every query that look best to a fairly good eye."""
    look = strength + 0.7 * rng.standard_normal(strength.shape, dtype=np.float32)
    chosen = np.argpartition(-look, judged, axis=1)[:, :judged]
    mask = np.zeros(strength.shape, dtype=bool)
    np.put_along_axis(mask, chosen, True, axis=1)
    return mask


def write(frame: pl.DataFrame, path: Path, layout: str, spec: Spec, shuffling: np.random.Generator) -> None:
    """Write one file in its layout, some rows at a time to bound the memory that strings take."""
    if layout == "unsorted":
        frame = frame[shuffling.permutation(frame.height)]
    names = [
        ("q" + pl.col("query").cast(pl.String)).alias("query"),
        ("d" + pl.col("document").cast(pl.String).str.zfill(7)).alias("document"),
    ]
    widths = {"query": -7, "iteration": -3, "document": -12, "rank": 5, "score": 10, "tag": 8, "gain": 3}
    padded = [
        pl.col(name).cast(pl.String).str.pad_start(width) if width > 0 else pl.col(name).str.pad_end(-width)
        for name, width in widths.items()
        if name in frame.columns
    ]
    with path.open("wb") as file:
        for rows in frame.iter_slices(ROWS_AT_ONCE):
            lines = rows.with_columns(names)
            if layout == "multispace":
                lines = lines.select(padded)
            lines.write_csv(
                file, include_header=False, separator=" ", quote_style="never", float_precision=spec.decimals
            )


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
