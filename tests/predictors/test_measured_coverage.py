"""How often intervals of a predictor held, as headlines state it: what the study printed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from earmark.predictors.base import PREDICTORS

DATA = Path(__file__).parents[2] / "docs" / "data" / "coverage.csv"
METHODS = {"mtc-judge": "published MTC"}
MEASURED = [predictor.name for predictor in PREDICTORS.values() if predictor.measured is not None]


@pytest.mark.parametrize("name", MEASURED)
def test_the_coverage_in_headlines_is_that_of_the_data(name: str) -> None:
    method, measured = METHODS.get(name, f"{name}, "), PREDICTORS[name].measured
    assert measured is not None
    rows = pl.read_csv(DATA).filter(pl.col("measure") == "AG@5", pl.col("method").str.starts_with(method))
    assert rows["resamples"].unique().to_list() == [measured.campaigns]
    for column, stated in (("coverage_pairs", measured.pairs), ("coverage_systems", measured.systems)):
        assert (rows[column].min(), rows[column].max()) == pytest.approx(stated, abs=0.0051)


def test_only_predictors_with_modelled_errors_are_sure() -> None:
    assert [predictor.name for predictor in PREDICTORS.values() if predictor.errors == "correlated"] == ["hierarchical"]
    assert {"uniform", "mtc-output", "mtc-judge", "ordinal"} <= set(MEASURED)
