"""``earmark plan``: how many judgments a campaign will take, before anybody judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from earmark.cli.command import option
from earmark.cli.options import Inputs, Judging, Known, OneMeasure, PolicyName, Predicting, Seed, Stopping
from earmark.cli.output import Column, Output

if TYPE_CHECKING:
    from earmark.campaign.plan import Plan

_WORK = "What judging takes"
_SIMULATING = "How campaigns are simulated"


def plan(
    inputs: Inputs,
    judging: Judging,
    known: Known,
    scoring: OneMeasure,
    predicting: Predicting,
    stopping: Stopping,
    out: Output,
    policy: PolicyName = None,
    seconds: Annotated[float, option("S", "--seconds-per-judgment", panel=_WORK, min=0.0)] = 30.0,
    cost: Annotated[float, option("C", panel=_WORK, min=0.0)] = 0.02,
    assessors: Annotated[int, option("N", panel=_WORK, min=1)] = 1,
    repeats: Annotated[int, option("N", panel=_SIMULATING, min=1)] = 20,
    batch: Annotated[int | None, option("N", panel=_SIMULATING, min=1)] = None,
    seed: Seed = 0,
) -> None:
    """Estimate how many judgments a campaign will take, before anybody judges.

    Gains are drawn from the predictions several times, and the campaign is simulated on each draw until the stop rule
    is reached. Eight campaigns in ten should take a number of judgments within the range, if the predictions are right.
    With judgments so far, the plan counts those still to be made.

    Parameters
    ----------
    seconds
        How long one judgment takes, listening included.
    cost
        What one judgment costs, in any currency.
    assessors
        How many people share the judging.
    repeats
        How many campaigns to simulate, each with gains of its own. A range needs 9 or more.
    batch
        How many items are judged at a time. When omitted, 20, or a hundredth of the unjudged items where that is more.

    Examples
    --------
    earmark plan runs.tsv --metadata metadata.tsv --scale fine --stop mean:0.95
    earmark plan runs.tsv --stop decided:0.9 --margin 0.01 --seconds-per-judgment 45 --cost 0.1 --assessors 4
    earmark plan runs.tsv --judgments judgments.tsv --stop top:1 --repeats 100
    earmark plan study
    """
    from earmark.beliefs.beliefs import IndependentBeliefs
    from earmark.campaign.plan import plan as simulate_plan
    from earmark.cli.loading import load_campaign

    campaign = load_campaign(out, inputs, judging, known, scoring, predicting, stopping, policy=policy, seed=seed)
    problem = campaign.problem
    left = problem.collection.n_items - campaign.judged
    with out.progress(repeats * left, "simulating") as advance:
        found = simulate_plan(campaign, repeats=repeats, batch=batch, progress=advance)
    for note in (*campaign.beliefs.notes, *found.notes()):
        out.note(note)
    if isinstance(campaign.beliefs, IndependentBeliefs) and left:
        out.note(
            "predictions of items are treated as independent: on real collections such a plan is too sure of itself, "
            "--predictor hierarchical makes a better one"
        )
    if not out.for_people:
        out.rows(found.to_polars(seconds_per_judgment=seconds, cost_per_judgment=cost, assessors=assessors))
        return
    title = f"{problem.measure}, predictor {predicting.predictor}, policy {problem.policy}, stop {problem.stop}"
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
