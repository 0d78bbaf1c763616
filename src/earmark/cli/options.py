"""The options that commands share, each with one name, one meaning and one help text.

A group is a frozen dataclass; the section Parameters of its docstring is the help of its options.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import typer

from earmark.cli.command import argument, option
from earmark.cli.output import Output
from earmark.errors import ParameterError

if TYPE_CHECKING:
    from earmark.campaign.files import KnownFiles
    from earmark.data.judgments import Judgments
    from earmark.data.runs import Runs
    from earmark.inference.baseline import BaselineCheck

# Choices are spelt out here, and not taken from the modules that define them, so that help needs no imports.
Order = Literal["score", "rank"]
Missing = Literal["zero", "drop"]
Aggregation = Literal["mean", "median", "majority"]
FileFormat = Literal["tsv", "trec", "csv", "parquet"]

KNOWN = "What is known about the documents"
READING = "How files are read"
SCORING = "How scores are made"
BELIEVING = "Predictions and what is concluded from them"
JUDGING = "What is judged, and for how long"
ESTIMATING = "How estimates are made"
OUTPUT = "Output"
CHECKING = "Checks against a baseline"

# The exit code of a check that was asked for and failed; bad input has 2.
CHECK_FAILED = 1
# One that cannot be decided from these files has that of bad input.
CHECK_UNDECIDED = 2
MOST_DRAWS = 10_000_000
"""How often something is drawn at most; more draws tell nothing more."""


def _check_encoding(name: str) -> str:
    from earmark.data.files import is_text_encoding

    if not is_text_encoding(name):
        raise typer.BadParameter(f"there is no encoding of text '{name}'; try utf-8 or latin-1")
    return name


def check_probability(value: float) -> float:
    """Refuse a level of intervals that is no probability."""
    if not 0 < value < 1:
        raise ParameterError(f"--level is a probability above 0 and below 1, got {value:g}")
    return value


Encoding = Annotated[
    str, option("NAME", panel=READING, rare=True, callback=_check_encoding, help="The encoding of text files.")
]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How files are read.

    Parameters
    ----------
    order
        What to trust where a run has both: score, as trec_eval does, or rank.
    """

    panel: ClassVar[str] = READING
    order: Annotated[Order, option("COLUMN", rare=True)] = "score"
    encoding: Encoding = "utf-8"

    def runs_of(self, paths: list[Path]) -> Runs:
        """Read runs."""
        from earmark.cli import loading

        return loading.load_runs(paths, order=self.order, encoding=self.encoding)


