"""What a method would have been worth on a collection that is judged: campaigns and a diagnosis, in one call each.

>>> import earmark, numpy
>>> made = earmark.synthetic_collection(numpy.random.default_rng(0), systems=3, queries=10, documents=80)
>>> played = earmark.simulate_campaigns(made.runs, made.judgments, stop="budget:40", repeats=2)
>>> played.stops()["judged"].to_list()
[40, 40]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from earmark.campaign.appraisal import Inference, Mode
from earmark.campaign.standing import stand
from earmark.data.content import Content
from earmark.data.display import Display, DisplayTable, Summary, written_cells
from earmark.data.judgments import Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs
from earmark.inference.population import Target
from earmark.measures import Measure, parse
from earmark.predictors.choose import PredictorChoice
from earmark.simulation.campaigns import Outcome, Study, outcomes_frame, simulate, summary
from earmark.simulation.diagnosis import Diagnosis, diagnose
from earmark.wording import counted

_SHOWN = ("repeat", "judged", "mean_confidence", "accuracy", "coverage_pairs_95", "coverage_systems_95")


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Display):
    """Campaigns that were played through on a judged collection.

    Attributes
    ----------
    outcomes : tuple of Outcome
        Every look at every campaign, one campaign after the other.
    """

    outcomes: tuple[Outcome, ...]

    def to_polars(self) -> pl.DataFrame:
        """One row per look."""
        return outcomes_frame(list(self.outcomes))

    def stops(self) -> pl.DataFrame:
        """One row per campaign: the look at which it stopped."""
        return self.to_polars().filter(pl.col("kind") == "stop")

    def summary(self) -> dict[str, Any]:
        """Return the means over campaigns at their stops."""
        return summary([outcome for outcome in self.outcomes if outcome.kind == "stop"])

    def _summary(self) -> Summary:
        """Show where every campaign stopped, how sure it was then and how right."""
        means = self.summary()
        claimed, right, held = written_cells(
            [means[name] for name in ("mean_confidence", "accuracy", "coverage_pairs_95")]
        )
        sentence = (
            f"{counted(means['repeats'], 'campaign')}, {means['judged']:,.0f} judgments in the mean: confidence "
            f"{claimed}, accuracy {right}, 95% intervals of pairs hold {held}"
        )
        return Summary(sentence, [DisplayTable(self.stops().select(*_SHOWN, "reason"), "At their stops")])


def simulate_campaigns(
    runs: Runs,
    judgments: Judgments,
    *,
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "hierarchical",
    policy: str = "variance",
    stop: str = "mean:0.95",
    margin: float = 0.0,
    inference: Mode = "model",
    target: Target = "sample",
    anytime: bool = False,
    metadata: Metadata | None = None,
    content: Content | None = None,
    teams: Mapping[str, str] | None = None,
    batch: int = 20,
    sample_systems: int | None = None,
    sample_queries: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    jobs: int = 1,
) -> Simulation:
    """Play campaigns through on a judged collection: how sure they would have been, and how right.

    Parameters
    ----------
    runs, judgments : Runs, Judgments
        The judged collection.
    measure, predictor, metadata, content, teams, inference, target, anytime
        As for :func:`earmark.rank`.
    policy, stop, margin
        How campaigns choose what to judge, and when they stop, as written on the command line.
    batch, sample_systems, sample_queries, seed
        As for :class:`~earmark.simulation.campaigns.Study`.
    repeats, jobs : int
        How many campaigns, and in how many processes; the results do not depend on the latter.
    """
    study = Study(
        runs,
        judgments,
        parse(measure) if isinstance(measure, str) else measure,
        PredictorChoice(predictor) if isinstance(predictor, str) else predictor,
        policy=policy,
        stop=stop,
        margin=margin,
        metadata=metadata,
        content=content,
        teams=None if teams is None else dict(teams),
        batch=batch,
        sample_systems=sample_systems,
        sample_queries=sample_queries,
        seed=seed,
        inference=Inference(inference, target, anytime),
    )
    return Simulation(tuple(simulate(study, repeats=repeats, jobs=jobs)))


def diagnose_predictor(
    runs: Runs,
    judgments: Judgments,
    *,
    share: float = 0.0,
    measure: str | Measure = "AG@5",
    predictor: str | PredictorChoice = "hierarchical",
    metadata: Metadata | None = None,
    content: Content | None = None,
    teams: Mapping[str, str] | None = None,
    repeats: int = 1,
    seed: int = 0,
) -> Diagnosis:
    """Show some of the judgments to a predictor and hold the rest against it.

    Parameters
    ----------
    runs, judgments : Runs, Judgments
        A collection of which everything is judged.
    share : float, 0..1
        How much of the judgments is shown; less than all.
    measure, predictor, metadata, content, teams
        As for :func:`earmark.stand`.
    repeats : int
        Over how many draws of what is shown the diagnosis is pooled.
    seed : int
        Which judgments are shown.
    """
    known = stand(
        runs, judgments, measure=measure, predictor=predictor, metadata=metadata, content=content, teams=teams
    )
    return diagnose(
        known.setting,
        known.gains,
        known.predictor,
        known.measure,
        share=share,
        rng=np.random.default_rng(seed),
        repeats=repeats,
    )
