"""Settings that an organiser may change while people judge, as a form shows them.

What answers mean and what was sampled cannot change; the store refuses that (:data:`earmark.store.settings.FROZEN`).
The file ``campaign.toml`` stays the request and the log the record: a change here writes the file, and what changed is
recorded in the log at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from earmark.campaign.pairs.policies import PairPolicy
from earmark.campaign.policies import POLICIES
from earmark.campaign.stopping import parse_stop
from earmark.campaign.stopping.plain import parse_plain_stop
from earmark.errors import ParameterError
from earmark.store.folder import CampaignFolder
from earmark.store.settings import setting_names
from earmark.store.store import check_text

_PLAIN_STOPS = ("budget:200", "width:0.2", "none")
_GOALS = ("best:0.95:0.02", "order:0.95:0.02", "baseline:NAME:0.95:0.02")
_STOPS = (*_GOALS, "mean:0.95", "min:0.95", "decided:0.9", "top:1", "width:0.05", "budget:500", "none")

# No duration or count of a campaign is larger, and computing with it goes wrong.
_LARGEST = 1_000_000

Type = Literal["text", "lines", "number", "whole", "yes", "choice"]


@dataclass(frozen=True)
class Field:
    """One setting of the form.

    Attributes
    ----------
    name : str
        As in campaign.toml, with the section.
    type : str
    group : str
        Settings of one group stand together.
    optional : bool
        It may be left out.
    kinds : tuple of str
        The kinds of campaigns that have it; all where it is empty.
    """

    name: str
    type: Type
    group: str
    optional: bool = False
    kinds: tuple[str, ...] = ()


FIELDS = (
    Field("estimates.stop", "text", "ending"),
    Field("estimates.margin", "number", "ending", kinds=("grade",)),
    Field("estimates.when_reached", "choice", "ending"),
    Field("estimates.policy", "choice", "ending", optional=True, kinds=("grade", "prefer")),
    Field("pages.hide_ranking", "yes", "ending"),
    Field("pages.look_early", "yes", "ending", kinds=("grade", "prefer")),
    Field("judging.judgments_per_item", "whole", "work", kinds=("grade", "order", "lists")),
    Field("judging.more_on_disagreement", "whole", "work", kinds=("grade", "lists")),
    Field("judging.answers_per_assessor", "whole", "work", optional=True),
    Field("judging.lease_minutes", "number", "work"),
    Field("judging.unplayable_after", "whole", "work"),
    Field("traps.rate", "number", "traps"),
    Field("traps.reject_after", "whole", "traps"),
    Field("traps.reject_below", "number", "traps"),
    Field("pages.title", "text", "words", optional=True),
    Field("pages.question", "text", "words", optional=True),
    Field("pages.instructions", "lines", "words", optional=True),
    Field("pages.thanks", "lines", "words", optional=True),
    Field("pages.minimum_seconds", "number", "words"),
    Field("pages.pause_after", "whole", "words"),
    Field("pages.comments", "yes", "words"),
    Field("people.address", "text", "people"),
    Field("people.retention_days", "whole", "people", optional=True),
)


def shown_settings(folder: CampaignFolder) -> list[dict[str, Any]]:
    """Return the fields of the form with their values: ``name``, ``type``, ``group``, ``value`` and so on."""
    settings = folder.settings
    known = set(setting_names())
    return [
        {
            "name": one.name,
            "type": one.type,
            "group": one.group,
            "optional": one.optional,
            "value": _shown(settings.get(one.name)),
            "options": _options(one.name, settings.kind),
            "examples": _examples(one.name, settings.kind),
        }
        for one in FIELDS
        if one.name in known and (not one.kinds or settings.kind in one.kinds)
    ]


def _options(name: str, kind: str) -> list[str]:
    if name == "estimates.when_reached":
        return ["ask", "stop"]
    if name != "estimates.policy":
        return []
    return [*(get_args(PairPolicy) if kind == "prefer" else POLICIES.names())]


def _examples(name: str, kind: str) -> list[str]:
    """Return forms in which a free text may be written."""
    if name != "estimates.stop":
        return []
    return [*_PLAIN_STOPS] if kind in ("order", "lists") else [*_STOPS]


def _shown(value: Any) -> Any:
    return "\n\n".join(map(str, value)) if isinstance(value, (tuple, list)) else value


def read_changes(folder: CampaignFolder, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a form wants changed, as :meth:`~earmark.store.folder.CampaignFolder.rewrite_settings` takes it.

    Raises
    ------
    ParameterError
        If a setting is none of the form, or needs a value.
    """
    offered = {one["name"]: one for one in shown_settings(folder)}
    wanted = {}
    for name, value in changes.items():
        if name not in offered:
            raise ParameterError(f"'{name}' cannot be changed here")
        wanted[name] = _read(offered[name], value, folder.settings.kind)
    return wanted


def _check_stop(text: str, kind: str) -> None:
    """Refuse what is no stop rule in the words of the rules; the file's reader would put them into parentheses."""
    try:
        parse_plain_stop(text, kind=kind) if kind in ("order", "lists") else parse_stop(text)
    except ParameterError as error:
        raise ParameterError(f"estimates.stop: {error}") from None


def _read(field: Mapping[str, Any], value: Any, kind: str) -> Any:
    """Return a value as settings take it; forms know no difference between nothing and an empty text."""
    name = field["name"]
    if value is None or (isinstance(value, str) and not value.strip()):
        if field["optional"]:
            return None
        raise ParameterError(f"{name}: expected a value, got nothing")
    if isinstance(value, str):
        check_text(value)
        value = value.strip()
    if field["options"] and value not in (*field["options"], field["value"]):
        # The file takes any text here, and the worker would find out too late.
        raise ParameterError(f"{name}: expected one of {', '.join(field['options'])}, got '{str(value)[:80]}'")
    if name == "estimates.stop":
        _check_stop(str(value), kind)
    if isinstance(value, (int, float)) and not abs(value) <= _LARGEST:
        raise ParameterError(f"{name}: expected a number up to {_LARGEST:,}, got {value:.3g}")
    return int(value) if field["type"] == "whole" and isinstance(value, float) and value.is_integer() else value
