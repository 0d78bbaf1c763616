"""Run the commands of quick-start.md and write what they print into the page.

``python docs/refresh_quick_start.py DIR`` takes DIR, a folder that ``earmark demo --out DIR`` has made, copies what the
page needs to a folder of its own, runs the blocks marked ``console`` there one after the other, and puts what the last
command of a block prints into the block marked ``.output`` that follows it. ``--check`` writes nothing and fails if the
page says something else.

The page is not made by the tests: making the music of the demonstration takes longer than a test should.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("quick-start.md")
FILES = ("runs.tsv", "judgments.tsv", "metadata.csv")
SHOWN = re.compile(
    r"^```console\n(.*?)^```\n(\n```\{ \.text \.output \}\n)?(.*?)^(?=```)", flags=re.MULTILINE | re.DOTALL
)
SCRIPT = re.compile(r"^```py\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def refreshed(page: str, demo: Path) -> str:
    """Return the page with what its commands print now."""
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            shutil.copy(demo / name, folder)
        script = SCRIPT.search(page)
        if script is None:
            raise SystemExit(f"{PAGE.name} has no block marked py, which should be answer.py")
        Path(folder, "answer.py").write_text(script[1], encoding="utf-8")

        def run_block(found: re.Match[str]) -> str:
            commands = [line.removeprefix("$ ") for line in found[1].splitlines()]
            printed = [_printed(command, folder) for command in commands][-1]
            if found[2] is None:
                return found[0]
            return f"```console\n{found[1]}```\n{found[2]}{printed}\n"

        return SHOWN.sub(run_block, page)


def _printed(command: str, folder: str) -> str:
    """Run a command as on a terminal and return what it prints, without blanks at the ends of lines."""
    on_terminal = " --format table" if command.startswith("earmark ") and ">" not in command else ""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": programs, "COLUMNS": "100", "NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command + on_terminal, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stderr}")
    return "\n".join(line.rstrip() for line in done.stdout.rstrip().splitlines())


def main() -> None:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description=f"Write what the commands of {PAGE.name} print into the page.")
    parser.add_argument("demo", type=Path, metavar="DIR", help="a folder that 'earmark demo --out DIR' has made")
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if the page is stale")
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    wanted = refreshed(page, arguments.demo)
    if not arguments.check:
        PAGE.write_text(wanted, encoding="utf-8")
    elif page != wanted:
        sys.exit(f"{PAGE.name} is stale: run python docs/{Path(__file__).name} {arguments.demo}")


if __name__ == "__main__":
    main()
