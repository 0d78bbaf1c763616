"""``earmark next``: what to judge next."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli.campaign_options import CampaignOptions, Choosing, Concluding, Stopping
from earmark.cli.command import option
from earmark.cli.command_lines import next_round
from earmark.cli.options import JUDGING, Seed
from earmark.cli.output import Column, Output, number

if TYPE_CHECKING:
    import polars as pl

    from earmark.campaign.campaign import Campaign


@dataclass(frozen=True, kw_only=True)
class NextOptions(CampaignOptions):
    """The campaign, and which of its items are proposed."""

    concluding: Concluding = field()
    stopping: Stopping = field()
    choosing: Choosing = field()


def next_items(
    context: typer.Context,
    given: NextOptions,
    out: Output,
    group_by_query: Annotated[bool, option(panel=JUDGING)] = False,
    count: Annotated[int, option("N", "-n", min=1)] = 20,
    pair: Annotated[tuple[str, str] | None, option("A B", "--for", panel=JUDGING)] = None,
    seed: Seed = 0,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
    assessor: Annotated[str | None, option("NAME")] = None,
) -> None:
    """Propose the items whose judgments reduce the uncertainty about the systems most.

    An item is a query with a document that some system retrieved for it. The most useful item comes first.

    Parameters
    ----------
    group_by_query
        Propose items of one query after the other, for when listening to the query is half of the work.
    count
        How many items to propose.
    pair
        Two systems: propose what tells most about their difference, whatever the policy, and say how many such
        judgments it takes to decide the pair.
    output
        Write the items to a CSV file as well, with an empty column gain for a person to fill in. When filled in, it is
        a file of judgments: give it to the next command together with the files of earlier rounds. Of a campaign in a
        folder, the items are reserved: nobody else gets them until 'earmark import' brings the file back, or its time
        is over.
    assessor
        Who gets the items that --output reserves. When omitted, somebody new without a name.

    Examples
    --------
    earmark next runs.tsv --judgments judgments.tsv -n 20
    earmark next runs.tsv --metadata metadata.tsv --scale broad -n 50 -o questions.csv
    earmark next runs.tsv -j judgments.tsv --audit 0.2 --group-by-query
    earmark next runs.tsv -j judgments.tsv --policy proportional
    earmark next runs.tsv -j judgments.tsv --for old new
    earmark next study -n 50 -o package.csv --assessor Ann
    """
    from earmark.campaign import statements
    from earmark.campaign.verdict import judging_measure
    from earmark.cli.folder import folder_of, kind_of
    from earmark.data.writers import write_questions
    from earmark.errors import ParameterError

    runs = given.inputs.runs
    stored = folder_of(runs) is not None
    if assessor is not None and (not stored or output is None):
        raise ParameterError("--assessor says who gets what is reserved: earmark next FOLDER -o FILE --assessor NAME")
    if kind_of(runs) == "prefer":
        if pair is not None:
            raise ParameterError("--for is for campaigns that grade documents, this one is of kind prefer")
        from earmark.cli.preferences_next import next_stored

        policy = given.choosing.policy
        next_stored(out, runs, given.stopping, count, seed=seed, policy=policy, output=output, assessor=assessor)
        return
    with out.watching():
        campaign = given.load(out, seed=seed, group_by_query=group_by_query, as_it_is=output is not None)
        stopped = campaign.look is not None and campaign.decision.stop
        frame = campaign.proposal_frame(campaign.propose(count, pair=pair))
        alone = None if pair is None else statements.say_alone(campaign, *pair)
    problem = campaign.problem
    for note in campaign.beliefs.notes:
        out.note(note)
    by = judging_measure(problem.measure)
    if by != problem.measure:
        out.note(f"{problem.measure} is not a weighted sum of gains: items are chosen by {by}")
    if alone is not None:
        out.note(alone)
    left = problem.collection.n_items - campaign.judged
    if left and stopped:
        out.note(f"the stop rule is reached: {campaign.decision.reason}")
    waiting = _waiting(campaign) if stored else 0
    if not left:
        out.note("every item is judged: there is nothing to ask")
    elif left - waiting < count and not (stored and output):
        out.note(f"only {left - waiting:,} items are left to judge{f', {waiting:,} are out' if waiting else ''}")
    if output is not None and stored:
        frame = _reserve(out, campaign, frame, count, output, assessor)
    elif output is not None:
        write_questions(frame, output)
        rank, again = next_round(context, output, given.judging.judgments or [])
        out.note(
            f"wrote {output}: {frame.height:,} questions; fill in the column gain and pass the file together with all "
            f"judgments so far:\n  {rank}\n  {again}"
        )
    if not out.for_people:
        out.rows(frame)
        return
    out.show_columns(
        [Column(name, frame[name].to_list(), numeric=False) for name in ("query", "document")],
        [
            Column("priority", [number(value) for value in frame["priority"]]),
            *_sampled_column(frame),
        ],
        caption=f"{frame.height:,} of {left:,} unjudged items, "
        + (f"by the policy {problem.policy}" if pair is None else f"for {pair[0]} and {pair[1]}"),
    )


def _sampled_column(frame: pl.DataFrame) -> list[Column]:
    if not frame["sampled"].any():
        return []
    return [Column("sampled", ["yes" if one else "" for one in frame["sampled"]], numeric=False)]


def _waiting(campaign: Campaign) -> int:
    """Return how many unjudged items are out with assessors."""
    from earmark.store.stored import StoredCampaign

    assert isinstance(campaign, StoredCampaign)
    return sum(campaign.gains[item] < 0 for item in campaign._out())


def _reserve(
    out: Output, campaign: Campaign, proposed: pl.DataFrame, count: int, output: Path, assessor: str | None
) -> pl.DataFrame:
    """Reserve what is proposed, and return what was reserved; its priority is null where it was not proposed."""
    from earmark.cli.package import write_package
    from earmark.store.stored import StoredCampaign

    assert isinstance(campaign, StoredCampaign)
    wanted = [(query, document, "", sampled) for query, document, _, sampled in proposed.iter_rows()]
    given = write_package(out, campaign, wanted, count, output, assessor).select("query", "document", "sampled")
    priority = proposed.select("query", "document", "priority")
    joined = given.join(priority, on=["query", "document"], how="left", maintain_order="left")
    return joined.select("query", "document", "priority", "sampled")
