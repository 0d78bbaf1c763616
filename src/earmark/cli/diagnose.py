"""``earmark diagnose``: how honest a predictor is on a judged collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from earmark.cli.campaign_options import RecordedCampaignOptions
from earmark.cli.command import option
from earmark.cli.options import Helping, Seed
from earmark.cli.output import NOTHING, Column, Output, number

if TYPE_CHECKING:
    import polars as pl

    from earmark.simulation.diagnosis import Diagnosis

_SHARES = (0.0, 0.05, 0.2)
_SCORES = {
    "rps": "RPS",
    "reliability": "relia-\nbility",
    "resolution": "reso-\nlution",
    "rmse": "RMSE",
    "variance": "variance\nclaimed",
    "error": "squared\nerror",
}


def diagnose(
    given: RecordedCampaignOptions,
    helping: Helping,
    out: Output,
    share: Annotated[list[float] | None, option("S")] = None,
    repeats: Annotated[int, option("N", min=1)] = 10,
    seed: Seed = 0,
) -> None:
    """Show some of the judgments to a predictor and compare its predictions with the rest.

    It prints how good the probabilities are (ranked probability score and its parts), whether errors are as large as
    predicted, how often intervals contain the true value, and how often the predicted order of two systems is right at
    each level of confidence.

    Parameters
    ----------
    judgments
        Judgments of everything that was retrieved: the truth that predictions are compared with. Give the option again
        for more files, or name a folder of files or a quoted pattern such as 'answers/*.csv'. Of several answers of one
        assessor about an item the latest counts: by sequence, then by time, then the larger gain. Answers of different
        assessors are all kept.
    share
        The share of judgments shown to the predictor, drawn at random; may be repeated. When omitted, 0, 0.05 and 0.2.
    repeats
        Over how many draws each share is averaged.

    Examples
    --------
    earmark diagnose runs.tsv --judgments judgments.tsv --metadata metadata.tsv --predictor mtc-output
    earmark diagnose runs.tsv -j judgments.tsv --share 0 --share 0.1 --share 0.5 --repeats 20
    """
    import numpy as np

    from earmark.simulation.diagnosis import diagnose_shares

    campaign = given.load(out, seed=seed)
    shares = list(dict.fromkeys(_SHARES if share is None else share))
    with out.progress(sum(repeats if one else 1 for one in shares), "diagnosing") as advance:
        found = diagnose_shares(
            campaign.problem,
            campaign.gains,
            # Every share starts from the seed, so that its result does not depend on which others were asked for.
            shares={one: np.random.default_rng(seed) for one in shares},
            repeats=repeats,
            jobs=helping.jobs,
            cluster=helping.cluster,
            progress=advance,
        )
    if out.for_people:
        _show(found, out, title=f"{campaign.problem.measure}, predictor {given.predicting.predictor}")
    else:
        out.kinds(*(part for one in found for part in diagnosis_rows(one)))


def diagnosis_rows(found: Diagnosis) -> list[pl.DataFrame]:
    """Return the rows of kinds ``scores``, ``coverage`` and ``bin`` for one share."""
    import polars as pl

    scores = pl.DataFrame([found.scores], infer_schema_length=None)
    parts = {"scores": scores, "coverage": found.coverage, "bin": found.bins}
    return [
        frame.select(pl.lit(kind).alias("kind"), pl.lit(found.share).alias("share_judged"), pl.all())
        for kind, frame in parts.items()
    ]


def _show(found: list[Diagnosis], out: Output, *, title: str) -> None:
    def share(one: Diagnosis) -> str:
        return f"{one.share:.0%}"

    out.show_columns(
        [Column("judged", [share(one) for one in found])],
        [Column(header, [number(one.scores[name]) for one in found]) for name, header in _SCORES.items()],
        title=f"{title}: probabilities of the items left",
        caption="RPS = reliability − resolution + uncertainty: lower, lower and higher are better.\n"
        "The mean variance that a calibrated predictor claims equals its mean squared error.",
    )
    out.show("")
    levels = found[0].coverage["level"].to_list()
    out.show_columns(
        [Column("judged", [share(one) for one in found])],
        [
            Column(f"{what}\n{level:.0%}", [number(one.coverage[what][place], digits=2) for one in found])
            for what in ("pairs", "systems")
            for place, level in enumerate(levels)
        ],
        title="The share of intervals that contain the true value, which should be their level",
    )
    out.show("")
    bins = found[0].bins
    ranges = [f"{low:.2f}–{high:.2f}" for low, high in zip(bins["lower"], bins["upper"], strict=True)]
    out.show_columns(
        [Column("confidence", ranges, numeric=False)],
        [
            Column(
                f"{share(one)}\njudged",
                [
                    NOTHING if accuracy is None else f"{accuracy:.2f} of {pairs:,}"
                    for accuracy, pairs in zip(one.bins["accuracy"], one.bins["pairs"], strict=True)
                ],
            )
            for one in found
        ],
        title="How often pairs of systems were in the right order, by confidence",
    )
