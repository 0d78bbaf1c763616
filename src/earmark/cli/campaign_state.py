"""``earmark close``, ``reopen``, ``pause``, ``resume`` and ``set``: how a campaign goes on."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from earmark.cli.campaigns import CampaignPath, opened, print_row, say, shown_setting
from earmark.cli.command import argument, option
from earmark.cli.output import Output
from earmark.errors import ParameterError

if TYPE_CHECKING:
    from earmark.store.folder import CampaignFolder
    from earmark.store.settings import Settings

Reason = Annotated[str, option("TEXT", help="Why, for the log and for 'earmark status'.")]


def close(folder: CampaignPath, out: Output, reason: Reason = "") -> None:
    """Close a campaign: no question is given out and no answer changes any more.

    Answers that arrive later are kept and do not count. Closing twice changes nothing.

    Parameters
    ----------
    folder
        The folder of the campaign.

    Examples
    --------
    earmark close study
    earmark close study --reason "the budget is spent"
    """
    with opened(folder, out) as campaign:
        _set_state(campaign, "closed", reason, out)
        days = campaign.settings.people.retention_days
        names = "stay until 'earmark erase'" if days is None else f"are erased in {days} days"
        say(out, f"names of assessors {names}; results: earmark rank {folder}, earmark export {folder} -o FILE")


def reopen(folder: CampaignPath, out: Output, reason: Reason = "") -> None:
    """Open a campaign again that was closed.

    Parameters
    ----------
    folder
        The folder of the campaign.

    Examples
    --------
    earmark reopen study --reason "three more systems arrived"
    """
    with opened(folder, out) as campaign:
        state = campaign.store.row["state"]
        if state != "closed":
            raise ParameterError(f"{folder}: the campaign is not closed, it is {state}")
        _set_state(campaign, "open", reason, out)


def pause(folder: CampaignPath, out: Output, reason: Reason = "") -> None:
    """Give out no more questions for now; answers to questions that are out still count.

    Parameters
    ----------
    folder
        The folder of the campaign.

    Examples
    --------
    earmark pause study --reason "back on Monday"
    """
    with opened(folder, out) as campaign:
        _refuse_closed(campaign)
        _set_state(campaign, "paused", reason, out)


def resume(folder: CampaignPath, out: Output, reason: Reason = "") -> None:
    """Give out questions again, after a pause or after the stop rule was reached.

    Parameters
    ----------
    folder
        The folder of the campaign.

    Examples
    --------
    earmark resume study
    """
    with opened(folder, out) as campaign:
        _refuse_closed(campaign)
        if campaign.store.row["state"] == "stopped":
            stop = campaign.settings.estimates.stop
            out.note(f"the stop rule {stop} was reached and may stop it again: change it with 'earmark set'")
        _set_state(campaign, "open", reason, out)


def change_settings(
    folder: CampaignPath, settings: Annotated[list[str], argument("SETTING=VALUE")], out: Output
) -> None:
    """Change settings of a campaign, as editing campaign.toml does; the log records what changed and when.

    Settings that define what answers mean or what was sampled cannot change: the scale, the measure, the seed and
    others.

    Parameters
    ----------
    folder
        The folder of the campaign.
    settings
        Settings by their names in campaign.toml, with the section; nothing after the = leaves a setting out. A file is
        copied into the campaign's folder.

    Examples
    --------
    earmark set study estimates.stop=min:0.9
    earmark set study judging.judgments_per_item=3 traps.rate=1/10
    earmark set study people.address=https://listen.example.org inputs.consent=consent.md
    """
    import polars as pl

    with opened(folder, out) as campaign:
        before = campaign.settings
        after = _checked(campaign, dict(_parsed(campaign, one) for one in settings))
        differences = type(before).differences(before, after)
        if differences:
            with campaign.change_settings({one.setting: after.get(one.setting) for one in differences}) as changed:
                for change in changed.recorded:
                    out.note(f"recorded: {change}")
        else:
            out.note("nothing to change: the settings are so already")
        rows = [
            {"setting": one.setting, "from": shown_setting(one.before), "to": shown_setting(one.after)}
            for one in differences
        ]
        schema = {"setting": pl.String, "from": pl.String, "to": pl.String}
        if rows or not out.for_people:
            out.print_frame(pl.DataFrame(rows, schema=schema, orient="row"))
        out.say_notes()


def _set_state(campaign: CampaignFolder, state: Literal["open", "paused", "closed"], reason: str, out: Output) -> None:
    before = campaign.store.row["state"]
    campaign.desk.set_state(state, reason)
    if before == state:
        out.note(f"the campaign was {state} before: nothing changed")
    row = {"campaign": str(campaign.path), "state": state, "before": before}
    print_row(out, row, f"{campaign.path} is {state} now (it was {before})" if before != state else f"{campaign.path}")


def _refuse_closed(campaign: CampaignFolder) -> None:
    if campaign.store.row["state"] == "closed":
        path = campaign.path
        raise ParameterError(f"{path}: the campaign is closed; 'earmark reopen {path}' opens it again")


def _parsed(campaign: CampaignFolder, given: str) -> tuple[str, Any]:
    """Read one setting; the value is written as in TOML, text also without quotes."""
    from earmark.store.declared_settings import own_settings
    from earmark.store.inputs import add_file
    from earmark.store.sections import SECTIONS
    from earmark.store.setting_types import InputFile, Wrong

    name, sign, text = given.partition("=")
    name = name.strip()
    if not sign:
        raise ParameterError(f"a setting is changed as in estimates.stop=min:0.9, got '{given}'")
    before = campaign.settings.get(name)
    if name == "store.url":
        raise ParameterError("a campaign changes its store with 'earmark move', which brings the answers along")
    if name == "inputs.runs":
        raise ParameterError(f"runs are added with 'earmark add {campaign.path} RUN'")
    if not text.strip():
        return name, None
    section, _, own = name.rpartition(".")
    kind = SECTIONS[section] if section else type(campaign.settings)
    read = next(one.metadata["read"] for one in own_settings(kind) if one.name == own)
    value: Any = text
    with suppress(tomllib.TOMLDecodeError):
        value = tomllib.loads(f"value = {text}")["value"]
    try:
        value = read(value)
    except Wrong:
        # A number may be meant as a text: a campaign called 2026. What is wrong with it is said later.
        with suppress(Wrong):
            value = read(text)
    if isinstance(value, InputFile) and value != before:
        value = add_file(campaign.path, Path(value.file))
    return name, value


def _checked(campaign: CampaignFolder, changes: dict[str, Any]) -> Settings:
    """Return the settings with changes that the campaign can go on with."""
    from earmark.store.inputs import build_pair_problem, build_problem
    from earmark.store.settings import NAME, refuse_frozen

    after = campaign.settings.changed(**changes)
    refuse_frozen(campaign.settings, after, campaign.path / NAME)
    # Recorded before it is used, a file or a policy that does not fit would keep the campaign from being opened.
    if any(name.startswith(("inputs.", "estimates.")) for name in changes):
        build = {"grade": build_problem, "prefer": build_pair_problem}.get(after.kind)
        if build is not None:
            build(campaign.path, after, campaign.removed())
    return after
