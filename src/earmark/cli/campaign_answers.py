"""``earmark import`` and ``earmark export``: answers into a campaign, and out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from earmark.cli.campaigns import CampaignPath, Naming, What, opened, print_row
from earmark.cli.command import argument, option
from earmark.cli.output import Output


def import_answers(
    folder: CampaignPath,
    files: Annotated[list[Path], argument("FILE")],
    out: Output,
    assessor: Annotated[str | None, option("NAME")] = None,
) -> None:
    """Bring answers from files into a campaign.

    A file is a package that 'earmark next DIR -o FILE' wrote and somebody filled in, or any file of judgments; for kind
    prefer, of preferences. A row that was imported before changes nothing, so a file may be imported again. Another
    answer of the same person replaces the earlier one, which stays in the log. Answers about documents that no system
    retrieved are refused and counted. A gain off the scale is an error, and then nothing of any file is imported.

    Parameters
    ----------
    folder
        The folder of the campaign.
    files
        The answers, one file or more.
    assessor
        Who answered, where the files do not say. When omitted, the person for whom the package was reserved.

    Examples
    --------
    earmark import study batch.csv
    earmark import study ann.csv --assessor Ann
    """
    from earmark.wording import counted

    with opened(folder, out) as campaign:
        from earmark.store.imports import import_files

        found = import_files(campaign, files, assessor=assessor)
        for note in found.notes:
            out.note(note)
        counts = found.counts()
        said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if name != "new")
        print_row(out, counts, f"{counted(found.new, 'new answer')}, {said}")


def export_answers(
    folder: CampaignPath,
    output: Annotated[Path, option("FILE", "-o")],
    out: Output,
    what: Annotated[What, option("WHAT")] = "judgments",
    people: Annotated[Naming, option("HOW")] = "pseudonyms",
) -> None:
    """Write the judgments, all answers, the rankings of experts or the whole log of a campaign to a file.

    In CSV, a text that a spreadsheet would compute (it begins with =, +, -, @ or a tab) gets an apostrophe before it,
    which is taken off when earmark reads the file; JSONL and Parquet hold everything as it is.

    Parameters
    ----------
    folder
        The folder of the campaign.
    output
        The file. The ending names the format: .csv, .parquet or .jsonl; for judgments of kind grade, anything else is
        TREC qrels with one gain per item.
    what
        What to write: judgments, those that count now; answers, all of them, corrected, late and traps included;
        rankings, what experts put into order, for kind order: a file of runs in which every expert is a system,
        without documents after the cut and without queries that one expert alone ranked, as 'earmark crowd groups
        --rankings' takes it; log, every event.
    people
        How assessors are called: pseudonyms; names; or none, which leaves out times, comments and file names too.

    Examples
    --------
    earmark export study -o judgments.qrels
    earmark export study -o answers.csv --what answers --people none
    earmark export study -o rankings.tsv --what rankings
    earmark export study -o log.jsonl --what log
    """
    from earmark.wording import counted

    with opened(folder, out) as campaign:
        from earmark.store.exports import export

        rows = export(campaign, output, what=what, people=people)
        if people == "names" and rows:
            out.note("the file holds the names of people: 'earmark erase' does not reach it")
        row = {"file": str(output), "what": what, "rows": rows, "people": people}
        print_row(out, row, f"{output}: {counted(rows, 'row')} of {what}")
