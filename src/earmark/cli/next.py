"""``earmark next``: what to judge next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output, number

if TYPE_CHECKING:
    import polars as pl

    from earmark.campaign.policies import Policy

EXAMPLES = options.examples(
    "earmark next runs.tsv --judgments judgments.tsv -n 20",
    "earmark next runs.tsv --metadata metadata.tsv --scale broad -n 50 -o questions.csv",
    "earmark next runs.tsv -j judgments.tsv --audit 0.2 --group-by-query",
    "earmark next runs.tsv -j judgments.tsv --policy proportional",
)


def next_items(
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
    audit: options.AuditShare = 0.0,
    whole_queries: options.WholeQueries = False,
    group_by_query: options.GroupByQuery = False,
    count: Annotated[int, typer.Option("--count", "-n", metavar="N", min=1, help="How many items to propose.")] = 20,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the items to a CSV file as well, with an empty column gain for a person to fill in; filled in, "
            "it is a file of judgments.",
        ),
    ] = None,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Propose the items whose judgments tell most about the systems.

    An item is a query with a document that some system retrieved for it. The most wanted comes first.
    """
    import numpy as np

    from earmark.campaign.appraisal import judging_measure
    from earmark.campaign.policies import make_policy
    from earmark.campaign.standing import Standing, proposal_frame
    from earmark.cli.setting import Files, load_ground
    from earmark.data.writers import write_questions
    from earmark.predictors.choose import PredictorChoice

    out = Output.choose(format, quiet=quiet)
    chosen_policy = _grouped(make_policy(policy)) if group_by_query else make_policy(policy)
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
    made = choice(ground.setting)
    standing = Standing(ground.setting, ground.measure, made, ground.gains, made.predict(ground.gains, ground.answers))
    for note in made.notes():
        out.note(note)
    by = judging_measure(ground.measure)
    if by != ground.measure:
        out.note(f"{ground.measure} is no weighted sum of gains: items are chosen by {by}")
    rng = np.random.default_rng(seed)
    proposal = standing.proposal(chosen_policy, count, rng, seed=seed, audit=audit, whole_queries=whole_queries)
    left = int(np.count_nonzero(ground.gains < 0))
    if left < count:
        out.note(f"only {left:,} items are left to judge" if left else "every item is judged: there is nothing to ask")
    frame = proposal_frame(ground.setting.collection, proposal)
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
        caption=f"{frame.height:,} of {left:,} unjudged items, by the policy {chosen_policy}",
    )


def _sampled_column(frame: pl.DataFrame) -> list[Column]:
    if not frame["sampled"].any():
        return []
    return [Column("sampled", ["yes" if one else "" for one in frame["sampled"]], numeric=False)]


def _grouped(policy: Policy) -> Policy:
    from dataclasses import replace

    from earmark.campaign.variance import Variance
    from earmark.errors import ParameterError

    if not isinstance(policy, Variance):
        raise ParameterError(f"--group-by-query is for the policy variance, '{policy}' cannot do it")
    return replace(policy, group_by_query=True)
