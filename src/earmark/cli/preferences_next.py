"""``earmark preferences next`` and ``rank``: which pair to ask about next, and how sure one may be by now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output, number
from earmark.wording import counted

if TYPE_CHECKING:
    from earmark.campaign.pair_estimates import PreferenceEstimates

NEXT_EXAMPLES = options.examples(
    "earmark preferences next runs.tsv --preferences answers.csv -n 20",
    "earmark preferences next a.run b.run --candidates pairs.csv -k 20 --answers 6 -n 100 -o questions.csv",
    "earmark preferences next runs.tsv --preferences answers.csv --policy random --seed 7",
)
RANK_EXAMPLES = options.examples(
    "earmark preferences rank runs.tsv --preferences answers.csv",
    "earmark preferences rank a.run b.run --preferences answers.csv --candidates pairs.csv --format table",
)
_PAIRS = "Which pairs count"
_ASKING = "What is asked"
_MOST_PAIRS = 15

PreferencesFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--preferences",
        metavar="FILE",
        help="What was answered so far: CSV, TSV or Parquet with the columns query, a, b, assessor and choice. Give "
        "the option again for more files.",
        rich_help_panel=_PAIRS,
    ),
]
CandidatesFile = Annotated[
    Path | None,
    typer.Option(
        "--candidates",
        metavar="FILE",
        help="The pairs that may be asked about: a table with the columns query, a and b, such as 'earmark crowd "
        "questions' writes. Precision is estimated over all of them. When omitted, every two documents among the first "
        "K of any lists for the same query, and the pairs answered so far.",
        rich_help_panel=_PAIRS,
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
Depth = Annotated[
    int,
    typer.Option(
        "--depth",
        "-k",
        metavar="K",
        min=1,
        help="How many ranks of a list count: a pair counts if one of its documents is among them, and a document that "
        "is not has the next rank.",
        rich_help_panel=_PAIRS,
    ),
]
Needed = Annotated[
    int | None,
    typer.Option(
        "--answers",
        metavar="N",
        min=1,
        help="How many people answer a question; who is preferred by most of them is what precision goes by. When "
        "omitted, the most frequent number of answers so far, or 6.",
        rich_help_panel=_ASKING,
    ),
]
Policy = Annotated[
    str,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="What to ask next: adaptive, what is expected to tell most about which system is better; told-apart, "
        "random pairs that systems order differently; random, any candidates.",
        rich_help_panel=_ASKING,
    ),
]
Level = Annotated[float, typer.Option("--level", metavar="P", help="The probability that an interval holds.")]


def load_pairs(
    out: Output,
    runs: Sequence[Path],
    preferences: Sequence[Path] | None,
    candidates: Path | None,
    *,
    phases: Sequence[str] | None,
    k: int,
    needed: int | None,
    level: float,
    order: options.Order,
    encoding: str,
) -> PreferenceEstimates:
    """Read everything, fit the model and estimate."""
    import numpy as np

    from earmark.campaign.pair_candidates import answers_about, make_candidates, make_design, pool_candidates
    from earmark.campaign.pair_design import PairAnswers
    from earmark.campaign.pair_estimates import estimate_precision
    from earmark.campaign.pair_questions import PairBeliever
    from earmark.cli.loading import load_preferences, load_runs
    from earmark.crowd.question_files import read_questions
    from earmark.errors import ParameterError

    if not 0 < level < 1:
        raise ParameterError(f"--level is a probability above 0 and below 1, got {level:g}")
    lists = load_runs(runs, order=order, encoding=encoding)
    said = load_preferences(preferences, out, phases=phases, encoding=encoding) if preferences else None
    if candidates is None:
        questions = pool_candidates(lists, k=k)
        if said is not None:
            questions += list(said.frame.select("query", "a", "b").unique(maintain_order=True).iter_rows())
    else:
        questions = list(read_questions(candidates, encoding=encoding).select("query", "a", "b").iter_rows())
    table = make_candidates(questions)
    design = make_design(lists, table, k=k)
    answers = PairAnswers.none(len(table))
    if said is not None:
        answers, elsewhere = answers_about(table, said)
        if elsewhere:
            out.note(f"{counted(elsewhere, 'answer')} to pairs that are no candidates left out")
    given = answers.total[answers.total > 0]
    if needed is None:
        needed = int(np.argmax(np.bincount(given))) if given.size else 6
        out.note(f"no --answers given: taking {counted(needed, 'answer')} a question")
    useless = len(table) - int(design.matters.sum())
    out.note(
        f"{counted(len(table), 'candidate pair')}, {useless:,} of them without a document in the first {k} of any list"
    )
    posterior = PairBeliever(design).believe(answers)
    return estimate_precision(posterior, answers, needed=needed, level=level)


def next_pairs(
    runs: options.RunPaths,
    preferences: PreferencesFile = None,
    candidates: CandidatesFile = None,
    phase: Phases = None,
    k: Depth = 20,
    needed: Needed = None,
    policy: Policy = "adaptive",
    count: Annotated[
        int,
        typer.Option(
            "--count", "-n", metavar="N", min=1, help="How many questions to propose.", rich_help_panel=_ASKING
        ),
    ] = 20,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the questions to a CSV file as well: question, query, a, b, and how many assessors to ask.",
        ),
    ] = None,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Propose the pairs of documents whose comparison tells most about which system is better.

    A model of who prefers what, made of the answers so far and of the order in which systems put documents, says which
    differences between systems are uncertain and which answers would settle them. The most wanted question comes first.
    """
    import numpy as np

    from earmark.campaign.pair_questions import parse_pair_policy, proposal_frame, propose_pairs
    from earmark.crowd.question_files import write_table

    out = Output.choose(format, quiet=quiet)
    chosen_policy = parse_pair_policy(policy)
    estimates = load_pairs(
        out,
        runs,
        preferences,
        candidates,
        phases=phase,
        k=k,
        needed=needed,
        level=0.95,
        order=order,
        encoding=encoding,
    )
    rng = np.random.default_rng(seed)
    proposal = propose_pairs(estimates, count, rng, policy=chosen_policy)
    open_pairs = int(np.count_nonzero(estimates.verdicts.left))
    if open_pairs < count:
        out.note(f"only {counted(open_pairs, 'question')} left" if open_pairs else "every pair is answered")
    out.note(_standing(estimates))
    frame = proposal_frame(estimates, proposal, rng)
    if output is not None:
        write_table(frame.drop("priority"), output)
        out.note(f"wrote {output}: {counted(frame.height, 'question')}")
    if not out.for_people:
        out.rows(frame)
        return
    out.show_columns(
        [Column(name, frame[name].to_list(), numeric=False) for name in ("query", "a", "b")],
        [
            Column("assessors", [str(value) for value in frame["assessors"]]),
            Column("priority", [number(value) for value in frame["priority"]]),
        ],
        caption=f"{frame.height:,} of {counted(open_pairs, 'open question')}, by the policy {chosen_policy}",
    )


