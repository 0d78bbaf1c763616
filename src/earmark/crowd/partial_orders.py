r"""Partial orders: groups of documents, best first, where what people said does not order single documents.

Average dynamic recall needs for every query groups whose order is reliably known (Typke2006). There are two ways to
them.

**Rankings by several experts.** Documents are put in the order of their median ranks (then of their mean ranks). A test
on the ranks says which documents differ: Wilcoxon's rank sum, as Typke2005 has it; Wilcoxon's signed ranks, which knows
that the same experts ranked both; or Friedman's test with Tukey's comparisons, which allows for the number of pairs.
Then a group is filled from the top, and a document starts a new one if it differs from *all* documents of the group,
from *any* of them, or from the *previous* one (Urbano2010b). With ``all`` a group starts only where the order can be
relied on; with ``any`` no two documents within a group differ. A document that an expert left out shares the places
after those ranked. A one-sided test at α is a two-sided one at 2α.

**Preferences between two documents.** Which documents of a pair differ is decided by the sign test (answers *same* left
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
    or not anybody was asked about the two; groups are filled as above.

References
----------
.. [1] R. Typke, M. den Hoed, J. de Nooijer, F. Wiering, R. C. Veltkamp (2005). A ground truth for half a million
   musical incipits. Journal of Digital Information Management 3(1), 34–39.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import polars as pl

from earmark.crowd.paired_comparison import Comparisons, fit_comparisons
from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.ground_truth import OrderedGroups
from earmark.data.preferences import PairTable, Preferences
from earmark.data.runs import Runs, sort_ids
from earmark.errors import InputError, ParameterError
from earmark.inference.rank_tests import friedman_ranks, signed_ranks, tukey_range

RankTest = Literal["rank-sum", "signed-rank", "friedman-tukey"]
GroupStart = Literal["all", "any", "previous"]
Method = Literal["pivots", "scores"]


def cut_into_groups(differs: Bools, *, start: GroupStart = "all") -> Ints:
    """Fill groups from the top: number them from 1 for documents that stand in order.

    Parameters
    ----------
    differs : ndarray of bool, shape (documents, documents)
        Which documents differ, both in order, best first.
    start : {"all", "any", "previous"}
        Which documents of the group so far the next one has to differ from to start a new group.

    Examples
    --------
    >>> import numpy as np
    >>> differs = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], dtype=bool)
    >>> cut_into_groups(differs, start="all").tolist(), cut_into_groups(differs, start="any").tolist()
    ([1, 1, 1], [1, 1, 2])
    """
    if start not in get_args(GroupStart):
        raise ParameterError(
            f"a new group starts at a difference from {', '.join(get_args(GroupStart))}, not '{start}'"
        )
    group = np.ones(differs.shape[0], dtype=np.int64)
    first = 0
    for place in range(1, group.size):
        group[place] = group[place - 1]
        if _starts_group(differs[place, first:place], start):
            group[place] += 1
            first = place
    return group


def _starts_group(differs: Bools, start: GroupStart) -> bool:
    if start == "previous":
        return bool(differs[-1])
    return bool(differs.all() if start == "all" else differs.any())


# Rankings


def rank_differences(ranks: Floats, *, test: RankTest = "rank-sum") -> Floats:
    """Test every two documents for a difference of the ranks that experts gave them.

    Parameters
    ----------
    ranks : ndarray of float, shape (experts, documents)
        1 for the best; experts may rank documents equally.
    test : {"rank-sum", "signed-rank", "friedman-tukey"}
        Which test, two-sided.

    Returns
    -------
    ndarray of float, shape (documents, documents), in [0, 1]
        p-values, 1 on the diagonal.
    """
    n_experts, n_documents = ranks.shape
    a, b = np.triu_indices(n_documents, k=1)
    if test == "rank-sum":
        found = _rank_sum(ranks[:, a], ranks[:, b])
    elif test == "signed-rank":
        found = signed_ranks((ranks[:, a] - ranks[:, b]).T).p_value
    elif test == "friedman-tukey":
        found = np.ones(a.size)
        if n_documents > 1:
            found = tukey_range(friedman_ranks(-ranks.T), a, b, n_queries=n_experts)[1]
    else:
        raise ParameterError(f"ranks are tested by {', '.join(get_args(RankTest))}, not by '{test}'")
    p_value = np.ones((n_documents, n_documents))
    p_value[a, b] = p_value[b, a] = found
    return p_value


def _rank_sum(first: Floats, second: Floats) -> Floats:
    from scipy.stats import mannwhitneyu

    p_value = np.ones(first.shape[1])
    together = np.concatenate((first, second))
    # Where all ranks are the same there is nothing to test, and no spread to test by.
    varied = np.any(together != together[0], axis=0)
    if varied.any():
        p_value[varied] = mannwhitneyu(first[:, varied], second[:, varied], axis=0).pvalue
    return p_value


def groups_from_ranks(
    ranks: Floats, *, test: RankTest = "rank-sum", alpha: float = 0.05, start: GroupStart = "all"
) -> Ints:
    """Group the documents of one query by the ranks that experts gave them.

    Parameters
    ----------
    ranks : ndarray of float, shape (experts, documents)
        1 for the best; experts may rank documents equally.
    test, start
        As for :func:`rank_differences` and :func:`cut_into_groups`.
    alpha : float, in (0, 1)
        Documents differ if the p-value is at most this.

    Returns
    -------
    ndarray of int, shape (documents,)
        The group of every document, 1 for the best.
    """
    _check_alpha(alpha)
    order = np.lexsort((ranks.mean(axis=0), np.median(ranks, axis=0)))
    differs = rank_differences(ranks, test=test) <= alpha
    group = np.empty(order.size, dtype=np.int64)
    group[order] = cut_into_groups(differs[np.ix_(order, order)], start=start)
    return group


def groups_from_rankings(
    rankings: Runs, *, test: RankTest = "rank-sum", alpha: float = 0.05, start: GroupStart = "all"
) -> OrderedGroups:
    """Group the documents of every query by the rankings of several experts, each as the list of a system.

    A document that an expert did not rank shares the places after those ranked with all the others that were not; an
    expert without a list for a query has no say in it.

    Raises
    ------
    InputError
        If a query was ranked by one expert only, which leaves nothing to test.
    """
    frame = rankings.to_polars()
    parts = []
    for (query,), lists in frame.group_by("query", maintain_order=True):
        experts, documents = sort_ids(lists["system"].unique()), sort_ids(lists["document"].unique())
        if len(experts) < 2:
            raise InputError(
                expected=f"rankings of query '{query}' by two experts or more", got=f"one by '{experts[0]}'"
            )
        ranks = np.full((len(experts), len(documents)), np.nan)
        expert = lists["system"].cast(pl.Enum(experts)).to_physical().to_numpy()
        document = lists["document"].cast(pl.Enum(documents)).to_physical().to_numpy()
        ranks[expert, document] = lists["rank"].to_numpy()
        ranked = np.sum(~np.isnan(ranks), axis=1, keepdims=True)
        ranks = np.where(np.isnan(ranks), (ranked + 1 + len(documents)) / 2, ranks)
        parts.append((str(query), documents, groups_from_ranks(ranks, test=test, alpha=alpha, start=start)))
    return _ordered_groups(parts)


# Preferences


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

    _check_alpha(alpha)
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
    return _ordered_groups(parts)


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
        As for :func:`cut_into_groups`.
    """
    from scipy.special import ndtr

    _check_alpha(alpha)
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
    return _ordered_groups(parts)


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


def _ordered_groups(parts: Sequence[tuple[str, Sequence[str], Ints]]) -> OrderedGroups:
    """Put queries together, best group first and documents in the order of their ids."""
    frames = [
        pl.DataFrame({"query": [query] * len(documents), "document": list(documents), "group": group})
        for query, documents, group in parts
    ]
    return OrderedGroups(pl.concat([frame.sort("group", maintain_order=True) for frame in frames]))


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha, the largest p-value of a difference, lies between 0 and 1, got {alpha:g}")
