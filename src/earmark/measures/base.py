"""Measures as values: each has parameters and a cutoff, prints as one canonical name and is read back from it.

The grammar is ``name(parameter=value, …)@cutoff``: ``P@5``, ``nDCG(gain=exp)@10``, ``RBP(p=0.8)``, ``bpref*``. A
parameter that has its default value is mostly left out in print. Reading ignores case, lets the first parameters go
unnamed (``RBP(.8)``), and accepts the names of trec_eval (``map``, ``ndcg_cut.10``), ir_measures and ranx
(:mod:`~earmark.measures.foreign_names`). Several measures in one text are separated by commas.

A measure is one registered class. It declares what it needs to know about a document (whether it is relevant, its gain,
or only its order), its range and its reference, and implements :meth:`Measure.score` on
:class:`~earmark.data.judged_lists.JudgedLists`. A measure that is linear in the gains also gives their weights.
"""

from __future__ import annotations

import dataclasses
import math
import re
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from earmark.data.arrays import Floats
from earmark.data.ground_truth import GroundTruth
from earmark.data.judged_lists import FilledLists, JudgedLists
from earmark.data.scales import Scale
from earmark.errors import ParameterError
from earmark.measures.foreign_names import split_names, translate
from earmark.measures.weighted_sums import WeightedSum
from earmark.registry import Registry, show_number

MOST_RANKS = 10_000_000
"""The largest cutoff: no list is that long, and some measures add up all ranks within it."""
Needs = Literal["relevance", "gain", "order"]


@dataclass(frozen=True)
class Measure:
    """What turns a ranked list and gains into a score.

    Parameters
    ----------
    cutoff : int, optional
        How many ranks count; all of the list without it.
    """

    name: ClassVar[str] = ""
    needs: ClassVar[Needs] = "relevance"
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    reference: ClassVar[str] = ""
    higher_is_better: ClassVar[bool] = True
    cutoff_required: ClassVar[bool] = False
    # Whether what nobody judged counts as worth nothing, or is left aside.
    needs_all_judged: ClassVar[bool] = True
    # Whether a list that ends before it could hold all relevant documents says less than it seems to.
    needs_whole_lists: ClassVar[bool] = False
    # Whether the score of a system is the mean over queries, which is what tests and estimates are about.
    is_mean: ClassVar[bool] = True
    always_printed: ClassVar[tuple[str, ...]] = ()

    @property
    def needs_pool(self) -> bool:
        """Whether the score of a list depends on the other lists of an evaluation."""
        return False

    cutoff: int | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.cutoff is not None and self.cutoff < 1:
            raise ParameterError(f"{self.name}@{self.cutoff}: a cutoff is 1 or more")
        if self.cutoff is not None and self.cutoff > MOST_RANKS:
            raise ParameterError(
                f"{self.name}@{self.cutoff}: a cutoff is at most {MOST_RANKS:,}; without one, whole lists count"
            )
        if self.cutoff is None and self.cutoff_required:
            raise ParameterError(f"{self.name} needs a cutoff, for example {self.name}@10")

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list: shape (..., lists), with the leading axes of the gains."""
        raise NotImplementedError

    def over_queries(self, values: Floats) -> Floats:
        """Make one score of those of all queries, along the last axis: their mean, NaN left out."""
        mean: Floats = np.nanmean(values, axis=-1)
        return mean

    def require_mean(self) -> None:
        """Refuse to be compared or estimated where the score of a system is no mean over queries."""
        if not self.is_mean:
            raise ParameterError(f"systems cannot be compared by {self}, it is not a mean over queries: try hits or AP")

    @property
    def is_linear(self) -> bool:
        """Whether the score of a list is a weighted sum of its gains, with weights that depend on ranks alone."""
        return False

    def weights(self, ranks: NDArray[np.integer], scale: Scale) -> Floats:
        """Return the weight of a gain at every rank, for a linear measure."""
        raise ParameterError(f"{self} is not a weighted sum of gains")

    def as_sum(self, scale: Scale) -> WeightedSum | None:
        """Return the weighted sum that the score is, or is made of; None where it is not."""
        if not self.is_linear:
            return None
        return WeightedSum(lambda ranks: self.weights(ranks, scale), lambda gain: gain)

    def of_first(self, ranks: Floats) -> Floats | None:
        """Return the score of a list whose first relevant document has a rank; None where it is not all that counts."""
        return None

    def highest(self, lists: FilledLists) -> Floats | None:
        """Return the highest score of every list whatever its unjudged documents are; None where nobody knows how."""
        return None

    def lowest(self, scores: Floats, truth: GroundTruth, query: int, unjudged: int) -> Floats:
        """Return the lowest scores of lists of one query, for a measure with :meth:`highest`.

        Parameters
        ----------
        scores : ndarray of float, shape (lists,)
            If no unjudged document is worth anything.
        truth, query
            What is known, and of which query.
        unjudged : int
            How many documents of the query nobody judged.
        """
        return scores

    def check(self, scale: Scale) -> None:
        """Refuse a scale on which the measure has no meaning."""
        if self.needs == "gain" and scale.ordered_only:
            raise ParameterError(
                f"{self} needs gains, but ordered groups only have an order: use ADR, or a measure of binary relevance"
            )

    def __matmul__(self, cutoff: int) -> Measure:
        return dataclasses.replace(self, cutoff=cutoff)

    def __str__(self) -> str:
        given = [
            f"{field.name}={print_value(getattr(self, field.name))}"
            for field in parameters(type(self))
            if getattr(self, field.name) != field.default or field.name in self.always_printed
        ]
        arguments = f"({','.join(given)})" if given else ""
        return f"{self.name}{arguments}" + ("" if self.cutoff is None else f"@{self.cutoff}")

    def __repr__(self) -> str:
        return str(self)


class LinearMeasure(Measure):
    r"""A measure that is a weighted sum of gains.

    Its score for a list is :math:`\sum_i w(r_i)\, g_i`, so that its mean and variance under uncertain gains are exact.
    """

    needs: ClassVar[Needs] = "gain"

    @property
    def is_linear(self) -> bool:
        """Always."""
        return True

    def score(self, lists: JudgedLists) -> Floats:
        """Add up weighted gains."""
        return lists.hits.sum(lists.gain * self.weights(lists.rank, lists.truth.scale))


def parameters(measure: type[Measure]) -> list[dataclasses.Field[Any]]:
    """Return a measure's parameters without the cutoff: first those that may go unnamed, in order."""
    fields = [field for field in dataclasses.fields(measure) if field.name != "cutoff"]
    return sorted(fields, key=lambda field: field.kw_only is True)


