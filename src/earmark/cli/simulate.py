"""``earmark simulate``: campaigns played through on a judged collection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from earmark.cli.campaign_options import Choosing, Concluding, RecordedCampaignOptions, Stopping
from earmark.cli.command import option
from earmark.cli.options import Helping, Seed
from earmark.cli.output import NOTHING, Column, Output, number

if TYPE_CHECKING:
    import polars as pl

    from earmark.simulation.campaigns import Outcome

_PLAYING = "How campaigns are simulated"
# Header, field and how many digits to show.
_SHOWN = (
    ("mean\nconfidence", "mean_confidence", 3),
    ("least\nconfidence", "min_confidence", 3),
    ("accuracy", "accuracy", 3),
    ("tau", "tau", 3),
    ("accuracy,\nsignificant", "accuracy_significant", 3),
    ("coverage,\npairs", "coverage_pairs_95", 3),
    ("coverage,\nsystems", "coverage_systems_95", 3),
    ("half\nwidth", "half_width_systems", 4),
    ("RMSE", "rmse", 4),
)
_MOST_ROWS = 25


@dataclass(frozen=True, kw_only=True)
class SimulateOptions(RecordedCampaignOptions):
    """A judged campaign, and how it is simulated from the start."""

    concluding: Concluding = field()
    stopping: Stopping = field()
    choosing: Choosing = field()


def simulate(
    given: SimulateOptions,
    helping: Helping,
    out: Output,
    batch: Annotated[int, option("N", panel=_PLAYING, min=1)] = 20,
    update_every: Annotated[int, option("N", panel=_PLAYING, min=1, rare=True)] = 20,
    repeats: Annotated[int, option("N", panel=_PLAYING, min=1)] = 1,
    sample_systems: Annotated[int | None, option("N", panel=_PLAYING, min=1)] = None,
    sample_queries: Annotated[int | None, option("N", panel=_PLAYING, min=1)] = None,
    seed: Seed = 0,
) -> None:
    """Simulate campaigns on a judged collection: how confident and how accurate they would have been.

    The campaign knows only what it has asked for; the rest of the judgments is the truth it is compared with, after
    every batch and where it stops.

    Parameters
    ----------
    judgments
        The recorded judgments, which answer whatever the campaign asks. Give the option again for more files, or name
        a folder of files or a quoted pattern such as 'answers/*.csv'. Of several answers of one assessor about an item
        the latest counts: by sequence, then by time, then the larger gain. Answers of different assessors are all kept.
    batch
        How many items are judged at a time.
    update_every
        How many judgments the predictor waits for before it learns from them.
    repeats
        How many campaigns to simulate.
    sample_systems
        Simulate every campaign with this many systems, drawn at random for each.
    sample_queries
        Simulate every campaign with this many queries, drawn at random for each.

    Examples
    --------
    earmark simulate runs.tsv --judgments judgments.tsv -m AG@5
    earmark simulate runs.tsv -j judgments.tsv --metadata metadata.tsv --stop min:0.9 --repeats 10 --jobs 2
    earmark simulate runs.tsv -j judgments.tsv --repeats 1000 --cluster tcp://10.0.0.1:8786
    earmark simulate runs.tsv -j judgments.tsv --inference design --policy proportional --stop width:0.1
    """
    import polars as pl

    from earmark.simulation.campaigns import Study, outcomes_frame, summary
    from earmark.simulation.campaigns import simulate as play

    recorded = given.load(out, seed=seed, update_every=update_every)
    problem = recorded.problem
    items = problem.collection.n_items
    if recorded.judged < items:
        out.note(f"{items - recorded.judged:,} of {items:,} items have no recorded judgment and count as a gain of 0")
    if given.concluding.target == "population":
        about = problem.inference.about
        out.note(f"verdicts are about {about}; the truth they are compared with is that of these queries")
    assert recorded.judgments is not None
    study = Study(problem, recorded.judgments, batch, sample_systems, sample_queries)
    outcomes: list[Outcome] = []
    with out.progress(repeats * items, "judging") as advance:
        before = 0
        for outcome in play(study, repeats=repeats, jobs=helping.jobs, cluster=helping.cluster):
            outcomes.append(outcome)
            # A campaign that stops is over, however much was left to judge.
            stopped = outcome.kind == "stop"
            now = items if stopped else outcome.judged
            advance(now - before)
            before = 0 if stopped else now
    frame = outcomes_frame(outcomes)
    over = summary([outcome for outcome in outcomes if outcome.kind == "stop"])
    if not out.for_people:
        parts = [_of_one_kind(part) for part in frame.partition_by("repeat", "kind", maintain_order=True)]
        out.kinds(*parts, pl.DataFrame([over]))
        return
    title = f"{problem.measure}, predictor {given.predicting.predictor}, policy {problem.policy}, stop {problem.stop}"
    _show_steps(frame, out, title=title)
    _show_stops(frame, out, items=None if sample_systems or sample_queries else items)


def _of_one_kind(frame: pl.DataFrame) -> pl.DataFrame:
    return frame if frame["kind"][0] == "stop" else frame.drop("reason")


def steps_table(frame: pl.DataFrame) -> pl.DataFrame:
    """Summarise looks by the number of judgments: how many campaigns got there, medians and ranges of all fields."""
    import polars as pl

    fields = [field for _, field, _ in _SHOWN]
    frame = frame.with_columns(pl.col(fields).cast(pl.Float64))
    return (
        frame.group_by("judged")
        .agg(
            pl.len().alias("campaigns"),
            pl.col(fields).median(),
            pl.col(fields).min().name.suffix("_low"),
            pl.col(fields).max().name.suffix("_high"),
        )
        .sort("judged")
    )


def _show_steps(frame: pl.DataFrame, out: Output, *, title: str) -> None:
    table = steps_table(frame)
    looks = table.height
    if looks > _MOST_ROWS:
        # Evenly spread, the first and the last among them.
        table = table[[place * (looks - 1) // (_MOST_ROWS - 1) for place in range(_MOST_ROWS)]]
    several = frame["repeat"].n_unique() > 1
    keys = [Column("judged", [f"{judged:,}" for judged in table["judged"]])]
    if several:
        keys.append(Column("campaigns", [f"{count:,}" for count in table["campaigns"]]))
    values = []
    for header, shown, digits in _SHOWN:
        triples = table.select(shown, f"{shown}_low", f"{shown}_high").rows()
        cells = [_median_and_range(triple, digits=digits - several) for triple in triples]
        values.append(Column(header, cells))
    captions = [
        "coverage: the share of 95% intervals that contain the true value; RMSE: error of the predicted gains of "
        "unjudged items"
    ]
    if several:
        captions.insert(0, "medians over the campaigns that reached this point, and ranges where they differ")
    if looks > table.height:
        captions.append(f"{table.height} of {looks:,} looks; --format csv has them all")
    out.show_columns(keys, values, title=title, caption="\n".join(captions))
    out.show("")


def _median_and_range(triple: tuple[float | None, ...], *, digits: int) -> str:
    middle, low, high = triple
    if middle is None or low is None or high is None:
        return NOTHING
    shown, *ends = (number(value, digits=digits) for value in (middle, low, high))
    return shown if ends[0] == ends[1] else f"{shown} ({ends[0]}–{ends[1]})"


def _show_stops(frame: pl.DataFrame, out: Output, *, items: int | None) -> None:
    import polars as pl

    stops = frame.filter(pl.col("kind") == "stop")
    of = " judgments" if items is None else f" of {items:,} items"
    if stops.height == 1:
        row = stops.row(0, named=True)
        out.show(f"The campaign stopped after {row['judged']:,}{of}: {row['reason']}.", *_how_right([row]))
        return
    judged = sorted(stops["judged"].to_list())
    spread = f"{judged[0]:,}" if judged[0] == judged[-1] else f"{judged[0]:,} to {judged[-1]:,}"
    out.show(
        f"{stops.height:,} campaigns stopped after {spread}{of}.",
        *_how_right(stops.rows(named=True)),
    )


def _how_right(stops: list[dict[str, float | None]]) -> list[str]:
    def mean(field: str) -> float | None:
        values = [value for stop in stops if (value := stop[field]) is not None]
        return sum(values) / len(values) if values else None

    sure, right = mean("mean_confidence"), mean("accuracy")
    if sure is None or right is None:
        return []
    verdict = "overconfident" if sure > right else "not overconfident"
    return [
        f"There the confidence claimed was {sure:.3f}, and {right:.3f} of the pairs were in the right order: {verdict}."
    ]