def rank(
    runs: options.RunPaths,
    preferences: PreferencesFile = None,
    candidates: CandidatesFile = None,
    phase: Phases = None,
    k: Depth = 20,
    needed: Needed = None,
    level: Level = 0.95,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", metavar="", help="List all pairs of systems in a table, however many there are."),
    ] = False,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Estimate the preference precision that systems would have if all candidate pairs were answered.

    With answers to few of the pairs or to none, a model says what people would prefer in the others, how uncertain that
    is, and how sure one may be which system is better. The difference is a minus b.
    """
    import polars as pl

    out = Output.choose(format, quiet=quiet)
    estimates = load_pairs(
        out,
        runs,
        preferences,
        candidates,
        phases=phase,
        k=k,
        needed=needed,
        level=level,
        order=order,
        encoding=encoding,
    )
    out.note(_standing(estimates))
    systems, differences = estimates.systems_frame(), estimates.pairs_frame()
    if not out.for_people:
        out.kinds(systems, differences, pl.DataFrame([estimates.summary()]))
        return
    out.show_columns(
        [Column("system", systems["system"].to_list(), numeric=False)],
        [
            Column("precision", [number(value) for value in systems["precision"]]),
            Column("from", [number(value) for value in systems["low"]]),
            Column("to", [number(value) for value in systems["high"]]),
            Column("pairs", [f"{value:,}" for value in systems["pairs"]]),
        ],
        title=f"Preference precision in the first {counted(k, 'rank')}, {100 * level:g}% intervals",
    )
    if differences.height > _MOST_PAIRS and not pairs:
        out.show(f"{differences.height:,} pairs of systems: --pairs lists them.")
        return
    if not differences.height:
        return
    out.show("")
    out.show_columns(
        [Column(name, differences[name].to_list(), numeric=False) for name in ("a", "b")],
        [
            Column("a − b", [f"{value:+.4f}" for value in differences["difference"]]),
            Column("from", [f"{value:+.4f}" for value in differences["low"]]),
            Column("to", [f"{value:+.4f}" for value in differences["high"]]),
            Column("confidence", [number(value) for value in differences["confidence"]]),
        ],
    )


def _standing(estimates: PreferenceEstimates) -> str:
    said = f"{counted(estimates.answered, 'answer')} about {counted(estimates.verdicts.left.size, 'candidate pair')}"
    if estimates.mean_confidence is None:
        return f"{said}: no two systems to compare"
    return f"{said}: mean confidence {estimates.mean_confidence:.3f}, least {estimates.min_confidence:.3f}"