def print_value(value: Any) -> str:
    """Print a parameter's value so that reading it back gives the same value."""
    if value == math.e:
        return "e"
    return show_number(value) if isinstance(value, float) else str(value)


M = TypeVar("M", bound=type[Measure])
MEASURES = Registry[type[Measure]]("measure", group="earmark.measures")
_ALIASES: dict[str, str] = {}


def register(*aliases: str) -> Callable[[M], M]:
    """Make a measure known under its name and some others.

    An alias that ends in ``_`` is followed by a number, which becomes the cutoff.
    """

    def add(measure: M) -> M:
        _ALIASES.update(dict.fromkeys((alias.lower() for alias in aliases), measure.name))
        return MEASURES.register(measure)

    return add


def registered() -> dict[str, type[Measure]]:
    """Return every known measure by its canonical name, third parties' included."""
    return {measure.name: measure for measure in MEASURES.values()}


_NAME = re.compile(r"\s*([A-Za-z][\w*\-]*)\s*")
_TREC_CUTOFF = re.compile(r"(.*_)(\d+)$")


def parse(text: str) -> Measure:
    """Read a measure from its name.

    Examples
    --------
    >>> parse("ndcg(gain=exp)@5")
    nDCG(gain=exp)@5
    >>> parse("P_5"), parse("map"), parse("RBP(.8)@10")
    (P@5, AP, RBP(p=0.8)@10)

    Raises
    ------
    ParameterError
        For an unknown name or parameter, with the closest known one.
    """
    ours = translate(text)
    found = _NAME.match(ours)
    if not found:
        raise ParameterError(f"'{text}' is not the name of a measure: try P@5, AP or nDCG@10")
    name, rest = found[1], ours[found.end() :]
    arguments: list[str] = []
    if rest.startswith("("):
        close = _closing(rest, text)
        arguments, rest = _split(rest[1:close]), rest[close + 1 :]
    cutoff = None
    if rest.strip():
        at = re.fullmatch(r"\s*@\s*(\d+)\s*", rest)
        if not at:
            raise ParameterError(f"'{text}': expected a cutoff such as @10 after the name, got '{rest.strip()}'")
        cutoff = _read_cutoff(at[1])
    return _build(name, arguments, cutoff, text)


