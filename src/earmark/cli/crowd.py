"""``earmark crowd``: asking many people, one module per subcommand."""

from __future__ import annotations

from collections.abc import Callable

import typer

from earmark.cli import (
    crowd_aggregate,
    crowd_agree,
    crowd_check,
    crowd_clips,
    crowd_groups,
    crowd_import,
    crowd_questions,
    options,
)
from earmark.cli.command import OnceCommand

crowd_app = typer.Typer(rich_markup_mode="rich")


def _add(name: str, function: Callable[..., None], examples: str) -> None:
    crowd_app.command(name, cls=OnceCommand, help=options.prose(function.__doc__), epilog=examples)(function)


_add("questions", crowd_questions.questions, crowd_questions.EXAMPLES)
_add("clips", crowd_clips.clips, crowd_clips.EXAMPLES)
_add("import", crowd_import.import_results, crowd_import.EXAMPLES)
_add("check", crowd_check.check, crowd_check.EXAMPLES)
_add("agree", crowd_agree.agree, crowd_agree.EXAMPLES)
_add("aggregate", crowd_aggregate.aggregate, crowd_aggregate.EXAMPLES)
_add("groups", crowd_groups.groups, crowd_groups.EXAMPLES)
