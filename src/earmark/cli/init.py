"""``earmark init``: a folder for a campaign that lasts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from earmark.cli.campaign_options import Choosing, Concluding, Estimating, Predicting, Stopping
from earmark.cli.campaigns import CampaignPath, print_row, require_store, say, store_address
from earmark.cli.command import option
from earmark.cli.init_options import Asking, Showing
from earmark.cli.options import ESTIMATING, Aggregation, Inputs, Known, OneMeasure, Seed
from earmark.cli.output import Output
from earmark.errors import EarmarkError, InputError, ParameterError

if TYPE_CHECKING:
    from earmark.store.folder import CampaignFolder
    from earmark.store.settings import Settings

_PLACE = "Where the campaign is kept"
_EXTERNAL = "external:"
_QUESTIONS = {
    "grade": "items to judge",
    "prefer": "pairs to compare",
    "order": "queries to order",
    "lists": "pairs of lists",
}
# Settings whose option has another name.
_OPTIONS = {
    "artist": "artist-column",
    "genre": "genre-column",
    "attributes": "attribute",
    "aggregation": "aggregate",
    "rate": "trap-rate",
    "start": "excerpt-start",
    "seconds": "excerpt-seconds",
    "format": "sound-format",
    "folder": "media",
    "url": "store",
    "predictions": "predictor",
}


def init(
    folder: CampaignPath,
    inputs: Inputs,
    asking: Asking,
    scoring: OneMeasure,
    stopping: Stopping,
    known: Known,
    showing: Showing,
    predicting: Predicting,
    concluding: Concluding,
    estimating: Estimating,
    choosing: Choosing,
    out: Output,
    aggregate: Annotated[Aggregation, option("RULE", panel=ESTIMATING, rare=True)] = "mean",
    seed: Seed = 0,
    name: Annotated[str | None, option("NAME", panel=_PLACE)] = None,
    store: Annotated[str | None, option("URL", panel=_PLACE)] = None,
    reference: Annotated[bool, option(panel=_PLACE)] = False,
) -> None:
    """Make a campaign in a folder: its settings, its inputs and a database of all answers.

    The folder holds campaign.toml, which you may read and edit, copies of all files, and the database of answers. All
    commands that take runs take the folder instead. If anything is wrong, nothing is made.

    Parameters
    ----------
    folder
        The folder to make, which must not exist yet or be empty.
    policy
        What to judge next: variance, proportional, mtc, mtc-undecided, absolute, random or balanced, as in 'earmark
        next'; for kind prefer adaptive, told-apart or random. When omitted, variance; with --inference design and no
        audit, proportional; for kind prefer, adaptive.
    aggregate
        How to make one gain of what several people said about the same item: mean, median or majority.
    name
        What people call the campaign. When omitted, the name of the folder.
    store
        The database, such as postgresql://user@server/database. When omitted, a SQLite file in the folder.
    reference
        Do not copy files; name them by their paths. They must then stay where they are, as they are.

    Examples
    --------
    earmark init study runs.tsv --metadata metadata.csv --scale broad -m AG@5
    earmark init study a.run b.run --scale fine --media songs --judgments-per-item 3 --consent consent.md
    earmark init pairs runs.tsv --kind prefer --depth 5 --media-map media.csv --stop top:1
    earmark init side-by-side runs.tsv --kind lists --depth 5 --stop width:0.2
    earmark init study runs.tsv --scale broad --audit 0.2 --store postgresql://earmark@server/campaigns
    """
    require_store()
    from earmark.media import MediaError
    from earmark.predictors.choose import PredictorChoice
    from earmark.store.declared_settings import SettingError
    from earmark.store.drafts import refuse_taken
    from earmark.store.folder import CampaignFolder
    from earmark.store.inputs import add_inputs
    from earmark.store.sections import EXTERNAL, Estimates
    from earmark.store.settings import Settings
    from earmark.store.showing import prepare_shown

    refuse_taken(folder)
    stop = {"stop": stopping.plain} if asking.kind in ("order", "lists") else stopping.settings()
    address = store_address(store, folder)
    external = predicting.predictor.startswith(_EXTERNAL)
    scale = _scale(asking, PredictorChoice(predicting.predictor, predicting.model, inputs.encoding), out)
    measure = _measure(asking, scoring, inputs, out)
    files = {
        "metadata": known.metadata,
        "teams": known.teams,
        "content": known.content,
        "content_ids": known.content_ids,
        "model": predicting.model,
        "predictions": Path(predicting.predictor.removeprefix(_EXTERNAL)) if external else None,
        "candidates": asking.candidates,
        "traps": asking.traps,
        "consent": asking.consent,
        "questionnaire": asking.questionnaire,
        "training": asking.training,
        "media_map": showing.media_map,
    }
    copies: dict[Path, Path] = {}

    def make_settings(draft: Path) -> Settings:
        copies[draft] = folder
        taken = add_inputs(
            draft,
            runs=inputs.runs,
            copy=not reference,
            files=files,
            order=inputs.order,
            encoding=inputs.encoding,
            artist=known.artist_column,
            genre=known.genre_column,
            attributes=tuple(known.attribute or ()),
            missing=scoring.missing,
        )
        copies.update({draft / copy.file: run for copy, run in zip(taken.runs, inputs.runs, strict=True)})
        copies.update({draft / getattr(taken, one).file: file for one, file in files.items() if file is not None})
        return Settings(
            name=name or folder.resolve().name,
            kind=asking.kind,
            inputs=taken,
            estimates=Estimates(
                measure=measure,
                depth=asking.depth,
                predictor=EXTERNAL if external else predicting.predictor,
                policy=choosing.policy,
                **stop,
                when_reached=asking.when_reached,
                inference=concluding.inference,
                target=concluding.target,
                anytime=concluding.anytime,
                whole_queries=concluding.whole_queries,
                audit=_audit(asking, concluding, choosing.policy) if choosing.audit is None else choosing.audit,
                level=estimating.level,
                samples=estimating.samples,
                seed=seed,
                aggregation=aggregate,
            ),
            **_sections(asking, showing, scale),
        )

    def prepare(draft: Path, settings: Settings) -> Settings:
        if showing.media is not None or showing.media_map is not None:
            manifest = prepare_shown(
                draft,
                settings,
                media=showing.media,
                media_map=showing.media_map,
                bar=lambda total: out.progress(total, "preparing media"),
            )
            for note in manifest.notes:
                out.note(note)
        return settings

    try:
        made = CampaignFolder.create(folder, make_settings, prepare=prepare, store=address)
    except MediaError as error:
        out.print_frame(error.problems, caption="nothing was made: fix all of these first")
        raise
    except SettingError as error:
        raise ParameterError(_as_option(error.setting, str(error))) from None
    except InputError as error:
        raise _about_originals(error, copies) from None
    with made:
        _report(made, out)


def _sections(asking: Asking, showing: Showing, scale: str | None) -> dict[str, Any]:
    """Return the sections about people and what they are shown."""
    from earmark.campaign.order_campaign import ENOUGH_RANKINGS
    from earmark.store.sections import Judging, Media, Pages, People, Traps

    return {
        "judging": Judging(
            scale=scale,
            also=asking.also,
            judgments_per_item=asking.judgments_per_item or (ENOUGH_RANKINGS if asking.kind == "order" else 1),
            more_on_disagreement=asking.more_on_disagreement,
            group_by_query=asking.group_by_query,
            answers_per_assessor=asking.answers_per_assessor,
            lease_minutes=asking.lease_minutes,
            package_days=asking.package_days,
        ),
        "traps": Traps(
            rate=_share(asking.trap_rate), sources=("agreed", "self", *(["list"] if asking.traps is not None else []))
        ),
        "pages": Pages(language=asking.language, minimum_seconds=asking.minimum_seconds),
        "people": People(retention_days=asking.retention_days, address=asking.address),
        "media": Media(
            folder=None if showing.media is None else str(showing.media.resolve()),
            format=showing.sound_format,
            start=showing.excerpt_start,
            seconds=showing.excerpt_seconds,
            loudness=showing.loudness,
        ),
    }


def _report(made: CampaignFolder, out: Output) -> None:
    """Say what was made, and what to do next."""
    from earmark.store.address import PASSWORD
    from earmark.store.removals import NOTHING
    from earmark.store.status import count_questions
    from earmark.wording import counted

    settings, runs, path = made.settings, made.runs(NOTHING), made.path
    if settings.kind == "grade":
        for note in made.problem(NOTHING).notes:
            out.note(note)
    if (path / PASSWORD).is_file():
        out.note(f"the password of the store is kept in {path / PASSWORD}, which only you can read")
    items = count_questions(made.store)
    row = {
        "campaign": str(path),
        "id": settings.id,
        "items": items,
        "queries": len(runs.queries),
        "systems": len(runs.systems),
        "store": made.store.database.shown,
    }
    systems, queries = counted(len(runs.systems), "system"), counted(len(runs.queries), "query", "queries")
    print_row(out, row, f"{path}: {systems}, {queries}, {items:,} {_QUESTIONS[settings.kind]}")
    how = settings.estimates
    until = "until every question is answered" if how.stop == "none" else f"until {how.stop}"
    stop = f" ({how.measure}, {until})" if settings.kind == "grade" else f" ({until})"
    # Rankings and lists are compared where they can be heard.
    command = {"grade": "next", "prefer": "preferences next"}.get(settings.kind)
    judge = f"earmark {command} {path} -o batch.csv, fill it in, earmark import {path} batch.csv"
    say(
        out,
        f"settings: {path}/campaign.toml{stop}; you may edit it",
        *([f"to judge: {judge}"] if command is not None else []),
        f"to judge in the browser and watch: earmark serve {path}",
        f"to invite people: earmark invite {path} NAME",
        f"to see how it goes: earmark status {path}",
    )


def _audit(asking: Asking, concluding: Concluding, policy: str | None) -> float:
    """Return the share of sampled judgments that goes with the policy, where items are graded."""
    from earmark.campaign.policies import make_policy
    from earmark.campaign.problem import usual_audit
    from earmark.campaign.verdict import Inference

    if asking.kind != "grade":
        return 0.0
    return usual_audit(
        make_policy(policy or "variance"), Inference(concluding.inference, whole_queries=concluding.whole_queries)
    )


def _scale(asking: Asking, choice: Any, out: Output) -> str | None:
    """Return the scale; without --scale that of the predictor, where it has one."""
    if asking.scale is not None or asking.kind != "grade":
        return asking.scale
    if not (choice.name.startswith("mtc-") or (choice.name != "hierarchical" and choice.model is not None)):
        raise ParameterError(
            "--scale is missing: it says what documents are judged on, for example --scale broad (0, 1 or 2), "
            "--scale fine (0 to 100) or --scale 0..3"
        )
    scale = str(choice.usual_scale())
    out.note(f"no --scale given: taking {scale}, which the predictor {choice.name} is made for")
    return scale


def _measure(asking: Asking, scoring: OneMeasure, inputs: Inputs, out: Output) -> str | None:
    """Return the measure; without --measure the usual one for the lists, where the kind of campaign needs one."""
    from earmark.campaign.problem import usual_measure

    given = scoring.measure or []
    if len(given) > 1:
        raise ParameterError(f"systems are compared by one measure at a time, got {', '.join(given)}")
    if given or asking.kind != "grade":
        return given[0] if given else None
    said: list[str] = []
    measure = usual_measure(inputs.load(), said)
    for note in said:
        out.note(note)
    return str(measure)


def _share(given: str) -> Any:
    """Return a share as settings take it: a number, or a fraction as text."""
    try:
        return float(given)
    except ValueError:
        return given


def _as_option(setting: str, message: str) -> str:
    """Name options instead of settings in a message."""

    def option_of(name: str) -> str:
        return f"--{_OPTIONS.get(name, name.replace('_', '-'))}"

    rest = re.sub(r"\binputs\.(\w+)", lambda found: option_of(found[1]), message.removeprefix(setting))
    return option_of(setting.rpartition(".")[2]) + rest


def _about_originals(error: InputError, copies: dict[Path, Path]) -> EarmarkError:
    """Name the files that were given in a message about their copies, which are gone."""
    path = None if error.path is None else Path(error.path)
    draft = next(iter(copies), None)
    if path is None or draft is None or draft not in path.parents:
        return error
    if path in copies:
        return InputError(expected=error.expected, got=error.got, path=copies[path], line=error.line, hint=error.hint)
    # Settings that do not fit the files: there is no file to look into.
    return ParameterError(f"{error.got} ({error.hint})" if error.hint else error.got)
