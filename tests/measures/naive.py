"""Measures written out the long way for one list, straight from their definitions: the oracle of the fast ones."""

from __future__ import annotations

import math

Truth = dict[str, float]


def gains_of(ranking: list[str], truth: Truth, k: int | None = None) -> list[float]:
    return [truth.get(d, 0.0) for d in ranking[:k]]


def ideal_gains(truth: Truth, k: int | None = None) -> list[float]:
    return sorted(truth.values(), reverse=True)[:k]


def dcg(gains: list[float], discount: str = "shift", base: float = 2.0, exp: bool = False) -> float:
    total = 0.0
    for rank, gain in enumerate(gains, start=1):
        if discount == "shift":
            divisor = math.log(rank + 1, base)
        elif discount == "first":
            divisor = 1.0 if rank == 1 else math.log(rank, base)
        else:
            divisor = 1.0 if rank < base else math.log(rank, base)
        total += (2.0**gain - 1 if exp else gain) / divisor
    return total


def rbp(gains: list[float], p: float, top: float) -> float:
    return sum((1 - p) * p ** (rank - 1) * gain / top for rank, gain in enumerate(gains, start=1))


def err(gains: list[float], top: float) -> float:
    total, reached = 0.0, 1.0
    for rank, gain in enumerate(gains, start=1):
        satisfied = (2.0**gain - 1) / 2.0**top
        total += reached * satisfied / rank
        reached *= 1 - satisfied
    return total


def q_measure(ranking: list[str], truth: Truth, beta: float, k: int | None = None) -> float:
    relevant = sum(gain > 0 for gain in truth.values())
    if not relevant:
        return 0.0
    ideal, found, total, cumulated = ideal_gains(truth), 0, 0.0, 0.0
    for rank, document in enumerate(ranking[:k], start=1):
        gain = truth.get(document, 0.0)
        cumulated += gain
        if gain > 0:
            found += 1
            total += (found + beta * cumulated) / (rank + beta * sum(ideal[:rank]))
    return total / min(relevant, k or relevant)


def bpref_family(ranking: list[str], truth: Truth, divisor: float, cap: float = math.inf) -> float:
    relevant = sum(gain > 0 for gain in truth.values())
    before, total = 0, 0.0
    for document in ranking:
        if truth.get(document, 0.0) > 0:
            total += 1 - min(before, cap) / divisor
        elif document in truth:
            before += 1
    return total / relevant if relevant else 0.0


def adr(ranking: list[str], groups: list[list[str]], k: int | None = None) -> float:
    size = sum(map(len, groups))
    total = 0.0
    for i in range(1, (k or size) + 1):
        allowed: set[str] = set()
        for group in groups:
            allowed |= set(group)
            if len(allowed) >= i:
                break
        total += len(allowed & set(ranking[:i])) / i
    return total / (k or size)
