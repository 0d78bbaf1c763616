"""Before the first question: questionnaires and trainings, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from earmark.errors import InputError
from earmark.store.onboarding import read_questionnaire, read_training


def test_a_questionnaire_has_questions_of_four_kinds(tmp_path: Path) -> None:
    path = tmp_path / "about.toml"
    path.write_text(
        '[[question]]\nlabel = "Name a song"\n[[question]]\nid = "years"\nlabel = "Years"\nkind = "number"\n'
        'required = true\n[[question]]\nid = "q"\nlabel = "Plays"\nkind = "choice"\noptions = ["piano", "none"]\n'
    )
    first, second, third = read_questionnaire(path)
    assert first == {"id": "question1", "label": "Name a song", "kind": "text", "options": [], "required": False}
    assert (second["id"], second["required"]) == ("years", True)
    assert third["options"] == ["piano", "none"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"tables \[\[question\]\]"),
        ("[[question]]\n", "no label"),
        ('[[question]]\nlabel = "x"\nkind = "colour"\n', "'colour'"),
        ('[[question]]\nlabel = "x"\nkind = "choice"\n', "a list of options"),
        ('[[question]]\nlabel = "x"\noptions = ["a"]\n', "no options"),
        ('[[question]]\nid = "a"\nlabel = "x"\n[[question]]\nid = "a"\nlabel = "y"\n', "the same id"),
        ("[[question]\n", "a questionnaire in TOML"),
    ],
)
def test_what_is_no_questionnaire_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "about.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as error:
        read_questionnaire(path)
    assert error.value.path == str(path)


def test_a_training_has_right_answers(tmp_path: Path) -> None:
    path = tmp_path / "training.csv"
    path.write_text("query,document,gain,feedback\nq,d,2,The same song.\nq,e,0,\n")
    frame = read_training(path)
    assert frame["gain"].to_list() == [2.0, 0.0]
    assert frame["other"].to_list() == ["", ""]
    assert frame["feedback"][0] == "The same song."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,gain\nq,1\n", "the columns query, document"),
        ("query,document\nq,d\n", "gain or choice"),
        ("query,document,gain\nq,d,many\n", "a number as gain, got 'many'"),
        ("query,document,gain,choice\nq,d,,\n", "the right answer"),
    ],
)
def test_what_is_no_training_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "training.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_training(path)
