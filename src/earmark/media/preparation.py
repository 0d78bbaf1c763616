"""Preparation: from originals to what is served.

1. Every original is checked (:mod:`earmark.media.checks`); with any problem nothing is written.
2. The loudness of all clips is that of the settings, or lower if a clip would exceed the limit of peaks: people prefer
   what is louder, so a clip that cannot be as loud as the others lowers all.
3. Every original becomes a file in ``media``. Its name is a keyed hash of the id and of all the file depends on. So
   a name reveals nothing without the key, and a file that is there already need not be made again.
4. All sounds are filled up to the same number of bytes (:mod:`earmark.media.padding`).
5. The manifest is written, and files that it does not list are removed.

Queries that are heard beside themselves have a second recording, their twin: cut a few hundredths of a second later
and encoded by itself, so that the two files are as different as those of two songs.

While it goes on, every finished file is noted in a journal; a run that was interrupted continues from there.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from earmark.data.files import replacing
from earmark.errors import InputError, ParameterError
from earmark.media.checks import Inspection, Inspections, Known, MediaError, Progress, check_media, file_hash, parallel
from earmark.media.clips import ClipMeasurement, encode_clip, require_encoder
from earmark.media.kinds import AUDIO, PICTURES, TEXT
from earmark.media.manifest import (
    FILE,
    FOLDER,
    SERVED_NAME,
    Manifest,
    Served,
    ServedMedium,
    from_json,
    read_manifest,
    to_json,
)
from earmark.media.originals import DOCUMENT, QUERY, TWIN, Media, Medium, Original, UnusableError
from earmark.media.padding import common_size, pad_file, size_without_padding
from earmark.media.pictures import ending_of, has_pillow, write_picture
from earmark.media.settings import MEDIA_TYPES, MediaSettings
from earmark.wording import counted

VERSION = 2
"""Changes when what is made of the same original with the same settings changes."""
_JOURNAL = "journal.jsonl"
_SHORTEST_SECRET = 16
_LEAST_SHIFT, _MOST_SHIFT = 0.03, 0.12
_LEFT_BEHIND = re.compile(r"\.\d+-" + SERVED_NAME.pattern, flags=re.ASCII)


@dataclass(frozen=True)
class _Task:
    """One file to make: the name without its ending, of what, and how loud."""

    name: str
    original: Original
    inspection: Inspection
    loudness: float


def prepare_media(
    media: Media,
    folder: str | os.PathLike[str],
    *,
    secret: bytes,
    settings: MediaSettings | None = None,
    twins: Collection[str] = (),
    progress: Progress | None = None,
    workers: int | None = None,
) -> Manifest:
    """Check the media of a campaign and make what is served, in its folder ``media``.

    Parameters
    ----------
    media : Media
        What :func:`~earmark.media.reading.read_media` found.
    folder : path-like
        The folder of the campaign, which must exist.
    secret : bytes
        The key of the names, 16 bytes or more, which nobody but the organiser has.
    settings : MediaSettings
        Excerpt, loudness and format.
    twins : collection of str
        The queries that are heard beside themselves; those that are nothing but a sound get a second recording.
    progress : callable, optional
        Called with how many steps are done and how many there are: one to check an original, one to prepare it.
    workers : int, optional
        How many threads; one for every core, and 8 at most, unless given.

    Raises
    ------
    MediaError
        With a table of all problems; then nothing was written.
    """
    chosen = settings or MediaSettings()
    root = Path(folder)
    if len(secret) < _SHORTEST_SECRET:
        raise ParameterError(f"a secret has {_SHORTEST_SECRET} bytes or more, got {len(secret)}")
    if not root.is_dir():
        got = "a file" if root.exists() else "nothing there"
        raise InputError(expected="the folder of a campaign", got=got, path=root)
    first, expected = len(media.originals), _owned(media)
    total = first + len(expected) + 2 * len(doubled_queries(media, twins))
    before = _prepared_before(root)
    known = _measured_before(before, chosen)
    check = partial(check_media, settings=chosen, workers=workers, known=known)
    inspections = check(media, progress=_shifted(progress, 0, total))
    second = _twins(media, twins, inspections, secret)
    try:
        inspections |= check(second, progress=_shifted(progress, first, total))
    except MediaError as error:
        # The beginning of a song may be silent.
        second = _twins(media, twins, inspections, secret, whole=set(error.problems["id"]))
        inspections |= check(second)
    first += len(second.originals)
    media = replace(media, media=(*media.media, *second.media))
    owned = _owned(media)
    if any(original.kind == AUDIO for original in inspections):
        require_encoder(chosen)
    loudness, notes = _common_loudness(inspections, chosen)
    tasks = [_task(secret, name, original, inspections[original], loudness, chosen) for name, original in owned]
    # The same file may stand twice in a map; two threads must not write it at once.
    unique = list({task.name: task for task in tasks}.values())
    make = partial(_make_once, root=root, settings=chosen, before=before)
    with _writing(root / FOLDER):
        steps = parallel(make, unique, progress=_shifted(progress, first, total), workers=workers)
        made = dict(zip((task.name for task in unique), _noting(root, steps), strict=True))
        parts = {owner: made[task.name] for owner, task in zip(owned, tasks, strict=True)}
        served = [
            ServedMedium(m.role, m.id, tuple(parts[m.id, original] for original in m.originals), m.title)
            for m in media.media
        ]
        manifest = Manifest(root, _equally_large(served, root / FOLDER), chosen, loudness, notes)
        manifest.write()
        _tidy(manifest)
    if progress is not None and len(unique) < len(owned):
        progress(total, total)
    return manifest


def _owned(media: Media) -> list[tuple[str, Original]]:
    """Return every original once for every id that has it."""
    return list(dict.fromkeys((medium.id, original) for medium in media.media for original in medium.originals))


def doubled_queries(media: Media, twins: Collection[str]) -> list[Medium]:
    """Return those of some queries that are nothing but a sound, and so can be heard beside themselves."""
    wanted = set(twins)
    queries = [medium for medium in media.media if medium.role == QUERY and medium.id in wanted]
    return [one for one in queries if len(one.originals) == 1 and one.originals[0].kind == AUDIO]


def _twins(
    media: Media, twins: Collection[str], inspections: Inspections, secret: bytes, *, whole: Collection[str] = ()
) -> Media:
    """Return the second recordings of queries.

    Each is as long as a document that is drawn among those that are no longer than the query: in a collection of clips
    of many lengths, two clips of the same length would be the same song. Some are as long as the query.
    """
    documents = [inspections[one].clip for medium in media.media if medium.role == DOCUMENT for one in medium.originals]
    known = sorted(clip.end - clip.start for clip in documents if clip is not None)
    made = []
    for medium in doubled_queries(media, twins):
        (original,) = medium.originals
        clip = inspections[original].clip
        assert clip is not None, "a sound was measured"
        drawn = hmac.digest(secret, json.dumps([TWIN, medium.id]).encode(), "sha256")
        where, which = (int.from_bytes(some, "big") / 2**64 for some in (drawn[:8], drawn[8:16]))
        shorter = known[: bisect_right(known, clip.end - clip.start)]
        keep = medium.id in whole or not shorter
        end = clip.end if keep else clip.start + shorter[int(which * len(shorter))]
        shift = round(_LEAST_SHIFT + (_MOST_SHIFT - _LEAST_SHIFT) * where, 3)
        moved = replace(original, start=clip.start, end=end, shift=shift)
        made.append(Medium(TWIN, medium.id, (moved,), medium.title))
    return Media(tuple(made), media.encoding)


def _equally_large(served: Sequence[ServedMedium], folder: Path) -> tuple[ServedMedium, ...]:
    """Fill all sounds up to the same number of bytes."""
    names = {part.file for medium in served for part in medium.parts if part.kind == AUDIO and part.file is not None}
    if not names:
        return tuple(served)
    size = common_size([size_without_padding(folder / name) for name in sorted(names)])
    for name in sorted(names):
        pad_file(folder / name, size)
    hashes = {name: file_hash(folder / name) for name in names}
    return tuple(
        replace(
            medium,
            parts=tuple(
                replace(part, file_sha256=hashes[part.file]) if part.file in hashes else part for part in medium.parts
            ),
        )
        for medium in served
    )


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Make the folder, and turn what goes wrong while it is filled into our error."""
    try:
        folder.mkdir(exist_ok=True)
        yield
    except OSError as error:
        raise InputError(expected="a folder that can be written", got=str(error), path=folder) from None
    except UnusableError as error:
        hint = "it changed after it was checked: try again"
        raise InputError(expected="an original that can be read", got=error.detail, hint=hint) from None


