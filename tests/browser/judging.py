"""Campaigns for the tests in a browser: with short sounds, made by ``earmark init``, and people who judge in them."""

from __future__ import annotations

import subprocess
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from sounds import RATE, clicks, picture, steady, swelling, tune

from earmark.audio.sound import write_sound
from earmark.cli.main import main
from earmark.store.folder import CampaignFolder
from earmark.store.links import invite, invite_openly

# The browser takes this name for this computer. It is no secure context, as in a local network.
OTHER_NAME = "study.example"
QUERIES, DOCUMENTS, DEPTH = 4, 5, 3
CONSENT = "# About this test\n\nYou listen to *music* and say what **you** hear.\n\n- You may stop at any time.\n"
QUESTIONNAIRE = """
[[question]]
id = "years"
label = "For how many years have you made music?"
kind = "number"
required = true

[[question]]
id = "listens"
label = "What do you listen with?"
kind = "choice"
options = ["Headphones", "Loudspeakers"]
required = true

[[question]]
id = "other"
label = "Anything else?"
kind = "text"
"""

MAP = """id,file,role,kind,title,text
query0,,query,,,"Something slow, <b>for late at night</b>"
query1,score.png,query,score,,
query2,https://example.org/video,query,,,
query3,songs/query3.wav,query,,Take Five,
"""
# Usual answers that an organiser wrote. Without them, the query beside itself is the training.
TRAININGS = {
    "pairs": "query,document,other,choice,feedback\nquery0,track0,track1,a,Listen to the melody.\n",
    "order": (
        "query,document,gain,feedback\n"
        "query0,track0,2,Listen to the melody.\nquery0,track1,1,\nquery0,track2,0,\nquery0,track3,0,\n"
    ),
}

# What is made of each: arguments of init, and settings.
NO_STOP = ["--stop", "none", "--trap-rate", "0", "--judgments-per-item", "30"]
CAMPAIGNS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "grade": (["--scale", "broad", "-m", "AG@3", *NO_STOP], {}),
    "both": (["--scale", "fine", "--also", "broad", "-m", "AG@3", *NO_STOP], {}),
    "mixed": (["--scale", "fine", "-m", "AG@3", *NO_STOP], {"pages.show_titles": True}),
    "prefer": (["--kind", "prefer", "--depth", "3", *NO_STOP], {}),
    # As the one above, but queries are sounds: so there is a training.
    "pairs": (["--kind", "prefer", "--depth", "3", *NO_STOP], {}),
    "order": (["--kind", "order", *NO_STOP], {}),
    "lists": (["--kind", "lists", "--depth", "3", *NO_STOP], {}),
    # As the one above, but every document was retrieved for every query: so there is a training.
    "covering lists": (["--kind", "lists", "--depth", "3", *NO_STOP], {}),
    # Sources of very different levels: one pair of tones at a time, or all sounds on one page.
    "uneven": (["--scale", "broad", "-m", "AG@3", *NO_STOP], {}),
    "levels": (["--kind", "order", *NO_STOP], {}),
}
# Where the sounds and the runs of a campaign are, if not in these two.
USUAL_PLACES = ("songs", "runs.tsv")
PLACES = {
    "prefer": ("pictures", "runs.tsv"),
    "covering lists": ("songs", "covering.tsv"),
    "uneven": ("levels", "levels/tones.tsv"),
    "levels": ("levels", "levels/all.tsv"),
}
# Notes when each tone begins, so that a test knows how many beeps there really are.
HEAR_BEEPS = """
window.beeps = new Set();
const make = BaseAudioContext.prototype.createOscillator;
BaseAudioContext.prototype.createOscillator = function () {
  const made = make.call(this);
  const start = made.start;
  made.start = (when) => (window.beeps.add(when), start.call(made, when));
  return made;
};
"""
# Waits until a clip was heard for long enough, or does not play any more.
HEARD_OR_OVER = """async (part) => {
  const heard = () => part.querySelector(".listened").dataset.state === "done";
  while (!heard() && part.classList.contains("playing")) await new Promise((resolve) => setTimeout(resolve, 20));
}"""
USUAL: dict[str, Any] = {
    "people.hosts": (OTHER_NAME,),
    "pages.minimum_seconds": 0.2,
    "pages.sound_check": False,
    "pages.title": "Which songs are alike?",
}


def full(name: str) -> dict[str, Any]:
    """Return the settings of a campaign with everything that comes before and between the questions."""
    settings = {
        "inputs__consent": "consent.md",
        "inputs__questionnaire": "questionnaire.toml",
        "pages__sound_check": True,
        "pages__pause_after": 1,
        "judging__answers_per_assessor": 2,
    }
    if name == "grade":
        settings["pages__labels"] = ("Nothing alike", "Somewhat similar", "Very similar")
    if name in TRAININGS:
        settings["inputs__training"] = f"{name}.csv"
    return settings


