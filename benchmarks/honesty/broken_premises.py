"""Premises broken in turn: how often a headline says "sure" or "worse" and is wrong, beside how often it may be.

``python -m benchmarks.honesty.broken_premises [--cases NAMES] [--scale 1]`` makes small collections up whose truth is
known, breaks one premise of each and reads what is printed:

==================  ====================================================================================================
case                what is broken
==================  ====================================================================================================
dependent compare   40 works of 4 versions, two systems as good as each other, compared at .05
dependent gate      the same, one checked against the other at .05
unjudged gate       a system that is better than the baseline, whose own documents nobody judged, at .05
partial design      predictions from a file that knows the items of one system alone, with a sample of 90
partial model       the same without a sample, 40 judgments
positives, listed   100 judgments from outside, of items that are good, with their gains or all with the top gain
clicks              100 judgments from outside, of items that were clicked, the better the more likely
two systems         a tenth judged
one judgment        6 systems, whose gains change places within every query: what is expected of systems is wrong
wrong expectations  the same with two systems and a tenth judged
stale estimate      answers arrive while questions are chosen
==================  ====================================================================================================

What is read are ``test``, that a difference is significant or a system worse; ``headline``, which system is the best
and how sure that is; ``pair``, one of the pairs that are called decided, with its confidence; ``interval``, that of the
score of a system, unless the level of scores is not to be trusted; and ``dashboard``, that a verdict is up to date.

A headline that is P% sure may be wrong with probability 1 - P, a test at .05 in 5% of the collections, an estimate that
is called up to date never. ``wrong`` is how often each was, ``allowed`` the sum of these probabilities and ``most`` its
upper .999 bound: one claim of a kind per collection, so trials are independent. ``unguarded`` is how often headlines
would be wrong if the premise were not looked at, by ``unguarded_allowed``.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from unittest.mock import patch

import numpy as np
import polars as pl
from scipy import stats

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.looks import play_through
from benchmarks.honesty.premises import outside_campaign
from benchmarks.honesty.unjudged import without_own
from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign
from earmark.campaign.premises import PREMISES
from earmark.campaign.problem import Problem
from earmark.campaign.verdict import Inference, Mode
from earmark.data.arrays import Floats
from earmark.inference.baseline import compare_with_baseline
from earmark.inference.confidence import Ranking
from earmark.inference.unjudged_verdicts import UnjudgedRule
from earmark.store import worker as worker_module
from earmark.store.folder import CampaignFolder
from earmark.store.inputs import add_inputs
from earmark.store.overview import version_of
from earmark.store.settings import Estimates, Judging, Settings, Traps
from earmark.store.stored import AnyStored, read_stored
from earmark.store.summaries import summary_of
from earmark.store.worker import Worker
from earmark.web.watched import Watched

ALPHA = 0.05
CHOSEN = PREMISES[0].name
_UNITS: tuple[Literal["query"] | None, ...] = (None, "query")
_CLAIM = re.compile(r"^(\S+) is (?:probably )?(?:the best of|better than) ")
_SURE = re.compile(r"([\d.]+)% sure|([\d.]+)% that it is better than all")
_WORDS = re.compile(r"\b(?:sure|certain|decided)\b")


@dataclass(frozen=True)
class Claim:
    """What one headline claims.

    Attributes
    ----------
    made : bool
        Whether it claims anything.
    wrong : bool
        Whether that is untrue.
    allowed : float, 0..1
        The probability of being wrong that it states.
    """

    made: bool
    wrong: bool
    allowed: float


@dataclass(frozen=True)
class Trial:
    """What is printed about a collection, and what would be if the premise were not looked at.

    Attributes
    ----------
    claim : Claim
    unguarded : Claim, optional
        None where the premise cannot be left alone.
    says : str
        What makes the claim.
    """

    claim: Claim
    unguarded: Claim | None = None
    says: str = "headline"


def claim_of(headline: str, truth: dict[str, float]) -> Claim:
    """Read a headline about the best system, as people do; `truth` are the true scores."""
    named = _CLAIM.match(headline)
    if named is None:
        if _WORDS.search(headline):
            raise ValueError(f"a claim in a form that is unknown here: {headline}")
        return Claim(False, False, 0.0)
    chances = [float(one or other) / 100 for one, other in _SURE.findall(headline)]
    if not chances and "certain" not in headline:
        raise ValueError(f"a claim that is not said to be sure: {headline}")
    # The last of two is about all others, which is what "the best" means.
    return Claim(True, truth[named[1]] < max(truth.values()), 1.0 - chances[-1] if chances else 0.0)


def _decided_pair(ranking: Ranking, true: Floats, rng: np.random.Generator) -> Claim:
    """Draw one of the pairs that are called decided, as pairs of one collection are right or wrong together."""
    decided = np.flatnonzero(ranking.decided())
    if not decided.size:
        return Claim(False, False, 0.0)
    pair = int(rng.choice(decided))
    estimates = ranking.estimates
    apart = true[estimates.a[pair]] - true[estimates.b[pair]]
    wrong = float(apart * estimates.differences.mean[pair]) < 0
    return Claim(True, wrong, float(1.0 - ranking.confidence[pair]))


def read_ranking(ranking: Ranking, problem: Problem, gains: Floats, *, guarded: bool = True) -> list[Trial]:
    """Read the headline and the decided pairs of a ranking, and those that it would have if no premise failed."""
    true = np.asarray(problem.weights @ gains)
    named = dict(zip(problem.collection.systems, true.tolist(), strict=True))
    both = (ranking, replace(ranking, failed=()))
    best = [claim_of(one.sentence(), named) for one in both]
    pairs = [_decided_pair(one, true, np.random.default_rng(problem.seed)) for one in both]
    return [Trial(best[0], best[1] if guarded else None), Trial(pairs[0], pairs[1] if guarded else None, "pair")]


def _at_level(wrong: bool, unguarded: bool) -> list[Trial]:
    """Test a hypothesis that holds: every rejection is wrong."""
    return [Trial(Claim(wrong, wrong, ALPHA), Claim(unguarded, unguarded, ALPHA), "test")]


# ---- tests between systems -------------------------------------------------------------------------------------------


def equal_cover_systems(seed: int, *, works: int = 40, versions: int = 4) -> earmark.Scores:
    """Score two systems that recognise a work as well as each other, or as badly, in all of its versions."""
    rng = np.random.default_rng([1, seed])
    names = [f"w{work}v{version}" for work in range(works) for version in range(versions)]
    chance = 1 / (1 + np.exp(-2.0 * rng.normal(size=(2, works))))
    lists: dict[str, dict[str | int, dict[str | int, float]]] = {}
    for system in range(2):
        first = rng.random((works, versions)) < chance[system][:, None]
        answers: dict[str | int, dict[str | int, float]] = {}
        for place, name in enumerate(names):
            work, version = divmod(place, versions)
            other = f"w{(work + 1) % works}v0"
            same = f"w{work}v{(version + 1) % versions}"
            answers[name] = {same: 1.0 + first[work, version], other: 1.5}
        lists[f"system{system}"] = answers
    cliques = pl.DataFrame({"document": names, "group": [name.split("v")[0] for name in names]})
    return earmark.evaluate(earmark.runs_from_dict(lists), earmark.Cliques(cliques), ["RR"])


def dependent_compare(seed: int) -> list[Trial]:
    """Compare two equal systems by work, as is usual, and by query."""
    scores = equal_cover_systems(seed)
    by_work, by_query = (
        bool(earmark.compare(scores, test="t", unit_of=unit_of).tests.significant[0]) for unit_of in _UNITS
    )
    return _at_level(by_work, by_query)


def dependent_gate(seed: int) -> list[Trial]:
    """Check one of two equal systems by work, as is usual, and by query."""
    scores = equal_cover_systems(seed)
    by_work, by_query = (
        bool(compare_with_baseline(scores, "system1", unit_of=unit_of).check.worse[0]) for unit_of in _UNITS
    )
    return _at_level(by_work, by_query)


def unjudged_gate(seed: int) -> list[Trial]:
    """Check a system that is better than the baseline by a little, on the judgments of what all others retrieved."""
    made = earmark.synthetic_collection(np.random.default_rng([2, seed]), systems=6, queries=20, documents=200)
    whole = earmark.evaluate(made.runs, made.judgments, ["AG@5"])
    order = np.argsort(-whole.mean_values[0])
    place = int(np.random.default_rng([3, seed]).integers(order.size - 1))
    new, baseline = (whole.systems[order[index]] for index in (place, place + 1))
    pool = without_own(made.runs, made.judgments, new)
    scores = earmark.evaluate(made.runs.select(systems=[new, baseline]), pool, ["AG@5"])

    def fails(rule: UnjudgedRule | None) -> bool:
        return bool(compare_with_baseline(scores, baseline, unjudged=rule).check.worse[0])

    return _at_level(fails(None), fails("zero"))


# ---- estimates -------------------------------------------------------------------------------------------------------


def made_problem(seed: int, *, systems: int, good: bool = False, **how: object) -> tuple[Problem, Floats]:
    """Make a problem up; with `good`, gains are about as high as those of real music."""
    made = earmark.synthetic_collection(np.random.default_rng([4, seed]), systems=systems, queries=20, documents=200)
    scale = made.judgments.scale
    problem = Problem.build(
        made.runs,
        metadata=made.metadata,
        measure="AG@5",
        scale=scale,
        seed=seed,
        **how,  # type: ignore[arg-type]
    )
    truth = item_gains(problem.collection, made.judgments)
    return problem, np.minimum(1.7 * truth, scale.top).round() if good else truth


def _judged(problem: Problem, truth: Floats, judged: int, *, batch: int, guarded: bool = True) -> list[Trial]:
    """Judge as the policy proposes, and read the headline."""
    *_, campaign = play_through(Campaign(problem), truth, [judged], batch=batch)
    return read_ranking(campaign.ranking, problem, truth, guarded=guarded)


def _partial(seed: int, mode: Mode, judged: int) -> list[Trial]:
    """Predict the items of one system by their gains and a little noise, and say nothing about all others."""
    rng = np.random.default_rng([5, seed])
    plain, truth = made_problem(seed, systems=4)
    collection = plain.collection
    own = np.zeros(truth.size, dtype=bool)
    own[collection.result_item[collection.result_system == rng.integers(len(collection.systems))]] = True
    with TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.csv"
        noisy = truth + rng.normal(0, 10, truth.size)
        plain.items.select("query", "document").with_columns(score=pl.Series(noisy)).filter(pl.Series(own)).write_csv(
            path
        )
        problem, _ = made_problem(seed, systems=4, predictor=f"external:{path}", inference=Inference(mode))
        return _judged(problem, truth, judged, batch=judged, guarded=mode == "model")


def partial_design(seed: int) -> list[Trial]:
    """Trust a sample; the predictions can make it no worse."""
    return _partial(seed, "design", 90)


def partial_model(seed: int) -> list[Trial]:
    """Trust predictions whose errors are taken as independent."""
    return _partial(seed, "model", 40)


def _from_outside(how: str, seed: int) -> list[Trial]:
    problem, truth = made_problem(seed, systems=6, good=True)
    campaign = outside_campaign(how, problem, truth, np.random.default_rng([6, seed]))
    return [*read_ranking(campaign.ranking, problem, truth), _interval(campaign.ranking, problem, truth)]


def _interval(ranking: Ranking, problem: Problem, gains: Floats) -> Trial:
    """Read the interval of one system."""
    system = problem.seed % len(problem.collection.systems)
    true = float((problem.weights @ gains)[system])
    wrong = not ranking.low[system] <= true <= ranking.high[system]
    trusted = all(premise.name != CHOSEN for premise in ranking.failed)
    allowed = 1.0 - ranking.level
    claim = Claim(trusted, trusted and wrong, allowed if trusted else 0.0)
    return Trial(claim, Claim(True, wrong, allowed), "interval")


def positives(seed: int) -> list[Trial]:
    """Judge what is good."""
    return _from_outside("positives", seed)


def listed(seed: int) -> list[Trial]:
    """Judge what is good, and give all of it the top gain."""
    return _from_outside("listed", seed)


def clicks(seed: int) -> list[Trial]:
    """Judge what was clicked: the better, the more likely."""
    return _from_outside("clicks", seed)


def two_systems(seed: int) -> list[Trial]:
    """Judge a tenth of what two systems retrieved."""
    problem, truth = made_problem(seed, systems=2)
    return _judged(problem, truth, truth.size // 10, batch=4)


def one_judgment(seed: int) -> list[Trial]:
    """Judge one item, where what is expected of systems is wrong."""
    problem, truth = made_problem(seed, systems=6)
    return _judged(problem, shuffled(problem, truth, seed), 1, batch=1)


def wrong_expectations(seed: int) -> list[Trial]:
    """Judge a tenth of what two systems retrieved, where what is expected of them is wrong."""
    problem, truth = made_problem(seed, systems=2)
    return _judged(problem, shuffled(problem, truth, seed), truth.size // 10, batch=4)


def shuffled(problem: Problem, truth: Floats, seed: int) -> Floats:
    """Let gains change places within every query: systems hardly differ, whatever they return."""
    query, rng = problem.collection.item_query, np.random.default_rng([9, seed])
    moved = truth.copy()
    moved[np.lexsort((np.arange(query.size), query))] = truth[np.lexsort((rng.random(query.size), query))]
    return moved


# ---- the dashboard ---------------------------------------------------------------------------------------------------


def stale_estimate(seed: int) -> list[Trial]:
    """Answer while a worker chooses questions, and look at the dashboard whenever it is done."""
    rng = np.random.default_rng([7, seed])
    with TemporaryDirectory() as home, _stored_campaign(Path(home), seed) as folder:
        worker, choose = Worker(folder), worker_module._next_questions

        def answer(count: int) -> None:
            for _ in range(count):
                question = folder.desk.take("ann", ahead=0).questions[0]
                folder.desk.answer("ann", question.id, key=f"answer {question.id}", gain=int(rng.integers(0, 3)))

        def interrupted(campaign: AnyStored, n: int) -> list[tuple[str, str, str, bool]]:
            answer(int(rng.integers(0, 3)))
            return choose(campaign, n)

        looks = []
        worker.look()
        for _ in range(3):
            answer(int(rng.integers(1, 6)))
            with patch.object(worker_module, "_next_questions", interrupted):
                worker.look()
            looks.append(_differs(folder))
        # Nobody answers any more: what is shown when the worker has nothing to do is shown for good.
        while worker.look():
            pass
        behind, differs = _differs(folder)
        looks.append((False, differs or behind))
    wrong = any(differs and not behind for behind, differs in looks)
    unguarded = Claim(True, any(differs for _, differs in looks), 0.0)
    return [Trial(Claim(True, wrong, 0.0), unguarded, "dashboard")]


def _stored_campaign(home: Path, seed: int) -> CampaignFolder:
    made = earmark.synthetic_collection(np.random.default_rng([8, seed]), systems=3, queries=6, documents=40)
    earmark.write_runs(made.runs, home / "runs.tsv")

    def settings(folder: Path) -> Settings:
        return Settings(
            name="study",
            inputs=add_inputs(folder, runs=[home / "runs.tsv"], files={}),
            judging=Judging(scale="broad"),
            traps=Traps(rate=0.0),
            estimates=Estimates(measure="AG@5", stop="none"),
        )

    return CampaignFolder.create(home / "study", settings)


def _differs(folder: CampaignFolder) -> tuple[bool, bool]:
    """Tell whether a dashboard says that its verdict is behind, and whether all answers give another one."""
    watched = Watched.read(folder, folder.store.log(), version_of(folder.store))
    now = summary_of(read_stored(folder))
    return watched.behind > 0, any(watched.body[name] != now[name] for name in ("judged", "mean_confidence"))


# ---- the study -------------------------------------------------------------------------------------------------------

CASES: dict[str, tuple[Callable[[int], list[Trial]], int]] = {
    "dependent compare": (dependent_compare, 2000),
    "dependent gate": (dependent_gate, 2000),
    "unjudged gate": (unjudged_gate, 1000),
    "partial design": (partial_design, 800),
    "partial model": (partial_model, 400),
    "positives": (positives, 300),
    "listed": (listed, 300),
    "clicks": (clicks, 500),
    "two systems": (two_systems, 1000),
    "one judgment": (one_judgment, 500),
    "wrong expectations": (wrong_expectations, 500),
    "stale estimate": (stale_estimate, 30),
}
"""How every premise is broken, and in how many collections."""

MISSES = {("clicks", "interval"), ("wrong expectations", "headline"), ("wrong expectations", "pair")}
"""What is wrong more often than it says, and is not noticed: docs/honesty.md says so."""


def _played(_: None, name: str, seed: int) -> list[tuple[str, Trial]]:
    return [(name, trial) for trial in CASES[name][0](seed)]


def study(names: list[str], *, scale: float = 1.0, helpers: Helpers | None = None) -> pl.DataFrame:
    """Break premises in turn.

    Parameters
    ----------
    names : list of str
        Which of :data:`CASES`.
    scale : float
        How many collections of each, as a multiple of what is usual.

    Returns
    -------
    DataFrame
        A row per case; see the module for the columns.
    """
    repeats = {name: max(int(scale * CASES[name][1]), 1) for name in names}
    tasks = [(name, seed) for name in names for seed in range(repeats[name])]
    trials = [pair for played in (helpers or Helpers()).each(_played, None, tasks) for pair in played]
    rows = []
    for name, says in dict.fromkeys((name, trial.says) for name, trial in trials):
        here = [trial for case, trial in trials if (case, trial.says) == (name, says)]
        claims = [trial.claim for trial in here]
        without = [trial.unguarded for trial in here if trial.unguarded is not None]
        allowed, most = _allowed(claims)
        share = sum(claim.wrong for claim in claims) / len(claims)
        rows.append(
            {
                "case": name,
                "says": says,
                "collections": len(claims),
                "claims": sum(claim.made for claim in claims),
                "wrong": sum(claim.wrong for claim in claims),
                "allowed": allowed,
                "most": most,
                "share": share,
                "error": (share * (1 - share) / len(claims)) ** 0.5,
                "unguarded": sum(claim.wrong for claim in without) if without else None,
                "unguarded_allowed": _allowed(without)[0] if without else None,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _allowed(claims: list[Claim]) -> tuple[float, int]:
    """Return how many claims may be wrong on average, and at most but for one time in a thousand.

    Chances that differ spread less than as many that are their mean, so the binomial bound is on the safe side.
    """
    chances = [claim.allowed for claim in claims if claim.allowed > 0]
    if not chances:
        return 0.0, 0
    return float(np.sum(chances)), int(stats.binom.ppf(0.999, len(chances), np.mean(chances)))


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--scale", type=float, default=1.0, help="how many collections, as a multiple of what is usual")
    Helpers.options(parser)
    told = parser.parse_args()
    print_table(study(told.cases.split(","), scale=told.scale, helpers=Helpers.given(told)))


def print_table(table: pl.DataFrame) -> None:
    """Print all of a table."""
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=160):
        print(table)


if __name__ == "__main__":
    main()
