"""The check: every original is opened and measured before anything is written, and all problems are told at once.

============  ===========================================================================================
problem       means
============  ===========================================================================================
missing       nothing was found for the id, or the file is not there
unreadable    no sound, picture or text that can be decoded, or no address of a link
empty         no sound, no bytes, no text but white space
too short     less than a tenth of a second
silent        the largest sample of the excerpt is below -60 dB, or its loudness below what can be measured
outside       the excerpt that a map asks for starts after the recording ends
several       two recordings of one id; which is to be played?
too peaked    peaks so far above its loudness that all clips would have to be more than 10 LU quieter
============  ===========================================================================================
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import polars as pl

from earmark.data.files import decode, read_bytes
from earmark.errors import InputError
from earmark.media.clips import ClipMeasurement, measure_clip
from earmark.media.kinds import AUDIO, LINK, PICTURES, TEXT
from earmark.media.originals import Media, Medium, Original, UnusableError
from earmark.media.pictures import check_picture
from earmark.media.settings import MOST_LOWERED, MediaSettings
from earmark.wording import counted

Progress = Callable[[int, int], None]
"""Called with how many files are done and how many there are."""

PROBLEMS = {"id": pl.String, "role": pl.String, "file": pl.String, "problem": pl.String, "detail": pl.String}
_NAMED = 3
# Every thread needs some 200 MB for excerpts of 30 seconds.
_MOST_WORKERS = 8
_READ = 1 << 20

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class MediaError(InputError):
    """Media that cannot be used.

    Attributes
    ----------
    problems : polars.DataFrame
        All of them: ``id``, ``role``, ``file``, ``problem`` in one word or two, ``detail``.
    """

    def __init__(self, problems: pl.DataFrame) -> None:
        self.problems = problems
        super().__init__(expected="media that can be played or shown for every id", got=_in_words(problems))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes whole."""
        return MediaError, (self.problems,)


@dataclass(frozen=True)
class Inspection:
    """What is known of an original that can be used.

    Attributes
    ----------
    sha256 : str
        Of the file, or of the text or address.
    content : str
        Equal for what looks or sounds the same: of recordings the samples of the excerpt, of others the bytes.
    clip : ClipMeasurement, optional
        Of recordings.
    text : str, optional
        Of texts.
    media_type : str, optional
        Of pictures, as they are served.
    """

    sha256: str
    content: str
    clip: ClipMeasurement | None = None
    text: str | None = None
    media_type: str | None = None


Inspections = dict[Original, Inspection]
Known = Callable[[Original, str], ClipMeasurement | None]
"""Given a recording and the hash of its file, what was measured before, if the file is the same."""


def check_media(
    media: Media,
    *,
    settings: MediaSettings | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
    known: Known | None = None,
) -> Inspections:
    """Open and measure every original.

    Parameters
    ----------
    media : Media
        What was found.
    settings : MediaSettings
        How it is to be prepared: which excerpt is measured, and how loud it is to be.
    progress : callable, optional
        Called with how many originals are done and how many there are.
    workers : int, optional
        How many threads; one for every core, and 8 at most, unless given.
    known : callable, optional
        What earlier measurements tell.

    Raises
    ------
    MediaError
        With a table of all problems.
    """
    chosen = settings or MediaSettings()
    originals = media.originals
    inspect = partial(_inspected, settings=chosen, encoding=media.encoding, known=known)
    results = dict(zip(originals, parallel(inspect, originals, progress=progress, workers=workers), strict=True))
    inspections = {original: result for original, result in results.items() if isinstance(result, Inspection)}
    wrong = {original: result for original, result in results.items() if isinstance(result, UnusableError)}
    wrong |= _too_peaked(inspections, chosen)
    problems = pl.DataFrame(
        [row for medium in media.media for row in _problems(medium, wrong)], schema=PROBLEMS, orient="row"
    )
    if problems.height:
        raise MediaError(problems)
    return inspections


