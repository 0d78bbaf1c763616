"""What the number and choice of judgments do: by hand, by exact expectations, and on made-up predictors."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from earmark.diagnose.judging import (
    difference_quantiles,
    error_of_system_means,
    group_sizes,
    judged_by_system,
    judged_mix,
    per_system,
    random_share,
    reliability_by_sample_size,
    scores_by_amount_judged,
)
from earmark.diagnose.proper_scores import decompose_score, group_forecasts, ranked_probability_score
from earmark.errors import ParameterError


def draw_forecasts(n_items, n_levels, seed):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(n_levels), size=n_items)
    observed = (rng.random((n_items, 1)) > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)
    return probabilities, observed


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


def test_differences_between_all_pairs():
    frame = difference_quantiles([0.1, 0.4, 0.2], quantiles=[0, 0.5, 1])
    np.testing.assert_allclose(frame["difference"], [0.1, 0.2, 0.3])
    assert difference_quantiles([0.1, 0.4])["quantile"].to_list() == [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0]


def test_judged_by_system_by_hand():
    gains = [1.0, 0.5, 0.0, 0.2]
    retrieved = [[1, 1, 0, 0], [0, 2, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    judged = [True, True, False, False]
    frame = judged_by_system(gains, retrieved, judged)
    assert frame.columns == ["system", "items", "judged", "mean_judged", "mean_all", "error"]
    assert frame["items"].to_list() == [2, 3, 1, 0]
    assert frame["judged"].to_list() == [2, 1, 0, 0]
    assert frame["mean_judged"].to_list() == [0.75, 0.5, None, None]
    assert frame["mean_all"][1] == pytest.approx(0.7 / 3)
    assert frame["mean_all"].to_list()[3] is None
    assert frame["error"][0] == 0
    assert frame["error"][1] == pytest.approx(0.5 - 0.7 / 3)
    assert frame["error"].to_list()[2:] == [None, None]
    again = judged_by_system(gains, sparse.csr_array(np.array(retrieved)), judged)
    assert again.equals(frame)


@given(st.integers(0, 2**32))
def test_judging_everything_leaves_no_error(seed):
    rng = np.random.default_rng(seed)
    retrieved = rng.random((3, 10)) < 0.5
    frame = judged_by_system(rng.random(10), retrieved, np.ones(10, dtype=bool))
    assert frame["error"].drop_nulls().to_list() == [0.0] * frame.filter(pl.col("items") > 0).height


# --- the mix of what is judged ---


def test_a_mix_by_hand():
    genre = ["rock"] * 5 + ["jazz"] * 3 + [None] * 2
    judged = np.array([True] + [False] * 4 + [True] * 3 + [False] * 2)
    frame = judged_mix(genre, judged)
    assert frame["value"].to_list() == ["rock", "jazz", None]
    assert frame["items"].to_list() == [5, 3, 2]
    assert frame["judged"].to_list() == [1, 3, 0]
    np.testing.assert_allclose(frame["share_all"], [0.5, 0.3, 0.2])
    np.testing.assert_allclose(frame["share_judged"], [0.25, 0.75, 0])
    np.testing.assert_allclose(frame["representation"], [0.5, 2.5, 0])
    np.testing.assert_allclose(frame["expected"], [2, 1.2, 0.8])
    # Three jazz songs of four judged have probability C(3,3) C(7,1) / C(10,4) = 7/210: outside the central 90%.
    assert judged_mix(genre, judged, level=0.9)["high"][1] == 2
    assert frame["high"][1] == 3


def test_a_random_choice_stays_within_the_range_and_a_biased_one_does_not():
    rng = np.random.default_rng(5)
    genre = np.repeat(["classical", "jazz", "rock"], [200, 100, 700])
    outside = 0
    for _ in range(300):
        judged = random_share(1_000)(0.1, rng)
        frame = judged_mix(genre.tolist(), judged)
        outside += frame.filter((pl.col("judged") < pl.col("low")) | (pl.col("judged") > pl.col("high"))).height
    # The range is central and discrete, so at most 5% of the counts lie outside, and not far fewer.
    low, _ = stats.binom.interval(0.999, 900, 0.025)
    _, high = stats.binom.interval(0.999, 900, 0.05)
    assert low <= outside <= high
    biased = rng.choice(1_000, 100, replace=False, p=np.where(genre == "jazz", 3.0, 1.0) / 1_200)
    judged = np.isin(np.arange(1_000), biased)
    jazz = judged_mix(genre.tolist(), judged).filter(pl.col("value") == "jazz").row(0, named=True)
    assert jazz["judged"] > jazz["high"]
    assert jazz["representation"] > 1.5


def test_a_mix_with_nothing_judged():
    frame = judged_mix(pl.Series(["a", "b"]), [False, False])
    assert frame["share_judged"].to_list() == frame["representation"].to_list() == [None, None]
    assert frame["expected"].to_list() == frame["low"].to_list() == frame["high"].to_list() == [0, 0]


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
        (lambda: difference_quantiles([1.0]), "at least two finite scores"),
        (lambda: difference_quantiles([1.0, 2.0], quantiles=[2]), r"quantiles lie between 0 and 1, got \[2\]"),
        (lambda: judged_by_system([1.0, 0.0], np.eye(2), [1, 0]), "each of 2 items whether it is judged, got int64"),
        (lambda: judged_mix(["a"], [True, False]), r"each of 1 items whether it is judged, got bool of shape \(2,\)"),
        (lambda: judged_mix(["a"], [True], level=1), "between 0 and 1, got 1"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ParameterError, match=message):
        call()
