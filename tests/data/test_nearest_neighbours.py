import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from earmark.data.nearest_neighbours import guess_kind, nearest
from earmark.errors import InputError, ParameterError

# Few values, so that ties abound: among them zeros of both signs, numbers that differ only beyond 32 bits,
# one that overflows them, and both infinities.
TIED_VALUES = [0.0, -0.0, 0.5, 1.0, 1.0 + 1e-9, 1.0 - 1e-9, -2.0, 1e300, np.inf, -np.inf]


def brute_force(values, *, k, kind, own, labels, tie_order, row):
    """The definition, one column at a time."""
    sign, never = (-1, np.inf) if kind == "distance" else (1, -np.inf)
    ranked = []
    with np.errstate(over="ignore"):
        for column, value in enumerate(values[row]):
            excluded = any(rows[row] == columns[column] and rows[row] >= 0 for rows, columns in labels)
            if not excluded and column != own[row] and value != never:
                ranked.append((float(np.float32(sign * value)), tie_order[column], column))
    ranked.sort(reverse=True)
    return [(column, score) for score, _, column in ranked[:k]]


def as_lists(found):
    return [
        list(zip(columns[:length].tolist(), scores[:length].tolist(), strict=True))
        for columns, scores, length in zip(*found, strict=True)
    ]


@st.composite
def problems(draw):
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 12))
    dtype = draw(st.sampled_from([np.float64, np.float32, ">f8"]))
    with np.errstate(over="ignore"):
        values = draw(hnp.arrays(np.float64, (n, m), elements=st.sampled_from(TIED_VALUES))).astype(dtype)
    numbers = st.integers(-1, 2)
    label_arrays = st.tuples(hnp.arrays(np.int64, n, elements=numbers), hnp.arrays(np.int64, m, elements=numbers))
    return {
        "values": np.asfortranarray(values) if draw(st.booleans()) else values,
        "k": draw(st.integers(1, m + 2)),
        "kind": draw(st.sampled_from(["distance", "similarity"])),
        "own": draw(hnp.arrays(np.int64, n, elements=st.integers(-1, m - 1))),
        "labels": draw(st.lists(label_arrays, max_size=2)),
        "tie_order": np.array(draw(st.permutations(range(m)))),
    }


def solve(problem, **options):
    arguments = dict(problem)
    return nearest(arguments.pop("values"), column_of_row=arguments.pop("own"), **arguments, **options)


@given(problems(), st.data())
def test_nearest_is_the_definition(problem, data):
    n = len(problem["values"])
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=8))
    found = solve(problem, rows=np.array(rows, dtype=np.int64), block_rows=data.draw(st.integers(1, 4)))
    assert as_lists(found) == [brute_force(**problem, row=row) for row in rows]
    beyond = np.arange(problem["k"]) >= found.lengths[:, None]
    assert (found.indices[beyond] == -1).all()
    assert (found.scores[beyond] == -np.inf).all()
    assert (found.indices.dtype, found.scores.dtype) == (np.int32, np.float32)


@given(problems())
def test_a_longer_list_starts_with_the_shorter_one(problem):
    longer = as_lists(solve({**problem, "k": problem["k"] + 1}))
    assert as_lists(solve(problem)) == [ranked[: problem["k"]] for ranked in longer]


@given(problems())
def test_distances_are_negated_similarities(problem):
    other = "similarity" if problem["kind"] == "distance" else "distance"
    mirrored = solve({**problem, "values": -problem["values"], "kind": other})
    assert as_lists(solve(problem)) == as_lists(mirrored)


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_columns_does_not_matter(problem, random):
    m = problem["values"].shape[1]
    shuffled = np.array(random.sample(range(m), m))
    new_place = np.argsort(shuffled)
    own = problem["own"]
    moved = {
        **problem,
        "values": problem["values"][:, shuffled],
        "own": np.where(own < 0, -1, new_place[own]),
        "labels": [(of_rows, of_columns[shuffled]) for of_rows, of_columns in problem["labels"]],
        "tie_order": problem["tie_order"][shuffled],
    }
    expected, got = solve(problem), solve(moved)
    np.testing.assert_array_equal(got.scores, expected.scores)
    np.testing.assert_array_equal(np.where(got.indices < 0, -1, shuffled[got.indices]), expected.indices)


def test_wide_rows_agree_with_a_full_sort():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 40, (30, 3000)).astype(np.float32)
    tie_order = rng.permutation(3000)
    found = nearest(values, k=100, kind="similarity", tie_order=tie_order, column_of_row=np.arange(30))
    for row in range(30):
        order = np.lexsort((-tie_order, -values[row]))
        assert found.indices[row].tolist() == order[order != row][:100].tolist()


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16, bool])
def test_other_types_of_number(dtype):
    values = np.array([[3, 1, 2], [0, 1, 0]]).astype(dtype)
    problem = {"own": [-1, -1], "labels": [], "tie_order": range(3), "k": 3, "kind": "distance"}
    expected = [brute_force(values.astype(float), **problem, row=row) for row in range(2)]
    assert as_lists(nearest(values, k=3)) == expected


