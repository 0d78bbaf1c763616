"""All that a report says, put together before a word of it is written."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import NamedTuple

import polars as pl

from earmark._version import __version__
from earmark.campaign import statements
from earmark.campaign.campaign import Campaign
from earmark.campaign.forecast import Forecast
from earmark.campaign.verdict import Inference, Verdict
from earmark.data.display import Display, Summary
from earmark.inference.audit import Audit
from earmark.inference.confidence import Ranking
from earmark.report.assessors import Agreement, assessor_agreement, assessor_table
from earmark.report.calibration import Calibration, calibrate
from earmark.report.changes import Changes, changes_of
from earmark.report.unjudged_note import unjudged_note


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
        The comparison of the model with a guaranteed sample.
    agreement : Agreement or None
        Where several assessors judged the same items.
    reproduction : Reproduction
    forecast : Forecast or None
        How many more judgments open pairs take; None where nobody looked ahead.
    calibration : Calibration or None
        Judged items beside what was predicted of them, where enough are judged.
    assessors : polars.DataFrame or None
        One row per assessor, as from :func:`~earmark.report.assessors.assessor_table`, where judgments name them.
    figures : sequence of (title, caption, SVG)
        Shown after the pairs.
    content : bool
        Predictions also rest on what documents are like.
    changes : Changes or None
        What changed while the campaign ran.
    lasting : Ranking or None
        The same ranking with statements that hold however often one looks, where the verdict holds at one look and
        there are enough judgments for it.
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
    forecast: Forecast | None = None
    calibration: Calibration | None = None
    assessors: pl.DataFrame | None = None
    figures: Sequence[Figure | tuple[str, str, str]] = ()
    content: bool = False
    changes: Changes | None = None
    lasting: Ranking | None = None

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


def gather_findings(
    campaign: Campaign,
    *,
    notes: Sequence[str] = (),
    reproduction: Reproduction | None = None,
    figures: Sequence[Figure | tuple[str, str, str]] = (),
    forecast: bool = True,
) -> Findings:
    """Gather what a reader needs to trust a campaign's verdict.

    Parameters
    ----------
    campaign : Campaign
    notes : sequence of str
        What is to be said besides the campaign's own notes.
    reproduction : Reproduction, optional
        How to get the same again.
    figures : sequence of (title, caption, SVG)
        Pictures of one's own, each as :func:`earmark.plots.svg_text` returns it, with a prefix of its own.
    forecast : bool
        Say how many more judgments open pairs would take.
    """
    problem, judgments = campaign.problem, campaign.judgments
    audited = problem.inference.mode == "model" and campaign.has_sample and campaign.can_audit
    return Findings(
        campaign.verdict,
        problem.inference,
        problem.model.name,
        str(problem.scale),
        problem.measure.is_linear,
        tuple(dict.fromkeys([*notes, *statements.notes(campaign), *unjudged_note(campaign)])),
        campaign.audit if audited else None,
        None if judgments is None else assessor_agreement(judgments, seed=problem.seed),
        reproduction or Reproduction(),
        campaign.forecast() if forecast else None,
        calibrate(campaign),
        None if judgments is None else assessor_table(judgments),
        tuple(figures),
        content=problem.setting.content is not None and problem.model.name == "hierarchical",
        changes=changes_of(campaign),
        lasting=None if problem.inference.anytime else problem.verdicts.at_any_time(campaign.verdict),
    )
