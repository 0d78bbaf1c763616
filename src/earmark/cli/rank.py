"""``earmark rank``: which system is better, and how sure that is, from the judgments there are."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from earmark.cli import options
from earmark.cli.evaluate import header
from earmark.cli.output import Column, Output, number
from earmark.wording import counted

if TYPE_CHECKING:
    from earmark.beliefs.beliefs import Beliefs
    from earmark.campaign.appraisal import Appraiser, Verdict
    from earmark.data.judgments import Judgments
    from earmark.inference.audit import Audit
    from earmark.inference.confidence import Ranking

EXAMPLES = options.examples(
    "earmark rank runs.tsv --judgments judgments.tsv -m AG@5",
    "earmark rank runs.tsv -j judgments.tsv --metadata metadata.tsv -m nDCG@5 --samples 5000",
    "earmark rank runs.tsv -j judgments.tsv -m AG@5 --inference design",
    "earmark rank runs.tsv -j judgments.tsv -m AG@5 --target population --anytime",
)
_ESTIMATING = "How estimates are made"
_BAR = 25
_FEW_PAIRS = 15


def rank(
    runs: options.RunPaths,
    judgments: options.JudgmentsFile = None,
    scale: options.ScaleName = None,
    aggregate: options.AggregationName = "mean",
    metadata: options.MetadataFile = None,
    artist_column: options.ArtistColumn = None,
    genre_column: options.GenreColumn = None,
    attribute: options.AttributeColumns = None,
    content: options.ContentFile = None,
    content_ids: options.ContentIds = None,
    teams: options.TeamsFile = None,
    measure: options.OneMeasure = None,
    missing: options.SharedMissingRule = "zero",
    predictor: options.PredictorName = "hierarchical",
    model: options.ModelFile = None,
    inference: options.InferenceName = "model",
    target: options.TargetName = "sample",
    anytime: options.Anytime = False,
    whole_queries: options.WholeQueries = False,
    audit: Annotated[
        bool | None,
        typer.Option(
            "--audit/--no-audit",
            metavar="",
            help="Hold the model against the guaranteed estimate of the sample in the judgments; by default where they "
            "mark sampled items.",
            rich_help_panel=_ESTIMATING,
        ),
    ] = None,
    level: Annotated[
        float,
        typer.Option(
            "--level",
            metavar="P",
            help="The probability that an interval holds; a pair with at least this confidence counts as decided.",
            rich_help_panel=_ESTIMATING,
        ),
    ] = 0.95,
    distribution: Annotated[
        options.Distribution,
        typer.Option(
            "--distribution",
            metavar="NAME",
            help="What differences are taken to follow where estimates do not say it themselves, as those of the "
            "predictor hierarchical do: normal, or t with one degree of freedom less than queries.",
            rich_help_panel=_ESTIMATING,
        ),
    ] = "normal",
    samples: Annotated[
        int,
        typer.Option(
            "--samples",
            metavar="N",
            min=2,
            help="How often gains are drawn for a measure that is no weighted sum of them, such as nDCG.",
            rich_help_panel=_ESTIMATING,
        ),
    ] = 1000,
    seed: options.Seed = 0,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", metavar="", help="List all pairs in a table too, however many there are."),
    ] = False,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Rank systems from few judgments or none, and say how sure every comparison is.

    What nobody judged is predicted, and the doubt about it goes into the intervals and the confidence. A table shows
    the ranking and the pairs that are not decided yet; jsonl and csv hold every pair, with the difference a minus b.
    """
    import polars as pl

    from earmark.beliefs.beliefs import IndependentBeliefs
    from earmark.campaign.appraisal import Inference
    from earmark.campaign.standing import Standing
    from earmark.cli.setting import Files, load_ground
    from earmark.errors import ParameterError
    from earmark.predictors.choose import PredictorChoice

    out = Output.choose(format, quiet=quiet)
    if not 0 < level < 1:
        raise ParameterError(f"--level is a probability above 0 and below 1, got {level:g}")
    choice = PredictorChoice(predictor, model, encoding)
    ground = load_ground(
        out,
        runs,
        Files(metadata, teams, artist_column, genre_column, attribute, encoding, content, content_ids),
        judgments=judgments,
        scale=scale,
        measure=measure,
        choice=choice,
        missing=missing,
        aggregate=aggregate,
        order=order,
    )
    queries = len(ground.setting.collection.queries)
    if distribution == "t" and queries < 2:
        raise ParameterError("--distribution t needs two queries or more, got one")
    made = choice(ground.setting)
    standing = Standing(ground.setting, ground.measure, made, ground.gains, made.predict(ground.gains, ground.answers))
    degrees = queries - 1 if distribution == "t" else None
    appraiser = standing.appraiser(
        Inference(inference, target, anytime, whole_queries, level), seed=seed, samples=samples
    )
    verdict = appraiser.appraise(standing.beliefs, df=degrees)
    ranking = verdict.ranking
    out.note(f"about {appraiser.inference.about}; {verdict.basis}{'; at any time' if anytime else ''}")
    held_against = _audit(appraiser, standing.beliefs, ground.judgments, audit, out) if inference == "model" else None
    for note in (*made.notes(), *nothing_learnt(standing.beliefs, ranking)):
        out.note(note)
    if distribution == "t" and ranking.estimates.scores.df is not None:
        out.note("--distribution t changes nothing: these estimates have degrees of freedom of their own")
    if isinstance(standing.beliefs, IndependentBeliefs) and standing.beliefs.n_judged < standing.beliefs.n_items:
        out.note(
            "what is believed of one item counts as independent of the others, as in the papers: on real collections "
            "such intervals are too narrow (earmark diagnose measures it)"
        )
    summary, *remarks = ranking.notes()
    if out.for_people:
        for remark in remarks:
            out.note(remark)
        show_ranking(ranking, out)
        _show_pairs(ranking, out, everything=pairs)
        out.show(f"{summary}.", *_leader(ranking))
    else:
        for remark in (summary, *remarks):
            out.note(remark)
        frames = [ranking.systems_frame(), ranking.pairs_frame(), pl.DataFrame([summary_row(verdict, target)])]
        if held_against is not None:
            frames.append(pl.DataFrame([{"kind": "audit", **asdict(held_against)}]))
        out.kinds(*frames)


