"""The sections of ``campaign.toml``: every setting with its meaning, how it is read, and its default.

The descriptions of parameters below are the comments in the file.
"""

# ruff: noqa: RUF009 - declare() returns a field of a dataclass
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from earmark.campaign.stopping import parse_stop, stop_rule
from earmark.data.scales import parse_scale
from earmark.measures import parse
from earmark.predictors.base import PREDICTORS
from earmark.registry import show_number
from earmark.store.declared_settings import Section, declare
from earmark.store.setting_types import (
    InputFile,
    Wrong,
    address,
    choice,
    encoding,
    host_name,
    input_file,
    number,
    parsed,
    several,
    show,
    store_url,
    text,
    whole,
    yes_or_no,
)
from earmark.store.toml_lines import Key

EXTERNAL = "external"


_stop = parsed(parse_stop, 'a stop rule such as "mean:0.95"', hint_number=lambda value: f"mean:{show_number(value)}")
_scale = parsed(
    parse_scale,
    'a scale such as "broad", "fine" or "0..3"',
    hint_number=lambda value: f"0..{show_number(value)}" if value > 2 else {1: "binary"}.get(int(value), "broad"),
)


def _predictor(value: Any) -> str:
    known = (*PREDICTORS.names(), EXTERNAL)
    if isinstance(value, str) and value.startswith(f"{EXTERNAL}:"):
        hint = f'write predictor = "{EXTERNAL}", and predictions = "{value.partition(":")[2]}" under [inputs]'
        raise Wrong("the name of a predictor", show(value), hint=hint)
    return str(choice(*dict.fromkeys(known))(value))


@dataclass(frozen=True, kw_only=True)
class Inputs(Section):
    """The files that the campaign was made from, each with its SHA-256 hash: a file that changes is noticed.

    Parameters
    ----------
    runs
        The ranked lists of the systems. Runs that come late are added at the end of this list.
    metadata
        What is known about documents: a table with the columns document, artist, genre and so on.
    teams
        Who sent which system.
    content
        What documents are like, as numbers, such as an embedding of their sound.
    content_ids
        The documents of the rows of content, where they are not in that file.
    model
        A model fitted on past collections, for a predictor that uses one, such as ordinal, forest or hierarchical.
    predictions
        What another model predicts, for the predictor external.
    candidates
        The pairs of documents that people may be asked about, in a campaign of kind prefer.
    traps
        Questions whose answers are known, for the source list of [traps].
    consent
        The text that assessors agree to before their first question.
    media_map
        Which sounds, pictures and texts belong to which query and document.
    questionnaire
        What assessors are asked about themselves, once, before their first question: a TOML file.
    training
        Questions with their right answers and an explanation, which assessors answer before their first question.
    order
        What to trust where a run has both: score or rank.
    encoding
        The encoding of text files.
    artist
        The column of the metadata that holds the artist.
    genre
        The column of the metadata that holds the genre.
    attributes
        Further columns of the metadata to make features of.
    missing
        A query that a system did not answer: zero, count it as an empty list, or drop, leave it out for all systems.
    """

    section: ClassVar[str] = "inputs"

    runs: tuple[InputFile, ...] = declare(several(input_file, "files", least=1))
    metadata: InputFile | None = declare(input_file, None, example='"metadata.csv"')
    teams: InputFile | None = declare(input_file, None, example='"teams.csv"')
    content: InputFile | None = declare(input_file, None, example='"content.npy"')
    content_ids: InputFile | None = declare(input_file, None, example='"content.ids.txt"')
    model: InputFile | None = declare(input_file, None, example='"model.json"')
    predictions: InputFile | None = declare(input_file, None, example='"predictions.csv"')
    candidates: InputFile | None = declare(input_file, None, example='"pairs.csv"')
    traps: InputFile | None = declare(input_file, None, example='"traps.csv"')
    consent: InputFile | None = declare(input_file, None, example='"consent.md"')
    media_map: InputFile | None = declare(input_file, None, example='"media.csv"')
    questionnaire: InputFile | None = declare(input_file, None, example='"questionnaire.toml"')
    training: InputFile | None = declare(input_file, None, example='"training.csv"')
    order: Literal["score", "rank"] = declare(choice("score", "rank"), "score")
    encoding: str = declare(encoding, "utf-8")
    artist: str | None = declare(text, None, example='"artist"')
    genre: str | None = declare(text, None, example='"genre"')
    attributes: tuple[str, ...] = declare(several(text, "columns"), ())
    missing: Literal["zero", "drop"] = declare(choice("zero", "drop"), "zero")

    def files(self) -> Iterator[tuple[Key, InputFile]]:
        """Go through all files, each with its key in campaign.toml: ``("inputs", "runs", 0)`` is the first run."""
        for place, run in enumerate(self.runs):
            yield ("inputs", "runs", place), run
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, InputFile):
                yield ("inputs", one.name), value


