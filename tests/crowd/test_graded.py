"""Graded judgments by several assessors: errors by hand and by brute force, and alpha."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from earmark.crowd.graded import assessor_errors, graded_alpha
from earmark.crowd.krippendorff import krippendorff_alpha
from earmark.data.judgments import Judgments
from earmark.data.scales import BROAD, FINE
from earmark.errors import InputError


def judged(rows: list[tuple[str, str, float, str]]) -> Judgments:
    frame = pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row")
    return Judgments.from_frame(frame, scale=BROAD if frame["gain"].max() <= 2 else FINE)


def test_errors_by_hand() -> None:
    found = assessor_errors(
        judged(
            [
                ("q", "x", 2, "ann"), ("q", "x", 0, "bob"), ("q", "x", 1, "cat"),
                ("q", "y", 1, "ann"), ("q", "y", 1, "bob"),
                ("r", "x", 2, "ann"), ("r", "y", -1, "bob"), ("r", "y", 1, "cat"),
            ]
        )
    )  # fmt: skip
    assert found.pairs.rows() == [
        ("ann", "bob", 2, pytest.approx(2**0.5), 1.0),
        ("ann", "cat", 1, 1.0, 1.0),
        ("bob", "cat", 1, 1.0, -1.0),
    ]
    assert found.mean_rmse == pytest.approx((2**0.5 + 1 + 1) / 3)
    assert found.pooled_rmse == pytest.approx(((4 + 0 + 1 + 1) / 4) ** 0.5)
    assert found.items == 2


def test_errors_by_brute_force() -> None:
    rng = np.random.default_rng(1)
    cells = [(q, d, a) for q in range(4) for d in range(6) for a in range(4) if rng.random() < 0.7]
    gains = {cell: float(rng.integers(0, 101)) for cell in cells}
    found = assessor_errors(judged([(f"q{q}", f"d{d}", gain, f"a{a}") for (q, d, a), gain in gains.items()]))
    errors = []
    for a, b in combinations(range(4), 2):
        apart = [gain - gains[q, d, b] for (q, d, one), gain in gains.items() if one == a and (q, d, b) in gains]
        errors.append(np.sqrt(np.mean(np.square(apart))))
    assert found.pairs["rmse"].to_list() == pytest.approx(errors)
    assert found.mean_rmse == pytest.approx(np.mean(errors))


def test_alpha_takes_items_as_units_and_queries_as_clusters() -> None:
    rng = np.random.default_rng(2)
    level = rng.integers(0, 3, size=60)
    rows = [
        (f"q{item // 10}", f"d{item}", float(np.clip(level[item] + rng.integers(-1, 2), 0, 2)), f"a{assessor}")
        for item in range(60)
        for assessor in range(3)
    ]
    judgments = judged(rows)
    gains = np.array([row[2] for row in rows])
    for metric in ("ordinal", "interval"):
        found = graded_alpha(judgments, metric=metric, rng=np.random.default_rng(0))
        plain = krippendorff_alpha(np.repeat(np.arange(60), 3), gains, metric=metric, rng=np.random.default_rng(0))
        assert found.alpha == pytest.approx(plain.alpha)
        assert (found.units, found.clusters, found.assessors) == (60, 6, 3)
        assert found.low < found.alpha < found.high
    one_query = judged([(row[0], *row[1:]) for row in rows if row[0] == "q0"])
    assert graded_alpha(one_query, rng=np.random.default_rng(0)).clusters == 10


def test_what_is_refused() -> None:
    alone = Judgments.from_frame(pl.DataFrame({"query": ["q"], "document": ["x"], "gain": [1.0]}))
    with pytest.raises(InputError, match="a column 'assessor' that says who judged, got judgments without one"):
        assessor_errors(alone)
    apart = judged([("q", "x", 1, "ann"), ("q", "y", 1, "bob"), ("q", "z", 1, "ann"), ("q", "z", -1, "bob")])
    with pytest.raises(InputError, match="items that several assessors judged, got every item judged by one"):
        graded_alpha(apart, rng=np.random.default_rng(0))
