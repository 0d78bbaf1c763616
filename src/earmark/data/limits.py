"""How much of a file is read at most, so that a file that does not fit in memory is refused and nothing is killed.

A gzipped file may unpack to a thousand times its size. The limit is a third of the memory that is available: reading a
file takes two to three times its size for a moment. The environment variable ``EARMARK_MAX_BYTES`` sets another one.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from earmark.errors import InputError, ParameterError

VARIABLE = "EARMARK_MAX_BYTES"
_SHARE = 3
# Where nothing tells how much memory there is.
_UNKNOWN = 1 << 31
_MEMINFO = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


def max_bytes() -> int:
    """Return how many bytes a file may have, unpacked.

    Raises
    ------
    ParameterError
        If the environment variable holds no whole number above 0.
    """
    stated = os.environ.get(VARIABLE, "").strip()
    if not stated:
        return max(1, available_memory() // _SHARE)
    if not stated.isdecimal() or int(stated) < 1:
        raise ParameterError(f"{VARIABLE} is a whole number of bytes above 0, got '{stated}'")
    return int(stated)


def parse_bytes(text: str) -> int:
    """Read an amount of memory such as ``4GB``, ``500 MB`` or ``2.5GiB``.

    Examples
    --------
    >>> parse_bytes("1.5 GB"), parse_bytes("1GiB"), parse_bytes("4096")
    (1500000000, 1073741824, 4096)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text.strip(), flags=re.IGNORECASE)
    size = int(float(found[1]) * (1024 if found[3] else 1000) ** "bkmgt".index(found[2].lower() or "b")) if found else 0
    if size < 1:
        raise ParameterError(f"expected an amount of memory such as 4GB or 500MB, got '{text}'")
    return size


def available_memory() -> int:
    """Return how many bytes of memory are free to use, for this machine and for the container it may be."""
    found = [_free_memory(), _left_in_container()]
    return min((one for one in found if one is not None), default=_UNKNOWN)


def too_large(path: Path, limit: int) -> InputError:
    """Build the error for a file that holds more than the limit."""
    return InputError(
        expected=f"a file of at most {_in_words(limit)}, unpacked",
        got="more",
        path=path,
        hint=f"that is what memory allows; the environment variable {VARIABLE} sets another limit in bytes",
    )


def _in_words(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size:,} bytes"


def _free_memory() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            name, _, amount = line.partition(":")
            if name == "MemAvailable":
                return int(amount.split()[0]) * 1024
        return None
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _left_in_container() -> int | None:
    try:
        most, used = (int((_GROUP / name).read_text()) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):
        # No container, or one without a limit, whose file says "max".
        return None
    return max(most - used, 0)
