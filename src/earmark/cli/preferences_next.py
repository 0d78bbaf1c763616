"""``earmark preferences next`` and ``rank``: which pair to ask about next, and how sure one may be by now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from earmark.cli import folder, folder_views
from earmark.cli.answer_options import RepeatedRule
from earmark.cli.campaign_options import Stopping
from earmark.cli.command import option
from earmark.cli.options import Inputs, Level, Seed
from earmark.cli.output import Column, Output, number
from earmark.errors import ParameterError
from earmark.wording import counted, decimal, in_percent

if TYPE_CHECKING:
    from earmark.campaign.pairs.campaign import PairCampaign
    from earmark.campaign.pairs.estimates import PreferenceEstimates

    AnyPairs = TypeVar("AnyPairs", bound=PairCampaign)

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
    repeated: RepeatedRule = "refuse"
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
        How many people answer a question. The document that most of them prefer counts as the better one. When omitted,
        the most frequent number of answers so far, or 6.
    """

    candidates: Annotated[Path | None, option("FILE")] = None
    needed: Annotated[int | None, option("N", "--answers", panel=ASKING, min=1)] = None


PairPolicyName = Annotated[
    str,
    option(
        "NAME",
        panel=ASKING,
        help="What to ask next: adaptive, the pairs expected to reduce the uncertainty about systems most; told-apart, "
        "random pairs that systems order differently; random, any candidates.",
    ),
]


def load_campaign(
    out: Output, inputs: Inputs, which: Candidates, *, policy: str | None = None, **how: Any
) -> PairCampaign:
    """Read everything that a campaign of pair questions is made of, from files or from its folder.

    Parameters
    ----------
    policy : str, optional
        What to ask next, where the command asks.
    **how
        For the problem.
    """
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

    if (path := folder.folder_of(inputs.runs)) is not None:
        asked = {"policy": policy} if policy is not None else {}
        wanted = {"estimates.depth": which.k} | {f"estimates.{name}": value for name, value in (asked | how).items()}
        return _said_of(out, folder_views.load_stored_pairs(out, path, wanted), which.k)
    chosen_policy = parse_pair_policy(policy or "adaptive")
    lists, said, k, needed = inputs.load(), None, which.k, which.needed
    if which.preferences:
        said = load_preferences(
            which.preferences, out, phases=which.phase, encoding=inputs.encoding, repeated=which.repeated
        )
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
            out.note(f"{counted(elsewhere, 'answer')} to pairs that are not candidates left out")
    given = answers.total[answers.total > 0]
    if needed is None:
        needed = int(np.argmax(np.bincount(given))) if given.size else 6
        out.note(f"no --answers given: taking {counted(needed, 'answer')} a question")
    return _said_of(out, PairCampaign(PairProblem(design, needed, chosen_policy, **how), answers), k)


def _said_of(out: Output, campaign: AnyPairs, k: int) -> AnyPairs:
    """Say how many pairs there are, and how many of them tell nothing."""
    design = campaign.problem.design
    useless = len(design.pairs) - int(design.matters.sum())
    pairs = counted(len(design.pairs), "candidate pair")
    out.note(f"{pairs}, {useless:,} of them without a document in the first {k} of any list")
    return campaign


