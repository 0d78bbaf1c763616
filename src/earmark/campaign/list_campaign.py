r"""A campaign in which people compare two result lists side by side: which of two systems answers queries better.

A question shows the lists of two systems for a query, and an assessor says which is better (a or b), that both are
equally good (same) or equally bad (neither). On a query, a system wins 1 where its list is better, ½ where neither is;
answers of several assessors about the same query are averaged, so a query counts once however many people saw it.

What is estimated is the **share won** by system a against system b: the mean over queries, among those for which the
two lists differ. Its interval is a confidence sequence for bounded observations
(:mod:`earmark.inference.bounded_means`), so it holds at all looks together: people may look after every answer and
stop when it is narrow. It is about *queries like these*, of which those asked are a random part, because questions
are asked in a drawn order. A pair is decided when the interval excludes ½; the confidence in its order is one minus
the p-value of a share of ½, which holds at all looks too and reaches the level at the same moment.

The **ranking of systems** goes by the mean of the shares that a system wins against every other. Its interval is the
mean of the intervals of its pairs, each at the level :math:`1 - \alpha / n` with :math:`n` pairs (Bonferroni), hence
wide; two systems are compared by their own pair.

Conventions:

- *No answer yet*: a pair nobody answered has no share and the interval [0, 1]. In the mean of a system it counts as ½.
- *Identical lists*: two systems whose lists never differ are not compared. They are listed apart and are in no mean.
- *One query* excludes nothing: the interval is [0, 1].
- *More answers about a query* move its outcome after it was counted. The guarantee is exact where queries get one
  answer each. In simulations with three answers a query and a look after each of them, it held as well
  (``tests/campaign/test_list_coverage.py``).
- *Level*: each interval holds with the given probability, not all pairs together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from earmark.campaign.list_estimates import EVEN, ListEstimates
from earmark.campaign.stopping import Never, Progress, StopDecision, StopRule
from earmark.campaign.stopping.plain import PlainState, check_plain, plain_progress
from earmark.data.display import Display, Summary
from earmark.errors import ParameterError
from earmark.inference.bounded_means import betting_confidence, betting_intervals
from earmark.inference.proportions import require_level

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
        The probability that the interval of a pair holds at all looks.
    """

    systems: tuple[str, ...]
    questions: pl.DataFrame
    needed: int = 1
    stop: StopRule = field(default_factory=Never)
    level: float = 0.95

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
    def outcomes(self) -> pl.DataFrame:
        """What the first system won on every answered query, in the order of first answers.

        Returns
        -------
        polars.DataFrame
            ``query``, ``a``, ``b``, ``won`` (the mean over assessors) and ``answers``.
        """
        unknown = self.answers.filter(~pl.col("choice").is_in(list(WON)))
        if unknown.height:
            raise ParameterError(f"expected a, b, same or neither as choice, got '{unknown['choice'][0]}'")
        known = self.answers.join(self.problem.questions, on=["query", "a", "b"], how="semi", maintain_order="left")
        won = pl.col("choice").replace_strict(WON, return_dtype=pl.Float64)
        return known.group_by("query", "a", "b", maintain_order=True).agg(
            won=won.mean(), answers=pl.len().cast(pl.Int64)
        )

    @cached_property
    def look(self) -> ListLook:
        """What the answers say, and whether to stop."""
        problem, outcomes = self.problem, self.outcomes
        estimates = estimate_shares(problem, outcomes)
        answered = int(outcomes["answers"].sum())
        complete = int((outcomes["answers"] >= problem.needed).sum())
        state = PlainState(
            answered, complete, problem.questions.height, estimates.widest, "the widest interval of a pair"
        )
        decision, progress = check_plain(problem.stop, state), plain_progress(problem.stop, state)
        return ListLook(estimates, decision, progress, outcomes.height, problem.questions.height, answered)

    def _summary(self) -> Summary:
        """Show what it says at this moment."""
        return self.look._summary()


def estimate_shares(problem: ListProblem, outcomes: pl.DataFrame) -> ListEstimates:
    """Estimate the share that systems win against each other.

    Parameters
    ----------
    problem : ListProblem
    outcomes : polars.DataFrame
        ``query``, ``a``, ``b``, ``won`` and ``answers``, in the order in which queries were first answered.
    """
    names = {name: index for index, name in enumerate(problem.systems)}
    a, b = (np.array([names[pair[side]] for pair in problem.pairs], dtype=np.int64) for side in (0, 1))
    asked = {(one, other): count for one, other, count in problem.questions.group_by("a", "b").len().iter_rows()}
    found = {(one, other): part for (one, other), part in outcomes.group_by("a", "b", maintain_order=True)}
    parts = [found.get(pair, outcomes.clear()) for pair in problem.pairs]
    won = [part["won"].to_numpy() for part in parts]
    low, high = betting_intervals(won, level=problem.level)
    share = np.array([one.mean() if one.size else np.nan for one in won], dtype=np.float64)
    n_systems = len(problem.systems)
    opponents = np.bincount(np.concatenate((a, b)), minlength=n_systems)
    estimate, system_low, system_high = np.full(n_systems, EVEN), np.zeros(n_systems), np.ones(n_systems)
    # Systems differ in how many others they are compared with only where some lists never differ.
    for count in np.unique(opponents[opponents > 0]).tolist():
        wide_low, wide_high = betting_intervals(won, level=1 - (1 - problem.level) / count)
        for system in np.flatnonzero(opponents == count):
            first, second = a == system, b == system
            known = np.where(np.isnan(share), EVEN, share)
            estimate[system] = np.concatenate((known[first], 1 - known[second])).mean()
            system_low[system] = np.concatenate((wide_low[first], 1 - wide_high[second])).mean()
            system_high[system] = np.concatenate((wide_high[first], 1 - wide_low[second])).mean()
    merit = estimate.round(_DIGITS)
    return ListEstimates(
        problem.systems,
        problem.level,
        estimate,
        system_low,
        system_high,
        np.searchsorted(np.sort(-merit), -merit).astype(np.int64) + 1,
        a,
        b,
        share,
        low,
        high,
        betting_confidence(won, EVEN, level=problem.level),
        queries=np.array([part.height for part in parts], dtype=np.int64),
        asked=np.array([asked[pair] for pair in problem.pairs], dtype=np.int64),
        answers=np.array([part["answers"].sum() for part in parts], dtype=np.int64),
        identical=problem.identical,
    )
