"""``compare`` and ``curves``: fields as they are fixed, verdicts as the library gives them, tables people can read."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from called import Cli, Files

import earmark
from earmark.cli import compare as compare_command
from earmark.data.readers import read_judgments, read_runs
from earmark.data.writers import write_judgments, write_runs
from earmark.evaluation import evaluate
from earmark.inference.multiple_comparisons import CorrectionName
from earmark.inference.significance import TestName, compare_scores

FIXED = ["a", "b", "measure", "difference", "p_value", "significant", "test"]
TESTS = get_args(TestName)


@pytest.fixture
def many(files: Files) -> Files:
    """Twelve systems over forty queries, the later ones worse."""
    draw = random.Random(5)
    lines = []
    for system in range(12):
        for query in range(40):
            order = sorted(range(15), key=lambda document: document * (12 - system) / 12 + draw.random() * 12)
            lines += [f"s{system:02d}\tq{query}\td{document}\n" for document in order[:5]]
    files.runs.write_text("".join(lines))
    gains = [2, 2, 2, 1, 1, 1] + [0] * 9
    files.judgments.write_text(
        "".join(f"q{query}\td{document}\t{gain}\n" for query in range(40) for document, gain in enumerate(gains))
    )
    return files


def test_the_choices_are_the_libraries() -> None:
    assert get_args(compare_command.TestName) == TESTS
    assert get_args(compare_command.CorrectionName) == get_args(CorrectionName)


@pytest.mark.parametrize("test", TESTS)
def test_every_pair_is_a_row_with_the_librarys_verdict(test: str, cli: Cli, many: Files) -> None:
    options = () if test in ("friedman-tukey", "t", "wilcoxon") else ("--resamples", 2000, "--seed", 3)
    said = cli("compare", many.runs, "-j", many.judgments, "-m", "AG@5", "--test", test, *options, "-q")
    assert said.code == 0
    rows = said.rows
    assert all(list(row)[:7] == FIXED for row in rows)
    scores = evaluate(read_runs(many.runs), read_judgments(many.judgments), ["AG@5"])
    expected = compare_scores(scores.of("AG@5"), test=test, n_resamples=2000, rng=np.random.default_rng(3))
    names, place = scores.systems, {scores.systems[index]: at for at, index in enumerate(expected.order)}
    # The better system is a, and pairs come in the order of the ranking.
    in_order = sorted(place, key=place.__getitem__)
    assert [(row["a"], row["b"]) for row in rows] == list(combinations(in_order, 2))
    pairs = zip(expected.a, expected.b, strict=True)
    number = {frozenset((names[a], names[b])): index for index, (a, b) in enumerate(pairs)}
    which = [number[frozenset((row["a"], row["b"]))] for row in rows]
    assert [row["p_value"] for row in rows] == expected.p_value[which].tolist()
    assert [row["significant"] for row in rows] == expected.significant[which].tolist()
    means = dict(zip(names, scores.of("AG@5").mean(axis=1), strict=True))
    assert [row["difference"] for row in rows] == pytest.approx([means[row["a"]] - means[row["b"]] for row in rows])
    assert {row["test"] for row in rows} == {test}
    assert {row["measure"] for row in rows} == {"AG@5"}
    has_interval = test in ("friedman-tukey", "t", "bootstrap")
    assert all((row["low"] is not None) == has_interval for row in rows)
    assert not has_interval or all(row["low"] <= row["difference"] <= row["high"] for row in rows)
    assert {row["simultaneous"] for row in rows} == {test == "friedman-tukey"}
    ahead = [row["a"] if row["difference"] > 0 else row["b"] for row in rows if row["significant"]]
    assert [row["better"] for row in rows if row["significant"]] == ahead
    assert {row["better"] for row in rows if not row["significant"]} == {None}


def versions(files: Files, rng: random.Random) -> list[str]:
    """Lists of two systems for three versions of each of eight works, a file of cliques, and one of artists."""
    documents = [f"{work}{version}" for work in "abcdefgh" for version in "123"]
    works, artists = files.folder / "works.tsv", files.folder / "artists.csv"
    works.write_text("".join(f"{name}\t{name[0]}\n" for name in documents))
    artists.write_text(
        "document,artist\n" + "".join(f"{name},{'early' if name < 'c' else name[0]}\n" for name in documents)
    )
    rows = []
    for system in ("one", "two"):
        for query in documents:
            others = [name for name in documents if name != query]
            rows += [f"{system}\t{query}\t{name}\n" for name in sorted(others, key=lambda _: rng.random())]
    files.runs.write_text("".join(rows))
    return documents


def test_units_are_works_with_cliques_or_what_is_named(cli: Cli, files: Files) -> None:
    documents = versions(files, random.Random(4))
    common = ("compare", files.runs, "--cliques", files.folder / "works.tsv", "-m", "AP", "--test", "t")
    by_work = cli(*common)
    note = "tests and intervals are by work, as queries of one work are not independent of each other: 8 works"
    assert note in by_work.err
    assert [(row["unit"], row["units"]) for row in by_work.rows] == [("work", 8)]
    assert "24 queries of 8 works" in cli(*common, "--format", "table").out
    by_query = cli(*common, "--unit", "query")
    assert [(row["unit"], row["units"]) for row in by_query.rows] == [("query", 24)]
    assert "by work" not in by_query.err
    named = files.folder / "users.csv"
    named.write_text("query,user\n" + "".join(f"{name},{name[0]}\n" for name in documents))
    by_user = cli(*common, "--unit", named).rows[0]
    assert by_user == by_work.rows[0] | {"unit": "user"}
    by_artist = cli(*common, "--unit", "artist", "--metadata", files.folder / "artists.csv").rows[0]
    assert (by_artist["unit"], by_artist["units"]) == ("artist", 7)
    # Means are over queries, whatever counts as independent.
    assert (
        len({cli(*common, *more).rows[0]["difference"] for more in ((), ("--unit", "query"), ("--unit", named))}) == 1
    )


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (None, (), "is no file, and no --metadata is there to have such a column"),
        (None, ("--metadata", "artists.csv"), "the metadata has no column 'artst': did you mean 'artist'?"),
        ("a1,u1\n", (), "expected a header with the columns query, unit"),
        ("query,user,age\na1,u1,3\n", (), "expected two columns, the query and its unit"),
        ("query,user\na1,u1\na1,u2\n", (), "artst:3: expected one user for every query, got 'a1' of 'u2' after 'u1'"),
        ("query,user\na1,u1\n", (), "query 'a2' belongs to no user: name one for every query"),
        ("query,user\na1,\n", (), "artst:2: expected a query and its user, got an empty cell"),
    ],
)
def test_units_that_cannot_be_used(
    cli: Cli, files: Files, content: str | None, options: tuple[str, ...], message: str
) -> None:
    versions(files, random.Random(4))
    unit = files.folder / "artst"
    if content is not None:
        unit.write_text(content)
    more = [files.folder / name if name.endswith("csv") else name for name in options]
    name = unit if content is not None else "artst"
    said = cli("compare", files.runs, "--cliques", files.folder / "works.tsv", "-m", "AP", "--unit", name, *more)
    assert (said.code, said.out) == (2, "")
    assert message in said.err


def test_all_queries_in_one_unit_tell_nothing(cli: Cli, files: Files) -> None:
    documents = versions(files, random.Random(4))
    (files.folder / "users.tsv").write_text("".join(f"{name}\tme\n" for name in documents))
    options = ("--cliques", files.folder / "works.tsv", "-m", "AP", "--unit", files.folder / "users.tsv")
    said = cli("compare", files.runs, *options)
    assert said.code == 2
    assert "units that are independent of each other have to be two or more, got 1" in said.err


def test_lower_is_better_keeps_the_difference_and_turns_the_verdict(cli: Cli, many: Files) -> None:
    said = cli("compare", many.runs, "-j", many.judgments, "-m", "MR1", "--test", "t", "-q")
    means = {row["system"]: row["value"] for row in cli("evaluate", many.runs, "-j", many.judgments, "-m", "MR1").rows}
    for row in said.rows:
        assert row["difference"] == pytest.approx(means[row["a"]] - means[row["b"]])
        assert row["low"] <= row["difference"] <= row["high"]
        assert (row["effect_size"] > 0) == (row["difference"] < 0)
        if row["significant"]:
            assert row["better"] == min(row["a"], row["b"], key=means.__getitem__)


def test_the_same_seed_gives_the_same_bytes(cli: Cli, many: Files) -> None:
    common = ("compare", many.runs, "-j", many.judgments, "-m", "AG@5", "--test", "bootstrap", "--resamples", 1400)
    first, again, other = (cli(*common, "--seed", seed).out for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_a_measure_does_not_depend_on_its_company(cli: Cli, many: Files) -> None:
    common = ("compare", many.runs, "-j", many.judgments, "--test", "permutation", "--resamples", 1400, "-q")
    alone = cli(*common, "-m", "nDCG@5").out
    together = cli(*common, "-m", "AG@5", "-m", "nDCG@5").out
    assert together.endswith(alone)


def test_corrections(cli: Cli, many: Files) -> None:
    common = ("compare", many.runs, "-j", many.judgments, "-m", "AG@5", "--test", "t", "-q")
    found = {rule: cli(*common, "--correction", rule).rows for rule in ("holm", "bh", "none")}
    assert cli(*common).rows == found["holm"]
    counts = {rule: sum(row["significant"] for row in rows) for rule, rows in found.items()}
    assert counts["holm"] <= counts["bh"] <= counts["none"]
    assert [row["p_adjusted"] for row in found["none"]] == [row["p_value"] for row in found["none"]]


def test_options_without_effect_are_pointed_out(cli: Cli, files: Files) -> None:
    said = cli("compare", files.runs, "-j", files.judgments, "--correction", "bh", "--resamples", 100)
    assert "note: --correction has no effect: friedman-tukey adjusts for the number of pairs by itself\n" in said.err
    assert "note: --resamples has no effect: the friedman-tukey test does not draw at random\n" in said.err
    assert "note: no --measure given: taking AG@5\n" in said.err


def test_dropped_queries_are_dropped_for_all(cli: Cli, files: Files) -> None:
    files.runs.write_text(files.runs.read_text().replace("poor\tq3\tx\npoor\tq3\ty\npoor\tq3\tz\n", ""))
    said = cli("compare", files.runs, "-j", files.judgments, "-m", "RR", "--missing", "drop")
    assert "compared on the queries that all of them answered, without 1 query (q3)" in said.err
    assert {row["wins"] + row["ties"] + row["losses"] for row in said.rows} == {2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--alpha", 2), "alpha must lie between 0 and 1"),
        (("--test", "permutation", "--resamples", 3), "too few for any of 3 pairs to be significant"),
        (("--correlations", "-m", "RR"), "--correlations compares measures: name two or more with --measure"),
        (("--test", "anova"), "'anova' is not one of"),
    ],
)
def test_what_cannot_be_compared(cli: Cli, files: Files, options: tuple[object, ...], message: str) -> None:
    said = cli("compare", files.runs, "-j", files.judgments, *options)
    assert (said.code, said.out) == (2, "")
    assert message in said.err


def test_one_system_has_nothing_to_compare_with(cli: Cli, files: Files) -> None:
    files.runs.write_text("S\tq1\ta\n")
    said = cli("compare", files.runs, "-j", files.judgments)
    assert (said.code, said.err) == (2, "earmark: there is only the system 'S': a comparison needs two or more\n")


def test_correlations_between_measures(cli: Cli, many: Files) -> None:
    names = ("AG@5", "nDCG@5", "MR1")
    options = [option for name in names for option in ("-m", name)]
    said = cli("compare", many.runs, "-j", many.judgments, *options, "--correlations", "-q")
    assert [list(row) for row in said.rows] == [["measure_a", "measure_b", "tau", "tau_ap", "rbo", "spearman"]] * 3
    assert [(row["measure_a"], row["measure_b"]) for row in said.rows] == [names[:2], names[::2], names[1:]]
    # A lower MR1 is better, so its ranking goes along with the others.
    assert all(row["tau"] > 0.5 and row["rbo"] > 0.5 for row in said.rows)
    itself = cli("compare", many.runs, "-j", many.judgments, "-m", "RR", "-m", "MR1", "--correlations", "-q").rows[0]
    assert -1 <= itself["tau_ap"] <= 1


def test_the_matrix_reads_both_ways(cli: Cli, many: Files) -> None:
    common = ("compare", many.runs, "-j", many.judgments, "-m", "AG@5", "--test", "t", "-q")
    said = cli(*common, "--format", "table")
    lines = said.out.splitlines()
    start = next(index for index, line in enumerate(lines) if set(line.strip()) == {"─"}) + 1
    table = lines[start : start + 12]
    systems = [line.split()[1] for line in table]
    place = lines[start - 2].index("1 2 3")
    cells = [[line.ljust(200)[place + 2 * column] for column in range(12)] for line in table]
    better = {(row["a"], row["b"]): row["better"] for row in cli(*common).rows}
    for i in range(12):
        for j in range(12):
            pair = better.get((systems[i], systems[j])) or better.get((systems[j], systems[i]))
            expected = " " if i == j else "·" if pair is None else ">" if pair == systems[i] else "<"
            assert cells[i][j] == expected


def test_letters_never_join_systems_that_differ(cli: Cli, many: Files) -> None:
    common = ("compare", many.runs, "-j", many.judgments, "-m", "AG@5", "-q")
    lines = cli(*common, "--format", "table").out.splitlines()
    start = next(index for index, line in enumerate(lines) if set(line.strip()) == {"─"}) + 1
    letters = {line.split()[1]: set(line.split()[4]) for line in lines[start : start + 12]}
    for row in cli(*common).rows:
        assert bool(letters[row["a"]] & letters[row["b"]]) == (not row["significant"])


def test_tables_and_rows_agree_on_order_and_sign(cli: Cli, files: Files) -> None:
    common = ("compare", files.runs, "-j", files.judgments, "-q", "-m")
    for measure in ("AG@3", "MR1"):
        rows = cli(*common, measure).rows
        out = cli(*common, measure, "--format", "table").out
        listed = [line.split()[:5] for line in out[out.index("wins/ties/") :].splitlines() if line.count("/") >= 2]
        shown = [[row["a"], row["b"], *(f"{row[name]:.4f}" for name in ("difference", "low", "high"))] for row in rows]
        assert [line for line in listed if line[0] in ("good", "fair", "poor")] == shown
        assert "all of them hold together with confidence 0.95" in out
    # Of two systems the one with the smaller mean rank is the better one.
    assert [(row["a"], row["b"]) for row in rows] == [("good", "fair"), ("good", "poor"), ("fair", "poor")]
    assert all(row["difference"] < 0 for row in rows)


def test_few_systems_show_their_pairs(cli: Cli, files: Files) -> None:
    common = ("compare", files.runs, "-j", files.judgments, "-m", "AG@3", "--test", "t", "--format", "table", "-q")
    assert "wins/ties/" in cli(*common).out
    assert "95%" in cli(*common).out


def test_many_systems_show_their_pairs_when_asked(cli: Cli, many: Files) -> None:
    common = ("compare", many.runs, "-j", many.judgments, "-m", "AG@5", "--format", "table", "-q")
    assert "wins/ties/" not in cli(*common).out
    assert "wins/ties/" in cli(*common, "--pairs").out


def test_several_measures_show_how_alike_they_rank(cli: Cli, files: Files) -> None:
    said = cli("compare", files.runs, "-j", files.judgments, "-m", "RR", "-m", "AG@3", "--format", "table", "-q")
    assert "Kendall's tau" in said.out
    assert said.out.count("Friedman: chi-square") == 2


def test_the_real_collection(cli: Cli, mirex: Path) -> None:
    rows = cli("compare", mirex / "runs.txt", "-j", mirex / "judgments.txt", "-m", "AG@5", "-q").rows
    assert len(rows) == 153
    pair = next(row for row in rows if {row["a"], row["b"]} == {"ccaba5", "5177f0"})
    assert abs(pair["difference"]) == pytest.approx(0.00002, abs=1e-9)
    assert not pair["significant"]


def test_curves_have_the_points_that_their_definition_gives(cli: Cli, files: Files) -> None:
    said = cli("curves", files.runs, "-j", files.judgments, "--curve", "lift", "--per-query", "-q")
    assert [list(row) for row in said.rows] == [["system", "query", "x", "y"]] * (4 * 9 + 4 * 3)
    points = [(row["x"], row["y"]) for row in said.rows if (row["system"], row["query"]) == ("fair", "q1")]
    assert points == [(0, 0), (1, 0), (2, 1), (3, 2)]
    mean = [row["y"] for row in said.rows if (row["system"], row["query"]) == ("fair", "all")]
    assert mean == pytest.approx([0, 2 / 3, 4 / 3, 7 / 3])


@pytest.mark.parametrize(("curve", "points"), [("pr", 11), ("roc", 101), ("normalised-lift", 101)])
def test_other_curves(cli: Cli, files: Files, curve: str, points: int) -> None:
    said = cli("curves", files.runs, "-j", files.judgments, "--curve", curve, "--collection-size", 50, "-q")
    assert len(said.rows) == points * 3
    assert {row["query"] for row in said.rows} == {"all"}
    assert all(0 <= row["y"] <= 1 for row in said.rows)
    last = [row["y"] for row in said.rows if row["system"] == "good"][-1]
    assert last == pytest.approx(1.0)


def test_dynamic_recall(cli: Cli, files: Files) -> None:
    files.runs.write_text("".join(f"S\tq\td{number}\n" for number in (2, 3, 1, 5, 7, 8, 9, 4)))
    said = cli("curves", files.runs, "--groups", files.groups, "--curve", "dynamic-recall")
    assert [row["y"] for row in said.rows] == [1, 0.5, 1, 1, 0.8]
    refused = cli("curves", files.runs, "--groups", files.groups, "--curve", "dynamic-recall", "--rel", 1)
    assert refused.err == "earmark: --rel does not apply to dynamic recall: every group counts\n"


def test_curves_of_cliques_and_missing_queries(cli: Cli, files: Files) -> None:
    common = ("curves", files.covers, "--cliques", files.cliques, "--curve", "lift")
    zero, drop = cli(*common), cli(*common, "--missing", "drop")
    assert "count as empty lists" in zero.err
    top = {row["system"]: row["y"] for row in drop.rows if row["x"] == 3}
    assert top == {"M": 1.5, "N": 1.0}
    files.covers.write_text("M\ts1\ts2\nN\tu1\ts2\n")
    assert "system 'N' answered no judged query" in cli(*common, "--missing", "drop").err


def test_a_threshold_for_relevance(cli: Cli, files: Files) -> None:
    said = cli("curves", files.runs, "-j", files.judgments, "--curve", "lift", "--rel", 2, "-k", 1, "-q")
    assert [row["y"] for row in said.rows if row["system"] == "good"] == [0, 1]
    assert [row["y"] for row in said.rows if row["system"] == "fair"] == [0, 0]


def test_a_table_of_curves_is_thinned_and_says_so(cli: Cli, files: Files) -> None:
    common = ("curves", files.runs, "-j", files.judgments, "--collection-size", 50, "--format", "table")
    said = cli(*common, "--curve", "roc", "--per-query")
    assert "21 of 101 points (all of them with --format csv)" in said.out
    assert "a table shows mean curves only" in said.err
    assert said.out.splitlines()[0] == "recall against fallout"
    area = next(line.split() for line in said.out.splitlines() if line.strip().startswith("area"))
    assert [float(cell) for cell in area[1:]] == sorted((float(cell) for cell in area[1:]), reverse=True)


def test_p_values_that_are_drawn_say_how_exact_they_are(cli: Cli, tmp_path: Path) -> None:
    made = earmark.synthetic_collection(np.random.default_rng(2), systems=5, queries=20, documents=90)
    runs, judgments = tmp_path / "runs.tsv", tmp_path / "judgments.tsv"
    write_runs(made.runs, runs)
    write_judgments(made.judgments, judgments)
    said = cli("compare", runs, "-j", judgments, "-m", "AG@5", "--test", "bootstrap", "--resamples", 1000)
    assert "p-values are drawn, from 1,000 resamples: their Monte Carlo standard error, after the" in said.err
    exact = cli("compare", runs, "-j", judgments, "-m", "AG@5", "--test", "t")
    assert "Monte Carlo" not in exact.err