@dataclass(frozen=True, kw_only=True)
class Judging(Section):
    """What people are asked, and how the work is shared among them.

    Parameters
    ----------
    scale
        What documents are judged on: binary, broad, fine, a range such as 0..3 or 0.0..1.0, or gains such as 0,1,3,7.
    also
        A second scale that the same question is answered on too, such as broad beside fine. It is kept with the answer
        and does not count.
    judgments_per_item
        How many people answer the same question.
    more_on_disagreement
        How many more are asked where they disagree.
    disagreement
        They disagree where the lowest and the highest gain differ by more than this share of the top gain.
    group_by_query
        Ask about one query after the other, for when listening to the query is half of the work.
    answers_per_assessor
        The most answers one person may give; no limit where this is left out.
    lease_minutes
        How long a question stays reserved for the person who sees it.
    package_days
        How long the questions in a file stay reserved for the person who fills it in.
    unplayable_after
        A document leaves the collection once this many different people reported that it does not play.
    allow_same
        Whether people may answer that two documents are the same, in a campaign of kind prefer.
    """

    section: ClassVar[str] = "judging"

    scale: str | None = declare(_scale, None, example='"broad"')
    also: str | None = declare(_scale, None, example='"fine"')
    judgments_per_item: int = declare(whole(1), 1)
    more_on_disagreement: int = declare(whole(0), 2)
    disagreement: float = declare(number(0, 1, share=True), 0.5)
    group_by_query: bool = declare(yes_or_no, False)
    answers_per_assessor: int | None = declare(whole(1), None, example="200")
    lease_minutes: float = declare(number(0, above=True), 10.0)
    package_days: float = declare(number(0, above=True), 14.0)
    unplayable_after: int = declare(whole(1), 2)
    allow_same: bool = declare(yes_or_no, True)


@dataclass(frozen=True, kw_only=True)
class Traps(Section):
    """Questions whose answers are known, hidden among the others, to find out who does not listen.

    Parameters
    ----------
    rate
        The share of questions that are traps: a number or a fraction in quotes. 0 for none.
    sources
        Where traps come from: agreed, items that several people judged alike; self, a document beside itself; list, the
        file traps of [inputs].
    agreed_by
        How many people must have judged an item alike before it becomes a trap.
    tolerance
        How far from the expected gain an answer may be, as a share of the top gain.
    reject_after
        Nobody is rejected before this many answers.
    reject_below
        Whoever has fewer than this share of traps right is rejected, and their items are asked again.
    """

    section: ClassVar[str] = "traps"

    rate: float = declare(number(0, 0.5, share=True), 1 / 6)
    sources: tuple[str, ...] = declare(several(choice("agreed", "self", "list"), "sources"), ("agreed", "self"))
    agreed_by: int = declare(whole(2), 2)
    tolerance: float = declare(number(0, 1, share=True), 0.25)
    reject_after: int = declare(whole(1), 100)
    reject_below: float = declare(number(0, 1, share=True), 0.65)


