"""``earmark invite`` and ``earmark erase``: the people of a campaign."""

from __future__ import annotations

from typing import Annotated

from earmark.cli.campaigns import CampaignPath, opened, print_row
from earmark.cli.command import argument, option
from earmark.cli.output import Output
from earmark.errors import ParameterError


def invite(
    folder: CampaignPath,
    out: Output,
    names: Annotated[list[str] | None, argument("NAME")] = None,
    open_seats: Annotated[int | None, option("N", "--open", min=1)] = None,
    pilot: Annotated[bool, option()] = False,
) -> None:
    """Make links for assessors: one for each name, or one that several people may use.

    A link is shown once and cannot be read from the store again. Somebody who is invited again gets a new link, and the
    old one stops working. The log contains pseudonyms only; 'earmark erase' erases a name.

    Parameters
    ----------
    folder
        The folder of the campaign.
    names
        The people, one name or more.
    open_seats
        Make one link that this many people may use, whatever their names. Everybody who joins gets a link of their own.
    pilot
        The links are for trying the campaign out: the same pages and questions, and none of the answers counts.

    Examples
    --------
    earmark invite study Ann Bob
    earmark invite study --open 20
    earmark invite study Cid --pilot
    """
    import polars as pl

    if bool(names) == (open_seats is not None):
        raise ParameterError("say whom to invite: names, or --open N for one link that N people may use")
    twice = next((name for name in names or () if (names or []).count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"'{twice}' is there twice: two people need two names")
    with opened(folder, out) as campaign:
        from earmark.store.links import invite, invite_openly
        from earmark.store.sections import People

        if names:
            made = invite(campaign.store, names, pilot=pilot)
        else:
            made = [invite_openly(campaign.store, open_seats or 1, pilot=pilot)]
        address = campaign.settings.people.address
        if address == People().address:
            out.note(
                f"the links work on this computer only, while 'earmark serve {folder}' runs: name the address that "
                f"others reach it by, with 'earmark set {folder} people.address=https://…', and invite again"
            )
        rows = [{"name": one.name, "link": one.link(address)} for one in made]
        if not out.for_people:
            out.rows(pl.DataFrame(rows))
            return
        width = max(len(one["name"]) for one in rows)
        out.show_whole(*(f"{one['name']:{width}}  {one['link']}".strip() for one in rows))


def erase(folder: CampaignPath, name: Annotated[str, argument("NAME")], out: Output) -> None:
    """Erase who an assessor is: name, mail and the ids of platforms. The answers stay under the pseudonym.

    All links of the person stop working. Files that were exported with names, and earlier backups, still contain the
    name.

    Parameters
    ----------
    folder
        The folder of the campaign.
    name
        The name of the person, or the pseudonym.

    Examples
    --------
    earmark erase study Ann
    """
    with opened(folder, out) as campaign:
        from earmark.store.folder import BACKUPS
        from earmark.store.people import erase, find_person

        assessor = find_person(campaign.store, name)
        erase(campaign.store, assessor)
        old = sorted((folder / BACKUPS).glob("*.zip")) if (folder / BACKUPS).is_dir() else []
        if old:
            out.note(f"backups in {folder / BACKUPS} may still hold the name: delete them when you need them no more")
        out.note("backups, exports and file names that were imported may still hold the name: look there too")
        print_row(out, {"assessor": assessor, "erased": True}, f"erased; the answers stay under {assessor}")