def next_pairs(
    inputs: Inputs,
    which: Candidates,
    out: Output,
    policy: PairPolicyName = "adaptive",
    count: Annotated[int, option("N", "-n", panel=ASKING, min=1)] = 20,
    seed: Seed = 0,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
) -> None:
    """Propose the pairs of documents whose comparison reduces the uncertainty about the systems most.

    A model predicts preferences from the answers so far and from the order in which systems rank documents. It shows
    which differences between systems are uncertain and which answers would reduce that uncertainty most; these
    questions come first.

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
    campaign = load_campaign(out, inputs, which, policy=policy, seed=seed)
    if folder.folder_of(inputs.runs) is not None and output is not None:
        raise ParameterError("'earmark next FOLDER -o FILE' reserves questions of a campaign")
    _print_next(out, campaign, count, output)


def next_stored(
    out: Output,
    runs: list[Path],
    stopping: Stopping,
    count: int,
    *,
    seed: int,
    policy: str | None,
    output: Path | None,
    assessor: str | None,
) -> None:
    """Propose pairs of a stored campaign, or reserve them where they go to a file: ``earmark next``."""
    path = folder.folder_of(runs)
    assert path is not None
    wanted = _stop_of(stopping) | {"estimates.seed": seed} | ({} if policy is None else {"estimates.policy": policy})
    campaign = folder_views.load_stored_pairs(out, path, wanted, as_it_is=output is not None)
    _said_of(out, campaign, campaign.folder.settings.estimates.depth)
    if output is None:
        _print_next(out, campaign, count, None)
        return
    from earmark.cli.package import write_package
    from earmark.store.leases import pending_items

    # What is out with others is proposed too, and passed over.
    out_now = campaign.folder.store.read(
        lambda connection: pending_items(connection, campaign.folder.store.campaign, campaign.folder.store.clock())
    )
    asked = campaign.questions(campaign.propose(count + len(out_now))).select("query", "a", "b").rows()
    # The documents of a pair stand in the order of their ids in the store.
    proposed = [(query, min(a, b), max(a, b), False) for query, a, b in asked]
    frame = write_package(out, campaign, proposed, count, output, assessor)
    out.print_frame(frame.select("query", "document", "other").rename({"document": "a", "other": "b"}), keys=3)


def _print_next(out: Output, campaign: PairCampaign, count: int, output: Path | None) -> None:
    from earmark.crowd.question_files import write_table

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

    Few pairs need an answer, or none: a model predicts what people would prefer in the others and how uncertain that
    is, and from this how probable it is that one system is better than another. The difference is a minus b. Every pair
    of systems is taken by itself: nothing is adjusted for their number.

    Intervals and confidences are about answers of people like those who answered: the variance between people is part
    of them. With one person they are about this person alone.

    Parameters
    ----------
    pairs
        List all pairs of systems in a table, however many there are.

    Examples
    --------
    earmark preferences rank runs.tsv --preferences answers.csv
    earmark preferences rank a.run b.run --preferences answers.csv --candidates pairs.csv --format table
    """
    _print_ranking(out, load_campaign(out, inputs, which, level=level), which.k, level, pairs)


def rank_stored(out: Output, runs: list[Path], stopping: Stopping, *, level: float, pairs: bool) -> None:
    """Rank the systems of a stored campaign of kind prefer: ``earmark rank``."""
    path = folder.folder_of(runs)
    assert path is not None
    campaign = folder_views.load_stored_pairs(out, path, _stop_of(stopping) | {"estimates.level": level})
    depth = campaign.folder.settings.estimates.depth
    _print_ranking(out, _said_of(out, campaign, depth), depth, level, pairs)


def _stop_of(stopping: Stopping) -> dict[str, Any]:
    return {f"estimates.{name}": value for name, value in stopping.settings().items()}


def _print_ranking(out: Output, campaign: PairCampaign, k: int, level: float, pairs: bool) -> None:
    import polars as pl

    estimates = campaign.look.estimates
    out.note(_standing(estimates))
    for note in estimates.notes():
        out.note(note)
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
        title=f"Preference precision in the first {counted(k, 'rank')}, {100 * level:g}% intervals",
    )
    if differences.height > _MOST_PAIRS and not pairs:
        out.show(f"{differences.height:,} pairs of systems: --pairs lists them.")
        return
    if not differences.height:
        return
    out.show("")
    shown = estimates.ranking.comparisons_frame()
    out.show_columns(
        [Column(name, shown[name].to_list(), numeric=False) for name in ("a", "b")],
        [
            Column("a − b", [decimal(value, sign="+") for value in shown["difference"]]),
            Column("at least", [decimal(value, sign="+") for value in shown["at_least"]]),
            Column("confidence", [in_percent(value) for value in shown["confidence"]]),
        ],
        caption="a has the better estimate; at least: the bound that the difference exceeds with "
        f"{100 * level:g}% confidence{', each pair by itself' if differences.height > 1 else ''}",
    )


def _standing(estimates: PreferenceEstimates) -> str:
    ranking = estimates.ranking
    said = f"{counted(estimates.answered, 'answer')} about {counted(ranking.estimates.items, 'candidate pair')}"
    if ranking.mean_confidence is None:
        return f"{said}: no two systems to compare"
    return f"{said}: mean confidence {in_percent(ranking.mean_confidence)}, least {in_percent(ranking.min_confidence)}"
