"""Text files as people have them: gzipped or not, in any encoding, with or without a byte-order mark.

Only a newline ends a line, and white space is ASCII's: other characters that Unicode counts as line ends or as
spaces may stand in an id. Whatever cannot be opened, unpacked or decoded is an :class:`~earmark.errors.InputError`
that names the file and, where there is one, the line.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tokenize import TokenError
from typing import BinaryIO, cast

import numpy as np

from earmark.data.claims import refuse_output
from earmark.data.limits import max_bytes, too_large

# Whoever reads files mostly writes some too.
from earmark.data.outputs import replacing as replacing
from earmark.errors import InputError

BLANKS = " \t\r\v\f"
_WHITE_SPACE = re.compile(f"[{BLANKS}]+")
_MARK = "\ufeff"
_GZIPPED = b"\x1f\x8b"
_NUMPY = b"\x93NUMPY"
# How sound files and archives start; their first bytes may well be ASCII. A NUL alone could be part of an id.
_BINARY = (b"RIFF", b"FORM", b"OggS", b"fLaC", b"ID3", b"PK")
# How files of ranx, pytrec_eval, MTEB and Elasticsearch start; ids may start with a bracket, too, but not so.
_JSON = re.compile(rb'\s*(\{\s*("|\}|\Z)|\[\s*([\[{"\]]|\Z))')
_HEAD_BYTES = 1 << 16
# With it, zlib reads the header of gzip and checks the sum at the end.
_GZIP_BITS = 31
# No byte of packed data stands for more bytes than this.
_MOST_RATIO = 1032
_PROBE_BYTES = 1 << 20
_PIECE_BYTES = 1 << 16
_BLOCK_BYTES = 1 << 22
# A file without line ends is no text, and its one line would fill the memory.
_LONGEST_LINE = 1 << 28
_WIDE = ("utf-16", "utf-32")
# Encodings of the names of hosts, which are no lines of text.
_OF_HOST_NAMES = ("idna", "punycode")


@contextmanager
def reading_array(path: Path, *, hint: str | None = None) -> Iterator[None]:
    """Turn what NumPy says about a file that is no array, or a damaged one, into our error.

    The header of an array is read as Python, so that a damaged one may raise whatever Python raises about its syntax,
    and the size that it states may be beyond any memory.
    """
    try:
        with np.errstate(over="ignore"):
            yield
    except (ValueError, EOFError, SyntaxError, TokenError, TypeError, OverflowError, MemoryError) as error:
        said = str(error).splitlines()[0] if isinstance(error, ValueError | EOFError) and str(error) else ""
        got = said if said and " object at 0x" not in said else "a damaged header"
        raise InputError(expected="a NumPy array of numbers", got=got, path=path, hint=hint) from None


@contextmanager
def saying_why_not(path: Path) -> Iterator[None]:
    """Turn the failures of opening, reading and unpacking a file into our error."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(expected="a file", got="nothing there", path=path) from None
    except IsADirectoryError:
        raise InputError(expected="a file", got="a directory", path=path) from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(expected="a readable file", got=str(error), path=path) from None


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading, unpacking it where it is gzipped."""
    refuse_output(path)
    with saying_why_not(path), path.open("rb") as file:
        packed = file.read(len(_GZIPPED)) == _GZIPPED
        file.seek(0)
        if packed:
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast(BinaryIO, unpacked)
        else:
            yield file


def is_packed(path: Path) -> bool:
    """Tell whether a file is gzipped."""
    with saying_why_not(path), path.open("rb") as file:
        return file.read(len(_GZIPPED)) == _GZIPPED


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacking it where it is gzipped.

    Raises
    ------
    InputError
        If it cannot be read, or holds more than :func:`~earmark.data.limits.max_bytes`.
    """
    refuse_output(path)
    with saying_why_not(path):
        limit = max_bytes()
        if path.stat().st_size > limit:
            raise too_large(path, limit)
        data = path.read_bytes()
        return _unpacked(data, limit, path) if data.startswith(_GZIPPED) else data


