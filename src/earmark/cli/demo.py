"""``earmark demo``: music, systems that listen to it, and a campaign that finds out which of them is best."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output, number
from earmark.data.arrays import Floats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earmark.demo.collection import DemoCollection, DemoFiles
    from earmark.demo.story import Campaign, Chapter

EXAMPLES = options.examples(
    "earmark demo",
    "earmark demo --ask",
    "earmark demo --out somewhere --seed 7",
)
_SECONDS_PER_JUDGMENT = 30
_QUERIES_TO_HEAR = 6


def demo(
    ask: Annotated[
        bool,
        typer.Option(
            "--ask",
            metavar="",
            help="Judge yourself: listen to the clips on a page and type your grades. Asked again, it goes on where "
            "you stopped.",
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write to; it is made if it is not there.")
    ] = Path("earmark-demo"),
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> None:
    """Make music up, let six systems find what sounds similar, and see how few judgments tell which is best.

    The music is synthesised and the systems are real: they hear timbre, rhythm or harmony. A made-up listener judges,
    or you do with --ask. It takes less than a minute, needs no network, and ends with a report to open in a browser and
    the commands that do the same on your files. It needs the extras audio and plots.
    """
    from earmark.audio.sound import load_librosa, load_soundfile
    from earmark.data.scales import BROAD, FINE
    from earmark.demo.story import Campaign
    from earmark.plots.style import need_matplotlib

    screen = Output.choose("table", quiet=quiet)
    need_matplotlib()
    load_soundfile("the demonstration")
    load_librosa("the demonstration")
    files, made = _make(screen, out, seed)
    campaign = Campaign(made, BROAD if ask else FINE, seed=seed)
    _introduce(screen, campaign, files)
    if ask:
        _ask(screen, campaign, files)
        _say_what_next(screen, files, asked=files.answers, report=files.own_report, listening=files.questions)
    else:
        _tell(screen, campaign, files)
        _say_what_next(screen, files, asked=files.asked, report=files.report, listening=files.listening)


def _make(screen: Output, folder: Path, seed: int) -> tuple[DemoFiles, DemoCollection]:
    from earmark.demo.collection import DemoFiles, make_collection, number_of_songs, write_clip, write_collection
    from earmark.demo.styles import Song
    from earmark.errors import InputError

    files = DemoFiles(folder)
    try:
        files.clips.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(expected="a folder to write to", got=str(error.strerror), path=folder) from None

    def keep(song: Song, samples: Floats) -> None:
        write_clip(song, samples, files)

    with screen.progress(number_of_songs(), "making music and listening to it") as advance:
        made = make_collection(seed, on_song=keep, on_sound=lambda: advance(1))
    write_collection(made, files)
    return files, made


def _introduce(screen: Output, campaign: Campaign, files: DemoFiles) -> None:
    from earmark.data.collection import describe
    from earmark.demo.systems import WHAT_THEY_HEAR

    songs = campaign.made.songs
    genres, artists = len({song.genre for song in songs}), len({song.artist for song in songs})
    facts = describe(campaign.setting.collection)
    screen.show(
        f"{len(songs)} songs of {genres} genres by {artists} artists were made up; they are in {files.clips}.\n"
        f"{facts.systems} systems listened to them and answered {facts.queries} queries with 5 similar songs each:\n"
    )
    screen.show_columns(
        [Column("system", list(WHAT_THEY_HEAR), numeric=False)],
        [Column("what it hears", list(WHAT_THEY_HEAR.values()), numeric=False)],
    )
    hours = facts.items * _SECONDS_PER_JUDGMENT / 3600
    screen.show(
        f"\nWhich finds the most similar music? Together they found {facts.items:,} pairs of a query and a song.\n"
        f"Judging all of them takes {hours:.1f} hours at {_SECONDS_PER_JUDGMENT} s each. How few will do?\n"
    )


def _tell(screen: Output, campaign: Campaign, files: DemoFiles) -> None:
    """Play the campaign with the made-up listener and compare it with the truth."""
    from earmark.data.writers import write_judgments
    from earmark.demo.listening import answers_page, write_page
    from earmark.demo.story import decided_wrongly, first_answers, tell, write_progress

    items = campaign.setting.collection.n_items
    chapters: list[Chapter] = []
    with screen.progress(items, "judging") as advance:
        for chapter in tell(campaign):
            advance(chapter.look.judged - (chapters[-1].look.judged if chapters else 0))
            chapters.append(chapter)
    _show_estimates(screen, campaign, chapters)
    _show_confidence(screen, chapters)
    last = chapters[-1].look
    share = 100 * last.judged / items
    screen.show(
        f"\nThe campaign stopped after {last.judged:,} of {items:,} judgments ({share:.0f}%): {last.decision.reason}."
    )
    decided, wrong = decided_wrongly(campaign, last)
    are = "are" if wrong > 1 else "is"
    screen.show(f"Of {decided} pairs that it calls decided, {wrong or 'none'} {are} in the wrong order.\n")
    heard = first_answers(campaign.made, queries=_QUERIES_TO_HEAR)
    write_page(answers_page(heard, files.addresses(campaign.made.songs)), files.listening)
    write_judgments(campaign.judgments(last.judged_gain), files.asked)
    write_progress(campaign, chapters, files.progress)
    _report(screen, campaign, last.judged_gain, files.report, chapters)


def _show_estimates(screen: Output, campaign: Campaign, chapters: list[Chapter]) -> None:
    from earmark.demo.story import MEASURE, pauses, told_frame

    frame = told_frame(campaign, chapters)
    columns = []
    for chapter in pauses(chapters):
        judged = chapter.look.judged
        cells = [
            f"{_short(estimate)} ±{_short(half)}"
            for estimate, half in zip(frame[f"estimate_{judged}"], frame[f"half_{judged}"], strict=True)
        ]
        stops = "stop: " if chapter.look.decision.stop else ""
        columns.append(Column(f"{stops}{judged or 'nothing'}\njudged", cells))
    columns.append(Column("all\njudged", [_short(value) for value in frame["truth"]]))
    screen.show_columns(
        [Column(f"\n{MEASURE}", frame["system"].to_list(), numeric=False)],
        columns,
        caption="± is half of a 95% interval. What makes all scores higher or lower together\ncancels in comparisons.",
    )


def _short(value: float) -> str:
    """Print a share of 1 so that many fit in a row."""
    return f"{value:.2f}".removeprefix("0")


def _show_confidence(screen: Output, chapters: list[Chapter]) -> None:
    from earmark.demo.story import pauses

    outcomes = [chapter.outcome for chapter in pauses(chapters)]
    screen.show("")
    screen.show_columns(
        [Column("judged", [f"{one.judged:,}" for one in outcomes])],
        [
            Column("how sure\n(mean confidence)", [number(one.mean_confidence, digits=3) for one in outcomes]),
            Column("how right\n(pairs in order)", [number(one.accuracy, digits=3) for one in outcomes]),
            Column(
                "95% intervals of pairs\nthat hold the truth",
                [number(one.coverage_pairs_95, digits=3) for one in outcomes],
            ),
        ],
    )


def _ask(screen: Output, campaign: Campaign, files: DemoFiles) -> None:
    """Let the person at the terminal judge."""
    from earmark.demo.asking import Enough, Person

    person = Person(campaign, files, say=screen.show_whole, hear=_hear)
    if person.asked:
        screen.show(f"You have judged {person.asked} already ({files.answers}); on we go.")
    try:
        for look in campaign.looks(person, judged_gain=person.gains.copy()):
            ranking = look.ranking
            order = ", ".join(ranking.systems_frame()["system"])
            sure = number(ranking.mean_confidence, digits=2)
            screen.show(f"\n{look.judged} judged, {sure} sure on average of the order: {order}\n")
    except Enough:
        screen.show("\nEnough for now; earmark demo --ask goes on where you stopped.")
    screen.show("")
    if person.asked:
        _report(screen, campaign, person.gains, files.own_report)


def _hear(prompt: str) -> str:
    sys.stderr.write(prompt)
    sys.stderr.flush()
    with _interruptible():
        typed = sys.stdin.readline()
    if not typed:
        raise EOFError
    return typed


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end a wait for input: polars has a handler of its own, after which reading goes on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _report(
    screen: Output, campaign: Campaign, judged_gain: Floats, path: Path, chapters: Sequence[Chapter] = ()
) -> None:
    from earmark.demo.story import demo_findings
    from earmark.report import say_verdict, write_report

    findings = demo_findings(campaign, judged_gain, chapters)
    write_report(findings, path)
    said = say_verdict(findings.ranking, findings.outlook)
    screen.show(said.headline, said.summary, "")


def _say_what_next(screen: Output, files: DemoFiles, *, asked: Path, report: Path, listening: Path) -> None:
    runs, judged, every, metadata, content, clips, again = (
        shlex.quote(str(path))
        for path in (
            files.runs,
            asked,
            files.judgments,
            files.metadata,
            files.content,
            files.clips,
            files.folder / "again.html",
        )
    )
    program = _program()
    known = (
        f"--judgments {judged} --metadata {metadata} -m AG@5" if asked.exists() else f"--metadata {metadata} -m AG@5"
    )
    if report.exists():
        screen.show_whole(f"The report:       {report.resolve().as_uri()}")
    screen.show_whole(
        f"Listen yourself:  {listening.resolve().as_uri()}\n",
        "Try more with these files, and then with your own:",
        f"  {program} rank {runs} {known}",
        f"  {program} next {runs} {known} -n 10",
        f"  {program} report {runs} {known} -o {again}",
        f"  {program} evaluate {runs} --judgments {every} -m AG@5 -m nDCG@5",
        f"  {program} simulate {runs} --judgments {every} --metadata {metadata} -m AG@5 --stop mean:0.95",
        f"  {program} features --audio {clips} -o {content}",
    )


def _program() -> str:
    """Return how this program is called here: by its path, where a shell would not find it by its name."""
    called = Path(sys.argv[0])
    return shlex.quote(str(called)) if called.name == "earmark" and not shutil.which("earmark") else "earmark"
