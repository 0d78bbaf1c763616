"""The folder of a campaign in the place of run files.

The folder is a source of defaults: an option that was not given has the value of the campaign's setting
(:func:`option_defaults`). Runs come from the folder without what was removed, and answers from its store. Options that
were given change what a command looks at and nothing in the campaign (:mod:`earmark.cli.folder_views`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.errors import InputError, ParameterError, StoreError

if TYPE_CHECKING:
    from earmark.cli.output import Output
    from earmark.data.judgments import Judgments
    from earmark.data.preferences import Preferences
    from earmark.data.runs import Runs
    from earmark.store.folder import CampaignFolder
    from earmark.store.settings import Settings

SETTINGS_FILE = "campaign.toml"
# What a folder has itself, and what cannot differ even for a look.
_OWN = {
    "judgments": "'earmark import {} FILE' brings answers in",
    "preferences": "'earmark import {} FILE' brings answers in",
    "phase": "they have no phases",
    "repeated": "the last answer of an assessor to a question counts",
}
_FIXED = {
    "scale": "judging.scale",
    "order": "inputs.order",
    "encoding": "inputs.encoding",
    "candidates": "inputs.candidates",
    "needed": "judging.judgments_per_item",
}
_OF_GRADES = (
    *("measure", "missing", "predictor", "model", "inference", "target", "anytime", "whole_queries", "audit"),
    *("samples", "metadata", "teams", "content", "content_ids", "artist_column", "genre_column", "attribute"),
    *("aggregate", "group_by_query", "distribution", "normalised"),
)
_FILES = ("metadata", "teams", "content", "content_ids", "model")

_open: dict[Path, CampaignFolder] = {}


# ---- the command line ------------------------------------------------------------------------------------------------


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is the folder of a campaign."""
    return (Path(path) / SETTINGS_FILE).is_file()


def folder_of(runs: Sequence[str | os.PathLike[str]] | None) -> Path | None:
    """Return the folder that stands in the place of run files; None where they are files.

    Raises
    ------
    InputError, ParameterError
        If there is a folder without a campaign, or a folder and something else.
    """
    paths = [Path(run) for run in runs or ()]
    for path in paths:
        if path.is_dir() and not is_folder(path) and next(path.rglob("*.parquet"), None) is None:
            raise InputError(
                expected="runs, or the folder of a campaign",
                got=f"a folder without {SETTINGS_FILE}",
                path=path,
                hint="'earmark init' makes a campaign; name the files in the folder to read them as runs",
            )
        if path.name == SETTINGS_FILE and path.is_file():
            raise InputError(
                expected="the folder of a campaign", got=f"its {SETTINGS_FILE}", path=path, hint=f"name {path.parent}"
            )
    found = [path for path in paths if is_folder(path)]
    if len(found) > 1:
        raise ParameterError(f"one campaign at a time, got {', '.join(map(str, found))}")
    if found and len(paths) > 1:
        raise ParameterError(
            f"{found[0]} is a campaign and has its runs: leave the other files out; runs that come late are added to "
            f"inputs.runs in {found[0] / SETTINGS_FILE}"
        )
    return found[0] if found else None