def _unpacked(data: bytes, limit: int, path: Path) -> bytes:
    """Unpack all members of a gzipped file, up to a limit."""
    if _may_exceed(data, limit) and _unpacked_size(data, limit) > limit:
        raise too_large(path, limit)
    parts: list[bytes] = []
    left = limit
    while data.startswith(_GZIPPED):
        member = zlib.decompressobj(wbits=_GZIP_BITS)
        parts.append(member.decompress(data, left + 1))
        left -= len(parts[-1])
        if left < 0:
            raise too_large(path, limit)
        if not member.eof:
            raise EOFError("the compressed file ended before its end was marked")
        # Zeros fill up the end of some files.
        data = member.unused_data.lstrip(b"\0")
    if data:
        raise gzip.BadGzipFile("not a gzipped file to its end")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _may_exceed(data: bytes, limit: int) -> bool:
    """Tell whether packed data could hold more than the limit, as far as its start tells."""
    if len(data) * _MOST_RATIO <= limit:
        return False
    start = data[:_PROBE_BYTES]
    return _unpacked_size(start, limit) * len(data) > limit * len(start)


def _unpacked_size(data: bytes, limit: int) -> int:
    """Count what packed data holds, until it is more than the limit, without keeping it."""
    total, member = 0, zlib.decompressobj(wbits=_GZIP_BITS)
    with suppress(zlib.error):
        # In pieces, since zlib copies all that it has not unpacked yet. What is broken is found when it is read.
        for start in range(0, len(data), _PIECE_BYTES):
            piece = data[start : start + _PIECE_BYTES]
            while piece and total <= limit:
                total += len(member.decompress(piece, _BLOCK_BYTES))
                piece = member.unconsumed_tail
                if member.eof:
                    piece = member.unused_data.lstrip(b"\0")
                    member = zlib.decompressobj(wbits=_GZIP_BITS)
    return total


def codec_name(encoding: str, path: Path) -> str:
    """Return the name that all spellings of an encoding share; refuse one that is unknown or not for text."""
    if not is_text_encoding(encoding):
        raise InputError(expected="a known encoding", got=f"'{encoding}'", path=path)
    return codecs.lookup(encoding).name


def is_text_encoding(name: str) -> bool:
    """Tell whether an encoding exists, is of text and not of bytes or host names, and takes letters there and back."""
    try:
        return "a\n".encode(name).decode(name) == "a\n" and codecs.lookup(name).name not in _OF_HOST_NAMES
    except (LookupError, ValueError):
        return False


def decode(data: bytes, encoding: str, path: Path) -> str:
    """Decode the bytes of a file, or name the line that cannot be; a byte-order mark is dropped."""
    codec = codec_name(encoding, path)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(codec).count("\n") + 1
        raise _undecodable(encoding, path, got=f"byte 0x{data[error.start]:02x}", line=line) from None
    return text.removeprefix(_MARK)


def _undecodable(encoding: str, path: Path, *, got: str, line: int | None = None) -> InputError:
    hint = "name the file's encoding, for example --encoding latin-1"
    return InputError(expected=f"text in {encoding}", got=got, path=path, line=line, hint=hint)


def to_utf8(data: bytes, encoding: str, path: Path) -> bytes:
    """Return the bytes of a file in UTF-8 and without a byte-order mark; UTF-8 itself is not checked."""
    if codec_name(encoding, path) == "utf-8":
        return data.removeprefix(codecs.BOM_UTF8)
    return decode(data, encoding, path).encode("utf-8")


