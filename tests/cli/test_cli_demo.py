"""``earmark demo``: the whole story, what it writes, and that the commands it names work on that."""

from __future__ import annotations

import html
import io
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from called import Cli, Said

from earmark.cli.main import main
from earmark.demo import collection

WRITTEN = {"asked.csv", "clips", "content.ids.txt", "content.npy", "judgments.tsv", "listen.html", "metadata.csv"}
WRITTEN |= {"progress.csv", "report.html", "runs.tsv", ".seed", ".earmark-demo.json"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "made here"


@pytest.fixture(scope="module")
def shown(folder: Path) -> Said:
    """Run the demonstration once for all tests, as a shell would."""
    with pytest.MonkeyPatch.context() as patch:
        out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = main(["demo", "--out", str(folder)])
        out.flush()
        return Said(code, out.buffer.getvalue().decode(), err.getvalue())


def test_the_demo_tells_the_story_and_writes_everything(shown: Said, folder: Path) -> None:
    assert (shown.code, shown.err) == (0, "")
    assert {path.name for path in folder.iterdir()} == WRITTEN
    assert len(list((folder / "clips").iterdir())) == collection.number_of_songs()
    for words in ("112 songs of 7 genres by 28 artists", "How few are enough?", "The campaign stopped after"):
        assert words in shown.out
    assert (folder / "report.html").as_uri() in shown.out
    assert (folder / "listen.html").as_uri() in shown.out
    # Where it stops is no promise; before that, it pauses after so many judgments.
    assert re.search(r"nothing +20 +(50 +)?(100 +)?stop: \d+ +all *\n", shown.out)
    table = [line.split() for line in shown.out.splitlines() if line.startswith(("all-three", "random"))]
    assert any(cells[-1].startswith(".") for cells in table)


def test_the_report_says_who_is_best(shown: Said, folder: Path) -> None:
    page = html.unescape(re.sub("<[^>]*>", "", (folder / "report.html").read_text()))
    headline = next(line for line in shown.out.splitlines() if "best of 6 systems" in line)
    assert headline in page
    assert "While it was judged" in page


def test_the_readme_says_what_the_demo_says(shown: Said) -> None:
    judged, items = re.search(r"stopped after (\d+) of (\d+) judgments", shown.out).groups()
    decided, wrong = re.search(r"Of (\d+) pairs that it calls decided, (\w+) ", shown.out).groups()
    more = re.search(r"told apart yet \((\d+ to \d+ more judgments)\)", shown.out)[1]
    assert "A range of judgments counts all that the campaign asks for" in " ".join(shown.out.split())
    words = " ".join((Path(__file__).parents[2] / "README.md").read_text().split())
    assert wrong == "none"
    for fact in (f"{judged} of {items} judgments", f"{decided} of 15 pairs of systems", "none of them wrongly", more):
        assert fact in words


def test_the_page_of_questions_says_what_rank_says(cli: Cli, shown: Said, folder: Path) -> None:
    words = " ".join((Path(__file__).parents[2] / "docs" / "faq.md").read_text().split())
    inputs = [folder / "runs.tsv", "--judgments", folder / "asked.csv", "--metadata", folder / "metadata.csv"]
    confidence = {}
    for target in ("sample", "population"):
        rows = cli("rank", *inputs, "-m", "AG@5", "--target", target).rows
        (pair,) = (row for row in rows if (row.get("a"), row.get("b")) == ("timbre", "timbre+rhythm"))
        confidence[target] = math.floor(100 * pair["confidence"])
    assert f"is {confidence['sample']}% sure that timbre is better than timbre+rhythm" in words
    assert f"the same pair has a confidence of .{confidence['population']} and is undecided" in words


def test_the_commands_that_the_demo_names_work(cli: Cli, shown: Said, folder: Path) -> None:
    named = [shlex.split(line)[1:] for line in shown.out.splitlines() if line.startswith("  earmark ")]
    assert [words[0] for words in named] == ["rank", "next", "report", "evaluate", "simulate", "features"]
    for words in named:
        said = cli(*words)
        assert said.code == 0, said.err
        assert said.rows


def test_a_person_is_asked(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(collection, "ARTISTS", 1)
    made = collection.make_collection(0, artists=1, songs=2, queries=6)
    monkeypatch.setattr("earmark.demo.collection.make_collection", lambda *_, **__: made)
    monkeypatch.setattr(sys, "stdin", io.StringIO("2\n1\n" * 5 + "9\nq\n"))
    said = cli("demo", "--ask", "--out", tmp_path / "d")
    assert said.code == 0
    assert said.err.count("How similar? [0/1/2/q]") == 12
    assert "10 judged, " in said.out
    assert "Enough for now;" in said.out
    assert (tmp_path / "d" / "my-report.html").exists()
    assert len((tmp_path / "d" / "my-judgments.csv").read_text().splitlines()) == 11
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    again = cli("demo", "--ask", "--out", tmp_path / "d")
    assert "You have judged 10 already" in again.out
    assert f"--judgments {tmp_path / 'd' / 'my-judgments.csv'}" in again.out


def test_a_person_who_stops_at_once_is_told_how_to_go_on(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = collection.make_collection(0, artists=1, songs=2, queries=6)
    monkeypatch.setattr("earmark.demo.collection.make_collection", lambda *_, **__: made)
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    said = cli("demo", "--ask", "--out", tmp_path / "d")
    assert said.code == 0
    assert "Enough for now; earmark demo --ask goes on where you stopped." in said.out
    assert not (tmp_path / "d" / "my-report.html").exists()
    assert "--judgments" not in next(line for line in said.out.splitlines() if " rank " in line)


def test_an_interrupt_ends_the_wait_for_an_answer(tmp_path: Path) -> None:
    """polars' own handler would let the read go on: only another process, with a terminal to wait at, can show it."""
    code = (
        "import os, signal, threading, polars\n"
        "from earmark.cli import demo\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "demo._hear('?')\n"
    )
    reading, writing = os.pipe()
    done = subprocess.run([sys.executable, "-c", code], stdin=reading, capture_output=True, text=True, timeout=240)
    os.close(reading)
    os.close(writing)
    assert "KeyboardInterrupt" in done.stderr


def test_a_folder_that_cannot_be_made_is_named(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    said = cli("demo", "--out", tmp_path / "taken")
    assert said.code == 2
    assert said.err.startswith(f"earmark: {tmp_path / 'taken'}")
    assert "expected a folder to write to, got " in said.err


def test_what_is_missing_is_said_before_any_work(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "librosa", None)
    said = cli("demo", "--out", tmp_path / "d")
    assert said.code == 2
    assert "the demonstration needs librosa, which is not installed: pip install 'earmark[audio]'" in said.err
    assert not (tmp_path / "d").exists()


@pytest.mark.slow
def test_music_that_is_there_is_served_and_links_to_judge_stay_valid(
    cli: Cli, shown: Said, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from earmark.store.folder import CampaignFolder
    from earmark.store.links import find_link

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("it was made before")

    made = tmp_path / "demo"
    shutil.copytree(folder, made)
    monkeypatch.setattr("earmark.web.serving.serve", lambda serving: None)
    monkeypatch.setattr(collection, "make_collection", refuse)
    tokens = []
    for _ in range(2):
        said = cli("demo", "--serve", "--port", "0", "--out", made)
        assert said.code == 0, said.err
        tokens.append(re.findall(r"/(?:judge/|organise#)(\S+)", said.out))
    with CampaignFolder.open(made / "campaign") as campaign:
        store = campaign.store
        (ann, old), (again, new) = [
            [store.read(lambda one, token=token: find_link(one, store.campaign, token)) for token in pair]
            for pair in tokens
        ]
    assert ann is not None
    assert again is not None
    assert ann.assessor == again.assessor, "both are links of the same person"
    assert old is None
    assert new is not None
    assert new.role == "organiser"


def test_music_of_another_seed_or_half_of_it_is_made_anew(shown: Said, folder: Path, tmp_path: Path) -> None:
    files = collection.DemoFiles(tmp_path / "demo")
    assert not files.are_there(0)
    shutil.copytree(folder, files.folder)
    assert files.are_there(0)
    assert not files.are_there(1)
    next(files.clips.iterdir()).unlink()
    assert not files.are_there(0)


# ---- whose folder it is ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def little_music() -> collection.DemoCollection:
    return collection.make_collection(0, artists=1, songs=2, queries=6)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, little_music: collection.DemoCollection) -> None:
    """Make little music, quickly, and let nobody judge."""
    made = little_music

    def make(*_: object, on_song=None, **__: object) -> collection.DemoCollection:
        for song in made.songs:
            on_song(song, collection.np.zeros(400))
        return made

    monkeypatch.setattr(collection, "make_collection", make)
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\nq\n" * 5))


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("name", ["runs.tsv", "thesis.tex", "clips/song.flac", ".hidden", "campaign/campaign.toml"])
@pytest.mark.parametrize("how", [["--ask"], ["--serve"], []], ids=["ask", "serve", "told"])
def test_a_folder_with_files_of_somebody_is_left_alone(
    cli: Cli, tmp_path: Path, small: None, name: str, how: list[str]
) -> None:
    mine = tmp_path / "work" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("years of work")
    said = cli("demo", *how, "--out", tmp_path / "work")
    assert said.code == 2
    top = name.split("/")[0] if name.startswith("campaign") else name
    assert f"{tmp_path / 'work'}: expected a folder of its own, got '{top}', which is not of the demo" in said.err
    assert "--out" in said.err
    assert [path for path in (tmp_path / "work").rglob("*") if path.is_file()] == [mine]


def test_its_own_folder_is_used_again_until_somebody_adds_to_it(cli: Cli, tmp_path: Path, small: None) -> None:
    folder = tmp_path / "d"
    (folder / "clips").mkdir(parents=True)
    (folder / ".DS_Store").write_text("what a desktop leaves behind")
    for _ in range(2):
        assert cli("demo", "--ask", "--out", folder).code == 0
    (folder / "again.html").write_text("from a command that the demonstration names")
    assert cli("demo", "--ask", "--out", folder).code == 0
    for name in ("notes.txt", "clips/mine.flac"):
        (folder / name).write_text("mine")
        before = everything(folder)
        said = cli("demo", "--ask", "--out", folder)
        assert said.code == 2
        assert f"got '{name}', which is not of the demonstration" in said.err
        assert everything(folder) == before
        (folder / name).unlink()


def test_a_folder_of_an_earlier_version_is_known_by_its_seed(cli: Cli, tmp_path: Path, small: None) -> None:
    folder = tmp_path / "d"
    assert cli("demo", "--ask", "--out", folder).code == 0
    (folder / ".earmark-demo.json").unlink()
    assert cli("demo", "--ask", "--out", folder).code == 0
    (folder / ".earmark-demo.json").write_text("[broken")
    assert cli("demo", "--ask", "--out", folder).code == 2


def test_music_that_fails_halfway_changes_nothing(
    cli: Cli, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "d"
    assert cli("demo", "--ask", "--out", folder).code == 0
    before = everything(folder)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("earmark.demo.collection.write_judgments", full)
        said = cli("demo", "--ask", "--out", folder)
    assert said.code == 2
    assert everything(folder) == before
    assert cli("demo", "--ask", "--out", folder).code == 0
