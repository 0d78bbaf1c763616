"""Everything the documentation points at is there: references, links, commands with their options, Python that runs."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

from earmark.cli.main import built_commands
from earmark.cli.reproduce import Paper
from earmark.measures import parse_all
from made_up import write_made_up

ROOT = Path(__file__).parents[2]
DOCS, SOURCE = ROOT / "docs", ROOT / "src" / "earmark"
PAGES = sorted([ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("papers/*.md")])
REFERENCES = DOCS / "references.md"

KEY = re.compile(r"\b[A-Z][A-Za-z]*(?:19|20)\d\d[a-z]?\b")


# References


def page_entries() -> dict[str, str]:
    """Return the text of every entry on the references page by its key."""
    entries = REFERENCES.read_text().partition("## All references\n")[2]
    parts = re.split(r"^### (\S+)$", entries, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


@dataclass(frozen=True)
class Citation:
    """A reference in a docstring, such as ``.. [1] S. Holm (1979). A simple … procedure. Scand. …``."""

    key: str
    title: str


# Numbered as above, under a short name, or one of the source documents: J. Urbano, M. Schedl (2013). Minimal test …
SOURCES = r"(?=J\. Urbano|Buckers|J\. Serrà|R\. Typke|A\. Stupar)"
CITED = re.compile(
    rf"^(?:\.\. \[\d+\] |[A-Z]+: |{SOURCES})([^:(]+?) \((\d{{4}})\)([.,]) ([^.,:;]*)", flags=re.MULTILINE
)


def citations(docstring: str) -> list[Citation]:
    found = []
    for authors, year, mark, rest in CITED.findall(docstring):
        surname = unicodedata.normalize("NFKD", authors.split(",")[0].split()[-1])
        key = "".join(letter for letter in surname if letter.isascii() and letter.isalnum()) + year
        found.append(Citation(key, rest if mark == "." else ""))
    return found


@cache
def keys_in_code() -> set[str]:
    """Return every key that the code uses: of measures, in text, and of numbered references."""
    keys: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        keys |= set(re.findall(r'^    reference = "(\w+)"', text, flags=re.MULTILINE)) | set(KEY.findall(text))
        keys |= {citation.key for docstring in docstrings(path) for citation in citations(docstring)}
    return keys


def letters(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def test_citations_are_found() -> None:
    numbered = (
        ".. [2] L. V. Hedges (1981). Distribution theory for Glass's\n   estimator of effect size. J. Educ. Stat. 6."
    )
    assert [c.key for c in citations(numbered)] == ["Hedges1981"]
    assert letters(citations(numbered)[0].title) == "distributiontheoryforglasssestimatorofeffectsize"
    assert citations("MTC: J. Serrà, M. Schedl (2013). Minimal: one.") == [Citation("Serra2013", "Minimal")]
    assert citations("BIAS: Buckers (2021), on overconfidence") == [Citation("Buckers2021", "")]


def test_every_key_in_the_code_is_on_the_page() -> None:
    assert sorted(keys_in_code() - set(page_entries())) == []


def test_every_key_on_the_page_is_used() -> None:
    linked = {target.lower() for page in PAGES for target in re.findall(r"references\.md#(\w+)", page.read_text())}
    sources = {key.lower() for key in re.findall(r"^\| \w+ \| \[(\w+)\]", REFERENCES.read_text(), flags=re.MULTILINE)}
    named = " ".join(path.read_text() for path in SOURCE.rglob("*.py"))
    unused = [
        key
        for key in page_entries()
        if key.lower() not in linked | sources and key not in keys_in_code() and not re.search(rf"\b{key}\b", named)
    ]
    assert unused == []


def test_numbered_references_have_the_titles_of_the_page() -> None:
    entries = page_entries()
    cited = [c for path in SOURCE.rglob("*.py") for docstring in docstrings(path) for c in citations(docstring)]
    assert len(cited) > 20
    for citation in cited:
        assert letters(citation.title) in letters(entries[citation.key]), citation


def test_entries_say_who_when_what_and_what_for() -> None:
    entries = page_entries()
    assert list(entries) == sorted(entries, key=str.lower)
    for key, text in entries.items():
        citation, *taken = text.strip().split("\n\n")
        assert len(taken) == 1, f"{key}: a citation, then what is taken from it"
        if year := re.search(r"\d{4}$", key):
            assert f"({year[0]})." in citation, key
            assert letters(key.removesuffix(year[0])) in letters(unicodedata.normalize("NFKD", citation)), key


def test_the_five_source_documents_are_those_that_can_be_reproduced() -> None:
    rows = re.findall(r"^\| `([a-z]+)` \| \[\w+\]\(#\w+\) \|", REFERENCES.read_text(), flags=re.MULTILINE)
    assert tuple(rows) == get_args(Paper)


# Links


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    text = without_code(page.read_text())
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    slugs = {re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)">', text))


def links() -> list[tuple[Path, str]]:
    targets = [(page, re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text()))) for page in PAGES]
    return [(page, target) for page, found in targets for target in found if not target.startswith("http")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for _, target in (link for link in links() if link[0] == page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), target


def test_an_anchor_is_there_once() -> None:
    for page in PAGES:
        found = re.findall(r'<a id="([^"]+)">', page.read_text())
        assert len(found) == len(set(found)), page.name


# Commands


def command_lines(text: str) -> list[str]:
    """Return the command lines of a page: lines of blocks that are not Python, and code within the text."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line for kind, block in blocks if kind != "python" for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`([^`\n]+)`", without_code(text))
    return [line.strip().removeprefix("$ ") for line in lines if re.match(r"(\$ )?earmark\s", line.strip() + " ")]


