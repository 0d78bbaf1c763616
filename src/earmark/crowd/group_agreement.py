"""How far two partial orders of the same documents agree.

Two documents of a query are ordered, one way or the other, or share a group. Two partial orders agree on them if they
say the same; they *contradict* each other if they order them oppositely, which is worse than one of them not telling.
Only documents that both hold are compared.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import polars as pl

from earmark.data.display import Display, Summary, facts
from earmark.data.ground_truth import OrderedGroups
from earmark.wording import counted


@dataclass(frozen=True, repr=False)
class GroupAgreement(Display):
    """How far two partial orders agree, over all queries.

    Attributes
    ----------
    pairs : int
        Pairs of documents of a query that both hold.
    agreeing : int
        Pairs on which they say the same: ordered alike, or in one group.
    ordered_by_both : int
        Pairs that both order.
    opposite : int
        Pairs that they order oppositely.
    queries, equal_queries : int
        Queries that both hold, and those whose groups are the same.
    """

    pairs: int
    agreeing: int
    ordered_by_both: int
    opposite: int
    queries: int
    equal_queries: int

    @property
    def share(self) -> float | None:
        """The share of pairs on which they agree; None where there are none."""
        return self.agreeing / self.pairs if self.pairs else None

    @property
    def ordered_share(self) -> float | None:
        """Among pairs that both order, the share ordered alike; None where there are none."""
        return 1 - self.opposite / self.ordered_by_both if self.ordered_by_both else None

    def __str__(self) -> str:
        queries = f"{self.equal_queries:,} of {counted(self.queries, 'query', 'queries')} with the same groups"
        return (
            f"{self.agreeing:,} of {counted(self.pairs, 'pair')} of documents agree, {self.opposite:,} of "
            f"{self.ordered_by_both:,} ordered by both are opposite, {queries}"
        )

    def _summary(self) -> Summary:
        """Show the counts and shares."""
        return Summary(str(self), [facts(**asdict(self), share=self.share, ordered_share=self.ordered_share)])


def compare_groups(one: OrderedGroups, other: OrderedGroups) -> GroupAgreement:
    """Count where two partial orders agree.

    Examples
    --------
    >>> import polars as pl
    >>> def order(*groups: int) -> OrderedGroups:
    ...     return OrderedGroups(pl.DataFrame({"query": ["q"] * 3, "document": ["a", "b", "c"], "group": groups}))
    >>> print(compare_groups(order(1, 1, 2), order(1, 2, 1)))
    0 of 3 pairs of documents agree, 1 of 1 ordered by both are opposite, 0 of 1 query with the same groups
    """
    # Groups may be numbered with gaps; what counts is their order.
    dense = pl.col("group").rank("dense").over("query").cast(pl.Int64)
    both = one.frame.with_columns(group=dense).join(
        other.frame.with_columns(group=dense), on=["query", "document"], suffix="_other", maintain_order="left"
    )
    pairs = both.join(both, on="query", suffix="_second").filter(pl.col("document") < pl.col("document_second"))
    said = pairs.select(
        one=(pl.col("group") - pl.col("group_second")).sign(),
        other=(pl.col("group_other") - pl.col("group_other_second")).sign(),
    )
    unequal = set(pairs.filter(said["one"] != said["other"])["query"])
    queries = set(both["query"])
    held = [set(frame.select("query", "document").rows()) for frame in (one.frame, other.frame)]
    # A query of which one holds more documents than the other has other groups.
    unequal |= {query for query, _ in held[0] ^ held[1]} & queries
    ordered = said.filter((pl.col("one") != 0) & (pl.col("other") != 0))
    return GroupAgreement(
        pairs.height,
        int((said["one"] == said["other"]).sum()),
        ordered.height,
        int((ordered["one"] != ordered["other"]).sum()),
        len(queries),
        len(queries - unequal),
    )
