"""Pieces of HTML: tables, lists, figures, and how numbers are written in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

# Longer tables are folded.
_FEW_ROWS = 15
# Tables that are longer still are not printed: nobody reads ten pages of pairs.
_FIT_FOR_PAPER = 80
# Longer names may have to be broken to fit a line.
_SHORT_NAME = 24


def table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """Set a table; a column has a header and a class: n for numbers, s for names, h for hashes."""
    head = "".join(f'<th class="{kind}">{escape(name)}</th>' for name, kind in columns)
    lines = []
    for row in rows:
        cells = zip(row, columns, strict=True)
        lines.append("".join(f'<td class="{_class(cell, kind)}">{escape(cell)}</td>' for cell, (_, kind) in cells))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def folded(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]], *, what: str) -> str:
    """Set a table that is folded where it is long, under what its rows are."""
    set_table = table(columns, rows)
    if len(rows) <= _FEW_ROWS:
        return set_table
    unfolded = f"<summary>{escape(what)}</summary>{set_table}"
    if len(rows) <= _FIT_FOR_PAPER:
        return f"<details>{unfolded}</details>"
    instead = paragraph(f"{what}: on the page as it is on screen.", kind="note instead")
    return f'<details class="long">{unfolded}</details>{instead}'


def figure(svg: str, caption: str = "") -> str:
    """Set a picture with what it shows below it."""
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f'<figure><div class="drawn">{svg}</div>{below}</figure>'


def section(title: str, *parts: str) -> str:
    """Set a part of the page under its title."""
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def paragraph(text: str, *, kind: str = "") -> str:
    """Set a paragraph."""
    of = f' class="{kind}"' if kind else ""
    return f"<p{of}>{escape(text)}</p>"


def whole(text: str, names: Iterable[str]) -> str:
    """Set text in which short names with a hyphen or a blank are not broken between two lines."""
    broken = sorted((name for name in names if len(name) <= _SHORT_NAME and re.search(r"\w[- ]\w", name)), key=len)
    if not broken:
        return escape(text)
    either = "|".join(re.escape(escape(name)) for name in reversed(broken))
    return re.sub(rf"(?<![\w-])({either})(?![\w-])", r'<span class="whole">\1</span>', escape(text))


def bullets(items: Iterable[str]) -> str:
    """Set a list of what is HTML already."""
    return f'<ul class="plain">{"".join(f"<li>{item}</li>" for item in items)}</ul>'


def sentence(text: str) -> str:
    """Make a sentence of a note."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def number(value: float, digits: int = 4) -> str:
    """Write a number."""
    return f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 4) -> str:
    """Write a difference."""
    return f"{value:+.{digits}f}".replace("-", "−")


def _class(cell: str, kind: str) -> str:
    return f"{kind} open" if cell == "open" and kind == "n" else kind
