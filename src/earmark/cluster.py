"""A Dask cluster that helps with long work: reached, checked, used, and left as it was found.

joblib has a backend for Dask, which is not used here: where a cluster has one processor, or one so far, it computes in
this process instead, and it takes the death of workers for a withdrawal of the work. Futures of Dask do neither.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from earmark.errors import ClusterError, MissingLibraryError

CONNECTING = 10.0
"""For how many seconds the scheduler of a cluster is waited for."""
JOINING = 10.0
"""For how many seconds the first worker is waited for."""

Compute = Callable[[Callable[..., Any], Any, Sequence[Any]], Generator[Any, None, None]]
"""Given a function, what all its calls share and an argument for each call, yields what they return, in order."""

_START = "start one with 'dask scheduler' and 'dask worker ADDRESS'"
# What the last bits of a result depend on.
_LIBRARIES = ("earmark", "numpy", "scipy", "polars")


@contextmanager
def connected(address: str, forget: Callable[[], None]) -> Iterator[Compute]:
    """Be connected to a cluster for a while; yields what lets it compute.

    Parameters
    ----------
    address : str
        Of the scheduler.
    forget : callable
        Called on every worker when all is computed.

    Raises
    ------
    ClusterError
        If the cluster cannot be reached, has no workers, has workers of other versions, or loses too many.
    """
    distributed = _load_distributed()
    client = _connect(distributed, address)

    def compute(call: Callable[..., Any], shared: Any, arguments: Sequence[Any]) -> Generator[Any, None, None]:
        everywhere = client.scatter(shared, broadcast=True, hash=False)
        # Dask would compute equal calls once, and remember them for others.
        futures = deque(client.submit(call, everywhere, one, pure=False) for one in arguments)
        while futures:
            yield futures.popleft().result()

    try:
        _check_workers(client, address)
        yield compute
        client.run(forget, on_error="ignore")
    except distributed.KilledWorker as error:
        raise ClusterError(
            f"cluster {address}: {error.allowed_failures + 1} workers died at the same piece of work, perhaps because "
            "there is too little memory, or because earmark is not installed there"
        ) from None
    finally:
        # Work that nobody waits for is not begun.
        client.close(timeout=2)


def _connect(distributed: Any, address: str) -> Any:
    if not address.strip():
        raise ClusterError(f"expected the address of a Dask scheduler, tcp://host:port, got {address!r}")
    try:
        return distributed.Client(address, timeout=CONNECTING, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ClusterError(f"cannot reach a Dask cluster at {address}: {reason} ({_START})") from None


def _check_workers(client: Any, address: str) -> None:
    """Refuse workers that could not do the work as it is done here: a call that they cannot load would end them."""
    try:
        client.wait_for_workers(1, timeout=JOINING)
    except TimeoutError:
        raise ClusterError(f"the cluster {address} has no workers ({_START})") from None
    found = client.get_versions()
    ours = _python(found["client"])
    for worker, theirs in found["workers"].items():
        compare_versions(ours, _python(theirs), f"the worker {worker}")
    ask = _versions_of(_LIBRARIES)
    ours = ask()
    for worker, told in client.run(ask, on_error="return").items():
        if not isinstance(told, OSError):
            # Otherwise it is gone.
            compare_versions(ours, told, f"the worker {worker}")


def _python(found: Mapping[str, Any]) -> dict[str, str | None]:
    return {"Python": ".".join(found["packages"]["python"].split(".")[:2])}


def _versions_of(libraries: tuple[str, ...]) -> Callable[[], dict[str, str | None]]:
    """Return a function that does not need earmark where it is called, since it is sent as code and not by its name."""

    def versions() -> dict[str, str | None]:
        from importlib import import_module

        found: dict[str, str | None] = {}
        for name in libraries:
            try:
                found[name] = import_module(name).__version__
            except ImportError:
                found[name] = None
        return found

    return versions


def compare_versions(ours: Mapping[str, str | None], theirs: Mapping[str, str | None], who: str) -> None:
    """Compare the versions of libraries here with those that a worker has.

    Raises
    ------
    ClusterError
        If one is missing there or differs.
    """
    for name, version in ours.items():
        found = theirs.get(name)
        if found is None:
            raise ClusterError(f"{who} has no {name}: install version {version} there, as it is here")
        if found != version:
            raise ClusterError(
                f"{who} has {name} {found}, here it is {version}: install the same version on both, for results "
                "would depend on who computes them"
            )


def _load_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingLibraryError("a cluster needs Dask: pip install 'earmark[cluster]'") from None
    # What its threads have to say about lost connections, the errors here say in one line.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    return distributed