def summary_row(verdict: Verdict, target: str) -> dict[str, Any]:
    """Return the summary of a ranking with what it is about and what it rests on."""
    return {**verdict.ranking.summary(), "target": target, "basis": verdict.basis, "sampled": verdict.sampled}


def _audit(
    appraiser: Appraiser, beliefs: Beliefs, judgments: Judgments | None, asked: bool | None, out: Output
) -> Audit | None:
    """Hold the model against the sample, where there is one and it was asked for or marked."""
    from earmark.errors import ParameterError

    marked = judgments is not None and "sampled" in judgments.frame.columns and bool(judgments.frame["sampled"].any())
    if not (marked if asked is None else asked):
        return None
    if not appraiser.can_audit(beliefs.judged_gain):
        if asked:
            raise ParameterError(
                "too few sampled judgments for an audit: judge items from earmark next --audit 0.2 (with the same "
                "--seed and measure); for a measure that is no weighted sum of gains, also with --whole-queries"
            )
        return None
    found = appraiser.audit(beliefs)
    out.note(str(found))
    return found


def nothing_learnt(beliefs: Beliefs, ranking: Ranking) -> list[str]:
    """Say so where nothing is judged and everything is believed to be equally good."""
    import numpy as np

    if beliefs.n_judged or np.ptp(beliefs.mean) > 0:
        return []
    if np.any(ranking.estimates.differences.mean[ranking.compared] != 0):
        return ["no judgments: every item counts as equally good, so only the lengths of lists tell systems apart"]
    return ["no judgments: every order is as likely as any other"]


