"""``earmark crowd questions``: what to ask a crowd."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from earmark.cli.command import option
from earmark.cli.options import Encoding, Seed
from earmark.cli.output import Output
from earmark.wording import counted

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from earmark.crowd.questions import PossiblePairs


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What is asked.

    Parameters
    ----------
    config
        The benchmark, a TOML file: its queries, its documents in categories, and which of them are compared with each
        other. The example explains it.
    example
        Take the example instead: 25 image themes and 470 made-up songs of 12 genres and 14 feelings, after
        Stupar and Michel (2013).
    write_config
        Write the example's configuration to a file, to make your own of, and do nothing else.
    count
        How many questions to draw. When omitted, as many as it takes to ask about every document for every query at
        least once.
    asked
        Questions or answers so far: a table with the columns query, a and b. They are not asked again. Give the option
        again for more.
    top_up
        Ask again the questions of --asked that have too few answers; the files must then contain answers. No new
        questions unless -n is given.
    traps
        Answers of a first phase: the questions on which everybody agreed are mixed in as traps.
    trap_every
        How many questions come with one trap. When omitted, what the configuration says.
    assessors
        How many people answer each question. When omitted, what the configuration says.
    no_cover
        Draw all questions with equal chances, without asking about every document first.
    phase
        The name of this round of questions; imported answers carry it.
    """

    panel: ClassVar[str] = "What is asked"
    config: Annotated[Path | None, option("FILE")] = None
    example: Annotated[bool, option()] = False
    write_config: Annotated[Path | None, option("FILE")] = None
    count: Annotated[int | None, option("N", "-n", min=1)] = None
    asked: Annotated[list[Path] | None, option("FILE")] = None
    top_up: Annotated[bool, option()] = False
    traps: Annotated[Path | None, option("FILE")] = None
    trap_every: Annotated[int | None, option("N", min=1, rare=True)] = None
    assessors: Annotated[int | None, option("N", min=1, rare=True)] = None
    no_cover: Annotated[bool, option(rare=True)] = False
    phase: Annotated[str | None, option("NAME", rare=True)] = None


def tasks_beside(output: Path) -> Path:
    """Return where the tasks of questions go, unless told otherwise."""
    return output.with_name(f"{output.stem}-tasks.csv")


@dataclass(frozen=True, kw_only=True)
class Packing:
    """How questions are packed for a platform.

    Parameters
    ----------
    package
        Make tasks of K questions as well, as Mechanical Turk takes them.
    package_output
        Where to write the tasks. When omitted, beside --output: questions.csv has questions-tasks.csv.
    media_url
        Where documents can be heard or seen, with {document} in place of the id.
    query_url
        Where queries can be heard or seen, with {query} in place of the id.
    """

    panel: ClassVar[str] = "How questions are packed for a platform"
    package: Annotated[int | None, option("K", min=1)] = None
    package_output: Annotated[Path | None, option("FILE")] = None
    media_url: Annotated[str | None, option("URL")] = None
    query_url: Annotated[str | None, option("URL")] = None

    def path(self, output: Path | None) -> Path | None:
        """Say where the tasks go, if any are wanted."""
        from earmark.errors import ParameterError

        if self.package is None:
            if self.package_output or self.media_url or self.query_url:
                raise ParameterError(
                    "--package-output, --media-url and --query-url are for tasks: say how large with --package"
                )
            return None
        if self.package_output is None and output is None:
            raise ParameterError("say where to write tasks with --package-output, or questions with --output")
        return self.package_output or (output and tasks_beside(output))

    def tasks(self, drawn: pl.DataFrame) -> pl.DataFrame:
        """Put the questions into tasks."""
        from earmark.crowd.question_files import package_questions

        urls = {"media_url": self.media_url, "query_url": self.query_url}
        return package_questions(drawn, per_task=self.package or 1, **urls)


