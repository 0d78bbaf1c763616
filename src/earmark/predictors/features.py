"""The features of all items of a collection, by name.

A :class:`FeatureBuilder` is made once per collection. Features that need no judgments are computed once; those that do
are a few passes over items and results each time, cheap enough to be computed anew after every batch of judgments.

>>> import earmark
>>> from earmark.data.collection import Collection
>>> runs = earmark.runs_from_dict({"A": {"q": {"a": 2.0, "b": 1.0}}, "B": {"q": {"b": 2.0, "c": 1.0}}})
>>> builder = FeatureBuilder(Collection.from_runs(runs))
>>> builder.output()["pSYS"].tolist()
[0.5, 1.0, 0.5]
>>> builder.judged([2, 1, 0], [True, True, False])["aSYS"].tolist()
[1.0, 2.0, 1.0]

**Missing metadata.** A document without metadata, or without the attribute in question, has NaN in the features that
need it, and `Features.complete` tells which items a model may be applied to; the papers give the others a uniform
belief. The artist of songs by "Various Artists" counts as unknown (Buckers 2021, 2.2.1), their genre does not. The
attributes of a query are those of the document with the query's id; without one, sX is NaN. Without metadata, or where
an attribute is known for no item, the features that need it are not computed, and `FeatureBuilder.dropped` names them.
Without teams, every system is a team of its own and pTEAM is pSYS.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from earmark.beliefs.beliefs import item_gains
from earmark.data.arrays import Bools, Floats
from earmark.data.collection import Collection
from earmark.data.judgments import Aggregation, Judgments
from earmark.errors import ParameterError
from earmark.predictors import output_features as shares
from earmark.predictors.feature_glossary import (
    INTERACTION,
    FeatureDescription,
    attribute_feature,
    attribute_glossary,
    interaction_entry,
    judgment_glossary,
    output_glossary,
)
from earmark.predictors.judgment_features import (
    Average,
    ItemGains,
    attribute_average,
    checked_gains,
    query_average,
    system_average,
)
from earmark.predictors.retrieval_counts import ItemAttribute, RetrievalCounts, item_attribute

VARIOUS_ARTISTS = ("Various Artists",)
_ARTIST, _GENRE = "ART", "GEN"
_TAKEN = frozenset({"SYS", "TEAM", "DOC", "RANK", "RES", _ARTIST, _GENRE})

_ATTRIBUTE_SHARES: dict[str, Callable[[RetrievalCounts, ItemAttribute], Floats]] = {
    "sX": lambda _, attribute: attribute.same_as_query,
    "pX": shares.attribute_result_share,
    "fX": shares.attribute_item_share,
    "fX_systems": shares.attribute_system_share,
    "fX_others": shares.attribute_share_of_others,
    "rX": lambda _, attribute: attribute.frequency,
}


@dataclass(frozen=True, eq=False)
class Features:
    """A table of items × features.

    Attributes
    ----------
    names : tuple of str, length f
    values : ndarray of float, shape (items, f)
        NaN where a feature cannot be computed.
    """

    names: tuple[str, ...]
    values: Floats

    @cached_property
    def complete(self) -> Bools:
        """Which items have all of these features, shape (items,): the ones a model may be applied to."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    def __getitem__(self, name: str) -> Floats:
        if name not in self.names:
            raise ParameterError(f"there is no feature '{name}' here: there are {', '.join(self.names)}")
        return self.values[:, self.names.index(name)]


