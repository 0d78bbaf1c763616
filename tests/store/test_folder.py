"""A campaign in a folder: made whole or not at all, opened again, changed with a record."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import sqlalchemy as sa
from campaigns_made import made_collection, make_folder, write_inputs
from clocks import Clock

from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.loop import play
from earmark.errors import InputError, ParameterError, StoreError
from earmark.store import backups, links, people
from earmark.store.drafts import drafted
from earmark.store.folder import CampaignFolder, is_campaign_folder
from earmark.store.inputs import add_inputs
from earmark.store.removals import Removed
from earmark.store.rules import DAY
from earmark.store.schema import questions
from earmark.store.settings import NAME, Estimates, Judging, Settings
from earmark.store.stored import (
    StoredCampaign,
    StoredListCampaign,
    StoredOrderCampaign,
    StoredPairCampaign,
    open_campaign,
)


@pytest.fixture
def url(request: pytest.FixtureRequest, empty_url: str) -> str | None:
    """Return the store to use: the default one, or a PostgreSQL database."""
    return None if empty_url.startswith("sqlite") else empty_url


@pytest.fixture
def folder(tmp_path: Path, url: str | None) -> Iterator[CampaignFolder]:
    with make_folder(tmp_path / "home", store=url) as made:
        yield made


def reopened(folder: CampaignFolder) -> CampaignFolder:
    folder.close()
    return CampaignFolder.open(folder.path)


def edit(folder: CampaignFolder, old: str, new: str) -> None:
    path = folder.path / NAME
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def truth_of(campaign: Campaign) -> np.ndarray:
    return Campaign.from_judgments(campaign.problem, made_collection().judgments).gains


def test_a_stored_campaign_is_the_one_campaign(folder: CampaignFolder) -> None:
    stored = StoredCampaign.read(folder)
    plain = Campaign(stored.problem)
    for batch in (7, 1, 12):
        ours, theirs = stored.propose(batch), plain.propose(batch)
        assert np.array_equal(ours.items, theirs.items)
        stored = stored.with_answers(oracle(truth_of(stored))(stored, ours))
        plain = plain.with_answers(oracle(truth_of(plain))(plain, theirs))
        assert np.array_equal(stored.ranking.low, plain.ranking.low)
        assert np.array_equal(stored.ranking.confidence, plain.ranking.confidence)
    again = open_campaign(folder.path)
    assert isinstance(again, StoredCampaign)
    assert again.problem.digest == stored.problem.digest
    assert np.array_equal(again.ranking.low, stored.ranking.low)
    assert np.array_equal(again.propose(5).items, plain.propose(5).items)
    assert again.log.digest == stored.log.digest
    again.folder.close()


def test_the_loop_runs_through_the_store(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "home", estimates={"stop": "budget:30"})
    stored = StoredCampaign.read(folder)
    *_, last = play(stored, oracle(truth_of(stored)), batch=8)
    assert last.judged == 30
    assert folder.store.log().position == 30
    folder.close()


def test_what_is_out_is_not_proposed(folder: CampaignFolder) -> None:
    stored = StoredCampaign.read(folder)
    taken = folder.desk.take("ann", ahead=4).questions
    out = {(one.query, one.document) for one in taken}
    named = stored.problem.items[stored.propose(stored.problem.collection.n_items).items]
    assert len(out) == 5
    assert not out & set(named.select("query", "document").rows())


def test_settings_that_change_are_recorded_once(folder: CampaignFolder) -> None:
    edit(folder, 'stop = "mean:0.95"', 'stop = "min:0.9"  # stricter')
    again = reopened(folder)
    assert again.recorded == ('estimates.stop changed from "mean:0.95" to "min:0.9"',)
    told = again.store.log().of_kind("changed")
    assert json.loads(told["text"][0]) == {"setting": "estimates.stop", "from": "mean:0.95", "to": "min:0.9"}
    assert told["time"][0] is not None
    last = reopened(again)
    assert last.recorded == ()
    assert str(StoredCampaign.read(last).problem.stop) == "min:0.9"
    last.close()


def test_what_cannot_change_is_refused_with_its_line(folder: CampaignFolder) -> None:
    line = next(n for n, text in enumerate((folder.path / NAME).read_text().splitlines(), 1) if text.startswith("seed"))
    edit(folder, "seed = 0", "seed = 1")
    with pytest.raises(InputError, match="cannot change") as caught:
        reopened(folder)
    assert caught.value.line == line
    edit(folder, "seed = 1", "seed = 0")
    reopened(folder).close()


def test_a_changed_input_is_noticed(folder: CampaignFolder) -> None:
    with (folder.path / "inputs" / "runs.tsv").open("a") as file:
        file.write("x\ty\tz\n")
    again = CampaignFolder.open(folder.path)
    with pytest.raises(InputError, match=r"runs\.tsv.*changed"):
        StoredCampaign.read(again)
    again.close()


def test_another_version_of_the_predictor_is_refused(folder: CampaignFolder) -> None:
    version = str(folder.settings.estimates.predictor_version)
    edit(folder, f'predictor_version = "{version}"', 'predictor_version = "hierarchical 0"')
    again = reopened(folder)
    with pytest.raises(InputError, match="hierarchical 0"):
        StoredCampaign.read(again)
    again.close()


def late_runs(home: Path) -> Path:
    """Write one more system, whose lists are those of another collection's."""
    frame = made_collection().runs.to_polars().filter(pl.col("system") == pl.col("system").first())
    late = frame.with_columns(system=pl.lit("late"), rank=pl.col("rank").max().over("query") + 1 - pl.col("rank"))
    path = home / "late.tsv"
    path.write_text(
        "".join(f"late\t{q}\t{d}\n" for q, d in late.sort("query", "rank").select("query", "document").rows())
    )
    return path


