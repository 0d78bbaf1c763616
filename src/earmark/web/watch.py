"""Looking at a running campaign: what pages and pictures are made of, read once for all who look.

A process reads the log once and then only what is new. Everything that is shown is kept until something happens, so
that a dashboard in ten windows costs as much as one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any
from zlib import crc32

from earmark.campaign.campaign import Campaign
from earmark.campaign.statements import say_verdict
from earmark.data.log import AnswerLog
from earmark.errors import ParameterError
from earmark.store.folder import CampaignFolder
from earmark.store.forecasts import keep_forecast
from earmark.store.overview import version_of
from earmark.store.stored import UNREAD
from earmark.web.dashboard import state
from earmark.web.figures import can_draw, figure_csv, figure_svg
from earmark.web.watched import Watched

FRESH_FOR = 20.0
"""For so many seconds what was read is shown again: leases end and answers grow old though nothing happens."""


class Watcher:
    """Looks at a campaign for all pages of a process.

    Parameters
    ----------
    folder : callable
        Returns the folder of the campaign with its settings as they are now.
    """

    def __init__(self, folder: Callable[[], CampaignFolder]) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._log = AnswerLog()
        self._watched: Watched | None = None
        self._state: dict[str, Any] | None = None
        self._drawn: dict[tuple[str, str], tuple[str, str | None]] = {}
        self._until = 0.0
        self._looking_ahead = threading.Lock()

    def version(self) -> str:
        """Return what changes whenever something happens; cheap enough to ask every second."""
        folder = self._folder()
        return f"{version_of(folder.store)}.{_digest(folder)}"

    def look(self) -> Watched:
        """Return all that is shown, as fresh as the store."""
        with self._lock:
            return self._look()

    def _look(self) -> Watched:
        folder = self._folder()
        # The version first: what happens while the rest is read is then seen as new.
        version = version_of(folder.store)
        known = self._watched
        same = known is not None and known.version == version and known.folder.settings == folder.settings
        if known is not None and same and time.monotonic() < self._until:
            return known
        more = folder.store.events(after=self._log.next_sequence - 1, without=UNREAD)
        if more.height:
            self._log = AnswerLog((self._log.frame,)).with_table(more) if len(self._log) else self._log.with_table(more)
        self._watched = Watched.read(folder, self._log, version)
        self._until, self._state = time.monotonic() + FRESH_FOR, None
        return self._watched

    def state(self) -> dict[str, Any]:
        """Return what the dashboard shows."""
        with self._lock:
            watched = self._look()
            if self._state is None:
                shown = state(watched)
                if not can_draw():
                    shown["figures"] = []
                self._state = shown
            return self._state

    def look_ahead(self, read: Callable[[], Campaign]) -> dict[str, Any]:
        """Forecast how many more judgments open pairs take, which lasts seconds; one forecast is made at a time.

        It is kept in the store, where all processes find it.

        Parameters
        ----------
        read : callable
            Returns the campaign as it is now.

        Returns
        -------
        dict
            ``judged``, how many items were judged then, and ``said``, what it comes to in words.
        """
        with self._looking_ahead:
            campaign = read()
            if not campaign.ready:
                raise ParameterError("there are too few judgments for a forecast")
            known = self.look().ahead
            if known is not None and known["judged"] == campaign.judged:
                return {name: known[name] for name in ("judged", "said")}
            forecast = campaign.forecast()
            verdict = say_verdict(campaign.ranking, forecast)
            said = verdict.ahead or verdict.headline
            if not keep_forecast(self._folder().store, campaign.judged, said, forecast):
                raise ParameterError("the first estimate is being made: try again in a moment")
            return {"judged": campaign.judged, "said": said}

    def figure(self, name: str, ending: str) -> str | None:
        """Return a picture (``svg``) or its data (``csv``); None where there is none."""
        watched = self.look()
        mark, key = _depends_on(watched, name), (name, ending)
        found = self._drawn.get(key)
        if found is None or found[0] != mark:
            # Outside the lock: whoever asks for the numbers does not wait for a picture.
            drawn = figure_svg(watched, name) if ending == "svg" else figure_csv(watched, name)
            if drawn is not None:
                self._drawn[key] = found = (mark, drawn)
            else:
                found = (mark, None)
        return found[1]


def _digest(folder: CampaignFolder) -> str:
    return f"{crc32(folder.settings.as_json().encode()):08x}"


def _depends_on(watched: Watched, name: str) -> str:
    """Return what a picture depends on: the newest estimate, or the answers of people, and whether it is hidden."""
    made = watched.log.next_sequence if name == "assessors" else watched.version.estimate
    return f"{made}.{watched.hidden}.{_digest(watched.folder)}"
