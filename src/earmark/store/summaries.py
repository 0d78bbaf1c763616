"""What follows from the answers of a campaign, as the store keeps it for pages: one JSON body for each kind.

The worker makes a body after new answers, and pages read the newest one; they compute nothing. All bodies have

===================  ===================================================================================================
``kind``             grade, prefer, order or lists
``judged``           how many questions are answered, of ``items``; ``answers`` is how many answers there are
``mean_confidence``  over pairs of systems, and ``min_confidence``; None where it is not defined
``stop``             whether to stop, and the ``reason`` in words
``said``             the conclusion in one sentence; None before there is one
``progress``         the number that the stop rule watches: ``name`` of the rule, ``value``, ``target``, and ``rising``,
                     whether the target is reached from below
``level``            the probability that each interval holds
``systems``          rows with ``system``, ``estimate``, ``low``, ``high`` and ``rank``, the best first
``pairs``            rows with ``a``, ``b``, ``difference``, ``low``, ``high`` and ``confidence``
``premises``         those that failed, the gravest first: ``name``, ``severity``, ``clause`` and ``note``
``live``             the ``systems`` and ``pairs`` of statements that hold however often one looks; ``anytime`` tells
                     whether there are any yet, ``anytime_from`` from how many judgments on, ``note`` says it in words
``notes``            what a reader has to know besides
===================  ===================================================================================================

and ``ahead``, where somebody looked ahead (:mod:`earmark.store.forecasts`), and what their kind has besides: grades
the guaranteed estimates of a sample (``design``, with a ``live`` of its own)
beside those of the model (``model``, where the verdict is by the sample),
preferences the precision on the pairs answered so far (``precision``), orders the groups of every query (``groups``)
and the ``agreement`` of experts, lists the share won in every row of ``pairs``.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import polars as pl

from earmark.campaign import statements
from earmark.campaign.campaign import Look
from earmark.campaign.list_campaign import ListLook
from earmark.campaign.order_campaign import MeanAgreement, OrderLook
from earmark.campaign.pairs.precision import precision_so_far
from earmark.campaign.stopping import Progress, StopDecision, StopState
from earmark.campaign.verdict import BY_MODEL, Verdict
from earmark.inference.audit import audit
from earmark.inference.confidence import Ranking
from earmark.inference.confidence_sequences import FIRST_LOOK
from earmark.store.stored import AnyStored, StoredCampaign, StoredListCampaign, StoredOrderCampaign, StoredPairCampaign

_TOO_LITTLE = "too little is judged to conclude from"
_HOLDS = "these statements hold however often one looks"


def summary_of(campaign: AnyStored) -> dict[str, Any]:
    """Return what follows from the answers, as the store keeps it for pages; see the module for the names."""
    if isinstance(campaign, StoredCampaign):
        body = _grades(campaign)
    elif isinstance(campaign, StoredPairCampaign):
        body = _preferences(campaign)
    elif isinstance(campaign, StoredOrderCampaign):
        body = _orders(campaign)
    else:
        body = _lists(campaign)
    # The kind comes first: earlier bodies are cut down to their progress and told apart by how they begin.
    return {"kind": campaign.folder.settings.kind, **body}


def conclusion_of(campaign: AnyStored) -> dict[str, Any]:
    """Return confidence, whether to stop and why, and the conclusion in a sentence; empty where there is none.

    Returns
    -------
    dict
        ``mean_confidence``, ``min_confidence``, ``stop``, ``reason`` and ``said``.
    """
    if isinstance(campaign, StoredOrderCampaign):
        orders = campaign.look
        return _decided(None, None, orders.decision, orders.estimates.sentence())
    if isinstance(campaign, StoredListCampaign):
        shares = campaign.look.estimates
        return _decided(shares.mean_confidence, shares.min_confidence, campaign.look.decision, shares.sentence())
    if campaign.look is None:
        return {}
    look = campaign.look
    ranking = look.ranking if isinstance(look, Look) else look.estimates.ranking
    return _decided(ranking.mean_confidence, ranking.min_confidence, look.decision, ranking.sentence())


def _decided(mean: float | None, least: float | None, decision: StopDecision, said: str | None) -> dict[str, Any]:
    return {
        "mean_confidence": _number(mean),
        "min_confidence": _number(least),
        "stop": decision.stop,
        "reason": decision.reason,
        "said": said,
    }


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return frame.fill_nan(None).to_dicts()


def _tables(ranking: Ranking) -> dict[str, Any]:
    return {
        "systems": _rows(ranking.systems_frame()),
        "pairs": _rows(ranking.pairs_frame()),
        "premises": [asdict(premise) for premise in ranking.failed],
    }


def _none_yet(note: str, *, first: int | None) -> dict[str, Any]:
    return {"systems": [], "pairs": [], "anytime": False, "anytime_from": first, "note": note}


# ---- grades ----------------------------------------------------------------------------------------------------------


def _grades(campaign: StoredCampaign) -> dict[str, Any]:
    problem, look = campaign.problem, campaign.look
    items = problem.collection.n_items
    first = min(FIRST_LOOK, items)
    counts = {"judged": campaign.judged, "items": items, "answers": campaign.position}
    if look is None:
        so_far = Progress(problem.stop.name, None, None)
        note = f"{_TOO_LITTLE}: {campaign.judged:,} of {items:,} items are judged"
        return {
            **counts,
            **_decided(None, None, StopDecision(False, _TOO_LITTLE), None),
            "progress": so_far.as_dict(),
            "level": problem.inference.level,
            "systems": [],
            "pairs": [],
            "live": _none_yet(note, first=first),
            "design": None,
            "audit": None,
            "notes": [],
        }
    guaranteed = _guaranteed(campaign)
    return {
        **counts,
        **conclusion_of(campaign),
        "progress": problem.stop.progress(StopState.from_ranking(look.ranking)).as_dict(),
        "level": look.ranking.level,
        "basis": statements.basis(campaign),
        **_tables(look.ranking),
        "live": _live(campaign, first),
        **guaranteed,
        "notes": statements.notes(campaign),
    }


def _live(campaign: StoredCampaign, first: int) -> dict[str, Any]:
    """Return the statements that hold at all looks together, where there is a guarantee already."""
    verdicts = campaign.problem.verdicts
    found = verdicts.at_any_time(campaign.verdict)
    if found is None:
        by_design = campaign.problem.inference.mode == "design" and not campaign.problem.inference.whole_queries
        which = "sampled judgments" if by_design else "judgments"
        count = campaign.verdict.sampled if by_design else campaign.judged
        note = f"statements that hold however often one looks start at {first:,} {which}; there are {count or 0:,}"
        return _none_yet(note, first=first)
    return {
        **_tables(found),
        "mean_confidence": _number(found.mean_confidence),
        "min_confidence": _number(found.min_confidence),
        "level": found.level,
        "basis": f"about {campaign.problem.inference.about}; {campaign.verdict.basis}; at any time",
        "anytime": True,
        "anytime_from": first,
        "note": f"{_HOLDS}, from {first:,} judgments on; {campaign.verdict.basis}",
    }


def _guaranteed(campaign: StoredCampaign) -> dict[str, Any]:
    """Return the estimates of the sample beside those of the model, where there are both."""
    verdicts, mode = campaign.problem.verdicts, campaign.problem.inference.mode
    if mode == "design":
        model = verdicts.by_model(campaign.beliefs)
        found = campaign.verdict
    elif campaign.has_marked_sample and verdicts.can_guarantee(campaign.gains):
        found = verdicts.conclude(campaign.beliefs, mode="design")
        model = campaign.ranking
    else:
        return {"design": None, "audit": None}
    estimates = found.ranking.estimates
    lasting = verdicts.at_any_time(found, mode="design")
    told: dict[str, Any] = {
        "design": {
            **_tables(found.ranking),
            "live": None if lasting is None else _tables(lasting),
            "sampled": found.sampled,
            "basis": found.basis,
        }
    }
    if mode == "design":
        told["model"] = _model_beside(campaign, model)
    if campaign.problem.inference.target == "sample" and campaign.can_audit:
        told["audit"] = str(audit(model.estimates, estimates, sampled=found.sampled or 0))
    return {"audit": None, **told}


def _model_beside(campaign: StoredCampaign, model: Ranking) -> dict[str, Any]:
    """Return the model's estimates beside those of a sample, at one look and at any time."""
    beside = Verdict(model, BY_MODEL, None)
    lasting = campaign.problem.verdicts.at_any_time(beside, mode="model")
    return {**_tables(model), "live": None if lasting is None else _tables(lasting)}


