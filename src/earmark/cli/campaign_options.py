"""The options of commands that are about a campaign, and the campaign that they describe.

A command declares a class of its own, a :class:`CampaignOptions` that says which of the parts it has, and calls
:meth:`CampaignOptions.load`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from earmark.cli import folder, folder_views
from earmark.cli.command import option
from earmark.cli.options import (
    BELIEVING,
    ESTIMATING,
    JUDGING,
    MOST_DRAWS,
    Inputs,
    Judging,
    Known,
    OneMeasure,
    RequiredJudging,
    check_probability,
)
from earmark.cli.output import Output
from earmark.errors import ParameterError

if TYPE_CHECKING:
    from earmark.campaign.campaign import Campaign
    from earmark.campaign.policies.base import Policy
    from earmark.campaign.stopping import StopRule
    from earmark.campaign.verdict import Inference, Normalised
    from earmark.data.units import QueryUnits


@dataclass(frozen=True, kw_only=True)
class Predicting:
    """What predicts unjudged items.

    Parameters
    ----------
    predictor
        What predicts unjudged items: hierarchical learns which systems make the same errors; ordinal learns from the
        judgments so far, and from past collections with --model; forest, boosted (both need the extra learn),
        conditional-tree and conditional-forest do the same with trees (Buckers 2021); mtc-output and mtc-judge are the
        published models of Urbano and Schedl (2013) for music similarity; uniform takes every level as equally likely;
        external:FILE reads the predictions of another model, a score or one column per level.
    model
        A model fitted on past collections by 'earmark fit', for the predictor it was fitted for.
    """

    panel: ClassVar[str] = BELIEVING
    predictor: Annotated[str, option("NAME")] = "hierarchical"
    model: Annotated[Path | None, option("FILE", rare=True)] = None


@dataclass(frozen=True, kw_only=True)
class Concluding:
    """What verdicts rest on and what they are about.

    Parameters
    ----------
    inference
        What verdicts rest on: model, the predictions; design, a sample with known probabilities (policy proportional,
        or an audit), valid whatever the model.
    target
        What verdicts are about: sample, these queries; population, queries like these.
    anytime
        Widen all statements so that they hold however often you look; they start at 100 judgments.
    whole_queries
        Sample whole queries instead of items: the way to a guarantee for nDCG and other normalised measures.
    """

    panel: ClassVar[str] = BELIEVING
    inference: Annotated[Literal["model", "design"], option("NAME")] = "model"
    target: Annotated[Literal["sample", "population"], option("NAME")] = "sample"
    anytime: Annotated[bool, option()] = False
    whole_queries: Annotated[bool, option(panel=JUDGING, rare=True)] = False

    def units(self, metadata: Path | None, encoding: str) -> QueryUnits | None:
        """Return which queries belong together: every one is independent of all others."""
        return None

    def inference_at(self, level: float = 0.95, **how: Any) -> Inference:
        """Return how verdicts are reached; `how` are further fields of :class:`Inference`."""
        from earmark.campaign.verdict import Inference

        return Inference(self.inference, self.target, self.anytime, self.whole_queries, level, **how)


@dataclass(frozen=True, kw_only=True)
class ConcludingByUnit(Concluding):
    """What verdicts rest on, what they are about, and which queries belong together.

    Parameters
    ----------
    unit
        Which queries are not independent of each other, for --target population: a column of the metadata of queries
        that are documents, such as artist, or a file with two columns, query and unit.
    """

    unit: Annotated[str | None, option("COLUMN|FILE", rare=True)] = None

    def units(self, metadata: Path | None, encoding: str) -> QueryUnits | None:
        """Read which queries belong together."""
        from earmark.data.units import units_named

        return None if self.unit is None else units_named(self.unit, metadata=metadata, encoding=encoding)


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """How judgments were sampled, where they do not follow the order of this measure and seed.

    Parameters
    ----------
    sample
        For judgments of items that were drawn at random by other means than 'earmark next': uniform, if every item was
        as likely as any other; the measure for which earmark drew them, if that is another one; or a file with columns
        query, document and probability that says how likely each item of the pool was to be drawn, one by one. Needed
        for --inference design and --audit. All judgments count as drawn: leave out those that were not.
    """

    panel: ClassVar[str] = BELIEVING
    sample: Annotated[str | None, option("HOW")] = None


@dataclass(frozen=True, kw_only=True)
class Estimating:
    """How estimates are made.

    Parameters
    ----------
    level
        The probability that an interval holds; a pair with at least this confidence counts as decided.
    samples
        How often gains are drawn for a measure that is no weighted sum of them, such as nDCG.
    """

    panel: ClassVar[str] = ESTIMATING
    level: Annotated[float, option("P", callback=check_probability)] = 0.95
    samples: Annotated[int, option("N", min=2, max=MOST_DRAWS, rare=True)] = 1000


@dataclass(frozen=True, kw_only=True)
class Stopping:
    """When a campaign stops.

    Parameters
    ----------
    goal
        What you want to know: best, which system is the best; order, the order of all systems; baseline:NAME, which
        systems are better than NAME, baseline:NAME:0.1 by more than 0.1. The stop rule follows from it: the answer is
        known with a confidence of 0.95, but for differences up to --margin. When omitted, best.
    stop
        A stop rule in place of --goal: best:0.95:0.02 and order:0.95:0.02, a confidence and a margin;
        baseline:NAME:0.95:0.02; mean:0.95 or min:0.95, the mean or the least confidence over pairs; decided:0.9, the
        share of decided pairs; top:1, the best system is known; width:0.05, no wider interval; budget:500 judgments;
        none; or several with ' or ' between them. A rule about confidence or width has to hold at two looks in a row,
        ten answers apart.
    margin
        A difference of scores that does not matter: systems whose difference is surely smaller count as decided. When
        omitted, 0.02 with a goal, else 0.
    budget
        The most judgments to make: the campaign stops then, whatever is known.
    """

    panel: ClassVar[str] = JUDGING
    goal: Annotated[str | None, option("GOAL")] = None
    stop: Annotated[str | None, option("RULE")] = None
    margin: Annotated[float | None, option("D", min=0.0)] = None
    budget: Annotated[int | None, option("N", min=0)] = None

    @property
    def rule(self) -> StopRule:
        """The stop rule that the options ask for."""
        from earmark.campaign.stopping import DEFAULT_GOAL, stop_rule

        if self.goal is not None and self.stop is not None:
            raise ParameterError("--goal and --stop both say when to stop: leave one of them out")
        return stop_rule(self.stop, goal=self.goal or DEFAULT_GOAL, margin=self.margin, budget=self.budget)

    @property
    def plain(self) -> str:
        """The rule of a campaign that ends in intervals, as text; none where no option names one."""
        if self.goal is not None:
            raise ParameterError("--goal needs estimates of systems: use --stop width:0.2, --budget 200 or neither")
        if self.budget is not None and self.stop in (None, "none"):
            return f"budget:{self.budget}"
        return "none" if self.stop is None else str(self.rule)

    def settings(self) -> dict[str, Any]:
        """Return the settings ``estimates.stop`` and ``estimates.margin`` that the options ask for, without section."""
        rule = self.rule
        # A margin that was asked for is that of checks against a baseline too, whatever the rule.
        return {"stop": str(rule), "margin": rule.margin_apart if self.margin is None else self.margin}


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """What is judged next.

    Parameters
    ----------
    policy
        What to judge next: variance, the items that reduce the uncertainty about undecided pairs most, and to some
        extent that about scores (variance:pairs, about pairs alone; variance:top, about which system is best;
        variance:absolute, about the scores); proportional, a sample with known probabilities, for --inference design;
        mtc, the items that separate the most pairs of systems (Urbano and Schedl 2013); mtc-undecided, the same among
        undecided pairs; absolute, the items that the systems' own scores depend on most; random; or balanced, at
        random, with ten judgments of a system or none: one system is completed before another one is begun (Buckers
        2021). When omitted, variance; with --inference design and no audit, proportional.
    audit
        The share of judgments that follow a sample with known probabilities: it corrects the model where the policy
        would not look, and the model can be compared with a guaranteed estimate. When omitted, 0.25 with the policy
        variance, 0 with any other.
    """

    panel: ClassVar[str] = JUDGING
    policy: Annotated[str | None, option("NAME")] = None
    audit: Annotated[float | None, option("SHARE", min=0.0, max=1.0)] = None


@dataclass(frozen=True, kw_only=True)
class CampaignOptions:
    """The campaign that a command is about, in files or in its folder, and how it concludes.

    A command has the groups of options whose type is not optional. Of the others it takes the usual values, or those of
    the settings where the campaign is in a folder.
    """

    inputs: Inputs
    judging: Judging
    known: Known
    scoring: OneMeasure
    predicting: Predicting
    concluding: Concluding | None = None
    sampled: Sampled | None = None
    estimating: Estimating | None = None
    stopping: Stopping | None = None
    choosing: Choosing | None = None

    def load(
        self,
        out: Output,
        *,
        seed: int,
        distribution: Literal["normal", "t"] = "normal",
        normalised: Normalised | None = None,
        update_every: int | None = None,
        group_by_query: bool = False,
        as_it_is: bool = False,
    ) -> Campaign:
        """Read the campaign, and say what a reader of results has to know about it.

        Parameters
        ----------
        out : Output
        seed : int
        distribution : {"normal", "t"}
            Of differences.
        normalised : str, optional
            How normalised measures are estimated from independent beliefs.
        update_every : int, optional
            How many judgments a simulated campaign learns from at a time.
        group_by_query : bool
            Propose items of one query after the other.
        as_it_is : bool
            Refuse options that differ from the settings of a stored campaign.
        """
        path = folder.folder_of(self.inputs.runs)
        units = None if self.concluding is None else self.concluding.units(self.known.metadata, self.inputs.encoding)
        reached = {"distribution": distribution, "normalised": normalised, "units": units}
        also: dict[str, Any] = {} if update_every is None else {"update_every": update_every}
        campaign: Campaign
        sample = None if self.sampled is None else self.sampled.sample
        if path is not None and sample is not None:
            raise ParameterError(
                "--sample is about judgments in files: write those of the campaign to a file (earmark export), and "
                "give it with the runs"
            )
        if path is not None:
            wanted = self._settings(seed) | ({"judging.group_by_query": True} if group_by_query else {})
            campaign = folder_views.load_stored(out, path, wanted, as_it_is=as_it_is, reached=reached, **also)
        else:
            if sample is not None:
                from earmark.campaign.own_sample import OwnSample

                also["sample"] = OwnSample.parse(sample, encoding=self.inputs.encoding)
            campaign = self._read_files(reached, group_by_query, seed=seed, **also)
        for note in (*campaign.problem.notes, *campaign.notes):
            out.note(note)
        return campaign

    def _read_files(self, reached: Mapping[str, Any], group_by_query: bool, **how: Any) -> Campaign:
        from earmark.campaign.files import read_campaign
        from earmark.predictors.choose import PredictorChoice

        if self.concluding is not None:
            level = 0.95 if self.estimating is None else self.estimating.level
            how["inference"] = self.concluding.inference_at(level, **reached)
        return read_campaign(
            self.inputs.runs,
            judgments=self.judging.judgments,
            scale=self.judging.scale,
            known=self.known.files(self.inputs.encoding),
            order=self.inputs.order,
            measure=self.scoring.measure,
            missing=self.scoring.missing,
            predictor=PredictorChoice(self.predicting.predictor, self.predicting.model, self.inputs.encoding),
            aggregation=self.judging.aggregate,
            **how | self._estimates() | {"policy": self._policy(group_by_query)},
        )

    def _estimates(self) -> dict[str, Any]:
        """Return the options that have the same name in `Problem.build` and in the settings."""
        said: dict[str, Any] = {}
        if self.estimating is not None:
            said["samples"] = self.estimating.samples
        if self.stopping is not None:
            said |= self.stopping.settings()
        if self.choosing is not None:
            said |= {"policy": self.choosing.policy, "audit": self.choosing.audit}
        return said

    def _policy(self, group_by_query: bool) -> Policy | None:
        """Make the policy that is named, query by query where that is wanted."""
        from earmark.campaign.policies import make_policy
        from earmark.campaign.policies.variance import Variance

        named = None if self.choosing is None else self.choosing.policy
        policy = None if named is None else make_policy(named)
        if not group_by_query:
            return policy
        if policy is None:
            return Variance(group_by_query=True)
        if not isinstance(policy, Variance):
            raise ParameterError(f"--group-by-query is for the policy variance, '{policy}' cannot do it")
        return replace(policy, group_by_query=True)

    def _settings(self, seed: int) -> dict[str, Any]:
        """Return what options say by the names of settings, files as paths."""
        from earmark.measures.foreign_names import split_names

        measures = [str(one) for one in split_names(self.scoring.measure or ())]
        if len(measures) > 1:
            raise ParameterError(f"systems are compared by one measure at a time, got {', '.join(measures)}")
        name, _, predictions = self.predicting.predictor.partition(":")
        known = {one: getattr(self.known, one) for one in ("metadata", "teams", "content", "content_ids")}
        said: dict[str, Any] = {
            "estimates.measure": measures[0] if measures else None,
            "estimates.predictor": name,
            "estimates.aggregation": self.judging.aggregate,
            "inputs.missing": self.scoring.missing,
            "inputs.model": self.predicting.model,
            "inputs.artist": self.known.artist_column,
            "inputs.genre": self.known.genre_column,
            "inputs.attributes": tuple(self.known.attribute or ()),
            **{f"inputs.{one}": value for one, value in known.items()},
        }
        if predictions:
            said["inputs.predictions"] = Path(predictions)
        estimates = {"seed": seed, **self._estimates()}
        if self.concluding is not None:
            names = ("inference", "target", "anytime", "whole_queries")
            estimates |= {one: getattr(self.concluding, one) for one in names}
        if self.estimating is not None:
            estimates["level"] = self.estimating.level
        return said | {f"estimates.{one}": value for one, value in estimates.items()}


@dataclass(frozen=True, kw_only=True)
class RecordedCampaignOptions(CampaignOptions):
    """A campaign whose judgments have to be there; they are the truth that it is compared with."""

    judging: RequiredJudging
