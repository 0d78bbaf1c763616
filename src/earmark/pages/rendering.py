"""Rendering a template: text that users gave is escaped, for HTML and for LaTeX alike, and no value may be missing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark._version import __version__
from earmark.data.files import replacing
from earmark.errors import MissingLibraryError
from earmark.wording import DIGITS, counted, decimal, in_percent, sentence

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

DASH = "–"
"""Stands where there is no number."""

# Longer names may have to be broken to fit a line.
_SHORT_NAME = 24
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "_": r"\_",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # After the end of a row these would be taken for options of it.
    "*": r"{*}",
    "[": r"{[}",
    "]": r"{]}",
    "−": "$-$",
    DASH: "--",
}


def render(template: str, /, **values: Any) -> str:
    """Render a template.

    Parameters
    ----------
    template : str
        Its path in ``templates/`` without the last suffix: ``report.html``, ``tables/pairs.tex``. What it ends with
        decides how values are escaped.
    **values
        What the template names.

    Raises
    ------
    MissingLibraryError
        Where Jinja2 is not installed.
    """
    return _environment(latex_syntax=template.endswith(".tex")).get_template(f"{template}.jinja").render(values)


def write_page(text: str, path: Path) -> None:
    """Write a page to a file, all of it or nothing."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def need_jinja() -> None:
    """Say what to install where Jinja2 is missing."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise MissingLibraryError("pages need Jinja2: pip install 'earmark[plots]'") from None


@cache
def _environment(*, latex_syntax: bool) -> Environment:
    need_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("earmark.pages")
    environment = Environment(
        loader=loader,
        undefined=StrictUndefined,
        autoescape=True,
        extensions=["jinja2.ext.do"],
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "count": lambda value: DASH if value is None else f"{value:,}",
        "counted": counted,
        "labelled": _labelled,
        "level": lambda value: f"{100 * value:g}%",
        "number": _number,
        "percent": in_percent,
        "sentence": sentence,
        "share": _share,
        "short": lambda value: _number(value, 1 if value >= 1 else 2),
        "signed": lambda value, digits=DIGITS: _number(value, digits, sign="+"),
        "unbroken": _unbroken,
    }
    environment.tests["nan"] = math.isnan
    # The style sheet is put into the page, so that a page is one file.
    environment.globals |= {"version": __version__, "style": Markup(loader.get_source(environment, "earmark.css")[0])}
    if not latex_syntax:
        return environment
    # Braces and percent signs mean something to LaTeX. Every value is escaped, as it is for HTML.
    return environment.overlay(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        autoescape=False,
        finalize=latex,
    )


def latex(value: object) -> str:
    """Write text so that LaTeX prints it as it is."""
    return "".join(_LATEX.get(letter, letter) for letter in str(value))


def _number(value: float | None, digits: int = DIGITS, *, sign: str = "-") -> str:
    """Write a number with a minus and not a hyphen."""
    return DASH if value is None else decimal(value, digits, sign=sign).replace("-", "−")


def _share(value: float | None) -> str:
    """Write a share in whole percent; less than all is never rounded to all."""
    return DASH if value is None else f"{100 if value >= 1 else min(100 * value, 99):.0f}%"


def _labelled(table: str) -> Markup:
    """Give every cell of a table of ours the title of its column, which stands before it where rows are stacked."""
    from markupsafe import Markup

    head, end, body = str(table).partition("</thead>")
    titles = re.findall(r"<th\b[^>]*>(.*?)</th>", head)

    def with_titles(row: re.Match[str]) -> str:
        following = iter(titles)
        return re.sub(r"<td\b", lambda _: f'<td data-title="{next(following, "")}"', row[0])

    return Markup(head + end + re.sub(r"<tr>.*?</tr>", with_titles, body, flags=re.DOTALL))


def _unbroken(text: str, names: Iterable[str]) -> Markup:
    """Set text in which short names with a hyphen or a blank are not broken between two lines."""
    from markupsafe import Markup, escape

    short = sorted((name for name in names if len(name) <= _SHORT_NAME and re.search(r"\w[- ]\w", name)), key=len)
    if not short:
        return escape(text)
    either = "|".join(re.escape(str(escape(name))) for name in reversed(short))
    return Markup(re.sub(rf"(?<![\w-])({either})(?![\w-])", r'<span class="unbroken">\1</span>', str(escape(text))))