def test_a_distance_beyond_32_bits_is_not_infinite():
    found = nearest(np.array([[1e300, np.inf, 1.0]]), k=3)
    assert found.indices.tolist() == [[2, 0, -1]]


def test_an_infinite_similarity_ranks_first():
    found = nearest(np.array([[1.0, np.inf, -np.inf]]), k=3, kind="similarity")
    assert found.indices.tolist() == [[1, 0, -1]]


def test_scores_have_no_negative_zero():
    found = nearest(np.array([[0.0, -0.0]]), k=2)
    assert not np.signbit(found.scores).any()


def test_progress_adds_up_to_the_rows():
    done = []
    nearest(np.zeros((7, 3)), k=1, block_rows=3, on_rows=done.append)
    assert done == [3, 3, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be at least 1, not 0"),
        ({"kind": "auto"}, "kind must be 'distance' or 'similarity', not 'auto'"),
        ({"block_rows": 0}, "block_rows must be at least 1"),
        ({"rows": np.array([2])}, "rows must lie in 0..1"),
        ({"rows": np.array([0.5])}, "rows must be a vector of integers"),
        ({"column_of_row": np.array([0, 3])}, "column_of_row must lie in -1..2"),
        ({"column_of_row": np.array([0])}, "column_of_row must hold 2 numbers, not 1"),
        ({"tie_order": np.array([0, 1, 1])}, "tie_order must be a permutation"),
        ({"tie_order": np.array([1, 2, 3])}, "tie_order must lie in 0..2"),
        ({"labels": [(np.zeros(3, int), np.zeros(3, int))]}, "row labels must hold 2 numbers, not 3"),
        ({"labels": [(np.zeros(2, int), np.zeros(2, int))]}, "column labels must hold 3 numbers, not 2"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(ParameterError, match=message):
        nearest(np.zeros((2, 3)), **{"k": 1, **options})


@pytest.mark.parametrize("shape", [(3,), (0, 3), (3, 0), (2, 2, 2)])
def test_nearest_needs_a_matrix(shape):
    with pytest.raises(ParameterError, match="must be a matrix that is not empty"):
        nearest(np.zeros(shape), k=1)


@pytest.mark.parametrize("nan", [np.nan, -np.nan])
def test_nearest_refuses_nan_in_the_rows_it_looks_at(nan):
    values = np.zeros((4, 3), dtype=np.float32)
    values[2, 1] = nan
    assert nearest(values, k=1, rows=np.array([0, 1, 3])).lengths.tolist() == [1, 1, 1]
    with pytest.raises(InputError, match="expected a number in every cell, got NaN in row 2, column 1"):
        nearest(values, k=1, rows=np.array([3, 2]), block_rows=1)


# Guessing the kind


def test_guess_kind():
    points = np.random.default_rng(1).normal(size=(50, 3))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    shuffled = np.random.default_rng(2).permutation(50)
    assert guess_kind(distances) == "distance"
    assert guess_kind(-distances) == "similarity"
    assert guess_kind(np.exp(-distances).astype(np.float32), sample_rows=7) == "similarity"
    assert guess_kind(distances[:, shuffled]) is None
    assert guess_kind(distances[:, shuffled], column_of_row=np.argsort(shuffled)) == "distance"
    assert guess_kind(distances, column_of_row=np.full(50, -1)) is None


def test_guess_kind_ignores_rows_that_say_nothing():
    distances = np.abs(np.subtract.outer(np.arange(20.0), np.arange(20.0)))
    assert guess_kind(distances[:4, :4]) is None
    assert guess_kind(np.ones((20, 20))) is None
    assert guess_kind(np.ones((20, 1)), column_of_row=np.zeros(20, int)) is None
    np.fill_diagonal(distances, np.inf)
    assert guess_kind(distances) is None


def test_guess_kind_allows_a_few_exceptions():
    distances = 1 - np.eye(100)
    distances[:4] = 0.5
    distances[np.arange(4), np.arange(4)] = 1
    assert guess_kind(distances) == "distance"
    distances[:10] = 0.5
    distances[np.arange(10), np.arange(10)] = 1
    assert guess_kind(distances) is None


# Memory


def test_giving_pages_back_leaves_private_changes_alone(tmp_path):
    """A copy-on-write mapping lives in its pages: they must not be dropped."""
    np.save(tmp_path / "D.npy", np.ones((2, 2)))
    private = np.load(tmp_path / "D.npy", mmap_mode="c")
    private[0, 1] = 0.0
    assert nearest(private, k=1).indices[0, 0] == 1
    assert private[0, 1] == 0.0
