"""``earmark preferences``: which system orders documents as people do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from earmark.cli import options
from earmark.cli.output import NOTHING, Column, Output, number, p_value
from earmark.wording import counted

if TYPE_CHECKING:
    from earmark.data.preferences import Preferences
    from earmark.inference.preference_tests import PreferenceComparison
    from earmark.measures.preference import PreferenceOutcomes

_PAIRS = "Which pairs count"
_TESTING = "How systems are compared"
# Up to six systems.
_FEW_TESTS = 15

PRECISION_EXAMPLES = options.examples(
    "earmark preferences precision a.run b.run --preferences answers.csv -k 20",
    "earmark preferences precision runs.tsv --preferences answers.csv --agreement 6/6,5/6,4/6 --phase 2",
    "earmark preferences precision runs.tsv --preferences answers.csv --weighted --format table",
)

PreferencesFile = Annotated[
    Path,
    typer.Option(
        "--preferences",
        metavar="FILE",
        help="Preferences: CSV, TSV or Parquet with the columns query, a, b, assessor and choice (a, b or same), and "
        "perhaps strength, phase and trap (the choice that was expected).",
        rich_help_panel=_PAIRS,
        show_default=False,
    ),
]
Phases = Annotated[
    list[str] | None,
    typer.Option(
        "--phase",
        metavar="NAME",
        help="Take the answers of this phase only. Give the option again for more. All phases together when omitted.",
        rich_help_panel=_PAIRS,
    ),
]


def precision(
    runs: options.RunPaths,
    preferences: PreferencesFile,
    k: Annotated[
        int,
        typer.Option(
            "--depth",
            "-k",
            metavar="K",
            min=1,
            help="How many ranks of a list count: a pair counts if one of its documents is among them, and a document "
            "that is not has the next rank.",
            rich_help_panel=_PAIRS,
        ),
    ] = 20,
    agreement: Annotated[
        str | None,
        typer.Option(
            "--agreement",
            metavar="LEVELS",
            help="How many of the answers to a pair have to choose the same document, as shares: 6/6,5/6,4/6. Each "
            "level includes the pairs of higher ones. When omitted, every majority of the usual number of answers.",
            rich_help_panel=_PAIRS,
        ),
    ] = None,
    min_answers: Annotated[
        int,
        typer.Option(
            "--min-answers",
            metavar="N",
            min=1,
            help="Leave out pairs with fewer answers: two of two are a share of 6/6 too.",
            rich_help_panel=_PAIRS,
        ),
    ] = 1,
    phase: Phases = None,
    weighted: Annotated[
        bool,
        typer.Option(
            "--weighted",
            metavar="",
            help="Show in tables the precision weighted by how strong preferences are. Other formats hold both.",
            rich_help_panel=_TESTING,
        ),
    ] = False,
    level: Annotated[
        float,
        typer.Option("--level", metavar="P", help="The probability that an interval holds.", rich_help_panel=_TESTING),
    ] = 0.95,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", metavar="", help="List all pairs of systems in a table, however many there are."),
    ] = False,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Score systems by how often they order two documents as people do.

    Preference precision is the share of pairs whose preferred document stands higher; weighted, of their strength.
    Intervals take into account that pairs share queries and documents; the tests are Fisher's on the counts and
    Student's t on the strengths, which do not. The difference is a minus b.
    """
    import polars as pl

    from earmark.cli.loading import load_runs
    from earmark.data.preference_files import read_preferences
    from earmark.errors import ParameterError
    from earmark.inference.preference_tests import compare_preferences
    from earmark.measures.preference import parse_levels, preference_outcomes, usual_levels

    out = Output.choose(format, quiet=quiet)
    if not 0 < level < 1:
        raise ParameterError(f"--level is a probability above 0 and below 1, got {level:g}")
    levels = parse_levels(agreement) if agreement is not None else ()
    answers = _choose(read_preferences(preferences, encoding=encoding), phase, out)
    lists = load_runs(runs, order=order, encoding=encoding)
    outcomes = preference_outcomes(lists, answers.pairs(), k=k)
    _note_pairs(outcomes, out)
    if not levels:
        levels = usual_levels(answers.pairs())
        out.note(f"no --agreement given: taking {', '.join(map(str, levels))}")
    found = [compare_preferences(outcomes, one, min_answers=min_answers, level=level) for one in levels]
    if out.for_people:
        _show_systems(found, out, weighted=weighted, k=k)
        _show_tests(found, out, weighted=weighted, everything=pairs)
    else:
        kinds = {
            "system": [one.systems() for one in found],
            "test": [one.tests() for one in found],
        }
        out.kinds(*(pl.concat(frames).select(pl.lit(kind).alias("kind"), pl.all()) for kind, frames in kinds.items()))


