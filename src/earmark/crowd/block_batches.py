"""Many small dense systems solved together: blocks of similar size are stacked into one array of matrices.

Queries have graphs of compared documents of their own. One at a time, thousands of them cost more in overhead than in
arithmetic; all in one sparse matrix, the covariances of documents would be out of reach. So blocks are sorted by size,
and those that differ little are padded to the largest of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from earmark.data.arrays import Floats, Ints

# Numbers in the largest stack of matrices (64 MB), unless a single block is larger.
_STACK = 1 << 23
# Blocks are stacked with others of up to this many times their size.
_WASTE = 1.25


@dataclass(frozen=True, eq=False)
class Stack:
    """Blocks of similar size, laid out as one array of matrices of shape (depth, width, width).

    Attributes
    ----------
    items, row : ndarray of int, shape (items of the stack,)
        The items, ascending, and where each stands in the stack: block · width + place.
    edges, row_i, row_j : ndarray of int, shape (edges of the stack,)
        The edges within these blocks, and where the items of each stand.
    sizes : ndarray of int, shape (depth,)
        How many places of each block are items; the others are padding.
    depth, width : int
        How many blocks there are, and how many places each has.
    """

    items: Ints
    row: Ints
    edges: Ints
    row_i: Ints
    row_j: Ints
    sizes: Ints
    depth: int
    width: int

    @property
    def cell(self) -> Ints:
        """Where the entry of the two items of every edge stands among those of all matrices."""
        return self.row_i * self.width + self.row_j % self.width

    @property
    def is_item(self) -> NDArray[np.bool_]:
        """Which places are items, shape (depth, width)."""
        return np.arange(self.width) < self.sizes[:, None]

    def laplacian(self, weight: Floats) -> Floats:
        """Return the weighted graph Laplacian of every block from the weights of all edges."""
        i, j, w = self.row_i, self.row_j, weight[self.edges]
        cells = [i * self.width + i % self.width, j * self.width + j % self.width, self.cell]
        cells.append(j * self.width + i % self.width)
        size = self.depth * self.width**2
        filled = np.bincount(np.concatenate(cells), weights=np.concatenate([w, w, -w, -w]), minlength=size)
        return filled.astype(np.float64).reshape(self.depth, self.width, self.width)

    def matrices(self, entries: sparse.coo_array) -> Floats:
        """Lay the entries of a block-diagonal matrix of all items out in the stack, shape (depth, width, width)."""
        place = np.full(entries.shape[0], -1, dtype=np.int64)
        place[self.items] = self.row
        row, column = place[entries.coords[0]], place[entries.coords[1]]
        here = row >= 0
        laid = np.zeros(self.depth * self.width**2)
        laid[row[here] * self.width + column[here] % self.width] = entries.data[here]
        return laid.reshape(self.depth, self.width, self.width)

    def spread(self, values: Floats) -> Floats:
        """Lay values of all items out in the stack, 0 where there is padding; shape (depth, width)."""
        laid = np.zeros(self.depth * self.width)
        laid[self.row] = values[self.items]
        return laid.reshape(self.depth, self.width)


def make_stacks(block: Ints, i: Ints, j: Ints) -> list[Stack]:
    """Stack blocks of similar size.

    Parameters
    ----------
    block : ndarray of int, shape (items,)
        The block of every item, ascending from 0 without gaps.
    i, j : ndarray of int, shape (edges,)
        The two items of every edge, of the same block.
    """
    sizes = np.bincount(block)
    start = np.cumsum(sizes) - sizes
    stack_of = _choose_stacks(sizes)
    of_edge = stack_of[block[i]]
    edges_in_order = np.argsort(of_edge, kind="stable")
    ends = np.searchsorted(of_edge[edges_in_order], np.arange(int(stack_of.max(initial=-1)) + 2))
    stacks = []
    for number in range(ends.size - 1):
        blocks = np.flatnonzero(stack_of == number)
        here = sizes[blocks]
        width = int(here.max())
        depth = np.repeat(np.arange(blocks.size), here)
        place = np.arange(depth.size) - np.repeat(np.cumsum(here) - here, here)
        items, row = np.repeat(start[blocks], here) + place, depth * width + place
        edges = edges_in_order[ends[number] : ends[number + 1]]
        row_i, row_j = (row[np.searchsorted(items, end[edges])] for end in (i, j))
        stacks.append(Stack(items, row, edges, row_i, row_j, here, blocks.size, width))
    return stacks


def _choose_stacks(sizes: Ints) -> Ints:
    """Return the stack of every block; a new one begins where blocks, or the stack itself, get too large."""
    stack_of = np.zeros(sizes.size, dtype=np.int64)
    number, smallest, count = -1, 0, 0
    for place in np.argsort(sizes, kind="stable").tolist():
        size = int(sizes[place])
        if number < 0 or size > _WASTE * smallest or (count + 1) * size**2 > _STACK:
            number, smallest, count = number + 1, size, 0
        count += 1
        stack_of[place] = number
    return stack_of
