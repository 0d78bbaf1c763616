"""Where a campaign stands: a collection, what is judged of it, and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import Beliefs, assessor_gains, item_gains
from earmark.beliefs.exact import system_weights
from earmark.campaign.appraisal import Appraiser, Inference, Verdict, judging_measure
from earmark.campaign.loop import policy_state
from earmark.campaign.policies import Policy, Proposal, make_policy
from earmark.campaign.proportional import Audited, Proportional
from earmark.campaign.stopping import StopDecision, StopRule, StopState, parse_stop
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.content import Content
from earmark.data.display import Display, Summary
from earmark.data.given import refuse_paths
from earmark.data.judgments import Aggregation, Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs
from earmark.data.scales import Scale
from earmark.errors import ParameterError
from earmark.inference.audit import Audit
from earmark.inference.confidence import Ranking
from earmark.measures import Measure, parse
from earmark.predictors.base import Maker, Predictor, Setting
from earmark.predictors.choose import PredictorChoice
from earmark.predictors.content import count_known
from earmark.wording import counted


@dataclass(frozen=True, eq=False, repr=False)
class Standing(Display):
    """A collection, what is judged of it, and what is believed about the rest.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    measure : Measure
        What systems are compared by.
    predictor : Predictor
        What turned the judgments into beliefs.
    gains : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    beliefs : Beliefs
        About all items.
    judgments : Judgments, optional
        What is judged, as it was given.
    maker : callable, optional
        Makes such a predictor anew, so that what follows from judgments does not depend on how they came in.
    aggregation : {"mean", "median", "majority"}
        How to make one gain of several assessors' judgments.
    """

    setting: Setting
    measure: Measure
    predictor: Predictor
    gains: Floats
    beliefs: Beliefs
    judgments: Judgments | None = None
    maker: Maker | None = None
    aggregation: Aggregation = "mean"

    @property
    def judged(self) -> int:
        """How many items are judged."""
        return int(np.count_nonzero(self.gains >= 0))

    def judged_with(self, judgments: Judgments) -> Standing:
        """Return where the campaign stands with more judgments.

        Parameters
        ----------
        judgments : Judgments
            The new ones; those so far still count, and may be among these. Where an assessor judged an item again, the
            later judgment counts. A scale that was guessed gives way to that of the campaign.

        Raises
        ------
        InputError
            If a gain is off the scale of the campaign.
        ParameterError
            If they were made on another scale, or only some of all judgments name their assessors.
        """
        scale = self.setting.scale
        if not judgments.scale_guessed and judgments.scale != scale:
            raise ParameterError(f"the campaign judges on the scale {scale}, these judgments are on {judgments.scale}")
        on_scale = Judgments.from_frame(judgments.frame, scale=scale)
        known = on_scale if self.judgments is None else replace(self.judgments, scale=scale).with_more(on_scale)
        predictor = self.predictor if self.maker is None else self.maker(self.setting)
        gains = item_gains(self.setting.collection, known, aggregation=self.aggregation)
        beliefs = predictor.predict(gains, assessor_gains(self.setting.collection, known))
        return replace(self, predictor=predictor, gains=gains, beliefs=beliefs, judgments=known)

    def appraiser(self, inference: Inference | None = None, *, seed: int = 0, samples: int = 1000) -> Appraiser:
        """Return what reaches verdicts on this collection."""
        return Appraiser(self.setting, self.measure, self.predictor, inference=inference, seed=seed, samples=samples)

    def verdict(self, inference: Inference | None = None, *, seed: int = 0, samples: int = 1000) -> Verdict:
        """Say what follows for the systems, and what that rests on."""
        return self.appraiser(inference, seed=seed, samples=samples).appraise(self.beliefs)

    def ranking(self, *, level: float = 0.95, df: float | None = None, seed: int = 0, samples: int = 1000) -> Ranking:
        """Estimate the scores of all systems by the model and say how sure their order is."""
        return self.appraiser(Inference(level=level), seed=seed, samples=samples).appraise(self.beliefs, df=df).ranking

    def audit(self, *, seed: int = 0, whole_queries: bool = False) -> Audit:
        """Hold the model against what the sampled judgments guarantee.

        Parameters
        ----------
        seed : int
            Of the sample order: that of all proposals so far.
        whole_queries : bool
            The sample order goes query by query.

        Raises
        ------
        ParameterError
            If too few sampled items are judged.
        """
        return self.appraiser(Inference(whole_queries=whole_queries), seed=seed).audit(self.beliefs)

    def check_stop(
        self,
        stop: str | StopRule,
        *,
        margin: float = 0.0,
        inference: Inference | None = None,
        seed: int = 0,
        samples: int = 1000,
    ) -> StopDecision:
        """Say whether a stop rule is reached, and why or why not.

        Parameters
        ----------
        stop : str or StopRule
            For example ``top:1``, ``mean:0.95`` or ``decided:0.9``.
        margin : float
            The difference of scores that does not matter, for a rule that is given by its name.
        inference, seed, samples
            As for :meth:`verdict`.
        """
        rule = parse_stop(stop, margin=margin) if isinstance(stop, str) else stop
        return rule.check(StopState.from_ranking(self.verdict(inference, seed=seed, samples=samples).ranking))

    def propose(
        self,
        n: int = 20,
        *,
        policy: str | Policy = "variance",
        seed: int = 0,
        audit: float = 0.0,
        whole_queries: bool = False,
    ) -> pl.DataFrame:
        """Say what to judge next.

        Parameters
        ----------
        n : int
            How many items.
        policy, audit, whole_queries
            As for :meth:`proposal`.
        seed : int
            Among equally wanted items chance decides; also that of the sample order, the same for all of a campaign.

        Returns
        -------
        polars.DataFrame
            ``query``, ``document``, ``priority``, ``sampled``, the most wanted item first;
            :func:`earmark.write_questions` makes a file of it for people to fill in.
        """
        rng = np.random.default_rng(seed)
        chosen = self.proposal(policy, n, rng, seed=seed, audit=audit, whole_queries=whole_queries)
        return proposal_frame(self.setting.collection, chosen)

    def _summary(self) -> Summary:
        """Show the ranking by the model where it is cheap, and what it rests on."""
        collection = self.setting.collection
        counts = counted(len(collection.systems), "system"), counted(len(collection.queries), "query", "queries")
        sentence = (
            f"{', '.join(counts)}, {self.judged:,} of {counted(collection.n_items, 'item')} judged; {self.measure} by "
            f"{self.predictor.name}"
        )
        if not self.measure.is_linear:
            return Summary(sentence, notes=self.predictor.notes())
        seen = self.ranking()._summary()
        return Summary(sentence, seen.sheets[:1], [seen.sentence, *seen.notes, *self.predictor.notes()])

    def proposal(
        self,
        policy: str | Policy,
        n: int,
        rng: np.random.Generator,
        *,
        seed: int = 0,
        audit: float = 0.0,
        whole_queries: bool = False,
    ) -> Proposal:
        """Choose what to judge next.

        Parameters
        ----------
        policy : str or Policy
            How to choose.
        n : int
            How many items.
        rng : numpy.random.Generator
            Among equally wanted items chance decides.
        seed : int
            Of the sample order: the same for all of a campaign.
        audit : float, 0..1
            The share of items that follow the sample order.
        whole_queries : bool
            The sample order goes query by query.
        """
        chosen = make_policy(policy) if isinstance(policy, str) else policy
        chosen = Audited(chosen, audit) if audit else chosen
        appraiser = self.appraiser(Inference(whole_queries=whole_queries), seed=seed)
        samples = isinstance(chosen, Audited | Proportional)
        weights = system_weights(self.setting.collection, judging_measure(self.measure), scale=self.setting.scale)
        ranking = appraiser.by_model(self.beliefs)
        state = policy_state(self.setting, weights, self.beliefs, ranking, order=appraiser.order if samples else None)
        return chosen.propose(state, n, rng)


def stand(
    runs: Runs,
    judgments: Judgments | None = None,
    *,
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "hierarchical",
    metadata: Metadata | None = None,
    content: Content | None = None,
    teams: Mapping[str, str] | None = None,
    scale: Scale | None = None,
    aggregation: Aggregation = "mean",
) -> Standing:
    """Put together what a ranking rests on.

    Parameters
    ----------
    runs : Runs
        The ranked lists; what they hold within the measure's cutoff is what there is to judge.
    judgments : Judgments, optional
        What is judged so far.
    measure : str or Measure
        What systems are compared by.
    predictor : str or PredictorChoice
        ``hierarchical``, ``uniform``, ``mtc-output``, ``mtc-judge``, ``ordinal`` or ``external:FILE``.
    metadata : Metadata, optional
        What is known about the documents, for predictors that use it.
    content : Content, optional
        What the documents are like, which the predictor ``hierarchical`` uses.
    teams : mapping of str to str, optional
        Who sent which system.
    scale : Scale, optional
        The judging scale, where judgments do not tell it; else the one the predictor is made for.
    aggregation : {"mean", "median", "majority"}
        How to make one gain of several assessors' judgments.

    Raises
    ------
    InputError
        If the content is that of other documents.
    """
    refuse_paths(runs=runs, judgments=judgments, metadata=metadata, content=content)
    chosen = parse(measure) if isinstance(measure, str) else measure
    choice = PredictorChoice(predictor) if isinstance(predictor, str) else predictor
    known = scale or (choice.usual_scale() if judgments is None else judgments.scale)
    collection = Collection.from_runs(runs, depth=chosen.cutoff, metadata=metadata)
    if content is not None:
        count_known(collection, content)
    setting = Setting(collection, known, teams, content=content)
    made = choice(setting)
    if judgments is None:
        beliefs = made.predict(setting.unjudged)
        return Standing(setting, chosen, made, setting.unjudged, beliefs, None, choice, aggregation)
    gains = item_gains(collection, judgments, aggregation=aggregation)
    beliefs = made.predict(gains, assessor_gains(collection, judgments))
    return Standing(setting, chosen, made, gains, beliefs, judgments, choice, aggregation)


def proposal_frame(collection: Collection, proposal: Proposal) -> pl.DataFrame:
    """Return ``query``, ``document``, ``priority``, ``sampled``, the most wanted item first."""
    chosen = collection.item_frame()[proposal.items]
    return chosen.with_columns(priority=pl.Series(proposal.priority), sampled=pl.Series(proposal.sampled))
