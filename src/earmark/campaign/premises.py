"""What a verdict presupposes, and what is said where it does not hold.

A verdict by the model is right as far as its premises are. Each is a :class:`Premise`: a name, what it presupposes,
what its failure does to the verdict, and a check, a pure function of :class:`Grounds`. They are checked in one place,
:func:`failed_premises`, whenever a campaign concludes. What failed goes with the ranking, so that the command line,
the report, the dashboard, stop rules and Python all say the same.

A new premise is a check and a row of :data:`PREMISES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from earmark.beliefs.beliefs import Beliefs
from earmark.campaign.evidence import Evidence
from earmark.campaign.problem import Problem
from earmark.inference.chosen_judgments import FEWEST, ChoiceTest, choice_test
from earmark.inference.confidence import Ranking
from earmark.inference.premises import FailedPremise, Severity
from earmark.predictors.base import Predictor
from earmark.wording import counted, percent


@dataclass(frozen=True, eq=False)
class Grounds:
    """What a verdict rests on.

    Attributes
    ----------
    problem : Problem
    evidence : Evidence
        What was answered.
    beliefs : Beliefs
        What follows for items.
    ranking : Ranking
        What follows for systems.
    """

    problem: Problem
    evidence: Evidence
    beliefs: Beliefs
    ranking: Ranking


@dataclass(frozen=True)
class Failure:
    """How a premise fails: the end of the headline, and a sentence under it."""

    clause: str
    note: str


@dataclass(frozen=True)
class Premise:
    """Something that verdicts presuppose.

    Attributes
    ----------
    name : str
    states : str
        What is presupposed, in a sentence.
    severity : {"withhold", "claim", "note"}
        What its failure does to a verdict.
    check : callable
        Given :class:`Grounds`, how the premise fails; None where it holds.
    """

    name: str
    states: str
    severity: Severity
    check: Callable[[Grounds], Failure | None]


def _choice_honest(grounds: Grounds) -> Failure | None:
    problem, items = grounds.problem, grounds.evidence.outside
    if problem.inference.mode != "model" or problem.model.errors != "correlated" or items.size < FEWEST:
        return None
    if grounds.beliefs.judged.all():
        return None  # Nothing is left that could be worse.
    top, before = float(problem.scale.top), problem.expectations
    mean_of_items = csr_array(
        (np.full(items.size, 1.0 / (top * items.size)), items, [0, items.size]), shape=(1, before.n_items)
    )
    test = choice_test(
        grounds.evidence.gains[items] / top,
        before.mean[items] / top,
        before.variance[items] / top**2,
        float(before.quadratic(mean_of_items)[0, 0]),
    )
    return chosen_for_gain(test) if test.suspicious else None


def chosen_for_gain(test: ChoiceTest) -> Failure:
    """Say that judged items were chosen because they are good."""
    return Failure(
        "but the level of scores is not to be trusted: items were probably judged because they are good",
        f"the mean of {test.judgments:,} judgments from outside the campaign is {percent(test.mean)}% of the top gain "
        f"where {percent(test.expected)}% was expected of such items, and bad ones are missing, as in clicks and in "
        "lists of positives: judge a sample of your own and use --inference design",
    )


MOST_PRIOR = 0.4
"""Where more than this share of the prior variance of the differences is left, the prior outweighs the judgments."""


def explained_share(grounds: Grounds) -> float:
    r"""Return the share of the prior variance of the differences between systems that judgments explain, 0..1.

    With :math:`\Sigma` the covariance of gains given the judgments, :math:`\Sigma_0` that under the same variances of
    effects without any, and :math:`W` the weights of the measure,

    .. math:: 1 - \frac{\sum_{A<B} (W_A - W_B) \Sigma (W_A - W_B)^T}{\sum_{A<B} (W_A - W_B) \Sigma_0 (W_A - W_B)^T}.

    In a normal model, a posterior mean is the mean of prior and data with weights of this share and what it lacks to 1.
    """
    weights, beliefs = grounds.problem.weights, grounds.beliefs
    after, before = (_total_variance(one.quadratic(weights)) for one in (beliefs, beliefs.without_judgments()))
    return 1.0 - after / before if before > 0 else 1.0


def _total_variance(covariance: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    """Return the sum of the variances of all differences, given the covariance of scores."""
    return float(len(covariance) * np.trace(covariance) - covariance.sum())


def _prior_outweighed(grounds: Grounds) -> Failure | None:
    problem = grounds.problem
    if problem.inference.mode != "model" or problem.model.errors != "correlated":
        return None
    share = explained_share(grounds)
    return None if share >= 1.0 - MOST_PRIOR else too_early(share)


def too_early(share: float) -> Failure:
    """Say that judgments explain too little: a share of the prior variance."""
    needed = percent(1.0 - MOST_PRIOR)
    return Failure(
        "but it is too early: this is still largely what is expected of any such systems",
        f"judgments explain {percent(max(share, 0.0))}% of what is uncertain about the differences between systems; "
        f"from {needed}% on, pairs are called decided",
    )


def _errors_modelled(grounds: Grounds) -> Failure | None:
    problem = grounds.problem
    if problem.inference.mode != "model" or problem.model.errors == "correlated" or grounds.beliefs.judged.all():
        return None
    return claimed_by(problem.model)


def claimed_by(model: Predictor | type[Predictor]) -> Failure:
    """Say that a verdict is what a model claims that takes errors as independent."""
    measured = model.measured
    held = "how often its 95% intervals hold was not measured"
    if measured is not None:
        held = (
            f"its 95% intervals held {_range(measured.pairs)} of the differences and {_range(measured.systems)} of the "
            "scores where the truth was known"
        )
    return Failure(
        f"as the {'published ' if model.published else ''}model {model.name} claims: {held}",
        f"{model.name} takes errors of predictions as independent, and they are not: its intervals are too narrow and "
        "its confidence is too high (earmark diagnose measures it where judgments are complete)",
    )


def _range(shares: tuple[float, float]) -> str:
    return f"{100 * shares[0]:.0f} to {100 * shares[1]:.0f}%"


RARE = 0.05
"""Below this expected share of the top gain, averaged over items, relevance is rare."""
RARE_FROM = 20
"""From so many judged items on, that is known of a collection."""
FEW_LEVELS = 5
"""On scales of more levels, a low mean gain does not mean that nearly all items have the same one."""


def _relevance_common(grounds: Grounds) -> Failure | None:
    problem, beliefs = grounds.problem, grounds.beliefs
    scale, judged = problem.scale, int(beliefs.judged.sum())
    if problem.inference.mode != "model" or problem.model.errors != "correlated" or judged < RARE_FROM:
        return None
    if beliefs.judged.all() or scale.continuous or len(scale.gains) > FEW_LEVELS:
        return None
    mean = float(beliefs.mean.mean()) / float(scale.top)
    return rare_relevance(judged, mean) if mean < RARE else None


def rare_relevance(judged: int, mean: float) -> Failure:
    """Say that relevance is rare: after so many judgments, the expected share of the top gain of an item."""
    return Failure(
        "but relevance is rare: intervals of scores are narrower than they should be",
        f"relevance is rare: after {counted(judged, 'judgment')}, an item is expected to have {percent(mean)}% of the "
        "top gain; intervals of scores are narrower than they should be, and differences come out too large",
    )


PREMISES: tuple[Premise, ...] = (
    Premise(
        "items are not judged because they are good",
        "Who chose the items that were judged did not look at how good they are.",
        "withhold",
        _choice_honest,
    ),
    Premise(
        "judgments outweigh the prior",
        "More of what is concluded comes from judgments than from what is expected of any such systems.",
        "withhold",
        _prior_outweighed,
    ),
    Premise(
        "errors are modelled",
        "The model knows that errors of predictions are alike for items of one query, system, artist or genre.",
        "claim",
        _errors_modelled,
    ),
    Premise(
        "relevance is not rare",
        "Errors of scores are about symmetric, as they are unless nearly all items have the lowest gain.",
        "note",
        _relevance_common,
    ),
)
"""All premises, the gravest first: the first that fails speaks in the headline."""


def failed_premises(grounds: Grounds) -> tuple[FailedPremise, ...]:
    """Check all premises; return those that fail, in their order."""
    checked = ((premise, premise.check(grounds)) for premise in PREMISES)
    return tuple(
        FailedPremise(premise.name, premise.severity, failure.clause, failure.note)
        for premise, failure in checked
        if failure is not None
    )
