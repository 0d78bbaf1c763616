"""The log of answers: everything that happened in a campaign, append-only, and what follows from it.

The log is the truth; the current judgments, the answers of several assessors and the questions that are out are derived
from it. An event is never changed or removed: a correction, a withdrawal or a changed setting is another event.

==================  ====================================================================================================
kind                what happened
==================  ====================================================================================================
``asked``           an assessor got a question and may answer it until ``expires`` (a lease)
``answered``        an assessor gave an item a gain, or chose between a document and another one
``skipped``         an assessor did not want to answer
``unplayable``      the document could not be played or shown
``commented``       an assessor said something about an item, or about the campaign
``withdrawn``       an assessor's earlier answers about an item, or all of them if no item is named, do not count
``invited``         an assessor joined
``rejected``        the answers of an assessor do not count
``reinstated``      they count again
``late``            an answer came after its lease had ended and the item had got all its answers: kept, not counted
``returned``        a question came back without an answer: its assessor gave it back, or its lease ended (``expired``)
``consented``       an assessor agreed to the consent text whose version ``text`` names
``started``         an assessor began a piece of paid work or went on with it, whose number ``text`` names
``erased``          the identity of an assessor was erased; the answers stay under the pseudonym
``changed``         a setting of the campaign changed; ``text`` says which and to what
``imported``        answers came from a file, which ``source`` names
``added``           runs came late, from the file that ``source`` names
``removed``         a system, a query, a document or an item left the collection, for the reason in ``text``
``restored``        it came back
``paused``          no questions are given out for now
``resumed``         questions are given out again
``stopped``         the stop rule was reached; ``text`` says how
``closed``          the campaign ended
``opened``          the campaign goes on after it was closed
==================  ====================================================================================================

The rule for several answers about one item is that of :func:`~earmark.data.judgments.current_answers`: the same
assessor's later answer replaces the earlier one, and answers of different assessors are all kept.

Events without a ``sequence`` come from tables that do not tell an order. They precede all others, in a canonical
order: by time where there is one, then by query, document, assessor and gain. So the order of rows and of files
changes nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, get_args

import polars as pl

from earmark.data.display import Display, DisplayTable, Summary
from earmark.data.judgments import UNNAMED, Judgments, current_answers
from earmark.data.scales import Scale
from earmark.errors import InputError, ParameterError
from earmark.wording import counted

Kind = Literal[
    "asked",
    "answered",
    "skipped",
    "unplayable",
    "commented",
    "withdrawn",
    "invited",
    "rejected",
    "reinstated",
    "late",
    "returned",
    "consented",
    "started",
    "erased",
    "changed",
    "imported",
    "added",
    "removed",
    "restored",
    "paused",
    "resumed",
    "stopped",
    "closed",
    "opened",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
SAME_SOUND = "same sound as "
"""How the source of an answer begins that was given about another document."""
A_TABLE = "judgments"
"""The source of judgments that came as a table of which nothing else is known."""
_UTC = pl.Datetime("us", "UTC")
SCHEMA: dict[str, Any] = {
    "sequence": pl.Int64,
    "kind": pl.String,
    "time": _UTC,
    "assessor": pl.String,
    "query": pl.String,
    "document": pl.String,
    "other": pl.String,
    "system": pl.String,
    "gain": pl.Float64,
    "choice": pl.String,
    "strength": pl.Float64,
    "sampled": pl.Boolean,
    "expected": pl.String,
    "source": pl.String,
    "key": pl.String,
    "expires": _UTC,
    "text": pl.String,
}
"""The columns of a log and their types.

