"""What every feature is: one line, its formula and where it comes from, for people and for tables.

Features carry the names of the papers that introduced them, so that a published model can be read: pX is a share, aX an
average of gains, sX says whether something is the same, nX counts, rX is a ratio in the whole collection. ART is the
artist, GEN the genre, and any other attribute is called by its name in capitals.

In the formulas S are the systems, S(q,d) those that retrieved d for q, R(q) the results for q with multiplicity, D(q)
the distinct documents among them, C the documents that the metadata name, x(d) the value of an attribute of d, J(q) the
judged items of query q, J(s) those that system s retrieved, and g their gains. Where own judgments are left out, (q, d)
itself is in none of the J.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

Kind = Literal["output", "judgment"]

INTERACTION = "sGEN:pGEN"

_MTC_OUTPUT = "Urbano & Schedl 2013, 4.2.1"
_MTC_JUDGMENT = "Urbano & Schedl 2013, 4.2.2"
_MTC_FITTED = "Urbano & Schedl 2013, 4.2.3"
_LIST = "Buckers 2021, 2.2.1"
_FREQUENCY = "Buckers 2021, 3.2.2"
_SYSTEMS = "Buckers 2021, 3.2.3"
_COUNTS = "Buckers 2021, 3.2.4"


@dataclass(frozen=True)
class FeatureDescription:
    """A feature in words.

    Attributes
    ----------
    name : str
    kind : {"output", "judgment"}
        Whether it needs judgments.
    summary : str
        What it is, in one line.
    formula : str
    source : str
        The paper and section that introduced it.
    attribute : str or None
        The code of the attribute that it needs, such as ART.
    """

    name: str
    kind: Kind
    summary: str
    formula: str
    source: str
    attribute: str | None = None


_OUTPUT = (
    ("pSYS", "share of the systems that retrieved d for q", "|S(q,d)| / |S|", _MTC_OUTPUT),
    ("fSYS", "the same as pSYS", "|S(q,d)| / |S|", _LIST),
    (
        "pTEAM",
        "share of the teams of which a system retrieved d for q",
        "|teams of S(q,d)| / |teams of S|",
        _MTC_OUTPUT,
    ),
    ("OV", "distinct items per result: 1 if no two systems share one", "Σ_q |D(q)| / Σ_q |R(q)|", _MTC_OUTPUT),
    ("aRANK", "average rank at which systems retrieved d for q", "mean of rank(s,q,d) over s in S(q,d)", _MTC_OUTPUT),
    ("nRES", "how many results there are for q", "|R(q)|", _SYSTEMS),
)
_ATTRIBUTE_OUTPUT = (
    ("sX", "1 if d has the {x} of q, else 0", "x(d) = x(q)", _MTC_OUTPUT),
    ("pX", "share of the results for q with the {x} of d", "|{r in R(q): x(r) = x(d)}| / |R(q)|", _MTC_OUTPUT),
    ("fX", "share of the distinct documents for q with the {x} of d", "|{e in D(q): x(e) = x(d)}| / |D(q)|", _LIST),
    (
        "fX_systems",
        "share of the systems that retrieved the {x} of d for q",
        "|{s in S: s retrieved an e for q with x(e) = x(d)}| / |S|",
        _SYSTEMS,
    ),
    (
        "fX_others",
        "fX over what the other systems retrieved, averaged over the systems that retrieved d",
        "mean over s in S(q,d) of fX without what s alone retrieved",
        _SYSTEMS,
    ),
    ("rX", "share of the whole collection with the {x} of d", "|{e in C: x(e) = x(d)}| / |C|", _FREQUENCY),
)
_JUDGMENT = (
    (
        "aSYS",
        "average gain of the systems that retrieved d for q",
        "mean over s in S(q,d) of the mean of g over J(s)",
        _MTC_JUDGMENT,
    ),
    ("nSYS", "how many judged results aSYS rests on", "Σ_(s in S(q,d)) |J(s)|", _COUNTS),
    ("aDOC", "average gain of the other documents for q", "mean of g over J(q) without d", _MTC_JUDGMENT),
    ("nDOC", "how many judgments aDOC rests on", "|J(q) without d|", _COUNTS),
)
_ATTRIBUTE_JUDGMENT = (
    (
        "aX",
        "average gain of the documents for q with the {x} of d",
        "mean of g over e in J(q) with x(e) = x(d)",
        _MTC_JUDGMENT,
    ),
    ("nX", "how many judgments aX rests on", "|{e in J(q): x(e) = x(d)}|", _COUNTS),
)


def output_glossary() -> tuple[FeatureDescription, ...]:
    """Describe the features that need neither metadata nor judgments."""
    return tuple(FeatureDescription(name, "output", *rest) for name, *rest in _OUTPUT)


def judgment_glossary() -> tuple[FeatureDescription, ...]:
    """Describe the features that need judgments but no metadata."""
    return tuple(FeatureDescription(name, "judgment", *rest) for name, *rest in _JUDGMENT)


def attribute_glossary(code: str, column: str, *, kind: Kind) -> tuple[FeatureDescription, ...]:
    """Describe the features of one attribute.

    Parameters
    ----------
    code : str
        What stands for X in their names, such as ART.
    column : str
        What the attribute is called in words, such as artist.
    kind : {"output", "judgment"}
        Which of them.
    """
    templates = _ATTRIBUTE_OUTPUT if kind == "output" else _ATTRIBUTE_JUDGMENT
    described = []
    for template, summary, formula, source in templates:
        name = attribute_feature(template, code)
        # Urbano and Schedl have no sART: their systems were not to retrieve the artist of the query at all.
        introduced = _LIST if name == "sART" else source
        words = _with_code(summary, code).format(x=column)
        described.append(FeatureDescription(name, kind, words, _with_code(formula, code), introduced, code))
    return tuple(described)


def attribute_feature(template: str, code: str) -> str:
    """Put the code of an attribute in the place of X: ``attribute_feature("fX_systems", "ART")`` is fART_systems."""
    return f"{template[0]}{code}{template[2:]}"


def interaction_entry() -> FeatureDescription:
    """Describe the one product of features that the published models use; any other can be asked for by name."""
    summary = "product of sGEN and pGEN"
    return FeatureDescription(INTERACTION, "output", summary, "sGEN × pGEN", _MTC_FITTED, "GEN")


def glossary_table(descriptions: Sequence[FeatureDescription]) -> pl.DataFrame:
    """Make a table of descriptions: name, kind, summary, formula, source."""
    columns = ("name", "kind", "summary", "formula", "source")
    return pl.DataFrame({column: [getattr(entry, column) for entry in descriptions] for column in columns})


def _with_code(text: str, code: str) -> str:
    """Name the features of the attribute inside a text; a lone x is the attribute itself and stays."""
    for template in ("fX", "aX"):
        text = text.replace(template, attribute_feature(template, code))
    return text
