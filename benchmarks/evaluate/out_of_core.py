"""Evaluation of more rows than memory should hold: time and peak memory.

``python -m benchmarks.evaluate.out_of_core [--rows 200] [--memory 4GB] [--layout sorted]`` makes so many millions of
results (lists of 1,000, twenty systems), as a folder of Parquet files partitioned by system, and judgments. Then it
runs ``earmark evaluate`` on the folder in a process of its own and prints time, processor time and peak memory. Lists
are ``sorted`` by query, as nearly all are, or ``scattered``: the rows of a query are in two files. With ``--check``,
the scores are compared with those of all rows at once, to the bit.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

SYSTEMS, DEPTH, DOCUMENTS, JUDGED = 20, 1_000, 200_000, 100
_QUERIES_AT_ONCE = 500
MEASURES = ("nDCG@10", "AP", "RR", "P@5")


def write_collection(folder: Path, rows: int, *, scattered: bool) -> int:
    """Write runs and judgments; return how many results there are."""
    queries = max(2, rows // (SYSTEMS * DEPTH))
    documents = pl.Series([f"doc-{number:07d}" for number in range(DOCUMENTS)])
    rng = np.random.default_rng(5)
    half = DEPTH // 2
    for system in range(SYSTEMS):
        part = folder / "runs" / f"system=s{system:02d}"
        part.mkdir(parents=True)
        skipped = int(rng.integers(0, JUDGED))
        for portion, (first, last) in enumerate([(0, half), (half, DEPTH)] if scattered else [(0, DEPTH)]):
            for start in range(0, queries, _QUERIES_AT_ONCE):
                numbers = np.arange(start, min(start + _QUERIES_AT_ONCE, queries))
                # A list is a stretch of the documents in steps of a prime: no document twice, and lists overlap.
                at = (numbers[:, None] * 977 + (skipped + np.arange(first, last)) * 7919) % DOCUMENTS
                score = DEPTH - np.arange(first, last) + rng.random(at.shape)
                frame = pl.DataFrame(
                    {
                        "query": pl.Series([f"q{number:06d}" for number in numbers]).gather(
                            np.repeat(np.arange(numbers.size), last - first)
                        ),
                        "document": documents.gather(at.ravel()),
                        "score": score.ravel(),
                    }
                )
                frame.write_parquet(part / f"part-{portion}-{start:06d}.parquet")
    judged = np.arange(queries)[:, None] * 977 + np.arange(JUDGED) * 7919
    pl.DataFrame(
        {
            "query": np.repeat([f"q{number:06d}" for number in range(queries)], JUDGED),
            "document": documents.gather((judged % DOCUMENTS).ravel()),
            "gain": rng.integers(0, 4, judged.size),
        }
    ).write_parquet(folder / "judgments.parquet")
    return queries * SYSTEMS * DEPTH


def main() -> None:
    """Make the collection, evaluate it and print what that took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=200.0, help="millions of results")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--layout", choices=("sorted", "scattered"), default="sorted")
    parser.add_argument("--check", action="store_true", help="compare with all rows in memory at once")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = write_collection(folder, int(told.rows * 1e6), scattered=told.layout == "scattered")
        size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
        print(f"{rows:,} results, {size / 1e9:.2f} GB of Parquet, {told.layout}")
        command = [
            sys.executable,
            "-m",
            "earmark.cli",
            "evaluate",
            f"{folder}/runs",
            "-j",
            f"{folder}/judgments.parquet",
        ]
        command += [word for measure in MEASURES for word in ("-m", measure)]
        command += ["--memory", told.memory, "--format", "csv", "--scale", "0..3"]
        start = time.perf_counter()
        said = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "TMPDIR": name})
        took, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{took:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processors, peak {used.ru_maxrss / 1e6:.2f} GB")
        print(f"{took / rows * 1e6:.2f} µs per result; {len(said.stdout.splitlines()) - 1} means")
        if told.check:
            import earmark

            known = earmark.read_judgments(folder / "judgments.parquet", scale=earmark.parse_scale("0..3"))
            whole = earmark.evaluate(earmark.read_runs(folder / "runs"), known, list(MEASURES)).means()
            found = pl.read_csv(said.stdout.encode())
            same = whole.join(found, on=["system", "measure"])
            print(f"equal to the bit: {same.height == whole.height and (same['value'] == same['value_right']).all()}")


if __name__ == "__main__":
    main()