def parallel(
    work: Callable[[_Given], _Made],
    given: Sequence[_Given],
    *,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Iterator[_Made]:
    """Work on all of a sequence in threads, in order; the sound library computes outside of Python's lock."""
    threads = min(workers or os.cpu_count() or 1, _MOST_WORKERS, max(len(given), 1))
    pool = ThreadPoolExecutor(threads)
    try:
        for done, made in enumerate(pool.map(work, given), start=1):
            if progress is not None:
                progress(done, len(given))
            yield made
    finally:
        # After a failure or an interruption, what has not begun need not begin.
        pool.shutdown(cancel_futures=True)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, a piece at a time."""
    told = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_READ):
            told.update(piece)
    return told.hexdigest()


def _inspected(
    original: Original, *, settings: MediaSettings, encoding: str, known: Known | None
) -> Inspection | UnusableError:
    """Inspect an original; a problem is a result like others, since all of them are listed."""
    try:
        return _inspect(original, settings, encoding, known)
    except UnusableError as error:
        return error
    except OSError as error:
        return UnusableError("unreadable", str(error.strerror or error))


def _inspect(original: Original, settings: MediaSettings, encoding: str, known: Known | None) -> Inspection:
    path = original.path
    if path is None or original.kind == LINK:
        if path is not None and not path.is_file():
            raise UnusableError("missing", "no such file")
        inspection = _inspect_words(original)
        return inspection if path is None else replace(inspection, sha256=file_hash(path))
    if not path.is_file():
        raise UnusableError("missing", "a folder" if path.is_dir() else "no such file")
    sha256 = file_hash(path)
    if original.kind == AUDIO:
        if not path.stat().st_size:
            raise UnusableError("empty", "a file of 0 bytes")
        clip = (known(original, sha256) if known is not None else None) or measure_clip(original, settings)
        return Inspection(sha256, clip.content, clip=clip)
    if original.kind in PICTURES:
        return Inspection(sha256, sha256, media_type=check_picture(path))
    try:
        text = decode(read_bytes(path), encoding, path)
    except InputError as error:
        raise UnusableError("unreadable", f"expected {error.expected}, got {error.got}") from None
    if not text.strip():
        raise UnusableError("empty", "no text in it")
    return Inspection(sha256, text_hash(text), text=text)


def _inspect_words(original: Original) -> Inspection:
    if original.kind == TEXT:
        text = original.text or ""
        return Inspection(text_hash(text), text_hash(text), text=text)
    address = original.url or ""
    try:
        parts = urlsplit(address)
        usable = parts.scheme.lower() in ("http", "https") and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable or any(character <= " " for character in address):
        raise UnusableError("unreadable", f"no address that starts with http:// or https://: '{address}'")
    return Inspection(text_hash(address), text_hash(address))


def text_hash(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _too_peaked(inspections: Mapping[Original, Inspection], settings: MediaSettings) -> dict[Original, UnusableError]:
    wrong = {}
    for original, inspection in inspections.items():
        if inspection.clip is None:
            continue
        highest = inspection.clip.highest_loudness(settings.peak)
        if highest < settings.loudness - MOST_LOWERED:
            wanted = f"{settings.loudness:g} LUFS"
            detail = (
                f"{highest:.1f} LUFS at most without clipping, {wanted} wanted (another excerpt, or a lower loudness)"
            )
            wrong[original] = UnusableError("too peaked", detail)
    return wrong


def _problems(medium: Medium, wrong: Mapping[Original, UnusableError]) -> Iterator[tuple[str, str, str, str, str]]:
    if not medium.originals:
        yield medium.id, medium.role, "", "missing", "no file of that name"
    for original in medium.originals:
        if (error := wrong.get(original)) is not None:
            yield medium.id, medium.role, original.name, error.problem, error.detail
    recordings = [original.name for original in medium.originals if original.kind == AUDIO]
    for name in recordings[1:]:
        yield medium.id, medium.role, name, "several", f"{recordings[0]} is a recording too"


def _in_words(problems: pl.DataFrame) -> str:
    """Name the first few problems of every kind, and how many there are."""
    said = [counted(problems.height, "problem")]
    for (problem,), rows in problems.group_by("problem", maintain_order=True):
        named = [_named(*row) for row in rows.select("id", "role", "file", "detail").head(_NAMED).iter_rows()]
        more = [f"and {rows.height - _NAMED:,} more"] if rows.height > _NAMED else []
        said.append(f"{rows.height:,} {problem} ({'; '.join(_unique([*named, *more]))})")
    return f"{said[0]}: {', '.join(said[1:])}"


def _named(name: str, role: str, file: str, detail: str) -> str:
    return f"{role} {name}: {Path(file).name}, {detail}" if file else f"{role} {name}"


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
