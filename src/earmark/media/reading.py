"""Finding the media of queries and documents: by a folder, by a map, or by both.

The files of a folder are named after ids (:mod:`earmark.media.folders`); a map says which file is whose
(:mod:`earmark.media.maps`). Where both are given the map goes first, and the folder has the others. A query and a
document of the same id share what is found, unless a map or the folders ``queries`` and ``documents`` tell them apart.

Nothing is opened here but maps and shortcuts to links; :mod:`earmark.media.checks` looks into the files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from earmark.errors import InputError, ParameterError
from earmark.media.folders import find_files
from earmark.media.maps import read_map
from earmark.media.originals import DOCUMENT, QUERY, Media, Medium, Original


def read_media(
    queries: Iterable[str],
    documents: Iterable[str],
    *,
    folder: str | os.PathLike[str] | None = None,
    media_map: str | os.PathLike[str] | None = None,
    encoding: str = "utf-8",
) -> Media:
    """Find the media of queries and documents.

    Parameters
    ----------
    queries, documents : iterable of str
        Their ids.
    folder : path-like, optional
        Files that are named after ids; see :mod:`earmark.media.folders`.
    media_map : path-like, optional
        A CSV, TSV or Parquet file with the columns ``id`` and ``file``; see :mod:`earmark.media.maps`.
    encoding : str
        That of the map and of text files.

    Raises
    ------
    InputError
        If the folder is not there, or naming the line of the map that cannot be used. What is missing or cannot be
        played is found by :func:`~earmark.media.checks.check_media`, all of it at once.
    """
    if folder is None and media_map is None:
        raise ParameterError("media are found by a folder, by a map or by both: neither was given")
    wanted = {QUERY: list(dict.fromkeys(queries)), DOCUMENT: list(dict.fromkeys(documents))}
    mapped, titles, unused = (
        read_map(Path(media_map), wanted, encoding=encoding) if media_map is not None else ({}, {}, 0)
    )
    found: dict[tuple[str, str], tuple[Original, ...]] = dict(mapped)
    if folder is not None:
        filed, others = find_files(Path(folder), wanted, encoding=encoding)
        found = {**filed, **mapped}
        unused += others
    if not found:
        where = media_map if folder is None else folder
        hint = "files are named after ids, or a map says which file is whose" if folder is not None else None
        raise InputError(expected="media of queries and documents", got="none of any id", path=where, hint=hint)
    media = [
        Medium(role, name, found.get((role, name), ()), titles.get((role, name), ""))
        for role, names in wanted.items()
        for name in names
    ]
    return Media(tuple(media), encoding, unused)
