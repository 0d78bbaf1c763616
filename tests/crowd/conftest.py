"""Real answers, read with the few lines that this takes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest


@pytest.fixture(scope="session")
def melody_answers(melody: Path) -> pl.DataFrame:
    """What 79 workers said about 281 pairs of melodies."""
    ours = {
        "Input.query": "query",
        "Input.docA": "a",
        "Input.docB": "b",
        "WorkerId": "assessor",
        "Answer.radio": "choice",
        "WorkTimeInSeconds": "seconds",
    }
    text = pl.read_csv(melody / "judgments.csv", encoding="latin-1", infer_schema=False)
    return text.select(pl.col(old).alias(new) for old, new in ours.items()).with_columns(
        pl.col("choice").replace({"s": "same"}), pl.col("seconds").cast(pl.Float64)
    )
