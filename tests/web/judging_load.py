"""``python judging_load.py JSON``: assessors who use several servers of one campaign at once, one thread each.

Every request goes to another server than the one before: a question is taken through one, answered through the next.
Some answers are sent to all servers at the same moment, with one key; some are taken back through another server and
given again. What the servers acknowledged is printed as JSON. Nothing of earmark is imported: this is a client.
"""

from __future__ import annotations

import json
import random
import secrets
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any


class Assessor:
    """Somebody with a link, and what became of the answers."""

    def __init__(self, addresses: list[str], token: str, seed: int) -> None:
        self.addresses, self.token, self.chance = addresses, token, random.Random(seed)
        self.turn = count(seed)
        self.acknowledged: dict[str, str] = {}
        self.undone: list[str] = []
        self.doubled: list[list[str]] = []
        self.clicks = ThreadPoolExecutor(len(addresses))

    def post(self, path: str, body: dict[str, Any], address: str | None = None) -> dict[str, Any]:
        where = address or self.addresses[next(self.turn) % len(self.addresses)]
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{where}/api/judge/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=240) as said:
            found: dict[str, Any] = json.loads(said.read())
            return found

    def answer(self, about: str, *, everywhere: bool = False) -> None:
        body = {"id": about, "key": secrets.token_hex(8), "gain": self.chance.choice([0, 1, 2])}
        if everywhere:
            sent = [self.clicks.submit(self.post, "answers", body, address) for address in self.addresses]
            statuses = sorted(one.result()["status"] for one in sent)
            self.doubled.append(statuses)
        else:
            statuses = [self.post("answers", body)["status"]]
        self.acknowledged[body["key"]] = statuses[-1]

    def judge(self) -> None:
        for number in count():
            taken = self.post("questions", {"ahead": 1})
            if not taken["questions"]:
                if taken["reason"] == "wait":
                    time.sleep(0.05)
                    continue
                break
            about = taken["questions"][0]["id"]
            self.answer(about, everywhere=number % 3 == 0)
            if number % 4 == 1:
                said = self.post("undo", {"id": about, "key": secrets.token_hex(8)})
                assert said["question"]["id"] == about
                self.undone.append(about)
                self.answer(about)
        self.clicks.shutdown()


def main() -> None:
    said = json.loads(sys.argv[1])
    people = [Assessor(said["addresses"], token, seed) for seed, token in enumerate(said["tokens"])]
    failed: list[str] = []

    def run(one: Assessor) -> None:
        try:
            one.judge()
        except urllib.error.HTTPError as error:
            failed.append(f"{error.code} {error.read().decode()[:200]}")
        except Exception as error:
            failed.append(repr(error))

    threads = [threading.Thread(target=run, args=(one,)) for one in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {
        "acknowledged": {key: status for one in people for key, status in one.acknowledged.items()},
        "undone": [about for one in people for about in one.undone],
        "doubled": [statuses for one in people for statuses in one.doubled],
        "failed": failed,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
