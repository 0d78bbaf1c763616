"""``earmark crowd clips``: what a crowd listens to."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from earmark.cli.command import argument, option
from earmark.cli.output import Output
from earmark.wording import counted


def clips(
    recordings: Annotated[list[Path], argument("RECORDING")],
    out: Output,
    output: Annotated[Path, option("FOLDER", "-o")],
    start: Annotated[float, option("SECONDS", min=0.0)] = 60.0,
    seconds: Annotated[float, option("SECONDS")] = 30.0,
    fade: Annotated[float, option("SECONDS", min=0.0, rare=True)] = 0.005,
    ending: Annotated[str, option("ENDING")] = ".wav",
) -> None:
    """Cut clips out of recordings, by default from minute 1:00 to 1:30.

    In a recording that ends earlier, the clip is the last part of the recording; a recording shorter than a clip is
    taken whole. Needs soundfile, which comes with the extra 'audio'.

    Parameters
    ----------
    recordings
        Recordings, one file or more.
    output
        An existing folder for the clips, each under the name of its recording.
    start
        Where clips start in the recording.
    seconds
        How long clips last.
    fade
        How long they fade in, and out, so as not to click.
    ending
        The format of the clips: .wav, .flac or .ogg.

    Examples
    --------
    earmark crowd clips songs/*.flac -o clips
    earmark crowd clips songs/*.wav -o clips --start 45 --seconds 20 --ending .ogg
    """
    import polars as pl

    from earmark.crowd.clips import cut_clips

    cut = cut_clips(recordings, output, ending=ending, start=start, seconds=seconds, fade=fade)
    if moved := sum(clip.moved for clip in cut):
        out.note(f"{counted(moved, 'recording')} too short to cut where it was wanted: the end was taken, or all of it")
    rows = [(str(clip.path), clip.start, clip.end, clip.moved) for clip in cut]
    schema = {"clip": pl.String, "start": pl.Float64, "end": pl.Float64, "moved": pl.Boolean}
    out.print_frame(
        pl.DataFrame(rows, schema=schema, orient="row"),
        {"clip": "clip", "start": "from", "end": "to"},
        formats={"start": ".1f", "end": ".1f"},
    )
