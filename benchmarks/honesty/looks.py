"""Campaigns that pass through given numbers of judgments, whatever their batches are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from earmark.campaign.campaign import Campaign, oracle
from earmark.data.arrays import Floats


def play_through(campaign: Campaign, truth: Floats, looks: Iterable[int], *, batch: int) -> Iterator[Campaign]:
    """Judge until the last of some numbers of judgments; yield the campaign after every batch, and at these numbers.

    Parameters
    ----------
    campaign : Campaign
        Where to start from; its stop rule is not asked.
    truth : ndarray of float, shape (items,)
        The gains that answers give.
    looks : iterable of int
        Batches are cut short so that none of these numbers is missed.
    batch : int
        How many items are judged at a time.
    """
    ask, wanted = oracle(truth), sorted(looks)
    yield campaign
    while campaign.judged < wanted[-1]:
        room = min(look for look in wanted if look > campaign.judged) - campaign.judged
        campaign = campaign.with_answers(ask(campaign, campaign.propose(min(batch, room))))
        yield campaign
