"""What crowd platforms call things: from their columns and words to ours.

A file of results has columns of its own. A *mapping* says which of them hold the query, the two documents, the answer
and who gave it, and which of the platform's words means which choice. Files of Mechanical Turk repeat everything that
was put in as ``Input.…`` and write everything that was answered as ``Answer.…``; tasks of several questions number
their columns, ``Input.left_1``, ``Input.left_2``, and a mapping names them without the number.

Two mappings have names: ``mturk`` reads what comes back of the packages that
:mod:`earmark.crowd.question_files` writes, and ``melody-2010`` a published file of 2,810 judgments on melodies
[1]_. Others are made of these by naming columns and choices.

References
----------
.. [1] J. Urbano, J. Morato, M. Marrero, D. Martín (2010). Crowdsourcing preference judgments for evaluation of music
   similarity tasks. SIGIR Workshop on Crowdsourcing for Search Evaluation, 9-16.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from earmark.data.preference_checks import CHOICES
from earmark.errors import ParameterError

# What is known of every question, and what is known of a task as a whole.
PER_QUESTION = ("query", "a", "b", "choice", "strength", "question", "phase", "trap")
PER_TASK = ("assessor", "time", "seconds", "assignment", "status", "rejected", "reject")
FIELDS = (*PER_QUESTION, *PER_TASK)
NEEDED = ("query", "a", "b", "choice", "assessor")


@dataclass(frozen=True)
class ResultMapping:
    """Which columns of a file of results hold what, and what its words mean.

    Parameters
    ----------
    columns : mapping of str to str
        The column of every field. Fields of a question are query, a, b, choice, strength, question, phase and trap;
        those of a task are assessor, time, seconds (how long all of it took), assignment (its id), status, rejected
        (when it was) and reject (the column in which a requester notes why it shall be).
    choices : mapping of str to str
        The choice, a, b or same, that every word means; upper and lower case do not matter.
    encoding : str
        How such files are usually encoded.
    required : frozenset of str
        The fields whose columns have to be there; the others are used where they are.
    """

    columns: Mapping[str, str]
    choices: Mapping[str, str]
    encoding: str = "utf-8"
    required: frozenset[str] = field(default_factory=lambda: frozenset(NEEDED))

    def __post_init__(self) -> None:
        unknown = next((name for name in self.columns if name not in FIELDS), None)
        if unknown is not None:
            close = get_close_matches(unknown, FIELDS, n=1)
            hint = f" (did you mean '{close[0]}'?)" if close else ""
            raise ParameterError(f"there is no field '{unknown}' of results: use {', '.join(FIELDS)}{hint}")
        missing = [name for name in NEEDED if name not in self.columns]
        if missing:
            raise ParameterError(f"a mapping of results needs a column for {', '.join(missing)}")
        wrong = next((word for word in self.choices.values() if word not in CHOICES), None)
        if wrong is not None:
            raise ParameterError(f"a word of the results means a, b or same, not '{wrong}'")

    def with_columns(self, columns: Mapping[str, str]) -> ResultMapping:
        """Return the same with other columns for some fields, which then have to be there."""
        return replace(self, columns={**self.columns, **columns}, required=self.required | set(columns))

    def with_choices(self, choices: Mapping[str, str]) -> ResultMapping:
        """Return the same with more words for choices."""
        lowered = {word.lower(): choice.lower() for word, choice in choices.items()}
        return replace(self, choices={**self.choices, **lowered})


_TURK = {
    "assessor": "WorkerId",
    "time": "SubmitTime",
    "seconds": "WorkTimeInSeconds",
    "assignment": "AssignmentId",
    "status": "AssignmentStatus",
    "rejected": "RejectionTime",
    "reject": "Reject",
}
_WORDS = {"a": "a", "b": "b", "same": "same"}

MAPPINGS: dict[str, ResultMapping] = {
    "mturk": ResultMapping(
        {
            "query": "Input.query",
            "a": "Input.left",
            "b": "Input.right",
            "question": "Input.question",
            "choice": "Answer.choice",
            "strength": "Answer.strength",
            **_TURK,
        },
        {**_WORDS, "left": "a", "right": "b"},
    ),
    "melody-2010": ResultMapping(
        {"query": "Input.query", "a": "Input.docA", "b": "Input.docB", "choice": "Answer.radio", **_TURK},
        {**_WORDS, "s": "same"},
        encoding="latin-1",
    ),
}


def find_mapping(name: str) -> ResultMapping:
    """Return the mapping of this name.

    Raises
    ------
    ParameterError
        If there is none.
    """
    if name not in MAPPINGS:
        raise ParameterError(f"no mapping called '{name}': there are {', '.join(MAPPINGS)}")
    return MAPPINGS[name]
