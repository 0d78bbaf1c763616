"""A person judges: questions on a page to listen to, grades typed in the terminal, every answer kept.

Answers are written to a file after every question. Asked again, the demonstration goes on where the person left off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from earmark.beliefs.beliefs import item_gains
from earmark.data.arrays import Floats, Ints
from earmark.data.readers import read_judgments
from earmark.data.scales import BROAD
from earmark.data.writers import write_judgments
from earmark.demo.collection import DemoFiles
from earmark.demo.listening import Question, questions_page, write_page
from earmark.demo.story import Campaign

GRADES = ("0 · not similar", "1 · somewhat similar", "2 · very similar")
ENOUGH = "q"
_PERSON = "me"


class Enough(Exception):  # noqa: N818 - it is no error to have judged enough
    """The person does not want to judge any more."""


@dataclass(eq=False)
class Person:
    """Somebody at the terminal.

    Parameters
    ----------
    campaign : Campaign
        Judged on the scale Broad.
    files : DemoFiles
        Where the clips are, and where answers go.
    say : callable
        Called with what the person should read.
    hear : callable
        Called with a prompt; returns what was typed. ``EOFError`` counts as enough.
    """

    campaign: Campaign
    files: DemoFiles
    say: Callable[[str], None]
    hear: Callable[[str], str]
    gains: Floats = field(init=False)
    asked: int = field(init=False)

    def __post_init__(self) -> None:
        self.gains = self._remembered()
        self.asked = int(np.count_nonzero(self.gains >= 0))

    def __call__(self, items: Ints) -> Floats:
        """Ask how similar some items are, and return their gains.

        Raises
        ------
        Enough
            If the person has had enough; answers so far are kept.
        """
        # Items are sorted by query, so that what belongs to one query comes together.
        items = np.sort(items)
        frame = self.campaign.setting.collection.item_frame()[items]
        pairs = enumerate(zip(frame["query"], frame["document"], strict=True), start=self.asked + 1)
        questions = [Question(number, query, document) for number, (query, document) in pairs]
        page = questions_page(questions, self.files.addresses(self.campaign.made.songs), GRADES)
        write_page(page, self.files.questions)
        self.say(f"Open {self.files.questions.resolve().as_uri()} and listen; load it again for every new batch.")
        self.say(f"Grades: {', '.join(GRADES)}; {ENOUGH} to stop here.")
        for item, question in zip(items, questions, strict=True):
            self.gains[item] = self._grade(question)
            self.asked += 1
            write_judgments(self.campaign.judgments(self.gains, assessor=_PERSON), self.files.answers)
        return self.gains[items]

    def _grade(self, question: Question) -> float:
        while True:
            try:
                typed = self.hear(f"{question.number}. How similar? [0/1/2/{ENOUGH}] ").strip().lower()
            except EOFError:
                raise Enough from None
            if typed == ENOUGH:
                raise Enough
            if typed in ("0", "1", "2"):
                return float(typed)
            self.say(f"Expected 0, 1, 2 or {ENOUGH}, got '{typed}'.")

    def _remembered(self) -> Floats:
        collection = self.campaign.setting.collection
        if not self.files.answers.exists():
            return self.campaign.setting.unjudged.copy()
        return item_gains(collection, read_judgments(self.files.answers, scale=BROAD))
