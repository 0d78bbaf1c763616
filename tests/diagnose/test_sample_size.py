"""What the number of judgments does: by exact expectations, and on made-up predictors."""

import numpy as np
import polars as pl
import pytest
from forecasts_drawn import draw_forecasts
from scipy import sparse, stats

from earmark.diagnose.decomposition import decompose_score, group_forecasts
from earmark.diagnose.proper_scores import ranked_probability_score
from earmark.diagnose.sample_size import (
    error_of_system_means,
    group_sizes,
    per_system,
    random_share,
    reliability_by_sample_size,
    scores_by_amount_judged,
)
from earmark.errors import ParameterError

# --- samples of forecasts ---


def test_group_sizes_count_groups():
    probabilities, _ = draw_forecasts(200, 4, seed=1)
    frame = group_sizes(probabilities, n_values=(2, 6))
    assert frame.columns == ["n_values", "size", "groups"]
    for values in (2, 6):
        part = frame.filter(pl.col("n_values") == values)
        sizes = group_forecasts(probabilities, n_values=values).sizes
        assert part["size"].to_list() == sorted(set(sizes.tolist()))
        assert (part["size"] * part["groups"]).sum() == 200
        assert part["groups"].sum() == len(sizes)
    # Fewer values, larger groups.
    largest = frame.group_by("n_values").agg(pl.col("size").max()).sort("n_values")["size"].to_list()
    assert largest[0] > largest[1]
    assert group_sizes(probabilities, n_values=()).height == 0


def test_all_forecasts_as_a_sample_have_the_reliability_of_all():
    probabilities, observed = draw_forecasts(300, 4, seed=2)
    frame = reliability_by_sample_size(
        probabilities,
        observed,
        sizes=[300],
        repeats=3,
        n_values=(2, 4),
        min_group_sizes=(1, 5),
        representative="rounded",
        rng=np.random.default_rng(0),
    )
    assert frame.select("n_values", "min_group_size").rows() == [(2, 1), (2, 5), (4, 1), (4, 5)]
    for row in frame.iter_rows(named=True):
        parts = decompose_score(
            probabilities,
            observed,
            n_values=row["n_values"],
            min_group_size=row["min_group_size"],
            representative="rounded",
        )
        assert row["reliability"] == pytest.approx(parts.reliability)
        assert row["reliability_sd"] == pytest.approx(0, abs=1e-12)
        assert row["kept"] == pytest.approx(parts.n_kept / 300)
        expected = None if row["min_group_size"] == 1 else pytest.approx(parts.corrected_reliability)
        assert row["corrected_reliability"] == expected
        assert row["repeats"] == 3


def test_few_forecasts_look_unreliable_and_the_correction_sees_through_it():
    probabilities, observed = draw_forecasts(4_000, 4, seed=3)
    frame = reliability_by_sample_size(
        probabilities,
        observed,
        sizes=[100, 400, 4_000],
        n_values=(3, 8),
        min_group_sizes=(1, 2),
        rng=np.random.default_rng(1),
    )
    for values in (3, 8):
        reliability = frame.filter((pl.col("n_values") == values) & (pl.col("min_group_size") == 1))["reliability"]
        assert reliability.to_list() == sorted(reliability, reverse=True)
        assert reliability[0] > 3 * reliability[2]
    fine, coarse = (
        frame.filter((pl.col("n_values") == v) & (pl.col("min_group_size") == 1))["reliability"][0] for v in (8, 3)
    )
    assert fine > coarse
    corrected = frame.filter((pl.col("min_group_size") == 2) & (pl.col("n_values") == 3))["corrected_reliability"]
    assert np.abs(corrected.to_numpy()).max() < 0.01 < frame["reliability"][0]


def test_samples_without_a_group_that_is_large_enough():
    probabilities, observed = draw_forecasts(50, 4, seed=4)
    frame = reliability_by_sample_size(
        probabilities, observed, sizes=[5], min_group_sizes=(6,), repeats=4, rng=np.random.default_rng(0)
    )
    assert frame.row(0, named=True) == {
        "n_values": 10,
        "min_group_size": 6,
        "size": 5,
        "repeats": 0,
        "reliability": None,
        "reliability_sd": None,
        "corrected_reliability": None,
        "kept": 0.0,
    }


def test_the_same_seed_gives_the_same_frame():
    probabilities, observed = draw_forecasts(100, 3, seed=5)
    one, two = (
        reliability_by_sample_size(probabilities, observed, sizes=[20, 50], rng=np.random.default_rng(9))
        for _ in range(2)
    )
    assert one.equals(two)


