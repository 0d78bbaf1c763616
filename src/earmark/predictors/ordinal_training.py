r"""Ordinal models fitted on past collections, to be used on new ones before anybody has judged anything.

Every judged item of every collection is a row: its features, and the level that it was judged to have. An item's own
judgment never enters its features (BIAS, section 3.2.1); where it does, the model learns to repeat what it was told.

**More systems than there are.** Features such as the share of systems that retrieved an item depend on who took part.
BIAS (section 3.2.3) therefore adds copies of a collection from which systems are dropped at random. A copy
asks nobody anything new: the rows of an item share a weight of 1 among them, so that standard errors and p-values
still count judgments and not copies of them.

References
----------
BIAS: Buckers (2021), on overconfidence and bias in low-cost evaluation; chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.predictors.backward_elimination import EliminationStep, backward_elimination
from earmark.predictors.base import Setting
from earmark.predictors.held_out_features import held_out_features
from earmark.predictors.ordinal_levels import model_levels, to_levels
from earmark.predictors.ordinal_models import NamedModel
from earmark.predictors.ordinal_predictor import OUTPUT_TIER
from earmark.predictors.ordinal_regression import OrdinalModel, fit_ordinal
from earmark.wording import counted

JUDGMENT_FEATURES = ("aSYS", "aDOC", "aGEN")
"""What is added where judgments count; aART is left to be asked for, as few items have another by their artist."""

# Without two systems there is nothing for an item to be shared by.
_FEWEST_SYSTEMS = 2


@dataclass(frozen=True, eq=False)
class PastCollection:
    """A judged collection to learn from.

    Parameters
    ----------
    setting : Setting
        The collection and its scale.
    judged_gain : ndarray of float, shape (items,)
        The gain of every judged item, negative for the others.
    """

    setting: Setting
    judged_gain: Floats


@dataclass(frozen=True, eq=False)
class Training:
    """A fitted model and what it was fitted on.

    Attributes
    ----------
    model : NamedModel
        What predictors use and files keep.
    fit : OrdinalModel
        The same with standard errors and likelihoods.
    collections, judged, rows : int
        How many collections, judged items that could be used, and rows made of them there were.
    incomplete : int
        How many judged items lack a feature and were left out.
    eliminated : tuple of EliminationStep
        The features that were taken out, in this order.
    """

    model: NamedModel
    fit: OrdinalModel
    collections: int
    judged: int
    rows: int
    incomplete: int
    eliminated: tuple[EliminationStep, ...]


def train(
    collections: Sequence[PastCollection],
    *,
    rng: np.random.Generator,
    features: Sequence[str] | None = None,
    judged: bool = False,
    copies: int = 0,
    eliminate: bool = False,
    name: str = "fitted",
) -> Training:
    """Fit an ordinal model on judged collections.

    Parameters
    ----------
    collections : sequence of PastCollection
        One or more, all on the same scale.
    rng : numpy.random.Generator
        What decides which systems the copies lack.
    features : sequence of str, optional
        What to predict from; by default the features of MTC's models that all of the collections have.
    judged : bool
        Add `JUDGMENT_FEATURES` where all of the collections have them. Such a model says nothing about an item before
        there are judgments to make its features of.
    copies : int
        How many copies of every collection to add from which systems are dropped at random.
    eliminate : bool
        Take out features one by one that contribute too little (MTC, section 4.2.3).
    name : str
        What to call the model.

    Raises
    ------
    ParameterError
        If scales differ, a feature does not exist, or no judged item has all of them.
    """
    rows = training_rows(collections, rng=rng, features=features, judged=judged, copies=copies)
    names, n_levels = rows.names, rows.levels.size
    path: tuple[EliminationStep, ...] = ()
    if eliminate:
        found = backward_elimination(rows.x, names, rows.y, n_levels=n_levels, weights=rows.weights)
        names, fit, path = found.kept, found.model, found.path
    else:
        fit = fit_ordinal(rows.x, rows.y, n_levels=n_levels, weights=rows.weights, names=names)
    levels = tuple(rows.levels.tolist())
    return Training(
        model=NamedModel.from_fit(fit, name=name, features=names, levels=levels, source=rows.source),
        fit=fit,
        collections=len(collections),
        judged=rows.judged,
        rows=len(rows.y),
        incomplete=rows.incomplete,
        eliminated=path,
    )


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What judged collections have to teach, row by row.

    Attributes
    ----------
    names : tuple of str, length f
        The features.
    x : ndarray of float, shape (n, f)
    gain : ndarray of float, shape (n,)
        What the item of a row was judged to be worth.
    y : ndarray of int, shape (n,)
        The level of that, of `levels`.
    weights : ndarray of float, shape (n,)
        The rows of an item share a weight of 1.
    query : ndarray of int, shape (n,)
        The query of a row, no two collections sharing one.
    levels : ndarray of float, shape (levels,)
    judged, incomplete : int
        How many judged items could be used, and how many lack a feature.
    source : str
        Where the rows came from, in words.
    """

    names: tuple[str, ...]
    x: Floats
    gain: Floats
    y: Ints
    weights: Floats
    query: Ints
    levels: Floats
    judged: int
    incomplete: int
    source: str


