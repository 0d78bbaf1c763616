"""``earmark rank``: which system is better, and how sure that is, from the judgments there are."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from earmark.cli.campaign_options import CampaignOptions, ConcludingByUnit, Estimating, Sampled, Stopping
from earmark.cli.command import option
from earmark.cli.keeping import Keeping
from earmark.cli.options import ESTIMATING, Checking, Seed
from earmark.cli.output import Output, PaperOutput
from earmark.cli.ranking_tables import (
    latex_tables,
    listed_pairs,
    pair_frames,
    show_by,
    show_check,
    show_pairs,
    show_ranking,
)
from earmark.wording import sentence

if TYPE_CHECKING:
    from earmark.campaign.campaign import Campaign
    from earmark.inference.audit import Audit
    from earmark.inference.confidence import Ranking
    from earmark.inference.pair_choice import PairChoice


@dataclass(frozen=True, kw_only=True)
class RankOptions(CampaignOptions):
    """The campaign, and how sure to be about it."""

    concluding: ConcludingByUnit = field()
    sampled: Sampled = field()
    estimating: Estimating = field()
    stopping: Stopping = field()


def rank(
    context: typer.Context,
    given: RankOptions,
    checking: Checking,
    keeping: Keeping,
    out: PaperOutput,
    audit: Annotated[bool | None, option("", "--audit/--no-audit", panel=ESTIMATING)] = None,
    distribution: Annotated[Literal["normal", "t"], option("NAME", panel=ESTIMATING, rare=True)] = "normal",
    normalised: Annotated[
        Literal["delta", "mode", "truncated", "montecarlo"] | None, option("NAME", panel=ESTIMATING, rare=True)
    ] = None,
    seed: Seed = 0,
    pairs: Annotated[str | None, option("WHICH")] = None,
    by: Annotated[float | None, option("X", panel=ESTIMATING)] = None,
) -> None:
    """Rank systems from few judgments or none, and say how sure every comparison is.

    Items without a judgment are predicted, and the uncertainty of the predictions is part of the intervals and the
    confidence. A table shows the ranking and the pairs that are not decided yet; jsonl and csv hold every pair, with
    the difference a minus b, or those among the 20 best of more than 60 systems. The folder of a campaign of another
    kind gives the results of that kind: the preference precision of systems (prefer), the share of comparisons that
    each system wins (lists), or groups of documents and the agreement of experts (order).

    Where a premise of the verdict fails, nothing is called decided or sure, and the summary names it (withheld): too
    few judgments beside what is expected of any such systems, a predictor that takes errors as independent, or
    judgments of items that were chosen because they are good. A check then ends with exit code 2.

    Exit codes: 0 fine, 1 the check --fail-if-worse failed, 2 bad input, 130 interrupted.

    Parameters
    ----------
    margin
        A difference of scores that does not matter: systems whose difference is surely smaller count as decided, and a
        system may be worse than --baseline by as much.
    fail_if_worse
        Exit with code 1 if a system is worse than the baseline by more than --margin, with a confidence of --level or
        more, adjusted for the number of systems.
    audit
        Compare the model with the guaranteed estimate of the sample in the judgments; by default where they mark
        sampled items.
    distribution
        The distribution of differences, where estimates do not have one of their own, as those of the predictor
        hierarchical do: normal, or t with one degree of freedom less than queries.
    normalised
        How nDCG and nRBP are estimated with a predictor that takes errors as independent (Buckers 2021, chapter 4):
        delta, from expected gains; mode, from the most probable levels; truncated, by draws without improbable levels
        (weighted sampling); montecarlo, by draws from the predictions as they are. Scores are biased by each, in one
        direction or the other. When omitted, montecarlo; the predictor hierarchical has a way of its own.
    pairs
        Which pairs to list, in a table too, however many there are: all (also without a value), top:20 (those among
        the 20 best systems), baseline (those with --baseline) or none. When omitted, all pairs, those with --baseline
        where there is one, or top:20 with more than 60 systems; a table shows the undecided ones. The mean and the
        least confidence are about all pairs in any case.
    by
        Also give, for every pair, the probability that the one system is better than the other by X or more, in both
        directions. Nothing is decided by it; a difference that does not matter is --margin.

    Examples
    --------
    earmark rank runs.tsv --judgments judgments.tsv -m AG@5
    earmark rank runs.tsv -j judgments.tsv --metadata metadata.tsv -m nDCG@5
    earmark rank runs.tsv -j judgments.tsv -m AG@5 --inference design
    earmark rank runs.tsv -j drawn.tsv -m AG@5 --inference design --sample uniform
    earmark rank runs.tsv -j judgments.tsv -m AG@5 --target population --anytime
    earmark rank runs.tsv -j judgments.tsv -m AG@5 --baseline released --fail-if-worse --margin 0.02
    earmark rank runs.tsv -j judgments.tsv -m AG@5 --by 0.3
    earmark rank runs/*.parquet -m AG@10 --pairs top:20
    earmark rank study
    """
    import polars as pl

    from earmark.campaign import statements
    from earmark.cli.folder import kind_of
    from earmark.errors import ParameterError
    from earmark.inference.baseline import check_ranking
    from earmark.inference.headline import may_be_best
    from earmark.inference.pair_choice import PairChoice

    runs, stopping, level = given.inputs.runs, given.stopping, given.estimating.level
    kind = kind_of(runs)
    checking.require_baseline()
    if kind not in (None, "grade") and (checking.baseline is not None or keeping.append is not None):
        name = "--baseline" if checking.baseline is not None else "--append"
        raise ParameterError(f"{name} is for campaigns that grade documents, this one is of kind {kind}")
    if kind not in (None, "grade") and by is not None:
        raise ParameterError(f"--by is for campaigns that grade documents, this one is of kind {kind}")
    if kind == "prefer":
        from earmark.cli.preferences_next import rank_stored

        rank_stored(out, runs, stopping, level=level, pairs=pairs is not None)
        return
    if kind in ("order", "lists"):
        from earmark.cli.rank_kinds import rank_lists, rank_orders

        (rank_lists if kind == "lists" else rank_orders)(out, runs, stopping.plain, level)
        return
    asked = None if pairs is None else PairChoice.parse(pairs)
    if asked is not None and asked.kind == "baseline" and checking.baseline is None:
        raise ParameterError("--pairs baseline lists the pairs with the baseline: name it with --baseline")
    with out.watching():
        campaign = given.load(out, seed=seed, distribution=distribution, normalised=normalised)
        ranking, audited = campaign.ranking, _audit(campaign, audit)
    choice = asked or _usual_pairs(ranking, checking.baseline, out)
    said = [statements.basis(campaign), *([] if audited is None else [str(audited)]), *statements.notes(campaign)]
    for note in said:
        out.note(note)
    margin = stopping.margin or 0.0
    check = None if checking.baseline is None else check_ranking(ranking, checking.baseline, margin=margin)
    if check is not None and checking.fail_if_worse and ranking.withheld is not None:
        raise ParameterError(
            f"no verdict on --baseline {check.baseline}, so neither passed nor failed: {ranking.withheld.note}"
        )
    if check is not None:
        checking.say(check, out)
    frames = [ranking.systems_frame(), *pair_frames(ranking, check, by, choice)]
    frames.append(pl.DataFrame([summary_row(campaign)]))
    if audited is not None:
        frames.append(pl.DataFrame([{"kind": "audit", **asdict(audited)}]))
    if check is not None:
        frames.append(pl.DataFrame([check.row()], schema_overrides={"failed": pl.List(pl.String)}))
    scores = frames[0].select(
        "system",
        pl.lit(str(ranking.estimates.measure)).alias("measure"),
        pl.col("estimate").alias("value"),
        "low",
        "high",
    )
    keeping.keep(context, out, *frames, scores=scores, checks=() if check is None else (check,))
    if out.for_people:
        show_ranking(ranking, out)
        if check is not None:
            show_check(ranking, check, out)
        listed = listed_pairs(ranking, choice, checking.baseline)
        if check is None or (asked is not None and choice.kind != "baseline"):
            show_pairs(ranking, listed, choice.among(checking.baseline), out, everything=asked is not None)
        if by is not None:
            show_by(ranking, listed, by, out, everything=asked is not None)
        # Where two systems may be the best, the report's headline says what would tell them apart.
        told_apart = ranking.withheld is None and may_be_best(ranking).sum() == 2
        verdict = statements.say_verdict(ranking, campaign.forecast() if told_apart else None)
        under = (*map(sentence, verdict.premises), *filter(None, [statements.range_note(verdict.headline)]))
        out.show(f"{ranking.notes()[0]}.", verdict.headline, *under)
    elif out.shape == "latex":
        out.text(latex_tables(ranking, check, by, choice))
    else:
        for note in (ranking.notes()[0], *ranking.premise_notes):
            out.note(note)
        out.kinds(*frames)
    if check is not None:
        checking.conclude(check)


def _usual_pairs(ranking: Ranking, baseline: str | None, out: Output) -> PairChoice:
    """Return which pairs to list where nothing was said, and say so where they are not all."""
    from earmark.inference.pair_choice import PairChoice

    if baseline is not None:
        return PairChoice("baseline")
    n_systems = len(ranking.estimates.systems)
    usual = PairChoice.usual(n_systems)
    if usual.kind != "all":
        out.note(
            f"{n_systems:,} systems make {ranking.confidence.size:,} pairs: listing those{usual.among()}; "
            "--pairs all lists all of them"
        )
    return usual


def summary_row(campaign: Campaign) -> dict[str, Any]:
    """Return the summary of a ranking: how sure it is, what it is about and rests on, and whether to stop."""
    verdict, decision = campaign.verdict, campaign.decision
    withheld = verdict.ranking.withheld
    return {
        **verdict.ranking.summary(),
        "target": campaign.problem.inference.target,
        "basis": verdict.basis,
        "sampled": verdict.sampled,
        "stop": decision.stop,
        "reason": decision.reason,
        "headline": verdict.ranking.sentence(),
        "withheld": None if withheld is None else withheld.name,
        "premises": "; ".join(verdict.ranking.premise_notes) or None,
    }


def _audit(campaign: Campaign, asked: bool | None) -> Audit | None:
    """Compare the model with the sample, where there is one and it was asked for or marked."""
    from earmark.errors import ParameterError

    if campaign.problem.inference.mode != "model" or not (campaign.has_sample if asked is None else asked):
        return None
    if campaign.can_audit:
        return campaign.audit
    if asked:
        raise ParameterError(
            "too few sampled judgments for an audit: judge items from earmark next --audit 0.2 (with the same "
            "--seed and measure); for a measure that is not a weighted sum of gains, also with --whole-queries"
        )
    return None