def test_runs_that_come_late(folder: CampaignFolder, tmp_path: Path) -> None:
    before = StoredCampaign.read(folder)
    again = folder.add_runs([late_runs(tmp_path)])
    after = StoredCampaign.read(again)
    assert set(after.problem.collection.systems) == {*before.problem.collection.systems, "late"}
    told = again.store.log().of_kind("added")
    assert json.loads(told["text"][0]) == {"systems": ["late"]}
    asked = again.store.read(lambda c: c.execute(questions.select()).fetchall())
    assert {(one.query, one.document) for one in asked} >= set(after.problem.items.select("query", "document").rows())
    again.close()


def test_a_document_leaves_for_all_systems(folder: CampaignFolder) -> None:
    stored = StoredCampaign.read(folder)
    gone = stored.problem.items["document"][0]
    folder.desk.remove("broken file", document=gone)
    after = stored.refreshed()
    assert gone not in after.problem.items["document"].to_list()
    folder.follow_removals(Removed(documents=frozenset([gone])))
    held = [folder.desk.take(f"a{n}", ahead=200).questions for n in range(2)]
    asked = {(one.query, one.document) for one in (*held[0], *held[1])}
    assert asked == set(after.problem.items.select("query", "document").rows())
    folder.desk.restore("found again", document=gone)
    assert after.refreshed().problem.digest == stored.problem.digest


def test_a_system_is_withdrawn(folder: CampaignFolder) -> None:
    stored = StoredCampaign.read(folder)
    first = stored.problem.collection.systems[0]
    folder.desk.remove("by its authors", system=first)
    after = stored.refreshed()
    assert first not in after.problem.collection.systems
    assert len(after.problem.collection.systems) == len(stored.problem.collection.systems) - 1


@pytest.mark.parametrize("why", ["taken", "bad run", "interrupted"])
def test_a_campaign_is_made_whole_or_not_at_all(tmp_path: Path, why: str) -> None:
    home = tmp_path / "home"
    if why == "taken":
        (home / "study").mkdir(parents=True)
        (home / "study" / "mine.txt").write_text("mine")
        with pytest.raises(InputError, match="new folder"):
            make_folder(home)
        assert (home / "study" / "mine.txt").read_text() == "mine"
        return

    def stop(folder: Path, settings: Settings) -> Settings:
        raise KeyboardInterrupt

    if why == "interrupted":
        with pytest.raises(KeyboardInterrupt):
            make_folder(home, prepare=stop)
    else:
        with pytest.raises(InputError):
            make_folder(home, files={"metadata": _other_metadata(tmp_path)})
    assert not is_campaign_folder(home / "study")
    assert sorted(path.name for path in home.iterdir()) == ["metadata.csv", "runs.tsv"]


