"""Campaigns whose names are unmistakable, and everything that their servers send to assessors."""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from served import Assessor

from earmark.cli.main import main
from earmark.store.folder import CampaignFolder

RATE = 44_100
SYSTEMS = ("SYSTEMZEBRA", "SYSTEMYAK", "SYSTEMXENOPS")
QUERY, DOCUMENT, TITLE, ARTIST = "QUERYOKAPI", "TRACKLEMUR", "TITLEIBEX", "ARTISTQUOLL"
ANIMALS = ("OTTER", "STOAT", "VIPER", "COATI", "GENET", "TAPIR", "HYENA", "SKUNK", "MOOSE", "BISON", "CAMEL", "LLAMA")
PEOPLE = tuple(f"PERSON{animal}" for animal in ANIMALS)
REMARK = "REMARKHERON"
FORBIDDEN = tuple(one.lower() for one in (*SYSTEMS, QUERY, DOCUMENT, TITLE, ARTIST, REMARK))
LENGTH = 0.5

CONSENT = "# About this test\n\nYou listen to music and say what you hear.\n"
QUESTIONNAIRE = '[[question]]\nid = "other"\nlabel = "Anything else?"\nkind = "text"\n'


@dataclass(frozen=True)
class Zoo:
    """Runs, songs and traps in a folder. Every query has documents of its own, as in a large collection."""

    folder: Path
    queries: int
    pool: int
    depth: int

    def write(self) -> None:
        """Write all files; the sounds have tags, as music that was bought has."""
        (self.folder / "songs").mkdir(parents=True)
        rng = np.random.default_rng(7)
        rows, traps, pairs, titles = [], [], ["query,a,b,trap"], ["id,file,title"]
        for query in range(self.queries):
            name, pool = f"{QUERY}{query}", [f"{DOCUMENT}{query}x{number}" for number in range(self.pool)]
            for number, one in enumerate((name, *pool)):
                file = f"songs/{one}.{'flac' if number % 2 else 'wav'}"
                _write_song(_song(rng), self.folder / file, one)
                titles.append(f"{one},{file},{TITLE} {one}")
            lists = [[pool[place] for place in rng.permutation(self.pool - 1)[: self.depth]] for _ in SYSTEMS]
            for system, found in zip(SYSTEMS, lists, strict=True):
                rows += [f"{system}\t{name}\t{document}\n" for document in found]
            # The last document is nobody's: the organiser knows its answer.
            traps.append(f"{name}\t0\t{pool[-1]}\t0\n")
            pairs.append(f"{name},{lists[0][0]},{pool[-1]},a")
        (self.folder / "runs.tsv").write_text("".join(rows))
        (self.folder / "traps.qrels").write_text("".join(traps))
        (self.folder / "traps.csv").write_text("\n".join(pairs) + "\n")
        (self.folder / "map.csv").write_text("\n".join(titles) + "\n")
        (self.folder / "consent.md").write_text(CONSENT)
        (self.folder / "about.toml").write_text(QUESTIONNAIRE)

    def make(self, kind: str, *more: str, trap_rate: str, judgments: int) -> Path:
        """Make a campaign of a kind with traps of all sources. The sounds are encoded once, for the first one."""
        made, first = self.folder / kind, self.folder / "first"
        kinds = {
            "grade": ["--scale", "broad", "-m", f"AG@{self.depth}", "--traps", str(self.folder / "traps.qrels")],
            "prefer": ["--kind", "prefer", "--depth", str(self.depth), "--traps", str(self.folder / "traps.csv")],
            "order": ["--kind", "order"],
            "lists": ["--kind", "lists", "--depth", str(self.depth)],
        }
        command = ["init", str(made), str(self.folder / "runs.tsv"), *kinds[kind], *more, "--quiet"]
        command += ["--trap-rate", trap_rate, "--judgments-per-item", str(judgments), "--stop", "none"]
        command += ["--address", "http://testserver"]
        if not first.is_dir():
            assert main([*command, "--media-map", str(self.folder / "map.csv")]) == 0
            shutil.copytree(made / "media", first)
        else:
            assert main(command) == 0
            shutil.copytree(first, made / "media")
        with CampaignFolder.open(made) as opened:
            # Queries that can be played become traps.
            opened.follow_removals(opened.removed())
            opened.rewrite_settings({"pages.minimum_seconds": 0.0})
        return made

    def source_of(self, row: dict[str, Any]) -> str:
        """Return where the trap of an event comes from."""
        if row["query"] in (row["document"], row["other"]):
            return "self"
        return "list" if re.search(f"x{self.pool - 1}$", row["other"] or row["document"]) else "agreed"


def _write_song(samples: np.ndarray[Any, Any], path: Path, name: str) -> None:
    with soundfile.SoundFile(path, "w", samplerate=RATE, channels=1) as file:
        file.title, file.artist, file.comment = f"{TITLE} {name}", ARTIST, f"{DOCUMENT} {REMARK}"
        file.write(samples)


