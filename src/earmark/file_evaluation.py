"""Evaluation from files: lists are scored while runs are read, so runs need not fit in memory.

Small files that fit in memory together are read and scored at once. A larger run that is sorted by query, as nearly all
are, is read in pieces of whole lists; a piece is scored and forgotten. If a list turns up in a second piece the run is
not sorted. Its rows are then distributed by a hash of the query over parts, in memory where they fit and else on disk,
and the parts are scored. The scores are those of
:func:`~earmark.evaluation.evaluate`, to the bit.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from earmark.data.ground_truth import Cliques, GroundTruth
from earmark.data.judgments import Aggregation, Judgments, refuse_other_collection, require_retrieved
from earmark.data.limits import available_memory
from earmark.data.readers import distinct_names, read_runs, refuse_judgments
from earmark.data.run_columns import RunColumns
from earmark.data.run_files import RunSource, check_columns, open_run
from earmark.data.run_parts import PartsInMemory, PartsOnDisk, RunParts
from earmark.data.runs import BadRow, Order, check_order, sort_ids
from earmark.data.text_blocks import in_threads
from earmark.data.units import work_units
from earmark.errors import InputError
from earmark.evaluation import (
    Known,
    Missing,
    Scores,
    check_truth,
    evaluate,
    gather_scores,
    ground_truth,
    not_asked,
    wanted_measures,
)
from earmark.list_scores import ListScores, score_lists
from earmark.measures import Measure

AnyPath = str | os.PathLike[str]
# How many times the bytes of a file may be needed in memory for a moment.
_ROOM = 4
# Files of fewer bytes are faster scored together: what is done once for every file costs more than their lists.
_SMALL_FILE = 2 * 2**20


@dataclass(frozen=True)
class Limits:
    """How much memory may be used, and whom to tell what happens.

    Parameters
    ----------
    memory : int, optional
        Bytes; what is available where it is not given.
    say : callable, optional
        Called with a sentence when a run goes to disk.
    progress : callable, optional
        Called with the number of bytes of run files that are done.
    folder : path, optional
        Where files on disk are made; the system's folder for temporary files where it is not given.
    """

    memory: int | None = None
    say: Callable[[str], None] = field(default=lambda _: None)
    progress: Callable[[int], None] = field(default=lambda _: None)
    folder: AnyPath | None = None

    @property
    def bytes(self) -> int:
        """How many bytes of memory may be used."""
        return available_memory() if self.memory is None else self.memory


@dataclass(frozen=True, eq=False)
class _Scorer:
    """Scores pieces of runs; what threads share."""

    truth: GroundTruth
    measures: Sequence[Measure]
    collection_size: int | None
    order: Order
    judgments: bool

    def score(self, columns: RunColumns) -> ListScores | BadRow:
        """Score the lists of some rows, or return what is wrong with them."""
        try:
            runs = columns.build(self.order)
        except BadRow as bad:
            return bad
        size = self.collection_size
        return score_lists(runs, self.truth, self.measures, collection_size=size, judgments=self.judgments)


def _are_small(files: Sequence[Path], limits: Limits) -> bool:
    """Tell whether none of some files is large, and all of them fit in memory together."""
    sizes = [path.stat().st_size if path.is_file() else _SMALL_FILE for path in files]
    return max(sizes) < _SMALL_FILE and sum(sizes) * _ROOM < limits.bytes


def evaluate_files(
    paths: AnyPath | Iterable[AnyPath],
    known: Known,
    measures: Iterable[str | Measure],
    *,
    order: Order = "score",
    encoding: str = "utf-8",
    missing: Missing = "zero",
    aggregation: Aggregation = "mean",
    collection_size: int | None = None,
    limits: Limits | None = None,
) -> Scores:
    """Score every system of run files for every query, without holding the runs in memory.

    Parameters
    ----------
    paths : path or paths
        As for :func:`~earmark.data.readers.read_runs`.
    known, measures, missing, aggregation, collection_size
        As for :func:`~earmark.evaluation.evaluate`.
    order, encoding
        As for :func:`~earmark.data.readers.read_runs`.
    limits : Limits, optional
        How much memory may be used.

    Returns
    -------
    Scores
        What :func:`~earmark.evaluation.evaluate` returns for these runs.

    Raises
    ------
    InputError
        Naming the file and the place of what is wrong.
    """
    check_order(order)
    limits = limits or Limits()
    wanted = wanted_measures(measures, missing)
    given = [Path(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else list(paths))]
    if not given:
        raise InputError(expected="one run or more", got="none")
    if any(measure.needs_pool for measure in wanted) or _are_small(given, limits):
        # Some measures have to see the lists of all systems together; many small files are faster scored at once.
        how: dict[str, Any] = {"missing": missing, "aggregation": aggregation, "collection_size": collection_size}
        runs = read_runs(given, order=order, encoding=encoding)
        scores = evaluate(runs, known, wanted, **how)
        if isinstance(known, Judgments) and not scores.judged_results[None][0]:
            require_retrieved(known, runs, None)
        return scores
    sources = [open_run(path, order=order, encoding=encoding) for path in given]
    asked = _queries(sources) if isinstance(known, Cliques) else None
    truth = ground_truth(known, aggregation=aggregation, asked=asked)
    check_truth(truth, wanted)
    scorer = _Scorer(truth, wanted, collection_size, order, isinstance(known, Judgments))
    files = _score_sorted(sources, scorer, limits)
    for place, source in enumerate(sources):
        if files[place].is_scattered:
            files[place] = _File(*_score_scattered(source, scorer, limits))
    if len(files) > 1:
        refuse_judgments(files, given)
    names = distinct_names([file.systems for file in files], given)
    parts, of_parts = [], []
    for file, renamed in zip(files, names, strict=True):
        called = dict(zip(file.systems, renamed, strict=True))
        parts += file.parts
        of_parts += [tuple(called[name] for name in part.systems) for part in file.parts]
    if isinstance(known, Judgments) and not any(part.hits for part in parts):
        asked = sort_ids({name for part in parts for name in part.queries})
        refuse_other_collection(known, asked, next((one.first_document for one in parts), None))
    return gather_scores(
        parts,
        of_parts,
        truth,
        wanted,
        systems=[name for of_file in names for name in of_file],
        missing=missing,
        collection_size=collection_size,
        not_asked=not_asked(known, truth),
        units=work_units(known) if isinstance(known, Cliques) else None,
    )


def _queries(sources: Sequence[RunSource]) -> tuple[str, ...]:
    """Read which queries runs answer."""
    found: set[str] = set()
    for source in sources:
        for columns in in_threads(source.read, source.pieces()):
            found.update(columns.query.ids.unique())
    return sort_ids(found)


@dataclass
class _File:
    """What is known so far about the lists of one run."""

    parts: list[ListScores] = field(default_factory=list)
    order: tuple[str, ...] = ()
    rows: int = 0
    is_scattered: bool = False

    def __post_init__(self) -> None:
        self._seen: set[tuple[str, int | str]] = set()

    @property
    def systems(self) -> tuple[str, ...]:
        return self.order or tuple(dict.fromkeys(name for part in self.parts for name in part.systems))

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.queries))

    def add(self, part: ListScores) -> None:
        """Take in the lists of a piece; a list that is there already shows that the run is not sorted."""
        names = part.systems
        lists = {
            (names[system], query) for system, query in zip(part.system.tolist(), part.query.tolist(), strict=True)
        }
        lists |= {(names[system], query) for system, query in part.unknown}
        if lists & self._seen:
            self.is_scattered = True
            self.parts.clear()
            return
        self._seen |= lists
        self.parts.append(part)


def _score_sorted(sources: Sequence[RunSource], scorer: _Scorer, limits: Limits) -> list[_File]:
    """Score runs piece by piece, all pieces of all runs in one line; stop with a run that is not sorted."""
    files = [_File() for _ in sources]

    def pieces() -> Iterator[tuple[int, Any, bool]]:
        for place, source in enumerate(sources):
            for number, (piece, is_last) in enumerate(_with_end(source.pieces()), start=1):
                if files[place].is_scattered:
                    break
                yield place, piece, number == 1 and is_last

    def score(item: tuple[int, Any, bool]) -> tuple[int, int, int, ListScores | BadRow | None]:
        place, piece, is_whole = item
        size = len(piece) if isinstance(piece, bytes) else 0
        columns = sources[place].read(piece)
        if not columns.rows:
            # A block of comments and blank lines: other blocks may have rows.
            return place, size, 0, None
        check_columns(columns, sources[place], scorer.order)
        if not is_whole and columns.is_scattered:
            return place, size, columns.rows, None
        return place, size, columns.rows, scorer.score(columns)

    left = [source.size for source in sources]
    for place, size, rows, scored in in_threads(score, pieces()):
        # A packed file has more bytes than it says; a run that is not sorted is left before its end.
        done = sum(left[:place]) + min(size, left[place])
        left[: place + 1] = [0] * place + [left[place] - min(size, left[place])]
        limits.progress(done)
        file = files[place]
        if file.is_scattered or not rows:
            continue
        if scored is None:
            file.is_scattered = True
            file.parts.clear()
        elif isinstance(scored, BadRow):
            raise sources[place].error(file.rows + scored.row, expected=scored.expected, got=scored.got)
        else:
            file.add(scored)
        file.rows += rows
    for file, source in zip(files, sources, strict=True):
        if not file.rows:
            raise InputError(expected="lines of results", got="an empty file", path=source.path)
    limits.progress(sum(left))
    return files


def _with_end(pieces: Iterator[Any]) -> Iterator[tuple[Any, bool]]:
    """Tell of every piece whether it is the last."""
    missing = object()
    piece = next(pieces, missing)
    while piece is not missing:
        after = next(pieces, missing)
        yield piece, after is missing
        piece = after


def _score_scattered(source: RunSource, scorer: _Scorer, limits: Limits) -> tuple[list[ListScores], tuple[str, ...]]:
    """Score a run whose lists are not together, in memory where it allows that; return its systems in order, too."""
    room = max(1, limits.bytes // _ROOM)
    if source.memory <= room:
        return _score_parts(PartsInMemory(source), source, scorer)
    count = source.memory // room + 1
    limits.say(
        f"{source.path} is not sorted by query and would take about {source.memory / 1e9:.1f} GB of the "
        f"{limits.bytes / 1e9:.1f} GB of memory: its rows go to disk, in {count:,} parts by query"
    )
    with tempfile.TemporaryDirectory(prefix="earmark-", dir=limits.folder) as folder:
        return _score_parts(PartsOnDisk(source, Path(folder), count), source, scorer)


def _score_parts(parts: RunParts, source: RunSource, scorer: _Scorer) -> tuple[list[ListScores], tuple[str, ...]]:
    def score(piece: Any) -> tuple[int, ListScores | BadRow]:
        part = parts.read(piece)
        scored = scorer.score(part.columns)
        return int(part.row[scored.row]) if isinstance(scored, BadRow) else -1, scored

    found: list[ListScores] = []
    wrong: list[tuple[int, BadRow]] = []
    for row, scored in in_threads(score, parts.pieces(), workers=parts.workers):
        if isinstance(scored, BadRow):
            wrong.append((row, scored))
        else:
            found.append(scored)
    if wrong:
        # The first of the run is named, as if it were read at once.
        row, bad = min(wrong, key=lambda one: one[0])
        raise source.error(row, expected=bad.expected, got=bad.got)
    return found, parts.systems
