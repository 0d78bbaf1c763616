import gzip

import pytest

from earmark.data.files import data_lines, decode, first_data_line, read_bytes, to_utf8, words
from earmark.errors import InputError


def lines_of(path, *, encoding="utf-8", comments=True):
    return list(data_lines(path, encoding=encoding, comments=comments))


def test_lines_that_hold_data(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"# c\n\n a b \r\n \t \n  # d\n#e\nf #g\nlast")
    assert lines_of(path) == [(3, " a b "), (7, "f #g"), (8, "last")]
    assert [number for number, _ in lines_of(path, comments=False)] == [1, 3, 5, 6, 7, 8]
    assert first_data_line(path, encoding="utf-8", comments=True) == (3, " a b ")


def test_only_a_newline_ends_a_line(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("a\u2028b\x0bc\x1cd\x85e\rf\ng\n", encoding="utf-8", newline="")
    assert [text for _, text in lines_of(path)] == ["a\u2028b\x0bc\x1cd\x85e\rf", "g"]


def test_only_ascii_white_space_separates():
    assert words(" a\u00a0b \t c\u3000\x1fd\v\fe\r") == ["a\u00a0b", "c\u3000\x1fd", "e"]
    assert words("a b  c d ", cuts=2) == ["a", "b", "c d"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "UTF8", "utf_8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
)
def test_every_encoding_with_and_without_a_mark(tmp_path, encoding, pack):
    path = tmp_path / "x.txt"
    for mark in ("", "\ufeff"):
        if mark and encoding == "latin-1":
            continue
        path.write_bytes(pack(f"{mark}# ö\né 1\n\nÿ 2\n".encode(encoding)))
        assert lines_of(path, encoding=encoding) == [(2, "é 1"), (4, "ÿ 2")]
        text = to_utf8(read_bytes(path), encoding, path).decode("utf-8")
        assert text.endswith("é 1\n\nÿ 2\n")
        assert not text.startswith("\ufeff") or mark == "\ufeff"


@pytest.mark.parametrize(
    ("text", "encoding", "line"),
    [
        (b"a\nb\n\xe9\n", "utf-8", 3),
        (b"a\n" * 20_000 + b"\xe9\n", "utf-8", 20_001),
        # U+0A0A and U+010A hold bytes of a newline without being one.
        ("\u0a0a\u010a\nb\n".encode("utf-16") + b"\x00\xd8", "utf-16", 3),
    ],
)
def test_what_cannot_be_decoded_is_named_with_its_line(tmp_path, text, encoding, line):
    path = tmp_path / "x.txt"
    path.write_bytes(text)
    for read in (lambda: lines_of(path, encoding=encoding), lambda: decode(text, encoding, path)):
        with pytest.raises(InputError, match=f"expected text in {encoding}, got byte 0x") as caught:
            read()
        assert (caught.value.path, caught.value.line) == (str(path), line)
        assert caught.value.hint == "name the file's encoding, for example --encoding latin-1"


def test_utf_16_needs_its_mark(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes("a b\n".encode("utf-16-le"))
    with pytest.raises(InputError, match=r"expected text in utf-16, got .*BOM.* \(name the file's encoding"):
        lines_of(path, encoding="utf-16")


def test_unknown_encodings(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("a\n")
    for read in (
        lambda name: lines_of(path, encoding=name),
        lambda name: decode(b"", name, path),
        lambda name: to_utf8(b"", name, path),
    ):
        for name in ("klingon", "hex", "undefined", "punycode", "idna"):
            with pytest.raises(InputError, match=rf"x\.txt: expected a known encoding, got '{name}'"):
                read(name)


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "x.txt"
    with pytest.raises(InputError, match="expected a file, got nothing there"):
        lines_of(path)
    with pytest.raises(InputError, match="expected a file, got a directory"):
        read_bytes(tmp_path)
    whole = gzip.compress(b"a b c\n" * 1000)
    for broken in (whole[:-9], whole[:20], whole[:3], whole[:12] + b"\xff" * 20):
        path.write_bytes(broken)
        for read in (read_bytes, lines_of):
            with pytest.raises(InputError, match=r"x\.txt: expected a readable file, got "):
                read(path)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# only\n#comments\n", b"\xef\xbb\xbf", b" \t\r\n"])
def test_nothing_to_tell_the_format_by(tmp_path, data):
    path = tmp_path / "x.txt"
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"x\.txt: expected lines of data, got an empty file"):
        first_data_line(path, encoding="utf-8", comments=True)
