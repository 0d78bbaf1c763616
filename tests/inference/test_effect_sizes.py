"""Effect sizes against their definitions, by hand and by simulation."""

import numpy as np
import pytest
from scipy import stats

from earmark.errors import ParameterError
from earmark.inference.effect_sizes import cohens_dz, count_wins, hedges_correction, rank_biserial


def test_cohens_dz_by_hand_and_by_way_of_t():
    differences = np.array([[1.0, 2.0, 3.0], [0.5, -0.5, 0.75]])
    assert cohens_dz(differences)[0] == pytest.approx(2.0)  # mean 2, standard deviation 1
    t = stats.ttest_1samp(differences, 0, axis=1).statistic
    np.testing.assert_allclose(cohens_dz(differences), t / np.sqrt(3))


def test_cohens_dz_without_variance_is_zero_or_infinite():
    differences = np.array([[0.0] * 3, [0.1] * 3, [-0.1] * 3])
    assert cohens_dz(differences).tolist() == [0.0, np.inf, -np.inf]


def test_hedges_correction_makes_dz_unbiased():
    rng = np.random.default_rng(5)
    n, true_effect, repeats = 6, 0.8, 200_000
    estimates = cohens_dz(rng.normal(true_effect, 1, size=(repeats, n)))
    standard_error = estimates.std() / np.sqrt(repeats)
    assert abs(estimates.mean() - true_effect) > 20 * standard_error
    assert abs(hedges_correction(n) * estimates.mean() - true_effect) < 4 * standard_error
    assert hedges_correction(50) == pytest.approx(1 - 3 / (4 * 49 - 1), abs=1e-4)


def test_hedges_correction_needs_three_queries():
    with pytest.raises(ParameterError, match="at least three queries, got 2"):
        hedges_correction(2)


def test_rank_biserial_is_the_difference_of_shares_of_ranks():
    # Kerby's reading: favourable minus unfavourable evidence. Ranks 1..4 of which {1, 3} speak against.
    assert rank_biserial(np.array([6.0]), np.array([10.0]))[0] == pytest.approx(0.6 - 0.4)
    assert rank_biserial(np.array([0.0]), np.array([0.0]))[0] == 0.0


def test_wins_superiority_and_dominance():
    wins = count_wins(np.array([[1.0, 2.0, 0.0, -1.0], [0.0] * 4, [-1.0] * 4]))
    assert wins.wins.tolist() == [2, 0, 0]
    assert wins.ties.tolist() == [1, 4, 0]
    assert wins.losses.tolist() == [1, 0, 4]
    assert wins.superiority.tolist() == [0.625, 0.5, 0.0]
    np.testing.assert_allclose(wins.dominance, 2 * wins.superiority - 1)
