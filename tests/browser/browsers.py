"""The browser that the tests drive: one that is there, else Debian's, else Playwright's own.

``python tests/browser/browsers.py`` prints where it is, and installs it where it may.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW = (
    "the tests need Chromium or Chrome: install it ('apt-get install chromium' on Debian and Ubuntu, or "
    "'playwright install chromium'), or name it in EARMARK_CHROMIUM"
)


def find_browser() -> str | None:
    """Return the path of a browser; None where there is none."""
    named = os.environ.get("EARMARK_CHROMIUM")
    if named:
        return named
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or _playwrights_own()


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def install_browser() -> None:
    """Install Debian's Chromium where there is the right to, else Playwright's own."""
    for command in _ways():
        print("$", " ".join(command), file=sys.stderr, flush=True)
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
            continue
        if find_browser() is not None:
            return


def may_install() -> list[str] | None:
    """Return the command that installs packages of Debian; None where there is none, or no right to."""
    may = [] if hasattr(os, "geteuid") and os.geteuid() == 0 else ["sudo", "-n"]
    there = shutil.which("apt-get") and (not may or shutil.which("sudo"))
    return [*may, "apt-get"] if there else None


def _ways() -> list[list[str]]:
    may, ways = may_install(), []
    if may is not None:
        ways += [[*may, "update", "-q"]]
        ways += [[*may, "install", "-y", "-q", "--no-install-recommends", "chromium", "fonts-liberation"]]
    return [*ways, [sys.executable, "-m", "playwright", "install", "chromium"]]


if __name__ == "__main__":
    if find_browser() is None:
        install_browser()
    there = find_browser()
    sys.exit(HOW) if there is None else print(there)