def _other_metadata(home: Path) -> Path:
    path = home / "other.csv"
    path.write_text("document,artist,genre\nnobody,knows,this\n")
    return path


def test_no_campaign_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="earmark init"):
        CampaignFolder.open(tmp_path)
    with pytest.raises(InputError, match="folder"):
        CampaignFolder.open(tmp_path / "none")


def test_a_store_that_is_gone(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "home")
    folder.close()
    (folder.path / "campaign.db").unlink()
    with pytest.raises(StoreError, match="restore"):
        CampaignFolder.open(folder.path)
    assert not (folder.path / "campaign.db").exists()


def test_reading_only_writes_nothing(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "home")
    edit(folder, 'stop = "mean:0.95"', 'stop = "min:0.9"')
    folder.close()
    with CampaignFolder.open(folder.path, read_only=True) as reading:
        assert str(StoredCampaign.read(reading).problem.stop) == "min:0.9"
        assert len(reading.store.log().of_kind("changed")) == 0
        with pytest.raises(StoreError, match="reading only"):
            reading.desk.take("ann")


def test_a_folder_can_be_moved(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "home")
    digest = StoredCampaign.read(folder).problem.digest
    folder.close()
    shutil.move(folder.path, tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "home")
    with CampaignFolder.open(tmp_path / "elsewhere") as moved:
        assert StoredCampaign.read(moved).problem.digest == digest


def test_a_draft_has_a_name_that_nobody_can_know_beforehand(tmp_path: Path) -> None:
    target = tmp_path / "study"
    with drafted(target) as one, drafted(target) as other:
        assert one.parent == other.parent == tmp_path
        assert one != other
        assert one.stat().st_mode & 0o777 == 0o700


