"""``earmark serve``: the web app of a campaign."""

from __future__ import annotations

import os
import shlex
import socket
import sys
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from earmark.cli.campaigns import CampaignPath, opened, require_store, say
from earmark.cli.command import option
from earmark.cli.output import Output
from earmark.errors import InputError, MissingLibraryError

if TYPE_CHECKING:
    from earmark.store.folder import CampaignFolder

_LIBRARIES = ("fastapi", "uvicorn", "jinja2", "prometheus_client")


def serve(
    folder: CampaignPath,
    out: Output,
    host: Annotated[str, option("ADDRESS")] = "127.0.0.1",
    port: Annotated[int, option("PORT", min=0, max=65535)] = 8000,
    new_link: Annotated[bool, option()] = False,
    workers: Annotated[int, option("N", min=1)] = 1,
    logs: Annotated[Literal["text", "json"], option("FORM")] = "text",
) -> None:
    """Serve a campaign: people judge in their browsers, and you watch the ranking form.

    Your link as the organiser is printed once, when it is made: keep it. Where the output is not a terminal, as in a
    service or a container, a link is made and printed only with --new-link, because it would end up in a log. The
    server listens on this computer only, unless --host says otherwise; --host 0.0.0.0 lets others in the same network
    in. Ctrl-C ends the server; all answers are kept.

    Parameters
    ----------
    folder
        The folder of the campaign.
    host
        The address to listen on: 127.0.0.1 for this computer only, 0.0.0.0 for the whole network.
    port
        The port to listen on; 0 takes a free one.
    new_link
        Make a new link for the organiser and print it; the old one ends.
    workers
        How many processes serve the campaign.
    logs
        How to write what happens to standard error: as text, or as JSON with a line for every request.

    Examples
    --------
    earmark serve study
    earmark serve study --host 0.0.0.0 --port 8080
    earmark serve study --new-link
    earmark serve study --workers 2 --logs json
    """
    # Estimates are made of many small matrices, on which several threads are slower than one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    require_store()
    require_web()
    from earmark.web.serving import LOOPBACK, Serving
    from earmark.web.serving import serve as run

    with opened(folder, out) as campaign:
        found = free_port(host, port)
        address = address_of(host, found)
        if port and urlsplit(campaign.settings.people.address).hostname in LOOPBACK:
            # Nobody has named an address that others reach: invitations lead to this server. A port that was drawn is
            # another one the next time.
            campaign = campaign.rewrite_settings({"people.address": address})
        rows = [{"what": "address", "link": address}]
        secret = _organiser_secret(campaign, new_link=new_link)
        if secret is not None:
            # A server that is reached by https has a proxy before it, and the organiser comes that way too.
            outside = campaign.settings.people.address.rstrip("/")
            start = outside if outside.startswith("https://") else address
            rows.append({"what": "organiser", "link": f"{start}/organise#{secret}"})
        _say_where(campaign, out, rows, host in LOOPBACK, address)
    run(Serving(folder, host, found, workers, logs))


def require_web() -> None:
    """Say which extra is missing, where the libraries of the web app are not installed."""
    from importlib import import_module

    for name in _LIBRARIES:
        try:
            import_module(name)
        except ImportError:
            raise MissingLibraryError(f"the web app needs {name}: pip install 'earmark[web]'") from None


def _organiser_secret(campaign: CampaignFolder, *, new_link: bool) -> str | None:
    from earmark.store.links import has_organiser_link, new_organiser_link

    # What is printed elsewhere than on a terminal may be kept by somebody else: systemd, Docker.
    first = sys.stdout.isatty() and not has_organiser_link(campaign.store)
    return new_organiser_link(campaign.store) if first or new_link else None


def _say_where(campaign: CampaignFolder, out: Output, rows: list[dict[str, str]], local: bool, address: str) -> None:
    import polars as pl

    from earmark.store.links import has_organiser_link

    path = shlex.quote(str(campaign.path))
    if out.for_people:
        words = {"address": "The campaign is at", "organiser": "Your link, shown once"}
        out.show_whole(*(f"{words[row['what']]}:  {row['link']}" for row in rows))
    else:
        out.rows(pl.DataFrame(rows))
    sys.stdout.flush()
    if len(rows) == 1:
        known = (
            "your link was printed when it was made" if has_organiser_link(campaign.store) else "you have no link yet"
        )
        say(
            out, f"{known}; 'earmark serve {path} --new-link' in a terminal makes one, with --port 0 beside this server"
        )
    named = campaign.settings.people.address
    # One with https is that of a proxy, through which everybody comes.
    if not local and named != address and not named.startswith("https://"):
        say(out, f"invitations start with {named}; to invite people by this address:")
        say(out, f"  earmark set {path} people.address={address}")
    elif local:
        say(out, "only this computer can reach it; --host 0.0.0.0 lets others in the same network in")


def free_port(host: str, port: int) -> int:
    """Return the port, or a free one for 0; refuse one that is taken before anything is promised."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            hint = "choose another one with --port, or 0 for any that is free"
            raise InputError(expected=f"a free port at {host}", got=f"{port}: {error.strerror}", hint=hint) from None
        return int(probe.getsockname()[1])


def address_of(host: str, port: int) -> str:
    """Return what links start with: for all addresses of this computer, the one that others reach it by."""
    name = host
    if host in ("0.0.0.0", "::"):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                # Nothing is sent: the system only says which of its addresses it would use.
                probe.connect(("192.0.2.1", 9))
                name = probe.getsockname()[0]
            except OSError:
                name = "127.0.0.1"
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"