def _common_loudness(inspections: Inspections, settings: MediaSettings) -> tuple[float, tuple[str, ...]]:
    """Return the loudness of all clips, and what there is to say about it and about pictures."""
    highest = [found.clip.highest_loudness(settings.peak) for found in inspections.values() if found.clip is not None]
    # Rounded down, so that the note says what is done.
    loudness = min([settings.loudness, *(math.floor(10 * one) / 10 for one in highest)])
    notes = []
    if loudness < settings.loudness:
        few = counted(sum(one < settings.loudness for one in highest), "clip")
        notes.append(
            f"all clips are played at {loudness:g} LUFS, not {settings.loudness:g}: peaks of {few} would exceed "
            f"{settings.peak:g} dB"
        )
    if any(original.kind in PICTURES for original in inspections) and not has_pillow():
        notes.append("pictures keep their metadata, such as place and time: pip install pillow removes them")
    return loudness, tuple(notes)


def _task(
    secret: bytes, name: str, original: Original, inspection: Inspection, loudness: float, settings: MediaSettings
) -> _Task:
    how: list[Any] = [VERSION, original.kind, inspection.sha256, inspection.content]
    if inspection.clip is not None:
        how += [inspection.clip.start, inspection.clip.end, settings.fade, settings.format, settings.peak, loudness]
    elif original.kind in PICTURES:
        how += [inspection.media_type, has_pillow()]
    message = json.dumps([name, *how]).encode()
    return _Task(hmac.new(secret, message, hashlib.sha256).hexdigest()[:32], original, inspection, loudness)


