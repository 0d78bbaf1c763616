"""``earmark crowd agree``: how far people agree, and whether that is more than chance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli import options
from earmark.cli.crowd_agree_tables import show_alphas, show_errors, show_levels, show_words, show_workers
from earmark.cli.crowd_answers import AnswerFiles, Level, Phases, leave_out_traps, read_answers, require_probability
from earmark.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import polars as pl

    from earmark.crowd.krippendorff import Alpha, Metric
    from earmark.data.judgments import Judgments
    from earmark.data.preferences import Preferences

EXAMPLES = options.examples(
    "earmark crowd agree answers.csv",
    "earmark crowd agree answers.csv --theme-map themes.csv --agreement 6/6,5/6,4/6",
    "earmark crowd agree judgments.csv --graded --scale broad",
)


def agree(
    files: AnswerFiles,
    theme_map: Annotated[
        Path | None,
        typer.Option(
            "--theme-map",
            metavar="FILE",
            help="Themes of queries, for a table each: CSV with the columns query and theme.",
        ),
    ] = None,
    per_query: Annotated[
        bool, typer.Option("--per-query", metavar="", help="One table for each query, as if it were its own theme.")
    ] = False,
    agreement: Annotated[
        str | None,
        typer.Option(
            "--agreement",
            metavar="LEVELS",
            help="Levels of agreement, as shares: 6/6,5/6,4/6. When omitted, every majority of the usual number of "
            "answers.",
        ),
    ] = None,
    min_answers: Annotated[
        int, typer.Option("--min-answers", metavar="N", min=1, help="Leave questions with fewer answers out of levels.")
    ] = 1,
    graded: Annotated[
        bool,
        typer.Option(
            "--graded",
            metavar="",
            help="The files hold judgments with gains, by several assessors named in a column assessor.",
        ),
    ] = False,
    scale: options.ScaleName = None,
    workers: Annotated[
        bool, typer.Option("--workers", metavar="", help="List all workers in a table. Other formats hold them anyway.")
    ] = False,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="N", min=100, help="How often to resample for intervals and p-values.")
    ] = 1000,
    seed: options.Seed = 0,
    phase: Phases = None,
    level: Level = 0.95,
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Show how far people agree on preferences, or on graded judgments.

    For preferences: what share of the questions reaches each level of agreement and how strong preferences are there,
    a test of answering at random, Krippendorff's alpha, whether those who answer much agree less, whether the document
    on the right is chosen too often, and how long answers took. For graded judgments: alpha, and the root mean square
    error between every two assessors.
    """
    import numpy as np

    from earmark.errors import ParameterError

    out = Output.choose(format, quiet=quiet)
    require_probability(level, "--level")
    rng = np.random.default_rng(seed)
    if graded:
        given = {"--theme-map": theme_map, "--per-query": per_query, "--agreement": agreement, "--phase": phase}
        for name, value in given.items():
            if value:
                raise ParameterError(f"{name} is for preferences: --graded judgments have no use for it")
        _agree_on_gains(files, out, scale=scale, resamples=resamples, level=level, rng=rng, encoding=encoding)
        return
    if scale is not None:
        raise ParameterError("--scale is for --graded judgments: preferences have none")
    if theme_map is not None and per_query:
        raise ParameterError("--theme-map and --per-query exclude each other: a query has one theme")
    answers = leave_out_traps(read_answers(files, out, phases=phase, encoding=encoding), out)
    themes = None
    if theme_map is not None:
        from earmark.data.teams import read_assignment

        themes = read_assignment(theme_map, "query", "theme", encoding=encoding)
    elif per_query:
        themes = {query: query for query in answers.queries}
    _agree_on_preferences(
        answers,
        out,
        themes=themes,
        agreement=agreement,
        min_answers=min_answers,
        workers=workers,
        resamples=resamples,
        level=level,
        rng=rng,
    )


