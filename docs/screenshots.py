"""Screenshots of every page of the web app: desktop and phone, light and dark, on the demonstration's music.

``python docs/screenshots.py`` writes the pictures that the pages of the documentation show to ``docs/images/web``;
``python docs/screenshots.py --all DIR`` writes all of them to a folder, to look at. It needs Chromium, Playwright and
Pillow, which come with the extra ``test``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from earmark.campaign.plan import SECONDS_PER_JUDGMENT
from earmark.cli.main import main
from earmark.demo.collection import DemoFiles, make_collection, write_clip, write_collection
from earmark.store.folder import CampaignFolder
from earmark.store.leases import Question
from earmark.store.links import Invitation, invite, invite_openly, new_organiser_link
from earmark.store.worker import Worker
from earmark.web.context import WebCampaign

HERE = Path(__file__).parent
SHOWN = HERE / "images" / "web"
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
SCHEMES = ("light", "dark")
USED = (
    "judge-grade-desktop-light",
    "judge-grade-phone-dark",
    "judge-prefer-desktop-light",
    "judge-order-desktop-light",
)
USED += ("judge-lists-desktop-light", "judge-sound-phone-light", "organise-results-desktop-light")
USED += ("organise-people-desktop-light", "organise-results-phone-dark")
# More than the hundred from which on intervals stay valid at any time.
ANSWERS = 120
OTHER_ANSWERS = {"prefer": 130, "order": 40, "lists": 30}
LOOK_EVERY = 20
PEOPLE = ("Ann", "Bob", "Cleo", "Dan")
SHARES = (0.4, 0.3, 0.2, 0.1)
# Half a minute per answer, as `earmark plan` and the demonstration reckon.
SECONDS = (SECONDS_PER_JUDGMENT - 10, SECONDS_PER_JUDGMENT + 10)

PAGES_OF_KINDS = ("judge", "organise-results", "organise-answers")

CONSENT = """You will listen to pairs of short songs and say how similar they are. It takes about 20 minutes.

We keep your answers and when you gave them, not your name. You may stop at any time.
"""
QUESTIONNAIRE = """
[[question]]
id = "years"
label = "For how many years have you played an instrument?"
kind = "number"
required = true

[[question]]
id = "listens"
label = "What do you listen with?"
kind = "choice"
options = ["Headphones", "Loudspeakers"]
required = true
"""
KINDS = {
    "grade": ["--scale", "broad", "-m", "AG@5", "--stop", "min:0.95"],
    "prefer": ["--kind", "prefer", "--depth", "5", "--stop", "none"],
    "order": ["--kind", "order", "--stop", "none"],
    "lists": ["--kind", "lists", "--depth", "5", "--stop", "none"],
}


def make_music(folder: Path) -> DemoFiles:
    """Make the demonstration's music, with few queries so that orders stay short."""
    files = DemoFiles(folder)
    files.clips.mkdir(parents=True)
    write_collection(make_collection(0, on_song=lambda song, samples: write_clip(song, samples, files)), files)
    (folder / "consent.md").write_text(CONSENT)
    (folder / "questionnaire.toml").write_text(QUESTIONNAIRE)
    # Two systems are enough for an order that fits on a page.
    few = pl.read_csv(files.runs, separator="\t", has_header=False)
    few.filter(pl.first().is_in(["timbre", "rhythm"])).write_csv(
        folder / "few.tsv", separator="\t", include_header=False
    )
    return files


def make_campaign(files: DemoFiles, kind: str) -> Path:
    """Make a campaign of a kind; people have graded some of it."""
    folder = files.folder / f"campaign-{kind}"
    runs = files.folder / "few.tsv" if kind in ("order", "lists") else files.runs
    excerpt = ["--media", str(files.clips), "--excerpt-start", "0", "--excerpt-seconds", "10"]
    more = ["--metadata", str(files.metadata), "--consent", str(files.folder / "consent.md")] if kind == "grade" else []
    more += ["--questionnaire", str(files.folder / "questionnaire.toml")] if kind == "grade" else []
    assert main(["init", str(folder), str(runs), *KINDS[kind], *excerpt, *more, "--quiet", "--trap-rate", "0"]) == 0
    clock = Clock()
    with CampaignFolder.open(folder, clock=clock) as opened:
        changes: dict[str, Any] = {"pages.title": "Which songs are alike?", "pages.sound_check": kind == "grade"}
        opened.rewrite_settings(changes)
        answer(opened, kind, files, clock)
    return folder


class Clock:
    """Tells the time of a past hour, in which people took their time."""

    def __init__(self) -> None:
        self.now = time.time() - 4200

    def __call__(self) -> int:
        """Return the time in microseconds."""
        return int(self.now * 1_000_000)


