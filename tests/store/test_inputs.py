import gzip
import os
import shutil

import numpy as np
import pytest

from earmark.campaign.pairs.campaign import PairCampaign
from earmark.errors import InputError, ParameterError
from earmark.store.inputs import (
    Removed,
    add_file,
    add_inputs,
    added_systems,
    build_pair_problem,
    build_problem,
    check_files,
    fill_hashes,
    hash_file,
    read_lists,
)
from earmark.store.settings import Estimates, InputFile, Judging, Settings

SYSTEMS, QUERIES, DOCUMENTS = ("A", "B", "C"), ("q1", "q2", "q3"), [f"d{number}" for number in range(12)]


def results(seed=0):
    """Ranked lists of six documents, as rows."""
    rng = np.random.default_rng(seed)
    return [
        (system, query, DOCUMENTS[document], rank)
        for system in SYSTEMS
        for query in QUERIES
        for rank, document in enumerate(rng.permutation(len(DOCUMENTS))[:6], start=1)
    ]


def write_runs(folder, rows, systems=SYSTEMS):
    """One TREC run for every system."""
    folder.mkdir(exist_ok=True)
    for system in systems:
        lines = [f"{q} Q0 {d} {rank} {100 - rank} {s}\n" for s, q, d, rank in rows if s == system]
        if lines:
            (folder / f"{system}.run").write_text("".join(lines), encoding="utf-8")
    return [folder / f"{system}.run" for system in systems if (folder / f"{system}.run").exists()]


def write_metadata(path):
    rows = [f"{name},artist{place % 3},genre{place % 2}\n" for place, name in enumerate(DOCUMENTS)]
    path.write_text("document,artist,genre\n" + "".join(rows), encoding="utf-8")
    return path


def make_study(folder, runs, *, copy=True, files=None, kind="grade", estimates=None, judging=None, **how):
    folder.mkdir(exist_ok=True)
    graded = kind == "grade"
    settings = Settings(
        id="0" * 32,
        name="Study",
        kind=kind,
        inputs=add_inputs(folder, runs=runs, copy=copy, files=files, **how),
        judging=Judging(**({"scale": "broad"} if graded else {}) | (judging or {})),
        estimates=Estimates(**({"measure": "AG@3"} if graded else {}) | (estimates or {})),
    )
    settings.write(folder / "campaign.toml")
    return settings