@dataclass(frozen=True, kw_only=True)
class Estimates(Section):
    """How systems are compared, what is judged next and when to stop.

    Parameters
    ----------
    measure
        What systems are compared by, such as AG@5 or nDCG@10. The command 'earmark measures' lists them all.
    depth
        How many ranks of a list count in a campaign of kind prefer, order or lists.
    predictor
        What predicts unjudged items: hierarchical, ordinal, forest, boosted, conditional-tree, conditional-forest,
        mtc-output, mtc-judge, uniform or external.
    predictor_version
        The version of the predictor that the campaign was started with. Another one is refused until it is named here.
    policy
        What to judge next, such as variance, proportional or mtc; adaptive, told-apart or random for kind prefer.
    stop
        When to stop, which follows from what you want to know. Which system is the best: best:0.95:0.02, a confidence
        and a difference that does not matter. The order of all systems: order:0.95:0.02. Which systems are better than
        one: baseline:NAME:0.95:0.02. Also mean:0.95 or min:0.95, the mean or the least confidence over pairs of
        systems; decided:0.9, the share of decided pairs; top:3; width:0.05; budget:500 judgments; none; or several with
        ' or ' between them.
    margin
        A difference of scores that does not matter, in place of that of the stop rule.
    when_reached
        What happens when the stop rule is reached: ask, questions go on until you close the campaign or change the
        rule; stop, no more questions are given out. A budget that is used up always stops.
    inference
        What verdicts rest on: model, the predictions, or design, a sample with known probabilities.
    target
        What verdicts are about: sample, these queries, or population, queries like these.
    anytime
        Widen all statements so that they hold however often you look.
    whole_queries
        Sample whole queries instead of items.
    audit
        The share of judgments that follow a sample with known probabilities, whatever the policy.
    level
        The probability that an interval holds.
    samples
        How often gains are drawn for a measure that is no weighted sum of them, such as nDCG.
    seed
        The seed of random numbers.
    aggregation
        How to make one gain of what several people said about the same item: mean, median or majority.
    """

    section: ClassVar[str] = "estimates"

    measure: str | None = declare(parsed(parse, 'a measure such as "AG@5"'), None, example='"AG@5"')
    depth: int = declare(whole(1), 20)
    predictor: str = declare(_predictor, "hierarchical")
    predictor_version: str | None = declare(text, None, example='"hierarchical 2, prior ..."')
    policy: str | None = declare(text, None, example='"variance"')
    stop: str = declare(_stop, str(stop_rule()))
    margin: float = declare(number(0), 0.0)
    when_reached: Literal["ask", "stop"] = declare(choice("ask", "stop"), "ask")
    inference: Literal["model", "design"] = declare(choice("model", "design"), "model")
    target: Literal["sample", "population"] = declare(choice("sample", "population"), "sample")
    anytime: bool = declare(yes_or_no, False)
    whole_queries: bool = declare(yes_or_no, False)
    audit: float = declare(number(0, 1, share=True), 0.0)
    level: float = declare(number(0, 1, above=True, below=True, share=True), 0.95)
    samples: int = declare(whole(2), 1000)
    seed: int = declare(whole(0), 0)
    aggregation: Literal["mean", "median", "majority"] = declare(choice("mean", "median", "majority"), "mean")


@dataclass(frozen=True, kw_only=True)
class People(Section):
    """The people who judge.

    Parameters
    ----------
    retention_days
        Names and addresses are erased this many days after the campaign is closed; never where this is left out.
    address
        What the links in invitations start with.
    hosts
        Further names by which the server may be reached. It always answers to IP addresses, localhost, the name of its
        computer and the name in the address.
    """

    section: ClassVar[str] = "people"

    retention_days: int | None = declare(whole(1), None, example="365")
    address: str = declare(address, "http://127.0.0.1:8000")
    hosts: tuple[str, ...] = declare(several(host_name, "names of hosts"), (), example='["judge.example.org"]')


@dataclass(frozen=True, kw_only=True)
class Media(Section):
    """What people hear and see.

    Parameters
    ----------
    folder
        Where the sounds and pictures are, named after queries and documents. They are never changed.
    format
        The format in which sound is served: mp3, flac or wav.
    start
        At which second of a long song the excerpt begins.
    seconds
        How long the excerpt is.
    loudness
        How loud excerpts are, in LUFS.
    """

    section: ClassVar[str] = "media"

    folder: str | None = declare(text, None, example='"songs"')
    format: Literal["mp3", "flac", "wav"] = declare(choice("mp3", "flac", "wav"), "mp3")
    start: float = declare(number(0), 60.0)
    seconds: float = declare(number(0, above=True), 30.0)
    loudness: float = declare(number(-70, 0), -23.0)