def interval_bar(low: float, estimate: float, high: float, *, start: float, end: float, width: int = _BAR) -> str:
    """Draw an interval on an axis from ``start`` to ``end``: ``···──●──···``."""
    span = end - start

    def place(value: float) -> int:
        return round((value - start) / span * (width - 1)) if span > 0 else 0

    bar = ["·"] * width
    first, middle, last = place(low), place(estimate), place(high)
    bar[first : last + 1] = "─" * (last + 1 - first)
    bar[middle] = "●"
    return "".join(bar)


def show_ranking(ranking: Ranking, out: Output) -> None:
    """Show the systems, best first, with their intervals in figures and as bars."""
    measure, frame = ranking.estimates.measure, ranking.systems_frame()
    start, end = float(ranking.low.min()), float(ranking.high.max())
    rows = frame.select("low", "estimate", "high").rows()
    out.show_columns(
        [
            Column("#", [str(place) for place in frame["rank"]]),
            Column("system", frame["system"].to_list(), numeric=False),
        ],
        [
            Column(header(str(measure), higher_is_better=measure.higher_is_better), [number(row[1]) for row in rows]),
            Column("low", [number(row[0]) for row in rows]),
            Column("high", [number(row[2]) for row in rows]),
            Column("", [interval_bar(*row, start=start, end=end) for row in rows]),
        ],
        title=f"{measure}: {counted(len(rows), 'system')}, {counted(ranking.estimates.queries, 'query', 'queries')}; "
        f"{100 * ranking.level:g}% intervals",
        caption=f"bars from {number(start)} to {number(end)}" if end > start else "",
    )
    out.show("")


def _show_pairs(ranking: Ranking, out: Output, *, everything: bool) -> None:
    """Show the pairs that are not decided, the least sure first, or all of them."""
    import polars as pl

    frame = ranking.pairs_frame().sort("confidence", maintain_order=True)
    if not frame.height:
        return
    listed = frame if everything else frame.filter(pl.col("confidence") < ranking.level)
    undecided = int((frame["confidence"] < ranking.level).sum())
    title = f"{undecided:,} of {frame.height:,} pairs are undecided: confidence below {ranking.level:g}"
    if not undecided:
        title = f"All pairs are decided: confidence of {ranking.level:g} or more"
    if not listed.height:
        out.show(Text(title, style="bold"), "")
        return
    shown = listed if everything else listed.head(_FEW_PAIRS)
    rest = listed.height - shown.height
    out.show_columns(
        [
            Column("a", shown["a"].to_list(), numeric=False),
            Column("b", shown["b"].to_list(), numeric=False),
        ],
        [
            Column("a − b", [f"{value:+.4f}" for value in shown["difference"]]),
            Column("low", [f"{value:+.4f}" for value in shown["low"]]),
            Column("high", [f"{value:+.4f}" for value in shown["high"]]),
            Column("confidence", [number(value) for value in shown["confidence"]]),
        ],
        title=title,
        caption=f"and {rest:,} more: --pairs lists all pairs" if rest else "",
    )
    out.show("")


def _leader(ranking: Ranking) -> list[str]:
    """Say who leads and how sure that is."""
    import numpy as np

    names = ranking.estimates.systems
    best = [names[index] for index in np.flatnonzero(ranking.rank == 1)]
    if len(names) < 2 or len(best) == len(names):
        return []
    if len(best) > 1:
        return [f"{', '.join(best[:-1])} and {best[-1]} share the first place."]
    leader = names.index(best[0])
    a, b = ranking.estimates.a, ranking.estimates.b
    own = ((a == leader) | (b == leader)) & ranking.compared
    if not own.any():
        return []
    closest = np.flatnonzero(own)[np.argmin(ranking.confidence[own])]
    other = names[b[closest] if a[closest] == leader else a[closest]]
    sure = ranking.confidence[closest]
    if sure >= ranking.level:
        return [f"{best[0]} is the best: its least confidence is {sure:.3f}, against {other}."]
    return [f"{best[0]} leads, but is not decided against {other}: confidence {sure:.3f}."]