def _agree_on_preferences(
    answers: Preferences,
    out: Output,
    *,
    themes: dict[str, str] | None,
    agreement: str | None,
    min_answers: int,
    workers: bool,
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> None:
    import polars as pl

    from earmark.crowd.agreement import agreement_table, random_answering_test
    from earmark.crowd.position import position_bias
    from earmark.crowd.preference_alpha import preference_alpha
    from earmark.crowd.workers import answer_times, volume_correlation, worker_table
    from earmark.measures.preference import parse_levels

    pairs = answers.pairs()
    levels = None if agreement is None else parse_levels(agreement)
    table = agreement_table(pairs, levels=levels, themes=themes, min_answers=min_answers)
    if (pairs.answers != pairs.answers[0]).any():
        out.note(
            f"pairs have {pairs.answers.min()} to {pairs.answers.max()} answers: levels of agreement are shares of them"
        )
    chance = random_answering_test(pairs, n_simulated=10 * resamples, rng=rng)
    # Strengths say more than choices only if they differ.
    chosen = answers.strength[answers.sign != 0]
    metrics: list[Metric] = ["nominal", "interval"] if chosen.size and (chosen != chosen[0]).any() else ["nominal"]
    alphas = [preference_alpha(answers, metric=one, n_resamples=resamples, level=level, rng=rng) for one in metrics]
    people = worker_table(answers)
    volume = volume_correlation(people, level=level)
    position = position_bias(answers, level=level)
    times = answer_times(answers)
    if out.for_people:
        show_levels(table, out)
        show_alphas(alphas, out)
        show_words(chance, volume, position, times, out)
        if workers:
            show_workers(people, out)
        return
    test = {name: value for name, value in vars(chance).items() if name != "levels"}
    out.kinds(
        _of_kind("level", table),
        _of_kind("chance", chance.levels),
        _of_kind("test", pl.DataFrame([test])),
        _of_kind("alpha", _alpha_rows(alphas)),
        _of_kind("volume", pl.DataFrame([vars(volume)])),
        _of_kind("position", position.to_polars()),
        *([_of_kind("time", pl.DataFrame([vars(times)]))] if times.answers else []),
        _of_kind("worker", people),
    )


def _agree_on_gains(
    files: Sequence[Path],
    out: Output,
    *,
    scale: str | None,
    resamples: int,
    level: float,
    rng: np.random.Generator,
    encoding: str,
) -> None:
    import polars as pl

    from earmark.crowd.graded import assessor_errors, graded_alpha

    judgments = _read_judgments(files, out, scale, encoding)
    errors = assessor_errors(judgments)
    metrics: tuple[Metric, ...] = ("ordinal", "interval")
    alphas = [graded_alpha(judgments, metric=one, n_resamples=resamples, level=level, rng=rng) for one in metrics]
    if out.for_people:
        show_alphas(alphas, out)
        show_errors(errors, out)
        return
    summary = {"assessors": alphas[0].assessors} | {
        name: value for name, value in vars(errors).items() if name != "pairs"
    }
    out.kinds(
        _of_kind("alpha", _alpha_rows(alphas)),
        _of_kind("error", errors.pairs),
        _of_kind("errors", pl.DataFrame([summary])),
    )


def _read_judgments(files: Sequence[Path], out: Output, scale: str | None, encoding: str) -> Judgments:
    import polars as pl

    from earmark.cli.loading import load_judgments
    from earmark.data.judgments import Judgments
    from earmark.data.scales import parse_scale

    if len(files) == 1:
        return load_judgments(files[0], out, scale=scale, encoding=encoding)
    known = None if scale is None else parse_scale(scale)
    parts = [load_judgments(path, out, scale=scale, encoding=encoding) for path in files]
    together = pl.concat([part.frame for part in parts], how="diagonal_relaxed")
    return Judgments.from_frame(together, scale=known)


def _alpha_rows(alphas: Sequence[Alpha]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([vars(one) for one in alphas])


def _of_kind(kind: str, frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return frame.select(pl.lit(kind).alias("kind"), pl.all())
