"""Comparisons of two lists read from files: the answers of a campaign of kind lists that was run elsewhere.

A file has one answer a row with the columns ``query``, ``a``, ``b`` (two systems), ``assessor`` and ``choice``: ``a``,
``b``, ``same`` (equally good) or ``neither`` (equally bad), and perhaps ``time``. It may have been shown either way
round. A row without a choice is a question that nobody answered; it is left out and counted.

With a time in every row the answers have an order, and intervals hold at all looks together. Without, the order of
rows means nothing: intervals hold at one look, and rows in another order give the same to the bit.

What comes out is a :class:`~earmark.campaign.list_campaign.ListCampaign`, so shares, intervals and words are those of
stored campaigns. A file says nothing of the lists themselves: the questions are those that somebody answered, and two
systems that nobody compared are not in any pair.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import polars as pl

from earmark.campaign.list_campaign import ANSWERS, WON, ListCampaign, ListLook, ListProblem
from earmark.campaign.stopping import Never, StopRule
from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.files import BLANKS, require_file
from earmark.data.judgments import moments
from earmark.data.named_columns import times
from earmark.data.preference_checks import Repeated
from earmark.data.table_files import read_named
from earmark.data.tables import Table
from earmark.errors import InputError
from earmark.wording import counted

AnyPath = str | os.PathLike[str]
_TURNED = {"a": "b", "b": "a"}
_NO_TIME = pl.lit(None, dtype=pl.Datetime("us", "UTC")).alias("time")


@dataclass(frozen=True, eq=False, repr=False)
class ListAnswers(Display):
    """Answers to the question which of two lists is better.

    Attributes
    ----------
    frame : polars.DataFrame
        The columns of :data:`~earmark.campaign.list_campaign.ANSWERS`, ``a`` before ``b`` in the order of names; rows
        in the order of their times, or else of what they say.
    unanswered : int
        How many rows had no choice and were left out.
    replaced : int
        How many answers were left out because their assessor answered the same question in another row.
    timed : bool
        Every answer has a time.
    """

    frame: pl.DataFrame
    unanswered: int = 0
    replaced: int = 0
    timed: bool = False

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems that are compared, in the order of their names."""
        return tuple(sorted({*self.frame["a"], *self.frame["b"]}))

    @cached_property
    def uncompared(self) -> tuple[tuple[str, str], ...]:
        """The pairs of systems that nobody compared."""
        asked = set(self.frame.select("a", "b").unique().rows())
        return tuple(pair for pair in combinations(self.systems, 2) if pair not in asked)

    def look(self, *, stop: StopRule | None = None, level: float = 0.95) -> ListLook:
        """Return which share each system wins, as a stored campaign does.

        Parameters
        ----------
        stop : StopRule, optional
            A budget of answers or a width; by default none.
        level : float, in (0, 1)
            The probability that the intervals of all pairs hold: at all looks where answers have times, else at one.
        """
        questions = self.frame.select("query", "a", "b").unique(maintain_order=True)
        # Every question of a file is answered; that is no reason to stop, as more may be asked.
        problem = ListProblem(self.systems, questions, self.frame.height + 1, stop or Never(), level, self.timed)
        found = ListCampaign(problem, self.frame).look
        # Without the lists, two systems that nobody compared may differ all the same.
        return replace(found, estimates=replace(found.estimates, identical=()))

    def _summary(self) -> Summary:
        """Show the first answers."""
        people = counted(self.frame["assessor"].n_unique(), "assessor")
        about = f"about the lists of {counted(len(self.systems), 'system')}"
        return Summary(
            f"{counted(self.frame.height, 'answer')} by {people} {about}", [DisplayTable(self.frame, most=5)]
        )


