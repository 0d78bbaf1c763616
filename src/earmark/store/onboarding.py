"""Before the first question: what assessors say about themselves, and a training with the right answers."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import polars as pl

from earmark.data.files import BLANKS
from earmark.data.table_files import read_named
from earmark.errors import InputError, ParameterError
from earmark.store.inputs import find_file
from earmark.store.rules import Rules
from earmark.store.settings import Settings

TRAINING: dict[str, Any] = {
    **dict.fromkeys(("query", "document", "other"), pl.String),
    "gain": pl.Float64,
    **dict.fromkeys(("choice", "feedback"), pl.String),
}
"""The columns of a training; ``choice`` is a, b or same, as in a file of preferences."""

QUESTION_KINDS = ("choice", "text", "number", "yes")


def read_questionnaire(path: Path) -> list[dict[str, Any]]:
    """Read a questionnaire: tables ``[[question]]`` with id, label, kind, options and required.

    Raises
    ------
    InputError
        If the file is none.
    """
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(expected="a questionnaire in TOML", got=str(error), path=path) from None
    found = []
    for number, one in enumerate(said.get("question", []), start=1):
        kind, options = one.get("kind", "text"), one.get("options", [])
        if kind not in QUESTION_KINDS or not isinstance(one.get("label"), str):
            got = f"kind {kind!r}" if kind not in QUESTION_KINDS else "no label"
            hint = f"a question has a label and is of kind {', '.join(QUESTION_KINDS)}"
            raise InputError(expected=f"question {number} of a questionnaire", got=got, path=path, hint=hint)
        if (kind == "choice") != bool(options) or not all(isinstance(option, str) for option in options):
            what = "a list of options, as texts" if kind == "choice" else "no options"
            raise InputError(expected=what, got=str(options), path=path, hint=f"question {number}: {one['label']}")
        known = {"id": str(one.get("id", f"question{number}")), "label": one["label"], "kind": kind}
        found.append({**known, "options": list(options), "required": bool(one.get("required", False))})
    if not found or len({one["id"] for one in found}) < len(found):
        got = "none" if not found else "two questions of the same id"
        raise InputError(expected="tables [[question]], each with an id of its own", got=got, path=path)
    return found


def read_training(path: Path, *, encoding: str = "utf-8") -> pl.DataFrame:
    """Read a training: CSV with query, document, the right answer as gain or choice, and feedback.

    Raises
    ------
    InputError
        If a column is missing, or a row has no right answer.
    """
    table = read_named(path, encoding=encoding)
    there = table.frame.columns
    if not {"query", "document"} <= set(there) or not {"gain", "choice"} & set(there):
        got = ", ".join(there) or "nothing"
        expected = "the columns query, document, gain or choice, and feedback"
        raise InputError(expected=expected, got=got, path=path, line=1)
    frame = table.frame.select(
        (pl.col(name) if name in there else pl.lit(None)).cast(pl.String).str.strip_chars(BLANKS).alias(name)
        for name in TRAINING
    )
    gain = frame["gain"].cast(pl.Float64, strict=False)
    wrong = (gain.is_null() & frame["gain"].is_not_null()).arg_true()
    if wrong.len():
        row = int(wrong[0])
        raise table.error(row, expected="a number as gain", got=f"'{frame['gain'][row]}'")
    neither = (gain.is_null() & frame["choice"].is_null()).arg_true()
    if neither.len():
        raise table.error(int(neither[0]), expected="the right answer as gain or choice", got="nothing")
    return frame.with_columns(gain, pl.col("other").fill_null(""))


def check_onboarding(folder: Path, settings: Settings) -> None:
    """Read the questionnaire and the training of a campaign, so that what is wrong with them is found at once.

    Raises
    ------
    InputError
        If a file cannot be used, or a right answer is none on the scale.
    """
    inputs, rules = settings.inputs, Rules.from_settings(settings)
    if inputs.questionnaire is not None:
        read_questionnaire(find_file(folder, inputs.questionnaire))
    if inputs.training is None:
        return
    path = find_file(folder, inputs.training)
    for number, row in enumerate(read_training(path, encoding=inputs.encoding).iter_rows(named=True), start=1):
        try:
            _check_usual(rules, row)
        except ParameterError as error:
            got = f"row {number}: {error}"
            raise InputError(expected="right answers to questions of this kind", got=got, path=path) from None


def _check_usual(rules: Rules, row: dict[str, Any]) -> None:
    if rules.kind == "order":
        if row["gain"] is None or row["gain"] < 0:
            raise ParameterError("an order needs a gain of 0 or more for every document; above 0 is similar")
        return
    rules.value_of(row["gain"], row["choice"])
