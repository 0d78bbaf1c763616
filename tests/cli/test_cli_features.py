"""``earmark features`` and ``earmark fit``: tables, glossaries, models, and training in the library."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from called import Cli, Files

from earmark.beliefs.beliefs import item_gains
from earmark.data.collection import Collection
from earmark.data.scales import BROAD, FINE
from earmark.errors import ParameterError
from earmark.predictors.base import Setting
from earmark.predictors.ordinal_models import NamedModel
from earmark.predictors.ordinal_regression import fit_ordinal
from earmark.predictors.ordinal_training import PastCollection, train, with_systems
from earmark.predictors.tree_learners import LEARNERS, Boosting
from earmark.simulation import synthetic_collection
from made_up import write_made_up


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_made_up(folder)
    return folder


@pytest.fixture
def past() -> PastCollection:
    made = synthetic_collection(np.random.default_rng(2), systems=5, queries=12, documents=200, scale=BROAD)
    collection = Collection.from_runs(made.runs, metadata=made.metadata)
    return PastCollection(Setting(collection, BROAD), item_gains(collection, made.judgments))


def fit_command(folder: Path, *arguments: object) -> tuple[object, ...]:
    files = (folder / "runs.tsv", "-j", folder / "judgments.tsv", "--metadata", folder / "metadata.csv")
    return ("fit", *files, *arguments)


def test_a_row_per_item_and_a_field_per_feature(cli: Cli, files: Files) -> None:
    said = cli("features", files.runs, "--metadata", files.metadata, "--teams", files.teams)
    assert len(said.rows) == 16
    first = said.rows[0]
    assert list(first)[:4] == ["query", "document", "pSYS", "fSYS"]
    # Document a of q1 was retrieved by good and fair, both of team one, at ranks 1 and 2.
    assert (first["query"], first["document"], first["aRANK"]) == ("q1", "a", 1.5)
    assert (first["pSYS"], first["pTEAM"]) == (pytest.approx(2 / 3), 0.5)
    # Nothing is known about x.
    assert next(row for row in said.rows if row["document"] == "x")["pART"] is None
    assert "as the metadata do not know enough these features drop out: sART, sGEN" in said.err


def test_without_metadata_features_drop_out(cli: Cli, files: Files) -> None:
    said = cli("features", files.runs)
    assert list(said.rows[0]) == ["query", "document", "pSYS", "fSYS", "pTEAM", "OV", "aRANK", "nRES"]
    assert "without --metadata these features drop out: sART, pART" in said.err
    assert "●" not in cli("features", files.runs, "--format", "table").out


def test_chosen_features_and_judgments(cli: Cli, files: Files) -> None:
    chosen = ("--feature", "aSYS", "--feature", "pSYS:aRANK")
    rows = cli("features", files.runs, "-j", files.judgments, *chosen).rows
    assert list(rows[0]) == ["query", "document", "aSYS", "pSYS:aRANK"]
    assert rows[0]["pSYS:aRANK"] == pytest.approx(1.0)
    said = cli("features", files.runs, "--feature", "aSYS")
    assert (said.code, said.out) == (2, "")
    assert "'aSYS' rests on judgments" in said.err
    said = cli("features", files.runs, "--feature", "pSIS")
    assert said.code == 2
    assert "there is no feature 'pSIS': did you mean 'pSYS'?" in said.err
    said = cli("features", files.runs, "--feature", "pGEN")
    assert said.code == 2
    assert "the feature 'pGEN' needs to know the genre: there is no metadata" in said.err


def test_names_and_glossary(cli: Cli, files: Files) -> None:
    names = cli("features", files.runs, "--names").rows
    assert names[0] == {"name": "pSYS", "kind": "output"}
    assert {"name": "aSYS", "kind": "judgment"} in names
    described = cli("features", files.runs, "--describe").rows
    assert [row["name"] for row in described] == [row["name"] for row in names]
    assert list(described[0]) == ["name", "kind", "summary", "formula", "source"]
    assert (
        "share of the systems that retrieved d for q"
        in cli("features", files.runs, "--describe", "--format", "table").out
    )


def test_other_columns_make_features_too(cli: Cli, files: Files) -> None:
    files.metadata.write_text("document\tsinger\tdecade\n" + "".join(f"{name}\tS\t90s\n" for name in "abcdefg"))
    columns = ("--metadata", files.metadata, "--artist-column", "singer", "--attribute", "decade")
    row = cli("features", files.runs, *columns).rows[0]
    assert row["pDECADE"] == row["pART"] == pytest.approx(7 / 9)


def test_fit_is_the_regression_of_levels_on_features(cli: Cli, demo: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    chosen = ("--feature", "pTEAM", "--feature", "pART")
    rows = cli(*fit_command(demo, *chosen, "-o", model)).rows
    files = (demo / "runs.tsv", "--metadata", demo / "metadata.csv")
    table = cli("features", *files, *chosen).rows
    judged = [line.split("\t") for line in (demo / "judgments.tsv").read_text().splitlines()]
    gains = {(query, document): float(gain) for query, document, gain in judged}
    # BIAS bins the Fine scale by round(g / 11); halves do not occur with whole numbers.
    levels = [min(round(gains[row["query"], row["document"]] / 11), 9) for row in table]
    expected = fit_ordinal([[row["pTEAM"], row["pART"]] for row in table], np.array(levels), n_levels=10)
    found = {row["name"]: row for row in rows if row["kind"] == "coefficient"}
    assert list(found) == ["pTEAM", "pART"]
    assert [row["estimate"] for row in found.values()] == pytest.approx(expected.coefficients.tolist())
    assert [row["standard_error"] for row in found.values()] == pytest.approx(expected.coefficient_errors.tolist())
    intercepts = [row["estimate"] for row in rows if row["kind"] == "intercept"]
    assert intercepts == pytest.approx(expected.intercepts.tolist())
    summary = rows[-1]
    assert (summary["kind"], summary["collections"], summary["rows"]) == ("summary", 1, len(table))
    assert summary["nagelkerke_r2"] == pytest.approx(expected.nagelkerke_r2)
    saved = NamedModel.load(model)
    assert (saved.name, saved.features) == ("model", ("pTEAM", "pART"))
    assert saved.coefficients == tuple(row["estimate"] for row in found.values())


def test_a_fitted_model_tells_systems_apart_without_judgments(cli: Cli, demo: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    assert cli(*fit_command(demo, "-o", model)).code == 0
    files = (demo / "runs.tsv", "--metadata", demo / "metadata.csv", "--format", "jsonl")
    said = cli("rank", *files, "--predictor", "ordinal", "--model", model)
    assert said.rows[-1]["mean_confidence"] > 0.9
    assert "every order is as likely" not in said.err


def test_fit_shows_a_table(cli: Cli, demo: Path, tmp_path: Path) -> None:
    said = cli(*fit_command(demo, "--eliminate", "-o", tmp_path / "m.json", "--format", "table"))
    assert "pART" in said.out
    assert "R² " in said.out
    assert "fitted on 1,219 judged items of 1 collection" in said.out
    assert "was taken out (p" in said.err
    assert "P(G >= 99)" in said.out


def test_augmenting_is_seeded(cli: Cli, demo: Path, tmp_path: Path) -> None:
    def fitted(name: str, *arguments: object) -> bytes:
        cli(*fit_command(demo, "--augment", 2, "-o", tmp_path / name / "m.json", *arguments))
        return (tmp_path / name / "m.json").read_bytes()

    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    assert fitted("a", "--seed", 1) == fitted("b", "--seed", 1)
    assert fitted("a", "--seed", 1) != fitted("c", "--seed", 2)


def test_several_collections(cli: Cli, demo: Path, tmp_path: Path) -> None:
    write_made_up(tmp_path / "other", seed=1)
    other = tmp_path / "other"
    also = f"{other / 'runs.tsv'},{other / 'judgments.tsv'},{other / 'metadata.csv'}"
    said = cli(*fit_command(demo, "--also", also, "-o", tmp_path / "m.json"))
    assert said.rows[-1]["collections"] == 2
    assert said.rows[-1]["rows"] > 2000
    assert {row["name"] for row in said.rows[:-1]} >= {"pTEAM", "pART"}
    # Without metadata for one of them, only what both know can be used.
    also = f"{other / 'runs.tsv'},{other / 'judgments.tsv'}"
    said = cli(*fit_command(demo, "--also", also, "-o", tmp_path / "m.json"))
    assert [row["name"] for row in said.rows if row["kind"] == "coefficient"] == ["pTEAM", "aRANK"]


def test_fit_refuses(cli: Cli, files: Files) -> None:
    model = files.folder / "model.json"
    command = ("fit", files.runs, "-j", files.judgments, "-o", model)
    other = files.folder / "other.tsv"
    other.write_text("q1\ta\t7\n")
    nothing = files.folder / "nothing.tsv"
    nothing.write_text("q1\tnever\t2\n")
    cases = {
        (*command, "--also", "runs.tsv"): "--also takes runs and judgments and perhaps metadata",
        (*command, "--also", f"{files.runs},{other}"): f"{other}:1: expected a gain on the scale broad, got 7",
        (*command, "--feature", "pSIS"): "there is no feature 'pSIS': did you mean 'pSYS'?",
        (*command, "--feature", "pGEN"): "the feature 'pGEN' needs to know the genre",
        ("fit", files.runs, "-j", nothing, "-o", model): "no judged item has all of the features pTEAM, aRANK",
        ("fit", files.runs, "-o", model): "Missing option '--judgments'",
        ("fit", files.runs, "-j", files.judgments): "Missing option '--output'",
        (*command[:-1], files.folder / "nowhere" / "m.json"): "expected an existing folder to write to",
    }
    for arguments, message in cases.items():
        said = cli(*arguments)
        assert (said.code, said.out) == (2, ""), arguments
        assert message in said.err
        assert said.err.count("\n") == 1
    assert not model.exists()


def test_dropping_systems_leaves_their_items_out(past: PastCollection) -> None:
    collection = past.setting.collection
    left, items = with_systems(collection, np.array([1, 3]))
    assert left.systems == (collection.systems[1], collection.systems[3])
    expected = np.flatnonzero((collection.ranks.toarray()[[1, 3]] > 0).any(axis=0))
    assert items.tolist() == expected.tolist()
    assert np.array_equal(left.ranks.toarray(), collection.ranks.toarray()[[1, 3]][:, items])
    assert left.item_document.tolist() == collection.item_document[items].tolist()
    whole, every = with_systems(collection, np.arange(5))
    assert every.size == collection.n_items
    assert np.array_equal(whole.ranks.toarray(), collection.ranks.toarray())


def test_copies_add_rows_but_no_judgments(past: PastCollection) -> None:
    plain = train([past], rng=np.random.default_rng(0))
    more = train([past], rng=np.random.default_rng(0), copies=4)
    assert more.rows > plain.rows == plain.judged == more.judged
    assert more.fit.total_weight == pytest.approx(plain.fit.total_weight)
    # As many judgments, so about as sure: not twice as sure for five times the rows.
    assert more.fit.coefficient_errors / plain.fit.coefficient_errors == pytest.approx(np.ones(6), abs=0.5)


def test_an_items_own_judgment_teaches_nothing_about_it(past: PastCollection) -> None:
    """With labels drawn at random nothing can be learnt, unless an item's features contain its own label."""
    rng = np.random.default_rng(3)
    drawn = PastCollection(past.setting, rng.integers(0, 3, past.judged_gain.size).astype(float))
    features = past.setting.features
    everything = np.ones(drawn.judged_gain.size, dtype=bool)
    leaking = features.features(["aART"], gain=drawn.judged_gain, judged=everything, exclude_own=False)
    known = leaking.complete
    leaky = fit_ordinal(leaking.values[known], drawn.judged_gain[known].astype(int), n_levels=3)
    honest = train([drawn], rng=rng, features=["aART"])
    assert leaky.p_values[0] < 1e-6
    assert honest.fit.p_values[0] > 1e-4 or honest.fit.coefficients[0] < 0


