"""Write measures.md: every measure with its parameters, its equation and its reference, from the code itself.

Run it with ``python docs/generate_measures.py`` after changing a measure; ``--check`` fails if the page is stale.

Groups are the modules that define the measures, and a group opens with its module's docstring, which defines the
symbols. Docstrings are reStructuredText: formulas become ``$…$``, everything else plain Markdown. Measures that third
parties register are left out, so that the page does not depend on what is installed.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from generated import main, wrap

from earmark.errors import ParameterError
from earmark.measures import Measure, base, registered
from earmark.measures.combinations import Combined
from earmark.measures.prototype_answers import Prototype, prototype_lists

PAGE = Path(__file__).with_name("measures.md")

GROUPS = {
    "binary": "Relevant or not",
    "counts": "Counts and geometric means",
    "incomplete_judgments": "Incomplete judgments",
    "graded": "Graded gain",
    "partial_order": "Partially ordered truth",
    "confusion_matrix": "Confusion matrix",
    "combinations": "Two measures in one",
}
NEEDS = {
    "relevance": "which documents are relevant",
    "gain": "the gains of documents",
    "order": "an order of documents, which gains give too",
}
INTRODUCTION = """\
<!-- Written by docs/generate_measures.py from the docstrings of the measures. Change those, not this page. -->
# Measures

A measure is written as its name, its parameters in parentheses and its cutoff after an at sign: `P@5`,
`nDCG(gain=exp)@10`, `RBP(p=0.8)`. What has its default value may be left out, and the first parameters may go unnamed:
`RBP(.8)`. Upper and lower case are the same. Output always uses the name given here.

On this page `@k` means that a cutoff is needed, `[@k]` that it may be left out; all of the list counts then. Unjudged
documents count as not relevant unless the measure says otherwise. A query without relevant documents gives every system
0, except where a measure counts something else. `earmark measures NAME` says the same on a terminal.
"""


def page() -> str:
    """Return the page."""
    groups = _groups()
    parts = [INTRODUCTION, _overview(groups)]
    for group, measures in groups.items():
        parts.append(f"## {GROUPS[group]}\n")
        module = sys.modules[f"earmark.measures.{group}"]
        parts += [f"{paragraph}\n" for paragraph in _paragraphs(module.__doc__ or "")]
        parts += [_section(measure) for measure in measures]
    return "\n".join(parts)


def _groups() -> dict[str, list[type[Measure]]]:
    groups: dict[str, list[type[Measure]]] = {group: [] for group in GROUPS}
    for measure in registered().values():
        package, _, group = measure.__module__.rpartition(".")
        if package == "earmark.measures":
            groups[group].append(measure)
    return groups


def _overview(groups: dict[str, list[type[Measure]]]) -> str:
    rows = ["| measure | needs | range | better | reference |", "|---|---|---|---|---|"]
    for measures in groups.values():
        for measure in measures:
            low_to_high, better = _range(measure)
            name = f"[`{_usage(measure)}`](#{anchor(measure.name)})"
            rows.append(f"| {name} | {_needs(measure)} | {low_to_high} | {better} | {_reference(measure)} |")
    return "\n".join(rows) + "\n"


def _section(measure: type[Measure]) -> str:
    low_to_high, better = _range(measure)
    text = inspect.cleandoc(measure.__doc__ or "").partition("\nParameters\n----------\n")[0]
    facts = [f"Needs {_needs(measure)}.", f"Range: {low_to_high}. Better: {better}."]
    if aliases := _aliases(measure):
        facts.append(f"Also read as {_listed(aliases, 'and')}.")
    facts.append(f"Reference: {_reference(measure)}.")
    lines = [f'<a id="{anchor(measure.name)}"></a>', f"### `{_usage(measure)}`\n"]
    lines += [f"{paragraph}\n" for paragraph in _paragraphs(text)]
    lines += [f"- {fact}" for fact in facts]
    lines += [wrap(f"- {parameter}", indent="  ") for parameter in _parameters(measure)]
    return "\n".join(lines) + "\n"


def anchor(name: str) -> str:
    """Return the anchor of a measure's section."""
    return "measure-" + name.lower().replace("*", "-star")


