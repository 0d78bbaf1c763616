"""``earmark demo``: the story so far on a small made-up collection."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output, number

if TYPE_CHECKING:
    from earmark.simulation import SyntheticCollection
    from earmark.simulation.campaigns import Outcome

_STOP = "mean:0.98"
_LOOKS = (0, 20, 50, 100, 200)
EXAMPLES = options.examples("earmark demo", "earmark demo --out somewhere --seed 7")


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write to; it is made if it is not there.")
    ] = Path("earmark-demo"),
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> None:
    """Make a small collection up, evaluate its systems, and see how few judgments would have told which is better.

    It takes a few seconds, needs no files, and ends with the commands that do the same on yours.
    """
    from earmark.cli.comparison_tables import show_comparison
    from earmark.cli.evaluate import show_means
    from earmark.data.collection import Collection, describe
    from earmark.demo import make_demo
    from earmark.evaluation import evaluate
    from earmark.inference.systems import compare

    screen = Output.choose("table", quiet=quiet)
    made = make_demo(out, seed=seed)
    collection = made.collection
    facts = describe(Collection.from_runs(collection.runs), judgments=collection.judgments)
    screen.show(
        f"{facts.systems} systems answered {facts.queries} queries with {facts.results:,} tracks. As they often agree, "
        f"a listener\nhad to judge only {facts.items:,} of them, from 0 (not similar) to 100 (very similar).\n",
        "Which system is best?",
    )
    scores = evaluate(collection.runs, collection.judgments, ["AG@5", "nDCG@5", "RBP(p=0.8)@5"])
    show_means(scores, screen)
    screen.show("\nAnd which differences are more than chance?")
    show_comparison(compare(scores), screen, list_pairs=False)
    _show_campaign(collection, screen, items=facts.items, seed=seed)
    folder = shlex.quote(str(made.runs.parent))
    files = f"{shlex.quote(str(made.runs))} --judgments {shlex.quote(str(made.judgments))}"
    screen.show(
        f"The collection is in {folder}. Try the same with it, and then with your own files:",
        f"  earmark evaluate {files} -m AG@5 -m nDCG@5",
        f"  earmark compare {files} -m AG@5",
        f"  earmark simulate {files} --metadata {shlex.quote(str(made.metadata))} -m AG@5 --stop mean:0.95",
        f"  earmark describe {files} --metadata {shlex.quote(str(made.metadata))}",
    )


def _show_campaign(collection: SyntheticCollection, screen: Output, *, items: int, seed: int) -> None:
    """Show how sure one would have been, and how right, after few judgments."""
    from earmark.measures import parse
    from earmark.predictors.choose import PredictorChoice
    from earmark.simulation.campaigns import Study

    study = Study(
        collection.runs,
        collection.judgments,
        parse("AG@5"),
        PredictorChoice(),
        stop=_STOP,
        metadata=collection.metadata,
        batch=10,
        update_every=10,
        seed=seed,
    )
    screen.show("How few judgments would have done? The listener is asked again, for what takes away most doubt:\n")
    looks: list[Outcome] = []
    with screen.progress(items, "judging") as advance:
        for look in study.repeat(0):
            advance(look.judged - (looks[-1].judged if looks else 0))
            looks.append(look)
    shown = [look for look in looks if look.judged in _LOOKS or look.kind == "stop"]
    screen.show_columns(
        [Column("judged", [f"{look.judged:,}" for look in shown])],
        [
            Column("how sure\n(mean confidence)", [number(look.mean_confidence, digits=3) for look in shown]),
            Column("how right\n(pairs in order)", [number(look.accuracy, digits=3) for look in shown]),
            Column("95% intervals that\nhold the truth", [number(look.coverage_pairs_95, digits=3) for look in shown]),
        ],
    )
    screen.show(f"\nThe campaign stopped after {looks[-1].judged:,} of {items:,} judgments: {looks[-1].reason}.\n")
