"""``earmark plan``: how many judgments a campaign will take, before anybody judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from earmark.cli.campaign_options import CampaignOptions, Choosing, Stopping
from earmark.cli.command import option
from earmark.cli.options import Helping, Seed
from earmark.cli.output import Column, Output
from earmark.wording import listed

if TYPE_CHECKING:
    from earmark.campaign.plan import Plan
    from earmark.store.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Work:
    """What judging takes.

    Parameters
    ----------
    seconds
        How long one judgment takes, listening included. In a campaign's folder, how long one answer takes: when
        omitted, recruiting.seconds_per_answer.
    cost
        What one judgment costs, in any currency. In a campaign's folder, what one answer costs: when omitted, and there
        is a reward, what whole assignments cost.
    assessors
        How many people share the judging.
    """

    panel: ClassVar[str] = "What judging takes"
    seconds: Annotated[float, option("S", "--seconds-per-judgment", min=0.0)] = 30.0
    cost: Annotated[float, option("C", min=0.0)] = 0.02
    assessors: Annotated[int, option("N", min=1)] = 1


@dataclass(frozen=True, kw_only=True)
class Simulating:
    """How campaigns are simulated.

    Parameters
    ----------
    repeats
        How many campaigns to simulate, each with gains of its own. A range needs 9 or more.
    batch
        How many items are judged at a time. When omitted, 20, or a hundredth of the unjudged items where that is more.
    """

    panel: ClassVar[str] = "How campaigns are simulated"
    repeats: Annotated[int, option("N", min=1)] = 20
    batch: Annotated[int | None, option("N", min=1)] = None


@dataclass(frozen=True, kw_only=True)
class PlanOptions(CampaignOptions):
    """The campaign that is planned."""

    stopping: Stopping = field()
    choosing: Choosing = field()


def plan(
    given: PlanOptions,
    work: Work,
    simulating: Simulating,
    helping: Helping,
    out: Output,
    seed: Seed = 0,
) -> None:
    """Estimate how many judgments a campaign will take, before anybody judges.

    Gains are drawn from the predictions several times, and the campaign is simulated on each draw until the stop rule
    is reached. Eight campaigns in ten should take a number of judgments within the range, if the predictions are right.
    With judgments so far, the plan counts those still to be made.

    In the folder of a campaign an item may need the answers of several people, and some questions are traps. Hours and
    cost are those of all answers: answers_low, answers_median and answers_high. answers_high includes the additional
    answers that are asked for where people disagree.

    Campaigns of all kinds can be planned. Of kind prefer, a judgment is one answer about two documents. Of the kinds
    order and lists, a judgment is one answer too, and answers are counted, not simulated, because no model predicts
    them: those that a budget allows, or those to all questions.

    Examples
    --------
    earmark plan runs.tsv --metadata metadata.tsv --scale fine --stop mean:0.95
    earmark plan runs.tsv --stop decided:0.9 --margin 0.01 --seconds-per-judgment 45 --cost 0.1 --assessors 4
    earmark plan runs.tsv --judgments judgments.tsv --stop top:1 --repeats 100
    earmark plan study
    """
    from earmark.beliefs.beliefs import IndependentBeliefs
    from earmark.campaign.plan import plan as simulate_plan
    from earmark.cli.folder import kind_of

    runs, stopping, policy = given.inputs.runs, given.stopping, given.choosing.policy
    kind = kind_of(runs)
    if kind == "prefer":
        from earmark.cli.preferences_plan import plan_stored

        plan_stored(out, runs, stopping, work, simulating, helping, policy=policy, seed=seed)
        return
    if kind in ("order", "lists"):
        from earmark.cli.plan_counted import plan_counted

        plan_counted(out, runs[0], kind, work, stop=stopping.plain, policy=policy)
        return
    campaign = given.load(out, seed=seed)
    problem = campaign.problem
    left = problem.collection.n_items - campaign.judged
    with out.progress(simulating.repeats * left, "simulating") as advance:
        found = simulate_plan(
            campaign,
            repeats=simulating.repeats,
            batch=simulating.batch,
            progress=advance,
            jobs=helping.jobs,
            cluster=helping.cluster,
        )
    for note in (*campaign.beliefs.notes, *found.notes()):
        out.note(note)
    if isinstance(campaign.beliefs, IndependentBeliefs) and left:
        out.note(
            "predictions of items are treated as independent: on real collections such a plan is too optimistic, "
            "--predictor hierarchical makes a better one"
        )
    title = f"{problem.measure}, predictor {given.predicting.predictor}, policy {problem.policy}, stop {problem.stop}"
    print_plan(out, found, runs, work, title=title)


@dataclass(frozen=True)
class Asked:
    """What people are asked for, and what that takes: low, median and high of each.

    Attributes
    ----------
    answers : list of int
    hours, cost : list of float
    why : str
        Why there are more answers than judgments; empty where there are not.
    """

    answers: list[int]
    hours: list[float]
    cost: list[float]
    why: str = ""


def answers_of(found: Plan, runs: list[Path], work: Work) -> Asked:
    """Return how many answers a plan asks people for, traps and the answers of several people among them."""
    from earmark.cli.folder import folder_of, read_settings

    path = folder_of(runs)
    answers, cost = [int(count) for count in found.range], [float(one) for one in found.cost(work.cost)]
    if path is None:
        return Asked(answers, [float(one) for one in found.hours(work.seconds)], cost)
    return asked_of(read_settings(path), answers, work, several=True)


def asked_of(settings: Settings, judgments: list[int], work: Work, *, several: bool) -> Asked:
    """Return how many answers people are asked for in a campaign, and what these take.

    Parameters
    ----------
    settings : Settings
        Of the campaign.
    judgments : list of int
        Low, median and high.
    work : Work
    several : bool
        Whether a judgment takes the answers of several people, who are not counted yet.
    """
    from earmark.cli.folder import pays_by_assignment
    from earmark.crowd.budget import answers_needed, plan_budget
    from earmark.store.payments import more_answers, terms_of, trap_share
    from earmark.store.rules import Rules

    rules = Rules.from_settings(settings)
    share, more = trap_share(rules), more_answers(rules)
    # Answers about pairs are counted one by one already.
    each = 1 if rules.kind == "prefer" or not several else rules.judgments_per_item
    most = each * (rules.judgments_per_item + more) / rules.judgments_per_item if several else each
    answers = [
        answers_needed(count, per_item=people, trap_share=share)
        for count, people in zip(judgments, (each, each, most), strict=True)
    ]
    why = [f"{each} people judge an item"] if each > 1 else []
    why += [f"up to {more} more answer where people disagree"] if more else []
    why += [f"one question in {rules.trap_every} is a trap"] if share else []
    if pays_by_assignment(settings, work.cost):
        paid = terms_of(settings.recruiting)
        cost = [plan_budget(paid, count).cost for count in answers]
    else:
        cost = [count * work.cost for count in answers]
    return Asked(answers, [count * work.seconds / 3600 for count in answers], cost, listed(why) if why else "")


def print_plan(out: Output, found: Plan, runs: list[Path], work: Work, *, title: str) -> None:
    """Print a plan as one row, or for people as a table and a sentence."""
    asked = answers_of(found, runs, work)
    low, median, high = asked.answers
    if asked.why:
        out.note(f"{asked.why}: people are asked for {median:,} answers ({low:,} to {high:,})")
    if out.for_people:
        _show(found, asked, out, work, title=title)
        return
    row = found.to_polars(seconds_per_judgment=work.seconds, cost_per_judgment=work.cost, assessors=work.assessors)
    values = {"hours": asked.hours[1], "cost": asked.cost[1], "hours_each": asked.hours[1] / work.assessors}
    values |= {"answers_low": low, "answers_median": median, "answers_high": high}
    import polars as pl

    out.rows(row.with_columns(pl.lit(value).alias(name) for name, value in values.items()))


def _show(found: Plan, asked: Asked, out: Output, work: Work, *, title: str) -> None:
    rows = {f"more {found.one}s" if found.judged else f"{found.one}s": [f"{count:,}" for count in found.range]}
    if asked.why:
        rows["answers, with traps" if found.one == "answer" else "answers"] = [f"{count:,}" for count in asked.answers]
    rows["share of all"] = [f"{share:.0%}" for share in (found.judged + found.range) / max(found.items, 1)]
    rows["hours"] = [f"{value:,.1f}" for value in asked.hours]
    if work.assessors > 1:
        rows[f"hours for each of {work.assessors:,}"] = [f"{value / work.assessors:,.1f}" for value in asked.hours]
    rows["cost"] = [f"{value:,.2f}" for value in asked.cost]
    ends = ("low", "median", "high")
    out.show_columns(
        [Column("", list(rows), numeric=False)],
        [Column(end, [cells[place] for cells in rows.values()]) for place, end in enumerate(ends)],
        title=title,
        caption=f"{found.repeats:,} simulated campaigns, looked at every {found.batch:,} {found.unit}; "
        "one in ten takes less than low, one in ten more than high",
    )
    out.show("", found.sentence(work.seconds, answers=asked.answers[1]))
