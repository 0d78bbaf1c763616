r"""Samples that were drawn elsewhere: every judged item was drawn, with a probability that is known.

An order of one's own (:class:`~earmark.inference.sampling_design.SampleOrder`) is not the only way to a guarantee. Who
drew the judged items at random by other means knows the probability :math:`\pi_i` with which every item could be drawn,
and the difference estimator needs no more. Its variance is that of independent draws. For a simple random sample of
:math:`n` of :math:`N` items, :math:`\pi_i = n / N`, it is too large by the square of the mean error, which cannot make
intervals too narrow; for items drawn in clusters, such as whole queries, it is far too small.

So the claim is tested. The items of a query, of a system, those of a best rank and those that as many systems retrieved
are groups of which a known number of items is expected to be drawn. With :math:`n_g` items and the mean probability
:math:`\bar\pi_g`, the number of drawn ones varies less than a binomial one [1]_; where any of them is too far off, by
both tails of the binomial distribution and Bonferroni's correction, the judgments are no such sample.

References
----------
.. [1] W. Hoeffding (1956). On the distribution of the number of successes in independent trials. Annals of
   Mathematical Statistics 27(3), 713-721.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from earmark.data.arrays import Bools, Floats, Ints
from earmark.data.collection import Collection
from earmark.data.permanent_random_numbers import item_numbers
from earmark.errors import ParameterError
from earmark.inference.sampling_design import DrawnItems

IMPLAUSIBLE = 1e-3
"""Below this p-value, judgments were not drawn as it is claimed."""


@dataclass(frozen=True, eq=False)
class DrawnElsewhere:
    """Judged items as a sample that somebody drew.

    Parameters
    ----------
    collection : Collection
    probability : ndarray of float, shape (items,), above 0 to 1, optional
        With which every item was to be drawn, independently of the others; without, the judged items are a simple
        random sample of all items.

    Examples
    --------
    >>> import earmark
    >>> made = earmark.synthetic_collection(np.random.default_rng(0), systems=3, queries=20, documents=200)
    >>> collection = Collection.from_runs(made.runs)
    >>> judged = np.random.default_rng(1).permutation(collection.n_items) < 60
    >>> drawn = DrawnElsewhere(collection).drawn(judged)
    >>> drawn.n, float(drawn.inclusion[0]) == 60 / collection.n_items
    (60, True)
    """

    collection: Collection
    probability: Floats | None = None

    def __post_init__(self) -> None:
        known = self.probability
        if known is not None and not (known.shape == (self.collection.n_items,) and np.all((known > 0) & (known <= 1))):
            raise ParameterError("expected a probability above 0 and up to 1 for every item of a sample")

    @property
    def n_needed(self) -> int:
        """How many items there are to draw from."""
        return self.collection.n_items

    @property
    def reachable(self) -> Bools:
        """Which items could be drawn: all."""
        return np.ones(self.n_needed, dtype=bool)

    @cached_property
    def order(self) -> Ints:
        """An order in which further items may be drawn, shape (items,)."""
        numbers = item_numbers(self.collection, seed=0)
        return np.argsort(numbers if self.probability is None else numbers / self.probability).astype(np.int64)

    def count(self, judged: Bools) -> int:
        """Return the size of the sample."""
        return int(np.count_nonzero(judged))

    def drawn(self, judged: Bools) -> DrawnItems:
        """Return the judged items as a sample.

        Raises
        ------
        ParameterError
            If they are hardly one: far too many or too few items of some query, system or rank are judged.
        """
        inclusion = np.full(judged.size, judged.mean()) if self.probability is None else self.probability
        skipped = np.flatnonzero(~judged & (inclusion == 1))
        if skipped.size:
            query, document = self.collection.item_frame().select("query", "document").row(int(skipped[0]))
            raise ParameterError(
                f"{skipped.size} items have probability 1 in --sample and are not judged, the first is query "
                f"'{query}', document '{document}': judge them, or correct the file"
            )
        self._refuse_uneven(judged, inclusion)
        return DrawnItems(judged, inclusion)

    def too_few(self, judged: Bools, needed: int) -> str:
        """Say that the sample is too small, and what to do."""
        return (
            f"a guarantee needs at least {needed} sampled judgments, there are {self.count(judged)}. Draw more, or "
            "trust the model: --inference model"
        )

    def _refuse_uneven(self, judged: Bools, inclusion: Floats) -> None:
        groups = [(name, *_tails(group, judged, inclusion)) for name, group in self._groups()]
        tested = sum(p.size for _, p, _, _ in groups)
        name, p, count, expected = min(groups, key=lambda group: float(group[1].min()))
        worst = int(np.argmin(p))
        if float(p[worst]) * tested >= IMPLAUSIBLE:
            return
        what = {
            "query": lambda: f"of the query '{self.collection.queries[worst]}'",
            "system": lambda: f"of the system '{self.collection.systems[worst]}'",
            "rank": lambda: f"whose best rank is {worst + 1}",
            "retrieved": lambda: f"that {worst + 1} of the systems retrieved",
        }[name]()
        raise ParameterError(
            f"the judged items are not the sample that --sample describes: among the items {what}, {count[worst]:.0f} "
            f"are judged where {expected[worst]:.3g} are expected. Only items that were drawn one by one, at random "
            "and whatever they are, carry a guarantee; otherwise trust the model: --inference model"
        )

    def _groups(self) -> Iterator[tuple[str, tuple[Ints, Ints, int]]]:
        """Yield groups of items: what they share, and items, groups and the number of groups."""
        collection = self.collection
        items = np.arange(collection.n_items)
        best = np.full(collection.n_items, np.iinfo(np.int64).max)
        np.minimum.at(best, collection.result_item, collection.result_rank)
        retrieved = np.bincount(collection.result_item, minlength=collection.n_items)
        yield "query", (items, collection.item_query, len(collection.queries))
        yield "system", (collection.result_item, collection.result_system, len(collection.systems))
        yield "rank", (items, best - 1, int(best.max()))
        yield "retrieved", (items, retrieved - 1, int(retrieved.max()))


def _tails(members: tuple[Ints, Ints, int], judged: Bools, inclusion: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the two-sided p-value, the number of judged items and the expected one of every group."""
    item, group, n_groups = members
    size = np.bincount(group, minlength=n_groups).astype(np.float64)
    count = np.bincount(group, judged[item].astype(np.float64), minlength=n_groups).astype(np.float64)
    expected = np.bincount(group, inclusion[item], minlength=n_groups).astype(np.float64)
    share = np.divide(expected, size, out=np.full(n_groups, 0.5), where=size > 0)
    share = np.clip(share, 0.0, 1.0)
    # The tails of the binomial distribution as incomplete beta functions, which 0 and all have no parameters for.
    low = np.where(count < size, special.betainc(np.maximum(size - count, 1.0), count + 1.0, 1.0 - share), 1.0)
    high = np.where(count > 0, special.betainc(np.maximum(count, 1.0), size - count + 1.0, share), 1.0)
    return np.minimum(1.0, 2.0 * np.minimum(low, high)), count, expected
