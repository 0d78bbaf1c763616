"""``earmark plan``: how many judgments a campaign will take, before anybody judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output

if TYPE_CHECKING:
    from earmark.campaign.plan import Plan

EXAMPLES = options.examples(
    "earmark plan runs.tsv --metadata metadata.tsv --scale fine --stop mean:0.95",
    "earmark plan runs.tsv --stop decided:0.9 --margin 0.01 --seconds-per-judgment 45 --cost 0.1 --assessors 4",
    "earmark plan runs.tsv --judgments judgments.tsv --stop top:1 --repeats 100",
)
_WORK = "What judging takes"
_SIMULATING = "How campaigns are simulated"


def plan(
    runs: options.RunPaths,
    judgments: options.JudgmentsFile = None,
    scale: options.ScaleName = None,
    aggregate: options.AggregationName = "mean",
    metadata: options.MetadataFile = None,
    artist_column: options.ArtistColumn = None,
    genre_column: options.GenreColumn = None,
    attribute: options.AttributeColumns = None,
    content: options.ContentFile = None,
    content_ids: options.ContentIds = None,
    teams: options.TeamsFile = None,
    measure: options.OneMeasure = None,
    missing: options.SharedMissingRule = "zero",
    predictor: options.PredictorName = "hierarchical",
    model: options.ModelFile = None,
    policy: options.PolicyName = "variance",
    stop: options.StopName = "mean:0.95",
    margin: options.Margin = 0.0,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds-per-judgment",
            metavar="S",
            min=0.0,
            help="How long one judgment takes, listening included.",
            rich_help_panel=_WORK,
        ),
    ] = 30.0,
    cost: Annotated[
        float,
        typer.Option(
            "--cost", metavar="C", min=0.0, help="What one judgment costs, in any currency.", rich_help_panel=_WORK
        ),
    ] = 0.02,
    assessors: Annotated[
        int,
        typer.Option(
            "--assessors", metavar="N", min=1, help="How many people share the judging.", rich_help_panel=_WORK
        ),
    ] = 1,
    repeats: Annotated[
        int,
        typer.Option(
            "--repeats",
            metavar="N",
            min=1,
            help="How many campaigns to simulate, each with a truth of its own. A range needs 9 or more.",
            rich_help_panel=_SIMULATING,
        ),
    ] = 20,
    batch: Annotated[
        int | None,
        typer.Option(
            "--batch",
            metavar="N",
            min=1,
            help="How many items are judged at a time. When omitted, 20, or a hundredth of the unjudged items where "
            "that is more.",
            rich_help_panel=_SIMULATING,
        ),
    ] = None,
    seed: options.Seed = 0,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Estimate how many judgments a campaign will take, before anybody judges.

    What documents may turn out to be worth is drawn from what is believed about them, several times, and the campaign
    is played through on each draw until the stop rule is reached. Eight campaigns in ten should take as many judgments
    as the range says, and the plan is as good as the beliefs are. With judgments so far, it is about those still to be
    made.
    """
    import numpy as np

    from earmark.beliefs.beliefs import IndependentBeliefs
    from earmark.campaign.plan import plan as simulate_plan
    from earmark.campaign.policies import make_policy
    from earmark.campaign.stopping import parse_stop
    from earmark.cli.setting import Files, load_ground
    from earmark.predictors.choose import PredictorChoice

    out = Output.choose(format, quiet=quiet)
    # Whatever is wrong with a name is said before anything is simulated.
    rule, chosen_policy = parse_stop(stop, margin=margin), make_policy(policy)
    choice = PredictorChoice(predictor, model, encoding)
    ground = load_ground(
        out,
        runs,
        Files(metadata, teams, artist_column, genre_column, attribute, encoding, content, content_ids),
        judgments=judgments,
        scale=scale,
        measure=measure,
        choice=choice,
        missing=missing,
        aggregate=aggregate,
        order=order,
    )
    ground.measure.check(ground.setting.scale)
    left = int(np.count_nonzero(ground.gains < 0))
    first = choice(ground.setting)
    independent = isinstance(first.predict(ground.gains), IndependentBeliefs)
    with out.progress(repeats * left, "simulating") as advance:
        found = simulate_plan(
            ground.setting,
            predictor=choice,
            policy=chosen_policy,
            stop=rule,
            measure=ground.measure,
            rng=np.random.default_rng(seed),
            repeats=repeats,
            batch=batch,
            judged_gain=ground.gains,
            progress=advance,
        )
    for note in (*first.notes(), *found.notes()):
        out.note(note)
    if independent and left:
        out.note(
            "what is believed of one item counts as independent of the others: on real collections such a plan is too "
            "sure of itself, --predictor hierarchical makes a better one"
        )
    if not out.for_people:
        out.rows(found.to_polars(seconds_per_judgment=seconds, cost_per_judgment=cost, assessors=assessors))
        return
    title = f"{ground.measure}, predictor {choice.name}, policy {chosen_policy}, stop {rule}"
    _show(found, out, title=title, seconds=seconds, cost=cost, assessors=assessors)


def _show(found: Plan, out: Output, *, title: str, seconds: float, cost: float, assessors: int) -> None:
    hours = found.hours(seconds)
    rows = {
        "more judgments" if found.judged else "judgments": [f"{count:,}" for count in found.range],
        "share of items": [f"{share:.0%}" for share in (found.judged + found.range) / max(found.items, 1)],
        "hours": [f"{value:,.1f}" for value in hours],
    }
    if assessors > 1:
        rows[f"hours for each of {assessors:,}"] = [f"{value:,.1f}" for value in hours / assessors]
    rows["cost"] = [f"{value:,.2f}" for value in found.cost(cost)]
    ends = ("low", "median", "high")
    out.show_columns(
        [Column("", list(rows), numeric=False)],
        [Column(end, [cells[place] for cells in rows.values()]) for place, end in enumerate(ends)],
        title=title,
        caption=f"{found.repeats:,} simulated campaigns, looked at every {found.batch:,} judgments; "
        "one in ten takes less than low, one in ten more than high",
    )
    out.show("", found.sentence(seconds))
