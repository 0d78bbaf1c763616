"""Campaigns in folders, served by a process that all tests of a worker share."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judging import Server, make_campaign, wait_for

from earmark.store.folder import CampaignFolder


class Host:
    """The process that serves campaigns."""

    def __init__(self) -> None:
        command = [sys.executable, str(Path(__file__).with_name("host.py"))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **what: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the process that serves campaigns has ended"
        return json.loads(line)  # type: ignore[no-any-return]

    def serve(self, folder: Path) -> HostedServer:
        """Serve a campaign; returns what tests know about it."""
        opened = CampaignFolder.open(folder)
        said = self.ask(serve=str(folder))
        if "link" not in said:
            opened.close()
            raise AssertionError(f"{folder} is not served: {said}")
        server = HostedServer(folder, self.process, said["link"], opened, host=self)
        try:
            wait_for(f"{server.address}/health", patience=60)
        except BaseException:
            server.close()
            raise
        return server

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.terminate()
        self.process.wait(timeout=60)
        self.process.stdin.close()
        self.process.stdout.close()


@dataclass
class HostedServer(Server):
    """A campaign that is served beside others."""

    host: Host | None = None

    def close(self) -> None:
        self.opened.close()
        assert self.host is not None
        if self.host.process.poll() is None:
            self.host.ask(stop=self.address)


def serve_by_command(folder: Path, *, host: str) -> Server:
    """Serve a campaign with ``earmark serve``, in a process of its own."""
    where = ["--port", "0", "--host", host, "--format", "jsonl"]
    command = [sys.executable, "-m", "earmark.cli", "serve", str(folder), *where]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    opened = CampaignFolder.open(folder)
    line = process.stdout.readline()
    server = Server(folder, process, json.loads(line)["link"] if line else "", opened)
    try:
        assert line, "the server did not start"
        wait_for(f"{server.address}/health", patience=60)
    except BaseException:
        # Whatever stays open would be reported in the middle of another test.
        server.close()
        raise
    return server


@contextmanager
def hosted(host: Host, folder: Path) -> Iterator[Server]:
    """Serve the campaign in a folder for a while."""
    server = host.serve(folder)
    try:
        yield server
    finally:
        server.close()


class Templates:
    """Campaigns made once, each to be copied: making one encodes its sounds."""

    def __init__(self, inputs: Path, home: Path) -> None:
        self.inputs, self.home = inputs, home

    def copy(self, name: str, target: Path, settings: dict[str, Any]) -> None:
        """Make a campaign of a name with settings of its own."""
        files = {key: value for key, value in settings.items() if key.startswith("inputs.")}
        template = self.home / "-".join([name, *sorted(one.rpartition(".")[2] for one in files)])
        if not template.is_dir():
            make_campaign(self.inputs, name, template, files).close()
        shutil.copytree(template, target)
        wanted = {key: value for key, value in settings.items() if key not in files}
        with CampaignFolder.open(target) as folder:
            if wanted:
                folder.rewrite_settings(wanted)
