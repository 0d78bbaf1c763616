"""The settings of a stored campaign, as ``campaign.toml`` has them.

The file is the request and the log is the record: people edit the file, and what they changed is recorded in the log
when the campaign is opened next. So settings are values that can be compared (:meth:`Settings.differences`), travel
into the log (:meth:`Settings.as_json`), and are valid once they exist. An error in the file names its line.
"""

# ruff: noqa: RUF009 - declare() returns a field of a dataclass
from __future__ import annotations

import json
import os
import tomllib
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from earmark.data.files import decode, read_bytes, replacing, require_file
from earmark.errors import InputError, ParameterError
from earmark.registry import suggest
from earmark.store.declared_settings import Section, SettingError, declare, dotted, own_settings, read_setting
from earmark.store.sections import (
    SECTIONS,
    Estimates,
    Inputs,
    Judging,
    Media,
    Pages,
    People,
    Recruiting,
    Store,
    Traps,
)
from earmark.store.setting_checks import check_together
from earmark.store.setting_types import InputFile, Wrong, choice, identity, moment, show, text
from earmark.store.toml_lines import Key, find_line, key_lines, syntax_error
from earmark.wording import counted, listed

__all__ = [
    "FROZEN",
    "NAME",
    "Difference",
    "Estimates",
    "InputFile",
    "Inputs",
    "Judging",
    "Media",
    "Pages",
    "People",
    "Recruiting",
    "SettingError",
    "Settings",
    "Store",
    "Traps",
    "refuse_frozen",
    "setting_names",
]

FORMAT = 1
NAME = "campaign.toml"
Kind = Literal["grade", "prefer", "order", "lists"]

_MEANING = "the answers so far would mean something else"
_SAMPLE = "it decides what was sampled, and so what is guaranteed"
_PREDICTION = "questions were chosen with its predictions, and a predictor must not be chosen by its results"
FROZEN: Mapping[str, str] = {
    "format": "it is the layout of the file",
    "id": "it is how the store knows the campaign",
    "kind": _MEANING,
    "created": "it is when the campaign was made",
    "judging.scale": _MEANING,
    "judging.also": _MEANING,
    "judging.allow_same": _MEANING,
    # What is estimated, and by what sample: the order of the sample follows from measure, scale and seed. The share of
    # the audit and the policy may change: the sample is a prefix of an order that does not depend on them.
    "estimates.measure": _SAMPLE,
    "estimates.depth": _SAMPLE,
    "estimates.seed": _SAMPLE,
    "estimates.whole_queries": _SAMPLE,
    "estimates.aggregation": _MEANING,
    # How files are read and predictions are made. The version of the predictor may change, as a computer may have no
    # other. So may the files that describe systems and documents: late runs bring new ones. Both are recorded.
    "estimates.predictor": _PREDICTION,
    "inputs.model": _PREDICTION,
    "inputs.artist": _PREDICTION,
    "inputs.genre": _PREDICTION,
    "inputs.attributes": _PREDICTION,
    "inputs.candidates": _SAMPLE,
    "inputs.order": _SAMPLE,
    "inputs.encoding": _SAMPLE,
    "inputs.missing": _SAMPLE,
}
"""Settings that cannot change once a campaign exists, and why. Of ``inputs.runs``, see :func:`refuse_frozen`."""

# Which document of a pair is the better one is what most of so many people say.
_FROZEN_OF_PAIRS: Mapping[str, str] = {"judging.judgments_per_item": _MEANING}


def _format(value: Any) -> int:
    if type(value) is not int or value != FORMAT:
        later = isinstance(value, int) and value > FORMAT
        raise Wrong(str(FORMAT), show(value), hint="was it written by a later version of earmark?" if later else None)
    return value


@dataclass(frozen=True)
class Difference:
    """One setting that is not what it was: its name, and both values as JSON has them."""

    setting: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.setting} changed from {_in_words(self.before)} to {_in_words(self.after)}"