# --- amounts of judgments ---


def shares_of_judged(observed, n_levels):
    """A predictor that knows nothing but the shares of levels among judged items; uniform without any."""

    def predict(judged):
        counts = np.bincount(observed[judged], minlength=n_levels) + 1.0
        return np.tile(counts / counts.sum(), (len(observed), 1))

    return predict


def test_more_judgments_make_better_predictions():
    observed = np.random.default_rng(1).choice(3, size=600, p=[0.7, 0.2, 0.1])
    frame = scores_by_amount_judged(
        shares_of_judged(observed, 3),
        observed,
        draw=random_share(600),
        amounts=[0, 0.01, 0.1, 0.5],
        rng=np.random.default_rng(2),
        repeats=30,
    )
    assert frame["judged"].to_list() == [0, 6, 60, 300]
    assert frame["evaluated"].to_list() == [600, 594, 540, 300]
    assert frame["repeats"].to_list() == [30] * 4
    assert frame["rps"].to_list() == sorted(frame["rps"], reverse=True)
    assert frame["reliability"].to_list() == sorted(frame["reliability"], reverse=True)
    uniform = np.full((600, 3), 1 / 3)
    assert frame["rps"][0] == pytest.approx(ranked_probability_score(uniform, observed))
    assert frame["reliability"][0] == pytest.approx(decompose_score(uniform, observed).reliability)
    assert frame["rps_sd"][0] == pytest.approx(0)


def test_everything_judged_leaves_nothing_to_evaluate_unless_all_are():
    probabilities, observed = draw_forecasts(40, 3, seed=6)
    common = {"draw": random_share(40), "amounts": [1.0], "rng": np.random.default_rng(0), "repeats": 2}
    nothing = scores_by_amount_judged(lambda judged: probabilities, observed, **common)
    assert nothing.row(0) == (1.0, 40.0, None, 0, None, None, None, None)
    everything = scores_by_amount_judged(lambda judged: probabilities, observed, evaluated="all", **common)
    assert everything["rps"][0] == pytest.approx(ranked_probability_score(probabilities, observed))


def test_items_that_cannot_be_predicted_are_left_out():
    probabilities, observed = draw_forecasts(40, 3, seed=7)
    half = probabilities.copy()
    half[20:] = np.nan
    common = {"draw": random_share(40), "amounts": [0.0], "rng": np.random.default_rng(0), "repeats": 1}
    frame = scores_by_amount_judged(lambda judged: half, observed, **common)
    assert frame["evaluated"].to_list() == [20]
    assert frame["rps"][0] == pytest.approx(ranked_probability_score(probabilities[:20], observed[:20]))
    assert frame["rps_sd"].to_list() == [None]


def test_equal_numbers_of_predictions_are_scored_or_none():
    probabilities, observed = draw_forecasts(40, 3, seed=8)
    frame = scores_by_amount_judged(
        lambda judged: probabilities,
        observed,
        draw=random_share(40),
        amounts=[0.0, 0.25, 0.5],
        n_evaluated=30,
        rng=np.random.default_rng(0),
        repeats=3,
    )
    assert frame["evaluated"].to_list() == [30, 30, None]
    assert frame["repeats"].to_list() == [3, 3, 0]


def test_a_minimum_size_of_groups_concerns_the_reliability_alone():
    probabilities, observed = draw_forecasts(40, 3, seed=9)
    common = {"draw": random_share(40), "amounts": [0.0], "repeats": 1}
    strict = scores_by_amount_judged(
        lambda judged: probabilities, observed, min_group_size=41, rng=np.random.default_rng(0), **common
    )
    assert strict["rps"][0] == pytest.approx(ranked_probability_score(probabilities, observed))
    assert strict["reliability"].to_list() == [None]
    some = scores_by_amount_judged(
        lambda judged: probabilities, observed, n_values=2, min_group_size=5, rng=np.random.default_rng(0), **common
    )
    parts = decompose_score(probabilities, observed, n_values=2, min_group_size=5)
    assert 0 < parts.n_kept < 40
    assert some["reliability"][0] == pytest.approx(parts.reliability)