def parse_all(names: Iterable[str | Measure]) -> list[Measure]:
    """Read several measures; values are left as they are and a measure named twice counts once.

    Examples
    --------
    >>> parse_all(["nDCG@10,map", "ndcg_cut.5,10"])
    [nDCG@10, AP, nDCG@5]
    """
    # A set has no order of its own that would be the same in the next program.
    given = sorted(names, key=str) if isinstance(names, set | frozenset) else names
    return list(dict.fromkeys(parse(name) if isinstance(name, str) else name for name in split_names(given)))


def _build(name: str, arguments: list[str], cutoff: int | None, text: str) -> Measure:
    meant = _ALIASES.get(name.lower(), name.lower())
    trec = _TREC_CUTOFF.match(meant)
    if trec and trec[1] in _ALIASES and cutoff is None:
        meant, cutoff = _ALIASES[trec[1]], _read_cutoff(trec[2])
    measure = MEASURES.get(meant)
    if measure is None:
        raise MEASURES.unknown(name, aliases=_ALIASES)
    return measure(**_read_arguments(measure, arguments, text), cutoff=cutoff)


def _read_cutoff(digits: str) -> int:
    # Python refuses to read thousands of digits; a few of them are too large already.
    return int(digits.lstrip("0")[:20] or 0)


def _read_arguments(measure: type[Measure], arguments: list[str], text: str) -> dict[str, Any]:
    fields = {field.name: field for field in parameters(measure)}
    hints = typing.get_type_hints(measure)
    values: dict[str, Any] = {}
    for position, argument in enumerate(arguments):
        key, equals, value = argument.partition("=")
        if not equals or "(" in key:
            unnamed = [field.name for field in fields.values() if field.kw_only is not True]
            if position >= len(unnamed):
                known = ", ".join(fields) or "none"
                raise ParameterError(f"'{text}': which parameter is '{argument.strip()}' for? (there are {known})")
            key, value = unnamed[position], argument
        key = key.strip().lower()
        if key not in fields:
            known = ", ".join(fields) or "none"
            raise ParameterError(f"'{text}': {measure.name} has no parameter '{key}' (it has {known})")
        if key in values:
            raise ParameterError(f"'{text}': '{key}' is given twice")
        values[key] = _read_value(value.strip().strip("'\""), hints[key], f"'{text}': {key}")
    return values


def _read_value(value: str, kind: Any, where: str) -> Any:
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        if value.lower() == "none":
            return None
        kind = next(option for option in typing.get_args(kind) if option is not type(None))
    if typing.get_origin(kind) is Literal:
        choices = typing.get_args(kind)
        if value.lower() not in choices:
            raise ParameterError(f"{where} is one of {', '.join(choices)}, got '{value}'")
        return value.lower()
    if kind is Measure:
        return parse(value)
    if value.lower() == "e" and kind is float:
        return math.e
    try:
        number = kind(value)
    except ValueError:
        raise ParameterError(f"{where} is a number, got '{value}'") from None
    if not math.isfinite(number):
        raise ParameterError(f"{where} is a finite number, got '{value}'")
    return number


def _closing(rest: str, text: str) -> int:
    depth = 0
    for position, character in enumerate(rest):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position
    raise ParameterError(f"'{text}': a parenthesis is not closed")


def _split(inside: str) -> list[str]:
    """Split at commas that are not inside another measure's parentheses."""
    parts, depth = [""], 0
    for character in inside:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part.strip()]
