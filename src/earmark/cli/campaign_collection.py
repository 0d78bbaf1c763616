"""``earmark add``, ``withdraw``, ``reinstate`` and ``media``: what a campaign is about, changed while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from earmark.cli.campaigns import CampaignPath, opened, print_row
from earmark.cli.command import argument, option
from earmark.cli.output import Output
from earmark.errors import ParameterError

if TYPE_CHECKING:
    from earmark.store.folder import CampaignFolder
    from earmark.store.removals import Removed


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """What leaves a campaign or comes back.

    Parameters
    ----------
    system
        A system: its lists do not count any more.
    query
        A query, for all systems; with --document, this one item.
    document
        A document, for all systems and queries; the documents below it move up.
    assessor
        A person, by name or pseudonym: their answers do not count.
    """

    panel: ClassVar[str] = "What it is about (one of these)"
    system: Annotated[str | None, option("NAME")] = None
    query: Annotated[str | None, option("ID")] = None
    document: Annotated[str | None, option("ID")] = None
    assessor: Annotated[str | None, option("NAME")] = None

    @property
    def names(self) -> dict[str, str]:
        """Return what was named."""
        given = {name: getattr(self, name) for name in ("system", "query", "document", "assessor")}
        named = {name: value for name, value in given.items() if value is not None}
        if not named or (len(named) > 1 and set(named) != {"query", "document"}):
            raise ParameterError("name one of --system, --query, --document and --assessor (--query with --document)")
        return named

    def in_words(self) -> str:
        """Return what was named, for a sentence."""
        return " of ".join(f"{name} '{value}'" for name, value in reversed(self.names.items()))


def add(
    folder: CampaignPath,
    runs: Annotated[list[Path], argument("RUN")],
    out: Output,
    reference: Annotated[bool, option()] = False,
) -> None:
    """Add runs that come late, and ask about what they retrieved.

    Parameters
    ----------
    folder
        The folder of the campaign.
    runs
        The runs of new systems, one file or more.
    reference
        Do not copy files; name them by their paths. They must then stay where they are, as they are.

    Examples
    --------
    earmark add study late.run
    """
    from earmark.wording import counted, listed

    with opened(folder, out) as campaign:
        from earmark.errors import InputError
        from earmark.store.removals import NOTHING
        from earmark.store.status import change_notes, count_questions

        systems, items = campaign.runs(NOTHING).systems, count_questions(campaign.store)
        try:
            after = campaign.add_runs(runs, copy=not reference)
        except InputError as error:
            raise _about_original(error, folder, runs) from None
        with after:
            new = [name for name in after.runs(NOTHING).systems if name not in systems]
            more = count_questions(after.store) - items
            for note in change_notes(after.store.events()):
                out.note(note)
            _note_media(after, out)
            row = {"campaign": str(folder), "added": new, "items": count_questions(after.store), "new_items": more}
            sentence = f"{counted(len(new), 'system')} added: {listed(new) if new else 'none'}; {more:,} more to judge"
            print_row(out, row, sentence)


def withdraw(folder: CampaignPath, chosen: Chosen, reason: Annotated[str, option("TEXT")], out: Output) -> None:
    """Remove a system, a query, a document or a person's answers from the campaign.

    Nothing is deleted: the log keeps every answer, and 'earmark reinstate' brings all of it back. Do not withdraw
    anything because of the answers it got: no guarantee covers that.

    Parameters
    ----------
    folder
        The folder of the campaign.
    reason
        Why, for the log and for 'earmark status'.

    Examples
    --------
    earmark withdraw study --system baseline2 --reason "its index was broken"
    earmark withdraw study --document s0815 --reason "the recording is damaged"
    earmark withdraw study --query q7 --document s0815 --reason "it is the query itself"
    earmark withdraw study --assessor Ann --reason "answered at random"
    """
    _change(folder, chosen, reason, out, back=False)


def reinstate(folder: CampaignPath, chosen: Chosen, out: Output, reason: Annotated[str, option("TEXT")] = "") -> None:
    """Bring back what was withdrawn, with all of its answers.

    Parameters
    ----------
    folder
        The folder of the campaign.
    reason
        Why, for the log and for 'earmark status'.

    Examples
    --------
    earmark reinstate study --system baseline2 --reason "it was another index"
    earmark reinstate study --assessor Ann
    """
    _change(folder, chosen, reason, out, back=True)


def media(
    folder: CampaignPath,
    out: Output,
    media: Annotated[Path | None, option("DIR")] = None,
    media_map: Annotated[Path | None, option("CSV")] = None,
) -> None:
    """Check and prepare the sounds, pictures and texts of a campaign again.

    This is needed after adding runs with new documents, after a restore, and when a campaign gets its first media.
    Files that were prepared before and have not changed are not prepared again.

    Parameters
    ----------
    folder
        The folder of the campaign.
    media
        The folder with the originals. When omitted, the one named in campaign.toml.
    media_map
        A table that says which file belongs to which query or document.

    Examples
    --------
    earmark media study
    earmark media study --media songs
    """
    with opened(folder, out) as campaign:
        from earmark.media import MediaError
        from earmark.store.showing import prepare_shown

        home = campaign.settings.media.folder
        if media is None and media_map is None and home is None:
            raise ParameterError("say where the originals are: --media DIR or --media-map CSV")
        try:
            manifest = prepare_shown(
                folder,
                campaign.settings,
                media=media or (Path(home) if home is not None and media_map is None else None),
                media_map=media_map,
                removed=campaign.removed(),
                bar=lambda total: out.progress(total, "preparing media"),
            )
        except MediaError as error:
            out.print_frame(error.problems, caption="nothing was changed: fix all of these first")
            raise
        # Twins and traps follow from what sounds the same and what can be played.
        campaign.follow_removals(campaign.removed())
        for note in manifest.notes:
            out.note(note)
        parts = sum(len(medium.parts) for medium in manifest.media)
        ids = sum(medium.role != "twin" for medium in manifest.media)
        row = {"campaign": str(folder), "media": ids, "files": parts}
        print_row(out, row, f"{folder}: {parts:,} files of {ids:,} queries and documents are ready")


def _change(folder: Path, chosen: Chosen, reason: str, out: Output, *, back: bool) -> None:
    names = chosen.names
    with opened(folder, out) as campaign:
        from earmark.store.status import change_notes, count_questions

        if chosen.assessor is not None:
            changed = _change_assessor(campaign, chosen.assessor, reason, back=back)
            out.note(
                "guarantees hold as long as nobody's answers were left out because of the gains they gave: traps and "
                "the way people work are good reasons"
            )
        else:
            changed = _change_collection(campaign, chosen, reason, back=back)
            for note in change_notes(campaign.store.events()):
                out.note(note)
        if not changed:
            out.note(f"{chosen.in_words()} was {'in the campaign' if back else 'withdrawn'} before: nothing changed")
        items = count_questions(campaign.store)
        state = "back" if back else "withdrawn"
        fields = dict.fromkeys(("system", "query", "document", "assessor")) | names
        row = {**fields, "state": state, "changed": changed, "items": items}
        said = f"{chosen.in_words()} is {state}; {items:,} questions are in the campaign"
        if chosen.assessor is not None:
            said = f"the answers of {chosen.assessor} {'count again' if back else 'do not count; they are asked again'}"
        print_row(out, row, said)


def _change_assessor(campaign: CampaignFolder, who: str, reason: str, *, back: bool) -> bool:
    from earmark.store.people import find_person

    before = campaign.store.last_sequence
    assessor = find_person(campaign.store, who)
    (campaign.desk.reinstate if back else campaign.desk.reject)(assessor, reason)
    return campaign.store.last_sequence > before


def _change_collection(campaign: CampaignFolder, chosen: Chosen, reason: str, *, back: bool) -> bool:
    before = campaign.removed()
    after = _after(campaign, before, chosen, back=back)
    if after == before:
        return False
    # Nothing is recorded that would leave nothing to estimate from.
    if campaign.settings.kind == "grade":
        campaign.problem(after)
    elif campaign.settings.kind == "prefer":
        campaign.pair_problem(after)
    else:
        campaign.runs(after)
    act = campaign.desk.restore if back else campaign.desk.remove
    act(reason, system=chosen.system, query=chosen.query, document=chosen.document)
    campaign.follow_removals(campaign.removed())
    return True


def _after(campaign: CampaignFolder, before: Removed, chosen: Chosen, *, back: bool) -> Removed:
    """Return what is out of the collection afterwards; what was never in it is refused."""
    from dataclasses import replace

    from earmark.registry import suggest
    from earmark.store.removals import NOTHING

    runs = campaign.runs(NOTHING)
    known = {"system": runs.systems, "query": runs.queries, "document": runs.documents.unique().to_list()}
    for name, value in chosen.names.items():
        if value not in known[name]:
            close = suggest(value, list(known[name]))
            hint = f": did you mean '{close}'?" if close else ""
            raise ParameterError(f"there is no {name} '{value}' in the campaign{hint}")

    def turned(group: frozenset[str], one: str | None) -> frozenset[str]:
        return group if one is None else group - {one} if back else group | {one}

    if chosen.query is not None and chosen.document is not None:
        item = frozenset({(chosen.query, chosen.document)})
        return replace(before, items=before.items - item if back else before.items | item)
    return replace(
        before,
        systems=turned(before.systems, chosen.system),
        queries=turned(before.queries, chosen.query),
        documents=turned(before.documents, chosen.document),
    )


def _note_media(campaign: CampaignFolder, out: Output) -> None:
    """Say which documents have nothing to be played or shown, where others have."""
    from earmark.media import read_manifest
    from earmark.store.showing import shown_ids
    from earmark.wording import counted

    if not (campaign.path / "media" / "manifest.json").is_file():
        return
    have = {(medium.role, medium.id) for medium in read_manifest(campaign.path).media}
    queries, documents = shown_ids(campaign.path, campaign.settings, campaign.removed())
    lacking = [*(("query", one) for one in queries), *(("document", one) for one in documents)]
    missing = [one for one in lacking if one not in have]
    if missing:
        what = counted(len(missing), "query or document", "queries and documents")
        out.note(f"{what} can not be played yet: 'earmark media {campaign.path}' prepares them")


def _about_original(error: Exception, folder: Path, runs: list[Path]) -> Exception:
    """Name the file that was given in a message about its copy, which is gone."""
    from earmark.errors import InputError
    from earmark.store.inputs import FOLDER

    if not isinstance(error, InputError) or error.path is None or Path(error.path).parent != folder / FOLDER:
        return error
    original = next((run for run in runs if run.name == Path(error.path).name), None)
    path = original or Path(error.path)
    return InputError(expected=error.expected, got=error.got, path=path, line=error.line, hint=error.hint)
