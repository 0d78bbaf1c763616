"""The site: it builds without a warning, leads nowhere that is not there, and loads nothing from elsewhere."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import numpy as np
import polars as pl
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import earmark
from earmark.cli.main import main
from earmark.simulation import synthetic_collection

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path[:0] = [str(DOCS), str(DOCS / "hooks")]
import formulas  # noqa: E402
import notebooks  # noqa: E402
import refresh_quick_start  # noqa: E402
import restructured  # noqa: E402

PATIENCE = 240.0


# The built site


def build(site: Path) -> str:
    """Build the site and return what was said, or fail."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site, made once however many workers run the tests."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    built, failed = folder.with_suffix(".built"), folder.with_suffix(".failed")
    try:
        folder.with_suffix(".begun").touch(exist_ok=False)
    except FileExistsError:
        begun = time.monotonic()
        while not built.exists():
            assert not failed.exists(), "the site was not built: another test says why"
            assert time.monotonic() < begun + PATIENCE, "the site was not built in time"
            time.sleep(0.2)
        return folder
    try:
        build(folder)
    except BaseException:
        failed.touch()
        raise
    built.touch()
    return folder


@dataclass
class Parsed(HTMLParser):
    """What a page is, links to and loads."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    classes: set[str] = field(default_factory=set)
    styles: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    _inside: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        self.classes |= set(given.get("class", "").split())
        self.styles.append(given.get("style", ""))
        if tag in ("a", "area") and "href" in given:
            self.links.append(given["href"])
        elif "href" in given and not {"canonical", "next", "prev"} & set(given.get("rel", "").split()):
            self.loaded.append(given["href"])
        self.loaded += [given[name] for name in ("src", "data", "poster", "action") if name in given]
        self.loaded += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        if tag in ("script", "style", "code", "pre"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1] == "style":
            self.styles.append(data)
        elif not self._inside:
            self.text.append(data)


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, Parsed]:
    found: dict[Path, Parsed] = {}
    for path in sorted(site.rglob("*.html")):
        found[path] = Parsed()
        found[path].feed(path.read_text(encoding="utf-8"))
    return found


def is_elsewhere(address: str) -> bool:
    return bool(urlsplit(address).netloc) or urlsplit(address).scheme not in ("", "data")


def named_in(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, list | dict):
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from named_in(part)


def test_every_page_is_in_the_navigation() -> None:
    nav = list(named_in(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    pages = [
        path for path in DOCS.rglob("*") if path.suffix in (".md", ".ipynb") and ".ipynb_checkpoints" not in path.parts
    ]
    assert sorted(nav) == sorted(path.relative_to(DOCS).as_posix() for path in pages)


def test_the_first_pages_promise_the_same() -> None:
    promises = []
    for page in (ROOT / "README.md", DOCS / "index.md"):
        section = page.read_text().partition("## What you can rely on")[2].partition("\n## ")[0]
        (promise,) = (point for point in section.split("\n- ") if "95% means 95%" in point)
        promises.append(" ".join(promise.replace("](docs/", "](").split()))
    assert promises[0] == promises[1]


def test_the_first_page_says_how_many_judgments_its_picture_shows() -> None:
    judged = pl.read_csv(DOCS / "data" / "demo.csv")["judged"].max()
    words = " ".join((DOCS / "index.md").read_text().split())
    assert f"against the number of judgments, up to {judged}." in words
    assert f"at {judged} of 775 the campaign stops" in words


def test_every_page_is_built(pages: dict[Path, Parsed], site: Path) -> None:
    nav = named_in(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    wanted = {(site / name).with_suffix(".html") for name in nav}
    assert wanted == set(pages) - {site / "404.html"}


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Parsed], site: Path) -> None:
    for path, page in pages.items():
        assert [address for address in page.loaded if is_elsewhere(address)] == [], path.name
        assert not re.search(r"url\(\s*['\"]?(?!data:|#)|@import", "".join(page.styles)), path.name
    for sheet in site.rglob("*.css"):
        addresses = re.findall(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", sheet.read_text(encoding="utf-8"))
        assert [address for found in addresses for address in found if is_elsewhere(address)] == [], sheet.name
    for script in (site / "javascripts").glob("*.js"):
        assert "//" not in re.sub(r"^\s*//.*$", "", script.read_text(), flags=re.MULTILINE), script.name


def test_no_page_has_what_the_theme_would_fetch_a_script_for(pages: dict[Path, Parsed]) -> None:
    """The theme gets diagrams from a server where there are any, and facts about a repository where one is named."""
    for path, page in pages.items():
        assert not page.classes & {"mermaid", "md-source"}, path.name


def test_every_link_within_the_site_leads_somewhere(pages: dict[Path, Parsed], site: Path) -> None:
    broken = defaultdict(list)
    for path, page in pages.items():
        for link in page.links:
            address = urlsplit(link)
            if is_elsewhere(link) or path.name == "404.html":
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            target = target / "index.html" if target.is_dir() else target
            there = target.is_file() and site in target.parents
            named = not address.fragment or target not in pages or unquote(address.fragment) in pages[target].ids
            if not (there and named):
                broken[path.name].append(link)
    assert dict(broken) == {}


def test_no_markup_is_left_over(pages: dict[Path, Parsed]) -> None:
    for path, page in pages.items():
        text = "".join(page.text)
        left = re.findall(r":\w+:`|\.\. math|``|\[\d+\]_|\\\(|\$\$|<!--|::: ", text)
        assert left == [], path.name
        assert "arithmatex" not in page.classes, path.name


def test_formulas_are_pictures_with_words(site: Path) -> None:
    page = (site / "measures.html").read_text(encoding="utf-8")
    drawn = re.findall(r'<svg class="tex" role="img" aria-label="([^"]*)"', page)
    assert r"\sum_{r \le k} x_r / k" in drawn
    outlines = set(re.findall(r'<path id="(glyph-[^"]*)"', page))
    assert outlines == set(re.findall(r'<use href="#(glyph-[^"]*)"', page))


def test_search_finds_commands_before_code(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert {entry.get("boost", 1) for entry in index["docs"] if entry["location"].startswith("api/")} == {0.3}
    assert any(entry["location"] == "cli.html#earmark-rank" for entry in index["docs"])
    # The same again as a script, for pages that are opened from a folder.
    assert (site / "search" / "search_index.js").exists()


def test_names_of_the_package_and_modules_of_its_layers_are_listed(pages: dict[Path, Parsed], site: Path) -> None:
    names = (site / "api" / "index.html").read_text(encoding="utf-8")
    for name in set(earmark.__all__) - {"__version__"}:
        assert f"<code>{name}</code>" in names, name
    for layer in (path for path in (ROOT / "src" / "earmark").iterdir() if (DOCS / "api" / f"{path.stem}.md").exists()):
        shown = pages[site / "api" / f"{layer.stem}.html"].ids
        # Migrations are scripts that Alembic runs, and nothing that anybody calls.
        files = (path for path in layer.rglob("*.py") if "migrations" not in path.parts)
        modules = [path for path in files if path.stem != "__init__"] or [layer]
        wanted = {".".join(path.relative_to(ROOT / "src").with_suffix("").parts) for path in modules}
        assert wanted <= shown, wanted - shown


# Formulas


@pytest.mark.parametrize(
    ("tex", "plain"),
    [
        (r"r \le k", r"r \leq k"),
        (r"\frac1Q + \tfrac12 + \frac nQ", r"\frac{1}{Q} + \frac{1}{2} + \frac{n}{Q}"),
        (r"\sqrt V \sqrt{a^2}", r"\sqrt{V} \sqrt{a^2}"),
        (r"\Bigl(x\Bigr)^2", r"\left(x\right)^2"),
        (r"\left[x\right]", r"\left[x\right]"),
        (r"\sum_{i \in \{1, 2\}} x", r"{\sum}_{i \in \{1, 2\}}\, x"),
        (r"\sum x", r"\sum x"),
    ],
)
def test_tex_is_spelt_for_the_setter(tex: str, plain: str) -> None:
    assert formulas.plain_tex(tex, display=False) == plain
    formulas.set_formula(tex, display=False)
    formulas.set_formula(tex, display=True)


def test_a_displayed_formula_keeps_its_limits_above_and_below() -> None:
    assert formulas.plain_tex(r"\frac{1}{n} \sum_i x_i", display=True) == r"\dfrac{1}{n} \,\sum_i\, x_i"
    beside, above = (formulas.set_formula(r"\sum_{i \le n} x", display=display) for display in (False, True))
    assert above.height > beside.height


def test_what_cannot_be_set_is_shown_as_code() -> None:
    page = r'<p><span class="arithmatex">\(\begin{x} a &lt; b\)</span></p>'
    assert formulas.with_formulas(page) == r"<p><code>\begin{x} a &lt; b</code></p>"
    block = r'<div class="arithmatex">\[\begin{x}\]</div>'
    assert formulas.with_formulas(block) == r'<pre class="formula"><code>\begin{x}</code></pre>'


def test_a_page_without_formulas_stays_as_it_is() -> None:
    assert formulas.with_formulas("<p>text</p>") == "<p>text</p>"


def test_the_outline_of_a_glyph_is_there_once() -> None:
    page = formulas.with_formulas(r'<span class="arithmatex">\(x + x = x\)</span>' * 2)
    assert len(re.findall("<path", page)) == 3
    assert len(re.findall("<use", page)) == 10


# Docstrings


def markdown(docstring: str) -> str:
    return restructured.to_markdown(docstring, resolve={"f": "earmark.f", "earmark.g": "earmark.g"}.get)


def test_roles_become_links() -> None:
    assert markdown(":func:`f`") == '<autoref optional identifier="earmark.f"><code>f</code></autoref>'
    assert markdown(":func:`~earmark.g`") == '<autoref optional identifier="earmark.g"><code>g</code></autoref>'
    assert markdown(":class:`Unknown`") == "<code>Unknown</code>"


def test_formulas_become_dollars() -> None:
    assert markdown("With :math:`a\n    b` and ``c``.") == "With $a b$ and ``c``."
    assert markdown("A\n\n.. math:: x =\n    y\n\nB").split() == ["A", "$$", "x", "=", "y", "$$", "B"]
    assert markdown("A\n\n.. math::\n\n   x\n\nB").split() == ["A", "$$", "x", "$$", "B"]


def test_tables_become_tables() -> None:
    headed = "=====  ====\nname   what\n=====  ====\n``a``  one\n       more\nb      two\n=====  ====\n\nText"
    assert markdown(headed).strip() == "| name | what |\n| --- | --- |\n| ``a`` | one more |\n| b | two |\n\n\nText"
    assert markdown("==  ==\na   b\n==  ==").strip() == "|  |  |\n| --- | --- |\n| a | b |"
    assert r"$\vert x\vert$" in markdown("==  ==========\na   :math:`|x|`\n==  ==========")


def test_literal_blocks_become_fences() -> None:
    assert markdown("As in::\n\n    {\n      x\n    }\n\nText").split("\n") == [
        "As in:", "", "```text", "{", "  x", "}", "```", "", "Text",
    ]  # fmt: skip


def test_examples_stay_and_others_are_fenced() -> None:
    assert markdown("Examples\n--------\n>>> f()\n1") == "Examples\n--------\n>>> f()\n1"
    assert markdown("Text.\n\n>>> f()\n1").endswith("```pycon\n>>> f()\n1\n```")


def test_references_become_a_list_with_links() -> None:
    text = (
        "By Holm [1]_ [2]_.\n\nReferences\n----------\n.. [1] S. Holm (1979). A simple\n   procedure.\nMTC: Anonymous."
    )
    assert markdown(text).split("\n") == [
        "By Holm <span>[1]</span> <span>[2]</span>.",
        "",
        "References",
        "----------",
        '- <span>[1]</span> <autoref optional identifier="holm1979">S. Holm (1979)</autoref>. A simple procedure.',
        "- MTC: Anonymous.",
    ]


def test_sections_of_docstrings_stay() -> None:
    text = "Do.\n\nParameters\n----------\nx : int\n    A number.\n\nReturns\n-------\nint"
    assert markdown(text) == text


# Notebooks


def test_a_notebook_becomes_a_page() -> None:
    picture = new_output("display_data", data={"image/png": "QUJD\n", "text/plain": "<Figure>"})
    table = "<style>td {}</style><table>\n\n<tr><td>1</td></tr></table>"
    cells = [
        new_markdown_cell("# Title\n\nText with $x$."),
        new_code_cell("print('`a`')", outputs=[new_output("stream", text="\x1b[1m`a`\x1b[0m\n")]),
        new_code_cell("frame", outputs=[new_output("execute_result", data={"text/html": table})]),
        new_code_cell("secret()", metadata={"tags": ["hide-input"]}, outputs=[picture]),
        new_code_cell("x", outputs=[new_output("execute_result", data={"text/plain": "1"})]),
        new_code_cell("", outputs=[]),
    ]
    assert notebooks.to_markdown(nbformat.writes(new_notebook(cells=cells))).split("\n\n") == [
        "# Title",
        "Text with $x$.",
        "```{ .python }\nprint('`a`')\n```",
        "```{ .text .output }\n`a`\n```",
        "```{ .python }\nframe\n```",
        '<div class="output">\n<table>\n<tr><td>1</td></tr></table>\n</div>',
        '<p class="output"><img alt="Output of the cell above" src="data:image/png;base64,QUJD"></p>',
        "```{ .python }\nx\n```",
        "```{ .text .output }\n1\n```\n",
    ]


# Commands that a page shows one after the other


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files named as those of the demonstration, which is larger and takes longer to make."""
    made = synthetic_collection(np.random.default_rng(1), systems=4, queries=12, documents=150)
    earmark.write_runs(made.runs, tmp_path / "runs.tsv")
    earmark.write_judgments(made.judgments, tmp_path / "judgments.tsv")
    made.metadata.frame.write_csv(tmp_path / "metadata.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown_commands(page: str) -> list[str]:
    blocks = re.findall(r"^```console\n(.*?)^```$", (DOCS / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("page", ["quick-start.md", "choosing.md"])
def test_commands_that_are_shown_run(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.search(r"^```py\n(.*?)^```$", (DOCS / "quick-start.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    assert found
    (folder / "answer.py").write_text(found[1])
    commands = shown_commands(page)
    assert len(commands) > 10
    for command in commands:
        # A redirection makes no difference here: whoever is no terminal gets JSON lines anyway.
        program, *arguments = shlex.split(command.partition(" > ")[0])
        if program == "earmark":
            assert main([*few_repeats(arguments), "--quiet"]) == 0, command
        elif program == "python":
            monkeypatch.setattr(sys, "argv", arguments)
            runpy.run_path(arguments[0], run_name="__main__")
        else:
            subprocess.run(command, shell=True, check=True)


def few_repeats(arguments: list[str]) -> list[str]:
    """Plans and simulations take long where they are repeated often; once shows that the command works."""
    if arguments[0] not in ("plan", "simulate"):
        return arguments
    if "--repeats" in arguments:
        where = arguments.index("--repeats")
        arguments = arguments[:where] + arguments[where + 2 :]
    return [*arguments, "--repeats", "1"]


def test_outputs_are_written_into_the_page(folder: Path) -> None:
    page = "```py\nimport sys\nprint(sys.argv[1])\n```\n\n```console\n$ true\n$ python answer.py new\n```\n"
    page += "\n```{ .text .output }\nold\nold\n```\n\nText.\n\n```console\n$ ls runs.tsv\n```\n\n```sh\nls\n```\n"
    assert refresh_quick_start.refreshed(page, folder) == page.replace("old\nold", "new")
    with pytest.raises(SystemExit, match="no such thing"):
        refresh_quick_start.refreshed(page.replace("true", "echo no such thing >&2; false"), folder)


@pytest.mark.slow
def test_outputs_of_the_quick_start_are_those_of_the_demonstration(tmp_path: Path) -> None:
    assert main(["demo", "--out", str(tmp_path), "--quiet"]) == 0
    page = refresh_quick_start.PAGE.read_text()
    assert refresh_quick_start.refreshed(page, tmp_path) == page
