"""The campaign of the demonstration: no judgments, a few, more, until it is sure enough; and how right that was.

It is an illustration and proves nothing: one collection, with the default stop rule. Other seeds stop sooner or later.
What holds over many collections is for studies to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from earmark.beliefs.beliefs import item_gains
from earmark.campaign.campaign import Campaign, Look, oracle
from earmark.campaign.loop import play
from earmark.data.files import replacing
from earmark.data.scales import FINE, Scale
from earmark.demo.collection import DEPTH, DemoCollection
from earmark.demo.listening import Answer, Examples
from earmark.plots import plot_campaign, plot_progress, progress_data, svg_text
from earmark.report import Figure, Findings, Reproduction, gather_findings, versions_here
from earmark.simulation.campaigns import Outcome, Truth, outcomes_frame

MEASURE = f"AG@{DEPTH}"
STOP = "best:0.95:0.02"
BATCH = 10
MADE_UP = (
    "the music and the listener are simulated, the systems are real: this shows how earmark works and says nothing "
    "about music"
)
LOOKS = (0, 20, 50, 100)
"""The numbers of judgments at which the story pauses, besides where it stops."""


def demo_campaign(made: DemoCollection, *, scale: Scale = FINE, seed: int = 0) -> Campaign:
    """Return the campaign of the demonstration before anybody answers.

    Parameters
    ----------
    made : DemoCollection
    scale : Scale
        What judgments are given on.
    seed : int
    """
    return Campaign.build(made.runs, measure=MEASURE, scale=scale, metadata=made.metadata, stop=STOP, seed=seed)


@dataclass(frozen=True, eq=False)
class Chapter:
    """A look, and how right it was."""

    look: Look
    outcome: Outcome


@dataclass(frozen=True, eq=False)
class Story:
    """A campaign with the listener, from its start to its stop, and the truth.

    Attributes
    ----------
    truth : Truth
        What judging everything would say.
    chapters : tuple of Chapter
        Every look, compared with the truth.
    end : Campaign
        Where the campaign stopped.
    """

    truth: Truth
    chapters: tuple[Chapter, ...]
    end: Campaign

    @property
    def true_scores(self) -> dict[str, float]:
        """What judging everything says of every system."""
        true = self.truth.estimates
        return dict(zip(true.systems, true.scores.mean.tolist(), strict=True))


def tell(made: DemoCollection, *, seed: int = 0, progress: Callable[[Chapter], None] | None = None) -> Story:
    """Play the campaign with the listener, and compare every look with the truth."""
    start = demo_campaign(made, seed=seed)
    truth = Truth(start.problem, item_gains(start.problem.collection, made.judgments))
    chapters, end = [], start
    for end in play(start, oracle(truth.gains, assessor="listener"), batch=BATCH):
        assert end.look is not None
        chapters.append(Chapter(end.look, truth.outcome(end.look)))
        if progress is not None:
            progress(chapters[-1])
    return Story(truth, tuple(chapters), end)


def told_frame(story: Story) -> pl.DataFrame:
    """Put the chapters where the story pauses side by side, the truly best system first.

    Returns
    -------
    polars.DataFrame
        ``system``, then for every pause ``estimate_N`` and ``half_N``, the estimate after N judgments and half the
        width of its 95% interval, then ``truth``.
    """
    paused = pauses(story.chapters)
    frame = pl.DataFrame({"system": story.truth.estimates.systems})
    for chapter in paused:
        ranking = chapter.look.ranking
        frame = frame.with_columns(
            pl.Series(f"estimate_{chapter.look.judged}", ranking.estimates.scores.mean),
            pl.Series(f"half_{chapter.look.judged}", (ranking.high - ranking.low) / 2),
        )
    truth = pl.Series("truth", story.truth.estimates.scores.mean)
    return frame.with_columns(truth).sort("truth", descending=True, maintain_order=True)


def write_progress(story: Story, path: Path) -> None:
    """Write the estimates at every look and the truth to a CSV file."""
    frame = progress_data([chapter.look for chapter in story.chapters])
    truth = frame["system"].replace_strict(story.true_scores, return_dtype=pl.Float64)
    with replacing(path) as temporary:
        temporary.write_text(frame.with_columns(truth=truth).write_csv(float_precision=6), encoding="utf-8")


def decided_wrongly(story: Story, look: Look) -> tuple[int, int]:
    """Return how many pairs a look calls decided, and how many of these are in the wrong order."""
    ranking = look.ranking
    said, fact = ranking.estimates.differences.mean, story.truth.estimates.differences.mean
    decided = ranking.decided(ranking.level)
    return int(decided.sum()), int((decided & (np.sign(said) == -np.sign(fact)) & (fact != 0)).sum())


def pauses(chapters: Sequence[Chapter]) -> list[Chapter]:
    """Return the chapters at which the story pauses; the last is where it stops."""
    return [*(one for one in chapters[:-1] if one.look.judged in LOOKS), *chapters[-1:]]


def typical_answers(made: DemoCollection, *, queries: int) -> Examples:
    """Return what every system finds most similar to a few typical queries, and what the listener thinks of it.

    Single queries often order systems otherwise than all of them do. Typical are those at which the gains of the first
    answers are closest to their means over all queries, by the sum of squares over the systems; the closest come first.
    """
    judged = made.runs.to_polars().join(made.judgments.frame, on=["query", "document"], how="left")
    first = judged.filter(pl.col("rank") == 1)
    means = first.group_by("system", maintain_order=True).agg(mean=pl.col("gain").mean())
    squared = (pl.col("gain") - pl.col("mean")) ** 2
    distance = first.join(means, on="system").group_by("query").agg(distance=squared.sum())
    answers: dict[str, list[Answer]] = {}
    nearest = first.join(distance, on="query", maintain_order="left").sort("distance", "query", maintain_order=True)
    for system, query, document, gain in nearest.select("system", "query", "document", "gain").iter_rows():
        answers.setdefault(query, []).append(Answer(system, document, round(gain)))
    return Examples(list(answers.items())[:queries], dict(means.iter_rows()), len(answers))


def demo_findings(campaign: Campaign, story: Story | None = None) -> Findings:
    """Gather what the report of the demonstration says.

    Parameters
    ----------
    campaign : Campaign
        Where it ended.
    story : Story, optional
        How it came to that, where the truth is known.
    """
    return gather_findings(
        campaign,
        notes=[MADE_UP],
        reproduction=Reproduction(f"earmark demo --seed {campaign.problem.seed}", versions=versions_here()),
        figures=() if story is None else _figures(story),
    )


def _figures(story: Story) -> list[Figure]:
    """Draw what happened while it was judged."""
    progress = plot_progress([chapter.look for chapter in story.chapters], truth=story.true_scores)
    outcomes = plot_campaign(outcomes_frame([chapter.outcome for chapter in story.chapters]))
    return [
        Figure(
            "While it was judged",
            "The estimate of every system and its interval after so many judgments. The marks at the right are "
            "the scores with everything judged, which a real campaign does not know.",
            svg_text(progress, prefix="progress", label="Estimates of all systems against the number of judgments"),
        ),
        Figure(
            "Confidence and accuracy",
            "Mean confidence, as claimed, and the share of pairs that were in the right order. In a single "
            "campaign either may be above the other; over many, the first must not be above the second.",
            svg_text(outcomes, prefix="campaign", label="Mean confidence and accuracy against the number of judgments"),
        ),
    ]
