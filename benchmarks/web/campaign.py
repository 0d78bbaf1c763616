"""A campaign of the size of MIREX's audio music similarity task, with a sound for every song.

18 systems, 100 queries and 5 documents in every list. Sounds are 30 seconds of mp3 as ``earmark media`` prepares them.
Encoding thousands would take an hour, so some are encoded and the others are links to these: a server reads and sends
the same bytes as it would.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import numpy as np

import earmark
from benchmarks.web.people import LISTENED
from earmark.audio.sound import write_sound
from earmark.media import MediaSettings, prepare_media, read_media
from earmark.store.folder import CampaignFolder

RATE = 44_100
SECONDS = 30.0
ENCODED = 12


def write_inputs(folder: Path, *, systems: int = 18, queries: int = 100, documents: int = 7000) -> Path:
    """Write the runs of a made-up collection and what is known about its documents; returns the file of runs."""
    made = earmark.synthetic_collection(np.random.default_rng(3), systems=systems, queries=queries, documents=documents)
    earmark.write_runs(made.runs, folder / "runs.tsv")
    assert made.metadata is not None
    made.metadata.frame.write_csv(folder / "metadata.csv")
    return folder / "runs.tsv"


def make_campaign(folder: Path, inputs: Path, *, store: str | None = None, judgments: int = 2) -> CampaignFolder:
    """Make a campaign and its sounds, and open it."""
    command = [sys.executable, "-m", "earmark.cli", "init", str(folder), str(inputs / "runs.tsv")]
    command += ["--scale", "broad", "-m", "AG@5", "--stop", "none", "--judgments-per-item", str(judgments)]
    command += ["--metadata", str(inputs / "metadata.csv"), "--quiet", *(["--store", store] if store else [])]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    opened = CampaignFolder.open(folder)
    items = opened.problem(opened.removed()).items
    _link_sounds(folder, sorted(set(items["query"])), sorted(set(items["document"])))
    # Queries that can be played become traps.
    opened.follow_removals(opened.removed())
    changes = {"judging.more_on_disagreement": 0, "pages.sound_check": True, "pages.minimum_seconds": LISTENED}
    return opened.rewrite_settings(changes)


def _link_sounds(folder: Path, queries: list[str], documents: list[str]) -> None:
    songs = folder.parent / "songs"
    if not songs.is_dir():
        songs.mkdir()
        rng = np.random.default_rng(0)
        for number in range(ENCODED):
            write_sound(_song(rng), songs / f"song{number}.wav", rate=RATE)
    names = [f"song{number}" for number in range(ENCODED)]
    manifest = prepare_media(
        read_media([], names, folder=songs), folder, secret=secrets.token_bytes(32), settings=MediaSettings(start=0)
    )
    home = folder / "media"
    told = json.loads((home / "manifest.json").read_bytes())
    parts = [one["parts"][0] for one in told["media"]]
    assert len(parts) == ENCODED == len(manifest.media)
    media = []
    wanted = [("query", one) for one in queries] + [("document", one) for one in documents]
    for number, (role, name) in enumerate([*wanted, *(("twin", one) for one in queries)]):
        part = dict(parts[number % ENCODED])
        for key in ("file", "peaks"):
            link = secrets.token_hex(16) + Path(part[key]).suffix
            os.link(home / part[key], home / link)
            part[key] = link
        # Every song sounds like no other, as far as the campaign knows.
        part["content"] = secrets.token_hex(32)
        media.append({"role": role, "id": name, "title": "", "parts": [part]})
    (home / "manifest.json").write_text(json.dumps({**told, "media": media, "same_sound": []}))


def _song(rng: np.random.Generator) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return chords that change every half second, with some noise: about as hard to encode as music."""
    when = np.arange(round(SECONDS * RATE)) / RATE
    sound = 0.02 * rng.standard_normal(len(when))
    for start in np.arange(0, SECONDS, 0.5):
        here = slice(round(start * RATE), round((start + 0.5) * RATE))
        fade = np.exp(-3 * (when[here] - start))
        for hertz in 110 * 2 ** (rng.integers(0, 36, size=5) / 12):
            for overtone in (1, 2, 3, 5):
                sound[here] += 0.03 / overtone * fade * np.sin(2 * np.pi * hertz * overtone * when[here])
    return np.asarray(sound, dtype=np.float64)
