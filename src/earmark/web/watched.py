"""A campaign as it was at one moment: what was read from its store, and what follows from that for the dashboard.

Nothing is estimated here. What may be seen is decided here alone: where the settings hide the ranking until the end, or
its statements would be valid for one look only, there is no :attr:`Watched.ranking`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import polars as pl

from earmark.campaign.stopping import Budget, Either, Never, StopRule, parse_stop
from earmark.data.log import AnswerLog
from earmark.inference.confidence import Ranking
from earmark.store import overview
from earmark.store.folder import CampaignFolder
from earmark.store.organising import PILOT
from earmark.store.overview import Estimate, Version
from earmark.store.store import from_moment
from earmark.store.stored import DECISIVE
from earmark.store.tally import tally
from earmark.web import working
from earmark.web.verdict import measure_of, read_ranking


@dataclass(frozen=True, eq=False)
class Watched:
    """All that the dashboard is made of, as it was at one moment.

    Parameters
    ----------
    folder : CampaignFolder
        For its settings; nothing is read from its store any more.
    version : Version
    row : dict
        Of the campaign: state, reason and since when.
    log : AnswerLog
        Without the questions that were given out.
    estimate : Estimate or None
        The newest, None before the first.
    history : polars.DataFrame
        As from :func:`earmark.store.overview.history`.
    counts : dict
        As from :func:`earmark.store.tally.tally`.
    people : list of dict
        As from :func:`earmark.store.overview.assessors_seen`.
    now : datetime
    """

    folder: CampaignFolder
    version: Version
    row: dict[str, Any]
    log: AnswerLog
    estimate: Estimate | None
    history: pl.DataFrame
    counts: dict[str, int]
    people: list[dict[str, Any]]
    now: datetime

    @classmethod
    def read(cls, folder: CampaignFolder, log: AnswerLog, version: Version) -> Watched:
        """Read the tables of a store; the log was read before, as the longest of all."""
        store = folder.store
        return cls(
            folder,
            version,
            store.row,
            log,
            overview.newest_estimate(store),
            overview.history(store),
            tally(store, folder.settings.kind, per_item=folder.settings.judging.judgments_per_item),
            _at_work_if_they_can_be(overview.assessors_seen(store), store.row["state"]),
            from_moment(store.clock()),
        )

    @property
    def kind(self) -> str:
        """What people are asked."""
        return self.folder.settings.kind

    @property
    def body(self) -> dict[str, Any]:
        """The newest estimate; empty before the first."""
        return {} if self.estimate is None else self.estimate.body

    @cached_property
    def behind(self) -> int:
        """How many answers, and other events that may change an estimate, are newer than the newest estimate."""
        after = 0 if self.estimate is None else self.estimate.sequence
        trap, uncounted = pl.col("expected").is_not_null(), pl.col("assessor").is_in(list(self.log.rejected))
        # Whoever tries the campaign out is rejected from the start.
        pilot = (pl.col("kind") == "rejected") & (pl.col("text") == PILOT).fill_null(False)
        idle = pl.when(pl.col("kind") == "answered").then(trap | uncounted.fill_null(False)).otherwise(pilot)
        return self.log.of_kind(*DECISIVE).filter(pl.col("sequence") > after, ~idle).height

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems that the newest estimate is about."""
        return tuple(str(row["system"]) for row in self.body.get("systems") or ())

    @property
    def ahead(self) -> dict[str, Any] | None:
        """What somebody looked ahead at last, as :mod:`earmark.store.forecasts` keeps it; None where it is hidden."""
        found: dict[str, Any] | None = None if self.hidden else self.body.get("ahead")
        return found

    @property
    def told(self) -> dict[str, Any]:
        """What is shown: statements that stay valid at any time, else those of one look where these may be seen."""
        live = self.body.get("live")
        return live if isinstance(live, dict) and live.get("systems") else self.body

    @property
    def anytime(self) -> bool:
        """Whether what is shown holds however often one looks."""
        live = self.body.get("live") or {}
        shown = self.told is not self.body or not self.body.get("systems")
        asked_for = self.kind == "grade" and self.folder.settings.estimates.anytime
        return bool(live.get("anytime") and shown) or asked_for

    @property
    def over(self) -> bool:
        """Whether the campaign has come to its end, so that looking changes nothing."""
        return self.row["state"] in ("stopped", "closed")

    @property
    def too_early(self) -> bool:
        """Whether intervals and confidences are left out: they would be valid for one look only, and nobody asked."""
        asked_for = self.folder.settings.pages.look_early
        return bool(self.body.get("systems")) and not (self.anytime or self.over or asked_for)

    @property
    def unjudged(self) -> bool:
        """Whether nothing is judged: what an estimate says then is what was believed before, and ranks nothing."""
        return not (self.body.get("judged") or self.body.get("answers"))

    @property
    def watched_at_any_time(self) -> bool:
        """Whether the number that the stop rule watches holds however often one looks."""
        by_sequence = self.kind in ("order", "lists")
        return by_sequence or (self.kind == "grade" and self.folder.settings.estimates.anytime)

    @property
    def hidden(self) -> bool:
        """Whether the ranking is hidden until the campaign is closed."""
        return self.folder.settings.pages.hide_ranking and self.row["state"] != "closed"

    @property
    def level(self) -> float:
        """The probability that each interval holds."""
        return float(self.told.get("level") or self.folder.settings.estimates.level)

    @cached_property
    def ranking(self) -> Ranking | None:
        """The ranking that is shown, with its intervals; None where it is hidden, too early, or there is none."""
        return None if self.hidden or self.too_early or self.unjudged else self._ranking(self.told)

    @cached_property
    def both(self) -> tuple[Ranking, Ranking] | None:
        """The estimates of the model and the guaranteed ones, both for one look or both at any time.

        None where they are hidden, too early, or there is only one of them.
        """
        if self.hidden or self.too_early or self.unjudged:
            return None
        # Where verdicts are by design, the model stands beside them.
        by_sample = self.body.get("model")
        model, design = (by_sample, self.body) if by_sample else (self.body, self.body.get("design"))
        if not isinstance(model, dict) or not isinstance(design, dict):
            return None
        if self.anytime:
            # Both at any time: intervals of one look beside wider ones would look as if they were surer.
            model, design = ((one.get("live") or {}) for one in (model, design))
        rankings = self._ranking(model), self._ranking(design)
        return None if rankings[0] is None or rankings[1] is None else (rankings[0], rankings[1])

    def _ranking(self, told: dict[str, Any]) -> Ranking | None:
        measure = measure_of(self.kind, self.folder.settings.estimates.measure)
        judged = int(self.body.get("judged") or 0)
        return read_ranking(told, measure, level=self.level, items=self.counts["questions"], judged=judged)

    @cached_property
    def given(self) -> pl.DataFrame:
        """All answers that people gave."""
        return working.given_answers(self.log)

    @cached_property
    def seconds(self) -> dict[str, float]:
        """How long an answer takes in the middle, by assessor."""
        return working.median_seconds(self.given)

    @cached_property
    def looks(self) -> pl.DataFrame:
        """What the stop rule watched at every look: ``judged``, ``value``; mean confidence where it watches no number.

        Looks before the stop rule was changed are left out.
        """
        # Before the first judgment there is nothing to be sure of.
        history = self.history.filter(pl.col("judged") > 0)
        known = history.filter(pl.col("rule") == self.watched_rule).drop_nulls("value")
        if known.height and not self.counts_only:
            return known.select("judged", "value")
        return history.select("judged", value="mean_confidence").drop_nulls()

    @cached_property
    def agreement(self) -> dict[str, dict[str, Any]]:
        """How far assessors agree with others, by assessor."""
        return working.agreement(self.log, self.kind, self.folder.rules.scale)

    @cached_property
    def stop(self) -> StopRule:
        """The stop rule."""
        return parse_stop(self.folder.settings.estimates.stop)

    @property
    def watched_rule(self) -> str:
        """The name of the rule whose number is watched: the first where there are several."""
        return (self.stop.first if isinstance(self.stop, Either) else self.stop).name

    @property
    def counts_only(self) -> bool:
        """Whether the stop rule looks at no estimate."""
        return isinstance(self.stop, (Budget, Never))


def _at_work_if_they_can_be(people: list[dict[str, Any]], state: str) -> list[dict[str, Any]]:
    """Let nobody be at work whose link has ended, or in a campaign that is closed: their questions come back later."""
    return [
        person | {"out": 0} if state == "closed" or (person["joined"] and not person["link"]) else person
        for person in people
    ]
