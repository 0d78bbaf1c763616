r"""Docstrings on a terminal: help of commands and options, and descriptions of measures without LaTeX.

Only what the docstrings of commands and measures use is understood; anything else passes through as it is.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any

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
    prose = _sections(documented.__doc__)[""].strip()
    paragraphs = tuple(plain(" ".join(part.split())) for part in prose.split("\n\n"))
    return Documentation(paragraphs, {name: plain(text) for name, text in parameter_texts(documented).items()})


def command_help(docstring: str | None) -> tuple[str, list[str]]:
    """Return the text of a command's docstring, each paragraph on one line, and its examples."""
    sections = _sections(docstring)
    prose = "\n\n".join(part.replace("\n", " ") for part in sections[""].strip().split("\n\n"))
    # An example that goes on in the next line is indented there.
    examples = re.sub(r"\n +", " ", sections.get("Examples", "").strip()).splitlines()
    return prose, examples


def parameter_texts(documented: Any) -> dict[str, str]:
    """Return what every parameter of a function or a class means, those of base classes included."""
    texts: dict[str, str] = {}
    for one in reversed(getattr(documented, "__mro__", [documented])):
        names: list[str] = []
        for line in _sections(one.__doc__).get("Parameters", "").strip().splitlines():
            if line.startswith(" "):
                texts |= {name: f"{texts[name]} {line.strip()}".strip() for name in names}
            elif line:
                names = [name.strip() for name in line.split(":")[0].split(",")]
                texts |= dict.fromkeys(names, "")
    return texts


def _sections(docstring: str | None) -> dict[str, str]:
    """Cut a docstring at its underlined headings; what stands before the first is under no name."""
    first, *parts = re.split(r"(?:^|\n)([A-Z]\w+)\n-{3,}\n", inspect.cleandoc(docstring or ""))
    return {"": first, **dict(zip(parts[::2], parts[1::2], strict=True))}


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
