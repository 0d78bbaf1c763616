r"""Docstrings as Markdown: what numpydoc writes in reStructuredText, for mkdocstrings to render.

An extension of griffe, called once all modules are read. Sections such as ``Parameters`` stay as they are, since griffe
knows them; this is about the text in and between them:

- formulas, ``:math:`` and ``.. math::``, become ``$…$`` and ``$$…$$``;
- roles such as ``:func:`` become links to what they name, or code where that has no place on the pages;
- simple tables become Markdown's, literal blocks become fences;
- references become a list whose entries link to the references page; ``[1]_`` becomes ``[1]``.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import griffe

_RULE = re.compile(r"=+(?: +=+)+")
_MATH = re.compile(r"( *)\.\. math::(.*)")
_HEADING = re.compile(r"-{3,}")
_ROLE = re.compile(r":(\w+):`(~?)([^`]+)`")
_ENTRY = re.compile(r"(?:\.\. \[(\d+)\]|([A-Z]+):) (.*)")
_AUTHORS = re.compile(r"([^:(]+?) \((\d{4})\)")

Resolve = Callable[[str], str | None]


class Restructured(griffe.Extension):
    """Turn every docstring of a package into Markdown."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Go through a package that has been read completely."""
        for thing in _members(pkg):
            if thing.docstring:
                thing.docstring.value = to_markdown(thing.docstring.value, resolve=_resolver(thing))


def _members(thing: griffe.Object) -> Iterator[griffe.Object]:
    yield thing
    for member in thing.members.values():
        if isinstance(member, griffe.Object):
            yield from _members(member)


def _resolver(thing: griffe.Object) -> Resolve:
    def resolve(name: str) -> str | None:
        if name.startswith("earmark."):
            return name
        first, *rest = name.split(".")
        try:
            return ".".join([thing.resolve(first), *rest])
        except griffe.NameResolutionError:
            return None

    return resolve


def to_markdown(docstring: str, *, resolve: Resolve) -> str:
    """Turn a docstring into Markdown.

    Parameters
    ----------
    docstring : str
        Without the indentation that it has in the code.
    resolve : callable
        Gives the full name of what a role names, or None if there is no such thing.
    """
    lines = docstring.split("\n")
    parts: list[str] = []
    text: list[str] = []
    section = ""

    def keep(converted: str) -> None:
        parts.extend([inline("\n".join(text), resolve=resolve), converted])
        text.clear()

    at = 0
    while at < len(lines):
        line = lines[at]
        if at + 1 < len(lines) and line.strip() and _HEADING.fullmatch(lines[at + 1].strip()):
            section = line.strip()
            if section == "References":
                end = _end_of_section(lines, at + 2)
                text.append(_references(lines[at + 2 : end]))
                at = end
            else:
                text.extend(lines[at : at + 2])
                at += 2
        elif _RULE.fullmatch(line.strip()):
            end = at + 1
            while lines[end].strip():
                end += 1
                if end == len(lines):
                    break
            text.append(_table(lines[at:end]))
            at = end
        elif found := _MATH.match(line):
            end = _end_of_indented(lines, at + 1, indent=len(found[1]))
            formula = " ".join(" ".join([found[2], *lines[at + 1 : end]]).split())
            keep(textwrap.indent(f"\n$$\n{formula}\n$$\n", found[1]))
            at = end
        elif line.endswith("::"):
            text.append(line[:-1])
            indent = len(line) - len(line.lstrip())
            end = _end_of_indented(lines, at + 1, indent=indent)
            block = textwrap.dedent("\n".join(lines[at + 1 : end])).strip("\n")
            keep(textwrap.indent(f"\n```text\n{block}\n```\n", " " * indent))
            at = end
        elif line.lstrip().startswith(">>>"):
            end = at
            while end < len(lines) and lines[end].strip():
                end += 1
            block = "\n".join(lines[at:end])
            # Griffe finds the examples of a section called so by itself.
            keep(block if section == "Examples" else f"```pycon\n{block}\n```")
            at = end
        else:
            text.append(line)
            at += 1
    keep("")
    return "\n".join(parts).strip("\n")


