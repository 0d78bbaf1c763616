"""Rows of levels and features, and small problems, for the tests of ordinal models."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from earmark.predictors.ordinal_regression import OrdinalModel


def draw_rows(seed, n, coefficients, cuts):
    """Rows of a true model: features and levels, `cuts` being the thresholds of the latent logistic variable."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, len(coefficients)))
    return features, np.digitize(features @ coefficients + rng.logistic(size=n), cuts)


def assert_same_fit(one: OrdinalModel, other: OrdinalModel, atol=1e-7):
    np.testing.assert_allclose(one.intercepts, other.intercepts, atol=atol)
    np.testing.assert_allclose(one.coefficients, other.coefficients, atol=atol)
    np.testing.assert_allclose(one.intercept_errors, other.intercept_errors, atol=atol)
    np.testing.assert_allclose(one.coefficient_errors, other.coefficient_errors, atol=atol)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, abs=1e-8)
    assert one.null_log_likelihood == pytest.approx(other.null_log_likelihood, abs=1e-8)


@st.composite
def problems(draw):
    """Parameters, features, levels, weights and ridge of any small problem, not necessarily near an optimum."""
    n_levels = draw(st.integers(2, 6))
    n, f = draw(st.integers(1, 8)), draw(st.integers(0, 3))
    moderate = st.floats(-3, 3).map(lambda v: round(v, 3))
    gaps = draw(arrays(float, n_levels - 1, elements=st.floats(0.05, 3)))
    coefficients = draw(arrays(float, f, elements=moderate))
    parameters = np.concatenate((draw(moderate) + 2 - np.cumsum(gaps), coefficients))
    features = draw(arrays(float, (n, f), elements=moderate))
    levels = draw(arrays(np.int64, n, elements=st.integers(0, n_levels - 1)))
    weights = draw(arrays(float, n, elements=st.floats(0, 4)))
    return parameters, features, levels, n_levels, draw(st.sampled_from([0.0, 0.3])), weights


FEATURES, LEVELS = draw_rows(11, 120, [0.9, -0.4], [-1.5, -0.2, 0.4, 1.8])
