"""The pages of the organiser in a real browser: they follow the campaign by themselves, and what they do happens."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import httpx2 as httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from judging import Judge, Server, new_context
from playwright.sync_api import Browser, Page, expect

from earmark.store.links import invite, new_organiser_link

# Every page, and what is there when it has got what it shows.
PAGES = {
    "results": "#facts > div",
    "people": "#assessors-rows tr",
    "answers": "#answers-rows tr",
    "settings": "#settings fieldset",
    "files": "#state-actions button",
    "recruiting": "#budget-cost",
}
# Those that look different for every kind of question.
PAGES_OF_KINDS = ("results", "answers", "settings")
# The card that says what a kind concludes.
CARDS = {"grade": "ranking", "prefer": "precision", "order": "orders", "lists": "pairs"}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DESKTOP_SIZE, PHONE_SIZE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
NASTY = "<img src=x onerror=alert(1)>"
AXE = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


class Organiser:
    """Somebody who is signed in, in a browser of their own."""

    def __init__(self, browser: Browser, server: Server, **how: Any) -> None:
        self.server, self.context = server, new_context(browser, **how)
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.problems.append(said.text))
        self.page.on("dialog", lambda dialog: self.problems.append(f"a script ran: {dialog.message}"))
        self.link = f"{server.address}/organise#{new_organiser_link(server.opened.store)}"
        self.page.goto(self.link)
        self.live()
        # The page to sign in is sent with the status that says so.
        self.problems = [one for one in self.problems if "401" not in one]

    def live(self) -> None:
        expect(self.page.locator("#connection[data-state=live]")).to_be_visible()

    def open(self, name: str, **query: str) -> Page:
        more = "?" + "&".join(f"{key}={value}" for key, value in query.items()) if query else ""
        self.page.goto(f"{self.server.address}/organise{'' if name == 'results' else f'/{name}'}{more}")
        self.live()
        return self.page

    def open_whole(self, name: str, **query: str) -> Page:
        """Open a page on which there is something to see, with all that is folded, and wait for all of it."""
        page = self.open(name, **query)
        page.locator(PAGES[name]).first.wait_for()
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        page.wait_for_function(
            "() => [...document.images].every((one) => !one.checkVisibility() || !one.src || one.naturalWidth)"
        )
        return page

    def fact(self, name: str) -> Any:
        return self.page.locator("#facts > div", has_text=name).locator("dd span")

    def close(self) -> None:
        assert not self.problems, self.problems
        self.context.close()


@pytest.fixture
def organise(browser: Browser) -> Iterator[Callable[..., Organiser]]:
    """Let somebody organise a campaign in a browser. At the end nothing must have gone wrong on a page."""
    people: list[Organiser] = []

    def start(server: Server, **how: Any) -> Organiser:
        people.append(Organiser(browser, server, **how))
        return people[-1]

    yield start
    for one in people:
        one.close()


def clean(page: Page, where: str) -> None:
    """Check the accessibility of a page as it is."""
    found = Axe().run(page, options=AXE)
    assert found.violations_count == 0, f"{where}: {found.generate_report()}"


def settle(page: Page) -> None:
    """Wait until a page has taken notice of other colours or another size."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wear(page: Page, scheme: str) -> None:
    """Change the colours as the reader's system would."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    settle(page)


def judge_some(server: Server, count: int, name: str = "Ann", **more: Any) -> None:
    """Let somebody answer through the API in a campaign that asks for no listening; all people say the same."""
    (person,) = invite(server.opened.store, [name])
    headers = {"Authorization": f"Bearer {person.token}"}
    with httpx.Client(base_url=server.address, headers=headers, timeout=60) as client:
        for _ in range(count):
            found = client.post("/api/judge/questions", json={"ahead": 0}).json()["questions"]
            if not found:
                return
            id, kind = found[0]["id"], found[0]["kind"]
            if kind == "grade":
                said: dict[str, Any] = {"gain": 2}
            elif kind == "order":
                said = {"order": list(range(len(found[0]["candidates"]))), "cut": 1}
            else:
                # Sides are drawn for everybody anew: who always takes the first contradicts everybody else.
                swapped = server.opened.desk.question(str(person.assessor), id).swapped
                said = {"choice": "second" if swapped else "first"}
            answered = client.post("/api/judge/answers", json={"id": id, "key": secrets.token_hex(8)} | said | more)
            assert answered.status_code == 200, answered.text


Serve = Callable[..., Server]
Organise = Callable[..., Organiser]
Follow = Callable[..., Judge]


@pytest.fixture
def campaign(served: Serve) -> Serve:
    """Serve a campaign in which answers are accepted at once; those with the same title are one.

    There are few answers, so intervals are shown early.
    """

    def start(kind: str, title: str) -> Server:
        return served(kind, pages__title=title, pages__minimum_seconds=0.0, pages__look_early=True)

    return start


def test_the_dashboard_updates_while_somebody_answers_in_a_browser(
    served: Serve, organise: Organise, judge: Follow
) -> None:
    server = served("grade", pages__title="Side by side", pages__look_early=True)
    one = organise(server)
    page, count = one.page, one.fact("Answers that count")
    expect(count).to_have_text("0")
    assert "#" not in page.url, "the secret does not stay in the address"
    page.evaluate("window.sameDocument = true")
    ann = judge(server.link("Ann")).begin()
    image = page.locator("[data-figure=ranking] img")
    pictures: list[str | None] = []
    for number in (1, 2):
        ann.hear_all()
        ann.choose("Somewhat similar")
        ann.next()
        expect(count).to_have_text(str(number))
        row = page.locator("#assessors-rows tr", has_text="Ann")
        expect(row.locator("td").first).to_have_text(str(number))
        if number == 1:
            expect(page.locator("#headline")).to_contain_text("system")
            expect(image).to_be_visible()
        else:
            expect(image).not_to_have_attribute("src", pictures[-1] or "")
        page.wait_for_function("() => document.querySelector('[data-figure=ranking] img').naturalWidth > 100")
        pictures.append(image.get_attribute("src"))
    assert page.evaluate("window.sameDocument"), "the page was not loaded again"


@pytest.mark.parametrize("kind", CARDS)
def test_every_kind_has_its_dashboard(campaign: Serve, organise: Organise, kind: str) -> None:
    server = campaign(kind, "Kinds")
    one = organise(server)
    # The page is there before there is anything to see on it.
    expect(one.fact("Answers that count")).to_have_text("0")
    for name in ("Ann", "Bob"):
        judge_some(server, 3, name)
    expect(one.fact("Answers that count")).to_have_text("6")
    expect(one.page.locator(f"#{CARDS[kind]}-card")).to_be_visible()
    expect(one.page.locator(f"#{CARDS[kind]}-card img")).to_be_visible()
    expect(one.page.locator("#progress-card")).to_be_visible()


def test_looking_ahead(campaign: Serve, organise: Organise) -> None:
    server = campaign("grade", "Kinds")
    # So many that it is no longer too early for a verdict.
    judge_some(server, 8, "Ann")
    one = organise(server)
    one.page.get_by_role("button", name="Compute the forecast").click()
    expect(one.page.locator("#ahead-said")).to_contain_text("judgment")
    expect(one.page.locator("[data-figure=forecast] img")).to_be_visible()


def test_a_lost_connection_is_said(campaign: Serve, organise: Organise) -> None:
    one = organise(campaign("grade", "Follows"))
    one.context.set_offline(True)
    one.page.evaluate("window.dispatchEvent(new Event('offline'))")
    expect(one.page.locator("#connection[data-state=lost]")).to_be_visible()
    expect(one.page.locator("#announced")).to_contain_text("lost")
    one.context.set_offline(False)
    expect(one.page.locator("#connection[data-state=live]")).to_be_visible(timeout=20_000)
    one.problems.clear()


def test_inviting_and_looking_after_people(campaign: Serve, organise: Organise) -> None:
    server = campaign("grade", "People")
    one = organise(server)
    page = one.open("people")
    page.get_by_label("Names, one per line").fill(f"Ann\n{NASTY}\n")
    page.get_by_role("button", name="Make links").click()
    links = page.locator("#made-rows li")
    expect(links).to_have_count(2)
    expect(page.locator("#made")).to_be_focused()
    expect(links.nth(1)).to_contain_text(NASTY)
    link = links.nth(0).locator("input").input_value()
    assert link.startswith(f"{server.address}/judge/")
    assert links.nth(0).locator("a").get_attribute("href", timeout=1000).startswith("mailto:?subject=")  # type: ignore[union-attr]
    expect(page.locator("#assessors-rows tr")).to_have_count(2)
    row = page.locator("#assessors-rows tr", has_text="Ann")
    row.get_by_text("Actions").click()
    row.get_by_role("button", name="Reject").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Reject").click()
    expect(dialog.get_by_role("alert")).to_contain_text("reason")
    dialog.get_by_label("Reason").fill("does not listen")
    dialog.get_by_role("button", name="Reject").click()
    expect(dialog).to_be_hidden()
    expect(row.locator(".badge")).to_have_text("rejected")
    (event,) = server.events("rejected")
    assert event["text"] == "does not listen"
    expect(row.get_by_role("button", name="Reinstate")).to_be_visible()
    expect(row.locator("summary")).to_be_focused()


def test_copying_a_link_without_a_secure_context(campaign: Serve, organise: Organise) -> None:
    one = organise(campaign("grade", "People"))
    page = one.open("people")
    page.evaluate("Object.defineProperty(window, 'isSecureContext', { value: false })")
    page.get_by_label("For how many people").fill("5")
    page.get_by_role("button", name="Make an open link").click()
    page.locator("#made-rows").get_by_role("button", name="Copy").click()
    expect(page.locator("#made-rows button").first).to_have_text("Copied")
    page.get_by_label("Names, one per line").focus()
    page.keyboard.press("Control+V")
    link = page.locator("#made-rows input").input_value()
    expect(page.get_by_label("Names, one per line")).to_have_value(link)
    expect(page.locator("#open-links")).to_contain_text("0 of 5")


def test_the_preview_opens_and_does_not_count(campaign: Serve, organise: Organise) -> None:
    server = campaign("grade", "People")
    one = organise(server)
    page = one.open("people")
    with one.context.expect_page() as opened:
        page.get_by_role("button", name="Open the preview").click()
    preview = opened.value
    preview.wait_for_url("**/judge/*")
    expect(preview.locator("h1")).to_be_visible()
    preview.close()


def test_correcting_and_withdrawing_answers(campaign: Serve, organise: Organise) -> None:
    server = campaign("grade", "Answers")
    judge_some(server, 2, "Ann", comment=NASTY, details={"seconds": 12})
    one = organise(server)
    page = one.open("answers")
    rows = page.locator("#answers-rows tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(NASTY)
    expect(rows.first).to_contain_text("took 12 s")
    expect(rows.first).to_contain_text("Very similar (2)")
    rows.first.get_by_role("button", name="Correct").click()
    dialog = page.get_by_role("dialog")
    for said in ("Ann", "query", "track", "Very similar (2)"):
        expect(dialog.locator(".about")).to_contain_text(said)
    dialog.get_by_label("New answer").select_option("0")
    dialog.get_by_label("Reason").fill("told us so")
    dialog.get_by_role("button", name="Correct").click()
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("by the organiser")
    expect(rows.nth(1)).to_contain_text("replaced later")
    rows.first.get_by_role("button", name="Withdraw").click()
    dialog.get_by_label("Reason").fill("changed their mind")
    dialog.get_by_role("button", name="Withdraw").click()
    expect(rows.first).to_contain_text("withdrawn")
    assert server.events("withdrawn")[0]["text"] == "changed their mind"
    assert len(server.events("answered")) == 3


def test_changing_the_stop_rule(campaign: Serve, organise: Organise) -> None:
    server = campaign("grade", "Settings")
    one = organise(server)
    page = one.open("settings")
    page.get_by_label("Stop rule", exact=True).fill("mean:95")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("did you mean mean:0.95")
    page.get_by_label("Stop rule", exact=True).fill("mean:0.95")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_contain_text("estimates.stop changed")
    expect(page.locator("#saved")).to_be_focused()
    one.problems.clear()  # A refused change is logged by the browser.
    page.get_by_label("Hide the ranking until the end").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#saved")).to_contain_text("pages.hide_ranking")
    page = one.open("results")
    expect(page.locator("#headline")).to_have_text("The ranking is hidden")
    expect(page.locator("#ranking-card")).to_be_hidden()
    page = one.open("files")
    expect(page.locator("#report-hidden")).to_be_visible()


def test_closing_the_campaign_and_getting_the_report(campaign: Serve, organise: Organise) -> None:
    server = campaign("grade", "Closing")
    judge_some(server, 6)
    one = organise(server)
    page = one.open("files")
    page.get_by_label("What", exact=True).select_option("answers")
    with page.expect_download() as exported:
        page.get_by_role("button", name="Download", exact=True).click()
    assert exported.value.suggested_filename == "Closing-answers.csv"
    page.get_by_role("button", name="Close the campaign").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Close the campaign")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.get_by_role("dialog").get_by_label("Reason").fill("enough is known")
    page.get_by_role("dialog").get_by_role("button", name="Close the campaign").click()
    expect(page.locator("#state")).to_have_text("Closed")
    expect(page.get_by_role("button", name="Open the campaign again")).to_be_visible()
    expect(page.locator("#log-rows")).to_contain_text("enough is known")
    with page.expect_download(timeout=60_000) as reported:
        page.get_by_role("button", name="Download the report").click()
    assert "system" in reported.value.path().read_text(encoding="utf-8")
    assert server.events("closed")[0]["text"] == "enough is known"


# ---- everybody can use them ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CARDS)
def test_pages_are_accessible(campaign: Serve, organise: Organise, kind: str) -> None:
    server = campaign(kind, "Accessible")
    for name in ("Ann", "Bob"):
        judge_some(server, 3, name)
    one = organise(server)
    expect(one.page.locator(f"#{CARDS[kind]}-card img")).to_be_visible()
    for name in PAGES if kind == "grade" else PAGES_OF_KINDS:
        # Chromium leaves some colours behind when the dark goes; a page that is loaded anew has all of them.
        wear(one.page, "light")
        page = one.open_whole(name)
        for scheme in ("light", "dark"):
            wear(page, scheme)
            for size in (DESKTOP_SIZE, PHONE_SIZE):
                page.set_viewport_size(size)  # type: ignore[arg-type]
                settle(page)
                clean(page, f"{name}, {kind}, {scheme}, {size['width']} px")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dialogs_are_accessible(campaign: Serve, organise: Organise, scheme: str) -> None:
    server = campaign("grade", "Accessible")
    judge_some(server, 1, "Cid")
    one = organise(server, color_scheme=scheme, reduced_motion="reduce")
    page = one.open_whole("people")
    for action in ("Reject", "Erase"):
        page.locator("#assessors-rows tr", has_text="Cid").get_by_role("button", name=action).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        clean(page, action)
        page.keyboard.press("Escape")
    page = one.open_whole("answers")
    for action in ("Correct", "Withdraw"):
        page.locator("#answers-rows").get_by_role("button", name=action).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        clean(page, action)
        page.keyboard.press("Escape")
    page = one.open_whole("files")
    page.get_by_role("button", name="Close the campaign").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    clean(page, "closing")


def test_signing_in_is_accessible(campaign: Serve, browser: Browser) -> None:
    server = campaign("grade", "Accessible")
    context = new_context(browser)
    page = context.new_page()
    page.goto(f"{server.address}/organise")
    clean(page, "signing in, light")
    page.get_by_label("Or paste the link").fill("nothing")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not valid")
    for scheme in ("light", "dark"):
        wear(page, scheme)
        clean(page, f"refused, {scheme}")
    page.get_by_label("Or paste the link").fill(f"{server.address}/organise#{new_organiser_link(server.opened.store)}")
    page.keyboard.press("Enter")
    expect(page.locator("#facts")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in as the organiser")).to_be_visible()
    context.close()


# What is pressed with a finger; links within a sentence are left out, as WCAG does.
TARGETS = "button, select, input:not([type=hidden]), textarea, summary, a.button, nav a, label.check"
SMALL = """(targets) => [...document.querySelectorAll(targets)]
  .filter((one) => one.checkVisibility() && !one.closest(".visually-hidden, .skip"))
  // A box is pressed by its label, too.
  .map((one) => [one, (one.matches("[type=checkbox], [type=radio]") && one.closest("label")) || one])
  .map(([one, pressed]) => [one, pressed.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && (box.height < 43.9 || box.width < 43.9))
  .map(([one, box]) => `${one.outerHTML.slice(0, 100)}: ${Math.round(box.width)} by ${Math.round(box.height)}`)"""


OFF_SCREEN = """() => [...document.querySelectorAll("nav a, .cards button, .cards summary")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth)
  .map((one) => one.outerHTML.slice(0, 100))"""


@pytest.mark.parametrize("language", ["en", "es"])
def test_pages_fit_a_phone(campaign: Serve, organise: Organise, language: str) -> None:
    server = campaign("grade", "Phone")
    judge_some(server, 2, "A-very-long-name-that-nobody-has-but-somebody-may-type")
    one = organise(server, **PHONE)
    for name in PAGES:
        page = one.open_whole(name, language=language)
        # Tabs wrap and rows are cards: nothing that can be pressed is off the screen.
        hidden = page.evaluate(OFF_SCREEN)
        assert not hidden, f"{name}: off the screen: {hidden}"
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider == 0, f"{name} scrolls sideways by {wider} pixels"
        small = page.evaluate(SMALL, TARGETS)
        assert not small, f"{name}: too small to be touched: {small}"
