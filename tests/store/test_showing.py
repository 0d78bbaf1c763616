"""Which queries are heard beside themselves, and have a second recording for that."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from earmark.audio.sound import write_sound
from earmark.cli.main import main
from earmark.media import read_manifest
from earmark.store.folder import CampaignFolder
from earmark.store.sounds import playable_queries
from earmark.web.context import WebCampaign
from earmark.web.shown import Shown, question_json, read_ticket
from earmark.web.training import training_json

RATE = 44_100
KEY = b"the secret of a campaign"


def sound(path: Path, number: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_sound(0.05 * np.random.default_rng(number).standard_normal(RATE // 2), path, rate=RATE)


def make(home: Path, *options: str) -> Path:
    """Make a campaign in which the query ``both`` is a document too."""
    rows = [
        f"s{system}\t{query}\t{document}\n"
        for system in (1, 2)
        for query in ("q1", "both")
        for document in (("both", f"d{system}") if query == "q1" else ("both", f"d{3 - system}"))
    ]
    (home / "runs.tsv").write_text("".join(rows))
    command = ["init", str(home / "study"), str(home / "runs.tsv"), "--media", str(home / "songs"), "--quiet"]
    assert main([*command, *options]) == 0
    return home / "study"


def twins(study: Path) -> list[str]:
    return [medium.id for medium in read_manifest(study).media if medium.role == "twin"]


def self_traps(study: Path) -> list[str]:
    from earmark.store.rules import Rules
    from earmark.store.traps import self_traps as found

    with CampaignFolder.open(study, read_only=True) as folder:
        rules = Rules.from_settings(folder.settings)
    return [trap[0] for trap in found(None, rules, playable_queries(study))]  # type: ignore[arg-type]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for number, name in enumerate(("q1", "both", "d1", "d2")):
        sound(tmp_path / "songs" / f"{name}.wav", number)
    return tmp_path


GRADE = ["--scale", "broad", "-m", "AG@2"]


def test_every_query_that_may_be_a_trap_has_a_twin(home: Path) -> None:
    study = make(home, *GRADE)
    assert twins(study) == self_traps(study) == ["both", "q1"]
    # A second time, nothing changes.
    before = (study / "media" / "manifest.json").read_bytes()
    assert main(["media", str(study), "--media", str(home / "songs"), "--quiet"]) == 0
    assert (study / "media" / "manifest.json").read_bytes() == before


def test_the_training_that_we_make_needs_one(home: Path) -> None:
    study = make(home, *GRADE)
    with CampaignFolder.open(study) as folder:
        folder.change_settings({"traps.sources": ("agreed",)}).close()
    assert main(["media", str(study), "--media", str(home / "songs"), "--quiet"]) == 0
    assert twins(study) == ["both"]


@pytest.mark.parametrize(("kind", "found"), [("prefer", ["both", "q1"]), ("order", []), ("lists", [])])
def test_other_kinds(home: Path, kind: str, found: list[str]) -> None:
    assert twins(make(home, "--kind", kind, *(["--depth", "2"] if kind != "order" else []))) == found


def test_a_document_with_the_id_of_a_query_and_another_sound_is_no_query_beside_itself(tmp_path: Path) -> None:
    for number, name in enumerate(("queries/q1", "queries/both", "documents/both", "documents/d1", "documents/d2")):
        sound(tmp_path / "songs" / f"{name}.wav", number)
    study = make(tmp_path, *GRADE)
    assert twins(study) == ["q1"]
    assert playable_queries(study) == ["q1"]
    with CampaignFolder.open(study) as folder:
        (exercise,) = training_json(WebCampaign(folder), "ann")
        assert exercise["query"]["title"] is None
        assert exercise["expected"] == {"gain": 2.0}


def test_the_twin_is_shown_beside_the_query_and_the_document_everywhere_else(home: Path) -> None:
    manifest = read_manifest(make(home, *GRADE))
    settings = SimpleNamespace(pages=SimpleNamespace(show_titles=False))
    campaign: Any = SimpleNamespace(manifest=manifest, secret=KEY, opened=SimpleNamespace(settings=settings))

    def files(query: str, *documents: str) -> list[str]:
        shown = question_json(campaign, "ann", Shown("prefer", "1", query, documents), expires=None)
        tickets = [one["parts"][0]["media"].rsplit("/", 1)[1] for one in (shown["query"], *shown["candidates"])]
        return [read_ticket(KEY, "ann", ticket) or "" for ticket in tickets]

    def name(role: str, id: str) -> str:
        medium = manifest.find(role, id)
        assert medium is not None
        return str(medium.parts[0].file).partition(".")[0]

    assert files("both", "both", "d1") == [name("query", "both"), name("twin", "both"), name("document", "d1")]
    assert files("q1", "both", "q1") == [name("query", "q1"), name("document", "both"), name("twin", "q1")]
    assert name("twin", "both") not in (name("query", "both"), name("document", "both"))


def test_a_training_of_lists_names_systems(home: Path) -> None:
    (home / "training.csv").write_text("query,document,other,choice,feedback\nq1,s1,s2,a,The first is better.\n")
    study = make(home, "--kind", "lists", "--depth", "2", "--training", str(home / "training.csv"))
    with CampaignFolder.open(study) as folder:
        (exercise,) = training_json(WebCampaign(folder), "ann")
    assert sorted(len(one) for one in exercise["lists"]) == [2, 2]
