"""``earmark preferences lists``: which system's lists people find better, from a file of comparisons."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from earmark.cli.answer_options import RepeatedRule
from earmark.cli.command import argument, option
from earmark.cli.options import Encoding, Level
from earmark.cli.output import Output
from earmark.wording import counted


def lists(
    files: Annotated[list[Path], argument("ANSWERS")],
    out: Output,
    stop: Annotated[str, option("RULE")] = "none",
    repeated: RepeatedRule = "refuse",
    level: Level = 0.95,
    encoding: Encoding = "utf-8",
) -> None:
    """Tell which share of queries each system wins, from comparisons of two lists side by side.

    A query counts once, however many people answered about it; the answers same and neither count one half for both
    systems. Intervals are about people like those who answered: they are wider where tastes differ. A pair of systems
    is decided when the interval of the share that one wins excludes one half. Where every answer has a time, intervals
    are valid however often you look, as those of 'earmark rank' on a campaign of kind lists; else at one look.

    Parameters
    ----------
    files
        Comparisons, one file or more: CSV, TSV or Parquet with the columns query, a, b (two systems), assessor and
        choice (a, b, same or neither), one answer a row, and perhaps time.
    stop
        When to stop asking: width:0.2, no wider interval of a pair; budget:500 answers; none.

    Examples
    --------
    earmark preferences lists comparisons.csv
    earmark preferences lists comparisons.csv --stop width:0.2 --level 0.9
    """
    import polars as pl

    from earmark.campaign.list_files import read_list_answers
    from earmark.campaign.stopping.plain import parse_plain_stop
    from earmark.cli.rank_kinds import show_list_look

    rule = parse_plain_stop(stop, kind="lists")
    answers = read_list_answers(files, encoding=encoding, repeated=repeated)
    if answers.unanswered:
        out.note(f"{counted(answers.unanswered, 'row')} without a choice left out")
    if answers.replaced:
        out.note(
            f"{counted(answers.replaced, 'answer')} left out: the same worker answered again, the {repeated} counts"
        )
    look = answers.look(stop=rule, level=level)
    for a, b in answers.uncompared:
        out.note(f"nobody compared {a} and {b}")
    show_list_look(look, out, summary=pl.DataFrame([look.summary()]), stopping=stop.strip().lower() != "none")
