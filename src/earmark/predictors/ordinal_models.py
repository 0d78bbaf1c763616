"""Ordinal models with a name: the four published ones, and files to keep one's own in.

Fitting a model needs judged collections; using one does not. Urbano and Schedl [1]_ print the parameters of four
models for music similarity (their Table 7), fitted on MIREX 2007, 2009, 2010 and 2011:

=====================  ============================================================  ==========================
name                   features                                                      levels (gains)
=====================  ============================================================  ==========================
``mtc-output-broad``   pTEAM, OV, pART, sGEN, pGEN, sGEN:pGEN                        0, 1, 2
``mtc-judge-broad``    pTEAM, OV, aSYS, aART                                         0, 1, 2
``mtc-output-fine``    pTEAM, OV, pART, sGEN, pGEN, sGEN:pGEN                        0, 11, 22, ..., 99
``mtc-judge-fine``     pTEAM, OV, aSYS, aART                                         0, 11, 22, ..., 99
=====================  ============================================================  ==========================

Shares (pTEAM, OV, pART, pGEN) are in 0..1, sGEN is 0 or 1, averages of gains (aSYS, aART) are in the units of the
scale, 0..2 or 0..100; ``sGEN:pGEN`` is their product. The paper prints the inverse logit with a minus in the
denominator; its own numbers, and these functions, use e^x / (1 + e^x).

A model file is a small JSON object that a person can read and write::

    {
      "format": "earmark ordinal model 1",
      "name": "mine",
      "levels": [0, 1, 2],
      "intercepts": [-3.2513, -5.3349],
      "coefficients": {"pTEAM": 2.3677, "OV": 1.9749},
      "source": "where it came from"
    }

References
----------
.. [1] J. Urbano, M. Schedl (2013). Minimal test collections for low-cost evaluation of audio music similarity
   and retrieval systems. Int. J. Multimedia Information Retrieval 2, 59-70; section 4 and appendix.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

from numpy.typing import ArrayLike

from earmark.data.arrays import Floats
from earmark.data.files import replacing
from earmark.errors import InputError, ParameterError
from earmark.predictors.model_files import (
    listed,
    model_numbers,
    parse_model_json,
    read_model_file,
    refuse_other_levels,
    require_format,
    require_keys,
    require_texts,
)
from earmark.predictors.ordinal_regression import OrdinalModel, predict_levels

FORMAT = "earmark ordinal model 1"
_KEYS = ("format", "name", "levels", "intercepts", "coefficients", "source")
_OF_TREES = "a model of trees is for --predictor forest, boosted, conditional-tree or conditional-forest"


@dataclass(frozen=True)
class NamedModel:
    """A proportional-odds model that knows its features, its scale and where it came from.

    Parameters
    ----------
    name : str
    features : tuple of str, length f
        What the columns of the features mean, in order.
    intercepts : tuple of float, length L - 1, strictly decreasing
        alpha_1 .. alpha_(L-1): the log-odds of reaching every level but the first, all features being 0.
    coefficients : tuple of float, length f
        beta, one per feature.
    levels : tuple of float, length L, strictly increasing
        The gain of every level.
    source : str
        Where the numbers came from.

    Raises
    ------
    ParameterError
        If the lengths or orders do not fit together.
    """

    name: str
    features: tuple[str, ...]
    intercepts: tuple[float, ...]
    coefficients: tuple[float, ...]
    levels: tuple[float, ...]
    source: str

    def __post_init__(self) -> None:
        if len(self.coefficients) != len(self.features):
            raise ParameterError(
                f"model '{self.name}': expected one coefficient for each of {len(self.features)} features, "
                f"got {len(self.coefficients)}"
            )
        if len(set(self.features)) < len(self.features):
            raise ParameterError(f"model '{self.name}': expected different features, got {', '.join(self.features)}")
        complaint = _complaint(self.levels, self.intercepts, self.coefficients)
        if complaint:
            raise ParameterError(f"model '{self.name}': expected {complaint[0]}, got {complaint[1]}")

    @classmethod
    def from_fit(
        cls, model: OrdinalModel, *, name: str, features: Sequence[str], levels: Sequence[float], source: str
    ) -> NamedModel:
        """Give a fitted model its name, its features and the gains of its levels."""
        return cls(
            name=name,
            features=tuple(features),
            intercepts=tuple(model.intercepts.tolist()),
            coefficients=tuple(model.coefficients.tolist()),
            levels=tuple(float(level) for level in levels),
            source=source,
        )

    def probabilities(self, features: ArrayLike) -> Floats:
        """Probability of every level, shape (n, L), given features of shape (n, f) in the order of `features`."""
        return predict_levels((self.intercepts, self.coefficients), features)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, all at once or not at all; `load` gives back the same numbers exactly."""
        content = {
            "format": FORMAT,
            "name": self.name,
            "levels": self.levels,
            "intercepts": self.intercepts,
            "coefficients": dict(zip(self.features, self.coefficients, strict=True)),
            "source": self.source,
        }
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, levels: Sequence[float] | None = None) -> NamedModel:
        """Read a model from a JSON file.

        Parameters
        ----------
        path : path-like
        levels : sequence of float, optional
            The gains of the scale the model is meant for; a model for another scale is refused.

        Raises
        ------
        InputError
            If the file cannot be read, is not such a file or is for another scale; it says what and where.
        """
        model = _from_content(read_model_file(path), path)
        refuse_other_levels(model.levels, levels, path)
        return model


