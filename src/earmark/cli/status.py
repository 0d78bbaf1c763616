"""``earmark status``: where a campaign stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from earmark.cli.campaigns import CampaignPath, local_times, opened, show_facts, shown_setting
from earmark.cli.command import option
from earmark.cli.output import NOTHING, Column, Output
from earmark.wording import in_percent

if TYPE_CHECKING:
    import polars as pl

# The names that scripts rely on come first.
_FIRST = ("judged", "items", "answers", "assessors", "pending", "mean_confidence", "stop", "reason", "version")
_RECENT = 6
_IN_WORDS = {
    "paused": "paused",
    "resumed": "resumed",
    "stopped": "stopped",
    "closed": "closed",
    "opened": "opened again",
    "imported": "answers imported",
    "erased": "an identity was erased",
    "rejected": "answers of an assessor do not count",
    "reinstated": "answers of an assessor count again",
}


def status(folder: CampaignPath, out: Output, assessors: Annotated[bool, option()] = False) -> None:
    """Show where a campaign stands: answers, people, confidence, and whether to stop.

    Parameters
    ----------
    folder
        The folder of the campaign.
    assessors
        Print one row per assessor instead: answers, traps, what is pending and whether the answers count.

    Examples
    --------
    earmark status study
    earmark status study --assessors --format csv
    """
    import polars as pl

    with opened(folder, out) as campaign_folder:
        from earmark.store.status import assessors_of, status_of
        from earmark.store.stored import read_stored

        people = assessors_of(campaign_folder.store)
        if assessors:
            _print_people(people, out)
            return
        campaign = read_stored(campaign_folder)
        found = status_of(campaign)
        history = changes(campaign.log.frame)
        found["changes"] = [f"{time}: {what}" for time, what in zip(local_times(history), history["what"], strict=True)]
        notes = found["notes"]
        row = {name: found[name] for name in (*_FIRST, *(name for name in found if name not in _FIRST))}
        if not out.for_people:
            out.rows(pl.DataFrame([row], schema_overrides={"notes": pl.List(pl.String), "changes": pl.List(pl.String)}))
            return
        show_facts(out, _facts(found, campaign_folder.settings), title=found["name"])
        if people.height:
            out.show("")
            _print_people(people, out)
        if history.height:
            out.show("")
            shown = history.tail(_RECENT)
            frame = pl.DataFrame({"when": local_times(shown), "what": shown["what"]})
            more = history.height - shown.height
            out.show_frame(frame, {"when": "changes", "what": ""}, caption=f"{more:,} earlier ones" if more else "")
        for note in notes:
            out.note(note)
        out.say_notes()


def _print_people(people: pl.DataFrame, out: Output) -> None:
    """Print one row per assessor, the most answers first."""
    if not out.for_people:
        out.rows(people)
        return
    right = [
        f"{right:,} of {count:,}" if count else NOTHING for right, count in people.select("traps_right", "traps").rows()
    ]
    out.show_columns(
        [Column("assessor", [name or NOTHING for name in people["name"]], numeric=False)],
        [
            Column("pseudonym", people["assessor"].to_list(), numeric=False),
            Column("answers", [f"{count:,}" for count in people["answers"]]),
            Column("traps right", right),
            Column("pending", [f"{count:,}" for count in people["pending"]]),
            Column("state", people["state"].to_list(), numeric=False),
        ],
    )


def _facts(found: dict[str, Any], settings: Any) -> dict[str, str]:
    """Return what people want to know, in words."""
    items = {"grade": "items", "prefer": "pairs", "order": "queries", "lists": "pairs of lists"}[found["kind"]]
    share = f" ({found['judged'] / found['items']:.0%})" if found["items"] else ""
    mean, least = found["mean_confidence"], found["min_confidence"]
    on_average = f"{in_percent(mean)} on average over pairs of systems"
    confidence = "too little is judged to tell" if mean is None else on_average
    if least is not None:
        confidence += f", {in_percent(least)} at least"
    reason = found["reason"]
    facts = {
        "state": found["state"] + (f" ({found['state_reason']})" if found["state_reason"] else ""),
        "judged": f"{found['judged']:,} of {found['items']:,} {items}{share}",
        "answers": f"{found['answers']:,}" + (f", and {found['late']:,} too late to count" if found["late"] else ""),
        "pending": f"{found['pending']:,} questions are with assessors" if found["pending"] else "nothing",
        "confidence": confidence,
        "stop": ("yes: " if found["stop"] else _not_yet(settings.estimates.stop)) + (reason or "no answers"),
        "left out": f"{found['removed']:,} {items} left the collection" if found["removed"] else "",
        "store": found["store"],
    }
    if found["kind"] == "order":
        # Experts agree or do not; no system is compared with another.
        facts["confidence"] = ""
    facts["concluded"] = found["said"] or ""
    return {name: text for name, text in facts.items() if text}


def _not_yet(stop: str) -> str:
    return "not yet: " if stop == "none" else f"not yet, until {stop}: "


def changes(events: pl.DataFrame) -> pl.DataFrame:
    """Return what the organiser changed, and when: ``time`` and ``what``."""
    import polars as pl

    told = events.filter(pl.col("kind").is_in([*_IN_WORDS, "changed", "added", "removed", "restored"]))
    what = [_in_words(row) for row in told.iter_rows(named=True)]
    return told.select("time").with_columns(what=pl.Series(what, dtype=pl.String))


def _in_words(event: dict[str, Any]) -> str:
    kind, text = event["kind"], event["text"] or ""
    if kind == "changed":
        told = json.loads(text)
        return f"{told['setting']} changed from {_shown(told['from'])} to {_shown(told['to'])}"
    if kind == "added":
        return f"runs added: {', '.join(json.loads(text)['systems'])}"
    if kind == "imported":
        counts = json.loads(text)
        return f"imported {event['source']}: {counts['new']:,} new, {counts['corrected']:,} corrected"
    reason = f" ({text})" if text else ""
    if kind in ("removed", "restored"):
        what = " of ".join(
            f"{name} '{event[name]}'" for name in ("system", "document", "query") if event[name] is not None
        )
        return f"{what} {'left the collection' if kind == 'removed' else 'came back'}{reason}"
    who = f": {event['assessor']}" if event["assessor"] else ""
    return f"{_IN_WORDS[kind]}{who}{reason}"


def _shown(value: Any) -> str:
    return shown_setting(value) or "nothing"