def write_inputs(folder: Path) -> None:
    """Write runs, and what is heard and seen: sounds for all, and queries as pictures, a text, a score and a link."""
    songs = folder / "songs"
    songs.mkdir(parents=True)
    names = [f"query{number}" for number in range(QUERIES)] + [f"track{number}" for number in range(DOCUMENTS)]
    for number, name in enumerate(names):
        write_sound(tune(number), songs / f"{name}.wav", rate=RATE)
    pictures = folder / "pictures"
    (pictures / "documents").mkdir(parents=True)
    for query in range(QUERIES):
        (pictures / "queries" / f"query{query}").mkdir(parents=True)
        for number in range(5):
            (pictures / "queries" / f"query{query}" / f"{number}.png").write_bytes(picture(query, number))
    for document in range(DOCUMENTS):
        write_sound(tune(document + 3), pictures / "documents" / f"track{document}.wav", rate=RATE)
    rng = np.random.default_rng(5)
    rows = [
        f"system{system}\tquery{query}\ttrack{document}\n"
        for system in range(3)
        for query in range(QUERIES)
        for document in rng.permutation(DOCUMENTS)[:DEPTH]
    ]
    (folder / "runs.tsv").write_text("".join(rows))
    covering = [
        f"system{system}\tquery{query}\ttrack{(2 * system + query + rank) % DOCUMENTS}\n"
        for system in range(3)
        for query in range(QUERIES)
        for rank in range(DEPTH)
    ]
    (folder / "covering.tsv").write_text("".join(covering))
    (folder / "score.png").write_bytes(picture(1, 1))
    (folder / "map.csv").write_text(MAP)
    (folder / "consent.md").write_text(CONSENT)
    (folder / "questionnaire.toml").write_text(QUESTIONNAIRE)
    for name, training in TRAININGS.items():
        (folder / f"{name}.csv").write_text(training)


def write_levels(folder: Path) -> None:
    """Write sounds that are about 40 LU apart, some near full scale, and runs that retrieve them.

    Queries and the first documents are tones that go on without a rest, so that a gap between two of them can be told
    from a rest of the music. The last documents are clicks over a quiet tone: as loud as the tones usually are, their
    peaks would be beyond full scale.
    """
    folder.mkdir()
    peaks = (0.99, 0.03, 0.3)
    sounds = {f"query{number}": steady(220 + 30 * number, peaks[number % 3]) for number in range(QUERIES)}
    tones = [swelling(330, 0.99), steady(262, 0.03), swelling(294, 0.1)]
    sparse = [clicks(440, 0.99), clicks(330, 0.1), clicks(550, 0.99, every=0.2)]
    sounds |= {f"track{number}": sound for number, sound in enumerate([*tones, *sparse])}
    for name, sound in sounds.items():
        write_sound(sound, folder / f"{name}.wav", rate=RATE)
    for file, count in (("tones.tsv", len(tones)), ("all.tsv", len(tones) + len(sparse))):
        rows = [
            f"system{system}\tquery{query}\ttrack{document}\n"
            for system, way in enumerate((1, -1))
            for query in range(QUERIES)
            for document in range(count)[::way]
        ]
        (folder / file).write_text("".join(rows))


