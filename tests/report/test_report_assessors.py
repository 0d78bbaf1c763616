"""Who judged: the table of assessors is what one would count by hand, and what is said of it is true."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.data.judgments import Judgments
from earmark.report import assessor_agreement, assessor_table
from earmark.report.quality import say_assessors


def judged(rows: list[tuple[str, str, float]], scale: earmark.Scale = earmark.FINE) -> Judgments:
    frame = pl.DataFrame(rows, schema=["document", "assessor", "gain"], orient="row")
    return Judgments.from_frame(frame.with_columns(query=pl.lit("q")), scale=scale)


def test_differences_are_from_the_mean_of_the_others() -> None:
    table = assessor_table(
        judged(
            [
                ("d", "ann", 60.0),
                ("d", "bob", 40.0),
                ("d", "cy", 20.0),
                ("e", "ann", 50.0),
                ("e", "bob", 50.0),
                ("f", "ann", 100.0),
            ]
        )
    )
    assert table is not None
    ann = table.row(0, named=True)
    assert (ann["assessor"], ann["judgments"], ann["shared"]) == ("ann", 3, 2)
    assert ann["mean_gain"] == pytest.approx(70.0)
    # On d 60 against 30, on e 50 against 50; of three judgments by others one is at the same level.
    assert ann["bias"] == pytest.approx(15.0)
    assert ann["rmse"] == pytest.approx(np.sqrt((30**2 + 0) / 2))
    assert ann["agreement"] == pytest.approx((0 / 2 + 1 / 1) / 2)
    assert (ann["low"], ann["high"]) == (pytest.approx(3.0), pytest.approx(27.0))
    assert table["assessor"].to_list() == ["ann", "bob", "cy"]


def test_levels_of_a_fine_scale_are_ten() -> None:
    near = assessor_table(judged([("d", "ann", 49.0), ("d", "bob", 51.0)]))
    broad = assessor_table(judged([("d", "ann", 1.0), ("d", "bob", 2.0)], earmark.BROAD))
    assert near is not None
    assert broad is not None
    assert near["agreement"].to_list() == [0.0, 0.0]
    assert assessor_table(judged([("d", "ann", 51.0), ("d", "bob", 53.0)]))["agreement"].to_list() == [1.0, 1.0]  # type: ignore[index]
    assert broad["agreement"].to_list() == [0.0, 0.0]


def test_who_shares_nothing_has_no_bias() -> None:
    table = assessor_table(judged([("d", "ann", 60.0), ("e", "bob", 40.0), ("f", "bob", -1.0)]))
    assert table is not None
    assert table.select("judgments", "shared", "bias", "rmse", "agreement").rows() == [(1, 0, None, None, None)] * 2
    assert say_assessors(table, None) == [
        "2 assessors gave 2 judgments.",
        "No item was judged by two of them: how far they agree is not known.",
    ]
    assert say_assessors(table.head(1), None) == ["1 assessor gave 1 judgment."]
    nobody = Judgments.from_frame(pl.DataFrame({"query": ["q"], "document": ["d"], "gain": [1.0]}))
    assert assessor_table(nobody) is None


def test_it_is_said_who_is_generous() -> None:
    rng = np.random.default_rng(0)
    level = {"ann": 8.0, "bob": 0.0, "cy": -8.0}
    documents = [(f"d{number}", rng.uniform(20, 80)) for number in range(40)]
    rows = [
        (name, who, float(np.round(gain + off + rng.normal(0, 3))))
        for name, gain in documents
        for who, off in level.items()
    ]
    judgments = judged(rows)
    table, agreement = assessor_table(judgments), assessor_agreement(judgments)
    assert table is not None
    said = say_assessors(table, agreement)
    assert said[0] == "3 assessors gave 120 judgments."
    assert said[1].startswith("40 items were judged by several of them. Krippendorff's alpha, 1 for full agreement")
    assert said[2].startswith("ann is the most generous, 1")
    assert "; cy is the strictest, 1" in said[2]
    alike = judged([("d", "ann", 50.0), ("d", "bob", 50.0)])
    same = say_assessors(assessor_table(alike), assessor_agreement(alike))  # type: ignore[arg-type]
    assert len(same) == 2
    assert "has no value here: all gains are the same" in same[1]
