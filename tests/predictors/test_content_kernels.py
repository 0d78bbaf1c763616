"""Content in the hierarchical predictor: its kernels written out, what they do, and what they leave alone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

import earmark
from earmark.beliefs.beliefs import UNJUDGED, AssessorGains, item_gains
from earmark.beliefs.effects import Observations
from earmark.beliefs.exact_estimates import estimate_linear
from earmark.beliefs.posterior import Posterior
from earmark.data.collection import Collection
from earmark.data.content import Content
from earmark.data.metadata import Metadata
from earmark.data.scales import BROAD, FINE
from earmark.errors import InputError
from earmark.inference.confidence import rank_systems
from earmark.predictors.base import Setting
from earmark.predictors.choose import PredictorChoice
from earmark.predictors.content_kernels import COMPONENTS, FACTORS, count_known, item_content, principal_scores
from earmark.predictors.covariates import covariates
from earmark.predictors.hierarchical import Hierarchical
from earmark.predictors.hierarchical_effects import CONTENT, LIKENESS, effect_model, item_spread
from earmark.predictors.hierarchical_prior import HierarchicalPrior, JudgedCollection, fit_prior
from earmark.simulation import synthetic_collection
from earmark.simulation.diagnosis import diagnose
from effects_drawn import Dense, small_collection

AG = earmark.parse("AG@4")


def content_of(collection: Collection, seed: int = 0, *, dims: int = 3, without: tuple[str, ...] = ()) -> Content:
    """Make content up for all documents and queries but some."""
    ids = tuple(sorted({*collection.documents, *collection.queries} - {*without}))
    return Content(ids, np.random.default_rng(seed).normal(0, [1.0, 5.0, 0.1, 2.0, 1.0][:dims], (len(ids), dims)))


def some_gains(collection: Collection, share: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    gains = rng.integers(0, 101, collection.n_items).astype(float)
    return np.where(rng.random(collection.n_items) < share, gains, UNJUDGED)


def believed(collection: Collection, gains: np.ndarray, content: Content | None, **setting):
    return Hierarchical(Setting(collection, FINE, content=content, **setting)).predict(gains)


def same_beliefs(one, other, *, exactly: bool = True) -> None:
    for name in ("mean", "variance", "variances", "drawn_variances"):
        if exactly:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        else:
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6, atol=1e-6)


# ---- the kernels, item by item ---------------------------------------------------------------------------------------


def points_of(collection: Collection, content: Content) -> dict[str, np.ndarray]:
    """The principal components of all documents and queries that have content, by a singular value decomposition."""
    rows = {one: content.values[content.row_of[one]] for one in content.documents}
    here = sorted({*collection.documents, *collection.queries} & rows.keys())
    table = np.array([rows[one] for one in here])
    standard = (table - table.mean(axis=0)) / table.std(axis=0)
    left, sizes, _ = np.linalg.svd(standard, full_matrices=False)
    return dict(zip(here, (left * sizes)[:, :COMPONENTS], strict=True))


def kernels_of(collection: Collection, content: Content) -> dict[str, np.ndarray]:
    """Both kernels from the equations of the module, one pair of items at a time, no eigenvector left out."""
    point = points_of(collection, content)
    query = [collection.queries[number] for number in collection.item_query]
    document = [collection.documents[number] for number in collection.item_document]
    n_items, n_axes = collection.n_items, next(iter(point.values())).size
    both = np.array([q in point and d in point for q, d in zip(query, document, strict=True)])
    near = np.zeros((n_items, 1 + n_axes))
    for item in np.flatnonzero(both):
        apart = point[query[item]] - point[document[item]]
        near[item] = [-np.linalg.norm(apart), *-np.abs(apart)]
    near[both] = (near[both] - near[both].mean(axis=0)) / near[both].std(axis=0)

    known = [one in point for one in document]
    pairs = [(i, j) for i in range(n_items) for j in range(i) if query[i] == query[j] and known[i] and known[j]]
    distance = {(i, j): np.linalg.norm(point[document[i]] - point[document[j]]) for i, j in pairs}
    length = np.median(list(distance.values()))
    alike = np.diag(np.array(known, dtype=float))
    for (i, j), apart in distance.items():
        alike[i, j] = alike[j, i] = np.exp(-0.5 * (apart / length) ** 2)
    retrieved = (collection.ranks.toarray() > 0).astype(float)
    for name in collection.queries:
        items = [item for item in range(n_items) if query[item] == name and known[item]]
        weight = retrieved[:, items] / np.sqrt(retrieved[:, items].sum(axis=0))
        design = np.column_stack((np.ones(len(items)), weight.T))
        left_over = np.eye(len(items)) - design @ np.linalg.pinv(design)
        alike[np.ix_(items, items)] = left_over @ alike[np.ix_(items, items)] @ left_over
    alike /= np.diagonal(alike).max()
    np.fill_diagonal(alike, 1.0)
    return {
        CONTENT: 0.5 * np.outer(near[:, 0], near[:, 0]) + 0.5 * near[:, 1:] @ near[:, 1:].T / n_axes,
        LIKENESS: alike,
    }


@pytest.mark.parametrize("without", [(), ("d0.1", "d0.2", "d2.0", "q1")])
@pytest.mark.parametrize("duplicate", [False, True])
def test_the_covariance_of_gains_is_that_of_the_kernels(without, duplicate):
    collection = small_collection(0, systems=3, pool=9, duplicate=duplicate)
    content = content_of(collection, without=without)
    known = covariates(collection, Setting(collection, FINE).features, content)
    mean = np.random.default_rng(0).uniform(0.05, 0.95, collection.n_items)
    model = effect_model(collection, known, mean)
    expected = kernels_of(collection, content)
    empty = Observations.exact(model, np.arange(0), np.zeros(0))
    spread = item_spread(mean)
    for component, kernel in expected.items():
        one = np.eye(len(model.components))[model.components.index(component)]
        found = Dense(model, empty, one).covariance
        np.testing.assert_allclose(found, np.outer(spread, spread) * kernel, atol=1e-9, err_msg=component)
    # Every other component is what it is without content, but for the slope of one more covariate.
    plain = effect_model(collection, covariates(collection, Setting(collection, FINE).features), mean)
    for number, component in enumerate(plain.components):
        if component != "slopes":
            one = np.eye(len(model.components))[model.components.index(component)]
            before = Dense(plain, empty, np.eye(len(plain.components))[number]).covariance
            np.testing.assert_allclose(Dense(model, empty, one).covariance, before, atol=1e-12, err_msg=component)


def test_beliefs_are_those_of_a_dense_normal_distribution():
    """Gains given judgments by textbook conditioning, the kernels of content being those written out above."""
    collection = small_collection(1, systems=3, pool=9)
    content = content_of(collection, without=("d1.3",))
    gains = some_gains(collection, 0.4)
    beliefs = believed(collection, gains, content)
    model, variances = beliefs.model, beliefs.variances
    kernels = kernels_of(collection, content)
    # Noise alone is the items' own here, times the square of their spread.
    spread = np.sqrt(model.own[:][:, model.components.index("noise")])
    judged = np.flatnonzero(gains >= 0)
    empty = Observations.exact(model, np.arange(0), np.zeros(0))
    others = np.array(
        [0.0 if name in kernels else value for name, value in zip(model.components, variances, strict=True)]
    )
    covariance = Dense(model, empty, others).covariance
    for component, kernel in kernels.items():
        covariance = covariance + variances[model.components.index(component)] * np.outer(spread, spread) * kernel
    gain = np.linalg.solve(covariance[np.ix_(judged, judged)], covariance[judged]).T
    mean = model.prior_mean + gain @ (gains[judged] / 100 - model.prior_mean[judged])
    left = covariance - gain @ covariance[judged]
    np.testing.assert_allclose(beliefs.central.mean[0], mean, atol=1e-9)
    weights = np.random.default_rng(0).normal(0, 1, (3, collection.n_items))
    np.testing.assert_allclose(beliefs.central.sums(weights)[1][0], weights @ left @ weights.T, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_many_documents_of_a_query_keep_their_variance(seed):
    collection = small_collection(seed, systems=5, queries=2, depth=12, pool=30)
    told = item_content(collection, content_of(collection, seed, dims=5))
    squares = np.concatenate([(columns**2).sum(axis=1) for columns in told.factors])
    assert all(columns.shape[1] == FACTORS for columns in told.factors)
    np.testing.assert_allclose(squares + told.rest, 1.0)
    assert np.all((told.rest >= 0) & (told.rest < 1))
    kernel = kernels_of(collection, content_of(collection, seed, dims=5))[LIKENESS]
    offset = 0
    for columns in told.factors:
        here = slice(offset, offset + len(columns))
        offset += len(columns)
        # With its own diagonal, before that was brought to 1, every row of the kernel adds up to 0.
        whole = kernel[here, here] - np.diag(kernel[here, here].sum(axis=1))
        sizes = np.sort(np.linalg.eigvalsh(whole))[::-1]
        # No other columns, as few as these, could be nearer: what they miss are the smallest eigenvalues.
        assert np.linalg.norm(whole - columns @ columns.T) == pytest.approx(np.linalg.norm(sizes[FACTORS:]), rel=1e-6)
        assert np.all(columns[np.argmax(np.abs(columns), axis=0), np.arange(FACTORS)] > 0)


# ---- principal components --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40, 5), (6, 30), (12, 12), (30, 12)])
def test_principal_components_keep_distances(shape):
    rng = np.random.default_rng(0)
    values = rng.normal(0, 1, shape) @ rng.normal(0, 1, (shape[1], shape[1])) + rng.normal(0, 9, shape[1])
    scores = principal_scores(values)
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    assert scores.shape[1] == min(COMPONENTS, shape[1], shape[0] - 1)
    sizes = np.linalg.svd(standard, compute_uv=False)[: scores.shape[1]]
    np.testing.assert_allclose((scores**2).sum(axis=0), sizes**2)
    np.testing.assert_allclose(scores.T @ scores, np.diag(sizes**2), atol=1e-8)
    if scores.shape[1] == min(shape[1], shape[0] - 1):
        np.testing.assert_allclose(
            np.linalg.norm(scores[0] - scores[1:], axis=1), np.linalg.norm(standard[0] - standard[1:], axis=1)
        )


@pytest.mark.parametrize("scale", [1e-290, 1.0, 1e290])
def test_principal_components_do_not_mind_units(scale):
    values = np.random.default_rng(0).normal(0, 1, (10, 3))
    np.testing.assert_allclose(np.abs(principal_scores(values * scale)), np.abs(principal_scores(values)))
    shifted = np.column_stack((values * [1.0, 50.0, 0.01] + [0.0, 1e3, 7.0], np.full(10, 3.0)))
    np.testing.assert_allclose(np.abs(principal_scores(shifted)), np.abs(principal_scores(values)), atol=1e-8)


def test_without_anything_that_varies_there_is_no_component():
    assert principal_scores(np.ones((4, 3))).shape == (4, 0)
    assert principal_scores(np.ones((1, 3))).shape == (1, 0)
    assert principal_scores(np.zeros((0, 3))).shape[0] == 0


# ---- what changes nothing --------------------------------------------------------------------------------------------


def test_without_content_and_with_content_of_other_documents_beliefs_are_the_same_to_the_bit():
    for metadata in (True, False):
        collection = small_collection(0, metadata=metadata)
        gains = some_gains(collection, 0.4)
        plain = believed(collection, gains, None)
        other = believed(collection, gains, Content(("elsewhere", "nowhere"), np.eye(2)))
        assert other.model.components == plain.model.components
        assert not {CONTENT, LIKENESS} & set(plain.model.components)
        same_beliefs(plain, other)
        np.testing.assert_array_equal(
            plain.sample(np.random.default_rng(0), 5), other.sample(np.random.default_rng(0), 5)
        )


def test_the_order_of_rows_and_other_documents_change_nothing():
    collection = small_collection(0, systems=3, pool=9)
    gains, content = some_gains(collection, 0.4), content_of(collection)
    before = believed(collection, gains, content)
    mixed = np.random.default_rng(0).permutation(len(content.documents))
    turned = Content(tuple(content.documents[row] for row in mixed), content.values[mixed])
    same_beliefs(before, believed(collection, gains, turned), exactly=False)
    more = Content((*content.documents, "another"), np.vstack((content.values, [[1e3, -1e3, 1e3]])))
    same_beliefs(before, believed(collection, gains, more))
    in_other_units = Content(content.documents, content.values * [3.0, -0.1, 100.0] + [5.0, 0.0, 1.0])
    same_beliefs(before, believed(collection, gains, in_other_units), exactly=False)


def test_what_documents_are_called_changes_nothing():
    collection = small_collection(2, systems=3, pool=9)
    rng = np.random.default_rng(0)
    ids = [*collection.documents, *collection.queries]
    called = dict(zip(ids, (f"x{number:03d}" for number in rng.permutation(len(ids))), strict=True))
    frame = collection.item_frame()
    again = frame.select(pl.all().replace_strict(called))
    order = np.lexsort((again["document"].to_numpy(), again["query"].to_numpy()))
    queries = sorted(called[one] for one in collection.queries)
    documents = sorted(called[one] for one in collection.documents)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    results = np.lexsort((place[collection.result_item], collection.result_system))
    renamed = Collection(
        collection.systems,
        tuple(queries),
        tuple(documents),
        np.array([queries.index(one) for one in again["query"]])[order],
        np.array([documents.index(one) for one in again["document"]])[order],
        collection.result_system[results],
        place[collection.result_item][results],
        collection.result_rank[results],
        Metadata(collection.metadata.frame.with_columns(pl.col("document").replace(called))),
    )
    content, gains = content_of(collection), some_gains(collection, 0.4)
    before = believed(collection, gains, content)
    after = believed(renamed, gains[order], Content(tuple(called[one] for one in content.documents), content.values))
    np.testing.assert_allclose(after.mean, before.mean[order], rtol=1e-6)
    np.testing.assert_allclose(after.variance, before.variance[order], rtol=1e-6, atol=1e-9)
    estimates = [estimate_linear(c, b, AG) for c, b in ((collection, before), (renamed, after))]
    np.testing.assert_allclose(estimates[1].differences.mean, estimates[0].differences.mean, rtol=1e-6)


# ---- what content does -----------------------------------------------------------------------------------------------


def many_documents(seed: int = 0, n: int = 60) -> Collection:
    """One query, two systems that retrieve half of the documents each and share some."""
    rng = np.random.default_rng(seed)
    lists = {name: {"q": {f"d{one:02d}": float(-one) for one in rng.permutation(n)[:40]}} for name in ("A", "B")}
    return Collection.from_runs(earmark.runs_from_dict(lists))


def test_two_documents_with_equal_content_share_nearly_all():
    """Judging one moves the other nearly as far, and documents of another kind hardly."""
    collection = many_documents()
    rng = np.random.default_rng(1)
    kinds = rng.normal(0, 1, (4, 3))
    kind = rng.integers(0, 4, len(collection.documents))
    content = Content(collection.documents, kinds[kind])
    known = covariates(collection, Setting(collection, FINE).features, content)
    model = effect_model(collection, known, np.full(collection.n_items, 0.5))
    variances = np.array([1.0 if name == LIKENESS else 1e-6 for name in model.components])
    judged = 0
    twins = np.flatnonzero((kind == kind[judged]) & (np.arange(kind.size) != judged))
    observed = Observations.exact(model, np.array([judged]), np.array([0.8]))
    moved = Posterior(model, observed, variances[None]).mean[0] - 0.5
    assert moved[judged] == pytest.approx(0.3)
    assert np.median(moved[twins]) > 0.25
    assert np.all(moved[kind != kind[judged]] < 0.1)


def test_judging_learns_that_nearness_matters_and_in_which_direction():
    rng = np.random.default_rng(0)
    made = synthetic_collection(rng, systems=6, queries=30, documents=300)
    collection = Collection.from_runs(made.runs)
    ids = tuple(sorted({*collection.documents, *collection.queries}))
    content = Content(ids, rng.normal(0, 1, (len(ids), 4)))
    known = covariates(collection, Setting(collection, FINE).features, content)
    # Gains rest on one of the four directions, as principal components have them.
    truth = np.clip(50 + 18 * known.content.closeness[:, 3] + rng.normal(0, 8, collection.n_items), 0, 100)
    judged = rng.random(collection.n_items) < 0.3
    gains = np.where(judged, truth, UNJUDGED)
    predictor = Hierarchical(Setting(collection, FINE, content=content))
    beliefs = predictor.predict(gains)
    components = beliefs.model.components
    slopes = beliefs.central.shared_mean[0][beliefs.model.shared_component == components.index(CONTENT)]
    assert np.argmax(np.abs(slopes)) == 3
    assert slopes[3] > 0.1
    assert beliefs.variances[components.index(CONTENT)] > 0.02
    plain = believed(collection, gains, None)
    errors = [np.mean((one.mean - truth)[~judged] ** 2) for one in (beliefs, plain)]
    assert errors[0] < 0.5 * errors[1]


def test_content_that_says_nothing_is_found_out():
    rng = np.random.default_rng(0)
    made = synthetic_collection(rng, systems=6, queries=30, documents=300)
    collection = Collection.from_runs(made.runs)
    ids = tuple(sorted({*collection.documents, *collection.queries}))
    truth = item_gains(collection, made.judgments)
    judged = rng.random(collection.n_items) < 0.4
    gains = np.where(judged, truth, UNJUDGED)
    told = believed(collection, gains, Content(ids, rng.normal(0, 1, (len(ids), 20))))
    plain = believed(collection, gains, None)
    assert told.variances[told.model.components.index(CONTENT)] < 0.005
    errors = [np.mean((one.mean - truth)[~judged] ** 2) for one in (told, plain)]
    assert errors[0] < 1.05 * errors[1]
    assert told.variance[~judged].mean() == pytest.approx(plain.variance[~judged].mean(), rel=0.1)


def test_intervals_hold_with_content_that_is_noise():
    """Random judgments of several made-up collections: as honest as without content, and hardly less right."""
    held, errors = [], {True: [], False: []}
    for seed in range(6):
        rng = np.random.default_rng([5, seed])
        made = synthetic_collection(rng, systems=6, queries=25, documents=300)
        collection = Collection.from_runs(made.runs, depth=5)
        truth = item_gains(collection, made.judgments)
        content = Content(collection.documents, rng.normal(0, 1, (len(collection.documents), 16)))
        for told in (True, False):
            setting = Setting(collection, FINE, content=content if told else None)
            for share in (0.05, 0.1, 0.2, 0.4):
                problem = earmark.Problem(setting, earmark.parse("AG@5"), Hierarchical)
                found = diagnose(problem, truth, share=share, rng=np.random.default_rng(seed))
                errors[told].append(found.scores["rmse"])
                if told:
                    held.append(found.coverage.row(by_predicate=pl.col("level") == 0.95))
    _, pairs, systems = np.mean(held, axis=0)
    assert pairs >= 0.93
    assert systems >= 0.93
    assert np.mean(errors[True]) < 1.03 * np.mean(errors[False])


# ---- what is not known -----------------------------------------------------------------------------------------------


def test_documents_and_queries_without_content():
    collection = small_collection(0, systems=3, pool=9)
    content = content_of(collection, without=("d0.1", "d0.2", "q1"))
    told = item_content(collection, content)
    frame = collection.item_frame()
    missing = frame["document"].is_in(["d0.1", "d0.2"]).to_numpy()
    of_q1 = (frame["query"] == "q1").to_numpy()
    np.testing.assert_array_equal(told.missing, missing)
    assert not told.closeness[missing | of_q1].any()
    assert np.all(told.closeness[~missing & ~of_q1, 0] != 0)
    np.testing.assert_allclose(told.closeness[~missing & ~of_q1].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(told.closeness[~missing & ~of_q1].std(axis=0), 1)
    assert np.all(told.rest[missing] == 1)
    assert np.all(told.rest[of_q1] < 1)
    known = covariates(collection, Setting(collection, FINE).features, content)
    assert known.names[-2:] == ("nocontent", "closeness")
    np.testing.assert_array_equal(known.values[:, -2], missing)
    np.testing.assert_array_equal(known.values[:, -1], told.closeness[:, 0])


def test_where_no_query_has_content_only_likeness_counts():
    collection = small_collection(0, systems=3, pool=9)
    beliefs = believed(collection, some_gains(collection, 0.4), content_of(collection, without=collection.queries))
    assert LIKENESS in beliefs.model.components
    assert CONTENT not in beliefs.model.components


def test_where_every_document_is_a_system_s_own_only_nearness_counts():
    """As many systems as documents explain everything that likeness could."""
    lists = {name: {query: {f"{query}{name}": 1.0} for query in "pqr"} for name in "ABC"}
    collection = Collection.from_runs(earmark.runs_from_dict(lists))
    beliefs = believed(collection, some_gains(collection, 0.4), content_of(collection))
    assert CONTENT in beliefs.model.components
    assert LIKENESS not in beliefs.model.components


@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"queries": 1},
        {"systems": 1},
        {"systems": 1, "queries": 1, "depth": 1, "pool": 1},
        {"depth": 1, "pool": 2},
        {"metadata": False, "systems": 2, "depth": 6, "pool": 12},
    ],
    ids=str,
)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("scale", [BROAD, FINE], ids=str)
@pytest.mark.parametrize("kind", ["all", "some", "same", "one"])
def test_small_collections_have_beliefs_too(shape, share, scale, kind):
    collection = small_collection(1, **shape)
    content = content_of(collection, without=() if kind == "all" else collection.documents[1::2])
    if kind == "same":
        ids = (*collection.documents, *collection.queries)
        content = Content((*ids, "other"), np.array([*[[1.0, 2.0]] * len(ids), [3.0, 4.0]]))
    elif kind == "one":
        content = Content((collection.documents[0], "other"), np.eye(2))
    rng = np.random.default_rng(3)
    gains = rng.choice(scale.gains, collection.n_items).astype(float)
    gains[rng.random(collection.n_items) >= share] = UNJUDGED
    beliefs = Hierarchical(Setting(collection, scale, content=content)).predict(gains)
    known = gains >= 0
    np.testing.assert_array_equal(beliefs.mean[known], gains[known])
    assert np.all((beliefs.mean >= 0) & (beliefs.mean <= scale.top))
    assert np.all((beliefs.variance[~known] > 0) & np.isfinite(beliefs.variance[~known]))
    ranking = rank_systems(estimate_linear(collection, beliefs, AG))
    for numbers in (ranking.low, ranking.high, ranking.confidence):
        assert np.all(np.isfinite(numbers))
    drawn = beliefs.sample(np.random.default_rng(0), 5)
    assert np.all((drawn >= 0) & (drawn <= scale.top))
    assert np.all(np.isfinite(beliefs.leave_one_out()))


def test_content_and_several_assessors():
    collection = small_collection(0, systems=3, pool=9)
    rng = np.random.default_rng(0)
    items = np.repeat(np.arange(0, collection.n_items, 2), 2)
    answers = AssessorGains(items, np.tile([0, 1], items.size // 2), rng.uniform(20, 80, items.size), 2)
    gains = np.full(collection.n_items, UNJUDGED)
    gains[np.unique(items)] = np.bincount(items, answers.gain)[np.unique(items)] / 2
    predictor = Hierarchical(Setting(collection, FINE, content=content_of(collection)))
    beliefs = predictor.predict(gains, answers)
    model = beliefs.model
    assert [model.components[number] for number in model.shared_component[-2:]] == ["assessor"] * 2
    dense = Dense(model, beliefs.observed, beliefs.variances)
    np.testing.assert_allclose(beliefs.central.mean[0], dense.posterior_mean, atol=1e-9)


def test_a_twin_of_a_system_shares_everything():
    collection = small_collection(0, duplicate=True)
    beliefs = believed(collection, some_gains(collection, 0.3), content_of(collection))
    estimates = estimate_linear(collection, beliefs, AG)
    assert estimates.differences.variance[np.flatnonzero(estimates.identical)] == 0


# ---- priors ----------------------------------------------------------------------------------------------------------


def judged_with_content(seed: int) -> JudgedCollection:
    rng = np.random.default_rng(seed)
    made = synthetic_collection(rng, systems=5, queries=15, documents=200)
    collection = Collection.from_runs(made.runs, metadata=made.metadata)
    ids = tuple(sorted({*collection.documents, *collection.queries}))
    content = Content(ids, rng.normal(0, 1, (len(ids), 3)))
    near = item_content(collection, content).closeness[:, 0]
    truth = np.clip(item_gains(collection, made.judgments) / 100 + 0.15 * near, 0, 1)
    return JudgedCollection(collection, Setting(collection, FINE).features, truth, content)


def test_a_prior_learns_from_content(tmp_path):
    past = [judged_with_content(seed) for seed in (1, 2)]
    prior = fit_prior(past, name="mine")
    assert prior.coefficients["closeness"] > 0.3
    assert {CONTENT, LIKENESS} <= set(prior.variances)
    prior.save(tmp_path / "prior.json")
    assert HierarchicalPrior.load(tmp_path / "prior.json") == prior
    new = judged_with_content(3)
    errors = {}
    for name, content in (("with", new.content), ("without", None)):
        predictor = Hierarchical(Setting(new.collection, FINE, content=content), prior)
        errors[name] = np.mean((predictor.predict(np.full(new.gains.size, UNJUDGED)).mean / 100 - new.gains) ** 2)
    assert errors["with"] < 0.9 * errors["without"]


def test_past_collections_may_lack_content():
    with_content, without = judged_with_content(1), replace(judged_with_content(2), content=None)
    prior = fit_prior([with_content, without], name="mine")
    assert {CONTENT, LIKENESS} <= set(prior.variances)
    assert not {CONTENT, LIKENESS, "closeness"} & {*fit_prior([without], name="x").variances}


# ---- where it comes from ---------------------------------------------------------------------------------------------


def test_content_of_none_of_the_documents_is_refused():
    made = synthetic_collection(np.random.default_rng(0), systems=3, queries=5, documents=60)
    wrong = Content(("a", "b"), np.eye(2))
    said = r"expected content of some of the documents that were retrieved, got content of none of them; .*'track\d\d'"
    said += r" \(in the content, documents are named like 'a'\)"
    collection = Collection.from_runs(made.runs)
    with pytest.raises(InputError, match=said):
        count_known(collection, wrong)
    for call in (
        earmark.rank,
        earmark.propose,
        earmark.plan,
        partial(earmark.simulate_campaigns, judgments=made.judgments),
        partial(earmark.diagnose_predictor, judgments=made.judgments),
    ):
        with pytest.raises(InputError, match="expected content of some of the documents"):
            call(made.runs, content=wrong)
    other = next(one for one in collection.documents if one not in collection.queries)
    query = next(one for one in collection.queries if one not in collection.documents)
    assert count_known(collection, Content((other, query, "b"), np.eye(3))) == (1, 1)


def test_content_reaches_beliefs_by_every_way():
    made = synthetic_collection(np.random.default_rng(0), systems=3, queries=6, documents=60)
    content = content_of(Collection.from_runs(made.runs, depth=5))
    some = earmark.judgments_from_frame(made.judgments.frame.head(20), scale=FINE)
    campaign = earmark.Campaign.build(made.runs, some, content=content)
    assert CONTENT in campaign.beliefs.model.components
    plain = earmark.rank(made.runs, some)
    told = earmark.rank(made.runs, some, content=content)
    assert not np.allclose(plain.estimates.scores.mean, told.estimates.scores.mean)
    np.testing.assert_array_equal(told.estimates.scores.mean, campaign.ranking.estimates.scores.mean)
    assert earmark.propose(made.runs, some, content=content, n=3).height == 3
    played = [
        earmark.simulate_campaigns(made.runs, made.judgments, stop="budget:20", content=one)
        .to_polars()["rmse"]
        .to_list()
        for one in (None, content)
    ]
    assert played[0] != played[1]
    uniform = [
        earmark.rank(made.runs, some, predictor="uniform", content=one).systems_frame() for one in (None, content)
    ]
    assert uniform[0].equals(uniform[1])


def test_who_uses_content():
    assert PredictorChoice("hierarchical").uses_content
    assert not PredictorChoice("mtc-judge").uses_content
