"""The campaign of the demonstration: no judgments, a few, more, until it is sure enough; and how right that was.

It is an illustration and proves nothing: one collection, with a stop rule that was chosen among four so that the story
has all of its pauses with the usual seed. Other seeds stop sooner or later. What holds over many collections is for
studies to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import item_gains
from earmark.campaign.loop import Ask, Look, play
from earmark.campaign.policies import make_policy
from earmark.campaign.standing import Standing
from earmark.campaign.stopping import parse_stop
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.judgments import Judgments
from earmark.data.scales import FINE, Scale
from earmark.data.tables import replacing
from earmark.demo.collection import DEPTH, DemoCollection
from earmark.demo.listening import Answer
from earmark.measures import Measure, parse
from earmark.plots import plot_campaign, plot_progress, progress_data, svg_text
from earmark.predictors.base import Predictor, Setting
from earmark.predictors.choose import PredictorChoice
from earmark.report import Figure, Findings, Reproduction, find, versions_here
from earmark.simulation.campaigns import Outcome, Truth, outcomes_frame

MEASURE = f"AG@{DEPTH}"
STOP = "mean:0.95"
BATCH = 10
MADE_UP = "music and listener are made up, the systems are real: see what earmark does, learn nothing about music"
LOOKS = (0, 20, 50, 100)
"""The numbers of judgments at which the story pauses, besides where it stops."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """A campaign on the collection of the demonstration.

    Parameters
    ----------
    made : DemoCollection
    scale : Scale
        What judgments are given on.
    seed : int
    """

    made: DemoCollection
    scale: Scale = FINE
    seed: int = 0

    @cached_property
    def measure(self) -> Measure:
        """What systems are compared by."""
        return parse(MEASURE)

    @cached_property
    def setting(self) -> Setting:
        """What there is to judge."""
        collection = Collection.from_runs(self.made.runs, depth=DEPTH, metadata=self.made.metadata)
        return Setting(collection, self.scale)

    @cached_property
    def predictor(self) -> Predictor:
        """What turns judgments into beliefs."""
        return PredictorChoice()(self.setting)

    @cached_property
    def gains(self) -> Floats:
        """What the listener thinks of every item, shape (items,)."""
        return item_gains(self.setting.collection, self.made.judgments)

    @cached_property
    def truth(self) -> Truth:
        """What judging everything would say."""
        return Truth(self.setting, self.measure, self.gains)

    @property
    def true_scores(self) -> dict[str, float]:
        """What judging everything says of every system."""
        true = self.truth.estimates
        return dict(zip(true.systems, true.scores.mean.tolist(), strict=True))

    def listen(self, items: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
        """Ask the listener."""
        return self.gains[items]

    def looks(self, ask: Ask, *, batch: int = BATCH, judged_gain: Floats | None = None) -> Iterator[Look]:
        """Go through the campaign, one look per batch, until it is sure enough or nothing is left to judge."""
        return play(
            self.setting,
            predictor=self.predictor,
            policy=make_policy("variance"),
            stop=parse_stop(STOP),
            measure=self.measure,
            ask=ask,
            rng=np.random.default_rng([self.seed, 1]),
            batch=batch,
            seed=self.seed,
            judged_gain=judged_gain,
        )

    def judgments(self, judged_gain: Floats, *, assessor: str = "listener") -> Judgments:
        """Return what was judged, by whom."""
        judged = np.flatnonzero(judged_gain >= 0)
        frame = self.setting.collection.item_frame()[judged].select("query", "document")
        kept = frame.with_columns(gain=pl.Series(judged_gain[judged]), assessor=pl.lit(assessor))
        return Judgments.from_frame(kept, scale=self.scale)

    def standing(self, judged_gain: Floats) -> Standing:
        """Say where the campaign stands with these judgments, as somebody who knows nothing else of it would."""
        fresh = PredictorChoice()(self.setting)
        return Standing(self.setting, self.measure, fresh, judged_gain, fresh.predict(judged_gain))


@dataclass(frozen=True, eq=False)
class Chapter:
    """A look, and how right it was."""

    look: Look
    outcome: Outcome


def tell(campaign: Campaign) -> Iterator[Chapter]:
    """Play the campaign with the listener, and hold every look against the truth."""
    for look in campaign.looks(campaign.listen):
        yield Chapter(look, campaign.truth.outcome(look))


def told_frame(campaign: Campaign, chapters: list[Chapter]) -> pl.DataFrame:
    """Put the chapters where the story pauses side by side, the truly best system first.

    Returns
    -------
    polars.DataFrame
        ``system``, then for every pause ``estimate_N`` and ``half_N``, the estimate after N judgments and half the
        width of its 95% interval, then ``truth``.
    """
    paused = pauses(chapters)
    frame = pl.DataFrame({"system": campaign.setting.collection.systems})
    for chapter in paused:
        ranking = chapter.look.ranking
        frame = frame.with_columns(
            pl.Series(f"estimate_{chapter.look.judged}", ranking.estimates.scores.mean),
            pl.Series(f"half_{chapter.look.judged}", (ranking.high - ranking.low) / 2),
        )
    truth = pl.Series("truth", campaign.truth.estimates.scores.mean)
    return frame.with_columns(truth).sort("truth", descending=True, maintain_order=True)


def write_progress(campaign: Campaign, chapters: Sequence[Chapter], path: Path) -> None:
    """Write the estimates at every look and the truth to a CSV file."""
    frame = progress_data([chapter.look for chapter in chapters])
    truth = frame["system"].replace_strict(campaign.true_scores, return_dtype=pl.Float64)
    with replacing(path) as temporary:
        frame.with_columns(truth=truth).write_csv(temporary, float_precision=6)


def decided_wrongly(campaign: Campaign, look: Look) -> tuple[int, int]:
    """Return how many pairs a look calls decided, and how many of these are in the wrong order."""
    ranking = look.ranking
    said, fact = ranking.estimates.differences.mean, campaign.truth.estimates.differences.mean
    decided = ranking.decided(ranking.level)
    return int(decided.sum()), int((decided & (np.sign(said) == -np.sign(fact)) & (fact != 0)).sum())


def pauses(chapters: list[Chapter]) -> list[Chapter]:
    """Return the chapters at which the story pauses; the last is where it stops."""
    return [one for one in chapters[:-1] if one.look.judged in LOOKS] + chapters[-1:]


def first_answers(made: DemoCollection, *, queries: int) -> list[tuple[str, list[Answer]]]:
    """Return what every system finds most similar to the first few queries, and what the listener thinks of it."""
    judged = made.runs.to_polars().join(made.judgments.frame, on=["query", "document"], how="left")
    first = judged.filter(pl.col("rank") == 1, pl.col("query").is_in(made.runs.queries[:queries]))
    answers: dict[str, list[Answer]] = {}
    for system, query, document, gain in first.select("system", "query", "document", "gain").iter_rows():
        answers.setdefault(query, []).append(Answer(system, document, round(gain)))
    return list(answers.items())


def demo_findings(campaign: Campaign, judged_gain: Floats, chapters: Sequence[Chapter] = ()) -> Findings:
    """Gather what the report of the demonstration says.

    Parameters
    ----------
    campaign : Campaign
    judged_gain : ndarray of float, shape (items,)
        What is judged in the end.
    chapters : sequence of Chapter
        How it came to that, where the truth is known.
    """
    return find(
        campaign.standing(judged_gain),
        judgments=campaign.judgments(judged_gain),
        seed=campaign.seed,
        notes=[MADE_UP],
        reproduction=Reproduction(f"earmark demo --seed {campaign.seed}", versions=versions_here()),
        figures=_figures(campaign, chapters) if chapters else (),
    )


def _figures(campaign: Campaign, chapters: Sequence[Chapter]) -> list[Figure]:
    """Draw what happened while it was judged."""
    progress = plot_progress([chapter.look for chapter in chapters], truth=campaign.true_scores)
    outcomes = plot_campaign(outcomes_frame([chapter.outcome for chapter in chapters]))
    return [
        Figure(
            "While it was judged",
            "The estimate of every system and its interval after so many judgments. The marks at the right are what "
            "judging everything says: a campaign with people never gets to see them.",
            svg_text(progress, prefix="progress", label="Estimates of all systems against the number of judgments"),
        ),
        Figure(
            "How sure, and how right",
            "Mean confidence, as claimed, and the share of pairs that were in the right order. In a single "
            "campaign either may be above the other; over many, the first must not be above the second.",
            svg_text(outcomes, prefix="campaign", label="Mean confidence and accuracy against the number of judgments"),
        ),
    ]
