"""Campaigns that last: the one campaign of :mod:`earmark.campaign`, with a store behind it.

A stored campaign has all methods of a campaign. It is a value too: what it says follows from its problem and from the
answers that were in the store when it was read, to the bit the same as a campaign that was never stored. Adding answers
writes them to the store and returns the next campaign; :meth:`StoredCampaign.refreshed` returns the one with the
answers of others.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import polars as pl

from earmark.campaign.campaign import Campaign
from earmark.campaign.evidence import Answers
from earmark.campaign.list_campaign import ListCampaign
from earmark.campaign.order_campaign import OrderCampaign
from earmark.campaign.pairs.campaign import PairCampaign, PairProblem
from earmark.campaign.pairs.candidates import PairAnswers, answers_about
from earmark.campaign.policies import Proposal
from earmark.campaign.stopping import LOOKS_APART
from earmark.data.judgments import UNNAMED, Judgments
from earmark.data.log import AnswerLog, Kind
from earmark.errors import ParameterError
from earmark.store import kinds
from earmark.store.desk import Desk
from earmark.store.folder import CampaignFolder
from earmark.store.leases import pending_items
from earmark.store.recording import Recorded, record
from earmark.store.removals import removed_by

UNREAD: tuple[Kind, ...] = ("asked",)
"""Events that estimates do not depend on; they are half of a log and stay in the store."""

DECISIVE: tuple[Kind, ...] = (
    "answered",
    "withdrawn",
    "rejected",
    "reinstated",
    "added",
    "removed",
    "restored",
    "changed",
)
"""Events after which an estimate may say something else."""


@dataclass(frozen=True, eq=False, repr=False)
class StoredCampaign(Campaign):
    """A campaign of kind grade in a folder; see :class:`earmark.campaign.campaign.Campaign`.

    Parameters
    ----------
    problem, log, notes
        As for a campaign; the log is without the questions that were given out.
    folder : CampaignFolder
    """

    folder: CampaignFolder = field(kw_only=True)

    @classmethod
    def read(cls, folder: CampaignFolder) -> StoredCampaign:
        """Read the campaign of an open folder."""
        log = folder.store.log(without=UNREAD)
        return cls(folder.problem(removed_by(log)), log, folder=folder)

    def refreshed(self) -> StoredCampaign:
        """Return the campaign with everything that happened since; itself where nothing did."""
        log = _newer(self.log, self.folder)
        if log is self.log:
            return self
        problem = self.problem if removed_by(log) == removed_by(self.log) else self.folder.problem(removed_by(log))
        return StoredCampaign(problem, log, self.notes, folder=self.folder)

    @property
    def desk(self) -> Desk:
        """Where assessors get questions and hand in answers."""
        return self.folder.desk

    def with_answers(self, answers: Answers) -> StoredCampaign:
        """Store more answers, which follow all answers so far, and return the campaign with them."""
        if not answers.items.size:
            return self
        names = self.problem.items[answers.items]
        sampled = np.zeros(answers.items.size, dtype=bool) if answers.sampled is None else answers.sampled
        assessor = answers.assessor or UNNAMED
        # The same keys in every attempt, so that an attempt whose end was not heard of is not repeated.
        rows = [
            Recorded(assessor, query, document, "", secrets.token_urlsafe(16), float(gain), sampled=bool(drawn))
            for query, document, gain, drawn in zip(
                names["query"], names["document"], answers.gains, sampled, strict=True
            )
        ]
        self.folder.store.write(lambda change: record(change, self.folder.rules, rows))
        return self.refreshed()

    def with_judgments(self, judgments: Judgments, *, source: str | None = None) -> StoredCampaign:
        """Store a table of judgments as ``earmark import`` does, and return the campaign with them."""
        from earmark.store.imports import import_judgments

        scale = self.problem.scale
        if not judgments.scale_guessed and judgments.scale != scale:
            raise ParameterError(f"the campaign judges on the scale {scale}, these judgments are on {judgments.scale}")
        import_judgments(self.folder, Judgments.from_frame(judgments.frame, scale=scale), source=source)
        return self.refreshed()

    def with_settings(self, **changes: Any) -> StoredCampaign:
        """Change settings in ``campaign.toml``, which the log records, and return the campaign with them.

        Parameters
        ----------
        **changes
            As for :meth:`earmark.campaign.problem.Problem.changed`: ``stop``, ``policy``, ``samples``; or settings by
            their full names, ``**{"judging.judgments_per_item": 3}``.
        """
        named = {name if "." in name else f"estimates.{name}": _written(value) for name, value in changes.items()}
        return StoredCampaign.read(self.folder.change_settings(named))

    def propose(self, n: int = 20, *, pending: Iterable[int] = (), pair: tuple[str, str] | None = None) -> Proposal:
        """Propose what to judge next; what is out with an assessor is not proposed."""
        return super().propose(n, pending={*pending, *self._out()}, pair=pair)

    def _out(self) -> set[int]:
        out = _pending(self.folder)
        if not out:
            return set()
        held = pl.DataFrame(out, schema=["query", "document", "other"], orient="row").select("query", "document")
        return set(self.problem.items.with_row_index("item").join(held, on=["query", "document"], how="semi")["item"])


@dataclass(frozen=True, eq=False, repr=False)
class StoredPairCampaign(PairCampaign):
    """A campaign of kind prefer in a folder; see :class:`earmark.campaign.pairs.campaign.PairCampaign`."""

    folder: CampaignFolder = field(kw_only=True)
    log: AnswerLog = field(kw_only=True)

    @classmethod
    def read(cls, folder: CampaignFolder) -> StoredPairCampaign:
        """Read the campaign of an open folder."""
        log = folder.store.log(without=UNREAD)
        return cls._of(folder, folder.pair_problem(removed_by(log)), log)

    @classmethod
    def _of(cls, folder: CampaignFolder, problem: PairProblem, log: AnswerLog) -> StoredPairCampaign:
        def answered(events: AnswerLog) -> PairAnswers:
            said, pairs = kinds.preferences_of(events), problem.design.pairs
            return PairAnswers.none(len(pairs)) if said is None else answers_about(pairs, said)[0]

        before = log.without_last(LOOKS_APART)
        past = () if before is None else (answered(before),)
        return cls(problem, answered(log), past, folder=folder, log=log)

    def refreshed(self) -> StoredPairCampaign:
        """Return the campaign with everything that happened since; itself where nothing did."""
        log = _newer(self.log, self.folder)
        if log is self.log:
            return self
        same = removed_by(log) == removed_by(self.log)
        return self._of(self.folder, self.problem if same else self.folder.pair_problem(removed_by(log)), log)

    @property
    def desk(self) -> Desk:
        """Where assessors get questions and hand in answers."""
        return self.folder.desk

    def propose(self, n: int) -> Proposal:
        """Propose pairs to ask about, without those that are out with an assessor."""
        out = set(_pending(self.folder))
        if not out:
            return super().propose(n)
        pairs = self.problem.design.pairs
        proposed = super().propose(n + len(out))
        named = (
            (
                pairs.queries[pairs.query_index[one]],
                pairs.documents[pairs.first_index[one]],
                pairs.documents[pairs.second_index[one]],
            )
            for one in proposed.items
        )
        free = np.array([pair not in out for pair in named], dtype=bool)
        kept = np.flatnonzero(free)[:n]
        return Proposal(proposed.items[kept], proposed.priority[kept], proposed.sampled[kept])

    def with_answers(self, answers: PairAnswers) -> Self:
        """Refuse: answers to pairs are stored with who gave them, through :attr:`desk`."""
        raise ParameterError("answers about pairs are stored with their assessor: use campaign.desk")


@dataclass(frozen=True, eq=False, repr=False)
class _ReadFromLog:
    """What the kinds order and lists share in a folder: their answers are those of the log, nothing else is kept."""

    folder: CampaignFolder = field(kw_only=True)
    log: AnswerLog = field(kw_only=True)

    @classmethod
    def read(cls, folder: CampaignFolder) -> Self:
        """Read the campaign of an open folder."""
        raise NotImplementedError

    def _with_log(self, log: AnswerLog) -> Self:
        """Return the campaign with the answers of another log."""
        raise NotImplementedError

    def refreshed(self) -> Self:
        """Return the campaign with everything that happened since; itself where nothing did."""
        log = _newer(self.log, self.folder)
        if log is self.log:
            return self
        if removed_by(log) != removed_by(self.log):
            return self.read(self.folder)
        return self._with_log(log)

    @property
    def desk(self) -> Desk:
        """Where assessors get questions and hand in answers."""
        return self.folder.desk


@dataclass(frozen=True, eq=False, repr=False)
class StoredOrderCampaign(_ReadFromLog, OrderCampaign):
    """A campaign of kind order in a folder; see :class:`earmark.campaign.order_campaign.OrderCampaign`."""

    @classmethod
    def read(cls, folder: CampaignFolder) -> Self:
        """Read the campaign of an open folder."""
        log = folder.store.log(without=UNREAD)
        problem = kinds.order_problem(folder.runs(removed_by(log)), folder.settings)
        return cls(problem, kinds.rankings_of(log), folder=folder, log=log)

    def _with_log(self, log: AnswerLog) -> Self:
        return replace(self, rankings=kinds.rankings_of(log), log=log)


@dataclass(frozen=True, eq=False, repr=False)
class StoredListCampaign(_ReadFromLog, ListCampaign):
    """A campaign of kind lists in a folder; see :class:`earmark.campaign.list_campaign.ListCampaign`."""

    @classmethod
    def read(cls, folder: CampaignFolder) -> Self:
        """Read the campaign of an open folder."""
        log = folder.store.log(without=UNREAD)
        problem = kinds.list_problem(folder.runs(removed_by(log)), folder.settings)
        return cls(problem, kinds.list_answers_of(log), folder=folder, log=log)

    def _with_log(self, log: AnswerLog) -> Self:
        return replace(self, answers=kinds.list_answers_of(log), log=log)


AnyStored = StoredCampaign | StoredPairCampaign | StoredOrderCampaign | StoredListCampaign
"""A campaign in a folder, of whatever kind."""

_OF_KIND: dict[str, type[StoredCampaign | StoredPairCampaign | StoredOrderCampaign | StoredListCampaign]] = {
    "grade": StoredCampaign,
    "prefer": StoredPairCampaign,
    "order": StoredOrderCampaign,
    "lists": StoredListCampaign,
}


def open_campaign(path: str | os.PathLike[str], *, read_only: bool = False) -> AnyStored:
    """Open the campaign in a folder.

    Parameters
    ----------
    path : path
        The folder that ``earmark init`` made.
    read_only : bool
        Write nothing.

    Returns
    -------
    StoredCampaign, StoredPairCampaign, StoredOrderCampaign or StoredListCampaign
        For the kinds grade, prefer, order and lists; that of the kind grade is a
        :class:`~earmark.campaign.campaign.Campaign`.

    Raises
    ------
    InputError
        If there is no campaign, its settings are wrong, or its inputs have changed.
    StoreError
        If the store cannot be used.
    """
    return read_stored(CampaignFolder.open(path, read_only=read_only))


def read_stored(folder: CampaignFolder) -> AnyStored:
    """Read the campaign of an open folder, whatever its kind."""
    return _OF_KIND[folder.settings.kind].read(folder)


def _pending(folder: CampaignFolder) -> list[tuple[str, str, str]]:
    """Return query, document and other of every question that is out."""
    store = folder.store
    return store.read(lambda connection: pending_items(connection, store.campaign, store.clock()))


def _newer(log: AnswerLog, folder: CampaignFolder) -> AnswerLog:
    """Return a log with the events since; the log itself where there are none."""
    more = folder.store.events(after=log.next_sequence - 1, without=UNREAD)
    # In one piece: a worker that runs for weeks would collect thousands of them.
    return AnswerLog((log.frame,)).with_table(more) if more.height else log


def _written(value: Any) -> Any:
    """Return a setting as the file has it."""
    return value if isinstance(value, (int, float, str, bool, tuple, type(None))) else str(value)
