"""Decision trees as arrays: what learners grow, files keep and predictors follow from root to leaf.

All trees of an ensemble lie one after the other in the same arrays, one entry per node. A node with a feature sends an
item to the left where its value is at most the threshold, otherwise to the right; an item without a value goes where
`missing_left` says. A leaf has no feature (-1) and a row of values. Children come after their parents, so that
every way down ends.

Values are compared as 32-bit floats with 64-bit thresholds, as scikit-learn does: trees of its own lead to the same
leaves here as there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from earmark.data.arrays import Bools, Floats, Ints
from earmark.errors import ParameterError

# Rows that are led through all trees at a time: enough to be fast, few enough to be small.
_ROWS_AT_A_TIME = 1024


@dataclass(frozen=True, eq=False)
class Trees:
    """One or more binary trees.

    Parameters
    ----------
    root : ndarray of int, shape (trees,)
        Where every tree begins, ascending; the first at 0.
    feature : ndarray of int, shape (nodes,)
        The column that a node asks about, -1 for a leaf.
    threshold : ndarray of float, shape (nodes,)
    left, right : ndarray of int, shape (nodes,)
        The children of a node; of a leaf, the leaf itself.
    missing_left : ndarray of bool, shape (nodes,)
        Where an item without the feature goes.
    value : ndarray of float, shape (nodes, outputs)
        What a leaf says; that of other nodes does not matter.

    Raises
    ------
    ParameterError
        If the arrays do not describe trees.
    """

    root: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    missing_left: Bools
    value: Floats

    def __post_init__(self) -> None:
        complaint = self._complaint()
        if complaint:
            raise ParameterError(f"expected {complaint[0]}, got {complaint[1]}")

    @property
    def is_leaf(self) -> Bools:
        """Which nodes are leaves, shape (nodes,)."""
        return self.feature < 0

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return self.root.size

    def leaves(self, x: Floats) -> Ints:
        """Return the leaf of every row in every tree, shape (n, trees).

        Parameters
        ----------
        x : ndarray of float, shape (n, features)
            NaN where a feature is missing.
        """
        values = np.asarray(x, dtype=np.float32)
        node = np.tile(self.root, (len(values), 1))
        row = np.arange(len(values))[:, np.newaxis]
        while (inner := self.feature[node] >= 0).any():
            asked = values[row, np.where(inner, self.feature[node], 0)]
            to_left = np.where(np.isnan(asked), self.missing_left[node], asked <= self.threshold[node])
            node = np.where(to_left, self.left[node], self.right[node])
        return node

    def total(self, x: Floats) -> Floats:
        """Return the sum over trees of the values of every row's leaves, shape (n, outputs)."""
        chunks = [x[start : start + _ROWS_AT_A_TIME] for start in range(0, max(len(x), 1), _ROWS_AT_A_TIME)]
        return np.concatenate([self.value[self.leaves(chunk)].sum(axis=1) for chunk in chunks])

    def _complaint(self) -> tuple[str, str] | None:
        n_nodes = self.feature.size
        for name in ("threshold", "left", "right", "missing_left"):
            if getattr(self, name).shape != (n_nodes,):
                return f"'{name}' for each of {n_nodes} nodes", f"an array of shape {getattr(self, name).shape}"
        if self.value.ndim != 2 or len(self.value) != n_nodes:
            return f"a row of values for each of {n_nodes} nodes", f"an array of shape {self.value.shape}"
        if not self.root.size or self.root[0] != 0 or np.any(np.diff(self.root) <= 0) or self.root[-1] >= n_nodes:
            return f"ascending roots from 0 to below {n_nodes}", str(self.root.tolist()[:5])
        if not (np.isfinite(self.threshold).all() and np.isfinite(self.value).all()):
            return "finite thresholds and values", "others"
        node, leaf = np.arange(n_nodes), self.is_leaf
        last = np.append(self.root[1:], n_nodes)[np.searchsorted(self.root, node, side="right") - 1]
        for name, child in (("left", self.left), ("right", self.right)):
            bad = np.flatnonzero(np.where(leaf, child != node, (child <= node) | (child >= last)))
            if bad.size:
                return "children after their parents in the same tree", f"{name} {child[bad[0]]} of node {bad[0]}"
        return None


def joined(trees: Sequence[Trees]) -> Trees:
    """Put several ensembles together, in their order."""
    starts = np.cumsum([0, *(one.feature.size for one in trees)])[:-1]
    return Trees(
        root=np.concatenate([one.root + start for one, start in zip(trees, starts, strict=True)]),
        feature=np.concatenate([one.feature for one in trees]),
        threshold=np.concatenate([one.threshold for one in trees]),
        left=np.concatenate([one.left + start for one, start in zip(trees, starts, strict=True)]),
        right=np.concatenate([one.right + start for one, start in zip(trees, starts, strict=True)]),
        missing_left=np.concatenate([one.missing_left for one in trees]),
        value=np.concatenate([one.value for one in trees]),
    )


class SklearnTree(Protocol):
    """The part of a fitted scikit-learn tree that is used here: its attribute ``tree_``."""

    feature: Any
    threshold: Any
    children_left: Any
    children_right: Any
    missing_go_to_left: Any


def from_sklearn(tree: SklearnTree, value: Floats) -> Trees:
    """Take over a tree of scikit-learn.

    Parameters
    ----------
    tree : object
        The attribute ``tree_`` of a fitted tree.
    value : ndarray of float, shape (nodes, outputs)
        What its nodes say.
    """
    left, right = (np.asarray(side, dtype=np.int64) for side in (tree.children_left, tree.children_right))
    leaf, node = left < 0, np.arange(left.size)
    # A cut between rows with and without a value has an infinite threshold, which JSON cannot keep.
    most = np.finfo(np.float64).max
    return Trees(
        root=np.zeros(1, dtype=np.int64),
        feature=np.where(leaf, -1, tree.feature).astype(np.int64),
        threshold=np.where(leaf, 0.0, np.clip(tree.threshold, -most, most)),
        left=np.where(leaf, node, left),
        right=np.where(leaf, node, right),
        missing_left=~leaf & np.asarray(tree.missing_go_to_left, dtype=bool),
        value=value,
    )
