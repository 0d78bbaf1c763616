"""Estimates in the background: answering never waits for statistics.

A worker reads what is new in the log, concludes, and puts what to ask next into the queue. One worker serves a
campaign at a time, whichever process it runs in; another takes over when that process ends
(:meth:`earmark.store.database.Database.exclusive`). Without a worker, questions are given out all the same, in the
order of the guaranteed sample.
"""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from earmark.errors import EarmarkError, InputError, StoreError
from earmark.store.folder import CampaignFolder, removed_by
from earmark.store.leases import expire
from earmark.store.organising import set_state
from earmark.store.people import erase_expired
from earmark.store.questions import FRESH, propose_next
from earmark.store.schema import assignments, estimates, questions
from earmark.store.status import summary_of
from earmark.store.store import Change
from earmark.store.stored import AnyStored, StoredPairCampaign, StoredQuestions, read_stored

_log = logging.getLogger("earmark.worker")

QUEUE = 20
"""The least number of questions that the queue is filled up to."""


@dataclass
class Worker:
    """Keeps the estimates and the queue of a campaign fresh.

    Parameters
    ----------
    folder : CampaignFolder
    every : float
        How many seconds pass between two looks at the log.
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
                with database.exclusive(task) as mine:
                    while mine and not stopped.is_set():
                        self.look()
                        stopped.wait(self.every)
            except Exception as error:
                # The database is away, or a mistake of ours: it is tried again, and questions go on meanwhile.
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
            # Somebody is editing the file; what it said before holds until it is right.
            self._fail(error)
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
        before = self.campaign
        campaign = read_stored(self.folder) if before is None else before.refreshed()
        # Whoever removed something may not have lived long enough to follow it.
        if before is None or removed_by(before.log) != removed_by(campaign.log):
            self.folder.follow_removals(removed_by(campaign.log))
        self.campaign = campaign
        done, proposals = _next_questions(campaign, QUEUE + 4 * self._active())
        body = None if isinstance(campaign, StoredQuestions) else summary_of(campaign)

        def act(change: Change) -> int:
            expire(change, self.folder.rules)
            if done is not None and change.row["state"] == "open":
                set_state(change, "stopped", done)
            propose_next(change, proposals)
            if body is not None:
                _keep(change, campaign.log.next_sequence - 1, body)
            return int(change.row["next_sequence"]) - 1

        self._seen = (self.folder.store.write(act), not proposals)

    def _waiting(self, connection: sa.Connection) -> tuple[int, bool]:
        """Return how many proposals wait, and whether a lease has ended."""
        table, given, campaign = questions.c, assignments.c, self.folder.store.campaign
        fresh = sa.select(sa.func.count()).where(table.campaign == campaign, table.tier == FRESH)
        over = sa.and_(given.campaign == campaign, given.state == "out", given.expires <= self.folder.store.clock())
        ended = connection.execute(sa.select(given.id).where(over).limit(1)).first() is not None
        return int(connection.execute(fresh).scalar() or 0), ended

    def _active(self) -> int:
        given = assignments.c
        mine = sa.and_(given.campaign == self.folder.store.campaign, given.state == "out")
        count = sa.select(sa.func.count(sa.distinct(given.assessor))).where(mine)
        return int(self.folder.store.read(lambda connection: connection.execute(count).scalar()) or 0)

    def _fail(self, error: Exception) -> None:
        if self.failure != str(error):
            _log.warning("estimates wait: %s", error)
        self.failure = str(error)


def _next_questions(campaign: AnyStored, n: int) -> tuple[str | None, list[tuple[str, str, str, bool]]]:
    """Return why to stop, if so, and what to ask next."""
    if isinstance(campaign, StoredQuestions):
        return None, []
    if isinstance(campaign, StoredPairCampaign):
        if campaign.look.decision.stop:
            return campaign.look.decision.reason, []
        # The documents of a pair stand in the order of their ids in the store.
        asked = campaign.questions(campaign.propose(n)).select("query", "a", "b").rows()
        return None, [(query, min(a, b), max(a, b), False) for query, a, b in asked]
    look = campaign.look
    if look is not None and look.decision.stop:
        return look.decision.reason, []
    proposal = campaign.propose(n)
    if look is None and not len(proposal):
        return None, []
    return None, [
        (query, document, "", sampled) for query, document, _, sampled in campaign.proposal_frame(proposal).iter_rows()
    ]


def _keep(change: Change, sequence: int, body: dict[str, Any]) -> None:
    """Keep an estimate; of earlier ones the numbers stay, for a picture of how confidence grew."""
    table = estimates.c
    mine = table.campaign == change.campaign
    change.connection.execute(sa.update(estimates).where(mine, table.body.is_not(None)).values(body=None))
    change.connection.execute(sa.delete(estimates).where(mine, table.sequence == sequence))
    change.connection.execute(
        sa.insert(estimates).values(
            campaign=change.campaign,
            sequence=sequence,
            time=change.now,
            judged=body["judged"],
            mean_confidence=body["mean_confidence"],
            min_confidence=body["min_confidence"],
            body=json.dumps(body, ensure_ascii=False),
        )
    )
