"""What the scripts that write pages share: write the page, or check that it says what it would say if written now."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

WIDTH = 120
# Stands for a blank inside a formula or a link while lines are broken, so that neither is torn apart.
_UNBREAKABLE = "\x00"


def wrap(text: str, *, indent: str = "") -> str:
    """Break a paragraph into lines; the lines after the first start with `indent`."""
    kept = re.sub(r"\$[^$]+\$|`[^`]+`|\[[^\]]*\]\([^)]*\)", lambda found: found[0].replace(" ", _UNBREAKABLE), text)
    lines = textwrap.fill(
        kept, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, expand_tabs=False
    )
    return lines.replace(_UNBREAKABLE, " ")


def main(page: Path, write: Callable[[], str]) -> None:
    """Write a page, or with ``--check`` exit with 1 if it is stale."""
    parser = argparse.ArgumentParser(description=f"Write {page.name}.")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if the page is stale")
    wanted = write()
    if not parser.parse_args().check:
        page.write_text(wanted, encoding="utf-8")
        return
    found = page.read_text(encoding="utf-8") if page.exists() else ""
    if found != wanted:
        sys.exit(f"{page.name} is stale: run python docs/{Path(sys.argv[0]).name}")
