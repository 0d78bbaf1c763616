"""All that a report says, put together before a word of it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from earmark.beliefs.beliefs import IndependentBeliefs
from earmark.campaign.appraisal import Inference, Verdict
from earmark.campaign.standing import Standing
from earmark.crowd.graded import AssessorErrors, assessor_errors, graded_alpha
from earmark.crowd.krippendorff import Alpha
from earmark.data.judgments import Judgments
from earmark.errors import InputError
from earmark.inference.audit import Audit
from earmark.inference.confidence import Ranking

INDEPENDENT = (
    "what is believed of one item counts as independent of the others, as in the papers: on real collections such "
    "intervals are too narrow"
)


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far assessors agree on items that several of them judged."""

    errors: AssessorErrors
    alpha: Alpha


@dataclass(frozen=True)
class Reproduction:
    """How to get the same report again.

    Attributes
    ----------
    command : str
        The command line; empty where there was none.
    files : sequence of (name, SHA-256)
        What was read.
    versions : sequence of (program, version)
    """

    command: str = ""
    files: Sequence[tuple[str, str]] = ()
    versions: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, eq=False)
class Findings:
    """What a report is about.

    Attributes
    ----------
    verdict : Verdict
        The ranking and what it rests on.
    inference : Inference
        How it was reached.
    predictor : str
        What predicted unjudged items.
    scale : str
        What items were judged on.
    linear : bool
        Estimates are exact; else they are drawn.
    notes : sequence of str
        What a reader has to know besides.
    audit : Audit or None
        The model held against a guaranteed sample.
    agreement : Agreement or None
        Where several assessors judged the same items.
    reproduction : Reproduction
    """

    verdict: Verdict
    inference: Inference
    predictor: str
    scale: str
    linear: bool
    notes: Sequence[str] = ()
    audit: Audit | None = None
    agreement: Agreement | None = None
    reproduction: Reproduction = field(default_factory=Reproduction)

    @property
    def ranking(self) -> Ranking:
        """The systems in order, and how sure that is."""
        return self.verdict.ranking


def find(
    standing: Standing,
    inference: Inference | None = None,
    *,
    judgments: Judgments | None = None,
    seed: int = 0,
    samples: int = 1000,
    notes: Sequence[str] = (),
    reproduction: Reproduction | None = None,
) -> Findings:
    """Reach a verdict and gather what a reader needs to trust it.

    Parameters
    ----------
    standing : Standing
        The collection and what is believed about it.
    inference : Inference, optional
        How to reach the verdict; by default by the model, about these queries.
    judgments : Judgments, optional
        Who judged what: for the agreement of assessors, and for an audit where sampled items are marked.
    seed, samples
        As for :meth:`~earmark.campaign.standing.Standing.appraiser`.
    notes : sequence of str
        What is to be said besides what the predictor says.
    reproduction : Reproduction, optional
        How to get the same again.
    """
    chosen = inference or Inference()
    appraiser = standing.appraiser(chosen, seed=seed, samples=samples)
    beliefs = standing.beliefs
    verdict = appraiser.appraise(beliefs)
    told = [*notes, *standing.predictor.notes(), *verdict.ranking.notes()[1:]]
    independent = isinstance(beliefs, IndependentBeliefs) and beliefs.n_judged < beliefs.n_items
    if chosen.mode == "model" and independent:
        told.append(INDEPENDENT)
    marked = judgments is not None and "sampled" in judgments.frame.columns and bool(judgments.frame["sampled"].any())
    audits = chosen.mode == "model" and marked and appraiser.can_audit(beliefs.judged_gain)
    return Findings(
        verdict,
        chosen,
        standing.predictor.name,
        str(standing.setting.scale),
        standing.measure.is_linear,
        tuple(dict.fromkeys(told)),
        appraiser.audit(beliefs) if audits else None,
        None if judgments is None else assessor_agreement(judgments, seed=seed),
        reproduction or Reproduction(),
    )


def assessor_agreement(judgments: Judgments, *, seed: int = 0) -> Agreement | None:
    """Say how far assessors agree; None where no two judged the same item."""
    try:
        errors = assessor_errors(judgments)
    except InputError:
        return None
    return Agreement(errors, graded_alpha(judgments, rng=np.random.default_rng(seed)))
