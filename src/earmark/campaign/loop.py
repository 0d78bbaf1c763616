"""The loop of a campaign, whatever its kind of question: look, stop or propose, ask, and again.

A campaign is a value, a problem with the answers so far, and the loop holds nothing else: a fresh start from the same
answers gives the same looks and proposals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self, TypeVar

from earmark.campaign.policies import Proposal
from earmark.campaign.stopping import StopDecision
from earmark.errors import ParameterError
from earmark.inference.confidence_sequences import FIRST_LOOK
from earmark.inference.design_based import GUARANTEED_FROM
from earmark.inference.design_based_normalised import MINIMUM_QUERIES


class Concluded(Protocol):
    """What follows from the answers at one moment."""

    @property
    def decision(self) -> StopDecision:
        """Whether to stop here, and why."""


class Moment(Protocol):
    """A campaign of any kind at one moment: items to grade, or pairs to choose from."""

    @property
    def look(self) -> Concluded | None:
        """What follows from the answers; None while there is too little to conclude from."""

    def propose(self, n: int) -> Proposal:
        """Propose what to ask next."""

    def with_answers(self, answers: Any) -> Self:
        """Return the campaign with more answers."""


M = TypeVar("M", bound=Moment)


def play(campaign: M, ask: Callable[[M, Proposal], Any], *, batch: int = 20) -> Iterator[M]:
    """Go through a campaign until its stop rule says so or nothing is left to ask; yield it at every look.

    Parameters
    ----------
    campaign : Moment
        Where to start from.
    ask : callable
        Who answers: given the campaign and a proposal, returns what :meth:`Moment.with_answers` takes.
    batch : int
        How many questions are asked between two looks.
    """
    if batch < 1:
        raise ParameterError(f"a batch is 1 or more, got {batch}")
    while True:
        look = campaign.look
        if look is not None:
            yield campaign
            if look.decision.stop:
                return
        proposal = campaign.propose(batch)
        if not len(proposal):
            if look is not None:
                return
            raise ParameterError(
                f"the campaign ends before there is anything to say: by design at least {GUARANTEED_FROM} sampled "
                f"judgments are needed, or {MINIMUM_QUERIES} whole queries, and at any time {FIRST_LOOK} judgments"
            )
        campaign = campaign.with_answers(ask(campaign, proposal))
