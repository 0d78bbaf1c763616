"""The manifest: what became of every original, with hashes of both, so that changes are noticed.

``media/manifest.json`` in the folder of a campaign. It names original files and ids and is never served; what is served
are the files it lists, whose names reveal nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.files import replacing, require_file, saying_why_not
from earmark.data.json_text import parse_json
from earmark.errors import InputError, ParameterError
from earmark.media.checks import PROBLEMS, file_hash
from earmark.media.originals import DOCUMENT, QUERY, TWIN
from earmark.media.settings import MediaSettings
from earmark.wording import counted

FOLDER, FILE = "media", "manifest.json"
FORMAT = 1
SERVED_NAME = re.compile(r"[0-9a-f]{32}\.(?:mp3|flac|wav|png|jpg|gif|webp|txt|json)", flags=re.ASCII)


@dataclass(frozen=True)
class Served:
    """One thing that an assessor hears or sees, and what it was made of.

    Attributes
    ----------
    kind : {"audio", "image", "score", "text", "link"}
        What it is.
    original : str, optional
        The original file, relative to the folder of the campaign if it is in it; none for a link or a text of the map.
    original_sha256 : str
        The hash of that file, or of the text or address.
    content : str
        Equal for what sounds or looks the same.
    file, file_sha256, media_type : str, optional
        What is served, in the folder ``media``; none for a link.
    url : str, optional
        The address of a link.
    start, end : float, optional
        The excerpt of the recording, in seconds.
    original_loudness, original_peak : float, optional
        Loudness in LUFS and true peak in dB of the excerpt before its gain.
    gain : float, optional
        The gain in dB.
    loudness, peak : float, optional
        Loudness in LUFS and largest sample in dB of the file that is served, decoded.
    peaks, peaks_sha256 : str, optional
        A JSON file with the outline of the waveform: ``min`` and ``max`` of equal stretches, -100 to 100.
    measured : str, optional
        A hash of all that the measurement depends on; the same hash need not be measured again.
    """

    kind: str
    original_sha256: str
    content: str
    original: str | None = None
    file: str | None = None
    file_sha256: str | None = None
    media_type: str | None = None
    url: str | None = None
    start: float | None = None
    end: float | None = None
    original_loudness: float | None = None
    original_peak: float | None = None
    gain: float | None = None
    loudness: float | None = None
    peak: float | None = None
    peaks: str | None = None
    peaks_sha256: str | None = None
    measured: str | None = None

    @property
    def files(self) -> list[tuple[str, str]]:
        """The files in the folder ``media``, with their hashes."""
        pairs = ((self.file, self.file_sha256), (self.peaks, self.peaks_sha256))
        return [(name, sha256) for name, sha256 in pairs if name is not None and sha256 is not None]

    @property
    def seconds(self) -> float | None:
        """How long a clip lasts."""
        return None if self.start is None or self.end is None else self.end - self.start


@dataclass(frozen=True)
class ServedMedium:
    """What is served for a query or a document, in the order in which it is shown."""

    role: str
    id: str
    parts: tuple[Served, ...]
    title: str = ""


@dataclass(frozen=True, repr=False)
class Manifest(Display):
    """What is served, and what it was made of.

    Attributes
    ----------
    folder : Path
        The folder of the campaign.
    media : tuple of ServedMedium
        One of every query, then one of every document, then a second recording of queries that are heard beside
        themselves.
    settings : MediaSettings
        What was asked for.
    loudness : float
        The loudness of all clips in LUFS; below that of the settings where a clip would have clipped.
    notes : tuple of str
        What an organiser has to know.
    """

    folder: Path
    media: tuple[ServedMedium, ...]
    settings: MediaSettings
    loudness: float
    notes: tuple[str, ...] = ()

    @cached_property
    def _by_id(self) -> dict[tuple[str, str], ServedMedium]:
        return {(medium.role, medium.id): medium for medium in self.media}

    def of_query(self, query: str) -> ServedMedium:
        """Return what is served for a query."""
        return self._of(QUERY, query)

    def of_document(self, document: str) -> ServedMedium:
        """Return what is served for a document."""
        return self._of(DOCUMENT, document)

    def find(self, role: str, name: str) -> ServedMedium | None:
        """Return what is served for a role and an id; None where there is nothing."""
        return self._by_id.get((role, name))

    @cached_property
    def by_file(self) -> dict[str, Served]:
        """What is served, by the names of files without their endings."""
        return {
            part.file.partition(".")[0]: part for medium in self.media for part in medium.parts if part.file is not None
        }

    @cached_property
    def has_sound(self) -> bool:
        """Whether there is anything to hear."""
        return any(part.kind == "audio" for medium in self.media for part in medium.parts)

    def path(self, name: str) -> Path:
        """Return where a file that is served lies."""
        if not SERVED_NAME.fullmatch(name):
            raise ParameterError(f"no name of a file that is served: '{name}'")
        return self.folder / FOLDER / name

    @cached_property
    def same_sound(self) -> tuple[tuple[str, ...], ...]:
        """Groups of documents that sound and look exactly the same, which need to be asked about only once."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for medium in self.media:
            if medium.role == DOCUMENT and medium.parts:
                groups.setdefault(tuple(part.content for part in medium.parts), []).append(medium.id)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)

    def verify(self) -> pl.DataFrame:
        """Hash originals and served files again, and list what changed or disappeared.

        Returns
        -------
        polars.DataFrame
            ``id``, ``role``, ``file``, ``problem`` ("missing", "changed" or "unreadable"), ``detail`` ("original" or
            "served"); no rows if all is as it was.
        """
        rows = []
        seen: dict[Path, str | None] = {}
        for medium in self.media:
            for path, sha256, which in self._files(medium):
                if path not in seen:
                    seen[path] = _hash_or_problem(path)
                if seen[path] != sha256:
                    problem = seen[path] if seen[path] in ("missing", "unreadable") else "changed"
                    rows.append((medium.id, medium.role, str(path), problem, which))
        return pl.DataFrame(rows, schema=PROBLEMS, orient="row")

    def write(self) -> None:
        """Write the manifest, unless the file says the same already."""
        path = self.folder / FOLDER / FILE
        text = json.dumps(self._to_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        if path.is_file() and path.read_bytes() == text.encode():
            return
        with replacing(path, follow=False) as temporary:
            temporary.write_bytes(text.encode())

    def _of(self, role: str, name: str) -> ServedMedium:
        try:
            return self._by_id[role, name]
        except KeyError:
            raise ParameterError(f"no media of {role} '{name}'") from None

    def _files(self, medium: ServedMedium) -> Iterator[tuple[Path, str, str]]:
        for part in medium.parts:
            if part.original is not None:
                yield self.folder / part.original, part.original_sha256, "original"
            for name, sha256 in part.files:
                yield self.path(name), sha256, "served"

    def _to_json(self) -> dict[str, Any]:
        media = [
            {"role": medium.role, "id": medium.id, "title": medium.title, "parts": [to_json(p) for p in medium.parts]}
            for medium in self.media
        ]
        return {
            "format": FORMAT,
            "settings": asdict(self.settings),
            "loudness": self.loudness,
            "notes": list(self.notes),
            "media": media,
            "same_sound": [list(group) for group in self.same_sound],
        }

    def _summary(self) -> Summary:
        parts = dict.fromkeys(part for medium in self.media for part in medium.parts)
        seconds = sum(part.seconds or 0.0 for part in parts)
        rows = [(m.role, m.id, p.kind, p.original, p.seconds, p.gain) for m in self.media for p in m.parts]
        names = {"role": pl.String, "id": pl.String, "kind": pl.String, "original": pl.String}
        frame = pl.DataFrame(rows, schema={**names, "seconds": pl.Float64, "gain": pl.Float64}, orient="row")
        ids = counted(sum(m.role != TWIN for m in self.media), "query or document", "queries and documents")
        sentence = f"{counted(len(parts), 'file')} for {ids}"
        return Summary(f"{sentence}, {seconds / 60:.1f} minutes of sound", [DisplayTable(frame)], self.notes)


def read_manifest(folder: str | os.PathLike[str]) -> Manifest:
    """Read the manifest of a campaign's folder.

    Raises
    ------
    InputError
        If there is none, or it is not one of ours.
    """
    root = Path(folder)
    path = require_file(root / FOLDER / FILE)
    try:
        with saying_why_not(path):
            given = parse_json(path.read_bytes())
        if given["format"] != FORMAT:
            hint = "it was written by another version of earmark: prepare the media again"
            raise InputError(expected=f"format {FORMAT}", got=str(given["format"]), path=path, hint=hint)
        media = tuple(
            ServedMedium(one["role"], one["id"], tuple(from_json(part) for part in one["parts"]), one["title"])
            for one in given["media"]
        )
        settings = MediaSettings(**given["settings"])
        return Manifest(root, media, settings, float(given["loudness"]), tuple(given["notes"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(expected="a manifest of media", got=f"{type(error).__name__}: {error}", path=path) from None


def to_json(part: Served) -> dict[str, Any]:
    """Return a part as it is written, without what it has not."""
    return {name: value for name, value in asdict(part).items() if value is not None}


def from_json(given: Mapping[str, Any]) -> Served:
    """Return a part as it was written; a name of a file that we would not give is refused."""
    part = Served(**given)
    for name in (part.file, part.peaks):
        if name is not None and not SERVED_NAME.fullmatch(name):
            raise ValueError(f"'{name}' is no name of a file that is served")
    wrong = next(
        (f.name for f in fields(Served) if not isinstance(getattr(part, f.name), str | float | int | None)), None
    )
    if wrong is not None:
        raise TypeError(f"{wrong} is neither a text nor a number")
    return part


def _hash_or_problem(path: Path) -> str:
    try:
        return file_hash(path)
    except FileNotFoundError:
        return "missing"
    except OSError:
        return "unreadable"