def option_defaults(path: Path, given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of options that were not given, as the settings of a campaign have them.

    Parameters
    ----------
    path : path
        The folder.
    given : mapping of str to any
        What was given on the command line, by the names of parameters.
    options : mapping of str to parameter
        The parameters that the command has.

    Raises
    ------
    ParameterError
        If something was given that the campaign has itself.
    """
    settings = read_settings(path)
    inputs, how = settings.inputs, settings.estimates
    for name, hint in _OWN.items():
        if given.get(name):
            raise ParameterError(f"--{name}: the answers are those of the campaign {path}; {hint.format(path)}")
    if settings.kind != "grade" and "predictor" in options:
        other = next((name for name in _OF_GRADES if given.get(name)), None)
        if other is not None:
            raise ParameterError(f"--{other.replace('_', '-')} is not an option of a campaign of kind {settings.kind}")
    values: dict[str, Any] = {
        "judgments": [str(path)],
        "scale": settings.judging.scale,
        "order": inputs.order,
        "encoding": inputs.encoding,
        "missing": inputs.missing,
        "artist_column": inputs.artist,
        "genre_column": inputs.genre,
        "attribute": list(inputs.attributes) or None,
        "aggregate": how.aggregation,
        "measure": None if how.measure is None else [how.measure],
        "candidates": _path(path, inputs.candidates),
        "needed": settings.judging.judgments_per_item,
        "k": how.depth,
        "group_by_query": settings.judging.group_by_query,
        "seconds": settings.recruiting.seconds_per_answer,
        "cost": _reward_per_answer(settings) or None,
        **{name: _path(path, getattr(inputs, name)) for name in _FILES},
    }
    plain = ("policy", "stop", "margin", "inference", "target", "anytime", "whole_queries", "audit", "level")
    values |= {name: getattr(how, name) for name in (*plain, "samples", "seed")}
    if "model" in options:
        values["predictor"] = _predictor(path, settings)
    preferences = options.get("preferences")
    if preferences is not None:
        values["preferences"] = [str(path)] if preferences.multiple else str(path)
    if getattr(options.get("audit"), "is_flag", False):
        # Whether to compare with the sample, not how large it is.
        del values["audit"]
    if "candidates" not in options:
        # A simulation takes as many answers as were recorded.
        del values["needed"]
    if given.get("cliques") or given.get("groups"):
        # Another truth than the answers.
        del values["judgments"], values["scale"]
    if given.get("goal"):
        # Another question than that of the campaign.
        del values["stop"], values["margin"]
    for name, setting in _FIXED.items():
        # What was taken out above is not that of the campaign.
        if name in values and given.get(name) is not None and str(given[name]) != str(values[name]):
            raise ParameterError(_cannot_change(settings, name, setting))
    return {name: value for name, value in values.items() if name in options and value is not None}


def _reward_per_answer(settings: Settings) -> float:
    return settings.recruiting.reward / settings.recruiting.answers_per_assignment


def pays_by_assignment(settings: Settings, cost: float) -> bool:
    """Tell whether the cost of an answer is that of the settings, which pay for whole assignments."""
    return settings.recruiting.reward > 0 and cost == _reward_per_answer(settings)


def _cannot_change(settings: Settings, name: str, setting: str) -> str:
    from earmark.store.settings import FROZEN

    option = {"needed": "answers"}.get(name, name)
    why = FROZEN.get(setting, FROZEN["judging.scale"])
    now = settings.get(setting)
    shown = "nothing" if now is None else getattr(now, "file", now)
    return f"--{option}: the campaign has {shown} as {setting}, which cannot change: {why}"


def _path(folder: Path, file: Any) -> str | None:
    return None if file is None else str(folder / file.file)


def _predictor(folder: Path, settings: Settings) -> str:
    external = settings.inputs.predictions
    name = settings.estimates.predictor
    return f"{name}:{_path(folder, external)}" if external is not None and name == "external" else name


# ---- open folders ----------------------------------------------------------------------------------------------------


def read_settings(path: Path) -> Settings:
    """Read the settings of a campaign, and nothing else."""
    if path in _open:
        return _open[path].settings
    from earmark.store.settings import Settings

    return Settings.read(path / SETTINGS_FILE)


def open_folder(path: Path, out: Output | None = None) -> CampaignFolder:
    """Open a campaign, once for a command; where it cannot be written, to read it only."""
    if path in _open:
        return _open[path]
    from earmark.store.folder import CampaignFolder

    try:
        folder = CampaignFolder.open(path)
        said = [f"recorded: {one}" for one in folder.recorded]
    except (StoreError, PermissionError) as error:
        if not any(words in str(error).lower() for words in ("cannot be written", "cannot be opened", "denied")):
            raise
        try:
            folder = CampaignFolder.open(path, read_only=True)
        except StoreError:
            raise error from None
        said = [f"{path} cannot be written: it is read as it is, and changed settings are not recorded"]
    _open[path] = folder
    if out is not None:
        for note in said:
            out.note(note)
    return folder


def close_folders() -> None:
    """Close what the command opened."""
    while _open:
        _open.popitem()[1].close()


def folder_runs(path: Path) -> Runs:
    """Read the runs of a campaign, without what was removed."""
    folder = open_folder(path)
    return folder.runs(folder.removed())


def folder_judgments(path: Path, out: Output | None = None) -> Judgments | None:
    """Return the judgments of a campaign of kind grade; None where there are none yet."""
    from earmark.store.stored import UNREAD

    folder = open_folder(path, out)
    require_kind(folder, "grade")
    return folder.store.log(without=UNREAD).judgments(folder.rules.scale)


def require_judgments(path: Path, out: Output | None = None) -> Judgments:
    """Return the judgments of a campaign of kind grade.

    Raises
    ------
    InputError
        If there are none yet.
    """
    found = folder_judgments(path, out)
    if found is None:
        raise InputError(expected="judgments", got="a campaign without answers so far", path=path)
    return found


def folder_preferences(path: Path) -> Preferences:
    """Return the answers of a campaign of kind prefer.

    Raises
    ------
    InputError
        If there are none yet.
    """
    from earmark.store.kinds import preferences_of
    from earmark.store.stored import UNREAD

    folder = open_folder(path)
    require_kind(folder, "prefer")
    found = preferences_of(folder.store.log(without=UNREAD))
    if found is None:
        raise InputError(expected="preferences", got="a campaign without answers so far", path=path)
    return found


def kind_of(runs: Sequence[Path]) -> str | None:
    """Return what the campaign asks whose folder stands in the place of runs; None where they are files."""
    path = folder_of(runs)
    return None if path is None else read_settings(path).kind


def require_kind(folder: CampaignFolder, kind: str) -> None:
    """Refuse a campaign that asks something else.

    Raises
    ------
    ParameterError
        Saying what to do instead.
    """
    found = folder.settings.kind
    if found == kind:
        return
    instead = {
        "prefer": "'earmark rank', 'report', 'next', 'plan' and 'preferences' take it",
        "grade": "'earmark rank', 'report', 'next', 'plan' and 'evaluate' take it",
        "order": "'earmark rank', 'report', 'plan', 'status' and 'export --what rankings' take it",
        "lists": "'earmark rank', 'report', 'plan', 'status' and 'export' take it",
    }[found]
    raise ParameterError(f"{folder.path} is a campaign of kind {found}, and this command takes kind {kind}; {instead}")
