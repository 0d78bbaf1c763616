r"""How many judgments a campaign will take, before anybody judges.

How soon a stop rule is reached depends on what judging brings to light: systems far apart are told apart soon, systems
close together late or never. Nobody knows which it will be, but a predictor's beliefs say what is probable. So
:func:`plan` draws the gains of all items from the beliefs, several times; each draw is a truth that might be. The
campaign is played through with each of them answering, exactly as it will be with people, and what counts is after how
many judgments it stops.

Conventions:

- *The range* is that of the 10% and the 90% quantile of the campaigns played, the k-th smallest of n at the level
  :math:`k / (n + 1)`: another campaign of the same kind lies below the 10% quantile with probability .1, however few
  were played (from 9 on). Rounding is outwards.
- *The campaigns know nothing of their truth* but what they asked; they begin with the beliefs that truths are drawn
  from.
- *With judgments so far* truths agree with them, and judgments are those still to be made.
- A plan is worth what the beliefs are worth. Beliefs that take items as independent of each other draw truths in which
  nothing is shared, hence ranges that are too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.loop import play
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import StopRule
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.log import AnswerLog
from earmark.errors import ParameterError
from earmark.wording import counted
from earmark.workers import work_through

SECONDS_PER_JUDGMENT = 30.0
COST_PER_JUDGMENT = 0.02
FEWEST_FOR_A_RANGE = 9
"""With fewer campaigns than this the range is all of them, and still not wide enough."""

_LEVELS = (0.1, 0.5, 0.9)
_SMALL_BATCH = 20
_BATCHES = 100
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Display):
    """How many judgments simulated campaigns took.

    Attributes
    ----------
    judgments : ndarray of int, shape (repeats,)
        What every campaign asked for until it stopped, judgments so far not counted.
    everything : ndarray of bool, shape (repeats,)
        Which campaigns stopped only because nothing was left to judge.
    judged, items : int
        How many items are judged so far, and how many there are.
    stop : StopRule
        What was to be reached.
    batch : int
        How many judgments there were between two looks.

    Examples
    --------
    >>> from earmark.campaign.stopping import parse_stop
    >>> asked = np.array([80, 100, 100, 120, 120, 120, 140, 140, 180])
    >>> made = Plan(asked, asked > 500, judged=0, items=500, stop=parse_stop("mean:0.9"), batch=20)
    >>> made.low, made.median, made.high, made.cost().tolist()
    (80, 120, 180, [1.6, 2.4, 3.6])
    >>> print(made)
    About 120 judgments (80 to 180) of 500 items until mean:0.9, 1.0 hour of judging at 30 s each.
    """

    one: ClassVar[str] = "judgment"
    doing: ClassVar[str] = "judging"
    unit: ClassVar[str] = "judgments"

    judgments: Ints
    everything: Bools
    judged: int
    items: int
    stop: StopRule
    batch: int

    @property
    def repeats(self) -> int:
        """How many campaigns were played."""
        return self.judgments.size

    @cached_property
    def range(self) -> Ints:
        """The 10%, 50% and 90% quantiles of judgments still to be made, shape (3,)."""
        low, median, high = np.quantile(self.judgments, _LEVELS, method="weibull")
        outwards = (math.floor(low + _ROUNDING), round(median), math.ceil(high - _ROUNDING))
        return np.array(outwards, dtype=np.int64)

    @property
    def low(self) -> int:
        """One campaign in ten takes fewer judgments."""
        return int(self.range[0])

    @property
    def median(self) -> int:
        """Every second campaign takes fewer judgments."""
        return int(self.range[1])

    @property
    def high(self) -> int:
        """One campaign in ten takes more judgments."""
        return int(self.range[2])

    @property
    def not_reached(self) -> float:
        """The share of campaigns in which everything was judged."""
        return float(self.everything.mean())

    @property
    def share(self) -> float:
        """The share of all items that is judged in the end, in the median."""
        return (self.judged + self.median) / self.items if self.items else 0.0

    def hours(self, seconds_per_judgment: float = SECONDS_PER_JUDGMENT) -> Floats:
        """Return the hours that judging takes: low, median and high, shape (3,)."""
        return self.range.astype(np.float64) * (_not_negative(seconds_per_judgment, "seconds per judgment") / 3600.0)

    def cost(self, cost_per_judgment: float = COST_PER_JUDGMENT) -> Floats:
        """Return what judging costs, in the unit that a judgment's cost is given in: low, median, high, shape (3,)."""
        return self.range.astype(np.float64) * _not_negative(cost_per_judgment, "the cost of a judgment")

    def to_polars(
        self,
        *,
        seconds_per_judgment: float = SECONDS_PER_JUDGMENT,
        cost_per_judgment: float = COST_PER_JUDGMENT,
        assessors: int = 1,
    ) -> pl.DataFrame:
        """Return the plan as one row; hours and cost are those of the median.

        Parameters
        ----------
        seconds_per_judgment, cost_per_judgment : float, 0 or more
        assessors : int
            How many people share the work.
        """
        if assessors < 1:
            raise ParameterError(f"somebody has to judge: expected 1 assessor or more, got {assessors}")
        hours, cost = self.hours(seconds_per_judgment)[1], self.cost(cost_per_judgment)[1]
        return pl.DataFrame(
            {
                "judgments_low": [self.low],
                "judgments_median": [self.median],
                "judgments_high": [self.high],
                "hours": [float(hours)],
                "cost": [float(cost)],
                "assessors": [assessors],
                "hours_each": [float(hours) / assessors],
                "judged": [self.judged],
                "items": [self.items],
                "share": [self.share],
                "not_reached": [self.not_reached],
                "repeats": [self.repeats],
                "stop": [str(self.stop)],
                "margin": [self.stop.margin],
                "batch": [self.batch],
            }
        )

    def sentence(self, seconds_per_judgment: float = SECONDS_PER_JUDGMENT, *, answers: int | None = None) -> str:
        """Say it in words.

        Parameters
        ----------
        seconds_per_judgment : float
            How long an answer takes.
        answers : int, optional
            How many answers people give in the median, where several judge an item or some questions are traps.
        """
        if self.judged == self.items:
            return "Everything is judged: there is nothing left to plan."
        rule = f"{self.stop}{f' within a margin of {self.stop.margin_apart:g}' if self.stop.margin_apart else ''}"
        more = "more " if self.judged else ""
        if self.high == 0:
            known = "with the judgments so far" if self.judged else "by the predictions before anything is judged"
            return f"No {more}{self.one}s are needed: {rule} is reached {known}."
        spread = "" if self.low == self.high else f" ({self.low:,} to {self.high:,})"
        count = counted(self.median, f"{more}{self.one}")
        given = self.median if answers is None else answers
        hours = f"{given * seconds_per_judgment / 3600:,.1f}"
        time = f"{hours} {'hour' if hours == '1.0' else 'hours'} of {self.doing} at {seconds_per_judgment:g} s each"
        if given != self.median:
            time = f"for which people give {counted(given, 'answer')}, {time}"
        return f"About {count}{spread} of {self._scope()} until {rule}, {time}."

    def _scope(self) -> str:
        """Say how much there is, and how much of it is done."""
        so_far = f", {self.judged:,} of them judged," if self.judged else ""
        return f"{counted(self.items, 'item')}{so_far}"

    def notes(self) -> list[str]:
        """Say what a reader of the numbers has to know."""
        said = []
        if self.everything.any():
            share = f"{100 * self.not_reached:.0f}% of the simulated campaigns"
            said.append(
                f"in {share} everything had to be judged: a margin, or a rule such as decided:0.8, stops sooner"
            )
        if self.repeats < FEWEST_FOR_A_RANGE:
            said.append(
                f"a range of {counted(self.repeats, 'campaign')} is too narrow to hold 80 of 100 campaigns: that takes "
                f"{FEWEST_FOR_A_RANGE} or more"
            )
        return said

    def __str__(self) -> str:
        return "\n".join((self.sentence(), *(f"{note[0].upper()}{note[1:]}." for note in self.notes())))

    def _summary(self) -> Summary:
        """Show the range: what one campaign in ten stays below, every second one, and nine in ten."""
        share = (self.judged + self.range) / max(self.items, 1)
        rows = {
            f"more {self.one}s" if self.judged else f"{self.one}s": [f"{count:,}" for count in self.range],
            "share of all": [f"{one:.0%}" for one in share],
            f"hours at {SECONDS_PER_JUDGMENT:g} s each": [f"{one:,.1f}" for one in self.hours()],
        }
        ends = {end: [cells[place] for cells in rows.values()] for place, end in enumerate(("low", "median", "high"))}
        played = f"{self.repeats:,} simulated campaigns, looked at every {self.batch:,} {self.unit}"
        return Summary(self.sentence(), [DisplayTable(pl.DataFrame({"": list(rows), **ends}))], [played, *self.notes()])


