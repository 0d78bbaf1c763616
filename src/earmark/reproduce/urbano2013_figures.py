"""The figures of MTC (Urbano2013): the distribution of AG@5, and confidence and accuracy while judging."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from earmark.data.arrays import Floats
from earmark.data.scales import BROAD, FINE, Scale
from earmark.diagnose.calibration import sign_agreement
from earmark.plots.campaigns import Drawn
from earmark.predictors.base import Maker
from earmark.predictors.mtc import MtcJudge, Uniform
from earmark.reproduce import panels
from earmark.reproduce.figures import Figure, Panel
from earmark.reproduce.mirex2011 import Mirex, derived_broad, load
from earmark.reproduce.urbano2013 import looks
from earmark.wording import counted

DRAWN = 1_000_000
CAMPAIGNS = 5
# How often campaigns look: the learned models are past .95 early, the uniform ones late.
_MODELS: dict[str, tuple[Maker, int]] = {"learned: L_output, L_judge": (MtcJudge, 20), "uniform": (Uniform, 100)}
_CUTOFF = 5
Outcomes = dict[str, dict[str, pl.DataFrame]]
"""Campaigns by scale and by model."""


def figures(folder: Path, *, seeds: int = CAMPAIGNS, samples: int = DRAWN) -> Iterator[Figure]:
    """Draw all figures of the paper, those of several years for 2011.

    Parameters
    ----------
    folder : Path
        Of the MIREX 2011 collection.
    seeds : int
        How many campaigns to play of each kind, but no more than 5.
    samples : int
        How many assignments of gains to draw on the Fine scale.
    """
    yield figure_1(samples)
    fine, repeats = load(folder), min(seeds, CAMPAIGNS)
    scales = {"Broad, derived": derived_broad(fine), "Fine": fine}
    played = {
        title: {name: _campaigns(mirex, *model, repeats) for name, model in _MODELS.items()}
        for title, mirex in scales.items()
    }
    of = f"of 18 systems of MIREX 2011, mean of {counted(repeats, 'campaign')} of each kind"
    yield _judging("2", f"confidence in the ranking {of}", "mean_confidence", played)
    yield _judging("3", f"accuracy of the ranking {of}", "accuracy", played)


def figure_1(samples: int = DRAWN) -> Figure:
    """Draw the distribution of AG@5 if every level is equally likely: all assignments, or a sample of them."""
    broad = np.array(list(product(BROAD.gains, repeat=_CUTOFF))).mean(axis=1)
    fine = np.random.default_rng(0).integers(0, 101, (samples, _CUTOFF)).sum(axis=1) / _CUTOFF
    title = f"AG@5 if all gains are equally likely; all 243 assignments (Broad) and {samples:,} drawn (Fine)"
    return Figure("1", title, (_distribution("Broad", BROAD, broad), _distribution("Fine", FINE, fine)), legend=2)


def _distribution(title: str, scale: Scale, scores: Floats) -> Panel:
    gains = np.array(scale.gains)
    mean, variance = float(gains.mean()), float(gains.var() / _CUTOFF)
    return panels.distribution(title, scores, what="AG@5", mean=mean, variance=variance)


def _campaigns(mirex: Mirex, predictor: Maker, batch: int, repeats: int) -> pl.DataFrame:
    """Play campaigns by Eq. 8 until everything is judged."""
    rows = [
        (repeat, look.judged, look.ranking.mean_confidence, _accuracy(mirex, look.ranking.estimates.differences.mean))
        for repeat in range(repeats)
        for look in looks(mirex, predictor, repeat, batch=batch, most=mirex.collection.n_items)
    ]
    return pl.DataFrame(rows, schema=["repeat", "judged", "mean_confidence", "accuracy"], orient="row")


def _accuracy(mirex: Mirex, differences: Floats) -> float | None:
    return sign_agreement(differences, mirex.truth.differences.mean).accuracy


def _judging(number: str, title: str, what: Drawn, played: Outcomes) -> Figure:
    drawn = tuple(panels.campaigns(scale, outcomes, what=what) for scale, outcomes in played.items())
    return Figure(number, title, drawn, width=8.4, legend=2, share_y=True)
