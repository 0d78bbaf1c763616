"""The files that a campaign was made from: copied into its folder, recognised by their hashes, and read.

A campaign runs for weeks, and its answers mean nothing without the files it began with. So files are copied, or named
by their absolute path, and every file has its SHA-256 hash in ``campaign.toml``; one that is missing or was changed is
an error that names the line. The same files, settings and removals always make the same problem.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from earmark.campaign.files import KnownFiles
from earmark.campaign.pairs.campaign import PairProblem
from earmark.campaign.pairs.candidates import make_candidates, make_design, pool_candidates
from earmark.campaign.pairs.policies import parse_pair_policy
from earmark.campaign.policies import Policy, make_policy
from earmark.campaign.policies.variance import Variance
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import parse_stop
from earmark.campaign.verdict import Inference
from earmark.crowd.question_files import read_questions
from earmark.data.content import content_files
from earmark.data.files import require_file, saying_why_not
from earmark.data.outputs import discard, neighbour
from earmark.data.readers import read_runs
from earmark.data.runs import Runs
from earmark.data.scales import parse_scale
from earmark.errors import InputError, ParameterError
from earmark.predictors.choose import PredictorChoice
from earmark.store.removals import NOTHING, Removed
from earmark.store.sections import EXTERNAL, Inputs
from earmark.store.setting_types import InputFile
from earmark.store.settings import NAME, Settings, read_text
from earmark.store.toml_lines import Key, find_line, key_lines

AnyPath = str | os.PathLike[str]

FOLDER = "inputs"
# Nanoseconds after which the time of a file is older than any clock is coarse.
_SETTLED = 2_000_000_000


# ---- files and their hashes ------------------------------------------------------------------------------------------


def add_file(folder: AnyPath, path: AnyPath, *, copy: bool = True) -> InputFile:
    """Take a file into a campaign's folder.

    Parameters
    ----------
    folder : path
        The campaign's.
    path : path
        The file. It is copied as it is, gzipped or not.
    copy : bool
        Copy it to ``inputs/``, with a number added to its name where another file has it already. Else the file stays
        where it is and is named by its absolute path.
    """
    source = require_file(path)
    if not copy:
        return InputFile(source.resolve().as_posix(), hash_file(source))
    home = Path(folder) / FOLDER
    home.mkdir(parents=True, exist_ok=True)
    known = hash_file(source)
    number, target = 1, home / source.name
    while not _place(source, target, known):
        number += 1
        target = home / _numbered(source.name, number)
    return InputFile(f"{FOLDER}/{target.name}", known)


def add_inputs(
    folder: AnyPath, *, runs: list[Path], copy: bool = True, files: Mapping[str, Path | None] | None = None, **how: Any
) -> Inputs:
    """Take all files into a campaign's folder.

    Parameters
    ----------
    folder : path
        The campaign's.
    runs : list of path
    copy : bool
        See :func:`add_file`.
    files : mapping of str to path, optional
        Files by the names of settings: metadata, teams, content, content_ids, model, predictions, candidates, traps,
        consent, questionnaire, training, media_map. The ids of an array's rows are found beside ``content``.
    **how
        Further settings of the section, such as ``order`` and ``encoding``.
    """
    given = {name: path for name, path in (files or {}).items() if path is not None}
    if "content" in given:
        # Copied under other names, the two would not stand beside each other any more.
        found = content_files(given["content"], ids=given.get("content_ids"))
        given |= dict(zip(("content", "content_ids"), found, strict=False))
    for path in (*runs, *given.values()):
        require_file(path)
    taken: dict[str, Any] = {name: add_file(folder, path, copy=copy) for name, path in given.items()}
    return Inputs(runs=tuple(add_file(folder, path, copy=copy) for path in runs), **taken, **how)


def hash_file(path: AnyPath) -> str:
    """Return the SHA-256 hash of a file's bytes; a file is read again only after it was written to."""
    file = require_file(path)
    with saying_why_not(file):
        about = file.stat()
        # A file that was written to just now may be written to again without its times showing it.
        if abs(time.time_ns() - about.st_mtime_ns) < _SETTLED:
            return _hash(str(file))
        return _hash_once(str(file.resolve()), (about.st_size, about.st_mtime_ns, about.st_ctime_ns))


@lru_cache(maxsize=4096)
def _hash_once(path: str, state: tuple[int, ...]) -> str:  # noqa: ARG001 - a file in another state is another file
    return _hash(path)


def _hash(path: str) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _place(source: Path, target: Path, known: str) -> bool:
    """Copy a file to a place that is free or holds the same; never over another file."""
    if target.exists():
        return target.is_file() and hash_file(target) == known
    temporary = neighbour(target)
    try:
        with saying_why_not(source):
            shutil.copyfile(source, temporary)
        if hash_file(temporary) != known:
            raise InputError(expected="a file that stays as it is", got="one that is being written to", path=source)
        try:
            # A link fails where somebody else took the name in the meantime; moving would overwrite.
            target.hardlink_to(temporary)
        except FileExistsError:
            return hash_file(target) == known
        except OSError:
            # Some file systems have no links.
            temporary.replace(target)
        return True
    finally:
        discard(temporary)