# ---- the other kinds -------------------------------------------------------------------------------------------------


def _preferences(campaign: StoredPairCampaign) -> dict[str, Any]:
    problem, estimates = campaign.problem, campaign.look.estimates
    ranking = estimates.ranking
    return {
        "judged": campaign.look.judged,
        "items": ranking.estimates.items,
        "answers": estimates.answered,
        **conclusion_of(campaign),
        "progress": problem.stop.progress(StopState.from_ranking(ranking)).as_dict(),
        "level": ranking.level,
        "basis": "by the model of preferences, about all candidate pairs",
        **_tables(ranking),
        "precision": _rows(precision_so_far(problem.design, campaign.answers, level=problem.level)),
        "live": _live_preferences(ranking),
        "notes": [*ranking.notes()[1:], *estimates.notes()],
    }


def _live_preferences(ranking: Ranking) -> dict[str, Any]:
    """Return the statements about preferences that hold at all looks together, from the first look on."""
    judged, items = ranking.estimates.judged, ranking.estimates.items
    first = min(FIRST_LOOK, items)
    found = ranking.at_any_time(judged, items)
    if found is None:
        note = f"statements that hold however often one looks start at {first:,} answered pairs; there are {judged:,}"
        return _none_yet(note, first=first)
    return {
        **_tables(found),
        "mean_confidence": _number(found.mean_confidence),
        "min_confidence": _number(found.min_confidence),
        "level": found.level,
        "basis": "by the model of preferences, about all candidate pairs; at any time",
        "anytime": True,
        "anytime_from": first,
        "note": f"{_HOLDS}, from {first:,} answered pairs on",
    }