def usual_batch(items: int) -> int:
    """Return how many judgments to simulate between two looks: 20, or on large collections a hundredth of the items."""
    return max(_SMALL_BATCH, math.ceil(items / _BATCHES))


def plan(
    campaign: Campaign,
    *,
    repeats: int = 20,
    batch: int | None = None,
    progress: Callable[[int], None] | None = None,
    jobs: int | None = 1,
    cluster: str | None = None,
) -> Plan:
    """Simulate campaigns whose truths are drawn from the beliefs, and count their judgments.

    Parameters
    ----------
    campaign : Campaign
        Where to start from: its problem says what is asked and when to stop, its log what is judged so far. All chance
        comes from the problem's seed.
    repeats : int
        How many campaigns to play.
    batch : int, optional
        How many items are judged between two looks; by default as :func:`usual_batch` says.
    progress : callable, optional
        Called with the number of items that are settled since the last call; in the end, with `repeats` times the
        number of unjudged items in all.
    jobs, cluster
        How many processes to use, or which Dask cluster: see :func:`earmark.workers.work_through`. The plan does not
        depend on it.

    Examples
    --------
    >>> import earmark
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=10, documents=80)
    >>> campaign = Campaign.build(made.runs, predictor="uniform", policy="mtc", stop="budget:40")
    >>> found = plan(campaign)
    >>> found.low, found.median, found.high
    (40, 40, 40)
    """
    if repeats < 1:
        raise ParameterError(f"expected 1 simulated campaign or more, got {repeats}")
    problem, rng = campaign.problem, np.random.default_rng(campaign.problem.seed)
    n_items, judged = problem.collection.n_items, campaign.judged
    left = n_items - judged
    size = usual_batch(left) if batch is None else batch
    truths = campaign.beliefs.draw(rng, repeats)
    # Another sample for every campaign, where the policy draws one.
    seeds = [int(own.integers(2**32)) for own in rng.spawn(repeats)]
    tasks = list(zip(range(repeats), truths, seeds, strict=True))
    asked = count_questions(_play_one, (problem, campaign.log, size), tasks, progress, jobs=jobs, cluster=cluster)
    everything = (asked == left) & (left > 0)
    return Plan(asked, everything, judged=judged, items=n_items, stop=problem.stop, batch=size)


