"""Originals: the files, texts and links that belong to every query and document.

An original is one of them, a medium all that belongs to one query or document. :mod:`earmark.media.reading` finds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from earmark.data.display import Display, DisplayTable, Summary
from earmark.wording import counted

QUERY, DOCUMENT, TWIN = "query", "document", "twin"
"""A twin is a second recording of a query, which is heard where a query stands beside itself."""


@dataclass(frozen=True)
class Original:
    """One thing that is heard or seen: a file, a text or a link.

    Parameters
    ----------
    kind : {"audio", "image", "score", "text", "link"}
        What it is.
    path : Path, optional
        The file.
    text, url : str, optional
        A text that stands in the map; the address of a link.
    start, end : float, optional
        The excerpt of this recording, in seconds, where it is not the usual one.
    shift : float
        By how many seconds the excerpt is moved. Where the recording has no room for that, the excerpt is as long as it
        would be, and what is missing at its end is a reflection.
    """

    kind: str
    path: Path | None = None
    text: str | None = None
    url: str | None = None
    start: float | None = None
    end: float | None = None
    shift: float = 0.0

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return str(self.path) if self.path is not None else self.url or ""


class UnusableError(Exception):
    """An original that cannot be used: one word for what is wrong, and the details."""

    def __init__(self, problem: str, detail: str) -> None:
        super().__init__(problem, detail)
        self.problem = problem
        self.detail = detail


@dataclass(frozen=True)
class Medium:
    """What belongs to a query or a document, in the order in which it is shown; nothing if nothing was found."""

    role: str
    id: str
    originals: tuple[Original, ...] = ()
    title: str = ""


@dataclass(frozen=True, repr=False)
class Media(Display):
    """The originals of all queries and documents.

    Attributes
    ----------
    media : tuple of Medium
        One of every query, then one of every document.
    encoding : str
        That of texts.
    unused : int
        How many files or rows of the map belong to no query or document.
    """

    media: tuple[Medium, ...]
    encoding: str = "utf-8"
    unused: int = 0

    @property
    def originals(self) -> list[Original]:
        """All different originals."""
        return list(dict.fromkeys(original for medium in self.media for original in medium.originals))

    def _summary(self) -> Summary:
        roles = [medium.role for medium in self.media]
        queries, documents = (
            counted(roles.count(QUERY), "query", "queries"),
            counted(roles.count(DOCUMENT), "document"),
        )
        rows = [(m.role, m.id, o.kind, o.name) for m in self.media for o in m.originals[:1]]
        frame = pl.DataFrame(rows, schema=["role", "id", "kind", "file"], orient="row")
        sentence = f"{counted(len(self.originals), 'original')} of {queries} and {documents}"
        return Summary(sentence, [DisplayTable(frame, "the first of each")])
