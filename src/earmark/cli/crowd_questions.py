"""``earmark crowd questions``: what to ask a crowd."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output
from earmark.wording import counted

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from earmark.crowd.questions import PossiblePairs

EXAMPLES = options.examples(
    "earmark crowd questions --example -n 20",
    "earmark crowd questions --write-config songs.toml",
    "earmark crowd questions --config songs.toml -o questions.csv",
    "earmark crowd questions --config songs.toml --traps students.csv -n 5990 -o questions.csv --package 6 "
    "--package-output batch.csv --media-url 'https://example.org/clips/{document}.mp3'",
    "earmark crowd questions --config songs.toml --asked answers.csv --top-up -o more.csv",
)
_WHAT = "What is asked"
_PACKING = "How questions are packed for a platform"


def questions(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="The benchmark, a TOML file: its queries, its documents in categories, and which of them are compared "
            "with each other. The example explains it.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    example: Annotated[
        bool,
        typer.Option(
            "--example",
            metavar="",
            help="Take the example instead: 25 image themes and 470 made-up songs of 12 genres and 14 feelings, after "
            "the paper on soundtrack recommendation.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    write_config: Annotated[
        Path | None,
        typer.Option(
            "--write-config",
            metavar="FILE",
            help="Write the example's configuration to a file, to make your own of, and do nothing else.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            "-n",
            metavar="N",
            min=1,
            help="How many questions to draw. When omitted, as many as it takes to ask about every document for every "
            "query at least once.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    asked: Annotated[
        list[Path] | None,
        typer.Option(
            "--asked",
            metavar="FILE",
            help="Questions or answers so far: a table with the columns query, a and b. They are not asked again. Give "
            "the option again for more.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    top_up: Annotated[
        bool,
        typer.Option(
            "--top-up",
            metavar="",
            help="Ask the questions of --asked, which then have to be answers, that fewer people have answered than "
            "shall; nothing new unless -n says so.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    traps: Annotated[
        Path | None,
        typer.Option(
            "--traps",
            metavar="FILE",
            help="Answers of a first phase: the questions on which everybody agreed are mixed in as traps.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    trap_every: Annotated[
        int | None,
        typer.Option(
            "--trap-every",
            metavar="N",
            min=1,
            help="How many questions come with one trap. When omitted, what the configuration says.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    assessors: Annotated[
        int | None,
        typer.Option(
            "--assessors",
            metavar="N",
            min=1,
            help="How many people answer each question. When omitted, what the configuration says.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    no_cover: Annotated[
        bool,
        typer.Option(
            "--no-cover",
            metavar="",
            help="Draw all questions with equal chances, without asking about every document first.",
            rich_help_panel=_WHAT,
        ),
    ] = False,
    phase: Annotated[
        str | None,
        typer.Option(
            "--phase",
            metavar="NAME",
            help="What to call this round of asking; answers say it too once they are imported.",
            rich_help_panel=_WHAT,
        ),
    ] = None,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the questions to a CSV file instead of printing."),
    ] = None,
    package: Annotated[
        int | None,
        typer.Option(
            "--package",
            metavar="K",
            min=1,
            help="Make tasks of K questions as well, as Mechanical Turk takes them.",
            rich_help_panel=_PACKING,
        ),
    ] = None,
    package_output: Annotated[
        Path | None,
        typer.Option(
            "--package-output",
            metavar="FILE",
            help="Where to write the tasks. When omitted, beside --output: questions.csv has questions-tasks.csv.",
            rich_help_panel=_PACKING,
        ),
    ] = None,
    media_url: Annotated[
        str | None,
        typer.Option(
            "--media-url",
            metavar="URL",
            help="Where documents can be heard or seen, with {document} in place of the id.",
            rich_help_panel=_PACKING,
        ),
    ] = None,
    query_url: Annotated[
        str | None,
        typer.Option(
            "--query-url",
            metavar="URL",
            help="Where queries can be heard or seen, with {query} in place of the id.",
            rich_help_panel=_PACKING,
        ),
    ] = None,
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Draw questions: which of two documents suits a query better.

    Questions are drawn at random from those that have not been asked. Every document is asked about once for every
    query before anything else is. What a trap expects stands in the column trap of the questions, which are yours to
    keep; the tasks for a platform do not say it.
    """
    import numpy as np
    import polars as pl

    from earmark.crowd.configuration import build_benchmark, example_config, read_config, write_example
    from earmark.crowd.question_files import package_questions, write_table
    from earmark.crowd.questions import possible_pairs
    from earmark.errors import ParameterError

    out = Output.choose(format, quiet=quiet)
    if write_config is not None:
        write_example(write_config)
        out.note(f"wrote {write_config}; fill in your documents and pass it as --config")
        out.say_notes()
        return
    if (config is None) == (not example):
        raise ParameterError("say which benchmark to ask about: either --config FILE or --example")
    if package is None and (package_output or media_url or query_url):
        raise ParameterError(
            "--package-output, --media-url and --query-url are for tasks: say how large with --package"
        )
    tasks_path = package_output or (output.with_name(f"{output.stem}-tasks.csv") if output and package else None)
    if package is not None and tasks_path is None:
        raise ParameterError("say where to write tasks with --package-output, or questions with --output")
    chosen = example_config() if config is None else read_config(config, encoding=encoding)
    benchmark = build_benchmark(chosen, encoding=encoding)
    for note in benchmark.notes:
        out.note(note)
    people = assessors or chosen.assessors
    rng = np.random.default_rng(seed)
    pairs = possible_pairs(benchmark, chosen.pairs)
    drawn = _draw(
        pairs, out, rng, count, asked or [], traps, people, top_up=top_up, cover=not no_cover, encoding=encoding
    )
    if traps is not None:
        drawn = _with_traps(drawn, traps, pairs, out, rng, trap_every or chosen.trap_every, people, encoding)
    if phase is not None:
        drawn = drawn.with_columns(pl.lit(phase).alias("phase"))
    tasks = package_questions(drawn, per_task=package or 1, media_url=media_url, query_url=query_url)
    if output is not None:
        write_table(drawn, output)
        out.note(f"wrote {output}: {counted(drawn.height, 'question')}")
    if package is not None and tasks_path is not None:
        write_table(tasks, tasks_path)
        out.note(f"wrote {tasks_path}: {counted(tasks.height, 'task')} of {counted(package, 'question')}")
        if tasks["assessors"].n_unique() > 1:
            out.note("tasks need different numbers of people, see their column assessors: make a batch of each")
    if output is not None:
        out.say_notes()
        return
    _print(drawn, out)


