"""Which files belong to whom: by names in a folder, by a map, by both."""

from __future__ import annotations

from pathlib import Path

import pytest

from earmark.errors import InputError, ParameterError
from earmark.media import read_media
from earmark.media.originals import Media, Original


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def found(media: Media, root: Path) -> dict[tuple[str, str], list[str]]:
    def name(original: Original) -> str:
        return original.path.relative_to(root).as_posix() if original.path else original.url or original.text or ""

    return {(m.role, m.id): [name(original) for original in m.originals] for m in media.media}


# By folder


def test_files_are_named_after_ids(tmp_path: Path) -> None:
    touch(tmp_path, "a.wav", "deep/er/b.FLAC", "c.mp3.mp3", "take.5.ogg", "other.wav", "._a.wav", ".git/b.wav", "a.pdf")
    media = read_media(["a"], ["a", "b", "c.mp3", "take.5", "none"], folder=tmp_path)
    assert found(media, tmp_path) == {
        ("query", "a"): ["a.wav"],
        ("document", "a"): ["a.wav"],
        ("document", "b"): ["deep/er/b.FLAC"],
        ("document", "c.mp3"): ["c.mp3.mp3"],
        ("document", "take.5"): ["take.5.ogg"],
        ("document", "none"): [],
    }
    assert media.unused == 1
    assert len(media.originals) == 4
    assert repr(media) == "<Media: 4 originals of 1 query and 5 documents>"


def test_ids_may_be_paths_or_whole_names(tmp_path: Path) -> None:
    touch(tmp_path, "jazz/1.wav", "rock/1.wav", "x.mp3")
    media = read_media([], ["jazz/1", "rock/1.wav", "x.mp3"], folder=tmp_path)
    assert found(media, tmp_path) == {
        ("document", "jazz/1"): ["jazz/1.wav"],
        ("document", "rock/1.wav"): ["rock/1.wav"],
        ("document", "x.mp3"): ["x.mp3"],
    }


def test_five_pictures_of_one_query_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    touch(tmp_path, *(f"q1-{i}.jpg" for i in (10, 2, 1)), "q1_3.png", "q2/z.jpg", "q2/a.png", "q3-1.png", "q3-1-2.png")
    media = read_media(["q1", "q2", "q3", "q3-1"], [], folder=tmp_path)
    assert found(media, tmp_path) == {
        ("query", "q1"): ["q1-1.jpg", "q1-2.jpg", "q1-10.jpg", "q1_3.png"],
        ("query", "q2"): ["q2/a.png", "q2/z.jpg"],
        ("query", "q3"): [],
        ("query", "q3-1"): ["q3-1.png", "q3-1-2.png"],
    }


def test_a_number_after_a_name_means_pictures_only(tmp_path: Path) -> None:
    touch(tmp_path, "song.wav", "song-2.wav")
    assert found(read_media([], ["song"], folder=tmp_path), tmp_path) == {("document", "song"): ["song.wav"]}


def test_sound_pictures_texts_and_links_of_one_id(tmp_path: Path) -> None:
    touch(tmp_path, "a.txt", "a.jpg", "a.wav")
    (tmp_path / "a.url").write_text("[InternetShortcut]\r\nURL=https://example.org/a?b=%20c\r\n")
    (medium,) = read_media(["a"], [], folder=tmp_path).media
    assert [original.kind for original in medium.originals] == ["audio", "image", "text", "link"]
    assert medium.originals[-1].url == "https://example.org/a?b=%20c"


def test_queries_and_documents_of_the_same_id_in_folders_of_their_own(tmp_path: Path) -> None:
    touch(tmp_path, "queries/1.jpg", "documents/1.wav", "documents/sub/2.wav", "3.wav")
    media = read_media(["1", "3"], ["1", "2", "3"], folder=tmp_path)
    assert found(media, tmp_path) == {
        ("query", "1"): ["queries/1.jpg"],
        ("query", "3"): ["3.wav"],
        ("document", "1"): ["documents/1.wav"],
        ("document", "2"): ["documents/sub/2.wav"],
        ("document", "3"): ["3.wav"],
    }


def test_accents_composed_or_not(tmp_path: Path) -> None:
    touch(tmp_path, "cafe\u0301.wav")
    (medium,) = read_media([], ["caf\u00e9"], folder=tmp_path).media
    assert len(medium.originals) == 1


