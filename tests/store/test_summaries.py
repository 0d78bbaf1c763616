"""What the store keeps for pages: one body for every kind, made of plain JSON, and what the stop rule watches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaigns_made import make_folder

from earmark.campaign.verdict import Inference, Verdicts
from earmark.store.declared_settings import SettingError
from earmark.store.folder import CampaignFolder
from earmark.store.overview import newest_estimate
from earmark.store.status import history_of, status_of, summary_of
from earmark.store.stored import (
    StoredCampaign,
    StoredListCampaign,
    StoredOrderCampaign,
    StoredPairCampaign,
    read_stored,
)
from earmark.store.worker import Worker

ALWAYS = {
    *("kind", "judged", "items", "answers", "mean_confidence", "min_confidence", "stop", "reason", "said"),
    *("progress", "level", "systems", "pairs", "live", "notes"),
}
KINDS: dict[str, dict[str, Any]] = {
    "grade": {"judging": {"scale": "broad"}, "estimates": {"stop": "mean:0.99", "audit": 0.5}},
    "prefer": {"judging": {"judgments_per_item": 2}, "estimates": {"stop": "mean:0.99"}},
    "order": {"judging": {"judgments_per_item": 3}, "estimates": {"stop": "width:0.1"}},
    "lists": {"judging": {"judgments_per_item": 2}, "estimates": {"stop": "width:0.1"}},
}


@contextmanager
def made(home: Path, kind: str, **estimates: Any) -> Iterator[CampaignFolder]:
    how = KINDS[kind]
    with make_folder(home, kind=kind, judging=how["judging"], estimates={**how["estimates"], **estimates}) as folder:
        yield folder


def answers_of(folder: CampaignFolder) -> Callable[[Any, int], dict[str, Any]]:
    """Return a function that answers a question; list answers are mostly for the first system."""
    kind, rng = folder.settings.kind, np.random.default_rng(0)
    stored = read_stored(folder)

    def say(question: Any, turn: int) -> dict[str, Any]:
        if kind == "grade":
            return {"gain": float(turn % 3)}
        if isinstance(stored, StoredOrderCampaign):
            documents = stored.problem.documents[question.query]
            noisy = np.arange(len(documents)) + rng.normal(0, 2, len(documents))
            order = [documents[place] for place in np.argsort(noisy)]
            return {"choice": json.dumps({"order": order, "cut": len(order) // 2})}
        return {"choice": ("a", "a", "b", "same")[turn % 4]}

    return say


def answer(folder: CampaignFolder, count: int, *people: str) -> None:
    say = answers_of(folder)
    for who in people:
        for turn in range(count):
            questions = folder.desk.take(who, ahead=0).questions
            if questions:
                folder.desk.answer(who, questions[0].id, key=f"{who}{questions[0].id}", **say(questions[0], turn))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_body_with_the_same_names(tmp_path: Path, kind: str) -> None:
    with made(tmp_path / "home", kind) as folder:
        worker = Worker(folder)
        for people in ((), ("ann",), ("bob", "cid")):
            answer(folder, 8, *people)
            worker.look()
            assert worker.failure is None
            kept = newest_estimate(folder.store)
            assert kept is not None
            assert set(kept.body) >= ALWAYS
            assert kept.body["kind"] == kind
            assert kept.body == json.loads(json.dumps(summary_of(read_stored(folder)), allow_nan=False))
            assert set(kept.body["progress"]) == {"name", "value", "target", "rising"}
            assert {"systems", "pairs", "anytime", "anytime_from", "note"} <= set(kept.body["live"])
        said = status_of(read_stored(folder))
        assert (said["stop"], said["reason"], said["said"]) == tuple(kept.body[n] for n in ("stop", "reason", "said"))
        assert said["mean_confidence"] == kept.body["mean_confidence"]


@pytest.mark.parametrize("kind", KINDS)
def test_progress_is_kept_of_every_estimate(tmp_path: Path, kind: str) -> None:
    with made(tmp_path / "home", kind) as folder:
        worker = Worker(folder)
        worker.look()
        values = []
        for who in ("ann", "bob", "cid"):
            answer(folder, 6, who)
            worker.look()
            values.append(summary_of(read_stored(folder))["progress"]["value"])
        history = history_of(read_stored(folder))
        assert history["progress"].to_list()[1:] == values
        assert history["rule"].unique().to_list() == ["mean" if kind in ("grade", "prefer") else "width"]
        assert history["target"].null_count() == 0


def test_grades_are_also_told_as_they_hold_at_any_time(tmp_path: Path) -> None:
    with made(tmp_path / "home", "grade", stop="none") as folder:
        answer(folder, 60, "ann")
        early = summary_of(read_stored(folder))
        assert early["live"]["systems"] == []
        assert (early["live"]["anytime"], early["live"]["anytime_from"]) == (False, 100)
        assert "start at 100 judgments; there are 60" in early["live"]["note"]
        answer(folder, 60, "bob")
        stored = read_stored(folder)
        assert isinstance(stored, StoredCampaign)
        body = summary_of(stored)
        live = body["live"]
        assert live["anytime"] is True
        problem = stored.problem
        inference = Inference("model", "sample", anytime=True)
        again = Verdicts(problem.setting, problem.measure, problem.model, inference=inference, seed=problem.seed)
        ranking = again.conclude(stored.beliefs).ranking
        assert live["pairs"] == ranking.pairs_frame().to_dicts()
        assert live["systems"] == ranking.systems_frame().to_dicts()
        wider = [one["high"] - one["low"] for one in live["pairs"]]
        once = [one["high"] - one["low"] for one in body["pairs"]]
        assert all(a > b for a, b in zip(wider, once, strict=True))


def test_grades_with_a_sample_have_the_guaranteed_estimates_beside_the_model(tmp_path: Path) -> None:
    with made(tmp_path / "home", "grade", stop="none") as folder:
        Worker(folder).look()
        answer(folder, 12, "ann")
        assert summary_of(read_stored(folder))["design"] is None, "too few are sampled"
        worker = Worker(folder)
        for who in ("ann", "bob", "cid", "dee"):
            answer(folder, 28, who)
            worker.look()
        stored = read_stored(folder)
        assert isinstance(stored, StoredCampaign)
        body = summary_of(stored)
        found = stored.problem.verdicts.by_design(stored.beliefs)
        assert body["design"]["sampled"] == found.sampled
        expected = dict(zip(found.estimates.systems, found.estimates.scores.mean.tolist(), strict=True))
        assert {row["system"]: row["estimate"] for row in body["design"]["systems"]} == pytest.approx(expected)
        assert body["audit"] == str(stored.audit)


def test_a_campaign_by_design_has_the_model_beside_it(tmp_path: Path) -> None:
    with made(tmp_path / "home", "grade", stop="none", inference="design", audit=0.0) as folder:
        early = summary_of(read_stored(folder))
        assert (early["reason"], early["systems"]) == ("too little is judged to conclude from", [])
        answer(folder, 75, "ann")
        stored = read_stored(folder)
        assert isinstance(stored, StoredCampaign)
        body = summary_of(stored)
        assert body["design"]["systems"] == body["systems"]
        assert body["model"]["systems"] == stored.problem.verdicts.by_model(stored.beliefs).systems_frame().to_dicts()


def test_preferences_tell_the_precision_so_far(tmp_path: Path) -> None:
    from earmark.measures.preference_precision import parse_level, preference_outcomes, preference_precision
    from earmark.store.kinds import preferences_of

    with made(tmp_path / "home", "prefer", stop="none") as folder:
        answer(folder, 30, "ann", "bob", "cid")
        stored = read_stored(folder)
        assert isinstance(stored, StoredPairCampaign)
        given = preferences_of(stored.log)
        assert given is not None
        pairs = given.pairs()
        outcomes = preference_outcomes(folder.runs(folder.removed()), pairs, k=3)
        expected = preference_precision(outcomes, parse_level("1/100"))
        rows = {row["system"]: row for row in summary_of(stored)["precision"]}
        assert {name: rows[name]["correct"] for name in outcomes.systems} == dict(
            zip(outcomes.systems, expected.correct.tolist(), strict=True)
        )
        for place, name in enumerate(outcomes.systems):
            assert rows[name]["precision"] == pytest.approx(expected.precision[place])
            assert rows[name]["low"] <= rows[name]["precision"] <= rows[name]["high"]


def test_lists_tell_shares_that_hold_at_any_time(tmp_path: Path) -> None:
    with made(tmp_path / "home", "lists") as folder:
        answer(folder, 20, "ann", "bob")
        stored = read_stored(folder)
        assert isinstance(stored, StoredListCampaign)
        body = summary_of(stored)
        assert body["live"]["pairs"] == body["pairs"] == stored.look.estimates.pairs_frame().fill_nan(None).to_dicts()
        assert body["live"]["anytime"] is True
        assert body["progress"] == {
            "name": "width",
            "value": stored.look.estimates.widest,
            "target": 0.1,
            "rising": False,
        }


def test_orders_tell_groups_and_agreement(tmp_path: Path) -> None:
    with made(tmp_path / "home", "order") as folder:
        answer(folder, 5, "ann", "bob", "cid")
        stored = read_stored(folder)
        assert isinstance(stored, StoredOrderCampaign)
        body, look = summary_of(stored), stored.look
        assert body["agreement"]["tau"]["mean"] == look.estimates.tau.mean
        assert (body["mean_confidence"], body["systems"]) == (None, [])
        ranked = [row for row in body["groups"] if row["groups"]]
        assert ranked
        assert all(len(row["order"]) == row["groups"] for row in ranked)
        grouped = {document for row in ranked for group in row["order"] for document in group}
        assert grouped == set(look.estimates.groups_frame()["document"])


# ---- the stored campaigns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["order", "lists"])
def test_a_refreshed_campaign_is_the_one_read_anew(tmp_path: Path, kind: str) -> None:
    with made(tmp_path / "home", kind) as folder:
        before = read_stored(folder)
        assert before.refreshed() is before
        answer(folder, 4, "ann", "bob")
        after = before.refreshed()
        assert after.look.answered == 8
        assert summary_of(after) == summary_of(read_stored(folder))
        gone = folder.runs(folder.removed()).queries[0]
        folder.desk.remove("broken", query=gone)
        later = after.refreshed()
        assert later.look.items < after.look.items
        assert summary_of(later) == summary_of(read_stored(folder))


@pytest.mark.parametrize("kind", ["order", "lists"])
def test_the_worker_stops_at_a_budget_of_answers(tmp_path: Path, kind: str) -> None:
    with made(tmp_path / "home", kind, stop="budget:6") as folder:
        worker = Worker(folder)
        answer(folder, 5, "ann")
        worker.look()
        assert folder.store.row["state"] == "open"
        answer(folder, 1, "bob")
        worker.look()
        assert folder.store.row["state"] == "stopped"
        assert folder.desk.take("cid").reason == "stopped"
        assert folder.store.row["reason"] == "the budget is used up: 6 answers of 6"


@pytest.mark.parametrize("kind", ["order", "lists"])
@pytest.mark.parametrize("stop", ["mean:0.95", "top:1"])
def test_other_stop_rules_are_refused_with_the_settings(tmp_path: Path, kind: str, stop: str) -> None:
    with pytest.raises(SettingError, match=f"a campaign of kind {kind} stops by width:0.2, budget:200"):
        make_folder(tmp_path / "home", kind=kind, estimates={"stop": stop})
    with made(tmp_path / "other", kind) as folder, pytest.raises(SettingError, match="stops by width"):
        folder.change_settings({"estimates.stop": stop})


def test_answers_of_rejected_people_and_corrections(tmp_path: Path) -> None:
    with made(tmp_path / "home", "lists") as folder:
        answer(folder, 6, "ann", "bob")
        before = read_stored(folder).look.answered
        folder.desk.reject("bob", "does not look")
        after = read_stored(folder)
        assert isinstance(after, StoredListCampaign)
        assert (before, after.look.answered) == (12, 6)
        assert set(after.answers["assessor"]) == {"ann"}