def _draw(
    pairs: PossiblePairs,
    out: Output,
    rng: np.random.Generator,
    count: int | None,
    asked: Sequence[Path],
    traps: Path | None,
    people: int,
    *,
    top_up: bool,
    cover: bool,
    encoding: str,
) -> pl.DataFrame:
    """Draw the questions that were asked for, and say what is left uncovered or cannot be had."""
    import numpy as np
    import polars as pl

    from earmark.crowd.question_files import read_questions
    from earmark.crowd.questions import draw_questions, times_asked, unfinished_questions
    from earmark.data.preference_files import read_preferences
    from earmark.data.preferences import Preferences
    from earmark.errors import InputError, ParameterError

    if not cover and count is None and not top_up:
        raise ParameterError("--no-cover draws as many questions as -n says: give it")
    nothing = pl.DataFrame(schema=dict.fromkeys(("query", "a", "b"), pl.String))
    before = pl.concat(
        [nothing, *(read_questions(path, encoding=encoding).select("query", "a", "b") for path in asked)]
    )
    if before.height and not (pairs.find(before) >= 0).any():
        raise InputError(
            expected="questions of this benchmark",
            got=f"{counted(before.height, 'row')}, none of them one",
            path=asked[0],
            hint="do both use the same ids of queries and documents?",
        )
    again = None
    if top_up:
        if not asked:
            raise ParameterError("--top-up needs answers to top up: give them with --asked")
        answers = Preferences.concat([read_preferences(path, encoding=encoding) for path in asked])
        again = unfinished_questions(pairs, answers, rng=rng, assessors=people)
        if not again.height:
            out.note(f"every question of --asked has {counted(people, 'answer')}: nothing to top up")
        else:
            out.note(f"{counted(again.height, 'question')} with fewer than {counted(people, 'answer')}")
        if count is None:
            return again
    avoid = None if traps is None else read_questions(traps, encoding=encoding)
    fresh = draw_questions(pairs, count, rng=rng, asked=before, avoid=avoid, assessors=people, cover=cover)
    if count is not None and fresh.height < count:
        out.note(f"only {counted(fresh.height, 'question')} left to ask")
    covered = times_asked(pairs.benchmark, pl.concat([before, fresh.select("query", "a", "b")])) > 0
    missing = int(np.count_nonzero(~covered))
    of = f"of {covered.size:,} documents for a query"
    out.note(f"{missing:,} {of} not asked about yet" if missing else f"all {of} asked about at least once")
    return fresh if again is None else pl.concat([again, fresh])


def _with_traps(
    drawn: pl.DataFrame,
    path: Path,
    pairs: PossiblePairs,
    out: Output,
    rng: np.random.Generator,
    every: int,
    people: int,
    encoding: str,
) -> pl.DataFrame:
    import polars as pl

    from earmark.crowd.questions import mix_traps
    from earmark.crowd.traps import choose_traps
    from earmark.data.preference_files import read_preferences
    from earmark.errors import InputError

    answers = read_preferences(path, encoding=encoding)
    found = choose_traps(answers, min_answers=people)
    if not found.height:
        raise InputError(
            expected=f"questions on which {people} or more people all agreed, to make traps of",
            got=f"none of {counted(len(answers.pairs()), 'question')}",
            path=path,
        )
    ours = found.filter(
        pl.col("query").is_in(pairs.benchmark.queries)
        & pl.col("a").is_in(pairs.benchmark.documents)
        & pl.col("b").is_in(pairs.benchmark.documents)
    )
    if not ours.height:
        raise InputError(
            expected="traps of this benchmark",
            got=f"{counted(found.height, 'trap')}, none of them one",
            path=path,
            hint="do both use the same ids of queries and documents?",
        )
    if ours.height < found.height:
        out.note(f"{found.height - ours.height:,} of {counted(found.height, 'trap')} are not of this benchmark")
    mixed = mix_traps(drawn, ours, every=every, assessors=people, rng=rng)
    among = mixed.height - drawn.height
    out.note(f"{counted(among, 'trap')} among {counted(drawn.height, 'question')}, from {ours.height:,} different ones")
    return mixed


def _print(drawn: pl.DataFrame, out: Output) -> None:
    if not out.for_people:
        out.rows(drawn)
        return
    names = [name for name in ("query", "a", "b", "kind", "trap") if name in drawn.columns]
    cells = {name: [cell or "" for cell in drawn[name]] for name in names}
    out.show_columns(
        [Column(name, cells[name], numeric=False) for name in names],
        [Column("assessors", [str(number) for number in drawn["assessors"]])],
        caption=f"{counted(drawn.height, 'question')}",
    )
