"""Work packages: questions of a stored campaign, reserved for one assessor and written to a file.

Nobody else gets the questions until the package comes back with ``earmark import`` or its time is over.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earmark.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

    from earmark.cli.output import Output
    from earmark.store.store import Change
    from earmark.store.stored import StoredCampaign, StoredPairCampaign

Wanted = list[tuple[str, str, str, bool]]
"""Query, document, the other document (empty where one is judged), and whether the item belongs to the sample."""

_WHY_NOT = {
    "paused": "the campaign or the assessor is paused",
    "stopped": "the campaign has stopped",
    "closed": "the campaign is closed",
    "rejected": "the assessor was rejected",
    "enough": "the assessor has given as many answers as one person may",
    "wait": "all questions that are left are out with others",
    "done": "there is nothing left to ask this assessor",
}


@dataclass(frozen=True, eq=False)
class Package:
    """What was reserved.

    Attributes
    ----------
    assessor : str
        The pseudonym it is reserved for.
    frame : polars.DataFrame
        ``query``, ``document``, ``other``, ``swapped``, ``sampled`` and ``key``, in the order of the questions.
    expires : datetime
        When the first of them goes back.
    again : int
        How many of them were reserved for the assessor before.
    """

    assessor: str
    frame: pl.DataFrame
    expires: datetime
    again: int


def reserve(
    campaign: StoredCampaign | StoredPairCampaign, wanted: Wanted, n: int, *, assessor: str | None = None
) -> Package:
    """Reserve questions for an assessor, in one transaction.

    Parameters
    ----------
    campaign : StoredCampaign or StoredPairCampaign
    wanted : list of (query, document, other, sampled)
        What the policy proposes, the most wanted first. Questions that came back without an answer, and those that
        need more answers, go before.
    n : int
        How many.
    assessor : str, optional
        A name; by default somebody new without one.

    Raises
    ------
    ParameterError
        If there is nothing to reserve.
    """
    import polars as pl
    import sqlalchemy as sa

    from earmark.store.leases import expire, take
    from earmark.store.people import pseudonym
    from earmark.store.questions import propose_next
    from earmark.store.schema import assignments

    folder = campaign.folder

    def act(change: Change) -> Package:
        who = pseudonym(change, name=assessor)
        expire(change, folder.rules)
        propose_next(change, wanted)
        held = set(change.connection.execute(sa.select(assignments.c.id).where(_held_by(change, who))).scalars())
        taken = take(change, folder.rules, who, ahead=n - 1, package=True)
        if not taken.questions:
            # An error undoes everything, the new pseudonym too.
            raise ParameterError(f"nothing was reserved: {_WHY_NOT[taken.reason]}")
        mine = sa.select(assignments.c.id, assignments.c.sampled).where(_held_by(change, who))
        sampled = {row.id: bool(row.sampled) for row in change.connection.execute(mine)}
        rows = [
            (one.query, one.document, one.other, one.swapped, sampled.get(one.id, False), one.id)
            for one in taken.questions
        ]
        names = ["query", "document", "other", "swapped", "sampled", "key"]
        frame = pl.DataFrame(rows, schema=names, orient="row")
        again = sum(one.id in held for one in taken.questions)
        return Package(who, frame, min(one.expires for one in taken.questions), again)

    return folder.store.write(act)


def _held_by(change: Change, assessor: str) -> Any:
    from sqlalchemy import and_

    from earmark.store.schema import assignments

    table = assignments.c
    return and_(table.campaign == change.campaign, table.assessor == assessor, table.state == "out")


def write_package(
    out: Output, campaign: StoredCampaign | StoredPairCampaign, wanted: Wanted, n: int, path: Path, who: str | None
) -> pl.DataFrame:
    """Reserve questions, write them to a file, and say until when they are reserved and how they come back."""
    from earmark.data.writers import refuse_answered
    from earmark.store.status import shown_time
    from earmark.wording import counted

    refuse_answered(path)
    decision = None if campaign.look is None else campaign.look.decision
    at_once = campaign.folder.settings.estimates.when_reached == "stop"
    if decision is not None and decision.stop and (at_once or decision.final):
        raise ParameterError(
            f"nothing was reserved: the stop rule is reached ({decision.reason}); another estimates.stop in "
            f"{campaign.folder.path / 'campaign.toml'} goes on"
        )
    package = reserve(campaign, wanted, n, assessor=who)
    try:
        _write(package, path, pairs=campaign.folder.settings.kind == "prefer")
    except BaseException:
        # Without a file nobody would answer.
        campaign.desk.give_back(package.assessor, package.frame["key"].to_list())
        raise
    count = package.frame.height
    if count < n:
        out.note(f"only {counted(count, 'question')} of {n:,}: no more are left for this assessor")
    if package.again:
        out.note(f"{package.again:,} of them were reserved for {who} before")
    name = f"{who} ({package.assessor})" if who else package.assessor
    fill = "choice (a, b or same)" if campaign.folder.settings.kind == "prefer" else "gain"
    out.note(
        f"wrote {path}: {counted(count, 'question')}, reserved for {name} until {shown_time(package.expires)}; fill in "
        f"the column {fill} and bring it back with 'earmark import {campaign.folder.path} {path}'"
    )
    return package.frame


def _write(package: Package, path: Path, *, pairs: bool) -> None:
    import polars as pl

    from earmark.crowd.question_files import write_table
    from earmark.data.writers import write_questions

    frame = package.frame
    if not pairs:
        write_questions(frame, path)
        return
    shown = [
        pl.when("swapped").then("other").otherwise("document").alias("a"),
        pl.when("swapped").then("document").otherwise("other").alias("b"),
    ]
    # Preferences name who answered; whoever fills the package in may write another name.
    empty = [pl.lit(None, dtype=pl.String).alias(name) for name in ("choice", "strength")]
    write_table(
        frame.select(
            pl.col("key").alias("question"), "query", *shown, *empty, pl.lit(package.assessor).alias("assessor")
        ),
        path,
    )
