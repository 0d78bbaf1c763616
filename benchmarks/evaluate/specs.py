"""The collections by name: how large each is, and where its files are.

Apart from the module that makes them, because the processes that measure must not import numpy or polars
for it.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

SEED = 20_240_917
LAYOUTS = ("sorted", "unsorted", "multispace")
TOP_GAIN = 2


@dataclass(frozen=True)
class Spec:
    """What a collection looks like; ``documents`` is prime (see `candidate_documents`)."""

    systems: int
    queries: int
    depth: int
    documents: int
    candidates: int
    judged: int | None
    threshold: float
    decimals: int

    @property
    def rows(self) -> int:
        """Lines in all run files together."""
        return self.systems * self.queries * self.depth


SPECS = {
    "tiny": Spec(2, 20, 10, 7_001, 50, None, 0.8, 2),
    "S": Spec(18, 100, 5, 7_001, 90, None, 0.8, 2),
    "M": Spec(50, 250, 1_000, 1_000_003, 3_000, 400, 1.8, 4),
    "L": Spec(1, 50_000, 100, 1_000_003, 200, 20, 1.5, 3),
}


def folder_of(data: Path, size: str, layout: str) -> Path:
    """Where the files of a collection live."""
    return data / f"{size}-{layout}"


def is_made(data: Path, size: str, layout: str) -> bool:
    """Whether the collection is there, complete, and made by the present recipe."""
    recipe = folder_of(data, size, layout) / "recipe.json"
    return recipe.exists() and recipe.read_text() == recipe_of(size, layout)


def recipe_of(size: str, layout: str) -> str:
    return json.dumps({"seed": SEED, "layout": layout, **asdict(SPECS[size])})
