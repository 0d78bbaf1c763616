"""``earmark preferences simulate``: campaigns of pair questions played through on recorded answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli import options
from earmark.cli.output import NOTHING, Column, Output, number
from earmark.cli.preferences_next import Depth, Phases, Policy
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.simulation.pair_campaigns import PairOutcome

EXAMPLES = options.examples(
    "earmark preferences simulate runs.tsv --preferences answers.csv --stop mean:0.95 --repeats 10",
    "earmark preferences simulate a.run b.run --preferences answers.csv --policy random --stop none --batch 100",
    "earmark preferences simulate runs.tsv --preferences answers.csv --one-at-a-time",
)
_PLAYING = "How campaigns are played"
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


def simulate(
    runs: options.RunPaths,
    preferences: Annotated[
        list[Path],
        typer.Option(
            "--preferences",
            metavar="FILE",
            help="The recorded answers, which are given whenever the campaign asks; the pairs they are about are the "
            "candidates. Give the option again for more files.",
            rich_help_panel="Which pairs count",
            show_default=False,
        ),
    ],
    phase: Phases = None,
    k: Depth = 20,
    needed: Annotated[
        int | None,
        typer.Option(
            "--answers",
            metavar="N",
            min=1,
            help="How many answers of every pair to use, the first in the file; all campaigns ask for as many. When "
            "omitted, as many as the pair with fewest has.",
            rich_help_panel=_PLAYING,
        ),
    ] = None,
    policy: Policy = "adaptive",
    stop: options.StopName = "mean:0.95",
    margin: options.Margin = 0.0,
    batch: Annotated[
        int,
        typer.Option(
            "--batch", metavar="N", min=1, help="How many questions are put at a time.", rich_help_panel=_PLAYING
        ),
    ] = 20,
    one_at_a_time: Annotated[
        bool,
        typer.Option(
            "--one-at-a-time",
            metavar="",
            help="Get one answer to a question and decide anew, in place of all answers that it needs.",
            rich_help_panel=_PLAYING,
        ),
    ] = False,
    repeats: Annotated[
        int,
        typer.Option("--repeats", metavar="N", min=1, help="How many campaigns to play.", rich_help_panel=_PLAYING),
    ] = 1,
    seed: options.Seed = 0,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Play campaigns of pair questions through on recorded answers, to see how sure and how right they would have been.

    The campaign knows only what it has asked for; all the recorded answers together are the truth it is compared with.
    Stop rules count questions with all their answers.
    """
    import numpy as np
    import polars as pl

    from earmark.campaign.pair_questions import parse_pair_policy
    from earmark.campaign.stopping import parse_stop
    from earmark.cli.loading import load_preferences, load_runs
    from earmark.simulation.pair_campaigns import outcomes_frame, recorded_world, simulate_pairs

    out = Output.choose(format, quiet=quiet)
    # Whatever is wrong with a name is said before anything is played.
    rule, chosen_policy = parse_stop(stop, margin=margin), parse_pair_policy(policy)
    answers = load_preferences(preferences, out, phases=phase, encoding=encoding)
    world = recorded_world(answers, load_runs(runs, order=order, encoding=encoding), k=k, needed=needed)
    out.note(f"{counted(len(world.design.pairs), 'candidate pair')} with {counted(world.needed, 'answer')} each")
    outcomes: list[PairOutcome] = []
    with out.progress(repeats, "playing") as advance:
        for repeat in range(repeats):
            rng = np.random.default_rng([seed, repeat])
            outcomes += simulate_pairs(
                world,
                rng,
                policy=chosen_policy,
                stop=str(rule),
                margin=margin,
                one_at_a_time=one_at_a_time,
                batch=batch,
                repeat=repeat,
            )
            advance(1)
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
        caption="means over the campaigns that got there; coverage: the share of 95% intervals that hold the truth",
    )
    questions = sorted(stops["questions"].to_list())
    middle = questions[len(questions) // 2]
    out.show(
        "",
        f"{counted(stops.height, 'campaign')} stopped after {questions[0]:,.1f} to {questions[-1]:,.1f} questions of "
        f"{counted(answers, 'answer')}, half of them by {middle:,.1f}.",
    )
