"""Measures from the confusion matrix: retrieved or not, relevant or not.

Everything within the cutoff counts as retrieved. What was not retrieved is known only with the size of the
collection :math:`|D|`, so measures that count true negatives need it (``--collection-size``; a clique file tells it).
Serrà's (2007) Table 2 prints :math:`TN / (TN + FN)`, the negative predictive value, under the name "specificity"; here
specificity is :math:`TN / (TN + FP)` as everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earmark.data.arrays import Floats
from earmark.data.judged_lists import JudgedLists
from earmark.errors import UnknownCollectionSize
from earmark.measures.base import register
from earmark.measures.binary import BinaryMeasure
from earmark.measures.relevance import divide, relevant_found, relevant_total


@dataclass(frozen=True)
class Confusion:
    """True and false positives and negatives of every list."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats


def confusion(lists: JudgedLists, rel: float | None, cutoff: int | None) -> Confusion:
    """Count the four cells; the true negatives are NaN where the collection's size is not known."""
    tp = relevant_found(lists, rel, cutoff)
    fp = lists.depth(cutoff) - tp
    fn = relevant_total(lists, rel) - tp
    size = np.nan if lists.collection_size is None else float(lists.collection_size)
    return Confusion(tp, fp, fn, size - tp - fp - fn)


@dataclass(frozen=True, repr=False)
class ConfusionMeasure(BinaryMeasure):
    """A measure computed from the four cells."""

    formula: ClassVar[Callable[[Confusion], Floats]]
    counts_true_negatives: ClassVar[bool] = False
    reference = "Serra2007"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        if self.counts_true_negatives and lists.collection_size is None:
            raise UnknownCollectionSize(
                f"{self} counts documents that were not retrieved: give the collection's size (--collection-size)"
            )
        return type(self).formula(confusion(lists, self.rel, self.cutoff))


def _define(
    name: str,
    description: str,
    formula: Callable[[Confusion], Floats],
    *,
    negatives: bool = False,
    count: bool = False,
    higher_is_better: bool = True,
    aliases: tuple[str, ...] = (),
) -> type[ConfusionMeasure]:
    body = {
        "name": name,
        "formula": staticmethod(formula),
        "counts_true_negatives": negatives,
        "range": (0.0, np.inf) if count else (0.0, 1.0),
        "higher_is_better": higher_is_better,
        "__doc__": description,
        "__module__": __name__,
    }
    return register(*aliases)(dataclass(frozen=True, repr=False)(type(name, (ConfusionMeasure,), body)))


TP = _define("TP", "True positives: relevant documents retrieved.", lambda c: c.tp, count=True)
FP = _define(
    "FP",
    "False positives: other documents retrieved.",
    lambda c: c.fp,
    count=True,
    higher_is_better=False,
)
FN = _define("FN", "False negatives: relevant documents missed.", lambda c: c.fn, count=True, higher_is_better=False)
TN = _define("TN", "True negatives: other documents not retrieved.", lambda c: c.tn, negatives=True, count=True)
accuracy = _define(
    "accuracy",
    "Accuracy: the share of the collection put on the right side, :math:`(TP + TN) / |D|`.",
    lambda c: divide(c.tp + c.tn, c.tp + c.tn + c.fp + c.fn),
    negatives=True,
)
sensitivity = _define(
    "sensitivity",
    "Sensitivity, or recall: :math:`TP / (TP + FN)`.",
    lambda c: divide(c.tp, c.tp + c.fn),
)
specificity = _define(
    "specificity",
    "Specificity: :math:`TN / (TN + FP)`.",
    lambda c: divide(c.tn, c.tn + c.fp),
    negatives=True,
)
NPV = _define(
    "NPV",
    "Negative predictive value: :math:`TN / (TN + FN)`, which Serrà (2007) calls specificity.",
    lambda c: divide(c.tn, c.tn + c.fn),
    negatives=True,
    aliases=("negative_predictive_value",),
)
fallout = _define(
    "fallout",
    "Fallout: the share of documents that are not relevant and yet retrieved, :math:`FP / (FP + TN)`; lower is better.",
    lambda c: divide(c.fp, c.fp + c.tn),
    negatives=True,
    higher_is_better=False,
)
