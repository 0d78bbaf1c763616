"""Bounds hold, and are as sharp as they say, against every way to judge what nobody judged."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.data.scales import parse_scale
from earmark.measures.base import registered

LEVELS = (0.0, 1.0, 2.0)
DOCUMENTS = "abcdef"
SYSTEMS = ("one", "two", "three")
SUMS = (
    "CG@3",
    "AG@3",
    "DCG@3",
    "DCG(gain=exp)@3",
    "nDCG(ideal=scale)@3",
    "RBP(p=0.8)",
    "RBP(p=0.8,rel=2)",
    "P@3",
    "hits@3",
)
RATIOS = ("nDCG@3", "nDCG", "nDCG(gain=exp)@4", "R@3", "R(rel=2)@3")
FIRSTS = ("RR@3", "RR", "Success@2", "RR(rel=2)")
HIGHEST = ("AP", "AP@3", "AP(rel=2)", "ERR@3", "ERR")
RANGES = (
    "Q",
    "Q@3",
    "Rprec",
    "F@3",
    "nRBP(p=0.8)@3",
    "nDCG(ideal=pool)@3",
    "Compat(p=0.9)@3",
    "P",
    "AP(over=retrieved)",
)


def drawn_case(seed: int) -> tuple[earmark.Runs, dict[str, float], list[str]]:
    """Draw three lists of up to four of six documents, and the gains of some of these."""
    rng = np.random.default_rng(seed)
    lists = {
        system: {
            "q": {
                name: float(-place) for place, name in enumerate(rng.permutation(list(DOCUMENTS))[: rng.integers(1, 5)])
            }
        }
        for system in SYSTEMS
    }
    judged = rng.permutation(list(DOCUMENTS))[: rng.integers(2, 6)]
    gains = {str(name): float(rng.choice(LEVELS)) for name in judged}
    return earmark.runs_from_dict(lists), gains, [name for name in DOCUMENTS if name not in gains]


def scored(runs: earmark.Runs, gains: dict[str, float], measure: str) -> earmark.Scores:
    frame = pl.DataFrame({"query": "q", "document": list(gains), "gain": list(gains.values())})
    return earmark.evaluate(runs, earmark.Judgments(frame, parse_scale("0..2")), [measure])


def extremes(runs: earmark.Runs, gains: dict[str, float], unjudged: list[str], measure: str) -> np.ndarray:
    """Return the scores of all systems for every way to judge: shape (ways, systems)."""
    cutoff = earmark.parse(measure).cutoff or 100
    near = {name for name, rank in zip(runs.documents, runs.ranks, strict=True) if rank <= cutoff}
    missing = [name for name in unjudged if name in near]
    return np.array(
        [
            scored(runs, gains | dict(zip(missing, levels, strict=True)), measure).values[0, :, 0]
            for levels in product(LEVELS, repeat=len(missing))
        ]
    )


@pytest.mark.parametrize("measure", [*SUMS, *RATIOS, *FIRSTS, *HIGHEST, *RANGES])
def test_bounds_hold_for_every_way_to_judge(measure: str) -> None:
    a, b = np.triu_indices(len(SYSTEMS), 1)
    some_open = 0
    for seed in range(6):
        runs, gains, unjudged = drawn_case(seed)
        bounds = scored(runs, gains, measure).bounds()
        assert bounds is not None
        assert bounds.are_known
        ways = extremes(runs, gains, unjudged, measure)
        some_open += len(ways) > 1
        (low, high), (least, most) = (
            (part[:, 0] for part in both) for both in (bounds.scores, bounds.differences(a, b))
        )
        differences = ways[:, a] - ways[:, b]
        for bound, truth in ((low, ways.min(axis=0)), (least, differences.min(axis=0))):
            assert np.all(bound <= truth + 1e-9), (seed, bound, truth)
        for bound, truth in ((high, ways.max(axis=0)), (most, differences.max(axis=0))):
            assert np.all(bound >= truth - 1e-9), (seed, bound, truth)
        if measure in (*SUMS, *FIRSTS):
            np.testing.assert_allclose((least, most), (differences.min(axis=0), differences.max(axis=0)), atol=1e-9)
        if measure in (*SUMS, *FIRSTS, *RATIOS, *HIGHEST):
            np.testing.assert_allclose(high, ways.max(axis=0), atol=1e-9)
        if measure in RATIOS:
            positive = most > 1e-9
            np.testing.assert_allclose(most[positive], differences.max(axis=0)[positive], atol=1e-9)
    assert some_open >= 4


def test_every_measure_has_bounds_that_hold_or_none() -> None:
    a, b = np.triu_indices(len(SYSTEMS), 1)
    runs, gains, unjudged = drawn_case(3)
    for name, kind in registered().items():
        measure = earmark.parse(f"{name}@3" if kind.cutoff_required else name)
        if not measure.is_mean or name in (
            "ROCarea",
            "accuracy",
            "specificity",
            "NPV",
            "fallout",
            "TN",
            "ADR",
            "DR",
            "ADRinv",
        ):
            continue
        bounds = scored(runs, gains, str(measure)).bounds()
        if bounds is None or not bounds.are_known:
            assert not measure.needs_all_judged or not np.isfinite(measure.range).all()
            continue
        ways = extremes(runs, gains, unjudged, str(measure))
        differences = ways[:, a] - ways[:, b]
        least, most = (part[:, 0] for part in bounds.differences(a, b))
        assert np.all(least <= differences.min(axis=0) + 1e-9), name
        assert np.all(most >= differences.max(axis=0) - 1e-9), name


def test_nothing_is_open_where_everything_is_judged() -> None:
    runs, gains, unjudged = drawn_case(1)
    scores = scored(runs, gains | dict.fromkeys(unjudged, 1.0), "nDCG@3")
    bounds = scores.bounds()
    assert bounds is not None
    assert bounds.share.tolist() == [0.0, 0.0, 0.0]
    low, high = bounds.differences(np.array([0]), np.array([1]))
    difference = scores.values[0, 0] - scores.values[0, 1]
    assert (low[0], high[0]) == (difference, difference)
    assert np.array_equal(bounds.likened, scores.values[0])


def test_shares_are_by_rank_weight() -> None:
    runs = earmark.runs_from_dict({"s": {"q": {"a": 3, "b": 2, "c": 1}}})
    for measure, weights in (("RBP(p=0.5)@3", (4, 2, 1)), ("AG@3", (1, 1, 1)), ("AP", (1, 1 / 2, 1 / 3))):
        bounds = scored(runs, {"b": 1.0}, measure).bounds()
        assert bounds is not None
        assert bounds.share[0] == pytest.approx((weights[0] + weights[2]) / sum(weights))


def test_cliques_and_groups_leave_nothing_unjudged() -> None:
    runs = earmark.runs_from_dict({"s": {"q": {"a": 3, "b": 2}}})
    cliques = earmark.Cliques(pl.DataFrame({"document": ["q", "a"], "group": ["w", "w"]}))
    assert earmark.evaluate(runs, cliques, ["AP"]).bounds() is None
