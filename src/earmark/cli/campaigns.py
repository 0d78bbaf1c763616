"""What commands about stored campaigns share: the folder they open, and what they say about it.

The store needs libraries that not everybody has, so it is imported here and in functions only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from earmark.cli.command import argument
from earmark.cli.output import Column, Output

if TYPE_CHECKING:
    import polars as pl

    from earmark.store.folder import CampaignFolder

_LIBRARIES = ("sqlalchemy", "alembic", "tomlkit")

# Choices are spelt out here, so that help needs no imports.
What = Literal["judgments", "answers", "rankings", "log"]
Naming = Literal["pseudonyms", "names", "none"]
Kind = Literal["grade", "prefer", "order", "lists"]

CampaignPath = Annotated[Path, argument("DIR")]


def require_store() -> None:
    """Say which extra is missing, where the libraries of the store are not installed."""
    from earmark.errors import MissingLibraryError

    for name in _LIBRARIES:
        try:
            import_module(name)
        except ImportError:
            raise MissingLibraryError(
                f"stored campaigns need {name}, which is not installed: pip install 'earmark[web]'"
            ) from None


@contextmanager
def opened(path: Path, out: Output) -> Iterator[CampaignFolder]:
    """Open the folder of a campaign, say which of its settings changed, and close it in the end."""
    require_store()
    from earmark.store.folder import CampaignFolder

    folder = CampaignFolder.open(path)
    try:
        for change in folder.recorded:
            out.note(f"recorded: {change}")
        yield folder
    finally:
        folder.close()


def store_address(given: str | None, folder: Path) -> str | None:
    """Return the address of a store with an absolute path; None for the file in the campaign's folder.

    Parameters
    ----------
    given : str or None
        As on the command line; ``sqlite`` alone is the file in the folder.
    folder : path
        The campaign's.
    """
    require_store()
    from earmark.store.address import DATABASE
    from earmark.store.database import parse_url

    if given is None or given == "sqlite":
        return None
    url = parse_url(given)
    if url.get_backend_name() != "sqlite":
        return given
    path = Path(str(url.database)).resolve()
    return None if path == (folder / DATABASE).resolve() else f"sqlite:///{path}"


def print_row(out: Output, row: dict[str, Any], sentence: str) -> None:
    """Print one row of data; for people a sentence."""
    import polars as pl

    if out.for_people:
        out.show_whole(sentence)
    else:
        out.rows(pl.DataFrame([row]))


def show_facts(out: Output, facts: dict[str, str], *, title: str = "") -> None:
    """Print names and what they are, one pair a line."""
    names, values = list(facts), list(facts.values())
    out.show_columns([Column("", names, numeric=False)], [Column("", values, numeric=False)], title=title)


def say(out: Output, *lines: str) -> None:
    """Say something on standard error, after the data: what was done, and what to do next."""
    out.say_notes()
    if not out.quiet:
        sys.stderr.writelines(f"{line}\n" for line in lines)
        sys.stderr.flush()


def shown_setting(value: Any) -> str | None:
    """Return the value of a setting as people write it; None where the setting is left out."""
    from earmark.store.setting_types import show_share

    if isinstance(value, dict):
        return str(value["file"])
    if isinstance(value, list):
        return " ".join(str(shown_setting(one)) for one in value)
    if isinstance(value, float):
        return str(show_share(value))
    return None if value is None else str(value)


def local_times(frame: pl.DataFrame, column: str = "time") -> list[str]:
    """Return times in the time zone of this computer."""
    return [f"{time.astimezone():%Y-%m-%d %H:%M}" for time in frame[column]]
