"""What holds where the settings in a file and those in the store differ.

Several hosts may have a copy of a campaign's folder each, and one store. So a folder remembers the settings as they
were when its file and the store last agreed. What differs from those in the file was edited on this host. Everything
else follows the store, whose settings another host may have changed.
"""

from __future__ import annotations

from pathlib import Path

from earmark.data.files import replacing
from earmark.errors import InputError, ParameterError
from earmark.store.inputs import find_file
from earmark.store.settings import NAME, Settings

AGREED = ".settings-agreed.json"
"""The settings as they were when the file and the store last agreed."""

OWN = "store.url"
"""The one setting that is each host's own: every host may reach the store in its own way."""


def with_edits(folder: Path, in_file: Settings, in_store: Settings) -> Settings:
    """Return the settings of the store, with what was edited in the file since both agreed.

    Raises
    ------
    InputError
        If the edits do not fit what another host changed meanwhile, or a file of the campaign is on another host only.
    """
    try:
        before = Settings.from_json((folder / AGREED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # A folder that remembers nothing: all that differs was edited.
        before = in_store
    edited = [one.setting for one in Settings.differences(before, in_file)]
    try:
        settings = in_store.changed(**{name: in_file.get(name) for name in (*edited, OWN)})
    except ParameterError as error:
        expected = "settings that fit those in the store"
        raise InputError(expected=expected, got=str(error), path=folder / NAME) from None
    if settings.inputs != in_file.inputs:
        _refuse_missing(folder, settings)
    return settings


def agree(one: Settings, other: Settings) -> bool:
    """Tell whether settings are the same, but for what is each host's own."""
    return all(difference.setting == OWN for difference in Settings.differences(one, other))


def remember(folder: Path, settings: Settings) -> None:
    """Keep the settings that file and store agree on."""
    path, data = folder / AGREED, settings.as_json().encode()
    # Compared as bytes: what stands there may be damaged, and no text at all.
    if not path.exists() or path.read_bytes() != data:
        with replacing(path) as temporary:
            temporary.write_bytes(data)


def _refuse_missing(folder: Path, settings: Settings) -> None:
    for _, file in settings.inputs.files():
        if not (path := find_file(folder, file)).exists():
            hint = "the settings in the store name it: copy it from the host where it was added"
            raise InputError(expected="a file of the campaign", got="nothing there", path=path, hint=hint)
