r"""Tables for papers: ``--format latex``. They need the LaTeX package booktabs, as the tables of reports do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from earmark.cli.output import Column


def latex_table(columns: Sequence[Column], *, bold: Mapping[int, set[int]] | None = None, comment: str = "") -> str:
    r"""Set columns as a ``tabular``: text to the left, numbers to the right, both as a table for people has them.

    Parameters
    ----------
    columns : sequence of Column
    bold : dict of int to set of int, optional
        Rows to set in bold, by the number of their column.
    comment : str
        What the table is, for who reads the source.
    """
    from earmark.pages.rendering import latex

    def cell(text: str, column: int, row: int) -> str:
        # A hyphen before a number is a minus.
        written = latex(text.replace("-", "−", 1) if columns[column].numeric and text.startswith("-") else text)
        return rf"\textbf{{{written}}}" if row in (bold or {}).get(column, ()) else written

    header = " & ".join(
        latex(column.header.replace("-\n", "").replace("/\n", "/").replace("\n", " ")) for column in columns
    )
    body = [
        " & ".join(cell(str(column.cells[row]), number, row) for number, column in enumerate(columns)) + r" \\"
        for row in range(len(columns[0].cells))
    ]
    said = [f"% {line}" for line in comment.splitlines()]
    kinds = "".join("r" if column.numeric else "l" for column in columns)
    start, end = rf"\begin{{tabular}}{{{kinds}}}", r"\end{tabular}"
    return "\n".join([*said, start, r"\toprule", rf"{header} \\", r"\midrule", *body, r"\bottomrule", end, ""])
