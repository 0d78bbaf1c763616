"""A process that serves campaigns: each line of its input names the folder of one, each line it prints an address.

``earmark serve`` needs a process for every campaign, and starting one takes longer than most tests. The app, uvicorn
and the thread that makes estimates are the same here.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading

# As 'earmark serve' does.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import uvicorn

from earmark.store.folder import CampaignFolder
from earmark.web.app import create_app
from earmark.web.serving import set_up_logs


def start(path: str) -> tuple[str, uvicorn.Server, threading.Thread]:
    """Serve a campaign on a free port of this computer."""
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = create_app(CampaignFolder.open(path))
    config = uvicorn.Config(app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    return address, server, thread


def main() -> None:
    set_up_logs("text")
    running: dict[str, tuple[uvicorn.Server, threading.Thread]] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if "stop" in asked:
            server, thread = running.pop(asked["stop"])
            server.should_exit = True
            thread.join(20)
            print(json.dumps({"stopped": asked["stop"]}), flush=True)
            continue
        try:
            address, server, thread = start(asked["serve"])
        except Exception as error:
            print(json.dumps({"error": str(error)}), flush=True)
            continue
        running[address] = server, thread
        print(json.dumps({"link": address}), flush=True)


if __name__ == "__main__":
    main()