def _make_once(task: _Task, *, root: Path, settings: MediaSettings, before: Mapping[str, Served]) -> Served:
    """Make a file, unless it was made before and is still what it was."""
    original, inspection = task.original, task.inspection
    base = Served(
        original.kind,
        inspection.sha256,
        inspection.content,
        original=_relative(original.path, root),
        url=original.url,
    )
    earlier = before.get(task.name)
    if earlier is not None and _is_there(earlier, root / FOLDER):
        return replace(earlier, original=base.original)
    if inspection.clip is not None:
        return _make_clip(base, task, inspection.clip, root / FOLDER, settings)
    if original.kind in PICTURES and original.path is not None and inspection.media_type is not None:
        file = f"{task.name}{ending_of(inspection.media_type)}"
        write_picture(original.path, root / FOLDER / file)
        return _with_file(base, root / FOLDER, file, inspection.media_type)
    if original.kind == TEXT and inspection.text is not None:
        file = f"{task.name}.txt"
        _write_bytes(root / FOLDER / file, inspection.text.encode("utf-8", "replace"))
        return _with_file(base, root / FOLDER, file, "text/plain; charset=utf-8")
    return base


def _make_clip(base: Served, task: _Task, clip: ClipMeasurement, folder: Path, settings: MediaSettings) -> Served:
    file, peaks = f"{task.name}.{settings.format}", f"{task.name}.json"
    encoded = encode_clip(task.original, clip, folder / file, loudness=task.loudness, settings=settings)
    _write_bytes(folder / peaks, json.dumps(encoded.peaks, separators=(",", ":")).encode())
    return replace(
        _with_file(base, folder, file, MEDIA_TYPES[settings.format]),
        start=clip.start,
        end=clip.end,
        original_loudness=clip.loudness,
        original_peak=clip.true_peak,
        gain=encoded.gain,
        loudness=encoded.loudness,
        peak=encoded.peak,
        peaks=peaks,
        peaks_sha256=file_hash(folder / peaks),
        measured=_measurement_key(task.original, base.original_sha256, settings),
    )


