"""The published L_output on MIREX 2011, with no judgments: does it look as overconfident here as it is known to be?

The papers' numbers are of models fitted without 2011, the published coefficients used here were fitted with it, so
only sizes can be compared with theirs. Numbers with more digits were computed independently from the same data.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

from earmark.diagnose.calibration import accuracy_by_confidence, reliability_curve, sign_agreement
from earmark.diagnose.coverage import integral_transform, interval_coverage
from earmark.diagnose.decomposition import decompose_score
from earmark.diagnose.proper_scores import ranked_probability_score, summarise_errors
from earmark.diagnose.representativeness import difference_quantiles, judged_by_system, judged_mix
from earmark.diagnose.sample_size import error_of_system_means
from earmark.inference.significance import compare_scores
from earmark.predictors.ordinal_models import published_model

LEVELS = np.arange(10) * 11.0


@dataclass(frozen=True)
class Forecast:
    """All 6,322 items: what systems retrieved, what was judged, and what the model says where there are metadata."""

    retrieved: np.ndarray
    scores: np.ndarray
    gain: np.ndarray
    genre: pl.Series
    known: np.ndarray
    probabilities: np.ndarray

    @property
    def observed(self):
        return np.rint(self.gain[self.known] / 11).astype(int)

    @property
    def by_result(self):
        """Places of the predicted items, each as often as systems retrieved it."""
        return np.repeat(np.arange(self.known.sum()), self.retrieved.sum(axis=0)[self.known])

    @property
    def moments(self):
        """Mean and variance of the gain of every item; those of 101 equally likely gains without metadata."""
        mean, variance = np.full(self.gain.size, 50.0), np.full(self.gain.size, 850.0)
        mean[self.known] = self.probabilities @ LEVELS
        variance[self.known] = self.probabilities @ LEVELS**2 - mean[self.known] ** 2
        return mean, variance

    @property
    def systems(self):
        """Estimate, variance and truth of every system's AG@5, in 0..1."""
        mean, variance = self.moments
        weights = self.retrieved / 500
        return weights @ mean / 100, weights**2 @ variance / 100**2, weights @ self.gain / 100

    @property
    def pairs(self):
        """Estimate, variance and truth of every difference: what both systems retrieved cancels out."""
        mean, variance = self.moments
        a, b = np.triu_indices(len(self.retrieved), k=1)
        weights = (self.retrieved[a].astype(float) - self.retrieved[b]) / 500
        return weights @ mean / 100, weights**2 @ variance / 100**2, weights @ self.gain / 100


@pytest.fixture(scope="module")
def forecast(mirex):
    def table(name, columns):
        return pl.read_csv(mirex / name, separator="\t", has_header=False, new_columns=columns, infer_schema_length=0)

    documents = table("metadata.txt", ["document", "artist", "genre"])
    queries = documents.select(query="document", query_genre="genre")
    runs = table("runs.txt", ["system", "query", "document"])
    n_systems = runs["system"].n_unique()
    overlap = runs.select("query", "document").n_unique() / runs.height
    results = (
        runs.join(documents, on="document", how="left", maintain_order="left")
        .join(queries, on="query", how="left", maintain_order="left")
        .with_columns(
            results=pl.col("genre").count().over("query"),  # of those with metadata
            pTEAM=pl.len().over("query", "document") / n_systems,
            OV=pl.lit(overlap),
            sGEN=(pl.col("genre") == pl.col("query_genre")).cast(pl.Float64),
        )
        .with_columns(
            pART=pl.len().over("query", "artist") / pl.col("results"),
            pGEN=pl.len().over("query", "genre") / pl.col("results"),
        )
        .with_columns(both=pl.col("sGEN") * pl.col("pGEN"))
    )
    items = (
        results.unique(["query", "document"], maintain_order=True)
        .drop("system")
        .join(table("judgments.txt", ["query", "document", "gain"]), on=["query", "document"], maintain_order="left")
        .with_row_index("item")
    )
    placed = runs.join(items.select("query", "document", "item"), on=["query", "document"], maintain_order="left")
    placed = placed.with_columns(
        system=pl.col("system").rank("dense").cast(pl.Int64) - 1, query=pl.col("query").rank("dense").cast(pl.Int64) - 1
    )
    retrieved = np.zeros((n_systems, items.height), dtype=bool)
    retrieved[placed["system"].to_numpy(), placed["item"].to_numpy()] = True
    gain = items["gain"].cast(pl.Float64).to_numpy()
    scores = np.zeros((n_systems, placed["query"].n_unique()))
    np.add.at(scores, (placed["system"].to_numpy(), placed["query"].to_numpy()), gain[placed["item"].to_numpy()] / 500)
    known = items.select(pl.col("artist").is_not_null() & pl.col("genre").is_not_null()).to_series().to_numpy()
    features = items.select("pTEAM", "OV", "pART", "sGEN", "pGEN", "both").to_numpy()[known]
    return Forecast(
        retrieved=retrieved,
        scores=scores,
        gain=gain,
        genre=items["genre"],
        known=known,
        probabilities=published_model("mtc-output-fine").probabilities(features),
    )


def test_the_score_of_the_forecasts(forecast):
    # BIAS, Table 3.4, 2011: RPS .143 on 8,925 results, an item counting once per system.
    assert (forecast.known.sum(), forecast.by_result.size) == (6_279, 8_925)
    by_result = forecast.by_result
    score = ranked_probability_score(forecast.probabilities[by_result], forecast.observed[by_result])
    assert score == pytest.approx(0.142, abs=5e-4)
    assert ranked_probability_score(forecast.probabilities, forecast.observed) == pytest.approx(0.142, abs=5e-4)


