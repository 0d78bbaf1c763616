"""All that a campaign may ask, from the files and settings of its folder: its questions, and its traps."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from earmark.store import kinds
from earmark.store.inputs import build_pair_problem, build_problem, find_file, read_lists
from earmark.store.removals import Removed
from earmark.store.rules import Rules
from earmark.store.settings import Settings
from earmark.store.sounds import playable_queries, same_sounds
from earmark.store.store import Change
from earmark.store.traps import Trap, known_traps, self_traps


def all_questions(folder: Path, settings: Settings, removed: Removed) -> pl.DataFrame:
    """Return all questions, in the order in which they are asked where nothing is proposed."""
    kind, how = settings.kind, settings.estimates
    if kind == "grade":
        return _with_twins(kinds.grade_questions(build_problem(folder, settings, removed)), folder)
    if kind == "prefer":
        return kinds.pair_questions(build_pair_problem(folder, settings, removed))
    runs = read_lists(folder, settings, removed)
    if kind == "order":
        return kinds.order_questions(runs, seed=how.seed)
    return kinds.list_questions(runs, depth=how.depth, seed=how.seed)


def _with_twins(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """Name the document that sounds the same, where the media tell, so that one of the two is asked."""
    twins = same_sounds(folder)
    if not twins:
        return frame
    first = {document: group[0] for group in twins for document in group}
    sound = pl.col("document").replace(first)
    leader = pl.col("document").first().over("query", sound)
    return frame.with_columns(same_as=pl.when(leader != pl.col("document")).then(leader))


def all_traps(change: Change, folder: Path, settings: Settings, rules: Rules) -> list[Trap]:
    """Return the traps that are known before anybody answers."""
    found: list[Trap] = []
    if "list" in settings.traps.sources and settings.inputs.traps is not None:
        path = find_file(folder, settings.inputs.traps)
        found += known_traps(path, rules, encoding=settings.inputs.encoding)
    if "self" in settings.traps.sources and (queries := playable_queries(folder)):
        found += self_traps(change, rules, queries)
    return found
