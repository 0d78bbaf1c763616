"""A system that nobody pooled, in the check against a baseline: false alarms, and how many real ones are left.

``python -m benchmarks.honesty.unjudged [--collections 8] [--pairs 60]`` takes one system after the other out of the
pool: what it alone retrieved loses its judgment. The system is then checked beside others as a nightly build would do
it, by a paired t-test at .05, and what the check says is compared with what it says of all judgments: on the reporting
queries of MIREX 2011, and on made-up collections of text. A false alarm is a system that is said to be worse though by
all judgments its mean score is not below the baseline's. ``--complete`` instead removes a few judgments at random from
TREC Deep Learning 2019 and counts the verdicts that are left.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl

import earmark
from benchmarks.honesty.mirex import load_mirex
from benchmarks.honesty.text import text_collection
from earmark.data.judgments import Judgments
from earmark.data.runs import Runs
from earmark.inference.baseline import compare_with_baseline
from earmark.inference.unjudged_verdicts import UnjudgedRule

RULES = get_args(UnjudgedRule)


def without_own(runs: Runs, judgments: Judgments, system: str) -> Judgments:
    """Return the judgments of what other systems retrieved."""
    others = runs.select(systems=[name for name in runs.systems if name != system])
    pool = pl.DataFrame(
        {
            "query": pl.Series(others.queries, dtype=pl.String).gather(others.list_query[others.list_of_result]),
            "document": others.documents,
        }
    ).unique()
    return replace(judgments, frame=judgments.frame.join(pool, on=["query", "document"], how="semi"))


def left_out(
    runs: Runs, judgments: Judgments, measure: str, rng: np.random.Generator, pairs: int
) -> Iterator[dict[str, float | str]]:
    """Check systems that were left out of the pool beside systems that were not."""
    whole = earmark.evaluate(runs, judgments, [measure])
    means = dict(zip(whole.systems, whole.mean_values[0], strict=True))
    for _ in range(pairs):
        new, baseline = (runs.systems[place] for place in rng.choice(len(runs.systems), 2, replace=False))
        both = runs.select(systems=[new, baseline])
        pooled = earmark.evaluate(both, without_own(runs, judgments, new), [measure])
        truth = compare_with_baseline(earmark.evaluate(both, judgments, [measure]), baseline, test="t").check
        bounds = pooled.bounds()
        assert bounds is not None
        row: dict[str, float | str] = {"unjudged": float(bounds.share[pooled.systems.index(new)])}
        row["not_worse"] = float(means[new] >= means[baseline])
        row["worse"] = float(truth.worse[0])
        for rule in RULES:
            check = compare_with_baseline(pooled, baseline, test="t", unjudged=rule).check
            row[f"fails_{rule}"], row[f"open_{rule}"] = float(check.worse[0]), float(bool(check.open_systems))
        yield row


def few_missing(data: Path, shares: tuple[float, ...], rng: np.random.Generator, repeats: int) -> pl.DataFrame:
    """Remove a share of the judgments of what the systems retrieved, and count the verdicts that are left."""
    folder = data / "trec-dl-2019"
    runs, judgments = earmark.read_runs([folder / "runs.tsv"]), earmark.read_judgments([folder / "judgments.tsv"])
    rows = []
    for share in shares:
        for _ in range(repeats if share else 1):
            keep = pl.Series(rng.random(judgments.frame.height) >= share)
            scores = earmark.evaluate(runs, replace(judgments, frame=judgments.frame.filter(keep)), ["nDCG@10"])
            bounds = scores.bounds()
            assert bounds is not None
            row = {"removed": share, "unjudged": float(bounds.share.mean())}
            for rule in RULES:
                row[rule] = float(earmark.compare(scores, test="t", unjudged=rule).tests.significant.mean())
            rows.append(row)
    return pl.DataFrame(rows).group_by("removed").mean().sort("removed")


def summary(rows: list[dict[str, float | str]]) -> pl.DataFrame:
    """Return shares of false alarms and of alarms that were due, with standard errors."""
    frame = pl.DataFrame(rows)
    lines = []
    for name, kind in (("not worse by all judgments", "not_worse"), ("worse by the test on all judgments", "worse")):
        part = frame.filter(pl.col(kind) == 1.0)
        n = part.height
        for rule in RULES:
            fails, unsure = (float(part[f"{end}_{rule}"].to_numpy().sum()) / max(n, 1) for end in ("fails", "open"))
            error = (fails * (1 - fails) / max(n, 1)) ** 0.5
            lines.append({"systems": name, "n": n, "rule": rule, "fails": fails, "error": error, "open": unsure})
    return pl.DataFrame(lines)


def main() -> None:
    """Print both studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", type=int, default=8)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--complete", action="store_true")
    parser.add_argument("--data", type=Path)
    given = parser.parse_args()
    pl.Config.set_tbl_rows(-1).set_tbl_cols(-1).set_fmt_str_lengths(60).set_tbl_hide_dataframe_shape(True)
    data = given.data or Path(os.environ.get("EARMARK_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if given.complete:
        print(few_missing(data, (0.0, 0.01, 0.02, 0.05, 0.1, 0.2), np.random.default_rng(0), 5))
        return
    mirex = load_mirex(given.data)
    runs = mirex.runs.select(queries=mirex.reporting)
    rows = list(left_out(runs, mirex.judgments, "AG@5", np.random.default_rng(0), given.collections * given.pairs))
    print("MIREX 2011, reporting queries, AG@5; unjudged:", pl.DataFrame(rows)["unjudged"].mean())
    print(summary(rows))
    for measure in ("nDCG@10", "AG@10"):
        rows = []
        for number in range(given.collections):
            rng = np.random.default_rng([number, 5])
            rows += left_out(*text_collection(rng), measure, rng, given.pairs)
        print(f"text, {measure}; unjudged:", pl.DataFrame(rows)["unjudged"].mean())
        print(summary(rows))


if __name__ == "__main__":
    main()
