"""What all routes of an app share: one campaign, as its folder, its store and its media are at this moment.

The settings file may be edited while the app runs; :attr:`WebCampaign.folder` notices. A file that somebody is in the
middle of editing, and that is wrong for now, changes nothing until it is right again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from earmark.data.log import AnswerLog
from earmark.errors import InputError
from earmark.media import Manifest, read_manifest
from earmark.store.desk import Desk
from earmark.store.folder import CampaignFolder
from earmark.store.inputs import find_file
from earmark.store.onboarding import read_questionnaire, read_training
from earmark.store.settings import Settings
from earmark.store.store import Store
from earmark.store.worker import Worker

_LISTS_FRESH = 10.0

Lists = dict[str, dict[str, tuple[str, ...]]]
"""What every system retrieved, by query."""


@dataclass(eq=False)
class WebCampaign:
    """One campaign, as an app serves it.

    Parameters
    ----------
    opened : CampaignFolder
        The folder as it was when the app started.
    worker : Worker, optional
        What keeps the estimates fresh, if it runs in this process.
    secure : bool, optional
        The app is reached by https, whatever a request looks like; when omitted, as the address of links says.
    """

    opened: CampaignFolder
    worker: Worker | None = None
    secure: bool | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _refreshing: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _wrong: str | None = field(default=None, repr=False)
    _manifest: tuple[tuple[int, int], Manifest] | None = field(default=None, repr=False)
    _lists: tuple[float, Lists] | None = field(default=None, repr=False)
    _texts: tuple[CampaignFolder, dict[str, Any]] | None = field(default=None, repr=False)

    # ---- the campaign ------------------------------------------------------------------------------------------------

    @property
    def folder(self) -> CampaignFolder:
        """The folder with its settings as they are now."""
        # One at a time looks for changes, and nobody waits for that.
        if self._refreshing.acquire(blocking=False):
            try:
                self.opened = self.opened.current()
                self._wrong = None
            except (InputError, OSError) as error:
                self._wrong = str(error)
            finally:
                self._refreshing.release()
        return self.opened

    @property
    def problem_with_settings(self) -> str | None:
        """What is wrong with the settings file at the moment, in words."""
        return self._wrong

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self.folder.settings

    @property
    def store(self) -> Store:
        """The store, which stays the same as long as the app runs."""
        return self.opened.store

    @property
    def desk(self) -> Desk:
        """Where assessors get questions and hand in answers, under the rules of now."""
        return self.folder.desk

    @property
    def title(self) -> str:
        """What people call the campaign."""
        return self.settings.pages.title or self.settings.name

    def change_settings(self, changes: dict[str, Any]) -> None:
        """Change settings in the file, which the log records."""
        with self._refreshing:
            self.opened = self.opened.rewrite_settings(changes)

    def is_https(self, scheme: str) -> bool:
        """Tell whether a request came by https: it says so itself, or the links of the campaign do.

        Parameters
        ----------
        scheme : str
            Of the request, as the server or a proxy that it trusts says.
        """
        configured = self.opened.settings.people.address.startswith("https://") if self.secure is None else self.secure
        return configured or scheme == "https"

    @cached_property
    def secret(self) -> bytes:
        """The key of everything that a client cannot make up."""
        return self.store.secret.encode()

    # ---- what is shown -----------------------------------------------------------------------------------------------

    @property
    def manifest(self) -> Manifest | None:
        """The media of the campaign; None where it has none."""
        path = self.opened.path / "media" / "manifest.json"
        try:
            about = path.stat()
        except OSError:
            return None
        state = about.st_mtime_ns, about.st_size
        with self._lock:
            if self._manifest is None or self._manifest[0] != state:
                self._manifest = state, read_manifest(self.opened.path)
            return self._manifest[1]

    def list_of(self, system: str, query: str) -> tuple[str, ...]:
        """Return the documents that a system retrieved for a query, within the depth of the campaign."""
        return self._all_lists().get(query, {}).get(system, ())

    def candidates_of(self, query: str) -> list[str]:
        """Return all documents that any system retrieved for a query, in the order of their ids."""
        return sorted({one for found in self._all_lists().get(query, {}).values() for one in found})

    def _all_lists(self) -> Lists:
        with self._lock:
            known = self._lists
        # What left the collection leaves the pages within seconds; reading all runs for every question would be slow.
        if known is not None and time.monotonic() - known[0] < _LISTS_FRESH:
            return known[1]
        folder = self.folder
        runs = folder.runs(folder.removed())
        depth = folder.settings.estimates.depth if folder.settings.kind in ("order", "lists") else None
        found: Lists = {}
        for place, (system, query) in enumerate(zip(runs.list_system, runs.list_query, strict=True)):
            start, end = int(runs.offsets[place]), int(runs.offsets[place + 1])
            last = end if depth is None else min(end, start + depth)
            found.setdefault(runs.queries[query], {})[runs.systems[system]] = tuple(runs.documents[start:last])
        with self._lock:
            self._lists = time.monotonic(), found
        return found

    # ---- before the first question -----------------------------------------------------------------------------------

    def consent_text(self) -> str | None:
        """Return the text that assessors agree to; None where there is none."""
        text: str | None = self._text("consent", CampaignFolder.consent_text)
        return text

    def questionnaire(self) -> list[dict[str, Any]]:
        """Return what assessors are asked about themselves."""

        def read(folder: CampaignFolder) -> list[dict[str, Any]]:
            file = folder.settings.inputs.questionnaire
            return [] if file is None else read_questionnaire(find_file(folder.path, file))

        found: list[dict[str, Any]] = self._text("questionnaire", read)
        return found

    def training(self) -> pl.DataFrame | None:
        """Return the training that the organiser wrote (query, document, other, gain, choice, feedback), if any."""

        def read(folder: CampaignFolder) -> pl.DataFrame | None:
            file = folder.settings.inputs.training
            if file is None:
                return None
            return read_training(find_file(folder.path, file), encoding=folder.settings.inputs.encoding)

        found: pl.DataFrame | None = self._text("training", read)
        return found

    def _text(self, name: str, read: Callable[[CampaignFolder], Any]) -> Any:
        """Read a file of the campaign once, and again when the settings have changed."""
        folder = self.folder
        with self._lock:
            if self._texts is None or self._texts[0] is not folder:
                self._texts = folder, {}
            known = self._texts[1]
        if name not in known:
            known[name] = read(folder)
        return known[name]

    def log(self) -> AnswerLog:
        """Read the log without the questions that were given out."""
        return self.store.log(without=("asked",))
