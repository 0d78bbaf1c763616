"""The command ``earmark``: its subcommands, and what happens when something is wrong.

Bad input and wrong usage end with one line on standard error and exit code 2; an interrupt ends with 130; a reader that
closes the pipe early is nothing to complain about. Anything else is a mistake in earmark and shows its traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, NoReturn

import typer

from earmark._version import __version__
from earmark.cli import (
    audition,
    compare,
    crowd,
    curves,
    demo,
    describe,
    diagnose,
    evaluate,
    features,
    fit,
    measures,
    options,
    plan,
    preferences,
    preferences_next,
    preferences_simulate,
    rank,
    report,
    reproduce,
    runs,
    simulate,
)
from earmark.cli import next as next_command
from earmark.cli.command import OnceCommand
from earmark.errors import EarmarkError

BAD_INPUT = 2
_SCORES, _DATA, _MEASURES, _STORY = "Score and compare", "Look at data", "Understand measures", "See it work"
_FEW = "Decide with few judgments"
_CROWD = "Ask many people"

app = typer.Typer(
    name="earmark",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog=options.examples(
        "earmark evaluate runs.tsv --judgments judgments.tsv -m AG@5",
        "earmark compare runs.tsv --judgments judgments.tsv -m AG@5",
        "earmark COMMAND --help",
    ),
)
runs_app = typer.Typer(rich_markup_mode="rich")
app.add_typer(runs_app, name="runs", rich_help_panel=_DATA)
preferences_app = typer.Typer(rich_markup_mode="rich")
app.add_typer(preferences_app, name="preferences", rich_help_panel=_SCORES)
app.add_typer(crowd.crowd_app, name="crowd", rich_help_panel=_CROWD)


def _add(to: typer.Typer, name: str, function: Callable[..., None], examples: str, panel: str | None = None) -> None:
    to.command(name, cls=OnceCommand, help=options.prose(function.__doc__), epilog=examples, rich_help_panel=panel)(
        function
    )


_add(app, "evaluate", evaluate.evaluate, evaluate.EXAMPLES, _SCORES)
_add(app, "compare", compare.compare, compare.EXAMPLES, _SCORES)
_add(app, "curves", curves.curves, curves.EXAMPLES, _SCORES)
_add(preferences_app, "precision", preferences.precision, preferences.PRECISION_EXAMPLES)
_add(preferences_app, "rank", preferences_next.rank, preferences_next.RANK_EXAMPLES)
_add(preferences_app, "next", preferences_next.next_pairs, preferences_next.NEXT_EXAMPLES)
_add(preferences_app, "simulate", preferences_simulate.simulate, preferences_simulate.EXAMPLES)
_add(app, "rank", rank.rank, rank.EXAMPLES, _FEW)
_add(app, "next", next_command.next_items, next_command.EXAMPLES, _FEW)
_add(app, "report", report.report, report.EXAMPLES, _FEW)
_add(app, "plan", plan.plan, plan.EXAMPLES, _FEW)
_add(app, "simulate", simulate.simulate, simulate.EXAMPLES, _FEW)
_add(app, "diagnose", diagnose.diagnose, diagnose.EXAMPLES, _FEW)
_add(app, "features", features.features, features.EXAMPLES, _FEW)
_add(app, "fit", fit.fit, fit.EXAMPLES, _FEW)
_add(app, "describe", describe.describe, describe.EXAMPLES, _DATA)
_add(runs_app, "from-matrix", runs.from_matrix, runs.FROM_MATRIX_EXAMPLES)
_add(runs_app, "convert", runs.convert, runs.CONVERT_EXAMPLES)
_add(app, "measures", measures.measures, measures.EXAMPLES, _MEASURES)
_add(app, "audition", audition.audition, audition.EXAMPLES, _MEASURES)
_add(app, "reproduce", reproduce.reproduce, reproduce.EXAMPLES, _STORY)
_add(app, "demo", demo.demo, demo.EXAMPLES, _STORY)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"earmark {__version__}")
        raise typer.Exit


def _show_help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        # With rich, help prints itself and what comes back is empty.
        print(context.get_help(), end="")


def _earmark(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback does it all
        bool, typer.Option("--version", metavar="", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Find out which of your retrieval systems is better, and how sure you may be.

    Most commands read runs (the ranked lists of systems) and judgments (which documents are good). They print a table
    on a terminal, and one JSON object per line into a pipe or a file.
    """
    _show_help(context)


def _runs(context: typer.Context) -> None:
    """Make runs of distance matrices, and convert runs between formats."""
    _show_help(context)


def _preferences(context: typer.Context) -> None:
    """Score systems by which of two documents people prefer."""
    _show_help(context)


def _crowd(context: typer.Context) -> None:
    """Draw questions about two documents, take in what many people answer, and find out how far to trust it."""
    _show_help(context)


app.callback(invoke_without_command=True, help=options.prose(_earmark.__doc__))(_earmark)
runs_app.callback(invoke_without_command=True)(_runs)
preferences_app.callback(invoke_without_command=True)(_preferences)
crowd.crowd_app.callback(invoke_without_command=True)(_crowd)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``earmark``; by default what the shell passed.
    """
    try:
        code = app(args=arguments, prog_name="earmark", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except EarmarkError as error:
        return _complain(str(error))
    except BrokenPipeError:
        # Python flushes standard output once more at exit, which has to go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except Exception as error:
        # typer's own errors say what was wrong with the usage. Their class has moved between versions of typer.
        explain = getattr(error, "format_message", None)
        if explain is None:
            raise
        context = getattr(error, "ctx", None)
        hint = f" (try '{context.command_path} --help')" if context is not None else ""
        return _complain(f"{explain()}{hint}")


def _complain(message: str) -> int:
    print(f"earmark: {' '.join(message.splitlines())}", file=sys.stderr)
    return BAD_INPUT


def run() -> NoReturn:
    """Run ``earmark`` as the shell calls it."""
    sys.exit(main())
