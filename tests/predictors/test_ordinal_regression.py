"""Proportional-odds regression against R and statsmodels, relations and simulation."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from ordinal_rows import FEATURES, LEVELS, assert_same_fit, draw_rows, problems
from scipy import stats
from scipy.special import logit

from earmark.errors import NotConverged, ParameterError
from earmark.predictors.ordinal_regression import fit_ordinal, predict_levels

# ---- values by other programs ----------------------------------------------------------------------------------------

# Satisfaction of householders in Copenhagen (Madsen 1976; `housing` in R's MASS): counts at satisfaction low, medium,
# high, for contact low and high × type tower, apartment, atrium, terrace × influence low, medium, high.
HOUSING = np.array(
    [
        [21, 21, 28, 34, 22, 36, 10, 11, 36, 61, 23, 17, 43, 35, 40, 26, 18, 54],
        [13, 9, 10, 8, 8, 12, 6, 7, 9, 18, 6, 7, 15, 13, 13, 7, 5, 11],
        [14, 19, 37, 17, 23, 40, 3, 5, 23, 78, 46, 43, 48, 45, 86, 15, 25, 62],
        [20, 23, 20, 10, 22, 24, 7, 10, 21, 57, 23, 13, 31, 21, 13, 5, 6, 13],
    ]
).reshape(2, 4, 3, 3)


def test_housing_as_printed_by_r():
    # R: library(MASS); summary(polr(Sat ~ Infl + Type + Cont, weights = Freq, data = housing, Hess = TRUE))
    #                  Value Std. Error
    # InflMedium     0.5663937  0.1046528
    # InflHigh       1.2888191  0.1271561
    # TypeApartment -0.5723501  0.1192380
    # TypeAtrium    -0.3661866  0.1551733
    # TypeTerrace   -1.0910149  0.1514860
    # ContHigh       0.3602841  0.0955358
    # Low|Medium    -0.4961353  0.1248472
    # Medium|High    0.6907083  0.1254719
    # Residual Deviance: 3479.149   AIC: 3495.149
    contact, kind, influence, satisfaction = np.indices(HOUSING.shape).reshape(4, -1)
    columns = [influence == 1, influence == 2, kind == 1, kind == 2, kind == 3, contact == 1]
    model = fit_ordinal(np.column_stack(columns), satisfaction, n_levels=3, weights=HOUSING.ravel())
    np.testing.assert_allclose(
        model.coefficients, [0.5663937, 1.2888191, -0.5723501, -0.3661866, -1.0910149, 0.3602841], atol=2e-6
    )
    np.testing.assert_allclose(
        model.coefficient_errors, [0.1046528, 0.1271561, 0.1192380, 0.1551733, 0.1514860, 0.0955358], atol=1e-5
    )
    # polr's thresholds are of P(Y <= k), with the opposite sign.
    np.testing.assert_allclose(model.intercepts, [0.4961353, -0.6907083], atol=2e-6)
    np.testing.assert_allclose(model.intercept_errors, [0.1248472, 0.1254719], atol=1e-5)
    assert -2 * model.log_likelihood == pytest.approx(3479.149, abs=5e-4)
    assert model.aic == pytest.approx(3495.149, abs=5e-4)
    assert (model.n_rows, model.total_weight) == (72, 1681)


def fit_by_statsmodels(features, levels):
    """Fit by OrderedModel; thresholds of P(y <= j) become intercepts of P(y >= j) by a change of sign."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statsmodels' own, about its optimiser and about pandas
        peer = OrderedModel(levels, features, distr="logit")
        result = peer.fit(method="bfgs", gtol=1e-8, maxiter=500, disp=0)
        thresholds = peer.transform_threshold_params(result.params)[1:-1]
        return result, -thresholds


