"""Pages and tables from templates: one look for reports, the demonstration, and whatever else is shown in a browser.

The templates are in ``templates/``: ``base.html.jinja`` is the frame of every page, ``parts.html.jinja`` has the pieces
that pages share, ``earmark.css`` is the style sheet of all of them, and ``tables/*.tex.jinja`` are tables for LaTeX. A
template chooses words and formats numbers; it computes nothing. Jinja2 is needed to render and not before:
``pip install 'earmark[plots]'``.

>>> from earmark.pages import render
>>> page = render("questions.html", grades=["0 · not similar"], queries=[], questions=0)
>>> page.splitlines()[0]
'<!DOCTYPE html>'
"""

from earmark.pages.rendering import latex, need_jinja, render, write_page

__all__ = ["latex", "need_jinja", "render", "write_page"]
