r"""Who answered, as part of the evidence: what other people might have answered about pairs of documents.

Answers of one person are alike: somebody whose taste agrees with a system agrees with it in every query. The model of
preferences (:mod:`earmark.campaign.pairs.model`) takes all answers for those of people at large. What is missing is the
variance that the people who answered are a sample.

Let :math:`v_p` be how two systems differ on pair p (or how one system orders it), :math:`y_i = \pm\tfrac12` the answer
i, 0 for *same*, and :math:`I_p` how much its expectation rises with the difference. The people agree with the direction
v by :math:`\hat\varphi = \sum v y / J`, :math:`J = \sum v^2 I`, and the answers of person w about query q add the error

.. math:: e_{wq} = \sum_{i \in wq} v_p (y_i - v_p I_p \hat\varphi) / J

What two answers have in common because of the query, its documents or the pair is part of the model. What is left are
products over *two queries*; those of two people say what people have in common, those of one person also how much
people differ. With :math:`h_w` for the share of a person in J and :math:`H = \sum h_w^2`,

.. math:: \widehat{Var}[\hat\varphi] = \frac{\sum_w A_{ww} - H \sum_{w,w'} A_{ww'}}{k\,(1 - H)}, \qquad
   A_{ww'} = \sum_{q \ne q'} e_{wq}\, e_{w'q'}, \qquad k = 1 - \frac{\sum_{wq} h_{wq}^2}{\sum_w h_w^2}

whose expectation is 0 where people do not differ; negative values count as 0. It has :math:`1 / H - 1` degrees of
freedom, the effective number of people less 1. An estimate f answers to it by
:math:`\sum_p Cov[f, \eta_p]\, W_p v_p` with the information :math:`W_p` of the answers about each pair.
The degrees of freedom of a sum of two variances are Satterthwaite's [1]_.

References
----------
.. [1] F. E. Satterthwaite (1946). An approximate distribution of estimates of variance components. Biometrics Bulletin
   2(6), 110-114.
"""

from __future__ import annotations

import numpy as np

from earmark.campaign.pairs.candidates import PairAnswers
from earmark.campaign.pairs.model import NODE_WEIGHTS, NODES, PairPosterior
from earmark.crowd.davidson import slope_and_information
from earmark.data.arrays import Floats


def people_variance(
    posterior: PairPosterior, answers: PairAnswers, contrasts: Floats, with_pairs: Floats
) -> tuple[Floats, Floats]:
    """Return what the choice of people adds to the variance of estimates, and its degrees of freedom.

    Parameters
    ----------
    posterior : PairPosterior
        Of all pairs.
    answers : PairAnswers
        The answers so far; those whose author is not known count as those of different people.
    contrasts : ndarray of float, shape (estimates, pairs)
        The direction of each estimate.
    with_pairs : ndarray of float, shape (estimates, pairs)
        The covariance of each estimate with the expected difference of each pair.

    Returns
    -------
    variance : ndarray of float, shape (estimates,), 0 or more
        0 where fewer than two people, or none about two queries, can tell.
    df : ndarray of float, shape (estimates,), above 0
    """
    variance, df = np.zeros(contrasts.shape[0]), np.ones(contrasts.shape[0])
    # In an order that does not depend on that of the answers, on which the last bit of a sum depends.
    order = np.lexsort((answers.sign, answers.person, answers.pair))
    counted = order[posterior.design.matters[answers.pair[order]]]
    pair, sign = answers.pair[counted], answers.sign[counted]
    query = np.unique(posterior.design.pairs.query_index[pair], return_inverse=True)[1]
    person = np.unique(answers.person[counted], return_inverse=True)[1]
    if not pair.size or person.max() == 0:
        return variance, df
    size = int(person.max()) + 1, int(query.max()) + 1
    cell = person * size[1] + query
    information = _information_of_an_answer(posterior)
    response = np.sum(with_pairs * posterior.information * contrasts, axis=1)
    for number, contrast in enumerate(contrasts):
        v = contrast[pair]
        weight = v**2 * information[pair]
        whole = weight.sum()
        if whole <= 0:
            continue
        agreement = float(v @ sign) / 2 / whole
        error = np.bincount(cell, (v * sign / 2 - weight * agreement) / whole, size[0] * size[1]).reshape(size)
        share = np.bincount(cell, weight / whole, size[0] * size[1]).reshape(size)
        concentration = float(np.sum(share.sum(axis=1) ** 2))
        across_queries = 1 - float(np.sum(share**2)) / concentration
        if concentration > 1 - 1e-9 or across_queries < 1e-9:
            continue
        same_person = np.sum(error.sum(axis=1) ** 2) - np.sum(error**2)
        anybody = error.sum() ** 2 - np.sum(error.sum(axis=0) ** 2)
        found = (same_person - concentration * anybody) / (1 - concentration) / across_queries
        variance[number] = max(float(found), 0.0) * response[number] ** 2
        df[number] = 1 / concentration - 1
    return variance, df


def total_df(model: Floats, model_df: float, people: Floats, people_df: Floats) -> Floats:
    """Return the degrees of freedom of a variance of the model plus that of people (Satterthwaite 1946).

    Examples
    --------
    >>> total_df(np.array([1.0, 1.0]), 10.0, np.array([0.0, 1.0]), np.array([2.0, 2.0])).round(2).tolist()
    [10.0, 6.67]
    """
    part = people / np.where(people > 0, model + people, 1.0)
    return np.asarray(1 / ((1 - part) ** 2 / model_df + part**2 / people_df))


def _information_of_an_answer(posterior: PairPosterior) -> Floats:
    """Return how much the expectation of one answer about each pair rises with its difference, shape (pairs,)."""
    spread = np.sqrt(posterior.variance + posterior.sds.pair**2)
    difference = posterior.mean[:, None] + spread[:, None] * NODES
    _, information = slope_and_information(difference, np.zeros(1), np.ones(1), posterior.same_weight)
    return np.asarray(information @ NODE_WEIGHTS)
