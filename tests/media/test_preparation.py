"""What is served: equal loudness, the right excerpt, one format, names that reveal nothing; and nothing done twice."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile
from made_sounds import RATE, SECRET, drums, noise, picture, sine, write
from PIL import Image

from earmark.audio.loudness import integrated_loudness
from earmark.errors import InputError, ParameterError
from earmark.media import Manifest, MediaSettings, prepare_media, read_manifest, read_media
from earmark.media.manifest import SERVED_NAME, Served


def songs(folder: Path) -> list[str]:
    """Very different levels, crest factors, rates and channels, in every format."""
    write(folder / "tone.wav", sine(level=0.9))
    write(folder / "quiet.flac", sine(level=0.003))
    write(folder / "mono8k.wav", noise(rate=8_000, channels=1), rate=8_000)
    write(folder / "telephone.ogg", noise(rate=16_000, channels=1, level=0.02), rate=16_000)
    write(folder / "white.wav", noise(level=0.05))
    write(folder / "clipped.wav", np.clip(noise(level=2.0), -1, 1))
    write(folder / "drums.mp3", drums())
    write(folder / "left.aiff", np.column_stack((sine(), np.zeros(2 * RATE))))
    write(folder / "opposite.wav", np.column_stack((sine(), -sine())))
    write(folder / "six.wav", noise(channels=6))
    write(folder / "brief.wav", sine(seconds=0.3))
    write(folder / "pauses.wav", np.concatenate((sine(seconds=1.0), np.zeros(3 * RATE))))
    write(folder / "loud.wav", 40 * noise(level=0.2), subtype="FLOAT")
    write(folder / "hd.flac", noise(rate=96_000), rate=96_000, subtype="PCM_24")
    return sorted(path.stem for path in folder.iterdir())


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    return folder


def prepare(folder: Path, study: Path, *names: str, queries: tuple[str, ...] = (), **settings: object) -> Manifest:
    media = read_media(queries, names, folder=folder)
    return prepare_media(media, study, secret=SECRET, settings=MediaSettings(**settings))


def part_of(manifest: Manifest, name: str) -> Served:
    (part,) = manifest.of_document(name).parts
    return part


def decoded(manifest: Manifest, name: str) -> np.ndarray:
    samples, rate = soundfile.read(manifest.path(part_of(manifest, name).file or ""), always_2d=True)
    assert (rate, samples.shape[1]) == (RATE, 2)
    return samples


def originals_of(folder: Path) -> dict[Path, tuple[bytes, int]]:
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}


# Loudness


@pytest.mark.parametrize("form", ["mp3", "flac", "wav"])
def test_clips_of_every_kind_are_equally_loud_once_decoded(tmp_path: Path, study: Path, form: str) -> None:
    names = songs(tmp_path / "songs")
    before = originals_of(tmp_path / "songs")
    manifest = prepare(tmp_path / "songs", study, *names, format=form)
    assert manifest.loudness == -23.0
    assert manifest.notes == ()
    sounds = {name: decoded(manifest, name) for name in names}
    levels = {name: integrated_loudness(sound, RATE) for name, sound in sounds.items()}
    assert levels == pytest.approx(dict.fromkeys(names, -23.0), abs=0.5)
    assert max(levels.values()) - min(levels.values()) < 1.0
    assert max(np.abs(sound).max() for sound in sounds.values()) < 1.0
    for name in names:
        part = part_of(manifest, name)
        assert part.loudness == pytest.approx(levels[name], abs=0.01)
        assert part.original_loudness is not None
        assert part.gain == pytest.approx(-23.0 - part.original_loudness, abs=2.0)
        assert part.media_type == {"mp3": "audio/mpeg", "flac": "audio/flac", "wav": "audio/wav"}[form]
    assert originals_of(tmp_path / "songs") == before


def test_a_clip_that_would_clip_lowers_all_and_it_is_said(tmp_path: Path, study: Path) -> None:
    burst = np.zeros((3 * RATE, 2))
    burst[:: RATE // 4] = 0.8
    burst += noise(seconds=3.0, level=0.02)
    write(tmp_path / "bursts.wav", burst)
    write(tmp_path / "tone.wav", sine())
    manifest = prepare(tmp_path, study, "bursts", "tone")
    assert -33.0 < manifest.loudness < -23.0
    (note,) = manifest.notes
    assert re.fullmatch(r"all clips are played at -\d\d(\.\d)? LUFS, not -23: peaks of 1 clip would exceed -1 dB", note)
    for name in ("bursts", "tone"):
        sound = decoded(manifest, name)
        assert integrated_loudness(sound, RATE) == pytest.approx(manifest.loudness, abs=0.5)
        assert np.abs(sound).max() < 1.0


def test_another_loudness(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "a.wav", sine())
    manifest = prepare(tmp_path, study, "a", loudness=-16.0)
    assert integrated_loudness(decoded(manifest, "a"), RATE) == pytest.approx(-16.0, abs=0.5)


# Excerpts


def steps(seconds: int) -> np.ndarray:
    """A tone whose pitch tells the second it is in: 200 Hz in the first, 10 Hz more in every other."""
    return np.concatenate([sine(200 + 10 * second, seconds=1.0, level=0.3) for second in range(seconds)])


def second_at(sound: np.ndarray, seconds: float) -> int:
    begin = round(seconds * RATE)
    spectrum = np.abs(np.fft.rfft(sound[begin : begin + RATE // 2, 0]))
    return round((spectrum.argmax() * 2 - 200) / 10)


@pytest.mark.parametrize(("length", "first", "last"), [(100, 60, 89), (70, 40, 69), (20, 0, 19)])
def test_the_usual_excerpt(tmp_path: Path, study: Path, length: int, first: int, last: int) -> None:
    write(tmp_path / "a.wav", steps(length))
    manifest = prepare(tmp_path, study, "a")
    part = part_of(manifest, "a")
    assert (part.start, part.end, part.seconds) == (first, last + 1, last + 1 - first)
    sound = decoded(manifest, "a")
    assert sound.shape[0] == (last + 1 - first) * RATE
    assert (second_at(sound, 0.2), second_at(sound, last - first + 0.2)) == (first, last)


def test_other_excerpts_by_settings_and_by_map(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "song.wav", steps(12))
    rows = [
        "id,file,start,end",
        "a,song.wav,,",
        "b,song.wav,0:03,6",
        "c,song.wav,8,",
        "d,song.wav,,2",
        "e,song.wav,10,99",
    ]
    (tmp_path / "map.csv").write_text("\n".join(rows))
    media = read_media([], "abcde", media_map=tmp_path / "map.csv")
    manifest = prepare_media(media, study, secret=SECRET, settings=MediaSettings(start=5.0, seconds=3.0, format="wav"))
    bounds = {name: (part_of(manifest, name).start, part_of(manifest, name).end) for name in "abcde"}
    assert bounds == {"a": (5, 8), "b": (3, 6), "c": (8, 11), "d": (0, 2), "e": (10, 12)}
    assert {name: second_at(decoded(manifest, name), 0.2) for name in "abcde"} == {k: v[0] for k, v in bounds.items()}


def test_ends_are_faded(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "a.wav", np.full(RATE, 0.3) + sine(50, seconds=1.0, level=0.3))
    sound = decoded(prepare(tmp_path, study, "a", format="wav", fade=0.02), "a")
    assert np.abs(sound[[0, -1]]).max() < 1e-3
    assert np.abs(np.diff(sound[:1000], axis=0)).max() < 0.01


def test_peaks_are_small_whole_numbers(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "a.wav", np.concatenate((sine(level=0.5), sine(level=0.1))))
    manifest = prepare(tmp_path, study, "a", format="wav")
    path = manifest.path(part_of(manifest, "a").peaks or "")
    assert path.stat().st_size < 10_000
    peaks = json.loads(path.read_text())
    assert [len(peaks[name]) for name in ("min", "max")] == [800, 800]
    assert max(peaks["max"][100:300]) == pytest.approx(100, abs=1)
    assert max(peaks["max"][500:700]) == pytest.approx(20, abs=1)
    assert min(peaks["min"]) == pytest.approx(-100, abs=1)


# The same sound


def test_the_same_sound_in_other_files_is_recognised(tmp_path: Path, study: Path) -> None:
    sound = np.rint(noise() * 2**15).astype(np.int16)
    write(tmp_path / "wav.wav", sound)
    write(tmp_path / "flac.flac", sound)
    write(tmp_path / "copy.wav", sound)
    write(tmp_path / "other.wav", noise(seed=1))
    write(tmp_path / "longer.wav", np.concatenate((sound, sound[::-1])))
    write(tmp_path / "mono.wav", sound[:, 0])
    write(tmp_path / "double.wav", sound[:, [0, 0]])
    names = ["wav", "other", "flac", "longer", "copy", "mono", "double"]
    manifest = prepare(tmp_path, study, *names, format="wav")
    assert manifest.same_sound == (("wav", "flac", "copy"), ("mono", "double"))
    assert json.loads((study / "media" / "manifest.json").read_text())["same_sound"] == [
        ["wav", "flac", "copy"],
        ["mono", "double"],
    ]
    # The excerpt counts, not the rest of the song.
    shorter = prepare(tmp_path, study, *names, format="wav", start=0.0, seconds=1.5)
    assert shorter.same_sound == (("wav", "flac", "longer", "copy"), ("mono", "double"))
    # Names do not tell who sounds the same.
    files = [part_of(manifest, name).file for name in names]
    assert len(set(files)) == len(names)


# Pictures, texts, links


def test_five_pictures_a_text_and_a_link(tmp_path: Path, study: Path) -> None:
    for i in range(1, 6):
        picture(tmp_path / f"q-{i}.jpg", size=(40 + i, 30))
    (tmp_path / "words.txt").write_text("A café\n", encoding="latin-1")
    (tmp_path / "far.url").write_text("[InternetShortcut]\nURL=https://example.org/?a=b\n")
    media = read_media(["q", "words"], ["far"], folder=tmp_path, encoding="latin-1")
    manifest = prepare_media(media, study, secret=SECRET)
    query, words, far = (manifest.of_query("q"), manifest.of_query("words"), manifest.of_document("far"))
    sizes = []
    for part in query.parts:
        with Image.open(manifest.path(part.file or "")) as image:
            sizes.append(image.size)
    assert sizes == [(40 + i, 30) for i in range(1, 6)]
    assert {part.media_type for part in query.parts} == {"image/jpeg"}
    assert manifest.path(words.parts[0].file or "").read_bytes() == "A café\n".encode()
    assert words.parts[0].media_type == "text/plain; charset=utf-8"
    assert (far.parts[0].kind, far.parts[0].url, far.parts[0].file) == ("link", "https://example.org/?a=b", None)
    assert manifest.verify().height == 0


def test_pictures_lose_metadata_and_keep_how_they_are_seen(tmp_path: Path, study: Path) -> None:
    exif = Image.Exif()
    exif[0x010F], exif[0x0112] = "A secret camera", 6
    picture(tmp_path / "photo.jpg", size=(60, 20), exif=exif, comment=b"made by system B")
    Image.new("RGBA", (30, 30), (255, 0, 0, 0)).save(tmp_path / "holes.png")
    Image.new("CMYK", (30, 30)).save(tmp_path / "print.jpg")
    picture(tmp_path / "large.bmp", size=(3000, 1500))
    picture(tmp_path / "moving.gif")
    picture(tmp_path / "new.webp")
    names = ["photo", "holes", "print", "large", "moving", "new"]
    manifest = prepare(tmp_path, study, *names)
    paths = {name: manifest.path(part_of(manifest, name).file or "") for name in names}
    shown = {name: Image.open(path) for name, path in paths.items()}
    assert shown["photo"].size == (20, 60)
    assert not shown["photo"].getexif()
    assert b"secret" not in paths["photo"].read_bytes()
    assert b"system B" not in paths["photo"].read_bytes()
    assert (shown["holes"].mode, shown["holes"].getpixel((1, 1))) == ("RGBA", (255, 0, 0, 0))
    assert (shown["print"].format, shown["print"].mode) == ("JPEG", "RGB")
    assert shown["large"].size == (2000, 1000)
    assert {name: image.format for name, image in shown.items() if name in ("large", "moving", "new")} == {
        "large": "PNG",
        "moving": "PNG",
        "new": "PNG",
    }
    for image in shown.values():
        image.close()


# Names and hostile ids


HOSTILE = ["../../x", "/etc/passwd", "a" * 5_000, "ключ \u202e", "con", "a/b", "..", "a\nb", "<b>", "%2e%2e", "x.mp3"]


def test_hostile_ids_are_safe(tmp_path: Path, study: Path) -> None:
    source = write(tmp_path / "song.wav", sine(seconds=0.5))
    rows = "".join(f'"{name}",{source}\n' for name in HOSTILE)
    (tmp_path / "map.csv").write_text(f"id,file\n{rows}", encoding="utf-8")
    before = sorted(path for path in tmp_path.rglob("*") if study not in path.parents)
    media = read_media(HOSTILE, HOSTILE, media_map=tmp_path / "map.csv")
    manifest = prepare_media(media, study, secret=SECRET, settings=MediaSettings(format="wav"))
    assert sorted(path for path in tmp_path.rglob("*") if study not in path.parents) == before
    files = {path.name for path in (study / "media").iterdir()} - {"manifest.json"}
    assert len(files) == 2 * len(HOSTILE)
    assert all(SERVED_NAME.fullmatch(name) for name in files)
    again = read_manifest(study)
    assert [again.of_query(name) for name in HOSTILE] == [manifest.of_query(name) for name in HOSTILE]
    assert manifest.same_sound == (tuple(HOSTILE),)


def test_the_same_file_twice_is_made_once(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "a.wav", sine())
    picture(tmp_path / "p.png")
    rows = ["id,file,role", "a,a.wav,query", "a,./a.wav,document", *["p,p.png,", "p,./p.png,"] * 4]
    (tmp_path / "map.csv").write_text("\n".join(rows))
    media = read_media(["a"], ["a", "p"], media_map=tmp_path / "map.csv")
    manifest = prepare_media(media, study, secret=SECRET, settings=MediaSettings(format="wav"), workers=8)
    assert len(manifest.of_document("p").parts) == 8
    assert manifest.of_query("a").parts[0].file == manifest.of_document("a").parts[0].file
    assert manifest.verify().height == 0
    assert len(list((study / "media").iterdir())) == 4


def test_names_follow_the_secret(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "a.wav", sine())
    media = read_media([], ["a"], folder=tmp_path)
    one = part_of(prepare_media(media, study, secret=b"1" * 16, settings=MediaSettings(format="wav")), "a").file
    other = part_of(prepare_media(media, study, secret=b"2" * 16, settings=MediaSettings(format="wav")), "a").file
    assert one != other
    assert {path.suffix for path in (study / "media").iterdir()} == {".wav", ".json"}
    assert len(list((study / "media").iterdir())) == 3
    with pytest.raises(ParameterError, match="a secret has 16 bytes or more, got 3"):
        prepare_media(media, study, secret=b"abc")


def test_links_to_files_elsewhere_are_read_but_never_written_through(tmp_path: Path, study: Path) -> None:
    outside = write(tmp_path / "outside" / "song.wav", sine())
    (tmp_path / "songs").mkdir()
    (tmp_path / "songs" / "a.wav").symlink_to(outside)
    first = prepare(tmp_path / "songs", study, "a", format="wav")
    served = first.path(part_of(first, "a").file or "")
    before = outside.read_bytes()
    served.unlink()
    served.symlink_to(outside)
    prepare(tmp_path / "songs", study, "a", format="wav")
    assert outside.read_bytes() == before
    assert not served.is_symlink()


# Once is enough


def times(study: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (study / "media").iterdir()}


def test_a_second_run_does_nothing(tmp_path: Path, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.wav", sine())
    write(tmp_path / "b.mp3", noise())
    picture(tmp_path / "q.png")
    first = prepare(tmp_path, study, "a", "b", queries=("q",))
    before = times(study)
    # Nothing is decoded either.
    monkeypatch.setattr("earmark.media.checks.measure_clip", None)
    monkeypatch.setattr("earmark.media.preparation.encode_clip", None)
    assert prepare(tmp_path, study, "a", "b", queries=("q",)) == first
    assert times(study) == before


def test_only_what_changed_is_made_again(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "a.wav", sine())
    write(tmp_path / "b.wav", noise())
    first = prepare(tmp_path, study, "a", "b", format="wav")
    before = times(study)
    write(tmp_path / "b.wav", noise(seed=5))
    write(tmp_path / "c.wav", noise(seed=6))
    second = prepare(tmp_path, study, "a", "b", "c", format="wav")
    assert part_of(first, "a") == part_of(second, "a")
    kept = part_of(first, "a").file or ""
    assert times(study)[kept] == before[kept]
    assert part_of(first, "b").file not in times(study)
    assert len(times(study)) == 7


def test_an_interrupted_run_goes_on(tmp_path: Path, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import earmark.media.preparation as preparation

    for i in range(4):
        write(tmp_path / f"{i}.wav", noise(seed=i))
    names = [str(i) for i in range(4)]
    real, made = preparation.encode_clip, []

    def failing(original, *rest, **options):
        if original.path.stem == "2" and len(made) < 10:
            raise InputError(expected="a clip that can be written", got="No space left on device")
        made.append(original.path.stem)
        return real(original, *rest, **options)

    monkeypatch.setattr(preparation, "encode_clip", failing)
    media = read_media([], names, folder=tmp_path)
    with pytest.raises(InputError, match="No space left"):
        prepare_media(media, study, secret=SECRET, settings=MediaSettings(format="wav"), workers=1)
    assert not (study / "media" / "manifest.json").exists()
    assert made[:2] == ["0", "1"]
    made[:] = ["enough"] * 10
    (study / "media" / f".123-{'0' * 32}.wav").write_bytes(b"left by a run that was killed")
    manifest = prepare_media(media, study, secret=SECRET, settings=MediaSettings(format="wav"), workers=1)
    assert made[10:] == ["2", "3"]
    assert manifest.verify().height == 0
    assert len(times(study)) == 9


def test_a_damaged_file_is_made_again(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "a.wav", sine())
    first = prepare(tmp_path, study, "a", format="wav")
    path = first.path(part_of(first, "a").file or "")
    path.write_bytes(b"damaged")
    assert first.verify().select("problem", "detail").rows() == [("changed", "served")]
    assert prepare(tmp_path, study, "a", format="wav").verify().height == 0
    assert len(path.read_bytes()) > 1000


def test_a_lost_outline_is_noticed_and_made_again(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "a.wav", sine())
    first = prepare(tmp_path, study, "a", format="wav")
    first.path(part_of(first, "a").peaks or "").unlink()
    assert first.verify().select("problem", "detail").rows() == [("missing", "served")]
    assert prepare(tmp_path, study, "a", format="wav").verify().height == 0


def test_what_goes_wrong_while_files_are_made(tmp_path: Path, study: Path) -> None:
    for name in "ab":
        write(tmp_path / f"{name}.wav", sine())
    media = read_media([], "ab", folder=tmp_path)
    (study / "media").write_text("in the way")
    with pytest.raises(InputError, match=r"study/media: expected a folder that can be written, got .*File exists"):
        prepare_media(media, study, secret=SECRET)
    (study / "media").unlink()

    def lose(done: int, total: int) -> None:
        if done == 2:
            (tmp_path / "b.wav").unlink()

    with pytest.raises(
        InputError, match=r"an original that can be read, got nothing there \(.*changed after it was checked"
    ):
        prepare_media(media, study, secret=SECRET, progress=lose, workers=1)
    assert not (study / "media" / "manifest.json").exists()


def test_progress_counts_checks_and_files(tmp_path: Path, study: Path) -> None:
    write(tmp_path / "a.wav", sine())
    write(tmp_path / "b.wav", noise())
    told: list[tuple[int, int]] = []
    media = read_media(["a"], ["a", "b"], folder=tmp_path)
    settings = MediaSettings(format="wav")
    prepare_media(media, study, secret=SECRET, settings=settings, progress=lambda *now: told.append(now))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


# The manifest


def test_the_manifest_is_read_back_and_notices_changes(tmp_path: Path, study: Path) -> None:
    folder = study / "inputs"
    write(folder / "a.wav", sine())
    write(tmp_path / "b.wav", noise())
    (tmp_path / "map.csv").write_text("id,file,title\na,study/inputs/a.wav,First\nb,b.wav,\n")
    media = read_media(["a"], ["a", "b"], media_map=tmp_path / "map.csv")
    manifest = prepare_media(media, study, secret=SECRET, settings=MediaSettings(format="wav"))
    assert read_manifest(study) == manifest
    assert manifest.of_query("a").parts == manifest.of_document("a").parts
    assert manifest.of_document("a").title == "First"
    assert part_of(manifest, "a").original == "inputs/a.wav"
    assert part_of(manifest, "b").original == str(tmp_path / "b.wav")
    assert "2 files for 3 queries and documents" in repr(manifest)
    # The folder may be moved, with what is in it.
    moved = Path(shutil.move(study, tmp_path / "moved"))
    assert read_manifest(moved).verify().height == 0
    (tmp_path / "b.wav").unlink()
    os.truncate(moved / "inputs" / "a.wav", 100)
    changes = read_manifest(moved).verify()
    assert changes.select("id", "role", "problem", "detail").rows() == [
        ("a", "query", "changed", "original"),
        ("a", "document", "changed", "original"),
        ("b", "document", "missing", "original"),
    ]


def test_what_is_not_there_is_said(tmp_path: Path, study: Path) -> None:
    with pytest.raises(InputError, match=r"manifest\.json: expected a file, got nothing there"):
        read_manifest(study)
    write(tmp_path / "a.wav", sine())
    manifest = prepare(tmp_path, study, "a", format="wav")
    with pytest.raises(ParameterError, match="no media of query 'a'"):
        manifest.of_query("a")
    with pytest.raises(ParameterError, match="no name of a file that is served"):
        manifest.path("../../etc/passwd")
    with pytest.raises(InputError, match="expected the folder of a campaign, got nothing there"):
        prepare(tmp_path, tmp_path / "none", "a")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"format": 1', '"format": 99', r"expected format 1, got 99 \(it was written by another version"),
        (
            '"file": "',
            '"file": "../',
            r"expected a manifest of media, got ValueError: '\.\./[0-9a-f]+\.wav' is no name",
        ),
        ('"media"', '"nothing"', r"expected a manifest of media, got KeyError: 'media'"),
        ('"gain"', '"pain"', r"expected a manifest of media, got TypeError"),
        ("{", "", r"expected a manifest of media, got JSONDecodeError"),
    ],
)
def test_a_manifest_that_is_not_ours(tmp_path: Path, study: Path, old: str, new: str, said: str) -> None:
    write(tmp_path / "a.wav", sine())
    prepare(tmp_path, study, "a", format="wav")
    path = study / "media" / "manifest.json"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        read_manifest(study)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"start": -1.0}, "starts at 0 seconds or later, got -1"),
        ({"seconds": 0.0}, "lasts 0.1 seconds or longer, got 0"),
        ({"seconds": float("nan")}, "lasts 0.1 seconds or longer, got nan"),
        ({"fade": 20.0}, "from 0 seconds to half of the excerpt, got 20"),
        ({"loudness": 0.0}, "from -60 to -5 LUFS, got 0"),
        ({"peak": 1.0}, "from -20 to 0 dB, got 1"),
        ({"format": "ogg"}, "is mp3, flac or wav, got 'ogg'"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, float], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        MediaSettings(**settings)
