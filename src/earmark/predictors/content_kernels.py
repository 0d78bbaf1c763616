r"""Content in the hierarchical predictor: which items are alike because their documents are.

Whatever describes documents by numbers (:mod:`earmark.data.content`) becomes two kernels between items. The numbers are
standardised and seen through their first principal components, at most 8: :math:`\phi_k(d)`, in their own units, so
that distances are those of the standardised numbers.

**How near a document is to its query**, over all queries. An item (q, d) has the closenesses

.. math:: x_{i0} \sim -\sqrt{\textstyle\sum_k (\phi_k(q) - \phi_k(d))^2}, \qquad
          x_{ik} \sim -|\phi_k(q) - \phi_k(d)| \quad (k = 1 \dots K),

standardised over the items. Slopes on them that all queries share are the effects of the component ``content``:

.. math:: K_{ij} = \tfrac12 x_{i0} x_{j0} + \tfrac1{2K} \textstyle\sum_k x_{ik} x_{jk} .

So judging learns whether nearness matters at all, and in which directions it matters to those who judge. Half of the
variance is for nearness as such; its diagonal is 1 in the mean over items.

**How alike two documents are**, within a query. A document that is like one that was judged for the same query gets a
like gain; what is wanted may differ from query to query. Likeness is

.. math:: R_{ij} = \exp\Bigl(-\tfrac{1}{2 \ell^2} \textstyle\sum_k (\phi_k(d_i) - \phi_k(d_j))^2\Bigr) ,

the length :math:`\ell` being the median distance of two documents of one query. Systems retrieve by likeness too, the
better ones the more of what is wanted. An effect of :math:`R` would explain away, as content that happens to fit the
query, what a system owes to its skill; and differences of systems would be believed to be smaller than they are [1]_.
So the effects of the component ``query × content`` have only what neither the query nor its systems could explain, with
M the projection that takes their columns out,

.. math:: K = M R M / \max_i (M R M)_{ii} ,

the maximum being that over all items. The first eigenvectors are kept, as effects :math:`f_{ic}` of the query; the rest
of an item's variance, :math:`1 - \sum_c f_{ic}^2`, is its own. Where a query has hardly more documents than systems,
that is all of it.

Conventions
-----------
- Components come from the documents and queries of the collection; what else a file describes changes nothing.
- A query is looked up among the documents. Where the query or the document has no content, closenesses are 0, their
  mean; the covariate ``nocontent`` tells documents without content from the others.
- A document without content is like no other: all of its variance is its own.
- Shipped priors know nothing of content. Both variances then are those of components that nobody knows: :math:`.01`,
  effects of a tenth of the scale, with a standard deviation of 1 in the logarithm, that is .0014 to .07 as far as 95%
  go. The effects that an artist and a genre have within queries on audio similarity lie around it (.007 and .018 in the
  shipped priors), and the range is wide enough for content that says next to nothing as well as for content that says
  nearly all. A prior fitted with content has variances of its own, and a coefficient of closeness.

References
----------
.. [1] J. S. Hodges, B. J. Reich (2010). Adding spatially-correlated errors can mess up the fixed effect you love. The
   American Statistician 64(4), 325-334.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from earmark.data.arrays import Bools, Floats
from earmark.data.collection import Collection
from earmark.data.content import Content
from earmark.errors import InputError

COMPONENTS = 8
"""How many principal components of content count at most."""

FACTORS = 6
"""How many effects a query has at most for how alike its documents are."""

_SAME = 1e-9
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ItemContent:
    r"""What content says about the items of a collection.

    Attributes
    ----------
    closeness : ndarray of float, shape (items, 1 + components) or (items, 0)
        :math:`x_{i0}, x_{i1}, \dots`; nothing where no item is known together with its query.
    missing : ndarray of float, shape (items,), 0 or 1
        Whether the document has no content.
    factors : tuple of ndarray of float, shapes (items of the query, factors of the query)
        :math:`f_{ic}`, one array per query.
    rest : ndarray of float, shape (items,), 0..1
        What factors leave of an item's variance.
    """

    closeness: Floats
    missing: Floats
    factors: tuple[Floats, ...]
    rest: Floats

    @property
    def slopes(self) -> Floats:
        """The closenesses, weighted as in the kernel of the component ``content``; same shape."""
        weight = np.full(self.closeness.shape[1], 0.5 / max(self.closeness.shape[1] - 1, 1))
        weight[:1] = 0.5
        return np.asarray(self.closeness * np.sqrt(weight))

    @property
    def tells_likeness(self) -> bool:
        """Whether any query has two documents that could be alike."""
        return any(columns.shape[1] for columns in self.factors)


def item_content(collection: Collection, content: Content) -> ItemContent:
    """Work out what content says about the items of a collection.

    Parameters
    ----------
    collection : Collection
    content : Content
        Of its documents and queries, as far as it is known; what else it describes does not matter.
    """
    ids = (*collection.documents, *collection.queries)
    rows = np.array([content.row_of.get(one, -1) for one in ids], dtype=np.int64)
    known = rows >= 0
    # A query that was retrieved for another query is one document, not two.
    described, place = np.unique(rows[known], return_inverse=True)
    found = principal_scores(content.values[described])
    scores = np.zeros((len(ids), found.shape[1]))
    scores[known] = found[place]
    document, query = collection.item_document, len(collection.documents) + collection.item_query
    factors, rest = _likeness(collection, scores[document], known[document])
    return ItemContent(
        _closeness(scores[query] - scores[document], known[query] & known[document]),
        (~known[document]).astype(np.float64),
        factors,
        rest,
    )


def count_known(collection: Collection, content: Content) -> tuple[int, int]:
    """Count the documents and the queries of a collection that have content.

    Raises
    ------
    InputError
        If no document has: ids that do not match are nearly always those of another collection.
    """
    documents, queries = (
        sum(one in content.row_of for one in ids) for ids in (collection.documents, collection.queries)
    )
    if not documents:
        raise InputError(
            expected="content of some of the documents that were retrieved",
            got=f"content of none of them; they are named like '{collection.documents[0]}'",
            hint=f"in the content, documents are named like '{content.documents[0]}'",
        )
    return documents, queries


def principal_scores(values: Floats) -> Floats:
    """Return the first principal components of standardised columns, shape (rows, components), in their own units.

    Distances between rows are those of the standardised columns, as far as so few components hold them. Columns that
    are the same in all rows drop out; where nothing else is left, there is no component.

    Parameters
    ----------
    values : ndarray of float, shape (rows, columns)
    """
    if not len(values):
        return np.zeros((0, 0))
    # Numbers so large that their squares would overflow are as good in another unit.
    sized = values / np.maximum(np.abs(values).max(axis=0), np.finfo(np.float64).tiny)
    apart = sized - sized.mean(axis=0)
    deviation = apart.std(axis=0)
    varies = deviation > _SAME
    standard = apart[:, varies] / deviation[varies]
    n_rows, n_columns = standard.shape
    # The smaller of the two tables of products has the same eigenvalues.
    if n_columns <= n_rows:
        variance, axes = np.linalg.eigh(standard.T @ standard)
        scores = standard @ axes
    else:
        variance, axes = np.linalg.eigh(standard @ standard.T)
        scores = axes * np.sqrt(np.maximum(variance, 0.0))
    largest = np.argsort(-variance, kind="stable")[:COMPONENTS]
    return np.asarray(scores[:, largest[variance[largest] > _SAME * variance.sum()]])


def _closeness(apart: Floats, both: Bools) -> Floats:
    """Return the standardised closenesses of items to their queries, 0 where one of the two is not known."""
    if not both.any() or not apart.shape[1]:
        return np.zeros((both.size, 0))
    closeness = -np.column_stack((np.sqrt((apart**2).sum(axis=1)), np.abs(apart)))
    here = closeness[both] - closeness[both].mean(axis=0)
    deviation = here.std(axis=0)
    standard = np.zeros_like(closeness)
    standard[both] = np.where(deviation > _SAME, here / np.maximum(deviation, _SAME), 0.0)
    return standard


def _likeness(collection: Collection, scores: Floats, known: Bools) -> tuple[tuple[Floats, ...], Floats]:
    """Return the factors of the kernel within every query, and what they leave of the variance of every item."""
    retrieved = np.zeros((collection.n_items, len(collection.systems)))
    retrieved[collection.result_item, collection.result_system] = 1.0
    offsets = np.searchsorted(collection.item_query, np.arange(len(collection.queries) + 1))
    within = [int(first) + np.flatnonzero(known[first:last]) for first, last in pairwise(offsets)]
    squared = [_squared_distances(scores[items]) for items in within]
    length = _usual_distance(squared)
    kernels = [
        _apart_from(retrieved[items], np.exp(-0.5 * apart / length**2))
        for items, apart in zip(within, squared, strict=True)
    ]
    largest = max((float(np.diagonal(kernel).max(initial=0.0)) for kernel in kernels), default=0.0)
    factors, rest = [], np.ones(known.size)
    for items, kernel, (first, last) in zip(within, kernels, pairwise(offsets), strict=True):
        found = _low_rank(kernel / largest) if largest > _SAME and items.size else np.zeros((items.size, 0))
        rest[items] = np.maximum(1.0 - (found**2).sum(axis=1), 0.0)
        columns = np.zeros((int(last - first), found.shape[1]))
        columns[items - first] = found
        factors.append(columns)
    return tuple(factors), rest


def _squared_distances(scores: Floats) -> Floats:
    squares = (scores**2).sum(axis=1)
    distances: Floats = squares[:, None] + squares - 2.0 * scores @ scores.T
    # What rounding leaves of two equal rows is no distance.
    distances[distances < _ROUNDING * squares.max(initial=0.0)] = 0.0
    return distances


def _usual_distance(squared: list[Floats]) -> float:
    """Return the median distance of two documents of one query that are not the same; 1 where all are."""
    pairs = [one[np.triu_indices_from(one, 1)] for one in squared]
    distances = np.sqrt(np.concatenate(pairs)) if pairs else np.zeros(0)
    distances = distances[distances > 0]
    return float(np.median(distances)) if distances.size else 1.0


def _apart_from(retrieved: Floats, kernel: Floats) -> Floats:
    """Take out of a kernel what the query or its systems could explain.

    Parameters
    ----------
    retrieved : ndarray of float, shape (documents, systems), 0 or 1
        Who retrieved which document; every one was retrieved.
    kernel : ndarray of float, shape (documents, documents)
    """
    if not len(kernel):
        return kernel
    design = np.column_stack((np.ones(len(kernel)), retrieved / np.sqrt(retrieved.sum(axis=1, keepdims=True))))
    axes, sizes, _ = np.linalg.svd(design, full_matrices=False)
    explained = axes[:, sizes > _SAME * sizes[0]]
    left: Floats = kernel - explained @ (explained.T @ kernel)
    left -= (left @ explained) @ explained.T
    return left


def _low_rank(kernel: Floats) -> Floats:
    """Return the columns whose products are nearest to a kernel, shape (documents, columns)."""
    last = len(kernel) - 1
    # Only where documents have content: not every command has to load it.
    from scipy import linalg

    values, vectors = linalg.eigh(kernel, subset_by_index=[max(last - FACTORS + 1, 0), last])
    large = values > _SAME * len(kernel)
    columns: Floats = vectors[:, large] * np.sqrt(values[large])
    # Eigenvectors have no sign of their own; what is drawn of effects should not depend on which one came out.
    turn = np.sign(columns[np.argmax(np.abs(columns), axis=0), np.arange(columns.shape[1])])
    return np.asarray(columns * turn)
