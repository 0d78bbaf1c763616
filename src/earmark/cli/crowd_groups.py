"""``earmark crowd groups``: ordered groups of documents from what people prefer, or from experts' rankings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from earmark.cli.answer_options import RepeatedRule
from earmark.cli.command import argument, option
from earmark.cli.options import Reading
from earmark.cli.output import Output

if TYPE_CHECKING:
    from earmark.data.ground_truth import OrderedGroups

# Choices are spelt out here, and not taken from the modules that define them, so that help needs no imports.
Method = Literal["scores", "pivots"]
RankTest = Literal["signed-rank", "rank-sum", "friedman-tukey"]
GroupStart = Literal["all", "any", "previous"]

_DIFFER = "When documents differ"


def groups(
    files: Annotated[list[Path], argument("ANSWERS")],
    reading: Reading,
    out: Output,
    rankings: Annotated[bool, option()] = False,
    method: Annotated[Method | None, option("NAME", panel=_DIFFER)] = None,
    alpha: Annotated[float | None, option("P", panel=_DIFFER)] = None,
    lead: Annotated[int | None, option("N", panel=_DIFFER, min=1)] = None,
    test: Annotated[RankTest | None, option("NAME", panel=_DIFFER)] = None,
    start: Annotated[GroupStart, option("RULE", panel=_DIFFER)] = "all",
    phase: Annotated[list[str] | None, option("NAME")] = None,
    repeated: RepeatedRule = "refuse",
    against: Annotated[Path | None, option("FILE")] = None,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
) -> None:
    """Make ordered groups of documents, best first, of preferences or of experts' rankings.

    Documents whose answers do not differ significantly share a group. Average dynamic recall (ADR) uses such groups as
    ground truth: 'earmark evaluate RUN… --groups FILE -m ADR'.

    Parameters
    ----------
    files
        Preferences, one file or more: CSV, TSV or Parquet with the columns query, a, b, assessor and choice. With
        --rankings: rankings in any format of runs, each expert a system.
    rankings
        The files hold experts' rankings and no preferences.
    method
        How preferences make groups: scores, for any questions, or pivots, for questions of a sorting procedure that
        compares one document with all others and then sorts each part in the same way. When omitted, scores.
    alpha
        Documents differ if the p-value is at most this. When omitted, 0.05.
    lead
        For pivots, instead of a test: how many more people have to choose the better document.
    test
        How ranks are tested: signed-rank (exact, and allows for the number of boundaries), friedman-tukey, or rank-sum
        as Typke and others (2005) have it, which splits equal documents too often. When omitted, signed-rank.
    start
        The next document starts a new group if it differs from all documents of the last group, from any of them, or
        from the previous document. Not for pivots.
    phase
        Take the answers of this phase only. Give the option again for more.
    against
        Ordered groups to compare with; says how far both agree.
    output
        Where to write the groups: query, document and group number, for the option --groups of other commands. When
        omitted, they are printed.

    Examples
    --------
    earmark crowd groups answers.csv -o groups.txt
    earmark crowd groups answers.csv --method pivots --lead 2 --against MTurk.qrel
    earmark crowd groups --rankings experts.tsv --test rank-sum --alpha 0.25 --start any -o groups.txt
    """
    from earmark.cli.loading import load_preferences
    from earmark.crowd.group_agreement import compare_groups
    from earmark.crowd.partial_orders import groups_from_rankings
    from earmark.crowd.preference_groups import groups_from_preferences
    from earmark.data.readers import read_groups
    from earmark.data.writers import write_groups
    from earmark.errors import ParameterError

    other = None if against is None else read_groups(against, encoding=reading.encoding)
    if rankings:
        if method is not None or lead is not None or phase:
            raise ParameterError("--method, --lead and --phase are for preferences: rankings are tested by --test")
        ranked = reading.runs_of(files)
        made = groups_from_rankings(ranked, test=test or "signed-rank", alpha=_or_usual(alpha), start=start)
    else:
        if test is not None:
            raise ParameterError("--test is for --rankings: groups of preferences are made by --method")
        if lead is not None and alpha is not None:
            raise ParameterError("--lead and --alpha exclude each other: documents differ by one or the other")
        answers = load_preferences(files, out, phases=phase, encoding=reading.encoding, repeated=repeated)
        made = groups_from_preferences(
            answers, method=method or "scores", alpha=_or_usual(alpha), lead=lead, start=start
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


def _or_usual(alpha: float | None) -> float:
    return 0.05 if alpha is None else alpha


def _show(made: OrderedGroups, out: Output) -> None:
    import polars as pl

    rows = made.frame.group_by("query", "group", maintain_order=True).agg(documents=pl.col("document").str.join(", "))
    out.show_frame(rows, caption="Group 1 comes first; the order within a group is not known.")
