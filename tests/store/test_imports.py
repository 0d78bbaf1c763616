"""Answers from files: new, known, corrected or refused, and the same when they come again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from campaigns_made import make_folder

from earmark.errors import InputError, ParameterError
from earmark.store import people
from earmark.store.exports import export
from earmark.store.folder import CampaignFolder
from earmark.store.imports import Imported, import_files
from earmark.store.people import known_people
from earmark.store.stored import StoredCampaign


@pytest.fixture
def folder(tmp_path: Path, empty_url: str) -> Iterator[CampaignFolder]:
    url = None if empty_url.startswith("sqlite") else empty_url
    with make_folder(tmp_path / "home", store=url, judging={"scale": "broad"}) as made:
        yield made


@pytest.fixture
def items(folder: CampaignFolder) -> list[tuple[str, str]]:
    return StoredCampaign.read(folder).problem.items.select("query", "document").rows()


def write(path: Path, rows: list[tuple[object, ...]], header: str = "query,document,gain") -> Path:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def counts(imported: Imported) -> tuple[int, int, int, int]:
    return imported.new, imported.known, imported.corrected, imported.refused


def test_importing_twice_changes_nothing(folder: CampaignFolder, items, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", [(*item, n % 3) for n, item in enumerate(items[:30])])
    assert counts(import_files(folder, [file])) == (30, 0, 0, 0)
    before = folder.store.log()
    assert counts(import_files(folder, [file])) == (0, 30, 0, 0)
    assert counts(import_files(folder, [file, file])) == (0, 60, 0, 0)
    assert folder.store.log().digest == before.digest
    assert before.of_kind("imported")["source"].to_list() == ["a.csv"]


def test_another_answer_of_the_same_person_corrects(folder: CampaignFolder, items, tmp_path: Path) -> None:
    first = write(tmp_path / "a.csv", [(*items[0], 0, "Ann"), (*items[1], 1, "Ann")], "query,document,gain,assessor")
    second = write(tmp_path / "b.csv", [(*items[0], 2, "Ann"), (*items[1], 1, "Ann")], "query,document,gain,assessor")
    import_files(folder, [first])
    assert counts(import_files(folder, [second])) == (0, 1, 1, 0)
    assert counts(import_files(folder, [first])) == (0, 2, 0, 0), "an old file does not bring an old answer back"
    log = folder.store.log()
    assert sorted(log.answers["gain"].to_list()) == [1.0, 2.0]
    assert log.of_kind("answered").height == 3, "the old answer stays in the log"


def test_two_people_in_two_files(folder: CampaignFolder, items, tmp_path: Path) -> None:
    header = "query,document,gain,assessor"
    ann = write(tmp_path / "a.csv", [(*items[0], 0, "Ann")], header)
    bob = write(tmp_path / "b.csv", [(*items[0], 2, "Bob")], header)
    assert counts(import_files(folder, [ann, bob])) == (2, 0, 0, 0)
    assert {one["name"] for one in known_people(folder.store)} == {"Ann", "Bob"}
    assert folder.store.log().answers["gain"].sort().to_list() == [0.0, 2.0]
    assert "Ann" not in folder.store.log().frame.write_csv()


def test_who_answered_can_be_said(folder: CampaignFolder, items, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", [(*items[0], 0)])
    import_files(folder, [file], assessor="Ann")
    import_files(folder, [file], assessor="Bob")
    assert folder.store.log().position == 2


def test_rows_twice_in_a_file(folder: CampaignFolder, items, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", [(*items[0], 1), (*items[0], 1), (*items[1], 0), (*items[1], 2)])
    assert counts(import_files(folder, [file])) == (2, 0, 0, 0)
    assert folder.store.log().answers["gain"].sort().to_list() == [1.0, 2.0], "as the reader of judgments decides"


def test_unknown_documents_are_refused_and_named(folder: CampaignFolder, items, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", [(*items[0], 1), (items[0][0], "nobody", 1)])
    imported = import_files(folder, [file])
    assert counts(imported) == (1, 0, 0, 1)
    assert "'nobody'" in imported.notes[0]


def test_a_file_of_another_campaign(folder: CampaignFolder, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", [("x", "y", 1)])
    with pytest.raises(InputError, match="another campaign"):
        import_files(folder, [file])
    assert folder.store.log().position == 0


def test_a_gain_off_the_scale_stops_everything(folder: CampaignFolder, items, tmp_path: Path) -> None:
    good = write(tmp_path / "a.csv", [(*items[0], 1)])
    bad = write(tmp_path / "b.csv", [(*items[1], 1), (*items[2], 7)])
    with pytest.raises(InputError, match="scale") as caught:
        import_files(folder, [good, bad])
    assert (caught.value.path, caught.value.line) == (str(bad), 3)
    assert len(folder.store.log().of_kind("answered", "imported")) == 0


def package(folder: CampaignFolder, path: Path, assessor: str = "package", count: int = 5) -> Path:
    held = folder.desk.reserve(assessor, count).questions
    return write(
        path, [(one.query, one.document, n % 3, one.id) for n, one in enumerate(held)], "query,document,gain,key"
    )


def test_a_package_comes_back(folder: CampaignFolder, tmp_path: Path) -> None:
    file = package(folder, tmp_path / "a.csv")
    assert len(folder.desk.take("ann", ahead=300).questions) > 50
    assert counts(import_files(folder, [file])) == (5, 0, 0, 0)
    assert counts(import_files(folder, [file])) == (0, 5, 0, 0)
    log = folder.store.log()
    assert set(log.answers["assessor"]) == {"package"}
    assert log.pending(log.frame["time"][-1]).filter(pl.col("assessor") == "package").height == 0


def test_a_package_that_somebody_with_a_name_filled_in(folder: CampaignFolder, tmp_path: Path) -> None:
    file = package(folder, tmp_path / "a.csv")
    assert counts(import_files(folder, [file], assessor="Ann")) == (5, 0, 0, 0)
    assert folder.store.log().of_kind("returned").height == 5, "what was reserved is free again"
    assert len(folder.store.log().answers["assessor"].unique()) == 1


def test_what_was_exported_can_be_imported(folder: CampaignFolder, items, tmp_path: Path) -> None:
    file = write(tmp_path / "a.csv", [(*item, 1, "Ann") for item in items[:4]], "query,document,gain,assessor")
    import_files(folder, [file])
    for name in ("b.csv", "b.parquet"):
        export(folder, tmp_path / name)
        assert counts(import_files(folder, [tmp_path / name])) == (0, 4, 0, 0)
    assert len(known_people(folder.store)) == 1


def test_a_closed_campaign_takes_nothing(folder: CampaignFolder, items, tmp_path: Path) -> None:
    folder.desk.set_state("closed")
    with pytest.raises(ParameterError, match="closed"):
        import_files(folder, [write(tmp_path / "a.csv", [(*items[0], 1)])])


def test_preferences(tmp_path: Path) -> None:
    with make_folder(tmp_path / "home", kind="prefer", judging={"judgments_per_item": 2}) as folder:
        question = folder.desk.take("ann", ahead=0).questions[0]
        turned = (question.query, question.other, question.document, "Bob", "a", 3)
        file = write(tmp_path / "p.csv", [turned], "query,a,b,assessor,choice,strength")
        assert counts(import_files(folder, [file])) == (1, 0, 0, 0)
        assert counts(import_files(folder, [file])) == (0, 1, 0, 0)
        straight = (question.query, question.document, question.other, "Bob", "b", 3)
        same = write(tmp_path / "s.csv", [straight], "query,a,b,assessor,choice,strength")
        assert counts(import_files(folder, [same])) == (0, 1, 0, 0)
        firmer = write(tmp_path / "f.csv", [(*turned[:-1], 5)], "query,a,b,assessor,choice,strength")
        assert counts(import_files(folder, [firmer])) == (0, 0, 1, 0)
        row = folder.store.log().answers.row(0, named=True)
        assert (row["document"], row["other"], row["choice"]) == (question.document, question.other, "b")


def test_thousands_of_answers_take_seconds(tmp_path: Path) -> None:
    with make_folder(tmp_path / "home", judging={"scale": "broad", "judgments_per_item": 50}) as folder:
        items = StoredCampaign.read(folder).problem.items.select("query", "document").rows()
        rows = [(*item, n % 3, f"p{n}") for n in range(20) for item in items]
        file = write(tmp_path / "a.csv", rows, "query,document,gain,assessor")
        assert import_files(folder, [file]).new == len(rows) > 2000


def test_the_last_word_counts_even_if_it_was_said_before(folder: CampaignFolder, items, tmp_path: Path) -> None:
    header = "query,document,gain,assessor"
    said = [[(*items[0], 0, "Ann")], [(*items[0], 2, "Ann")], [(*items[0], 0, "Ann"), (*items[1], 1, "Ann")]]
    files = [write(tmp_path / f"{n}.csv", rows, header) for n, rows in enumerate(said)]
    assert [counts(import_files(folder, [file])) for file in files] == [(1, 0, 0, 0), (0, 0, 1, 0), (1, 0, 1, 0)]
    assert folder.store.log().answers["gain"].sort().to_list() == [0.0, 1.0]


def test_a_file_that_comes_again_after_an_erasure_brings_nobody_back(
    folder: CampaignFolder, items, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.csv", [(*items[0], 1)])
    import_files(folder, [file], assessor="Ann")
    people.erase(folder.store, people.find_person(folder.store, "Ann"))
    assert counts(import_files(folder, [file], assessor="Ann")) == (0, 1, 0, 0)
    assert known_people(folder.store) == []


def test_answers_of_nobody_and_strange_keys_are_told(folder: CampaignFolder, items, tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.csv", [(*items[0], 1, "#NAME?", 0), (*items[1], -1, "", 0)], "query,document,gain,key,iteration"
    )
    notes = " ".join(import_files(folder, [file]).notes)
    assert "key" in notes
    assert "--assessor" in notes
    assert "negative" in notes
