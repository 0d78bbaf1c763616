"""Where judgments lie: one file, several, all files of a folder, or those whose names match a pattern."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path

from earmark.data.files import require_file
from earmark.errors import InputError

AnyPath = str | os.PathLike[str]

_CAMPAIGN = "campaign.toml"


def judgment_files(sources: AnyPath | Iterable[AnyPath]) -> list[Path]:
    """Return the files that are meant, each once, in the order in which they were named.

    Parameters
    ----------
    sources : path or paths
        Each a file, a folder or a pattern such as ``answers/*.csv``. Of a folder, all files count whose names do not
        start with a dot or end in ``~``, in the order of their names.

    Raises
    ------
    InputError
        If a file is not there, a folder is empty or is that of a campaign, or nothing matches a pattern.

    Examples
    --------
    >>> judgment_files("answers/*.csv")
    Traceback (most recent call last):
    earmark.errors.InputError: answers/*.csv: expected files of judgments, got no file that matches the pattern
    """
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if not given:
        raise InputError(expected="one file of judgments or more", got="none")
    found: dict[Path, Path] = {}
    for source in given:
        for file in _files(source):
            # A file that is named twice, or by a folder too, is the same file.
            found.setdefault(file.resolve(), file)
    return list(found.values())


def _files(source: AnyPath) -> list[Path]:
    path = Path(source)
    if path.is_dir():
        return _files_of_folder(path)
    if not path.exists() and glob.has_magic(os.fspath(path)):
        # A pattern may start anywhere, which Path.glob does not take.
        matches = [Path(match) for match in sorted(glob.glob(os.fspath(path), recursive=True))]  # noqa: PTH207
        # As for shells, what is hidden only matches a pattern that is about hidden files.
        files = [match for match in matches if match.is_file() and _is_hidden(match.name) <= _is_hidden(path.name)]
        if not files:
            raise InputError(expected="files of judgments", got="no file that matches the pattern", path=path)
        return files
    return [require_file(path)]


def _files_of_folder(folder: Path) -> list[Path]:
    if (folder / _CAMPAIGN).is_file():
        raise InputError(
            expected="files of judgments",
            got="the folder of a campaign",
            path=folder,
            hint=f"'earmark export {folder} -o judgments.csv' writes its judgments to a file",
        )
    files = [one for one in sorted(folder.iterdir()) if one.is_file() and not _is_hidden(one.name)]
    if not files:
        raise InputError(expected="a folder with files of judgments", got="a folder without files", path=folder)
    return files


def _is_hidden(name: str) -> bool:
    """Tell hidden files and the copies that editors keep, which listings of files leave out as well."""
    return name.startswith(".") or name.endswith("~")
