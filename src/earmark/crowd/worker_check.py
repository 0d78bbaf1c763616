r"""Who is rejected: workers who answer much and fall into too many traps.

People who answer at random get half of the traps right, as there are two documents. A worker is *rejected* who gave at
least ``min_answers`` answers, traps among them, and got less than ``min_right`` of the traps right: 100 and 65% in
Stupar2013. A worker who gave fewer answers, or saw no trap, is *unchecked*; everybody else is *kept*. All answers of a
rejected worker are to be asked again of others.

**How often the rule is wrong.** With t traps and a probability p of getting one right, the number of right ones is
binomial, and a worker is rejected with probability

.. math:: P(\text{rejected}) = P\bigl(X < \lceil 0.65\, t \rceil\bigr), \qquad X \sim \text{Binomial}(t, p)

which for an honest worker is the risk of being wronged, and for one who cheats the chance of being found out.
:func:`expected_errors` adds these up. Twenty traps, as 120 answers bring them, find out .87 of those who toss a coin,
and wrong .0004 of those who get nine of ten right, but .03 of those who get eight of ten right.

References
----------
A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

from earmark.crowd.traps import refuse_contradictions, turn
from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, DisplayTable, Summary, facts, written_cells
from earmark.data.preferences import Preferences
from earmark.errors import InputError, ParameterError
from earmark.inference.proportions import normal_quantile, wilson_interval
from earmark.wording import counted

KEPT, REJECTED, UNCHECKED = "kept", "rejected", "unchecked"
# A share of traps such as 13 of 20 is 65% though 0.65 * 20 comes out a little above 13.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class RejectionRule:
    """When a worker is rejected.

    Parameters
    ----------
    min_answers : int
        Workers with fewer answers, traps among them, are not checked.
    min_right : float, in [0, 1]
        Workers who get a smaller share of their traps right are rejected.
    """

    min_answers: int = 100
    min_right: float = 0.65

    def __post_init__(self) -> None:
        if self.min_answers < 0:
            raise ParameterError(f"the least number of answers is 0 or more, got {self.min_answers}")
        if not 0 <= self.min_right <= 1:
            raise ParameterError(f"the least share of traps right lies between 0 and 1, got {self.min_right:g}")

    def needed(self, traps: npt.ArrayLike) -> Ints:
        """Return how many of so many traps have to be right."""
        return np.ceil(self.min_right * np.asarray(traps) - _ROUNDING).astype(np.int64)

    def checks(self, answers: npt.ArrayLike, traps: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell which workers are checked at all."""
        checked: npt.NDArray[np.bool_] = (np.asarray(answers) >= self.min_answers) & (np.asarray(traps) > 0)
        return checked

    def rejection_probability(self, answers: npt.ArrayLike, traps: npt.ArrayLike, accuracy: float) -> Floats:
        """Return how likely workers are to be rejected who get each trap right with this probability.

        Examples
        --------
        >>> RejectionRule().rejection_probability(120, 20, 0.5).round(4).item()
        0.8684
        """
        if not 0 <= accuracy <= 1:
            raise ParameterError(f"the probability of getting a trap right lies between 0 and 1, got {accuracy:g}")
        seen = np.asarray(traps, dtype=np.float64)
        most = self.needed(seen) - 1.0
        fails = np.where(
            most >= 0, special.bdtr(np.maximum(most, 0), np.maximum(seen, 1).astype(np.int64), accuracy), 0
        )
        return np.where(self.checks(answers, traps), fails, 0.0)


@dataclass(frozen=True, repr=False)
class ExpectedErrors(Display):
    """How many workers a rule is expected to judge wrongly.

    Attributes
    ----------
    honest, cheaters : float
        How many workers of either kind there are, or are supposed to be.
    honest_rejected : float
        How many honest workers are expected to be rejected.
    cheaters_missed : float
        How many cheaters are expected not to be.
    honest_accuracy, cheater_accuracy : float
        The probabilities of getting a trap right.
    """

    honest: float
    cheaters: float
    honest_rejected: float
    cheaters_missed: float
    honest_accuracy: float
    cheater_accuracy: float

    def _summary(self) -> Summary:
        """Show who is expected to be judged wrongly."""
        wronged, missed = written_cells([self.honest_rejected, self.cheaters_missed])
        return Summary(f"{wronged} honest workers rejected and {missed} cheaters missed", [facts(**asdict(self))])