@pytest.mark.parametrize(("n", "n_levels"), [(150, 3), (400, 5), (1200, 10)])
def test_against_statsmodels(n, n_levels):
    features, levels = draw_rows(n, n, [1.0, -0.5, 0.0], np.linspace(-2.5, 2.0, n_levels - 1))
    features = features * [1, 40, 0.01] + [0, 300, -5]
    peer, intercepts = fit_by_statsmodels((features - [0, 300, -5]) / [1, 40, 0.01], levels)
    ours = fit_ordinal(features, levels, n_levels=n_levels)
    coefficients = peer.params[:3] / [1, 40, 0.01]
    np.testing.assert_allclose(ours.coefficients, coefficients, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(ours.intercepts, intercepts - coefficients @ [0, 300, -5], rtol=1e-4, atol=2e-3)
    np.testing.assert_allclose(ours.coefficient_errors, peer.bse[:3] / [1, 40, 0.01], rtol=1e-3)
    np.testing.assert_allclose(ours.p_values, peer.pvalues[:3], atol=1e-4)
    assert ours.log_likelihood == pytest.approx(peer.llf, abs=1e-5)
    assert ours.null_log_likelihood == pytest.approx(peer.llnull, abs=1e-5)
    assert ours.aic == pytest.approx(peer.aic, abs=1e-4)
    assert ours.mcfadden_r2 == pytest.approx(peer.prsquared, abs=1e-6)
    np.testing.assert_allclose(
        predict_levels(ours, features),
        peer.model.predict(peer.params, (features - [0, 300, -5]) / [1, 40, 0.01]),
        atol=1e-5,
    )


def test_two_levels_are_binary_logistic_regression():
    import statsmodels.api as sm

    features, levels = draw_rows(7, 300, [0.8, -1.2], [0.5])
    peer = sm.Logit(levels, sm.add_constant(features)).fit(disp=0, tol=1e-12)
    ours = fit_ordinal(features, levels, n_levels=2)
    np.testing.assert_allclose(np.append(ours.intercepts, ours.coefficients), peer.params, atol=1e-5)
    np.testing.assert_allclose(np.append(ours.intercept_errors, ours.coefficient_errors), peer.bse, atol=1e-5)
    np.testing.assert_allclose(predict_levels(ours, features)[:, 1], peer.predict(), atol=1e-6)


# ---- prediction ------------------------------------------------------------------------------------------------------


@given(problems())
def test_probabilities_are_differences_of_reaching_probabilities(problem):
    parameters, features, _, n_levels, _, _ = problem
    intercepts, coefficients = parameters[: n_levels - 1], parameters[n_levels - 1 :]
    probabilities = predict_levels((intercepts, coefficients), features)
    assert probabilities.shape == (len(features), n_levels)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-14)
    reached = np.cumsum(probabilities[:, ::-1], axis=1)[:, ::-1]
    np.testing.assert_allclose(logit(reached[:, 1:]), intercepts + (features @ coefficients)[:, None], atol=1e-7)


def test_probabilities_in_the_tails():
    low, high = predict_levels(([1.0, -1.0], [1.0]), [[-700.0], [700.0]])
    assert low == pytest.approx([1, np.exp(-699) * (1 - np.exp(-2)), np.exp(-701)], rel=1e-13)
    assert high == pytest.approx([np.exp(-701), np.exp(-699) * (1 - np.exp(-2)), 1], rel=1e-13)


@pytest.mark.parametrize(
    ("model", "features", "message"),
    [
        (([0.0], [1.0, 2.0]), [[1.0]], "the model has 2 coefficients, the features 1 columns"),
        (([0.0, 0.0], [1.0]), [[1.0]], r"strictly decreasing, got \[0.0, 0.0\]"),
        (([np.inf, 0.0], [1.0]), [[1.0]], r"finite and strictly decreasing, got \[inf, 0.0\]"),
        (([0.0], [np.nan]), [[1.0]], r"coefficients have to be finite, got \[nan\]"),
        (([], [1.0]), [[1.0]], r"one or more intercepts .* got shapes \(0,\) and \(1,\)"),
        (([0.0], [1.0]), [1.0], r"rows × features, got an array of shape \(1,\)"),
        (([0.0], [1.0]), [[1.0], [np.inf]], r"feature column 0 has 1 values .* first in row 1 \(inf\)"),
    ],
)
def test_prediction_errors(model, features, message):
    with pytest.raises(ParameterError, match=message):
        predict_levels(model, features)


# ---- relations -------------------------------------------------------------------------------------------------------

FITTED = fit_ordinal(FEATURES, LEVELS, n_levels=5)


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e3), st.booleans())
@settings(max_examples=30)
def test_units_of_a_feature_do_not_matter(shift, unit, flip):
    scale = -unit if flip else unit
    moved = fit_ordinal(FEATURES * [scale, 1] + [shift, 0], LEVELS, n_levels=5)
    np.testing.assert_allclose(moved.coefficients * [scale, 1], FITTED.coefficients, rtol=1e-6)
    np.testing.assert_allclose(moved.coefficient_errors * [unit, 1], FITTED.coefficient_errors, rtol=1e-6)
    np.testing.assert_allclose(
        moved.intercepts + shift * moved.coefficients[0], FITTED.intercepts, atol=1e-6 + 1e-10 * abs(shift / unit)
    )
    assert moved.log_likelihood == pytest.approx(FITTED.log_likelihood, abs=1e-7)


