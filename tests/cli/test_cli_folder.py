"""Every command that takes run files takes the folder of a campaign, and says the same as of the files in it."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from called import Cli

from campaigns_recorded import made_up, write_files
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.loop import play
from earmark.store.exports import export
from earmark.store.folder import CampaignFolder
from earmark.store.imports import import_files
from earmark.store.inputs import add_inputs
from earmark.store.settings import Estimates, Judging, Settings, Traps
from earmark.store.stored import StoredCampaign, open_campaign

ABOUT = ("--metadata", "metadata.csv", "--scale", "fine", "-m", "AG@5", "--seed", "3")
JUDGED = ("-j", "judgments.csv")
Make = Callable[..., Path]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the files of a collection, and everything that can be judged in it."""
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return folder


@pytest.fixture
def make(home: Path, tmp_path: Path) -> Make:
    def made(name: str = "study", *, kind: str = "grade", estimates: dict | None = None, **judging: object) -> Path:
        def settings(folder: Path) -> Settings:
            inputs = add_inputs(folder, runs=[home / "runs.tsv"], files={"metadata": home / "metadata.csv"})
            scale = {"scale": "fine"} if kind == "grade" else {}
            how = {"measure": "AG@5", "seed": 3} if kind == "grade" else {"depth": 5, "seed": 3}
            return Settings(
                name=name,
                kind=kind,
                inputs=inputs,
                judging=Judging(**scale, **judging),
                estimates=Estimates(**{**how, **(estimates or {})}),
                traps=Traps(rate=0),
            )

        CampaignFolder.create(tmp_path / name, settings).close()
        return tmp_path / name

    return made


def judge(path: Path, count: int, files: Path) -> None:
    """Play a campaign with what is known, and write its judgments to a file."""
    campaign = open_campaign(path)
    assert isinstance(campaign, StoredCampaign)
    with campaign.folder:
        known = Campaign.from_judgments(campaign.problem, made_up().judgments).gains
        for one in play(campaign, oracle(known), batch=20):
            if one.judged >= count:
                break
        export(campaign.folder, files)


