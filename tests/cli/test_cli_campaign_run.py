"""Commands of a running campaign: whole round trips, on SQLite and once on a real PostgreSQL server."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa
from called import Cli, Files, Said

FIELDS = ["judged", "items", "answers", "assessors", "pending", "mean_confidence", "stop", "reason", "version"]


@pytest.fixture
def study(cli: Cli, files: Files) -> Path:
    folder = files.folder / "study"
    said = cli("init", folder, files.runs, "--metadata", files.metadata, "--scale", "broad", "-m", "AG@3")
    assert said.code == 0, said.err
    return folder


def write(path: Path, *rows: str, header: str = "query,document,gain") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def ok(said: Said) -> Said:
    assert said.code == 0, said.err
    return said


def refused(said: Said, message: str) -> None:
    assert said.code == 2
    assert said.err.startswith("earmark: ")
    assert message in said.err
    assert said.err.count("\n") == 1


def counts(said: Said) -> tuple[int, ...]:
    (row,) = ok(said).rows
    assert list(row) == ["new", "known", "corrected", "refused"]
    return tuple(row.values())


def state(cli: Cli, folder: Path) -> dict[str, Any]:
    return ok(cli("status", folder)).rows[0]


# ---- status ----------------------------------------------------------------------------------------------------------


def test_status_has_the_promised_fields_first(cli: Cli, study: Path, files: Files) -> None:
    assert list(state(cli, study))[: len(FIELDS)] == FIELDS
    before = state(cli, study)
    assert (before["judged"], before["answers"], before["assessors"], before["stop"]) == (0, 0, 0, False)
    ok(cli("import", study, files.judgments, "--assessor", "Ann"))
    after = state(cli, study)
    assert (after["judged"], after["items"], after["answers"], after["assessors"]) == (13, 16, 13, 1)
    assert after["mean_confidence"] > before["mean_confidence"]


def test_status_for_people(cli: Cli, study: Path, files: Files) -> None:
    ok(cli("import", study, files.judgments, "--assessor", "Ann"))
    ok(cli("set", study, "estimates.stop=budget:500"))
    ok(cli("pause", study, "--reason", "back on Monday"))
    table = ok(cli("status", study, "--format", "table")).out
    for words in (
        "paused (back on Monday)",
        "13 of 16 items (81%)",
        "Ann",
        "estimates.stop changed from best:0.95:0.02 to budget:500",
        "imported judgments.tsv: 13 new, 0 corrected",
    ):
        assert words in table
    (person,) = ok(cli("status", study, "--assessors")).rows
    assert (person["name"], person["answers"], person["traps"], person["state"]) == ("Ann", 13, 0, "active")
    assert list(ok(cli("status", study, "--format", "csv")).csv[0])[: len(FIELDS)] == FIELDS


def test_status_tells_what_was_edited_in_the_file(cli: Cli, study: Path) -> None:
    settings = study / "campaign.toml"
    settings.write_text(settings.read_text().replace('stop = "best:0.95:0.02"', 'stop = "min:0.9"'))
    said = cli("status", study)
    assert 'recorded: estimates.stop changed from "best:0.95:0.02" to "min:0.9"' in said.err
    assert "recorded" not in cli("status", study).err
    lines = settings.read_text().splitlines()
    at = next(number for number, line in enumerate(lines, start=1) if line.startswith("scale ="))
    settings.write_text(settings.read_text().replace('scale = "broad"', 'scale = "fine"'))
    refused(cli("status", study), f"{settings}:{at}: expected")


# ---- import ----------------------------------------------------------------------------------------------------------


def test_importing_twice_changes_nothing(cli: Cli, study: Path, files: Files) -> None:
    assert counts(cli("import", study, files.judgments)) == (13, 0, 0, 0)
    ok(cli("export", study, "-o", files.folder / "1.jsonl", "--what", "log"))
    assert counts(cli("import", study, files.judgments)) == (0, 13, 0, 0)
    assert counts(cli("import", study, files.judgments, files.judgments)) == (0, 26, 0, 0)
    ok(cli("export", study, "-o", files.folder / "2.jsonl", "--what", "log"))
    assert (files.folder / "1.jsonl").read_bytes() == (files.folder / "2.jsonl").read_bytes()


def test_another_gain_corrects_and_the_first_stays_in_the_log(cli: Cli, study: Path, files: Files) -> None:
    folder = files.folder
    assert counts(cli("import", study, write(folder / "1.csv", "q1,a,2"))) == (1, 0, 0, 0)
    assert counts(cli("import", study, write(folder / "2.csv", "q1,a,1"))) == (0, 0, 1, 0)
    ok(cli("export", study, "-o", folder / "x.csv"))
    assert pl.read_csv(folder / "x.csv").select("query", "document", "gain").rows() == [("q1", "a", 1.0)]
    ok(cli("export", study, "-o", folder / "all.csv", "--what", "answers"))
    everything = pl.read_csv(folder / "all.csv")
    assert everything.select("gain", "counts").rows() == [(2.0, False), (1.0, True)]


def test_two_people_in_two_files(cli: Cli, study: Path, files: Files) -> None:
    one, two = write(files.folder / "1.csv", "q1,a,2"), write(files.folder / "2.csv", "q1,a,0", "q1,b,1")
    assert counts(cli("import", study, one, "--assessor", "Ann")) == (1, 0, 0, 0)
    assert counts(cli("import", study, two, "--assessor", "Bob")) == (2, 0, 0, 0)
    found = state(cli, study)
    assert (found["judged"], found["answers"], found["assessors"]) == (2, 3, 2)
    ok(cli("export", study, "-o", files.folder / "mean.qrels"))
    assert (files.folder / "mean.qrels").read_text().split("\n")[0].split()[-1] == "1"
    both = write(files.folder / "3.csv", "q2,d,2,Ann", "q2,d,1,Cid", header="query,document,gain,assessor")
    assert counts(cli("import", study, both)) == (2, 0, 0, 0)
    assert state(cli, study)["assessors"] == 3


def test_unknown_documents_are_refused_and_named(cli: Cli, study: Path, files: Files) -> None:
    some = write(files.folder / "1.csv", "q1,a,2", "q1,nope,1", "q9,a,1")
    said = cli("import", study, some)
    assert counts(said) == (1, 0, 0, 2)
    assert "2 answers refused, as no system retrieved the item: 'nope' for 'q1', 'a' for 'q9'" in said.err
    other = write(files.folder / "2.csv", "x,y,1")
    before = state(cli, study)["answers"]
    good = write(files.folder / "3.csv", "q1,b,1")
    refused(cli("import", study, good, other), f"{other}: expected answers about items of this campaign, got none")
    assert state(cli, study)["answers"] == before


def test_a_gain_off_the_scale_is_named_by_file_and_line(cli: Cli, study: Path, files: Files) -> None:
    good, bad = write(files.folder / "1.csv", "q1,a,2"), write(files.folder / "2.csv", "q1,b,1", "q1,c,7")
    refused(cli("import", study, good, bad), f"{bad}:3: ")
    assert state(cli, study)["answers"] == 0


def test_blanks_and_empty_gains_are_read_as_in_other_commands(cli: Cli, study: Path, files: Files) -> None:
    some = write(files.folder / "1.csv", "q1,a, 2 ", "q1,b,", "q1,c,1")
    assert counts(cli("import", study, some)) == (2, 0, 0, 0)


def test_percent_signs_among_plain_gains_are_refused(cli: Cli, study: Path, files: Files) -> None:
    rates = write(files.folder / "1.csv", "q1,a,2", "q1,b,20%")
    refused(cli("import", study, rates), f"{rates}:2: expected a gain with a percent sign")
    assert state(cli, study)["answers"] == 0


def test_a_package_goes_out_and_comes_back(cli: Cli, study: Path, files: Files) -> None:
    batch = files.folder / "batch.csv"
    ok(cli("next", study, "-n", "4", "-o", batch, "--assessor", "Ann"))
    assert state(cli, study)["pending"] == 4
    rows = read_csv(batch)
    with batch.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "gain": 1} for row in rows)
    assert counts(cli("import", study, batch)) == (4, 0, 0, 0)
    assert counts(cli("import", study, batch)) == (0, 4, 0, 0)
    (person,) = ok(cli("status", study, "--assessors")).rows
    assert (person["name"], person["answers"], person["pending"]) == ("Ann", 4, 0)


# ---- export ----------------------------------------------------------------------------------------------------------


def test_cells_that_look_like_formulas_come_back_as_they_were(cli: Cli, files: Files) -> None:
    runs = files.folder / "odd.tsv"
    runs.write_text("s\tq\t=1+1\ns\tq\t@x\nt\tq\t-a\nt\tq\t+b\n")
    study, out = files.folder / "odd", files.folder / "x.csv"
    ok(cli("init", study, runs, "--scale", "broad", "-m", "AG@2"))
    given = write(files.folder / "in.csv", "q,=1+1,2", "q,@x,1", "q,-a,0", "q,+b,1")
    assert counts(cli("import", study, given)) == (4, 0, 0, 0)
    ok(cli("export", study, "-o", out))
    assert [row["document"] for row in read_csv(out)] == ["'=1+1", "'@x", "'-a", "'+b"]
    assert counts(cli("import", study, out)) == (0, 4, 0, 0)
    ok(cli("export", study, "-o", files.folder / "x.jsonl"))
    raw = [json.loads(line)["document"] for line in (files.folder / "x.jsonl").read_text().splitlines()]
    assert raw == ["=1+1", "@x", "-a", "+b"]


@pytest.mark.parametrize("people", ["pseudonyms", "names", "none"])
def test_people_are_called_as_asked(people: str, cli: Cli, study: Path, files: Files) -> None:
    ok(cli("import", study, write(files.folder / "1.csv", "q1,a,2"), "--assessor", "Ann Lee"))
    for name in ("x.csv", "x.jsonl"):
        ok(cli("export", study, "-o", files.folder / name, "--people", people, "--what", "answers"))
        text = (files.folder / name).read_text()
        assert ("Ann Lee" in text) == (people == "names")
        assert ("a-" in text) == (people == "pseudonyms")
        assert ("assessor" in text) == (people != "none")
        assert ("1.csv" in text) == (people != "none")


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("what", ["judgments", "answers", "log"])
def test_every_format_holds_everything(what: str, ending: str, cli: Cli, study: Path, files: Files) -> None:
    ok(cli("import", study, files.judgments))
    path = files.folder / f"x.{ending}"
    (row,) = ok(cli("export", study, "-o", path, "--what", what)).rows
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson}[ending]
    assert read(path).height == row["rows"] == (15 if what == "log" else 13)


def test_what_cannot_be_exported_writes_nothing(cli: Cli, study: Path, files: Files) -> None:
    refused(cli("export", study, "-o", files.folder / "x.qrels", "--what", "log"), "TREC qrels hold grades only")
    refused(
        cli("export", study, "-o", files.folder / "nowhere" / "x.csv"), "x.csv: expected an existing folder to write to"
    )
    assert not (files.folder / "x.qrels").exists()


# ---- states and settings ---------------------------------------------------------------------------------------------


def test_a_closed_campaign_takes_no_answers_until_it_is_opened(cli: Cli, study: Path, files: Files) -> None:
    assert ok(cli("close", study)).rows[0] == {"campaign": str(study), "state": "closed", "before": "open"}
    assert "nothing changed" in ok(cli("close", study)).err
    refused(cli("import", study, files.judgments), f"'earmark reopen {study}'")
    refused(cli("pause", study), "the campaign is closed")
    refused(cli("resume", study), "the campaign is closed")
    assert ok(cli("reopen", study, "--reason", "more came")).rows[0]["state"] == "open"
    refused(cli("reopen", study), "not closed")
    assert counts(cli("import", study, files.judgments))[0] == 13
    assert [line.partition(": ")[2] for line in state(cli, study)["changes"]][:2] == [
        "closed",
        "opened again (more came)",
    ]


def test_pausing_and_resuming(cli: Cli, study: Path, files: Files) -> None:
    ok(cli("pause", study))
    refused(cli("next", study, "-o", files.folder / "x.csv"), "paused")
    ok(cli("resume", study))
    assert state(cli, study)["state"] == "open"


def test_settings_change_and_the_log_keeps_it(cli: Cli, study: Path) -> None:
    said = ok(cli("set", study, "estimates.stop=min:0.9", "traps.rate=1/7", "judging.group_by_query=true", "name=2026"))
    assert [tuple(row.values()) for row in said.rows] == [
        ("name", "study", "2026"),
        ("judging.group_by_query", "False", "True"),
        ("traps.rate", "1/6", "1/7"),
        ("estimates.stop", "best:0.95:0.02", "min:0.9"),
    ]
    written = tomllib.loads((study / "campaign.toml").read_text())
    assert (written["name"], written["traps"]["rate"], written["estimates"]["stop"]) == ("2026", "1/7", "min:0.9")
    assert any("traps.rate changed from 1/6 to 1/7" in line for line in state(cli, study)["changes"])
    assert ok(cli("set", study, "estimates.stop=min:0.9")).rows == []
    ok(cli("set", study, "judging.answers_per_assessor=5"))
    ok(cli("set", study, "judging.answers_per_assessor="))
    assert "answers_per_assessor" not in tomllib.loads((study / "campaign.toml").read_text())["judging"]


def test_files_are_copied_when_they_are_set(cli: Cli, study: Path, files: Files) -> None:
    consent = files.folder / "consent.md"
    consent.write_text("I agree.")
    ok(cli("set", study, f"inputs.consent={consent}"))
    assert (study / "inputs" / "consent.md").read_text() == "I agree."
    wrong = write(files.folder / "wrong.csv", "nobody,x", header="document,artist")
    before = (study / "campaign.toml").read_bytes()
    assert cli("set", study, f"inputs.metadata={wrong}").code == 2
    assert (study / "campaign.toml").read_bytes() == before
    assert state(cli, study)["state"] == "open"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("estimates.stop=mean:7", "estimates.stop: expected a stop rule"),
        ("estimates.sotp=x", "did you mean estimates.stop?"),
        ("estimates.measure=AG@2", "it cannot change once the campaign exists"),
        ("store.url=postgresql://x/y", "earmark move"),
        ("inputs.runs=x", "earmark add"),
        ("estimates.stop", "as in estimates.stop=min:0.9"),
        ("judging.judgments_per_item=many", "a whole number, 1 or more"),
        ("estimates.policy=nope", "estimates.policy: expected"),
    ],
)
def test_settings_that_cannot_be(setting: str, message: str, cli: Cli, study: Path) -> None:
    before = (study / "campaign.toml").read_bytes()
    refused(cli("set", study, setting), message)
    assert (study / "campaign.toml").read_bytes() == before


# ---- the collection --------------------------------------------------------------------------------------------------


def test_late_runs_are_added(cli: Cli, study: Path, files: Files) -> None:
    late = files.folder / "late.tsv"
    late.write_text("late\tq1\ta\nlate\tq1\tnew\n")
    said = ok(cli("add", study, late))
    assert said.rows[0] | {"added": ["late"], "items": 17, "new_items": 1} == said.rows[0]
    assert "runs were added after the start: guaranteed statements hold for looks since then" in said.err
    assert (study / "inputs" / "late.tsv").is_file()
    assert any("runs added: late" in line for line in state(cli, study)["changes"])
    bad = files.folder / "bad.tsv"
    bad.write_text("late2\tq1\ta\noops\n")
    refused(cli("add", study, bad), f"{bad}:2: ")
    same = files.folder / "same.tsv"
    same.write_text("good\tq1\tz\n")
    assert cli("add", study, same).code == 2
    assert sorted(path.name for path in (study / "inputs").iterdir()) == ["late.tsv", "metadata.tsv", "runs.tsv"]
    assert state(cli, study)["items"] == 17


def test_a_system_leaves_and_comes_back(cli: Cli, study: Path, files: Files) -> None:
    ok(cli("import", study, files.judgments))
    before = state(cli, study)
    said = ok(cli("withdraw", study, "--system", "poor", "--reason", "its index was broken"))
    assert said.rows[0]["changed"]
    assert said.rows[0]["items"] < before["items"]
    assert "guarantees hold as long as nothing was removed because of its answers" in said.err
    assert {row["system"] for row in ok(cli("rank", study)).rows if row["kind"] == "system"} == {"good", "fair"}
    assert not ok(cli("withdraw", study, "--system", "poor", "--reason", "again")).rows[0]["changed"]
    ok(cli("reinstate", study, "--system", "poor"))
    after = state(cli, study)
    for name in ("judged", "items", "answers", "mean_confidence"):
        assert after[name] == before[name]
    assert any("system 'poor' left the collection (its index was broken)" in one for one in after["changes"])


def test_queries_documents_and_items_leave(cli: Cli, study: Path) -> None:
    items = state(cli, study)["items"]
    assert ok(cli("withdraw", study, "--query", "q3", "--reason", "x")).rows[0]["items"] == items - 6
    ok(cli("reinstate", study, "--query", "q3"))
    assert ok(cli("withdraw", study, "--query", "q1", "--document", "a", "--reason", "x")).rows[0]["items"] == items - 1
    ok(cli("reinstate", study, "--query", "q1", "--document", "a"))
    assert ok(cli("withdraw", study, "--document", "a", "--reason", "x")).rows[0]["items"] == items - 2
    assert state(cli, study)["removed"] == 2


def test_an_assessor_leaves_and_comes_back(cli: Cli, study: Path, files: Files) -> None:
    ok(cli("import", study, files.judgments, "--assessor", "Ann"))
    assert "because of the gains they gave" in ok(cli("withdraw", study, "--assessor", "Ann", "--reason", "random")).err
    assert state(cli, study)["judged"] == 0
    ok(cli("reinstate", study, "--assessor", "Ann", "--reason", "it was not"))
    assert state(cli, study)["judged"] == 13


def test_what_is_not_there_cannot_leave(cli: Cli, study: Path) -> None:
    refused(cli("withdraw", study, "--system", "goood", "--reason", "x"), "no system 'goood'")
    refused(cli("withdraw", study, "--assessor", "Zoe", "--reason", "x"), "nobody")
    refused(cli("withdraw", study, "--reason", "x"), "name one of --system")
    refused(cli("withdraw", study, "--system", "a", "--query", "b", "--reason", "x"), "name one of --system")
    assert cli("withdraw", study, "--system", "good").code == 2
    for system in ("good", "fair"):
        cli("withdraw", study, "--system", system, "--reason", "x")
    assert cli("withdraw", study, "--system", "poor", "--reason", "x").code == 2
    assert state(cli, study)["state"] == "open"


# ---- people ----------------------------------------------------------------------------------------------------------


def test_invitations_are_links(cli: Cli, study: Path) -> None:
    rows = ok(cli("invite", study, "Ann", "Bob")).rows
    assert [list(row) for row in rows] == [["name", "link"]] * 2
    assert [row["name"] for row in rows] == ["Ann", "Bob"]
    assert all(row["link"].startswith("http://127.0.0.1:8000/judge/") for row in rows)
    ok(cli("set", study, "people.address=https://listen.example.org"))
    (again,) = ok(cli("invite", study, "Ann")).rows
    assert again["link"] != rows[0]["link"]
    assert again["link"].startswith("https://listen.example.org/judge/")
    (opened,) = ok(cli("invite", study, "--open", "20")).rows
    assert opened["name"] == ""
    found = state(cli, study)
    assert (found["invited"], found["open_links"]) == (2, 3)
    # Only a hash of the link is stored.
    assert again["link"].rpartition("/")[2].encode() not in (study / "campaign.db").read_bytes()
    refused(cli("invite", study), "say whom to invite")
    refused(cli("invite", study, "Ann", "--open", "2"), "say whom to invite")
    refused(cli("invite", study, "Ann", "Ann"), "twice")


def test_a_name_that_was_erased_is_nowhere(cli: Cli, study: Path, files: Files) -> None:
    name = "Wilhelmina Featherstonehaugh"
    ok(cli("invite", study, name, "Bob"))
    ok(cli("import", study, write(files.folder / "1.csv", "q1,a,2"), "--assessor", name))
    before = state(cli, study)

    def stored() -> bytes:
        return b"".join(path.read_bytes() for path in study.rglob("*") if path.is_file())

    assert name.encode() in stored()
    (row,) = ok(cli("erase", study, name)).rows
    assert row["erased"]
    assert name.encode() not in stored()
    assert b"Featherstonehaugh" not in stored()
    after = state(cli, study)
    assert (after["judged"], after["answers"], after["assessors"]) == (1, 1, 1)
    assert after["mean_confidence"] == before["mean_confidence"]
    refused(cli("erase", study, name), "nobody")
    ok(cli("export", study, "-o", files.folder / "x.csv", "--people", "names", "--what", "answers"))
    assert pl.read_csv(files.folder / "x.csv")["assessor"].to_list() == [row["assessor"]]
    assert {one["name"] for one in ok(cli("status", study, "--assessors")).rows} == {None, "Bob"}


# ---- copies ----------------------------------------------------------------------------------------------------------


def exported(cli: Cli, study: Path, path: Path) -> bytes:
    ok(cli("export", study, "-o", path, "--what", "log"))
    return path.read_bytes()


def test_a_backup_brings_everything_back(cli: Cli, study: Path, files: Files) -> None:
    folder = files.folder
    ok(cli("import", study, files.judgments, "--assessor", "Ann"))
    written = ok(cli("backup", study, "-o", folder / "b.zip")).rows[0]
    back = ok(cli("restore", folder / "b.zip", folder / "back")).rows[0]
    for name in ("events", "digest", "rows"):
        assert written[name] == back[name]
    assert exported(cli, study, folder / "1.jsonl") == exported(cli, folder / "back", folder / "2.jsonl")
    there, here = state(cli, folder / "back"), state(cli, study)
    assert {**there, "store": ""} == {**here, "store": ""}
    refused(cli("restore", folder / "b.zip", folder / "back"), "expected a new folder, got a campaign")
    data = (folder / "b.zip").read_bytes()
    (folder / "cut.zip").write_bytes(data[: len(data) // 2])
    refused(cli("restore", folder / "cut.zip", folder / "third"), "expected a backup that earmark wrote")
    assert not (folder / "third").exists()


def test_a_campaign_moves_to_postgresql_and_back(
    cli: Cli, study: Path, files: Files, new_postgresql_database: Callable[[], str]
) -> None:
    url, folder = new_postgresql_database(), files.folder
    ok(cli("import", study, files.judgments, "--assessor", "Ann"))
    before, log = state(cli, study), exported(cli, study, folder / "1.jsonl")
    old, new = ok(cli("move", study, "--store", url)).rows
    assert {**old, "store": ""} == {**new, "store": ""}
    assert (old["events"], old["answers"]) == (15, 13)
    assert old["store"] == str(study / "campaign.db")
    assert b"Ann" not in (study / "campaign.db").read_bytes()
    assert exported(cli, study, folder / "2.jsonl") == log
    assert {**state(cli, study), "store": ""} == {**before, "store": ""}
    # The whole work goes on there.
    assert counts(cli("import", study, files.judgments, "--assessor", "Ann")) == (0, 13, 0, 0)
    assert counts(cli("import", study, write(folder / "1.csv", "q1,a,0"), "--assessor", "Bob")) == (1, 0, 0, 0)
    ok(cli("set", study, "estimates.stop=min:0.9"))
    ok(cli("withdraw", study, "--system", "poor", "--reason", "x"))
    ok(cli("reinstate", study, "--system", "poor"))
    ok(cli("invite", study, "Cid"))
    ok(cli("erase", study, "Bob"))
    refused(cli("move", study, "--store", url), "already")
    ok(cli("backup", study, "-o", folder / "b.zip"))
    there, log = state(cli, study), exported(cli, study, folder / "3.jsonl")
    old, new = ok(cli("move", study, "--store", "sqlite")).rows
    assert (old["digest"], new["store"]) == (new["digest"], str(study / "campaign.db"))
    assert exported(cli, study, folder / "4.jsonl") == log
    assert {**state(cli, study), "store": ""} == {**there, "store": ""}
    ok(cli("restore", folder / "b.zip", folder / "there", "--store", new_postgresql_database()))
    assert exported(cli, folder / "there", folder / "5.jsonl") == log


def test_a_campaign_is_made_on_postgresql_or_not_at_all(
    cli: Cli,
    files: Files,
    new_postgresql_database: Callable[[], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url, study = new_postgresql_database(), files.folder / "study"
    made = ("init", study, files.runs, "--scale", "broad", "-m", "AG@3", "--store", url)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", stop)
        assert cli(*made).code == 130
    assert not study.exists()
    engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"))
    with engine.connect() as connection:
        for table in ("campaigns", "questions"):
            assert connection.execute(sa.text(f"SELECT count(*) FROM earmark_{table}")).scalar() == 0
    engine.dispose()
    ok(cli(*made))
    assert counts(cli("import", study, files.judgments)) == (13, 0, 0, 0)
    assert not (study / "campaign.db").exists()


def test_preferences_are_imported_too(cli: Cli, files: Files) -> None:
    study = files.folder / "pairs"
    ok(cli("init", study, files.runs, "--kind", "prefer", "--depth", "2"))
    some = write(files.folder / "1.csv", "q1,a,b,Ann,a", "q1,x,a,Ann,b", header="query,a,b,assessor,choice")
    assert counts(cli("import", study, some)) == (2, 0, 0, 0)
    assert counts(cli("import", study, some)) == (0, 2, 0, 0)
    turned = write(files.folder / "2.csv", "q1,b,a,Ann,b", header="query,a,b,assessor,choice")
    assert counts(cli("import", study, turned)) == (0, 1, 0, 0)
    assert state(cli, study)["judged"] == 2
