"""Results in files: every format, with pseudonyms, names or nobody, and no formulas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from campaigns_made import make_folder

import earmark
from earmark.errors import ParameterError
from earmark.store.exports import export, table_of
from earmark.store.folder import CampaignFolder
from earmark.store.links import admit, invite
from earmark.store.stored import StoredCampaign


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[CampaignFolder]:
    with make_folder(tmp_path / "home", judging={"scale": "broad", "judgments_per_item": 2}) as made:
        for invitation in invite(made.store, ["Ann Lee", "Bob"]):
            assessor = made.store.write(lambda change, token=invitation.token: admit(change, token))
            for n in range(6):
                question = made.desk.take(assessor).questions[0]
                made.desk.answer(assessor, question.id, key=f"{assessor}{n}", gain=n % 3, text="=cmd()")
        yield made


@pytest.mark.parametrize("name", ["j.csv", "j.parquet"])
def test_judgments_come_back_as_they_were(folder: CampaignFolder, tmp_path: Path, name: str) -> None:
    assert export(folder, tmp_path / name) == 12
    stored = StoredCampaign.read(folder)
    read = earmark.read_judgments(tmp_path / name, scale=earmark.BROAD)
    again = earmark.Campaign.from_judgments(stored.problem, read)
    assert (again.ranking.low == stored.ranking.low).all()
    plain = earmark.Campaign(stored.problem, stored.log)
    assert (again.propose(5).items == plain.propose(5).items).all()


def test_qrels_have_one_gain_per_item(folder: CampaignFolder, tmp_path: Path) -> None:
    assert export(folder, tmp_path / "j.qrels") == folder.store.log().answers.select("query", "document").n_unique()
    assert earmark.read_judgments(tmp_path / "j.qrels").frame.height
    with pytest.raises(ParameterError, match="qrels"):
        export(folder, tmp_path / "j.qrels", what="log")


def test_the_raw_log(folder: CampaignFolder, tmp_path: Path) -> None:
    assert export(folder, tmp_path / "l.jsonl", what="log") == len(folder.store.log())
    rows = [json.loads(line) for line in (tmp_path / "l.jsonl").read_text().splitlines()]
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    assert any(row["text"] == "=cmd()" for row in rows), "raw"


def test_answers_say_whether_they_count(folder: CampaignFolder) -> None:
    assessor = folder.store.log().answers["assessor"][0]
    assert table_of(folder, "answers")["counts"].all()
    folder.desk.reject(assessor, "fast")
    frame = table_of(folder, "answers")
    assert frame.filter(~pl.col("counts"))["assessor"].unique().to_list() == [assessor]


@pytest.mark.parametrize("what", ["judgments", "answers", "log"])
def test_people_are_called_as_asked(folder: CampaignFolder, what) -> None:
    assert "Ann" not in table_of(folder, what).write_csv()
    assert "Ann Lee" in table_of(folder, what, people="names").write_csv()
    nobody = table_of(folder, what, people="none")
    assert not {"assessor", "time", "key", "text"} & set(nobody.columns)
    assert not any(name in nobody.write_csv() for name in folder.store.log().answers["assessor"].unique())


def test_nothing_is_written_where_it_cannot_be(folder: CampaignFolder, tmp_path: Path) -> None:
    with pytest.raises(earmark.InputError):
        export(folder, tmp_path / "none" / "j.csv")


def test_what_left_the_collection_is_not_exported(folder: CampaignFolder) -> None:
    gone = folder.store.log().answers["document"][0]
    folder.desk.remove("broken", document=gone)
    assert gone not in table_of(folder, "judgments")["document"].to_list()
    answers = table_of(folder, "answers")
    assert not answers.filter(pl.col("document") == gone)["counts"].any()


def test_sequences_are_those_of_the_log(folder: CampaignFolder) -> None:
    log = (
        table_of(folder, "log").filter(pl.col("kind") == "answered").select("sequence", "query", "document", "assessor")
    )
    told = table_of(folder, "judgments").select("sequence", "query", "document", "assessor")
    assert told.sort("sequence").rows() == log.sort("sequence").rows()


def test_qrels_name_nobody_and_need_nobody(folder: CampaignFolder, tmp_path: Path) -> None:
    for people in ("none", "names", "pseudonyms"):
        export(folder, tmp_path / f"{people}.qrels", people=people)
    assert len({(tmp_path / f"{people}.qrels").read_text() for people in ("none", "names", "pseudonyms")}) == 1