@dataclass(frozen=True, kw_only=True)
class Inputs(Reading):
    """The runs, and how files are read.

    Parameters
    ----------
    runs
        Runs, one file or more: TREC runs, three columns system, query and document in rank order, or CSV or Parquet
        with named columns. Gzipped files are fine. Or a folder of Parquet files, which may be partitioned by system or
        query (system=a/part.parquet). Or the folder of a campaign, whose settings are then the defaults of all options.
    """

    runs: Annotated[list[Path], argument("RUN")]

    def load(self) -> Runs:
        """Read the runs."""
        return self.runs_of(self.runs)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The judgments.

    Parameters
    ----------
    judgments
        Judgments: TREC qrels, three columns query, document and gain, or CSV or Parquet with named columns. Give the
        option again for more files, or name a folder of files or a quoted pattern such as 'answers/*.csv'. Of several
        answers of one assessor about an item the latest counts: by sequence, then by time, then the larger gain.
        Answers of different assessors are all kept.
    scale
        The judging scale: binary, broad, fine, a range such as 0..3 or 0.0..1.0, or gains such as 0,1,3,7. Guessed
        from the judgments when omitted.
    """

    panel: ClassVar[str] = KNOWN
    judgments: Annotated[list[Path] | None, option("FILE", "-j")] = None
    scale: Annotated[str | None, option("SCALE")] = None

    def load(self, out: Output, encoding: str) -> Judgments | None:
        """Read the judgments, if files were named or a campaign has some."""
        from earmark.cli.folder import folder_judgments, is_folder, kind_of
        from earmark.cli.loading import load_judgments

        if not self.judgments:
            return None
        first, *others = self.judgments
        if is_folder(first) and not others:
            return folder_judgments(first, out) if kind_of([first]) == "grade" else None
        return load_judgments(self.judgments, out, scale=self.scale, encoding=encoding)


@dataclass(frozen=True, kw_only=True)
class Judging(Judged):
    """The judgments, perhaps several of the same document.

    Parameters
    ----------
    aggregate
        How to make one gain of what several assessors gave the same document: mean, median or majority.
    """

    aggregate: Annotated[Aggregation, option("RULE", rare=True)] = "mean"


@dataclass(frozen=True, kw_only=True)
class RequiredJudging(Judging):
    """Judgments that have to be there; every command says what for."""

    # Without field(), the default would be the one that is inherited.
    judgments: Annotated[list[Path], option("FILE", "-j")] = field()


@dataclass(frozen=True, kw_only=True)
class Truth(Judging):
    """Which documents are good, as judgments, cliques or ordered groups say it.

    Parameters
    ----------
    cliques
        Cliques: two columns document and group. The other members of a query's group are relevant, as cover versions
        of one song are. Queries are the documents that at least one run has a list for: of four versions of which
        only one was asked for, one counts.
    groups
        Ordered groups: three columns query, document and group number. Group 1 should come first.
    collection_size
        How many documents could have been retrieved. Measures such as accuracy and fallout need it.
    """

    cliques: Annotated[Path | None, option("FILE")] = None
    groups: Annotated[Path | None, option("FILE")] = None
    collection_size: Annotated[int | None, option("N", min=1, rare=True)] = None


@dataclass(frozen=True, kw_only=True)
class Described:
    """What is known about documents and systems besides judgments.

    Parameters
    ----------
    metadata
        Metadata: a table whose header names the columns document, artist, genre and so on, or three columns document,
        artist and genre without a header.
    artist_column
        The column of the metadata that holds the artist: songs by the same artist tend to be judged alike. When
        omitted, artist.
    genre_column
        The column of the metadata that holds the genre. When omitted, genre.
    attribute
        Another column of the metadata to make features of. Give the option again for more.
    teams
        Who sent which system: two columns system and team.
    """

    panel: ClassVar[str] = KNOWN
    metadata: Annotated[Path | None, option("FILE")] = None
    artist_column: Annotated[str | None, option("NAME", rare=True)] = None
    genre_column: Annotated[str | None, option("NAME", rare=True)] = None
    attribute: Annotated[list[str] | None, option("NAME", rare=True)] = None
    teams: Annotated[Path | None, option("FILE", rare=True)] = None

    def files(self, encoding: str) -> KnownFiles:
        """Return the files and columns to read."""
        from earmark.campaign.files import KnownFiles

        return KnownFiles(self.metadata, self.teams, self.artist_column, self.genre_column, self.attribute, encoding)


@dataclass(frozen=True, kw_only=True)
class Known(Described):
    """What is known about documents and systems besides judgments, what documents are like included.

    Parameters
    ----------
    content
        What documents are like, as numbers, such as an embedding of their sound: an array in .npy with the ids of its
        rows beside it (content.ids.txt for content.npy), or a table with a column document and numbers. Documents that
        are alike are judged alike, as far as judging shows. For the predictor hierarchical.
    content_ids
        The documents of the rows of --content, one id per line, where it is an array and they are not beside it.
    """

    content: Annotated[Path | None, option("FILE")] = None
    content_ids: Annotated[Path | None, option("FILE", rare=True)] = None

    def files(self, encoding: str) -> KnownFiles:
        """Return the files and columns to read."""
        return replace(super().files(encoding), content=self.content, content_ids=self.content_ids)


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """By which measures systems are scored.

    Parameters
    ----------
    measure
        A measure such as AG@5, nDCG@10 or AP. Give the option again for more. The command 'earmark measures' lists
        them all. When omitted, measures that suit what is known.
    missing
        How a query counts that a system did not answer: zero, with the score of an empty list, or drop, not at all.
    """

    panel: ClassVar[str] = SCORING
    measure: Annotated[list[str] | None, option("NAME", "-m")] = None
    missing: Annotated[Missing, option("RULE", rare=True)] = "zero"


@dataclass(frozen=True, kw_only=True)
class OneMeasure(Scoring):
    """By which measure systems are compared.

    Parameters
    ----------
    measure
        The measure that systems are compared by, such as AG@5 or nDCG@10. The command 'earmark measures' lists them
        all. When omitted, AG@5, or as deep as the lists are.
    missing
        What to do about a query that a system did not answer: zero, count it as an empty list, or drop, leave the
        query out for all systems.
    """


@dataclass(frozen=True, kw_only=True)
class Helping:
    """Who computes.

    Parameters
    ----------
    jobs
        How many processes to use. When omitted, all cores, unless the work takes a few seconds only. The results do not
        depend on it.
    cluster
        The address of the scheduler of a Dask cluster, such as tcp://host:8786, whose workers do the work. They need
        the same version of earmark as here; see "Studies on a cluster" in the documentation. The results do not depend
        on it.
    """

    panel: ClassVar[str] = "Who computes"
    jobs: Annotated[int | None, option("N", min=1)] = None
    cluster: Annotated[str | None, option("ADDRESS")] = None

    def __post_init__(self) -> None:
        if self.jobs is not None and self.cluster is not None:
            raise ParameterError("--jobs says how many processes to use here, --cluster who else computes: give one")
        # BLAS reads it when it is loaded. Several threads are slower than one on many small matrices, and give sums
        # other last bits than those of workers, which have one thread each.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"


@dataclass(frozen=True, kw_only=True)
class Checking:
    """Whether any system is worse than a baseline.

    Parameters
    ----------
    baseline
        Compare every system with this one: rows have the system as a and the baseline as b. --pairs adds the pairs of
        other systems.
    fail_if_worse
        Exit with code 1 if a system is shown to be worse than the baseline by more than --margin, and with code 2 if
        documents that nobody judged could turn this.
    """

    panel: ClassVar[str] = CHECKING
    baseline: Annotated[str | None, option("NAME")] = None
    fail_if_worse: Annotated[bool, option("")] = False

    def require_baseline(self) -> None:
        """Refuse a check without anything to check against."""
        if self.fail_if_worse and self.baseline is None:
            raise ParameterError("--fail-if-worse compares with a baseline: name it with --baseline")

    def say(self, check: BaselineCheck, out: Output) -> None:
        """Note what a check says, unless :meth:`conclude` ends the command with the same sentence."""
        if not (self.fail_if_worse and (check.worse.any() or check.open_systems)):
            out.note(check.sentence())

    def conclude(self, *checks: BaselineCheck, advice: str = "") -> None:
        """End the command if this was asked for: with code 1 if a check failed, with 2 and advice if one is open."""
        if not self.fail_if_worse:
            return
        failed = [check.sentence() for check in checks if check.worse.any()]
        if failed:
            print(f"earmark: the check failed: {'; '.join(failed)}", file=sys.stderr)
            raise typer.Exit(CHECK_FAILED)
        unsure = [check.sentence() for check in checks if check.open_systems]
        if unsure:
            print(f"earmark: the check cannot be decided: {'; '.join(unsure)}{advice}", file=sys.stderr)
            raise typer.Exit(CHECK_UNDECIDED)


@dataclass(frozen=True, kw_only=True)
class WritingRuns:
    """Where runs are written.

    Parameters
    ----------
    output
        Where to write the lists. The ending names the format: .tsv for system, query and document; .csv and .parquet
        for named columns; anything else for a TREC run; .gz after it to compress. When omitted, they are printed.
    to
        The format of the file, whatever its ending: tsv, trec, csv or parquet.
    """

    panel: ClassVar[str] = OUTPUT
    output: Annotated[Path | None, option("FILE", "-o")] = None
    to: Annotated[FileFormat | None, option("FORMAT", rare=True)] = None


# Options that stand alone in some commands.
Seed = Annotated[
    int, option("N", min=0, help="The seed of random numbers. The same seed gives the same output to the byte.")
]
Depth = Annotated[int | None, option("K", "-k", min=1, help="Look at the first K documents of every list only.")]
Level = Annotated[float, option("P", callback=check_probability, help="The probability that an interval holds.")]
