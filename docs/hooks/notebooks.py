"""Notebooks as pages: what is in them becomes Markdown, and the site treats it as any other page.

Links are checked, formulas are set and the look is that of the site, which a notebook turned into HTML by itself would
not have. Nothing is run: outputs are those stored in the notebook.
"""

from __future__ import annotations

import base64
import re
from typing import Any

import nbformat
from mkdocs.structure.files import File

# The first kind of output that there is gets shown.
_IMAGES = ("image/svg+xml", "image/png", "image/jpeg")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


class Notebook(File):
    """A notebook that pretends to be a page."""

    @classmethod
    def of(cls, file: File) -> Notebook:
        """Make a page of a file."""
        page = cls(file.src_uri, file.src_dir, file.dest_dir, file.use_directory_urls, inclusion=file.inclusion)
        page.content_string = to_markdown(file.content_string)
        return page

    def is_documentation_page(self) -> bool:
        """Say yes."""
        return True


def to_markdown(notebook: str) -> str:
    """Turn a notebook into Markdown."""
    cells = nbformat.reads(notebook, as_version=4).cells  # type: ignore[no-untyped-call]
    return "\n\n".join(part for cell in cells for part in _cell(cell)) + "\n"


def _cell(cell: Any) -> list[str]:
    hidden = set(cell.metadata.get("tags", []))
    if cell.cell_type == "markdown":
        return [cell.source]
    if cell.cell_type != "code" or not cell.source.strip():
        return []
    shown = [] if "hide-input" in hidden else [_fence(cell.source, "python")]
    return shown + [_output(output) for output in cell.outputs]


def _output(output: Any) -> str:
    if output.output_type == "stream":
        return _fence(output.text, "text")
    if output.output_type == "error":
        return _fence("\n".join(output.traceback), "text")
    for kind in _IMAGES:
        if kind in output.data:
            return _image(kind, output.data[kind])
    if "text/html" in output.data:
        return f'<div class="output">\n{_html(output.data["text/html"])}\n</div>'
    if "text/markdown" in output.data:
        return str(output.data["text/markdown"])
    return _fence(output.data.get("text/plain", ""), "text")


def _fence(text: str, language: str) -> str:
    marker = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    kind = " .output" if language == "text" else ""
    return f"{marker}{{ .{language}{kind} }}\n{_ESCAPES.sub('', text).rstrip()}\n{marker}"


def _image(kind: str, data: str) -> str:
    encoded = base64.b64encode(data.encode()).decode() if kind == "image/svg+xml" else "".join(data.split())
    return f'<p class="output"><img alt="Output of the cell above" src="data:{kind};base64,{encoded}"></p>'


def _html(text: str) -> str:
    """Take out what a table brings of its own looks, and blank lines, at which Markdown would take over."""
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    return "\n".join(line for line in text.splitlines() if line.strip())
