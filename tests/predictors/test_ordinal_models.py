"""The published models against the worked example of their paper, and model files."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from earmark.errors import InputError, ParameterError
from earmark.predictors.ordinal_models import NamedModel, published_model, published_names
from earmark.predictors.ordinal_regression import fit_ordinal, predict_levels

OUTPUT = ("pTEAM", "OV", "pART", "sGEN", "pGEN", "sGEN:pGEN")
JUDGE = ("pTEAM", "OV", "aSYS", "aART")


def moments(model, features):
    """Mean and variance of the gain of every row (Urbano & Schedl, Eq. 1)."""
    probabilities, gains = model.probabilities(features), np.array(model.levels)
    mean = probabilities @ gains
    return mean, probabilities @ gains**2 - mean**2


def test_the_worked_example_of_the_appendix():
    model = published_model("mtc-output-broad")
    features = [[0.25, 0.8053, 0.0217, 1, 0.8478, 1 * 0.8478]]
    probabilities = model.probabilities(features)[0]
    assert logit(probabilities[2]) == pytest.approx(0.8798, abs=5e-5)
    assert logit(probabilities[1:].sum()) == pytest.approx(2.9634, abs=5e-5)
    np.testing.assert_allclose(probabilities, [0.0491, 0.2441, 0.7068], atol=5e-5)
    mean, variance = moments(model, features)
    assert mean[0] == pytest.approx(1.6577, abs=5e-5)
    # The paper computes .3233 from the rounded numbers above; without rounding it is .32336.
    assert variance[0] == pytest.approx(0.3233, abs=1e-4)
    rounded = 0.2441 + 0.7068 * 2**2 - 1.6577**2
    assert rounded == pytest.approx(0.3233, abs=5e-5)


def test_the_parameters_of_table_7():
    # The table by rows, with its columns Broad L_output, Broad L_judge, Fine L_output, Fine L_judge.
    names = ("mtc-output-broad", "mtc-judge-broad", "mtc-output-fine", "mtc-judge-fine")
    assert published_names() == names
    table = {
        "pTEAM": (2.3677, 2.0900, 2.2223, 1.4405),
        "OV": (1.9749, 0.2420, 2.0652, 0.1139),
        "pART": (3.2041, None, 2.9179, None),
        "sGEN": (1.9030, None, 2.0174, None),
        "pGEN": (5.4144, None, 5.4605, None),
        "sGEN:pGEN": (-2.9848, None, -3.4288, None),
        "aSYS": (None, 1.1490, None, 0.0115),
        "aART": (None, 7.1853, None, 0.2128),
    }
    intercepts = [
        (-3.2513, -5.5370, -1.7043, -2.1862),
        (-5.3349, -12.2572, -2.6087, -4.6920),
        (None, None, -3.2373, -6.9954),
        (None, None, -3.7705, -9.2063),
        (None, None, -4.2464, -11.2362),
        (None, None, -4.8460, -13.5847),
        (None, None, -5.5678, -15.8001),
        (None, None, -6.6135, -18.2491),
        (None, None, -8.4655, -21.2480),
    ]
    for column, name in enumerate(names):
        model = published_model(name)
        rows = {feature: row[column] for feature, row in table.items() if row[column] is not None}
        assert dict(zip(model.features, model.coefficients, strict=True)) == rows
        assert model.intercepts == tuple(row[column] for row in intercepts if row[column] is not None)
        assert model.levels == (tuple(range(3)) if "broad" in name else tuple(range(0, 100, 11)))
        assert model.features == (OUTPUT if "output" in name else JUDGE)
        assert "Table 7" in model.source


def test_judge_models_follow_the_artist():
    # A document of an artist whose other documents got the top gain is expected near the top, and near 0 at 0.
    for name, top in (("mtc-judge-broad", 2), ("mtc-judge-fine", 100)):
        mean, variance = moments(published_model(name), [[0.1, 0.7, top / 2, 0], [0.1, 0.7, top / 2, top]])
        assert mean[0] < 0.1 * top
        assert mean[1] > 0.9 * top
        assert (variance < (0.15 * top) ** 2).all()


def test_unknown_name():
    with pytest.raises(ParameterError, match="unknown model 'mtc': the published ones are mtc-output-broad, mtc-judge"):
        published_model("mtc")


# ---- files -----------------------------------------------------------------------------------------------------------

numbers = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def models(draw):
    levels = sorted(draw(st.sets(st.floats(0, 1e6), min_size=2, max_size=12)))
    size = len(levels) - 1
    intercepts = sorted(draw(st.sets(numbers, min_size=size, max_size=size)), reverse=True)
    features = draw(st.lists(st.text(st.characters(codec="utf-8")), max_size=5, unique=True))
    coefficients = draw(st.lists(numbers, min_size=len(features), max_size=len(features)))
    name, source = draw(st.text(st.characters(codec="utf-8"))), draw(st.text(st.characters(codec="utf-8")))
    return NamedModel(name, tuple(features), tuple(intercepts), tuple(coefficients), tuple(levels), source)


@given(models())
def test_a_saved_model_comes_back_bit_for_bit(tmp_path_factory, model):
    path = tmp_path_factory.mktemp("models") / "model.json"
    model.save(path)
    assert NamedModel.load(path, levels=model.levels) == model
    assert [entry.name for entry in path.parent.iterdir()] == ["model.json"]


def test_a_fitted_model_gets_a_name_and_predicts_the_same(tmp_path):
    rng = np.random.default_rng(2)
    features, levels = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    fitted = fit_ordinal(features, levels, n_levels=3)
    model = NamedModel.from_fit(fitted, name="mine", features=["a", "b"], levels=[0, 1, 2], source="60 rows")
    model.save(tmp_path / "mine.json")
    loaded = NamedModel.load(tmp_path / "mine.json", levels=(0, 1, 2))
    np.testing.assert_array_equal(loaded.probabilities(features), predict_levels(fitted, features))


def test_a_file_is_readable_by_people(tmp_path):
    published_model("mtc-judge-broad").save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert '"aART": 7.1853' in text
    assert list(json.loads(text)) == ["format", "name", "levels", "intercepts", "coefficients", "source"]


def test_saving_into_no_folder_and_over_a_file(tmp_path):
    model = published_model("mtc-judge-broad")
    with pytest.raises(InputError, match="expected an existing folder to write to"):
        model.save(tmp_path / "nowhere" / "model.json")
    path = tmp_path / "model.json"
    path.write_text("something else")
    model.save(path)
    assert NamedModel.load(path) == model


GOOD = {
    "format": "earmark ordinal model 1",
    "name": "mine",
    "levels": [0, 1, 2],
    "intercepts": [1.0, -1.0],
    "coefficients": {"a": 0.5, "b": 2},
    "source": "by hand",
}


def test_what_people_write_by_hand_is_accepted(tmp_path):
    path = tmp_path / "hand.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode())
    model = NamedModel.load(path)
    assert model == NamedModel("mine", ("a", "b"), (1.0, -1.0), (0.5, 2.0), (0.0, 1.0, 2.0), "by hand")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "expected the format 'earmark ordinal model 1', got 'other'"),
        ({"format": None}, "expected the format 'earmark ordinal model 1', got no format"),
        ({"alphas": []}, "expected the keys format, name, .*, got also 'alphas'"),
        ({"source": None}, "expected the keys format, name, .*, got no 'source'"),
        ({"name": 3.5}, "expected a text as name, got 3.5"),
        ({"coefficients": [1, 2]}, r"expected coefficients as an object of feature and number, got \[1.0, 2.0\]"),
        ({"coefficients": {"a": "1"}}, 'expected numbers as coefficients, got "1"'),
        ({"levels": 3}, "expected a list of numbers as levels, got 3"),
        ({"levels": [0, True, 2]}, "expected numbers as levels, got true"),
        ({"levels": [0, 2, 1]}, "expected the gains of two or more levels, ascending, got 0, 2, 1"),
        ({"levels": [0], "intercepts": []}, "expected the gains of two or more levels, ascending, got 0"),
        ({"intercepts": [1]}, "expected 2 intercepts for 3 levels, got 1"),
        ({"intercepts": [1, 0, -1]}, "expected 2 intercepts for 3 levels, got 3"),
        ({"intercepts": [-1, 1]}, "expected strictly decreasing intercepts, got -1, 1"),
        ({"intercepts": [1, math.nan]}, "expected finite numbers, got nan"),
        ({"levels": [0, 1, 10**400]}, "expected finite numbers, got inf"),
    ],
)
def test_errors_of_a_file_name_it(tmp_path, change, message):
    path = tmp_path / "model.json"
    content = {key: value for key, value in {**GOOD, **change}.items() if value is not None}
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"model.json: {message}") as error:
        NamedModel.load(path)
    assert error.value.path == str(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"1 2 3\n", "model.json:1: expected a JSON file, got Extra data"),
        (b'{\n"name": }', "model.json:2: expected a JSON file, got Expecting value"),
        (b"", "model.json:1: expected a JSON file, got Expecting value"),
        (b"[]", "model.json: expected a JSON object with a model, got another value"),
        (b"\xff\xfe", "model.json: expected a JSON file in UTF-8, got other bytes"),
        (b'{"coefficients": {"a": 1, "b": 1, "a": 2}}', "model.json: expected every key once, got 'a' again"),
    ],
)
def test_files_that_are_no_models(tmp_path, data, message):
    path = tmp_path / "model.json"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        NamedModel.load(path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match=r"no.json: expected a model file, got No such file"):
        NamedModel.load(tmp_path / "no.json")
    with pytest.raises(InputError, match=r"expected a model file, got Is a directory"):
        NamedModel.load(tmp_path)


def test_a_model_for_another_scale_is_refused(tmp_path):
    path = tmp_path / "model.json"
    published_model("mtc-output-broad").save(path)
    with pytest.raises(
        InputError, match=r"a model for the gains 0, 11, .*, 99, got one for 0, 1, 2 \(fit a model on th"
    ):
        NamedModel.load(path, levels=range(0, 100, 11))


@pytest.mark.parametrize(
    ("features", "intercepts", "message"),
    [
        (("a", "b"), (1.0, -1.0), "model 'x': expected one coefficient for each of 2 features, got 1"),
        (("a",), (1.0,), "model 'x': expected 2 intercepts for 3 levels, got 1"),
    ],
)
def test_a_model_made_by_hand_is_checked_too(features, intercepts, message):
    with pytest.raises(ParameterError, match=message):
        NamedModel("x", features, intercepts, (0.5,), (0.0, 1.0, 2.0), "")


def test_a_model_made_by_hand_needs_different_features():
    with pytest.raises(ParameterError, match="model 'x': expected different features, got a, a"):
        NamedModel("x", ("a", "a"), (0.0,), (0.5, 0.5), (0.0, 1.0), "")
