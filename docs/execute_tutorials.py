"""Execute the tutorials and write them back, or check that they still say what they said.

``python docs/execute_tutorials.py`` runs every notebook in a fresh kernel of this very Python and writes it back with
its outputs, normalised: cells are numbered, and nothing says when or where they ran. ``--check`` writes nothing; it
fails where a cell raises, writes to standard error, or prints other text than the notebook holds. Images and HTML are
not compared: what they show is there as text too. To work on some notebooks alone, name them.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

TUTORIALS = Path(__file__).parent / "tutorials"
SECONDS_PER_CELL = 120
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python", "pygments_lexer": "ipython3"}
# One thread, so that sums are added up in the same order everywhere; no data but what the tutorials make up.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}
HIDDEN = ("EARMARK_", "POLARS_", "COLUMNS", "LINES", "MPL", "IPYTHONDIR", "PYTEST_")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Unfit(Exception):  # noqa: N818 - what it says is not about the program
    """A notebook that must not be published as it is."""


class ThisPython(KernelSpecManager):
    """Kernels run by the Python that runs this, whatever kernels are installed elsewhere."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """Return the only kernel there is."""
        quietly = ["-f", "{connection_file}", "--IPKernelApp.log_level=ERROR"]
        return KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", *quietly], **KERNEL)


def executed(path: Path) -> Any:
    """Return a notebook as it is after running all of its cells in an empty folder.

    Raises
    ------
    Unfit
        Where a cell raises, or its output is not for readers.
    """
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN)}
        environment |= {**ENVIRONMENT, "IPYTHONDIR": str(Path(folder, ".ipython"))}
        client = NotebookClient(
            notebook,
            km=AsyncKernelManager(kernel_name=KERNEL["name"], kernel_spec_manager=ThisPython()),
            timeout=SECONDS_PER_CELL,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            raise Unfit(f"{path.name}: a cell fails\n{_COLOURS.sub('', str(error))}") from None
        normalise(notebook, path.stem)
        refuse_unreadable(notebook, path.name, machine=(folder, str(Path.home()), sys.prefix))
    return notebook


def normalise(notebook: Any, name: str) -> None:
    """Leave nothing in a notebook that would differ the next time, or on another machine."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": LANGUAGE})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    count = 0
    for place, cell in enumerate(notebook.cells, start=1):
        cell.id = f"{name}-{place:02d}"
        cell.metadata = nbformat.from_dict({"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {})
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        cell.outputs = joined(cell.outputs)
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = count


def joined(outputs: Sequence[Any]) -> list[Any]:
    """Join pieces of one stream, which come as the kernel happened to send them."""
    merged: list[Any] = []
    for output in outputs:
        if merged and output.output_type == merged[-1].output_type == "stream" and output.name == merged[-1].name:
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def refuse_unreadable(notebook: Any, name: str, *, machine: Sequence[str]) -> None:
    """Refuse warnings and the names of folders of this machine."""
    for place, kind, text in texts(notebook, every=True):
        if kind == "stderr":
            raise Unfit(f"{name}: cell {place} writes to standard error\n{text}")
        found = next((folder for folder in machine if folder in text), None)
        if found is not None:
            raise Unfit(f"{name}: cell {place} names a folder of this machine, {found}")


def texts(notebook: Any, *, every: bool = False) -> Iterator[tuple[int, str, str]]:
    """Yield cell, kind and text of what is printed as plain text, or of everything but images."""
    for place, cell in enumerate(notebook.cells, start=1):
        for output in cell.get("outputs", []):
            if output.output_type == "stream":
                yield place, output.name, output.text
                continue
            for kind, text in output.get("data", {}).items():
                if kind == "text/plain" or (every and kind.startswith("text/")):
                    yield place, kind, text


def said(notebook: Any) -> list[str]:
    """Return all that is compared, line by line: what the cells are, and the text they print."""
    lines = []
    printed = list(texts(notebook))
    for place, cell in enumerate(notebook.cells, start=1):
        lines.append(f"cell {place}")
        for _, kind, text in (one for one in printed if one[0] == place):
            lines += [f"  {kind}", *(f"    {line}" for line in text.splitlines())]
        if cell.cell_type == "code" and cell.source.strip() and cell.execution_count is None:
            lines.append("  not executed")
    return lines


def check(path: Path) -> None:
    """Run a notebook and compare what it prints with what it holds.

    Raises
    ------
    Unfit
        Where the two differ.
    """
    held = nbformat.read(path, as_version=4)
    differences = list(difflib.unified_diff(said(held), said(executed(path)), "committed", "now", lineterm="", n=2))
    if differences:
        how = "\n".join(differences)
        raise Unfit(f"{path.name} is stale: run python docs/execute_tutorials.py\n{how}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute or check notebooks; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="all of docs/tutorials by default")
    parser.add_argument("--check", action="store_true", help="write nothing, fail where something differs")
    chosen = parser.parse_args(arguments)
    # The first program to draw text makes a list of fonts and says so, which must not be a kernel.
    import matplotlib.font_manager  # noqa: F401

    status = 0
    for path in chosen.notebooks or sorted(TUTORIALS.glob("*.ipynb")):
        try:
            if chosen.check:
                check(path)
            else:
                nbformat.write(executed(path), path)
        except Unfit as error:
            print(error, file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
