"""How other programs spell measures: rewritten into the grammar of :mod:`earmark.measures.base`, or back.

trec_eval separates a cutoff by a dot where it is asked for and by ``_`` where it is printed (``ndcg_cut.10``,
``ndcg_cut_10``), and takes several at once (``ndcg_cut.5,10``). ranx puts the least relevant gain after ``-l``
(``precision@5-l2``). ir_measures names the gain function ``dcg`` (``nDCG(dcg='exp-log2')@10``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earmark.measures.base import Measure

# The cutoffs that trec_eval takes where it is asked for a measure without any.
_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_WITHOUT_CUTOFF = re.compile(r"(ndcg_cut|map_cut)\Z", re.IGNORECASE)
_DOT = re.compile(r"(P|recall|success|map_cut|ndcg_cut)\.(\d+)\Z", re.IGNORECASE)
_NUMBER = re.compile(r"\s*(\d+)\s*\Z")
_END = re.compile(r"([._@]\s*)\d+\s*\Z")
_RANX_LEVEL = re.compile(r"([A-Za-z][\w-]*?)(@\d+)?-l(\d+)\Z")
_BURGES = re.compile(r"(n?dcg)_burges\b", re.IGNORECASE)
_DCG = re.compile(r"\bdcg\s*=\s*['\"]?(exp-log2|log2)['\"]?", re.IGNORECASE)
_IR_GAIN = {"exp-log2": "exp", "log2": "linear"}

# What trec_eval prints for the measures that it has: without a cutoff, and before one.
_PRINTED = {
    "P": ("set_P", "P_"),
    "R": ("set_recall", "recall_"),
    "F": ("set_F", None),
    "SetAP": ("set_map", None),
    "Success": (None, "success_"),
    "AP": ("map", "map_cut_"),
    "GMAP": ("gm_map", None),
    "RR": ("recip_rank", None),
    "nDCG": ("ndcg", "ndcg_cut_"),
    "Rprec": ("Rprec", None),
    "bpref": ("bpref", None),
    "infAP": ("infAP", None),
    **{name: (name, None) for name in ("num_q", "num_ret", "num_rel", "num_rel_ret")},
}


def split_names(names: Iterable[str | Measure]) -> Iterator[str | Measure]:
    """Take lists of measures apart at commas, those inside of parentheses left alone.

    A number alone is one more cutoff of the measure before it.

    Examples
    --------
    >>> list(split_names(["nDCG@10,AP", "mean(AP,R)", "ndcg_cut.5,10"]))
    ['nDCG@10', 'AP', 'mean(AP,R)', 'ndcg_cut.5', 'ndcg_cut.10']
    """
    for name in names:
        if not isinstance(name, str):
            yield name
            continue
        before = ""
        for part in _parts(name):
            number, end = _NUMBER.match(part), _END.search(before)
            before = f"{before[: end.end(1)]}{number[1]}" if number and end else part
            if _WITHOUT_CUTOFF.match(before):
                yield from (f"{before}_{cutoff}" for cutoff in _CUTOFFS)
            else:
                yield before


def _parts(text: str) -> list[str]:
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    # Of nothing but commas something is left to complain about.
    return [part.strip() for part in parts if part.strip()] or [text]


def translate(text: str) -> str:
    """Rewrite another program's spelling; what is no such spelling stays as it is.

    Examples
    --------
    >>> translate("ndcg_cut.10"), translate("precision@5-l2"), translate("nDCG(dcg='exp-log2')@5")
    ('ndcg_cut_10', 'precision(rel=2)@5', 'nDCG(gain=exp)@5')
    >>> translate("NumRet(rel=2)"), translate("ndcg_burges@10"), translate("AP")
    ('NumRelRet(rel=2)', 'ndcg(gain=exp)@10', 'AP')
    """
    text = text.strip()
    if dot := _DOT.match(text):
        return f"{dot[1]}_{dot[2]}"
    if level := _RANX_LEVEL.match(text):
        text = f"{level[1]}(rel={level[3]}){level[2] or ''}"
    text = _BURGES.sub(r"\1(gain=exp)", text)
    text = re.sub(r"\bNumRet\(\s*rel\b", "NumRelRet(rel", text, flags=re.IGNORECASE)
    return _DCG.sub(lambda found: f"gain={_IR_GAIN[found[1].lower()]}", text)


def trec_eval_name(measure: Measure) -> str:
    """Return what trec_eval calls a measure, or its own name where trec_eval does not have it.

    Examples
    --------
    >>> import earmark
    >>> [trec_eval_name(earmark.parse(name)) for name in ("nDCG@10", "AP", "P(rel=2)@5", "AG@5")]
    ['ndcg_cut_10', 'map', 'P(rel=2)@5', 'AG@5']
    """
    whole, before = _PRINTED.get(measure.name, (None, None))
    if "(" in str(measure):
        return str(measure)
    if measure.cutoff is None:
        return whole or str(measure)
    return f"{before}{measure.cutoff}" if before else str(measure)
