"""``python load.py URL UID RULES PROCESS …``: assessors in one process, each a thread, who answer until all is done.

Tests start several of these at once. Some assessors work on two devices, in two processes; one answer in eight is sent
three times at the same moment, as a double click would. What was acknowledged is printed as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from earmark.store.database import Database
from earmark.store.desk import Desk
from earmark.store.leases import Question
from earmark.store.rules import Rules
from earmark.store.store import Store


def desk_of(url: str, uid: str, rules: dict[str, Any], **options: Any) -> Desk:
    return Desk(Store.find(Database(url, **options), uid), Rules(**rules))


def gain_of(document: str) -> float:
    """Return the grade of a document that everybody agrees on."""
    return float(len(document) % 3)


class Process:
    """The assessors of one process and what their answers came to."""

    def __init__(self, desk: Desk, number: int, threads: int, people: int) -> None:
        self.desk, self.number, self.threads, self.people = desk, number, threads, people
        self.acknowledged: dict[str, str] = {}
        self.repeated: list[list[str]] = []
        self.clicks = ThreadPoolExecutor(2 * threads)

    def assess(self, thread: int) -> None:
        place = self.number * self.threads + thread
        assessor, rng = f"a{place % self.people}", random.Random(place)
        count = 0
        while True:
            taken = self.desk.take(assessor)
            if not taken.questions:
                if taken.reason == "wait":
                    time.sleep(0.05)
                    continue
                assert taken.reason == "done", taken.reason
                return
            question = taken.questions[0]
            count += 1
            key = f"{place}/{count}"
            send = partial(self._send, assessor, question, key)
            if rng.random() < 1 / 8:
                others = [self.clicks.submit(send) for _ in range(2)]
                said = sorted([send(), *(other.result() for other in others)])
                self.repeated.append(said)
            else:
                said = [send()]
            self.acknowledged[key] = said[-1] if said[-1] != "known" else said[0]

    def _send(self, assessor: str, question: Question, key: str) -> str:
        return self.desk.answer(assessor, question.id, key=key, gain=gain_of(question.document)).status

    def run(self) -> None:
        with ThreadPoolExecutor(self.threads) as pool:
            for done in [pool.submit(self.assess, thread) for thread in range(self.threads)]:
                done.result()
        self.clicks.shutdown()


def main() -> None:
    url, uid, rules, number, threads, people = sys.argv[1:]
    desk = desk_of(url, uid, json.loads(rules))
    threading.stack_size(1 << 20)
    process = Process(desk, int(number), int(threads), int(people))
    print("ready", flush=True)
    sys.stdin.readline()
    process.run()
    desk.store.database.close()
    print(json.dumps({"acknowledged": process.acknowledged, "repeated": process.repeated}))


if __name__ == "__main__":
    main()
