"""``earmark pay``: what the people of a recruiting platform are owed, and the files that the platform wants."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from earmark.cli.campaigns import CampaignPath, opened
from earmark.cli.command import option
from earmark.cli.output import NOTHING, Output
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

if TYPE_CHECKING:
    import polars as pl

    from earmark.crowd.payment import Payments, Platform

_STYLES = {"approve": "green", "reject": "bold red", "unfinished": "dim"}


def pay(
    folder: CampaignPath,
    out: Output,
    output: Annotated[Path | None, option("FILE", "-o")] = None,
    bonuses: Annotated[Path | None, option("FILE")] = None,
    workers: Annotated[Path | None, option("FILE")] = None,
    every: Annotated[bool, option("", "--all")] = False,
) -> None:
    """Show what the people of a recruiting platform are owed, and write what to approve and reject.

    An assignment is rejected only if its worker was rejected: by the rule about traps, or by you, with a reason. What
    somebody answered never changes what they are paid. Minutes are computed from the log: the time between two events
    of a person, at most five minutes each. Where the pay for an hour is below recruiting.hourly_rate, the missing bonus
    is shown. This command pays nothing.

    What was written to a file is remembered: the next file of decisions or bonuses lists what is new. An assignment
    that was once written as approved stays approved, as its worker may have been paid.

    Parameters
    ----------
    folder
        The folder of the campaign.
    output
        Where to write, as CSV, what to approve and what to reject with the reason: for Mechanical Turk in the columns
        of its upload of reviewed results (AssignmentId, WorkerId, Approve, Reject), for Prolific by participant and
        submission. Unfinished work is left out.
    bonuses
        Where to write who gets how much more to be paid the promised rate: for Prolific one line id,amount for each
        person, as its bulk bonus payment takes it, for Mechanical Turk WorkerId, AssignmentId and BonusAmount.
    workers
        Where to write a line for each worker: assignments, answers, minutes, what is owed, and what an hour of the
        approved work amounts to.
    every
        Write to the files what earlier files held, too.

    Examples
    --------
    earmark pay study
    earmark pay study -o review.csv --bonuses bonuses.csv
    earmark pay study --workers workers.csv
    """
    with opened(folder, out) as campaign:
        from earmark.crowd.payment import bonus_text
        from earmark.data.outputs import together
        from earmark.data.spreadsheets import escape_formulas
        from earmark.store.payments import payments_of, settle_bonuses, settle_decisions

        found = payments_of(campaign)
        platform = campaign.settings.recruiting.platform
        review = due = None
        with together():
            if output is not None:
                review = found.review(_named(platform, folder), every=every)
                _write(escape_formulas(review).write_csv(), output)
            if bonuses is not None:
                due = found.bonuses(_named(platform, folder), every=every)
                _write(bonus_text(due, _named(platform, folder)), bonuses)
            if workers is not None:
                _write(escape_formulas(found.workers).write_csv(), workers)
                out.note(f"wrote {workers}: {counted(found.workers.height, 'worker')}")
        # What is in a file is remembered once the file is there.
        if review is not None:
            settle_decisions(campaign, found, every=every)
            out.note(f"wrote {output}: {counted(review.height, 'decision')}{_earlier(found, review.height, every)}")
        if due is not None:
            settle_bonuses(campaign, found, every=every)
            out.note(f"wrote {bonuses}: {due.height:,} to get a bonus")
        _print(out, found)


def _earlier(found: Payments, written: int, every: bool) -> str:
    """Say how many decisions are left out, because a file held them before."""
    before = 0 if every else found.decided(every=True).height - written
    return f", without {before:,} of earlier files (--all writes them too)" if before else ""


def _named(platform: str, folder: Path) -> Platform:
    if platform not in ("prolific", "mturk"):
        raise ParameterError(
            f"the settings name no platform that a file could be for: earmark set {folder} recruiting.platform=mturk"
        )
    return platform  # type: ignore[return-value]


def _write(text: str, path: Path) -> None:
    from earmark.data.files import replacing

    try:
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(expected="a file that can be written", got=str(error.strerror), path=path) from None


def _print(out: Output, found: Payments) -> None:
    if not out.for_people:
        out.named_kinds({"assignment": found.frame, "worker": found.workers, "summary": [found.summary()]})
        return
    if found.work:
        _show(out, found.frame, found.terms.currency)
        _show_workers(out, found.workers, found.terms.currency)
    out.show("", found.sentence())


def _show(out: Output, frame: pl.DataFrame, currency: str) -> None:
    import polars as pl

    traps = pl.when(pl.col("traps") > 0).then(pl.format("{} of {}", "traps_right", "traps")).alias("traps")
    money = dict.fromkeys(("owed", "hourly"), ",.2f")
    out.show_frame(
        frame.with_columns(traps),
        {
            "worker": "worker",
            "assignment": "assignment",
            "answers": "answers",
            "traps": "traps right",
            "minutes": "minutes",
            "owed": "owed",
            "hourly": "an hour",
            "bonus": "bonus",
            "decision": "decision",
            "settled": "in a file",
            "reason": "reason",
        },
        keys=2,
        formats={
            **money,
            "minutes": ".1f",
            "bonus": lambda amount: f"{amount:,.2f}" if amount else NOTHING,
            "decision": lambda decision: Text(decision, style=_STYLES[decision]),
        },
        title=f"Paid work, amounts in {currency}",
    )


def _show_workers(out: Output, frame: pl.DataFrame, currency: str) -> None:
    names = ("assignments", "approve", "reject", "unfinished", "answers", "minutes", "owed")
    out.show_frame(
        frame,
        {"worker": "worker", **{name: name for name in names}, "hourly": "an hour", "bonus": "bonus"},
        keys=1,
        formats={
            "minutes": ".1f",
            **dict.fromkeys(("owed", "hourly"), ",.2f"),
            "bonus": lambda amount: f"{amount:,.2f}" if amount else NOTHING,
        },
        title=f"By worker, amounts in {currency}",
    )
