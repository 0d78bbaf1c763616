"""``--sample``: what people say of judgments that were drawn by other means, in Python and on the command line."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.campaign.own_sample import OwnSample, read_probabilities
from earmark.campaign.verdict import Inference
from earmark.errors import InputError, ParameterError

DESIGN = Inference("design")


@cache
def made() -> tuple[earmark.SyntheticCollection, pl.DataFrame]:
    """Return a collection and the gain of each of its items."""
    made = earmark.synthetic_collection(np.random.default_rng(2), systems=5, queries=30, documents=300)
    items = earmark.Campaign.build(made.runs, measure="AG@5").problem.items
    gains = made.judgments.frame.select("query", "document", "gain")
    return made, items.join(gains, on=["query", "document"], how="inner", maintain_order="left")


def some(rows: pl.DataFrame) -> earmark.Judgments:
    return earmark.judgments_from_frame(rows.select("query", "document", "gain"), scale=earmark.FINE)


def drawn(n: int) -> earmark.Judgments:
    return some(made()[1].sample(n, seed=4))


def campaign(judgments: earmark.Judgments, **how: object) -> earmark.Campaign:
    return earmark.Campaign.build(made()[0].runs, judgments, **{"measure": "AG@5", "inference": DESIGN} | how)


def truth(measure: str = "AG@5") -> np.ndarray:
    return earmark.evaluate(made()[0].runs, made()[0].judgments, [measure]).mean_values[0]


def test_a_uniform_sample_is_a_sample() -> None:
    with pytest.raises(ParameterError, match=r"other judgments do not follow .* say how: --sample\. Judge"):
        _ = campaign(drawn(150)).verdict
    verdict = campaign(drawn(150), sample="uniform").verdict
    assert verdict.sampled == 150
    assert verdict.basis == "guaranteed if judged items were drawn uniformly at random (--sample), whatever the model"
    assert np.all((verdict.ranking.low <= truth()) & (truth() <= verdict.ranking.high))
    ranking = earmark.rank(made()[0].runs, drawn(150), measure="AG@5", inference="design", sample="uniform")
    np.testing.assert_array_equal(ranking.low, verdict.ranking.low)
    # The same judgments hold the model to account.
    by_model = campaign(drawn(150), sample="uniform", inference=Inference())
    assert by_model.has_sample
    assert by_model.audit.sampled == 150
    assert by_model.problem.digest != campaign(drawn(150), inference=Inference()).problem.digest


def test_open_pairs_are_forecast_with_more_of_the_same_sample() -> None:
    forecast = campaign(drawn(150), sample="uniform").forecast()
    assert forecast.pairs
    assert all(pair.left <= made()[1].height - 150 for pair in forecast.pairs)


def test_probabilities_of_a_file(tmp_path: Path) -> None:
    items = made()[1]
    chance = pl.Series("probability", np.where(items["gain"].to_numpy() > 50, 0.5, 0.2))
    path = tmp_path / "drawn.csv"
    items.select("query", "document").with_columns(chance).write_csv(path)
    kept = np.random.default_rng(8).random(items.height) < chance.to_numpy()
    verdict = campaign(some(items.filter(pl.Series(kept))), sample=path).verdict
    assert verdict.sampled == np.count_nonzero(kept)
    assert "with the probabilities of the file" in verdict.basis
    assert np.all((verdict.ranking.low <= truth()) & (truth() <= verdict.ranking.high))
    # A part of the items could not be drawn.
    items.select("query", "document").with_columns(chance).head(items.height - 3).write_csv(path)
    with pytest.raises(
        InputError, match=r"drawn.csv: expected the probability of each of the \d+ items .* of 3 of them"
    ):
        campaign(drawn(150), sample=path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,document\nq,d\n", "p.csv: expected a column 'probability', got query, document"),
        ("query,document,probability\nq,d,0\n", "p.csv:2: expected a probability above 0 and up to 1, got 0"),
        ("query,document,probability\nq,d,50\n", "got 50.*percentages are to be divided by 100"),
        ("query,document,probability\nq,d,x\n", "p.csv:2: expected .*, got 'x'"),
        ("query,document,probability\nq,d,.5\nq,d,.5\n", "p.csv:3: expected every item once, got an item again"),
    ],
)
def test_files_that_are_no_probabilities_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_probabilities(path)


def test_a_sample_for_another_measure() -> None:
    problem = earmark.Campaign.build(made()[0].runs, measure="AG@5", policy="proportional")
    items = problem.propose(160).items
    judgments = some(made()[1][items])
    for measure in ("DCG@5", "AG@3"):
        verdict = campaign(judgments, measure=measure, sample="AG@5").verdict
        assert "sampled for AG@5" in verdict.basis
        own = truth(measure)
        assert np.all((verdict.ranking.low <= own) & (own <= verdict.ranking.high))
    # With a shorter pool, the last judged item is the threshold.
    held = campaign(judgments, measure="AG@3", sample="AG@5")
    assert held.verdict.sampled == held.judged - 1
    with pytest.raises(ParameterError, match=r"--sample AG@3: a sample for AG@3 never reaches \d+ of the \d+ items"):
        campaign(judgments, measure="AG@5", sample="AG@3")
    with pytest.raises(ParameterError, match="--sample nDCG@5: name the measure that items were sampled by"):
        campaign(judgments, measure="AG@5", sample="nDCG@5")


def test_what_is_no_sample_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"--sample is uniform, a measure .* or a file .*; got 'unifrom'"):
        OwnSample.parse("unifrom")
    with pytest.raises(InputError, match=r"nothing.csv: expected a file"):
        OwnSample.parse("nothing.csv")
    with pytest.raises(ParameterError, match="not about --whole-queries"):
        campaign(drawn(150), sample="uniform", inference=Inference("design", whole_queries=True))
    queries = made()[1]["query"].unique(maintain_order=True).head(8)
    whole = some(made()[1].filter(pl.col("query").is_in(queries.implode())))
    with pytest.raises(ParameterError, match="not the sample that --sample describes: among the items of the query"):
        _ = campaign(whole, sample="uniform").verdict
