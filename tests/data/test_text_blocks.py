"""Files in blocks of whole lines, and threads that work on a few of them at a time."""

from __future__ import annotations

import gzip
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data import text_blocks
from earmark.data.text_blocks import before_last_group, in_threads, line_blocks
from earmark.errors import InputError


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("blocks") / "lines.txt"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@given(text=st.text("ab\né ", max_size=40), size=st.integers(3, 20))
def test_blocks_are_whole_lines_and_together_the_file(file, pack, encoding, text, size):
    file.write_bytes(pack(text.encode(encoding)))
    blocks = list(line_blocks(file, encoding, size=size))
    assert b"".join(blocks) == text.encode()
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_a_mark_at_the_start_is_no_text(file):
    file.write_bytes(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n")
    assert b"".join(line_blocks(file, size=4)) == b"a\n\xef\xbb\xbfb\n"


def test_bytes_that_are_no_text_are_named_with_their_line(file):
    file.write_bytes("a\nb\n".encode("ascii") + b"\xff\n")
    with pytest.raises(InputError, match=r"lines.txt:3: expected text in ascii, got byte 0xff"):
        list(line_blocks(file, "ascii", size=3))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_no_more_than_the_limit_is_read(file, pack):
    file.write_bytes(pack(b"line\n" * 1000))
    with pytest.raises(InputError, match="at most 4,999 bytes"):
        list(line_blocks(file, size=100, limit=4999))
    assert len(b"".join(line_blocks(file, size=100, limit=5000))) == 5000


@pytest.mark.parametrize("count", [0, 1, 2, 3, 50])
def test_results_come_in_order_and_few_items_are_taken_ahead(count):
    taken = []

    def items():
        for number in range(count):
            taken.append(number)
            yield number

    for place, result in enumerate(in_threads(lambda number: number * 2, items(), workers=2)):
        assert result == 2 * place
        assert len(taken) <= place + 4


def test_an_error_in_a_thread_reaches_the_caller():
    caller = threading.get_ident()

    def fail(number):
        if number == 3 and threading.get_ident() != caller:
            raise ValueError("three")
        return number

    with pytest.raises(ValueError, match="three"):
        list(in_threads(fail, range(10)))


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("last", [1, 7, 1 << 16])
@pytest.mark.parametrize("size", range(3, 40))
def test_blocks_are_cut_between_groups_wherever_pieces_end(file, monkeypatch, size, last, pack, mark):
    monkeypatch.setattr(text_blocks, "_LAST_BYTES", last)
    data = b"".join(b"q%d x%d\n" % (group, line) for group in range(6) for line in range(group % 3 + 1))
    file.write_bytes(pack(mark + data))
    blocks = list(line_blocks(file, size=size, cut=lambda text, end: before_last_group(text, end, 1)))
    assert b"".join(blocks) == data
    groups = [{line.split()[0] for line in block.splitlines()} for block in blocks]
    assert sum(map(len, groups)) == 6
