"""What mkdocs calls while it builds the site: notebooks become pages, code is listed, formulas become pictures."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
from formulas import with_formulas
from notebooks import Notebook

SOURCE = Path(__file__).parents[2] / "src"
_NAMES = "<!-- names of earmark -->"
_MODULES = re.compile(r"^<!-- all other modules of ([\w.]+) -->$", flags=re.MULTILINE)


def on_files(files: Files, **_: Any) -> Files:
    """Put notebooks among the pages."""
    return Files([Notebook.of(file) if file.src_uri.endswith(".ipynb") else file for file in files])


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """List what a page about code does not name itself, and let search put guides before code."""
    if not page.file.src_uri.startswith("api/"):
        return markdown
    page.meta["search"] = {"boost": 0.3}
    if _NAMES in markdown:
        markdown = markdown.replace(_NAMES, names_by_layer())
    return _MODULES.sub(lambda found: other_modules(found[1], markdown), markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Set the formulas of a page."""
    return with_formulas(html)


def names_by_layer() -> str:
    """Return a table of what ``import earmark`` offers, each name linked to its explanation."""
    package = griffe.load("earmark", search_paths=[SOURCE])
    links: dict[str, list[str]] = {}
    for name in sorted(package.exports or [], key=lambda name: str(name).lower()):
        member = package.members[str(name)]
        if isinstance(member, griffe.Alias) and not member.is_special:
            home = member.final_target.path
            link = f'<autoref optional identifier="{home}"><code>{name}</code></autoref>'
            links.setdefault(home.split(".")[1], []).append(link)
    pages = [path.stem for path in sorted(SOURCE.joinpath("earmark").iterdir()) if path.stem in links]
    rows = [f"| {layer} | {', '.join(links[layer])} |" for layer in pages]
    return "\n".join(["| from | there is |", "|---|---|", *rows])


def other_modules(package: str, markdown: str) -> str:
    """Return what makes mkdocstrings show the modules of a package that a page does not show."""
    folder = SOURCE.joinpath(*package.split("."))
    modules = sorted(f"{package}.{path.stem}" for path in folder.glob("*.py") if path.stem != "__init__")
    return "\n\n".join(f"::: {name}" for name in modules if f"::: {name}\n" not in markdown)
