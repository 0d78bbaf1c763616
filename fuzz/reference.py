"""Evaluation the long way: plain Python, one list at a time, written from the definitions and sharing no code.

Lists are documents, best first. The truth of a query maps documents to gains; a negative gain is an item that was put
before the assessors and not judged. A query without relevant documents scores 0.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterable
from statistics import mean, median

Truth = dict[str, float]
Scored = tuple[str, float]

P_OF_RBP = 0.8


def as_float32(number: float) -> float:
    """Round to 32 bits, as trec_eval keeps scores."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def order_by_score(results: Iterable[Scored]) -> list[str]:
    """Return documents by falling score; among equal scores, by falling id, byte by byte."""
    ranked = sorted(results, key=lambda one: (as_float32(one[1]), one[0].encode()), reverse=True)
    return [document for document, _ in ranked]


def one_gain(gains: list[float], rule: str) -> float:
    """Make one gain of those that several assessors gave."""
    judged = [gain for gain in gains if gain >= 0]
    if not judged:
        return gains[0]
    if rule == "median":
        return median(judged)
    if rule == "majority":
        return min(judged, key=lambda gain: (-judged.count(gain), gain))
    return mean(judged)


def _gains(ranking: list[str], truth: Truth, k: int | None) -> list[float]:
    return [max(truth.get(document, 0.0), 0.0) for document in ranking[:k]]


def _relevant(truth: Truth) -> int:
    return sum(gain > 0 for gain in truth.values())


def _hits(ranking: list[str], truth: Truth, k: int | None) -> int:
    return sum(gain > 0 for gain in _gains(ranking, truth, k))


def _precision(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    size = len(ranking) if k is None else k
    return _hits(ranking, truth, k) / size if size else 0.0


def _recall(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    return _hits(ranking, truth, k) / _relevant(truth) if _relevant(truth) else 0.0


def _f(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    precision, recall = _precision(ranking, truth, k, top), _recall(ranking, truth, k, top)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _average_precision(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    found, total = 0, 0.0
    for rank, document in enumerate(ranking[:k], start=1):
        if truth.get(document, 0.0) > 0:
            found += 1
            total += found / rank
    return total / _relevant(truth) if _relevant(truth) else 0.0


def _reciprocal_rank(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    for rank, document in enumerate(ranking[:k], start=1):
        if truth.get(document, 0.0) > 0:
            return 1 / rank
    return 0.0


def _discounted(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _dcg(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    return _discounted(_gains(ranking, truth, k))


def _ndcg(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    best = _discounted(sorted((max(gain, 0.0) for gain in truth.values()), reverse=True)[:k])
    return _dcg(ranking, truth, k, top) / best if best else 0.0


def _bpref(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    relevant, others = _relevant(truth), sum(gain == 0 for gain in truth.values())
    if not relevant:
        return 0.0
    above, total = 0, 0.0
    for document in ranking:
        gain = truth.get(document, -1.0)
        if gain > 0:
            total += 1 - (min(above, relevant) / min(relevant, others) if above else 0)
        elif gain == 0:
            above += 1
    return total / relevant


def _rbp(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    return sum((1 - P_OF_RBP) * P_OF_RBP**place * gain / top for place, gain in enumerate(_gains(ranking, truth, k)))


def _average_gain(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    assert k is not None
    return sum(_gains(ranking, truth, k)) / (k * top)


def _cumulated_gain(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    return sum(_gains(ranking, truth, k))


def _err(ranking: list[str], truth: Truth, k: int | None, top: float) -> float:
    total, still_reading = 0.0, 1.0
    for rank, gain in enumerate(_gains(ranking, truth, k), start=1):
        satisfied = (2**gain - 1) / 2**top
        total += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    return total


MEASURES: dict[str, Callable[[list[str], Truth, int | None, float], float]] = {
    "P": _precision,
    "R": _recall,
    "F": _f,
    "AP": _average_precision,
    "RR": _reciprocal_rank,
    "DCG": _dcg,
    "nDCG": _ndcg,
    "bpref": _bpref,
    "RBP": _rbp,
    "AG": _average_gain,
    "CG": _cumulated_gain,
    "ERR": _err,
    "hits": lambda ranking, truth, k, top: float(_hits(ranking, truth, k)),
    "Success": lambda ranking, truth, k, top: float(_hits(ranking, truth, k) > 0),
    "Rprec": lambda ranking, truth, k, top: _precision(ranking, truth, _relevant(truth), top),
}


def score(measure: str, ranking: list[str], truth: Truth, *, top: float) -> float:
    """Return the score of one list by a measure such as ``P@5``, on a scale with this top gain."""
    name, _, cutoff = re.sub(r"\(.*?\)", "", measure).partition("@")
    return MEASURES[name](ranking, truth, int(cutoff) if cutoff else None, top)
