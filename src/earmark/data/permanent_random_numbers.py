r"""Permanent random numbers: one number for every item, the same in any collection, on any machine, forever.

A sample whose probabilities are known needs random numbers that nobody can redraw. Here the number of an item is a
keyed hash of three things that never change, the seed of the campaign, the id of the query and the id of the document.
Nothing has to be stored: replaying a campaign, adding a system to it or judging on another machine finds the same
numbers, and items that two collections share are sampled in both or in neither. In survey sampling this is called
coordination by permanent random numbers [1]_.

The hash is BLAKE2b [2]_ with a digest of 64 bits, keyed by a digest of the seed. Ids go in as UTF-8, each after its
length, so that ("ab", "c") and ("a", "bc") are different items. The upper 52 bits of the digest, taken as a
little-endian integer, become a number strictly between 0 and 1.

References
----------
.. [1] E. Ohlsson (1995). Coordination of samples using permanent random numbers. In: Business Survey Methods, Wiley,
   153-169.
.. [2] J.-P. Aumasson, S. Neves, Z. Wilcox-O'Hearn, C. Winnerlein (2013). BLAKE2: simpler, smaller, fast as MD5. ACNS,
   Lecture Notes in Computer Science 7954, 119-135.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.errors import ParameterError

FOLDS = 5
"""Into how many folds items are dealt: predictions learn from four fifths of the judgments."""

_DIGEST_BYTES = 8
# A number needs one bit less than the 53 of a double: half a step is added to keep it from being 0 or 1.
_DROPPED_BITS, _STEP = 12, 2.0**-52


def permanent_numbers(
    queries: Sequence[str], documents: Sequence[str] | None = None, *, seed: int, purpose: str = ""
) -> Floats:
    """Return the permanent random number of every item, or of every query.

    Parameters
    ----------
    queries : sequence of str, length n
        The query of every item.
    documents : sequence of str, length n, optional
        The document of every item; without it, numbers are those of the queries themselves.
    seed : int
        The seed of the campaign; every seed gives other numbers.
    purpose : str
        Numbers for another purpose than sampling are independent of those that decide what is sampled.

    Returns
    -------
    ndarray of float, shape (n,), above 0 and below 1

    Examples
    --------
    >>> permanent_numbers(["q1", "q1", "q2"], ["d1", "d2", "d1"], seed=1).round(4).tolist()
    [0.2609, 0.2432, 0.9202]
    >>> permanent_numbers(["q2", "q1"], ["d1", "d1"], seed=1).round(4).tolist()
    [0.9202, 0.2609]
    """
    if documents is not None and len(documents) != len(queries):
        raise ParameterError(f"expected a document for each of {len(queries)} queries, got {len(documents)}")
    key = hashlib.blake2b(f"{int(seed)}{purpose}".encode(), digest_size=32).digest()
    begun = {query: _hash(key, query) for query in dict.fromkeys(queries)}
    if documents is None:
        digests = [begun[query].digest() for query in queries]
    else:
        digests = []
        for query, document in zip(queries, documents, strict=True):
            hashed = begun[query].copy()
            hashed.update(_framed(document))
            digests.append(hashed.digest())
    bits = np.frombuffer(b"".join(digests), dtype="<u8") >> np.uint64(_DROPPED_BITS)
    return (bits.astype(np.float64) + 0.5) * _STEP


def item_numbers(collection: Collection, *, seed: int, purpose: str = "") -> Floats:
    """Return the permanent random number of every item of a collection, shape (items,)."""
    items = collection.item_frame()
    return permanent_numbers(items["query"].to_list(), items["document"].to_list(), seed=seed, purpose=purpose)


def item_folds(collection: Collection, *, seed: int, folds: int = FOLDS, purpose: str = "fold") -> Ints:
    """Deal the items of a collection into folds for cross-fitting, shape (items,), 0..folds - 1.

    The fold of an item depends on the seed and the ids of its query and document alone, and not on whether the item is
    sampled: its number is another one than the sample's.
    """
    return np.asarray(item_numbers(collection, seed=seed, purpose=purpose) * folds, dtype=np.int64)


def query_numbers(collection: Collection, *, seed: int) -> Floats:
    """Return the permanent random number of every query of a collection, shape (queries,)."""
    return permanent_numbers(collection.queries, seed=seed)


def _hash(key: bytes, query: str) -> hashlib.blake2b:
    return hashlib.blake2b(_framed(query), digest_size=_DIGEST_BYTES, key=key)


def _framed(text: str) -> bytes:
    """Return a text after its length, so that no two sequences of texts run together to the same bytes."""
    # Ids read from files that are not UTF-8 may hold lone surrogates; they are ids like any other.
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "little") + encoded
