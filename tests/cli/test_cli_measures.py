"""``measures``, ``audition`` and ``reproduce``: everything listed exists, and what is known comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from called import Cli, Files

from earmark.cli.docstrings import document, plain
from earmark.measures import parse, registered
from earmark.measures.base import parameters


def test_every_measure_is_listed(cli: Cli) -> None:
    said = cli("measures")
    assert said.code == 0
    assert {row["measure"] for row in said.rows} == set(registered())
    row = next(row for row in said.rows if row["measure"] == "MR1")
    assert (row["low"], row["high"], row["higher_is_better"], row["needs"]) == (1.0, None, False, "relevance")
    assert {row["cutoff"] for row in said.rows if row["measure"] == "AG"} == {"required"}
    assert all(row["description"] for row in said.rows)


def test_the_list_reads_without_markup(cli: Cli) -> None:
    for text in (cli("measures").out, cli("measures", "--format", "table").out):
        assert ":math:" not in text
        assert "``" not in text
        assert "\\frac" not in text


def test_lists_of_parameters_are_words_in_csv(cli: Cli) -> None:
    row = next(row for row in cli("measures", "--format", "csv").csv if row["measure"] == "AP")
    assert row["parameters"] == "over=all rel=None"


@pytest.mark.parametrize("name", ["nDCG", "ndcg@5", "ndcg_cut_10", "nDCG(gain=exp)@3"])
def test_one_measure_by_any_of_its_names(cli: Cli, name: str) -> None:
    (row,) = cli("measures", name).rows
    assert row["measure"] == "nDCG"
    assert row["documentation"].startswith(row["description"])


def test_a_measure_that_needs_a_cutoff_is_found_without(cli: Cli) -> None:
    assert cli("measures", "AG").rows[0]["measure"] == "AG"
    assert cli("measures", "dynamic_recall").rows[0]["measure"] == "DR"


def test_one_measure_in_words(cli: Cli) -> None:
    out = cli("measures", "nDCG", "--format", "table").out
    assert "nDCG(…)[@k]" in out
    assert "higher is better" in out
    assert "The base of the logarithm" in out
    assert "lower is better" in cli("measures", "MR1", "--format", "table").out


def test_an_unknown_measure(cli: Cli) -> None:
    said = cli("measures", "nDGC")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("earmark: unknown measure 'nDGC': did you mean nDCG? (there are ")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("measure", registered().values(), ids=lambda measure: measure.name)
def test_docstrings_become_plain_text(measure: type) -> None:
    said = document(measure)
    assert said.paragraphs[0]
    assert "Parameters" not in " ".join(said.paragraphs)
    for text in (*said.paragraphs, *said.parameters.values()):
        assert "\\" not in text
        assert "`" not in text
    # What a parameter is may also stand in the text, but none is explained that is not there.
    assert set(said.parameters) <= {field.name for field in parameters(measure)} | {"cutoff"}


def test_formulas_become_plain_text() -> None:
    assert plain(r"so :math:`\frac{1}{R} \sum_{r \le k} x_r P(r)`; a ``word``") == "so 1/R Σ_{r ≤ k} x_r P(r); a word"
    assert plain(r":math:`\frac{m + \epsilon}{m + n}`") == "(m + ε)/(m + n)"
    assert plain("the *lower*, as :class:`~earmark.measures.base.Measure`; bpref*") == "the lower, as Measure; bpref*"


def test_an_audition_of_the_papers_answers(cli: Cli) -> None:
    said = cli("audition", "-m", "bpref*", "-m", "bpref-10", "-m", "AP", "-m", "RR")
    assert [list(row) for row in said.rows] == [["measure", "tau", "violations", "order"]] * 4
    found = {row["measure"]: row for row in said.rows}
    assert found["bpref*"] == {
        "measure": "bpref*",
        "tau": pytest.approx(1.0),
        "violations": 0,
        "order": "A1 > A2 > A3 > A4 > A5 > A6",
    }
    assert found["bpref-10"]["violations"] == 0
    assert found["AP"]["violations"] == 1
    assert found["RR"]["violations"] > 1
    assert "no answers given" in said.err


def test_all_measures_are_auditioned_by_default(cli: Cli) -> None:
    names = [row["measure"] for row in cli("audition", "-q").rows]
    assert len(names) > 30
    assert all(str(parse(name)) == name for name in names)


def test_ones_own_answers(cli: Cli, files: Files) -> None:
    answers = files.folder / "answers.csv"
    answers.write_text("set,order,ranks,relevant,length\none,1,1,1,5\none,2,2,1,5\none,3,,1,5\n")
    said = cli("audition", answers, "-m", "RR", "-m", "Success@5")
    assert said.err == ""
    assert [(row["measure"], row["violations"], row["order"]) for row in said.rows] == [
        ("RR", 0, "A1 > A2 > A3"),
        ("Success@5", 1, "A1 = A2 > A3"),
    ]
    (pair,) = cli("audition", answers, "-m", "Success@5", "--violated").rows
    assert (pair["better"], pair["worse"], pair["tied"]) == ("A1", "A2", True)
    # Without the size of the collection some of the default measures cannot be computed, which is said.
    assert "fallout is left out" in cli("audition", answers).err


def test_an_audition_in_words(cli: Cli) -> None:
    lines = cli("audition", "-m", "AP", "-m", "bpref*", "--format", "table", "-q").out.splitlines()
    assert lines[2].split() == ["bpref*", "0", "1.0000", "A1>A2>A3>A4>A5>A6"]
    assert lines[-1] == "wanted: A1 > A2 > A3 > A4 > A5 > A6"
    assert "A1 > A2" in cli("audition", "-m", "AP", "--violated", "--format", "table", "-q").out


def test_bad_answers_are_pointed_at(cli: Cli, files: Files) -> None:
    answers = files.folder / "answers.csv"
    answers.write_text("set,order,ranks,relevant,length\none,1,1,1,5\none,2,7,1,5\n")
    said = cli("audition", answers)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"earmark: {answers}:3: expected ranks up to the length 5, got 7\n"


@pytest.mark.parametrize("paper", ["cover", "adr"])
def test_papers_are_reproduced(cli: Cli, paper: str) -> None:
    said = cli("reproduce", paper)
    assert said.code == 0
    fields = ["table", "name", "column", "paper", "ours", "agrees", "how", "erratum", "note", "value"]
    assert all(list(row) == fields for row in said.rows)
    # Whatever differs from the paper has a known reason.
    assert all(row["erratum"] for row in said.rows if row["agrees"] is False)
    assert sum(row["agrees"] is True for row in said.rows) >= 15


def test_the_papers_table_stands_above_ours(cli: Cli) -> None:
    lines = cli("reproduce", "cover", "--format", "table").out.splitlines()
    assert lines[0] == "Serrà 2007, Table 2"
    assert lines[1].split() == ["paper", "A1", "A2", "A3", "A4", "A5", "A6"]
    at = next(index for index, line in enumerate(lines) if line.startswith("bpref*"))
    assert lines[at].split() == ["bpref*", "0.800", "0.564", "0.428", "0.260", "0.239", "0.000"]
    assert lines[at + 1].split()[:4] == ["ours", "0.80000", "0.56463", "0.42857"]
    fn = next(index for index, line in enumerate(lines) if line.startswith("FN"))
    assert lines[fn + 1].split()[-1] == "*4"
    assert any(line.startswith("* FN A6: ") for line in lines)


def test_only_papers_that_are_there(cli: Cli) -> None:
    said = cli("reproduce", "nothing")
    assert said.code == 2
    assert "'mtc', 'bias', 'cover', 'adr'" in said.err


def test_the_command_draws(cli: Cli, tmp_path: Path) -> None:
    said = cli("reproduce", "adr", "--figures", tmp_path / "out")
    assert said.code == 0
    assert [Path(row["file"]).name for row in said.rows] == ["figure-1.svg", "figure-1.csv"]
    assert all(Path(row["file"]).is_file() for row in said.rows)
    (tmp_path / "data").mkdir()
    refused = cli("reproduce", "mtc", "--figures", tmp_path / "none", "--data", tmp_path / "data")
    assert refused.code == 2
    assert "expected the MIREX 2011 collection" in refused.err
    assert not (tmp_path / "none").exists()
