"""What assessors hear and see: media of queries and documents, checked, prepared and listed with their hashes.

The walk of a file: :func:`~earmark.media.reading.read_media` finds it by a folder or a map,
:func:`~earmark.media.checks.check_media` finds what is wrong with any of them, and
:func:`~earmark.media.preparation.prepare_media` makes what is served: excerpts of equal loudness in one format,
pictures without metadata, texts in UTF-8, all under names that reveal nothing. The
:class:`~earmark.media.manifest.Manifest` says what became of what. Originals are never changed.

What is named here is loaded when it is first used; everything else is in the modules.
"""

from typing import TYPE_CHECKING

from earmark._lazy import lazily

if TYPE_CHECKING:
    from earmark.media.checks import MediaError as MediaError
    from earmark.media.checks import check_media as check_media
    from earmark.media.manifest import Manifest as Manifest
    from earmark.media.manifest import read_manifest as read_manifest
    from earmark.media.originals import Media as Media
    from earmark.media.preparation import prepare_media as prepare_media
    from earmark.media.reading import read_media as read_media
    from earmark.media.settings import MediaSettings as MediaSettings

_HOMES = {
    "earmark.media.checks": ("MediaError", "check_media"),
    "earmark.media.manifest": ("Manifest", "read_manifest"),
    "earmark.media.originals": ("Media",),
    "earmark.media.preparation": ("prepare_media",),
    "earmark.media.reading": ("read_media",),
    "earmark.media.settings": ("MediaSettings",),
}
__getattr__, __dir__ = lazily(__name__, _HOMES)
