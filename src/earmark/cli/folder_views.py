"""The campaign of a folder as a command looks at it: as it is, or with other settings where options ask for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from earmark.cli.folder import SETTINGS_FILE, folder_runs, open_folder, require_kind
from earmark.errors import ParameterError

if TYPE_CHECKING:
    from earmark.cli.output import Output
    from earmark.data.log import AnswerLog
    from earmark.store.folder import CampaignFolder
    from earmark.store.settings import Settings
    from earmark.store.stored import StoredCampaign, StoredListCampaign, StoredOrderCampaign, StoredPairCampaign

# The names of options whose settings have others.
_SPELT = {"aggregation": "aggregate", "artist": "artist-column", "genre": "genre-column", "attributes": "attribute"}
_OF_THE_SAMPLE = ("estimates.measure", "estimates.seed", "estimates.whole_queries", "inputs.missing")


def load_stored(
    out: Output,
    path: Path,
    wanted: Mapping[str, Any],
    *,
    as_it_is: bool = False,
    reached: Mapping[str, Any] = MappingProxyType({}),
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
    reached : mapping of str to any
        Further fields of :class:`~earmark.campaign.verdict.Inference`, which are no settings.
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
    inference = replace(problem.inference, **reached)
    if inference != problem.inference:
        problem = replace(problem, inference=inference)
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
    shown = [
        f"--{_option(one.setting)} {_said(one.after)} (the campaign: {_said_of_campaign(one.setting, one.before)})"
        for one in differences
    ]
    if as_it_is:
        raise ParameterError(
            f"{shown[0]}: questions are reserved as the campaign asks them; leave the option out, or change "
            f"{differences[0].setting} in {folder.path / SETTINGS_FILE}"
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


def _said_of_campaign(setting: str, value: Any) -> str:
    """Say what a campaign has; where its settings say nothing, that is a default, but for files."""
    return "the default" if value is None and not setting.startswith("inputs.") else _said(value)


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
