"""Pictures: that they are what they say, and a copy without what a camera wrote into them.

A picture is told by its first bytes and, where `Pillow <https://python-pillow.github.io>`_ is installed, by opening it.
Pillow also writes it again: turned as the camera was held, at most 2,000 pixels wide and high, JPEG as JPEG and all
others as PNG, without place, time and device. Without Pillow the bytes are copied as they are, metadata included.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from earmark.data.files import replacing
from earmark.media.kinds import SHOWN, picture_type
from earmark.media.originals import UnusableError

MOST_PIXELS = 2_000
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
_ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
_HEAD = 16


def has_pillow() -> bool:
    """Tell whether pictures are written again or copied."""
    return _pillow() is not None


def check_picture(path: Path) -> str:
    """Return the media type as which a picture is served.

    Raises
    ------
    UnusableError
        If it is empty, of no type that is shown, or damaged.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise UnusableError("empty", "a file of 0 bytes")
    given = picture_type(head)
    if given is None:
        hint = "SVG may hold scripts: save it as PNG" if head.lstrip()[:4] in (b"<svg", b"<?xm") else "save it as PNG"
        raise UnusableError("unreadable", f"neither PNG, JPEG, GIF, WebP, BMP nor TIFF ({hint})")
    image = _pillow()
    if image is None:
        if given not in SHOWN:
            raise UnusableError("unreadable", f"{given} is not shown by all browsers (pip install pillow converts it)")
        return given
    try:
        with image.open(path, formats=_FORMATS) as picture:
            picture.load()
    except Exception as error:  # A damaged picture raises whatever its decoder ran into.
        raise UnusableError("unreadable", f"damaged or too large: {error}") from None
    return "image/jpeg" if given == "image/jpeg" else "image/png"


def write_picture(source: Path, target: Path) -> None:
    """Write what is served of a picture; the media type must be that of :func:`check_picture`."""
    image = _pillow()
    with replacing(target, follow=False) as temporary:
        if image is None:
            temporary.write_bytes(source.read_bytes())
            return
        with image.open(source, formats=_FORMATS) as opened:
            picture = import_module("PIL.ImageOps").exif_transpose(opened)
            colours = picture.info.get("icc_profile")
            is_jpeg = target.suffix == ending_of("image/jpeg")
            has_holes = picture.mode in ("LA", "PA", "RGBA") or "transparency" in picture.info
            picture = picture.convert("RGBA" if has_holes and not is_jpeg else "RGB")
            picture.thumbnail((MOST_PIXELS, MOST_PIXELS))
            # Comments and the like travel along in here.
            picture.info.clear()
            # A profile of other colours, of print say, does not go with those that are written.
            profile = colours if opened.mode in ("RGB", "RGBA") else None
            picture.save(temporary, "JPEG" if is_jpeg else "PNG", quality=90, icc_profile=profile)


def ending_of(media_type: str) -> str:
    """Return the ending of files of a type."""
    return _ENDINGS[media_type]


def _pillow() -> Any:
    try:
        return import_module("PIL.Image")
    except ImportError:
        return None
