"""What an organiser does through the API, for tests."""

from __future__ import annotations

from typing import Any

from served import Assessor, invited
from starlette.testclient import TestClient

from earmark.store.links import new_organiser_link
from earmark.store.store import Store
from earmark.store.worker import Worker
from earmark.web.context import WebCampaign


class Organiser:
    """Somebody who is signed in."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.secret = new_organiser_link(self.store)
        headers = {"X-Earmark": "organiser"}
        signed = client.post("/api/organise/session", json={"secret": self.secret}, headers=headers)
        assert signed.status_code == 200, signed.text

    @property
    def campaign(self) -> WebCampaign:
        return self.client.app.state.campaign  # type: ignore[attr-defined, no-any-return]

    @property
    def store(self) -> Store:
        return self.campaign.store

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(path, **more)

    def post(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
        sent = {"X-Earmark": "organiser"} | headers
        return self.client.post(f"/api/organise/{path}", json={} if body is None else body, headers=sent)

    def state(self) -> dict[str, Any]:
        found = self.get("/api/organise/state")
        assert found.status_code == 200, found.text
        return found.json()  # type: ignore[no-any-return]

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        return self.store.log().of_kind(*kinds).to_dicts()  # type: ignore[arg-type]

    def estimate(self) -> None:
        """Conclude from the answers so far, as the worker does."""
        assert Worker(self.campaign.folder).look() in (True, False)


def answer_some(who: Assessor, count: int, **said: Any) -> list[dict[str, Any]]:
    """Let an assessor answer so many questions, as far as there are any."""
    asked = []
    for _ in range(count):
        questions = who.take(ahead=0)["questions"]
        if not questions:
            break
        asked.append(questions[0])
        answered = who.answer(questions[0], **said)
        assert answered.status_code == 200, answered.text
    return asked


def running(client: TestClient, *, answers: int = 6, people: tuple[str, ...] = ("Ann", "Bob")) -> Organiser:
    """Return the organiser of a campaign in which some people have answered."""
    organiser = Organiser(client)
    for name in people:
        answer_some(invited(client, name), answers)
    organiser.estimate()
    return organiser


def pseudonym_of(organiser: Organiser, name: str) -> str:
    """Return the pseudonym of an assessor by name."""
    (found,) = [row["assessor"] for row in organiser.state()["assessors"] if row["name"] == name]
    return str(found)
