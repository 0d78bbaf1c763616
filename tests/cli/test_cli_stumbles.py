"""What people get wrong on the command line, and what they are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from called import Cli, Files

import earmark
from earmark.errors import ParameterError


def one_line(text: str) -> bool:
    return text.count("\n") == 1 and text.startswith("earmark: ")


@pytest.mark.parametrize(
    ("command", "option", "what"),
    [
        (("rank",), "--metadata", "it takes one file"),
        (("rank",), "--content", "it takes one file"),
        (("next",), "--seed", "it takes one value"),
        (("preferences", "rank"), "--level", "it takes one value"),
        (("crowd", "questions"), "--seed", "it takes one value"),
    ],
)
def test_an_option_with_one_value_is_given_once(cli: Cli, command: tuple[str, ...], option: str, what: str) -> None:
    said = cli(*command, "runs.tsv", option, "3", option, "4", option, "5")
    assert (said.code, said.err) == (2, f"earmark: {option} was given 3 times: {what}\n")


def test_flags_and_options_of_many_values_may_be_repeated(cli: Cli, files: Files) -> None:
    said = cli("evaluate", files.runs, "-j", files.judgments, "-m", "AG@1", "-m", "P@1", "--quiet", "--quiet")
    assert (said.code, said.err) == (0, "")
    assert {row["measure"] for row in said.rows} == {"AG@1", "P@1"}


@pytest.mark.parametrize("command", ["evaluate", "compare", "rank", "next", "report", "simulate", "diagnose"])
@pytest.mark.parametrize(("query", "document", "things"), [("q1", "x.mp3", "documents"), ("Q1", "a", "queries")])
def test_judgments_of_nothing_that_was_retrieved(
    cli: Cli, files: Files, command: str, query: str, document: str, things: str
) -> None:
    judgments = files.folder / "other.tsv"
    judgments.write_text(f"{query}\t{document}\t1\n{query}\tnone\t0\n")
    more = ["-o", files.folder / "report.html"] if command == "report" else []
    said = cli(command, files.runs, "-j", judgments, "-m", "AG@2", *more)
    assert (said.code, said.out, one_line(said.err)) == (2, "", True)
    ours, theirs = ("q1", query) if things == "queries" else ("a", document)
    assert f"{judgments}: expected judgments of some of the documents that were retrieved" in said.err
    assert f"in the runs, {things} are named like '{ours}' (in the judgments, {things} are named like" in said.err
    assert f"named like '{theirs}')" in said.err


@pytest.mark.parametrize("command", ["evaluate", "rank"])
def test_judgments_of_documents_beyond_the_cutoff_are_no_error(cli: Cli, files: Files, command: str) -> None:
    judgments = files.folder / "deep.tsv"
    judgments.write_text("q2\tf\t1\nq2\tnone\t0\n")
    runs = files.folder / "deep-runs.tsv"
    runs.write_text("A\tq2\ta\nA\tq2\tf\nB\tq2\tb\nB\tq2\tf\n")
    assert cli(command, runs, "-j", judgments, "-m", "AG@1").code == 0


@pytest.mark.parametrize("command", ["rank", "next", "features", "describe"])
def test_metadata_of_nothing_that_was_retrieved(cli: Cli, files: Files, command: str) -> None:
    metadata = files.folder / "other.csv"
    metadata.write_text("document,artist\na.mp3,x\n")
    said = cli(command, files.runs, "--metadata", metadata)
    assert (said.code, said.out, one_line(said.err)) == (2, "", True)
    assert f"{metadata}: expected metadata of some of the documents that were retrieved" in said.err
    assert "named like 'a' (in the metadata, documents are named like 'a.mp3')" in said.err


def test_metadata_of_some_documents_are_counted(cli: Cli, files: Files) -> None:
    assert "note: 7 of 10 documents have metadata\n" in cli("describe", files.runs, "--metadata", files.metadata).err
    files.metadata.write_text("document\tartist\n" + "".join(f"{name}\tx\n" for name in "abcdefgxyz"))
    assert "have metadata" not in cli("describe", files.runs, "--metadata", files.metadata).err


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_lists_of_which_little_is_judged(cli: Cli, files: Files, command: str) -> None:
    files.judgments.write_text("q1\ta\t2\nq1\tb\t0\nq2\td\t2\nq2\te\t0\n")
    # Six of twelve: of one system all, of another half, of the third nothing.
    said = cli(command, files.runs, "-j", files.judgments, "-m", "P@2")
    assert "are judged" not in said.err
    files.judgments.write_text("q1\ta\t2\nq1\tnone\t0\nq2\td\t1\n")
    said = cli(command, files.runs, "-j", files.judgments, "-m", "P@2")
    assert (
        "note: 3 of 12 retrieved documents among the first 2 are judged, the others count as not relevant: "
        "earmark rank predicts them\n"
    ) in said.err
    for measure in ("AP", "bpref", "infAP", "Judged@2"):
        assert "are judged" not in cli(command, files.runs, "-j", files.judgments, "-m", measure).err


@pytest.mark.parametrize("text", ["query,document,gain\rq1,a,1\rq1,b,0\r", "q1\ta\t1\rq1\tb\t0\r"])
def test_lines_that_end_in_a_carriage_return_alone(cli: Cli, files: Files, text: str) -> None:
    old = files.folder / ("old.csv" if "," in text else "old.tsv")
    old.write_bytes(text.encode())
    for arguments in ((files.runs, "-j", old), (old, "-j", files.judgments)):
        said = cli("evaluate", *arguments)
        assert (said.code, said.err) == (
            2,
            f"earmark: {old}: expected lines that end in LF or CRLF, got CR alone "
            "(save the file again with other line endings)\n",
        )


def test_a_carriage_return_at_the_end_of_the_only_line_is_white_space(tmp_path: Path) -> None:
    path = tmp_path / "one.tsv"
    path.write_bytes(b"q\td\t1\r")
    assert len(earmark.read_judgments(path)) == 1


def test_files_that_hold_no_text(cli: Cli, files: Files) -> None:
    matrix, sound, wide = (files.folder / name for name in ("matrix.npy", "sound.wav", "wide.tsv"))
    np.save(matrix, np.eye(3))
    sound.write_bytes(b"RIFF\x24\0\0\0WAVEfmt \xff\xfe")
    wide.write_bytes("q1\ta\t1\n".encode("utf-16"))
    expected = {
        matrix: "got a NumPy file (a matrix? earmark runs from-matrix makes runs of a .npy file)",
        sound: "expected a text file, got binary data\n",
        wide: "--encoding utf-16",
    }
    for path, message in expected.items():
        for arguments in ((path, "-j", files.judgments), (files.runs, "-j", path)):
            said = cli("evaluate", *arguments)
            assert (said.code, one_line(said.err)) == (2, True)
            assert message in said.err
            assert "latin-1" not in said.err
    assert len(earmark.read_judgments(wide, encoding="utf-16")) == 1


def test_writing_to_a_folder_names_the_folder_and_nothing_else(cli: Cli, files: Files) -> None:
    folder = files.folder / "out.csv"
    folder.mkdir()
    for command in ("next", "report"):
        said = cli(command, files.runs, "-j", files.judgments, "-m", "AG@2", "-o", folder)
        assert (said.code, said.err) == (
            2,
            f"earmark: {folder}: expected a file that can be written, got Is a directory\n",
        )
        gone = files.folder / "gone" / "x.csv"
        said = cli(command, files.runs, "-j", files.judgments, "-m", "AG@2", "-o", gone)
        assert (said.code, said.err) == (
            2,
            f"earmark: {gone}: expected an existing folder to write to, got '{gone.parent}'\n",
        )


def test_errors_about_a_matrix_name_options(cli: Cli, tmp_path: Path) -> None:
    square, wide, ids = (tmp_path / name for name in ("square.npy", "wide.npy", "ids.txt"))
    np.save(square, 1 - np.eye(5))
    np.save(wide, np.ones((2, 5)))
    ids.write_text("a\nb\nc\nd\ne\n")
    said = cli("runs", "from-matrix", square, "-k", 2)
    assert (said.code, "--ids FILE" in said.err, "an ids file" in said.err) == (2, True, False)
    said = cli("runs", "from-matrix", wide, "--ids", ids, "-k", 2)
    assert (said.code, "give the ids of the rows apart, as --queries FILE" in said.err) == (2, True)
    said = cli("runs", "from-matrix", square, "--ids", ids, "-k", 2, "--kind", "similarity")
    assert said.code == 2
    assert "say --kind distance, or switch this check off (--no-check-kind)" in said.err
    assert (
        cli("runs", "from-matrix", square, "--ids", ids, "-k", 2, "--kind", "similarity", "--no-check-kind").code == 0
    )


def test_a_path_in_place_of_runs_or_judgments(files: Files) -> None:
    runs = earmark.read_runs(files.runs)
    with pytest.raises(ParameterError, match=r"read it first: earmark.read_runs\('runs.tsv'\)"):
        earmark.rank("runs.tsv")
    with pytest.raises(ParameterError, match=r"is a path, not runs: read it first: earmark.read_runs"):
        earmark.evaluate([files.runs], earmark.read_judgments(files.judgments), ["AG@2"])
    with pytest.raises(ParameterError, match=r"read it first: earmark.read_judgments\("):
        earmark.evaluate(runs, files.judgments, ["AG@2"])
    with pytest.raises(ParameterError, match=r"read it first: earmark.read_judgments\("):
        earmark.rank(runs, "judgments.tsv")
    with pytest.raises(ParameterError, match=r"read it first: earmark.read_metadata\("):
        earmark.rank(runs, metadata="metadata.tsv")


def test_sounds_that_cannot_be_read_are_all_named(cli: Cli, tmp_path: Path) -> None:
    sounds = tmp_path / "sounds"
    sounds.mkdir()
    noise = np.random.default_rng(0).normal(scale=0.1, size=(2, 22_050))
    for name, samples in zip(("one", "two"), noise, strict=True):
        soundfile.write(sounds / f"{name}.wav", samples, 22_050)
    (sounds / "phone.m4a").write_bytes(b"x")
    table = tmp_path / "content.csv"
    said = cli("features", "--audio", sounds, "-o", table)
    assert said.code == 0
    assert "note: left out 1 file (phone.m4a): such sound cannot be read" in said.err
    assert table.read_text().startswith("document,mfcc0_mean,")
    for name in ("bad", "worse"):
        (sounds / f"{name}.wav").write_bytes(b"no sound")
    said = cli("features", "--audio", sounds)
    assert (said.code, one_line(said.err)) == (2, True)
    assert f"{sounds}: expected sound files, got 2 files that cannot be read: bad.wav (" in said.err
    assert said.err.count("bad.wav") == said.err.count("worse.wav") == said.err.count(str(sounds)) == 1


def test_repeated_answers_are_refused_or_one_of_them_is_taken(cli: Cli, files: Files) -> None:
    path = files.folder / "again.csv"
    path.write_text("query,a,b,assessor,choice\nq1,a,b,w,a\nq1,a,b,v,a\nq1,b,a,w,a\n")
    refused = cli("crowd", "aggregate", path)
    assert refused.code == 2
    assert f"{path}:4: expected one answer per question and assessor" in refused.err
    assert "--repeated first or last takes one of the answers" in refused.err
    chosen = {}
    for rule in ("first", "last"):
        said = cli("crowd", "aggregate", path, "--repeated", rule)
        assert f"note: 1 answer left out: the same worker answered again, the {rule} counts\n" in said.err
        chosen[rule] = said.rows[0]["choice"]
    assert chosen == {"first": "a", "last": "same"}
    # Over several files, in their order; traps may be answered again.
    other = files.folder / "other.csv"
    other.write_text("query,a,b,assessor,choice,trap\nq1,a,b,v,b,\nq1,a,e,v,a,a\nq1,a,e,v,a,a\n")
    one = files.folder / "one.csv"
    one.write_text("query,a,b,assessor,choice\nq1,a,b,w,b\nq1,a,b,v,a\n")
    assert cli("crowd", "aggregate", one, other, "--repeated", "last").rows[0]["choice"] == "b"
    assert "2 answers to traps left out" in cli("crowd", "aggregate", one, other, "--repeated", "first").err
    for command in (("crowd", "groups", path), ("preferences", "precision", files.runs, "--preferences", path)):
        assert cli(*command).code == 2
        assert cli(*command, "--repeated", "first").code == 0


def test_results_answered_again(cli: Cli, files: Files) -> None:
    path, out = files.folder / "results.csv", files.folder / "out.csv"
    head = "Input.query,Input.left,Input.right,Answer.choice,WorkerId\n"
    path.write_text(head + "q,a,b,left,w\nq,a,b,right,w\n")
    for rule, kept in (("first", "a"), ("last", "b")):
        assert cli("crowd", "import", path, "-o", out, "--repeated", rule).code == 0
        assert out.read_text().splitlines()[1].startswith(f"q,a,b,w,{kept}")
    refused = cli("crowd", "import", path, "-o", out, "--repeated", "refuse")
    assert refused.code == 2
    assert f"{path}:3: expected one answer per question and person, got another of 'w' on 'a' and 'b'" in refused.err


def test_words_with_blanks_need_quotes(cli: Cli, files: Files) -> None:
    path, out = files.folder / "results.csv", files.folder / "out.csv"
    path.write_text("Input.query,Input.left,Input.right,Answer.choice,WorkerId\nq,a,b,the first song,w\n")
    told = cli("crowd", "import", path, "-o", out).err
    assert "for example --choice 'the first song=a')" in told
    assert cli("crowd", "import", path, "-o", out, "--choice", "the first song=a").code == 0
    # As a shell passes it on without quotes.
    for cut in (("--choice", "the", "first", "song=a"), ("--choice", "the", "first song=a")):
        said = cli("crowd", "import", path, "-o", out, *cut)
        assert said.code == 2
        assert "a value with blanks needs quotes, as in --choice 'the first song=a'" in said.err
    assert (
        "words with blanks need quotes: --choice 'the …=a'"
        in cli("crowd", "import", path, "-o", out, "--choice", "the").err
    )


def test_teams_that_are_unknown_are_named(cli: Cli, files: Files) -> None:
    given = ("fit", files.runs, "-j", files.judgments, "-o", files.folder / "model.json", "--feature", "pTEAM")
    said = cli(*given)
    assert said.code == 0
    assert (
        "note: teams are unknown, so pTEAM takes every system for a team of its own: name them with --teams" in said.err
    )
    assert "--teams" not in cli(*given, "--teams", files.teams).err
    both = cli(*given, "--feature", "pSYS")
    assert both.code == 2
    assert "'pTEAM' is the same as 'pSYS', because teams are unknown: name them with --teams" in both.err
    assert "teams are unknown" not in cli("fit", files.runs, "-j", files.judgments, "-o", files.folder / "m.json").err


def test_three_pairs_do_not_prove_that_systems_are_alike(cli: Cli, tmp_path: Path) -> None:
    runs, path = tmp_path / "runs.tsv", tmp_path / "three.csv"
    lists = {"A": "xyz", "B": "xzy"}
    rows = [f"{name}\tq{q}\t{document}" for name, order in lists.items() for q in range(3) for document in order]
    runs.write_text("\n".join(rows) + "\n")
    path.write_text("query,a,b,assessor,choice\n" + "".join(f"q{q},x,y,w,a\n" for q in range(3)))
    said = cli("preferences", "precision", runs, "--preferences", path, "-k", 3)
    for row in said.rows:
        assert row["low"] is None or row["high"] - row["low"] > 0.5
    (test,) = [row for row in said.rows if row.get("test") == "fisher"]
    assert (test["difference"], test["clustered_p_value"]) == (0.0, 1.0)
    assert "A and B order all of their pairs alike" in said.err


def test_the_size_of_a_collection_of_prototypes_is_a_column(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "prototypes.csv"
    path.write_text("set,order,ranks,relevant,length\ns,1,1 2,3,9\ns,2,5 6,3,9\n")
    said = cli("audition", path, "-m", "fallout@5")
    assert said.code == 2
    assert said.err == (
        "earmark: fallout@5 counts documents that were not retrieved: say how many there are in the column "
        "'collection' of the answers\n"
    )
    assert "--collection-size" not in cli("audition", path).err
