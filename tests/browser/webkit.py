"""WebKit, the engine of Safari, driven by the W3C's WebDriver protocol: Debian's WebKitGTK and its driver.

``python tests/browser/webkit.py`` installs both where it may. Nothing else is needed: the protocol is JSON over HTTP.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2 as httpx
from browsers import may_install

HOW = "the tests of WebKit need its driver and a display without a screen: apt-get install webkit2gtk-driver xvfb"
_BROWSERS = tuple(f"/usr/lib/{machine}-linux-gnu/webkit2gtk-4.1/MiniBrowser" for machine in ("x86_64", "aarch64"))
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def is_there() -> bool:
    """Tell whether the driver, the browser and a display without a screen are installed."""
    return all(map(shutil.which, ("WebKitWebDriver", "Xvfb"))) and any(Path(one).is_file() for one in _BROWSERS)


def install() -> None:
    """Install Debian's packages where there is the right to."""
    may = may_install()
    if may is None:
        return
    packages = ["webkit2gtk-driver", "xvfb"]
    for command in (["update", "-q"], ["install", "-y", "-q", "--no-install-recommends", *packages]):
        print("$", *may, *command, file=sys.stderr, flush=True)
        subprocess.run([*may, *command], stdout=sys.stderr, check=False)


class WebKit:
    """A browser with one page."""

    def __init__(self, port: int) -> None:
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60)
        browser = next(one for one in _BROWSERS if Path(one).is_file())
        options = {"binary": browser, "args": ["--automation"]}
        wanted = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self.session = self._send("POST", "/session", {"capabilities": wanted})["sessionId"]

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        said = self.client.request(method, path, json=body if method == "POST" else None)
        value = said.json()["value"]
        if said.status_code != 200:
            raise RuntimeError(f"{path}: {value.get('error')}: {value.get('message')}")
        return value

    def open(self, address: str) -> None:
        self._send("POST", f"/session/{self.session}/url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return what it returns."""
        body = {"script": script, "args": list(arguments)}
        return self._send("POST", f"/session/{self.session}/execute/sync", body)

    def wait(self, condition: str, seconds: float = 60) -> Any:
        """Wait until an expression is true, and return it."""
        end = time.monotonic() + seconds
        while not (value := self.run(f"return ({condition})")):
            if time.monotonic() > end:
                raise AssertionError(f"did not come true: {condition}\n{self.run('return document.body.innerText')}")
            time.sleep(0.1)
        return value

    def click(self, selector: str) -> None:
        """Click as a person does: the browser takes it for a gesture, which sound needs."""
        self.wait(f"document.querySelector({selector!r})")
        path = f"/session/{self.session}/element"
        found = self._send("POST", path, {"using": "css selector", "value": selector})[_ELEMENT]
        self._send("POST", f"{path}/{found}/click", {})

    def close(self) -> None:
        self._send("DELETE", f"/session/{self.session}")
        self.client.close()


@contextmanager
def running() -> Iterator[WebKit]:
    """Start a display, the driver and the browser."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    read, write = os.pipe()
    display = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    environment = os.environ | {
        "DISPLAY": f":{number}",
        "WEBKIT_DISABLE_COMPOSITING_MODE": "1",
        "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
        "GDK_BACKEND": "x11",
        "LIBGL_ALWAYS_SOFTWARE": "1",
        "NO_AT_BRIDGE": "1",
    }
    driver = subprocess.Popen(
        ["WebKitWebDriver", f"--port={port}", "--host=127.0.0.1"], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for_port(port)
        browser = WebKit(port)
        try:
            yield browser
        finally:
            browser.close()
    finally:
        for process in (driver, display):
            process.terminate()
            process.wait(timeout=30)


def _wait_for_port(port: int) -> None:
    end = time.monotonic() + 60
    while True:
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        assert time.monotonic() < end, "the driver of WebKit did not start"
        time.sleep(0.1)


if __name__ == "__main__":
    if not is_there():
        install()
    sys.exit(None if is_there() else HOW)
