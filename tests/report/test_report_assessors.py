"""Who judged: the table of assessors is what one would count by hand, and what is said of it is true."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.data.judgments import Judgments
from earmark.report import assessor_agreement, assessor_table, gather_findings, report_html
from earmark.report.assessors import most_and_least_generous


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
    assert assessor_agreement(judged([("d", "ann", 60.0), ("e", "bob", 40.0)])) is None
    assert most_and_least_generous(table.to_dicts()) is None
    nobody = Judgments.from_frame(pl.DataFrame({"query": ["q"], "document": ["d"], "gain": [1.0]}))
    assert assessor_table(nobody) is None


def test_the_most_and_the_least_generous_are_found() -> None:
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
    assert agreement is not None
    assert agreement.errors.items == 40
    found = most_and_least_generous(table.to_dicts())
    assert found is not None
    assert [row["assessor"] for row in found] == ["ann", "cy"]
    assert [row["bias"] for row in found] == pytest.approx([12, -12], abs=2)
    alike = assessor_table(judged([("d", "ann", 50.0), ("d", "bob", 50.0)]))
    assert alike is not None
    assert most_and_least_generous(alike.to_dicts()) is None


@pytest.mark.parametrize(
    ("rows", "said", "unsaid"),
    [
        ([("d", "ann", 50.0)], "1 assessor gave 1 judgment.", "No item was judged by two"),
        ([("d", "ann", 50.0), ("e", "bob", 5.0)], "2 assessors gave 2 judgments.", "Krippendorff"),
        ([("d", "ann", 50.0), ("e", "bob", 5.0)], "No item was judged by two of them", "most generous"),
        ([("d", "ann", 50.0), ("d", "bob", 50.0)], "alpha is undefined", "most generous"),
        ([("d", "ann", 50.0), ("d", "bob", 5.0)], "1 item was judged by several of them.", "undefined"),
        ([("d", "ann", 50.0), ("d", "bob", 5.0)], "ann is the most generous, 45.0 above", "undefined"),
    ],
)
def test_the_page_says_who_judged(rows: list[tuple[str, str, float]], said: str, unsaid: str) -> None:
    runs = earmark.runs_from_dict({"A": {"q": {"d": 1.0, "e": 0.5}}, "B": {"q": {"e": 1.0, "f": 0.5}}})
    judgments = judged(rows)
    campaign = earmark.Campaign.build(runs, judgments, measure="AG@2", predictor="uniform")
    page = " ".join(report_html(gather_findings(campaign)).replace("&#39;", "'").split())
    assert said in page
    assert unsaid not in page