def inline(text: str, *, resolve: Resolve) -> str:
    """Turn what stands within lines into Markdown: roles, formulas, marks of references."""

    def link(found: re.Match[str]) -> str:
        role, short, target = found.groups()
        target = " ".join(target.split())
        if role == "math":
            return f"${target}$"
        shown = target.rpartition(".")[2] if short else target
        identifier = resolve(target)
        code = f"<code>{shown}</code>"
        return code if identifier is None else f'<autoref optional identifier="{identifier}">{code}</autoref>'

    text = _ROLE.sub(link, text)
    # A star that ends this name must not begin emphasis.
    text = re.sub(r"(?<![`\w])bpref\*(?!`)", "`bpref*`", text)
    # Two brackets side by side would make a link.
    return re.sub(r"\[(\d+)\]_", r"<span>[\1]</span>", text)


def reference_key(citation: str) -> str | None:
    """Return the key of a citation on the references page, made of the first author and the year.

    Examples
    --------
    >>> reference_key("L. V. Hedges, I. Olkin (1985). Statistical methods.")
    'Hedges1985'
    """
    found = _AUTHORS.match(citation)
    if not found:
        return None
    surname = unicodedata.normalize("NFKD", found[1].split(",")[0].split()[-1])
    return "".join(letter for letter in surname if letter.isascii() and letter.isalnum()) + found[2]


def _references(lines: list[str]) -> str:
    entries: list[list[str]] = []
    for line in lines:
        if _ENTRY.match(line) or not entries:
            entries.append([line])
        elif line.strip():
            entries[-1].append(line.strip())
    return "\n".join(["References", "----------", *(f"- {_reference(' '.join(entry))}" for entry in entries), ""])


def _reference(entry: str) -> str:
    found = _ENTRY.match(entry)
    mark, citation = (found[1] or found[2], found[3]) if found else ("", entry)
    mark = f"<span>[{mark}]</span> " if mark.isdecimal() else f"{mark}: " if mark else ""
    key = reference_key(citation)
    cited = _AUTHORS.match(citation)
    if key is None or cited is None:
        return mark + citation
    return f'{mark}<autoref optional identifier="{key.lower()}">{cited[0]}</autoref>{citation[cited.end() :]}'


def _table(lines: list[str]) -> str:
    """Turn a simple table, rule above and below and perhaps one under its header, into Markdown."""
    spans = [(column.start(), column.end()) for column in re.finditer("=+", lines[0])]
    spans[-1] = (spans[-1][0], max(map(len, lines)))
    rules = [at for at, line in enumerate(lines) if _RULE.fullmatch(line.strip())]
    rows: list[list[str]] = []
    for at, line in enumerate(lines):
        if at in rules:
            continue
        cells = _cells(line, spans)
        if cells[0] or not rows:
            rows.append(cells)
        else:
            rows[-1] = [f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)]
    if len(rules) == 2:
        rows.insert(0, [""] * len(spans))
    rows.insert(1, ["---"] * len(spans))
    return "\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def _cells(line: str, spans: list[tuple[int, int]]) -> list[str]:
    apart = re.split(r" {2,}", line.strip())
    # Where a cell is longer than its column, blanks tell cells apart better than positions.
    cells = apart if len(apart) == len(spans) else [line[start:end].strip() for start, end in spans]
    # Within formulas and code a bar would end the cell.
    return [re.sub(r"\|", r"\\vert ", cell) if ":math:" in cell else cell.replace("|", r"\|") for cell in cells]


def _end_of_section(lines: list[str], start: int) -> int:
    for at in range(start, len(lines) - 1):
        if lines[at].strip() and _HEADING.fullmatch(lines[at + 1].strip()):
            return at
    return len(lines)


def _end_of_indented(lines: list[str], start: int, *, indent: int) -> int:
    end = start
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    return end
