r"""Docstrings on a terminal: formulas without LaTeX, paragraphs without hard line breaks, parameters as rows.

Only what the docstrings of measures use is understood; anything else passes through as it is.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass

_SYMBOLS = {
    r"\sum": "Σ",
    r"\prod": "Π",
    r"\le": "≤",
    r"\ge": "≥",
    r"\cdot": "·",
    r"\beta": "β",
    r"\epsilon": "ε",
    r"\min": "min",
    r"\max": "max",
    r"\log": "log",
    r"\left": "",
    r"\right": "",
    r"\,": " ",
    "\\ ": " ",
}
_TERM = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
_FRACTION = re.compile(rf"\\t?frac{_TERM}{_TERM}")


@dataclass(frozen=True)
class Documentation:
    """What a class says about itself.

    Parameters
    ----------
    paragraphs : tuple of str
        The text, each paragraph on one line.
    parameters : dict of str to str
        What every parameter means, those of its base classes included.
    """

    paragraphs: tuple[str, ...]
    parameters: dict[str, str]


def document(documented: type) -> Documentation:
    """Read the docstring of a class, and those of its base classes for the parameters it inherits."""
    paragraphs, parameters = _read(inspect.getdoc(documented) or "")
    for base in documented.__mro__[1:-1]:
        parameters = {**_read(inspect.cleandoc(base.__doc__ or ""))[1], **parameters}
    return Documentation(tuple(paragraphs), parameters)


def _read(text: str) -> tuple[list[str], dict[str, str]]:
    prose, _, section = text.partition("\nParameters\n----------\n")
    paragraphs = [plain(" ".join(part.split())) for part in prose.strip().split("\n\n")]
    parameters: dict[str, str] = {}
    names: list[str] = []
    for line in section.partition("\n\n")[0].splitlines():
        if line.startswith(" "):
            for name in names:
                parameters[name] = f"{parameters[name]} {line.strip()}".strip()
        else:
            names = [name.strip() for name in line.split(":")[0].split(",")]
            parameters |= dict.fromkeys(names, "")
    return paragraphs, {name: plain(meaning) for name, meaning in parameters.items()}


def plain(text: str) -> str:
    r"""Take markup out of a text: ``:math:`\sum_{r \le k} x_r``` becomes Σ_{r ≤ k} x_r."""
    text = re.sub(r":math:`([^`]*)`", lambda found: _plain_formula(found[1]), text)
    text = re.sub(r"^\.\. math:: *(.*)$", lambda found: _plain_formula(found[1]), text)
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"\1", text)
    text = re.sub(r"(?<!\w)\*(\w+)\*(?!\w)", r"\1", text)
    return text.replace("``", "")


def _plain_formula(formula: str) -> str:
    for command, symbol in _SYMBOLS.items():
        formula = re.sub(re.escape(command) + (r"(?![A-Za-z])" if command[-1].isalpha() else ""), symbol, formula)
    while _FRACTION.search(formula):
        formula = _FRACTION.sub(lambda found: f"{_group(found[1])}/{_group(found[2])}", formula)
    return re.sub(r"\{(\w)\}", r"\1", formula).replace("  ", " ").strip()


def _group(term: str) -> str:
    return term if re.fullmatch(r"[\w.]+(_\{?\w+\}?)?", term) else f"({term})"
