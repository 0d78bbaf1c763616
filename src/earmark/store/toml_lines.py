"""On which line of a TOML file a key or an error stands.

Python's reader of TOML tells the line of a syntax error only. A message about a value has to name its line too, so this
walks through the text once more and notes where every key and every element of an array begins. The text has been read
before and is known to be valid, which keeps this short: nothing is checked here.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping

from earmark.errors import InputError

Key = tuple[str | int, ...]

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Strings over several lines first: their quotes begin like those of the others.
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")' r"|'''.*?'{3,5}(?!')" r'|"(?:[^"\\]|\\.)*"' r"|'[^']*'", re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\n\r]*")


def key_lines(text: str) -> Mapping[Key, int]:
    r"""Return the line, counted from 1, of every table, key and element of an array in a valid TOML text.

    Examples
    --------
    >>> lines = key_lines('name = "x"\n[inputs]\nruns = [\n  { file = "a" },\n]\n')
    >>> lines[("name",)], lines[("inputs",)], lines[("inputs", "runs", 0, "file")]
    (1, 2, 4)
    """
    return _Walk(text).lines


def find_line(lines: Mapping[Key, int], key: Key) -> int | None:
    """Return the line of a key or, where it is not in the file, of the closest table around it."""
    while key and key not in lines:
        key = key[:-1]
    return lines.get(key)


class _Walk:
    """One walk from the start of a text to its end."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.lines = text, 0, dict[Key, int]()
        self._counted, self._line = 0, 1
        table: Key = ()
        arrays: dict[Key, int] = {}
        self._skip()
        while self.place < len(text):
            if text[self.place] == "[":
                table = self._header(arrays)
            else:
                self._entry(table)
            self._skip()

    def _header(self, arrays: dict[Key, int]) -> Key:
        double = self.text.startswith("[[", self.place)
        line = self._here()
        self.place += 2 if double else 1
        self._skip()
        table: Key = ()
        for part in self._keys():
            table = (*table, part)
            # A table below the last element of an array of tables.
            if table in arrays and len(table) > 0:
                table = (*table, arrays[table])
        if double:
            name = table[:-1] if table and isinstance(table[-1], int) else table
            arrays[name] = arrays.get(name, -1) + 1
            self.lines.setdefault(name, line)
            table = (*name, arrays[name])
        for end in range(1, len(table) + 1):
            self.lines.setdefault(table[:end], line)
        # The table's own header counts for more than that of a table in it.
        self.lines[table] = line
        self.place += 2 if double else 1
        return table

    def _entry(self, table: Key) -> None:
        line = self._here()
        key = table
        for part in self._keys():
            key = (*key, part)
            self.lines.setdefault(key, line)
        self.place += 1  # the sign =
        self._skip()
        self._value(key)

    def _keys(self) -> list[str]:
        """Read a key with its dots, up to what follows it."""
        parts = []
        while True:
            if string := _STRING.match(self.text, self.place):
                parts.append(str(tomllib.loads(f"key = {string[0]}")["key"]))
                self.place = string.end()
            elif bare := _BARE.match(self.text, self.place):
                parts.append(bare[0])
                self.place = bare.end()
            self._skip()
            if self.place >= len(self.text) or self.text[self.place] != ".":
                return parts
            self.place += 1
            self._skip()

    def _value(self, key: Key) -> None:
        if string := _STRING.match(self.text, self.place):
            self.place = string.end()
        elif self.text[self.place] == "[":
            self._elements(key, "]")
        elif self.text[self.place] == "{":
            self._elements(key, "}")
        else:
            scalar = _SCALAR.match(self.text, self.place)
            assert scalar is not None
            self.place = scalar.end()

    def _elements(self, key: Key, end: str) -> None:
        """Read the elements of an array, or the entries of an inline table."""
        self.place += 1
        self._skip()
        number = 0
        while self.text[self.place] != end:
            if end == "]":
                self.lines[(*key, number)] = self._here()
                self._value((*key, number))
                number += 1
            else:
                self._entry(key)
            self._skip()
            if self.text[self.place] == ",":
                self.place += 1
                self._skip()
        self.place += 1

    def _skip(self) -> None:
        space = _SPACE.match(self.text, self.place)
        assert space is not None
        self.place = space.end()

    def _here(self) -> int:
        self._line += self.text.count("\n", self._counted, self.place)
        self._counted = self.place
        return self._line


def syntax_error(error: tomllib.TOMLDecodeError, content: str, path: str | os.PathLike[str]) -> InputError:
    """Say where a file is no TOML, and what the person may have meant."""
    said = str(error)
    place = re.search(r" \(at line (\d+), column \d+\)$", said)
    if place is None:
        said, line = said.removesuffix(" (at end of document)"), content.rstrip().count("\n") + 1
    else:
        said, line = said[: place.start()], int(place[1])
    row = content.split("\n")[line - 1] if line <= content.count("\n") + 1 else ""
    value = re.match(r"\s*[\w.-]+\s*=\s*([^#]*)", row)
    written = value[1].strip() if value else ""
    hint = None
    if written.lower() in ("true", "false", "yes", "no", "on", "off"):
        hint = "write true or false in small letters"
    elif re.fullmatch(r"\d+\s*/\s*\d+", written):
        hint = f'a fraction stands in quotes: "{written}"'
    elif "\\" in written:
        hint = "write paths with / or in single quotes"
    elif re.match(r"[A-Za-z]", written) or re.match(r"\d+(\.\.|[a-z,])", written):
        hint = f'a text stands in quotes: "{written}"'
    elif "overwrite" in said:
        hint = "the setting or section stands in the file twice"
    return InputError(expected="TOML, the format of this file", got=said, path=path, line=line, hint=hint)
