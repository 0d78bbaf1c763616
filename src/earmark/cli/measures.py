"""``earmark measures``: which measures there are and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from earmark.cli.command import argument
from earmark.cli.docstrings import document
from earmark.cli.output import Column, Output

if TYPE_CHECKING:
    from earmark.measures import Measure

_NEEDS = {"relevance": "relevant or not", "gain": "gains", "order": "an order"}


def measures(out: Output, name: Annotated[str | None, argument("[NAME]")] = None) -> None:
    """List all measures, or explain one.

    A measure is written as its name, its parameters in parentheses and its cutoff after an at sign, as in P@5 or
    nDCG(gain=exp)@10. Parameters with their default value may be left out. Upper and lower case are the same, and
    trec_eval's names (map, ndcg_cut_10) are understood.

    Parameters
    ----------
    name
        A measure to explain in full, for example nDCG or RBP.

    Examples
    --------
    earmark measures
    earmark measures nDCG
    earmark measures --format csv > measures.csv
    """
    import polars as pl

    from earmark.measures import registered

    known = registered()
    if name is not None:
        _explain(_find(name), out)
        return
    rows = [_row(known[key]) for key in sorted(known, key=str.lower)]
    if not out.for_people:
        out.rows(pl.DataFrame(rows))
        return
    out.show_columns(
        [Column("measure", [_usage(row) for row in rows], numeric=False)],
        [
            Column("asks for", [_NEEDS[row["needs"]] for row in rows], numeric=False),
            Column("range", [_range(row) for row in rows], numeric=False),
            Column("what it is", [row["description"] for row in rows], numeric=False),
        ],
        caption="@k: a cutoff is needed; [@k]: it may be left out. The command 'earmark measures NAME' explains one.",
    )


def _find(name: str) -> type[Measure]:
    """Find a measure by any of its names, with or without parameters and cutoff."""
    from earmark.errors import ParameterError
    from earmark.measures import parse

    try:
        return type(parse(name))
    except ParameterError as error:
        if "needs a cutoff" not in str(error):
            raise
        return type(parse(f"{name}@1"))


def _row(measure: type[Measure]) -> dict[str, Any]:
    from earmark.measures.base import parameters

    low, high = measure.range
    return {
        "measure": measure.name,
        "needs": measure.needs,
        "low": float(low),
        "high": float(high),
        "higher_is_better": measure.higher_is_better,
        "cutoff": "required" if measure.cutoff_required else "optional",
        "parameters": [f"{field.name}={field.default}" for field in parameters(measure)],
        "reference": measure.reference,
        "description": document(measure).paragraphs[0],
    }


def _usage(row: dict[str, Any]) -> str:
    return str(row["measure"]) + ("@k" if row["cutoff"] == "required" else "[@k]")


def _range(row: dict[str, Any]) -> str:
    low, high = (f"{end:g}".replace("inf", "∞").replace("-", "−") for end in (row["low"], row["high"]))
    return f"{low} to {high}" + ("" if row["higher_is_better"] else " ↓")


def _explain(measure: type[Measure], out: Output) -> None:
    import polars as pl

    from earmark.measures.base import parameters

    row, said = _row(measure), document(measure)
    if not out.for_people:
        out.rows(pl.DataFrame([{**row, "documentation": "\n\n".join(said.paragraphs)}]))
        return
    cutoff = _usage(row).removeprefix(row["measure"])
    better = "higher is better" if row["higher_is_better"] else "lower is better"
    facts = {
        "written as": f"{row['measure']}(…){cutoff}" if row["parameters"] else _usage(row),
        "asks for": _NEEDS[row["needs"]],
        "range": f"{_range(row).removesuffix(' ↓')}, {better}",
        "reference": row["reference"],
    }
    for paragraph in said.paragraphs:
        out.show(paragraph, "")
    out.show_columns([Column("", list(facts), numeric=False)], [Column("", list(facts.values()), numeric=False)])
    if fields := parameters(measure):
        out.show("")
        out.show_columns(
            [
                Column("parameter", [field.name for field in fields], numeric=False),
                Column("default", [str(field.default) for field in fields], numeric=False),
            ],
            [Column("what it does", [said.parameters.get(field.name, "") for field in fields], numeric=False)],
        )
