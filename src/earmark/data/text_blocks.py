"""Text files in blocks of whole lines: several threads work on a file, and only a few blocks of it are in memory.

A block is some megabytes of UTF-8 that start at the start of a line and end at the end of one. What a file is packed or
encoded in is undone on the way.
"""

from __future__ import annotations

import codecs
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import BinaryIO, TypeVar

from earmark.data.files import codec_name, decode, is_packed, opened, read_bytes
from earmark.data.limits import too_large

BLOCK_BYTES = 1 << 23
WORKERS = 2
# How many blocks may be in memory for every thread that works on them: one in work, one waiting.
_AHEAD = 2
_LONGEST_GROUP = 200_000
# A file of so many blocks stays in one piece, as most runs do, whatever the order of its lines.
_UNCUT = 2
# How many bytes before its end mostly tell where to cut a block, and how many times as many are looked at else.
_LAST_BYTES = 1 << 16
_MORE_BYTES = 4

Cut = Callable[[bytes, int], int]
T = TypeVar("T")
R = TypeVar("R")


def line_blocks(
    path: Path,
    encoding: str = "utf-8",
    *,
    size: int | None = None,
    limit: int | None = None,
    cut: Cut = lambda _, end: end,
) -> Iterator[bytes]:
    """Yield the lines of a file as blocks of UTF-8, without a byte-order mark; UTF-8 itself is not checked.

    Parameters
    ----------
    path : Path
        The file, gzipped or not.
    encoding : str
        Its encoding.
    size : int, optional
        About how many bytes a block has; a block of one line may have more. `BLOCK_BYTES` where it is not given.
    limit : int, optional
        How many bytes the file may hold, unpacked.
    cut : callable
        Tells where to cut some lines, given a text and where in it they end; what is after that is the start of the
        next block. By default at their end.

    Raises
    ------
    InputError
        If the file cannot be read, unpacked or decoded, or is too large.
    """
    codec = codec_name(encoding, path)
    size = size or BLOCK_BYTES
    with opened(path) as file:
        if limit is not None and path.stat().st_size > limit:
            raise too_large(path, limit)
        if codec == "utf-8" and not is_packed(path):
            yield from _blocks_in_place(file, size, cut)
            return
        pieces = _pieces(file, size, path, limit)
        if codec != "utf-8":
            pieces = _recoded(pieces, codec, path)
        left, piece = b"", next(pieces, b"").removeprefix(codecs.BOM_UTF8)
        # What is at the end of the file is not cut, so a file of one block is one block.
        for after in pieces:
            block, left = _cut_off(left, piece, cut)
            piece = after
            if block:
                yield block
        if left or piece:
            yield left + piece


def _blocks_in_place(file: BinaryIO, size: int, cut: Cut) -> Iterator[bytes]:
    """Yield the blocks of a file that is read as it is: their ends are looked for first, so that no block is copied."""
    length = file.seek(0, os.SEEK_END)
    file.seek(0)
    start = len(codecs.BOM_UTF8) if file.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8 else 0
    while length > _UNCUT * size and start + size < length:
        end = _end_of_block(file, start, size, length, cut)
        file.seek(start)
        yield file.read(end - start)
        start = end
    file.seek(start)
    if rest := file.read():
        yield rest


def _end_of_block(file: BinaryIO, start: int, size: int, length: int, cut: Cut) -> int:
    """Return where to cut what starts at some byte: in its last lines, or else further back, or further on."""
    stop, seen = start + size, _LAST_BYTES
    while stop < length:
        first = max(start, stop - seen)
        file.seek(first)
        text = file.read(stop - first)
        end = cut(text, text.rfind(b"\n") + 1)
        # Unless it is the first of the block, the first line has no start here, so nothing is known about its group.
        if end > (0 if first == start else text.find(b"\n") + 1):
            return first + end
        if first == start:
            stop += size
        seen *= _MORE_BYTES
    return length


def _cut_off(left: bytes, piece: bytes, cut: Cut) -> tuple[bytes, bytes]:
    """Return the lines up to a cut, and what comes after it."""
    end = cut(piece, piece.rfind(b"\n") + 1)
    if end > piece.find(b"\n") + 1:
        # Megabytes are copied once, for memory that is new to the process is slow.
        return b"".join((left, memoryview(piece)[:end])), piece[end:]
    # What is left has the start of the first line, so only both together tell whether to cut after that.
    text = left + piece
    end = cut(text, text.rfind(b"\n") + 1)
    return text[:end], text[end:]


def before_last_group(text: bytes, last: int, cells: int, separator: bytes | None = None) -> int:
    """Return where the last lines start that share their first cells; 0 where all lines do.

    A group of very many lines is not looked for: the lines are then cut at their end.

    Parameters
    ----------
    text : bytes
        Whole lines, and perhaps more.
    last : int
        Where the lines end.
    cells : int
        How many cells have to be equal.
    separator : bytes, optional
        What stands between cells; any white space where it is not given.
    """
    end, group = last, None
    for _ in range(_LONGEST_GROUP):
        if not end:
            return 0
        start = text.rfind(b"\n", 0, end - 1) + 1
        key = text[start:end].split(separator, cells)[:cells]
        if len(key) == cells:
            if group is not None and key != group:
                return end
            group = key
        end = start
    return last


def _pieces(file: BinaryIO, size: int, path: Path, limit: int | None) -> Iterator[bytes]:
    total = 0
    while piece := file.read(size):
        total += len(piece)
        if limit is not None and total > limit:
            raise too_large(path, limit)
        yield piece


def _recoded(pieces: Iterable[bytes], codec: str, path: Path) -> Iterator[bytes]:
    """Decode a file piece by piece."""
    decoder = codecs.getincrementaldecoder(codec)()
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode("utf-8")
        yield decoder.decode(b"", final=True).encode("utf-8")
    except UnicodeDecodeError:
        # Only all of the file tells the line.
        decode(read_bytes(path), codec, path)
        raise


def in_threads(function: Callable[[T], R], items: Iterable[T], *, workers: int = WORKERS) -> Iterator[R]:
    """Apply a function to items in several threads, in order, taking only a few items ahead of what is asked for.

    The items are taken in the thread that asks for the results; with a single item no thread is started. What the
    function remarks is heard by whoever listens to that thread.
    """
    source = iter(items)
    first = next(source, None)
    if first is None:
        return
    second = next(source, None)
    if second is None:
        yield function(first)
        return
    with ThreadPoolExecutor(max_workers=workers) as pool:

        def submit(item: T) -> Future[R]:
            return pool.submit(copy_context().run, function, item)

        pending = deque((submit(first), submit(second)))
        for item in source:
            pending.append(submit(item))
            if len(pending) >= workers * _AHEAD:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
