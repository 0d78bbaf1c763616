"""What was done, in words, each sentence with where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from earmark.report.findings import Findings
from earmark.report.references import REFERENCES

_PREDICTORS = {
    "hierarchical": (
        "Unjudged items are predicted by a hierarchical model whose errors are shared by items of the same query, "
        "system, artist or genre; how much is learnt while judging, by restricted maximum likelihood.",
        ("Gilmour1995",),
    ),
    "ordinal": (
        "Unjudged items are predicted by ordinal logistic regression on features of the collection and the judgments.",
        ("McCullagh1980", "Urbano2013"),
    ),
    "mtc-output": (
        "Unjudged items are predicted by a published ordinal model of which systems retrieve them.",
        ("Urbano2013",),
    ),
    "mtc-judge": (
        "Unjudged items are predicted by a published ordinal model of the systems and the judgments so far.",
        ("Urbano2013",),
    ),
    "uniform": ("For unjudged items every level of the scale counts as equally likely.", ("Urbano2013",)),
}


@dataclass(frozen=True)
class Method:
    """A sentence about what was done, and the keys of its references."""

    text: str
    references: tuple[str, ...] = ()


def methods(findings: Findings) -> list[Method]:
    """Say what was done."""
    measure, chosen = findings.ranking.estimates.measure, findings.inference
    scored = "the mean over queries, a query without an answer counting as an empty list"
    told = [Method(f"Systems are scored by {measure}, {scored}.", _known(measure.reference))]
    text, keys = _PREDICTORS.get(
        findings.predictor, (f"Unjudged items are predicted by the predictor {findings.predictor}.", ())
    )
    told.append(Method(text, keys))
    if findings.content:
        told.append(
            Method(
                "It also knows what documents are like: items whose query and document differ alike, and documents of "
                "a query that are alike, have like gains, as far as judgments show."
            )
        )
    how = "computed exactly" if findings.linear else "computed from gains drawn at random, the same for all systems"
    if chosen.mode == "model":
        told.append(
            Method(
                f"Mean and variance of every score and of every difference follow from these predictions, {how}. The "
                "confidence in a pair is the probability that the system that looks better is.",
                ("Urbano2013", "Buckers2021"),
            )
        )
    elif chosen.whole_queries:
        told.append(
            Method(
                "Scores are estimated from a random sample of queries that were judged completely: they hold whatever "
                "the predictions.",
                ("Cochran1977",),
            )
        )
    else:
        told.append(
            Method(
                "Scores are estimated from a sample of items with known probabilities, which corrects the predictions "
                "by what it shows of their errors; intervals use Student's t.",
                ("Sarndal1992", "Duffield2007", "Satterthwaite1946"),
            )
        )
    if chosen.target == "population":
        told.append(
            Method(
                "Statements are about queries like these: the variance between queries is added to that of the "
                "estimates.",
                ("Satterthwaite1946",),
            )
        )
    if chosen.anytime:
        told.append(
            Method(
                "Intervals and confidences are widened so that they hold at all looks together.",
                ("Robbins1970", "WaudbySmith2024"),
            )
        )
    if findings.outlook is not None and findings.outlook.prospects:
        path = (
            "The sample goes on in its order, and the variance of a difference falls as that of a random sample does."
            if chosen.mode == "design"
            else "By how much judging an item reduces the variance of a difference does not depend on the answer; the "
            "items that reduce it most come first."
        )
        told.append(
            Method(
                f"{path} The estimate moves by as much as is learnt; from that follows after how many more judgments a "
                "pair is decided, by the same rule as above."
            )
        )
    if findings.calibration is not None:
        told.append(Method("Judged items are predicted from all judgments but their own."))
    if findings.agreement is not None:
        told.append(
            Method("The agreement of assessors is Krippendorff's alpha for ordinal data.", ("Krippendorff2011",))
        )
    return told


def _known(key: str) -> tuple[str, ...]:
    return (key,) if key in REFERENCES else ()
