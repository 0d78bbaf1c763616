r"""Groups of documents, best first, from preferences between two documents.

Which documents of a pair differ is decided by the sign test (answers *same* left
out) or by a *lead*: one document was chosen by at least so many more people. From there,

``pivots``
    takes the questions as what sorting asked: a pivot is compared with all documents of a segment, those preferred to
    it go before, those it is preferred to go after, the others stay with it; then each part is treated alike, until
    every document that stayed has been a pivot itself. This is how Urbano2010 asked, whose published groups are those
    of a lead of 2. It needs a document in every segment that was compared with all others there. Where several were,
    the one more often shown second is the pivot (then the one whose id comes first): preferences are not transitive,
    and for A = B, A = C, B > C the pivot decides between ⟨(A, B), (C)⟩ and ⟨(B), (A, C)⟩.
``scores``
    works for any set of questions: documents get scores by Davidson's model (:mod:`earmark.crowd.paired_comparison`)
    and stand in their order; they differ if the difference of their scores does, by the normal approximation, whether
    or not anybody was asked about the two; groups are filled as those of rankings are
    (:mod:`earmark.crowd.partial_orders`).
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from earmark.crowd.paired_comparison import Comparisons, fit_comparisons
from earmark.crowd.partial_orders import GroupStart, check_alpha, cut_into_groups, ordered_groups
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.ground_truth import OrderedGroups
from earmark.data.preferences import PairTable, Preferences
from earmark.errors import InputError, ParameterError

Method = Literal["pivots", "scores"]


def preferred_by_lead(pairs: PairTable, lead: int) -> Ints:
    """Return +1 where at least so many more answers chose the first document than the second, −1 for the reverse.

    Parameters
    ----------
    pairs : PairTable
        What was answered.
    lead : int, 1 or more
        The least lead.

    Returns
    -------
    ndarray of int, shape (pairs,)
        0 where neither document leads by as much.
    """
    if lead < 1:
        raise ParameterError(f"a lead is 1 answer or more, got {lead}")
    ahead = pairs.first - pairs.second
    preferred: Ints = np.sign(ahead) * (np.abs(ahead) >= lead)
    return preferred


def preferred_by_sign_test(pairs: PairTable, alpha: float) -> Ints:
    """Return +1 where the first document is preferred by the sign test, −1 where the second is, 0 elsewhere.

    Parameters
    ----------
    pairs : PairTable
        What was answered; *same* is left out.
    alpha : float, in (0, 1)
        The two-sided p-value is at most this.
    """
    from scipy.special import bdtr

    check_alpha(alpha)
    chose = pairs.first + pairs.second
    p_value = np.minimum(1.0, 2.0 * bdtr(np.minimum(pairs.first, pairs.second), np.maximum(chose, 1), 0.5))
    preferred: Ints = np.sign(pairs.first - pairs.second) * ((p_value <= alpha) & (chose > 0))
    return preferred


def groups_by_pivots(pairs: PairTable, preferred: Ints) -> OrderedGroups:
    """Group the documents of every query by taking the questions as those of a sorting with pivots.

    Parameters
    ----------
    pairs : PairTable
        What was asked.
    preferred : ndarray of int, shape (pairs,)
        +1 where the first document is preferred, −1 where the second is, 0 where neither is.

    Raises
    ------
    InputError
        If no document of a segment was compared with all others of it.
    """
    # How often the first document of a pair was the second one shown, as a share of the pair's answers.
    shown_second = np.bincount(pairs.answer_pair, pairs.answer_orientation < 0, len(pairs)) / pairs.answers
    parts = []
    for query, name in enumerate(pairs.queries):
        rows = np.flatnonzero(pairs.query_index == query)
        documents, place = np.unique(
            np.concatenate((pairs.first_index[rows], pairs.second_index[rows])), return_inverse=True
        )
        first, second = place[: rows.size], place[rows.size :]
        shape = (documents.size, documents.size)
        asked, better, second_shown = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=np.int64), np.zeros(shape)
        asked[first, second] = asked[second, first] = True
        better[first, second], better[second, first] = preferred[rows], -preferred[rows]
        second_shown[first, second], second_shown[second, first] = shown_second[rows], 1.0 - shown_second[rows]
        names = [pairs.documents[index] for index in documents]
        segments = _sort_with_pivots(np.arange(documents.size), asked, better, second_shown)
        group = np.zeros(documents.size, dtype=np.int64)
        for number, segment in enumerate(segments, start=1):
            if segment.size == 0:
                raise InputError(
                    expected=f"for query '{name}', in every part of a sorting with pivots, a document that was "
                    "compared with all others there",
                    got="none",
                    hint="were the questions asked in another way? scores take any questions",
                )
            group[segment] = number
        parts.append((name, names, group))
    return ordered_groups(parts)


def _sort_with_pivots(segment: Ints, asked: Bools, better: Ints, shown_second: Floats) -> list[Ints]:
    """Return the groups of a segment in order; an empty one stands for a segment without a pivot."""
    groups: list[Ints] = []
    # Each part with those of its documents that have been a pivot; the part to go on with is the last.
    waiting: list[tuple[Ints, Bools]] = [(segment, np.zeros(better.shape[0], dtype=bool))]
    while waiting:
        part, was_pivot = waiting.pop()
        open_to = part[~was_pivot[part]]
        if part.size == 1 or open_to.size == 0:
            groups.append(part)
            continue
        compared = asked[np.ix_(open_to, part)].sum(axis=1) == part.size - 1
        if not compared.any():
            groups.append(part[:0])
            continue
        candidates = open_to[compared]
        pivot = candidates[np.argmax(shown_second[np.ix_(candidates, part)].sum(axis=1))]
        was_pivot = was_pivot.copy()
        was_pivot[pivot] = True
        verdict = better[part, pivot]
        # Put on the stack in reverse, so that the best part comes off it first.
        waiting.extend((part[verdict == side], was_pivot) for side in (-1, 0, 1) if np.any(verdict == side))
    return groups


def groups_by_scores(pairs: PairTable, *, alpha: float = 0.05, start: GroupStart = "all") -> OrderedGroups:
    """Group the documents of every query by scores that answers give them.

    Parameters
    ----------
    pairs : PairTable
        What was answered, whatever was asked.
    alpha : float, in (0, 1)
        Two documents differ if the two-sided p-value of the difference of their scores is at most this.
    start : {"all", "any", "previous"}
        As for :func:`~earmark.crowd.partial_orders.cut_into_groups`.
    """
    from scipy.special import ndtr

    check_alpha(alpha)
    # Every two documents of a query, asked about or not: a comparison without answers only asks how far both differ.
    size = max(len(pairs.documents), 1)
    keys = np.concatenate([pairs.query_index * size + index for index in (pairs.first_index, pairs.second_index)])
    items, place = np.unique(keys, return_inverse=True)
    query = items // size
    offsets = np.searchsorted(query, np.arange(len(pairs.queries) + 1))
    i, j = (np.concatenate(part) for part in zip(*map(_pairs_between, offsets[:-1], offsets[1:]), strict=True))
    at = np.searchsorted(i * items.size + j, place[: len(pairs)] * items.size + place[len(pairs) :])
    counts = np.zeros((4, i.size))
    counts[:, at] = pairs.first, pairs.second, pairs.same, pairs.answers
    fitted = fit_comparisons(Comparisons(query, i, j, *counts))
    p_value = 2 * ndtr(-np.abs(fitted.difference) / np.maximum(fitted.difference_error, np.finfo(float).tiny))
    parts = []
    for name, start_at, end in zip(pairs.queries, offsets[:-1], offsets[1:], strict=True):
        differs = np.zeros((end - start_at, end - start_at), dtype=bool)
        ours = (i >= start_at) & (i < end)
        a, b = i[ours] - start_at, j[ours] - start_at
        differs[a, b] = differs[b, a] = p_value[ours] <= alpha
        order = np.argsort(-fitted.score[start_at:end], kind="stable")
        group = np.empty(order.size, dtype=np.int64)
        group[order] = cut_into_groups(differs[np.ix_(order, order)], start=start)
        parts.append((name, [pairs.documents[item % size] for item in items[start_at:end]], group))
    return ordered_groups(parts)


def _pairs_between(start: int, end: int) -> tuple[Ints, Ints]:
    a, b = np.triu_indices(end - start, k=1)
    return a + start, b + start


def groups_from_preferences(
    preferences: Preferences,
    *,
    method: Method = "scores",
    alpha: float = 0.05,
    lead: int | None = None,
    start: GroupStart = "all",
) -> OrderedGroups:
    """Group the documents of every query by what people prefer.

    Parameters
    ----------
    preferences : Preferences
        The answers; leave those to traps out first.
    method : {"scores", "pivots"}
        How groups are made; see the module.
    alpha : float, in (0, 1)
        From which p-value down documents differ.
    lead : int, optional
        For pivots, in place of a test: how many more answers the better document has.
    start : {"all", "any", "previous"}
        For scores, where a new group starts.
    """
    pairs = preferences.pairs()
    if method == "scores":
        if lead is not None:
            raise ParameterError("a lead is for groups by pivots: scores are compared by their p-value alone")
        return groups_by_scores(pairs, alpha=alpha, start=start)
    if method != "pivots":
        raise ParameterError(f"groups are made by {' or '.join(get_args(Method))}, not by '{method}'")
    preferred = preferred_by_sign_test(pairs, alpha) if lead is None else preferred_by_lead(pairs, lead)
    return groups_by_pivots(pairs, preferred)