def _numbered(name: str, number: int) -> str:
    """Put a number before the ending: ``a.run.gz`` becomes ``a-2.run.gz``."""
    packed = ".gz" if name.lower().endswith(".gz") else ""
    plain = Path(name[: len(name) - len(packed)])
    return f"{plain.stem}-{number}{plain.suffix}{name[len(name) - len(packed) :]}"


def find_file(folder: AnyPath, file: InputFile) -> Path:
    """Return where a file is."""
    return Path(folder) / file.file


def is_inside(file: InputFile) -> bool:
    """Tell whether a file goes with the campaign's folder: its path is relative to it and does not lead out of it."""
    path = PurePosixPath(file.file)
    return not path.is_absolute() and not Path(file.file).is_absolute() and ".." not in path.parts


def fill_hashes(folder: AnyPath, settings: Settings) -> Settings:
    """Return the settings with the hashes that ``campaign.toml`` does not say, as a person added the files."""

    def filled(key: Key, file: InputFile) -> InputFile:
        if file.sha256:
            return file
        return replace(file, sha256=_hash_of(folder, key, file))

    inputs = settings.inputs
    single: dict[str, Any] = {str(key[1]): filled(key, file) for key, file in inputs.files() if len(key) == 2}
    runs = tuple(filled(("inputs", "runs", place), run) for place, run in enumerate(inputs.runs))
    full = replace(inputs, runs=runs, **single)
    return settings if full == inputs else replace(settings, inputs=full)


def check_files(folder: AnyPath, settings: Settings) -> None:
    """Refuse files that are missing or have changed since their hashes were taken.

    Raises
    ------
    InputError
        With the line of ``campaign.toml`` that names the file.
    """
    for key, file in settings.inputs.files():
        found = _hash_of(folder, key, file)
        if file.sha256 and found != file.sha256:
            hint = "bring the old file back"
            if key[1] != "runs":
                hint += ", or delete its sha256 from this entry: the new one is then taken, and recorded as a change"
            raise _file_error(
                folder,
                key,
                expected=f"'{file.file}' as it was, with the hash {file.sha256[:12]}…",
                got=f"{found[:12]}…: the file has changed",
                hint=hint,
            )


def _hash_of(folder: AnyPath, key: Key, file: InputFile) -> str:
    try:
        return hash_file(find_file(folder, file))
    except InputError as error:
        hint = "bring it back, or correct the path: it is relative to the campaign's folder, or absolute"
        raise _file_error(folder, key, expected=f"the file '{file.file}'", got=error.got, hint=hint) from None


def _file_error(folder: AnyPath, key: Key, *, expected: str, got: str, hint: str | None = None) -> InputError:
    path, line = Path(folder) / NAME, None
    # Settings may be checked before they are written.
    if path.is_file():
        line = find_line(key_lines(read_text(path)), key)
    return InputError(expected=expected, got=got, path=path, line=line, hint=hint)


# ---- from files to problems ------------------------------------------------------------------------------------------


def read_lists(folder: AnyPath, settings: Settings, removed: Removed = NOTHING) -> Runs:
    """Read the runs, without what was removed; files are checked first."""
    check_files(folder, settings)
    inputs = settings.inputs
    paths = [find_file(folder, run) for run in inputs.runs]
    runs = read_runs(paths, order=inputs.order, encoding=inputs.encoding)
    # Systems that nothing else tells apart are called by the path of their file, which a folder that moves changes.
    names = [_portable(name, paths, inputs.runs) for name in runs.systems]
    try:
        return removed.from_runs(runs.renamed(names))
    except ParameterError as error:
        raise InputError(expected="some results", got=str(error), path=Path(folder) / NAME) from None


def _portable(system: str, paths: list[Path], runs: tuple[InputFile, ...]) -> str:
    for path, run in zip(paths, runs, strict=True):
        if system == str(path) or system.startswith(f"{path}:"):
            return run.file + system.removeprefix(str(path))
    return system


def added_systems(folder: AnyPath, before: Settings, after: Settings) -> dict[str, tuple[str, ...]]:
    """Return the systems in every run file that was added.

    Raises
    ------
    InputError
        If the systems of a new run make earlier systems change their names, or are there already.
    """
    earlier = read_lists(folder, before).systems
    found: dict[str, tuple[str, ...]] = {}
    for place in range(len(before.inputs.runs), len(after.inputs.runs)):
        run = after.inputs.runs[place]
        some = replace(after, inputs=replace(after.inputs, runs=after.inputs.runs[: place + 1]))
        systems = read_lists(folder, some).systems
        if systems[: len(earlier)] != earlier:
            taken = next((name for name in earlier if name not in systems), earlier[0])
            raise _file_error(
                folder,
                ("inputs", "runs", place),
                expected="systems that are not in the campaign yet",
                got=f"another system '{taken}' in '{run.file}'",
                hint="give the system another name in its file",
            )
        found[run.file], earlier = systems[len(earlier) :], systems
    return found


