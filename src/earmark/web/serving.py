"""The server: the app of a campaign behind uvicorn, in one process or several.

Several processes need PostgreSQL if they are on several hosts; on one host SQLite will do. The process that starts them
keeps the estimates fresh, so that nobody waits for a question while it computes. A signal to end lets requests that are
under way finish first.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from earmark.errors import InputError, ParameterError
from earmark.store.folder import CampaignFolder
from earmark.store.worker import LAST_ESTIMATE, Worker
from earmark.web.metrics import JsonLines
from earmark.web.slow_clients import PatientProtocol
from earmark.workers import end_with_parent

_FOLDER, _LOGS, _ESTIMATES = "EARMARK_SERVED_FOLDER", "EARMARK_LOGS", "EARMARK_ESTIMATES_ELSEWHERE"
_GRACE = 10
# The thread that makes estimates lets requests through every so many seconds.
_SWITCH = 0.001
PATIENCE = 8.0
"""For how many seconds a request tries to reach a database that is away; a page waits for 15 and asks again."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Serving:
    """Where and how a campaign is served.

    Parameters
    ----------
    folder : path
        Of the campaign.
    host, port : str, int
        Where to listen; a port of 0 takes a free one.
    workers : int
        How many processes.
    logs : {"text", "json"}
        How logs are written.
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    logs: str = "text"


def serve(serving: Serving) -> None:
    """Serve a campaign until a signal ends it.

    Raises
    ------
    InputError
        If the address is taken.
    """
    if serving.workers < 1:
        raise ParameterError(f"a server has 1 process or more, got {serving.workers}")
    options: dict[str, Any] = {
        "host": serving.host,
        "port": serving.port,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "date_header": True,
        # Behind a proxy on this host, the addresses of clients are those that it names.
        "proxy_headers": True,
        "forwarded_allow_ips": os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1"),
        "timeout_graceful_shutdown": _GRACE,
        "http": PatientProtocol,
        "timeout_keep_alive": 30,
    }
    set_up_logs(serving.logs)
    sys.setswitchinterval(_SWITCH)
    if serving.workers == 1:
        with CampaignFolder.open(serving.folder) as folder:
            folder.store.database.patience = PATIENCE
            from earmark.web.app import create_app

            uvicorn.run(create_app(folder), **options)
        return
    # The processes open the campaign themselves. This one has nothing to do but to watch them, and makes estimates.
    os.environ |= {_FOLDER: str(serving.folder.resolve()), _LOGS: serving.logs, _ESTIMATES: "1"}
    with (
        tempfile.TemporaryDirectory(prefix="earmark-metrics-") as shared,
        CampaignFolder.open(serving.folder) as folder,
    ):
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = shared
        # That a process died and was replaced is news to whoever runs the server, and uvicorn thinks it is not.
        logging.getLogger("uvicorn.error").setLevel(logging.INFO)
        thread, stopped = Worker(folder).start()
        try:
            uvicorn.run("earmark.web.serving:app_of_environment", factory=True, workers=serving.workers, **options)
        finally:
            stopped.set()
            thread.join(LAST_ESTIMATE)


def app_of_environment() -> FastAPI:
    """Make the app of the campaign that the environment names, in a process of its own."""
    from earmark.web.app import create_app

    folder = os.environ.get(_FOLDER)
    if folder is None:
        raise InputError(expected=f"the folder of a campaign in {_FOLDER}", got="nothing")
    # Without whoever started it and the others, it would keep the address for ever.
    end_with_parent()
    set_up_logs(os.environ.get(_LOGS, "text"))
    sys.setswitchinterval(_SWITCH)
    opened = CampaignFolder.open(folder)
    opened.store.database.patience = PATIENCE
    return create_app(opened, worker=_ESTIMATES not in os.environ)


def set_up_logs(how: str) -> None:
    """Write logs to standard error, as text or as lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if how == "json" else logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name, level in (("earmark", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level)
    # A line for every request is for machines that read it.
    logging.getLogger("earmark.access").setLevel(logging.INFO if how == "json" else logging.WARNING)
