"""Text that others wrote stays text: ids, titles, names, comments and all words of the organiser never run."""

from __future__ import annotations

import csv
import html
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from hosted import Host, hosted
from judging import Server, new_context, tune
from playwright.sync_api import Browser, Page, expect

from earmark.audio.sound import write_sound
from earmark.cli.main import main
from earmark.store.folder import CampaignFolder
from earmark.store.links import new_organiser_link

RATE = 44_100
PAYLOADS = (
    "<img src=x onerror=window.__hacked=1>",
    "<script>window.__hacked=1</script>",
    "</script><script>window.__hacked=1</script>",
    '"><svg onload=window.__hacked=1>',
    "' autofocus onfocus=window.__hacked=1 x='",
    "<iframe srcdoc='<script>parent.__hacked=1</script>'>",
    "{{constructor.constructor('window.__hacked=1')()}}",
    "<a href=javascript:window.__hacked=1>x</a>",
    "<style>*{display:none}</style>",
)
ALL = " ".join(PAYLOADS)
WATCH = """
window.__violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.__violations.push(event.violatedDirective));
"""


def evil(name: str, number: int = 0) -> str:
    return f"{name} {PAYLOADS[number % len(PAYLOADS)]}"


KINDS = {
    "grade": ["--scale", "broad", "-m", "AG@3"],
    "prefer": ["--kind", "prefer", "--depth", "3"],
    "order": ["--kind", "order"],
    "lists": ["--kind", "lists", "--depth", "3"],
}