def test_order_of_rows_and_features_does_not_matter():
    order = np.random.default_rng(0).permutation(len(LEVELS))
    assert_same_fit(fit_ordinal(FEATURES[order], LEVELS[order], n_levels=5), FITTED)
    swapped = fit_ordinal(FEATURES[:, ::-1], LEVELS, n_levels=5)
    np.testing.assert_allclose(swapped.coefficients[::-1], FITTED.coefficients, atol=1e-8)


def test_turning_the_scale_around_turns_the_signs():
    turned = fit_ordinal(FEATURES, 4 - LEVELS, n_levels=5)
    np.testing.assert_allclose(turned.coefficients, -FITTED.coefficients, atol=1e-8)
    np.testing.assert_allclose(turned.intercepts, -FITTED.intercepts[::-1], atol=1e-8)
    np.testing.assert_allclose(predict_levels(turned, FEATURES)[:, ::-1], predict_levels(FITTED, FEATURES), atol=1e-9)


@given(arrays(np.int64, len(LEVELS), elements=st.integers(0, 3)).filter(lambda w: w.sum() > 10))
@settings(max_examples=25)
def test_weights_are_repetitions(weights):
    weighted = fit_ordinal(FEATURES, LEVELS, n_levels=5, weights=weights)
    repeated = fit_ordinal(np.repeat(FEATURES, weights, axis=0), np.repeat(LEVELS, weights), n_levels=5)
    assert_same_fit(weighted, repeated, atol=1e-6)
    assert weighted.total_weight == repeated.n_rows == weights.sum()
    assert weighted.nagelkerke_r2 == pytest.approx(repeated.nagelkerke_r2, abs=1e-9)


@given(
    arrays(float, 4, elements=st.floats(1e-3, 3)),
    arrays(float, 2, elements=st.floats(-5, 5)),
    st.floats(-5, 5),
)
@settings(max_examples=30)
def test_every_start_ends_at_the_same_optimum(gaps, coefficients, middle):
    start = (middle - np.cumsum(gaps), coefficients)
    assert_same_fit(fit_ordinal(FEATURES, LEVELS, n_levels=5, start=start), FITTED)


def test_a_warm_start_saves_steps():
    more = np.append(np.arange(len(LEVELS)), [3, 5])
    warm = fit_ordinal(FEATURES[more], LEVELS[more], n_levels=5, start=FITTED)
    cold = fit_ordinal(FEATURES[more], LEVELS[more], n_levels=5)
    assert_same_fit(warm, cold)
    assert warm.iterations < cold.iterations
    assert fit_ordinal(FEATURES, LEVELS, n_levels=5, start=FITTED).iterations == 1


def test_the_mean_score_of_the_truth_is_highest_at_the_fit():
    rng = np.random.default_rng(3)
    at_fit = np.log(predict_levels(FITTED, FEATURES)[np.arange(len(LEVELS)), LEVELS]).sum()
    assert at_fit == pytest.approx(FITTED.log_likelihood)
    for _ in range(20):
        nudged = (FITTED.intercepts + rng.normal() * 0.05, FITTED.coefficients + rng.normal(size=2) * 0.05)
        assert np.log(predict_levels(nudged, FEATURES)[np.arange(len(LEVELS)), LEVELS]).sum() < at_fit


def test_without_features_the_frequencies_are_left():
    model = fit_ordinal(np.empty((10, 0)), [0] * 5 + [1] * 3 + [2] * 2, n_levels=3)
    np.testing.assert_allclose(model.intercepts, [logit(0.5), logit(0.2)], atol=1e-12)
    np.testing.assert_allclose(predict_levels(model, np.empty((1, 0))), [[0.5, 0.3, 0.2]], atol=1e-12)
    assert model.log_likelihood == pytest.approx(model.null_log_likelihood)
    assert model.mcfadden_r2 == pytest.approx(0)
    assert model.nagelkerke_r2 == pytest.approx(0)