@pytest.fixture
def runs(tmp_path):
    return write_runs(tmp_path / "runs", results())


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_file_is_copied_with_its_hash(tmp_path):
    path = tmp_path / "a.run"
    path.write_bytes(b"hello")
    added = add_file(tmp_path / "study", path)
    # sha256sum of the five letters
    assert added == InputFile("inputs/a.run", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    assert (tmp_path / "study/inputs/a.run").read_bytes() == b"hello"
    assert [one.name for one in (tmp_path / "study/inputs").iterdir()] == ["a.run"]


def test_a_reference_is_an_absolute_path(tmp_path, monkeypatch):
    (tmp_path / "a.run").write_bytes(b"hello")
    monkeypatch.chdir(tmp_path)
    added = add_file("study", "a.run", copy=False)
    assert added.file == (tmp_path / "a.run").resolve().as_posix()
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(("name", "second", "third"), [
    ("a.run", "a-2.run", "a-3.run"),
    ("a.run.gz", "a-2.run.gz", "a-3.run.gz"),
    ("v1.2.csv", "v1.2-2.csv", "v1.2-3.csv"),
    ("runs", "runs-2", "runs-3"),
    ("a.GZ", "a-2.GZ", "a-3.GZ"),
])  # fmt: skip
def test_files_of_the_same_name(tmp_path, name, second, third):
    study, added = tmp_path / "study", []
    for content in (b"1", b"2", b"3", b"2"):
        path = tmp_path / name
        path.write_bytes(content)
        added.append(add_file(study, path).file)
    assert added == [f"inputs/{one}" for one in (name, second, third, second)]
    assert [(study / one).read_bytes() for one in added] == [b"1", b"2", b"3", b"2"]


def test_a_gzipped_run_stays_gzipped(tmp_path, runs):
    packed = tmp_path / "A.run.gz"
    packed.write_bytes(gzip.compress(runs[0].read_bytes()))
    study = tmp_path / "study"
    settings = make_study(study, [packed, *runs[1:]])
    assert (study / "inputs/A.run.gz").read_bytes() == packed.read_bytes()
    assert build_problem(study, settings).collection.systems == SYSTEMS


def test_nothing_is_copied_where_a_file_is_missing(tmp_path, runs):
    with pytest.raises(InputError, match="nothing there"):
        add_inputs(tmp_path / "study", runs=runs, files={"metadata": tmp_path / "none.csv"})
    assert not (tmp_path / "study").exists()


def test_the_ids_of_content_come_along(tmp_path, runs):
    np.save(tmp_path / "content.npy", np.random.default_rng(0).normal(size=(12, 3)))
    (tmp_path / "content.ids.txt").write_text("\n".join(DOCUMENTS), encoding="utf-8")
    study = tmp_path / "study"
    (study / "inputs").mkdir(parents=True)
    (study / "inputs/content.npy").write_text("another file of that name", encoding="utf-8")
    settings = make_study(study, runs, files={"content": tmp_path / "content.npy"})
    assert settings.inputs.content.file == "inputs/content-2.npy"
    assert settings.inputs.content_ids.file == "inputs/content.ids.txt"
    problem = build_problem(study, settings)
    assert problem.setting.content is not None
    assert problem.setting.content.documents == tuple(DOCUMENTS)


def test_hashes_follow_what_is_written(tmp_path):
    path = tmp_path / "a"
    for content in (b"1", b"2", b"3"):
        path.write_bytes(content)
        # As if the clock of the file system were coarse.
        os.utime(path, ns=(10**18, 10**18))
        assert hash_file(path) == hash_file(path)
        shutil.copyfile(path, tmp_path / "fresh")
        assert hash_file(path) == hash_file(tmp_path / "fresh")


def test_a_file_that_was_hashed_is_not_read_again(tmp_path, monkeypatch):
    import earmark.store.inputs as module

    path = tmp_path / "a"
    path.write_bytes(b"1")
    os.utime(path, ns=(10**18, 10**18))
    known = hash_file(path)
    monkeypatch.setattr(module, "_hash", lambda path: "read again")
    assert hash_file(path) == known
    path.write_bytes(b"2")
    assert hash_file(path) == "read again"


def test_a_changed_run_is_noticed(tmp_path, runs):
    study = tmp_path / "study"
    settings = make_study(study, runs)
    check_files(study, settings)
    with (study / "inputs/B.run").open("a", encoding="utf-8") as file:
        file.write("q1 Q0 d99 7 1 B\n")
    rows = (study / "campaign.toml").read_text("utf-8").split("\n")
    for use in (check_files, build_problem, read_lists):
        with pytest.raises(InputError, match=r"expected 'inputs/B\.run' as it was, .*the file has changed") as error:
            use(study, settings)
        assert error.value.path == str(study / "campaign.toml")
        assert "inputs/B.run" in rows[error.value.line - 1]
        assert error.value.hint == "bring the old file back"


def test_changed_metadata_are_noticed_and_may_be_meant(tmp_path, runs):
    study, metadata = tmp_path / "study", write_metadata(tmp_path / "metadata.csv")
    settings = make_study(study, runs, files={"metadata": metadata})
    with (study / "inputs/metadata.csv").open("a", encoding="utf-8") as file:
        file.write("d99,x,y\n")
    with pytest.raises(InputError, match="delete its sha256") as error:
        check_files(study, settings)
    rows = (study / "campaign.toml").read_text("utf-8").split("\n")
    assert rows[error.value.line - 1].startswith("metadata = ")
    meant = settings.changed(**{"inputs.metadata": "inputs/metadata.csv"})
    filled = fill_hashes(study, meant)
    assert filled.inputs.metadata.sha256 == hash_file(study / "inputs/metadata.csv")
    assert [one.setting for one in Settings.differences(settings, filled)] == ["inputs.metadata"]
    check_files(study, filled)


def test_a_missing_file_is_named_with_its_line(tmp_path, runs):
    study = tmp_path / "study"
    settings = make_study(study, runs)
    (study / "inputs/C.run").unlink()
    with pytest.raises(InputError, match=r"expected the file 'inputs/C\.run', got nothing there") as error:
        check_files(study, settings)
    rows = (study / "campaign.toml").read_text("utf-8").split("\n")
    assert "inputs/C.run" in rows[error.value.line - 1]


def test_a_file_that_a_person_added_gets_its_hash(tmp_path, runs):
    study = tmp_path / "study"
    settings = make_study(study, runs[:2])
    shutil.copyfile(runs[2], study / "late.run")
    late = settings.changed(**{"inputs.runs": (*settings.inputs.runs, "late.run")})
    assert fill_hashes(study, settings) is settings
    filled = fill_hashes(study, late)
    assert filled.inputs.runs[2] == InputFile("late.run", hash_file(runs[2]))
    assert added_systems(study, settings, filled) == {"late.run": ("C",)}
    assert added_systems(study, settings, settings) == {}
    gone = settings.changed(**{"inputs.runs": (*settings.inputs.runs, "none.run")})
    with pytest.raises(InputError, match=r"the file 'none\.run'"):
        fill_hashes(study, gone)


def test_a_late_run_cannot_rename_earlier_systems(tmp_path, runs):
    study = tmp_path / "study"
    settings = make_study(study, [runs[0].rename(tmp_path / "first.run"), *runs[1:]])
    assert read_lists(study, settings).systems == SYSTEMS
    other = tmp_path / "other.run"
    other.write_text("q1 Q0 d1 1 3 A\n", encoding="utf-8")
    late = settings.changed(**{"inputs.runs": (*settings.inputs.runs, add_file(study, other))})
    late.write(study / "campaign.toml")
    with pytest.raises(InputError, match=r"another system 'A' in 'inputs/other\.run'") as error:
        added_systems(study, settings, late)
    assert "other.run" in (study / "campaign.toml").read_text("utf-8").split("\n")[error.value.line - 1]


# ---- problems --------------------------------------------------------------------------------------------------------


def test_the_problem_is_that_of_the_files(tmp_path, runs):
    from earmark.campaign.files import KnownFiles, read_campaign

    study, metadata = tmp_path / "study", write_metadata(tmp_path / "metadata.csv")
    wanted = {"stop": "min:0.9", "audit": 0.2, "seed": 7, "policy": "variance:top", "aggregation": "median"}
    settings = make_study(study, runs, files={"metadata": metadata}, estimates=wanted)
    expected = read_campaign(runs, scale="broad", measure="AG@3", known=KnownFiles(metadata), **wanted).problem
    problem = build_problem(study, settings)
    assert problem.digest == expected.digest
    assert build_problem(study, settings).digest == problem.digest
    assert build_problem(study, Settings.read(study / "campaign.toml")).digest == problem.digest
    assert problem.notes == expected.notes
    referenced = make_study(tmp_path / "other", runs, copy=False, files={"metadata": metadata}, estimates=wanted)
    assert build_problem(tmp_path / "other", referenced).digest == problem.digest


def test_every_setting_of_estimates_reaches_the_problem(tmp_path, runs):
    study = tmp_path / "study"
    digests = [build_problem(study, make_study(study, runs)).digest]
    before = Settings.read(study / "campaign.toml")
    for setting, value in {
        "estimates.measure": "AG@2",
        "estimates.predictor": "uniform",
        "estimates.policy": "mtc",
        "estimates.stop": "budget:5",
        "estimates.margin": 0.1,
        "estimates.inference": "design",
        "estimates.target": "population",
        "estimates.anytime": True,
        "estimates.whole_queries": True,
        "estimates.audit": 0.1,
        "estimates.level": 0.9,
        "estimates.samples": 50,
        "estimates.seed": 3,
        "estimates.aggregation": "majority",
        "judging.scale": "fine",
    }.items():
        digests.append(build_problem(study, before.changed(**{setting: value})).digest)
    assert len(set(digests)) == len(digests)


def test_questions_query_by_query(tmp_path, runs):
    study = tmp_path / "study"
    settings = make_study(study, runs, judging={"group_by_query": True})
    assert build_problem(study, settings).policy.group_by_query
    top = build_problem(study, settings.changed(**{"estimates.policy": "variance:top"})).policy
    assert (top.aim, top.group_by_query) == ("top", True)
    design = build_problem(study, settings.changed(**{"estimates.inference": "design"}))
    assert str(design.policy) == "proportional"


def test_a_folder_that_moves_makes_the_same_problem(tmp_path):
    # Nothing but their files tells these systems apart, not even the names without their endings.
    (tmp_path / "a.csv").write_text("query,document,system\nq1,d1,X\nq1,d2,X\n", encoding="utf-8")
    (tmp_path / "a.run").write_text("q1 Q0 d2 1 2 X\nq1 Q0 d1 2 1 X\n", encoding="utf-8")
    study, moved = tmp_path / "study", tmp_path / "moved"
    settings = make_study(study, [tmp_path / "a.csv", tmp_path / "a.run"])
    problem = build_problem(study, settings)
    assert problem.collection.systems == ("inputs/a.csv", "inputs/a.run")
    shutil.move(study, moved)
    assert build_problem(moved, settings).digest == problem.digest


REMOVED = [
    Removed(systems=frozenset({"B"})),
    Removed(queries=frozenset({"q2"})),
    Removed(documents=frozenset({"d1", "d5"})),
    Removed(items=frozenset({("q1", "d3"), ("q3", "d0"), ("q3", "d4")})),
    Removed(frozenset({"A"}), frozenset({"q3"}), frozenset({"d7"}), frozenset({("q1", "d2")})),
    Removed(frozenset({"none"}), frozenset({"none"}), frozenset({"none"}), frozenset({("q1", "none")})),
]


def left(removed):
    return [
        (system, query, document, rank)
        for system, query, document, rank in results()
        if system not in removed.systems and not removed.has(query, document)
    ]


@pytest.mark.parametrize("removed", REMOVED)
def test_a_removal_is_the_same_as_files_without_it(tmp_path, runs, removed):
    metadata = write_metadata(tmp_path / "metadata.csv")
    settings = make_study(tmp_path / "study", runs, files={"metadata": metadata})
    fewer = make_study(tmp_path / "fewer", write_runs(tmp_path / "left", left(removed)), files={"metadata": metadata})
    problem = build_problem(tmp_path / "study", settings, removed)
    assert problem.digest == build_problem(tmp_path / "fewer", fewer).digest
    changes = len(left(removed)) < len(results())
    assert (problem.digest != build_problem(tmp_path / "study", settings).digest) == changes


def test_a_campaign_with_nothing_left(tmp_path, runs):
    settings = make_study(tmp_path / "study", runs)
    with pytest.raises(InputError, match="nothing is left"):
        build_problem(tmp_path / "study", settings, Removed(queries=frozenset(QUERIES)))


def test_the_version_of_the_predictor_is_pinned(tmp_path, runs):
    study = tmp_path / "study"
    settings = make_study(study, runs)
    version = build_problem(study, settings).predictor_version
    pinned = settings.changed(**{"estimates.predictor_version": version})
    assert build_problem(study, pinned).predictor_version == version
    other = settings.changed(**{"estimates.predictor_version": "hierarchical 0"})
    other.write(study / "campaign.toml")
    with pytest.raises(
        InputError, match=r"'hierarchical 0', got .*install the version .*or write predictor_v"
    ) as error:
        build_problem(study, other)
    rows = (study / "campaign.toml").read_text("utf-8").split("\n")
    assert rows[error.value.line - 1] == 'predictor_version = "hierarchical 0"'


def test_predictions_of_another_model(tmp_path, runs):
    from earmark.campaign.problem import Problem
    from earmark.data.readers import read_runs
    from earmark.data.scales import BROAD

    predictions = tmp_path / "predictions.csv"
    rows = [f"{query},{document},{place / 9}" for query in QUERIES for place, document in enumerate(DOCUMENTS)]
    predictions.write_text("query,document,score\n" + "\n".join(rows), encoding="utf-8")
    study = tmp_path / "study"
    settings = make_study(study, runs, files={"predictions": predictions}, estimates={"predictor": "external"})
    problem = build_problem(study, settings)
    expected = Problem.build(
        read_runs(runs), scale=BROAD, measure="AG@3", predictor=f"external:{predictions}", audit=0.0
    )
    assert problem.digest == expected.digest
    # The version holds the values of the items, of which some may leave; the file is still the same.
    pinned = settings.changed(**{"estimates.predictor_version": problem.predictor_version})
    fewer = build_problem(study, pinned, Removed(documents=frozenset({"d1"})))
    assert fewer.predictor_version != problem.predictor_version
    (study / "inputs/predictions.csv").write_text("query,document,score\nq1,d1,3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"predictions\.csv' as it was"):
        build_problem(study, pinned)


def test_metadata_of_other_documents(tmp_path, runs):
    metadata = tmp_path / "metadata.csv"
    metadata.write_text("document,artist,genre\nx1,a,b\n", encoding="utf-8")
    settings = make_study(tmp_path / "study", runs, files={"metadata": metadata})
    with pytest.raises(InputError, match="metadata of none of them") as error:
        build_problem(tmp_path / "study", settings)
    assert error.value.path == str(tmp_path / "study/inputs/metadata.csv")


def test_settings_that_do_not_fit_the_files(tmp_path, runs):
    study, metadata = tmp_path / "study", write_metadata(tmp_path / "metadata.csv")
    settings = make_study(study, runs, files={"metadata": metadata}, artist="performer")
    with pytest.raises(InputError, match="performer"):
        build_problem(study, settings)


def test_kinds_are_not_mixed_up(tmp_path, runs):
    settings = make_study(tmp_path / "study", runs)
    with pytest.raises(ParameterError, match="of kind prefer, and 'Study' is of kind grade"):
        build_pair_problem(tmp_path / "study", settings)
    pairs = make_study(tmp_path / "pairs", runs, kind="prefer")
    with pytest.raises(ParameterError, match="of kind grade, and 'Study' is of kind prefer"):
        build_problem(tmp_path / "pairs", pairs)


# ---- pairs -----------------------------------------------------------------------------------------------------------


def pairs_of(problem):
    table = problem.design.pairs
    rows = zip(table.query_index, table.first_index, table.second_index, strict=True)
    return {(table.queries[q], table.documents[a], table.documents[b]) for q, a, b in rows}


def test_a_problem_of_pairs(tmp_path, runs):
    wanted = {"depth": 3, "stop": "budget:5", "level": 0.9, "seed": 4, "policy": "random"}
    settings = make_study(tmp_path / "study", runs, kind="prefer", estimates=wanted, judging={"judgments_per_item": 5})
    problem = build_pair_problem(tmp_path / "study", settings)
    assert (problem.needed, problem.policy, str(problem.stop), problem.level, problem.seed) == (
        5,
        "random",
        "budget:5",
        0.9,
        4,
    )
    pools = {}
    for _, query, document, rank in results():
        if rank <= 3:
            pools.setdefault(query, set()).add(document)
    assert len(pairs_of(problem)) == sum(len(pool) * (len(pool) - 1) // 2 for pool in pools.values())
    assert PairCampaign.begin(problem).propose(2).items.size == 2
    again = build_pair_problem(tmp_path / "study", settings)
    assert np.array_equal(again.design.order, problem.design.order)


@pytest.mark.parametrize("removed", REMOVED)
def test_removals_from_pairs(tmp_path, runs, removed):
    settings = make_study(tmp_path / "study", runs, kind="prefer", estimates={"depth": 4})
    fewer = make_study(
        tmp_path / "fewer", write_runs(tmp_path / "left", left(removed)), kind="prefer", estimates={"depth": 4}
    )
    found = build_pair_problem(tmp_path / "study", settings, removed).design
    expected = build_pair_problem(tmp_path / "fewer", fewer).design
    assert found.systems == expected.systems
    assert found.pairs.documents == expected.pairs.documents
    assert np.array_equal(found.order, expected.order)


def test_candidates_of_a_file_without_what_was_removed(tmp_path, runs):
    candidates = tmp_path / "pairs.csv"
    rows = [(query, a, b) for query in QUERIES for a, b in (("d1", "d2"), ("d3", "d4"), ("d5", "d6"), ("d7", "d8"))]
    text = "".join(f"{number},{query},{a},{b},3\n" for number, (query, a, b) in enumerate(rows))
    candidates.write_text("question,query,a,b,assessors\n" + text, encoding="utf-8")
    study = tmp_path / "study"
    settings = make_study(study, runs, kind="prefer", files={"candidates": candidates}, estimates={"depth": 6})
    assert len(pairs_of(build_pair_problem(study, settings))) == 12
    removed = Removed(queries=frozenset({"q3"}), documents=frozenset({"d4"}), items=frozenset({("q1", "d6")}))
    assert pairs_of(build_pair_problem(study, settings, removed)) == {
        (query, a, b)
        for query, a, b in rows
        if query != "q3" and "d4" not in (a, b) and not (query == "q1" and "d6" in (a, b))
    }