def questions(
    asking: Asking,
    packing: Packing,
    out: Output,
    seed: Seed = 0,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Draw questions: which of two documents suits a query better.

    Questions are drawn at random from those that have not been asked. Every document is asked about once for every
    query before any other question. The expected answer of a trap is in the column trap of the questions, which stay
    with you; the tasks for a platform do not contain it.

    Parameters
    ----------
    output
        Write the questions to a CSV file instead of printing.

    Examples
    --------
    earmark crowd questions --example -n 20
    earmark crowd questions --write-config songs.toml
    earmark crowd questions --config songs.toml -o questions.csv
    earmark crowd questions --config songs.toml --traps students.csv -n 5990 -o questions.csv --package 6
        --package-output batch.csv --media-url 'https://example.org/clips/{document}.mp3'
    earmark crowd questions --config songs.toml --asked answers.csv --top-up -o more.csv
    """
    import numpy as np
    import polars as pl

    from earmark.crowd.configuration import build_benchmark, example_config, read_config, write_example
    from earmark.crowd.question_files import write_table
    from earmark.crowd.questions import possible_pairs
    from earmark.data.outputs import together
    from earmark.errors import ParameterError

    if asking.write_config is not None:
        write_example(asking.write_config)
        out.note(f"wrote {asking.write_config}; fill in your documents and pass it as --config")
        out.say_notes()
        return
    if (asking.config is None) == (not asking.example):
        raise ParameterError("say which benchmark to ask about: either --config FILE or --example")
    tasks_path = packing.path(output)
    chosen = example_config() if asking.config is None else read_config(asking.config, encoding=encoding)
    benchmark = build_benchmark(chosen, encoding=encoding)
    for note in benchmark.notes:
        out.note(note)
    people, every = asking.assessors or chosen.assessors, asking.trap_every or chosen.trap_every
    rng = np.random.default_rng(seed)
    pairs = possible_pairs(benchmark, chosen.pairs)
    drawn = _draw(pairs, asking, out, rng, people, encoding)
    if asking.traps is not None:
        drawn = _with_traps(drawn, asking.traps, pairs, out, rng, every, people, encoding)
    if asking.phase is not None:
        drawn = drawn.with_columns(pl.lit(asking.phase).alias("phase"))
    tasks = packing.tasks(drawn)
    with together():
        if output is not None:
            write_table(drawn, output)
            out.note(f"wrote {output}: {counted(drawn.height, 'question')}")
        if tasks_path is not None:
            write_table(tasks, tasks_path)
    if tasks_path is not None:
        out.note(f"wrote {tasks_path}: {counted(tasks.height, 'task')} of {counted(packing.package or 1, 'question')}")
        if tasks["assessors"].n_unique() > 1:
            out.note("tasks need different numbers of people, see their column assessors: make a batch of each")
    if output is not None:
        out.say_notes()
        return
    names = [name for name in ("query", "a", "b", "kind", "trap") if name in drawn.columns]
    blanks = dict.fromkeys(names, lambda cell: cell or "")
    out.print_frame(
        drawn, (*names, "assessors"), keys=len(names), formats=blanks, caption=counted(drawn.height, "question")
    )


def _draw(
    pairs: PossiblePairs, asking: Asking, out: Output, rng: np.random.Generator, people: int, encoding: str
) -> pl.DataFrame:
    """Draw the questions that were asked for, and say what is left uncovered or cannot be had."""
    import numpy as np
    import polars as pl

    from earmark.crowd.question_files import read_questions
    from earmark.crowd.questions import draw_questions, times_asked, unfinished_questions
    from earmark.data.preference_files import read_preferences
    from earmark.data.preferences import Preferences
    from earmark.errors import InputError, ParameterError

    count, asked = asking.count, asking.asked or []
    if asking.no_cover and count is None and not asking.top_up:
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
    if asking.top_up:
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
    avoid = None if asking.traps is None else read_questions(asking.traps, encoding=encoding)
    fresh = draw_questions(
        pairs, count, rng=rng, asked=before, avoid=avoid, assessors=people, cover=not asking.no_cover
    )
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
