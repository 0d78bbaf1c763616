"""Assessors at once: how many answers a second, and how long one waits for a question and for a receipt.

Assessors are threads of one process, as in a web server, and answer without thinking. So the numbers for 10 and for 50
assessors are those of a queue that is always full; people who listen for half a minute bring about as much load as one
of these brings with a thousand times as many people.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.campaigns.stores import gain_of
from earmark.store.desk import Desk


@dataclass
class Load:
    """What was measured: seconds of every call."""

    assessors: int
    seconds: float = 0.0
    takes: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)

    @property
    def answers_per_second(self) -> float:
        """How many answers were acknowledged in a second."""
        return len(self.answers) / self.seconds


def percentiles(seconds: list[float]) -> tuple[float, float]:
    """Return the median and the 99th percentile in milliseconds."""
    low, high = np.percentile(np.array(seconds) * 1000, [50, 99])
    return float(low), float(high)


def play(desk: Desk, assessors: int, seconds: float) -> Load:
    """Let assessors answer for some seconds."""
    load = Load(assessors)
    stop = threading.Event()
    failed: list[BaseException] = []

    def assess(assessor: str) -> None:
        number = 0
        while not stop.is_set():
            begun = time.perf_counter()
            taken = desk.take(assessor)
            between = time.perf_counter()
            load.takes.append(between - begun)
            question = taken.questions[0]
            number += 1
            desk.answer(assessor, question.id, key=f"{assessor}/{number}", gain=gain_of(question.document))
            load.answers.append(time.perf_counter() - between)

    def run(assessor: str) -> None:
        try:
            assess(assessor)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(f"{assessors}/{number}",)) for number in range(assessors)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    load.seconds = time.perf_counter() - begun
    if failed:
        raise failed[0]
    return load
