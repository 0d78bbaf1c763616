"""What the files of models have in common: JSON with a format, keys, texts and numbers, each checked in words."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from earmark.data.json_text import parse_json
from earmark.errors import InputError


def read_model_file(path: str | os.PathLike[str]) -> Any:
    """Read the JSON of a model file.

    Raises
    ------
    InputError
        If the file cannot be read or is no JSON.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(expected="a model file", got=error.strerror or str(error), path=path) from None
    return parse_model_json(data, path)


def parse_model_json(data: bytes, path: str | os.PathLike[str]) -> Any:
    """Read the JSON of a model file, numbers as floats; whatever is wrong with it is an error that names the file."""

    def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            keys = [key for key, _ in pairs]
            repeated = next(key for key in keys if keys.count(key) > 1)
            raise InputError(expected="every key once", got=f"'{repeated}' again", path=path)
        return content

    try:
        return parse_json(data.decode("utf-8-sig"), parse_int=float, object_pairs_hook=without_repeats)
    except UnicodeDecodeError:
        raise InputError(expected="a JSON file in UTF-8", got="other bytes", path=path) from None
    except json.JSONDecodeError as error:
        raise InputError(expected="a JSON file", got=error.msg, path=path, line=error.lineno) from None
    except ValueError as error:
        raise InputError(expected="a JSON file", got=str(error), path=path) from None


def require_format(content: Any, wanted: str, path: str | os.PathLike[str], *, hint: str | None = None) -> None:
    """Refuse what is no object of the wanted format."""
    if not isinstance(content, dict):
        raise InputError(expected="a JSON object with a model", got="another value", path=path)
    if content.get("format") != wanted:
        got = f"'{content['format']}'" if "format" in content else "no format"
        raise InputError(expected=f"the format '{wanted}'", got=got, path=path, hint=hint)


def require_keys(content: dict[str, Any], keys: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Refuse an object that has other keys, or lacks one."""
    wrong = [f"also '{key}'" for key in content if key not in keys] or [f"no '{k}'" for k in keys if k not in content]
    if wrong:
        raise InputError(expected=f"the keys {', '.join(keys)}", got=wrong[0], path=path)


def require_texts(content: dict[str, Any], keys: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Refuse values of these keys that are no texts."""
    for key in keys:
        if not isinstance(content[key], str):
            raise InputError(expected=f"a text as {key}", got=json.dumps(content[key]), path=path)


def model_numbers(values: Any, key: str, path: str | os.PathLike[str]) -> tuple[float, ...]:
    """Return a list of numbers from a model file, or say that it is none."""
    if not isinstance(values, list):
        raise InputError(expected=f"a list of numbers as {key}", got=json.dumps(values), path=path)
    for value in values:
        if not isinstance(value, float):
            raise InputError(expected=f"numbers as {key}", got=json.dumps(value), path=path)
    return tuple(values)


def refuse_other_levels(levels: Sequence[float], wanted: Sequence[float] | None, path: str | os.PathLike[str]) -> None:
    """Refuse a model whose levels are not those of the wanted scale; without one, any will do."""
    if wanted is not None and tuple(levels) != tuple(wanted):
        raise InputError(
            expected=f"a model for the gains {listed(wanted)}",
            got=f"one for {listed(levels)}",
            path=path,
            hint="fit a model on this scale",
        )


def listed(values: Sequence[float]) -> str:
    """Write numbers with commas between."""
    return ", ".join(f"{value:g}" for value in values)
