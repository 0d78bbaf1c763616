"""Models of trees with a name, and files to keep them in.

A model file is JSON: arrays of numbers, and nothing that a program would execute. It is read without scikit-learn::

    {
      "format": "earmark tree model 1",
      "name": "mine",
      "predictor": "forest",
      "levels": [0, 1, 2],
      "features": ["pTEAM", "aRANK"],
      "power": 0.8,
      "intercepts": [],
      "trees": {"root": [0], "feature": [0, -1, -1], "threshold": [0.25], "left": [1], "right": [2],
                "missing_left": [0], "value": [[0.7, 0.2, 0.1], [0.1, 0.4, 0.5]]},
      "source": "where it came from"
    }

The arrays are those of :class:`~earmark.predictors.trees.Trees`, with two savings: ``threshold``, ``left``, ``right``
and ``missing_left`` have one entry per node that has a feature, ``value`` one row per leaf. The values of a leaf are
shares or weights of levels; those of a boosted model are one number, to which its intercepts are added.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from earmark.data.arrays import Floats, Ints
from earmark.data.files import replacing
from earmark.errors import InputError, ParameterError
from earmark.predictors.model_files import (
    listed,
    model_numbers,
    read_model_file,
    refuse_other_levels,
    require_format,
    require_keys,
    require_texts,
)
from earmark.predictors.tree_learners import LEARNERS, Ensemble
from earmark.predictors.trees import Trees

FORMAT = "earmark tree model 1"
_KEYS = ("format", "name", "predictor", "levels", "features", "power", "intercepts", "trees", "source")
_OTHERS = "fit one with 'earmark fit --predictor forest', or use this one with the predictor it was fitted for"
_TREE_KEYS = ("root", "feature", "threshold", "left", "right", "missing_left", "value")


@dataclass(frozen=True, eq=False)
class TreeModel:
    """An ensemble of trees that knows its features, its scale and where it came from.

    Parameters
    ----------
    name : str
    predictor : str
        Whose model it is, such as ``forest``.
    features : tuple of str
        What the columns of the features mean, in order.
    levels : tuple of float, strictly increasing
        The gain of every level.
    ensemble : Ensemble
    source : str
        Where it came from.

    Raises
    ------
    ParameterError
        If these do not fit together.
    """

    name: str
    predictor: str
    features: tuple[str, ...]
    levels: tuple[float, ...]
    ensemble: Ensemble
    source: str

    def __post_init__(self) -> None:
        complaint = self._complaint()
        if complaint:
            raise ParameterError(f"model '{self.name}': expected {complaint[0]}, got {complaint[1]}")

    def probabilities(self, x: Floats) -> Floats:
        """Probability of every level, shape (n, levels), given features of shape (n, f) in the order of `features`."""
        return self.ensemble.probabilities(x)

    @cached_property
    def digest(self) -> str:
        """A short hash of what predictions depend on."""
        return hashlib.sha256(json.dumps(self._content()).encode()).hexdigest()[:12]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, all at once or not at all; `load` gives back the same numbers exactly."""
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(self._content(), ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, predictor: str | None = None, levels: Sequence[float] | None = None
    ) -> TreeModel:
        """Read a model from a JSON file.

        Parameters
        ----------
        path : path-like
        predictor : str, optional
            Whose model is wanted; that of another predictor is refused.
        levels : sequence of float, optional
            The gains of the scale that it is meant for; a model for another scale is refused.

        Raises
        ------
        InputError
            If the file cannot be read, is not such a file, or is for another predictor or scale.
        """
        model = _from_content(read_model_file(path), path)
        if predictor is not None and model.predictor != predictor:
            raise InputError(
                expected=f"a model for the predictor {predictor}",
                got=f"one for {model.predictor}",
                path=path,
                hint=f"use it with --predictor {model.predictor}",
            )
        refuse_other_levels(model.levels, levels, path)
        return model

    def _content(self) -> dict[str, Any]:
        trees = self.ensemble.trees
        inner = ~trees.is_leaf
        return {
            "format": FORMAT,
            "name": self.name,
            "predictor": self.predictor,
            "levels": self.levels,
            "features": self.features,
            "power": self.ensemble.power,
            "intercepts": self.ensemble.intercepts.tolist(),
            "trees": {
                "root": trees.root.tolist(),
                "feature": trees.feature.tolist(),
                "threshold": trees.threshold[inner].tolist(),
                "left": trees.left[inner].tolist(),
                "right": trees.right[inner].tolist(),
                "missing_left": trees.missing_left[inner].astype(int).tolist(),
                "value": trees.value[trees.is_leaf].tolist(),
            },
            "source": self.source,
        }

    def _complaint(self) -> tuple[str, str] | None:
        trees, intercepts, power = self.ensemble.trees, self.ensemble.intercepts, self.ensemble.power
        n_levels = len(self.levels)
        if self.predictor not in LEARNERS:
            return f"a model for {', '.join(LEARNERS)}", f"one for '{self.predictor}'"
        if not self.features or len(set(self.features)) < len(self.features):
            return "one or more different features", ", ".join(self.features) or "none"
        if n_levels < 2 or not all(low < high < math.inf for low, high in pairwise(self.levels)):
            return "the gains of two or more levels, ascending", listed(self.levels)
        if int(trees.feature.max()) >= len(self.features):
            return f"trees of {len(self.features)} features", f"feature {int(trees.feature.max())}"
        if not (math.isfinite(power) and power > 0):
            return "a power above 0", f"{power:g}"
        if intercepts.size:
            if intercepts.shape != (n_levels - 1,) or not np.all(np.diff(intercepts) < 0):
                return f"{n_levels - 1} strictly decreasing intercepts", listed(intercepts.tolist())
            if trees.value.shape[1] != 1:
                return "one value in every leaf, as there are intercepts", str(trees.value.shape[1])
        elif trees.value.shape[1] != n_levels:
            return f"a value for each of {n_levels} levels in every leaf", str(trees.value.shape[1])
        else:
            leaves = trees.value[trees.is_leaf]
            if np.any(leaves < 0) or not np.all(leaves.sum(axis=1) > 0):
                return "shares of levels in every leaf, none below 0", "others"
        return None


