"""What the media of a campaign tell about its questions: which documents sound the same, which queries can be heard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from earmark.media.manifest import Manifest, ServedMedium


def same_sounds(folder: Path) -> list[list[str]]:
    """Return groups of documents that sound the same, where the campaign has media."""
    manifest = _manifest(folder)
    return [] if manifest is None else [list(group) for group in manifest.same_sound]


def playable_queries(folder: Path) -> list[str]:
    """Return the queries whose sound can be played beside itself."""
    manifest = _manifest(folder)
    if manifest is None:
        return []
    queries = [medium for medium in manifest.media if medium.role == "query"]
    sounds = [one for one in queries if one.parts and all(part.kind == "audio" for part in one.parts)]
    return [one.id for one in sounds if is_own_document(manifest, one)]


def is_own_document(manifest: Manifest, query: ServedMedium) -> bool:
    """Tell whether the document with the id of a query, if there is one, is the query itself and no other sound."""
    document = manifest.find("document", query.id)
    return document is None or [part.content for part in document.parts] == [part.content for part in query.parts]


def _manifest(folder: Path) -> Manifest | None:
    if not (folder / "media" / "manifest.json").is_file():
        return None
    from earmark.media import read_manifest

    return read_manifest(folder)
