"""Two measures in one: weighted and harmonic means, as Serrà (2007) tried them for rank and recall together.

``mean(AP,R)`` is their arithmetic mean, ``mean(AP,R,w=0.7)`` weighs the first with .7, ``hmean(AP,R)`` is the
harmonic mean.
"""

from __future__ import annotations

from dataclasses import dataclass

from earmark.data.arrays import Floats
from earmark.data.judged_lists import JudgedLists
from earmark.data.scales import Scale
from earmark.errors import ParameterError
from earmark.measures.base import Measure, print_value, register
from earmark.measures.binary import AP, R
from earmark.measures.relevance import divide


@dataclass(frozen=True, repr=False)
class Combined(Measure):
    """A measure made of two.

    Parameters
    ----------
    a, b : Measure
        The parts. A cutoff on the whole is a cutoff on both.
    """

    reference = "Serra2007"

    a: Measure = AP()  # noqa: RUF009 - measures are values
    b: Measure = R()  # noqa: RUF009

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.a.higher_is_better != self.b.higher_is_better:
            raise ParameterError(f"{self.a} and {self.b} point in opposite directions: they cannot be averaged")
        # A combination points where its parts point: the class cannot know, the value does.
        object.__setattr__(self, "higher_is_better", self.a.higher_is_better)

    def check(self, scale: Scale) -> None:
        """Check both parts."""
        self.a.check(scale)
        self.b.check(scale)

    def _parts(self, lists: JudgedLists) -> tuple[Floats, Floats]:
        parts = (self.a, self.b) if self.cutoff is None else (self.a @ self.cutoff, self.b @ self.cutoff)
        return parts[0].score(lists), parts[1].score(lists)

    def __str__(self) -> str:
        # Both parts are always named: a bare "mean" would not say of what.
        text = f"{self.a},{self.b}" + "".join(f",{extra}" for extra in self._extras())
        return f"{self.name}({text})" + ("" if self.cutoff is None else f"@{self.cutoff}")

    def _extras(self) -> list[str]:
        return []


@register()
@dataclass(frozen=True, repr=False)
class mean(Combined):
    """The weighted mean :math:`w a + (1 - w) b`.

    Parameters
    ----------
    w : float
        The weight of the first part, between 0 and 1.
    """

    name = "mean"

    w: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.w <= 1:
            raise ParameterError(f"mean: the weight w is between 0 and 1, got {self.w:g}")

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        a, b = self._parts(lists)
        return self.w * a + (1.0 - self.w) * b

    def _extras(self) -> list[str]:
        return [] if self.w == 0.5 else [f"w={print_value(self.w)}"]


@register()
@dataclass(frozen=True, repr=False)
class hmean(Combined):
    """The harmonic mean :math:`2ab / (a + b)`, 0 where both are 0."""

    name = "hmean"

    def score(self, lists: JudgedLists) -> Floats:
        """Score every list."""
        a, b = self._parts(lists)
        return divide(2.0 * a * b, a + b)
