"""Predictors as people name them: ``uniform``, ``mtc-judge``, ``ordinal`` with a model's file, ``external:FILE``.

A choice is made before there is a collection to make the predictor for, and may have to travel to another process
first; so it is a value that makes the predictor when it is given a setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from earmark.data.scales import FINE, Scale, parse_scale
from earmark.errors import ParameterError
from earmark.predictors.base import Predictor, Setting, make_predictor
from earmark.predictors.external import External
from earmark.predictors.hierarchical import Hierarchical
from earmark.predictors.hierarchical_prior import HierarchicalPrior
from earmark.predictors.ordinal_levels import model_levels
from earmark.predictors.ordinal_models import NamedModel
from earmark.predictors.ordinal_predictor import Ordinal
from earmark.predictors.tree_models import TreeModel
from earmark.predictors.tree_predictors import TREE_PREDICTORS

DEFAULT = Hierarchical.name
_EXTERNAL = f"{External.name}:"
WITH_MODEL = (Ordinal.name, *TREE_PREDICTORS, Hierarchical.name)
"""The predictors that use a model fitted on past collections."""


@dataclass(frozen=True)
class PredictorChoice:
    """A predictor's name and what it needs besides.

    Parameters
    ----------
    name : str
        A registered name, or ``external:`` and the path of a file.
    model : path, optional
        A model fitted on other collections, for a predictor of `WITH_MODEL`.
    encoding : str
        The text encoding of an external file.

    Examples
    --------
    >>> PredictorChoice("ordinal").usual_scale().name
    'fine'
    """

    name: str = DEFAULT
    model: Path | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.model is not None and self.name not in WITH_MODEL:
            known = f"{', '.join(WITH_MODEL[:-1])} and {WITH_MODEL[-1]}"
            raise ParameterError(f"a model is for the predictors {known}, '{self.name}' does not use one")
        if self.name == _EXTERNAL:
            raise ParameterError(f"name the file after '{_EXTERNAL}', for example {_EXTERNAL}levels.csv")

    def __call__(self, setting: Setting) -> Predictor:
        """Make the predictor.

        Raises
        ------
        ParameterError
            For an unknown name, or a predictor that does not work on the scale.
        InputError
            If a file is not what it should be, or a model is for another scale.
        """
        if self.name.startswith(_EXTERNAL):
            return External(setting, self.name.removeprefix(_EXTERNAL), encoding=self.encoding)
        if self.model is not None and self.name == Hierarchical.name:
            return Hierarchical(setting, HierarchicalPrior.load(self.model))
        if self.model is not None:
            levels = model_levels(setting.scale)
            if self.name in TREE_PREDICTORS:
                past = TreeModel.load(self.model, predictor=self.name, levels=levels)
                return TREE_PREDICTORS[self.name](setting, past)
            return Ordinal(setting, NamedModel.load(self.model, levels=levels))
        return make_predictor(self.name, setting)

    @property
    def uses_content(self) -> bool:
        """Whether the predictor uses what documents are like."""
        return self.name == Hierarchical.name

    def usual_scale(self) -> Scale:
        """Return the scale to take where there are no judgments to tell it: the model's, otherwise Fine."""
        if self.model is None or self.name == Hierarchical.name:
            return FINE
        of_trees = self.name in TREE_PREDICTORS
        levels = TreeModel.load(self.model).levels if of_trees else NamedModel.load(self.model).levels
        if levels == model_levels(FINE):
            return FINE
        whole = levels == tuple(range(len(levels)))
        return parse_scale(f"0..{len(levels) - 1}" if whole else ",".join(f"{level!r}" for level in levels))
