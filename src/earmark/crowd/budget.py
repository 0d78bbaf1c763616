"""What paid answers cost and take, before anybody starts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from earmark.crowd.payment import Terms, round_up
from earmark.errors import ParameterError

# A share such as 1/6 must not cost one more answer by the last bits of a quotient.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Budget:
    """What a number of answers costs and takes.

    Attributes
    ----------
    answers, assignments : int
    reward : float
        Of one assignment.
    cost : float
        Rewards of all assignments, without what the platform charges.
    hours : float
        That all answers together take.
    minutes : float
        Of one assignment.
    hourly : float
        What an hour amounts to.
    fair_reward : float or None
        The least reward with which an hour is paid as promised; None where nothing was promised.
    """

    answers: int
    assignments: int
    reward: float
    cost: float
    hours: float
    minutes: float
    hourly: float
    fair_reward: float | None

    @property
    def missing(self) -> float:
        """By how much the reward of an assignment is too small."""
        return 0.0 if self.fair_reward is None else max(round(self.fair_reward - self.reward, 2), 0.0)


def plan_budget(terms: Terms, answers: int, *, seconds_per_answer: float = 30.0) -> Budget:
    """Return what a number of answers costs, traps among them.

    Examples
    --------
    >>> plan_budget(Terms(answers=20, reward=1.5, hourly_rate=12.0), 410).assignments
    21
    >>> plan_budget(Terms(answers=20, reward=1.5, hourly_rate=12.0), 410).missing
    0.5
    """
    if answers < 0:
        raise ParameterError(f"a number of answers is 0 or more, got {answers}")
    if not 0 < seconds_per_answer < math.inf:
        raise ParameterError(f"an answer takes more than 0 seconds, got {seconds_per_answer:g}")
    assignments = math.ceil(answers / terms.answers)
    hours_each = terms.answers * seconds_per_answer / 3600
    fair = None if terms.hourly_rate is None else round_up(terms.hourly_rate * hours_each)
    return Budget(
        answers,
        assignments,
        terms.reward,
        round(assignments * terms.reward, 2),
        answers * seconds_per_answer / 3600,
        60 * hours_each,
        terms.reward / hours_each,
        fair,
    )


def answers_needed(judgments: int, *, per_item: float = 1, trap_share: float = 0.0) -> int:
    """Return how many answers are to be paid for so many judged items: several people each, and traps on top.

    Examples
    --------
    >>> answers_needed(100, per_item=3, trap_share=0.2)
    375
    """
    return math.ceil(judgments * per_item / (1 - trap_share) - _ROUNDING)