def _song(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return noise in bursts."""
    when = np.arange(round(LENGTH * RATE)) / RATE
    swell = 0.55 + 0.45 * np.sin(2 * np.pi * (rng.uniform(1, 4) * when + rng.uniform(0, 1)))
    return 0.08 * swell * rng.standard_normal(len(when))


# ---- what is served --------------------------------------------------------------------------------------------------


@dataclass
class Response:
    """One response, who got it, and how long it took."""

    who: str
    method: str
    path: str
    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float = 0.0

    @property
    def text(self) -> str:
        """All that can be read in it."""
        head = "\n".join(f"{name}: {value}" for name, value in self.headers.items())
        return f"{self.path}\n{head}\n{self.body.decode('latin-1')}"


@dataclass
class Part:
    """A clip of a question: its sound, its waveform, and what the question says about it."""

    sound: Response
    outline: Response
    seconds: float | None
    ticket: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.sound.body).hexdigest()


@dataclass
class Asked:
    """One question with everything that came with it."""

    who: str
    place: int
    ahead: int
    question: dict[str, Any]
    came: Response
    parts: list[Part]
    answered: list[Response] = field(default_factory=list)


class Recorder:
    """Somebody who judges and keeps everything that the server sends.

    Parameters
    ----------
    client
        Of the app, or of a server: has ``request(method, path, …)``.
    token : str
        Of a link.
    name : str
    kept : list of Response
        Everything that anybody got.
    """

    def __init__(self, client: Any, token: str, name: str, kept: list[Response]) -> None:
        self.client, self.token, self.name, self.kept = client, token, name, kept
        self.asked: dict[str, Asked] = {}

    def call(self, method: str, path: str, **more: Any) -> Response:
        headers = {"Authorization": f"Bearer {self.token}"} | more.pop("headers", {})
        began = time.perf_counter()
        found = self.client.request(method, path, headers=headers, **more)
        spent = time.perf_counter() - began
        said = Response(self.name, method, path, found.status_code, dict(found.headers), found.content, spent)
        self.kept.append(said)
        return said

    def json(self, method: str, path: str, **more: Any) -> Any:
        """Return what a response that is no refusal says."""
        import json

        said = self.call(method, path, **more)
        assert said.status == 200, (method, path, said.body[:300])
        return json.loads(said.body)

    def post(self, path: str, body: dict[str, Any]) -> Response:
        return self.call("POST", f"/api/judge/{path}", json=body)

    def arrive(self) -> None:
        """Do what comes before the first question."""
        self.call("GET", f"/judge/{self.token}")
        session = self.json("GET", "/api/judge/session")
        if session["consent"] is not None:
            self.post("questions", {})
            self.json("POST", "/api/judge/consent", json={"version": session["consent"]["version"]})
        if session["questionnaire"]:
            answers = {"other": f"{REMARK} {self.name}"}
            self.json("POST", "/api/judge/questionnaire", json={"answers": answers})
        for question in self.json("GET", "/api/judge/training")["questions"]:
            self.fetch(question)
        for step in ("sound", "training"):
            self.json("POST", "/api/judge/prepared", json={"step": step, "details": {"seconds": 1}})

    def take(self, ahead: int = 1, *, fetch: bool = True) -> list[dict[str, Any]]:
        found = self.json("POST", "/api/judge/questions", json={"ahead": ahead})["questions"]
        came = self.kept[-1]
        for place, question in enumerate(found):
            if question["id"] not in self.asked:
                parts = self.fetch(question) if fetch else []
                self.asked[question["id"]] = Asked(self.name, len(self.asked), place, question, came, parts)
        return found  # type: ignore[no-any-return]

    def fetch(self, question: dict[str, Any]) -> list[Part]:
        """Fetch sounds and outlines as the page does; returns what there is to see of each."""
        shown = [question["query"], *question["candidates"]]
        shown += [one for side in question["lists"] or [] for one in side]
        return [self._fetch_part(part) for one in shown for part in one["parts"]]

    def _fetch_part(self, part: dict[str, Any]) -> Part:
        sound, outline = self.call("GET", part["media"]), self.call("GET", part["peaks"])
        assert (sound.status, outline.status) == (200, 200), sound.body[:300]
        return Part(sound, outline, part["seconds"], part["media"].rsplit("/", 1)[1])

    def answer(self, question: dict[str, Any], key: str, **said: Any) -> Response:
        body = {"id": question["id"], "key": key, **(said or Assessor.some_answer(question))}
        found = self.post("answers", body)
        self.asked[question["id"]].answered.append(found)
        return found


def known_of(folder: CampaignFolder, zoo: Zoo) -> dict[str, tuple[str, str]]:
    """Return for every question that was asked where its trap comes from, empty for a question, and its query."""
    rows = {str(row["key"]).split("/")[0]: row for row in folder.store.log().of_kind("asked").to_dicts()}
    return {id: ("" if row["expected"] is None else zoo.source_of(row), str(row["query"])) for id, row in rows.items()}
