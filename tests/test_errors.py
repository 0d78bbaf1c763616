"""Errors say where, what was expected, what was there and what to do, and survive a journey between processes."""

from __future__ import annotations

import pickle
from pathlib import Path

from earmark.errors import EarmarkError, InputError, NotConverged, ParameterError


def test_the_message_has_all_of_it() -> None:
    error = InputError(expected="6 columns", got="5", path=Path("a/b.run"), line=7, hint="is it a TREC run?")
    assert str(error) == "a/b.run:7: expected 6 columns, got 5 (is it a TREC run?)"
    assert str(InputError(expected="a file", got="nothing", path="x")) == "x: expected a file, got nothing"
    assert str(InputError(expected="two systems", got="one")) == "expected two systems, got one"


def test_an_error_survives_a_journey_between_processes() -> None:
    error = InputError(expected="6 columns", got="5", path="b.run", line=7, hint="look")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path, again.line, again.hint) == (str(error), "b.run", 7, "look")


def test_all_errors_are_earmarks() -> None:
    assert issubclass(InputError, EarmarkError)
    assert issubclass(ParameterError, EarmarkError | ValueError)
    assert issubclass(NotConverged, EarmarkError)
