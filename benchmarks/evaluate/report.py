"""What is printed: costs, whether the programs agree, and whether the targets are reached."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from benchmarks.evaluate.measure_cost import Cost
from benchmarks.evaluate.peers import MEASURES, PROGRAMS

Costs = Mapping[tuple[str, str, str], Cost]
"""(size, layout, program) to its cost."""

TOLERANCE = 1e-6
TIES_AT_MOST = 0.02
KNOWN = {
    "ranx": "ranx orders tied documents arbitrarily",
    "ranx bpref": "ranx's bpref is 0/0 for a query with no relevant or no judged non-relevant document",
}


@dataclass(frozen=True)
class Disagreement:
    """The largest absolute difference, over systems, of a program's mean from the reference's."""

    size: str
    layout: str
    program: str
    reference: str
    measure: str
    largest: float

    @property
    def explanation(self) -> str:
        """Why it is expected; empty when it is not."""
        if math.isnan(self.largest):
            return KNOWN.get(f"{self.program} {self.measure}", "")
        return KNOWN.get(self.program, "") if self.largest <= TIES_AT_MOST else ""

    @property
    def within_tolerance(self) -> bool:
        """Whether it is no more than rounding."""
        return self.largest <= TOLERANCE


@dataclass(frozen=True)
class Target:
    """What earmark should reach on a collection: `limit` bounds a ratio to a peer, or its own CPU seconds."""

    kind: str
    size: str
    layout: str
    peer: str
    limit: float

    @property
    def text(self) -> str:
        """The target in words."""
        where = f"{self.size} {self.layout}"
        if self.kind == "faster":
            return f"{where}: at least {self.limit:g} times faster than {self.peer}"
        if self.kind == "smaller":
            return f"{where}: peak memory below that of {self.peer}"
        return f"{where}: at most {self.limit:g} s of CPU after import"

    def value(self, costs: Costs) -> float | None:
        """Speed-up, memory ratio or CPU seconds; None when not measured."""
        ours = costs.get((self.size, self.layout, "earmark"))
        theirs = costs.get((self.size, self.layout, self.peer))
        if ours is None or theirs is None:
            return None
        return {
            "faster": theirs.wall / ours.wall,
            "smaller": ours.peak_bytes / theirs.peak_bytes,
            "cpu": ours.cpu,
        }[self.kind]

    def is_reached(self, value: float) -> bool:
        """Whether the value is on the right side of the limit."""
        return value >= self.limit if self.kind == "faster" else value <= self.limit


TARGETS = (
    Target("faster", "M", "sorted", "pytrec_eval", 6),
    Target("faster", "L", "sorted", "pytrec_eval", 5),
    Target("faster", "M", "sorted", "ir_measures", 8),
    Target("faster", "L", "sorted", "ir_measures", 8),
    Target("faster", "M", "sorted", "ranx", 8),
    Target("faster", "L", "sorted", "ranx", 8),
    Target("smaller", "L", "sorted", "pytrec_eval", 1),
    Target("cpu", "S", "sorted", "earmark", 0.1),
    Target("faster", "M", "unsorted", "pytrec_eval", 4),
    Target("faster", "M", "multispace", "pytrec_eval", 4),
)


def disagreements(costs: Costs) -> list[Disagreement]:
    """Compare every mean that a program shares with earmark; with the first one measured, without earmark."""
    found = []
    for size, layout in dict.fromkeys((size, layout) for size, layout, _ in costs):
        measured = [name for name in PROGRAMS if (size, layout, name) in costs]
        reference, *others = measured
        expected = costs[size, layout, reference].means
        for program in others:
            means = costs[size, layout, program].means
            for measure in MEASURES:
                if measure not in means or measure not in expected:
                    continue
                systems = expected[measure].keys() | means[measure].keys()
                gaps = [abs(means[measure].get(s, math.nan) - expected[measure].get(s, math.nan)) for s in systems]
                # max() would drop a NaN that is not first
                largest = math.nan if any(map(math.isnan, gaps)) else max(gaps)
                found.append(Disagreement(size, layout, program, reference, measure, largest))
    return found


def print_costs(console: Console, costs: Costs, failures: Mapping[tuple[str, str, str], str]) -> None:
    table = Table(title="From files to means, each program in a process of its own")
    for column in ("program", "layout", "size"):
        table.add_column(column)
    for column in ("wall s", "CPU s", "peak MB", "ratio to earmark (wall)", "import s", "compile s"):
        table.add_column(column, justify="right")
    for size, layout in dict.fromkeys(key[:2] for key in [*costs, *failures]):
        ours = costs.get((size, layout, "earmark"))
        for program, described in PROGRAMS.items():
            key = size, layout, program
            if key in failures:
                table.add_row(program, layout, size, "failed")
            elif key in costs:
                cost = costs[key]
                table.add_row(
                    program,
                    layout,
                    size,
                    f"{cost.wall:.3f}",
                    f"{cost.cpu:.3f}",
                    f"{cost.peak_bytes / 1e6:.0f}",
                    f"{cost.wall / ours.wall:.1f}" if ours else "—",
                    f"{cost.import_wall:.2f}",
                    f"{cost.compile_wall:.2f}" if described.compiles else "",
                )
        table.add_section()
    console.print(table)
    for (size, layout, program), message in failures.items():
        console.print(f"{program} failed on {size} {layout}: {message}", markup=False)
    console.print(
        "Wall and CPU are without import and without compilation (ranx: one evaluation of a tiny collection"
        " first, from its cache when it has run before)."
    )
    console.print("RBP is computed by earmark and ranx only: pytrec_eval has none, ir_measures none without cwl_eval.")


def print_disagreements(console: Console, found: list[Disagreement]) -> None:
    table = Table(title=f"Largest difference of a system's mean (equal: at most {TOLERANCE:g})")
    for column in ("size", "layout", "program", "compared with", *MEASURES):
        table.add_column(column)
    rows: dict[tuple[str, str, str, str], dict[str, Disagreement]] = {}
    for one in found:
        rows.setdefault((one.size, one.layout, one.program, one.reference), {})[one.measure] = one
    for row, by_measure in rows.items():
        table.add_row(*row, *(cell(by_measure.get(measure)) for measure in MEASURES))
    console.print(table)
    reasons = dict.fromkeys(one.explanation for one in found if not one.within_tolerance and one.explanation)
    for reason in reasons:
        console.print(f"* known: {reason}", markup=False)


def cell(one: Disagreement | None) -> str:
    if one is None:
        return "—"
    if one.within_tolerance:
        return f"{one.largest:.0e}"
    return f"{one.largest:.1e} *" if one.explanation else f"[bold red]{one.largest:.1e} unexpected[/]"


def print_targets(console: Console, costs: Costs) -> None:
    table = Table(title="Targets for earmark")
    for column in ("target", "measured", "verdict"):
        table.add_column(column)
    for target in TARGETS:
        value = target.value(costs)
        if value is None:
            table.add_row(target.text, "—", "not measured")
        else:
            verdict = "[green]reached[/]" if target.is_reached(value) else "[bold red]missed[/]"
            table.add_row(target.text, f"{value:.3g}", verdict)
    console.print(table)
