"""Predictors: what is believed about unjudged items, given what systems retrieved and what is judged so far.

Importing this package registers the predictors of :mod:`~earmark.predictors.mtc` and
:mod:`~earmark.predictors.fitted`.
"""

from earmark.predictors import fitted, mtc
from earmark.predictors.base import Predictor, Setting, make_predictor, predictor_names

__all__ = ["Predictor", "Setting", "fitted", "make_predictor", "mtc", "predictor_names"]
