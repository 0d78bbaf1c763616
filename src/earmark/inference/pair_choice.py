"""Which pairs of systems are listed: all of them, those among the best, those with a baseline, or none.

A hundred systems make 4,950 pairs, of which few people want more than those among the best. The choice concerns what is
listed pair by pair, with intervals; how sure a ranking is as a whole is always about all pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import polars as pl

from earmark.errors import ParameterError

if TYPE_CHECKING:
    from earmark.inference.confidence import Ranking

MANY_SYSTEMS = 60
"""Above so many systems, only pairs among the best are listed unless all are asked for."""

USUAL_TOP = 20
"""How many systems are then the best."""

_FORMS = "all, top:20, baseline or none"


@dataclass(frozen=True)
class PairChoice:
    """Which pairs are listed.

    Parameters
    ----------
    kind : {"all", "top", "baseline", "none"}
    top : int
        How many systems are the best, for `top`.

    Examples
    --------
    >>> PairChoice.parse("top:5")
    PairChoice(kind='top', top=5)
    """

    kind: Literal["all", "top", "baseline", "none"] = "all"
    top: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``all``, ``top:20``, ``baseline`` or ``none``.

        Raises
        ------
        ParameterError
            For anything else.
        """
        name, _, count = text.strip().lower().partition(":")
        if name == "top" and count.isdecimal() and int(count) >= 2:
            return cls("top", int(count))
        if name == "top":
            raise ParameterError(f"--pairs top is followed by how many systems, two or more: top:20, got '{text}'")
        if name not in ("all", "baseline", "none") or count:
            raise ParameterError(f"--pairs is {_FORMS}, got '{text}'")
        return cls(name)  # type: ignore[arg-type]

    @classmethod
    def usual(cls, n_systems: int) -> Self:
        """Return all pairs, or those among the best of very many systems."""
        return cls("top", USUAL_TOP) if n_systems > MANY_SYSTEMS else cls("all")

    def keep(self, frame: pl.DataFrame, ranking: Ranking, baseline: str | None = None) -> pl.DataFrame:
        """Keep the rows of the pairs that are listed.

        Parameters
        ----------
        frame : polars.DataFrame
            With columns ``a`` and ``b``, as from :meth:`Ranking.pairs_frame`.
        ranking : Ranking
            Which systems are the best.
        baseline : str, optional

        Raises
        ------
        ParameterError
            If the pairs with a baseline are to be listed and there is none.
        """
        if self.kind == "all":
            return frame
        if self.kind == "none":
            return frame.head(0)
        if self.kind == "baseline":
            if baseline is None:
                raise ParameterError("--pairs baseline lists the pairs with the baseline: name it with --baseline")
            return frame.filter((pl.col("a") == baseline) | (pl.col("b") == baseline))
        best = np.argsort(ranking.rank, kind="stable")[: self.top]
        names = [ranking.estimates.systems[system] for system in best]
        return frame.filter(pl.col("a").is_in(names) & pl.col("b").is_in(names))

    def among(self, baseline: str | None = None) -> str:
        """Say which pairs these are, after a number of pairs: ``" among the 20 best systems"``."""
        if self.kind == "top":
            return f" among the {self.top:,} best systems"
        return f" with {baseline}" if self.kind == "baseline" else ""
