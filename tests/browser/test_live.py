"""The connection of the organiser's pages: given back while nobody looks, and not asked for where it is of no use."""

from __future__ import annotations

from collections.abc import Callable

from judging import Server, new_context
from playwright.sync_api import Browser, Page, Request, expect

from earmark.store.links import new_organiser_link

# A page cannot be hidden by a test, so it is told that it is.
SHOW = """(how) => {
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => how });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
# Every stream that the page opens is kept, so that its state can be asked for.
KEEP = """
window.streams = [];
window.EventSource = class extends EventSource {
  constructor(...how) {
    super(...how);
    window.streams.push(this);
  }
};
"""
OPEN = "streams.filter((one) => one.readyState !== EventSource.CLOSED).length"


def signed_in(browser: Browser, server: Server) -> Page:
    page = new_context(browser).new_page()
    page.add_init_script(KEEP)
    page.clock.install()
    page.goto(f"{server.address}/organise#{new_organiser_link(server.opened.store)}")
    expect(page.locator("#connection[data-state=live]")).to_be_visible()
    return page


def test_a_page_that_nobody_sees_has_no_connection(browser: Browser, served: Callable[..., Server]) -> None:
    page = signed_in(browser, served("grade"))
    assert page.evaluate(OPEN) == 1
    page.evaluate(SHOW, "hidden")
    assert page.evaluate(OPEN) == 0
    with page.expect_response("**/api/organise/state*"), page.expect_response("**/api/organise/live"):
        page.evaluate(SHOW, "visible")
    assert page.evaluate(OPEN) == 1
    expect(page.locator("#connection[data-state=live]")).to_be_visible()
    page.context.close()


def test_who_was_signed_out_asks_once_and_not_for_ever(browser: Browser, served: Callable[..., Server]) -> None:
    server = served("grade")
    page = signed_in(browser, server)
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/api/organise/" in request.url:
            asked.append(request.url)

    page.on("request", note)
    # Somebody makes a new link, and a proxy ends the stream.
    new_organiser_link(server.opened.store)
    page.evaluate("streams.at(-1).dispatchEvent(new Event('changed'))")
    page.clock.run_for(2_000)
    expect(page.locator("#connection[data-state=lost]")).to_be_visible()
    expect(page.locator("#connection")).to_contain_text("link")
    seen = len(asked)
    for _ in range(10):
        page.clock.run_for(60_000)
        page.wait_for_timeout(50)
    assert len(asked) == seen
    page.context.close()


def test_why_there_are_no_estimates_is_said(browser: Browser, served: Callable[..., Server]) -> None:
    server = served("grade", pages__title="Without estimates")
    page = signed_in(browser, server)
    expect(page.locator("#problem")).to_be_hidden()
    server.opened.store.write(lambda change: change.update(failure="runs.tsv has changed"))
    expect(page.locator("#problem")).to_contain_text("runs.tsv has changed")
    server.opened.store.write(lambda change: change.update(failure=None))
    expect(page.locator("#problem")).to_be_hidden()
    page.context.close()