def test_training_refuses(past: PastCollection) -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(ParameterError, match="one judged collection or more, got none"):
        train([], rng=rng)
    with pytest.raises(ParameterError, match="number of copies is 0 or more, got -1"):
        train([past], rng=rng, copies=-1)
    fine = PastCollection(Setting(past.setting.collection, FINE), past.judged_gain)
    with pytest.raises(ParameterError, match="one scale, got 'broad' and 'fine'"):
        train([past, fine], rng=rng)


def test_a_model_file_is_json(cli: Cli, demo: Path, tmp_path: Path) -> None:
    cli(*fit_command(demo, "--judged", "-o", tmp_path / "judged.json"))
    content = json.loads((tmp_path / "judged.json").read_text())
    assert {"aSYS", "aDOC", "aGEN"} <= set(content["coefficients"])
    assert len(content["intercepts"]) == 9


@pytest.mark.parametrize("predictor", ["conditional-tree", "boosted"])
def test_models_of_trees_are_fitted_and_used(
    cli: Cli, demo: Path, tmp_path: Path, predictor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LEARNERS, "boosted", (Boosting(2, 10), Boosting(2, 20)))
    model = tmp_path / "model.json"
    said = cli(*fit_command(demo, "--predictor", predictor, "--feature", "pTEAM", "--feature", "pART", "-o", model))
    candidates = [row for row in said.rows if row["kind"] == "candidate"]
    chosen = [row for row in candidates if row["chosen"]]
    assert len(chosen) == 1
    assert chosen[0]["rps"] == min(row["rps"] for row in candidates)
    assert said.rows[-1]["predictor"] == predictor
    assert f"power {said.rows[-1]['power']:.2f}" in said.err
    files = (demo / "runs.tsv", "--metadata", demo / "metadata.csv", "--format", "jsonl")
    ranked = cli("rank", *files, "--predictor", predictor, "--model", model)
    assert ranked.rows[-1]["mean_confidence"] > 0.8
    refused = cli("rank", *files, "--predictor", "forest", "--model", model)
    assert refused.code == 2
    assert f"expected a model for the predictor forest, got one for {predictor}" in refused.err
    refused = cli(*fit_command(demo, "--predictor", predictor, "--eliminate", "-o", model))
    assert refused.code == 2
    assert "--eliminate is for --predictor ordinal" in refused.err
