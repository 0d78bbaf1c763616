"""Random runs and judgments with what goes wrong in practice: ties, gaps, unjudged and unpooled documents."""

from __future__ import annotations

from hypothesis import strategies as st

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]

documents = st.sampled_from([f"d{i}" for i in range(12)])
queries = st.sampled_from([f"q{i}" for i in range(5)])
# Few distinct scores make ties likely; the close pair is equal as 32-bit floats only.
scores = st.sampled_from([0.0, -1.5, 1.0, 1.0 + 1e-9, 2.0, 3.25, 1e6])


def runs(min_size: int = 1) -> st.SearchStrategy[Run]:
    return st.dictionaries(
        queries, st.dictionaries(documents, scores, min_size=1, max_size=12), min_size=min_size, max_size=5
    )


def qrels(top: int = 3, *, unjudged: bool = False) -> st.SearchStrategy[Qrels]:
    return st.dictionaries(
        queries,
        st.dictionaries(documents, st.integers(-1 if unjudged else 0, top), min_size=1, max_size=12),
        min_size=1,
        max_size=5,
    )