class Listener:
    """Answers as the made-up listener of the demonstration would, each time a little differently."""

    def __init__(self, folder: CampaignFolder, files: DemoFiles) -> None:
        rows = pl.read_csv(files.judgments, separator="\t", has_header=False).iter_rows()
        self._truth = {(query, document): gain for query, document, gain in rows}
        self._campaign, self.rng = WebCampaign(folder), np.random.default_rng(3)

    def answer(self, kind: str, question: Question) -> dict[str, Any]:
        """Return an answer as the store keeps it."""
        query = question.query
        if kind == "grade":
            return {"gain": float(np.digitize(self._heard(query, question.document), [34, 67]))}
        if kind == "prefer":
            lead = self._heard(query, question.document) - self._heard(query, question.other)
            return {"choice": "a" if lead > 0 else "b", "strength": float(np.clip(abs(lead) // 15 + 1, 1, 5))}
        if kind == "order":
            heard = {one: self._heard(query, one) for one in self._campaign.candidates_of(query)}
            order = sorted(heard, key=lambda one: -heard[one])
            return {"choice": json.dumps({"order": order, "cut": sum(gain > 40 for gain in heard.values())})}
        lists = [self._campaign.list_of(system, query) for system in (question.document, question.other)]
        first, second = (np.mean([self._heard(query, one) for one in found]) for found in lists)
        return {"choice": "a" if first > second + 3 else "b" if second > first + 3 else "same"}

    def _heard(self, query: str, document: str) -> float:
        return float(self._truth.get((query, document), 30.0) + self.rng.normal(0, 12))


def answer(folder: CampaignFolder, kind: str, files: DemoFiles, clock: Clock) -> None:
    """Let people answer, one after another, the busiest first."""
    listener = Listener(folder, files)
    people = [made.assessor for made in invite(folder.store, PEOPLE)]
    worker = Worker(folder)
    total = ANSWERS if kind == "grade" else OTHER_ANSWERS[kind]
    turns = np.searchsorted(np.cumsum(SHARES) * total, np.arange(total), side="right")
    for number in range(total):
        if number % LOOK_EVERY == 0:
            worker.look()
        person = people[turns[number]]
        held = folder.desk.take(person, ahead=0).questions
        if not held:
            continue
        clock.now += float(listener.rng.uniform(*SECONDS))
        folder.desk.answer(person, held[0].id, key=f"shown {number}", **listener.answer(kind, held[0]))
    for person in people:
        folder.desk.give_back(person)
    worker.look()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a campaign; yields its address."""
    command = [sys.executable, "-m", "earmark.cli", "serve", str(folder), "--port", "0", "--format", "jsonl", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = json.loads(process.stdout.readline())["link"]
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def tell(address: str, token: str, path: str, body: dict[str, Any]) -> Any:
    """Do what the page does, so that it opens at a later step."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/api/judge/{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def look(address: str, token: str, path: str) -> Any:
    """Ask the server what the page asks."""
    request = urllib.request.Request(f"{address}/api/judge/{path}", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


class Camera:
    """Takes pictures of a page in all sizes and schemes."""

    def __init__(self, browser: Browser, target: Path, wanted: Callable[[str], bool]) -> None:
        self.browser, self.target, self.wanted = browser, target, wanted

    def take(
        self, name: str, address: str, *, prepare: Callable[[Page], None] | None = None, whole: bool = False
    ) -> None:
        """Take all pictures of one state of a page."""
        for size, viewport in SIZES.items():
            for scheme in SCHEMES:
                full = f"{name}-{size}-{scheme}"
                if not self.wanted(full):
                    continue
                with self._context(viewport, scheme) as context:
                    page = context.new_page()
                    page.goto(address)
                    page.wait_for_load_state("networkidle") if "/organise" not in address else page.wait_for_timeout(
                        2500
                    )
                    if prepare is not None:
                        prepare(page)
                    page.evaluate("window.scrollTo(0, 0)")
                    page.wait_for_timeout(500)
                    path = self.target / f"{full}.png"
                    page.screenshot(path=path, full_page=whole)
                    shrink(path)
                    print(path)

    @contextmanager
    def _context(self, viewport: dict[str, int], scheme: str) -> Iterator[BrowserContext]:
        phone = viewport == SIZES["phone"]
        context = self.browser.new_context(  # type: ignore[arg-type]
            viewport=viewport, color_scheme=scheme, is_mobile=phone, has_touch=phone
        )
        context.set_default_timeout(15_000)
        # Pages that open at a later step do so on a device whose sound was checked.
        context.add_init_script("localStorage.setItem('earmark.sound', 'true')")
        yield context
        context.close()


def shrink(path: Path) -> None:
    """Keep 128 colours: a page has few, and the picture becomes a third of the size."""
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def begin(page: Page) -> None:
    """Go past the words to the first question."""
    button = page.get_by_role("button", name="Begin")
    button.or_(page.locator(".asking")).first.wait_for()
    if button.count():
        button.click()
    page.locator(".asking").wait_for()
    page.wait_for_timeout(800)


def play_both(page: Page) -> None:
    """Listen to the query and the candidate, and choose an answer."""
    begin(page)
    for shown in page.locator(".showing .shown:has(.play)").all()[:2]:
        shown.locator(".play").click()
        shown.locator(".listened[data-state=done]").wait_for()
    page.wait_for_timeout(900)
    radio = page.get_by_role("radio").nth(1)
    if radio.count():
        radio.check()


def photograph_judging(camera: Camera, address: str, kind: str, person: Callable[[], Invitation]) -> None:
    """Take pictures of all steps of an assessor."""
    if kind == "grade":
        for step in ("consent", "questionnaire", "sound", "training"):
            made = person()
            advance(address, made.token, step)
            camera.take(f"judge-{step}", made.link(address), prepare=begin if step == "training" else None)
    made = person()
    advance(address, made.token, "judge")
    camera.take(f"judge-{kind}", made.link(address), prepare=play_both)
    if kind == "grade":
        for state, prepare in (("skip", ask_to_skip), ("keys", ask_for_keys), ("thanks", leave)):
            made = person()
            advance(address, made.token, "judge")
            camera.take(f"judge-{state}", made.link(address), prepare=prepare)


def ask_to_skip(page: Page) -> None:
    """Open the dialog that asks why a question is skipped."""
    begin(page)
    page.get_by_role("button", name="Skip", exact=True).click()


def ask_for_keys(page: Page) -> None:
    """Open the list of keys."""
    begin(page)
    page.keyboard.press("?")


def leave(page: Page) -> None:
    """Go to the thanks."""
    begin(page)
    page.get_by_role("button", name="Stop for now").click()
    page.get_by_role("heading", level=1).wait_for()


def advance(address: str, token: str, step: str) -> None:
    """Bring somebody to a step."""
    for _ in range(6):
        session = look(address, token, "session")
        if session["stage"] == step or session["stage"] == "judge":
            return
        if session["stage"] == "consent":
            tell(address, token, "consent", {"version": session["consent"]["version"]})
        elif session["stage"] == "questionnaire":
            tell(address, token, "questionnaire", {"answers": {"years": 8, "listens": "Headphones"}})
        else:
            tell(address, token, "prepared", {"step": session["stage"]})


def photograph_organising(camera: Camera, address: str, secret: str, kind: str) -> None:
    """Take pictures of all pages of the organiser; of other kinds than grades, of the results and the answers."""
    every = ("results", "people", "answers", "settings", "files", "recruiting")
    for name in every if kind == "grade" else ("results", "answers"):
        place = "" if name == "results" else f"/{name}"

        def sign_in(page: Page, place: str = place) -> None:
            page.wait_for_timeout(1500)
            page.goto(f"{address}/organise{place}")
            page.wait_for_timeout(2500)

        what = name if kind == "grade" else f"{name}-{kind}"
        camera.take(f"organise-{what}", f"{address}/organise#{secret}", prepare=sign_in)
        camera.take(f"organise-{what}-whole", f"{address}/organise#{secret}", prepare=sign_in, whole=True)
    camera.take("organise-sign-in", f"{address}/organise")


def side_by_side() -> None:
    """Put the page of an assessor and that of the organiser into one picture, for the first page of everything."""
    pictures = [
        Image.open(SHOWN / f"{name}-desktop-light.png").convert("RGB") for name in ("judge-grade", "organise-results")
    ]
    width, height, gap = 800, 500, 16
    together = Image.new("RGB", (2 * width + 3 * gap, height + 2 * gap), "#d6dbe1")
    for place, picture in enumerate(pictures):
        together.paste(picture.resize((width, height), Image.Resampling.LANCZOS), (gap + place * (width + gap), gap))
    path = SHOWN / "side-by-side.png"
    together.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    print(path)


def run(target: Path, wanted: Callable[[str], bool]) -> None:
    """Make the music and the campaigns, serve them, and take the pictures."""
    sys.path.insert(0, str(HERE.parent / "tests" / "browser"))
    from browsers import HOW, find_browser

    path = find_browser()
    if path is None:
        sys.exit(HOW)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        files = make_music(Path(home))
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        camera = Camera(browser, target, wanted)
        for kind in KINDS:
            shown = product(PAGES_OF_KINDS, [kind], SIZES, SCHEMES)
            if kind != "grade" and not any(wanted("-".join(names)) for names in shown):
                continue
            folder = make_campaign(files, kind)
            with served(folder) as address, CampaignFolder.open(folder) as opened:
                numbers = iter(range(100))

                def person(opened: CampaignFolder = opened, numbers: Iterator[int] = numbers) -> Invitation:
                    return invite(opened.store, [f"Dora {next(numbers)}"])[0]

                photograph_judging(camera, address, kind, person)
                photograph_organising(camera, address, new_organiser_link(opened.store), kind)
                if kind == "grade":
                    camera.take("judge-join", invite_openly(opened.store, 9).link(address))
                    camera.take("message-front", f"{address}/")
                    camera.take("message-not-valid", f"{address}/judge/unknown")
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="DIR", help="write all pictures to a folder")
    chosen = parser.parse_args().all
    if chosen is not None:
        run(chosen, lambda _: True)
    else:
        run(SHOWN, lambda name: name in USED)
        side_by_side()
