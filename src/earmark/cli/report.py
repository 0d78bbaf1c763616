"""``earmark report``: one HTML file that says who is better, how sure that is, and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from earmark.cli.campaign_options import CampaignOptions, ConcludingByUnit, Estimating, Sampled
from earmark.cli.command import argument, option
from earmark.cli.command_lines import command_line, given_options
from earmark.cli.options import OUTPUT, Inputs, Seed
from earmark.cli.output import Output
from earmark.wording import counted, sentence


@dataclass(frozen=True, kw_only=True)
class ReportInputs(Inputs):
    """The runs, unless the report is about results over time."""

    runs: Annotated[list[Path], argument("RUN")] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ReportOptions(CampaignOptions):
    """The campaign that is reported on."""

    inputs: ReportInputs
    concluding: ConcludingByUnit = field()
    sampled: Sampled = field()
    estimating: Estimating = field()


def report(
    context: typer.Context,
    given: ReportOptions,
    out: Output,
    output: Annotated[Path, option("FILE", "-o", panel=OUTPUT)],
    history: Annotated[Path | None, option("FILE")] = None,
    assets: Annotated[Path | None, option("DIR", panel=OUTPUT)] = None,
    publish: Annotated[Path | None, option("DIR", panel=OUTPUT)] = None,
    seed: Seed = 0,
) -> None:
    """Write a report: the verdict in words, the ranking, every pair of systems, the method, and how to repeat it.

    The page needs no network and no other file, and prints well. Figures need matplotlib (the extra plots). With
    --history it is about results over time in place of runs.

    Parameters
    ----------
    history
        Draw the scores over time that evaluate, compare and rank added to this file with --append. Takes no runs and no
        other options than --output.
    output
        Where to write the report: one HTML file that needs no other.
    assets
        A folder for the tables as CSV and LaTeX and the figures as SVG; it is made if it is not there.
    publish
        A folder for a paper: tables for LaTeX (booktabs) and as CSV, figures as PDF, and README.txt, which says what is
        what; it is made if it is not there.

    Examples
    --------
    earmark report runs.tsv --judgments judgments.tsv -m AG@5 -o report.html
    earmark report runs.tsv -j judgments.csv --metadata metadata.tsv -m nDCG@5 -o report.html --assets paper
    earmark report runs.tsv -j judgments.csv -m AG@5 --inference design --target population -o report.html
    earmark report study -o report.html --publish paper
    earmark report --history results.jsonl -o history.html
    """
    import polars as pl

    from earmark.campaign.statements import say_verdict
    from earmark.cli.folder import kind_of
    from earmark.data.content import content_files
    from earmark.data.judgment_sources import judgment_files
    from earmark.data.outputs import together
    from earmark.errors import ParameterError
    from earmark.plots.style import need_matplotlib
    from earmark.report import Reproduction, gather_findings, versions_here, write_assets, write_report
    from earmark.report import publish as write_publication

    need_matplotlib()
    runs, known = given.inputs.runs, given.known
    if history is not None:
        _report_history(context, out, history, output)
        return
    if not runs:
        raise ParameterError("a report is about runs, the folder of a campaign, or results over time (--history FILE)")
    if kind_of(runs) in ("prefer", "order", "lists"):
        _report_kind(context, out, runs[0], given.estimating.level, output, assets, publish)
        return
    campaign = given.load(out, seed=seed)
    read = _files_of_folder(campaign, runs[0])
    if read is None:
        described = () if known.content is None else content_files(known.content, ids=known.content_ids)
        judged = judgment_files(given.judging.judgments) if given.judging.judgments else ()
        named = (*runs, *judged, known.metadata, *described, known.teams, given.predicting.model)
        read = [(str(path), _digest(path)) for path in named if path is not None]
    findings = gather_findings(campaign, reproduction=Reproduction(command_line(context), read, versions_here()))
    with together():
        written = [output] if assets is None else [output, *write_assets(findings, assets)]
        written += [] if publish is None else write_publication(findings, publish)
        write_report(findings, output)
    said = say_verdict(findings.ranking, findings.forecast)
    if out.for_people:
        out.show(
            said.headline,
            *map(sentence, said.premises),
            *filter(None, (said.summary, said.ahead, said.range_note)),
            *(f"  {path}" for path in written),
        )
        return
    out.rows(pl.DataFrame({"file": [str(path) for path in written], "verdict": [said.headline] * len(written)}))


def _report_history(context: typer.Context, out: Output, history: Path, output: Path) -> None:
    """Write the report of results over time."""
    import polars as pl

    from earmark.data.history import read_history
    from earmark.errors import ParameterError
    from earmark.report import write_history

    also = [name for name in given_options(context) if name not in ("history", "output", "format", "quiet")]
    if also:
        raise ParameterError(f"--history is about runs of the past: leave out {', '.join(also)}")
    records = read_history(history)
    write_history(records, output)
    if out.for_people:
        out.show(f"{counted(len(records), 'run')}, the last at {records[-1].time:%Y-%m-%d %H:%M}", f"  {output}")
        return
    out.rows(pl.DataFrame({"file": [str(output)], "runs": [len(records)]}))


def _report_kind(
    context: typer.Context,
    out: Output,
    path: Path,
    level: float,
    output: Path,
    assets: Path | None,
    publish: Path | None,
) -> None:
    """Write the report of a stored campaign of another kind."""
    import polars as pl

    from earmark.cli import folder, folder_views
    from earmark.data.outputs import together
    from earmark.report import Reproduction, gather_kind, kind_assets, versions_here, write_kind_report
    from earmark.report import publish as write_publication

    wanted = {"estimates.level": level}
    load = {
        "prefer": folder_views.load_stored_pairs,
        "order": folder_views.load_stored_orders,
        "lists": folder_views.load_stored_lists,
    }[folder.read_settings(path).kind]
    campaign = load(out, path, wanted)  # type: ignore[operator]
    read = _files_of_folder(campaign, path) or []
    how = Reproduction(command_line(context), read, versions_here())
    findings = gather_kind(campaign, log=campaign.log, reproduction=how)
    with together():
        written = [output] if assets is None else [output, *kind_assets(findings, assets)]
        written += [] if publish is None else write_publication(findings, publish)
        write_kind_report(findings, output)
    if out.for_people:
        out.show(findings.headline, *(f"  {one}" for one in written))
        return
    out.rows(pl.DataFrame({"file": [str(one) for one in written], "verdict": [findings.headline] * len(written)}))


def _files_of_folder(campaign: Any, path: Path) -> list[tuple[str, str]] | None:
    """Return the inputs of a stored campaign and its log, each with its hash; None where it came from files."""
    folder = getattr(campaign, "folder", None)
    if folder is None:
        return None
    files = [(str(path / file.file), file.sha256) for _, file in folder.settings.inputs.files()]
    return [*files, (f"the log of {path} up to event {campaign.log.next_sequence - 1:,}", campaign.log.digest)]


def _digest(path: Path) -> str:
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