def test_no_folder_no_media(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="found by a folder, by a map or by both: neither was given"):
        read_media(["a"], [])
    with pytest.raises(InputError, match=r"none: expected a folder of media, got nothing there"):
        read_media(["a"], [], folder=tmp_path / "none")
    with pytest.raises(
        InputError, match=r"expected media of queries and documents, got none of any id \(files are named"
    ):
        read_media(["a"], [], folder=tmp_path)


# By map


def write_map(folder: Path, text: str) -> Path:
    path = folder / "map.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_map_says_all(tmp_path: Path) -> None:
    table = write_map(
        tmp_path,
        "id,file,role,kind,start,end,title,text\n"
        "q1,pic/b.jpg,,,,,A beach,\nq1,pic/a.jpg,query,,,,,\nq1,https://example.org/x,query,,,,Sea,\n"
        'd1,../x.flac,,,1:15,100.5,,\nd2,notes.png,document,SCORE,,,,\nd3,,,,,,,"two\nlines"\nother,y.wav,,,,,,\n'
        "q1,z.wav,document,,,,,\n",
    )
    media = read_media(["q1"], ["q1", "d1", "d2", "d3"], media_map=table)
    query, shared, d1, d2, d3 = media.media
    assert [original.name for original in query.originals] == [str(tmp_path / "pic/a.jpg"), "https://example.org/x"]
    assert query.title == "Sea"
    assert [original.name for original in shared.originals] == [str(tmp_path / "z.wav")]
    assert d1.originals == (Original("audio", tmp_path / "../x.flac", start=75.0, end=100.5),)
    assert d2.originals == (Original("score", tmp_path / "notes.png"),)
    assert d3.originals == (Original("text", text="two\nlines"),)
    assert media.unused == 1


def test_a_query_and_a_document_of_one_id_share_a_row_without_role(tmp_path: Path) -> None:
    media = read_media(["a"], ["a"], media_map=write_map(tmp_path, "id,file,title\na,a.wav,Song\n"))
    assert media.media[0].originals == media.media[1].originals == (Original("audio", tmp_path / "a.wav"),)
    assert [medium.title for medium in media.media] == ["Song", "Song"]


def test_the_map_goes_before_the_folder(tmp_path: Path) -> None:
    touch(tmp_path, "songs/a.wav", "songs/b.wav", "better.wav")
    table = write_map(tmp_path, "id,file\na,better.wav\n")
    media = read_media([], ["a", "b"], folder=tmp_path / "songs", media_map=table)
    assert found(media, tmp_path) == {("document", "a"): ["better.wav"], ("document", "b"): ["songs/b.wav"]}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("name,file\na,a.wav\n", r"map\.csv:2: expected the columns id and file, got 'name' and 'file'"),
        ("id,file\n,a.wav\n", r"map\.csv:2: expected id in every row, got nothing"),
        ("id,file\na,a.wav\na,\n", r"map\.csv:3: expected a file or a text, got neither"),
        ("id,file,text\na,a.wav,words\n", r"map\.csv:2: expected a file or a text, got both"),
        ("id,file,role\na,a.wav,system\n", r"map\.csv:2: expected query, document or nothing as role, got 'system'"),
        (
            "id,file,kind\na,a.wav,video\n",
            r"map\.csv:2: expected audio, image, score, text or link as kind, got 'video'",
        ),
        ("id,file,start\na,a.wav,1:75\n", r"map\.csv:2: expected seconds or m:ss as start, got '1:75' \(for example"),
        ("id,file,start,end\na,a.wav,50,40\n", r"map\.csv:2: expected an end after the start, got 50 to 40"),
        (
            "id,file,start\na,a.jpg,5\n",
            r"map\.csv:2: expected start and end of recordings only, got those of kind image",
        ),
        (
            "id,file\na,a.doc\n",
            r"map\.csv:2: expected a file whose ending tells what it is, got 'a\.doc' \(name its kind",
        ),
        (
            "id,file,kind\na,http://x.org/a.mp3,audio\n",
            r"map\.csv:2: expected a file of kind audio, got 'http.*fetch it",
        ),
        ("id,text,kind\na,words,audio\n", r"map\.csv:2: expected a file of kind audio, got a text"),
        ("id,file\nz,a.wav\n", r"map\.csv: expected media of queries and documents, got none of any id"),
    ],
)
def test_a_map_that_cannot_be_used(tmp_path: Path, rows: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_media(["a"], [], media_map=write_map(tmp_path, rows))
