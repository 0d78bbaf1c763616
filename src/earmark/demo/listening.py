"""Pages to listen to: a batch of questions, or what every system answered.

The pages play the clips that lie beside them, one at a time, and need no network. They show neither names nor genres of
what is to be judged, which would tell a listener what to think.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from string import Template

from earmark.data.tables import replacing
from earmark.wording import counted


@dataclass(frozen=True)
class Question:
    """What is asked: how similar is this document to that query."""

    number: int
    query: str
    document: str


def questions_page(questions: Sequence[Question], clips: dict[str, str], grades: Sequence[str]) -> str:
    """Write a page on which a batch of questions can be listened to.

    Parameters
    ----------
    questions : sequence of Question
        Those of one query one after another.
    clips : dict of str to str
        Where the sound of every song is, as seen from the page.
    grades : sequence of str
        What may be answered, in words.
    """
    answers = "".join(f"<li>{escape(grade)}</li>" for grade in grades)
    parts = [
        f'<p class="lead">{counted(len(questions), "question")}. Listen to the query, then to each of the tracks '
        "under it, and type in the terminal how similar they sound.</p>",
        f'<ul class="grades">{answers}</ul>',
    ]
    for query, group in groupby(questions, key=lambda question: question.query):
        tracks = [
            (question.number, _player(clips[question.document], f"track {question.number}")) for question in group
        ]
        rows = "".join(f"<tr><th>{number}</th><td>{player}</td></tr>" for number, player in tracks)
        parts.append(
            f"<section><h2>Query</h2>{_player(clips[query], 'query')}<table><tbody>{rows}</tbody></table></section>"
        )
    return _page("How similar do they sound?", "".join(parts))


@dataclass(frozen=True)
class Answer:
    """What a system answered a query with: its best document, and how similar the listener finds it, 0 to 100."""

    system: str
    document: str
    similar: int


def answers_page(answers: Sequence[tuple[str, Sequence[Answer]]], clips: dict[str, str]) -> str:
    """Write a page on which the answers of systems to some queries can be listened to."""
    parts = [
        '<p class="lead">What every system finds most similar to a query, and how similar the made-up listener finds '
        "that, from 0 to 100. Would you agree?</p>"
    ]
    for place, (query, given) in enumerate(answers, start=1):
        rows = "".join(
            f"<tr><th>{escape(one.system)}</th><td>{_player(clips[one.document], one.system)}</td>"
            f'<td class="id">{escape(one.document)}</td>'
            f'<td class="n">{one.similar}</td></tr>'
            for one in given
        )
        head = '<th>system</th><th>its first answer</th><th></th><th class="n">similar</th>'
        parts.append(
            f"<section><h2>Query {place}</h2>{_player(clips[query], f'query {place}')}"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></section>"
        )
    return _page("Listen to the systems", "".join(parts))


def write_page(text: str, path: Path) -> None:
    """Write a page to a file, all of it or nothing."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _page(title: str, body: str) -> str:
    template = Template(files("earmark.demo").joinpath("listening.html").read_text(encoding="utf-8"))
    return template.substitute(title=escape(title), body=body)


def _player(source: str, label: str) -> str:
    return f'<audio controls preload="metadata" src="{escape(source)}" aria-label="{escape(label)}"></audio>'
