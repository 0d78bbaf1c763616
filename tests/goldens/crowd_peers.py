"""Print what other programs make of small sets of answers, as JSON: python crowd_peers.py > crowd_peers.json.

Run with choix 0.4.1, evalica 0.4.2, crowd-kit 1.4.2 and krippendorff 0.9.0. The answers come from Python's own random
numbers and are printed too, so that whoever reads the values needs none of these programs.
"""

from __future__ import annotations

import json
import math
import random
from importlib.metadata import version
from typing import Any

import choix
import evalica
import krippendorff
import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, OneCoinDawidSkene

DRAW = random.Random(20)


def paired_comparisons() -> dict[str, Any]:
    """Scores of six documents from 90 comparisons, some of them ties."""
    strength = [1.2, 0.5, 0.1, 0.0, -0.6, -1.1]
    rows = []
    for _ in range(90):
        i, j = DRAW.sample(range(6), 2)
        if DRAW.random() < 0.2:
            rows.append([i, j, "same"])
        else:
            rows.append([i, j, "a" if DRAW.random() < 1 / (1 + math.exp(strength[j] - strength[i])) else "b"])
    wins = [(i, j) if choice == "a" else (j, i) for i, j, choice in rows if choice != "same"]
    penalties = {}
    for alpha in (0.01, 0.125, 1.0):
        penalties[str(alpha)] = choix.opt_pairwise(6, wins, alpha=alpha, method="Newton-CG", tol=1e-12).tolist()
    winner = {"a": evalica.Winner.X, "b": evalica.Winner.Y, "same": evalica.Winner.Draw}
    names = [f"d{number}" for number in range(6)]
    fitted = evalica.bradley_terry(
        [names[row[0]] for row in rows],
        [names[row[1]] for row in rows],
        [winner[row[2]] for row in rows],
        tolerance=1e-14,
        limit=100_000,
    )
    logs = np.log(fitted.scores[names].to_numpy())
    return {"rows": rows, "choix": penalties, "evalica": (logs - logs.mean()).tolist()}


def worker_models() -> dict[str, Any]:
    """Answers of nine workers to 80 questions, each asked twice with the two documents exchanged."""
    accuracy = [0.9, 0.85, 0.8, 0.8, 0.75, 0.7, 0.6, 0.45, 0.34]
    answers, turned = ("first", "second", "same"), {"first": "second", "second": "first", "same": "same"}
    rows = []
    for question in range(80):
        truth = DRAW.choices(answers, weights=(2, 2, 1))[0]
        for worker in sorted(DRAW.sample(range(9), 6)):
            others = [one for one in answers if one != truth]
            said = truth if DRAW.random() < accuracy[worker] else DRAW.choice(others)
            rows.append([f"{question:02d}", f"w{worker}", said])
            rows.append([f"{question:02d} turned", f"w{worker}", turned[said]])
    data = pd.DataFrame(rows, columns=["task", "worker", "label"])
    tasks, workers = sorted(set(data["task"])), sorted(set(data["worker"]))
    free = DawidSkene(n_iter=1000, tol=-1).fit(data)
    coin = OneCoinDawidSkene(n_iter=1000, tol=-1).fit(data)
    confusion = {
        worker: [[float(free.errors_.loc[(worker, said), truth]) for said in answers] for truth in answers]
        for worker in workers
    }
    return {
        "rows": rows,
        "tasks": tasks,
        "workers": workers,
        "dawid_skene": {"truth": free.probas_.loc[tasks, list(answers)].to_numpy().tolist(), "confusion": confusion},
        "one_coin": {
            "truth": coin.probas_.loc[tasks, list(answers)].to_numpy().tolist(),
            "reliability": [float(coin.skills_[worker]) for worker in workers],
        },
    }


def reliability() -> dict[str, Any]:
    """Grades from 0 to 4 of 30 units by five assessors, a third of them missing."""
    data = []
    for _ in range(30):
        level = DRAW.uniform(0, 4)
        grades = [min(4, max(0, round(DRAW.gauss(level, 0.8)))) for _ in range(5)]
        data.append([None if DRAW.random() < 1 / 3 else grade for grade in grades])
    table = np.array([[np.nan if cell is None else cell for cell in row] for row in data]).T
    metrics = ("nominal", "ordinal", "interval")
    alphas = {one: krippendorff.alpha(reliability_data=table, level_of_measurement=one) for one in metrics}
    return {"grades": data, "alpha": alphas}


print(
    json.dumps(
        {
            "versions": {name: version(name) for name in ("choix", "evalica", "crowd-kit", "krippendorff")},
            "paired_comparisons": paired_comparisons(),
            "worker_models": worker_models(),
            "reliability": reliability(),
        }
    )
)