def _orders(campaign: StoredOrderCampaign) -> dict[str, Any]:
    look = campaign.look
    estimates = look.estimates
    return {
        **_counts(look),
        **conclusion_of(campaign),
        "progress": look.progress.as_dict(),
        "level": estimates.level,
        "systems": [],
        "pairs": [],
        "groups": _groups(look),
        "agreement": {
            "tau": _agreement(estimates.tau),
            "w": _agreement(estimates.w),
            "queries": estimates.tau.queries,
        },
        "live": {
            **_none_yet("the interval of the mean agreement holds however often one looks", first=0),
            "anytime": True,
        },
        "notes": estimates.notes(),
    }


def _groups(look: OrderLook) -> list[dict[str, Any]]:
    """Return one row per ranked query with its documents in groups, the best group first."""
    frame = look.estimates.groups_frame()
    parts = frame.group_by("query", "group", maintain_order=True).agg("document")
    order: dict[str, list[list[str]]] = {}
    for query, _, documents in parts.sort("query", "group").iter_rows():
        order.setdefault(query, []).append(documents)
    return [{**row, "order": order.get(row["query"], [])} for row in _rows(look.estimates.queries)]


def _agreement(found: MeanAgreement) -> dict[str, Any]:
    return {"mean": found.mean, "low": found.low, "high": found.high}


def _lists(campaign: StoredListCampaign) -> dict[str, Any]:
    look = campaign.look
    estimates = look.estimates
    tables = {"systems": _rows(estimates.systems_frame()), "pairs": _rows(estimates.pairs_frame())}
    basis = "about queries and people like these; by a confidence sequence; at any time"
    return {
        **_counts(look),
        **conclusion_of(campaign),
        "progress": look.progress.as_dict(),
        "level": estimates.level,
        "basis": basis,
        **tables,
        "live": {
            **tables,
            "level": estimates.level,
            "basis": basis,
            "anytime": True,
            "anytime_from": 0,
            "note": f"{_HOLDS}, from the first answer on",
        },
        "notes": estimates.notes(),
    }


def _counts(look: OrderLook | ListLook) -> dict[str, Any]:
    return {"judged": look.judged, "items": look.items, "answers": look.answered}
