"""What people say of a sample that does not follow the campaign's own order: ``--sample uniform|MEASURE|FILE``.

``uniform``    the judged items are a simple random sample of all items
a measure      they follow the order that earmark drew for another measure, with the same seed
a file         columns ``query``, ``document`` and ``probability``: with which probability every item was to be drawn
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from earmark.beliefs.exact_estimates import system_weights
from earmark.data.arrays import Floats
from earmark.data.collection import Collection
from earmark.data.files import require_file
from earmark.data.permanent_random_numbers import item_numbers
from earmark.data.runs import Runs
from earmark.data.scales import Scale
from earmark.data.table_files import read_named
from earmark.data.tables import Table, id_cells, number_cells
from earmark.errors import InputError, ParameterError
from earmark.inference.drawn_elsewhere import DrawnElsewhere
from earmark.inference.sampling_design import ItemSampling, SampleOrder, sizes
from earmark.measures import Measure, parse

UNIFORM = "uniform"
_COLUMNS = ("query", "document", "probability")


@dataclass(frozen=True, eq=False)
class OwnSample:
    """A sample that was not drawn for the measure of the campaign.

    Parameters
    ----------
    text : str
        As it was written.
    measure : Measure, optional
        The linear measure for which it was drawn.
    probabilities : polars.DataFrame, optional
        ``query``, ``document`` and ``probability``, with the rows of a file.
    path : path, optional
        That file.

    Examples
    --------
    >>> OwnSample.parse("uniform").basis
    'guaranteed if judged items were drawn uniformly at random (--sample), whatever the model'
    """

    text: str
    measure: Measure | None = None
    probabilities: pl.DataFrame | None = None
    path: Path | None = None

    @classmethod
    def parse(cls, text: str | Path, *, encoding: str = "utf-8") -> OwnSample:
        """Read what was written; a file is read.

        Raises
        ------
        InputError
            If a file is missing, or a row of it is not what it should be.
        """
        said = str(text).strip()
        if said.lower() == UNIFORM:
            return cls(UNIFORM)
        if not Path(said).exists():
            try:
                return cls(said, parse(said))
            except ParameterError:
                pass
        if not Path(said).exists() and not Path(said).suffix:
            raise ParameterError(
                f"--sample is uniform, a measure for which earmark drew the sample, or a file with the columns "
                f"{', '.join(_COLUMNS)}; got '{said}'"
            )
        return cls(said, None, read_probabilities(Path(said), encoding=encoding), Path(said))

    def __str__(self) -> str:
        return self.text

    @property
    def told(self) -> tuple[str, str | None]:
        """What a digest of a problem has to contain."""
        return self.text, None if self.probabilities is None else self.probabilities.write_csv()

    @property
    def basis(self) -> str:
        """What verdicts rest on, in words."""
        how = {
            (False, False): "drawn uniformly at random",
            (True, False): f"sampled for {self.measure}",
            (False, True): "drawn one by one with the probabilities of the file",
        }[self.measure is not None, self.probabilities is not None]
        return f"guaranteed if judged items were {how} (--sample), whatever the model"

    def sampling(self, collection: Collection, *, runs: Runs | None, scale: Scale, seed: int) -> ItemSampling:
        """Return how the items of a collection were sampled.

        Raises
        ------
        InputError
            If the file lacks an item: what could not be drawn carries no guarantee.
        ParameterError
            If a sample for the other measure never reaches some of the items.
        """
        if self.measure is not None:
            return _order_for(self.measure, collection, runs, scale, seed)
        if self.probabilities is None:
            return DrawnElsewhere(collection)
        return DrawnElsewhere(collection, _of_items(self.probabilities, collection, self.path))


def read_probabilities(path: Path, *, encoding: str = "utf-8") -> pl.DataFrame:
    """Read with which probability every item was to be drawn: columns ``query``, ``document`` and ``probability``."""
    table = read_named(require_file(path), encoding=encoding)
    frame = table.frame.rename({name: name.strip().lower() for name in table.frame.columns})
    table = Table(frame, table.path, table.line_of)
    missing = [name for name in _COLUMNS if name not in frame.columns]
    if missing:
        raise InputError(expected=f"a column '{missing[0]}'", got=", ".join(frame.columns), path=path)
    chances = number_cells(table, "probability")
    bad = np.flatnonzero(~((chances > 0) & (chances <= 1)))
    if bad.size:
        raise table.error(
            int(bad[0]),
            expected="a probability above 0 and up to 1",
            got=f"{chances[bad[0]]:g}",
            hint="an item that could not be drawn carries no guarantee; percentages are to be divided by 100",
        )
    read = pl.DataFrame({name: id_cells(table, name) for name in _COLUMNS[:2]} | {"probability": chances})
    again = (~read.select(pl.struct("query", "document").is_first_distinct()).to_series()).arg_true()
    if again.len():
        raise table.error(int(again[0]), expected="every item once", got="an item again")
    return read


def _of_items(probabilities: pl.DataFrame, collection: Collection, path: Path | None) -> Floats:
    items = collection.item_frame().select("query", "document")
    chance = items.join(probabilities, on=["query", "document"], how="left", maintain_order="left")["probability"]
    lacking = chance.is_null().arg_true()
    if lacking.len():
        query, document = items.row(int(lacking[0]))
        raise InputError(
            expected=f"the probability of each of the {items.height:,} items that systems retrieved, drawn or not",
            got=f"none of {lacking.len():,} of them, the first is query '{query}', document '{document}'",
            path=path,
            hint="what could not be drawn carries no guarantee: a sample of shorter lists is for a measure of these",
        )
    return chance.to_numpy().astype(np.float64)


def _order_for(measure: Measure, collection: Collection, runs: Runs | None, scale: Scale, seed: int) -> SampleOrder:
    """Return the order that was drawn for another measure, as far as it is about the items of the collection."""
    if not measure.is_linear:
        raise ParameterError(f"--sample {measure}: name the measure that items were sampled by, such as DCG for nDCG")
    if runs is None:
        raise ParameterError("a sample for another measure needs the runs that the collection was pooled from")
    sampled = Collection.from_runs(runs, depth=measure.cutoff)
    size = (
        sampled.item_frame()
        .select("query", "document")
        .with_columns(size=sizes(system_weights(sampled, measure, scale=scale)))
    )
    items = collection.item_frame().select("query", "document")
    known = items.join(size, on=["query", "document"], how="left", maintain_order="left")["size"].fill_null(0.0)
    if known.min() == 0:
        raise ParameterError(
            f"--sample {measure}: a sample for {measure} never reaches {int((known == 0).sum()):,} of the "
            f"{items.height:,} items that are needed here, so it guarantees nothing about them"
        )
    part = items.height < int((size["size"] > 0).sum())
    return SampleOrder(item_numbers(collection, seed=seed), known.to_numpy(), part)