def words(line: str) -> list[str]:
    """Cut a command line into its words, up to a pipe or a redirection."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|>&;")
    lexer.whitespace_split = True
    found: list[str] = []
    for word in lexer:
        if set(word) <= set("|>&;"):
            break
        found.append(word)
    return found


def find_command(arguments: list[str]) -> tuple[Any, list[str], list[str]]:
    """Return the command that is called, its names, and what is left of the line."""
    command: Any = built_commands()
    path, rest = ["earmark"], list(arguments)
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        assert rest[0] in command.commands, f"there is no command 'earmark {' '.join([*path[1:], rest[0]])}'"
        command = command.commands[rest[0]]
        path.append(rest.pop(0))
    return command, path, rest


SHOWN = [(page.name, line) for page in PAGES for line in dict.fromkeys(command_lines(page.read_text()))]


@pytest.mark.parametrize(("page", "line"), SHOWN, ids=lambda text: text)
def test_commands_that_are_shown_exist_with_their_options(page: str, line: str) -> None:
    arguments = [word for word in words(line)[1:] if not re.fullmatch(r"\[.*\]", word)]
    if arguments and arguments[0] == "COMMAND":
        return
    command, path, rest = find_command(arguments)
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    for word in rest:
        if word.startswith("-") and not re.fullmatch(r"-?[\d.]+", word):
            assert word.partition("=")[0] in known | {"--help", "-h"}, f"'{' '.join(path)}' has no {word}"
    for option, value in pairwise(rest):
        if option in ("-m", "--measure"):
            parse_all([value])
    # A line with arguments that is not the usage is a whole call. It has to be accepted; files need not be there.
    if rest and "[OPTIONS]" not in line and not {"--help", "-h"} & set(rest) and not hasattr(command, "commands"):
        command.make_context(path[-1], rest)


def test_commands_are_found() -> None:
    assert len(SHOWN) > 20
    assert words("earmark measures --format csv > measures.csv") == ["earmark", "measures", "--format", "csv"]
    assert words("earmark evaluate a -m 'P(rel=2)@5' | head  # the best") == [
        "earmark", "evaluate", "a", "-m", "P(rel=2)@5",
    ]  # fmt: skip
    assert command_lines("Say `earmark demo`.\n```sh\n$ earmark evaluate \\\n  a.run\n```\n") == [
        "earmark evaluate    a.run",
        "earmark demo",
    ]


# Python


def python_blocks(page: Path) -> str:
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)], ids=lambda page: page.name)
def test_python_that_is_shown_runs(page: Path, tmp_path: Path) -> None:
    """The blocks of a page run one after the other, in a folder with the demonstration's runs.tsv and so on."""
    judgments = write_made_up(tmp_path).collection.judgments
    judgments.frame.gather_every(5).write_csv(tmp_path / "asked.csv")
    done = subprocess.run(
        [sys.executable, "-c", python_blocks(page)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


_SHORT_NAMES = re.compile(r"\b(MTC|BIAS|COVER|SRBENCH)\b")


def test_readers_meet_authors_and_years_not_short_names_of_papers() -> None:
    """Pages, help and descriptions of measures name the authors of the five source documents."""
    said = {page.name: _SHORT_NAMES.findall(page.read_text(encoding="utf-8")) for page in PAGES}
    assert {name: found for name, found in said.items() if found} == {}


def test_the_readme_and_the_page_about_honesty_claim_what_the_studies_printed() -> None:
    """How often intervals held, from the least to the largest cell of the data: in both texts, in the same words."""
    ours = pl.read_csv(DOCS / "data" / "everywhere.csv").filter(pl.col("method") == "default")
    theirs = pl.read_csv(DOCS / "data" / "coverage.csv").filter(
        pl.col("method") == "published MTC", pl.col("measure") == "AG@5"
    )

    def from_to(*cells: pl.Series) -> str:
        values = pl.concat([cell.rename("value") for cell in cells])
        return f"{100 * values.min():.0f} to {100 * values.max():.0f}"

    claims = [f"{from_to(of['pairs'], of['systems'])} times in a hundred" for _, of in ours.group_by("collection")]
    claims.append(f"{from_to(theirs['coverage_pairs'])} in a hundred differences of systems")
    claims.append(f"{from_to(theirs['coverage_systems'])} in a hundred scores")
    for page in (ROOT / "README.md", DOCS / "honesty.md"):
        text = " ".join(page.read_text(encoding="utf-8").split())
        assert [claim for claim in claims if claim not in text] == [], page.name
