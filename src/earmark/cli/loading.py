"""From options to data: what commands read, and what they say about it on standard error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.cli import answer_options, folder, options
from earmark.cli.output import Output
from earmark.wording import counted

if TYPE_CHECKING:
    from earmark.data.ground_truth import Cliques, OrderedGroups
    from earmark.data.judgments import Judgments
    from earmark.data.preferences import Preferences
    from earmark.data.runs import Runs
    from earmark.evaluation import Scores

_MEGABYTE = 10**6
_WORTH_A_BAR = 50 * _MEGABYTE


def load_runs(paths: Iterable[Path], *, order: options.Order = "score", encoding: str = "utf-8") -> Runs:
    """Read runs, of files or of a campaign."""
    from earmark.data.readers import read_runs

    files = list(paths)
    campaign = folder.folder_of(files)
    return folder.folder_runs(campaign) if campaign else read_runs(files, order=order, encoding=encoding)


def load_judgments(
    paths: Sequence[Path], out: Output, *, scale: str | None = None, encoding: str = "utf-8"
) -> Judgments:
    """Read judgments, of files and of campaigns, and say what a reader has to know about them."""
    from earmark.data.judgments import merge_judgments
    from earmark.data.readers import read_judgments
    from earmark.data.scales import parse_scale

    parts = [folder.require_judgments(path, out) for path in paths if folder.is_folder(path)]
    files = [path for path in paths if not folder.is_folder(path)]
    if not files:
        return merge_judgments(parts)
    parts.append(read_judgments(files, scale=None if scale is None else parse_scale(scale), encoding=encoding))
    judgments = merge_judgments(parts)
    for note in judgments.notes():
        out.note(note)
    return judgments


def load_preferences(
    paths: Sequence[Path],
    out: Output,
    *,
    phases: Sequence[str] | None = None,
    encoding: str = "utf-8",
    keep_traps: bool = False,
    repeated: answer_options.Repeated = "refuse",
) -> Preferences:
    """Read answers of one file or more, without those to traps unless asked to, and say what was left out."""
    from earmark.data.preference_files import read_preferences
    from earmark.data.preferences import Preferences
    from earmark.errors import InputError

    if len(paths) == 1 and folder.is_folder(paths[0]):
        return folder.folder_preferences(paths[0])
    parts = [read_preferences(path, encoding=encoding, repeated=repeated) for path in paths]
    answers = Preferences.concat(parts, repeated=repeated) if len(parts) > 1 else parts[0]
    if answers.unanswered:
        out.note(f"{counted(answers.unanswered, 'row')} without a choice left out")
    if answers.replaced:
        out.note(
            f"{counted(answers.replaced, 'answer')} left out: the same worker answered again, the {repeated} counts"
        )
    if phases:
        answers = answers.select(phases=phases)
    elif "phase" in answers.frame.columns and answers.frame["phase"].n_unique() > 1:
        out.note("the answers of all phases are taken together; choose with --phase")
    traps = int(answers.is_trap.sum())
    if not traps or keep_traps:
        return answers
    if traps == len(answers):
        raise InputError(expected="answers to other questions than traps", got=f"{counted(traps, 'trap')} alone")
    out.note(f"{counted(traps, 'answer')} to traps left out")
    return answers.without_traps()


def load_truth(out: Output, truth: options.Truth, encoding: str) -> Judgments | Cliques | OrderedGroups:
    """Read whichever kind of truth was given; there has to be exactly one."""
    from earmark.data.readers import read_cliques, read_groups
    from earmark.errors import ParameterError

    given = [f"--{name}" for name in ("judgments", "cliques", "groups") if getattr(truth, name)]
    if not given:
        raise ParameterError("say what is known about the documents: --judgments, --cliques or --groups")
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(given)} exclude each other: give one of them")
    if truth.judgments:
        return load_judgments(truth.judgments, out, scale=truth.scale, encoding=encoding)
    if truth.scale is not None:
        raise ParameterError(f"--scale belongs to --judgments: {given[0]} has no gains")
    if truth.cliques is not None:
        return read_cliques(truth.cliques, encoding=encoding)
    assert truth.groups is not None
    return read_groups(truth.groups, encoding=encoding)


def load_scores(
    out: Output,
    inputs: options.Inputs,
    truth: options.Truth,
    scoring: options.Scoring,
    *,
    most: int | None = None,
    memory: int | None = None,
) -> Scores:
    """Read runs and truth and score the systems, by at most so many measures where none is named."""
    from earmark.data.judgments import Judgments, require_retrieved
    from earmark.evaluation import evaluate

    known = load_truth(out, truth, inputs.encoding)
    measures = choose_measures(out, scoring.measure, known, most=most)
    how: dict[str, Any] = {
        "missing": scoring.missing,
        "aggregation": truth.aggregate,
        "collection_size": truth.collection_size,
    }
    named = truth.judgments or []
    path = named[0] if len(named) == 1 else None
    if folder.folder_of(inputs.runs) is not None:
        runs = inputs.load()
        scores = evaluate(runs, known, measures, **how)
        if isinstance(known, Judgments) and not scores.judged_results[None][0]:
            require_retrieved(known, runs, path)
    else:
        scores = _score_files(out, inputs, known, measures, path, how, memory)
    for note in scores.notes():
        out.note(note)
    say_judged(scores, known, out)
    _say_groups(scores, known, out)
    return scores


def _score_files(
    out: Output,
    inputs: options.Inputs,
    known: Judgments | Cliques | OrderedGroups,
    measures: Sequence[str],
    judgments: Path | None,
    how: Mapping[str, Any],
    memory: int | None,
) -> Scores:
    """Score systems while their runs are read, in so many bytes of memory."""
    from earmark.errors import InputError
    from earmark.file_evaluation import Limits, evaluate_files

    try:
        total = sum(path.stat().st_size for path in inputs.runs if path.is_file())
        # A bar has to be loaded, which takes longer than a small run.
        bar = (
            out.progress(total // _MEGABYTE, "megabytes of runs") if total > _WORTH_A_BAR else nullcontext(_tell_nobody)
        )
        with bar as advance:
            return evaluate_files(
                inputs.runs,
                known,
                measures,
                order=inputs.order,
                encoding=inputs.encoding,
                limits=Limits(memory, say=out.note, progress=lambda done: advance(done / _MEGABYTE)),
                **how,
            )
    except InputError as error:
        # Judgments of another collection are found without knowing which file they are from.
        if error.path is not None or judgments is None or not error.expected.startswith("judgments"):
            raise
        raise InputError(expected=error.expected, got=error.got, path=judgments, hint=error.hint) from None


def _tell_nobody(done: float) -> None:
    """Show nothing."""


def _say_groups(scores: Scores, known: Judgments | Cliques | OrderedGroups, out: Output) -> None:
    """Warn where a measure of order was given gains that look like group numbers: it would rank the wrong way round."""
    from earmark.data.ground_truth import looks_like_groups
    from earmark.data.judgments import Judgments

    ordered = [str(measure) for measure in scores.measures if measure.needs == "order"]
    if ordered and isinstance(known, Judgments) and looks_like_groups(known):
        out.note(
            f"the judgments look like group numbers: 1, 2, … for every query, and never 0. {ordered[0]} takes the "
            "highest gain for the best document; if group 1 is the best, the ranking is reversed: give the file as "
            "--groups"
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
                "as not relevant: earmark rank predicts them"
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
