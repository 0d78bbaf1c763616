"""The folder of a campaign in the place of run files.

The folder is a source of defaults: an option that was not given has the value of the campaign's setting
(:func:`option_defaults`). Runs come from the folder without what was removed, and answers from its store. Options that
were given change what a command looks at and nothing in the campaign (:func:`load_stored`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.errors import InputError, ParameterError, StoreError

if TYPE_CHECKING:
    from earmark.cli.output import Output
    from earmark.data.judgments import Judgments
    from earmark.data.log import AnswerLog
    from earmark.data.preferences import Preferences
    from earmark.data.runs import Runs
    from earmark.store.folder import CampaignFolder
    from earmark.store.settings import Settings
    from earmark.store.stored import StoredCampaign, StoredListCampaign, StoredOrderCampaign, StoredPairCampaign

_SETTINGS = "campaign.toml"
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
# The names of options whose settings have others.
_SPELT = {"aggregation": "aggregate", "artist": "artist-column", "genre": "genre-column", "attributes": "attribute"}
_OF_THE_SAMPLE = ("estimates.measure", "estimates.seed", "estimates.whole_queries", "inputs.missing")
_OF_GRADES = (
    *("measure", "missing", "predictor", "model", "inference", "target", "anytime", "whole_queries", "audit"),
    *("samples", "metadata", "teams", "content", "content_ids", "artist_column", "genre_column", "attribute"),
    *("aggregate", "group_by_query", "distribution"),
)
_FILES = ("metadata", "teams", "content", "content_ids", "model")

_open: dict[Path, CampaignFolder] = {}


# ---- the command line ------------------------------------------------------------------------------------------------


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is the folder of a campaign."""
    return (Path(path) / _SETTINGS).is_file()


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
                got=f"a folder without {_SETTINGS}",
                path=path,
                hint="'earmark init' makes a campaign; name the files in the folder to read them as runs",
            )
        if path.name == _SETTINGS and path.is_file():
            raise InputError(
                expected="the folder of a campaign", got=f"its {_SETTINGS}", path=path, hint=f"name {path.parent}"
            )
    found = [path for path in paths if is_folder(path)]
    if len(found) > 1:
        raise ParameterError(f"one campaign at a time, got {', '.join(map(str, found))}")
    if found and len(paths) > 1:
        raise ParameterError(
            f"{found[0]} is a campaign and has its runs: leave the other files out; runs that come late are added to "
            f"inputs.runs in {found[0] / _SETTINGS}"
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

    return Settings.read(path / _SETTINGS)


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


# ---- the campaign, as it is or looked at in another way --------------------------------------------------------------


def load_stored(
    out: Output,
    path: Path,
    wanted: Mapping[str, Any],
    *,
    as_it_is: bool = False,
    distribution: str = "normal",
    update_every: int = 1,
) -> StoredCampaign:
    """Return the campaign of kind grade in a folder, with other settings where they were asked for.

    Parameters
    ----------
    out : Output
    path : path
    wanted : mapping of str to any
        What the options say, by the names of settings; files as paths.
    as_it_is : bool
        Refuse other settings.
    distribution : {"normal", "t"}
        Of differences.
    update_every : int
        How many judgments a simulated campaign learns from at a time.

    Raises
    ------
    ParameterError
        If a guarantee is asked for that the campaign's sample cannot give, or settings have to stay as they are.
    """
    from earmark.store.inputs import build_problem
    from earmark.store.removals import removed_by
    from earmark.store.stored import UNREAD, StoredCampaign

    folder = open_folder(path, out)
    require_kind(folder, "grade")
    settings = _view(out, folder, wanted, as_it_is=as_it_is)
    log = folder.store.log(without=UNREAD)
    problem = build_problem(path, settings, removed_by(log))
    if distribution != "normal":
        problem = replace(problem, inference=replace(problem.inference, distribution=distribution))  # type: ignore[arg-type]
    if update_every != 1:
        problem = replace(problem, update_every=update_every)
    if any(one in _OF_THE_SAMPLE for one in changed_settings(folder.settings, settings)):
        # The marks are those of another sample.
        log = _unmarked(log)
    return StoredCampaign(problem, log, folder=folder)


def changed_settings(before: Settings, after: Settings) -> list[str]:
    """Return the names of settings that differ."""
    from earmark.store.settings import Settings

    return [one.setting for one in Settings.differences(before, after)]


def _view(out: Output, folder: CampaignFolder, wanted: Mapping[str, Any], *, as_it_is: bool = False) -> Settings:
    """Return the settings with what the options say, and say how they differ."""
    from earmark.store.settings import InputFile, Settings

    settings = folder.settings
    changes: dict[str, Any] = {}
    for setting, value in wanted.items():
        now = settings.get(setting)
        if isinstance(value, Path):
            value = now if now is not None and value == folder.path / now.file else InputFile(str(value.resolve()), "")
        changes[setting] = now if _means_the_same(setting, now, value) else value
    new = settings.changed(**changes)
    differences = Settings.differences(settings, new)
    if not differences:
        return settings
    shown = [f"--{_option(one.setting)} {_said(one.after)} (the campaign: {_said(one.before)})" for one in differences]
    if as_it_is:
        raise ParameterError(
            f"{shown[0]}: questions are reserved as the campaign asks them; leave the option out, or change "
            f"{differences[0].setting} in {folder.path / _SETTINGS}"
        )
    sampling = [one for one in differences if one.setting in _OF_THE_SAMPLE]
    if sampling and new.estimates.inference == "design":
        raise ParameterError(
            f"--{_option(sampling[0].setting)} {_said(sampling[0].after)}: the sample of this campaign was drawn for "
            f"{_said(sampling[0].before)}, so nothing is guaranteed about it; look at it with --inference model"
        )
    out.note(f"these results are for other settings, the campaign is not changed: {', '.join(shown)}")
    if any(one.setting in ("estimates.predictor", "inputs.model") for one in differences):
        new = new.changed(**{"estimates.predictor_version": None})
    return new


def _means_the_same(setting: str, one: Any, other: Any) -> bool:
    """Tell whether two spellings name the same measure or the same stop rule."""
    from earmark.campaign.stopping import parse_stop
    from earmark.measures import parse

    readers: dict[str, Callable[[str], object]] = {"estimates.measure": parse, "estimates.stop": parse_stop}
    read = readers.get(setting)
    return read is not None and one is not None and other is not None and str(read(one)) == str(read(other))


def _option(setting: str) -> str:
    name = setting.partition(".")[2]
    return _SPELT.get(name, name).replace("_", "-")


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(value["file"])
    if isinstance(value, list):
        return ", ".join(map(_said, value)) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _unmarked(log: AnswerLog) -> AnswerLog:
    import polars as pl

    return replace(log, chunks=tuple(chunk.with_columns(sampled=pl.lit(False)) for chunk in log.chunks))


def load_stored_pairs(
    out: Output, path: Path, wanted: Mapping[str, Any], *, as_it_is: bool = False
) -> StoredPairCampaign:
    """Return the campaign of kind prefer in a folder, with other settings where they were asked for."""
    from earmark.store.inputs import build_pair_problem
    from earmark.store.removals import removed_by
    from earmark.store.stored import StoredPairCampaign

    folder = open_folder(path, out)
    require_kind(folder, "prefer")
    said = dict(wanted)
    if folder.settings.estimates.policy is None and said.get("estimates.policy") == "adaptive":
        del said["estimates.policy"]
    settings = _view(out, folder, said, as_it_is=as_it_is)
    campaign = StoredPairCampaign.read(folder)
    if settings is folder.settings:
        return campaign
    return StoredPairCampaign._of(folder, build_pair_problem(path, settings, removed_by(campaign.log)), campaign.log)


def load_stored_orders(out: Output, path: Path, wanted: Mapping[str, Any]) -> StoredOrderCampaign:
    """Return the campaign of kind order in a folder, with other settings where they were asked for."""
    from earmark.store.kinds import order_problem
    from earmark.store.stored import StoredOrderCampaign

    folder = open_folder(path, out)
    require_kind(folder, "order")
    settings = _view(out, folder, wanted)
    campaign = StoredOrderCampaign.read(folder)
    if settings is folder.settings:
        return campaign
    return replace(campaign, problem=order_problem(folder_runs(path), settings))


def load_stored_lists(out: Output, path: Path, wanted: Mapping[str, Any]) -> StoredListCampaign:
    """Return the campaign of kind lists in a folder, with other settings where they were asked for."""
    from earmark.store.kinds import list_problem
    from earmark.store.stored import StoredListCampaign

    folder = open_folder(path, out)
    require_kind(folder, "lists")
    settings = _view(out, folder, wanted)
    campaign = StoredListCampaign.read(folder)
    if settings is folder.settings:
        return campaign
    return replace(campaign, problem=list_problem(folder_runs(path), settings))
