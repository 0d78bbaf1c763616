"""Looking at a running campaign: what pages and pictures are made of, read once for all who look.

A process reads the log once and then only what is new. Everything that is shown is kept until something happens, so
that a dashboard in ten windows costs as much as one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from earmark.campaign.campaign import Campaign
from earmark.campaign.forecast import Forecast
from earmark.campaign.statements import say_verdict
from earmark.data.log import AnswerLog
from earmark.errors import ParameterError
from earmark.store.folder import CampaignFolder
from earmark.store.overview import version_of
from earmark.store.stored import UNREAD
from earmark.web.dashboard import Watched, state
from earmark.web.figures import can_draw, figure_csv, figure_svg, forecast_csv, forecast_svg

FRESH_FOR = 20.0
"""For so many seconds what was read is shown again: leases end and answers grow old though nothing happens."""


@dataclass(frozen=True)
class Ahead:
    """A look ahead: what more judgments would do, as of some number of them.

    Attributes
    ----------
    judged : int
        How many items were judged then.
    said : str
        In words.
    forecast : Forecast
    """

    judged: int
    said: str
    forecast: Forecast


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
        self._ahead: Ahead | None = None

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
            known = self._ahead
            if watched.hidden or known is None:
                return self._state
            figures = [*self._state["figures"], *(["forecast"] if self._state["figures"] else [])]
            return self._state | {"figures": figures, "ahead": {"judged": known.judged, "said": known.said}}

    def look_ahead(self, read: Callable[[], Campaign]) -> Ahead:
        """Forecast how many more judgments open pairs take, which lasts seconds; one forecast is made at a time.

        Parameters
        ----------
        read : callable
            Returns the campaign as it is now.
        """
        with self._looking_ahead:
            campaign = read()
            if not campaign.ready:
                raise ParameterError("too little is judged to look ahead")
            known = self._ahead
            if known is None or known.judged != campaign.judged:
                forecast = campaign.forecast()
                said = say_verdict(campaign.ranking, forecast)
                self._ahead = known = Ahead(campaign.judged, said.ahead or said.headline, forecast)
            return known

    def figure(self, name: str, ending: str) -> str | None:
        """Return a picture (``svg``) or its data (``csv``); None where there is none."""
        watched = self.look()
        if name == "forecast":
            known = self._ahead
            if known is None or watched.hidden:
                return None
            return forecast_svg(known.forecast) if ending == "svg" else forecast_csv(known.forecast)
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