class FeatureBuilder:
    """Computes the features of the items of a collection.

    Parameters
    ----------
    collection : Collection
        Attributes come from its `metadata`.
    teams : mapping of str to str, optional
        The team of every system.
    artist, genre : str
        The metadata columns with artist and genre. A column named here must exist, unless it has the default name.
    attributes : sequence of str
        Further columns; the features of ``decade`` are called sDECADE, pDECADE and so on.
    no_artist : sequence of str
        Values of the artist column for songs without a single artist, compared without regard to case.

    Attributes
    ----------
    attributes : dict of str to ItemAttribute
        The attributes of the documents, by code: ``ART``, ``GEN`` and those of further columns.
    output_names, judgment_names : tuple of str
        The available features.
    dropped : tuple of str
        The features that are not available because metadata are missing.
    descriptions : tuple of FeatureDescription
        Of the available features.

    Raises
    ------
    ParameterError
        If a system has no team, a named column is not in the metadata, or two attributes would share a name.
    """

    def __init__(
        self,
        collection: Collection,
        *,
        teams: Mapping[str, str] | None = None,
        artist: str = "artist",
        genre: str = "genre",
        attributes: Sequence[str] = (),
        no_artist: Sequence[str] = VARIOUS_ARTISTS,
    ) -> None:
        self.collection = collection
        self._retrieved = RetrievalCounts(collection)
        self._team_of_system = _teams(collection.systems, teams)
        self._columns = {_ARTIST: artist, _GENRE: genre, **_codes(attributes)}
        self.attributes: dict[str, ItemAttribute] = {}
        for code, column in self._columns.items():
            optional = (code, column) in ((_ARTIST, "artist"), (_GENRE, "genre"))
            found = _attribute(collection, column, optional=optional, discarded=no_artist if code == _ARTIST else ())
            if found is not None:
                self.attributes[code] = found
        described = self._described()
        self.descriptions = tuple(entry for entry in described if self._is_there(entry))
        self.output_names = tuple(entry.name for entry in self.descriptions if entry.kind == "output")
        self.judgment_names = tuple(entry.name for entry in self.descriptions if entry.kind == "judgment")
        self._dropped = {entry.name: entry.attribute for entry in described if not self._is_there(entry)}
        self.dropped = tuple(self._dropped)

    def output(self) -> Features:
        """Return all features that need no judgments; they are computed once."""
        return self._output

    def judged(
        self, gain: ArrayLike, judged: ArrayLike, *, exclude_own: bool = True, names: Sequence[str] | None = None
    ) -> Features:
        """Compute the features that rest on judgments.

        Parameters
        ----------
        gain : array_like of float, shape (items,)
            The gains given; those of unjudged items do not matter.
        judged : array_like of bool, shape (items,)
            Which items are judged.
        exclude_own : bool
            Leave an item's own judgment out of its features. The published models were fitted with it in, which makes
            them overconfident.
        names : sequence of str, optional
            Only these; all of `judgment_names` by default.
        """
        wanted = self.judgment_names if names is None else tuple(names)
        for name in wanted:
            if name not in self.judgment_names:
                raise self._unknown(name, self.judgment_names)
        return self._table(wanted, self._judgment_columns(wanted, gain, judged, exclude_own=exclude_own))

    def features(
        self,
        names: Sequence[str],
        *,
        gain: ArrayLike | None = None,
        judged: ArrayLike | None = None,
        exclude_own: bool = True,
    ) -> Features:
        """Return the features that a model asks for, with or without judgments.

        Parameters
        ----------
        names : sequence of str
            Any available features, and products of them such as ``sGEN:pGEN``.
        gain, judged : array_like, shape (items,), optional
            As in `judged`; needed only where a feature rests on judgments.
        exclude_own : bool
            As in `judged`.
        """
        there = (*self.output_names, *self.judgment_names)
        factors = {name: (name,) if name in there else tuple(name.split(":")) for name in names}
        parts = dict.fromkeys(part for group in factors.values() for part in group)
        for part in parts:
            if part not in there:
                raise self._unknown(part, there)
        resting = tuple(part for part in parts if part in self.judgment_names)
        if resting and (gain is None or judged is None):
            raise ParameterError(f"the feature '{resting[0]}' rests on judgments: give 'gain' and 'judged'")
        columns = {part: self._output[part] for part in parts if part in self.output_names}
        if gain is not None and judged is not None:
            columns |= self._judgment_columns(resting, gain, judged, exclude_own=exclude_own)
        products = {name: np.prod([columns[part] for part in group], axis=0) for name, group in factors.items()}
        return self._table(tuple(names), products)

    @cached_property
    def _output(self) -> Features:
        retrieved = self._retrieved
        columns = {
            "pSYS": shares.system_share(retrieved),
            "fSYS": shares.system_share(retrieved),
            "pTEAM": shares.team_share(retrieved, self._team_of_system),
            "OV": shares.overlap(retrieved),
            "aRANK": shares.mean_rank(retrieved),
            "nRES": shares.result_count(retrieved),
        }
        for code, attribute in self.attributes.items():
            for template, share in _ATTRIBUTE_SHARES.items():
                columns[attribute_feature(template, code)] = share(retrieved, attribute)
        if INTERACTION in self.output_names:
            columns[INTERACTION] = columns["sGEN"] * columns["pGEN"]
        table = self._table(self.output_names, columns)
        table.values.setflags(write=False)
        return table

    def _table(self, names: tuple[str, ...], columns: Mapping[str, Floats]) -> Features:
        values = np.empty((self.collection.n_items, len(names)))
        for position, name in enumerate(names):
            values[:, position] = columns[name]
        return Features(names, values)

    def _judgment_columns(
        self, names: Sequence[str], gain: ArrayLike, judged: ArrayLike, *, exclude_own: bool
    ) -> dict[str, Floats]:
        gains = checked_gains(gain, judged, self.collection.n_items)
        averages = {code: self._average(code, gains, exclude_own) for code in dict.fromkeys(name[1:] for name in names)}
        return {name: averages[name[1:]].mean if name[0] == "a" else averages[name[1:]].judgments for name in names}

    def _average(self, code: str, gains: ItemGains, exclude_own: bool) -> Average:
        if code == "SYS":
            return system_average(self._retrieved, gains, exclude_own=exclude_own)
        if code == "DOC":
            return query_average(self._retrieved, gains)
        return attribute_average(self.attributes[code], gains, exclude_own=exclude_own)

    def _described(self) -> list[FeatureDescription]:
        """Describe all features, available or not, in the order of tables."""
        described = [*output_glossary()]
        for code, column in self._columns.items():
            described += attribute_glossary(code, column, kind="output")
        described += [interaction_entry(), *judgment_glossary()]
        for code, column in self._columns.items():
            described += attribute_glossary(code, column, kind="judgment")
        return described

    def _is_there(self, entry: FeatureDescription) -> bool:
        if entry.attribute is None:
            return True
        if entry.attribute not in self.attributes:
            return False
        asks_query = entry.name in (INTERACTION, attribute_feature("sX", entry.attribute))
        return not asks_query or bool(np.isfinite(self.attributes[entry.attribute].same_as_query).any())

    def _unknown(self, name: str, there: Sequence[str]) -> ParameterError:
        code = self._dropped.get(name)
        if code is not None:
            return ParameterError(
                f"the feature '{name}' needs to know the {self._columns[code]}: {self._lacking(code)}"
            )
        close = difflib.get_close_matches(name, there, n=1, cutoff=0.5)
        hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(there)}"
        return ParameterError(f"there is no feature '{name}': {hint}")

    def _lacking(self, code: str) -> str:
        metadata = self.collection.metadata
        if metadata is None:
            return "there is no metadata"
        if self._columns[code] not in metadata.attributes:
            return f"the metadata has the columns {', '.join(metadata.attributes) or 'document'}"
        return f"it is known of no {'query' if code in self.attributes else 'item'}"