def test_errors_and_claimed_variances(forecast):
    # MTC, Table 2, 2011: RMSE 25.2 and variance 561 over all items; BIAS, Table 3.4: .256 and .060.
    summary = summarise_errors(*forecast.moments, forecast.gain)
    assert summary.n == 6_322
    assert summary.rmse == pytest.approx(25.06, abs=0.005)
    assert summary.mean_variance == pytest.approx(561, abs=0.5)
    assert summary.inflation == pytest.approx(25.06**2 / 561, abs=0.005)


def test_the_reliability_has_the_size_that_was_reported(forecast):
    # BIAS, Table 3.4: .0048 for 2011. It does not print its grouping, and by grouping alone ours goes from .005 to
    # .015, falling as groups become coarser or small ones are dropped.
    by_result = forecast.by_result
    probabilities, observed = forecast.probabilities[by_result], forecast.observed[by_result]
    by_values = [
        decompose_score(probabilities, observed, n_values=values, representative="rounded").reliability
        for values in (20, 10, 5, 2)
    ]
    by_size = [
        decompose_score(probabilities, observed, min_group_size=least, representative="rounded").reliability
        for least in (1, 10, 50, 100)
    ]
    for reliability in (by_values, by_size):
        assert reliability == sorted(reliability, reverse=True)
        assert 0.004 < min(reliability) < max(reliability) < 0.02


def test_the_top_probabilities_promise_too_much(forecast):
    curve = reliability_curve(forecast.probabilities, forecast.observed, event="at-least")
    assert curve.observed_high[-1] < curve.forecast[-1]
    assert curve.observed_low[0] > curve.forecast[0]


def test_intervals_cover_far_less_than_they_promise(forecast):
    # BIAS, Tables 3.1 and 3.2, four years pooled: .38 of the systems and .77 of the pairs at .95.
    systems, pairs = interval_coverage(*forecast.systems), interval_coverage(*forecast.pairs)
    assert (systems.total, pairs.total) == (18, 153)
    assert systems.share[2] == pytest.approx(0.61, abs=0.005)
    assert pairs.share[2] == pytest.approx(0.58, abs=0.005)
    assert (systems.shortfall > 0).all()
    assert (pairs.high < pairs.level).all()
    u = integral_transform(*forecast.pairs)
    assert np.mean((u < 0.05) | (u > 0.95)) > 0.3  # a tenth, were the claims true


def test_confidence_and_accuracy_of_the_ranking(forecast):
    # MTC, Table 5, 2011 Fine: confidence .942, accuracy .948.
    estimate, variance, truth = forecast.pairs
    bins = accuracy_by_confidence(estimate, ndtr(np.abs(estimate) / np.sqrt(variance)), truth)
    assert bins.expected_accuracy == pytest.approx(0.9505, abs=5e-5)
    assert bins.observed_accuracy == pytest.approx(0.902, abs=5e-4)
    assert bins.overconfidence == pytest.approx(0.049, abs=1e-3)
    assert bins.accuracy[-1] > 0.95
    agreement = sign_agreement(estimate, truth)
    assert agreement.tied == 0
    assert agreement.tau == pytest.approx(2 * bins.observed_accuracy - 1)
    assert sign_agreement(estimate, truth, among=compare_scores(forecast.scores).significant).accuracy > 0.95


def test_true_scores_are_the_known_ones(forecast):
    truth = forecast.systems[2]
    np.testing.assert_allclose(forecast.scores.mean(axis=1), truth)
    assert (truth.min().round(4), truth.max().round(4)) == (0.3039, 0.5864)
    quantiles = difference_quantiles(truth)
    assert quantiles["difference"][0] == pytest.approx(0.00002, abs=5e-6)
    assert quantiles["difference"][-1] == pytest.approx(0.5864 - 0.3039, abs=1e-4)


def test_a_few_judgments_say_little_about_a_system(forecast):
    # BIAS, section 3.3: systems rarely differ by more than .3, but with few judgments a mean is that far off.
    frame = error_of_system_means(
        forecast.gain / 100, forecast.retrieved, counts=[1, 3, 10, 50, 500], rng=np.random.default_rng(0)
    )
    assert frame["systems"].to_list() == [18] * 5
    assert frame["error_95"][1] > 0.3 > frame["error_95"][2] * 1.5
    assert frame["rmse"][3] < 0.05
    assert frame["rmse"][4] == pytest.approx(0, abs=1e-12)


def test_items_that_many_systems_retrieved_are_not_like_all(forecast):
    # Judging by weight takes what separates most pairs of systems first: items that many, but not all, retrieved.
    n = forecast.retrieved.sum(axis=0)
    weight = n * (len(forecast.retrieved) - n)
    judged = np.zeros(n.size, dtype=bool)
    judged[np.argsort(-weight, kind="stable")[:632]] = True
    assert (judged_by_system(forecast.gain / 100, forecast.retrieved, judged)["error"] > 0).mean() > 0.9
    mix = judged_mix(forecast.genre, judged)
    outside = mix.filter((pl.col("judged") < pl.col("low")) | (pl.col("judged") > pl.col("high")))
    assert outside.height > mix.height / 4