def build_problem(folder: AnyPath, settings: Settings, removed: Removed = NOTHING) -> Problem:
    """Build the problem of a campaign of kind grade.

    Parameters
    ----------
    folder : path
        The campaign's.
    settings : Settings
    removed : Removed
        What left the collection since.

    Raises
    ------
    InputError
        If a file is missing, changed or unreadable, if settings do not fit the files, or if the predictor is of another
        version than the campaign's.
    """
    _require_kind(settings, "grade")
    inputs, how = settings.inputs, settings.estimates
    runs = read_lists(folder, settings, removed)

    def path_of(file: InputFile | None) -> Path | None:
        return None if file is None else find_file(folder, file)

    predictor = f"{EXTERNAL}:{path_of(inputs.predictions)}" if how.predictor == EXTERNAL else how.predictor
    known = KnownFiles(
        path_of(inputs.metadata),
        path_of(inputs.teams),
        inputs.artist,
        inputs.genre,
        inputs.attributes,
        inputs.encoding,
        path_of(inputs.content),
        path_of(inputs.content_ids),
    )
    try:
        problem = Problem.build(
            runs,
            measure=how.measure,
            scale=parse_scale(str(settings.judging.scale)),
            predictor=PredictorChoice(predictor, path_of(inputs.model), inputs.encoding),
            policy=_policy(settings),
            stop=how.stop,
            margin=how.margin,
            inference=Inference(how.inference, how.target, how.anytime, how.whole_queries, how.level),
            audit=how.audit,
            missing=inputs.missing,
            seed=how.seed,
            aggregation=how.aggregation,
            samples=how.samples,
            **known.read(),
        )
    except InputError as error:
        about = known.content if "content" in error.expected else known.metadata
        path = error.path or about
        raise InputError(expected=error.expected, got=error.got, path=path, line=error.line, hint=error.hint) from None
    except ParameterError as error:
        raise InputError(
            expected="settings and files that fit each other", got=str(error), path=Path(folder) / NAME
        ) from None
    _require_version(folder, how.predictor_version, problem.predictor_version)
    return problem


def build_pair_problem(folder: AnyPath, settings: Settings, removed: Removed = NOTHING) -> PairProblem:
    """Build the problem of a campaign of kind prefer; see :func:`build_problem`.

    Candidates are the pairs of the file that ``inputs.candidates`` names or else every two documents among the first
    ``estimates.depth`` of any lists for the same query, without those of which a document was removed.
    """
    _require_kind(settings, "prefer")
    how = settings.estimates
    runs = read_lists(folder, settings, removed)
    if settings.inputs.candidates is None:
        pairs = pool_candidates(runs, k=how.depth)
    else:
        table = read_questions(find_file(folder, settings.inputs.candidates), encoding=settings.inputs.encoding)
        rows = table.select("query", "a", "b").iter_rows()
        pairs = [(query, a, b) for query, a, b in rows if not removed.has(query, a, b)]
    return PairProblem(
        make_design(runs, make_candidates(pairs), k=how.depth),
        settings.judging.judgments_per_item,
        parse_pair_policy(how.policy or "adaptive"),
        parse_stop(how.stop, margin=how.margin),
        level=how.level,
        seed=how.seed,
    )


def _require_kind(settings: Settings, kind: str) -> None:
    if settings.kind != kind:
        raise ParameterError(f"this takes a campaign of kind {kind}, and '{settings.name}' is of kind {settings.kind}")


def _policy(settings: Settings) -> Policy | None:
    """Return the policy; where questions come query by query, one that proposes them so."""
    how = settings.estimates
    policy = None if how.policy is None else make_policy(how.policy)
    if not settings.judging.group_by_query:
        return policy
    if policy is None and (how.inference == "model" or how.audit):
        return Variance(group_by_query=True)
    return replace(policy, group_by_query=True) if isinstance(policy, Variance) else policy


def _require_version(folder: AnyPath, pinned: str | None, found: str) -> None:
    """Refuse another version of the predictor than the campaign's."""
    # The values of external predictions are those of the collection's items, which may change; the file was checked.
    if pinned is None or pinned.partition(", values ")[0] == found.partition(", values ")[0]:
        return
    raise _file_error(
        folder,
        ("estimates", "predictor_version"),
        expected=f"the predictor that the campaign was started with, '{pinned}'",
        got=f"'{found}'",
        hint=f"install the version of earmark that the campaign was started with, or write predictor_version = "
        f'"{found}" here: the change is recorded',
    )
