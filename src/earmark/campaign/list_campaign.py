r"""A campaign in which people compare two result lists side by side: which of two systems answers queries better.

A question shows the lists of two systems for a query, and an assessor says which is better (a or b), that both are
equally good (same) or equally bad (neither). On a query, a system wins 1 where its list is better, ½ where neither is;
answers of several assessors about the same query are averaged, so a query counts once however many people saw it.

What is estimated is the **share won** by system a against system b: the mean over queries, among those for which the
two lists differ, as people like those who answered prefer them (:mod:`earmark.inference.shares_won`). Its interval
contains how much queries differ and how much people do. It holds at all looks together where the order of answers is
known, so people may look after every answer and stop when it is narrow; else at one look, and no order of rows changes
it. It is about *queries like these*, of which those asked are a random part, because questions are asked in a drawn
order. With n pairs of systems every interval has the level :math:`1 - \alpha / n` (Bonferroni), so all of them hold
together with probability :math:`1 - \alpha`. A pair is decided when its interval excludes ½; the confidence in its
order is one minus n times the p-value of a share of ½, and reaches the level at the same moment.

Where the people who answered prefer a system, but are too few or too different to speak for others, that is said of
*these people* only.

The **ranking of systems** goes by the mean of the shares that a system wins against every other. Its interval is the
mean of the intervals of its pairs, hence wide; two systems are compared by their own pair.

Conventions:

- *No answer yet*: a pair nobody answered has no share and the interval [0, 1]. In the mean of a system it counts as ½.
- *Identical lists*: two systems whose lists never differ are not compared. They are listed apart and are in no mean.
- *One query* or *one person* excludes nothing: the interval is [0, 1].
- *More answers about a query* move its outcome after it was counted. The guarantee for these people at all looks is
  exact where queries get one answer each. In simulations with three answers a query and a look after each of them, it
  held as well (``tests/campaign/test_list_coverage.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from earmark.campaign.list_estimates import ListEstimates
from earmark.campaign.stopping import Never, Progress, StopDecision, StopRule
from earmark.campaign.stopping.plain import PlainState, check_plain, plain_progress
from earmark.data.display import Display, Summary
from earmark.errors import ParameterError
from earmark.inference.proportions import require_level
from earmark.inference.shares_won import EVEN, ComparedAnswers, shares_won

WON = {"a": 1.0, "same": 0.5, "neither": 0.5, "b": 0.0}
"""What the first system wins by an answer."""

ANSWERS = {"query": pl.String, "a": pl.String, "b": pl.String, "assessor": pl.String, "choice": pl.String}
"""The columns of answers, in the order in which they were given."""

_DIGITS = 12


@dataclass(frozen=True, eq=False)
class ListProblem:
    """Which lists are compared, and when that ends.

    Parameters
    ----------
    systems : tuple of str
    questions : polars.DataFrame
        ``query``, ``a`` and ``b``, two systems whose lists for the query differ, ``a`` before ``b`` in the order of
        their names.
    needed : int
        How many assessors answer a question.
    stop : StopRule
        A budget of answers, a width, or none.
    level : float, in (0, 1)
        The probability that the intervals of all pairs hold together.
    anytime : bool
        Whether intervals hold at all looks together; else at one, and the order of answers changes nothing.
    """

    systems: tuple[str, ...]
    questions: pl.DataFrame
    needed: int = 1
    stop: StopRule = field(default_factory=Never)
    level: float = 0.95
    anytime: bool = True

    def __post_init__(self) -> None:
        require_level(self.level)
        unknown = (set(self.questions["a"]) | set(self.questions["b"])) - set(self.systems)
        if unknown:
            raise ParameterError(f"a question is about '{min(unknown)}', which is not one of the systems")
        if not (self.questions["a"] < self.questions["b"]).all():
            raise ParameterError("expected two systems in the order of their names in every question")

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of systems whose lists differ for some query, in the order of names."""
        asked = set(self.questions.select("a", "b").unique().rows())
        return tuple(pair for pair in combinations(sorted(self.systems), 2) if pair in asked)

    @cached_property
    def identical(self) -> tuple[tuple[str, str], ...]:
        """The pairs of systems whose lists never differ."""
        return tuple(pair for pair in combinations(sorted(self.systems), 2) if pair not in set(self.pairs))


@dataclass(frozen=True, eq=False, repr=False)
class ListLook(Display):
    """What comparisons of lists come to at one moment.

    Attributes
    ----------
    estimates : ListEstimates
    decision : StopDecision
    progress : Progress
        What the stop rule watches.
    judged, items, answered : int
        How many questions have an answer, of how many, and how many answers there are.
    """

    estimates: ListEstimates
    decision: StopDecision
    progress: Progress
    judged: int
    items: int
    answered: int

    def summary(self) -> dict[str, Any]:
        """Return counts, the widest interval, and whether to stop, as the last row of ``earmark rank``."""
        return {
            "kind": "summary",
            "judged": self.judged,
            "items": self.items,
            "answers": self.answered,
            "mean_confidence": self.estimates.mean_confidence,
            "min_confidence": self.estimates.min_confidence,
            "widest": self.estimates.widest,
            "decided": int(self.estimates.decided.sum()),
            "pairs": int(self.estimates.share.size),
            "stop": self.decision.stop,
            "reason": self.decision.reason,
        }

    def _summary(self) -> Summary:
        """Show the estimates, and whether to stop."""
        seen = self.estimates._summary()
        return Summary(seen.sentence, seen.sheets, [str(self.decision), *seen.notes])


