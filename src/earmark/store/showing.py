"""What a campaign shows and plays: the media of its queries and documents, prepared in its folder.

Names of files that are served are made with a key, which lies beside them: prepared again, media keep their names, and
nobody outside can tell from a name what it is.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from earmark.data.runs import Runs
from earmark.media import Manifest, MediaSettings, prepare_media, read_media
from earmark.media.kinds import AUDIO
from earmark.media.originals import DOCUMENT, QUERY, Media
from earmark.store.inputs import build_pair_problem, build_problem, find_file, read_lists
from earmark.store.onboarding import read_training
from earmark.store.removals import NOTHING, Removed
from earmark.store.rules import Rules
from earmark.store.settings import Settings
from earmark.store.traps import known_traps

KEY = ".key"
_BYTES = 32

Bar = Callable[[int], AbstractContextManager[Callable[[int], None]]]
"""Given how many steps there are, shows progress; yields what to call with the number of steps just done."""


def shown_ids(folder: Path, settings: Settings, removed: Removed = NOTHING) -> tuple[list[str], list[str]]:
    """Return the queries and documents that people may be asked about, those of the traps and the training included."""
    if settings.kind == "grade":
        items = build_problem(folder, settings, removed).items
        queries, documents = items["query"].to_list(), items["document"].to_list()
    elif settings.kind == "prefer":
        pairs = build_pair_problem(folder, settings, removed).design.pairs
        queries, documents = list(pairs.queries), list(pairs.documents)
    else:
        runs = read_lists(folder, settings, removed)
        depth = settings.estimates.depth if settings.kind == "lists" else None
        queries, documents = list(runs.queries), _retrieved(runs, depth)
    if "list" in settings.traps.sources and settings.inputs.traps is not None:
        path = find_file(folder, settings.inputs.traps)
        traps = known_traps(path, Rules.from_settings(settings), encoding=settings.inputs.encoding)
        queries += [trap[0] for trap in traps]
        documents += [document for trap in traps for document in trap[1:3] if document]
    if settings.inputs.training is not None:
        shown = read_training(find_file(folder, settings.inputs.training), encoding=settings.inputs.encoding)
        queries += shown["query"].to_list()
        if settings.kind != "lists":
            # There the columns name two systems, whose lists are among the documents already.
            documents += [one for name in ("document", "other") for one in shown[name] if one]
    return _unique(queries), _unique(documents)


def prepare_shown(
    folder: Path,
    settings: Settings,
    *,
    media: Path | None = None,
    media_map: Path | None = None,
    removed: Removed = NOTHING,
    bar: Bar,
) -> Manifest:
    """Check the media of a campaign, all of them, and prepare what is served.

    Parameters
    ----------
    folder : path
        The campaign's.
    settings : Settings
    media, media_map : path, optional
        Where the originals are; the paths in a map are relative to where it lies.
    removed : Removed
        What left the collection.
    bar : callable
        Shows progress.

    Raises
    ------
    MediaError
        With a table of all problems; then nothing was written.
    """
    queries, documents = shown_ids(folder, settings, removed)
    found = read_media(queries, documents, folder=media, media_map=media_map, encoding=settings.inputs.encoding)
    how = settings.media
    chosen = MediaSettings(start=how.start, seconds=how.seconds, loudness=how.loudness, format=how.format)
    twins = doubled_ids(settings, found)
    owned = {(medium.id, original) for medium in found.media for original in medium.originals}
    # One step to check an original, one to prepare it for every id that has it.
    with bar(len(found.originals) + len(owned) + 2 * len(twins)) as advance, _key(folder) as secret:
        return prepare_media(
            found, folder, secret=secret, settings=chosen, twins=twins, progress=lambda _done, _total: advance(1)
        )


def doubled_ids(settings: Settings, media: Media) -> list[str]:
    """Return the queries that people hear beside themselves, as traps or in the training that we make.

    A document of the same id is the query itself, unless it is made of other files: then nobody could tell which of the
    two a question is about, and the query is heard beside nothing but documents.
    """
    others = {medium.id: medium.originals for medium in media.media if medium.role == DOCUMENT}
    sounds = [one for one in media.media if one.role == QUERY and [part.kind for part in one.originals] == [AUDIO]]
    queries = [one.id for one in sounds if others.get(one.id, one.originals) == one.originals]
    if settings.kind in ("grade", "prefer") and "self" in settings.traps.sources:
        return queries
    # The first of them is the example of a training that we make.
    return queries[:1] if settings.kind == "grade" and settings.inputs.training is None else []


@contextmanager
def _key(folder: Path) -> Iterator[bytes]:
    """Give the key of the names, which is made where there is none, and goes again if what it is for fails."""
    file = folder / "media" / KEY
    if file.is_file() and len(key := file.read_bytes()) >= _BYTES:
        yield key
        return
    file.parent.mkdir(exist_ok=True)
    file.touch(mode=0o600)
    file.write_bytes(secrets.token_bytes(_BYTES))
    try:
        yield file.read_bytes()
    except BaseException:
        file.unlink(missing_ok=True)
        with suppress(OSError):
            # A folder that was there before has files in it.
            file.parent.rmdir()
        raise


def _retrieved(runs: Runs, depth: int | None) -> list[str]:
    """Return the documents within the first ranks of any list."""
    found: list[str] = []
    for start, end in zip(runs.offsets[:-1], runs.offsets[1:], strict=True):
        last = int(end) if depth is None else min(int(end), int(start) + depth)
        found += runs.documents[int(start) : last].to_list()
    return found


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
