"""Metadata: what is known about documents besides their relevance, such as artist and genre."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

import polars as pl

from earmark.data.display import Display, DisplayTable, Summary
from earmark.errors import ParameterError
from earmark.wording import counted


@dataclass(frozen=True, eq=False, repr=False)
class Metadata(Display):
    """A table with one row per document.

    Parameters
    ----------
    frame : polars.DataFrame
        A column ``document`` and any number of attributes, all text; null where nothing is known.
    """

    frame: pl.DataFrame

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes, in the file's order."""
        return tuple(name for name in self.frame.columns if name != "document")

    def attribute(self, name: str) -> dict[str, str]:
        """Return the known values of one attribute by document."""
        if name not in self.attributes:
            close = difflib.get_close_matches(name, self.attributes, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(self.attributes) or 'none'}"
            raise ParameterError(f"the metadata has no column '{name}': {hint}")
        known = self.frame.filter(pl.col(name).is_not_null())
        return dict(zip(known["document"], known[name], strict=True))

    def __str__(self) -> str:
        return f"metadata of {counted(self.frame.height, 'document')}: {', '.join(self.attributes) or 'no attributes'}"

    def _summary(self) -> Summary:
        """Show the first documents, and how many different values each attribute has."""
        known = [f"{counted(self.frame[name].n_unique(), 'value')} of {name}" for name in self.attributes]
        documents = counted(self.frame.height, "document")
        return Summary(f"{documents}, {', '.join(known) or 'no attributes'}", [DisplayTable(self.frame, most=5)])
