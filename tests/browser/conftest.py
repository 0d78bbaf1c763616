"""A real browser, and campaigns that are really served."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import HOW, find_browser
from hosted import Host, Templates, serve_by_command
from judging import OTHER_NAME, Judge, Server, new_context, write_inputs
from playwright.sync_api import Browser, expect, sync_playwright

# A machine that is busy with other tests takes its time; whoever waits goes on at once when what is awaited is there.
PATIENCE = 60_000
_loops: list[asyncio.AbstractEventLoop] = []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium without a window. Its rules for starting sound are those of every user."""
    path = find_browser()
    if path is None:
        pytest.fail(HOW)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", f"--host-resolver-rules=MAP {OTHER_NAME} 127.0.0.1"]
        )
        _loops.append(asyncio.get_running_loop())
        yield running
        asyncio._set_running_loop(_loops.pop())
        running.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let Playwright's event loop count as running in these tests alone: others start one in the same thread."""
    if Path(__file__).parent not in item.path.parents:
        return (yield)
    for loop in _loops:
        asyncio._set_running_loop(loop)
    try:
        return (yield)
    finally:
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.fixture(scope="session")
def templates(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return Templates(inputs, tmp_path_factory.mktemp("templates"))


@pytest.fixture(scope="session")
def shared() -> Iterator[Host]:
    """The process that serves the campaigns of all tests."""
    running = Host()
    yield running
    running.close()


@pytest.fixture(scope="session")
def served(
    templates: Templates, shared: Host, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Server]]:
    """Serve a campaign of a kind; one with the same settings is served once: ``served("grade")``.

    For another host than this computer alone, ``earmark serve`` serves it, as users do.
    """
    running: dict[str, Server] = {}

    def start(name: str, *, host: str = "127.0.0.1", **settings: Any) -> Server:
        key = repr((name, host, sorted(settings.items())))
        if key not in running:
            named = {setting.replace("__", "."): value for setting, value in settings.items()}
            folder = tmp_path_factory.mktemp("served") / "campaign"
            templates.copy(name, folder, named)
            own = host != "127.0.0.1"
            running[key] = serve_by_command(folder, host=host) if own else shared.serve(folder)
        return running[key]

    yield start
    for server in running.values():
        server.close()


@pytest.fixture
def judge(browser: Browser) -> Iterator[Callable[..., Judge]]:
    """Let somebody follow a link in a browser of their own. At the end nothing must have gone wrong on the page."""
    people: list[Judge] = []

    def follow(link: str, **how: Any) -> Judge:
        people.append(Judge(new_context(browser, **how), link))
        return people[-1]

    yield follow
    for person in people:
        person.close()
