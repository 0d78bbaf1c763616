"""A person judges: questions on a page to listen to, grades typed in the terminal, every answer kept.

Answers are written to a file after every question. Asked again, the demonstration goes on where the person left off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from earmark.campaign.campaign import Campaign
from earmark.campaign.evidence import Answers
from earmark.campaign.policies import Proposal
from earmark.data.readers import read_judgments
from earmark.data.scales import BROAD
from earmark.data.writers import write_judgments
from earmark.demo.collection import DemoCollection, DemoFiles
from earmark.demo.listening import Question, questions_page, write_page
from earmark.demo.story import demo_campaign

GRADES = ("0 · not similar", "1 · somewhat similar", "2 · very similar")
ENOUGH = "q"
_PERSON = "me"


class Enough(Exception):  # noqa: N818 - it is no error to have judged enough
    """The person does not want to judge any more."""


@dataclass(eq=False)
class Person:
    """Somebody at the terminal, who answers what a campaign proposes.

    Parameters
    ----------
    made : DemoCollection
    files : DemoFiles
        Where the clips are, and where answers go.
    say : callable
        Called with what the person should read.
    hear : callable
        Called with a prompt; returns what was typed. ``EOFError`` counts as enough.
    campaign : Campaign
        With everything answered so far, on the scale Broad.
    """

    made: DemoCollection
    files: DemoFiles
    say: Callable[[str], None]
    hear: Callable[[str], str]
    campaign: Campaign

    @classmethod
    def at_terminal(
        cls,
        made: DemoCollection,
        files: DemoFiles,
        *,
        seed: int,
        say: Callable[[str], None],
        hear: Callable[[str], str],
    ) -> Person:
        """Return the person with the answers they gave before."""
        campaign = demo_campaign(made, scale=BROAD, seed=seed)
        if files.answers.exists():
            campaign = campaign.with_judgments(read_judgments(files.answers, scale=BROAD))
        return cls(made, files, say, hear, campaign)

    def __call__(self, campaign: Campaign, proposal: Proposal) -> Answers:
        """Ask how similar the proposed items are, those of one query together.

        Raises
        ------
        Enough
            If the person has had enough; answers so far are in the file and in `campaign`.
        """
        self.campaign = campaign
        # Items are numbered by query, so that the documents of one query come together.
        items = np.sort(proposal.items)
        named = campaign.problem.items[items]
        pairs = enumerate(zip(named["query"], named["document"], strict=True), start=campaign.judged + 1)
        questions = [Question(number, query, document) for number, (query, document) in pairs]
        page = questions_page(questions, self.files.addresses(self.made.songs), GRADES)
        write_page(page, self.files.questions)
        self.say(f"Open {self.files.questions.resolve().as_uri()} and listen; load it again for every new batch.")
        self.say(f"Grades: {', '.join(GRADES)}; {ENOUGH} to stop here.")
        gains = np.zeros(items.size)
        for place, question in enumerate(questions):
            gains[place] = self._grade(question)
            answer = Answers(items[[place]], gains[[place]], assessor=_PERSON)
            self.campaign = self.campaign.with_answers(answer)
            if self.campaign.judgments is not None:
                write_judgments(self.campaign.judgments, self.files.answers)
        return Answers(items, gains, assessor=_PERSON)

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