def _with_file(base: Served, folder: Path, file: str, media_type: str) -> Served:
    return replace(base, file=file, file_sha256=file_hash(folder / file), media_type=media_type)


def _write_bytes(path: Path, data: bytes) -> None:
    with replacing(path, follow=False) as temporary:
        temporary.write_bytes(data)


def _is_there(part: Served, folder: Path) -> bool:
    with suppress(OSError):
        return all(file_hash(folder / name) == sha256 for name, sha256 in part.files)
    return False


def _prepared_before(root: Path) -> dict[str, Served]:
    """Return what an earlier run prepared, finished or not, by name."""
    parts: list[Served] = []
    # Whatever cannot be used is prepared again.
    with suppress(InputError, OSError):
        parts += [part for medium in read_manifest(root).media for part in medium.parts]
    with suppress(OSError):
        for line in (root / FOLDER / _JOURNAL).read_bytes().splitlines():
            # The last line may have been cut off.
            with suppress(ValueError, TypeError):
                parts.append(from_json(json.loads(line)))
    return {Path(part.file).stem: part for part in parts if part.file is not None}


def _measured_before(before: Mapping[str, Served], settings: MediaSettings) -> Known:
    clips = {
        part.measured: ClipMeasurement(part.start, part.end, part.original_loudness, part.original_peak, part.content)
        for part in before.values()
        if part.start is not None
        and part.end is not None
        and part.original_loudness is not None
        and part.original_peak is not None
    }
    return lambda original, sha256: clips.get(_measurement_key(original, sha256, settings))


def _measurement_key(original: Original, sha256: str, settings: MediaSettings) -> str:
    cut = [original.start, original.end, original.shift, settings.start, settings.seconds, settings.fade]
    return hashlib.sha256(json.dumps([VERSION, sha256, *cut]).encode()).hexdigest()


def _noting(root: Path, made: Iterator[Served]) -> Sequence[Served]:
    """Note every finished file in the journal."""
    parts = []
    with (root / FOLDER / _JOURNAL).open("ab") as journal:
        for part in made:
            parts.append(part)
            journal.write(json.dumps(to_json(part)).encode() + b"\n")
            journal.flush()
    return parts


def _tidy(manifest: Manifest) -> None:
    """Remove the journal, and files of ours that the manifest does not list."""
    listed = {name for medium in manifest.media for part in medium.parts for name, _ in part.files} | {FILE}
    for path in (manifest.folder / FOLDER).iterdir():
        ours = SERVED_NAME.fullmatch(path.name) or _LEFT_BEHIND.fullmatch(path.name) or path.name == _JOURNAL
        if ours and path.name not in listed:
            path.unlink(missing_ok=True)


def _relative(path: Path | None, root: Path) -> str | None:
    """Name a file within the campaign's folder by its place there, so that the folder can be moved."""
    if path is None:
        return None
    absolute, home = path.resolve(), root.resolve()
    return absolute.relative_to(home).as_posix() if absolute.is_relative_to(home) else str(absolute)


def _shifted(progress: Progress | None, by: int, total: int) -> Progress | None:
    return None if progress is None else lambda done, _: progress(by + done, total)