def published_names() -> tuple[str, ...]:
    """Names of the published models."""
    return tuple(_published())


def published_model(name: str) -> NamedModel:
    """Return one of the published models.

    Examples
    --------
    >>> model = published_model("mtc-output-broad")
    >>> model.features
    ('pTEAM', 'OV', 'pART', 'sGEN', 'pGEN', 'sGEN:pGEN')
    >>> model.probabilities([[0.25, 0.8053, 0.0217, 1, 0.8478, 0.8478]]).round(4).tolist()
    [[0.0491, 0.2441, 0.7068]]
    """
    models = _published()
    if name not in models:
        raise ParameterError(f"unknown model '{name}': the published ones are {', '.join(models)}")
    return models[name]


@cache
def _published() -> dict[str, NamedModel]:
    file = resources.files("earmark.predictors") / "published.json"
    content = parse_model_json(file.read_bytes(), "published.json")
    models = [_from_content(model, "published.json") for model in content["models"]]
    return {model.name: model for model in models}


def _from_content(content: Any, path: str | os.PathLike[str]) -> NamedModel:
    """Turn the content of a file into a model, or say what is wrong with it."""
    require_format(content, FORMAT, path, hint=_OF_TREES if _is_of_trees(content) else None)
    require_keys(content, _KEYS, path)
    require_texts(content, ("name", "source"), path)
    if not isinstance(content["coefficients"], dict):
        raise InputError(
            expected="coefficients as an object of feature and number",
            got=json.dumps(content["coefficients"]),
            path=path,
        )
    levels = model_numbers(content["levels"], "levels", path)
    intercepts = model_numbers(content["intercepts"], "intercepts", path)
    coefficients = model_numbers(list(content["coefficients"].values()), "coefficients", path)
    complaint = _complaint(levels, intercepts, coefficients)
    if complaint:
        raise InputError(expected=complaint[0], got=complaint[1], path=path)
    return NamedModel(
        name=content["name"],
        features=tuple(content["coefficients"]),
        intercepts=intercepts,
        coefficients=coefficients,
        levels=levels,
        source=content["source"],
    )


def _is_of_trees(content: Any) -> bool:
    return isinstance(content, dict) and str(content.get("format", "")).startswith("earmark tree model")


def _complaint(
    levels: Sequence[float], intercepts: Sequence[float], coefficients: Sequence[float]
) -> tuple[str, str] | None:
    """Tell what was expected of the numbers of a model and what was found, if they do not make one."""
    if not all(math.isfinite(value) for value in (*levels, *intercepts, *coefficients)):
        return "finite numbers", listed([v for v in (*levels, *intercepts, *coefficients) if not math.isfinite(v)])
    if len(levels) < 2 or any(low >= high for low, high in pairwise(levels)):
        return "the gains of two or more levels, ascending", listed(levels)
    if len(intercepts) != len(levels) - 1:
        return f"{len(levels) - 1} intercepts for {len(levels)} levels", str(len(intercepts))
    if any(high <= low for high, low in pairwise(intercepts)):
        return "strictly decreasing intercepts", listed(intercepts)
    return None
