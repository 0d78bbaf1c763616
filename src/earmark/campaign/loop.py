"""The loop of a campaign: believe, estimate, decide whether to stop, ask, and again.

A live campaign, a round trip of files and a simulation differ only in who answers, so the loop asks a function. Between
two updates of the predictor an answer only fixes the gain of its own item; a campaign that updates after every
batch learns most, and the papers update every 20 judgments.

Where a verdict needs a sample or a first look, the campaign starts by judging that much before it says anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from earmark.beliefs.beliefs import Beliefs, IndependentBeliefs
from earmark.beliefs.exact import Sparse, system_weights
from earmark.campaign.appraisal import Appraiser, Inference, Verdict, judging_measure
from earmark.campaign.policies import Policy, PolicyState
from earmark.campaign.proportional import Audited, Proportional
from earmark.campaign.stopping import Budget, StopDecision, StopRule, StopState
from earmark.data.arrays import Floats, Ints
from earmark.data.display import Display, Summary
from earmark.errors import ParameterError
from earmark.inference.anytime import FIRST_LOOK
from earmark.inference.audit import Audit
from earmark.inference.confidence import Ranking
from earmark.inference.design_based import MINIMUM_SAMPLE
from earmark.inference.design_normalised import MINIMUM_QUERIES
from earmark.inference.sampling_design import JudgingOrder
from earmark.measures import Measure
from earmark.predictors.base import Predictor, Setting

Ask = Callable[[Ints], Floats]


@dataclass(frozen=True, eq=False, repr=False)
class Look(Display):
    """A campaign at one moment.

    Attributes
    ----------
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    beliefs : Beliefs
        What is believed about the items.
    verdict : Verdict
        What follows for the systems, and what that rests on.
    decision : StopDecision
        Whether to stop here, and why.
    audit : Audit or None
        Whether the model agrees with what the sample guarantees, where a campaign is audited.
    """

    judged_gain: Floats
    beliefs: Beliefs
    verdict: Verdict
    decision: StopDecision
    audit: Audit | None = None

    @property
    def ranking(self) -> Ranking:
        """The systems in order, with intervals and confidence."""
        return self.verdict.ranking

    @property
    def judged(self) -> int:
        """How many items are judged."""
        return self.ranking.estimates.judged

    def _summary(self) -> Summary:
        """Show the verdict, whether to stop, and what an audit says."""
        seen = self.verdict._summary()
        said = [f"{'stop' if self.decision.stop else 'go on'}: {self.decision.reason}"]
        audited = [] if self.audit is None else [str(self.audit)]
        return Summary(seen.sentence, seen.sheets, [*said, *audited, *seen.notes])


def play(
    setting: Setting,
    *,
    predictor: Predictor,
    policy: Policy,
    stop: StopRule,
    measure: Measure,
    ask: Ask,
    rng: np.random.Generator,
    batch: int = 20,
    update_every: int = 20,
    seed: int = 0,
    inference: Inference | None = None,
    audit: float = 0.0,
    judged_gain: Floats | None = None,
) -> Iterator[Look]:
    """Go through a campaign, one look per batch, until the stop rule says so or everything is judged.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    predictor, policy, stop : Predictor, Policy, StopRule
        What to believe, what to ask and when to stop.
    measure : Measure
        What systems are compared by.
    ask : callable
        Given items, returns the gains they are judged to have.
    rng : numpy.random.Generator
        Where policies draw from.
    batch : int
        How many items are judged between two looks.
    update_every : int
        How many judgments a predictor with independent beliefs waits for before it learns from them; the others learn
        from every batch.
    seed : int
        Of the sample order, and where Monte Carlo estimates start.
    inference : Inference, optional
        How verdicts are reached; by default by the model, about these queries.
    audit : float, 0..1
        The share of judgments that follow the sample order, whatever the policy wants.
    judged_gain : ndarray of float, shape (items,), optional
        Where the campaign goes on from: the gain of every item judged so far, negative for the others.
    """
    if batch < 1 or update_every < 1:
        raise ParameterError(f"a batch and the wait between updates are 1 or more, got {batch} and {update_every}")
    appraiser = Appraiser(setting, measure, predictor, inference=inference, seed=seed)
    check_sampled(policy, audit, appraiser.inference)
    chosen = Audited(policy, audit) if audit else policy
    samples = isinstance(chosen, Audited | Proportional)
    weights = system_weights(setting.collection, judging_measure(measure), scale=setting.scale)
    gains, waiting = setting.unjudged if judged_gain is None else judged_gain, 0
    beliefs = predictor.predict(gains)
    while True:
        if appraiser.ready(gains):
            verdict = appraiser.appraise(beliefs)
            decision = stop.check(StopState.from_ranking(verdict.ranking))
            held_against = appraiser.audit(beliefs) if audit and appraiser.can_audit(gains) else None
            yield Look(gains, beliefs, verdict, decision, held_against)
            if decision.stop:
                return
            ranking = verdict.ranking
        else:
            ranking = appraiser.by_model(beliefs)
        state = policy_state(
            setting, weights, beliefs, ranking, target=stop.pair_confidence, order=appraiser.order if samples else None
        )
        items = chosen.propose(state, _room(stop, beliefs.n_judged, batch), rng).items
        if not items.size:
            raise ParameterError(
                f"{stop} ends the campaign before there is anything to say: by design at least {MINIMUM_SAMPLE} "
                f"sampled judgments are needed, or {MINIMUM_QUERIES} whole queries, and at any time {FIRST_LOOK} "
                "judgments"
            )
        answers = ask(items)
        gains = gains.copy()
        gains[items] = answers
        waiting += items.size
        if waiting >= update_every or not isinstance(beliefs, IndependentBeliefs):
            beliefs, waiting = predictor.predict(gains), 0
        else:
            beliefs = beliefs.judge(items, answers)


def policy_state(
    setting: Setting,
    weights: Sparse,
    beliefs: Beliefs,
    ranking: Ranking,
    *,
    target: float = 0.95,
    order: JudgingOrder | None = None,
) -> PolicyState:
    """Tell a policy all there is to know."""
    return PolicyState(
        collection=setting.collection,
        weights=weights,
        judged=beliefs.judged,
        confidence=ranking.confidence,
        identical=ranking.estimates.identical,
        target=target,
        beliefs=beliefs,
        scores=ranking.merit,
        sample_order=order,
    )


def check_sampled(policy: Policy, audit: float, inference: Inference) -> None:
    """Refuse a guarantee without a sample."""
    if inference.mode == "design" and not audit and not isinstance(policy, Proportional):
        raise ParameterError(
            f"--inference design needs a sample with known probabilities, and the policy {policy} draws none: "
            "use --policy proportional, or an audit beside it (--audit 0.2)"
        )


def _room(stop: StopRule, judged: int, batch: int) -> int:
    """Return how much of a batch a budget still allows."""
    return min(batch, stop.judgments - judged) if isinstance(stop, Budget) else batch
