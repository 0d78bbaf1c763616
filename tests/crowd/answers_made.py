"""Answers for tests: written by hand, or drawn from workers whose reliability is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from earmark.data.preferences import Preferences

GOLDENS = Path(__file__).parents[1] / "goldens" / "crowd_peers.json"
_CHOICES = {"a": "a", "b": "b", "s": "same"}


def peers(name: str) -> Any:
    """Values that other programs printed, with the data they printed them for; the script lies beside them."""
    return json.loads(GOLDENS.read_text())[name]


def answers(*lines: str, strength: str = "", **columns: Any) -> Preferences:
    """Make answers of lines such as ``q x y aab``: a query, two documents as shown, and one letter per assessor.

    A letter is a, b, s for same, or - for no answer; the n-th is of assessor wn. Strengths are digits in the same form.
    """
    rows = []
    digits = iter(strength)
    for line in lines:
        query, a, b, letters = line.split()
        for number, letter in enumerate(letters):
            if letter == "-":
                continue
            rows.append((query, a, b, f"w{number}", _CHOICES[letter], float(next(digits, "1"))))
    frame = pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice", "strength"], orient="row")
    return Preferences.from_frame(frame.with_columns(pl.Series(name, values) for name, values in columns.items()))


def drawn_answers(
    rng: np.random.Generator,
    *,
    pairs: int = 60,
    workers: int = 12,
    per_pair: int = 6,
    queries: int = 3,
    same: float = 0.0,
    right: float = 0.0,
    reliability: np.ndarray[Any, np.dtype[np.float64]] | None = None,
    documents: int = 8,
) -> Preferences:
    """Draw answers: worker w prefers the better of two documents the more often the larger its reliability is."""
    trust = np.ones(workers) if reliability is None else reliability
    score = rng.normal(size=(queries, documents))
    possible = [(q, i, j) for q in range(queries) for i in range(documents) for j in range(i + 1, documents)]
    rows = []
    for place in rng.choice(len(possible), size=min(pairs, len(possible)), replace=False):
        q, i, j = possible[place]
        for worker in rng.choice(workers, size=per_pair, replace=False):
            a, b = (i, j) if rng.random() < 0.5 else (j, i)
            if rng.random() < same:
                choice = "same"
            else:
                odds = np.exp(2 * trust[worker] * (score[q, b] - score[q, a]) + right)
                choice = "b" if rng.random() < odds / (1 + odds) else "a"
            rows.append((f"q{q}", f"d{a}", f"d{b}", f"w{worker:02d}", choice, float(rng.integers(1, 6))))
    return Preferences.from_frame(
        pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice", "strength"], orient="row")
    )


def answers_of_differing_difficulty(
    rng: np.random.Generator,
    *,
    pairs: int = 200,
    workers: int = 20,
    per_pair: int = 5,
    spread: float = 0.8,
    misleading: float = 0.1,
) -> tuple[Preferences, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Draw answers to pairs that people find easy or hard, some of which mislead most of them.

    Worker w chooses the document that people lean to with the log-odds :math:`s_w e_p`: a skill whose logarithm has the
    standard deviation 0.5, times the ease of the pair, whose logarithm has the standard deviation ``spread``. A pair is
    misleading where people lean to the document that is not the better one, with 0.7 times the ease.

    Returns
    -------
    Preferences
        Pair n shows better{n} and worse{n}, in either order.
    ndarray of bool, shape (pairs,)
        Which pairs mislead.
    """
    skill = np.exp(rng.normal(0.3, 0.5, workers))
    ease = np.exp(rng.normal(0.0, spread, pairs)) if spread else np.full(pairs, 1.5)
    misled = rng.random(pairs) < misleading
    lean = np.where(misled, -0.7 * ease, ease)
    rows = []
    for pair in range(pairs):
        for worker in rng.choice(workers, per_pair, replace=False):
            right = rng.random() < 1 / (1 + np.exp(-skill[worker] * lean[pair]))
            turned = rng.random() < 0.5
            shown = (f"worse{pair}", f"better{pair}") if turned else (f"better{pair}", f"worse{pair}")
            rows.append(("q", *shown, f"w{worker:02d}", "a" if right != turned else "b"))
    frame = pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row")
    return Preferences.from_frame(frame), misled
