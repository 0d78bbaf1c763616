"""The text of ``campaign.toml``: written with comments at first, later changed without touching what a person wrote."""

from __future__ import annotations

import inspect
import re
import textwrap
import tomllib
from contextlib import suppress
from dataclasses import Field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.errors import MissingLibraryError
from earmark.store.declared_settings import dotted, own_settings
from earmark.store.sections import SECTIONS
from earmark.store.setting_types import InputFile, show_share
from earmark.store.toml_lines import key_lines

if TYPE_CHECKING:
    from earmark.store.settings import Settings

_WIDTH = 100
_SHARES = ("disagreement", "rate", "tolerance", "reject_below", "audit", "level")
_OPENING = """\
# The settings of a campaign of earmark, a listening test that compares retrieval systems.
#
# You may edit this file. What stands after a # is a comment; text stands in quotes, numbers do not, and yes and no are
# written true and false. A line that begins with # and a name shows a setting that is left out.
# A change counts from the next command on and is recorded, with its time, beside the answers.
"""


def fresh(settings: Settings) -> str:
    """Write all settings with their descriptions as comments."""
    from earmark.store.settings import FROZEN

    parts = [_OPENING]
    for name, section in {"": type(settings), **SECTIONS}.items():
        values = getattr(settings, name) if name else settings
        if name:
            summary = inspect.cleandoc(section.__doc__ or "").partition("\n")[0]
            parts.append(f"\n# {'-' * (_WIDTH - 2)}\n{_comment(summary)}[{name}]\n")
        texts = described(section)
        for one in own_settings(section):
            later = " It cannot change later." if dotted(name, one.name) in FROZEN else ""
            parts += _entry(one, getattr(values, one.name), texts.get(one.name, "") + later)
    return "".join(parts)


def described(section: type) -> dict[str, str]:
    """Return what every setting of a section means, from its docstring."""
    _, _, listed = inspect.cleandoc(section.__doc__ or "").partition("Parameters\n----------\n")
    texts: dict[str, list[str]] = {}
    for line in listed.splitlines():
        if line.startswith(" "):
            texts[next(reversed(texts))].append(line.strip())
        elif line:
            texts[line] = []
    return {name: " ".join(lines) for name, lines in texts.items()}


def _entry(one: Field[Any], value: Any, description: str) -> list[str]:
    line = (
        f"# {one.name} = {one.metadata['example']}" if value is None else f"{one.name} = {write_value(value, one.name)}"
    )
    return ["\n", _comment(description), line, "\n"]


def _comment(words: str) -> str:
    return "".join(f"# {line}\n" for line in textwrap.wrap(words, _WIDTH - 2, break_on_hyphens=False))


def write_value(value: Any, name: str = "") -> str:
    r"""Write a value as TOML has it.

    Examples
    --------
    >>> write_value(True), write_value(1 / 6, "rate"), write_value(("a", 'b"'))
    ('true', '"1/6"', '["a", "b\\""]')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, InputFile):
        known = f", sha256 = {write_value(value.sha256)}" if value.sha256 else ""
        return f"{{ file = {write_value(value.file)}{known} }}"
    if isinstance(value, tuple) and value and isinstance(value[0], InputFile):
        return "[\n" + "".join(f"  {write_value(one)},\n" for one in value) + "]"
    if isinstance(value, tuple):
        return f"[{', '.join(write_value(one) for one in value)}]"
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, float):
        short = show_share(value) if name in _SHARES else value
        if isinstance(short, str):
            return write_value(short)
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, int):
        return str(value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\u{ord(found[0]):04x}", escaped) + '"'


def edited(content: str, settings: Settings, path: Path) -> str:
    """Return a text with the values that differ changed; comments, order and everything else stay as they are."""
    from earmark.store.settings import Settings as Read

    before = Read.parse(content, path)
    found = content
    for one in Read.differences(before, settings):
        old, new = before.get(one.setting), settings.get(one.setting)
        found = _edit_line(found, one.setting, new) or _edit_tree(found, one.setting, old, new)
    if Read.parse(found, path) != settings:
        raise RuntimeError(f"{path} could not be changed: write the settings to a new file")
    return found


def _edit_line(content: str, setting: str, value: Any) -> str | None:
    """Put a setting in the line that shows it as left out, or leave it out by making its line a comment.

    Returns
    -------
    str or None
        None where there is no such line, or more would change than this setting.
    """
    section, _, name = setting.rpartition(".")
    lines, rows = key_lines(content), content.split("\n")
    wanted = tomllib.loads(content)
    table = wanted.get(section, {}) if section else wanted
    if value is None:
        at = lines[(section, name) if section else (name,)] - 1
        rows[at] = f"# {rows[at]}"
        del table[name]
    elif name not in table:
        start = lines.get((section,), 0) if section else 0
        end = next((at for at in range(start, len(rows)) if rows[at].lstrip().startswith("[")), len(rows))
        shown = (at for at in range(start, end) if re.match(rf"#\s*{re.escape(name)}\s*=", rows[at]))
        at = next(shown, -1)
        written = f"{name} = {write_value(value, name)}"
        if at < 0:
            return None
        rows[at] = written + ("\r" if rows[at].endswith("\r") else "")
        table |= tomllib.loads(written)
    else:
        return None
    found = "\n".join(rows)
    with suppress(tomllib.TOMLDecodeError):
        return found if tomllib.loads(found) == wanted else None
    return None


def _edit_tree(content: str, setting: str, old: Any, value: Any) -> str:
    """Change a setting in the tree of a TOML document, which keeps comments and blanks."""
    try:
        import tomlkit
        from tomlkit.items import Array
    except ImportError:
        raise MissingLibraryError("changing campaign.toml needs tomlkit: pip install 'earmark[web]'") from None

    document = tomlkit.parse(content)
    section, _, name = setting.rpartition(".")
    if section and section not in document:
        document[section] = tomlkit.table()
    table: Any = document[section] if section else document
    there = table.get(name)
    if value is None:
        del table[name]
    elif isinstance(there, Array) and value[: len(old)] == old:
        # The person's own lines and comments in a list stay when it grows.
        for added in value[len(old) :]:
            there.append(tomlkit.value(write_value(added)))
    else:
        table[name] = tomlkit.value(write_value(value, name))
    return tomlkit.dumps(document)