def make_evil(home: Path, kind: str, *, media: bool) -> Path:
    """Make a campaign in which everything that has a name has a bad one."""
    systems = [evil(f"system{n}", n) for n in range(3)]
    queries, documents = [evil(f"q{n}", n + 3) for n in range(2)], [evil(f"d{n}", n) for n in range(9)]
    with (home / "runs.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["system", "query", "document", "rank"])
        for number, system in enumerate(systems):
            for query in queries:
                chosen = (documents * 2)[2 * number : 2 * number + 3]
                rows.writerows([system, query, document, rank] for rank, document in enumerate(chosen, 1))
    (home / "consent.md").write_text(f"# {ALL}\n\n{ALL}\n\n- {ALL}\n- {ALL}\n")
    fields = [("text", ""), ("choice", f"options = [{', '.join(_toml(one) for one in PAYLOADS[:5])}]\n")]
    (home / "about.toml").write_text(
        "".join(f'[[question]]\nid = "{kind}"\nlabel = {_toml(ALL)}\nkind = "{kind}"\n{more}' for kind, more in fields)
    )
    command = ["init", str(home / "study"), str(home / "runs.csv"), *KINDS[kind], "--stop", "none"]
    command += ["--judgments-per-item", "3"]
    command += ["--trap-rate", "0", "--name", ALL, "--consent", str(home / "consent.md")]
    command += ["--questionnaire", str(home / "about.toml"), "--quiet"]
    if media:
        command += ["--media-map", str(_media_map(home, queries, documents))]
    assert main(command) == 0
    with CampaignFolder.open(home / "study") as folder:
        words = dict.fromkeys(("title", "question", "instructions", "thanks"), ALL)
        changes: dict[str, Any] = {f"pages.{name}": text for name, text in words.items()}
        changes |= {"pages.show_titles": True, "pages.sound_check": False, "pages.minimum_seconds": 0.0}
        if kind == "grade":
            changes["pages.labels"] = PAYLOADS[:3]
        if kind in ("grade", "prefer"):
            changes["pages.look_early"] = True
        folder.rewrite_settings(changes)
    return home / "study"


def _toml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _media_map(home: Path, queries: list[str], documents: list[str]) -> Path:
    with (home / "map.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "role", "file", "text", "title"])
        for number, query in enumerate(queries):
            rows.writerow([query, "query", "", ALL, evil("title", number)])
        for number, document in enumerate(documents):
            # The name of a file is evil too.
            path = home / f"<img src=x onerror=window.__hacked=1> {number}.wav"
            write_sound(tune(number), path, rate=RATE)
            rows.writerow([document, "document", path.name, "", evil("title", number)])
    return home / "map.csv"


class Watched:
    """A page on which nothing may run that is not ours."""

    def __init__(self, browser: Browser) -> None:
        self.context = new_context(browser)
        self.context.add_init_script(WATCH)
        self.page: Page = self.context.new_page()
        self.said: list[str] = []
        self.page.on("dialog", lambda dialog: (self.said.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", self._requested)

    def _heard(self, line: Any) -> None:
        # Whoever is not signed in gets a page with the status 401; a picture by itself has no icon.
        if line.type == "error" and "status of 40" not in line.text:
            self.said.append(line.text)

    def _requested(self, request: Any) -> None:
        if request.url.endswith("/x") or request.url.startswith("javascript"):
            self.said.append(f"fetched {request.url}")

    def check(self, *, runs: bool = True) -> None:
        """Check that nothing ran; in a page without any scripts there is nothing to wait for."""
        if runs:
            # Whatever the page did to its content has had its turn.
            self.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        assert self.page.evaluate("window.__hacked") is None
        assert self.page.evaluate("window.__violations") == []
        assert not self.said, self.said
        injected = "img[src='x'], iframe, svg[onload], [onfocus], [onerror], a[href^='javascript']"
        assert self.page.locator(injected).count() == 0
        # Plots have styles of their own.
        assert self.page.locator("style").filter(has_text="display:none").count() == 0


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    made = Watched(browser)
    yield made
    made.context.close()


@pytest.fixture(scope="module", params=["grade", "grade with media", "prefer", "order", "lists"])
def campaign(
    request: pytest.FixtureRequest, shared: Host, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Campaigns of all kinds; without media, ids are shown in their place."""
    kind, _, media = request.param.partition(" ")
    with hosted(shared, make_evil(tmp_path_factory.mktemp("evil"), kind, media=bool(media))) as server:
        yield server


def test_nothing_runs_on_the_pages_of_an_assessor(campaign: Server, watched: Watched) -> None:
    page = watched.page
    page.goto(campaign.link(f"Eve {ALL}"))
    expect(page.locator(".consent-text")).to_contain_text("<img src=x")
    watched.check()
    page.locator("#agree").check()
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("legend")).to_contain_text("onerror")
    watched.check()
    page.locator("textarea").fill(ALL)
    page.locator("input[type=radio]").first.check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Begin").click()
    asking = page.locator(".asking[data-question]")
    expect(asking).to_be_visible()
    expect(asking).to_contain_text("window.__hacked")
    watched.check()
    if campaign.opened.settings.kind != "grade":
        return
    # A comment with everything in it, and an answer with a label that is a script.
    for play in page.locator(".showing .play").all():
        play.click()
    page.get_by_role("radio").nth(1).check()
    for box in page.locator("textarea").all():
        if box.is_visible():
            box.fill(ALL)
    page.locator(".next").click()
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    watched.check()
    assert campaign.events("answered")


def say_bad_things(campaign: Server, name: str) -> None:
    """Answer through the API, with text that is a script wherever text is taken."""
    headers = {"Authorization": f"Bearer {campaign.link(name).rsplit('/', 1)[1]}"}
    with httpx.Client(base_url=campaign.address, headers=headers, timeout=60) as client:
        version = client.get("/api/judge/session").json()["consent"]["version"]
        client.post("/api/judge/consent", json={"version": version}).raise_for_status()
        client.post("/api/judge/questionnaire", json={"answers": {"text": ALL}}).raise_for_status()
        client.post("/api/judge/prepared", json={"step": "training", "details": {ALL: ALL}}).raise_for_status()
        for number in range(6):
            found = client.post("/api/judge/questions", json={}).json()["questions"]
            if not found:
                break
            said = {
                "grade": {"gain": number % 3},
                "order": {"order": list(range(len(found[0]["candidates"]))), "cut": 1},
            }
            body = {"id": found[0]["id"], "key": secrets.token_hex(8), "comment": ALL, "details": {ALL: ALL}}
            body |= said.get(found[0]["kind"], {"choice": ("first", "second")[number % 2]})
            client.post("/api/judge/answers", json=body).raise_for_status()
            if number == 0 and found[0]["kind"] != "order":
                found = client.post("/api/judge/questions", json={}).json()["questions"]
                body = {"id": found[0]["id"], "key": secrets.token_hex(8), "text": ALL}
                client.post("/api/judge/skip", json=body).raise_for_status()


def test_nothing_runs_on_the_pages_of_the_organiser(campaign: Server, watched: Watched, tmp_path: Path) -> None:
    say_bad_things(campaign, f"Mallory {ALL}")
    say_bad_things(campaign, f"Trudy {ALL}")
    page = watched.page
    page.goto(f"{campaign.address}/organise#{new_organiser_link(campaign.opened.store)}")
    expect(page.locator("#connection[data-state=live]")).to_be_visible()
    expect(page.locator("#facts > div").first).to_be_visible()
    expect(page.locator("#assessors-rows")).to_contain_text("Mallory <img src=x")
    # All pictures are there, and drawn.
    expect(page.locator("#results img[src*='/figures/']").first).to_be_visible()
    page.wait_for_function("[...document.images].filter((one) => one.src).every((one) => one.naturalWidth)")
    watched.check()
    seen = page.content()
    pictures = [str(one.get_attribute("src")) for one in page.locator("img[src*='/figures/']").all()]
    for path in pictures:
        # A picture of a plot holds names of systems; opened by itself, it is a page of its own.
        page.goto(campaign.address + path)
        watched.check(runs=False)
        assert page.locator("script").count() == 0
    page.goto(f"{campaign.address}/organise/answers")
    row = page.locator("#answers-rows tr", has_text="Mallory").first
    expect(row).to_contain_text(ALL)
    watched.check()
    seen += page.content()
    for path in _pages(page):
        page.goto(f"{campaign.address}{path}")
        expect(page.locator("#connection[data-state=live]")).to_be_visible()
        watched.check()
        seen += page.content()
    # The bad names were there to be seen.
    assert html.escape("<img src=x onerror=window.__hacked=1>", quote=False) in seen
    assert "Mallory" in seen
    open_report(campaign, watched, tmp_path)


def open_report(campaign: Server, watched: Watched, home: Path) -> None:
    """Download the report and open it from the disk, where no server protects whoever reads it."""
    page = watched.page
    page.goto(f"{campaign.address}/organise/files")
    expect(page.locator("#state-actions button").first).to_be_visible()
    with page.expect_download(timeout=60_000) as reported:
        page.get_by_role("button", name="Download the report").click()
    reported.value.save_as(home / "report.html")
    page.goto((home / "report.html").as_uri())
    expect(page.locator("body")).to_contain_text("window.__hacked")
    watched.check()


def _pages(page: Page) -> list[str]:
    links = page.locator("a[href^='/organise']").all()
    found = sorted({str(link.get_attribute("href")).split("#")[0] for link in links})
    assert len(found) > 2
    return [one for one in found if "." not in one and "?" not in one and one != "/organise/answers"]


def test_messages_about_links_run_nothing(campaign: Server, watched: Watched) -> None:
    page = watched.page
    for path in (
        f"/judge/{PAYLOADS[0]}",
        f"/judge/x?language={PAYLOADS[1]}",
        f"/recruit/prolific?PROLIFIC_PID={PAYLOADS[0]}",
    ):
        page.goto(campaign.address + path.replace(" ", "%20"))
        expect(page.locator("h1")).to_be_visible()
        watched.check()