``key`` is made by the client: an event with a known key is not added again. ``expected`` is the answer that a trap
expects; answers with it say something about their assessor and never count as judgments.
"""

_CANONICAL = ("time", "query", "document", "other", "assessor", "kind", "gain", "choice", "strength")
_ITEM = ("query", "document", "other")
# What stands in a column that a table lacks.
_ABSENT = {
    name: pl.lit(False if dtype == pl.Boolean else None, dtype=dtype).alias(name) for name, dtype in SCHEMA.items()
}
_REJECTING = ("rejected", "reinstated")
# What an event of a kind has to name.
_NEEDED: dict[str, tuple[str, ...]] = {
    "asked": ("query", "document", "assessor"),
    "answered": ("query", "document"),
    "skipped": ("query", "document", "assessor"),
    "unplayable": ("query", "document"),
    "withdrawn": ("assessor",),
    "invited": ("assessor",),
    "rejected": ("assessor",),
    "reinstated": ("assessor",),
    "late": ("query", "document", "assessor"),
    "returned": ("query", "document", "assessor"),
    "consented": ("assessor", "text"),
    "started": ("assessor", "text"),
    "erased": ("assessor",),
    "changed": ("text",),
    "imported": ("source",),
    "added": ("source",),
}


@dataclass(frozen=True, eq=False, repr=False)
class AnswerLog(Display):
    """Events in the order in which they happened; immutable, as adding events makes another log.

    Parameters
    ----------
    chunks : tuple of polars.DataFrame
        Events with the columns of `SCHEMA`, as :meth:`with_events` adds them; a log starts empty.

    Examples
    --------
    >>> log = AnswerLog().with_events({"kind": "answered", "query": "q", "document": "d", "gain": 1.0})
    >>> log = log.with_events({"kind": "answered", "query": "q", "document": "d", "gain": 2.0})
    >>> log.answers["gain"].to_list(), len(log)
    ([2.0], 2)
    """

    chunks: tuple[pl.DataFrame, ...] = ()

    @classmethod
    def from_judgments(cls, judgments: Judgments, *, source: str | None = None) -> AnswerLog:
        """Make a log of a table of judgments; negative gains, which mean unjudged, are left out.

        A table that says which items were sampled answers questions of a campaign; of any other one nobody knows how
        its items were chosen, and its answers name a source.
        """
        if source is None and "sampled" not in judgments.frame.columns:
            source = A_TABLE
        # The key of a question in a work package is none of the event.
        frame = judgments.frame.filter(pl.col("gain") >= 0).drop("key", strict=False)
        return cls().with_table(frame.with_columns(kind=pl.lit("answered"), source=pl.lit(source, dtype=pl.String)))

    def with_table(self, frame: pl.DataFrame) -> AnswerLog:
        """Add the rows of a table as events; rows without a ``sequence`` have no order among each other.

        Raises
        ------
        InputError
            If a row is no event.
        """
        events = _typed(frame)
        kinds = _check(events)
        if "key" in frame.columns:
            events = self._without_known_keys(events)
        if not events.height:
            return self
        after = AnswerLog((*self.chunks, events))
        # Known without going through all events again.
        last = events["sequence"].max()
        after.__dict__["next_sequence"] = max(self.next_sequence, 1 + last if isinstance(last, int) else 1)
        if not kinds.intersection(_REJECTING):
            after.__dict__["rejected"] = self.rejected
        return after

    def with_events(self, *events: dict[str, Any]) -> AnswerLog:
        """Add events that follow all events so far; those whose ``key`` is known are left out.

        Parameters
        ----------
        *events : dict
            By the columns of `SCHEMA`; the sequence is given here.
        """
        if not events:
            return self
        unknown = sorted({name for event in events for name in event} - set(SCHEMA))
        if unknown:
            raise ParameterError(f"an event has no '{unknown[0]}': there are {', '.join(SCHEMA)}")
        first = self.next_sequence
        rows = [{**event, "sequence": first + place} for place, event in enumerate(events)]
        return self.with_table(pl.DataFrame(rows, schema_overrides=SCHEMA, infer_schema_length=None))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All events in order: those without a sequence first, in canonical order."""
        together = pl.concat(self.chunks) if self.chunks else pl.DataFrame(schema=SCHEMA)
        return together.sort(["sequence", *_CANONICAL], nulls_last=False, maintain_order=True)

    @cached_property
    def next_sequence(self) -> int:
        """The sequence number of the next event."""
        last = [chunk["sequence"].max() for chunk in self.chunks]
        return 1 + max((one for one in last if isinstance(one, int)), default=0)

    def __len__(self) -> int:
        return sum(chunk.height for chunk in self.chunks)

    @cached_property
    def rejected(self) -> frozenset[str]:
        """The assessors whose answers do not count."""
        told = self.frame.filter(pl.col("kind").is_in(_REJECTING))
        last = told.group_by("assessor", maintain_order=True).agg(pl.col("kind").last())
        return frozenset(last.filter(pl.col("kind") == "rejected")["assessor"])

    @cached_property
    def answers(self) -> pl.DataFrame:
        """The answers that count, in order: the last of every assessor about an item, unless withdrawn or rejected."""
        events = self.frame.with_row_index("place")
        given = events.filter(pl.col("kind") == "answered", pl.col("expected").is_null())
        if self.rejected:
            given = given.filter(~pl.col("assessor").is_in(list(self.rejected)).fill_null(False))
        taken_back = events.filter(pl.col("kind") == "withdrawn")
        if taken_back.height:
            given = _without_withdrawn(given, taken_back)
        # The place in the log decides, so that times and sequences mean the same here as in the frame.
        known = pl.col("sequence").is_not_null() | pl.col("time").is_not_null()
        ordered = given.with_columns(sequence=pl.col("place").cast(pl.Int64), known=known)
        pairs = ordered.filter(pl.col("other").is_not_null())
        items = current_answers(ordered.filter(pl.col("other").is_null()))
        if pairs.height:
            latest = pairs.unique(["query", "document", "other", "assessor"], keep="last", maintain_order=True)
            items = pl.concat([items, latest]).sort("place")
        return items.drop("place")

    @cached_property
    def from_outside(self) -> pl.DataFrame:
        """``query`` and ``document`` of the items with answers from tables: who chose them is not known."""
        source = pl.col("source")
        outside = self.answers.filter(source.is_not_null(), ~source.str.starts_with(SAME_SOUND), ~pl.col("sampled"))
        return outside.select("query", "document").unique()

    def without_last(self, n: int) -> AnswerLog | None:
        """Return the log as it was before the last n answers that count; None where nothing tells their order."""
        places = self.answers.filter("known")["sequence"].sort()
        if not places.len():
            return None
        return AnswerLog((self.frame.head(places[-min(n, places.len())]),))

    def judgments(self, scale: Scale) -> Judgments | None:
        """Return the current judgments of items, None where there are none.

        Raises
        ------
        InputError
            If a gain is off the scale.
        """
        graded = self.answers.filter(pl.col("gain").is_not_null())
        if not graded.height:
            return None
        told = {"assessor": graded["assessor"].is_not_null(), "time": graded["time"].is_not_null()}
        told |= {"sampled": graded["sampled"], "sequence": graded["known"]}
        graded = graded.with_columns(pl.when("known").then(pl.col("sequence")), pl.col("assessor").fill_null(UNNAMED))
        kept = ["query", "document", "gain", *(name for name, known in told.items() if known.any())]
        gains = graded["gain"]
        if not gains.is_between(0, scale.top).all():
            off = gains.filter(~gains.is_between(0, scale.top))[0]
            raise InputError(expected=f"gains on the scale {scale}", got=f"{off:g}")
        # Means of several assessors' gains, with which recorded judgments may answer, need not be levels.
        return Judgments(graded.select(kept), scale)

    @property
    def position(self) -> int:
        """How many answers count: with the seed, where a campaign's random numbers start."""
        return self.answers.height

    def pending(self, now: datetime) -> pl.DataFrame:
        """Return the questions that are out: ``assessor, query, document, other, expires``.

        A question is out from when it was asked until its assessor answered it, skipped it, gave it back or could not
        play it, or the lease expired.
        """
        who = ["assessor", *_ITEM]
        done = self.frame.filter(pl.col("kind").is_in(["answered", "skipped", "unplayable", "late", "returned"]))
        asked = self.frame.filter(pl.col("kind") == "asked").unique(who, keep="last", maintain_order=True)
        last_done = done.group_by(who).agg(pl.col("sequence").max().alias("done"))
        out = asked.join(last_done, on=who, how="left", nulls_equal=True, maintain_order="left")
        waiting = pl.col("done").is_null() | (pl.col("done") < pl.col("sequence"))
        in_time = pl.col("expires").is_null() | (pl.col("expires") > now)
        return out.filter(waiting, in_time).select(*who, "expires")

    def of_kind(self, *kinds: Kind) -> pl.DataFrame:
        """Return the events of some kinds, in order."""
        return self.frame.filter(pl.col("kind").is_in(kinds))

    @cached_property
    def digest(self) -> str:
        """A hash of all events."""
        return hashlib.sha256(self.frame.write_csv().encode("utf-8", "surrogatepass")).hexdigest()

    def _without_known_keys(self, events: pl.DataFrame) -> pl.DataFrame:
        keyed = events["key"]
        fresh = keyed.is_null() | events.select(pl.col("key").is_first_distinct()).to_series()
        for chunk in self.chunks:
            fresh &= keyed.is_null() | ~keyed.is_in(chunk["key"].drop_nulls().implode())
        return events.filter(fresh)

    def _summary(self) -> Summary:
        """Show the last events."""
        last = self.frame.tail(5)
        some = last.select([name for name in last.columns if last[name].is_not_null().any()])
        return Summary(
            f"{counted(len(self), 'event')}, {counted(self.position, 'answer')} that count", [DisplayTable(some)]
        )


