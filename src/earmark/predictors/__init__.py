"""Predictors: what is believed about unjudged items, given what systems retrieved and what is judged so far.

Importing this package registers the predictors of :mod:`~earmark.predictors.mtc`, :mod:`~earmark.predictors.fitted` and
:mod:`~earmark.predictors.hierarchical`.
"""

from earmark.predictors import fitted, hierarchical, mtc
from earmark.predictors.base import Predictor, Setting, make_predictor, predictor_names

__all__ = ["Predictor", "Setting", "fitted", "hierarchical", "make_predictor", "mtc", "predictor_names"]
