"""The folder of the demonstration is its own: it never writes among files that it did not make.

A list of what it made lies in the folder from the first moment on. A folder that has no such list, or has files that
are neither on the list nor under the names that the demonstration itself uses, belongs to somebody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from earmark._version import __version__
from earmark.data.files import replacing
from earmark.data.outputs import TEMPORARY
from earmark.demo.collection import DemoFiles
from earmark.errors import InputError

LIST = ".earmark-demo.json"
_HINT = "name another folder with --out, or move the file away"
# What desktops put into every folder that somebody looked at.
_OF_DESKTOPS = (".DS_Store", "Thumbs.db", "desktop.ini", ".directory")


def refuse_foreign(files: DemoFiles) -> None:
    """Refuse a folder with files that are not of the demonstration.

    Raises
    ------
    InputError
        Naming the first such file.
    """
    if not files.folder.is_dir():
        return
    foreign = next(_foreign(files), None)
    if foreign is not None:
        got = f"'{foreign.relative_to(files.folder)}', which is not of the demonstration"
        raise InputError(expected="a folder of its own", got=got, path=files.folder, hint=_HINT)


def remember_files(files: DemoFiles) -> None:
    """List what the demonstration has made so far."""
    made = sorted(_listed(files) | {_name(files, clip) for clip in files.found_clips()})
    with replacing(files.folder / LIST) as temporary:
        temporary.write_text(
            json.dumps({"earmark demo": __version__, "files": made}, indent=0) + "\n", encoding="utf-8"
        )


def _foreign(files: DemoFiles) -> Iterator[Path]:
    """Yield the files that somebody else put there."""
    # Before there was a list, the seed told a folder that was made.
    ours = (files.folder / LIST).is_file() or files.mark.is_file()
    listed = _listed(files) if (files.folder / LIST).is_file() else {_name(files, clip) for clip in files.found_clips()}
    for entry in sorted(files.folder.iterdir()):
        if entry == files.clips and entry.is_dir():
            yield from (one for one in sorted(entry.iterdir()) if not _is_ours(files, one, listed, known=ours))
        elif not _is_ours(files, entry, listed, known=ours):
            yield entry


def _is_ours(files: DemoFiles, path: Path, listed: set[str], *, known: bool) -> bool:
    if path.name in _OF_DESKTOPS:
        return True
    if not known:
        return False
    return path in files.own or path.name == LIST or path.name.startswith(TEMPORARY) or _name(files, path) in listed


def _listed(files: DemoFiles) -> set[str]:
    """Return the names on the list; none where it cannot be read."""
    try:
        found = json.loads((files.folder / LIST).read_text(encoding="utf-8"))["files"]
        return {str(name) for name in found}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _name(files: DemoFiles, path: Path) -> str:
    return path.relative_to(files.folder).as_posix()