@dataclass(frozen=True, eq=False, repr=False)
class ListCampaign(Display):
    """Comparisons of lists at one moment: what they say is a function of the problem and the answers.

    Parameters
    ----------
    problem : ListProblem
    answers : polars.DataFrame
        With the columns of `ANSWERS`, one row per assessor and question, in the order in which they were given; those
        to other questions are left out.

    Examples
    --------
    >>> questions = pl.DataFrame({"query": ["q1", "q2"], "a": ["A", "A"], "b": ["B", "B"]})
    >>> rows = [("q1", "A", "B", "ann", "a"), ("q1", "A", "B", "bob", "same"), ("q2", "A", "B", "ann", "b")]
    >>> answers = pl.DataFrame(rows, schema=ANSWERS, orient="row")
    >>> campaign = ListCampaign(ListProblem(("A", "B"), questions), answers)
    >>> campaign.look.estimates.share.tolist()
    [0.375]
    """

    problem: ListProblem
    answers: pl.DataFrame

    @cached_property
    def counted(self) -> pl.DataFrame:
        """The answers to known questions, in their order.

        Returns
        -------
        polars.DataFrame
            ``query``, ``a``, ``b``, ``assessor`` and ``won``, what the first system wins.
        """
        unknown = self.answers.filter(~pl.col("choice").is_in(list(WON)))
        if unknown.height:
            raise ParameterError(f"expected a, b, same or neither as choice, got '{unknown['choice'][0]}'")
        known = self.answers.join(self.problem.questions, on=["query", "a", "b"], how="semi", maintain_order="left")
        won = pl.col("choice").replace_strict(WON, return_dtype=pl.Float64)
        return known.select("query", "a", "b", "assessor", won=won)

    @cached_property
    def look(self) -> ListLook:
        """What the answers say, and whether to stop."""
        problem, counted = self.problem, self.counted
        estimates = estimate_shares(problem, counted)
        answers = counted.group_by("query", "a", "b").len()
        answered = counted.height
        complete = int((answers["len"] >= problem.needed).sum())
        state = PlainState(
            answered, complete, problem.questions.height, estimates.widest, "the widest interval of a pair"
        )
        decision, progress = check_plain(problem.stop, state), plain_progress(problem.stop, state)
        return ListLook(estimates, decision, progress, answers.height, problem.questions.height, answered)

    def _summary(self) -> Summary:
        """Show what it says at this moment."""
        return self.look._summary()


def estimate_shares(problem: ListProblem, answers: pl.DataFrame) -> ListEstimates:
    """Estimate the share that systems win against each other.

    Parameters
    ----------
    problem : ListProblem
    answers : polars.DataFrame
        ``query``, ``a``, ``b``, ``assessor`` and ``won``, in the order in which they were given.
    """
    index = {name: place for place, name in enumerate(problem.systems)}
    a, b = (np.array([index[pair[side]] for pair in problem.pairs], dtype=np.int64) for side in (0, 1))
    asked = {(first, second): count for first, second, count in problem.questions.group_by("a", "b").len().iter_rows()}
    numbered = answers.with_columns(
        pl.col(name).rank("dense").cast(pl.Int64).alias(f"{name}_number") for name in ("assessor", "query")
    )
    by_pair = dict(numbered.group_by("a", "b", maintain_order=True))
    parts = [by_pair.get(pair, numbered.clear()) for pair in problem.pairs]
    won = shares_won(
        [
            ComparedAnswers(*(part[name].to_numpy() for name in ("won", "assessor_number", "query_number")))
            for part in parts
        ],
        level=1 - (1 - problem.level) / max(len(parts), 1),
        anytime=problem.anytime,
    )
    ends = np.stack((np.where(np.isnan(won.share), EVEN, won.share), won.low, won.high))
    wins = np.zeros((3, len(problem.systems)))
    for side, values in ((a, ends), (b, 1 - ends[[0, 2, 1]])):
        for row, column in zip(wins, values, strict=True):
            np.add.at(row, side, column)
    opponents = np.bincount(np.concatenate((a, b)), minlength=len(problem.systems))
    nobody = np.array([EVEN, 0.0, 1.0])[:, None]
    estimate, low, high = np.where(opponents, wins / np.maximum(opponents, 1), nobody)
    merit = estimate.round(_DIGITS)
    return ListEstimates(
        problem.systems,
        problem.level,
        problem.anytime,
        estimate,
        low,
        high,
        np.searchsorted(np.sort(-merit), -merit).astype(np.int64) + 1,
        a,
        b,
        won.share,
        won.low,
        won.high,
        np.maximum(1 - max(len(parts), 1) * (1 - won.confidence), EVEN),
        won.these_low,
        won.these_high,
        queries=np.array([part["query"].n_unique() for part in parts], dtype=np.int64),
        asked=np.array([asked[pair] for pair in problem.pairs], dtype=np.int64),
        answers=np.array([part.height for part in parts], dtype=np.int64),
        assessors=won.assessors,
        identical=problem.identical,
        people=_people(answers),
    )


def _people(answers: pl.DataFrame) -> pl.DataFrame:
    """Return what the first system of a pair wins by the answers of each person."""
    shares = answers.group_by("a", "b", "assessor").agg(share=pl.col("won").mean(), answers=pl.len().cast(pl.Int64))
    return shares.sort("a", "b", "assessor").select(pl.lit("assessor").alias("kind"), pl.all())
