"""The page about judging in the browser: what it says to type exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from earmark.cli.main import built_commands
from earmark.store.onboarding import read_questionnaire
from earmark.store.settings import setting_names

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("judging.md", "deployment.md", "recruiting.md")


def commands(page: str) -> list[list[str]]:
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^ *```console\n(.*?)^ *```$", text, flags=re.MULTILINE | re.DOTALL)
    lines = [line.strip().removeprefix("$ ") for block in blocks for line in block.splitlines()]
    return [shlex.split(line) for line in lines if line.startswith("earmark ")]


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_their_options_exist(page: str) -> None:
    found = commands(page)
    assert found
    root: Any = built_commands()
    for _, name, *arguments in found:
        command = root.commands[name]
        if getattr(command, "commands", None):
            command = command.commands[arguments.pop(0)]
        known = {spelt for option in command.params for spelt in option.opts}
        assert {one.partition("=")[0] for one in arguments if re.match("--?[a-z]", one)} <= known, name


@pytest.mark.parametrize("page", PAGES)
def test_settings_that_are_named_exist(page: str) -> None:
    for _, name, *arguments in commands(page):
        if name == "set":
            assert {one.partition("=")[0] for one in arguments[1:]} <= set(setting_names())


def test_the_questionnaire_can_be_read(tmp_path: Path) -> None:
    text = (DOCS / "judging.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    path = tmp_path / "questionnaire.toml"
    path.write_text(re.sub(r"^ {4}", "", block, flags=re.MULTILINE), encoding="utf-8")
    assert [one["kind"] for one in read_questionnaire(path)] == ["number", "choice"]
