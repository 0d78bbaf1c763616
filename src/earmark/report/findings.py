"""All that a report says, put together before a word of it is written."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import NamedTuple

import polars as pl

from earmark._version import __version__
from earmark.beliefs.beliefs import IndependentBeliefs
from earmark.campaign.appraisal import Inference, Verdict
from earmark.campaign.outlook import outlook
from earmark.campaign.prospects import Outlook
from earmark.campaign.standing import Standing
from earmark.data.display import Display, Summary
from earmark.data.judgments import Judgments
from earmark.inference.audit import Audit
from earmark.inference.confidence import Ranking
from earmark.report.assessors import Agreement, assessor_agreement, assessor_table
from earmark.report.calibration import Calibration, calibrate

INDEPENDENT = (
    "what is believed of one item counts as independent of the others, as in the papers: on real collections such "
    "intervals are too narrow"
)


class Figure(NamedTuple):
    """A picture of one's own for a report.

    Attributes
    ----------
    title, caption : str
        What stands above and below it.
    svg : str
        The picture, as :func:`earmark.plots.svg_text` returns it; it is put into the page as it is.
    """

    title: str
    caption: str
    svg: str


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


def versions_here() -> list[tuple[str, str]]:
    """Return the versions of what a report is made with."""
    libraries = [(name, version(name)) for name in ("numpy", "scipy", "polars", "matplotlib")]
    return [("earmark", __version__), ("Python", platform.python_version()), *libraries]


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Display):
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
    outlook : Outlook or None
        How many more judgments open pairs take; None where nobody looked ahead.
    calibration : Calibration or None
        Judged items beside what was predicted of them, where enough are judged.
    assessors : polars.DataFrame or None
        One row per assessor, as from :func:`~earmark.report.assessors.assessor_table`, where judgments name them.
    figures : sequence of (title, caption, SVG)
        Display after the pairs.
    content : bool
        Predictions also rest on what documents are like.
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
    outlook: Outlook | None = None
    calibration: Calibration | None = None
    assessors: pl.DataFrame | None = None
    figures: Sequence[Figure | tuple[str, str, str]] = ()
    content: bool = False

    @property
    def ranking(self) -> Ranking:
        """The systems in order, and how sure that is."""
        return self.verdict.ranking

    def _summary(self) -> Summary:
        """Show the verdict and what to keep in mind."""
        seen = self.ranking._summary()
        return Summary(
            seen.sentence, seen.sheets[:1], [f"about {self.inference.about}, {self.verdict.basis}", *self.notes]
        )


def find(
    standing: Standing,
    inference: Inference | None = None,
    *,
    judgments: Judgments | None = None,
    seed: int = 0,
    samples: int = 1000,
    notes: Sequence[str] = (),
    reproduction: Reproduction | None = None,
    figures: Sequence[Figure | tuple[str, str, str]] = (),
    look_ahead: bool = True,
) -> Findings:
    """Reach a verdict and gather what a reader needs to trust it.

    Parameters
    ----------
    standing : Standing
        The collection and what is believed about it.
    inference : Inference, optional
        How to reach the verdict; by default by the model, about these queries.
    judgments : Judgments, optional
        Who judged what: for the agreement of assessors, and for an audit where sampled items are marked; by default
        those of the standing, where it knows them.
    seed, samples
        As for :meth:`~earmark.campaign.standing.Standing.appraiser`.
    notes : sequence of str
        What is to be said besides what the predictor says.
    reproduction : Reproduction, optional
        How to get the same again.
    figures : sequence of (title, caption, SVG)
        Pictures of one's own, each as :func:`earmark.plots.svg_text` returns it, with a prefix of its own.
    look_ahead : bool
        Say how many more judgments open pairs would take.
    """
    chosen = inference or Inference()
    appraiser = standing.appraiser(chosen, seed=seed, samples=samples)
    beliefs = standing.beliefs
    verdict = appraiser.appraise(beliefs)
    told = [*notes, *standing.predictor.notes(), *verdict.ranking.notes()[1:]]
    independent = isinstance(beliefs, IndependentBeliefs) and beliefs.n_judged < beliefs.n_items
    if chosen.mode == "model" and independent:
        told.append(INDEPENDENT)
    given = standing.judgments if judgments is None else judgments
    marked = given is not None and "sampled" in given.frame.columns and bool(given.frame["sampled"].any())
    audits = chosen.mode == "model" and marked and appraiser.can_audit(beliefs.judged_gain)
    return Findings(
        verdict,
        chosen,
        standing.predictor.name,
        str(standing.setting.scale),
        standing.measure.is_linear,
        tuple(dict.fromkeys(told)),
        appraiser.audit(beliefs) if audits else None,
        None if given is None else assessor_agreement(given, seed=seed),
        reproduction or Reproduction(),
        outlook(standing, chosen, verdict=verdict, seed=seed, samples=samples) if look_ahead else None,
        calibrate(standing, given),
        None if given is None else assessor_table(given),
        tuple(figures),
        content=standing.setting.content is not None and standing.predictor.name == "hierarchical",
    )
