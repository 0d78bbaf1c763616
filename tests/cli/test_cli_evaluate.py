"""``evaluate`` and ``describe``: fields as they are fixed, values by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli, Files

FIXED = ["system", "query", "measure", "value"]


def judge_the_rest(files: Files) -> None:
    """Judge what else the runs retrieved."""
    with files.judgments.open("a") as file:
        file.write("q2\ty\t0\nq3\ty\t0\nq3\tz\t0\n")


def values(rows: list[dict[str, object]]) -> dict[tuple[object, ...], object]:
    return {(row["system"], row["query"], row["measure"]): row["value"] for row in rows}


def test_the_means_are_the_rows_called_all(cli: Cli, files: Files) -> None:
    said = cli("evaluate", files.runs, "--judgments", files.judgments, "-m", "AG@2", "-m", "rr")
    assert said.code == 0
    assert [list(row) for row in said.rows] == [[*FIXED, "unjudged", "value_low", "value_high"]] * 6
    assert {row["query"] for row in said.rows} == {"all"}
    found = values(said.rows)
    assert list(found) == [
        (system, "all", measure) for system in ("fair", "good", "poor") for measure in ("AG@2", "RR")
    ]
    # Gains of the first two, over k = 2 and the top gain 2: (2+1)/4, (2+1)/4, (2+2)/4.
    assert found["good", "all", "AG@2"] == pytest.approx((0.75 + 0.75 + 1) / 3)
    assert found["fair", "all", "RR"] == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert found["poor", "all", "AG@2"] == 0


def test_queries_come_before_the_means(cli: Cli, files: Files) -> None:
    said = cli("evaluate", files.runs, "-j", files.judgments, "-m", "RR", "--per-query")
    queries = [row["query"] for row in said.rows]
    assert queries == ["q1", "q2", "q3"] * 3 + ["all"] * 3
    found = values(said.rows)
    assert [found["fair", query, "RR"] for query in ("q1", "q2", "q3")] == [0.5, 1.0, 1.0]
    assert found["poor", "q1", "RR"] == 0.0


def test_csv_has_the_same_rows(cli: Cli, files: Files) -> None:
    common = ("evaluate", files.runs, "-j", files.judgments, "-m", "nDCG@3", "--per-query")
    rows, table = cli(*common).rows, cli(*common, "--format", "csv")
    assert table.out.splitlines()[0] == "system,query,measure,value,unjudged,value_low,value_high"
    assert [float(row["value"]) for row in table.csv] == [row["value"] for row in rows]


def test_a_guessed_scale_is_said_and_a_named_one_is_not(cli: Cli, files: Files) -> None:
    common = ("evaluate", files.runs, "-j", files.judgments, "-m", "AG@2")
    assert cli(*common).err == "note: scale guessed: broad (0 to 2); name it with --scale\n"
    assert cli(*common, "--scale", "broad").err == ""
    assert cli(*common, "--quiet").err == ""
    half = values(cli(*common).rows)["good", "all", "AG@2"]
    assert values(cli(*common, "--scale", "0..4").rows)["good", "all", "AG@2"] == pytest.approx(half / 2)


@pytest.mark.parametrize(
    ("gains", "taken"),
    [
        ("q1\ta\t1\n", "P@10, AP, nDCG@10, RR"),
        ("q1\ta\t3\n", "AG@5, nDCG@5, AP"),
        ("q1\ta\t55\n", "AG@5, nDCG@5"),
        ("q1\ta\t0.5\n", "AG@5, nDCG@5"),
    ],
)
def test_measures_that_suit_the_scale(cli: Cli, files: Files, gains: str, taken: str) -> None:
    files.judgments.write_text(gains)
    said = cli("evaluate", files.runs, "-j", files.judgments)
    assert f"note: no --measure given: taking {taken}\n" in said.err
    assert ", ".join(dict.fromkeys(row["measure"] for row in said.rows)) == taken


def test_cliques(cli: Cli, files: Files) -> None:
    said = cli("evaluate", files.covers, "--cliques", files.cliques, "--missing", "drop")
    assert "taking AP, MR1, hits@10, bpref*" in said.err
    assert "3 documents (s2, s3, t2) of cliques are a query in no run: means are over the 2 queries" in said.err
    assert "system 'N' did not answer 1 query (t1): they are dropped" in said.err
    found = values(said.rows)
    # s1 finds s2 first and s3 third; t1 finds t2 second.
    assert found["M", "all", "AP"] == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2) / 2)
    assert found["M", "all", "MR1"] == 1.5
    assert found["N", "all", "MR1"] == 2.0


def test_only_clique_members_that_somebody_asks_for_are_queries(cli: Cli, files: Files) -> None:
    files.cliques.write_text("".join(f"s{number}\tsong\n" for number in range(1, 5)) + "t1\tother\nt2\tother\n")
    files.covers.write_text("M\ts1\tt1\nM\ts1\ts2\nM\ts1\ts3\n")
    said = cli("evaluate", files.covers, "--cliques", files.cliques, "-m", "AP", "-m", "R@3")
    # One list counts, and all three other versions are relevant to it, though one of them was not found.
    assert values(said.rows)["M", "all", "AP"] == pytest.approx((1 / 2 + 2 / 3) / 3)
    assert values(said.rows)["M", "all", "R@3"] == pytest.approx(2 / 3)
    assert "5 documents (s2, s3, s4, t1, t2) of cliques are a query in no run: means are over the 1 query" in said.err
    # A query that another run answers was asked: it counts as an empty list.
    files.covers.write_text("M\ts1\ts2\nN\ts1\ts2\nN\ts2\ts1\n")
    said = cli("evaluate", files.covers, "--cliques", files.cliques, "-m", "RR")
    assert values(said.rows)["M", "all", "RR"] == 0.5
    assert values(said.rows)["N", "all", "RR"] == 1
    assert "system 'M' did not answer 1 query (s2)" in said.err
    files.covers.write_text("M\tq1\ts2\n")
    refused = cli("evaluate", files.covers, "--cliques", files.cliques, "-m", "RR")
    assert refused.code == 2
    assert "no query of the runs is a document of a clique of two or more" in refused.err


def test_ordered_groups(cli: Cli, files: Files) -> None:
    files.runs.write_text("".join(f"S\tq\td{number}\n" for number in (2, 3, 1, 5, 7, 8, 9, 4)))
    said = cli("evaluate", files.runs, "--groups", files.groups)
    assert said.rows == [{"system": "S", "query": "all", "measure": "ADR", "value": pytest.approx(0.86)}]
    assert "taking ADR" in said.err


def test_a_missing_query_counts_zero_or_drops(cli: Cli, files: Files) -> None:
    files.runs.write_text("S\tq1\ta\n")
    common = ("evaluate", files.runs, "-j", files.judgments, "-m", "RR")
    zero, drop = cli(*common), cli(*common, "--missing", "drop")
    assert zero.rows[0]["value"] == pytest.approx(1 / 3)
    assert "system 'S' did not answer 2 queries (q2, q3): they score as empty lists" in zero.err
    assert drop.rows[0]["value"] == 1


def test_order_by_rank_or_score(cli: Cli, files: Files) -> None:
    files.runs.write_text("q1 Q0 x 1 0.1 S\nq1 Q0 a 2 0.9 S\n")
    common = ("evaluate", files.runs, "-j", files.judgments, "-m", "RR", "--missing", "drop", "-q")
    assert cli(*common).rows[0]["value"] == 1
    assert cli(*common, "--order", "rank").rows[0]["value"] == 0.5


def test_assessors_are_aggregated(cli: Cli, files: Files) -> None:
    judged = files.folder / "panel.csv"
    judged.write_text("query,document,gain,assessor\nq1,a,0,x\nq1,a,0,y\nq1,a,2,z\n")
    common = ("evaluate", files.runs, "-j", judged, "-m", "CG@1", "-q", "--missing", "drop")
    values = [cli(*common, "--aggregate", rule).rows[1]["value"] for rule in ("mean", "median", "majority")]
    assert values == [pytest.approx(2 / 3), 0, 0]


def test_the_size_of_the_collection(cli: Cli, files: Files) -> None:
    common = ("evaluate", files.runs, "-j", files.judgments, "-m", "fallout", "-q")
    refused = cli(*common)
    assert refused.code == 2
    assert "--collection-size" in refused.err
    # The good system retrieves one, one and no irrelevant document of 98, 98 and 97.
    assert cli(*common, "--collection-size", 100).rows[0]["value"] == pytest.approx((1 / 98 + 1 / 98) / 3)


def test_a_query_called_all_is_pointed_out(cli: Cli, files: Files) -> None:
    files.runs.write_text("S\tall\ta\n")
    files.judgments.write_text("all\ta\t1\n")
    said = cli("evaluate", files.runs, "-j", files.judgments, "-m", "RR", "--per-query")
    assert len(said.rows) == 2
    assert 'a query is called "all"' in said.err


def test_the_table_has_the_best_system_on_top(cli: Cli, files: Files) -> None:
    judge_the_rest(files)
    said = cli("evaluate", files.runs, "-j", files.judgments, "-m", "MR1", "-m", "nDCG@3", "--format", "table", "-q")
    lines = said.out.splitlines()
    assert lines[0].split() == ["system", "MR1", "↓", "nDCG@3"]
    assert [line.split()[0] for line in lines[2:5]] == ["good", "fair", "poor"]
    assert lines[2].split()[1:] == ["1.0000", "1.0000"]
    assert lines[5] == "3 systems, means over 3 queries; best by MR1 first"


def test_the_table_of_queries(cli: Cli, files: Files) -> None:
    judge_the_rest(files)
    said = cli(
        "evaluate", files.runs, "-j", files.judgments, "-m", "RR", "-m", "P@1", "--per-query", "--format", "table"
    )
    lines = said.out.splitlines()
    assert lines[0].split() == ["system", "query", "RR", "P@1"]
    assert lines[2].split() == ["fair", "q1", "0.5000", "0.0000"]
    assert len(lines) == 2 + 9 + 1 + 2 + 3 + 1


def test_the_real_collection(cli: Cli, mirex: Path) -> None:
    said = cli("evaluate", mirex / "runs.txt", "-j", mirex / "judgments.txt", "-m", "AG@5")
    found = {row["system"]: row["value"] for row in said.rows}
    assert found["2d3c5b"] == pytest.approx(0.5864, abs=5e-5)
    assert found["207f1d"] == pytest.approx(0.3039, abs=5e-5)
    assert abs(found["ccaba5"] - found["5177f0"]) == pytest.approx(0.00002, abs=1e-9)


DESCRIBED = ["systems", "teams", "queries", "results", "items", "judged", "overlap"]
DESCRIBED += ["depth_min", "depth_max", "missing_metadata"]


def test_describe_counts_everything(cli: Cli, files: Files) -> None:
    known = ("--metadata", files.metadata, "--judgments", files.judgments, "--teams", files.teams)
    said = cli("describe", files.runs, *known, "--scale", "broad")
    assert said.code == 0
    assert said.err == "note: 7 of 10 documents have metadata\n"
    (row,) = said.rows
    assert list(row) == DESCRIBED
    # Good and fair retrieve the same nine; poor adds x, y and x, y and x, y, z.
    assert row == {
        "systems": 3,
        "teams": 2,
        "queries": 3,
        "results": 27,
        "items": 16,
        "judged": 13,
        "overlap": pytest.approx(1 - 16 / 27),
        "depth_min": 3,
        "depth_max": 3,
        "missing_metadata": 7,
    }


def test_describe_leaves_unknown_fields_empty(cli: Cli, files: Files) -> None:
    (row,) = cli("describe", files.runs).rows
    assert [name for name, value in row.items() if value is None] == ["teams", "judged", "missing_metadata"]
    assert (
        cli("describe", files.runs, "--format", "csv").out == f"{','.join(DESCRIBED)}\n3,,3,27,16,,{1 - 16 / 27},3,3,\n"
    )


def test_describe_to_a_depth(cli: Cli, files: Files) -> None:
    (row,) = cli("describe", files.runs, "--depth", 2).rows
    assert (row["results"], row["items"], row["depth_max"]) == (18, 14, 2)


def test_describe_in_words(cli: Cli, files: Files) -> None:
    said = cli("describe", files.runs, "--format", "table")
    assert [line.split()[:2] for line in said.out.splitlines()[:4]] == [
        ["3", "systems"],
        ["–", "teams"],
        ["3", "queries"],
        ["27", "results"],
    ]


@pytest.mark.parametrize("text", ["system,team\ngood,one\nfair,one\npoor,two\n", "good one\nfair one\npoor two\n"])
def test_teams_in_other_formats(cli: Cli, files: Files, text: str) -> None:
    files.teams.write_text(text)
    assert cli("describe", files.runs, "--teams", files.teams).rows[0]["teams"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("good\tone\n", "no team is given for system 'fair'"),
        ("good\tone\ngood\ttwo\n", "teams.tsv:2: expected one team for every system, got 'good' of 'two' after 'one'"),
        ("good,one\n", "teams.tsv:1: expected a header with the columns system, team, got 'good,one'"),
        ("system,team\ngood,\n", "teams.tsv:2: expected a system and its team, got an empty cell"),
        ("a b c\n", "teams.tsv:1: expected 2 columns (system team), got 3"),
        ("", "teams.tsv: expected lines of data, got an empty file"),
    ],
)
def test_teams_that_cannot_be_used(cli: Cli, files: Files, text: str, message: str) -> None:
    files.teams.write_text(text)
    said = cli("describe", files.runs, "--teams", files.teams)
    assert said.code == 2
    assert said.out == ""
    assert message in said.err


def test_the_real_collection_is_the_row_of_table_1(cli: Cli, mirex: Path) -> None:
    files = (mirex / "runs.txt", "--judgments", mirex / "judgments.txt", "--metadata", mirex / "metadata.txt")
    (row,) = cli("describe", *files).rows
    assert (row["systems"], row["queries"], row["results"], row["judged"]) == (18, 100, 9000, 6322)
    assert round(row["overlap"], 2) == 0.30
    assert row["missing_metadata"] == 43


def test_the_amount_of_memory_changes_no_score(cli: Cli, files: Files) -> None:
    usual = ("evaluate", files.runs, "-j", files.judgments, "-m", "AP", "--per-query")
    assert cli(*usual, "--memory", "10 kB").out == cli(*usual).out
    said = cli(*usual, "--memory", "a lot")
    assert (said.code, said.out) == (2, "")
    assert "such as 4GB or 500MB, got 'a lot'" in said.err
