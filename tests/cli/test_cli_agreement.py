"""Commands that answer the same question give the same answer, and the answer of the Python API."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from called import Cli, Files

import earmark
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.loop import play
from earmark.data.scales import FINE
from earmark.data.writers import write_judgments, write_runs

SEED = 5


@pytest.mark.parametrize("judged", [0, 1, 5, 13])
def test_rank_and_report_say_the_same_headline(cli: Cli, files: Files, judged: int) -> None:
    given: list[object] = [files.runs, "-m", "AG@2", "--scale", "broad"]
    if judged:
        lines = files.judgments.read_text().splitlines(keepends=True)
        files.judgments.write_text("".join(lines[:judged]))
        given += ["-j", files.judgments]
    page = files.folder / "report.html"
    reported = cli("report", *given, "-o", page, "--format", "jsonl").rows[0]["verdict"]
    shown = cli("report", *given, "-o", page, "--format", "table").out.splitlines()[0]
    assert reported == shown
    assert reported in cli("rank", *given, "--format", "table").out.splitlines()
    # With five judgments two systems may be the best, and what would tell them apart is part of the headline.
    assert ("judgments" in reported) == (judged == 5)


@pytest.fixture(scope="module")
def made() -> earmark.SyntheticCollection:
    return earmark.synthetic_collection(np.random.default_rng(8), systems=5, queries=15, documents=150)


@pytest.mark.parametrize("predictor", ["hierarchical", "ordinal"])
@pytest.mark.parametrize("policy", ["mtc-undecided", "random"])
def test_next_asks_what_the_campaign_asks_next(
    cli: Cli, made: earmark.SyntheticCollection, tmp_path: Path, policy: str, predictor: str
) -> None:
    """A campaign in memory and one that is read from its file of judgments in any order go on in the same way."""
    how = {"measure": "AG@5", "predictor": predictor, "policy": policy, "seed": SEED, "stop": "none"}
    start = Campaign.build(made.runs, scale=FINE, **how)
    truth = Campaign.build(made.runs, made.judgments, measure="AG@5").gains
    write_runs(made.runs, tmp_path / "runs.tsv")
    given = [tmp_path / "runs.tsv", "-m", "AG@5", "--scale", "fine", "--predictor", predictor]
    for campaign in islice(play(start, oracle(truth), batch=20), 3):
        proposal = campaign.propose(20)
        table: list[object] = []
        if campaign.judgments is not None:
            known = campaign.judgments.frame
            assert known["sequence"].n_unique() == known.height == campaign.judged
            shuffled = earmark.Judgments.from_frame(known.sample(fraction=1.0, shuffle=True, seed=1), scale=FINE)
            write_judgments(shuffled, tmp_path / "judgments.csv")
            table = ["-j", tmp_path / "judgments.csv"]
        said = cli("next", *given, *table, "--policy", policy, "--seed", SEED, "-n", 20, "--stop", "none")
        assert said.code == 0, said.err
        assert said.rows == campaign.proposal_frame(proposal).to_dicts()
    assert campaign.judged == 40


@pytest.mark.parametrize("command", ["evaluate", "rank"])
def test_the_later_answer_counts_and_repeated_ones_are_counted(cli: Cli, files: Files, command: str) -> None:
    given = (command, files.runs, "-m", "AG@2", "--scale", "broad", "--format", "jsonl", "-j")
    rows = [line.split("\t") for line in files.judgments.read_text().splitlines()]
    # Two items were graded otherwise before, and one of them twice.
    now = [(query, document, float(gain), place + 10) for place, (query, document, gain) in enumerate(rows)]
    before = [("q1", "a", 0.0, 1), ("q2", "f", 2.0, 2), ("q2", "f", 1.0, 3)]
    schema = ["query", "document", "gain", "sequence"]
    pl.DataFrame(now, schema=schema, orient="row").write_csv(files.folder / "once.csv")
    once = cli(*given, files.folder / "once.csv")
    assert "left out" not in once.err
    table = pl.DataFrame(before + now, schema=schema, orient="row")
    for order in (table, table.reverse(), table.sample(fraction=1.0, shuffle=True, seed=4)):
        path = files.folder / "repeated.csv"
        order.write_csv(path)
        said = cli(*given, path)
        assert said.out == once.out
        assert said.err.count("note: 3 answers left out: the same assessor judged the item again\n") == 1


def test_no_note_is_said_twice(cli: Cli, files: Files) -> None:
    few = files.folder / "few.tsv"
    few.write_text("q1\ta\t2\n")
    for command in ("rank", "next", "plan"):
        notes = re.findall(r"^note: .*$", cli(command, files.runs, "-j", few, "--format", "jsonl").err, re.MULTILINE)
        assert len(notes) > 2
        assert len(notes) == len(set(notes))
