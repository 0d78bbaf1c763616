"""The stages of the benchmark, each measured in a process of its own: time of the stage, peak of the process.

==============  ========================================================================================================
``read``        the files of all systems, with polars
``evaluate``    all systems by AG@10 and nDCG@10, against the judgments
``predict``     collection, predictor and beliefs about all items before anything is judged
``rank``        the command ``earmark rank RUNS -m AG@10``, reading included
``next``        the command ``earmark next RUNS -m AG@10 -n 1000``, reading included
``pairs``       all pairs of systems: from beliefs to a ranking
``update``      1,000 judgments: the posterior and the ranking that follow
==============  ========================================================================================================
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
MEASURE = "AG@10"
BATCH = 1000


class StageError(Exception):
    """A stage could not be run; the message is the last line it printed."""


@dataclass(frozen=True)
class Cost:
    """What a stage cost: seconds of the stage alone, by the clock and of all CPUs; bytes of the process at its peak."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int


class _Clock:
    """Counts the seconds of the part of a process that a stage is about."""

    seconds = 0.0
    cpu_seconds = 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        started, used = time.perf_counter(), _cpu_seconds()
        yield
        self.seconds += time.perf_counter() - started
        self.cpu_seconds += _cpu_seconds() - used


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _runs(folder: Path) -> list[Path]:
    return sorted((folder / "runs").glob("*.parquet"))


def _read(folder: Path, clock: _Clock) -> None:
    from earmark.data.readers import read_runs

    with clock.running():
        read_runs(_runs(folder))


def _evaluate(folder: Path, clock: _Clock) -> None:
    from earmark.data.readers import read_judgments, read_runs
    from earmark.evaluation import evaluate

    runs, judgments = read_runs(_runs(folder)), read_judgments(folder / "judgments.parquet")
    with clock.running():
        evaluate(runs, judgments, [MEASURE, "nDCG@10"])


def campaign_of(folder: Path) -> Any:
    """Read the collection in a folder, of which nothing is judged."""
    from earmark.campaign.files import read_campaign

    return read_campaign(_runs(folder), measure=MEASURE, scale="broad")


def _predict(folder: Path, clock: _Clock) -> None:
    from earmark.campaign.campaign import Campaign
    from earmark.campaign.problem import Problem
    from earmark.data.readers import read_runs
    from earmark.data.scales import parse_scale

    runs = read_runs(_runs(folder))
    with clock.running():
        campaign = Campaign(Problem.build(runs, measure=MEASURE, scale=parse_scale("broad")))
        assert campaign.beliefs.mean.size == campaign.problem.collection.n_items


def _pairs(folder: Path, clock: _Clock) -> None:
    campaign = campaign_of(folder)
    _ = campaign.beliefs.mean
    with clock.running():
        _ = campaign.ranking.comparisons_frame()


def _update(folder: Path, clock: _Clock) -> None:
    import numpy as np
    import polars as pl

    from earmark.campaign.evidence import Answers

    campaign = campaign_of(folder)
    _ = campaign.ranking
    judged = pl.read_parquet(folder / "judgments.parquet").sample(fraction=1.0, shuffle=True, seed=0).head(BATCH * 4)
    places = campaign.problem.items.with_row_index("item")
    found = judged.join(places, on=["query", "document"], how="inner").head(BATCH)
    answers = Answers(found["item"].to_numpy().astype(np.int64), found["gain"].cast(pl.Float64).to_numpy())
    with clock.running():
        after = campaign.with_answers(answers)
        _ = after.ranking


def _command(*arguments: str) -> Callable[[Path, _Clock], None]:
    def run(folder: Path, clock: _Clock) -> None:
        from earmark.cli.main import main

        line = [arguments[0], *map(str, _runs(folder)), *arguments[1:], "-m", MEASURE, "--scale", "broad"]
        printed, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        with clock.running():
            code = main([*line, "--quiet", "--format", "jsonl"])
        os.dup2(printed, 1)
        if code:
            raise StageError(f"exit code {code}")

    return run


STAGES: dict[str, Callable[[Path, _Clock], None]] = {
    "read": _read,
    "evaluate": _evaluate,
    "predict": _predict,
    "rank": _command("rank"),
    "next": _command("next", "-n", str(BATCH)),
    "pairs": _pairs,
    "update": _update,
}


def measure(stage: str, folder: Path, *, limit: float) -> Cost:
    """Run a stage on the collection in a folder, in a new process.

    Raises
    ------
    StageError
        When it breaks off or takes more than `limit` seconds.
    """
    call = [sys.executable, "-m", __name__, stage, str(folder.resolve())]
    # Small matrices are multiplied by the million: threads that wait for each other cost more than they bring.
    alone = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
    try:
        done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=limit, env=alone)
    except subprocess.TimeoutExpired:
        raise StageError(f"not done after {limit:g} seconds") from None
    if done.returncode:
        raise StageError((done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1])
    return Cost(**json.loads(done.stdout))


def main(stage: str, folder: Path) -> None:
    """Run a stage in this process and print its `Cost` as JSON."""
    clock = _Clock()
    STAGES[stage](folder, clock)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT
    print(json.dumps({"seconds": clock.seconds, "cpu_seconds": clock.cpu_seconds, "peak_bytes": peak}))
    sys.stdout.flush()
    os._exit(0)  # taking down large objects is nobody's cost here


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
