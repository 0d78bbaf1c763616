"""Collections with known gains to play campaigns on: some systems and queries of a larger one, drawn by a number."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

import earmark
from benchmarks.honesty.mirex import Mirex, draw_some, load_mirex
from benchmarks.honesty.text import text_collection
from earmark.beliefs.beliefs import item_gains
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.judgments import Judgments
from earmark.data.runs import Runs
from earmark.data.scales import parse_scale
from earmark.predictors.base import Setting

_LEVELS = parse_scale("0..3")


@cache
def _trec() -> tuple[Runs, Judgments]:
    beside = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("EARMARK_DATA", beside)) / "trec-dl-2019"
    return earmark.read_runs([folder / "runs.tsv"]), earmark.read_judgments(folder / "judgments.tsv", scale=_LEVELS)


@cache
def _mirex() -> Mirex:
    return load_mirex()


def collection_of(
    name: str, number: int, *, depth: int | None = None, systems: int | None = None
) -> tuple[Setting, Floats]:
    """Draw a collection, of so many systems; return it with the true gains of its items.

    By default there are 12 systems, of music 8.
    """
    rng = np.random.default_rng([2026, number])
    if name == "text":
        runs, judgments = _trec()
        some = runs.select(
            systems=draw_some(rng, runs.systems, systems or 12), queries=draw_some(rng, runs.queries, 30)
        )
        setting = Setting(Collection.from_runs(some, depth=depth or 10), _LEVELS)
    elif name == "made-up":
        some, judgments = text_collection(rng, systems=systems or 12, queries=30)
        setting = Setting(Collection.from_runs(some, depth=depth or 10), _LEVELS)
    else:
        mirex = _mirex()
        queries, judgments = mirex.reporting if name == "music" else mirex.development, mirex.judgments
        some = mirex.runs.select(
            systems=draw_some(rng, mirex.runs.systems, systems or 8),
            queries=draw_some(rng, queries, min(30, len(queries))),
        )
        setting = Setting(Collection.from_runs(some, depth=depth or 5, metadata=mirex.metadata), earmark.FINE)
    return setting, np.maximum(item_gains(setting.collection, judgments), 0.0)
