"""Many assessors at once, in processes with several threads: nothing is lost, doubled or given out too often."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from log_checks import check_store

from earmark.store.database import Database
from earmark.store.desk import Desk
from earmark.store.rules import Rules
from earmark.store.store import Store

LOAD = Path(__file__).with_name("load.py")
UID = "c" * 32


def play(
    database: Database, *, processes: int, threads: int, questions: int, judgments: int
) -> tuple[Store, Rules, list[Any]]:
    """Let assessors answer everything; three of four devices belong to different people."""
    rules = {"judgments_per_item": judgments, "trap_every": 6, "agreed_by": min(2, judgments)}
    desk = Desk(Store.create(database, uid=UID, name="study", settings="{}"), Rules(**rules))
    frame = pl.DataFrame({"query": [f"q{n % 50}" for n in range(questions)]})
    desk.add_questions(frame.with_columns(document=pl.Series([f"d{n}" for n in range(questions)])))
    people = max(judgments, processes * threads * 3 // 4)
    command = [sys.executable, str(LOAD), database.url.render_as_string(hide_password=False), UID, json.dumps(rules)]
    running = [
        subprocess.Popen(
            [*command, str(number), str(threads), str(people)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    try:
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [json.loads(process.communicate()[0]) for process in running]
    finally:
        for process in running:
            process.kill()
            process.communicate()
    return desk.store, desk.rules, said


def check(database: Database, **load: int) -> None:
    store, rules, said = play(database, **load)
    state = check_store(store, rules)
    acknowledged = {key: status for one in said for key, status in one["acknowledged"].items()}
    assert Counter(list(acknowledged)) == state.keys, "the log holds other answers than those that were acknowledged"
    counted = sum(len(who) for who in state.answered.values())
    assert counted == load["questions"] * load["judgments"]
    assert state.most == load["judgments"]
    assert state.traps, "no traps were asked"
    # A trap is answered again when its assessor works on two devices.
    assert Counter(acknowledged.values())["saved"] == counted + len(state.traps)
    repeated = [statuses for one in said for statuses in one["repeated"]]
    assert repeated
    for statuses in repeated:
        assert Counter(statuses)["known"] == 2, "one click of three is saved, the others are known"


@pytest.mark.parametrize("judgments", [1, 3])
def test_assessors_at_once(database: Database, judgments: int) -> None:
    check(database, processes=3, threads=4, questions=150 // judgments, judgments=judgments)


@pytest.mark.slow
@pytest.mark.parametrize("judgments", [1, 3])
def test_sixty_four_assessors_at_once(database: Database, judgments: int) -> None:
    check(database, processes=8, threads=8, questions=2000, judgments=judgments)