def data_lines(path: Path, *, encoding: str, comments: bool) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold data, with their numbers from 1 and without their ends, one at a time.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str
        Its encoding.
    comments : bool
        Lines that start with ``#`` are comments and hold no data; blank lines never do.
    """
    codec = codec_name(encoding, path)
    with opened(path) as binary, io.TextIOWrapper(binary, encoding=codec, newline="\n") as file:
        _refuse_other_than_text(binary.read(_HEAD_BYTES), codec, path)
        binary.seek(0)
        limit = left = max_bytes()
        longest = min(limit, _LONGEST_LINE) + 1
        try:
            for number, line in enumerate(iter(lambda: file.readline(longest), ""), start=1):
                left -= len(line)
                if len(line) == longest:
                    got = f"one of more than {longest - 1:,} characters"
                    raise InputError(expected="lines of text", got=got, path=path, line=number)
                if left < 0:
                    raise too_large(path, limit)
                text = (line.removeprefix(_MARK) if number == 1 else line).rstrip("\r\n")
                if _holds_data(text, comments):
                    yield number, text
        except UnicodeError as error:
            # A text file decodes far ahead of the line it gives out, so only all of the file tells the line.
            decode(read_bytes(path), encoding, path)
            raise _undecodable(encoding, path, got=str(error)) from None


def block_lines(block: bytes, *, comments: bool) -> Iterator[tuple[int, str]]:
    """Yield the lines of a block of UTF-8 that hold data, as :func:`data_lines` does, counted from its start."""
    for number, line in enumerate(block.decode("utf-8").split("\n"), start=1):
        text = line.rstrip("\r")
        if _holds_data(text, comments):
            yield number, text


def _holds_data(line: str, comments: bool) -> bool:
    content = line.strip(BLANKS)
    return bool(content) and not (comments and content.startswith("#"))


def _refuse_other_than_text(head: bytes, codec: str, path: Path) -> None:
    """Refuse a file whose start shows that it holds no text, or no lines that we could tell apart."""
    if head.startswith(_NUMPY):
        how = "a matrix? earmark runs from-matrix makes runs of a .npy file"
        raise InputError(expected="a text file", got="a NumPy file", path=path, hint=how)
    if codec.startswith(_WIDE):
        return
    if _JSON.match(head):
        how = (
            "in Python: earmark.judgments_from_dict(json.load(open(FILE))), or earmark.runs_from_dict, which takes "
            "{system: {query: {document: score}}}"
        )
        raise InputError(expected="a table of text", got="JSON", path=path, hint=how)
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if 4 * max(even, odd) > len(head):
        how = f"name the file's encoding: --encoding utf-16-{'le' if odd > even else 'be'}"
        if not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise InputError(expected="a text file", got="text in another encoding", path=path, hint=how)
    if head.startswith(b"PK") and b"xl/" in head:
        how = "save the sheet as CSV or Parquet"
        raise InputError(expected="a text file", got="an Excel workbook", path=path, hint=how)
    if b"\0" in head and (head.startswith(_BINARY) or not _is_utf8(head)):
        wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        hint = "name the file's encoding: --encoding utf-16" if wide else None
        got = "text in another encoding" if wide else "binary data"
        raise InputError(expected="a text file", got=got, path=path, hint=hint)
    if b"\n" not in head and b"\r" in head.strip():
        how = "save the file again with other line endings"
        raise InputError(expected="lines that end in LF or CRLF", got="CR alone", path=path, hint=how)


def _is_utf8(head: bytes) -> bool:
    try:
        # What is cut off at the end is no mistake.
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def first_data_line(path: Path, *, encoding: str, comments: bool) -> tuple[int, str]:
    """Return the number and the text of the first line that holds data, to tell the format by.

    Raises
    ------
    InputError
        If there is none.
    """
    for line in data_lines(path, encoding=encoding, comments=comments):
        return line
    raise InputError(expected="lines of data", got="an empty file", path=path)


def words(line: str, *, cuts: int = 0) -> list[str]:
    """Cut a line at its white space, at the first ``cuts`` places only if that is not 0."""
    return _WHITE_SPACE.split(line.strip(BLANKS), maxsplit=cuts)


def require_file(path: str | os.PathLike[str]) -> Path:
    """Return the path if there is a file, else say so."""
    refuse_output(path)
    found = Path(path)
    if found.is_dir():
        raise InputError(expected="a file", got="a directory", path=path)
    if not found.exists():
        raise InputError(expected="a file", got="nothing there", path=path, hint="is the path spelt right?")
    if not found.is_file():
        # Telling the format means to start reading twice, which a pipe does not allow.
        raise InputError(expected="a file", got="a pipe or a device", path=path, hint="write it to a file first")
    return found
