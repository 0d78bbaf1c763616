"""Kinds of media: what a file is by its ending, and what a picture is by its first bytes."""

from __future__ import annotations

from pathlib import Path

from earmark.audio.sound import ENDINGS, UNREAD

AUDIO, IMAGE, SCORE, TEXT, LINK = "audio", "image", "score", "text", "link"
KINDS = (AUDIO, IMAGE, SCORE, TEXT, LINK)
"""A score is a picture of notes; a page may show it larger than other pictures."""

PICTURES = (IMAGE, SCORE)

_ENDINGS = {
    **dict.fromkeys((*ENDINGS, *UNREAD), AUDIO),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"), IMAGE),
    **dict.fromkeys((".txt", ".md"), TEXT),
    ".url": LINK,
}
_WEBP = b"WEBP"
_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"RIFF": "image/webp",
    b"BM": "image/bmp",
    b"II*\0": "image/tiff",
    b"MM\0*": "image/tiff",
}
SHOWN = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The pictures that every browser shows."""


def kind_of(path: Path) -> str | None:
    """Tell the kind of a file by its ending; None if it is of none.

    Examples
    --------
    >>> kind_of(Path("a.FLAC")), kind_of(Path("a.jpg")), kind_of(Path("a.pdf"))
    ('audio', 'image', None)
    """
    return _ENDINGS.get(path.suffix.lower())


def picture_type(head: bytes) -> str | None:
    """Tell the media type of a picture by its first bytes; None if it is none that we know.

    SVG is none of them on purpose: it may hold scripts.
    """
    found = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    return None if found == "image/webp" and head[8:12] != _WEBP else found
