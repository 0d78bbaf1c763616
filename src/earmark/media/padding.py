"""Padding: all sounds of a campaign have the same size in bytes.

A sound of the same length as another has nearly, but not quite, its size. Whoever sees sizes could tell which clips are
the same, and a clip beside itself is a trap. So every file is filled up to one size with bytes that decoders skip:

======  ================================================================================================================
mp3     an ID3v2 tag in front, which ends with zeros
flac    a metadata block of the type PADDING after the first block
wav     a chunk ``JUNK`` before the chunk ``data``
======  ================================================================================================================

Padding is taken off before it is put on, so that a file can be filled up to another size later.

References
----------
ID3: M. Nilsson (1999). ID3 tag version 2.3.0. FLAC: RFC 9639 (2024), section 8.3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from earmark.data.files import replacing
from earmark.errors import ParameterError

LEAST = 64
"""A file is filled up with at least so many bytes."""
STEP = 4096
"""The common size of files is a multiple of this."""

# ID3v2 asks for one frame at least; this one names the program.
_FRAME = b"TENC" + struct.pack(">I", 8) + b"\0\0" + b"\0earmark"
_LARGEST_TAG = (1 << 28) - 1
_LARGEST_BLOCK = (1 << 24) - 1
_PADDING, _LAST = 1, 0x80


def common_size(sizes: list[int]) -> int:
    """Return the size that all of some files without padding are filled up to.

    Examples
    --------
    >>> common_size([1000, 5000])
    8192
    """
    return -(-(max(sizes) + LEAST) // STEP) * STEP


def size_without_padding(path: Path) -> int:
    """Return how many bytes of a sound file are no padding."""
    return len(without_padding(path.read_bytes(), path.suffix))


def pad_file(path: Path, size: int) -> None:
    """Fill a sound file up to a size, unless it has that size already."""
    if path.stat().st_size == size:
        return
    filled = with_padding(path.read_bytes(), path.suffix, size)
    with replacing(path, follow=False) as temporary:
        temporary.write_bytes(filled)


def with_padding(data: bytes, ending: str, size: int) -> bytes:
    """Return the bytes of a sound file filled up to a size; padding that it had is taken off first.

    Parameters
    ----------
    data : bytes
    ending : {".mp3", ".flac", ".wav"}
    size : int
        At least ``LEAST`` more than the file has without padding; even for wav.
    """
    plain = without_padding(data, ending)
    room = size - len(plain)
    if room < LEAST or (ending == ".wav" and room % 2):
        raise ParameterError(f"a file of {len(plain):,} bytes cannot be filled up to {size:,}")
    if ending == ".mp3":
        return _tag(room) + plain
    if ending == ".flac":
        return _with_blocks(plain, room)
    place = next(begin for name, begin, _ in _chunks(plain) if name == b"data")
    junk = b"JUNK" + struct.pack("<I", room - 8) + bytes(room - 8)
    return plain[:4] + struct.pack("<I", size - 8) + plain[8:place] + junk + plain[place:]


def without_padding(data: bytes, ending: str) -> bytes:
    """Return the bytes of a sound file without padding.

    Raises
    ------
    ParameterError
        If it is no file of its format.
    """
    try:
        return {".mp3": _without_tag, ".flac": _without_blocks, ".wav": _without_junk}[ending](data)
    except (KeyError, IndexError, struct.error):
        raise ParameterError(f"no {ending} file that can be filled up") from None


# ---- mp3 -------------------------------------------------------------------------------------------------------------


def _tag(room: int) -> bytes:
    length = room - 10
    if length > _LARGEST_TAG:
        raise ParameterError(f"a tag has at most {_LARGEST_TAG:,} bytes, {length:,} are missing")
    # Seven bits of the length in every byte, so that no byte looks like the start of a frame of sound.
    told = bytes((length >> shift) & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\x03\0\0" + told + _FRAME + bytes(length - len(_FRAME))


def _without_tag(data: bytes) -> bytes:
    if not data.startswith(b"ID3"):
        return data
    length = 0
    for byte in data[6:10]:
        length = length << 7 | byte
    return data[10 + length :]


# ---- flac ------------------------------------------------------------------------------------------------------------


def _blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the type and the content of every metadata block, then -1 and the frames of sound."""
    if data[:4] != b"fLaC":
        raise IndexError("no flac file")
    place, last = 4, False
    while not last:
        last, kind = bool(data[place] & _LAST), data[place] & ~_LAST
        length = int.from_bytes(data[place + 1 : place + 4], "big")
        yield kind, data[place + 4 : place + 4 + length]
        place += 4 + length
    yield -1, data[place:]


def _written(blocks: list[tuple[int, bytes]], sound: bytes) -> bytes:
    heads = [kind | (_LAST if number == len(blocks) - 1 else 0) for number, (kind, _) in enumerate(blocks)]
    told = [
        bytes([head]) + len(content).to_bytes(3, "big") + content
        for head, (_, content) in zip(heads, blocks, strict=True)
    ]
    return b"fLaC" + b"".join(told) + sound


def _with_blocks(data: bytes, room: int) -> bytes:
    *blocks, (_, sound) = _blocks(data)
    filling = []
    while room:
        length = min(room - 4, _LARGEST_BLOCK)
        if 0 < room - 4 - length < 4:
            # The next block would have no room for its head.
            length -= 4
        filling.append((_PADDING, bytes(length)))
        room -= 4 + length
    return _written([blocks[0], *filling, *blocks[1:]], sound)


def _without_blocks(data: bytes) -> bytes:
    *blocks, (_, sound) = _blocks(data)
    return _written([block for block in blocks if block[0] != _PADDING], sound)


# ---- wav -------------------------------------------------------------------------------------------------------------


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the name of every chunk, where it begins and where the next one does."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise IndexError("no wav file")
    place = 12
    while place + 8 <= len(data):
        (length,) = struct.unpack_from("<I", data, place + 4)
        after = min(place + 8 + length + length % 2, len(data))
        yield data[place : place + 4], place, after
        place = after


def _without_junk(data: bytes) -> bytes:
    kept = b"".join(data[begin:end] for name, begin, end in _chunks(data) if name != b"JUNK")
    return data[:4] + struct.pack("<I", len(kept) + 4) + data[8:12] + kept