def test_draws_per_system_give_every_system_its_due():
    rng = np.random.default_rng(3)
    retrieved = rng.random((6, 80)) < 0.3
    retrieved[5] = False
    retrieved[5, :2] = True
    for given_as in (retrieved, sparse.csr_array(retrieved), sparse.csr_array(np.where(retrieved, 3, 0))):
        judged = per_system(given_as)(4, np.random.default_rng(1))
        per = (retrieved & judged).sum(axis=1)
        assert (per[:5] >= 4).all()
        assert per[5] == 2
        assert judged.sum() <= 5 * 4 + 2
    assert not per_system(retrieved)(0, rng).any()
    # Within a system, every item is as likely as any other.
    draw = per_system(retrieved[:1])
    counts = sum(draw(4, rng).astype(int) for _ in range(2_000))[retrieved[0]]
    n = retrieved[0].sum()
    assert stats.chisquare(counts, np.full(n, 2_000 * 4 / n)).pvalue > 1e-4


# --- means of systems ---


def test_the_error_of_a_mean_is_that_of_sampling_without_replacement():
    rng = np.random.default_rng(4)
    gains = rng.integers(0, 101, size=300) / 100
    retrieved = np.zeros((3, 300), dtype=bool)
    for system, size in enumerate((60, 100, 40)):
        retrieved[system, rng.choice(300, size, replace=False)] = True
    frame = error_of_system_means(gains, retrieved, counts=[1, 5, 40, 50, 100, 101], repeats=3_000, rng=rng)
    assert frame["judgments"].to_list() == [1, 5, 40, 50, 100, 101]
    assert frame["systems"].to_list() == [3, 3, 3, 2, 1, 0]
    for row in frame.iter_rows(named=True):
        n = row["judgments"]
        variances = [
            gains[r].var(ddof=1) / n * (1 - n / r.sum()) for r in (retrieved[s] for s in range(3)) if n <= r.sum()
        ]
        if not variances:
            assert row["rmse"] is row["mean_absolute_error"] is row["error_95"] is None
            continue
        assert row["rmse"] == pytest.approx(np.sqrt(np.mean(variances)), rel=0.03, abs=1e-12)
        assert row["mean_absolute_error"] <= row["rmse"] + 1e-12
    assert frame["error_95"][1] > frame["mean_absolute_error"][1]


# --- what cannot be used ---

FORECAST, OUTCOME = np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([0, 1])


def amounts(**options):
    settings = {
        "predict": lambda judged: FORECAST,
        "observed": OUTCOME,
        "draw": random_share(2),
        "amounts": [0.0],
        "rng": np.random.default_rng(0),
    }
    settings |= options
    return scores_by_amount_judged(settings.pop("predict"), settings.pop("observed"), **settings)


def samples(**options):
    return reliability_by_sample_size(FORECAST, OUTCOME, **{"rng": np.random.default_rng(0), "sizes": [1]} | options)


def means(*arguments, **options):
    return error_of_system_means(*arguments, **{"rng": np.random.default_rng(0), "counts": [1]} | options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: samples(sizes=[3]), "a sample of the forecasts has 1 to 2 of them, got 3"),
        (lambda: samples(sizes=[0]), "a sample of the forecasts has 1 to 2 of them, got 0"),
        (lambda: samples(repeats=0), "at least one repeat is needed, got 0"),
        (lambda: amounts(evaluated="judged"), "unknown predictions 'judged' to score, choose from unjudged, all"),
        (lambda: amounts(n_evaluated=0), "at least one prediction is scored, got n_evaluated=0"),
        (lambda: amounts(repeats=0), "at least one repeat is needed, got 0"),
        (lambda: amounts(predict=lambda judged: FORECAST[:1]), r"predictions of shape \(2, levels\), got \(1, 2\)"),
        (lambda: amounts(predict=lambda judged: FORECAST * 2), "add up to 1"),
        (lambda: amounts(draw=random_share(3)), r"each of 2 items whether it is judged, got bool of shape \(3,\)"),
        (lambda: amounts(amounts=[1.5]), "a share of the items lies between 0 and 1, got 1.5"),
        (lambda: amounts(draw=per_system(np.eye(2)), amounts=[0.5]), "a whole number, 0 or more, got 0.5"),
        (lambda: amounts(draw=per_system(np.eye(2)), amounts=[-1]), "a whole number, 0 or more, got -1"),
        (lambda: per_system([1, 0]), r"a matrix \(systems, items\), got 1 dimension"),
        (lambda: means([1.0], np.eye(2)), r"a gain for each of 2 items, got shape \(1,\)"),
        (lambda: means([1.0, np.nan], np.eye(2)), "gains of all items must be known, finite numbers"),
        (lambda: means([1.0, 0.0], np.eye(2), counts=[0]), "a mean needs at least one judgment, got 0"),
        (lambda: means([1.0, 0.0], np.eye(2), repeats=0), "at least one repeat is needed, got 0"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
