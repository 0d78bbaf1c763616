"""``earmark demo``: the story so far on a small made-up collection."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from earmark.cli import options
from earmark.cli.output import Output

EXAMPLES = options.examples("earmark demo", "earmark demo --out somewhere --seed 7")


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write to; it is made if it is not there.")
    ] = Path("earmark-demo"),
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> None:
    """Make a small collection up, evaluate its systems and see which of them differ.

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
    folder = shlex.quote(str(made.runs.parent))
    files = f"{shlex.quote(str(made.runs))} --judgments {shlex.quote(str(made.judgments))}"
    screen.show(
        f"The collection is in {folder}. Try the same with it, and then with your own files:",
        f"  earmark evaluate {files} -m AG@5 -m nDCG@5",
        f"  earmark compare {files} -m AG@5",
        f"  earmark describe {files} --metadata {shlex.quote(str(made.metadata))}",
    )
