from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from served import copy_campaign, make_template, open_client, write_inputs
from starlette.testclient import TestClient

from earmark.store.folder import CampaignFolder
from earmark.web.responses import ProtectedResponses


@pytest.fixture(scope="module", autouse=True)
def hasty() -> Iterator[None]:
    """Let responses of apps in this process leave at once.

    What their times tell is measured over a real socket, from a server as users start it (``test_leaks.py``).
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProtectedResponses, "STEP", 0.001)
        yield


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Campaigns of all kinds, each made when it is first asked for."""
    folder = tmp_path_factory.mktemp("templates")
    write_inputs(folder)
    made: dict[str, Path] = {}

    def template(kind: str) -> Path:
        if kind not in made:
            made[kind] = make_template(folder, kind)
        return made[kind]

    return template


@pytest.fixture
def make_campaign(templates: Callable[[str], Path], tmp_path: Path) -> Iterator[Callable[..., CampaignFolder]]:
    """Make campaigns of one's own: ``make_campaign("grade", pages__strengths=3)``."""
    opened: list[CampaignFolder] = []

    def make(kind: str = "grade", **settings: Any) -> CampaignFolder:
        folder = copy_campaign(templates(kind), tmp_path / f"{kind}{len(opened)}", **settings)
        opened.append(folder)
        return folder

    yield make
    for folder in opened:
        folder.close()


@pytest.fixture
def make_client(make_campaign: Callable[..., CampaignFolder]) -> Iterator[Callable[..., TestClient]]:
    """Make clients of apps: ``make_client("prefer", judging__allow_same=False)``."""
    clients: list[TestClient] = []

    def make(kind: str = "grade", **settings: Any) -> TestClient:
        client = open_client(make_campaign(kind, **settings))
        client.__enter__()
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.__exit__(None, None, None)
