"""Templates: what users gave is printed as it is, nothing is left out in silence, and every template is well-formed."""

from __future__ import annotations

import builtins
import re
from dataclasses import replace
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from jinja2 import UndefinedError

import earmark
from earmark.cli.output import number
from earmark.data.judgments import Judgments
from earmark.demo.listening import Answer, Examples, Question, answers_page, questions_page
from earmark.errors import InputError, MissingLibraryError
from earmark.pages import latex, render, write_page
from earmark.pages.rendering import _environment
from earmark.report import Findings, Reproduction, gather_findings, report_html, write_assets
from earmark.wording import decimal, in_percent

HOSTILE = "<script>alert('x')</script> & \"q\" _ % $ # { } ~ ^ \\ {{ 7 * 7 }} << 7 >>"
"""A name that means something to HTML, to LaTeX and to the templates."""
TEX = r"\textless{}script\textgreater{}alert('x')\textless{}/script\textgreater{} \& " + (
    r'"q" \_ \% \$ \# \{ \} \textasciitilde{} \textasciicircum{} \textbackslash{} \{\{ 7 {*} 7 \}\} '
    r"\textless{}\textless{} 7 \textgreater{}\textgreater{}"
)


@pytest.fixture(scope="module")
def findings() -> Findings:
    names = [f"{HOSTILE} {number}" for number in (1, 2, 3)]
    runs = {name: {"q": {f"{name}-{rank}": -float(rank) for rank in range(2)}} for name in names}
    rows = [("q", f"{names[0]}-0", 1.0, f"{HOSTILE} ann"), ("q", f"{names[0]}-0", 0.0, f"{HOSTILE} bob")]
    judgments = Judgments.from_frame(
        pl.DataFrame(rows, schema=["query", "document", "gain", "assessor"], orient="row"), scale=earmark.BINARY
    )
    campaign = earmark.Campaign.build(earmark.runs_from_dict(runs), judgments, measure="AG@2", predictor="uniform")
    how = Reproduction(f"earmark {HOSTILE}", [(HOSTILE, "0" * 64)], [(HOSTILE, "1")])
    return gather_findings(campaign, notes=[HOSTILE], reproduction=how, figures=[(HOSTILE, HOSTILE, "<svg/>")])


def test_a_report_prints_what_users_gave_as_it_is(findings: Findings) -> None:
    page = report_html(replace(findings, predictor=HOSTILE))
    assert "<script" not in page
    assert "alert('x')" not in page
    for given in (f"{HOSTILE} 1", f"{HOSTILE} ann", f"earmark {HOSTILE}", f"predictor {HOSTILE}."):
        assert given in unescape(page)
    for tag in ("h2", "figcaption"):
        assert HOSTILE in map(unescape, re.findall(f"<{tag}>([^<]*)</{tag}>", page))
    # In a description, which is an attribute, quotes end nothing.
    description = re.search(r'<meta name="description" content="([^"]*)">', page)
    assert description is not None
    assert HOSTILE in unescape(description[1])


def test_latex_prints_what_users_gave_as_it_is(findings: Findings, tmp_path: Path) -> None:
    write_assets(findings, tmp_path)
    assert latex(HOSTILE) == TEX
    for name, given in (("systems", " 1 &"), ("pairs", " 2 &"), ("forecast", " 3 &"), ("assessors", " ann &")):
        assert TEX + given in (tmp_path / f"{name}.tex").read_text()


def test_pages_to_listen_to_print_what_users_gave_as_it_is() -> None:
    clips = {"q": "q.flac", "d": 'clips/"d" & <e>.flac'}
    asked = questions_page([Question(1, "q", "d")], clips, [HOSTILE])
    heard = answers_page(Examples([("q", [Answer(HOSTILE, "d", 7)])], {HOSTILE: 7.0}, 1), clips)
    for page in (asked, heard):
        assert page.count("<script") == 1
        assert "alert" not in page.partition("<script>")[2]
        assert HOSTILE in unescape(page)
        assert clips["d"] in map(unescape, re.findall(r'src="([^"]*)"', page))


def test_numbers_are_printed_the_same_way_everywhere() -> None:
    filters = _environment(latex_syntax=False).filters
    assert filters["number"](-0.12345) == "−0.1235"
    assert filters["signed"](0.5, 2) == "+0.50"
    assert filters["short"](12.34) == "12.3"
    assert filters["short"](0.123) == "0.12"
    assert filters["count"](1234) == "1,234"
    assert filters["percent"](0.9496) == "94%"
    assert filters["level"](0.975) == "97.5%"
    assert [filters["share"](value) for value in (1.0, 0.999, 0.5)] == ["100%", "99%", "50%"]
    assert {filters[name](None) for name in ("number", "signed", "count", "percent", "share")} == {"–"}
    assert filters["sentence"]("a note.") == "A note."
    assert [latex(text) for text in ("−1", "–")] == ["$-$1", "--"]


def test_short_names_are_not_broken() -> None:
    unbroken = _environment(latex_syntax=False).filters["unbroken"]
    assert unbroken("a-b is <better>", ["a-b"]) == '<span class="unbroken">a-b</span> is &lt;better&gt;'
    assert unbroken("a-b-c and x a-b", ["a-b", "a-b-c"]).count("<span") == 2
    assert unbroken("ab is better", ["ab"]) == "ab is better"
    long = "a-" * 20 + "b"
    assert unbroken(f"{long} is better", [long]) == f"{long} is better"
    assert unbroken("A & B-1", ["& B-1"]) == 'A <span class="unbroken">&amp; B-1</span>'


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'grades' is undefined"):
        render("questions.html", queries=[], questions=0, clips={})


def test_pages_ask_the_network_for_nothing() -> None:
    folder = files("earmark.pages").joinpath("templates")
    for path in Path(str(folder)).rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://|@import|url\(", text), path
        if "web" in path.parts:
            # Pages of the app load what the app itself serves, some of it by a name that the app gives.
            loaded = re.findall(r'<(?:link|img|script)[^>]*(?:href|src)="([^"]*)', text)
            assert all(address.startswith(("/", "{{")) for address in loaded), path
        else:
            assert not re.search(r"<link|<img", text), path


def test_without_jinja_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "jinja2":
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    _environment.cache_clear()
    with pytest.raises(MissingLibraryError, match=r"pages need Jinja2: pip install 'earmark\[plots\]'"):
        render("questions.html", queries=[], questions=0, clips={}, grades=[])


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write_page("é", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == "é".encode()
    with pytest.raises(InputError, match="expected an existing folder to write to"):
        write_page("", tmp_path / "nowhere" / "page.html")


def test_pages_and_tables_round_alike() -> None:
    """A confidence is cut off and a score rounded, on a page as on a terminal."""
    row = {"a": "A", "b": "B", "difference": 0.12346, "at_least": 0.0, "confidence": 0.94996, "decided": False}
    shown = render("tables/pairs.tex", rows=[row])
    assert f"A & B & {decimal(0.12346)} & " in shown
    assert f" & {latex(in_percent(0.94996))} & no" in shown
    assert (in_percent(0.94996), in_percent(0.95)) == ("94%", "95%")
    assert number(0.12346) == decimal(0.12346) == "0.1235"
