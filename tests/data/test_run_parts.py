"""Parts of a run have all rows of their queries, each with its number in the run."""

from __future__ import annotations

import numpy as np
import pytest

from earmark.data import run_parts, text_blocks
from earmark.data.run_files import open_run
from earmark.data.run_parts import PartsInMemory, PartsOnDisk


@pytest.mark.parametrize("place", ["memory", "disk"])
@pytest.mark.parametrize("order", ["score", "rank"])
def test_parts_hold_whole_lists_and_together_the_run(tmp_path, monkeypatch, place, order):
    rng = np.random.default_rng(7)
    rows = [(f"q{query}", f"d{document}", f"s{query % 2}") for query in range(30) for document in range(9)]
    rows = [rows[row] for row in rng.permutation(len(rows))]
    lines = [f"{q} Q0 {d} {row} {row / 2} {s}\n" for row, (q, d, s) in enumerate(rows, start=1)]
    (tmp_path / "run").write_text("".join(lines))
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", 500)
    monkeypatch.setattr(run_parts, "PART_BYTES", 1000)
    source = open_run(tmp_path / "run", order=order, encoding="utf-8")
    parts = PartsInMemory(source) if place == "memory" else PartsOnDisk(source, tmp_path / "parts", 5)
    read = [parts.read(piece) for piece in parts.pieces()]
    assert len(read) > 2
    assert set(parts.systems) == {"s0", "s1"}
    queries = [set(part.columns.query.ids) for part in read]
    assert sum(map(len, queries)) == len(set().union(*queries)) == 30
    found = {}
    for part in read:
        columns = part.columns
        ids = zip(columns.query.spelt_out(), columns.document, columns.system.spelt_out(), strict=True)
        found |= dict(zip(part.row.tolist(), ids, strict=True))
        assert columns.score.tolist() == ((part.row + 1) / 2).tolist()
        assert (columns.rank is None) == (order == "score")
        if columns.rank is not None:
            assert columns.rank.tolist() == (part.row + 1).tolist()
    assert [found[row] for row in range(len(rows))] == rows


def test_a_run_of_one_system_keeps_it_as_one_stretch(tmp_path, monkeypatch):
    (tmp_path / "run").write_text("".join(f"q{row % 7} Q0 d{row} 1 {row} s\n" for row in range(70)))
    monkeypatch.setattr(run_parts, "PART_BYTES", 300)
    parts = PartsInMemory(open_run(tmp_path / "run", order="score", encoding="utf-8"))
    assert parts.systems == ("s",)
    assert all(parts.read(piece).columns.system.starts.tolist() == [0] for piece in parts.pieces())