def feature_table(
    builder: FeatureBuilder,
    *,
    names: Sequence[str] | None = None,
    judgments: Judgments | None = None,
    exclude_own: bool = True,
    aggregation: Aggregation = "mean",
) -> pl.DataFrame:
    """Return one row per item and one column per feature.

    Parameters
    ----------
    builder : FeatureBuilder
    names : sequence of str, optional
        The features wanted, products such as ``sGEN:pGEN`` among them. By default all that need no judgments and,
        where there are judgments, all that do.
    judgments : Judgments, optional
        What has been judged so far.
    exclude_own : bool
        Leave an item's own judgment out of its features.
    aggregation : {"mean", "median", "majority"}
        How to make one gain of several assessors' for the same item.

    Returns
    -------
    polars.DataFrame
        ``query``, ``document``, then the features; null where one cannot be computed.
    """
    collection = builder.collection
    gain = None if judgments is None else item_gains(collection, judgments, aggregation=aggregation)
    if names is None:
        names = builder.output_names + (() if gain is None else builder.judgment_names)
    features = builder.features(names, gain=gain, judged=None if gain is None else gain >= 0, exclude_own=exclude_own)
    columns = {name: pl.Series(features[name]).fill_nan(None) for name in features.names}
    return collection.item_frame().with_columns(**columns)


def _teams(systems: Sequence[str], teams: Mapping[str, str] | None) -> list[int]:
    """Return the number of every system's team; without teams, every system is one."""
    if teams is None:
        return list(range(len(systems)))
    unknown = [name for name in systems if name not in teams]
    if unknown:
        raise ParameterError(f"no team is given for system '{unknown[0]}'")
    number: dict[str, int] = {}
    return [number.setdefault(teams[name], len(number)) for name in systems]


def _codes(attributes: Sequence[str]) -> dict[str, str]:
    """Name further attributes: their columns in capitals."""
    codes: dict[str, str] = {}
    for column in attributes:
        code = column.upper()
        if code in _TAKEN or code in codes:
            raise ParameterError(f"features of '{column}' would be called p{code}, which is taken: rename the column")
        if not code or ":" in code:
            raise ParameterError(f"an attribute's name has one or more letters and no colon, got '{column}'")
        codes[code] = column
    return codes


def _attribute(
    collection: Collection, column: str, *, optional: bool, discarded: Sequence[str]
) -> ItemAttribute | None:
    """Group the items by an attribute; None where it is known for no item."""
    metadata = collection.metadata
    if metadata is None or (optional and column not in metadata.attributes):
        return None
    if column not in metadata.attributes:
        metadata.attribute(column)  # raises the error that names the columns
    found = item_attribute(collection, metadata, column, discarded=discarded)
    return found if found.known.any() else None