def expected_errors(
    answers: npt.ArrayLike,
    traps: npt.ArrayLike,
    *,
    rule: RejectionRule,
    cheater_share: float = 0.1,
    honest_accuracy: float = 0.9,
    cheater_accuracy: float = 0.5,
) -> ExpectedErrors:
    """Return how many workers a rule is expected to judge wrongly.

    Parameters
    ----------
    answers, traps : array-like of int, shape (workers,)
        How many answers each worker gives, traps among them, and how many traps.
    rule : RejectionRule
        When a worker is rejected.
    cheater_share : float, in [0, 1]
        What share of the workers cheats; every worker is as likely to.
    honest_accuracy, cheater_accuracy : float, in [0, 1]
        The probabilities with which an honest worker and a cheater get a trap right.

    Examples
    --------
    >>> errors = expected_errors(np.full(100, 120), np.full(100, 20), rule=RejectionRule())
    >>> round(errors.honest_rejected, 2), round(errors.cheaters_missed, 2)
    (0.04, 1.32)
    """
    if not 0 <= cheater_share <= 1:
        raise ParameterError(f"the share of cheaters lies between 0 and 1, got {cheater_share:g}")
    wronged = rule.rejection_probability(answers, traps, honest_accuracy)
    found = rule.rejection_probability(answers, traps, cheater_accuracy)
    workers = wronged.size
    return ExpectedErrors(
        (1 - cheater_share) * workers,
        cheater_share * workers,
        (1 - cheater_share) * float(wronged.sum()),
        cheater_share * float((1 - found).sum()),
        honest_accuracy,
        cheater_accuracy,
    )


@dataclass(frozen=True, eq=False, repr=False)
class WorkerCheck(Display):
    """What the traps say about every worker.

    Attributes
    ----------
    preferences : Preferences
        All answers, traps among them.
    rule : RejectionRule
        When a worker is rejected.
    workers : polars.DataFrame
        One row per worker: ``assessor``, ``answers`` (traps among them), ``traps``, ``right``, ``share`` with ``low``
        and ``high`` (Wilson's interval; null where there were no traps), ``decision`` (kept, rejected or unchecked) and
        ``reason``.
    """

    preferences: Preferences
    rule: RejectionRule
    workers: pl.DataFrame

    @cached_property
    def rejected(self) -> tuple[str, ...]:
        """The workers who are rejected."""
        return tuple(self.workers.filter(pl.col("decision") == REJECTED)["assessor"])

    def _summary(self) -> Summary:
        """Show the workers, those who are rejected first, then by their share of traps."""
        counts = {name: int((self.workers["decision"] == name).sum()) for name in (REJECTED, KEPT, UNCHECKED)}
        told = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        place = pl.col("decision").replace_strict({name: place for place, name in enumerate(counts)})
        frame = self.workers.sort(place, "share", nulls_last=True, maintain_order=True)
        frame = frame.select("assessor", "decision", "answers", "traps", "right", "share", "low", "high")
        rule = f"rejected with {self.rule.min_answers:,} answers or more and less than {self.rule.min_right:.0%} right"
        return Summary(f"{counted(self.workers.height, 'worker')}: {told}", [DisplayTable(frame)], [rule])

    @cached_property
    def _is_rejected(self) -> npt.NDArray[np.bool_]:
        return self.preferences.frame["assessor"].is_in(self.rejected).to_numpy()

    def kept_answers(self) -> Preferences:
        """Return the answers of everybody who is not rejected, those to traps among them.

        Raises
        ------
        InputError
            If nobody is left.
        """
        if self._is_rejected.all():
            raise InputError(expected="a worker who is not rejected", got=f"all {len(self.rejected)} rejected")
        return self.preferences.keep(~self._is_rejected)

    def ask_again(self) -> pl.DataFrame:
        """Return the questions that rejected workers answered, for others to answer.

        Returns
        -------
        polars.DataFrame
            ``query``, ``a``, ``b`` (as they were first shown), where known ``question`` and ``phase``, ``assessors``
            (how many answers were lost) and ``left`` (how many there still are). Traps are not asked again.
        """
        regular = self.preferences.keep(~self.preferences.is_trap)
        lost = regular.frame["assessor"].is_in(self.rejected)
        number = pl.Series("number", regular.pairs().answer_pair)
        known = [name for name in ("question", "phase") if name in regular.frame.columns]
        rows = regular.frame.select("query", "a", "b", *known).with_columns(number, lost.alias("lost"))
        apart = ["number", *(["phase"] if "phase" in known else [])]
        return (
            rows.group_by(apart, maintain_order=True)
            .agg(
                pl.col(name for name in ("query", "a", "b", "question") if name in rows.columns).first(),
                pl.col("lost").sum().cast(pl.Int64).alias("assessors"),
                (~pl.col("lost")).sum().cast(pl.Int64).alias("left"),
            )
            .filter(pl.col("assessors") > 0)
            .select("query", "a", "b", *known, "assessors", "left")
        )

    def expected_errors(
        self, *, cheater_share: float = 0.1, honest_accuracy: float = 0.9, cheater_accuracy: float = 0.5
    ) -> ExpectedErrors:
        """Return how many workers the rule is expected to judge wrongly, given what each answered and saw."""
        return expected_errors(
            self.workers["answers"].to_numpy(),
            self.workers["traps"].to_numpy(),
            rule=self.rule,
            cheater_share=cheater_share,
            honest_accuracy=honest_accuracy,
            cheater_accuracy=cheater_accuracy,
        )


