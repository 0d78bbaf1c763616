"""Nothing about a file tells a query beside itself from two songs: own bytes, equal sizes, and the sound unchanged."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import soundfile
from made_sounds import RATE, SECRET, drums, noise, picture, sine, write

from earmark.errors import ParameterError
from earmark.media import Manifest, MediaSettings, prepare_media, read_media
from earmark.media.checks import file_hash
from earmark.media.clips import _BITS, _OPTIONS
from earmark.media.manifest import Served
from earmark.media.padding import LEAST, common_size, pad_file, size_without_padding, with_padding, without_padding

FORMATS = ["mp3", "flac", "wav"]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    return folder


def prepare(home: Path, study: Path, queries: list[str], documents: list[str], **settings: object) -> Manifest:
    media = read_media(queries, documents, folder=home)
    return prepare_media(media, study, secret=SECRET, settings=MediaSettings(**settings), twins=queries)


def part(manifest: Manifest, role: str, name: str) -> Served:
    medium = manifest.find(role, name)
    assert medium is not None
    (only,) = medium.parts
    return only


def sound(manifest: Manifest, role: str, name: str) -> np.ndarray:
    return soundfile.read(manifest.path(part(manifest, role, name).file or ""), always_2d=True)[0]


def bytes_of(manifest: Manifest, role: str, name: str) -> bytes:
    return manifest.path(part(manifest, role, name).file or "").read_bytes()


# ---- padding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("more", [LEAST, LEAST + 2, 5_000, 3_000_000, 20_000_000])
def test_padding_changes_the_size_and_nothing_else(tmp_path: Path, form: str, more: int) -> None:
    path = tmp_path / f"a.{form}"
    soundfile.write(path, noise(seconds=0.5), RATE, subtype=_BITS.get(form), **_OPTIONS.get(form, {}))
    plain, before = path.read_bytes(), soundfile.read(path)[0]
    size = len(plain) + more
    pad_file(path, size)
    assert path.stat().st_size == size
    assert np.array_equal(soundfile.read(path)[0], before)
    assert size_without_padding(path) == len(plain)
    assert without_padding(path.read_bytes(), f".{form}") == plain
    # Filled up to another size, nothing of the first padding stays.
    pad_file(path, size + 100)
    assert path.read_bytes() == with_padding(plain, f".{form}", size + 100)
    assert np.array_equal(soundfile.read(path)[0], before)


def test_blocks_of_flac_that_would_leave_no_room_for_a_head(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    soundfile.write(path, sine(seconds=0.2), RATE, subtype="PCM_16")
    plain, before = path.read_bytes(), soundfile.read(path)[0]
    for more in range((1 << 24) - 2, (1 << 24) + 8):
        filled = with_padding(plain, ".flac", len(plain) + more)
        assert len(filled) == len(plain) + more
        assert without_padding(filled, ".flac") == plain
    path.write_bytes(filled)
    assert np.array_equal(soundfile.read(path)[0], before)


@pytest.mark.parametrize("form", FORMATS)
def test_padding_of_what_is_too_large_or_no_sound(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{form}"
    soundfile.write(path, sine(seconds=0.2), RATE, subtype=_BITS.get(form), **_OPTIONS.get(form, {}))
    with pytest.raises(ParameterError, match="cannot be filled up"):
        with_padding(path.read_bytes(), f".{form}", path.stat().st_size + LEAST - 2)
    if form != "mp3":
        with pytest.raises(ParameterError, match=r"no \.\w+ file"):
            without_padding(b"nothing of the kind", f".{form}")
    with pytest.raises(ParameterError, match=r"no \.ogg file"):
        without_padding(b"OggS", ".ogg")


def test_the_common_size_has_room_for_all() -> None:
    for sizes in ([1], [4096 - LEAST], [4097 - LEAST], [10, 100_000]):
        size = common_size(sizes)
        assert size % 4096 == 0
        assert LEAST <= size - max(sizes) < LEAST + 4096


@pytest.mark.parametrize("form", FORMATS)
def test_all_sounds_have_one_size_and_the_hashes_are_those_of_what_is_served(
    tmp_path: Path, study: Path, form: str
) -> None:
    home = tmp_path / "songs"
    write(home / "q.wav", drums())
    write(home / "loud.wav", noise())
    write(home / "tone.wav", sine(seconds=1.3))
    picture(home / "p.png")
    manifest = prepare(home, study, ["q", "p"], ["loud", "tone"], format=form)
    files = [one.file for medium in manifest.media for one in medium.parts if one.kind == "audio" and one.file]
    assert len(files) == 4
    assert len({manifest.path(one).stat().st_size for one in files}) == 1
    assert manifest.verify().height == 0
    times = {one: manifest.path(one).stat().st_mtime_ns for one in files}
    again = prepare(home, study, ["q", "p"], ["loud", "tone"], format=form)
    assert again.media == manifest.media
    assert {one: manifest.path(one).stat().st_mtime_ns for one in files} == times, "nothing was written again"
    # A larger song makes all files larger, and their sounds stay.
    before = sound(manifest, "document", "tone")
    write(home / "long.wav", noise(seconds=6.0))
    larger = prepare(home, study, ["q", "p"], ["loud", "tone", "long"], format=form)
    assert part(larger, "document", "tone").file == part(manifest, "document", "tone").file
    assert part(larger, "document", "tone").file_sha256 != part(manifest, "document", "tone").file_sha256
    assert np.array_equal(sound(larger, "document", "tone"), before)
    assert larger.verify().height == 0
    assert file_hash(larger.path(part(larger, "twin", "q").file or "")) == part(larger, "twin", "q").file_sha256


# ---- a second recording ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [1.0, 4.0], ids=["whole recordings", "excerpts"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_query_has_a_twin_that_is_the_same_song_and_another_file(
    tmp_path: Path, study: Path, form: str, seconds: float
) -> None:
    home = tmp_path / "songs"
    write(home / "q.wav", noise(seconds=seconds, seed=1))
    write(home / "d.wav", noise(seconds=seconds, seed=2))
    manifest = prepare(home, study, ["q"], ["d"], format=form, start=0.0, seconds=1.0)
    query, twin = part(manifest, "query", "q"), part(manifest, "twin", "q")
    assert len({query.file, twin.file, part(manifest, "document", "d").file}) == 3
    assert query.seconds == pytest.approx(twin.seconds)
    contents = [bytes_of(manifest, *one) for one in (("query", "q"), ("twin", "q"), ("document", "d"))]
    assert len({len(one) for one in contents}) == 1
    outlines = [manifest.path(one.peaks or "").read_bytes() for one in (query, twin)]
    assert outlines[0] != outlines[1]

    def equal_bytes(one: bytes, other: bytes) -> float:
        plain = [np.frombuffer(without_padding(data, f".{form}"), np.uint8)[500:] for data in (one, other)]
        length = min(len(data) for data in plain)
        return float(np.mean(plain[0][:length] == plain[1][:length]))

    of_two_songs = equal_bytes(contents[0], contents[2])
    assert equal_bytes(contents[0], contents[1]) == pytest.approx(of_two_songs, abs=0.03)
    # The same song, a little later.
    first, second = sound(manifest, "query", "q")[:, 0], sound(manifest, "twin", "q")[:, 0]
    lags = np.fft.irfft(np.fft.rfft(first, 4 * RATE) * np.conj(np.fft.rfft(second, 4 * RATE)))
    lag = int(lags.argmax())
    assert 0.03 * RATE - 1 <= lag <= 0.12 * RATE + 1
    assert np.corrcoef(first[lag:40_000], second[: 40_000 - lag])[0, 1] > 0.7
    # At the end of a whole recording there is no silence.
    assert np.abs(second[-RATE // 50 : -RATE // 100]).max() > 0.2 * np.abs(second).max()


def test_twins_differ_from_song_to_song_and_depend_on_the_key(tmp_path: Path, study: Path) -> None:
    home = tmp_path / "songs"
    names = [f"q{number}" for number in range(6)]
    for name in names:
        write(home / f"{name}.wav", noise(seconds=3.0))
    write(home / "d.wav", sine())
    manifest = prepare(home, study, names, ["d"], seconds=1.0, start=0.0, format="wav")
    starts = [part(manifest, "twin", name).start for name in names]
    assert len(set(starts)) == 6
    assert all(0.0299 <= (start or 0.0) <= 0.1201 for start in starts)
    media = read_media(names, ["d"], folder=home)
    other = study.parent / "other"
    other.mkdir()
    settings = MediaSettings(seconds=1.0, start=0.0, format="wav")
    elsewhere = prepare_media(media, other, secret=b"another secret of ours", settings=settings, twins=names)
    assert [part(elsewhere, "twin", name).start for name in names] != starts


def test_twins_are_as_long_as_documents_are(tmp_path: Path, study: Path) -> None:
    home = tmp_path / "songs"
    names = [f"q{number}" for number in range(12)]
    for name in names:
        write(home / f"{name}.wav", noise(seconds=3.0))
    lengths = [0.5, 1.1, 1.9, 2.4]
    for seconds in lengths:
        write(home / f"d{seconds}.wav", sine(seconds=seconds))
    manifest = prepare(home, study, names, [f"d{one}" for one in lengths], format="wav")
    found = {round(part(manifest, "twin", name).seconds or 0.0, 3) for name in names}
    assert found <= set(lengths)
    assert len(found) > 1


def test_a_twin_of_a_song_with_a_silent_beginning_is_long_enough_to_be_heard(tmp_path: Path, study: Path) -> None:
    home = tmp_path / "songs"
    write(home / "q.wav", np.concatenate((np.zeros((2 * RATE, 2)), noise(seconds=2.0))))
    write(home / "d.wav", sine(seconds=0.5))
    manifest = prepare(home, study, ["q"], ["d"])
    assert part(manifest, "twin", "q").seconds == pytest.approx(4.0)


def test_no_twins_but_those_that_are_wanted(tmp_path: Path, study: Path) -> None:
    home = tmp_path / "songs"
    for name, seed in (("q1", 1), ("q2", 2), ("d", 3)):
        write(home / f"{name}.wav", noise(seed=seed))
    picture(home / "p.png")
    steps: list[tuple[int, int]] = []
    media = read_media(["q1", "q2", "p"], ["d"], folder=home)
    manifest = prepare_media(
        media, study, secret=SECRET, twins=["q2", "p", "d"], progress=lambda done, total: steps.append((done, total))
    )
    assert [medium.id for medium in manifest.media if medium.role == "twin"] == ["q2"]
    assert [done for done, _ in steps] == list(range(1, 11)), "every step is told once, and there are no others"
    assert {total for _, total in steps} == {10}
    assert str(manifest).startswith("Manifest: 5 files for 4 queries and documents")
    without = prepare_media(media, study, secret=SECRET)
    assert [medium.role for medium in without.media] == ["query", "query", "query", "document"]
    assert len(list(itertools.chain.from_iterable(medium.parts for medium in without.media))) == 4
