"""ADR (Typke2006): average dynamic recall on partially ordered ground truth, its examples, its case against nDCG.

The paper works through one example by position, varies it by a false positive, and breaks a tie between two lists by
turning the ground truth around. Its section 4 claims, without showing one, that there are pairs of lists which nDCG
with base 2 and nDCG with base 3 order oppositely; here such a pair is found by search. Where real preferences are at
hand, groups are made of them (:mod:`earmark.reproduce.urbano2010`), the paper's own ground truth being no longer there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl

from earmark.data.arrays import Floats
from earmark.data.conversion import judgments_from_dict
from earmark.data.ground_truth import GroundTruth, OrderedGroups, truth_from_groups, truth_from_judgments
from earmark.data.scales import parse_scale
from earmark.measures.base import parse
from earmark.measures.curves import dynamic_recall
from earmark.plots.curves import plot_dynamic_recall
from earmark.reproduce.comparison import Comparison, compare, compare_words, given, judge_lists, not_reproduced
from earmark.reproduce.figures import Figure, Panel
from earmark.reproduce.urbano2010 import tables as melody_tables

Groups = Sequence[Sequence[int]]

PAPER = "Typke, Veltkamp and Wiering 2006"

EXAMPLE_TRUTH: Groups = ((1, 2), (3, 4, 5))
EXAMPLE_LIST = (2, 3, 1, 5, 7, 8, 9, 4)
EXAMPLE_WITH_FALSE_POSITIVE = (2, 10, 3, 1, 5, 7, 8, 9, 4)
# The table of the worked example as printed: documents found, and recall.
EXAMPLE_TABLE = (("1", "1"), ("1", "0.5"), ("3", "1"), ("4", "1"), ("4", "0.8"))

TIE_TRUTH: Groups = ((1,), (2,), (3,), (4,))
TIE_LISTS = ((4, 3, 5, 6), (3, 4, 5, 6))
TIE_CONSTRUCTED = ((4, 3, 1, 1), (3, 4, 1, 1))

_OUT_OF_REACH = {
    "Figure 1: its own list": "the list is not printed, nor is the ground truth of incipit 240.001.397-1; ours is made",
    "results of MIREX 2005": "neither the runs nor the ground truth of the 11 queries are here",
}

FIGURE_1_SIZE, FIGURE_1_FOUND = 48, 26
FIGURE_1_ADR, FIGURE_1_RECALL = "0.74", "0.54"
FIGURE_1_TRUTH: Groups = tuple((document,) for document in range(1, FIGURE_1_SIZE + 1))


def tables(melodies: Path | None = None) -> list[Comparison]:
    """Return the paper's examples with ours beside them, and a pair of lists that shows the point of section 4.

    Parameters
    ----------
    melodies : Path, optional
        The folder of the melody preferences of 2010, for which groups are made and ADR is computed as well.
    """
    examples = [worked_example(), worked_example_by_position(), figure_1(), tie_break(), base_of_the_logarithm()]
    others = [] if melodies is None else melody_tables(melodies)
    return [*examples, *others, not_reproduced(PAPER, _OUT_OF_REACH)]


def worked_example() -> Comparison:
    """Recompute the average dynamic recall of the worked example and of its variant."""
    scores = _score("ADR", (EXAMPLE_LIST, EXAMPLE_WITH_FALSE_POSITIVE), EXAMPLE_TRUTH)
    rows = (
        compare("ADR", "0.86", scores[0], column=_list(EXAMPLE_LIST)),
        compare("ADR", "0.7433", scores[1], column=_list(EXAMPLE_WITH_FALSE_POSITIVE)),
    )
    return Comparison(f"{PAPER}, section 3: the worked example", rows, (f"Ground truth {_groups(EXAMPLE_TRUTH)}.",))


def worked_example_by_position() -> Comparison:
    """Recompute the table of the worked example: what is found by each position, and the dynamic recall."""
    recall = dynamic_recall(judge_lists([EXAMPLE_LIST], _truth(EXAMPLE_TRUTH))).y[0]
    rows = []
    for position, ((found, printed), ours) in enumerate(zip(EXAMPLE_TABLE, recall, strict=True), start=1):
        name = f"position {position}"
        rows.append(compare(name, found, ours * position, column="found"))
        rows.append(compare(name, printed, ours, column="recall", digits=1))
    notes = (f"Ground truth {_groups(EXAMPLE_TRUTH)}, list {_list(EXAMPLE_LIST)}.",)
    return Comparison(f"{PAPER}, section 3: the worked example by position", tuple(rows), notes)


def figure_1_list() -> tuple[int, ...]:
    """Make a list of 48 documents that finds 26 of 48 and has an ADR of .74, as that of Figure 1 does.

    The documents of the ground truth are 1 to 48, each a group of its own, those after 48 are irrelevant. The list
    begins with 1, 2, 3 and so on without a miss; the others that it finds come at equal distances up to the end. Of the
    lists of this kind it is the one whose ADR is nearest to the paper's.
    """
    lists = [_list_with_start(start) for start in range(FIGURE_1_FOUND)]
    adr = _score("ADR", lists, FIGURE_1_TRUTH)
    return lists[int(np.argmin(np.abs(adr - float(FIGURE_1_ADR))))]


def _list_with_start(start: int) -> tuple[int, ...]:
    """Find so many documents at once, and the others at equal distances."""
    later = np.arange(1, FIGURE_1_FOUND - start + 1)
    places = start + np.ceil(later * (FIGURE_1_SIZE - start) / later.size).astype(np.int64)
    found = {*range(1, start + 1), *places.tolist()}
    known, others = iter(range(1, FIGURE_1_SIZE + 1)), iter(range(FIGURE_1_SIZE + 1, 2 * FIGURE_1_SIZE + 1))
    return tuple(next(known if place in found else others) for place in range(1, FIGURE_1_SIZE + 1))


def figure_1() -> Comparison:
    """Score a list made to be like that of Figure 1, which is not printed."""
    lists = judge_lists([figure_1_list()], _truth(FIGURE_1_TRUTH))
    last = f"@{FIGURE_1_SIZE}"
    measured = {"ADR": FIGURE_1_ADR, f"DR{last}": FIGURE_1_RECALL, f"R{last}": FIGURE_1_RECALL}
    names = ("ADR", "dynamic recall at 48", "recall at 48")
    rows = tuple(
        given(name, printed, float(parse(measure).score(lists)[0]))
        for name, (measure, printed) in zip(names, measured.items(), strict=True)
    )
    note = (
        f"The figure's list is not printed. Ours is made to find {FIGURE_1_FOUND} of {FIGURE_1_SIZE} documents and to "
        "have the ADR nearest to the paper's, so these values are given, not found. Where the ground truth ends, "
        f"dynamic recall is recall: {FIGURE_1_FOUND}/{FIGURE_1_SIZE} for any such list.",
    )
    return Comparison(f"{PAPER}, Figure 1: a list that makes it", rows, note)


def figures() -> Iterator[Figure]:
    """Draw Figure 1 for the list that :func:`figure_1_list` makes."""
    documents = figure_1_list()
    curve = dynamic_recall(judge_lists([documents], _truth(FIGURE_1_TRUTH)))
    recall, position = curve.y[0], np.arange(1, FIGURE_1_SIZE + 1)
    data = pl.DataFrame(
        {
            "position": position,
            "document": [str(document) if document <= FIGURE_1_SIZE else "irrelevant" for document in documents],
            "found": np.rint(recall * position).astype(np.int64),
            "dynamic_recall": recall,
        }
    )
    title = f"documents found and dynamic recall of a list that finds {FIGURE_1_FOUND} of {FIGURE_1_SIZE} (our list)"
    panel = Panel("", data, lambda axes: plot_dynamic_recall({"our list": curve}, counts=True, ax=axes))
    yield Figure("1", title, (panel,), width=6.8, height=4.2)


def tie_break() -> Comparison:
    """Break the tie of section 4 by the inverted ground truth."""
    plain, inverted = _score("ADR", TIE_LISTS, TIE_TRUTH), _score("ADRinv", TIE_LISTS, TIE_TRUTH)
    rows = [compare("ADR", None, score, column=_list(result)) for result, score in zip(TIE_LISTS, plain, strict=True)]
    rows.append(compare_words("ADR of the two lists", "tie", "tie" if np.isclose(plain[0], plain[1]) else "no tie"))
    for result, constructed in zip(TIE_LISTS, TIE_CONSTRUCTED, strict=True):
        ours = _list(constructed_list(result, TIE_TRUTH))
        rows.append(compare_words("constructed list", _list(constructed), ours, column=_list(result)))
    for result, score in zip(TIE_LISTS, inverted, strict=True):
        rows.append(compare("ADR of the constructed list, inverted truth", None, score, column=_list(result)))
    better = TIE_LISTS[int(np.argmin(inverted))]
    rows.append(compare_words("the better list", _list(TIE_LISTS[1]), _list(better)))
    notes = (
        f"Ground truth {_groups(TIE_TRUTH)}, inverted {_groups(tuple(reversed(TIE_TRUTH)))}.",
        "A document that stands twice in a constructed list counts once. The list that does worse under the inverted "
        "ground truth is the better one.",
    )
    return Comparison(f"{PAPER}, section 4: breaking a tie", tuple(rows), notes)


def constructed_list(result: Sequence[int], groups: Groups) -> tuple[int, ...]:
    """Keep the documents that stand outside the places of their group and replace all others by one of the best group.

    The one is the first of the best group that is not kept, or the group's first if all are.
    """
    kept = set()
    end = 0
    for group in groups:
        start, end = end + 1, end + len(group)
        kept |= {document for rank, document in enumerate(result, 1) if document in group and not start <= rank <= end}
    filler = next((document for document in groups[0] if document not in kept), groups[0][0])
    return tuple(document if document in kept else filler for document in result)


@dataclass(frozen=True)
class OppositePair:
    """Two lists that nDCG orders one way with base 2 and the other way with base 3.

    Parameters
    ----------
    gains : dict of int to float
        The graded ground truth; its levels are ADR's groups.
    first, second : tuple of int
        The lists; the first is better with base 2.
    base_2, base_3, adr : tuple of float
        What both lists score.
    """

    gains: dict[int, float]
    first: tuple[int, ...]
    second: tuple[int, ...]
    base_2: tuple[float, float]
    base_3: tuple[float, float]
    adr: tuple[float, float]


def opposite_pair(gains: dict[int, float] | None = None, *, irrelevant: int = 2) -> OppositePair:
    """Search all orders of a small ground truth and some irrelevant documents for the clearest opposite pair.

    Parameters
    ----------
    gains : dict of int to float, optional
        The gains of documents; by default documents 1, 2 and 3 of gain 3, 2 and 1.
    irrelevant : int
        How many documents without gain may stand among them.

    Returns
    -------
    OppositePair
        The pair whose smaller margin, of those with base 2 and base 3, is greatest, among those that ADR tells apart;
        the first such pair in the order of the lists.
    """
    gains = gains or {1: 3.0, 2: 2.0, 3: 1.0}
    others = tuple(range(max(gains) + 1, max(gains) + irrelevant + 1))
    # Irrelevant documents are interchangeable: they only come in ascending order.
    results = [
        order
        for order in permutations((*gains, *others))
        if [document for document in order if document in others] == list(others)
    ]
    scale = parse_scale(f"0..{max(gains.values()):g}")
    judgments = judgments_from_dict({"q": {str(document): gain for document, gain in gains.items()}}, scale=scale)
    lists = judge_lists(results, truth_from_judgments(judgments))
    base_2, base_3, adr = (
        parse(name).score(lists) for name in ("nDCG(base=2,discount=base)", "nDCG(base=3,discount=base)", "ADR")
    )
    lead_2, lead_3 = base_2[:, None] - base_2, base_3 - base_3[:, None]
    told_apart = ~np.isclose(adr[:, None], adr)
    margin = np.where(told_apart, np.minimum(lead_2, lead_3), -np.inf).round(12)
    first, second = (int(index) for index in np.unravel_index(np.argmax(margin), margin.shape))

    def both(scores: Floats) -> tuple[float, float]:
        return float(scores[first]), float(scores[second])

    return OppositePair(gains, results[first], results[second], both(base_2), both(base_3), both(adr))


def base_of_the_logarithm() -> Comparison:
    """Show section 4's claim on a pair of lists found by search."""
    pair = opposite_pair()
    rows = []
    claims = {"nDCG, base 2": (pair.base_2, "first"), "nDCG, base 3": (pair.base_3, "second"), "ADR": (pair.adr, None)}
    for name, (scores, claim) in claims.items():
        for result, score in zip((pair.first, pair.second), scores, strict=True):
            rows.append(compare(name, None, score, column=_list(result)))
        better = "first" if scores[0] > scores[1] else "second"
        rows.append(compare_words(name, claim, better, column="the better list"))
    gains = ", ".join(f"{document}: {gain:g}" for document, gain in pair.gains.items())
    notes = (
        f"Gains {gains}; ADR only sees their order. First {_list(pair.first)}, second {_list(pair.second)}: of all "
        "orders of these documents, the pair that the two bases separate most clearly in opposite directions.",
        "The discount is Järvelin and Kekäläinen's: none below the base, then the logarithm (discount=base). With "
        "trec_eval's, log(rank + 1) throughout, the base cancels in nDCG and cannot change any order.",
    )
    return Comparison(f"{PAPER}, section 4: nDCG depends on the base of its logarithm", tuple(rows), notes)


def _truth(groups: Groups) -> GroundTruth:
    rows = [("q", str(document), number) for number, group in enumerate(groups, start=1) for document in group]
    schema = {"query": pl.String, "document": pl.String, "group": pl.Int64}
    return truth_from_groups(OrderedGroups(pl.DataFrame(rows, schema=schema, orient="row")))


def _score(measure: str, results: Sequence[Sequence[int]], groups: Groups) -> Floats:
    return parse(measure).score(judge_lists(results, _truth(groups)))


def _list(documents: Sequence[int]) -> str:
    return f"⟨{', '.join(map(str, documents))}⟩"


def _groups(groups: Groups) -> str:
    return f"⟨{', '.join('(' + ', '.join(map(str, group)) + ')' for group in groups)}⟩"