def test_r2_by_hand():
    # Two groups of ten with 9 and 2 in the upper level: the model is saturated, so the likelihoods are of frequencies.
    levels = np.array([1] * 9 + [0] + [1] * 2 + [0] * 8)
    model = fit_ordinal(np.repeat([[0.0], [1.0]], 10, axis=0), levels, n_levels=2)
    ll = 9 * np.log(0.9) + np.log(0.1) + 2 * np.log(0.2) + 8 * np.log(0.8)
    null = 11 * np.log(11 / 20) + 9 * np.log(9 / 20)
    assert model.log_likelihood == pytest.approx(ll, abs=1e-8)
    assert model.mcfadden_r2 == pytest.approx(1 - ll / null)
    cox_snell = 1 - np.exp((null - ll) * 2 / 20)
    assert model.nagelkerke_r2 == pytest.approx(cox_snell / (1 - np.exp(2 * null / 20)))


# ---- hard cases ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unseen", [(4,), (0,), (2,), (0, 1), (3, 4), (1, 2, 3)])
def test_unseen_levels_are_rare_but_possible(unseen):
    seen = ~np.isin(LEVELS, unseen)
    model = fit_ordinal(FEATURES[seen], LEVELS[seen], n_levels=5)
    share = predict_levels(model, FEATURES[seen]).mean(axis=0)[list(unseen)]
    np.testing.assert_allclose(share, 0.1 / seen.sum(), rtol=0.35)
    assert np.isfinite(np.concatenate((model.intercept_errors, model.coefficient_errors))).all()
    # As if the scale had no such levels, but for the little that was set aside for them.
    others = np.setdiff1d(np.arange(5), unseen)
    fewer = fit_ordinal(FEATURES[seen], np.searchsorted(others, LEVELS[seen]), n_levels=len(others))
    np.testing.assert_allclose(model.coefficients, fewer.coefficients, atol=0.05)
    rarer = fit_ordinal(FEATURES[seen], LEVELS[seen], n_levels=5, unseen_count=1e-6)
    np.testing.assert_allclose(rarer.coefficients, fewer.coefficients, atol=1e-5)
    np.testing.assert_allclose(predict_levels(rarer, FEATURES)[:, others], predict_levels(fewer, FEATURES), atol=1e-5)


def test_the_unseen_count_does_nothing_where_all_levels_are_seen():
    assert_same_fit(fit_ordinal(FEATURES, LEVELS, n_levels=5, unseen_count=50), FITTED, atol=0)


@pytest.mark.parametrize("weight", [1e-300, 1e-20, 1e-12, 1e12, 1e100])
def test_levels_of_next_to_no_weight_are_as_good_as_unseen(weight):
    weights = np.where(LEVELS == 2, 1.0, weight) if weight > 1 else np.where(LEVELS == 2, weight, 1.0)
    model = fit_ordinal(FEATURES, LEVELS, n_levels=5, weights=weights)
    assert (np.diff(model.intercepts) < 0).all()
    if weight < 1:
        seen = LEVELS != 2
        assert_same_fit(model, fit_ordinal(FEATURES[seen], LEVELS[seen], n_levels=5), atol=1e-2)


def test_one_level_seen():
    model = fit_ordinal(FEATURES, np.full(len(FEATURES), 2), n_levels=5)
    assert predict_levels(model, FEATURES)[:, 2].min() > 0.98
    assert np.isfinite(model.coefficients).all()
    assert (model.mcfadden_r2, model.nagelkerke_r2) == (0.0, 0.0)


def test_one_row():
    model = fit_ordinal([[3.0, 1.0]], [1], n_levels=3)
    assert model.coefficients.tolist() == [0.0, 0.0]
    np.testing.assert_allclose(predict_levels(model, [[3.0, 1.0]]), [[0.1 / 1.2, 1 / 1.2, 0.1 / 1.2]], atol=1e-9)


@pytest.mark.parametrize("n_levels", [2, 3, 8])
def test_perfect_separation_stays_finite_with_the_ridge(n_levels):
    x = np.arange(10.0 * n_levels)[:, np.newaxis]
    levels = np.repeat(np.arange(n_levels), 10)
    model = fit_ordinal(x, levels, n_levels=n_levels)
    assert (predict_levels(model, x).argmax(axis=1) == levels).all()
    assert 0 < model.coefficients[0] < np.inf
    assert model.mcfadden_r2 > 0.97
    assert model.nagelkerke_r2 > 0.99
    stronger = fit_ordinal(x, levels, n_levels=n_levels, ridge=1.0)
    assert 0 < stronger.coefficients[0] < model.coefficients[0] / 2


