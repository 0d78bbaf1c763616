"""Estimates in the background: answering never waits for statistics.

A worker reads what is new in the log, concludes, and puts what to ask next into the queue. One worker serves a
campaign at a time, whichever process it runs in; another takes over when that process ends
(:meth:`earmark.store.database.Database.exclusive`). Without a worker, questions are given out all the same, in the
order of the guaranteed sample. Why there are no new estimates is kept in the store, so that the organiser sees it
whichever process serves the page.
"""

from __future__ import annotations

import json
import logging
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from earmark.errors import EarmarkError, InputError, StoreError
from earmark.store.folder import CampaignFolder
from earmark.store.forecasts import carried_over
from earmark.store.leases import expire
from earmark.store.organising import set_state
from earmark.store.people import erase_expired
from earmark.store.questions import FRESH, any_waiting, propose_next
from earmark.store.removals import removed_by
from earmark.store.schema import assignments, estimates, questions
from earmark.store.store import Change
from earmark.store.stored import AnyStored, StoredCampaign, StoredPairCampaign, read_stored
from earmark.store.summaries import summary_of
from earmark.store.versions import VERSION_OF_TABLES, check_tables

_log = logging.getLogger("earmark.worker")

QUEUE = 20
"""The least number of questions that the queue is filled up to."""

LAST_ESTIMATE = 5.0
"""How many seconds an estimate that is under way has to end when a server stops; nothing is lost with it."""

_CUT_DOWN = '{"progress"'
"""How the body of an earlier estimate begins, of which no more is kept."""


@dataclass
class Worker:
    """Keeps the estimates and the queue of a campaign fresh.

    Parameters
    ----------
    folder : CampaignFolder
    every : float
        How many seconds pass between two looks at the log.
    failure : str, optional
        Why there are no new estimates.
    """

    folder: CampaignFolder
    every: float = 1.0
    campaign: AnyStored | None = None
    failure: str | None = None
    _seen: tuple[int, bool] = field(default=(-1, False), repr=False)

    def run(self, stopped: threading.Event) -> None:
        """Work until the event is set; while another process is at it, wait for its end."""
        database, task = self.folder.store.database, f"worker {self.folder.settings.id}"
        while not stopped.is_set():
            try:
                with database.exclusive(task) as is_mine:
                    # Asked before every look: the right is lost with the connection, and another process takes it.
                    while not stopped.is_set() and is_mine():
                        self.look()
                        stopped.wait(self.every)
                # Another process goes on from here: what this one knows would grow old.
                self.campaign = None
            except StoreError as error:
                # The database is away: it is tried again, and the pages say so themselves.
                self.campaign = None
                self._note(error)
            except Exception as error:
                # A mistake of ours: it is tried again, and questions go on meanwhile.
                self._fail(error)
            stopped.wait(self.every)

    def start(self) -> tuple[threading.Thread, threading.Event]:
        """Run in a thread; set the event to stop it."""
        stopped = threading.Event()
        thread = threading.Thread(target=self.run, args=(stopped,), name="earmark worker", daemon=True)
        thread.start()
        return thread, stopped

    def look(self) -> bool:
        """Refresh everything if there is something new; returns whether there was."""
        store = self.folder.store
        try:
            folder = self.folder.current()
        except InputError as error:
            # Somebody is editing the file; what it said before holds until it is right, and the pages say so.
            self._note(error)
            folder = self.folder
        if folder is not self.folder:
            self.folder, self.campaign = folder, None
        waiting, out = store.read(self._waiting)
        if store.last_sequence == self._seen[0] and (waiting or self._seen[1]) and not out:
            erase_expired(store, self.folder.settings.people.retention_days)
            return False
        try:
            self.refresh()
            self.failure = None
        except StoreError:
            raise
        except EarmarkError as error:
            # Wrong settings or a changed file: questions go on, the organiser sees why estimates do not.
            self._fail(error)
        return True

    def refresh(self) -> None:
        """Conclude from all answers, and fill the queue."""
        # Asked before the answers are read: whatever comes later, however long the rest takes, is new at the next look.
        read = self.folder.store.last_sequence
        before = self.campaign
        campaign = read_stored(self.folder) if before is None else before.refreshed()
        # Whoever removed something may not have lived long enough to follow it.
        if before is None or removed_by(before.log) != removed_by(campaign.log):
            self.folder.follow_removals(removed_by(campaign.log))
        self.campaign = campaign
        decision = None if campaign.look is None else campaign.look.decision
        # Nobody is sent away because an estimate is sure enough, unless the organiser said so beforehand.
        at_once = self.folder.settings.estimates.when_reached == "stop"
        done = decision is not None and decision.stop and (at_once or decision.final)
        body = summary_of(campaign)

        def conclude(change: Change) -> int:
            # What this transaction adds itself is no news, unless something else came in between.
            alone = int(change.row["next_sequence"]) - 1 == read
            if change.row["failure"] is not None:
                change.update(failure=None)
            expire(change, self.folder.rules)
            # Every item may have a judgment while some questions are to be answered by more people.
            waits = decision is not None and decision.exhausted and any_waiting(change)
            if decision is not None and done and not waits and change.row["state"] == "open":
                set_state(change, "stopped", decision.reason)
            _keep(change, campaign.log.next_sequence - 1, body)
            return int(change.row["next_sequence"]) - 1 if alone else read

        # Estimates first: choosing questions for many people takes longer.
        seen = self.folder.store.write(conclude)
        proposals = [] if done else _next_questions(campaign, QUEUE + self._active())
        self.folder.store.write(lambda change: propose_next(change, proposals))
        self._seen = (seen, not proposals)

    def _waiting(self, connection: sa.Connection) -> tuple[int, bool]:
        """Return how many proposals wait, and whether a lease has ended."""
        table, given, campaign = questions.c, assignments.c, self.folder.store.campaign
        # A newer program may have changed the tables: it computes estimates from then on.
        check_tables(connection.execute(VERSION_OF_TABLES).scalar(), self.folder.store.database.shown)
        fresh = sa.select(sa.func.count()).where(table.campaign == campaign, table.tier == FRESH)
        over = sa.and_(given.campaign == campaign, given.state == "out", given.expires <= self.folder.store.clock())
        ended = connection.execute(sa.select(given.id).where(over).limit(1)).first() is not None
        return int(connection.execute(fresh).scalar() or 0), ended

    def _active(self) -> int:
        given = assignments.c
        mine = sa.and_(given.campaign == self.folder.store.campaign, given.state == "out")
        count = sa.select(sa.func.count(sa.distinct(given.assessor))).where(mine)
        return int(self.folder.store.read(lambda connection: connection.execute(count).scalar()) or 0)

    def _note(self, error: Exception) -> str:
        """Write to the log of the program why there are no new estimates, once."""
        said = str(error) or type(error).__name__
        if self.failure != said:
            _log.warning("estimates wait: %s", said)
        self.failure = said
        return said

    def _fail(self, error: Exception) -> None:
        """Tell the organiser why there are no new estimates."""
        said, store = self._note(error), self.folder.store

        # The store may be what failed.
        with suppress(Exception):
            if store.row["failure"] != said:
                store.write(lambda change: change.update(failure=said))


