"""The levels models predict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark.data.scales import BINARY, BROAD, FINE, ORDERED, parse_scale
from earmark.errors import ParameterError
from earmark.predictors.ordinal_levels import model_levels, to_levels
from earmark.predictors.ordinal_models import published_model, published_names


@pytest.mark.parametrize("name", published_names())
def test_the_published_models_predict_these_levels(name: str) -> None:
    scale = BROAD if name.endswith("broad") else FINE
    assert published_model(name).levels == model_levels(scale)


def test_whole_fine_gains_are_divided_by_eleven_and_rounded() -> None:
    gains = np.arange(101)
    assert to_levels(FINE, gains).tolist() == [round(gain / 11) for gain in gains.tolist()]


@pytest.mark.parametrize("scale", [BINARY, BROAD, parse_scale("0..10"), parse_scale("0,1,3,7")])
def test_short_scales_keep_their_levels(scale) -> None:
    assert model_levels(scale) == scale.gains
    np.testing.assert_array_equal(to_levels(scale, scale.gains), np.arange(len(scale.gains)))


@pytest.mark.parametrize(("text", "top"), [("0.0..1.0", 1.0), ("0..1000", 1000.0), ("0..11", 11.0)])
def test_long_and_continuous_scales_get_ten_levels(text: str, top: float) -> None:
    scale = parse_scale(text)
    np.testing.assert_allclose(model_levels(scale), top * np.arange(0, 100, 11) / 100)
    np.testing.assert_array_equal(to_levels(scale, np.array(model_levels(scale))), np.arange(10))
    assert to_levels(scale, [top]).tolist() == [9]


def test_gains_between_levels_belong_to_the_nearest_and_halfway_to_the_higher() -> None:
    assert to_levels(BROAD, [0.4, 0.5, 1.49, 1.5, 2]).tolist() == [0, 1, 1, 2, 2]
    assert to_levels(FINE, [5.5, 16.4]).tolist() == [1, 1]
    assert to_levels(parse_scale("0,1,3,7"), [1.9, 2, 4.9, 5]).tolist() == [1, 2, 2, 3]


@given(st.sampled_from([BROAD, FINE, parse_scale("0.0..1.0"), parse_scale("0,1,3,7")]), st.lists(st.floats(0, 1)))
def test_no_other_level_is_nearer(scale, shares: list[float]) -> None:
    gains, levels = np.array(shares) * scale.top, np.array(model_levels(scale))
    distance = np.abs(gains[:, None] - levels)
    chosen = to_levels(scale, gains)
    assert chosen.dtype == np.int64
    np.testing.assert_allclose(distance[np.arange(gains.size), chosen], distance.min(axis=1), atol=1e-12)


def test_gains_off_the_scale_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"^a gain on the scale 'broad' is from 0 to 2, got -1$"):
        to_levels(BROAD, [0, -1])
    with pytest.raises(ParameterError, match=r"^a gain on the scale 'fine' is from 0 to 100, got nan$"):
        to_levels(FINE, [float("nan")])
    with pytest.raises(ParameterError, match=r"^the scale 'ordered' only orders documents"):
        model_levels(ORDERED)
