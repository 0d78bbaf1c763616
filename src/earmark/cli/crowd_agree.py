"""``earmark crowd agree``: how far people agree, and whether that is more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from earmark.cli.answer_options import Answers
from earmark.cli.command import option
from earmark.cli.options import MOST_DRAWS, Level, Seed
from earmark.cli.output import NOTHING, Cell, Output, equals_p
from earmark.wording import counted

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from earmark.crowd.agreement import RandomAnswering
    from earmark.crowd.graded import AssessorErrors
    from earmark.crowd.krippendorff import Alpha, Metric
    from earmark.crowd.position import PositionBias
    from earmark.crowd.workers import VolumeCorrelation
    from earmark.data.judgments import Judgments
    from earmark.data.preferences import Preferences
    from earmark.inference.proportions import ClusteredShare

_MOST_ROWS = 30
# A share that takes fewer expected questions than this for a test is better tested by simulation.
_ENOUGH_EXPECTED = 5


def agree(
    answers: Answers,
    out: Output,
    theme_map: Annotated[Path | None, option("FILE")] = None,
    per_query: Annotated[bool, option()] = False,
    agreement: Annotated[str | None, option("LEVELS")] = None,
    min_answers: Annotated[int, option("N", min=1)] = 1,
    graded: Annotated[bool, option()] = False,
    scale: Annotated[str | None, option("SCALE")] = None,
    workers: Annotated[bool, option()] = False,
    resamples: Annotated[int, option("N", min=100, max=MOST_DRAWS, rare=True)] = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
) -> None:
    """Show how far people agree on preferences, or on graded judgments.

    For preferences: what share of the questions reaches each level of agreement and how strong preferences are there, a
    test of answering at random, Krippendorff's alpha, whether workers with many answers agree less, whether the
    document on the right is chosen too often, and how long answers took. For graded judgments: alpha, the root mean
    square error between every two assessors, and with --workers the bias, scale use, noise and reliability of
    everybody.

    Parameters
    ----------
    theme_map
        Themes of queries, for a table each: CSV with the columns query and theme.
    per_query
        One table for each query instead of one for each theme.
    agreement
        Levels of agreement, as shares: 6/6,5/6,4/6. When omitted, every majority of the usual number of answers.
    min_answers
        Leave questions with fewer answers out of levels.
    graded
        The files hold judgments with gains, by several assessors named in a column assessor.
    scale
        The judging scale of --graded judgments: binary, broad, fine, a range such as 0..3 or 0.0..1.0, or gains such as
        0,1,3,7. Guessed from the judgments when omitted.
    workers
        List all workers in a table. Other formats hold them anyway.
    resamples
        How often to resample for intervals and p-values.

    Examples
    --------
    earmark crowd agree answers.csv
    earmark crowd agree answers.csv --theme-map themes.csv --agreement 6/6,5/6,4/6
    earmark crowd agree judgments.csv --graded --scale broad --workers
    """
    import numpy as np

    from earmark.crowd.agreement import agreement_table
    from earmark.data.teams import read_assignment
    from earmark.errors import ParameterError
    from earmark.measures.preference_precision import parse_levels

    rng = np.random.default_rng(seed)
    if graded:
        given = {"theme-map": theme_map, "per-query": per_query, "agreement": agreement, "phase": answers.phase}
        for name, value in given.items():
            if value:
                raise ParameterError(f"--{name} is for preferences: --graded judgments do not use it")
        judged = answers.load_grades(out, scale)
        _agree_on_gains(judged, out, resamples=resamples, level=level, rng=rng, list_assessors=workers)
        return
    if scale is not None:
        raise ParameterError("--scale is for --graded judgments: preferences have none")
    if theme_map is not None and per_query:
        raise ParameterError("--theme-map and --per-query exclude each other: a query has one theme")
    said = answers.load(out)
    themes = None
    if theme_map is not None:
        themes = read_assignment(theme_map, "query", "theme", encoding=answers.encoding)
    elif per_query:
        themes = {query: query for query in said.queries}
    levels = None if agreement is None else parse_levels(agreement)
    pairs = said.pairs()
    table = agreement_table(pairs, levels=levels, themes=themes, min_answers=min_answers)
    if (pairs.answers != pairs.answers[0]).any():
        out.note(
            f"pairs have {pairs.answers.min()} to {pairs.answers.max()} answers: levels of agreement are shares of them"
        )
    _agree_on_preferences(said, out, table, list_workers=workers, resamples=resamples, level=level, rng=rng)


def _agree_on_preferences(
    said: Preferences,
    out: Output,
    table: pl.DataFrame,
    *,
    list_workers: bool,
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> None:
    from earmark.crowd.agreement import random_answering_test
    from earmark.crowd.position import position_bias
    from earmark.crowd.preference_alpha import preference_alpha
    from earmark.crowd.workers import answer_times, volume_correlation, worker_table

    chance = random_answering_test(said.pairs(), n_simulated=10 * resamples, rng=rng)
    # Strengths say more than choices only if they differ.
    chosen = said.strength[said.sign != 0]
    metrics: list[Metric] = ["nominal", "interval"] if chosen.size and (chosen != chosen[0]).any() else ["nominal"]
    alphas = [preference_alpha(said, metric=one, n_resamples=resamples, level=level, rng=rng) for one in metrics]
    people = worker_table(said)
    volume = volume_correlation(people, level=level)
    position = position_bias(said, level=level)
    times = answer_times(said)
    if not out.for_people:
        kinds: dict[str, Any] = {
            "level": table,
            "chance": chance.levels,
            "test": [{name: value for name, value in vars(chance).items() if name != "levels"}],
            "alpha": [vars(one) for one in alphas],
            "volume": [vars(volume)],
            "position": position.to_polars(),
            **({"time": [vars(times)]} if times.answers else {}),
            "worker": people,
        }
        out.named_kinds(kinds)
        return
    _show_levels(table, out)
    _show_alphas(alphas, out)
    out.show(_chance(chance), _volume(volume), *_position(position))
    if times.answers:
        out.show(
            f"Seconds per answer: median {times.median:.1f}, mean {times.mean:.1f}, a tenth below {times.tenth:.1f}, "
            f"a tenth above {times.ninetieth:.1f}; {times.hours:,.1f} hours in all."
        )
    if list_workers:
        out.show("")
        out.show_frame(
            people.sort("answers", descending=True, maintain_order=True),
            {"assessor": "worker", **{name: name for name in people.columns if name not in ("assessor", "compared")}},
            formats={"seconds": ".1f"},
            title="Workers",
        )


def _agree_on_gains(
    judgments: Judgments,
    out: Output,
    *,
    resamples: int,
    level: float,
    rng: np.random.Generator,
    list_assessors: bool,
) -> None:
    from earmark.cli.crowd_grades import show_assessors
    from earmark.crowd.grade_models import aggregate_grades
    from earmark.crowd.graded import assessor_errors, graded_alpha

    errors = assessor_errors(judgments)
    metrics: tuple[Metric, ...] = ("ordinal", "interval")
    alphas = [graded_alpha(judgments, metric=one, n_resamples=resamples, level=level, rng=rng) for one in metrics]
    model = None
    if list_assessors or not out.for_people:
        model = aggregate_grades(judgments, method="linear", level=level)
        for note in model.notes:
            out.note(note)
    if out.for_people:
        _show_alphas(alphas, out)
        _show_errors(errors, out)
        if model is not None:
            out.show("")
            show_assessors(model, out)
        return
    assert model is not None
    summary = {"assessors": alphas[0].assessors}
    summary |= {name: value for name, value in vars(errors).items() if name != "pairs"}
    out.named_kinds(
        {
            "alpha": [vars(one) for one in alphas],
            "error": errors.pairs,
            "errors": [summary],
            "assessor": model.assessors,
        }
    )


def _show_levels(table: pl.DataFrame, out: Output) -> None:
    """Show the levels of agreement: all questions in one table, themes one per line in another."""
    import polars as pl

    every = table.filter(pl.col("theme") == table["theme"][0]).head(table["agreement"].n_unique())
    names = ("questions", "share", "strength")
    headers = {"agreement": "agreement", **dict(zip(names, ("questions", "%", "strength"), strict=True))}
    headers |= {f"cumulative_{name}": header for name, header in zip(names, ("or more", "%", "strength"), strict=True)}
    formats = {f"{how}{name}": form for how in ("", "cumulative_") for name, form in _LEVEL_FORMATS.items()}
    total = int(every["cumulative_questions"][-1])
    title = f"Levels of agreement on {counted(total, 'question')}"
    out.show_frame(every, headers, formats=formats, title=title)
    out.show("")
    themes = table[every.height :]
    if themes.height:
        _show_themes(themes, every["agreement"].to_list(), out)


def _show_themes(table: pl.DataFrame, levels: Sequence[str], out: Output) -> None:
    """Show what share of the questions of every theme reaches each level, or a higher one."""
    import polars as pl

    size = len(levels)
    rows = pl.DataFrame({"theme": table["theme"][::size], "questions": table["cumulative_questions"][size - 1 :: size]})
    headers, formats = {"theme": "theme", "questions": "questions"}, {}
    for level in levels[:-1]:
        reached = table.filter(pl.col("agreement") == level)
        for name, header in (("share", f"{level}\n%"), ("strength", "\nstrength")):
            column = f"{level} {name}"
            rows = rows.with_columns(reached[f"cumulative_{name}"].alias(column))
            headers[column], formats[column] = header, _LEVEL_FORMATS[name]
    out.show_frame(
        rows,
        headers,
        formats=formats,
        title="Levels of agreement by theme",
        caption="Each level includes the questions of higher ones.",
    )
    out.show("")


def _show_alphas(alphas: Sequence[Alpha], out: Output) -> None:
    """Show Krippendorff's alpha by metric."""
    import polars as pl

    out.show_frame(
        pl.DataFrame([vars(one) for one in alphas]),
        {
            "metric": "metric",
            "alpha": "alpha",
            "low": "from",
            "high": "to",
            "answers": "answers",
            "assessors": "assessors",
        },
        title=f"Krippendorff's alpha, with {100 * alphas[0].level:g}% intervals",
        caption="1: all agree. 0: as by chance. The interval allows for other queries and other assessors.",
    )
    out.show("")


