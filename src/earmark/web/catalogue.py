"""All words of the pages, by language: one TOML file each in ``texts/``.

A file has a table for every part of the app. Words that a language lacks are taken from English, so that a translation
may grow; a test finds what is missing.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

ENGLISH = "en"
LANGUAGES = {"en": "English", "es": "Español"}


@cache
def words(language: str, part: str) -> dict[str, Any]:
    """Return the words of a part of the app.

    Parameters
    ----------
    language : str
        ``en`` or ``es``; anything else is English.
    part : str
        The table, such as ``judge``.
    """
    english = _read(ENGLISH).get(part, {})
    return {**english, **_read(language).get(part, {})} if language in LANGUAGES else dict(english)


def chosen_language(wanted: str | None, usual: str) -> str:
    """Return the language that somebody asked for, or the usual one."""
    return wanted if wanted in LANGUAGES else usual


@cache
def _read(language: str) -> dict[str, dict[str, Any]]:
    text = files("earmark.web").joinpath("texts", f"{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
