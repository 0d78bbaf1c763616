"""``earmark serve`` as a process: what it prints, how it is reached, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import sqlalchemy as sa
from served import copy_campaign, open_client

from earmark.cli.main import main
from earmark.store.folder import CampaignFolder
from earmark.store.links import has_organiser_link


@pytest.fixture
def study(templates: Callable[[str], Path], tmp_path: Path) -> Path:
    copy_campaign(templates("grade"), tmp_path / "study").close()
    return tmp_path / "study"


@contextmanager
def serving(study: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], list[dict[str, str]]]]:
    """Run the command until its address answers; yields the process and the lines that it printed."""
    command = [sys.executable, "-m", "earmark.cli", "serve", str(study), "--port", "0", "--format", "jsonl", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines = [json.loads(process.stdout.readline())]
        wait_for(lambda: get(f"{lines[0]['link']}/health")[0] == 200)
        # Whatever else it printed stands there by now.
        os.set_blocking(process.stdout.fileno(), False)
        lines += [json.loads(line) for line in process.stdout.readlines()]
        yield process, lines
    finally:
        process.terminate()
        process.communicate(timeout=240)


def get(address: str, **headers: str) -> tuple[int, Any]:
    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


def wait_for(what: Callable[[], bool], seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)


def test_the_organiser_s_link_is_printed_once(study: Path) -> None:
    with serving(study, "--new-link") as (process, lines):
        address, organiser = lines
        assert address["what"] == "address"
        assert address["link"].startswith("http://127.0.0.1:")
        page, _, secret = organiser["link"].partition("#")
        assert page == f"{address['link']}/organise"
        assert get(f"{address['link']}/metrics", Authorization=f"Bearer {secret}")[0] == 200
        assert get(f"{address['link']}/metrics")[0] == 401
        process.send_signal(signal.SIGINT)
        _, logged = process.communicate(timeout=240)
        assert process.returncode == 0
        assert "Traceback" not in logged
    with serving(study) as (_, lines):
        assert [line["what"] for line in lines] == ["address"]
        assert get(f"{lines[0]['link']}/metrics", Authorization=f"Bearer {secret}")[0] == 200
    with serving(study, "--new-link") as (_, lines):
        assert [line["what"] for line in lines] == ["address", "organiser"]
        assert get(f"{lines[0]['link']}/metrics", Authorization=f"Bearer {secret}")[0] == 401


def test_a_link_does_not_end_in_a_log_by_itself(study: Path) -> None:
    """What a service or a container prints is kept, so the secret is for terminals, or for who asks for it."""
    with serving(study) as (process, lines):
        assert [line["what"] for line in lines] == ["address"]
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=240)
        assert "you have no link yet" in said
        assert "--new-link" in said
    with CampaignFolder.open(study) as folder:
        assert not has_organiser_link(folder.store)


def test_a_link_is_printed_on_a_terminal(study: Path) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "earmark.cli", "serve", str(study), "--port", "0", "--format", "jsonl"]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        os.close(theirs)
        try:
            with os.fdopen(ours, "r") as screen:
                lines = [json.loads(screen.readline()) for _ in range(2)]
        finally:
            process.terminate()
    assert [line["what"] for line in lines] == ["address", "organiser"]


def test_behind_a_proxy_the_link_is_the_one_to_open(study: Path) -> None:
    with CampaignFolder.open(study) as folder:
        folder.rewrite_settings({"people.address": "https://listen.example.org/"})
    with serving(study, "--new-link") as (_, lines):
        assert lines[1]["link"].startswith("https://listen.example.org/organise#")


def test_an_open_dashboard_does_not_delay_the_end(study: Path) -> None:
    with serving(study, "--new-link") as (process, lines):
        secret = lines[1]["link"].partition("#")[2]
        address = f"{lines[0]['link']}/api/organise/live"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {secret}"})
        with urllib.request.urlopen(request, timeout=240) as stream:
            assert stream.readline().startswith(b"retry")
            process.send_signal(signal.SIGTERM)
            # The dashboard is open until here.
            _, logged = process.communicate(timeout=240)
        assert "Traceback" not in logged
        assert process.returncode == 0


def test_estimates_are_kept_fresh_by_one_of_several_processes(study: Path) -> None:
    with serving(study, "--workers", "2", "--logs", "json", "--new-link") as (process, lines):
        secret = lines[1]["link"].partition("#")[2]
        bearer = {"Authorization": f"Bearer {secret}"}

        def has_estimate() -> bool:
            _, numbers = get(f"{lines[0]['link']}/metrics", **bearer)
            return "earmark_estimate_age_seconds" in numbers and "earmark_estimate_age_seconds -1" not in numbers

        wait_for(has_estimate)
        # Requests of both processes are counted together.
        status, numbers = get(f"{lines[0]['link']}/metrics", **bearer)
        assert status == 200
        assert 'earmark_requests_total{route="/health"' in numbers
        # The numbers of the campaign are those of this moment, once, whichever process answers.
        for number in range(6):
            with CampaignFolder.open(study) as folder:
                folder.desk.comment(f"ann{number}", "hm")
                events = folder.store.last_sequence
            _, numbers = get(f"{lines[0]['link']}/metrics", **bearer)
            told = [line for line in numbers.splitlines() if line.startswith("earmark_events")]
            assert told == [f"earmark_events {events}.0"]
            assert "pid=" not in numbers
        process.send_signal(signal.SIGTERM)
        _, logged = process.communicate(timeout=240)
    told = [json.loads(line) for line in logged.splitlines() if line.startswith("{")]
    routes = {line["route"] for line in told if line["message"] == "request"}
    assert "/health" in routes
    assert secret not in logged


def test_a_process_that_dies_is_replaced_and_the_log_says_so(study: Path) -> None:
    with serving(study, "--workers", "2") as (process, lines):
        started = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        workers = [pid for pid in map(int, started) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        assert process.stderr is not None
        while f"[{workers[0]}] died" not in (line := process.stderr.readline()):
            assert line, "the server ended"
        wait_for(lambda: get(f"{lines[0]['link']}/health")[0] == 200)


def test_invitations_lead_to_the_server_that_runs(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["set", str(study), "people.address=http://127.0.0.1:8000", "--quiet"]) == 0
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "earmark.cli", "serve", str(study), "--port", str(port), "--format", "jsonl"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            wait_for(lambda: get(f"http://127.0.0.1:{port}/health")[0] == 200)
            capsys.readouterr()
            assert main(["invite", str(study), "Ann", "--format", "jsonl", "--quiet"]) == 0
            link = json.loads(capsys.readouterr().out)["link"]
            assert get(link)[0] == 200
        finally:
            process.terminate()


def test_the_address_of_a_proxy_is_not_to_be_replaced(study: Path) -> None:
    assert main(["set", str(study), "people.address=https://listen.example.org", "--quiet"]) == 0
    with serving(study, "--host", "0.0.0.0", "--new-link") as (process, lines):
        assert lines[1]["link"].startswith("https://listen.example.org/organise#")
        process.terminate()
        assert "people.address=" not in process.communicate(timeout=240)[1]


def test_a_port_that_is_taken_is_said_before_anything_is_promised(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", str(study), "--port", str(port)]) == 2
    said = capsys.readouterr()
    assert f"{port}" in said.err
    assert "--port" in said.err
    assert "organise" not in said.out
    with CampaignFolder.open(study) as folder:
        assert not has_organiser_link(folder.store)


def test_what_is_no_campaign_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path)]) == 2
    assert "campaign.toml" in capsys.readouterr().err


def test_a_store_that_does_not_answer_is_told_soon(make_campaign: Callable[..., CampaignFolder]) -> None:
    folder, busy = make_campaign(), threading.Event()
    with open_client(folder) as client:
        assert client.get("/health").json() == {"status": "ok", "state": "open"}

        def hang(*_: object, **__: object) -> None:
            busy.wait()

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("earmark.store.database.Database._transaction", hang)
            try:
                # The store does not answer before this does.
                said = client.get("/health")
            finally:
                busy.set()
    assert said.status_code == 503
    assert said.json()["error"]["code"] == "busy"


def test_a_store_that_refuses_is_told_at_once(make_campaign: Callable[..., CampaignFolder]) -> None:
    folder = make_campaign()
    with open_client(folder) as client, pytest.MonkeyPatch.context() as patched:
        calls: list[object] = []

        def refuse(*_: object, **__: object) -> None:
            calls.append(None)
            raise sa.exc.OperationalError("SELECT 1", {}, OSError("connection refused"))

        patched.setattr("earmark.store.database.Database._transaction", refuse)
        assert client.get("/health").status_code == 503
    assert len(calls) == 1, "it is not asked again"


def test_whoever_stops_the_server_waits_longer_than_it_takes() -> None:
    """A unit of systemd that is killed before it has ended would look as if it had failed."""
    from earmark.store.worker import LAST_ESTIMATE
    from earmark.web.serving import _GRACE

    page = (Path(__file__).parents[2] / "docs" / "deployment.md").read_text()
    (seconds,) = re.findall(r"^TimeoutStopSec=(\d+)$", page, re.MULTILINE)
    assert int(seconds) > 2 * (_GRACE + LAST_ESTIMATE)


def test_processes_of_a_server_end_with_it(study: Path) -> None:
    """However it ends: they would keep the address, and nobody would make estimates any more."""
    with serving(study, "--workers", "2") as (process, _):
        helping = psutil.Process(process.pid).children(recursive=True)
        assert len(helping) >= 2
        process.kill()
        process.wait(timeout=240)
        assert not psutil.wait_procs(helping, timeout=240)[1]
