"""Media by folder: files are named after the ids of queries and documents.

In the folder and all folders in it, a file belongs to an id that is, in this order,

1. its path in the folder, with or without its ending (``jazz/take-5`` or ``jazz/take-5.flac``),
2. its name, with or without its ending (``take-5``),
3. of pictures: its name before a number, ``-1`` or ``_1`` (``q7-1.jpg``, ``q7-2.jpg`` are two pictures of ``q7``),
4. of pictures: the name of the folder it is in (``q7/beach.jpg``).

Files in the folders ``queries`` and ``documents`` belong to these alone. Several files of one id are shown together, in
the order of their names with numbers counted as numbers: sound, pictures, texts (.txt, .md), links (.url). Files whose
names start with a dot are left out. Accents may be composed or not, as file systems differ.
"""

from __future__ import annotations

import configparser
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from earmark.errors import InputError
from earmark.media.kinds import IMAGE, KINDS, LINK, kind_of
from earmark.media.originals import DOCUMENT, QUERY, Original

_FOLDERS = {"queries": QUERY, "documents": DOCUMENT}
_NUMBERED = re.compile(r"(.+)[-_]\d+", flags=re.ASCII | re.DOTALL)

Found = dict[tuple[str, str], tuple[Original, ...]]


def find_files(folder: Path, wanted: Mapping[str, Sequence[str]], *, encoding: str = "utf-8") -> tuple[Found, int]:
    """Find the files of ids by role, and count the files of media that belong to nobody.

    Raises
    ------
    InputError
        If there is no such folder.
    """
    if not folder.is_dir():
        got = "a file" if folder.exists() else "nothing there"
        raise InputError(expected="a folder of media", got=got, path=folder)
    ids = {role: {_composed(name): name for name in names} for role, names in wanted.items()}
    files: dict[tuple[str, str], list[Path]] = {}
    unused = 0
    for path in sorted((path for path in folder.rglob("*") if path.suffix), key=_natural):
        place = path.relative_to(folder)
        if kind_of(path) is None or any(part.startswith(".") for part in place.parts) or not path.is_file():
            continue
        only = _FOLDERS.get(place.parts[0]) if len(place.parts) > 1 else None
        within = PurePosixPath(*place.parts[1:]) if only else PurePosixPath(*place.parts)
        owners = [
            (role, name)
            for role in ([only] if only else wanted)
            if (name := next((ids[role][one] for one in _names(within) if one in ids[role]), None)) is not None
        ]
        unused += not owners
        for owner in owners:
            files.setdefault(owner, []).append(path)
    return {owner: _in_order(paths, encoding) for owner, paths in files.items()}, unused


def shortcut_address(path: Path, encoding: str) -> str | None:
    """Return the address in a .url file, the format in which systems save links; None if there is none."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(path.read_text(encoding=encoding).lstrip("\ufeff"))
        return parser.get("InternetShortcut", "URL")
    except (configparser.Error, UnicodeDecodeError, LookupError, OSError):
        return None


def _names(place: PurePosixPath) -> Iterator[str]:
    """Yield what an id may be for a file to belong to it, the closest first."""
    bare = place.with_suffix("")
    yield from (_composed(one) for one in (str(place), str(bare), place.name, bare.name))
    if kind_of(Path(place)) == IMAGE:
        numbered = [_NUMBERED.fullmatch(one) for one in (str(bare), bare.name)]
        yield from (_composed(found[1]) for found in numbered if found)
        if place.parent.name:
            yield from (_composed(str(place.parent)), _composed(place.parent.name))


def _in_order(paths: Sequence[Path], encoding: str) -> tuple[Original, ...]:
    originals = []
    for path in paths:
        kind = kind_of(path) or ""
        url = shortcut_address(path, encoding) if kind == LINK else None
        originals.append(Original(kind, path, url=url))
    return tuple(sorted(originals, key=lambda original: KINDS.index(original.kind)))


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """Order 2 before 10, and a name before the same with something added."""
    parts = re.split(r"(\d+)", str(path.with_suffix("")), flags=re.ASCII)
    return [(0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part) for part in parts if part]
