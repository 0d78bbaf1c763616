import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data import hashing

ids = st.sampled_from(["a", "b", "ab", "", "é", "1", "aa"])
rows = st.lists(st.tuples(st.integers(0, 2), ids, ids), max_size=12)


def columns_of(rows):
    numbers = np.array([row[0] for row in rows], dtype=np.int64)
    return numbers, *(pl.Series([row[place] for row in rows], dtype=pl.String) for place in (1, 2))


def first_repeated(rows):
    return next((place for place, row in enumerate(rows) if row in rows[:place]), None)


@given(rows)
def test_first_repeated_row(rows):
    assert hashing.first_repeated_row(*columns_of(rows)) == first_repeated(rows)


@given(rows)
def test_colliding_hashes_cost_time_but_never_a_wrong_answer(rows):
    real = hashing.text_keys
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "text_keys", lambda texts: real(texts) % np.uint64(4))
        assert hashing.first_repeated_row(*columns_of(rows)) == first_repeated(rows)
        patch.setattr(hashing, "text_keys", lambda texts: np.zeros(texts.len(), dtype=np.uint64))
        assert hashing.first_repeated_row(*columns_of(rows)) == first_repeated(rows)


def test_nothing_known_about_a_row_is_also_a_value():
    texts = pl.Series(["a", None, "a", None], dtype=pl.String)
    assert hashing.first_repeated_row(np.array([0, 0, 1, 0]), texts) == 3


@given(rows, st.integers(0, 12))
def test_stretches_are_the_column_however_it_is_cut(rows, cut):
    _, column, other = columns_of(rows)
    parts = [hashing.Stretches.of(column[:cut]), hashing.Stretches.of(column[cut:])]
    for found in (hashing.Stretches.join(parts), hashing.Stretches.of(pl.concat([column[:cut], column[cut:]]))):
        assert found.rows == column.len()
        assert found.ids.gather(np.repeat(np.arange(found.starts.size), found.lengths)).to_list() == column.to_list()
        assert found.starts.tolist() == hashing.Stretches.of(column).starts.tolist()
        starts = found.starts_with(hashing.Stretches.of(other))
        pairs = list(zip(column, other, strict=True))
        assert starts.tolist() == [at for at, pair in enumerate(pairs) if at == 0 or pair != pairs[at - 1]]
        assert found.split_at(starts).to_list() == column.gather(starts).to_list()


@pytest.mark.parametrize("few", [0, 100])
@given(rows=rows)
def test_pairs_are_numbered_in_order_of_appearance(few, rows):
    _, first, second = columns_of(rows)
    pairs = list(zip(first, second, strict=True))
    known = list(dict.fromkeys(pairs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_FEW", few)
        number, where = hashing.number_pairs(first, second)
    assert [known[place] for place in number] == pairs
    assert where.tolist() == [pairs.index(pair) for pair in known]


@given(st.lists(st.one_of(st.integers(0, 5), st.just(10**9))))
def test_numbers_by_appearance_and_stable_order(codes):
    array = np.array(codes, dtype=np.int64)
    number, first = hashing.number_by_appearance(array)
    known = list(dict.fromkeys(codes))
    assert [known[place] for place in number] == codes
    assert first.tolist() == [codes.index(code) for code in known]
    assert hashing.stable_order(number).tolist() == np.argsort(number, kind="stable").tolist()


numbers = st.integers(0, 3) | st.integers(0, 2**31 - 1)


@given(st.lists(st.tuples(numbers, numbers | st.just(2**32 - 1))))
def test_a_stable_order_is_that_of_sorting_by_the_last_numbers_first(rows):
    first = np.array([row[1] for row in rows], dtype=np.uint32)
    last = np.array([row[0] for row in rows], dtype=np.int32)
    assert hashing.stable_order(first, last).tolist() == sorted(range(len(rows)), key=rows.__getitem__)


def test_small_numbers_are_spread_over_all_bits():
    spread = hashing.spread(np.arange(1000))
    assert len(set((spread >> np.uint64(54)).tolist())) > 600
    assert hashing.spread(np.array([-1], dtype=np.int32)).tolist() == [(-0x9E3779B97F4A7C15) % 2**64]


keys = st.integers(0, 5) | st.integers(0, 2**64 - 1)


@given(st.lists(st.lists(keys, max_size=9), max_size=4), st.lists(st.tuples(st.integers(-1, 3), keys)))
def test_a_table_of_keys_finds_every_row_of_every_key_of_a_group(groups, others):
    rows = [(group, key) for group, members in enumerate(groups) for key in members]
    asked = rows[::2] + [(group, key) for group, key in others if group < len(groups)]
    counts = np.array([len(members) for members in groups], dtype=np.int64)
    table = hashing.KeyTable(np.array([key for _, key in rows], dtype=np.uint64), counts)
    group = np.array([group for group, _ in asked], dtype=np.int32)
    at, found = table.find(np.array([key for _, key in asked], dtype=np.uint64), group)
    expected = [(place, row) for place, one in enumerate(asked) for row, other in enumerate(rows) if other == one]
    assert sorted(zip(at.tolist(), found.tolist(), strict=True)) == expected


@pytest.mark.parametrize("most", [2, 1000])
@given(keys=st.lists(keys))
def test_equal_keys_are_found_in_a_table_or_by_sorting(most, keys):
    array = np.array(keys, dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "_MOST_IN_TABLE", most)
        assert hashing._may_repeat(array.copy()) == (len(set(keys)) < len(keys))
    row = hashing._equal_key(array)
    assert array[row].tolist() == keys
    assert len(set(row.tolist())) == len(set(keys))


@pytest.mark.parametrize("distinct", [1, 3, 2**64 - 1])
@given(rows=rows)
def test_rows_are_equal_where_all_of_their_texts_are(rows, distinct):
    real = hashing.text_keys
    _, first, second = columns_of(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "text_keys", lambda texts: real(texts) % np.uint64(distinct))
        row = hashing.equal_row(first, second)
    pairs = list(zip(first, second, strict=True))
    assert [pairs[place] for place in row] == pairs
    assert len(set(row.tolist())) == len(set(pairs))
