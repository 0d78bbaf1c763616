"""Predictors: beliefs about unjudged items, given what systems retrieved and what is judged so far.

Importing this package registers the predictors of :mod:`~earmark.predictors.mtc`,
:mod:`~earmark.predictors.ordinal_predictor`, :mod:`~earmark.predictors.tree_predictors` and
:mod:`~earmark.predictors.hierarchical`.
"""

from earmark.predictors import hierarchical, mtc, ordinal_predictor, tree_predictors
from earmark.predictors.base import PREDICTORS, Predictor, Setting, make_predictor

__all__ = [
    "PREDICTORS",
    "Predictor",
    "Setting",
    "hierarchical",
    "make_predictor",
    "mtc",
    "ordinal_predictor",
    "tree_predictors",
]
