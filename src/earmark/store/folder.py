"""The folder of a campaign: its settings, its inputs and its store, made all at once and opened again.

The file ``campaign.toml`` is the request and the log is the record. When a folder is opened, settings that were edited
are written to the log with their time; those that cannot change are refused with their line.

Several hosts may have a copy of the folder each, and one store: what another host changed is followed
(:mod:`earmark.store.agreement`).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa

from earmark.campaign.pairs.campaign import PairProblem
from earmark.campaign.problem import Problem
from earmark.data.runs import Runs
from earmark.errors import InputError, StoreError
from earmark.store import people
from earmark.store.address import keep_password, store_is_elsewhere, store_url, with_store
from earmark.store.agreement import OWN, agree, remember, with_edits
from earmark.store.database import Database, database_to_fill
from earmark.store.desk import Desk
from earmark.store.drafts import drafted, move_draft, refuse_taken, sweep_drafts
from earmark.store.folder_questions import all_questions, all_traps
from earmark.store.inputs import (
    FOLDER as INPUTS,
)
from earmark.store.inputs import (
    add_file,
    added_systems,
    build_pair_problem,
    build_problem,
    fill_hashes,
    find_file,
    read_lists,
)
from earmark.store.migrate import migrate
from earmark.store.onboarding import check_onboarding
from earmark.store.questions import add_questions, known_questions, mark_removed
from earmark.store.rebuild import rebuild
from earmark.store.removals import Removed, read_removed
from earmark.store.rules import Rules
from earmark.store.schema import campaigns
from earmark.store.settings import NAME, Settings, refuse_frozen
from earmark.store.store import Change, Store, utc_now
from earmark.store.traps import add_traps

BACKUPS = "backups"
LOOK_EVERY = 2.0
"""After how many seconds an open folder looks whether another host has changed the settings."""

# Where a store is and what links start with says nothing about the campaign itself.
_UNRECORDED = (OWN, "people.address", "name")


def is_campaign_folder(path: str | os.PathLike[str]) -> bool:
    """Tell whether a path is the folder of a campaign."""
    return (Path(path) / NAME).is_file()


@dataclass(frozen=True, eq=False)
class CampaignFolder:
    """A folder with its settings and its open store.

    Parameters
    ----------
    path : Path
    settings : Settings
        As they hold now.
    store : Store
    recorded : tuple of str
        What was recorded when the folder was opened, in words.
    """

    path: Path
    settings: Settings
    store: Store
    recorded: tuple[str, ...] = ()
    _seen: tuple[int, int] = field(default=(0, 0), repr=False)
    _recorded: str = field(default="", repr=False)
    _looked: float = field(default_factory=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        if self._seen == (0, 0):
            object.__setattr__(self, "_seen", self._written())

    # ---- making and opening ------------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        make_settings: Callable[[Path], Settings],
        *,
        prepare: Callable[[Path, Settings], Settings] | None = None,
        store: str | None = None,
        clock: Callable[[], int] = utc_now,
    ) -> CampaignFolder:
        """Make a campaign: all of it, or nothing.

        Parameters
        ----------
        path : path
            The folder, which must not exist or be empty.
        make_settings : callable
            Given a folder, puts the inputs there and returns the settings.
        prepare : callable, optional
            Given that folder and the settings, prepares what is shown and played, and returns the settings.
        store : str, optional
            The address of the database; by default a SQLite file in the folder.
        clock : callable
            Tells the time.

        Raises
        ------
        InputError
            If there is something at the path, or the inputs cannot be used.
        """
        target = Path(path)
        refuse_taken(target)
        with drafted(target) as draft:
            settings = fill_hashes(draft, make_settings(draft))
            settings = _with_version(draft, settings)
            if prepare is not None:
                settings = prepare(draft, settings)
            settings = with_store(settings, store)
            keep_password(draft, store)
            settings.write(draft / NAME)
            with cls._made_store(draft, settings, clock):
                move_draft(draft, target)
        return cls.open(target, clock=clock)

    @classmethod
    @contextmanager
    def _made_store(cls, folder: Path, settings: Settings, clock: Callable[[], int]) -> Iterator[None]:
        """Make the store of a new campaign; where what is done with it fails, the database forgets the campaign."""
        with database_to_fill(store_url(folder, settings)) as database:
            migrate(database, backup_before(folder, database))
            made = cls(folder, settings, Store(database, 0, clock))
            questions = made._questions(Removed())
            store = Store.create(
                database, uid=settings.id, name=settings.name, settings=settings.as_json(), clock=clock
            )
            try:
                cls(folder, settings, store)._add_questions(questions)
                # Windows does not rename a folder with an open file in it.
                database.engine.dispose()
                yield
            except BaseException:
                if not database.is_sqlite or store_is_elsewhere(folder, database):
                    store.forget()
                raise

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        read_only: bool = False,
        clock: Callable[[], int] = utc_now,
        patience: float | None = None,
    ) -> CampaignFolder:
        """Open a campaign, and record the settings that changed since.

        Parameters
        ----------
        path : path
        read_only : bool
            Write nothing; changed settings are used and not recorded.
        clock : callable
            Tells the time.
        patience : float, optional
            For how many seconds a lost connection is tried again.

        Raises
        ------
        InputError
            If there is no campaign, its settings are wrong, or its inputs have changed.
        StoreError
            If the store cannot be used.
        """
        folder = Path(path)
        if not is_campaign_folder(folder):
            hint = "earmark init makes one" if not folder.is_file() else "name the folder, not a file in it"
            raise InputError(expected="the folder of a campaign", got=f"no {NAME} there", path=folder, hint=hint)
        settings = fill_hashes(folder, Settings.read(folder / NAME))
        how = {} if patience is None else {"patience": patience}
        address = store_url(folder, settings)
        if address.get_backend_name() == "sqlite" and not Path(str(address.database)).exists():
            raise StoreError(f"{address.database}: the store is gone; restore a backup with 'earmark restore'")
        database = Database(address, read_only=read_only, **how)
        try:
            migrate(database, backup_before(folder, database))
            store = Store.find(database, settings.id, clock=clock)
            opened = cls(folder, settings, store)._agreed()
            if not read_only:
                sweep_drafts(folder.resolve().parent)
                people.erase_expired(store, opened.settings.people.retention_days)
            return opened
        except BaseException:
            database.close()
            raise

    def current(self) -> CampaignFolder:
        """Return the folder with its settings as they are now, recorded; itself where they are the same.

        A server that runs for weeks asks this before it gives out work, so that an edited file counts at once, and
        what another host changed within seconds.
        """
        written = self._written()
        if written == self._seen and not self._changed_elsewhere():
            return self
        settings = fill_hashes(self.path, Settings.read(self.path / NAME))
        return CampaignFolder(self.path, settings, self.store, _seen=written)._agreed()

    def _changed_elsewhere(self) -> bool:
        """Tell whether the settings in the store are others than when this folder looked last."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY:
            return False
        object.__setattr__(self, "_looked", now)
        query = sa.select(campaigns.c.settings).where(campaigns.c.id == self.store.campaign)
        try:
            found = self.store.database.read(lambda connection: connection.execute(query).scalar(), patience=0)
        except StoreError:
            # The database is away: what is known holds until it is back.
            return False
        return found != self._recorded

    def _written(self) -> tuple[int, int]:
        about = (self.path / NAME).stat()
        return about.st_mtime_ns, about.st_size

    def close(self) -> None:
        """Close all connections to the store."""
        self.store.database.close()

    def __enter__(self) -> CampaignFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- what is in it -----------------------------------------------------------------------------------------------

    @cached_property
    def rules(self) -> Rules:
        """How work is given out and when answers count."""
        return Rules.from_settings(self.settings)

    @cached_property
    def desk(self) -> Desk:
        """Where assessors get questions and hand in answers."""
        return Desk(self.store, self.rules)

    def runs(self, removed: Removed) -> Runs:
        """Read the runs, without what was removed."""
        return read_lists(self.path, self.settings, removed)

    def problem(self, removed: Removed) -> Problem:
        """Build the problem of a campaign of kind grade."""
        return build_problem(self.path, self.settings, removed)

    def pair_problem(self, removed: Removed) -> PairProblem:
        """Build the problem of a campaign of kind prefer."""
        return build_pair_problem(self.path, self.settings, removed)

    def removed(self) -> Removed:
        """Return what left the collection."""
        return self.store.read(lambda connection: read_removed(connection, self.store.campaign))

    def _questions(self, removed: Removed) -> pl.DataFrame:
        """Return all questions, in the order in which they are asked where nothing is proposed."""
        return all_questions(self.path, self.settings, removed)

    def _add_questions(self, frame: pl.DataFrame) -> int:
        def act(change: Change) -> int:
            count = add_questions(change, frame)
            add_traps(change, all_traps(change, self.path, self.settings, self.rules))
            return count

        return self.store.write(act)

    def follow_removals(self, removed: Removed) -> None:
        """Ask about what the collection holds now: items that moved up come in, items of nobody go."""
        frame = self._questions(removed)
        self._add_questions(frame)

        def act(change: Change) -> None:
            known = known_questions(change.connection, change.campaign)
            asked = known.join(frame, on=["query", "document", "other"], how="semi")["number"].to_list()
            mark_removed(change, self.rules, set(known["number"]) - set(asked), set(asked))

        self.store.write(act)

    # ---- changes -----------------------------------------------------------------------------------------------------

    def _agreed(self) -> CampaignFolder:
        """Return the folder, as its file was read, with the settings that hold: file and store agree from then on."""
        said: list[str] | None = None
        while said is None:
            recorded = self.store.row["settings"]
            in_store = Settings.from_json(recorded)
            settings = with_edits(self.path, self.settings, in_store)
            folder, new = replace(self, settings=settings, _recorded=recorded), not agree(in_store, settings)
            if self.store.database.read_only:
                return folder
            said = folder._record_changes(recorded) if new else []
        # A folder that cannot be written follows the store all the same.
        with suppress(OSError, InputError):
            if settings != self.settings:
                settings.write(self.path / NAME)
            remember(self.path, settings)
        return replace(folder, recorded=tuple(said), _recorded=settings.as_json() if new else recorded)

    def _record_changes(self, recorded: str) -> list[str] | None:
        """Write settings that changed to the log, and make what follows from them.

        Parameters
        ----------
        recorded : str
            The settings in the store that these were compared with.

        Returns
        -------
        list of str or None
            What changed, in words; None where the settings in the store have changed meanwhile, and nothing was done.
        """
        earlier = Settings.from_json(recorded)
        refuse_frozen(earlier, self.settings, self.path / NAME)
        if earlier.inputs != self.settings.inputs:
            # Before they are recorded: if the process ends here, the next one finds the change again.
            added_systems(self.path, earlier, self.settings)
            check_onboarding(self.path, self.settings)
            self.follow_removals(self.removed())
        said: list[str] = []

        def act(change: Change) -> bool | None:
            said.clear()
            if change.row["settings"] != recorded:
                return None
            differences = [
                one for one in Settings.differences(earlier, self.settings) if one.setting not in _UNRECORDED
            ]
            if any(one.setting == "inputs.runs" for one in differences):
                for file, systems in added_systems(self.path, earlier, self.settings).items():
                    change.append("added", source=file, text=json.dumps({"systems": systems}, ensure_ascii=False))
                    said.append(f"runs added: {', '.join(systems)} ({file})")
            for one in differences:
                if one.setting == "inputs.runs":
                    continue
                told = {"setting": one.setting, "from": one.before, "to": one.after}
                change.append("changed", text=json.dumps(told, ensure_ascii=False))
                said.append(str(one))
            change.update(settings=self.settings.as_json(), name=self.settings.name)
            touched = {one.setting.partition(".")[0] for one in differences}
            if touched & {"judging", "traps"}:
                rebuild(change, self.rules)
            if "estimates" in touched and change.row["state"] == "stopped":
                # A new stop rule decides anew.
                change.append("resumed", text="the stop rule or the estimates changed")
                change.update(state="open", reason=None, since=change.now)
            return bool(touched & {"judging", "traps"})

        rebuilt = self.store.write(act)
        if rebuilt:
            # A rebuild knows events alone, and not which items a system that left had for itself.
            self.follow_removals(self.removed())
        return None if rebuilt is None else said

    def add_runs(self, runs: list[Path], *, copy: bool = True) -> CampaignFolder:
        """Add runs that come late; the folder is opened again."""
        home = self.path / INPUTS
        before = set(home.iterdir()) if home.is_dir() else set()
        try:
            added = tuple(add_file(self.path, run, copy=copy) for run in runs)
            settings = self.settings.changed(**{"inputs.runs": (*self.settings.inputs.runs, *added)})
            added_systems(self.path, self.settings, settings)
            settings.write(self.path / NAME)
        except BaseException:
            for file in (set(home.iterdir()) if home.is_dir() else set()) - before:
                file.unlink()
            raise
        self.close()
        return CampaignFolder.open(self.path, clock=self.store.clock)

    def change_settings(self, changes: Mapping[str, Any]) -> CampaignFolder:
        """Change settings in the file; the folder is opened again, which records them."""
        settings = self.settings.changed(**changes)
        refuse_frozen(self.settings, settings, self.path / NAME)
        settings.write(self.path / NAME)
        self.close()
        return CampaignFolder.open(self.path, clock=self.store.clock)

    def rewrite_settings(self, changes: Mapping[str, Any]) -> CampaignFolder:
        """Change settings in the file while others use the store; returns the folder with them, recorded."""
        settings = self.settings.changed(**changes)
        refuse_frozen(self.settings, settings, self.path / NAME)
        settings.write(self.path / NAME)
        return self.current()

    def consent_text(self) -> str | None:
        """Return the text that assessors agree to; None where the campaign has none."""
        file = self.settings.inputs.consent
        if file is None:
            return None
        return find_file(self.path, file).read_text(encoding=self.settings.inputs.encoding)

    def consent_version(self) -> str | None:
        """Keep the consent text as it is now and return its version; None where the campaign has none."""
        text = self.consent_text()
        return None if text is None else self.store.write(lambda change: people.keep_text(change, text))


def backup_before(folder: Path, database: Database) -> Callable[[str], Path]:
    """Return a function that backs a store up before its tables change."""

    def backup(version: str) -> Path:
        from earmark.store.backups import dump_database, folder_files

        home = folder / BACKUPS
        home.mkdir(exist_ok=True)
        return dump_database(database, home / f"before-migration-of-{version}.zip", folder_files(folder))

    return backup


def _with_version(folder: Path, settings: Settings) -> Settings:
    """Build the problem once, so that bad inputs are found now, and keep the version of the predictor."""
    check_onboarding(folder, settings)
    if settings.kind == "grade":
        problem = build_problem(folder, settings)
        return settings.changed(**{"estimates.predictor_version": problem.predictor_version})
    if settings.kind == "prefer":
        build_pair_problem(folder, settings)
    else:
        read_lists(folder, settings)
    return settings