@dataclass(frozen=True, kw_only=True)
class Pages(Section):
    """The pages on which people judge.

    Parameters
    ----------
    title
        What assessors see as the name of the campaign; the name of the campaign where this is left out.
    language
        The language of the pages: en or es. Assessors may choose another one.
    question
        What is asked, in your own words, such as "How similar are the two songs?".
    instructions
        What assessors read before they start; an empty line begins a new paragraph.
    labels
        What the levels of the scale are called, the lowest first; of a slider, what its two ends are called.
    also_labels
        The same for the second scale.
    minimum_seconds
        For how many seconds every sound has to be heard before an answer is accepted.
    pause_after
        After this many answers in a row a pause is suggested; 0 for never.
    sound_check
        Whether assessors check their loudspeakers and set the level before the first question.
    show_titles
        Whether the titles of the media map are shown; what people know about a song changes what they hear.
    strengths
        In how many steps people say by how much one of two documents is better; 0 to not ask.
    comments
        Whether assessors may write a comment about a question.
    hide_ranking
        Whether the page of the organiser hides the ranking until the campaign is closed.
    look_early
        Whether the page of the organiser shows intervals that are valid for one look only, while there are none yet
        that stay valid however often one looks.
    thanks
        What assessors read at the end.
    """

    section: ClassVar[str] = "pages"

    title: str | None = declare(text, None, example='"Which songs are alike?"')
    language: Literal["en", "es"] = declare(choice("en", "es"), "en")
    question: str | None = declare(text, None, example='"How similar are the two songs?"')
    instructions: str | None = declare(text, None, example='"Listen to both songs, then say how similar they are."')
    labels: tuple[str, ...] = declare(several(text, "labels"), ())
    also_labels: tuple[str, ...] = declare(several(text, "labels"), ())
    minimum_seconds: float = declare(number(0), 3.0)
    pause_after: int = declare(whole(0), 30)
    sound_check: bool = declare(yes_or_no, True)
    show_titles: bool = declare(yes_or_no, False)
    strengths: int = declare(whole(0), 5)
    comments: bool = declare(yes_or_no, True)
    hide_ranking: bool = declare(yes_or_no, False)
    look_early: bool = declare(yes_or_no, False)
    thanks: str | None = declare(text, None, example='"Thank you for listening."')


@dataclass(frozen=True, kw_only=True)
class Recruiting(Section):
    """People who come from a platform and are paid.

    Parameters
    ----------
    platform
        Where people come from: none, by your own links; prolific; mturk, Mechanical Turk.
    answers_per_assignment
        How many answers one paid assignment consists of.
    reward
        What is paid for an assignment.
    currency
        In which currency.
    hourly_rate
        The least that an hour of work is to be paid; pages and files say where the reward amounts to less.
    seconds_per_answer
        How long an answer is expected to take, before anybody has answered.
    completion_url
        Where Prolific wants people to be sent at the end.
    completion_code
        The code that people enter at Prolific, where there is no such address.
    submit_hosts
        The only addresses that finished work is sent to, for Mechanical Turk.
    """

    section: ClassVar[str] = "recruiting"

    platform: Literal["none", "prolific", "mturk"] = declare(choice("none", "prolific", "mturk"), "none")
    answers_per_assignment: int = declare(whole(1), 20)
    reward: float = declare(number(0), 0.0)
    currency: str = declare(text, "USD")
    hourly_rate: float | None = declare(number(0), None, example="12")
    seconds_per_answer: float = declare(number(0, above=True), 30.0)
    completion_url: str | None = declare(
        address, None, example='"https://app.prolific.com/submissions/complete?cc=C1234567"'
    )
    completion_code: str | None = declare(text, None, example='"C1234567"')
    submit_hosts: tuple[str, ...] = declare(
        several(address, "addresses"), ("https://www.mturk.com", "https://workersandbox.mturk.com")
    )


@dataclass(frozen=True, kw_only=True)
class Store(Section):
    """Where answers are kept.

    Parameters
    ----------
    url
        The database, such as postgresql://user@server/database, without a password; the file campaign.db in this folder
        where this is left out.
    """

    section: ClassVar[str] = "store"

    url: str | None = declare(store_url, None, example='"postgresql://user@server/database"')


SECTIONS: dict[str, type[Any]] = {
    section.section: section for section in (Inputs, Judging, Traps, Estimates, People, Media, Pages, Recruiting, Store)
}
