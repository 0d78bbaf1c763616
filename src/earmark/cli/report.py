"""``earmark report``: one HTML file that says who is better, how sure that is, and what it rests on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from earmark.cli import options
from earmark.cli.output import Output

EXAMPLES = options.examples(
    "earmark report runs.tsv --judgments judgments.tsv -m AG@5 -o report.html",
    "earmark report runs.tsv -j judgments.csv --metadata metadata.tsv -m nDCG@5 -o report.html --assets paper",
    "earmark report runs.tsv -j judgments.csv -m AG@5 --inference design --target population -o report.html",
)
_OUTPUT = "Output"
_ESTIMATING = "How estimates are made"


def report(
    context: typer.Context,
    runs: options.RunPaths,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the report: one HTML file that needs no other.",
            show_default=False,
            rich_help_panel=_OUTPUT,
        ),
    ],
    assets: Annotated[
        Path | None,
        typer.Option(
            "--assets",
            metavar="DIR",
            help="A folder for the tables as CSV and LaTeX and the figures as SVG; it is made if it is not there.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
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
    inference: options.InferenceName = "model",
    target: options.TargetName = "sample",
    anytime: options.Anytime = False,
    whole_queries: options.WholeQueries = False,
    level: Annotated[
        float,
        typer.Option(
            "--level",
            metavar="P",
            help="The probability that an interval holds; a pair with at least this confidence counts as decided.",
            rich_help_panel=_ESTIMATING,
        ),
    ] = 0.95,
    samples: Annotated[
        int,
        typer.Option(
            "--samples",
            metavar="N",
            min=2,
            help="How often gains are drawn for a measure that is no weighted sum of them, such as nDCG.",
            rich_help_panel=_ESTIMATING,
        ),
    ] = 1000,
    seed: options.Seed = 0,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a report: the verdict in words, the ranking, every pair, what it rests on and how to get it again.

    The page needs no network and no other file, and prints well. Figures need matplotlib (the extra plots).
    """
    from dataclasses import replace

    import polars as pl

    from earmark.campaign.appraisal import Inference
    from earmark.campaign.standing import Standing
    from earmark.cli.rank import nothing_learnt
    from earmark.cli.setting import Files, load_ground
    from earmark.data.content import content_files
    from earmark.errors import ParameterError
    from earmark.plots.style import need_matplotlib
    from earmark.predictors.choose import PredictorChoice
    from earmark.report import Reproduction, find, say_verdict, versions_here, write_assets, write_report

    out = Output.choose(format, quiet=quiet)
    need_matplotlib()
    if not 0 < level < 1:
        raise ParameterError(f"--level is a probability above 0 and below 1, got {level:g}")
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
    chosen = Inference(inference, target, anytime, whole_queries, level)
    described = () if content is None else content_files(content, ids=content_ids)
    read = [path for path in (*runs, judgments, metadata, *described, teams, model) if path is not None]
    findings = find(
        standing,
        chosen,
        judgments=ground.judgments,
        seed=seed,
        samples=samples,
        notes=out.notes,
        reproduction=Reproduction(
            command_line(context), [(str(path), _digest(path)) for path in read], versions_here()
        ),
    )
    unlearnt = nothing_learnt(standing.beliefs, findings.ranking)
    findings = replace(findings, notes=(*findings.notes, *unlearnt))
    written = [output] if assets is None else [output, *write_assets(findings, assets)]
    write_report(findings, output)
    said = say_verdict(findings.ranking, findings.outlook)
    if out.for_people:
        out.show(said.headline, *filter(None, (said.summary, said.ahead)), *(f"  {path}" for path in written))
        return
    out.rows(pl.DataFrame({"file": [str(path) for path in written], "verdict": [said.headline] * len(written)}))


def command_line(context: typer.Context) -> str:
    """Return what was typed, as a shell would take it: arguments, and the options that were given."""
    given = [option for option in context.command.params if _was_given(context, option.name)]
    words = ["earmark", context.info_name or ""]
    for part in sorted(given, key=lambda part: part.param_type_name != "argument"):
        words += _spelt(part, context.params[part.name or ""])
    return shlex.join(words)


def _was_given(context: typer.Context, name: str | None) -> bool:
    source = context.get_parameter_source(name or "")
    return source is not None and source.name == "COMMANDLINE"


def _spelt(part: Any, value: Any) -> Iterator[str]:
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if part.param_type_name == "argument":
        yield from map(str, values)
        return
    name = max(part.opts, key=len)
    for one in values:
        yield from [name] if one is True else [name, str(one)]


def _digest(path: Path) -> str:
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