def training_rows(
    collections: Sequence[PastCollection],
    *,
    rng: np.random.Generator,
    features: Sequence[str] | None = None,
    judged: bool = False,
    copies: int = 0,
    held_out: bool = False,
) -> TrainingRows:
    """Make rows of judged collections; arguments and errors are those of :func:`train`.

    With `held_out`, features that rest on judgments are made for learners that would decode an item's own judgment from
    them (:mod:`earmark.predictors.held_out_features`).
    """
    if not collections:
        raise ParameterError("a model is fitted on one judged collection or more, got none")
    if copies < 0:
        raise ParameterError(f"the number of copies is 0 or more, got {copies}")
    scale = collections[0].setting.scale
    for past in collections:
        if past.setting.scale != scale:
            raise ParameterError(
                f"all collections have to be judged on one scale, got '{scale}' and '{past.setting.scale}'"
            )
    names = _chosen(collections, features, judged=judged)
    blocks = [_rows(past, names, copies=copies, rng=rng, held_out=held_out) for past in collections]
    x, gains, weights = (np.concatenate(parts) for parts in zip(*(block.table for block in blocks), strict=True))
    if not gains.size:
        raise ParameterError(f"no judged item has all of the features {', '.join(names)}: name fewer of them")
    first_query = np.cumsum([0, *(len(past.setting.collection.queries) for past in collections)])
    used = sum(block.judged for block in blocks)
    source = f"fitted on {used:,} judged items of {counted(len(collections), 'collection')}"
    if copies:
        source += f", with {counted(copies, 'copy', 'copies')} of each from which systems were dropped"
    return TrainingRows(
        names=names,
        x=x,
        gain=gains,
        y=to_levels(scale, gains),
        weights=weights,
        query=np.concatenate([block.query + first for block, first in zip(blocks, first_query, strict=False)]),
        levels=np.array(model_levels(scale)),
        judged=used,
        incomplete=sum(block.incomplete for block in blocks),
        source=source,
    )


def with_systems(collection: Collection, systems: Ints) -> tuple[Collection, Ints]:
    """Return what is left of a collection when only some of its systems took part.

    Parameters
    ----------
    collection : Collection
    systems : ndarray of int
        Indices of the systems that stay, ascending.

    Returns
    -------
    collection : Collection
        All queries and documents keep their numbers.
    items : ndarray of int
        Which of the items are left, ascending.
    """
    place = np.full(len(collection.systems), -1)
    place[systems] = np.arange(systems.size)
    stays = place[collection.result_system] >= 0
    items, result_item = np.unique(collection.result_item[stays], return_inverse=True)
    left = replace(
        collection,
        systems=tuple(collection.systems[system] for system in systems),
        item_query=collection.item_query[items],
        item_document=collection.item_document[items],
        result_system=place[collection.result_system[stays]],
        result_item=result_item.astype(np.int64),
        result_rank=collection.result_rank[stays],
    )
    return left, items


@dataclass(frozen=True, eq=False)
class _Rows:
    """What one collection and its copies have to teach: features, gains, weights and queries, row by row."""

    table: tuple[Floats, Floats, Floats]
    query: Ints
    judged: int
    incomplete: int


def _rows(
    past: PastCollection, names: Sequence[str], *, copies: int, rng: np.random.Generator, held_out: bool
) -> _Rows:
    values, items = [], []
    for setting, there in _versions(past.setting, copies, rng):
        if any(name in setting.features.dropped for name in _parts(names)):
            continue
        gain = past.judged_gain[there]
        if held_out:
            table = held_out_features(setting.features, names, gain, seed=setting.seed)
        else:
            table = setting.features.features(names, gain=gain, judged=gain >= 0, exclude_own=True)
        taught = table.complete & (gain >= 0)
        values.append(table.values[taught])
        items.append(there[taught])
    own = np.concatenate(items)
    rows_of_item = np.bincount(own, minlength=past.judged_gain.size)
    weights = 1.0 / rows_of_item[own]
    complete = int(np.count_nonzero(rows_of_item))
    judged = int(np.count_nonzero(past.judged_gain >= 0))
    rows = (np.concatenate(values), past.judged_gain[own], weights)
    return _Rows(rows, past.setting.collection.item_query[own], complete, judged - complete)


def _versions(setting: Setting, copies: int, rng: np.random.Generator) -> Iterator[tuple[Setting, Ints]]:
    """Yield the collection itself, then its copies, each with the items that are left of it."""
    collection = setting.collection
    n_systems = len(collection.systems)
    yield setting, np.arange(collection.n_items)
    if n_systems <= _FEWEST_SYSTEMS:
        return
    for _ in range(copies):
        size = int(rng.integers(_FEWEST_SYSTEMS, n_systems))
        left, items = with_systems(collection, np.sort(rng.choice(n_systems, size, replace=False)))
        yield replace(setting, collection=left), items


def _chosen(collections: Sequence[PastCollection], features: Sequence[str] | None, *, judged: bool) -> tuple[str, ...]:
    """Return the features asked for, checked, or those that all of the collections have."""
    builders = [past.setting.features for past in collections]
    there = set.intersection(*({*builder.output_names, *builder.judgment_names} for builder in builders))
    added = [name for name in JUDGMENT_FEATURES if judged and name in there]
    chosen = [name for name in OUTPUT_TIER if name in there] if features is None else list(features)
    names = tuple(dict.fromkeys((*chosen, *added)))
    for builder, past in zip(builders, collections, strict=True):
        # An unknown name is best explained by those who know the others.
        builder.features(names, gain=past.judged_gain, judged=past.judged_gain >= 0)
    return names


def _parts(names: Sequence[str]) -> list[str]:
    return [part for name in names for part in (name, *name.split(":"))]
