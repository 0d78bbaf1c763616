"""Crowds that grade, drawn: what they said, and what is true of items and assessors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from earmark.crowd.grade_answers import GradeAnswers
from earmark.data.arrays import Floats, Ints
from earmark.data.judgments import Judgments
from earmark.data.scales import parse_scale


@dataclass(frozen=True, eq=False)
class GradingCrowd:
    """Answers, and what they were drawn from."""

    answers: GradeAnswers
    gain: Floats
    bias: Floats
    scale_use: Floats
    noise: Floats
    reliability: Floats


@dataclass(frozen=True, eq=False)
class LevelCrowd:
    """Answers, and what they were drawn from."""

    answers: GradeAnswers
    level: Ints
    confusion: Floats


def _who(rng: np.random.Generator, items: int, assessors: int, per_item: int) -> tuple[Ints, Ints]:
    chosen = [np.sort(rng.choice(assessors, per_item, replace=False)) for _ in range(items)]
    return np.repeat(np.arange(items), per_item), np.concatenate(chosen)


def _answers(items: int, assessors: int, scale: str, item: Ints, assessor: Ints, gain: Floats) -> GradeAnswers:
    frame = pl.DataFrame({"query": ["q"] * items, "document": [f"d{one}" for one in range(items)]})
    names = tuple(f"w{one:03}" for one in range(assessors))
    return GradeAnswers(frame, names, parse_scale(scale), item, assessor, gain)


def grading_crowd(
    rng: np.random.Generator,
    *,
    items: int = 60,
    assessors: int = 8,
    per_item: int = 3,
    skewed: bool = False,
    fine: bool = False,
) -> GradingCrowd:
    """Draw assessors with bias, scale use and noise; qualities are normal, or pile up at one end."""
    quality = rng.exponential(20, items) - 20 if skewed else rng.normal(0, 20, items)
    bias, use = rng.normal(0, 8, assessors), rng.normal(1, 0.2, assessors)
    noise = 12 * np.exp(rng.normal(0, 0.4, assessors))
    item, assessor = _who(rng, items, assessors, per_item)
    said = 500 + bias[assessor] + use[assessor] * quality[item] + rng.normal(0, noise[assessor])
    if fine:
        said = np.clip(np.round(said - 450), 0, 100)
    share = np.bincount(assessor, minlength=assessors) / assessor.size
    spread = use * 20 / noise
    answers = _answers(items, assessors, "fine" if fine else "0.0..1000.0", item, assessor, said)
    return GradingCrowd(
        answers,
        500 + share @ bias + (share @ use) * quality - (450 if fine else 0),
        bias - share @ bias,
        use / (share @ use),
        noise,
        spread**2 / (1 + spread**2),
    )


def level_crowd(
    rng: np.random.Generator, *, items: int = 100, assessors: int = 8, per_item: int = 4, levels: int = 3
) -> LevelCrowd:
    """Draw assessors who are right with probability .5 to .9, and err to levels that are near or that they like."""
    chance = np.linspace(2, 1, levels)
    level = rng.choice(levels, items, p=chance / chance.sum())
    every = np.arange(levels)
    confusion = np.empty((assessors, levels, levels))
    for one in range(assessors):
        right = rng.uniform(0.5, 0.9)
        wrong = 2.0 ** -np.abs(every[:, None] - every) * rng.dirichlet([3] * levels)
        np.fill_diagonal(wrong, 0)
        confusion[one] = (1 - right) * wrong / wrong.sum(axis=1, keepdims=True) + right * np.eye(levels)
    item, assessor = _who(rng, items, assessors, per_item)
    drawn = rng.random(assessor.size)[:, None] > np.cumsum(confusion[assessor, level[item]], axis=1)
    said = np.minimum(drawn.sum(axis=1), levels - 1).astype(np.float64)
    return LevelCrowd(_answers(items, assessors, f"0..{levels - 1}", item, assessor, said), level, confusion)


def judgments_of(answers: GradeAnswers) -> Judgments:
    """Turn answers back into judgments."""
    names = pl.Series(answers.assessors).gather(answers.assessor).alias("assessor")
    frame = answers.items[answers.item].with_columns(pl.Series("gain", answers.gain), names)
    return Judgments.from_frame(frame, scale=answers.scale)
