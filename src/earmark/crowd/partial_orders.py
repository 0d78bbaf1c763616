r"""Partial orders: groups of documents, best first, where what people said does not order single documents.

Average dynamic recall needs for every query groups whose order is reliably known (Typke2006). Here they come from
rankings by several experts; :mod:`earmark.crowd.preference_groups` derives them from preferences.

Documents are put in the order of their median ranks (then of their mean ranks). A test on the ranks says which
documents differ:

- ``signed-rank``, the default: Wilcoxon's signed ranks. The same experts ranked both documents, so the signs of their
  differences are exchangeable if the documents are equal, and the test is exact. Of n documents, n − 1 boundaries may
  be drawn wrongly: p-values are multiplied by that (Bonferroni), so that with probability 1 − α no boundary splits
  equal documents of a query.
- ``rank-sum``: Wilcoxon's rank sum, as Typke2005 has it, two ranks of an expert taken as independent and boundaries not
  counted. It reproduces published groups and splits equal documents too often.
- ``friedman-tukey``: Friedman's test with Tukey's comparisons, which allows for the number of pairs.

Few experts separate little: n documents take :func:`least_experts`, 6 for two documents and 10 for twenty at .05, and
these have to be of one mind. How often true groups were split is printed by ``make slow``
(``tests/crowd/test_partial_orders.py``).

Then a group is filled
from the top, and a document starts a new one if it differs from *all* documents of the group, from *any* of them, or
from the *previous* one (Urbano2010b). With ``all`` a group starts only where the order can be relied on; with ``any``
no two documents within a group differ. A document that an expert left out shares the places after those ranked. A
one-sided test at α is a two-sided one at 2α.

References
----------
.. [1] R. Typke, M. den Hoed, J. de Nooijer, F. Wiering, R. C. Veltkamp (2005). A ground truth for half a million
   musical incipits. Journal of Digital Information Management 3(1), 34–39.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import polars as pl

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.ground_truth import OrderedGroups
from earmark.data.runs import Runs, sort_ids
from earmark.errors import InputError, ParameterError
from earmark.inference.rank_tests import friedman_ranks, signed_ranks, tukey_range

RankTest = Literal["signed-rank", "rank-sum", "friedman-tukey"]
GroupStart = Literal["all", "any", "previous"]


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


def least_experts(n_documents: int, alpha: float = 0.05) -> int:
    r"""Return how few experts of one mind can separate two of so many documents by signed ranks.

    Their p-value is :math:`2 \cdot 2^{-experts}`, times the number of boundaries.

    Examples
    --------
    >>> least_experts(2), least_experts(20)
    (6, 10)
    """
    check_alpha(alpha)
    return math.ceil(1 + math.log2(max(n_documents - 1, 1) / alpha) - 1e-9)


def rank_differences(ranks: Floats, *, test: RankTest = "signed-rank") -> Floats:
    """Test every two documents for a difference of the ranks that experts gave them.

    Parameters
    ----------
    ranks : ndarray of float, shape (experts, documents)
        1 for the best; experts may rank documents equally.
    test : {"signed-rank", "rank-sum", "friedman-tukey"}
        Which test, two-sided.

    Returns
    -------
    ndarray of float, shape (documents, documents), in [0, 1]
        p-values, 1 on the diagonal; those of ``signed-rank`` allow for the number of boundaries.
    """
    n_experts, n_documents = ranks.shape
    a, b = np.triu_indices(n_documents, k=1)
    if test == "rank-sum":
        found = _rank_sum(ranks[:, a], ranks[:, b])
    elif test == "signed-rank":
        found = np.minimum((n_documents - 1) * signed_ranks((ranks[:, a] - ranks[:, b]).T).p_value, 1.0)
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
    ranks: Floats, *, test: RankTest = "signed-rank", alpha: float = 0.05, start: GroupStart = "all"
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
    check_alpha(alpha)
    order = np.lexsort((ranks.mean(axis=0), np.median(ranks, axis=0)))
    differs = rank_differences(ranks, test=test) <= alpha
    group = np.empty(order.size, dtype=np.int64)
    group[order] = cut_into_groups(differs[np.ix_(order, order)], start=start)
    return group


def groups_from_rankings(
    rankings: Runs, *, test: RankTest = "signed-rank", alpha: float = 0.05, start: GroupStart = "all"
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
    return ordered_groups(parts)


def ordered_groups(parts: Sequence[tuple[str, Sequence[str], Ints]]) -> OrderedGroups:
    """Put queries together, best group first and documents in the order of their ids."""
    frames = [
        pl.DataFrame({"query": [query] * len(documents), "document": list(documents), "group": group})
        for query, documents, group in parts
    ]
    return OrderedGroups(pl.concat([frame.sort("group", maintain_order=True) for frame in frames]))


def check_alpha(alpha: float) -> None:
    """Refuse a largest p-value of a difference that is no probability."""
    if not 0 < alpha < 1:
        raise ParameterError(f"alpha, the largest p-value of a difference, lies between 0 and 1, got {alpha:g}")
