"""By which names the app answers: a page of another site must not reach it under a name that leads here for a while.

Whoever owns a name can let it lead to this computer (DNS rebinding), and a browser then takes the app for a part of
that site. Such a request has the foreign name in its header ``Host``. An IP address cannot be made to lead elsewhere.
"""

from __future__ import annotations

import socket
from functools import cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from earmark.store.settings import Settings

_LOCAL = "localhost"


def is_allowed(host: str | None, settings: Settings) -> bool:
    """Tell whether a campaign answers requests to a host, as the header names it.

    It answers to IP addresses, ``localhost``, the name of this computer, the name in ``people.address`` and those in
    ``people.hosts``, and where the header is missing, as no browser leaves it out.
    """
    if host is None:
        return True
    name = _name(host)
    if name is None:
        return False
    people = settings.people
    known = {_LOCAL, *_own_names(), _name(urlsplit(people.address).netloc), *(one.lower() for one in people.hosts)}
    return name in known or name.endswith(f".{_LOCAL}") or _is_address(name)


def _name(host: str) -> str | None:
    """Return the name in a header ``Host``, without the port."""
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return None
    return name.removesuffix(".") if name else None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@cache
def _own_names() -> tuple[str, ...]:
    name = socket.gethostname().lower()
    return (name, f"{name.partition('.')[0]}.local")