def _next_questions(campaign: AnyStored, n: int) -> list[tuple[str, str, str, bool]]:
    """Return what to ask next: query, document, other, and whether it belongs to the guaranteed sample."""
    if isinstance(campaign, StoredPairCampaign):
        # The documents of a pair stand in the order of their ids in the store.
        asked = campaign.questions(campaign.propose(n)).select("query", "a", "b").rows()
        return [(query, min(a, b), max(a, b), False) for query, a, b in asked]
    if not isinstance(campaign, StoredCampaign):
        # Rankings and lists are asked for in the order that was drawn when the campaign was made.
        return []
    proposal = campaign.propose(n)
    if campaign.look is None and not len(proposal):
        return []
    frame = campaign.proposal_frame(proposal)
    return [(query, document, "", sampled) for query, document, _, sampled in frame.iter_rows()]


def _keep(change: Change, sequence: int, body: dict[str, Any]) -> None:
    """Keep an estimate; of earlier ones the numbers and the progress stay, for a picture of how it went.

    What somebody looked ahead at stays with the newest.
    """
    table = estimates.c
    mine = table.campaign == change.campaign
    whole = sa.and_(mine, table.body.is_not(None), table.body.not_like(f"{_CUT_DOWN}%"))
    earlier = sa.select(table.sequence, table.body).where(whole).order_by(table.sequence)
    for row in change.connection.execute(earlier).fetchall():
        before = json.loads(row.body)
        body = body | carried_over(before)
        kept = json.dumps({"progress": before.get("progress")}, ensure_ascii=False)
        this = sa.and_(mine, table.sequence == row.sequence)
        change.connection.execute(sa.update(estimates).where(this).values(body=kept))
    change.connection.execute(sa.delete(estimates).where(mine, table.sequence == sequence))
    change.connection.execute(
        sa.insert(estimates).values(
            campaign=change.campaign,
            sequence=sequence,
            time=change.now,
            judged=body["judged"],
            mean_confidence=body["mean_confidence"],
            min_confidence=body["min_confidence"],
            body=json.dumps(body, ensure_ascii=False, allow_nan=False),
        )
    )