MAKING = """
import pathlib, sys, time
from earmark.store.drafts import drafted
with drafted(pathlib.Path(sys.argv[1])) as draft:
    (draft / "names.csv").write_text("Ann")
    print(draft, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(os.name != "posix", reason="locks on folders are those of POSIX")
def test_drafts_go_with_the_next_command_once_their_maker_was_killed(tmp_path: Path) -> None:
    """And not before: a draft that somebody holds, an empty one, and folders that are none stay."""
    with make_folder(tmp_path) as folder:
        home = folder.path
    command = [sys.executable, "-c", MAKING, str(tmp_path / "other")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        draft = Path(process.stdout.readline().strip())
        CampaignFolder.open(home).close()
        assert draft.is_dir()
        process.kill()
    assert (draft / "names.csv").is_file()
    begun = tmp_path / ".begun-abcdefgh.draft"
    others = tmp_path / ".mine-abcdefgh.draft"
    linked = tmp_path / ".link-abcdefgh.draft"
    begun.mkdir(0o700)
    others.mkdir(0o755)
    (others / "file").touch()
    linked.symlink_to(others)
    CampaignFolder.open(home, read_only=True).close()
    assert draft.is_dir()
    CampaignFolder.open(home).close()
    assert set(tmp_path.glob(".*.draft")) == {begun, others, linked}
    assert (others / "file").is_file()


@pytest.mark.skipif(os.name != "posix", reason="locks on folders are those of POSIX")
def test_making_a_campaign_removes_the_drafts_of_others_that_were_killed(tmp_path: Path) -> None:
    dead = tmp_path / ".study-abcdefgh.draft"
    dead.mkdir(0o700)
    (dead / NAME).touch()
    with drafted(tmp_path / "study"):
        assert not dead.exists()


def test_a_failed_draft_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with drafted(tmp_path / "new" / "study") as draft:
            (draft / "file").write_text("half of it")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_nobody_else_can_look_into_a_folder(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with make_folder(tmp_path / "home") as folder:
            backups.backup(folder, tmp_path / "backup.zip")
        backups.restore(tmp_path / "backup.zip", tmp_path / "again")
    finally:
        os.umask(before)
    for made in (folder.path, tmp_path / "again"):
        assert made.stat().st_mode & 0o077 == 0


def test_a_password_is_kept_apart(tmp_path: Path, new_postgresql_database: Callable[[], str]) -> None:
    # The server of the tests trusts everybody, so any password will do.
    url = (
        new_postgresql_database()
        .replace("postgres@", "postgres:secret@", 1)
        .replace("postgres:@", "postgres:secret@", 1)
    )
    assert "secret" in url
    with make_folder(tmp_path / "home", store=url) as folder:
        assert "secret" not in (folder.path / NAME).read_text()
        kept = folder.path / ".store-password"
        assert kept.read_text() == "secret"
        assert kept.stat().st_mode & 0o077 == 0
        assert folder.store.database.url.password == "secret"


def test_pair_questions(tmp_path: Path, url: str | None) -> None:
    with make_folder(tmp_path / "home", store=url, kind="prefer", judging={"judgments_per_item": 1}) as folder:
        stored = StoredPairCampaign.read(folder)
        for n in range(12):
            question = folder.desk.take("ann").questions[0]
            folder.desk.answer("ann", question.id, key=str(n), choice="a" if n % 3 else "same", strength=2)
        after = stored.refreshed()
        out = folder.desk.take("ann").questions
        proposed = after.questions(after.propose(30)).select("query", "a", "b").rows()
        asked = {(query, *sorted((a, b))) for query, a, b in proposed}
        assert asked
        assert not asked & {(one.query, one.document, one.other) for one in out}
        assert len(after.answers) == 12
        assert int(after.answers.first.sum()) == 8
        replayed = open_campaign(folder.path)
        assert isinstance(replayed, StoredPairCampaign)
        assert np.array_equal(replayed.look.estimates.ranking.low, after.look.estimates.ranking.low)
        replayed.folder.close()


@pytest.mark.parametrize("kind", ["order", "lists"])
def test_other_kinds_give_out_work_and_keep_answers(tmp_path: Path, url: str | None, kind: str) -> None:
    with make_folder(tmp_path / "home", store=url, kind=kind) as folder:
        question = folder.desk.take("ann").questions[0]
        choice = json.dumps({"order": ["d1", "d2"], "cut": 1}) if kind == "order" else "neither"
        assert folder.desk.answer("ann", question.id, key="1", choice=choice).status == "saved"
        assert folder.desk.take("bob").questions[0].query
        campaign = open_campaign(folder.path)
        assert isinstance(campaign, StoredOrderCampaign if kind == "order" else StoredListCampaign)
        assert campaign.look.answered == 1
        assert campaign.log.answers["choice"].to_list() == [choice]
        campaign.folder.close()


def test_inputs_may_stay_where_they_are(tmp_path: Path) -> None:
    made = write_inputs(tmp_path)

    def settings(folder: Path) -> Settings:
        inputs = add_inputs(folder, runs=[tmp_path / "runs.tsv"], copy=False)
        judging = Judging(scale=str(made.judgments.scale))
        return Settings(name="s", inputs=inputs, judging=judging, estimates=Estimates(measure="AG@5"))

    with CampaignFolder.create(tmp_path / "study", settings) as folder:
        assert not (folder.path / "inputs").exists()
        assert folder.settings.inputs.runs[0].file == str(tmp_path / "runs.tsv")
        assert StoredCampaign.read(folder).problem.collection.n_items


def test_an_open_folder_follows_its_file(folder: CampaignFolder) -> None:
    assert folder.current() is folder
    edit(folder, "judgments_per_item = 1", "judgments_per_item = 2")
    now = folder.current()
    assert now.rules.judgments_per_item == 2
    assert now.store is folder.store
    assert now.recorded
    question = now.desk.take("ann").questions[0]
    others = {one.document for one in now.desk.take("bob", ahead=3).questions if one.query == question.query}
    assert question.document in others
    assert now.current() is now


Hosts = tuple[CampaignFolder, CampaignFolder]


@pytest.fixture
def hosts(
    tmp_path: Path, new_postgresql_database: Callable[[], str]
) -> Iterator[tuple[CampaignFolder, CampaignFolder]]:
    """Yield a campaign on two hosts: two copies of one folder, and one store."""
    with make_folder(tmp_path / "home", store=new_postgresql_database()) as first:
        shutil.copytree(first.path, tmp_path / "copy")
        with CampaignFolder.open(tmp_path / "copy") as second:
            yield first, second


def look_again(folder: CampaignFolder) -> CampaignFolder:
    """Return the folder as it is once it has looked whether another host has changed the settings."""
    object.__setattr__(folder, "_looked", 0.0)
    return folder.current()


def test_hosts_follow_each_other(hosts: Hosts) -> None:
    first, second = hosts
    first = first.rewrite_settings({"estimates.stop": "budget:30", "pages.hide_ranking": True})
    second = look_again(second)
    assert second.settings.estimates.stop == "budget:30"
    assert second.settings.pages.hide_ranking
    assert 'stop = "budget:30"' in (second.path / NAME).read_text()
    # Whoever starts again has nothing to say.
    again = CampaignFolder.open(second.path)
    assert again.recorded == ()
    assert first.store.log().of_kind("changed").height == 2
    assert look_again(first).settings.estimates.stop == "budget:30"
    # Back to what it was, on the other host.
    again = again.rewrite_settings({"estimates.stop": "mean:0.95"})
    assert look_again(first).settings.estimates.stop == "mean:0.95"
    again.close()


def test_a_host_that_was_off_follows_when_it_starts(hosts: Hosts) -> None:
    first, second = hosts
    second.close()
    first = first.rewrite_settings({"estimates.stop": "budget:30"})
    first = first.rewrite_settings({"judging.judgments_per_item": 2, "people.address": "https://example.org"})
    with CampaignFolder.open(second.path) as again:
        assert again.recorded == ()
        assert again.settings == first.settings
        assert again.rules.judgments_per_item == 2
    assert first.store.log().of_kind("changed").height == 2


def test_an_edit_on_one_host_and_a_change_on_another_hold_both(hosts: Hosts) -> None:
    first, second = hosts
    second.close()
    first.rewrite_settings({"estimates.stop": "budget:30"})
    edit(second, "judgments_per_item = 1", "judgments_per_item = 2")
    with CampaignFolder.open(second.path) as again:
        assert again.recorded == ("judging.judgments_per_item changed from 1 to 2",)
        assert (again.settings.estimates.stop, again.rules.judgments_per_item) == ("budget:30", 2)
    first = look_again(first)
    assert (first.settings.estimates.stop, first.rules.judgments_per_item) == ("budget:30", 2)
    assert first.settings == Settings.read(first.path / NAME)


def test_an_edit_back_to_earlier_settings_is_an_edit(folder: CampaignFolder) -> None:
    edit(folder, 'stop = "mean:0.95"', 'stop = "min:0.9"')
    again = reopened(folder)
    edit(again, 'stop = "min:0.9"', 'stop = "mean:0.95"')
    last = reopened(again)
    assert last.recorded == ('estimates.stop changed from "min:0.9" to "mean:0.95"',)
    assert last.settings.estimates.stop == "mean:0.95"
    last.close()


def test_each_host_reaches_the_store_in_its_own_way(hosts: Hosts) -> None:
    first, second = hosts
    url = str(second.settings.store.url)
    second.close()
    edit(second, url, f"{url}{'&' if '?' in url else '?'}connect_timeout=7")
    with CampaignFolder.open(second.path) as again:
        assert again.recorded == ()
        first = first.rewrite_settings({"estimates.stop": "budget:30"})
        now = look_again(again)
        assert now.settings.estimates.stop == "budget:30"
        assert now.settings.store.url != first.settings.store.url
        assert look_again(first).settings.store.url == url


def test_runs_that_another_host_added_have_to_be_copied(hosts: Hosts, tmp_path: Path) -> None:
    first, second = hosts
    second.close()
    first = first.add_runs([late_runs(tmp_path)])
    with pytest.raises(InputError, match="copy it from the host where it was added"):
        CampaignFolder.open(second.path)
    shutil.copy(first.path / "inputs" / "late.tsv", second.path / "inputs")
    with CampaignFolder.open(second.path) as again:
        assert again.settings.inputs == first.settings.inputs
        assert again.recorded == ()
    first.close()


def test_a_store_that_is_away_leaves_the_settings_as_they_are(
    folder: CampaignFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise StoreError("away")

    monkeypatch.setattr("earmark.store.database.Database.read", away)
    assert look_again(folder) is folder


def test_opening_erases_identities_whose_time_is_over(tmp_path: Path) -> None:
    clock = Clock()
    with make_folder(tmp_path / "home", clock=clock) as folder:
        links.invite(folder.store, ["Ann"])
        edit(folder, "# retention_days = 365", "retention_days = 30")
        folder.desk.set_state("closed")
    clock.now += 29 * DAY
    with CampaignFolder.open(folder.path, clock=clock) as again:
        assert people.known_people(again.store)
    clock.now += 2 * DAY
    with CampaignFolder.open(folder.path, clock=clock) as again:
        assert not people.known_people(again.store)


def test_late_runs_survive_a_process_that_ends_while_they_are_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder(tmp_path / "home")
    with monkeypatch.context() as patched:

        def fail(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(CampaignFolder, "follow_removals", fail)
        with pytest.raises(KeyboardInterrupt):
            folder.add_runs([late_runs(tmp_path)])
    # Whether the file was written before the end or not, what it says and what is asked agree.
    with CampaignFolder.open(folder.path) as again:
        items = set(StoredCampaign.read(again).problem.items.select("query", "document").rows())
        assert items <= set(questions_of(again))


def questions_of(folder: CampaignFolder) -> list[tuple[str, str]]:
    asked = sa.select(questions.c.query, questions.c.document).where(~questions.c.removed)
    return [tuple(row) for row in folder.store.read(lambda connection: connection.execute(asked).fetchall())]


def test_a_withdrawn_system_stays_away_when_settings_change(folder: CampaignFolder) -> None:
    stored = StoredCampaign.read(folder)
    folder.desk.remove("withdrawn", system=stored.problem.collection.systems[0])
    folder.follow_removals(folder.removed())
    left = sorted(questions_of(folder))
    again = folder.change_settings({"judging.judgments_per_item": 2})
    assert sorted(questions_of(again)) == left
    again.close()


@pytest.mark.parametrize("name", ["a?b", "a%20b", "a b#c"])
def test_any_folder_name_will_do(tmp_path: Path, name: str) -> None:
    with make_folder(tmp_path / name) as folder:
        assert (folder.path / "campaign.db").is_file()
        assert folder.desk.take("ann").questions
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_rankings_survive_a_change_of_settings(tmp_path: Path) -> None:
    with make_folder(tmp_path / "home", kind="order") as folder:
        question = folder.desk.take("ann").questions[0]
        folder.desk.answer("ann", question.id, key="1", choice=json.dumps({"order": ["d1"], "cut": 1}))
        with folder.change_settings({"judging.judgments_per_item": 2}) as again:
            assert again.store.log().position == 1


@pytest.mark.parametrize(("kind", "what"), [("order", "document"), ("grade", "other"), ("lists", "document")])
def test_a_report_that_names_no_document_removes_nothing(tmp_path: Path, kind: str, what) -> None:
    with make_folder(tmp_path / "home", kind=kind) as folder:
        before = len(questions_of(folder))
        for assessor in ("ann", "bob", "cid"):
            question = folder.desk.take(assessor).questions[0]
            folder.desk.report_unplayable(assessor, question.id, what=what)
        assert len(questions_of(folder)) == before


@pytest.mark.parametrize("strength", [-3.0, 0.0, float("nan"), float("inf")])
def test_a_strength_that_is_none_is_refused(tmp_path: Path, strength: float) -> None:
    with make_folder(tmp_path / "home", kind="prefer") as folder:
        question = folder.desk.take("ann").questions[0]
        with pytest.raises(ParameterError, match="strength"):
            folder.desk.answer("ann", question.id, key="1", choice="a", strength=strength)
