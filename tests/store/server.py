"""``python server.py URL UID RULES``: serve a desk on a Unix socket, one thread for every connection, until killed.

The process loads everything, then waits for a line with the address to listen at: tests keep one ready, so that the
next server is there soon after one was killed.
"""

from __future__ import annotations

import json
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection, Listener

from load import desk_of

from earmark.store.desk import Desk


def serve(desk: Desk, connection: Connection) -> None:
    with suppress(EOFError, OSError), connection:
        while True:
            call, arguments, options = connection.recv()
            connection.send(getattr(desk, call)(*arguments, **options))


def main() -> None:
    url, uid, rules = sys.argv[1:]
    address = sys.stdin.readline().strip()
    desk = desk_of(url, uid, json.loads(rules))
    with Listener(address, "AF_UNIX", backlog=64) as listener:
        print("ready", flush=True)
        while True:
            threading.Thread(target=serve, args=(desk, listener.accept()), daemon=True).start()


if __name__ == "__main__":
    main()
