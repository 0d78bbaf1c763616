"""``earmark backup``, ``earmark restore`` and ``earmark move``: copies of a campaign, each proved to be the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earmark.cli.campaigns import CampaignPath, opened, print_row, require_store, say, store_address
from earmark.cli.command import argument, option
from earmark.cli.output import Output

if TYPE_CHECKING:
    from earmark.store.table_rows import Copied

_DIGITS = 12


def backup(folder: CampaignPath, output: Annotated[Path, option("FILE", "-o")], out: Output) -> None:
    """Write a whole campaign to one file: settings, inputs, answers and people.

    Assessors may go on meanwhile; the file contains the campaign as it was at one moment. Sounds and pictures are not
    in it, only the list of them with their hashes, nor are inputs outside the folder ('earmark init --reference'). The
    file holds names: keep it as safe as the campaign.

    Parameters
    ----------
    folder
        The folder of the campaign.
    output
        The file, for example study.zip.

    Examples
    --------
    earmark backup study -o study.zip
    """
    with opened(folder, out) as campaign:
        from earmark.store.backups import backup as write
        from earmark.store.backups import inputs_elsewhere

        copied = write(campaign, output)
        for file in inputs_elsewhere(campaign.settings):
            out.note(f"not in the backup, because it is outside the folder: {file.file}")
        print_row(out, {"file": str(output), **_row(copied)}, f"{output}: {_in_words(copied)}")


def restore(
    file: Annotated[Path, argument("FILE")],
    folder: CampaignPath,
    out: Output,
    store: Annotated[str | None, option("URL")] = None,
) -> None:
    """Make a campaign's folder from a backup; the copy is compared with what the backup should hold.

    A backup lists its files with sizes and hashes. Where anything differs, or the backup is of a newer version, nothing
    is made. Backups of earlier versions can be restored too.

    Parameters
    ----------
    file
        What 'earmark backup' wrote.
    folder
        The folder to make, which must not exist yet or be empty.
    store
        The database, such as postgresql://user@server/database. When omitted, a SQLite file in the folder.

    Examples
    --------
    earmark restore study.zip study
    earmark restore study.zip study --store postgresql://earmark@server/campaigns
    """
    require_store()
    from earmark.store.backups import inputs_elsewhere
    from earmark.store.backups import restore as make
    from earmark.store.inputs import find_file, hash_file
    from earmark.store.settings import NAME, Settings

    copied = make(file, folder, store=store_address(store, folder))
    for input in inputs_elsewhere(Settings.read(folder / NAME)):
        path = find_file(folder, input)
        what = None if path.is_file() else "is not there"
        if what is None and input.sha256 and hash_file(path) != input.sha256:
            what = "is another file there"
        if what is not None:
            out.note(f"bring {input.file} back before you go on: it was outside the folder and {what}")
    if (folder / "media" / "manifest.json").is_file():
        out.note(f"sounds and pictures are not part of a backup: prepare them again with 'earmark media {folder}'")
    print_row(out, {"campaign": str(folder), **_row(copied)}, f"{folder}: {_in_words(copied)}")


def move(folder: CampaignPath, store: Annotated[str, option("URL")], out: Output) -> None:
    """Move a campaign to another database, and prove that the copy is the same.

    Nobody can answer while it is copied. The old database keeps a copy of the log alone, without names, in which nobody
    can answer any more. Afterwards the log is read from both databases; the two lines printed have to agree.

    Parameters
    ----------
    folder
        The folder of the campaign.
    store
        The other database, such as postgresql://user@server/database; sqlite for the file campaign.db in the folder.

    Examples
    --------
    earmark move study --store postgresql://earmark@server/campaigns
    earmark move study --store sqlite
    """
    import polars as pl

    address = store_address(store, folder)
    with opened(folder, out) as campaign:
        from earmark.store.address import store_url
        from earmark.store.database import Database
        from earmark.store.folder import CampaignFolder
        from earmark.store.transfer import log_of, move

        before, number = store_url(folder, campaign.settings), campaign.store.campaign
        copied = move(campaign, address)
    source = Database(before, read_only=True)
    try:
        proof = [{"store": source.shown, **log_of(source, number)}]
    finally:
        source.close()
    with CampaignFolder.open(folder) as there:
        database = there.store.database
        proof.append({"store": database.shown, **log_of(database, there.store.campaign)})
    frame = pl.DataFrame(proof)
    if not out.for_people:
        out.rows(frame)
        return
    out.show_frame(frame, formats={"digest": lambda digest: str(digest)})
    say(out, f"the campaign goes on in {proof[1]['store']}; {sum(copied.rows.values()):,} rows were compared")


def _row(copied: Copied) -> dict[str, object]:
    rows = {name.removeprefix("earmark_"): count for name, count in copied.rows.items()}
    return {"events": copied.events, "digest": copied.digest, "rows": sum(rows.values())}


def _in_words(copied: Copied) -> str:
    total = sum(copied.rows.values())
    return f"{copied.events:,} events, {total:,} rows in all; hash of the log {copied.digest[:_DIGITS]}…"
