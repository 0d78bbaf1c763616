"""``earmark next``: what to judge next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earmark.cli.command import option
from earmark.cli.options import (
    JUDGING,
    AuditShare,
    Concluding,
    Inputs,
    Judging,
    Known,
    OneMeasure,
    PolicyName,
    Predicting,
    Seed,
    Stopping,
)
from earmark.cli.output import Column, Output, number

if TYPE_CHECKING:
    import polars as pl

    from earmark.campaign.policies import Policy


def next_items(
    inputs: Inputs,
    judging: Judging,
    known: Known,
    scoring: OneMeasure,
    predicting: Predicting,
    concluding: Concluding,
    stopping: Stopping,
    out: Output,
    policy: PolicyName = None,
    audit: AuditShare = 0.0,
    group_by_query: Annotated[bool, option(panel=JUDGING)] = False,
    count: Annotated[int, option("N", "-n", min=1)] = 20,
    seed: Seed = 0,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
) -> None:
    """Propose the items whose judgments tell most about the systems.

    An item is a query with a document that some system retrieved for it. The most wanted comes first.

    Parameters
    ----------
    group_by_query
        Propose items of one query after the other, for when listening to the query is half of the work.
    count
        How many items to propose.
    output
        Write the items to a CSV file as well, with an empty column gain for a person to fill in; filled in, it is a
        file of judgments.

    Examples
    --------
    earmark next runs.tsv --judgments judgments.tsv -n 20
    earmark next runs.tsv --metadata metadata.tsv --scale broad -n 50 -o questions.csv
    earmark next runs.tsv -j judgments.tsv --audit 0.2 --group-by-query
    earmark next runs.tsv -j judgments.tsv --policy proportional
    """
    from earmark.campaign.policies import make_policy
    from earmark.campaign.verdict import judging_measure
    from earmark.cli.loading import load_campaign
    from earmark.data.writers import write_questions

    chosen = None if policy is None else make_policy(policy)
    campaign = load_campaign(
        out,
        inputs,
        judging,
        known,
        scoring,
        predicting,
        stopping,
        inference=concluding.inference_at(),
        policy=_grouped(chosen) if group_by_query else chosen,
        audit=audit,
        seed=seed,
    )
    problem = campaign.problem
    for note in campaign.beliefs.notes:
        out.note(note)
    by = judging_measure(problem.measure)
    if by != problem.measure:
        out.note(f"{problem.measure} is no weighted sum of gains: items are chosen by {by}")
    left = problem.collection.n_items - campaign.judged
    if left and campaign.look is not None and campaign.decision.stop:
        out.note(f"the stop rule is reached: {campaign.decision.reason}")
    frame = campaign.proposal_frame(campaign.propose(count))
    if left < count:
        out.note(f"only {left:,} items are left to judge" if left else "every item is judged: there is nothing to ask")
    if output is not None:
        write_questions(frame, output)
        out.note(f"wrote {output}: {frame.height:,} questions; fill in the column gain and pass it as --judgments")
    if not out.for_people:
        out.rows(frame)
        return
    out.show_columns(
        [Column(name, frame[name].to_list(), numeric=False) for name in ("query", "document")],
        [
            Column("priority", [number(value) for value in frame["priority"]]),
            *_sampled_column(frame),
        ],
        caption=f"{frame.height:,} of {left:,} unjudged items, by the policy {problem.policy}",
    )


def _sampled_column(frame: pl.DataFrame) -> list[Column]:
    if not frame["sampled"].any():
        return []
    return [Column("sampled", ["yes" if one else "" for one in frame["sampled"]], numeric=False)]


def _grouped(policy: Policy | None) -> Policy:
    from dataclasses import replace

    from earmark.campaign.policies.variance import Variance
    from earmark.errors import ParameterError

    if policy is None:
        return Variance(group_by_query=True)
    if not isinstance(policy, Variance):
        raise ParameterError(f"--group-by-query is for the policy variance, '{policy}' cannot do it")
    return replace(policy, group_by_query=True)
