"""``earmark preferences simulate``: campaigns of pair questions simulated on recorded answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earmark.cli.campaign_options import Stopping
from earmark.cli.command import option
from earmark.cli.options import Helping, Inputs, Seed
from earmark.cli.output import NOTHING, Column, Output, number
from earmark.cli.preferences_next import Answered, PairPolicyName
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.simulation.pair_campaigns import PairOutcome

_PLAYING = "How campaigns are simulated"
# Header, field and how many digits to show.
_SHOWN = (
    ("mean\nconfidence", "mean_confidence", 3),
    ("least\nconfidence", "min_confidence", 3),
    ("accuracy", "accuracy", 3),
    ("coverage,\npairs", "coverage_pairs_95", 3),
    ("coverage,\nsystems", "coverage_systems_95", 3),
    ("half\nwidth", "half_width_pairs", 4),
    ("error", "error", 4),
)
_MOST_ROWS = 25


@dataclass(frozen=True, kw_only=True)
class Recorded(Answered):
    """The recorded answers.

    Parameters
    ----------
    preferences
        The recorded answers, which the simulated campaign gets when it asks. The pairs that they are about are the
        candidates. Give the option again for more files.
    """

    # Without field(), the default would be the one that is inherited.
    preferences: Annotated[list[Path], option("FILE")] = field()


def simulate(
    inputs: Inputs,
    recorded: Recorded,
    stopping: Stopping,
    helping: Helping,
    out: Output,
    policy: PairPolicyName = "adaptive",
    needed: Annotated[int | None, option("N", "--answers", panel=_PLAYING, min=1)] = None,
    batch: Annotated[int, option("N", panel=_PLAYING, min=1)] = 20,
    one_at_a_time: Annotated[bool, option(panel=_PLAYING)] = False,
    repeats: Annotated[int, option("N", panel=_PLAYING, min=1)] = 1,
    seed: Seed = 0,
) -> None:
    """Simulate campaigns of pair questions on recorded answers: how confident and how accurate they would have been.

    The campaign knows only what it has asked for; all the recorded answers together are the truth it is compared with.
    Stop rules count questions with all their answers.

    Parameters
    ----------
    needed
        How many answers of every pair to use: the first ones in the file. All campaigns ask for this many. When
        omitted, the number of answers of the pair that has fewest.
    batch
        How many questions are asked at a time.
    one_at_a_time
        Get one answer at a time and choose the next question after each, instead of getting all answers to a question
        at once.
    repeats
        How many campaigns to simulate.

    Examples
    --------
    earmark preferences simulate runs.tsv --preferences answers.csv --stop mean:0.95 --repeats 10
    earmark preferences simulate a.run b.run --preferences answers.csv --policy random --stop none --batch 100
    earmark preferences simulate runs.tsv --preferences answers.csv --one-at-a-time
    """
    import polars as pl

    from earmark.campaign.pairs.policies import parse_pair_policy
    from earmark.cli.loading import load_preferences
    from earmark.simulation.campaigns import outcomes_frame
    from earmark.simulation.pair_campaigns import recorded_world, simulate_pair_campaigns

    # Whatever is wrong with a name is said before anything is simulated.
    rule, chosen_policy = stopping.rule, parse_pair_policy(policy)
    answers = load_preferences(
        recorded.preferences, out, phases=recorded.phase, encoding=inputs.encoding, repeated=recorded.repeated
    )
    world = recorded_world(answers, inputs.load(), k=recorded.k, needed=needed)
    out.note(f"{counted(len(world.design.pairs), 'candidate pair')} with {counted(world.needed, 'answer')} each")
    outcomes: list[PairOutcome] = []
    with out.progress(repeats, "simulating") as advance:
        for outcome in simulate_pair_campaigns(
            world,
            repeats=repeats,
            jobs=helping.jobs,
            cluster=helping.cluster,
            policy=chosen_policy,
            stop=str(rule),
            margin=rule.margin_apart,
            one_at_a_time=one_at_a_time,
            batch=batch,
            seed=seed,
        ):
            outcomes.append(outcome)
            advance(outcome.kind == "stop")
    frame = outcomes_frame(outcomes)
    stops = frame.filter(pl.col("kind") == "stop")
    if not out.for_people:
        steps = [
            part if part["kind"][0] == "stop" else part.drop("reason")
            for part in frame.partition_by("repeat", "kind", maintain_order=True)
        ]
        averaged = [name for name in frame.columns if name not in ("kind", "repeat", "reason")]
        means = stops.select(pl.lit("summary").alias("kind"), pl.len().alias("repeats"), pl.col(averaged).mean())
        out.kinds(*steps, means)
        return
    _show(frame, stops, out, title=f"policy {chosen_policy}, stop {rule}", answers=world.needed)


def _show(frame: pl.DataFrame, stops: pl.DataFrame, out: Output, *, title: str, answers: int) -> None:
    import polars as pl

    looks = frame.group_by("answers").agg(pl.len().alias("campaigns"), pl.col([f for _, f, _ in _SHOWN]).mean())
    looks = looks.sort("answers")
    if looks.height > _MOST_ROWS:
        looks = looks[[place * (looks.height - 1) // (_MOST_ROWS - 1) for place in range(_MOST_ROWS)]]
    values = [
        Column(header, [NOTHING if value is None else number(value, digits=digits) for value in looks[field]])
        for header, field, digits in _SHOWN
    ]
    out.show_columns(
        [Column("answers", [f"{count:,}" for count in looks["answers"]])],
        [Column("campaigns", [f"{count:,}" for count in looks["campaigns"]]), *values],
        title=title,
        caption="means over the campaigns that reached this point; coverage: the share of 95% intervals that contain "
        "the true value",
    )
    questions = sorted(stops["questions"].to_list())
    middle = questions[len(questions) // 2]
    out.show(
        "",
        f"{counted(stops.height, 'campaign')} stopped after {questions[0]:,.1f} to {questions[-1]:,.1f} questions of "
        f"{counted(answers, 'answer')}, half of them by {middle:,.1f}.",
    )
