"""Sentences that an estimate keeps in English, said in the language of a page.

Verdicts, stop decisions and forecasts are written by the statistics, which know no language of a page, and are kept
with an estimate. The table ``verdict`` of every file in ``texts/`` has the same sentences under the same names, with
placeholders. A sentence is recognised by the English table and said by the table of another language.

What a placeholder stands for follows from its name, without digits at its end:

=============  =========================================================================================================
``{system}``   the name of a system of the campaign
``{systems}``  names of systems, joined by *and* or *or*
``{number}``   a number, which is written as the language does
``{phrase}``   a part of a sentence, which has an entry of its own
``{text}``     anything, which stays as it is
=============  =========================================================================================================

Names of systems are matched by the names that there are, so a system may be called ``is better than``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from earmark.web.catalogue import ENGLISH, words

_PLACEHOLDER = re.compile(r"\{((system|systems|number|phrase|text)\d*)\}")
_NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
# Spanish writes four digits without a separator.
_FROM_DIGITS = 5


class Translator:
    """Says English sentences in another language.

    Parameters
    ----------
    language : str
    systems : sequence of str
        The names of all systems.

    Examples
    --------
    >>> Translator("es", ["a", "b"])("a and b cannot be told apart yet.")
    'Todavía no se puede distinguir entre a y b.'
    """

    def __init__(self, language: str, systems: Sequence[str]) -> None:
        self._grammar = words(language, "grammar")
        self._joints = {words(ENGLISH, "grammar")[name]: self._grammar[name] for name in ("and", "or")}
        names = "|".join(re.escape(name) for name in sorted(systems, key=len, reverse=True)) or r"(?!)"
        joints = "|".join(self._joints)
        shapes = {
            "system": f"(?:{names})",
            "systems": f"(?:{names})(?:(?:, | (?:{joints}) )(?:{names}))*",
            "number": _NUMBER,
            "phrase": ".+?",
            "text": ".+?",
        }
        self._named = re.compile(f"({names})(, | (?:{joints}) |$)")
        self._patterns = [(re.compile(_pattern(english, shapes)), said) for english, said in _both(language)]

    def __call__(self, sentence: str) -> str | None:
        """Return a sentence in the language; None where it is not known."""
        for pattern, said in self._patterns:
            found = pattern.fullmatch(sentence)
            if found is None:
                continue
            parts = {name: self._part(name.rstrip("0123456789"), text) for name, text in found.groupdict().items()}
            if None not in parts.values():
                return said.format_map(parts)
        return None

    def _part(self, kind: str, text: str) -> str | None:
        if kind == "phrase":
            return self(text)
        if kind == "number":
            return self._number(text)
        return self._list(text) if kind == "systems" else text

    def _number(self, text: str) -> str:
        whole, point, fraction = text.partition(".")
        digits = whole.replace(",", "")
        if len(digits.lstrip("−-")) >= _FROM_DIGITS:
            whole = whole.replace(",", self._grammar["thousands"])
        elif self._grammar["thousands"] != ",":
            whole = digits
        return whole + (self._grammar["decimal"] if point else "") + fraction

    def _list(self, text: str) -> str:
        """Put names in a row with the words of the language."""
        made, place = "", 0
        while place < len(text):
            found = self._named.match(text, place)
            # A list of names was recognised before.
            assert found is not None
            name, joint = found.groups()
            word = self._joints.get(joint.strip())
            made += name + (joint if word is None else f" {word} ")
            place = found.end()
        return made


def _both(language: str) -> list[tuple[str, str]]:
    """Return the English and the other sentences, those with fewer free parts first."""
    english, other = words(ENGLISH, "verdict"), words(language, "verdict")
    keys = sorted(english, key=lambda key: (len(re.findall(r"\{(?:phrase|text)", english[key])), -len(english[key])))
    return [(english[key], other[key]) for key in keys]


def _pattern(template: str, shapes: dict[str, str]) -> str:
    """Return the regular expression of a sentence with placeholders."""
    parts = _PLACEHOLDER.split(template)
    made = []
    for place in range(0, len(parts), 3):
        made.append(re.escape(parts[place]))
        if place + 2 < len(parts):
            made.append(f"(?P<{parts[place + 1]}>{shapes[parts[place + 2]]})")
    return "".join(made)


@lru_cache(maxsize=16)
def translator(language: str, systems: tuple[str, ...]) -> Translator:
    """Return a translator, made once for a language and a campaign."""
    return Translator(language, systems)


def translated_state(state: dict[str, Any], language: str, systems: Sequence[str]) -> dict[str, Any]:
    """Return what the dashboard shows with its sentences in a language.

    Parameters
    ----------
    state : dict
        As from :func:`earmark.web.dashboard.state`; it stays as it is.
    language : str
    systems : sequence of str
        The names of all systems.

    Returns
    -------
    dict
        With ``untranslated``: the sentences that stay English, so that a page can mark them for screen readers.
    """
    if language == ENGLISH:
        return state | {"untranslated": []}
    known, rest = translator(language, tuple(systems)), list[str]()

    def say(text: str | None) -> str | None:
        said = known(text) if text else text
        if said is None and text:
            rest.append(text)
            return text
        return said

    shown = dict(state)
    shown["campaign"] = _with(state["campaign"], say, "reason")
    for name, fields in {"verdict": ("headline", "summary"), "progress": ("reason",), "ahead": ("said",)}.items():
        if state.get(name):
            shown[name] = _with(state[name], say, *fields)
    if state.get("guarantee"):
        shown["guarantee"] = _with(state["guarantee"], say, "said")
    if shown.get("verdict"):
        shown["verdict"]["premises"] = [say(note) for note in shown["verdict"]["premises"]]
        shown["verdict"]["neighbours"] = [_with(one, say, "text") for one in shown["verdict"]["neighbours"]]
        basis = shown["verdict"].get("basis")
        if basis and basis.get("other"):
            shown["verdict"]["basis"] = _with(basis, say, "other")
    if state.get("notes"):
        shown["notes"] = [say(note) for note in state["notes"]]
    return shown | {"untranslated": rest}


def _with(part: dict[str, Any], say: Callable[[str | None], str | None], *names: str) -> dict[str, Any]:
    return part | {name: say(part[name]) for name in names if name in part}
