"""Krippendorff's alpha: the published example, another program, brute force, and how often intervals hold."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from answers_made import answers, drawn_answers, peers
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from earmark.crowd.krippendorff import (
    Alpha,
    CodedUnits,
    Metric,
    alpha_of,
    krippendorff_alpha,
    leave_out_alpha,
    resample_alpha,
)
from earmark.crowd.preference_alpha import preference_alpha
from earmark.data.arrays import Floats, Ints
from earmark.errors import ParameterError

METRICS: tuple[Metric, ...] = ("nominal", "ordinal", "interval")


def alpha(unit: Ints, value: Floats, metric: Metric, **more: Ints) -> Alpha:
    return krippendorff_alpha(unit, value, metric=metric, n_resamples=50, rng=np.random.default_rng(0), **more)


def brute_force(unit: Ints, value: Floats, metric: Metric, *, mirrored: bool = False) -> float:
    """Alpha as it is defined: every two values compared, of mirrored ones either with the other or its opposite."""
    kept = [u for u in np.unique(unit) if np.sum(unit == u) > 1]
    value, unit = value[np.isin(unit, kept)], unit[np.isin(unit, kept)]
    ranked = np.concatenate((value, -value)) if mirrored else value

    def disagreement(v: float, w: float) -> float:
        if metric == "nominal":
            return float(v != w)
        if metric == "interval":
            return (v - w) ** 2
        low, high = min(v, w), max(v, w)
        between = np.sum((ranked >= low) & (ranked <= high)) - (np.sum(ranked == v) + np.sum(ranked == w)) / 2
        return float(between**2)

    n = value.size
    observed = sum(
        sum(disagreement(v, w) for v, w in permutations(value[unit == u].tolist(), 2)) / (np.sum(unit == u) - 1)
        for u in kept
    )
    sides = (1, -1) if mirrored else (1,)
    couples = [(v, side * w) for v, w in permutations(value.tolist(), 2) for side in sides]
    expected = sum(disagreement(v, w) for v, w in couples) / len(sides) / (n - 1)
    return float(1 - observed / expected) if expected > 0 else np.nan


drawn_units = (
    st.integers(0, 100_000)
    .map(np.random.default_rng)
    .map(lambda rng: (rng.integers(0, 6, size=14), rng.integers(0, 3, size=14).astype(np.float64)))
)


@given(drawn_units, st.sampled_from(METRICS))
def test_brute_force(drawn: tuple[Ints, Floats], metric: Metric) -> None:
    assert alpha(*drawn, metric).alpha == pytest.approx(brute_force(*drawn, metric), abs=1e-12, nan_ok=True)


def test_the_published_example() -> None:
    # Krippendorff (2011), section C and on: four observers, twelve units, missing values; .743, .815 and .849.
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    cells = [(u, float(v)) for row in rows for u, v in enumerate(row) if v is not None]
    unit, value = np.array([u for u, _ in cells]), np.array([v for _, v in cells])
    found = {metric: alpha(unit, value, metric) for metric in METRICS}
    assert [round(found[metric].alpha, 3) for metric in METRICS] == [0.743, 0.815, 0.849]
    # The last unit has one value only.
    assert (found["nominal"].units, found["nominal"].answers) == (11, 40)


def test_another_program() -> None:
    golden = peers("reliability")
    grades = np.array([[np.nan if cell is None else cell for cell in row] for row in golden["grades"]])
    unit, assessor = np.nonzero(np.isfinite(grades))
    for metric in METRICS:
        assert alpha(unit, grades[unit, assessor], metric).alpha == pytest.approx(golden["alpha"][metric], abs=1e-12)


def test_ends_of_the_scale() -> None:
    unit = np.repeat([0, 1, 2], 2)
    assert alpha(unit, np.array([1.0, 1, 2, 2, 3, 3]), "interval").alpha == 1
    assert alpha(unit, np.array([1.0, 2, 2, 1, 1, 2]), "nominal").alpha < 0
    nothing = alpha(unit, np.ones(6), "nominal")
    assert np.isnan([nothing.alpha, nothing.low, nothing.high]).all()
    alone = alpha(np.arange(4), np.arange(4.0), "ordinal")
    assert np.isnan(alone.alpha)
    assert (alone.units, alone.answers) == (0, 0)
    # One unit, or one cluster of units: alpha, but no interval.
    one = alpha(np.zeros(4, dtype=np.int64), np.array([1.0, 1, 2, 1]), "nominal")
    assert (one.alpha, np.isnan(one.low)) == (0, True)
    clustered = alpha(unit, np.array([1.0, 1, 2, 2, 1, 2]), "nominal", cluster=np.zeros(6, dtype=np.int64))
    assert np.isfinite(clustered.alpha)
    assert np.isnan(clustered.low)


@given(drawn_units, st.sampled_from(METRICS), st.permutations(range(6)))
def test_names_of_units_and_the_order_of_answers_do_not_matter(
    drawn: tuple[Ints, Floats], metric: Metric, names: list[int]
) -> None:
    unit, value = drawn
    same = alpha(np.array(names)[unit][::-1], value[::-1], metric).alpha
    assert same == pytest.approx(alpha(unit, value, metric).alpha, nan_ok=True)


def test_units_of_the_scale_do_not_matter() -> None:
    rng = np.random.default_rng(1)
    unit, value = rng.integers(0, 9, size=40), rng.integers(0, 5, size=40).astype(np.float64)
    far = alpha(unit, 1e8 + 1e-3 * value, "interval").alpha
    assert far == pytest.approx(alpha(unit, value, "interval").alpha, abs=1e-6)
    assert alpha(unit, value**3, "ordinal").alpha == alpha(unit, value, "ordinal").alpha


@given(drawn_units, st.sampled_from(METRICS))
def test_mirrored_values_by_brute_force(drawn: tuple[Ints, Floats], metric: Metric) -> None:
    unit, value = drawn
    found = krippendorff_alpha(unit, value - 1, metric=metric, mirrored=True, rng=np.random.default_rng(0))
    assert found.alpha == pytest.approx(brute_force(unit, value - 1, metric, mirrored=True), abs=1e-9, nan_ok=True)


@given(drawn_units, st.sampled_from(METRICS), st.integers(0, 63))
def test_turning_the_values_of_a_unit_round_changes_nothing(
    drawn: tuple[Ints, Floats], metric: Metric, turned: int
) -> None:
    unit, value = drawn
    side = np.where(turned >> unit & 1, -1.0, 1.0)
    ours, theirs = (
        krippendorff_alpha(
            unit, v, metric=metric, mirrored=True, assessor=np.arange(14) % 4, rng=np.random.default_rng(0)
        )
        for v in (value - 1, side * (value - 1))
    )
    assert ours.alpha == pytest.approx(theirs.alpha, abs=1e-9, nan_ok=True)


@given(drawn_units, st.sampled_from(("nominal", "interval")), st.booleans())
def test_leaving_out_by_brute_force(drawn: tuple[Ints, Floats], metric: Metric, mirrored: bool) -> None:
    unit, value = drawn[0], drawn[1] - 1
    # At most one answer per unit and group: the n-th answer to a unit is in group n.
    group = np.array([np.sum(unit[:place] == one) for place, one in enumerate(unit)])
    units = CodedUnits.from_answers(unit, value, mirrored=mirrored)
    if not units.unit.size:
        return
    kept = np.unique(group[units.kept], return_inverse=True)
    found = leave_out_alpha(units, kept[1], metric=metric)
    unit, value, group = unit[units.kept], value[units.kept], group[units.kept]
    for place, number in enumerate(kept[0]):
        left = group != number
        expected = brute_force(unit[left], value[left], metric, mirrored=mirrored)
        assert found[place] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_equal_units_are_drawn_together() -> None:
    """Units with the same values are exchangeable: the quick way draws from the same distribution as the plain one."""
    rng = np.random.default_rng(2)
    unit, value = np.repeat(np.arange(40), 5), rng.integers(0, 2, size=200).astype(np.float64)
    units = CodedUnits.from_answers(unit, value)
    quick = resample_alpha(units, np.arange(40), metric="nominal", n_resamples=4000, rng=rng)
    draws = rng.integers(0, 40, size=(4000, 40))
    counts = units.counts().toarray()
    plain = np.array([_alpha_of_counts(counts[row]) for row in draws])
    assert stats.ks_2samp(quick, plain).pvalue > 0.001


def _alpha_of_counts(counts: Floats) -> float:
    size, total = counts.sum(axis=1), counts.sum(axis=0)
    n = total.sum()
    within = ((size**2 - (counts**2).sum(axis=1)) / (size - 1)).sum()
    return float(1 - (n - 1) * within / (n**2 - (total**2).sum()))


def draw_choices(rng: np.random.Generator, *, units: int, assessors: int, spread: float) -> tuple[Ints, Floats, Ints]:
    """Six of the assessors choose between two things; the slopes of their choices differ by this spread."""
    difference = 1.5 * rng.normal(size=(units, 1))
    slope = np.exp(spread * rng.normal(size=assessors) - spread**2 / 2)
    who = rng.permuted(np.tile(np.arange(assessors), (units, 1)), axis=1)[:, :6]
    said = rng.random(who.shape) < special.expit(difference * slope[who])
    return np.repeat(np.arange(units), 6), said.ravel().astype(np.float64), who.ravel()


@pytest.mark.parametrize(("assessors", "spread", "least_alone"), [(40, 0.0, 0.9), (12, 0.7, 0.0)])
def test_how_often_intervals_hold(assessors: int, spread: float, least_alone: float) -> None:
    rng = np.random.default_rng(11)
    # Two answers of strangers to the same unit: no assessor matters for the truth.
    difference = 1.5 * rng.normal(size=(400_000, 1))
    slope = np.exp(spread * rng.normal(size=(400_000, 2)) - spread**2 / 2)
    said = rng.random(slope.shape) < special.expit(difference * slope)
    truth = 1 - 2 * float((said[:, 0] != said[:, 1]).mean())
    held = alone = 0
    for _ in range(300):
        unit, value, who = draw_choices(rng, units=100, assessors=assessors, spread=spread)
        both = krippendorff_alpha(unit, value, assessor=who, n_resamples=200, rng=rng)
        units = krippendorff_alpha(unit, value, n_resamples=200, rng=rng)
        held += both.low <= truth <= both.high
        alone += units.low <= truth <= units.high
        assert both.high - both.low >= units.high - units.low - 0.1
    assert 0.91 < held / 300 <= 0.995
    assert least_alone <= alone / 300 < (0.99 if not spread else 0.85)


def test_clusters_widen_intervals_where_they_matter() -> None:
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(10), 40)
    clarity = np.where(np.arange(10) < 5, 3.0, 0.0)[cluster]
    said = rng.random((400, 4)) < special.expit(clarity * rng.choice([-1, 1], size=400))[:, None]
    unit, value = np.repeat(np.arange(400), 4), said.ravel().astype(np.float64)
    alone = krippendorff_alpha(unit, value, rng=rng)
    clustered = krippendorff_alpha(unit, value, cluster=np.repeat(cluster, 4), rng=rng)
    assert clustered.alpha == alone.alpha
    assert clustered.standard_error > 2 * alone.standard_error
    assert clustered.clusters == 10


def test_preferences() -> None:
    given_ = answers("q x y aab", "q y x ---aab", "r x z sba", "r z y bbb", strength="123123123123")
    # Which document of the pair was chosen, the first by id being 1; in the last two lines y is the first of y and z.
    first = np.array([1, 1, -1, -1, -1, 1, 0, -1, 1, 1, 1, 1.0])
    unit = np.repeat([0, 0, 1, 2], 3)
    found = preference_alpha(given_, rng=np.random.default_rng(0))
    assert found.alpha == pytest.approx(brute_force(unit, first, "nominal", mirrored=True))
    assert (found.units, found.answers, found.clusters, found.assessors) == (3, 12, 2, 6)
    signed = first * np.array([1, 2, 3, 1, 2, 3, 0, 2, 3, 1, 2, 3])
    found = preference_alpha(given_, metric="interval", rng=np.random.default_rng(0))
    assert found.alpha == pytest.approx(brute_force(unit, signed, "interval", mirrored=True))


def test_names_of_documents_change_nothing() -> None:
    # Everybody prefers x to the others; with x named before them all answers are the same value.
    first = answers("q x y aaab", "q x z aaab", "q x w aaba")
    last = answers("q z1 y bbba", "q z1 z bbba", "q z1 w bbab")
    ours, theirs = (preference_alpha(answered, rng=np.random.default_rng(0)).alpha for answered in (first, last))
    assert ours == pytest.approx(theirs)
    middle = answers("q x y aaab", "q x a aaab", "q x w aaba")
    assert preference_alpha(middle, rng=np.random.default_rng(0)).alpha == pytest.approx(ours)


def test_phases_are_kept_apart_where_somebody_answered_twice() -> None:
    given_ = answers("q x y aab", "q x y bba", "q y z aba", phase=["1"] * 3 + ["2"] * 6)
    found = preference_alpha(given_, rng=np.random.default_rng(0))
    assert found.units == 3
    drawn = drawn_answers(np.random.default_rng(4), queries=1, pairs=20)
    assert preference_alpha(drawn, rng=np.random.default_rng(0)).clusters == 20


def test_what_is_refused() -> None:
    unit, value = np.repeat([0, 1], 2), np.array([1.0, 2, 2, 2])
    rng = np.random.default_rng(0)
    with pytest.raises(ParameterError, match="unknown metric 'ratio': use nominal, ordinal, interval"):
        krippendorff_alpha(unit, value, metric="ratio", rng=rng)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"lies between 0 and 1, got 1\.5"):
        krippendorff_alpha(unit, value, level=1.5, rng=rng)
    with pytest.raises(ParameterError, match="at least 2 times, got 1"):
        krippendorff_alpha(unit, value, n_resamples=1, rng=rng)
    units = CodedUnits.from_answers(unit, value)
    assert alpha_of(units, metric="nominal") == krippendorff_alpha(unit, value, rng=rng).alpha