Asked = tuple[int, int, int]
"""The number of a campaign, how many questions it has asked, and how many are settled, now or because it is over."""


def count_questions(
    play_one: Callable[..., Iterator[Asked]],
    shared: Any,
    tasks: Sequence[tuple[Any, ...]],
    progress: Callable[[int], None] | None,
    *,
    jobs: int | None,
    cluster: str | None,
) -> Ints:
    """Play campaigns through and return how many questions each has asked, shape (tasks,).

    Parameters
    ----------
    play_one, shared, tasks, jobs, cluster
        As for :func:`earmark.workers.work_through`.
    progress : callable, optional
        Called with the number of questions that are settled since the last call.
    """
    asked, settled = (np.zeros(len(tasks), dtype=np.int64) for _ in range(2))
    for number, now, over in work_through(play_one, shared, tasks, jobs=jobs, cluster=cluster):
        asked[number] = now
        if progress is not None:
            progress(over - int(settled[number]))
        settled[number] = over
    return asked


def _play_one(shared: tuple[Problem, AnswerLog, int], number: int, truth: Floats, seed: int) -> Iterator[Asked]:
    problem, log, batch = shared
    start = Campaign(problem.select(seed=seed), log)
    so_far, left, now = start.judged, problem.collection.n_items - start.judged, 0
    # The truth may lie in memory that processes share; what follows is an array like any other.
    for reached in play(start, oracle(np.asarray(truth)), batch=batch):
        now = reached.judged - so_far
        yield number, now, now
    # A campaign that stops is over, however much was left to judge.
    yield number, now, left


def _not_negative(number: float, what: str) -> float:
    if not (math.isfinite(number) and number >= 0):
        raise ParameterError(f"{what} is a finite number of 0 or more, got {number:g}")
    return number