@dataclass
class Server:
    """A campaign that is served by a process of its own."""

    folder: Path
    process: subprocess.Popen[str]
    address: str
    opened: CampaignFolder = field(repr=False)
    _names: int = 0

    def link(self, name: str | None = None, *, pilot: bool = False) -> str:
        """Invite somebody, a new person when no name is given, and return the link."""
        self._names += 1
        (made,) = invite(self.opened.store, [name or f"Person {self._names}"], pilot=pilot)
        return made.link(self.address)

    def open_link(self, seats: int) -> str:
        return invite_openly(self.opened.store, seats).link(self.address)

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the events of the log."""
        rows = self.opened.store.log(without=("asked",)).frame.to_dicts()
        return [row for row in rows if not kinds or row["kind"] in kinds]

    def close(self) -> None:
        self.opened.close()
        self.process.terminate()
        self.process.wait(timeout=20)
        assert self.process.stdout is not None
        self.process.stdout.close()


def make_campaign(inputs: Path, name: str, folder: Path, settings: dict[str, Any]) -> CampaignFolder:
    arguments, own = CAMPAIGNS[name]
    sounds, runs = PLACES.get(name, USUAL_PLACES)
    if sounds == "levels" and not (inputs / sounds).is_dir():
        # Few tests need them.
        write_levels(inputs / sounds)
    media = ["--media", str(inputs / sounds)]
    if name == "mixed":
        media += ["--media-map", str(inputs / "map.csv")]
    command = ["init", str(folder), str(inputs / runs), *arguments, *media, "--quiet"]
    for file in ("consent", "questionnaire", "training"):
        if f"inputs.{file}" in settings:
            command += [f"--{file}", str(inputs / settings[f"inputs.{file}"])]
    assert main(command) == 0
    wanted = {key: value for key, value in {**USUAL, **own, **settings}.items() if not key.startswith("inputs.")}
    return CampaignFolder.open(folder).rewrite_settings(wanted)


def wait_for(address: str, patience: float = 20) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


class Judge:
    """Somebody with a browser. Actions are those of a person: clicks, keys, waiting for what is to be seen."""

    def __init__(self, context: BrowserContext, link: str) -> None:
        self.context, self.link = context, link
        self.page: Page = context.new_page()
        self.page.add_init_script(HEAR_BEEPS)
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda said: said.type == "error" and self.problems.append(said.text))

    def open(self) -> Judge:
        self.page.goto(self.link)
        return self

    def begin(self) -> Judge:
        """Open the link and go past the words to the first question."""
        self.open()
        self.page.locator("h1").wait_for()
        if self.page.get_by_role("button", name="Begin").count():
            self.page.get_by_role("button", name="Begin").click()
        if self.page.get_by_text("Practice 1 of").count():
            self.train()
        expect(self.question).to_be_visible()
        return self

    def train(self) -> None:
        """Answer all questions of the training in some way."""
        badge = self.page.locator(".asking .badge")
        badge.wait_for()
        while badge.count():
            first = badge.inner_text()
            self.hear_all()
            self.answer_somehow()
            self.next()
            self.page.locator(".feedback button").click()
            expect(badge.filter(has_text=first)).to_have_count(0)
            expect(self.question).to_be_visible()

    def answer_somehow(self) -> None:
        """Give an answer of any kind: the highest level or number, the first side, the order as it is."""
        page = self.page
        if page.locator(".ordered").count():
            page.get_by_role("button", name="All are similar").click()
        if page.locator(".levels").count():
            page.locator(".levels").get_by_role("radio").last.check()
        if page.get_by_label("A number from").count():
            page.get_by_label("A number from").fill("100")
        for choices in (".sides", ".lists", ".strengths"):
            if page.locator(choices).count():
                page.locator(choices).get_by_role("radio").first.check()

    def play_beeps(self, press: Callable[[], None] | None = None) -> int:
        """Play the beeps of the sound check, by a click unless it is said how, and return how many there are."""
        self.page.evaluate("beeps.clear()")
        (press or self.page.locator(".sound-check .button", has_text="Play").click)()
        return int(self.page.evaluate("beeps.size"))

    def count_beeps(self, number: int) -> None:
        self.page.locator(".counts").get_by_role("radio", name=str(number), exact=True).check(force=True)
        self.page.get_by_role("button", name="Confirm").click()

    def pass_sound_check(self) -> None:
        expect(self.page.get_by_role("heading", name="Sound check")).to_be_visible()
        self.count_beeps(self.play_beeps())
        self.page.locator(".check-result").get_by_role("button", name="Continue", exact=True).click()

    @property
    def question(self):  # type: ignore[no-untyped-def]
        return self.page.locator(".asking[data-question]")

    @property
    def id(self) -> str:
        return str(self.question.get_attribute("data-question"))

    @property
    def state(self) -> dict[str, Any]:
        return self.page.evaluate("__earmark.state")  # type: ignore[no-any-return]

    def hear_all(self) -> None:
        """Play every clip of the question, one after the other, until it was heard for long enough."""
        expect(self.question).to_be_visible()
        for part in self.page.locator(".showing .shown:has(.play)").all():
            self.hear(part, part.locator(".play").click)

    def hear(self, part: Locator, start: Callable[[], None]) -> None:
        """Play a clip until it was heard for long enough."""
        # A clip that is switched to near its end is soon over: then it is played once more.
        while not part.locator(".listened[data-state=done]").count():
            start()
            part.evaluate(HEARD_OR_OVER)

    def choose(self, answer: str) -> None:
        self.page.get_by_role("radio", name=answer, exact=True).check()

    def next(self, save: Callable[[], None] | None = None) -> None:
        """Save, by a click unless it is said how, and see that another page comes."""
        before = self.id
        (save or self.page.locator(".next").click)()
        self.page.wait_for_function(
            "id => document.querySelector('.asking')?.dataset.question !== id || document.querySelector('.feedback')",
            arg=before,
        )

    def expect_saved(self) -> None:
        expect(self.page.locator("#saved")).to_have_attribute("data-state", "saved")

    def close(self) -> None:
        assert not self.problems, self.problems
        self.context.close()


def new_context(browser: Browser, **how: Any) -> BrowserContext:
    how.setdefault("viewport", {"width": 1280, "height": 800})
    context = browser.new_context(**how)
    context.set_default_timeout(60_000)
    return context
