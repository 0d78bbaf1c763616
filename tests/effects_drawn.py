"""Small collections under the model of effects, and all about them by textbook conditioning on dense matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.linalg import block_diag

import earmark
from earmark.beliefs.beliefs import UNJUDGED
from earmark.beliefs.correlated import CorrelatedBeliefs
from earmark.beliefs.effects import EffectModel, Observations
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.metadata import Metadata
from earmark.data.scales import FINE, Scale
from earmark.predictors.base import Setting
from earmark.predictors.covariates import covariates
from earmark.predictors.hierarchical_effects import effect_model, item_spread


def small_collection(
    seed: int,
    *,
    systems: int = 4,
    queries: int = 3,
    depth: int = 4,
    pool: int = 8,
    metadata: bool = True,
    duplicate: bool = False,
) -> Collection:
    """Let every system retrieve some of the documents of a query, which are by few artists and of fewer genres."""
    rng = np.random.default_rng(seed)
    lists = {
        f"s{system}": {
            f"q{query}": {f"d{query}.{chosen}": -float(at) for at, chosen in enumerate(rng.permutation(pool)[:depth])}
            for query in range(queries)
        }
        for system in range(systems)
    }
    if duplicate:
        lists["twin"] = lists["s0"]
    names = [f"d{query}.{document}" for query in range(queries) for document in range(pool)]
    asked = [f"q{query}" for query in range(queries)]
    known = None
    if metadata:
        artist: list[str | None] = [f"a{number}" for number in rng.integers(0, 4, len(names))]
        genre: list[str | None] = [f"g{number}" for number in rng.integers(0, 2, len(names))]
        artist[min(1, len(names) - 1)] = genre[min(2, len(names) - 1)] = None
        frame = {"document": names + asked, "artist": artist + ["a0"] * queries, "genre": genre + ["g1"] * queries}
        known = Metadata(pl.DataFrame(frame))
    return Collection.from_runs(earmark.runs_from_dict(lists), metadata=known)


def model_of(collection: Collection, seed: int = 0, *, n_assessors: int = 0, scale: Scale = FINE) -> EffectModel:
    """Expect something else of every item."""
    mean = np.random.default_rng(seed).uniform(0.2, 0.8, collection.n_items)
    known = covariates(collection, Setting(collection, scale).features)
    return effect_model(collection, known, mean, n_assessors=n_assessors)


def some_variances(model: EffectModel, seed: int = 0, sets: int = 3, size: float = 0.02) -> Floats:
    return size * np.exp(np.random.default_rng(seed).normal(0, 0.7, (sets, len(model.components))))


def answers_of(model: EffectModel, items: NDArray[np.int64], seed: int = 0) -> Observations:
    """One to three answers about every item, each by some assessor; gains are any."""
    return Observations.of_answers(*single_answers(model, items, seed))


def single_answers(
    model: EffectModel, items: NDArray[np.int64], seed: int = 0
) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """The same answers, one after the other: item, value, loadings on shared effects, weights of own variances."""
    rng = np.random.default_rng(seed)
    n_assessors = int(np.count_nonzero(model.shared_component == model.components.index("assessor")))
    asked = [(item, who) for item in np.sort(items) for who in rng.permutation(n_assessors)[: rng.integers(1, 4)]]
    item, who = np.array(asked, dtype=np.int64).T
    spread = item_spread(model.prior_mean[item])
    shared, extra = model.shared[item].copy(), np.zeros((item.size, len(model.components)))
    shared[np.arange(item.size), model.shared.shape[1] - n_assessors + who] = spread
    extra[:, model.components.index("disagreement")] = spread**2
    return item, rng.uniform(0, 1, item.size), shared, extra


def without(observed: Observations, gone: NDArray[np.bool_]) -> Observations:
    kept = ~gone
    return replace(
        observed,
        item=observed.item[kept],
        value=observed.value[kept],
        shared=observed.shared[kept],
        extra=observed.extra[kept],
    )


@dataclass(frozen=True, eq=False)
class Dense:
    """The joint normal distribution of gains and observations, written out, for one set of variances."""

    model: EffectModel
    observed: Observations
    variances: Floats

    @property
    def local(self) -> Floats:
        """Covariance of gains given the shared effects."""
        model, variances = self.model, self.variances
        blocks = [
            design @ np.diag(variances[of]) @ design.T
            for design, of in zip(model.local, model.local_component, strict=True)
        ]
        return block_diag(*blocks) + np.diag(model.own @ variances)

    @property
    def covariance(self) -> Floats:
        """Of all gains."""
        model = self.model
        return model.shared @ np.diag(self.variances[model.shared_component]) @ model.shared.T + self.local

    @property
    def observed_shared(self) -> Floats:
        """Loadings of all that was observed, contrasts between answers after the items."""
        return self._with_contrasts(self.observed.shared, "shared")

    @property
    def across(self) -> Floats:
        """Of all gains with all that was observed; contrasts have nothing to do with a query."""
        model, observed, rows = self.model, self.observed, self.observed_shared
        covariance = model.shared @ np.diag(self.variances[model.shared_component]) @ rows.T
        covariance[:, : observed.item.size] += self.local[:, observed.item]
        return covariance

    @property
    def of_observations(self) -> Floats:
        model, observed, rows = self.model, self.observed, self.observed_shared
        covariance = rows @ np.diag(self.variances[model.shared_component]) @ rows.T
        n = observed.item.size
        covariance[:n, :n] += self.local[np.ix_(observed.item, observed.item)]
        return covariance + np.diag(self._with_contrasts(observed.extra, "extra") @ self.variances)

    @property
    def residual(self) -> Floats:
        return self._with_contrasts(self.observed.value - self.model.prior_mean[self.observed.item], "value")

    def _with_contrasts(self, of_items: Floats, what: str) -> Floats:
        contrasts = self.observed.contrasts
        return of_items if contrasts is None else np.concatenate((of_items, getattr(contrasts, what)))

    @property
    def posterior_mean(self) -> Floats:
        return self.model.prior_mean + self.across @ np.linalg.solve(self.of_observations, self.residual)

    @property
    def posterior_covariance(self) -> Floats:
        return self.covariance - self.across @ np.linalg.solve(self.of_observations, self.across.T)

    def by_component(self) -> list[Floats]:
        """What a unit of every component's variance adds to the covariance of the observations."""
        n = self.variances.size
        return [Dense(self.model, self.observed, np.eye(n)[k]).of_observations for k in range(n)]


def beliefs_of(
    collection: Collection, *, judged: int = 0, scale: Scale = FINE, seed: int = 0, sets: int = 8, size: float = 0.01
) -> CorrelatedBeliefs:
    """Judge some items about as expected; variances are drawn, not fitted."""
    rng = np.random.default_rng(seed)
    model = model_of(collection, seed, scale=scale)
    gains = np.full(collection.n_items, UNJUDGED)
    items = rng.permutation(collection.n_items)[:judged]
    levels = np.array(scale.gains)
    about = (model.prior_mean[items] + rng.normal(0, 0.1, items.size)) * scale.top
    gains[items] = levels[np.abs(about[:, None] - levels).argmin(axis=1)]
    drawn = some_variances(model, seed, sets=sets, size=size)
    observed = Observations.exact(model, items, gains[items] / scale.top)
    return CorrelatedBeliefs(scale, gains, model, observed, np.exp(np.log(drawn).mean(axis=0)), drawn)
