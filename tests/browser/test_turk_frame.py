"""Mechanical Turk: the pages inside a frame of another site, and the form that is sent back to it.

A server of its own stands for Mechanical Turk. Its name is localhost and that of the campaign's server 127.0.0.1, so
for a browser they are two sites.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from judging import Judge, Server, new_context
from playwright.sync_api import Browser, Frame, Page, expect

from earmark.store.payments import payments_of

Serve = Callable[..., Server]
ANSWERS = 2


class Turk:
    """A page with a frame for a task, and the address that finished work is submitted to."""

    def __init__(self) -> None:
        self.submitted: list[dict[str, list[str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                task = parse_qs(urlsplit(self.path).query).get("task", [""])[0].replace("&", "&amp;")
                self._say(f'<!DOCTYPE html><title>Turk</title><iframe width=1200 height=700 src="{task}"></iframe>')

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.submitted.append({"path": [self.path], **parse_qs(body)})
                self._say("<!DOCTYPE html><title>Turk</title><p>The work was submitted.</p>")

            def _say(self, text: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("localhost", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def origin(self, name: str = "localhost") -> str:
        return f"http://{name}:{self.port}"

    def address(self, server: Server, *, name: str = "localhost", **parameters: str) -> str:
        """Return the address of a page that shows the task of a campaign in a frame."""
        usual = {"assignmentId": "A1", "hitId": "H1", "workerId": "W1", "turkSubmitTo": self.origin()}
        task = f"{server.address}/recruit/mturk?{urlencode({k: v for k, v in (usual | parameters).items() if v})}"
        return f"{self.origin(name)}/?{urlencode({'task': task})}"


@pytest.fixture(scope="module")
def turk() -> Iterator[Turk]:
    made = Turk()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def server(served: Serve, turk: Turk) -> Server:
    return served(
        "grade",
        recruiting__platform="mturk",
        recruiting__answers_per_assignment=ANSWERS,
        recruiting__reward=1.5,
        recruiting__submit_hosts=(turk.origin(),),
    )


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = new_context(browser)
    yield context.new_page()
    context.close()


def task_in(page: Page) -> Frame:
    return page.frames[1]


class Worker(Judge):
    """Somebody who judges inside a frame."""

    def __init__(self, page: Page) -> None:
        self.page = task_in(page)  # type: ignore[assignment]

    def answer(self, times: int) -> None:
        for _ in range(times):
            expect(self.question).to_be_visible()
            self.hear_all()
            self.choose("Somewhat similar")
            self.next()


def test_from_the_preview_to_the_submitted_form(server: Server, turk: Turk, page: Page) -> None:
    page.goto(turk.address(server, assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", workerId=""))
    frame = task_in(page)
    expect(frame.get_by_text("Accept the task to begin")).to_be_visible()
    expect(frame.get_by_text("1.50 USD")).to_be_visible()
    expect(frame.get_by_role("button", name="Start")).to_have_count(0)
    assert payments_of(server.opened).work == ()

    page.goto(turk.address(server))
    task_in(page).get_by_role("button", name="Start").click()
    worker = Worker(page)
    expect(worker.page.get_by_role("heading", name="What to do")).to_be_visible()
    worker.page.get_by_role("button", name="Begin").click()
    worker.train()
    expect(worker.page.locator("#progress-text")).to_contain_text(f"0 of {ANSWERS}")
    worker.answer(ANSWERS)
    expect(worker.page.get_by_role("heading", name="Thank you")).to_be_visible()
    worker.page.get_by_role("button", name="Submit").click()
    expect(worker.page.get_by_text("The work was submitted.")).to_be_visible()
    assert turk.submitted[-1] == {
        "path": ["/mturk/externalSubmit"],
        "assignmentId": ["A1"],
        "answers": [str(ANSWERS)],
    }
    assert page.context.cookies() == []
    (paid,) = payments_of(server.opened).frame.rows(named=True)
    assert (paid["worker"], paid["assignment"], paid["decision"], paid["owed"]) == ("W1", "A1", "approve", 1.5)

    # Opened again, the finished assignment can be submitted again, and a second one goes on with new questions.
    page.goto(turk.address(server))
    task_in(page).get_by_role("button", name="Start").click()
    expect(task_in(page).get_by_role("button", name="Submit")).to_be_visible()
    page.goto(turk.address(server, assignmentId="A2"))
    task_in(page).get_by_role("button", name="Start").click()
    second = Worker(page)
    second.page.locator("h1").wait_for()
    begin = second.page.get_by_role("button", name="Begin")
    expect(begin.or_(second.question).first).to_be_visible()
    if begin.count():
        begin.click()
    second.answer(ANSWERS)
    second.page.get_by_role("button", name="Submit").click()
    expect(second.page.get_by_text("The work was submitted.")).to_be_visible()
    assert turk.submitted[-1]["assignmentId"] == ["A2"]
    items = [(row["query"], row["document"]) for row in server.events("answered")]
    assert len(set(items)) == len(items) == 2 * ANSWERS


def test_two_assignments_in_two_windows(server: Server, turk: Turk, page: Page) -> None:
    other = page.context.new_page()
    workers = []
    for window, assignment in ((page, "B1"), (other, "B2")):
        window.bring_to_front()
        window.goto(turk.address(server, workerId="W2", assignmentId=assignment))
        task_in(window).get_by_role("button", name="Start").click()
        worker = Worker(window)
        begin = worker.page.get_by_role("button", name="Begin")
        expect(begin.or_(worker.question).first).to_be_visible()
        if begin.count():
            begin.click()
            if assignment == "B1":
                worker.train()
        worker.answer(1)
        workers.append(worker)
    # The first window is finished after the second was begun, and submits its own assignment.
    for worker, assignment in zip(workers, ("B1", "B2"), strict=True):
        (page if assignment == "B1" else other).bring_to_front()
        expect(worker.page.locator("#progress-text")).to_contain_text(f"1 of {ANSWERS}")
        submit = worker.page.get_by_role("button", name="Submit")
        worker.answer(1)
        expect(submit.or_(worker.question).first).to_be_visible()
        if not submit.count():
            # Both windows showed the same question: it was answered in the other one, and does not count here.
            worker.answer(1)
        submit.click()
        expect(worker.page.get_by_text("The work was submitted.")).to_be_visible()
        assert turk.submitted[-1]["assignmentId"] == [assignment]
        assert turk.submitted[-1]["answers"] == [str(ANSWERS)]
    found = [work for work in payments_of(server.opened).work if work.worker == "W2"]
    assert [(work.assignment, work.answers, work.finished) for work in found] == [("B1", 2, True), ("B2", 2, True)]


def test_another_site_may_not_frame_the_task(server: Server, turk: Turk, page: Page) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    # The same pages by another name, which is not on the list.
    page.goto(turk.address(server, name="127.0.0.1"))
    page.wait_for_timeout(500)
    assert any("frame-ancestors" in text for text in said), said
    expect(page.frame_locator("iframe").get_by_role("button", name="Start")).to_have_count(0)


def test_work_is_not_sent_elsewhere(server: Server, turk: Turk, page: Page) -> None:
    page.goto(turk.address(server, turkSubmitTo=turk.origin("127.0.0.1")))
    frame = task_in(page)
    expect(frame.get_by_text("This does not come from the platform")).to_be_visible()
    expect(frame.get_by_role("button", name="Start")).to_have_count(0)


def test_the_policy_stops_a_form_to_another_address(server: Server, turk: Turk, page: Page) -> None:
    page.goto(turk.address(server, workerId="W9", assignmentId="A9"))
    frame = task_in(page)
    frame.get_by_role("button", name="Start").click()
    frame.get_by_role("heading", name="What to do").wait_for()
    before, said = len(turk.submitted), []
    page.on("console", lambda message: said.append(message.text))
    frame.evaluate(
        """action => {
          const form = Object.assign(document.createElement("form"), { method: "post", action });
          document.body.append(form);
          form.submit();
        }""",
        f"{turk.origin('127.0.0.1')}/mturk/externalSubmit",
    )
    page.wait_for_timeout(500)
    assert any("form-action" in text for text in said), said
    assert len(turk.submitted) == before
