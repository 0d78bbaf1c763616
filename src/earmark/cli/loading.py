"""From options to data: what commands read, and what they say about it on standard error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from earmark.cli import options
from earmark.cli.output import Output

if TYPE_CHECKING:
    from earmark.data.ground_truth import Cliques, OrderedGroups
    from earmark.data.judgments import Judgments
    from earmark.data.preferences import Preferences
    from earmark.data.runs import Runs
    from earmark.data.scales import Scale
    from earmark.evaluation import Scores


def load_runs(paths: Iterable[Path], *, order: options.Order = "score", encoding: str = "utf-8") -> Runs:
    """Read runs."""
    from earmark.data.readers import read_runs

    return read_runs(list(paths), order=order, encoding=encoding)


def load_judgments(path: Path, out: Output, *, scale: str | None = None, encoding: str = "utf-8") -> Judgments:
    """Read judgments, and say which scale they seem to be on where none was named."""
    from earmark.data.readers import read_judgments
    from earmark.data.scales import parse_scale

    judgments = read_judgments(path, scale=None if scale is None else parse_scale(scale), encoding=encoding)
    if judgments.scale_guessed:
        out.note(f"scale guessed: {_in_words(judgments.scale)}; name it with --scale")
    return judgments


def load_preferences(
    paths: Sequence[Path], out: Output, *, phases: Sequence[str] | None = None, encoding: str = "utf-8"
) -> Preferences:
    """Read answers of one file or more, without those to traps, and say what was left out."""
    from earmark.data.preference_files import read_preferences
    from earmark.data.preferences import Preferences
    from earmark.errors import InputError
    from earmark.wording import counted

    parts = [read_preferences(path, encoding=encoding) for path in paths]
    answers = Preferences.concat(parts) if len(parts) > 1 else parts[0]
    if answers.unanswered:
        out.note(f"{counted(answers.unanswered, 'row')} without a choice left out")
    if phases:
        answers = answers.select(phases=phases)
    traps = int(answers.is_trap.sum())
    if traps:
        if traps == len(answers):
            raise InputError(expected="answers to other questions than traps", got=f"{counted(traps, 'trap')} alone")
        out.note(f"{counted(traps, 'answer')} to traps left out")
        answers = answers.without_traps()
    return answers


def _in_words(scale: Scale) -> str:
    levels = "any number from" if scale.continuous else ""
    ends = f"{levels} {scale.gains[0]:g} to {scale.top:g}".strip()
    return f"{scale} ({ends})"


def load_known(
    out: Output,
    *,
    judgments: Path | None,
    cliques: Path | None,
    groups: Path | None,
    scale: str | None = None,
    encoding: str = "utf-8",
) -> Judgments | Cliques | OrderedGroups:
    """Read whichever kind of knowledge was given; there has to be exactly one."""
    from earmark.data.readers import read_cliques, read_groups
    from earmark.errors import ParameterError

    given = [
        f"--{name}"
        for name, path in (("judgments", judgments), ("cliques", cliques), ("groups", groups))
        if path is not None
    ]
    if not given:
        raise ParameterError("say what is known about the documents: --judgments, --cliques or --groups")
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(given)} exclude each other: give one of them")
    if judgments is not None:
        return load_judgments(judgments, out, scale=scale, encoding=encoding)
    if scale is not None:
        raise ParameterError(f"--scale belongs to --judgments: {given[0]} has no gains")
    if cliques is not None:
        return read_cliques(cliques, encoding=encoding)
    assert groups is not None
    return read_groups(groups, encoding=encoding)


def require_retrieved(judgments: Judgments, runs: Runs, path: Path | None) -> None:
    """Refuse judgments of which no item was retrieved: they are nearly always those of another collection."""
    import polars as pl

    from earmark.errors import InputError

    judged = judgments.frame
    asked = pl.Series(runs.queries, dtype=pl.String)
    shared = judged.filter(pl.col("query").is_in(asked.implode()))
    column, names, known = ("document", runs.documents, shared) if shared.height else ("query", asked, judged)
    if shared.height:
        of_result = asked.gather(runs.list_query[runs.list_of_result])
        retrieved = pl.DataFrame({"query": of_result, "document": runs.documents})
        if shared.join(retrieved, on=["query", "document"], how="semi").height:
            return
    if not names.len() or not judged.height:
        return
    things = {"document": "documents", "query": "queries"}[column]
    raise InputError(
        expected="judgments of some of the documents that were retrieved",
        got=f"judgments of none of them; in the runs, {things} are named like '{names[0]}'",
        path=path,
        hint=f"in the judgments, {things} are named like '{known[column][0]}'",
    )


def say_judged(scores: Scores, known: Judgments | Cliques | OrderedGroups, out: Output) -> None:
    """Say how much of the lists is judged, where that is less than half and a measure takes the rest for worthless."""
    from earmark.data.judgments import Judgments

    if not isinstance(known, Judgments):
        return
    # Deep lists are never judged to their ends, and measures of whole lists are used to that.
    cutoffs = {measure.cutoff for measure in scores.measures if measure.needs_all_judged and measure.cutoff is not None}
    for cutoff in sorted(cutoffs):
        judged, results = scores.judged_results[cutoff]
        if 2 * judged < results:
            out.note(
                f"{judged:,} of {results:,} retrieved documents among the first {cutoff} are judged, the others count "
                "as worth nothing: earmark rank estimates them"
            )
            return


def choose_measures(
    out: Output, given: Sequence[str] | None, known: Judgments | Cliques | OrderedGroups, *, most: int | None = None
) -> list[str]:
    """Return the measures asked for, or those that suit what is known, and then say so."""
    if given:
        return list(given)
    chosen = list(_suitable(known))[:most]
    out.note(f"no --measure given: taking {', '.join(chosen)}")
    return chosen


def _suitable(known: Judgments | Cliques | OrderedGroups) -> tuple[str, ...]:
    from earmark.data.ground_truth import Cliques, OrderedGroups

    if isinstance(known, OrderedGroups):
        return ("ADR",)
    if isinstance(known, Cliques):
        return ("AP", "MR1", "hits@10", "bpref*")
    if known.scale.top == 1 and not known.scale.continuous:
        return ("P@10", "AP", "nDCG@10", "RR")
    if known.scale.continuous or known.scale.top > 10:
        # Any gain above 0 counts as relevant, and on such a scale nearly every gain is: AP would say little.
        return ("AG@5", "nDCG@5")
    return ("AG@5", "nDCG@5", "AP")
