"""Features of MIREX 2011 against the numbers that the papers print for it.

Urbano & Schedl (2013) give RMSE and mean variance of 2011 in Table 2 for models fitted without 2011 (25.2 and 561; 9.36
and 72) and the coefficients of models fitted with it in Table 7; with those the same recipes give what is asserted
here. Buckers (2021) gives the maxima of fART, fGEN and fSYS in Table 3.4.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from earmark.beliefs.beliefs import item_gains
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.readers import read_judgments, read_metadata, read_runs
from earmark.data.scales import FINE
from earmark.predictors.features import FeatureBuilder, Features
from earmark.predictors.judgment_features import ItemGains
from earmark.predictors.ordinal_models import NamedModel, published_model

OUTPUT, JUDGE = published_model("mtc-output-fine"), published_model("mtc-judge-fine")


class Errors(NamedTuple):
    rmse: float
    variance: float


class Mirex(NamedTuple):
    builder: FeatureBuilder
    known: ItemGains


@pytest.fixture(scope="module")
def collection(mirex: Path) -> Mirex:
    metadata = read_metadata(mirex / "metadata.txt")
    builder = FeatureBuilder(Collection.from_runs(read_runs(mirex / "runs.txt"), metadata=metadata))
    gain = item_gains(builder.collection, read_judgments(mirex / "judgments.txt", scale=FINE))
    return Mirex(builder, ItemGains(gain, gain >= 0))


def moments(model: NamedModel, features: Features) -> tuple[Floats, Floats]:
    """Mean and variance of every item's gain; items that lack a feature are uniform over 0..100."""
    gains = np.array(model.levels)
    mean, variance = np.full(features.complete.size, 50.0), np.full(features.complete.size, (101**2 - 1) / 12)
    probabilities = model.probabilities(features.values[features.complete])
    mean[features.complete] = probabilities @ gains
    variance[features.complete] = probabilities @ gains**2 - mean[features.complete] ** 2
    return mean, variance


def errors(model: NamedModel, features: Features, gain: Floats, *, complete_only: bool) -> Errors:
    mean, variance = moments(model, features)
    rows = features.complete if complete_only else slice(None)
    return Errors(float(np.sqrt(np.mean((mean - gain)[rows] ** 2))), float(variance[rows].mean()))


def test_overlap(collection: Mirex) -> None:
    assert collection.builder.output()["OV"][0] == pytest.approx(0.7024, abs=5e-5)
    assert collection.builder.output()["OV"][0] == 6322 / (18 * 100 * 5)


def test_maxima_of_shares(collection: Mirex) -> None:
    output = collection.builder.output()
    assert np.nanmax(output["fART"]) == pytest.approx(0.448, abs=5e-4)
    assert np.nanmax(output["fGEN"]) == pytest.approx(0.915, abs=5e-4)
    assert np.nanmax(output["fSYS"]) == pytest.approx(0.56, abs=5e-3)
    # Counted with multiplicity, as Urbano and Schedl do, they are others.
    assert np.nanmax(output["pART"]) == pytest.approx(0.644, abs=5e-4)
    assert np.nanmax(output["pGEN"]) == pytest.approx(0.944, abs=5e-4)


def test_facts_of_the_collection(collection: Mirex) -> None:
    output = collection.builder.output()
    # Results by the artist of the query were filtered out, there are ten genres of 700 songs each.
    assert np.nanmax(output["sART"]) == 0
    np.testing.assert_allclose(output["rGEN"][output.complete], 0.1)
    assert set(output["nRES"]) == {90.0}
    assert (~output.complete).sum() == 43
    assert collection.builder.dropped == ()


def test_output_model(collection: Mirex) -> None:
    features = collection.builder.features(OUTPUT.features)
    assert features.complete.sum() == 6279
    result = errors(OUTPUT, features, collection.known.gain, complete_only=False)
    assert result.rmse == pytest.approx(25.06, abs=5e-3)
    assert result.variance == pytest.approx(561, abs=0.5)


def test_output_model_with_shares_of_distinct_documents_misses_the_printed_variance(collection: Mirex) -> None:
    distinct = collection.builder.features(
        [name.replace("pART", "fART").replace("pGEN", "fGEN") for name in OUTPUT.features]
    )
    result = errors(OUTPUT, distinct, collection.known.gain, complete_only=False)
    assert result.rmse == pytest.approx(24.76, abs=5e-3)
    assert result.variance == pytest.approx(583, abs=0.5)


def test_judgment_model_that_knows_the_own_label(collection: Mirex) -> None:
    gain, judged = collection.known
    assert judged.all()
    features = collection.builder.features(JUDGE.features, gain=gain, judged=judged, exclude_own=False)
    assert features.complete.sum() == 6279
    result = errors(JUDGE, features, gain, complete_only=True)
    assert result.rmse == pytest.approx(9.364, abs=5e-4)
    assert result.variance == pytest.approx(74, abs=0.5)


def test_judgment_model_without_the_own_label(collection: Mirex) -> None:
    gain, judged = collection.known
    features = collection.builder.features(JUDGE.features, gain=gain, judged=judged)
    assert np.isfinite(features["aART"]).mean() == pytest.approx(0.57, abs=5e-3)
    result = errors(JUDGE, features, gain, complete_only=True)
    assert result.rmse == pytest.approx(17.6, abs=0.05)
    assert result.variance == pytest.approx(78, abs=0.5)
