"""``earmark preferences``: which system orders documents as people do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from earmark.cli.answer_options import RepeatedRule
from earmark.cli.command import option
from earmark.cli.options import Inputs, check_probability
from earmark.cli.output import Column, Output, number, p_value
from earmark.wording import counted

if TYPE_CHECKING:
    from earmark.inference.preference_tests import PreferenceComparison
    from earmark.measures.preference_precision import PreferenceOutcomes

_PAIRS = "Which pairs count"
_TESTING = "How systems are compared"
# Up to six systems.
_FEW_TESTS = 15


def precision(
    inputs: Inputs,
    out: Output,
    preferences: Annotated[Path, option("FILE", panel=_PAIRS)],
    k: Annotated[int, option("K", "--depth", "-k", panel=_PAIRS, min=1)] = 20,
    agreement: Annotated[str | None, option("LEVELS", panel=_PAIRS)] = None,
    min_answers: Annotated[int, option("N", panel=_PAIRS, min=1, rare=True)] = 1,
    phase: Annotated[list[str] | None, option("NAME", panel=_PAIRS)] = None,
    repeated: RepeatedRule = "refuse",
    weighted: Annotated[bool, option(panel=_TESTING)] = False,
    level: Annotated[float, option("P", panel=_TESTING, callback=check_probability)] = 0.95,
    pairs: Annotated[bool, option()] = False,
) -> None:
    """Score systems by how often they order two documents as people do.

    Preference precision is the share of pairs whose preferred document stands higher; weighted, of their strength.
    Intervals take into account that pairs share queries and documents; the tests are Fisher's on the counts and
    Student's t on the strengths, which do not. The difference is a minus b.

    Parameters
    ----------
    preferences
        Preferences: CSV, TSV or Parquet with the columns query, a, b, assessor and choice (a, b or same), and perhaps
        strength, phase and trap (the choice that was expected).
    k
        How many ranks of a list count: a pair counts if one of its documents is among them, and a document that is not
        has the next rank.
    agreement
        How many of the answers to a pair have to choose the same document, as shares: 6/6,5/6,4/6. Each level includes
        the pairs of higher ones. When omitted, every majority of the usual number of answers.
    min_answers
        Leave out pairs with fewer answers: two of two are a share of 6/6 too.
    phase
        Take the answers of this phase only. Give the option again for more. All phases together when omitted.
    weighted
        Show in tables the precision weighted by how strong preferences are. Other formats hold both.
    level
        The probability that an interval holds.
    pairs
        List all pairs of systems in a table, however many there are.

    Examples
    --------
    earmark preferences precision a.run b.run --preferences answers.csv -k 20
    earmark preferences precision runs.tsv --preferences answers.csv --agreement 6/6,5/6,4/6 --phase 2
    earmark preferences precision runs.tsv --preferences answers.csv --weighted --format table
    """
    import polars as pl

    from earmark.cli.loading import load_preferences
    from earmark.inference.preference_tests import compare_preferences
    from earmark.measures.preference_precision import parse_levels, preference_outcomes, usual_levels

    levels = parse_levels(agreement) if agreement is not None else ()
    answers = load_preferences([preferences], out, phases=phase, encoding=inputs.encoding, repeated=repeated)
    lists = inputs.load()
    outcomes = preference_outcomes(lists, answers.pairs(), k=k)
    _note_pairs(outcomes, out)
    if not levels:
        levels = usual_levels(answers.pairs())
        out.note(f"no --agreement given: taking {', '.join(map(str, levels))}")
    found = [compare_preferences(outcomes, one, min_answers=min_answers, level=level) for one in levels]
    _note_alike(outcomes, out)
    if out.for_people:
        _show_systems(found, out, weighted=weighted, k=k)
        _show_tests(found, out, weighted=weighted, everything=pairs)
    else:
        systems, tests = (
            pl.concat(rows) for rows in zip(*((one.systems(), one.tests()) for one in found), strict=True)
        )
        out.named_kinds({"system": systems, "test": tests})


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


def _note_alike(outcomes: PreferenceOutcomes, out: Output) -> None:
    """Name systems that order all pairs alike: their interval is about pairs that nobody asked about."""
    import numpy as np

    from earmark.inference.preference_intervals import same_outcomes

    a, b = np.triu_indices(len(outcomes.systems), k=1)
    alike = same_outcomes(outcomes.correct, outcomes.counted, a, b) & outcomes.counted[a].any(axis=1)
    if not alike.any():
        return
    first = " and ".join(outcomes.systems[side[alike][0]] for side in (a, b))
    others = int(alike.sum()) - 1
    more = f", and {counted(others, 'more pair')} of systems," if others else ""
    out.note(
        f"{first}{more} order all of their pairs alike: the interval of the difference says how far they may differ on "
        "other pairs"
    )


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
    signed = dict.fromkeys(("difference", "low", "high"), "+.4f")
    out.show_frame(
        rows,
        {
            "a": "a",
            "b": "b",
            "agreement": "level",
            "difference": "a − b",
            "low": "from",
            "high": "to",
            "clustered_p_value": "p",
            "p_value": title,
        },
        keys=2,
        formats={**signed, "clustered_p_value": p_value, "p_value": p_value},
        caption="Intervals and p: pairs that share a query or a document may be correlated. The last column takes all "
        "pairs as independent.",
    )
