"""Small campaigns with sound, and clients of their apps."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from earmark.audio.sound import write_sound
from earmark.cli.main import main
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite, new_organiser_link
from earmark.web.app import create_app

SYSTEMS = ("systemzebra", "systemyak", "systemxenops")
QUERIES, DOCUMENTS = 3, 8
RATE = 44_100

KINDS = {
    "grade": ["--scale", "broad", "-m", "AG@5"],
    "prefer": ["--kind", "prefer", "--depth", "5"],
    "order": ["--kind", "order", "--stop", "none"],
    "lists": ["--kind", "lists", "--depth", "5", "--stop", "none"],
}


def write_inputs(folder: Path) -> None:
    """Write runs of three systems, and a tone for every query and document."""
    songs = folder / "songs"
    songs.mkdir(parents=True)
    time = np.arange(0, 1.5, 1 / RATE)
    names = [f"query{number}" for number in range(QUERIES)] + [f"track{number}" for number in range(DOCUMENTS)]
    for number, name in enumerate(names):
        write_sound(0.1 * np.sin(2 * np.pi * (220 + 37 * number) * time), songs / f"{name}.wav", rate=RATE)
    rng = np.random.default_rng(5)
    rows = [
        f"{system}\tquery{query}\ttrack{document}\n"
        for system in SYSTEMS
        for query in range(QUERIES)
        for document in rng.permutation(DOCUMENTS)[:5]
    ]
    (folder / "runs.tsv").write_text("".join(rows))


def make_template(folder: Path, kind: str) -> Path:
    """Make a campaign of a kind, to be copied."""
    made = folder / kind
    # Nothing is heard here, and no traps come by chance, unless a test is about that: they are no judgments.
    media = ["--media", str(folder / "songs"), "--address", "http://testserver", "--minimum-seconds", "0"]
    assert main(["init", str(made), str(folder / "runs.tsv"), *KINDS[kind], *media, "--trap-rate", "0", "--quiet"]) == 0
    return made


def copy_campaign(template: Path, target: Path, **settings: Any) -> CampaignFolder:
    """Return a campaign of one's own; settings by their names with __ for the dot."""
    shutil.copytree(template, target)
    folder = CampaignFolder.open(target)
    changes = {name.replace("__", "."): value for name, value in settings.items()}
    return folder.rewrite_settings(changes) if changes else folder


class Assessor:
    """Somebody who judges through the API."""

    def __init__(self, client: TestClient, token: str) -> None:
        self.client, self.token = client, token
        self.headers = {"Authorization": f"Bearer {token}"}

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, headers={**self.headers, **more.pop("headers", {})}, **more)

    def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        return self.client.post(f"/api/judge/{path}", json=body or {}, headers=self.headers)

    def take(self, ahead: int = 1) -> dict[str, Any]:
        found = self.post("questions", {"ahead": ahead})
        assert found.status_code == 200, found.text
        return found.json()

    def answer(self, question: dict[str, Any], **said: Any) -> Any:
        return self.post("answers", {"id": question["id"], "key": new_key(), **(said or self.some_answer(question))})

    @staticmethod
    def some_answer(question: dict[str, Any]) -> dict[str, Any]:
        """Return an answer of the right kind."""
        kind = question["kind"]
        if kind == "grade":
            return {"gain": 1}
        if kind == "order":
            return {"order": list(range(len(question["candidates"]))), "cut": 1}
        return {"choice": "first", **({"strength": 2} if kind == "prefer" else {})}


def new_key() -> str:
    """Return what a page makes for every answer."""
    return secrets.token_hex(8)


def open_client(folder: CampaignFolder, **how: Any) -> TestClient:
    """Return a client of a campaign's app, without a worker."""
    return TestClient(create_app(folder, worker=False, **how), raise_server_exceptions=False)


def invited(client: TestClient, name: str = "Ann", *, pilot: bool = False) -> Assessor:
    """Return somebody who has a link."""
    (made,) = invite(client.app.state.campaign.store, [name], pilot=pilot)  # type: ignore[attr-defined]
    return Assessor(client, made.token)


def organiser_headers(client: TestClient) -> dict[str, str]:
    """Return the headers of an organiser who uses the API."""
    secret = new_organiser_link(client.app.state.campaign.store)  # type: ignore[attr-defined]
    return {"Authorization": f"Bearer {secret}", "X-Earmark": "organiser"}
