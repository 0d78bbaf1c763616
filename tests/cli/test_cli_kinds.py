"""The kinds order and lists on the command line: init, status, rank, export and groups that agree."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from called import Cli, Files

from earmark.store.folder import CampaignFolder
from earmark.store.stored import StoredListCampaign, StoredOrderCampaign, read_stored

PEOPLE = ("ann", "bob", "cid", "dee", "eve", "fay", "gus", "hal", "ivy", "joe")


def begin(cli: Cli, files: Files, kind: str, *options: object) -> Path:
    study = files.folder / kind
    said = cli(
        "init", study, files.runs, "--kind", kind, "--judgments-per-item", len(PEOPLE), "--trap-rate", 0, *options
    )
    assert said.code == 0, said.err
    return study


def fill(study: Path, people: tuple[str, ...] = PEOPLE, *, count: int = 99) -> None:
    """Let people answer: rankings around one order, lists mostly for the first system."""
    rng = np.random.default_rng(0)
    with CampaignFolder.open(study) as folder:
        for who in people:
            for turn in range(count):
                questions = folder.desk.take(who, ahead=0).questions
                if not questions:
                    break
                question = questions[0]
                choice = ("a", "a", "a", "b", "neither")[turn % 5]
                stored = read_stored(folder)
                if isinstance(stored, StoredOrderCampaign):
                    shown = sorted(stored.problem.documents[question.query])
                    order = [
                        shown[place] for place in np.argsort(np.arange(len(shown)) + rng.normal(0, 0.6, len(shown)))
                    ]
                    choice = json.dumps({"order": order, "cut": len(order) - 1})
                folder.desk.answer(who, question.id, key=f"{who}{question.id}", choice=choice)


@pytest.mark.parametrize(
    ("kind", "given", "kept"), [("order", (), "none"), ("lists", ("--stop", "width:0.2"), "width:0.2")]
)
def test_init_takes_a_stop_rule_that_the_kind_has(kind: str, given: tuple, kept: str, cli: Cli, files: Files) -> None:
    study = begin(cli, files, kind, *given)
    assert tomllib.loads((study / "campaign.toml").read_text())["estimates"]["stop"] == kept


@pytest.mark.parametrize("kind", ["order", "lists"])
def test_init_refuses_another_rule_that_was_asked_for(kind: str, cli: Cli, files: Files) -> None:
    said = cli("init", files.folder / "study", files.runs, "--kind", kind, "--stop", "mean:0.95")
    assert said.code == 2
    assert f"of kind {kind} stops by width:0.2, budget:200 (answers) or none, not by mean:0.95" in said.err
    assert said.err.count("\n") == 1
    assert not (files.folder / "study").exists()


def test_set_refuses_it_with_the_line(cli: Cli, files: Files) -> None:
    study = begin(cli, files, "lists")
    said = cli("set", study, "estimates.stop=top:1")
    assert said.code == 2
    assert "stops by width:0.2" in said.err


def test_lists_end_in_shares(cli: Cli, files: Files) -> None:
    study = begin(cli, files, "lists")
    empty = cli("rank", study)
    assert [row["kind"] for row in empty.rows] == ["system"] * 3 + ["pair"] * 3 + ["summary"]
    assert {row["share"] for row in empty.rows if row["kind"] == "pair"} == {None}
    fill(study)
    said = cli("rank", study)
    with CampaignFolder.open(study) as folder:
        stored = read_stored(folder)
    assert isinstance(stored, StoredListCampaign)
    systems = [row for row in said.rows if row["kind"] == "system"]
    assert [row["system"] for row in systems] == stored.look.estimates.systems_frame()["system"].to_list()
    assert set(systems[0]) == {"kind", "system", "estimate", "low", "high", "rank"}
    pair = next(row for row in said.rows if row["kind"] == "pair")
    assert {"a", "b", "difference", "low", "high", "confidence", "share", "share_low", "share_high"} <= set(pair)
    summary = said.rows[-1]
    assert (summary["answers"], summary["stop"]) == (90, True)
    assert "hold at all looks together" in said.err
    status = cli("status", study).rows[0]
    assert (status["judged"], status["answers"], status["reason"]) == (9, 90, "every question is answered")
    assert status["mean_confidence"] == summary["mean_confidence"]
    for shown in (cli("rank", study, "--format", "table"), cli("status", study, "--format", "table")):
        assert shown.code == 0
        assert stored.look.estimates.sentence()[:20] in " ".join(shown.out.split())
    csv = cli("rank", study, "--format", "csv").out.splitlines()
    # A row a person and pair besides.
    assert len(csv) == 1 + 3 + 3 + 3 * len(PEOPLE) + 1


def test_a_look_with_another_rule_changes_nothing(cli: Cli, files: Files) -> None:
    study = begin(cli, files, "lists")
    fill(study, ("ann",), count=3)
    assert cli("rank", study).rows[-1]["stop"] is False
    look = cli("rank", study, "--stop", "budget:3", "--level", "0.8")
    assert look.rows[-1]["stop"] is True
    assert "the campaign is not changed" in look.err
    assert cli("rank", study).rows[-1]["stop"] is False
    wrong = cli("rank", study, "--stop", "mean:0.9")
    assert wrong.code == 2
    assert "stops by width" in wrong.err
    assert cli("rank", study, "-m", "AG@5").code == 2


def test_orders_end_in_groups_and_agreement(cli: Cli, files: Files) -> None:
    study = begin(cli, files, "order")
    assert [row["kind"] for row in cli("rank", study).rows] == ["summary"]
    fill(study)
    said = cli("rank", study)
    kinds = [row["kind"] for row in said.rows]
    assert kinds.count("query") == 3
    assert kinds[-1] == "summary"
    assert set(said.rows[0]) == {"kind", "query", "documents", "rankings", "similar", "groups", "tau", "w"}
    summary = said.rows[-1]
    assert summary["low"] <= summary["tau"] <= summary["high"]
    assert (summary["answers"], summary["judged"], summary["mean_confidence"]) == (30, 3, None)
    table = cli("rank", study, "--format", "table")
    assert "whether experts agree more than by chance" in " ".join(table.out.split())
    status = cli("status", study)
    assert status.rows[0]["said"].startswith("It is open whether experts agree")
    assert "whether experts agree" in cli("status", study, "--format", "table").out


@pytest.mark.parametrize("ending", ["tsv", "csv", "run", "parquet"])
def test_exported_rankings_give_the_groups_of_the_campaign(ending: str, cli: Cli, files: Files) -> None:
    study, rankings = begin(cli, files, "order"), files.folder / f"rankings.{ending}"
    fill(study)
    # One more query would be in the file if it had two rankings.
    exported = cli("export", study, "-o", rankings, "--what", "rankings")
    assert exported.code == 0, exported.err
    with CampaignFolder.open(study) as folder:
        stored = read_stored(folder)
    assert isinstance(stored, StoredOrderCampaign)
    assert stored.look.estimates.groups is not None
    by_command = cli("crowd", "groups", "--rankings", rankings)
    assert by_command.code == 0, by_command.err
    expected = stored.look.estimates.groups.frame
    assert by_command.rows == expected.to_dicts()
    assert expected["group"].max() > 1
    ranked = {row["document"] for row in cli("rank", study).rows if row["kind"] == "document"}
    assert ranked == set(expected["document"])


def test_exports_of_rankings_name_nobody_where_asked(cli: Cli, files: Files) -> None:
    study = begin(cli, files, "order")
    fill(study, ("ann", "bob"))
    cli("export", study, "-o", files.folder / "r.tsv", "--what", "rankings", "--people", "none")
    systems = {line.split("\t")[0] for line in (files.folder / "r.tsv").read_text().splitlines()}
    assert systems == {"expert-1", "expert-2"}
    cli("export", study, "-o", files.folder / "p.tsv", "--what", "rankings")
    assert {line.split("\t")[0] for line in (files.folder / "p.tsv").read_text().splitlines()} == {"ann", "bob"}


def test_queries_that_one_expert_ranked_are_left_out(cli: Cli, files: Files) -> None:
    study = begin(cli, files, "order")
    alone = cli("export", study, "-o", files.folder / "r.tsv", "--what", "rankings")
    assert alone.code == 2
    assert "no query has two rankings yet" in alone.err
    fill(study, ("ann",))
    fill(study, ("bob",), count=1)
    assert cli("export", study, "-o", files.folder / "r.tsv", "--what", "rankings").code == 0
    assert len({line.split("\t")[1] for line in (files.folder / "r.tsv").read_text().splitlines()}) == 1
    assert cli("crowd", "groups", "--rankings", files.folder / "r.tsv").code == 0


def test_rankings_are_those_of_orders(cli: Cli, files: Files) -> None:
    study = begin(cli, files, "lists")
    said = cli("export", study, "-o", files.folder / "r.tsv", "--what", "rankings")
    assert said.code == 2
    assert "campaigns of kind order collect, not lists" in said.err
    order = begin(cli, files, "order")
    fill(order, ("ann", "bob"))
    assert "rankings are runs" in cli("export", order, "-o", files.folder / "r.jsonl", "--what", "rankings").err


@pytest.mark.parametrize("kind", ["order", "lists"])
def test_what_the_kinds_do_not_do_is_said(kind: str, cli: Cli, files: Files) -> None:
    study = begin(cli, files, kind)
    for words in (["next"], ["next", "-o", files.folder / "n.csv"], ["evaluate"]):
        said = cli(words[0], study, *words[1:])
        assert said.code == 2
        assert f"is a campaign of kind {kind}, and this command takes kind grade; 'earmark rank', 'report'" in said.err
    assert cli("describe", study).code == 0
