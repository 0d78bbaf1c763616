"""How settings are declared: a section with a reader for every value, and the error that names a wrong one."""

from __future__ import annotations

import os
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

from earmark.errors import InputError, ParameterError
from earmark.store.setting_types import Reader, Wrong
from earmark.store.toml_lines import Key, find_line, key_lines


class SettingError(ParameterError):
    """A setting that cannot be what it is.

    Parameters
    ----------
    setting : str
        Its name, such as ``estimates.stop``; that of a section alone where the section is what is wrong.
    expected, got, hint : str
        As for :class:`~earmark.errors.InputError`.
    key : tuple of str and int, optional
        Where it stands in the file, where the name does not tell: an element of a list, a name with a dot in it.
    """

    def __init__(
        self, setting: str, *, expected: str, got: str, hint: str | None = None, key: Key | None = None
    ) -> None:
        self.setting, self.expected, self.got, self.hint = setting, expected, got, hint
        self.key: Key = key or tuple(setting.split("."))
        super().__init__(f"{setting}: expected {expected}, got {got}" + (f" ({hint})" if hint else ""))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes whole, though arguments that have names cannot be passed by position."""
        remake = partial(SettingError, expected=self.expected, got=self.got, hint=self.hint, key=self.key)
        return remake, (self.setting,)

    def at(self, path: str | os.PathLike[str], content: str) -> InputError:
        """Return the error of the file that says so, given its text."""
        line = find_line(key_lines(content), self.key)
        if line is None:
            # A missing section belongs at the end, a missing entry above all sections at the beginning.
            line = max(content.rstrip("\n").count("\n") + 1, 1) if _is_section(self.key[0]) else 1
        what = f"{self.expected} as {self.setting}"
        return InputError(expected=what, got=self.got, path=path, line=line, hint=self.hint)


def declare(read: Reader, default: Any = MISSING, *, example: str | None = None) -> Any:
    """Declare a setting: how it is read, and how it is written where it is not there."""
    metadata = {"read": read, "example": example}
    return field(metadata=metadata) if default is MISSING else field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Section:
    """Settings that stand together; every value is read once more, so that only valid ones exist."""

    section: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for one in own_settings(type(self)):
            value = getattr(self, one.name)
            if value is None and one.default is None:
                continue
            read = one.metadata["read"]
            object.__setattr__(self, one.name, read_setting(dotted(self.section, one.name), read, value))


def read_setting(name: str, read: Reader, value: Any) -> Any:
    """Read the value of one setting, or raise an error that names it."""
    try:
        return read(value)
    except Wrong as wrong:
        key: Key = (*name.split("."), *wrong.place)
        raise SettingError(name, expected=wrong.expected, got=wrong.got, hint=wrong.hint, key=key) from None


def own_settings(section: type) -> list[Field[Any]]:
    """Return the settings of a section, without sections in it."""
    return [one for one in fields(section) if "read" in one.metadata]


def dotted(section: str, name: str) -> str:
    """Return the name of a setting with its section."""
    return f"{section}.{name}" if section else name


def _is_section(name: str | int) -> bool:
    return any(one.section == name for one in Section.__subclasses__() if one.section)
