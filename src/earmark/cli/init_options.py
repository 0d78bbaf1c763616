"""The options of ``earmark init`` about people: what they are asked, and what they hear and see."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from earmark.cli.campaigns import Kind
from earmark.cli.command import option

_PEOPLE = "What people are asked"
_SHOWN = "What people hear and see"


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What people are asked, and how the work is shared.

    Parameters
    ----------
    kind
        What people are asked: grade, how good a document is; prefer, which of two is better; order, in which order
        several belong; lists, which of two lists is better. Kinds order and lists stop by width, budget (of answers) or
        none, which is their rule when --stop is omitted.
    scale
        What documents are judged on, for kind grade: binary, broad, fine, a range such as 0..3 or 0.0..1.0, or gains
        such as 0,1,3,7.
    also
        A second scale to answer the same question on, such as broad beside fine; it is kept and does not count.
    judgments_per_item
        How many people answer the same question: 1 when omitted; 4 for kind order, as with fewer rankings no test can
        tell two documents apart.
    more_on_disagreement
        How many more people are asked where answers disagree.
    group_by_query
        Ask about one query after the other, for when listening to the query is half of the work.
    answers_per_assessor
        The most answers one person may give. No limit when omitted.
    traps
        Questions whose answers are known, hidden among the others: a file of judgments, or for kind prefer of pairs
        with a column trap.
    trap_rate
        The share of questions that are traps, a number or a fraction: 0 for none. Besides the questions of --traps, two
        sources give traps: items that several people judged alike, and a query as its own candidate.
    consent
        The text that assessors agree to before their first question.
    questionnaire
        What assessors are asked about themselves, once: a TOML file with tables [[question]].
    training
        Questions with their right answers, which assessors answer before their first question: a table with the columns
        query, document, gain (or other and choice) and feedback.
    minimum_seconds
        For how many seconds every sound has to be heard before an answer is accepted.
    language
        The language of the pages on which people judge: en or es.
    candidates
        The pairs of documents to ask about, for kind prefer: a table with the columns query, a and b. When omitted,
        every two documents among the first of any lists.
    depth
        How many ranks of a list count, for the kinds prefer, order and lists.
    when_reached
        What happens when the stop rule is reached: ask, people go on until you close the campaign or name another rule;
        stop, they are sent away. A budget that is used up always stops.
    lease_minutes
        How long a question stays reserved for the person who sees it.
    package_days
        How long the questions in a file stay reserved for the person who fills it in.
    retention_days
        Erase names this many days after the campaign is closed. Never when omitted.
    address
        What the links of invitations start with.
    """

    panel: ClassVar[str] = _PEOPLE
    kind: Annotated[Kind, option("KIND")] = "grade"
    scale: Annotated[str | None, option("SCALE")] = None
    also: Annotated[str | None, option("SCALE", rare=True)] = None
    judgments_per_item: Annotated[int | None, option("K", min=1)] = None
    more_on_disagreement: Annotated[int, option("N", min=0, rare=True)] = 2
    group_by_query: Annotated[bool, option()] = False
    answers_per_assessor: Annotated[int | None, option("N", min=1)] = None
    when_reached: Annotated[Literal["ask", "stop"], option("NAME")] = "ask"
    traps: Annotated[Path | None, option("FILE")] = None
    trap_rate: Annotated[str, option("SHARE")] = "1/6"
    consent: Annotated[Path | None, option("FILE")] = None
    questionnaire: Annotated[Path | None, option("FILE", rare=True)] = None
    training: Annotated[Path | None, option("FILE", rare=True)] = None
    minimum_seconds: Annotated[float, option("SEC", min=0, rare=True)] = 3.0
    language: Annotated[Literal["en", "es"], option("NAME", rare=True)] = "en"
    candidates: Annotated[Path | None, option("FILE", rare=True)] = None
    depth: Annotated[int, option("K", "-k", min=1)] = 20
    lease_minutes: Annotated[float, option("MIN", rare=True)] = 10.0
    package_days: Annotated[float, option("DAYS", rare=True)] = 14.0
    retention_days: Annotated[int | None, option("DAYS", min=1, rare=True)] = None
    address: Annotated[str, option("URL", rare=True)] = "http://127.0.0.1:8000"


@dataclass(frozen=True, kw_only=True)
class Showing:
    """What people hear and see.

    Parameters
    ----------
    media
        A folder with the sounds, pictures and texts of queries and documents, named after their ids. All are checked
        before anything is made; they are never changed.
    media_map
        A table that says which file belongs to which query or document, with the columns id and file, and perhaps role,
        text, start, end and title.
    excerpt_start
        At which second of a long recording the excerpt begins.
    excerpt_seconds
        How long the excerpt is.
    loudness
        How loud excerpts are, in LUFS.
    sound_format
        The format in which sound is served: mp3, flac or wav.
    """

    panel: ClassVar[str] = _SHOWN
    media: Annotated[Path | None, option("DIR")] = None
    media_map: Annotated[Path | None, option("CSV")] = None
    excerpt_start: Annotated[float, option("S", rare=True)] = 60.0
    excerpt_seconds: Annotated[float, option("S", rare=True)] = 30.0
    loudness: Annotated[float, option("LUFS", rare=True)] = -23.0
    sound_format: Annotated[Literal["mp3", "flac", "wav"], option("FORMAT", rare=True)] = "mp3"
