"""``earmark crowd groups``: ordered groups of documents from what people prefer, or from experts' rankings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earmark.data.ground_truth import OrderedGroups
    from earmark.data.preferences import Preferences

# Choices are spelt out here, and not taken from the modules that define them, so that help needs no imports.
Method = Literal["scores", "pivots"]
RankTest = Literal["rank-sum", "signed-rank", "friedman-tukey"]
GroupStart = Literal["all", "any", "previous"]

_DIFFER = "When documents differ"

EXAMPLES = options.examples(
    "earmark crowd groups answers.csv -o groups.txt",
    "earmark crowd groups answers.csv --method pivots --lead 2 --against MTurk.qrel",
    "earmark crowd groups --rankings experts.tsv --test signed-rank --alpha 0.25 --start any -o groups.txt",
)


def groups(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="ANSWERS",
            help="Preferences, one file or more: CSV, TSV or Parquet with the columns query, a, b, assessor and "
            "choice. With --rankings: rankings in any format of runs, each expert a system.",
            show_default=False,
        ),
    ],
    rankings: Annotated[
        bool, typer.Option("--rankings", metavar="", help="The files hold experts' rankings and no preferences.")
    ] = False,
    method: Annotated[
        Method | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="How preferences make groups: scores, which takes any questions, or pivots, for questions that a "
            "sorting asked: one document with all others, then each part alike. When omitted, scores.",
            rich_help_panel=_DIFFER,
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha",
            metavar="P",
            help="Documents differ if the p-value is at most this. When omitted, 0.05.",
            rich_help_panel=_DIFFER,
        ),
    ] = None,
    lead: Annotated[
        int | None,
        typer.Option(
            "--lead",
            metavar="N",
            min=1,
            help="For pivots, in place of a test: the better document was chosen by at least this many more.",
            rich_help_panel=_DIFFER,
        ),
    ] = None,
    test: Annotated[
        RankTest | None,
        typer.Option(
            "--test",
            metavar="NAME",
            help="How ranks are tested: rank-sum, signed-rank or friedman-tukey. When omitted, rank-sum.",
            rich_help_panel=_DIFFER,
        ),
    ] = None,
    start: Annotated[
        GroupStart,
        typer.Option(
            "--start",
            metavar="RULE",
            help="The next document starts a new group if it differs from all documents of the last group, from any of "
            "them, or from the previous document. Not for pivots.",
            rich_help_panel=_DIFFER,
        ),
    ] = "all",
    phase: Annotated[
        list[str] | None,
        typer.Option(
            "--phase", metavar="NAME", help="Take the answers of this phase only. Give the option again for more."
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="FILE", help="Ordered groups to compare with; says how far both agree."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write the groups: query, document and group number, for the option --groups of other "
            "commands. When omitted, they are printed.",
        ),
    ] = None,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Make ordered groups of documents, best first, of preferences or of experts' rankings.

    Documents that do not differ by what people said share a group. Groups are what average dynamic recall (ADR) takes
    as the truth: 'earmark evaluate RUN… --groups FILE -m ADR'.
    """
    from earmark.cli.loading import load_preferences
    from earmark.crowd.group_agreement import compare_groups
    from earmark.data.readers import read_groups
    from earmark.data.writers import write_groups
    from earmark.errors import ParameterError

    out = Output.choose(format, quiet=quiet)
    other = None if against is None else read_groups(against, encoding=encoding)
    if rankings:
        if method is not None or lead is not None or phase:
            raise ParameterError("--method, --lead and --phase are for preferences: rankings are tested by --test")
        made = _from_rankings(files, test or "rank-sum", alpha, start, order, encoding)
    else:
        if test is not None:
            raise ParameterError("--test is for --rankings: preferences are made groups of by --method")
        if lead is not None and alpha is not None:
            raise ParameterError("--lead and --alpha exclude each other: documents differ by one or the other")
        made = _from_preferences(
            load_preferences(files, out, phases=phase, encoding=encoding), method or "scores", alpha, lead, start
        )
    out.note(str(made))
    if other is not None:
        out.note(f"against {against}: {compare_groups(made, other)}")
    if output is not None:
        write_groups(made, output)
        out.note(f"wrote {output}")
        out.say_notes()
    elif out.for_people:
        _show(made, out)
    else:
        out.rows(made.frame)


def _from_preferences(
    answers: Preferences, method: Method, alpha: float | None, lead: int | None, start: GroupStart
) -> OrderedGroups:
    from earmark.crowd.partial_orders import groups_from_preferences

    return groups_from_preferences(
        answers, method=method, alpha=0.05 if alpha is None else alpha, lead=lead, start=start
    )


def _from_rankings(
    files: Sequence[Path],
    test: RankTest,
    alpha: float | None,
    start: GroupStart,
    order: options.Order,
    encoding: str,
) -> OrderedGroups:
    from earmark.cli.loading import load_runs
    from earmark.crowd.partial_orders import groups_from_rankings

    lists = load_runs(files, order=order, encoding=encoding)
    return groups_from_rankings(lists, test=test, alpha=0.05 if alpha is None else alpha, start=start)


def _show(made: OrderedGroups, out: Output) -> None:
    import polars as pl

    rows = made.frame.group_by("query", "group", maintain_order=True).agg(pl.col("document"))
    out.show_columns(
        [Column("query", rows["query"].to_list(), numeric=False)],
        [
            Column("group", [str(number) for number in rows["group"]]),
            Column("documents", [", ".join(names) for names in rows["document"]], numeric=False),
        ],
        caption="Group 1 comes first; the order within a group is not known.",
    )