def _without_withdrawn(given: pl.DataFrame, taken_back: pl.DataFrame) -> pl.DataFrame:
    """Leave out answers that their assessor withdrew afterwards: one item, or everything."""
    by_item = taken_back.filter(pl.col("query").is_not_null())
    whole = taken_back.filter(pl.col("query").is_null())
    who = ["assessor", *_ITEM]
    for told, keys in ((by_item, who), (whole, ["assessor"])):
        if told.height:
            last = told.group_by(keys).agg(pl.col("place").max().alias("withdrawn"))
            given = given.join(last, on=keys, how="left", nulls_equal=True, maintain_order="left")
            given = given.filter(pl.col("withdrawn").is_null() | (pl.col("withdrawn") < pl.col("place"))).drop(
                "withdrawn"
            )
    return given


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with all columns of a log, those it lacks being null."""
    columns = []
    for name, dtype in SCHEMA.items():
        if name not in frame.columns:
            columns.append(_ABSENT[name])
        elif dtype == _UTC and frame[name].dtype == pl.String:
            columns.append(pl.col(name).str.to_datetime(time_unit="us", time_zone="UTC", strict=False))
        elif dtype == _UTC and getattr(frame[name].dtype, "time_zone", "UTC") is None:
            columns.append(pl.col(name).dt.replace_time_zone("UTC").dt.cast_time_unit("us"))
        else:
            columns.append(
                pl.col(name).cast(dtype).fill_null(False) if dtype == pl.Boolean else pl.col(name).cast(dtype)
            )
    return frame.select(columns)


def _check(events: pl.DataFrame) -> set[str]:
    """Refuse the first row that is no event; return which kinds of events there are."""
    kinds = events["kind"].unique(maintain_order=True).to_list()
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(expected=f"one of {', '.join(KINDS)} as kind of an event", got=f"'{kind}'")
        of_kind = events if len(kinds) == 1 else events.filter(pl.col("kind") == kind)
        for name in _NEEDED.get(kind, ()):
            if of_kind[name].null_count():
                raise InputError(expected=f"{name} of every event '{kind}'", got="nothing")
        if kind == "answered":
            _check_answers(of_kind)
    return set(kinds)


def _check_answers(answers: pl.DataFrame) -> None:
    choice = answers["choice"]
    if answers["gain"].null_count() and (answers["gain"].is_null() & choice.is_null()).any():
        raise InputError(expected="a gain or a choice in every answer", got="neither")
    # A question about all documents of a query names none.
    alone = choice.is_not_null() & answers["other"].is_null() & (answers["document"] != "")
    if choice.null_count() < choice.len() and alone.any():
        raise InputError(expected="two documents in every choice", got="one")
