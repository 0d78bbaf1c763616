"""``earmark features``: what predictions are made from, of runs or of the sound of documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from earmark.cli.command import argument, option
from earmark.cli.options import Depth, Described, Judging, Reading
from earmark.cli.output import Output

if TYPE_CHECKING:
    from earmark.predictors.features import FeatureBuilder

_SOUND = "Sound"


def features(
    reading: Reading,
    judging: Judging,
    described: Described,
    out: Output,
    runs: Annotated[list[Path] | None, argument("RUN")] = None,
    feature: Annotated[list[str] | None, option("NAME")] = None,
    names: Annotated[bool, option()] = False,
    describe: Annotated[bool, option()] = False,
    audio: Annotated[Path | None, option("DIR", panel=_SOUND)] = None,
    output: Annotated[Path | None, option("FILE", "-o", panel=_SOUND)] = None,
    depth: Depth = None,
) -> None:
    """Show the features of every item: what systems, metadata and judgments say about it.

    The judgment of an item is left out of the features of that item, because a model would learn nothing else from
    them. Empty cells are features that cannot be computed for the item.

    With --audio, the command instead computes numbers that describe the sound of documents, for the option --content of
    other commands.

    Parameters
    ----------
    runs
        Runs, one file or more, as for other commands, or the folder of a campaign; none with --audio.
    feature
        Only this feature, or a product of two such as sGEN:pGEN. Give the option again for more.
    names
        List the names of the features there are, and no values.
    describe
        Say what every feature means and where it comes from, no values.
    audio
        A folder of sound files: describe them by timbre, rhythm and harmony, each a document named by its file. Needs
        the extra audio.
    output
        With --audio, where to write the numbers: .npy, with the ids in a file beside it, .csv or .parquet. Other
        commands take it as --content.

    Examples
    --------
    earmark features runs.tsv --metadata metadata.tsv
    earmark features runs.tsv --metadata metadata.tsv --judgments judgments.tsv --feature aSYS --feature aART
    earmark features runs.tsv --metadata metadata.tsv --describe
    earmark features --audio clips -o content.npy
    """
    from earmark.campaign.problem import metadata_notes
    from earmark.data.scales import FINE
    from earmark.errors import ParameterError
    from earmark.predictors.feature_glossary import glossary_table
    from earmark.predictors.features import feature_table

    if audio is not None:
        _describe_sounds(out, audio, output, runs)
        return
    if not runs:
        raise ParameterError("features are those of runs, or of the sounds in a folder (--audio DIR): give one of them")
    if output is not None:
        raise ParameterError("--output goes with --audio; features of runs are printed")
    known = judging.load(out, reading.encoding)
    documents = described.files(reading.encoding)
    lists = reading.runs_of(runs)
    setting = documents.setting(lists, FINE if known is None else known.scale, depth=depth)
    for note in metadata_notes(setting.collection, lists, described.metadata):
        out.note(note)
    builder = setting.features
    say_dropped(builder, out)
    if names or describe:
        table = glossary_table(builder.descriptions)
        out.print_frame(table.select("name", "kind") if names else table)
        return
    frame = feature_table(builder, names=feature or None, judgments=known, aggregation=judging.aggregate)
    out.print_frame(frame, keys=2, caption=f"{frame.height:,} items; --describe says what the features mean")


def say_dropped(builder: FeatureBuilder, out: Output) -> None:
    """Say which features there would be if the metadata knew more."""
    if builder.dropped:
        why = "without --metadata" if builder.collection.metadata is None else "as the metadata do not know enough"
        out.note(f"{why} these features drop out: {', '.join(builder.dropped)}")


def _describe_sounds(out: Output, folder: Path, output: Path | None, runs: list[Path] | None) -> None:
    import numpy as np
    import polars as pl

    from earmark.audio.descriptors import column_names, describe_sound
    from earmark.audio.sound import find_sounds, load_librosa, other_sounds, read_sound
    from earmark.data.content import Content, write_content
    from earmark.errors import InputError, ParameterError
    from earmark.evaluation import name_some
    from earmark.wording import counted

    if runs:
        raise ParameterError("--audio describes sounds and reads no runs: give the one or the other")
    load_librosa("describing sound")
    sounds = find_sounds(folder)
    if left_out := other_sounds(folder):
        names = name_some([str(path.relative_to(folder)) for path in left_out], "file", "files")
        out.note(f"left out {names}: such sound cannot be read; convert it to .wav, .flac, .ogg or .mp3")
    rows, broken = [], []
    with out.progress(len(sounds), "listening") as advance:
        for path in sounds.values():
            try:
                rows.append(describe_sound(read_sound(path)).vector())
            except InputError as error:
                broken.append(f"{path.relative_to(folder)} ({error.got})")
            advance(1)
    if broken:
        got = f"{counted(len(broken), 'file')} that cannot be read: {', '.join(broken)}"
        raise InputError(expected="sound files", got=got, path=folder, hint="take them away or replace them")
    values = np.array(rows)
    if output is None:
        frame = pl.DataFrame(values, schema=column_names(), orient="row")
        frame = frame.insert_column(0, pl.Series("document", list(sounds)))
        if not out.for_people:
            out.rows(frame)
            return
        out.show(f"{len(sounds):,} sounds, {values.shape[1]} numbers each; -o FILE keeps them for --content.")
        return
    written = write_content(Content(tuple(sounds), values), output, names=column_names())
    if out.for_people:
        out.show(f"{len(sounds):,} sounds, {values.shape[1]} numbers each:", *(f"  {path}" for path in written))
        return
    out.rows(pl.DataFrame({"file": [str(path) for path in written]}))
