"""Models of trees fitted on past collections: hyperparameters and recalibration by cross-validation over queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earmark.errors import ParameterError
from earmark.predictors.ordinal_training import PastCollection, training_rows
from earmark.predictors.tree_learners import FOLDS, LEARNERS, Choice, Rows, choose, fit_recalibrated
from earmark.predictors.tree_models import TreeModel


@dataclass(frozen=True, eq=False)
class TreeTraining:
    """A fitted model and what it was fitted on.

    Attributes
    ----------
    model : TreeModel
        What predictors use and files keep.
    choice : Choice
        The scores of the hyperparameters that were tried.
    collections, judged, rows : int
        How many collections, judged items that could be used, and rows made of them there were.
    incomplete : int
        How many judged items lack a feature and were left out.
    """

    model: TreeModel
    choice: Choice
    collections: int
    judged: int
    rows: int
    incomplete: int


def train_trees(
    collections: Sequence[PastCollection],
    predictor: str,
    *,
    rng: np.random.Generator,
    features: Sequence[str] | None = None,
    judged: bool = False,
    copies: int = 0,
    name: str = "fitted",
) -> TreeTraining:
    """Fit a model of trees on judged collections.

    Hyperparameters are those with the lowest ranked probability score in a ten-fold cross-validation that holds out
    whole queries; the power of the recalibration comes from the same predictions.

    Parameters
    ----------
    collections : sequence of PastCollection
        One or more, all on the same scale, with two queries or more.
    predictor : str
        Whose model: ``forest``, ``boosted``, ``conditional-tree`` or ``conditional-forest``.
    rng, features, judged, copies, name
        As in :func:`~earmark.predictors.ordinal_training.train`.

    Raises
    ------
    ParameterError
        If scales differ, a feature does not exist, no judged item has all of them, or there is one query only.
    MissingLibraryError
        If scikit-learn is needed and not installed.
    """
    made = training_rows(collections, rng=rng, features=features, judged=judged, copies=copies, held_out=True)
    if np.unique(made.query).size < 2:
        raise ParameterError("hyperparameters are chosen on queries that are held out: expected two or more, got one")
    rows = Rows(made.x, made.y, made.gain, made.query, made.weights, made.levels)
    choice = choose(LEARNERS[predictor], rows, FOLDS)
    ensemble = fit_recalibrated(choice.learner, rows, choice.probabilities)
    model = TreeModel(
        name=name,
        predictor=predictor,
        features=made.names,
        levels=tuple(made.levels.tolist()),
        ensemble=ensemble,
        source=f"{made.source}: {choice.learner}, power {ensemble.power:.2f}",
    )
    return TreeTraining(
        model=model,
        choice=choice,
        collections=len(collections),
        judged=made.judged,
        rows=len(made.y),
        incomplete=made.incomplete,
    )