def check_workers(preferences: Preferences, *, rule: RejectionRule | None = None, level: float = 0.95) -> WorkerCheck:
    """Decide by their answers to traps which workers to reject.

    Parameters
    ----------
    preferences : Preferences
        Answers, those to traps marked by what they expected. An answer of ``same`` to a trap that expects a document is
        wrong.
    rule : RejectionRule, optional
        When a worker is rejected; by default with 100 answers or more and less than 65% of the traps right.
    level : float, in (0, 1)
        The probability with which the interval for a worker's share holds.

    Raises
    ------
    InputError
        If there are no answers to traps, or traps contradict each other.
    """
    rule = RejectionRule() if rule is None else rule
    quantile = normal_quantile(level)
    frame = preferences.frame
    is_trap = preferences.is_trap
    if not is_trap.any():
        raise InputError(
            expected="answers to traps",
            got="none",
            hint="a column 'trap' says which choice was expected; a file of traps can be given apart",
        )
    refuse_contradictions(turn(frame.filter(is_trap), (frame["a"] > frame["b"]).filter(pl.Series(is_trap)).to_numpy()))
    size = len(preferences.assessors)
    who = preferences.assessor_index
    right = (frame["trap"] == frame["choice"]).fill_null(False).to_numpy()
    answers, traps = np.bincount(who, minlength=size), np.bincount(who[is_trap], minlength=size)
    passed = np.bincount(who[is_trap & right], minlength=size)
    share = np.divide(passed, traps, out=np.full(size, np.nan), where=traps > 0)
    low, high = wilson_interval(share, traps, quantile)
    checked = rule.checks(answers, traps)
    decision = np.where(checked, np.where(passed < rule.needed(traps), REJECTED, KEPT), UNCHECKED)
    table = pl.DataFrame(
        {
            "assessor": pl.Series(preferences.assessors, dtype=pl.String),
            "answers": answers,
            "traps": traps,
            "right": passed,
            "share": pl.Series(share, nan_to_null=True),
            "low": pl.Series(low, nan_to_null=True),
            "high": pl.Series(high, nan_to_null=True),
            "decision": pl.Series(decision.tolist(), dtype=pl.String),
        }
    )
    return WorkerCheck(preferences, rule, table.with_columns(_reasons(rule).alias("reason")))


def _reasons(rule: RejectionRule) -> pl.Expr:
    """Say in words why a worker is kept, rejected or unchecked."""
    few = pl.format("fewer than {} answers", pl.lit(rule.min_answers))
    counts = pl.format("{} of {} traps right", pl.col("right"), pl.col("traps"))
    least = f"{100 * rule.min_right:g}%"
    return (
        pl.when(pl.col("answers") < rule.min_answers)
        .then(few)
        .when(pl.col("traps") == 0)
        .then(pl.lit("saw no traps"))
        .when(pl.col("decision") == REJECTED)
        .then(counts + f", below {least}")
        .otherwise(counts)
    )