def _choose(answers: Preferences, phases: Sequence[str] | None, out: Output) -> Preferences:
    """Take the answers that were asked for, and say what was left out or put together."""
    if answers.unanswered:
        out.note(f"{counted(answers.unanswered, 'row')} without a choice left out")
    if phases:
        answers = answers.select(phases=phases)
    elif "phase" in answers.frame.columns and answers.frame["phase"].n_unique() > 1:
        out.note("the answers of all phases are taken together; choose with --phase")
    traps = int(answers.is_trap.sum())
    if traps:
        from earmark.errors import InputError

        if traps == len(answers):
            raise InputError(expected="answers to other questions than traps", got=f"{counted(traps, 'trap')} alone")
        out.note(f"{counted(traps, 'answer')} to traps left out")
        answers = answers.without_traps()
    return answers


def _note_pairs(outcomes: PreferenceOutcomes, out: Output) -> None:
    import numpy as np

    from earmark.errors import InputError

    pairs = outcomes.pairs
    tied = int(np.count_nonzero(pairs.winner == 0))
    if tied < len(pairs) and not outcomes.counted.any():
        raise InputError(
            expected=f"preferences about documents in the first {counted(outcomes.k, 'rank')} of the lists",
            got=f"{counted(len(pairs), 'pair')}, none with such a document",
            hint="do runs and preferences use the same ids?",
        )
    if tied:
        out.note(f"{tied:,} of {counted(len(pairs), 'pair')} without a preferred document: as many chose either")
    if (pairs.answers != pairs.answers[0]).any():
        out.note(
            f"pairs have {pairs.answers.min()} to {pairs.answers.max()} answers: levels of agreement are shares of them"
        )
    if tied < len(pairs):
        for index in np.flatnonzero(~np.any(outcomes.counted, axis=1)):
            out.note(f"system '{outcomes.systems[index]}' ranks no document of any pair and has no precision")


def _show_systems(found: Sequence[PreferenceComparison], out: Output, *, weighted: bool, k: int) -> None:
    """Show the systems, best first by the level with the most pairs, with an interval for each level."""
    import numpy as np

    prefix = "weighted_" if weighted else ""
    widest = min(found, key=lambda one: one.scores.level.agreeing / one.scores.level.of).systems()
    scores = widest[f"{prefix}precision"].fill_null(-1.0).to_numpy()
    order = np.argsort(-scores, kind="stable")
    values = []
    for one in found:
        frame = one.systems()[order]
        best = frame[f"{prefix}precision"].max()
        cells = frame.select(f"{prefix}precision", f"{prefix}low", f"{prefix}high", "pairs").rows()
        values += [
            Column(
                f"{one.scores.level}", [Text(number(row[0]), style="bold" if row[0] == best else "") for row in cells]
            ),
            Column("from", [number(row[1]) for row in cells]),
            Column("to", [number(row[2]) for row in cells]),
            Column("pairs", [f"{row[3]:,}" for row in cells]),
        ]
    name = "Weighted preference precision" if weighted else "Preference precision"
    out.show_columns(
        [Column("system", widest["system"][order].to_list(), numeric=False)],
        values,
        title=f"{name} in the first {counted(k, 'rank')}, by level of agreement; {100 * found[0].level:g}% intervals",
        caption="Each level includes the pairs of higher ones.",
    )
    out.show("")


def _show_tests(found: Sequence[PreferenceComparison], out: Output, *, weighted: bool, everything: bool) -> None:
    import polars as pl

    test, title = ("t", "t-test\np") if weighted else ("fisher", "Fisher\np")
    rows = pl.concat([one.tests().filter(pl.col("test") == test) for one in found])
    per_level = rows.height // len(found)
    if not per_level:
        return
    if per_level > _FEW_TESTS and not everything:
        out.show(f"{per_level:,} pairs of systems: --pairs lists them.")
        return
    # The pairs of systems in order, and below each the levels.
    rows = rows.with_row_index().sort(pl.col("index") % per_level, maintain_order=True)
    out.show_columns(
        [Column(name, rows[name].to_list(), numeric=False) for name in ("a", "b")],
        [
            Column("level", rows["agreement"].to_list()),
            Column("a − b", [_signed(value) for value in rows["difference"]]),
            Column("from", [_signed(value) for value in rows["low"]]),
            Column("to", [_signed(value) for value in rows["high"]]),
            Column("p", [_p(value) for value in rows["clustered_p_value"]]),
            Column(title, [_p(value) for value in rows["p_value"]]),
        ],
        caption="Intervals and p: pairs that share a query or a document may be correlated. The last column takes all "
        "pairs as independent.",
    )


def _signed(value: float | None) -> str:
    return NOTHING if value is None else f"{value:+.4f}"


def _p(value: float | None) -> str:
    return NOTHING if value is None else p_value(value)
