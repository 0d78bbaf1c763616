"""The likelihood of an ordinal model against its definition, finite differences and exact tails."""

import numpy as np
import pytest
from hypothesis import given
from ordinal_rows import problems
from scipy.special import expit

from earmark.errors import ParameterError
from earmark.predictors.ordinal_likelihood import ordinal_objective


@given(problems())
def test_value_is_the_penalised_likelihood_by_definition(problem):
    parameters, features, levels, n_levels, ridge, weights = problem
    intercepts, coefficients = parameters[: n_levels - 1], parameters[n_levels - 1 :]
    reached = expit(np.concatenate(([np.inf], intercepts, [-np.inf])) + (features @ coefficients)[:, None])
    rows = np.arange(len(levels))
    by_definition = -weights @ np.log(reached[rows, levels] - reached[rows, levels + 1])
    by_definition += ridge / 2 * coefficients @ coefficients
    value, _, _ = ordinal_objective(parameters, features, levels, n_levels=n_levels, ridge=ridge, weights=weights)
    assert value == pytest.approx(by_definition, rel=1e-9, abs=1e-9)


@given(problems())
def test_gradient_and_hessian_by_finite_differences(problem):
    parameters, features, levels, n_levels, ridge, weights = problem

    def objective(at):
        return ordinal_objective(at, features, levels, n_levels=n_levels, ridge=ridge, weights=weights)

    _, gradient, hessian = objective(parameters)
    h = 1e-5
    for i, nudge in enumerate(h * np.eye(len(parameters))):
        ahead, behind = objective(parameters + nudge), objective(parameters - nudge)
        assert gradient[i] == pytest.approx((ahead[0] - behind[0]) / (2 * h), rel=1e-5, abs=1e-5)
        np.testing.assert_allclose(hessian[i], (ahead[1] - behind[1]) / (2 * h), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12, atol=1e-15)
    assert np.linalg.eigvalsh(hessian).min() > -1e-9 * (1 + np.abs(hessian).max())
    of_cuts = hessian[: n_levels - 1, : n_levels - 1]
    np.testing.assert_array_equal(np.triu(of_cuts, 2), 0)


@pytest.mark.parametrize("far", [40.0, 800.0, 1e6])
def test_tails_keep_every_digit(far):
    # One row, one feature: log P(level 0) = -far where reaching level 1 is certain, and by symmetry at the other end;
    # in the middle level log(e^-far - e^-(far+1)) = -far + log(1 - 1/e).
    parameters = np.array([0.5, -0.5, 1.0])
    for x, level, expected in [
        (far - 0.5, 0, far),
        (0.5 - far, 2, far),
        (-0.5 - far, 1, far - np.log(-np.expm1(-1))),
        (far + 0.5, 1, far - np.log(-np.expm1(-1))),
    ]:
        value, gradient, hessian = ordinal_objective(parameters, np.array([[x]]), np.array([level]), n_levels=3)
        assert value == pytest.approx(expected, rel=1e-15)
        assert np.isfinite(gradient).all()
        assert np.isfinite(hessian).all()


def test_objective_refuses_intercepts_out_of_order():
    with pytest.raises(ParameterError, match=r"finite and strictly decreasing, got \[0.0, 1.0\]"):
        ordinal_objective(np.array([0.0, 1.0]), np.empty((1, 0)), np.array([0]), n_levels=3)
