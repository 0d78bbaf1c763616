"""Pages to listen to: a batch of questions, or what every system answered.

The pages play the clips that lie beside them, one at a time, and need no network. They show neither names nor genres of
what is to be judged, which would tell a listener what to think.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from earmark.pages import render
from earmark.pages import write_page as write_page


@dataclass(frozen=True)
class Question:
    """What is asked: how similar is this document to that query."""

    number: int
    query: str
    document: str


@dataclass(frozen=True)
class Answer:
    """What a system answered a query with: its best document, and how similar the listener finds it, 0 to 100."""

    system: str
    document: str
    similar: int


@dataclass(frozen=True)
class Examples:
    """The first answers of all systems to a few of many queries.

    Attributes
    ----------
    answers : sequence of (str, sequence of Answer)
        A query, and what every system answered.
    means : mapping of str to float
        How similar the listener finds the first answers of a system, on average over all queries.
    among : int
        How many queries there are.
    """

    answers: Sequence[tuple[str, Sequence[Answer]]]
    means: Mapping[str, float]
    among: int


def questions_page(questions: Sequence[Question], clips: Mapping[str, str], grades: Sequence[str]) -> str:
    """Write a page on which a batch of questions can be listened to.

    Parameters
    ----------
    questions : sequence of Question
        Those of one query one after another.
    clips : mapping of str to str
        Where the sound of every song is, as seen from the page.
    grades : sequence of str
        What may be answered, in words.
    """
    queries = [(query, list(group)) for query, group in groupby(questions, key=lambda question: question.query)]
    return render("questions.html", queries=queries, questions=len(questions), clips=clips, grades=grades)


def answers_page(examples: Examples, clips: Mapping[str, str]) -> str:
    """Write a page on which the answers of systems to some queries can be listened to."""
    return render("answers.html", examples=examples, clips=clips)
