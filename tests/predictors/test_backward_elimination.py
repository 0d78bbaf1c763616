"""Backward elimination: what matters stays, noise goes, and every step is the one its criterion asks for."""

import numpy as np
import pytest
from ordinal_rows import FEATURES, LEVELS, assert_same_fit

from earmark.errors import ParameterError
from earmark.predictors.backward_elimination import backward_elimination
from earmark.predictors.ordinal_regression import fit_ordinal


def selection_problem(seed=21, n=1500):
    """Six features: two that matter, an interaction that matters with a part that does not, two of pure noise."""
    rng = np.random.default_rng(seed)
    a, b, c, noise, more = rng.normal(size=(5, n))
    features = np.column_stack((a, b, c, b * c, noise, more))
    latent = 0.8 * a + 0.5 * b + 0.6 * b * c + rng.logistic(size=n)
    return features, ("a", "b", "c", "b:c", "noise", "more"), np.digitize(latent, [-1, 0, 1])


def test_elimination_by_p_value_keeps_what_matters():
    features, names, levels = selection_problem()
    result = backward_elimination(features, names, levels, n_levels=4)
    assert result.kept == ("a", "b", "c", "b:c")  # c alone does nothing, but the interaction needs it
    assert {step.removed for step in result.path} == {"noise", "more"}
    assert_same_fit(result.model, fit_ordinal(features[:, :4], levels, n_levels=4))
    assert result.model.p_values[2] > 1e-4
    full = fit_ordinal(features, levels, n_levels=4)
    assert result.path[0].p_value == pytest.approx(max(full.p_values[[4, 5]]))
    assert result.path[0].aic_before == pytest.approx(full.aic)
    assert result.path[1].aic_before == result.path[0].aic_after
    assert result.path[-1].aic_after == result.model.aic


def test_parts_of_an_interaction_can_go_after_it():
    features, names, levels = selection_problem()
    renamed = ("a", "b", "c", "b×c", "noise", "more")
    assert backward_elimination(features, renamed, levels, n_levels=4).kept == ("a", "b", "b×c")
    noise_interaction = ("a", "b", "c", "keep", "noise", "c:noise")
    path = [step.removed for step in backward_elimination(features, noise_interaction, levels, n_levels=4).path]
    assert path.index("c:noise") < path.index("c")
    assert path.index("c:noise") < path.index("noise")
    assert names != renamed


def test_elimination_by_aic_is_the_greedy_descent():
    features, _, levels = selection_problem(n=300)
    names = [f"f{i}" for i in range(6)]
    result = backward_elimination(features, names, levels, n_levels=4, criterion="aic")
    columns = list(range(6))
    aic = fit_ordinal(features, levels, n_levels=4).aic
    removed = []
    while columns:
        candidates = {c: fit_ordinal(features[:, [k for k in columns if k != c]], levels, n_levels=4) for c in columns}
        best = min(candidates, key=lambda c: candidates[c].aic)
        if candidates[best].aic > aic:
            break
        aic = candidates[best].aic
        columns.remove(best)
        removed.append(names[best])
    assert [step.removed for step in result.path] == removed
    assert result.kept == tuple(names[c] for c in columns)
    assert result.model.aic == pytest.approx(aic, abs=1e-6)
    assert all(step.aic_after <= step.aic_before for step in result.path)


def test_thresholds_make_models_smaller_or_larger():
    features, names, levels = selection_problem()
    assert backward_elimination(features, names, levels, n_levels=4, threshold=1).kept == names
    nothing = backward_elimination(features, names, levels, n_levels=4, criterion="aic", threshold=1e9)
    assert nothing.kept == ()
    assert len(nothing.path) == 6
    assert nothing.model.log_likelihood == pytest.approx(nothing.model.null_log_likelihood)


def test_elimination_with_weights_and_a_constant():
    features, names, levels = selection_problem(n=400)
    weights = np.random.default_rng(1).integers(0, 3, len(levels))
    with_constant = np.column_stack((features, np.ones(len(levels))))
    by_weight = backward_elimination(with_constant, (*names, "one"), levels, n_levels=4, weights=weights)
    repeated = backward_elimination(np.repeat(features, weights, axis=0), names, np.repeat(levels, weights), n_levels=4)
    assert by_weight.path[0].removed == "one"
    assert by_weight.kept == repeated.kept
    by_aic = backward_elimination(with_constant, (*names, "one"), levels, n_levels=4, criterion="aic")
    assert "one" not in by_aic.kept


def test_a_missing_value_names_its_feature():
    holed = FEATURES.copy()
    holed[[4, 9], 1] = np.nan
    with pytest.raises(ParameterError, match=r"feature 'pART' has 2 values"):
        backward_elimination(holed, ["OV", "pART"], LEVELS, n_levels=5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"criterion": "bic"}, "unknown criterion 'bic': use aic or p"),
        ({"names": ["a", "a"]}, "names of features have to differ, got 'a' twice"),
        ({"names": ["a"]}, "1 names for 2 columns"),
        ({"threshold": 0.0}, "a p-value above 0 and up to 1, got 0"),
        ({"threshold": np.nan, "criterion": "aic"}, "a finite difference of AIC, got nan"),
    ],
)
def test_elimination_errors(change, message):
    arguments = {"names": ["a", "b"], "n_levels": 5, **change}
    with pytest.raises(ParameterError, match=message):
        backward_elimination(FEATURES, arguments.pop("names"), LEVELS, **arguments)