def test_separation_without_a_ridge_is_said():
    x, levels = np.arange(6.0)[:, np.newaxis], [0, 0, 0, 1, 1, 1]
    with pytest.raises(NotConverged, match=r"did not settle in 30 iterations .*ridge \(now 0\) where the features sep"):
        fit_ordinal(x, levels, n_levels=2, ridge=0, max_iterations=30)
    with pytest.raises(NotConverged, match=r"no single solution, .* separate the levels perfectly: leave"):
        fit_ordinal(x, levels, n_levels=2, ridge=0, max_iterations=5000)


def test_too_few_iterations_are_said():
    with pytest.raises(NotConverged, match=r"did not settle in 2 iterations \(last step .*\): raise max_iterations"):
        fit_ordinal(FEATURES, LEVELS, n_levels=5, max_iterations=2)


def test_without_a_ridge_ordinary_data_give_the_same():
    assert_same_fit(fit_ordinal(FEATURES, LEVELS, n_levels=5, ridge=0), FITTED, atol=1e-4)


def test_features_that_repeat_each_other_share_the_coefficient():
    doubled = fit_ordinal(np.column_stack((FEATURES, FEATURES[:, 0])), LEVELS, n_levels=5)
    assert doubled.coefficients[0] == pytest.approx(doubled.coefficients[2], rel=1e-6)
    assert doubled.coefficients[0] + doubled.coefficients[2] == pytest.approx(FITTED.coefficients[0], abs=1e-4)
    assert doubled.coefficient_errors[0] > 50
    np.testing.assert_allclose(
        predict_levels(doubled, np.column_stack((FEATURES, FEATURES[:, 0]))),
        predict_levels(FITTED, FEATURES),
        atol=1e-5,
    )
    with pytest.raises(NotConverged, match=r"no single solution, .* combinations .* raise ridge \(now 0\)"):
        fit_ordinal(np.column_stack((FEATURES, FEATURES[:, 0])), LEVELS, n_levels=5, ridge=0)


def test_a_ridge_too_small_for_collinear_features_is_said():
    features, levels = draw_rows(9, 2000, [0.7, 0.2], [-1.0, 1.0])
    with_sum = np.column_stack((features, features.sum(axis=1)))
    for ridge in (0.0, 1e-10):
        with pytest.raises(NotConverged, match="no single solution"):
            fit_ordinal(with_sum, levels, n_levels=3, ridge=ridge)


def test_a_feature_constant_but_for_rounding_is_constant():
    wobble = np.where(np.arange(len(LEVELS)) % 2, 0.3, 0.1 + 0.2)
    assert np.ptp(wobble) > 0
    model = fit_ordinal(np.column_stack((FEATURES, wobble)), LEVELS, n_levels=5)
    assert model.coefficients[2] == 0
    np.testing.assert_allclose(model.coefficients[:2], FITTED.coefficients, atol=1e-9)


def test_nearly_collinear_features_and_long_tables_settle():
    rng = np.random.default_rng(8)
    features, levels = draw_rows(9, 20_000, [0.7, 0.2], [-1.0, 1.0])
    near = features[:, :1] + 1e-9 * rng.normal(size=(20_000, 1))
    model = fit_ordinal(np.hstack((features, near)), levels, n_levels=3)
    assert model.coefficients[0] + model.coefficients[2] == pytest.approx(0.7, abs=0.05)


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e9])
def test_a_constant_feature_gets_nothing(constant):
    features = np.insert(FEATURES, 1, constant, axis=1)
    model = fit_ordinal(features, LEVELS, n_levels=5)
    assert model.coefficients[1] == 0
    assert model.coefficient_errors[1] == np.inf
    assert model.p_values[1] == 1
    assert model.aic == pytest.approx(FITTED.aic)
    np.testing.assert_allclose(np.delete(model.coefficients, 1), FITTED.coefficients, atol=1e-9)
    np.testing.assert_allclose(model.intercepts, FITTED.intercepts, atol=1e-9)
    # Constant where it counts is constant, and a start that gave the feature a coefficient does no harm.
    varied = np.append(features, [[0.0, constant + 5, 0.0]], axis=0)
    weights = np.append(np.ones(len(LEVELS)), 0)
    start = (FITTED.intercepts, [0.1, 1e-9, 0.2])
    again = fit_ordinal(varied, np.append(LEVELS, 0), n_levels=5, weights=weights, start=start)
    assert again.coefficients[1] == 0
    np.testing.assert_allclose(again.intercepts, FITTED.intercepts, atol=1e-7)


