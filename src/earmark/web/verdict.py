"""The verdict of the newest estimate, as pages show it.

The worker keeps what follows from the answers as plain tables, which any process may read. Here they become a
:class:`~earmark.inference.confidence.Ranking` again, so that pages draw the pictures and say the sentences of the
report, and compute nothing of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np

from earmark.beliefs.estimates import Estimates, Moments, all_pairs
from earmark.campaign.pairs.estimates import PairPrecision
from earmark.campaign.statements import ordered_pairs, say_verdict, tallies
from earmark.inference.confidence import Ranking
from earmark.inference.headline import may_be_best
from earmark.inference.premises import FailedPremise
from earmark.measures import parse
from earmark.measures.base import Measure


@dataclass(frozen=True, repr=False)
class ShareWon(Measure):
    """The name of what lists are compared by: the share of comparisons that a system won. A list alone has no score."""

    name: ClassVar[str] = "share won"


def measure_of(kind: str, named: str | None) -> Measure:
    """Return what systems are compared by, given the kind of a campaign and the measure of its settings."""
    if kind == "grade" and named is not None:
        return parse(named)
    return ShareWon() if kind == "lists" else PairPrecision()


def read_ranking(
    told: Mapping[str, Any], measure: Measure, *, level: float, items: int = 0, judged: int = 0
) -> Ranking | None:
    """Make a ranking of the tables that an estimate keeps; None where there are no systems.

    Parameters
    ----------
    told : mapping
        ``systems`` and ``pairs``, rows as from :meth:`Ranking.systems_frame` and :meth:`Ranking.pairs_frame`, and
        ``premises``, those that failed.
    measure : Measure
    level : float
        The probability that each interval holds.
    items, judged : int
        How many items there are, and how many are judged.
    """
    rows: Sequence[Mapping[str, Any]] = told.get("systems") or ()
    if not rows:
        return None
    names = tuple(str(row["system"]) for row in rows)
    at = {name: index for index, name in enumerate(names)}
    a, b = all_pairs(len(names))
    difference, low, high = np.zeros((3, a.size))
    confidence, identical = np.full(a.size, 0.5), np.ones(a.size, dtype=bool)
    place = {(int(first), int(second)): index for index, (first, second) in enumerate(zip(a, b, strict=True))}
    for row in told.get("pairs") or ():
        first, second = at[row["a"]], at[row["b"]]
        turned = first > second
        pair = place[min(first, second), max(first, second)]
        sign = -1.0 if turned else 1.0
        bounds = sorted((sign * _number(row.get("low")), sign * _number(row.get("high"))))
        difference[pair], (low[pair], high[pair]) = sign * _number(row.get("difference")), bounds
        confidence[pair], identical[pair] = _number(row.get("confidence"), 0.5), False
    scores = np.array([_number(row.get("estimate")) for row in rows])
    ahead = difference if measure.higher_is_better else -difference
    better = np.where(ahead > 0, confidence, np.where(ahead < 0, 1.0 - confidence, 0.5))
    estimates = Estimates(
        names,
        measure,
        Moments.exact(scores, np.zeros_like(scores)),
        a,
        b,
        Moments.exact(difference, np.zeros_like(difference)),
        identical,
        queries=0,
        items=items,
        judged=judged,
    )
    return Ranking(
        estimates=estimates,
        level=level,
        df=None,
        low=np.array([_number(row.get("low")) for row in rows]),
        high=np.array([_number(row.get("high")) for row in rows]),
        rank=np.array([int(row.get("rank") or 1) for row in rows], dtype=np.int64),
        difference_low=low,
        difference_high=high,
        better=better,
        confidence=confidence,
        failed=tuple(FailedPremise(**premise) for premise in told.get("premises") or ()),
    )


def _number(value: Any, otherwise: float = 0.0) -> float:
    return otherwise if value is None else float(value)


_ABOUT = {
    "these queries": "these",
    "queries like these": "like",
    "queries and people like these": "people",
    "all candidate pairs": "pairs",
}
_BY = {
    "by the model": "model",
    "by the model of preferences": "preferences",
    "by a confidence sequence": "sequence",
}


def read_basis(basis: str | None) -> dict[str, Any] | None:
    """Return what a statement rests on, for pages to say in their language.

    Parameters
    ----------
    basis : str or None
        As an estimate keeps it.

    Returns
    -------
    dict or None
        ``by`` and ``about``, names of what is known, and ``other``, the whole where something else is said.

    Examples
    --------
    >>> read_basis("about these queries; by the model; at any time")
    {'by': 'model', 'about': 'these', 'other': None}
    """
    if not basis:
        return None
    parts = [part.strip() for part in basis.replace(", about", "; about").split(";")]
    about = next((_ABOUT.get(part.removeprefix("about ")) for part in parts if part.startswith("about ")), None)
    by = [part for part in parts if not part.startswith("about ") and part != "at any time"]
    known = _BY.get(by[0]) if len(by) == 1 else None
    return {"by": known, "about": about, "other": None if known and about else basis}


def shown_verdict(ranking: Ranking) -> dict[str, Any]:
    """Return a verdict in words: ``headline``, ``premises``, ``summary``, and ``neighbours`` with their kinds."""
    said = say_verdict(ranking)
    neighbours = [asdict(one) for one in said.neighbours]
    return {
        "headline": said.headline,
        "premises": list(said.premises),
        "summary": said.summary,
        "neighbours": neighbours,
    }


def shown_ranking(ranking: Ranking) -> list[dict[str, Any]]:
    """Return one row per system, the best first: rank, estimate, interval, and how many it is better and worse than."""
    counts = tallies(ranking)
    possible = dict(zip(ranking.estimates.systems, may_be_best(ranking).tolist(), strict=True))
    return [
        {
            **{name: row[name] for name in ("system", "rank", "estimate", "low", "high")},
            "may_be_best": possible[row["system"]],
            **asdict(counts[row["system"]]),
        }
        for row in ranking.systems_frame().to_dicts()
    ]


def early_ranking(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one row per system with its estimate alone, where intervals are not to be looked at yet."""
    nothing = dict.fromkeys(("low", "high", "better", "open", "worse")) | {"may_be_best": False}
    return [{**{name: row[name] for name in ("system", "rank", "estimate")}, **nothing} for row in rows]


def shown_pairs(ranking: Ranking) -> list[dict[str, Any]]:
    """Return all pairs, the better system first: ``row``, ``column``, ``probability`` and ``decided``."""
    return ordered_pairs(ranking).to_dicts()