def _usage(measure: type[Measure]) -> str:
    return measure.name + ("@k" if measure.cutoff_required else "[@k]")


def _needs(measure: type[Measure]) -> str:
    if issubclass(measure, Combined):
        return "what its parts need"
    return NEEDS[measure.needs] + (" and the collection's size" if _needs_collection_size(measure) else "")


def _needs_collection_size(measure: type[Measure]) -> bool:
    """Find out by asking for the score of a list from a collection of unknown size."""
    lists = prototype_lists([Prototype(order=1, ranks=(1,), relevant=2, length=3)])
    try:
        measure(cutoff=3).score(lists)
    except ParameterError:
        return True
    return False


def _range(measure: type[Measure]) -> tuple[str, str]:
    if issubclass(measure, Combined):
        return "that of its parts", "as its parts"
    low, high = (f"{end:g}".replace("inf", "∞").replace("-", "−") for end in measure.range)
    return f"{low} to {high}", "higher" if measure.higher_is_better else "lower"


def _reference(measure: type[Measure]) -> str:
    return f"[{measure.reference}](references.md#{measure.reference.lower()})"


def _aliases(measure: type[Measure]) -> list[str]:
    names = [name for name, meaning in base._ALIASES.items() if meaning == measure.name]
    return [f"`{name}k`" if name.endswith("_") else f"`{name}`" for name in names if name != measure.name.lower()]


def _parameters(measure: type[Measure]) -> Iterator[str]:
    documented: dict[str, tuple[str, str]] = {}
    for documenting in reversed(measure.__mro__[:-1]):
        documented |= _documented_parameters(inspect.cleandoc(documenting.__doc__ or ""))
    for field in base.parameters(measure):
        kind, meaning = documented[field.name]
        # A default of None means what the text says.
        default = "" if field.default is None else f", by default `{base.print_value(field.default)}`"
        yield f"Parameter `{field.name}` ({kind}{default}): {markdown(meaning)}"


def _documented_parameters(docstring: str) -> dict[str, tuple[str, str]]:
    """Read what a numpydoc docstring says of parameters: what they may be, and what they mean."""
    found: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    for line in docstring.partition("\nParameters\n----------\n")[2].partition("\n\n")[0].splitlines():
        if line.startswith(" "):
            for name in names:
                kind, meaning = found[name]
                found[name] = kind, f"{meaning} {line.strip()}".strip()
        else:
            before, _, kind = line.partition(" : ")
            names = [name.strip() for name in before.split(",")]
            found |= dict.fromkeys(names, (_kind(kind), ""))
    return found


def _kind(numpydoc: str) -> str:
    choices = re.findall(r'"(\w+)"', numpydoc)
    if choices:
        return _listed([f"`{choice}`" for choice in choices], "or")
    plain = numpydoc.removesuffix(", optional")
    return {"float": "a number", "int": "a whole number", "Measure": "a measure"}[plain]


def _listed(words: list[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _paragraphs(docstring: str) -> list[str]:
    """Turn the paragraphs of a docstring into Markdown."""
    return [markdown(part) for part in inspect.cleandoc(docstring).split("\n\n") if part.strip()]


def markdown(rst: str) -> str:
    """Turn a paragraph of reStructuredText into Markdown."""
    text = " ".join(rst.split())
    if text.startswith(".. math::"):
        return f"$$\n{text.removeprefix('.. math::').strip()}\n$$"
    text = text.replace("``", "`")
    text = re.sub(r":math:`([^`]*)`", r"$\1$", text)
    text = re.sub(r":mod:`([\w.]*)`", r"`\1`", text)
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
    # A star that ends a name (bpref*) must not begin emphasis.
    text = re.sub(r"(?<![`*\w])(\w+\*)(?![`*\w])", r"`\1`", text)
    return wrap(text)


if __name__ == "__main__":
    main(PAGE, page)