def read_list_answers(
    paths: AnyPath | Sequence[AnyPath], *, encoding: str = "utf-8", repeated: Repeated = "refuse"
) -> ListAnswers:
    r"""Read comparisons of lists from one file or more: CSV, TSV or Parquet.

    Parameters
    ----------
    paths : path or sequence of paths
        Files with the columns ``query``, ``a``, ``b``, ``assessor`` and ``choice``, and perhaps ``time``.
    encoding : str
        The text encoding of the files.
    repeated : {"refuse", "first", "last"}
        What to do where an assessor compared two lists again: it is an error, or the first or the last answer counts,
        in the order of rows.

    Raises
    ------
    InputError
        Naming the file and the first line that cannot be used.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "lists.csv"
    ...     _ = path.write_text("query,a,b,assessor,choice\nq1,A,B,ann,a\nq2,B,A,ann,b\nq3,A,B,ann,neither\n")
    ...     look = read_list_answers(path).look()
    >>> round(look.estimates.share[0], 3)
    np.float64(0.833)
    """
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    parts = [_read(path, encoding) for path in several]
    whole = pl.concat([frame.with_columns(pl.lit(place).alias("file")) for place, (_, frame) in enumerate(parts)])
    answered = whole.filter(pl.col("choice").is_not_null())
    if not answered.height:
        raise InputError(expected="at least one answer", got="none", path=several[0])
    key = pl.struct("query", "a", "b", "assessor")
    if repeated == "refuse":
        again = answered.filter(~key.is_first_distinct())
        if again.height:
            first = again.row(0, named=True)
            raise parts[first["file"]][0].error(
                first["row"],
                expected="one answer per question and assessor",
                got=f"'{first['assessor']}' again on '{first['a']}' and '{first['b']}' for query '{first['query']}'",
                hint="--repeated first or last takes one of them",
            )
    single = answered.filter(key.is_last_distinct() if repeated == "last" else key.is_first_distinct())
    timed = not single["time"].null_count()
    ordered = single.sort(*(["time"] if timed else []), *ANSWERS)
    return ListAnswers(
        ordered.select(list(ANSWERS)), whole.height - answered.height, answered.height - single.height, timed
    )


def _read(path: AnyPath, encoding: str) -> tuple[Table, pl.DataFrame]:
    """Read a file and put the systems of every row in the order of their names."""
    table = read_named(require_file(path), encoding=encoding)
    lowered = {name.strip().lower(): name for name in table.frame.columns}
    missing = [name for name in ANSWERS if name not in lowered]
    if missing:
        raise InputError(
            expected=f"the columns {', '.join(ANSWERS)}",
            got=f"{', '.join(table.frame.columns)} (no {' or '.join(missing)})",
            path=path,
            line=1,
        )
    text = table.frame.select(
        pl.col(lowered[name]).cast(pl.String).str.strip_chars(BLANKS).replace("", None).alias(name) for name in ANSWERS
    ).with_columns(pl.col("choice").str.to_lowercase())
    wrong = (text["choice"].is_not_null() & ~text["choice"].is_in(list(WON))).arg_true()
    if wrong.len():
        row = int(wrong[0])
        raise table.error(row, expected="a, b, same or neither as choice", got=f"'{text['choice'][row]}'")
    for name in ("query", "a", "b", "assessor"):
        empty = text[name].is_null().arg_true()
        if empty.len():
            raise table.error(int(empty[0]), expected=f"{name} in every row", got="nothing")
    itself = (text["a"] == text["b"]).arg_true()
    if itself.len():
        row = int(itself[0])
        raise table.error(row, expected="two different systems as a and b", got=f"'{text['a'][row]}' twice")
    turned = pl.col("a") > pl.col("b")
    ordered = text.with_row_index("row").with_columns(
        pl.when(turned).then("b").otherwise("a").alias("a"),
        pl.when(turned).then("a").otherwise("b").alias("b"),
        pl.when(turned).then(pl.col("choice").replace(_TURNED)).otherwise("choice").alias("choice"),
    )
    if "time" not in lowered:
        return table, ordered.with_columns(_NO_TIME)
    return table, ordered.with_columns(moments(pl.DataFrame({"time": times(table, lowered["time"])})))