@pytest.fixture(scope="module")
def judged(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a campaign ``study``, and beside it the files that commands take otherwise."""
    place = tmp_path_factory.mktemp("judged")

    def settings(folder: Path) -> Settings:
        inputs = add_inputs(folder, runs=[home / "runs.tsv"], files={"metadata": home / "metadata.csv"})
        estimates = Estimates(measure="AG@5", seed=3, stop="min:0.99")
        # Files know nothing of traps, which take time as other questions do.
        rest = {"judging": Judging(scale="fine"), "estimates": estimates, "traps": Traps(rate=0)}
        return Settings(name="study", inputs=inputs, **rest)

    CampaignFolder.create(place / "study", settings).close()
    judge(place / "study", 60, place / "judgments.csv")
    for name in ("runs.tsv", "metadata.csv", "truth.csv"):
        (place / name).write_bytes((home / name).read_bytes())
    return place


@pytest.fixture
def here(judged: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(judged)
    return judged


# ---- the same as of files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (["rank"], [*JUDGED, *ABOUT, "--stop", "min:0.99"]),
        (["rank", "--target", "population", "--level", "0.9"], [*JUDGED, *ABOUT, "--stop", "min:0.99"]),
        (["rank", "-m", "nDCG@5"], [*JUDGED, *ABOUT[:4], "--seed", "3", "--stop", "min:0.99"]),
        (["rank", "--predictor", "uniform", "--stop", "top:1"], [*JUDGED, *ABOUT]),
        (["next", "-n", "9"], [*JUDGED, *ABOUT, "--stop", "min:0.99", "--audit", "0"]),
        (["next", "--policy", "mtc"], [*JUDGED, *ABOUT, "--stop", "min:0.99"]),
        (["next", "--group-by-query"], [*JUDGED, *ABOUT, "--stop", "min:0.99", "--audit", "0"]),
        (["plan", "--repeats", "2"], [*JUDGED, *ABOUT, "--stop", "min:0.99", "--audit", "0"]),
        (["simulate", "--batch", "30"], [*JUDGED, *ABOUT, "--stop", "min:0.99", "--audit", "0"]),
        (["describe"], [*JUDGED, *ABOUT[:4]]),
        (["features"], [*JUDGED, *ABOUT[:4]]),
        (["evaluate", "--per-query"], [*JUDGED, *ABOUT[2:6]]),
        (["evaluate", "-m", "CG@3"], [*JUDGED, *ABOUT[2:4]]),
        (["compare", "--test", "permutation"], [*JUDGED, *ABOUT[2:]]),
        (["curves"], [*JUDGED, *ABOUT[2:4]]),
        (["runs", "convert"], []),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_a_folder_says_what_its_files_say(command, options, here, cli: Cli):
    """The campaign says nothing of an audit, and so has none."""
    words = 2 if command[0] == "runs" else 1
    by_folder = cli(*command[:words], "study", *command[words:])
    by_files = cli(*command[:words], "runs.tsv", *command[words:], *options)
    assert (by_folder.code, by_files.code) == (0, 0), by_folder.err + by_files.err
    assert by_folder.out == by_files.out
    assert by_folder.out


def test_a_diagnosis_of_a_folder_is_that_of_its_files(make: Make, home, cli: Cli):
    path = make()
    folder = CampaignFolder.open(path)
    with folder:
        import_files(folder, [home / "truth.csv"])
    said = cli("diagnose", path, "--share", "0.2", "--repeats", "2")
    about = ["--metadata", home / "metadata.csv", *ABOUT[2:]]
    files = cli("diagnose", home / "runs.tsv", "-j", home / "truth.csv", *about, "--share", "0.2", "--repeats", "2")
    assert said.code == 0, said.err
    assert said.out == files.out


def test_rank_and_next_say_what_python_says(here, cli: Cli):
    campaign = open_campaign("study", read_only=True)
    assert isinstance(campaign, StoredCampaign)
    with campaign.folder:
        rows = cli("rank", "study").rows
        assert rows[-1]["mean_confidence"] == campaign.ranking.mean_confidence
        assert [row["low"] for row in rows if row["kind"] == "system"] == campaign.ranking.systems_frame()[
            "low"
        ].to_list()
        asked = campaign.proposal_frame(campaign.propose(5))
        assert [row["priority"] for row in cli("next", "study", "-n", 5).rows] == asked["priority"].to_list()


def test_fit_takes_a_folder(here, cli: Cli, tmp_path):
    ours, theirs = tmp_path / "m.json", tmp_path / "files" / "m.json"
    theirs.parent.mkdir()
    by_folder = cli("fit", "study", "-o", ours)
    by_files = cli("fit", "runs.tsv", *JUDGED, *ABOUT[:4], "-o", theirs)
    assert by_folder.code == 0, by_folder.err
    assert by_folder.out == by_files.out
    assert ours.read_bytes() == theirs.read_bytes()


def test_what_was_removed_is_left_out(make: Make, cli: Cli):
    path = make()
    with CampaignFolder.open(path) as folder:
        folder.desk.remove("sent by mistake", system="system-3")
        folder.follow_removals(folder.removed())
    assert cli("describe", path).rows[0]["systems"] == 4
    assert "system-3" not in cli("rank", path).out


# ---- looks -----------------------------------------------------------------------------------------------------------


def test_an_option_changes_the_look_and_nothing_else(here, cli: Cli):
    before = Path("study/campaign.toml").read_bytes()
    said = cli("rank", "study", "-m", "nDCG@5")
    assert said.code == 0
    assert "results are for other settings, the campaign is not changed" in said.err
    assert "--measure nDCG@5 (the campaign: AG@5)" in said.err
    assert Path("study/campaign.toml").read_bytes() == before
    assert "results are for other settings" not in cli("rank", "study", "-m", "ag@5", "--scale", "fine").err
    assert "--policy random (the campaign: the default)" in cli("next", "study", "--policy", "random").err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rank", "study", "-j", "judgments.csv"], "'earmark import study FILE'"),
        (["rank", "study", "--scale", "broad"], "the campaign has fine as judging.scale, which cannot change"),
        (["rank", "study", "-m", "nDCG@5", "--inference", "design"], "the sample of this campaign was drawn for AG@5"),
        (["rank", "study", "--seed", "9", "--inference", "design"], "the sample of this campaign was drawn for 3"),
        (["rank", "study", "study"], "one campaign at a time"),
        (["rank", "study", "runs.tsv"], "leave the other files out"),
        (["rank", "."], "a folder without campaign.toml"),
        (["describe", "study/inputs"], "a folder without campaign.toml"),
        (["rank", "study/campaign.toml"], "name study"),
        (["rank", "study", "-m", "AG@5", "-m", "AP"], "one measure at a time"),
        (["next", "study", "--assessor", "Ann"], "--assessor says who gets what is reserved"),
        (["next", "study", "--policy", "mtc", "-o", "out.csv"], "questions are reserved as the campaign asks them"),
        (["preferences", "rank", "study"], "a campaign of kind grade"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_what_does_not_fit_a_campaign_is_refused(words, message, here, cli: Cli):
    said = cli(*words)
    assert said.code == 2
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not Path("out.csv").exists()


def test_a_campaign_without_answers(make: Make, cli: Cli):
    path = make()
    assert cli("rank", path).rows[-1]["judged"] == 0
    assert cli("describe", path).rows[0]["judged"] is None
    said = cli("evaluate", path)
    assert (said.code, "a campaign without answers so far" in said.err) == (2, True)


def test_a_changed_setting_is_recorded_and_said(make: Make, cli: Cli):
    path = make()
    settings = path / "campaign.toml"
    settings.write_text(settings.read_text().replace('stop = "best:0.95:0.02"', 'stop = "min:0.9"'))
    assert 'recorded: estimates.stop changed from "best:0.95:0.02" to "min:0.9"' in cli("rank", path).err
    assert "recorded" not in cli("rank", path).err


@pytest.mark.skipif(not hasattr(os, "setuid") or os.getuid() != 0, reason="only root can be somebody else")
def test_a_folder_that_cannot_be_written_can_be_read(make: Make, cli: Cli, request: pytest.FixtureRequest) -> None:
    # Not in the folder of the tests, which others cannot enter.
    home = Path(tempfile.mkdtemp())
    request.addfinalizer(lambda: shutil.rmtree(home))
    home.chmod(0o755)
    path = Path(shutil.copytree(make(), home / "study"))
    mine = cli("rank", path)
    for place in (path, *path.rglob("*")):
        place.chmod(place.stat().st_mode & ~0o222 | 0o444 | (0o111 if place.is_dir() else 0))
    # Packages that are imported late may be out of reach for anybody else.
    program = (
        "import os, sys, earmark.store.stored, earmark.cli.main\n"
        "from earmark.cli.main import main\n"
        f"main(['rank', {str(path)!r}, '-q']); print('as another', flush=True)\n"
        "os.setgid(65534); os.setuid(65534)\n"
        f"sys.exit(main(['rank', {str(path)!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cannot be written: it is read as it is" in done.stderr
    assert done.stdout.partition("as another\n")[2] == mine.out


# ---- packages --------------------------------------------------------------------------------------------------------


def fill(path: Path, column: str, answer: Callable[[dict[str, str]], str]) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row[column] = answer(row)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return rows


def truth() -> dict[tuple[str, str], float]:
    return {
        (query, document): gain
        for query, document, gain in made_up().judgments.frame.select("query", "document", "gain").rows()
    }


def bring_in(path: Path, *files: Path) -> dict[str, int]:
    with CampaignFolder.open(path) as folder:
        return import_files(folder, list(files)).counts()


def test_a_package_goes_out_and_comes_back(make: Make, home, cli: Cli, tmp_path):
    path, package = make(), tmp_path / "package.csv"
    shown = cli("next", path, "-n", 6).rows
    said = cli("next", path, "-n", 6, "-o", package)
    assert said.code == 0, said.err
    assert f"'earmark import {path} {package}'" in said.err
    assert "6 questions, reserved for a-" in said.err
    assert said.rows == shown
    rows = fill(package, "gain", lambda row: f"{truth()[row['query'], row['document']]:g}")
    assert list(rows[0]) == ["query", "document", "gain", "sampled", "key"]
    assert [(row["query"], row["document"]) for row in rows] == [(row["query"], row["document"]) for row in shown]
    assert bring_in(path, package) == {"new": 6, "known": 0, "corrected": 0, "refused": 0}
    assert bring_in(path, package) == {"new": 0, "known": 6, "corrected": 0, "refused": 0}
    about = ["--metadata", home / "metadata.csv", *ABOUT[2:]]
    assert cli("rank", path).out == cli("rank", home / "runs.tsv", "-j", package, *about).out
    assert "holds answers already" in cli("next", path, "-n", 2, "-o", package).err
    with CampaignFolder.open(path) as folder:
        answers = folder.store.log().answers
        assert answers["assessor"].n_unique() == 1
        assert folder.store.log().pending(answers["time"][0]).height == 0


def test_two_packages_do_not_overlap(make: Make, cli: Cli, tmp_path):
    path = make()
    first, second = (cli("next", path, "-n", 5, "-o", tmp_path / name).rows for name in ("a.csv", "b.csv"))
    looked = cli("next", path, "-n", 5).rows
    items = [(row["query"], row["document"]) for row in (*first, *second, *looked)]
    assert len(set(items)) == 15


def test_a_named_assessor_gets_the_same_package_again(make: Make, cli: Cli, tmp_path):
    path = make()
    cli("next", path, "-n", 4, "-o", tmp_path / "a.csv", "--assessor", "Ann")
    again = cli("next", path, "-n", 5, "-o", tmp_path / "b.csv", "--assessor", "Ann")
    assert "4 of them were reserved for Ann before" in again.err
    kept = [
        {row["key"] for row in csv.DictReader((tmp_path / name).read_text().splitlines())}
        for name in ("a.csv", "b.csv")
    ]
    assert len(kept[1]) == 5
    assert kept[0] < kept[1]


def test_fewer_than_asked_for_are_said(make: Make, cli: Cli, tmp_path):
    path = make()
    items = cli("describe", path).rows[0]["items"]
    said = cli("next", path, "-n", items + 10, "-o", tmp_path / "all.csv")
    assert f"only {items} questions of {items + 10}" in said.err
    nothing = cli("next", path, "-n", 1, "-o", tmp_path / "more.csv")
    assert (nothing.code, "out with others" in nothing.err) == (2, True)
    assert not (tmp_path / "more.csv").exists()
    assert f"only 0 items are left to judge, {items} are out" in cli("next", path, "-n", 1).err


def test_a_package_that_cannot_be_written_reserves_nothing(make: Make, cli: Cli, tmp_path):
    path = make()
    shown = cli("next", path, "-n", 3).rows
    assert cli("next", path, "-n", 3, "-o", tmp_path / "nowhere" / "a.csv").code == 2
    assert cli("next", path, "-n", 3).rows == shown


def test_nothing_is_reserved_once_the_stop_rule_is_reached(make: Make, cli: Cli, tmp_path):
    path = make(estimates={"stop": "budget:20"})
    judge(path, 20, tmp_path / "judgments.csv")
    said = cli("next", path, "-o", tmp_path / "a.csv")
    assert (said.code, "the stop rule is reached" in said.err) == (2, True)
    assert not (tmp_path / "a.csv").exists()


def test_cells_that_look_like_formulas_come_back(tmp_path, cli: Cli):
    runs = tmp_path / "runs.tsv"
    runs.write_text(
        "".join(
            f"{system}\t-q{q}\t=d{d + shift}\n" for shift, system in enumerate("AB") for q in range(2) for d in range(3)
        )
    )

    def settings(folder: Path) -> Settings:
        inputs = add_inputs(folder, runs=[runs])
        return Settings(name="x", inputs=inputs, judging=Judging(scale="broad"), estimates=Estimates(measure="AG@3"))

    CampaignFolder.create(tmp_path / "study", settings).close()
    package = tmp_path / "package.csv"
    assert cli("next", tmp_path / "study", "-n", 4, "-o", package).code == 0
    rows = fill(package, "gain", lambda _: "1")
    assert all(row["document"].startswith("'=") and row["query"].startswith("'-") for row in rows)
    assert bring_in(tmp_path / "study", package)["new"] == 4


# ---- other kinds -----------------------------------------------------------------------------------------------------


def test_pairs_are_ranked_and_packed(make: Make, cli: Cli, tmp_path):
    path, package = make(kind="prefer", judgments_per_item=1), tmp_path / "pairs.csv"
    assert cli("rank", path).out == cli("preferences", "rank", path).out
    shown = cli("next", path, "-n", 8).rows
    assert shown == cli("preferences", "next", path, "-n", 8).rows
    said = cli("next", path, "-n", 8, "-o", package)
    assert said.code == 0, said.err
    rows = fill(package, "choice", lambda row: "a" if row["a"] < row["b"] else "b")
    assert list(rows[0])[:6] == ["question", "query", "a", "b", "choice", "strength"]
    asked = {(row["query"], *sorted((row["a"], row["b"]))) for row in shown}
    assert {(row["query"], *sorted((row["a"], row["b"]))) for row in rows} == asked
    other = cli("next", path, "-n", 8, "-o", tmp_path / "other.csv").rows
    assert not asked & {(row["query"], row["a"], row["b"]) for row in other}
    assert bring_in(path, package)["new"] == 8
    assert bring_in(path, package)["known"] == 8
    by_folder = cli("rank", path)
    assert "8 answers about" in by_folder.err
    campaign = open_campaign(path, read_only=True)
    with campaign.folder:
        assert by_folder.rows[-1]["mean_confidence"] == campaign.look.estimates.ranking.mean_confidence
    by_files = cli("preferences", "precision", path / "inputs" / "runs.tsv", "--preferences", package, "-k", 5)
    assert cli("preferences", "precision", path).out == by_files.out
    assert cli("rank", path, "-m", "AG@5").code == 2
    assert "kind prefer" in cli("evaluate", path).err


# ---- reports ---------------------------------------------------------------------------------------------------------


def test_a_report_shows_what_changed(make: Make, cli: Cli, tmp_path):
    path = make()
    judge(path, 40, tmp_path / "judgments.csv")
    with CampaignFolder.open(path) as folder:
        question = folder.desk.take("bob").questions[0]
        folder.desk.answer("bob", question.id, key="1", gain=3.0)
        folder.desk.reject("bob", "does not <listen>")
        folder.desk.remove("cannot be played", document="track011")
        folder.follow_removals(folder.removed())
        folder.change_settings({"estimates.stop": "min:0.9"}).close()
    report = tmp_path / "report.html"
    said = cli("report", path, "-o", report)
    assert said.code == 0, said.err
    page = report.read_text()
    assert "Changes during the campaign" in page
    assert "the answers of bob do not count (does not &lt;listen&gt;)" in page
    assert "the document track011 left the collection (cannot be played)" in page
    assert "estimates.stop changed from best:0.95:0.02 to min:0.9" in page
    assert "guarantees hold as long as nothing was removed because of its answers" in page
    assert f"earmark report {path} --output {report}" in page
    assert str(path / "inputs" / "runs.tsv") in page


def test_a_report_of_files_has_no_section_about_changes(here, cli: Cli, tmp_path):
    cli("report", "runs.tsv", *JUDGED, *ABOUT, "-o", tmp_path / "r.html")
    assert "Changes during the campaign" not in (tmp_path / "r.html").read_text()