@dataclass(frozen=True, kw_only=True)
class Settings(Section):
    """All settings of a campaign.

    Parameters
    ----------
    format
        The version of this file's layout.
    id
        What tells this campaign from all others.
    name
        What people call the campaign.
    kind
        What people are asked: grade, how good a document is; prefer, which of two is better; order, in which order
        several belong; lists, which of two lists is better.
    created
        When the campaign was made.
    """

    format: int = declare(_format, FORMAT)
    id: str = field(default_factory=lambda: uuid.uuid4().hex, metadata={"read": identity})
    name: str = declare(text)
    kind: Kind = declare(choice("grade", "prefer", "order", "lists"), "grade")
    created: datetime = field(
        default_factory=lambda: datetime.now(UTC).replace(microsecond=0), metadata={"read": moment}
    )
    inputs: Inputs
    judging: Judging = field(default_factory=Judging)
    traps: Traps = field(default_factory=Traps)
    estimates: Estimates = field(default_factory=Estimates)
    people: People = field(default_factory=People)
    media: Media = field(default_factory=Media)
    pages: Pages = field(default_factory=Pages)
    recruiting: Recruiting = field(default_factory=Recruiting)
    store: Store = field(default_factory=Store)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_together(self)

    # ---- reading -----------------------------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Settings:
        """Read a file.

        Raises
        ------
        InputError
            If it is no TOML, or a setting is missing, unknown or of the wrong kind; with the line.
        """
        return cls.parse(read_text(path), path)

    @classmethod
    def parse(cls, content: str, path: str | os.PathLike[str] = NAME) -> Settings:
        """Read the text of a file; the path is for messages."""
        try:
            said = tomllib.loads(content)
        except tomllib.TOMLDecodeError as error:
            raise syntax_error(error, content, path) from None
        try:
            return cls.from_plain(said)
        except SettingError as error:
            raise error.at(path, content) from None

    @classmethod
    def from_plain(cls, said: Mapping[str, Any]) -> Settings:
        """Make settings of tables in tables, as TOML and JSON have them.

        Raises
        ------
        SettingError
            If a setting is missing, unknown or of the wrong kind.
        """
        if not isinstance(said, Mapping):
            raise SettingError("format", expected="settings", got=show(said))
        if "format" in said:
            # A file of a later version has settings unknown to this one: say that first.
            read_setting("format", _format, said["format"])
        _refuse_unknown("", said, [one.name for one in fields(cls)])
        for name in ("format", "id", "name", "kind", "created", "inputs"):
            if name not in said:
                what = f"a section [{name}]" if name in SECTIONS else "an entry"
                raise SettingError(name, expected=what, got="none")
        sections = {}
        for name, section in SECTIONS.items():
            entries = said.get(name, {})
            if not isinstance(entries, Mapping):
                raise SettingError(name, expected=f"a section [{name}]", got=show(entries))
            _refuse_unknown(name, entries, [one.name for one in own_settings(section)])
            sections[name] = entries
        if "runs" not in sections["inputs"]:
            raise SettingError("inputs.runs", expected="a list of files", got="none")
        made = {name: section(**sections[name]) for name, section in SECTIONS.items()}
        return cls(**{**said, **made})

    @classmethod
    def from_json(cls, recorded: str) -> Settings:
        """Read what :meth:`as_json` wrote."""
        return cls.from_plain(json.loads(recorded))

    # ---- writing -----------------------------------------------------------------------------------------------------

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file with comments; where it exists, only what differs, and everything else stays as it is."""
        from earmark.store.settings_text import edited, fresh

        target = Path(path)
        content = edited(read_text(target), self, target) if target.exists() else fresh(self)
        with replacing(target) as temporary:
            temporary.write_text(content, encoding="utf-8", newline="")

    def as_plain(self) -> dict[str, Any]:
        """Return tables in tables with the values that JSON knows; a setting that is left out is None."""
        return {
            one.name: {inner.name: _plain(getattr(value, inner.name)) for inner in own_settings(type(value))}
            if isinstance(value := getattr(self, one.name), Section)
            else _plain(value)
            for one in fields(self)
        }

    def as_json(self) -> str:
        """Return all settings in one line of JSON, the same for the same settings."""
        return json.dumps(self.as_plain(), ensure_ascii=False, sort_keys=True)

    # ---- comparing ---------------------------------------------------------------------------------------------------

    def get(self, setting: str) -> Any:
        """Return the value of a setting by its name, such as ``estimates.stop``."""
        section, _, name = setting.rpartition(".")
        if (section and section not in SECTIONS) or setting not in setting_names():
            sectioned = [name for name in setting_names() if name.rpartition(".")[2] == setting]
            close = listed(sectioned, "or") if sectioned else suggest(setting, setting_names())
            raise ParameterError(f"no setting '{setting}'" + (f": did you mean {close}?" if close else ""))
        return getattr(getattr(self, section) if section else self, name)

    def changed(self, **changes: Any) -> Settings:
        """Return the settings with some values changed.

        Parameters
        ----------
        **changes
            Values by the names of settings: ``changed(**{"estimates.stop": "min:0.9"})``.

        Raises
        ------
        ParameterError
            If a setting does not exist or cannot have the value.
        """
        sections: dict[str, dict[str, Any]] = {}
        for setting, value in changes.items():
            self.get(setting)
            section, _, name = setting.rpartition(".")
            sections.setdefault(section, {})[name] = value
        own = sections.pop("", {})
        return replace(self, **own, **{name: replace(getattr(self, name), **new) for name, new in sections.items()})

    @staticmethod
    def differences(before: Settings, after: Settings) -> list[Difference]:
        """Return what differs, in the order of the file."""
        return [
            Difference(setting, _plain(old), _plain(new))
            for setting in setting_names()
            if (old := before.get(setting)) != (new := after.get(setting))
        ]


def setting_names() -> list[str]:
    """Return the names of all settings, in the order of the file."""
    own = [one.name for one in own_settings(Settings)]
    return own + [f"{name}.{one.name}" for name, section in SECTIONS.items() for one in own_settings(section)]


def refuse_frozen(before: Settings, after: Settings, path: str | os.PathLike[str]) -> None:
    """Refuse changes of what cannot change once a campaign exists; of the runs, new ones may be added at the end.

    Parameters
    ----------
    before : Settings
        As they were recorded last.
    after : Settings
        As the file has them now.
    path : path
        The file, to find the line in.

    Raises
    ------
    InputError
        For the first such setting, with its line.
    """
    frozen = {**FROZEN, **(_FROZEN_OF_PAIRS if before.kind == "prefer" else {})}
    for one in Settings.differences(before, after):
        key: Key = tuple(one.setting.split("."))
        old, new = before.get(one.setting), after.get(one.setting)
        if one.setting == "inputs.runs":
            lost = next((at for at, run in enumerate(old) if at >= len(new) or not _same(run, new[at])), None)
            if lost is None:
                continue
            expected = f"{_said(old[lost])} as run {lost + 1} of inputs.runs"
            got = _said(new[lost]) if lost < len(new) else counted(len(new), "run")
            hint = "new runs go to the end of the list; 'earmark withdraw' removes a system; its run stays in the list"
            key = (*key, lost)
        elif one.setting in frozen and not _same(old, new):
            expected, got = f"{_said(old)} as {one.setting}", _said(new)
            hint = f"it cannot change once the campaign exists: {frozen[one.setting]}; start another campaign for that"
        else:
            continue
        line = find_line(key_lines(read_text(path)), key)
        raise InputError(expected=expected, got=got, path=path, line=line, hint=hint)


def read_text(path: str | os.PathLike[str]) -> str:
    """Read the text of a file of settings."""
    file = require_file(path)
    return decode(read_bytes(file), "utf-8", file)


def _in_words(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, InputFile):
        return asdict(value)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _same(old: Any, new: Any) -> bool:
    """Compare values; a file that was moved or renamed is the same."""
    if isinstance(old, InputFile) and isinstance(new, InputFile) and old.sha256:
        return old.sha256 == new.sha256
    return bool(old == new)


def _said(value: Any) -> str:
    if isinstance(value, InputFile):
        return f"{value.file} ({value.sha256[:12] or 'no hash'})"
    return "nothing" if value is None else show(value)


def _refuse_unknown(section: str, entries: Iterable[str], known: list[str]) -> None:
    for name in entries:
        if name in known:
            continue
        everywhere = {one.rpartition(".")[2]: one.rpartition(".")[0] for one in setting_names()}
        close = suggest(name, known)
        place = f"[{section}]" if section else "the part above all sections"
        if name in everywhere and name not in SECTIONS:
            home = everywhere[name]
            hint = f"'{name}' belongs to {f'[{home}]' if home else 'the part above all sections'}"
        elif close is not None:
            hint = f"did you mean '{close}'?"
        else:
            hint = f"there are {', '.join(known)}"
        key = (section, name) if section else (name,)
        raise SettingError(dotted(section, name), expected=f"a setting of {place}", got=f"'{name}'", hint=hint, key=key)
