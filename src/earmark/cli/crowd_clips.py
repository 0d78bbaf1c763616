"""``earmark crowd clips``: what a crowd listens to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output, number
from earmark.wording import counted

EXAMPLES = options.examples(
    "earmark crowd clips songs/*.flac -o clips",
    "earmark crowd clips songs/*.wav -o clips --start 45 --seconds 20 --ending .ogg",
)


def clips(
    recordings: Annotated[
        list[Path],
        typer.Argument(metavar="RECORDING", help="Recordings, one file or more.", show_default=False),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="An existing folder for the clips, each under the name of its recording.",
            show_default=False,
        ),
    ],
    start: Annotated[
        float, typer.Option("--start", metavar="SECONDS", min=0.0, help="Where clips start in the recording.")
    ] = 60.0,
    seconds: Annotated[float, typer.Option("--seconds", metavar="SECONDS", help="How long clips last.")] = 30.0,
    fade: Annotated[
        float,
        typer.Option("--fade", metavar="SECONDS", min=0.0, help="How long they fade in, and out, so as not to click."),
    ] = 0.005,
    ending: Annotated[
        str, typer.Option("--ending", metavar="ENDING", help="The format of the clips: .wav, .flac or .ogg.")
    ] = ".wav",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Cut clips out of recordings, from minute 1:00 to 1:30 unless told otherwise.

    A recording that ends earlier is cut so that the clip ends where it ends, and one that is shorter than a clip is
    taken whole. Needs soundfile, which comes with the
    extra 'audio'.
    """
    import polars as pl

    from earmark.crowd.clips import cut_clips

    out = Output.choose(format, quiet=quiet)
    cut = cut_clips(recordings, output, ending=ending, start=start, seconds=seconds, fade=fade)
    moved = sum(clip.moved for clip in cut)
    if moved:
        out.note(f"{counted(moved, 'recording')} too short to cut where it was wanted: the end was taken, or all of it")
    if not out.for_people:
        rows = [(str(clip.path), clip.start, clip.end, clip.moved) for clip in cut]
        schema = {"clip": pl.String, "start": pl.Float64, "end": pl.Float64, "moved": pl.Boolean}
        out.rows(pl.DataFrame(rows, schema=schema, orient="row"))
        return
    out.show_columns(
        [Column("clip", [str(clip.path) for clip in cut], numeric=False)],
        [
            Column("from", [number(clip.start, digits=1) for clip in cut]),
            Column("to", [number(clip.end, digits=1) for clip in cut]),
        ],
    )