def _chance(chance: RandomAnswering) -> str:
    if not chance.df:
        return "Answering at random: no question was answered twice, so there is nothing to test."
    said = f"Answering at random: χ² = {chance.statistic:,.2f}, df = {chance.df}, p {equals_p(chance.p_value)}"
    if (chance.levels["expected"] < _ENOUGH_EXPECTED).any():
        simulated = equals_p(chance.simulated_p_value)
        return f"{said}; by simulation, as few questions are expected at some levels, p {simulated}."
    return f"{said}."


def _volume(volume: VolumeCorrelation) -> str:
    if math.isnan(volume.pearson):
        return f"Number of answers and agreement: no correlation to tell with {counted(volume.workers, 'worker')}."
    return (
        f"Number of answers and agreement: r = {volume.pearson:+.3f} ({_ends(volume.low, volume.high, '+.3f')}), "
        f"p {equals_p(volume.p_value)}, Spearman {volume.spearman:+.3f}, over {counted(volume.workers, 'worker')}."
    )


def _position(position: PositionBias) -> list[str]:
    def told(one: ClusteredShare) -> str:
        return f"{_percent(one.share)}% ({_ends(100 * one.low, 100 * one.high, '.1f')}), p {equals_p(one.p_value)}"

    if not position.every.answers:
        return ["On the right: no answer chose a document."]
    lines = [f"The document on the right was chosen in {told(position.every)}, of {position.every.answers:,} answers."]
    if position.pairs_both_ways:
        pairs = counted(position.pairs_both_ways, "pair")
        lines.append(f"Among {pairs} shown both ways round, so that documents cancel out: {told(position.both_ways)}.")
    else:
        lines.append("No pair was shown both ways round: the better documents may have stood on one side.")
    return lines


def _show_errors(errors: AssessorErrors, out: Output) -> None:
    """Show how far assessors are from each other."""
    out.show_frame(
        errors.pairs.sort("rmse", descending=True, maintain_order=True),
        {"a": "a", "b": "b", "items": "items", "rmse": "RMSE", "bias": "a − b"},
        keys=2,
        formats={"bias": "+.4f"},
        title="Errors between assessors, the largest first",
        most=_MOST_ROWS,
    )
    pairs, items = counted(errors.pairs.height, "pair"), counted(errors.items, "item")
    out.show(
        "",
        f"Mean RMSE over {pairs} of assessors {errors.mean_rmse:.4f}; over every two judgments of {items} "
        f"{errors.pooled_rmse:.4f}.",
    )


def _percent(share: float) -> str:
    return NOTHING if math.isnan(share) else f"{100 * share:.2f}"


def _ends(low: float, high: float, form: str) -> str:
    return NOTHING if math.isnan(low) or math.isnan(high) else f"{low:{form}} to {high:{form}}"


_LEVEL_FORMATS: dict[str, Cell] = {"share": _percent, "strength": ".2f"}
