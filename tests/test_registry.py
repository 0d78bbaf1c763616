"""Registries: names in any case, other packages' classes, one error, and the arguments after a name."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earmark import registry
from earmark.errors import ParameterError
from earmark.registry import (
    Registry,
    read_choice,
    read_count,
    read_number,
    refuse_arguments,
    show_number,
    split_arguments,
    suggest,
)


class Mtc:
    name = "mtc"
    form = "mtc:0.95"


class Random:
    name = "Random"
    form = "random:5"


def policies(**options) -> Registry[type]:
    made = Registry[type]("policy", **options)
    made.register(Mtc)
    made.register(Random)
    return made


def test_finds_by_name_in_any_case_and_lists_in_the_order_of_registration():
    known = policies()
    assert known["mtc"] is known[" MTC "] is Mtc
    assert known["random"] is Random
    assert known.names() == ("mtc", "Random")
    assert known.values() == [Mtc, Random]
    assert "MTC" in known
    assert "uniform" not in known
    assert known.get("uniform") is None


def test_registering_returns_the_class_and_the_later_one_counts():
    known = policies()

    class Again:
        name = "MTC"

    assert known.register(Again) is Again
    assert known["mtc"] is Again
    assert len(known.values()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("randon", r"unknown policy 'randon': did you mean Random\? \(there are mtc, Random\)"),
        ("zzzz", "unknown policy 'zzzz': there are mtc, Random"),
    ],
)
def test_an_unknown_name_is_one_error(text: str, message: str):
    with pytest.raises(ParameterError, match=message):
        policies()[text]


def test_an_error_shows_things_as_they_are_written():
    with pytest.raises(ParameterError, match=r"did you mean random:5\? \(there are mtc:0\.95, random:5\)"):
        policies(shown=lambda cls: cls.form)["randon"]


def test_an_alias_may_be_meant():
    error = policies().unknown("minimaltest", aliases={"minimal-test": "mtc"})
    assert "did you mean mtc?" in str(error)


def test_other_packages_bring_theirs_once_and_take_no_name_away(monkeypatch):
    class Theirs:
        name = "Theirs"

    class Impostor:
        name = "mtc"

    entries = [EntryPoint("one", "a:Theirs", "earmark.policies"), EntryPoint("two", "a:Impostor", "earmark.policies")]
    loads = []

    def load(entry: EntryPoint) -> type:
        loads.append(entry.name)
        return Theirs if entry.name == "one" else Impostor

    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(registry, "entry_points", lambda group: entries if group == "earmark.policies" else [])
    known = policies(group="earmark.policies")
    assert known["mtc"] is Mtc
    assert loads == []
    assert known["theirs"] is Theirs
    assert known["mtc"] is Mtc
    assert known.names() == ("mtc", "Random", "Theirs")
    assert "nothing" not in known
    assert loads == ["one", "two"]
    assert policies().names() == ("mtc", "Random")


def test_suggests_only_what_is_close():
    assert suggest("Mean", ["mean", "min"]) == "mean"
    assert suggest("budgte", ["budget", "mean"]) == "budget"
    assert suggest("xyz", ["budget", "mean"]) is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("mtc", ("mtc", [])),
        ("balanced:20:random", ("balanced", ["20", "random"])),
        (" top : 3 ", ("top", ["3"])),
        ("mean:", ("mean", [""])),
        ("", ("", [])),
    ],
)
def test_splits_a_name_from_its_arguments(text: str, parts: tuple[str, list[str]]):
    assert split_arguments(text) == parts


def test_reads_arguments():
    assert read_number(".95", "mean:0.95") == 0.95
    assert read_count("3", "top:3") == 3
    assert read_choice("Doubt", ("confidence", "doubt"), "mtc-undecided:doubt") == "doubt"
    refuse_arguments("mtc", [])


def test_says_which_argument_is_expected():
    with pytest.raises(ParameterError, match=r"a number as in mean:0\.95, got 'x'"):
        read_number("x", "mean:0.95")
    with pytest.raises(ParameterError, match=r"a whole number as in top:3, got '1\.5'"):
        read_count("1.5", "top:3")
    with pytest.raises(ParameterError, match="confidence or doubt as in mtc-undecided:doubt, got 'hope'"):
        read_choice("hope", ("confidence", "doubt"), "mtc-undecided:doubt")
    with pytest.raises(ParameterError, match="mtc takes no argument, got 'mtc:3'"):
        refuse_arguments("mtc", ["3"])


@given(st.floats(allow_nan=False))
def test_a_number_is_read_back_as_it_was(value: float):
    assert float(show_number(value)) == value
