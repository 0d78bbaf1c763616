import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.scales import BINARY, BROAD, FINE, ORDERED, Scale, guess_scale, parse_scale
from earmark.errors import ParameterError


@pytest.mark.parametrize(
    ("text", "gains", "continuous"),
    [
        ("binary", (0, 1), False),
        (" Broad ", (0, 1, 2), False),
        ("FINE", tuple(range(101)), False),
        ("0..3", (0, 1, 2, 3), False),
        ("0..1", (0, 1), False),
        ("0.0..1.0", (0, 1), True),
        ("0..2.5", (0, 2.5), True),
        ("0,1,3,7", (0, 1, 3, 7), False),
        ("0, 0.5, 1", (0, 0.5, 1), False),
    ],
)
def test_scales_as_they_are_written(text, gains, continuous):
    scale = parse_scale(text)
    assert (scale.gains, scale.continuous, scale.top) == (gains, continuous, gains[-1])


def test_one_scale_has_one_name():
    assert parse_scale("0..1") is BINARY
    assert parse_scale("0..2") is BROAD
    assert parse_scale("0..100") is FINE
    assert parse_scale("0.00..1.0") == parse_scale("0.0..1.0")


written = st.one_of(
    st.sampled_from(["binary", "broad", "fine"]),
    st.integers(1, 300).map(lambda top: f"0..{top}"),
    st.floats(1e-6, 1e9).map(lambda top: f"0.0..{top!r}"),
    st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=4, unique=True).map(
        lambda gains: ",".join(map(repr, [0.0, *sorted(gains)]))
    ),
)


@given(written)
def test_a_name_gives_back_its_scale(text):
    scale = parse_scale(text)
    assert parse_scale(scale.name) == scale
    assert str(scale) == scale.name


@pytest.mark.parametrize(
    "text", ["", "narrow", "3", "1..3", "0..x", "0..", "..3", "0..1..2", "a,b", "-1..1", "0.0..x", "0.5.1"]
)
def test_scales_that_there_are_not(text):
    with pytest.raises(ParameterError, match=f"unknown scale '{text}': use binary, broad, fine, a range"):
        parse_scale(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0..0", "two or more ascending gains"),
        ("0,3,1", "two or more ascending gains"),
        ("0,1,1", "two or more ascending gains"),
        ("1,2", "starts at gain 0, got 1"),
        ("0.5..1.0", "starts at gain 0, got 0.5"),
        ("0.0..nan", "two or more ascending gains"),
        ("0.0..inf", "two or more ascending gains"),
        ("0,nan", "two or more ascending gains"),
    ],
)
def test_gains_that_make_no_scale(text, message):
    with pytest.raises(ParameterError, match=message):
        parse_scale(text)


def test_what_a_scale_contains():
    gains = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
    assert BROAD.contains(gains).tolist() == [False, True, False, True, True, False]
    assert parse_scale("0.0..2.0").contains(gains).tolist() == [False, True, True, True, True, False]
    assert ORDERED.contains(gains).tolist() == [False, True, True, True, True, True]


@pytest.mark.parametrize(
    ("gains", "name"),
    [
        ([], "binary"),
        ([0, 0], "binary"),
        ([-1, -1], "binary"),
        ([0, 1], "binary"),
        ([1, 2], "broad"),
        ([0, 3], "0..3"),
        ([10], "0..10"),
        ([11], "fine"),
        ([100], "fine"),
        ([0.5], "0.0..1.0"),
        ([0.5, 1], "0.0..1.0"),
        ([0.5, 7], "0.0..10.0"),
        ([0.5, 10], "0.0..10.0"),
        ([33.3], "0.0..100.0"),
        ([1234.5], "0.0..10000.0"),
        ([0.5, 1e20], "0.0..1e+20"),
        ([-0.5, 1], "binary"),
    ],
)
def test_guessed_scales(gains, name):
    scale = guess_scale(np.array(gains, dtype=np.float64))
    assert scale.name == name
    assert parse_scale(name) == scale


@given(st.lists(st.one_of(st.integers(-1, 100).map(float), st.floats(0, 1e15)), min_size=1))
def test_a_guessed_scale_contains_the_gains(gains):
    array = np.array(gains)
    if np.all(array == np.floor(array)) and array.max() > 100:
        with pytest.raises(ParameterError, match=r"highest gain is .* name the scale \(--scale\)"):
            guess_scale(array)
    else:
        assert guess_scale(array).contains(array[array >= 0]).all()


def test_a_scale_needs_two_gains():
    with pytest.raises(ParameterError, match="two or more ascending gains"):
        Scale("odd", (0.0,))
