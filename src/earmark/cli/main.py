"""The command ``earmark``: its subcommands, and what happens when something is wrong.

Exit codes: 0 fine; 1 a check that was asked for failed; 2 bad input or wrong usage, with one line on standard error;
130 interrupted. A reader that closes the pipe early is nothing to complain about: the code is then 141, as that of any
program that such a reader ends, and never 1, which would look like a failed check. Anything else is a mistake in
earmark and shows its traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated

import typer

from earmark._version import __version__
from earmark.cli import (
    audition,
    campaign_answers,
    campaign_collection,
    campaign_copies,
    campaign_pay,
    campaign_people,
    campaign_state,
    compare,
    crowd_aggregate,
    crowd_agree,
    crowd_check,
    crowd_clips,
    crowd_groups,
    crowd_import,
    crowd_questions,
    curves,
    demo,
    describe,
    diagnose,
    evaluate,
    features,
    fit,
    init,
    measures,
    plan,
    preferences,
    preferences_lists,
    preferences_next,
    preferences_plan,
    preferences_simulate,
    rank,
    report,
    reproduce,
    runs,
    serve,
    simulate,
    status,
)
from earmark.cli import next as next_command
from earmark.cli.command import add_command, examples_text
from earmark.cli.docstrings import command_help
from earmark.errors import EarmarkError

BAD_INPUT = 2
# 128 and the number of SIGPIPE, as shells report it.
PIPE_CLOSED = 141
_SCORES, _DATA, _MEASURES, _STORY = "Score and compare", "Look at data", "Understand measures", "See it work"
_FEW, _CROWD, _CAMPAIGN = "Decide with few judgments", "Ask many people", "Run a campaign"

app = typer.Typer(
    name="earmark",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog=examples_text(
        "earmark evaluate runs.tsv --judgments judgments.tsv -m AG@5",
        "earmark compare runs.tsv --judgments judgments.tsv -m AG@5",
        "earmark COMMAND --help",
    ),
)


def _show_help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        # With rich, help prints itself and what comes back is empty.
        print(context.get_help(), end="")


def _group(name: str, panel: str, about: str) -> typer.Typer:
    """Add a command that has subcommands."""
    group = typer.Typer(rich_markup_mode="rich", invoke_without_command=True, callback=_show_help, help=about)
    app.add_typer(group, name=name, rich_help_panel=panel)
    return group


runs_app = _group("runs", _DATA, "Make runs of distance matrices, and convert runs between formats.")
preferences_app = _group("preferences", _SCORES, "Score systems by which of two documents people prefer.")
crowd_app = _group(
    "crowd",
    _CROWD,
    "Draw questions about two documents, read what many people answer, and find out how far to trust it.",
)

add_command(app, "evaluate", evaluate.evaluate, _SCORES)
add_command(app, "compare", compare.compare, _SCORES)
add_command(app, "curves", curves.curves, _SCORES)
add_command(preferences_app, "precision", preferences.precision)
add_command(preferences_app, "lists", preferences_lists.lists)
add_command(preferences_app, "rank", preferences_next.rank)
add_command(preferences_app, "next", preferences_next.next_pairs)
add_command(preferences_app, "plan", preferences_plan.plan)
add_command(preferences_app, "simulate", preferences_simulate.simulate)
add_command(app, "rank", rank.rank, _FEW)
add_command(app, "next", next_command.next_items, _FEW)
add_command(app, "report", report.report, _FEW)
add_command(app, "plan", plan.plan, _FEW)
add_command(app, "simulate", simulate.simulate, _FEW)
add_command(app, "diagnose", diagnose.diagnose, _FEW)
add_command(app, "features", features.features, _FEW)
add_command(app, "fit", fit.fit, _FEW)
add_command(app, "init", init.init, _CAMPAIGN)
add_command(app, "status", status.status, _CAMPAIGN)
add_command(app, "serve", serve.serve, _CAMPAIGN)
add_command(app, "invite", campaign_people.invite, _CAMPAIGN)
add_command(app, "pay", campaign_pay.pay, _CAMPAIGN)
add_command(app, "import", campaign_answers.import_answers, _CAMPAIGN)
add_command(app, "export", campaign_answers.export_answers, _CAMPAIGN)
add_command(app, "set", campaign_state.change_settings, _CAMPAIGN)
add_command(app, "add", campaign_collection.add, _CAMPAIGN)
add_command(app, "withdraw", campaign_collection.withdraw, _CAMPAIGN)
add_command(app, "reinstate", campaign_collection.reinstate, _CAMPAIGN)
add_command(app, "media", campaign_collection.media, _CAMPAIGN)
add_command(app, "pause", campaign_state.pause, _CAMPAIGN)
add_command(app, "resume", campaign_state.resume, _CAMPAIGN)
add_command(app, "close", campaign_state.close, _CAMPAIGN)
add_command(app, "reopen", campaign_state.reopen, _CAMPAIGN)
add_command(app, "backup", campaign_copies.backup, _CAMPAIGN)
add_command(app, "restore", campaign_copies.restore, _CAMPAIGN)
add_command(app, "move", campaign_copies.move, _CAMPAIGN)
add_command(app, "erase", campaign_people.erase, _CAMPAIGN)
add_command(app, "describe", describe.describe, _DATA)
add_command(runs_app, "from-matrix", runs.from_matrix)
add_command(runs_app, "convert", runs.convert)
add_command(app, "measures", measures.measures, _MEASURES)
add_command(app, "audition", audition.audition, _MEASURES)
add_command(crowd_app, "questions", crowd_questions.questions)
add_command(crowd_app, "clips", crowd_clips.clips)
add_command(crowd_app, "import", crowd_import.import_results)
add_command(crowd_app, "check", crowd_check.check)
add_command(crowd_app, "agree", crowd_agree.agree)
add_command(crowd_app, "aggregate", crowd_aggregate.aggregate)
add_command(crowd_app, "groups", crowd_groups.groups)
add_command(app, "reproduce", reproduce.reproduce, _STORY)
add_command(app, "demo", demo.demo, _STORY)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"earmark {__version__}")
        raise typer.Exit


def _earmark(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback does it all
        bool, typer.Option("--version", metavar="", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Find out which of your retrieval systems is better, and how sure you may be.

    Most commands read runs (the ranked lists of systems) and judgments (which documents are good). They print a table
    on a terminal, and one JSON object per line into a pipe or a file.

    Exit codes: 0 fine, 1 a check that was asked for failed, 2 bad input, 130 interrupted.
    """
    _show_help(context)


