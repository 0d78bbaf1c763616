"""The options that commands share, each with one name, one meaning and one help text."""

from __future__ import annotations

import codecs
import inspect
from pathlib import Path
from typing import Annotated, Literal

import typer

from earmark.cli import output

# Choices are spelt out here, and not taken from the modules that define them, so that help needs no imports.
Order = Literal["score", "rank"]
Missing = Literal["zero", "drop"]
Aggregation = Literal["mean", "median", "majority"]
FileFormat = Literal["tsv", "trec", "csv", "parquet"]
Distribution = Literal["normal", "t"]

_KNOWN = "What is known about the documents"
_READING = "How files are read"
_SCORING = "How scores are made"
_BELIEVING = "What is believed about unjudged items"
_JUDGING = "What is judged, and for how long"
_OUTPUT = "Output"


def examples(*lines: str) -> str:
    """Make the end of a help text of example command lines."""
    return "[bold]Examples[/bold]\n" + "\n".join(lines)


def prose(docstring: str | None) -> str:
    """Make help of a docstring: every paragraph on one line, for the terminal to break where it wants."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)


def _check_encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError:
        raise typer.BadParameter(f"there is no encoding '{name}'; try utf-8 or latin-1") from None
    return name


RunPaths = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Runs, one file or more: TREC runs, three columns system, query and document in rank order, or CSV or "
        "Parquet with named columns. Gzipped files are fine.",
        show_default=False,
    ),
]
RunPathsIfAny = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="RUN",
        help="Runs, one file or more, as for other commands; none with --audio.",
        show_default=False,
    ),
]
JudgmentsFile = Annotated[
    Path | None,
    typer.Option(
        "--judgments",
        "-j",
        metavar="FILE",
        help="Judgments: TREC qrels, three columns query, document and gain, or CSV or Parquet with named columns.",
        rich_help_panel=_KNOWN,
    ),
]
CliquesFile = Annotated[
    Path | None,
    typer.Option(
        "--cliques",
        metavar="FILE",
        help="Cliques: two columns document and group. The other members of a query's group are relevant, as cover "
        "versions of one song are.",
        rich_help_panel=_KNOWN,
    ),
]
GroupsFile = Annotated[
    Path | None,
    typer.Option(
        "--groups",
        metavar="FILE",
        help="Ordered groups: three columns query, document and group number. Group 1 should come first.",
        rich_help_panel=_KNOWN,
    ),
]
ScaleName = Annotated[
    str | None,
    typer.Option(
        "--scale",
        metavar="SCALE",
        help="The judging scale: binary, broad, fine, a range such as 0..3 or 0.0..1.0, or gains such as 0,1,3,7. "
        "Guessed from the judgments when omitted.",
        rich_help_panel=_KNOWN,
    ),
]
AggregationName = Annotated[
    Aggregation,
    typer.Option(
        "--aggregate",
        metavar="RULE",
        help="How to make one gain of what several assessors gave the same document: mean, median or majority.",
        rich_help_panel=_KNOWN,
    ),
]
CollectionSize = Annotated[
    int | None,
    typer.Option(
        "--collection-size",
        metavar="N",
        min=1,
        help="How many documents could have been retrieved. Measures such as accuracy and fallout need it.",
        rich_help_panel=_KNOWN,
    ),
]
MetadataFile = Annotated[
    Path | None,
    typer.Option(
        "--metadata",
        metavar="FILE",
        help="Metadata: a table whose header names the columns document, artist, genre and so on, or three columns "
        "document, artist and genre without a header.",
        rich_help_panel=_KNOWN,
    ),
]
ContentFile = Annotated[
    Path | None,
    typer.Option(
        "--content",
        metavar="FILE",
        help="What documents are like, as numbers, such as an embedding of their sound: an array in .npy with the ids "
        "of its rows beside it (content.ids.txt for content.npy), or a table with a column document and numbers. "
        "Documents that are alike are judged alike, as far as judging shows. For the predictor hierarchical.",
        rich_help_panel=_KNOWN,
    ),
]
ContentIds = Annotated[
    Path | None,
    typer.Option(
        "--content-ids",
        metavar="FILE",
        help="The documents of the rows of --content, one id per line, where it is an array and they are not beside "
        "it.",
        rich_help_panel=_KNOWN,
    ),
]
TeamsFile = Annotated[
    Path | None,
    typer.Option(
        "--teams",
        metavar="FILE",
        help="Who sent which system: two columns system and team.",
        rich_help_panel=_KNOWN,
    ),
]
ArtistColumn = Annotated[
    str | None,
    typer.Option(
        "--artist-column",
        metavar="NAME",
        help="The column of the metadata that plays the artist: songs by the same one tend to be judged alike. When "
        "omitted, artist.",
        rich_help_panel=_KNOWN,
    ),
]
GenreColumn = Annotated[
    str | None,
    typer.Option(
        "--genre-column",
        metavar="NAME",
        help="The column of the metadata that plays the genre. When omitted, genre.",
        rich_help_panel=_KNOWN,
    ),
]
AttributeColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--attribute",
        metavar="NAME",
        help="Another column of the metadata to make features of. Give the option again for more.",
        rich_help_panel=_KNOWN,
    ),
]
MeasureNames = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        metavar="NAME",
        help="A measure such as AG@5, nDCG@10 or AP. Give the option again for more. The command 'earmark measures' "
        "lists them all. When omitted, measures that suit what is known.",
        rich_help_panel=_SCORING,
    ),
]
OneMeasure = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        "-m",
        metavar="NAME",
        help="The measure that systems are compared by, such as AG@5 or nDCG@10. The command 'earmark measures' lists "
        "them all. When omitted, AG@5, or as deep as the lists are.",
        rich_help_panel=_SCORING,
    ),
]
MissingRule = Annotated[
    Missing,
    typer.Option(
        "--missing",
        metavar="RULE",
        help="What a query counts that a system did not answer: zero, the score of an empty list, or drop, nothing.",
        rich_help_panel=_SCORING,
    ),
]
SharedMissingRule = Annotated[
    Missing,
    typer.Option(
        "--missing",
        metavar="RULE",
        help="What to do about a query that a system did not answer: zero, count it as an empty list, or drop, leave "
        "the query out for all systems.",
        rich_help_panel=_SCORING,
    ),
]
Inference = Literal["model", "design"]
Target = Literal["sample", "population"]
PredictorName = Annotated[
    str,
    typer.Option(
        "--predictor",
        metavar="NAME",
        help="What predicts unjudged items: hierarchical learns who shares errors with whom; ordinal learns from the "
        "judgments so far, and from past collections with --model; mtc-output and mtc-judge are published models for "
        "music similarity; uniform takes every level as equally likely; external:FILE reads the word of another model, "
        "a score or one column per level.",
        rich_help_panel=_BELIEVING,
    ),
]
ModelFile = Annotated[
    Path | None,
    typer.Option(
        "--model",
        metavar="FILE",
        help="A model fitted on past collections by 'earmark fit', for the predictor ordinal or hierarchical.",
        rich_help_panel=_BELIEVING,
    ),
]
PolicyName = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="What to judge next: variance, what takes the most doubt off undecided pairs (variance:top, off who is "
        "the best; variance:absolute, off the scores); proportional, a sample with known probabilities, for "
        "--inference design; mtc, what tells the most pairs of systems apart; mtc-undecided, the same among undecided "
        "pairs; absolute, what the systems' own scores hang on; random; or balanced, at least ten judgments of a "
        "system or none.",
        rich_help_panel=_JUDGING,
    ),
]
StopName = Annotated[
    str,
    typer.Option(
        "--stop",
        metavar="RULE",
        help="When to stop: mean:0.95 or min:0.95, the mean or the least confidence over pairs; decided:0.9, the share "
        "of decided pairs; top:1, the best system is known; width:0.05, no wider interval; budget:500 judgments; none.",
        rich_help_panel=_JUDGING,
    ),
]
Margin = Annotated[
    float,
    typer.Option(
        "--margin",
        metavar="D",
        min=0.0,
        help="A difference of scores that does not matter: systems that are no farther apart count as decided once "
        "that is sure.",
        rich_help_panel=_JUDGING,
    ),
]
OrderRule = Annotated[
    Order,
    typer.Option(
        "--order",
        metavar="COLUMN",
        help="What to trust where a run has both: score, as trec_eval does, or rank.",
        rich_help_panel=_READING,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="The encoding of text files.",
        callback=_check_encoding,
        rich_help_panel=_READING,
    ),
]
FormatName = Annotated[
    output.Format | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="The shape of the output: table, jsonl or csv. When omitted, a table on a terminal, and jsonl into a pipe "
        "or a file.",
        rich_help_panel=_OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        metavar="",
        help="No messages and no progress bar on standard error, only errors.",
        rich_help_panel=_OUTPUT,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        help="Where random numbers start. The same seed gives the same output to the byte.",
    ),
]
Depth = Annotated[
    int | None,
    typer.Option("--depth", "-k", metavar="K", min=1, help="Look at the first K documents of every list only."),
]
FileFormatName = Annotated[
    FileFormat | None,
    typer.Option(
        "--to",
        metavar="FORMAT",
        help="The format of the file, whatever its ending: tsv, trec, csv or parquet.",
        rich_help_panel=_OUTPUT,
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write the lists. The ending names the format: .tsv for system, query and document; .csv and "
        ".parquet for named columns; anything else for a TREC run; .gz after it to compress. When omitted, they are "
        "printed.",
        rich_help_panel=_OUTPUT,
    ),
]
InferenceName = Annotated[
    Inference,
    typer.Option(
        "--inference",
        metavar="NAME",
        help="What verdicts rest on: model, what is believed; design, a sample with known probabilities (policy "
        "proportional, or an audit), valid whatever the model.",
        rich_help_panel=_BELIEVING,
    ),
]
TargetName = Annotated[
    Target,
    typer.Option(
        "--target",
        metavar="NAME",
        help="What verdicts are about: sample, these queries; population, queries like these.",
        rich_help_panel=_BELIEVING,
    ),
]
Anytime = Annotated[
    bool,
    typer.Option(
        "--anytime",
        metavar="",
        help="Widen all statements so that they hold however often you look; they start at 100 judgments.",
        rich_help_panel=_BELIEVING,
    ),
]
WholeQueries = Annotated[
    bool,
    typer.Option(
        "--whole-queries",
        metavar="",
        help="Sample whole queries instead of items: the way to a guarantee for nDCG and other normalised measures.",
        rich_help_panel=_JUDGING,
    ),
]
GroupByQuery = Annotated[
    bool,
    typer.Option(
        "--group-by-query",
        metavar="",
        help="Propose items of one query after the other, for when listening to the query is half of the work.",
        rich_help_panel=_JUDGING,
    ),
]
AuditShare = Annotated[
    float,
    typer.Option(
        "--audit",
        metavar="SHARE",
        min=0.0,
        max=1.0,
        help="The share of judgments that follow a sample with known probabilities, so that the model can be held "
        "against a guaranteed estimate.",
        rich_help_panel=_JUDGING,
    ),
]