def _from_content(content: Any, path: str | os.PathLike[str]) -> TreeModel:
    """Turn the content of a file into a model, or say what is wrong with it."""
    require_format(content, FORMAT, path, hint=_OTHERS)
    require_keys(content, _KEYS, path)
    require_texts(content, ("name", "source", "predictor"), path)
    features, power = content["features"], content["power"]
    if not isinstance(features, list) or not all(isinstance(name, str) for name in features):
        raise InputError(expected="a list of names as features", got=json.dumps(features), path=path)
    if not isinstance(power, float):
        raise InputError(expected="a number as power", got=json.dumps(power), path=path)
    try:
        return TreeModel(
            name=content["name"],
            predictor=content["predictor"],
            features=tuple(features),
            levels=model_numbers(content["levels"], "levels", path),
            ensemble=Ensemble(
                _trees(content["trees"], path),
                np.array(model_numbers(content["intercepts"], "intercepts", path)),
                power,
            ),
            source=content["source"],
        )
    except ParameterError as error:
        raise InputError(expected="a model of trees", got=f"another: {error}", path=path) from None


def _trees(content: Any, path: str | os.PathLike[str]) -> Trees:
    if not isinstance(content, dict):
        raise InputError(expected="trees as an object of arrays", got=f"a {type(content).__name__}", path=path)
    require_keys(content, _TREE_KEYS, path)
    feature = _whole(content, "feature", path)
    inner = feature >= 0
    node = np.arange(feature.size)

    def spread(key: str, values: Floats | Ints, of_leaves: Floats | Ints) -> Any:
        if values.size != np.count_nonzero(inner):
            expected = f"{np.count_nonzero(inner)} numbers as {key}, one per node with a feature"
            raise InputError(expected=expected, got=str(values.size), path=path)
        whole = of_leaves.copy()
        whole[inner] = values
        return whole

    rows = content["value"]
    if not isinstance(rows, list) or len(rows) != np.count_nonzero(~inner) or not rows:
        got = len(rows) if isinstance(rows, list) else json.dumps(rows)
        raise InputError(expected=f"{np.count_nonzero(~inner)} rows as value, one per leaf", got=str(got), path=path)
    leaves = [model_numbers(row, "value", path) for row in rows]
    if len({len(row) for row in leaves}) > 1:
        raise InputError(expected="as many numbers in every row of value", got="different ones", path=path)
    value = np.zeros((feature.size, len(leaves[0])))
    value[~inner] = leaves
    return Trees(
        root=_whole(content, "root", path),
        feature=np.where(inner, feature, -1),
        threshold=spread("threshold", _floats(content, "threshold", path), np.zeros(feature.size)),
        left=spread("left", _whole(content, "left", path), node),
        right=spread("right", _whole(content, "right", path), node),
        missing_left=spread("missing_left", _whole(content, "missing_left", path), np.zeros_like(node)).astype(bool),
        value=value,
    )


def _floats(content: dict[str, Any], key: str, path: str | os.PathLike[str]) -> Floats:
    return np.array(model_numbers(content[key], key, path), dtype=np.float64)


def _whole(content: dict[str, Any], key: str, path: str | os.PathLike[str]) -> Ints:
    values = _floats(content, key, path)
    bad = np.flatnonzero(~(np.abs(values) < 2**31) | (values != np.round(values)))
    if bad.size:
        raise InputError(expected=f"whole numbers as {key}", got=f"{values[bad[0]]:g}", path=path)
    return values.astype(np.int64)
