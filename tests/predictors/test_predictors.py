"""Predictors: contracts that hold for all of them, and what is particular to each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.beliefs import Beliefs, IndependentBeliefs, item_gains
from earmark.data.collection import Collection
from earmark.data.judgments import Judgments
from earmark.data.scales import BROAD, FINE, parse_scale
from earmark.errors import InputError, NumericalFailure, ParameterError
from earmark.predictors.base import PREDICTORS, Blend, Part, Setting, make_predictor
from earmark.predictors.external import External
from earmark.predictors.mtc import Uniform
from earmark.predictors.ordinal_levels import model_levels
from earmark.predictors.ordinal_models import NamedModel
from earmark.predictors.ordinal_predictor import Ordinal
from earmark.predictors.recalibration import calibrating_power, raise_to
from earmark.simulation import synthetic_collection

NAMES = ["uniform", "mtc-output", "mtc-judge", "ordinal", "forest", "boosted", "conditional-tree", "conditional-forest"]


@pytest.fixture(scope="module", params=[FINE, BROAD], ids=str)
def case(request: pytest.FixtureRequest) -> tuple[Setting, np.ndarray]:
    made = synthetic_collection(np.random.default_rng(5), systems=6, queries=25, documents=400, scale=request.param)
    collection = Collection.from_runs(made.runs, metadata=made.metadata)
    return Setting(collection, request.param), item_gains(collection, made.judgments)


def judged(truth: np.ndarray, share: float, seed: int = 0) -> np.ndarray:
    known = np.random.default_rng(seed).random(truth.size) < share
    return np.where(known, truth, -1.0)


def test_all_are_known_by_name() -> None:
    assert set(NAMES) <= set(PREDICTORS.names())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 1.0])
def test_beliefs_are_distributions_on_the_scale(case: tuple[Setting, np.ndarray], name: str, share: float) -> None:
    setting, truth = case
    gains = judged(truth, share)
    beliefs = make_predictor(name, setting).predict(gains)
    assert beliefs.n_judged == np.count_nonzero(gains >= 0)
    np.testing.assert_array_equal(beliefs.mean[beliefs.judged], gains[beliefs.judged])
    assert np.all(beliefs.variance[beliefs.judged] == 0)
    assert np.all((beliefs.mean >= 0) & (beliefs.mean <= setting.scale.top))
    chances = beliefs.expected.probabilities
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    open_items = ~beliefs.judged
    np.testing.assert_allclose((chances @ beliefs.expected.levels)[open_items], beliefs.mean[open_items])
    spread = chances @ beliefs.expected.levels**2 - (chances @ beliefs.expected.levels) ** 2
    np.testing.assert_allclose(spread[open_items], beliefs.variance[open_items], atol=1e-9 * setting.scale.top**2)
    drawn = beliefs.sample(np.random.default_rng(1), 20)
    assert np.all((drawn >= 0) & (drawn <= setting.scale.top))


@pytest.mark.parametrize("name", NAMES)
def test_an_items_own_judgment_does_not_reach_its_belief_before_it_is_given(
    case: tuple[Setting, np.ndarray], name: str
) -> None:
    """Beliefs about unjudged items cannot depend on gains that nobody has given yet."""
    setting, truth = case
    gains = judged(truth, 0.3)
    first = make_predictor(name, setting).predict(gains)
    again = make_predictor(name, setting).predict(np.where(gains >= 0, gains, -1.0))
    np.testing.assert_array_equal(first.mean, again.mean)


@pytest.mark.parametrize("name", PREDICTORS.names())
def test_copies_of_every_answer_say_nothing_new(name: str) -> None:
    """One file imported under k names: all predictors go on, and differences of systems are what they were."""
    made = synthetic_collection(np.random.default_rng(5), systems=3, queries=8, documents=40)
    alone = made.judgments.frame.select("query", "document", "gain")[:40]
    differences = []
    for copies in (1, 2, 3, 4):
        of_all = pl.concat([alone.with_columns(assessor=pl.lit(f"a{copy}")) for copy in range(copies)])
        judgments = Judgments(of_all, FINE)
        campaign = earmark.Campaign.build(
            made.runs, judgments, metadata=made.metadata, predictor=name, scale=FINE, measure="AG@5"
        )
        estimates = campaign.ranking.estimates
        assert np.all(np.isfinite(estimates.scores.variance))
        assert campaign.propose(5).items.size == 5
        differences.append(estimates.differences.mean)
    np.testing.assert_allclose(differences[1:], np.tile(differences[0], (3, 1)), atol=0.02)


class _Failing(Uniform):
    """Fails as its arithmetic would."""

    def __init__(self, setting: Setting, error: Exception | None) -> None:
        super().__init__(setting)
        self.error = error

    def predict(self, judged_gain: np.ndarray, answers: object = None, *, order: object = None) -> Beliefs:
        if self.error is not None:
            raise self.error
        nothing = np.full((judged_gain.size, 2), np.nan)
        part = Part(judged_gain < 0, np.array([0.0, 1.0]), nothing[judged_gain < 0])
        return IndependentBeliefs(self.setting.scale, judged_gain, Blend(self.setting, part))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (np.linalg.LinAlgError("Singular matrix"), "Singular matrix"),
        (FloatingPointError("overflow"), "overflow"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (None, "an expected gain is not a finite number"),
    ],
)
def test_arithmetic_that_fails_is_named(error: Exception | None, reason: str) -> None:
    made = synthetic_collection(np.random.default_rng(2), systems=3, queries=5, documents=50)
    campaign = earmark.Campaign.build(made.runs, scale=FINE, predictor=lambda setting: _Failing(setting, error))
    with pytest.raises(NumericalFailure, match=f"the predictor uniform cannot .* 0 judged items: {reason}"):
        _ = campaign.ranking


def test_what_is_learnt_helps_and_is_honest_about_its_errors() -> None:
    """Over several collections the variance that is claimed is the squared error that is made."""
    gained, honesty = [], []
    for seed in range(8):
        made = synthetic_collection(np.random.default_rng(seed), systems=6, queries=25, documents=400)
        collection = Collection.from_runs(made.runs, metadata=made.metadata)
        setting, truth = Setting(collection, FINE), item_gains(collection, made.judgments)
        gains = judged(truth, 0.3, seed)
        left = gains < 0
        beliefs, uniform = (make_predictor(name, setting).predict(gains) for name in ("ordinal", "uniform"))
        error = np.mean((beliefs.mean - truth)[left] ** 2)
        gained.append(error / np.mean((uniform.mean - truth)[left] ** 2))
        honesty.append(beliefs.variance[left].mean() / error)
    assert np.mean(gained) < 0.5
    assert 0.85 < np.mean(honesty) < 1.3


def test_published_models_speak_only_where_metadata_let_them() -> None:
    made = synthetic_collection(np.random.default_rng(2), systems=4, queries=10, documents=100)
    without = Setting(Collection.from_runs(made.runs), FINE)
    for name in ("mtc-output", "mtc-judge"):
        predictor = make_predictor(name, without)
        beliefs = predictor.predict(without.unjudged)
        assert set(beliefs.mean) == {50.0}
        np.testing.assert_allclose(beliefs.variance, 850.0)
        assert "needs metadata for pART, sGEN, pGEN" in beliefs.notes[0]
    assert "drop out" in make_predictor("ordinal", without).predict(without.unjudged).notes[0]


def test_published_models_refuse_other_scales() -> None:
    made = synthetic_collection(np.random.default_rng(2), systems=3, queries=5, documents=50)
    setting = Setting(Collection.from_runs(made.runs, metadata=made.metadata), parse_scale("0..3"))
    with pytest.raises(ParameterError, match=r"mtc-output is for the scales broad and fine, not '0\.\.3'"):
        make_predictor("mtc-output", setting)
    with pytest.raises(ParameterError, match="unknown predictor 'mtc-ouput': did you mean mtc-output"):
        make_predictor("mtc-ouput", setting)


def test_judge_goes_beyond_output_where_the_artist_was_judged(mirex: Path) -> None:
    runs = earmark.read_runs(mirex / "runs.txt")
    judgments = earmark.read_judgments(mirex / "judgments.txt")
    metadata = earmark.read_metadata(mirex / "metadata.txt")
    collection = Collection.from_runs(runs, metadata=metadata)
    setting, truth = Setting(collection, FINE), item_gains(collection, judgments)
    output = make_predictor("mtc-output", setting)
    beliefs = output.predict(setting.unjudged)
    assert np.sqrt(np.mean((beliefs.mean - truth) ** 2)) == pytest.approx(25.06, abs=0.005)
    assert beliefs.variance.mean() == pytest.approx(561, abs=0.5)
    assert beliefs.notes == ("43 items lack metadata and have the uniform belief",)
    gains = judged(truth, 0.1)
    changed = make_predictor("mtc-judge", setting).predict(gains).mean != output.predict(gains).mean
    assert 0.05 < changed.mean() < 0.5


def test_a_model_of_another_scale_is_refused() -> None:
    made = synthetic_collection(np.random.default_rng(2), systems=3, queries=5, documents=50)
    setting = Setting(Collection.from_runs(made.runs), FINE)
    model = NamedModel("old", ("pSYS",), (0.0, -1.0), (1.0,), (0.0, 1.0, 2.0), "test")
    with pytest.raises(ParameterError, match="model 'old' has levels 0, 1, 2, but the scale 'fine' has 0, 11"):
        Ordinal(setting, past=model)


def test_a_past_model_speaks_until_the_judgments_do(case: tuple[Setting, np.ndarray]) -> None:
    setting, truth = case
    levels = model_levels(setting.scale)
    falling = tuple(np.linspace(2, -4, len(levels) - 1))
    past = NamedModel("past", ("pSYS",), falling, (1.0,), levels, "test")
    before = Ordinal(setting, past=past).predict(setting.unjudged)
    expected = past.probabilities(setting.features.features(("pSYS",)).values) @ np.array(levels)
    np.testing.assert_allclose(before.mean, expected)
    after = Ordinal(setting, past=past).predict(judged(truth, 0.5))
    assert not np.allclose(after.mean[~after.judged], before.mean[~after.judged])


def write_external(path: Path, setting: Setting, columns: dict[str, np.ndarray]) -> Path:
    collection = setting.collection
    pl.DataFrame(
        {
            "query": [collection.queries[i] for i in collection.item_query],
            "document": [collection.documents[i] for i in collection.item_document],
            **columns,
        }
    ).write_csv(path)
    return path


def test_external_probabilities_are_recalibrated(case: tuple[Setting, np.ndarray], tmp_path: Path) -> None:
    setting, truth = case
    levels = np.array(model_levels(setting.scale))
    rng = np.random.default_rng(4)
    noisy = truth + rng.normal(0, 0.25 * setting.scale.top, truth.size)
    # Far too sure of itself: the width it claims is a fraction of its error.
    sure = np.exp(-(((levels - noisy[:, None]) / (0.08 * setting.scale.top)) ** 2) / 2) + 1e-12
    sure /= sure.sum(axis=1, keepdims=True)
    columns = {f"{level:g}": sure[:, index] for index, level in enumerate(levels)}
    external = External(setting, write_external(tmp_path / "model.csv", setting, columns))
    raw = external.predict(setting.unjudged)
    assert raw.notes == ()
    calibrated = external.predict(judged(truth, 0.5))
    assert "flattened to the power" in calibrated.notes[0]
    left = ~calibrated.judged
    error = np.mean((calibrated.mean - truth)[left] ** 2)
    assert 0.6 < calibrated.variance[left].mean() / error < 1.6
    assert raw.variance.mean() < 0.5 * np.mean((raw.mean - truth) ** 2)


def test_external_scores_become_an_ordinal_model(case: tuple[Setting, np.ndarray], tmp_path: Path) -> None:
    setting, truth = case
    score = truth / setting.scale.top + np.random.default_rng(4).normal(0, 0.1, truth.size)
    external = External(setting, write_external(tmp_path / "scores.csv", setting, {"score": score}))
    assert np.ptp(external.predict(setting.unjudged).mean) == 0
    beliefs = external.predict(judged(truth, 0.3))
    left = ~beliefs.judged
    assert np.corrcoef(beliefs.mean[left], truth[left])[0, 1] > 0.85


def test_external_files_that_cannot_be_used(tmp_path: Path) -> None:
    made = synthetic_collection(np.random.default_rng(2), systems=3, queries=5, documents=50, scale=BROAD)
    setting = Setting(Collection.from_runs(made.runs), BROAD)
    path = tmp_path / "m.csv"
    for text, message in [
        ("query,score\nq,1\n", r"m.csv: expected a column 'document', got query, score"),
        ("query,document,probability\nq,d,1\n", "expected a column 'score' or one column per level"),
        ("query,document,score\nq,d,1\nq,e,x\n", r"m.csv:3: expected numbers, got"),
        ("query,document,0,1,2\nq,d,.5,.2,.1\n", r"m.csv:2: expected probabilities that sum to 1, got 0.5 0.2 0.1"),
        ("query,document,score\nq,d,1\nq,d,2\n", r"m.csv:3: expected every item once, got an item again"),
    ]:
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            External(setting, path)


def test_the_calibrating_power_matches_claimed_and_observed_variance() -> None:
    rng = np.random.default_rng(0)
    levels = np.arange(5.0)
    honest = rng.dirichlet(np.ones(5) * 2, 20_000)
    gain = np.array([rng.choice(levels, p=p) for p in honest])
    assert calibrating_power(honest, levels, gain) == pytest.approx(1.0, abs=0.1)
    assert calibrating_power(raise_to(honest, 3.0), levels, gain) == pytest.approx(1 / 3, abs=0.05)
    np.testing.assert_allclose(raise_to(honest, 2.0).sum(axis=1), 1.0)


def test_the_last_part_has_the_last_word() -> None:
    made = synthetic_collection(np.random.default_rng(2), systems=2, queries=3, documents=30, scale=BROAD)
    setting = Setting(Collection.from_runs(made.runs), BROAD)
    n = setting.collection.n_items
    everyone, first = np.ones(n, dtype=bool), np.arange(n) == 0
    levels = np.array([0.0, 1.0, 2.0])
    low = Part(everyone, levels, np.tile([1.0, 0.0, 0.0], (n, 1)))
    high = Part(first, levels, np.array([[0.0, 0.0, 1.0]]))
    blend = Blend(setting, low, high)
    assert blend.mean.tolist() == [2.0] + [0.0] * (n - 1)
    np.testing.assert_array_equal(blend.probabilities @ blend.levels, blend.mean)