@given(
    arrays(float, (12, 2), elements=st.floats(-1e3, 1e3) | st.sampled_from([0.0, 1.0, 1e150, -1e150, 1e-150])),
    arrays(np.int64, 12, elements=st.integers(0, 3)),
)
def test_whatever_the_rows_the_fit_is_finite(features, levels):
    model = fit_ordinal(features, levels, n_levels=4)
    assert np.isfinite(model.intercepts).all()
    assert (np.diff(model.intercepts) < 0).all()
    assert np.isfinite(model.coefficients).all()
    assert (model.coefficient_errors > 0).all()
    probabilities = predict_levels(model, features)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-9)


# ---- simulation ------------------------------------------------------------------------------------------------------


def test_intervals_cover_the_truth_as_often_as_they_say():
    truth, cuts, repeats = np.array([1.0, -0.5]), np.array([-1.0, 0.5, 2.0]), 400
    z = stats.norm.ppf(0.975)
    parameters = np.append(-cuts, truth)
    estimates, errors = np.empty((2, repeats, len(parameters)))
    for seed in range(repeats):
        model = fit_ordinal(*draw_rows(1000 + seed, 250, truth, cuts), n_levels=4)
        estimates[seed] = np.append(model.intercepts, model.coefficients)
        errors[seed] = np.append(model.intercept_errors, model.coefficient_errors)
    covered = (np.abs(estimates - parameters) <= z * errors).sum(axis=0)
    low, high = stats.binom.ppf([0.0005, 0.9995], repeats, 0.95)
    assert (low <= covered).all(), covered
    assert (covered <= high).all(), covered
    # Right on average, and as uncertain as it says: no coverage by intervals too wide.
    assert (np.abs(estimates.mean(axis=0) - parameters) < 0.05).all()
    np.testing.assert_allclose(errors.mean(axis=0), estimates.std(axis=0), rtol=0.15)


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": FEATURES[:, 0]}, r"rows × features, got an array of shape \(120,\)"),
        ({"levels": LEVELS[:-1]}, r"one level per row of features: expected shape \(120,\), got \(119,\)"),
        ({"features": np.empty((0, 2)), "levels": np.empty(0, dtype=int)}, "one or more rows, got none"),
        ({"levels": LEVELS.astype(float)}, r"levels are the integers 0\.\.4, got an array of float64"),
        ({"levels": np.where(np.arange(120) == 7, 5, LEVELS)}, r"integers 0\.\.4, got 5 in row 7"),
        ({"levels": np.where(np.arange(120) == 8, -1, LEVELS)}, r"integers 0\.\.4, got -1 in row 8"),
        ({"n_levels": 1}, "two or more levels, got n_levels=1"),
        ({"ridge": -1.0}, "ridge is a number of at least 0, got -1"),
        ({"ridge": np.nan}, "ridge is a number of at least 0, got nan"),
        ({"unseen_count": 0.0}, "unseen_count is a number above 0, got 0"),
        ({"weights": np.ones(3)}, r"one weight per row of features: expected shape \(120,\), got \(3,\)"),
        ({"weights": np.zeros(120)}, "finite, at least 0 and not all 0"),
        ({"weights": np.full(120, np.nan)}, "finite, at least 0 and not all 0"),
        ({"weights": np.full(120, -1.0)}, "finite, at least 0 and not all 0"),
        ({"names": ["a"]}, "1 names for 2 columns of features"),
        ({"start": ([1.0], [0.0, 0.0])}, "has 4 intercepts and 2 coefficients, got 1 and 2"),
        ({"start": ([1.0, 2.0, 3.0, 4.0], [0.0, 0.0])}, "strictly decreasing"),
    ],
)
def test_fit_errors(change, message):
    arguments = {"features": FEATURES, "levels": LEVELS, "n_levels": 5, **change}
    with pytest.raises(ParameterError, match=message):
        fit_ordinal(arguments.pop("features"), arguments.pop("levels"), **arguments)


def test_a_missing_value_names_its_column():
    holed = FEATURES.copy()
    holed[[4, 9], 1] = np.nan
    with pytest.raises(
        ParameterError, match=r"feature column 1 has 2 values .* the first in row 4 \(nan\): leave these"
    ):
        fit_ordinal(holed, LEVELS, n_levels=5)
    with pytest.raises(ParameterError, match=r"feature 'pART' has 2 values"):
        fit_ordinal(holed, LEVELS, n_levels=5, names=["OV", "pART"])
