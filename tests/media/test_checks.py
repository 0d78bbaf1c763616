"""The check: whatever is wrong with any file is listed, all of it at once, and nothing is written."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from made_sounds import RATE, SECRET, noise, picture, sine, write

from earmark.errors import InputError, MissingLibraryError
from earmark.media import MediaError, MediaSettings, check_media, prepare_media, read_media


def problems_of(folder: Path, *names: str, **options: object) -> dict[str, str]:
    with pytest.raises(MediaError) as caught:
        check_media(read_media([], names, folder=folder), **options)
    return dict(caught.value.problems.select("id", "problem").iter_rows())


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A folder with one of every problem, and two files without any."""
    folder = tmp_path / "files"
    write(folder / "good.wav", sine())
    write(folder / "stereo.flac", noise())
    write(folder / "silent.wav", np.zeros((RATE, 2)))
    write(folder / "faint.wav", noise(level=1e-5), subtype="FLOAT")
    write(folder / "nosamples.wav", np.zeros((0, 2)))
    (folder / "nobytes.mp3").write_bytes(b"")
    write(folder / "short.wav", sine(seconds=0.05))
    (folder / "corrupt.wav").write_bytes(b"RIFF" + bytes(range(256)) * 20)
    (folder / "corrupt.mp3").write_bytes(bytes(range(200, 256)) * 200)
    write(folder / "notnumbers.wav", np.full(RATE, np.nan), subtype="FLOAT")
    cut = write(folder / "cut.flac", noise(seconds=4.0))
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    (folder / "fake.jpg").write_text("<html>not found</html>")
    (folder / "vector.png").write_text("<svg onload='alert(1)'/>")
    (folder / "emptypicture.png").write_bytes(b"")
    half = picture(folder / "halfpicture.jpg", size=(400, 400))
    half.write_bytes(half.read_bytes()[:500])
    (folder / "blank.txt").write_text(" \n\t\n")
    (folder / "latin.txt").write_bytes("café".encode("latin-1"))
    (folder / "nolink.url").write_text("[InternetShortcut]\nURL=javascript:alert(1)\n")
    write(folder / "twice.wav", sine())
    write(folder / "deeper" / "twice.flac", sine())
    click = np.zeros((10 * RATE, 2))
    click[RATE // 2 :: RATE] = 0.9
    write(folder / "click.wav", click)
    return folder


EXPECTED = {
    "silent": "silent",
    "faint": "silent",
    "nosamples": "empty",
    "nobytes": "empty",
    "short": "too short",
    "corrupt": "unreadable",
    "notnumbers": "unreadable",
    "cut": "unreadable",
    "fake": "unreadable",
    "vector": "unreadable",
    "emptypicture": "empty",
    "halfpicture": "unreadable",
    "blank": "empty",
    "latin": "unreadable",
    "nolink": "unreadable",
    "twice": "several",
    "click": "too peaked",
    "none": "missing",
}


def test_every_problem_is_listed_and_nothing_else(broken: Path) -> None:
    (broken / "corrupt.mp3").unlink()
    assert problems_of(broken, "good", "stereo", *EXPECTED) == EXPECTED


def test_the_message_names_a_few_and_the_table_all(broken: Path, tmp_path: Path) -> None:
    media = read_media(["none"], ["good", "silent", *(f"d{i}" for i in range(9))], folder=broken)
    study = tmp_path / "study"
    study.mkdir()
    with pytest.raises(MediaError) as caught:
        prepare_media(media, study, secret=SECRET)
    error = caught.value
    assert isinstance(error, InputError)
    assert "got 11 problems: 10 missing (query none; document d0; document d1; and 7 more)" in str(error)
    assert "1 silent (document silent: silent.wav, nothing but zeros from 0 to 1 s)" in str(error)
    assert error.problems.columns == ["id", "role", "file", "problem", "detail"]
    assert error.problems.height == 11
    assert error.problems.row(0) == ("none", "query", "", "missing", "no file of that name")
    assert list(study.iterdir()) == []
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.problems.equals(error.problems)


def test_files_of_a_map_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "folder.wav").mkdir()
    write(tmp_path / "song.wav", sine(seconds=3.0))
    (tmp_path / "map.csv").write_text(
        "id,file,start,end\na,../no/such.wav,,\nb,folder.wav,,\nc,song.wav,4,\nd,song.wav,2.95,\ne,song.wav,2,99\nf,gone.url,,\n"
    )
    with pytest.raises(MediaError) as caught:
        check_media(read_media([], "abcdefg", media_map=tmp_path / "map.csv"))
    rows = caught.value.problems.select("id", "problem", "detail").rows()
    assert rows == [
        ("a", "missing", "no such file"),
        ("b", "missing", "a folder"),
        ("c", "outside", "the excerpt starts at 4 s, the recording ends at 3 s"),
        ("d", "too short", "0.050 s of at least 0.1 s"),
        ("f", "missing", "no such file"),
        ("g", "missing", "no file of that name"),
    ]


def test_a_problem_that_query_and_document_share_is_a_row_of_each(tmp_path: Path) -> None:
    write(tmp_path / "a.wav", np.zeros(RATE))
    with pytest.raises(MediaError) as caught:
        check_media(read_media(["a"], ["a"], folder=tmp_path))
    assert caught.value.problems.select("id", "role").rows() == [("a", "query"), ("a", "document")]


def test_only_the_excerpt_has_to_sound(tmp_path: Path) -> None:
    quiet_start = np.concatenate((np.zeros(2 * RATE), sine(seconds=2.0)))
    write(tmp_path / "a.wav", quiet_start)
    media = read_media([], ["a"], folder=tmp_path)
    check_media(media, settings=MediaSettings(start=2.0, seconds=1.0))
    with pytest.raises(MediaError, match="silent"):
        check_media(media, settings=MediaSettings(start=0.0, seconds=1.0))


def test_a_song_that_needs_another_decoder_is_listed_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    monkeypatch.setitem(sys.modules, "audioread", None)
    (tmp_path / "a.m4a").write_bytes(b"\0\0\0\x20ftypM4A " + bytes(1000))
    with pytest.raises(MediaError, match=r"1 unreadable \(document a: a\.m4a, .*pip install av reads it"):
        check_media(read_media([], ["a"], folder=tmp_path))


def test_progress_is_told(tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path / f"{name}.wav", sine())
    told: list[tuple[int, int]] = []
    check_media(read_media([], "abc", folder=tmp_path), progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_libraries_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.wav", sine())
    picture(tmp_path / "b.png")
    picture(tmp_path / "c.bmp")
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    check_media(read_media([], ["b"], folder=tmp_path))
    assert problems_of(tmp_path, "c") == {"c": "unreadable"}
    monkeypatch.setitem(sys.modules, "pyloudnorm", None)
    with pytest.raises(MissingLibraryError, match=r"pyloudnorm, .*pip install 'earmark\[audio\]'"):
        check_media(read_media([], ["a"], folder=tmp_path))
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with pytest.raises(MissingLibraryError, match=r"soundfile, .*pip install 'earmark\[audio\]'"):
        check_media(read_media([], ["a"], folder=tmp_path))
