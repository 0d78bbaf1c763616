"""``earmark preferences next`` and ``rank``: which pair to ask about next, and how sure one may be by now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from earmark.cli.command import option
from earmark.cli.options import Inputs, Level, Seed
from earmark.cli.output import Column, Output, number
from earmark.wording import counted

if TYPE_CHECKING:
    from earmark.campaign.pairs.campaign import PairCampaign
    from earmark.campaign.pairs.estimates import PreferenceEstimates

ASKING = "What is asked"
_MOST_PAIRS = 15


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Which answers count.

    Parameters
    ----------
    preferences
        What was answered so far: CSV, TSV or Parquet with the columns query, a, b, assessor and choice. Give the option
        again for more files.
    phase
        Take the answers of this phase only. Give the option again for more. All phases together when omitted.
    k
        How many ranks of a list count: a pair counts if one of its documents is among them, and a document that is not
        has the next rank.
    """

    panel: ClassVar[str] = "Which pairs count"
    preferences: Annotated[list[Path] | None, option("FILE")] = None
    phase: Annotated[list[str] | None, option("NAME")] = None
    k: Annotated[int, option("K", "--depth", "-k", min=1)] = 20


@dataclass(frozen=True, kw_only=True)
class Candidates(Answered):
    """Which answers count, and which pairs may be asked about.

    Parameters
    ----------
    candidates
        The pairs that may be asked about: a table with the columns query, a and b, such as 'earmark crowd questions'
        writes. Precision is estimated over all of them. When omitted, every two documents among the first K of any
        lists for the same query, and the pairs answered so far.
    needed
        How many people answer a question; who is preferred by most of them is what precision goes by. When omitted, the
        most frequent number of answers so far, or 6.
    """

    candidates: Annotated[Path | None, option("FILE")] = None
    needed: Annotated[int | None, option("N", "--answers", panel=ASKING, min=1)] = None


PairPolicyName = Annotated[
    str,
    option(
        "NAME",
        panel=ASKING,
        help="What to ask next: adaptive, what is expected to tell most about which system is better; told-apart, "
        "random pairs that systems order differently; random, any candidates.",
    ),
]


def load_campaign(
    out: Output, inputs: Inputs, which: Candidates, *, policy: str = "adaptive", **how: Any
) -> PairCampaign:
    """Read everything that a campaign of pair questions is made of; ``how`` is for the problem."""
    import numpy as np

    from earmark.campaign.pairs.campaign import PairCampaign, PairProblem
    from earmark.campaign.pairs.candidates import (
        PairAnswers,
        answers_about,
        make_candidates,
        make_design,
        pool_candidates,
    )
    from earmark.campaign.pairs.policies import parse_pair_policy
    from earmark.cli.loading import load_preferences
    from earmark.crowd.question_files import read_questions

    chosen_policy = parse_pair_policy(policy)
    lists, said, k, needed = inputs.load(), None, which.k, which.needed
    if which.preferences:
        said = load_preferences(which.preferences, out, phases=which.phase, encoding=inputs.encoding)
    if which.candidates is None:
        questions = pool_candidates(lists, k=k)
        if said is not None:
            questions += list(said.frame.select("query", "a", "b").unique(maintain_order=True).iter_rows())
    else:
        questions = list(
            read_questions(which.candidates, encoding=inputs.encoding).select("query", "a", "b").iter_rows()
        )
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
    return PairCampaign(PairProblem(design, needed, chosen_policy, **how), answers)


def next_pairs(
    inputs: Inputs,
    which: Candidates,
    out: Output,
    policy: PairPolicyName = "adaptive",
    count: Annotated[int, option("N", "-n", panel=ASKING, min=1)] = 20,
    seed: Seed = 0,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
) -> None:
    """Propose the pairs of documents whose comparison tells most about which system is better.

    A model of who prefers what, made of the answers so far and of the order in which systems put documents, says which
    differences between systems are uncertain and which answers would settle them. The most wanted question comes first.

    Parameters
    ----------
    count
        How many questions to propose.
    output
        Write the questions to a CSV file as well: question, query, a, b, and how many assessors to ask.

    Examples
    --------
    earmark preferences next runs.tsv --preferences answers.csv -n 20
    earmark preferences next a.run b.run --candidates pairs.csv -k 20 --answers 6 -n 100 -o questions.csv
    earmark preferences next runs.tsv --preferences answers.csv --policy random --seed 7
    """
    from earmark.crowd.question_files import write_table

    campaign = load_campaign(out, inputs, which, policy=policy, seed=seed)
    frame = campaign.questions(campaign.propose(count))
    open_pairs = int((campaign.look.estimates.verdicts.left > 0).sum())
    if open_pairs < count:
        out.note(f"only {counted(open_pairs, 'question')} left" if open_pairs else "every pair is answered")
    out.note(_standing(campaign.look.estimates))
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
        caption=f"{frame.height:,} of {counted(open_pairs, 'open question')}, by the policy {campaign.problem.policy}",
    )


def rank(
    inputs: Inputs,
    which: Candidates,
    out: Output,
    level: Level = 0.95,
    pairs: Annotated[bool, option()] = False,
) -> None:
    """Estimate the preference precision that systems would have if all candidate pairs were answered.

    With answers to few of the pairs or to none, a model says what people would prefer in the others, how uncertain that
    is, and how sure one may be which system is better. The difference is a minus b.

    Parameters
    ----------
    pairs
        List all pairs of systems in a table, however many there are.

    Examples
    --------
    earmark preferences rank runs.tsv --preferences answers.csv
    earmark preferences rank a.run b.run --preferences answers.csv --candidates pairs.csv --format table
    """
    import polars as pl

    estimates = load_campaign(out, inputs, which, level=level).look.estimates
    out.note(_standing(estimates))
    systems, differences = estimates.systems_frame(), estimates.ranking.pairs_frame()
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
        title=f"Preference precision in the first {counted(which.k, 'rank')}, {100 * level:g}% intervals",
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
    ranking = estimates.ranking
    said = f"{counted(estimates.answered, 'answer')} about {counted(ranking.estimates.items, 'candidate pair')}"
    if ranking.mean_confidence is None:
        return f"{said}: no two systems to compare"
    return f"{said}: mean confidence {ranking.mean_confidence:.3f}, least {ranking.min_confidence:.3f}"