app.callback(invoke_without_command=True, help=command_help(_earmark.__doc__)[0])(_earmark)


@cache
def built_commands() -> Callable[..., object]:
    """Build all commands, once: a program that calls several of them does not wait for that again."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``earmark``; by default what the shell passed.
    """
    try:
        code = built_commands()(args=arguments, prog_name="earmark", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except EarmarkError as error:
        return _complain(str(error))
    except BrokenPipeError:
        # Python flushes standard output once more at exit, which has to go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except SystemExit as left:
        # typer itself ends a program whose reader has left, with 1.
        if isinstance(left.__context__, BrokenPipeError):
            return PIPE_CLOSED
        raise
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except Exception as error:
        # typer's own errors say what was wrong with the usage. Their class has moved between versions of typer.
        explain = getattr(error, "format_message", None)
        if explain is None:
            raise
        context = getattr(error, "ctx", None)
        hint = f" (try '{context.command_path} --help')" if context is not None else ""
        message = str(explain())
        if "unexpected extra argument" in message:
            # The shell has cut a value with blanks into pieces, of which the option took the first.
            hint = f" (a value with blanks needs quotes, as in --choice 'the first song=a'){hint}"
        return _complain(f"{message}{hint}")


def _complain(message: str) -> int:
    print(f"earmark: {' '.join(message.splitlines())}", file=sys.stderr)
    return BAD_INPUT
